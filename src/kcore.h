/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kcore: kernel memory by address, read from /proc/kcore, an ELF core file of the running kernel.
 *
 * Its program headers alone say what lies where. A read takes no lock and never faults: memory that
 * is not there reads as an error here (no segment) or as zeros (a hole in a segment,
 * fs/proc/kcore.c), and what is there may be freed and used again at any moment. So whoever follows
 * a pointer checks what it finds.
 */
#pragma once

#include "ctx.h"

struct pgs_kcore;

/*
 * pgs_kcore_open - open /proc/kcore, with CAP_SYS_RAWIO raised during the open alone: it is checked
 * nowhere else. The descriptor is close-on-exec. Returns 0, or -errno with the reason in the
 * context: -ENOENT no such file, -EPERM no right to it, -ENOEXEC not what is expected.
 */
int pgs_kcore_open(struct pgs_ctx *ctx, struct pgs_kcore **ret_kcore)
	__attribute__((nonnull, warn_unused_result));
/* pgs_kcore_lacking - the capabilities that the open asks for and that are not permitted. */
uint64_t pgs_kcore_lacking(const struct pgs_ctx *ctx) __attribute__((nonnull));
#define PGS_KCORE_REFUSAL 128
/* pgs_kcore_refusal - what is known of why the open failed with -EPERM, with no capability
 * missing. */
void pgs_kcore_refusal(struct pgs_ctx *ctx, char why[PGS_KCORE_REFUSAL]) __attribute__((nonnull));
/* pgs_kcore_new - the same from any core file of 64 bits; owns @fd from now on, on failure too. */
int pgs_kcore_new(struct pgs_ctx *ctx, int fd, struct pgs_kcore **ret_kcore)
	__attribute__((nonnull, warn_unused_result));
void pgs_kcore_close(struct pgs_kcore *kcore);
void pgs_kcore_closep(struct pgs_kcore **kcore);

/*
 * pgs_kcore_refresh - read the program headers again. They change when memory is plugged in or out,
 * and file offsets with them. Returns 0 or -errno; on failure the old ones stay.
 */
int pgs_kcore_refresh(struct pgs_kcore *kcore) __attribute__((nonnull, warn_unused_result));

/* pgs_kcore_read - @len bytes at kernel address @addr. 0, or -errno: -EFAULT where any of it lies
 * in no segment. Sets no context line. */
int pgs_kcore_read(struct pgs_kcore *kcore, uint64_t addr, void *buf, size_t len)
	__attribute__((nonnull, warn_unused_result));

/*
 * pgs_kcore_gather - @len bytes at each of @nr kernel addresses, @nr <= PGS_KCORE_GATHER. What lies
 * side by side is read by one call: objects of one slab that were allocated one after the other do.
 * @buf has room for @nr * (@len + PGS_KCORE_GAP) bytes, and is filled in the order of the
 * addresses: ret_at[i], in @buf, is what lies at addrs[i], with the alignment of that address, or
 * NULL: not read, which says nothing of that address alone.
 */
#define PGS_KCORE_GATHER 64u
#define PGS_KCORE_GAP	 256u /* bytes that cost as much as another call, or less */
void pgs_kcore_gather(struct pgs_kcore *kcore, const uint64_t *addrs, unsigned int nr, size_t len,
		      void *buf, const void **ret_at) __attribute__((nonnull));

/* pgs_kcore_room - how many bytes from @addr on can be read, 0: none. */
uint64_t pgs_kcore_room(const struct pgs_kcore *kcore, uint64_t addr) __attribute__((nonnull));

/*
 * pgs_kcore_info - the value of line "@key=" of the VMCOREINFO note
 * (Documentation/admin-guide/kdump/vmcoreinfo.rst), not terminated, its length in *@ret_len; NULL
 * if there is none. Owned by @kcore.
 */
const char *pgs_kcore_info(const struct pgs_kcore *kcore, const char *key, size_t *ret_len)
	__attribute__((nonnull));
/* pgs_kcore_symbol - the address in line "SYMBOL(@name)=". 0 or -ENOENT. */
int pgs_kcore_symbol(const struct pgs_kcore *kcore, const char *name, uint64_t *ret_addr)
	__attribute__((nonnull, warn_unused_result));

/*
 * pgs_kcore_task - the note NT_TASKSTRUCT: a copy of the reader's own task_struct, made when the
 * file was opened. NULL if there is none. Owned by @kcore.
 */
const void *pgs_kcore_task(const struct pgs_kcore *kcore, size_t *ret_size)
	__attribute__((nonnull));
