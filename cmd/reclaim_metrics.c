// SPDX-License-Identifier: GPL-2.0-only
/* reclaim_metrics: two readings become a list of metrics. */
#include "reclaim.h"

#include <stdlib.h>
#include <string.h>

const char *const section_names[NR_SECTIONS + 1] = {
	[SECTION_RATES] = "rates",	   [SECTION_PSI] = "psi",
	[SECTION_CGROUP] = "cgroup",	   [SECTION_SWAP] = "swap",
	[SECTION_WRITEBACK] = "writeback", [SECTION_REPORTING] = "reporting",
};

struct metric *report_add(struct report *rep, enum section section, const char *name,
			  const char *unit, struct labels labels)
{
	static struct metric lost;
	struct metric *m = &lost;

	if (rep->nr == rep->room) {
		size_t room = rep->room ? rep->room * 2 : 128;
		struct metric *more = reallocarray(rep->metrics, room, sizeof(*more));

		if (more) {
			rep->metrics = more;
			rep->room = room;
		}
	}
	if (rep->nr < rep->room)
		m = &rep->metrics[rep->nr++];
	else
		rep->no_memory = true;
	*m = (struct metric){.section = section, .name = name, .unit = unit, .labels = labels};
	return m;
}

struct pgs_count count_delta(struct pgs_count before, struct pgs_count now)
{
	if (!before.set || !now.set || now.n < before.n)
		return (struct pgs_count){0};
	return (struct pgs_count){.set = true, .n = now.n - before.n};
}

const char *why_no_delta(const struct report *rep, struct pgs_count before, struct pgs_count now,
			 const char *missing)
{
	if (!now.set)
		return missing;
	if (rep->interval_s <= 0)
		return NULL;
	if (!before.set)
		return "it was not there before the interval";
	return now.n < before.n ? "the counter went backwards" : NULL;
}

void report_counter(struct report *rep, enum section section, const char *name, const char *unit,
		    struct labels labels, struct pgs_count before, struct pgs_count now,
		    const char *reason)
{
	struct metric *m = report_add(rep, section, name, unit, labels);

	m->is_counter = true;
	m->value = now;
	m->delta = count_delta(before, now);
	if (m->delta.set && rep->interval_s > 0)
		m->rate = (struct figure){true, (double)m->delta.n / rep->interval_s};
	m->reason = why_no_delta(rep, before, now, reason);
}

void report_state(struct report *rep, enum section section, const char *name, const char *unit,
		  struct labels labels, struct pgs_count before, struct pgs_count now,
		  const char *reason)
{
	struct metric *m = report_add(rep, section, name, unit, labels);

	m->value = now;
	if (before.set && now.set && rep->interval_s > 0)
		m->rate =
			(struct figure){true, ((double)now.n - (double)before.n) / rep->interval_s};
	if (!now.set)
		m->reason = reason;
}

void report_percent(struct report *rep, enum section section, const char *name,
		    struct labels labels, struct figure percent, const char *reason)
{
	struct metric *m = report_add(rep, section, name, "percent", labels);

	m->percent = percent;
	if (!percent.set)
		m->reason = reason;
}

/* A page that was scanned before the interval may be reclaimed in it: never above 100. */
void report_efficiency(struct report *rep, enum section section, struct labels labels,
		       struct pgs_count scanned, struct pgs_count reclaimed, const char *reason)
{
	struct figure percent = {0};

	if (scanned.set && reclaimed.set && scanned.n) {
		percent.set = true;
		percent.d = 100.0 * (double)reclaimed.n / (double)scanned.n;
		if (percent.d > 100)
			percent.d = 100;
	}
	if (scanned.set && reclaimed.set && !scanned.n)
		reason = "nothing was scanned";
	report_percent(rep, section, "efficiency", labels, percent, reason);
}

void report_make(struct report *rep, const struct source *src, const struct reading *before,
		 const struct reading *now)
{
	rep->nr = 0;
	rep->page_size = src->ctx->page_size;
	rep->interval_s = before->at_ns ? (double)(now->at_ns - before->at_ns) / 1e9 : 0;
	if (src->sections & SECTION_BIT(SECTION_RATES))
		report_rates(rep, before, now);
	if (src->sections & SECTION_BIT(SECTION_PSI))
		report_psi(rep, before, now);
	if (src->sections & SECTION_BIT(SECTION_CGROUP))
		report_cgroups(rep, src, before, now);
	if (src->sections & SECTION_BIT(SECTION_SWAP))
		report_swap(rep, before, now);
	if (src->sections & SECTION_BIT(SECTION_WRITEBACK))
		report_writeback(rep, before, now);
	if (src->sections & SECTION_BIT(SECTION_REPORTING))
		report_reporting(rep, src, now);
}

void report_fini(struct report *rep)
{
	free(rep->metrics);
	*rep = (struct report){0};
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_count(struct pgs_count a, struct pgs_count b)
{
	return a.set == b.set && (!a.set || a.n == b.n);
}

static bool same_labels(const struct labels *a, const struct labels *b)
{
	return same_text(a->cgroup, b->cgroup) && same_text(a->device, b->device) &&
	       same_text(a->actor, b->actor) && same_text(a->kind, b->kind) &&
	       same_text(a->zone, b->zone) && same_count(a->node, b->node) &&
	       same_count(a->order, b->order) && same_count(a->pid, b->pid) &&
	       a->start == b->start && a->end == b->end;
}

const struct metric *report_find(const struct report *rep, enum section section, const char *name,
				 struct labels labels)
{
	for (size_t i = 0; i < rep->nr; i++) {
		const struct metric *m = &rep->metrics[i];

		if (m->section == section && !strcmp(m->name, name) &&
		    same_labels(&m->labels, &labels))
			return m;
	}
	return NULL;
}
