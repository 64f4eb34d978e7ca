/* SPDX-License-Identifier: GPL-2.0-only */
/* openfiles: files that have no name any more, or never had one, and are kept alive by a
 * descriptor. */
#pragma once

#include "ctx.h"

#include <sys/stat.h>
#include <sys/types.h>

/* A descriptor of some process that leads to such a file. */
struct pgs_open_file {
	pid_t pid;
	unsigned int fd;
	const char
		*name; /* as the link says, without " (deleted)": "/memfd:x"; valid in the call */
	struct stat st;
};

/*
 * pgs_open_files_walk - call @fn for each, file by file of each process; one file may come several
 * times. Processes that may not be looked into are left out. Stops when @fn returns non-zero, and
 * returns that; 0; -errno of /proc.
 */
int pgs_open_files_walk(struct pgs_ctx *ctx, int (*fn)(void *arg, const struct pgs_open_file *file),
			void *arg) __attribute__((nonnull(1, 2), warn_unused_result));
