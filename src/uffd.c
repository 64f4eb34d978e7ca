// SPDX-License-Identifier: GPL-2.0-only
#include "uffd.h"

#include "uapi/userfaultfd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int pgs_uffd_of_self(void)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);

	return fd < 0 ? -errno : fd;
}

int pgs_uffd_init(int uffd)
{
	struct uffdio_api api = {
		.api = UFFD_API,
		.features = UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_WP_UNPOPULATED |
			    UFFD_FEATURE_WP_ASYNC,
	};

	if (!ioctl(uffd, UFFDIO_API, &api))
		return 0;
	return errno == EINVAL ? -EOPNOTSUPP : -errno;
}

/* The kernel answers with the requests that the range allows; those of hugetlbfs lack this one
 * (UFFD_API_RANGE_IOCTLS_BASIC). */
static bool is_hugetlb(const struct uffdio_register *reg)
{
	return !(reg->ioctls & (UINT64_C(1) << _UFFDIO_ZEROPAGE));
}

int pgs_uffd_register(int uffd, uint64_t start, uint64_t end)
{
	struct uffdio_register reg = {
		.range = {.start = start, .len = end - start},
		.mode = UFFDIO_REGISTER_MODE_WP,
	};

	if (ioctl(uffd, UFFDIO_REGISTER, &reg) < 0)
		return -errno;
	return is_hugetlb(&reg);
}

int pgs_uffd_unregister(int uffd, uint64_t start, uint64_t end)
{
	struct uffdio_range range = {.start = start, .len = end - start};

	return ioctl(uffd, UFFDIO_UNREGISTER, &range) < 0 ? -errno : 0;
}

int pgs_uffd_protect(int uffd, uint64_t start, uint64_t end)
{
	struct uffdio_writeprotect wp = {
		.range = {.start = start, .len = end - start},
		.mode = UFFDIO_WRITEPROTECT_MODE_WP,
	};

	return ioctl(uffd, UFFDIO_WRITEPROTECT, &wp) < 0 ? -errno : 0;
}
