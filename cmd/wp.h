/* SPDX-License-Identifier: GPL-2.0-only */
/* wp: what the parts of `pgscan wp` share; of no use to other commands. */
#pragma once

#include "cmd.h"
#include "targets.h"
#include "../src/pageset.h"
#include "../src/track.h"

enum wp_by { WP_TOTAL, WP_VMA, WP_RUN, WP_PAGE };

#define WP_COMPARE_MAX 16u

struct wp_opts {
	struct opt_target target;
	struct opt_output output;
	enum pgs_track_method method;
	bool clear_soft_dirty, hugetlb;
	enum wp_by by;
	bool heat;
	uint64_t interval_ns, count;	  /* 0 samples: until interrupted */
	char **command;			  /* NULL: a PID */
	uint64_t compare[WP_COMPARE_MAX]; /* --compare: numbers of pages */
	size_t nr_compare;
};

/* What one sample came to, in pages. */
struct wp_sample {
	uint64_t mappings; /* that were asked for */
	uint64_t number;
	double elapsed_s, interval_s; /* since the beginning, since the last sample */
	uint64_t tracked, written, unknown, whole, stuck;
	uint64_t untracked[PGS_UNTRACKED_REASONS];
};

struct wp {
	const struct wp_opts *opts;
	struct pgs_ctx *ctx;
	struct pgs_kmod *kmod;
	struct out *out;
	pid_t pid;
	struct pgs_track *track;
	uint64_t began_ns, last_ns; /* CLOCK_MONOTONIC */
	struct wp_sample sample;    /* the one being taken, or the last */
	uint64_t written_sum;	    /* pages, of all samples */
	struct pgs_pageset *distinct;
	bool has_shared;    /* a shared mapping is among the tracked ones */
	bool has_file;	    /* and a private one of a file */
	struct heat *heat;  /* --heat, wp_heat.c's own */
	int command_status; /* of the command that was run to its end */
};

extern const struct pgs_col wp_cols[];

/* ---- wp_rows.c: columns, rows, the summary --------------------------------------------------- */

/* wp_columns - the columns as --by wants them; the caller frees. */
struct pgs_col *wp_columns(enum wp_by by);
/* The sink of a sample: rows as --by says. */
int wp_emit_written(void *arg, const struct pgs_vma *vma, uint64_t start, uint64_t end);
int wp_emit_mapping(void *arg, const struct pgs_track_vma *tv);
int wp_emit_total(struct wp *w);
int wp_summary(struct wp *w);

/* ---- wp_run.c: samples over time ------------------------------------------------------------- */

/* wp_run - of a PID, or of the command; an exit status. */
int wp_run(struct wp *w);

uint64_t wp_now_ns(void); /* CLOCK_MONOTONIC */
/* wp_begin - the clock of the samples starts now. */
void wp_begin(struct wp *w);
/* wp_tell_method - what is used, and what others may suffer from it. */
void wp_tell_method(const struct wp *w);
/* wp_take_sample - one sample, printed; 0 or -errno. */
int wp_take_sample(struct wp *w);
/* wp_is_done - as many samples as were asked for have been taken. */
bool wp_is_done(const struct wp *w);
/* wp_next_tick - when the sample after that of @tick is due. Ticks that were missed, because a
 * sample took longer than the interval, are not made up for. */
uint64_t wp_next_tick(const struct wp *w, uint64_t tick);
/* wp_failed - a message and an entry in "errors"; the exit status for @err. */
int wp_failed(struct wp *w, int err);

/* ---- wp_command.c ---------------------------------------------------------------------------- */

/* wp_run_command - the command is run to its end, or could not be tracked: an exit status. */
int wp_run_command(struct wp *w, const struct pgs_track_opts *opts);

/* ---- wp_heat.c ------------------------------------------------------------------------------- */

extern const struct pgs_col wp_heat_cols[];

/* wp_heat_begin - lay out what is tracked now. wp_heat_written - a run of pages of the sample.
 * wp_heat_emit - its row, or rows. Each returns 0 or -errno. */
int wp_heat_begin(struct wp *w);
int wp_heat_written(struct wp *w, uint64_t start, uint64_t end);
int wp_heat_emit(struct wp *w);
void wp_heat_free(struct heat *heat);

/* ---- wp_compare.c ---------------------------------------------------------------------------- */

extern const struct pgs_col wp_compare_cols[];

/* wp_compare_parse - "2000,8192" into @o: 0, or -EINVAL. wp_compare - measure; an exit status. */
int wp_compare_parse(const char *list, struct wp_opts *o);
int wp_compare(struct wp *w);
