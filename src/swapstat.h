/* SPDX-License-Identifier: GPL-2.0-only */
/* swapstat: what compressed swap holds: zram behind a swap area, zswap in front of all of them. */
#pragma once

#include "ctx.h"
#include "vmstat.h"

/*
 * /sys/block/zramN/mm_stat and bd_stat (Documentation/admin-guide/blockdev/zram.rst). Three numbers
 * that people take for one: `data` is what was written, without the pages of one repeated value
 * (`same_pages`); `compressed` is that after compression; `memory` is what the device takes for it.
 */
struct pgs_zram {
	uint64_t disk_bytes;
	uint64_t data_bytes, compressed_bytes, memory_bytes;
	uint64_t same_pages;
	struct pgs_count huge_pages;	/* that did not compress; not before 4.15 */
	struct pgs_count backing_pages; /* written back to a block device: bd_stat, 4.20 */
};

/* pgs_zram_read - the zram device behind the swap area @name ("/dev/zram0"). Returns 0; -ENOENT: it
 * is none, or its numbers are not there; -EBADMSG. */
int pgs_zram_read(struct pgs_ctx *ctx, const char *name, struct pgs_zram *ret)
	__attribute__((nonnull, warn_unused_result));

/* zswap: `pool` is memory taken, `stored` the size of the pages before compression. */
struct pgs_zswap {
	bool enabled;
	char compressor[32];	       /* "" when unknown */
	struct pgs_count pool_bytes;   /* meminfo's Zswap (5.19), or debugfs */
	struct pgs_count stored_bytes; /* meminfo's Zswapped (5.19), or debugfs */
};

/* pgs_zswap_read - Returns 0; -ENOENT: this kernel has no zswap; -errno. */
int pgs_zswap_read(struct pgs_ctx *ctx, struct pgs_zswap *ret)
	__attribute__((nonnull, warn_unused_result));
