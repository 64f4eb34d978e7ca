// SPDX-License-Identifier: GPL-2.0-only
/* pgscan wp: which pages a process writes. */
#include "wp.h"

#include "../src/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_METHOD = 0x5000, OPT_CLEAR, OPT_HUGETLB, OPT_BY, OPT_HEAT, OPT_COMPARE };

/* The sizes of the measurement that PAGEMAP_SCAN was proposed with (linux-mm, 2023). */
#define COMPARE_DEFAULT "2000,8192,100000,500000"

static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "What to show:", OPT_GROUP_OWN},
	{"method", OPT_METHOD, "auto|uffd|soft-dirty|module", 0,
	 "How to see the writes; auto takes the first that works here of uffd and module", 0},
	{"clear-soft-dirty", OPT_CLEAR, NULL, 0,
	 "Let auto fall back on soft-dirty, which takes its bits from whoever else uses them", 0},
	{"hugetlb", OPT_HUGETLB, NULL, 0,
	 "Track huge pages of hugetlbfs too, by uffd; kernels before mid-2026 may hang, with the "
	 "process",
	 0},
	{"interval", 'i', "SEC", 0, "Time between samples, 1 by default; fractions are allowed", 0},
	{"count", 'c', "N", 0, "How many samples; without it until interrupted", 0},
	{"by", OPT_BY, "total|vma|run|page", 0,
	 "A row for each sample (the default), or for each mapping, run of pages, or page that was "
	 "written",
	 0},
	{"heat", OPT_HEAT, NULL, 0,
	 "A row for each sample that shows where in the memory was written, and how densely; in "
	 "other "
	 "formats than a table, a row for each cell of it",
	 0},
	{"compare", OPT_COMPARE, "N,...", OPTION_ARG_OPTIONAL,
	 "Measure on this machine what write protection of so many pages costs, and the first "
	 "write "
	 "after it, by each way there is; without a process",
	 0},
	{0},
};

static const struct argp_child children[] = {
	{&opt_process_argp, 0, NULL, 0},
	{&opt_output_argp, 0, NULL, 0},
	{0},
};

static enum pgs_track_method parse_method(const char *word, struct argp_state *state)
{
	const char *words[PGS_TRACK_METHODS + 1] = {NULL};

	for (enum pgs_track_method m = PGS_TRACK_AUTO; m < PGS_TRACK_METHODS; m++)
		words[m] = pgs_track_method_name(m);
	return opt_choice(word, words, state);
}

static enum wp_by parse_by(const char *word, struct argp_state *state)
{
	static const char *const words[] = {
		[WP_TOTAL] = "total", [WP_VMA] = "vma", [WP_RUN] = "run", [WP_PAGE] = "page", NULL};

	return opt_choice(word, words, state);
}

static void check_opts(const struct wp_opts *o, struct argp_state *state)
{
	if (o->target.nr_pids > 1)
		argp_error(state, "one process at a time: name a PID");
	if (o->heat && o->by != WP_TOTAL)
		argp_error(state, "--heat is a view of its own: no --by");
	if (o->nr_compare && (o->target.nr_pids || o->command))
		argp_error(state, "--compare measures on memory of its own: no process");
	if (o->command && !*o->command)
		argp_error(state, "no command behind '--'");
	if (!o->nr_compare && !o->target.nr_pids == !o->command)
		argp_error(state, "name one process, or a command behind '--'");
}

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct wp_opts *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->target;
		state->child_inputs[1] = &o->output;
		return 0;
	case OPT_METHOD:
		o->method = parse_method(arg, state);
		return 0;
	case OPT_CLEAR:
		o->clear_soft_dirty = true;
		return 0;
	case OPT_HUGETLB:
		o->hugetlb = true;
		return 0;
	case 'i':
		if (pgs_parse_seconds(arg, &o->interval_ns))
			argp_error(state, "'%s' is not a time in seconds", arg);
		return 0;
	case 'c':
		if (pgs_parse_u64(arg, &o->count) || !o->count)
			argp_error(state, "'%s' is not a number of samples", arg);
		return 0;
	case OPT_BY:
		o->by = parse_by(arg, state);
		return 0;
	case OPT_HEAT:
		o->heat = true;
		return 0;
	case OPT_COMPARE:
		if (wp_compare_parse(arg ?: COMPARE_DEFAULT, o))
			argp_error(state, "'%s' is not a list of up to %u numbers of pages", arg,
				   WP_COMPARE_MAX);
		return 0;
	case ARGP_KEY_END:
		check_opts(o, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	.options = options,
	.parser = parse_opt,
	.args_doc = "PID\n-- COMMAND [ARG...]\n--compare[=N,...]",
	.doc = "Show which pages a process writes, without touching it.",
	.children = children,
};

static const struct pgs_col *choose_table(const struct wp_opts *o, const struct pgs_col *cols)
{
	if (o->nr_compare)
		return wp_compare_cols;
	return o->heat ? wp_heat_cols : cols;
}

static int print_wp(struct wp *w)
{
	const struct out_head head = {
		.command = "wp", .page_size = w->ctx->page_size, .module = w->kmod};
	_cleanup_free_ struct pgs_col *cols = wp_columns(w->opts->by);
	int r;

	w->distinct = pgs_pageset_new();
	if (!cols || !w->distinct || out_open(&w->out, stdout, &head, &w->opts->output.out)) {
		msg_error("out of memory");
		return PGS_EXIT_FAILED;
	}
	if (out_table(w->out, choose_table(w->opts, cols)))
		r = PGS_EXIT_USAGE;
	else
		r = w->opts->nr_compare ? wp_compare(w) : wp_run(w);
	r = out_finish(&w->out, r);
	/* What the command says goes before what there is to say of its tracking. */
	return w->command_status ? w->command_status : r;
}

static int run_wp(struct wp *w)
{
	int r = target_ctx(&w->opts->target, &w->ctx);

	if (!r && !w->ctx->live) {
		msg_error("a captured tree writes nothing: wp needs the running kernel");
		r = PGS_EXIT_UNSUPPORTED;
	}
	if (!r)
		r = target_kmod(w->ctx, &w->opts->target, &w->kmod);
	if (!r)
		r = target_check_kcore(w->ctx, &w->opts->target);
	if (!r)
		r = print_wp(w);
	pgs_track_close(w->track);
	wp_heat_free(w->heat);
	pgs_pageset_free(w->distinct);
	pgs_kmod_close(w->kmod);
	pgs_ctx_close(w->ctx);
	return r;
}

static int run(int argc, char **argv)
{
	struct wp_opts opts = {.output.cmd = &cmd_wp, .interval_ns = 1000000000u};
	struct wp w = {.opts = &opts};
	int r;

	opts.command = cmd_split_command(&argc, argv);
	r = cmd_parse(&cmd_wp, argc, argv, &opts);
	if (!r) {
		w.pid = opts.target.nr_pids ? opts.target.pids[0] : 0;
		r = run_wp(&w);
	}
	opt_target_fini(&opts.target);
	return r;
}

static const struct pgs_col *const tables[] = {wp_cols, wp_heat_cols, wp_compare_cols, NULL};

const struct pgs_cmd cmd_wp = {
	.name = "wp",
	.summary = "what was written: which pages, when, how many",
	.argp = &argp,
	.tables = tables,
	.formats = PGS_FMTS_ROWS,
	.run = run,
};
