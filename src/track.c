// SPDX-License-Identifier: GPL-2.0-only
#include "track_priv.h"

#include "cleanup.h"
#include "kfeat.h"
#include "procfs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *pgs_track_method_name(enum pgs_track_method method)
{
	static const char *const names[PGS_TRACK_METHODS] = {
		[PGS_TRACK_AUTO] = "auto",
		[PGS_TRACK_UFFD] = "uffd",
		[PGS_TRACK_MODULE] = "module",
		[PGS_TRACK_SOFT_DIRTY] = "soft-dirty",
	};

	return names[method];
}

const char *pgs_untracked_name(enum pgs_untracked why)
{
	static const char *const names[PGS_UNTRACKED_REASONS] = {
		[PGS_UNTRACKED_NEW] = "new",	     [PGS_UNTRACKED_READ_ONLY] = "read-only",
		[PGS_UNTRACKED_HUGETLB] = "hugetlb", [PGS_UNTRACKED_BUSY] = "another userfaultfd",
		[PGS_UNTRACKED_DEVICE] = "device",   [PGS_UNTRACKED_REFUSED] = "refused",
	};

	return names[why];
}

/* ---- a sample -------------------------------------------------------------------------------- */

static uint64_t pages_of(const struct pgs_track *t, uint64_t start, uint64_t end)
{
	return (end - start) >> t->ctx->page_shift;
}

int pgs_track_flush(struct pgs_track *t)
{
	uint64_t start = t->run_start, end = t->run_end;

	t->run_start = t->run_end = 0;
	if (start == end || !t->sink)
		return 0;
	t->tv.written += pages_of(t, start, end);
	return t->sink->written(t->sink->arg, t->tv.vma, start, end);
}

int pgs_track_written(struct pgs_track *t, uint64_t start, uint64_t end)
{
	int r = 0;

	if (start != t->run_end) {
		r = pgs_track_flush(t);
		t->run_start = start;
	}
	t->run_end = end;
	return r;
}

/* The process may have mapped something else where a tracked mapping was, in one step. */
static int forget(struct pgs_track *t, uint64_t start, uint64_t end)
{
	int r = pgs_ranges_remove(&t->tracked, start, end);

	return r ? r : t->ops->forget(t, start, end);
}

static int begin(struct pgs_track *t, uint64_t start, uint64_t end)
{
	enum pgs_untracked why = PGS_UNTRACKED_REFUSED;
	int r = t->ops->begin(t, start, end, &why);

	if (r == -ESRCH || r == -ENOMEM || r == -EOPNOTSUPP)
		return r;
	if (r) {
		t->tv.untracked[why] += pages_of(t, start, end);
		return 0;
	}
	t->tv.tracked += pages_of(t, start, end);
	if (t->sink)
		t->tv.untracked[PGS_UNTRACKED_NEW] += pages_of(t, start, end);
	return pgs_ranges_add(&t->tracked, start, end);
}

static int scan(struct pgs_track *t, uint64_t start, uint64_t end)
{
	int r = t->ops->scan(t, start, end);

	if (r == -ENXIO) {
		r = forget(t, start, end);
		return r ? r : begin(t, start, end);
	}
	t->tv.tracked += pages_of(t, start, end);
	return r;
}

/*
 * Whether writes can come. An unwritable mapping of a file has no pages of its own to lose; when it
 * becomes writable it is new. Not so anonymous memory, which runtimes reserve without access and
 * open up in parts: a part keeps what was begun for the whole.
 */
static bool may_be_written(const struct pgs_vma *vma)
{
	return vma->perms[1] == 'w' || vma->kind == PGS_VMA_ANON || vma->kind == PGS_VMA_SHMEM;
}

static int sample_range(struct pgs_track *t, uint64_t start, uint64_t end)
{
	const struct pgs_vma *vma = t->tv.vma;
	int r = 0;

	if (vma->kind == PGS_VMA_SPECIAL || !may_be_written(vma)) {
		t->tv.untracked[PGS_UNTRACKED_READ_ONLY] += pages_of(t, start, end);
		return 0;
	}
	for (uint64_t at = start, stop; at < end && !r; at = stop) {
		if (pgs_ranges_next(&t->tracked, at, end, &stop))
			r = scan(t, at, stop);
		else
			r = begin(t, at, stop);
	}
	return r;
}

static int sample_part(struct pgs_track *t, const struct pgs_vma *vma, uint64_t start, uint64_t end)
{
	int r = 0;

	t->tv = (struct pgs_track_vma){.vma = vma, .start = start, .end = end};
	if (t->at < start)
		r = forget(t, t->at, start);
	t->at = end;
	if (!r)
		r = sample_range(t, start, end);
	if (!r)
		r = pgs_track_flush(t);
	if (!r && t->sink)
		r = t->sink->mapping(t->sink->arg, &t->tv);
	return r;
}

static int sample_vma(struct pgs_track *t, const struct pgs_vma *vma)
{
	const struct pgs_track_opts *o = t->opts;
	int r = 0;

	if (o->match && !o->match(vma, o->match_arg))
		return 0;
	if (!o->nr_ranges)
		return sample_part(t, vma, vma->start, vma->end);
	for (size_t i = 0; i < o->nr_ranges && !r; i++) {
		uint64_t start = o->ranges[i].start, end = o->ranges[i].end;

		start = start > vma->start ? start : vma->start;
		end = end < vma->end ? end : vma->end;
		if (start < end)
			r = sample_part(t, vma, start, end);
	}
	return r;
}

static int walk(struct pgs_track *t, const struct pgs_track_sink *sink)
{
	_cleanup_(pgs_maps_closep) struct pgs_maps *maps = NULL;
	struct pgs_vma vma;
	int r = pgs_maps_open(t->ctx, t->pid, &maps);

	t->sink = sink;
	t->at = 0;
	while (!r && (r = pgs_maps_next(maps, &vma)) > 0)
		r = sample_vma(t, &vma);
	if (!r)
		r = forget(t, t->at, UINT64_MAX);
	if (!r && t->ops->end)
		r = t->ops->end(t);
	return r;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

int pgs_track_sample(struct pgs_track *t, const struct pgs_track_sink *sink, uint64_t *ret_time_ns)
{
	uint64_t time_ns = now_ns();
	int r;

	if (!pgs_pagemap_alive(t->pm))
		return pgs_ctx_fail(t->ctx, -ESRCH,
				    "process %d has exited or executed another program",
				    (int)t->pid);
	r = walk(t, sink);
	if (!r)
		*ret_time_ns = time_ns;
	return r;
}

/* ---- the choice of the method ---------------------------------------------------------------- */

static const struct pgs_track_ops *const all_ops[PGS_TRACK_METHODS] = {
	[PGS_TRACK_UFFD] = &pgs_track_uffd,
	[PGS_TRACK_MODULE] = &pgs_track_module,
	[PGS_TRACK_SOFT_DIRTY] = &pgs_track_soft_dirty,
};

/* A probe that failed, for want of descriptors say, has not found the feature absent. */
static int check_feature(struct pgs_track *t, enum pgs_feat_id id)
{
	const struct pgs_feat *feat = pgs_kfeat_get(t->kfeat, id);

	if (feat->state == PGS_FEAT_YES)
		return 0;
	if (feat->state == PGS_FEAT_ERROR)
		return pgs_ctx_fail(t->ctx, -feat->err, "cannot tell whether there is %s: %s",
				    pgs_feat_name(id), feat->detail ?: strerror(feat->err));
	return pgs_ctx_fail(t->ctx, -EOPNOTSUPP, "this kernel or user has no %s%s%s%s",
			    pgs_feat_name(id), feat->detail ? " (" : "", feat->detail ?: "",
			    feat->detail ? ")" : "");
}

static int check_uffd(struct pgs_track *t)
{
	static const enum pgs_feat_id ids[] = {PGS_FEAT_PAGEMAP_SCAN, PGS_FEAT_UFFD_WP_ASYNC,
					       PGS_FEAT_PTRACE, PGS_FEAT_PIDFD_GETFD};
	int r = 0;

	for (size_t i = 0; !r && i < sizeof(ids) / sizeof(ids[0]); i++)
		r = check_feature(t, ids[i]);
	return r;
}

static int check_module(struct pgs_track *t)
{
	if (!t->opts->kmod)
		return pgs_ctx_fail(t->ctx, -EOPNOTSUPP, "the module is not loaded");
	if (!pgs_kmod_has(t->opts->kmod, PGSCAN_FEAT_SCAN | PGSCAN_FEAT_SCAN_CLEAR))
		return pgs_ctx_fail(t->ctx, -EOPNOTSUPP,
				    "the module cannot clear soft-dirty on this kernel");
	return 0;
}

static int check_soft_dirty(struct pgs_track *t)
{
	int r = check_feature(t, PGS_FEAT_SOFT_DIRTY);

	if (r && r != -EOPNOTSUPP)
		return r;
	if (r)
		return pgs_ctx_fail(t->ctx, -EOPNOTSUPP,
				    "this kernel does not track soft-dirty: a write after "
				    "clear_refs sets no bit");
	if (t->opts->method == PGS_TRACK_AUTO && !t->opts->clear_soft_dirty)
		return pgs_ctx_fail(t->ctx, -EOPNOTSUPP,
				    "soft-dirty would do, but clears the bits of the whole process "
				    "for whoever else uses them: ask for it");
	return 0;
}

static int (*const checks[PGS_TRACK_METHODS])(struct pgs_track *t) = {
	[PGS_TRACK_UFFD] = check_uffd,
	[PGS_TRACK_MODULE] = check_module,
	[PGS_TRACK_SOFT_DIRTY] = check_soft_dirty,
};

static void leave_method(struct pgs_track *t)
{
	if (t->ops)
		t->ops->close(t);
	t->ops = NULL;
	t->priv = NULL;
	pgs_ranges_fini(&t->tracked);
}

static int try_method(struct pgs_track *t, enum pgs_track_method method)
{
	int r = checks[method](t);

	if (r)
		return r;
	t->method = method;
	t->ops = all_ops[method];
	r = t->ops->open(t);
	if (!r)
		r = walk(t, NULL);
	if (r)
		leave_method(t);
	return r;
}

/* What kept a better method from being used stays in t->why. Where none works, what can be helped
 * (a right, another tracer) goes before what this kernel lacks. */
static int choose(struct pgs_track *t)
{
	char before[sizeof(t->why)] = "";
	int r, err = -EOPNOTSUPP;

	for (enum pgs_track_method m = PGS_TRACK_UFFD; m < PGS_TRACK_METHODS; m++) {
		r = try_method(t, m);
		if (!r) {
			snprintf(t->why, sizeof(t->why), "%s",
				 before[0] ? before : "the first choice, and available");
			return 0;
		}
		if (r == -ESRCH || pgs_is_shortage(r))
			return r;
		snprintf(before + strlen(before), sizeof(before) - strlen(before), "%s%s: %s",
			 before[0] ? "; " : "", pgs_track_method_name(m), pgs_ctx_error(t->ctx));
		err = err == -EOPNOTSUPP ? r : err;
	}
	return pgs_ctx_fail(t->ctx, err, "no way to track writes here: %s", before);
}

/* Track the memory that the process has now. */
static int attach(struct pgs_track *t)
{
	int r = pgs_pagemap_open(t->ctx, t->pid, 0, &t->pm);

	if (r)
		return pgs_proc_explain(t->ctx, t->pid, r);
	if (!t->kfeat)
		r = pgs_kfeat_new(t->ctx, &t->kfeat);
	if (r)
		return r;
	if (t->opts->method == PGS_TRACK_AUTO)
		return choose(t);
	snprintf(t->why, sizeof(t->why), "asked for");
	return try_method(t, t->opts->method);
}

static void detach(struct pgs_track *t)
{
	leave_method(t);
	pgs_pagemap_close(t->pm);
	t->pm = NULL;
	pgs_closep(&t->uffd);
	t->uffd = -1;
}

static int watch(struct pgs_track *t)
{
	enum pgs_track_method method = t->opts->method;
	bool wants_uffd = method == PGS_TRACK_AUTO || method == PGS_TRACK_UFFD;
	struct pgs_warden_msg msg;
	int r = pgs_warden_open(t->ctx, t->pid, wants_uffd ? PGS_WARDEN_FOLLOW : PGS_WARDEN_WATCH,
				&t->warden);

	if (!r)
		r = pgs_warden_receive(t->warden, &msg, &t->uffd);
	if (!r && msg.event != PGS_WARDEN_READY)
		r = pgs_ctx_fail(t->ctx, -ECHILD, "the child that traces was killed");
	return r;
}

int pgs_track_open(struct pgs_ctx *ctx, pid_t pid, const struct pgs_track_opts *opts,
		   struct pgs_track **ret_track)
{
	_cleanup_(pgs_track_closep) struct pgs_track *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return -ENOMEM;
	t->ctx = ctx;
	t->pid = pid;
	t->opts = opts;
	t->uffd = -1;
	r = opts->follow ? watch(t) : pgs_proc_check_leader(ctx, pid) ?: attach(t);
	if (r)
		return r;
	*ret_track = t;
	t = NULL;
	return 0;
}

void pgs_track_close(struct pgs_track *t)
{
	if (!t)
		return;
	detach(t);
	pgs_warden_close(t->warden);
	pgs_kfeat_free(t->kfeat);
	free(t);
}

void pgs_track_closep(struct pgs_track **t)
{
	pgs_track_close(*t);
}

enum pgs_track_method pgs_track_method(const struct pgs_track *t)
{
	return t->method;
}

const char *pgs_track_why(const struct pgs_track *t)
{
	return t->why;
}

uint64_t pgs_track_stop_ns(const struct pgs_track *t)
{
	return t->stop_ns;
}

const struct pgs_ranges *pgs_track_map(const struct pgs_track *t)
{
	return t->ops && t->ops->map ? t->ops->map(t) : &t->tracked;
}

/* ---- following ------------------------------------------------------------------------------- */

int pgs_track_fd(const struct pgs_track *t)
{
	return pgs_warden_fd(t->warden);
}

static int follow_exec(struct pgs_track *t, const struct pgs_warden_msg *msg, int uffd)
{
	detach(t);
	t->uffd = uffd;
	t->uffd_err = msg->err;
	memcpy(t->uffd_text, msg->text, sizeof(t->uffd_text));
	t->stop_ns += msg->stop_ns;
	t->execs++;
	return attach(t);
}

int pgs_track_event(struct pgs_track *t, enum pgs_track_event *ret_event)
{
	struct pgs_warden_msg msg;
	int uffd, r;

	*ret_event = PGS_TRACK_GONE;
	r = pgs_warden_receive(t->warden, &msg, &uffd);
	if (r)
		return r;
	if (msg.forks)
		t->forks = msg.forks;
	if (msg.event == PGS_WARDEN_EXEC) {
		*ret_event = PGS_TRACK_EXEC;
		return follow_exec(t, &msg, uffd);
	}
	if (msg.event == PGS_WARDEN_EXIT)
		*ret_event = PGS_TRACK_EXIT;
	pgs_closep(&uffd);
	return 0;
}

int pgs_track_go(struct pgs_track *t)
{
	return pgs_warden_go(t->warden);
}

bool pgs_track_is_tracking(const struct pgs_track *t)
{
	return t->ops;
}

uint64_t pgs_track_execs(const struct pgs_track *t)
{
	return t->execs;
}

uint64_t pgs_track_forks(const struct pgs_track *t)
{
	return t->forks;
}
