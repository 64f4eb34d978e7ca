// SPDX-License-Identifier: GPL-2.0-only
/*
 * out_json: one document (json), or a document a line (jsonl).
 *
 * jansson writes all but the rows' numbers and plain strings: a jansson object a row makes 0.3 M
 * rows a second, put_row() below ten times that, and a dump of 64 GiB has 16.8 M rows. The
 * unit tests read back all that it can print with jansson.
 */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "../src/cleanup.h"
#include "out_escape.h"
#include "out_priv.h"

#define DUMP_FLAGS (JSON_COMPACT | JSON_REAL_PRECISION(15))

struct json {
	uint64_t rows;
	size_t keys_len[]; /* of each shown column: its key with quotes and colon */
};

/* ---- What jansson writes --------------------------------------------------------------------- */

/* Put @json without its first @skip_head and last @skip_tail bytes. */
static int put_dump(struct out *o, const json_t *json, size_t skip_head, size_t skip_tail)
{
	_cleanup_free_ char *text = json_dumps(json, DUMP_FLAGS | JSON_ENCODE_ANY);

	if (!text)
		return -ENOMEM;
	return out_put(o, text + skip_head, strlen(text) - skip_head - skip_tail);
}

static json_t *make_head(const struct out *o)
{
	struct utsname uts;
	const char *kernel = o->head.kernel;

	if (!kernel && !uname(&uts))
		kernel = uts.release;
	return json_pack("{s:i, s:s, s:s, s:s?, s:I, s:b}", "schema", 1, "command", o->head.command,
			 "version", PGSCAN_VERSION, "kernel", kernel, "page_size",
			 (json_int_t)o->head.page_size, "module", o->head.module);
}

static json_t *make_hex(char *(*put)(char *, uint64_t), uint64_t u)
{
	char text[OUT_NUMBER_MAX];

	return json_stringn(text, (size_t)(put(text, u) - text));
}

static json_t *make_value(enum pgs_type type, const struct pgs_val *v)
{
	if (!v->set)
		return json_null();
	switch (type) {
	case PGS_STR:
	case PGS_BLOB: /* out_summary() made a PGS_STR of it */
		return json_string(v->s);
	case PGS_S64:
		return json_integer(v->i);
	case PGS_F64:
		return isfinite(v->d) ? json_real(v->d) : json_null();
	case PGS_ADDR:
		return make_hex(out_put_addr, v->u);
	case PGS_RAW64:
		return make_hex(out_put_raw64, v->u);
	case PGS_BOOL:
		return json_boolean(v->b);
	case PGS_U64:
	case PGS_BYTES:
		break;
	}
	return json_integer((json_int_t)v->u);
}

static json_t *make_summary(const struct out *o)
{
	json_t *summary = json_object();

	for (size_t i = 0; i < o->nr_summary; i++) {
		const struct out_pair *pair = &o->summary[i];

		json_object_set_new(summary, pair->key, make_value(pair->type, &pair->v));
	}
	return summary;
}

static json_t *make_error(int pid, const char *what, int err)
{
	return json_pack("{s:o, s:s, s:s?}", "pid", pid ? json_integer(pid) : json_null(), "what",
			 what, "error", err ? strerrorname_np(err) : NULL);
}

static json_t *make_errors(const struct out *o)
{
	json_t *errors = json_array();
	char text[64];

	for (size_t i = 0; i < o->nr_errors; i++) {
		const struct out_failure *e = &o->errors[i];

		json_array_append_new(errors, make_error(e->pid, e->what, e->err));
	}
	if (o->nr_errors_left_out) {
		snprintf(text, sizeof(text), "%zu more failures are not listed",
			 o->nr_errors_left_out);
		json_array_append_new(errors, make_error(0, text, 0));
	}
	return errors;
}

static json_t *make_tail(const struct out *o, bool complete)
{
	return json_pack("{s:o, s:o, s:b}", "summary", make_summary(o), "errors", make_errors(o),
			 "complete", complete);
}

/* ---- The row writer -------------------------------------------------------------------------- */

static int put_string(struct out *o, const char *s, size_t len)
{
	json_auto_t *json = NULL;
	_cleanup_free_ char *escaped = NULL;
	char *p;

	if (out_is_plain(s, len)) {
		p = out_reserve(o, len + 2);
		if (!p)
			return -ENOMEM;
		*p++ = '"';
		p = mempcpy(p, s, len);
		*p++ = '"';
		out_commit(o, p);
		return 0;
	}
	escaped = malloc(OUT_ESCAPE_MAX(len));
	if (!escaped)
		return -ENOMEM;
	json = json_stringn(escaped, out_escape(escaped, s, len));
	return put_dump(o, json, 0, 0);
}

static char *put_quoted(char *p, char *(*put)(char *, uint64_t), uint64_t u)
{
	*p++ = '"';
	p = put(p, u);
	*p++ = '"';
	return p;
}

static char *put_number(char *p, enum pgs_type type, const struct pgs_val *v)
{
	if (!v->set || (type == PGS_F64 && !isfinite(v->d)))
		return mempcpy(p, "null", 4);
	switch (type) {
	case PGS_S64:
		return out_put_s64(p, v->i);
	case PGS_F64:
		return out_put_f64(p, v->d);
	case PGS_ADDR:
		return put_quoted(p, out_put_addr, v->u);
	case PGS_RAW64:
		return put_quoted(p, out_put_raw64, v->u);
	case PGS_BOOL:
		return v->b ? mempcpy(p, "true", 4) : mempcpy(p, "false", 5);
	default:
		return out_put_u64(p, v->u);
	}
}

static int put_value(struct out *o, enum pgs_type type, const struct pgs_val *v)
{
	char *p;

	if (v->set && type == PGS_STR)
		return put_string(o, v->s, strlen(v->s));
	if (v->set && type == PGS_BLOB)
		return put_string(o, v->blob.bytes, v->blob.len);
	p = out_reserve(o, OUT_NUMBER_MAX + 2);
	if (!p)
		return -ENOMEM;
	out_commit(o, put_number(p, type, v));
	return 0;
}

static int put_row(struct out *o, const struct pgs_val *vals)
{
	const struct json *j = o->priv;
	int err = out_put(o, "{", 1);

	for (size_t i = 0; !err && i < o->nr_shown; i++) {
		const struct pgs_col *col = &o->cols[o->shown[i]];
		char *p = out_reserve(o, j->keys_len[i] + 4);

		if (!p)
			return -ENOMEM;
		*p = ',';
		p += i != 0;
		*p++ = '"';
		p = mempcpy(p, col->key, j->keys_len[i]);
		*p++ = '"';
		*p++ = ':';
		out_commit(o, p);
		err = put_value(o, col->type, &vals[o->shown[i]]);
	}
	return err ?: out_put(o, "}", 1);
}

/* ---- json ------------------------------------------------------------------------------------ */

static int begin(struct out *o)
{
	struct json *j = calloc(1, sizeof(*j) + o->nr_shown * sizeof(j->keys_len[0]));

	if (!j)
		return -ENOMEM;
	for (size_t i = 0; i < o->nr_shown; i++)
		j->keys_len[i] = strlen(o->cols[o->shown[i]].key);
	o->priv = j;
	return 0;
}

static int json_begin(struct out *o)
{
	json_auto_t *head = make_head(o);
	int err = begin(o);

	err = err ?: put_dump(o, head, 0, strlen("}"));
	return err ?: out_put(o, ",\"rows\":[", 9);
}

static int json_row(struct out *o, const struct pgs_val *vals)
{
	struct json *j = o->priv;
	int err = j->rows++ ? out_put(o, ",\n", 2) : out_put(o, "\n", 1);

	return err ?: put_row(o, vals);
}

static int json_end(struct out *o, bool complete)
{
	const struct json *j = o->priv;
	json_auto_t *tail = make_tail(o, complete);
	int err = j->rows ? out_put(o, "\n],", 3) : out_put(o, "],", 2);

	err = err ?: put_dump(o, tail, strlen("{"), 0);
	return err ?: out_put(o, "\n", 1);
}

static void json_free(struct out *o)
{
	free(o->priv);
}

const struct out_ops out_json_ops = {
	.always = true,
	.begin = json_begin,
	.row = json_row,
	.end = json_end,
	.free = json_free,
};

/* ---- jsonl: the last line is the document without its rows ----------------------------------- */

static int jsonl_row(struct out *o, const struct pgs_val *vals)
{
	int err = put_row(o, vals);

	return err ?: out_put(o, "\n", 1);
}

static int jsonl_end(struct out *o, bool complete)
{
	json_auto_t *head = make_head(o);
	json_auto_t *tail = make_tail(o, complete);
	int err;

	if (json_object_update(head, tail))
		return -ENOMEM;
	err = put_dump(o, head, 0, 0);
	return err ?: out_put(o, "\n", 1);
}

const struct out_ops out_jsonl_ops = {
	.always = true,
	.begin = begin,
	.row = jsonl_row,
	.end = jsonl_end,
	.free = json_free,
};
