/* SPDX-License-Identifier: GPL-2.0-only */
/* cgroup_priv: what the parts of cgroup share: cgroup.c, cgroup_walk.c, cgroup_names.c. */
#pragma once

#include "cgroup.h"

#include <dirent.h>
#include <time.h>

struct pgs_cgroup_names {
	struct pgs_cgroup_inode *list; /* ascending by inode */
	size_t nr;
	bool full; /* there are more than the list has */
	time_t at; /* when they were last collected; 0: never */
};

struct pgs_cgroups {
	struct pgs_ctx *ctx;
	int version;
	char *mount;	  /* mount point, with a leading slash */
	char *mount_root; /* what of the hierarchy is mounted there; "/" but in some containers */
	struct pgs_cgroup_names names;
};

/* Open the directory of the cgroup at @path, "/…" from the mount. Returns 0 or -errno. */
int pgs_cgroup_open_dir(struct pgs_cgroups *cgroups, const char *path, DIR **ret_dir)
	__attribute__((nonnull, warn_unused_result));

/* The next cgroup of a directory, NULL at the end. The tree may be a copy on any file system. */
const char *pgs_cgroup_next_child(DIR *dir) __attribute__((nonnull));

/* Called for each cgroup that a walk comes to, with its open directory; -errno ends the walk. */
typedef int (*pgs_cgroup_visitor)(struct pgs_cgroups *cgroups, const char *path, DIR *dir,
				  void *data);

/*
 * pgs_cgroup_walk - visit @path and what is below it, parents first. What is removed meanwhile is
 * left out. Returns 0, what @visit returned, or -errno.
 */
int pgs_cgroup_walk(struct pgs_cgroups *cgroups, const char *path, pgs_cgroup_visitor visit,
		    void *data) __attribute__((nonnull(1, 2, 3), warn_unused_result));

void pgs_cgroup_names_fini(struct pgs_cgroup_names *names) __attribute__((nonnull));
