// SPDX-License-Identifier: GPL-2.0-only
/* The columns of dump, and a row of each view. */
#include "dump.h"

#include <stdlib.h>
#include <string.h>

#define HIDDEN PGS_COL_HIDDEN
#define EXTRA  PGS_COL_EXTRA

/* clang-format off */
enum {
	R_PID, R_START, R_END, R_PAGES, R_STATE, R_PFN, R_SWAP_TYPE, R_SWAP_OFFSET, R_SWAP_DEVICE,
	R_FILE, R_SOFT_DIRTY, R_EXCLUSIVE, R_UFFD_WP, R_GUARD, R_HUGE, R_ZERO, R_CACHED, R_SOURCE, R_VMA, R_PERMS,
	R_ENTRY, R_KPAGEFLAGS, R_SYMBOLIC, R_MAPCOUNT, R_CGROUP, R_NODE, R_ZONE, R_RACY, R_COLS
};

const struct pgs_col dump_run_cols[] = {
	[R_PID]		= {"pid", NULL, PGS_U64, 6, 0, "process"},
	[R_START]	= {"start", NULL, PGS_ADDR, 14, 0, "first address"},
	[R_END]		= {"end", NULL, PGS_ADDR, 14, 0, "first address behind it"},
	[R_PAGES]	= {"pages", NULL, PGS_U64, 7, 0, "number of pages"},
	[R_STATE]	= {"state", NULL, PGS_STR, 8, 0, "where the pages are"},
	[R_PFN]		= {"pfn", NULL, PGS_U64, 8, 0, "frame of the first page"},
	[R_SWAP_TYPE]	= {"swap_type", "SWAP", PGS_U64, 4, 0, "swap area, by the kernel's index"},
	[R_SWAP_OFFSET]	= {"swap_offset", "SLOT", PGS_U64, 7, 0, "slot of the first page, in pages"},
	[R_SWAP_DEVICE]	= {"swap_device", NULL, PGS_BLOB, 10, HIDDEN, "the area's device or file, if certain"},
	[R_FILE]	= {"file", NULL, PGS_BOOL, 4, HIDDEN, "page of a file or shared memory"},
	[R_SOFT_DIRTY]	= {"soft_dirty", NULL, PGS_BOOL, 10, HIDDEN, "written since soft-dirty was cleared"},
	[R_EXCLUSIVE]	= {"exclusive", "EXCL", PGS_BOOL, 4, 0, "mapped once only; a hint in large folios"},
	[R_UFFD_WP]	= {"uffd_wp", NULL, PGS_BOOL, 7, HIDDEN, "write-protected by userfaultfd"},
	[R_GUARD]	= {"guard", NULL, PGS_BOOL, 5, HIDDEN, "guard page"},
	[R_HUGE]	= {"huge", NULL, PGS_BOOL, 4, 0, "mapped by a huge page table entry"},
	[R_ZERO]	= {"zero", NULL, PGS_BOOL, 4, 0, "the page of zeroes"},
	[R_CACHED]	= {"cached", NULL, PGS_BOOL, 6, HIDDEN, "shared memory that is in memory, but not mapped here"},
	[R_SOURCE]	= {"source", NULL, PGS_STR, 9, HIDDEN, "how the state was found"},
	[R_VMA]		= {"vma", NULL, PGS_BLOB, 24, 0, "name of the mapping"},
	[R_PERMS]	= {"perms", NULL, PGS_STR, 5, HIDDEN, "permissions of the mapping"},
	[R_ENTRY]	= {"entry", NULL, PGS_RAW64, 18, EXTRA, "raw page map entry of the first page"},
	[R_KPAGEFLAGS]	= {"kpageflags", NULL, PGS_RAW64, 18, EXTRA, "raw flags of the frames"},
	[R_SYMBOLIC]	= {"symbolic", NULL, PGS_STR, 24, EXTRA, "names of the frames' flags"},
	[R_MAPCOUNT]	= {"mapcount", "MAPS", PGS_U64, 4, EXTRA, "mappings of each frame; in large folios it may be an average"},
	[R_CGROUP]	= {"cgroup", NULL, PGS_BLOB, 12, EXTRA, "memory cgroup that is charged"},
	[R_NODE]	= {"node", NULL, PGS_U64, 4, EXTRA, "NUMA node"},
	[R_ZONE]	= {"zone", NULL, PGS_STR, 7, EXTRA, "zone"},
	[R_RACY]	= {"racy", NULL, PGS_BOOL, 4, HIDDEN, "it changed each time it was looked at"},
	[R_COLS]	= {0},
};

enum {
	V_PID, V_START, V_END, V_PERMS, V_OFFSET, V_INODE, V_VMA, V_DELETED, V_PAGES, V_PRESENT, V_SWAPPED,
	V_NONE, V_FILE, V_SOFT_DIRTY, V_EXCLUSIVE, V_UFFD_WP, V_GUARD, V_HUGE, V_ZERO, V_CACHED, V_OTHER, V_UNKNOWN,
	V_COLS
};

const struct pgs_col dump_vma_cols[] = {
	[V_PID]		= {"pid", NULL, PGS_U64, 6, 0, "process"},
	[V_START]	= {"start", NULL, PGS_ADDR, 14, 0, "first address"},
	[V_END]		= {"end", NULL, PGS_ADDR, 14, 0, "first address behind it"},
	[V_PERMS]	= {"perms", NULL, PGS_STR, 5, 0, "permissions"},
	[V_OFFSET]	= {"offset", NULL, PGS_ADDR, 8, HIDDEN, "where in the file the mapping starts, in bytes"},
	[V_INODE]	= {"inode", NULL, PGS_U64, 8, HIDDEN, "inode of the file"},
	[V_VMA]		= {"vma", NULL, PGS_BLOB, 24, 0, "name of the mapping"},
	[V_DELETED]	= {"deleted", NULL, PGS_BOOL, 7, HIDDEN, "the file has no name any more"},
	[V_PAGES]	= {"pages", NULL, PGS_U64, 8, 0, "number of pages"},
	[V_PRESENT]	= {"present", NULL, PGS_U64, 8, 0, "pages in memory"},
	[V_SWAPPED]	= {"swapped", NULL, PGS_U64, 8, 0, "pages in swap"},
	[V_NONE]	= {"none", NULL, PGS_U64, 8, 0, "pages without a page table entry and not in swap"},
	[V_FILE]	= {"file", NULL, PGS_U64, 7, HIDDEN, "pages of a file or shared memory"},
	[V_SOFT_DIRTY]	= {"soft_dirty", NULL, PGS_U64, 10, HIDDEN, "pages written since soft-dirty was cleared"},
	[V_EXCLUSIVE]	= {"exclusive", "EXCL", PGS_U64, 7, 0, "pages mapped once only; a hint in large folios"},
	[V_UFFD_WP]	= {"uffd_wp", NULL, PGS_U64, 7, HIDDEN, "pages write-protected by userfaultfd"},
	[V_GUARD]	= {"guard", NULL, PGS_U64, 5, HIDDEN, "guard pages"},
	[V_HUGE]	= {"huge", NULL, PGS_U64, 7, 0, "pages mapped by a huge page table entry"},
	[V_ZERO]	= {"zero", NULL, PGS_U64, 5, HIDDEN, "pages that are the page of zeroes"},
	[V_CACHED]	= {"cached", NULL, PGS_U64, 7, HIDDEN, "shared memory that is in memory, but not mapped here"},
	[V_OTHER]	= {"other", NULL, PGS_U64, 5, HIDDEN, "pages in any other state"},
	[V_UNKNOWN]	= {"unknown", NULL, PGS_U64, 7, HIDDEN, "pages whose state could not be told"},
	[V_COLS]	= {0},
};
/* clang-format on */

/* Which extra columns the view makes ordinary ones. */
static bool view_has(const struct dump_opts *opts, size_t col)
{
	if (col == R_ENTRY)
		return opts->by == DUMP_PAGE;
	return opts->flags && col > R_ENTRY;
}

struct pgs_col *dump_columns(const struct dump_opts *opts)
{
	struct pgs_col *cols = malloc(sizeof(dump_run_cols));

	if (!cols)
		return NULL;
	memcpy(cols, dump_run_cols, sizeof(dump_run_cols));
	for (size_t i = R_ENTRY; i < R_COLS; i++)
		if (view_has(opts, i))
			cols[i].flags = i == R_KPAGEFLAGS || i == R_RACY ? HIDDEN : 0;
	return cols;
}

bool dump_wants_frames(const struct dump *d)
{
	if (d->opts->flags || d->opts->by == DUMP_FLAGS)
		return true;
	if (d->where && dump_where_needs_frames(d->where))
		return true;
	if (d->opts->by == DUMP_VMA)
		return false;
	for (size_t i = R_KPAGEFLAGS; i < R_RACY; i++)
		if (out_col_wanted(d->out, i))
			return true;
	return false;
}

static struct pgs_val tri(enum pgs_tri value)
{
	return value == PGS_TRI_UNKNOWN ? PGS_NULL : pgs_bool(value == PGS_TRI_YES);
}

/* A bit that did not survive, or that this kernel never keeps, is not known to be clear. */
static struct pgs_val bit(bool value, bool known)
{
	return value || known ? pgs_bool(value) : PGS_NULL;
}

const struct pgs_swap_area *dump_swap_area(struct dump *d, unsigned int type)
{
	if (d->swaps.nr > 1) /* one alone is any type that is seen */
		pgs_swap_areas_ask(&d->swaps, d->env.kmem);
	return pgs_swap_area_of_type(&d->swaps, type);
}

void dump_tell_racy(const struct dump *d)
{
	if (d->nr_racy)
		msg_note("%llu pages changed each time they were looked at: their rows are marked "
			 "racy",
			 (unsigned long long)d->nr_racy);
}

static void fill_location(struct dump *d, const struct pgs_page *page, struct pgs_val *vals)
{
	const struct pgs_swap_area *area;

	if (page->has_frame)
		vals[R_PFN] = pgs_u64(page->pfn);
	if (!page->has_slot)
		return;
	vals[R_SWAP_TYPE] = pgs_u64(page->swap_type);
	vals[R_SWAP_OFFSET] = pgs_u64(page->swap_offset);
	area = dump_swap_area(d, page->swap_type);
	if (area)
		vals[R_SWAP_DEVICE] = pgs_blob(area->name, strlen(area->name));
}

static void fill_frames(const struct dump *d, const struct dump_run *run, struct pgs_val *vals,
			char names[PGS_KPF_STR])
{
	const struct dump_frames *frames = &d->frames;
	const char *zone, *cgroup;
	unsigned int node;

	if (!run->has_flags)
		return;
	vals[R_RACY] = pgs_bool(run->racy);
	if (run->racy)
		return;
	vals[R_KPAGEFLAGS] = pgs_u64(run->kpageflags);
	vals[R_SYMBOLIC] = pgs_str(pgs_kpf_format(run->kpageflags, names));
	if (pgs_kpage_has(frames->kpage, PGS_KPAGECOUNT))
		vals[R_MAPCOUNT] = pgs_u64(run->mapcount);
	cgroup = frames->cgroups ? pgs_cgroup_name(frames->cgroups, run->cgroup_inode) : NULL;
	if (cgroup && pgs_kpage_has(frames->kpage, PGS_KPAGECGROUP))
		vals[R_CGROUP] = pgs_blob(cgroup, strlen(cgroup));
	if (pgs_zones_find(frames->zones, run->page.pfn, &node, &zone)) {
		vals[R_NODE] = pgs_u64(node);
		vals[R_ZONE] = pgs_str(zone);
	}
}

static void fill_run(struct dump *d, pid_t pid, const struct pgs_vma *vma,
		     const struct dump_run *run, struct pgs_val *vals, char names[PGS_KPF_STR])
{
	const struct pgs_page *page = &run->page;
	bool lost = run->bits_lost, is_table = page->state != PGS_UNSCANNED;

	memset(vals, 0, R_COLS * sizeof(*vals));
	vals[R_PID] = pgs_u64((uint64_t)pid);
	vals[R_START] = pgs_u64(run->addr);
	vals[R_END] = pgs_u64(run->addr + (run->pages << d->ctx->page_shift));
	vals[R_PAGES] = pgs_u64(run->pages);
	vals[R_STATE] = pgs_str(pgs_state_name(page->state));
	fill_location(d, page, vals);
	vals[R_FILE] = bit(page->file, is_table && page->state != PGS_UNKNOWN);
	vals[R_SOFT_DIRTY] = bit(page->soft_dirty, is_table && d->env.soft_dirty && !lost);
	vals[R_EXCLUSIVE] = bit(page->exclusive, is_table && !lost);
	vals[R_UFFD_WP] = bit(page->uffd_wp, is_table && !lost);
	vals[R_GUARD] = bit(page->guard, is_table && page->state != PGS_UNKNOWN);
	vals[R_HUGE] = is_table ? tri(run->huge) : PGS_NULL;
	vals[R_ZERO] = is_table ? tri(run->zero) : PGS_NULL;
	if (run->source != PGS_SRC_PAGEMAP && page->state != PGS_UNKNOWN)
		vals[R_CACHED] = pgs_bool(run->cached);
	vals[R_SOURCE] = pgs_str(pgs_source_name(run->source));
	vals[R_VMA] = pgs_blob(vma->name, vma->name_len);
	vals[R_PERMS] = pgs_str(vma->perms);
	if (is_table)
		vals[R_ENTRY] = pgs_u64(run->word);
	if (run->source == PGS_SRC_KCORE)
		vals[R_RACY] = pgs_bool(run->racy);
	if (d->frames.kpage)
		fill_frames(d, run, vals, names);
}

int dump_emit_run(struct dump *d, pid_t pid, const struct pgs_vma *vma, const struct dump_run *run)
{
	struct pgs_val vals[R_COLS];
	char names[PGS_KPF_STR];

	fill_run(d, pid, vma, run, vals, names);
	return out_row(d->out, vals);
}

/* The pages of a run differ in address, location and word alone. */
int dump_emit_pages(struct dump *d, pid_t pid, const struct pgs_vma *vma,
		    const struct dump_run *run)
{
	uint64_t step = pgs_scan_step(&d->env, run->word);
	struct pgs_val vals[R_COLS];
	char names[PGS_KPF_STR];
	struct dump_run first = *run;
	int r = 0;

	first.pages = 1;
	fill_run(d, pid, vma, &first, vals, names);
	for (uint64_t i = 0; i < run->pages && !r && !cmd_interrupted; i++) {
		r = out_row(d->out, vals);
		vals[R_START].u += d->ctx->page_size;
		vals[R_END].u += d->ctx->page_size;
		vals[R_PFN].u += run->page.has_frame ? step : 0;
		vals[R_SWAP_OFFSET].u += run->page.has_slot;
		vals[R_ENTRY].u += step;
	}
	return r;
}

static uint64_t count_other(const struct pgs_counts *counts)
{
	uint64_t other = 0;

	for (unsigned int i = PGS_GUARD; i < PGS_STATES; i++)
		other += counts->state[i];
	return other - counts->state[PGS_GUARD] - counts->state[PGS_SWAP_CACHE];
}

/* Counts of whole mappings do not ask the swap cache, with which those of a filter are to agree. */
static uint64_t count_in_swap(const struct pgs_counts *counts)
{
	return counts->state[PGS_SWAPPED] + counts->state[PGS_SWAP_CACHE];
}

static struct pgs_val count_known(uint64_t pages, bool known)
{
	return known ? pgs_u64(pages) : PGS_NULL;
}

int dump_emit_vma(struct dump *d, pid_t pid, const struct pgs_vma *vma,
		  const struct pgs_range *part, const struct pgs_tally *tally)
{
	const struct pgs_counts *counts = &tally->counts;
	uint64_t unknown = counts->state[PGS_UNKNOWN];
	uint64_t empty = counts->state[PGS_NONE] + counts->state[PGS_UFFD_WP_MARKER];
	bool asked = d->looks_up || !pgs_vma_may_be_shmem(vma);
	struct pgs_val vals[V_COLS] = {
		[V_PID] = pgs_u64((uint64_t)pid),
		[V_START] = pgs_u64(part->start),
		[V_END] = pgs_u64(part->end),
		[V_PERMS] = pgs_str(vma->perms),
		[V_OFFSET] = pgs_u64(vma->offset + (part->start - vma->start)),
		[V_INODE] =
			vma->inode || vma->kind == PGS_VMA_SHMEM ? pgs_u64(vma->inode) : PGS_NULL,
		[V_VMA] = pgs_blob(vma->name, vma->name_len),
		[V_DELETED] = pgs_bool(vma->deleted),
		[V_PAGES] = pgs_u64(counts->pages),
		[V_PRESENT] = pgs_u64(counts->state[PGS_PRESENT]),
		[V_SWAPPED] = count_known(count_in_swap(counts), !unknown),
		[V_NONE] = count_known(counts->state[PGS_NONE], !unknown),
		[V_FILE] = pgs_u64(counts->file),
		[V_SOFT_DIRTY] = count_known(counts->soft_dirty,
					     d->env.soft_dirty && !tally->soft_dirty_lost),
		[V_EXCLUSIVE] = pgs_u64(counts->exclusive),
		[V_UFFD_WP] = pgs_u64(counts->uffd_wp),
		[V_GUARD] = pgs_u64(counts->guard),
		[V_HUGE] = count_known(tally->huge, !tally->huge_unknown),
		[V_ZERO] = count_known(counts->zero, !tally->zero_unknown),
		[V_CACHED] = count_known(tally->cached, !unknown && (asked || !empty)),
		[V_OTHER] = pgs_u64(count_other(counts)),
		[V_UNKNOWN] = pgs_u64(unknown),
	};

	return out_row(d->out, vals);
}

/* Where not each page in swap was looked for in the swap cache, all of them count as swapped. */
static struct pgs_val count_state(const struct pgs_tally *tally, enum pgs_state state)
{
	const struct pgs_counts *counts = &tally->counts;
	bool known = tally->cache_known == count_in_swap(counts);

	if (state == PGS_SWAP_CACHE)
		return count_known(counts->state[state], known);
	return pgs_u64(state == PGS_SWAPPED && !known ? count_in_swap(counts)
						      : counts->state[state]);
}

int dump_summary(struct dump *d)
{
	const struct pgs_tally *t = &d->total;
	const struct pgs_counts *c = &t->counts;
	int r = out_summary(d->out, "pages", PGS_U64, pgs_u64(c->pages));

	for (unsigned int i = 0; i < PGS_STATES && !r; i++)
		r = out_summary(d->out, pgs_state_name(i), PGS_U64, count_state(t, i));
	if (!r)
		r = out_summary(d->out, "unknown", PGS_U64, pgs_u64(c->state[PGS_UNKNOWN]));
	if (!r)
		r = out_summary(d->out, "huge", PGS_U64, count_known(t->huge, !t->huge_unknown));
	if (!r)
		r = out_summary(d->out, "zero", PGS_U64, count_known(c->zero, !t->zero_unknown));
	if (!r)
		r = out_summary(d->out, "processes", PGS_U64, pgs_u64(d->nr_processes));
	if (!r)
		r = out_summary(d->out, "pfn_visible", PGS_BOOL,
				c->state[PGS_PRESENT] ? pgs_bool(!c->hidden) : PGS_NULL);
	return r;
}

void dump_failed(struct dump *d, pid_t pid, const char *what, int err)
{
	progress_clear();
	msg_error("%s", what);
	out_error(d->out, pid, what, err);
	if (!d->failure)
		d->failure = msg_exit_status(err);
}
