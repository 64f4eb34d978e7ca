// SPDX-License-Identifier: GPL-2.0-only
/* REPORTED against /proc/buddyinfo, TAGS against what was written and synced. */
#include "kmodtest.h"

static size_t get_zones(struct pgscan_zone *zones, size_t max)
{
	struct pgscan_reported arg = {
		.size = sizeof(arg),
		.vec = (uintptr_t)zones,
		.vec_len = 1,
		.zone_size = sizeof(*zones),
	};
	size_t nr = 0;
	int ret;

	/* One at a time, to use the cursor. */
	while ((ret = ioctl(dev_fd, PGSCAN_IOC_REPORTED, &arg)) == 1) {
		CHECK(nr < max);
		arg.vec = (uintptr_t)&zones[++nr];
	}
	CHECK_EQ(ret, 0);
	return nr;
}

/* The blocks of one order in /proc/buddyinfo, or -1. */
static long buddyinfo(const struct pgscan_zone *zone, unsigned int order)
{
	char line[512], name[32], *at;
	FILE *f = fopen("/proc/buddyinfo", "re");
	unsigned int node, i;
	long blocks = -1;
	int skip;

	CHECK(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "Node %u, zone %31s%n", &node, name, &skip) != 2 ||
		    node != zone->node || strcmp(name, zone->name))
			continue;
		at = line + skip;
		for (i = 0; i <= order; i++)
			blocks = strtol(at, &at, 10);
	}
	fclose(f);
	return blocks;
}

/*
 * Free lists move all the time, so small orders are compared in sum, and with some slack: in
 * pages, 4 MiB or 2 %, whichever is more. A wrong count is off by much more than that.
 */
static void test_reported(void)
{
	static struct pgscan_zone zones[64];
	size_t nr = get_zones(zones, ARRAY_SIZE(zones)), i;
	unsigned int order;

	CHECK(nr >= 1); /* a small machine without ZONE_DMA has no more */
	for (i = 0; i < nr; i++) {
		uint64_t ours = 0, theirs = 0, slack;

		CHECK(zones[i].name[0]);
		CHECK(zones[i].present_pages > 0 &&
		      zones[i].present_pages <= zones[i].spanned_pages);
		for (order = 0; order < 11; order++) {
			long blocks = buddyinfo(&zones[i], order);

			CHECK(blocks >= 0);
			ours += zones[i].free[order] << order;
			theirs += (uint64_t)blocks << order;
			CHECK(zones[i].reported[order] <= zones[i].free[order]);
		}
		slack = theirs / 50 > 1024 ? theirs / 50 : 1024;
		printf("node %u %s: %llu free pages, buddyinfo %llu, kernel %llu\n", zones[i].node,
		       zones[i].name, (unsigned long long)ours, (unsigned long long)theirs,
		       (unsigned long long)zones[i].free_pages);
		CHECK(ours + slack >= theirs && theirs + slack >= ours);
	}
}

/* The reported pages of all zones, for a test that watches them grow. */
static void test_print_reported(void)
{
	static struct pgscan_zone zones[64];
	size_t nr = get_zones(zones, ARRAY_SIZE(zones)), i;
	unsigned long long pages = 0;
	unsigned int order;

	for (i = 0; i < nr; i++) {
		for (order = 0; order < PGSCAN_MAX_ORDERS; order++)
			pages += zones[i].reported[order] << order;
	}
	printf("%llu\n", pages);
}

static struct pgscan_tags get_tags(const char *addr, size_t pages)
{
	struct pgscan_tags arg = {
		.size = sizeof(arg),
		.pagemap_fd = self_fd,
		.start = (uintptr_t)addr,
		.end = (uintptr_t)addr + pages * PAGE,
	};

	CHECK_EQ(ioctl(dev_fd, PGSCAN_IOC_TAGS, &arg), 0);
	CHECK_EQ(arg.start, (uintptr_t)addr);
	CHECK_EQ(arg.walk_end, arg.end);
	return arg;
}

/* A file on the root file system, ext4: dirty when written, clean when synced. */
static void test_tags(void)
{
	const size_t pages = 512;
	int fd = open("/root/kmodtest-tags", O_CREAT | O_TRUNC | O_RDWR, 0600);
	struct pgscan_tags tags;
	char *addr;

	CHECK(fd >= 0);
	CHECK_EQ(ftruncate(fd, pages * PAGE), 0);
	addr = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(addr != MAP_FAILED);
	write_pages(addr, 0, pages, 1);
	tags = get_tags(addr, pages);
	CHECK_EQ(tags.cached_pages, pages);
	CHECK(tags.dirty_pages > 0);
	CHECK_EQ(tags.mapping_flags, 0);

	CHECK_EQ(fsync(fd), 0);
	tags = get_tags(addr, pages);
	CHECK_EQ(tags.cached_pages, pages);
	CHECK_EQ(tags.dirty_pages, 0);
	CHECK_EQ(tags.writeback_pages, 0);

	/* Written again: the fault that makes a page writable tags it. A part sees its part. */
	write_pages(addr, 0, 256, 2);
	CHECK_EQ(get_tags(addr, pages).dirty_pages, 256);
	CHECK_EQ(get_tags(addr + 100 * PAGE, 56).dirty_pages, 56);
	CHECK_EQ(get_tags(addr + 256 * PAGE, 256).dirty_pages, 0);
	CHECK_EQ(fsync(fd), 0);
	CHECK_EQ(unlink("/root/kmodtest-tags"), 0);
}

/* Shared memory is never tagged. */
static void test_tags_shmem(void)
{
	int fd = memfd_create("tags", MFD_CLOEXEC);
	struct pgscan_tags tags;
	char *addr;

	CHECK_EQ(ftruncate(fd, 16 * PAGE), 0);
	addr = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	write_pages(addr, 0, 16, 1);
	tags = get_tags(addr, 16);
	CHECK_EQ(tags.cached_pages, 16);
	CHECK_EQ(tags.dirty_pages, 0);
	CHECK(tags.mapping_flags & PGSCAN_MAPPING_SHMEM);
	CHECK(tags.mapping_flags & PGSCAN_MAPPING_NO_WRITEBACK);
}

static void test_tags_none(void)
{
	char *addr = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct pgscan_tags arg = {
		.size = sizeof(arg),
		.pagemap_fd = self_fd,
		.start = (uintptr_t)addr,
		.end = (uintptr_t)addr + PAGE,
	};

	CHECK_ERRNO(ioctl(dev_fd, PGSCAN_IOC_TAGS, &arg), ENOENT);
}

const struct test zone_tests[] = {
	{"reported", test_reported},   {"print-reported", test_print_reported},
	{"tags", test_tags},	       {"tags-shmem", test_tags_shmem},
	{"tags-none", test_tags_none}, {},
};
