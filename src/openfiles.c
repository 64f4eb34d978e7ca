// SPDX-License-Identifier: GPL-2.0-only
#include "openfiles.h"

#include "caps.h"
#include "cleanup.h"
#include "procfs.h"
#include "units.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#define DELETED " (deleted)"

/* Following another process's links takes ptrace access. The descriptor that is asked may be closed
 * meanwhile: then there is no answer. */
static bool look_at(int dir_fd, const char *name, char link[PATH_MAX], struct stat *ret_st)
{
	size_t suffix = strlen(DELETED);
	bool found = false;
	ssize_t len;

	pgs_caps_raise(PGS_CAPS_OTHERS);
	len = readlinkat(dir_fd, name, link, PATH_MAX - 1);
	if (len > (ssize_t)suffix && !memcmp(link + len - suffix, DELETED, suffix))
		found = !fstatat(dir_fd, name, ret_st, 0);
	pgs_caps_lower();
	if (found)
		link[len - (ssize_t)suffix] = '\0';
	return found;
}

static DIR *open_fds(struct pgs_ctx *ctx, pid_t pid)
{
	int fd = pgs_open(ctx, PGS_CAPS_OTHERS, O_DIRECTORY, "proc/%d/fd", (int)pid);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

static int walk_process(struct pgs_ctx *ctx, pid_t pid,
			int (*fn)(void *arg, const struct pgs_open_file *file), void *arg)
{
	_cleanup_closedir_ DIR *dir = open_fds(ctx, pid);
	_cleanup_free_ char *link = malloc(PATH_MAX);
	struct pgs_open_file file = {.pid = pid, .name = link};
	struct dirent *entry;
	uint64_t fd;
	int r = 0;

	if (!link)
		return -ENOMEM;
	while (!r && dir && (entry = readdir(dir))) {
		if (pgs_parse_u64(entry->d_name, &fd) ||
		    !look_at(dirfd(dir), entry->d_name, link, &file.st))
			continue;
		file.fd = (unsigned int)fd;
		r = fn(arg, &file);
	}
	return r;
}

int pgs_open_files_walk(struct pgs_ctx *ctx, int (*fn)(void *arg, const struct pgs_open_file *file),
			void *arg)
{
	_cleanup_(pgs_pids_closep) struct pgs_pids *pids = NULL;
	int r = pgs_pids_open(ctx, &pids);
	pid_t pid;

	while (!r && pgs_pids_next(pids, &pid) > 0)
		r = walk_process(ctx, pid, fn, arg);
	return r;
}
