// SPDX-License-Identifier: GPL-2.0-only
/* pgscan swapmap: who is in swap, and where. */
#include "swapmap.h"

#include "../src/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_BY = 0x4000, OPT_SLOT, OPT_MAP };

static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "What to show:", OPT_GROUP_OWN},
	{"by", OPT_BY, "process|vma|run|page|device|object|cgroup", 0,
	 "The view: vma is the default for one process, process for several; runs are of slots, "
	 "objects of shared memory",
	 0},
	{"slot", OPT_SLOT, "DEVICE:OFFSET", 0, "Who owns this slot of a swap area", 0},
	{"map", OPT_MAP, NULL, 0, "Draw the swap areas, with letters for the owners", 0},
	{0},
};

static const struct argp_child children[] = {
	{&opt_target_argp, 0, NULL, 0},
	{&opt_sort_argp, 0, NULL, 0},
	{&opt_output_argp, 0, NULL, 0},
	{0},
};

static enum swapmap_by parse_by(const char *word, struct argp_state *state)
{
	static const char *const words[] = {"process", "vma",	 "run",	   "page",
					    "device",  "object", "cgroup", NULL};

	return SWAPMAP_PROCESS + opt_choice(word, words, state);
}

/* "DEVICE:OFFSET". The last colon, as names may have some. */
static void parse_slot(struct swapmap_opts *o, const char *word, struct argp_state *state)
{
	const char *colon = strrchr(word, ':');

	if (o->slot)
		argp_error(state, "one --slot at a time");
	if (!colon || colon == word || pgs_parse_u64(colon + 1, &o->slot_offset))
		argp_error(state, "'%s' is not DEVICE:OFFSET", word);
	if (!o->slot_offset)
		argp_error(state, "slot 0 is the header of a swap area");
	o->slot = word;
	o->slot_area_len = (size_t)(colon - word);
}

static bool is_one_process(const struct swapmap_opts *o)
{
	return o->target.nr_pids == 1 && !o->target.cgroup && !o->target.system;
}

/* --slot and --map are of the whole machine. */
static void check_whole(struct swapmap_opts *o, struct argp_state *state)
{
	if (o->slot && o->map)
		argp_error(state, "--slot and --map exclude each other");
	if (opt_target_is_given(&o->target) && !o->target.system)
		argp_error(state, "--slot and --map are of the whole machine: no processes");
	if (o->by != SWAPMAP_AUTO || o->target.nr_ranges || o->target.nr_vma_patterns)
		argp_error(state, "--slot and --map have one view: no --by, --range, --vma");
	if (o->map && o->output.out.fmt != PGS_FMT_TABLE)
		argp_error(state, "--map is a picture: it has no other format");
	if (o->map && o->output.out.columns)
		argp_error(state, "--map is a picture: it has no columns");
	o->target.system = true;
	o->by = SWAPMAP_PAGE;
}

static void check_opts(struct swapmap_opts *o, struct argp_state *state)
{
	if (o->slot || o->map)
		check_whole(o, state);
	if (o->by == SWAPMAP_DEVICE || o->by == SWAPMAP_OBJECT)
		o->target.system |= !opt_target_is_given(&o->target);
	if (!opt_target_is_given(&o->target))
		argp_error(state, "no process given: name PIDs, a cgroup with -g, or all with -a");
	if (o->by == SWAPMAP_AUTO)
		o->by = is_one_process(o) ? SWAPMAP_VMA : SWAPMAP_PROCESS;
	if ((o->output.sort || o->output.top) && (o->by == SWAPMAP_RUN || o->by == SWAPMAP_PAGE))
		argp_error(state,
			   "--sort and --top are not for --by=run and --by=page, which are printed "
			   "as they are found, in address order");
}

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct swapmap_opts *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->target;
		state->child_inputs[1] = state->child_inputs[2] = &o->output;
		return 0;
	case OPT_BY:
		o->by = parse_by(arg, state);
		return 0;
	case OPT_SLOT:
		parse_slot(o, arg, state);
		return 0;
	case OPT_MAP:
		o->map = true;
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
	.doc = "Show which pages of processes are in swap, where, and who else holds them.",
	.children = children,
};

#define HIDDEN_SLOTS "swap slots are hidden (needs CAP_SYS_ADMIN): owners are not known"

static void tell_refused(struct swapmap *m)
{
	_cleanup_free_ char *what = NULL;

	if (asprintf(&what, "%llu process%s could not be looked into: %s",
		     (unsigned long long)m->nr_refused, m->nr_refused == 1 ? "" : "es",
		     m->refusal ?: "out of memory") < 0)
		what = NULL;
	msg_warn("%s", what ?: "out of memory");
	swapmap_error(m, 0, what ?: "out of memory", EACCES);
}

/* What makes the whole answer weaker is said once. */
static void tell_limits(struct swapmap *m)
{
	if (m->nr_refused && !m->targets.named)
		tell_refused(m);
	targets_tell_hidden(&m->targets, m->out);
	m->incomplete |= m->targets.hidden;
	if (m->hidden_slots && (m->slot.set || m->opts->map)) { /* what was asked for are slots */
		msg_warn(HIDDEN_SLOTS);
		swapmap_error(m, 0, HIDDEN_SLOTS, EPERM);
	} else if (m->hidden_slots) {
		msg_note(HIDDEN_SLOTS);
	}
}

static int show_views(struct swapmap *m)
{
	int r = swapmap_show(m);

	if (!r && m->slot.set)
		r = swapmap_show_slot_object(m);
	if (!r && m->slot.set)
		return swapmap_slot_summary(m);
	if (!r && m->opts->target.system)
		r = swapmap_reconcile(m);
	if (!r && m->by == SWAPMAP_DEVICE)
		r = swapmap_show_devices(m);
	if (!r && m->by == SWAPMAP_OBJECT)
		r = swapmap_show_objects(m);
	return r ? r : swapmap_summary(m);
}

static int show(struct swapmap *m)
{
	int r = swapmap_gather(m);

	if (!r && m->opts->slot)
		r = swapmap_find_slot(m);
	if (r)
		return r;
	r = m->opts->map ? swapmap_draw(m) : show_views(m);
	if (r == -ENOMEM)
		msg_error("out of memory");
	progress_clear();
	tell_limits(m);
	if (r && r != -EPIPE)
		return PGS_EXIT_FAILED;
	if (m->opts->map && m->incomplete) /* a picture has no document that would say so */
		return PGS_EXIT_INCOMPLETE;
	return m->nr_looked_at && m->failure ? PGS_EXIT_INCOMPLETE : m->failure;
}

static int print_swapmap(struct swapmap *m, const struct out_head *head)
{
	_cleanup_free_ struct pgs_col *cols = swapmap_columns(m);
	const struct opt_output *output = &m->opts->output;
	int r;

	if (m->opts->map)
		return show(m);
	if (!cols || out_open(&m->out, stdout, head, &output->out)) {
		msg_error("out of memory");
		return PGS_EXIT_FAILED;
	}
	r = out_table(m->out, cols);
	if (!r && (output->sort || output->top))
		r = out_sort(m->out, output->sort, output->top);
	r = r ? PGS_EXIT_USAGE : show(m);
	return out_finish(&m->out, r);
}

static int run_swapmap(struct swapmap *m)
{
	_cleanup_free_ char *kernel = NULL;
	struct out_head head = {.command = "swapmap"};
	int r = target_ctx(&m->opts->target, &m->ctx);

	if (!r)
		r = target_env(m->ctx, &m->opts->target, &m->env);
	if (!r) {
		head.kernel = kernel = target_release(m->ctx);
		head.page_size = m->ctx->page_size;
		head.module = m->env.kmod;
		r = print_swapmap(m, &head);
	}
	swapmap_fini(m);
	target_env_fini(&m->env);
	pgs_ctx_close(m->ctx);
	return r;
}

static int run(int argc, char **argv)
{
	struct swapmap_opts opts = {.output.cmd = &cmd_swapmap};
	struct swapmap m = {.opts = &opts};
	int r = cmd_parse(&cmd_swapmap, argc, argv, &opts);

	if (!r) {
		m.by = opts.by;
		r = run_swapmap(&m);
	}
	opt_target_fini(&opts.target);
	return r;
}

static const struct pgs_col *const tables[] = {
	swapmap_process_cols, swapmap_run_cols,	   swapmap_device_cols,
	swapmap_object_cols,  swapmap_cgroup_cols, NULL,
};

const struct pgs_cmd cmd_swapmap = {
	.name = "swapmap",
	.summary = "who is in swap, and where",
	.argp = &argp,
	.tables = tables,
	.formats = PGS_FMTS_ROWS,
	.run = run,
};
