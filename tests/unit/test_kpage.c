// SPDX-License-Identifier: GPL-2.0-only
/* Frames: gathered in any order as if read one by one; names of flags; nodes and zones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kpage.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define FRAMES	      200000u

static char root[64];

static uint64_t word_of(uint64_t pfn)
{
	return pfn * UINT64_C(0x9e3779b97f4a7c15) | 1;
}

static FILE *create(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	return fopen(path, "w");
}

/* Two nodes, whose Normal zones' spans overlap as on machines with memory added later. */
static const char zoneinfo[] = "Node 0, zone      DMA\n"
			       "  pages free     1\n"
			       "        spanned  4095\n"
			       "  start_pfn:           1\n"
			       "Node 0, zone   Normal\n"
			       "        spanned  36864\n"
			       "  start_pfn:           4096\n"
			       "Node 0, zone  Movable\n"
			       "        spanned  0\n"
			       "  start_pfn:           0\n"
			       "Node 1, zone   Normal\n"
			       "        spanned  24576\n"
			       "  start_pfn:           16384\n";

static int make_tree(void **state)
{
	static const char *const dirs[] = {"proc",
					   "sys",
					   "sys/devices",
					   "sys/devices/system",
					   "sys/devices/system/memory",
					   "sys/devices/system/node",
					   "sys/devices/system/node/node0",
					   "sys/devices/system/node/node0/memory0",
					   "sys/devices/system/node/node0/memory1",
					   "sys/devices/system/node/node0/memory3",
					   "sys/devices/system/node/node1",
					   "sys/devices/system/node/node1/memory2"};
	char path[128];
	FILE *f;

	(void)state;
	strcpy(root, "/tmp/test_kpage.XXXXXX");
	if (!mkdtemp(root))
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, dirs[i]);
		if (mkdir(path, 0755))
			return -1;
	}
	f = create("proc/kpageflags");
	for (uint64_t pfn = 0; pfn < FRAMES; pfn++) {
		uint64_t word = word_of(pfn);

		fwrite(&word, sizeof(word), 1, f);
	}
	fclose(f);
	f = create("proc/zoneinfo");
	fputs(zoneinfo, f);
	fclose(f);
	f = create("sys/devices/system/memory/block_size_bytes");
	fprintf(f, "%lx\n", 8192ul * (unsigned long)sysconf(_SC_PAGESIZE));
	return fclose(f);
}

static int remove_tree(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

static struct pgs_kpage *open_kpage(struct pgs_ctx **ret_ctx)
{
	struct pgs_kpage *kpage;

	assert_int_equal(pgs_ctx_open(root, ret_ctx), 0);
	assert_int_equal(pgs_kpage_open(*ret_ctx, &kpage), 0);
	return kpage;
}

static void check_gather(struct pgs_kpage *kpage, const uint64_t *pfns, size_t count)
{
	uint64_t *words = malloc(count * sizeof(*words));

	memset(words, 0xff, count * sizeof(*words));
	assert_int_equal(pgs_kpage_gather(kpage, PGS_KPAGEFLAGS, pfns, count, words), 0);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(words[i], pfns[i] < FRAMES	     ? word_of(pfns[i])
					   : pfns[i] == PGS_NO_FRAME ? 0
								     : PGS_NO_WORD);
	free(words);
}

/* Runs, gaps, repeats, holes, the wrong way round, beyond the end of memory. */
static void test_gather(void **state)
{
	enum { N = 70000 };
	static uint64_t pfns[N];
	unsigned int seed = 7;
	struct pgs_kpage *kpage;
	struct pgs_ctx *ctx;

	(void)state;
	kpage = open_kpage(&ctx);
	for (size_t i = 0; i < N; i++)
		pfns[i] = i;
	check_gather(kpage, pfns, N);
	for (size_t i = 0; i < N; i++)
		pfns[i] = N - i;
	check_gather(kpage, pfns, N);
	for (size_t i = 0; i < N; i++)
		pfns[i] = i % 11 ? (i % 7 ? pfns[i - 1] + 1 : (uint64_t)rand_r(&seed) % FRAMES)
				 : PGS_NO_FRAME;
	for (size_t i = 0; i < N; i++)
		if (i % 11 == 1)
			pfns[i] = (uint64_t)rand_r(&seed) % (FRAMES + 1000);
	for (size_t i = 1; i < N; i++)
		if (pfns[i] == PGS_NO_FRAME + 1) /* wrapped from "no frame" */
			pfns[i] = 3;
	check_gather(kpage, pfns, N);
	for (size_t i = 0; i < N; i++)
		pfns[i] = 42;
	check_gather(kpage, pfns, N);
	pgs_kpage_close(kpage);
	pgs_ctx_close(ctx);
}

static void test_missing_files(void **state)
{
	struct pgs_kpage *kpage;
	struct pgs_ctx *ctx;

	(void)state;
	kpage = open_kpage(&ctx);
	assert_true(pgs_kpage_has(kpage, PGS_KPAGEFLAGS));
	assert_false(pgs_kpage_has(kpage, PGS_KPAGECGROUP));
	pgs_kpage_close(kpage);
	pgs_ctx_close(ctx);
}

static void test_flag_names(void **state)
{
	char buf[PGS_KPF_STR];

	(void)state;
	for (unsigned int bit = 0; bit < PGS_KPF_BITS; bit++)
		if (pgs_kpf_name(bit))
			assert_int_equal(pgs_kpf_bit(pgs_kpf_name(bit)), bit);
	assert_int_equal(pgs_kpf_bit("no such flag"), -1);
	assert_string_equal(pgs_kpf_format(0, buf), "");
	assert_string_equal(pgs_kpf_format(1u << 3 | 1u << 5, buf), "uptodate,lru");
	assert_string_equal(pgs_kpf_format(UINT64_C(1) << 63 | 1, buf), "locked,bit63");
	/* Bits with two meanings, told apart by a third. */
	assert_string_equal(pgs_kpf_format(UINT64_C(1) << 34, buf), "mappedtodisk");
	assert_string_equal(pgs_kpf_format(UINT64_C(1) << 34 | 1u << 12, buf),
			    "anon,anon_exclusive");
	assert_string_equal(pgs_kpf_format(1u << 9 | 1u << 8, buf), "writeback,reclaim");
	assert_string_equal(pgs_kpf_format(1u << 9, buf), "readahead");
	pgs_kpf_format(UINT64_MAX, buf);
	assert_string_equal(strrchr(buf, ','), ",bit63");
}

static void test_zones(void **state)
{
	static const struct {
		uint64_t pfn;
		int node; /* -1: cannot be told */
		const char *zone;
	} cases[] = {
		{0, -1, NULL},	      {1, 0, "DMA"},	    {4095, 0, "DMA"},
		{4096, 0, "Normal"},  {16383, 0, "Normal"}, {16384, 1, "Normal"}, /* block 2 */
		{24575, 1, "Normal"}, {24576, 0, "Normal"}, /* block 3 is node 0's again */
		{32768, -1, NULL}, /* in both spans, and no block says whose */
		{40960, -1, NULL},
	};
	struct pgs_zones *zones;
	struct pgs_ctx *ctx;

	(void)state;
	assert_int_equal(pgs_ctx_open(root, &ctx), 0);
	assert_int_equal(pgs_zones_open(ctx, &zones), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		unsigned int node = 99;
		const char *zone = NULL;

		assert_int_equal(pgs_zones_find(zones, cases[i].pfn, &node, &zone),
				 cases[i].node >= 0);
		if (cases[i].node < 0)
			continue;
		assert_int_equal(node, cases[i].node);
		assert_string_equal(zone, cases[i].zone);
	}
	pgs_zones_close(zones);
	pgs_ctx_close(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gather),
		cmocka_unit_test(test_missing_files),
		cmocka_unit_test(test_flag_names),
		cmocka_unit_test(test_zones),
	};

	return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
