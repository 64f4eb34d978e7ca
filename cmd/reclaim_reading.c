// SPDX-License-Identifier: GPL-2.0-only
/* reclaim_reading: one look at the machine. What fails is kept as its errno: the rest is whole. */
#include "reclaim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../src/cleanup.h"

static uint64_t now_ns(void)
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

int reading_take(const struct source *src, struct reading *ret)
{
	struct reading r = {.at_ns = now_ns()};
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
	if (err) {
		reading_fini(&r);
		return err;
	}
	*ret = r;
	return 0;
}

void reading_fini(struct reading *r)
{
	for (size_t i = 0; i < r->nr_cgroups; i++)
		free(r->cgroups[i].path);
	free(r->cgroups);
	free(r->areas);
	pgs_swap_areas_fini(&r->swaps);
	*r = (struct reading){0};
}
