// SPDX-License-Identifier: GPL-2.0-only
/* --where: what a filter matches, and what is no filter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dump.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define KPF_DIRTY     (UINT64_C(1) << 4)
#define KPF_WRITEBACK (UINT64_C(1) << 8)
#define KPF_HWPOISON  (UINT64_C(1) << 19)

static const struct dump_run anon = {.page = {.state = PGS_PRESENT, .exclusive = true}};
static const struct dump_run file = {
	.page = {.state = PGS_PRESENT, .file = true}, .has_flags = true, .kpageflags = KPF_DIRTY};
static const struct dump_run poisoned_frame = {
	.page = {.state = PGS_PRESENT}, .has_flags = true, .kpageflags = KPF_HWPOISON};
static const struct dump_run none = {.page = {.state = PGS_NONE}};
static const struct dump_run unknown = {.page = {.state = PGS_UNKNOWN}};
static const struct dump_run lost = {.page = {.state = PGS_SWAPPED, .file = true},
				     .bits_lost = true};
static const struct dump_run away = {.page = {.state = PGS_SWAPPED}, .cache_known = true};
static const struct dump_run cached = {.page = {.state = PGS_SWAP_CACHE}, .cache_known = true};
static const struct dump_run unscanned = {.page = {.state = PGS_UNSCANNED}};
static const struct dump_run moving = {
	.page = {.state = PGS_PRESENT}, .has_flags = true, .racy = true, .kpageflags = KPF_DIRTY};
static const struct dump_run maybe_huge = {.page = {.state = PGS_PRESENT}, .huge = PGS_TRI_UNKNOWN};

static const struct {
	const char *expr;
	const struct dump_run *run;
	bool matches;
} cases[] = {
	{"present", &anon, true},
	{"present", &none, false},
	{"!present", &none, true},
	{"present,!file", &anon, true},
	{"present,!file", &file, false},
	{"present,file", &file, true},
	{"swapped|none", &none, true},
	{"swapped|none", &anon, false},
	/* "and" binds more tightly: (none) or (present and file) */
	{"none|present,file", &none, true},
	{"none|present,file", &anon, false},
	{"none|present,file", &file, true},
	{"present,present", &anon, true},
	{"present,!present", &anon, false},
	/* A state that is not known is neither this nor not this. */
	{"none", &unknown, false},
	{"!none", &unknown, false},
	{"swapped", &lost, true},
	{"swap_cache", &lost, false},
	{"!swap_cache", &lost, false},
	{"!swap_cache", &away, true},
	{"!swap_cache", &none, true},
	{"swapped", &cached, false},
	{"swapped|swap_cache", &cached, true},
	{"soft_dirty", &lost, false},
	{"!soft_dirty", &lost, false},
	{"!file", &unknown, false},
	{"unscanned", &unscanned, true},
	{"!file", &unscanned, false},
	{"!soft_dirty", &unscanned, false},
	{"!exclusive", &unscanned, false},
	{"!huge", &unscanned, false},
	{"!soft_dirty", &anon, true},
	{"huge", &maybe_huge, false},
	{"!huge", &maybe_huge, false},
	{"!huge", &anon, true},
	/* Frame flags are those of a frame: without one they are not clear. */
	{"dirty|writeback", &file, true},
	{"writeback", &file, false},
	{"!writeback", &file, true},
	{"!writeback", &none, false},
	{"dirty,!writeback", &file, true},
	{"dirty", &moving, false},
	{"!writeback", &moving, false},
	/* A name that is both is the state; the prefix means the flag. */
	{"hwpoison", &poisoned_frame, false},
	{"kpf_hwpoison", &poisoned_frame, true},
};

static void test_matches(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct dump_where *where;
		char *bad = NULL;

		assert_int_equal(dump_where_parse(cases[i].expr, &where, &bad), 0);
		if (dump_where_matches(where, cases[i].run, true) != cases[i].matches)
			fail_msg("'%s', case %zu", cases[i].expr, i);
		dump_where_free(where);
	}
}

static void test_bad(void **state)
{
	static const struct {
		const char *expr, *bad;
	} bads[] = {
		{"", ""},
		{"present,", ""},
		{",present", ""},
		{"present|", ""},
		{"!", ""},
		{"!!file", "!file"},
		{"presen", "presen"},
		{"present, file", " file"},
		{"kpf_present", "kpf_present"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bads); i++) {
		struct dump_where *where;
		char *bad = NULL;

		assert_int_equal(dump_where_parse(bads[i].expr, &where, &bad), -EINVAL);
		assert_string_equal(bad + (*bad == '!'), bads[i].bad);
		free(bad);
	}
}

static void test_needs_frames(void **state)
{
	struct dump_where *where;
	char *bad;

	(void)state;
	assert_int_equal(dump_where_parse("present,!file", &where, &bad), 0);
	assert_false(dump_where_needs_frames(where));
	dump_where_free(where);
	assert_int_equal(dump_where_parse("none|present,lru", &where, &bad), 0);
	assert_true(dump_where_needs_frames(where));
	dump_where_free(where);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_matches),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_needs_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
