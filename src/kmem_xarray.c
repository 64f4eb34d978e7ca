// SPDX-License-Identifier: GPL-2.0-only
/*
 * The entries of an object's XArray as runs (Documentation/core-api/xarray.rst, lib/xarray.c).
 *
 * A node has 64 slots. A slot holds nothing, a pointer to a node (low bits 10), a pointer to a
 * folio (low bits 00), a value (low bit 1; of shmem: a swap entry), or, behind an entry of several
 * slots, a sibling entry that names the first of them (low bits 10, a small number).
 *
 * A node may be freed and used again while we look. What it says of its own place is compared with
 * where we come from; and once the children of a node have been walked its slots are read again:
 * when they are not what they were, the node is walked once more, three times at most.
 */
#include "kmem_priv.h"

#include "cleanup.h"
#include "page.h"

#include <errno.h>

#define LEVELS 12u /* 64 bits of index, six a level */
#define SLOTS  64u /* of a node, at most: pgs_kmem_layout() has seen to it */
#define TRIES  3u

/* Of 64-bit kernels: a swap entry's value has 63 bits, the type its topmost five (swp_entry()). */
#define ENTRY_TYPE_SHIFT 58u
#define ENTRY_SLOT_MASK	 ((UINT64_C(1) << ENTRY_TYPE_SHIFT) - 1)

struct walk {
	struct pgs_kmem *kmem;
	uint64_t array; /* kernel address of the XArray: every node names it */
	uint64_t from, to;
	bool slots; /* or else they are of no interest */
	struct pgs_kentries *runs;
	size_t room, nr;
	void *node; /* room for one */
};

struct place {
	uint64_t node;	     /* kernel address */
	uint64_t parent;     /* kernel address, 0: the root */
	unsigned int offset; /* slot in the parent */
	unsigned int shift;  /* bits of index below one slot */
	unsigned int level;
	uint64_t index; /* of the first page below it */
};

static bool is_value(uint64_t entry)
{
	return entry & 1;
}

static bool is_node(uint64_t entry)
{
	return (entry & 3) == 2 && entry > 4096;
}

static bool is_sibling(uint64_t entry)
{
	return (entry & 3) == 2 && entry < SLOTS << 2;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static bool continues(const struct walk *w, const struct pgs_kentries *last,
		      const struct pgs_kentries *run)
{
	if (last->entry != run->entry || last->index + last->pages != run->index)
		return false;
	return run->entry != PGS_KENTRY_SWAPPED || !w->slots ||
	       (last->swap_type == run->swap_type && last->slot + last->pages == run->slot);
}

/* Types that no swap area has are those of special entries: of shmem, the mark that
 * shmem_set_folio_swapin_error() leaves. */
static bool is_area(struct pgs_kmem *kmem, unsigned int type)
{
	return type < PGS_SWAP_TYPE_SURE ||
	       (type < PGS_PM_SWAP_TYPES && type < pgs_kmem_nr_swapfiles(kmem));
}

static unsigned int entry_type(uint64_t entry)
{
	return (unsigned int)(entry >> (ENTRY_TYPE_SHIFT + 1));
}

static uint64_t entry_slot(uint64_t entry)
{
	return entry >> 1 & ENTRY_SLOT_MASK;
}

static struct pgs_kentries explain(struct pgs_kmem *kmem, uint64_t entry)
{
	struct pgs_kentries run = {.entry = PGS_KENTRY_MEMORY};

	if (!entry)
		run.entry = PGS_KENTRY_NONE;
	else if ((entry & 3) == 2) /* a node that is going away, a sibling that lost its entry */
		run.entry = PGS_KENTRY_UNKNOWN;
	if (!is_value(entry))
		return run;
	run.swap_type = entry_type(entry);
	run.slot = entry_slot(entry);
	run.entry = is_area(kmem, run.swap_type) ? PGS_KENTRY_SWAPPED : PGS_KENTRY_POISONED;
	return run;
}

/* Add the part of @run inside the walk's range. 1 when there is no room, 0. */
static int add_run(struct walk *w, struct pgs_kentries run)
{
	struct pgs_kentries *last = w->nr ? &w->runs[w->nr - 1] : NULL;
	uint64_t end = run.index + run.pages; /* wraps to 0 at the very end of the index */

	if (run.index < w->from) {
		run.slot += w->from - run.index;
		run.index = w->from;
	}
	if (end - 1 >= w->to)
		end = w->to;
	run.pages = end - run.index;
	if (!w->slots)
		run.swap_type = run.slot = 0;
	if (last && continues(w, last, &run)) {
		last->pages += run.pages;
		return 0;
	}
	if (w->nr == w->room)
		return 1;
	w->runs[w->nr++] = run;
	return 0;
}

static int add_entry(struct walk *w, uint64_t entry, uint64_t index, uint64_t pages)
{
	struct pgs_kentries run = explain(w->kmem, entry);

	run.index = index;
	run.pages = pages;
	return add_run(w, run);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static int read_slots(struct walk *w, uint64_t node, uint64_t slots[SLOTS])
{
	return pgs_kcore_read(w->kmem->kcore, node + w->kmem->at.xa_node_slots.offset, slots,
			      w->kmem->at.xa_slots * sizeof(uint64_t));
}

/* A node is what it is taken for when it says so itself. The root's `offset` is whatever it was:
 * xas_alloc() sets it only where there is a parent. */
static int read_node(struct walk *w, const struct place *p, uint64_t slots[SLOTS])
{
	const struct kmem_layout *at = &w->kmem->at;
	const void *node = w->node;
	int r = pgs_kcore_read(w->kmem->kcore, p->node, w->node, at->xa_node_bytes);

	if (r)
		return r;
	if (kmem_get(node, at->xa_node_array) != w->array ||
	    kmem_get(node, at->xa_node_parent) != p->parent ||
	    kmem_get(node, at->xa_node_shift) != p->shift ||
	    (p->parent && kmem_get(node, at->xa_node_offset) != p->offset))
		return -ESTALE;
	memcpy(slots, (const unsigned char *)node + at->xa_node_slots.offset,
	       at->xa_slots * sizeof(*slots));
	return 0;
}

static unsigned int slot_bits(const struct walk *w)
{
	return (unsigned int)__builtin_ctz(w->kmem->at.xa_slots);
}

/* How many slots the entry in slot @i takes: itself and the siblings that name it. */
static unsigned int entry_slots(const struct walk *w, const uint64_t *slots, unsigned int i)
{
	unsigned int n = 1;

	while (i + n < w->kmem->at.xa_slots && is_sibling(slots[i + n]) && slots[i + n] >> 2 == i)
		n++;
	return n;
}

static int walk_node(struct walk *w, const struct place *p);

/* The child in slot @i, or @pages of nothing known where it is no child any more. */
static int walk_child(struct walk *w, const struct place *p, uint64_t entry, unsigned int i,
		      uint64_t index, uint64_t pages)
{
	struct place child = {
		.node = entry - 2,
		.parent = p->node,
		.offset = i,
		.shift = p->shift - slot_bits(w),
		.level = p->level + 1,
		.index = index,
	};
	int r = -ESTALE;

	if (p->shift >= slot_bits(w) && child.level < LEVELS)
		r = walk_node(w, &child);
	if (r != -ESTALE && r != -EFAULT)
		return r;
	r = add_run(w, (struct pgs_kentries){
			       .index = index, .pages = pages, .entry = PGS_KENTRY_UNKNOWN});
	return r ? r : -ESTALE;
}

/* The entry of page @index that would go on with the last run; 0: none does. */
static uint64_t next_entry(const struct walk *w, uint64_t index)
{
	const struct pgs_kentries *last = w->nr ? &w->runs[w->nr - 1] : NULL;

	if (!last || last->entry != PGS_KENTRY_SWAPPED || last->index + last->pages != index)
		return 0;
	return ((uint64_t)last->swap_type << ENTRY_TYPE_SHIFT | (last->slot + last->pages)) << 1 |
	       1;
}

/* How many of @nr slots go on with @entry, a swapped page's: values that grow by one, shifted. */
static unsigned int follow(const uint64_t *slots, unsigned int nr, uint64_t entry)
{
	unsigned int n = 0;

	while (n < nr && slots[n] == (entry += 2))
		n++;
	return n;
}

static void start_run(struct walk *w, uint64_t entry, uint64_t index, unsigned int pages)
{
	struct pgs_kentries *run = &w->runs[w->nr++];

	run->index = index;
	run->pages = pages;
	run->entry = PGS_KENTRY_SWAPPED;
	run->racy = false;
	run->swap_type = entry_type(entry);
	run->slot = entry_slot(entry);
	if (!w->slots)
		run->swap_type = run->slot = 0;
}

/*
 * Add the swapped pages of a leaf from slot @i on, which is page @index, up to what is something
 * else, and as long as there is room. Nearly all slots are such, and where their order is not that
 * of the pages each is a run: where the time goes. Returns how many.
 */
static unsigned int add_pages(struct walk *w, const uint64_t *slots, unsigned int i, uint64_t index)
{
	const unsigned int nr = w->kmem->at.xa_slots;
	unsigned int n = 0, k, room = nr - i;
	uint64_t next = next_entry(w, index);

	if (index < w->from || index >= w->to)
		return 0;
	room = w->to - index < room ? (unsigned int)(w->to - index) : room;
	for (; n < room; n += k) {
		uint64_t entry = slots[i + n];

		if (!is_value(entry) || !is_area(w->kmem, entry_type(entry)))
			break;
		k = 1 + follow(slots + i + n + 1, room - n - 1, entry);
		/* An entry with a sibling behind it covers more pages than one. */
		if (i + n + k < nr && is_sibling(slots[i + n + k]) && !--k)
			break;
		if (next && (entry == next || !w->slots))
			w->runs[w->nr - 1].pages += k;
		else if (w->nr < w->room)
			start_run(w, entry, index + n, k);
		else
			break;
		next = entry + 2 * k;
	}
	return n;
}

/* One pass over a node: 0, 1 when there is no room for more, -ESTALE when a child was not there. */
static int walk_slots(struct walk *w, const struct place *p, const uint64_t *slots)
{
	bool stale = false;
	unsigned int n;
	int r;

	for (unsigned int i = 0; i < w->kmem->at.xa_slots; i += n) {
		uint64_t index = p->index + ((uint64_t)i << p->shift), pages;

		n = p->shift ? 0 : add_pages(w, slots, i, index);
		if (n)
			continue;
		n = entry_slots(w, slots, i);
		pages = (uint64_t)n << p->shift;
		if (index >= w->to)
			break;
		if (index + pages - 1 < w->from)
			continue;
		if (is_node(slots[i]))
			r = walk_child(w, p, slots[i], i, index, pages);
		else
			r = add_entry(w, slots[i], index, pages);
		if (r > 0 || (r < 0 && r != -ESTALE))
			return r;
		stale |= r == -ESTALE;
	}
	return stale ? -ESTALE : 0;
}

static bool has_children(const struct walk *w, const uint64_t *slots)
{
	for (unsigned int i = 0; i < w->kmem->at.xa_slots; i++)
		if (is_node(slots[i]))
			return true;
	return false;
}

/* Whether the node's slots are still what they were. */
static bool held_still(struct walk *w, const struct place *p, const uint64_t *slots)
{
	uint64_t again[SLOTS];

	return !read_slots(w, p->node, again) &&
	       !memcmp(slots, again, w->kmem->at.xa_slots * sizeof(*slots));
}

static int walk_node(struct walk *w, const struct place *p)
{
	struct pgs_kentries last = w->nr ? w->runs[w->nr - 1] : (struct pgs_kentries){0};
	uint64_t slots[SLOTS];
	size_t nr = w->nr;
	int r = 0;

	for (unsigned int try = 0; try < TRIES; try++) {
		r = read_node(w, p, slots);
		if (r)
			return r;
		w->nr = nr; /* what an earlier try has added is forgotten */
		if (nr)
			w->runs[nr - 1] = last;
		r = walk_slots(w, p, slots);
		if (r < 0 && r != -ESTALE)
			return r;
		if (!has_children(w, slots) || (r >= 0 && held_still(w, p, slots)))
			return r;
	}
	for (size_t i = nr ? nr - 1 : 0; i < w->nr; i++)
		w->runs[i].racy |= i >= nr || w->runs[i].pages != last.pages;
	return r == -ESTALE ? 0 : r;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* From the root: an entry in the root itself is that of page 0. */
static int walk_root(struct walk *w)
{
	struct place root = {0};
	uint64_t head, shift, end = 1;
	int r = pgs_kmem_read(w->kmem, w->array, w->kmem->at.xarray_xa_head, &head);

	if (r)
		return r;
	if (is_node(head)) {
		root.node = head - 2;
		r = pgs_kmem_read(w->kmem, root.node, w->kmem->at.xa_node_shift, &shift);
		if (r || shift >= 64)
			return -ESTALE;
		root.shift = (unsigned int)shift;
		end = shift + slot_bits(w) >= 64 ? UINT64_MAX
						 : UINT64_C(1) << (shift + slot_bits(w));
		r = w->from < end ? walk_node(w, &root) : 0;
	} else if (!w->from) {
		r = add_entry(w, head, 0, 1);
	}
	if (r)
		return r;
	if (w->to > end)
		r = add_entry(w, 0, end, w->to - end);
	return r;
}

static int walk_tree(struct walk *w, uint64_t mapping)
{
	_cleanup_free_ void *node = malloc(w->kmem->at.xa_node_bytes);
	int r = -ESTALE;

	if (!node)
		return -ENOMEM;
	w->array = mapping + w->kmem->at.address_space_i_pages.offset;
	w->node = node;
	for (unsigned int try = 0; try < TRIES && (r == -ESTALE || r == -EFAULT); try++) {
		w->nr = 0;
		r = walk_root(w);
	}
	if (r == -ESTALE || r == -EFAULT) {
		w->runs[0] = (struct pgs_kentries){.index = w->from,
						   .pages = w->to - w->from,
						   .entry = PGS_KENTRY_UNKNOWN,
						   .racy = true};
		return 1;
	}
	return r < 0 ? r : (int)w->nr;
}

int pgs_kmem_tree(struct pgs_kmem *kmem, uint64_t mapping, uint64_t from, uint64_t to,
		  struct pgs_kentries *runs, size_t room)
{
	struct walk w = {
		.kmem = kmem,
		.from = from,
		.to = to,
		.slots = true,
		.runs = runs,
		.room = room,
	};

	return walk_tree(&w, mapping);
}

int pgs_kmem_entries(struct pgs_kmem *kmem, const struct pgs_kobject *object, uint64_t from,
		     uint64_t to, struct pgs_kentries *runs, size_t room)
{
	return pgs_kmem_tree(kmem, object->mapping, from, to, runs, room);
}

int pgs_kmem_states(struct pgs_kmem *kmem, const struct pgs_kobject *object, uint64_t from,
		    uint64_t to, struct pgs_kentries *runs, size_t room)
{
	struct walk w = {.kmem = kmem, .from = from, .to = to, .runs = runs, .room = room};

	return walk_tree(&w, object->mapping);
}
