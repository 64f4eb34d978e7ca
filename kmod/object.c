// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the page cache of a shmem object says of each of its pages: a folio is in memory, a value
 * is a swap entry, and nothing is nothing.
 */
#include <linux/pagemap.h>
#include <linux/swap.h>
#include <linux/swapops.h>

#include "compat/xarray_compat.h"
#include "internal.h"

/* Pages that are looked at before the XArray is unlocked, with interrupts off all the time. */
#define PAGES_LOCKED 512

/* A walk over pages that lie on one side of the end of the object. */
struct stretch {
	struct pgscan_object_walk *walk;
	pgoff_t first;
	pgoff_t last;
	pgoff_t next;	       /* the page to look at next */
	struct pgscan_run run; /* the pages before it that were not added yet: maybe none */
	void *follow;	       /* the entry of `next` if it lies in the slot after those */
	bool slots_matter;     /* or else swapped pages are only counted */
};

/* Add what was found. False if there is no room. */
static bool add_run(struct stretch *s)
{
	pgoff_t from = s->next - s->run.pages;

	if (!s->run.pages)
		return true;
	s->run.start = s->walk->start + ((u64)(from - s->first) << PAGE_SHIFT);
	s->run.flags = s->walk->flags;
	if (!pgscan_runs_add(s->walk->runs, &s->run))
		return false;
	s->run.pages = 0;
	return true;
}

static bool add_hole(struct stretch *s, pgoff_t end)
{
	if (s->walk->holes) {
		s->run = (struct pgscan_run){.state = PGSCAN_RUN_NONE, .pages = end - s->next};
		s->follow = NULL;
	}
	s->next = end;
	return add_run(s);
}

/* The state, type and first slot of the page `index` and those after it in the same entry. */
static void describe_entry(void *entry, pgoff_t base, pgoff_t index, struct pgscan_run *run)
{
	swp_entry_t swap;

	*run = (struct pgscan_run){.state = PGSCAN_RUN_CACHED};
	if (!xa_is_value(entry))
		return;

	swap = radix_to_swp_entry(entry);
	if (swp_type(swap) >= MAX_SWAPFILES) {
		/*
		 * The mark that a swap-in failed: 6cec2b95dadf ("mm/shmem: fix
		 * infinite loop when swap in shmem error at swapoff time"), v5.19.
		 */
		run->state = PGSCAN_RUN_POISONED;
		return;
	}
	run->state = PGSCAN_RUN_SWAPPED;
	run->swap_type = swp_type(swap);
	run->slot = swp_offset(swap) + (index - base);
}

static void *entry_after(const struct pgscan_run *run)
{
	if (run->state != PGSCAN_RUN_SWAPPED)
		return NULL;
	return swp_to_radix_entry(swp_entry(run->swap_type, run->slot + run->pages));
}

/* Any entry. The pages that it covers may begin before `next` and end after `last`. */
static bool start_run(struct stretch *s, struct xa_state *xas, void *entry)
{
	unsigned long covers = 1UL << xas_get_order(xas);
	pgoff_t base = round_down(xas->xa_index, covers);
	pgoff_t from = max(base, s->next);
	pgoff_t to = min(base + covers - 1, s->last);

	if (!add_run(s))
		return false;
	if (from > s->next && !add_hole(s, from))
		return false;
	describe_entry(entry, base, from, &s->run);
	s->run.pages = to - from + 1;
	s->next = to + 1;
	s->follow = entry_after(&s->run);
	return true;
}

static bool is_folio(void *entry)
{
	return entry && !xa_is_value(entry) && !xa_is_internal(entry);
}

static bool is_slot(void *entry)
{
	return xa_is_value(entry) && swp_type(radix_to_swp_entry(entry)) < MAX_SWAPFILES;
}

/* May the page of this entry join the run? `follow` is the entry that lies in the next slot. */
static bool joins_run(const struct stretch *s, void *entry, void *follow)
{
	switch (s->run.state) {
	case PGSCAN_RUN_CACHED:
		return is_folio(entry);
	case PGSCAN_RUN_SWAPPED:
		return s->slots_matter ? entry == follow : is_slot(entry);
	default:
		return false;
	}
}

/* The pages from `offset` on that go on with the run, up to `end`. Returns where they do not. */
static unsigned int join_pages(struct stretch *s, struct xa_state *xas, unsigned int offset,
			       unsigned int end)
{
	void *entry = NULL, *follow = s->follow;
	unsigned int first = offset;

	for (; offset < end; offset++) {
		entry = xa_entry_locked(xas->xa, xas->xa_node, offset);
		if (!joins_run(s, entry, follow))
			break;
		follow = xa_mk_value(xa_to_value(follow) + 1);
	}
	/* An entry with a sibling after it covers more pages than one: start_run() sees to it. */
	if (offset > first && offset < end && xa_is_sibling(entry))
		offset--;
	if (offset > first) {
		s->run.pages += offset - first;
		s->next += offset - first;
		s->follow = entry_after(&s->run);
	}
	return offset;
}

/*
 * After a run of slots another one, that begins with the page at `offset`. If its entry covers more
 * pages, start_run() adds those. False if there is something else, or no room.
 */
static bool restart_run(struct stretch *s, struct xa_state *xas, unsigned int offset)
{
	void *entry = xa_entry_locked(xas->xa, xas->xa_node, offset);

	if (s->run.state != PGSCAN_RUN_SWAPPED || !is_slot(entry) || !add_run(s))
		return false;
	describe_entry(entry, s->next, s->next, &s->run);
	s->run.pages = 1;
	s->next++;
	s->follow = entry_after(&s->run);
	return true;
}

/*
 * More pages of the same kind in the same node of the XArray: the usual case, and the loop where
 * the time goes. xas_next_entry() and xas_get_order() for each of them would cost five times as
 * much as to compare neighbouring slots.
 */
static void extend_run(struct stretch *s, struct xa_state *xas)
{
	unsigned int offset = s->next & XA_CHUNK_MASK, end;
	pgoff_t before = s->next;

	if (!xas->xa_node || xas->xa_node->shift || !offset)
		return;

	end = min(s->last - s->next + offset + 1, XA_CHUNK_SIZE);
	offset = join_pages(s, xas, offset, end);
	while (offset < end && restart_run(s, xas, offset))
		offset = join_pages(s, xas, offset + 1, end);
	if (s->next != before)
		xas_set(xas, s->next);
}

/*
 * Returns where to go on. The lock of the XArray, and not RCU: shmem_split_large_entry() first
 * splits a large entry, so that all parts hold the slot of the first page, and then corrects them
 * one by one under the lock (12885cbe88dd, "mm: shmem: split large entry if the swapin folio is
 * not large", v6.12).
 */
static pgoff_t walk_stretch(struct pgscan_object_walk *walk, pgoff_t first, pgoff_t last)
{
	struct stretch s = {
		.walk = walk,
		.first = first,
		.last = last,
		.next = first,
		.slots_matter = walk->runs->want & BIT_ULL(PGSCAN_RUN_SWAPPED),
	};
	XA_STATE(xas, &walk->mapping->i_pages, first);
	pgoff_t locked = first; /* pages before it were in an earlier hold of the lock */
	void *entry;

	xas_lock_irq(&xas);
	xas_for_each(&xas, entry, last) {
		pgoff_t before = s.next;

		if (!start_run(&s, &xas, entry))
			goto out;
		extend_run(&s, &xas);

		walk->work -= s.next - before;
		if (walk->work <= 0)
			break;
		if (s.next - locked >= PAGES_LOCKED) {
			locked = s.next;
			xas_pause(&xas);
			xas_unlock_irq(&xas);
			cond_resched();
			xas_lock_irq(&xas);
		}
	}
	if (add_run(&s) && !entry && s.next <= last)
		add_hole(&s, last + 1);
out:
	xas_unlock_irq(&xas);
	return s.next - s.run.pages;
}

pgoff_t pgscan_object_walk(struct pgscan_object_walk *walk, pgoff_t first, pgoff_t last)
{
	loff_t size = i_size_read(walk->mapping->host);
	pgoff_t eof = DIV_ROUND_UP_ULL(size, PAGE_SIZE);
	struct pgscan_object_walk part = *walk;
	pgoff_t next = first;

	if (first < eof) {
		next = walk_stretch(&part, first, min(last, eof - 1));
		if (next != eof || part.work <= 0)
			goto out;
	}
	if (next <= last) {
		part.start += (u64)(next - first) << PAGE_SHIFT;
		part.flags |= PGSCAN_RUN_F_BEYOND_EOF;
		next = walk_stretch(&part, next, last);
	}
out:
	walk->work = part.work;
	return next;
}
