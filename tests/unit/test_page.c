// SPDX-License-Identifier: GPL-2.0-only
/* Words of pagemap: what each says, how runs are cut, that bulk counts agree with single pages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "page.h"

#define ARRAY_SIZE(a)	   (sizeof(a) / sizeof((a)[0]))

#define PRESENT		   PGS_PM_PRESENT
#define SWAP(type, offset) (PGS_PM_SWAP | (uint64_t)(offset) << PGS_PM_SWAP_TYPE_BITS | (type))

/* As on 6.12 without device-private memory: 31 markers, 28-30 migration, 27 hwpoison. */
static struct pgs_swap_types types_6_12(void)
{
	struct pgs_swap_types types = {.marker = 31, .resolved = true, .swap_areas = true};

	for (unsigned int i = 0; i < PGS_PM_SWAP_TYPES; i++)
		types.state[i] = i < 27	   ? PGS_SWAPPED
				 : i == 27 ? PGS_HWPOISON
				 : i < 31  ? PGS_MIGRATION
					   : PGS_UNKNOWN;
	return types;
}

static void test_states(void **state)
{
	static const struct {
		uint64_t word;
		enum pgs_state state;
	} cases[] = {
		{0, PGS_NONE},
		{PGS_PM_SOFT_DIRTY, PGS_NONE}, /* a young mapping */
		{PRESENT, PGS_PRESENT},	       /* frame hidden */
		{UINT64_C(0x81000000002634d4), PGS_PRESENT},
		{SWAP(0, 1), PGS_SWAPPED},
		{SWAP(26, 0x1234567), PGS_SWAPPED},
		{SWAP(27, 0x1234567), PGS_HWPOISON},
		{SWAP(28, 0x1234567), PGS_MIGRATION},
		{SWAP(30, 0x1234567), PGS_MIGRATION},
		{UINT64_C(0x420000000000003f), PGS_UFFD_WP_MARKER},
		{UINT64_C(0x440000000000009f), PGS_GUARD},
		{UINT64_C(0x400000000000009f), PGS_GUARD}, /* 6.13, 6.14: no bit 58 */
		{SWAP(31, 2), PGS_POISONED},
		{PGS_PM_SWAP | PGS_PM_GUARD, PGS_GUARD},     /* hidden, but its bit shows */
		{PGS_PM_SWAP, PGS_SWAPPED},		     /* hidden */
		{PGS_PM_SWAP | PGS_PM_UFFD_WP, PGS_UNKNOWN}, /* hidden: a marker or a page */
	};
	struct pgs_swap_types types = types_6_12();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(pgs_page_state(cases[i].word, &types), cases[i].state);
	types.swap_areas = false;
	assert_int_equal(pgs_page_state(PGS_PM_SWAP | PGS_PM_UFFD_WP, &types), PGS_UFFD_WP_MARKER);
	assert_int_equal(pgs_page_state(PGS_PM_SWAP, &types), PGS_UNKNOWN);
	types.swap_areas = types.guard_is_bare = true;
	assert_int_equal(pgs_page_state(PGS_PM_SWAP, &types), PGS_UNKNOWN);
}

static void test_decode(void **state)
{
	struct pgs_swap_types types = types_6_12();
	struct pgs_page page;

	(void)state;
	pgs_page_decode(UINT64_C(0x81000000002634d4), &types, &page);
	assert_true(page.has_frame && page.exclusive && !page.file && !page.soft_dirty);
	assert_int_equal(page.pfn, 0x2634d4);
	pgs_page_decode(SWAP(2, 77) | PGS_PM_SOFT_DIRTY | PGS_PM_UFFD_WP, &types, &page);
	assert_true(page.has_slot && page.soft_dirty && page.uffd_wp && !page.has_frame);
	assert_int_equal(page.swap_type, 2);
	assert_int_equal(page.swap_offset, 77);
	/* Neither frame 0 nor slot 0 of type 0 is a place: it is what the unprivileged read. */
	pgs_page_decode(PRESENT | PGS_PM_FILE, &types, &page);
	assert_true(page.file && !page.has_frame);
	pgs_page_decode(PGS_PM_SWAP, &types, &page);
	assert_false(page.has_slot);
	pgs_page_decode(UINT64_C(0x440000000000009f), &types, &page);
	assert_true(page.guard && !page.has_slot);
	pgs_page_decode(UINT64_C(0x1800000000000000), &types, &page);
	assert_int_equal(page.unknown_bits, UINT64_C(0x1800000000000000));
}

static void test_runs(void **state)
{
	static const struct {
		uint64_t words[4];
		size_t length;
	} cases[] = {
		{{PRESENT | 5, PRESENT | 6, PRESENT | 7, PRESENT | 9}, 3},
		{{PRESENT | 5, PRESENT | PGS_PM_EXCLUSIVE | 6, 0, 0}, 1},
		{{PRESENT, PRESENT, PRESENT, 0}, 3}, /* hidden */
		{{SWAP(1, 8), SWAP(1, 9), SWAP(1, 10), SWAP(1, 11)}, 4},
		{{SWAP(1, 8), SWAP(2, 9), 0, 0}, 1},
		{{SWAP(31, 1), SWAP(31, 1), SWAP(31, 2), 0}, 2}, /* markers do not count up */
		{{0, 0, 0, PGS_PM_SOFT_DIRTY}, 3},
	};
	struct pgs_swap_types types = types_6_12();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(pgs_run_length(cases[i].words, 4,
						pgs_page_step(cases[i].words[0], &types)),
				 cases[i].length);
}

static void test_special(void **state)
{
	/* Markers are common and known: they ask for nothing more. */
	const uint64_t usual[] = {PRESENT | 31, SWAP(21, 5), 0, PRESENT | 22, SWAP(31, 4)};
	const uint64_t special[] = {0, SWAP(22, 1)};
	struct pgs_swap_types types = types_6_12();

	(void)state;
	assert_false(pgs_words_special(usual, ARRAY_SIZE(usual), &types));
	assert_true(pgs_words_special(special, ARRAY_SIZE(special), &types));
}

/* Among empty entries, some of them soft-dirty: whatever is not, wherever it is, is found. */
static void test_among_empty(void **state)
{
	static const uint64_t odd_ones[] = {PRESENT, SWAP(0, 1), SWAP(22, 1)};
	enum { N = 35 };
	struct pgs_swap_types types = types_6_12();

	(void)state;
	for (size_t count = 1; count <= N; count++) {
		for (size_t at = 0; at <= count; at++) {
			for (size_t odd = 0; odd < ARRAY_SIZE(odd_ones); odd++) {
				uint64_t words[N + 1] = {[3] = PGS_PM_SOFT_DIRTY};

				words[at] = odd_ones[odd];
				assert_int_equal(pgs_words_empty(words, count), at);
				assert_int_equal(pgs_words_special(words, count, &types),
						 odd == 2 && at < count);
			}
		}
	}
}

static uint64_t random_word(unsigned int *seed)
{
	static const uint64_t flags[] = {
		0,
		PRESENT,
		PRESENT | PGS_PM_FILE,
		PRESENT | PGS_PM_EXCLUSIVE | PGS_PM_SOFT_DIRTY,
		PGS_PM_SWAP,
		PGS_PM_SWAP | PGS_PM_UFFD_WP,
		PGS_PM_SOFT_DIRTY,
	};
	uint64_t word = flags[rand_r(seed) % ARRAY_SIZE(flags)];

	return word & (PRESENT | PGS_PM_SWAP) ? word | (uint64_t)(rand_r(seed) % 300) : word;
}

#define ZERO_PFN 7

/* One page after the other, as pgs_page_decode() has it. */
static void count_singly(const uint64_t *words, size_t count, const struct pgs_swap_types *types,
			 struct pgs_counts *counts)
{
	for (size_t i = 0; i < count; i++) {
		struct pgs_page page;

		pgs_page_decode(words[i], types, &page);
		counts->pages++;
		counts->state[page.state]++;
		counts->guard += page.guard;
		counts->zero += page.has_frame && page.pfn == ZERO_PFN;
		counts->hidden += page.state == PGS_PRESENT && !page.has_frame;
		if (page.state == PGS_NONE)
			continue;
		counts->file += page.file;
		counts->soft_dirty += page.soft_dirty;
		counts->exclusive += page.exclusive;
		counts->uffd_wp += page.uffd_wp;
	}
}

/* The loops that count in bulk against single pages. */
static struct pgs_counts assert_counts(const uint64_t *words, size_t count,
				       const struct pgs_swap_types *types)
{
	struct pgs_counts bulk = {0}, single = {0};

	pgs_count_words(words, count, types, ZERO_PFN, &bulk);
	count_singly(words, count, types, &single);
	assert_memory_equal(&bulk, &single, sizeof(bulk));
	return single;
}

static void test_counts(void **state)
{
	enum { N = 4096 };
	struct pgs_swap_types types = types_6_12();
	struct pgs_counts counts;
	uint64_t words[N] = {0};
	unsigned int seed = 1;

	(void)state;
	for (size_t i = 0; i < N; i++)
		words[i] = i && i % 3 ? words[i - 1] + pgs_page_step(words[i - 1], &types)
				      : random_word(&seed);
	counts = assert_counts(words, N, &types);
	assert_true(counts.zero && counts.hidden && counts.state[PGS_SWAPPED]);
}

/* Pages of @other and, from @at on, @odd pages of @odd_one: every length, every place. */
static void assert_odd_ones(const uint64_t other[2], uint64_t odd_one, size_t odd)
{
	enum { N = 35 };
	struct pgs_swap_types types = types_6_12();
	uint64_t words[N];

	for (size_t count = 1; count <= N; count++) {
		for (size_t at = 0; at < count; at++) {
			for (size_t i = 0; i < count; i++)
				words[i] =
					i >= at && i - at < odd ? odd_one : other[0] + i * other[1];
			assert_counts(words, count, &types);
			assert_int_equal(pgs_words_present(words, count),
					 odd_one & PRESENT ? count : at);
		}
	}
}

/* Present pages are counted by blocks. What is not like its neighbours is found wherever in a block
 * it is, whether their frames have a bit in common that tells, or none, or are all the same. */
static void test_odd_ones(void **state)
{
	static const uint64_t others[][2] = {
		{PRESENT | PGS_PM_FILE | 0x12340, 1},
		{PRESENT | PGS_PM_FILE | 1, 1},
		{PRESENT | PGS_PM_FILE | (ZERO_PFN + 1), 0},
		{PRESENT | PGS_PM_FILE | ZERO_PFN, 0},
		{PRESENT | PGS_PM_FILE, 0},
	};
	static const uint64_t odd_ones[] = {
		0,
		SWAP(1, 2),
		SWAP(31, 4),
		PRESENT,
		PRESENT | PGS_PM_FILE,
		PRESENT | PGS_PM_FILE | ZERO_PFN,
		PRESENT | PGS_PM_FILE | 0x12345,
		PRESENT | PGS_PM_FILE | PGS_PM_EXCLUSIVE | 0x12345,
		PRESENT | PGS_PM_SOFT_DIRTY | ZERO_PFN,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(odd_ones); j++) {
			assert_odd_ones(others[i], odd_ones[j], 1);
			assert_odd_ones(others[i], odd_ones[j], SIZE_MAX);
		}
	}
}

static void test_names(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < PGS_STATES; i++)
		assert_int_equal(pgs_state_of_name(pgs_state_name(i)), i);
	assert_null(pgs_state_name(PGS_UNKNOWN));
	assert_int_equal(pgs_state_of_name("swap"), PGS_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states),	    cmocka_unit_test(test_decode),
		cmocka_unit_test(test_runs),	    cmocka_unit_test(test_special),
		cmocka_unit_test(test_among_empty), cmocka_unit_test(test_counts),
		cmocka_unit_test(test_odd_ones),    cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
