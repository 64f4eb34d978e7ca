/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kpage: what /proc/kpageflags, /proc/kpagecount and /proc/kpagecgroup say of page frames, one
 * 64-bit word each (Documentation/admin-guide/mm/pagemap.rst). Read by runs of frames, never by a
 * system call a page.
 */
#pragma once

#include "ctx.h"

#include <sys/types.h>

enum pgs_kpage_file { PGS_KPAGEFLAGS, PGS_KPAGECOUNT, PGS_KPAGECGROUP, PGS_KPAGE_FILES };

struct pgs_kpage;

/*
 * pgs_kpage_open - open kpageflags, and those of the other two that this kernel has.
 * Returns 0 or -errno of kpageflags.
 */
int pgs_kpage_open(struct pgs_ctx *ctx, struct pgs_kpage **ret_kpage)
	__attribute__((nonnull, warn_unused_result));
void pgs_kpage_close(struct pgs_kpage *kpage);
void pgs_kpage_closep(struct pgs_kpage **kpage);

/* pgs_kpage_has - whether the file could be opened: kpagecgroup needs CONFIG_MEMCG. */
bool pgs_kpage_has(const struct pgs_kpage *kpage, enum pgs_kpage_file file)
	__attribute__((nonnull));

/* pgs_kpage_read - @count words from frame @pfn on. Returns how many there were: fewer at the end
 * of memory, 0 beyond; -errno. */
ssize_t pgs_kpage_read(struct pgs_kpage *kpage, enum pgs_kpage_file file, uint64_t pfn,
		       size_t count, uint64_t *ret_words)
	__attribute__((nonnull, warn_unused_result));

#define PGS_NO_FRAME UINT64_MAX
#define PGS_NO_WORD  UINT64_MAX /* what gather gives for a frame that the file does not reach */

/*
 * pgs_kpage_gather - the words of @count frames in any order; PGS_NO_FRAME among them is skipped
 * (its word is set to 0). Frames that lie together are read together. Returns 0 or -errno.
 */
int pgs_kpage_gather(struct pgs_kpage *kpage, enum pgs_kpage_file file, const uint64_t *pfns,
		     size_t count, uint64_t *ret_words)
	__attribute__((nonnull, warn_unused_result));

/* ---- flags ----------------------------------------------------------------------------------- */

#define PGS_KPF_BITS	  64u
#define PGS_KPF_KSM	  (UINT64_C(1) << 21)
#define PGS_KPF_ZERO_PAGE (UINT64_C(1) << 24)
/* The name of kpageflags bit @bit ("lru", "hugetlb"); NULL for one that has none. Names are those
 * of include/uapi/linux/kernel-page-flags.h in lower case, but `hugetlb` for KPF_HUGE. */
const char *pgs_kpf_name(unsigned int bit);
/* The bit of a name, -1 if there is none. */
int pgs_kpf_bit(const char *name) __attribute__((nonnull));

/*
 * pgs_kpf_expand - give each meaning of a word of kpageflags a bit of its own. The kernel uses some
 * bits twice (include/linux/page-flags.h, PG_anon_exclusive and PG_readahead): of anonymous memory
 * `mappedtodisk` is `anon_exclusive`, and without `writeback` `reclaim` is `readahead`. The second
 * meanings get bits that the kernel shows nowhere, those of tools/mm/page-types.c. Names, above and
 * below, are those of expanded words.
 */
uint64_t pgs_kpf_expand(uint64_t flags);

#define PGS_KPF_STR 512u
/* pgs_kpf_format - a raw word expanded: "uptodate,lru,anon"; bits without a name as "bit40"; "" for
 * none. Returns @buf.
 */
char *pgs_kpf_format(uint64_t flags, char buf[PGS_KPF_STR]) __attribute__((nonnull));

/* ---- nodes and zones ------------------------------------------------------------------------- */

struct pgs_zones;

/* pgs_zones_open - from /proc/zoneinfo and the memory blocks in sysfs; without the former (a tree
 * that lacks it) no frame's zone is known. Returns 0 or -errno. */
int pgs_zones_open(struct pgs_ctx *ctx, struct pgs_zones **ret_zones)
	__attribute__((nonnull, warn_unused_result));
void pgs_zones_close(struct pgs_zones *zones);
void pgs_zones_closep(struct pgs_zones **zones);

/* pgs_zones_find - node and zone of a frame. Returns false when it cannot be told: spans of zones
 * may overlap where memory was added later. @ret_zone points into @zones. */
bool pgs_zones_find(const struct pgs_zones *zones, uint64_t pfn, unsigned int *ret_node,
		    const char **ret_zone) __attribute__((nonnull));
