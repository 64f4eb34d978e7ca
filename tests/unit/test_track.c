// SPDX-License-Identifier: GPL-2.0-only
/*
 * track: a process that writes to, reads and drops random pages between two samples and keeps a
 * log of it; the sample must be that log. In marks, nothing moves during a sample. Free, the
 * writers never stop, and each write has times: it must be in the sample whose interval it lies in,
 * and a page in a sample must have been written since the beginning of the one before.
 *
 * TRACK_ROUNDS=10000 for the long run; TRACK_METHOD=module or soft-dirty in a guest.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "track.h"

#define PAGES	    8192u /* sixteen page tables */
#define HUGE_BYTES  (2UL << 20)
#define OPS	    48 /* a round, of all threads */
#define MAX_THREADS 8
#define LOG_ENTRIES (1u << 20) /* of a thread, in a free run: enough for all its samples */

enum kind { ANON, SHARED, FILE_PRIVATE, THP, KINDS };
static const char *const kind_names[KINDS] = {"anonymous", "shared", "file-private", "huge"};

/* What the sample of a round must hold, and what it may hold. */
enum { MUST = 1, MAY = 2 };

struct entry {
	uint32_t page;
	uint64_t before_ns, after_ns;
};

struct control {
	atomic_int round, done; /* futexes */
	atomic_bool stop;
	int threads;
	bool drops; /* writes and reads only, otherwise */
	uint8_t log[PAGES];
	uint8_t holds[PAGES]; /* the page has contents of its own */
	uint8_t held[PAGES];  /* it had when the round began */
	atomic_uint written[MAX_THREADS];
	struct entry entries[MAX_THREADS][LOG_ENTRIES];
};

static struct control *control;
static char *area;
static size_t page_size;
static enum kind area_kind;
static pid_t child;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void futex_wait(atomic_int *word, int value)
{
	while (atomic_load(word) == value)
		syscall(SYS_futex, word, FUTEX_WAIT, value, NULL, NULL, 0);
}

static void futex_wake(atomic_int *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* ---- the process that writes ----------------------------------------------------------------- */

static void write_page(uint32_t page)
{
	atomic_fetch_add((atomic_uint *)(void *)(area + page * page_size), 1);
}

static void do_write(uint32_t page)
{
	write_page(page);
	control->log[page] |= MUST;
	control->holds[page] = 1;
}

/* The first touch of shared memory counts, whichever it is. */
static void do_read(uint32_t page)
{
	(void)*(volatile char *)(area + page * page_size);
	if (area_kind == SHARED)
		control->log[page] |= MAY;
}

/*
 * What had contents has lost them; what had none, or only since the round began, is as it was, and
 * may be called written or not. In shared memory the object keeps its page. In a private mapping of
 * a file the kernel leaves a protected marker (zap_install_uffd_wp_if_needed()): it is not seen.
 */
static void do_drop(uint32_t page)
{
	if (madvise(area + page * page_size, page_size, MADV_DONTNEED))
		abort();
	if (area_kind == SHARED)
		control->log[page] |= MAY;
	else
		control->log[page] = control->held[page] && area_kind != FILE_PRIVATE ? MUST : MAY;
	control->holds[page] = 0;
}

static uint32_t own_page(unsigned int *seed, int id)
{
	uint32_t page = (uint32_t)rand_r(seed) % PAGES;

	/* A thread's pages are its own: what is logged is what was done last. */
	return page - page % (uint32_t)control->threads + (uint32_t)id < PAGES
		       ? page - page % (uint32_t)control->threads + (uint32_t)id
		       : (uint32_t)id;
}

static void *writer_in_rounds(void *arg)
{
	int id = (int)(intptr_t)arg, round = 0;
	unsigned int seed = (unsigned int)id + 1;

	for (;;) {
		futex_wait(&control->round, round);
		round = atomic_load(&control->round);
		for (int i = 0; i < OPS / control->threads; i++) {
			uint32_t page = own_page(&seed, id);
			int what = rand_r(&seed) % 100;

			if (what < 10 && control->drops)
				do_drop(page);
			else if (what < 30)
				do_read(page);
			else
				do_write(page);
		}
		atomic_fetch_add(&control->done, 1);
		futex_wake(&control->done);
	}
	return NULL;
}

static void *writer_free(void *arg)
{
	int id = (int)(intptr_t)arg;
	unsigned int seed = (unsigned int)id + 1;

	futex_wait(&control->round, 0);
	for (unsigned int n = 0; n < LOG_ENTRIES && !control->stop; n++) {
		struct entry *e = &control->entries[id][n];
		struct timespec pace = {.tv_nsec = 5000};

		e->page = own_page(&seed, id);
		e->before_ns = now_ns();
		write_page(e->page);
		e->after_ns = now_ns();
		atomic_store(&control->written[id], n + 1);
		if (n % 8 == 0)
			nanosleep(&pace, NULL);
	}
	atomic_fetch_add(&control->done, 1);
	futex_wake(&control->done);
	return NULL;
}

static void child_start(void *(*writer)(void *))
{
	fflush(stdout);
	child = fork();
	if (child)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < control->threads; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, writer, (void *)(intptr_t)i))
			abort();
	}
	for (;;)
		pause();
}

/* ---- its memory ------------------------------------------------------------------------------ */

static int temporary_file(void)
{
	char name[] = "/tmp/pgscan-track-XXXXXX";
	int fd = mkstemp(name);

	assert_true(fd >= 0);
	unlink(name);
	assert_int_equal(posix_fallocate(fd, 0, (off_t)(PAGES * page_size)), 0);
	return fd;
}

static void area_map(enum kind kind)
{
	size_t size = PAGES * page_size;
	int flags = MAP_PRIVATE | MAP_ANONYMOUS, fd = -1;
	char *hole =
		mmap(NULL, size + 2 * HUGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(hole != MAP_FAILED);
	hole = (char *)(((uintptr_t)hole + HUGE_BYTES) & ~(HUGE_BYTES - 1));
	if (kind == SHARED)
		flags = MAP_SHARED | MAP_ANONYMOUS;
	if (kind == FILE_PRIVATE) {
		flags = MAP_PRIVATE;
		fd = temporary_file();
	}
	area = mmap(hole, size, PROT_READ | PROT_WRITE, flags | MAP_FIXED, fd, 0);
	assert_true(area == hole);
	if (fd >= 0)
		close(fd);
	(void)madvise(area, size, kind == THP ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	area_kind = kind;
	for (size_t i = 0; kind == THP && i < PAGES; i++)
		area[i * page_size] = 1;
	memset(control, 0, offsetof(struct control, entries));
	memset(control->holds, kind == THP, sizeof(control->holds));
}

static void area_unmap(void)
{
	munmap(area, PAGES * page_size);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* ---- the tracker ----------------------------------------------------------------------------- */

struct tracker {
	struct pgs_ctx *ctx;
	struct pgs_kmod *kmod;
	struct pgs_range range;
	struct pgs_track_opts opts;
	struct pgs_track *track;
	uint8_t seen[PAGES];
};

static int see_written(void *arg, const struct pgs_vma *vma, uint64_t start, uint64_t end)
{
	struct tracker *t = arg;

	(void)vma;
	assert_true(start >= t->range.start && end <= t->range.end && start < end);
	for (; start < end; start += page_size) {
		uint8_t *seen = &t->seen[(start - t->range.start) / page_size];

		assert_int_equal(*seen, 0);
		*seen = 1;
	}
	return 0;
}

static int see_mapping(void *arg, const struct pgs_track_vma *tv)
{
	(void)arg;
	assert_int_equal(tv->untracked[PGS_UNTRACKED_NEW], 0);
	return 0;
}

static uint64_t take_sample(struct tracker *t)
{
	const struct pgs_track_sink sink = {see_written, see_mapping, t};
	uint64_t time_ns;

	memset(t->seen, 0, sizeof(t->seen));
	assert_int_equal(pgs_track_sample(t->track, &sink, &time_ns), 0);
	return time_ns;
}

static enum pgs_track_method method(void)
{
	const char *name = getenv("TRACK_METHOD");
	enum pgs_track_method m = PGS_TRACK_UFFD;

	while (name && m < PGS_TRACK_METHODS && strcmp(name, pgs_track_method_name(m)))
		m++;
	return m;
}

static bool tracker_open(struct tracker *t)
{
	int r;

	memset(t, 0, sizeof(*t));
	t->range = (struct pgs_range){(uintptr_t)area, (uintptr_t)area + PAGES * page_size};
	t->opts = (struct pgs_track_opts){.method = method(), .ranges = &t->range, .nr_ranges = 1};
	assert_int_equal(pgs_ctx_open(NULL, &t->ctx), 0);
	if (method() == PGS_TRACK_MODULE) {
		assert_int_equal(pgs_kmod_open(t->ctx, &t->kmod), 0);
		t->opts.kmod = t->kmod;
	}
	r = pgs_track_open(t->ctx, child, &t->opts, &t->track);
	if (r != -EOPNOTSUPP && r != -EPERM)
		assert_int_equal(r, 0);
	return !r;
}

static void tracker_close(struct tracker *t)
{
	pgs_track_close(t->track);
	pgs_kmod_close(t->kmod);
	pgs_ctx_close(t->ctx);
}

static unsigned int rounds(void)
{
	const char *text = getenv("TRACK_ROUNDS");

	return text ? (unsigned int)strtoul(text, NULL, 10) : 300;
}

/* ---- the tests ------------------------------------------------------------------------------- */

/* Soft-dirty has one bit for a huge page: its pages are written together. */
static unsigned int pages_together(void)
{
	return method() != PGS_TRACK_UFFD && area_kind == THP ? HUGE_BYTES / page_size : 1;
}

static bool is_logged(unsigned int page)
{
	unsigned int nr = pages_together(), first = page - page % nr;

	for (unsigned int i = first; i < first + nr; i++)
		if (control->log[i])
			return true;
	return false;
}

static void check_round(const struct tracker *t, unsigned int round)
{
	for (unsigned int i = 0; i < PAGES; i++) {
		if (control->log[i] & MUST && !t->seen[i])
			fail_msg("round %u: page %u was missed", round, i);
		if (t->seen[i] && !is_logged(i))
			fail_msg("round %u: page %u was invented", round, i);
	}
}

static void run_marks(enum kind kind, int threads, bool drops)
{
	struct tracker t;

	area_map(kind);
	control->threads = threads;
	control->drops = drops;
	child_start(writer_in_rounds);
	if (!tracker_open(&t)) {
		area_unmap();
		tracker_close(&t);
		skip();
		return;
	}
	for (unsigned int round = 1; round <= rounds(); round++) {
		memset(control->log, 0, sizeof(control->log));
		memcpy(control->held, control->holds, sizeof(control->held));
		atomic_store(&control->done, 0);
		atomic_store(&control->round, (int)round);
		futex_wake(&control->round);
		for (int done; (done = atomic_load(&control->done)) < threads;)
			futex_wait(&control->done, done);
		take_sample(&t);
		check_round(&t, round);
	}
	tracker_close(&t);
	area_unmap();
}

/* Soft-dirty does not know of pages that were dropped. */
static bool knows_drops(void)
{
	return method() == PGS_TRACK_UFFD;
}

static void test_marks(void **state)
{
	static const int threads[] = {1, 2, 8};

	(void)state;
	for (enum kind kind = ANON; kind < KINDS; kind++)
		for (size_t i = 0; i < 3; i++) {
			print_message("# %s, %d threads\n", kind_names[kind], threads[i]);
			run_marks(kind, threads[i], knows_drops());
		}
}

struct interval {
	uint64_t begin_ns, end_ns; /* of the sample at its end */
	uint8_t *seen;
};

static void explain(const struct interval *sample, unsigned int page)
{
	unsigned int nr = pages_together(), first = page - page % nr;

	for (unsigned int i = first; i < first + nr; i++)
		sample->seen[i] |= 2;
}

/* Each write must be in its sample, and explains the page in those that may have seen it. */
static void check_writes(const struct interval *samples, unsigned int nr, int thread)
{
	unsigned int s = 1;

	for (unsigned int i = 0; i < control->written[thread]; i++) {
		const struct entry *e = &control->entries[thread][i];

		while (s < nr && samples[s].end_ns < e->before_ns)
			s++;
		/* Between the end of the sample before and the beginning of this one. */
		if (s < nr && e->before_ns > samples[s - 1].end_ns &&
		    e->after_ns < samples[s].begin_ns && !samples[s].seen[e->page])
			fail_msg("sample %u: write %u of thread %d to page %u was missed", s, i,
				 thread, e->page);
		/* It explains the page in all samples that it may have come before. */
		for (unsigned int k = s > 1 ? s - 1 : 1;
		     k < nr && samples[k - 1].begin_ns <= e->after_ns; k++)
			if (e->before_ns <= samples[k].end_ns)
				explain(&samples[k], e->page);
	}
}

static void run_free(enum kind kind, int threads)
{
	unsigned int nr = rounds();
	struct interval *samples = calloc(nr + 1, sizeof(*samples));
	struct tracker t;

	area_map(kind);
	control->threads = threads;
	child_start(writer_free);
	if (!tracker_open(&t)) {
		area_unmap();
		tracker_close(&t);
		free(samples);
		skip();
		return;
	}
	samples[0].begin_ns = samples[0].end_ns = now_ns();
	atomic_store(&control->round, 1);
	futex_wake(&control->round);
	for (unsigned int i = 1; i <= nr; i++) {
		samples[i].begin_ns = take_sample(&t);
		samples[i].end_ns = now_ns();
		samples[i].seen = malloc(PAGES);
		memcpy(samples[i].seen, t.seen, PAGES);
	}
	control->stop = true;
	for (int done; (done = atomic_load(&control->done)) < threads;)
		futex_wait(&control->done, done);
	for (int i = 0; i < threads; i++)
		check_writes(samples, nr + 1, i);
	for (unsigned int i = 1; i <= nr; i++) {
		for (unsigned int page = 0; page < PAGES; page++)
			if (samples[i].seen[page] == 1)
				fail_msg("sample %u: page %u was invented", i, page);
		free(samples[i].seen);
	}
	free(samples);
	tracker_close(&t);
	area_unmap();
}

static void test_free_writers(void **state)
{
	(void)state;
	if (method() == PGS_TRACK_SOFT_DIRTY) /* not atomic, as it says */
		skip();
	for (enum kind kind = ANON; kind < KINDS; kind++) {
		print_message("# %s, free\n", kind_names[kind]);
		run_free(kind, 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_free_writers),
	};

	page_size = (size_t)sysconf(_SC_PAGESIZE);
	control = mmap(NULL, sizeof(*control), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (control == MAP_FAILED || method() == PGS_TRACK_METHODS)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
