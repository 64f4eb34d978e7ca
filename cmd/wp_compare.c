// SPDX-License-Identifier: GPL-2.0-only
/* wp --compare: what protecting and the first write after it cost on this machine. */
#include "wp.h"

#include "../src/cleanup.h"
#include "../src/procfs.h"
#include "../src/wpbench.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Small sizes are measured more often: a median over a time that is long against what disturbs. */
#define LEAST_ROUNDS 9
#define MOST_ROUNDS  101
#define ALL_PAGES    (UINT64_C(1) << 20)

/* clang-format off */
enum {
	P_PAGES, P_METHOD, P_ROUNDS, P_PROTECT, P_PROTECT_NS, P_PROTECT_PAGE, P_PROTECT_RATIO,
	P_WRITE, P_WRITE_NS, P_WRITE_RATIO, P_COLS
};

const struct pgs_col wp_compare_cols[] = {
	[P_PAGES]	  = {"pages", NULL, PGS_U64, 8, 0, "pages protected by one request"},
	[P_METHOD]	  = {"method", NULL, PGS_STR, 19, 0, "the request"},
	[P_ROUNDS]	  = {"rounds", NULL, PGS_U64, 6, PGS_COL_HIDDEN, "rounds of which the figures are medians"},
	[P_PROTECT]	  = {"protect_cycles", "PROTECT CYC", PGS_F64, 11, 0, "cycles of the request"},
	[P_PROTECT_NS]	  = {"protect_ns", "NS", PGS_F64, 9, 0, "and nanoseconds"},
	[P_PROTECT_PAGE]  = {"protect_cycles_per_page", "CYC/PAGE", PGS_F64, 8, 0, "cycles of the request a page"},
	[P_PROTECT_RATIO] = {"protect_ratio", "FASTER", PGS_F64, 6, 0, "how many times faster than UFFDIO_WRITEPROTECT"},
	[P_WRITE]	  = {"write_cycles", "WRITE CYC", PGS_F64, 9, 0, "cycles of the first write to a page after it"},
	[P_WRITE_NS]	  = {"write_ns", "NS", PGS_F64, 7, 0, "and nanoseconds"},
	[P_WRITE_RATIO]	  = {"write_ratio", "FASTER", PGS_F64, 6, 0, "how many times faster than after UFFDIO_WRITEPROTECT"},
	[P_COLS]	  = {0},
};
/* clang-format on */

int wp_compare_parse(const char *list, struct wp_opts *o)
{
	const char *word;
	size_t len;

	o->nr_compare = 0;
	while ((word = pgs_list_next(&list, &len))) {
		char number[32] = "";
		uint64_t pages;

		if (o->nr_compare == WP_COMPARE_MAX || len >= sizeof(number))
			return -EINVAL;
		memcpy(number, word, len);
		if (pgs_parse_u64(number, &pages) || !pages)
			return -EINVAL;
		o->compare[o->nr_compare++] = pages;
	}
	return 0;
}

/* A page table of small pages takes memory at once: never more than half of what is free, so that
 * nobody is pushed out for a measurement. */
static bool fits(struct pgs_ctx *ctx, uint64_t pages)
{
	_cleanup_free_ char *text = NULL;
	uint64_t available_kb;

	if (pgs_read_file(ctx, 0, &text, "proc/meminfo") < 0 ||
	    pgs_text_field(text, "MemAvailable", &available_kb) <= 0)
		return true;
	return pages <= available_kb / 2 * 1024 / ctx->page_size;
}

static unsigned int rounds_of(uint64_t pages)
{
	uint64_t rounds = ALL_PAGES / pages;

	if (rounds > MOST_ROUNDS)
		return MOST_ROUNDS;
	return rounds < LEAST_ROUNDS ? LEAST_ROUNDS : (unsigned int)rounds;
}

static struct pgs_val ratio(const struct pgs_wpbench_cost *base, double ours, double theirs)
{
	return base->rounds && ours > 0 ? pgs_f64(theirs / ours) : PGS_NULL;
}

static int emit(struct wp *w, uint64_t pages, enum pgs_wpbench_way way,
		const struct pgs_wpbench_cost *costs)
{
	const struct pgs_wpbench_cost *base = &costs[PGS_WPBENCH_WRITEPROTECT], *c = &costs[way];
	struct pgs_val vals[P_COLS] = {
		[P_PAGES] = pgs_u64(pages),
		[P_METHOD] = pgs_str(pgs_wpbench_way_name(way)),
		[P_ROUNDS] = pgs_u64(c->rounds),
		[P_PROTECT] = pgs_f64(c->protect_cycles),
		[P_PROTECT_NS] = pgs_f64(c->protect_ns),
		[P_PROTECT_PAGE] = pgs_f64(c->protect_cycles / (double)pages),
		[P_PROTECT_RATIO] = ratio(base, c->protect_cycles, base->protect_cycles),
		[P_WRITE] = pgs_f64(c->write_cycles),
		[P_WRITE_NS] = pgs_f64(c->write_ns),
		[P_WRITE_RATIO] = ratio(base, c->write_cycles, base->write_cycles),
	};

	return out_row(w->out, vals);
}

static int compare_one(struct wp *w, uint64_t pages)
{
	struct pgs_wpbench_cost costs[PGS_WPBENCH_WAYS];
	int r = -ENOMEM;

	if (fits(w->ctx, pages))
		r = pgs_wpbench(w->ctx, w->kmod, pages, rounds_of(pages), &cmd_interrupted, costs);
	if (r == -EINTR)
		return 0; /* what there is of this size is not a comparison */
	for (enum pgs_wpbench_way way = 0; way < PGS_WPBENCH_WAYS && !r; way++)
		if (costs[way].rounds)
			r = emit(w, pages, way, costs);
	if (r == -ENOMEM) {
		msg_error("%llu pages do not fit in half of the memory that is available",
			  (unsigned long long)pages);
		out_error(w->out, 0, "not enough memory for all sizes", ENOMEM);
		return 0;
	}
	return r ? r : out_flush(w->out);
}

int wp_compare(struct wp *w)
{
	int r = 0;

	for (size_t i = 0; i < w->opts->nr_compare && !r && !cmd_interrupted; i++)
		r = compare_one(w, w->opts->compare[i]);
	if (!r)
		r = out_summary(w->out, "memory", PGS_STR,
				pgs_str("private, anonymous, small pages, all written before"));
	if (r == -EOPNOTSUPP)
		msg_error("this kernel has no asynchronous write protection, and the module is not "
			  "loaded: there is nothing to compare");
	else if (r && !out_failed(w->out))
		msg_error("cannot measure: %s", strerror(-r));
	return r == -EPIPE ? PGS_EXIT_OK : msg_exit_status(r);
}
