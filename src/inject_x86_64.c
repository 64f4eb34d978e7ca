// SPDX-License-Identifier: GPL-2.0-only
#ifdef __x86_64__
#include "inject_arch.h"

#include <sys/user.h>

const unsigned char pgs_insn_bytes[] = {0x0f, 0x05}; /* syscall */
const size_t pgs_insn_size = sizeof(pgs_insn_bytes), pgs_insn_align = 1;

/* user_regs_struct is unsigned long throughout, so that words alias it. */
#define R(regs, field) ((regs)->words[offsetof(struct user_regs_struct, field) / sizeof(uint64_t)])

/* The kernel gives the shorter layout for a thread that is not in 64-bit mode at the moment. */
bool pgs_regs_native(const struct pgs_regs *regs)
{
	return regs->size == sizeof(struct user_regs_struct);
}

uint64_t pgs_regs_pc(const struct pgs_regs *regs)
{
	return R(regs, rip);
}

bool pgs_regs_in_syscall(const struct pgs_regs *regs)
{
	return (int64_t)R(regs, orig_rax) >= 0;
}

/*
 * With orig_rax at -1 arch_do_signal_or_restart() leaves rax alone. Not so with the call's own
 * number there, as a thread that was stopped in a call has it: rax would be looked at for
 * -ERESTARTSYS and rip moved back.
 */
void pgs_regs_call(struct pgs_regs *regs, uint64_t insn, long nr, const uint64_t args[2])
{
	R(regs, rip) = insn;
	R(regs, rax) = (uint64_t)nr;
	R(regs, orig_rax) = UINT64_MAX;
	R(regs, rdi) = args[0];
	R(regs, rsi) = args[1];
}

int64_t pgs_regs_result(const struct pgs_regs *regs)
{
	return (int64_t)R(regs, rax);
}

/*
 * rax holds the restart code and orig_rax the call: when the thread leaves the stop, the kernel
 * looks at both in get_signal()'s wake and restarts the call, or ends it with EINTR if a handler is
 * to run, as it would have done anyway. The timer of -ERESTART_RESTARTBLOCK is in task_struct,
 * which our calls do not touch.
 */
void pgs_regs_restored(struct pgs_regs *regs)
{
	(void)regs;
}
#endif
