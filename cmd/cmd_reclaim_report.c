// SPDX-License-Identifier: GPL-2.0-only
/* pgscan reclaim-report: what reclaim is doing, once, in intervals, or around a command. */
#include "output_file.h"
#include "reclaim.h"
#include "signals.h"
#include "targets.h"

#include "../src/cleanup.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	OPT_SECTION = 0x4000,
	OPT_RECURSIVE,
	OPT_LIMIT,
	OPT_SWAP_LIMIT,
	OPT_SWAPPINESS,
	OPT_OUTPUT_FILE,
};

static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "What to show:", OPT_GROUP_OWN},
	{"interval", 'i', "SEC", 0, "Seconds of a sample (1)", 0},
	{"count", 'c', "N", 0, "Samples (with --interval endless, otherwise 1)", 0},
	{"section", OPT_SECTION, "rates|psi|cgroup|swap|writeback|reporting", 0,
	 "Only these sections, with commas", 0},
	{"cgroup", 'g', "CGROUP", 0, "Report on this cgroup too; repeatable", 0},
	{"recursive", OPT_RECURSIVE, NULL, 0, "Report on each cgroup below it too", 0},
	{"sort", 's', "usage|swap|scanned|stalled", 0, "Order the cgroups, from the largest down",
	 0},
	{"top", 'n', "N", 0, "Only the first N cgroups", 0},
	{"output-file", OPT_OUTPUT_FILE, "FILE", 0,
	 "Write there, whole or not at all, and not to standard output", 0},
	{NULL, 0, NULL, 0, "Around a command:", OPT_GROUP_COMMAND},
	{"limit", OPT_LIMIT, "SIZE", 0, "Memory it may have", OPT_GROUP_COMMAND},
	{"swap-limit", OPT_SWAP_LIMIT, "SIZE", 0, "Swap it may have beside it", OPT_GROUP_COMMAND},
	{"swappiness", OPT_SWAPPINESS, "N", 0, "Swappiness of its cgroup, 0 to 200",
	 OPT_GROUP_COMMAND},
	{0},
};

static const struct argp_child children[] = {
	{&opt_source_argp, 0, NULL, 0},
	{&opt_output_argp, 0, NULL, 0},
	{0},
};

static unsigned int parse_sections(const char *list, struct argp_state *state)
{
	unsigned int mask = 0;
	const char *word;
	size_t len;

	while ((word = pgs_list_next(&list, &len))) {
		char name[64];

		snprintf(name, sizeof(name), "%.*s", (int)len, word);
		mask |= SECTION_BIT(opt_choice(name, section_names, state));
	}
	return mask;
}

static enum cgroup_key parse_key(const char *word, struct argp_state *state)
{
	static const char *const words[] = {[CGROUP_KEY_USAGE - 1] = "usage",
					    [CGROUP_KEY_SWAP - 1] = "swap",
					    [CGROUP_KEY_SCANNED - 1] = "scanned",
					    [CGROUP_KEY_STALLED - 1] = "stalled",
					    NULL};

	return opt_choice(word, words, state) + 1;
}

static uint64_t parse_number(const char *what, const char *word, struct argp_state *state)
{
	uint64_t n = 0;

	if (pgs_parse_u64(word, &n) || !n)
		argp_error(state, "'%s' is not a number of %s", word, what);
	return n;
}

static error_t add_cgroup(struct reclaim_opts *o, const char *word)
{
	const char **more = reallocarray(o->cgroups, o->nr_cgroups + 1, sizeof(*more));

	if (!more)
		return ENOMEM;
	o->cgroups = more;
	more[o->nr_cgroups++] = word;
	return 0;
}

static struct pgs_count parse_size(const char *word, struct argp_state *state)
{
	struct pgs_count size = {.set = true};

	if (pgs_parse_size(word, &size.n))
		argp_error(state, "'%s' is not a size: bytes, or with K, M, G or T as in 1.5G",
			   word);
	return size;
}

static struct pgs_count parse_swappiness(const char *word, struct argp_state *state)
{
	struct pgs_count value = {.set = true};

	if (pgs_parse_u64(word, &value.n) || value.n > 200)
		argp_error(state, "'%s' is not a swappiness from 0 to 200", word);
	return value;
}

static error_t add_pid(struct reclaim_opts *o, const char *word, struct argp_state *state)
{
	pid_t *more = reallocarray(o->pids, o->nr_pids + 1, sizeof(*more));

	if (!more)
		return ENOMEM;
	o->pids = more;
	if (pgs_parse_pid(word, &more[o->nr_pids]))
		argp_error(state, "'%s' is not a process id; a command stands behind '--'", word);
	o->nr_pids++;
	return 0;
}

static void check_command(const struct reclaim_opts *o, struct argp_state *state)
{
	bool limits = o->limit.set || o->swap_limit.set || o->swappiness.set;

	if (o->command && !*o->command)
		argp_error(state, "no command behind '--'");
	if (limits && !o->command)
		argp_error(state, "--limit, --swap-limit and --swappiness are for a command: "
				  "-- COMMAND");
	if (o->command && o->count)
		argp_error(state, "--count does not go with a command, which ends by itself");
	if (o->command && o->source.root)
		argp_error(state, "--root does not go with a command");
}

static void check_exposition(const struct reclaim_opts *o, struct argp_state *state)
{
	if (o->output.out.fmt != PGS_FMT_OPENMETRICS)
		return;
	if (o->command)
		argp_error(state, "--format=openmetrics does not go with a command");
	if ((o->interval_ns || o->count > 1) && !o->output_file)
		argp_error(state, "several samples of --format=openmetrics need an --output-file");
}

/* What was not said: everything, but no cgroup unless one is named; and then all of them. */
static void complete_opts(struct reclaim_opts *o, struct argp_state *state)
{
	bool wants_cgroups = o->nr_cgroups || o->recursive || o->key || o->top || o->command;

	o->named = o->sections;
	if (!o->sections) {
		o->sections = (1u << NR_SECTIONS) - 1;
		if (!wants_cgroups)
			o->sections &= ~SECTION_BIT(SECTION_CGROUP);
	}
	if (o->command)
		o->sections |= SECTION_BIT(SECTION_CGROUP);
	if (o->nr_pids)
		o->sections |= SECTION_BIT(SECTION_WRITEBACK);
	if (wants_cgroups && !(o->sections & SECTION_BIT(SECTION_CGROUP)))
		argp_error(state,
			   "--cgroup, --recursive, --sort and --top need the section cgroup");
	if (o->top && !o->key)
		o->key = CGROUP_KEY_USAGE;
	if (!o->count && !o->interval_ns)
		o->count = 1;
}

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct reclaim_opts *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->source;
		state->child_inputs[1] = &o->output;
		return 0;
	case 'i':
		if (pgs_parse_seconds(arg, &o->interval_ns))
			argp_error(state, "'%s' is not a number of seconds", arg);
		return 0;
	case 'c':
		o->count = parse_number("samples", arg, state);
		return 0;
	case OPT_SECTION:
		o->sections |= parse_sections(arg, state);
		return 0;
	case 'g':
		return add_cgroup(o, opt_cgroup(arg, state));
	case OPT_RECURSIVE:
		o->recursive = true;
		return 0;
	case 's':
		o->key = parse_key(arg, state);
		return 0;
	case 'n':
		o->top = parse_number("cgroups", arg, state);
		return 0;
	case OPT_OUTPUT_FILE:
		o->output_file = arg;
		return 0;
	case OPT_LIMIT:
		o->limit = parse_size(arg, state);
		return 0;
	case OPT_SWAP_LIMIT:
		o->swap_limit = parse_size(arg, state);
		return 0;
	case OPT_SWAPPINESS:
		o->swappiness = parse_swappiness(arg, state);
		return 0;
	case ARGP_KEY_ARG:
		return add_pid(o, arg, state);
	case ARGP_KEY_END:
		check_command(o, state);
		check_exposition(o, state);
		complete_opts(o, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	.options = options,
	.parser = parse_opt,
	.args_doc = "[PID...] [-- COMMAND [ARG...]]",
	.doc = "What reclaim is doing: pages scanned, reclaimed and swapped, and who waits for it.",
	.children = children,
};

/* ---- the source ------------------------------------------------------------------------------ */

static void source_fini(struct source *src)
{
	for (size_t i = 0; i < src->nr_paths; i++)
		free(src->paths[i]);
	free(src->paths);
	pgs_cgroups_close(src->cgroups);
	pgs_kmod_close(src->kmod);
}

/* The cgroups named, or the root of the hierarchy. */
static int resolve_cgroups(struct source *src, const struct reclaim_opts *opts)
{
	static const char *const root = "/";
	const char *const *words = opts->nr_cgroups ? opts->cgroups : &root;
	size_t nr = opts->nr_cgroups ?: 1;
	int r = pgs_cgroups_open(src->ctx, &src->cgroups);

	src->paths = calloc(nr, sizeof(*src->paths));
	if (!src->paths)
		return -ENOMEM;
	for (size_t i = 0; i < nr && !r; i++) {
		r = pgs_cgroup_resolve(src->cgroups, words[i], &src->paths[i]);
		src->nr_paths += !r;
	}
	return r;
}

static int source_init(struct source *src, const struct reclaim_opts *opts)
{
	int r = target_kmod(src->ctx, &opts->source, &src->kmod);

	if (!r)
		r = target_check_kcore(src->ctx, &opts->source);
	if (r)
		return r;
	src->sections = opts->sections;
	src->named = opts->named;
	src->pids = opts->pids;
	src->nr_pids = opts->nr_pids;
	src->recursive = opts->recursive;
	src->key = opts->key;
	src->top = opts->top;
	if (opts->named & SECTION_BIT(SECTION_REPORTING))
		src->pageblock_order = pgs_pageblock_order(src->ctx);
	return PGS_EXIT_OK;
}

/* Once, and in the document: one that is not there is an error of it. */
static int find_cgroups(struct run *run)
{
	const struct reclaim_opts *opts = run->opts;
	bool all = opts->sections & SECTION_BIT(SECTION_CGROUP) && !opts->command;
	const char *what;
	int r;

	if (run->src.cgroups || (!opts->nr_cgroups && !all))
		return PGS_EXIT_OK;
	r = resolve_cgroups(&run->src, opts);
	if (!r)
		return PGS_EXIT_OK;
	what = r == -ENOMEM ? "out of memory" : pgs_ctx_error(run->src.ctx);
	msg_error("%s", what);
	out_error(run->out, 0, what, r);
	return msg_exit_status(r);
}

static bool is_dumb_terminal(void)
{
	const char *term = getenv("TERM");

	return !term || !strcmp(term, "dumb");
}

static int run_open_out(struct run *run, FILE *f, const struct out_head *head)
{
	const struct out_opts *out = &run->opts->output.out;

	if (out_open(&run->out, f, head, out)) {
		msg_error("out of memory");
		return PGS_EXIT_FAILED;
	}
	run->as_block = out->fmt == PGS_FMT_TABLE && !out->columns;
	run->block.sparks = isatty(fileno(f)) && !is_dumb_terminal();
	return run->as_block || out->fmt == PGS_FMT_OPENMETRICS ||
			       !out_table(run->out, reclaim_cols)
		       ? PGS_EXIT_OK
		       : PGS_EXIT_USAGE;
}

static int print_report(struct run *run, FILE *f)
{
	struct pgs_ctx *ctx = run->src.ctx;
	_cleanup_free_ char *kernel = target_release(ctx);
	struct out_head head = {.command = "reclaim-report",
				.kernel = kernel,
				.page_size = ctx->page_size,
				.module = run->src.kmod};
	int r;

	r = run_open_out(run, f, &head);
	r = r ?: find_cgroups(run);
	if (!r)
		r = run->opts->command ? reclaim_command(run) : run_samples(run);
	run_fini(run);
	return out_finish(&run->out, r);
}

/*
 * A file that holds less than the one before is worse than that; but a command ran only once. What
 * could not be written whole is never kept.
 */
static bool is_worth_keeping(const struct run *run, int status)
{
	if (!status || (run->has_status && status != PGS_EXIT_FAILED))
		return true;
	return status == PGS_EXIT_INCOMPLETE &&
	       !(cmd_interrupted && run->opts->output.out.fmt == PGS_FMT_OPENMETRICS);
}

/* The command's; but if it succeeded and its report is lost, that was no success. */
static int exit_status(const struct run *run, int status)
{
	if (run->has_status && (run->status || status != PGS_EXIT_FAILED))
		return run->status;
	return status;
}

static int write_report(struct run *run)
{
	struct output_file file;
	int r;

	if (!run->opts->output_file)
		return print_report(run, stdout);
	r = output_file_open(run->opts->output_file, &file);
	if (r) {
		msg_error("cannot write '%s': %s", run->opts->output_file, strerror(-r));
		return PGS_EXIT_FAILED;
	}
	r = print_report(run, file.f);
	if (!is_worth_keeping(run, r)) {
		output_file_discard(&file);
		return r;
	}
	if (!output_file_commit(&file))
		return r;
	msg_error("cannot write '%s': %s", run->opts->output_file, strerror(errno));
	return PGS_EXIT_FAILED;
}

static int run_report(struct run *run)
{
	int r = write_report(run);

	return exit_status(run, r);
}

/* Each sample takes the place of the one before: for node_exporter's textfile collector. */
static int run_exposition(struct run *run)
{
	uint64_t at_ns = 0;
	int r = PGS_EXIT_OK;

	for (uint64_t n = 0; !r && !cmd_interrupted; n++) {
		if (n && run->opts->count == n)
			break;
		if (n)
			signals_wait(-1, at_ns + n * run->opts->interval_ns);
		if (cmd_interrupted)
			break;
		if (!n)
			at_ns = reclaim_now_ns();
		r = run_report(run);
		if (r == PGS_EXIT_INCOMPLETE && !cmd_interrupted)
			r = PGS_EXIT_OK; /* a cgroup is gone: the others go on */
	}
	return r ?: cmd_interrupted ? PGS_EXIT_INCOMPLETE : PGS_EXIT_OK;
}

static int run(int argc, char **argv)
{
	struct reclaim_opts opts = {.output.cmd = &cmd_reclaim_report};
	struct run run = {.opts = &opts};
	int r;

	opts.command = cmd_split_command(&argc, argv);
	r = cmd_parse(&cmd_reclaim_report, argc, argv, &opts);
	r = r ?: target_ctx(&opts.source, &run.src.ctx);
	r = r ?: source_init(&run.src, &opts);
	if (!r)
		r = opts.output.out.fmt == PGS_FMT_OPENMETRICS && opts.interval_ns
			    ? run_exposition(&run)
			    : run_report(&run);
	source_fini(&run.src);
	pgs_ctx_close(run.src.ctx);
	free(opts.cgroups);
	free(opts.pids);
	return r;
}

static const struct pgs_col *const tables[] = {reclaim_cols, NULL};

const struct pgs_cmd cmd_reclaim_report = {
	.name = "reclaim-report",
	.summary = "what reclaim is doing",
	.argp = &argp,
	.tables = tables,
	.formats = PGS_FMTS_ROWS | PGS_FMT_BIT(PGS_FMT_OPENMETRICS),
	.run = run,
};
