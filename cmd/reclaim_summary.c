// SPDX-License-Identifier: GPL-2.0-only
/* reclaim_summary: the whole run in a few figures. */
#include "reclaim.h"

enum part { PART_DELTA, PART_MIB_S, PART_PERCENT };

static const struct {
	const char *key;
	enum section section;
	const char *name;
	struct labels labels;
	enum part part;
} keys[] = {
	{"swap_out_pages", SECTION_RATES, "swap_out", {0}, PART_DELTA},
	{"swap_out_mib_s", SECTION_RATES, "swap_out", {0}, PART_MIB_S},
	{"swap_in_pages", SECTION_RATES, "swap_in", {0}, PART_DELTA},
	{"swap_in_mib_s", SECTION_RATES, "swap_in", {0}, PART_MIB_S},
	{"scanned_pages", SECTION_RATES, "scanned", {0}, PART_DELTA},
	{"reclaimed_pages", SECTION_RATES, "reclaimed", {0}, PART_DELTA},
	{"efficiency_percent", SECTION_RATES, "efficiency", {0}, PART_PERCENT},
	{"refaulted_pages", SECTION_RATES, "refaulted", {0}, PART_DELTA},
	{"stalls", SECTION_RATES, "stalls", {0}, PART_DELTA},
	{"major_faults", SECTION_RATES, "major_faults", {0}, PART_DELTA},
	{"oom_kills", SECTION_RATES, "oom_kills", {0}, PART_DELTA},
	{"stalled_some_percent", SECTION_PSI, "stalled_some", {0}, PART_PERCENT},
	{"stalled_full_percent", SECTION_PSI, "stalled_full", {0}, PART_PERCENT},
};

static int put_part(struct out *o, const char *key, enum part part, const struct metric *m,
		    uint32_t page_size)
{
	struct figure figure = m->percent;

	if (part == PART_DELTA)
		return out_summary(o, key, PGS_U64, count_val(m->delta));
	if (part == PART_MIB_S)
		figure = metric_mib_s(m, page_size);
	return out_summary(o, key, PGS_F64, figure_val(figure));
}

static int put_verdict(struct out *o, const struct report *whole)
{
	char text[VERDICT_MAX];
	const char *word = reclaim_verdict(whole, text, sizeof(text));
	int err = out_summary(o, "verdict", PGS_STR, pgs_str(word));

	return err ?: out_summary(o, "verdict_text", PGS_STR, word ? pgs_str(text) : PGS_NULL);
}

int reclaim_summary(struct out *o, const struct report *whole)
{
	int err = out_summary(o, "samples", PGS_U64, pgs_u64(whole->sample));

	err = err
		      ?: out_summary(o, "elapsed_s", PGS_F64,
				     whole->interval_s > 0 ? pgs_f64(whole->interval_s) : PGS_NULL);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && !err; i++) {
		const struct metric *m =
			report_find(whole, keys[i].section, keys[i].name, keys[i].labels);

		if (m)
			err = put_part(o, keys[i].key, keys[i].part, m, whole->page_size);
	}
	return err ?: put_verdict(o, whole);
}
