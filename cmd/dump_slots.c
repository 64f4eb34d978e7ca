// SPDX-License-Identifier: GPL-2.0-only
/*
 * What no page table entry says of a swapped page, but its slot: whether the swap cache has it, so
 * that it is still or again in memory; and whether it holds zeroes alone, which since 6.12 are not
 * written to the device ("mm: store zero pages to be swapped out in a bitmap"). Only kernel memory
 * shows either, so only where it is in use anyway are slots looked at.
 */
#include "dump.h"

#include <stdlib.h>

#define WINDOW 512u /* slots looked at in one go */
#define LOOKED (PGS_KSLOT_CACHED | PGS_KSLOT_UNSEEN | PGS_KSLOT_ZERO)

struct dump_slots {
	bool cache, zero; /* what is known of them */
	int nr_areas;
	struct pgs_kmem_area areas[PGS_KMEM_AREAS_MAX];
};

static struct dump_slots *open_slots(struct dump *d)
{
	struct pgs_kmem *kmem = d->env.kmem;
	struct dump_slots *slots;

	if (!pgs_kmem_is_on(kmem) || !pgs_kmem_has(kmem, PGS_KMEM_AREAS))
		return NULL;
	slots = calloc(1, sizeof(*slots));
	if (!slots)
		return NULL;
	slots->cache = pgs_kmem_has(kmem, PGS_KMEM_SWAP_CACHE);
	slots->zero = pgs_kmem_has(kmem, PGS_KMEM_ZERO_MAP);
	if (slots->cache || slots->zero)
		slots->nr_areas = pgs_kmem_areas(kmem, slots->areas);
	return slots;
}

static const struct pgs_kmem_area *find_area(const struct dump_slots *slots, unsigned int type)
{
	for (int i = 0; i < slots->nr_areas; i++)
		if (slots->areas[i].type == type)
			return &slots->areas[i];
	return NULL;
}

static void set_run(const struct dump_slots *slots, uint8_t flags, struct dump_run *run)
{
	if (slots->zero)
		run->zero = flags & PGS_KSLOT_ZERO ? PGS_TRI_YES : PGS_TRI_NO;
	if (!slots->cache)
		return;
	run->cache_known = flags & PGS_KSLOT_CACHED || !(flags & PGS_KSLOT_UNSEEN);
	if (flags & PGS_KSLOT_CACHED)
		run->page.state = PGS_SWAP_CACHE;
}

uint64_t dump_slots_cut(struct dump *d, uint64_t count, struct dump_run *run)
{
	const struct pgs_kmem_area *area;
	uint8_t flags[WINDOW];
	uint64_t n = 1;

	if (!d->slots)
		d->slots = open_slots(d);
	area = d->slots ? find_area(d->slots, run->page.swap_type) : NULL;
	if (!area)
		return count;
	if (count > WINDOW)
		count = WINDOW;
	if (pgs_kmem_slots(d->env.kmem, area, run->page.swap_offset, count, flags))
		return count;
	while (n < count && !((flags[n] ^ flags[0]) & LOOKED))
		n++;
	set_run(d->slots, flags[0], run);
	return n;
}
