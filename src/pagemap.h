/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pagemap: the reader of /proc/PID/pagemap. Two engines behind it: batched reads where memory is
 * dense, PAGEMAP_SCAN (6.7) to step over what is empty.
 */
#pragma once

#include "page.h"
#include "uapi/pagemap_scan.h"

#include <sys/types.h>

struct pgs_pagemap;

#define PGS_PAGEMAP_BATCH 65536u /* entries a read where nothing else is asked for: 512 KiB */

/*
 * pgs_pagemap_open - open the page map of @pid. @batch: entries a read, 0 for the default.
 * The descriptor stays bound to the address space of now: after exec or exit reads give 0 bytes.
 * Returns 0, or -errno: -ESRCH for a task without memory (kernel thread, zombie).
 */
int pgs_pagemap_open(struct pgs_ctx *ctx, pid_t pid, uint32_t batch, struct pgs_pagemap **ret_pm)
	__attribute__((nonnull, warn_unused_result));
void pgs_pagemap_close(struct pgs_pagemap *pm);
void pgs_pagemap_closep(struct pgs_pagemap **pm);

/* A stretch of pages in address order: an array of words, or (@words NULL) the same @fill. */
struct pgs_span {
	uint64_t addr; /* bytes */
	uint64_t pages;
	const uint64_t *words; /* in the reader's buffer, valid until the next call */
	uint64_t fill;
	uint64_t empty; /* of words: so many at the start are known to be of empty entries */
};

/*
 * pgs_pagemap_next - the next span of [@addr, @end), which must lie in one mapping (or hold none).
 * Populated windows are read; long empty stretches are skipped by PAGEMAP_SCAN where the kernel
 * has it, and come as one span of the word that an empty page of that mapping has.
 * Returns 1, or -errno: -ESRCH when the process has gone, -ENODATA where there is no page table
 * to read (beyond the address space).
 */
int pgs_pagemap_next(struct pgs_pagemap *pm, uint64_t addr, uint64_t end, struct pgs_span *ret_span)
	__attribute__((nonnull, warn_unused_result));

/* pgs_pagemap_read - plain words of @count pages (at most the batch) into @words. Returns how many
 * pages were read (0: none there), or -errno. */
ssize_t pgs_pagemap_read(struct pgs_pagemap *pm, uint64_t addr, size_t count, uint64_t *words)
	__attribute__((nonnull, warn_unused_result));

/* pgs_pagemap_can_scan - whether PAGEMAP_SCAN answers for this process. */
bool pgs_pagemap_can_scan(struct pgs_pagemap *pm) __attribute__((nonnull));

/* A range of pages whose categories (PAGE_IS_* of the kernel) include one that was asked for. */
struct pgs_region {
	uint64_t start, end; /* bytes */
	uint64_t categories;
};

/*
 * pgs_pagemap_scan - the regions of [@start, @end) that have any of the categories @any.
 * Returns how many were stored (at most @room, at least 1) and, in *@ret_walk_end, how far the
 * walk came; -errno: -ENOTTY where the kernel has no PAGEMAP_SCAN, -EINVAL for a category it lacks.
 */
ssize_t pgs_pagemap_scan(struct pgs_pagemap *pm, uint64_t start, uint64_t end, uint64_t any,
			 struct pgs_region *regions, size_t room, uint64_t *ret_walk_end)
	__attribute__((nonnull, warn_unused_result));

/*
 * pgs_pagemap_populated - the same for pages that are present or in swap, with all the categories
 * of PGS_SCAN_KINDS they have: as far as they tell a page that was written from one that was read.
 */
#define PGS_SCAN_KINDS (PAGE_IS_PRESENT | PAGE_IS_SWAPPED | PAGE_IS_PFNZERO | PAGE_IS_FILE)
ssize_t pgs_pagemap_populated(struct pgs_pagemap *pm, uint64_t start, uint64_t end,
			      struct pgs_region *regions, size_t room, uint64_t *ret_walk_end)
	__attribute__((nonnull, warn_unused_result));

/*
 * pgs_pagemap_written - the regions of [@start, @end), all under asynchronous write protection
 * (uffd.h), that were written since they were protected last, and protect them again in the same
 * step. A page that is neither present nor protected, such as one that was dropped, counts.
 * Returns as pgs_pagemap_scan(); -EPERM when not all of the range is under such protection.
 */
ssize_t pgs_pagemap_written(struct pgs_pagemap *pm, uint64_t start, uint64_t end,
			    struct pgs_region *regions, size_t room, uint64_t *ret_walk_end)
	__attribute__((nonnull, warn_unused_result));

/* pgs_pagemap_fd - the descriptor, for the module's calls. Owned by the reader. */
int pgs_pagemap_fd(const struct pgs_pagemap *pm) __attribute__((nonnull));
/* pgs_pagemap_alive - whether the address space still has users. */
bool pgs_pagemap_alive(struct pgs_pagemap *pm) __attribute__((nonnull));
