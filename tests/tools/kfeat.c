// SPDX-License-Identifier: GPL-2.0-only
/*
 * kfeat - what this kernel can do for this user, found without a line of src/: decides which tests
 * are skipped, and is what `pgscan check` is compared with.
 *   kfeat          "NAME yes|no" for each
 *   kfeat NAME     status 0 yes, 1 no, 2 no such name
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/userfaultfd.h>

/* struct pm_scan_arg of linux/fs.h, 6.7: "fs/proc/task_mmu: implement IOCTL to get and optionally
 * clear info about PTEs". */
struct scan_arg {
	uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
	uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};
struct scan_region {
	uint64_t start, end, categories;
};
#define SCAN_IOCTL   _IOWR('f', 16, struct scan_arg)

#define SCAN_PRESENT (1 << 3)

static uint64_t own_word(const void *addr)
{
	int fd = open("/proc/self/pagemap", O_RDONLY);
	uint64_t word = 0;

	if (fd < 0 ||
	    pread(fd, &word, 8, (off_t)((uintptr_t)addr / (uintptr_t)getpagesize() * 8)) != 8)
		word = 0;
	close(fd);
	return word;
}

static char *own_page(void)
{
	char *p = mmap(NULL, (size_t)getpagesize(), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		exit(3);
	*p = 1;
	return p;
}

static bool scan_category(uint64_t category)
{
	char *page = own_page();
	struct scan_region region;
	struct scan_arg arg = {
		.size = sizeof(arg),
		.start = (uintptr_t)page,
		.end = (uintptr_t)page + (uintptr_t)getpagesize(),
		.vec = (uintptr_t)&region,
		.vec_len = 1,
		.category_mask = category,
		.return_mask = category,
	};
	int fd = open("/proc/self/pagemap", O_RDONLY);
	bool yes = fd >= 0 && ioctl(fd, SCAN_IOCTL, &arg) >= 0;

	close(fd);
	return yes;
}

static bool has_pagemap(void)
{
	return own_word(own_page()) >> 63;
}

static bool has_pfn(void)
{
	return own_word(own_page()) & ((UINT64_C(1) << 55) - 1);
}

static bool has_pagemap_scan(void)
{
	return scan_category(SCAN_PRESENT);
}

/* A new mapping reads as soft-dirty; where the kernel has no such bit it never does. */
static bool has_soft_dirty(void)
{
	return own_word(own_page()) >> 55 & 1;
}

static bool has_exclusive(void)
{
	return own_word(own_page()) >> 56 & 1;
}

static bool has_uffd_wp_async(void)
{
	struct uffdio_api api = {.api = UFFD_API, .features = 1 << 15};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | 1 /* UFFD_USER_MODE_ONLY */);
	bool yes = fd >= 0 && !ioctl(fd, UFFDIO_API, &api);

	close(fd);
	return yes;
}

static bool has_guard(void)
{
	char *page = own_page();

	return !madvise(page, (size_t)getpagesize(), 102 /* MADV_GUARD_INSTALL */);
}

static bool has_thp(void)
{
	size_t size = 2UL << 20;
	char *p = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	p = (char *)(((uintptr_t)p + size - 1) & ~(size - 1));
	*p = 1;
	return !madvise(p, size, MADV_HUGEPAGE) && !madvise(p, size, 25 /* MADV_COLLAPSE */);
}

static bool openable(const char *path)
{
	int fd = open(path, O_RDONLY);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool has_kpageflags(void)
{
	return openable("/proc/kpageflags");
}

static bool has_kpagecgroup(void)
{
	return openable("/proc/kpagecgroup");
}

/* Following a link needs CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN, whoever owns the process. */
static bool has_map_files(void)
{
	char path[64];
	char *p = mmap(NULL, (size_t)getpagesize(), PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	snprintf(path, sizeof(path), "/proc/self/map_files/%lx-%lx", (unsigned long)p,
		 (unsigned long)p + (unsigned long)getpagesize());
	return openable(path);
}

static bool has_ksm(void)
{
	int fd = open("/sys/kernel/mm/ksm/run", O_RDONLY);
	char run = '0';

	if (fd < 0 || read(fd, &run, 1) != 1)
		return false;
	close(fd);
	return run == '1';
}

static const struct {
	const char *name;
	bool (*probe)(void);
} features[] = {
	{"pagemap", has_pagemap},
	{"pfn", has_pfn},
	{"pagemap_scan", has_pagemap_scan},
	{"soft_dirty", has_soft_dirty},
	{"exclusive", has_exclusive},
	{"uffd_wp_async", has_uffd_wp_async},
	{"guard", has_guard},
	{"thp", has_thp},
	{"ksm", has_ksm},
	{"kpageflags", has_kpageflags},
	{"kpagecgroup", has_kpagecgroup},
	{"map_files", has_map_files},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
		if (argc < 2)
			printf("%s %s\n", features[i].name, features[i].probe() ? "yes" : "no");
		else if (!strcmp(argv[1], features[i].name))
			return features[i].probe() ? 0 : 1;
	}
	return argc < 2 ? 0 : 2;
}
