/* SPDX-License-Identifier: GPL-2.0-only */
/* maps: the mappings (VMAs) of a process, from /proc/PID/maps, streamed. Never smaps: it walks the
 * page tables of every mapping under mmap_lock. */
#pragma once

#include "ctx.h"

#include <sys/types.h>

enum pgs_vma_kind {
	PGS_VMA_ANON,	 /* private anonymous, with heap and stacks */
	PGS_VMA_SHMEM,	 /* memfd, SysV, shared anonymous, a file on tmpfs */
	PGS_VMA_OVERLAY, /* a file of an overlay that has a layer on tmpfs: SHMEM or FILE
			    (overlay.h) */
	PGS_VMA_FILE,	 /* any other file */
	PGS_VMA_DEVICE,	 /* a character device: pagemap may not show its page tables */
	PGS_VMA_SPECIAL, /* [vdso] [vvar] [vsyscall] and kin */
};

struct pgs_vma {
	uint64_t start, end; /* bytes */
	uint64_t offset;     /* bytes into the file */
	uint64_t inode;
	unsigned int dev_major, dev_minor;
	char perms[5]; /* rwxp or rwxs */
	bool deleted;  /* the file has no name any more; the suffix is not part of @name */
	enum pgs_vma_kind kind;
	uint64_t huge_bytes; /* hugetlbfs: bytes of a page; 0: another kind, or not known */
	/* The path's own bytes (a newline is a newline again), or [heap], [stack], [anon:NAME] as
	 * the kernel prints, [anon] where it prints nothing, [shmem] for shared anonymous memory.
	 * Points into the reader; valid until the next call. */
	const char *name;
	size_t name_len;
};

static inline bool pgs_vma_is_shared(const struct pgs_vma *vma)
{
	return vma->perms[3] == 's';
}

/* Its pages may be those of a shmem object. */
static inline bool pgs_vma_may_be_shmem(const struct pgs_vma *vma)
{
	return vma->kind == PGS_VMA_SHMEM || vma->kind == PGS_VMA_OVERLAY;
}

struct pgs_maps;

/* pgs_maps_open - start reading the mappings of @pid; *@ret_maps is the caller's.
 * The file stays bound to the address space the process has now. Returns 0 or -errno. */
int pgs_maps_open(struct pgs_ctx *ctx, pid_t pid, struct pgs_maps **ret_maps)
	__attribute__((nonnull, warn_unused_result));
void pgs_maps_close(struct pgs_maps *maps);
void pgs_maps_closep(struct pgs_maps **maps);

/* pgs_maps_next - 1 and the next mapping in address order, 0 at the end, -errno
 * (-EBADMSG: a line that is not a maps line). */
int pgs_maps_next(struct pgs_maps *maps, struct pgs_vma *ret_vma)
	__attribute__((nonnull, warn_unused_result));
/* pgs_maps_empty - true when the end came without a single mapping: a process without memory. */
bool pgs_maps_empty(const struct pgs_maps *maps) __attribute__((nonnull));

/* pgs_maps_overlay - whether mappings of @pid on device 0:@minor are of kind PGS_VMA_OVERLAY. */
bool pgs_maps_overlay(struct pgs_ctx *ctx, pid_t pid, unsigned int minor) __attribute__((nonnull));
