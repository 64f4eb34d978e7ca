// SPDX-License-Identifier: GPL-2.0-only
/* The pages of a file: SEEK_DATA and SEEK_HOLE tell what there is, mincore() what is in memory. */
#include "shmem.h"

#include "caps.h"
#include "cleanup.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>

#define WINDOW_PAGES 32768u /* pages a mincore() call: 128 MiB of file, 32 KiB of answer */

struct pgs_residency {
	struct pgs_ctx *ctx;
	int fd;
	uint64_t win_start, win_pages; /* the window that `vec` describes; bytes, pages */
	uint64_t data_end;	       /* a hole begins there; 0: not known */
	unsigned char vec[WINDOW_PAGES];
};

/* The same question as can_do_mincore() asks, as a refusal does not show in the answer. */
static bool mincore_is_honest(const struct stat *st)
{
	if (st->st_uid == geteuid() || st->st_mode & S_IWOTH)
		return true;
	return pgs_caps_missing(PGS_CAP(CAP_FOWNER)) < 0;
}

int pgs_residency_open(struct pgs_ctx *ctx, int fd, struct pgs_residency **ret_res)
{
	struct pgs_residency *res;
	struct stat st;

	if (fstat(fd, &st))
		return pgs_ctx_fail(ctx, -errno, "cannot look at the file: %s", strerror(errno));
	if (!mincore_is_honest(&st))
		return pgs_ctx_fail(ctx, -EPERM,
				    "what of another user's file is in memory needs CAP_FOWNER");
	res = calloc(1, sizeof(*res));
	if (!res)
		return -ENOMEM;
	res->ctx = ctx;
	res->fd = fd;
	*ret_res = res;
	return 0;
}

void pgs_residency_close(struct pgs_residency *res)
{
	free(res);
}

void pgs_residency_closep(struct pgs_residency **res)
{
	pgs_residency_close(*res);
}

/* Mapping without touching brings nothing in: mincore() only looks at the page cache. */
static int load_window(struct pgs_residency *res, uint64_t offset, uint64_t pages)
{
	uint64_t bytes = pages << res->ctx->page_shift;
	void *map =
		mmap(NULL, bytes, PROT_READ, MAP_SHARED | MAP_NORESERVE, res->fd, (off_t)offset);
	int r = 0;

	if (map == MAP_FAILED)
		return pgs_ctx_fail(res->ctx, -errno, "cannot map the file: %s", strerror(errno));
	pgs_caps_raise(PGS_CAP(CAP_FOWNER));
	if (mincore(map, bytes, res->vec))
		r = -errno;
	pgs_caps_lower();
	munmap(map, bytes);
	if (r)
		return pgs_ctx_fail(res->ctx, r, "mincore: %s", strerror(-r));
	res->win_start = offset;
	res->win_pages = pages;
	return 0;
}

static bool in_window(const struct pgs_residency *res, uint64_t offset)
{
	return offset >= res->win_start &&
	       (offset - res->win_start) >> res->ctx->page_shift < res->win_pages;
}

/* 0 and the next place of that kind from @offset on; -ENXIO: none before the end of the file. */
static int seek(const struct pgs_residency *res, uint64_t offset, int whence, uint64_t *ret_to)
{
	off_t to = lseek(res->fd, (off_t)offset, whence);

	if (to < 0)
		return -errno;
	*ret_to = (uint64_t)to;
	return 0;
}

static uint64_t page_floor(const struct pgs_residency *res, uint64_t bytes)
{
	return bytes & ~(uint64_t)(res->ctx->page_size - 1);
}

static uint64_t page_ceil(const struct pgs_residency *res, uint64_t bytes)
{
	return page_floor(res, bytes + res->ctx->page_size - 1);
}

/* The pages of a hole, or 0 when there is data at @offset. */
static int64_t hole_pages(struct pgs_residency *res, uint64_t offset, uint64_t end)
{
	uint64_t data = 0, hole = 0;
	int r = seek(res, offset, SEEK_DATA, &data);

	if (r == -ENXIO)
		data = end;
	else if (r)
		return pgs_ctx_fail(res->ctx, r, "SEEK_DATA: %s", strerror(-r));
	data = page_floor(res, data < end ? data : end);
	if (data > offset)
		return (int64_t)((data - offset) >> res->ctx->page_shift);
	r = seek(res, offset, SEEK_HOLE, &hole);
	if (r)
		return r == -ENXIO ? 1 : pgs_ctx_fail(res->ctx, r, "SEEK_HOLE: %s", strerror(-r));
	res->data_end = page_ceil(res, hole);
	return 0;
}

int64_t pgs_residency_next(struct pgs_residency *res, uint64_t offset, uint64_t end, bool *ret_data,
			   bool *ret_resident)
{
	uint64_t first, n, limit;
	int64_t hole = 0;
	int r;

	if (!in_window(res, offset) || offset >= res->data_end)
		hole = hole_pages(res, offset, end);
	*ret_data = !hole;
	*ret_resident = false;
	if (hole)
		return hole;
	limit = (res->data_end < end ? res->data_end : end) - offset;
	limit >>= res->ctx->page_shift;
	if (!in_window(res, offset)) {
		r = load_window(res, offset, limit < WINDOW_PAGES ? limit : WINDOW_PAGES);
		if (r)
			return r;
	}
	first = (offset - res->win_start) >> res->ctx->page_shift;
	if (limit > res->win_pages - first)
		limit = res->win_pages - first;
	*ret_resident = res->vec[first] & 1;
	for (n = 1; n < limit && (res->vec[first + n] & 1) == *ret_resident; n++)
		;
	return (int64_t)n;
}
