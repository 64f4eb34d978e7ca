// SPDX-License-Identifier: GPL-2.0-only
/* reclaim_swap: the section swap: areas, the swap cache, zram and zswap. */
#include "reclaim.h"

#include <errno.h>
#include <string.h>

static struct pgs_count some(uint64_t n)
{
	return (struct pgs_count){.set = true, .n = n};
}

/* "Stored / taken": 300 when three bytes lie in one. */
static void report_ratio(struct report *rep, const char *name, struct labels labels,
			 struct pgs_count stored, struct pgs_count taken, const char *reason)
{
	struct figure percent = {0};

	if (stored.set && taken.set && taken.n) {
		percent = (struct figure){true, 100.0 * (double)stored.n / (double)taken.n};
	} else if (stored.set && taken.set) {
		reason = "it is empty";
	}
	report_percent(rep, SECTION_SWAP, name, labels, percent, reason);
}

/* The area of the same name in the reading before, or NULL. */
static const struct reading_area *same_area(const struct reading *before, const char *name)
{
	for (size_t i = 0; i < before->swaps.nr; i++)
		if (!strcmp(before->areas[i].area->name, name))
			return &before->areas[i];
	return NULL;
}

static void report_zram(struct report *rep, struct labels labels, const struct pgs_zram *before,
			const struct pgs_zram *now)
{
	const struct {
		const char *name, *unit;
		struct pgs_count before, now;
		const char *reason;
	} states[] = {
		{"zram_data", "bytes", some(before->data_bytes), some(now->data_bytes), NULL},
		{"zram_compressed", "bytes", some(before->compressed_bytes),
		 some(now->compressed_bytes), NULL},
		{"zram_memory", "bytes", some(before->memory_bytes), some(now->memory_bytes), NULL},
		{"zram_same_filled", "pages", some(before->same_pages), some(now->same_pages),
		 NULL},
		{"zram_incompressible", "pages", before->huge_pages, now->huge_pages,
		 "this kernel does not count them"},
		{"zram_written_back", "pages", before->backing_pages, now->backing_pages,
		 "no bd_stat (Linux 4.20, CONFIG_ZRAM_WRITEBACK)"},
	};

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		report_state(rep, SECTION_SWAP, states[i].name, states[i].unit, labels,
			     states[i].before, states[i].now, states[i].reason);
	report_ratio(rep, "zram_ratio", labels, some(now->data_bytes), some(now->memory_bytes),
		     NULL);
}

static void report_area(struct report *rep, const struct reading *before,
			const struct reading_area *area)
{
	const struct pgs_swap_area *a = area->area;
	const struct reading_area *same = same_area(before, a->name);
	const struct labels labels = {.device = a->name};

	report_state(rep, SECTION_SWAP, "size", "pages", labels, some(a->size_pages),
		     some(a->size_pages), NULL);
	report_state(rep, SECTION_SWAP, "used", "pages", labels,
		     same ? some(same->area->used_pages) : (struct pgs_count){0},
		     some(a->used_pages), NULL);
	if (area->is_zram)
		report_zram(rep, labels, same && same->is_zram ? &same->zram : &area->zram,
			    &area->zram);
}

static struct pgs_count sum_of(const struct reading *reading, bool used)
{
	struct pgs_count sum = {.set = !reading->swap_err && reading->at_ns};

	for (size_t i = 0; i < reading->swaps.nr; i++)
		sum.n += used ? reading->swaps.areas[i].used_pages
			      : reading->swaps.areas[i].size_pages;
	return sum;
}

static void report_zswap(struct report *rep, const struct reading *before,
			 const struct reading *now)
{
	const bool there = !now->zswap_err;
	const char *reason = there ? "no Zswap in /proc/meminfo (Linux 5.19), nor in debugfs"
				   : "this kernel has no zswap";
	const struct labels none = {0};

	report_state(rep, SECTION_SWAP, "zswap_enabled", "bool", none, (struct pgs_count){0},
		     (struct pgs_count){.set = there, .n = now->zswap.enabled}, reason);
	report_state(rep, SECTION_SWAP, "zswap_pool", "bytes", none, before->zswap.pool_bytes,
		     now->zswap.pool_bytes, reason);
	report_state(rep, SECTION_SWAP, "zswap_stored", "bytes", none, before->zswap.stored_bytes,
		     now->zswap.stored_bytes, reason);
	report_ratio(rep, "zswap_ratio", none, now->zswap.stored_bytes, now->zswap.pool_bytes,
		     reason);
	report_counter(rep, SECTION_SWAP, "zswap_writeback", "pages", none,
		       before->vm.count[PGS_VM_ZSWAP_WRITEBACK],
		       now->vm.count[PGS_VM_ZSWAP_WRITEBACK],
		       pgs_vm_reason(PGS_VM_ZSWAP_WRITEBACK));
}

void report_swap(struct report *rep, const struct reading *before, const struct reading *now)
{
	const struct labels none = {0};
	const char *unreadable = "/proc/swaps cannot be read";

	report_state(rep, SECTION_SWAP, "size", "pages", none, sum_of(before, false),
		     sum_of(now, false), unreadable);
	report_state(rep, SECTION_SWAP, "used", "pages", none, sum_of(before, true),
		     sum_of(now, true), unreadable);
	report_state(rep, SECTION_SWAP, "swap_cache", "pages", none,
		     before->vm.count[PGS_VM_SWAP_CACHED], now->vm.count[PGS_VM_SWAP_CACHED],
		     pgs_vm_reason(PGS_VM_SWAP_CACHED));
	for (size_t i = 0; i < now->swaps.nr; i++)
		report_area(rep, before, &now->areas[i]);
	report_zswap(rep, before, now);
}
