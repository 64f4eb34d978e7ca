// SPDX-License-Identifier: GPL-2.0-only
/*
 * scan: what it makes of a module's answers, by a module of our own that says of pages without a
 * page table entry what we want. Which pages have one is the truth: the mapping is ours.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "scan.h"

#define PAGES	 9000u
#define TYPE	 3u
#define ARRAY(a) (sizeof(a) / sizeof((a)[0]))

/* ---- the module ------------------------------------------------------------------------------ */

struct pgs_kmod {
	struct pgscan_info info;
	uint64_t base, page_size; /* of the mapping that it knows */
	uint64_t work;		  /* pages a request at most */
	unsigned int state[PAGES];
	uint64_t slot[PAGES];
	unsigned int lies; /* so often it says "mapped" of what it knows as something else... */
	size_t lie_at;	   /* ...of this page */
	unsigned int asked_again;
	uint64_t looked_at; /* pages, in all requests */
};

const struct pgscan_info *pgs_kmod_info(const struct pgs_kmod *kmod)
{
	return &kmod->info;
}

int pgs_kmod_open(struct pgs_ctx *ctx, struct pgs_kmod **ret_kmod)
{
	(void)ctx;
	(void)ret_kmod;
	return -ENOENT;
}

void pgs_kmod_close(struct pgs_kmod *kmod)
{
	(void)kmod;
}

void pgs_kmod_closep(struct pgs_kmod **kmod)
{
	(void)kmod;
}

static unsigned int state_of(struct pgs_kmod *kmod, size_t i, bool again)
{
	if (i != kmod->lie_at || !kmod->lies)
		return kmod->state[i];
	kmod->lies -= again;
	return PGSCAN_RUN_MAPPED;
}

static bool joins(const struct pgscan_run *last, const struct pgscan_run *run, uint64_t page_size)
{
	return last->state == run->state && last->start + last->pages * page_size == run->start &&
	       (run->state != PGSCAN_RUN_SWAPPED || last->slot + last->pages == run->slot);
}

static void count(struct pgscan_shmem *arg, unsigned int state)
{
	__u64 *const of[] = {&arg->none_pages, &arg->mapped_pages, &arg->swapped_pages,
			     &arg->cached_pages, &arg->poisoned_pages};

	++*of[state];
}

/* Of the mapping that it knows; whatever else is in the range is of no shmem mapping. */
int pgs_kmod_request(struct pgs_kmod *kmod, unsigned long request, void *uarg)
{
	struct pgscan_shmem *arg = uarg;
	struct pgscan_run *vec = (struct pgscan_run *)(uintptr_t)arg->vec;
	uint64_t want = arg->want ? arg->want : UINT64_MAX, addr = arg->start, done = 0;
	bool again = arg->vec_len == 1 && !arg->want;
	size_t nr = 0;

	assert_int_equal(request, PGSCAN_IOC_SHMEM);
	assert_true(arg->vec_len <= (arg->end - arg->start) / kmod->page_size);
	kmod->asked_again += again;
	for (; addr < arg->end && done < kmod->work; addr += kmod->page_size, done++) {
		size_t i = (addr - kmod->base) / kmod->page_size;
		struct pgscan_run run = {.start = addr, .pages = 1};

		if (addr < kmod->base || i >= PAGES)
			continue;
		run.state = (uint16_t)state_of(kmod, i, again);
		run.slot = run.state == PGSCAN_RUN_SWAPPED ? kmod->slot[i] : 0;
		run.swap_type = run.slot ? TYPE : 0;
		if (want & UINT64_C(1) << run.state) {
			if (nr && joins(&vec[nr - 1], &run, kmod->page_size))
				vec[nr - 1].pages++;
			else if (nr == arg->vec_len)
				break;
			else
				vec[nr++] = run;
		}
		count(arg, run.state);
	}
	kmod->looked_at += done;
	arg->walk_end = addr;
	return (int)nr;
}

/* ---- the mapping ----------------------------------------------------------------------------- */

struct fixture {
	struct pgs_ctx *ctx;
	struct pgs_kmod kmod;
	struct pgs_scan_env env;
	char *map;
};

static void open_fixture(struct fixture *f)
{
	int fd = memfd_create("test_scan", MFD_CLOEXEC);

	memset(f, 0, sizeof(*f));
	f->kmod.info.features = PGSCAN_FEAT_SHMEM | PGSCAN_FEAT_SHMEM_MARKERS;
	f->kmod.page_size = (uint64_t)sysconf(_SC_PAGESIZE);
	f->kmod.work = 700;
	f->kmod.lie_at = PAGES;
	assert_int_equal(ftruncate(fd, (off_t)(PAGES * f->kmod.page_size)), 0);
	f->map = mmap(NULL, PAGES * f->kmod.page_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(f->map != MAP_FAILED);
	close(fd);
	madvise(f->map, PAGES * f->kmod.page_size, MADV_NOHUGEPAGE);
	f->kmod.base = (uintptr_t)f->map;
	assert_int_equal(pgs_ctx_open(NULL, &f->ctx), 0);
	assert_int_equal(pgs_scan_env_init(f->ctx, &f->kmod, &f->env), 0);
}

static void close_fixture(struct fixture *f)
{
	pgs_scan_env_fini(&f->env);
	pgs_ctx_close(f->ctx);
	munmap(f->map, PAGES * f->kmod.page_size);
}

static void set_page(struct fixture *f, size_t i, unsigned int state, uint64_t slot)
{
	f->kmod.state[i] = state;
	f->kmod.slot[i] = slot;
	if (state == PGSCAN_RUN_MAPPED)
		f->map[i * f->kmod.page_size] = 1;
}

/* ---- walks ----------------------------------------------------------------------------------- */

/* Walk the mapping: counts into @tally, and the words, if @words is not NULL. */
static void walk(struct fixture *f, struct pgs_scan_opts opts, struct pgs_tally *tally,
		 uint64_t *words)
{
	struct pgs_range range = {(uintptr_t)f->map, (uintptr_t)f->map + PAGES * f->kmod.page_size};
	struct pgs_scan *scan;
	struct pgs_piece piece;
	struct pgs_range part;
	struct pgs_vma vma;
	uint64_t n = 0;

	opts.ranges = &range;
	opts.nr_ranges = 1;
	opts.shmem = true;
	*tally = (struct pgs_tally){0};
	assert_int_equal(pgs_scan_open(&f->env, getpid(), &opts, &scan), 0);
	assert_int_equal(pgs_scan_next_vma(scan, &vma, &part), 1);
	while (pgs_scan_next(scan, &piece) > 0) {
		pgs_piece_count(&piece, &f->env, tally);
		for (uint64_t i = 0; words && i < piece.pages; i++)
			words[n++] = piece.words ? piece.words[i] : piece.word + i * piece.step;
	}
	assert_int_equal(pgs_scan_next_vma(scan, &vma, &part), 0);
	pgs_scan_close(scan);
	assert_true(!words || n == PAGES);
}

static void expect_counts(const struct fixture *f, const struct pgs_tally *tally)
{
	uint64_t want[PGSCAN_RUN_POISONED + 1] = {0};

	for (size_t i = 0; i < PAGES; i++)
		want[f->kmod.state[i]]++;
	assert_int_equal(tally->counts.pages, PAGES);
	assert_int_equal(tally->counts.state[PGS_PRESENT], want[PGSCAN_RUN_MAPPED]);
	assert_int_equal(tally->counts.state[PGS_SWAPPED], want[PGSCAN_RUN_SWAPPED]);
	assert_int_equal(tally->counts.state[PGS_POISONED], want[PGSCAN_RUN_POISONED]);
	assert_int_equal(tally->counts.state[PGS_NONE],
			 want[PGSCAN_RUN_NONE] + want[PGSCAN_RUN_CACHED]);
	assert_int_equal(tally->cached, want[PGSCAN_RUN_CACHED]);
	assert_int_equal(tally->counts.file, PAGES - tally->counts.state[PGS_NONE]);
}

static void expect_words(const struct fixture *f, const uint64_t *words)
{
	for (size_t i = 0; i < PAGES; i++) {
		if (f->kmod.state[i] == PGSCAN_RUN_MAPPED)
			assert_true(words[i] & PGS_PM_PRESENT);
		else if (f->kmod.state[i] == PGSCAN_RUN_SWAPPED)
			assert_int_equal(words[i],
					 PGS_PM_SWAP | PGS_PM_FILE | TYPE |
						 f->kmod.slot[i] << PGS_PM_SWAP_TYPE_BITS);
		else
			assert_int_equal(words[i], 0);
	}
}

static void expect_all(struct fixture *f)
{
	static uint64_t words[PAGES];
	struct pgs_tally tally;

	walk(f, (struct pgs_scan_opts){.marks = true}, &tally, words);
	expect_counts(f, &tally);
	expect_words(f, words);
	walk(f, (struct pgs_scan_opts){.counts = true, .marks = true}, &tally, NULL);
	expect_counts(f, &tally);
	walk(f, (struct pgs_scan_opts){.words = true}, &tally, words);
	expect_words(f, words);
}

/* ---- the tests ------------------------------------------------------------------------------- */

static void test_mixes(void **state)
{
	unsigned int seed = 1;

	(void)state;
	for (unsigned int round = 0; round < 12; round++) {
		struct fixture f;

		open_fixture(&f);
		for (size_t i = 0, n; i < PAGES; i += n) {
			unsigned int kind = (unsigned int)rand_r(&seed) % 5;
			uint64_t slot = (uint64_t)rand_r(&seed) + 1;

			n = 1 + (size_t)rand_r(&seed) % (round % 3 ? 4 : 900);
			n = n < PAGES - i ? n : PAGES - i;
			for (size_t k = i; k < i + n; k++)
				set_page(&f, k, kind, slot + k - i);
		}
		f.kmod.work = 1 + (uint64_t)rand_r(&seed) % PAGES;
		expect_all(&f);
		close_fixture(&f);
	}
}

/* In the worst order each page is a record: more than one request brings. */
static void test_worst_order(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f);
	f.kmod.work = UINT64_MAX;
	for (size_t i = 0; i < PAGES; i++)
		set_page(&f, i, PGSCAN_RUN_SWAPPED, 2 * (PAGES - i));
	expect_all(&f);
	for (size_t i = 0; i < PAGES; i += 2)
		set_page(&f, i, PGSCAN_RUN_MAPPED, 0);
	expect_all(&f);
	close_fixture(&f);
}

/* Pages @from to @to are @state, those before and behind are mapped; @looked_at by the module. */
static void expect_sample(size_t from, size_t to, unsigned int state, uint64_t looked_at)
{
	struct pgs_tally tally;
	struct fixture f;

	open_fixture(&f);
	for (size_t i = 0; i < PAGES; i++)
		set_page(&f, i, i >= from && i < to ? state : PGSCAN_RUN_MAPPED, i + 1);
	walk(&f, (struct pgs_scan_opts){.counts = true}, &tally, NULL);
	expect_counts(&f, &tally);
	assert_int_equal(f.kmod.looked_at, looked_at);
	assert_int_equal(f.kmod.asked_again, 0);
	expect_all(&f);
	close_fixture(&f);
}

/* Memory that begins with mapped pages is asked for again where it is not; no page is twice. */
static void test_sample(void **state)
{
	static const unsigned int states[] = {PGSCAN_RUN_NONE, PGSCAN_RUN_SWAPPED,
					      PGSCAN_RUN_CACHED};

	(void)state;
	expect_sample(0, 0, PGSCAN_RUN_MAPPED, 512);
	for (size_t i = 0; i < ARRAY(states); i++) {
		expect_sample(0, 1, states[i], PAGES);
		expect_sample(0, PAGES, states[i], PAGES);
		expect_sample(511, 600, states[i], PAGES);
		expect_sample(512, 513, states[i], PAGES);
		expect_sample(513, PAGES, states[i], PAGES - 1);
		expect_sample(8000, 8500, states[i], 512 + PAGES - 8000);
		expect_sample(PAGES - 1, PAGES, states[i], 512 + 1);
	}
}

/* "Mapped", and then pagemap is empty: what became of the page is asked again, for each walk. */
static void test_emptied(void **state)
{
	const unsigned int states[] = {PGSCAN_RUN_SWAPPED, PGSCAN_RUN_CACHED, PGSCAN_RUN_NONE};
	struct pgs_tally tally;

	(void)state;
	for (size_t k = 0; k < ARRAY(states); k++) {
		for (int counts = 0; counts < 2; counts++) {
			struct fixture f;

			open_fixture(&f);
			for (size_t i = 0; i < PAGES; i++)
				set_page(&f, i, i % 3 ? PGSCAN_RUN_MAPPED : PGSCAN_RUN_SWAPPED,
					 i + 1);
			set_page(&f, 1500, states[k], 7);
			madvise(f.map + 1500 * f.kmod.page_size, f.kmod.page_size, MADV_DONTNEED);
			f.kmod.lie_at = 1500;
			f.kmod.lies = 2; /* of which pages may be mapped again */
			walk(&f, (struct pgs_scan_opts){.counts = counts}, &tally, NULL);
			expect_counts(&f, &tally);
			assert_int_equal(f.kmod.asked_again, 3);
			close_fixture(&f);
		}
	}
}

static void open_swapped(struct fixture *f)
{
	open_fixture(f);
	for (size_t i = 0; i < PAGES; i++)
		set_page(f, i, PGSCAN_RUN_SWAPPED, i + 1);
}

/* A page that never holds still is not known, instead of none. */
static void test_unsteady(void **state)
{
	struct pgs_tally tally;
	struct fixture f;

	(void)state;
	open_swapped(&f);
	f.kmod.lie_at = 10;
	f.kmod.lies = 1000;
	walk(&f, (struct pgs_scan_opts){.counts = true}, &tally, NULL);
	assert_int_equal(tally.counts.state[PGS_UNKNOWN], 1);
	assert_int_equal(tally.counts.state[PGS_SWAPPED], PAGES - 1);
	assert_int_equal(tally.counts.pages, PAGES);
	close_fixture(&f);
}

/* Counts that leave pages out are of a mapping that has changed: then page by page. */
static void test_changed_mapping(void **state)
{
	struct pgs_tally tally;
	struct fixture f;

	(void)state;
	open_swapped(&f);
	/* The first half is private memory by now, of which the module says nothing. */
	f.kmod.base += PAGES / 2 * f.kmod.page_size;
	for (size_t i = 0; i < 100; i++)
		f.map[i * f.kmod.page_size] = 1;
	walk(&f, (struct pgs_scan_opts){.counts = true}, &tally, NULL);
	assert_int_equal(tally.counts.pages, PAGES);
	assert_int_equal(tally.counts.state[PGS_PRESENT], 100);
	assert_int_equal(tally.counts.state[PGS_SWAPPED], PAGES / 2);
	assert_int_equal(tally.counts.state[PGS_NONE], PAGES / 2 - 100);
	close_fixture(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mixes),	 cmocka_unit_test(test_worst_order),
		cmocka_unit_test(test_sample),	 cmocka_unit_test(test_emptied),
		cmocka_unit_test(test_unsteady), cmocka_unit_test(test_changed_mapping),
	};

	return cmocka_run_group_tests_name("scan", tests, NULL, NULL);
}
