// SPDX-License-Identifier: GPL-2.0-only
/* The view of swap areas: how much of each is in whose hands. */
#include "swapmap.h"

#include "../src/swapstat.h"

#include <string.h>

#define HIDDEN PGS_COL_HIDDEN

/* clang-format off */
enum {
	D_DEVICE, D_TYPE, D_PRIO, D_SIZE, D_USED, D_ANON, D_SHMEM, D_CACHED, D_OTHER, D_SIZE_BYTES,
	D_USED_BYTES, D_ZRAM_DATA, D_ZRAM_COMPRESSED, D_ZRAM_MEMORY, D_ZRAM_SAME, D_NOTE, D_COLS
};

const struct pgs_col swapmap_device_cols[] = {
	[D_DEVICE]	= {"device", NULL, PGS_BLOB, 12, 0, "the area's device or file"},
	[D_TYPE]	= {"type", NULL, PGS_U64, 4, 0, "the kernel's index of it, if certain"},
	[D_PRIO]	= {"prio", NULL, PGS_S64, 4, 0, "priority"},
	[D_SIZE]	= {"size", NULL, PGS_U64, 9, 0, "slots"},
	[D_USED]	= {"used", NULL, PGS_U64, 9, 0, "slots in use"},
	[D_ANON]	= {"anon", NULL, PGS_U64, 9, 0, "of private memory"},
	[D_SHMEM]	= {"shmem", NULL, PGS_U64, 9, 0, "of shared memory"},
	[D_CACHED]	= {"cached", NULL, PGS_U64, 7, 0, "that only the swap cache holds"},
	[D_OTHER]	= {"other", NULL, PGS_U64, 7, 0, "in use, nobody was found to hold them"},
	[D_SIZE_BYTES]	= {"size_bytes", NULL, PGS_BYTES, 10, HIDDEN, "size in bytes"},
	[D_USED_BYTES]	= {"used_bytes", NULL, PGS_BYTES, 10, HIDDEN, "used in bytes"},
	[D_ZRAM_DATA]	= {"zram_data", "DATA", PGS_BYTES, 6, 0, "zram: data stored in it, before compression"},
	[D_ZRAM_COMPRESSED] = {"zram_compressed", NULL, PGS_BYTES, 6, HIDDEN, "zram: the same compressed"},
	[D_ZRAM_MEMORY]	= {"zram_memory", "MEMORY", PGS_BYTES, 6, 0, "zram: memory that it takes"},
	[D_ZRAM_SAME]	= {"zram_same", NULL, PGS_U64, 6, HIDDEN, "zram: pages of one repeated word, which take none"},
	[D_NOTE]	= {"note", NULL, PGS_STR, 4, 0, "why a value is not known"},
	[D_COLS]	= {0},
};
/* clang-format on */

/* Slots that are accounted for: all, or those of the shown processes. */
static struct pgs_slot_counts count_spaces(const struct swapmap *m, uint32_t from, uint32_t to)
{
	struct pgs_slot_counts counts = {0};

	pgs_slots_count(m->slots, from, to, &counts);
	if (!m->opts->target.system) {
		counts.anon = counts.shown_anon;
		counts.shmem = counts.shown_shmem;
	}
	return counts;
}

static void fill_zram(const struct swapmap *m, const struct pgs_swap_area *area,
		      struct pgs_val *vals)
{
	struct pgs_zram zram;

	if (area->is_file || pgs_zram_read(m->ctx, area->name, &zram))
		return;
	vals[D_ZRAM_DATA] = pgs_u64(zram.data_bytes);
	vals[D_ZRAM_COMPRESSED] = pgs_u64(zram.compressed_bytes);
	vals[D_ZRAM_MEMORY] = pgs_u64(zram.memory_bytes);
	vals[D_ZRAM_SAME] = pgs_u64(zram.same_pages);
}

/* One area alone has all slots, also those whose type is not known. */
static struct pgs_slot_counts count_line(const struct swapmap *m, int type)
{
	struct pgs_slot_counts counts = {0};

	if (m->swaps.nr == 1)
		return count_spaces(m, 0, UINT32_MAX);
	return type < 0 ? counts : count_spaces(m, (uint32_t)type, (uint32_t)type + 1);
}

/* @located: shared memory that was found is where @counts has it. */
static void fill_found(const struct swapmap *m, const struct pgs_slot_counts *counts, bool located,
		       struct pgs_val *vals)
{
	vals[D_ANON] = swapmap_pages_if(swapmap_anon_known(m), counts->anon);
	vals[D_SHMEM] = swapmap_pages_if(swapmap_shmem_known(m) && located, counts->shmem);
}

/* In which area a cached page's slot lies is only known where there is one, or by kernel memory. */
static void fill_owners(const struct swapmap *m, const struct pgs_swap_area *area, int type,
			struct pgs_val *vals)
{
	struct pgs_slot_counts counts = count_line(m, type);
	const struct pgs_val *cache = &m->account.cache;
	uint64_t known;

	fill_found(m, &counts, m->swaps.nr == 1 || !swapmap_shmem_partial(m), vals);
	if (cache->set && (!cache->u || m->swaps.nr == 1))
		vals[D_CACHED] = *cache;
	else if (m->account.cache_by_type && type >= 0)
		vals[D_CACHED] = pgs_u64(m->account.cache_of_type[type]);
	known = counts.anon + counts.shmem + (vals[D_CACHED].set ? vals[D_CACHED].u : 0);
	if (vals[D_ANON].set && vals[D_SHMEM].set &&
	    (vals[D_CACHED].set || !m->opts->target.system))
		vals[D_OTHER] = pgs_u64(area->used_pages > known ? area->used_pages - known : 0);
}

static const char *area_note(const struct swapmap *m, bool open)
{
	if (open)
		return "type not certain";
	if (m->hidden_slots)
		return "slots hidden (needs CAP_SYS_ADMIN)";
	if (!swapmap_anon_known(m))
		return "not all owners known";
	if (!swapmap_shmem_known(m))
		return "shared memory not known";
	if (swapmap_shmem_partial(m))
		return m->account.cache_estimated
			       ? "shared memory needs the module or kernel memory; cached is an "
				 "estimate"
			       : "shared memory needs the module or kernel memory";
	return m->account.cache_estimated ? "cached is an estimate" : NULL;
}

static int emit_area(struct swapmap *m, size_t line)
{
	const struct pgs_swap_area *area = &m->swaps.areas[line];
	bool open;
	int type = swapmap_type_of(m, line, &open);
	struct pgs_val vals[D_COLS] = {
		[D_DEVICE] = pgs_blob(area->name, strlen(area->name)),
		[D_TYPE] = swapmap_pages_if(type >= 0, (uint64_t)type),
		[D_PRIO] = pgs_s64(area->prio),
		[D_SIZE] = pgs_u64(area->size_pages),
		[D_USED] = pgs_u64(area->used_pages),
		[D_SIZE_BYTES] = pgs_u64(area->size_pages << m->ctx->page_shift),
		[D_USED_BYTES] = pgs_u64(area->used_pages << m->ctx->page_shift),
		[D_NOTE] = pgs_str(area_note(m, open)),
	};

	if (!open)
		fill_owners(m, area, type, vals);
	fill_zram(m, area, vals);
	return out_row(m->out, vals);
}

/* A type that was seen, and whose area is not certain, is a row of its own. */
static int emit_type(struct swapmap *m, unsigned int type)
{
	struct pgs_slot_counts counts = count_spaces(m, type, type + 1);
	struct pgs_val vals[D_COLS] = {
		[D_TYPE] = pgs_u64(type),
		[D_NOTE] = pgs_str("device not certain"),
	};

	fill_found(m, &counts, !swapmap_shmem_partial(m), vals);
	return out_row(m->out, vals);
}

int swapmap_show_devices(struct swapmap *m)
{
	int r = 0;

	for (size_t i = 0; i < m->swaps.nr && !r; i++)
		r = emit_area(m, i);
	for (unsigned int type = 0; type < PGS_PM_SWAP_TYPES && !r; type++)
		if (m->evidence.seen >> type & 1 &&
		    !pgs_swap_match_area(&m->swaps, &m->match, type))
			r = emit_type(m, type);
	return r;
}
