// SPDX-License-Identifier: GPL-2.0-only
/* check: what this kernel and this user can do, a row a feature. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../src/caps.h"
#include "../src/cleanup.h"
#include "../src/kfeat.h"
#include "../src/procfs.h"

#include "cmd.h"
#include "targets.h"

/* ---- the features, in the order of enum pgs_feat_id ------------------------------------------ */

#define PAGES	    "pages"
#define KERNEL	    "kernel memory"
#define USERFAULTFD "userfaultfd"
#define TARGETS	    "targets"
#define RECLAIM	    "reclaim"
#define CAPS	    "capabilities"

static const struct {
	const char *group, *purpose;
} about[PGS_NR_FEATS] = {
	[PGS_FEAT_PAGEMAP] = {PAGES, "page map of a process"},
	[PGS_FEAT_PFN_VISIBLE] = {PAGES, "frame numbers, swap slots"},
	[PGS_FEAT_PAGEMAP_SCAN] = {PAGES, "skipping holes; wp"},
	[PGS_FEAT_SCAN_WPALLOWED] = {PAGES, "wp: what is tracked"},
	[PGS_FEAT_SCAN_WRITTEN] = {PAGES, "wp: what was written"},
	[PGS_FEAT_SCAN_FILE] = {PAGES, "pages of files and shmem"},
	[PGS_FEAT_SCAN_PRESENT] = {PAGES, "pages in memory"},
	[PGS_FEAT_SCAN_SWAPPED] = {PAGES, "pages in swap"},
	[PGS_FEAT_SCAN_PFNZERO] = {PAGES, "pages that are the zero page"},
	[PGS_FEAT_SCAN_HUGE] = {PAGES, "huge pages"},
	[PGS_FEAT_SCAN_SOFT_DIRTY] = {PAGES, "soft-dirty pages"},
	[PGS_FEAT_SCAN_GUARD] = {PAGES, "guard pages"},
	[PGS_FEAT_SCAN_ACCESSED] = {PAGES, "pages read or written"},
	[PGS_FEAT_SOFT_DIRTY] = {PAGES, "wp without userfaultfd"},
	[PGS_FEAT_MAP_FILES] = {PAGES, "shared pages in swap"},
	[PGS_FEAT_PROCMAP_QUERY] = {PAGES, "a mapping by its address"},
	[PGS_FEAT_PROC_VISIBLE] = {PAGES, "--system, --cgroup"},

	[PGS_FEAT_KPAGEFLAGS] = {KERNEL, "dump --flags, --pfn"},
	[PGS_FEAT_KPAGECOUNT] = {KERNEL, "dump --flags: mapcount"},
	[PGS_FEAT_KPAGECGROUP] = {KERNEL, "dump --flags: cgroup"},
	[PGS_FEAT_PAGE_IDLE] = {KERNEL, "idle page tracking"},
	[PGS_FEAT_KCORE] = {KERNEL, "swap without the module"},
	[PGS_FEAT_KMEM] = {KERNEL, "swap without the module"},
	[PGS_FEAT_BTF] = {KERNEL, "layout of kernel memory"},
	[PGS_FEAT_MODULE] = {KERNEL, "slots of shared pages, tags"},

	[PGS_FEAT_USERFAULTFD] = {USERFAULTFD, "wp"},
	[PGS_FEAT_UFFD_SYSCALL] = {USERFAULTFD, "wp, faults of the kernel too"},
	[PGS_FEAT_UFFD_USER_MODE] = {USERFAULTFD, "wp without a capability"},
	[PGS_FEAT_UFFD_DEVICE] = {USERFAULTFD, "wp for whom the mode lets"},
	[PGS_FEAT_UFFD_WP] = {USERFAULTFD, "write protection of pages"},
	[PGS_FEAT_UFFD_EVENT_FORK] = {USERFAULTFD, "seeing fork"},
	[PGS_FEAT_UFFD_EVENT_REMAP] = {USERFAULTFD, "seeing mremap"},
	[PGS_FEAT_UFFD_EVENT_REMOVE] = {USERFAULTFD, "seeing MADV_DONTNEED"},
	[PGS_FEAT_UFFD_MISSING_HUGETLBFS] = {USERFAULTFD, "missing pages of hugetlbfs"},
	[PGS_FEAT_UFFD_MISSING_SHMEM] = {USERFAULTFD, "missing pages of shmem"},
	[PGS_FEAT_UFFD_EVENT_UNMAP] = {USERFAULTFD, "seeing munmap"},
	[PGS_FEAT_UFFD_SIGBUS] = {USERFAULTFD, "a signal instead of an event"},
	[PGS_FEAT_UFFD_THREAD_ID] = {USERFAULTFD, "which thread faulted"},
	[PGS_FEAT_UFFD_MINOR_HUGETLBFS] = {USERFAULTFD, "minor faults of hugetlbfs"},
	[PGS_FEAT_UFFD_MINOR_SHMEM] = {USERFAULTFD, "minor faults of shmem"},
	[PGS_FEAT_UFFD_EXACT_ADDRESS] = {USERFAULTFD, "the address within the page"},
	[PGS_FEAT_UFFD_WP_HUGETLBFS_SHMEM] = {USERFAULTFD, "wp of hugetlbfs and shmem"},
	[PGS_FEAT_UFFD_WP_UNPOPULATED] = {USERFAULTFD, "wp of pages not there yet"},
	[PGS_FEAT_UFFD_POISON] = {USERFAULTFD, "poisoning pages"},
	[PGS_FEAT_UFFD_WP_ASYNC] = {USERFAULTFD, "wp that stops no writer"},
	[PGS_FEAT_UFFD_MOVE] = {USERFAULTFD, "moving pages"},
	[PGS_FEAT_UFFD_RWP] = {USERFAULTFD, "protection from reads too"},
	[PGS_FEAT_UFFD_RWP_ASYNC] = {USERFAULTFD, "the same, stopping nobody"},

	[PGS_FEAT_PTRACE] = {TARGETS, "wp of another process"},
	[PGS_FEAT_PIDFD_GETFD] = {TARGETS, "wp of another process"},
	[PGS_FEAT_PROCESS_MADVISE] = {TARGETS, "advice for another process"},
	[PGS_FEAT_MADV_PAGEOUT] = {TARGETS, "swapping out a range"},
	[PGS_FEAT_MADV_COLLAPSE] = {TARGETS, "making a huge page"},
	[PGS_FEAT_MADV_GUARD] = {TARGETS, "making guard pages"},

	[PGS_FEAT_MEMCG_V1] = {RECLAIM, "--cgroup; limits"},
	[PGS_FEAT_MEMCG_V2] = {RECLAIM, "--cgroup; limits"},
	[PGS_FEAT_PSI] = {RECLAIM, "memory pressure"},
	[PGS_FEAT_SWAP] = {RECLAIM, "swap areas"},
	[PGS_FEAT_ZRAM] = {RECLAIM, "compressed swap area"},
	[PGS_FEAT_ZSWAP] = {RECLAIM, "compressed cache of swap"},
	[PGS_FEAT_PAGE_REPORTING] = {RECLAIM, "free pages to the hypervisor"},
	[PGS_FEAT_BALLOON] = {RECLAIM, "device of page reporting"},
	[PGS_FEAT_BALLOON_REPORTING] = {RECLAIM, "page reporting agreed on"},

	[PGS_FEAT_CAP_DAC_READ_SEARCH] = {CAPS, "kpage files as non-root"},
	[PGS_FEAT_CAP_SYS_RAWIO] = {CAPS, "/proc/kcore"},
	[PGS_FEAT_CAP_SYS_PTRACE] = {CAPS, "processes of other users"},
	[PGS_FEAT_CAP_SYS_ADMIN] = {CAPS, "frame numbers; the module"},
	[PGS_FEAT_CAP_SYSLOG] = {CAPS, "/proc/kallsyms"},
	[PGS_FEAT_CAP_CHECKPOINT_RESTORE] = {CAPS, "map_files"},
};

static const char *const states[] = {
	[PGS_FEAT_UNTRIED] = "untried",	     [PGS_FEAT_YES] = "yes",	 [PGS_FEAT_NO] = "no",
	[PGS_FEAT_DENIED] = "not permitted", [PGS_FEAT_ERROR] = "error",
};
#define NR_STATES (sizeof(states) / sizeof(states[0]))

/* ---- rows ------------------------------------------------------------------------------------ */

enum {
	COL_GROUP,
	COL_NAME,
	COL_STATE,
	COL_HOW,
	COL_CAPABILITY,
	COL_ERROR,
	COL_PURPOSE,
	COL_DETAIL,
	NR_COLS
};

/* clang-format off */
static const struct pgs_col cols[] = {
	[COL_GROUP] = {"group", NULL, PGS_STR, 13, PGS_COL_HIDDEN, "What it is a part of"},
	[COL_NAME] = {"name", NULL, PGS_STR, 23, 0, "Its name, which does not change"},
	[COL_STATE] = {"state", NULL, PGS_STR, 13, 0,
		       "yes, no, not permitted, untried or error"},
	[COL_HOW] = {"how", NULL, PGS_STR, 15, 0, "What was tried"},
	[COL_CAPABILITY] = {"capability", NULL, PGS_STR, 22, PGS_COL_HIDDEN,
			    "The capability that is missing, or those"},
	[COL_ERROR] = {"error", NULL, PGS_STR, 10, PGS_COL_HIDDEN, "The errno that decided it"},
	[COL_PURPOSE] = {"purpose", NULL, PGS_STR, 28, 0, "What it is for"},
	[COL_DETAIL] = {"detail", NULL, PGS_BLOB, 10, 0, "A value that was found, or why not"},
	[NR_COLS] = {NULL, NULL, PGS_STR, 0, 0, NULL},
};
/* clang-format on */

static const struct pgs_col *const tables[] = {cols, NULL};

/* "needs CAP_SYS_PTRACE; vm.unprivileged_userfaultfd is 0": one line for people. NULL if there is
 * nothing to say. */
static char *describe(const struct pgs_feat *feat)
{
	const char *error = feat->err ? strerrorname_np(feat->err) : NULL;
	char caps[PGS_CAPS_STR];
	char *line = NULL;
	int n = 0;

	if (feat->caps && feat->detail)
		n = asprintf(&line, "needs %s; %s", pgs_caps_names(feat->caps, caps), feat->detail);
	else if (feat->caps)
		n = asprintf(&line, "needs %s", pgs_caps_names(feat->caps, caps));
	else if (feat->detail)
		n = asprintf(&line, "%s", feat->detail);
	else if (error)
		n = asprintf(&line, "%s", error);
	return n < 0 ? NULL : line;
}

static int print_feature(struct out *o, struct pgs_kfeat *kfeat, enum pgs_feat_id id)
{
	const struct pgs_feat *feat = pgs_kfeat_get(kfeat, id);
	_cleanup_free_ char *detail = describe(feat);
	struct pgs_val vals[NR_COLS] = {0};
	char caps[PGS_CAPS_STR];

	vals[COL_GROUP] = pgs_str(about[id].group);
	vals[COL_NAME] = pgs_str(pgs_feat_name(id));
	vals[COL_STATE] = pgs_str(states[feat->state]);
	vals[COL_HOW] = pgs_str(pgs_feat_how(id));
	if (feat->caps)
		vals[COL_CAPABILITY] = pgs_str(pgs_caps_names(feat->caps, caps));
	if (feat->err)
		vals[COL_ERROR] = pgs_str(strerrorname_np(feat->err));
	vals[COL_PURPOSE] = pgs_str(about[id].purpose);
	if (detail)
		vals[COL_DETAIL] = pgs_blob(detail, strlen(detail));
	return out_row(o, vals);
}

/* ---- the command ----------------------------------------------------------------------------- */

struct check_opts {
	struct opt_target source; /* --root, --kmod and --kcore of it */
	struct opt_output output;
	enum pgs_feat_id wanted[PGS_NR_FEATS]; /* in the order given */
	size_t nr_wanted;
};

static error_t add_wanted(struct check_opts *opts, const char *name, struct argp_state *state)
{
	enum pgs_feat_id id;

	if (pgs_feat_find(name, &id) < 0)
		argp_error(state, "'%s' is not a feature: 'pgscan check' lists them", name);
	for (size_t i = 0; i < opts->nr_wanted; i++)
		if (opts->wanted[i] == id)
			return 0;
	opts->wanted[opts->nr_wanted++] = id;
	return 0;
}

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct check_opts *opts = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &opts->source;
		state->child_inputs[1] = &opts->output;
		return 0;
	case ARGP_KEY_ARG:
		return add_wanted(opts, arg, state);
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_child children[] = {
	{&opt_source_argp, 0, NULL, 0},
	{&opt_output_argp, 0, NULL, 0},
	{0},
};

static const struct argp argp = {
	.parser = parse_opt,
	.args_doc = "[FEATURE...]",
	.doc = "What this kernel and this user can do, each found by trying it.\v"
	       "With features named, only those; the status is 4 when one is absent, 5 when one is "
	       "not permitted.",
	.children = children,
};

static int summarise(struct out *o, const uint64_t count[NR_STATES])
{
	static const struct {
		const char *key;
		enum pgs_feat_state state;
	} keys[] = {
		{"yes", PGS_FEAT_YES},
		{"no", PGS_FEAT_NO},
		{"not_permitted", PGS_FEAT_DENIED},
		{"untried", PGS_FEAT_UNTRIED},
		{"error", PGS_FEAT_ERROR},
	};
	uint64_t total = 0;
	int r = 0;

	for (size_t i = 0; i < NR_STATES; i++)
		total += count[i];
	r = out_summary(o, "features", PGS_U64, pgs_u64(total));
	for (size_t i = 0; !r && i < sizeof(keys) / sizeof(keys[0]); i++)
		r = out_summary(o, keys[i].key, PGS_U64, pgs_u64(count[keys[i].state]));
	return r;
}

/* What is asked for must be there: say what of it is not. The first one decides the status. */
static int demand(struct pgs_kfeat *kfeat, enum pgs_feat_id id)
{
	const struct pgs_feat *feat = pgs_kfeat_get(kfeat, id);
	_cleanup_free_ char *detail = describe(feat);
	const char *name = pgs_feat_name(id);

	switch (feat->state) {
	case PGS_FEAT_YES:
		return PGS_EXIT_OK;
	case PGS_FEAT_NO:
		msg_error("no %s%s%s", name, detail ? ": " : "", detail ?: "");
		return PGS_EXIT_UNSUPPORTED;
	case PGS_FEAT_DENIED:
		msg_error("%s is not permitted%s%s", name, detail ? ": " : "", detail ?: "");
		return PGS_EXIT_PERMISSION;
	case PGS_FEAT_UNTRIED:
	case PGS_FEAT_ERROR:
		break;
	}
	msg_error("cannot tell whether there is %s: %s", name, detail ?: "unknown error");
	return PGS_EXIT_FAILED;
}

static int demand_all(struct pgs_kfeat *kfeat, const struct check_opts *opts)
{
	int status = PGS_EXIT_OK;

	for (size_t i = 0; i < opts->nr_wanted; i++) {
		int s = demand(kfeat, opts->wanted[i]);

		status = status ?: s;
	}
	if (!status && opts->source.kmod == OPT_REQUIRE)
		status = demand(kfeat, PGS_FEAT_MODULE);
	if (!status && opts->source.kcore == OPT_REQUIRE)
		status = demand(kfeat, PGS_FEAT_KCORE);
	return status;
}

/* The features that were named, or all. */
static int print_features(struct out *o, struct pgs_kfeat *kfeat, const struct check_opts *opts)
{
	const size_t nr = opts->nr_wanted ?: PGS_NR_FEATS;
	uint64_t count[NR_STATES] = {0};
	int r = 0;

	for (size_t i = 0; !r && i < nr && !cmd_interrupted; i++) {
		enum pgs_feat_id id = opts->nr_wanted ? opts->wanted[i] : (enum pgs_feat_id)i;

		r = print_feature(o, kfeat, id);
		count[pgs_kfeat_get(kfeat, id)->state]++;
	}
	return r ?: summarise(o, count);
}

static int print_document(struct pgs_ctx *ctx, struct pgs_kfeat *kfeat,
			  const struct check_opts *opts)
{
	_cleanup_free_ char *release = target_release(ctx);
	struct out_head head = {
		.command = cmd_check.name,
		.kernel = release,
		.page_size = ctx->page_size,
		.module = pgs_kfeat_has(kfeat, PGS_FEAT_MODULE),
	};
	struct out *o = NULL;
	int r = out_open(&o, stdout, &head, &opts->output.out);

	if (r < 0) {
		msg_error("%s", strerror(-r));
		return PGS_EXIT_FAILED;
	}
	if (out_table(o, cols) < 0)
		return out_finish(&o, PGS_EXIT_USAGE);
	print_features(o, kfeat, opts); /* a row that cannot be written: out_finish() says so */
	/* A feature that is absent is an answer: the document is whole. */
	return out_finish(&o, PGS_EXIT_OK);
}

static int check(struct pgs_ctx *ctx, const struct check_opts *opts)
{
	_cleanup_(pgs_kfeat_freep) struct pgs_kfeat *kfeat = NULL;
	int status;

	if (opts->source.kmod == OPT_OFF)
		ctx->disabled |= PGS_MECH_MODULE;
	if (opts->source.kcore == OPT_OFF)
		ctx->disabled |= PGS_MECH_KCORE;
	if (pgs_kfeat_new(ctx, &kfeat) < 0) {
		msg_error("out of memory");
		return PGS_EXIT_FAILED;
	}
	status = print_document(ctx, kfeat, opts);
	return status ?: demand_all(kfeat, opts);
}

static int run(int argc, char **argv)
{
	struct check_opts opts = {.output.cmd = &cmd_check};
	_cleanup_(pgs_ctx_closep) struct pgs_ctx *ctx = NULL;
	int status = cmd_parse(&cmd_check, argc, argv, &opts);

	status = status ?: target_ctx(&opts.source, &ctx);
	return status ?: check(ctx, &opts);
}

const struct pgs_cmd cmd_check = {
	.name = "check",
	.summary = "what this kernel and this user can do",
	.argp = &argp,
	.tables = tables,
	.formats = PGS_FMTS_ROWS,
	.run = run,
};
