/* SPDX-License-Identifier: GPL-2.0-only */
/* progress: one line on stderr, on a terminal only, once a run takes over a second: the share done,
 * the rate, the time left. Costs one clock read a call, so call it once a batch. */
#pragma once

#include <stdint.h>

struct progress;

/* @unit: "pages", "frames", …; @total: 0 when it is not known. NULL is returned off a terminal or
 * with -q, and every function takes NULL. */
struct progress *progress_new(const char *unit, uint64_t total, int verbosity);
void progress_add(struct progress *p, uint64_t done);
void progress_total(struct progress *p, uint64_t total);
/* progress_free - clears the line. */
void progress_free(struct progress *p);
