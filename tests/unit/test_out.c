// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../../src/cleanup.h"
#include "cmd.h"
#include "out_escape.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

enum { N, SIZE, RATIO, START, RAW, OK, STATE, NAME, NR_COLS };

static const struct pgs_col cols[] = {
	[N] = {"n", NULL, PGS_U64, 4, 0, "a count"},
	[SIZE] = {"size", NULL, PGS_BYTES, 6, 0, "bytes"},
	[RATIO] = {"ratio", "RATIO%", PGS_F64, 6, 0, "a share"},
	[START] = {"start", NULL, PGS_ADDR, 14, 0, "an address"},
	[RAW] = {"raw", NULL, PGS_RAW64, 18, PGS_COL_HIDDEN, "a word"},
	[OK] = {"ok", NULL, PGS_BOOL, 2, PGS_COL_EXTRA, "a truth"},
	[STATE] = {"state", NULL, PGS_STR, 8, 0, "a word of ours"},
	[NAME] = {"name", NULL, PGS_BLOB, 8, 0, "bytes of somebody's"},
	{0},
};

#define ROW(n, name)                                                                               \
	(const struct pgs_val[NR_COLS])                                                            \
	{                                                                                          \
		[N] = pgs_u64(n), [SIZE] = pgs_u64((n)*1536), [RATIO] = pgs_f64((n)*0.5),          \
		[START] = pgs_u64(0x7f0000000000 + (n)*4096), [RAW] = pgs_u64(n),                  \
		[OK] = pgs_bool(true), [STATE] = pgs_str("present"),                               \
		[NAME] = pgs_blob(name, sizeof(name) - 1)                                          \
	}

static const struct pgs_val null_row[NR_COLS];

/* ---- One run into a file --------------------------------------------------------------------- */

struct run {
	FILE *f;
	struct out *o;
	char *text; /* after finish() */
};

static void start_table(struct run *r, const struct out_opts *opts, const struct pgs_col *table)
{
	static const struct out_head head = {
		.command = "test", .kernel = "6.1.0", .page_size = 4096};

	*r = (struct run){.f = tmpfile()};
	assert_non_null(r->f);
	assert_int_equal(out_open(&r->o, r->f, &head, opts), 0);
	if (PGS_FMT_BIT(opts->fmt) & PGS_FMTS_ROWS)
		assert_int_equal(out_table(r->o, table), 0);
}

static void start_cols(struct run *r, const struct out_opts *opts)
{
	start_table(r, opts, cols);
}

static void start(struct run *r, enum pgs_fmt fmt)
{
	start_cols(r, &(struct out_opts){.fmt = fmt});
}

static size_t finish(struct run *r, bool complete)
{
	off_t size;

	assert_int_equal(out_close(&r->o, complete), 0);
	assert_null(r->o);
	size = lseek(fileno(r->f), 0, SEEK_END);
	r->text = calloc(1, (size_t)size + 1);
	assert_int_equal(pread(fileno(r->f), r->text, (size_t)size, 0), size);
	fclose(r->f);
	return (size_t)size;
}

static void done(struct run *r)
{
	free(r->text);
}

#define TAIL(complete) "],\"summary\":{},\"errors\":[],\"complete\":" complete "}\n"
#define HEAD                                                                                       \
	"{\"schema\":1,\"command\":\"test\",\"version\":\"" PGSCAN_VERSION                         \
	"\",\"kernel\":\"6.1.0\",\"page_size\":4096,\"module\":false,"

/* ---- json ------------------------------------------------------------------------------------ */

static void test_json_without_rows(void **state)
{
	struct run r;

	(void)state;
	start(&r, PGS_FMT_JSON);
	finish(&r, true);
	assert_string_equal(r.text, HEAD "\"rows\":[" TAIL("true"));
	done(&r);
	start(&r, PGS_FMT_JSON);
	finish(&r, false);
	assert_string_equal(r.text, HEAD "\"rows\":[" TAIL("false"));
	done(&r);
}

static void test_json_bytes(void **state)
{
	struct run r;

	(void)state;
	start(&r, PGS_FMT_JSON);
	assert_int_equal(out_row(r.o, ROW(2, "a\"\\\n")), 0);
	assert_int_equal(out_row(r.o, null_row), 0);
	out_summary(r.o, "n", PGS_U64, pgs_u64(7));
	out_summary(r.o, "ratio", PGS_F64, pgs_f64(1));
	out_summary(r.o, "none", PGS_STR, PGS_NULL);
	out_summary(r.o, "raw", PGS_RAW64, pgs_u64(UINT64_MAX));
	out_error(r.o, 7, "no \xff", EPERM);
	out_error(r.o, 0, "gone", -ESRCH);
	out_error(r.o, 0, "late", 0);
	finish(&r, false);
	assert_string_equal(
		r.text,
		HEAD "\"rows\":[\n"
		     "{\"n\":2,\"size\":3072,\"ratio\":1.0,\"start\":\"0x7f0000002000\","
		     "\"raw\":\"0x0000000000000002\",\"state\":\"present\","
		     "\"name\":\"a\\\"\\\\\\\\\\\\x0a\"},\n"
		     "{\"n\":null,\"size\":null,\"ratio\":null,\"start\":null,\"raw\":null,"
		     "\"state\":null,\"name\":null}\n"
		     "],\"summary\":{\"n\":7,\"ratio\":1.0,\"none\":null,"
		     "\"raw\":\"0xffffffffffffffff\"},\"errors\":["
		     "{\"pid\":7,\"what\":\"no \\\\xff\",\"error\":\"EPERM\"},"
		     "{\"pid\":null,\"what\":\"gone\",\"error\":\"ESRCH\"},"
		     "{\"pid\":null,\"what\":\"late\",\"error\":null}],\"complete\":false}\n");
	done(&r);
}

static uint64_t random_u64(void)
{
	/* of every length, not only long */
	return ((uint64_t)mrand48() << 32 ^ (uint64_t)mrand48()) >> (lrand48() % 64);
}

static double random_double(void)
{
	static const double edges[] = {0,     -0.0,   0.1,     1e15, 1e16,	  1e22,	    1e-7,
				       1e300, 5e-324, 1.0 / 3, 100,  99.99999999, INFINITY, NAN};
	return lrand48() % 2 ? edges[(size_t)lrand48() % ARRAY_SIZE(edges)]
			     : (double)random_u64() / (double)(1 + random_u64() % 1000);
}

static void random_row(struct pgs_val *row, char *name, size_t size)
{
	size_t len = (size_t)lrand48() % size;

	for (size_t i = 0; i < len; i++)
		name[i] = (char)(lrand48() % 4 ? 0x20 + lrand48() % 0x5f : lrand48() & 255);
	row[N] = pgs_u64(random_u64() >> 1); /* what jansson can read back */
	row[SIZE] = pgs_u64(random_u64() >> 1);
	row[RATIO] = pgs_f64(random_double());
	row[START] = pgs_u64(random_u64());
	row[RAW] = pgs_u64(random_u64());
	row[OK] = pgs_bool(lrand48() & 1);
	row[STATE] = pgs_str("swapped");
	row[NAME] = pgs_blob(name, len);
	for (size_t i = 0; i < NR_COLS; i++)
		if (lrand48() % 10 == 0)
			row[i] = PGS_NULL;
}

static void check_value(const json_t *json, enum pgs_type type, const struct pgs_val *v)
{
	char text[4 * 64 + 1];

	assert_non_null(json);
	if (!v->set || (type == PGS_F64 && !isfinite(v->d))) {
		assert_true(json_is_null(json));
		return;
	}
	switch (type) {
	case PGS_U64:
	case PGS_BYTES:
		assert_true(json_is_integer(json));
		assert_int_equal((uint64_t)json_integer_value(json), v->u);
		return;
	case PGS_S64:
		assert_true(json_is_integer(json));
		assert_true(json_integer_value(json) == v->i);
		return;
	case PGS_F64:
		assert_true(json_is_real(json)); /* there was a point */
		assert_true(json_real_value(json) == v->d);
		return;
	case PGS_BOOL:
		assert_true(json_is_boolean(json));
		assert_int_equal(json_is_true(json), v->b);
		return;
	case PGS_ADDR:
		snprintf(text, sizeof(text), "0x%llx", (unsigned long long)v->u);
		break;
	case PGS_RAW64:
		snprintf(text, sizeof(text), "0x%016llx", (unsigned long long)v->u);
		break;
	case PGS_STR:
		snprintf(text, sizeof(text), "%s", v->s);
		break;
	case PGS_BLOB:
		text[out_escape(text, v->blob.bytes, v->blob.len)] = '\0';
		break;
	}
	assert_true(json_is_string(json));
	assert_string_equal(json_string_value(json), text);
}

/* All that the row writer can print is read back by jansson, equal in value and type. */
static void test_rows_read_back(void **state)
{
	enum { ROWS = 3000 };
	static struct pgs_val rows[ROWS][NR_COLS];
	static char names[ROWS][64];
	struct out_opts opts = {.fmt = PGS_FMT_JSON, .columns = "+ok"};
	struct run r;
	json_t *doc, *list;

	(void)state;
	srand48(1);
	start_cols(&r, &opts);
	for (size_t i = 0; i < ROWS; i++) {
		random_row(rows[i], names[i], sizeof(names[i]));
		assert_int_equal(out_row(r.o, rows[i]), 0);
	}
	finish(&r, true);
	doc = json_loads(r.text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(doc);
	list = json_object_get(doc, "rows");
	assert_int_equal(json_array_size(list), ROWS);
	for (size_t i = 0; i < ROWS; i++) {
		json_t *row = json_array_get(list, i);

		assert_int_equal(json_object_size(row), NR_COLS);
		for (size_t c = 0; c < NR_COLS; c++)
			check_value(json_object_get(row, cols[c].key), cols[c].type, &rows[i][c]);
	}
	json_decref(doc);
	done(&r);
}

/* A name of any length: the buffer grows, the row stays whole. */
static void test_long_name(void **state)
{
	enum { LEN = 1 << 20 };
	_cleanup_free_ char *name = malloc(LEN);
	struct pgs_val row[NR_COLS] = {[NAME] = pgs_blob(name, LEN)};
	struct run r;
	json_t *doc;

	(void)state;
	memset(name, '\n', LEN);
	start(&r, PGS_FMT_JSON);
	assert_int_equal(out_row(r.o, row), 0);
	finish(&r, true);
	doc = json_loads(r.text, 0, NULL);
	assert_non_null(doc);
	json_decref(doc);
	done(&r);
}

static void test_many_errors(void **state)
{
	struct run r;
	json_t *doc, *errors;

	(void)state;
	start(&r, PGS_FMT_JSON);
	assert_false(out_has_errors(r.o));
	for (int i = 1; i <= 1017; i++)
		assert_int_equal(out_error(r.o, i, "gone", ESRCH), 0);
	assert_true(out_has_errors(r.o));
	finish(&r, false);
	doc = json_loads(r.text, 0, NULL);
	errors = json_object_get(doc, "errors");
	assert_int_equal(json_array_size(errors), 1001);
	assert_string_equal(
		json_string_value(json_object_get(json_array_get(errors, 1000), "what")),
		"17 more failures are not listed");
	json_decref(doc);
	done(&r);
}

static void test_jsonl(void **state)
{
	struct run r;

	(void)state;
	start_cols(&r, &(struct out_opts){.fmt = PGS_FMT_JSONL, .columns = "n,name"});
	out_row(r.o, ROW(1, "a"));
	out_row(r.o, ROW(2, "\n"));
	out_summary(r.o, "rows", PGS_U64, pgs_u64(2));
	finish(&r, true);
	assert_string_equal(r.text,
			    "{\"n\":1,\"name\":\"a\"}\n{\"n\":2,\"name\":\"\\\\x0a\"}\n" HEAD
			    "\"summary\":{\"rows\":2},\"errors\":[],\"complete\":true}\n");
	done(&r);
}

/* ---- tsv ------------------------------------------------------------------------------------- */

static void test_tsv(void **state)
{
	struct run r;

	(void)state;
	start(&r, PGS_FMT_TSV);
	out_row(r.o, ROW(2, "a\tb\nc\\N"));
	out_row(r.o, ROW(3, ""));
	out_row(r.o, null_row);
	out_summary(r.o, "rows", PGS_U64, pgs_u64(3));
	finish(&r, true);
	assert_string_equal(r.text, "n\tsize\tratio\tstart\tstate\tname\n"
				    "2\t3072\t1.0\t0x7f0000002000\tpresent\ta\\x09b\\x0ac\\\\N\n"
				    "3\t4608\t1.5\t0x7f0000003000\tpresent\t\n"
				    "\\N\t\\N\t\\N\t\\N\t\\N\t\\N\n");
	done(&r);
	start_cols(&r, &(struct out_opts){.fmt = PGS_FMT_TSV, .no_header = true, .columns = "n"});
	out_row(r.o, ROW(2, ""));
	finish(&r, true);
	assert_string_equal(r.text, "2\n");
	done(&r);
}

/* The shortest text that reads back equal, and always a point. */
/* A signed number in every format, and its place in the order. */
static void test_signed(void **state)
{
	static const struct pgs_col signed_cols[] = {{"prio", NULL, PGS_S64, 4, 0, "a priority"},
						     {0}};
	static const int64_t numbers[] = {-2, 100, INT64_MIN, 0};
	static const struct {
		enum pgs_fmt fmt;
		const char *text;
	} cases[] = {
		{PGS_FMT_TSV, "100\n0\n-2\n-9223372036854775808\n"},
		{PGS_FMT_TABLE, "                 100\n                   0\n                  -2\n"
				"-9223372036854775808\n"},
		{PGS_FMT_JSONL, "{\"prio\":100}\n{\"prio\":0}\n{\"prio\":-2}\n"
				"{\"prio\":-9223372036854775808}\n"
				"{\"schema\":1,\"command\":\"test\",\"version\":\"" PGSCAN_VERSION
				"\",\"kernel\":\"6.1.0\",\"page_size\":4096,\"module\":false,"
				"\"summary\":{\"lowest\":-7},\"errors\":[],\"complete\":true}\n"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct out_opts opts = {.no_header = true, .fmt = cases[i].fmt};
		struct run r;

		start_table(&r, &opts, signed_cols);
		assert_int_equal(out_sort(r.o, "prio", 0), 0);
		for (size_t k = 0; k < ARRAY_SIZE(numbers); k++)
			out_row(r.o, &(struct pgs_val){.set = true, .i = numbers[k]});
		out_summary(r.o, "lowest", PGS_S64, pgs_s64(-7));
		finish(&r, true);
		assert_string_equal(r.text, cases[i].text);
		done(&r);
	}
}

static void test_floats(void **state)
{
	static const struct {
		double d;
		const char *json, *table;
	} cases[] = {
		{0, "0.0\n", "  0.00\n"},	   {0.1, "0.1\n", "  0.10\n"},
		{-5, "-5.0\n", " -5.00\n"},	   {1e22, "1.0e+22\n", "1.0e+22\n"},
		{1.7e-7, "1.7e-07\n", " 2e-07\n"}, {1.0 / 3, "0.3333333333333333\n", "  0.33\n"},
		{99.999, "99.999\n", "100.00\n"},  {INFINITY, "\\N\n", "     -\n"},
		{NAN, "\\N\n", "     -\n"},
	};
	struct out_opts opts = {.no_header = true, .columns = "ratio"};
	struct run r;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct pgs_val row[NR_COLS] = {[RATIO] = pgs_f64(cases[i].d)};

		opts.fmt = PGS_FMT_TSV;
		start_cols(&r, &opts);
		out_row(r.o, row);
		finish(&r, true);
		assert_string_equal(r.text, cases[i].json);
		done(&r);
		opts.fmt = PGS_FMT_TABLE;
		start_cols(&r, &opts);
		out_row(r.o, row);
		finish(&r, true);
		assert_string_equal(r.text, cases[i].table);
		done(&r);
	}
}

static void check_tabs_per_line(const char *text, size_t tabs)
{
	size_t found = 0;

	for (; *text; text++) {
		found += *text == '\t';
		if (*text == '\n') {
			assert_int_equal(found, tabs);
			found = 0;
		}
	}
}

static void test_tsv_fields(void **state)
{
	struct pgs_val row[NR_COLS];
	char name[64];
	struct run r;

	(void)state;
	start_cols(&r, &(struct out_opts){.fmt = PGS_FMT_TSV, .columns = "+raw,ok"});
	for (int i = 0; i < 2000; i++) {
		random_row(row, name, sizeof(name));
		out_row(r.o, row);
	}
	finish(&r, true);
	check_tabs_per_line(r.text, NR_COLS - 1);
	done(&r);
}

/* ---- table ----------------------------------------------------------------------------------- */

static void test_table(void **state)
{
	struct run r;

	(void)state;
	start(&r, PGS_FMT_TABLE);
	out_row(r.o, ROW(2, "\xc3\xa9\x1b"));
	out_row(r.o, null_row);
	out_row(r.o, ROW(12345, ""));
	out_summary(r.o, "pages", PGS_U64, pgs_u64(7));
	out_summary(r.o, "a_count_of_nothing", PGS_U64, pgs_u64(0));
	out_summary(r.o, "size_bytes", PGS_BYTES, pgs_u64(1536));
	out_summary(r.o, "why", PGS_STR, pgs_str("no reason"));
	out_summary(r.o, "visible", PGS_BOOL, pgs_bool(false));
	finish(&r, true);
	assert_string_equal(r.text, "    N   SIZE  RATIO%          START STATE    NAME\n"
				    "    2     3K    1.00 0x7f0000002000 present  \xc3\xa9\\x1b\n"
				    "    -      -       -              - -        -\n"
				    "12345  18.1M 6172.50 0x7f0003039000 present\n"
				    "\n"
				    "pages       7\n"
				    "size_bytes  1.5K\n"
				    "why         no reason\n"
				    "visible     no\n");
	done(&r);
}

static void test_table_bytes_and_no_header(void **state)
{
	struct run r;

	(void)state;
	start_cols(&r, &(struct out_opts){.fmt = PGS_FMT_TABLE,
					  .bytes = true,
					  .no_header = true,
					  .columns = "name,size"});
	out_row(r.o, ROW(2, "a"));
	out_row(r.o, ROW(2, ""));
	out_summary(r.o, "pages", PGS_U64, pgs_u64(7));
	finish(&r, true);
	assert_string_equal(r.text, "a          3072\n"
				    "           3072\n");
	done(&r);
}

/* Thousands of rows: one heading, and a column is as wide as its widest value so far, whatever the
 * later batches hold; the terminal's width means nothing off it. */
static void test_table_batches(void **state)
{
	struct run r;
	size_t lines = 0;
	char *line, *rest;

	(void)state;
	setenv("COLUMNS", "20", 1);
	start_cols(&r, &(struct out_opts){.fmt = PGS_FMT_TABLE, .columns = "name,n,state"});
	for (uint64_t i = 0; i < 2500; i++)
		out_row(r.o, i == 900 ? ROW(12345, "twelve_bytes") : ROW(i % 7, "x"));
	finish(&r, true);
	for (line = strtok_r(r.text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		assert_string_equal(strstr(line, lines++ ? "present" : "STATE"), line + 19);
	assert_int_equal(lines, 2501);
	unsetenv("COLUMNS");
	done(&r);
}

static void test_color(void **state)
{
	struct run r;

	(void)state;
	setenv("TERM", "xterm", 1);
	start(&r, PGS_FMT_TABLE);
	out_row(r.o, ROW(1, "a"));
	finish(&r, true);
	assert_null(strchr(r.text, '\033')); /* not a terminal */
	done(&r);
	start_cols(&r, &(struct out_opts){.fmt = PGS_FMT_TABLE, .color = PGS_COLOR_ALWAYS});
	out_row(r.o, ROW(1, "a"));
	finish(&r, true);
	assert_non_null(strchr(r.text, '\033'));
	done(&r);
}

/* A terminal of 40 columns: foreign text is cut, with a mark, where a row would not fit. */
static void test_terminal(void **state)
{
	struct winsize size = {.ws_row = 24, .ws_col = 40};
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	struct out_opts opts = {
		.fmt = PGS_FMT_TABLE, .color = PGS_COLOR_NEVER, .columns = "name,n,state"};
	char text[1024] = "";
	struct out *o;
	FILE *f;

	(void)state;
	assert_int_equal(grantpt(master) | unlockpt(master), 0);
	f = fopen(ptsname(master), "w");
	assert_int_equal(ioctl(fileno(f), TIOCSWINSZ, &size), 0);
	assert_int_equal(out_open(&o, f, &(struct out_head){.command = "t"}, &opts), 0);
	assert_int_equal(out_table(o, cols), 0);
	out_row(o, ROW(1, "/a/path/that/takes/more/than/forty/columns"));
	out_row(o, ROW(2, "\xe4\xb8\xad\xe6\x96\x87")); /* two columns a character */
	assert_int_equal(out_close(&o, true), 0);
	assert_true(read(master, text, sizeof(text) - 1) > 0);
	assert_string_equal(text,
			    "NAME                          N STATE\r\n"
			    "/a/path/that/takes/more/t…    1 present\r\n"
			    "\xe4\xb8\xad\xe6\x96\x87                          2 present\r\n");
	fclose(f);
	close(master);
}

/* ---- columns --------------------------------------------------------------------------------- */

static void check_columns(enum pgs_fmt fmt, const char *list, const char *want)
{
	struct run r;

	start_cols(&r, &(struct out_opts){.fmt = fmt, .columns = list});
	out_row(r.o, null_row);
	finish(&r, true);
	assert_non_null(strstr(r.text, want));
	done(&r);
}

static void test_columns(void **state)
{
	struct out_opts bad = {.fmt = PGS_FMT_TSV, .columns = "n,nn"};
	struct run r;

	(void)state;
	check_columns(PGS_FMT_TSV, NULL, "n\tsize\tratio\tstart\tstate\tname\n");
	check_columns(PGS_FMT_TSV, "+raw,ok,raw", "n\tsize\tratio\tstart\tstate\tname\traw\tok\n");
	check_columns(PGS_FMT_TSV, "name,n,name", "name\tn\n");
	check_columns(PGS_FMT_JSON, "ok", "[\n{\"ok\":null}\n]");

	for (size_t i = 0; i < 3; i++) {
		static const char *const lists[] = {"n,nn", "", "+n,"};

		start(&r, PGS_FMT_TSV);
		out_close(&r.o, false);
		bad.columns = lists[i];
		assert_int_equal(out_open(&r.o, r.f, &(struct out_head){.command = "t"}, &bad), 0);
		assert_int_equal(out_table(r.o, cols), -EINVAL);
		finish(&r, false);
		assert_string_equal(r.text, "");
		done(&r);
	}
}

static void test_col_wanted(void **state)
{
	struct run r;

	(void)state;
	start_cols(&r, &(struct out_opts){.fmt = PGS_FMT_TABLE, .columns = "raw,n"});
	assert_true(out_col_wanted(r.o, N));
	assert_true(out_col_wanted(r.o, RAW));
	assert_false(out_col_wanted(r.o, NAME));
	finish(&r, false);
	done(&r);
}

/* ---- sort ------------------------------------------------------------------------------------ */

static const char *sorted(struct run *r, const char *key, uint64_t top)
{
	static const struct {
		int n; /* -1: null */
		const char *name;
	} rows[] = {{3, "c"}, {1, "b"}, {-1, "z"}, {3, "a"}, {2, "aa"}, {1, "d"}};

	start_cols(r,
		   &(struct out_opts){.fmt = PGS_FMT_TSV, .no_header = true, .columns = "n,name"});
	assert_int_equal(out_sort(r->o, key, top), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char name[8];
		struct pgs_val row[NR_COLS] = {
			[N] = rows[i].n < 0 ? PGS_NULL : pgs_u64((uint64_t)rows[i].n),
			[NAME] = pgs_blob(name, strlen(rows[i].name)),
		};

		strcpy(name, rows[i].name); /* which does not outlive the call */
		assert_int_equal(out_row(r->o, row), 0);
		memset(name, '?', sizeof(name));
	}
	finish(r, true);
	return r->text;
}

static void test_sort(void **state)
{
	static const struct {
		const char *key;
		uint64_t top;
		const char *want;
	} cases[] = {
		{NULL, 0, "3\tc\n1\tb\n\\N\tz\n3\ta\n2\taa\n1\td\n"},
		{NULL, 2, "3\tc\n1\tb\n"},
		{"n", 0, "3\tc\n3\ta\n2\taa\n1\tb\n1\td\n\\N\tz\n"},
		{"n", 1, "3\tc\n"},
		{"n", 4, "3\tc\n3\ta\n2\taa\n1\tb\n"},
		{"n", 99, "3\tc\n3\ta\n2\taa\n1\tb\n1\td\n\\N\tz\n"},
		{"name", 3, "3\ta\n2\taa\n1\tb\n"},
	};
	struct run r;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_string_equal(sorted(&r, cases[i].key, cases[i].top), cases[i].want);
		done(&r);
	}
	start(&r, PGS_FMT_TSV);
	assert_int_equal(out_sort(r.o, "nn", 0), -EINVAL);
	finish(&r, false);
	done(&r);
}

/* The best N of many are the first N of all. */
static void test_top_of_many(void **state)
{
	enum { ROWS = 5000, TOP = 37 };
	struct run all = {0}, top = {0};
	size_t len;

	(void)state;
	for (int pass = 0; pass < 2; pass++) {
		struct run *r = pass ? &top : &all;

		srand48(3);
		start_cols(r, &(struct out_opts){
				      .fmt = PGS_FMT_TSV, .no_header = true, .columns = "n,start"});
		assert_int_equal(out_sort(r->o, "n", pass ? TOP : 0), 0);
		for (uint64_t i = 0; i < ROWS; i++)
			out_row(r->o, ROW((uint64_t)lrand48() % 500, ""));
		finish(r, true);
	}
	len = strlen(top.text);
	assert_memory_equal(all.text, top.text, len);
	for (size_t i = 0, lines = 0; i < len; i++)
		assert_true((lines += top.text[i] == '\n') <= TOP);
	done(&all);
	done(&top);
}

/* ---- hex and raw ----------------------------------------------------------------------------- */

/* What hexdump -C prints of these words. */
static char *real_hexdump(const uint64_t *words, size_t count)
{
	_cleanup_fclose_ FILE *f = tmpfile();
	char command[64], *text = calloc(1, 1 << 20);
	FILE *p;

	fwrite(words, sizeof(*words), count, f);
	fflush(f);
	snprintf(command, sizeof(command), "hexdump -C </proc/%d/fd/%d", getpid(), fileno(f));
	p = popen(command, "r");
	assert_true(fread(text, 1, 1 << 20, p) < 1 << 20);
	assert_int_equal(pclose(p), 0);
	return text;
}

/* Words from a small set, so that lines repeat, given in pieces of all sizes by both functions. */
static void check_hexdump(size_t count)
{
	static uint64_t words[4096];
	_cleanup_free_ char *want = NULL;
	struct run r;
	size_t n;

	start(&r, PGS_FMT_HEX);
	for (size_t i = 0; i < count; i += n) {
		uint64_t word = lrand48() % 4 ? (uint64_t)(lrand48() % 2) : random_u64();

		n = 1 + (size_t)(lrand48() % 3 ? lrand48() % 4 : lrand48() % 40);
		if (n > count - i)
			n = count - i;
		for (size_t k = 0; k < n; k++)
			words[i + k] = word;
		if (lrand48() % 2)
			assert_int_equal(out_fill(r.o, word, n), 0);
		else
			assert_int_equal(out_words(r.o, words + i, n), 0);
	}
	finish(&r, true);
	want = real_hexdump(words, count);
	assert_string_equal(r.text, want);
	done(&r);
}

static void test_hexdump(void **state)
{
	(void)state;
	srand48(2);
	for (size_t count = 0; count < 60; count++)
		check_hexdump(count % 20);
	for (size_t count = 100; count < 4096; count += 373)
		check_hexdump(count);
}

/* Seen with hexdump 2.38 on a sparse file: past 4 GiB offsets take the digits they need. */
static void test_hexdump_far(void **state)
{
	static const uint64_t one = 1;
	struct run r;

	(void)state;
	start(&r, PGS_FMT_HEX);
	assert_int_equal(out_fill(r.o, 0, UINT64_C(1) << 29), 0);
	assert_int_equal(out_words(r.o, &one, 1), 0);
	assert_int_equal(out_fill(r.o, 0, (UINT64_C(1) << 45) - 1), 0);
	finish(&r, true);
	assert_string_equal(
		r.text,
		"00000000  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|\n"
		"*\n"
		"100000000  01 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|\n"
		"100000010  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|\n"
		"*\n"
		"1000100000000\n");
	done(&r);
}

static void test_raw(void **state)
{
	static const uint64_t words[] = {1, 2, UINT64_MAX};
	struct run r;

	(void)state;
	start(&r, PGS_FMT_RAW);
	out_words(r.o, words, 3);
	out_fill(r.o, 5, 100000);
	assert_int_equal(finish(&r, true), 8 * 100003);
	assert_memory_equal(r.text, words, sizeof(words));
	for (size_t i = 3; i < 100003; i++)
		assert_int_equal(((const uint64_t *)r.text)[i], 5);
	done(&r);
}

/* ---- how a run ends -------------------------------------------------------------------------- */

/* A run that fails before its first row prints nothing, not even a heading. */
static void test_nothing_printed(void **state)
{
	static const enum pgs_fmt fmts[] = {PGS_FMT_TABLE, PGS_FMT_TSV, PGS_FMT_HEX, PGS_FMT_RAW};
	struct run r;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(fmts); i++) {
		start(&r, fmts[i]);
		assert_int_equal(finish(&r, false), 0);
		done(&r);
	}
}

static int rows_until_error(struct out *o, uint64_t max)
{
	int err = 0;

	for (uint64_t i = 0; !err && i < max; i++)
		err = out_row(o, ROW(i, "/usr/lib/x86_64-linux-gnu/libc.so.6"));
	return err;
}

static void open_on(struct out **ret_out, FILE *f, enum pgs_fmt fmt)
{
	assert_int_equal(out_open(ret_out, f, &(struct out_head){.command = "t"},
				  &(struct out_opts){.fmt = fmt}),
			 0);
	assert_int_equal(out_table(*ret_out, cols), 0);
}

static void test_full_disk(void **state)
{
	_cleanup_fclose_ FILE *full = fopen("/dev/full", "w");
	struct out *o;

	(void)state;
	for (enum pgs_fmt fmt = PGS_FMT_TABLE; fmt <= PGS_FMT_TSV; fmt++) {
		open_on(&o, full, fmt);
		assert_int_equal(rows_until_error(o, 100000), -ENOSPC);
		assert_int_equal(out_row(o, null_row), -ENOSPC); /* and stays so */
		assert_int_equal(out_close(&o, true), -ENOSPC);
		open_on(&o, full, fmt);
		out_row(o, null_row);
		assert_int_equal(out_finish(&o, PGS_EXIT_OK), PGS_EXIT_FAILED);
	}
}

/* A reader that left gets no more, the scan ends at once, and it is no failure. */
static void test_reader_gone(void **state)
{
	struct out *o;
	int fds[2];
	FILE *f;

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(fds), 0);
	close(fds[0]);
	f = fdopen(fds[1], "w");
	open_on(&o, f, PGS_FMT_JSONL);
	assert_int_equal(rows_until_error(o, 2000), -EPIPE);
	assert_int_equal(out_finish(&o, PGS_EXIT_INCOMPLETE), PGS_EXIT_OK);
	open_on(&o, f, PGS_FMT_JSONL);
	assert_int_equal(rows_until_error(o, 2000), -EPIPE);
	assert_int_equal(out_finish(&o, PGS_EXIT_PERMISSION), PGS_EXIT_PERMISSION);
	fclose(f);
}

static void check_finish(int status, bool error, int interrupted, int want, const char *complete)
{
	struct run r;

	start(&r, PGS_FMT_JSON);
	if (error)
		out_error(r.o, 1, "gone", ESRCH);
	cmd_interrupted = interrupted;
	assert_int_equal(out_finish(&r.o, status), want);
	cmd_interrupted = 0;
	assert_null(r.o);
	finish(&r, true); /* reads what is there */
	assert_non_null(strstr(r.text, complete));
	done(&r);
}

static void test_finish(void **state)
{
	(void)state;
	check_finish(PGS_EXIT_OK, false, 0, PGS_EXIT_OK, "\"complete\":true}\n");
	check_finish(PGS_EXIT_OK, true, 0, PGS_EXIT_INCOMPLETE, "\"complete\":false}\n");
	check_finish(PGS_EXIT_OK, false, SIGINT, PGS_EXIT_INCOMPLETE, "\"complete\":false}\n");
	check_finish(PGS_EXIT_PERMISSION, true, 0, PGS_EXIT_PERMISSION, "\"complete\":false}\n");
}

/* out_flush() puts the rows so far into the reader's hands, in every format. */
static void test_flush(void **state)
{
	(void)state;
	for (enum pgs_fmt fmt = PGS_FMT_TABLE; fmt <= PGS_FMT_TSV; fmt++) {
		off_t size;
		struct run r;

		start(&r, fmt);
		out_row(r.o, ROW(1, "a"));
		assert_int_equal(out_flush(r.o), 0);
		size = lseek(fileno(r.f), 0, SEEK_END);
		assert_true(size > 20);
		assert_int_equal(out_flush(r.o), 0);
		assert_int_equal(lseek(fileno(r.f), 0, SEEK_END), size);
		finish(&r, true);
		done(&r);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json_without_rows),
		cmocka_unit_test(test_json_bytes),
		cmocka_unit_test(test_rows_read_back),
		cmocka_unit_test(test_long_name),
		cmocka_unit_test(test_many_errors),
		cmocka_unit_test(test_jsonl),
		cmocka_unit_test(test_tsv),
		cmocka_unit_test(test_signed),
		cmocka_unit_test(test_floats),
		cmocka_unit_test(test_tsv_fields),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_table_bytes_and_no_header),
		cmocka_unit_test(test_table_batches),
		cmocka_unit_test(test_color),
		cmocka_unit_test(test_terminal),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_col_wanted),
		cmocka_unit_test(test_sort),
		cmocka_unit_test(test_top_of_many),
		cmocka_unit_test(test_hexdump),
		cmocka_unit_test(test_hexdump_far),
		cmocka_unit_test(test_raw),
		cmocka_unit_test(test_nothing_printed),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_reader_gone),
		cmocka_unit_test(test_finish),
		cmocka_unit_test(test_flush),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests_name("out", tests, NULL, NULL);
}
