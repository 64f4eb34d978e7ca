// SPDX-License-Identifier: GPL-2.0-only
#include "swapscan.h"

#include "caps.h"
#include "cleanup.h"

#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>

struct swapscan {
	struct pgs_scan_env *env;
	struct pgs_swapobjs *objs;
	const struct pgs_swapscan_opts *opts;
	pid_t pid;
	bool anon; /* private pages are of interest */
	struct pgs_vma vma;
	struct pgs_range part;
	struct pgs_swapobj *obj; /* behind vma; NULL: nothing of it is in swap, or it is no shmem */
	int failed;		 /* in wants_vma(), which cannot say so */
};

/* A shared mapping of a file, or of a device, has no swap entries in its page table. */
static bool may_have_anon(const struct swapscan *s, const struct pgs_vma *vma)
{
	return s->anon && !pgs_vma_is_shared(vma) && vma->kind != PGS_VMA_DEVICE &&
	       vma->kind != PGS_VMA_SPECIAL;
}

static int find_object(struct swapscan *s, const struct pgs_vma *vma)
{
	int r;

	s->obj = NULL;
	if (vma->kind != PGS_VMA_SHMEM && vma->kind != PGS_VMA_OVERLAY)
		return 0;
	r = pgs_swapobjs_of_vma(s->objs, s->pid, vma, &s->obj);
	if (r > 0 && s->opts->object)
		r = s->opts->object(s->opts->arg, vma, s->obj);
	return r > 0 ? 0 : r;
}

static bool wants_vma(const struct pgs_vma *vma, void *arg)
{
	struct swapscan *s = arg;

	if (s->failed || (s->opts->match && !s->opts->match(vma, s->opts->match_arg)))
		return false;
	s->failed = find_object(s, vma);
	return !s->failed && (s->obj || may_have_anon(s, vma));
}

/* ---- pages of an object ---------------------------------------------------------------------- */

static void object_run(const struct swapscan *s, const struct pgs_swap_extent *extent,
		       uint64_t index, uint64_t pages, struct pgs_swap_run *ret_run)
{
	const struct pgs_swapobj *obj = s->obj;

	*ret_run = (struct pgs_swap_run){
		.pages = pages,
		.is_shmem = true,
		.located = obj->located,
		.swap_type = obj->located ? extent->swap_type : 0,
		.slot = obj->located ? extent->slot + (index - extent->index) : 0,
		.named = true,
		.space = obj->located ? extent->swap_type : obj->space,
		.obj = s->obj,
	};
	ret_run->index = obj->located ? ret_run->slot : index;
}

/* Pages of the object that were not seen in swap: they are not there, or that is not known. */
static int show_gap(struct swapscan *s, uint64_t addr, uint64_t pages)
{
	const struct pgs_swap_run run = {
		.addr = addr, .pages = pages, .is_shmem = true, .obj = s->obj, .unknown = true};

	if (!pages || (!s->obj->reason && !s->obj->racy))
		return 0;
	return s->opts->run(s->opts->arg, &s->vma, &run);
}

/* What of the object lies in swap behind [@start, @end) of the mapping. */
static int show_object(struct swapscan *s, uint64_t start, uint64_t end)
{
	unsigned int shift = s->env->ctx->page_shift;
	const struct pgs_swapobj *obj = s->obj;
	uint64_t first = (s->vma.offset + (start - s->vma.start)) >> shift;
	uint64_t behind = first + ((end - start) >> shift);
	uint64_t at = first; /* shown up to here */
	int r = 0;

	for (size_t i = pgs_swapobj_find(obj, first);
	     i < obj->nr_extents && obj->extents[i].index < behind && !r; i++) {
		const struct pgs_swap_extent *extent = &obj->extents[i];
		uint64_t from = extent->index > first ? extent->index : first;
		uint64_t to = extent->index + extent->pages;
		struct pgs_swap_run run;

		to = to < behind ? to : behind;
		object_run(s, extent, from, to - from, &run);
		run.addr = start + ((from - first) << shift);
		r = show_gap(s, start + ((at - first) << shift), from - at);
		r = r ?: s->opts->run(s->opts->arg, &s->vma, &run);
		at = to;
	}
	return r ?: show_gap(s, start + ((at - first) << shift), behind - at);
}

/* ---- pages of the process -------------------------------------------------------------------- */

static int show_anon(struct swapscan *s, const struct pgs_piece *piece, uint64_t i, uint64_t n)
{
	struct pgs_swap_run run = {.addr = piece->addr + (i << s->env->ctx->page_shift),
				   .pages = n};
	struct pgs_page page;

	pgs_piece_page(piece, i, s->env, &page);
	if (page.state != PGS_SWAPPED)
		return 0; /* a marker, a migration entry: no slot */
	run.named = run.located = page.has_slot;
	run.swap_type = run.space = page.has_slot ? page.swap_type : 0;
	run.slot = run.index = page.has_slot ? page.swap_offset : 0;
	return s->opts->run(s->opts->arg, &s->vma, &run);
}

/* Present, a swap entry, or empty: 0. Under a marker of userfaultfd there is what the object has,
 * as in an empty entry. */
static uint64_t kind_of(const struct swapscan *s, uint64_t word)
{
	uint64_t kind = word & (PGS_PM_PRESENT | PGS_PM_SWAP);

	return kind == PGS_PM_SWAP && s->obj && pgs_word_is_uffd_marker(word, &s->env->types)
		       ? 0
		       : kind;
}

/* How many words from @i on are of the same kind. */
static uint64_t alike(const struct swapscan *s, const struct pgs_piece *piece, uint64_t i)
{
	uint64_t kind = kind_of(s, piece->words[i]), n = 1;

	while (i + n < piece->pages && kind_of(s, piece->words[i + n]) == kind)
		n++;
	return n;
}

/*
 * A private mapping of an object shows its own copies in the page table, and the object's page
 * where there is none (and where it is the object's own that is present).
 */
static int show_words(struct swapscan *s, const struct pgs_piece *piece)
{
	unsigned int shift = s->env->ctx->page_shift;
	int r = 0;

	for (uint64_t i = 0, n; i < piece->pages && !r; i += n) {
		uint64_t addr = piece->addr + (i << shift);

		uint64_t kind = kind_of(s, piece->words[i]);

		n = alike(s, piece, i);
		if (kind == PGS_PM_SWAP) {
			uint64_t run = pgs_piece_run(piece, i, s->env);

			n = run < n ? run : n;
			r = show_anon(s, piece, i, n);
		} else if (kind) {
			r = s->opts->present
				    ? s->opts->present(s->opts->arg, addr, piece->words + i, n)
				    : 0;
		} else if (s->obj) {
			r = show_object(s, addr, addr + (n << shift));
		}
	}
	return r;
}

static int show_private(struct swapscan *s, struct pgs_scan *scan)
{
	unsigned int shift = s->env->ctx->page_shift;
	struct pgs_piece piece;
	int r;

	while ((r = pgs_scan_next(scan, &piece)) > 0) {
		if (s->opts->stop && *s->opts->stop)
			return -EINTR;
		if (piece.words)
			r = show_words(s, &piece);
		else /* a long stretch without page table entries */
			r = s->obj ? show_object(s, piece.addr, piece.addr + (piece.pages << shift))
				   : 0;
		if (r)
			return r;
	}
	return r;
}

static int walk(struct swapscan *s, struct pgs_scan *scan)
{
	int r;

	while ((r = pgs_scan_next_vma(scan, &s->vma, &s->part)) > 0) {
		if (pgs_vma_is_shared(&s->vma))
			r = show_object(s, s->part.start, s->part.end);
		else
			r = show_private(s, scan);
		if (r)
			return r;
	}
	return r ? r : s->failed;
}

/* "START-END PERMS OFFSET MAJOR:MINOR INODE ...": whether that file is in swap, or may be. */
static bool line_has_object(struct pgs_ctx *ctx, const struct pgs_swapobjs *objs, pid_t pid,
			    const char *line)
{
	unsigned long dev_major, dev_minor;
	char *end;

	for (int field = 0; field < 3 && line; field++) {
		line = strchr(line, ' ');
		line += !!line;
	}
	if (!line)
		return false;
	dev_major = strtoul(line, &end, 16);
	if (*end != ':')
		return false;
	dev_minor = strtoul(end + 1, &end, 16);
	if (*end != ' ')
		return false;
	return pgs_swapobjs_has(objs, makedev(dev_major, dev_minor), strtoull(end, NULL, 10)) ||
	       (!dev_major && pgs_maps_overlay(ctx, pid, (unsigned int)dev_minor));
}

/*
 * A process without swap of its own is only of interest if it maps an object that is. Where all of
 * those are known a glance at its mappings tells: 1 or 0; -errno.
 */
static int maps_objects(struct pgs_ctx *ctx, const struct pgs_swapobjs *objs, pid_t pid)
{
	_cleanup_free_ char *text = NULL;
	ssize_t len;

	if (!pgs_swapobjs_is_complete(objs))
		return 1;
	if (!pgs_swapobjs_nr(objs))
		return 0;
	len = pgs_read_file(ctx, PGS_CAP(CAP_SYS_PTRACE), &text, "proc/%d/maps", (int)pid);
	if (len < 0)
		return len == -ENOENT ? -ESRCH : (int)len;
	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (line_has_object(ctx, objs, pid, line))
			return 1;
	}
	return 0;
}

bool pgs_swapscan_may_have_anon(struct pgs_scan_env *env, const struct pgs_proc *proc)
{
	if (proc->vm_swap_kb || !proc->has_swap_kb)
		return proc->vm_swap_kb;
	if (!env->counters_tried)
		env->exact_counters = pgs_counters_are_exact(env->ctx);
	env->counters_tried = true;
	return !env->exact_counters;
}

int pgs_swapscan(struct pgs_scan_env *env, struct pgs_swapobjs *objs, const struct pgs_proc *proc,
		 const struct pgs_swapscan_opts *opts)
{
	struct swapscan s = {.env = env, .objs = objs, .opts = opts, .pid = proc->task};
	const struct pgs_scan_opts scan_opts = {
		.ranges = opts->ranges,
		.nr_ranges = opts->nr_ranges,
		.match = wants_vma,
		.match_arg = &s,
	};
	_cleanup_(pgs_scan_closep) struct pgs_scan *scan = NULL;
	int r;

	s.anon = pgs_swapscan_may_have_anon(env, proc) || (opts->present && proc->rss_anon_kb);
	r = s.anon ? 1 : maps_objects(env->ctx, objs, proc->task);
	if (r <= 0)
		return r;
	r = pgs_scan_open(env, proc->task, &scan_opts, &scan);
	return r ? r : walk(&s, scan);
}
