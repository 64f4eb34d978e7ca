// SPDX-License-Identifier: GPL-2.0-only
#include "pagestates.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cleanup.h"
#include "kpage.h"

#define BATCH 65536u /* frames a read */

/* include/uapi/linux/kernel-page-flags.h */
#define KPF_UPTODATE	3
#define KPF_DIRTY	4
#define KPF_WRITEBACK	8
#define KPF_BUDDY	10
#define KPF_SWAPCACHE	13
#define KPF_NOPAGE	20

#define HAS(flags, bit) ((flags) >> (bit)&1)

/* A run of free frames, and which of them carry the mark. */
struct run {
	uint64_t start, end;
	uint64_t *marks; /* ascending */
	size_t nr_marks, room;
};

struct walk {
	struct pgs_zones *zones; /* NULL: nothing is asked of free blocks */
	struct pgs_free_zones *free_zones;
	struct run run;
	struct pgs_page_states states;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* ---- free blocks ----------------------------------------------------------------------------- */

static unsigned int order_at(const struct pgs_free_zone *zone, uint64_t pfn, uint64_t end)
{
	unsigned int order = zone->nr_orders - 1;

	while (order && (pfn & ((UINT64_C(1) << order) - 1) || pfn + (UINT64_C(1) << order) > end))
		order--;
	return order;
}

static struct pgs_free_zone *zone_of(const struct walk *w, uint64_t pfn)
{
	unsigned int node;
	const char *name;

	if (!pgs_zones_find(w->zones, pfn, &node, &name))
		return NULL;
	return pgs_free_zones_find(w->free_zones, node, name);
}

/* Cut the run into its blocks. */
static void end_run(struct walk *w)
{
	struct run *run = &w->run;
	size_t mark = 0;

	for (uint64_t pfn = run->start; pfn < run->end;) {
		struct pgs_free_zone *zone = zone_of(w, pfn);
		unsigned int order = zone && zone->nr_orders ? order_at(zone, pfn, run->end) : 0;

		while (mark < run->nr_marks && run->marks[mark] < pfn)
			mark++;
		if (zone) {
			zone->blocks[order]++;
			zone->reported[order] += mark < run->nr_marks && run->marks[mark] == pfn;
		}
		pfn += UINT64_C(1) << order;
	}
	run->start = run->end = 0;
	run->nr_marks = 0;
}

static int add_mark(struct run *run, uint64_t pfn)
{
	if (run->nr_marks == run->room) {
		size_t room = run->room ? run->room * 2 : 256;
		uint64_t *more = reallocarray(run->marks, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		run->marks = more;
		run->room = room;
	}
	run->marks[run->nr_marks++] = pfn;
	return 0;
}

static int add_free(struct walk *w, uint64_t pfn, uint64_t flags)
{
	struct run *run = &w->run;

	if (run->end != pfn || run->start == run->end) {
		end_run(w);
		run->start = pfn;
	}
	run->end = pfn + 1;
	return HAS(flags, KPF_UPTODATE) ? add_mark(run, pfn) : 0;
}

/* ---- the walk -------------------------------------------------------------------------------- */

static int take_frame(struct walk *w, uint64_t pfn, uint64_t flags)
{
	struct pgs_page_states *s = &w->states;

	if (HAS(flags, KPF_NOPAGE))
		return 0;
	s->pages++;
	if (HAS(flags, KPF_BUDDY)) {
		s->free++;
		return w->zones ? add_free(w, pfn, flags) : 0;
	}
	s->dirty += HAS(flags, KPF_DIRTY);
	s->writeback += HAS(flags, KPF_WRITEBACK);
	s->swap_cache += HAS(flags, KPF_SWAPCACHE);
	return 0;
}

static int walk_all(struct walk *w, struct pgs_kpage *kpage, uint64_t *flags,
		    const volatile sig_atomic_t *stop)
{
	uint64_t pfn = 0;
	ssize_t n;

	while ((n = pgs_kpage_read(kpage, PGS_KPAGEFLAGS, pfn, BATCH, flags)) > 0) {
		for (ssize_t i = 0; i < n; i++) {
			int r = take_frame(w, pfn + (uint64_t)i, flags[i]);

			if (r)
				return r;
		}
		pfn += (uint64_t)n;
		if (stop && *stop)
			return -EINTR;
	}
	return (int)n;
}

static void forget_blocks(struct pgs_free_zones *zones)
{
	for (size_t i = 0; i < zones->nr; i++) {
		memset(zones->zones[i].blocks, 0, sizeof(zones->zones[i].blocks));
		memset(zones->zones[i].reported, 0, sizeof(zones->zones[i].reported));
		zones->zones[i].has_reported = true;
	}
}

int pgs_page_states_read(struct pgs_ctx *ctx, struct pgs_free_zones *zones,
			 const volatile sig_atomic_t *stop, struct pgs_page_states *ret)
{
	_cleanup_(pgs_kpage_closep) struct pgs_kpage *kpage = NULL;
	_cleanup_(pgs_zones_closep) struct pgs_zones *known = NULL;
	_cleanup_free_ uint64_t *flags = malloc(BATCH * sizeof(*flags));
	const uint64_t start = now_ns();
	struct walk w = {.free_zones = zones};
	int r = pgs_kpage_open(ctx, &kpage);

	if (!flags)
		return -ENOMEM;
	if (!r && zones)
		r = pgs_zones_open(ctx, &known);
	if (r)
		return r;
	w.zones = known;
	if (zones)
		forget_blocks(zones);
	r = walk_all(&w, kpage, flags, stop);
	if (!r && zones)
		end_run(&w);
	free(w.run.marks);
	w.states.walk_ns = now_ns() - start;
	if (!r)
		*ret = w.states;
	return r;
}
