/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/* What <linux/userfaultfd.h> of Linux 6.1 lacks, with the kernel that has it. */
#ifndef PGSCAN_UAPI_USERFAULTFD_H
#define PGSCAN_UAPI_USERFAULTFD_H

#include <linux/ioctl.h>
#include <linux/types.h>
#include <linux/userfaultfd.h>

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1 /* 5.11; flag of userfaultfd(2) */
#endif
#ifndef USERFAULTFD_IOC_NEW
#define USERFAULTFD_IOC_NEW _IO(0xAA, 0x00) /* 6.1; ioctl of /dev/userfaultfd */
#endif

#ifndef UFFD_FEATURE_EXACT_ADDRESS
#define UFFD_FEATURE_EXACT_ADDRESS (1 << 11) /* 5.18 */
#endif
#ifndef UFFD_FEATURE_WP_HUGETLBFS_SHMEM
#define UFFD_FEATURE_WP_HUGETLBFS_SHMEM (1 << 12) /* 5.19 */
#endif
#ifndef UFFD_FEATURE_WP_UNPOPULATED
#define UFFD_FEATURE_WP_UNPOPULATED (1 << 13) /* 6.4: protects pages that do not exist yet */
#endif
#ifndef UFFD_FEATURE_POISON
#define UFFD_FEATURE_POISON (1 << 14) /* 6.6 */
#endif
#ifndef UFFD_FEATURE_WP_ASYNC
#define UFFD_FEATURE_WP_ASYNC (1 << 15) /* 6.7: a write drops the protection, nobody is woken */
#endif
#ifndef UFFD_FEATURE_MOVE
#define UFFD_FEATURE_MOVE (1 << 16) /* 6.8 */
#endif
#ifndef UFFD_FEATURE_RWP
#define UFFD_FEATURE_RWP (1 << 17) /* 2026: protection from reads too */
#endif
#ifndef UFFD_FEATURE_RWP_ASYNC
#define UFFD_FEATURE_RWP_ASYNC (1 << 18)
#endif

#endif
