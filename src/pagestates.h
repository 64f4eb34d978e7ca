/* SPDX-License-Identifier: GPL-2.0-only */
/* pagestates: one walk over all of /proc/kpageflags: how many pages are in which state of writing,
 * and which free blocks are reported. Takes a fraction of a second for each million of pages. */
#pragma once

#include "reporting.h"

#include <signal.h>

struct pgs_page_states {
	uint64_t pages; /* that there are */
	uint64_t dirty, writeback, swap_cache, free;
	uint64_t walk_ns; /* what it took */
};

/*
 * pgs_page_states_read - walk. With @zones (from pgs_free_zones_read(), or NULL) its blocks and
 * reported counts are filled in too, from the same flags: KPF_BUDDY is on every page of a free
 * block, and as buddies merge, the largest aligned run of them is one; KPF_UPTODATE on the first
 * page of one is PG_reported, which shares its bit (include/linux/page-flags.h). Memory moves
 * meanwhile: it is no snapshot. @stop, checked between batches, ends it with -EINTR. Returns 0 or
 * -errno (-EPERM, -EACCES: needs CAP_SYS_ADMIN).
 */
int pgs_page_states_read(struct pgs_ctx *ctx, struct pgs_free_zones *zones,
			 const volatile sig_atomic_t *stop, struct pgs_page_states *ret)
	__attribute__((nonnull(1, 4), warn_unused_result));
