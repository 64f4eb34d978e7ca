// SPDX-License-Identifier: GPL-2.0-only
/* The objects in swap, by the module: it lists all there are, with their slots. */
#include "swapobj_priv.h"

#include "caps.h"
#include "cleanup.h"
#include "procfs.h"
#include "shmem.h"

#include <errno.h>
#include <string.h>

#define OBJECTS_ROOM 256u

/*
 * A descriptor of the object, where it has a name that we can follow, or a process maps it: by its
 * key the module has to search all inodes for it, which for many objects is their number squared.
 */
static int open_by_name(struct pgs_swapobjs *objs, const struct pgscan_object *rec)
{
	const struct pgs_tmpfs *tmpfs = pgs_tmpfs_find(&objs->tmpfs, (dev_t)rec->key.dev);
	const uint32_t nameless =
		PGSCAN_OBJ_F_KERNEL | PGSCAN_OBJ_F_UNLINKED | PGSCAN_OBJ_F_NAME_CUT;

	if (!tmpfs || rec->flags & nameless || rec->name[0] != '/')
		return -1;
	return pgs_tmpfs_open(objs->ctx, tmpfs, rec->name, rec->key.ino, O_PATH);
}

static int take_runs(struct pgs_swapobjs *objs, struct pgs_swapobj *obj, int nr)
{
	unsigned int shift = objs->ctx->page_shift;
	int r = 0;

	for (int i = 0; i < nr && !r; i++) {
		const struct pgscan_run *run = &objs->runs[i];
		struct pgs_swap_extent extent = {run->start >> shift, run->pages, run->slot,
						 run->swap_type};

		r = pgs_swapobj_add_extent(obj, &extent);
	}
	return r;
}

/* All pages in swap of an object, by descriptor @fd or (-1) by its key. 0, also when the object has
 * gone meanwhile, or -errno. */
static int load_extents(struct pgs_swapobjs *objs, struct pgs_swapobj *obj, int fd)
{
	struct pgscan_extents arg = {
		.size = sizeof(arg),
		.fd = fd < 0 ? -1 : fd,
		.end = UINT64_MAX,
		.vec = (uintptr_t)objs->runs,
		.vec_len = PGS_SWAPOBJ_RUNS,
		.want = 1u << PGSCAN_RUN_SWAPPED,
	};
	const struct pgscan_key key = {
		.dev = obj->dev, .ino = obj->ino, .generation = obj->generation};
	int r;

	obj->is_loaded = true;
	do {
		arg.key = fd < 0 ? key : (struct pgscan_key){0};
		r = pgs_kmod_request(objs->kmod, PGSCAN_IOC_EXTENTS, &arg);
		if (r == -ESTALE)
			return 0;
		if (r < 0)
			return pgs_ctx_fail(objs->ctx, r, "the module cannot look into '%s': %s",
					    obj->name, strerror(-r));
		r = take_runs(objs, obj, r);
		arg.start = arg.walk_end;
	} while (!r && arg.walk_end != arg.end);
	return r;
}

/* The same of one that process @pid maps. On a mapping of overlayfs the link leads to the overlay's
 * inode, which is another one. */
int pgs_swapobj_load_mapped(struct pgs_swapobjs *objs, struct pgs_swapobj *obj, pid_t pid,
			    const struct pgs_vma *vma)
{
	_cleanup_close_ int fd = pgs_map_file_open(objs->ctx, pid, vma, O_PATH);
	struct stat st;
	bool is_it = fd >= 0 && !fstat(fd, &st) && st.st_dev == obj->dev && st.st_ino == obj->ino;

	return load_extents(objs, obj, is_it ? fd : -1);
}

static int take_object(struct pgs_swapobjs *objs, const struct pgscan_object *rec)
{
	bool is_kernel = rec->flags & PGSCAN_OBJ_F_KERNEL;
	dev_t dev = (dev_t)rec->key.dev;
	_cleanup_free_ char *name = pgs_swapobj_full_name(
		objs, dev, is_kernel, rec->flags & PGSCAN_OBJ_F_NAME_CUT, rec->name);
	_cleanup_close_ int fd = -1;
	struct pgs_swapobj *obj;

	if (is_kernel)
		objs->kernel_dev = dev;
	if (!name)
		return -ENOMEM;
	obj = pgs_swapobj_add(objs, dev, rec->key.ino, name);
	if (!obj)
		return -ENOMEM;
	obj->by_module = true;
	obj->has_generation = true;
	obj->generation = rec->key.generation;
	obj->size_bytes = rec->size_bytes;
	obj->located = true;
	fd = open_by_name(objs, rec);
	return fd < 0 ? 0 : load_extents(objs, obj, fd); /* or when a process maps it */
}

int pgs_swapobjs_list_kmod(struct pgs_swapobjs *objs)
{
	_cleanup_free_ struct pgscan_object *recs = calloc(OBJECTS_ROOM, sizeof(*recs));
	struct pgscan_objects arg = {
		.size = sizeof(arg),
		.vec = (uintptr_t)recs,
		.vec_len = OBJECTS_ROOM,
		.object_size = sizeof(*recs),
	};
	int r;

	objs->runs = calloc(PGS_SWAPOBJ_RUNS, sizeof(*objs->runs));
	if (!recs || !objs->runs)
		return -ENOMEM;
	do {
		int nr = pgs_kmod_request(objs->kmod, PGSCAN_IOC_OBJECTS, &arg);

		r = 0;
		if (nr < 0)
			return pgs_ctx_fail(objs->ctx, nr, "the module cannot list objects: %s",
					    strerror(-nr));
		for (int i = 0; i < nr && !r; i++)
			r = take_object(objs, &recs[i]);
	} while (!r && arg.remaining);
	objs->complete = !r;
	return r;
}

int pgs_swapobjs_load_rest(struct pgs_swapobjs *objs)
{
	int r = 0;

	for (size_t i = 0; i < objs->nr && !r; i++)
		if (objs->objs[i]->by_module && !objs->objs[i]->is_loaded)
			r = load_extents(objs, objs->objs[i], -1);
	return r;
}

int pgs_swapobj_ask_slot(struct pgs_swapobjs *objs, pid_t pid, const struct pgs_vma *vma,
			 struct pgscan_run *ret_run)
{
	_cleanup_close_ int fd = pgs_open(objs->ctx, PGS_CAPS_OTHERS | PGS_CAP(CAP_SYS_ADMIN), 0,
					  "proc/%d/pagemap", (int)pid);
	struct pgscan_shmem arg = {
		.size = sizeof(arg),
		.flags = pgs_kmod_has(objs->kmod, PGSCAN_FEAT_SHMEM_MARKERS) ? PGSCAN_SHMEM_MARKERS
									     : 0,
		.pagemap_fd = fd,
		.start = vma->start,
		.end = vma->end,
		.vec = (uintptr_t)ret_run,
		.vec_len = 1,
		.want = 1u << PGSCAN_RUN_SWAPPED,
	};
	int r = fd < 0 ? fd : 0;

	while (!r && arg.start != arg.end) {
		r = pgs_kmod_request(objs->kmod, PGSCAN_IOC_SHMEM, &arg);
		if (r < 0)
			return pgs_ctx_fail(objs->ctx, r,
					    "the module cannot look up process %d: %s", (int)pid,
					    strerror(-r));
		arg.start = arg.walk_end;
	}
	return r;
}
