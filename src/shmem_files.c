// SPDX-License-Identifier: GPL-2.0-only
/* shmem: by the file behind a mapping, which knows no slots. */
#include "shmem_priv.h"

#include "overlay.h"
#include "swap.h"

#include <stdio.h>

/* Data that is not in memory is in swap; or lost, the mark of a failed swap-in in its place. */
static enum pgs_shmem_state residency_state(struct pgs_shmem *shmem, bool data, bool resident)
{
	const char *reason = PGS_OVERLAY_REASON;

	if (!data)
		return PGS_SHMEM_NONE;
	if (resident)
		return PGS_SHMEM_CACHED;
	if (!shmem->overlay) {
		shmem->swap_in_use = shmem->swap_in_use || pgs_swap_is_in_use(shmem->ctx);
		if (shmem->swap_in_use)
			return PGS_SHMEM_SWAPPED;
		reason = PGS_SWAP_UNUSED_REASON;
	}
	snprintf(shmem->reason, sizeof(shmem->reason), "%s", reason);
	return PGS_SHMEM_UNKNOWN;
}

int pgs_shmem_files_next(struct pgs_shmem *shmem, const struct pgs_vma *vma, uint64_t addr,
			 uint64_t end, struct pgs_shmem_run *ret_run)
{
	uint64_t room = (end - addr) >> shmem->ctx->page_shift;
	bool data, resident;
	int64_t n = 0;

	*ret_run = (struct pgs_shmem_run){.addr = addr, .pages = room, .state = PGS_SHMEM_NONE};
	shmem->source = PGS_SRC_MAP_FILES;
	if (shmem->not_shmem)
		return 1;
	if (!shmem->res_error) {
		n = pgs_residency_next(shmem->res, vma->offset + (addr - vma->start),
				       vma->offset + (end - vma->start), &data, &resident);
		if (n < 0)
			pgs_shmem_set_error(shmem, (int)n);
	}
	if (shmem->res_error) {
		ret_run->state = PGS_SHMEM_UNKNOWN;
		return 1;
	}
	ret_run->pages = (uint64_t)n;
	ret_run->state = residency_state(shmem, data, resident);
	return 1;
}
