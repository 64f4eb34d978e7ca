// SPDX-License-Identifier: GPL-2.0-only
/*
 * out_table: aligned columns for people, through libsmartcols.
 *
 * libsmartcols keeps all rows of a table (540 bytes each), so rows are printed in batches and
 * forgotten. A column never becomes narrower than it was in an earlier batch: whatever came before
 * stays aligned unless a value is wider than all before it. Off a terminal nothing is cut to a
 * width, and a cell is never empty: null is "-".
 */
#include <errno.h>
#include <libsmartcols/libsmartcols.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../src/cleanup.h"
#include "../src/units.h"
#include "out_priv.h"

#define BATCH_ROWS 1000

struct table {
	struct libscols_table *tb;
	size_t nr_rows; /* not yet printed */
};

/* ---- Columns --------------------------------------------------------------------------------- */

static bool col_is_text(const struct pgs_col *col)
{
	return col->type == PGS_STR || col->type == PGS_BLOB;
}

static char *heading(const struct pgs_col *col)
{
	char *head = strdup(col->head ?: col->key);

	for (char *p = head; p && !col->head && *p; p++)
		if (*p >= 'a' && *p <= 'z')
			*p -= 'a' - 'A';
	return head;
}

/*
 * Make @cl at least @width wide. Its heading alone is a least width to scols, and a hint is heard
 * only where the cells are wider than the heading, unless the column is strict; of a strict column
 * in turn the heading is no least width.
 */
static int set_least_width(struct libscols_column *cl, size_t width)
{
	size_t heading_width = strlen(scols_cell_get_data(scols_column_get_header(cl)));
	int flags = scols_column_get_flags(cl);

	if (width <= heading_width)
		return 0;
	return scols_column_set_flags(cl, flags | SCOLS_FL_STRICTWIDTH)
		       ?: scols_column_set_whint(cl, (double)width);
}

static int add_col(struct table *t, const struct out *o, const struct pgs_col *col, bool color)
{
	bool right = !col_is_text(col) && !(col->flags & PGS_COL_LEFT);
	bool cut = o->tty && col->type == PGS_BLOB;
	int flags = (right ? SCOLS_FL_RIGHT : 0) | (cut ? SCOLS_FL_TRUNC : 0);
	_cleanup_free_ char *head = heading(col);
	struct libscols_column *cl;

	if (!head)
		return -ENOMEM;
	cl = scols_table_new_column(t->tb, head, 0, flags);
	if (!cl)
		return -ENOMEM;
	if (color && scols_cell_set_color(scols_column_get_header(cl), "bold"))
		return -ENOMEM;
	return set_least_width(cl, (size_t)col->width);
}

/* --color decides; left to us, a terminal that is not dumb and a user who did not say NO_COLOR. */
static bool color_is_wanted(const struct out *o)
{
	const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");

	if (o->opts.color != PGS_COLOR_AUTO)
		return o->opts.color == PGS_COLOR_ALWAYS;
	return o->tty && term && strcmp(term, "dumb") && !(no_color && *no_color);
}

static int table_begin(struct out *o)
{
	bool color = color_is_wanted(o);
	struct table *t = calloc(1, sizeof(*t));
	int err = 0;

	if (!t)
		return -ENOMEM;
	o->priv = t;
	t->tb = scols_new_table();
	if (!t->tb)
		return -ENOMEM;
	scols_table_enable_noheadings(t->tb, o->opts.no_header);
	scols_table_enable_noencoding(t->tb, 1); /* done already, by out_escape() */
	scols_table_enable_colors(t->tb, color);
	scols_table_set_termforce(t->tb, o->tty ? SCOLS_TERMFORCE_ALWAYS : SCOLS_TERMFORCE_NEVER);
	for (size_t i = 0; !err && i < o->nr_shown; i++)
		err = add_col(t, o, &o->cols[o->shown[i]], color);
	return err;
}

/* ---- Cells ----------------------------------------------------------------------------------- */

/* The buffer's end serves as scratch: what out_put_text() appends is taken off again. */
static char *cell_text(struct out *o, enum pgs_type type, const struct pgs_val *v)
{
	size_t start = o->len;
	char size[PGS_SIZE_STR], number[OUT_NUMBER_MAX];
	char *text;

	if (v->set && type == PGS_BYTES && !o->opts.bytes)
		return strdup(pgs_format_size(v->u, size));
	if (v->set && type == PGS_F64 && isfinite(v->d)) {
		snprintf(number, sizeof(number), fabs(v->d) < 0.01 && v->d ? "%.1g" : "%.2f", v->d);
		return strdup(number);
	}
	if (out_put_text(o, type, v, "-"))
		return NULL;
	text = strndup(o->data + start, o->len - start);
	o->len = start;
	return text;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* scols computes the widths from the rows it has: those so far are the least of those to come. */
static int keep_widths(struct table *t)
{
	size_t nr = scols_table_get_ncols(t->tb);
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++) {
		struct libscols_column *cl = scols_table_get_column(t->tb, i);

		err = set_least_width(cl, scols_column_get_width(cl));
	}
	return err;
}

static int table_flush(struct out *o)
{
	struct table *t = o->priv;
	_cleanup_free_ char *text = NULL;
	int err;

	if (!t->nr_rows)
		return 0;
	err = scols_table_print_range_to_string(t->tb, scols_table_get_line(t->tb, 0), NULL, &text);
	err = err ?: out_put(o, text, strlen(text));
	err = err ?: out_put(o, "\n", 1); /* scols leaves it to the caller after the last line */
	err = err ?: keep_widths(t);
	scols_table_remove_lines(t->tb);
	t->nr_rows = 0;
	return err;
}

static int table_row(struct out *o, const struct pgs_val *vals)
{
	struct table *t = o->priv;
	struct libscols_line *ln = scols_table_new_line(t->tb, NULL);

	if (!ln)
		return -ENOMEM;
	for (size_t i = 0; i < o->nr_shown; i++) {
		size_t index = o->shown[i];
		char *text = cell_text(o, o->cols[index].type, &vals[index]);

		if (!text || scols_line_refer_data(ln, i, text))
			return -ENOMEM;
	}
	return ++t->nr_rows == BATCH_ROWS ? table_flush(o) : 0;
}

/* ---- The summary ----------------------------------------------------------------------------- */

static int put_summary_line(struct out *o, const char *key, int width, const char *text)
{
	char *p = out_reserve(o, strlen(text) + 128);

	if (!p)
		return -ENOMEM;
	out_commit(o, p + sprintf(p, "%-*.96s  %s\n", width, key, text));
	return 0;
}

static int put_summary(struct out *o, bool complete)
{
	int width = complete ? 0 : (int)strlen("complete");
	int err = o->nr_summary && o->begun ? out_put(o, "\n", 1) : 0;

	for (size_t i = 0; i < o->nr_summary; i++)
		if ((int)strlen(o->summary[i].key) > width)
			width = (int)strlen(o->summary[i].key);
	for (size_t i = 0; !err && i < o->nr_summary; i++) {
		const struct out_pair *pair = &o->summary[i];
		_cleanup_free_ char *text = NULL;

		text = pair->type == PGS_STR && pair->v.set ? strdup(pair->v.s)
							    : cell_text(o, pair->type, &pair->v);
		err = text ? put_summary_line(o, pair->key, width, text) : -ENOMEM;
	}
	if (!err && !complete)
		err = put_summary_line(o, "complete", width, "no");
	return err;
}

static int table_end(struct out *o, bool complete)
{
	int err = table_flush(o);

	return err || o->opts.no_header ? err : put_summary(o, complete);
}

static void table_free(struct out *o)
{
	struct table *t = o->priv;

	if (t)
		scols_unref_table(t->tb);
	free(t);
}

const struct out_ops out_table_ops = {
	.begin = table_begin,
	.row = table_row,
	.flush = table_flush,
	.end = table_end,
	.free = table_free,
};
