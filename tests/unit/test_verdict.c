// SPDX-License-Identifier: GPL-2.0-only
/* reclaim-report's verdict: each threshold of the man page, on it and just short of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "reclaim.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define FIGURES	      6

/* A metric of an interval of one second: so the rate of a counter is its delta. */
struct known {
	enum section section;
	const char *name;
	const char *actor, *kind;
	uint64_t n; /* its delta; a state's value */
	double percent;
};

/* clang-format off */
#define RATE(figure, count)	{.section = SECTION_RATES, .name = figure, .n = count}
#define BY(who, figure, count)	{.section = SECTION_RATES, .name = figure, .actor = who, .n = count}
#define OF(what, figure, count)	{.section = SECTION_RATES, .name = figure, .kind = what, .n = count}
#define EFFICIENCY(share)	{.section = SECTION_RATES, .name = "efficiency", .percent = share}
#define FULL(share)		{.section = SECTION_PSI, .name = "stalled_full", .percent = share}
#define SOME(share)		{.section = SECTION_PSI, .name = "stalled_some", .percent = share}
#define SWAP(figure, pages)	{.section = SECTION_SWAP, .name = figure, .n = pages}

static const struct {
	const char *verdict, *text; /* the text, or NULL: not looked at */
	struct known known[FIGURES];
} cases[] = {
	{"out of memory", "1 process was killed for want of memory", {RATE("oom_kills", 1)}},
	{"out of memory", "2 processes were killed for want of memory",
	 {RATE("oom_kills", 2), RATE("scanned", 5000), OF("anon", "reclaimed", 256),
	  OF("anon", "refaulted", 256), FULL(50)}},

	{"thrashing", "25 % as many pages as were reclaimed from anon were refaulted; memory full pressure 5 %",
	 {OF("anon", "reclaimed", 256), OF("anon", "refaulted", 64), FULL(5.0), RATE("scanned", 1)}},
	{"thrashing", "200 % as many pages as were reclaimed from file were refaulted; memory full pressure 40 %",
	 {OF("file", "reclaimed", 1000), OF("file", "refaulted", 2000), FULL(40), RATE("scanned", 1)}},
	{"thrashing", "50 % as many pages as were reclaimed were refaulted; memory full pressure 6 %",
	 {RATE("reclaimed", 400), RATE("refaulted", 200), FULL(6), RATE("scanned", 1)}},
	{"reclaim", NULL,
	 {OF("anon", "reclaimed", 255), OF("anon", "refaulted", 255), FULL(50), RATE("scanned", 1)}},
	{"reclaim", NULL,
	 {OF("file", "reclaimed", 100000), OF("file", "refaulted", 24999), FULL(50), RATE("scanned", 1)}},
	{"reclaim", NULL,
	 {OF("anon", "reclaimed", 256), OF("anon", "refaulted", 256), FULL(4.9), RATE("scanned", 1)}},
	/* Those of one kind do not make up for the other. */
	{"reclaim", NULL,
	 {OF("anon", "reclaimed", 256), OF("file", "refaulted", 256), FULL(50), RATE("scanned", 1)}},

	{"swap full", "95 % of the swap space is used: anonymous memory cannot be reclaimed",
	 {SWAP("size", 1000), SWAP("used", 950), RATE("scanned", 0)}},
	{"no reclaim", "nothing was scanned", {SWAP("size", 1000), SWAP("used", 949), RATE("scanned", 0)}},
	{"no reclaim", NULL, {SWAP("size", 0), SWAP("used", 0), RATE("scanned", 0)}},

	{"stalling", "1.0 allocations a second had to reclaim first; memory some pressure 10 %",
	 {RATE("stalls", 1), SOME(10.0), RATE("scanned", 1)}},
	{"reclaim", NULL, {RATE("stalls", 1), SOME(9.9), RATE("scanned", 1)}},
	{"reclaim", NULL, {RATE("stalls", 0), SOME(90), RATE("scanned", 1)}},

	{"cgroup limit", "cgroups at their limits scanned 1000 pages a second, 50 % of all; memory some pressure 10 %",
	 {BY("cgroup", "scanned", 1000), RATE("scanned", 1000), SOME(10.0), EFFICIENCY(90)}},
	{"reclaim", NULL, {BY("cgroup", "scanned", 999), RATE("scanned", 1), SOME(50)}},
	/* From 7.1 on, when it is in direct reclaim's: only where nobody had to for the machine. */
	{"cgroup limit", "cgroups at their limits scanned 1000 pages a second, 50 % of all; memory some pressure 10 %",
	 {BY("direct", "scanned", 1000), RATE("scanned", 2000), RATE("stalls", 0), SOME(10.0), EFFICIENCY(90)}},
	{"reclaim", NULL,
	 {BY("direct", "scanned", 1000), RATE("scanned", 2001), RATE("stalls", 0), SOME(50), EFFICIENCY(90)}},
	{"reclaim", NULL, {BY("direct", "scanned", 2000), RATE("scanned", 2000), SOME(50), EFFICIENCY(90)}},
	/* and not before, where it is known what cgroups did. */
	{"reclaim", NULL,
	 {BY("cgroup", "scanned", 0), BY("direct", "scanned", 2000), RATE("scanned", 2000), RATE("stalls", 0),
	  SOME(50), EFFICIENCY(90)}},
	{"reclaim", NULL, {BY("cgroup", "scanned", 1000), RATE("scanned", 1001), SOME(50), EFFICIENCY(90)}},
	{"reclaim", NULL, {BY("cgroup", "scanned", 1000), RATE("scanned", 1), SOME(9.9)}},

	{"reclaim in vain", "of 1000 pages scanned a second only 29 % were reclaimed",
	 {RATE("scanned", 1000), EFFICIENCY(29.4)}},
	{"reclaim", NULL, {RATE("scanned", 1000), EFFICIENCY(30.0)}},
	{"reclaim", NULL, {RATE("scanned", 999), EFFICIENCY(1)}},

	{"swapping", "1.0 MiB/s out, 0.0 MiB/s in",
	 {RATE("swap_out", 256), RATE("swap_in", 0), RATE("scanned", 1)}},
	{"swapping", "0.0 MiB/s out, 1.0 MiB/s in",
	 {RATE("swap_out", 0), RATE("swap_in", 256), RATE("scanned", 0)}},
	{"reclaim", NULL, {RATE("swap_out", 255), RATE("swap_in", 255), RATE("scanned", 1)}},

	{"reclaim", "12 pages scanned, 7 reclaimed",
	 {RATE("scanned", 10), BY("cgroup", "scanned", 2), RATE("reclaimed", 6), BY("cgroup", "reclaimed", 1)}},
	{"reclaim", NULL, {RATE("scanned", 0), BY("cgroup", "scanned", 1)}},
	{"no reclaim", NULL, {RATE("scanned", 0)}},
	/* Of two that hold, the worse. */
	{"thrashing", NULL,
	 {OF("anon", "reclaimed", 256), OF("anon", "refaulted", 64), FULL(50), SWAP("size", 10), SWAP("used", 10)}},
	{"swap full", NULL, {SWAP("size", 10), SWAP("used", 10), RATE("stalls", 1), SOME(50)}},
	{"stalling", NULL, {RATE("stalls", 1), SOME(50), BY("cgroup", "scanned", 5000)}},
	{"cgroup limit", NULL, {BY("cgroup", "scanned", 5000), RATE("scanned", 1000), SOME(50), EFFICIENCY(1)}},
	{"reclaim in vain", NULL, {RATE("scanned", 1000), EFFICIENCY(1), RATE("swap_out", 1000)}},

	/* What is not known is no verdict. */
	{NULL, "", {SOME(100), FULL(100)}},
};
/* clang-format on */

static void put(struct report *rep, const struct known *known)
{
	const struct labels labels = {.actor = known->actor, .kind = known->kind};
	const struct pgs_count none = {.set = true}, now = {.set = true, .n = known->n};

	if (known->section == SECTION_PSI || !strcmp(known->name, "efficiency"))
		report_percent(rep, known->section, known->name, labels,
			       (struct figure){true, known->percent}, NULL);
	else if (known->section == SECTION_SWAP)
		report_state(rep, known->section, known->name, "pages", labels, now, now, NULL);
	else
		report_counter(rep, known->section, known->name, "pages", labels, none, now, NULL);
}

/* The rates that a report always has, whatever else is known. */
static void put_unknown(struct report *rep)
{
	const struct pgs_count none = {0};
	static const char *const names[] = {"efficiency", "swap_out", "swap_in"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!report_find(rep, SECTION_RATES, names[i], (struct labels){0}))
			report_counter(rep, SECTION_RATES, names[i], "pages", (struct labels){0},
				       none, none, "no such counter");
}

static void test_verdicts(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct report rep = {.interval_s = 1, .page_size = 4096};
		char text[VERDICT_MAX];
		const char *word;

		for (size_t n = 0; n < FIGURES && cases[i].known[n].name; n++)
			put(&rep, &cases[i].known[n]);
		put_unknown(&rep);
		word = reclaim_verdict(&rep, text, sizeof(text));
		report_fini(&rep);
		if (!word || !cases[i].verdict ? word != cases[i].verdict
					       : strcmp(word, cases[i].verdict) != 0)
			fail_msg("case %zu: %s (%s), not %s", i, word ?: "nothing", text,
				 cases[i].verdict ?: "nothing");
		if (cases[i].text)
			assert_string_equal(text, cases[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdicts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
