/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * vmstat: the counters of reclaim in /proc/vmstat and in a cgroup's memory.stat, which share their
 * names. Names come, go and are split from one kernel to the next: each counter here has the exact
 * names that it had, and is missing where none of them is. Nothing is summed by prefix:
 * pgscan_anon beside pgscan_kswapd counts the same pages, and pgscan_direct_throttle counts none.
 */
#pragma once

#include "ctx.h"

/* A number that may be unknown. */
struct pgs_count {
	bool set;
	uint64_t n;
};

enum pgs_vm_id {
	/* Events, from boot on (memory.stat: from the cgroup's creation on); pages unless said. */
	PGS_VM_SWAP_OUT,
	PGS_VM_SWAP_IN,
	PGS_VM_SWAP_OUT_ZERO, /* pages of zeroes, which take a slot and no write */
	PGS_VM_SWAP_IN_ZERO,
	PGS_VM_SCAN_KSWAPD, /* the four actors, in this order */
	PGS_VM_SCAN_DIRECT,
	PGS_VM_SCAN_KHUGEPAGED,
	PGS_VM_SCAN_PROACTIVE,
	PGS_VM_STEAL_KSWAPD,
	PGS_VM_STEAL_DIRECT,
	PGS_VM_STEAL_KHUGEPAGED,
	PGS_VM_STEAL_PROACTIVE,
	PGS_VM_SCAN_ANON,
	PGS_VM_SCAN_FILE,
	PGS_VM_STEAL_ANON,
	PGS_VM_STEAL_FILE,
	PGS_VM_SCAN, /* of all actors: memory.stat alone has it */
	PGS_VM_STEAL,
	PGS_VM_ALLOCSTALL,	/* times */
	PGS_VM_DIRECT_THROTTLE, /* times */
	PGS_VM_REFAULT,		/* anon and file in one, before 5.9 */
	PGS_VM_REFAULT_ANON,
	PGS_VM_REFAULT_FILE,
	PGS_VM_ACTIVATE,
	PGS_VM_ACTIVATE_ANON,
	PGS_VM_ACTIVATE_FILE,
	PGS_VM_RESTORE,
	PGS_VM_RESTORE_ANON,
	PGS_VM_RESTORE_FILE,
	PGS_VM_NODERECLAIM,	 /* times */
	PGS_VM_THP_SWPOUT,	 /* huge pages */
	PGS_VM_THP_SWPOUT_SPLIT, /* huge pages that had to be split */
	PGS_VM_ZSWAP_IN,
	PGS_VM_ZSWAP_OUT,
	PGS_VM_ZSWAP_WRITEBACK,
	PGS_VM_MAJOR_FAULT, /* times */
	PGS_VM_OOM_KILL,    /* processes */
	/* States, now; pages unless said. */
	PGS_VM_WORKINGSET_NODES, /* nodes of page cache trees that hold nothing but shadows */
	PGS_VM_DIRTY,
	PGS_VM_WRITEBACK,
	PGS_VM_SWAP_CACHED,
	PGS_NR_VM,
};

#define PGS_VM_ACTORS 4

struct pgs_vmstat {
	struct pgs_count count[PGS_NR_VM];
	/* /proc/vmstat: what the actors scan and reclaim for the limits of cgroups is in their
	 * counters, not in pgscan_anon and pgscan_file alone. */
	bool actors_have_cgroups;
};

/* pgs_vmstat_read - /proc/vmstat. Returns 0 or -errno. */
int pgs_vmstat_read(struct pgs_ctx *ctx, struct pgs_vmstat *ret)
	__attribute__((nonnull, warn_unused_result));

/* pgs_vmstat_parse - "name value" lines of @text; with @prefix ("total_" of a v1 memory.stat, ""
 * otherwise) only the lines that have it. What @text does not have is not set. */
void pgs_vmstat_parse(const char *text, const char *prefix, struct pgs_vmstat *ret)
	__attribute__((nonnull));

/* pgs_vm_reason - why @id may be missing from a kernel's /proc/vmstat: "no pgscan_anon in
 * /proc/vmstat (Linux 5.8)". Static. */
const char *pgs_vm_reason(enum pgs_vm_id id);
