/* SPDX-License-Identifier: GPL-2.0-only */
/* zram, zswap: what compressed swap really takes. */
#pragma once

#include "ctx.h"

/* /sys/block/zramN/mm_stat (Documentation/admin-guide/blockdev/zram.rst). */
struct pgs_zram {
	uint64_t data_bytes;	   /* stored in it, before compression */
	uint64_t compressed_bytes; /* after compression */
	uint64_t memory_bytes;	   /* that it takes, with the allocator's waste */
	uint64_t same_pages;	   /* of one repeated word: they take no memory */
};

/* pgs_zram_read - of the device "/dev/zramN". 1; 0 when @device is no zram or tells nothing. */
int pgs_zram_read(struct pgs_ctx *ctx, const char *device, struct pgs_zram *ret_zram)
	__attribute__((nonnull, warn_unused_result));

/* Of the whole machine, from /proc/meminfo (5.19; "zswap: add basic meminfo counters"). */
struct pgs_zswap {
	uint64_t pool_bytes; /* memory that it takes */
	uint64_t
		stored_bytes; /* what is in it, before compression; each page has a swap slot too */
};

/* pgs_zswap_read - 1; 0 when this kernel tells nothing of it. */
int pgs_zswap_read(struct pgs_ctx *ctx, struct pgs_zswap *ret_zswap)
	__attribute__((nonnull, warn_unused_result));
