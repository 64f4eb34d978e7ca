/* SPDX-License-Identifier: GPL-2.0-only */
/* psi: pressure stall information (Documentation/accounting/psi.rst), of the machine or of a
 * cgroup: how much of the time some task, or every task that could run, waited for memory. */
#pragma once

#include "cgroup.h"

struct pgs_psi_line {
	bool set;
	double avg10, avg60, avg300; /* percent of the last 10, 60, 300 seconds */
	uint64_t total_us;
};

struct pgs_psi {
	struct pgs_psi_line some, full;
};

/* pgs_psi_parse - a pressure file's text. A line that is not there is not set. Returns 0 or
 * -EBADMSG when there is none. */
int pgs_psi_parse(const char *text, struct pgs_psi *ret)
	__attribute__((nonnull, warn_unused_result));

/* pgs_psi_read - memory pressure of the machine. Returns 0; -ENOENT: the kernel has none (4.20,
 * CONFIG_PSI); -EOPNOTSUPP: switched off (psi=0); another -errno. */
int pgs_psi_read(struct pgs_ctx *ctx, struct pgs_psi *ret)
	__attribute__((nonnull, warn_unused_result));

/* pgs_psi_read_cgroup - of the cgroup @path, as resolved; the same, -ENOENT also for all of v1. */
int pgs_psi_read_cgroup(struct pgs_cgroups *cgroups, const char *path, struct pgs_psi *ret)
	__attribute__((nonnull, warn_unused_result));
