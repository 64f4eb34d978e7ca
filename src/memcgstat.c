// SPDX-License-Identifier: GPL-2.0-only
#include "memcgstat.h"

#include <errno.h>
#include <string.h>

#include "cleanup.h"
#include "procfs.h"
#include "units.h"

static struct pgs_bytes stat_bytes(const char *text, const char *key)
{
	struct pgs_bytes bytes = {0};

	bytes.set = pgs_text_field(text, key, &bytes.bytes) == 1;
	return bytes;
}

static struct pgs_count stat_count(const char *text, const char *key)
{
	struct pgs_count count = {0};

	count.set = pgs_text_field(text, key, &count.n) == 1;
	return count;
}

/* A file of "key number" lines. One that is missing, or EOPNOTSUPP, is an empty text. */
static int read_text(struct pgs_cgroups *cgroups, const char *path, const char *file,
		     char **ret_text)
{
	ssize_t len = pgs_cgroup_read(cgroups, path, file, ret_text);

	if (len == -ENOENT || len == -EOPNOTSUPP) {
		*ret_text = strdup("");
		return *ret_text ? 0 : -ENOMEM;
	}
	if (len == -ENODEV)
		return -ENOENT;
	return len < 0 ? (int)len : 0;
}

/* A file of one number. */
static int read_number(struct pgs_cgroups *cgroups, const char *path, const char *file,
		       uint64_t *ret_value)
{
	_cleanup_free_ char *text = NULL;
	int r = read_text(cgroups, path, file, &text);

	if (r < 0)
		return r;
	text[strcspn(text, "\n")] = '\0';
	return pgs_parse_u64(text, ret_value) ? 0 : 1;
}

static int read_peak(struct pgs_cgroups *cgroups, const char *path, const char *file,
		     struct pgs_bytes *ret)
{
	int r = read_number(cgroups, path, file, &ret->bytes);

	ret->set = r == 1;
	return r < 0 ? r : 0;
}

static int read_stat(struct pgs_cgroups *cgroups, const char *path, struct pgs_memcg_stat *ret)
{
	bool v1 = pgs_cgroups_version(cgroups) == 1;
	_cleanup_free_ char *text = NULL;
	int r = read_text(cgroups, path, "memory.stat", &text);

	if (r < 0)
		return r;
	ret->anon = stat_bytes(text, v1 ? "total_rss" : "anon");
	ret->file = stat_bytes(text, v1 ? "total_cache" : "file");
	ret->shmem = stat_bytes(text, v1 ? "total_shmem" : "shmem");
	pgs_vmstat_parse(text, v1 ? "total_" : "", &ret->vm);
	return 0;
}

static int read_events(struct pgs_cgroups *cgroups, const char *path, struct pgs_memcg_stat *ret)
{
	bool v1 = pgs_cgroups_version(cgroups) == 1;
	_cleanup_free_ char *text = NULL;
	int r = read_text(cgroups, path, v1 ? "memory.oom_control" : "memory.events", &text);

	if (r < 0)
		return r;
	ret->oom_kill = stat_count(text, "oom_kill");
	if (v1) {
		r = read_number(cgroups, path, "memory.failcnt", &ret->max.n);
		ret->max.set = r == 1;
		return r < 0 ? r : 0;
	}
	ret->high = stat_count(text, "high");
	ret->max = stat_count(text, "max");
	ret->oom = stat_count(text, "oom");
	return 0;
}

static int read_peaks(struct pgs_cgroups *cgroups, const char *path, struct pgs_memcg_stat *ret)
{
	int r;

	if (pgs_cgroups_version(cgroups) == 1)
		return read_peak(cgroups, path, "memory.max_usage_in_bytes", &ret->peak);
	r = read_peak(cgroups, path, "memory.peak", &ret->peak);
	return r ?: read_peak(cgroups, path, "memory.swap.peak", &ret->swap_peak);
}

/* kB fields of meminfo, added up; unset if one is missing. */
static struct pgs_bytes meminfo_sum(const char *text, const char *const *keys)
{
	struct pgs_bytes sum = {.set = true};

	for (; *keys; keys++) {
		struct pgs_bytes part = stat_bytes(text, *keys);

		if (!part.set)
			return part;
		sum.bytes += part.bytes * 1024;
	}
	return sum;
}

/* What v2's root has no file for, of the machine: NR_FILE_PAGES is what meminfo prints in three. */
static int fill_from_machine(struct pgs_ctx *ctx, struct pgs_memcg_stat *ret)
{
	static const char *const anon[] = {"AnonPages", NULL}, *const shmem[] = {"Shmem", NULL},
				 *const file[] = {"Buffers", "Cached", "SwapCached", NULL};
	_cleanup_free_ char *text = NULL;
	ssize_t len;

	if (ret->anon.set)
		return 0;
	len = pgs_read_file(ctx, 0, &text, "proc/meminfo");
	if (len < 0)
		return (int)len;
	ret->anon = meminfo_sum(text, anon);
	ret->file = meminfo_sum(text, file);
	ret->shmem = meminfo_sum(text, shmem);
	return pgs_vmstat_read(ctx, &ret->vm);
}

int pgs_memcg_stat_read(struct pgs_ctx *ctx, struct pgs_cgroups *cgroups, const char *path,
			struct pgs_memcg_stat *ret)
{
	struct pgs_memcg_stat stat = {0};
	int r = pgs_memcg_read(ctx, cgroups, path, &stat.memory);

	if (!r)
		r = read_stat(cgroups, path, &stat);
	if (!r)
		r = read_events(cgroups, path, &stat);
	if (!r)
		r = read_peaks(cgroups, path, &stat);
	if (!r && stat.memory.is_whole_machine)
		r = fill_from_machine(ctx, &stat);
	if (r < 0)
		return r;
	if (stat.memory.is_whole_machine)
		stat.psi_err = pgs_psi_read(ctx, &stat.psi);
	else
		stat.psi_err = pgs_psi_read_cgroup(cgroups, path, &stat.psi);
	*ret = stat;
	return 0;
}
