// SPDX-License-Identifier: GPL-2.0-only
/* reclaim_rows: one row a metric, of every section the same. */
#include "reclaim.h"

#include <string.h>

enum {
	COL_SAMPLE,
	COL_ELAPSED,
	COL_INTERVAL,
	COL_SECTION,
	COL_NAME,
	COL_CGROUP,
	COL_DEVICE,
	COL_ACTOR,
	COL_KIND,
	COL_NODE,
	COL_ZONE,
	COL_ORDER,
	COL_PID,
	COL_START,
	COL_END,
	COL_VMA,
	COL_VALUE,
	COL_UNIT,
	COL_DELTA,
	COL_RATE,
	COL_MIB_S,
	COL_PERCENT,
	COL_REASON,
	NR_COLS
};

/* clang-format off */
const struct pgs_col reclaim_cols[] = {
	[COL_SAMPLE] = {"sample", NULL, PGS_U64, 3, PGS_COL_HIDDEN, "Number of the sample, from 1 on"},
	[COL_ELAPSED] = {"elapsed_s", NULL, PGS_F64, 8, PGS_COL_HIDDEN,
			 "Seconds since the first reading"},
	[COL_INTERVAL] = {"interval_s", NULL, PGS_F64, 8, PGS_COL_HIDDEN,
			  "Seconds that delta and rate are of; null: totals alone"},
	[COL_SECTION] = {"section", NULL, PGS_STR, 7, 0, "The section it belongs to"},
	[COL_NAME] = {"name", NULL, PGS_STR, 18, 0, "What it is"},
	[COL_CGROUP] = {"cgroup", NULL, PGS_BLOB, 1, 0, "Of which cgroup"},
	[COL_DEVICE] = {"device", NULL, PGS_BLOB, 1, 0, "Of which swap area"},
	[COL_ACTOR] = {"actor", NULL, PGS_STR, 1, 0,
		       "By whom: kswapd, direct, khugepaged, proactive, cgroup"},
	[COL_KIND] = {"kind", NULL, PGS_STR, 4, 0, "Of which memory: anon, file"},
	[COL_NODE] = {"node", NULL, PGS_U64, 4, PGS_COL_HIDDEN, "Of which NUMA node"},
	[COL_ZONE] = {"zone", NULL, PGS_STR, 7, PGS_COL_HIDDEN, "Of which zone of it"},
	[COL_ORDER] = {"order", NULL, PGS_U64, 2, PGS_COL_HIDDEN,
		       "Of free blocks of so many pages, as a power of two"},
	[COL_PID] = {"pid", NULL, PGS_U64, 7, PGS_COL_HIDDEN, "Of which process"},
	[COL_START] = {"start", NULL, PGS_ADDR, 14, PGS_COL_HIDDEN, "Of which mapping of it"},
	[COL_END] = {"end", NULL, PGS_ADDR, 14, PGS_COL_HIDDEN, "Where that ends"},
	[COL_VMA] = {"vma", NULL, PGS_BLOB, 1, PGS_COL_HIDDEN, "Its name"},
	[COL_VALUE] = {"value", NULL, PGS_U64, 10, 0, "Its total, or its state now"},
	[COL_UNIT] = {"unit", NULL, PGS_STR, 6, 0, "Of value, delta and, by the second, rate"},
	[COL_DELTA] = {"delta", NULL, PGS_U64, 6, 0, "By how much a total grew in the interval"},
	[COL_RATE] = {"rate", NULL, PGS_F64, 6, 0,
		      "The same by the second; of a state its change, which may be negative"},
	[COL_MIB_S] = {"mib_s", NULL, PGS_F64, 6, 0, "The rate of pages and bytes in MiB"},
	[COL_PERCENT] = {"percent", NULL, PGS_F64, 6, 0, "A share; a ratio of 3:1 is 300"},
	[COL_REASON] = {"reason", NULL, PGS_BLOB, 6, 0, "Why something is null, or what to know of it"},
	[NR_COLS] = {NULL, NULL, PGS_STR, 0, 0, NULL},
};
/* clang-format on */

static struct pgs_val text_of(const char *s)
{
	return s ? pgs_blob(s, strlen(s)) : PGS_NULL;
}

struct pgs_val count_val(struct pgs_count count)
{
	return count.set ? pgs_u64(count.n) : PGS_NULL;
}

struct pgs_val figure_val(struct figure figure)
{
	return figure.set ? pgs_f64(figure.d) : PGS_NULL;
}

struct figure metric_mib_s(const struct metric *m, uint32_t page_size)
{
	struct figure mib = m->rate;

	if (!strcmp(m->unit, "pages"))
		mib.d *= (double)page_size / (1 << 20);
	else if (!strcmp(m->unit, "bytes"))
		mib.d /= 1 << 20;
	else
		mib.set = false;
	return mib;
}

static int put_metric(struct out *o, const struct report *rep, const struct metric *m)
{
	const struct pgs_val vals[NR_COLS] = {
		[COL_SAMPLE] = pgs_u64(rep->sample),
		[COL_ELAPSED] = pgs_f64(rep->elapsed_s),
		[COL_INTERVAL] = rep->interval_s > 0 ? pgs_f64(rep->interval_s) : PGS_NULL,
		[COL_SECTION] = pgs_str(section_names[m->section]),
		[COL_NAME] = pgs_str(m->name),
		[COL_CGROUP] = text_of(m->labels.cgroup),
		[COL_DEVICE] = text_of(m->labels.device),
		[COL_ACTOR] = pgs_str(m->labels.actor),
		[COL_KIND] = pgs_str(m->labels.kind),
		[COL_NODE] = count_val(m->labels.node),
		[COL_ZONE] = pgs_str(m->labels.zone),
		[COL_ORDER] = count_val(m->labels.order),
		[COL_PID] = count_val(m->labels.pid),
		[COL_START] = m->labels.end ? pgs_u64(m->labels.start) : PGS_NULL,
		[COL_END] = m->labels.end ? pgs_u64(m->labels.end) : PGS_NULL,
		[COL_VMA] = text_of(m->labels.vma),
		[COL_VALUE] = count_val(m->value),
		[COL_UNIT] = pgs_str(m->unit),
		[COL_DELTA] = count_val(m->delta),
		[COL_RATE] = figure_val(m->rate),
		[COL_MIB_S] = figure_val(metric_mib_s(m, rep->page_size)),
		[COL_PERCENT] = figure_val(m->percent),
		[COL_REASON] = text_of(m->reason),
	};

	return out_row(o, vals);
}

int reclaim_rows(struct out *o, const struct report *rep)
{
	int err = 0;

	for (size_t i = 0; i < rep->nr && !err; i++)
		err = put_metric(o, rep, &rep->metrics[i]);
	return err;
}
