/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ksyms: addresses of the kernel's symbols, static ones and data too (CONFIG_KALLSYMS_ALL).
 *
 * The table behind /proc/kallsyms is read from kernel memory, where the VMCOREINFO note says it is
 * (6.0, "vmcoreinfo: add kallsyms_num_syms symbol"): that needs no right but the one to kcore, and
 * kptr_restrict does not touch it. Where the note does not, /proc/kallsyms itself is read.
 */
#pragma once

#include "kcore.h"

struct pgs_ksym {
	const char *name;
	uint64_t addr;	   /* 0: there is none, or none that is certain */
	unsigned int seen; /* symbols of that name; two or more: which one is meant is not known */
};

/*
 * pgs_ksyms_find - fill in the addresses of @syms by their names. A name that is not found is no
 * error. Returns 0, or -errno with the reason in the context: no table is to be had.
 */
int pgs_ksyms_find(struct pgs_ctx *ctx, struct pgs_kcore *kcore, struct pgs_ksym *syms, size_t nr)
	__attribute__((nonnull, warn_unused_result));
