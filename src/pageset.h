/* SPDX-License-Identifier: GPL-2.0-only */
/* pageset: a set of pages by number, for many that lie anywhere: 72 bytes for each 512 pages that
 * hold any. */
#pragma once

#include <stdint.h>

struct pgs_pageset;

/* pgs_pageset_new - an empty set; NULL without memory. The caller frees it. */
struct pgs_pageset *pgs_pageset_new(void);
void pgs_pageset_free(struct pgs_pageset *set);

/* pgs_pageset_add - pages [@first, @first + @count). Returns 0 or -ENOMEM. */
int pgs_pageset_add(struct pgs_pageset *set, uint64_t first, uint64_t count)
	__attribute__((nonnull, warn_unused_result));
/* pgs_pageset_count - how many different pages were added. */
uint64_t pgs_pageset_count(const struct pgs_pageset *set) __attribute__((nonnull));
