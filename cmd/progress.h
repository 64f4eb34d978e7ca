/* SPDX-License-Identifier: GPL-2.0-only */
/* progress: one line on stderr, on a terminal only, once a run takes over a second: the share done,
 * the rate, the time left. Costs one clock read a call, so call it once a batch. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct progress;

/* progress_new - @unit: "pages", "frames", …; @total: 0 when it is not known. NULL off a terminal,
 * on a dumb one and with -q; every function takes NULL. The caller frees it. */
struct progress *progress_new(const char *unit, uint64_t total, int verbosity);
void progress_add(struct progress *p, uint64_t done);
void progress_total(struct progress *p, uint64_t total);
/* progress_free - clears the line. */
void progress_free(struct progress *p);

/* progress_clear - take the line off the terminal, if there is one, because something else is about
 * to be printed; the next progress_add() draws it again. */
void progress_clear(void);

/* progress_format - the line: " 42%  1.2M pages, 600k/s, 0:03 left"; without share and time where
 * @total is 0. Returns its length; @size of 80 is enough. */
size_t progress_format(char *buf, size_t size, const char *unit, uint64_t done, uint64_t total,
		       uint64_t elapsed_ns);
