// SPDX-License-Identifier: GPL-2.0-only
/*
 * reclaim_command: what reclaim did while a command ran, in a memory cgroup made for it.
 *
 * The signals that would end pgscan are blocked and waited for, so that none can leave the cgroup
 * behind. The first is passed on to the command, unless the terminal has sent it to both; a second
 * one, or 5 seconds after any but SIGINT, kills all that is in the cgroup. What the command leaves
 * running is moved to pgscan's own cgroup, or killed if pgscan was told to end.
 */
#include "child.h"
#include "reclaim.h"

#include "../src/cgmake.h"
#include "../src/cleanup.h"
#include "../src/exitstop.h"
#include "../src/procfs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#define NS	   UINT64_C(1000000000)
#define GRACE_NS   (5 * NS)
#define NAMED_LEFT 5 /* processes left that are named; the others are counted */

/* What is known of it just before its memory goes. */
struct last_look {
	bool taken;
	struct pgs_memcg memory;
	int swap_err;
	struct pgs_exitstop_swap swap;
};

struct command {
	struct run *run;
	struct pgs_cgmake *made; /* NULL: it runs where pgscan does */
	struct child child;
	sigset_t old_mask;
	bool has_ended;
	int wait_status;
	struct rusage usage;
	unsigned int signals; /* that asked us to end */
	uint64_t kill_at_ns;  /* 0: not yet */
	struct last_look look;
	char *elsewhere; /* the other cgroup that it was seen in; NULL: in none */
	bool end_seen;	 /* and where it was at its end is known */
	size_t left;	 /* processes that it left in the cgroup */
	struct pgs_count swappiness;
};

/* ---- the cgroup ------------------------------------------------------------------------------ */

static bool wants_limits(const struct reclaim_opts *opts)
{
	return opts->limit.set || opts->swap_limit.set || opts->swappiness.set;
}

static int refuse(const struct run *run, int err)
{
	msg_error("%s", err == -ENOMEM ? "out of memory" : pgs_ctx_error(run->src.ctx));
	return err == -EROFS ? PGS_EXIT_PERMISSION : msg_exit_status(err);
}

static int set_limits(struct command *c)
{
	const struct reclaim_opts *opts = c->run->opts;
	int r = pgs_cgmake_limit(c->made, opts->limit, opts->swap_limit);

	if (r == -EINVAL && !opts->limit.set)
		return msg_usage("%s", pgs_ctx_error(c->run->src.ctx));
	if (r)
		return refuse(c->run, r);
	if (!opts->swappiness.set)
		return PGS_EXIT_OK;
	r = pgs_cgmake_swappiness(c->made, opts->swappiness.n, &c->swappiness.n);
	c->swappiness.set = !r || r == -EOPNOTSUPP;
	if (r == -EOPNOTSUPP)
		msg_warn("--swappiness: %s", pgs_ctx_error(c->run->src.ctx));
	return r && r != -EOPNOTSUPP ? refuse(c->run, r) : PGS_EXIT_OK;
}

/* The cgroups asked for, and this one. */
static int watch_cgroup(struct source *src, const char *path)
{
	char **more = reallocarray(src->paths, src->nr_paths + 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	src->paths = more;
	more[src->nr_paths] = strdup(path);
	if (!more[src->nr_paths])
		return -ENOMEM;
	src->nr_paths++;
	return 0;
}

/* Without a limit the cgroup is only there to be read: where none can be made it is not missed. */
static int make_cgroup(struct command *c)
{
	struct source *src = &c->run->src;
	int r = src->cgroups ? 0 : pgs_cgroups_open(src->ctx, &src->cgroups);

	r = r ?: pgs_cgmake_new(src->ctx, src->cgroups, &c->made);
	r = r ?: watch_cgroup(src, pgs_cgmake_path(c->made));
	if (!r && pgs_cgmake_enabled(c->made))
		msg_note("the memory controller is enabled at the root of the hierarchy meanwhile");
	if (!r)
		return set_limits(c);
	if (r == -ENOMEM || wants_limits(c->run->opts))
		return refuse(c->run, r);
	msg_warn("the command runs without a cgroup of its own: %s", pgs_ctx_error(src->ctx));
	if (!src->nr_paths)
		src->sections &= ~SECTION_BIT(SECTION_CGROUP);
	return PGS_EXIT_OK;
}

/* ---- while it runs --------------------------------------------------------------------------- */

/* It may go to another cgroup, where what it does is not in the figures of this one. */
static void see_where(struct command *c, bool at_end)
{
	int r = c->made && !c->elsewhere ? pgs_cgmake_holds(c->made, c->child.pid, &c->elsewhere)
					 : -ENODATA;
	_cleanup_free_ char *what = NULL;

	c->end_seen |= at_end && r >= 0;
	if (r || asprintf(&what, "the command has left its cgroup for '%s'", c->elsewhere) < 0)
		return;
	c->run->src.left = pgs_cgmake_path(c->made);
	msg_warn("%s", what);
	out_error(c->run->out, (int)c->child.pid, what, 0);
}

static void take_last_look(struct command *c)
{
	struct source *src = &c->run->src;

	see_where(c, true);
	if (!c->made ||
	    pgs_memcg_read(src->ctx, src->cgroups, pgs_cgmake_path(c->made), &c->look.memory))
		return;
	c->look.taken = true;
	c->look.swap_err = pgs_exitstop_swap(src->ctx, c->child.pid, &c->look.swap);
}

/* Not waited for yet. */
static bool is_dead(const struct command *c)
{
	siginfo_t info = {0};

	return !waitid(P_PID, (id_t)c->child.pid, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) &&
	       info.si_pid;
}

static void reap(struct command *c)
{
	int status;

	if (is_dead(c))
		see_where(c, true);
	while (!c->has_ended &&
	       wait4(c->child.pid, &status, WNOHANG | __WALL, &c->usage) == c->child.pid) {
		if (WIFSTOPPED(status)) {
			if (pgs_exitstop_is_exit(status))
				take_last_look(c);
			pgs_exitstop_continue(c->child.pid, status);
		} else {
			c->has_ended = true;
			c->wait_status = status;
		}
	}
}

static void kill_all(struct command *c)
{
	if (c->made)
		pgs_cgmake_kill(c->made);
	if (!c->has_ended) /* wherever it is */
		kill(c->child.pid, SIGKILL);
	c->kill_at_ns = 0;
}

static void on_signal(struct command *c, const siginfo_t *info)
{
	if (info->si_signo == SIGCHLD) {
		reap(c);
		return;
	}
	if (c->signals++) {
		kill_all(c);
		return;
	}
	if (info->si_code != SI_KERNEL) /* the terminal's own goes to its whole process group */
		kill(c->child.pid, info->si_signo);
	if (info->si_signo != SIGINT)
		c->kill_at_ns = reclaim_now_ns() + GRACE_NS;
}

/* The samples of --interval. */
static int sample(struct command *c)
{
	struct reading now;
	int err;

	if (!c->has_ended)
		see_where(c, false);
	err = reading_take(&c->run->src, &now);
	return err ?: run_emit(c->run, &now);
}

static struct timespec until(uint64_t deadline_ns)
{
	uint64_t now = reclaim_now_ns(), left = deadline_ns > now ? deadline_ns - now : 0;

	if (left > 3600 * NS)
		left = 3600 * NS;
	return (struct timespec){.tv_sec = (time_t)(left / NS), .tv_nsec = (long)(left % NS)};
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a && a < b ? a : b;
}

/* Results that cannot be written end nothing: the command goes on, and its end is waited for. */
static int watch(struct command *c, const sigset_t *signals)
{
	const uint64_t interval = c->run->opts->interval_ns;
	uint64_t next = interval ? c->run->first.at_ns + interval : UINT64_MAX;
	int err = 0;

	while (!c->has_ended) {
		struct timespec timeout = until(earlier(c->kill_at_ns, next));
		siginfo_t info;

		if (sigtimedwait(signals, &info, &timeout) > 0)
			on_signal(c, &info);
		if (c->kill_at_ns && reclaim_now_ns() >= c->kill_at_ns)
			kill_all(c);
		if (reclaim_now_ns() >= next && !c->has_ended) {
			err = err ?: sample(c);
			next += interval;
		}
	}
	return err;
}

/* ---- its end --------------------------------------------------------------------------------- */

static void tell_left(struct command *c, const struct pgs_cgroup_pids *pids)
{
	char list[128] = "";
	size_t len = 0;

	for (size_t i = 0; i < pids->nr && i < NAMED_LEFT; i++)
		len += (size_t)snprintf(list + len, sizeof(list) - len, " %d", (int)pids->pids[i]);
	if (pids->nr > NAMED_LEFT)
		snprintf(list + len, sizeof(list) - len, " and %zu more", pids->nr - NAMED_LEFT);
	if (pids->nr == 1)
		msg_warn("the command left 1 process running, which %s:%s",
			 c->signals ? "is killed" : "goes on outside of its cgroup", list);
	else
		msg_warn("the command left %zu processes running, which %s:%s", pids->nr,
			 c->signals ? "are killed" : "go on outside of its cgroup", list);
}

/* One that has ended but was not waited for yet stays in the list of v1. */
static void drop_dead(struct command *c, struct pgs_cgroup_pids *pids)
{
	size_t nr = 0;

	for (size_t i = 0; i < pids->nr; i++) {
		struct pgs_proc proc;

		if (!pgs_proc_read(c->run->src.ctx, pids->pids[i], &proc) &&
		    proc.run_state != 'Z' && proc.run_state != 'X')
			pids->pids[nr++] = pids->pids[i];
	}
	pids->nr = nr;
}

static void settle_left(struct command *c)
{
	struct pgs_cgroup_pids pids;

	if (!c->made || pgs_cgroup_pids(c->run->src.cgroups, pgs_cgmake_path(c->made), &pids) < 0)
		return;
	drop_dead(c, &pids);
	c->left = pids.nr;
	if (pids.nr)
		tell_left(c, &pids);
	if (pids.nr && c->signals)
		pgs_cgmake_kill(c->made);
	pgs_cgroup_pids_fini(&pids);
}

static void tell_exec_failure(struct command *c)
{
	const char *name = c->run->opts->command[0];
	int err = child_exec_error(&c->child);

	if (!err)
		return;
	msg_error("cannot execute '%s': %s", name, strerror(err));
	out_error(c->run->out, 0, name, err);
}

static int finish(struct command *c, int err)
{
	err = err ?: sample(c);
	settle_left(c);
	err = err ?: run_summarise(c->run);
	c->run->has_status = true;
	c->run->status = child_status(c->wait_status);
	tell_exec_failure(c);
	if (c->made && pgs_cgmake_remove(c->made)) {
		msg_error("%s", pgs_ctx_error(c->run->src.ctx));
		out_error(c->run->out, 0, pgs_ctx_error(c->run->src.ctx), EBUSY);
	}
	if (err != -ENOMEM)
		return PGS_EXIT_OK; /* out_finish() says what could not be written */
	msg_error("out of memory");
	return PGS_EXIT_FAILED;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void block_signals(sigset_t *signals, sigset_t *old)
{
	/* An ignored SIGCHLD, which the caller may have left us, would lose the status. */
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(signals);
	sigaddset(signals, SIGCHLD);
	sigaddset(signals, SIGINT);
	sigaddset(signals, SIGTERM);
	sigaddset(signals, SIGHUP);
	sigaddset(signals, SIGQUIT);
	sigprocmask(SIG_BLOCK, signals, old);
}

static int run_in_cgroup(struct command *c, const sigset_t *signals)
{
	struct run *run = c->run;
	int r = make_cgroup(c);

	if (r)
		return r;
	r = child_start(run->src.ctx, run->opts->command, &c->old_mask, &c->child);
	r = r ?: reading_take_first(&run->src, &run->first);
	if (!r && c->made)
		r = pgs_cgmake_enter(c->made, c->child.pid);
	if (!r) {
		run->last = run->first;
		if (pgs_exitstop_seize(run->src.ctx, c->child.pid))
			msg_debug("%s", pgs_ctx_error(run->src.ctx));
		child_go(&c->child);
		return finish(c, watch(c, signals));
	}
	child_fini(&c->child); /* it never starts */
	if (c->child.pid > 0)
		waitpid(c->child.pid, NULL, 0);
	return refuse(run, r);
}

int reclaim_command(struct run *run)
{
	struct command c = {.run = run, .child = {.gate = -1, .trouble = -1}};
	sigset_t signals;
	int r;

	run->command = &c;
	block_signals(&signals, &c.old_mask);
	/* One that came before they were blocked is in the flag. */
	r = cmd_interrupted ? PGS_EXIT_INCOMPLETE : run_in_cgroup(&c, &signals);
	child_fini(&c.child);
	pgs_cgmake_free(c.made);
	free(c.elsewhere);
	run->command = NULL;
	sigprocmask(SIG_SETMASK, &c.old_mask, NULL);
	return r;
}

/* ---- the summary ----------------------------------------------------------------------------- */

static double seconds(struct timeval tv)
{
	return (double)tv.tv_sec + (double)tv.tv_usec / 1e6;
}

static struct pgs_val bytes_of(struct pgs_bytes bytes)
{
	return bytes.set && bytes.bytes != PGS_UNLIMITED ? pgs_u64(bytes.bytes) : PGS_NULL;
}

/* A figure of the cgroup: of a command that went elsewhere it is not its own. */
static struct pgs_val own(const struct command *c, struct pgs_val figure)
{
	return c->elsewhere ? PGS_NULL : figure;
}

static int put_process(const struct command *c, struct out *o)
{
	const char *name = c->run->opts->command[0];
	int err = out_summary(o, "command", PGS_BLOB, pgs_blob(name, strlen(name)));

	err = err
		      ?: out_summary(o, "status", PGS_U64,
				     pgs_u64((uint64_t)child_status(c->wait_status)));
	err = err ?: out_summary(o, "user_s", PGS_F64, pgs_f64(seconds(c->usage.ru_utime)));
	err = err ?: out_summary(o, "system_s", PGS_F64, pgs_f64(seconds(c->usage.ru_stime)));
	return err
		       ?: out_summary(o, "left_processes", PGS_U64,
				      c->made && !c->elsewhere ? pgs_u64(c->left) : PGS_NULL);
}

/* Whether what is said of the cgroup is the command's. */
static int put_where(const struct command *c, struct out *o)
{
	_cleanup_free_ char *left = NULL;
	const char *why = NULL;
	int err;

	if (c->elsewhere && asprintf(&left, "it was in '%s'", c->elsewhere) < 0)
		return -ENOMEM;
	if (left)
		why = left;
	else if (!c->end_seen)
		why = "where it was at its end is not known";
	err = out_summary(o, "in_cgroup", PGS_BOOL, why && !left ? PGS_NULL : pgs_bool(!left));
	return err
		       ?: out_summary(o, "in_cgroup_why", PGS_BLOB,
				      why ? pgs_blob(why, strlen(why)) : PGS_NULL);
}

/* The same keys whether there was a last look or not. */
static int put_last_look(const struct command *c, struct out *o)
{
	const struct last_look *look = &c->look;
	bool swap = look->taken && !look->swap_err;
	int err =
		out_summary(o, "end_usage_bytes", PGS_BYTES, own(c, bytes_of(look->memory.usage)));

	err = err
		      ?: out_summary(o, "end_swap_bytes", PGS_BYTES,
				     own(c, bytes_of(look->memory.swap)));
	err = err
		      ?: out_summary(o, "end_swap_anon_pages", PGS_U64,
				     swap ? pgs_u64(look->swap.anon_pages) : PGS_NULL);
	return err
		       ?: out_summary(o, "end_swap_shmem_pages", PGS_U64,
				      swap ? pgs_u64(look->swap.shmem_pages) : PGS_NULL);
}

static int put_cgroup(const struct command *c, struct out *o, const struct report *whole)
{
	static const struct {
		const char *key, *name;
		bool is_state, is_percent;
	} keys[] = {
		{"peak_bytes", "peak", true, false},
		{"swap_peak_bytes", "swap_peak", true, false},
		{"cgroup_scanned_pages", "scanned", false, false},
		{"cgroup_reclaimed_pages", "reclaimed", false, false},
		{"cgroup_refaulted_pages", "refaulted", false, false},
		{"cgroup_major_faults", "major_faults", false, false},
		{"cgroup_max_events", "max_events", false, false},
		{"cgroup_oom_kills", "oom_kills", false, false},
		{"cgroup_stalled_some_percent", "stalled_some", false, true},
		{"cgroup_stalled_full_percent", "stalled_full", false, true},
	};
	const struct labels labels = {.cgroup = pgs_cgmake_path(c->made)};
	int err = 0;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && !err; i++) {
		const struct metric *m = report_find(whole, SECTION_CGROUP, keys[i].name, labels);

		if (!m)
			continue;
		if (keys[i].is_percent)
			err = out_summary(o, keys[i].key, PGS_F64, own(c, figure_val(m->percent)));
		else
			err = out_summary(o, keys[i].key, keys[i].is_state ? PGS_BYTES : PGS_U64,
					  own(c,
					      count_val(keys[i].is_state ? m->value : m->delta)));
	}
	return err;
}

int reclaim_command_summary(struct run *run, const struct report *whole)
{
	const struct command *c = run->command;
	struct out *o = run->out;
	int err = put_process(c, o);

	if (err || !c->made)
		return err;
	err = out_summary(o, "limit_bytes", PGS_BYTES, count_val(run->opts->limit));
	err = err
		      ?: out_summary(o, "swap_limit_bytes", PGS_BYTES,
				     count_val(run->opts->swap_limit));
	err = err ?: out_summary(o, "swappiness", PGS_U64, own(c, count_val(c->swappiness)));
	err = err ?: put_where(c, o);
	err = err ?: put_cgroup(c, o, whole);
	return err ?: put_last_look(c, o);
}
