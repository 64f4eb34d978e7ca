// SPDX-License-Identifier: GPL-2.0-only
/* swapmap: what is printed of shared memory that could not be told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "swapmap.h"
#include "swapobj_priv.h"

static void test_part(void **state)
{
	const struct swapmap m = {.owners_known = true};
	struct swapmap_part part = {.anon = 3, .shmem = 5, .share = {.share = 8, .unique = 8}};
	char buf[SWAPMAP_NOTE];
	struct pgs_val vals[5];

	(void)state;
	swapmap_part_vals(&m, &part, part.anon, part.shmem, vals);
	assert_null(swapmap_part_note(&m, &part, part.shmem, buf));
	for (size_t i = 0; i < 5; i++)
		assert_true(vals[i].set);

	part.unknown = true; /* 5 pages were seen, there may be others */
	swapmap_part_vals(&m, &part, part.anon, part.shmem, vals);
	assert_true(vals[0].set && vals[0].u == 3);
	for (size_t i = 1; i < 5; i++)
		assert_false(vals[i].set);
	assert_string_equal(swapmap_part_note(&m, &part, part.shmem, buf),
			    "shared memory not known: 5 pages were seen in swap");
	assert_string_equal(swapmap_part_note(&m, &part, 0, buf), "shared memory not known");
}

/* An object that nobody maps counts with the whole system, and not with a process. */
static void test_shmem_known(void **state)
{
	struct pgs_swapobjs objs = {.complete = true};
	struct swapmap_opts opts = {.target.system = true};
	struct swapmap m = {.opts = &opts, .objs = &objs};
	struct pgs_swapobj obj = {.nr_extents = 1}, *all[] = {&obj};

	(void)state;
	objs.objs = all;
	objs.nr = 1;
	assert_true(swapmap_shmem_known(&m));
	obj.racy = true;
	assert_false(swapmap_shmem_known(&m));
	opts.target.system = false;
	assert_true(swapmap_shmem_known(&m));
	m.shmem_unknown = true;
	assert_false(swapmap_shmem_known(&m));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_part),
		cmocka_unit_test(test_shmem_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
