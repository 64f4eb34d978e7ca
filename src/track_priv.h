/* SPDX-License-Identifier: GPL-2.0-only */
/* track_priv: what track.c and the methods behind it share; of no use to others. */
#pragma once

#include "kfeat.h"
#include "pagemap.h"
#include "ranges.h"
#include "track.h"
#include "warden.h"

struct pgs_track {
	struct pgs_ctx *ctx;
	pid_t pid;
	const struct pgs_track_opts *opts;
	enum pgs_track_method method;
	const struct pgs_track_ops *ops;
	struct pgs_pagemap *pm;
	struct pgs_kfeat *kfeat;
	struct pgs_warden *warden; /* following, otherwise NULL */
	int uffd;		   /* following: of the memory of the last exec, or -1 */
	int uffd_err;		   /* and why it is -1 */
	char uffd_text[200];
	uint64_t execs, forks;
	char why[512]; /* what each method lacks may be named */
	uint64_t stop_ns;
	void *priv; /* the method's */

	struct pgs_ranges tracked; /* begun, and still mapped when the last sample came by */
	uint64_t at;		   /* how far this sample has come */

	/* The mapping that is being sampled, and a run of it that may go on. */
	const struct pgs_track_sink *sink; /* NULL: begin only, nothing is reported */
	struct pgs_track_vma tv;
	uint64_t run_start, run_end;
};

/*
 * A method. All return 0 or -errno. A range lies in one mapping, that of track->tv.
 */
struct pgs_track_ops {
	/* Get ready for the process; track->pm is open. */
	int (*open)(struct pgs_track *track);
	void (*close)(struct pgs_track *track);
	/* Track a range from now on. -errno: it cannot be, and why in *@ret_why; -ESRCH;
	 * -EOPNOTSUPP if the process as a whole cannot. */
	int (*begin)(struct pgs_track *track, uint64_t start, uint64_t end,
		     enum pgs_untracked *ret_why);
	/* Report what was written of a range, pgs_track_written(), and begin anew.
	 * -ENXIO: it is not tracked any more, another mapping has taken its place. */
	int (*scan)(struct pgs_track *track, uint64_t start, uint64_t end);
	/* A range is not mapped any more. */
	int (*forget)(struct pgs_track *track, uint64_t start, uint64_t end);
	/* Where pages have been seen; may be NULL. */
	const struct pgs_ranges *(*map)(const struct pgs_track *track);
	/* All mappings have been visited; may be NULL. */
	int (*end)(struct pgs_track *track);
};

extern const struct pgs_track_ops pgs_track_uffd, pgs_track_module, pgs_track_soft_dirty;

/* pgs_track_written - the method found [@start, @end) written; in address order. */
int pgs_track_written(struct pgs_track *track, uint64_t start, uint64_t end)
	__attribute__((nonnull, warn_unused_result));
/* pgs_track_flush - pass on the run that may have gone on, so that tv.written is up to date. */
int pgs_track_flush(struct pgs_track *track) __attribute__((nonnull, warn_unused_result));

static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}
