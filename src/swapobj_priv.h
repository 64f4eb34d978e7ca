/* SPDX-License-Identifier: GPL-2.0-only */
/* swapobj_priv: what the parts of swapobj share; of no use to others. */
#pragma once

#include "swapobj.h"
#include "tmpfs.h"

#define PGS_SWAPOBJ_RUNS 1024u /* of an object at a time */

struct pgs_swapobjs {
	struct pgs_ctx *ctx;
	struct pgs_kmod *kmod; /* NULL: it lists no objects */
	bool complete;	       /* all objects in swap are listed */
	struct pgs_tmpfs_list tmpfs;
	dev_t kernel_dev;
	void *tree; /* tsearch(), by identity */
	struct pgs_swapobj **objs;
	size_t nr;
	struct pgscan_run *runs; /* PGS_SWAPOBJ_RUNS, for the module */
};

/* ---- swapobj.c: the set --------------------------------------------------------------------- */

/* pgs_swapobj_by_id - the object of that identity, NULL: none. */
struct pgs_swapobj *pgs_swapobj_by_id(struct pgs_swapobjs *objs, dev_t dev, uint64_t ino,
				      const char *name) __attribute__((nonnull));
/* pgs_swapobj_add - a new object, NULL without memory. Copies @name. Of two alike the first one is
 * found. */
struct pgs_swapobj *pgs_swapobj_add(struct pgs_swapobjs *objs, dev_t dev, uint64_t ino,
				    const char *name) __attribute__((nonnull));
/* pgs_swapobj_full_name - the whole name: that of the kernel's own mount as in maps, the others
 * below their mount point; @is_cut: @own is the end of it. The caller frees; NULL without memory.
 */
char *pgs_swapobj_full_name(const struct pgs_swapobjs *objs, dev_t dev, bool is_kernel, bool is_cut,
			    const char *own) __attribute__((nonnull));
/* pgs_swapobj_add_extent - append a run; one that goes on where the last one ends is one with it.
 * 0 or -ENOMEM. */
int pgs_swapobj_add_extent(struct pgs_swapobj *obj, const struct pgs_swap_extent *extent)
	__attribute__((nonnull, warn_unused_result));
/* pgs_swapobj_forget - drop all extents. */
void pgs_swapobj_forget(struct pgs_swapobj *obj) __attribute__((nonnull));
/* pgs_swapobj_set_reason - the context's error is why nothing is known of @obj. 0 or -ENOMEM. */
int pgs_swapobj_set_reason(struct pgs_swapobjs *objs, struct pgs_swapobj *obj)
	__attribute__((nonnull, warn_unused_result));

/* ---- swapobj_kmod.c ------------------------------------------------------------------------- */

/* pgs_swapobjs_list_kmod - all objects there are; the pages of most are loaded when they are asked
 * for: by pgs_swapobj_load_mapped(), that of a mapping of process @pid, or
 * pgs_swapobjs_load_rest(), all. 0 or -errno. */
int pgs_swapobjs_list_kmod(struct pgs_swapobjs *objs) __attribute__((nonnull, warn_unused_result));
int pgs_swapobj_load_mapped(struct pgs_swapobjs *objs, struct pgs_swapobj *obj, pid_t pid,
			    const struct pgs_vma *vma) __attribute__((nonnull, warn_unused_result));
int pgs_swapobjs_load_rest(struct pgs_swapobjs *objs) __attribute__((nonnull, warn_unused_result));

/* pgs_swapobj_ask_slot - where a page of the mapping lies, by its page table and object: 1 and a
 * run, 0 if none of it is in swap, -errno. */
int pgs_swapobj_ask_slot(struct pgs_swapobjs *objs, pid_t pid, const struct pgs_vma *vma,
			 struct pgscan_run *ret_run) __attribute__((nonnull, warn_unused_result));

/* ---- swapobj_kmem.c ------------------------------------------------------------------------- */

/* pgs_swapobjs_list_kmem - all objects there are. Where kernel memory cannot be had, or the lists
 * do not hold still, none, and 0; -ENOMEM. */
int pgs_swapobjs_list_kmem(struct pgs_swapobjs *objs, struct pgs_kmem *kmem)
	__attribute__((nonnull, warn_unused_result));

/* ---- swapobj_files.c ------------------------------------------------------------------------ */

/* pgs_swapobjs_list_files - what is found without either; see pgs_swapobjs_add_unmapped(). */
int pgs_swapobjs_list_files(struct pgs_swapobjs *objs) __attribute__((nonnull, warn_unused_result));

/* pgs_swapobj_look_into - what of the file behind @fd is in swap: it has data that is not in
 * memory. 0 or -errno. _fd: of a descriptor that is closed then, or a -errno; other failures than
 * -ENOMEM are the object's reason, and 0. */
int pgs_swapobj_look_into(struct pgs_swapobjs *objs, struct pgs_swapobj *obj, int fd)
	__attribute__((nonnull, warn_unused_result));
int pgs_swapobj_look_into_fd(struct pgs_swapobjs *objs, struct pgs_swapobj *obj, int fd)
	__attribute__((nonnull(1, 2), warn_unused_result));
