/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cgmake: a memory cgroup made for a command and removed after it, on v1 and v2.
 *
 * Where it is made: on v1 below the caller's own cgroup, whose limits so go on to hold. On v2 a
 * cgroup with processes can have no children with controllers (Documentation/admin-guide/
 * cgroup-v2.rst, "No Internal Process Constraint"), so there it is the nearest ancestor of it that
 * has the memory controller enabled for its children. If none has, it is enabled at the root, and
 * disabled again when the cgroup is removed.
 *
 * Files are written with the caller's own rights: CAP_DAC_OVERRIDE is raised for a caller who has
 * it (a hierarchy's root is closed even to its owner), and not when it is pgscan's by file
 * capabilities.
 */
#pragma once

#include "cgroup.h"
#include "vmstat.h"

struct pgs_cgmake;

/*
 * pgs_cgmake_new - make the cgroup. Returns 0; -EACCES, -EPERM or -EROFS: not permitted; -errno.
 * The context's line names the directory. @cgroups must outlive *@ret; pgs_cgmake_free() removes
 * the cgroup if pgs_cgmake_remove() was not called, moving out whoever is left in it.
 */
int pgs_cgmake_new(struct pgs_ctx *ctx, struct pgs_cgroups *cgroups, struct pgs_cgmake **ret)
	__attribute__((nonnull, warn_unused_result));
void pgs_cgmake_free(struct pgs_cgmake *made);
void pgs_cgmake_freep(struct pgs_cgmake **made);

/* pgs_cgmake_path - within the hierarchy. Belongs to @made. */
const char *pgs_cgmake_path(const struct pgs_cgmake *made) __attribute__((nonnull));
/* pgs_cgmake_enabled - whether the memory controller had to be enabled at the root for it. */
bool pgs_cgmake_enabled(const struct pgs_cgmake *made) __attribute__((nonnull));

/*
 * pgs_cgmake_limit - @bytes of memory, and @swap_bytes of swap beside it, where they are set. v1
 * limits the sum of both: there a swap limit needs a memory limit (-EINVAL). Returns 0;
 * -EOPNOTSUPP: this kernel does not account swap to cgroups; -errno.
 */
int pgs_cgmake_limit(struct pgs_cgmake *made, struct pgs_count bytes, struct pgs_count swap_bytes)
	__attribute__((nonnull, warn_unused_result));

/*
 * pgs_cgmake_swappiness - @value for this cgroup (v1). v2 has one swappiness for the machine, which
 * is not touched: 0 if it has that value, or else -EOPNOTSUPP. *@ret_effective is what holds.
 */
int pgs_cgmake_swappiness(struct pgs_cgmake *made, uint64_t value, uint64_t *ret_effective)
	__attribute__((nonnull, warn_unused_result));

/* pgs_cgmake_enter - move process @pid into it. 0 or -errno. */
int pgs_cgmake_enter(struct pgs_cgmake *made, pid_t pid)
	__attribute__((nonnull, warn_unused_result));

/*
 * pgs_cgmake_holds - whether process @pid is in it, or below. Returns 1; 0 and *@ret_elsewhere, the
 * cgroup that it is in, which the caller frees; -ENODATA: it is exiting, and v1 says "/" of every
 * such process (v2 keeps its cgroup until it is waited for: "cgroup: keep zombies associated with
 * their original cgroups", 4.4); -ESRCH, -errno.
 */
int pgs_cgmake_holds(struct pgs_cgmake *made, pid_t pid, char **ret_elsewhere)
	__attribute__((nonnull, warn_unused_result));

/* pgs_cgmake_kill - SIGKILL to everybody in it and below. */
void pgs_cgmake_kill(struct pgs_cgmake *made) __attribute__((nonnull));

/*
 * pgs_cgmake_remove - move who is left in it, or in cgroups that were made below it, to the
 * caller's own cgroup, and remove it. Takes up to a few seconds where processes are just ending.
 * Returns 0; -EBUSY or another -errno: it is still there, and the context's line names it.
 */
int pgs_cgmake_remove(struct pgs_cgmake *made) __attribute__((nonnull, warn_unused_result));
