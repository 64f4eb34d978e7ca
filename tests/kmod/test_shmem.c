// SPDX-License-Identifier: GPL-2.0-only
/* SHMEM and EXTENTS: states, slots, and what the swap device holds there. */
#include <linux/userfaultfd.h>
#include <sys/shm.h>
#include <sys/syscall.h>

#include "kmodtest.h"

#ifndef UFFD_FEATURE_WP_HUGETLBFS_SHMEM
#define UFFD_FEATURE_WP_HUGETLBFS_SHMEM (1 << 12)
#endif

#define AREA 1024UL /* pages */

/* Pages i with i % 4 != 3 are written, so that runs break. */
static void write_holed(char *addr, uint64_t seed)
{
	size_t i;

	for (i = 0; i < AREA; i++) {
		if (i % 4 != 3)
			pattern_write((unsigned char *)addr + i * PAGE, PAGE, seed, i);
	}
}

/* Runs must follow each other without gap or overlap, and cover the whole area. */
static void check_cover(const struct runs *runs, const char *addr, size_t pages)
{
	uint64_t next = (uintptr_t)addr;
	size_t i;

	for (i = 0; i < runs->nr; i++) {
		CHECK_EQ(runs->run[i].start, next);
		CHECK(runs->run[i].pages > 0);
		next += runs->run[i].pages * PAGE;
	}
	CHECK_EQ(next, (uintptr_t)addr + pages * PAGE);
}

static void add_pages(struct pgscan_shmem *counts, unsigned int state, uint64_t pages)
{
	counts->none_pages += state == PGSCAN_RUN_NONE ? pages : 0;
	counts->mapped_pages += state == PGSCAN_RUN_MAPPED ? pages : 0;
	counts->swapped_pages += state == PGSCAN_RUN_SWAPPED ? pages : 0;
	counts->cached_pages += state == PGSCAN_RUN_CACHED ? pages : 0;
	counts->poisoned_pages += state == PGSCAN_RUN_POISONED ? pages : 0;
}

static void same_counts(const struct pgscan_shmem *got, const struct pgscan_shmem *want)
{
	CHECK_EQ(got->none_pages, want->none_pages);
	CHECK_EQ(got->mapped_pages, want->mapped_pages);
	CHECK_EQ(got->swapped_pages, want->swapped_pages);
	CHECK_EQ(got->cached_pages, want->cached_pages);
	CHECK_EQ(got->poisoned_pages, want->poisoned_pages);
	CHECK_EQ(got->other_pages, 0);
}

/*
 * What is only counted must be what the records of all states add up to; also with records of the
 * mapped pages alone, and then those must be the same ones.
 */
static void check_counts(const struct runs *runs, const char *addr, size_t pages)
{
	struct pgscan_shmem count = {
		.size = sizeof(count),
		.pagemap_fd = self_fd,
		.start = (uintptr_t)addr,
		.end = (uintptr_t)addr + pages * PAGE,
	};
	struct pgscan_shmem want = {0};
	struct runs mapped;
	size_t i, k = 0;

	for (i = 0; i < runs->nr; i++)
		add_pages(&want, runs->run[i].state, runs->run[i].pages);
	CHECK_EQ(ioctl(dev_fd, PGSCAN_IOC_SHMEM, &count), 0);
	CHECK_EQ(count.walk_end, count.end);
	same_counts(&count, &want);

	get_shmem_states(self_fd, addr, pages * PAGE, 7, 1 << PGSCAN_RUN_MAPPED, &mapped);
	same_counts(&mapped.total, &want);
	for (i = 0; i < runs->nr; i++) {
		if (runs->run[i].state != PGSCAN_RUN_MAPPED)
			continue;
		CHECK(k < mapped.nr);
		CHECK_EQ(mapped.run[k].start, runs->run[i].start);
		CHECK_EQ(mapped.run[k].pages, runs->run[i].pages);
		k++;
	}
	CHECK_EQ(k, mapped.nr);
	free_runs(&mapped);
}

/* Without MAPPED, pagemap must be empty, but for bit 55 exactly where the run says so. */
static void check_pagemap(const struct runs *runs)
{
	size_t i, page;

	for (i = 0; i < runs->nr; i++) {
		const struct pgscan_run *run = &runs->run[i];
		uint64_t empty = run->flags & PGSCAN_RUN_F_SOFT_DIRTY ? 1ULL << 55 : 0;

		for (page = 0; page < run->pages; page++) {
			uint64_t word =
				pagemap_word(self_fd, (char *)(uintptr_t)run->start + page * PAGE);

			if (run->state == PGSCAN_RUN_MAPPED)
				CHECK(word >> 62);
			else
				CHECK_EQ(word, empty);
		}
	}
}

/* One shared area, three quarters written and pushed out: the whole truth about it. */
static void check_area(char *addr, uint64_t seed)
{
	struct runs runs, small;
	size_t swapped;

	write_holed(addr, seed);
	page_out(addr, AREA);

	get_shmem(self_fd, addr, AREA * PAGE, 4096, &runs);
	check_cover(&runs, addr, AREA);
	check_counts(&runs, addr, AREA);
	check_pagemap(&runs);
	swapped = check_slots(&runs, (uintptr_t)addr, seed);
	CHECK_EQ(swapped, runs.total.swapped_pages);
	CHECK_EQ(swapped, smaps_pages(addr, "Swap"));
	CHECK(swapped > AREA / 2);
	CHECK_EQ(runs.total.none_pages, AREA / 4);
	CHECK_EQ(runs.total.none_pages + swapped + runs.total.cached_pages +
			 runs.total.mapped_pages,
		 AREA);

	/* Three records at a time must tell the same. */
	get_shmem(self_fd, addr, AREA * PAGE, 3, &small);
	CHECK_EQ(small.total.swapped_pages, swapped);
	check_cover(&small, addr, AREA);
	CHECK_EQ(check_slots(&small, (uintptr_t)addr, seed), swapped);
	free_runs(&small);
	free_runs(&runs);

	/* Read half of them in again: those are mapped now, and the others as they were. */
	for (size_t i = 0; i < AREA / 2; i++)
		CHECK(i % 4 == 3 || pattern_is((unsigned char *)addr + i * PAGE, PAGE, seed, i));
	get_shmem(self_fd, addr, AREA * PAGE, 4096, &runs);
	check_cover(&runs, addr, AREA);
	check_counts(&runs, addr, AREA);
	check_pagemap(&runs);
	CHECK(runs.total.mapped_pages >= AREA / 2 / 4 * 3);
	CHECK_EQ(check_slots(&runs, (uintptr_t)addr, seed), runs.total.swapped_pages);
	CHECK_EQ(runs.total.swapped_pages, smaps_pages(addr, "Swap"));
	free_runs(&runs);
}

static char *map_fd(int fd, int flags)
{
	return map_pages(fd, AREA, flags);
}

static void test_memfd(void)
{
	check_area(map_fd(new_memfd(AREA), MAP_SHARED), 1);
}

static void test_shared_anon(void)
{
	check_area(map_fd(-1, MAP_SHARED | MAP_ANONYMOUS), 2);
}

static void test_sysv(void)
{
	int id = shmget(IPC_PRIVATE, AREA * PAGE, IPC_CREAT | 0600);
	char *addr;

	CHECK(id >= 0);
	addr = shmat(id, NULL, 0);
	CHECK(addr != (char *)-1);
	CHECK_EQ(shmctl(id, IPC_RMID, NULL), 0);
	check_area(addr, 3);
}

static void test_tmpfs(void)
{
	int fd = open("/dev/shm", O_TMPFILE | O_RDWR, 0600);

	CHECK(fd >= 0);
	CHECK_EQ(ftruncate(fd, AREA * PAGE), 0);
	check_area(map_fd(fd, MAP_SHARED), 4);
}

/* On a tmpfs mounted huge=always at /mnt/huge: order-9 entries where the kernel has them. */
static void test_huge(void)
{
	int fd = open("/mnt/huge/file", O_CREAT | O_RDWR, 0600);
	const size_t pages = 2048;
	struct runs runs, extents;
	char *addr;

	CHECK(fd >= 0);
	CHECK_EQ(ftruncate(fd, pages * PAGE), 0);
	addr = mmap((void *)0x7e0000000000, pages * PAGE, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_FIXED, fd, 0);
	CHECK(addr != MAP_FAILED);
	write_pages(addr, 0, pages, 5);
	CHECK(smaps_pages(addr, "ShmemPmdMapped") > 0);
	page_out(addr, pages);

	get_shmem(self_fd, addr, pages * PAGE, 4096, &runs);
	check_cover(&runs, addr, pages);
	check_counts(&runs, addr, pages);
	CHECK(runs.total.swapped_pages > pages / 2);
	CHECK_EQ(check_slots(&runs, (uintptr_t)addr, 5), runs.total.swapped_pages);
	/* Not from the start of a large entry either. */
	free_runs(&runs);
	get_shmem(self_fd, addr + 300 * PAGE, 100 * PAGE, 4096, &runs);
	check_cover(&runs, addr + 300 * PAGE, 100);
	check_counts(&runs, addr + 300 * PAGE, 100);
	CHECK_EQ(check_slots(&runs, (uintptr_t)addr, 5), runs.total.swapped_pages);
	get_extents(fd, NULL, 4096, &extents);
	CHECK_EQ(check_slots(&extents, 0, 5), extents.extents_total.swapped_pages);
	printf("%zu runs for %llu pages\n", extents.nr,
	       (unsigned long long)extents.extents_total.swapped_pages);
	/* Part of it in again: what is left of a large entry must still be right. */
	CHECK(pattern_is((unsigned char *)addr + 700 * PAGE, PAGE, 5, 700));
	get_extents(fd, NULL, 4096, &extents);
	CHECK_EQ(check_slots(&extents, 0, 5), extents.extents_total.swapped_pages);
}

/* A private mapping: its copies are its own, the rest is the object's. */
static void test_private(void)
{
	int fd = new_memfd(AREA);
	char *shared = map_fd(fd, MAP_SHARED), *private;
	struct runs runs;

	write_pages(shared, 0, AREA, 6);
	private = map_fd(fd, MAP_PRIVATE);
	write_pages(private, 0, 64, 7);
	page_out(private, AREA);
	CHECK_EQ(munmap(shared, AREA * PAGE), 0);
	page_out(private, AREA);

	get_shmem(self_fd, private, AREA * PAGE, 4096, &runs);
	check_cover(&runs, private, AREA);
	check_counts(&runs, private, AREA);
	check_pagemap(&runs);
	CHECK(runs.run[0].flags & PGSCAN_RUN_F_PRIVATE);
	/* The copies have entries of their own, swapped or not. */
	CHECK_EQ(runs.run[0].state, PGSCAN_RUN_MAPPED);
	CHECK(runs.run[0].pages >= 64);
	CHECK_EQ(check_slots(&runs, (uintptr_t) private, 6), runs.total.swapped_pages);
	CHECK(runs.total.swapped_pages + runs.total.cached_pages > 0);
}

/* fallocate(KEEP_SIZE) past the end: pages there are swapped, and marked. */
static void test_beyond_eof(void)
{
	int fd = new_memfd(AREA);
	char *addr = map_fd(fd, MAP_SHARED);
	struct runs runs;
	size_t i, beyond = 0;

	write_pages(addr, 0, AREA, 8);
	page_out(addr, AREA);
	CHECK_EQ(ftruncate(fd, (AREA - 16) * PAGE), 0);
	CHECK_EQ(fallocate(fd, FALLOC_FL_KEEP_SIZE, (AREA - 16) * PAGE, 8 * PAGE), 0);
	get_shmem(self_fd, addr, AREA * PAGE, 4096, &runs);
	check_cover(&runs, addr, AREA);
	check_counts(&runs, addr, AREA);
	for (i = 0; i < runs.nr; i++) {
		bool past = runs.run[i].start >= (uintptr_t)addr + (AREA - 16) * PAGE;

		CHECK_EQ(!!(runs.run[i].flags & PGSCAN_RUN_F_BEYOND_EOF), past);
		beyond += past ? runs.run[i].pages : 0;
	}
	CHECK_EQ(beyond, 16);
	CHECK_EQ(runs.total.none_pages, 8);
	CHECK_EQ(check_slots(&runs, (uintptr_t)addr, 8), runs.total.swapped_pages);
}

/* Several mappings side by side: no run reaches from one into the next. */
static void test_neighbours(void)
{
	char *addr = map_fd(-1, MAP_PRIVATE | MAP_ANONYMOUS);
	struct runs runs;
	size_t i;

	memset(addr, 1, AREA * PAGE);
	for (i = 0; i < 4; i++)
		CHECK(mmap(addr + (2 + 2 * i) * PAGE, 2 * PAGE, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_FIXED, new_memfd(2), 0) != MAP_FAILED);
	get_shmem(self_fd, addr, AREA * PAGE, 4096, &runs);
	CHECK_EQ(runs.nr, 4);
	for (i = 0; i < 4; i++) {
		CHECK_EQ(runs.run[i].start, (uintptr_t)addr + (2 + 2 * i) * PAGE);
		CHECK_EQ(runs.run[i].pages, 2);
		CHECK_EQ(runs.run[i].state, PGSCAN_RUN_NONE);
	}
	CHECK_EQ(runs.total.other_pages, AREA - 8);
}

/* 16 TiB of reserved shared memory with three pages: at once, in few records. */
static void test_sparse(void)
{
	const size_t size = 16UL << 40;
	int fd = memfd_create("sparse", MFD_CLOEXEC);
	struct runs runs;
	char *addr;

	CHECK_EQ(ftruncate(fd, size), 0);
	addr = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	CHECK(addr != MAP_FAILED);
	addr[5 * PAGE] = addr[size / 2] = addr[size - 1] = 1;
	get_shmem(self_fd, addr, size, 16, &runs);
	CHECK_EQ(runs.nr, 6);
	check_cover(&runs, addr, size / PAGE);
	check_counts(&runs, addr, size / PAGE);
	CHECK_EQ(runs.total.mapped_pages, 3);
}

static void test_counts_only(void)
{
	char *addr = map_fd(new_memfd(AREA), MAP_SHARED);
	struct pgscan_shmem arg = {
		.size = sizeof(arg),
		.pagemap_fd = self_fd,
		.start = (uintptr_t)addr,
		.end = (uintptr_t)addr + AREA * PAGE,
	};
	struct pgscan_run run;

	write_pages(addr, 0, 100, 9);
	CHECK_EQ(ioctl(dev_fd, PGSCAN_IOC_SHMEM, &arg), 0);
	CHECK_EQ(arg.walk_end, arg.end);
	CHECK_EQ(arg.mapped_pages, 100);
	CHECK_EQ(arg.none_pages, AREA - 100);
	/* Only the wanted state is written, and everything is counted. */
	arg.vec = (uintptr_t)&run;
	arg.vec_len = 1;
	arg.want = 1 << PGSCAN_RUN_NONE;
	CHECK_EQ(ioctl(dev_fd, PGSCAN_IOC_SHMEM, &arg), 1);
	CHECK_EQ(run.start, (uintptr_t)addr + 100 * PAGE);
	CHECK_EQ(arg.mapped_pages, 100);
}

/* Have userfaultfd write-protect a quarter of the area before its middle, and one behind. */
static void protect(char *addr)
{
	struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_WP_HUGETLBFS_SHMEM};
	struct uffdio_register reg = {.range = {.start = (uintptr_t)addr, .len = AREA * PAGE},
				      .mode = UFFDIO_REGISTER_MODE_WP};
	struct uffdio_writeprotect wp = {
		.range = {.start = (uintptr_t)addr + AREA / 4 * PAGE, .len = AREA / 2 * PAGE},
		.mode = UFFDIO_WRITEPROTECT_MODE_WP,
	};
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	CHECK(fd >= 0);
	CHECK_EQ(ioctl(fd, UFFDIO_API, &api), 0);
	CHECK_EQ(ioctl(fd, UFFDIO_REGISTER, &reg), 0);
	CHECK_EQ(ioctl(fd, UFFDIO_WRITEPROTECT, &wp), 0);
}

/* All of an area with the markers seen through, in so few records that they all have room. */
static void get_under_markers(const char *addr, struct pgscan_run *vec, size_t vec_len,
			      struct pgscan_shmem *ret_arg, struct runs *ret_runs)
{
	*ret_arg = (struct pgscan_shmem){
		.size = sizeof(*ret_arg),
		.flags = PGSCAN_SHMEM_MARKERS,
		.pagemap_fd = self_fd,
		.start = (uintptr_t)addr,
		.end = (uintptr_t)addr + AREA * PAGE,
		.vec = (uintptr_t)vec,
		.vec_len = vec_len,
	};
	*ret_runs = (struct runs){.run = vec};
	ret_runs->nr = ioctl(dev_fd, PGSCAN_IOC_SHMEM, ret_arg);
	CHECK(ret_runs->nr <= vec_len);
	CHECK_EQ(ret_arg->walk_end, ret_arg->end);
}

/* The word of each page is a marker's where its run says so, and else that of an empty entry. */
static size_t check_markers(const struct runs *runs)
{
	size_t i, page, markers = 0;

	for (i = 0; i < runs->nr; i++) {
		const struct pgscan_run *run = &runs->run[i];
		bool is_marked = run->flags & PGSCAN_RUN_F_UFFD_WP;

		for (page = 0; page < run->pages; page++) {
			char *addr = (char *)(uintptr_t)run->start + page * PAGE;
			uint64_t word = pagemap_word(self_fd, addr);

			CHECK_EQ(word >> 63, 0);
			CHECK_EQ(word >> 62 & 1, is_marked);
			CHECK_EQ(word >> 57 & 1, is_marked);
			CHECK_EQ(word >> 55 & 1, !!(run->flags & PGSCAN_RUN_F_SOFT_DIRTY));
			markers += is_marked;
		}
	}
	return markers;
}

/*
 * The first half is written. Of the second some are protected while empty: those have markers as
 * those have that are protected and in swap.
 */
static void test_markers(void)
{
	char *addr = map_fd(new_memfd(AREA), MAP_SHARED), *moved;
	struct pgscan_run vec[AREA];
	struct pgscan_shmem arg;
	struct runs runs;

	write_pages(addr, 0, AREA / 2, 10);
	protect(addr);
	page_out(addr, AREA);
	get_shmem(self_fd, addr, AREA * PAGE, 4096, &runs);
	CHECK_EQ(runs.total.mapped_pages, AREA / 2);
	CHECK_EQ(runs.total.swapped_pages, AREA / 4);
	free_runs(&runs);

	get_under_markers(addr, vec, ARRAY_SIZE(vec), &arg, &runs);
	check_cover(&runs, addr, AREA);
	CHECK_EQ(check_markers(&runs), AREA / 2);
	CHECK_EQ(arg.marker_pages, AREA / 2);
	CHECK_EQ(arg.mapped_pages, 0);
	CHECK_EQ(arg.swapped_pages, AREA / 2);
	CHECK_EQ(arg.none_pages, AREA / 2);
	CHECK_EQ(check_slots(&runs, (uintptr_t)addr, 10), AREA / 2);
	get_under_markers(addr, NULL, 0, &arg, &runs);
	CHECK_EQ(arg.marker_pages, AREA / 2);

	/* Those that mremap() moves become soft-dirty, or are markers no more. */
	moved = mremap(addr + AREA / 4 * PAGE, AREA / 8 * PAGE, AREA / 8 * PAGE,
		       MREMAP_MAYMOVE | MREMAP_FIXED, addr + AREA * PAGE * 3 / 8);
	CHECK(moved != MAP_FAILED);
	CHECK_EQ(munmap(moved + AREA / 8 * PAGE, AREA / 2 * PAGE), 0);
	get_under_markers(moved, vec, ARRAY_SIZE(vec), &arg, &runs);
	check_markers(&runs);
	CHECK_EQ(arg.swapped_pages, AREA / 8);
}

const struct test shmem_tests[] = {
	{"memfd", test_memfd},
	{"shared-anon", test_shared_anon},
	{"sysv", test_sysv},
	{"tmpfs", test_tmpfs},
	{"huge", test_huge},
	{"private", test_private},
	{"beyond-eof", test_beyond_eof},
	{"neighbours", test_neighbours},
	{"sparse", test_sparse},
	{"counts-only", test_counts_only},
	{"markers", test_markers},
	{},
};
