// SPDX-License-Identifier: GPL-2.0-only
#include "tmpfs.h"

#include "caps.h"
#include "cleanup.h"
#include "mountinfo.h"
#include "procfs.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#define MAX_DEPTH 128

static bool is_whole_tmpfs(const struct pgs_mount *mount)
{
	return !strcmp(mount->type, "tmpfs") && !strcmp(mount->root, "/") && *mount->point == '/';
}

static int add_mount(struct pgs_tmpfs_list *list, dev_t dev, const char *point)
{
	struct pgs_tmpfs *more = reallocarray(list->mounts, list->nr + 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	list->mounts = more;
	more[list->nr] = (struct pgs_tmpfs){.point = strdup(point), .dev = dev};
	if (!more[list->nr].point)
		return -ENOMEM;
	list->nr++;
	return 0;
}

int pgs_tmpfs_list_read(struct pgs_ctx *ctx, struct pgs_tmpfs_list *ret_list)
{
	_cleanup_free_ char *text = NULL;
	struct pgs_tmpfs_list list = {0};
	ssize_t r = pgs_read_file(ctx, 0, &text, "proc/self/mountinfo");
	struct pgs_mount mount;

	if (r < 0)
		return (int)r;
	r = 0;
	for (char *rest = text; !r && pgs_mount_next(&rest, &mount);)
		if (is_whole_tmpfs(&mount) && !pgs_tmpfs_find(&list, mount.dev))
			r = add_mount(&list, mount.dev, mount.point);
	if (r) {
		pgs_tmpfs_list_fini(&list);
		return (int)r;
	}
	*ret_list = list;
	return 0;
}

void pgs_tmpfs_list_fini(struct pgs_tmpfs_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->mounts[i].point);
	free(list->mounts);
	*list = (struct pgs_tmpfs_list){0};
}

const struct pgs_tmpfs *pgs_tmpfs_find(const struct pgs_tmpfs_list *list, dev_t dev)
{
	for (size_t i = 0; i < list->nr; i++)
		if (list->mounts[i].dev == dev)
			return &list->mounts[i];
	return NULL;
}

int pgs_tmpfs_open(struct pgs_ctx *ctx, const struct pgs_tmpfs *tmpfs, const char *path,
		   uint64_t ino, int flags)
{
	struct stat st;
	/* A root of "/" gives "//path", which is the same */
	int fd = pgs_open(ctx, PGS_CAP(CAP_DAC_READ_SEARCH), flags | O_NOFOLLOW | O_NONBLOCK,
			  "%s%s", tmpfs->point + 1, tmpfs->point[1] ? path : path + 1);

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) || st.st_dev != tmpfs->dev || st.st_ino != ino) {
		close(fd);
		return pgs_ctx_fail(ctx, -ESTALE, "'%s' in '%s' is another file now", path,
				    tmpfs->point);
	}
	return fd;
}

/* ---- the files ------------------------------------------------------------------------------ */

struct walk {
	const struct pgs_tmpfs *tmpfs;
	int (*fn)(void *arg, const char *path, const struct stat *st);
	void *arg;
	uint64_t skipped;
	char path[PATH_MAX];
};

static int walk_dir(struct walk *w, int fd, size_t len, unsigned int depth);

/* The name's stat, and a descriptor of it if it is a folder; -1 and errno as open(2) where not. */
static int look_at(int dir_fd, const char *name, struct stat *ret_st)
{
	int fd = -1;

	pgs_caps_raise(PGS_CAP(CAP_DAC_READ_SEARCH));
	if (fstatat(dir_fd, name, ret_st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT))
		ret_st->st_dev = 0;
	else if (S_ISDIR(ret_st->st_mode))
		fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	pgs_caps_lower();
	return fd;
}

/* One name of the folder @dir_fd; w->path[0..len) is that of the folder. */
static int walk_entry(struct walk *w, int dir_fd, size_t len, const char *name, unsigned int depth)
{
	size_t name_len = strlen(name);
	_cleanup_close_ int fd = -1;
	struct stat st;
	int dir;

	fd = look_at(dir_fd, name, &st);
	if (st.st_dev != w->tmpfs->dev)
		return 0; /* gone, or another file system is mounted there */
	if (len + name_len + 2 > sizeof(w->path) || (S_ISDIR(st.st_mode) && depth == MAX_DEPTH)) {
		w->skipped++;
		return 0;
	}
	w->path[len] = '/';
	memcpy(w->path + len + 1, name, name_len + 1);
	if (S_ISREG(st.st_mode))
		return st.st_blocks ? w->fn(w->arg, w->path, &st) : 0;
	if (!S_ISDIR(st.st_mode))
		return 0;
	if (fd < 0) {
		w->skipped++;
		return 0;
	}
	dir = fd;
	fd = -1;
	return walk_dir(w, dir, len + 1 + name_len, depth + 1);
}

/* Owns @fd. */
static int walk_dir(struct walk *w, int fd, size_t len, unsigned int depth)
{
	_cleanup_closedir_ DIR *dir = fdopendir(fd);
	struct dirent *entry;
	int r = 0;

	if (!dir) {
		close(fd);
		return -errno;
	}
	while (!r && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			r = walk_entry(w, fd, len, entry->d_name, depth);
	return r;
}

int pgs_tmpfs_walk(struct pgs_ctx *ctx, const struct pgs_tmpfs *tmpfs,
		   int (*fn)(void *arg, const char *path, const struct stat *st), void *arg,
		   uint64_t *ret_skipped)
{
	struct walk *w = calloc(1, sizeof(*w));
	int fd, r;

	if (!w)
		return -ENOMEM;
	*w = (struct walk){.tmpfs = tmpfs, .fn = fn, .arg = arg};
	fd = pgs_open(ctx, PGS_CAP(CAP_DAC_READ_SEARCH), O_DIRECTORY, "%s",
		      tmpfs->point[1] ? tmpfs->point + 1 : ".");
	if (fd < 0) {
		free(w);
		return fd;
	}
	r = walk_dir(w, fd, 0, 0);
	*ret_skipped = w->skipped;
	free(w);
	return r;
}
