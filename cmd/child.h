/* SPDX-License-Identifier: GPL-2.0-only */
/* child: a command of the user's, held before its first instruction until it is told to go. */
#pragma once

#include <signal.h>
#include <sys/types.h>

#include "../src/ctx.h"

struct child {
	pid_t pid;
	int gate;    /* what lets it go; closed instead, it never starts */
	int trouble; /* what execvp() failed with; empty when it did not */
};

/* child_start - fork; the child waits. It runs with the signal mask @mask and with what the caller
 * had, see pgs_caps_restore(). 0 or -errno, with the context's line; child_fini() closes, and lets
 * nothing start. */
int child_start(struct pgs_ctx *ctx, char **argv, const sigset_t *mask, struct child *ret)
	__attribute__((nonnull));
void child_go(struct child *c) __attribute__((nonnull));
/* child_exec_error - once it has ended: the errno that kept it from being run, or 0. */
int child_exec_error(struct child *c) __attribute__((nonnull));
void child_fini(struct child *c) __attribute__((nonnull));

/* child_status - of waitpid(), as a shell has it: 128 and the signal for one that was killed. */
int child_status(int wait_status);
