// SPDX-License-Identifier: GPL-2.0-only
/*
 * offers: what this kernel offers, found by using it, one "FEATURE yes|no" a line. Tests hold it
 * against what is known of the kernel they run on, and pgscan's own probes against it.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "uapi/pagemap_scan.h"
#include "uapi/userfaultfd.h"

#define PM_SOFT_DIRTY (1ull << 55)

static bool is_soft_dirty(int pagemap, const volatile char *page)
{
	uint64_t entry = 0;
	off_t at = (off_t)((uintptr_t)page / (size_t)sysconf(_SC_PAGESIZE) * sizeof(entry));

	return pread(pagemap, &entry, sizeof(entry), at) == sizeof(entry) &&
	       (entry & PM_SOFT_DIRTY);
}

/* Writing to clear_refs works on every kernel; the bit changes only where it is built in. */
static bool has_soft_dirty(int pagemap, volatile char *page)
{
	int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
	bool cleared, set;

	page[0] = 1;
	if (fd < 0 || write(fd, "4", 1) != 1)
		return false;
	close(fd);
	cleared = !is_soft_dirty(pagemap, page);
	page[0] = 2;
	set = is_soft_dirty(pagemap, page);
	return cleared && set;
}

static bool has_pagemap_scan(int pagemap, volatile char *page)
{
	struct page_region region;
	struct pm_scan_arg arg = {
		.size = sizeof(arg),
		.start = (uintptr_t)page,
		.end = (uintptr_t)page + (size_t)sysconf(_SC_PAGESIZE),
		.vec = (uintptr_t)&region,
		.vec_len = 1,
		.category_mask = PAGE_IS_PRESENT,
		.return_mask = PAGE_IS_PRESENT,
	};

	page[0] = 1;
	return ioctl(pagemap, PAGEMAP_SCAN, &arg) == 1 && region.categories == PAGE_IS_PRESENT;
}

static bool has_uffd(uint64_t features)
{
	struct uffdio_api api = {.api = UFFD_API, .features = features};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	bool has = fd >= 0 && !ioctl(fd, UFFDIO_API, &api);

	if (fd >= 0)
		close(fd);
	return has;
}

static void say(const char *feature, bool has)
{
	printf("%s %s\n", feature, has ? "yes" : "no");
}

int main(void)
{
	int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	char *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pagemap < 0 || page == MAP_FAILED) {
		perror("offers");
		return 1;
	}
	say("soft_dirty", has_soft_dirty(pagemap, page));
	say("pagemap_scan", has_pagemap_scan(pagemap, page));
	say("userfaultfd", has_uffd(0));
	say("uffd_wp_async", has_uffd(UFFD_FEATURE_WP_ASYNC));
	return 0;
}
