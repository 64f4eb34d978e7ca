// SPDX-License-Identifier: GPL-2.0-only
/*
 * wp --heat: time downwards, addresses across. The ranges where pages have been seen are laid side
 * by side without the gaps and cut into cells of equally many pages; a cell is shaded by the share
 * of its pages that was written. The layout stays, so that a column is the same memory in every
 * row, until most of what is written lies outside of it.
 */
#include "wp.h"

#include "../src/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CELLS	   50u /* a row fits a terminal of 80 columns */
#define GLYPH_MAX  4   /* bytes */
#define MAP_BYTES  (CELLS * GLYPH_MAX + 1)
#define LABEL_ROOM 96

struct heat {
	struct pgs_ranges layout;
	uint64_t *before; /* pages of the layout before its range i */
	uint64_t pages;	  /* of the layout */
	uint64_t written[CELLS], elsewhere, total;
	bool fresh; /* drawn anew: say so */
};

/* clang-format off */
enum { H_SAMPLE, H_ELAPSED, H_PID, H_CELL, H_START, H_END, H_PAGES, H_WRITTEN, H_ELSEWHERE, H_MAP, H_COLS };

const struct pgs_col wp_heat_cols[] = {
	[H_SAMPLE]    = {"sample", NULL, PGS_U64, 6, 0, "number of the sample, from 1"},
	[H_ELAPSED]   = {"elapsed_s", "ELAPSED", PGS_F64, 7, 0, "seconds from the beginning to the sample"},
	[H_PID]	      = {"pid", NULL, PGS_U64, 6, PGS_COL_HIDDEN, "process"},
	[H_CELL]      = {"cell", NULL, PGS_U64, 4, PGS_COL_HIDDEN, "number of the cell, from 0"},
	[H_START]     = {"start", NULL, PGS_ADDR, 14, PGS_COL_HIDDEN, "first address of the cell"},
	[H_END]	      = {"end", NULL, PGS_ADDR, 14, PGS_COL_HIDDEN, "first address behind it"},
	[H_PAGES]     = {"pages", NULL, PGS_U64, 8, PGS_COL_HIDDEN, "number of pages in the cell"},
	[H_WRITTEN]   = {"written", NULL, PGS_U64, 7, 0, "pages that were written in the interval"},
	[H_ELSEWHERE] = {"elsewhere", "OUTSIDE", PGS_U64, 7, 0, "pages that were written outside of the cells"},
	[H_MAP]	      = {"map", NULL, PGS_STR, CELLS, 0, "the cells: from blank, none of their pages written, to full, all"},
	[H_COLS]      = {0},
};
/* clang-format on */

/* ---- the layout ------------------------------------------------------------------------------ */

static void free_layout(struct heat *h)
{
	pgs_ranges_fini(&h->layout);
	free(h->before);
	h->before = NULL;
	h->pages = 0;
}

static int draw_layout(struct wp *w, struct heat *h)
{
	const struct pgs_ranges *map = pgs_track_map(w->track);
	int r = 0;

	free_layout(h);
	h->before = calloc(map->nr + 1, sizeof(*h->before));
	if (!h->before)
		return -ENOMEM;
	for (size_t i = 0; i < map->nr && !r; i++) {
		h->before[i] = h->pages;
		h->pages += (map->v[i].end - map->v[i].start) >> w->ctx->page_shift;
		r = pgs_ranges_add(&h->layout, map->v[i].start, map->v[i].end);
	}
	h->fresh = true;
	return r;
}

static uint64_t nr_cells(const struct heat *h)
{
	return h->pages < CELLS ? h->pages : CELLS;
}

/* The first page of a cell, in the numbering of the layout. */
static uint64_t cell_start(const struct heat *h, uint64_t cell)
{
	return cell * h->pages / nr_cells(h);
}

static uint64_t cell_of(const struct heat *h, uint64_t page)
{
	uint64_t cell = page * nr_cells(h) / h->pages;

	while (cell_start(h, cell + 1) <= page)
		cell++;
	return cell;
}

/* Page @page of the layout as an address. */
static uint64_t address_of(const struct wp *w, const struct heat *h, uint64_t page)
{
	size_t i = 0;

	while (i + 1 < h->layout.nr && h->before[i + 1] <= page)
		i++;
	return h->layout.v[i].start + ((page - h->before[i]) << w->ctx->page_shift);
}

/* ---- a sample -------------------------------------------------------------------------------- */

static void heat_pages(struct heat *h, uint64_t first, uint64_t count)
{
	for (uint64_t n; count; first += n, count -= n) {
		uint64_t cell = cell_of(h, first), left = cell_start(h, cell + 1) - first;

		n = left < count ? left : count;
		h->written[cell] += n;
	}
}

int wp_heat_written(struct wp *w, uint64_t start, uint64_t end)
{
	struct heat *h = w->heat;
	unsigned int shift = w->ctx->page_shift;

	h->total += (end - start) >> shift;
	for (size_t i = 0; i < h->layout.nr; i++) {
		const struct pgs_range *range = &h->layout.v[i];
		uint64_t from = start > range->start ? start : range->start;
		uint64_t to = end < range->end ? end : range->end;

		if (from >= to)
			continue;
		heat_pages(h, h->before[i] + ((from - range->start) >> shift),
			   (to - from) >> shift);
		h->elsewhere -= (to - from) >> shift;
	}
	h->elsewhere += (end - start) >> shift;
	return 0;
}

/* The locale is asked of the environment: the program itself has chosen one with UTF-8. */
static bool is_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < 3; i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return false;
}

/* The first step is for any page at all, the last for all of them. */
static const char *shade(uint64_t written, uint64_t pages)
{
	static const char *const blocks[] = {" ", "░", "▒", "▓", "█"};
	static const char *const ascii[] = {" ", ".", ":", "-", "=", "+", "*", "%", "@"};
	bool utf8 = is_utf8();
	uint64_t top = utf8 ? 4 : 8, level = 0;

	if (written)
		level = written >= pages ? top : 1 + written * (top - 1) / pages;
	return utf8 ? blocks[level] : ascii[level];
}

static void draw(const struct heat *h, char map[MAP_BYTES])
{
	char *p = map;

	for (uint64_t i = 0; i < nr_cells(h); i++)
		p = stpcpy(p, shade(h->written[i], cell_start(h, i + 1) - cell_start(h, i)));
	*p = '\0';
}

static void fill_sample(const struct wp *w, struct pgs_val *vals)
{
	memset(vals, 0, H_COLS * sizeof(*vals));
	vals[H_SAMPLE] = pgs_u64(w->sample.number);
	vals[H_ELAPSED] = pgs_f64(w->sample.elapsed_s);
	vals[H_PID] = pgs_u64((uint64_t)w->pid);
}

static int emit_label(struct wp *w)
{
	struct heat *h = w->heat;
	struct pgs_val vals[H_COLS] = {0};
	char label[LABEL_ROOM];

	if (!h->fresh)
		return 0;
	h->fresh = false;
	snprintf(label, sizeof(label), "-- %llu pages in %zu ranges, %llu a cell --",
		 (unsigned long long)h->pages, h->layout.nr,
		 (unsigned long long)(h->pages ? h->pages / nr_cells(h) : 0));
	vals[H_MAP] = pgs_str(label);
	return out_row(w->out, vals);
}

static int emit_map(struct wp *w)
{
	struct heat *h = w->heat;
	struct pgs_val vals[H_COLS];
	char map[MAP_BYTES];
	int r = emit_label(w);

	draw(h, map);
	fill_sample(w, vals);
	vals[H_WRITTEN] = pgs_u64(h->total);
	vals[H_ELSEWHERE] = pgs_u64(h->elsewhere);
	vals[H_MAP] = pgs_str(map);
	return r ? r : out_row(w->out, vals);
}

static int emit_cells(struct wp *w)
{
	struct heat *h = w->heat;
	int r = 0;

	for (uint64_t i = 0; i < nr_cells(h) && !r; i++) {
		uint64_t first = cell_start(h, i), last = cell_start(h, i + 1) - 1;
		struct pgs_val vals[H_COLS];

		fill_sample(w, vals);
		vals[H_CELL] = pgs_u64(i);
		vals[H_START] = pgs_u64(address_of(w, h, first));
		vals[H_END] = pgs_u64(address_of(w, h, last) + w->ctx->page_size);
		vals[H_PAGES] = pgs_u64(last - first + 1);
		vals[H_WRITTEN] = pgs_u64(h->written[i]);
		vals[H_ELSEWHERE] = pgs_u64(h->elsewhere);
		r = out_row(w->out, vals);
	}
	return r;
}

int wp_heat_begin(struct wp *w)
{
	if (!w->heat)
		w->heat = calloc(1, sizeof(*w->heat));
	return w->heat ? draw_layout(w, w->heat) : -ENOMEM;
}

int wp_heat_emit(struct wp *w)
{
	bool is_table = w->opts->output.out.fmt == PGS_FMT_TABLE;
	struct heat *h = w->heat;
	int r = is_table ? emit_map(w) : emit_cells(w);

	if (!r && 2 * h->elsewhere > h->total)
		r = draw_layout(w, h);
	memset(h->written, 0, sizeof(h->written));
	h->elsewhere = h->total = 0;
	return r;
}

void wp_heat_free(struct heat *h)
{
	if (!h)
		return;
	free_layout(h);
	free(h);
}
