// SPDX-License-Identifier: GPL-2.0-only
#include "signals.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

#include "cmd.h"

volatile sig_atomic_t cmd_interrupted;

static volatile sig_atomic_t from_terminal;

static void on_interrupt(int sig, siginfo_t *info, void *context)
{
	(void)context;
	from_terminal = info->si_code == SI_KERNEL;
	cmd_interrupted = sig;
}

static void on_write(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	(void)context;
}

bool signals_from_terminal(void)
{
	return from_terminal;
}

static void install(int sig, void (*handler)(int, siginfo_t *, void *), int flags)
{
	struct sigaction old, sa = {.sa_sigaction = handler, .sa_flags = flags | SA_SIGINFO};

	if (!sigaction(sig, NULL, &old) && old.sa_handler == SIG_IGN)
		return;
	sigemptyset(&sa.sa_mask);
	sigaction(sig, &sa, NULL);
}

void signals_init(void)
{
	/* No SA_RESTART: a wait must see the signal at once. */
	install(SIGINT, on_interrupt, SA_RESETHAND);
	install(SIGTERM, on_interrupt, SA_RESETHAND);
	install(SIGHUP, on_interrupt, SA_RESETHAND);
	/* write() must return EPIPE, or EFBIG. A handler and not SIG_IGN, which would survive the
	 * exec of a command of the user's. */
	install(SIGPIPE, on_write, SA_RESTART);
	install(SIGXFSZ, on_write, SA_RESTART);
}

#define NS UINT64_C(1000000000)

/* What is left until @deadline_ns; false when it has come. */
static bool time_left(uint64_t deadline_ns, struct timespec *ret)
{
	struct timespec now;
	uint64_t now_ns;

	clock_gettime(CLOCK_MONOTONIC, &now);
	now_ns = (uint64_t)now.tv_sec * NS + (uint64_t)now.tv_nsec;
	if (now_ns >= deadline_ns)
		return false;
	ret->tv_sec = (time_t)((deadline_ns - now_ns) / NS);
	ret->tv_nsec = (long)((deadline_ns - now_ns) % NS);
	return true;
}

bool signals_wait(int fd, uint64_t deadline_ns)
{
	struct pollfd pfd = {.fd = fd, .events = POLLIN};
	struct timespec left = {0};
	sigset_t ends, old;
	int n = 0;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, &old);
	do {
		bool due = deadline_ns != SIGNALS_FOREVER && !time_left(deadline_ns, &left);

		if (cmd_interrupted || due)
			break;
		n = ppoll(&pfd, 1, deadline_ns == SIGNALS_FOREVER ? NULL : &left, &old);
	} while (!n || (n < 0 && errno == EINTR));
	sigprocmask(SIG_SETMASK, &old, NULL);
	return n > 0;
}
