// SPDX-License-Identifier: GPL-2.0-only
#include "swapstat.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "caps.h"
#include "cleanup.h"
#include "procfs.h"
#include "units.h"

#define ZSWAP_PARAMETERS "sys/module/zswap/parameters"
#define ZSWAP_DEBUG	 "sys/kernel/debug/zswap"

/* "zram0" of "/dev/zram0", also by another name of the directory; NULL if it is none. */
static const char *zram_of(const char *name)
{
	const char *base = strrchr(name, '/');

	base = base ? base + 1 : name;
	return !strncmp(base, "zram", 4) && isdigit((unsigned char)base[4]) ? base : NULL;
}

/* "orig_data_size compr_data_size mem_used_total mem_limit mem_used_max same_pages
 *  pages_compacted [huge_pages [huge_pages_since]]" */
static int parse_mm_stat(const char *text, struct pgs_zram *ret)
{
	int n = sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %*u %*u %" SCNu64 " %*u %" SCNu64,
		       &ret->data_bytes, &ret->compressed_bytes, &ret->memory_bytes,
		       &ret->same_pages, &ret->huge_pages.n);

	ret->huge_pages.set = n == 5;
	return n < 4 ? -EBADMSG : 0;
}

int pgs_zram_read(struct pgs_ctx *ctx, const char *name, struct pgs_zram *ret)
{
	const char *zram = zram_of(name);
	struct pgs_zram z = {0};
	_cleanup_free_ char *mm = NULL, *bd = NULL;
	int r;

	if (!zram || pgs_read_file(ctx, 0, &mm, "sys/block/%s/mm_stat", zram) < 0)
		return -ENOENT;
	r = pgs_read_u64(ctx, 0, &z.disk_bytes, "sys/block/%s/disksize", zram);
	if (r && r != -EINVAL && r != -ERANGE)
		return -ENOENT;
	if (r || parse_mm_stat(mm, &z) < 0)
		return pgs_ctx_fail(ctx, -EBADMSG, "cannot make sense of '%s/sys/block/%s/mm_stat'",
				    ctx->root, zram);
	if (pgs_read_file(ctx, 0, &bd, "sys/block/%s/bd_stat", zram) > 0)
		z.backing_pages.set = sscanf(bd, "%" SCNu64, &z.backing_pages.n) == 1;
	*ret = z;
	return 0;
}

/* A word of a parameter, "" if it cannot be read. */
static void read_word(struct pgs_ctx *ctx, const char *path, char *buf, size_t size)
{
	_cleanup_free_ char *text = NULL;

	buf[0] = '\0';
	if (pgs_read_file(ctx, 0, &text, "%s", path) > 0)
		snprintf(buf, size, "%.*s", (int)strcspn(text, "\n"), text);
}

static struct pgs_count debug_number(struct pgs_ctx *ctx, const char *file)
{
	struct pgs_count count = {0};

	count.set =
		!pgs_read_u64(ctx, PGS_CAP(CAP_DAC_READ_SEARCH), &count.n, ZSWAP_DEBUG "/%s", file);
	return count;
}

static struct pgs_count meminfo_bytes(const char *text, const char *key)
{
	struct pgs_count count = {0};

	count.set = pgs_text_field(text, key, &count.n) == 1;
	count.n *= 1024;
	return count;
}

int pgs_zswap_read(struct pgs_ctx *ctx, struct pgs_zswap *ret)
{
	_cleanup_free_ char *enabled = NULL, *meminfo = NULL;
	ssize_t len = pgs_read_file(ctx, 0, &enabled, ZSWAP_PARAMETERS "/enabled");
	struct pgs_zswap z = {0};

	if (len < 0)
		return (int)len;
	z.enabled = enabled[0] == 'Y' || enabled[0] == '1';
	read_word(ctx, ZSWAP_PARAMETERS "/compressor", z.compressor, sizeof(z.compressor));
	len = pgs_read_file(ctx, 0, &meminfo, "proc/meminfo");
	if (len < 0)
		return (int)len;
	z.pool_bytes = meminfo_bytes(meminfo, "Zswap");
	z.stored_bytes = meminfo_bytes(meminfo, "Zswapped");
	if (!z.pool_bytes.set)
		z.pool_bytes = debug_number(ctx, "pool_total_size");
	if (!z.stored_bytes.set) {
		z.stored_bytes = debug_number(ctx, "stored_pages");
		z.stored_bytes.n <<= ctx->page_shift;
	}
	*ret = z;
	return 0;
}
