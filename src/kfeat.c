// SPDX-License-Identifier: GPL-2.0-only
#include "kfeat.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "caps.h"
#include "kfeat_probes.h"
#include "uapi/madvise.h"
#include "uapi/pagemap_scan.h"
#include "uapi/userfaultfd.h"

struct pgs_kfeat {
	struct pgs_ctx *ctx;
	bool probed[PGS_NR_FEATS];
	struct pgs_feat feat[PGS_NR_FEATS];
};

/* clang-format off */
#define SCAN(id, word, category)                                                                   \
	[PGS_FEAT_SCAN_##id] = {.name = "scan_" word, .how = "PAGEMAP_SCAN",                       \
				.try = pgs_probe_scan_category, .arg = category,                   \
				.mech = PGS_MECH_PAGEMAP_SCAN}
#define UFFD_WAY(id, word, call, way, needs)                                                       \
	[PGS_FEAT_UFFD_##id] = {.name = "uffd_" word, .how = call, .try = pgs_probe_uffd_way,      \
				.arg = way, .caps = needs, .mech = PGS_MECH_UFFD}
#define UFFD(id, word, bit)                                                                        \
	[PGS_FEAT_UFFD_##id] = {.name = "uffd_" word, .how = "UFFDIO_API",                         \
				.try = pgs_probe_uffd_feature, .arg = bit,                         \
				.caps = PGS_CAP(CAP_SYS_PTRACE), .mech = PGS_MECH_UFFD}
#define MADV(id, word, advice)                                                                     \
	[PGS_FEAT_MADV_##id] = {.name = "madv_" word, .how = "madvise", .try = pgs_probe_madvise,  \
				.arg = advice}
#define FILE_READ(id, word, file)                                                                  \
	[PGS_FEAT_##id] = {.name = word, .how = "read", .try = pgs_probe_read, .path = file,       \
			   .on_any_root = true}
#define FILES(id, word, file, probe, number)                                                       \
	[PGS_FEAT_##id] = {.name = word, .how = "read", .try = probe, .path = file, .arg = number, \
			   .on_any_root = true}
#define CAP(id, word)                                                                              \
	[PGS_FEAT_CAP_##id] = {.name = "cap_" word, .how = "capget", .try = pgs_probe_cap,         \
			       .arg = CAP_##id, .caps = PGS_CAP(CAP_##id), .on_any_root = true}

static const struct pgs_probe probes[PGS_NR_FEATS] = {
	[PGS_FEAT_PAGEMAP] = {.name = "pagemap", .how = "read", .try = pgs_probe_pagemap},
	[PGS_FEAT_PFN_VISIBLE] = {.name = "pfn_visible", .how = "read", .try = pgs_probe_pfn,
				  .caps = PGS_CAP(CAP_SYS_ADMIN)},
	[PGS_FEAT_PAGEMAP_SCAN] = {.name = "pagemap_scan", .how = "PAGEMAP_SCAN",
				   .try = pgs_probe_scan, .mech = PGS_MECH_PAGEMAP_SCAN},
	SCAN(WPALLOWED, "wpallowed", PAGE_IS_WPALLOWED),
	SCAN(WRITTEN, "written", PAGE_IS_WRITTEN),
	SCAN(FILE, "file", PAGE_IS_FILE),
	SCAN(PRESENT, "present", PAGE_IS_PRESENT),
	SCAN(SWAPPED, "swapped", PAGE_IS_SWAPPED),
	SCAN(PFNZERO, "pfnzero", PAGE_IS_PFNZERO),
	SCAN(HUGE, "huge", PAGE_IS_HUGE),
	SCAN(SOFT_DIRTY, "soft_dirty", PAGE_IS_SOFT_DIRTY),
	SCAN(GUARD, "guard", PAGE_IS_GUARD),
	SCAN(ACCESSED, "accessed", PAGE_IS_ACCESSED),
	[PGS_FEAT_SOFT_DIRTY] = {.name = "soft_dirty", .how = "write test",
				 .try = pgs_probe_soft_dirty, .mech = PGS_MECH_SOFT_DIRTY},
	[PGS_FEAT_MAP_FILES] = {.name = "map_files", .how = "open", .try = pgs_probe_map_files,
				.caps = PGS_CAP(CAP_CHECKPOINT_RESTORE) | PGS_CAP(CAP_SYS_ADMIN),
				.mech = PGS_MECH_MAP_FILES},
	[PGS_FEAT_PROCMAP_QUERY] = {.name = "procmap_query", .how = "PROCMAP_QUERY",
				    .try = pgs_probe_procmap_query,
				    .mech = PGS_MECH_PROCMAP_QUERY},
	[PGS_FEAT_PROC_VISIBLE] = {.name = "proc_visible", .how = "mount options",
				   .try = pgs_probe_proc_visible,
				   .caps = PGS_CAP(CAP_SYS_PTRACE)},

	FILE_READ(KPAGEFLAGS, "kpageflags", "proc/kpageflags"),
	FILE_READ(KPAGECOUNT, "kpagecount", "proc/kpagecount"),
	FILE_READ(KPAGECGROUP, "kpagecgroup", "proc/kpagecgroup"),
	/* Not read: to answer, the kernel clears the accessed bits of pages that are marked idle. */
	[PGS_FEAT_PAGE_IDLE] = {.name = "page_idle", .how = "open", .try = pgs_probe_open,
				.path = "sys/kernel/mm/page_idle/bitmap", .on_any_root = true},
	[PGS_FEAT_KCORE] = {.name = "kcore", .how = "read", .try = pgs_probe_kcore,
			    .path = "proc/kcore", .caps = PGS_CAP(CAP_SYS_RAWIO),
			    .mech = PGS_MECH_KCORE},
	FILES(BTF, "btf", "sys/kernel/btf/vmlinux", pgs_probe_btf, 0),
	[PGS_FEAT_KMEM] = {.name = "kmem", .how = "self-test", .try = pgs_probe_kmem,
			   .caps = PGS_CAP(CAP_SYS_RAWIO), .mech = PGS_MECH_KCORE},
	[PGS_FEAT_MODULE] = {.name = "module", .how = "PGSCAN_IOC_INFO", .try = pgs_probe_module,
			     .caps = PGS_CAP(CAP_SYS_ADMIN), .mech = PGS_MECH_MODULE},

	[PGS_FEAT_USERFAULTFD] = {.name = "userfaultfd", .how = "any of 3 ways",
				  .try = pgs_probe_uffd, .caps = PGS_CAP(CAP_SYS_PTRACE),
				  .mech = PGS_MECH_UFFD},
	UFFD_WAY(SYSCALL, "syscall", "userfaultfd", PGS_UFFD_SYSCALL, PGS_CAP(CAP_SYS_PTRACE)),
	UFFD_WAY(USER_MODE, "user_mode", "userfaultfd", PGS_UFFD_USER_MODE, 0),
	UFFD_WAY(DEVICE, "device", "ioctl", PGS_UFFD_DEVICE, PGS_CAP(CAP_DAC_OVERRIDE)),
	UFFD(WP, "wp", UFFD_FEATURE_PAGEFAULT_FLAG_WP),
	UFFD(EVENT_FORK, "event_fork", UFFD_FEATURE_EVENT_FORK),
	UFFD(EVENT_REMAP, "event_remap", UFFD_FEATURE_EVENT_REMAP),
	UFFD(EVENT_REMOVE, "event_remove", UFFD_FEATURE_EVENT_REMOVE),
	UFFD(MISSING_HUGETLBFS, "missing_hugetlbfs", UFFD_FEATURE_MISSING_HUGETLBFS),
	UFFD(MISSING_SHMEM, "missing_shmem", UFFD_FEATURE_MISSING_SHMEM),
	UFFD(EVENT_UNMAP, "event_unmap", UFFD_FEATURE_EVENT_UNMAP),
	UFFD(SIGBUS, "sigbus", UFFD_FEATURE_SIGBUS),
	UFFD(THREAD_ID, "thread_id", UFFD_FEATURE_THREAD_ID),
	UFFD(MINOR_HUGETLBFS, "minor_hugetlbfs", UFFD_FEATURE_MINOR_HUGETLBFS),
	UFFD(MINOR_SHMEM, "minor_shmem", UFFD_FEATURE_MINOR_SHMEM),
	UFFD(EXACT_ADDRESS, "exact_address", UFFD_FEATURE_EXACT_ADDRESS),
	UFFD(WP_HUGETLBFS_SHMEM, "wp_hugetlbfs_shmem", UFFD_FEATURE_WP_HUGETLBFS_SHMEM),
	UFFD(WP_UNPOPULATED, "wp_unpopulated", UFFD_FEATURE_WP_UNPOPULATED),
	UFFD(POISON, "poison", UFFD_FEATURE_POISON),
	[PGS_FEAT_UFFD_WP_ASYNC] = {.name = "uffd_wp_async", .how = "write test",
				    .try = pgs_probe_uffd_wp_async,
				    .caps = PGS_CAP(CAP_SYS_PTRACE), .mech = PGS_MECH_UFFD},
	UFFD(MOVE, "move", UFFD_FEATURE_MOVE),
	UFFD(RWP, "rwp", UFFD_FEATURE_RWP),
	UFFD(RWP_ASYNC, "rwp_async", UFFD_FEATURE_RWP_ASYNC),

	[PGS_FEAT_PTRACE] = {.name = "ptrace", .how = "PTRACE_SEIZE", .try = pgs_probe_ptrace,
			     .caps = PGS_CAP(CAP_SYS_PTRACE)},
	[PGS_FEAT_PIDFD_GETFD] = {.name = "pidfd_getfd", .how = "pidfd_getfd",
				  .try = pgs_probe_pidfd_getfd},
	[PGS_FEAT_PROCESS_MADVISE] = {.name = "process_madvise", .how = "process_madvise",
				      .try = pgs_probe_process_madvise},
	MADV(PAGEOUT, "pageout", MADV_PAGEOUT),
	MADV(COLLAPSE, "collapse", MADV_COLLAPSE),
	MADV(GUARD, "guard", MADV_GUARD_INSTALL),

	FILES(MEMCG_V1, "memcg_v1", NULL, pgs_probe_memcg, 1),
	FILES(MEMCG_V2, "memcg_v2", NULL, pgs_probe_memcg, 2),
	FILE_READ(PSI, "psi", "proc/pressure/memory"),
	FILES(SWAP, "swap", "proc/swaps", pgs_probe_swap, 0),
	FILES(ZRAM, "zram", "sys/block", pgs_probe_zram, 0),
	FILES(ZSWAP, "zswap", "sys/module/zswap/parameters", pgs_probe_zswap, 0),
	FILES(PAGE_REPORTING, "page_reporting", "sys/module/page_reporting/parameters",
	      pgs_probe_page_reporting, 0),
	FILES(BALLOON, "balloon", "sys/bus/virtio/devices", pgs_probe_balloon, 0),
	FILES(BALLOON_REPORTING, "balloon_reporting", "sys/bus/virtio/devices", pgs_probe_balloon,
	      PGS_BALLOON_REPORTING),

	CAP(DAC_READ_SEARCH, "dac_read_search"),
	CAP(SYS_RAWIO, "sys_rawio"),
	CAP(SYS_PTRACE, "sys_ptrace"),
	CAP(SYS_ADMIN, "sys_admin"),
	CAP(SYSLOG, "syslog"),
	CAP(CHECKPOINT_RESTORE, "checkpoint_restore"),
};
/* clang-format on */

int pgs_kfeat_new(struct pgs_ctx *ctx, struct pgs_kfeat **ret_kfeat)
{
	struct pgs_kfeat *kfeat = calloc(1, sizeof(*kfeat));

	if (!kfeat)
		return -ENOMEM;
	kfeat->ctx = ctx;
	*ret_kfeat = kfeat;
	return 0;
}

void pgs_kfeat_free(struct pgs_kfeat *kfeat)
{
	if (!kfeat)
		return;
	for (size_t i = 0; i < PGS_NR_FEATS; i++)
		free(kfeat->feat[i].detail);
	free(kfeat);
}

void pgs_kfeat_freep(struct pgs_kfeat **kfeat)
{
	pgs_kfeat_free(*kfeat);
}

void pgs_feat_detail(struct pgs_feat *feat, const char *fmt, ...)
{
	char *detail;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&detail, fmt, ap) >= 0) {
		free(feat->detail);
		feat->detail = detail;
	}
	va_end(ap);
}

/* Which capabilities would have helped. EACCES may also come from the mode of a root's file. */
static uint64_t helpful_caps(const struct pgs_probe *probe, int err)
{
	uint64_t caps = pgs_caps_lacking(probe->caps);

	if (!caps && err == EACCES)
		caps = pgs_caps_lacking(PGS_CAP(CAP_DAC_READ_SEARCH));
	return caps;
}

/* A file that is not there is an answer of the running kernel; another tree may just not have been
 * captured whole. */
static void classify_missing(struct pgs_ctx *ctx, const struct pgs_probe *probe,
			     struct pgs_feat *feat)
{
	feat->state = ctx->live ? PGS_FEAT_NO : PGS_FEAT_UNTRIED;
	if (ctx->live && probe->path && !feat->detail)
		pgs_feat_detail(feat, "there is no %s/%s", ctx->root, probe->path);
	if (!ctx->live)
		pgs_feat_detail(feat, "%s", pgs_ctx_error(ctx));
}

static void classify(struct pgs_ctx *ctx, const struct pgs_probe *probe, int answer,
		     struct pgs_feat *feat)
{
	feat->err = answer < 0 ? -answer : 0;
	switch (feat->err) {
	case 0:
		feat->state = answer ? PGS_FEAT_YES : PGS_FEAT_NO;
		return;
	case ENOTTY: /* an ioctl that is not known */
	case EINVAL: /* a flag, category or advice that is not known */
	case ENOSYS: /* a system call that is not known */
	case EOPNOTSUPP:
	case ENXIO: /* a device node without a driver */
	case ENODEV:
		feat->state = PGS_FEAT_NO;
		return;
	case ENOENT:
		classify_missing(ctx, probe, feat);
		return;
	case EPERM:
	case EACCES:
		feat->state = PGS_FEAT_DENIED;
		if (!feat->caps) /* the probe may know better */
			feat->caps = helpful_caps(probe, feat->err);
		if (!feat->caps && !feat->detail)
			pgs_feat_detail(feat, "no capability is missing: a seccomp filter, "
					      "a security module or a user namespace");
		return;
	}
	feat->state = PGS_FEAT_ERROR;
}

static void probe_feature(struct pgs_ctx *ctx, const struct pgs_probe *probe, struct pgs_feat *feat)
{
	*feat = (struct pgs_feat){0};
	if (!ctx->live && !probe->on_any_root) {
		pgs_feat_detail(feat, "the tree is not the running kernel's");
		return;
	}
	if (probe->mech && !pgs_mech_enabled(ctx, probe->mech)) {
		feat->state = PGS_FEAT_NO;
		pgs_feat_detail(feat, "switched off by PGSCAN_DISABLE or an option");
		return;
	}
	classify(ctx, probe, probe->try(ctx, probe, feat), feat);
}

const struct pgs_feat *pgs_kfeat_get(struct pgs_kfeat *kfeat, enum pgs_feat_id id)
{
	if (!kfeat->probed[id]) {
		probe_feature(kfeat->ctx, &probes[id], &kfeat->feat[id]);
		kfeat->probed[id] = true;
	}
	return &kfeat->feat[id];
}

const char *pgs_feat_name(enum pgs_feat_id id)
{
	return probes[id].name;
}

const char *pgs_feat_how(enum pgs_feat_id id)
{
	return probes[id].how;
}

int pgs_feat_find(const char *name, enum pgs_feat_id *ret_id)
{
	for (size_t i = 0; i < PGS_NR_FEATS; i++) {
		if (!strcmp(probes[i].name, name)) {
			*ret_id = (enum pgs_feat_id)i;
			return 0;
		}
	}
	return -ENOENT;
}
