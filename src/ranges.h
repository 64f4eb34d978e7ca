/* SPDX-License-Identifier: GPL-2.0-only */
/* ranges: a set of addresses, kept as disjoint ranges in ascending order that do not touch. */
#pragma once

#include "units.h"

#include <stdbool.h>

struct pgs_ranges {
	struct pgs_range *v;
	size_t nr, room;
};

void pgs_ranges_fini(struct pgs_ranges *set) __attribute__((nonnull));

/* pgs_ranges_add, pgs_ranges_remove - all of [@start, @end), in the set or not. 0 or -ENOMEM. */
int pgs_ranges_add(struct pgs_ranges *set, uint64_t start, uint64_t end)
	__attribute__((nonnull, warn_unused_result));
int pgs_ranges_remove(struct pgs_ranges *set, uint64_t start, uint64_t end)
	__attribute__((nonnull, warn_unused_result));

/*
 * pgs_ranges_next - whether @addr is in the set, and up to where, at most @end, that stays so:
 * *@ret_stop > @addr if @end is.
 */
bool pgs_ranges_next(const struct pgs_ranges *set, uint64_t addr, uint64_t end, uint64_t *ret_stop)
	__attribute__((nonnull));
/* pgs_ranges_total - how many addresses are in the set: bytes. */
uint64_t pgs_ranges_total(const struct pgs_ranges *set) __attribute__((nonnull));
