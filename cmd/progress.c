// SPDX-License-Identifier: GPL-2.0-only
#include "progress.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S      UINT64_C(1000000000)
#define FIRST_LINE_NS NS_PER_S
#define REDRAW_NS     (NS_PER_S / 5)

struct progress {
	const char *unit;
	uint64_t total, done;
	uint64_t start_ns, next_ns;
};

/* Whether a progress line stands on the terminal: the terminal is the process's, not a run's. */
static bool line_is_shown;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

struct progress *progress_new(const char *unit, uint64_t total, int verbosity)
{
	const char *term = getenv("TERM");
	struct progress *p;

	if (verbosity < 0 || !isatty(STDERR_FILENO) || !term || !strcmp(term, "dumb"))
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL; /* a run without the line is still right */
	*p = (struct progress){.unit = unit, .total = total, .start_ns = now_ns()};
	p->next_ns = p->start_ns + FIRST_LINE_NS;
	return p;
}

void progress_total(struct progress *p, uint64_t total)
{
	if (p)
		p->total = total;
}

static double scale(double n, const char **ret_prefix)
{
	static const char *const prefixes[] = {"", "k", "M", "G", "T"};
	size_t i = 0;

	for (; n >= 1000 && i < 4; i++)
		n /= 1000;
	*ret_prefix = prefixes[i];
	return n;
}

size_t progress_format(char *buf, size_t size, const char *unit, uint64_t done, uint64_t total,
		       uint64_t elapsed_ns)
{
	double rate = elapsed_ns ? (double)done * NS_PER_S / (double)elapsed_ns : 0;
	const char *done_prefix, *rate_prefix;
	double scaled_done = scale((double)done, &done_prefix);
	double scaled_rate = scale(rate, &rate_prefix);
	size_t len = 0;
	uint64_t left_s;

	if (total)
		len += (size_t)snprintf(buf, size, "%3d%%  ",
					done >= total ? 100 : (int)(100.0 * done / total));
	len += (size_t)snprintf(buf + len, size - len, "%.3g%s %s, %.3g%s/s", scaled_done,
				done_prefix, unit, scaled_rate, rate_prefix);
	if (total > done && rate > 0) {
		left_s = (uint64_t)((double)(total - done) / rate + 0.5);
		len += (size_t)snprintf(buf + len, size - len, ", %llu:%02llu left",
					(unsigned long long)left_s / 60,
					(unsigned long long)left_s % 60);
	}
	return len;
}

void progress_add(struct progress *p, uint64_t done)
{
	char line[128];
	uint64_t now;

	if (!p)
		return;
	p->done += done;
	now = now_ns();
	if (now < p->next_ns)
		return;
	p->next_ns = now + REDRAW_NS;
	progress_format(line, sizeof(line), p->unit, p->done, p->total, now - p->start_ns);
	fprintf(stderr, "\r%s\033[K", line);
	line_is_shown = true;
}

void progress_clear(void)
{
	if (line_is_shown)
		fputs("\r\033[K", stderr);
	line_is_shown = false;
}

void progress_free(struct progress *p)
{
	if (p)
		progress_clear();
	free(p);
}
