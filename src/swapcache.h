/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * swapcache: slots that only the swap cache holds. A page that was read back keeps its slot while
 * it stays clean, though no page table refers to the slot any more (mm/swap_state.c); such pages
 * are present, and their frames are flagged in /proc/kpageflags. Which slot it is cannot be seen.
 */
#pragma once

#include "kpage.h"

struct pgs_swapcache;

/* pgs_swapcached_pages - SwapCached of /proc/meminfo: pages in the swap cache, those included that
 * some page table or object still refers to by their slot. Returns 0 or -errno (-ENODATA: no such
 * line). */
int pgs_swapcached_pages(struct pgs_ctx *ctx, uint64_t *ret_pages)
	__attribute__((nonnull, warn_unused_result));

/* pgs_swapcache_new - opens /proc/kpageflags. Returns 0 or -errno. */
int pgs_swapcache_new(struct pgs_ctx *ctx, struct pgs_swapcache **ret_cache)
	__attribute__((nonnull, warn_unused_result));
void pgs_swapcache_free(struct pgs_swapcache *cache);

/* pgs_swapcache_present - page map words of @count present private pages from @addr on: those whose
 * frames are in the swap cache are kept. Returns 0 or -errno. */
int pgs_swapcache_present(struct pgs_swapcache *cache, uint64_t addr, const uint64_t *words,
			  size_t count) __attribute__((nonnull, warn_unused_result));

/* pgs_swapcache_seal - all present pages were told: each frame once, whoever maps it. Returns how
 * many there are. */
uint64_t pgs_swapcache_seal(struct pgs_swapcache *cache) __attribute__((nonnull));

/*
 * pgs_swapcache_entries - after pgs_swapcache_seal(): some process has swap entries for @count
 * pages from @addr on. Where another one of the same fork has read its page back, the frame at that
 * address is the cached copy of the entry's slot, which is counted there already.
 */
void pgs_swapcache_entries(struct pgs_swapcache *cache, uint64_t addr, uint64_t count)
	__attribute__((nonnull));

/* pgs_swapcache_slots - frames whose slot no entry was told for. */
uint64_t pgs_swapcache_slots(const struct pgs_swapcache *cache) __attribute__((nonnull));
