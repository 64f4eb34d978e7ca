// SPDX-License-Identifier: GPL-2.0-only
/* --slot: the whole machine is looked at as always, and one slot of it is shown. */
#include "swapmap.h"

#include "../src/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

/* "/dev/vdb (type 0), /dev/vdc (type 1)"; the caller frees. NULL without memory. */
static char *areas_in_use(const struct swapmap *m)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	for (size_t i = 0; f && i < m->swaps.nr; i++) {
		bool open;
		int type = swapmap_type_of(m, i, &open);

		fprintf(f, "%s%s (type ", i ? ", " : "", m->swaps.areas[i].name);
		fprintf(f, type < 0 ? "not certain)" : "%d)", type);
	}
	if (f)
		fclose(f);
	return text;
}

static int __attribute__((format(printf, 2, 3))) refuse(struct swapmap *m, const char *fmt, ...)
{
	_cleanup_free_ char *what = NULL;
	va_list args;
	int r;

	va_start(args, fmt);
	r = vasprintf(&what, fmt, args);
	va_end(args);
	if (r < 0)
		what = NULL;
	msg_error("--slot: %s", what ?: "out of memory");
	swapmap_error(m, 0, what ?: "out of memory", 0);
	return PGS_EXIT_FAILED;
}

/* Of empty areas no slot was seen, but kernel memory knows. What was seen says nothing when areas
 * came or went meanwhile. */
static uint32_t types_open(struct swapmap *m)
{
	if (swapmap_areas_moved(m))
		return UINT32_MAX;
	pgs_swap_areas_ask(&m->swaps, m->env.kmem);
	pgs_swap_match(&m->swaps, &m->evidence, &m->match);
	return pgs_swap_types_open(&m->swaps, &m->evidence);
}

static int find_type(struct swapmap *m, unsigned int type)
{
	_cleanup_free_ char *areas = NULL;

	m->slot.types = UINT32_C(1) << type;
	if (!(types_open(m) & m->slot.types)) {
		areas = areas_in_use(m);
		return refuse(m, "swap type %u is not in use: there is %s", type,
			      areas ?: "another");
	}
	m->slot.type_open = !pgs_swap_match_area(&m->swaps, &m->match, type);
	return PGS_EXIT_OK;
}

/* A name, or a bare type; where it is not certain which area that is, *@ret_area is NULL. */
static int find_types(struct swapmap *m, const char *word, const struct pgs_swap_area **ret_area)
{
	const struct pgs_swap_area *area = find_area(m, word);
	_cleanup_free_ char *areas = NULL;
	uint64_t type;
	int r = PGS_EXIT_OK;

	if (area) {
		m->slot.types = types_of_area(m, area);
	} else if (!m->swaps.nr) {
		return refuse(m, "no swap area is in use");
	} else if (!pgs_parse_u64(word, &type) && type < PGS_PM_SWAP_TYPES) {
		r = find_type(m, (unsigned int)type);
		area = pgs_swap_match_area(&m->swaps, &m->match, (unsigned int)type);
	} else {
		areas = areas_in_use(m);
		return refuse(m, "'%s' is not a swap area in use: there is %s", word,
			      areas ?: "another");
	}
	*ret_area = area;
	return r;
}

/* The last slot of @area, or of the longest one if it may be any. */
static uint64_t last_slot(const struct swapmap *m, const struct pgs_swap_area *area)
{
	uint64_t last = 0;

	for (size_t i = 0; i < m->swaps.nr; i++)
		if ((!area || area == &m->swaps.areas[i]) && m->swaps.areas[i].last_slot > last)
			last = m->swaps.areas[i].last_slot;
	return last;
}

int swapmap_find_slot(struct swapmap *m)
{
	const struct swapmap_opts *o = m->opts;
	_cleanup_free_ char *word = strndup(o->slot, o->slot_area_len);
	const struct pgs_swap_area *area = NULL;
	int r;

	if (!word) {
		msg_error("out of memory");
		return PGS_EXIT_FAILED;
	}
	r = find_types(m, word, &area);
	if (r)
		return r;
	if (o->slot_offset > last_slot(m, area))
		return refuse(m,
			      area ? "'%s' ends with slot %llu"
				   : "'%s' ends with slot %llu at the latest",
			      word, (unsigned long long)last_slot(m, area));
	m->slot.set = true;
	return PGS_EXIT_OK;
}

bool swapmap_narrow(const struct swapmap *m, struct pgs_swap_run *run)
{
	uint64_t skip = m->opts->slot_offset - run->slot;

	if (!run->located || !(m->slot.types >> run->swap_type & 1) ||
	    m->opts->slot_offset < run->slot || skip >= run->pages)
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
	bool known = swapmap_shmem_known(m), partial = swapmap_shmem_partial(m);
	int r = out_summary(m->out, "slot", PGS_STR, pgs_str(m->opts->slot));

	if (!r)
		r = out_summary(m->out, "found", PGS_BOOL, pgs_bool(m->slot.found));
	if (!r)
		r = out_summary(m->out, "shmem_partial", PGS_BOOL, pgs_bool(partial || !known));
	if (!m->slot.found)
		msg_note("nobody was found to hold the slot%s%s%s",
			 m->slot.type_open ? "; that this type is in use is not certain" : "",
			 partial ? "; slots of shared memory need the module or kernel memory" : "",
			 known ? "" : "; some shared memory could not be told");
	return r;
}
