/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dump_where: --where. Names of states, attributes and frame flags; a comma is "and" and binds more
 * tightly than "|", which is "or"; "!" negates one name.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct dump_where;
struct dump_run;

/* Returns 0, or -EINVAL and in *@ret_bad the word that is no name (or ""), which the caller frees;
 * -ENOMEM. */
int dump_where_parse(const char *expr, struct dump_where **ret_where, char **ret_bad)
	__attribute__((nonnull, warn_unused_result));
void dump_where_free(struct dump_where *where);
/* Whether a frame flag is among the names, so that frames must be looked up. */
bool dump_where_needs_frames(const struct dump_where *where) __attribute__((nonnull));
/* An attribute that is not known matches neither its name nor the negation; @soft_dirty: whether
 * this kernel tracks it. */
bool dump_where_matches(const struct dump_where *where, const struct dump_run *run, bool soft_dirty)
	__attribute__((nonnull));
