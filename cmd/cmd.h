/* SPDX-License-Identifier: GPL-2.0-only */
/* cmd: one record per command, listed in main.c; the options that all commands share. */
#pragma once

#include "out.h"
#include "msg.h"
#include "../src/ctx.h"
#include "../src/units.h"

#include <argp.h>
#include <signal.h>

struct pgs_cmd {
	const char *name, *summary;
	const struct argp *argp;	     /* options, metavars, docs: the only copy */
	const struct pgs_col *const *tables; /* every column list there is, ends with NULL */
	unsigned int formats;		     /* PGS_FMT_BIT() mask; opt_output refuses the others */
	int (*run)(int argc, char **argv);   /* returns an exit status */
};

extern const struct pgs_cmd cmd_check, cmd_dump, cmd_reclaim_report, cmd_swapmap, cmd_wp;

/* Set by SIGINT, SIGTERM and SIGHUP; loops look at it once per batch and end the document as
 * incomplete. */
extern volatile sig_atomic_t cmd_interrupted;

/* Groups of options, in the order of --help: the command's own, and those that commands share. */
enum {
	OPT_GROUP_OWN = 1,
	OPT_GROUP_COMMAND, /* for what runs one */
	OPT_GROUP_TARGETS,
	OPT_GROUP_SOURCES,
	OPT_GROUP_OUTPUT,
};

/* ---- opt_common.c: --help, --usage, --version; a child of opt_output_argp and of main's ------ */

extern const struct argp opt_common_argp;

/*
 * cmd_parse - parse a command's arguments into @opts. Usage errors, --help and the like end the
 * process here, as argp does; returns PGS_EXIT_OK, or PGS_EXIT_FAILED without memory (a message
 * was printed). The command's parser gives the children below their inputs at ARGP_KEY_INIT:
 * state->child_inputs[i] = &opts->target, in the order of its argp's children.
 */
int cmd_parse(const struct pgs_cmd *cmd, int argc, char **argv, void *opts)
	__attribute__((nonnull, warn_unused_result));

/*
 * cmd_split_command - take "--" and what stands behind it off @argv, before cmd_parse(): it is a
 * command of the user's, to the last word, and argp would mix it with what stands before. Returns
 * the command, which may have no words; NULL without a "--".
 */
char **cmd_split_command(int *argc, char **argv) __attribute__((nonnull));

/*
 * opt_choice - the index of @word in @words, which ends with NULL. None of them: a usage error that
 * lists them all.
 */
int opt_choice(const char *word, const char *const *words, const struct argp_state *state)
	__attribute__((nonnull));

/* opt_cgroup - @word, a cgroup's name. An empty one, which would be the root, is an unset variable
 * of a script: a usage error. */
const char *opt_cgroup(const char *word, const struct argp_state *state) __attribute__((nonnull));

/* ---- opt_target.c: which processes and which of their mappings ------------------------------- */

enum opt_use { OPT_AUTO, OPT_OFF, OPT_REQUIRE };

struct opt_target {
	pid_t *pids; /* in the order given */
	size_t nr_pids;
	const char *cgroup;	  /* --cgroup, NULL if none */
	bool system;		  /* --system */
	struct pgs_range *ranges; /* --range: bytes, whole pages, ascending, none touches another */
	size_t nr_ranges;
	const char **vma_patterns;
	size_t nr_vma_patterns;
	const char *root; /* --root, NULL: "/" */
	enum opt_use kmod, kcore;
};

/* The input is a zeroed struct opt_target. Its strings are those of argv. */
extern const struct argp opt_target_argp;
/* The same without --cgroup and --system, for what looks at one process. */
extern const struct argp opt_process_argp;
/* --root, --kmod and --kcore alone, a part of it, for what has no targets; the same input. */
extern const struct argp opt_source_argp;
void opt_target_fini(struct opt_target *t) __attribute__((nonnull));
/* opt_target_is_given - whether a process, a cgroup or the system was named. */
bool opt_target_is_given(const struct opt_target *t) __attribute__((nonnull));

/* ---- opt_output.c: how to print -------------------------------------------------------------- */

struct opt_output {
	struct out_opts out;
	const struct pgs_cmd *cmd; /* set before cmd_parse(): the formats and columns there are */
	const char *sort;	   /* --sort, NULL if none; see out_sort() */
	uint64_t top;		   /* --top, 0: all */
	int verbosity;		   /* -1 with -q, 1 with -v; msg knows it already */
};

/* The input is a struct opt_output, zero but for @cmd. --columns=help prints and exits. */
extern const struct argp opt_output_argp;
/* --sort and --top, for commands whose rows are not in address order; the same input. */
extern const struct argp opt_sort_argp;
/* opt_format_names - the formats of @mask (PGS_FMT_BIT()) as "table|json". Returns @buf. */
#define OPT_FORMAT_NAMES 64
const char *opt_format_names(unsigned int mask, char buf[OPT_FORMAT_NAMES])
	__attribute__((nonnull));
