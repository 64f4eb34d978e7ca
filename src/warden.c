// SPDX-License-Identifier: GPL-2.0-only
#include "warden.h"

#include "caps.h"
#include "cleanup.h"
#include "inject.h"
#include "uapi/userfaultfd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define PIDFD_THREAD O_EXCL		/* of pidfd_open(2), 6.9 */
#define WATCH_NS     UINT64_C(20000000) /* how soon a dismissed warden notices */

struct pgs_warden {
	struct pgs_ctx *ctx;
	pid_t child;
	int socket;
};

/* ---- the child ------------------------------------------------------------------------------- */

struct child {
	struct pgs_ctx *ctx;
	pid_t pid;
	int socket;
	enum pgs_warden_mode mode;
	struct pgs_inject *inject;
	uint64_t forks;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* One message, with a descriptor if @fd is one. */
static int send_msg(struct child *c, struct pgs_warden_msg *m, int fd)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int))];
	} control = {.buf = {0}};
	struct iovec iov = {.iov_base = m, .iov_len = sizeof(*m)};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};

	m->forks = c->forks;
	if (fd >= 0) {
		struct cmsghdr *cmsg;

		msg.msg_control = control.buf;
		msg.msg_controllen = sizeof(control.buf);
		cmsg = CMSG_FIRSTHDR(&msg);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	}
	return sendmsg(c->socket, &msg, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static int send_event(struct child *c, enum pgs_warden_event event)
{
	struct pgs_warden_msg m = {.event = event};

	return send_msg(c, &m, -1);
}

static void send_error(struct child *c, int err)
{
	struct pgs_warden_msg m = {.event = PGS_WARDEN_ERROR, .err = err};

	snprintf(m.text, sizeof(m.text), "%s", pgs_ctx_error(c->ctx));
	(void)send_msg(c, &m, -1);
}

/* Our copy of the descriptor @fd of the stopped thread. */
static int take_fd(struct child *c, int fd)
{
	_cleanup_close_ int pidfd = -1;
	pid_t tid = pgs_inject_tid(c->inject);
	int r;

	pgs_caps_raise(PGS_CAP(CAP_SYS_PTRACE));
	if (tid != c->pid)
		pidfd = (int)syscall(SYS_pidfd_open, tid, PIDFD_THREAD);
	if (pidfd < 0)
		pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	r = pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	r = r < 0 ? -errno : r;
	pgs_caps_lower();
	if (r < 0)
		return pgs_ctx_fail(c->ctx, r, "cannot take a descriptor of process %d: %s",
				    (int)c->pid, strerror(-r));
	return r;
}

/*
 * Faults of user mode alone: with WP_ASYNC no fault is ever handed to us, the kernel's own writes
 * to the process's memory drop the protection as well, and nobody needs a privilege for this kind
 * ("userfaultfd: add UFFD_USER_MODE_ONLY", 5.11).
 */
static int make_uffd(struct child *c)
{
	int64_t fd, closed;
	int r = pgs_inject_call(c->inject, SYS_userfaultfd,
				O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY, 0, &fd);
	int ours;

	if (r)
		return r;
	if (fd < 0)
		return pgs_ctx_fail(c->ctx, fd == -ENOSYS ? -EOPNOTSUPP : (int)fd,
				    "process %d cannot have a userfaultfd: %s", (int)c->pid,
				    strerror((int)-fd));
	ours = take_fd(c, (int)fd);
	r = pgs_inject_call(c->inject, SYS_close, (uint64_t)fd, 0, &closed);
	if (r || ours < 0) {
		pgs_closep(&ours);
		return r ? r : ours;
	}
	return ours;
}

static int once(struct child *c)
{
	struct pgs_warden_msg m = {.event = PGS_WARDEN_UFFD};
	_cleanup_close_ int uffd = -1;
	uint64_t began;
	int r = pgs_inject_open(c->ctx, c->pid, &c->inject);

	if (!r)
		r = pgs_inject_seize(c->inject, 0);
	began = now_ns();
	if (!r)
		r = pgs_inject_stop(c->inject);
	uffd = r ? r : make_uffd(c);
	pgs_inject_close(c->inject);
	c->inject = NULL;
	if (uffd < 0)
		return uffd;
	m.stop_ns = now_ns() - began;
	return send_msg(c, &m, uffd);
}

/* ---- the child that follows ------------------------------------------------------------------ */

/* The parent's word to go on; -EPIPE when it is gone. */
static int await_go(struct child *c)
{
	char go;
	ssize_t n = read(c->socket, &go, 1);

	return n == 1 ? 0 : -EPIPE;
}

static bool is_dismissed(struct child *c)
{
	struct pollfd pfd = {.fd = c->socket, .events = POLLIN};

	return poll(&pfd, 1, 0) != 0;
}

/* At the end of execve(2): stop it anew where it can be made to call. */
static int uffd_after_exec(struct child *c)
{
	int r = pgs_inject_stop(c->inject);

	if (!r)
		r = pgs_inject_relocate(c->inject);
	return r ? r : make_uffd(c);
}

/* Before the first instruction of the new program. One that cannot be tracked runs on all the
 * same. */
static int hold_after_exec(struct child *c)
{
	struct pgs_warden_msg m = {.event = PGS_WARDEN_EXEC, .err = -EOPNOTSUPP};
	uint64_t began = now_ns();
	_cleanup_close_ int uffd = -1;
	int r;

	if (c->mode == PGS_WARDEN_FOLLOW) {
		uffd = uffd_after_exec(c);
		if (uffd == -ESRCH)
			return uffd;
		m.err = uffd < 0 ? uffd : 0;
		snprintf(m.text, sizeof(m.text), "%s", uffd < 0 ? pgs_ctx_error(c->ctx) : "");
	}
	m.stop_ns = now_ns() - began;
	r = send_msg(c, &m, uffd);
	if (!r)
		r = await_go(c);
	return r ? r : pgs_inject_resume(c->inject);
}

/* do_exit() has not given its memory up yet. */
static int hold_in_exit(struct child *c)
{
	int r = send_event(c, PGS_WARDEN_EXIT);

	if (!r)
		r = await_go(c);
	return r ? r : pgs_inject_resume(c->inject);
}

/* The kernel makes us the tracer of the child too: let it go. */
static void release_forked(struct child *c)
{
	unsigned long pid;
	int status;

	c->forks++;
	if (ptrace(PTRACE_GETEVENTMSG, pgs_inject_tid(c->inject), NULL, &pid) < 0)
		return;
	if (waitpid((pid_t)pid, &status, __WALL) == (pid_t)pid && WIFSTOPPED(status))
		(void)ptrace(PTRACE_DETACH, (pid_t)pid, NULL, NULL);
}

static int handle_event(struct child *c, int event)
{
	switch (event) {
	case PTRACE_EVENT_EXEC:
		return hold_after_exec(c);
	case PTRACE_EVENT_EXIT:
		return hold_in_exit(c);
	}
	release_forked(c);
	return pgs_inject_resume(c->inject);
}

static int follow(struct child *c)
{
	int event, r = pgs_inject_open(c->ctx, c->pid, &c->inject);

	if (!r)
		r = pgs_inject_seize(c->inject, PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT |
							PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK);
	if (!r)
		r = send_event(c, PGS_WARDEN_READY);
	while (!r && !is_dismissed(c)) {
		r = pgs_inject_wait(c->inject, WATCH_NS, &event);
		if (r > 0)
			r = handle_event(c, event);
	}
	return r;
}

/* Nothing that the parent is sent, and nothing that its terminal does, is meant for us. A pipe that
 * reads the parent's output must see its end when the parent ends. */
static void isolate(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	(void)setsid();
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		(void)dup2(null, fd);
	if (null > STDERR_FILENO)
		close(null);
}

/* Without atexit() handlers and stdio buffers, which are the parent's. */
static void __attribute__((noreturn)) child_main(struct child *c)
{
	int r;

	isolate();
	r = c->mode == PGS_WARDEN_ONCE ? once(c) : follow(c);
	pgs_inject_close(c->inject);
	if (r == -ESRCH && c->mode != PGS_WARDEN_ONCE)
		(void)send_event(c, PGS_WARDEN_GONE);
	else if (r && r != -EPIPE)
		send_error(c, r);
	for (;;)
		raise(SIGKILL);
}

/* ---- the parent ------------------------------------------------------------------------------ */

int pgs_warden_open(struct pgs_ctx *ctx, pid_t pid, enum pgs_warden_mode mode,
		    struct pgs_warden **ret_warden)
{
	_cleanup_(pgs_warden_closep) struct pgs_warden *warden = calloc(1, sizeof(*warden));
	int pair[2];

	if (!warden)
		return -ENOMEM;
	warden->ctx = ctx;
	warden->socket = -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return pgs_ctx_fail(ctx, -errno, "socketpair: %s", strerror(errno));
	warden->child = fork();
	if (!warden->child) {
		struct child c = {.ctx = ctx, .pid = pid, .socket = pair[1], .mode = mode};

		close(pair[0]);
		child_main(&c);
	}
	warden->socket = pair[0];
	close(pair[1]);
	if (warden->child < 0)
		return pgs_ctx_fail(ctx, -errno, "fork: %s", strerror(errno));
	*ret_warden = warden;
	warden = NULL;
	return 0;
}

void pgs_warden_close(struct pgs_warden *warden)
{
	if (!warden)
		return;
	pgs_closep(&warden->socket);
	while (warden->child > 0 && waitpid(warden->child, NULL, 0) < 0 && errno == EINTR)
		;
	free(warden);
}

void pgs_warden_closep(struct pgs_warden **warden)
{
	pgs_warden_close(*warden);
}

int pgs_warden_fd(const struct pgs_warden *warden)
{
	return warden->socket;
}

static int fd_of(struct msghdr *msg)
{
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(msg);
	int fd = -1;

	if (cmsg && cmsg->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(cmsg), sizeof(fd));
	return fd;
}

int pgs_warden_receive(struct pgs_warden *warden, struct pgs_warden_msg *ret_msg, int *ret_uffd)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = {.iov_base = ret_msg, .iov_len = sizeof(*ret_msg)};
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.buf,
		.msg_controllen = sizeof(control.buf),
	};
	ssize_t n;

	*ret_uffd = -1;
	do
		n = recvmsg(warden->socket, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof(*ret_msg)) {
		*ret_msg = (struct pgs_warden_msg){.event = PGS_WARDEN_GONE};
		return 0;
	}
	*ret_uffd = fd_of(&msg);
	if (ret_msg->event == PGS_WARDEN_ERROR)
		return pgs_ctx_fail(warden->ctx, ret_msg->err, "%s", ret_msg->text);
	return 0;
}

int pgs_warden_go(struct pgs_warden *warden)
{
	return write(warden->socket, "g", 1) == 1 ? 0 : -errno;
}
