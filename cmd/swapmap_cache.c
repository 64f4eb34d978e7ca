// SPDX-License-Identifier: GPL-2.0-only
/* Slots that only the swap cache holds, slot by slot, where kernel memory can be read. */
#include "swapmap.h"

#include "../src/cleanup.h"

#include <errno.h>
#include <stdlib.h>

#define CHUNK 16384u /* slots looked at in one go */

/* Slots that an owner was found for are that owner's. */
static void count_chunk(struct swapmap *m, unsigned int type, uint64_t first, const uint8_t *flags,
			size_t count)
{
	struct swapmap_account *a = &m->account;

	for (size_t i = 0; i < count; i++) {
		bool reserved = flags[i] & PGS_KSLOT_RESERVED;

		if (!(reserved || flags[i] & PGS_KSLOT_CACHED) ||
		    pgs_slots_get(m->slots, type, first + i).flags &
			    (PGS_SLOT_ANON | PGS_SLOT_SHMEM))
			continue;
		a->cache_of_type[type]++;
		a->reserved += reserved;
	}
}

static int count_area(struct swapmap *m, const struct pgs_kmem_area *area, uint8_t *flags)
{
	int r = 0;

	m->account.cache_of_type[area->type] = 0;
	for (uint64_t first = 0; first < area->slots && !r && !cmd_interrupted; first += CHUNK) {
		size_t count = area->slots - first < CHUNK ? area->slots - first : CHUNK;

		r = pgs_kmem_slots(m->env.kmem, area, first, count, flags);
		if (!r)
			count_chunk(m, area->type, first, flags, count);
	}
	return r;
}

int swapmap_count_cache(struct swapmap *m, uint64_t *ret_slots)
{
	struct pgs_kmem_area areas[PGS_KMEM_AREAS_MAX];
	_cleanup_free_ uint8_t *flags = malloc(CHUNK);
	uint64_t sum = 0;
	int nr, r = 0;

	if (!flags)
		return -ENOMEM;
	/* Of shared memory whose slots are not known, cached ones would count twice. */
	if (m->hidden_slots || swapmap_shmem_partial(m) || !swapmap_shmem_known(m) ||
	    !pgs_kmem_has(m->env.kmem, PGS_KMEM_SWAP_CACHE))
		return -EOPNOTSUPP;
	nr = pgs_kmem_areas(m->env.kmem, areas);
	for (int i = 0; i < nr && !r; i++) {
		r = count_area(m, &areas[i], flags);
		sum += m->account.cache_of_type[areas[i].type];
	}
	if (nr < 0 || r)
		return nr < 0 ? nr : r;
	m->account.cache_by_type = true;
	*ret_slots = sum;
	return 0;
}
