/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * marks: which pages of a span are mapped by a huge page table entry, and which are zero pages
 * where their frames are hidden. pagemap's words do not say; PAGEMAP_SCAN does (PAGE_IS_HUGE,
 * PAGE_IS_PFNZERO), at a walk's cost. With visible frames only blocks that could be huge are asked
 * for: aligned, and with consecutive frames from first to last. For 4K memory that is next to none.
 */
#pragma once

#include "pagemap.h"

/* Yes, no, or not known. */
enum pgs_tri { PGS_TRI_NO, PGS_TRI_YES, PGS_TRI_UNKNOWN };

struct pgs_marks;

/* pgs_smallest_huge_pages - base pages of the smallest mapping a huge entry can make (transparent
 * or hugetlb), from sysfs; 0 when the kernel has none. */
uint64_t pgs_smallest_huge_pages(struct pgs_ctx *ctx) __attribute__((nonnull));

/* @huge_pages as above. Returns 0 or -ENOMEM. */
int pgs_marks_new(struct pgs_ctx *ctx, uint64_t huge_pages, struct pgs_marks **ret_marks)
	__attribute__((nonnull, warn_unused_result));
void pgs_marks_free(struct pgs_marks *marks);

/* pgs_marks_load - find the marks of @span, which must have words. 0, or -errno (-ESRCH). */
int pgs_marks_load(struct pgs_marks *marks, struct pgs_pagemap *pm, const struct pgs_span *span)
	__attribute__((nonnull, warn_unused_result));

/*
 * pgs_marks_at - the marks at @addr of the loaded span; they hold for the number of pages that is
 * returned, 1 to @pages. *@ret_zero is PGS_TRI_UNKNOWN where the frame number is to decide.
 */
uint64_t pgs_marks_at(const struct pgs_marks *marks, uint64_t addr, uint64_t pages,
		      enum pgs_tri *ret_huge, enum pgs_tri *ret_zero) __attribute__((nonnull));
