/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * out: what a command says on stdout. A command declares its columns once and emits rows; it never
 * asks which format is on. Rows stream: no back end keeps more than a screenful of them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum pgs_fmt {
	PGS_FMT_TABLE,
	PGS_FMT_JSON,
	PGS_FMT_JSONL,
	PGS_FMT_TSV,
	PGS_FMT_HEX,
	PGS_FMT_RAW,
	PGS_FMT_OPENMETRICS
};

#define PGS_FMT_BIT(fmt) (1u << (fmt))
#define PGS_FMTS_ROWS                                                                              \
	(PGS_FMT_BIT(PGS_FMT_TABLE) | PGS_FMT_BIT(PGS_FMT_JSON) | PGS_FMT_BIT(PGS_FMT_JSONL) |     \
	 PGS_FMT_BIT(PGS_FMT_TSV))

/* One type per key, for ever: the type decides how each back end prints the value. */
enum pgs_type {
	PGS_STR,   /* text that we made: printed as it is */
	PGS_BLOB,  /* bytes of somebody else (names, paths): escaped, see out_escape.h */
	PGS_U64,   /* a count or id: a number */
	PGS_S64,   /* a number that may be negative */
	PGS_BYTES, /* bytes: a number; 1.5M in a table unless --bytes */
	PGS_F64,   /* a number with a decimal point */
	PGS_ADDR,  /* an address: "0x7f…" */
	PGS_RAW64, /* a raw 64-bit word: "0x" and 16 digits */
	PGS_BOOL,  /* true/false; 1/0 in a table or TSV */
};

struct pgs_col {
	const char
		*key; /* snake_case; the JSON key and the word of --columns; NULL ends the list */
	const char *head; /* table heading; NULL: the key in upper case */
	enum pgs_type type;
	int width;	    /* least width in a table */
	unsigned int flags; /* PGS_COL_* */
	const char *help;
};

#define PGS_COL_HIDDEN (1u << 0) /* not in the default table; JSON has every column */
#define PGS_COL_EXTRA  (1u << 1) /* only on request: not in the default table nor in JSON */
#define PGS_COL_LEFT   (1u << 2) /* a number that is aligned to the left */

struct pgs_blob {
	const char *bytes;
	size_t len;
};

/* A value of the column's type; all zero is null. */
struct pgs_val {
	bool set;
	union {
		const char *s; /* PGS_STR */
		uint64_t u;    /* PGS_U64 PGS_BYTES PGS_ADDR PGS_RAW64 */
		int64_t i;     /* PGS_S64 */
		double d;      /* PGS_F64 */
		bool b;	       /* PGS_BOOL */
		struct pgs_blob blob;
	};
};

#define PGS_NULL ((struct pgs_val){.set = false})
static inline struct pgs_val pgs_str(const char *s)
{
	return (struct pgs_val){.set = s != NULL, .s = s};
}
static inline struct pgs_val pgs_u64(uint64_t u)
{
	return (struct pgs_val){.set = true, .u = u};
}
static inline struct pgs_val pgs_s64(int64_t i)
{
	return (struct pgs_val){.set = true, .i = i};
}
static inline struct pgs_val pgs_f64(double d)
{
	return (struct pgs_val){.set = true, .d = d};
}
static inline struct pgs_val pgs_bool(bool b)
{
	return (struct pgs_val){.set = true, .b = b};
}
static inline struct pgs_val pgs_blob(const char *bytes, size_t len)
{
	return (struct pgs_val){.set = true, .blob = {bytes, len}};
}

enum pgs_color { PGS_COLOR_AUTO, PGS_COLOR_ALWAYS, PGS_COLOR_NEVER };

/* How to print; filled by opt_output.c from the command line. */
struct out_opts {
	enum pgs_fmt fmt;
	bool bytes; /* --bytes: no 1.5M in tables */
	bool no_header;
	enum pgs_color color;
	const char *columns; /* --columns, NULL for the default set */
};

/* out_color - whether to colour what is written to @fd: @color decides; left to us, a terminal that
 * is not dumb and a user who did not say NO_COLOR. */
bool out_color(int fd, enum pgs_color color);
/* out_width - columns of the terminal that @fd is; 0: it is none. */
size_t out_width(int fd);

struct out;

/* The header of the JSON document, the same for all commands (CLI.md). */
struct out_head {
	const char *command;
	const char *kernel; /* its release; NULL: that of the running one */
	uint32_t page_size;
	bool module;
};

/*
 * out_open - start the results on @f, which the caller keeps and does not use until out_close().
 * 0 or -errno; *@ret_out is freed by out_close(). Nothing is written before the first row or
 * out_close(), so that a command that fails at once prints no heading. The strings of @head and
 * @opts are not copied.
 */
int out_open(struct out **ret_out, FILE *f, const struct out_head *head,
	     const struct out_opts *opts) __attribute__((nonnull, warn_unused_result));

/*
 * out_table - the columns of the rows that follow; once, before the first row. @vals of out_row()
 * are in the order of @cols, whatever --columns chose. Returns 0, or -EINVAL for a column list of
 * the user's that names no column (a message was printed: the status is PGS_EXIT_USAGE).
 */
int out_table(struct out *o, const struct pgs_col *cols) __attribute__((nonnull));
/* out_col_wanted - whether column @index of the table will be printed: spares costly values. */
bool out_col_wanted(const struct out *o, size_t index) __attribute__((nonnull));

/*
 * out_sort - after out_table(): rows come out at out_close() ordered by column @key, numbers from
 * the largest down, addresses and text upwards, null last, equal rows as they came; the first @top
 * of them, 0: all. With @key NULL the first @top rows as they come. For commands whose rows are
 * bounded: it keeps them all, or @top of them. Returns 0, or -EINVAL for an unknown key (a message
 * was printed: the status is PGS_EXIT_USAGE).
 */
int out_sort(struct out *o, const char *key, uint64_t top) __attribute__((nonnull(1)));

/*
 * out_row - one row, whose values need not outlive the call. 0 or -errno, the same for ever after
 * the first failure: the caller stops scanning and closes. -EPIPE: the reader is gone.
 */
int out_row(struct out *o, const struct pgs_val *vals) __attribute__((nonnull));

/* hex and raw only: 64-bit words as in memory; @count times the same word. As out_row(). */
int out_words(struct out *o, const uint64_t *words, size_t count) __attribute__((nonnull));
int out_fill(struct out *o, uint64_t word, uint64_t count) __attribute__((nonnull));

/* out_text - table and openmetrics alone, instead of columns and rows: lines that the command laid
 * out itself. As out_row(). */
int out_text(struct out *o, const char *text, size_t len) __attribute__((nonnull));

/* out_flush - write what is still in a buffer: where the next row is a while away. As out_row(). */
int out_flush(struct out *o) __attribute__((nonnull));

/*
 * out_summary - one key of the summary, in the order of the calls; printed by out_close(). Strings
 * are copied. 0 or -ENOMEM.
 */
int out_summary(struct out *o, const char *key, enum pgs_type type, struct pgs_val v)
	__attribute__((nonnull));

/*
 * out_error - one failure that did not end the run: goes to "errors". @pid 0: none. @err: an errno,
 * of either sign, 0: none. @what may quote foreign bytes, it is copied and escaped here. The
 * message on stderr is the caller's. 0 or -ENOMEM.
 */
int out_error(struct out *o, int pid, const char *what, int err) __attribute__((nonnull));
/* out_has_errors - whether out_error() was called. */
bool out_has_errors(const struct out *o) __attribute__((nonnull));
/* out_failed - whether a write failed: out_finish() will say so, and nobody else needs to. */
bool out_failed(const struct out *o) __attribute__((nonnull));

/*
 * out_close - end the document, flush, free. Returns 0 or the first -errno of a failed write
 * (-EPIPE: the reader is gone). Takes NULL inside. A run that is not @complete and has no row
 * prints nothing but its JSON document.
 */
int out_close(struct out **o, bool complete) __attribute__((nonnull));

/*
 * out_finish - out_close() for a command about to return @status; returns the status to exit with.
 * Complete is what has status PGS_EXIT_OK, no errors and no interruption, otherwise
 * PGS_EXIT_INCOMPLETE takes the place of PGS_EXIT_OK. A failed write is reported and is
 * PGS_EXIT_FAILED; a reader that is gone is neither: it got what it wanted.
 */
int out_finish(struct out **o, int status) __attribute__((nonnull));

/* A back end: one const table each, in out_table.c, out_json.c, out_tsv.c, out_hex.c. NULL where
 * there is nothing to do or, for row, words and fill, where the format has none. */
struct out_ops {
	bool always; /* a document even for a run that failed before its first row */
	int (*begin)(struct out *o);
	int (*row)(struct out *o, const struct pgs_val *vals);
	int (*words)(struct out *o, const uint64_t *words, size_t count);
	int (*fill)(struct out *o, uint64_t word, uint64_t count);
	int (*flush)(struct out *o);
	int (*end)(struct out *o, bool complete);
	void (*free)(struct out *o);
};
