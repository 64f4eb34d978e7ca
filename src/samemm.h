/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * samemm: processes that share their memory, being made by clone(2) with CLONE_VM: a vfork child
 * before it executes, threads of one's own making. Each of them shows the same pages in /proc, so
 * who adds processes up must know.
 */
#pragma once

#include "ctx.h"

#include <sys/types.h>

/*
 * pgs_same_mm - @ret_first[i] is the index of the first of @nr processes whose memory is that of
 * process i, which is i itself where nobody shares it. Asks kcmp(2); where that cannot tell, for
 * lack of CONFIG_KCMP or of rights, or because a process has gone, none is said to share. Needs
 * nr * log(nr) calls. Returns 0 or -ENOMEM.
 */
int pgs_same_mm(const struct pgs_ctx *ctx, const pid_t *pids, size_t nr, size_t *ret_first)
	__attribute__((nonnull, warn_unused_result));
