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

/* signals_init - install the handlers. A signal that the caller ignores (nohup) stays ignored. */
void signals_init(void);
