// SPDX-License-Identifier: GPL-2.0-only
/* Processors whose registers nobody has written down here yet: pgs_inject_open() refuses. */
#if !defined(__x86_64__) && !defined(__aarch64__)
#include "inject_arch.h"

#include <errno.h>

const unsigned char pgs_insn_bytes[1];
const size_t pgs_insn_size = 0, pgs_insn_align = 1;

bool pgs_regs_native(const struct pgs_regs *regs)
{
	(void)regs;
	return false;
}

uint64_t pgs_regs_pc(const struct pgs_regs *regs)
{
	(void)regs;
	return 0;
}

void pgs_regs_set_pc(struct pgs_regs *regs, uint64_t pc)
{
	(void)regs, (void)pc;
}

bool pgs_regs_in_syscall(const struct pgs_regs *regs)
{
	(void)regs;
	return false;
}

void pgs_regs_call(struct pgs_regs *regs, uint64_t insn, long nr, const uint64_t args[2])
{
	(void)regs, (void)insn, (void)nr, (void)args;
}

int64_t pgs_regs_result(const struct pgs_regs *regs)
{
	(void)regs;
	return -ENOSYS;
}

void pgs_regs_restored(struct pgs_regs *regs)
{
	(void)regs;
}

bool pgs_syscall_restarts(long nr)
{
	(void)nr;
	return false;
}
#endif
