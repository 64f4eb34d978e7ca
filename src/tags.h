/* SPDX-License-Identifier: GPL-2.0-only */
/* tags: how the page cache behind the mappings of a process is tagged for writeback; only the
 * module knows (PGSCAN_IOC_TAGS). */
#pragma once

#include "kmodif.h"

/* Of one file mapping; counts are pages in its range. A tag is the hint that writeback follows, not
 * the state of each page. */
struct pgs_tags {
	uint64_t start, end;
	char *name; /* of the mapping; foreign bytes */
	/* Neither AS_NO_WRITEBACK_TAGS, as the swap cache has it, nor without anything to write
	 * back to, as shared memory is. */
	bool uses_tags;
	uint64_t cached_pages, dirty_pages, writeback_pages, towrite_pages;
};

struct pgs_tags_list {
	struct pgs_tags *tags; /* in address order; pgs_tags_list_fini() frees */
	size_t nr;
};

/* pgs_tags_read - every file mapping of @pid. Returns 0; -ESRCH: no such process; -errno. */
int pgs_tags_read(struct pgs_ctx *ctx, struct pgs_kmod *kmod, pid_t pid, struct pgs_tags_list *ret)
	__attribute__((nonnull, warn_unused_result));
void pgs_tags_list_fini(struct pgs_tags_list *list);
