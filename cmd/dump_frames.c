// SPDX-License-Identifier: GPL-2.0-only
/* The frames behind pages: flags, counts, cgroups, node and zone; and --pfn, all there are. */
#include "dump.h"

#include "../src/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A page that moves is looked at again this often before its row is marked. */
#define RETRIES 3

int dump_frames_open(struct dump *d)
{
	struct dump_frames *f = &d->frames;
	int r = pgs_kpage_open(d->ctx, &f->kpage);

	if (!r)
		r = pgs_zones_open(d->ctx, &f->zones);
	if (!r && pgs_kpage_has(f->kpage, PGS_KPAGECGROUP) && pgs_cgroups_open(d->ctx, &f->cgroups))
		msg_debug("no names of cgroups: %s", pgs_ctx_error(d->ctx));
	return r;
}

void dump_frames_close(struct dump *d)
{
	struct dump_frames *f = &d->frames;

	pgs_kpage_close(f->kpage);
	pgs_zones_close(f->zones);
	pgs_cgroups_close(f->cgroups);
	free(f->pfns);
	for (int i = 0; i < PGS_KPAGE_FILES; i++)
		free(f->word[i]);
	free(f->words);
	free(f->again);
	free(f->racy);
	*f = (struct dump_frames){0};
}

int dump_frames_room(struct dump_frames *f, size_t count)
{
	bool ok = true;

	if (count <= f->room)
		return 0;
	f->room = 0;
	free(f->pfns);
	free(f->words);
	free(f->again);
	free(f->racy);
	ok &= (f->words = calloc(count, sizeof(*f->words))) != NULL;
	ok &= (f->pfns = calloc(count, sizeof(*f->pfns))) != NULL;
	ok &= (f->again = calloc(count, sizeof(*f->again))) != NULL;
	ok &= (f->racy = calloc(count, sizeof(*f->racy))) != NULL;
	for (int i = 0; i < PGS_KPAGE_FILES; i++) {
		free(f->word[i]);
		ok &= (f->word[i] = calloc(count, sizeof(*f->word[i]))) != NULL;
	}
	f->room = ok ? count : 0;
	return ok ? 0 : -ENOMEM;
}

static uint64_t frame_of(uint64_t word)
{
	return word & PGS_PM_PRESENT && word & PGS_PM_FRAME ? word & PGS_PM_FRAME : PGS_NO_FRAME;
}

static int gather(struct dump_frames *f, size_t count)
{
	int r = 0;

	for (int i = 0; i < PGS_KPAGE_FILES && !r; i++)
		if (pgs_kpage_has(f->kpage, i))
			r = pgs_kpage_gather(f->kpage, i, f->pfns, count, f->word[i]);
	return r;
}

/*
 * A frame that left the page and came back meanwhile betrays itself: flags and count were read
 * while it was mapped nowhere. Pages without a struct page (the zero page, a driver's) have neither
 * bit and always count 0; the huge zero page counts 0 too, but is shown as a file's: pagemap takes
 * for one what is not PageAnon (fs/proc/task_mmu.c).
 */
static bool was_unmapped(const struct dump_frames *f, uint64_t i)
{
	if (!(f->words[i] & (PGS_PM_FILE | PGS_PM_EXCLUSIVE)) || f->pfns[i] == PGS_NO_FRAME)
		return false;
	if (!pgs_kpage_has(f->kpage, PGS_KPAGECOUNT) || f->word[PGS_KPAGECOUNT][i])
		return false;
	return !pgs_kpage_has(f->kpage, PGS_KPAGEFLAGS) ||
	       !(f->word[PGS_KPAGEFLAGS][i] & PGS_KPF_ZERO_PAGE);
}

/*
 * Read pagemap again: a page still in its frame was told truly. One that moved is taken at its new
 * frame for the next try. Returns how many moved, or -errno.
 */
static ssize_t recheck(struct dump *d, struct pgs_scan *scan, const struct pgs_piece *piece)
{
	struct dump_frames *f = &d->frames;
	ssize_t moved = 0, n;

	n = pgs_pagemap_read(pgs_scan_pagemap(scan), piece->addr, piece->pages, f->again);
	if (n < 0)
		return n;
	for (uint64_t i = 0; i < piece->pages; i++) {
		uint64_t now = i < (uint64_t)n ? frame_of(f->again[i]) : PGS_NO_FRAME;

		f->racy[i] = now != f->pfns[i] || was_unmapped(f, i);
		moved += f->racy[i];
		if (f->racy[i] && now != PGS_NO_FRAME && f->pfns[i] != PGS_NO_FRAME) {
			f->words[i] = f->again[i];
			f->pfns[i] = now;
		}
	}
	return moved;
}

/*
 * A frame can be given to somebody else between the read of pagemap and that of kpageflags. The
 * page map is read again afterwards: a page still in the same frame had it all along, unless it
 * left and came back (was_unmapped()). What does not settle is marked.
 */
int dump_frames_load(struct dump *d, struct pgs_scan *scan, struct pgs_piece *piece)
{
	struct dump_frames *f = &d->frames;
	ssize_t moved = 1;
	int r = dump_frames_room(f, piece->pages);

	if (r)
		return r;
	memcpy(f->words, piece->words, piece->pages * sizeof(*f->words));
	for (uint64_t i = 0; i < piece->pages; i++)
		f->pfns[i] = frame_of(f->words[i]);
	for (int tries = 0; tries < RETRIES && moved > 0; tries++) {
		r = gather(f, piece->pages);
		moved = r ? r : recheck(d, scan, piece);
	}
	if (moved < 0)
		return (int)moved;
	d->nr_racy += (uint64_t)moved;
	piece->words = f->words;
	return 0;
}

bool dump_frames_same(const struct dump_frames *f, uint64_t a, uint64_t b)
{
	return f->racy[a] == f->racy[b] &&
	       f->word[PGS_KPAGEFLAGS][a] == f->word[PGS_KPAGEFLAGS][b] &&
	       f->word[PGS_KPAGECOUNT][a] == f->word[PGS_KPAGECOUNT][b] &&
	       f->word[PGS_KPAGECGROUP][a] == f->word[PGS_KPAGECGROUP][b];
}

/* How many of @count consecutive frames from @pfn on lie in the same node and zone. */
uint64_t dump_frames_same_zone(const struct dump_frames *f, uint64_t pfn, uint64_t count)
{
	const char *zone, *other;
	unsigned int node, n;
	uint64_t lo = 1, hi = count;
	bool found = pgs_zones_find(f->zones, pfn, &node, &zone);

	while (lo < hi) { /* the last frame of the zone, by halves */
		uint64_t mid = lo + (hi - lo + 1) / 2;
		bool same = pgs_zones_find(f->zones, pfn + mid - 1, &n, &other) == found &&
			    (!found || (n == node && other == zone));

		if (same)
			lo = mid;
		else
			hi = mid - 1;
	}
	return lo;
}

uint64_t dump_frames_cut(struct dump *d, uint64_t index, uint64_t count, struct dump_run *run)
{
	const struct dump_frames *f = &d->frames;
	uint64_t n = 1;

	run->has_flags =
		f->pfns[index] != PGS_NO_FRAME && f->word[PGS_KPAGEFLAGS][index] != PGS_NO_WORD;
	if (!run->has_flags)
		return count;
	while (n < count && dump_frames_same(f, index, index + n))
		n++;
	run->racy = f->racy[index];
	run->kpageflags = f->word[PGS_KPAGEFLAGS][index];
	run->mapcount = f->word[PGS_KPAGECOUNT][index];
	run->cgroup_inode = f->word[PGS_KPAGECGROUP][index];
	return pgs_scan_step(&d->env, run->word) ? dump_frames_same_zone(f, run->page.pfn, n) : n;
}

/* ---- --by=flags ------------------------------------------------------------------------------ */

const struct pgs_col dump_flags_cols[] = {
	{"flags", NULL, PGS_RAW64, 18, 0, "raw flags of a frame"},
	{"pages", NULL, PGS_U64, 9, 0, "pages whose frame has them"},
	{"symbolic", NULL, PGS_STR, 40, 0, "their names"},
	{0},
};

/* The slot of @flags; slots with no pages are free. */
static struct flag_count *hist_slot(struct flag_count *hist, size_t room, uint64_t flags)
{
	size_t i = (flags * UINT64_C(0x9e3779b97f4a7c15)) >> 32;

	while (hist[i & (room - 1)].pages && hist[i & (room - 1)].flags != flags)
		i++;
	return &hist[i & (room - 1)];
}

static int hist_grow(struct dump *d)
{
	size_t room = d->hist_room ? d->hist_room * 2 : 256;
	struct flag_count *hist = calloc(room, sizeof(*hist));

	if (!hist)
		return -ENOMEM;
	for (size_t i = 0; i < d->hist_room; i++)
		if (d->hist[i].pages)
			*hist_slot(hist, room, d->hist[i].flags) = d->hist[i];
	free(d->hist);
	d->hist = hist;
	d->hist_room = room;
	return 0;
}

int dump_hist_add(struct dump *d, uint64_t flags, uint64_t pages)
{
	struct flag_count *slot;

	if (d->nr_hist * 2 >= d->hist_room && hist_grow(d))
		return -ENOMEM;
	slot = hist_slot(d->hist, d->hist_room, flags);
	d->nr_hist += !slot->pages;
	slot->flags = flags;
	slot->pages += pages;
	return 0;
}

static int compare_hist(const void *a, const void *b)
{
	const struct flag_count *x = a, *y = b;

	return x->flags < y->flags ? -1 : x->flags > y->flags;
}

int dump_hist_emit(struct dump *d)
{
	char names[PGS_KPF_STR];
	int r = 0;

	if (d->hist)
		qsort(d->hist, d->hist_room, sizeof(*d->hist), compare_hist);
	for (size_t i = 0; i < d->hist_room && !r; i++) {
		struct pgs_val vals[] = {
			pgs_u64(d->hist[i].flags),
			pgs_u64(d->hist[i].pages),
			pgs_str(pgs_kpf_format(d->hist[i].flags, names)),
		};

		if (d->hist[i].pages)
			r = out_row(d->out, vals);
	}
	return r;
}
