// SPDX-License-Identifier: GPL-2.0-only
/* reclaim_pages: the sections writeback and reporting: what is asked of pages and of the module. */
#include "reclaim.h"

#include <errno.h>
#include <string.h>

static struct pgs_count some(uint64_t n)
{
	return (struct pgs_count){.set = true, .n = n};
}

/* A state, with no other before it. */
static struct metric *put(struct report *rep, enum section section, const char *name,
			  const char *unit, struct labels labels, struct pgs_count value,
			  const char *reason)
{
	struct metric *m = report_add(rep, section, name, unit, labels);

	m->value = value;
	if (!value.set)
		m->reason = reason;
	return m;
}

/* ---- writeback ------------------------------------------------------------------------------- */

static const char *why_no_walk(int err)
{
	switch (err) {
	case -ENODATA:
		return "it takes a walk over all pages: asked for by --section=writeback";
	case -EPERM:
	case -EACCES:
		return "/proc/kpageflags needs CAP_SYS_ADMIN";
	case -ENOENT:
		return "no /proc/kpageflags (CONFIG_PROC_PAGE_MONITOR)";
	case -EINTR:
		return "interrupted";
	}
	return "/proc/kpageflags cannot be read";
}

static void report_states(struct report *rep, const struct reading *now)
{
	const bool walked = !now->states_err;
	const char *reason = why_no_walk(now->states_err);
	const struct pgs_page_states *s = &now->states;
	const struct {
		const char *name, *unit;
		uint64_t n;
	} states[] = {
		{"pages", "pages", s->pages},
		{"pages_dirty", "pages", s->dirty},
		{"pages_writeback", "pages", s->writeback},
		{"pages_swap_cache", "pages", s->swap_cache},
		{"pages_free", "pages", s->free},
		{"pages_walk", "us", s->walk_ns / 1000},
	};

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		put(rep, SECTION_WRITEBACK, states[i].name, states[i].unit, (struct labels){0},
		    (struct pgs_count){walked, states[i].n}, reason);
}

const char *reclaim_why_no_tags(int err)
{
	switch (err) {
	case -ENODEV:
		return "the module is not there";
	case -EOPNOTSUPP:
		return "the module cannot do it on this kernel";
	case -ESRCH:
		return "no such process, or one without memory";
	case -EPERM:
	case -EACCES:
		return "not permitted";
	}
	return "the module does not answer";
}

static void report_tags(struct report *rep, const struct reading_process *process)
{
	struct labels labels = {.pid = some((uint64_t)process->pid)};

	if (process->err)
		put(rep, SECTION_WRITEBACK, "uses_tags", "bool", labels, (struct pgs_count){0},
		    reclaim_why_no_tags(process->err));
	for (size_t i = 0; i < process->tags.nr; i++) {
		const struct pgs_tags *t = &process->tags.tags[i];

		labels.start = t->start;
		labels.end = t->end;
		labels.vma = t->name;
		put(rep, SECTION_WRITEBACK, "uses_tags", "bool", labels, some(t->uses_tags), NULL);
		put(rep, SECTION_WRITEBACK, "cached", "pages", labels, some(t->cached_pages), NULL);
		put(rep, SECTION_WRITEBACK, "tagged_dirty", "pages", labels, some(t->dirty_pages),
		    NULL);
		put(rep, SECTION_WRITEBACK, "tagged_towrite", "pages", labels,
		    some(t->towrite_pages), NULL);
		put(rep, SECTION_WRITEBACK, "tagged_writeback", "pages", labels,
		    some(t->writeback_pages), NULL);
	}
}

void report_writeback(struct report *rep, const struct reading *before, const struct reading *now)
{
	static const struct {
		const char *name;
		enum pgs_vm_id id;
	} counters[] = {
		{"dirty", PGS_VM_DIRTY},
		{"writeback", PGS_VM_WRITEBACK},
		{"swap_cache", PGS_VM_SWAP_CACHED},
	};

	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		report_state(rep, SECTION_WRITEBACK, counters[i].name, "pages", (struct labels){0},
			     before->vm.count[counters[i].id], now->vm.count[counters[i].id],
			     pgs_vm_reason(counters[i].id));
	report_states(rep, now);
	for (size_t i = 0; i < now->nr_processes; i++)
		report_tags(rep, &now->processes[i]);
}

/* ---- reporting ------------------------------------------------------------------------------- */

static void report_device(struct report *rep, const struct source *src, const struct reading *now)
{
	const struct pgs_reporting *r = &now->reporting;
	const struct labels none = {0};
	const char *unread = now->reporting_err ? "/sys/bus/virtio/devices cannot be read" : NULL;
	const char *reason = unread ?: r->has_device ? NULL : "no balloon device";

	put(rep, SECTION_REPORTING, "balloon", "bool", none,
	    (struct pgs_count){!unread, r->has_device}, NULL)
		->reason = reason;
	put(rep, SECTION_REPORTING, "driver", "bool", none,
	    (struct pgs_count){r->has_device, r->has_driver}, reason);
	put(rep, SECTION_REPORTING, "offered", "bool", none, r->offered,
	    reason ?: "no file shows what the device offers beyond what was agreed on");
	put(rep, SECTION_REPORTING, "negotiated", "bool", none, r->negotiated,
	    reason ?: "the device has no features file");
	put(rep, SECTION_REPORTING, "least_order", "order", none, r->order,
	    unread
		    ?: "nobody has registered for reports, or the kernel has none (5.7, "
		       "CONFIG_PAGE_REPORTING)");
	put(rep, SECTION_REPORTING, "pageblock_order", "order", none, src->pageblock_order,
	    src->named & SECTION_BIT(SECTION_REPORTING)
		    ? "/proc/pagetypeinfo is for root (CAP_DAC_READ_SEARCH)"
		    : "/proc/pagetypeinfo is costly: asked for by --section=reporting");
}

static const char *why_not_counted(int err)
{
	if (err == -ENODATA)
		return "it takes the module or a walk over all pages: asked for by "
		       "--section=reporting";
	return why_no_walk(err);
}

struct totals {
	uint64_t free, reported;
	bool known;
};

static void report_order(struct report *rep, const struct reading *now,
			 const struct pgs_free_zone *zone, unsigned int order, struct totals *sum)
{
	const struct labels labels = {
		.node = some(zone->node), .zone = zone->zone, .order = some(order)};

	put(rep, SECTION_REPORTING, "free_blocks", "blocks", labels, some(zone->blocks[order]),
	    NULL);
	put(rep, SECTION_REPORTING, "reported_blocks", "blocks", labels,
	    (struct pgs_count){zone->has_reported, zone->reported[order]},
	    why_not_counted(now->reported_err));
	sum->free += zone->blocks[order] << order;
	sum->reported += zone->reported[order] << order;
}

static void report_totals(struct report *rep, const struct reading *now, struct labels labels,
			  const struct totals *sum)
{
	const char *reason = why_not_counted(now->reported_err);

	put(rep, SECTION_REPORTING, "free", "pages", labels, some(sum->free), NULL);
	put(rep, SECTION_REPORTING, "reported", "pages", labels,
	    (struct pgs_count){sum->known, sum->reported}, reason);
	put(rep, SECTION_REPORTING, "reported_memory", "bytes", labels,
	    (struct pgs_count){sum->known, sum->reported * rep->page_size}, reason);
}

void report_reporting(struct report *rep, const struct source *src, const struct reading *now)
{
	struct totals all = {.known = now->zones.nr};

	report_device(rep, src, now);
	if (now->zones_err)
		put(rep, SECTION_REPORTING, "free", "pages", (struct labels){0},
		    (struct pgs_count){0}, "/proc/buddyinfo cannot be read");
	for (size_t i = 0; i < now->zones.nr; i++) {
		const struct pgs_free_zone *zone = &now->zones.zones[i];
		struct totals sum = {.known = zone->has_reported};

		for (unsigned int order = 0; order < zone->nr_orders; order++)
			report_order(rep, now, zone, order, &sum);
		report_totals(rep, now,
			      (struct labels){.node = some(zone->node), .zone = zone->zone}, &sum);
		all.free += sum.free;
		all.reported += sum.reported;
		all.known &= sum.known;
	}
	if (now->zones.nr)
		report_totals(rep, now, (struct labels){0}, &all);
	put(rep, SECTION_REPORTING, "counting", "us", (struct labels){0},
	    (struct pgs_count){!now->reported_err, now->reported_ns / 1000},
	    why_not_counted(now->reported_err));
}
