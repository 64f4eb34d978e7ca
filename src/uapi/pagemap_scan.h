/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * PAGEMAP_SCAN of /proc/PID/pagemap: Linux 6.7, "fs/proc/task_mmu: implement IOCTL to get and
 * optionally clear info about PTEs". Debian 12's headers are of 6.1. Each category is probed by
 * src/kfeat.c, as a kernel answers EINVAL to one it does not know.
 */
#ifndef PGSCAN_UAPI_PAGEMAP_SCAN_H
#define PGSCAN_UAPI_PAGEMAP_SCAN_H

#include <linux/fs.h>
#include <linux/ioctl.h>
#include <linux/types.h>

#ifndef PAGEMAP_SCAN

/* Never with vec_len 0 and PM_SCAN_WP_MATCHING: kernels from 6.7 on oops on a THP then, until
 * "fs/proc/task_mmu: check p->vec_buf for NULL" (6.17 and stable). */
struct pm_scan_arg {
	__u64 size; /* of this struct */
	__u64 flags;
	__u64 start;
	__u64 end;
	__u64 walk_end; /* out: where the walk stopped */
	__u64 vec;	/* struct page_region[vec_len] */
	__u64 vec_len;
	__u64 max_pages; /* 0: no limit */
	__u64 category_inverted;
	__u64 category_mask;
	__u64 category_anyof_mask;
	__u64 return_mask;
};

struct page_region {
	__u64 start;
	__u64 end; /* exclusive */
	__u64 categories;
};

#define PAGEMAP_SCAN _IOWR('f', 16, struct pm_scan_arg)

/* pm_scan_arg.flags */
#define PM_SCAN_WP_MATCHING   (1 << 0) /* write-protect the pages that are returned */
#define PM_SCAN_CHECK_WPASYNC (1 << 1) /* EPERM unless the whole range is in uffd-wp async mode */

/* Categories. "Written" is set on every present page outside uffd-wp ranges until
 * "mm/pagemap: add PAGE_IS_ACCESSED for RWP tracking" (2026); always ask for WPALLOWED with it. */
#define PAGE_IS_WPALLOWED (1 << 0)
#define PAGE_IS_WRITTEN	  (1 << 1)
#define PAGE_IS_FILE	  (1 << 2)
#define PAGE_IS_PRESENT	  (1 << 3)
#define PAGE_IS_SWAPPED	  (1 << 4)
#define PAGE_IS_PFNZERO	  (1 << 5)
#define PAGE_IS_HUGE	  (1 << 6)
#endif

#ifndef PAGE_IS_SOFT_DIRTY
#define PAGE_IS_SOFT_DIRTY (1 << 7) /* 6.8 */
#endif
#ifndef PAGE_IS_GUARD
#define PAGE_IS_GUARD (1 << 8) /* 6.16 */
#endif
#ifndef PAGE_IS_ACCESSED
#define PAGE_IS_ACCESSED (1 << 9) /* 2026, with UFFD_FEATURE_RWP */
#endif

#endif
