// SPDX-License-Identifier: GPL-2.0-only
/*
 * lookup KIND WRITTEN SWAPPED PAGES ROUNDS READER... - what it costs to read the page map of an
 * area of another process, by several readers in turn, ROUNDS times. Prints a line: how many of the
 * pages are present, swapped and none, then each reader's median in nanoseconds a page.
 *
 * KIND is private, shared, or shuffled: shared, its pages in swap in an order that is not that of
 * their addresses, so that no two neighbours lie in neighbouring slots. WRITTEN of 100 pages are
 * written, SWAPPED of 100 of those are in swap. A READER is NAME:BATCH, so many entries a read:
 *
 *	plain	bare reads of pagemap, that look at nothing: the least there is without slots
 *	count	what dump --by=vma does, with the module; kcore-count: with kernel memory instead
 *	words	what dump --format=raw does, but for the writing; kcore-words
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "scan.h"

#define MAX_READERS 16
#define MAX_ROUNDS  101
#define PRESENT	    (UINT64_C(1) << 63)

struct area {
	char *addr;
	size_t pages, written, swapped;
	bool shared, shuffled;
	pid_t pid;   /* whose it is */
	int pagemap; /* of that process */
};

struct reader {
	char name[16];
	uint32_t batch;
	uint64_t ns[MAX_ROUNDS];
	struct pgs_tally tally; /* of the last round; plain: none */
};

static size_t page_size;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* ---- the area -------------------------------------------------------------------------------- */

/* A permutation of the first @n numbers in which no two neighbours follow each other for long. */
static size_t *shuffle(size_t n)
{
	size_t *order = malloc(n * sizeof(*order));

	if (!order)
		die("malloc");
	for (size_t i = 0; i < n; i++)
		order[i] = i;
	for (size_t i = n; i > 1; i--) {
		size_t j = (size_t)random() % i, was = order[i - 1];

		order[i - 1] = order[j];
		order[j] = was;
	}
	return order;
}

static void page_out(char *addr, size_t pages)
{
	if (madvise(addr, pages * page_size, MADV_PAGEOUT))
		die("MADV_PAGEOUT");
}

/* Slots are handed out in the order in which pages leave. Reclaim leaves some pages at first. */
static void swap_out(const struct area *area)
{
	size_t n = area->swapped;

	if (area->shuffled) {
		size_t *order = shuffle(n);

		for (size_t i = 0; i < n; i++)
			page_out(area->addr + order[i] * page_size, 1);
		free(order);
	}
	for (int i = 0; n && i < 8; i++)
		page_out(area->addr, n);
}

static void hold_area(const struct area *area, int ready)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < area->written; i++)
		area->addr[i * page_size] = 1;
	swap_out(area);
	if (write(ready, "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static void start_area(struct area *area)
{
	size_t bytes = area->pages * page_size;
	char path[64], byte;
	int ready[2];

	area->addr = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			  MAP_NORESERVE | MAP_ANONYMOUS | (area->shared ? MAP_SHARED : MAP_PRIVATE),
			  -1, 0);
	if (area->addr == MAP_FAILED || pipe(ready))
		die("mmap");
	if (madvise(area->addr, bytes, MADV_NOHUGEPAGE))
		die("MADV_NOHUGEPAGE");
	area->pid = fork();
	if (!area->pid)
		hold_area(area, ready[1]);
	close(ready[1]);
	if (area->pid < 0 || read(ready[0], &byte, 1) != 1)
		die("the area's process");
	munmap(area->addr, bytes);
	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)area->pid);
	area->pagemap = open(path, O_RDONLY | O_CLOEXEC);
	if (area->pagemap < 0)
		die(path);
}

/* ---- the readers ----------------------------------------------------------------------------- */

static void read_plainly(const struct area *area, uint32_t batch)
{
	uint64_t *words = malloc(batch * sizeof(*words));
	size_t first = (uintptr_t)area->addr / page_size, left = area->pages;

	while (words && left) {
		ssize_t got = pread(area->pagemap, words, (left < batch ? left : batch) * 8,
				    (off_t)(first * 8));

		if (got < 8)
			die("pagemap");
		first += (size_t)got / 8;
		left -= (size_t)got / 8;
	}
	free(words);
}

static void scan(struct pgs_scan_env *env, const struct area *area, struct reader *reader)
{
	const struct pgs_range range = {(uintptr_t)area->addr,
					(uintptr_t)area->addr + area->pages * page_size};
	bool counts = strstr(reader->name, "count");
	const struct pgs_scan_opts opts = {.batch = reader->batch,
					   .ranges = &range,
					   .nr_ranges = 1,
					   .marks = counts,
					   .shmem = true,
					   .counts = counts,
					   .words = !counts};
	struct pgs_scan *walk;
	struct pgs_range part;
	struct pgs_piece piece;
	struct pgs_vma vma;
	int r = pgs_scan_open(env, area->pid, &opts, &walk);

	reader->tally = (struct pgs_tally){0};
	while (!r && (r = pgs_scan_next_vma(walk, &vma, &part)) > 0)
		while ((r = pgs_scan_next(walk, &piece)) > 0)
			pgs_piece_count(&piece, env, &reader->tally);
	if (r) {
		fprintf(stderr, "lookup: %s\n", pgs_ctx_error(env->ctx));
		exit(1);
	}
	pgs_scan_close(walk);
}

static uint64_t time_reader(struct pgs_scan_env *env, const struct area *area,
			    struct reader *reader)
{
	struct pgs_kmod *kmod = env->kmod;
	uint64_t began;

	if (!strncmp(reader->name, "kcore", 5))
		env->kmod = NULL;
	began = now_ns();
	if (!strcmp(reader->name, "plain"))
		read_plainly(area, reader->batch);
	else
		scan(env, area, reader);
	began = now_ns() - began;
	env->kmod = kmod;
	return began;
}

/* Readers that tell different things of the same memory are not to be compared. */
static void check_tally(const struct area *area, const struct pgs_tally *tally,
			const struct reader *reader)
{
	const uint64_t *got = reader->tally.counts.state, *want = tally->counts.state;

	if (!strcmp(reader->name, "plain") ||
	    (reader->tally.counts.pages == area->pages && got[PGS_PRESENT] == want[PGS_PRESENT] &&
	     got[PGS_SWAPPED] == want[PGS_SWAPPED]))
		return;
	fprintf(stderr, "lookup: %s finds %llu pages present and %llu swapped, not %llu and %llu\n",
		reader->name, (unsigned long long)got[PGS_PRESENT],
		(unsigned long long)got[PGS_SWAPPED], (unsigned long long)want[PGS_PRESENT],
		(unsigned long long)want[PGS_SWAPPED]);
	exit(1);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void parse_reader(const char *word, struct reader *reader)
{
	if (sscanf(word, "%15[a-z-]:%u", reader->name, &reader->batch) != 2 || !reader->batch) {
		fprintf(stderr, "lookup: bad reader '%s'\n", word);
		exit(2);
	}
}

static void parse_area(char **argv, struct area *area)
{
	area->shared = strcmp(argv[1], "private");
	area->shuffled = !strcmp(argv[1], "shuffled");
	area->pages = strtoul(argv[4], NULL, 10);
	area->written = area->pages * strtoul(argv[2], NULL, 10) / 100;
	area->swapped = area->written * strtoul(argv[3], NULL, 10) / 100;
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void print_results(const struct area *area, struct reader *readers, int nr, int rounds)
{
	const struct pgs_tally *tally = NULL;

	for (int i = 0; i < nr; i++) {
		if (!tally && strcmp(readers[i].name, "plain"))
			tally = &readers[i].tally;
		if (tally)
			check_tally(area, tally, &readers[i]);
	}
	printf("%llu %llu %llu", tally ? (unsigned long long)tally->counts.state[PGS_PRESENT] : 0,
	       tally ? (unsigned long long)tally->counts.state[PGS_SWAPPED] : 0,
	       tally ? (unsigned long long)tally->counts.state[PGS_NONE] : 0);
	for (int i = 0; i < nr; i++) {
		qsort(readers[i].ns, (size_t)rounds, sizeof(readers[i].ns[0]), compare_u64);
		printf(" %.2f", (double)readers[i].ns[rounds / 2] / (double)area->pages);
	}
	printf("\n");
}

static void open_env(struct pgs_scan_env *env)
{
	struct pgs_kmod *kmod = NULL;
	struct pgs_ctx *ctx;
	int r = pgs_ctx_open(NULL, &ctx);

	if (!r)
		r = pgs_kmod_open(ctx, &kmod);
	if (!r)
		r = pgs_scan_env_init(ctx, kmod, env);
	if (r) {
		fprintf(stderr, "lookup: %s\n", pgs_ctx_error(ctx));
		exit(1);
	}
}

int main(int argc, char **argv)
{
	static struct reader readers[MAX_READERS];
	int rounds = argc > 6 ? atoi(argv[5]) : 0, nr = argc - 6;
	struct pgs_scan_env env;
	struct area area = {0};

	if (rounds < 1 || rounds > MAX_ROUNDS || nr > MAX_READERS) {
		fprintf(stderr, "usage: lookup KIND WRITTEN SWAPPED PAGES ROUNDS READER...\n");
		return 2;
	}
	page_size = (size_t)sysconf(_SC_PAGESIZE);
	parse_area(argv, &area);
	for (int i = 0; i < nr; i++)
		parse_reader(argv[6 + i], &readers[i]);
	start_area(&area); /* and its page map, before the library gives up our capabilities */
	open_env(&env);
	for (int round = -1; round < rounds; round++) /* the first is not counted */
		for (int i = 0; i < nr; i++)
			readers[i].ns[round < 0 ? 0 : round] =
				time_reader(&env, &area, &readers[i]);
	print_results(&area, readers, nr, rounds);
	kill(area.pid, SIGKILL);
	waitpid(area.pid, NULL, 0);
	return 0;
}
