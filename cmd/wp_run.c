// SPDX-License-Identifier: GPL-2.0-only
/* Samples over time. */
#include "wp.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define NS_PER_S UINT64_C(1000000000)

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

/* Until @when, or a signal. */
static void sleep_until(uint64_t when)
{
	struct timespec ts = {.tv_sec = (time_t)(when / NS_PER_S),
			      .tv_nsec = (long)(when % NS_PER_S)};

	while (!cmd_interrupted &&
	       clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

static int take_sample(struct wp *w)
{
	const struct pgs_track_sink sink = {
		.written = wp_emit_written,
		.mapping = wp_emit_mapping,
		.arg = w,
	};
	uint64_t number = w->sample.number + 1, time_ns = now_ns();
	int r;

	w->sample = (struct wp_sample){
		.number = number,
		.elapsed_s = (double)(time_ns - w->began_ns) / (double)NS_PER_S,
		.interval_s = (double)(time_ns - w->last_ns) / (double)NS_PER_S,
	};
	r = pgs_track_sample(w->track, &sink, &time_ns);
	w->last_ns = time_ns;
	w->written_sum += w->sample.written;
	if (!r && w->opts->by == WP_TOTAL)
		r = wp_emit_total(w);
	return r ? r : out_flush(w->out);
}

/* Ticks that were missed, because a sample took longer than the interval, are not made up for. */
static int take_samples(struct wp *w)
{
	uint64_t next = w->began_ns, now;
	int r = 0;

	while (!r && !cmd_interrupted && (!w->opts->count || w->sample.number < w->opts->count)) {
		now = now_ns();
		next += w->opts->interval_ns;
		next = next > now ? next : now;
		sleep_until(next);
		r = take_sample(w);
	}
	return r;
}

static int failed(struct wp *w, int err)
{
	const char *what = err == -ENOMEM ? "out of memory" : pgs_ctx_error(w->ctx);

	msg_error("%s", what);
	out_error(w->out, (int)w->pid, what, err);
	return msg_exit_status(err);
}

int wp_run(struct wp *w)
{
	const struct wp_opts *o = w->opts;
	const struct pgs_track_opts opts = {
		.method = o->method,
		.clear_soft_dirty = o->clear_soft_dirty,
		.ranges = o->target.ranges,
		.nr_ranges = o->target.nr_ranges,
		.match = target_matches,
		.match_arg = (void *)&o->target,
		.kmod = w->kmod,
	};
	int r = pgs_track_open(w->ctx, w->pid, &opts, &w->track), status = PGS_EXIT_OK;

	if (r)
		return failed(w, r);
	w->began_ns = w->last_ns = now_ns();
	msg_debug("method %s: %s", pgs_track_method_name(pgs_track_method(w->track)),
		  pgs_track_why(w->track));
	r = take_samples(w);
	if (r && r != -EPIPE)
		status = failed(w, r);
	if (r == -ESRCH)
		status = PGS_EXIT_INCOMPLETE;
	wp_summary(w);
	return status;
}
