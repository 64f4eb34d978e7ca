// SPDX-License-Identifier: GPL-2.0-only
/* The views of processes: one walk, and what each view does with its pieces. */
#include "dump.h"

#include "../src/cleanup.h"
#include "../src/kfeat.h"
#include "../src/procfs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One process on its way through. */
struct walk {
	struct dump *d;
	struct pgs_scan *scan;
	pid_t pid;
	struct pgs_vma vma;
	struct pgs_range part;
	struct dump_run pending; /* a run that may go on; no pages: none */
	bool told_unknown;	 /* why states are unknown was said once */
	uint64_t shown_pages;
	uint64_t at; /* hex and raw: the address the output has come to */
	size_t range;
};

/* ---- runs ------------------------------------------------------------------------------------ */

static int flush(struct walk *w)
{
	struct dump_run *run = &w->pending;
	int r = 0;

	if (run->pages)
		r = dump_emit_run(w->d, w->pid, &w->vma, run);
	run->pages = 0;
	return r;
}

/* Everything but address, length and location. */
static bool same_kind(const struct dump_run *a, const struct dump_run *b)
{
	return a->page.state == b->page.state && a->source == b->source &&
	       a->bits_lost == b->bits_lost && a->cached == b->cached && a->huge == b->huge &&
	       a->zero == b->zero && a->has_flags == b->has_flags && a->racy == b->racy &&
	       a->kpageflags == b->kpageflags && a->mapcount == b->mapcount &&
	       a->cgroup_inode == b->cgroup_inode;
}

/* Where a run is cut into pieces by a window's end, its parts are one row again. */
static bool goes_on(const struct walk *w, const struct dump_run *a, const struct dump_run *b)
{
	uint64_t step = pgs_scan_step(&w->d->env, a->word);

	return a->pages && same_kind(a, b) &&
	       b->addr == a->addr + (a->pages << w->d->ctx->page_shift) &&
	       b->word == a->word + a->pages * step;
}

static void tally_run(struct pgs_tally *tally, const struct dump_run *run)
{
	const struct pgs_page *page = &run->page;
	struct pgs_counts *c = &tally->counts;
	uint64_t n = run->pages;

	c->pages += n;
	c->state[page->state] += n;
	tally->soft_dirty_lost |= run->bits_lost;
	tally->cached += run->cached ? n : 0;
	tally->cache_known += run->cache_known ? n : 0;
	if (page->state == PGS_NONE || page->state == PGS_UNSCANNED)
		return;
	c->file += page->file ? n : 0;
	c->soft_dirty += page->soft_dirty ? n : 0;
	c->exclusive += page->exclusive ? n : 0;
	c->uffd_wp += page->uffd_wp ? n : 0;
	c->guard += page->guard ? n : 0;
	c->zero += run->zero == PGS_TRI_YES ? n : 0;
	c->hidden += page->state == PGS_PRESENT && !page->has_frame ? n : 0;
	tally->huge += run->huge == PGS_TRI_YES ? n : 0;
	tally->huge_unknown |= run->huge == PGS_TRI_UNKNOWN;
	tally->zero_unknown |= run->zero == PGS_TRI_UNKNOWN;
}

static int show_run(struct walk *w, const struct dump_run *run)
{
	int r;

	switch (w->d->opts->by) {
	case DUMP_VMA:
		return 0; /* counted by the caller */
	case DUMP_FLAGS:
		return run->has_flags && !run->racy
			       ? dump_hist_add(w->d, run->kpageflags, run->pages)
			       : 0;
	case DUMP_PAGE:
		return dump_emit_pages(w->d, w->pid, &w->vma, run);
	case DUMP_RUN:
		break;
	}
	if (goes_on(w, &w->pending, run)) {
		w->pending.pages += run->pages;
		return 0;
	}
	r = flush(w);
	w->pending = *run;
	return r;
}

/* Cut a piece into runs, filter and show them. */
static int show_piece(struct walk *w, const struct pgs_piece *piece, struct pgs_tally *tally)
{
	struct dump *d = w->d;
	int r = 0;

	d->nr_racy += piece->racy ? piece->pages : 0;
	for (uint64_t i = 0, n; i < piece->pages && !r && !cmd_interrupted; i += n) {
		struct dump_run run = {
			.addr = piece->addr + (i << d->ctx->page_shift),
			.word = piece->words ? piece->words[i] : piece->word + i * piece->step,
			.source = piece->source,
			.bits_lost = piece->bits_lost,
			.cached = piece->cached,
			.racy = piece->racy,
		};

		pgs_piece_page(piece, i, &d->env, &run.page);
		if (run.page.state ==
		    PGS_PRESENT) /* empty hugetlb slots are HUGE to PAGEMAP_SCAN */
			run.huge = piece->huge;
		run.zero = pgs_piece_zero(piece, run.word, &d->env);
		n = pgs_piece_run(piece, i, &d->env);
		if (d->frames.kpage && piece->words)
			n = dump_frames_cut(d, i, n, &run);
		if (run.page.has_slot)
			n = dump_slots_cut(d, n, &run);
		run.pages = n;
		d->saw_ksm |= run.has_flags && run.kpageflags & PGS_KPF_KSM;
		if (d->where && !dump_where_matches(d->where, &run, d->env.soft_dirty))
			continue;
		tally_run(tally, &run);
		r = show_run(w, &run);
	}
	return r;
}

/* Why a state is null stands in "errors" once a process: every piece would repeat it. */
static void tell_unknown(struct walk *w, const struct pgs_piece *piece)
{
	char what[320];

	if (w->told_unknown || !piece->reason)
		return;
	w->told_unknown = true;
	snprintf(what, sizeof(what), "cannot tell whether shared pages are in swap: %s",
		 piece->reason);
	msg_warn("process %d: %s", (int)w->pid, what);
	out_error(w->d->out, w->pid, what, 0);
}

static bool counts_only(const struct dump *d)
{
	return d->opts->by == DUMP_VMA && !d->where;
}

static int show_vma(struct walk *w)
{
	struct dump *d = w->d;
	bool in_bulk = counts_only(d);
	struct pgs_tally tally = {0};
	struct pgs_piece piece;
	int r;

	while ((r = pgs_scan_next(w->scan, &piece)) > 0 && !cmd_interrupted) {
		progress_add(d->progress, piece.pages);
		tell_unknown(w, &piece);
		if (d->frames.kpage && piece.words)
			r = dump_frames_load(d, w->scan, &piece);
		if (r < 0)
			break;
		r = 0;
		if (in_bulk)
			pgs_piece_count(&piece, &d->env, &tally);
		else
			r = show_piece(w, &piece, &tally);
		if (r)
			break;
	}
	w->shown_pages += tally.counts.pages;
	pgs_tally_add(&d->total, &tally);
	if (r >= 0) /* 1: interrupted with a piece at hand */
		r = flush(w);
	if (!r && !cmd_interrupted && d->opts->by == DUMP_VMA && (!d->where || tally.counts.pages))
		r = dump_emit_vma(d, w->pid, &w->vma, &w->part, &tally);
	return r;
}

/* ---- hex and raw ----------------------------------------------------------------------------- */

/* Where pagemap ends, which is where the address space does, but @end at the latest. @start is
 * within it. */
static uint64_t pagemap_end(const struct walk *w, uint64_t start, uint64_t end)
{
	unsigned int shift = w->d->ctx->page_shift;
	uint64_t has = start >> shift, lacks = end >> shift, page = lacks - 1, word;

	for (; has + 1 < lacks; page = has + (lacks - has) / 2)
		if (pgs_pagemap_read(pgs_scan_pagemap(w->scan), page << shift, 1, &word) > 0)
			has = page;
		else
			lacks = page;
	return (has + 1) << shift;
}

/* Ranges are printed as asked for, with zeroes where there is no mapping, as pagemap has them. */
static int pad_to(struct walk *w, uint64_t addr)
{
	uint64_t from = w->at, word;

	w->at = addr;
	if (addr <= from || pgs_pagemap_read(pgs_scan_pagemap(w->scan), from, 1, &word) <= 0)
		return 0;
	addr = pagemap_end(w, from, addr);
	return out_fill(w->d->out, 0, (addr - from) >> w->d->ctx->page_shift);
}

/* Zeroes up to @addr: the rest of the ranges before it and the start of the one it is in. */
static int pad_ranges(struct walk *w, uint64_t addr)
{
	const struct opt_target *t = &w->d->opts->target;
	int r = 0;

	for (; w->range < t->nr_ranges && !r; w->range++) {
		const struct pgs_range *range = &t->ranges[w->range];

		if (range->start > w->at)
			w->at = range->start;
		if (addr < range->end)
			return addr > w->at ? pad_to(w, addr) : 0;
		r = pad_to(w, range->end);
	}
	return r;
}

static int dump_piece_words(struct walk *w, const struct pgs_piece *piece)
{
	int r = 0;

	if (piece->words)
		return out_words(w->d->out, piece->words, piece->pages);
	if (!piece->step)
		return out_fill(w->d->out, piece->word, piece->pages);
	for (uint64_t i = 0; i < piece->pages && !r && !cmd_interrupted; i++) {
		uint64_t word = piece->word + i * piece->step;

		r = out_words(w->d->out, &word, 1);
	}
	return r;
}

static int dump_vma_words(struct walk *w)
{
	struct pgs_piece piece;
	int r;

	if (!strcmp(w->vma.name, "[vsyscall]")) /* beyond the end of pagemap */
		return 0;
	r = pad_ranges(w, w->part.start);
	while (!r && (r = pgs_scan_next(w->scan, &piece)) > 0 && !cmd_interrupted) {
		progress_add(w->d->progress, piece.pages);
		pgs_piece_count(&piece, &w->d->env, &w->d->total);
		w->shown_pages += piece.pages;
		r = dump_piece_words(w, &piece);
	}
	w->at = w->part.end;
	return r > 0 ? 0 : r;
}

static bool is_words(const struct dump *d)
{
	enum pgs_fmt fmt = d->opts->output.out.fmt;

	return fmt == PGS_FMT_HEX || fmt == PGS_FMT_RAW;
}

/* ---- processes ------------------------------------------------------------------------------- */

static int walk_process(struct walk *w)
{
	struct dump *d = w->d;
	int r;

	while ((r = pgs_scan_next_vma(w->scan, &w->vma, &w->part)) > 0 && !cmd_interrupted) {
		r = is_words(d) ? dump_vma_words(w) : show_vma(w);
		if (r)
			return r;
	}
	if (!r && is_words(d) && !cmd_interrupted)
		r = pad_ranges(w, UINT64_MAX);
	return r > 0 ? 0 : r;
}

/* Of a group, those that may not be read are told in one line: there can be hundreds. */
static void refused(struct dump *d, pid_t pid, int err)
{
	if (!d->nr_refused++)
		snprintf(d->refusal, sizeof(d->refusal), "%s", pgs_ctx_error(d->ctx));
	out_error(d->out, pid, pgs_ctx_error(d->ctx), err);
	if (!d->failure)
		d->failure = msg_exit_status(err);
}

/* Whether a look-up of shared memory tells more than the state: else words are the kernel's. */
static bool shows_slots(struct dump *d)
{
	return d->env.kmod || pgs_kmem_has(d->env.kmem, PGS_KMEM_OBJECT);
}

/*
 * Where swap has never been in use no shared page can be in it, or lost in it: then only what tells
 * for nothing, or was required, is asked which of them are in memory. The file behind each mapping
 * tells, too, but that made dump -a of a machine without swap up to four times as slow.
 */
static bool looks_up(const struct dump *d)
{
	return d->env.swap_used || d->env.kmod || d->opts->target.kcore == OPT_REQUIRE;
}

/* The files of /proc/PID are those of the first thread, which may be the first to exit. */
static int open_scan(struct dump *d, pid_t pid, const struct pgs_scan_opts *opts,
		     struct pgs_scan **ret)
{
	struct pgs_proc proc;
	int r = pgs_scan_open(&d->env, pid, opts, ret);

	if (r == -ESRCH && !pgs_proc_read(d->ctx, pid, &proc) && proc.task != pid)
		r = pgs_scan_open(&d->env, proc.task, opts, ret);
	return r ? pgs_proc_explain(d->ctx, pid, r) : 0;
}

static void dump_one(struct dump *d, const struct targets *targets, pid_t pid)
{
	const struct pgs_scan_opts opts = {
		.batch = d->opts->batch,
		.ranges = d->opts->target.ranges,
		.nr_ranges = d->opts->target.nr_ranges,
		.match = target_matches,
		.match_arg = (void *)&d->opts->target,
		.marks = !is_words(d),
		.shmem = is_words(d) ? d->looks_up && shows_slots(d) : d->looks_up,
		.counts = counts_only(d),
		.words = is_words(d),
	};
	_cleanup_(pgs_scan_closep) struct pgs_scan *scan = NULL;
	struct walk w = {.d = d, .pid = pid};
	int r = targets->named ? pgs_proc_check_leader(d->ctx, pid) : 0;

	r = r ?: open_scan(d, pid, &opts, &scan);
	if (r == -ESRCH && !targets->named)
		return; /* a kernel thread, or gone since the list was made */
	w.scan = scan;
	if (!r)
		r = walk_process(&w);
	d->nr_processes += !r;
	if (w.shown_pages && r)
		d->failure = PGS_EXIT_INCOMPLETE;
	if ((r == -EACCES || r == -EPERM) && !targets->named)
		refused(d, pid, r);
	else if (r && !out_failed(d->out))
		dump_failed(d, pid, pgs_ctx_error(d->ctx), r);
}

/* The address space of a single target, 0 if it is not known. */
static uint64_t count_pages(struct dump *d, const struct targets *targets)
{
	_cleanup_(pgs_maps_closep) struct pgs_maps *maps = NULL;
	struct pgs_vma vma;
	uint64_t pages = 0;

	if (targets->nr != 1 || d->opts->target.nr_ranges ||
	    pgs_maps_open(d->ctx, targets->pids[0], &maps))
		return 0;
	while (pgs_maps_next(maps, &vma) > 0)
		if (target_matches(&vma, (void *)&d->opts->target))
			pages += (vma.end - vma.start) >> d->ctx->page_shift;
	return pages;
}

/* Kernels 6.7 to 7.0 set the KSM flag for every anonymous page (fs/proc/page.c tested a mask that
 * holds the anonymous bit). */
static void tell_ksm(struct dump *d)
{
	uint64_t shared = 0;
	int r = pgs_read_u64(d->ctx, 0, &shared, "sys/kernel/mm/ksm/pages_shared");

	if (shared || (r && r != -ENOENT)) /* -ENOENT: a kernel without KSM */
		return;
	msg_note("the ksm flag is not reliable on this kernel: no page is shared by KSM");
	out_summary(d->out, "ksm_reliable", PGS_BOOL, pgs_bool(false));
}

static void tell_notes(struct dump *d, const struct targets *targets)
{
	if (d->nr_processes && !is_words(d) && !d->opts->where)
		target_tell_unmatched(&d->opts->target, d->total.counts.pages);
	if (d->total.counts.hidden)
		msg_note("frame numbers are hidden (needs CAP_SYS_ADMIN)");
	dump_tell_racy(d);
	if (d->saw_ksm)
		tell_ksm(d);
	if (d->nr_refused)
		msg_error("%zu of %zu processes could not be read: %s", d->nr_refused, targets->nr,
			  d->refusal);
	targets_tell_hidden(targets, d->out);
}

#define MANY_ENTRIES (UINT64_C(1) << 28) /* 1 TiB of address space, 2 GiB of raw entries */

/* Raw entries are those of a range from its start to its end, mapped or not, for each process. */
static void tell_range(const struct dump *d, const struct targets *targets)
{
	const struct opt_target *t = &d->opts->target;
	uint64_t pages = 0;

	for (size_t i = 0; i < t->nr_ranges; i++)
		pages += (t->ranges[i].end - t->ranges[i].start) >> d->ctx->page_shift;
	if (targets->nr && pages > MANY_ENTRIES / targets->nr)
		msg_warn("--range has %llu pages, and each will be printed, mapped or not, up to "
			 "the end of the page map",
			 (unsigned long long)pages);
}

/* The share done is of the address space, which is only asked for when somebody sees the line, or
 * should know what is coming. */
static void start_progress(struct dump *d, const struct targets *targets)
{
	bool each_page = d->opts->by == DUMP_PAGE || d->opts->output.out.fmt == PGS_FMT_RAW;
	uint64_t pages = 0;

	if (each_page || isatty(STDERR_FILENO))
		pages = count_pages(d, targets);
	if (each_page && pages > MANY_ENTRIES)
		msg_warn("the address space has %llu pages, and each will be printed: --range and "
			 "--vma choose, --by=run is short",
			 (unsigned long long)pages);
	if (d->opts->output.out.fmt == PGS_FMT_RAW)
		tell_range(d, targets);
	d->progress = progress_new("pages", pages, d->opts->output.verbosity);
}

/* Flags are looked up by frame. Where frames are hidden nothing can be, and a filter on flags would
 * match nothing. */
static int check_frames_visible(struct dump *d)
{
	_cleanup_(pgs_kfeat_freep) struct pgs_kfeat *kfeat = NULL;
	const struct pgs_feat *feat;
	int r;

	if (!d->ctx->live)
		return 0;
	r = pgs_kfeat_new(d->ctx, &kfeat);
	if (r)
		return pgs_ctx_fail(d->ctx, r, "out of memory");
	feat = pgs_kfeat_get(kfeat, PGS_FEAT_PFN_VISIBLE);
	if (feat->state != PGS_FEAT_DENIED)
		return 0;
	return pgs_ctx_fail(d->ctx, -EPERM, "flags of frames: frame numbers are %s",
			    feat->detail ?: "hidden (needs CAP_SYS_ADMIN)");
}

int dump_processes(struct dump *d)
{
	struct targets targets;
	int r = targets_find(d->ctx, &d->opts->target, &targets);

	if (r) {
		if (r != PGS_EXIT_USAGE)
			out_error(d->out, 0, pgs_ctx_error(d->ctx), 0);
		return r;
	}
	if (dump_wants_frames(d) && (r = dump_frames_open(d) ?: check_frames_visible(d))) {
		msg_error("%s", pgs_ctx_error(d->ctx));
		out_error(d->out, 0, pgs_ctx_error(d->ctx), r);
		targets_fini(&targets);
		return msg_exit_status(r);
	}
	start_progress(d, &targets);
	d->looks_up = looks_up(d);
	for (size_t i = 0; i < targets.nr && !cmd_interrupted; i++)
		dump_one(d, &targets, targets.pids[i]);
	if (d->opts->by == DUMP_FLAGS)
		dump_hist_emit(d);
	dump_summary(d);
	progress_clear();
	tell_notes(d, &targets);
	targets_fini(&targets);
	return d->nr_processes && d->failure ? PGS_EXIT_INCOMPLETE : d->failure;
}
