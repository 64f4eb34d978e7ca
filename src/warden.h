/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * warden: a process of ours that makes a userfaultfd in another process and hands it over.
 *
 * The other process's registers are changed for some tens of microseconds (inject.h); a tracer that
 * dies in that time would ruin it. So a child in a session of its own does it, which the signals of
 * a terminal, of a shell or of `kill PGSCAN` do not reach: when pgscan is killed it finishes what
 * it has begun, finds nobody to hand the descriptor to, closes it and ends. What remains is a
 * SIGKILL to that very child, by its number or by its cgroup's, in that very time.
 *
 * A warden that follows stays with the process to do it again in the memory of each exec, and holds
 * the process there, and in its exit, until pgs_warden_go().
 */
#pragma once

#include "ctx.h"

#include <sys/types.h>

struct pgs_warden;

enum pgs_warden_event {
	PGS_WARDEN_UFFD,  /* a userfaultfd of the process, not yet shaken hands with */
	PGS_WARDEN_ERROR, /* there will be none: @err, and a line in the context */
	PGS_WARDEN_GONE,  /* the process has ended, or the child was killed: this was the last */
	/* Following: */
	PGS_WARDEN_READY, /* it watches; the process runs */
	PGS_WARDEN_EXEC,  /* held before the first instruction of a new program; with the
			   * userfaultfd,  or without one: @err, @text */
	PGS_WARDEN_EXIT,  /* held, with its memory, in its exit */
};

struct pgs_warden_msg {
	enum pgs_warden_event event;
	int err;	  /* -errno */
	uint64_t stop_ns; /* UFFD, EXEC: for how long the thread stood still */
	uint64_t forks;	  /* of the first thread so far, none of them followed */
	char text[200];
};

enum pgs_warden_mode {
	PGS_WARDEN_ONCE,   /* a userfaultfd of @pid as it is */
	PGS_WARDEN_FOLLOW, /* stay; a userfaultfd after each exec */
	PGS_WARDEN_WATCH,  /* stay; no userfaultfds, just hold the process at exec and exit */
};

/* pgs_warden_open - fork the child for @pid. Returns 0 or -errno; *@ret_warden is the caller's. */
int pgs_warden_open(struct pgs_ctx *ctx, pid_t pid, enum pgs_warden_mode mode,
		    struct pgs_warden **ret_warden) __attribute__((nonnull, warn_unused_result));
/* pgs_warden_close - dismiss and reap the child; it lets the process go first. Takes NULL. */
void pgs_warden_close(struct pgs_warden *warden);
void pgs_warden_closep(struct pgs_warden **warden);

/* pgs_warden_fd - readable when pgs_warden_receive() has something; owned by the warden. */
int pgs_warden_fd(const struct pgs_warden *warden) __attribute__((nonnull));
/* pgs_warden_receive - wait for the next message. *@ret_uffd: the caller's descriptor with UFFD and
 * EXEC, otherwise -1. Returns 0 or -errno; an ERROR message is its err, with the context's line. */
int pgs_warden_receive(struct pgs_warden *warden, struct pgs_warden_msg *ret_msg, int *ret_uffd)
	__attribute__((nonnull, warn_unused_result));
/* pgs_warden_go - following: let the held process run. */
int pgs_warden_go(struct pgs_warden *warden) __attribute__((nonnull));
