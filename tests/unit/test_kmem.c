// SPDX-License-Identifier: GPL-2.0-only
/* Kernel memory made by hand as a core file: segments, notes, symbols, an object's XArray. */
#include "../../src/kmem_priv.h"
#include "../../src/ksyms.h"
#include "../../src/page.h"
#include "../../src/swapobj.h"
#include "corefile.h"

#include <errno.h>
#include <ftw.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cmocka.h>

#define MEM (256u * 1024)

struct image {
	unsigned char mem[MEM];
	size_t used;
	char info[1024];
	struct pgs_ctx *ctx;
	struct pgs_kcore *kcore;
	struct pgs_kmem kmem;
};

static struct image *image_new(void)
{
	struct image *m = calloc(1, sizeof(*m));

	assert_non_null(m);
	assert_int_equal(pgs_ctx_open(NULL, &m->ctx), 0);
	return m;
}

static void image_free(struct image *m)
{
	pgs_kcore_close(m->kcore);
	pgs_ctx_close(m->ctx);
	free(m);
}

static uint64_t place(struct image *m, const void *data, size_t len)
{
	size_t at = (m->used + 7) & ~(size_t)7;

	assert_true(at + len <= MEM);
	memcpy(m->mem + at, data, len);
	m->used = at + len;
	return CORE_BASE + at;
}

static int image_open(struct image *m)
{
	static unsigned char file[MEM + 65536];
	uint64_t task[4] = {1, 2, 3, 4};
	size_t len = core_build(file, m->mem, MEM, m->info, task, sizeof(task));
	int fd = core_fd(file, len);

	assert_true(fd >= 0);
	pgs_kcore_close(m->kcore);
	m->kcore = NULL;
	return pgs_kcore_new(m->ctx, fd, &m->kcore);
}

/* ---- the core file --------------------------------------------------------------------------- */

static void test_reads(void **state)
{
	struct image *m = image_new();
	char text[8];
	size_t size;
	uint64_t task[4];

	(void)state;
	m->mem[0] = 'a';
	m->mem[MEM - 1] = 'z';
	strcpy(m->info, "OSRELEASE=7.3\nSYMBOL(_stext)=ffffffff81000000\nCRASHTIME=1\nX=");
	assert_int_equal(image_open(m), 0);
	assert_int_equal(pgs_kcore_read(m->kcore, CORE_BASE, text, 1), 0);
	assert_int_equal(text[0], 'a');
	assert_int_equal(pgs_kcore_read(m->kcore, CORE_BASE + MEM - 1, text, 1), 0);
	assert_int_equal(text[0], 'z');
	assert_int_equal(pgs_kcore_read(m->kcore, CORE_BASE + MEM - 1, text, 2), -EFAULT);
	assert_int_equal(pgs_kcore_read(m->kcore, CORE_BASE - 1, text, 1), -EFAULT);
	assert_int_equal(pgs_kcore_read(m->kcore, 0, text, 1), -EFAULT);
	assert_int_equal(pgs_kcore_read(m->kcore, UINT64_MAX, text, 2), -EFAULT);
	assert_int_equal(pgs_kcore_room(m->kcore, CORE_BASE + 1), MEM - 1);
	memcpy(task, pgs_kcore_task(m->kcore, &size), sizeof(task));
	assert_int_equal(size, 32);
	assert_int_equal(task[2], 3);
	image_free(m);
}

/* Objects side by side, apart, twice, at the end of memory, and where there is none. */
static void test_gather(void **state)
{
	const uint64_t addrs[] = {
		CORE_BASE + 4096, CORE_BASE + 1008,	  CORE_BASE + 8,
		CORE_BASE + 5048, CORE_BASE + 1008,	  0x41424344,
		CORE_BASE,	  CORE_BASE + MEM - 1000, UINT64_MAX - 7,
		CORE_BASE + 2264, CORE_BASE + MEM - 992,
	};
	enum { NR = sizeof(addrs) / sizeof(addrs[0]), LEN = 1000 };
	static unsigned char buf[NR * (LEN + PGS_KCORE_GAP)];
	struct image *m = image_new();
	const void *at[NR];

	(void)state;
	for (size_t i = 0; i < MEM; i++)
		m->mem[i] = (unsigned char)(i / 8 * 31 + i);
	assert_int_equal(image_open(m), 0);
	pgs_kcore_gather(m->kcore, addrs, NR, LEN, buf, at);
	for (unsigned int i = 0; i < NR; i++) {
		if (i == 5 || i == 8 || i == 10) {
			assert_null(at[i]);
			continue;
		}
		assert_in_range((uintptr_t)at[i], (uintptr_t)buf,
				(uintptr_t)buf + sizeof(buf) - LEN);
		assert_memory_equal(at[i], m->mem + (addrs[i] - CORE_BASE), LEN);
	}
	pgs_kcore_gather(m->kcore, addrs, 0, LEN, buf, at);
	image_free(m);
}

static void test_vmcoreinfo(void **state)
{
	static const struct {
		const char *name;
		uint64_t addr; /* 0: none */
	} rows[] = {
		{"_stext", 0xffffffff81000000},
		{"stext", 0},
		{"nothing", 0},
		{"_stex", 0},
		{"long", 0},
		{"bad", 0},
		{"last", 0xabc},
	};
	struct image *m = image_new();
	size_t len;

	(void)state;
	strcpy(m->info, "OSRELEASE=7.3\nSYMBOL(_stext)=ffffffff81000000\nSYMBOL(nothing)=\n"
			"SYMBOL(long)=fffffffffffffffff\nSYMBOL(bad)=12x\nSYMBOL(last)=abc");
	assert_int_equal(image_open(m), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t addr = 0;
		int r = pgs_kcore_symbol(m->kcore, rows[i].name, &addr);

		assert_int_equal(r, rows[i].addr ? 0 : -ENOENT);
		assert_int_equal(addr, rows[i].addr);
	}
	assert_memory_equal(pgs_kcore_info(m->kcore, "OSRELEASE", &len), "7.3", 3);
	assert_int_equal(len, 3);
	assert_null(pgs_kcore_info(m->kcore, "OSREL", &len));
	image_free(m);
}

static unsigned long fuzz_runs(void)
{
	const char *runs = getenv("PGSCAN_FUZZ_RUNS");

	return runs ? strtoul(runs, NULL, 10) : 20000;
}

/* Turned bytes in the headers and notes: refused, or understood as something else. */
static void test_bytes_turned(void **state)
{
	static unsigned char file[8192], bytes[8192];
	unsigned long nr = fuzz_runs();
	struct image *m = image_new();
	unsigned int seed = 1;
	size_t len = core_build(file, "memory", 6, "SYMBOL(x)=1\nSYMBOL(_stext)=ffffffff81000000\n",
				"task", 4);

	(void)state;
	for (unsigned long i = 0; i < nr; i++) {
		struct pgs_kcore *kcore;
		char text[6];
		uint64_t addr;
		size_t size;

		memcpy(bytes, file, len);
		for (int k = rand_r(&seed) % 3; k >= 0; k--)
			bytes[(unsigned int)rand_r(&seed) % len] = (unsigned char)rand_r(&seed);
		if (pgs_kcore_new(m->ctx,
				  core_fd(bytes, (unsigned int)rand_r(&seed) % 4 ? len : len / 2),
				  &kcore))
			continue;
		(void)!pgs_kcore_symbol(kcore, "_stext", &addr);
		(void)!pgs_kcore_read(kcore, CORE_BASE, text, sizeof(text));
		(void)pgs_kcore_task(kcore, &size);
		pgs_kcore_close(kcore);
	}
	image_free(m);
}

/* ---- symbols --------------------------------------------------------------------------------- */

enum rule { SELF, PERCPU, BASE };

static const struct {
	const char *name; /* with its type letter */
	uint64_t addr;
} symbols[] = {
	{"T_stext", 0xffffffff81000000}, {"Dsuper_blocks", 0xffffffff82345678},
	{"dtwin", 0xffffffff82000000},	 {"bswap_info", 0xffffffff8300abc0},
	{"dtwin", 0xffffffff82000010},	 {"tlast", 0xffffffff84000000},
};
#define NR_SYMBOLS (sizeof(symbols) / sizeof(symbols[0]))

/* Each character is a token of its own, but for "swap_", which is token 1. */
static void put_tokens(struct image *m)
{
	char table[1024];
	uint16_t index[256];
	size_t at = 0;

	for (unsigned int i = 0; i < 256; i++) {
		index[i] = (uint16_t)at;
		at += (size_t)sprintf(table + at, i == 1 ? "swap_" : "%c", i ?: ' ') + 1;
	}
	sprintf(m->info + strlen(m->info),
		"SYMBOL(kallsyms_token_table)=%" PRIx64 "\nSYMBOL(kallsyms_token_index)=%" PRIx64
		"\n",
		place(m, table, at), place(m, index, sizeof(index)));
}

/* A name of 200 characters takes two bytes for its length. */
static void put_names(struct image *m)
{
	unsigned char names[1024];
	uint32_t nr = NR_SYMBOLS + 1;
	size_t at = 0;

	names[at++] = 0x80 | (201 & 0x7f);
	names[at++] = 201 >> 7;
	memset(names + at, 'x', 201);
	at += 201;
	for (size_t i = 0; i < NR_SYMBOLS; i++) {
		const char *name = symbols[i].name;
		unsigned char *len = &names[at++];

		for (*len = 0; *name; (*len)++) {
			bool token = !strncmp(name, "swap_", 5);

			names[at++] = token ? 1 : (unsigned char)*name;
			name += token ? 5 : 1;
		}
	}
	sprintf(m->info + strlen(m->info),
		"SYMBOL(kallsyms_names)=%" PRIx64 "\nSYMBOL(kallsyms_num_syms)=%" PRIx64 "\n",
		place(m, names, at), place(m, &nr, sizeof(nr)));
}

static void put_offsets(struct image *m, enum rule rule)
{
	const uint64_t base = 0xffffffff80000000;
	int32_t offsets[NR_SYMBOLS + 1] = {0};
	uint64_t at = place(m, offsets, sizeof(offsets));

	for (size_t i = 0; i < NR_SYMBOLS; i++) {
		uint64_t addr = symbols[i].addr, here = at + (i + 1) * sizeof(*offsets);

		offsets[i + 1] = (int32_t)(rule == SELF	    ? addr - here
					   : rule == PERCPU ? base - 1 - addr
							    : addr - base);
	}
	memcpy(m->mem + (at - CORE_BASE), offsets, sizeof(offsets));
	sprintf(m->info + strlen(m->info), "SYMBOL(kallsyms_offsets)=%" PRIx64 "\n", at);
	if (rule != SELF)
		sprintf(m->info + strlen(m->info), "SYMBOL(kallsyms_relative_base)=%" PRIx64 "\n",
			place(m, &base, sizeof(base)));
}

static void test_symbols(void **state)
{
	(void)state;
	/* From its own place: the kernel's data lies within 2 GiB of it, this memory does not. */
	for (enum rule rule = PERCPU; rule <= BASE; rule++) {
		struct pgs_ksym syms[] = {
			{.name = "swap_info"}, {.name = "super_blocks"}, {.name = "twin"},
			{.name = "none"},      {.name = "last"},
		};
		struct image *m = image_new();

		strcpy(m->info, "SYMBOL(_stext)=ffffffff81000000\n");
		put_tokens(m);
		put_names(m);
		put_offsets(m, rule);
		assert_int_equal(image_open(m), 0);
		assert_int_equal(pgs_ksyms_find(m->ctx, m->kcore, syms, 5), 0);
		assert_int_equal(syms[0].addr, 0xffffffff8300abc0);
		assert_int_equal(syms[1].addr, 0xffffffff82345678);
		assert_int_equal(syms[2].addr, 0); /* there are two of them */
		assert_int_equal(syms[2].seen, 2);
		assert_int_equal(syms[3].addr, 0);
		assert_int_equal(syms[4].addr, 0xffffffff84000000);
		image_free(m);
	}
}

static void turn_bytes(void *at, size_t len, unsigned int *seed)
{
	unsigned char *bytes = at;

	for (int k = rand_r(seed) % 3; k >= 0; k--)
		bytes[(unsigned int)rand_r(seed) % len] = (unsigned char)rand_r(seed);
}

/* A tree without /proc/kallsyms, so that nothing else is asked. */
static struct pgs_ctx *empty_tree(char dir[])
{
	struct pgs_ctx *ctx;
	char proc[64];

	assert_non_null(mkdtemp(dir));
	snprintf(proc, sizeof(proc), "%s/proc", dir);
	assert_int_equal(mkdir(proc, 0700), 0);
	assert_int_equal(pgs_ctx_open(dir, &ctx), 0);
	assert_int_equal(rmdir(proc), 0);
	assert_int_equal(rmdir(dir), 0);
	return ctx;
}

/* Write @dir/@path, and the folders on the way to it. */
static void tree_file(const char *dir, const char *path, const char *text)
{
	char whole[128];
	FILE *f;

	snprintf(whole, sizeof(whole), "%s/%s", dir, path);
	for (char *p = whole + strlen(dir); (p = strchr(p + 1, '/')); *p = '/') {
		*p = '\0';
		assert_true(!mkdir(whole, 0700) || errno == EEXIST);
	}
	f = fopen(whole, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static int remove_any(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

/* Why /proc/kcore was refused is told so far as it is known. */
static void test_refusal(void **state)
{
#define INITIAL "         0          0 4294967295\n"
	static const struct {
		const char *lockdown, *uid_map, *why; /* NULL: no such file */
	} cases[] = {
		{"none integrity [confidentiality]\n", INITIAL,
		 "the kernel is locked down (none integrity [confidentiality])"},
		{"none integrity [confidentiality]\n", "0 100000 65536\n",
		 "the kernel is locked down (none integrity [confidentiality])"},
		{"[none] integrity confidentiality\n", INITIAL,
		 "a security module or a seccomp filter"},
		{"none [integrity] confidentiality\n", "0 100000 65536\n",
		 "not in the initial user namespace"},
		{NULL, "0 0 1\n", "not in the initial user namespace"},
		{NULL, INITIAL, "lockdown, a security module or a seccomp filter"},
		{NULL, NULL, "lockdown, a security module or a seccomp filter"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char dir[] = "/tmp/test_kmem.XXXXXX", why[PGS_KCORE_REFUSAL];
		struct pgs_ctx *ctx;

		assert_non_null(mkdtemp(dir));
		tree_file(dir, "proc/version", "");
		if (cases[i].lockdown)
			tree_file(dir, "sys/kernel/security/lockdown", cases[i].lockdown);
		if (cases[i].uid_map)
			tree_file(dir, "proc/self/uid_map", cases[i].uid_map);
		assert_int_equal(pgs_ctx_open(dir, &ctx), 0);
		pgs_kcore_refusal(ctx, why);
		assert_string_equal(why, cases[i].why);
		pgs_ctx_close(ctx);
		assert_int_equal(nftw(dir, remove_any, 8, FTW_DEPTH | FTW_PHYS), 0);
	}
#undef INITIAL
}

/* @mem_len bytes of memory and @info may have been turned: refused, or what is found is right; of a
 * table whose bytes were turned that cannot be said. Returns whether it was refused. */
static bool find_turned(struct pgs_ctx *ctx, const unsigned char *mem, size_t mem_len,
			const char *info, bool is_whole)
{
	static unsigned char file[16384];
	struct pgs_ksym syms[] = {{.name = "swap_info"}, {.name = "super_blocks"}};
	size_t len = core_build(file, mem, mem_len, info, NULL, 0);
	struct pgs_kcore *kcore;
	int r;

	assert_int_equal(pgs_kcore_new(ctx, core_fd(file, len), &kcore), 0);
	r = pgs_ksyms_find(ctx, kcore, syms, 2);
	pgs_kcore_close(kcore);
	if (r || !is_whole)
		return r;
	assert_true(!syms[0].addr || syms[0].addr == 0xffffffff8300abc0);
	assert_true(!syms[1].addr || syms[1].addr == 0xffffffff82345678);
	return false;
}

/* What VMCOREINFO says is believed only where the table that it leads to has _stext where it is. */
static void test_symbols_turned(void **state)
{
	char dir[] = "/tmp/test_kmem.XXXXXX";
	struct pgs_ctx *ctx = empty_tree(dir);
	struct image *m = image_new();
	unsigned long nr = fuzz_runs(), refused = 0;
	unsigned int seed = 1;

	(void)state;
	strcpy(m->info, "SYMBOL(_stext)=ffffffff81000000\n");
	put_tokens(m);
	put_names(m);
	put_offsets(m, PERCPU);
	assert_true(m->used < 8192);
	assert_false(find_turned(ctx, m->mem, m->used, m->info, true));
	for (unsigned long i = 0; i < nr; i++) {
		bool is_whole = rand_r(&seed) % 4;
		unsigned char mem[8192];
		char info[1024];

		memcpy(mem, m->mem, m->used);
		memcpy(info, m->info, sizeof(info));
		turn_bytes(info, strlen(m->info), &seed);
		if (!is_whole)
			turn_bytes(mem, m->used, &seed);
		refused += find_turned(ctx, mem, m->used, info, is_whole);
	}
	assert_true(refused > nr / 2 && refused < nr);
	pgs_ctx_close(ctx);
	image_free(m);
}

/* ---- an XArray ------------------------------------------------------------------------------- */

#define NODE_BYTES 576u
#define NODE	   2u /* low bits of a pointer to a node */

static uint64_t swap_entry(unsigned int type, uint64_t slot)
{
	return ((uint64_t)type << 58 | slot) << 1 | 1;
}

static void layout(struct pgs_kmem *kmem, struct pgs_kcore *kcore)
{
	kmem->kcore = kcore;
	kmem->started = true;
	kmem->named = true; /* no symbols: types from 22 on are no areas */
	kmem->at.address_space_i_pages = (struct kmem_member){8, 16};
	kmem->at.xarray_xa_head = (struct kmem_member){8, 8};
	kmem->at.xa_node_shift = (struct kmem_member){0, 1};
	kmem->at.xa_node_offset = (struct kmem_member){1, 1};
	kmem->at.xa_node_parent = (struct kmem_member){8, 8};
	kmem->at.xa_node_array = (struct kmem_member){16, 8};
	kmem->at.xa_node_slots = (struct kmem_member){40, 512};
	kmem->at.xa_node_bytes = NODE_BYTES;
	kmem->at.xa_slots = 64;
}

struct tree {
	struct image *m;
	uint64_t mapping, array;
};

static struct tree tree_new(void)
{
	uint64_t mapping[4] = {0};
	struct tree t = {.m = image_new()};

	t.mapping = place(t.m, mapping, sizeof(mapping));
	t.array = t.mapping + 8;
	return t;
}

static uint64_t *at(struct tree *t, uint64_t addr)
{
	return (uint64_t *)(t->m->mem + (addr - CORE_BASE));
}

static uint64_t node_new(struct tree *t, unsigned int shift, unsigned int offset, uint64_t parent)
{
	unsigned char raw[NODE_BYTES] = {(unsigned char)shift, (unsigned char)offset};

	memcpy(raw + 8, &parent, 8);
	memcpy(raw + 16, &t->array, 8);
	return place(t->m, raw, sizeof(raw));
}

static void slot_set(struct tree *t, uint64_t node, unsigned int i, uint64_t entry)
{
	at(t, node + 40)[i] = entry;
}

static void head_set(struct tree *t, uint64_t entry)
{
	*at(t, t->array + 8) = entry;
}

struct want {
	uint64_t index, pages;
	enum pgs_kentry entry;
	unsigned int type;
	uint64_t slot;
	bool racy;
};

/* The same as words, up to what is not known. */
static void expect_words(struct tree *t, uint64_t from, uint64_t to, const struct want *want,
			 int nr)
{
	const struct pgs_kobject object = {.mapping = t->mapping};
	uint64_t words[256], n = 0;
	ssize_t got = pgs_kmem_words(&t->m->kmem, &object, from, to, words, 256);

	for (int i = 0; i < nr && want[i].entry != PGS_KENTRY_UNKNOWN && !want[i].racy; i++) {
		bool is_swapped = want[i].entry == PGS_KENTRY_SWAPPED;

		for (uint64_t k = 0; k < want[i].pages && n < 256; k++, n++)
			assert_int_equal(words[n], is_swapped ? PGS_PM_SWAP | PGS_PM_FILE |
									(want[i].slot + k) << 5 |
									want[i].type
							      : 0);
	}
	assert_int_equal(got, n);
}

static void expect(struct tree *t, uint64_t from, uint64_t to, const struct want *want, int nr)
{
	struct pgs_kentries runs[16] = {{0}};

	assert_int_equal(image_open(t->m), 0);
	memset(&t->m->kmem, 0, sizeof(t->m->kmem));
	layout(&t->m->kmem, t->m->kcore);
	assert_int_equal(pgs_kmem_tree(&t->m->kmem, t->mapping, from, to, runs, 16), nr);
	for (int i = 0; i < nr; i++) {
		assert_int_equal(runs[i].index, want[i].index);
		assert_int_equal(runs[i].pages, want[i].pages);
		assert_int_equal(runs[i].entry, want[i].entry);
		assert_int_equal(runs[i].racy, want[i].racy);
		if (want[i].entry != PGS_KENTRY_SWAPPED)
			continue;
		assert_int_equal(runs[i].swap_type, want[i].type);
		assert_int_equal(runs[i].slot, want[i].slot);
	}
	expect_words(t, from, to, want, nr);
}

static void test_root_entries(void **state)
{
	struct tree t = tree_new();

	(void)state;
	expect(&t, 0, 10, (struct want[]){{0, 10, PGS_KENTRY_NONE, 0, 0, 0}}, 1);
	head_set(&t, swap_entry(3, 77));
	expect(&t, 0, 10,
	       (struct want[]){{0, 1, PGS_KENTRY_SWAPPED, 3, 77, 0},
			       {1, 9, PGS_KENTRY_NONE, 0, 0, 0}},
	       2);
	expect(&t, 1, 10, (struct want[]){{1, 9, PGS_KENTRY_NONE, 0, 0, 0}}, 1);
	head_set(&t, 0xffffea0000001000);
	expect(&t, 0, 1, (struct want[]){{0, 1, PGS_KENTRY_MEMORY, 0, 0, 0}}, 1);
	head_set(&t, swap_entry(31, 1)); /* a special entry */
	expect(&t, 0, 1, (struct want[]){{0, 1, PGS_KENTRY_POISONED, 0, 0, 0}}, 1);
	image_free(t.m);
}

/* Two levels; the root's offset is garbage, as it may be. */
static struct tree two_levels(uint64_t *ret_root, uint64_t *ret_leaf)
{
	struct tree t = tree_new();
	uint64_t root = node_new(&t, 6, 99, 0), leaf = node_new(&t, 0, 2, root);

	head_set(&t, root + NODE);
	slot_set(&t, root, 2, leaf + NODE);
	slot_set(&t, leaf, 0, swap_entry(1, 100));
	slot_set(&t, leaf, 1, swap_entry(1, 101));
	slot_set(&t, leaf, 2, swap_entry(0, 102));
	slot_set(&t, leaf, 63, 0xffffea0000001000);
	*ret_root = root;
	*ret_leaf = leaf;
	return t;
}

static void test_runs(void **state)
{
	static const struct want all[] = {
		{0, 128, PGS_KENTRY_NONE, 0, 0, 0},	 {128, 2, PGS_KENTRY_SWAPPED, 1, 100, 0},
		{130, 1, PGS_KENTRY_SWAPPED, 0, 102, 0}, {131, 60, PGS_KENTRY_NONE, 0, 0, 0},
		{191, 1, PGS_KENTRY_MEMORY, 0, 0, 0},	 {192, 9808, PGS_KENTRY_NONE, 0, 0, 0},
	};
	uint64_t root, leaf;
	struct tree t = two_levels(&root, &leaf);

	(void)state;
	expect(&t, 0, 10000, all, 6);
	expect(&t, 129, 131,
	       (struct want[]){{129, 1, PGS_KENTRY_SWAPPED, 1, 101, 0},
			       {130, 1, PGS_KENTRY_SWAPPED, 0, 102, 0}},
	       2);
	expect(&t, 5000, 5001, (struct want[]){{5000, 1, PGS_KENTRY_NONE, 0, 0, 0}}, 1);
	image_free(t.m);
}

/* Order 9: eight slots of 64 pages, seven of them siblings of the first. */
static void test_large_entry(void **state)
{
	uint64_t root, leaf;
	struct tree t = two_levels(&root, &leaf);

	(void)state;
	slot_set(&t, root, 8, swap_entry(2, 4096));
	for (unsigned int i = 9; i < 16; i++)
		slot_set(&t, root, i, (uint64_t)8 << 2 | NODE);
	expect(&t, 512, 1100,
	       (struct want[]){{512, 512, PGS_KENTRY_SWAPPED, 2, 4096, 0},
			       {1024, 76, PGS_KENTRY_NONE, 0, 0, 0}},
	       2);
	expect(&t, 600, 610, (struct want[]){{600, 10, PGS_KENTRY_SWAPPED, 2, 4184, 0}}, 1);
	/* A sibling of some other entry says nothing. */
	slot_set(&t, root, 9, (uint64_t)5 << 2 | NODE);
	expect(&t, 512, 640,
	       (struct want[]){{512, 64, PGS_KENTRY_SWAPPED, 2, 4096, 0},
			       {576, 64, PGS_KENTRY_UNKNOWN, 0, 0, 0}},
	       2);
	image_free(t.m);
}

/* Order 1, in a leaf, where the slots before it lead to: its second page is a sibling. */
static void test_small_entry(void **state)
{
	uint64_t root, leaf;
	struct tree t = two_levels(&root, &leaf);

	(void)state;
	slot_set(&t, leaf, 2, swap_entry(1, 102));
	slot_set(&t, leaf, 3, (uint64_t)2 << 2 | NODE);
	slot_set(&t, leaf, 4, swap_entry(1, 104));
	expect(&t, 128, 134,
	       (struct want[]){{128, 5, PGS_KENTRY_SWAPPED, 1, 100, 0},
			       {133, 1, PGS_KENTRY_NONE, 0, 0, 0}},
	       2);
	expect(&t, 131, 133, (struct want[]){{131, 2, PGS_KENTRY_SWAPPED, 1, 103, 0}}, 1);
	image_free(t.m);
}

/* Slots in no order: a run each, but where one follows another, also into the next leaf. An entry
 * of order 1 is among them. */
static void test_scattered(void **state)
{
	static const struct want all[] = {
		{128, 1, PGS_KENTRY_SWAPPED, 1, 100, 0}, {129, 1, PGS_KENTRY_SWAPPED, 1, 99, 0},
		{130, 1, PGS_KENTRY_SWAPPED, 1, 98, 0},	 {131, 1, PGS_KENTRY_SWAPPED, 2, 99, 0},
		{132, 2, PGS_KENTRY_POISONED, 0, 0, 0},	 {134, 2, PGS_KENTRY_SWAPPED, 1, 70, 0},
		{136, 1, PGS_KENTRY_SWAPPED, 1, 71, 0},	 {137, 3, PGS_KENTRY_SWAPPED, 1, 50, 0},
		{140, 51, PGS_KENTRY_NONE, 0, 0, 0},	 {191, 2, PGS_KENTRY_SWAPPED, 1, 7, 0},
		{193, 1, PGS_KENTRY_SWAPPED, 1, 10, 0},	 {194, 3, PGS_KENTRY_NONE, 0, 0, 0},
		{197, 1, PGS_KENTRY_SWAPPED, 0, 3, 0},
	};
	uint64_t root, leaf, next;
	struct tree t = two_levels(&root, &leaf);
	const uint64_t entries[] = {
		swap_entry(1, 100), swap_entry(1, 99), swap_entry(1, 98),	swap_entry(2, 99),
		swap_entry(31, 1),  swap_entry(31, 2), swap_entry(1, 70),	swap_entry(1, 71),
		swap_entry(1, 71),  swap_entry(1, 50), (uint64_t)9 << 2 | NODE, swap_entry(1, 52),
	};

	(void)state;
	next = node_new(&t, 0, 3, root);
	slot_set(&t, root, 3, next + NODE);
	for (unsigned int i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		slot_set(&t, leaf, i, entries[i]);
	slot_set(&t, leaf, 63, swap_entry(1, 7));
	slot_set(&t, next, 0, swap_entry(1, 8));
	slot_set(&t, next, 1, swap_entry(1, 10));
	/* What the three empty pages before it would lead to, were they slots from 0 on. */
	slot_set(&t, next, 5, swap_entry(0, 3));
	expect(&t, 128, 198, all, 13);
	expect(&t, 129, 131, &all[1], 2);
	image_free(t.m);
}

/* Where slots are of no interest, swapped pages are one run wherever they lie, and name no slot. */
static void test_states(void **state)
{
	uint64_t root, leaf;
	struct tree t = two_levels(&root, &leaf);
	struct pgs_kobject object = {.mapping = t.mapping};
	struct pgs_kentries runs[16];

	(void)state;
	slot_set(&t, leaf, 3, swap_entry(1, 7));
	slot_set(&t, leaf, 4, swap_entry(31, 1)); /* poisoned */
	assert_int_equal(image_open(t.m), 0);
	layout(&t.m->kmem, t.m->kcore);
	assert_int_equal(pgs_kmem_states(&t.m->kmem, &object, 129, 10000, runs, 16), 5);
	assert_int_equal(runs[0].index, 129);
	assert_int_equal(runs[0].pages, 3); /* of slots 1:101, 0:102, 1:7 */
	assert_int_equal(runs[0].entry, PGS_KENTRY_SWAPPED);
	assert_int_equal(runs[0].swap_type, 0);
	assert_int_equal(runs[0].slot, 0);
	assert_int_equal(runs[1].entry, PGS_KENTRY_POISONED);
	assert_int_equal(runs[1].pages, 1);
	assert_int_equal(runs[2].entry, PGS_KENTRY_NONE);
	assert_int_equal(runs[3].entry, PGS_KENTRY_MEMORY);
	image_free(t.m);
}

/* A node that is not what its place says was freed and used again: nothing of it is believed. */
static void test_foreign_nodes(void **state)
{
	static const struct want unknown[] = {{128, 64, PGS_KENTRY_UNKNOWN, 0, 0, true}};
	const struct {
		unsigned int byte;
		uint64_t value;
	} damage[] = {{0, 6}, {1, 3}, {8, 0}, {16, 8}};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		uint64_t root, leaf;
		struct tree t = two_levels(&root, &leaf);

		if (damage[i].byte < 8)
			t.m->mem[leaf - CORE_BASE + damage[i].byte] =
				(unsigned char)damage[i].value;
		else
			*at(&t, leaf + damage[i].byte) += damage[i].value + 8;
		expect(&t, 128, 192, unknown, 1);
		image_free(t.m);
	}
}

static void test_wild_pointers(void **state)
{
	uint64_t root, leaf;
	struct tree t = two_levels(&root, &leaf);

	(void)state;
	slot_set(&t, root, 2, 0x4142434445464742); /* no such memory */
	expect(&t, 128, 192, (struct want[]){{128, 64, PGS_KENTRY_UNKNOWN, 0, 0, true}}, 1);
	slot_set(&t, root, 2, root + NODE); /* in a circle */
	expect(&t, 128, 192, (struct want[]){{128, 64, PGS_KENTRY_UNKNOWN, 0, 0, true}}, 1);
	slot_set(&t, root, 2, leaf + NODE);
	slot_set(&t, leaf, 5, root + NODE); /* below a leaf */
	expect(&t, 133, 134, (struct want[]){{133, 1, PGS_KENTRY_UNKNOWN, 0, 0, true}}, 1);
	head_set(&t, 0x4142434445464742);
	expect(&t, 5, 192, (struct want[]){{5, 187, PGS_KENTRY_UNKNOWN, 0, 0, true}}, 1);
	image_free(t.m);
}

/* No room: the answer ends there, and goes on where it ended. */
static void test_little_room(void **state)
{
	struct pgs_kentries run;
	uint64_t root, leaf, from = 0;
	struct tree t = two_levels(&root, &leaf);
	int calls = 0;

	(void)state;
	assert_int_equal(image_open(t.m), 0);
	layout(&t.m->kmem, t.m->kcore);
	for (; from < 10000; calls++) {
		assert_int_equal(pgs_kmem_tree(&t.m->kmem, t.mapping, from, 10000, &run, 1), 1);
		assert_int_equal(run.index, from);
		from += run.pages;
	}
	assert_int_equal(from, 10000);
	assert_int_equal(calls, 6);
	image_free(t.m);
}

/* Whatever a node holds, runs follow each other without a gap, and the walk ends. */
static void walk_turned(struct tree *t)
{
	const uint64_t end = UINT64_C(1) << 52;
	struct pgs_kentries runs[16];
	uint64_t from = 0;

	assert_int_equal(image_open(t->m), 0);
	layout(&t->m->kmem, t->m->kcore);
	for (unsigned int calls = 0; from < end; calls++) {
		int nr = pgs_kmem_tree(&t->m->kmem, t->mapping, from, end, runs, 16);

		assert_in_range(nr, 1, 16);
		assert_in_range(calls, 0, 1000);
		for (int i = 0; i < nr; i++) {
			assert_int_equal(runs[i].index, from);
			assert_in_range(runs[i].pages, 1, end - from);
			from += runs[i].pages;
		}
	}
}

static void test_tree_turned(void **state)
{
	unsigned int seed = 1;
	uint64_t root, leaf;

	(void)state;
	for (unsigned int shift = 0; shift < 256; shift++) {
		struct tree t = two_levels(&root, &leaf);

		t.m->mem[root - CORE_BASE] = (unsigned char)shift;
		walk_turned(&t);
		image_free(t.m);
	}
	for (unsigned long run = 0; run < fuzz_runs() / 100; run++) {
		struct tree t = two_levels(&root, &leaf);

		turn_bytes(t.m->mem, t.m->used, &seed);
		walk_turned(&t);
		image_free(t.m);
	}
}

/* ---- all objects ----------------------------------------------------------------------------- */

#define OPS 0x1234u /* &shmem_ops */

/* A superblock with one inode, whose XArray has a node of which slot 0 is in swap. */
struct supers {
	struct tree t;
	uint64_t head, sb, inode, node;
};

static void listed_layout(struct pgs_kmem *kmem, const struct supers *s)
{
	layout(kmem, s->t.m->kcore);
	kmem->ctx = s->t.m->ctx;
	kmem->shmem_ops = OPS;
	kmem->sym.super_blocks = s->head;
	kmem->at.super_block_s_list = (struct kmem_member){0, 16};
	kmem->at.super_block_s_op = (struct kmem_member){16, 8};
	kmem->at.super_block_s_dev = (struct kmem_member){24, 4};
	kmem->at.super_block_s_inodes = (struct kmem_member){32, 16};
	kmem->at.inode_i_sb_list = (struct kmem_member){0, 16};
	kmem->at.inode_i_sb = (struct kmem_member){16, 8};
	kmem->at.inode_i_ino = (struct kmem_member){24, 8};
	kmem->at.inode_i_size = (struct kmem_member){32, 8};
	kmem->at.inode_i_generation = (struct kmem_member){40, 4};
	kmem->at.inode_i_mapping = (struct kmem_member){48, 8};
	kmem->at.inode_i_dentry = (struct kmem_member){56, 8};
	kmem->at.inode_i_data = (struct kmem_member){64, 48};
	kmem->at.address_space_host = (struct kmem_member){0, 8};
	kmem->at.address_space_nrpages = (struct kmem_member){32, 8};
	kmem->at.shmem_inode_info_swapped = (struct kmem_member){128, 8};
	kmem->at.shmem_inode_info_bytes = 256;
	kmem->at.dentry_d_parent = (struct kmem_member){0, 8};
	kmem->at.dentry_d_name = (struct kmem_member){8, 16};
	kmem->at.dentry_alias = (struct kmem_member){32, 16};
	kmem->at.qstr_name = (struct kmem_member){0, 8};
	kmem->at.qstr_len = (struct kmem_member){8, 4};
}

static void ring(struct tree *t, uint64_t head, uint64_t node)
{
	at(t, head)[0] = at(t, head)[1] = node;
	at(t, node)[0] = at(t, node)[1] = head;
}

static struct supers supers_new(void)
{
	const unsigned char none[256] = {0};
	struct supers s = {.t.m = image_new()};
	struct tree *t = &s.t;

	s.head = place(t->m, none, 16);
	s.sb = place(t->m, none, 64);
	s.inode = place(t->m, none, 256);
	t->mapping = s.inode + 64;
	t->array = t->mapping + 8;
	s.node = node_new(t, 0, 0, 0);
	ring(t, s.head, s.sb);
	ring(t, s.sb + 32, s.inode);
	*at(t, s.sb + 16) = OPS;
	*at(t, s.sb + 24) = 77; /* 0:77 */
	*at(t, s.inode + 16) = s.sb;
	*at(t, s.inode + 24) = 1234;
	*at(t, s.inode + 48) = t->mapping;
	*at(t, s.inode + 128) = 1;
	*at(t, t->mapping) = s.inode;
	head_set(t, s.node + NODE);
	slot_set(t, s.node, 0, swap_entry(0, 99));
	return s;
}

/* Directories one below the other, of which the inode's dentry is the lowest. */
static void bury(struct supers *s, unsigned int depth)
{
	struct tree *t = &s->t;
	uint64_t name = place(t->m, "d", 2), parent = 0;
	const uint64_t none[6] = {0};

	for (unsigned int i = 0; i <= depth; i++) {
		uint64_t dentry = place(t->m, none, sizeof(none));

		at(t, dentry)[0] = parent ? parent : dentry;
		at(t, dentry)[1] = name;
		at(t, dentry)[2] = 1;
		parent = dentry;
	}
	*at(t, s->inode + 56) = parent + 32;
}

static struct pgs_swapobj *only_object(struct supers *s, struct pgs_swapobjs **ret_objs)
{
	assert_int_equal(image_open(s->t.m), 0);
	listed_layout(&s->t.m->kmem, s);
	assert_int_equal(pgs_swapobjs_open(s->t.m->ctx, NULL, &s->t.m->kmem, ret_objs), 0);
	assert_true(pgs_swapobjs_is_complete(*ret_objs));
	assert_int_equal(pgs_swapobjs_nr(*ret_objs), 1);
	return pgs_swapobjs_get(*ret_objs, 0);
}

/* An object is in the account whatever can be told of its name, and of the rest of its pages. */
static void test_listed(void **state)
{
	const struct {
		unsigned int depth;
		enum { NOTHING, NO_CHILD, NO_ENTRY } odd; /* in slot 5 */
		const char *name;
	} cases[] = {{0, NOTHING, ""},
		     {3, NOTHING, "/d/d/d"},
		     {100, NOTHING, "/.../d/d"},
		     {1, NO_CHILD, "/d"},
		     {1, NO_ENTRY, "/d"}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct supers s = supers_new();
		struct pgs_swapobjs *objs;
		struct pgs_swapobj *obj;

		if (cases[i].depth)
			bury(&s, cases[i].depth);
		if (cases[i].odd == NO_CHILD)
			slot_set(&s.t, s.node, 5, s.node + NODE);
		if (cases[i].odd == NO_ENTRY) /* a sibling of what is nothing */
			slot_set(&s.t, s.node, 5, 9 << 2 | 2);
		obj = only_object(&s, &objs);
		assert_int_equal(obj->swapped_pages, 1);
		assert_int_equal(obj->extents[0].slot, 99);
		assert_int_equal(obj->racy, cases[i].odd != NOTHING);
		assert_null(obj->reason);
		assert_memory_equal(obj->name, cases[i].name, strlen(cases[i].name));
		pgs_swapobjs_close(objs);
		image_free(s.t.m);
	}
}

/* Of an object of which nothing is certain, none is not what is said. */
static void test_listed_unknown(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct supers s = supers_new();
		struct pgs_swapobjs *objs;
		struct pgs_swapobj *obj;

		slot_set(&s.t, s.node, 0, 9 << 2 | 2);
		if (i) /* a root that is nowhere */
			head_set(&s.t, 0xffff800000001002);
		obj = only_object(&s, &objs);
		assert_int_equal(obj->swapped_pages, 0);
		assert_non_null(obj->reason);
		pgs_swapobjs_close(objs);
		image_free(s.t.m);
	}
}

/* ---- what is kept ---------------------------------------------------------------------------- */

#define KEPT "SYMBOL(_stext)=ffffffff81000000\nBUILD-ID=0123456789abcdef0123456789abcdef01234567\n"

struct kept {
	struct image *m;
	char folder[64], file[128];
};

static struct kept kept_new(void)
{
	struct kept k = {.m = image_new(), .folder = "/tmp/test_kmem.XXXXXX"};

	assert_non_null(mkdtemp(k.folder));
	snprintf(k.file, sizeof(k.file), "%s/kernel-memory", k.folder);
	strcpy(k.m->info, KEPT);
	assert_int_equal(image_open(k.m), 0);
	layout(&k.m->kmem, k.m->kcore);
	k.m->kmem.ctx = k.m->ctx;
	k.m->kmem.sym.swap_info = 0xffffffff8300abc0;
	pgs_kmem_cache_store(&k.m->kmem, k.folder);
	return k;
}

static void kept_free(struct kept *k)
{
	unlink(k->file);
	assert_int_equal(rmdir(k->folder), 0);
	image_free(k->m);
}

/* Whether it is loaded where VMCOREINFO says @info, into *@kmem. */
static bool kept_load(struct kept *k, const char *info, struct pgs_kmem *kmem)
{
	strcpy(k->m->info, info);
	assert_int_equal(image_open(k->m), 0);
	*kmem = (struct pgs_kmem){.ctx = k->m->ctx, .kcore = k->m->kcore};
	return pgs_kmem_cache_load(kmem, k->folder);
}

/* The kernel's base may be another one; its build ID may not. */
static void test_kept(void **state)
{
	struct kept k = kept_new();
	struct pgs_kmem kmem;

	(void)state;
	assert_true(kept_load(&k, KEPT, &kmem) == !geteuid());
	if (!geteuid()) {
		assert_memory_equal(&kmem.at, &k.m->kmem.at, sizeof(kmem.at));
		assert_memory_equal(&kmem.sym, &k.m->kmem.sym, sizeof(kmem.sym));
		assert_true(kept_load(&k,
				      "SYMBOL(_stext)=ffffffff91000000\n"
				      "BUILD-ID=0123456789abcdef0123456789abcdef01234567",
				      &kmem));
		assert_int_equal(kmem.sym.swap_info, 0xffffffff9300abc0);
		assert_int_equal(kmem.sym.super_blocks, 0);
	}
	assert_false(kept_load(&k, "SYMBOL(_stext)=ffffffff81000000\n", &kmem));
	assert_false(kept_load(&k, "SYMBOL(_stext)=ffffffff81000000\nBUILD-ID=0123\n", &kmem));
	kept_free(&k);
}

/* A byte of it is another one: each in turn. */
static void test_kept_spoilt(void **state)
{
	struct kept k = kept_new();
	int fd = open(k.file, O_RDWR | O_CLOEXEC);
	struct pgs_kmem kmem;
	struct stat st;

	(void)state;
	if (geteuid()) { /* root's alone */
		assert_int_equal(fd, -1);
		kept_free(&k);
		return;
	}
	assert_true(fd >= 0 && !fstat(fd, &st) && st.st_size > 200);
	for (off_t i = 0; i < st.st_size; i++) {
		unsigned char byte, other;

		assert_int_equal(pread(fd, &byte, 1, i), 1);
		other = byte ^ 0x40;
		assert_int_equal(pwrite(fd, &other, 1, i), 1);
		assert_false(kept_load(&k, KEPT, &kmem));
		assert_int_equal(pwrite(fd, &byte, 1, i), 1);
	}
	assert_true(kept_load(&k, KEPT, &kmem));
	close(fd);
	kept_free(&k);
}

/* Tables are understood where they have taken over both the counts and the zero map, and not
 * before.
 */
static void test_swap_tables(void **state)
{
	const struct kmem_member there = {8, 8}, none = {0};
	struct pgs_kmem kmem = {.at = {.swap_info_struct_cluster_info = there,
				       .swap_cluster_info_table = there,
				       .swap_cluster_info_bytes = 64,
				       .cluster_slots = 512}};

	(void)state;
	assert_true(pgs_kmem_has_swap_table(&kmem)); /* 7.3 */
	kmem.at.swap_info_struct_zeromap = there;
	assert_false(pgs_kmem_has_swap_table(&kmem)); /* before the zero map went into it */
	kmem.at.swap_info_struct_swap_map = there;
	assert_false(pgs_kmem_has_swap_table(&kmem)); /* 6.18 */
	kmem.at.swap_info_struct_zeromap = none;
	assert_false(pgs_kmem_has_swap_table(&kmem)); /* 6.1, if it had such a structure */
}

/* ---- slots of the swap cache ----------------------------------------------------------------- */

#define AREA_TYPE   1u
#define SPACE_SLOTS 16384u

/* The second space of an area has this one folio, at the index @index of its tree. */
static struct tree space_with(uint64_t index)
{
	uint64_t spaces, pointers[2] = {0}, pair[2 * 4] = {0}, node = 0, parent = 0;
	struct tree t = {.m = image_new()};

	spaces = place(t.m, pair, sizeof(pair));
	t.mapping = spaces + 4 * sizeof(uint64_t);
	t.array = t.mapping + 8;
	pointers[AREA_TYPE] = spaces;
	t.m->kmem.sym.swapper_spaces = place(t.m, pointers, sizeof(pointers));
	for (int shift = 12; shift >= 0; shift -= 6) {
		unsigned int slot = index >> shift & 63;

		node = node_new(&t, (unsigned int)shift, shift < 12 ? index >> (shift + 6) & 63 : 0,
				parent);
		if (parent)
			slot_set(&t, parent, index >> (shift + 6) & 63, node + NODE);
		else
			head_set(&t, node + NODE);
		parent = node;
		if (!shift)
			slot_set(&t, node, slot, 0xffffea0000001000);
	}
	return t;
}

static void expect_cached(struct tree *t, uint64_t first, size_t count, uint64_t slot)
{
	const struct pgs_kmem_area area = {.type = AREA_TYPE, .slots = 2 * SPACE_SLOTS};
	uint64_t spaces = t->m->kmem.sym.swapper_spaces;
	static uint8_t flags[2 * SPACE_SLOTS];
	struct pgs_kmem *kmem = &t->m->kmem;

	assert_int_equal(image_open(t->m), 0);
	memset(kmem, 0, sizeof(*kmem));
	layout(kmem, t->m->kcore);
	kmem->at.address_space_bytes = 4 * sizeof(uint64_t);
	kmem->sym.swapper_spaces = spaces;
	strcpy(kmem->reason[PGS_KMEM_ZERO_MAP], "none");
	assert_int_equal(pgs_kmem_slots(kmem, &area, first, count, flags), 0);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(flags[i], first + i == slot ? PGS_KSLOT_CACHED : 0);
}

/* Entries of a space are numbered from 0 by some kernels, and by the slot by others. */
static void test_slots_cached(void **state)
{
	static const uint64_t indexes[] = {1000, SPACE_SLOTS + 1000};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct tree t = space_with(indexes[i]);

		expect_cached(&t, 0, 2 * SPACE_SLOTS, SPACE_SLOTS + 1000);
		expect_cached(&t, SPACE_SLOTS + 1000, 1, SPACE_SLOTS + 1000);
		expect_cached(&t, SPACE_SLOTS + 1001, 100, SPACE_SLOTS + 1000);
		expect_cached(&t, SPACE_SLOTS - 7, 2000, SPACE_SLOTS + 1000);
		expect_cached(&t, 1000, 1, SPACE_SLOTS + 1000);
		image_free(t.m);
	}
}

/* A member of three bytes, or of sixteen, is no number that kmem_get() could take. */
static void test_sizes_of_numbers(void **state)
{
	const struct kmem_member word = {8, 8};

	(void)state;
	for (uint32_t size = 0; size <= 16; size++) {
		struct tree t = tree_new();
		struct pgs_kmem *kmem = &t.m->kmem;

		assert_int_equal(image_open(t.m), 0);
		layout(kmem, t.m->kcore);
		kmem->named = false;
		kmem->shmem_ops = kmem->sym.shmem_ops = OPS;
		kmem->sym.swap_info = kmem->sym.nr_swapfiles = CORE_BASE;
		kmem->at.swap_info_struct_flags = kmem->at.swap_info_struct_swap_file = word;
		kmem->at.swap_info_struct_max = kmem->at.swap_info_struct_pages = word;
		kmem->at.swap_info_struct_prio = (struct kmem_member){16, size};
		assert_int_equal(pgs_kmem_has(kmem, PGS_KMEM_AREAS),
				 size == 1 || size == 2 || size == 4 || size == 8);
		image_free(t.m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads),
		cmocka_unit_test(test_gather),
		cmocka_unit_test(test_refusal),
		cmocka_unit_test(test_vmcoreinfo),
		cmocka_unit_test(test_bytes_turned),
		cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_symbols_turned),
		cmocka_unit_test(test_root_entries),
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_small_entry),
		cmocka_unit_test(test_scattered),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_large_entry),
		cmocka_unit_test(test_foreign_nodes),
		cmocka_unit_test(test_wild_pointers),
		cmocka_unit_test(test_tree_turned),
		cmocka_unit_test(test_listed),
		cmocka_unit_test(test_listed_unknown),
		cmocka_unit_test(test_sizes_of_numbers),
		cmocka_unit_test(test_little_room),
		cmocka_unit_test(test_swap_tables),
		cmocka_unit_test(test_slots_cached),
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_kept_spoilt),
	};

	return cmocka_run_group_tests_name("kmem", tests, NULL, NULL);
}
