/* SPDX-License-Identifier: GPL-2.0-only */
/* mountinfo: the lines of /proc/PID/mountinfo, proc_pid_mountinfo(5). */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* A mount. The strings are in the text that was cut up, @root and @point without its escapes. */
struct pgs_mount {
	dev_t dev;
	const char *root;  /* what of the file system is mounted there */
	const char *point; /* where, in the mount namespace of the process */
	const char *type;
	const char *super_options;
};

/*
 * pgs_mount_next - the next mount of *@text, which is cut up in place and moved on. Lines that are
 * not of the documented form are left out. False at the end.
 */
bool pgs_mount_next(char **text, struct pgs_mount *ret) __attribute__((nonnull));

/* pgs_mount_unescape - undo in place what mangle() and seq_escape() did: blanks, newlines, tabs,
 * commas, backslashes and # are \ooo. Returns @s. */
char *pgs_mount_unescape(char *s) __attribute__((nonnull));
