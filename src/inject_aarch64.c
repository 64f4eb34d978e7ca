// SPDX-License-Identifier: GPL-2.0-only
#ifdef __aarch64__
#include "inject_arch.h"

#include <sys/syscall.h>
#include <sys/user.h>

const unsigned char pgs_insn_bytes[] = {0x01, 0x00, 0x00, 0xd4}; /* svc #0 */
const size_t pgs_insn_size = sizeof(pgs_insn_bytes), pgs_insn_align = 4;

/* struct user_regs_struct: regs[31], sp, pc, pstate. */
#define X(regs, n)     ((regs)->words[n])
#define PC(regs)       ((regs)->words[32])
#define REG_NR	       8
#define TIMER_ABSOLUTE 1
#define FUTEX_OP_MASK  0x7f

bool pgs_regs_native(const struct pgs_regs *regs)
{
	return regs->size == sizeof(struct user_regs_struct);
}

uint64_t pgs_regs_pc(const struct pgs_regs *regs)
{
	return PC(regs);
}

void pgs_regs_set_pc(struct pgs_regs *regs, uint64_t pc)
{
	PC(regs) = pc;
}

/* The kernel moves pc back to the instruction before the stop (do_signal()) without a word. */
bool pgs_regs_in_syscall(const struct pgs_regs *regs)
{
	(void)regs;
	return false;
}

void pgs_regs_call(struct pgs_regs *regs, uint64_t insn, long nr, const uint64_t args[2])
{
	PC(regs) = insn;
	X(regs, REG_NR) = (uint64_t)nr;
	X(regs, 0) = args[0];
	X(regs, 1) = args[1];
}

int64_t pgs_regs_result(const struct pgs_regs *regs)
{
	return (int64_t)X(regs, 0);
}

/* Calls that sleep until a time and, woken early, go on by restart_syscall(2) for what is left. */
static bool has_restart_block(const struct pgs_regs *regs)
{
	switch (X(regs, REG_NR)) {
	case SYS_nanosleep:
	case SYS_restart_syscall:
		return true;
	case SYS_clock_nanosleep:
		return !(X(regs, 1) & TIMER_ABSOLUTE);
	case SYS_futex: /* FUTEX_WAIT with a timeout */
		return !(X(regs, 1) & FUTEX_OP_MASK) && X(regs, 3);
	}
	return false;
}

/* Without orig_x0, which ptrace does not show, EINTR stays EINTR here. */
bool pgs_syscall_restarts(long nr)
{
	switch (nr) {
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
	case SYS_rt_sigtimedwait:
	case SYS_semop:
	case SYS_semtimedop:
	case SYS_io_getevents:
	case SYS_io_uring_enter:
		return false;
	}
	return true;
}

/*
 * do_signal() chose restart_syscall(2) for such calls by comparing pc after the stop, and we had
 * moved it: do that part for it. A thread stopped in a call stands at its instruction again.
 */
void pgs_regs_restored(struct pgs_regs *regs)
{
	if (has_restart_block(regs))
		X(regs, REG_NR) = SYS_restart_syscall;
}
#endif
