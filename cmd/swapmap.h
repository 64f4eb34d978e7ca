/* SPDX-License-Identifier: GPL-2.0-only */
/* swapmap: what the parts of `pgscan swapmap` share; of no use to other commands. */
#pragma once

#include "cmd.h"
#include "progress.h"
#include "targets.h"
#include "../src/cgroup.h"
#include "../src/slots.h"
#include "../src/swap.h"
#include "../src/swapscan.h"

enum swapmap_by {
	SWAPMAP_AUTO, /* process for several targets, vma for one */
	SWAPMAP_PROCESS,
	SWAPMAP_VMA,
	SWAPMAP_RUN,
	SWAPMAP_PAGE,
};

struct swapmap_opts {
	struct opt_target target;
	struct opt_output output;
	enum swapmap_by by;
};

/* A process of the machine. Its index is its number as an owner in the slots. */
struct swapmap_proc {
	struct pgs_proc proc;
	int err; /* a -errno: it could not be looked into */
};

struct swapmap {
	const struct swapmap_opts *opts;
	enum swapmap_by by;
	struct pgs_ctx *ctx;
	struct pgs_scan_env env;
	struct out *out;
	struct progress *progress;
	struct targets targets;

	/* What is on the machine, from swapmap_gather(). */
	struct pgs_swap_areas swaps;
	struct swapmap_proc *procs;
	size_t nr_procs;
	size_t *shown; /* indices of the targets, in the order to show them */
	size_t nr_shown;
	struct pgs_slots *slots;
	struct pgs_swapobjs *objs; /* NULL: nothing is in swap */
	struct pgs_swap_evidence evidence;
	struct pgs_swap_match match; /* which line of @swaps a swap type is */
	bool owners_known;	     /* every process that may own a slot was looked into */
	bool hidden_slots;	     /* some slots are hidden from this user */

	/* What was shown. */
	uint64_t nr_rows, anon_pages, shmem_pages;
	uint64_t nr_refused; /* could not be looked into */
	bool shmem_unknown;
	const char *told_unknown; /* the object's reason that was said last */
	int failure;		  /* exit status of the first target that failed, 0: none did */
};

/* ---- swapmap_gather.c: the whole machine, once ------------------------------------------------
 */

/* swapmap_gather - find processes, objects, slots and their owners. PGS_EXIT_OK, or the exit status
 * after a message. */
int swapmap_gather(struct swapmap *m);
void swapmap_fini(struct swapmap *m);

/* swapmap_failed - a target failed with @err: a message, an entry in "errors", the exit status. */
void swapmap_failed(struct swapmap *m, pid_t pid, const char *what, int err);

/* ---- swapmap_rows.c: the views of processes ---------------------------------------------------
 */

extern const struct pgs_col swapmap_process_cols[], swapmap_run_cols[];

/* swapmap_columns - the columns of the view; the caller frees. NULL without memory. */
struct pgs_col *swapmap_columns(const struct swapmap *m);
/* swapmap_show - the rows. 0 or -errno of the output. */
int swapmap_show(struct swapmap *m);

/* ---- swapmap_summary.c ------------------------------------------------------------------------
 */

int swapmap_summary(struct swapmap *m);
