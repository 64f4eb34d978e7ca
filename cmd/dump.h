/* SPDX-License-Identifier: GPL-2.0-only */
/* dump: what the parts of `pgscan dump` share; of no use to other commands. */
#pragma once

#include "cmd.h"
#include "dump_where.h"
#include "progress.h"
#include "targets.h"
#include "../src/cgroup.h"
#include "../src/kpage.h"
#include "../src/scan.h"
#include "../src/swap.h"

enum dump_by { DUMP_RUN, DUMP_VMA, DUMP_PAGE, DUMP_FLAGS };

struct dump_opts {
	struct opt_target target;
	struct opt_output output;
	enum dump_by by;
	bool flags;	   /* --flags */
	const char *where; /* --where, NULL: all */
	uint32_t batch;	   /* --batch, 0: the default */
	uint64_t *entries; /* --decode, each of them */
	size_t nr_entries;
	bool pfn;		 /* --pfn */
	struct pgs_range frames; /* its range; 0-0: all */
	const char *file;	 /* --file */
};

/* What the frames of a window are; arrays of one element a page of the piece. */
struct dump_frames {
	struct pgs_kpage *kpage; /* NULL: not asked for */
	struct pgs_zones *zones;
	struct pgs_cgroups *cgroups; /* NULL: this kernel has no memory controller to name */
	size_t room;
	uint64_t *words, *again; /* the page map, before the frames were looked at and after */
	uint64_t *pfns, *word[PGS_KPAGE_FILES];
	bool *racy; /* the page moved between the reads */
};

/* Frames by flags, for --by=flags. */
struct flag_count {
	uint64_t flags, pages;
};

struct dump {
	const struct dump_opts *opts;
	struct pgs_ctx *ctx;
	struct pgs_scan_env env;
	struct pgs_swap_areas swaps;
	struct out *out;
	struct dump_where *where; /* NULL: all */
	bool looks_up;		  /* shared pages that no page table shows are looked for */
	struct dump_frames frames;
	struct dump_slots *slots; /* dump_slots.c; NULL: not looked at */
	struct progress *progress;
	struct pgs_tally total;
	struct flag_count *hist; /* open addressing; @hist_room is a power of two */
	size_t nr_hist, hist_room;
	uint64_t nr_processes; /* shown to the end */
	uint64_t nr_racy;
	size_t nr_refused; /* processes of a group that may not be read */
	char refusal[256]; /* why the first of them */
	bool saw_ksm;	   /* a frame had the KSM flag */
	int failure;	   /* exit status of the first target that failed, 0: none did */
};

/* One row of --by=run, before it is printed. Uniform: all pages share all attributes. */
struct dump_run {
	uint64_t addr, pages;
	uint64_t word; /* of the first page, as pagemap has it or would */
	struct pgs_page page;
	enum pgs_source source;
	bool bits_lost, cached;
	enum pgs_tri huge, zero;
	bool cache_known; /* in swap: whether the swap cache has it */
	bool has_flags;	  /* the frame was looked up */
	bool racy;
	uint64_t kpageflags, mapcount, cgroup_inode;
};

/* ---- dump_rows.c: columns and rows ----------------------------------------------------------- */

extern const struct pgs_col dump_run_cols[], dump_vma_cols[], dump_flags_cols[], dump_frame_cols[],
	dump_file_cols[], dump_decode_cols[];

/* dump_columns - the columns of the run view as --by and --flags want them; caller frees. */
struct pgs_col *dump_columns(const struct dump_opts *opts);
/* Each returns 0 or -errno of the output. */
int dump_emit_run(struct dump *d, pid_t pid, const struct pgs_vma *vma, const struct dump_run *run);
int dump_emit_pages(struct dump *d, pid_t pid, const struct pgs_vma *vma,
		    const struct dump_run *run);
int dump_emit_vma(struct dump *d, pid_t pid, const struct pgs_vma *vma,
		  const struct pgs_range *part, const struct pgs_tally *tally);
int dump_summary(struct dump *d);
/* dump_failed - a target failed with @err: a message, an entry in "errors", the exit status. */
void dump_failed(struct dump *d, pid_t pid, const char *what, int err);
/* dump_tell_racy - a note on the pages whose rows are marked so, if there are any. */
void dump_tell_racy(const struct dump *d);
/* dump_swap_area - the area that a swap type certainly is, or NULL. */
const struct pgs_swap_area *dump_swap_area(struct dump *d, unsigned int type);
/* dump_wants_frames - whether a column, a filter or the view needs kpageflags. */
bool dump_wants_frames(const struct dump *d);

/* ---- dump_frames.c: the frames behind pages -------------------------------------------------- */

int dump_frames_open(struct dump *d);
void dump_frames_close(struct dump *d);
/* dump_frames_load - look up the frames of @piece, which must have words; it gets words of ours, of
 * pages that were seen in the same frame before and after. 0 or -errno. */
int dump_frames_load(struct dump *d, struct pgs_scan *scan, struct pgs_piece *piece);
/* dump_frames_cut - how many of the @count pages from @index on share their frames' attributes;
 * fills them into @run. */
uint64_t dump_frames_cut(struct dump *d, uint64_t index, uint64_t count, struct dump_run *run);
/* dump_frames_room - make the arrays hold @count elements; what they held is gone. 0 or -ENOMEM. */
int dump_frames_room(struct dump_frames *f, size_t count);
/* dump_frames_same - whether what was read of elements @a and @b is alike. */
bool dump_frames_same(const struct dump_frames *f, uint64_t a, uint64_t b);
/* dump_frames_same_zone - how many of @count consecutive frames from @pfn on lie in one zone. */
uint64_t dump_frames_same_zone(const struct dump_frames *f, uint64_t pfn, uint64_t count);
/* The histogram of --by=flags. 0 or -errno. */
int dump_hist_add(struct dump *d, uint64_t flags, uint64_t pages);
int dump_hist_emit(struct dump *d);

/* ---- dump_slots.c ---------------------------------------------------------------------------- */

/* dump_slots_cut - how many of the @count pages of @run, in consecutive slots, are alike in being
 * in the swap cache and pages of zeroes: sets the run's state and its `zero` where kernel memory
 * tells. At least 1. */
uint64_t dump_slots_cut(struct dump *d, uint64_t count, struct dump_run *run);

/* ---- dump_process.c, dump_pfn.c, dump_file.c, dump_decode.c: an exit status each ------------- */

int dump_processes(struct dump *d);
int dump_physical(struct dump *d);
int dump_file(struct dump *d);
int dump_decode(struct dump *d);
