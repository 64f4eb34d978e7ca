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

/* Entries below it are of areas for certain, if they are values at all. */
#define ENTRY_SURE ((uint64_t)PGS_SWAP_TYPE_SURE << (ENTRY_TYPE_SHIFT + 1))

/* @nr leaves that were read at once: those of one node's slots from @first on, below @end. */
struct leaves {
	void *buf;
	const void *at[SLOTS]; /* by slot; NULL: none, or not read */
	unsigned int first, end;
	unsigned int nr;
	size_t runs_before; /* that there were when they were read */
};

/* What is found goes to @runs, or to @words, where there are some: one a page, from @from on. */
struct walk {
	struct pgs_kmem *kmem;
	uint64_t array; /* kernel address of the XArray: every node names it */
	uint64_t from, to;
	bool slots; /* or else they are of no interest */
	struct pgs_kentries *runs;
	uint64_t *words;
	size_t room, nr; /* of either */
	void *node;	 /* room for one */
	struct leaves leaves;
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

/* As words, which end where nothing is known. */
static int add_words(struct walk *w, const struct pgs_kentries *run)
{
	bool is_swapped = run->entry == PGS_KENTRY_SWAPPED;
	uint64_t word = is_swapped ? pgs_pm_swap_word(run->swap_type, run->slot) | PGS_PM_FILE : 0;

	if (run->entry == PGS_KENTRY_UNKNOWN)
		return 1;
	pgs_words_fill(&w->words[w->nr], run->pages, word, is_swapped ? PGS_PM_SWAP_STEP : 0);
	w->nr += run->pages;
	return 0;
}

/* Add the part of @run inside the walk's range. 1 when there is no room, 0. */
static int add_run(struct walk *w, struct pgs_kentries run)
{
	struct pgs_kentries *last = w->nr && !w->words ? &w->runs[w->nr - 1] : NULL;
	uint64_t end = run.index + run.pages; /* wraps to 0 at the very end of the index */

	if (run.index < w->from) {
		run.slot += w->from - run.index;
		run.index = w->from;
	}
	if (end - 1 >= w->to)
		end = w->to;
	run.pages = end - run.index;
	if (w->words)
		return add_words(w, &run);
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

/*
 * A node is what it is taken for when it says so itself. The root's `offset` is whatever it was:
 * xas_alloc() sets it only where there is a parent. @node: its bytes, NULL: they are still to be
 * read. @room: for the slots of an inner node, whose bytes do not outlast its children's; those of
 * a leaf stay where they are, *@ret_slots points there.
 */
static int read_node(struct walk *w, const struct place *p, const void *node, uint64_t room[SLOTS],
		     const uint64_t **ret_slots)
{
	const struct kmem_layout *at = &w->kmem->at;
	int r = node ? 0 : pgs_kcore_read(w->kmem->kcore, p->node, w->node, at->xa_node_bytes);

	if (r)
		return r;
	node = node ?: w->node;
	if (kmem_get(node, at->xa_node_array) != w->array ||
	    kmem_get(node, at->xa_node_parent) != p->parent ||
	    kmem_get(node, at->xa_node_shift) != p->shift ||
	    (p->parent && kmem_get(node, at->xa_node_offset) != p->offset))
		return -ESTALE;
	*ret_slots = (const void *)((const unsigned char *)node + at->xa_node_slots.offset);
	if (p->shift)
		*ret_slots = memcpy(room, *ret_slots, at->xa_slots * sizeof(*room));
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

/* How many leaves there is room for what they hold: as many runs each as in those read last, or
 * else one a page. */
static size_t room_for_leaves(const struct walk *w)
{
	const struct leaves *last = &w->leaves;
	size_t runs = w->kmem->at.xa_slots;

	if (w->words || !w->slots)
		return SLOTS;
	if (last->nr && w->nr >= last->runs_before)
		runs = (w->nr - last->runs_before) / last->nr + 1;
	return w->room - w->nr > runs ? (w->room - w->nr) / runs : 1;
}

/*
 * Read the leaves below slot @i of the node at @p and the slots after it. A system call for each
 * is half of what they cost, and they lie in few slabs, most of them side by side.
 */
static void read_leaves(struct walk *w, const struct place *p, const uint64_t *slots,
			unsigned int i)
{
	const size_t limit = room_for_leaves(w);
	struct leaves *leaves = &w->leaves;
	uint64_t addrs[SLOTS];
	const void *at[SLOTS];
	unsigned int nr = 0;

	leaves->first = leaves->end = i;
	for (; leaves->end < w->kmem->at.xa_slots && nr < limit; leaves->end++) {
		if (p->index + ((uint64_t)leaves->end << p->shift) >= w->to)
			break;
		if (is_node(slots[leaves->end]))
			addrs[nr++] = slots[leaves->end] - 2;
	}
	leaves->nr = nr;
	leaves->runs_before = w->nr;
	pgs_kcore_gather(w->kmem->kcore, addrs, nr, w->kmem->at.xa_node_bytes, leaves->buf, at);
	for (nr = 0; i < leaves->end; i++)
		leaves->at[i] = is_node(slots[i]) ? at[nr++] : NULL;
}

static int walk_node(struct walk *w, const struct place *p, const void *node);

/* The child in slot @i, or @pages of nothing known where it is no child any more. */
static int walk_child(struct walk *w, const struct place *p, const uint64_t *slots, unsigned int i,
		      uint64_t index, uint64_t pages)
{
	struct place child = {
		.node = slots[i] - 2,
		.parent = p->node,
		.offset = i,
		.shift = p->shift - slot_bits(w),
		.level = p->level + 1,
		.index = index,
	};
	bool is_leaf = p->shift == slot_bits(w);
	int r = -ESTALE;

	if (is_leaf && (i < w->leaves.first || i >= w->leaves.end))
		read_leaves(w, p, slots, i);
	if (p->shift >= slot_bits(w) && child.level < LEVELS)
		r = walk_node(w, &child, is_leaf ? w->leaves.at[i] : NULL);
	if (r != -ESTALE && r != -EFAULT)
		return r;
	r = add_run(w, (struct pgs_kentries){
			       .index = index, .pages = pages, .entry = PGS_KENTRY_UNKNOWN});
	return r ? r : -ESTALE;
}

/* ---- the swapped pages of a leaf ------------------------------------------------------------- */

/* The entry of page @index that would go on with the last run; 0: none does. */
static uint64_t next_entry(const struct walk *w, uint64_t index)
{
	const struct pgs_kentries *last = w->nr ? &w->runs[w->nr - 1] : NULL;

	if (!last || last->entry != PGS_KENTRY_SWAPPED || last->index + last->pages != index)
		return 0;
	return ((uint64_t)last->swap_type << ENTRY_TYPE_SHIFT | (last->slot + last->pages)) << 1 |
	       1;
}

static void start_run(struct walk *w, uint64_t entry, uint64_t index, unsigned int pages)
{
	struct pgs_kentries *run = &w->runs[w->nr++];

	run->index = index;
	run->pages = pages;
	run->entry = PGS_KENTRY_SWAPPED;
	run->racy = false;
	run->swap_type = w->slots ? entry_type(entry) : 0;
	run->slot = w->slots ? entry_slot(entry) : 0;
}

/* Each leaf's are one run, whatever their slots. */
static unsigned int add_state(struct walk *w, const uint64_t *entries, unsigned int nr,
			      uint64_t index)
{
	if (next_entry(w, index))
		w->runs[w->nr - 1].pages += nr;
	else if (w->nr < w->room)
		start_run(w, *entries, index, nr);
	else
		return 0;
	return nr;
}

/* Values that grow by one, shifted, are one run. */
static unsigned int add_runs(struct walk *w, const uint64_t *entries, unsigned int nr,
			     uint64_t index)
{
	uint64_t next = next_entry(w, index);
	unsigned int n = 0;

	while (n < nr) {
		unsigned int first = n;

		if (entries[n] != next && w->nr == w->room)
			break;
		if (entries[n] != next)
			start_run(w, entries[n], index + n, 0);
		do
			next = entries[n++] + 2;
		while (n < nr && entries[n] == next);
		w->runs[w->nr - 1].pages += n - first;
	}
	return n;
}

static unsigned int put_words(struct walk *w, const uint64_t *entries, unsigned int nr)
{
	uint64_t *words = &w->words[w->nr];

	for (unsigned int i = 0; i < nr; i++)
		words[i] = pgs_pm_swap_word(entry_type(entries[i]), entry_slot(entries[i])) |
			   PGS_PM_FILE;
	w->nr += nr;
	return nr;
}

/* Of PGS_WORDS_BLOCK slots: all hold values, and types below eight, as nearly always. */
static bool is_usual(const uint64_t *slots)
{
	return is_value(pgs_bits_of_all(slots)) && entry_type(pgs_bits_of_any(slots)) < 8;
}

/* How many slots from the first on, @room at most, hold a swapped page of an area for certain. An
 * entry with a sibling behind it, if that is among the @nr slots, covers more pages than one: it is
 * left to add_entry(). */
static unsigned int count_pages(const uint64_t *slots, unsigned int nr, unsigned int room)
{
	unsigned int n = 0;

	while (n + PGS_WORDS_BLOCK <= room && is_usual(slots + n))
		n += PGS_WORDS_BLOCK;
	while (n < room && is_value(slots[n]) && slots[n] < ENTRY_SURE)
		n++;
	return n && n < nr && is_sibling(slots[n]) ? n - 1 : n;
}

/*
 * Add the swapped pages of a leaf from slot @i on, which is page @index, up to what is something
 * else, and as long as there is room. Nearly all slots are such, and where their order is not that
 * of the pages each is a run: where the time goes. Returns how many.
 */
static unsigned int add_pages(struct walk *w, const uint64_t *slots, unsigned int i, uint64_t index)
{
	unsigned int nr = w->kmem->at.xa_slots - i, room = nr;

	if (index < w->from || index >= w->to)
		return 0;
	room = w->to - index < room ? (unsigned int)(w->to - index) : room;
	nr = count_pages(slots + i, nr, room);
	if (!nr)
		return 0;
	if (w->words)
		return put_words(w, slots + i, nr);
	return w->slots ? add_runs(w, slots + i, nr, index) : add_state(w, slots + i, nr, index);
}

/* ---- walking --------------------------------------------------------------------------------- */

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
			r = walk_child(w, p, slots, i, index, pages);
		else
			r = add_entry(w, slots[i], index, pages);
		if (r > 0 || (r < 0 && r != -ESTALE))
			return r;
		stale |= r == -ESTALE;
	}
	return stale ? -ESTALE : 0;
}

static bool has_children(const struct walk *w, const struct place *p, const uint64_t *slots)
{
	for (unsigned int i = 0; p->shift && i < w->kmem->at.xa_slots; i++)
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

/* How far a walk has come: what a try adds after it can be forgotten. */
struct mark {
	size_t nr;
	struct pgs_kentries last; /* a run that may be added to */
};

static struct mark mark(const struct walk *w)
{
	struct mark mark = {.nr = w->nr};

	if (w->nr && !w->words)
		mark.last = w->runs[w->nr - 1];
	return mark;
}

static void forget(struct walk *w, const struct mark *mark)
{
	w->nr = mark->nr;
	if (w->nr && !w->words)
		w->runs[w->nr - 1] = mark->last;
}

/* What was added since @mark never held still. Words cannot say so: they end before it. */
static int disturbed(struct walk *w, const struct mark *mark, int r)
{
	if (w->words) {
		forget(w, mark);
		return 1;
	}
	for (size_t i = mark->nr ? mark->nr - 1 : 0; i < w->nr; i++)
		w->runs[i].racy |= i >= mark->nr || w->runs[i].pages != mark->last.pages;
	return r == -ESTALE ? 0 : r;
}

/* @node: its bytes, if they have been read already. */
static int walk_node(struct walk *w, const struct place *p, const void *node)
{
	const struct mark start = mark(w);
	const uint64_t *slots;
	uint64_t room[SLOTS];
	int r = 0;

	for (unsigned int try = 0; try < TRIES; try++, node = NULL) {
		r = read_node(w, p, node, room, &slots);
		if (r)
			return r;
		forget(w, &start);
		if (p->shift == slot_bits(w)) /* those that were read are another node's */
			w->leaves.end = 0;
		r = walk_slots(w, p, slots);
		if (r < 0 && r != -ESTALE)
			return r;
		if (r >= 0 && (!has_children(w, p, slots) || held_still(w, p, slots)))
			return r;
	}
	return disturbed(w, &start, r);
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
		r = pgs_kcore_read(w->kmem->kcore, root.node, w->node, w->kmem->at.xa_node_bytes);
		shift = r ? 64 : kmem_get(w->node, w->kmem->at.xa_node_shift);
		if (shift >= 64)
			return -ESTALE;
		root.shift = (unsigned int)shift;
		end = shift + slot_bits(w) >= 64 ? UINT64_MAX
						 : UINT64_C(1) << (shift + slot_bits(w));
		r = w->from < end ? walk_node(w, &root, w->node) : 0;
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
	const size_t bytes = w->kmem->at.xa_node_bytes;
	_cleanup_free_ void *node = malloc(bytes);
	_cleanup_free_ void *leaves = malloc(SLOTS * (bytes + PGS_KCORE_GAP));
	int r = -ESTALE;

	if (!node || !leaves)
		return -ENOMEM;
	w->array = mapping + w->kmem->at.address_space_i_pages.offset;
	w->node = node;
	w->leaves.buf = leaves;
	for (unsigned int try = 0; try < TRIES && (r == -ESTALE || r == -EFAULT); try++) {
		w->nr = 0;
		r = walk_root(w);
	}
	if ((r == -ESTALE || r == -EFAULT) && w->words)
		return 0;
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

ssize_t pgs_kmem_words(struct pgs_kmem *kmem, const struct pgs_kobject *object, uint64_t from,
		       uint64_t to, uint64_t *words, size_t room)
{
	struct walk w = {
		.kmem = kmem,
		.from = from,
		.to = to - from < room ? to : from + room,
		.slots = true,
		.words = words,
		.room = room,
	};

	return walk_tree(&w, object->mapping);
}
