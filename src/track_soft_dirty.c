// SPDX-License-Identifier: GPL-2.0-only
/*
 * The method soft-dirty: bit 55 of pagemap, and "4" to clear_refs
 * (Documentation/admin-guide/mm/soft-dirty.rst). The bits are cleared for the whole process, some
 * time after they were read: what is written in between is lost, and so is what others had marked.
 */
#include "track_priv.h"

#include "caps.h"
#include "cleanup.h"
#include "page.h"
#include "procfs.h"

#include <errno.h>
#include <string.h>

struct sd_priv {
	int clear_refs;
	bool whole; /* the mapping is marked as a whole: it is new, or was merged with a new one */
};

/* An empty page has the bit when its mapping has VM_SOFTDIRTY, and then all pages do. */
static int scan_words(struct pgs_track *t, const struct pgs_span *span)
{
	struct sd_priv *p = t->priv;
	uint64_t addr = span->addr, page_size = t->ctx->page_size;
	int r = 0;

	for (uint64_t i = 0; i < span->pages && !r; i++, addr += page_size) {
		uint64_t word = span->words[i];

		if (!(word & (PGS_PM_PRESENT | PGS_PM_SWAP))) {
			p->whole |= !!(word & PGS_PM_SOFT_DIRTY);
			t->tv.unknown += pgs_vma_is_shared(t->tv.vma);
		} else if (word & PGS_PM_SOFT_DIRTY) {
			r = pgs_track_written(t, addr, addr + page_size);
		}
	}
	return r;
}

static int sd_scan(struct pgs_track *t, uint64_t start, uint64_t end)
{
	struct sd_priv *p = t->priv;
	uint64_t before = t->tv.written;
	struct pgs_span span;
	int r = 0;

	p->whole = false;
	for (uint64_t at = start; at < end && !r; at += span.pages << t->ctx->page_shift) {
		r = pgs_pagemap_next(t->pm, at, end, &span);
		if (r <= 0)
			return r == -ENODATA ? 0 : r;
		r = 0;
		if (span.words) {
			r = scan_words(t, &span);
			continue;
		}
		p->whole |= !!(span.fill & PGS_PM_SOFT_DIRTY);
		t->tv.unknown += pgs_vma_is_shared(t->tv.vma) ? span.pages : 0;
	}
	if (!r)
		r = pgs_track_flush(t);
	if (p->whole)
		t->tv.whole += t->tv.written - before;
	return r;
}

/* Its mark as a whole goes with the clearing at the end of the walk. Of hugetlbfs neither pagemap
 * nor clear_refs knows any mark. */
static int sd_begin(struct pgs_track *t, uint64_t start, uint64_t end, enum pgs_untracked *ret_why)
{
	(void)start, (void)end;
	*ret_why = PGS_UNTRACKED_HUGETLB;
	return t->tv.vma->huge_bytes ? -EMEDIUMTYPE : 0;
}

static int sd_forget(struct pgs_track *t, uint64_t start, uint64_t end)
{
	(void)t, (void)start, (void)end;
	return 0;
}

static int sd_end(struct pgs_track *t)
{
	struct sd_priv *p = t->priv;
	int r;

	if (write(p->clear_refs, "4", 1) == 1)
		return 0;
	r = -errno;
	return pgs_ctx_fail(t->ctx, r, "cannot clear the soft-dirty bits of process %d: %s",
			    (int)t->pid, strerror(-r));
}

static int sd_open(struct pgs_track *t)
{
	struct sd_priv *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	t->priv = p;
	p->clear_refs = pgs_open(t->ctx, PGS_CAP(CAP_DAC_OVERRIDE), O_WRONLY, "proc/%d/clear_refs",
				 (int)t->pid);
	return p->clear_refs < 0 ? p->clear_refs : 0;
}

static void sd_close(struct pgs_track *t)
{
	struct sd_priv *p = t->priv;

	if (!p)
		return;
	pgs_closep(&p->clear_refs);
	free(p);
}

const struct pgs_track_ops pgs_track_soft_dirty = {
	.open = sd_open,
	.close = sd_close,
	.begin = sd_begin,
	.scan = sd_scan,
	.forget = sd_forget,
	.end = sd_end,
};
