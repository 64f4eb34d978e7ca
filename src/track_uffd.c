// SPDX-License-Identifier: GPL-2.0-only
/*
 * The method uffd: PAGEMAP_SCAN over asynchronous write protection.
 *
 * PAGEMAP_SCAN calls a page written that is not protected, whatever the reason. In a page table
 * whose entries it has protected all, empty ones by markers, that is the truth: written, or
 * dropped. Where there is no page table yet nothing is protected, and a table that comes up with
 * one written page has 511 empty entries that look the same, and pages that were only read. To
 * protect empty address space in advance would fill the process with page tables, and keep it from
 * huge pages.
 *
 * So the part of a mapping that one page table spans, a granule, is known as armed or not. Armed
 * ones are scanned in one go. In the others populated pages are looked for first, with what they
 * are; where there are some the granule is scanned, the empty pages are left out, and it is armed.
 */
#include "track_priv.h"

#include "cleanup.h"
#include "uffd.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define ROOM 4096u /* regions a request: more than eight granules can hold */

/* The highest: whatever kinds of special entries are configured in, SWP_PTE_MARKER is the last. */
#define SWAP_TYPE_MARKER (PGS_PM_SWAP_TYPES - 1)

/* mmap_lock is held for as long as a request goes without result: 65536 pages take 20 us if none is
 * written to. */
#define WINDOW_GRANULES 128u

struct uffd_priv {
	int uffd;
	uint64_t granule; /* bytes */
	bool holes_show;  /* an armed granule without a page table any more counts as written */
	struct pgs_ranges armed;
	struct pgs_ranges hugetlb; /* where a hole never shows */
	uint64_t zero_pfn;
	struct pgs_region *written, *populated; /* ROOM each */
	uint64_t *words;			/* of one granule */
};

static uint64_t granule_down(const struct uffd_priv *p, uint64_t addr)
{
	return addr & ~(p->granule - 1);
}

static uint64_t granule_up(const struct uffd_priv *p, uint64_t addr)
{
	return granule_down(p, addr + p->granule - 1);
}

/* EPERM of PM_SCAN_CHECK_WPASYNC: what is mapped there now was never registered. */
static ssize_t take_written(struct pgs_track *t, uint64_t start, uint64_t end,
			    uint64_t *ret_walk_end)
{
	struct uffd_priv *p = t->priv;
	ssize_t n = pgs_pagemap_written(t->pm, start, end, p->written, ROOM, ret_walk_end);

	if (n == -EPERM)
		return -ENXIO;
	if (n < 0 && n != -ESRCH)
		return pgs_ctx_fail(t->ctx, (int)n, "cannot scan process %d: %s", (int)t->pid,
				    strerror((int)-n));
	return n >= 0 && *ret_walk_end <= start ? -EIO : n;
}

/* ---- armed granules -------------------------------------------------------------------------- */

/* Kernels that do not call a hole written show a granule whose huge page or page table was dropped
 * as a whole as if nothing had happened. Its first page tells: in an armed one it has an entry. */
static int check_hole(struct pgs_track *t, uint64_t start, uint64_t end)
{
	struct uffd_priv *p = t->priv;
	uint64_t word, walk_end;
	ssize_t n = pgs_pagemap_read(t->pm, start, 1, &word);

	if (n != 1 || word & (PGS_PM_PRESENT | PGS_PM_SWAP))
		return n < 0 ? (int)n : 0;
	n = pgs_pagemap_populated(t->pm, start, end, p->populated, 1, &walk_end);
	if (n)
		return n < 0 ? (int)n : 0;
	n = pgs_ranges_remove(&p->armed, start, end);
	return n ? (int)n : pgs_track_written(t, start, end);
}

/* The granules of [start, end), of which nothing was reported. */
static int check_holes(struct pgs_track *t, uint64_t start, uint64_t end)
{
	struct uffd_priv *p = t->priv;
	int r = 0;

	for (uint64_t next; start < end && !r; start = next) {
		next = min_u64(granule_down(p, start) + p->granule, end);
		r = check_hole(t, start, next);
	}
	return r;
}

/* @checked: up to where holes have been looked for; NULL where they show by themselves. */
static int report(struct pgs_track *t, ssize_t nr, uint64_t *checked)
{
	struct uffd_priv *p = t->priv;
	int r = 0;

	for (ssize_t i = 0; i < nr && !r; i++) {
		const struct pgs_region *region = &p->written[i];

		if (checked && *checked < region->start) {
			r = check_holes(t, *checked, granule_down(p, region->start));
			*checked = granule_up(p, region->end);
		}
		if (!r)
			r = pgs_track_written(t, region->start, region->end);
	}
	return r;
}

static int scan_armed(struct pgs_track *t, uint64_t start, uint64_t end)
{
	struct uffd_priv *p = t->priv;
	uint64_t checked = start, stop;
	bool holes_show = p->holes_show && !pgs_ranges_next(&p->hugetlb, start, end, &stop);
	ssize_t n = 0;
	int r = 0;

	for (uint64_t at = start; at < end && !r; at = stop) {
		stop = granule_down(p, at) + WINDOW_GRANULES * p->granule;
		n = take_written(t, at, min_u64(stop, end), &stop);
		r = n < 0 ? (int)n : report(t, n, holes_show ? NULL : &checked);
	}
	if (!r && !holes_show && checked < end)
		r = check_holes(t, checked, end);
	return r;
}

/* ---- granules that may have got a page table ------------------------------------------------- */

/* Pages of a private mapping that were only read are the zero page, or still the file's. A shared
 * one does not tell: there, the first touch counts. */
static bool was_written(const struct pgs_track *t, uint64_t categories)
{
	if (categories & PAGE_IS_SWAPPED)
		return true;
	if (categories & PAGE_IS_PFNZERO)
		return false;
	return !(categories & PAGE_IS_FILE) || pgs_vma_is_shared(t->tv.vma);
}

/*
 * A page that was protected just now, and that was empty or only read a moment before; @word is
 * what pagemap says after. Protected and there: it was written in between. There and not protected:
 * it was written after, and the next sample will say so. A marker: it was empty. Where frames are
 * hidden a marker looks like a page in swap; it is by far the likelier.
 */
static bool was_written_meanwhile(const struct pgs_track *t, uint64_t word)
{
	const struct uffd_priv *p = t->priv;

	if (!(word & PGS_PM_UFFD_WP))
		return false;
	if (word & PGS_PM_SWAP)
		return word & PGS_PM_FRAME && pgs_pm_swap_type(word) != SWAP_TYPE_MARKER;
	if (word & PGS_PM_FILE && !pgs_vma_is_shared(t->tv.vma))
		return false;
	if (p->zero_pfn && word & PGS_PM_FRAME)
		return (word & PGS_PM_FRAME) != p->zero_pfn;
	return word & PGS_PM_EXCLUSIVE;
}

/* Pages of [start, end), inside one granule, that were protected but not seen as written before. */
static int report_others(struct pgs_track *t, uint64_t start, uint64_t end)
{
	struct uffd_priv *p = t->priv;
	uint64_t page_size = t->ctx->page_size;
	int r = 0;

	for (uint64_t stop; start < end && !r; start = stop) {
		size_t count;
		ssize_t n;

		stop = min_u64(granule_down(p, start) + p->granule, end);
		count = (stop - start) >> t->ctx->page_shift;
		n = pgs_pagemap_read(t->pm, start, count, p->words);
		if (n < 0)
			return (int)n;
		for (ssize_t i = 0; i < n && !r; i++)
			if (was_written_meanwhile(t, p->words[i]))
				r = pgs_track_written(t, start + (uint64_t)i * page_size,
						      start + (uint64_t)(i + 1) * page_size);
	}
	return r;
}

/* Of a region that was not protected until now, the pages that were written: those that
 * populated[*at …nr) said were, and what has come since. */
static int report_fresh(struct pgs_track *t, const struct pgs_region *region, size_t *at, size_t nr)
{
	struct uffd_priv *p = t->priv;
	uint64_t addr = region->start;
	int r = 0;

	while (!r && addr < region->end) {
		const struct pgs_region *known = *at < nr ? &p->populated[*at] : NULL;
		uint64_t stop;

		if (known && known->end <= addr) {
			++*at;
			continue;
		}
		if (known && known->start <= addr && was_written(t, known->categories)) {
			stop = min_u64(known->end, region->end);
			r = pgs_track_written(t, addr, stop);
		} else {
			stop = region->end;
			if (known && known->start <= addr)
				stop = min_u64(stop, known->end);
			else if (known)
				stop = min_u64(stop, known->start);
			r = report_others(t, addr, stop);
		}
		addr = stop;
	}
	return r;
}

/* Protect the granules [start, end), whose populated pages are populated[0…nr). */
static int arm(struct pgs_track *t, uint64_t start, uint64_t end, size_t first, size_t nr)
{
	struct uffd_priv *p = t->priv;
	int r = 0;

	for (uint64_t at = start, stop; at < end && !r; at = stop) {
		ssize_t n = take_written(t, at, end, &stop);

		if (n < 0)
			return (int)n;
		for (ssize_t i = 0; i < n && !r && t->sink; i++)
			r = report_fresh(t, &p->written[i], &first, nr);
	}
	return r ? r : pgs_ranges_add(&p->armed, start, end);
}

/* Arm those granules of [start, end) that hold populated[0…nr). */
static int arm_populated(struct pgs_track *t, uint64_t start, uint64_t end, size_t nr)
{
	struct uffd_priv *p = t->priv;
	int r = 0;

	for (size_t i = 0, j; i < nr && !r; i = j) {
		uint64_t from = max_u64(granule_down(p, p->populated[i].start), start);
		uint64_t to = from;

		for (j = i; j < nr && granule_down(p, p->populated[j].start) <= to; j++)
			to = granule_up(p, p->populated[j].end);
		r = arm(t, from, min_u64(to, end), i, j);
	}
	return r;
}

static int scan_unarmed(struct pgs_track *t, uint64_t start, uint64_t end)
{
	struct uffd_priv *p = t->priv;
	int r = 0;

	for (uint64_t at = start, stop; at < end && !r; at = stop) {
		ssize_t n = pgs_pagemap_populated(t->pm, at, end, p->populated, ROOM, &stop);

		if (n < 0)
			return (int)n;
		if (n < (ssize_t)ROOM) {
			stop = end;
		} else {
			/* The last granule may be cut off. */
			stop = granule_down(p, stop);
			while (n && p->populated[n - 1].start >= stop)
				n--;
			if (n && p->populated[n - 1].end > stop)
				p->populated[n - 1].end = stop;
		}
		r = arm_populated(t, at, stop, (size_t)n);
	}
	return r;
}

/* ---- the method ------------------------------------------------------------------------------ */

static int uffd_scan(struct pgs_track *t, uint64_t start, uint64_t end)
{
	struct uffd_priv *p = t->priv;
	int r = 0;

	for (uint64_t at = start, stop; at < end && !r; at = stop) {
		if (pgs_ranges_next(&p->armed, at, end, &stop))
			r = scan_armed(t, at, stop);
		else
			r = scan_unarmed(t, at, stop);
	}
	return r;
}

/*
 * Protecting what has no page table in hugetlbfs deadlocks kernels before mid-2026, with mmap_lock
 * held. So huge pages are taken on only when the user asks for it, and nothing is protected there
 * but granules that hold a page. Pages above a granule (1 GiB) the kernel does not protect at all.
 */
static bool takes_hugetlb(const struct pgs_track *t)
{
	const struct uffd_priv *p = t->priv;
	uint64_t bytes = t->tv.vma->huge_bytes;

	return t->opts->hugetlb && bytes && bytes <= p->granule;
}

static int register_range(struct pgs_track *t, uint64_t start, uint64_t end)
{
	struct uffd_priv *p = t->priv;
	int r = pgs_uffd_register(p->uffd, start, end);

	if (r <= 0)
		return r;
	if (takes_hugetlb(t))
		return pgs_ranges_add(&p->hugetlb, start, end);
	pgs_uffd_unregister(p->uffd, start, end);
	return -EMEDIUMTYPE;
}

static int uffd_begin(struct pgs_track *t, uint64_t start, uint64_t end,
		      enum pgs_untracked *ret_why)
{
	const struct pgs_track_sink *sink = t->sink;
	struct uffd_priv *p = t->priv;
	int r = pgs_ranges_remove(&p->hugetlb, start, end);

	if (!r)
		r = register_range(t, start, end);
	switch (r) {
	case 0:
		break;
	case -EPERM:
		*ret_why = PGS_UNTRACKED_READ_ONLY;
		return r;
	case -EBUSY:
		*ret_why = PGS_UNTRACKED_BUSY;
		return r;
	case -EMEDIUMTYPE:
		*ret_why = PGS_UNTRACKED_HUGETLB;
		return r;
	default:
		*ret_why = t->tv.vma->kind == PGS_VMA_DEVICE ? PGS_UNTRACKED_DEVICE
							     : PGS_UNTRACKED_REFUSED;
		return r;
	}
	/* What it holds now is where we begin, no write of ours to report. */
	t->sink = NULL;
	r = pgs_ranges_remove(&p->armed, start, end);
	if (!r)
		r = scan_unarmed(t, start, end);
	t->sink = sink;
	return r;
}

static int uffd_forget(struct pgs_track *t, uint64_t start, uint64_t end)
{
	struct uffd_priv *p = t->priv;
	int r = pgs_ranges_remove(&p->armed, start, end);

	return r ? r : pgs_ranges_remove(&p->hugetlb, start, end);
}

/* Does this kernel call a hole written? Asked of two granules of our own, never touched. */
static bool holes_are_written(struct pgs_ctx *ctx, uint64_t granule)
{
	_cleanup_(pgs_pagemap_closep) struct pgs_pagemap *pm = NULL;
	_cleanup_close_ int uffd = pgs_uffd_of_self();
	struct pgs_region region;
	uint64_t start, walk_end;
	ssize_t n = 0;
	char *map;

	if (uffd < 0 || pgs_uffd_init(uffd) || pgs_pagemap_open(ctx, getpid(), 1, &pm))
		return false;
	map = mmap(NULL, 2 * granule, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED)
		return false;
	start = ((uint64_t)(uintptr_t)map + granule - 1) & ~(granule - 1);
	if (!pgs_uffd_register(uffd, start, start + granule))
		n = pgs_pagemap_written(pm, start, start + granule, &region, 1, &walk_end);
	munmap(map, 2 * granule);
	return n > 0;
}

static int fetch_uffd(struct pgs_track *t, int *ret_uffd)
{
	_cleanup_(pgs_warden_closep) struct pgs_warden *warden = NULL;
	struct pgs_warden_msg msg;
	int r = pgs_warden_open(t->ctx, t->pid, PGS_WARDEN_ONCE, &warden);

	if (!r)
		r = pgs_warden_receive(warden, &msg, ret_uffd);
	if (r)
		return r;
	if (msg.event != PGS_WARDEN_UFFD)
		return pgs_ctx_fail(t->ctx, -ECHILD, "the child that traces was killed");
	t->stop_ns += msg.stop_ns;
	return 0;
}

/* Following, it came with the exec. */
static int given_uffd(struct pgs_track *t, int *ret_uffd)
{
	if (t->uffd < 0)
		return pgs_ctx_fail(t->ctx, t->uffd_err, "%s", t->uffd_text);
	*ret_uffd = t->uffd;
	t->uffd = -1;
	return 0;
}

static int uffd_open(struct pgs_track *t)
{
	struct uffd_priv *p = calloc(1, sizeof(*p));
	uint64_t entries = t->ctx->page_size / sizeof(uint64_t);
	int r;

	if (!p)
		return -ENOMEM;
	t->priv = p;
	p->uffd = -1;
	p->granule = entries * t->ctx->page_size;
	p->written = calloc(ROOM, sizeof(*p->written));
	p->populated = calloc(ROOM, sizeof(*p->populated));
	p->words = calloc(entries, sizeof(*p->words));
	if (!p->written || !p->populated || !p->words)
		return -ENOMEM;
	p->zero_pfn = pgs_zero_pfn(t->ctx);
	p->holes_show = holes_are_written(t->ctx, p->granule);
	r = t->opts->follow ? given_uffd(t, &p->uffd) : fetch_uffd(t, &p->uffd);
	if (r)
		return r;
	r = pgs_uffd_init(p->uffd);
	return r ? pgs_ctx_fail(t->ctx, r, "this kernel has no asynchronous write protection") : 0;
}

/* The last descriptor's end unregisters all; to do it first also takes the protection off on
 * kernels that do not at close ("mm/userfaultfd: reset ptes when close() for wr-protected ones").
 */
static void uffd_close(struct pgs_track *t)
{
	struct uffd_priv *p = t->priv;

	if (!p)
		return;
	for (size_t i = 0; i < t->tracked.nr && p->uffd >= 0; i++)
		pgs_uffd_unregister(p->uffd, t->tracked.v[i].start, t->tracked.v[i].end);
	pgs_closep(&p->uffd);
	pgs_ranges_fini(&p->armed);
	pgs_ranges_fini(&p->hugetlb);
	free(p->written);
	free(p->populated);
	free(p->words);
	free(p);
}

static const struct pgs_ranges *uffd_map(const struct pgs_track *t)
{
	const struct uffd_priv *p = t->priv;

	return &p->armed;
}

const struct pgs_track_ops pgs_track_uffd = {
	.open = uffd_open,
	.close = uffd_close,
	.begin = uffd_begin,
	.scan = uffd_scan,
	.forget = uffd_forget,
	.map = uffd_map,
};
