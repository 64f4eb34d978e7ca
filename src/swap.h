/* SPDX-License-Identifier: GPL-2.0-only */
/* swap: the swap areas of /proc/swaps, and which of them a swap type is. */
#pragma once

#include "kmem.h"
#include "page.h"

struct pgs_swap_area {
	char *name;	     /* path as /proc/swaps prints it, its escapes undone */
	bool is_file;	     /* a file on a file system, not a device */
	bool deleted;	     /* the file has no name any more */
	uint64_t size_pages; /* usable slots */
	uint64_t used_pages;
	uint64_t last_slot; /* no slot lies beyond */
	int prio;
	int type; /* its swap type, as kernel memory tells; -1: not known */
};

struct pgs_swap_areas {
	struct pgs_swap_area *areas; /* in the order of /proc/swaps, which is that of the types */
	size_t nr;
	bool asked; /* pgs_swap_areas_ask() was called */
};

/* pgs_swap_areas_read - fill @ret. A kernel without CONFIG_SWAP has no areas. 0 or -errno; -ENOENT:
 * proc/ is not whole, see pgs_procfs_is_whole(), so that there may be some. */
int pgs_swap_areas_read(struct pgs_ctx *ctx, struct pgs_swap_areas *ret)
	__attribute__((nonnull, warn_unused_result));
void pgs_swap_areas_fini(struct pgs_swap_areas *areas);

/* pgs_swap_areas_same - whether two readings list the same areas: none was switched on or off. */
bool pgs_swap_areas_same(const struct pgs_swap_areas *a, const struct pgs_swap_areas *b)
	__attribute__((nonnull));

/* pgs_swap_areas_used, _size - pages of all areas. */
uint64_t pgs_swap_areas_used(const struct pgs_swap_areas *areas) __attribute__((nonnull));
uint64_t pgs_swap_areas_size(const struct pgs_swap_areas *areas) __attribute__((nonnull));

/*
 * pgs_swap_is_in_use - whether any slot is, just now; true where that cannot be told. If not, a
 * shmem object's data that is not in memory is lost (the mark of a failed swap-in), or has moved.
 */
bool pgs_swap_is_in_use(struct pgs_ctx *ctx) __attribute__((nonnull));
#define PGS_SWAP_UNUSED_REASON                                                                     \
	"there is data that is not in memory, and no swap is in use: it is lost, or was just "     \
	"moved"

/* ---- which area a type is ---------------------------------------------------------------------
 *
 * The type is an index that /proc/swaps does not print, and it skips the unused ones
 * (mm/swapfile.c, swap_start()): after a swapoff line N is not type N, and a later swapon takes the
 * lowest free index. What holds is that the lines are in the order of the types. So each slot that
 * is seen says: this type is in use, its area is at least so long. With enough of that one way
 * alone may be left to match types and lines, and then it is certain.
 */

/*
 * pgs_swap_areas_ask - ask kernel memory, which knows: if it can be read and shows the very areas
 * that @areas have, all their types are known. Nothing is asked twice.
 */
void pgs_swap_areas_ask(struct pgs_swap_areas *areas, struct pgs_kmem *kmem)
	__attribute__((nonnull));

struct pgs_swap_evidence {
	uint32_t seen;			  /* bit n: a slot of type n was seen */
	uint64_t last[PGS_PM_SWAP_TYPES]; /* the highest one */
	/* Distinct slots that were seen in use; 0: not counted. Only meaningful if the areas' used
	 * pages did not change meanwhile. */
	uint64_t slots[PGS_PM_SWAP_TYPES];
};

/* pgs_swap_evidence_add - slots @first to @first + @count - 1 of @type were seen in use. */
void pgs_swap_evidence_add(struct pgs_swap_evidence *evidence, unsigned int type, uint64_t first,
			   uint64_t count) __attribute__((nonnull));

struct pgs_swap_match {
	uint32_t lines[PGS_PM_SWAP_TYPES]; /* of a type seen: bit n, it may be line n of @areas */
};

/*
 * pgs_swap_match - which lines each type seen may be, all @evidence considered, or of any type
 * what kernel memory said. Evidence that
 * contradicts the list (it changed meanwhile) leaves no line for any of them.
 */
void pgs_swap_match(const struct pgs_swap_areas *areas, const struct pgs_swap_evidence *evidence,
		    struct pgs_swap_match *ret_match) __attribute__((nonnull));

/* pgs_swap_match_area - the area that @type certainly is, or NULL. */
const struct pgs_swap_area *pgs_swap_match_area(const struct pgs_swap_areas *areas,
						const struct pgs_swap_match *match,
						unsigned int type) __attribute__((nonnull));

/*
 * pgs_swap_types_open - bit n: type n is in use, or may be, all @evidence considered or as kernel
 * memory said. The others are certainly not.
 */
uint32_t pgs_swap_types_open(const struct pgs_swap_areas *areas,
			     const struct pgs_swap_evidence *evidence) __attribute__((nonnull));

/*
 * pgs_swap_area_of_type - the same from a single slot of @type: certain for an area that is alone,
 * for type 0, which is always the first line, and if kernel memory was asked.
 */
const struct pgs_swap_area *pgs_swap_area_of_type(const struct pgs_swap_areas *areas,
						  unsigned int type) __attribute__((nonnull));
