/* SPDX-License-Identifier: GPL-2.0-only */
/* out_priv: what the back ends share. Only out*.c includes it. */
#pragma once

#include "out.h"

#include <time.h>

#define OUT_FLUSH_AT   (128u << 10) /* bytes */
#define OUT_NUMBER_MAX 32	    /* room for any number, address or word of out_put_*() */

struct out_pair {
	char *key;
	enum pgs_type type;
	struct pgs_val v; /* its string is the pair's own */
};

struct out_failure {
	int pid, err;
	char *what;
};

struct out_sort;

struct out {
	const struct out_ops *ops;
	int fd;
	bool tty;
	bool begun;
	int error; /* the first failure to write, for ever */
	struct out_head head;
	struct out_opts opts;

	const struct pgs_col *cols;
	size_t *shown; /* indices of @cols in the order they are printed */
	size_t nr_shown;
	struct out_sort *sort; /* NULL: rows stream */

	char *data; /* formatted, not yet written */
	size_t len, cap;
	struct timespec flushed_at;

	struct out_pair *summary;
	size_t nr_summary;
	struct out_failure *errors;
	size_t nr_errors, nr_errors_left_out;

	void *priv; /* the back end's, freed with free() by its end() */
};

extern const struct out_ops out_table_ops, out_json_ops, out_jsonl_ops, out_tsv_ops, out_hex_ops,
	out_raw_ops, out_openmetrics_ops;

/* out_reserve - the end of the buffer, with room for @size bytes; NULL without memory. What is put
 * there counts once out_commit() is told where it ends. */
char *out_reserve_slow(struct out *o, size_t size);
static inline char *out_reserve(struct out *o, size_t size)
{
	return o->cap - o->len >= size ? o->data + o->len : out_reserve_slow(o, size);
}
static inline void out_commit(struct out *o, const char *end)
{
	o->len = (size_t)(end - o->data);
}

/* out_put - append bytes. 0 or -errno. */
int out_put(struct out *o, const char *bytes, size_t len);
/* out_write - write the buffer out. 0 or -errno. */
int out_write(struct out *o);

/* Each writes at @p, at most OUT_NUMBER_MAX bytes without a NUL, and returns the end. */
char *out_put_s64(char *p, int64_t i);
char *out_put_u64(char *p, uint64_t u);		    /* decimal */
char *out_put_hex(char *p, uint64_t u, int digits); /* the last @digits of them, no 0x */
char *out_put_addr(char *p, uint64_t u);	    /* 0x1f000 */
char *out_put_raw64(char *p, uint64_t u);	    /* 0x000000000001f000 */
char *out_put_f64(char *p, double d); /* shortest that reads back equal, with a decimal point */

/* out_put_text - a value as TSV and tables print it: foreign bytes escaped, null as @null, no
 * quotes. 0 or -errno. */
int out_put_text(struct out *o, enum pgs_type type, const struct pgs_val *v, const char *null);

/* out_emit - out_row() past the sorting. */
int out_emit(struct out *o, const struct pgs_val *vals);

/* ---- out_sort.c ------------------------------------------------------------------------------ */

int out_sort_row(struct out *o, const struct pgs_val *vals);
/* out_sort_drain - hand the rows to the back end in their order. */
int out_sort_drain(struct out *o);
void out_sort_free(struct out_sort *sort);
