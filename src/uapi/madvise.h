/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/* Advice of madvise(2) that <sys/mman.h> of glibc 2.36 may lack, with the kernel that has it. */
#ifndef PGSCAN_UAPI_MADVISE_H
#define PGSCAN_UAPI_MADVISE_H

#include <sys/mman.h>

#ifndef MADV_COLD
#define MADV_COLD 20 /* 5.4 */
#endif
#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21 /* 5.4 */
#endif
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22 /* 5.14 */
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* 5.14 */
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* 6.1 */
#endif
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102 /* 6.13 */
#endif
#ifndef MADV_GUARD_REMOVE
#define MADV_GUARD_REMOVE 103 /* 6.13 */
#endif

#endif
