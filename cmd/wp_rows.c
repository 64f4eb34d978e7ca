// SPDX-License-Identifier: GPL-2.0-only
/* The columns of wp, a row of each view, and what a run comes to. */
#include "wp.h"

#include <stdlib.h>
#include <string.h>

#define HIDDEN PGS_COL_HIDDEN

/* clang-format off */
enum {
	C_SAMPLE, C_ELAPSED, C_INTERVAL, C_PID, C_START, C_END, C_PAGES, C_WRITTEN, C_RATE, C_UNTRACKED,
	C_UNKNOWN, C_WHOLE, C_STUCK, C_WHY, C_VMA, C_COLS
};

const struct pgs_col wp_cols[] = {
	[C_SAMPLE]	= {"sample", NULL, PGS_U64, 6, 0, "number of the sample, from 1"},
	[C_ELAPSED]	= {"elapsed_s", "ELAPSED", PGS_F64, 9, 0, "seconds from the beginning to the sample"},
	[C_INTERVAL]	= {"interval_s", "INTERVAL", PGS_F64, 9, 0, "seconds since the sample before, as measured"},
	[C_PID]		= {"pid", NULL, PGS_U64, 6, HIDDEN, "process"},
	[C_START]	= {"start", NULL, PGS_ADDR, 14, 0, "first address"},
	[C_END]		= {"end", NULL, PGS_ADDR, 14, 0, "first address behind it"},
	[C_PAGES]	= {"pages", NULL, PGS_U64, 8, 0, "number of pages that were tracked"},
	[C_WRITTEN]	= {"written", NULL, PGS_U64, 8, 0, "pages that were written in the interval"},
	[C_RATE]	= {"written_bytes_per_s", "WRITTEN/S", PGS_BYTES, 9, 0, "bytes of those pages a second"},
	[C_UNTRACKED]	= {"untracked", NULL, PGS_U64, 9, 0, "pages that may have been written unseen"},
	[C_UNKNOWN]	= {"unknown", NULL, PGS_U64, 7, HIDDEN, "pages whose mark reclaim may have taken"},
	[C_WHOLE]	= {"whole", NULL, PGS_U64, 7, HIDDEN, "of those written: marked by mapping, not by page"},
	[C_STUCK]	= {"stuck", NULL, PGS_U64, 7, HIDDEN, "of those written: the mark could not be taken off before"},
	[C_WHY]		= {"why", NULL, PGS_STR, 9, HIDDEN, "why pages are not tracked"},
	[C_VMA]		= {"vma", NULL, PGS_BLOB, 24, 0, "name of the mapping"},
	[C_COLS]	= {0},
};
/* clang-format on */

/* What has no value in a view is not in its table; JSON has every column. */
struct pgs_col *wp_columns(enum wp_by by)
{
	struct pgs_col *cols = malloc(sizeof(wp_cols));

	if (!cols)
		return NULL;
	memcpy(cols, wp_cols, sizeof(wp_cols));
	if (by == WP_TOTAL)
		cols[C_START].flags = cols[C_END].flags = cols[C_VMA].flags = HIDDEN;
	else
		cols[C_INTERVAL].flags = cols[C_RATE].flags = HIDDEN;
	if (by == WP_RUN || by == WP_PAGE)
		cols[C_WRITTEN].flags = cols[C_UNTRACKED].flags = HIDDEN;
	return cols;
}

static void fill_sample(const struct wp *w, struct pgs_val *vals)
{
	memset(vals, 0, C_COLS * sizeof(*vals));
	vals[C_SAMPLE] = pgs_u64(w->sample.number);
	vals[C_ELAPSED] = pgs_f64(w->sample.elapsed_s);
	vals[C_INTERVAL] = pgs_f64(w->sample.interval_s);
	vals[C_PID] = pgs_u64((uint64_t)w->pid);
}

static struct pgs_val rate(const struct wp *w, uint64_t pages)
{
	double seconds = w->sample.interval_s;

	return seconds > 0 ? pgs_u64((uint64_t)((double)(pages * w->ctx->page_size) / seconds))
			   : PGS_NULL;
}

/* Pages that can be written without being seen. */
static uint64_t sum_untracked(const uint64_t untracked[PGS_UNTRACKED_REASONS])
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < PGS_UNTRACKED_REASONS; i++)
		if (i != PGS_UNTRACKED_READ_ONLY)
			sum += untracked[i];
	return sum;
}

static const char *main_reason(const uint64_t untracked[PGS_UNTRACKED_REASONS])
{
	unsigned int most = 0;

	for (unsigned int i = 1; i < PGS_UNTRACKED_REASONS; i++)
		if (untracked[i] > untracked[most])
			most = i;
	return untracked[most] ? pgs_untracked_name(most) : NULL;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static int emit_run(struct wp *w, const struct pgs_vma *vma, uint64_t start, uint64_t end)
{
	uint64_t pages = (end - start) >> w->ctx->page_shift;
	struct pgs_val vals[C_COLS];

	fill_sample(w, vals);
	vals[C_START] = pgs_u64(start);
	vals[C_END] = pgs_u64(end);
	vals[C_PAGES] = pgs_u64(pages);
	vals[C_WRITTEN] = pgs_u64(pages);
	vals[C_RATE] = rate(w, pages);
	vals[C_VMA] = pgs_blob(vma->name, vma->name_len);
	return out_row(w->out, vals);
}

int wp_emit_written(void *arg, const struct pgs_vma *vma, uint64_t start, uint64_t end)
{
	struct wp *w = arg;
	uint64_t page_size = w->ctx->page_size;
	int r = pgs_pageset_add(w->distinct, start >> w->ctx->page_shift,
				(end - start) >> w->ctx->page_shift);

	if (w->heat && !r)
		return wp_heat_written(w, start, end);
	if (w->opts->by == WP_RUN && !r)
		return emit_run(w, vma, start, end);
	if (w->opts->by == WP_PAGE)
		for (; start < end && !r; start += page_size)
			r = emit_run(w, vma, start, start + page_size);
	return r;
}

static int emit_vma(struct wp *w, const struct pgs_track_vma *tv)
{
	struct pgs_val vals[C_COLS];

	fill_sample(w, vals);
	vals[C_START] = pgs_u64(tv->start);
	vals[C_END] = pgs_u64(tv->end);
	vals[C_PAGES] = pgs_u64(tv->tracked);
	vals[C_WRITTEN] = tv->tracked ? pgs_u64(tv->written) : PGS_NULL;
	vals[C_RATE] = tv->tracked ? rate(w, tv->written) : PGS_NULL;
	vals[C_UNTRACKED] = pgs_u64(sum_untracked(tv->untracked));
	vals[C_UNKNOWN] = pgs_u64(tv->unknown);
	vals[C_WHOLE] = pgs_u64(tv->whole);
	vals[C_STUCK] = pgs_u64(tv->stuck);
	vals[C_WHY] = pgs_str(main_reason(tv->untracked));
	vals[C_VMA] = pgs_blob(tv->vma->name, tv->vma->name_len);
	return out_row(w->out, vals);
}

/* Mappings without a write are not shown: most are, and every second. */
int wp_emit_mapping(void *arg, const struct pgs_track_vma *tv)
{
	struct wp *w = arg;
	struct wp_sample *s = &w->sample;

	s->mappings++;
	s->tracked += tv->tracked;
	s->written += tv->written;
	s->unknown += tv->unknown;
	s->whole += tv->whole;
	s->stuck += tv->stuck;
	for (unsigned int i = 0; i < PGS_UNTRACKED_REASONS; i++)
		s->untracked[i] += tv->untracked[i];
	w->has_shared |= tv->tracked && pgs_vma_is_shared(tv->vma);
	w->has_file |= tv->tracked && !pgs_vma_is_shared(tv->vma) && tv->vma->inode;
	if (w->opts->by != WP_VMA ||
	    (!tv->written && !tv->unknown && !sum_untracked(tv->untracked)))
		return 0;
	return emit_vma(w, tv);
}

int wp_emit_total(struct wp *w)
{
	const struct wp_sample *s = &w->sample;
	struct pgs_val vals[C_COLS];

	fill_sample(w, vals);
	vals[C_PAGES] = pgs_u64(s->tracked);
	vals[C_WRITTEN] = pgs_u64(s->written);
	vals[C_RATE] = rate(w, s->written);
	vals[C_UNTRACKED] = pgs_u64(sum_untracked(s->untracked));
	vals[C_UNKNOWN] = pgs_u64(s->unknown);
	vals[C_WHOLE] = pgs_u64(s->whole);
	vals[C_STUCK] = pgs_u64(s->stuck);
	return out_row(w->out, vals);
}

/* ---- the summary ----------------------------------------------------------------------------- */

/* clang-format off */
#define SHARED	"writes to shared memory by others are not seen, and its first touch counts"
#define FILES	"pages of private file mappings that are dropped after a write are not seen"
#define DROPPED	"pages that are dropped, and shared ones that are reclaimed, are not seen"
#define HUGE	"a huge page counts with all its pages"
#define LOST	"not atomic: what is written between reading and clearing is lost"
/* clang-format on */

/* What the method cannot see, of what there is in this process. */
static const char *limits(const struct wp *w)
{
	static const char *const of_uffd[2][2] = {{NULL, FILES}, {SHARED, SHARED "; " FILES}};

	switch (pgs_track_method(w->track)) {
	case PGS_TRACK_UFFD:
		return of_uffd[w->has_shared][w->has_file];
	case PGS_TRACK_MODULE:
		return DROPPED "; " HUGE;
	default:
		return LOST "; " DROPPED "; " HUGE;
	}
}

static int sum_reasons(struct wp *w)
{
	const uint64_t *untracked = w->sample.untracked;
	char text[256] = "";
	size_t len = 0;

	for (unsigned int i = 0; i < PGS_UNTRACKED_REASONS; i++)
		if (untracked[i] && len < sizeof(text))
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s %llu",
						len ? ", " : "", pgs_untracked_name(i),
						(unsigned long long)untracked[i] *
							w->ctx->page_size);
	return out_summary(w->out, "untracked_why", PGS_STR, len ? pgs_str(text) : PGS_NULL);
}

static int sum_bytes(struct wp *w, const char *key, uint64_t pages)
{
	return out_summary(w->out, key, PGS_BYTES, pgs_u64(pages * w->ctx->page_size));
}

static int sum_working_set(struct wp *w)
{
	uint64_t distinct = pgs_pageset_count(w->distinct);
	double seconds = w->sample.elapsed_s;
	double bytes = (double)(w->written_sum * w->ctx->page_size);
	int r = out_summary(w->out, "distinct_pages", PGS_U64, pgs_u64(distinct));

	if (!r)
		r = sum_bytes(w, "distinct_bytes", distinct);
	if (!r)
		r = out_summary(w->out, "written_pages", PGS_U64, pgs_u64(w->written_sum));
	if (!r)
		r = out_summary(w->out, "written_bytes_per_s", PGS_BYTES,
				seconds > 0 ? pgs_u64((uint64_t)(bytes / seconds)) : PGS_NULL);
	return r;
}

static int sum_method(struct wp *w)
{
	enum pgs_track_method method = pgs_track_method(w->track);
	bool known = method != PGS_TRACK_AUTO; /* a command may end before its exec */
	int r = out_summary(w->out, "method", PGS_STR,
			    known ? pgs_str(pgs_track_method_name(method)) : PGS_NULL);

	if (!r)
		r = out_summary(w->out, "method_why", PGS_STR,
				known ? pgs_str(pgs_track_why(w->track)) : PGS_NULL);
	if (!r)
		r = out_summary(w->out, "limits", PGS_STR, known ? pgs_str(limits(w)) : PGS_NULL);
	return r;
}

/* Of a command alone. */
static int sum_command(struct wp *w)
{
	int r = 0;

	if (!w->opts->command)
		return 0;
	r = out_summary(w->out, "execs", PGS_U64, pgs_u64(pgs_track_execs(w->track)));
	if (!r)
		r = out_summary(w->out, "forks_not_followed", PGS_U64,
				pgs_u64(pgs_track_forks(w->track)));
	return r;
}

int wp_summary(struct wp *w)
{
	const struct wp_sample *s = &w->sample;
	uint64_t stop_ns = pgs_track_stop_ns(w->track);
	int r = sum_method(w);

	if (!r)
		r = out_summary(w->out, "samples", PGS_U64, pgs_u64(s->number));
	if (!r)
		r = out_summary(w->out, "elapsed_s", PGS_F64, pgs_f64(s->elapsed_s));
	if (!r)
		r = sum_working_set(w);
	if (!r)
		r = sum_bytes(w, "tracked_bytes", s->tracked);
	if (!r)
		r = sum_bytes(w, "untracked_bytes", sum_untracked(s->untracked));
	if (!r)
		r = sum_reasons(w);
	if (!r)
		r = out_summary(w->out, "stop_us", PGS_F64, pgs_f64((double)stop_ns / 1000.0));
	if (!r)
		r = sum_command(w);
	return r;
}
