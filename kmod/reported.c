// SPDX-License-Identifier: GPL-2.0-only
/*
 * REPORTED: free pages by zone and order, and those that were reported to the hypervisor.
 */
#include <linux/memory.h>
#include <linux/memory_hotplug.h>
#include <linux/mmzone.h>
#include <linux/nodemask.h>
#include <linux/page-flags.h>
#include <linux/rwsem.h>
#include <linux/uaccess.h>

#include "internal.h"

#define NR_ORDERS ARRAY_SIZE(((struct zone *)NULL)->free_area)

/* Buddy blocks are aligned to their size, so none reaches over the edge of a window. */
#define WINDOW_PAGES (1UL << (NR_ORDERS - 1))

static_assert(NR_ORDERS <= PGSCAN_MAX_ORDERS);

/*
 * get_online_mems() is not exported. Instead the notifier below makes the removal of memory wait,
 * after its pages went offline and before its struct pages go away, for those who may have
 * looked them up.
 */
static DECLARE_RWSEM(memory_sem);

static int memory_callback(struct notifier_block *self, unsigned long action, void *arg)
{
	if (action == MEM_OFFLINE) {
		down_write(&memory_sem);
		up_write(&memory_sem);
	}
	return NOTIFY_OK;
}

static struct notifier_block memory_notifier = {.notifier_call = memory_callback};

int __init pgscan_reported_init(void)
{
	return register_memory_notifier(&memory_notifier);
}

void pgscan_reported_exit(void)
{
	unregister_memory_notifier(&memory_notifier);
}

/* Pages to step over from this one on; counts it if it is the head of a free block. */
static unsigned long count_block(struct page *page, unsigned long pfn, struct pgscan_zone *record)
{
	unsigned long order;

	if (!PageBuddy(page))
		return 1;
	order = page_private(page); /* buddy_order() of mm/internal.h */
	if (order >= NR_ORDERS || pfn & ((1UL << order) - 1))
		return 1;

	record->free[order]++;
	if (PageReported(page))
		record->reported[order]++;
	return 1UL << order;
}

static void count_window(struct zone *zone, unsigned long pfn, unsigned long end,
			 struct pgscan_zone *record)
{
	unsigned long flags;
	struct page *page;

	down_read(&memory_sem);
	spin_lock_irqsave(&zone->lock, flags);
	while (pfn < end) {
		page = pfn_to_online_page(pfn);
		if (page && page_zone(page) == zone)
			pfn += count_block(page, pfn, record);
		else
			pfn++;
	}
	spin_unlock_irqrestore(&zone->lock, flags);
	up_read(&memory_sem);
}

static int count_zone(struct zone *zone, struct pgscan_zone *record)
{
	unsigned long pfn = READ_ONCE(zone->zone_start_pfn);
	unsigned long end = pfn + READ_ONCE(zone->spanned_pages);
	unsigned long next;

	memset(record, 0, sizeof(*record));
	record->node = zone_to_nid(zone);
	record->zone = zone_idx(zone);
	strscpy(record->name, zone->name, sizeof(record->name));
	record->start_pfn = pfn;
	record->spanned_pages = end - pfn;
	record->present_pages = READ_ONCE(zone->present_pages);
	record->managed_pages = zone_managed_pages(zone);
	record->free_pages = zone_page_state(zone, NR_FREE_PAGES);

	for (; pfn < end; pfn = next) {
		next = min(ALIGN(pfn + 1, WINDOW_PAGES), end);
		count_window(zone, pfn, next, record);
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
	}
	return 0;
}

/* The cursor counts zones, populated or not: node * MAX_NR_ZONES + index. NULL at the end. */
static struct zone *next_zone_from(u64 *cursor)
{
	for (; *cursor < (u64)MAX_NUMNODES * MAX_NR_ZONES; ++*cursor) {
		int nid = *cursor / MAX_NR_ZONES;
		struct zone *zone;

		if (!node_online(nid))
			continue;
		zone = &NODE_DATA(nid)->node_zones[*cursor % MAX_NR_ZONES];
		if (populated_zone(zone))
			return zone;
	}
	return NULL;
}

static int copy_zone(const struct pgscan_reported *arg, u64 index, const struct pgscan_zone *record)
{
	char __user *to = u64_to_user_ptr(arg->vec);
	size_t size = min_t(size_t, arg->zone_size, sizeof(*record));

	to += index * arg->zone_size;
	if (copy_to_user(to, record, size) || clear_user(to + size, arg->zone_size - size))
		return -EFAULT;
	return 0;
}

long pgscan_reported(union pgscan_arg *uarg)
{
	struct pgscan_reported *arg = &uarg->reported;
	struct pgscan_zone record;
	struct zone *zone;
	u64 nr = 0;
	int err;

	if (arg->reserved || !arg->vec_len || arg->zone_size % sizeof(u64) ||
	    arg->zone_size < PGSCAN_ZONE_SIZE_VER0 || arg->zone_size > PAGE_SIZE)
		return -EINVAL;

	while (nr < arg->vec_len && (zone = next_zone_from(&arg->cursor))) {
		err = count_zone(zone, &record);
		if (err)
			return err;
		err = copy_zone(arg, nr, &record);
		if (err)
			return err;
		nr++;
		arg->cursor++;
	}
	return nr;
}
