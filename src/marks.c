// SPDX-License-Identifier: GPL-2.0-only
#include "marks.h"

#include "cleanup.h"
#include "procfs.h"
#include "uapi/pagemap_scan.h"
#include "units.h"

#include <errno.h>
#include <string.h>

#define SCAN_REGIONS 256u /* of one PAGEMAP_SCAN call */

/* Not the kernel's: a block that could be huge, on a kernel without PAGEMAP_SCAN. */
#define MARK_UNKNOWN (UINT64_C(1) << 63)

struct pgs_marks {
	struct pgs_ctx *ctx;
	uint64_t huge_pages;
	bool hidden;		    /* the span's frames are hidden, so every page was asked for */
	struct pgs_region *regions; /* in address order */
	size_t nr, room;
};

#define DEFAULT_PMD_BYTES (UINT64_C(2) << 20)

static uint64_t smallest_hugetlb(struct pgs_ctx *ctx)
{
	int fd = pgs_open(ctx, 0, O_DIRECTORY, "sys/kernel/mm/hugepages");
	_cleanup_closedir_ DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	uint64_t best = UINT64_MAX;
	struct dirent *entry;
	unsigned long kb;

	while (dir && (entry = readdir(dir)))
		if (sscanf(entry->d_name, "hugepages-%lukB", &kb) == 1 && kb && kb * 1024 < best)
			best = kb * 1024;
	return best;
}

uint64_t pgs_smallest_huge_pages(struct pgs_ctx *ctx)
{
	uint64_t best = smallest_hugetlb(ctx), thp;

	if (!pgs_read_u64(ctx, 0, &thp, "sys/kernel/mm/transparent_hugepage/hpage_pmd_size") &&
	    thp && thp < best)
		best = thp;
	if (best == UINT64_MAX)
		best = ctx->live ? 0 : DEFAULT_PMD_BYTES;
	return best >> ctx->page_shift;
}

int pgs_marks_new(struct pgs_ctx *ctx, uint64_t huge_pages, struct pgs_marks **ret_marks)
{
	struct pgs_marks *marks = calloc(1, sizeof(*marks));

	if (!marks)
		return -ENOMEM;
	marks->ctx = ctx;
	marks->huge_pages = huge_pages;
	*ret_marks = marks;
	return 0;
}

void pgs_marks_free(struct pgs_marks *marks)
{
	if (!marks)
		return;
	free(marks->regions);
	free(marks);
}

/* Room for @count regions more: they are written behind the last one, then marks->nr grows. */
static int make_room(struct pgs_marks *marks, size_t count)
{
	size_t room = marks->room * 2 + count;
	struct pgs_region *more;

	if (marks->nr + count <= marks->room)
		return 0;
	more = reallocarray(marks->regions, room, sizeof(*more));
	if (!more)
		return -ENOMEM;
	/* valgrind does not know that the ioctl writes them. */
	memset(more + marks->room, 0, (room - marks->room) * sizeof(*more));
	marks->regions = more;
	marks->room = room;
	return 0;
}

/* Without PAGEMAP_SCAN nobody can tell: smaps could, and would stall the process for it. */
static int mark_unknown(struct pgs_marks *marks, uint64_t start, uint64_t end)
{
	int r = make_room(marks, 1);

	if (!r)
		marks->regions[marks->nr++] = (struct pgs_region){start, end, MARK_UNKNOWN};
	return r;
}

static int ask(struct pgs_marks *marks, struct pgs_pagemap *pm, uint64_t start, uint64_t end)
{
	if (!pgs_pagemap_can_scan(pm))
		return mark_unknown(marks, start, end);
	while (start < end) {
		ssize_t n;
		int r = make_room(marks, SCAN_REGIONS);

		if (r)
			return r;
		n = pgs_pagemap_scan(pm, start, end, PAGE_IS_HUGE | PAGE_IS_PFNZERO,
				     marks->regions + marks->nr, SCAN_REGIONS, &start);
		if (n < 0)
			return (int)n;
		marks->nr += (size_t)n;
	}
	return 0;
}

/* Whether frames are hidden: the descriptor decides, so one present page answers for all. */
static bool frames_hidden(const struct pgs_span *span)
{
	for (uint64_t i = span->empty; i < span->pages; i++)
		if (span->words[i] & PGS_PM_PRESENT)
			return !(span->words[i] & PGS_PM_FRAME);
	return false;
}

/*
 * Could the pages [@first, @last] of the span, all of one aligned block, be part of a huge
 * mapping? Its frames are consecutive and aligned like its addresses.
 */
static bool could_be_huge(const struct pgs_marks *marks, const struct pgs_span *span,
			  uint64_t first, uint64_t last)
{
	uint64_t word = span->words[first];
	uint64_t page = (span->addr >> marks->ctx->page_shift) + first;

	return word & PGS_PM_PRESENT && word & PGS_PM_FRAME &&
	       (word & PGS_PM_FRAME) % marks->huge_pages == page % marks->huge_pages &&
	       span->words[last] == word + (last - first);
}

/* Neighbouring candidates are asked for in one call. */
static int ask_candidates(struct pgs_marks *marks, struct pgs_pagemap *pm,
			  const struct pgs_span *span)
{
	uint64_t base = span->addr >> marks->ctx->page_shift, start = 0, pending = 0;

	for (uint64_t first = 0, last; first < span->pages; first = last + 1) {
		int r = 0;

		last = first + marks->huge_pages - 1 - (base + first) % marks->huge_pages;
		if (last >= span->pages)
			last = span->pages - 1;
		if (could_be_huge(marks, span, first, last)) {
			start = pending ? start : first;
			pending = last + 1;
			if (pending < span->pages)
				continue;
		}
		if (pending)
			r = ask(marks, pm, (base + start) << marks->ctx->page_shift,
				(base + pending) << marks->ctx->page_shift);
		if (r)
			return r;
		pending = 0;
	}
	return 0;
}

int pgs_marks_load(struct pgs_marks *marks, struct pgs_pagemap *pm, const struct pgs_span *span)
{
	marks->nr = 0;
	marks->hidden = frames_hidden(span);
	if (marks->hidden)
		return ask(marks, pm, span->addr,
			   span->addr + (span->pages << marks->ctx->page_shift));
	return marks->huge_pages ? ask_candidates(marks, pm, span) : 0;
}

/* The first region that ends above @addr; marks->nr if none. */
static size_t find_region(const struct pgs_marks *marks, uint64_t addr)
{
	size_t lo = 0, hi = marks->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (marks->regions[mid].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

uint64_t pgs_marks_at(const struct pgs_marks *marks, uint64_t addr, uint64_t pages,
		      enum pgs_tri *ret_huge, enum pgs_tri *ret_zero)
{
	size_t i = find_region(marks, addr);
	const struct pgs_region *region = i < marks->nr ? &marks->regions[i] : NULL;
	uint64_t end = addr + (pages << marks->ctx->page_shift), categories = 0;

	if (region && region->start <= addr) {
		categories = region->categories;
		end = region->end < end ? region->end : end;
	} else if (region) {
		end = region->start < end ? region->start : end;
	}
	*ret_huge = categories & MARK_UNKNOWN	? PGS_TRI_UNKNOWN
		    : categories & PAGE_IS_HUGE ? PGS_TRI_YES
						: PGS_TRI_NO;
	*ret_zero = categories & PAGE_IS_PFNZERO		    ? PGS_TRI_YES
		    : marks->hidden && !(categories & MARK_UNKNOWN) ? PGS_TRI_NO
								    : PGS_TRI_UNKNOWN;
	return (end - addr) >> marks->ctx->page_shift;
}
