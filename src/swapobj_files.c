// SPDX-License-Identifier: GPL-2.0-only
/*
 * The objects in swap, by what every kernel shows: files of mounted tmpfs, open descriptors, SysV
 * segments. How much of them is in swap, not where.
 */
#include "swapobj_priv.h"

#include "caps.h"
#include "cleanup.h"
#include "openfiles.h"
#include "procfs.h"
#include "shmem.h"

#include <errno.h>
#include <string.h>

int pgs_swapobj_look_into(struct pgs_swapobjs *objs, struct pgs_swapobj *obj, int fd)
{
	_cleanup_(pgs_residency_closep) struct pgs_residency *res = NULL;
	unsigned int shift = objs->ctx->page_shift;
	uint64_t end, offset = 0;
	bool data, resident;
	struct stat st;
	int64_t n;
	int r = fstat(fd, &st) ? -errno : pgs_residency_open(objs->ctx, fd, &res);

	if (r)
		return r;
	obj->size_bytes = (uint64_t)st.st_size;
	end = (obj->size_bytes + objs->ctx->page_size - 1) >> shift << shift;
	for (; offset < end && !r; offset += (uint64_t)n << shift) {
		n = pgs_residency_next(res, offset, end, &data, &resident);
		if (n < 0)
			return (int)n;
		if (data && !resident)
			r = pgs_swapobj_add_extent(
				obj, &(struct pgs_swap_extent){.index = offset >> shift,
							       .pages = (uint64_t)n});
	}
	return r;
}

int pgs_swapobj_look_into_fd(struct pgs_swapobjs *objs, struct pgs_swapobj *obj, int opened)
{
	_cleanup_close_ int fd = opened;
	int r = fd < 0 ? fd : pgs_swapobj_look_into(objs, obj, fd);

	return r && r != -ENOMEM ? pgs_swapobj_set_reason(objs, obj) : r;
}

static int take_file(void *arg, const char *path, const struct stat *st)
{
	struct pgs_swapobjs *objs = arg;
	const struct pgs_tmpfs *tmpfs = pgs_tmpfs_find(&objs->tmpfs, st->st_dev);
	_cleanup_free_ char *name = NULL;
	struct pgs_swapobj *obj;

	if (!tmpfs || pgs_swapobj_by_id(objs, st->st_dev, st->st_ino, path))
		return 0;
	if (asprintf(&name, "%s%s", tmpfs->point[1] ? tmpfs->point : "", path) < 0)
		return -ENOMEM;
	obj = pgs_swapobj_add(objs, st->st_dev, st->st_ino, name);
	if (!obj)
		return -ENOMEM;
	return pgs_swapobj_look_into_fd(objs, obj,
					pgs_tmpfs_open(objs->ctx, tmpfs, path, st->st_ino, 0));
}

/*
 * "key shmid perms size cpid lpid nattch uid gid cuid cgid atime dtime ctime rss swap": the only
 * trace of a segment that nobody has attached. Its pages in swap are a number without places.
 */
static int take_segment(struct pgs_swapobjs *objs, const char *line)
{
	unsigned long long size, swap;
	struct pgs_swapobj *obj;
	char name[32];
	int key, id;

	if (sscanf(line, "%d %d %*o %llu %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*u %llu", &key,
		   &id, &size, &swap) != 4 ||
	    !swap)
		return 0;
	snprintf(name, sizeof(name), "/SYSV%08x", (unsigned int)key);
	if (pgs_swapobj_by_id(objs, objs->kernel_dev, (uint64_t)id, name))
		return 0;
	obj = pgs_swapobj_add(objs, objs->kernel_dev, (uint64_t)id, name);
	if (!obj)
		return -ENOMEM;
	obj->size_bytes = size;
	return pgs_swapobj_add_extent(
		obj, &(struct pgs_swap_extent){.pages = swap >> objs->ctx->page_shift});
}

static int take_segments(struct pgs_swapobjs *objs)
{
	_cleanup_free_ char *text = NULL;
	char *save, *line;
	int r = 0;

	if (pgs_read_file(objs->ctx, 0, &text, "proc/sysvipc/shm") < 0)
		return 0;		    /* CONFIG_SYSVIPC=n */
	line = strtok_r(text, "\n", &save); /* the heading */
	while (!r && line && (line = strtok_r(NULL, "\n", &save)))
		r = take_segment(objs, line);
	return r;
}

/* A memfd that is just open, or a file on tmpfs that was removed. */
static int take_open_file(void *arg, const struct pgs_open_file *file)
{
	const uint64_t caps = PGS_CAPS_OTHERS;
	struct pgs_swapobjs *objs = arg;
	dev_t dev = file->st.st_dev;
	struct pgs_swapobj *obj;

	if (dev != objs->kernel_dev && !pgs_tmpfs_find(&objs->tmpfs, dev))
		return 0;
	if (!S_ISREG(file->st.st_mode) || !file->st.st_blocks ||
	    pgs_swapobj_by_id(objs, dev, file->st.st_ino, file->name))
		return 0;
	obj = pgs_swapobj_add(objs, dev, file->st.st_ino, file->name);
	if (!obj)
		return -ENOMEM;
	return pgs_swapobj_look_into_fd(
		objs, obj, pgs_open(objs->ctx, caps, 0, "proc/%d/fd/%u", (int)file->pid, file->fd));
}

int pgs_swapobjs_list_files(struct pgs_swapobjs *objs)
{
	int r = 0;

	for (size_t i = 0; i < objs->tmpfs.nr && !r; i++) {
		uint64_t skipped;

		r = pgs_tmpfs_walk(objs->ctx, &objs->tmpfs.mounts[i], take_file, objs, &skipped);
		if (r == -EACCES || r == -EPERM || r == -ENOENT)
			r = 0; /* without the module the list is partial anyway */
	}
	if (!r)
		r = pgs_open_files_walk(objs->ctx, take_open_file, objs);
	return r ? r : take_segments(objs);
}
