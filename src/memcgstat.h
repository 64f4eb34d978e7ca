/* SPDX-License-Identifier: GPL-2.0-only */
/* memcgstat: what reclaim does in a memory cgroup, in one meaning for v1 and v2; the figures of
 * memcg.h and more. */
#pragma once

#include "memcg.h"
#include "psi.h"
#include "vmstat.h"

/*
 * All are of the cgroup and those below it:
 *   anon, file, shmem   memory.stat; v1: total_rss, total_cache, total_shmem. file has shmem in it
 *   peak, swap_peak     the highest usage and swap ever; v1 has no swap_peak
 *   high, max, oom      memory.events: times that reclaim was forced by memory.high, by the limit,
 *                       that the OOM killer was near; v1: memory.failcnt is max, the others missing
 *   oom_kill            processes killed
 *   vm                  the counters of memory.stat; v1: its total_ ones, of which there are few
 */
struct pgs_memcg_stat {
	struct pgs_memcg memory;
	struct pgs_bytes anon, file, shmem;
	struct pgs_bytes peak, swap_peak;
	struct pgs_count high, max, oom, oom_kill;
	struct pgs_vmstat vm;
	struct pgs_psi psi;
	int psi_err; /* 0, or why @psi is not set, as pgs_psi_read_cgroup() says it */
};

/* pgs_memcg_stat_read - fill @ret for @path (as resolved). What is missing is not set. Where v2's
 * root lacks files the figures are the machine's (memory.is_whole_machine). Returns 0; -ENOENT if
 * the cgroup is gone; -errno. */
int pgs_memcg_stat_read(struct pgs_ctx *ctx, struct pgs_cgroups *cgroups, const char *path,
			struct pgs_memcg_stat *ret) __attribute__((nonnull, warn_unused_result));
