/* SPDX-License-Identifier: GPL-2.0-only */
/* targets: from the words of the command line to processes and mappings. */
#pragma once

#include "cmd.h"
#include "../src/scan.h"

/* The processes to look at. */
struct targets {
	pid_t *pids; /* in the order given, or ascending; each once */
	size_t nr;
	bool named; /* by PID: one that cannot be read is an error; of a group it may be gone */
	size_t nr_foreign; /* of a cgroup: those without a PID in our namespace, left out */
	int hidden;	   /* why /proc may not show all of them: see pgs_pids_hidden() */
};

/*
 * targets_find - resolve PIDs, --cgroup and --system. None of them: a usage error was printed.
 * Returns PGS_EXIT_OK, or the exit status after a message. targets_fini() frees.
 */
int targets_find(struct pgs_ctx *ctx, const struct opt_target *opt, struct targets *ret);
void targets_fini(struct targets *t);

/* targets_tell_hidden - a message, and an entry in @o's "errors" (NULL: there is none), where
 * processes are hidden, or may be. */
void targets_tell_hidden(const struct targets *t, struct out *o);

/* target_matches - struct pgs_scan_opts.match for --vma; @arg is a struct opt_target. */
bool target_matches(const struct pgs_vma *vma, void *arg);

/* target_tell_unmatched - a note, where @pages were looked at: none, for all that was asked. */
void target_tell_unmatched(const struct opt_target *opt, uint64_t pages);

/*
 * target_ctx - open the context of --root; target_kmod - the module, as --kmod says: *@ret_kmod
 * is NULL where it is not used. Both return PGS_EXIT_OK, or the exit status after a message.
 */
int target_ctx(const struct opt_target *opt, struct pgs_ctx **ret_ctx);
int target_kmod(struct pgs_ctx *ctx, const struct opt_target *opt, struct pgs_kmod **ret_kmod);

/*
 * target_env - open what walks of processes share: the module, and kernel memory, as --kmod and
 * --kcore say. What is required and absent is said here, before anything is printed.
 * Returns PGS_EXIT_OK, or the exit status after a message; target_env_fini() closes in either case.
 */
int target_env(struct pgs_ctx *ctx, const struct opt_target *opt, struct pgs_scan_env *ret_env);
void target_env_fini(struct pgs_scan_env *env);

/* target_check_kcore - --kcore=require for a command that reads no kernel memory: what a script
 * requires means one thing everywhere. PGS_EXIT_OK, or the exit status after a message. */
int target_check_kcore(struct pgs_ctx *ctx, const struct opt_target *opt);

/* target_release - the kernel that out_head names: NULL for the running one, else what the tree
 * says, or "unknown". The caller frees it. */
char *target_release(struct pgs_ctx *ctx);
