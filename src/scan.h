/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * scan: the pages of a process, mapping by mapping, each with what page map, shmem look-up and
 * PAGEMAP_SCAN together tell of it. The commands' one way to walk a process.
 */
#pragma once

#include "maps.h"
#include "marks.h"
#include "pagemap.h"
#include "shmem.h"
#include "units.h"

/* What walks of one run of the program share; open once. */
struct pgs_scan_env {
	struct pgs_ctx *ctx;
	struct pgs_kmod *kmod; /* NULL: none. Owned by the environment */
	struct pgs_kmem *kmem; /* started when it is first asked. Owned by the environment */
	struct pgs_swap_types types;
	/* Swap is in use, or has been since the system was started: where a shared page is may be
	 * what no page table shows, in swap, or lost when an area that had it was switched off. */
	bool swap_used;
	uint64_t zero_pfn;   /* 0: not known */
	uint64_t huge_pages; /* base pages of the smallest huge mapping; 0: there are none */
	bool soft_dirty;     /* the kernel keeps the bit at all */
	bool counters_tried; /* pgs_counters_are_exact() was asked */
	bool exact_counters; /* its answer */
};

/*
 * @kmod: an open module or NULL; the environment owns it from now on, and closes it when this
 * fails. Returns 0 or -errno, the reason in pgs_ctx_error().
 */
int pgs_scan_env_init(struct pgs_ctx *ctx, struct pgs_kmod *kmod, struct pgs_scan_env *ret_env)
	__attribute__((nonnull(1, 3), warn_unused_result));
void pgs_scan_env_fini(struct pgs_scan_env *env);

struct pgs_scan_opts {
	uint32_t batch;			/* entries a read; 0: the default */
	const struct pgs_range *ranges; /* sorted, page aligned, not overlapping */
	size_t nr_ranges;		/* 0: everything */
	bool (*match)(const struct pgs_vma *vma, void *arg); /* NULL: every mapping */
	void *match_arg;
	bool marks;  /* find out `huge`, and `zero` where frames are hidden */
	bool shmem;  /* look up what shmem pages without a page table entry are */
	bool counts; /* pieces are only given to pgs_piece_count(): they may be @counted */
	bool words;  /* only words are of interest: neighbours of other states may be one piece */
};

/*
 * A piece of one mapping, in address order; uniform in source, huge and lost bits.
 * Either @words has one word a page, or (NULL) page i has the word @word + i * @step; or it is
 * @counted, and of pages in several states that no page table entry shows.
 */
struct pgs_piece {
	uint64_t addr; /* bytes */
	uint64_t pages;
	bool counted;
	struct pgs_shmem_counts counts; /* add up to the pages over all such pieces, not in each */
	const uint64_t *words;		/* valid until the next call */
	uint64_t word, step;
	enum pgs_source source;
	bool stated; /* `state` holds, whatever the words say */
	enum pgs_state state;
	bool bits_lost;	   /* soft-dirty, uffd-wp and exclusive did not survive */
	bool cached;	   /* shmem: in memory, but not mapped by this process */
	bool racy;	   /* it changed each time it was looked at */
	enum pgs_tri huge; /* mapped by a huge page table entry */
	enum pgs_tri
		zero; /* PGS_TRI_UNKNOWN: compare the frame with env->zero_pfn, if there is one */
	const char *reason; /* why the state is unknown; NULL where it is known */
};

struct pgs_scan;

/*
 * pgs_scan_open - start on process @pid. @opts is copied, what it points to must outlive the scan.
 * Returns 0, or -errno: -ESRCH no such process, or one without memory of its own.
 */
int pgs_scan_open(struct pgs_scan_env *env, pid_t pid, const struct pgs_scan_opts *opts,
		  struct pgs_scan **ret_scan) __attribute__((nonnull, warn_unused_result));
void pgs_scan_close(struct pgs_scan *scan);
void pgs_scan_closep(struct pgs_scan **scan);

/*
 * pgs_scan_next_vma - go to the next mapping, or the next part of one that several ranges cut.
 * Returns 1 with @ret_vma (valid until the next call) and the part of it to walk, 0 at the end,
 * -errno.
 */
int pgs_scan_next_vma(struct pgs_scan *scan, struct pgs_vma *ret_vma, struct pgs_range *ret_part)
	__attribute__((nonnull, warn_unused_result));

/* pgs_scan_next - the next piece of the part. 1, 0 at its end, -errno (-ESRCH: the process has
 * gone). */
int pgs_scan_next(struct pgs_scan *scan, struct pgs_piece *ret_piece)
	__attribute__((nonnull, warn_unused_result));

/* pgs_scan_pagemap - the reader behind it, owned by the scan. */
struct pgs_pagemap *pgs_scan_pagemap(struct pgs_scan *scan) __attribute__((nonnull));

/* pgs_piece_page - decode page @index of a piece. */
void pgs_piece_page(const struct pgs_piece *piece, uint64_t index, const struct pgs_scan_env *env,
		    struct pgs_page *ret_page) __attribute__((nonnull));

/*
 * pgs_scan_step - as pgs_page_step(), but 0 for the zero page: wherever it is mapped it is the same
 * frame, so that memory which was read and never written is one run and not one a page.
 */
uint64_t pgs_scan_step(const struct pgs_scan_env *env, uint64_t word) __attribute__((nonnull));

/* pgs_piece_run - how many pages from @index on are one run. */
uint64_t pgs_piece_run(const struct pgs_piece *piece, uint64_t index,
		       const struct pgs_scan_env *env) __attribute__((nonnull));

/* Counts of whole pieces. */
struct pgs_tally {
	struct pgs_counts counts;
	uint64_t huge;			 /* present pages mapped by a huge entry */
	uint64_t cached;		 /* shmem pages in memory that the process does not map */
	uint64_t cache_known;		 /* pages in swap that were looked for in the swap cache */
	bool huge_unknown, zero_unknown; /* `huge`, `counts.zero`: some pages could not be told */
	bool soft_dirty_lost; /* some shmem pages have lost their bits on the way to swap */
};

/* pgs_piece_count - add a whole piece to @tally. */
void pgs_piece_count(const struct pgs_piece *piece, const struct pgs_scan_env *env,
		     struct pgs_tally *tally) __attribute__((nonnull));
/* pgs_tally_add - add one tally to another. */
void pgs_tally_add(struct pgs_tally *to, const struct pgs_tally *from) __attribute__((nonnull));

/* pgs_piece_zero - whether the page with word @word is the zero page. */
enum pgs_tri pgs_piece_zero(const struct pgs_piece *piece, uint64_t word,
			    const struct pgs_scan_env *env) __attribute__((nonnull));
