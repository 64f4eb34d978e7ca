// SPDX-License-Identifier: GPL-2.0-only
/*
 * EXTENTS: the pages of one shmem object, mapped or not.
 */
#include <linux/file.h>
#include <linux/shmem_fs.h>

#include "internal.h"

/* One of the two keeps the object. */
struct extents_object {
	struct file *file;
	struct inode *inode;
};

static int extents_open(const struct pgscan_extents *arg, struct extents_object *object,
			struct address_space **ret_mapping)
{
	int err;

	if (arg->fd == -1) {
		err = pgscan_object_find(&arg->key, &object->inode);
		if (!err)
			*ret_mapping = object->inode->i_mapping;
		return err;
	}

	if (memchr_inv(&arg->key, 0, sizeof(arg->key)))
		return -EINVAL;
	object->file = fget_raw(arg->fd);
	if (!object->file)
		return -EBADF;
	if (!shmem_mapping(object->file->f_mapping)) {
		fput(object->file);
		return -EINVAL;
	}
	*ret_mapping = object->file->f_mapping;
	return 0;
}

static void extents_close(struct extents_object *object)
{
	if (object->file)
		fput(object->file);
	else
		pgscan_object_put(object->inode);
}

/* Returns the index where the walk ended, or -errno. */
static long extents_walk(struct pgscan_object_walk *walk, pgoff_t first, pgoff_t end)
{
	long work = PGSCAN_CALL_WORK;
	pgoff_t index = first;
	int room;

	while (index < end && work > 0) {
		if (signal_pending(current))
			return index == first ? -ERESTARTSYS : index;

		walk->start = (u64)index << PAGE_SHIFT;
		walk->work = PGSCAN_BATCH_WORK;
		index = pgscan_object_walk(walk, index, end - 1);

		room = pgscan_runs_make_room(walk->runs);
		if (room < 0)
			return room;
		if (!room)
			break;
		work -= PGSCAN_BATCH_WORK - walk->work;
		cond_resched();
	}
	return index;
}

long pgscan_extents(union pgscan_arg *uarg)
{
	struct pgscan_extents *arg = &uarg->extents;
	struct pgscan_object_walk walk = {};
	struct extents_object object = {};
	struct pgscan_runs runs;
	pgoff_t last = MAX_LFS_FILESIZE >> PAGE_SHIFT;
	pgoff_t first = arg->start >> PAGE_SHIFT;
	pgoff_t end = min_t(u64, arg->end >> PAGE_SHIFT, last + 1);
	long ret;

	if (arg->reserved || arg->key.reserved || arg->fd < -1 || first > end ||
	    !PAGE_ALIGNED(arg->start) || (arg->end != U64_MAX && !PAGE_ALIGNED(arg->end)))
		return -EINVAL;
	ret = pgscan_runs_init(&runs, arg->vec, arg->vec_len, arg->want);
	if (ret)
		return ret;
	ret = extents_open(arg, &object, &walk.mapping);
	if (ret)
		goto out;

	walk.runs = &runs;
	pgscan_object_key(walk.mapping->host, &arg->key);
	ret = extents_walk(&walk, first, end);
	extents_close(&object);
	if (ret < 0)
		goto out;

	arg->walk_end = ret == end ? arg->end : (u64)ret << PAGE_SHIFT;
	arg->swapped_pages = runs.pages[PGSCAN_RUN_SWAPPED];
	arg->cached_pages = runs.pages[PGSCAN_RUN_CACHED];
	arg->poisoned_pages = runs.pages[PGSCAN_RUN_POISONED];
	ret = pgscan_runs_finish(&runs);
out:
	pgscan_runs_fini(&runs);
	return ret;
}
