/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * wpbench: what it costs to protect memory from writes, and what the first write after that costs,
 * by each way this kernel has; on memory of our own.
 */
#pragma once

#include "kmodif.h"

#include <signal.h>

enum pgs_wpbench_way {
	PGS_WPBENCH_WRITEPROTECT, /* UFFDIO_WRITEPROTECT */
	PGS_WPBENCH_SCAN,	  /* PAGEMAP_SCAN: which were written, and protect them */
	PGS_WPBENCH_MODULE,	  /* the module's SCAN: which are soft-dirty, and clear them */
	PGS_WPBENCH_WAYS,
};

/* "UFFDIO_WRITEPROTECT", "PAGEMAP_SCAN", "module"; static. */
const char *pgs_wpbench_way_name(enum pgs_wpbench_way way);

/* Medians over the rounds. A way that this kernel lacks has @rounds 0. */
struct pgs_wpbench_cost {
	unsigned int rounds;
	double protect_cycles, protect_ns; /* of the one request for all pages */
	double write_cycles, write_ns;	   /* of the first write to a page after it: a page */
};

/*
 * pgs_wpbench - @rounds times, by each way in turn: @pages small pages, all of them written, are
 * protected, then written to, one byte each, in ascending order. @kmod: NULL without the module.
 * @stop, checked before each measurement, ends it with -EINTR; may be NULL.
 * Returns 0, or -errno: -ENOMEM when the memory is not there, -EOPNOTSUPP without any way.
 */
int pgs_wpbench(struct pgs_ctx *ctx, struct pgs_kmod *kmod, uint64_t pages, unsigned int rounds,
		const volatile sig_atomic_t *stop,
		struct pgs_wpbench_cost ret_costs[PGS_WPBENCH_WAYS])
	__attribute__((nonnull(1, 6), warn_unused_result));
