// SPDX-License-Identifier: GPL-2.0-only
/* Samples over time. */
#include "signals.h"
#include "wp.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#define NS_PER_S UINT64_C(1000000000)

uint64_t wp_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

int wp_take_sample(struct wp *w)
{
	const struct pgs_track_sink sink = {
		.written = wp_emit_written,
		.mapping = wp_emit_mapping,
		.arg = w,
	};
	uint64_t number = w->sample.number + 1, time_ns = wp_now_ns();
	int r = w->opts->heat && !w->heat ? wp_heat_begin(w) : 0;

	if (r)
		return r;
	w->sample = (struct wp_sample){
		.number = number,
		.elapsed_s = (double)(time_ns - w->began_ns) / (double)NS_PER_S,
		.interval_s = (double)(time_ns - w->last_ns) / (double)NS_PER_S,
	};
	r = pgs_track_sample(w->track, &sink, &time_ns);
	w->last_ns = time_ns;
	w->written_sum += w->sample.written;
	if (!r && number == 1)
		target_tell_unmatched(&w->opts->target, w->sample.mappings);
	if (!r && w->heat)
		r = wp_heat_emit(w);
	else if (!r && w->opts->by == WP_TOTAL)
		r = wp_emit_total(w);
	return r ? r : out_flush(w->out);
}

void wp_begin(struct wp *w)
{
	w->began_ns = w->last_ns = wp_now_ns();
}

bool wp_is_done(const struct wp *w)
{
	return w->opts->count && w->sample.number >= w->opts->count;
}

uint64_t wp_next_tick(const struct wp *w, uint64_t tick)
{
	uint64_t now = wp_now_ns();

	tick += w->opts->interval_ns;
	return tick > now ? tick : now;
}

/* An interruption ends the last interval early: what was written until then is told. */
static int take_samples(struct wp *w)
{
	uint64_t tick = w->began_ns;
	int r = 0;

	while (!r && !wp_is_done(w)) {
		tick = wp_next_tick(w, tick);
		signals_wait(-1, tick);
		if (cmd_interrupted)
			return wp_take_sample(w);
		r = wp_take_sample(w);
	}
	return r;
}

int wp_failed(struct wp *w, int err)
{
	const char *what = err == -ENOMEM ? "out of memory" : pgs_ctx_error(w->ctx);

	if (out_failed(w->out))
		return PGS_EXIT_FAILED;
	msg_error("%s", what);
	out_error(w->out, (int)w->pid, what, err);
	return err == -ESRCH && w->sample.number ? PGS_EXIT_INCOMPLETE : msg_exit_status(err);
}

/*
 * "fs/proc/task_mmu: fix loss of young/dirty bits during pagemap scan" (6.9 and 6.8.10,
 * CVE-2024-36943): no call shows the fault, so here the release has to do. A distributor's kernel
 * that has the fix is warned of in vain.
 */
static bool loses_dirty_bits(void)
{
	unsigned int minor, patch = 0;
	struct utsname uts;

	return !uname(&uts) && sscanf(uts.release, "6.%u.%u", &minor, &patch) >= 1 &&
	       (minor == 7 || (minor == 8 && patch < 10));
}

void wp_tell_method(const struct wp *w)
{
	enum pgs_track_method method = pgs_track_method(w->track);

	msg_debug("method %s: %s", pgs_track_method_name(method), pgs_track_why(w->track));
	if (method == PGS_TRACK_UFFD && loses_dirty_bits())
		msg_warn(
			"this kernel may lose dirty bits of the pages that are protected, and with "
			"them what was written to files (CVE-2024-36943, Linux 6.7 to 6.8.9)");
	if (method == PGS_TRACK_SOFT_DIRTY)
		msg_warn("soft-dirty is cleared for the whole process: whoever else uses it (CRIU) "
			 "is disturbed");
}

static int run_pid(struct wp *w, const struct pgs_track_opts *opts)
{
	int r = pgs_track_open(w->ctx, w->pid, opts, &w->track), status = PGS_EXIT_OK;

	if (r)
		return wp_failed(w, r);
	wp_begin(w);
	wp_tell_method(w);
	r = take_samples(w);
	if (r && r != -EPIPE)
		status = wp_failed(w, r);
	wp_summary(w);
	return status;
}

int wp_run(struct wp *w)
{
	const struct wp_opts *o = w->opts;
	const struct pgs_track_opts opts = {
		.method = o->method,
		.clear_soft_dirty = o->clear_soft_dirty,
		.hugetlb = o->hugetlb,
		.follow = o->command,
		.ranges = o->target.ranges,
		.nr_ranges = o->target.nr_ranges,
		.match = target_matches,
		.match_arg = (void *)&o->target,
		.kmod = w->kmod,
	};

	return o->command ? wp_run_command(w, &opts) : run_pid(w, &opts);
}
