/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * swapscan: what a process has in swap, run by run, anonymous and shared memory alike. A process
 * without any costs a look at /proc/PID/status, and its list of mappings only where a shmem object
 * is in swap at all.
 */
#pragma once

#include "procfs.h"
#include "scan.h"
#include "slots.h"
#include "swapobj.h"

#include <signal.h>

struct pgs_swap_run {
	uint64_t addr, pages; /* bytes, pages */
	bool is_shmem;
	bool located; /* page i lies at slot + i of swap_type */
	unsigned int swap_type;
	uint64_t slot;
	/* The name of the first page in struct pgs_slots, counting up; !named: its slot is hidden
	 * from this user, so its owners cannot be counted. */
	bool named;
	uint32_t space;
	uint64_t index;
	struct pgs_swapobj *obj; /* is_shmem: of what object */
	/* Whether these pages are in swap could not be found out: @obj is racy, or says why. */
	bool unknown;
};

struct pgs_swapscan_opts {
	const struct pgs_range *ranges; /* as in struct pgs_scan_opts */
	size_t nr_ranges;
	bool (*match)(const struct pgs_vma *vma, void *arg);
	void *match_arg;
	/*
	 * Called for each run, in address order. Non-zero ends the scan, which returns it. @vma and
	 * @run are valid during the call.
	 */
	int (*run)(void *arg, const struct pgs_vma *vma, const struct pgs_swap_run *run);
	/* Called for words of present private pages, if not NULL. Same rules. */
	int (*present)(void *arg, uint64_t addr, const uint64_t *words, size_t count);
	/* Called for each mapping of an object in swap, if not NULL. Same rules. */
	int (*object)(void *arg, const struct pgs_vma *vma, struct pgs_swapobj *obj);
	void *arg;
	/* Not NULL: once it is set, the scan ends with -EINTR, in the middle of a hole too. */
	const volatile sig_atomic_t *stop;
};

/* pgs_swapscan_may_have_anon - whether private memory of @proc may be in swap: by VmSwap, where
 * that is exact. */
bool pgs_swapscan_may_have_anon(struct pgs_scan_env *env, const struct pgs_proc *proc)
	__attribute__((nonnull));

/* pgs_swapscan - the process that @proc is. Returns 0; what a callback returned; -errno: -ESRCH
 * when it has gone or has no memory. */
int pgs_swapscan(struct pgs_scan_env *env, struct pgs_swapobjs *objs, const struct pgs_proc *proc,
		 const struct pgs_swapscan_opts *opts) __attribute__((nonnull, warn_unused_result));
