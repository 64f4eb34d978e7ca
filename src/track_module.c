// SPDX-License-Identifier: GPL-2.0-only
/*
 * The method module: soft-dirty read and cleared in one step under the page table's lock, of the
 * tracked ranges alone (SCAN in kmod/uapi/pgscan.h).
 */
#include "track_priv.h"

#include "cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM 4096u /* regions a request */

struct module_priv {
	struct pgscan_region *regions; /* ROOM */
	struct pgs_ranges marked;      /* mappings that came back marked as a whole */
	struct pgs_ranges stuck;       /* pages whose mark the last scan could not take off */
};

static int request(struct pgs_track *t, struct pgscan_scan *arg)
{
	int n;

	do
		n = pgs_kmod_request(t->opts->kmod, PGSCAN_IOC_SCAN, arg);
	while (n == -EINTR);
	if (n == -ESRCH)
		return pgs_ctx_fail(t->ctx, n, "process %d has exited or executed another program",
				    (int)t->pid);
	if (n == -EOPNOTSUPP)
		return pgs_ctx_fail(t->ctx, n,
				    "MMU notifiers watch process %d (KVM, RDMA): its soft-dirty "
				    "bits cannot be cleared behind their back",
				    (int)t->pid);
	if (n < 0)
		return pgs_ctx_fail(t->ctx, n, "the module cannot scan process %d: %s", (int)t->pid,
				    strerror(-n));
	return n;
}

/* ---- what was written ------------------------------------------------------------------------ */

/* A request, or more, for one mapping or a part of it. */
struct scan {
	uint64_t start, end;
	uint32_t flags;
	struct pgs_range report; /* what of it is reported; the rest is thrown away */
	bool skipped;		 /* the module does not walk such a mapping */
};

/*
 * Pages of one state, that were stuck or were not. What was stuck has its old mark, or (pinned
 * before its mapping lost the mark of the whole) may be written without one: it counts. An entry
 * that is no page, of migration or a marker, could not be written meanwhile.
 */
static int report_pages(struct pgs_track *t, uint64_t start, uint64_t end, uint64_t categories,
			bool was_stuck)
{
	uint64_t pages = (end - start) >> t->ctx->page_shift;
	bool is_dirty = categories & PGSCAN_PAGE_SOFT_DIRTY;

	if (!is_dirty && (!was_stuck || categories & PGSCAN_PAGE_SPECIAL))
		return 0;
	t->tv.whole += categories & PGSCAN_PAGE_VMA_DIRTY ? pages : 0;
	t->tv.stuck += was_stuck ? pages : 0;
	return pgs_track_written(t, start, end);
}

/*
 * While a mapping was marked as a whole the kernel let its pages be written without a mark of their
 * own. When it loses the mark, in the request whose answer this is, all pages count once more.
 */
static uint64_t categories_of(const struct scan *scan, const struct pgscan_region *region)
{
	uint64_t categories = region->categories;

	if (scan->flags & PGSCAN_SCAN_CLEAR_VMA && !(categories & PGSCAN_PAGE_SPECIAL))
		categories |= PGSCAN_PAGE_SOFT_DIRTY | PGSCAN_PAGE_VMA_DIRTY;
	return categories;
}

/* Adds to *@populated the pages of it that are to be reported. */
static int report_region(struct pgs_track *t, const struct scan *scan,
			 const struct pgscan_region *region, uint64_t *populated)
{
	const struct module_priv *p = t->priv;
	uint64_t start = max_u64(region->start, scan->report.start);
	uint64_t end = min_u64(region->end, scan->report.end);
	int r = 0;

	for (uint64_t at = start, stop; at < end && !r; at = stop) {
		bool was_stuck = pgs_ranges_next(&p->stuck, at, end, &stop);

		*populated += (stop - at) >> t->ctx->page_shift;
		r = report_pages(t, at, stop, categories_of(scan, region), was_stuck);
	}
	return r;
}

/* What the request for [start, end) could not take the mark off. */
static int note_stuck(struct module_priv *p, uint64_t start, uint64_t end, int nr)
{
	int r = pgs_ranges_remove(&p->stuck, start, end);

	for (int i = 0; i < nr && !r; i++)
		if (p->regions[i].categories & PGSCAN_PAGE_NOT_CLEARED)
			r = pgs_ranges_add(&p->stuck, p->regions[i].start, p->regions[i].end);
	return r;
}

static bool has_any(const struct pgs_ranges *set, uint64_t start, uint64_t end)
{
	uint64_t stop = end;

	return start < end && (pgs_ranges_next(set, start, end, &stop) || stop < end);
}

/* Are all pages with an entry needed? Of shared memory, to count those that have none any more;
 * and where some were stuck, or lose the mark of the whole, as they may be without a mark. */
static bool wants_all(const struct pgs_track *t, const struct scan *scan)
{
	const struct module_priv *p = t->priv;

	return pgs_vma_is_shared(t->tv.vma) || scan->flags & PGSCAN_SCAN_CLEAR_VMA ||
	       has_any(&p->stuck, scan->start, scan->end);
}

static int scan_clear(struct pgs_track *t, struct scan *scan)
{
	const uint64_t changed = PGSCAN_PAGE_SOFT_DIRTY | PGSCAN_PAGE_NOT_CLEARED;
	struct module_priv *p = t->priv;
	const bool all = wants_all(t, scan);
	uint64_t populated = 0;
	int r = 0;

	for (uint64_t at = scan->start; at < scan->end && !r;) {
		struct pgscan_scan arg = {
			.size = sizeof(arg),
			.flags = scan->flags | PGSCAN_SCAN_CLEAR,
			.pagemap_fd = pgs_pagemap_fd(t->pm),
			.start = at,
			.end = scan->end,
			.vec = (uintptr_t)p->regions,
			.vec_len = ROOM,
			.category_anyof_mask = all ? 0 : changed,
			.return_mask = changed | PGSCAN_PAGE_VMA_DIRTY | PGSCAN_PAGE_SPECIAL,
		};
		int n = request(t, &arg);

		if (n < 0)
			return n;
		if (arg.walk_end <= at)
			return -EIO;
		for (int i = 0; i < n && !r; i++)
			r = report_region(t, scan, &p->regions[i], &populated);
		if (!r)
			r = note_stuck(p, at, arg.walk_end, n);
		if (!r && arg.vma_dirty_pages)
			r = pgs_ranges_add(&p->marked, at, arg.walk_end);
		scan->skipped |= arg.skipped_pages;
		at = arg.walk_end;
	}
	if (pgs_vma_is_shared(t->tv.vma))
		t->tv.unknown +=
			((scan->report.end - scan->report.start) >> t->ctx->page_shift) - populated;
	return r;
}

/* ---- the method ------------------------------------------------------------------------------ */

/*
 * The mark of a whole mapping goes only with a request for the whole mapping. That clears all its
 * pages, and so must not be made where other parts of it are tracked.
 */
static void widen(const struct pgs_track *t, struct scan *scan)
{
	const struct pgs_vma *vma = t->tv.vma;

	if (!pgs_kmod_has(t->opts->kmod, PGSCAN_FEAT_SCAN_CLEAR_VMA) ||
	    has_any(&t->tracked, vma->start, scan->start) ||
	    has_any(&t->tracked, scan->end, vma->end))
		return;
	scan->start = vma->start;
	scan->end = vma->end;
	scan->flags |= PGSCAN_SCAN_CLEAR_VMA;
}

static int module_scan(struct pgs_track *t, uint64_t start, uint64_t end)
{
	struct scan scan = {.start = start, .end = end, .report = {start, end}};
	struct module_priv *p = t->priv;
	int r;

	if (has_any(&p->marked, start, end)) {
		widen(t, &scan);
		r = pgs_ranges_remove(&p->marked, scan.start, scan.end);
		if (r)
			return r;
	}
	return scan_clear(t, &scan);
}

/* What the module never walks (VM_HUGETLB, VM_PFNMAP, VM_IO). */
static enum pgs_untracked why_skipped(const struct pgs_vma *vma)
{
	if (vma->huge_bytes)
		return PGS_UNTRACKED_HUGETLB;
	return vma->kind == PGS_VMA_DEVICE ? PGS_UNTRACKED_DEVICE : PGS_UNTRACKED_REFUSED;
}

/* Every mapping is born with the mark. */
static int module_begin(struct pgs_track *t, uint64_t start, uint64_t end,
			enum pgs_untracked *ret_why)
{
	struct scan scan = {.start = start, .end = end, .report = {start, start}};
	struct module_priv *p = t->priv;
	int r;

	widen(t, &scan);
	r = pgs_ranges_remove(&p->marked, scan.start, scan.end);
	if (!r)
		r = scan_clear(t, &scan);
	if (r || !scan.skipped)
		return r;
	*ret_why = why_skipped(t->tv.vma);
	return -EMEDIUMTYPE;
}

static int module_forget(struct pgs_track *t, uint64_t start, uint64_t end)
{
	struct module_priv *p = t->priv;
	int r = pgs_ranges_remove(&p->marked, start, end);

	return r ? r : pgs_ranges_remove(&p->stuck, start, end);
}

static int module_open(struct pgs_track *t)
{
	struct module_priv *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	t->priv = p;
	p->regions = calloc(ROOM, sizeof(*p->regions));
	return p->regions ? 0 : -ENOMEM;
}

static void module_close(struct pgs_track *t)
{
	struct module_priv *p = t->priv;

	if (!p)
		return;
	pgs_ranges_fini(&p->marked);
	pgs_ranges_fini(&p->stuck);
	free(p->regions);
	free(p);
}

const struct pgs_track_ops pgs_track_module = {
	.open = module_open,
	.close = module_close,
	.begin = module_begin,
	.scan = module_scan,
	.forget = module_forget,
};
