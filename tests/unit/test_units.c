// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "units.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define UNTOUCHED     UINT64_C(0x5ca1ab1e)

struct number_case {
	const char *text;
	int ret;
	uint64_t value;
};

typedef int (*parser)(const char *s, uint64_t *ret_value);

/* The parser gives what each case says, and leaves the result alone when it fails. */
static void check_numbers(parser parse, const struct number_case *cases, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		uint64_t value = UNTOUCHED, want = cases[i].ret ? UNTOUCHED : cases[i].value;
		int r = parse(cases[i].text, &value);

		if (r != cases[i].ret || value != want)
			fail_msg("'%s': returned %d and %#llx, not %d and %#llx", cases[i].text, r,
				 (unsigned long long)value, cases[i].ret, (unsigned long long)want);
	}
}

static void test_u64(void **state)
{
	(void)state;
	static const struct number_case cases[] = {
		{"0", 0, 0},
		{"7", 0, 7},
		{"18446744073709551615", 0, UINT64_MAX},
		{"18446744073709551616", -ERANGE, 0},
		{"99999999999999999999999", -ERANGE, 0},
		{"0x0", 0, 0},
		{"0xdeadBEEF", 0, 0xdeadbeef},
		{"0XfF", 0, 0xff},
		{"0x00000000000000001", 0, 1},
		{"0xffffffffffffffff", 0, UINT64_MAX},
		{"0x10000000000000000", -ERANGE, 0},
		{"", -EINVAL, 0},
		{"0x", -EINVAL, 0},
		{"x1", -EINVAL, 0},
		{"ff", -EINVAL, 0},
		{"0xg", -EINVAL, 0},
		{"12a", -EINVAL, 0},
		{"-1", -EINVAL, 0},
		{"+1", -EINVAL, 0},
		{" 1", -EINVAL, 0},
		{"1 ", -EINVAL, 0},
		{"1\n", -EINVAL, 0},
		{"1.0", -EINVAL, 0},
		{"1K", -EINVAL, 0},
		{"010", -EINVAL, 0},
		{"00", -EINVAL, 0},
	};

	check_numbers(pgs_parse_u64, cases, ARRAY_SIZE(cases));
}

/* /proc/0x1 is no process. */
static void test_pid(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int err;
		pid_t pid;
	} cases[] = {
		{"1", 0, 1},
		{"2147483647", 0, INT_MAX},
		{"0", -ERANGE, 0},
		{"2147483648", -ERANGE, 0},
		{"4294967297", -ERANGE, 0},
		{"0x1", -EINVAL, 0},
		{"0X1", -EINVAL, 0},
		{"01", -EINVAL, 0},
		{"+1", -EINVAL, 0},
		{"-1", -EINVAL, 0},
		{" 1", -EINVAL, 0},
		{"1 ", -EINVAL, 0},
		{"", -EINVAL, 0},
		{"1.", -EINVAL, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		pid_t pid = 0;

		if (pgs_parse_pid(cases[i].text, &pid) != cases[i].err || pid != cases[i].pid)
			fail_msg("'%s' is %d", cases[i].text, (int)pid);
	}
}

static void test_list(void **state)
{
	(void)state;
	static const struct {
		const char *list, *want; /* each element in brackets */
	} cases[] = {
		{"a", "[a]"},	 {"a,bc", "[a][bc]"}, {"", "[]"},	    {",", "[][]"},
		{"a,", "[a][]"}, {",a", "[][a]"},     {"a,,b", "[a][][b]"}, {" a, ", "[ a][ ]"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *rest = cases[i].list, *word;
		char got[64] = "";
		size_t len;

		while ((word = pgs_list_next(&rest, &len)))
			snprintf(got + strlen(got), sizeof(got) - strlen(got), "[%.*s]", (int)len,
				 word);
		assert_string_equal(got, cases[i].want);
	}
}

static void test_size(void **state)
{
	(void)state;
	static const struct number_case cases[] = {
		{"0", 0, 0},
		{"4096", 0, 4096},
		{"0x1000", 0, 4096},
		{"0x1e", 0, 30},
		{"4K", 0, 4096},
		{"4k", 0, 4096},
		{"4KiB", 0, 4096},
		{"4kB", 0, 4096},
		{"4KB", 0, 4096},
		{"1.5M", 0, 1572864},
		{"1.5G", 0, 1610612736},
		{".5K", 0, 512},
		{"0.5K", 0, 512},
		{"0.3K", 0, 307}, /* 307.2: whole bytes, downwards */
		{"1.000000000000000000000001K", 0, 1024},
		{"0.1E", 0, 115292150460684697},
		{"2T", 0, UINT64_C(1) << 41},
		{"1P", 0, UINT64_C(1) << 50},
		{"15E", 0, UINT64_C(15) << 60},
		{"15.9E", 0, 0xfe66666666666666},
		{"16E", -ERANGE, 0},
		{"18446744073709551616", -ERANGE, 0},
		{"18014398509481984K", -ERANGE, 0},
		{"18014398509481983.999K", 0, UINT64_MAX - 1},
		{"1.5", -EINVAL, 0},
		{"1.K", -EINVAL, 0},
		{".", -EINVAL, 0},
		{".K", -EINVAL, 0},
		{"K", -EINVAL, 0},
		{"", -EINVAL, 0},
		{"4B", -EINVAL, 0},
		{"4Ki", -EINVAL, 0},
		{"4KiBx", -EINVAL, 0},
		{"4 K", -EINVAL, 0},
		{"4@", -EINVAL, 0},
		{"4+", -EINVAL, 0},
		{"0x4K", -EINVAL, 0},
		{"1,5M", -EINVAL, 0},
		{"-4K", -EINVAL, 0},
		{"1e3", -EINVAL, 0},
		{"inf", -EINVAL, 0},
		{"00400000", -EINVAL, 0},
	};

	check_numbers(pgs_parse_size, cases, ARRAY_SIZE(cases));
}

static void test_seconds(void **state)
{
	(void)state;
	static const struct number_case cases[] = {
		{"1", 0, 1000000000},
		{"0.1", 0, 100000000},
		{".25", 0, 250000000},
		{"1.000000001", 0, 1000000001},
		{"1.0000000019", 0, 1000000001},
		{"0.000000000000000000000001", -ERANGE, 0},
		{"0", -ERANGE, 0},
		{"0.0", -ERANGE, 0},
		{"18446744073.709551615", 0, UINT64_MAX},
		{"18446744073.709551616", -ERANGE, 0},
		{"18446744074", -ERANGE, 0},
		{"1s", -EINVAL, 0},
		{"1.", -EINVAL, 0},
		{"0x1", -EINVAL, 0},
		{"nan", -EINVAL, 0},
		{"-1", -EINVAL, 0},
		{"", -EINVAL, 0},
	};

	check_numbers(pgs_parse_seconds, cases, ARRAY_SIZE(cases));
}

static void test_range(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint64_t align;
		int ret;
		struct pgs_range range;
	} cases[] = {
		{"0x1000-0x2000", 4096, 0, {0x1000, 0x2000}},
		{"0x1001-0x2001", 4096, 0, {0x1000, 0x3000}},
		{"0x1001-0x2001", 1, 0, {0x1001, 0x2001}},
		{"0x1001+1", 4096, 0, {0x1000, 0x2000}},
		{"0x1fff+2", 4096, 0, {0x1000, 0x3000}},
		{"0x1000+4K", 65536, 0, {0, 0x10000}},
		{"1G+1.5M", 4096, 0, {0x40000000, 0x40180000}},
		{"0-16", 1, 0, {0, 16}},
		{"0xffffffffff600000+4K", 4096, 0, {0xffffffffff600000, 0xffffffffff601000}},
		{"0-0xffffffffffffffff", 4096, 0, {0, 0xfffffffffffff000}},
		{"0xfffffffffffff000+1", 4096, -ERANGE, {0}},
		{"0xffffffffffffffff+1", 1, -ERANGE, {0}},
		{"0x2000-0x1000", 4096, -EINVAL, {0}},
		{"0x1000-0x1000", 4096, -EINVAL, {0}},
		{"0x1000+0", 4096, -EINVAL, {0}},
		{"0x1000", 4096, -EINVAL, {0}},
		{"0x1000-", 4096, -EINVAL, {0}},
		{"-0x1000", 4096, -EINVAL, {0}},
		{"-", 4096, -EINVAL, {0}},
		{"", 4096, -EINVAL, {0}},
		{"1-2-3", 1, -EINVAL, {0}},
		{"0x1000-+0x2000", 1, -EINVAL, {0}},
		{"16E-17E", 1, -ERANGE, {0}},
		{"00400000-00452000", 4096, -EINVAL, {0}}, /* hex as in /proc/PID/maps */
		{"1111111111111111111111111111111111111111111111111111111111111111111-2",
		 1,
		 -EINVAL,
		 {0}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct pgs_range range = {UNTOUCHED, UNTOUCHED};
		struct pgs_range want = cases[i].ret ? range : cases[i].range;
		int r = pgs_parse_range(cases[i].text, cases[i].align, &range);

		if (r != cases[i].ret || range.start != want.start || range.end != want.end)
			fail_msg("'%s': returned %d and %#llx-%#llx", cases[i].text, r,
				 (unsigned long long)range.start, (unsigned long long)range.end);
	}
}

static void test_format(void **state)
{
	(void)state;
	static const struct {
		uint64_t bytes;
		const char *text;
	} cases[] = {
		{0, "0"},
		{1, "1"},
		{999, "999"},
		{1000, "0.98K"},
		{1023, "1K"},
		{1024, "1K"},
		{1536, "1.5K"},
		{1572864, "1.5M"},
		{4096, "4K"},
		{10 * 1024, "10K"},
		{100 * 1024, "100K"},
		{1044, "1.02K"},
		{15700, "15.3K"},
		{999 * 1024, "999K"},
		{999 * 1024 + 511, "999K"},
		{999 * 1024 + 512, "0.98M"}, /* not 1000K */
		{99 * 1024 + 1000, "100K"},  /* 99.98 */
		{9 * 1024 + 1023, "10K"},    /* 9.999 */
		{1000 * 1024, "0.98M"},
		{UINT64_C(16) << 40, "16T"},
		{UINT64_C(1) << 60, "1E"},
		{UINT64_MAX, "16E"},
	};
	char buf[PGS_SIZE_STR];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_string_equal(pgs_format_size(cases[i].bytes, buf), cases[i].text);
}

/* What is printed is read back to within the three digits that were printed. */
static void test_format_round_trip(void **state)
{
	(void)state;
	char buf[PGS_SIZE_STR];

	for (uint64_t bytes = 1; bytes < UINT64_MAX / 3; bytes = bytes * 3 + 1) {
		uint64_t back, error;

		pgs_format_size(bytes, buf);
		assert_int_equal(pgs_parse_size(buf, &back), 0);
		error = back > bytes ? back - bytes : bytes - back;
		if (error > bytes / 100)
			fail_msg("%llu printed as %s", (unsigned long long)bytes, buf);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_u64),	cmocka_unit_test(test_pid),
		cmocka_unit_test(test_list),	cmocka_unit_test(test_size),
		cmocka_unit_test(test_seconds), cmocka_unit_test(test_range),
		cmocka_unit_test(test_format),	cmocka_unit_test(test_format_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
