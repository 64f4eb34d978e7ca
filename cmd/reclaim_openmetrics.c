// SPDX-License-Identifier: GPL-2.0-only
/*
 * reclaim_openmetrics: a report as Prometheus reads it: base units, one family of one meaning,
 * labels.
 *
 * The names of counters end in _total in their TYPE line too, as the text format 0.0.4 has it,
 * which is what promtool and node_exporter's textfile collector read; UNIT and EOF are comments to
 * them.
 *
 * A family is never a whole beside its parts, which sum() would count twice: where there are parts
 * the whole is left out. What can be computed from others (efficiency) is left out as well, and so
 * is what is not known, and what would make a series of each mapping.
 */
#include "reclaim.h"

#include "out_escape.h"
#include "../src/cleanup.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FAMILY_MAX 96

/* A metric, and the family it is a part of. */
struct sample {
	char family[FAMILY_MAX];
	const char *unit; /* the suffix, without its underscore; "" for none */
	const struct metric *m;
};

static const char *const prefixes[NR_SECTIONS] = {
	[SECTION_RATES] = "pgscan_reclaim",	  [SECTION_PSI] = "pgscan_psi",
	[SECTION_CGROUP] = "pgscan_cgroup",	  [SECTION_SWAP] = "pgscan_swap",
	[SECTION_WRITEBACK] = "pgscan_writeback", [SECTION_REPORTING] = "pgscan_reporting",
};

/* Ours, theirs, and what one of ours is of theirs. */
static const struct unit {
	const char *unit, *suffix;
	double factor;
} units[] = {
	{"pages", "pages", 1},	    {"bytes", "bytes", 1},   {"huge_pages", "huge_pages", 1},
	{"nodes", "nodes", 1},	    {"blocks", "blocks", 1}, {"us", "seconds", 1e-6},
	{"percent", "ratio", 0.01}, {"events", "", 1},	     {"bool", "", 1},
	{"order", "", 1},
};

static const struct unit *unit_of(const struct metric *m)
{
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(units[i].unit, m->unit))
			return &units[i];
	return NULL;
}

/* What a figure means is said in the manual page; here, in a line. */
static const struct {
	const char *name, *help;
} helps[] = {
	{"scanned", "Pages scanned by reclaim"},
	{"reclaimed", "Pages reclaimed"},
	{"swap_out", "Pages written to swap areas"},
	{"swap_in", "Pages read from swap areas"},
	{"swap_out_zero", "Pages of zeroes that took a slot and were not written"},
	{"swap_in_zero", "Pages of zeroes that came back from a slot"},
	{"stalls", "Allocations that had to reclaim first"},
	{"throttled", "Allocations that had to wait for kswapd"},
	{"refaulted", "Pages read back soon after they were reclaimed"},
	{"activated", "Refaulted pages that were made active at once"},
	{"restored", "Refaulted pages that had been active"},
	{"thp_swap_out", "Huge pages swapped out whole"},
	{"thp_swap_out_split", "Huge pages split to be swapped out"},
	{"zswap_in", "Pages read from zswap"},
	{"zswap_out", "Pages compressed into zswap"},
	{"zswap_writeback", "Pages moved from zswap to a swap area"},
	{"major_faults", "Faults that had to read"},
	{"oom_kills", "Processes killed for want of memory"},
	{"workingset_nodes", "Page cache tree nodes that hold nothing but shadows"},
	{"stalled_some", "Time that some task waited for memory"},
	{"stalled_full", "Time that all tasks that could run waited for memory"},
	{"some_avg10", "Share of the last 10 s that some task waited for memory"},
	{"some_avg60", "Share of the last 60 s that some task waited for memory"},
	{"some_avg300", "Share of the last 300 s that some task waited for memory"},
	{"full_avg10", "Share of the last 10 s that all tasks waited for memory"},
	{"full_avg60", "Share of the last 60 s that all tasks waited for memory"},
	{"full_avg300", "Share of the last 300 s that all tasks waited for memory"},
	{"usage", "Memory of the cgroup"},
	{"limit", "Memory limit of the cgroup"},
	{"swap", "Swap of the cgroup"},
	{"swap_limit", "Swap limit of the cgroup"},
	{"anon", "Anonymous memory of the cgroup"},
	{"file", "Page cache of the cgroup, shared memory included"},
	{"shmem", "Shared memory of the cgroup"},
	{"peak", "Highest memory of the cgroup ever"},
	{"swap_peak", "Highest swap of the cgroup ever"},
	{"high_events", "Times that memory.high forced reclaim"},
	{"max_events", "Times that the memory limit forced reclaim"},
	{"oom_events", "Times that the cgroup was out of memory"},
	{"size", "Slots of a swap area"},
	{"used", "Slots in use of a swap area"},
	{"swap_cache", "Pages in memory that have a swap slot"},
	{"zram_data", "Data stored in zram"},
	{"zram_compressed", "The same, compressed"},
	{"zram_memory", "Memory that zram takes for it"},
	{"zram_same_filled", "Pages of one repeated value in zram"},
	{"zram_incompressible", "Pages in zram that do not compress"},
	{"zram_written_back", "Pages of zram on its backing device"},
	{"zram_ratio", "Data in zram by the memory it takes"},
	{"zswap_enabled", "Whether zswap is on"},
	{"zswap_pool", "Memory that zswap takes"},
	{"zswap_stored", "Size of the pages in zswap"},
	{"zswap_ratio", "Pages in zswap by the memory they take"},
	{"dirty", "Dirty pages"},
	{"writeback", "Pages under writeback"},
	{"balloon", "Whether there is a virtio balloon"},
	{"driver", "Whether the balloon has a driver"},
	{"offered", "Whether the balloon offers free page reporting"},
	{"negotiated", "Whether free page reporting was agreed on"},
	{"least_order", "Order from which on free blocks are reported"},
	{"pageblock_order", "Order of a page block"},
	{"free_blocks", "Free blocks of 2^order pages"},
	{"reported_blocks", "Free blocks that are reported to the hypervisor"},
	{"free", "Free pages"},
	{"reported", "Free pages that are reported to the hypervisor"},
};

static const char *help_of(const char *name)
{
	for (size_t i = 0; i < sizeof(helps) / sizeof(helps[0]); i++)
		if (!strcmp(helps[i].name, name))
			return helps[i].help;
	return "See pgscan-reclaim-report(1)";
}

/* ---- which of them --------------------------------------------------------------------------- */

static bool same_group(const struct metric *a, const struct metric *b)
{
	return a->section == b->section && a->labels.cgroup == b->labels.cgroup;
}

static bool is_part_of(const struct metric *part, const struct metric *m)
{
	const struct labels *l = &m->labels, *p = &part->labels;

	if (part == m || strcmp(part->name, m->name) != 0 || !part->value.set)
		return false;
	return (!l->actor && !l->kind && (p->actor || p->kind)) || (!l->device && p->device) ||
	       (!l->zone && p->zone);
}

/* A name that has values by a label too is a whole beside its parts. What is said of a cgroup
 * stands together, and its path is one string: it is looked for there alone. */
static bool has_parts(const struct report *rep, const struct metric *m)
{
	const size_t index = (size_t)(m - rep->metrics);

	for (size_t i = index; i > 0 && same_group(&rep->metrics[i - 1], m); i--)
		if (is_part_of(&rep->metrics[i - 1], m))
			return true;
	for (size_t i = index + 1; i < rep->nr && same_group(&rep->metrics[i], m); i++)
		if (is_part_of(&rep->metrics[i], m))
			return true;
	return false;
}

static bool is_exposed(const struct report *rep, const struct metric *m)
{
	if (!m->value.set && !m->percent.set)
		return false;
	if (!strcmp(m->name, "efficiency") || !strcmp(m->name, "reported_memory") ||
	    m->labels.pid.set)
		return false;
	return !has_parts(rep, m);
}

/* The same pages counted by kind and by actor are two families. */
static void name_family(struct sample *s)
{
	const struct metric *m = s->m;
	bool by_kind =
		m->labels.kind && (!strcmp(m->name, "scanned") || !strcmp(m->name, "reclaimed"));
	const char *suffix = unit_of(m)->suffix;
	size_t len = strlen(m->name), suffix_len = strlen(suffix);
	bool has_suffix = len > suffix_len && !strcmp(m->name + len - suffix_len, suffix);

	s->unit = suffix;
	snprintf(s->family, sizeof(s->family), "%s_%s%s%s%s%s", prefixes[m->section], m->name,
		 by_kind ? "_by_kind" : "", *suffix && !has_suffix ? "_" : "",
		 has_suffix ? "" : suffix, m->is_counter ? "_total" : "");
}

static int compare_samples(const void *pa, const void *pb)
{
	const struct sample *a = pa, *b = pb;
	int order = strcmp(a->family, b->family);

	return order ?: (a->m > b->m) - (a->m < b->m);
}

/* ---- text ------------------------------------------------------------------------------------ */

static void put_label(FILE *f, const char *name, const char *value, bool *first)
{
	size_t len = value ? strlen(value) : 0;
	_cleanup_free_ char *text = malloc(OUT_ESCAPE_MAX(len) + 1);

	if (!value || !text)
		return;
	text[out_escape(text, value, len)] = '\0';
	fprintf(f, "%s%s=\"", *first ? "{" : ",", name);
	for (const char *c = text; *c; c++) {
		if (*c == '"' || *c == '\\')
			fputc('\\', f);
		fputc(*c, f);
	}
	fputc('"', f);
	*first = false;
}

static void put_number_label(FILE *f, const char *name, struct pgs_count number, bool *first)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, number.n);
	put_label(f, name, number.set ? text : NULL, first);
}

static void put_labels(FILE *f, const struct labels *l)
{
	bool first = true;

	put_label(f, "cgroup", l->cgroup, &first);
	put_label(f, "device", l->device, &first);
	put_label(f, "actor", l->actor, &first);
	put_label(f, "kind", l->kind, &first);
	put_number_label(f, "node", l->node, &first);
	put_label(f, "zone", l->zone, &first);
	put_number_label(f, "order", l->order, &first);
	if (!first)
		fputc('}', f);
}

static void put_sample(FILE *f, const struct sample *s)
{
	const struct metric *m = s->m;
	double factor = unit_of(m)->factor;

	fputs(s->family, f);
	put_labels(f, &m->labels);
	if (!m->value.set)
		fprintf(f, " %.10g\n", m->percent.d * factor);
	else if (factor == 1)
		fprintf(f, " %" PRIu64 "\n", m->value.n);
	else
		fprintf(f, " %.15g\n", (double)m->value.n * factor);
}

static void put_family(FILE *f, const struct sample *s)
{
	fprintf(f, "# HELP %s %s.\n# TYPE %s %s\n", s->family, help_of(s->m->name), s->family,
		s->m->is_counter ? "counter" : "gauge");
	if (*s->unit)
		fprintf(f, "# UNIT %s %s\n", s->family, s->unit);
}

static void put_all(FILE *f, const struct sample *samples, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (!i || strcmp(samples[i].family, samples[i - 1].family) != 0)
			put_family(f, &samples[i]);
		put_sample(f, &samples[i]);
	}
}

int reclaim_openmetrics(struct out *o, const struct report *rep)
{
	_cleanup_free_ struct sample *samples = calloc(rep->nr + 1, sizeof(*samples));
	char *text = NULL;
	size_t size = 0, nr = 0;
	FILE *f = open_memstream(&text, &size);
	int err;

	if (!samples || !f) {
		if (f)
			fclose(f);
		free(text);
		return -ENOMEM;
	}
	for (size_t i = 0; i < rep->nr; i++) {
		samples[nr].m = &rep->metrics[i];
		if (is_exposed(rep, samples[nr].m))
			name_family(&samples[nr++]);
	}
	qsort(samples, nr, sizeof(*samples), compare_samples);
	put_all(f, samples, nr);
	err = fclose(f) ? -ENOMEM : out_text(o, text, size);
	free(text);
	return err;
}
