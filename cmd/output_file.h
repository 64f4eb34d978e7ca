/* SPDX-License-Identifier: GPL-2.0-only */
/* output_file: a file that is written whole or not at all: beside it first, then renamed, so that
 * who reads it meanwhile sees the old one or the new one. */
#pragma once

#include <stdio.h>

struct output_file {
	FILE *f;
	char *path, *temp; /* @temp NULL: @path is no regular file, and is written as it is */
};

/* output_file_open - 0 or -errno. output_file_commit() or output_file_discard() frees. */
int output_file_open(const char *path, struct output_file *ret) __attribute__((nonnull));
/* output_file_commit - close, and take the place of what is there. 0, or -1 and errno. */
int output_file_commit(struct output_file *file) __attribute__((nonnull));
void output_file_discard(struct output_file *file) __attribute__((nonnull));
