// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "progress.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define S	      UINT64_C(1000000000)

static void test_format(void **state)
{
	static const struct {
		uint64_t done, total, elapsed_ns;
		const char *want;
	} cases[] = {
		{0, 0, 0, "0 pages, 0/s"},
		{0, 1000, 2 * S, "  0%  0 pages, 0/s"},
		{1000, 0, 2 * S, "1k pages, 500/s"},
		{500, 1000, 2 * S, " 50%  500 pages, 250/s, 0:02 left"},
		{999, 1000, S, " 99%  999 pages, 999/s, 0:00 left"},
		{1000, 1000, S, "100%  1k pages, 1k/s"},
		{3000, 1000, S, "100%  3k pages, 3k/s"},
		{1 << 20, UINT64_C(1) << 30, S, "  0%  1.05M pages, 1.05M/s, 17:03 left"},
		{UINT64_MAX, 0, S, "1.84e+07T pages, 1.84e+07T/s"},
	};
	char text[80];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t len = progress_format(text, sizeof(text), "pages", cases[i].done,
					     cases[i].total, cases[i].elapsed_ns);

		assert_string_equal(text, cases[i].want);
		assert_int_equal(len, strlen(text));
	}
}

/* Off a terminal there is none, and all functions take it. */
static void test_none(void **state)
{
	int saved = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY);
	struct progress *p;

	(void)state;
	setenv("TERM", "xterm", 1);
	dup2(null, STDERR_FILENO);
	p = progress_new("pages", 1, 0);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(null);
	assert_null(p);
	progress_add(p, 1);
	progress_total(p, 2);
	progress_free(p);
	progress_clear();
}

/* On one, nothing within the first second. */
static void test_quiet_start(void **state)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK), saved = dup(STDERR_FILENO),
	    slave;
	struct progress *p, *quiet;
	char text[256];
	ssize_t n;

	(void)state;
	assert_int_equal(grantpt(master) | unlockpt(master), 0);
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	setenv("TERM", "xterm", 1);
	dup2(slave, STDERR_FILENO);
	quiet = progress_new("pages", 1, -1);
	p = progress_new("pages", 100, 0);
	progress_add(p, 50);
	progress_free(p);
	dup2(saved, STDERR_FILENO);
	n = read(master, text, sizeof(text));
	close(slave);
	close(master);
	close(saved);
	assert_null(quiet);
	assert_non_null(p);
	assert_int_equal(n, -1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_quiet_start),
	};

	return cmocka_run_group_tests_name("progress", tests, NULL, NULL);
}
