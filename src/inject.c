// SPDX-License-Identifier: GPL-2.0-only
#include "inject.h"

#include "caps.h"
#include "cleanup.h"
#include "inject_arch.h"
#include "inject_find.h"
#include "procfs.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#ifndef PTRACE_GET_RSEQ_CONFIGURATION
#define PTRACE_GET_RSEQ_CONFIGURATION 0x420f /* 5.13 */
#endif
#ifndef PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG
#define PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG 0x4211 /* 6.4 */
#endif
#ifndef PTRACE_EVENT_STOP
#define PTRACE_EVENT_STOP 128
#endif
#define SYSCALL_STOP (SIGTRAP | 0x80) /* with PTRACE_O_TRACESYSGOOD */

/* For a thread to stop of its own accord; it runs on meanwhile. On a busy machine it may have to
 * wait for a processor. */
#define STOP_TIMEOUT_NS UINT64_C(3000000000)
/* For a thread whose registers are ours: there is no giving up. */
#define FOREVER UINT64_MAX

#define RETRIES 100 /* a thread that is hit by signals all the time */

struct pgs_inject {
	struct pgs_ctx *ctx;
	pid_t pid;
	struct pgs_thread thread; /* the one that is made to call */
	uint64_t insn;		  /* where a system call instruction is */
	unsigned int options;
	bool seized, stopped;
	bool changed; /* the thread's registers are not @saved */
	struct pgs_regs saved;
};

int pgs_inject_relocate(struct pgs_inject *inject)
{
	return pgs_find_insn(inject->ctx, inject->pid, &inject->insn);
}

bool pgs_inject_supported(void)
{
	return pgs_insn_size;
}

int pgs_inject_open(struct pgs_ctx *ctx, pid_t pid, struct pgs_inject **ret_inject)
{
	_cleanup_(pgs_inject_closep) struct pgs_inject *inject = calloc(1, sizeof(*inject));
	int r;

	if (!inject)
		return -ENOMEM;
	if (!pgs_inject_supported())
		return pgs_ctx_fail(
			ctx, -EOPNOTSUPP,
			"this build cannot have process %d make a system call: only those "
			"for x86-64 and arm64 can",
			(int)pid);
	inject->ctx = ctx;
	inject->pid = pid;
	r = pgs_find_thread(ctx, pid, &inject->thread);
	if (!r)
		r = pgs_inject_relocate(inject);
	if (r)
		return r;
	*ret_inject = inject;
	inject = NULL;
	return 0;
}

pid_t pgs_inject_tid(const struct pgs_inject *inject)
{
	return inject->thread.tid;
}

/* ---- ptrace ---------------------------------------------------------------------------------- */

static int trace(const struct pgs_inject *inject, enum __ptrace_request request, uintptr_t addr,
		 uintptr_t data)
{
	return ptrace(request, inject->thread.tid, addr, data) < 0 ? -errno : 0;
}

static int get_regs(const struct pgs_inject *inject, struct pgs_regs *ret_regs)
{
	struct iovec iov = {.iov_base = ret_regs->words, .iov_len = sizeof(ret_regs->words)};
	int r = trace(inject, PTRACE_GETREGSET, NT_PRSTATUS, (uintptr_t)&iov);

	ret_regs->size = iov.iov_len;
	return r;
}

static int set_regs(struct pgs_inject *inject, const struct pgs_regs *regs)
{
	struct iovec iov = {.iov_base = (void *)regs->words, .iov_len = regs->size};

	return trace(inject, PTRACE_SETREGSET, NT_PRSTATUS, (uintptr_t)&iov);
}

static int restore_regs(struct pgs_inject *inject)
{
	struct pgs_regs regs = inject->saved;
	int r;

	if (!inject->changed)
		return 0;
	pgs_regs_restored(&regs);
	r = set_regs(inject, &regs);
	inject->changed = r != 0;
	return r;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Wait for the thread to stop: its wait status, 0 when none came before @deadline, -ESRCH. */
static int wait_status(struct pgs_inject *inject, uint64_t deadline)
{
	int status;

	for (;;) {
		pid_t pid = waitpid(inject->thread.tid, &status, __WALL | WNOHANG);
		uint64_t now = now_ns();
		struct timespec left;
		sigset_t chld;

		if (pid < 0 || (pid > 0 && !WIFSTOPPED(status))) {
			inject->seized = false;
			return -ESRCH;
		}
		if (pid > 0) {
			inject->stopped = true;
			return status;
		}
		if (now >= deadline)
			return 0;
		left.tv_sec = (time_t)((deadline - now) / 1000000000u);
		left.tv_nsec = (long)((deadline - now) % 1000000000u);
		sigemptyset(&chld);
		sigaddset(&chld, SIGCHLD);
		sigtimedwait(&chld, NULL, &left);
	}
}

static int go_on(struct pgs_inject *inject, enum __ptrace_request how, int sig)
{
	int r = trace(inject, how, 0, (uintptr_t)sig);

	inject->stopped = r != 0;
	return r;
}

static int event_of(int status)
{
	return status >> 16;
}

static bool is_syscall_stop(int status)
{
	return !event_of(status) && WSTOPSIG(status) == SYSCALL_STOP;
}

static bool is_signal_stop(int status)
{
	return !event_of(status) && WSTOPSIG(status) != SYSCALL_STOP;
}

/* A group stop, of SIGSTOP and its like; PTRACE_INTERRUPT's own trap says SIGTRAP. */
static bool is_group_stop(int status)
{
	return event_of(status) == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP;
}

/*
 * PTRACE_O_EXITKILL is out of the question. PTRACE_O_SUSPEND_SECCOMP (4.3): a filter that was not
 * written with userfaultfd(2) in mind could kill the process for it. It needs CAP_SYS_ADMIN.
 */
int pgs_inject_seize(struct pgs_inject *inject, unsigned int options)
{
	int r;

	inject->options = options | PTRACE_O_TRACESYSGOOD;
	if (inject->thread.seccomp)
		inject->options |= PTRACE_O_SUSPEND_SECCOMP;
	pgs_caps_raise(PGS_CAP(CAP_SYS_PTRACE) | PGS_CAP(CAP_SYS_ADMIN));
	r = trace(inject, PTRACE_SEIZE, 0, inject->options);
	pgs_caps_lower();
	inject->seized = !r;
	if (!r)
		return 0;
	if (inject->thread.seccomp && (r == -EPERM || r == -EINVAL))
		return pgs_ctx_fail(inject->ctx, -EOPNOTSUPP,
				    "process %d is under seccomp, which may kill it for a system "
				    "call that it does not expect (needs CAP_SYS_ADMIN to suspend)",
				    (int)inject->pid);
	return pgs_ctx_fail(inject->ctx, r, "cannot trace process %d: %s", (int)inject->pid,
			    strerror(-r));
}

static int stop_somewhere(struct pgs_inject *inject)
{
	uint64_t deadline = inject->changed ? FOREVER : now_ns() + STOP_TIMEOUT_NS;
	int status, r = trace(inject, PTRACE_INTERRUPT, 0, 0);

	/* The trap that this asks for comes when a stop that it is in ends, before all else. */
	if (!r && inject->stopped)
		r = go_on(inject, PTRACE_CONT, 0);
	while (!r) {
		status = wait_status(inject, deadline);
		if (status <= 0)
			return status ? status
				      : pgs_ctx_fail(inject->ctx, -ETIMEDOUT,
						     "thread %d does not stop: it is in "
						     "uninterruptible sleep, or gets no "
						     "processor",
						     (int)inject->thread.tid);
		if (event_of(status) == PTRACE_EVENT_STOP)
			return 0;
		r = go_on(inject, PTRACE_CONT, is_signal_stop(status) ? WSTOPSIG(status) : 0);
	}
	return r;
}

/* Layouts of <linux/ptrace.h> and <linux/rseq.h>, which are too new for Debian 12's glibc. */
struct rseq_configuration {
	uint64_t abi_pointer;
	uint32_t abi_size, signature, flags, pad;
};

struct rseq_section {
	uint32_t version, flags;
	uint64_t start_ip, post_commit_offset, abort_ip;
};

#define RSEQ_CS_OFFSET 8 /* of rseq_cs in struct rseq */

static bool peek(const struct pgs_inject *inject, uint64_t addr, void *buf, size_t size)
{
	_cleanup_close_ int mem =
		pgs_open(inject->ctx, PGS_CAPS_OTHERS, 0, "proc/%d/mem", (int)inject->pid);

	return mem >= 0 && pread(mem, buf, size, (off_t)addr) == (ssize_t)size;
}

/*
 * A thread that was scheduled away inside a restartable sequence (rseq(2)) is sent to the
 * sequence's abort code when it returns to user space. With the pc that we give it the kernel would
 * find it outside, forget the sequence, and let it go on in the middle once its pc is back: an
 * update that should have been atomic on its CPU would not be. So what is given back is the abort
 * code, which is where the kernel would have sent it. Threads that stopped in a system call are in
 * none.
 */
static void abort_rseq(struct pgs_inject *inject)
{
	struct rseq_configuration conf = {0};
	struct rseq_section section;
	uint64_t cs = 0;

	if (pgs_regs_in_syscall(&inject->saved) ||
	    ptrace((enum __ptrace_request)PTRACE_GET_RSEQ_CONFIGURATION, inject->thread.tid,
		   sizeof(conf), &conf) < 0 ||
	    !conf.abi_pointer || !peek(inject, conf.abi_pointer + RSEQ_CS_OFFSET, &cs, sizeof(cs)))
		return;
	if (!cs || !peek(inject, cs, &section, sizeof(section)) ||
	    pgs_regs_pc(&inject->saved) - section.start_ip >= section.post_commit_offset)
		return;
	pgs_regs_set_pc(&inject->saved, section.abort_ip);
	inject->changed = true;
}

struct dispatch_config {
	uint64_t mode, selector, offset, len;
};

/* With system call user dispatch (Wine) our call would end as SIGSYS in the target's handler. */
static bool has_user_dispatch(const struct pgs_inject *inject)
{
	struct dispatch_config conf = {0};

	return !ptrace((enum __ptrace_request)PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG,
		       inject->thread.tid, sizeof(conf), &conf) &&
	       conf.mode;
}

int pgs_inject_stop(struct pgs_inject *inject)
{
	int r = stop_somewhere(inject);

	if (!r)
		r = get_regs(inject, &inject->saved);
	if (r)
		return r;
	if (!pgs_regs_native(&inject->saved))
		return pgs_ctx_fail(inject->ctx, -EOPNOTSUPP, "process %d runs 32-bit code",
				    (int)inject->pid);
	if (has_user_dispatch(inject))
		return pgs_ctx_fail(inject->ctx, -EOPNOTSUPP,
				    "process %d handles system calls of its own "
				    "(PR_SET_SYSCALL_USER_DISPATCH)",
				    (int)inject->pid);
	abort_rseq(inject);
	return 0;
}

/* ---- one call -------------------------------------------------------------------------------- */

/*
 * From one stop to the next one that matters. A thread that was stopped by SIGSTOP meanwhile traps
 * for that too, and stops again by itself once it is let go.
 * Not PTRACE_SINGLESTEP: its trap is a forced SIGTRAP, and the kernel resets the handler of a
 * forced signal that the thread has blocked or ignores.
 */
static int next_stop(struct pgs_inject *inject)
{
	int status;

	do {
		int r = go_on(inject, PTRACE_SYSCALL, 0);

		if (r)
			return r;
		status = wait_status(inject, FOREVER);
	} while (status > 0 && event_of(status));
	return status;
}

/* A signal came first. Its handler, if it has one, must find the thread as it was, so that a system
 * call ends with EINTR or is restarted as the handler's flags say; then once more. */
static int signal_first(struct pgs_inject *inject, int sig)
{
	int r = restore_regs(inject);

	if (!r)
		r = go_on(inject, PTRACE_CONT, sig);
	return r ? r : pgs_inject_stop(inject);
}

int pgs_inject_call(struct pgs_inject *inject, long nr, uint64_t arg0, uint64_t arg1,
		    int64_t *ret_result)
{
	const uint64_t args[2] = {arg0, arg1};

	for (int i = 0; i < RETRIES; i++) {
		struct pgs_regs regs = inject->saved;
		int r, status;

		pgs_regs_call(&regs, inject->insn, nr, args);
		inject->changed = true;
		r = set_regs(inject, &regs);
		if (r)
			return r;
		status = next_stop(inject); /* at its entry, or a signal */
		if (status > 0 && is_syscall_stop(status)) {
			status = next_stop(inject); /* at its exit */
			if (status < 0)
				return status;
			r = get_regs(inject, &regs);
			*ret_result = pgs_regs_result(&regs);
			return r;
		}
		r = status < 0 ? status : signal_first(inject, WSTOPSIG(status));
		if (r)
			return r;
	}
	return pgs_ctx_fail(inject->ctx, -EBUSY, "thread %d is busy with signals",
			    (int)inject->thread.tid);
}

/* ---- letting go ------------------------------------------------------------------------------ */

int pgs_inject_resume(struct pgs_inject *inject)
{
	int r = restore_regs(inject);

	return r ? r : go_on(inject, PTRACE_CONT, 0);
}

int pgs_inject_wait(struct pgs_inject *inject, uint64_t timeout_ns, int *ret_event)
{
	uint64_t deadline = now_ns() + timeout_ns;
	int status;

	while ((status = wait_status(inject, deadline)) > 0) {
		int event = event_of(status), r;

		if (event && event != PTRACE_EVENT_STOP) {
			*ret_event = event;
			return 1;
		}
		/* PTRACE_LISTEN leaves it stopped, and able to be continued. */
		if (is_group_stop(status))
			r = go_on(inject, PTRACE_LISTEN, 0);
		else
			r = go_on(inject, PTRACE_CONT,
				  is_signal_stop(status) ? WSTOPSIG(status) : 0);
		if (r)
			return r;
	}
	return status;
}

/* A detach ends the stop as a wake-up by a signal does (__ptrace_unlink()), so that the kernel goes
 * through get_signal() and restarts what is to be restarted, whichever stop it is. */
static void detach(struct pgs_inject *inject)
{
	/* A thread that runs is let go by our end. */
	if (!inject->stopped && (!inject->changed || stop_somewhere(inject)))
		return;
	(void)restore_regs(inject);
	(void)trace(inject, PTRACE_DETACH, 0, 0);
}

void pgs_inject_close(struct pgs_inject *inject)
{
	if (!inject)
		return;
	if (inject->seized)
		detach(inject);
	free(inject);
}

void pgs_inject_closep(struct pgs_inject **inject)
{
	pgs_inject_close(*inject);
}
