/* SPDX-License-Identifier: GPL-2.0-only */
/* tmpfs: the tmpfs file systems that are mounted here, and the files in them. */
#pragma once

#include "ctx.h"

#include <sys/stat.h>

struct pgs_tmpfs {
	char *point; /* where it is mounted, with a leading slash */
	dev_t dev;
};

struct pgs_tmpfs_list {
	struct pgs_tmpfs *mounts; /* each file system once, by its first mount of the whole of it */
	size_t nr;
};

/* pgs_tmpfs_list_read - those of our own mount namespace. Returns 0 or -errno. */
int pgs_tmpfs_list_read(struct pgs_ctx *ctx, struct pgs_tmpfs_list *ret_list)
	__attribute__((nonnull, warn_unused_result));
void pgs_tmpfs_list_fini(struct pgs_tmpfs_list *list);

/* pgs_tmpfs_find - the one with that device, NULL. */
const struct pgs_tmpfs *pgs_tmpfs_find(const struct pgs_tmpfs_list *list, dev_t dev)
	__attribute__((nonnull));

/*
 * pgs_tmpfs_open - file @path (it starts with a slash) inside @tmpfs, with @flags of open(2).
 * Returns a descriptor; -ESTALE when what has that name now is not on @tmpfs or not inode @ino;
 * -errno.
 */
int pgs_tmpfs_open(struct pgs_ctx *ctx, const struct pgs_tmpfs *tmpfs, const char *path,
		   uint64_t ino, int flags) __attribute__((nonnull, warn_unused_result));

/*
 * pgs_tmpfs_walk - call @fn for each regular file of @tmpfs that uses memory or swap, with its path
 * inside and its stat. Stops when @fn returns non-zero, and returns that; 0; -errno of the root.
 * Folders that cannot be read are counted in *@ret_skipped.
 */
int pgs_tmpfs_walk(struct pgs_ctx *ctx, const struct pgs_tmpfs *tmpfs,
		   int (*fn)(void *arg, const char *path, const struct stat *st), void *arg,
		   uint64_t *ret_skipped) __attribute__((nonnull(1, 2, 3, 5), warn_unused_result));
