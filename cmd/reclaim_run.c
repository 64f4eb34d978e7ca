// SPDX-License-Identifier: GPL-2.0-only
/* reclaim_run: readings at their time, and a sample of each two. */
#include "reclaim.h"
#include "signals.h"

#include <errno.h>

#define NS 1000000000u

/* And not about the module, or the kernel. */
static bool is_about_process(int err)
{
	return err == -ESRCH || err == -EPERM || err == -EACCES;
}

/* What is null because something is in the way, and not because the kernel has no such thing. */
static void note_failures(struct run *run, const struct reading *now)
{
	if (now->vm_err)
		out_error(run->out, 0, "/proc/vmstat", now->vm_err);
	if (now->swap_err)
		out_error(run->out, 0, "/proc/swaps", now->swap_err);
	if (now->reporting_err)
		out_error(run->out, 0, "/sys/bus/virtio/devices", now->reporting_err);
	for (size_t i = 0; i < now->nr_processes; i++)
		if (is_about_process(now->processes[i].err))
			out_error(run->out, (int)now->processes[i].pid,
				  reclaim_why_no_tags(now->processes[i].err),
				  now->processes[i].err);
	for (size_t i = 0; i < now->nr_cgroups; i++)
		if (now->cgroups[i].err)
			out_error(run->out, 0, now->cgroups[i].path, now->cgroups[i].err);
}

/* Takes over @now, as the last reading. */
int run_emit(struct run *run, struct reading *now)
{
	struct report *rep = &run->report;
	int err;

	rep->sample = ++run->samples;
	rep->elapsed_s = (double)(now->at_ns - run->first.at_ns) / 1e9;
	report_make(rep, &run->src, &run->last, now);
	note_failures(run, now);
	if (rep->no_memory)
		err = -ENOMEM;
	else if (run->opts->output.out.fmt == PGS_FMT_OPENMETRICS)
		err = reclaim_openmetrics(run->out, rep);
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
 * for. Prometheus takes the rates itself. */
static bool reads_once(const struct run *run)
{
	bool totals = run->opts->output.out.fmt == PGS_FMT_OPENMETRICS;

	return totals || (!run->src.ctx->live && !run->opts->interval_ns);
}

static int take_samples(struct run *run)
{
	const uint64_t interval = run->opts->interval_ns ?: NS;
	struct reading now;
	int err = reads_once(run) ? reading_take(&run->src, &run->first)
				  : reading_take_first(&run->src, &run->first);

	if (err)
		return err;
	if (reads_once(run)) {
		now = run->first;
		return run_emit(run, &now);
	}
	run->last = run->first;
	for (uint64_t n = 1; !err && (!run->opts->count || n <= run->opts->count); n++) {
		signals_wait(-1, run->first.at_ns + n * interval);
		if (cmd_interrupted)
			break;
		err = reading_take(&run->src, &now);
		err = err ?: run_emit(run, &now);
	}
	return err;
}

int run_summarise(struct run *run)
{
	struct report whole = {.sample = run->samples};
	const struct reading none = {0};
	bool one = run->last.at_ns == run->first.at_ns;
	int err;

	report_make(&whole, &run->src, one ? &none : &run->first, &run->last);
	err = whole.no_memory ? -ENOMEM : reclaim_summary(run->out, &whole);
	if (!err && run->opts->command)
		err = reclaim_command_summary(run, &whole);
	report_fini(&whole);
	return err;
}

void run_fini(struct run *run)
{
	if (run->last.at_ns != run->first.at_ns)
		reading_fini(&run->last);
	run->last = (struct reading){0};
	reading_fini(&run->first);
	report_fini(&run->report);
	run->samples = 0;
}

int run_samples(struct run *run)
{
	int err = take_samples(run);

	err = err ?: run_summarise(run);
	if (err != -ENOMEM)
		return PGS_EXIT_OK; /* out_finish() says what could not be written */
	msg_error("out of memory");
	return PGS_EXIT_FAILED;
}
