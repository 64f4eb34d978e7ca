/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * signals: an interrupted run still ends its document.
 *
 * The first SIGINT, SIGTERM or SIGHUP sets cmd_interrupted (cmd.h): the loops stop at the next
 * batch, the document is closed as incomplete, and pgscan exits with PGS_EXIT_INCOMPLETE. The
 * signal is not raised again, so that the status says what was printed, as it does for every other
 * cause. A second signal kills: that is the way out of a system call that does not return.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* signals_init - install the handlers. A signal that the caller ignores (nohup) stays ignored. */
void signals_init(void);

/* signals_from_terminal - whether a terminal sent the signal in cmd_interrupted: to the whole
 * process group then, and so to a command of the user's too. */
bool signals_from_terminal(void);

#define SIGNALS_FOREVER UINT64_MAX

/*
 * signals_wait - until @fd can be read (-1: there is none), @deadline_ns of CLOCK_MONOTONIC, or
 * cmd_interrupted. The signals are blocked but in ppoll(2), so that none comes between the look at
 * the flag and the wait. Returns whether @fd can be read.
 */
bool signals_wait(int fd, uint64_t deadline_ns);
