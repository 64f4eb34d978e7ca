// SPDX-License-Identifier: GPL-2.0-only
#include "msg.h"

#include <errno.h>
#include <stdio.h>

#include "out_escape.h"
#include "progress.h"

/* The one piece of state of the process as a whole, as stderr is: who speaks, and how much. */
static struct {
	char prefix[64];
	int verbosity;
} msg = {.prefix = "pgscan"};

void msg_init(const char *prefix, int verbosity)
{
	snprintf(msg.prefix, sizeof(msg.prefix), "%s", prefix);
	msg.verbosity = verbosity;
}

void msg_set_verbosity(int verbosity)
{
	msg.verbosity = verbosity;
}

#define LINE_MAX_BYTES 1024

/* A message may quote the name of a process or a path: it is escaped like one. stderr is not
 * buffered, so that the line is put together first and printed by one write. */
static void __attribute__((format(printf, 2, 0)))
print_line(const char *label, const char *fmt, va_list ap)
{
	char text[LINE_MAX_BYTES];
	char line[OUT_ESCAPE_MAX(LINE_MAX_BYTES)];
	int len = vsnprintf(text, sizeof(text), fmt, ap);

	if (len < 0)
		return;
	if ((size_t)len >= sizeof(text))
		len = sizeof(text) - 1;
	progress_clear();
	fprintf(stderr, "%s: %s%.*s\n", msg.prefix, label,
		(int)out_escape_message(line, text, (size_t)len), line);
}

#define MSG(name, least, label)                                                                    \
	void name(const char *fmt, ...)                                                            \
	{                                                                                          \
		va_list ap;                                                                        \
                                                                                                   \
		if (msg.verbosity < (least))                                                       \
			return;                                                                    \
		va_start(ap, fmt);                                                                 \
		print_line(label, fmt, ap);                                                        \
		va_end(ap);                                                                        \
	}

MSG(msg_error, -1, "")
MSG(msg_warn, 0, "warning: ")
MSG(msg_note, 0, "")
MSG(msg_debug, 1, "")

int msg_usage(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_line("", fmt, ap);
	va_end(ap);
	fprintf(stderr, "Try '%s --help' for more information.\n", msg.prefix);
	return PGS_EXIT_USAGE;
}

int msg_exit_status(int err)
{
	switch (-err) {
	case 0:
		return PGS_EXIT_OK;
	case EACCES:
	case EPERM:
		return PGS_EXIT_PERMISSION;
	case EOPNOTSUPP:
	case ENOTTY:
	case ENOSYS:
		return PGS_EXIT_UNSUPPORTED;
	default:
		return PGS_EXIT_FAILED;
	}
}
