/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * exitstop: a last look at a process just before its memory goes: ptrace(2) stops it on its way out
 * (PTRACE_EVENT_EXIT), when everything is still mapped. Until then it runs as it would; signals are
 * handed on as they come. It cannot be traced by others meanwhile.
 */
#pragma once

#include "ctx.h"

#include <sys/types.h>

/*
 * pgs_exitstop_seize - watch the child @pid, which has not run yet. Asks for CAP_SYS_PTRACE,
 * without which a traced process loses what set-user-ID programs would give it: -EPERM then, and
 * nothing is changed. Returns 0 or -errno.
 */
int pgs_exitstop_seize(struct pgs_ctx *ctx, pid_t pid) __attribute__((nonnull, warn_unused_result));

/* pgs_exitstop_is_exit - whether @status, of waitpid(), is the stop on the way out. */
bool pgs_exitstop_is_exit(int status);

/* pgs_exitstop_continue - let it go on after any stop that waitpid() told of. */
void pgs_exitstop_continue(pid_t pid, int status);

/* Pages in swap of a process, anonymous and shared (of all processes that map them). */
struct pgs_exitstop_swap {
	uint64_t anon_pages, shmem_pages;
};

/* pgs_exitstop_swap - VmSwap, and what smaps_rollup (4.14) has beyond it. 0 or -errno. */
int pgs_exitstop_swap(struct pgs_ctx *ctx, pid_t pid, struct pgs_exitstop_swap *ret)
	__attribute__((nonnull, warn_unused_result));
