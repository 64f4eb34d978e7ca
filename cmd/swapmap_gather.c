// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is in swap on the whole machine: who owns a slot is only known when all have been asked,
 * also when few are to be shown.
 */
#include "swapmap.h"

#include "../src/cleanup.h"
#include "../src/samemm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void swapmap_error(struct swapmap *m, pid_t pid, const char *what, int err)
{
	m->incomplete = true;
	if (m->out)
		out_error(m->out, pid, what, err);
}

void swapmap_keep_refusal(struct swapmap *m)
{
	if (!m->refusal)
		m->refusal = strdup(pgs_ctx_error(m->ctx));
}

void swapmap_failed(struct swapmap *m, pid_t pid, const char *what, int err)
{
	progress_clear();
	msg_error("%s", what);
	swapmap_error(m, pid, what, err);
	if (!m->failure)
		m->failure = msg_exit_status(err);
}

/* ---- processes ------------------------------------------------------------------------------- */

static int add_proc(struct swapmap *m, const struct pgs_proc *proc, size_t *room)
{
	if (m->nr_procs == *room) {
		struct swapmap_proc *more;

		*room = *room ? *room * 2 : 256;
		more = reallocarray(m->procs, *room, sizeof(*more));
		if (!more)
			return -ENOMEM;
		m->procs = more;
	}
	m->procs[m->nr_procs] = (struct swapmap_proc){
		.proc = *proc, .owner = (uint32_t)m->nr_procs, .first = m->nr_procs};
	m->nr_procs++;
	return 0;
}

/* Kernel threads and zombies have no memory, and so no swap. */
static bool has_memory(const struct pgs_proc *proc)
{
	return proc->has_swap_kb || (!proc->kthread && proc->run_state != 'Z');
}

/* There is one of which not even /proc/PID/stat may be read. */
static int miss_proc(struct swapmap *m)
{
	m->procs_unseen = true;
	if (m->opts->target.system) {
		m->nr_refused++;
		swapmap_keep_refusal(m);
	}
	return 0;
}

static int list_procs(struct swapmap *m)
{
	_cleanup_(pgs_pids_closep) struct pgs_pids *pids = NULL;
	int r = pgs_pids_open(m->ctx, &pids);
	struct pgs_proc proc;
	size_t room = 0;
	pid_t pid;

	while (!r && pgs_pids_next(pids, &pid) > 0) {
		r = pgs_proc_read(m->ctx, pid, &proc);
		if (!r && has_memory(&proc))
			r = add_proc(m, &proc, &room);
		else if (r == -EACCES || r == -EPERM)
			r = miss_proc(m);
		else if (r == -ESRCH)
			r = 0;
	}
	return r;
}

static ssize_t find_proc(const struct swapmap *m, pid_t pid)
{
	for (size_t i = 0; i < m->nr_procs; i++)
		if (m->procs[i].proc.pid == pid)
			return (ssize_t)i;
	return -1;
}

/* A target that is not in the list has no memory, or is not there. */
static void miss_target(struct swapmap *m, pid_t pid)
{
	char what[64];
	struct pgs_proc proc;
	int r = pgs_proc_read(m->ctx, pid, &proc);

	if (!m->targets.named) {
		if (r == -EPERM || r == -EACCES)
			m->targets.hidden = PGS_PIDS_HIDEPID;
		return;
	}
	if (r) {
		swapmap_failed(m, pid, pgs_ctx_error(m->ctx), r);
		return;
	}
	snprintf(what, sizeof(what), "process %d %s", (int)pid,
		 proc.kthread		 ? "is a kernel thread: it has no memory of its own"
		 : proc.run_state == 'Z' ? "has exited: it is a zombie"
					 : "was not there when the others were listed");
	swapmap_failed(m, pid, what, -ESRCH);
}

static int compare_sizes(const void *pa, const void *pb)
{
	const size_t *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

static int choose_shown(struct swapmap *m)
{
	size_t nr = m->opts->target.system ? m->nr_procs : m->targets.nr;

	m->shown = calloc(nr + 1, sizeof(*m->shown));
	if (!m->shown)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		ssize_t at = m->opts->target.system ? (ssize_t)i : find_proc(m, m->targets.pids[i]);

		if (at < 0) {
			miss_target(m, m->targets.pids[i]);
			continue;
		}
		m->shown[m->nr_shown++] = (size_t)at;
		m->procs[at].shown = true;
	}
	if (m->by == SWAPMAP_CGROUP) /* those of one owner together */
		qsort(m->shown, m->nr_shown, sizeof(*m->shown), compare_sizes);
	return 0;
}

/* Which processes share their memory; those have one owner, unless that is their cgroup. */
static int find_sharers(struct swapmap *m)
{
	_cleanup_free_ size_t *first = calloc(m->nr_procs + 1, sizeof(*first));
	_cleanup_free_ pid_t *pids = calloc(m->nr_procs + 1, sizeof(*pids));
	int r;

	if (!first || !pids)
		return -ENOMEM;
	for (size_t i = 0; i < m->nr_procs; i++)
		pids[i] = m->procs[i].proc.task;
	r = pgs_same_mm(m->ctx, pids, m->nr_procs, first);
	for (size_t i = 0; i < m->nr_procs; i++) {
		m->procs[i].first = first[i];
		m->procs[first[i]].wanted |= m->procs[i].shown;
		if (m->by != SWAPMAP_CGROUP)
			m->procs[i].owner = m->procs[first[i]].owner;
	}
	return r;
}

/* ---- slots ----------------------------------------------------------------------------------- */

/* The process whose turn it is. */
struct turn {
	struct swapmap *m;
	const struct swapmap_proc *proc;
	uint32_t index;
};

static int hold_run(void *arg, const struct pgs_vma *vma, const struct pgs_swap_run *run)
{
	struct turn *t = arg;
	struct swapmap *m = t->m;

	(void)vma;
	if (cmd_interrupted)
		return -EINTR;
	if (!run->named) {
		m->hidden_slots |= !run->unknown;
		return 0;
	}
	if (run->located)
		pgs_swap_evidence_add(&m->evidence, run->swap_type, run->slot, run->pages);
	return pgs_slots_hold(m->slots, run->space, run->index, run->pages, t->proc->owner,
			      run->is_shmem ? PGS_SLOT_SHMEM : PGS_SLOT_ANON);
}

static int count_mapper(void *arg, const struct pgs_vma *vma, struct pgs_swapobj *obj)
{
	struct turn *t = arg;

	(void)vma;
	if (obj->last_mapper != t->index)
		obj->mappers++;
	obj->last_mapper = t->index;
	obj->wanted |= t->proc->wanted;
	return 0;
}

static int note_present(void *arg, uint64_t addr, const uint64_t *words, size_t count)
{
	struct turn *t = arg;

	return cmd_interrupted ? -EINTR : pgs_swapcache_present(t->m->cache, addr, words, count);
}

bool swapmap_is_told(const struct swapmap *m, size_t i)
{
	return m->procs[i].first != i && !m->procs[m->procs[i].first].err;
}

/* One that cannot be looked into may hold any slot, unless it surely has none. */
static int ask_proc(struct swapmap *m, size_t i)
{
	struct swapmap_proc *proc = &m->procs[i];
	struct turn turn = {.m = m, .proc = proc, .index = (uint32_t)i};
	const struct pgs_swapscan_opts opts = {
		.run = hold_run,
		.present = m->cache ? note_present : NULL,
		.object = count_mapper,
		.arg = &turn,
		.stop = &cmd_interrupted,
	};
	int r = 0;

	progress_add(m->progress, 1);
	if (swapmap_is_told(m, i))
		return 0;
	r = pgs_swapscan(&m->env, m->objs, &proc->proc, &opts);
	if (r == -ENOMEM || r == -EINTR)
		return r;
	proc->err = r;
	if (r && r != -ESRCH) {
		m->owners_known = false;
		swapmap_keep_refusal(m);
	}
	return 0;
}

/* Slots of objects that nobody maps, or not all of. */
static int hold_objects(struct swapmap *m)
{
	int r = 0;

	for (size_t i = 0; i < pgs_swapobjs_nr(m->objs); i++) {
		const struct pgs_swapobj *obj = pgs_swapobjs_get(m->objs, i);

		for (size_t k = 0; k < obj->nr_extents && !r; k++) {
			const struct pgs_swap_extent *e = &obj->extents[k];

			if (obj->located)
				pgs_swap_evidence_add(&m->evidence, e->swap_type, e->slot,
						      e->pages);
			r = pgs_slots_hold(m->slots, obj->located ? e->swap_type : obj->space,
					   obj->located ? e->slot : e->index, e->pages,
					   PGS_SLOT_NOBODY, PGS_SLOT_SHMEM);
		}
	}
	return r;
}

/*
 * How many slots of each type are in use is evidence too, if nothing moved meanwhile; and none of
 * it is when an area came or went.
 */
static int match_areas(struct swapmap *m)
{
	struct pgs_swap_areas now;
	bool still = true;
	int r = pgs_swap_areas_read(m->ctx, &now);

	if (r)
		return r;
	if (pgs_swap_areas_same(&m->swaps, &now)) {
		for (size_t i = 0; i < now.nr; i++)
			still &= now.areas[i].used_pages == m->swaps.areas[i].used_pages;
		for (unsigned int t = 0; t < PGS_PM_SWAP_TYPES && still; t++) {
			struct pgs_slot_counts counts = {0};

			pgs_slots_count(m->slots, t, t + 1, &counts);
			m->evidence.slots[t] = counts.anon + counts.shmem;
		}
		if (now.nr > 1) /* one alone is any type that is seen */
			pgs_swap_areas_ask(&now, m->env.kmem);
		pgs_swap_match(&now, &m->evidence, &m->match);
	}
	pgs_swap_areas_fini(&m->swaps);
	m->swaps = now;
	return 0;
}

/*
 * Whether present pages are to be looked at: they hold slots as long as they are in the swap cache,
 * which takes a look at each frame. Only for a whole account, and if there is anything in it.
 */
static int open_cache(struct swapmap *m)
{
	int r;

	if (!m->opts->target.system || m->opts->slot || m->opts->map ||
	    (m->cached_pages.set && !m->cached_pages.u))
		return 0;
	if (pgs_kmem_has(m->env.kmem,
			 PGS_KMEM_SWAP_CACHE)) /* tells slot by slot, from the other end */
		return 0;
	r = pgs_swapcache_new(m->ctx, &m->cache);
	if (r && r != -ENOMEM)
		msg_note("pages in the swap cache are not counted: %s", pgs_ctx_error(m->ctx));
	return r == -ENOMEM ? r : 0;
}

static int ask_all(struct swapmap *m)
{
	int r = find_sharers(m);

	if (!r)
		r = pgs_swapobjs_open(m->ctx, m->env.kmod, m->env.kmem, &m->objs);
	if (!r)
		r = open_cache(m);
	if (r)
		return r;
	m->progress = progress_new("processes", m->nr_procs, m->opts->output.verbosity);
	for (size_t i = 0; i < m->nr_procs && !r; i++)
		r = ask_proc(m, i);
	if (!r && m->opts->target.system)
		r = pgs_swapobjs_add_unmapped(m->objs);
	if (!r)
		r = hold_objects(m);
	progress_free(m->progress);
	m->progress = NULL;
	return r ? r : match_areas(m);
}

/* Nothing can be in swap; a captured tree may be of a machine that was being switched off. */
static bool swap_is_empty(const struct swapmap *m)
{
	return !pgs_swap_areas_used(&m->swaps);
}

int swapmap_gather(struct swapmap *m)
{
	int r = targets_find(m->ctx, &m->opts->target, &m->targets);
	uint64_t cached;

	if (r) {
		if (r != PGS_EXIT_USAGE)
			swapmap_error(m, 0, pgs_ctx_error(m->ctx), 0);
		return r;
	}
	if (!pgs_swapcached_pages(m->ctx, &cached))
		m->cached_pages = pgs_u64(cached);
	m->procs_unseen = pgs_pids_hidden(m->ctx);
	r = pgs_swap_areas_read(m->ctx, &m->swaps);
	if (!r)
		r = list_procs(m);
	m->owners_known = swap_is_empty(m) || !m->procs_unseen;
	if (!r && m->by == SWAPMAP_CGROUP)
		r = swapmap_by_cgroup(m);
	if (!r)
		r = pgs_slots_new(&m->slots);
	if (!r)
		r = choose_shown(m);
	if (!r && !swap_is_empty(m))
		r = ask_all(m);
	if (!r || r == -EINTR)
		return PGS_EXIT_OK;
	swapmap_failed(m, 0, r == -ENOMEM ? "out of memory" : pgs_ctx_error(m->ctx), r);
	return msg_exit_status(r);
}

struct pgs_val swapmap_device(const struct swapmap *m, unsigned int type)
{
	const struct pgs_swap_area *area = pgs_swap_match_area(&m->swaps, &m->match, type);

	return area ? pgs_blob(area->name, strlen(area->name)) : PGS_NULL;
}

bool swapmap_areas_moved(const struct swapmap *m)
{
	return m->evidence.seen && !m->match.lines[__builtin_ctz(m->evidence.seen)];
}

int swapmap_type_of(const struct swapmap *m, size_t line, bool *ret_open)
{
	*ret_open = false;
	for (unsigned int type = 0; type < PGS_PM_SWAP_TYPES; type++) {
		if (pgs_swap_match_area(&m->swaps, &m->match, type) == &m->swaps.areas[line])
			return (int)type;
		*ret_open |= m->match.lines[type] >> line & 1;
	}
	*ret_open |= swapmap_areas_moved(m);
	return -1;
}

void swapmap_fini(struct swapmap *m)
{
	for (size_t i = 0; i < m->nr_paths; i++)
		free(m->paths[i]);
	free(m->paths);
	pgs_cgroups_close(m->cgroups);
	pgs_swapcache_free(m->cache);
	pgs_swapobjs_close(m->objs);
	pgs_slots_free(m->slots);
	free(m->shown);
	free(m->procs);
	free(m->refusal);
	targets_fini(&m->targets);
	pgs_swap_areas_fini(&m->swaps);
}
