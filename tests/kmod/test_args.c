// SPDX-License-Identifier: GPL-2.0-only
/* The rules of the interface: sizes, flags, reserved fields, descriptors, permissions. */
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <linux/capability.h>

#include "kmodtest.h"

static struct pgscan_run run_vec[512];
static struct pgscan_object object_vec[64];
static struct pgscan_region region_vec[64];
static struct pgscan_zone zone_vec[16];

/* Each request with arguments that work, and the size it was first published with. */
struct request {
	unsigned int nr;
	size_t size, size_ver0;
	size_t reserved; /* offset of its 32-bit reserved field, 0 if there is none */
};

static const struct request requests[] = {
	{PGSCAN_IOC_INFO, sizeof(struct pgscan_info), PGSCAN_INFO_SIZE_VER0, 0},
	{PGSCAN_IOC_SHMEM, sizeof(struct pgscan_shmem), PGSCAN_SHMEM_SIZE_VER0,
	 offsetof(struct pgscan_shmem, reserved)},
	{PGSCAN_IOC_EXTENTS, sizeof(struct pgscan_extents), PGSCAN_EXTENTS_SIZE_VER0,
	 offsetof(struct pgscan_extents, reserved)},
	{PGSCAN_IOC_OBJECTS, sizeof(struct pgscan_objects), PGSCAN_OBJECTS_SIZE_VER0,
	 offsetof(struct pgscan_objects, reserved)},
	{PGSCAN_IOC_SCAN, sizeof(struct pgscan_scan), PGSCAN_SCAN_SIZE_VER0,
	 offsetof(struct pgscan_scan, reserved)},
	{PGSCAN_IOC_REPORTED, sizeof(struct pgscan_reported), PGSCAN_REPORTED_SIZE_VER0,
	 offsetof(struct pgscan_reported, reserved)},
	{PGSCAN_IOC_TAGS, sizeof(struct pgscan_tags), PGSCAN_TAGS_SIZE_VER0,
	 offsetof(struct pgscan_tags, reserved)},
};

static uint64_t features(void)
{
	struct pgscan_info info = {.size = sizeof(info)};

	CHECK_EQ(ioctl(dev_fd, PGSCAN_IOC_INFO, &info), 0);
	return info.features;
}

static bool is_supported(const struct request *req)
{
	return req->nr != PGSCAN_IOC_SCAN || features() & PGSCAN_FEAT_SCAN;
}

static void fill(union any *arg, const struct request *req)
{
	static int memfd = -1;

	if (memfd < 0)
		memfd = memfd_create("args", MFD_CLOEXEC);
	memset(arg, 0, sizeof(*arg));
	switch (req->nr) {
	case PGSCAN_IOC_SHMEM:
		arg->shmem = (struct pgscan_shmem){.pagemap_fd = self_fd,
						   .end = 1UL << 40,
						   .vec = (uintptr_t)run_vec,
						   .vec_len = ARRAY_SIZE(run_vec)};
		break;
	case PGSCAN_IOC_EXTENTS:
		arg->extents = (struct pgscan_extents){.fd = memfd,
						       .end = ~0ULL,
						       .vec = (uintptr_t)run_vec,
						       .vec_len = ARRAY_SIZE(run_vec)};
		break;
	case PGSCAN_IOC_OBJECTS:
		arg->objects = (struct pgscan_objects){.vec = (uintptr_t)object_vec,
						       .vec_len = ARRAY_SIZE(object_vec),
						       .object_size = sizeof(object_vec[0])};
		break;
	case PGSCAN_IOC_SCAN:
		arg->scan = (struct pgscan_scan){.pagemap_fd = self_fd,
						 .end = 1UL << 40,
						 .vec = (uintptr_t)region_vec,
						 .vec_len = ARRAY_SIZE(region_vec)};
		break;
	case PGSCAN_IOC_REPORTED:
		arg->reported = (struct pgscan_reported){.vec = (uintptr_t)zone_vec,
							 .vec_len = ARRAY_SIZE(zone_vec),
							 .zone_size = sizeof(zone_vec[0])};
		break;
	case PGSCAN_IOC_TAGS:
		arg->tags = (struct pgscan_tags){.pagemap_fd = self_fd, .end = 1ULL << 47};
		arg->tags.end -= PAGE;
		break;
	}
	arg->size = req->size;
}

static void test_info(void)
{
	struct pgscan_info info = {.size = sizeof(info)};
	const uint64_t always = PGSCAN_FEAT_SHMEM | PGSCAN_FEAT_EXTENTS | PGSCAN_FEAT_OBJECTS |
				PGSCAN_FEAT_REPORTED | PGSCAN_FEAT_TAGS | PGSCAN_FEAT_SHMEM_MARKERS;

	CHECK_EQ(ioctl(dev_fd, PGSCAN_IOC_INFO, &info), 0);
	CHECK_EQ(info.abi, PGSCAN_ABI);
	CHECK_EQ(1 << info.page_shift, sysconf(_SC_PAGESIZE));
	CHECK_EQ(info.features & always, always);
	CHECK(info.max_swapfiles >= 20 && info.max_swapfiles <= 32);
	CHECK(info.nr_orders >= 10 && info.nr_orders <= 32);
}

static void test_sizes(void)
{
	union any arg;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(requests); i++) {
		const struct request *req = &requests[i];

		if (!is_supported(req))
			continue;
		fill(&arg, req);
		CHECK(ioctl(dev_fd, req->nr, &arg) >= 0);

		fill(&arg, req);
		arg.size = req->size_ver0 - 1;
		CHECK_ERRNO(ioctl(dev_fd, req->nr, &arg), EINVAL);
		arg.size = 0;
		CHECK_ERRNO(ioctl(dev_fd, req->nr, &arg), EINVAL);

		/* Larger: as long as the rest is zero. */
		fill(&arg, req);
		arg.size = req->size + 8;
		CHECK(ioctl(dev_fd, req->nr, &arg) >= 0);
		CHECK_EQ(arg.size, req->size + 8);
		fill(&arg, req);
		arg.size = req->size + 8;
		arg.bytes[req->size + 7] = 1;
		CHECK_ERRNO(ioctl(dev_fd, req->nr, &arg), E2BIG);
		arg.size = 1 << 20;
		CHECK_ERRNO(ioctl(dev_fd, req->nr, &arg), E2BIG);
	}
}

static void test_flags(void)
{
	union any arg;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(requests); i++) {
		const struct request *req = &requests[i];

		fill(&arg, req);
		arg.flags = 1U << 31;
		CHECK_ERRNO(ioctl(dev_fd, req->nr, &arg), EINVAL);
		if (!req->reserved || !is_supported(req))
			continue;
		fill(&arg, req);
		arg.bytes[req->reserved] = 1;
		CHECK_ERRNO(ioctl(dev_fd, req->nr, &arg), EINVAL);
	}
	fill(&arg, &requests[3]);
	arg.objects.cursor.reserved = 1;
	CHECK_ERRNO(ioctl(dev_fd, PGSCAN_IOC_OBJECTS, &arg), EINVAL);
	fill(&arg, &requests[2]);
	arg.extents.key.reserved = 1;
	CHECK_ERRNO(ioctl(dev_fd, PGSCAN_IOC_EXTENTS, &arg), EINVAL);
}

static void test_numbers(void)
{
	union any arg = {.size = sizeof(struct pgscan_info)};

	CHECK_ERRNO(ioctl(dev_fd, _IO(PGSCAN_IOC_MAGIC, 7), &arg), ENOTTY);
	CHECK_ERRNO(ioctl(dev_fd, _IO(PGSCAN_IOC_MAGIC, 255), &arg), ENOTTY);
	CHECK_ERRNO(ioctl(dev_fd, _IO(PGSCAN_IOC_MAGIC + 1, 0), &arg), ENOTTY);
	CHECK_ERRNO(ioctl(dev_fd, _IOWR(PGSCAN_IOC_MAGIC, 0, struct pgscan_info), &arg), ENOTTY);
	CHECK_ERRNO(ioctl(dev_fd, PGSCAN_IOC_INFO, NULL), EFAULT);
	CHECK_ERRNO(ioctl(dev_fd, PGSCAN_IOC_INFO, (void *)~0UL), EFAULT);
}

static void check_bad_fd(int fd, int code)
{
	const struct request *shmem = &requests[1], *tags = &requests[6], *scan = &requests[4];
	union any arg;

	fill(&arg, shmem);
	arg.shmem.pagemap_fd = fd;
	CHECK_ERRNO(ioctl(dev_fd, shmem->nr, &arg), code);
	fill(&arg, tags);
	arg.tags.pagemap_fd = fd;
	CHECK_ERRNO(ioctl(dev_fd, tags->nr, &arg), code);
	if (!is_supported(scan))
		return;
	fill(&arg, scan);
	arg.scan.pagemap_fd = fd;
	CHECK_ERRNO(ioctl(dev_fd, scan->nr, &arg), code);
}

static void test_descriptors(void)
{
	static const char *const wrong[] = {
		"/dev/null",	  "/proc/self/maps",	   "/proc/self/smaps",
		"/proc/self/mem", "/proc/self/clear_refs", "/proc/self",
		PGSCAN_DEVICE,
	};
	union any arg;
	size_t i;
	int fd;

	check_bad_fd(-1, EBADF);
	check_bad_fd(12345, EBADF);
	check_bad_fd(-12345, EBADF);
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		fd = open(wrong[i], strstr(wrong[i], "clear") ? O_WRONLY : O_RDONLY);
		CHECK(fd >= 0);
		check_bad_fd(fd, EINVAL);
		close(fd);
	}
	fd = open("/proc/self/pagemap", O_PATH);
	check_bad_fd(fd, EBADF);
	close(fd);

	/* EXTENTS wants one of shmem; O_PATH is enough. */
	fd = open("/proc/self/exe", O_RDONLY);
	fill(&arg, &requests[2]);
	arg.extents.fd = fd;
	CHECK_ERRNO(ioctl(dev_fd, PGSCAN_IOC_EXTENTS, &arg), EINVAL);
	fill(&arg, &requests[2]);
	arg.extents.fd = open("/dev/shm", O_TMPFILE | O_RDWR, 0600);
	CHECK_EQ(ioctl(dev_fd, PGSCAN_IOC_EXTENTS, &arg), 0);
	/* A directory of tmpfs holds no pages. */
	fill(&arg, &requests[2]);
	arg.extents.fd = open("/dev/shm", O_PATH);
	CHECK_ERRNO(ioctl(dev_fd, PGSCAN_IOC_EXTENTS, &arg), EINVAL);
	fill(&arg, &requests[2]);
	arg.extents.fd = -1;
	arg.extents.key.ino = ~0ULL;
	CHECK_ERRNO(ioctl(dev_fd, PGSCAN_IOC_EXTENTS, &arg), ESTALE);
	/* Either a descriptor or a key. */
	fill(&arg, &requests[2]);
	arg.extents.key.ino = 1;
	CHECK_ERRNO(ioctl(dev_fd, PGSCAN_IOC_EXTENTS, &arg), EINVAL);
}

static void test_ranges(void)
{
	static const struct {
		uint64_t start, end;
	} wrong[] = {
		{1, PAGE},
		{0, PAGE + 1},
		{2 * PAGE, PAGE},
		{0, ~0ULL & ~(PAGE - 1)},
		{0xffffffff80000000, 0xffffffff80001000},
	};
	union any arg;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		fill(&arg, &requests[1]);
		arg.shmem.start = wrong[i].start;
		arg.shmem.end = wrong[i].end;
		CHECK_ERRNO(ioctl(dev_fd, PGSCAN_IOC_SHMEM, &arg), EINVAL);
		fill(&arg, &requests[6]);
		arg.tags.start = wrong[i].start;
		arg.tags.end = wrong[i].end;
		CHECK_ERRNO(ioctl(dev_fd, PGSCAN_IOC_TAGS, &arg), EINVAL);
		if (!is_supported(&requests[4]))
			continue;
		fill(&arg, &requests[4]);
		arg.scan.start = wrong[i].start;
		arg.scan.end = wrong[i].end;
		CHECK_ERRNO(ioctl(dev_fd, PGSCAN_IOC_SCAN, &arg), EINVAL);
	}
	/* An empty range is done at once. */
	fill(&arg, &requests[1]);
	arg.shmem.start = arg.shmem.end = 5 * PAGE;
	CHECK_EQ(ioctl(dev_fd, PGSCAN_IOC_SHMEM, &arg), 0);
	CHECK_EQ(arg.shmem.walk_end, 5 * PAGE);
	fill(&arg, &requests[1]);
	arg.shmem.want = 1 << 5;
	CHECK_ERRNO(ioctl(dev_fd, PGSCAN_IOC_SHMEM, &arg), EINVAL);
}

/* A vector that cannot be written is EFAULT, not a hole in the kernel. */
static void test_vectors(void)
{
	char *area =
		mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	static const uint64_t bad[] = {0, 8, 0x7fffffffe000, 0xffff888000000000, ~0ULL};
	union any arg;
	size_t i;

	CHECK(area != MAP_FAILED);
	*area = 1;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		fill(&arg, &requests[1]);
		arg.shmem.start = (uintptr_t)area;
		arg.shmem.end = (uintptr_t)area + 4 * PAGE;
		arg.shmem.vec = bad[i];
		CHECK_ERRNO(ioctl(dev_fd, PGSCAN_IOC_SHMEM, &arg), EFAULT);
		fill(&arg, &requests[3]);
		arg.objects.vec = bad[i];
		arg.flags = PGSCAN_OBJECTS_ALL;
		CHECK_ERRNO(ioctl(dev_fd, PGSCAN_IOC_OBJECTS, &arg), EFAULT);
		fill(&arg, &requests[5]);
		arg.reported.vec = bad[i];
		CHECK_ERRNO(ioctl(dev_fd, PGSCAN_IOC_REPORTED, &arg), EFAULT);
	}
	/* The vector may lie in the very range that is looked at. */
	fill(&arg, &requests[1]);
	arg.shmem.start = (uintptr_t)area;
	arg.shmem.end = (uintptr_t)area + 4 * PAGE;
	arg.shmem.vec = (uintptr_t)area + PAGE;
	CHECK_EQ(ioctl(dev_fd, PGSCAN_IOC_SHMEM, &arg), 2);
}

static void drop_to_user(void)
{
	CHECK_EQ(setgid(1000), 0);
	CHECK_EQ(setuid(1000), 0);
	/* Otherwise /proc/self belongs to root. */
	CHECK_EQ(prctl(PR_SET_DUMPABLE, 1), 0);
}

static void check_all_eperm(void)
{
	union any arg;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(requests); i++) {
		fill(&arg, &requests[i]);
		CHECK_ERRNO(ioctl(dev_fd, requests[i].nr, &arg), EPERM);
	}
}

static int status_of(void (*run)(void))
{
	pid_t pid = fork();
	int status;

	CHECK(pid >= 0);
	if (!pid) {
		run();
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	return status;
}

static void without_capability(void)
{
	drop_to_user();
	CHECK_ERRNO(open(PGSCAN_DEVICE, O_RDWR), EACCES);
	/* The inherited descriptor gives nothing. */
	check_all_eperm();
}

static void set_admin(bool on)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];
	uint32_t bit = 1U << CAP_SYS_ADMIN % 32;

	CHECK_EQ(syscall(SYS_capget, &head, data), 0);
	if (on)
		data[CAP_SYS_ADMIN / 32].effective |= bit;
	else
		data[CAP_SYS_ADMIN / 32].effective &= ~bit;
	CHECK_EQ(syscall(SYS_capset, &head, data), 0);
}

/* Root without just this capability. */
static void without_one_capability(void)
{
	set_admin(false);
	check_all_eperm();
}

/* A pagemap that was opened without the capability shows nothing to who has it. */
static void with_weak_pagemap(void)
{
	int fd;

	set_admin(false);
	fd = open_pagemap(getpid());
	set_admin(true);
	check_bad_fd(fd, EPERM);
}

static void test_permissions(void)
{
	CHECK_EQ(status_of(without_capability), 0);
	CHECK_EQ(status_of(without_one_capability), 0);
	CHECK_EQ(status_of(with_weak_pagemap), 0);
}

/* Exit and exec of the target: ESRCH, for the descriptor stays with the old memory. */
static void test_target_gone(void)
{
	int pair[2], fd, status;
	union any arg;
	pid_t pid;

	CHECK_EQ(pipe(pair), 0);
	pid = fork();
	if (!pid) {
		char byte;

		close(pair[1]);
		CHECK_EQ(read(pair[0], &byte, 1), 1);
		execl("/proc/self/exe", "kmodtest", "sleep", NULL);
		_exit(1);
	}
	fd = open_pagemap(pid);
	fill(&arg, &requests[1]);
	arg.shmem.pagemap_fd = fd;
	CHECK(ioctl(dev_fd, PGSCAN_IOC_SHMEM, &arg) >= 0);
	CHECK_EQ(write(pair[1], "x", 1), 1);
	/* The exec has happened when the fd shows the end of the old memory. */
	do {
		usleep(1000);
		fill(&arg, &requests[1]);
		arg.shmem.pagemap_fd = fd;
	} while (ioctl(dev_fd, PGSCAN_IOC_SHMEM, &arg) >= 0);
	CHECK_EQ(errno, ESRCH);
	fd = open_pagemap(pid);
	fill(&arg, &requests[1]);
	arg.shmem.pagemap_fd = fd;
	CHECK(ioctl(dev_fd, PGSCAN_IOC_SHMEM, &arg) >= 0);
	kill(pid, SIGKILL);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	check_bad_fd(fd, ESRCH);
}

static void test_sleep(void)
{
	pause();
}

const struct test arg_tests[] = {
	{"info", test_info},
	{"sizes", test_sizes},
	{"flags", test_flags},
	{"numbers", test_numbers},
	{"descriptors", test_descriptors},
	{"ranges", test_ranges},
	{"vectors", test_vectors},
	{"permissions", test_permissions},
	{"target-gone", test_target_gone},
	{"sleep", test_sleep}, /* what test_target_gone executes */
	{},
};
