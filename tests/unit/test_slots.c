// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "slots.h"

static struct pgs_slots *make(void)
{
	struct pgs_slots *slots;

	assert_int_equal(pgs_slots_new(&slots), 0);
	return slots;
}

static void hold(struct pgs_slots *slots, uint32_t space, uint64_t first, uint64_t count,
		 uint32_t owner)
{
	assert_int_equal(pgs_slots_hold(slots, space, first, count, owner, PGS_SLOT_ANON), 0);
}

static uint32_t holders(const struct pgs_slots *slots, uint32_t space, uint64_t slot)
{
	return pgs_slots_get(slots, space, slot).holders;
}

/* Runs that cross chunks, overlap, and lie in several spaces. */
static void test_hold(void **state)
{
	struct pgs_slots *slots = make();

	(void)state;
	hold(slots, 0, 500, 1000, 1);
	hold(slots, 0, 1000, 1000, 2);
	hold(slots, 1, 1000, 1, 3);
	assert_int_equal(holders(slots, 0, 499), 0);
	assert_int_equal(holders(slots, 0, 500), 1);
	assert_int_equal(holders(slots, 0, 999), 1);
	assert_int_equal(holders(slots, 0, 1000), 2);
	assert_int_equal(holders(slots, 0, 1499), 2);
	assert_int_equal(holders(slots, 0, 1500), 1);
	assert_int_equal(holders(slots, 0, 1999), 1);
	assert_int_equal(holders(slots, 0, 2000), 0);
	assert_int_equal(holders(slots, 1, 1000), 1);
	assert_int_equal(pgs_slots_get(slots, 1, 1000).owner, 3);
	assert_int_equal(pgs_slots_get(slots, 2, 1000).owner, PGS_SLOT_NOBODY);
	pgs_slots_free(slots);
}

/* A process that has merged pages (KSM) tells a slot twice, and is one owner. */
static void test_owner_counts_once(void **state)
{
	struct pgs_slots *slots = make();

	(void)state;
	hold(slots, 0, 10, 2, 1);
	hold(slots, 0, 11, 2, 1);
	hold(slots, 0, 11, 1, 2);
	assert_int_equal(holders(slots, 0, 10), 1);
	assert_int_equal(holders(slots, 0, 11), 2);
	assert_int_equal(holders(slots, 0, 12), 1);
	pgs_slots_free(slots);
}

/* Offsets as large as a swap entry can say, and many chunks: the table grows. */
static void test_far_apart(void **state)
{
	struct pgs_slots *slots = make();

	(void)state;
	for (uint64_t i = 0; i < 1000; i++)
		hold(slots, (uint32_t)(i % 40), i << 40 | 511, 2, (uint32_t)i);
	for (uint64_t i = 0; i < 1000; i++) {
		uint32_t space = (uint32_t)(i % 40);

		assert_int_equal(pgs_slots_get(slots, space, i << 40 | 511).owner, i);
		assert_int_equal(pgs_slots_get(slots, space, (i << 40 | 511) + 1).owner, i);
		assert_int_equal(holders(slots, space, (i << 40 | 511) + 2), 0);
	}
	pgs_slots_free(slots);
}

static void test_run(void **state)
{
	struct pgs_slots *slots = make();
	uint32_t n;

	(void)state;
	hold(slots, 0, 0, 2000, 1);
	hold(slots, 0, 600, 1400, 2);
	hold(slots, 0, 1999, 1, 3);
	assert_int_equal(pgs_slots_run(slots, 0, 0, 2000, &n), 600);
	assert_int_equal(n, 1);
	assert_int_equal(pgs_slots_run(slots, 0, 600, 100, &n), 100);
	assert_int_equal(pgs_slots_run(slots, 0, 600, 1400, &n), 1399);
	assert_int_equal(n, 2);
	assert_int_equal(pgs_slots_run(slots, 0, 1999, 500, &n), 1);
	assert_int_equal(n, 3);
	assert_int_equal(pgs_slots_run(slots, 0, 2000, 5000, &n), 5000);
	assert_int_equal(n, 0);
	pgs_slots_free(slots);
}

static struct pgs_share share(struct pgs_slots *slots, uint64_t first, uint64_t count,
			      uint32_t owner, struct pgs_share share)
{
	assert_int_equal(pgs_slots_share(slots, 0, first, count, owner, PGS_SLOT_ANON, &share), 0);
	return share;
}

static void test_share(void **state)
{
	struct pgs_slots *slots = make();
	struct pgs_slot_counts counts = {0};
	struct pgs_share s = {0};

	(void)state;
	for (uint32_t owner = 0; owner < 4; owner++)
		hold(slots, 0, 100, 64, owner);
	hold(slots, 0, 1000, 10, 0);
	s = share(slots, 100, 64, 0, s);
	s = share(slots, 1000, 10, 0, s);
	assert_int_equal(s.anon, 74);
	assert_int_equal(s.unique, 10);
	assert_true(s.share == 26.0);
	/* Said twice, and new since the owners were counted */
	s = share(slots, 1000, 12, 0, s);
	assert_int_equal(s.anon, 76);
	assert_true(s.share == 28.0);
	/* The next one's */
	s = share(slots, 100, 64, 1, (struct pgs_share){0});
	assert_int_equal(s.anon, 64);
	assert_int_equal(s.unique, 0);
	assert_true(s.share == 16.0);
	pgs_slots_count(slots, 0, 1, &counts);
	assert_int_equal(counts.anon, 76);
	assert_int_equal(counts.shown_anon, 76);
	assert_int_equal(counts.shmem, 0);
	pgs_slots_free(slots);
}

static void test_count(void **state)
{
	struct pgs_slots *slots = make();
	struct pgs_slot_counts counts = {0};
	struct pgs_share s = {0};

	(void)state;
	hold(slots, 3, 0, 700, 1);
	assert_int_equal(pgs_slots_hold(slots, 3, 5000, 30, PGS_SLOT_NOBODY, PGS_SLOT_SHMEM), 0);
	assert_int_equal(pgs_slots_hold(slots, 40, 0, 5, 1, PGS_SLOT_SHMEM), 0);
	assert_int_equal(pgs_slots_share(slots, 3, 0, 100, 1, 0, &s), 0);
	pgs_slots_count(slots, 3, 4, &counts);
	assert_int_equal(counts.anon, 700);
	assert_int_equal(counts.shmem, 30);
	assert_int_equal(counts.shown_anon, 100);
	assert_int_equal(counts.shown_shmem, 0);
	assert_int_equal(holders(slots, 3, 5000), 0);
	pgs_slots_count(slots, 32, UINT32_MAX, &counts);
	assert_int_equal(counts.shmem, 35);
	pgs_slots_free(slots);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hold),  cmocka_unit_test(test_owner_counts_once),
		cmocka_unit_test(test_run),   cmocka_unit_test(test_far_apart),
		cmocka_unit_test(test_share), cmocka_unit_test(test_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
