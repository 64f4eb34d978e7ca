// SPDX-License-Identifier: GPL-2.0-only
/* The views of processes: one row a process, a mapping, a run or a page. */
#include "swapmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HIDDEN PGS_COL_HIDDEN

/* clang-format off */
enum {
	P_PID, P_COMM, P_ANON, P_SHMEM, P_TOTAL, P_PSWAP, P_USWAP, P_BYTES,
	P_ANON_BYTES = P_BYTES, P_SHMEM_BYTES, P_TOTAL_BYTES, P_PSWAP_BYTES, P_USWAP_BYTES, P_NOTE, P_COLS
};

const struct pgs_col swapmap_process_cols[] = {
	[P_PID]		= {"pid", NULL, PGS_U64, 7, 0, "process"},
	[P_COMM]	= {"comm", NULL, PGS_BLOB, 15, 0, "its name"},
	[P_ANON]	= {"anon", NULL, PGS_U64, 9, 0, "pages of private memory in swap"},
	[P_SHMEM]	= {"shmem", NULL, PGS_U64, 9, 0, "pages of shared memory in swap that it maps"},
	[P_TOTAL]	= {"total", NULL, PGS_U64, 9, 0, "both"},
	[P_PSWAP]	= {"pswap", NULL, PGS_F64, 11, 0, "proportional: each slot divided by its owners"},
	[P_USWAP]	= {"uswap", NULL, PGS_U64, 9, 0, "unique: slots that no other process holds"},
	[P_ANON_BYTES]	= {"anon_bytes", NULL, PGS_BYTES, 11, HIDDEN, "anon in bytes"},
	[P_SHMEM_BYTES]	= {"shmem_bytes", NULL, PGS_BYTES, 11, HIDDEN, "shmem in bytes"},
	[P_TOTAL_BYTES]	= {"total_bytes", NULL, PGS_BYTES, 11, HIDDEN, "total in bytes"},
	[P_PSWAP_BYTES]	= {"pswap_bytes", NULL, PGS_BYTES, 11, HIDDEN, "pswap in bytes, rounded"},
	[P_USWAP_BYTES]	= {"uswap_bytes", NULL, PGS_BYTES, 11, HIDDEN, "uswap in bytes"},
	[P_NOTE]	= {"note", NULL, PGS_STR, 4, 0, "why a value is not known"},
	[P_COLS]	= {0},
};

enum {
	R_PID, R_START, R_END, R_PAGES, R_VMA, R_KIND, R_SWAP_TYPE, R_SWAP_DEVICE, R_SWAP_OFFSET,
	R_OWNERS, R_NOTE, R_COLS
};

const struct pgs_col swapmap_run_cols[] = {
	[R_PID]		= {"pid", NULL, PGS_U64, 7, 0, "process"},
	[R_START]	= {"start", NULL, PGS_ADDR, 14, 0, "first address"},
	[R_END]		= {"end", NULL, PGS_ADDR, 14, 0, "first address behind it"},
	[R_PAGES]	= {"pages", NULL, PGS_U64, 7, 0, "pages in swap"},
	[R_VMA]		= {"vma", NULL, PGS_BLOB, 16, 0, "name of the mapping"},
	[R_KIND]	= {"kind", NULL, PGS_STR, 5, 0, "anon or shmem"},
	[R_SWAP_TYPE]	= {"swap_type", "TYPE", PGS_U64, 4, 0, "swap area, by the kernel's index"},
	[R_SWAP_DEVICE]	= {"swap_device", "DEVICE", PGS_BLOB, 10, 0, "the area's device or file, if certain"},
	[R_SWAP_OFFSET]	= {"swap_offset", "SLOT", PGS_U64, 7, 0, "slot of the first page"},
	[R_OWNERS]	= {"owners", NULL, PGS_U64, 6, 0, "processes that hold each slot"},
	[R_NOTE]	= {"note", NULL, PGS_STR, 4, 0, "why a value is not known"},
	[R_COLS]	= {0},
};
/* clang-format on */

static bool is_address_view(const struct swapmap *m)
{
	return m->by == SWAPMAP_VMA || m->by == SWAPMAP_RUN || m->by == SWAPMAP_PAGE;
}

static const struct pgs_col *view_columns(enum swapmap_by by)
{
	switch (by) {
	case SWAPMAP_PROCESS:
		return swapmap_process_cols;
	case SWAPMAP_DEVICE:
		return swapmap_device_cols;
	case SWAPMAP_OBJECT:
		return swapmap_object_cols;
	case SWAPMAP_CGROUP:
		return swapmap_cgroup_cols;
	default:
		return swapmap_run_cols;
	}
}

/* With --bytes the bytes are asked for: they are ordinary columns then. */
struct pgs_col *swapmap_columns(const struct swapmap *m)
{
	const struct pgs_col *all = view_columns(m->by);
	struct pgs_col *cols;
	size_t nr = 1;

	while (all[nr - 1].key)
		nr++;
	cols = malloc(nr * sizeof(*cols));
	if (!cols)
		return NULL;
	memcpy(cols, all, nr * sizeof(*cols));
	for (size_t i = 0; m->opts->output.out.bytes && cols[i].key; i++)
		if (cols[i].type == PGS_BYTES)
			cols[i].flags &= ~PGS_COL_HIDDEN;
	return cols;
}

/* ---- one process ---------------------------------------------------------------------------- */

/* A row of the vma, run or page view that may go on. */
struct row {
	uint64_t start, end; /* bytes */
	uint64_t pages;
	bool is_shmem, located, unknown, racy;
	unsigned int swap_type;
	uint64_t slot;
	uint32_t owners;		   /* 0: not known */
	bool one_type, one_run, one_count; /* of a mapping: type, slot and owners hold for all */
};

struct show {
	struct swapmap *m;
	const struct swapmap_proc *proc;
	struct swapmap_part part;
	struct row row[2];    /* pending, by is_shmem for mappings; else the first alone */
	struct pgs_range vma; /* the mapping that row[] belongs to */
	char *vma_name;
	size_t vma_name_len;
};

/* Sums of fractions, to a millionth: 21.333333 and not 21.333333333333336. */
static double rounded(double d)
{
	return (double)(uint64_t)(d * 1e6 + 0.5) / 1e6;
}

const char *swapmap_part_note(const struct swapmap *m, const struct swapmap_part *part,
			      uint64_t shmem, char buf[SWAPMAP_NOTE])
{
	if (part->err)
		return "not permitted";
	if (part->unknown && !shmem)
		return "shared memory not known";
	if (part->unknown) {
		snprintf(buf, SWAPMAP_NOTE, "shared memory not known: %llu pages were seen in swap",
			 (unsigned long long)shmem);
		return buf;
	}
	if (part->has_hidden)
		return "slots hidden (needs CAP_SYS_ADMIN)";
	return m->owners_known || !(part->anon + part->shmem) ? NULL : "not all owners known";
}

void swapmap_part_vals(const struct swapmap *m, const struct swapmap_part *part, uint64_t anon,
		       uint64_t shmem, struct pgs_val vals[5])
{
	bool known = !part->err && !part->unknown;
	bool shares = known && ((m->owners_known && !part->has_hidden) || !(anon + shmem));

	vals[0] = swapmap_pages_if(!part->err, anon);
	vals[1] = swapmap_pages_if(known, shmem);
	vals[2] = swapmap_pages_if(known, anon + shmem);
	vals[3] = shares ? pgs_f64(rounded(part->share.share)) : PGS_NULL;
	vals[4] = swapmap_pages_if(shares, part->share.unique);
}

void swapmap_part_bytes(const struct swapmap *m, const struct pgs_val pages[5],
			struct pgs_val bytes[5])
{
	uint64_t size = m->ctx->page_size;

	for (size_t i = 0; i < 5; i++)
		bytes[i] = swapmap_pages_if(pages[i].set, pages[i].u * size);
	if (pages[3].set)
		bytes[3] = pgs_u64((uint64_t)(pages[3].d * (double)size + 0.5));
}

/* Of one that could not be looked into, /proc/PID/status still tells the private pages. */
static int emit_process(struct show *s)
{
	const struct pgs_proc *proc = &s->proc->proc;
	char note[SWAPMAP_NOTE];
	struct pgs_val vals[P_COLS] = {
		[P_PID] = pgs_u64((uint64_t)proc->pid),
		[P_COMM] = pgs_blob(proc->comm, strlen(proc->comm)),
		[P_NOTE] = pgs_str(swapmap_part_note(s->m, &s->part, s->part.shmem, note)),
	};

	swapmap_part_vals(s->m, &s->part, s->part.anon, s->part.shmem, &vals[P_ANON]);
	if (s->part.err)
		vals[P_ANON] = swapmap_pages_if(proc->has_swap_kb,
						proc->vm_swap_kb * 1024 >> s->m->ctx->page_shift);
	swapmap_part_bytes(s->m, &vals[P_ANON], &vals[P_BYTES]);
	return out_row(s->m->out, vals);
}

/* ---- one row of its memory ------------------------------------------------------------------ */

static const char *row_note(const struct show *s, const struct row *row, bool has_device)
{
	if (row->unknown)
		return "not known whether in swap";
	if (row->racy)
		return "racy: it may have changed";
	if (!row->located)
		return row->is_shmem ? "location needs the module or kernel memory"
				     : "slot hidden (needs CAP_SYS_ADMIN)";
	if (!row->one_type)
		return "several swap areas";
	if (!has_device)
		return "device not certain";
	if (!row->one_run)
		return "several places";
	return s->m->owners_known ? NULL : "not all owners known";
}

static int emit_row(const struct show *s, const struct row *row)
{
	struct pgs_val device =
		row->located && row->one_type ? swapmap_device(s->m, row->swap_type) : PGS_NULL;
	struct pgs_val vals[R_COLS] = {
		[R_PID] = pgs_u64((uint64_t)s->proc->proc.pid),
		[R_START] = pgs_u64(row->start),
		[R_END] = pgs_u64(row->end),
		[R_PAGES] = swapmap_pages_if(!row->unknown, row->pages),
		[R_VMA] = pgs_blob(s->vma_name, s->vma_name_len),
		[R_KIND] = pgs_str(row->is_shmem ? "shmem" : "anon"),
		[R_SWAP_TYPE] = swapmap_pages_if(row->located && row->one_type, row->swap_type),
		[R_SWAP_OFFSET] = swapmap_pages_if(row->located && row->one_run, row->slot),
		[R_OWNERS] = swapmap_pages_if(row->owners && row->one_count && s->m->owners_known,
					      row->owners),
		[R_NOTE] = pgs_str(row_note(s, row, device.set)),
		[R_SWAP_DEVICE] = device,
	};

	return out_row(s->m->out, vals);
}

int swapmap_emit_object_page(struct swapmap *m, const struct pgs_swap_run *run)
{
	struct pgs_val vals[R_COLS] = {
		[R_PAGES] = pgs_u64(run->pages),
		[R_VMA] = pgs_blob(run->obj->name, strlen(run->obj->name)),
		[R_KIND] = pgs_str("shmem"),
		[R_SWAP_TYPE] = pgs_u64(run->swap_type),
		[R_SWAP_DEVICE] = swapmap_device(m, run->swap_type),
		[R_SWAP_OFFSET] = pgs_u64(run->slot),
		[R_OWNERS] = swapmap_pages_if(m->owners_known, 0),
		[R_NOTE] = pgs_str(m->owners_known ? "no process maps it" : "not all owners known"),
	};

	m->slot.found = true;
	return out_row(m->out, vals);
}

static int emit_pages(const struct show *s, const struct row *row)
{
	struct row page = *row;
	int r = 0;

	page.pages = 1;
	if (row->unknown) /* no page of it is known to be in swap */
		return emit_row(s, row);
	for (uint64_t i = 0; i < row->pages && !r && !cmd_interrupted; i++) {
		page.start = row->start + (i << s->m->ctx->page_shift);
		page.end = page.start + s->m->ctx->page_size;
		page.slot = row->slot + i;
		r = emit_row(s, &page);
	}
	return r;
}

static int flush_rows(struct show *s)
{
	int r = 0;

	for (size_t i = 0; i < 2; i++) {
		if (s->row[i].pages && !r)
			r = s->m->by == SWAPMAP_PAGE ? emit_pages(s, &s->row[i])
						     : emit_row(s, &s->row[i]);
		s->row[i].pages = 0;
	}
	return r;
}

/* The next mapping has begun: what was pending of the last one is done. */
static int enter_vma(struct show *s, const struct pgs_vma *vma)
{
	char *name;
	int r;

	if (s->vma.start == vma->start && s->vma.end == vma->end)
		return 0;
	r = flush_rows(s);
	if (r)
		return r;
	name = realloc(s->vma_name, vma->name_len + 1);
	if (!name)
		return -ENOMEM;
	memcpy(name, vma->name, vma->name_len);
	s->vma_name = name;
	s->vma_name_len = vma->name_len;
	s->vma = (struct pgs_range){vma->start, vma->end};
	return 0;
}

static bool goes_on(const struct row *a, const struct row *b)
{
	return a->pages && a->end == b->start && a->is_shmem == b->is_shmem &&
	       a->located == b->located && a->unknown == b->unknown && a->owners == b->owners &&
	       a->swap_type == b->swap_type && (!a->located || a->slot + a->pages == b->slot);
}

static int add_to_runs(struct show *s, const struct row *row)
{
	int r;

	if (goes_on(&s->row[0], row)) {
		s->row[0].pages += row->pages;
		s->row[0].end = row->end;
		return 0;
	}
	r = flush_rows(s);
	s->row[0] = *row;
	return r;
}

/* All that a mapping has in swap of one kind is a row; values that differ within it are null. */
static void add_to_vma(struct show *s, const struct row *row)
{
	struct row *of = &s->row[row->is_shmem];

	if (!of->pages) {
		*of = *row;
		of->start = s->vma.start;
		of->end = s->vma.end;
		return;
	}
	of->one_type &= of->swap_type == row->swap_type;
	of->one_run &= of->one_type && of->slot + of->pages == row->slot;
	of->one_count &= of->owners == row->owners;
	of->located &= row->located;
	of->unknown |= row->unknown;
	of->racy |= row->racy;
	of->pages += row->pages;
}

/* Pages of a run that have as many owners. */
static int show_part(struct show *s, const struct pgs_swap_run *run, uint64_t from, uint64_t pages,
		     uint32_t owners)
{
	unsigned int shift = s->m->ctx->page_shift;
	struct row row = {
		.start = run->addr + (from << shift),
		.end = run->addr + ((from + pages) << shift),
		.pages = pages,
		.is_shmem = run->is_shmem,
		.located = run->located,
		.unknown = run->unknown,
		.racy = run->obj && run->obj->racy,
		.swap_type = run->swap_type,
		.slot = run->slot + from,
		.owners = owners,
		.one_type = true,
		.one_run = true,
		.one_count = true,
	};

	if (s->m->by != SWAPMAP_VMA)
		return add_to_runs(s, &row);
	if (row.racy) /* what was seen of it is not what the mapping has */
		row.unknown = true;
	add_to_vma(s, &row);
	return 0;
}

/* Why it is not known stands in "errors" once, not once for each mapping of an object. */
static void tell_unknown(struct show *s, const struct pgs_swap_run *run)
{
	const char *reason = run->obj->reason ?: PGS_SWAPOBJ_RACY;
	char what[320];

	s->part.unknown = true;
	if (s->m->told_unknown && !strcmp(s->m->told_unknown, reason))
		return;
	s->m->told_unknown = reason;
	snprintf(what, sizeof(what), "cannot tell whether pages of '%s' are in swap: %s",
		 run->obj->name, reason);
	msg_warn("%s", what);
	swapmap_error(s->m, s->proc->proc.pid, what, 0);
}

/* Cut a run where the number of owners changes. */
static int show_parts(struct show *s, const struct pgs_vma *vma, const struct pgs_swap_run *run)
{
	uint32_t owners = 0;
	int r = enter_vma(s, vma);

	for (uint64_t from = 0, n; from < run->pages && !r; from += n) {
		n = run->pages - from;
		if (run->named)
			n = pgs_slots_run(s->m->slots, run->space, run->index + from, n, &owners);
		r = show_part(s, run, from, n, run->named && !owners ? 1 : owners);
	}
	return r;
}

static int show_run(void *arg, const struct pgs_vma *vma, const struct pgs_swap_run *whole)
{
	struct pgs_swap_run cut = *whole, *run = &cut;
	struct show *s = arg;
	int r = 0;

	if (cmd_interrupted)
		return -EINTR;
	if (s->m->slot.set && !swapmap_narrow(s->m, run))
		return 0;
	s->m->slot.found = true;
	if (run->unknown || (run->obj && run->obj->racy))
		tell_unknown(s, run);
	if (!run->unknown)
		*(run->is_shmem ? &s->part.shmem : &s->part.anon) += run->pages;
	s->part.has_hidden |= !run->named && !run->unknown;
	if (is_address_view(s->m))
		r = show_parts(s, vma, run);
	if (r || !run->named)
		return r;
	return pgs_slots_share(s->m->slots, run->space, run->index, run->pages, s->proc->owner,
			       run->is_shmem ? PGS_SLOT_SHMEM : PGS_SLOT_ANON, &s->part.share);
}

static int scan_process(struct show *s)
{
	const struct opt_target *target = &s->m->opts->target;
	const struct pgs_swapscan_opts opts = {
		.ranges = target->ranges,
		.nr_ranges = target->nr_ranges,
		.match = target_matches,
		.match_arg = (void *)target,
		.run = show_run,
		.arg = s,
		.stop = &cmd_interrupted,
	};
	int r = pgs_swapscan(&s->m->env, s->m->objs, &s->proc->proc, &opts);

	return r ? r : flush_rows(s);
}

static void add_part(struct swapmap_part *to, const struct swapmap_part *part)
{
	to->share.anon += part->share.anon;
	to->share.shmem += part->share.shmem;
	to->share.unique += part->share.unique;
	to->share.share += part->share.share;
	to->anon += part->anon;
	to->shmem += part->shmem;
	to->unknown |= part->unknown;
	to->has_hidden |= part->has_hidden;
	to->err = to->err ?: part->err;
}

static void add_to_totals(struct swapmap *m, const struct swapmap_part *part)
{
	m->nr_looked_at += !part->err;
	m->anon_pages += part->anon;
	m->shmem_pages += part->shmem;
	m->shmem_unknown |= part->unknown || part->err;
	m->hidden_slots |= part->has_hidden;
}

/* Of many processes, those are shown that have something in swap, or may have. */
static bool has_row(const struct swapmap *m, const struct swapmap_part *part)
{
	return m->targets.named || part->err || part->unknown || part->anon + part->shmem;
}

/* What it has was told for another process that has the same memory. 1, or -errno. */
static int show_sharer(struct swapmap *m, const struct swapmap_proc *proc, pid_t told_for)
{
	struct pgs_val vals[P_COLS] = {
		[P_PID] = pgs_u64((uint64_t)proc->proc.pid),
		[P_COMM] = pgs_blob(proc->proc.comm, strlen(proc->proc.comm)),
	};
	char note[64];
	int r = 0;

	m->nr_looked_at++;
	snprintf(note, sizeof(note), "has the memory of process %d", (int)told_for);
	vals[P_NOTE] = pgs_str(note);
	if (m->by == SWAPMAP_PROCESS)
		r = out_row(m->out, vals);
	else if (m->targets.named)
		msg_note("process %d %s", (int)proc->proc.pid, note);
	return r ? r : 1;
}

/*
 * One that cannot be looked into is a failure when it was named, and a row without numbers when it
 * is one of many. One that has gone since the list was made is neither. 1 and *@ret_part, 0: no
 * row.
 */
static int show_process(struct swapmap *m, size_t i, struct swapmap_part *ret_part)
{
	struct swapmap_proc *proc = &m->procs[i], *first = &m->procs[proc->first];
	struct show s = {.m = m, .proc = proc};
	int r;

	if (first->told_for)
		return show_sharer(m, proc, first->told_for);
	r = m->objs ? scan_process(&s) : 0;
	free(s.vma_name);
	if (r && r != -ESRCH && r != -EACCES && r != -EPERM)
		return r;
	proc->err = s.part.err = r;
	if (r && m->targets.named)
		swapmap_failed(m, proc->proc.pid, pgs_ctx_error(m->ctx), r);
	if (r && r != -ESRCH) {
		m->nr_refused++;
		swapmap_keep_refusal(m);
	}
	if (r && (r == -ESRCH || m->targets.named))
		return 0;
	if (!r && has_row(m, &s.part))
		first->told_for = proc->proc.pid;
	add_to_totals(m, &s.part);
	*ret_part = s.part;
	r = m->by == SWAPMAP_PROCESS && has_row(m, &s.part) ? emit_process(&s) : 0;
	return r ? r : 1;
}

/* The processes of one cgroup come one after another, and are one row. */
struct group {
	uint32_t owner;
	uint64_t nr_procs; /* 0: no group yet */
	struct swapmap_part part;
};

static int finish_group(struct swapmap *m, struct group *group)
{
	int r = 0;

	if (group->nr_procs && m->by == SWAPMAP_CGROUP)
		r = swapmap_emit_cgroup(m, group->owner, group->nr_procs, &group->part);
	*group = (struct group){0};
	return r;
}

int swapmap_show(struct swapmap *m)
{
	struct group group = {0};
	int r = 0;

	for (size_t i = 0; i < m->nr_shown && !cmd_interrupted; i++) {
		uint32_t owner = m->procs[m->shown[i]].owner;
		struct swapmap_part part = {0};

		if (group.nr_procs && owner != group.owner)
			r = finish_group(m, &group);
		if (!r)
			r = show_process(m, m->shown[i], &part);
		if (r < 0)
			return r == -EINTR ? 0 : r;
		if (r) {
			group.owner = owner;
			group.nr_procs++;
			add_part(&group.part, &part);
		}
		r = 0;
	}
	return finish_group(m, &group);
}
