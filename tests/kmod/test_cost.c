// SPDX-License-Identifier: GPL-2.0-only
/* What SHMEM costs, against the plain read of pagemap of the same pages. */
#include <time.h>

#include "kmodtest.h"

#define AREA   8192UL /* pages: 32 MiB */
#define ROUNDS 20

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static double time_pagemap(const char *addr)
{
	static uint64_t words[4096];
	double start = seconds();
	size_t i;

	for (i = 0; i < AREA; i += ARRAY_SIZE(words))
		CHECK_EQ(pread(self_fd, words, sizeof(words), ((uintptr_t)addr / PAGE + i) * 8),
			 sizeof(words));
	return seconds() - start;
}

static struct pgscan_run vec[1024];

static double time_shmem(const char *addr, size_t vec_len, size_t *ret_runs)
{
	struct pgscan_shmem arg = {
		.size = sizeof(arg),
		.pagemap_fd = self_fd,
		.start = (uintptr_t)addr,
		.end = (uintptr_t)addr + AREA * PAGE,
		.vec = (uintptr_t)vec,
		.vec_len = vec_len,
	};
	double start = seconds();
	int nr;

	*ret_runs = 0;
	do {
		nr = ioctl(dev_fd, PGSCAN_IOC_SHMEM, &arg);
		CHECK(nr >= 0);
		*ret_runs += nr;
		arg.start = arg.walk_end;
	} while (arg.walk_end < arg.end);
	return seconds() - start;
}

/* The best of some rounds, taken in turns: anything slower is the noise of others. */
static void compare(const char *what, const char *addr, double limit)
{
	double pagemap = 1e9, shmem = 1e9, count = 1e9, took;
	size_t nr, none;
	int round;

	for (round = 0; round < ROUNDS; round++) {
		took = time_pagemap(addr);
		pagemap = took < pagemap ? took : pagemap;
		took = time_shmem(addr, ARRAY_SIZE(vec), &nr);
		shmem = took < shmem ? took : shmem;
		took = time_shmem(addr, 0, &none);
		count = took < count ? took : count;
	}
	printf("%s: pagemap %.1f ns a page, SHMEM %.1f (x%.2f), %zu runs, counting %.1f\n", what,
	       pagemap / AREA * 1e9, shmem / AREA * 1e9, shmem / pagemap, nr, count / AREA * 1e9);
	CHECK(shmem / pagemap <= limit);
	CHECK(count / pagemap <= 1.3);
}

static void test_cost(void)
{
	char *addr =
		mmap(NULL, AREA * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	size_t i;

	CHECK(addr != MAP_FAILED);
	compare("never written", addr, 1.0);
	write_pages(addr, 0, AREA, 1);
	compare("in memory", addr, 1.2);
	page_out(addr, AREA);
	compare("in swap, in order", addr, 1.3);

	/* At worst every page is a record of its own, of four times the size of a word. */
	for (i = 0; i < AREA; i += 2)
		CHECK(pattern_is((unsigned char *)addr + i * PAGE, PAGE, 1, i));
	write_pages(addr, 0, AREA / 2, 1);
	page_out(addr, AREA);
	compare("in swap, after changes", addr, 12.0);
}

const struct test cost_tests[] = {
	{"cost", test_cost},
	{},
};
