// SPDX-License-Identifier: GPL-2.0-only
/* ranges and pageset: sets of addresses and of pages, each against an array of bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "pageset.h"
#include "ranges.h"

#define SIZE 200u

static void assert_ranges(const struct pgs_ranges *set, const bool *bits)
{
	uint64_t total = 0;

	for (size_t i = 0; i + 1 < set->nr; i++)
		assert_true(set->v[i].end < set->v[i + 1].start);
	for (uint64_t at = 0, stop; at < SIZE; at = stop) {
		bool is_in = pgs_ranges_next(set, at, SIZE, &stop);

		assert_true(stop > at && stop <= SIZE);
		for (uint64_t i = at; i < stop; i++)
			assert_int_equal(bits[i], is_in);
		if (stop < SIZE)
			assert_int_not_equal(bits[stop], is_in);
		total += is_in ? stop - at : 0;
	}
	assert_int_equal(pgs_ranges_total(set), total);
}

static void test_ranges_random(void **state)
{
	struct pgs_ranges set = {0};
	bool bits[SIZE] = {false};
	unsigned int seed = 7;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		uint64_t start = (uint64_t)rand_r(&seed) % SIZE;
		uint64_t end = start + (uint64_t)rand_r(&seed) % 12;
		bool add = rand_r(&seed) % 2;

		end = end > SIZE ? SIZE : end;
		if (add)
			assert_int_equal(pgs_ranges_add(&set, start, end), 0);
		else
			assert_int_equal(pgs_ranges_remove(&set, start, end), 0);
		for (uint64_t k = start; k < end; k++)
			bits[k] = add;
		assert_ranges(&set, bits);
	}
	pgs_ranges_fini(&set);
}

static void test_ranges_ends(void **state)
{
	struct pgs_ranges set = {0};
	uint64_t stop;

	(void)state;
	assert_false(pgs_ranges_next(&set, 5, 9, &stop));
	assert_int_equal(stop, 9);
	assert_int_equal(pgs_ranges_add(&set, UINT64_MAX - 8, UINT64_MAX), 0);
	assert_int_equal(pgs_ranges_add(&set, 0, 4), 0);
	assert_true(pgs_ranges_next(&set, 0, UINT64_MAX, &stop));
	assert_int_equal(stop, 4);
	assert_int_equal(pgs_ranges_remove(&set, 0, UINT64_MAX), 0);
	assert_int_equal(set.nr, 0);
	pgs_ranges_fini(&set);
}

static void test_pageset_random(void **state)
{
	const uint64_t base = (UINT64_C(1) << 52) - 4096;
	struct pgs_pageset *set = pgs_pageset_new();
	bool *bits = calloc(1 << 17, sizeof(*bits));
	unsigned int seed = 11;
	uint64_t count = 0;

	(void)state;
	assert_non_null(set);
	for (int i = 0; i < 3000; i++) {
		uint64_t first = (uint64_t)rand_r(&seed) % (1 << 16);
		uint64_t nr = (uint64_t)rand_r(&seed) % (i % 10 ? 5 : 3000);

		assert_int_equal(pgs_pageset_add(set, base + first, nr), 0);
		for (uint64_t k = first; k < first + nr; k++) {
			count += !bits[k];
			bits[k] = true;
		}
		assert_int_equal(pgs_pageset_count(set), count);
	}
	free(bits);
	pgs_pageset_free(set);
	pgs_pageset_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranges_random),
		cmocka_unit_test(test_ranges_ends),
		cmocka_unit_test(test_pageset_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
