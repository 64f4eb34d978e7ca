/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * uffd: a userfaultfd whose write protection resolves itself (UFFD_FEATURE_WP_ASYNC, 6.7), of this
 * process or of another. What is registered is protected by PAGEMAP_SCAN (pagemap.h), so that
 * reading what was written and protecting it again are one step.
 *
 * The descriptor works from outside: it is bound to the memory it was made in. When its last copy
 * is closed, however that comes about, the kernel unregisters everything.
 */
#pragma once

#include "ctx.h"

/* pgs_uffd_of_self - make one for our own memory. The caller's descriptor, or -errno. */
int pgs_uffd_of_self(void) __attribute__((warn_unused_result));

/*
 * pgs_uffd_init - shake hands over asynchronous protection; once per descriptor.
 * Returns 0 or -errno: -EOPNOTSUPP where the kernel has no such thing.
 */
int pgs_uffd_init(int uffd) __attribute__((warn_unused_result));

/*
 * pgs_uffd_register - take [@start, @end), which must be one mapping, under protection; nothing is
 * protected yet. Returns 0, or 1 for huge pages of hugetlbfs, or -errno: -EPERM cannot be written
 * through this mapping; -EBUSY another userfaultfd has it; -EINVAL a kind the kernel refuses.
 */
int pgs_uffd_register(int uffd, uint64_t start, uint64_t end) __attribute__((warn_unused_result));
int pgs_uffd_unregister(int uffd, uint64_t start, uint64_t end);
/* pgs_uffd_protect - UFFDIO_WRITEPROTECT over [@start, @end). 0 or -errno. */
int pgs_uffd_protect(int uffd, uint64_t start, uint64_t end) __attribute__((warn_unused_result));
