/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cgroup: one reader for the memory controller, be it of cgroup v1, of v2, or of v1 beside a v2
 * hierarchy without it ("mixed", "hybrid"). A controller belongs to one hierarchy at a time, so
 * there is at most one memory hierarchy; paths here are within it, "/" its root.
 */
#pragma once

#include "ctx.h"

#include <sys/types.h>

struct pgs_cgroups;

/*
 * pgs_cgroups_open - find the memory hierarchy by the mounts that the tree's /proc lists.
 * Returns 0; -EOPNOTSUPP when there is none (the context's line says whether the controller is
 * absent, disabled or not mounted); another -errno. *@ret_cgroups is the caller's; @ctx must
 * outlive it.
 */
int pgs_cgroups_open(struct pgs_ctx *ctx, struct pgs_cgroups **ret_cgroups)
	__attribute__((nonnull, warn_unused_result));
void pgs_cgroups_close(struct pgs_cgroups *cgroups);
void pgs_cgroups_closep(struct pgs_cgroups **cgroups);

/* pgs_cgroups_version - 1 or 2. pgs_cgroups_mount - "/sys/fs/cgroup/memory", without the root of
 * the tree; belongs to @cgroups. */
int pgs_cgroups_version(const struct pgs_cgroups *cgroups) __attribute__((nonnull));
const char *pgs_cgroups_mount(const struct pgs_cgroups *cgroups) __attribute__((nonnull));

/*
 * pgs_cgroup_resolve - what a person typed, as a path of the hierarchy: "/a/b". @word is a path
 * below the mount ("/sys/fs/cgroup/memory/a/b"), one as /proc/PID/cgroup prints it ("/a/b"), or
 * without the slash ("a/b"). Returns 0 and *@ret_path, which the caller frees; -ENOENT (the
 * context's line names the part that exists and what lies in it); -EINVAL for "..".
 */
int pgs_cgroup_resolve(struct pgs_cgroups *cgroups, const char *word, char **ret_path)
	__attribute__((nonnull, warn_unused_result));

/*
 * pgs_cgroup_of - the cgroup that process @pid is in, as a path of the hierarchy. 0 and *@ret_path,
 * which the caller frees; -ESRCH, -errno.
 */
int pgs_cgroup_of(struct pgs_cgroups *cgroups, pid_t pid, char **ret_path)
	__attribute__((nonnull, warn_unused_result));
/* pgs_cgroup_own - the same of the caller. -ESRCH: it is in none. */
int pgs_cgroup_own(struct pgs_cgroups *cgroups, char **ret_path)
	__attribute__((nonnull, warn_unused_result));

/* The processes of a cgroup and of those below it, each once, in ascending order. */
struct pgs_cgroup_pids {
	pid_t *pids; /* pgs_cgroup_pids_fini() frees them */
	size_t nr;
	size_t nr_foreign; /* processes of other PID namespaces, which have no number here */
};

/*
 * pgs_cgroup_pids - fill @ret with the processes of @path (as resolved), recursively. In a
 * threaded cgroup of v2 those are the processes whose threads are in it. Cgroups that vanish
 * meanwhile are skipped. Returns 0; -ENOENT if @path itself is gone; -ELOOP below 128 levels.
 */
int pgs_cgroup_pids(struct pgs_cgroups *cgroups, const char *path, struct pgs_cgroup_pids *ret)
	__attribute__((nonnull, warn_unused_result));
void pgs_cgroup_pids_fini(struct pgs_cgroup_pids *pids);

/* A cgroup and those below it, parents first. */
struct pgs_cgroup_list {
	char **paths; /* pgs_cgroup_list_fini() frees them; NULL where the caller took one over */
	size_t nr;
};

/* pgs_cgroup_below - fill @ret with @path (as resolved) and the cgroups below it. Those that vanish
 * meanwhile are skipped. Returns 0; -ENOENT if @path itself is gone; -ELOOP below 128 levels. */
int pgs_cgroup_below(struct pgs_cgroups *cgroups, const char *path, struct pgs_cgroup_list *ret)
	__attribute__((nonnull, warn_unused_result));
void pgs_cgroup_list_fini(struct pgs_cgroup_list *list);

/*
 * pgs_cgroup_name - the path of the cgroup with this inode number, as /proc/kpagecgroup prints it,
 * which numbers the directories of the memory hierarchy, v1 or v2. "gone (inode N)" when no
 * directory has it: a removed cgroup keeps its pages' charges until they are freed. "inode N" when
 * there are more cgroups than are kept (16384) and it is not among those. NULL for inode 0, a page
 * that is not charged, and when memory runs out. Valid until the next call.
 * The first call walks the hierarchy; one that misses does so again, at most once a second.
 */
const char *pgs_cgroup_name(struct pgs_cgroups *cgroups, uint64_t inode) __attribute__((nonnull));

/* pgs_cgroup_read - a file of @path, such as "memory.stat", as pgs_read_file() does. */
ssize_t pgs_cgroup_read(struct pgs_cgroups *cgroups, const char *path, const char *file,
			char **ret_text) __attribute__((nonnull, warn_unused_result));
