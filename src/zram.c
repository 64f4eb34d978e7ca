// SPDX-License-Identifier: GPL-2.0-only
#include "zram.h"

#include "cleanup.h"
#include "procfs.h"

#include <inttypes.h>
#include <string.h>

int pgs_zram_read(struct pgs_ctx *ctx, const char *device, struct pgs_zram *ret_zram)
{
	_cleanup_free_ char *text = NULL;
	const char *base = strrchr(device, '/');
	struct pgs_zram zram;

	if (!base || strncmp(base, "/zram", strlen("/zram")) != 0 ||
	    pgs_read_file(ctx, 0, &text, "sys/block%s/mm_stat", base) < 0)
		return 0;
	/* orig_data_size compr_data_size mem_used_total mem_limit mem_used_max same_pages ... */
	if (sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %*u %*u %" SCNu64, &zram.data_bytes,
		   &zram.compressed_bytes, &zram.memory_bytes, &zram.same_pages) != 4)
		return 0;
	*ret_zram = zram;
	return 1;
}

int pgs_zswap_read(struct pgs_ctx *ctx, struct pgs_zswap *ret_zswap)
{
	_cleanup_free_ char *text = NULL;
	uint64_t pool_kb, stored_kb;

	if (pgs_read_file(ctx, 0, &text, "proc/meminfo") < 0 ||
	    pgs_text_field(text, "Zswap", &pool_kb) != 1 ||
	    pgs_text_field(text, "Zswapped", &stored_kb) != 1)
		return 0;
	*ret_zswap = (struct pgs_zswap){pool_kb * 1024, stored_kb * 1024};
	return 1;
}
