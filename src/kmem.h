/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmem: the kernel's own structures, read from its memory (kcore.h) by the layout that its type
 * information states (btf.h). No module and no debug information is needed.
 *
 * Only fixed walks: from a descriptor to its shmem inode, through the XArray of an object, over the
 * list of all shmem objects, over the swap areas. No lock is held, so each entry "was true at some
 * instant"; nodes are checked against their place in the tree, and a walk that was disturbed is
 * made again. Nothing here has an ABI: whatever is missing, of another size, or not as a test on
 * our own memory has it, turns the source off, with the reason.
 */
#pragma once

#include "ctx.h"

#include <sys/types.h>

struct pgs_kmem;

/* What of it can be had. Each needs the ones before it in no way but PGS_KMEM_OBJECT. */
enum pgs_kmem_part {
	PGS_KMEM_OBJECT,     /* the entries of the shmem object behind a descriptor */
	PGS_KMEM_LIST,	     /* the list of all shmem objects */
	PGS_KMEM_AREAS,	     /* swap type to swap area */
	PGS_KMEM_SWAP_CACHE, /* which slots are in the swap cache */
	PGS_KMEM_ZERO_MAP,   /* which slots hold a zero page that was not written to the device */
	PGS_KMEM_PARTS,
};

/*
 * pgs_kmem_new - a source that is not opened yet: that takes time (reading 5 MB of type information
 * and 200,000 symbols), so the first question does it. NULL without memory.
 */
struct pgs_kmem *pgs_kmem_new(struct pgs_ctx *ctx) __attribute__((nonnull));
void pgs_kmem_free(struct pgs_kmem *kmem);
void pgs_kmem_freep(struct pgs_kmem **kmem);

/*
 * pgs_kmem_start - open the source, if that was not tried before. Returns 0, or -errno, then
 * and at every later call: -EOPNOTSUPP this kernel or tree has no such thing or it is masked by
 * PGSCAN_DISABLE, -EPERM/-EACCES no right to it. pgs_kmem_reason() says why.
 */
int pgs_kmem_start(struct pgs_kmem *kmem) __attribute__((nonnull, warn_unused_result));

/* pgs_kmem_is_on - whether it was started, and can be read. */
bool pgs_kmem_is_on(const struct pgs_kmem *kmem) __attribute__((nonnull));
/* pgs_kmem_has - whether a part can be had; starts the source. pgs_kmem_reason - why not; "" where
 * it can, or was not tried. Belongs to @kmem. */
bool pgs_kmem_has(struct pgs_kmem *kmem, enum pgs_kmem_part part) __attribute__((nonnull));
const char *pgs_kmem_reason(const struct pgs_kmem *kmem, enum pgs_kmem_part part)
	__attribute__((nonnull));

/* ---- kmem_objects.c: shmem objects ----------------------------------------------------------- */

/* A shmem inode, as it was when it was read. */
struct pgs_kobject {
	uint64_t inode;	  /* kernel address: its identity while it lives */
	uint64_t mapping; /* kernel address of its struct address_space */
	dev_t dev;
	uint64_t ino; /* with dev: not unique, in the kernel's own mount numbers repeat */
	uint32_t generation;
	bool is_kernel; /* of the kernel's own mount: memfd, SysV, shared anonymous memory */
	uint64_t size_bytes;
	uint64_t swapped_pages; /* what the object itself counts */
	uint64_t memory_pages;
};

/*
 * pgs_kmem_object - the shmem object behind our own descriptor @fd (O_PATH will do), which keeps it
 * from going away while it is walked. 0; -ENODEV it is no shmem file; -errno.
 */
int pgs_kmem_object(struct pgs_kmem *kmem, int fd, struct pgs_kobject *ret_object)
	__attribute__((nonnull, warn_unused_result));

/* The objects that have pages in swap, by the superblocks' lists of inodes. */
struct pgs_kobjects {
	struct pgs_kobject *objects;
	size_t nr;
};

/*
 * pgs_kmem_list - list them, mapped or not. The lists change under the walk: each must have come
 * back to its head, or all is walked again. Returns 0; -EAGAIN when that never happened; -errno.
 */
int pgs_kmem_list(struct pgs_kmem *kmem, struct pgs_kobjects *ret_list)
	__attribute__((nonnull, warn_unused_result));
void pgs_kobjects_fini(struct pgs_kobjects *list);

/*
 * pgs_kmem_name - the name of a listed object: of the kernel's own mount that of its dentry
 * ("memfd:x", "SYSV00000000", "dev/zero"), of others the path from the root of its file system on,
 * with a leading slash. Bytes; "" where it has none. The caller frees it. 0; 1 when it is the end
 * of a name that is too long; or -errno.
 */
int pgs_kmem_name(struct pgs_kmem *kmem, const struct pgs_kobject *object, char **ret_name)
	__attribute__((nonnull, warn_unused_result));

/* pgs_kmem_is_same - whether it still is the object read: inode, number, generation. */
bool pgs_kmem_is_same(struct pgs_kmem *kmem, const struct pgs_kobject *object)
	__attribute__((nonnull));

/* ---- kmem_xarray.c: the entries of an object ------------------------------------------------- */

enum pgs_kentry {
	PGS_KENTRY_NONE,
	PGS_KENTRY_MEMORY,   /* a folio: in memory, of the page cache */
	PGS_KENTRY_SWAPPED,  /* page i of the run lies at slot + i of swap_type */
	PGS_KENTRY_POISONED, /* the marker of a failed swap-in */
	PGS_KENTRY_UNKNOWN,  /* the tree changed under the walk each time it was tried */
};

struct pgs_kentries {
	uint64_t index, pages; /* of the object */
	enum pgs_kentry entry;
	bool racy; /* the tree around it changed at each try */
	unsigned int swap_type;
	uint64_t slot;
};

/*
 * pgs_kmem_entries - the entries of @object from page @from on, to page @to (excluded), as runs
 * without gaps, at most @room. Returns how many (> 0), they begin at @from, or -errno.
 */
int pgs_kmem_entries(struct pgs_kmem *kmem, const struct pgs_kobject *object, uint64_t from,
		     uint64_t to, struct pgs_kentries *runs, size_t room)
	__attribute__((nonnull, warn_unused_result));

/* pgs_kmem_states - the same without the slots: a run of swapped pages names none, and so does not
 * end where its slots do. */
int pgs_kmem_states(struct pgs_kmem *kmem, const struct pgs_kobject *object, uint64_t from,
		    uint64_t to, struct pgs_kentries *runs, size_t room)
	__attribute__((nonnull, warn_unused_result));

/*
 * pgs_kmem_words - the same as pagemap would have it, if it knew: of each page from @from on the
 * word of its swap entry, or 0: it is in memory, not there at all, or poisoned. Returns how many,
 * which may be none: up to @to, @room, or a page of which nothing is known or that never held
 * still. Or -errno.
 */
ssize_t pgs_kmem_words(struct pgs_kmem *kmem, const struct pgs_kobject *object, uint64_t from,
		       uint64_t to, uint64_t *words, size_t room)
	__attribute__((nonnull, warn_unused_result));

/* ---- kmem_swap.c: swap areas ----------------------------------------------------------------- */

/* A swap area in use. */
struct pgs_kmem_area {
	unsigned int type;
	int prio;
	uint64_t pages; /* usable slots, as in /proc/swaps */
	uint64_t slots; /* slot numbers are below */
	bool is_block;	/* a device: @dev is its number; else @dev and @ino are the file's */
	dev_t dev;
	uint64_t ino;
	uint64_t info; /* kernel address of its struct swap_info_struct */
};

#define PGS_KMEM_AREAS_MAX 32u /* five bits of type */

/* pgs_kmem_areas - the areas in use, in the order of their types. Returns how many, or -errno. */
int pgs_kmem_areas(struct pgs_kmem *kmem, struct pgs_kmem_area areas[PGS_KMEM_AREAS_MAX])
	__attribute__((nonnull, warn_unused_result));

#define PGS_KSLOT_CACHED   (1u << 0) /* a folio of the swap cache belongs to it */
#define PGS_KSLOT_ZERO	   (1u << 1) /* a zero page: the device holds nothing of it */
#define PGS_KSLOT_RESERVED (1u << 2) /* taken for the swap cache, of no folio yet or any more */
#define PGS_KSLOT_UNSEEN   (1u << 3) /* the tree around it changed each time: cached or not */

/*
 * pgs_kmem_slots - what is known of slots @first to @first + @count - 1 of @area: PGS_KSLOT_* in
 * @flags, one byte a slot; only of the parts that pgs_kmem_has(). 0 or -errno.
 */
int pgs_kmem_slots(struct pgs_kmem *kmem, const struct pgs_kmem_area *area, uint64_t first,
		   size_t count, uint8_t *flags) __attribute__((nonnull, warn_unused_result));
