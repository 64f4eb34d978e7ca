/* SPDX-License-Identifier: GPL-2.0-only */
/* kmodif: the companion module behind /dev/pgscan (kmod/uapi/pgscan.h), opened once and asked with
 * CAP_SYS_ADMIN raised around each request, as the module checks its caller every time. */
#pragma once

#include "ctx.h"
#include "uapi/pgscan.h"

#include <sys/types.h>

struct pgs_kmod;

/*
 * pgs_kmod_open - open the device and check its version. Returns 0, or -errno:
 * -ENOENT not loaded, -EPERM/-EACCES no right to use it, -EPROTO a module of another interface
 * version, -EOPNOTSUPP masked by PGSCAN_DISABLE or not this machine's tree.
 */
int pgs_kmod_open(struct pgs_ctx *ctx, struct pgs_kmod **ret_kmod)
	__attribute__((nonnull, warn_unused_result));
void pgs_kmod_close(struct pgs_kmod *kmod);
void pgs_kmod_closep(struct pgs_kmod **kmod);

/* What the module said of itself; owned by @kmod. */
const struct pgscan_info *pgs_kmod_info(const struct pgs_kmod *kmod) __attribute__((nonnull));

/* pgs_kmod_has - whether PGSCAN_FEAT_* bits are all there. */
static inline bool pgs_kmod_has(const struct pgs_kmod *kmod, uint64_t features)
{
	return !(features & ~pgs_kmod_info(kmod)->features);
}

/*
 * pgs_kmod_request - one ioctl, PGSCAN_IOC_*, on the structure it names; its size field is set by
 * the caller. Returns what the request returns, or -errno. Restarted after EINTR only by callers.
 */
int pgs_kmod_request(struct pgs_kmod *kmod, unsigned long request, void *arg)
	__attribute__((nonnull, warn_unused_result));
