/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * PROCMAP_QUERY of /proc/PID/maps: Linux 6.11, "fs/procfs: implement efficient VMA querying API
 * for /proc/<pid>/maps". One mapping by address, without reading the text of all.
 */
#ifndef PGSCAN_UAPI_PROCMAP_QUERY_H
#define PGSCAN_UAPI_PROCMAP_QUERY_H

#include <linux/fs.h>
#include <linux/ioctl.h>
#include <linux/types.h>

#ifndef PROCMAP_QUERY

struct procmap_query {
	__u64 size; /* of this struct */
	__u64 query_flags;
	__u64 query_addr;
	__u64 vma_start; /* from here on: out */
	__u64 vma_end;
	__u64 vma_flags;
	__u64 vma_page_size;
	__u64 vma_offset;
	__u64 inode;
	__u32 dev_major;
	__u32 dev_minor;
	__u32 vma_name_size; /* in: room at vma_name_addr; out: length with the NUL */
	__u32 build_id_size;
	__u64 vma_name_addr;
	__u64 build_id_addr;
};

#define PROCMAP_QUERY _IOWR('f', 17, struct procmap_query)

/* query_flags to filter by, vma_flags as answered */
#define PROCMAP_QUERY_VMA_READABLE   0x01
#define PROCMAP_QUERY_VMA_WRITABLE   0x02
#define PROCMAP_QUERY_VMA_EXECUTABLE 0x04
#define PROCMAP_QUERY_VMA_SHARED     0x08
/* query_flags only */
#define PROCMAP_QUERY_COVERING_OR_NEXT_VMA 0x10
#define PROCMAP_QUERY_FILE_BACKED_VMA	   0x20
#endif

#endif
