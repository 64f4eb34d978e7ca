// SPDX-License-Identifier: GPL-2.0-only
/* shmem: by the module, which sees the page tables, too. */
#include "shmem_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MODULE_RUNS 4096u /* records a request: 128 KiB */

/* One request, for records of the states @want (0: all) into @runs. Returns how many, or -errno. */
static int ask_module(struct pgs_shmem *shmem, uint64_t addr, uint64_t end, uint64_t want,
		      struct pgscan_run *runs, size_t room, struct pgscan_shmem *ret_arg)
{
	int n;

	*ret_arg = (struct pgscan_shmem){
		.size = sizeof(*ret_arg),
		.flags = PGSCAN_SHMEM_MARKERS,
		.pagemap_fd = shmem->pagemap_fd,
		.start = addr,
		.end = end,
		.vec = (uintptr_t)runs,
		.vec_len = room,
		.want = want,
	};
	do
		n = pgs_kmod_request(shmem->kmod, PGSCAN_IOC_SHMEM, ret_arg);
	while (n == -EINTR); /* before any work was done: nothing was copied out */
	if (n == -ESRCH)
		return pgs_ctx_fail(shmem->ctx, n,
				    "process %d has exited or executed another program",
				    (int)shmem->pid);
	if (n < 0)
		return pgs_ctx_fail(shmem->ctx, n, "the module cannot look up process %d: %s",
				    (int)shmem->pid, strerror(-n));
	return n;
}

/* Whether every page that was walked is of a shmem mapping: one may have gone since. */
static bool is_all_shmem(const struct pgs_shmem *shmem, const struct pgscan_shmem *arg)
{
	uint64_t pages = arg->none_pages + arg->mapped_pages + arg->swapped_pages +
			 arg->cached_pages + arg->poisoned_pages;

	return pages == (arg->walk_end - arg->start) >> shmem->ctx->page_shift;
}

/*
 * The next records. To who only counts a record a slot would say no more than the sums, and in
 * the worst order there is one a page, of four times the size of the word it stands for: then
 * only mapped pages get records, and the module counts the others. Where that does not add up the
 * records of all states tell, and so they do of a process with markers, whose pages the sums do
 * not tell apart. There is never more than a record a page, and to say so spares the module, for
 * a mapping of a few pages, a buffer of 64 KiB that is cleared first (init_on_alloc).
 */
static int load_runs(struct pgs_shmem *shmem, uint64_t addr, uint64_t end)
{
	uint64_t pages = (end - addr) >> shmem->ctx->page_shift;
	size_t room = pages < MODULE_RUNS ? pages : MODULE_RUNS;
	struct pgscan_shmem arg;
	int n = -1;

	shmem->counted = shmem->counts;
	if (shmem->counted) {
		n = ask_module(shmem, addr, end, 1u << PGSCAN_RUN_MAPPED, shmem->runs, room, &arg);
		if (n < 0)
			return n;
		shmem->counts = !arg.marker_pages;
		shmem->counted = shmem->counts && is_all_shmem(shmem, &arg);
	}
	if (!shmem->counted)
		n = ask_module(shmem, addr, end, 0, shmem->runs, room, &arg);
	if (n < 0)
		return n;
	shmem->nr_runs = (size_t)n;
	shmem->next_run = 0;
	shmem->walk_end = arg.walk_end;
	shmem->told = (struct pgs_shmem_counts){.none = arg.none_pages,
						.swapped = arg.swapped_pages,
						.cached = arg.cached_pages,
						.poisoned = arg.poisoned_pages};
	return 0;
}

static enum pgs_shmem_state state_of_record(uint16_t state)
{
	switch (state) {
	case PGSCAN_RUN_NONE:
		return PGS_SHMEM_NONE;
	case PGSCAN_RUN_SWAPPED:
		return PGS_SHMEM_SWAPPED;
	case PGSCAN_RUN_CACHED:
		return PGS_SHMEM_CACHED;
	case PGSCAN_RUN_POISONED:
		return PGS_SHMEM_POISONED;
	default:
		return PGS_SHMEM_MAPPED;
	}
}

/* What pagemap has for the pages of a record that is not of mapped ones. */
static uint64_t pagemap_word(const struct pgs_shmem *shmem, const struct pgscan_run *rec)
{
	uint64_t word = rec->flags & PGSCAN_RUN_F_SOFT_DIRTY ? PGS_PM_SOFT_DIRTY : 0;

	return rec->flags & PGSCAN_RUN_F_UFFD_WP ? word | shmem->marker_word : word;
}

/* The part of record @rec from @addr on, up to @end. */
static void clip_record(const struct pgs_shmem *shmem, const struct pgscan_run *rec, uint64_t addr,
			uint64_t end, struct pgs_shmem_run *ret_run)
{
	unsigned int shift = shmem->ctx->page_shift;
	uint64_t skip = (addr - rec->start) >> shift, room = (end - addr) >> shift;

	*ret_run = (struct pgs_shmem_run){
		.addr = addr,
		.pages = rec->pages - skip < room ? rec->pages - skip : room,
		.state = state_of_record(rec->state),
		.located = rec->state == PGSCAN_RUN_SWAPPED,
		.word = pagemap_word(shmem, rec),
		.swap_type = rec->swap_type,
		.slot = rec->slot + (rec->state == PGSCAN_RUN_SWAPPED ? skip : 0),
	};
}

/* Between records there is what was only counted; or else pagemap decides: mapped memory that is
 * not shmem after all, or none. */
static void gap_run(struct pgs_shmem *shmem, uint64_t addr, uint64_t to, uint64_t end,
		    struct pgs_shmem_run *ret_run)
{
	if (to > end)
		to = end;
	*ret_run = (struct pgs_shmem_run){.addr = addr,
					  .pages = (to - addr) >> shmem->ctx->page_shift,
					  .state = PGS_SHMEM_MAPPED};
	if (!shmem->counted)
		return;
	ret_run->state = PGS_SHMEM_COUNTED;
	ret_run->counts = shmem->told;
	shmem->told = (struct pgs_shmem_counts){0};
}

static uint64_t record_end(const struct pgs_shmem *shmem, const struct pgscan_run *rec)
{
	return rec->start + (rec->pages << shmem->ctx->page_shift);
}

/* The records that hold @addr or come after it, or at least a walk that has got beyond it. */
static int reach(struct pgs_shmem *shmem, uint64_t addr, uint64_t end)
{
	int r = 0;

	for (;;) {
		while (shmem->next_run < shmem->nr_runs &&
		       record_end(shmem, &shmem->runs[shmem->next_run]) <= addr)
			shmem->next_run++;
		if (r || shmem->next_run < shmem->nr_runs || addr < shmem->walk_end)
			return r;
		r = load_runs(shmem, addr, end);
	}
}

/* The record that holds @addr; NULL where there is none. After reach(). */
static const struct pgscan_run *record_at(const struct pgs_shmem *shmem, uint64_t addr)
{
	const struct pgscan_run *rec = &shmem->runs[shmem->next_run];

	return shmem->next_run < shmem->nr_runs && rec->start <= addr ? rec : NULL;
}

static int module_next(struct pgs_shmem *shmem, const struct pgs_vma *vma, uint64_t addr,
		       uint64_t end, struct pgs_shmem_run *ret_run)
{
	const struct pgscan_run *rec;
	int r = reach(shmem, addr, end);

	(void)vma;
	if (r)
		return r;
	rec = record_at(shmem, addr);
	if (rec)
		clip_record(shmem, rec, addr, end, ret_run);
	else if (shmem->next_run < shmem->nr_runs)
		gap_run(shmem, addr, shmem->runs[shmem->next_run].start, end, ret_run);
	else
		gap_run(shmem, addr, shmem->walk_end, end, ret_run);
	return 1;
}

static uint64_t word_of_record(const struct pgs_shmem *shmem, const struct pgscan_run *rec)
{
	uint64_t word = pagemap_word(shmem, rec);

	return rec->state == PGSCAN_RUN_SWAPPED
		       ? pgs_shmem_swap_word(rec->swap_type, rec->slot, word)
		       : word;
}

/* In the worst order a record a page: no way around by runs. */
static ssize_t module_words(struct pgs_shmem *shmem, const struct pgs_vma *vma,
			    const struct pgs_shmem_run *run, uint64_t end, uint64_t *words,
			    size_t room)
{
	uint64_t addr = run->addr;
	unsigned int shift = shmem->ctx->page_shift;
	size_t n = 0;

	(void)vma;
	room = (end - addr) >> shift < room ? (end - addr) >> shift : room;
	while (n < room) {
		uint64_t at = addr + ((uint64_t)n << shift), skip, pages, step;
		const struct pgscan_run *rec;
		int r = reach(shmem, at, end);

		if (r)
			return r;
		rec = record_at(shmem, at);
		if (!rec || rec->state == PGSCAN_RUN_MAPPED)
			break;
		step = rec->state == PGSCAN_RUN_SWAPPED ? PGS_PM_SWAP_STEP : 0;
		skip = (at - rec->start) >> shift;
		pages = rec->pages - skip < room - n ? rec->pages - skip : room - n;
		pgs_words_fill(words + n, pages, word_of_record(shmem, rec) + skip * step, step);
		n += pages;
	}
	return (ssize_t)n;
}

static int module_again(struct pgs_shmem *shmem, uint64_t addr, uint64_t end,
			struct pgs_shmem_run *ret_run)
{
	struct pgscan_shmem arg;
	struct pgscan_run rec;
	int n = ask_module(shmem, addr, end, 0, &rec, 1, &arg);

	if (n < 0)
		return n;
	if (n && rec.start == addr) {
		clip_record(shmem, &rec, addr, end, ret_run);
		return 1;
	}
	/* It is of no shmem mapping any more: the page table is all there is. */
	end = n ? rec.start : arg.walk_end;
	*ret_run = (struct pgs_shmem_run){.addr = addr,
					  .pages = (end - addr) >> shmem->ctx->page_shift,
					  .state = PGS_SHMEM_NONE};
	return 1;
}

static const struct pgs_shmem_ops module_ops = {
	.sees_tables = true,
	.next = module_next,
	.words = module_words,
	.again = module_again,
};

int pgs_shmem_module_open(struct pgs_shmem *shmem, struct pgs_kmod *kmod)
{
	shmem->runs = malloc(MODULE_RUNS * sizeof(*shmem->runs));
	if (!shmem->runs)
		return -ENOMEM;
	shmem->ops = &module_ops;
	shmem->source = PGS_SRC_MODULE;
	shmem->kmod = kmod;
	return 0;
}
