// SPDX-License-Identifier: GPL-2.0-only
#include "shmem.h"

#include "caps.h"
#include "cleanup.h"
#include "overlay.h"
#include "page.h"
#include "procfs.h"
#include "swap.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define MODULE_RUNS 4096u /* records a request: 128 KiB */

/* So much is asked of kernel memory at first, and twice as much each time, up to so much. */
#define KMEM_ENTRIES	 64u
#define KMEM_ENTRIES_MAX 4096u
#define KMEM_PAGES	 UINT64_C(512)
#define KMEM_PAGES_MAX	 (UINT64_C(1) << 50)

/* A provider. Each fills the run that starts at @addr; `shmem` below is the common front. */
struct shmem_ops {
	bool sees_tables;
	int (*next)(struct pgs_shmem *shmem, const struct pgs_vma *vma, uint64_t addr, uint64_t end,
		    struct pgs_shmem_run *ret_run);
	ssize_t (*words)(struct pgs_shmem *shmem, const struct pgs_vma *vma,
			 const struct pgs_shmem_run *run, uint64_t end, uint64_t *words,
			 size_t room);
	/* Where it sees the tables. */
	int (*again)(struct pgs_shmem *shmem, uint64_t addr, uint64_t end,
		     struct pgs_shmem_run *ret_run);
};

struct pgs_shmem {
	struct pgs_ctx *ctx;
	const struct shmem_ops *ops;
	enum pgs_source source; /* of the last run */
	pid_t pid;
	bool counts; /* slots are of no interest */
	char reason[256];
	/* module */
	struct pgs_kmod *kmod;
	int pagemap_fd;
	uint64_t marker_word;
	struct pgscan_run *runs;
	size_t nr_runs, next_run;
	uint64_t walk_end;	      /* the records reach so far */
	bool counted;		      /* there are records of mapped pages alone */
	struct pgs_shmem_counts told; /* of the others, until a run has told them */
	/* kernel memory and map_files: one object at a time */
	int file_fd;
	uint64_t vma_start, vma_end; /* the mapping that file_fd belongs to */
	struct pgs_residency *res;
	int res_error;
	bool swap_in_use; /* it was when it was last looked at */
	bool overlay;	  /* of one: what is not in memory may be in swap, or on a disk; */
	bool not_shmem;	  /* but it is certainly not in swap */
	struct pgs_kmem *kmem;
	bool has_object; /* @object is the mapping's: kernel memory shows it */
	struct pgs_kobject object;
	struct pgs_kentries *entries;
	size_t nr_entries, next_entry;
	size_t ask_entries; /* the next time */
	uint64_t ask_pages;
};

const char *pgs_source_name(enum pgs_source source)
{
	static const char *const names[] = {
		[PGS_SRC_PAGEMAP] = "pagemap",
		[PGS_SRC_MODULE] = "module",
		[PGS_SRC_KCORE] = "kcore",
		[PGS_SRC_MAP_FILES] = "map_files",
	};

	return names[source];
}

/* ---- words ----------------------------------------------------------------------------------- */

/* In place of @word, which pagemap has for it: the marks that are the page table's stay. */
static uint64_t swap_word(unsigned int type, uint64_t slot, uint64_t word)
{
	return pgs_pm_swap_word(type, slot) | PGS_PM_FILE |
	       (word & (PGS_PM_SOFT_DIRTY | PGS_PM_UFFD_WP));
}

uint64_t pgs_shmem_word(const struct pgs_shmem_run *run, uint64_t *ret_step)
{
	*ret_step = run->located ? PGS_PM_SWAP_STEP : 0;
	return run->located ? swap_word(run->swap_type, run->slot, run->word) : run->word;
}

/* ---- the module ------------------------------------------------------------------------------ */

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
 * records of all states tell, and so they do of a process with markers, whose pages the sums do not
 * tell apart. There is never more than a record a page, and to say so spares the
 * module, for a mapping of a few pages, a buffer of 64 KiB that is cleared first (init_on_alloc).
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

	return rec->state == PGSCAN_RUN_SWAPPED ? swap_word(rec->swap_type, rec->slot, word) : word;
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

static const struct shmem_ops module_ops = {
	.sees_tables = true,
	.next = module_next,
	.words = module_words,
	.again = module_again,
};

/* ---- the object of a mapping ----------------------------------------------------------------- */

static void set_reason(struct pgs_shmem *shmem, int err)
{
	shmem->res_error = err;
	snprintf(shmem->reason, sizeof(shmem->reason), "%s", pgs_ctx_error(shmem->ctx));
}

static void ask_little(struct pgs_shmem *shmem)
{
	shmem->ask_entries = KMEM_ENTRIES;
	shmem->ask_pages = KMEM_PAGES;
}

static void close_file(struct pgs_shmem *shmem)
{
	pgs_residency_close(shmem->res);
	shmem->res = NULL;
	shmem->has_object = false;
	shmem->nr_entries = shmem->next_entry = 0;
	ask_little(shmem);
	pgs_closep(&shmem->file_fd);
	shmem->file_fd = -1;
}

#define MAP_FILE "proc/%d/map_files/%" PRIx64 "-%" PRIx64

int pgs_map_file_open(struct pgs_ctx *ctx, pid_t pid, const struct pgs_vma *vma, int flags)
{
	/* Whoever may not look into the process gets EACCES, who has none of these EPERM
	 * (proc_map_files_get_link()). */
	const uint64_t caps = PGS_CAP(CAP_SYS_ADMIN) | PGS_CAP(CAP_CHECKPOINT_RESTORE);
	char names[PGS_CAPS_STR];
	int fd;

	if (!pgs_mech_enabled(ctx, PGS_MECH_MAP_FILES))
		return pgs_ctx_fail(ctx, -EOPNOTSUPP, "map_files is disabled");
	fd = pgs_open(ctx, PGS_CAPS_OTHERS | caps, flags, MAP_FILE, (int)pid, vma->start, vma->end);
	if (fd != -EPERM || !pgs_caps_lacking(caps))
		return fd;
	return pgs_ctx_fail(ctx, fd, "cannot open '%s/" MAP_FILE "': %s (needs %s)", ctx->root,
			    (int)pid, vma->start, vma->end, strerror(EPERM),
			    pgs_caps_names(pgs_caps_lacking(caps), names));
}

/* By kernel memory, if it shows the object; the descriptor pins it. */
static bool open_object(struct pgs_shmem *shmem, const struct pgs_vma *vma)
{
	if (!shmem->kmem || !pgs_kmem_has(shmem->kmem, PGS_KMEM_OBJECT))
		return false;
	if (!shmem->entries)
		shmem->entries = malloc(KMEM_ENTRIES_MAX * sizeof(*shmem->entries));
	shmem->file_fd =
		shmem->entries ? pgs_map_file_open(shmem->ctx, shmem->pid, vma, O_PATH) : -1;
	shmem->has_object = shmem->file_fd >= 0 &&
			    !pgs_kmem_object(shmem->kmem, shmem->file_fd, &shmem->object);
	return shmem->has_object;
}

static void open_file(struct pgs_shmem *shmem, const struct pgs_vma *vma)
{
	int r;

	close_file(shmem);
	shmem->vma_start = vma->start;
	shmem->vma_end = vma->end;
	shmem->res_error = 0;
	if (open_object(shmem, vma))
		return;
	close_file(shmem);
	shmem->file_fd = pgs_map_file_open(shmem->ctx, shmem->pid, vma, 0);
	r = shmem->file_fd < 0 ? shmem->file_fd : 0;
	if (!r)
		r = pgs_residency_open(shmem->ctx, shmem->file_fd, &shmem->res);
	set_reason(shmem, r);
	shmem->overlay = vma->kind == PGS_VMA_OVERLAY;
	shmem->not_shmem = shmem->overlay && !pgs_overlay_may_swap(shmem->ctx, shmem->file_fd);
}

/* ---- kernel memory --------------------------------------------------------------------------- */

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
 * more each time: who goes on with words has no use for them. */
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

static int kmem_next(struct pgs_shmem *shmem, const struct pgs_vma *vma, uint64_t addr,
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
			is_swapped ? swap_word(run->swap_type, run->slot + skip, bare) : bare;
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
	uint64_t marks = bare & (PGS_PM_SOFT_DIRTY | PGS_PM_UFFD_WP);

	for (size_t i = 0; i < count && bare; i++)
		words[i] = words[i] & PGS_PM_SWAP ? words[i] | marks : bare;
}

static ssize_t kmem_words(struct pgs_shmem *shmem, const struct pgs_vma *vma,
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

/* ---- map_files ------------------------------------------------------------------------------- */

/* Data that is not in memory is in swap; or it is lost, the mark of a failed swap-in in its place.
 */
static enum pgs_shmem_state residency_state(struct pgs_shmem *shmem, bool data, bool resident)
{
	const char *reason = PGS_OVERLAY_REASON;

	if (!data)
		return PGS_SHMEM_NONE;
	if (resident)
		return PGS_SHMEM_CACHED;
	if (!shmem->overlay) {
		shmem->swap_in_use = shmem->swap_in_use || pgs_swap_is_in_use(shmem->ctx);
		if (shmem->swap_in_use)
			return PGS_SHMEM_SWAPPED;
		reason = PGS_SWAP_UNUSED_REASON;
	}
	snprintf(shmem->reason, sizeof(shmem->reason), "%s", reason);
	return PGS_SHMEM_UNKNOWN;
}

static int map_files_next(struct pgs_shmem *shmem, const struct pgs_vma *vma, uint64_t addr,
			  uint64_t end, struct pgs_shmem_run *ret_run)
{
	uint64_t room = (end - addr) >> shmem->ctx->page_shift;
	bool data, resident;
	int64_t n = 0;

	*ret_run = (struct pgs_shmem_run){.addr = addr, .pages = room, .state = PGS_SHMEM_NONE};
	shmem->source = PGS_SRC_MAP_FILES;
	if (shmem->not_shmem)
		return 1;
	if (!shmem->res_error) {
		n = pgs_residency_next(shmem->res, vma->offset + (addr - vma->start),
				       vma->offset + (end - vma->start), &data, &resident);
		if (n < 0)
			set_reason(shmem, (int)n);
	}
	if (shmem->res_error) {
		ret_run->state = PGS_SHMEM_UNKNOWN;
		return 1;
	}
	ret_run->pages = (uint64_t)n;
	ret_run->state = residency_state(shmem, data, resident);
	return 1;
}

static void reach_file(struct pgs_shmem *shmem, const struct pgs_vma *vma)
{
	if (shmem->vma_start != vma->start || shmem->vma_end != vma->end)
		open_file(shmem, vma);
}

static int object_next(struct pgs_shmem *shmem, const struct pgs_vma *vma, uint64_t addr,
		       uint64_t end, struct pgs_shmem_run *ret_run)
{
	reach_file(shmem, vma);
	return shmem->has_object ? kmem_next(shmem, vma, addr, end, ret_run)
				 : map_files_next(shmem, vma, addr, end, ret_run);
}

static ssize_t object_words(struct pgs_shmem *shmem, const struct pgs_vma *vma,
			    const struct pgs_shmem_run *run, uint64_t end, uint64_t *words,
			    size_t room)
{
	/* map_files knows no slots: runs are all there is. */
	reach_file(shmem, vma);
	return shmem->has_object ? kmem_words(shmem, vma, run, end, words, room) : 0;
}

static const struct shmem_ops object_ops = {
	.sees_tables = false,
	.next = object_next,
	.words = object_words,
};

/* ---- the front ------------------------------------------------------------------------------- */

int pgs_shmem_open(struct pgs_ctx *ctx, pid_t pid, int pagemap_fd,
		   const struct pgs_shmem_opts *opts, struct pgs_shmem **ret_shmem)
{
	_cleanup_(pgs_shmem_closep) struct pgs_shmem *shmem = calloc(1, sizeof(*shmem));

	if (!shmem)
		return -ENOMEM;
	shmem->ctx = ctx;
	shmem->pid = pid;
	shmem->pagemap_fd = pagemap_fd;
	shmem->file_fd = -1;
	shmem->kmem = opts->kmem;
	shmem->counts = opts->counts;
	shmem->marker_word = opts->marker_word;
	shmem->ops = &object_ops;
	shmem->source = PGS_SRC_MAP_FILES;
	if (opts->kmod && pgs_kmod_has(opts->kmod, PGSCAN_FEAT_SHMEM_MARKERS)) {
		shmem->ops = &module_ops;
		shmem->source = PGS_SRC_MODULE;
		shmem->kmod = opts->kmod;
		shmem->runs = calloc(MODULE_RUNS, sizeof(*shmem->runs));
		if (!shmem->runs)
			return -ENOMEM;
	}
	*ret_shmem = shmem;
	shmem = NULL;
	return 0;
}

void pgs_shmem_close(struct pgs_shmem *shmem)
{
	if (!shmem)
		return;
	close_file(shmem);
	free(shmem->runs);
	free(shmem->entries);
	free(shmem);
}

void pgs_shmem_closep(struct pgs_shmem **shmem)
{
	pgs_shmem_close(*shmem);
}

enum pgs_source pgs_shmem_source(const struct pgs_shmem *shmem)
{
	return shmem->source;
}

bool pgs_shmem_sees_tables(const struct pgs_shmem *shmem)
{
	return shmem->ops->sees_tables;
}

const char *pgs_shmem_reason(const struct pgs_shmem *shmem)
{
	return shmem->reason;
}

int pgs_shmem_next(struct pgs_shmem *shmem, const struct pgs_vma *vma, uint64_t addr, uint64_t end,
		   struct pgs_shmem_run *ret_run)
{
	return shmem->ops->next(shmem, vma, addr, end, ret_run);
}

ssize_t pgs_shmem_words(struct pgs_shmem *shmem, const struct pgs_vma *vma,
			const struct pgs_shmem_run *run, uint64_t end, uint64_t *words, size_t room)
{
	return shmem->ops->words(shmem, vma, run, end, words, room);
}

int pgs_shmem_again(struct pgs_shmem *shmem, uint64_t addr, uint64_t end,
		    struct pgs_shmem_run *ret_run)
{
	return shmem->ops->again(shmem, addr, end, ret_run);
}
