/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * inject: have a thread of another process make a system call, and go on as if it had not.
 *
 * The thread is seized and stopped (PTRACE_SEIZE, PTRACE_INTERRUPT), runs one system call
 * instruction that its own address space holds anyway, gets its registers back and is let go. Its
 * memory is not written to, no signal is sent, and one that arrives meanwhile is delivered first.
 *
 * Should the caller die between pgs_inject_call() and pgs_inject_close(), the kernel lets the
 * thread run on with the registers it has then, which would ruin it: only a process that nobody has
 * a reason to kill may do this. That is src/warden.c; nobody else calls these.
 */
#pragma once

#include "ctx.h"

#include <sys/types.h>

struct pgs_inject;

/* pgs_inject_supported - whether it is written down for this build's processor how. */
bool pgs_inject_supported(void);

/*
 * pgs_inject_open - find the instruction and a thread of @pid that can be stopped: not in
 * uninterruptible sleep, the first thread if possible. Nothing is stopped yet.
 * Returns 0, or -errno with a line in the context: -ESRCH; -EPERM; -EBUSY traced by another, or no
 * thread will do now; -EOPNOTSUPP a kernel thread, a zombie or 32-bit code, or this build cannot.
 * All functions want SIGCHLD blocked in the caller, which has no other children.
 */
int pgs_inject_open(struct pgs_ctx *ctx, pid_t pid, struct pgs_inject **ret_inject)
	__attribute__((nonnull, warn_unused_result));

/* pgs_inject_close - give the thread its registers back, let it go, free. Takes NULL. */
void pgs_inject_close(struct pgs_inject *inject);
void pgs_inject_closep(struct pgs_inject **inject);

/* pgs_inject_seize - become the tracer of the thread, which runs on. @options: PTRACE_O_*. */
int pgs_inject_seize(struct pgs_inject *inject, unsigned int options)
	__attribute__((nonnull, warn_unused_result));
/* pgs_inject_stop - stop it where it can be made to call. 0 or -errno (-ETIMEDOUT). */
int pgs_inject_stop(struct pgs_inject *inject) __attribute__((nonnull, warn_unused_result));

/*
 * pgs_inject_call - one system call with two arguments, in the stop. Returns 0 and the call's
 * result in *@ret_result (-errno of the target included), or -errno when it was not made.
 */
int pgs_inject_call(struct pgs_inject *inject, long nr, uint64_t arg0, uint64_t arg1,
		    int64_t *ret_result) __attribute__((nonnull, warn_unused_result));

/* pgs_inject_resume - registers restored, the thread runs on, still seized. 0 or -errno. */
int pgs_inject_resume(struct pgs_inject *inject) __attribute__((nonnull));

/*
 * pgs_inject_wait - wait for up to @timeout_ns for an event of a seized, running thread.
 * Signals are passed on and stops respected in here. Returns 1 and the event in *@ret_event: a
 * PTRACE_EVENT_*, the thread is stopped; 0 for none; -ESRCH when it has gone.
 */
int pgs_inject_wait(struct pgs_inject *inject, uint64_t timeout_ns, int *ret_event)
	__attribute__((nonnull, warn_unused_result));

/* pgs_inject_relocate - find the instruction anew: after an exec, with the thread stopped. */
int pgs_inject_relocate(struct pgs_inject *inject) __attribute__((nonnull, warn_unused_result));

pid_t pgs_inject_tid(const struct pgs_inject *inject) __attribute__((nonnull));
