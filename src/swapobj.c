// SPDX-License-Identifier: GPL-2.0-only
#include "swapobj.h"

#include "caps.h"
#include "cleanup.h"
#include "openfiles.h"
#include "page.h"
#include "procfs.h"
#include "shmem.h"
#include "tmpfs.h"

#include <errno.h>
#include <search.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#define OBJECTS_ROOM 256u
#define RUNS_ROOM    1024u

struct pgs_swapobjs {
	struct pgs_ctx *ctx;
	struct pgs_kmod *kmod; /* NULL: it lists no objects */
	bool complete;	       /* all objects in swap are listed */
	struct pgs_tmpfs_list tmpfs;
	dev_t kernel_dev;
	void *tree; /* tsearch(), by identity */
	struct pgs_swapobj **objs;
	size_t nr;
	struct pgscan_run *runs; /* RUNS_ROOM */
};

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

static struct pgs_swapobj *find_obj(struct pgs_swapobjs *objs, dev_t dev, uint64_t ino,
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

/* A new object, NULL without memory. Copies @name. Of two alike the first one is found. */
static struct pgs_swapobj *add_obj(struct pgs_swapobjs *objs, dev_t dev, uint64_t ino,
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

/* Append a run; one that goes on where the last one ends is one with it. */
static int add_extent(struct pgs_swapobj *obj, const struct pgs_swap_extent *extent)
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

static int set_reason(struct pgs_swapobjs *objs, struct pgs_swapobj *obj)
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

/* ---- by the module --------------------------------------------------------------------------- */

/* The whole name: that of the kernel's own mount as in maps, the others below their mount point. */
static char *full_name(const struct pgs_swapobjs *objs, dev_t dev, bool is_kernel, bool is_cut,
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

		r = add_extent(obj, &extent);
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
		.vec_len = RUNS_ROOM,
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
static int load_by_mapping(struct pgs_swapobjs *objs, struct pgs_swapobj *obj, pid_t pid,
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
	_cleanup_free_ char *name =
		full_name(objs, dev, is_kernel, rec->flags & PGSCAN_OBJ_F_NAME_CUT, rec->name);
	_cleanup_close_ int fd = -1;
	struct pgs_swapobj *obj;

	if (is_kernel)
		objs->kernel_dev = dev;
	if (!name)
		return -ENOMEM;
	obj = add_obj(objs, dev, rec->key.ino, name);
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

static int list_by_module(struct pgs_swapobjs *objs)
{
	_cleanup_free_ struct pgscan_object *recs = calloc(OBJECTS_ROOM, sizeof(*recs));
	struct pgscan_objects arg = {
		.size = sizeof(arg),
		.vec = (uintptr_t)recs,
		.vec_len = OBJECTS_ROOM,
		.object_size = sizeof(*recs),
	};
	int r;

	objs->runs = calloc(RUNS_ROOM, sizeof(*objs->runs));
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

/* ---- by kernel memory ------------------------------------------------------------------------ */

/* All pages in swap of one object, which nothing pins. 0 or -errno. */
static int read_extents(struct pgs_swapobjs *objs, struct pgs_kmem *kmem,
			const struct pgs_kobject *object, struct pgs_swapobj *obj)
{
	_cleanup_free_ struct pgs_kentries *runs = calloc(RUNS_ROOM, sizeof(*runs));
	const uint64_t end = UINT64_MAX >> objs->ctx->page_shift;
	uint64_t from = 0;
	int r = runs ? 0 : -ENOMEM;

	while (!r && from < end) {
		int nr = pgs_kmem_entries(kmem, object, from, end, runs, RUNS_ROOM);

		if (nr < 0)
			return nr;
		for (int i = 0; i < nr && !r; i++) {
			const struct pgs_swap_extent extent = {runs[i].index, runs[i].pages,
							       runs[i].slot, runs[i].swap_type};

			obj->racy |= runs[i].racy || runs[i].entry == PGS_KENTRY_UNKNOWN;
			if (runs[i].entry == PGS_KENTRY_SWAPPED)
				r = add_extent(obj, &extent);
		}
		from = runs[nr - 1].index + runs[nr - 1].pages;
	}
	return r;
}

static void forget_extents(struct pgs_swapobj *obj)
{
	free(obj->extents);
	obj->extents = NULL;
	obj->nr_extents = 0;
	obj->swapped_pages = 0;
}

/* What is not certain of all of it is not 0. */
static int judge_extents(struct pgs_swapobjs *objs, struct pgs_swapobj *obj, int err)
{
	if (err)
		pgs_ctx_fail(objs->ctx, err, "its pages cannot be read in kernel memory: %s",
			     strerror(-err));
	else if (obj->racy && !obj->nr_extents)
		pgs_ctx_fail(objs->ctx, -EAGAIN, "it changed at each look at kernel memory");
	else
		return 0;
	forget_extents(obj);
	return set_reason(objs, obj);
}

static int take_kobject(struct pgs_swapobjs *objs, struct pgs_kmem *kmem,
			const struct pgs_kobject *object)
{
	_cleanup_free_ char *own = NULL, *name = NULL;
	struct pgs_swapobj *obj;
	int r = pgs_kmem_name(kmem, object, &own);

	if (r == -ENOMEM || (r < 0 && !pgs_kmem_is_same(kmem, object)))
		return r == -ENOMEM ? r : 0; /* gone since it was listed */
	/* It is in swap under whatever name. */
	name = full_name(objs, object->dev, object->is_kernel, r > 0, r < 0 ? "" : own);
	obj = name ? add_obj(objs, object->dev, object->ino, name) : NULL;
	if (!obj)
		return -ENOMEM;
	obj->has_generation = true;
	obj->generation = object->generation;
	obj->size_bytes = object->size_bytes;
	obj->located = true;
	r = read_extents(objs, kmem, object, obj);
	if (r == -ENOMEM)
		return r;
	if (pgs_kmem_is_same(kmem, object))
		return judge_extents(objs, obj, r);
	forget_extents(obj); /* gone: what was read is of who knows what */
	obj->racy = false;
	return 0;
}

/* Where it cannot be had, or the lists do not hold still, the objects are found as without it. */
static int list_by_kmem(struct pgs_swapobjs *objs, struct pgs_kmem *kmem)
{
	struct pgs_kobjects list;
	int r = pgs_kmem_list(kmem, &list);

	if (r)
		return r == -ENOMEM ? r : 0;
	for (size_t i = 0; i < list.nr && !r; i++)
		r = take_kobject(objs, kmem, &list.objects[i]);
	pgs_kobjects_fini(&list);
	objs->complete = !r;
	return r;
}

/* ---- without the module ---------------------------------------------------------------------- */

/* What of the file behind @fd is in swap: it has data that is not in memory. */
static int look_into(struct pgs_swapobjs *objs, struct pgs_swapobj *obj, int fd)
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
			r = add_extent(obj, &(struct pgs_swap_extent){.index = offset >> shift,
								      .pages = (uint64_t)n});
	}
	return r;
}

/* Owns @fd, which may be a -errno. */
static int look_into_fd(struct pgs_swapobjs *objs, struct pgs_swapobj *obj, int opened)
{
	_cleanup_close_ int fd = opened;
	int r = fd < 0 ? fd : look_into(objs, obj, fd);

	return r && r != -ENOMEM ? set_reason(objs, obj) : r;
}

static int take_file(void *arg, const char *path, const struct stat *st)
{
	struct pgs_swapobjs *objs = arg;
	const struct pgs_tmpfs *tmpfs = pgs_tmpfs_find(&objs->tmpfs, st->st_dev);
	_cleanup_free_ char *name = NULL;
	struct pgs_swapobj *obj;

	if (!tmpfs || find_obj(objs, st->st_dev, st->st_ino, path))
		return 0;
	if (asprintf(&name, "%s%s", tmpfs->point[1] ? tmpfs->point : "", path) < 0)
		return -ENOMEM;
	obj = add_obj(objs, st->st_dev, st->st_ino, name);
	if (!obj)
		return -ENOMEM;
	return look_into_fd(objs, obj, pgs_tmpfs_open(objs->ctx, tmpfs, path, st->st_ino, 0));
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
	if (find_obj(objs, objs->kernel_dev, (uint64_t)id, name))
		return 0;
	obj = add_obj(objs, objs->kernel_dev, (uint64_t)id, name);
	if (!obj)
		return -ENOMEM;
	obj->size_bytes = size;
	return add_extent(obj, &(struct pgs_swap_extent){.pages = swap >> objs->ctx->page_shift});
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
	    find_obj(objs, dev, file->st.st_ino, file->name))
		return 0;
	obj = add_obj(objs, dev, file->st.st_ino, file->name);
	if (!obj)
		return -ENOMEM;
	return look_into_fd(
		objs, obj, pgs_open(objs->ctx, caps, 0, "proc/%d/fd/%u", (int)file->pid, file->fd));
}

/* By the module: those that were listed, and that no process has been found to map. */
static int load_rest(struct pgs_swapobjs *objs)
{
	int r = 0;

	for (size_t i = 0; i < objs->nr && !r; i++)
		if (objs->objs[i]->by_module && !objs->objs[i]->is_loaded)
			r = load_extents(objs, objs->objs[i], -1);
	return r;
}

int pgs_swapobjs_add_unmapped(struct pgs_swapobjs *objs)
{
	int r = 0;

	if (objs->complete)
		return load_rest(objs);
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

int pgs_swapobjs_of_vma(struct pgs_swapobjs *objs, pid_t pid, const struct pgs_vma *vma,
			struct pgs_swapobj **ret_obj)
{
	dev_t dev = makedev(vma->dev_major, vma->dev_minor);
	struct pgs_swapobj *obj = find_obj(objs, dev, vma->inode, vma->name);
	int r;

	if (!obj && !objs->complete) {
		obj = add_obj(objs, dev, vma->inode, vma->name);
		if (!obj)
			return -ENOMEM;
		r = look_into_fd(objs, obj, pgs_map_file_open(objs->ctx, pid, vma, 0));
		if (r)
			return r;
	}
	if (obj && obj->by_module && !obj->is_loaded) {
		r = load_by_mapping(objs, obj, pid, vma);
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
		r = list_by_module(objs);
	else if (!r && kmem)
		r = list_by_kmem(objs, kmem);
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
