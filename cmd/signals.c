// SPDX-License-Identifier: GPL-2.0-only
#include "signals.h"

#include <signal.h>
#include <stddef.h>

#include "cmd.h"

volatile sig_atomic_t cmd_interrupted;

static void on_interrupt(int sig)
{
	cmd_interrupted = sig;
}

static void on_pipe(int sig)
{
	(void)sig;
}

static void install(int sig, void (*handler)(int), int flags)
{
	struct sigaction old, sa = {.sa_handler = handler, .sa_flags = flags};

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
	/* write() must return EPIPE. A handler and not SIG_IGN, which would survive the exec of a
	 * command of the user's. */
	install(SIGPIPE, on_pipe, SA_RESTART);
}
