// SPDX-License-Identifier: GPL-2.0-only
/* pgscan wp: which pages a process writes. */
#include "wp.h"

#include "../src/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_METHOD = 0x5000, OPT_CLEAR, OPT_BY, OPT_HEAT };

static const struct argp_option options[] = {
	{"method", OPT_METHOD, "auto|uffd|soft-dirty|module", 0,
	 "How to see the writes; auto takes the first that works here of uffd and module", 0},
	{"clear-soft-dirty", OPT_CLEAR, NULL, 0,
	 "Let auto fall back on soft-dirty, which takes its bits from whoever else uses them", 0},
	{"interval", 'i', "SEC", 0, "Time between samples, 1 by default; fractions are allowed", 0},
	{"count", 'c', "N", 0, "How many samples; without it until interrupted", 0},
	{"by", OPT_BY, "total|vma|run|page", 0,
	 "A row for each sample (the default), or for each mapping, run of pages, or page that was "
	 "written",
	 0},
	{0},
};

static const struct argp_child children[] = {
	{&opt_target_argp, 0, NULL, 0},
	{&opt_output_argp, 0, NULL, 0},
	{0},
};

static enum pgs_track_method parse_method(const char *word, struct argp_state *state)
{
	for (enum pgs_track_method m = PGS_TRACK_AUTO; m < PGS_TRACK_METHODS; m++)
		if (!strcmp(word, pgs_track_method_name(m)))
			return m;
	argp_error(state, "'%s' is not one of auto, uffd, soft-dirty, module", word);
	return PGS_TRACK_AUTO;
}

static enum wp_by parse_by(const char *word, struct argp_state *state)
{
	static const char *const words[] = {
		[WP_TOTAL] = "total", [WP_VMA] = "vma", [WP_RUN] = "run", [WP_PAGE] = "page"};

	for (enum wp_by by = WP_TOTAL; by <= WP_PAGE; by++)
		if (!strcmp(word, words[by]))
			return by;
	argp_error(state, "'%s' is not one of total, vma, run, page", word);
	return WP_TOTAL;
}

static void check_opts(const struct wp_opts *o, struct argp_state *state)
{
	if (o->target.cgroup || o->target.system || o->target.nr_pids > 1)
		argp_error(state, "one process at a time: name a PID");
	if (!o->target.nr_pids == !o->command)
		argp_error(state, "name one process, or a command behind '--'");
}

/* All that is behind "--"; what is before it are PIDs, for opt_target to parse. */
static error_t take_command(struct wp_opts *o, struct argp_state *state)
{
	if (!state->quoted || state->next - 1 < state->quoted)
		return ARGP_ERR_UNKNOWN;
	o->command = &state->argv[state->next - 1];
	state->next = state->argc;
	return 0;
}

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct wp_opts *o = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		return take_command(o, state);
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
	case ARGP_KEY_END:
		check_opts(o, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	.options = options,
	.parser = parse_opt,
	.args_doc = "PID\n-- COMMAND [ARG...]",
	.doc = "Show which pages a process writes, without touching it.",
	.children = children,
};

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
	r = out_table(w->out, cols) ? PGS_EXIT_USAGE : wp_run(w);
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
		r = print_wp(w);
	pgs_track_close(w->track);
	pgs_pageset_free(w->distinct);
	pgs_kmod_close(w->kmod);
	pgs_ctx_close(w->ctx);
	return r;
}

static int run(int argc, char **argv)
{
	struct wp_opts opts = {.output.cmd = &cmd_wp, .interval_ns = 1000000000u};
	struct wp w = {.opts = &opts};
	int r = cmd_parse(&cmd_wp, argc, argv, &opts);

	if (!r) {
		w.pid = opts.command ? 0 : opts.target.pids[0];
		r = run_wp(&w);
	}
	opt_target_fini(&opts.target);
	return r;
}

static const struct pgs_col *const tables[] = {wp_cols, NULL};

const struct pgs_cmd cmd_wp = {
	.name = "wp",
	.summary = "what was written: which pages, when, how many",
	.argp = &argp,
	.tables = tables,
	.formats = PGS_FMTS_ROWS,
	.run = run,
};
