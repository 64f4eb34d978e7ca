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

extern const struct pgs_cmd cmd_check, cmd_dump;

/* Set by SIGINT, SIGTERM and SIGHUP; loops look at it once per batch and end the document as
 * incomplete. */
extern volatile sig_atomic_t cmd_interrupted;

/* ---- opt_common.c: --help, --usage, --version; a child of opt_output_argp, and of main's -------
 */

extern const struct argp opt_common_argp;

/* ---- opt_target.c: which processes and which of their mappings ------------------------------- */

enum opt_kmod { OPT_AUTO, OPT_OFF, OPT_REQUIRE };

struct opt_target {
	pid_t *pids; /* in the order given */
	size_t nr_pids;
	const char *cgroup;	  /* --cgroup, NULL if none */
	bool system;		  /* --system */
	struct pgs_range *ranges; /* --range as typed, page-rounded by opt_target_finish() */
	size_t nr_ranges;
	const char **vma_patterns;
	size_t nr_vma_patterns;
	const char **range_words; /* unparsed --range, until the page size is known */
	const char *root;	  /* --root, NULL: "/" */
	enum opt_kmod kmod, kcore;
};
extern const struct argp opt_target_argp; /* child input: struct opt_target */
void opt_target_fini(struct opt_target *t);

/* ---- opt_output.c: how to print ---------------------------------------------------------------
 */

struct opt_output {
	struct out_opts out;
	const struct pgs_cmd *cmd; /* set by the command before argp_parse(): formats it has */
	const char *sort;	   /* --sort, NULL if none */
	uint64_t top;		   /* --top, 0: all */
	int verbosity;		   /* -1 with -q, 1 with -v */
};
extern const struct argp opt_output_argp; /* child input: struct opt_output */
