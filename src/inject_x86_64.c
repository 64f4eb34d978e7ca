// SPDX-License-Identifier: GPL-2.0-only
#ifdef __x86_64__
#include "inject_arch.h"

#include <errno.h>
#include <sys/syscall.h>
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

void pgs_regs_set_pc(struct pgs_regs *regs, uint64_t pc)
{
	R(regs, rip) = pc;
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

/* The kernel's own words for "interrupted", which user space never sees (linux/errno.h). */
#define ERESTARTNOHAND 514 /* again, but EINTR if a handler is to run */

/*
 * Calls that end with EINTR when the thread is stopped, signal or no signal: signal(7),
 * "Interruption of system calls and library functions by stop signals". With EINTR they have done
 * nothing yet.
 */
bool pgs_syscall_restarts(long nr)
{
	switch (nr) {
	case SYS_read: /* and the next: on a socket with SO_RCVTIMEO or SO_SNDTIMEO */
	case SYS_write:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_accept:
	case SYS_accept4:
	case SYS_epoll_wait:
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
 * rax holds the restart code and orig_rax the call: when the thread leaves the stop, the kernel
 * looks at both and restarts the call, or ends it with EINTR if a handler is to run, as it would
 * have done anyway. The rest of the time of a call that has one (-ERESTART_RESTARTBLOCK) is in
 * task_struct, which our calls do not touch.
 *
 * What would be an EINTR for nothing is made a restart as well. A timeout starts anew then, which
 * delays the thread once; a program that takes the EINTR for a failure would end.
 */
void pgs_regs_restored(struct pgs_regs *regs)
{
	if ((int64_t)R(regs, rax) == -EINTR && pgs_regs_in_syscall(regs) &&
	    !pgs_syscall_restarts((long)R(regs, orig_rax)))
		R(regs, rax) = (uint64_t)-ERESTARTNOHAND;
}
#endif
