/* SPDX-License-Identifier: GPL-2.0-only */
/* msg: what pgscan says on stderr, once each: "pgscan dump: cannot …: … (needs CAP_SYS_ADMIN)". */
#pragma once

#include <stdarg.h>
#include <stdbool.h>

/* Exit statuses: pgscan(1). */
enum pgs_exit {
	PGS_EXIT_OK = 0,
	PGS_EXIT_FAILED = 1,
	PGS_EXIT_USAGE = 2,
	PGS_EXIT_INCOMPLETE = 3,
	PGS_EXIT_UNSUPPORTED = 4,
	PGS_EXIT_PERMISSION = 5,
};

void msg_init(const char *prefix, int verbosity); /* "pgscan dump"; -1 quiet, 0, 1 verbose */
void msg_set_verbosity(int verbosity);
void msg_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void msg_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));  /* not with -q */
void msg_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));  /* not with -q */
void msg_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* only with -v */
/* msg_usage - one line and "Try 'pgscan dump --help'"; returns PGS_EXIT_USAGE. */
int msg_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* msg_exit_status - the status that a -errno from src stands for when nothing was printed:
 * EACCES/EPERM 5; EOPNOTSUPP/ENOTTY/ENOSYS 4; else 1. */
int msg_exit_status(int err);
