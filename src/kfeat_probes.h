/* SPDX-License-Identifier: GPL-2.0-only */
/* kfeat_probes: the probes behind kfeat.c, which alone includes this besides their own files. */
#pragma once

#include "kfeat.h"

struct pgs_probe {
	const char *name, *how;
	/* 1: there. 0: not there. -errno: what the kernel said; kfeat.c knows which mean "no". */
	int (*try)(struct pgs_ctx *ctx, const struct pgs_probe *probe, struct pgs_feat *feat);
	const char *path;  /* of the file that is tried, below the root */
	uint64_t arg;	   /* of the probe: a category, a feature bit, advice, a capability */
	uint64_t caps;	   /* PGS_CAP() bits: raised for it, and named when it is refused */
	unsigned int mech; /* the PGS_MECH_ bit that masks it */
	bool on_any_root;  /* reads files only, so that it can answer for another tree too */
};

/* pgs_feat_detail - set the line of @feat; the last one stays. */
void pgs_feat_detail(struct pgs_feat *feat, const char *fmt, ...)
	__attribute__((nonnull, format(printf, 2, 3)));

#define PGS_PROBE(name)                                                                            \
	int name(struct pgs_ctx *ctx, const struct pgs_probe *probe, struct pgs_feat *feat)        \
		__attribute__((nonnull))

/* kfeat_self.c: on this process */
PGS_PROBE(pgs_probe_pagemap);
PGS_PROBE(pgs_probe_pfn);
PGS_PROBE(pgs_probe_scan);
PGS_PROBE(pgs_probe_scan_category);
PGS_PROBE(pgs_probe_soft_dirty);
PGS_PROBE(pgs_probe_map_files);
PGS_PROBE(pgs_probe_procmap_query);
PGS_PROBE(pgs_probe_ptrace);
PGS_PROBE(pgs_probe_pidfd_getfd);
PGS_PROBE(pgs_probe_process_madvise);
PGS_PROBE(pgs_probe_madvise);
PGS_PROBE(pgs_probe_cap);

/* kfeat_uffd.c */
PGS_PROBE(pgs_probe_uffd);
PGS_PROBE(pgs_probe_uffd_way); /* arg: enum pgs_uffd_way */
PGS_PROBE(pgs_probe_uffd_feature);
PGS_PROBE(pgs_probe_uffd_wp_async);
enum pgs_uffd_way { PGS_UFFD_SYSCALL, PGS_UFFD_DEVICE, PGS_UFFD_USER_MODE, PGS_NR_UFFD_WAYS };

/* kfeat_files.c: by files of /proc, /sys and /dev */
PGS_PROBE(pgs_probe_read);
PGS_PROBE(pgs_probe_open);
PGS_PROBE(pgs_probe_proc_visible);
PGS_PROBE(pgs_probe_kcore);
PGS_PROBE(pgs_probe_btf);
PGS_PROBE(pgs_probe_kmem);
PGS_PROBE(pgs_probe_module);
PGS_PROBE(pgs_probe_swap);
PGS_PROBE(pgs_probe_zram);
PGS_PROBE(pgs_probe_zswap);
PGS_PROBE(pgs_probe_page_reporting);
PGS_PROBE(pgs_probe_balloon); /* arg: PGS_BALLOON_* */
PGS_PROBE(pgs_probe_memcg);   /* arg: the version, 1 or 2 */
enum { PGS_BALLOON_DEVICE, PGS_BALLOON_REPORTING };
