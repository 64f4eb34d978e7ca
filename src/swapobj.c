// SPDX-License-Identifier: GPL-2.0-only
#include "swapobj_priv.h"

#include "cleanup.h"
#include "overlay.h"
#include "page.h"
#include "shmem.h"

#include <errno.h>
#include <search.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

const char *pgs_swapobj_kind_name(enum pgs_swapobj_kind kind)
{
	static const char *const names[] = {
		[PGS_OBJ_MEMFD] = "memfd",
		[PGS_OBJ_SYSV] = "sysv",
		[PGS_OBJ_TMPFS] = "tmpfs",
		[PGS_OBJ_DRIVER] = "driver",
		[PGS_OBJ_SHARED_ANON] = "shared_anon",
	};

	return names[kind];
}

static enum pgs_swapobj_kind kind_of_name(bool is_kernel, const char *name)
{
	if (!is_kernel)
		return PGS_OBJ_TMPFS;
	if (!strncmp(name, "/memfd:", strlen("/memfd:")))
		return PGS_OBJ_MEMFD;
	if (!strncmp(name, "/SYSV", strlen("/SYSV")))
		return PGS_OBJ_SYSV;
	return strcmp(name, "[shmem]") ? PGS_OBJ_DRIVER : PGS_OBJ_SHARED_ANON;
}

/* ---- the set of objects ---------------------------------------------------------------------- */

/*
 * In the kernel's own superblock a SysV segment's inode number is its id, and all else is numbered
 * by a counter: two objects may have the same. Only names tell them apart there; elsewhere an
 * object may have several.
 */
static int compare_identity(const void *pa, const void *pb)
{
	const struct pgs_swapobj *a = pa, *b = pb;

	if (a->dev != b->dev)
		return a->dev < b->dev ? -1 : 1;
	if (a->ino != b->ino)
		return a->ino < b->ino ? -1 : 1;
	return a->is_kernel && b->is_kernel ? strcmp(a->name, b->name) : 0;
}

struct pgs_swapobj *pgs_swapobj_by_id(struct pgs_swapobjs *objs, dev_t dev, uint64_t ino,
				      const char *name)
{
	struct pgs_swapobj probe = {
		.dev = dev, .ino = ino, .name = (char *)name, .is_kernel = dev == objs->kernel_dev};
	struct pgs_swapobj **node = tfind(&probe, &objs->tree, compare_identity);

	return node ? *node : NULL;
}

bool pgs_swapobjs_has(const struct pgs_swapobjs *objs, dev_t dev, uint64_t ino)
{
	const struct pgs_swapobj probe = {.dev = dev, .ino = ino};

	return tfind(&probe, &objs->tree, compare_identity);
}

static void free_obj(struct pgs_swapobj *obj)
{
	free(obj->name);
	free(obj->reason);
	free(obj->extents);
	free(obj);
}

struct pgs_swapobj *pgs_swapobj_add(struct pgs_swapobjs *objs, dev_t dev, uint64_t ino,
				    const char *name)
{
	struct pgs_swapobj **more =
		reallocarray(objs->objs, objs->nr + 1, sizeof(struct pgs_swapobj *));
	struct pgs_swapobj *obj = calloc(1, sizeof(*obj));

	if (more)
		objs->objs = more;
	if (!more || !obj || !(obj->name = strdup(name))) {
		free(obj);
		return NULL;
	}
	obj->dev = dev;
	obj->ino = ino;
	obj->is_kernel = dev == objs->kernel_dev;
	obj->kind = kind_of_name(obj->is_kernel, name);
	obj->space = PGS_PM_SWAP_TYPES + (uint32_t)objs->nr;
	obj->last_mapper = UINT32_MAX;
	if (!tsearch(obj, &objs->tree, compare_identity)) {
		free_obj(obj);
		return NULL;
	}
	more[objs->nr++] = obj;
	return obj;
}

int pgs_swapobj_add_extent(struct pgs_swapobj *obj, const struct pgs_swap_extent *extent)
{
	struct pgs_swap_extent *last = obj->nr_extents ? &obj->extents[obj->nr_extents - 1] : NULL;

	obj->swapped_pages += extent->pages;
	if (last && extent->index == last->index + last->pages &&
	    (!obj->located ||
	     (extent->swap_type == last->swap_type && extent->slot == last->slot + last->pages))) {
		last->pages += extent->pages;
		return 0;
	}
	if (!(obj->nr_extents & (obj->nr_extents - 1))) { /* full: 0, 1, 2, 4, ... */
		size_t room = obj->nr_extents ? obj->nr_extents * 2 : 1;
		struct pgs_swap_extent *more = reallocarray(obj->extents, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		obj->extents = more;
	}
	obj->extents[obj->nr_extents++] = *extent;
	return 0;
}

int pgs_swapobj_set_reason(struct pgs_swapobjs *objs, struct pgs_swapobj *obj)
{
	free(obj->reason);
	obj->reason = strdup(pgs_ctx_error(objs->ctx));
	return obj->reason ? 0 : -ENOMEM;
}

size_t pgs_swapobj_find(const struct pgs_swapobj *obj, uint64_t index)
{
	size_t from = 0, to = obj->nr_extents;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (obj->extents[mid].index + obj->extents[mid].pages <= index)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

void pgs_swapobj_forget(struct pgs_swapobj *obj)
{
	free(obj->extents);
	obj->extents = NULL;
	obj->nr_extents = 0;
	obj->swapped_pages = 0;
}

char *pgs_swapobj_full_name(const struct pgs_swapobjs *objs, dev_t dev, bool is_kernel, bool is_cut,
			    const char *own)
{
	const struct pgs_tmpfs *tmpfs = pgs_tmpfs_find(&objs->tmpfs, dev);
	char *name = NULL;

	if (is_kernel && !strcmp(own, "dev/zero"))
		return strdup("[shmem]");
	if (asprintf(&name, "%s%s%s", !is_kernel && tmpfs && tmpfs->point[1] ? tmpfs->point : "",
		     is_cut	 ? "/..."
		     : is_kernel ? "/"
				 : "",
		     own) < 0)
		return NULL;
	return name;
}

int pgs_swapobjs_add_unmapped(struct pgs_swapobjs *objs)
{
	return objs->complete ? pgs_swapobjs_load_rest(objs) : pgs_swapobjs_list_files(objs);
}

/* ---- of a mapping ---------------------------------------------------------------------------- */

/* The object that has a page in that slot. */
static struct pgs_swapobj *find_by_slot(struct pgs_swapobjs *objs, unsigned int type, uint64_t slot)
{
	for (size_t i = 0; i < objs->nr; i++)
		for (size_t k = 0; objs->objs[i]->located && k < objs->objs[i]->nr_extents; k++) {
			const struct pgs_swap_extent *e = &objs->objs[i]->extents[k];

			if (e->swap_type == type && slot - e->slot < e->pages)
				return objs->objs[i];
		}
	return NULL;
}

/* All that is certain of a mapping is why nothing else is, which the context says: an object of the
 * mapping's own numbers stands for that. */
static int add_unknown(struct pgs_swapobjs *objs, const struct pgs_vma *vma,
		       struct pgs_swapobj **ret_obj)
{
	dev_t dev = makedev(vma->dev_major, vma->dev_minor);
	struct pgs_swapobj *obj = pgs_swapobj_add(objs, dev, vma->inode, vma->name);

	if (!obj)
		return -ENOMEM;
	*ret_obj = obj;
	return pgs_swapobj_set_reason(objs, obj);
}

/* No number of it is an object's: the object is known by the slots of its pages. */
static int find_by_pages(struct pgs_swapobjs *objs, pid_t pid, const struct pgs_vma *vma,
			 struct pgs_swapobj **ret_obj)
{
	struct pgs_swapobj *obj;
	struct pgscan_run run;
	int r = pgs_swapobj_ask_slot(objs, pid, vma, &run);

	if (r <= 0)
		return r;
	r = pgs_swapobjs_load_rest(objs);
	if (r)
		return r;
	obj = find_by_slot(objs, run.swap_type, run.slot);
	if (obj) {
		*ret_obj = obj;
		return 0;
	}
	pgs_ctx_fail(objs->ctx, -EAGAIN, "its pages were moved meanwhile");
	return add_unknown(objs, vma, ret_obj);
}

/* Without the module nobody can tell the layer: a page that is not in memory may be in swap. 1: so
 * it is with this mapping; 0; -errno. */
static int may_be_in_swap(struct pgs_swapobjs *objs, pid_t pid, const struct pgs_vma *vma)
{
	_cleanup_close_ int fd = pgs_map_file_open(objs->ctx, pid, vma, 0);
	struct pgs_swapobj probe = {0};
	int r;

	if (!pgs_overlay_may_swap(objs->ctx, fd))
		return 0;
	r = fd < 0 ? fd : pgs_swapobj_look_into(objs, &probe, fd);
	free(probe.extents);
	if (r || !probe.nr_extents)
		return r;
	pgs_ctx_fail(objs->ctx, -EOPNOTSUPP, PGS_OVERLAY_REASON);
	return 1;
}

/* A mapping of an overlay's file; *@ret_obj is what its numbers stand for already, or NULL. */
static int find_behind_overlay(struct pgs_swapobjs *objs, pid_t pid, const struct pgs_vma *vma,
			       struct pgs_swapobj **ret_obj)
{
	int r;

	if (*ret_obj)
		return 0;
	if (objs->kmod && pgs_kmod_has(objs->kmod, PGSCAN_FEAT_SHMEM))
		return find_by_pages(objs, pid, vma, ret_obj);
	r = may_be_in_swap(objs, pid, vma);
	return !r || r == -ENOMEM ? r : add_unknown(objs, vma, ret_obj);
}

int pgs_swapobjs_of_vma(struct pgs_swapobjs *objs, pid_t pid, const struct pgs_vma *vma,
			struct pgs_swapobj **ret_obj)
{
	dev_t dev = makedev(vma->dev_major, vma->dev_minor);
	struct pgs_swapobj *obj = pgs_swapobj_by_id(objs, dev, vma->inode, vma->name);
	int r;

	if (vma->kind == PGS_VMA_OVERLAY) {
		r = find_behind_overlay(objs, pid, vma, &obj);
		if (r)
			return r;
	} else if (!obj && !objs->complete) {
		obj = pgs_swapobj_add(objs, dev, vma->inode, vma->name);
		if (!obj)
			return -ENOMEM;
		r = pgs_swapobj_look_into_fd(objs, obj, pgs_map_file_open(objs->ctx, pid, vma, 0));
		if (r)
			return r;
	}
	if (obj && obj->by_module && !obj->is_loaded) {
		r = pgs_swapobj_load_mapped(objs, obj, pid, vma);
		if (r)
			return r;
	}
	if (!obj || (!obj->nr_extents && !obj->reason))
		return 0;
	*ret_obj = obj;
	return 1;
}

/* ---- open and close -------------------------------------------------------------------------- */

/* As in src/maps.c: our own memfd lives on the kernel's mount. */
static dev_t find_kernel_dev(const struct pgs_ctx *ctx)
{
	_cleanup_close_ int fd = ctx->live ? memfd_create("pgscan", MFD_CLOEXEC) : -1;
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) ? st.st_dev : makedev(0, 1);
}

int pgs_swapobjs_open(struct pgs_ctx *ctx, struct pgs_kmod *kmod, struct pgs_kmem *kmem,
		      struct pgs_swapobjs **ret_objs)
{
	struct pgs_swapobjs *objs = calloc(1, sizeof(*objs));
	int r = 0;

	if (!objs)
		return -ENOMEM;
	objs->ctx = ctx;
	objs->kernel_dev = find_kernel_dev(ctx);
	if (kmod && pgs_kmod_has(kmod, PGSCAN_FEAT_OBJECTS | PGSCAN_FEAT_EXTENTS))
		objs->kmod = kmod;
	if (ctx->live)
		r = pgs_tmpfs_list_read(ctx, &objs->tmpfs);
	if (!r && objs->kmod)
		r = pgs_swapobjs_list_kmod(objs);
	else if (!r && kmem)
		r = pgs_swapobjs_list_kmem(objs, kmem);
	if (r) {
		pgs_swapobjs_close(objs);
		return r;
	}
	*ret_objs = objs;
	return 0;
}

static void forget(void *node)
{
	(void)node; /* freed by way of the array */
}

void pgs_swapobjs_close(struct pgs_swapobjs *objs)
{
	if (!objs)
		return;
	tdestroy(objs->tree, forget);
	for (size_t i = 0; i < objs->nr; i++)
		free_obj(objs->objs[i]);
	free(objs->objs);
	free(objs->runs);
	pgs_tmpfs_list_fini(&objs->tmpfs);
	free(objs);
}

bool pgs_swapobjs_is_complete(const struct pgs_swapobjs *objs)
{
	return objs->complete;
}

size_t pgs_swapobjs_nr(const struct pgs_swapobjs *objs)
{
	return objs->nr;
}

struct pgs_swapobj *pgs_swapobjs_get(const struct pgs_swapobjs *objs, size_t i)
{
	return objs->objs[i];
}
