// SPDX-License-Identifier: GPL-2.0-only
/*
 * wpsample PAGES PERCENT ROUNDS: a child writes so many of its pages, anywhere, and they are read
 * and protected again: by turns by one sample of the tracker, and by one bare PAGEMAP_SCAN with
 * room for all. Prints "sample_us bare_us pages", medians; pages: how many both found.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "track.h"
#include "uapi/pagemap_scan.h"

#define MAX_ROUNDS 1001

static atomic_int *turn; /* odd: the child's */
static char *area;
static size_t page_size, pages, each;
static struct page_region *regions;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000u + (uint64_t)ts.tv_nsec / 1000u;
}

static void pass_turn(void)
{
	int now = atomic_fetch_add(turn, 1) + 1;

	syscall(SYS_futex, turn, FUTEX_WAKE, 1, NULL, NULL, 0);
	while (atomic_load(turn) == now)
		syscall(SYS_futex, turn, FUTEX_WAIT, now, NULL, NULL, 0);
}

static void child_main(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (atomic_load(turn) == 0)
		syscall(SYS_futex, turn, FUTEX_WAIT, 0, NULL, NULL, 0);
	for (;;) {
		for (size_t i = 0; i < each; i++)
			area[(size_t)random() % pages * page_size]++;
		pass_turn();
	}
}

static int count(void *arg, const struct pgs_vma *vma, uint64_t start, uint64_t end)
{
	(void)vma;
	*(uint64_t *)arg += (end - start) / page_size;
	return 0;
}

static int ignore(void *arg, const struct pgs_track_vma *tv)
{
	(void)arg, (void)tv;
	return 0;
}

static uint64_t sample(struct pgs_track *track, uint64_t *found)
{
	const struct pgs_track_sink sink = {count, ignore, found};
	uint64_t began = now_us(), time_ns;

	if (pgs_track_sample(track, &sink, &time_ns))
		die("sample");
	return now_us() - began;
}

static uint64_t bare(int pagemap, uint64_t *found)
{
	struct pm_scan_arg arg = {
		.size = sizeof(arg),
		.flags = PM_SCAN_WP_MATCHING | PM_SCAN_CHECK_WPASYNC,
		.start = (uintptr_t)area,
		.end = (uintptr_t)area + pages * page_size,
		.vec = (uintptr_t)regions,
		.vec_len = pages,
		.category_mask = PAGE_IS_WRITTEN,
		.return_mask = PAGE_IS_WRITTEN,
	};
	uint64_t began = now_us(), took;
	int n = ioctl(pagemap, PAGEMAP_SCAN, &arg);

	if (n < 0)
		die("PAGEMAP_SCAN");
	took = now_us() - began;
	for (int i = 0; i < n; i++)
		*found += (regions[i].end - regions[i].start) / page_size;
	return took;
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	static uint64_t us[2][MAX_ROUNDS];
	int rounds = argc == 4 ? atoi(argv[3]) : 0, pagemap;
	struct pgs_range range;
	struct pgs_track_opts opts = {.method = PGS_TRACK_UFFD, .ranges = &range, .nr_ranges = 1};
	uint64_t found[2] = {0};
	struct pgs_track *track;
	struct pgs_ctx *ctx;
	char path[64];
	pid_t child;

	if (rounds < 1 || rounds > MAX_ROUNDS)
		return 2;
	page_size = (size_t)sysconf(_SC_PAGESIZE);
	pages = strtoul(argv[1], NULL, 10);
	each = pages * strtoul(argv[2], NULL, 10) / 100;
	turn = mmap(NULL, page_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	regions = malloc(pages * sizeof(*regions));
	area = mmap(NULL, pages * page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	if (turn == MAP_FAILED || area == MAP_FAILED || !regions)
		die("mmap");
	madvise(area, pages * page_size, MADV_NOHUGEPAGE);
	child = fork();
	if (!child) {
		for (size_t i = 0; i < pages; i++)
			area[i * page_size] = 1;
		child_main();
	}
	pass_turn(); /* all pages are there once the first turn is over */
	/* Before the library gives up our capabilities. */
	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)child);
	pagemap = open(path, O_RDONLY | O_CLOEXEC);
	range = (struct pgs_range){(uintptr_t)area, (uintptr_t)area + pages * page_size};
	if (pgs_ctx_open(NULL, &ctx) || pgs_track_open(ctx, child, &opts, &track)) {
		fprintf(stderr, "wpsample: %s\n", pgs_ctx_error(ctx));
		return 1;
	}
	for (int i = 0; i < 2 * rounds; i++) {
		pass_turn();
		us[i % 2][i / 2] = i % 2 ? bare(pagemap, &found[1]) : sample(track, &found[0]);
	}
	qsort(us[0], (size_t)rounds, sizeof(us[0][0]), compare_u64);
	qsort(us[1], (size_t)rounds, sizeof(us[1][0]), compare_u64);
	printf("%llu %llu %llu\n", (unsigned long long)us[0][rounds / 2],
	       (unsigned long long)us[1][rounds / 2],
	       (unsigned long long)(found[0] + found[1]) / (2 * (unsigned int)rounds));
	pgs_track_close(track);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return 0;
}
