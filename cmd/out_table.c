// SPDX-License-Identifier: GPL-2.0-only
/*
 * out_table: aligned columns for people.
 *
 * Rows are laid out a batch at a time and forgotten. A column is as wide as the widest value so
 * far, and never becomes narrower: what is above stays aligned unless a value is wider than all
 * before it. Null is "-". Off a terminal nothing depends on one: no colour, nothing cut.
 *
 * Not by libsmartcols: it lays out each batch anew, so that columns move at every 1000th row, and
 * makes 0.09 M rows a second where this makes 0.9 M: `dump --by=page | grep` is worth that.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "../src/cleanup.h"
#include "../src/units.h"
#include "out_escape.h"
#include "out_priv.h"

#define BATCH_ROWS	1000
#define LEAST_CUT_WIDTH 12 /* of a column that is cut to fit a terminal */

static const char bold[] = "\033[1m", normal[] = "\033[0m";

struct cell {
	size_t start, len; /* bytes in the batch's text */
	size_t width;	   /* columns of the terminal */
};

struct table {
	size_t *widths; /* of each shown column */
	struct cell *cells;
	size_t nr_cells;
	char *text; /* of the cells */
	size_t len, cap;
	bool bold_heading; /* of the batch that is printed next: its first row is the heading */
};

/* ---- Cells ----------------------------------------------------------------------------------- */

/* The columns that @text takes, or with @max the bytes of it that take at most so many. It is valid
 * UTF-8 without controls, as out_escape() leaves it. */
static size_t measure(const char *text, size_t len, size_t max, size_t *ret_bytes)
{
	mbstate_t state = {0};
	size_t width = 0, at = 0;

	while (at < len) {
		wchar_t c;
		size_t n = mbrtowc(&c, text + at, len - at, &state);
		int w = n > len ? 1 : wcwidth(c);

		if (n == 0 || n > len) { /* a locale without UTF-8: count bytes */
			memset(&state, 0, sizeof(state));
			n = 1;
		}
		if (w > 0 && width + (size_t)w > max)
			break;
		width += w > 0 ? (size_t)w : 0;
		at += n;
	}
	*ret_bytes = at;
	return width;
}

static size_t text_width(const char *text, size_t len)
{
	size_t bytes;

	return out_is_plain(text, len) ? len : measure(text, len, SIZE_MAX, &bytes);
}

/* Append a value to the buffer as people read it. */
static int put_cell_text(struct out *o, enum pgs_type type, const struct pgs_val *v)
{
	char size[PGS_SIZE_STR], number[OUT_NUMBER_MAX];

	if (v->set && type == PGS_BYTES && !o->opts.bytes) {
		pgs_format_size(v->u, size);
		return out_put(o, size, strlen(size));
	}
	if (v->set && type == PGS_F64 && fabs(v->d) < 1e15) {
		bool tiny = v->d != 0 && fabs(v->d) < 0.01;

		return out_put(o, number, (size_t)sprintf(number, tiny ? "%.1g" : "%.2f", v->d));
	}
	return out_put_text(o, type, v, "-");
}

static int add_cell(struct table *t, size_t col, const char *text, size_t len)
{
	struct cell *cell = &t->cells[t->nr_cells];

	if (t->cap - t->len < len) {
		size_t cap = 2 * (t->cap + len);
		char *bigger = realloc(t->text, cap);

		if (!bigger)
			return -ENOMEM;
		t->text = bigger;
		t->cap = cap;
	}
	memcpy(t->text + t->len, text, len);
	*cell = (struct cell){.start = t->len, .len = len, .width = text_width(text, len)};
	if (cell->width > t->widths[col])
		t->widths[col] = cell->width;
	t->len += len;
	t->nr_cells++;
	return 0;
}

/* The end of the buffer serves as scratch. */
static int add_value(struct out *o, size_t col, enum pgs_type type, const struct pgs_val *v)
{
	size_t start = o->len;
	int err = put_cell_text(o, type, v);

	err = err ?: add_cell(o->priv, col, o->data + start, o->len - start);
	o->len = start;
	return err;
}

static int add_heading(struct table *t, size_t col, const struct pgs_col *c)
{
	const char *head = c->head ?: c->key;
	char upper[64];
	size_t len = strnlen(head, sizeof(upper));

	for (size_t i = 0; i < len; i++)
		upper[i] = (char)(!c->head && head[i] >= 'a' && head[i] <= 'z' ? head[i] - 32
									       : head[i]);
	return add_cell(t, col, upper, len);
}

/* ---- Layout ---------------------------------------------------------------------------------- */

static bool col_is_right(const struct pgs_col *col)
{
	return col->type != PGS_STR && col->type != PGS_BLOB && !(col->flags & PGS_COL_LEFT);
}

size_t out_width(int fd)
{
	struct winsize size;

	return isatty(fd) && !ioctl(fd, TIOCGWINSZ, &size) ? size.ws_col : 0;
}

/* On a terminal foreign text is cut so that a row fits a line, the last column first. */
static void fit_terminal(const struct out *o, size_t *widths)
{
	size_t total = o->nr_shown - 1, width = o->tty ? out_width(o->fd) : 0;

	if (!width)
		return;
	for (size_t i = 0; i < o->nr_shown; i++)
		total += widths[i];
	for (size_t i = o->nr_shown; i-- > 0 && total > width;) {
		size_t excess = total - width;
		size_t room = widths[i] > LEAST_CUT_WIDTH ? widths[i] - LEAST_CUT_WIDTH : 0;

		if (o->cols[o->shown[i]].type != PGS_BLOB)
			continue;
		excess = excess < room ? excess : room;
		widths[i] -= excess;
		total -= excess;
	}
}

static char *put_spaces(char *p, size_t n)
{
	memset(p, ' ', n);
	return p + n;
}

/* Put a cell after @*pad blanks that are due; those on its own right become due in turn, so that no
 * line ends with any. */
static int put_cell(struct out *o, const struct cell *cell, size_t width, bool right, size_t *pad)
{
	const struct table *t = o->priv;
	size_t len = cell->len, cell_width = cell->width;
	bool cut = cell_width > width;
	size_t before;
	char *p;

	if (cut)
		cell_width = 1 + measure(t->text + cell->start, cell->len, width - 1, &len);
	before = *pad + (right ? width - cell_width : 0);
	*pad = 1 + (right ? 0 : width - cell_width);
	if (!len) {
		*pad += before;
		return 0;
	}
	p = out_reserve(o, before + len + sizeof("…"));
	if (!p)
		return -ENOMEM;
	p = mempcpy(put_spaces(p, before), t->text + cell->start, len);
	if (cut)
		p = mempcpy(p, "…", strlen("…"));
	out_commit(o, p);
	return 0;
}

static int put_line(struct out *o, const struct cell *cells, const size_t *widths)
{
	size_t pad = 0;
	int err = 0;

	for (size_t i = 0; !err && i < o->nr_shown; i++)
		err = put_cell(o, &cells[i], widths[i], col_is_right(&o->cols[o->shown[i]]), &pad);
	return err;
}

static int put_heading(struct out *o, const struct cell *cells, const size_t *widths)
{
	int err = out_put(o, bold, strlen(bold));

	err = err ?: put_line(o, cells, widths);
	return err ?: out_put(o, normal, strlen(normal));
}

static int table_flush(struct out *o)
{
	struct table *t = o->priv;
	_cleanup_free_ size_t *widths = malloc((o->nr_shown + 1) * sizeof(*widths));
	int err = 0;

	if (!widths)
		return -ENOMEM;
	memcpy(widths, t->widths, o->nr_shown * sizeof(*widths));
	fit_terminal(o, widths);
	for (size_t i = 0; !err && i < t->nr_cells; i += o->nr_shown) {
		err = t->bold_heading ? put_heading(o, &t->cells[i], widths)
				      : put_line(o, &t->cells[i], widths);
		t->bold_heading = false;
		err = err ?: out_put(o, "\n", 1);
	}
	t->nr_cells = t->len = 0;
	return err;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

bool out_color(int fd, enum pgs_color color)
{
	const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");

	if (color != PGS_COLOR_AUTO)
		return color == PGS_COLOR_ALWAYS;
	return isatty(fd) && term && strcmp(term, "dumb") && !(no_color && *no_color);
}

static int table_begin(struct out *o)
{
	struct table *t = calloc(1, sizeof(*t));
	int err = 0;

	if (!t)
		return -ENOMEM;
	o->priv = t;
	t->widths = calloc(o->nr_shown, sizeof(*t->widths));
	t->cells = calloc((BATCH_ROWS + 1) * o->nr_shown, sizeof(*t->cells));
	if (!t->widths || !t->cells)
		return -ENOMEM;
	t->bold_heading = !o->opts.no_header && out_color(o->fd, o->opts.color);
	for (size_t i = 0; !err && i < o->nr_shown; i++) {
		const struct pgs_col *col = &o->cols[o->shown[i]];

		t->widths[i] = (size_t)col->width;
		err = o->opts.no_header ? 0 : add_heading(t, i, col);
	}
	return err;
}

static int table_row(struct out *o, const struct pgs_val *vals)
{
	const struct table *t = o->priv;
	int err = 0;

	for (size_t i = 0; !err && i < o->nr_shown; i++) {
		size_t index = o->shown[i];

		err = add_value(o, i, o->cols[index].type, &vals[index]);
	}
	return err || t->nr_cells < BATCH_ROWS * o->nr_shown ? err : table_flush(o);
}

/* ---- The summary ----------------------------------------------------------------------------- */

static int put_key(struct out *o, const char *key, size_t width)
{
	size_t len = strlen(key);
	char *p = out_reserve(o, len + width + 2);

	if (!p)
		return -ENOMEM;
	p = put_spaces(mempcpy(p, key, len), (len < width ? width - len : 0) + 2);
	out_commit(o, p);
	return 0;
}

static int put_summary_value(struct out *o, const struct out_pair *pair)
{
	if (pair->type == PGS_BOOL && pair->v.set)
		return pair->v.b ? out_put(o, "yes", 3) : out_put(o, "no", 2);
	return put_cell_text(o, pair->type, &pair->v);
}

/* People look for what there is: a count of nothing is left out here, while JSON has them all. The
 * first stays, since the others are shares of it. */
static bool pair_is_shown(const struct out *o, size_t i)
{
	const struct out_pair *pair = &o->summary[i];

	return !i || pair->type != PGS_U64 || !pair->v.set || pair->v.u;
}

static int put_summary(struct out *o, bool complete)
{
	size_t width = complete ? 0 : strlen("complete");
	int err = o->nr_summary ? out_put(o, "\n", 1) : 0;

	for (size_t i = 0; i < o->nr_summary; i++)
		if (pair_is_shown(o, i) && strlen(o->summary[i].key) > width)
			width = strlen(o->summary[i].key);
	for (size_t i = 0; !err && i < o->nr_summary; i++) {
		const struct out_pair *pair = &o->summary[i];

		if (!pair_is_shown(o, i))
			continue;
		err = put_key(o, pair->key, width);
		err = err ?: put_summary_value(o, pair);
		err = err ?: out_put(o, "\n", 1);
	}
	if (!err && !complete)
		err = put_key(o, "complete", width) ?: out_put(o, "no\n", 3);
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

	if (!t)
		return;
	free(t->widths);
	free(t->cells);
	free(t->text);
	free(t);
}

const struct out_ops out_table_ops = {
	.begin = table_begin,
	.row = table_row,
	.flush = table_flush,
	.end = table_end,
	.free = table_free,
};
