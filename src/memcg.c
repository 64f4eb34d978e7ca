// SPDX-License-Identifier: GPL-2.0-only
#include "memcg.h"

#include <errno.h>
#include <string.h>

#include "cleanup.h"
#include "procfs.h"
#include "units.h"

/* v1's word for "no limit" is the largest number of pages that a page_counter holds, in bytes. */
static uint64_t unlimited_v1(const struct pgs_ctx *ctx)
{
	return (uint64_t)INT64_MAX / ctx->page_size * ctx->page_size;
}

/* A file that holds one number of bytes. Missing and EOPNOTSUPP (swap accounting off) leave *@ret
 * unset; they are no failure. */
static int read_bytes(struct pgs_ctx *ctx, struct pgs_cgroups *cgroups, const char *path,
		      const char *file, struct pgs_bytes *ret)
{
	_cleanup_free_ char *text = NULL;
	ssize_t len = pgs_cgroup_read(cgroups, path, file, &text);
	uint64_t bytes;

	*ret = (struct pgs_bytes){0};
	if (len == -ENOENT || len == -EOPNOTSUPP)
		return 0;
	if (len < 0)
		return len == -ENODEV ? -ENOENT : (int)len;
	text[strcspn(text, "\n")] = '\0';
	if (!strcmp(text, "max")) {
		*ret = (struct pgs_bytes){.set = true, .bytes = PGS_UNLIMITED};
		return 0;
	}
	if (pgs_parse_u64(text, &bytes) < 0)
		return pgs_ctx_fail(ctx, -EBADMSG, "'%s%s/%s' holds no number",
				    pgs_cgroups_mount(cgroups), path, file);
	if (pgs_cgroups_version(cgroups) == 1 && bytes >= unlimited_v1(ctx))
		bytes = PGS_UNLIMITED;
	*ret = (struct pgs_bytes){.set = true, .bytes = bytes};
	return 0;
}

static uint64_t sub_floor0(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* What v1 counts together with memory, without the memory. Read later than the memory, so it may
 * be the smaller one. */
static struct pgs_bytes memsw_less(struct pgs_bytes memsw, struct pgs_bytes memory)
{
	if (!memsw.set || !memory.set)
		return (struct pgs_bytes){0};
	if (memsw.bytes == PGS_UNLIMITED)
		return memsw;
	return (struct pgs_bytes){.set = true, .bytes = sub_floor0(memsw.bytes, memory.bytes)};
}

/* "total_swap" counts the subtree; some kernels print "swap" alone, some neither. */
static int read_stat_swap(struct pgs_cgroups *cgroups, const char *path, struct pgs_bytes *ret)
{
	_cleanup_free_ char *stat = NULL;
	ssize_t len = pgs_cgroup_read(cgroups, path, "memory.stat", &stat);
	uint64_t bytes;

	*ret = (struct pgs_bytes){0};
	if (len == -ENOENT || len == -EOPNOTSUPP)
		return 0;
	if (len < 0)
		return (int)len;
	if (pgs_text_field(stat, "total_swap", &bytes) == 1 ||
	    pgs_text_field(stat, "swap", &bytes) == 1)
		*ret = (struct pgs_bytes){.set = true, .bytes = bytes};
	return 0;
}

static int read_v1(struct pgs_ctx *ctx, struct pgs_cgroups *cgroups, const char *path,
		   struct pgs_memcg *ret)
{
	struct pgs_bytes memsw, memsw_limit;
	int r = read_bytes(ctx, cgroups, path, "memory.usage_in_bytes", &ret->usage);

	if (!r)
		r = read_bytes(ctx, cgroups, path, "memory.limit_in_bytes", &ret->limit);
	if (!r)
		r = read_bytes(ctx, cgroups, path, "memory.memsw.usage_in_bytes", &memsw);
	if (!r)
		r = read_bytes(ctx, cgroups, path, "memory.memsw.limit_in_bytes", &memsw_limit);
	if (!r)
		r = read_stat_swap(cgroups, path, &ret->swap);
	if (r < 0)
		return r;
	if (!ret->swap.set)
		ret->swap = memsw_less(memsw, ret->usage);
	ret->swap_limit = memsw_less(memsw_limit, ret->limit);
	return 0;
}

static int read_v2(struct pgs_ctx *ctx, struct pgs_cgroups *cgroups, const char *path,
		   struct pgs_memcg *ret)
{
	int r = read_bytes(ctx, cgroups, path, "memory.current", &ret->usage);

	if (!r)
		r = read_bytes(ctx, cgroups, path, "memory.max", &ret->limit);
	if (!r)
		r = read_bytes(ctx, cgroups, path, "memory.swap.current", &ret->swap);
	if (!r)
		r = read_bytes(ctx, cgroups, path, "memory.swap.max", &ret->swap_limit);
	return r;
}

/* Two fields of meminfo, in kB, subtracted: what is not free of a total. */
static struct pgs_bytes meminfo_used(const char *text, const char *total, const char *free_part)
{
	uint64_t all, unused;

	if (pgs_text_field(text, total, &all) != 1 || pgs_text_field(text, free_part, &unused) != 1)
		return (struct pgs_bytes){0};
	return (struct pgs_bytes){.set = true, .bytes = sub_floor0(all, unused) * 1024};
}

/* v2's root has neither memory.current nor memory.swap.current, and no limits. */
static int read_whole_machine(struct pgs_ctx *ctx, struct pgs_memcg *ret)
{
	const struct pgs_bytes unlimited = {.set = true, .bytes = PGS_UNLIMITED};
	_cleanup_free_ char *text = NULL;
	ssize_t len = pgs_read_file(ctx, 0, &text, "proc/meminfo");

	if (len < 0)
		return (int)len;
	*ret = (struct pgs_memcg){
		.usage = meminfo_used(text, "MemTotal", "MemFree"),
		.swap = meminfo_used(text, "SwapTotal", "SwapFree"),
		.limit = unlimited,
		.swap_limit = unlimited,
		.is_whole_machine = true,
	};
	return 0;
}

int pgs_memcg_read(struct pgs_ctx *ctx, struct pgs_cgroups *cgroups, const char *path,
		   struct pgs_memcg *ret)
{
	_cleanup_free_ char *procs = NULL;
	ssize_t len = pgs_cgroup_read(cgroups, path, "cgroup.procs", &procs);
	struct pgs_memcg memcg = {0};
	int r;

	if (len == -ENOENT || len == -ENODEV) /* a cgroup has this file, whatever else it lacks */
		return -ENOENT;
	if (pgs_cgroups_version(cgroups) == 1)
		r = read_v1(ctx, cgroups, path, &memcg);
	else
		r = read_v2(ctx, cgroups, path, &memcg);
	if (!r && !memcg.usage.set && pgs_cgroups_version(cgroups) == 2 && !strcmp(path, "/"))
		r = read_whole_machine(ctx, &memcg);
	if (r < 0)
		return r;
	*ret = memcg;
	return 0;
}
