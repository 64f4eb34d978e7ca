// SPDX-License-Identifier: GPL-2.0-only
/* SCAN: exactly the pages that were written, and clean afterwards. */
#include <linux/capability.h>
#include <linux/kvm.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "kmodtest.h"

#define AREA	   1024UL
#define HUGE	   (2UL << 20)
#define HUGE_PAGES (HUGE / PAGE)

#define SOFT_DIRTY PGSCAN_PAGE_SOFT_DIRTY

static void require_scan(uint64_t feature)
{
	struct pgscan_info info = {.size = sizeof(info)};

	CHECK_EQ(ioctl(dev_fd, PGSCAN_IOC_INFO, &info), 0);
	if (!(info.features & feature))
		exit(77);
}

static char *map_anon(size_t pages)
{
	/* The pages around it are left alone, so that it is a mapping of its own. */
	char *addr = mmap(NULL, (pages + 2) * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(addr != MAP_FAILED);
	addr += PAGE;
	CHECK_EQ(mprotect(addr, pages * PAGE, PROT_READ | PROT_WRITE), 0);
	CHECK_EQ(madvise(addr, pages * PAGE, MADV_NOHUGEPAGE), 0);
	return addr;
}

static struct pgscan_scan scan_arg(const char *addr, size_t pages, uint32_t flags)
{
	static struct pgscan_region vec[4096];

	return (struct pgscan_scan){
		.size = sizeof(struct pgscan_scan),
		.flags = flags,
		.pagemap_fd = self_fd,
		.start = (uintptr_t)addr,
		.end = (uintptr_t)addr + pages * PAGE,
		.vec = (uintptr_t)vec,
		.vec_len = ARRAY_SIZE(vec),
		.category_mask = SOFT_DIRTY,
		.return_mask =
			~0ULL & (PGSCAN_PAGE_FILE | PGSCAN_PAGE_PRESENT | PGSCAN_PAGE_SWAPPED |
				 PGSCAN_PAGE_HUGE | SOFT_DIRTY | PGSCAN_PAGE_VMA_DIRTY |
				 PGSCAN_PAGE_NOT_CLEARED | PGSCAN_PAGE_SPECIAL),
	};
}

static int do_scan(struct pgscan_scan *arg)
{
	int nr = ioctl(dev_fd, PGSCAN_IOC_SCAN, arg);

	CHECK(nr >= 0);
	CHECK_EQ(arg->walk_end, arg->end);
	return nr;
}

/* Mark in `dirty`, one byte a page, what is reported. */
static struct pgscan_scan scan(const char *addr, size_t pages, uint32_t flags, unsigned char *dirty)
{
	struct pgscan_scan arg = scan_arg(addr, pages, flags);
	const struct pgscan_region *vec = (void *)(uintptr_t)arg.vec;
	int nr = do_scan(&arg), i;
	uint64_t at;

	memset(dirty, 0, pages);
	for (i = 0; i < nr; i++) {
		CHECK(vec[i].start >= arg.start && vec[i].end <= arg.end);
		CHECK(!i || vec[i].start >= vec[i - 1].end);
		for (at = vec[i].start; at < vec[i].end; at += PAGE)
			dirty[(at - arg.start) / PAGE] = 1;
	}
	return arg;
}

/* Start to track. The mark of the mapping goes too. */
static void arm(const char *addr, size_t pages)
{
	struct pgscan_scan arg = scan_arg(addr, pages, PGSCAN_SCAN_CLEAR | PGSCAN_SCAN_CLEAR_VMA);

	do_scan(&arg);
	CHECK_EQ(arg.vma_dirty_pages, 0);
	CHECK_EQ(arg.pinned_pages + arg.partial_huge_pages + arg.special_pages, 0);
}

static void check_dirty(const char *addr, size_t pages, uint32_t flags, size_t every)
{
	unsigned char *dirty = malloc(pages);
	size_t i;

	scan(addr, pages, flags, dirty);
	for (i = 0; i < pages; i++) {
		CHECK_EQ(dirty[i], every && i % every == 0);
		if (!flags)
			CHECK_EQ(pagemap_word(self_fd, addr + i * PAGE) >> 55 & 1, dirty[i]);
	}
	free(dirty);
}

static void write_every(char *addr, size_t pages, size_t every, uint64_t seed)
{
	size_t i;

	for (i = 0; i < pages; i += every)
		pattern_write((unsigned char *)addr + i * PAGE, PAGE, seed, i);
}

/* Memory of one kind: what is written shows up once, reads do not, the data stay. */
static void check_round_trip(char *addr)
{
	size_t i;

	write_every(addr, AREA, 1, 1);
	check_dirty(addr, AREA, 0, 1);
	arm(addr, AREA);
	check_dirty(addr, AREA, 0, 0);
	for (i = 0; i < AREA; i++)
		*(volatile char *)(addr + i * PAGE);
	check_dirty(addr, AREA, 0, 0);

	write_every(addr, AREA, 3, 2);
	check_dirty(addr, AREA, 0, 3);
	check_dirty(addr, AREA, 0, 3);
	check_dirty(addr, AREA, PGSCAN_SCAN_CLEAR, 3);
	check_dirty(addr, AREA, 0, 0);
	check_dirty(addr, AREA, PGSCAN_SCAN_CLEAR, 0);
	write_every(addr, AREA, 5, 3);
	check_dirty(addr, AREA, PGSCAN_SCAN_CLEAR, 5);
	for (i = 0; i < AREA; i++)
		CHECK(pattern_is((unsigned char *)addr + i * PAGE, PAGE,
				 i % 5 == 0 ? 3 : (i % 3 == 0 ? 2 : 1), i));
}

static void test_scan_anon(void)
{
	require_scan(PGSCAN_FEAT_SCAN_CLEAR_VMA);
	check_round_trip(map_anon(AREA));
}

static void test_scan_shared(void)
{
	int fd = memfd_create("scan", MFD_CLOEXEC);
	char *addr = map_anon(AREA);

	require_scan(PGSCAN_FEAT_SCAN_CLEAR_VMA);
	CHECK_EQ(ftruncate(fd, AREA * PAGE), 0);
	CHECK(mmap(addr, AREA * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) !=
	      MAP_FAILED);
	check_round_trip(addr);
}

static void test_scan_file(void)
{
	int fd = open("/root/kmodtest-scan", O_CREAT | O_TRUNC | O_RDWR, 0600);
	char *addr = map_anon(AREA);

	require_scan(PGSCAN_FEAT_SCAN_CLEAR_VMA);
	CHECK_EQ(ftruncate(fd, AREA * PAGE), 0);
	CHECK(mmap(addr, AREA * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, 0) !=
	      MAP_FAILED);
	check_round_trip(addr);
	CHECK_EQ(unlink("/root/kmodtest-scan"), 0);
}

/* A part is cleared, and nothing around it. */
static void test_scan_part(void)
{
	char *addr = map_anon(AREA);
	unsigned char dirty[AREA];
	size_t i;

	require_scan(PGSCAN_FEAT_SCAN_CLEAR_VMA);
	write_every(addr, AREA, 1, 1);
	arm(addr, AREA);
	write_every(addr, AREA, 1, 2);
	scan(addr + 100 * PAGE, 300, PGSCAN_SCAN_CLEAR, dirty);
	for (i = 0; i < 300; i++)
		CHECK_EQ(dirty[i], 1);
	scan(addr, AREA, 0, dirty);
	for (i = 0; i < AREA; i++)
		CHECK_EQ(dirty[i], i < 100 || i >= 400);
	/* Part of a mapping cannot lose the mark of the mapping. */
	addr = map_anon(AREA);
	write_every(addr, AREA, 1, 1);
	{
		struct pgscan_scan arg =
			scan_arg(addr + PAGE, AREA - 1, PGSCAN_SCAN_CLEAR | PGSCAN_SCAN_CLEAR_VMA);

		CHECK_EQ(do_scan(&arg), 1);
		CHECK_EQ(arg.vma_dirty_pages, AREA - 1);
		CHECK_EQ(arg.cleared_pages, AREA - 1);
	}
	check_dirty(addr, AREA, 0, 1);
}

/* In swap the mark is kept, can be cleared, and a read back does not bring it. */
static void test_scan_swapped(void)
{
	char *addr = map_anon(AREA);
	struct pgscan_scan arg;
	unsigned char dirty[AREA];
	size_t i;

	require_scan(PGSCAN_FEAT_SCAN_CLEAR_VMA);
	write_every(addr, AREA, 1, 1);
	arm(addr, AREA);
	write_every(addr, AREA, 3, 2);
	page_out(addr, AREA);
	check_dirty(addr, AREA, 0, 3);
	arg = scan_arg(addr, AREA, 0);
	arg.category_mask = PGSCAN_PAGE_SWAPPED;
	CHECK(do_scan(&arg) > 0);
	CHECK_EQ(arg.dirty_pages, (AREA + 2) / 3);
	check_dirty(addr, AREA, PGSCAN_SCAN_CLEAR, 3);
	check_dirty(addr, AREA, 0, 0);
	for (i = 0; i < AREA; i++)
		CHECK(pattern_is((unsigned char *)addr + i * PAGE, PAGE, i % 3 ? 1 : 2, i));
	check_dirty(addr, AREA, 0, 0);
	page_out(addr, AREA);
	write_every(addr, AREA, 7, 3);
	scan(addr, AREA, PGSCAN_SCAN_CLEAR, dirty);
	for (i = 0; i < AREA; i++)
		CHECK_EQ(dirty[i], i % 7 == 0);
}

static char *map_huge(size_t nr)
{
	char *addr = mmap(NULL, (nr + 2) * HUGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(addr != MAP_FAILED);
	addr = (char *)(((uintptr_t)addr + 2 * HUGE - 1) & ~(HUGE - 1));
	CHECK_EQ(mprotect(addr, nr * HUGE, PROT_READ | PROT_WRITE), 0);
	CHECK_EQ(madvise(addr, nr * HUGE, MADV_HUGEPAGE), 0);
	memset(addr, 1, nr * HUGE);
	if (smaps_pages(addr, "AnonHugePages") != nr * HUGE_PAGES)
		exit(77);
	return addr;
}

static void test_scan_huge(void)
{
	char *addr = map_huge(2);
	struct pgscan_scan arg;
	const struct pgscan_region *vec;

	require_scan(PGSCAN_FEAT_SCAN_CLEAR_VMA);
	arm(addr, 2 * HUGE_PAGES);
	check_dirty(addr, 2 * HUGE_PAGES, 0, 0);
	CHECK_EQ(smaps_pages(addr, "AnonHugePages"), 2 * HUGE_PAGES);
	/* One write makes all of a huge page dirty. */
	addr[5 * PAGE] = 2;
	arg = scan_arg(addr, 2 * HUGE_PAGES, 0);
	vec = (void *)(uintptr_t)arg.vec;
	CHECK_EQ(do_scan(&arg), 1);
	CHECK_EQ(vec[0].end - vec[0].start, HUGE);
	CHECK_EQ(vec[0].categories, SOFT_DIRTY | PGSCAN_PAGE_HUGE | PGSCAN_PAGE_PRESENT);
	/* A part of it cannot be cleared, and that is said. */
	arg = scan_arg(addr, 100, PGSCAN_SCAN_CLEAR);
	CHECK_EQ(do_scan(&arg), 1);
	CHECK(vec[0].categories & PGSCAN_PAGE_NOT_CLEARED);
	CHECK_EQ(arg.partial_huge_pages, 100);
	CHECK_EQ(arg.cleared_pages, 0);
	check_dirty(addr, HUGE_PAGES, 0, 1);
	check_dirty(addr, HUGE_PAGES, PGSCAN_SCAN_CLEAR, 1);
	check_dirty(addr, 2 * HUGE_PAGES, 0, 0);
	/* Nothing is to be done for a part of a clean one. */
	arg = scan_arg(addr, 100, PGSCAN_SCAN_CLEAR);
	CHECK_EQ(do_scan(&arg), 0);
	CHECK_EQ(arg.cleared_pages, 100);
	CHECK_EQ(addr[5 * PAGE], 2);
	/*
	 * Split by the kernel, all its pages may come out dirty: to carry over the dirty bit,
	 * 0ccf7f168e17 ("mm/thp: carry over dirty bit when thp splits on pmd", v6.1) sets both.
	 * What is written must be among them.
	 */
	CHECK_EQ(madvise(addr + 10 * PAGE, PAGE, MADV_DONTNEED), 0);
	arg = scan_arg(addr, HUGE_PAGES, PGSCAN_SCAN_CLEAR);
	do_scan(&arg);
	check_dirty(addr, HUGE_PAGES, 0, 0);
	write_every(addr, HUGE_PAGES, 3, 1);
	check_dirty(addr, HUGE_PAGES, PGSCAN_SCAN_CLEAR, 3);
}

/* Few records, and few pages, at a time: nothing is lost and nothing is told twice. */
static void test_scan_limits(void)
{
	char *addr = map_anon(AREA);
	size_t lens[] = {1, 3, 1000}, l, found;
	struct pgscan_scan arg;
	const struct pgscan_region *vec;
	int nr, i;

	require_scan(PGSCAN_FEAT_SCAN_CLEAR_VMA);
	write_every(addr, AREA, 1, 1);
	arm(addr, AREA);
	for (l = 0; l < ARRAY_SIZE(lens); l++) {
		write_every(addr, AREA, 3, l + 2);
		found = 0;
		arg = scan_arg(addr, AREA, PGSCAN_SCAN_CLEAR);
		arg.vec_len = lens[l];
		arg.max_pages = l == 2 ? 10 : 0;
		vec = (void *)(uintptr_t)arg.vec;
		do {
			nr = ioctl(dev_fd, PGSCAN_IOC_SCAN, &arg);
			CHECK(nr >= 0 && (size_t)nr <= lens[l]);
			CHECK(!arg.max_pages || nr <= 10);
			for (i = 0; i < nr; i++, found++) {
				CHECK_EQ(vec[i].start, (uintptr_t)addr + found * 3 * PAGE);
				CHECK_EQ(vec[i].end, vec[i].start + PAGE);
			}
			arg.start = arg.walk_end;
		} while (arg.walk_end < arg.end);
		CHECK_EQ(found, (AREA + 2) / 3);
		check_dirty(addr, AREA, 0, 0);
	}
}

static void test_scan_masks(void)
{
	char *addr = map_anon(16);
	struct pgscan_scan arg;
	const struct pgscan_region *vec;

	require_scan(PGSCAN_FEAT_SCAN_CLEAR_VMA);
	write_every(addr, 16, 1, 1);
	arm(addr, 16);
	write_every(addr, 16, 4, 1);
	/* The clean ones, by inversion. */
	arg = scan_arg(addr, 16, 0);
	arg.category_inverted = SOFT_DIRTY;
	vec = (void *)(uintptr_t)arg.vec;
	CHECK_EQ(do_scan(&arg), 4);
	CHECK_EQ(vec[0].start, (uintptr_t)addr + PAGE);
	CHECK_EQ(vec[0].end, (uintptr_t)addr + 4 * PAGE);
	/* Any of them, told as present only: one region. */
	arg = scan_arg(addr, 16, 0);
	arg.category_mask = 0;
	arg.category_anyof_mask = SOFT_DIRTY | PGSCAN_PAGE_PRESENT;
	arg.return_mask = PGSCAN_PAGE_PRESENT;
	CHECK_EQ(do_scan(&arg), 1);
	CHECK_EQ(vec[0].categories, PGSCAN_PAGE_PRESENT);
	/* What is not known is refused. */
	arg = scan_arg(addr, 16, 0);
	arg.return_mask = 1ULL << 20;
	CHECK_ERRNO(ioctl(dev_fd, PGSCAN_IOC_SCAN, &arg), EINVAL);
	arg = scan_arg(addr, 16, 0);
	arg.vec_len = 0;
	CHECK_ERRNO(ioctl(dev_fd, PGSCAN_IOC_SCAN, &arg), EINVAL);
	arg = scan_arg(addr, 16, PGSCAN_SCAN_CLEAR_VMA);
	CHECK_ERRNO(ioctl(dev_fd, PGSCAN_IOC_SCAN, &arg), EINVAL);
	/* A vector that cannot be written is found before anything is cleared. */
	arg = scan_arg(addr, 16, PGSCAN_SCAN_CLEAR);
	arg.vec = 8;
	CHECK_ERRNO(ioctl(dev_fd, PGSCAN_IOC_SCAN, &arg), EFAULT);
	check_dirty(addr, 16, 0, 4);
}

/* Pinned by io_uring: written to by devices, so never clean. */
static void test_scan_pinned(void)
{
	char params[120] = {};
	char *addr = map_anon(16);
	struct iovec iov = {addr, 8 * PAGE};
	struct pgscan_scan arg;
	const struct pgscan_region *vec;
	int ring;

	require_scan(PGSCAN_FEAT_SCAN_CLEAR_VMA);
	write_every(addr, 16, 1, 1);
	ring = syscall(SYS_io_uring_setup, 1, params);
	if (ring < 0)
		exit(77);
	CHECK_EQ(syscall(SYS_io_uring_register, ring, 0, &iov, 1), 0);
	arg = scan_arg(addr, 16, PGSCAN_SCAN_CLEAR | PGSCAN_SCAN_CLEAR_VMA);
	vec = (void *)(uintptr_t)arg.vec;
	CHECK_EQ(do_scan(&arg), 2);
	CHECK_EQ(arg.pinned_pages, 8);
	CHECK_EQ(arg.cleared_pages, 8);
	CHECK(vec[0].categories & PGSCAN_PAGE_NOT_CLEARED);
	CHECK(!(vec[1].categories & PGSCAN_PAGE_NOT_CLEARED));
	arg = scan_arg(addr, 16, PGSCAN_SCAN_CLEAR);
	CHECK_EQ(do_scan(&arg), 1);
	CHECK_EQ(vec[0].end, (uintptr_t)addr + 8 * PAGE);
	close(ring);
	/* Without the pin: the last time. The ring lets go of it in its own time. */
	do {
		usleep(10000);
		arg = scan_arg(addr, 16, PGSCAN_SCAN_CLEAR);
		do_scan(&arg);
	} while (arg.pinned_pages);
	check_dirty(addr, 16, 0, 0);
}

/* KVM watches by an MMU notifier: reading is allowed, clearing is not. */
static void test_scan_notifier(void)
{
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	char *addr = map_anon(16);
	struct pgscan_scan arg;

	require_scan(PGSCAN_FEAT_SCAN_CLEAR_VMA);
	if (kvm < 0)
		exit(77);
	write_every(addr, 16, 1, 1);
	arm(addr, 16);
	write_every(addr, 16, 4, 1);
	CHECK(ioctl(kvm, KVM_CREATE_VM, 0) >= 0);
	arg = scan_arg(addr, 16, PGSCAN_SCAN_CLEAR);
	CHECK_ERRNO(ioctl(dev_fd, PGSCAN_IOC_SCAN, &arg), EOPNOTSUPP);
	arg = scan_arg(addr, 16, PGSCAN_SCAN_CLEAR | PGSCAN_SCAN_CLEAR_VMA);
	CHECK_ERRNO(ioctl(dev_fd, PGSCAN_IOC_SCAN, &arg), EOPNOTSUPP);
	check_dirty(addr, 16, 0, 4);
}

static void drop_ptrace(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	CHECK_EQ(syscall(SYS_capget, &head, data), 0);
	data[CAP_SYS_PTRACE / 32].effective &= ~(1U << CAP_SYS_PTRACE % 32);
	CHECK_EQ(syscall(SYS_capset, &head, data), 0);
}

/* Another process may be read with its pagemap, but changed only with CAP_SYS_PTRACE. */
static void test_scan_other(void)
{
	char *addr = map_anon(16);
	struct pgscan_scan arg;
	int status, fd;
	pid_t pid;

	require_scan(PGSCAN_FEAT_SCAN_CLEAR_VMA);
	write_every(addr, 16, 1, 1);
	pid = fork();
	if (!pid) {
		write_every(addr, 16, 1, 2);
		pause();
	}
	fd = open_pagemap(pid);
	arg = scan_arg(addr, 16, PGSCAN_SCAN_CLEAR);
	arg.pagemap_fd = fd;
	CHECK(ioctl(dev_fd, PGSCAN_IOC_SCAN, &arg) >= 0);
	drop_ptrace();
	CHECK_ERRNO(ioctl(dev_fd, PGSCAN_IOC_SCAN, &arg), EPERM);
	arg.flags = 0;
	CHECK(ioctl(dev_fd, PGSCAN_IOC_SCAN, &arg) >= 0);
	arg = scan_arg(addr, 16, PGSCAN_SCAN_CLEAR);
	CHECK(ioctl(dev_fd, PGSCAN_IOC_SCAN, &arg) >= 0);
	kill(pid, SIGKILL);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
}

/* The module was loaded with allow_clear=0. */
static void test_scan_forbidden(void)
{
	char *addr = map_anon(16);
	struct pgscan_scan arg = scan_arg(addr, 16, PGSCAN_SCAN_CLEAR);

	require_scan(PGSCAN_FEAT_SCAN);
	CHECK_ERRNO(ioctl(dev_fd, PGSCAN_IOC_SCAN, &arg), EOPNOTSUPP);
	arg.flags = 0;
	CHECK_EQ(ioctl(dev_fd, PGSCAN_IOC_SCAN, &arg), 0);
}

const struct test scan_tests[] = {
	{"scan-anon", test_scan_anon},
	{"scan-shared", test_scan_shared},
	{"scan-file", test_scan_file},
	{"scan-part", test_scan_part},
	{"scan-swapped", test_scan_swapped},
	{"scan-huge", test_scan_huge},
	{"scan-limits", test_scan_limits},
	{"scan-masks", test_scan_masks},
	{"scan-pinned", test_scan_pinned},
	{"scan-notifier", test_scan_notifier},
	{"scan-other", test_scan_other},
	{"scan-forbidden", test_scan_forbidden},
	{},
};
