/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * swapobj: the shmem objects (memfd, SysV, shared anonymous memory, files on tmpfs) that have pages
 * in swap, and which pages.
 *
 * The module lists all there are, with the slots, and so does kernel memory. Without them an object
 * is found when a process maps or has it open, when it has a name in a tmpfs that is mounted here,
 * or in /proc/sysvipc/shm; what of it is in swap is told by SEEK_DATA and mincore(), the slots are
 * not known.
 *
 * What a page of an object is does not depend on who maps it, so each object is looked into once,
 * and a shared mapping of it needs no look at page tables at all.
 */
#pragma once

#include "kmem.h"
#include "kmodif.h"
#include "maps.h"

enum pgs_swapobj_kind {
	PGS_OBJ_MEMFD,
	PGS_OBJ_SYSV,
	PGS_OBJ_TMPFS,
	PGS_OBJ_SHARED_ANON,
	PGS_OBJ_DRIVER, /* memory that a driver has the kernel swap, such as a graphics buffer */
};

/* The kind's name, as pgscan-swapmap(1) has it. */
const char *pgs_swapobj_kind_name(enum pgs_swapobj_kind kind);

/* A run of pages in swap; page i of it is at slot + i of swap_type, if the object is `located`. */
struct pgs_swap_extent {
	uint64_t index, pages; /* of the object */
	uint64_t slot;
	unsigned int swap_type;
};

struct pgs_swapobj {
	enum pgs_swapobj_kind kind;
	dev_t dev;
	uint64_t ino;
	bool is_kernel; /* of the kernel's own mount, where (dev, ino) is not unique: see name */
	bool has_generation;
	bool by_module, is_loaded; /* listed by the module; its extents are there */
	uint32_t generation;
	char *name; /* as struct pgs_vma has it: bytes, "/memfd:x", "/SYSV00000000", "[shmem]" */
	uint64_t size_bytes;
	bool located;			 /* the extents have slots */
	uint32_t space;			 /* in struct pgs_slots, of an object that is not located */
	struct pgs_swap_extent *extents; /* ascending */
	size_t nr_extents;
	uint64_t swapped_pages; /* sum of the extents */
	/* Some pages changed each time they were looked at, or made no sense: the extents were
	 * seen, of all others it is not known whether they are in swap. */
	bool racy;
	char *reason;	  /* not NULL: what of it is in swap could not be found out, and why */
	uint32_t mappers; /* for the caller's use, with last_mapper: processes that map it */
	uint32_t last_mapper;
	bool wanted; /* for the caller's use too */
};

#define PGS_SWAPOBJ_RACY "it changed at each look at kernel memory"

struct pgs_swapobjs;

/*
 * pgs_swapobjs_open - with @kmod, or else @kmem (either may be NULL; they stay the caller's), find
 * all objects. Returns 0, or -errno; -EINTR on a signal.
 */
int pgs_swapobjs_open(struct pgs_ctx *ctx, struct pgs_kmod *kmod, struct pgs_kmem *kmem,
		      struct pgs_swapobjs **ret_objs)
	__attribute__((nonnull(1, 4), warn_unused_result));
void pgs_swapobjs_close(struct pgs_swapobjs *objs);

/* pgs_swapobjs_is_complete - every object of the machine that is in swap is listed. */
bool pgs_swapobjs_is_complete(const struct pgs_swapobjs *objs) __attribute__((nonnull));

/*
 * pgs_swapobjs_of_vma - the object behind @vma (of kind PGS_VMA_SHMEM) of process @pid: 1 and
 * *@ret_obj, whose `reason` says whether more is known; 0 when it has nothing in swap; -errno.
 */
int pgs_swapobjs_of_vma(struct pgs_swapobjs *objs, pid_t pid, const struct pgs_vma *vma,
			struct pgs_swapobj **ret_obj) __attribute__((nonnull, warn_unused_result));

/* pgs_swapobjs_has - whether there may be an object with that device and inode, of any name. */
bool pgs_swapobjs_has(const struct pgs_swapobjs *objs, dev_t dev, uint64_t ino)
	__attribute__((nonnull));

/*
 * pgs_swapobjs_add_unmapped - look into what no process has been found to map. If the list is not
 * complete, those are files of mounted tmpfs, memfds and removed files that some process has open,
 * SysV segments; what stays unseen: other mount and IPC namespaces, descriptors on their way
 * through a socket, drivers' memory. Returns 0 or -errno.
 */
int pgs_swapobjs_add_unmapped(struct pgs_swapobjs *objs)
	__attribute__((nonnull, warn_unused_result));

/* pgs_swapobjs_nr, _get - the objects; those with a `reason` or without pages in swap too. Before
 * pgs_swapobjs_add_unmapped() some may not have been looked into. */
size_t pgs_swapobjs_nr(const struct pgs_swapobjs *objs) __attribute__((nonnull));
struct pgs_swapobj *pgs_swapobjs_get(const struct pgs_swapobjs *objs, size_t i)
	__attribute__((nonnull));

/* pgs_swapobj_find - the first extent of @obj that ends behind page @index; nr_extents: none. */
size_t pgs_swapobj_find(const struct pgs_swapobj *obj, uint64_t index) __attribute__((nonnull));
