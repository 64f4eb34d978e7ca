// SPDX-License-Identifier: GPL-2.0-only
/* pgscan reclaim-report: what reclaim is doing, once, in intervals, or around a command. */
#include "reclaim.h"
#include "targets.h"

#include "../src/cleanup.h"
#include "../src/procfs.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NS 1000000000u

enum { OPT_SECTION = 0x4000, OPT_RECURSIVE };

static const struct argp_option options[] = {
	{"interval", 'i', "SEC", 0, "Seconds of a sample (1)", 0},
	{"count", 'c', "N", 0, "Samples (with --interval endless, otherwise 1)", 0},
	{"section", OPT_SECTION, "rates|psi|cgroup|swap", 0, "Only these sections, with commas", 0},
	{"cgroup", 'g', "CGROUP", 0, "Report on this cgroup too; repeatable", 0},
	{"recursive", OPT_RECURSIVE, NULL, 0, "and on each one below it", 0},
	{"sort", 's', "usage|swap|scanned|stalled", 0, "Order the cgroups, from the largest down",
	 0},
	{"top", 'n', "N", 0, "Only the first N cgroups", 0},
	{0},
};

static const struct argp_child children[] = {
	{&opt_source_argp, 0, "Sources:", 1},
	{&opt_output_argp, 0, NULL, 0},
	{0},
};

/* The index of a word of @len bytes in @names, or @nr. */
static unsigned int index_of(const char *const *names, unsigned int nr, const char *word,
			     size_t len)
{
	unsigned int i = 0;

	while (i < nr && (strlen(names[i]) != len || memcmp(names[i], word, len) != 0))
		i++;
	return i;
}

static unsigned int parse_sections(const char *list, struct argp_state *state)
{
	unsigned int mask = 0;

	for (;; list++) {
		size_t len = strcspn(list, ",");
		unsigned int section = index_of(section_names, NR_SECTIONS, list, len);

		if (section == NR_SECTIONS)
			argp_error(state, "'%.*s' is not a section", (int)len, list);
		mask |= SECTION_BIT(section);
		list += len;
		if (!*list)
			return mask;
	}
}

static enum cgroup_key parse_key(const char *word, struct argp_state *state)
{
	unsigned int key = index_of(cgroup_key_names, NR_CGROUP_KEYS, word, strlen(word));

	if (key == NR_CGROUP_KEYS || key == CGROUP_KEY_NONE)
		argp_error(state, "'%s' is not one of usage, swap, scanned, stalled", word);
	return (enum cgroup_key)key;
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

/* What was not said: everything, but no cgroup unless one is named; and then all of them. */
static void complete_opts(struct reclaim_opts *o, struct argp_state *state)
{
	bool wants_cgroups = o->nr_cgroups || o->recursive || o->key || o->top;

	if (!o->sections) {
		o->sections = (1u << NR_SECTIONS) - 1;
		if (!wants_cgroups)
			o->sections &= ~SECTION_BIT(SECTION_CGROUP);
	}
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
		return add_cgroup(o, arg);
	case OPT_RECURSIVE:
		o->recursive = true;
		return 0;
	case 's':
		o->key = parse_key(arg, state);
		return 0;
	case 'n':
		o->top = parse_number("cgroups", arg, state);
		return 0;
	case ARGP_KEY_END:
		complete_opts(o, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	.options = options,
	.parser = parse_opt,
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
	int r = 0;

	src->sections = opts->sections;
	src->recursive = opts->recursive;
	src->key = opts->key;
	src->top = opts->top;
	if (opts->sections & SECTION_BIT(SECTION_CGROUP))
		r = resolve_cgroups(src, opts);
	if (!r)
		return PGS_EXIT_OK;
	msg_error("%s", r == -ENOMEM ? "out of memory" : pgs_ctx_error(src->ctx));
	return msg_exit_status(r);
}

/* ---- sampling -------------------------------------------------------------------------------- */

struct run {
	const struct reclaim_opts *opts;
	struct source src;
	struct out *out;
	struct reading first, last;
	struct report report;
	struct block block;
	bool as_block; /* for people, and no columns were asked for */
	uint64_t samples;
};

/* Until @deadline_ns of CLOCK_MONOTONIC; a signal that asks us to end ends it. They are blocked but
 * in ppoll(), so that none comes between the look at the flag and the wait. */
static void wait_until(uint64_t deadline_ns)
{
	sigset_t ends, old;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, &old);
	while (!cmd_interrupted) {
		struct timespec now, left;
		uint64_t now_ns;

		clock_gettime(CLOCK_MONOTONIC, &now);
		now_ns = (uint64_t)now.tv_sec * NS + (uint64_t)now.tv_nsec;
		if (now_ns >= deadline_ns)
			break;
		left.tv_sec = (time_t)((deadline_ns - now_ns) / NS);
		left.tv_nsec = (long)((deadline_ns - now_ns) % NS);
		ppoll(NULL, 0, &left, &old);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
}

/* What is null because something is in the way, and not because the kernel has no such thing. */
static void note_failures(struct run *run, const struct reading *now)
{
	if (now->vm_err)
		out_error(run->out, 0, "/proc/vmstat", now->vm_err);
	if (now->swap_err)
		out_error(run->out, 0, "/proc/swaps", now->swap_err);
	for (size_t i = 0; i < now->nr_cgroups; i++)
		if (now->cgroups[i].err)
			out_error(run->out, 0, now->cgroups[i].path, now->cgroups[i].err);
}

/* Takes over @now, as the last reading. */
static int emit_sample(struct run *run, struct reading *now)
{
	struct report *rep = &run->report;
	int err;

	rep->sample = ++run->samples;
	rep->elapsed_s = (double)(now->at_ns - run->first.at_ns) / 1e9;
	report_make(rep, &run->src, &run->last, now);
	note_failures(run, now);
	if (rep->no_memory)
		err = -ENOMEM;
	else if (run->as_block)
		err = reclaim_block(run->out, &run->block, rep);
	else
		err = reclaim_rows(run->out, rep);
	err = err ?: out_flush(run->out);
	if (run->last.at_ns != run->first.at_ns)
		reading_fini(&run->last);
	run->last = *now;
	return err;
}

/* A tree that is not this machine's may stand still: it is read once, unless an interval was asked
 * for. */
static bool reads_once(const struct run *run)
{
	return !run->src.ctx->live && !run->opts->interval_ns;
}

static int take_samples(struct run *run)
{
	const uint64_t interval = run->opts->interval_ns ?: NS;
	struct reading now;
	int err = reading_take(&run->src, &run->first);

	if (err)
		return err;
	if (reads_once(run)) {
		now = run->first;
		return emit_sample(run, &now);
	}
	run->last = run->first;
	for (uint64_t n = 1; !err && (!run->opts->count || n <= run->opts->count); n++) {
		wait_until(run->first.at_ns + n * interval);
		if (cmd_interrupted)
			break;
		err = reading_take(&run->src, &now);
		err = err ?: emit_sample(run, &now);
	}
	return err;
}

static int summarise(struct run *run)
{
	struct report whole = {.sample = run->samples};
	const struct reading none = {0};
	bool one = run->last.at_ns == run->first.at_ns;
	int err;

	report_make(&whole, &run->src, one ? &none : &run->first, &run->last);
	err = whole.no_memory ? -ENOMEM : reclaim_summary(run->out, &whole);
	report_fini(&whole);
	return err;
}

static int run_samples(struct run *run)
{
	int err = take_samples(run);

	err = err ?: summarise(run);
	if (run->last.at_ns != run->first.at_ns)
		reading_fini(&run->last);
	reading_fini(&run->first);
	report_fini(&run->report);
	if (err != -ENOMEM)
		return out_finish(&run->out, PGS_EXIT_OK); /* says what could not be written */
	msg_error("out of memory");
	return out_finish(&run->out, PGS_EXIT_FAILED);
}

static int print_report(struct run *run)
{
	_cleanup_free_ char *kernel = NULL;
	const struct out_opts *out = &run->opts->output.out;
	struct pgs_ctx *ctx = run->src.ctx;
	struct out_head head = {.command = "reclaim-report", .page_size = ctx->page_size};
	int r;

	if (!ctx->live && pgs_read_file(ctx, 0, &kernel, "proc/sys/kernel/osrelease") > 0)
		kernel[strcspn(kernel, "\n")] = '\0';
	head.kernel = kernel ?: ctx->live ? NULL : "unknown"; /* never the running one's */
	if (out_open(&run->out, stdout, &head, out)) {
		msg_error("out of memory");
		return PGS_EXIT_FAILED;
	}
	run->as_block = out->fmt == PGS_FMT_TABLE && !out->columns;
	run->block.sparks = isatty(STDOUT_FILENO);
	r = run->as_block ? 0 : out_table(run->out, reclaim_cols);
	return r ? out_finish(&run->out, PGS_EXIT_USAGE) : run_samples(run);
}

static int run(int argc, char **argv)
{
	struct reclaim_opts opts = {.output.cmd = &cmd_reclaim_report};
	struct run run = {.opts = &opts};
	int r = cmd_parse(&cmd_reclaim_report, argc, argv, &opts);

	r = r ?: target_ctx(&opts.source, &run.src.ctx);
	r = r ?: source_init(&run.src, &opts);
	r = r ?: print_report(&run);
	source_fini(&run.src);
	pgs_ctx_close(run.src.ctx);
	free(opts.cgroups);
	return r;
}

static const struct pgs_col *const tables[] = {reclaim_cols, NULL};

const struct pgs_cmd cmd_reclaim_report = {
	.name = "reclaim-report",
	.summary = "what reclaim is doing",
	.argp = &argp,
	.tables = tables,
	.formats = PGS_FMTS_ROWS,
	.run = run,
};
