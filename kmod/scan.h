/* SPDX-License-Identifier: GPL-2.0-only */
/* SCAN: what its two parts know of each other. */
#ifndef PGSCAN_SCAN_H
#define PGSCAN_SCAN_H

#include "internal.h"

struct scan_walk {
	struct mm_struct *mm;
	struct pgscan_scan *arg; /* masks, and the counters to fill */
	bool clear;
	bool full;		   /* a page found no room: end of the walk */
	struct pgscan_region *buf; /* the last region may still grow */
	unsigned int nr;	   /* regions in buf */
	unsigned int capacity;
	u64 reported_pages;
};

/*
 * Would pages of these categories from `addr` on find room, if they are reported at all? Sets
 * walk->full if not.
 */
bool scan_has_room(struct scan_walk *walk, unsigned long addr, u64 categories);
/* Count [addr, end), all of these categories, and report it if the masks say so. False: no room. */
bool scan_take(struct scan_walk *walk, unsigned long addr, unsigned long end, u64 categories);

/*
 * scan_table.c: the part of a mapping that hangs on one entry of the page middle directory.
 * Returns where to go on: `end`, or less if walk->full or if the entry changed under its hands.
 */
unsigned long scan_pmd(struct scan_walk *walk, struct vm_area_struct *vma, pmd_t *pmd,
		       unsigned long addr, unsigned long end);
/* Are soft-dirty bits kept here at all, and can we clear them? */
bool scan_table_can_read(void);
bool scan_table_can_clear(void);

#endif /* PGSCAN_SCAN_H */
