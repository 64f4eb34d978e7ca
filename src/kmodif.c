// SPDX-License-Identifier: GPL-2.0-only
#include "kmodif.h"

#include "caps.h"
#include "cleanup.h"
#include "procfs.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

struct pgs_kmod {
	int fd;
	struct pgscan_info info;
};

/* The layouts are the interface: a compiler that pads differently must not talk to the module. */
_Static_assert(sizeof(struct pgscan_info) == PGSCAN_INFO_SIZE_VER0, "info");
_Static_assert(sizeof(struct pgscan_run) == 32, "run");
_Static_assert(sizeof(struct pgscan_shmem) == PGSCAN_SHMEM_SIZE_VER1, "shmem");
_Static_assert(sizeof(struct pgscan_extents) == PGSCAN_EXTENTS_SIZE_VER0, "extents");
_Static_assert(sizeof(struct pgscan_object) == PGSCAN_OBJECT_SIZE_VER0, "object");
_Static_assert(sizeof(struct pgscan_objects) == PGSCAN_OBJECTS_SIZE_VER0, "objects");
_Static_assert(sizeof(struct pgscan_scan) == PGSCAN_SCAN_SIZE_VER0, "scan");
_Static_assert(sizeof(struct pgscan_reported) == PGSCAN_REPORTED_SIZE_VER0, "reported");
_Static_assert(sizeof(struct pgscan_zone) == PGSCAN_ZONE_SIZE_VER0, "zone");
_Static_assert(sizeof(struct pgscan_tags) == PGSCAN_TAGS_SIZE_VER0, "tags");

int pgs_kmod_request(struct pgs_kmod *kmod, unsigned long request, void *arg)
{
	int r;

	/* The second for PGSCAN_SCAN_CLEAR of another process. */
	pgs_caps_raise(PGS_CAP(CAP_SYS_ADMIN) | PGS_CAP(CAP_SYS_PTRACE));
	r = ioctl(kmod->fd, request, arg);
	if (r < 0)
		r = -errno;
	pgs_caps_lower();
	return r;
}

static int check_version(struct pgs_ctx *ctx, struct pgs_kmod *kmod)
{
	int r;

	kmod->info.size = sizeof(kmod->info);
	r = pgs_kmod_request(kmod, PGSCAN_IOC_INFO, &kmod->info);
	if (r < 0)
		return pgs_ctx_fail(ctx, r, "'" PGSCAN_DEVICE "' does not answer: %s",
				    strerror(-r));
	if (kmod->info.abi != PGSCAN_ABI)
		return pgs_ctx_fail(
			ctx, -EPROTO,
			"the module speaks version %u of its interface, this program %u",
			kmod->info.abi, PGSCAN_ABI);
	return 0;
}

int pgs_kmod_open(struct pgs_ctx *ctx, struct pgs_kmod **ret_kmod)
{
	_cleanup_(pgs_kmod_closep) struct pgs_kmod *kmod = NULL;
	int r;

	if (!ctx->live || !pgs_mech_enabled(ctx, PGS_MECH_MODULE))
		return pgs_ctx_fail(ctx, -EOPNOTSUPP, "the module is not asked here");
	kmod = calloc(1, sizeof(*kmod));
	if (!kmod)
		return pgs_ctx_fail(ctx, -ENOMEM, "out of memory");
	kmod->fd = pgs_open(ctx, PGS_CAP(CAP_SYS_ADMIN) | PGS_CAP(CAP_DAC_OVERRIDE), 0, "%s",
			    &PGSCAN_DEVICE[1]);
	if (kmod->fd < 0)
		return kmod->fd;
	r = check_version(ctx, kmod);
	if (r)
		return r;
	*ret_kmod = kmod;
	kmod = NULL;
	return 0;
}

void pgs_kmod_close(struct pgs_kmod *kmod)
{
	if (!kmod)
		return;
	pgs_closep(&kmod->fd);
	free(kmod);
}

void pgs_kmod_closep(struct pgs_kmod **kmod)
{
	pgs_kmod_close(*kmod);
}

const struct pgscan_info *pgs_kmod_info(const struct pgs_kmod *kmod)
{
	return &kmod->info;
}
