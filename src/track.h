/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * track: which pages a process has written since the last look, by whatever this kernel has for it.
 *
 * uffd		asynchronous write protection by a userfaultfd made in the process (warden.h), read
 *and renewed in one step by PAGEMAP_SCAN: exact (Linux 6.7) module	soft-dirty, read and cleared
 *by range in one step by the companion module
 * soft-dirty	soft-dirty by pagemap and clear_refs: of the whole process, in two steps
 *
 * Once a tracker is closed, however that comes about, the process is as it was, but for its
 * soft-dirty bits where those were the method.
 */
#pragma once

#include "kmodif.h"
#include "maps.h"
#include "ranges.h"
#include "units.h"

enum pgs_track_method {
	PGS_TRACK_AUTO,
	PGS_TRACK_UFFD,
	PGS_TRACK_MODULE,
	PGS_TRACK_SOFT_DIRTY,
	PGS_TRACK_METHODS,
};

/* "auto", "uffd", "module", "soft-dirty"; static. */
const char *pgs_track_method_name(enum pgs_track_method method);

/* Why pages are not tracked. */
enum pgs_untracked {
	PGS_UNTRACKED_NEW,	 /* mapped since the last sample; tracked from now on */
	PGS_UNTRACKED_READ_ONLY, /* a mapping that cannot be written, or not now */
	PGS_UNTRACKED_HUGETLB,
	PGS_UNTRACKED_BUSY,    /* another userfaultfd has it */
	PGS_UNTRACKED_DEVICE,  /* a device's memory */
	PGS_UNTRACKED_REFUSED, /* the kernel will not, and does not say why */
	PGS_UNTRACKED_REASONS,
};

/* "new", "read-only", … ; static. */
const char *pgs_untracked_name(enum pgs_untracked why);

struct pgs_track_opts {
	enum pgs_track_method method;
	bool clear_soft_dirty;		/* AUTO may fall back on PGS_TRACK_SOFT_DIRTY */
	bool hugetlb;			/* UFFD: huge pages of hugetlbfs too, see pgscan-wp(1) */
	bool follow;			/* the process is about to exec: pgs_track_follow() */
	const struct pgs_range *ranges; /* ascending; none: all */
	size_t nr_ranges;
	bool (*match)(const struct pgs_vma *vma, void *arg); /* NULL: all mappings */
	void *match_arg;
	struct pgs_kmod *kmod; /* NULL: no module; outlives the tracker */
};

/* What one sample says of one mapping, or of a part of it where ranges were given. Pages. */
struct pgs_track_vma {
	const struct pgs_vma *vma;
	uint64_t start, end;
	uint64_t tracked, written;
	uint64_t untracked[PGS_UNTRACKED_REASONS];
	uint64_t unknown; /* may have been written: reclaim took the mark (soft-dirty, shared) */
	uint64_t whole;	  /* of @written: marked as a whole mapping, which is new or was merged */
	uint64_t stuck;	  /* of @written: the mark could not be taken off before (pinned DMA) */
};

/* Where a sample goes. Each returns 0, or -errno to end the sample with. */
struct pgs_track_sink {
	/* A run of written pages, in address order; none touches another of its mapping. */
	int (*written)(void *arg, const struct pgs_vma *vma, uint64_t start, uint64_t end);
	/* A mapping, after its runs. */
	int (*mapping)(void *arg, const struct pgs_track_vma *tv);
	void *arg;
};

struct pgs_track;

/*
 * pgs_track_open - begin: whatever @pid writes from the return on is seen. Returns 0, or -errno
 * with a line in the context: -EOPNOTSUPP no method, or not this one, works here; -EPERM; -ESRCH;
 * -EBUSY. The caller owns *@ret_track; @opts and what it points to outlive it.
 */
int pgs_track_open(struct pgs_ctx *ctx, pid_t pid, const struct pgs_track_opts *opts,
		   struct pgs_track **ret_track) __attribute__((nonnull, warn_unused_result));
void pgs_track_close(struct pgs_track *track);
void pgs_track_closep(struct pgs_track **track);

/*
 * pgs_track_sample - what was written since the last sample (or the beginning), each page once, and
 * begin anew. Returns 0 and the moment it was begun, in ns of CLOCK_MONOTONIC, or -errno
 * (-ESRCH: the process has exited or executed another program).
 */
int pgs_track_sample(struct pgs_track *track, const struct pgs_track_sink *sink,
		     uint64_t *ret_time_ns) __attribute__((nonnull, warn_unused_result));

/* The method in use, why it was chosen (one line, owned by @track), and for how long the process
 * was stopped for it: ns, 0 if it was not. */
enum pgs_track_method pgs_track_method(const struct pgs_track *track) __attribute__((nonnull));
const char *pgs_track_why(const struct pgs_track *track) __attribute__((nonnull));
uint64_t pgs_track_stop_ns(const struct pgs_track *track) __attribute__((nonnull));

/* pgs_track_map - where in the tracked ranges pages have been seen so far, to within a page table,
 * as far as the method knows; otherwise the tracked ranges. Valid until the next call. */
const struct pgs_ranges *pgs_track_map(const struct pgs_track *track) __attribute__((nonnull));

/*
 * Following: with opts.follow @pid is a child of the caller that waits to execute a program.
 * pgs_track_open() then only begins to watch; tracking begins with the exec, before the program's
 * first instruction, and anew with each exec after it.
 */
enum pgs_track_event {
	PGS_TRACK_EXEC, /* another program: tracked from now on, if pgs_track_is_tracking() */
	PGS_TRACK_EXIT, /* the process is about to end: the moment for a last sample */
	PGS_TRACK_GONE, /* no more events */
};

/* pgs_track_fd - readable when there is an event. Owned by the tracker. */
int pgs_track_fd(const struct pgs_track *track) __attribute__((nonnull));
/* pgs_track_event - take it in. Returns 0 or -errno: the new program cannot be tracked, but runs;
 * *@ret_event is set. With EXEC and EXIT the process is held until pgs_track_go(). */
int pgs_track_event(struct pgs_track *track, enum pgs_track_event *ret_event)
	__attribute__((nonnull, warn_unused_result));
int pgs_track_go(struct pgs_track *track) __attribute__((nonnull));
bool pgs_track_is_tracking(const struct pgs_track *track) __attribute__((nonnull));
/* How many programs were executed, and processes forked (by the first thread), none followed. */
uint64_t pgs_track_execs(const struct pgs_track *track) __attribute__((nonnull));
uint64_t pgs_track_forks(const struct pgs_track *track) __attribute__((nonnull));
