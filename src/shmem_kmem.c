// SPDX-License-Identifier: GPL-2.0-only
/* shmem: by kernel memory, which shows the object of a mapping. */
#include "shmem_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So much is asked of kernel memory at first, and twice as much each time, up to so much. */
#define KMEM_ENTRIES	 64u
#define KMEM_ENTRIES_MAX 4096u
#define KMEM_PAGES	 UINT64_C(512)
#define KMEM_PAGES_MAX	 (UINT64_C(1) << 50)

static void ask_little(struct pgs_shmem *shmem)
{
	shmem->ask_entries = KMEM_ENTRIES;
	shmem->ask_pages = shmem->counts ? KMEM_PAGES_MAX : KMEM_PAGES;
}

void pgs_shmem_kmem_reset(struct pgs_shmem *shmem)
{
	shmem->nr_entries = shmem->next_entry = 0;
	ask_little(shmem);
}

bool pgs_shmem_kmem_ready(struct pgs_shmem *shmem)
{
	if (!shmem->kmem || !pgs_kmem_has(shmem->kmem, PGS_KMEM_OBJECT))
		return false;
	if (!shmem->entries)
		shmem->entries = malloc(KMEM_ENTRIES_MAX * sizeof(*shmem->entries));
	return shmem->entries;
}

static enum pgs_shmem_state state_of_entry(enum pgs_kentry entry)
{
	switch (entry) {
	case PGS_KENTRY_NONE:
		return PGS_SHMEM_NONE;
	case PGS_KENTRY_MEMORY:
		return PGS_SHMEM_CACHED;
	case PGS_KENTRY_SWAPPED:
		return PGS_SHMEM_SWAPPED;
	case PGS_KENTRY_POISONED:
		return PGS_SHMEM_POISONED;
	case PGS_KENTRY_UNKNOWN:
		break;
	}
	return PGS_SHMEM_UNKNOWN;
}

static int kmem_failed(struct pgs_shmem *shmem, int err)
{
	return pgs_ctx_fail(shmem->ctx, err, "cannot read kernel memory: %s", strerror(-err));
}

static void ask_more(struct pgs_shmem *shmem)
{
	if (shmem->ask_entries < KMEM_ENTRIES_MAX)
		shmem->ask_entries *= 2;
	if (shmem->ask_pages < KMEM_PAGES_MAX)
		shmem->ask_pages *= 2;
}

/* The entries that hold page @index, up to page @end at the most. Of few pages at first, and of
 * more each time: who goes on with words has no use for them, as who counts has. */
static int load_entries(struct pgs_shmem *shmem, uint64_t index, uint64_t end)
{
	int n;

	if (end - index > shmem->ask_pages)
		end = index + shmem->ask_pages;
	n = shmem->counts ? pgs_kmem_states(shmem->kmem, &shmem->object, index, end, shmem->entries,
					    shmem->ask_entries)
			  : pgs_kmem_entries(shmem->kmem, &shmem->object, index, end,
					     shmem->entries, shmem->ask_entries);
	if (n < 0)
		return kmem_failed(shmem, n);
	shmem->nr_entries = (size_t)n;
	shmem->next_entry = 0;
	ask_more(shmem);
	return 0;
}

static const struct pgs_kentries *find_entries(struct pgs_shmem *shmem, uint64_t index)
{
	for (; shmem->next_entry < shmem->nr_entries; shmem->next_entry++) {
		const struct pgs_kentries *run = &shmem->entries[shmem->next_entry];

		if (index < run->index)
			return NULL;
		if (index < run->index + run->pages)
			return run;
	}
	return NULL;
}

int pgs_shmem_kmem_next(struct pgs_shmem *shmem, const struct pgs_vma *vma, uint64_t addr,
			uint64_t end, struct pgs_shmem_run *ret_run)
{
	unsigned int shift = shmem->ctx->page_shift;
	uint64_t index = (vma->offset + (addr - vma->start)) >> shift;
	uint64_t room = (end - addr) >> shift, skip;
	const struct pgs_kentries *run = find_entries(shmem, index);
	int r;

	if (!run) {
		r = load_entries(shmem, index, index + room);
		if (r)
			return r;
		run = &shmem->entries[0];
	}
	skip = index - run->index;
	*ret_run = (struct pgs_shmem_run){
		.addr = addr,
		.pages = run->pages - skip < room ? run->pages - skip : room,
		.state = state_of_entry(run->entry),
		.located = run->entry == PGS_KENTRY_SWAPPED && !shmem->counts,
		.racy = run->racy,
		.swap_type = run->swap_type,
		.slot = run->slot + (run->entry == PGS_KENTRY_SWAPPED ? skip : 0),
	};
	if (ret_run->state == PGS_SHMEM_UNKNOWN)
		snprintf(shmem->reason, sizeof(shmem->reason),
			 "the object changed each time it was looked at");
	shmem->source = PGS_SRC_KCORE;
	return 1;
}

/* Words of the entries that have been loaded, from page @index on, to page @end or @room of them.
 * Pagemap has @bare for each. */
static size_t words_of_entries(struct pgs_shmem *shmem, uint64_t bare, uint64_t index, uint64_t end,
			       uint64_t *words, size_t room)
{
	const struct pgs_kentries *run;
	size_t n = 0;

	if (end - index < room)
		room = end - index;
	while (n < room && (run = find_entries(shmem, index + n)) && !run->racy) {
		bool is_swapped = run->entry == PGS_KENTRY_SWAPPED;
		uint64_t skip = index + n - run->index, step = is_swapped ? PGS_PM_SWAP_STEP : 0;
		uint64_t word =
			is_swapped ? pgs_shmem_swap_word(run->swap_type, run->slot + skip, bare)
				   : bare;
		uint64_t pages = run->pages - skip < room - n ? run->pages - skip : room - n;

		if (run->entry == PGS_KENTRY_UNKNOWN)
			break;
		pgs_words_fill(words + n, pages, word, step);
		n += pages;
	}
	return n;
}

/* The words of an object's pages, each put in the place of @bare, which pagemap has for it. */
static void put_marks(uint64_t *words, size_t count, uint64_t bare)
{
	uint64_t marks = bare & PGS_SHMEM_TABLE_MARKS;

	for (size_t i = 0; i < count && bare; i++)
		words[i] = words[i] & PGS_PM_SWAP ? words[i] | marks : bare;
}

ssize_t pgs_shmem_kmem_words(struct pgs_shmem *shmem, const struct pgs_vma *vma,
			     const struct pgs_shmem_run *run, uint64_t end, uint64_t *words,
			     size_t room)
{
	unsigned int shift = shmem->ctx->page_shift;
	uint64_t index = (vma->offset + (run->addr - vma->start)) >> shift;
	uint64_t last = index + ((end - run->addr) >> shift);
	size_t had = words_of_entries(shmem, run->word, index, last, words, room);
	ssize_t n = 0;

	if (had < room && index + had < last) {
		n = pgs_kmem_words(shmem->kmem, &shmem->object, index + had, last, words + had,
				   room - had);
		ask_little(shmem);
	}
	if (n < 0)
		return kmem_failed(shmem, (int)n);
	put_marks(words + had, (size_t)n, run->word);
	return (ssize_t)had + n;
}
