// SPDX-License-Identifier: GPL-2.0-only
/* Which line of /proc/swaps a swap type is: what is certain, and what is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "swap.h"

#define MAX_AREAS 6
#define NO_TYPE	  UINT_MAX

/* What of a type was seen: its highest slot, and how many (0: not counted). */
struct seen {
	unsigned int type;
	uint64_t last, slots;
};

struct match_case {
	const char *what;
	size_t nr;
	uint64_t size[MAX_AREAS], used[MAX_AREAS]; /* of each line */
	struct seen seen[MAX_AREAS];		   /* ends with slots and last of 0 */
	int line[MAX_AREAS];			   /* of each type seen; -1: not certain */
};

static struct pgs_swap_areas make_areas(const struct match_case *c, struct pgs_swap_area *areas)
{
	for (size_t i = 0; i < c->nr; i++)
		areas[i] = (struct pgs_swap_area){.type = -1,
						  .size_pages = c->size[i],
						  .last_slot = c->size[i],
						  .used_pages = c->used[i]};
	return (struct pgs_swap_areas){.areas = areas, .nr = c->nr};
}

static void check_case(const struct match_case *c)
{
	struct pgs_swap_area room[MAX_AREAS];
	struct pgs_swap_areas areas = make_areas(c, room);
	struct pgs_swap_evidence evidence = {0};
	struct pgs_swap_match match;

	for (const struct seen *s = c->seen; s->last; s++) {
		pgs_swap_evidence_add(&evidence, s->type, s->last, 1);
		evidence.slots[s->type] = s->slots;
	}
	pgs_swap_match(&areas, &evidence, &match);
	for (size_t i = 0; c->seen[i].last; i++) {
		const struct pgs_swap_area *area =
			pgs_swap_match_area(&areas, &match, c->seen[i].type);
		int line = area ? (int)(area - areas.areas) : -1;

		if (line != c->line[i])
			fail_msg("%s: type %u is line %d, not %d", c->what, c->seen[i].type, line,
				 c->line[i]);
	}
}

#define SIZES                                                                                      \
	{                                                                                          \
		1000, 1000, 1000                                                                   \
	}
#define USED                                                                                       \
	{                                                                                          \
		500, 500, 500                                                                      \
	}

static void test_match(void **state)
{
	(void)state;
	static const struct match_case cases[] = {
		{"one area alone, whatever its type", 1, SIZES, USED, {{5, 9, 0}}, {0}},
		{"type 0 is the first line", 3, SIZES, USED, {{0, 9, 0}}, {0}},
		/* A, B, C on; A off: B is line 0 and type 1, C line 1 and type 2 */
		{"one type after a swapoff says nothing", 2, SIZES, USED, {{1, 9, 0}}, {-1}},
		{"nor does a higher one", 2, SIZES, USED, {{2, 9, 0}}, {-1}},
		{"two types for two lines", 2, SIZES, USED, {{1, 9, 0}, {2, 9, 0}}, {0, 1}},
		{"two types for two lines, with a gap",
		 2,
		 SIZES,
		 USED,
		 {{1, 9, 0}, {7, 9, 0}},
		 {0, 1}},
		/* D takes the place of A: type 0 again, and the first line */
		{"the newcomer in the gap", 3, SIZES, USED, {{0, 9, 0}, {2, 9, 0}}, {0, -1}},
		{"neighbours of a known type", 3, SIZES, USED, {{0, 9, 0}, {1, 9, 0}}, {0, 1}},
		{"as many types as lines",
		 3,
		 SIZES,
		 USED,
		 {{1, 9, 0}, {4, 9, 0}, {5, 9, 0}},
		 {0, 1, 2}},
		/* B, C, D, E left; 2 and 3 are neighbours, but which pair of lines? */
		{"neighbours anywhere",
		 4,
		 {9, 9, 9, 9},
		 {9, 9, 9, 9},
		 {{2, 5, 0}, {3, 5, 0}},
		 {-1, -1}},
		{"neighbours that must be low",
		 4,
		 {9, 9, 9, 9},
		 {9, 9, 9, 9},
		 {{1, 5, 0}, {2, 5, 0}},
		 {-1, -1}},
		{"the last type there can be", 3, SIZES, USED, {{31, 9, 0}}, {2}},
		{"the last but one", 3, SIZES, USED, {{30, 9, 0}}, {-1}},
		{"too long a slot for the other line", 2, {100, 1000}, USED, {{1, 101, 0}}, {1}},
		{"exactly the last slot fits", 2, {100, 1000}, USED, {{1, 100, 0}}, {-1}},
		{"size decides for the neighbour too",
		 3,
		 {100, 1000, 1000},
		 USED,
		 {{1, 500, 0}, {2, 5, 0}},
		 {1, 2}},
		{"more in use than the other line has", 2, SIZES, {10, 500}, {{1, 9, 11}}, {1}},
		{"as much in use fits", 2, SIZES, {10, 500}, {{1, 9, 10}}, {-1}},
		{"a line without a used slot is none", 2, SIZES, {0, 500}, {{1, 9, 1}}, {1}},
		/* The list has changed since the slots were seen */
		{"more types than lines", 1, SIZES, USED, {{0, 9, 0}, {1, 9, 0}}, {-1, -1}},
		{"longer than any line", 2, SIZES, USED, {{0, 1001, 0}}, {-1}},
		{"no line at all", 0, {0}, {0}, {{0, 9, 0}}, {-1}},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_case(&cases[i]);
}

/* Types that may be in use; the rest is what an answer "not in use" may be given for. */
static void test_types_open(void **state)
{
	(void)state;
	static const struct {
		size_t nr;
		struct pgs_swap_evidence evidence;
		uint32_t open;
	} cases[] = {
		{0, {0}, 0},
		{1, {0}, UINT32_MAX},  /* there is one, of whatever type */
		{1, {.seen = 2}, 2},   /* it is this one */
		{2, {0}, UINT32_MAX},  /* two types, whichever */
		{2, {.seen = 10}, 10}, /* both were seen */
		{2, {.seen = 1}, UINT32_MAX},
		{3, {.seen = 6}, UINT32_MAX},
	};
	struct pgs_swap_area room[MAX_AREAS];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pgs_swap_areas areas = {.areas = room, .nr = cases[i].nr};
		uint32_t open;

		for (size_t k = 0; k < MAX_AREAS; k++)
			room[k] = (struct pgs_swap_area){.type = -1, .last_slot = 9};
		open = pgs_swap_types_open(&areas, &cases[i].evidence);
		if (open != cases[i].open)
			fail_msg("case %zu: %#x, not %#x", i, open, cases[i].open);
	}
	room[0].type = 1;
	room[1].type = 4;
	assert_int_equal(pgs_swap_types_open(&(struct pgs_swap_areas){.areas = room, .nr = 2},
					     &(struct pgs_swap_evidence){0}),
			 1 << 1 | 1 << 4);
}

/*
 * Every list of up to four areas out of the types 0 to 5, every set of types seen of it: a type is
 * certain if and only if it is on the same line in all lists of that length that have the types
 * seen.
 */
static void check_set(unsigned int seen, unsigned int nr, const int *want)
{
	struct pgs_swap_area room[MAX_AREAS];
	struct pgs_swap_areas areas = {.areas = room, .nr = nr};
	struct pgs_swap_evidence evidence = {.seen = seen};
	struct pgs_swap_match match;

	for (size_t i = 0; i < MAX_AREAS; i++)
		room[i] = (struct pgs_swap_area){.type = -1};
	pgs_swap_match(&areas, &evidence, &match);
	for (int t = 0; t < 6; t++) {
		const struct pgs_swap_area *area =
			pgs_swap_match_area(&areas, &match, (unsigned int)t);
		int line = area ? (int)(area - room) : -1;

		/* Types above 5 exist too: a list may go on there, so ours may say less. */
		if (line >= 0 && line != want[t])
			fail_msg("types %#x of %u lines: type %d is line %d, not %d", seen, nr, t,
				 line, want[t]);
	}
}

static void test_all_lists(void **state)
{
	(void)state;
	for (unsigned int seen = 1; seen < 1 << 6; seen++)
		for (unsigned int nr = (unsigned int)__builtin_popcount(seen); nr <= MAX_AREAS;
		     nr++) {
			int line[6];

			for (int t = 0; t < 6; t++)
				line[t] = -2; /* not in any list yet */
			for (unsigned int list = 1; list < 1 << 6; list++) {
				if ((unsigned int)__builtin_popcount(list) != nr ||
				    (list & seen) != seen)
					continue;
				for (int t = 0; t < 6; t++) {
					int at = __builtin_popcount(list & ((1u << t) - 1));

					if (seen & 1u << t)
						line[t] = line[t] == -2 || line[t] == at ? at : -1;
				}
			}
			check_set(seen, nr, line);
		}
}

/* Kernel memory has told the types: they need no evidence, and no other type has a line. */
static void test_known(void **state)
{
	struct pgs_swap_area room[] = {{.type = 1}, {.type = 4}};
	struct pgs_swap_areas areas = {.areas = room, .nr = 2};
	struct pgs_swap_evidence evidence = {0};
	struct pgs_swap_match match;

	(void)state;
	for (unsigned int t = 0; t < PGS_PM_SWAP_TYPES; t++)
		match.lines[t] = 1; /* of whatever was there before */
	pgs_swap_match(&areas, &evidence, &match);
	for (unsigned int t = 0; t < PGS_PM_SWAP_TYPES; t++)
		assert_ptr_equal(pgs_swap_match_area(&areas, &match, t), t == 1	  ? &room[0]
									 : t == 4 ? &room[1]
										  : NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_match),
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_types_open),
		cmocka_unit_test(test_all_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
