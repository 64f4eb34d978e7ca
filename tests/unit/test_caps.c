// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "caps.h"

/* The kernel's own word on a set of this process, not libcap's. */
static uint64_t status_mask(const char *key)
{
	unsigned long long mask = UINT64_MAX;
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, key, strlen(key)))
			sscanf(line + strlen(key), ": %llx", &mask);
	fclose(f);
	return mask;
}

static void test_effective(void **state)
{
	const uint64_t permitted = status_mask("CapPrm");
	const uint64_t wanted = PGS_CAP(CAP_SYS_ADMIN) | PGS_CAP(CAP_SYS_PTRACE);

	(void)state;
	assert_int_equal(pgs_caps_init(), 0);
	assert_int_equal(status_mask("CapEff"), 0);
	assert_int_equal(status_mask("CapPrm"), permitted);
	assert_int_equal(pgs_caps_permitted(), permitted);

	assert_int_equal(pgs_caps_raise(wanted), wanted & permitted);
	assert_int_equal(status_mask("CapEff"), wanted & permitted);
	errno = ENOTTY;
	pgs_caps_lower();
	assert_int_equal(errno, ENOTTY);
	assert_int_equal(status_mask("CapEff"), 0);
	assert_int_equal(pgs_caps_raise(0), 0);
	assert_int_equal(status_mask("CapEff"), 0);

	/* This program has nothing that its caller had not: a command is given all of it back. */
	assert_true(pgs_caps_are_callers());
	assert_int_equal(pgs_caps_restore(), 0);
	assert_int_equal(status_mask("CapEff"), permitted);
	assert_int_equal(pgs_caps_init(), 0);
}

static void test_missing(void **state)
{
	const uint64_t permitted = pgs_caps_permitted();

	(void)state;
	assert_int_equal(pgs_caps_missing(0), -1);
	assert_int_equal(pgs_caps_missing(permitted), -1);
	/* Bits that no kernel has are missing for everybody; the lowest one is named. */
	assert_int_equal(pgs_caps_missing(PGS_CAP(63) | PGS_CAP(62) | permitted), 62);
	for (int cap = 0; cap <= pgs_cap_last(); cap++)
		assert_int_equal(pgs_caps_missing(PGS_CAP(cap)),
				 permitted & PGS_CAP(cap) ? -1 : cap);
}

static void test_name(void **state)
{
	char buf[PGS_CAP_STR];

	(void)state;
	assert_string_equal(pgs_cap_name(CAP_CHOWN, buf), "CAP_CHOWN");
	assert_string_equal(pgs_cap_name(CAP_SYS_PTRACE, buf), "CAP_SYS_PTRACE");
	assert_string_equal(pgs_cap_name(CAP_CHECKPOINT_RESTORE, buf), "CAP_CHECKPOINT_RESTORE");
	assert_string_equal(pgs_cap_name(63, buf), "CAP_63");
	assert_string_equal(pgs_cap_name(-1, buf), "CAP_-1");
}

static void test_names(void **state)
{
	const uint64_t either = PGS_CAP(CAP_SYS_ADMIN) | PGS_CAP(CAP_CHECKPOINT_RESTORE);
	const uint64_t have = pgs_caps_permitted() & either;
	char buf[PGS_CAPS_STR];

	(void)state;
	assert_string_equal(pgs_caps_names(0, buf), "");
	assert_string_equal(pgs_caps_names(PGS_CAP(CAP_SYS_RAWIO), buf), "CAP_SYS_RAWIO");
	assert_string_equal(pgs_caps_names(PGS_CAP(CAP_SYS_RAWIO) | PGS_CAP(CAP_CHOWN), buf),
			    "CAP_CHOWN and CAP_SYS_RAWIO");
	assert_string_equal(
		pgs_caps_names(PGS_CAP(CAP_SYS_RAWIO) | PGS_CAP(CAP_CHOWN) | PGS_CAP(63), buf),
		"CAP_CHOWN, CAP_SYS_RAWIO and CAP_63");
	assert_int_equal(strlen(pgs_caps_names(UINT64_MAX, buf)), PGS_CAPS_STR - 1);
	/* One of the two is enough, and the lesser one is asked for. */
	assert_int_equal(pgs_caps_lacking(either), have ? 0 : PGS_CAP(CAP_CHECKPOINT_RESTORE));
}

static void test_last(void **state)
{
	FILE *f = fopen("/proc/sys/kernel/cap_last_cap", "re");
	int last = -1;

	(void)state;
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%d", &last), 1);
	fclose(f);
	assert_int_equal(pgs_cap_last(), last);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_effective), cmocka_unit_test(test_missing),
		cmocka_unit_test(test_name),	  cmocka_unit_test(test_names),
		cmocka_unit_test(test_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
