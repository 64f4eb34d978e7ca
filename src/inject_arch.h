/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * inject_arch: what inject has to know of a processor; inject_x86_64.c, inject_aarch64.c, and
 * inject_none.c for all others.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The general registers of a stopped thread (NT_PRSTATUS), as the kernel lays them out. */
struct pgs_regs {
	size_t size; /* bytes the kernel gave */
	uint64_t words[64];
};

/* The system call instruction, and the alignment at which one may stand. Size 0: not supported. */
extern const unsigned char pgs_insn_bytes[];
extern const size_t pgs_insn_size, pgs_insn_align;

/* pgs_regs_native - whether the thread runs code of this program's own word size. */
bool pgs_regs_native(const struct pgs_regs *regs) __attribute__((nonnull));
/* pgs_regs_pc - the address of the next instruction. */
uint64_t pgs_regs_pc(const struct pgs_regs *regs) __attribute__((nonnull));
void pgs_regs_set_pc(struct pgs_regs *regs, uint64_t pc) __attribute__((nonnull));
/* pgs_regs_in_syscall - whether the thread was stopped in a system call, for all one can see. */
bool pgs_regs_in_syscall(const struct pgs_regs *regs) __attribute__((nonnull));

/*
 * pgs_regs_call - make @regs those of a thread about to execute the system call instruction at
 * @insn for call @nr; the kernel must not take it for one that it has to restart.
 * pgs_regs_result - after the call: its result, or -errno.
 */
void pgs_regs_call(struct pgs_regs *regs, uint64_t insn, long nr, const uint64_t args[2])
	__attribute__((nonnull));
int64_t pgs_regs_result(const struct pgs_regs *regs) __attribute__((nonnull));

/*
 * pgs_regs_restored - what to set so that the thread goes on as if nothing had happened, having
 * been stopped with @regs and made calls since.
 */
void pgs_regs_restored(struct pgs_regs *regs) __attribute__((nonnull));

/* pgs_syscall_restarts - whether a thread that is stopped in call @nr goes on in it afterwards as
 * if it had not been, time that has passed included. */
bool pgs_syscall_restarts(long nr);
