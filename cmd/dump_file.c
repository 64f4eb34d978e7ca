// SPDX-License-Identifier: GPL-2.0-only
/* --file: the pages of a file, in the page cache and (on tmpfs) in swap. Nothing is read in. */
#include "dump.h"

#include "../src/caps.h"
#include "../src/cleanup.h"
#include "../src/overlay.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

enum {
	P_START,
	P_END,
	P_PAGES,
	P_STATE,
	P_SWAP_TYPE,
	P_SWAP_OFFSET,
	P_SWAP_DEVICE,
	P_SOURCE,
	P_RACY,
	P_COLS
};

/* clang-format off */
const struct pgs_col dump_file_cols[] = {
	[P_START]	= {"start", NULL, PGS_ADDR, 12, 0, "offset in the file, in bytes"},
	[P_END]		= {"end", NULL, PGS_ADDR, 12, 0, "first offset behind it"},
	[P_PAGES]	= {"pages", NULL, PGS_U64, 8, 0, "number of pages"},
	[P_STATE]	= {"state", NULL, PGS_STR, 8, 0, "present: in the page cache; swapped; none"},
	[P_SWAP_TYPE]	= {"swap_type", "SWAP", PGS_U64, 4, 0, "swap area, by the kernel's index"},
	[P_SWAP_OFFSET]	= {"swap_offset", "SLOT", PGS_U64, 7, 0, "slot of the first page, in pages"},
	[P_SWAP_DEVICE]	= {"swap_device", NULL, PGS_BLOB, 10, PGS_COL_HIDDEN, "the area's device or file, if certain"},
	[P_SOURCE]	= {"source", NULL, PGS_STR, 9, 0, "how the state was found"},
	[P_RACY]	= {"racy", NULL, PGS_BOOL, 4, PGS_COL_HIDDEN, "it changed each time it was looked at"},
	[P_COLS]	= {0},
};
/* clang-format on */

/* A stretch of the file in one state; bytes. */
struct file_run {
	uint64_t start, end;
	enum pgs_state state;
	bool located; /* SWAPPED: page i lies at slot + i of swap_type */
	unsigned int swap_type;
	uint64_t slot;
	enum pgs_source source;
	bool racy;
};

struct file_walk {
	struct dump *d;
	int fd;
	bool shmem;
	bool overlay;	    /* it may be on tmpfs, or on a disk */
	bool swap_in_use;   /* it was when it was last looked at */
	const char *reason; /* why residency did not tell a state; NULL: it did */
	uint64_t size;
};

static int show(struct dump *d, const struct file_run *run)
{
	struct pgs_val vals[P_COLS] = {
		[P_START] = pgs_u64(run->start),
		[P_END] = pgs_u64(run->end),
		[P_PAGES] = pgs_u64((run->end - run->start) >> d->ctx->page_shift),
		[P_STATE] = pgs_str(pgs_state_name(run->state)),
		[P_SOURCE] =
			pgs_str(run->source == PGS_SRC_MAP_FILES ? "mincore"
								 : pgs_source_name(run->source)),
	};
	const struct pgs_swap_area *area;

	if (run->start == run->end)
		return 0;
	d->total.counts.pages += vals[P_PAGES].u;
	d->total.counts.state[run->state] += vals[P_PAGES].u;
	d->nr_racy += run->racy ? vals[P_PAGES].u : 0;
	if (run->source == PGS_SRC_KCORE)
		vals[P_RACY] = pgs_bool(run->racy);
	if (run->located) {
		vals[P_SWAP_TYPE] = pgs_u64(run->swap_type);
		vals[P_SWAP_OFFSET] = pgs_u64(run->slot);
		area = dump_swap_area(d, run->swap_type);
		if (area)
			vals[P_SWAP_DEVICE] = pgs_blob(area->name, strlen(area->name));
	}
	return out_row(d->out, vals);
}

/* A file with data on disk and nothing in memory is "none"; on tmpfs data that is not in memory is
 * in swap, as there is no other place, or lost. */
static enum pgs_state residency_state(struct file_walk *w, bool data, bool resident)
{
	if (resident)
		return PGS_PRESENT;
	if (data && w->overlay) {
		w->reason = PGS_OVERLAY_REASON;
		return PGS_UNKNOWN;
	}
	if (!data || !w->shmem)
		return PGS_NONE;
	w->swap_in_use = w->swap_in_use || pgs_swap_is_in_use(w->d->ctx);
	if (w->swap_in_use)
		return PGS_SWAPPED;
	w->reason = PGS_SWAP_UNUSED_REASON;
	return PGS_UNKNOWN;
}

/* @range is in bytes, within the file. */
static int walk_residency(struct file_walk *w, const struct pgs_range *range)
{
	_cleanup_(pgs_residency_closep) struct pgs_residency *res = NULL;
	struct file_run run = {
		.start = range->start, .end = range->start, .source = PGS_SRC_MAP_FILES};
	int r = pgs_residency_open(w->d->ctx, w->fd, &res);

	while (!r && run.end < range->end && !cmd_interrupted) {
		bool data, resident;
		int64_t n = pgs_residency_next(res, run.end, range->end, &data, &resident);
		enum pgs_state state;

		if (n < 0)
			return (int)n;
		state = residency_state(w, data, resident);
		if (state != run.state) {
			r = show(w->d, &run);
			run.start = run.end;
			run.state = state;
		}
		run.end += (uint64_t)n << w->d->ctx->page_shift;
	}
	return r ? r : show(w->d, &run);
}

static enum pgs_state record_state(const struct pgscan_run *rec)
{
	switch (rec->state) {
	case PGSCAN_RUN_SWAPPED:
		return PGS_SWAPPED;
	case PGSCAN_RUN_CACHED:
		return PGS_PRESENT;
	case PGSCAN_RUN_POISONED:
		return PGS_POISONED;
	default:
		return PGS_NONE;
	}
}

/* Show the records of one answer, and the holes between them, up to @to. */
static int show_records(struct file_walk *w, const struct pgscan_run *recs, size_t nr,
			uint64_t from, uint64_t to)
{
	struct file_run run = {.start = from, .source = PGS_SRC_MODULE};
	int r = 0;

	for (size_t i = 0; i < nr && !r; i++) {
		run.end = recs[i].start;
		run.state = PGS_NONE;
		run.located = false;
		r = show(w->d, &run);
		run.start = recs[i].start;
		run.end = run.start + (recs[i].pages << w->d->ctx->page_shift);
		run.state = record_state(&recs[i]);
		run.located = recs[i].state == PGSCAN_RUN_SWAPPED;
		run.swap_type = recs[i].swap_type;
		run.slot = recs[i].slot;
		if (!r)
			r = show(w->d, &run);
		run.start = run.end;
	}
	run.end = to;
	run.state = PGS_NONE;
	run.located = false;
	return r || run.start >= to ? r : show(w->d, &run);
}

static int walk_extents(struct file_walk *w, const struct pgs_range *range)
{
	struct pgscan_run recs[256];
	struct pgscan_extents arg = {
		.size = sizeof(arg),
		.fd = w->fd,
		.start = range->start,
		.end = range->end,
		.vec = (uintptr_t)recs,
		.vec_len = sizeof(recs) / sizeof(recs[0]),
	};
	int r = 0;

	while (!r && arg.start < arg.end && !cmd_interrupted) {
		int n;

		memset(&arg.key, 0, sizeof(arg.key));
		n = pgs_kmod_request(w->d->env.kmod, PGSCAN_IOC_EXTENTS, &arg);
		if (n == -EINTR)
			continue;
		if (n < 0)
			return pgs_ctx_fail(w->d->ctx, n, "the module cannot look up the file: %s",
					    strerror(-n));
		r = show_records(w, recs, (size_t)n, arg.start, arg.walk_end);
		arg.start = arg.walk_end;
	}
	return r;
}

/* ---- by kernel memory ------------------------------------------------------------------------ */

#define ENTRIES 1024u

static enum pgs_state entry_state(enum pgs_kentry entry)
{
	switch (entry) {
	case PGS_KENTRY_NONE:
		return PGS_NONE;
	case PGS_KENTRY_MEMORY:
		return PGS_PRESENT;
	case PGS_KENTRY_SWAPPED:
		return PGS_SWAPPED;
	case PGS_KENTRY_POISONED:
		return PGS_POISONED;
	case PGS_KENTRY_UNKNOWN:
		break;
	}
	return PGS_UNKNOWN;
}

static int show_entries(struct file_walk *w, const struct pgs_kentries *runs, int nr)
{
	unsigned int shift = w->d->ctx->page_shift;
	int r = 0;

	for (int i = 0; i < nr && !r; i++) {
		const struct file_run run = {
			.start = runs[i].index << shift,
			.end = (runs[i].index + runs[i].pages) << shift,
			.state = entry_state(runs[i].entry),
			.located = runs[i].entry == PGS_KENTRY_SWAPPED,
			.swap_type = runs[i].swap_type,
			.slot = runs[i].slot,
			.source = PGS_SRC_KCORE,
			.racy = runs[i].racy,
		};

		r = show(w->d, &run);
	}
	return r;
}

static int walk_entries(struct file_walk *w, const struct pgs_kobject *object,
			const struct pgs_range *range)
{
	_cleanup_free_ struct pgs_kentries *runs = calloc(ENTRIES, sizeof(*runs));
	unsigned int shift = w->d->ctx->page_shift;
	uint64_t from = range->start >> shift, to = range->end >> shift;
	int r = runs ? 0 : -ENOMEM;

	while (!r && from < to && !cmd_interrupted) {
		int nr = pgs_kmem_entries(w->d->env.kmem, object, from, to, runs, ENTRIES);

		if (nr < 0)
			return pgs_ctx_fail(w->d->ctx, nr, "cannot read kernel memory: %s",
					    strerror(-nr));
		r = show_entries(w, runs, nr);
		from = runs[nr - 1].index + runs[nr - 1].pages;
	}
	return r;
}

/* Where nothing can be in swap, it has nothing to add. */
static bool find_object(struct file_walk *w, struct pgs_kobject *ret_object)
{
	return w->shmem && w->d->env.swap_used && pgs_kmem_has(w->d->env.kmem, PGS_KMEM_OBJECT) &&
	       !pgs_kmem_object(w->d->env.kmem, w->fd, ret_object);
}

/* ---- the file -------------------------------------------------------------------------------- */

static int walk_range(struct file_walk *w, struct pgs_range range)
{
	uint64_t mask = w->d->ctx->page_size - 1, end = (w->size + mask) & ~mask;
	struct pgs_kobject object;

	if (range.end > end)
		range.end = end;
	if (range.start >= range.end)
		return 0;
	if (w->shmem && w->d->env.kmod && pgs_kmod_has(w->d->env.kmod, PGSCAN_FEAT_EXTENTS))
		return walk_extents(w, &range);
	if (find_object(w, &object))
		return walk_entries(w, &object, &range);
	return walk_residency(w, &range);
}

static int open_file(struct file_walk *w, const char *path)
{
	struct statfs fs;
	struct stat st;

	pgs_caps_raise(PGS_CAP(CAP_DAC_READ_SEARCH));
	w->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	pgs_caps_lower();
	if (w->fd < 0 || fstat(w->fd, &st) || fstatfs(w->fd, &fs))
		return pgs_ctx_fail(w->d->ctx, -errno, "cannot open '%s': %s", path,
				    strerror(errno));
	if (!S_ISREG(st.st_mode))
		return pgs_ctx_fail(w->d->ctx, -EINVAL, "'%s' is not a regular file", path);
	w->size = (uint64_t)st.st_size;
	w->shmem = fs.f_type == TMPFS_MAGIC;
	w->overlay = fs.f_type == OVERLAYFS_SUPER_MAGIC && pgs_overlay_may_swap(w->d->ctx, w->fd);
	return 0;
}

static void tell_unknown(const struct file_walk *w)
{
	char what[256];

	snprintf(what, sizeof(what), "cannot tell whether pages are in swap: %s", w->reason);
	msg_warn("%s", what);
	out_error(w->d->out, 0, what, 0);
}

int dump_file(struct dump *d)
{
	const struct opt_target *t = &d->opts->target;
	struct file_walk w = {.d = d, .fd = -1};
	int r = open_file(&w, d->opts->file);

	if (!r && !t->nr_ranges)
		r = walk_range(&w, (struct pgs_range){0, UINT64_MAX});
	for (size_t i = 0; i < t->nr_ranges && !r && !cmd_interrupted; i++)
		r = walk_range(&w, t->ranges[i]);
	pgs_closep(&w.fd);
	if (r && !out_failed(d->out))
		dump_failed(d, 0, pgs_ctx_error(d->ctx), r);
	if (w.reason)
		tell_unknown(&w);
	out_summary(d->out, "pages", PGS_U64, pgs_u64(d->total.counts.pages));
	for (unsigned int i = PGS_PRESENT; i <= PGS_NONE; i++)
		out_summary(d->out, pgs_state_name(i), PGS_U64, pgs_u64(d->total.counts.state[i]));
	dump_tell_racy(d);
	return d->failure;
}
