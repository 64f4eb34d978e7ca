// SPDX-License-Identifier: GPL-2.0-only
#include "exitstop.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "caps.h"
#include "cleanup.h"
#include "procfs.h"

int pgs_exitstop_seize(struct pgs_ctx *ctx, pid_t pid)
{
	int r = 0;

	if (pgs_caps_missing(PGS_CAP(CAP_SYS_PTRACE)) >= 0)
		return pgs_ctx_fail(ctx, -EPERM, "a last look needs CAP_SYS_PTRACE");
	pgs_caps_raise(PGS_CAP(CAP_SYS_PTRACE));
	if (ptrace(PTRACE_SEIZE, pid, NULL, PTRACE_O_TRACEEXIT) < 0)
		r = -errno;
	pgs_caps_lower();
	return r ? pgs_ctx_fail(ctx, r, "cannot trace process %d: %s", (int)pid, strerror(-r)) : 0;
}

static int event_of(int status)
{
	return status >> 16;
}

bool pgs_exitstop_is_exit(int status)
{
	return WIFSTOPPED(status) && event_of(status) == PTRACE_EVENT_EXIT;
}

/* A stop of the whole process (SIGSTOP, Ctrl-Z) goes on until SIGCONT: listening leaves it so. */
static bool is_group_stop(int status)
{
	int sig = WSTOPSIG(status);

	return event_of(status) == PTRACE_EVENT_STOP &&
	       (sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU);
}

void pgs_exitstop_continue(pid_t pid, int status)
{
	long sig = event_of(status) ? 0 : WSTOPSIG(status);

	if (is_group_stop(status))
		ptrace(PTRACE_LISTEN, pid, NULL, NULL);
	else
		ptrace(PTRACE_CONT, pid, NULL, sig);
}

int pgs_exitstop_swap(struct pgs_ctx *ctx, pid_t pid, struct pgs_exitstop_swap *ret)
{
	_cleanup_free_ char *rollup = NULL;
	struct pgs_proc proc;
	uint64_t all_kb;
	ssize_t len;
	int r = pgs_proc_read(ctx, pid, &proc);

	if (r)
		return r;
	len = pgs_read_file(ctx, PGS_CAP(CAP_SYS_PTRACE), &rollup, "proc/%d/smaps_rollup",
			    (int)pid);
	if (len < 0)
		return (int)len;
	if (!proc.has_swap_kb || pgs_text_field(rollup, "Swap", &all_kb) != 1)
		return pgs_ctx_fail(ctx, -ENODATA, "no swap in '/proc/%d/smaps_rollup'", (int)pid);
	if (all_kb < proc.vm_swap_kb)
		all_kb = proc.vm_swap_kb;
	ret->anon_pages = proc.vm_swap_kb * 1024 >> ctx->page_shift;
	ret->shmem_pages = (all_kb - proc.vm_swap_kb) * 1024 >> ctx->page_shift;
	return 0;
}
