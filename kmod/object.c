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

/* Entries that are looked at before the XArray is unlocked, with interrupts off all the time. */
#define ENTRIES_LOCKED 512

/* State, type and first slot of the pages from `index` on, which `entry` at `base` covers. */
static void describe_entry(void *entry, pgoff_t base, pgoff_t index, struct pgscan_run *run)
{
	swp_entry_t swap;

	if (!xa_is_value(entry)) {
		run->state = PGSCAN_RUN_CACHED;
		return;
	}

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

/* The pages `from` to `to`, of which `run` already says the state. False: no room. */
static bool add_run(struct pgscan_object_walk *walk, pgoff_t first, struct pgscan_run *run,
		    pgoff_t from, pgoff_t to)
{
	run->start = walk->start + ((u64)(from - first) << PAGE_SHIFT);
	run->pages = (u64)to - from + 1;
	run->flags = walk->flags;
	return pgscan_runs_add(walk->runs, run);
}

static bool add_hole(struct pgscan_object_walk *walk, pgoff_t first, pgoff_t from, pgoff_t to)
{
	struct pgscan_run run = {.state = PGSCAN_RUN_NONE};

	return !walk->holes || add_run(walk, first, &run, from, to);
}

/*
 * A stretch that lies on one side of the end of the object. Returns where to go on.
 *
 * The lock of the XArray, and not RCU: shmem_split_large_entry() first splits a large entry, so
 * that all parts hold the slot of the first page, and then corrects them one by one under the
 * lock (12885cbe88dd, "mm: shmem: split large entry if the swapin folio is not large", v6.12).
 */
static pgoff_t walk_stretch(struct pgscan_object_walk *walk, pgoff_t first, pgoff_t last)
{
	XA_STATE(xas, &walk->mapping->i_pages, first);
	unsigned int locked = 0;
	pgoff_t next = first;
	void *entry;

	xas_lock_irq(&xas);
	xas_for_each(&xas, entry, last)
	{
		unsigned long covers = 1UL << xas_get_order(&xas);
		pgoff_t base = round_down(xas.xa_index, covers);
		pgoff_t from = max(base, next);
		pgoff_t to = min(base + covers - 1, last);
		struct pgscan_run run = {};

		if (from > next && !add_hole(walk, first, next, from - 1))
			goto out;
		next = from;
		describe_entry(entry, base, from, &run);
		if (!add_run(walk, first, &run, from, to))
			goto out;
		next = to + 1;

		if (--walk->work <= 0)
			goto out;
		if (++locked == ENTRIES_LOCKED) {
			locked = 0;
			xas_pause(&xas);
			xas_unlock_irq(&xas);
			cond_resched();
			xas_lock_irq(&xas);
		}
	}
	if (next > last || add_hole(walk, first, next, last))
		next = last + 1;
out:
	xas_unlock_irq(&xas);
	return next;
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
