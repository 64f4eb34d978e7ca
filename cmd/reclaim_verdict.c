// SPDX-License-Identifier: GPL-2.0-only
/*
 * reclaim_verdict: the main cause in plain words, with the figures that say so.
 *
 * The rules are tried in order, the worst first, and the first that holds is the verdict. Each
 * threshold stands in pgscan-reclaim-report(1), "VERDICT". A figure that is not known never makes
 * a rule hold.
 */
#include "reclaim.h"

#define REFAULT_PERCENT	  25.0 /* of the pages reclaimed that come back */
#define REFAULT_LEAST	  256  /* pages reclaimed; of fewer a share says nothing */
#define FULL_PERCENT	  5.0  /* of the interval in which nobody could run */
#define SOME_PERCENT	  10.0 /* of the interval in which somebody waited */
#define SWAP_FULL_PERCENT 95.0
#define VAIN_PERCENT	  30.0 /* efficiency */
#define VAIN_PAGES_S	  1000.0
#define SWAPPING_PAGES_S  256.0

#define RATES(name, ...)  report_find(rep, SECTION_RATES, name, (struct labels){__VA_ARGS__})
#define PSI(name)	  report_find(rep, SECTION_PSI, name, (struct labels){0})
#define SWAP(name)	  report_find(rep, SECTION_SWAP, name, (struct labels){0})

static uint64_t delta_of(const struct metric *m)
{
	return m && m->delta.set ? m->delta.n : 0;
}

static double rate_of(const struct metric *m)
{
	return m && m->rate.set ? m->rate.d : 0;
}

static double percent_of(const struct metric *m)
{
	return m && m->percent.set ? m->percent.d : 0;
}

static bool rule_oom(const struct report *rep, FILE *f)
{
	uint64_t kills = delta_of(RATES("oom_kills"));

	if (!kills)
		return false;
	fprintf(f, "%llu process%s killed for want of memory", (unsigned long long)kills,
		kills == 1 ? " was" : "es were");
	return true;
}

/* @kind NULL: a kernel that does not tell them apart; its reclaim is all that there is. */
static bool is_thrashing(const struct report *rep, const char *kind, FILE *f)
{
	uint64_t reclaimed = delta_of(RATES("reclaimed", .kind = kind));
	uint64_t refaulted = delta_of(RATES("refaulted", .kind = kind));
	const struct metric *full = PSI("stalled_full");

	if (reclaimed < REFAULT_LEAST ||
	    (double)refaulted * 100 < REFAULT_PERCENT * (double)reclaimed ||
	    percent_of(full) < FULL_PERCENT)
		return false;
	fprintf(f,
		"%.0f %% as many pages as were reclaimed%s%s were refaulted; memory full pressure "
		"%.0f %%",
		(double)refaulted * 100 / (double)reclaimed, kind ? " from " : "", kind ?: "",
		percent_of(full));
	return true;
}

static bool rule_thrashing(const struct report *rep, FILE *f)
{
	return is_thrashing(rep, "anon", f) || is_thrashing(rep, "file", f) ||
	       is_thrashing(rep, NULL, f);
}

static bool rule_swap_full(const struct report *rep, FILE *f)
{
	const struct metric *size = SWAP("size"), *used = SWAP("used");
	double percent;

	if (!size || !used || !size->value.n || !used->value.set)
		return false;
	percent = 100 * (double)used->value.n / (double)size->value.n;
	if (percent < SWAP_FULL_PERCENT)
		return false;
	fprintf(f, "%.0f %% of the swap space is used: anonymous memory cannot be reclaimed",
		percent);
	return true;
}

static bool rule_stalling(const struct report *rep, FILE *f)
{
	uint64_t stalls = delta_of(RATES("stalls"));
	double waited = percent_of(PSI("stalled_some"));

	if (!stalls || waited < SOME_PERCENT)
		return false;
	fprintf(f, "%.1f allocations a second had to reclaim first; memory some pressure %.0f %%",
		rate_of(RATES("stalls")), waited);
	return true;
}

/*
 * Where the kernel counts reclaim for cgroups with the rest (7.1), direct reclaim is theirs if no
 * allocation had to reclaim: that is still counted of the machine alone (do_try_to_free_pages()).
 */
static double scanned_for_cgroups(const struct report *rep, bool *ret_apart)
{
	const struct metric *own = RATES("scanned", .actor = "cgroup"), *stalls = RATES("stalls");

	*ret_apart = own && own->value.set;
	if (*ret_apart)
		return rate_of(own);
	return stalls && stalls->delta.set && !stalls->delta.n
		       ? rate_of(RATES("scanned", .actor = "direct"))
		       : 0;
}

/* Reclaim for the limits of cgroups, where the machine itself had less to do. */
static bool rule_limit(const struct report *rep, FILE *f)
{
	bool apart;
	double own = scanned_for_cgroups(rep, &apart);
	double all = rate_of(RATES("scanned")) + (apart ? own : 0);
	double waited = percent_of(PSI("stalled_some"));

	if (own < VAIN_PAGES_S || own < all / 2 || waited < SOME_PERCENT)
		return false;
	fprintf(f,
		"cgroups at their limits scanned %.0f pages a second, %.0f %% of all; memory some "
		"pressure %.0f %%",
		own, 100 * own / all, waited);
	return true;
}

static bool rule_vain(const struct report *rep, FILE *f)
{
	const struct metric *efficiency = RATES("efficiency");
	double scanned = rate_of(RATES("scanned"));

	if (scanned < VAIN_PAGES_S || !efficiency->percent.set ||
	    efficiency->percent.d >= VAIN_PERCENT)
		return false;
	fprintf(f, "of %.0f pages scanned a second only %.0f %% were reclaimed", scanned,
		efficiency->percent.d);
	return true;
}

static bool rule_swapping(const struct report *rep, FILE *f)
{
	const struct metric *out = RATES("swap_out"), *in = RATES("swap_in");

	if (rate_of(out) < SWAPPING_PAGES_S && rate_of(in) < SWAPPING_PAGES_S)
		return false;
	fprintf(f, "%.1f MiB/s out, %.1f MiB/s in", metric_mib_s(out, rep->page_size).d,
		metric_mib_s(in, rep->page_size).d);
	return true;
}

static bool rule_background(const struct report *rep, FILE *f)
{
	uint64_t own = delta_of(RATES("scanned", .actor = "cgroup"));
	uint64_t actors = delta_of(RATES("scanned"));

	if (!own && !actors)
		return false;
	fprintf(f, "%llu pages scanned, %llu reclaimed", (unsigned long long)(own + actors),
		(unsigned long long)(delta_of(RATES("reclaimed")) +
				     delta_of(RATES("reclaimed", .actor = "cgroup"))));
	return true;
}

static bool rule_idle(const struct report *rep, FILE *f)
{
	const struct metric *scanned = RATES("scanned");

	if (!scanned || !scanned->delta.set)
		return false;
	fprintf(f, "nothing was scanned");
	return true;
}

static const struct {
	const char *word;
	bool (*holds)(const struct report *rep, FILE *f);
} rules[] = {
	{"out of memory", rule_oom}, {"thrashing", rule_thrashing}, {"swap full", rule_swap_full},
	{"stalling", rule_stalling}, {"cgroup limit", rule_limit},  {"reclaim in vain", rule_vain},
	{"swapping", rule_swapping}, {"reclaim", rule_background},  {"no reclaim", rule_idle},
};

const char *reclaim_verdict(const struct report *rep, char *text, size_t size)
{
	FILE *f = fmemopen(text, size, "w");
	const char *word = NULL;

	text[0] = '\0';
	if (!f)
		return NULL;
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]) && !word; i++)
		if (rules[i].holds(rep, f))
			word = rules[i].word;
	fclose(f);
	return word;
}
