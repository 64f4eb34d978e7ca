/* SPDX-License-Identifier: GPL-2.0-only */
/* memcg: the figures of a memory cgroup, in one meaning for v1 and v2. */
#pragma once

#include "cgroup.h"

#define PGS_UNLIMITED UINT64_MAX

/* A number of bytes that may be unknown; limits may be PGS_UNLIMITED. */
struct pgs_bytes {
	bool set;
	uint64_t bytes;
};

/*
 * The memory figures with one meaning, that of v2:
 *   usage       memory.current; v1: memory.usage_in_bytes
 *   limit       memory.max; v1: memory.limit_in_bytes
 *   swap        memory.swap.current, swap alone; v1: "swap" of memory.stat, or else
 *               memsw - memory, not below 0 (the two are read at different instants)
 *   swap_limit  memory.swap.max; v1: memsw limit - memory limit, what runtimes convert it to
 * v1's own figures are taken over the subtree ("total_swap"), as v2's always are.
 */
struct pgs_memcg {
	struct pgs_bytes usage, limit, swap, swap_limit;
	bool is_whole_machine; /* v2's root, which has no such files: from /proc/meminfo */
};

/* pgs_memcg_read - fill @ret for @path (as resolved). A figure whose file is missing (swap
 * accounting is off) or answers EOPNOTSUPP is not set. Returns 0; -ENOENT if the cgroup is gone;
 * -errno. */
int pgs_memcg_read(struct pgs_ctx *ctx, struct pgs_cgroups *cgroups, const char *path,
		   struct pgs_memcg *ret) __attribute__((nonnull, warn_unused_result));
