// SPDX-License-Identifier: GPL-2.0-only
/* pgscan dump: the page map of processes, of physical memory, of a file. */
#include "dump.h"

#include "../src/cleanup.h"
#include "../src/procfs.h"

#include <errno.h>
#include <string.h>

enum { OPT_BY = 0x4000, OPT_FLAGS, OPT_WHERE, OPT_BATCH, OPT_DECODE, OPT_PFN, OPT_FILE };

static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "What to show:", OPT_GROUP_OWN},
	{"by", OPT_BY, "run|vma|page|flags", 0,
	 "The view: runs of equal pages (the default), "
	 "mappings, single pages, or a histogram of frame flags",
	 0},
	{"flags", OPT_FLAGS, NULL, 0, "Add what the kernel knows of each frame", 0},
	{"where", OPT_WHERE, "EXPR", 0,
	 "Only pages that match: names, ! for not, a comma for and, | for or", 0},
	{"batch", OPT_BATCH, "N", 0, "Page map entries a read", 0},
	{"decode", OPT_DECODE, "ENTRY", 0, "Explain a raw page map entry; repeatable", 0},
	{"pfn", OPT_PFN, "RANGE", OPTION_ARG_OPTIONAL, "Walk physical memory, without a process",
	 0},
	{"file", OPT_FILE, "FILE", 0, "The pages of a file; reads nothing in", 0},
	{0},
};

static const struct argp_child children[] = {
	{&opt_target_argp, 0, NULL, 0},
	{&opt_sort_argp, 0, NULL, 0},
	{&opt_output_argp, 0, NULL, 0},
	{0},
};

static enum dump_by parse_by(const char *word, struct argp_state *state)
{
	static const char *const words[] = {[DUMP_RUN] = "run",
					    [DUMP_VMA] = "vma",
					    [DUMP_PAGE] = "page",
					    [DUMP_FLAGS] = "flags",
					    NULL};

	return opt_choice(word, words, state);
}

static uint32_t parse_batch(const char *word, struct argp_state *state)
{
	uint64_t value;

	if (pgs_parse_u64(word, &value) || !value || value > PGS_PAGEMAP_BATCH)
		argp_error(state, "'%s' is not a number of entries from 1 to %u", word,
			   PGS_PAGEMAP_BATCH);
	return (uint32_t)value;
}

static error_t add_entry(struct dump_opts *o, const char *word, struct argp_state *state)
{
	uint64_t *more = reallocarray(o->entries, o->nr_entries + 1, sizeof(*more));

	if (!more)
		return ENOMEM;
	o->entries = more;
	if (pgs_parse_u64(word, &more[o->nr_entries++]))
		argp_error(state, "'%s' is not an entry: 64 bits, as in 0x86000000000004d2", word);
	return 0;
}

static void check_opts(const struct dump_opts *o, struct argp_state *state)
{
	bool is_words = o->output.out.fmt == PGS_FMT_HEX || o->output.out.fmt == PGS_FMT_RAW;
	int ways = !!o->nr_entries + o->pfn + !!o->file + opt_target_is_given(&o->target);

	if (!ways)
		argp_error(state, "no process given: name PIDs, a cgroup with -g, or all with -a");
	if (ways > 1)
		argp_error(state, "processes, --pfn, --file and --decode exclude each other");
	if (is_words && (o->pfn || o->file || o->nr_entries))
		argp_error(state, "--format=hex and raw print the page map of processes");
	if (is_words && (o->flags || o->where || o->by == DUMP_VMA || o->by == DUMP_FLAGS))
		argp_error(state, "--format=hex and raw print every entry: no --by=vma, "
				  "--by=flags, --flags, --where");
	if (is_words && o->target.nr_ranges && o->target.nr_vma_patterns)
		argp_error(state, "--format=hex and raw take --range or --vma, not both: what of a "
				  "range does not match has no entry to print");
	if ((o->output.sort || o->output.top) && (o->by == DUMP_RUN || o->by == DUMP_PAGE))
		argp_error(state,
			   "--sort and --top are for --by=vma and --by=flags: runs and pages are "
			   "printed as they are found, in address order");
	if ((o->file || o->nr_entries) && (o->flags || o->where || o->by != DUMP_RUN))
		argp_error(state, "--file and --decode have one view: no --by, --flags, --where");
	if (o->pfn && o->by == DUMP_VMA)
		argp_error(state, "--pfn has no mappings: --by=run, page or flags");
	if (o->pfn && (o->target.nr_ranges || o->target.nr_vma_patterns))
		argp_error(state, "--pfn takes its own range: --pfn=START-END");
}

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct dump_opts *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->target;
		state->child_inputs[1] = state->child_inputs[2] = &o->output;
		return 0;
	case OPT_BY:
		o->by = parse_by(arg, state);
		return 0;
	case OPT_FLAGS:
		o->flags = true;
		return 0;
	case OPT_WHERE:
		if (o->where)
			argp_error(state, "one --where at a time: 'a,b' is both, 'a|b' either");
		o->where = arg;
		return 0;
	case OPT_BATCH:
		o->batch = parse_batch(arg, state);
		return 0;
	case OPT_DECODE:
		return add_entry(o, arg, state);
	case OPT_PFN:
		if (o->pfn)
			argp_error(state, "one --pfn at a time");
		o->pfn = true;
		if (arg && pgs_parse_range(arg, 1, &o->frames))
			argp_error(state,
				   "'%s' is not a range of frames: START-END or START+NUMBER", arg);
		return 0;
	case OPT_FILE:
		if (o->file)
			argp_error(state, "one --file at a time");
		o->file = arg;
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
	.args_doc = "PID...",
	.doc = "Show where each page of a process is.",
	.children = children,
};

static int parse_where(struct dump *d)
{
	_cleanup_free_ char *bad = NULL;
	int r;

	if (!d->opts->where)
		return PGS_EXIT_OK;
	r = dump_where_parse(d->opts->where, &d->where, &bad);
	if (r == -EINVAL)
		return msg_usage("--where: '%s' is no state, attribute or frame flag", bad);
	if (r) {
		msg_error("out of memory");
		return PGS_EXIT_FAILED;
	}
	return PGS_EXIT_OK;
}

static const struct pgs_col *choose_table(const struct dump_opts *o, struct pgs_col *run_cols)
{
	if (o->nr_entries)
		return dump_decode_cols;
	if (o->file)
		return dump_file_cols;
	if (o->by == DUMP_FLAGS)
		return dump_flags_cols;
	if (o->pfn)
		return dump_frame_cols;
	return o->by == DUMP_VMA ? dump_vma_cols : run_cols;
}

/* Open what is asked before anything is printed, so that a refusal prints nothing else. */
static int prepare(struct dump *d)
{
	int r = target_env(d->ctx, &d->opts->target, &d->env);

	if (r)
		return r;
	r = pgs_swap_areas_read(d->ctx, &d->swaps);
	if (!r || r == -ENOENT) /* only their names come from there */
		return parse_where(d);
	msg_error("%s", pgs_ctx_error(d->ctx));
	return msg_exit_status(r);
}

static int run_view(struct dump *d)
{
	if (d->opts->nr_entries)
		return dump_decode(d);
	if (d->opts->file)
		return dump_file(d);
	return d->opts->pfn ? dump_physical(d) : dump_processes(d);
}

static int print_dump(struct dump *d, const struct out_head *head)
{
	_cleanup_free_ struct pgs_col *run_cols = dump_columns(d->opts);
	int r;

	if (!run_cols || out_open(&d->out, stdout, head, &d->opts->output.out)) {
		msg_error("out of memory");
		return PGS_EXIT_FAILED;
	}
	r = out_table(d->out, choose_table(d->opts, run_cols));
	if (!r && (d->opts->output.sort || d->opts->output.top))
		r = out_sort(d->out, d->opts->output.sort, d->opts->output.top);
	r = r ? PGS_EXIT_USAGE : run_view(d);
	progress_free(d->progress);
	return out_finish(&d->out, r);
}

static int run_dump(struct dump *d)
{
	_cleanup_free_ char *kernel = NULL;
	struct out_head head = {.command = "dump"};
	int r = target_ctx(&d->opts->target, &d->ctx);

	if (!r)
		r = prepare(d);
	if (!r) {
		head.kernel = kernel = target_release(d->ctx);
		head.page_size = d->ctx->page_size;
		head.module = d->env.kmod;
		r = print_dump(d, &head);
	}
	dump_frames_close(d);
	dump_where_free(d->where);
	pgs_swap_areas_fini(&d->swaps);
	free(d->hist);
	free(d->slots);
	target_env_fini(&d->env);
	pgs_ctx_close(d->ctx);
	return r;
}

static int run(int argc, char **argv)
{
	struct dump_opts opts = {.output.cmd = &cmd_dump};
	struct dump d = {.opts = &opts};
	int r = cmd_parse(&cmd_dump, argc, argv, &opts);

	if (!r)
		r = run_dump(&d);
	free(opts.entries);
	opt_target_fini(&opts.target);
	return r;
}

static const struct pgs_col *const tables[] = {
	dump_run_cols,	  dump_vma_cols, dump_flags_cols, dump_frame_cols, dump_file_cols,
	dump_decode_cols, NULL,
};

const struct pgs_cmd cmd_dump = {
	.name = "dump",
	.summary = "the page map: where each page is",
	.argp = &argp,
	.tables = tables,
	.formats = PGS_FMTS_ROWS | PGS_FMT_BIT(PGS_FMT_HEX) | PGS_FMT_BIT(PGS_FMT_RAW),
	.run = run,
};
