// SPDX-License-Identifier: GPL-2.0-only
/* --pfn: physical memory, frame by frame, without a process. */
#include "dump.h"

#include <string.h>

#define WALK_FRAMES 32768u

enum { F_PFN, F_PAGES, F_KPAGEFLAGS, F_SYMBOLIC, F_MAPCOUNT, F_CGROUP, F_NODE, F_ZONE, F_COLS };

/* clang-format off */
const struct pgs_col dump_frame_cols[] = {
	[F_PFN]		= {"pfn", NULL, PGS_U64, 10, 0, "first frame"},
	[F_PAGES]	= {"pages", NULL, PGS_U64, 8, 0, "number of frames"},
	[F_KPAGEFLAGS]	= {"kpageflags", NULL, PGS_RAW64, 18, PGS_COL_HIDDEN, "raw flags of the frames"},
	[F_SYMBOLIC]	= {"symbolic", NULL, PGS_STR, 32, 0, "names of the frames' flags"},
	[F_MAPCOUNT]	= {"mapcount", "MAPS", PGS_U64, 5, 0, "mappings of each frame; in large folios it may be an average"},
	[F_CGROUP]	= {"cgroup", NULL, PGS_BLOB, 12, 0, "memory cgroup that is charged"},
	[F_NODE]	= {"node", NULL, PGS_U64, 4, 0, "NUMA node"},
	[F_ZONE]	= {"zone", NULL, PGS_STR, 7, 0, "zone"},
	[F_COLS]	= {0},
};
/* clang-format on */

static int emit_frames(struct dump *d, const struct dump_run *run)
{
	const struct dump_frames *f = &d->frames;
	const char *zone, *cgroup = NULL;
	struct pgs_val vals[F_COLS] = {
		[F_PFN] = pgs_u64(run->page.pfn),
		[F_PAGES] = pgs_u64(run->pages),
		[F_KPAGEFLAGS] = pgs_u64(run->kpageflags),
	};
	char names[PGS_KPF_STR];
	unsigned int node;

	vals[F_SYMBOLIC] = pgs_str(pgs_kpf_format(run->kpageflags, names));
	if (pgs_kpage_has(f->kpage, PGS_KPAGECOUNT))
		vals[F_MAPCOUNT] = pgs_u64(run->mapcount);
	if (f->cgroups)
		cgroup = pgs_cgroup_name(f->cgroups, run->cgroup_inode);
	if (cgroup)
		vals[F_CGROUP] = pgs_blob(cgroup, strlen(cgroup));
	if (pgs_zones_find(f->zones, run->page.pfn, &node, &zone)) {
		vals[F_NODE] = pgs_u64(node);
		vals[F_ZONE] = pgs_str(zone);
	}
	return out_row(d->out, vals);
}

/* Print or count the frames [@run->page.pfn, + @run->pages), which are alike. */
static int show_frames(struct dump *d, struct dump_run *run)
{
	struct dump_run one;
	int r = 0;

	if (!run->pages || (d->where && !dump_where_matches(d->where, run, d->env.soft_dirty)))
		return 0;
	d->total.counts.pages += run->pages;
	if (d->opts->by == DUMP_FLAGS)
		return dump_hist_add(d, run->kpageflags, run->pages);
	if (d->opts->by == DUMP_RUN)
		return emit_frames(d, run);
	one = *run;
	one.pages = 1;
	for (uint64_t i = 0; i < run->pages && !r && !cmd_interrupted; i++) {
		one.page.pfn = run->page.pfn + i;
		r = emit_frames(d, &one);
	}
	return r;
}

static bool goes_on(const struct dump_run *a, const struct dump_run *b)
{
	return a->pages && a->page.pfn + a->pages == b->page.pfn &&
	       a->kpageflags == b->kpageflags && a->mapcount == b->mapcount &&
	       a->cgroup_inode == b->cgroup_inode;
}

/* Read a window of all files: how many frames there are, or -errno. */
static ssize_t read_window(struct dump_frames *f, uint64_t pfn, size_t count)
{
	ssize_t n = pgs_kpage_read(f->kpage, PGS_KPAGEFLAGS, pfn, count, f->word[PGS_KPAGEFLAGS]);

	for (int i = PGS_KPAGEFLAGS + 1; i < PGS_KPAGE_FILES && n > 0; i++) {
		ssize_t got = pgs_kpage_has(f->kpage, i)
				      ? pgs_kpage_read(f->kpage, i, pfn, (size_t)n, f->word[i])
				      : n;

		if (got < 0)
			return got;
		for (; got < n; got++) /* the end of memory moved meanwhile */
			f->word[i][got] = 0;
	}
	return n;
}

static int walk_window(struct dump *d, uint64_t pfn, uint64_t count, struct dump_run *pending)
{
	const struct dump_frames *f = &d->frames;
	int r = 0;

	for (uint64_t i = 0, n; i < count && !r; i += n) {
		struct dump_run run = {
			.page = {.state = PGS_UNKNOWN, .has_frame = true, .pfn = pfn + i},
			.bits_lost = true,
			.huge = PGS_TRI_UNKNOWN,
			.zero = PGS_TRI_UNKNOWN,
			.has_flags = true,
			.kpageflags = f->word[PGS_KPAGEFLAGS][i],
			.mapcount = f->word[PGS_KPAGECOUNT][i],
			.cgroup_inode = f->word[PGS_KPAGECGROUP][i],
		};

		for (n = 1; i + n < count && dump_frames_same(f, i, i + n); n++)
			;
		n = run.pages = dump_frames_same_zone(f, run.page.pfn, n);
		if (goes_on(pending, &run) &&
		    dump_frames_same_zone(f, pending->page.pfn, pending->pages + n) ==
			    pending->pages + n) {
			pending->pages += n;
			continue;
		}
		r = show_frames(d, pending);
		*pending = run;
	}
	return r;
}

static int walk_frames(struct dump *d, uint64_t pfn, uint64_t end)
{
	struct dump_run pending = {0};
	int r = dump_frames_room(&d->frames, WALK_FRAMES);

	while (!r && pfn < end && !cmd_interrupted) {
		uint64_t want = end - pfn < WALK_FRAMES ? end - pfn : WALK_FRAMES;
		ssize_t n = read_window(&d->frames, pfn, want);

		if (n <= 0)
			return n ? (int)n : show_frames(d, &pending);
		r = walk_window(d, pfn, (uint64_t)n, &pending);
		pfn += (uint64_t)n;
		progress_add(d->progress, (uint64_t)n);
	}
	return r ? r : show_frames(d, &pending);
}

int dump_physical(struct dump *d)
{
	const struct pgs_range *frames = &d->opts->frames;
	int r = dump_frames_open(d);

	if (r) {
		msg_error("%s", pgs_ctx_error(d->ctx));
		out_error(d->out, 0, pgs_ctx_error(d->ctx), r);
		return msg_exit_status(r);
	}
	d->progress = progress_new("frames", 0, d->opts->output.verbosity);
	r = walk_frames(d, frames->start,
			frames->end ? frames->end : UINT64_MAX / sizeof(uint64_t));
	if (!r && d->opts->by == DUMP_FLAGS)
		r = dump_hist_emit(d);
	if (!r)
		r = out_summary(d->out, "frames", PGS_U64, pgs_u64(d->total.counts.pages));
	if (r && !out_failed(d->out))
		dump_failed(d, 0, pgs_ctx_error(d->ctx), r);
	return d->failure;
}
