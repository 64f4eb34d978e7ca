// SPDX-License-Identifier: GPL-2.0-only
/* reclaim_reading: one look at the machine. What fails is kept as its errno: the rest is whole. */
#include "reclaim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../src/cleanup.h"
#include "../src/procfs.h"

uint64_t reclaim_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static int read_swaps(struct pgs_ctx *ctx, struct reading *r)
{
	r->swap_err = pgs_swap_areas_read(ctx, &r->swaps);
	if (r->swap_err || !r->swaps.nr)
		return 0;
	r->areas = calloc(r->swaps.nr, sizeof(*r->areas));
	if (!r->areas)
		return -ENOMEM;
	for (size_t i = 0; i < r->swaps.nr; i++) {
		struct reading_area *area = &r->areas[i];

		area->area = &r->swaps.areas[i];
		area->is_zram = !pgs_zram_read(ctx, area->area->name, &area->zram);
	}
	return 0;
}

/* Takes over @path. */
static int add_cgroup(const struct source *src, char *path, struct reading *r)
{
	struct reading_cgroup *more =
		path ? reallocarray(r->cgroups, r->nr_cgroups + 1, sizeof(*more)) : NULL;
	struct reading_cgroup *cgroup;

	if (!more) {
		free(path);
		return -ENOMEM;
	}
	r->cgroups = more;
	cgroup = &more[r->nr_cgroups++];
	*cgroup = (struct reading_cgroup){.path = path};
	cgroup->err = pgs_memcg_stat_read(src->ctx, src->cgroups, path, &cgroup->stat);
	return 0;
}

static int add_below(const struct source *src, const char *path, struct reading *r)
{
	struct pgs_cgroup_list list = {0};
	int err = pgs_cgroup_below(src->cgroups, path, &list);

	if (err == -ENOENT)
		return add_cgroup(src, strdup(path), r); /* which says that it is gone */
	for (size_t i = 0; i < list.nr && !err; i++) {
		err = add_cgroup(src, list.paths[i], r);
		list.paths[i] = NULL;
	}
	pgs_cgroup_list_fini(&list);
	return err == -ENOMEM ? err : 0;
}

static int read_cgroups(const struct source *src, struct reading *r)
{
	int err = 0;

	for (size_t i = 0; i < src->nr_paths && !err; i++)
		err = src->recursive ? add_below(src, src->paths[i], r)
				     : add_cgroup(src, strdup(src->paths[i]), r);
	return err;
}

/* ---- pages ----------------------------------------------------------------------------------- */

static bool is_named(const struct source *src, enum section section)
{
	return src->named & SECTION_BIT(section);
}

/* What the module is needed for is not asked of a process without memory. */
static int find_memory(struct pgs_ctx *ctx, pid_t pid)
{
	struct pgs_proc proc;
	int r = pgs_proc_read(ctx, pid, &proc);

	return r ?: proc.kthread || proc.run_state == 'Z' ? -ESRCH : 0;
}

static int read_process(const struct source *src, struct reading_process *process)
{
	int r = find_memory(src->ctx, process->pid);

	if (r)
		return r;
	if (!src->kmod)
		return -ENODEV;
	if (!pgs_kmod_has(src->kmod, PGSCAN_FEAT_TAGS))
		return -EOPNOTSUPP;
	return pgs_tags_read(src->ctx, src->kmod, process->pid, &process->tags);
}

static int read_tags(const struct source *src, struct reading *r)
{
	if (!src->nr_pids)
		return 0;
	r->processes = calloc(src->nr_pids, sizeof(*r->processes));
	if (!r->processes)
		return -ENOMEM;
	for (size_t i = 0; i < src->nr_pids; i++) {
		struct reading_process *process = &r->processes[r->nr_processes++];

		process->pid = src->pids[i];
		process->err = read_process(src, process);
		if (process->err == -ENOMEM)
			return -ENOMEM;
	}
	return 0;
}

/* The module is asked first: it is a hundred times as fast, and counts under the zone's lock. */
static bool count_by_module(const struct source *src, struct reading *r)
{
	uint64_t start = reclaim_now_ns();

	if (!src->kmod || !pgs_kmod_has(src->kmod, PGSCAN_FEAT_REPORTED) ||
	    pgs_free_zones_reported(src->kmod, &r->zones) < 0)
		return false;
	r->reported_err = 0;
	r->reported_ns = reclaim_now_ns() - start;
	return true;
}

/* One walk for both sections. What a walk that failed has counted of the zones is not kept. */
static void walk_pages(const struct source *src, struct reading *r, bool count)
{
	int err = pgs_page_states_read(src->ctx, count ? &r->zones : NULL, &cmd_interrupted,
				       &r->states);

	if (is_named(src, SECTION_WRITEBACK))
		r->states_err = err;
	if (!count)
		return;
	r->reported_err = err;
	r->reported_ns = r->states.walk_ns;
	if (err) {
		pgs_free_zones_fini(&r->zones);
		r->zones_err = pgs_free_zones_read(src->ctx, &r->zones);
	}
}

static int read_pages(const struct source *src, struct reading *r)
{
	bool count = is_named(src, SECTION_REPORTING);
	int err = 0;

	r->states_err = r->reported_err = -ENODATA;
	if (src->sections & SECTION_BIT(SECTION_WRITEBACK))
		err = read_tags(src, r);
	if (src->sections & SECTION_BIT(SECTION_REPORTING)) {
		r->reporting_err = pgs_reporting_read(src->ctx, &r->reporting);
		r->zones_err = pgs_free_zones_read(src->ctx, &r->zones);
		count = count && !r->zones_err && !count_by_module(src, r);
	}
	if (!err && (count || is_named(src, SECTION_WRITEBACK)))
		walk_pages(src, r, count);
	return err;
}

/* ---- all of it ------------------------------------------------------------------------------- */

int reading_take(const struct source *src, struct reading *ret)
{
	struct reading r = {.at_ns = reclaim_now_ns()};
	int err = 0;

	r.vm_err = pgs_vmstat_read(src->ctx, &r.vm);
	if (src->sections & SECTION_BIT(SECTION_PSI))
		r.psi_err = pgs_psi_read(src->ctx, &r.psi);
	if (src->sections & SECTION_BIT(SECTION_SWAP)) {
		err = read_swaps(src->ctx, &r);
		r.zswap_err = pgs_zswap_read(src->ctx, &r.zswap);
	}
	if (!err && src->sections & SECTION_BIT(SECTION_CGROUP))
		err = read_cgroups(src, &r);
	err = err ?: read_pages(src, &r);
	if (err) {
		reading_fini(&r);
		return err;
	}
	*ret = r;
	return 0;
}

int reading_take_first(const struct source *src, struct reading *ret)
{
	struct source cheap = *src;

	cheap.named = 0;
	cheap.nr_pids = 0;
	return reading_take(&cheap, ret);
}

void reading_fini(struct reading *r)
{
	for (size_t i = 0; i < r->nr_cgroups; i++)
		free(r->cgroups[i].path);
	free(r->cgroups);
	for (size_t i = 0; i < r->nr_processes; i++)
		pgs_tags_list_fini(&r->processes[i].tags);
	free(r->processes);
	pgs_free_zones_fini(&r->zones);
	free(r->areas);
	pgs_swap_areas_fini(&r->swaps);
	*r = (struct reading){0};
}
