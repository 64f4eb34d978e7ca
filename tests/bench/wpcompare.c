// SPDX-License-Identifier: GPL-2.0-only
/*
 * wpcompare PAGES ROUNDS: what `pgscan wp --compare` measures, by the same system calls and nothing
 * of pgscan. Prints "METHOD protect_cycles write_cycles", medians; the latter a page.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "uapi/pagemap_scan.h"
#include "uapi/userfaultfd.h"

#define MAX_ROUNDS 1001

static char *map;
static size_t page_size, size;
static int uffd, pagemap;

static uint64_t cycles(void)
{
#ifdef __x86_64__
	uint32_t low, high;

	__asm__ volatile("lfence; rdtsc; lfence" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
#else
	uint64_t ticks;

	__asm__ volatile("isb; mrs %0, cntvct_el0; isb" : "=r"(ticks) : : "memory");
	return ticks;
#endif
}

static void check(int r, const char *what)
{
	if (r >= 0)
		return;
	perror(what);
	exit(1);
}

static void write_all(void)
{
	for (size_t i = 0; i < size; i += page_size)
		*(volatile char *)(map + i) = 1;
}

static void by_writeprotect(void)
{
	struct uffdio_writeprotect wp = {
		.range = {.start = (uintptr_t)map, .len = size},
		.mode = UFFDIO_WRITEPROTECT_MODE_WP,
	};

	check(ioctl(uffd, UFFDIO_WRITEPROTECT, &wp), "UFFDIO_WRITEPROTECT");
}

static void by_scan(void)
{
	struct page_region regions[64];
	struct pm_scan_arg arg = {
		.size = sizeof(arg),
		.flags = PM_SCAN_WP_MATCHING | PM_SCAN_CHECK_WPASYNC,
		.start = (uintptr_t)map,
		.end = (uintptr_t)map + size,
		.vec = (uintptr_t)regions,
		.vec_len = 64,
		.category_mask = PAGE_IS_WRITTEN,
		.return_mask = PAGE_IS_WRITTEN,
	};

	check(ioctl(pagemap, PAGEMAP_SCAN, &arg), "PAGEMAP_SCAN");
	if (arg.walk_end != arg.end)
		check(-1, "PAGEMAP_SCAN stopped early");
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t median(uint64_t *values, int n)
{
	qsort(values, (size_t)n, sizeof(*values), compare_u64);
	return values[n / 2];
}

static void prepare(void)
{
	struct uffdio_api api = {
		.api = UFFD_API,
		.features = UFFD_FEATURE_WP_ASYNC | UFFD_FEATURE_WP_UNPOPULATED,
	};

	uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	check(uffd, "userfaultfd");
	check(ioctl(uffd, UFFDIO_API, &api), "UFFDIO_API");
	pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	check(pagemap, "/proc/self/pagemap");
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	check(map == MAP_FAILED ? -1 : 0, "mmap");
	madvise(map, size, MADV_NOHUGEPAGE);
	write_all();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*protect)(void);
	} ways[] = {{"UFFDIO_WRITEPROTECT", by_writeprotect}, {"PAGEMAP_SCAN", by_scan}};
	static uint64_t protects[2][MAX_ROUNDS], writes[2][MAX_ROUNDS];
	int rounds = argc == 3 ? atoi(argv[2]) : 0;

	if (rounds < 1 || rounds > MAX_ROUNDS)
		return 2;
	page_size = (size_t)sysconf(_SC_PAGESIZE);
	size = strtoul(argv[1], NULL, 10) * page_size;
	prepare();
	for (int round = -1; round < rounds; round++)
		for (int way = 0; way < 2; way++) {
			struct uffdio_register reg = {
				.range = {.start = (uintptr_t)map, .len = size},
				.mode = UFFDIO_REGISTER_MODE_WP,
			};
			uint64_t began, protected, written;

			check(ioctl(uffd, UFFDIO_REGISTER, &reg), "UFFDIO_REGISTER");
			write_all();
			began = cycles();
			ways[way].protect();
			protected = cycles();
			write_all();
			written = cycles();
			check(ioctl(uffd, UFFDIO_UNREGISTER, &reg.range), "UFFDIO_UNREGISTER");
			if (round < 0)
				continue;
			protects[way][round] = protected - began;
			writes[way][round] = written - protected;
		}
	for (int way = 0; way < 2; way++)
		printf("%s %llu %.1f\n", ways[way].name,
		       (unsigned long long)median(protects[way], rounds),
		       (double)median(writes[way], rounds) / ((double)size / (double)page_size));
	return 0;
}
