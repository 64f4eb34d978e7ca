/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kfeat: what this kernel can do, and what it lets this process do. Each feature is found by trying
 * it on this process itself (or a child of it), never by version or configuration: distributions
 * backport, containers filter, and a configuration file describes some other kernel.
 *
 * A feature is probed when it is asked for, once. Nothing is left behind.
 */
#pragma once

#include "ctx.h"

enum pgs_feat_state {
	PGS_FEAT_UNTRIED, /* the tree is not that of the running kernel, which a call would ask */
	PGS_FEAT_YES,
	PGS_FEAT_NO,	 /* the kernel answered that it has no such thing, or it is switched off */
	PGS_FEAT_DENIED, /* there, or perhaps so, but not for this process: EPERM or EACCES */
	PGS_FEAT_ERROR,	 /* neither: the call failed in a way that says nothing about the feature */
};

/* In the order in which they are listed. The names are in kfeat.c. */
enum pgs_feat_id {
	PGS_FEAT_PAGEMAP,
	PGS_FEAT_PFN_VISIBLE,
	PGS_FEAT_PAGEMAP_SCAN,
	PGS_FEAT_SCAN_WPALLOWED,
	PGS_FEAT_SCAN_WRITTEN,
	PGS_FEAT_SCAN_FILE,
	PGS_FEAT_SCAN_PRESENT,
	PGS_FEAT_SCAN_SWAPPED,
	PGS_FEAT_SCAN_PFNZERO,
	PGS_FEAT_SCAN_HUGE,
	PGS_FEAT_SCAN_SOFT_DIRTY,
	PGS_FEAT_SCAN_GUARD,
	PGS_FEAT_SCAN_ACCESSED,
	PGS_FEAT_SOFT_DIRTY,
	PGS_FEAT_MAP_FILES,
	PGS_FEAT_PROCMAP_QUERY,
	PGS_FEAT_PROC_VISIBLE,

	PGS_FEAT_KPAGEFLAGS,
	PGS_FEAT_KPAGECOUNT,
	PGS_FEAT_KPAGECGROUP,
	PGS_FEAT_PAGE_IDLE,
	PGS_FEAT_KCORE,
	PGS_FEAT_BTF,
	PGS_FEAT_KMEM,
	PGS_FEAT_MODULE,

	PGS_FEAT_USERFAULTFD,
	PGS_FEAT_UFFD_SYSCALL,
	PGS_FEAT_UFFD_USER_MODE,
	PGS_FEAT_UFFD_DEVICE,
	PGS_FEAT_UFFD_WP,
	PGS_FEAT_UFFD_EVENT_FORK,
	PGS_FEAT_UFFD_EVENT_REMAP,
	PGS_FEAT_UFFD_EVENT_REMOVE,
	PGS_FEAT_UFFD_MISSING_HUGETLBFS,
	PGS_FEAT_UFFD_MISSING_SHMEM,
	PGS_FEAT_UFFD_EVENT_UNMAP,
	PGS_FEAT_UFFD_SIGBUS,
	PGS_FEAT_UFFD_THREAD_ID,
	PGS_FEAT_UFFD_MINOR_HUGETLBFS,
	PGS_FEAT_UFFD_MINOR_SHMEM,
	PGS_FEAT_UFFD_EXACT_ADDRESS,
	PGS_FEAT_UFFD_WP_HUGETLBFS_SHMEM,
	PGS_FEAT_UFFD_WP_UNPOPULATED,
	PGS_FEAT_UFFD_POISON,
	PGS_FEAT_UFFD_WP_ASYNC,
	PGS_FEAT_UFFD_MOVE,
	PGS_FEAT_UFFD_RWP,
	PGS_FEAT_UFFD_RWP_ASYNC,

	PGS_FEAT_PTRACE,
	PGS_FEAT_PIDFD_GETFD,
	PGS_FEAT_PROCESS_MADVISE,
	PGS_FEAT_MADV_PAGEOUT,
	PGS_FEAT_MADV_COLLAPSE,
	PGS_FEAT_MADV_GUARD,

	PGS_FEAT_MEMCG_V1,
	PGS_FEAT_MEMCG_V2,
	PGS_FEAT_PSI,
	PGS_FEAT_SWAP,
	PGS_FEAT_ZRAM,
	PGS_FEAT_ZSWAP,
	PGS_FEAT_PAGE_REPORTING,
	PGS_FEAT_BALLOON,
	PGS_FEAT_BALLOON_REPORTING,

	PGS_FEAT_CAP_DAC_READ_SEARCH,
	PGS_FEAT_CAP_SYS_RAWIO,
	PGS_FEAT_CAP_SYS_PTRACE,
	PGS_FEAT_CAP_SYS_ADMIN,
	PGS_FEAT_CAP_SYSLOG,
	PGS_FEAT_CAP_CHECKPOINT_RESTORE,
	PGS_NR_FEATS,
};

struct pgs_feat {
	enum pgs_feat_state state;
	int err;       /* the errno that decided it; 0 if none did */
	uint64_t caps; /* DENIED: the capabilities to have for it; 0 if none helps */
	char *detail;  /* one line: a value found, or why not; NULL if there is nothing to say */
};

struct pgs_kfeat;

/* pgs_kfeat_new - nothing is probed yet. @ctx must outlive it. Returns 0 or -ENOMEM. */
int pgs_kfeat_new(struct pgs_ctx *ctx, struct pgs_kfeat **ret_kfeat)
	__attribute__((nonnull, warn_unused_result));
void pgs_kfeat_free(struct pgs_kfeat *kfeat);
void pgs_kfeat_freep(struct pgs_kfeat **kfeat);

/* pgs_kfeat_get - the answer for @id, probed now if it was not before. Belongs to @kfeat. */
const struct pgs_feat *pgs_kfeat_get(struct pgs_kfeat *kfeat, enum pgs_feat_id id)
	__attribute__((nonnull));
static inline bool pgs_kfeat_has(struct pgs_kfeat *kfeat, enum pgs_feat_id id)
{
	return pgs_kfeat_get(kfeat, id)->state == PGS_FEAT_YES;
}

/* pgs_feat_name - "pagemap_scan"; a script's word, never changes. pgs_feat_how - what is tried,
 * in a word or two: "PAGEMAP_SCAN". Both static. */
const char *pgs_feat_name(enum pgs_feat_id id);
const char *pgs_feat_how(enum pgs_feat_id id);
/* pgs_feat_find - the feature of that name: 0, or -ENOENT. */
int pgs_feat_find(const char *name, enum pgs_feat_id *ret_id)
	__attribute__((nonnull, warn_unused_result));

/*
 * pgs_soft_dirty_passive - whether the kernel tracks soft-dirty, found without a write to anything
 * (clear_refs least of all): bit 55 of a mapping just made is set if and only if it does, as new
 * mappings carry VM_SOFTDIRTY. Says that the bit exists, PGS_FEAT_SOFT_DIRTY that it works.
 * Returns 0 or -errno; false when PGSCAN_DISABLE masks soft_dirty.
 */
int pgs_soft_dirty_passive(struct pgs_ctx *ctx, bool *ret_tracked)
	__attribute__((nonnull, warn_unused_result));
