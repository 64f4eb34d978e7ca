// SPDX-License-Identifier: GPL-2.0-only
/* The summary: what the shown processes have in swap together, each slot once. */
#include "swapmap.h"

#include <errno.h>

static struct pgs_val pages_if(bool known, uint64_t pages)
{
	return known ? pgs_u64(pages) : PGS_NULL;
}

static int put(struct swapmap *m, const char *key, bool known, uint64_t pages)
{
	return out_summary(m->out, key, PGS_U64, pages_if(known, pages));
}

/* Used pages of all areas, and the share that is of their size: of no area there is none. */
static int put_areas(struct swapmap *m)
{
	uint64_t used = pgs_swap_areas_used(&m->swaps), size = pgs_swap_areas_size(&m->swaps);
	struct pgs_val percent = PGS_NULL;
	int r = put(m, "size", true, size);

	if (size)
		percent =
			pgs_f64((double)(uint64_t)((double)used * 1e4 / (double)size + 0.5) / 1e2);
	if (!r)
		r = put(m, "used", true, used);
	return r ? r : out_summary(m->out, "used_percent", PGS_F64, percent);
}

int swapmap_summary(struct swapmap *m)
{
	struct pgs_slot_counts counts = {0};
	bool shmem = !m->shmem_unknown;
	int r = put(m, "processes", true, m->nr_rows);

	pgs_slots_count(m->slots, 0, UINT32_MAX, &counts);
	if (!r)
		r = put(m, "anon", !m->nr_refused, m->anon_pages);
	if (!r)
		r = put(m, "shmem", shmem, m->shmem_pages);
	if (!r)
		r = put(m, "total", shmem && !m->nr_refused, m->anon_pages + m->shmem_pages);
	if (!r)
		r = put(m, "anon_slots", !m->hidden_slots && !m->nr_refused, counts.shown_anon);
	if (!r)
		r = put(m, "shmem_slots", shmem, counts.shown_shmem);
	return r ? r : put_areas(m);
}
