// SPDX-License-Identifier: GPL-2.0-only
/* Type information made by hand, cut short at every byte, and with bytes turned at random. */
#include "../../src/btf.h"

#include <errno.h>
#include <linux/btf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define INFO(kind, nr) ((uint32_t)(kind) << 24 | (nr))
#define KFLAG	       (UINT32_C(1) << 31)

struct blob {
	unsigned char bytes[2048];
	uint32_t types[256], nr;
	char strings[512];
	uint32_t strings_len;
	size_t len;
};

static uint32_t str(struct blob *b, const char *s)
{
	uint32_t at = b->strings_len;

	strcpy(b->strings + at, s);
	b->strings_len += (uint32_t)strlen(s) + 1;
	return at;
}

static void put(struct blob *b, uint32_t word)
{
	b->types[b->nr++] = word;
}

static void type(struct blob *b, const char *name, uint32_t info, uint32_t size)
{
	put(b, *name ? str(b, name) : 0);
	put(b, info);
	put(b, size);
}

static void member(struct blob *b, const char *name, uint32_t type_id, uint32_t bits)
{
	put(b, *name ? str(b, name) : 0);
	put(b, type_id);
	put(b, bits);
}

static void finish(struct blob *b)
{
	struct btf_header h = {.magic = BTF_MAGIC,
			       .version = BTF_VERSION,
			       .hdr_len = sizeof(h),
			       .type_len = b->nr * 4,
			       .str_off = b->nr * 4,
			       .str_len = b->strings_len};

	memcpy(b->bytes, &h, sizeof(h));
	memcpy(b->bytes + sizeof(h), b->types, b->nr * 4);
	memcpy(b->bytes + sizeof(h) + b->nr * 4, b->strings, b->strings_len);
	b->len = sizeof(h) + b->nr * 4 + b->strings_len;
}

/* What the C beside each type says. */
static struct blob *sample(void)
{
	struct blob *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	b->strings_len = 1;
	type(b, "long", INFO(BTF_KIND_INT, 0), 8); /* 1 */
	put(b, 64);
	type(b, "int", INFO(BTF_KIND_INT, 0), 4); /* 2 */
	put(b, 32);
	type(b, "", INFO(BTF_KIND_ARRAY, 0), 0); /* 3: long [64] */
	put(b, 1);
	put(b, 2);
	put(b, 64);
	type(b, "", INFO(BTF_KIND_PTR, 0), 6);	  /* 4: struct node * */
	type(b, "", INFO(BTF_KIND_UNION, 2), 16); /* 5: union { long list; struct pair rcu; } */
	member(b, "list", 1, 0);
	member(b, "rcu", 8, 0);
	type(b, "node", INFO(BTF_KIND_STRUCT, 4), 552); /* 6 */
	member(b, "count", 2, 0);
	member(b, "next", 4, 64);
	member(b, "", 5, 128);
	member(b, "slots", 7, 256);
	type(b, "slots_t", INFO(BTF_KIND_TYPEDEF, 0), 3); /* 7: typedef long slots_t[64]; */
	type(b, "pair", INFO(BTF_KIND_STRUCT, 2), 16);	  /* 8 */
	member(b, "a", 1, 0);
	member(b, "b", 10, 64);
	type(b, "", INFO(BTF_KIND_CONST, 0), 1);	      /* 9 */
	type(b, "", INFO(BTF_KIND_VOLATILE, 0), 9);	      /* 10: volatile const long */
	type(b, "bits", INFO(BTF_KIND_STRUCT, 2) | KFLAG, 8); /* 11 */
	member(b, "two", 2, 2u << 24 | 0);		      /* int two : 2; */
	member(b, "word", 2, 32);			      /* int word; */
	type(b, "flags", INFO(BTF_KIND_ENUM, 2), 4);	      /* 12 */
	put(b, str(b, "SWP_USED"));
	put(b, 1);
	put(b, str(b, "SWP_WRITEOK"));
	put(b, 2);
	type(b, "knot", INFO(BTF_KIND_STRUCT, 2), 8); /* 13: inside itself, twice */
	member(b, "", 13, 0);
	member(b, "", 13, 0);
	type(b, "void_t", INFO(BTF_KIND_TYPEDEF, 0), 0); /* 14 */
	type(b, "odd", INFO(BTF_KIND_STRUCT, 1), 8);	 /* 15 */
	member(b, "nothing", 14, 0);
	type(b, "node", INFO(BTF_KIND_STRUCT, 1), 4); /* 16: of that name too */
	member(b, "other", 2, 0);
	finish(b);
	return b;
}

static void test_members(void **state)
{
	static const struct {
		const char *type, *path;
		int r;
		struct pgs_btf_member member;
	} rows[] = {
		{"node", "count", 0, {0, 4, 0}},   {"node", "next", 0, {8, 8, 0}},
		{"node", "list", 0, {16, 8, 0}},   {"node", "rcu", 0, {16, 16, 0}},
		{"node", "rcu.b", 0, {24, 8, 0}},  {"node", "slots", 0, {32, 512, 64}},
		{"node", "other", -ENOENT, {0}},   {"node", "coun", -ENOENT, {0}},
		{"node", "rcu.b.c", -ENOENT, {0}}, {"nodes", "count", -ENOENT, {0}},
		{"pair", "b", 0, {8, 8, 0}},	   {"bits", "two", -EINVAL, {0}},
		{"bits", "word", 0, {4, 4, 0}},	   {"knot", "x", -ENOENT, {0}},
		{"odd", "nothing", -EINVAL, {0}},
	};
	struct blob *b = sample();
	struct pgs_btf *btf;

	(void)state;
	assert_int_equal(pgs_btf_new(b->bytes, b->len, &btf), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pgs_btf_member m = {0};

		assert_int_equal(pgs_btf_member(btf, rows[i].type, rows[i].path, &m), rows[i].r);
		assert_memory_equal(&m, &rows[i].member, sizeof(m));
	}
	pgs_btf_free(btf);
	free(b);
}

static void test_sizes(void **state)
{
	struct blob *b = sample();
	struct pgs_btf *btf;
	uint32_t value;

	(void)state;
	assert_int_equal(pgs_btf_new(b->bytes, b->len, &btf), 0);
	assert_int_equal(pgs_btf_sizeof(btf, "node", &value), 0);
	assert_int_equal(value, 552);
	assert_int_equal(pgs_btf_sizeof(btf, "long", &value), -ENOENT);
	assert_int_equal(pgs_btf_error(btf), 0);
	pgs_btf_free(btf);
	free(b);
}

/* Ask all there is to ask; the answers do not matter. The copy has no byte too many. */
static int ask(const unsigned char *bytes, size_t len)
{
	unsigned char *copy = malloc(len ? len : 1);
	struct pgs_btf_member m;
	struct pgs_btf *btf;
	uint32_t value;
	int r;

	assert_non_null(copy);
	memcpy(copy, bytes, len);
	r = pgs_btf_new(copy, len, &btf);
	if (!r) {
		(void)!pgs_btf_member(btf, "node", "rcu.b", &m);
		(void)!pgs_btf_member(btf, "node", "slots", &m);
		(void)!pgs_btf_member(btf, "bits", "word", &m);
		(void)!pgs_btf_sizeof(btf, "pair", &value);
		(void)!pgs_btf_sizeof(btf, "none", &value); /* all of it is looked at */
		pgs_btf_free(btf);
	}
	free(copy);
	return r;
}

static void test_cut_short(void **state)
{
	struct blob *b = sample();

	(void)state;
	for (size_t len = 0; len < b->len; len++)
		assert_int_equal(ask(b->bytes, len), -EBADMSG);
	assert_int_equal(ask(b->bytes, b->len), 0);
	free(b);
}

/* A knot of anonymous structures would be walked for ever without a bound. */
static void test_bytes_turned(void **state)
{
	const char *runs = getenv("PGSCAN_FUZZ_RUNS");
	unsigned long nr = runs ? strtoul(runs, NULL, 10) : 1000000;
	struct blob *b = sample();
	unsigned int seed = 1;

	(void)state;
	for (unsigned long i = 0; i < nr; i++) {
		unsigned char bytes[sizeof(b->bytes)];

		memcpy(bytes, b->bytes, b->len);
		for (int k = rand_r(&seed) % 4; k >= 0; k--)
			bytes[(unsigned int)rand_r(&seed) % b->len] = (unsigned char)rand_r(&seed);
		ask(bytes, b->len);
	}
	free(b);
}

/* ---- a file ---------------------------------------------------------------------------------- */

#define MANY 20000u

/* struct early { int a; }, many types, that of number @bad of a kind that is not known, struct late
 * { int gap, a; }. */
static char *write_big(const char *dir, uint32_t bad)
{
	const uint32_t early[] = {0, INFO(BTF_KIND_INT, 0),    4, 32, /* struct early */
				  1, INFO(BTF_KIND_STRUCT, 1), 4, 7,  1, 0};
	const uint32_t late[] = {99000, INFO(BTF_KIND_STRUCT, 1), 8, 7, 1, 32};
	const uint32_t len = sizeof(early) + MANY * 16 + sizeof(late);
	const struct btf_header h = {.magic = BTF_MAGIC,
				     .version = BTF_VERSION,
				     .hdr_len = sizeof(h),
				     .type_len = len,
				     .str_off = len,
				     .str_len = 100000};
	static char strings[100000];
	char *path;
	FILE *f;

	assert_true(asprintf(&path, "%s/sys/kernel/btf/vmlinux", dir) > 0);
	f = fopen(path, "w");
	assert_non_null(f);
	memcpy(strings + 1, "early", 6);
	memcpy(strings + 7, "a", 2);
	memcpy(strings + 99000, "late", 5);
	fwrite(&h, sizeof(h), 1, f);
	fwrite(early, sizeof(early), 1, f);
	for (uint32_t i = 0; i < MANY; i++) {
		const uint32_t type[] = {0, INFO(i == bad ? 31 : BTF_KIND_INT, 0), 4, 32};

		fwrite(type, sizeof(type), 1, f);
	}
	fwrite(late, sizeof(late), 1, f);
	fwrite(strings, sizeof(strings), 1, f);
	assert_int_equal(fclose(f), 0);
	return path;
}

/* What the file lies in below @dir: made, or gone again. */
static void make_dirs(const char *dir, bool make)
{
	static const char *const dirs[] = {"", "/proc", "/sys", "/sys/kernel", "/sys/kernel/btf"};
	char path[128];

	for (int i = 0; i < 5; i++) {
		snprintf(path, sizeof(path), "%s%s", dir, dirs[make ? i : 4 - i]);
		assert_int_equal(make ? mkdir(path, 0700) : rmdir(path), 0);
	}
}

static void ask_big(struct pgs_ctx *ctx, const char *path, bool cut, int late, int error)
{
	struct pgs_btf_member m;
	struct pgs_btf *btf;

	assert_int_equal(pgs_btf_open(ctx, &btf), 0);
	assert_int_equal(pgs_btf_member(btf, "early", "a", &m), 0);
	assert_int_equal(m.size, 4);
	assert_int_equal(pgs_btf_error(btf), 0);
	if (cut)
		assert_int_equal(truncate(path, 100000), 0);
	assert_int_equal(pgs_btf_member(btf, "late", "a", &m), late);
	assert_int_equal(pgs_btf_error(btf), error);
	if (!late)
		assert_int_equal(m.offset, 4);
	pgs_btf_free(btf);
}

/* No further than to what is asked for: what is wrong behind it, or gone by then, shows when
 * somebody asks for more. */
static void test_read_as_asked(void **state)
{
	static const struct {
		uint32_t bad;
		bool cut;
		int late, error;
	} rows[] = {
		{MANY, false, 0, 0},
		{MANY - 1, false, -ENOENT, -EBADMSG},
		{MANY, true, -ENOENT, -EBADMSG},
	};
	char dir[] = "/tmp/test_btf.XXXXXX";
	struct pgs_ctx *ctx;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(rmdir(dir), 0);
	make_dirs(dir, true);
	assert_int_equal(pgs_ctx_open(dir, &ctx), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *path = write_big(dir, rows[i].bad);

		ask_big(ctx, path, rows[i].cut, rows[i].late, rows[i].error);
		assert_int_equal(unlink(path), 0);
		free(path);
	}
	pgs_ctx_close(ctx);
	make_dirs(dir, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members),	      cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_cut_short),     cmocka_unit_test(test_bytes_turned),
		cmocka_unit_test(test_read_as_asked),
	};

	return cmocka_run_group_tests_name("btf", tests, NULL, NULL);
}
