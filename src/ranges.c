// SPDX-License-Identifier: GPL-2.0-only
#include "ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void pgs_ranges_fini(struct pgs_ranges *set)
{
	free(set->v);
	*set = (struct pgs_ranges){0};
}

/* The first range that ends at or above @addr (@touching), or above it. */
static size_t find(const struct pgs_ranges *set, uint64_t addr, bool touching)
{
	size_t low = 0, high = set->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (set->v[mid].end > addr || (touching && set->v[mid].end == addr))
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

/* Put the @nr ranges of @with in the place of @count ranges from @at on. */
static int splice(struct pgs_ranges *set, size_t at, size_t count, const struct pgs_range *with,
		  size_t nr)
{
	if (set->nr + nr - count > set->room) {
		size_t room = set->room ? 2 * set->room : 16;
		struct pgs_range *v = reallocarray(set->v, room, sizeof(*v));

		if (!v)
			return -ENOMEM;
		set->v = v;
		set->room = room;
	}
	memmove(set->v + at + nr, set->v + at + count, (set->nr - at - count) * sizeof(*set->v));
	if (nr)
		memcpy(set->v + at, with, nr * sizeof(*with));
	set->nr += nr - count;
	return 0;
}

int pgs_ranges_add(struct pgs_ranges *set, uint64_t start, uint64_t end)
{
	struct pgs_range all = {.start = start, .end = end};
	size_t first = find(set, start, true), last = first;

	if (start >= end)
		return 0;
	for (; last < set->nr && set->v[last].start <= end; last++) {
		if (set->v[last].start < all.start)
			all.start = set->v[last].start;
		if (set->v[last].end > all.end)
			all.end = set->v[last].end;
	}
	return splice(set, first, last - first, &all, 1);
}

int pgs_ranges_remove(struct pgs_ranges *set, uint64_t start, uint64_t end)
{
	size_t first = find(set, start, false), last = first, nr = 0;
	struct pgs_range rest[2];

	while (last < set->nr && set->v[last].start < end)
		last++;
	if (start >= end || first == last)
		return 0;
	if (set->v[first].start < start)
		rest[nr++] = (struct pgs_range){set->v[first].start, start};
	if (set->v[last - 1].end > end)
		rest[nr++] = (struct pgs_range){end, set->v[last - 1].end};
	return splice(set, first, last - first, rest, nr);
}

bool pgs_ranges_next(const struct pgs_ranges *set, uint64_t addr, uint64_t end, uint64_t *ret_stop)
{
	size_t i = find(set, addr, false);
	bool is_in = i < set->nr && set->v[i].start <= addr;
	uint64_t stop = end;

	if (is_in)
		stop = set->v[i].end;
	else if (i < set->nr)
		stop = set->v[i].start;
	*ret_stop = stop < end ? stop : end;
	return is_in;
}

uint64_t pgs_ranges_total(const struct pgs_ranges *set)
{
	uint64_t total = 0;

	for (size_t i = 0; i < set->nr; i++)
		total += set->v[i].end - set->v[i].start;
	return total;
}
