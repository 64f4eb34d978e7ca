/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * shmem: where the pages of shared memory are that a process's page table does not show.
 *
 * A shmem page that is swapped out leaves no page table entry behind; its swap entry lives in the
 * object (Documentation/admin-guide/mm/pagemap.rst, "Exceptions for Shared Memory"). Several
 * providers can look there; callers do not know which one answered, only its name.
 */
#pragma once

#include "ctx.h"
#include "kmem.h"
#include "kmodif.h"
#include "maps.h"

#include <sys/types.h>

/* How something was found: the "source" of a row. */
enum pgs_source { PGS_SRC_PAGEMAP, PGS_SRC_MODULE, PGS_SRC_KCORE, PGS_SRC_MAP_FILES };
const char *pgs_source_name(enum pgs_source source);

enum pgs_shmem_state {
	PGS_SHMEM_MAPPED,   /* the page table has an entry: ask pagemap */
	PGS_SHMEM_NONE,	    /* the object has no page there */
	PGS_SHMEM_SWAPPED,  /* in swap; the slot is known if `located` */
	PGS_SHMEM_CACHED,   /* in memory (page cache or swap cache), not mapped by this process */
	PGS_SHMEM_POISONED, /* the marker of a failed swap-in */
	PGS_SHMEM_UNKNOWN,  /* could not be told: see pgs_shmem_reason() */
	PGS_SHMEM_COUNTED,  /* no entry in the page table; what they are was counted: `counts` */
};

/* Pages that the page table has no entry for, by what the object says of them. */
struct pgs_shmem_counts {
	uint64_t none, swapped, cached, poisoned;
};

struct pgs_shmem_run {
	uint64_t addr; /* bytes */
	uint64_t pages;
	enum pgs_shmem_state state;
	struct pgs_shmem_counts counts; /* COUNTED */
	bool located;			/* SWAPPED: page i lies at slot + i of swap_type */
	uint64_t word; /* what pagemap has for each page that is not MAPPED: see pgs_shmem_word() */
	bool racy;     /* the object changed each time it was looked at: entries of old */
	unsigned int swap_type;
	uint64_t slot;
};

struct pgs_shmem;

struct pgs_shmem_opts {
	struct pgs_kmod *kmod; /* the providers that may be used, or NULL; they stay the caller's */
	struct pgs_kmem *kmem; /* is started by the first look-up */
	uint64_t marker_word;  /* that of a page under a marker of userfaultfd */
	/*
	 * Slots are of no interest, only how many pages are in which state. Then swapped pages may
	 * be one run whatever their slots, which are not `located`; and a provider that looks at
	 * page tables may answer with runs that are COUNTED. Their counts add up to their pages
	 * over a walk, but not each by itself: they come with the first run of what was counted at
	 * once.
	 */
	bool counts;
};

/*
 * pgs_shmem_open - the best provider for process @pid: the module, kernel memory, else map_files.
 * @pagemap_fd: an open /proc/PID/pagemap, the caller's; it must outlive the provider. Returns 0 or
 * -errno.
 */
int pgs_shmem_open(struct pgs_ctx *ctx, pid_t pid, int pagemap_fd,
		   const struct pgs_shmem_opts *opts, struct pgs_shmem **ret_shmem)
	__attribute__((nonnull, warn_unused_result));
void pgs_shmem_close(struct pgs_shmem *shmem);
void pgs_shmem_closep(struct pgs_shmem **shmem);

/* pgs_shmem_source - who told the last run; an object that kernel memory does not show is left to
 * map_files. */
enum pgs_source pgs_shmem_source(const struct pgs_shmem *shmem) __attribute__((nonnull));

/*
 * pgs_shmem_sees_tables - whether the provider looks at the page table itself. If so it may be
 * asked before pagemap, and tells what to read there (MAPPED). If not, it must only be asked about
 * pages that pagemap shows as empty, or under a marker of userfaultfd.
 */
bool pgs_shmem_sees_tables(const struct pgs_shmem *shmem) __attribute__((nonnull));

/*
 * pgs_shmem_next - the run of @vma that starts at @addr and ends at @end at the latest. Reads
 * nothing in and changes nothing. Returns 1, or -errno: -ESRCH when the process has gone. What
 * cannot be found out for lack of rights is a run in state UNKNOWN, not an error. A provider that
 * does not see the tables leaves the run's word 0: it is the caller's to set.
 */
int pgs_shmem_next(struct pgs_shmem *shmem, const struct pgs_vma *vma, uint64_t addr, uint64_t end,
		   struct pgs_shmem_run *ret_run) __attribute__((nonnull, warn_unused_result));

/*
 * pgs_shmem_word - what pagemap would have for the first page of a run that is not MAPPED, if it
 * knew: where a slot is known the word of that, with the marks (soft-dirty, uffd-wp) that pagemap
 * has; else pagemap's. *@ret_step is what to add for the next page.
 */
uint64_t pgs_shmem_word(const struct pgs_shmem_run *run, uint64_t *ret_step)
	__attribute__((nonnull));

/*
 * pgs_shmem_words - such words for the pages of @run, which next() gave, and on, up to @end or a
 * page that is mapped or unknown: at most @room. As next(), but returns how many there are, which
 * may be none.
 */
ssize_t pgs_shmem_words(struct pgs_shmem *shmem, const struct pgs_vma *vma,
			const struct pgs_shmem_run *run, uint64_t end, uint64_t *words, size_t room)
	__attribute__((nonnull, warn_unused_result));

/*
 * pgs_shmem_again - what the pages from @addr on are by now, at most to @end: for pages that were
 * MAPPED when pgs_shmem_next() told, and that pagemap shows as empty since. What next() goes on
 * with stays as it is. Only of a provider that sees the page tables; never COUNTED. As next().
 */
int pgs_shmem_again(struct pgs_shmem *shmem, uint64_t addr, uint64_t end,
		    struct pgs_shmem_run *ret_run) __attribute__((nonnull, warn_unused_result));

/* pgs_shmem_reason - why the last UNKNOWN run is unknown; never NULL. */
const char *pgs_shmem_reason(const struct pgs_shmem *shmem) __attribute__((nonnull));

/*
 * pgs_map_file_open - the file behind @vma of process @pid, through its map_files link: memfd, SysV
 * and shared anonymous memory have no other name. Following it takes CAP_CHECKPOINT_RESTORE (5.9;
 * before it CAP_SYS_ADMIN) and ptrace access, the open the file's own permission, unless @flags
 * say O_PATH. Returns a descriptor or -errno.
 */
int pgs_map_file_open(struct pgs_ctx *ctx, pid_t pid, const struct pgs_vma *vma, int flags)
	__attribute__((nonnull, warn_unused_result));

/* ---- the pages of one file, without a process ------------------------------------------------ */

/* In the terms of a file: where it is on the way between its file system, memory and swap. */
struct pgs_residency;

/*
 * pgs_residency_open - look at the pages of the file behind @fd, which stays the caller's.
 * mincore() tells the truth only to the owner, to who may write, and with CAP_FOWNER
 * (mm/mincore.c, can_do_mincore()); to others it says "all in memory": -EPERM here.
 */
int pgs_residency_open(struct pgs_ctx *ctx, int fd, struct pgs_residency **ret_res)
	__attribute__((nonnull, warn_unused_result));
void pgs_residency_close(struct pgs_residency *res);
void pgs_residency_closep(struct pgs_residency **res);

/*
 * pgs_residency_next - the run that starts at file offset @offset (a multiple of the page size)
 * and ends at @end at the latest. *@ret_data: the file has data there (no hole); *@ret_resident:
 * it is in memory. Reads nothing in. Returns the number of pages (> 0), or -errno.
 */
int64_t pgs_residency_next(struct pgs_residency *res, uint64_t offset, uint64_t end, bool *ret_data,
			   bool *ret_resident) __attribute__((nonnull, warn_unused_result));
