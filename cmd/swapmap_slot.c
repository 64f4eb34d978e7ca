// SPDX-License-Identifier: GPL-2.0-only
/* --slot: the whole machine is looked at as always, and one slot of it is shown. */
#include "swapmap.h"

#include "../src/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* "DEVICE:OFFSET": a name as in /proc/swaps, or a bare type. The last colon, as names may have
 * some. */
static int parse_slot(struct swapmap *m, char *word)
{
	char *colon = strrchr(word, ':');

	if (!colon || colon == word || pgs_parse_u64(colon + 1, &m->slot.offset))
		return msg_usage("--slot: '%s' is not DEVICE:OFFSET", word);
	*colon = '\0';
	if (!m->slot.offset)
		return msg_usage("--slot: slot 0 is the header of a swap area");
	return PGS_EXIT_OK;
}

static const struct pgs_swap_area *find_name(const struct swapmap *m, const char *name)
{
	for (size_t i = 0; i < m->swaps.nr; i++)
		if (!strcmp(m->swaps.areas[i].name, name))
			return &m->swaps.areas[i];
	return NULL;
}

/* /proc/swaps has the name that links led to: /dev/dm-0 of /dev/mapper/vg-swap. */
static const struct pgs_swap_area *find_area(const struct swapmap *m, const char *name)
{
	const struct pgs_swap_area *area = find_name(m, name);
	_cleanup_free_ char *real = !area && name[0] == '/' ? realpath(name, NULL) : NULL;

	return real ? find_name(m, real) : area;
}

/* The types that the area may be: one, or those that were seen and might be it. */
static uint32_t types_of_area(const struct swapmap *m, const struct pgs_swap_area *area)
{
	size_t line = (size_t)(area - m->swaps.areas);
	uint32_t types = 0;

	for (unsigned int t = 0; t < PGS_PM_SWAP_TYPES; t++) {
		if (pgs_swap_match_area(&m->swaps, &m->match, t) == area)
			return UINT32_C(1) << t;
		types |= (m->match.lines[t] >> line & 1) << t;
	}
	return types ? types : m->evidence.seen;
}

/* A name, or a bare type, of which it may not be certain which area it is: *@ret_area is NULL then.
 */
static int find_types(struct swapmap *m, const char *word, const struct pgs_swap_area **ret_area)
{
	const struct pgs_swap_area *area = find_area(m, word);
	uint64_t type;

	if (area) {
		m->slot.types = types_of_area(m, area);
	} else if (!m->swaps.nr) {
		msg_error("--slot: no swap area is in use");
		return PGS_EXIT_FAILED;
	} else if (!pgs_parse_u64(word, &type) && type < PGS_PM_SWAP_TYPES) {
		m->slot.types = UINT32_C(1) << type;
		area = pgs_swap_match_area(&m->swaps, &m->match, (unsigned int)type);
	} else {
		msg_error("--slot: '%s' is not a swap area in use", word);
		return PGS_EXIT_FAILED;
	}
	*ret_area = area;
	return PGS_EXIT_OK;
}

int swapmap_find_slot(struct swapmap *m)
{
	_cleanup_free_ char *word = strdup(m->opts->slot);
	const struct pgs_swap_area *area;
	int r;

	if (!word) {
		msg_error("out of memory");
		return PGS_EXIT_FAILED;
	}
	r = parse_slot(m, word);
	if (!r)
		r = find_types(m, word, &area);
	if (r)
		return r;
	m->slot.set = true;
	if (area && m->slot.offset > area->last_slot) {
		msg_error("--slot: '%s' ends with slot %llu", word,
			  (unsigned long long)area->last_slot);
		return PGS_EXIT_FAILED;
	}
	return PGS_EXIT_OK;
}

bool swapmap_narrow(const struct swapmap *m, struct pgs_swap_run *run)
{
	uint64_t skip = m->slot.offset - run->slot;

	if (!run->located || !(m->slot.types >> run->swap_type & 1) || m->slot.offset < run->slot ||
	    skip >= run->pages)
		return false;
	run->addr += skip << m->ctx->page_shift;
	run->slot += skip;
	run->index += skip;
	run->pages = 1;
	return true;
}

/* The object whose page lies in the slot, where no process maps that page. */
int swapmap_show_slot_object(struct swapmap *m)
{
	int r = 0;

	for (size_t i = 0; m->objs && i < pgs_swapobjs_nr(m->objs) && !r; i++) {
		struct pgs_swapobj *obj = pgs_swapobjs_get(m->objs, i);

		for (size_t k = 0; obj->located && k < obj->nr_extents && !r; k++) {
			const struct pgs_swap_extent *e = &obj->extents[k];
			struct pgs_swap_run run = {
				.addr = e->index << m->ctx->page_shift,
				.pages = e->pages,
				.is_shmem = true,
				.located = true,
				.swap_type = e->swap_type,
				.slot = e->slot,
				.obj = obj,
			};

			if (swapmap_narrow(m, &run) &&
			    !pgs_slots_get(m->slots, run.swap_type, run.slot).holders)
				r = swapmap_emit_object_page(m, &run);
		}
	}
	return r;
}

int swapmap_slot_summary(struct swapmap *m)
{
	bool partial = m->objs && !pgs_swapobjs_is_complete(m->objs);
	int r = out_summary(m->out, "slot", PGS_STR, pgs_str(m->opts->slot));

	if (!r)
		r = out_summary(m->out, "found", PGS_BOOL, pgs_bool(m->slot.found));
	if (!r)
		r = out_summary(m->out, "shmem_partial", PGS_BOOL, pgs_bool(partial));
	if (!m->slot.found)
		msg_note("nobody was found to hold the slot%s",
			 partial ? "; slots of shared memory need the module or kernel memory"
				 : "");
	return r;
}
