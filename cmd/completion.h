/* SPDX-License-Identifier: GPL-2.0-only */
/* completion: the argp tables and the column lists as data, for the shells and for the tests that
 * compare them with the man pages. */
#pragma once

#include "cmd.h"

#include <stdio.h>

/*
 * completion_print - lines of fields with a tab between; "-" is a field that is not there, because
 * a shell's read joins adjacent tabs.
 *
 * @what "": a line for each option that is not hidden: command, long, short, metavar, help. The
 * command is "-" for the options before the command word; a metavar in brackets is optional; a
 * command itself is a line whose long and short are "-", whose metavar is its arguments ("PID...")
 * and whose help is its summary.
 * @what "columns:COMMAND": the columns of all its views, each key once: key, type, help.
 * @commands ends with NULL. Returns an exit status.
 */
int completion_print(FILE *f, const struct argp *global, const struct pgs_cmd *const *commands,
		     const char *what);

/* completion_next_column - the columns of all views of @cmd, each key once: start with *@pos zero.
 * NULL at the end. */
struct column_pos {
	size_t table, col;
};
const struct pgs_col *completion_next_column(const struct pgs_cmd *cmd, struct column_pos *pos);

/* completion_type_name - "integer", "address", …: the word for people. */
const char *completion_type_name(enum pgs_type type);
