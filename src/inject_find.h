/* SPDX-License-Identifier: GPL-2.0-only */
/* inject_find: which thread of a process can be made to make a system call (inject.h), and by which
 * instruction of the process's own. Both only read /proc. */
#pragma once

#include "ctx.h"

#include <sys/types.h>

struct pgs_thread {
	pid_t tid;
	int seccomp; /* 0 none, 1 strict, 2 filter */
};

/*
 * pgs_find_thread - one of @pid's that can be stopped: not in uninterruptible sleep, not traced, in
 * a call that goes on by itself if there is such a one, and the first thread if possible.
 * Returns 0, or -errno with a line in the context: -ESRCH; -EBUSY traced by another, or no thread
 * will do now; -EOPNOTSUPP a zombie.
 */
int pgs_find_thread(struct pgs_ctx *ctx, pid_t pid, struct pgs_thread *ret_thread)
	__attribute__((nonnull, warn_unused_result));

/*
 * pgs_find_insn - the address of a system call instruction in the memory of @pid. Returns 0, or
 * -errno with a line in the context: -ESRCH, -EPERM, -EOPNOTSUPP there is none.
 */
int pgs_find_insn(struct pgs_ctx *ctx, pid_t pid, uint64_t *ret_insn)
	__attribute__((nonnull, warn_unused_result));
