// SPDX-License-Identifier: GPL-2.0-only
#include "scan.h"

#include "cleanup.h"
#include "kfeat.h"
#include "marks.h"
#include "procfs.h"
#include "vmstat.h"

#include <errno.h>
#include <string.h>

/* Reading an empty page costs 1.2 ns and a system call some hundred: so many are the break-even. */
#define READ_AHEAD_PAGES UINT64_C(64)

/* So many pages at the start of a part say what to expect of it: a page table's worth. */
#define SAMPLE_PAGES UINT64_C(512)

/* How often a page is asked about that seems to be mapped and is not. */
#define ASK_AGAIN 8u

/* Pages that are put together to one piece, and the length of a run that is one by itself. */
#define WORDS	 16384u
#define LONG_RUN 512u

struct pgs_scan {
	struct pgs_scan_env *env;
	struct pgs_scan_opts opts;
	struct pgs_maps *maps;
	struct pgs_pagemap *pm;
	struct pgs_shmem *shmem; /* opened at the first shmem mapping */
	struct pgs_marks *marks;
	pid_t pid;
	struct pgs_vma vma;
	size_t next_range; /* the first range that may still overlap vma */
	bool in_vma;
	uint64_t addr, end;   /* what is left of the part */
	uint64_t ask_end;     /* pagemap decides up to here: the look-up said "mapped" */
	bool sampled;	      /* the look-up was asked about the start of this part */
	bool guessed;	      /* and said that it is mapped: so is all of it, until a page is not */
	unsigned int asked;   /* again, about the page at addr */
	struct pgs_span span; /* what is left of the last span read */
	uint64_t present;     /* pages at its start that are known to be present */
	uint64_t *words;      /* of a piece that is put together; only with opts.words */
	bool look_up;	      /* this part's empty pages go to the shmem look-up */
	bool ask_first;	      /* and it is asked before pagemap */
	bool tableless;	      /* this part is memory that no page table describes */
	char reason[256];
};

/* ---- the environment ------------------------------------------------------------------------- */

/* By any of the ways into swap; where the counters are not shown it may have been. */
static bool was_swap_used(struct pgs_ctx *ctx)
{
	struct pgs_vmstat vm;

	return pgs_vmstat_read(ctx, &vm) || !vm.count[PGS_VM_SWAP_OUT].set ||
	       vm.count[PGS_VM_SWAP_OUT].n || vm.count[PGS_VM_SWAP_OUT_ZERO].n ||
	       vm.count[PGS_VM_ZSWAP_OUT].n;
}

int pgs_scan_env_init(struct pgs_ctx *ctx, struct pgs_kmod *kmod, struct pgs_scan_env *ret_env)
{
	struct pgs_scan_env env = {.ctx = ctx, .kmod = kmod};
	int r;

	*ret_env = (struct pgs_scan_env){0};
	pgs_swap_types_init(ctx, &env.types);
	env.swap_used = env.types.swap_areas || (ctx->live && was_swap_used(ctx));
	env.zero_pfn = pgs_zero_pfn(ctx);
	env.huge_pages = pgs_smallest_huge_pages(ctx);
	env.soft_dirty = true; /* a captured tree is taken at its word */
	r = ctx->live ? pgs_soft_dirty_passive(ctx, &env.soft_dirty) : 0;
	if (!r)
		env.kmem = pgs_kmem_new(ctx);
	if (!r && !env.kmem)
		r = -ENOMEM;
	if (r)
		pgs_scan_env_fini(&env);
	else
		*ret_env = env;
	return r;
}

void pgs_scan_env_fini(struct pgs_scan_env *env)
{
	pgs_kmod_close(env->kmod);
	env->kmod = NULL;
	pgs_kmem_free(env->kmem);
	env->kmem = NULL;
}

/* ---- open and close -------------------------------------------------------------------------- */

int pgs_scan_open(struct pgs_scan_env *env, pid_t pid, const struct pgs_scan_opts *opts,
		  struct pgs_scan **ret_scan)
{
	_cleanup_(pgs_scan_closep) struct pgs_scan *scan = calloc(1, sizeof(*scan));
	int r;

	if (!scan)
		return -ENOMEM;
	scan->env = env;
	scan->pid = pid;
	scan->opts = *opts;
	r = pgs_maps_open(env->ctx, pid, &scan->maps);
	if (!r)
		r = pgs_pagemap_open(env->ctx, pid, opts->batch, &scan->pm);
	if (!r && opts->marks)
		r = pgs_marks_new(env->ctx, env->huge_pages, &scan->marks);
	if (!r && opts->words) {
		scan->words = malloc(WORDS * sizeof(*scan->words));
		r = scan->words ? 0 : -ENOMEM;
	}
	if (r)
		return r;
	*ret_scan = scan;
	scan = NULL;
	return 0;
}

void pgs_scan_close(struct pgs_scan *scan)
{
	if (!scan)
		return;
	free(scan->words);
	pgs_marks_free(scan->marks);
	pgs_shmem_close(scan->shmem);
	pgs_pagemap_close(scan->pm);
	pgs_maps_close(scan->maps);
	free(scan);
}

void pgs_scan_closep(struct pgs_scan **scan)
{
	pgs_scan_close(*scan);
}

struct pgs_pagemap *pgs_scan_pagemap(struct pgs_scan *scan)
{
	return scan->pm;
}

/* ---- mappings -------------------------------------------------------------------------------- */

/* The next part of the mapping that a range covers: true, or false when there is none left. */
static bool next_part(struct pgs_scan *scan, struct pgs_range *ret_part)
{
	const struct pgs_vma *vma = &scan->vma;

	for (; scan->next_range < scan->opts.nr_ranges; scan->next_range++) {
		const struct pgs_range *range = &scan->opts.ranges[scan->next_range];

		if (range->end <= vma->start)
			continue;
		if (range->start >= vma->end)
			return false;
		ret_part->start = range->start > vma->start ? range->start : vma->start;
		ret_part->end = range->end < vma->end ? range->end : vma->end;
		if (range->end <= vma->end)
			scan->next_range++;
		else
			scan->in_vma = false; /* the range goes on in the next mapping */
		return true;
	}
	return false;
}

static bool first_part(struct pgs_scan *scan, struct pgs_range *ret_part)
{
	if (scan->opts.match && !scan->opts.match(&scan->vma, scan->opts.match_arg))
		return false;
	if (!scan->opts.nr_ranges) {
		*ret_part = (struct pgs_range){scan->vma.start, scan->vma.end};
		return true;
	}
	scan->in_vma = true;
	return next_part(scan, ret_part);
}

static bool is_past_ranges(const struct pgs_scan *scan)
{
	return scan->opts.nr_ranges && scan->next_range == scan->opts.nr_ranges;
}

static int open_shmem(struct pgs_scan *scan)
{
	const struct pgs_shmem_opts opts = {
		.kmod = scan->env->kmod,
		.kmem = scan->env->kmem,
		.marker_word = pgs_uffd_marker_word(&scan->env->types),
		.counts = scan->opts.counts,
	};

	if (scan->shmem)
		return 0;
	return pgs_shmem_open(scan->env->ctx, scan->pid, pgs_pagemap_fd(scan->pm), &opts,
			      &scan->shmem);
}

static int start_part(struct pgs_scan *scan, const struct pgs_range *part)
{
	int r;

	scan->addr = scan->ask_end = part->start;
	scan->end = part->end;
	scan->span.pages = scan->present = 0;
	scan->look_up = scan->opts.shmem && pgs_vma_may_be_shmem(&scan->vma);
	scan->ask_first = scan->sampled = scan->guessed = false;
	scan->tableless = !strcmp(scan->vma.name, "[vsyscall]"); /* beyond the address space */
	if (scan->look_up) {
		r = open_shmem(scan);
		if (r)
			return r;
		scan->ask_first = pgs_shmem_sees_tables(scan->shmem);
	}
	return 0;
}

/* The maps file of a process that ended just ends: that must not look like the last mapping. */
static int check_alive(struct pgs_scan *scan)
{
	if (pgs_pagemap_alive(scan->pm))
		return 0;
	return pgs_ctx_fail(scan->env->ctx, -ESRCH,
			    "process %d has exited or executed another program", (int)scan->pid);
}

int pgs_scan_next_vma(struct pgs_scan *scan, struct pgs_vma *ret_vma, struct pgs_range *ret_part)
{
	bool found = scan->in_vma && next_part(scan, ret_part);
	int r;

	while (!found) {
		scan->in_vma = false;
		if (is_past_ranges(scan))
			return 0;
		r = pgs_maps_next(scan->maps, &scan->vma);
		if (!r)
			return check_alive(scan);
		if (r < 0)
			return r;
		found = first_part(scan, ret_part);
	}
	*ret_vma = scan->vma;
	r = start_part(scan, ret_part);
	return r ? r : 1;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static uint64_t pages_to(const struct pgs_scan *scan, uint64_t addr, uint64_t end)
{
	return (end - addr) >> scan->env->ctx->page_shift;
}

static void step_on(struct pgs_scan *scan, uint64_t pages)
{
	scan->addr += pages << scan->env->ctx->page_shift;
	scan->asked = 0;
}

/* Memory that is mapped by frame number is left out of the walk behind pagemap: of drivers, of the
 * vvar pages. The vdso consists of ordinary pages. */
static bool hides_tables(const struct pgs_vma *vma)
{
	return vma->kind == PGS_VMA_DEVICE ||
	       (vma->kind == PGS_VMA_SPECIAL && strcmp(vma->name, "[vdso]"));
}

/* What the shmem look-up said of a run, as a piece. */
static void shmem_piece(struct pgs_scan *scan, const struct pgs_shmem_run *run,
			struct pgs_piece *ret_piece)
{
	struct pgs_piece piece = {
		.addr = run->addr,
		.pages = run->pages,
		.source = pgs_shmem_source(scan->shmem),
		.stated = true,
		.state = run->word & PGS_PM_SWAP ? PGS_UFFD_WP_MARKER : PGS_NONE,
		.bits_lost = run->state != PGS_SHMEM_NONE,
		.cached = run->state == PGS_SHMEM_CACHED,
		.racy = run->racy,
		.counted = run->state == PGS_SHMEM_COUNTED,
		.counts = run->counts,
	};

	if (run->state == PGS_SHMEM_SWAPPED)
		piece.state = PGS_SWAPPED;
	if (run->state == PGS_SHMEM_POISONED)
		piece.state = PGS_POISONED;
	if (run->state == PGS_SHMEM_UNKNOWN) {
		piece.state = PGS_UNKNOWN;
		snprintf(scan->reason, sizeof(scan->reason), "%s", pgs_shmem_reason(scan->shmem));
		piece.reason = scan->reason;
	}
	piece.word = pgs_shmem_word(run, &piece.step);
	*ret_piece = piece;
}

/* Who can tell where a page is: */
enum teller {
	BY_TABLE,		/* the page table has it */
	BY_OBJECT,		/* if anybody: the page table is empty */
	BY_OBJECT_UNDER_MARKER, /* or has but a mark of userfaultfd, in shared memory */
};

static enum teller teller_of(const struct pgs_scan *scan, uint64_t word)
{
	if (!(word & (PGS_PM_PRESENT | PGS_PM_SWAP)))
		return BY_OBJECT;
	return scan->look_up && pgs_word_is_uffd_marker(word, &scan->env->types)
		       ? BY_OBJECT_UNDER_MARKER
		       : BY_TABLE;
}

/* The page at the front of the span. */
static enum teller front_teller(const struct pgs_scan *scan)
{
	return teller_of(scan, scan->span.words ? scan->span.words[0] : scan->span.fill);
}

/* How many pages of the span from its start on pagemap decides about, and have the same @teller. */
static uint64_t stretch(struct pgs_scan *scan, enum teller teller)
{
	struct pgs_span *span = &scan->span;
	uint64_t limit = span->pages, n = 1;

	if (scan->ask_first && pages_to(scan, scan->addr, scan->ask_end) < limit)
		limit = pages_to(scan, scan->addr, scan->ask_end);
	if (!span->words)
		return limit;
	switch (teller) {
	case BY_OBJECT:
		if (!span->empty) /* once: it may become many pieces */
			span->empty = pgs_words_empty(span->words, span->pages);
		return span->empty < limit ? span->empty : limit;
	case BY_OBJECT_UNDER_MARKER:
		while (n < limit && span->words[n] == span->words[0])
			n++;
		return n;
	case BY_TABLE:
		break;
	}
	n = scan->present < limit ? scan->present : limit;
	while (n < limit && teller_of(scan, span->words[n]) == BY_TABLE)
		n++;
	return n;
}

/* Go on by so many pages: those of the span, or of a run that lies before it or reaches behind. */
static void cut_span(struct pgs_scan *scan, uint64_t pages)
{
	struct pgs_span *span = &scan->span;

	step_on(scan, pages);
	pages = pages < span->pages ? pages : span->pages;
	span->addr = scan->addr;
	span->pages -= pages;
	scan->present -= pages < scan->present ? pages : scan->present;
	span->empty -= pages < span->empty ? pages : span->empty;
	if (span->words)
		span->words += pages;
}

/* The front of the span, as pagemap shows it: up to @pages, cut where the marks change. */
static int span_piece(struct pgs_scan *scan, uint64_t pages, struct pgs_piece *ret_piece)
{
	struct pgs_piece piece = {
		.addr = scan->span.addr,
		.pages = pages,
		.words = scan->span.words,
		.word = scan->span.fill,
		.zero = PGS_TRI_UNKNOWN,
	};

	if (scan->marks && piece.words)
		piece.pages =
			pgs_marks_at(scan->marks, piece.addr, pages, &piece.huge, &piece.zero);
	cut_span(scan, piece.pages);
	*ret_piece = piece;
	return 1;
}

/* The front of the span is empty, which means nothing here. */
static int unscanned_piece(struct pgs_scan *scan, uint64_t pages, struct pgs_piece *ret_piece)
{
	*ret_piece = (struct pgs_piece){
		.addr = scan->span.addr, .pages = pages, .stated = true, .state = PGS_UNSCANNED};
	cut_span(scan, pages);
	return 1;
}

/*
 * In the worst order each swapped page is a run, and to hand on each by itself costs more than to
 * look it up: as many as there is room for become one piece. @run is the first of them; up to @end.
 */
static int words_piece(struct pgs_scan *scan, const struct pgs_shmem_run *run, uint64_t end,
		       struct pgs_piece *ret_piece)
{
	ssize_t n = 0;

	if (scan->words && run->pages < LONG_RUN)
		n = pgs_shmem_words(scan->shmem, &scan->vma, run, end, scan->words, WORDS);
	if (n < 0)
		return (int)n;
	shmem_piece(scan, run, ret_piece);
	if (n) {
		ret_piece->stated = false;
		ret_piece->words = scan->words;
		ret_piece->pages = (uint64_t)n;
	}
	cut_span(scan, ret_piece->pages);
	return 1;
}

/* The front of the span is empty in the page table, or under a marker: ask the object. */
static int empty_shmem_piece(struct pgs_scan *scan, uint64_t pages, struct pgs_piece *ret_piece)
{
	uint64_t addr = scan->span.addr, end = addr + (pages << scan->env->ctx->page_shift);
	struct pgs_shmem_run run;
	int r = pgs_shmem_next(scan->shmem, &scan->vma, addr, end, &run);

	if (r < 0)
		return r;
	run.word = scan->span.words ? scan->span.words[0] : scan->span.fill;
	return words_piece(scan, &run, end, ret_piece);
}

static int unsteady_piece(struct pgs_scan *scan, uint64_t pages, struct pgs_piece *ret_piece)
{
	snprintf(scan->reason, sizeof(scan->reason),
		 "a page came and went each time it was looked at");
	*ret_piece = (struct pgs_piece){.addr = scan->span.addr,
					.pages = pages,
					.stated = true,
					.state = PGS_UNKNOWN,
					.bits_lost = true,
					.racy = true,
					.reason = scan->reason};
	cut_span(scan, pages);
	return 1;
}

/*
 * The front of the span was mapped when the look-up told, and is empty now: reclaim was quicker.
 * Empty does not mean that there is no page, so it is asked what became of it. 0 when it is mapped
 * again: then pagemap is to be read again.
 */
static int emptied_piece(struct pgs_scan *scan, uint64_t pages, struct pgs_piece *ret_piece)
{
	uint64_t addr = scan->span.addr, end = addr + (pages << scan->env->ctx->page_shift);
	struct pgs_shmem_run run;
	int r = pgs_shmem_again(scan->shmem, addr, end, &run);

	if (r < 0)
		return r;
	if (run.state == PGS_SHMEM_MAPPED) {
		if (++scan->asked == ASK_AGAIN)
			return unsteady_piece(scan, run.pages, ret_piece);
		scan->span.pages = 0;
		return 0;
	}
	shmem_piece(scan, &run, ret_piece);
	cut_span(scan, run.pages);
	return 1;
}

static int read_span(struct pgs_scan *scan, uint64_t end)
{
	struct pgs_span *span = &scan->span;
	int r = pgs_pagemap_next(scan->pm, scan->addr, end, span);
	uint64_t known;

	if (r < 0)
		return r;
	scan->present = span->words ? pgs_words_present(span->words, span->pages) : 0;
	known = span->empty ?: scan->present;
	if (span->words && !scan->env->types.resolved &&
	    pgs_words_special(span->words + known, span->pages - known, &scan->env->types))
		pgs_swap_types_resolve(scan->env->ctx, &scan->env->types);
	if (scan->marks && span->words)
		return pgs_marks_load(scan->marks, scan->pm, span);
	return 0;
}

/*
 * A provider that sees the page tables is asked first, so that what is in swap is never read from
 * pagemap: 1 and a piece, 0 when pagemap is to decide up to ask_end. Where the first pages of a
 * part are all mapped, the others most likely are, and to have the tables looked at twice would be
 * for nothing: then pagemap decides until it shows an empty page.
 */
static int ask_first(struct pgs_scan *scan, struct pgs_piece *ret_piece)
{
	uint64_t pages = pages_to(scan, scan->addr, scan->end);
	unsigned int shift = scan->env->ctx->page_shift;
	bool is_sample = !scan->sampled;
	struct pgs_shmem_run run;
	int r;

	if (is_sample && pages > SAMPLE_PAGES)
		pages = SAMPLE_PAGES;
	r = pgs_shmem_next(scan->shmem, &scan->vma, scan->addr, scan->addr + (pages << shift),
			   &run);
	if (r < 0)
		return r;
	scan->sampled = true;
	scan->guessed = is_sample && run.state == PGS_SHMEM_MAPPED && run.pages == SAMPLE_PAGES;
	if (run.state == PGS_SHMEM_MAPPED) {
		scan->ask_end = scan->guessed ? scan->end : scan->addr + (run.pages << shift);
		return 0;
	}
	r = words_piece(scan, &run, scan->end, ret_piece);
	scan->ask_end = scan->addr;
	return r;
}

/* Memory without a page table at all: as one empty span, so that it is one piece. */
static void tableless_span(struct pgs_scan *scan)
{
	scan->span = (struct pgs_span){.addr = scan->addr,
				       .pages = pages_to(scan, scan->addr, scan->end)};
	scan->present = 0;
	scan->tableless = true;
}

/* Load the next span: 0 or -errno. Where mapped pages lie scattered it reaches further than they
 * do, up to where reading on costs as much as one more system call. */
static int refill(struct pgs_scan *scan)
{
	uint64_t end = scan->end;
	int r;

	if (scan->ask_first && pages_to(scan, scan->addr, end) > READ_AHEAD_PAGES) {
		end = scan->addr + (READ_AHEAD_PAGES << scan->env->ctx->page_shift);
		end = end > scan->ask_end ? end : scan->ask_end;
	}
	r = scan->tableless ? -ENODATA : read_span(scan, end);
	if (r != -ENODATA)
		return r;
	tableless_span(scan);
	return 0;
}

/* 1 and a piece, 0 when there is none yet, -errno. */
static int try_next(struct pgs_scan *scan, struct pgs_piece *ret_piece)
{
	enum teller teller;
	uint64_t n;
	int r = 0;

	if (scan->ask_first && scan->addr == scan->ask_end)
		r = ask_first(scan, ret_piece);
	if (!r && !scan->span.pages)
		r = refill(scan);
	if (r)
		return r;
	if (!scan->look_up && !scan->tableless && !hides_tables(&scan->vma))
		return span_piece(scan, scan->span.pages, ret_piece);
	teller = front_teller(scan);
	n = stretch(scan, teller);
	if (teller == BY_TABLE)
		return span_piece(scan, n, ret_piece);
	if (!scan->look_up)
		return unscanned_piece(scan, n, ret_piece);
	if (scan->guessed) { /* wrongly from here on: 0, and the look-up is asked */
		scan->ask_end = scan->addr;
		return 0;
	}
	return scan->ask_first ? emptied_piece(scan, n, ret_piece)
			       : empty_shmem_piece(scan, n, ret_piece);
}

int pgs_scan_next(struct pgs_scan *scan, struct pgs_piece *ret_piece)
{
	int r = 0;

	while (!r && scan->addr < scan->end)
		r = try_next(scan, ret_piece);
	return r;
}

/* ---- reading a piece ------------------------------------------------------------------------- */

void pgs_piece_page(const struct pgs_piece *piece, uint64_t index, const struct pgs_scan_env *env,
		    struct pgs_page *ret_page)
{
	uint64_t word = piece->words ? piece->words[index] : piece->word + index * piece->step;

	pgs_page_decode(word, &env->types, ret_page);
	if (piece->stated) {
		ret_page->state = piece->state;
		ret_page->file |= piece->state == PGS_SWAPPED || piece->state == PGS_POISONED;
	}
}

static bool is_zero_page(const struct pgs_scan_env *env, uint64_t word)
{
	return env->zero_pfn && word & PGS_PM_PRESENT && (word & PGS_PM_FRAME) == env->zero_pfn;
}

uint64_t pgs_scan_step(const struct pgs_scan_env *env, uint64_t word)
{
	return is_zero_page(env, word) ? 0 : pgs_page_step(word, &env->types);
}

/* The zero page may lie between two frames that happen to be neighbours: it is a run of its own. */
static uint64_t cut_at_zero(uint64_t pfn, uint64_t pages, uint64_t zero_pfn)
{
	return pfn < zero_pfn && pfn + pages > zero_pfn ? zero_pfn - pfn : pages;
}

uint64_t pgs_piece_run(const struct pgs_piece *piece, uint64_t index,
		       const struct pgs_scan_env *env)
{
	uint64_t word, n;

	if (!piece->words)
		return piece->pages - index;
	word = piece->words[index];
	n = pgs_run_length(piece->words + index, piece->pages - index, pgs_scan_step(env, word));
	return word & PGS_PM_PRESENT ? cut_at_zero(word & PGS_PM_FRAME, n, env->zero_pfn) : n;
}

enum pgs_tri pgs_piece_zero(const struct pgs_piece *piece, uint64_t word,
			    const struct pgs_scan_env *env)
{
	if (!(word & PGS_PM_PRESENT))
		return PGS_TRI_NO;
	if (piece->zero == PGS_TRI_YES || !env->zero_pfn || !(word & PGS_PM_FRAME))
		return piece->zero;
	if ((word & PGS_PM_FRAME) == env->zero_pfn)
		return PGS_TRI_YES;
	return piece->huge == PGS_TRI_UNKNOWN ? PGS_TRI_UNKNOWN
					      : PGS_TRI_NO; /* it may be the huge zero page */
}

static void count_words(const struct pgs_piece *piece, const struct pgs_scan_env *env,
			struct pgs_tally *tally)
{
	struct pgs_counts one = {0};
	uint64_t present;

	pgs_count_words(piece->words, piece->pages, &env->types, env->zero_pfn, &one);
	present = one.state[PGS_PRESENT];
	if (piece->zero == PGS_TRI_YES)
		one.zero = present;
	if (piece->huge == PGS_TRI_YES)
		tally->huge += present;
	if (present) {
		tally->huge_unknown |= piece->huge == PGS_TRI_UNKNOWN;
		tally->zero_unknown |=
			piece->huge == PGS_TRI_UNKNOWN ||
			(piece->zero == PGS_TRI_UNKNOWN && (one.hidden || !env->zero_pfn));
	}
	pgs_counts_add(&tally->counts, &one);
}

static void count_counted(const struct pgs_shmem_counts *counts, struct pgs_tally *tally)
{
	uint64_t lost = counts->swapped + counts->cached + counts->poisoned;
	struct pgs_counts one = {.pages = counts->none + lost};

	one.state[PGS_NONE] = counts->none + counts->cached;
	one.state[PGS_SWAPPED] = counts->swapped;
	one.state[PGS_POISONED] = counts->poisoned;
	one.file = counts->swapped + counts->poisoned;
	tally->soft_dirty_lost |= lost;
	tally->cached += counts->cached;
	pgs_counts_add(&tally->counts, &one);
}

static void count_run(const struct pgs_piece *piece, const struct pgs_scan_env *env,
		      struct pgs_tally *tally)
{
	struct pgs_counts one = {.pages = piece->pages};
	struct pgs_page page;

	pgs_piece_page(piece, 0, env, &page);
	one.state[page.state] = piece->pages;
	if (page.state != PGS_NONE && page.state != PGS_UNSCANNED) {
		one.file = page.file ? piece->pages : 0;
		one.soft_dirty = page.soft_dirty ? piece->pages : 0;
		one.uffd_wp = page.uffd_wp ? piece->pages : 0;
	}
	tally->soft_dirty_lost |= piece->bits_lost;
	tally->cached += piece->cached ? piece->pages : 0;
	pgs_counts_add(&tally->counts, &one);
}

void pgs_piece_count(const struct pgs_piece *piece, const struct pgs_scan_env *env,
		     struct pgs_tally *tally)
{
	if (piece->counted)
		count_counted(&piece->counts, tally);
	else if (piece->words)
		count_words(piece, env, tally);
	else
		count_run(piece, env, tally);
}

void pgs_tally_add(struct pgs_tally *to, const struct pgs_tally *from)
{
	pgs_counts_add(&to->counts, &from->counts);
	to->huge += from->huge;
	to->cached += from->cached;
	to->cache_known += from->cache_known;
	to->huge_unknown |= from->huge_unknown;
	to->zero_unknown |= from->zero_unknown;
	to->soft_dirty_lost |= from->soft_dirty_lost;
}
