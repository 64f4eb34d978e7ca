// SPDX-License-Identifier: GPL-2.0-only
/*
 * Swapped pages that are pages of zeroes: since 6.12 the kernel does not write them to the device,
 * it marks their slots ("mm: store zero pages to be swapped out in a bitmap"). Only kernel memory
 * shows the marks, so only where it is in use anyway are they looked at.
 */
#include "dump.h"

#include <stdlib.h>

#define WINDOW 512u /* slots looked at in one go */

struct dump_zero {
	int nr_areas;
	struct pgs_kmem_area areas[PGS_KMEM_AREAS_MAX];
};

static struct dump_zero *open_zero(struct dump *d)
{
	struct dump_zero *zero;

	if (!pgs_kmem_is_on(d->env.kmem) || !pgs_kmem_has(d->env.kmem, PGS_KMEM_ZERO_MAP))
		return NULL;
	zero = calloc(1, sizeof(*zero));
	if (zero)
		zero->nr_areas = pgs_kmem_areas(d->env.kmem, zero->areas);
	return zero;
}

static const struct pgs_kmem_area *find_area(const struct dump_zero *zero, unsigned int type)
{
	for (int i = 0; i < zero->nr_areas; i++)
		if (zero->areas[i].type == type)
			return &zero->areas[i];
	return NULL;
}

uint64_t dump_zero_cut(struct dump *d, uint64_t count, struct dump_run *run)
{
	const struct pgs_kmem_area *area;
	uint8_t flags[WINDOW];
	uint64_t n = 1;

	if (!d->zero)
		d->zero = open_zero(d);
	area = d->zero ? find_area(d->zero, run->page.swap_type) : NULL;
	if (!area)
		return count;
	if (count > WINDOW)
		count = WINDOW;
	if (pgs_kmem_slots(d->env.kmem, area, run->page.swap_offset, count, flags))
		return count;
	while (n < count && !((flags[n] ^ flags[0]) & PGS_KSLOT_ZERO))
		n++;
	run->zero = flags[0] & PGS_KSLOT_ZERO ? PGS_TRI_YES : PGS_TRI_NO;
	return n;
}
