// SPDX-License-Identifier: GPL-2.0-only
/* reclaim_cgroups: the section cgroup. */
#include "reclaim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct reading_cgroup *same_cgroup(const struct reading *before, const char *path)
{
	for (size_t i = 0; i < before->nr_cgroups; i++)
		if (!before->cgroups[i].err && !strcmp(before->cgroups[i].path, path))
			return &before->cgroups[i];
	return NULL;
}

static struct pgs_count count_of(struct pgs_bytes bytes)
{
	return (struct pgs_count){.set = bytes.set && bytes.bytes != PGS_UNLIMITED,
				  .n = bytes.bytes};
}

static void report_bytes(struct report *rep, const char *name, struct labels labels,
			 struct pgs_bytes before, struct pgs_bytes now, const char *reason)
{
	if (now.set && now.bytes == PGS_UNLIMITED)
		reason = "no limit";
	report_state(rep, SECTION_CGROUP, name, "bytes", labels, count_of(before), count_of(now),
		     reason);
}

static void report_memory(struct report *rep, struct labels labels,
			  const struct pgs_memcg_stat *before, const struct pgs_memcg_stat *now)
{
	const char *missing = "this kernel has no such file";
	const char *no_swap = "no swap accounting, or no such file in this kernel";
	const struct pgs_memcg *a = &before->memory, *b = &now->memory;
	size_t first = rep->nr;

	report_bytes(rep, "usage", labels, a->usage, b->usage, missing);
	report_bytes(rep, "limit", labels, a->limit, b->limit, missing);
	report_bytes(rep, "swap", labels, a->swap, b->swap, no_swap);
	report_bytes(rep, "swap_limit", labels, a->swap_limit, b->swap_limit, no_swap);
	report_bytes(rep, "anon", labels, before->anon, now->anon, missing);
	report_bytes(rep, "file", labels, before->file, now->file, missing);
	report_bytes(rep, "shmem", labels, before->shmem, now->shmem, missing);
	for (size_t i = first; b->is_whole_machine && i < rep->nr; i++)
		if (rep->metrics[i].value.set)
			rep->metrics[i].reason = "the root cgroup has no file for it: of the "
						 "machine";
	report_bytes(rep, "peak", labels, before->peak, now->peak,
		     "no memory.peak (Linux 5.19; the root has none)");
	report_bytes(rep, "swap_peak", labels, before->swap_peak, now->swap_peak,
		     "no memory.swap.peak (Linux 6.5; cgroup v1 has none)");
}

static void report_events(struct report *rep, struct labels labels,
			  const struct pgs_memcg_stat *before, const struct pgs_memcg_stat *now)
{
	const char *missing = "no memory.events: cgroup v1, or the root";

	report_counter(rep, SECTION_CGROUP, "high_events", "events", labels, before->high,
		       now->high, missing);
	report_counter(rep, SECTION_CGROUP, "max_events", "events", labels, before->max, now->max,
		       missing);
	report_counter(rep, SECTION_CGROUP, "oom_events", "events", labels, before->oom, now->oom,
		       missing);
}

static void report_gone(struct report *rep, struct labels labels, int err)
{
	report_add(rep, SECTION_CGROUP, "usage", "bytes", labels)->reason =
		err == -ENOENT ? "the cgroup is gone" : "it cannot be read";
}

/* The figures from @first on are its own and right, but not what they were asked for. */
static void mark_left(struct report *rep, size_t first)
{
	for (size_t i = first; i < rep->nr; i++)
		if (rep->metrics[i].value.set)
			rep->metrics[i].reason = "the command has left this cgroup";
}

static void report_cgroup(struct report *rep, const struct source *src,
			  const struct reading_cgroup *cgroup, const struct pgs_memcg_stat *before)
{
	const size_t first = rep->nr;
	const struct pgs_memcg_stat *now = &cgroup->stat;
	struct pgs_vmstat vm_before = before->vm, vm_now = now->vm;
	const struct labels labels = {.cgroup = cgroup->path};

	if (cgroup->err) {
		report_gone(rep, labels, cgroup->err);
		return;
	}

	report_memory(rep, labels, before, now);
	report_events(rep, labels, before, now);
	/* What memory.stat leaves to memory.events. */
	vm_before.count[PGS_VM_OOM_KILL] = before->oom_kill;
	vm_now.count[PGS_VM_OOM_KILL] = now->oom_kill;
	report_vm(rep, SECTION_CGROUP, cgroup->path, &vm_before, &vm_now);
	report_pressure(rep, SECTION_CGROUP, cgroup->path, &before->psi, &now->psi, now->psi_err);
	if (src->left && !strcmp(src->left, cgroup->path))
		mark_left(rep, first);
}

/* ---- which of them, and in what order -------------------------------------------------------- */

struct ranked {
	const struct reading_cgroup *cgroup;
	const struct pgs_memcg_stat *before; /* never NULL */
	uint64_t weight;
};

static uint64_t delta_of(struct pgs_count before, struct pgs_count now)
{
	struct pgs_count delta = count_delta(before, now);

	return delta.set ? delta.n : 0;
}

/* What is not known comes last, with what is zero. */
static uint64_t weigh(enum cgroup_key key, const struct pgs_memcg_stat *before,
		      const struct pgs_memcg_stat *now)
{
	switch (key) {
	case CGROUP_KEY_USAGE:
		return now->memory.usage.set ? now->memory.usage.bytes : 0;
	case CGROUP_KEY_SWAP:
		return now->memory.swap.set ? now->memory.swap.bytes : 0;
	case CGROUP_KEY_SCANNED:
		return delta_of(reclaim_scanned(&before->vm), reclaim_scanned(&now->vm));
	case CGROUP_KEY_STALLED:
		return now->psi.some.total_us - before->psi.some.total_us;
	case CGROUP_KEY_NONE:
	case NR_CGROUP_KEYS:
		break;
	}
	return 0;
}

static int compare_ranked(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;

	if (a->weight != b->weight)
		return a->weight < b->weight ? 1 : -1;
	return (a->cgroup > b->cgroup) - (a->cgroup < b->cgroup);
}

void report_cgroups(struct report *rep, const struct source *src, const struct reading *before,
		    const struct reading *now)
{
	static const struct pgs_memcg_stat none;
	struct ranked *ranked = calloc(now->nr_cgroups + 1, sizeof(*ranked));
	size_t nr = now->nr_cgroups;

	if (!ranked) {
		rep->no_memory = true;
		return;
	}
	for (size_t i = 0; i < nr; i++) {
		const struct reading_cgroup *cgroup = &now->cgroups[i];
		const struct reading_cgroup *same = same_cgroup(before, cgroup->path);

		ranked[i] = (struct ranked){.cgroup = cgroup, .before = same ? &same->stat : &none};
		if (!cgroup->err)
			ranked[i].weight =
				weigh(src->key, same ? &same->stat : &cgroup->stat, &cgroup->stat);
	}
	qsort(ranked, nr, sizeof(*ranked), compare_ranked);
	if (src->top && src->top < nr)
		nr = src->top;
	for (size_t i = 0; i < nr; i++)
		report_cgroup(rep, src, ranked[i].cgroup, ranked[i].before);
	free(ranked);
}
