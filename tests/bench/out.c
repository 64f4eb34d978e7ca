// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench out: what printing costs, without the reading. A line a format: rows or words a second into
 * /dev/null. The row has the columns of `dump --by=page` with --flags.
 *
 *	out [FORMAT]
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "out.h"

static const struct pgs_col cols[] = {
	{"pid", NULL, PGS_U64, 0, 0, ""},
	{"start", NULL, PGS_ADDR, 0, 0, ""},
	{"end", NULL, PGS_ADDR, 0, 0, ""},
	{"pages", NULL, PGS_U64, 0, 0, ""},
	{"state", NULL, PGS_STR, 0, 0, ""},
	{"pfn", NULL, PGS_ADDR, 0, 0, ""},
	{"swap_type", NULL, PGS_U64, 0, 0, ""},
	{"swap_offset", NULL, PGS_U64, 0, 0, ""},
	{"swap_device", NULL, PGS_BLOB, 0, 0, ""},
	{"file", NULL, PGS_BOOL, 0, 0, ""},
	{"soft_dirty", NULL, PGS_BOOL, 0, 0, ""},
	{"exclusive", NULL, PGS_BOOL, 0, 0, ""},
	{"uffd_wp", NULL, PGS_BOOL, 0, 0, ""},
	{"guard", NULL, PGS_BOOL, 0, 0, ""},
	{"huge", NULL, PGS_BOOL, 0, 0, ""},
	{"zero", NULL, PGS_BOOL, 0, 0, ""},
	{"source", NULL, PGS_STR, 0, 0, ""},
	{"vma", NULL, PGS_BLOB, 0, 0, ""},
	{"perms", NULL, PGS_STR, 0, 0, ""},
	{"entry", NULL, PGS_RAW64, 0, 0, ""},
	{0},
};

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int put_rows(struct out *o, uint64_t count)
{
	static const char name[] = "/usr/lib/x86_64-linux-gnu/libc.so.6";
	int err = out_table(o, cols);

	for (uint64_t i = 0; !err && i < count; i++) {
		uint64_t start = 0x7f0000000000 + i * 4096;
		struct pgs_val row[] = {
			pgs_u64(1234567),
			pgs_u64(start),
			pgs_u64(start + 4096),
			pgs_u64(1),
			pgs_str("present"),
			pgs_u64(0x123456 + i),
			PGS_NULL,
			PGS_NULL,
			PGS_NULL,
			pgs_bool(true),
			pgs_bool(false),
			pgs_bool(true),
			pgs_bool(false),
			pgs_bool(false),
			pgs_bool(false),
			pgs_bool(false),
			pgs_str("pagemap"),
			pgs_blob(name, sizeof(name) - 1),
			pgs_str("r-xp"),
			pgs_u64(0x8100000000123456 + i),
		};

		err = out_row(o, row);
	}
	return err;
}

static int put_words(struct out *o, uint64_t count)
{
	uint64_t words[8192];
	int err = 0;

	for (uint64_t i = 0; !err && i < count; i += 8192) {
		for (uint64_t k = 0; k < 8192; k++)
			words[k] = 0x8100000000000000 | (i + k);
		err = out_words(o, words, 8192);
	}
	return err;
}

static int run(const char *name, enum pgs_fmt fmt, uint64_t count)
{
	FILE *null = fopen("/dev/null", "w");
	struct out_opts opts = {.fmt = fmt};
	struct out *o;
	double start;
	int err;

	if (!null || out_open(&o, null, &(struct out_head){.command = "bench"}, &opts))
		return 1;
	start = now_s();
	err = fmt == PGS_FMT_HEX || fmt == PGS_FMT_RAW ? put_words(o, count) : put_rows(o, count);
	if (out_close(&o, true) || err)
		return 1;
	printf("%-6s %8.3f M/s\n", name, (double)count / (now_s() - start) / 1e6);
	fclose(null);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		enum pgs_fmt fmt;
		uint64_t count;
	} cases[] = {
		{"table", PGS_FMT_TABLE, 100000},  {"json", PGS_FMT_JSON, 1 << 20},
		{"jsonl", PGS_FMT_JSONL, 1 << 20}, {"tsv", PGS_FMT_TSV, 1 << 20},
		{"hex", PGS_FMT_HEX, 4 << 20},	   {"raw", PGS_FMT_RAW, 16 << 20},
	};
	int failed = 0;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (argc < 2 || !strcmp(argv[1], cases[i].name))
			failed |= run(cases[i].name, cases[i].fmt, cases[i].count);
	return failed;
}
