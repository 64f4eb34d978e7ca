// SPDX-License-Identifier: GPL-2.0-only
#include "out.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "out_escape.h"
#include "out_priv.h"
#include "progress.h"

/* More failures than this are counted and not kept: a run over a machine whose every mapping is
 * unreadable must not grow without bound. */
#define ERRORS_MAX 1000

static const struct out_ops *const back_ends[] = {
	[PGS_FMT_TABLE] = &out_table_ops,
	[PGS_FMT_JSON] = &out_json_ops,
	[PGS_FMT_JSONL] = &out_jsonl_ops,
	[PGS_FMT_TSV] = &out_tsv_ops,
	[PGS_FMT_HEX] = &out_hex_ops,
	[PGS_FMT_RAW] = &out_raw_ops,
	[PGS_FMT_OPENMETRICS] = &out_openmetrics_ops,
};

/* ---- The buffer ------------------------------------------------------------------------------ */

char *out_reserve_slow(struct out *o, size_t size)
{
	size_t cap = o->cap;
	char *data;

	while (cap - o->len < size)
		cap *= 2;
	data = realloc(o->data, cap);
	if (!data)
		return NULL;
	o->data = data;
	o->cap = cap;
	return o->data + o->len;
}

int out_put(struct out *o, const char *bytes, size_t len)
{
	char *p = out_reserve(o, len);

	if (!p)
		return -ENOMEM;
	out_commit(o, mempcpy(p, bytes, len));
	return 0;
}

int out_write(struct out *o)
{
	size_t done = 0;

	if (o->error)
		return o->error;
	if (o->tty && o->len)
		progress_clear();
	while (done < o->len) {
		ssize_t n = write(o->fd, o->data + done, o->len - done);

		if (n < 0 && errno == EINTR)
			continue; /* the loops see cmd_interrupted; what they made is kept */
		if (n < 0)
			return o->error = -errno;
		done += (size_t)n;
	}
	o->len = 0;
	return 0;
}

/* The coarse clock is read without a system call, cheaply enough to ask it after every row. */
static bool flush_is_due(struct out *o)
{
	struct timespec now;

	if (o->len >= OUT_FLUSH_AT)
		return true;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (now.tv_sec - o->flushed_at.tv_sec) * 1000 +
		       (now.tv_nsec - o->flushed_at.tv_nsec) / 1000000 >=
	       250;
}

int out_flush(struct out *o)
{
	int err = o->begun && o->ops->flush ? o->ops->flush(o) : 0;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &o->flushed_at);
	return err ?: out_write(o);
}

/* Rows leave the buffer whole: a reader that goes away or a kill never leaves half a line. */
static int end_row(struct out *o, int err)
{
	if (err)
		return o->error = err;
	return flush_is_due(o) ? out_flush(o) : 0;
}

/* ---- Columns --------------------------------------------------------------------------------- */

static bool col_is_default(const struct out *o, const struct pgs_col *col)
{
	bool json = o->opts.fmt == PGS_FMT_JSON || o->opts.fmt == PGS_FMT_JSONL;

	return !(col->flags & (json ? PGS_COL_EXTRA : PGS_COL_EXTRA | PGS_COL_HIDDEN));
}

/* A column is printed once, however often it is named. */
static void show_col(struct out *o, size_t index)
{
	if (!out_col_wanted(o, index))
		o->shown[o->nr_shown++] = index;
}

static int show_named(struct out *o, const char *key, size_t len)
{
	for (size_t i = 0; o->cols[i].key; i++)
		if (strlen(o->cols[i].key) == len && !memcmp(o->cols[i].key, key, len)) {
			show_col(o, i);
			return 0;
		}
	msg_usage("unknown column '%.*s'; '--columns=help' lists them", (int)len, key);
	return -EINVAL;
}

/* "a,b" shows these, "+a,b" these after the default ones. */
static int select_cols(struct out *o, const char *list)
{
	const char *key;
	int err = 0;
	size_t len;

	if (!list || *list == '+') {
		for (size_t i = 0; o->cols[i].key; i++)
			if (col_is_default(o, &o->cols[i]))
				show_col(o, i);
	}
	if (list && *list == '+')
		list++;
	while (list && !err && (key = pgs_list_next(&list, &len)))
		err = show_named(o, key, len);
	return err;
}

int out_table(struct out *o, const struct pgs_col *cols)
{
	size_t n = 0;

	while (cols[n].key)
		n++;
	o->shown = calloc(n, sizeof(*o->shown));
	if (!o->shown)
		return -ENOMEM;
	o->cols = cols;
	return select_cols(o, o->opts.columns);
}

bool out_col_wanted(const struct out *o, size_t index)
{
	for (size_t i = 0; i < o->nr_shown; i++)
		if (o->shown[i] == index)
			return true;
	return false;
}

/* ---- Values as text -------------------------------------------------------------------------- */

static int put_blob(struct out *o, const char *bytes, size_t len)
{
	char *p;

	if (out_is_plain(bytes, len))
		return out_put(o, bytes, len);
	p = out_reserve(o, OUT_ESCAPE_MAX(len));
	if (!p)
		return -ENOMEM;
	out_commit(o, p + out_escape(p, bytes, len));
	return 0;
}

int out_put_text(struct out *o, enum pgs_type type, const struct pgs_val *v, const char *null)
{
	char *p;

	if (!v->set || (type == PGS_F64 && !isfinite(v->d)))
		return out_put(o, null, strlen(null));
	if (type == PGS_STR)
		return put_blob(o, v->s, strlen(v->s));
	if (type == PGS_BLOB)
		return put_blob(o, v->blob.bytes, v->blob.len);
	p = out_reserve(o, OUT_NUMBER_MAX);
	if (!p)
		return -ENOMEM;
	switch (type) {
	case PGS_S64:
		p = out_put_s64(p, v->i);
		break;
	case PGS_F64:
		p = out_put_f64(p, v->d);
		break;
	case PGS_ADDR:
		p = out_put_addr(p, v->u);
		break;
	case PGS_RAW64:
		p = out_put_raw64(p, v->u);
		break;
	case PGS_BOOL:
		*p++ = v->b ? '1' : '0';
		break;
	default:
		p = out_put_u64(p, v->u);
	}
	out_commit(o, p);
	return 0;
}

/* ---- The document ---------------------------------------------------------------------------- */

int out_open(struct out **ret_out, FILE *f, const struct out_head *head,
	     const struct out_opts *opts)
{
	struct out *o;

	if (fflush(f))
		return -errno;
	o = calloc(1, sizeof(*o));
	if (!o)
		return -ENOMEM;
	o->cap = OUT_FLUSH_AT + (4u << 10);
	o->data = malloc(o->cap);
	if (!o->data) {
		free(o);
		return -ENOMEM;
	}
	o->ops = back_ends[opts->fmt];
	o->fd = fileno(f);
	o->tty = isatty(o->fd);
	o->head = *head;
	o->opts = *opts;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &o->flushed_at);
	*ret_out = o;
	return 0;
}

static int begin(struct out *o)
{
	int err;

	if (o->error || o->begun)
		return o->error;
	o->begun = true;
	err = o->ops->begin ? o->ops->begin(o) : 0;
	if (err)
		o->error = err;
	return err;
}

int out_emit(struct out *o, const struct pgs_val *vals)
{
	int err = begin(o);

	return err ?: end_row(o, o->ops->row(o, vals));
}

int out_row(struct out *o, const struct pgs_val *vals)
{
	return o->sort ? out_sort_row(o, vals) : out_emit(o, vals);
}

int out_words(struct out *o, const uint64_t *words, size_t count)
{
	int err = begin(o);

	return err ?: end_row(o, o->ops->words(o, words, count));
}

int out_fill(struct out *o, uint64_t word, uint64_t count)
{
	int err = begin(o);

	return err ?: end_row(o, o->ops->fill(o, word, count));
}

int out_text(struct out *o, const char *text, size_t len)
{
	int err = begin(o);

	return err ?: end_row(o, out_put(o, text, len));
}

static char *escaped_copy(const char *bytes, size_t len)
{
	char *copy = malloc(OUT_ESCAPE_MAX(len) + 1);

	if (copy)
		copy[out_escape(copy, bytes, len)] = '\0';
	return copy;
}

int out_summary(struct out *o, const char *key, enum pgs_type type, struct pgs_val v)
{
	struct out_pair *pairs = reallocarray(o->summary, o->nr_summary + 1, sizeof(*o->summary));
	struct out_pair pair = {.key = strdup(key), .type = type, .v = v};

	if (pairs)
		o->summary = pairs;
	if (v.set && type == PGS_STR)
		pair.v.s = strdup(v.s);
	if (v.set && type == PGS_BLOB) {
		pair.type = PGS_STR;
		pair.v.s = escaped_copy(v.blob.bytes, v.blob.len);
	}
	if (!pairs || !pair.key || (v.set && pair.type == PGS_STR && !pair.v.s)) {
		free(pair.key);
		return -ENOMEM;
	}
	pairs[o->nr_summary++] = pair;
	return 0;
}

int out_error(struct out *o, int pid, const char *what, int err)
{
	struct out_failure *errors;

	if (o->nr_errors == ERRORS_MAX) {
		o->nr_errors_left_out++;
		return 0;
	}
	errors = reallocarray(o->errors, o->nr_errors + 1, sizeof(*o->errors));
	if (!errors)
		return -ENOMEM;
	o->errors = errors;
	errors[o->nr_errors] = (struct out_failure){
		.pid = pid,
		.err = abs(err),
		.what = escaped_copy(what, strlen(what)),
	};
	if (!errors[o->nr_errors].what)
		return -ENOMEM;
	o->nr_errors++;
	return 0;
}

bool out_has_errors(const struct out *o)
{
	return o->nr_errors != 0;
}

bool out_failed(const struct out *o)
{
	return o->error != 0;
}

static void out_free(struct out *o)
{
	for (size_t i = 0; i < o->nr_summary; i++) {
		free(o->summary[i].key);
		if (o->summary[i].type == PGS_STR && o->summary[i].v.set)
			free((char *)o->summary[i].v.s);
	}
	for (size_t i = 0; i < o->nr_errors; i++)
		free(o->errors[i].what);
	if (o->ops->free)
		o->ops->free(o);
	out_sort_free(o->sort);
	free(o->summary);
	free(o->errors);
	free(o->shown);
	free(o->data);
	free(o);
}

/* A run that failed before its first row prints no heading; JSON is a document all the same. */
static int finish_document(struct out *o, bool complete)
{
	int err = o->sort ? out_sort_drain(o) : 0;

	if (!o->begun && !complete && !o->ops->always)
		return err;
	err = err ?: begin(o);
	if (!err && o->ops->end)
		err = o->ops->end(o, complete);
	return err ?: out_write(o);
}

int out_close(struct out **out, bool complete)
{
	struct out *o = *out;
	int err;

	if (!o)
		return 0;
	err = o->error ?: finish_document(o, complete);
	out_free(o);
	*out = NULL;
	return err;
}

int out_finish(struct out **o, int status)
{
	int err;

	if (*o && status == PGS_EXIT_OK && (out_has_errors(*o) || cmd_interrupted))
		status = PGS_EXIT_INCOMPLETE;
	err = out_close(o, status == PGS_EXIT_OK);
	if (err == -EPIPE)
		return status == PGS_EXIT_INCOMPLETE ? PGS_EXIT_OK : status;
	if (err) {
		msg_error("cannot write the output: %s", strerror(-err));
		return PGS_EXIT_FAILED;
	}
	return status;
}
