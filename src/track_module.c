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

#define ROOM 4096u /* regions a request: a page table's worth must be free for it to go on */

struct module_priv {
	struct pgscan_region *regions; /* ROOM */
	struct pgs_ranges marked;      /* mappings that came back marked as a whole */
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

/* One mapping's part; with @report false what is found is thrown away. */
static int scan_clear(struct pgs_track *t, uint64_t start, uint64_t end, uint32_t flags,
		      bool report)
{
	bool is_shared = pgs_vma_is_shared(t->tv.vma);
	struct module_priv *p = t->priv;
	uint64_t populated = 0;
	int r = 0;

	for (uint64_t at = start; at < end && !r;) {
		struct pgscan_scan arg = {
			.size = sizeof(arg),
			.flags = flags | PGSCAN_SCAN_CLEAR,
			.pagemap_fd = pgs_pagemap_fd(t->pm),
			.start = at,
			.end = end,
			.vec = (uintptr_t)p->regions,
			.vec_len = ROOM,
			/* Of shared memory all, to count what has no entry any more. */
			.category_mask = is_shared ? 0 : PGSCAN_PAGE_SOFT_DIRTY,
			.return_mask = PGSCAN_PAGE_SOFT_DIRTY | PGSCAN_PAGE_VMA_DIRTY,
		};
		int n = request(t, &arg);

		if (n < 0)
			return n;
		if (arg.walk_end <= at)
			return -EIO;
		for (int i = 0; i < n && !r && report; i++) {
			const struct pgscan_region *region = &p->regions[i];
			uint64_t pages = (region->end - region->start) >> t->ctx->page_shift;

			populated += pages;
			if (!(region->categories & PGSCAN_PAGE_SOFT_DIRTY))
				continue;
			t->tv.whole += region->categories & PGSCAN_PAGE_VMA_DIRTY ? pages : 0;
			r = pgs_track_written(t, region->start, region->end);
		}
		if (!r && arg.vma_dirty_pages)
			r = pgs_ranges_add(&p->marked, at, arg.walk_end);
		at = arg.walk_end;
	}
	if (is_shared && report)
		t->tv.unknown += ((end - start) >> t->ctx->page_shift) - populated;
	return r;
}

/* The mark of a whole mapping goes only with the whole mapping. */
static bool covers_mapping(const struct pgs_track *t, uint64_t start, uint64_t end)
{
	return start == t->tv.vma->start && end == t->tv.vma->end &&
	       pgs_kmod_has(t->opts->kmod, PGSCAN_FEAT_SCAN_CLEAR_VMA);
}

static int module_scan(struct pgs_track *t, uint64_t start, uint64_t end)
{
	struct module_priv *p = t->priv;
	uint32_t flags = 0;
	uint64_t stop;

	if (covers_mapping(t, start, end) && pgs_ranges_next(&p->marked, start, end, &stop)) {
		int r = pgs_ranges_remove(&p->marked, start, end);

		if (r)
			return r;
		flags = PGSCAN_SCAN_CLEAR_VMA;
	}
	return scan_clear(t, start, end, flags, true);
}

/* Every mapping is born with the mark; to take it off, the request is widened to all of it. */
static int module_begin(struct pgs_track *t, uint64_t start, uint64_t end,
			enum pgs_untracked *ret_why)
{
	struct module_priv *p = t->priv;
	const struct pgs_vma *vma = t->tv.vma;
	int r;

	*ret_why = PGS_UNTRACKED_REFUSED;
	if (covers_mapping(t, vma->start, vma->end))
		r = scan_clear(t, vma->start, vma->end, PGSCAN_SCAN_CLEAR_VMA, false);
	else
		r = scan_clear(t, start, end, 0, false);
	return r ? r : pgs_ranges_remove(&p->marked, start, end);
}

static int module_forget(struct pgs_track *t, uint64_t start, uint64_t end)
{
	struct module_priv *p = t->priv;

	return pgs_ranges_remove(&p->marked, start, end);
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
