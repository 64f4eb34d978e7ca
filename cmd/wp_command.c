// SPDX-License-Identifier: GPL-2.0-only
/* wp -- COMMAND: tracked from its first instruction to its exit. */
#include "child.h"
#include "signals.h"
#include "wp.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

/* Its status, as a shell would have it. */
static int finish(struct child *c)
{
	int status = 0;

	while (c->pid > 0 && waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
		;
	c->pid = 0;
	return child_status(status);
}

/* A terminal sends its signals to the command too; one that came to pgscan alone is passed on. */
static void pass_signal(struct child *c)
{
	int sig = cmd_interrupted;

	if (sig && !signals_from_terminal())
		kill(c->pid, sig);
	cmd_interrupted = 0;
}

static int handle_event(struct wp *w, bool *gone)
{
	enum pgs_track_event event;
	int r = pgs_track_event(w->track, &event);

	if (event == PGS_TRACK_EXEC && r) {
		msg_warn("the command runs untracked: %s", pgs_ctx_error(w->ctx));
		out_error(w->out, (int)w->pid, pgs_ctx_error(w->ctx), r);
		r = 0;
	}
	if (event == PGS_TRACK_EXEC && pgs_track_execs(w->track) == 1) {
		wp_begin(w);
		if (pgs_track_is_tracking(w->track))
			wp_tell_method(w);
	}
	if (event == PGS_TRACK_EXIT && pgs_track_is_tracking(w->track) && !wp_is_done(w))
		r = wp_take_sample(w);
	*gone = event == PGS_TRACK_GONE;
	if (!*gone)
		pgs_track_go(w->track);
	return r == -ESRCH ? 0 : r;
}

/* The output may fail, the command goes on: its end is waited for in any case. */
static int watch(struct wp *w, struct child *c)
{
	uint64_t next = SIGNALS_FOREVER;
	bool gone = false;
	int r = 0;

	while (!gone && !r) {
		bool ticks = pgs_track_is_tracking(w->track) && !wp_is_done(w), event;

		if (ticks && next == SIGNALS_FOREVER)
			next = w->began_ns + w->opts->interval_ns;
		event = signals_wait(pgs_track_fd(w->track), ticks ? next : SIGNALS_FOREVER);
		if (cmd_interrupted)
			pass_signal(c);
		if (event) {
			r = handle_event(w, &gone);
		} else if (ticks && wp_now_ns() >= next) {
			r = wp_take_sample(w);
			next = wp_next_tick(w, next);
			r = r == -ESRCH ? 0 : r; /* in an exec or its exit: an event comes */
		}
	}
	return r;
}

static void tell_exec_failure(struct wp *w, struct child *c)
{
	int err = child_exec_error(c);

	if (!err)
		return;
	msg_error("cannot execute '%s': %s", w->opts->command[0], strerror(err));
	out_error(w->out, 0, "cannot execute the command", err);
}

int wp_run_command(struct wp *w, const struct pgs_track_opts *opts)
{
	struct child c = {.gate = -1, .trouble = -1};
	sigset_t mask;
	int r;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	r = child_start(w->ctx, w->opts->command, &mask, &c);

	w->pid = c.pid;
	if (!r)
		r = pgs_track_open(w->ctx, c.pid, opts, &w->track);
	if (r) {
		r = wp_failed(w, r);
		child_fini(&c); /* it never starts */
		finish(&c);
		return r;
	}
	wp_begin(w);
	child_go(&c);
	r = watch(w, &c);
	if (r && r != -EPIPE)
		wp_failed(w, r);
	w->command_status = finish(&c);
	tell_exec_failure(w, &c);
	child_fini(&c);
	if (pgs_track_forks(w->track))
		msg_note("forks of the command's first thread, which were not followed: %llu",
			 (unsigned long long)pgs_track_forks(w->track));
	wp_summary(w);
	return PGS_EXIT_OK;
}
