// SPDX-License-Identifier: GPL-2.0-only
/* out_sort: rows that are kept to be ordered. With --top=N only the best N are: a heap whose root
 * is the first to be dropped. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "msg.h"
#include "out_priv.h"

struct row {
	uint64_t serial; /* equal rows keep the order they came in */
	struct pgs_val key;
	struct pgs_val *vals; /* one allocation, their strings behind them */
};

struct out_sort {
	ssize_t col; /* -1: the order they came in */
	enum pgs_type type;
	uint64_t top;
	size_t nr_cols;
	uint64_t serial;
	struct row *rows; /* with @top a heap once there are @top of them */
	size_t nr_rows, cap;
};

int out_sort(struct out *o, const char *key, uint64_t top)
{
	struct out_sort *sort;
	ssize_t col = -1;

	if (!key && !top)
		return 0;
	for (size_t i = 0; key && o->cols[i].key; i++)
		if (!strcmp(o->cols[i].key, key))
			col = (ssize_t)i;
	if (key && col < 0) {
		msg_usage("unknown column '%s' to sort by; '--columns=help' lists them", key);
		return -EINVAL;
	}
	sort = calloc(1, sizeof(*sort));
	if (!sort)
		return -ENOMEM;
	*sort = (struct out_sort){.col = col, .top = top};
	if (col >= 0)
		sort->type = o->cols[col].type;
	while (o->cols[sort->nr_cols].key)
		sort->nr_cols++;
	o->sort = sort;
	return 0;
}

void out_sort_free(struct out_sort *sort)
{
	if (!sort)
		return;
	for (size_t i = 0; i < sort->nr_rows; i++)
		free(sort->rows[i].vals);
	free(sort->rows);
	free(sort);
}

/* ---- The order ------------------------------------------------------------------------------- */

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static int compare_blobs(const struct pgs_blob *a, const struct pgs_blob *b)
{
	int diff = memcmp(a->bytes, b->bytes, a->len < b->len ? a->len : b->len);

	return diff ?: COMPARE(a->len, b->len);
}

static int compare_vals(enum pgs_type type, const struct pgs_val *a, const struct pgs_val *b)
{
	if (!a->set || !b->set)
		return COMPARE(b->set, a->set);
	switch (type) {
	case PGS_STR:
		return strcmp(a->s, b->s);
	case PGS_BLOB:
		return compare_blobs(&a->blob, &b->blob);
	case PGS_ADDR:
		return COMPARE(a->u, b->u);
	case PGS_S64:
		return COMPARE(b->i, a->i);
	case PGS_F64:
		return COMPARE(b->d, a->d);
	case PGS_BOOL:
		return COMPARE(b->b, a->b);
	default:
		return COMPARE(b->u, a->u);
	}
}

/* < 0: @a is printed before @b. */
static int compare_rows(const void *pa, const void *pb, void *psort)
{
	const struct row *a = pa, *b = pb;
	const struct out_sort *sort = psort;
	int diff = sort->col < 0 ? 0 : compare_vals(sort->type, &a->key, &b->key);

	return diff ?: COMPARE(a->serial, b->serial);
}

/* ---- The rows -------------------------------------------------------------------------------- */

static size_t text_size(enum pgs_type type, const struct pgs_val *v)
{
	if (!v->set)
		return 0;
	return type == PGS_STR ? strlen(v->s) + 1 : type == PGS_BLOB ? v->blob.len : 0;
}

static struct pgs_val *copy_vals(const struct out *o, const struct pgs_val *vals)
{
	size_t nr = o->sort->nr_cols, size = nr * sizeof(*vals);
	struct pgs_val *copy;
	char *text;

	for (size_t i = 0; i < nr; i++)
		size += text_size(o->cols[i].type, &vals[i]);
	copy = malloc(size);
	if (!copy)
		return NULL;
	memcpy(copy, vals, nr * sizeof(*vals));
	text = (char *)(copy + nr);
	for (size_t i = 0; i < nr; i++) {
		enum pgs_type type = o->cols[i].type;
		size_t len = text_size(type, &vals[i]);

		if (type == PGS_STR && vals[i].set)
			copy[i].s = memcpy(text, vals[i].s, len);
		if (type == PGS_BLOB && vals[i].set)
			copy[i].blob.bytes = memcpy(text, vals[i].blob.bytes, len);
		text += len;
	}
	return copy;
}

static void sift_down(struct out_sort *sort, size_t i)
{
	for (;;) {
		size_t last = i;
		struct row tmp = sort->rows[i];

		for (size_t child = 2 * i + 1; child <= 2 * i + 2; child++)
			if (child < sort->nr_rows &&
			    compare_rows(&sort->rows[child], &sort->rows[last], sort) > 0)
				last = child;
		if (last == i)
			return;
		sort->rows[i] = sort->rows[last];
		sort->rows[last] = tmp;
		i = last;
	}
}

static int append(struct out_sort *sort, const struct row *row)
{
	if (sort->nr_rows == sort->cap) {
		size_t cap = sort->cap ? 2 * sort->cap : 64;
		struct row *rows = reallocarray(sort->rows, cap, sizeof(*rows));

		if (!rows)
			return -ENOMEM;
		sort->rows = rows;
		sort->cap = cap;
	}
	sort->rows[sort->nr_rows++] = *row;
	if (sort->nr_rows == sort->top)
		for (size_t i = sort->nr_rows / 2; i-- > 0;)
			sift_down(sort, i);
	return 0;
}

int out_sort_row(struct out *o, const struct pgs_val *vals)
{
	struct out_sort *sort = o->sort;
	struct row row = {.serial = sort->serial++};
	bool full = sort->top && sort->nr_rows == sort->top;

	if (sort->col >= 0)
		row.key = vals[sort->col];
	if (full && compare_rows(&row, &sort->rows[0], sort) > 0)
		return 0;
	row.vals = copy_vals(o, vals);
	if (!row.vals)
		return -ENOMEM;
	if (sort->col >= 0)
		row.key = row.vals[sort->col];
	if (!full)
		return append(sort, &row);
	free(sort->rows[0].vals);
	sort->rows[0] = row;
	sift_down(sort, 0);
	return 0;
}

int out_sort_drain(struct out *o)
{
	struct out_sort *sort = o->sort;
	int err = 0;

	qsort_r(sort->rows, sort->nr_rows, sizeof(*sort->rows), compare_rows, sort);
	for (size_t i = 0; !err && i < sort->nr_rows; i++)
		err = out_emit(o, sort->rows[i].vals);
	return err;
}
