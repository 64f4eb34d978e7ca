// SPDX-License-Identifier: GPL-2.0-only
/* The summary: what the shown processes have in swap together, each slot once; and for the whole
 * system, in whose hands the used swap is. */
#include "swapmap.h"

#include "../src/swapstat.h"

#include <errno.h>

struct pgs_val swapmap_pages_if(bool known, uint64_t pages)
{
	return known ? pgs_u64(pages) : PGS_NULL;
}

bool swapmap_shmem_partial(const struct swapmap *m)
{
	return m->objs && !pgs_swapobjs_is_complete(m->objs);
}

bool swapmap_anon_known(const struct swapmap *m)
{
	return !m->hidden_slots && !m->nr_refused && (m->owners_known || !m->opts->target.system);
}

/* An object that no process maps counts with the whole system. */
static bool knows_all_objects(const struct swapmap *m)
{
	for (size_t i = 0; m->objs && i < pgs_swapobjs_nr(m->objs); i++) {
		const struct pgs_swapobj *obj = pgs_swapobjs_get(m->objs, i);

		if (obj->racy || obj->reason)
			return false;
	}
	return true;
}

/* What is listed as a whole is known whoever maps it, if it could be told. Where it is not, objects
 * that could not be told are the least of what is missing. */
bool swapmap_shmem_known(const struct swapmap *m)
{
	if (m->opts->target.system && !swapmap_shmem_partial(m) && !knows_all_objects(m))
		return false;
	return !m->shmem_unknown &&
	       (m->owners_known || !m->opts->target.system || !swapmap_shmem_partial(m));
}

/* ---- the account ---------------------------------------------------------------------------- */

static int note_entries(void *arg, const struct pgs_vma *vma, const struct pgs_swap_run *run)
{
	struct swapmap *m = arg;

	(void)vma;
	if (!run->is_shmem)
		pgs_swapcache_entries(m->cache, run->addr, run->pages);
	return cmd_interrupted ? -EINTR : 0;
}

/* Cached pages whose slot a relative still refers to are that relative's. */
static int compare_entries(struct swapmap *m)
{
	const struct pgs_swapscan_opts opts = {
		.run = note_entries, .arg = m, .stop = &cmd_interrupted};
	int r = 0;

	for (size_t i = 0; i < m->nr_procs && r != -EINTR && r != -ENOMEM; i++)
		if (!m->procs[i].err && !swapmap_is_told(m, i) &&
		    pgs_swapscan_may_have_anon(&m->env, &m->procs[i].proc))
			r = pgs_swapscan(&m->env, m->objs, &m->procs[i].proc, &opts);
	return r == -ENOMEM ? r : 0;
}

/*
 * By the frames of present pages. At most what is left of the used slots can be held by the cache
 * alone: a frame whose slot is referred to at another address (mremap(2) after the fork) is not
 * told apart otherwise, and a cached page that nobody maps is not seen at all.
 */
static int estimate_cache(struct swapmap *m, uint64_t left)
{
	uint64_t slots;
	int r = 0;

	if (m->cached_pages.set && !m->cached_pages.u) {
		m->account.cache = pgs_u64(0);
		return 0;
	}
	if (!m->owners_known || !m->cache)
		return 0;
	if (pgs_swapcache_seal(m->cache))
		r = compare_entries(m);
	slots = pgs_swapcache_slots(m->cache);
	if (r)
		return r;
	m->account.cache = pgs_u64(slots < left ? slots : left);
	m->account.cache_estimated = true;
	return 0;
}

static int count_cache(struct swapmap *m, uint64_t left)
{
	struct swapmap_account *a = &m->account;
	uint64_t slots = 0;
	int r = m->owners_known && left ? swapmap_count_cache(m, &slots) : -EOPNOTSUPP;

	if (!left) {
		a->cache = pgs_u64(0);
		return 0;
	}
	if (r == -EOPNOTSUPP || r == -EFAULT)
		return estimate_cache(m, left);
	a->cache = swapmap_pages_if(!r, slots);
	return r == -ENOMEM ? r : 0;
}

int swapmap_reconcile(struct swapmap *m)
{
	struct swapmap_account *a = &m->account;
	struct pgs_slot_counts counts = {0};
	uint64_t found;
	int r;

	pgs_slots_count(m->slots, 0, UINT32_MAX, &counts);
	a->used = pgs_swap_areas_used(&m->swaps);
	a->anon = counts.anon;
	a->shmem = counts.shmem;
	found = a->anon + a->shmem;
	r = count_cache(m, a->used > found ? a->used - found : 0);
	found += a->cache.set ? a->cache.u : 0;
	a->unaccounted = a->used > found ? a->used - found : 0;
	a->excess = found > a->used ? found - a->used : 0;
	return r;
}

/* ---- the keys ------------------------------------------------------------------------------- */

/* Of a walk that was interrupted no sum is known. */
static int put(struct swapmap *m, const char *key, bool known, uint64_t pages)
{
	return out_summary(m->out, key, PGS_U64,
			   swapmap_pages_if(known && !cmd_interrupted, pages));
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

/* The four that make up "used"; of a few processes just the first two, and their part of them. */
static int put_account(struct swapmap *m)
{
	const struct swapmap_account *a = &m->account;
	bool all = m->opts->target.system;
	bool anon = swapmap_anon_known(m), shmem = swapmap_shmem_known(m);
	struct pgs_slot_counts counts = {0};
	int r;

	pgs_slots_count(m->slots, 0, UINT32_MAX, &counts);
	r = put(m, "anon_slots", anon, all ? a->anon : counts.shown_anon);
	if (!r)
		r = put(m, "shmem_slots", shmem, all ? a->shmem : counts.shown_shmem);
	if (!r)
		r = out_summary(m->out, "swap_cache_slots", PGS_U64, all ? a->cache : PGS_NULL);
	if (!r)
		r = put(m, "unaccounted", all && anon && shmem, a->unaccounted);
	return r;
}

static int put_cache(struct swapmap *m)
{
	const struct swapmap_account *a = &m->account;
	bool known = a->cache.set && !cmd_interrupted;
	int r = put(m, "swap_cache_reserved", known && a->cache_by_type, a->reserved);

	if (!r)
		r = out_summary(m->out, "swap_cache_estimated", PGS_BOOL,
				known ? pgs_bool(a->cache_estimated) : PGS_NULL);
	return r ? r : out_summary(m->out, "swap_cached", PGS_U64, m->cached_pages);
}

static struct pgs_val count_val(struct pgs_count count)
{
	return swapmap_pages_if(count.set, count.n);
}

/* What tells how to read the account. */
static int put_context(struct swapmap *m)
{
	struct pgs_zswap zswap = {0};
	int r = put_cache(m);

	if (pgs_zswap_read(m->ctx, &zswap)) /* none, or it cannot be read */
		zswap = (struct pgs_zswap){0};
	if (!r)
		r = out_summary(m->out, "shmem_partial", PGS_BOOL,
				pgs_bool(swapmap_shmem_partial(m) || !swapmap_shmem_known(m)));
	if (!r)
		r = put(m, "changed", true, m->account.excess);
	if (!r)
		r = out_summary(m->out, "zswap_pool_bytes", PGS_BYTES, count_val(zswap.pool_bytes));
	if (!r)
		r = out_summary(m->out, "zswap_stored_bytes", PGS_BYTES,
				count_val(zswap.stored_bytes));
	return r;
}

int swapmap_summary(struct swapmap *m)
{
	bool shmem = !m->shmem_unknown;
	int r = put(m, "processes", true, m->nr_looked_at);

	if (!r)
		r = put(m, "anon", !m->nr_refused, m->anon_pages);
	if (!r)
		r = put(m, "shmem", shmem, m->shmem_pages);
	if (!r)
		r = put(m, "total", shmem && !m->nr_refused, m->anon_pages + m->shmem_pages);
	if (!r)
		r = put_areas(m);
	if (!r)
		r = put_account(m);
	if (!r && m->opts->target.system)
		r = put_context(m);
	return r;
}
