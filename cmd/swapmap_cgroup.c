// SPDX-License-Identifier: GPL-2.0-only
/*
 * The view of cgroups: the owners of slots are cgroups instead of processes, so what its processes
 * share among themselves counts once.
 */
#include "swapmap.h"

#include "../src/cleanup.h"
#include "../src/memcg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HIDDEN PGS_COL_HIDDEN

/* clang-format off */
enum {
	C_CGROUP, C_PROCESSES, C_ANON, C_SHMEM, C_TOTAL, C_PSWAP, C_USWAP, C_BYTES,
	C_ANON_BYTES = C_BYTES, C_SHMEM_BYTES, C_TOTAL_BYTES, C_PSWAP_BYTES, C_USWAP_BYTES,
	C_CHARGED, C_LIMIT, C_ZSWAP, C_NOTE, C_COLS
};

const struct pgs_col swapmap_cgroup_cols[] = {
	[C_CGROUP]	= {"cgroup", NULL, PGS_BLOB, 20, 0, "its path"},
	[C_PROCESSES]	= {"processes", "PROCS", PGS_U64, 5, 0, "processes in it"},
	[C_ANON]	= {"anon", NULL, PGS_U64, 9, 0, "pages of private memory in swap"},
	[C_SHMEM]	= {"shmem", NULL, PGS_U64, 9, 0, "pages of shared memory in swap"},
	[C_TOTAL]	= {"total", NULL, PGS_U64, 9, 0, "both"},
	[C_PSWAP]	= {"pswap", NULL, PGS_F64, 11, 0, "proportional: each slot divided by its owners"},
	[C_USWAP]	= {"uswap", NULL, PGS_U64, 9, 0, "unique: slots that nobody else holds"},
	[C_ANON_BYTES]	= {"anon_bytes", NULL, PGS_BYTES, 11, HIDDEN, "anon in bytes"},
	[C_SHMEM_BYTES]	= {"shmem_bytes", NULL, PGS_BYTES, 11, HIDDEN, "shmem in bytes"},
	[C_TOTAL_BYTES]	= {"total_bytes", NULL, PGS_BYTES, 11, HIDDEN, "total in bytes"},
	[C_PSWAP_BYTES]	= {"pswap_bytes", NULL, PGS_BYTES, 11, HIDDEN, "pswap in bytes, rounded"},
	[C_USWAP_BYTES]	= {"uswap_bytes", NULL, PGS_BYTES, 11, HIDDEN, "uswap in bytes"},
	[C_CHARGED]	= {"charged", NULL, PGS_BYTES, 7, 0, "swap that the kernel charges to it and its children"},
	[C_LIMIT]	= {"limit", NULL, PGS_BYTES, 7, HIDDEN, "most swap that may be charged"},
	[C_ZSWAP]	= {"zswap", NULL, PGS_BYTES, 7, HIDDEN, "memory that its pages in zswap take"},
	[C_NOTE]	= {"note", NULL, PGS_STR, 4, 0, "why a value is not known"},
	[C_COLS]	= {0},
};
/* clang-format on */

/* ---- cgroups as owners ---------------------------------------------------------------------- */

struct member {
	char *path;
	size_t proc;
};

static int compare_members(const void *pa, const void *pb)
{
	const struct member *a = pa, *b = pb;
	int by_path = strcmp(a->path, b->path);

	return by_path ? by_path : (a->proc > b->proc) - (a->proc < b->proc);
}

static void free_members(struct member *members, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		free(members[i].path);
	free(members);
}

/* The processes in the order of @members; each path is kept once. */
static int take_order(struct swapmap *m, struct member *members, size_t nr)
{
	struct swapmap_proc *procs = calloc(nr + 1, sizeof(*procs));

	m->paths = calloc(nr + 1, sizeof(*m->paths));
	if (!procs || !m->paths) {
		free(procs);
		return -ENOMEM;
	}
	for (size_t i = 0; i < nr; i++) {
		if (!m->nr_paths || strcmp(m->paths[m->nr_paths - 1], members[i].path) != 0) {
			m->paths[m->nr_paths++] = members[i].path;
			members[i].path = NULL;
		}
		procs[i] = m->procs[members[i].proc];
		procs[i].owner = (uint32_t)m->nr_paths - 1;
		procs[i].first = i;
	}
	free(m->procs);
	m->procs = procs;
	m->nr_procs = nr;
	return 0;
}

int swapmap_by_cgroup(struct swapmap *m)
{
	struct member *members = calloc(m->nr_procs + 1, sizeof(*members));
	size_t nr = 0;
	int r = pgs_cgroups_open(m->ctx, &m->cgroups);

	if (!members)
		return -ENOMEM;
	for (size_t i = 0; i < m->nr_procs && !r; i++) {
		members[nr].proc = i;
		r = pgs_cgroup_of(m->cgroups, m->procs[i].proc.task, &members[nr].path);
		if (!r)
			nr++;
		else if (r == -ESRCH)
			r = 0;
	}
	if (!r) {
		qsort(members, nr, sizeof(*members), compare_members);
		r = take_order(m, members, nr);
	}
	free_members(members, nr);
	return r;
}

/* ---- rows ----------------------------------------------------------------------------------- */

static struct pgs_val bytes(struct pgs_bytes b)
{
	return b.set && b.bytes != PGS_UNLIMITED ? pgs_u64(b.bytes) : PGS_NULL;
}

/* memory.zswap.current is of v2 alone (5.19); there is no such file at its root. */
static struct pgs_val read_zswap(struct swapmap *m, const char *path)
{
	_cleanup_free_ char *text = NULL;
	uint64_t size;

	if (pgs_cgroup_read(m->cgroups, path, "memory.zswap.current", &text) < 0)
		return PGS_NULL;
	text[strcspn(text, "\n")] = '\0';
	return pgs_parse_u64(text, &size) ? PGS_NULL : pgs_u64(size);
}

int swapmap_emit_cgroup(struct swapmap *m, uint32_t owner, uint64_t nr_procs,
			const struct swapmap_part *part)
{
	const char *path = m->paths[owner];
	char note[SWAPMAP_NOTE];
	struct pgs_memcg memcg = {0};
	struct pgs_val vals[C_COLS] = {
		[C_CGROUP] = pgs_blob(path, strlen(path)),
		[C_PROCESSES] = pgs_u64(nr_procs),
		[C_NOTE] = pgs_str(swapmap_part_note(m, part, part->share.shmem, note)),
	};

	swapmap_part_vals(m, part, part->share.anon, part->share.shmem, &vals[C_ANON]);
	if (part->has_hidden) /* which pages are the same slot cannot be told */
		vals[C_ANON] = vals[C_TOTAL] = PGS_NULL;
	swapmap_part_bytes(m, &vals[C_ANON], &vals[C_BYTES]);
	if (!pgs_memcg_read(m->ctx, m->cgroups, path, &memcg)) {
		vals[C_CHARGED] = bytes(memcg.swap);
		vals[C_LIMIT] = bytes(memcg.swap_limit);
	}
	vals[C_ZSWAP] = read_zswap(m, path);
	if (m->procs_unseen) { /* it may have more of them */
		for (size_t i = C_PROCESSES; i <= C_USWAP_BYTES; i++)
			vals[i] = PGS_NULL;
		vals[C_NOTE] = pgs_str("not all processes are seen");
	}
	if (vals[C_TOTAL].set && !vals[C_TOTAL].u && !(vals[C_CHARGED].set && vals[C_CHARGED].u) &&
	    !m->targets.named)
		return 0; /* nothing in swap, neither of its processes nor otherwise */
	return out_row(m->out, vals);
}
