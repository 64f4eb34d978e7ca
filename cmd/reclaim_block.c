// SPDX-License-Identifier: GPL-2.0-only
/* reclaim_block: a sample for people, in a block of at most 100 columns; names that may be long
 * come last in their line. */
#include "reclaim.h"

#include "out_escape.h"
#include "../src/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RATES(name, ...) report_find(rep, SECTION_RATES, name, (struct labels){__VA_ARGS__})

/* ---- cells ----------------------------------------------------------------------------------- */

static void put_figure(FILE *f, int width, struct figure figure, const char *unit)
{
	char text[32];

	if (!figure.set)
		fprintf(f, " %*s", width, "-");
	else if (*unit)
		fprintf(f, " %*.1f%s", width - (int)strlen(unit), figure.d, unit);
	else {
		snprintf(text, sizeof(text), figure.d < 100 ? "%.1f" : "%.0f", figure.d);
		fprintf(f, " %*s", width, text);
	}
}

static void put_rate(FILE *f, int width, const struct metric *m)
{
	put_figure(f, width, m ? m->rate : (struct figure){0}, "");
}

static void put_percent(FILE *f, int width, const struct metric *m)
{
	put_figure(f, width, m ? m->percent : (struct figure){0}, " %");
}

/* Pages and bytes as 1.5M, "-" for what is not known, "max" for no limit. */
static void put_size(FILE *f, int width, const struct report *rep, const struct metric *m)
{
	char text[PGS_SIZE_STR] = "-";

	if (m && m->value.set)
		pgs_format_size(m->value.n * (strcmp(m->unit, "pages") ? 1 : rep->page_size), text);
	else if (m && m->reason && !strcmp(m->reason, "no limit"))
		strcpy(text, "max");
	fprintf(f, " %*s", width, text);
}

static void put_name(FILE *f, const char *name)
{
	size_t len = strlen(name);
	_cleanup_free_ char *text = malloc(OUT_ESCAPE_MAX(len) + 1);

	if (text)
		fprintf(f, "%s%.*s\n", len ? "  " : "", (int)out_escape(text, name, len), text);
}

/* ---- the last samples ------------------------------------------------------------------------ */

static void remember(struct block *b, size_t line, struct figure figure)
{
	double *past = b->past[line];

	memmove(past, past + 1, (BLOCK_PAST - 1) * sizeof(*past));
	past[BLOCK_PAST - 1] = figure.set ? figure.d : 0;
}

/* Eighths of the largest one. Blank where there was no sample yet. */
static void put_spark(FILE *f, const struct block *b, size_t line)
{
	static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	const double *past = b->past[line];
	double most = 0;

	if (!b->sparks || b->nr_past < 2)
		return;
	for (size_t i = 0; i < BLOCK_PAST; i++)
		most = past[i] > most ? past[i] : most;
	fputs("  ", f);
	for (size_t i = BLOCK_PAST - (b->nr_past < BLOCK_PAST ? b->nr_past : BLOCK_PAST);
	     i < BLOCK_PAST; i++)
		fputs(bars[most > 0 ? (int)(past[i] / most * 7.999) : 0], f);
}

/* ---- sections -------------------------------------------------------------------------------- */

static const struct {
	const char *head, *name;
} lines[BLOCK_LINES] = {
	{"swap out", "swap_out"}, {"swap in", "swap_in"},	    {"refaulted", "refaulted"},
	{"stalls", "stalls"},	  {"major faults", "major_faults"},
};

static void put_lines(FILE *f, struct block *b, const struct report *rep)
{
	fprintf(f, "%-14s %10s %8s %12s\n", "", "per s", "MiB/s", "total");
	for (size_t i = 0; i < BLOCK_LINES; i++) {
		const struct metric *m = RATES(lines[i].name);

		if (!m)
			continue;
		remember(b, i, m->rate);
		fprintf(f, "%-14s", lines[i].head);
		put_rate(f, 10, m);
		put_figure(f, 8, metric_mib_s(m, rep->page_size), "");
		if (m->value.set)
			fprintf(f, " %12llu", (unsigned long long)m->value.n);
		else
			fprintf(f, " %12s", "-");
		put_spark(f, b, i);
		fputc('\n', f);
	}
}

/* Of the interval, or where there was none, in all. */
static void put_pages(FILE *f, int width, const struct report *rep, const struct metric *m)
{
	if (rep->interval_s > 0 || !m || !m->value.set)
		put_rate(f, width, m);
	else
		fprintf(f, " %*llu", width, (unsigned long long)m->value.n);
}

static void put_actors(FILE *f, const struct report *rep)
{
	static const struct labels columns[] = {
		{.actor = "kswapd"},	{.actor = "direct"}, {.actor = "khugepaged"},
		{.actor = "proactive"}, {.actor = "cgroup"}, {.kind = "anon"},
		{.kind = "file"},
	};
	static const char *const rows[] = {"scanned", "reclaimed", "efficiency"};
	const size_t nr = sizeof(columns) / sizeof(columns[0]);

	fprintf(f, "%-14s", rep->interval_s > 0 ? "pages per s" : "pages in all");
	for (size_t i = 0; i < nr; i++)
		fprintf(f, " %10s", columns[i].actor ?: columns[i].kind);
	fputc('\n', f);
	for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
		fprintf(f, "%-14s", rows[row]);
		for (size_t i = 0; i < nr; i++) {
			const struct metric *m =
				report_find(rep, SECTION_RATES, rows[row], columns[i]);

			if (row == 2)
				put_percent(f, 10, m);
			else
				put_pages(f, 10, rep, m);
		}
		fputc('\n', f);
	}
}

static void put_pressure(FILE *f, const struct report *rep)
{
	static const char *const names[2][4] = {
		{"stalled_some", "some_avg10", "some_avg60", "some_avg300"},
		{"stalled_full", "full_avg10", "full_avg60", "full_avg300"},
	};

	fprintf(f, "%-14s %10s %10s %10s %10s\n", "pressure", "stalled", "avg10", "avg60",
		"avg300");
	for (int row = 0; row < 2; row++) {
		fprintf(f, "%-14s", row ? "full" : "some");
		for (int i = 0; i < 4; i++)
			put_percent(f, 10,
				    report_find(rep, SECTION_PSI, names[row][i],
						(struct labels){0}));
		fputc('\n', f);
	}
}

static const struct metric *of_area(const struct report *rep, const char *name, const char *device)
{
	return report_find(rep, SECTION_SWAP, name, (struct labels){.device = device});
}

static void put_area(FILE *f, const struct report *rep, const char *device)
{
	static const char *const zram[] = {"zram_data", "zram_compressed", "zram_memory"};

	fprintf(f, "%-14s", device ? "" : "all");
	put_size(f, 10, rep, of_area(rep, "size", device));
	put_size(f, 10, rep, of_area(rep, "used", device));
	put_figure(f, 10, metric_mib_s(of_area(rep, "used", device), rep->page_size), "");
	for (size_t i = 0; device && i < sizeof(zram) / sizeof(zram[0]); i++)
		put_size(f, 10, rep, of_area(rep, zram[i], device));
	put_name(f, device ?: "");
}

static void put_zswap(FILE *f, const struct report *rep)
{
	fprintf(f, "%-14s", "in zswap");
	put_size(f, 10, rep, of_area(rep, "zswap_stored", NULL));
	fputs(" in a pool of", f);
	put_size(f, 0, rep, of_area(rep, "zswap_pool", NULL));
	fputs("; written back per s:", f);
	put_rate(f, 0, of_area(rep, "zswap_writeback", NULL));
	fputc('\n', f);
}

static bool is_on(const struct metric *m)
{
	return m && m->value.set && m->value.n;
}

static void put_swap(FILE *f, const struct report *rep)
{
	fprintf(f, "%-14s %10s %10s %10s %10s %10s %10s\n", "swap", "size", "used", "MiB/s",
		"zram data", "compressed", "memory");
	put_area(f, rep, NULL);
	for (size_t i = 0; i < rep->nr; i++)
		if (rep->metrics[i].section == SECTION_SWAP && rep->metrics[i].labels.device &&
		    !strcmp(rep->metrics[i].name, "size"))
			put_area(f, rep, rep->metrics[i].labels.device);
	if (is_on(of_area(rep, "size", NULL))) {
		fprintf(f, "%-14s", "in swap cache");
		put_size(f, 10, rep, of_area(rep, "swap_cache", NULL));
		fputc('\n', f);
	}
	if (is_on(of_area(rep, "zswap_enabled", NULL)))
		put_zswap(f, rep);
}

static void put_cgroup(FILE *f, const struct report *rep, const char *path)
{
	static const char *const sizes[] = {"usage", "limit", "swap", "swap_limit"};
	static const char *const rates[] = {"scanned", "refaulted"};
	const struct labels labels = {.cgroup = path};
	const struct metric *usage = report_find(rep, SECTION_CGROUP, "usage", labels);

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		put_size(f, i ? 9 : 13, rep, report_find(rep, SECTION_CGROUP, sizes[i], labels));
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		put_rate(f, 11, report_find(rep, SECTION_CGROUP, rates[i], labels));
	put_percent(f, 8, report_find(rep, SECTION_CGROUP, "stalled_some", labels));
	put_percent(f, 8, report_find(rep, SECTION_CGROUP, "stalled_full", labels));
	put_name(f, path);
	if (usage && usage->value.set && usage->reason)
		fprintf(f, "%14s%s\n", "", usage->reason);
}

static bool starts_cgroup(const struct metric *m)
{
	return m->section == SECTION_CGROUP && !strcmp(m->name, "usage");
}

/* What is said of a cgroup stands together: it is looked for there alone. */
static void put_cgroups(FILE *f, const struct report *rep)
{
	fprintf(f, "%-8s %5s %9s %9s %9s %11s %11s %8s %8s\n", "cgroup", "usage", "limit", "swap",
		"swap max", "scanned/s", "refaulted/s", "some", "full");
	for (size_t i = 0; i < rep->nr; i++) {
		struct report one = *rep;

		if (!starts_cgroup(&rep->metrics[i]))
			continue;
		one.metrics = &rep->metrics[i];
		for (one.nr = 1; i + one.nr < rep->nr; one.nr++)
			if (rep->metrics[i + one.nr].section != SECTION_CGROUP ||
			    starts_cgroup(&rep->metrics[i + one.nr]))
				break;
		put_cgroup(f, &one, rep->metrics[i].labels.cgroup);
	}
}

static const struct metric *of_writeback(const struct report *rep, const char *name,
					 struct labels labels)
{
	return report_find(rep, SECTION_WRITEBACK, name, labels);
}

/* The pages of one mapping that have each tag. */
static void put_tags(FILE *f, const struct report *rep, const struct metric *uses)
{
	static const char *const names[] = {"cached", "tagged_dirty", "tagged_towrite",
					    "tagged_writeback"};

	fprintf(f, "%14llu", (unsigned long long)uses->labels.pid.n);
	fprintf(f, " %10s", !uses->value.set ? "-" : uses->value.n ? "yes" : "no");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		put_size(f, 10, rep, of_writeback(rep, names[i], uses->labels));
	put_name(f, uses->labels.vma ?: uses->reason ?: "");
}

static void put_writeback(FILE *f, const struct report *rep)
{
	static const char *const names[] = {"dirty", "writeback", "swap_cache"};
	static const char *const walked[] = {"pages_dirty", "pages_writeback", "pages_swap_cache"};
	const struct labels none = {0};
	const struct metric *walk = of_writeback(rep, "pages_walk", none);
	bool heading = false;

	fprintf(f, "%-14s %10s %10s %10s\n%-14s", "writeback", "dirty", "writeback", "swap cache",
		"counted");
	for (size_t i = 0; i < 3; i++)
		put_size(f, 10, rep, of_writeback(rep, names[i], none));
	fputc('\n', f);
	if (walk && walk->value.set) {
		fprintf(f, "%-14s", "page by page");
		for (size_t i = 0; i < 3; i++)
			put_size(f, 10, rep, of_writeback(rep, walked[i], none));
		fprintf(f, "  in %.3f s\n", (double)walk->value.n / 1e6);
	}
	for (size_t i = 0; i < rep->nr; i++) {
		if (strcmp(rep->metrics[i].name, "uses_tags") != 0)
			continue;
		if (!heading)
			fprintf(f, "%14s %10s %10s %10s %10s %10s\n", "pid", "uses tags", "cached",
				"dirty", "towrite", "writeback");
		heading = true;
		put_tags(f, rep, &rep->metrics[i]);
	}
}

static const struct metric *of_reporting(const struct report *rep, const char *name,
					 struct labels labels)
{
	return report_find(rep, SECTION_REPORTING, name, labels);
}

static const char *in_words(const struct metric *m)
{
	return !m || !m->value.set ? "unknown" : m->value.n ? "yes" : "no";
}

static void put_reporting(FILE *f, const struct report *rep)
{
	const struct labels none = {0};
	const struct metric *balloon = of_reporting(rep, "balloon", none);
	const struct metric *order = of_reporting(rep, "least_order", none);

	fprintf(f, "%-14s ", "reporting");
	if (is_on(balloon))
		fprintf(f, "offered: %s, negotiated: %s, ",
			in_words(of_reporting(rep, "offered", none)),
			in_words(of_reporting(rep, "negotiated", none)));
	else
		fputs(balloon && balloon->value.set ? "no balloon device, "
						    : "balloon device unknown, ",
		      f);
	if (order && order->value.set)
		fprintf(f, "blocks of order %llu and up\n", (unsigned long long)order->value.n);
	else
		fputs("nobody registered\n", f);
	fprintf(f, "%-14s %10s %10s\n", "zone", "free", "reported");
	for (size_t i = 0; i < rep->nr; i++) {
		const struct metric *m = &rep->metrics[i];

		if (m->section != SECTION_REPORTING || strcmp(m->name, "free") != 0)
			continue;
		if (m->labels.zone)
			fprintf(f, "%2llu %-11s", (unsigned long long)m->labels.node.n,
				m->labels.zone);
		else
			fprintf(f, "%-14s", "all");
		put_size(f, 10, rep, m);
		put_size(f, 10, rep, of_reporting(rep, "reported", m->labels));
		fputc('\n', f);
	}
}

static void put_verdict(FILE *f, const struct report *rep)
{
	char text[VERDICT_MAX];
	const char *word = reclaim_verdict(rep, text, sizeof(text));

	if (word)
		fprintf(f, "%s: %s\n", word, text);
}

static bool has_section(const struct report *rep, enum section section)
{
	for (size_t i = 0; i < rep->nr; i++)
		if (rep->metrics[i].section == section)
			return true;
	return false;
}

static void put_block(FILE *f, struct block *b, const struct report *rep)
{
	int decimals = rep->interval_s < 0.1 ? 3 : 1;

	b->nr_past++;
	if (rep->sample > 1)
		fputc('\n', f);
	fprintf(f, "sample %llu", (unsigned long long)rep->sample);
	if (rep->interval_s > 0)
		fprintf(f, ", %.*f s after the start, %.*f s long", decimals, rep->elapsed_s,
			decimals, rep->interval_s);
	fputc('\n', f);
	if (has_section(rep, SECTION_RATES)) {
		put_lines(f, b, rep);
		put_actors(f, rep);
	}
	if (has_section(rep, SECTION_PSI))
		put_pressure(f, rep);
	if (has_section(rep, SECTION_CGROUP))
		put_cgroups(f, rep);
	if (has_section(rep, SECTION_SWAP))
		put_swap(f, rep);
	if (has_section(rep, SECTION_WRITEBACK))
		put_writeback(f, rep);
	if (has_section(rep, SECTION_REPORTING))
		put_reporting(f, rep);
	put_verdict(f, rep);
}

int reclaim_block(struct out *o, struct block *b, const struct report *rep)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);
	int err;

	if (!f)
		return -ENOMEM;
	put_block(f, b, rep);
	err = fclose(f) ? -ENOMEM : out_text(o, text, size);
	free(text);
	return err;
}
