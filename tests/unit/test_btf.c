// SPDX-License-Identifier: GPL-2.0-only
/* Type information made by hand, cut short at every byte, and with bytes turned at random. */
#include "../../src/btf.h"

#include <errno.h>
#include <linux/btf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

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

static void test_sizes_and_enumerators(void **state)
{
	struct blob *b = sample();
	struct pgs_btf *btf;
	uint32_t value;

	(void)state;
	assert_int_equal(pgs_btf_new(b->bytes, b->len, &btf), 0);
	assert_int_equal(pgs_btf_sizeof(btf, "node", &value), 0);
	assert_int_equal(value, 552);
	assert_int_equal(pgs_btf_sizeof(btf, "long", &value), -ENOENT);
	assert_int_equal(pgs_btf_enumerator(btf, "SWP_WRITEOK", &value), 0);
	assert_int_equal(value, 2);
	assert_int_equal(pgs_btf_enumerator(btf, "SWP", &value), -ENOENT);
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
		(void)!pgs_btf_enumerator(btf, "SWP_USED", &value);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_sizes_and_enumerators),
		cmocka_unit_test(test_cut_short),
		cmocka_unit_test(test_bytes_turned),
	};

	return cmocka_run_group_tests_name("btf", tests, NULL, NULL);
}
