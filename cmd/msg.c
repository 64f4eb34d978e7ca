// SPDX-License-Identifier: GPL-2.0-only
#include "msg.h"

#include <errno.h>
#include <stdio.h>

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

/* One line is one write: lines of several processes do not mix. */
static void __attribute__((format(printf, 2, 0)))
print_line(const char *label, const char *fmt, va_list ap)
{
	flockfile(stderr);
	fprintf(stderr, "%s: %s", msg.prefix, label);
	vfprintf(stderr, fmt, ap);
	putc('\n', stderr);
	funlockfile(stderr);
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
