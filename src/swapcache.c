// SPDX-License-Identifier: GPL-2.0-only
#include "swapcache.h"

#include "cleanup.h"
#include "page.h"
#include "procfs.h"

#include <errno.h>
#include <string.h>

#define KPF_SWAPCACHE (UINT64_C(1) << 13) /* include/uapi/linux/kernel-page-flags.h */
#define WINDOW	      4096u

struct frame {
	uint64_t pfn;
	uint64_t addr; /* where it is mapped; in the processes of one fork it is the same */
	bool counted;  /* its slot has an entry elsewhere */
};

struct pgs_swapcache {
	struct pgs_ctx *ctx;
	struct pgs_kpage *kpage;
	struct frame *frames; /* ascending by address once sealed */
	size_t nr, room;
	uint64_t pfns[WINDOW], flags[WINDOW];
};

int pgs_swapcached_pages(struct pgs_ctx *ctx, uint64_t *ret_pages)
{
	_cleanup_free_ char *text = NULL;
	ssize_t r = pgs_read_file(ctx, 0, &text, "proc/meminfo");
	uint64_t kb;

	if (r < 0)
		return (int)r;
	if (pgs_text_field(text, "SwapCached", &kb) != 1)
		return pgs_ctx_fail(ctx, -ENODATA, "no SwapCached in '%s/proc/meminfo'", ctx->root);
	*ret_pages = kb * 1024 >> ctx->page_shift;
	return 0;
}

int pgs_swapcache_new(struct pgs_ctx *ctx, struct pgs_swapcache **ret_cache)
{
	struct pgs_swapcache *cache = calloc(1, sizeof(*cache));
	int r;

	if (!cache)
		return -ENOMEM;
	cache->ctx = ctx;
	r = pgs_kpage_open(ctx, &cache->kpage);
	if (r) {
		free(cache);
		return r;
	}
	*ret_cache = cache;
	return 0;
}

void pgs_swapcache_free(struct pgs_swapcache *cache)
{
	if (!cache)
		return;
	pgs_kpage_close(cache->kpage);
	free(cache->frames);
	free(cache);
}

static int keep(struct pgs_swapcache *cache, uint64_t pfn, uint64_t addr)
{
	if (cache->nr == cache->room) {
		size_t room = cache->room ? cache->room * 2 : 1024;
		struct frame *more = reallocarray(cache->frames, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		cache->frames = more;
		cache->room = room;
	}
	cache->frames[cache->nr++] = (struct frame){.pfn = pfn, .addr = addr};
	return 0;
}

/* At most a window. File pages, and what shows no frame, are never in the swap cache. */
static int look_at(struct pgs_swapcache *cache, uint64_t addr, const uint64_t *words, size_t count)
{
	bool any = false;
	int r = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t pfn = words[i] & PGS_PM_FRAME;
		bool wanted = !(words[i] & PGS_PM_FILE) && pfn;

		cache->pfns[i] = wanted ? pfn : PGS_NO_FRAME;
		any |= wanted;
	}
	if (any)
		r = pgs_kpage_gather(cache->kpage, PGS_KPAGEFLAGS, cache->pfns, count,
				     cache->flags);
	for (size_t i = 0; any && i < count && !r; i++)
		if (cache->pfns[i] != PGS_NO_FRAME && cache->flags[i] & KPF_SWAPCACHE)
			r = keep(cache, cache->pfns[i], addr + (i << cache->ctx->page_shift));
	return r;
}

int pgs_swapcache_present(struct pgs_swapcache *cache, uint64_t addr, const uint64_t *words,
			  size_t count)
{
	int r = 0;

	for (size_t n; count && !r; addr += n << cache->ctx->page_shift, words += n, count -= n) {
		n = count < WINDOW ? count : WINDOW;
		r = look_at(cache, addr, words, n);
	}
	return r;
}

static int compare_pfns(const void *pa, const void *pb)
{
	const struct frame *a = pa, *b = pb;

	return (a->pfn > b->pfn) - (a->pfn < b->pfn);
}

static int compare_addrs(const void *pa, const void *pb)
{
	const struct frame *a = pa, *b = pb;

	return (a->addr > b->addr) - (a->addr < b->addr);
}

uint64_t pgs_swapcache_seal(struct pgs_swapcache *cache)
{
	size_t nr = 0;

	if (!cache->nr)
		return 0;
	qsort(cache->frames, cache->nr, sizeof(*cache->frames), compare_pfns);
	for (size_t i = 0; i < cache->nr; i++)
		if (!nr || cache->frames[nr - 1].pfn != cache->frames[i].pfn)
			cache->frames[nr++] = cache->frames[i];
	cache->nr = nr;
	qsort(cache->frames, nr, sizeof(*cache->frames), compare_addrs);
	return nr;
}

/* The first frame at or above @addr. */
static size_t find_addr(const struct pgs_swapcache *cache, uint64_t addr)
{
	size_t from = 0, to = cache->nr;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (cache->frames[mid].addr < addr)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

void pgs_swapcache_entries(struct pgs_swapcache *cache, uint64_t addr, uint64_t count)
{
	uint64_t end = addr + (count << cache->ctx->page_shift);

	for (size_t i = find_addr(cache, addr); i < cache->nr && cache->frames[i].addr < end; i++)
		cache->frames[i].counted = true;
}

uint64_t pgs_swapcache_slots(const struct pgs_swapcache *cache)
{
	uint64_t slots = 0;

	for (size_t i = 0; i < cache->nr; i++)
		slots += !cache->frames[i].counted;
	return slots;
}
