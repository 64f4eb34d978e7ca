// SPDX-License-Identifier: GPL-2.0-only
/* kfeat_uffd: userfaultfd, the three ways to get one, and what it offers. */
#include "kfeat_probes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "caps.h"
#include "cleanup.h"
#include "procfs.h"
#include "uapi/userfaultfd.h"

#define PM_UFFD_WP (UINT64_C(1) << 57)

static const char *const way_names[PGS_NR_UFFD_WAYS] = {
	[PGS_UFFD_SYSCALL] = "system call",
	[PGS_UFFD_DEVICE] = "/dev/userfaultfd",
	[PGS_UFFD_USER_MODE] = "system call, faults of user mode only",
};

/* "userfaultfd: add /dev/userfaultfd for fine grained access control", 6.1. */
static int uffd_from_device(void)
{
	_cleanup_close_ int dev = -1;
	int fd, err;

	pgs_caps_raise(PGS_CAP(CAP_DAC_OVERRIDE));
	dev = open("/dev/userfaultfd", O_RDWR | O_CLOEXEC);
	err = errno;
	pgs_caps_lower();
	if (dev < 0)
		return -err;
	fd = ioctl(dev, USERFAULTFD_IOC_NEW, O_CLOEXEC | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

static int uffd_from_syscall(uint64_t caps, int flags)
{
	int fd, err;

	pgs_caps_raise(caps);
	fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | flags);
	err = errno;
	pgs_caps_lower();
	return fd < 0 ? -err : fd;
}

static int uffd_open_way(enum pgs_uffd_way way)
{
	switch (way) {
	case PGS_UFFD_SYSCALL:
		return uffd_from_syscall(PGS_CAP(CAP_SYS_PTRACE), 0);
	case PGS_UFFD_DEVICE:
		return uffd_from_device();
	case PGS_UFFD_USER_MODE: /* "userfaultfd: add UFFD_USER_MODE_ONLY", 5.11 */
		return uffd_from_syscall(0, UFFD_USER_MODE_ONLY);
	case PGS_NR_UFFD_WAYS:
		break;
	}
	return -EINVAL;
}

/* The best that is to be had; those that see the kernel's faults too come first. When there is
 * none, the answer of the first. */
static int uffd_open(enum pgs_uffd_way *ret_way)
{
	int first = 0;

	for (int way = 0; way < PGS_NR_UFFD_WAYS; way++) {
		int fd = uffd_open_way((enum pgs_uffd_way)way);

		if (fd >= 0) {
			*ret_way = (enum pgs_uffd_way)way;
			return fd;
		}
		if (!first)
			first = fd;
	}
	return first;
}

/* Shake hands over @features; *@ret_all is what the kernel has. Once per descriptor. */
static int uffd_api(int fd, uint64_t features, uint64_t *ret_all)
{
	struct uffdio_api api = {.api = UFFD_API, .features = features};

	if (ioctl(fd, UFFDIO_API, &api) < 0)
		return -errno;
	*ret_all = api.features;
	return 0;
}

static void name_the_sysctl(struct pgs_ctx *ctx, struct pgs_feat *feat)
{
	_cleanup_free_ char *value = NULL;

	if (pgs_read_file(ctx, 0, &value, "proc/sys/vm/unprivileged_userfaultfd") > 0)
		pgs_feat_detail(feat, "vm.unprivileged_userfaultfd is %.*s",
				(int)strcspn(value, "\n"), value);
}

int pgs_probe_uffd(struct pgs_ctx *ctx, const struct pgs_probe *probe, struct pgs_feat *feat)
{
	enum pgs_uffd_way way;
	_cleanup_close_ int fd = uffd_open(&way);
	uint64_t all = 0;
	int r;

	(void)probe;
	if (fd == -EPERM)
		name_the_sysctl(ctx, feat);
	if (fd < 0)
		return fd;
	r = uffd_api(fd, 0, &all);
	if (r < 0)
		return r;
	pgs_feat_detail(feat, "%s; features %#llx", way_names[way], (unsigned long long)all);
	return 1;
}

int pgs_probe_uffd_way(struct pgs_ctx *ctx, const struct pgs_probe *probe, struct pgs_feat *feat)
{
	_cleanup_close_ int fd = uffd_open_way((enum pgs_uffd_way)probe->arg);

	if (fd == -EPERM && probe->arg == PGS_UFFD_SYSCALL)
		name_the_sysctl(ctx, feat);
	return fd < 0 ? fd : 1;
}

int pgs_probe_uffd_feature(struct pgs_ctx *ctx, const struct pgs_probe *probe,
			   struct pgs_feat *feat)
{
	enum pgs_uffd_way way;
	_cleanup_close_ int fd = uffd_open(&way);
	uint64_t all = 0;
	int r;

	(void)ctx, (void)feat;
	if (fd < 0)
		return fd;
	r = uffd_api(fd, 0, &all);
	return r < 0 ? r : !!(all & probe->arg);
}

/* ---- asynchronous write protection ----------------------------------------------------------- */

static int uffd_protect(int fd, void *addr, size_t size)
{
	struct uffdio_register reg = {
		.range = {.start = (uintptr_t)addr, .len = size},
		.mode = UFFDIO_REGISTER_MODE_WP,
	};
	struct uffdio_writeprotect wp = {
		.range = reg.range,
		.mode = UFFDIO_WRITEPROTECT_MODE_WP,
	};

	if (ioctl(fd, UFFDIO_REGISTER, &reg) < 0 || ioctl(fd, UFFDIO_WRITEPROTECT, &wp) < 0)
		return -errno;
	return 0;
}

static int is_protected(int pagemap, const void *addr, size_t page_size)
{
	uint64_t word;
	off_t offset = (off_t)((uintptr_t)addr / page_size * sizeof(word));
	ssize_t n = pread(pagemap, &word, sizeof(word), offset);

	if (n < 0)
		return -errno;
	return n == sizeof(word) ? !!(word & PM_UFFD_WP) : -EIO;
}

/* Protect a page, write to it, see the protection gone and nobody asked. */
static int wp_async_test(struct pgs_ctx *ctx, int fd, struct pgs_feat *feat)
{
	_cleanup_close_ int pagemap = pgs_open(ctx, 0, 0, "proc/self/pagemap");
	size_t size = ctx->page_size;
	int before, after = -EIO;
	volatile char *page;

	if (pagemap < 0)
		return pagemap;
	page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return -errno;
	*page = 1;
	before = uffd_protect(fd, (void *)page, size);
	if (!before)
		before = is_protected(pagemap, (void *)page, size);
	if (before == 1) {
		*page = 2;
		after = is_protected(pagemap, (void *)page, size);
	}
	munmap((void *)page, size);

	if (before < 0)
		return before;
	if (after < 0)
		return after;
	if (before == 1 && !after)
		return 1;
	pgs_feat_detail(feat, "a write did not drop the protection");
	return 0;
}

int pgs_probe_uffd_wp_async(struct pgs_ctx *ctx, const struct pgs_probe *probe,
			    struct pgs_feat *feat)
{
	enum pgs_uffd_way way;
	_cleanup_close_ int fd = uffd_open(&way);
	uint64_t all = 0;
	int r;

	(void)probe;
	if (fd < 0)
		return fd;
	/* EINVAL before 6.7; once this is granted, the write below cannot block. */
	r = uffd_api(fd,
		     UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_WP_UNPOPULATED |
			     UFFD_FEATURE_WP_ASYNC,
		     &all);
	return r < 0 ? r : wp_async_test(ctx, fd, feat);
}
