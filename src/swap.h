/* SPDX-License-Identifier: GPL-2.0-only */
/* swap: the swap areas of /proc/swaps, and which of them a swap type is. */
#pragma once

#include "ctx.h"

struct pgs_swap_area {
	char *name;	     /* path as /proc/swaps prints it, its escapes undone */
	bool is_file;	     /* a file on a file system, not a device */
	bool deleted;	     /* the file has no name any more */
	uint64_t size_pages; /* usable slots */
	uint64_t used_pages;
	int prio;
};

struct pgs_swap_areas {
	struct pgs_swap_area *areas; /* in the order of /proc/swaps, which is that of the types */
	size_t nr;
};

/* pgs_swap_areas_read - fill @ret. A kernel without CONFIG_SWAP has no areas. 0 or -errno. */
int pgs_swap_areas_read(struct pgs_ctx *ctx, struct pgs_swap_areas *ret)
	__attribute__((nonnull, warn_unused_result));
void pgs_swap_areas_fini(struct pgs_swap_areas *areas);

/*
 * pgs_swap_area_of_type - the area that swap type @type is, or NULL where that is not certain.
 *
 * The type is an index that /proc/swaps does not print, and it skips the unused ones
 * (mm/swapfile.c, swap_start()): after a swapoff line N is not type N. One area alone is certain,
 * since a page can only be in an area that is in use.
 */
const struct pgs_swap_area *pgs_swap_area_of_type(const struct pgs_swap_areas *areas,
						  unsigned int type) __attribute__((nonnull));
