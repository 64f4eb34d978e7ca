/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The interface of /dev/pgscan.
 *
 * Rules that hold for every request:
 *
 *  - The device node has mode 0600 and each request needs CAP_SYS_ADMIN in the initial user
 *    namespace by itself (EPERM): a descriptor that was handed on gives nothing.
 *  - The argument starts with `size`, which the caller sets to the sizeof it was built with, and
 *    `flags`. The request number does not encode the size, as in VFIO and iommufd, so it stays
 *    the same when a structure grows at its end. A size below the first published one
 *    (PGSCAN_*_SIZE_VER0) is EINVAL. A larger size than the module knows is E2BIG, unless all
 *    that is beyond is zero.
 *  - Unknown flags, and reserved fields that are not zero, are EINVAL.
 *  - Fields are marked [in], [out] or [in/out]. [out] fields need not be initialised.
 *  - `vec` points to an array of `vec_len` records of the kind that is named there; the request
 *    returns the number of records written, or -1 with errno.
 *  - A request may stop early: when the vector is full, when it has done a bounded amount of
 *    work, or upon a signal. Then `walk_end` (or the cursor) says where to go on; what was
 *    written so far is valid. It has finished when `walk_end` equals `end`.
 *  - Addresses and offsets are in bytes, counts whose name ends in _pages are pages of
 *    1 << pgscan_info.page_shift bytes.
 *
 * A process is named by a descriptor of its /proc/PID/pagemap, so the access check of that file
 * decides who may be looked at. It must have been opened by someone with CAP_SYS_ADMIN in the
 * initial user namespace, as pagemap itself demands before it shows frames and slots (EPERM);
 * EBADF or EINVAL if it is not such a descriptor; ESRCH once the process has exited or executed
 * another program: the descriptor stays bound to the memory it was opened on.
 */
#ifndef _UAPI_PGSCAN_H
#define _UAPI_PGSCAN_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define PGSCAN_DEVICE "/dev/pgscan"

/* The version of this interface. It changes only if something is taken away or changes meaning. */
#define PGSCAN_ABI	    1

#define PGSCAN_IOC_MAGIC    0xC7

#define PGSCAN_IOC_INFO	    _IO(PGSCAN_IOC_MAGIC, 0) /* struct pgscan_info */
#define PGSCAN_IOC_SHMEM    _IO(PGSCAN_IOC_MAGIC, 1) /* struct pgscan_shmem */
#define PGSCAN_IOC_EXTENTS  _IO(PGSCAN_IOC_MAGIC, 2) /* struct pgscan_extents */
#define PGSCAN_IOC_OBJECTS  _IO(PGSCAN_IOC_MAGIC, 3) /* struct pgscan_objects */
#define PGSCAN_IOC_SCAN	    _IO(PGSCAN_IOC_MAGIC, 4) /* struct pgscan_scan */
#define PGSCAN_IOC_REPORTED _IO(PGSCAN_IOC_MAGIC, 5) /* struct pgscan_reported */
#define PGSCAN_IOC_TAGS	    _IO(PGSCAN_IOC_MAGIC, 6) /* struct pgscan_tags */

/*
 * INFO: what this module, built for this kernel, can do. Returns 0.
 */
struct pgscan_info {
	__u32 size;	     /* [in] */
	__u32 flags;	     /* [in] none defined: 0 */
	__u32 abi;	     /* [out] PGSCAN_ABI of the module */
	__u32 page_shift;    /* [out] log2 of the page size */
	__u64 features;	     /* [out] PGSCAN_FEAT_* */
	__u32 max_swapfiles; /* [out] swap types at and above this are no swap areas */
	__u32 nr_orders;     /* [out] number of buddy orders, 0 to nr_orders - 1 */
};
#define PGSCAN_INFO_SIZE_VER0 32

/* A request without its feature bit fails with EOPNOTSUPP. */
#define PGSCAN_FEAT_SHMEM	   (1ULL << 0)
#define PGSCAN_FEAT_EXTENTS	   (1ULL << 1)
#define PGSCAN_FEAT_OBJECTS	   (1ULL << 2)
#define PGSCAN_FEAT_SCAN	   (1ULL << 3) /* SCAN without flags: report */
#define PGSCAN_FEAT_SCAN_CLEAR	   (1ULL << 4) /* PGSCAN_SCAN_CLEAR */
#define PGSCAN_FEAT_SCAN_CLEAR_VMA (1ULL << 5) /* PGSCAN_SCAN_CLEAR_VMA */
#define PGSCAN_FEAT_REPORTED	   (1ULL << 6)
#define PGSCAN_FEAT_TAGS	   (1ULL << 7)
#define PGSCAN_FEAT_SHMEM_MARKERS  (1ULL << 8) /* PGSCAN_SHMEM_MARKERS */

/*
 * A run of pages in the same state, of a mapping (SHMEM) or of an object (EXTENTS). In state
 * SWAPPED, page i of the run lies at slot `slot` + i of swap area `swap_type`; a large entry of
 * the object, which covers many pages at once, is reported like that, page by page.
 */
struct pgscan_run {
	__u64 start;	 /* SHMEM: address; EXTENTS: offset in the object; bytes */
	__u64 pages;	 /* never 0 */
	__u64 slot;	 /* SWAPPED: first swap offset, in pages; otherwise 0 */
	__u32 swap_type; /* SWAPPED: index of the swap area, < info.max_swapfiles; otherwise 0 */
	__u16 state;	 /* PGSCAN_RUN_* */
	__u16 flags;	 /* PGSCAN_RUN_F_* */
};

/* Nothing there, neither in the page table nor in the object: never written, or punched out. */
#define PGSCAN_RUN_NONE 0
/*
 * SHMEM only: the page table has an entry, and the entry wins. It may be a present page, a
 * private copy (present or in a swap slot of its own), a migration entry, a guard or
 * userfaultfd marker (but see PGSCAN_SHMEM_MARKERS): read pagemap. The object was not asked.
 */
#define PGSCAN_RUN_MAPPED 1
/*
 * The object's page is in a swap slot. The slot is allocated and belongs to this page, but
 * whether a copy of the page is also (still, or again) in the swap cache cannot be told.
 */
#define PGSCAN_RUN_SWAPPED 2
/* In the object's page cache, in memory; SHMEM: but not mapped by this process. */
#define PGSCAN_RUN_CACHED 3
/* The marker of a failed swap-in: the data is lost, there is no slot. */
#define PGSCAN_RUN_POISONED	4

#define PGSCAN_RUN_F_BEYOND_EOF (1U << 0) /* past the object's size: touching it is SIGBUS */
#define PGSCAN_RUN_F_SOFT_DIRTY (1U << 1) /* SHMEM: pagemap sets bit 55, mostly VM_SOFTDIRTY's */
#define PGSCAN_RUN_F_PRIVATE	(1U << 2) /* SHMEM: of a MAP_PRIVATE mapping */
#define PGSCAN_RUN_F_UFFD_WP	(1U << 3) /* SHMEM: under a marker of userfaultfd */

/*
 * SHMEM: the pages of the shmem mappings (memfd, shared anonymous memory, System V, tmpfs files;
 * not hugetlb) in a range of a process, as runs in address order.
 *
 * Runs of all states but MAPPED are final: the module has seen that the page table is empty
 * there, so the word of pagemap is 0 (or just bit 55, see PGSCAN_RUN_F_SOFT_DIRTY), and nobody
 * needs to read it. This holds for MAP_PRIVATE mappings too.
 *
 * A run ends where its mapping ends. Addresses of the walked range that no run covers are in
 * `other_pages` or hold no mapping: there pagemap alone decides.
 *
 * With vec_len 0 the pages are only counted.
 *
 * With PGSCAN_SHMEM_MARKERS a marker that says that userfaultfd write-protects the page, and
 * nothing else, counts as an empty entry, as it does for an access: where the page is only the
 * object knows. The kernel leaves one where reclaim unmaps such a page ("mm/shmem: persist uffd-wp
 * bit across zapping for file-backed", v5.19), and where nothing was. Runs of such pages are
 * PGSCAN_RUN_F_UFFD_WP, and their word of pagemap is the marker's.
 *
 * Returns the number of runs.
 */
struct pgscan_shmem {
	__u32 size;	      /* [in] */
	__u32 flags;	      /* [in] PGSCAN_SHMEM_* */
	__s32 pagemap_fd;     /* [in] */
	__u32 reserved;	      /* [in] 0 */
	__u64 start;	      /* [in] page aligned */
	__u64 end;	      /* [in] page aligned, excluded */
	__u64 walk_end;	      /* [out] */
	__u64 vec;	      /* [in] struct pgscan_run * */
	__u64 vec_len;	      /* [in] */
	__u64 want;	      /* [in] bit n: write runs of state n; 0: of every state */
	__u64 none_pages;     /* [out] by state, of start to walk_end, whatever `want` is */
	__u64 mapped_pages;   /* [out] */
	__u64 swapped_pages;  /* [out] */
	__u64 cached_pages;   /* [out] */
	__u64 poisoned_pages; /* [out] */
	__u64 other_pages;    /* [out] in mappings that are not shmem */
	__u64 marker_pages;   /* [out] those of the states above that are PGSCAN_RUN_F_UFFD_WP */
};
#define PGSCAN_SHMEM_SIZE_VER0 112
#define PGSCAN_SHMEM_SIZE_VER1 120 /* with marker_pages */

#define PGSCAN_SHMEM_MARKERS   (1U << 0)

/*
 * The identity of a shmem object. Inode numbers of shmem are *not* unique on a device: System V
 * segments use their shmid, everything else a counter, in the same superblock (and the counter
 * wraps). The generation is a random number, so the three together are as good as unique.
 */
struct pgscan_key {
	__u64 dev;	  /* as in stat.st_dev: 12 bits of major at bit 8, minor around it */
	__u64 ino;	  /* System V: the shmid */
	__u32 generation; /* of the inode */
	__u32 reserved;	  /* 0 */
};

/*
 * EXTENTS: the pages of one shmem object, mapped or not, as runs in order of offset. Holes are
 * not reported. The object is named by any descriptor of it (also O_PATH, or opened through
 * /proc/PID/map_files), or with fd -1 by its key: then ESTALE means that it is gone, and finding
 * it costs a walk over all shmem inodes.
 *
 * Returns the number of runs. EINVAL if the descriptor is not one of shmem.
 */
struct pgscan_extents {
	__u32 size;	       /* [in] */
	__u32 flags;	       /* [in] none defined: 0 */
	__s32 fd;	       /* [in] or -1 */
	__u32 reserved;	       /* [in] 0 */
	struct pgscan_key key; /* [in] zero unless fd is -1; [out] of the object */
	__u64 start;	       /* [in] byte offset, page aligned */
	__u64 end;	       /* [in] page aligned, excluded; ~0: to the end, also beyond EOF */
	__u64 walk_end;	       /* [out] `end` when done */
	__u64 vec;	       /* [in] struct pgscan_run * */
	__u64 vec_len;	       /* [in] may be 0: count */
	__u64 want;	       /* [in] bit n: write runs of state n; 0: of every state */
	__u64 swapped_pages;   /* [out] by state, of start to walk_end */
	__u64 cached_pages;    /* [out] */
	__u64 poisoned_pages;  /* [out] */
};
#define PGSCAN_EXTENTS_SIZE_VER0 112

#define PGSCAN_NAME_LEN		 256

struct pgscan_object {
	struct pgscan_key key;
	__u64 size_bytes;
	__u64 swapped_pages;
	__u64 alloced_pages; /* in memory or in swap */
	__u64 cached_pages;  /* in memory */
	__u32 uid;	     /* as in the initial user namespace */
	__u32 gid;
	__u32 mode; /* st_mode */
	__u32 nlink;
	__u32 flags; /* PGSCAN_OBJ_F_* */
	__u32 reserved;
	/*
	 * NUL terminated bytes. With PGSCAN_OBJ_F_KERNEL the kernel's name of it: "memfd:NAME",
	 * "SYSV%08x" (the IPC key), "dev/zero" (shared anonymous memory), or what a driver chose
	 * ("i915", "drm mm object"). Otherwise the path inside its tmpfs, the last known one
	 * if it is unlinked; of a longer path (PGSCAN_OBJ_F_NAME_CUT) the end. Empty if unknown.
	 */
	char name[PGSCAN_NAME_LEN];
};

#define PGSCAN_OBJ_F_KERNEL   (1U << 0) /* of the kernel's own mount, which has no path */
#define PGSCAN_OBJ_F_MAPPED   (1U << 1) /* at least one process maps it */
#define PGSCAN_OBJ_F_UNLINKED (1U << 2) /* no name in any directory */
#define PGSCAN_OBJ_F_NAME_CUT (1U << 3) /* `name` is the end of a longer path */

/*
 * OBJECTS: the shmem objects of the system, mapped or not, in the order of their keys.
 *
 * Each object that exists throughout is reported exactly once: set `cursor` to zero before the
 * first call, then pass it back unchanged until `remaining` is 0. Each call walks all inodes of
 * shmem and returns those with the lowest keys above the cursor, at most 1024.
 *
 * Without PGSCAN_OBJECTS_ALL only objects with pages in swap count.
 *
 * Returns the number of objects. Devtmpfs is not covered.
 */
struct pgscan_objects {
	__u32 size;		  /* [in] */
	__u32 flags;		  /* [in] PGSCAN_OBJECTS_* */
	struct pgscan_key cursor; /* [in/out] */
	__u64 vec;		  /* [in] struct pgscan_object * */
	__u64 vec_len;		  /* [in] may be 0: totals only */
	__u32 object_size;  /* [in] sizeof(struct pgscan_object) of the caller: stride of vec */
	__u32 reserved;	    /* [in] 0 */
	__u64 remaining;    /* [out] objects beyond the cursor that were not returned */
	__u64 total_inodes; /* [out] all of shmem, whatever flags and cursor say */
	__u64 total_supers; /* [out] superblocks of shmem */
	__u64 total_swapped_pages; /* [out] of all inodes */
};
#define PGSCAN_OBJECTS_SIZE_VER0 88
#define PGSCAN_OBJECT_SIZE_VER0	 336

#define PGSCAN_OBJECTS_ALL	 (1U << 0) /* also those without a page in swap */

/*
 * A region of pages with equal categories; the same shape as struct page_region of the kernel's
 * PAGEMAP_SCAN.
 */
struct pgscan_region {
	__u64 start;
	__u64 end; /* excluded */
	__u64 categories;
};

/* Categories, with the values of the kernel's PAGE_IS_*: */
#define PGSCAN_PAGE_FILE       (1ULL << 2)
#define PGSCAN_PAGE_PRESENT    (1ULL << 3)
#define PGSCAN_PAGE_SWAPPED    (1ULL << 4) /* in a swap slot, and nothing else */
#define PGSCAN_PAGE_HUGE       (1ULL << 6)
#define PGSCAN_PAGE_SOFT_DIRTY (1ULL << 7)
/* and those that only this module has: */
/* Soft-dirty also (or only) because its whole mapping is, being new or merged with a new one. */
#define PGSCAN_PAGE_VMA_DIRTY (1ULL << 32)
/*
 * PGSCAN_SCAN_CLEAR could not clear it: it counts as written now, and until a later call clears
 * it. The counters of struct pgscan_scan say why.
 */
#define PGSCAN_PAGE_NOT_CLEARED (1ULL << 33)
/* Neither present nor in a slot: migration, hwpoison, device, guard or userfaultfd entry. */
#define PGSCAN_PAGE_SPECIAL (1ULL << 34)

/*
 * SCAN: the soft-dirty pages of a range of a process, and with PGSCAN_SCAN_CLEAR make them clean
 * in the same step, so that no write is lost between the two. The fields from `start` to
 * `return_mask` mean what they mean in struct pm_scan_arg: a page is reported if
 *
 *	((categories ^ category_inverted) & category_mask) == category_mask &&
 *	(!category_anyof_mask || (categories ^ category_inverted) & category_anyof_mask)
 *
 * and of its categories those in `return_mask`. Pages without any entry in the page table have
 * no category and are never reported. A huge page is not divided, so one may bring the reported
 * pages above max_pages. Hugetlb, VM_PFNMAP and VM_IO mappings are skipped.
 *
 * CLEAR write-protects and clears every page from `start` to `walk_end`, reported or not. A bad
 * vector is found (EFAULT) before anything is cleared, as long as nobody unmaps it meanwhile.
 *
 * CLEAR needs CAP_SYS_PTRACE too, unless the process is the caller itself (EPERM). It is
 * EOPNOTSUPP when MMU notifiers watch the process (KVM, some RDMA): they could not be told.
 * It disturbs other users of soft-dirty (clear_refs, CRIU) in that range.
 *
 * What soft-dirty cannot see, here as elsewhere: the mark of shared memory and file pages is
 * lost when reclaim unmaps them; writes through other mappings; pages dropped by
 * MADV_DONTNEED; the tail of a DMA write that was in flight.
 *
 * PGSCAN_SCAN_CLEAR_VMA also drops the mark of whole mappings (PGSCAN_PAGE_VMA_DIRTY), of those
 * that lie wholly inside the range. It needs CLEAR, takes the process's mmap_lock for writing
 * for a moment, and should be used once, when tracking starts. The mark comes back by itself when
 * the kernel merges the mapping with a new one.
 *
 * Returns the number of regions.
 */
struct pgscan_scan {
	__u32 size;		   /* [in] */
	__u32 flags;		   /* [in] PGSCAN_SCAN_* */
	__s32 pagemap_fd;	   /* [in] */
	__u32 reserved;		   /* [in] 0 */
	__u64 start;		   /* [in] page aligned */
	__u64 end;		   /* [in] page aligned, excluded */
	__u64 walk_end;		   /* [out] */
	__u64 vec;		   /* [in] struct pgscan_region * */
	__u64 vec_len;		   /* [in] at least 1 */
	__u64 max_pages;	   /* [in] stop when so many are reported; 0: no limit */
	__u64 category_inverted;   /* [in] */
	__u64 category_mask;	   /* [in] */
	__u64 category_anyof_mask; /* [in] */
	__u64 return_mask;	   /* [in] */
	/* Of start to walk_end: */
	__u64 dirty_pages;	  /* [out] SOFT_DIRTY, whatever the masks are */
	__u64 cleared_pages;	  /* [out] by CLEAR; the others are in one of: */
	__u64 pinned_pages;	  /* [out] pinned for DMA, which would write unseen */
	__u64 partial_huge_pages; /* [out] of a huge page that the range covers in part */
	__u64 special_pages;	  /* [out] PGSCAN_PAGE_SPECIAL: never cleared */
	__u64 skipped_pages;	  /* [out] in mappings that are never walked */
	__u64 vma_dirty_pages;	  /* [out] span of the mappings marked as a whole */
};
#define PGSCAN_SCAN_SIZE_VER0 152

#define PGSCAN_SCAN_CLEAR     (1U << 0)
#define PGSCAN_SCAN_CLEAR_VMA (1U << 1)

/*
 * REPORTED: the free pages of each populated zone by order, and how many of them are reported
 * to the hypervisor, which then does not back them. Pages on the per-CPU lists are not free in
 * this sense. Each stretch of 2^(nr_orders - 1) pages is counted under the zone's lock, so each
 * block is right, but the whole is not a snapshot.
 *
 * Pass cursor 0 at first, then as it was returned, until the request returns 0.
 *
 * Returns the number of zones.
 */
#define PGSCAN_MAX_ORDERS 32

struct pgscan_zone {
	__u32 node;
	__u32 zone; /* index in the node */
	char name[16];
	__u64 start_pfn;
	__u64 spanned_pages;
	__u64 present_pages;
	__u64 managed_pages;
	__u64 free_pages;		   /* the kernel's own count, for comparison */
	__u64 free[PGSCAN_MAX_ORDERS];	   /* blocks of 2^order pages on the free lists */
	__u64 reported[PGSCAN_MAX_ORDERS]; /* those of them that are reported */
};

struct pgscan_reported {
	__u32 size;	 /* [in] */
	__u32 flags;	 /* [in] none defined: 0 */
	__u64 cursor;	 /* [in/out] */
	__u64 vec;	 /* [in] struct pgscan_zone * */
	__u64 vec_len;	 /* [in] at least 1 */
	__u32 zone_size; /* [in] sizeof(struct pgscan_zone) of the caller: stride of vec */
	__u32 reserved;	 /* [in] 0 */
};
#define PGSCAN_REPORTED_SIZE_VER0 40
#define PGSCAN_ZONE_SIZE_VER0	  576

/*
 * TAGS: how the page cache of the file behind one mapping is tagged, in the part of the mapping
 * that lies in the range. The first file mapping that ends above `start` is taken: `start` and
 * `walk_end` come back as the part that was counted, so a caller goes from mapping to mapping.
 * ENOENT if there is no file mapping in the range.
 *
 * A tag is the hint that writeback follows, not the state of each page: one tagged large folio
 * counts with all its pages in the range, and a page written through a mapping is tagged when
 * the kernel notices.
 *
 * Returns 0.
 */
struct pgscan_tags {
	__u32 size;	       /* [in] */
	__u32 flags;	       /* [in] none defined: 0 */
	__s32 pagemap_fd;      /* [in] */
	__u32 reserved;	       /* [in] 0 */
	__u64 start;	       /* [in/out] page aligned */
	__u64 end;	       /* [in] page aligned, excluded */
	__u64 walk_end;	       /* [out] */
	__u64 dev;	       /* [out] of the inode whose page cache it is */
	__u64 ino;	       /* [out] */
	__u32 generation;      /* [out] */
	__u32 mapping_flags;   /* [out] PGSCAN_MAPPING_* */
	__u64 cached_pages;    /* [out] */
	__u64 dirty_pages;     /* [out] PAGECACHE_TAG_DIRTY */
	__u64 writeback_pages; /* [out] PAGECACHE_TAG_WRITEBACK */
	__u64 towrite_pages;   /* [out] PAGECACHE_TAG_TOWRITE */
	__u64 shadow_pages;    /* [out] entries that are no page: evicted, DAX, or in swap */
};
#define PGSCAN_TAGS_SIZE_VER0	    104

#define PGSCAN_MAPPING_NO_TAGS	    (1U << 0) /* AS_NO_WRITEBACK_TAGS: tags are never set */
#define PGSCAN_MAPPING_NO_WRITEBACK (1U << 1) /* no device to write back to */
#define PGSCAN_MAPPING_SHMEM	    (1U << 2)
#define PGSCAN_MAPPING_DAX	    (1U << 3) /* entries are not pages: only shadow_pages counts */

#endif /* _UAPI_PGSCAN_H */
