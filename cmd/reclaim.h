/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * reclaim: what the files of `pgscan reclaim-report` share.
 *
 * A reading is one look at the machine; a report is what two of them say, as one flat list of
 * metrics, each with a section, a name and labels. What prints it (rows, a block of text,
 * OpenMetrics) sees the list alone.
 */
#pragma once

#include "cmd.h"
#include "../src/cgroup.h"
#include "../src/memcgstat.h"
#include "../src/pagestates.h"
#include "../src/psi.h"
#include "../src/reporting.h"
#include "../src/swap.h"
#include "../src/swapstat.h"
#include "../src/tags.h"
#include "../src/vmstat.h"

enum section {
	SECTION_RATES,
	SECTION_PSI,
	SECTION_CGROUP,
	SECTION_SWAP,
	SECTION_WRITEBACK,
	SECTION_REPORTING,
	NR_SECTIONS,
};

#define SECTION_BIT(section) (1u << (section))
extern const char *const section_names[NR_SECTIONS + 1]; /* the last is NULL */

/* What --sort orders cgroups by, from the largest down. */
enum cgroup_key {
	CGROUP_KEY_NONE, /* as they were given */
	CGROUP_KEY_USAGE,
	CGROUP_KEY_SWAP,
	CGROUP_KEY_SCANNED, /* in the interval */
	CGROUP_KEY_STALLED, /* in the interval */
	NR_CGROUP_KEYS,
};

struct reclaim_opts {
	struct opt_target source; /* --root, --kmod and --kcore of it */
	struct opt_output output;
	uint64_t interval_ns;  /* 0: not given */
	uint64_t count;	       /* samples; 0: not given */
	unsigned int sections; /* SECTION_BIT() mask; 0: not given */
	unsigned int named;    /* those that were given: what is costly is done for them alone */
	pid_t *pids;	       /* whose mappings' tags are asked for */
	size_t nr_pids;
	const char **cgroups; /* as typed; the strings are argv's */
	size_t nr_cgroups;
	bool recursive; /* those below them too */
	enum cgroup_key key;
	uint64_t top; /* 0: all */
	const char *output_file;
	char **command; /* argv of a command to run, NULL if none */
	struct pgs_count limit, swap_limit, swappiness;
};

/* ---- reclaim_reading.c ----------------------------------------------------------------------- */

struct reading_area {
	const struct pgs_swap_area *area;
	bool is_zram;
	struct pgs_zram zram;
};

struct reading_cgroup {
	char *path;
	int err; /* 0, or why it could not be read: -ENOENT when it is gone */
	struct pgs_memcg_stat stat;
};

struct reading_process {
	pid_t pid;
	int err; /* 0; -ENODEV: no module; -errno */
	struct pgs_tags_list tags;
};

/* What could not be read has its -errno, and the rest is whole; -ENODATA: it was not asked for. */
struct reading {
	uint64_t at_ns; /* CLOCK_MONOTONIC; 0: no reading */
	int vm_err, psi_err, swap_err, zswap_err;
	struct pgs_vmstat vm;
	struct pgs_psi psi;
	struct pgs_swap_areas swaps;
	struct reading_area *areas; /* one each of @swaps */
	struct pgs_zswap zswap;
	struct reading_cgroup *cgroups;
	size_t nr_cgroups;
	int states_err;
	struct pgs_page_states states;
	struct reading_process *processes;
	size_t nr_processes;
	int reporting_err;
	struct pgs_reporting reporting;
	int zones_err;
	struct pgs_free_zones zones;
	int reported_err;
	uint64_t reported_ns; /* what counting those reported took */
};

/* Where readings come from. */
struct source {
	struct pgs_ctx *ctx;
	struct pgs_kmod *kmod; /* NULL: without the module */
	unsigned int sections, named;
	struct pgs_count pageblock_order;
	const pid_t *pids; /* the options' */
	size_t nr_pids;
	struct pgs_cgroups *cgroups; /* NULL when no cgroup is asked for */
	char **paths;		     /* of the cgroups asked for, resolved */
	size_t nr_paths;
	const char *left; /* the one of @paths that was made for a command which left it; NULL */
	bool recursive;
	enum cgroup_key key;
	uint64_t top;
};

/* reading_take - look at everything that @src's sections need. 0 or -ENOMEM. */
int reading_take(const struct source *src, struct reading *ret);
/* reading_take_first - the counters that a later one is compared with; nothing that is costly. */
int reading_take_first(const struct source *src, struct reading *ret);
void reading_fini(struct reading *reading);

/* ---- reclaim_metrics.c ----------------------------------------------------------------------- */

/* What a metric is of; NULL: not divided by it. The strings belong to a reading, or are static. */
struct labels {
	const char *cgroup, *device;
	const char *actor; /* kswapd, direct, khugepaged, proactive, cgroup */
	const char *kind;  /* anon, file */
	struct pgs_count node, order;
	const char *zone;
	struct pgs_count pid;
	uint64_t start, end; /* of a mapping; 0, 0: of none */
	const char *vma;     /* its name */
};

struct figure {
	bool set;
	double d;
};

struct metric {
	enum section section;
	const char *name, *unit; /* static */
	bool is_counter;	 /* grows: delta and rate are of the interval */
	struct labels labels;
	struct pgs_count value;
	struct pgs_count delta;
	struct figure rate;    /* of @unit a second; of a state its change, which may be negative */
	struct figure percent; /* of the interval; @value is what it is of, if anything */
	const char *reason;    /* why it is null, or what is to be known of it; static */
};

struct report {
	uint64_t sample;
	double elapsed_s;  /* since the first reading */
	double interval_s; /* since the one before; 0: totals alone */
	uint32_t page_size;
	struct metric *metrics;
	size_t nr, room;
	bool no_memory; /* some metric was lost */
};

/* report_make - the metrics of @now, with those of the interval since @before (at_ns 0: none). The
 * report's strings are @now's; its memory is used again by the next one. */
void report_make(struct report *rep, const struct source *src, const struct reading *before,
		 const struct reading *now);
void report_fini(struct report *rep);

/* report_find - the metric of these names, or NULL. Labels are compared as text. */
const struct metric *report_find(const struct report *rep, enum section section, const char *name,
				 struct labels labels);

/* For the sections: add one metric. @reason is kept for what is not set. */
struct metric *report_add(struct report *rep, enum section section, const char *name,
			  const char *unit, struct labels labels);
void report_counter(struct report *rep, enum section section, const char *name, const char *unit,
		    struct labels labels, struct pgs_count before, struct pgs_count now,
		    const char *reason);
void report_state(struct report *rep, enum section section, const char *name, const char *unit,
		  struct labels labels, struct pgs_count before, struct pgs_count now,
		  const char *reason);
void report_percent(struct report *rep, enum section section, const char *name,
		    struct labels labels, struct figure percent, const char *reason);
/* report_efficiency - what of @scanned was reclaimed, in percent. */
void report_efficiency(struct report *rep, enum section section, struct labels labels,
		       struct pgs_count scanned, struct pgs_count reclaimed, const char *reason);
/* why_no_delta - why a counter has no value (@missing) or none of the interval; NULL: it has. */
const char *why_no_delta(const struct report *rep, struct pgs_count before, struct pgs_count now,
			 const char *missing);
struct pgs_count count_delta(struct pgs_count before, struct pgs_count now);

/* ---- reclaim_rates.c, _cgroups.c, _swap.c, _pages.c: one function a section ------------------ */

void report_rates(struct report *rep, const struct reading *before, const struct reading *now);
void report_psi(struct report *rep, const struct reading *before, const struct reading *now);
void report_cgroups(struct report *rep, const struct source *src, const struct reading *before,
		    const struct reading *now);
void report_swap(struct report *rep, const struct reading *before, const struct reading *now);
/* reclaim_why_no_tags - why a process's tags are not known; static. */
const char *reclaim_why_no_tags(int err);
void report_writeback(struct report *rep, const struct reading *before, const struct reading *now);
void report_reporting(struct report *rep, const struct source *src, const struct reading *now);

/* reclaim_scanned - the pages that all actors scanned. */
struct pgs_count reclaim_scanned(const struct pgs_vmstat *vm);

/* report_vm - the counters that vmstat and memory.stat share. */
void report_vm(struct report *rep, enum section section, const char *cgroup,
	       const struct pgs_vmstat *before, const struct pgs_vmstat *now);
/* report_pressure - some and full of a pressure file. @err: why there is none. */
void report_pressure(struct report *rep, enum section section, const char *cgroup,
		     const struct pgs_psi *before, const struct pgs_psi *now, int err);

/* ---- reclaim_rows.c -------------------------------------------------------------------------- */

extern const struct pgs_col reclaim_cols[];

/* reclaim_rows - one row a metric. As out_row(). */
int reclaim_rows(struct out *o, const struct report *rep);
/* What is not set is null. */
struct pgs_val count_val(struct pgs_count count);
struct pgs_val figure_val(struct figure figure);
/* metric_mib_s - the rate of pages and bytes in MiB a second; not set for what is neither. */
struct figure metric_mib_s(const struct metric *m, uint32_t page_size);

/* ---- reclaim_summary.c ----------------------------------------------------------------------- */

/* reclaim_summary - what a run comes to: @whole is from its first reading to its last. */
int reclaim_summary(struct out *o, const struct report *whole);

/* ---- reclaim_verdict.c ----------------------------------------------------------------------- */

#define VERDICT_MAX 200
/* reclaim_verdict - the main cause in a word or two, and in @text the figures that say so. NULL
 * when nothing is known of the interval. The word is static. */
const char *reclaim_verdict(const struct report *rep, char *text, size_t size);

/* ---- reclaim_block.c ------------------------------------------------------------------------- */

#define BLOCK_LINES 5
#define BLOCK_PAST  24 /* samples of a sparkline */

struct block {
	bool sparks; /* on a terminal */
	size_t nr_past;
	double past[BLOCK_LINES][BLOCK_PAST];
};

/* reclaim_block - a sample for people. As out_row(). */
int reclaim_block(struct out *o, struct block *b, const struct report *rep);

/* ---- reclaim_openmetrics.c ------------------------------------------------------------------- */

/* reclaim_openmetrics - a report for Prometheus. As out_row(). */
int reclaim_openmetrics(struct out *o, const struct report *rep);

/* ---- reclaim_run.c --------------------------------------------------------------------------- */

struct command;

struct run {
	const struct reclaim_opts *opts;
	struct source src;
	struct out *out;
	struct reading first, last; /* the same one where there is only one */
	struct report report;
	struct block block;
	bool as_block; /* for people, and no columns were asked for */
	uint64_t samples;
	struct command *command; /* while one runs */
	bool has_status;	 /* a command ran, and ended with @status */
	int status;
};

/* reclaim_now_ns - CLOCK_MONOTONIC. */
uint64_t reclaim_now_ns(void);
/* run_samples - sample by sample, and the summary. Returns an exit status for out_finish(). */
int run_samples(struct run *run);
/* run_emit - print what happened since the last reading; takes over @now. As out_row(). */
int run_emit(struct run *run, struct reading *now);
/* run_summarise - the summary, from the first reading to the last. As out_row(). */
int run_summarise(struct run *run);
void run_fini(struct run *run);

/* ---- reclaim_command.c ----------------------------------------------------------------------- */

/* reclaim_command - run the command in a cgroup of its own, and report. Returns an exit status for
 * out_finish(); @run has the command's. */
int reclaim_command(struct run *run);
/* reclaim_command_summary - what the summary has of a command. As out_row(). */
int reclaim_command_summary(struct run *run, const struct report *whole);
