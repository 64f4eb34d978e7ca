// SPDX-License-Identifier: GPL-2.0-only
/* --map: the swap areas drawn as lines of letters, each cell the owner of most of its slots. */
#include "swapmap.h"

#include "../src/cleanup.h"
#include "../src/units.h"
#include "out_escape.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LETTERS	    26u
#define MAP_ROWS    8u /* lines an area, at most */
#define PLAIN_WIDTH 80u

/* Processes come first, then objects. */
struct owner {
	uint64_t slots;
	size_t index;
	int rank; /* its letter; -1: one of many */
};

struct map {
	struct swapmap *m;
	struct owner *owners;
	size_t nr;
	uint64_t slots; /* of all owners */
	size_t width;
	bool color;
};

/* ---- who has how much ----------------------------------------------------------------------- */

/* Of shared memory the object is the owner, whoever maps it. */
static int name_objects(struct swapmap *m)
{
	int r = 0;

	for (size_t i = 0; i < pgs_swapobjs_nr(m->objs); i++) {
		const struct pgs_swapobj *obj = pgs_swapobjs_get(m->objs, i);

		for (size_t k = 0; obj->located && k < obj->nr_extents && !r; k++)
			r = pgs_slots_name(m->slots, obj->extents[k].swap_type,
					   obj->extents[k].slot, obj->extents[k].pages,
					   (uint32_t)(m->nr_procs + i));
	}
	return r;
}

static struct owner *owner_of(const struct map *map, unsigned int type, uint64_t slot)
{
	struct pgs_slot s = pgs_slots_get(map->m->slots, type, slot);

	return s.owner < map->nr ? &map->owners[s.owner] : NULL;
}

static uint64_t last_slot_of(const struct swapmap *m, unsigned int type)
{
	const struct pgs_swap_area *area = pgs_swap_match_area(&m->swaps, &m->match, type);

	return area ? area->last_slot : m->evidence.last[type];
}

static void count_owners(struct map *map)
{
	struct swapmap *m = map->m;

	for (unsigned int type = 0; type < PGS_PM_SWAP_TYPES; type++) {
		uint64_t last = m->evidence.seen >> type & 1 ? last_slot_of(m, type) : 0;

		for (uint64_t slot = 1; slot <= last; slot++) {
			struct owner *owner = owner_of(map, type, slot);

			map->slots += !!owner;
			if (owner)
				owner->slots++;
		}
	}
}

static int compare_owners(const void *pa, const void *pb)
{
	const struct owner *const *a = pa, *const *b = pb;

	if ((*a)->slots != (*b)->slots)
		return (*a)->slots < (*b)->slots ? 1 : -1;
	return ((*a)->index > (*b)->index) - ((*a)->index < (*b)->index);
}

/* The owners of most slots get letters. Returns those, up to LETTERS, in a list that ends with
 * NULL. */
static struct owner **rank_owners(struct map *map)
{
	struct owner **list = calloc(map->nr + 1, sizeof(struct owner *));

	if (!list)
		return NULL;
	for (size_t i = 0; i < map->nr; i++)
		list[i] = &map->owners[i];
	qsort(list, map->nr, sizeof(*list), compare_owners);
	for (size_t i = 0; i < map->nr; i++) {
		if (i == LETTERS || !list[i]->slots) {
			list[i] = NULL;
			break;
		}
		list[i]->rank = (int)i;
	}
	return list;
}

/* ---- drawing -------------------------------------------------------------------------------- */

/* Letters of neighbouring ranks differ in colour; six colours, and bold for every second round. */
static void put_cell(const struct map *map, int rank, char c)
{
	if (map->color && rank >= 0)
		printf("\033[%d;3%dm%c\033[m", rank / 6 % 2, 1 + rank % 6, c);
	else
		putchar(c);
}

/* The owner of most slots of a cell; small letters where under half of it is in use. */
static void draw_cell(const struct map *map, unsigned int type, uint64_t from, uint64_t to)
{
	uint64_t count[LETTERS + 1] = {0}, used = 0;
	unsigned int best = 0;

	for (uint64_t slot = from; slot < to; slot++) {
		const struct owner *owner = owner_of(map, type, slot);

		if (!owner)
			continue;
		used++;
		count[owner->rank < 0 ? LETTERS : (unsigned int)owner->rank]++;
	}
	for (unsigned int i = 1; i <= LETTERS; i++)
		if (count[i] > count[best])
			best = i;
	if (!used)
		putchar('.');
	else if (best == LETTERS)
		putchar('+');
	else
		put_cell(map, (int)best, (char)((used * 2 < to - from ? 'a' : 'A') + (int)best));
}

static void draw_slots(const struct map *map, unsigned int type, uint64_t last)
{
	uint64_t cells = map->width * MAP_ROWS, each = (last + cells - 1) / cells;

	if (!each)
		return;
	for (uint64_t slot = 1, at = 0; slot <= last && !cmd_interrupted; slot += each) {
		draw_cell(map, type, slot, slot + each <= last ? slot + each : last + 1);
		if (++at % map->width == 0 || slot + each > last)
			putchar('\n');
	}
}

/* Names are other people's bytes. */
static void put_name(const char *name)
{
	size_t len = strlen(name);
	_cleanup_free_ char *text = malloc(OUT_ESCAPE_MAX(len) + 1);

	if (text)
		fwrite(text, 1, out_escape(text, name, len), stdout);
}

static void draw_area(const struct map *map, size_t line)
{
	const struct swapmap *m = map->m;
	const struct pgs_swap_area *area = &m->swaps.areas[line];
	char size[PGS_SIZE_STR], used[PGS_SIZE_STR];
	bool open;
	int type = swapmap_type_of(m, line, &open);

	put_name(area->name);
	printf(": %s of %s in use, priority %d",
	       pgs_format_size(area->used_pages << m->ctx->page_shift, used),
	       pgs_format_size(area->size_pages << m->ctx->page_shift, size), area->prio);
	if (open)
		printf(", but its type is not certain: see below");
	putchar('\n');
	if (!open) /* of a type that was not seen nothing is known, and type 31 is no area */
		draw_slots(map, type < 0 ? PGS_PM_SWAP_TYPES - 1 : (unsigned int)type,
			   area->last_slot);
}

static void draw_type(const struct map *map, unsigned int type)
{
	printf("type %u, device not certain: up to the last slot seen in use\n", type);
	draw_slots(map, type, map->m->evidence.last[type]);
}

static void put_owner_name(const struct swapmap *m, size_t index)
{
	const struct pgs_proc *proc = index < m->nr_procs ? &m->procs[index].proc : NULL;
	const struct pgs_swapobj *obj =
		proc ? NULL : pgs_swapobjs_get(m->objs, index - m->nr_procs);

	put_name(proc ? proc->comm : obj->name);
	if (proc)
		printf(" (%d)\n", (int)proc->pid);
	else
		printf(" (%s, inode %llu)\n", pgs_swapobj_kind_name(obj->kind),
		       (unsigned long long)obj->ino);
}

static void put_legend(const struct map *map, struct owner *const *list)
{
	uint64_t named = 0;
	char size[PGS_SIZE_STR];
	unsigned int shift = map->m->ctx->page_shift;

	for (; *list; list++) {
		put_cell(map, (*list)->rank, (char)('A' + (*list)->rank));
		printf(" %6s  ", pgs_format_size((*list)->slots << shift, size));
		put_owner_name(map->m, (*list)->index);
		named += (*list)->slots;
	}
	if (map->slots > named)
		printf("+ %6s  others\n", pgs_format_size((map->slots - named) << shift, size));
	printf(". nobody was found; small letters: under half of the cell is in use\n");
}

static void draw(const struct map *map, struct owner *const *list)
{
	const struct swapmap *m = map->m;

	for (size_t i = 0; i < m->swaps.nr && !cmd_interrupted; i++) {
		draw_area(map, i);
		putchar('\n');
	}
	for (unsigned int type = 0; type < PGS_PM_SWAP_TYPES && !cmd_interrupted; type++) {
		if (!(m->evidence.seen >> type & 1) ||
		    pgs_swap_match_area(&m->swaps, &m->match, type))
			continue;
		draw_type(map, type);
		putchar('\n');
	}
	if (m->swaps.nr)
		put_legend(map, list);
}

/* Pages in swap whose place is not known are in none of the cells: those are not nobody's. */
static void tell_undrawn(const struct swapmap *m)
{
	uint64_t pages = 0;

	for (size_t i = 0; m->objs && i < pgs_swapobjs_nr(m->objs); i++) {
		const struct pgs_swapobj *obj = pgs_swapobjs_get(m->objs, i);

		pages += obj->located ? 0 : obj->swapped_pages;
	}
	if (pages)
		msg_note("%llu pages of shared memory are not drawn: to know their slots needs the "
			 "module or kernel memory",
			 (unsigned long long)pages);
}

/* Slots of those that could not be looked into are drawn as nobody's. */
static void count_refused(struct swapmap *m)
{
	for (size_t i = 0; i < m->nr_procs; i++)
		m->nr_refused += m->procs[i].err && m->procs[i].err != -ESRCH;
}

int swapmap_draw(struct swapmap *m)
{
	size_t nr = m->nr_procs + (m->objs ? pgs_swapobjs_nr(m->objs) : 0);
	_cleanup_free_ struct owner *owners = calloc(nr + 1, sizeof(*owners));
	_cleanup_free_ struct owner **list = NULL;
	struct map map = {
		.m = m,
		.owners = owners,
		.nr = nr,
		.width = out_width(STDOUT_FILENO) ?: PLAIN_WIDTH,
		.color = out_color(STDOUT_FILENO, m->opts->output.out.color),
	};

	if (!owners || (m->objs && name_objects(m)))
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		owners[i] = (struct owner){.index = i, .rank = -1};
	count_owners(&map);
	list = rank_owners(&map);
	if (!list)
		return -ENOMEM;
	if (!m->swaps.nr)
		printf("no swap area is in use\n");
	draw(&map, list);
	tell_undrawn(m);
	count_refused(m);
	return 0;
}
