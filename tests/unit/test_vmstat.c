// SPDX-License-Identifier: GPL-2.0-only
/* The names that the counters have had, kernel by kernel. Run from the top of the tree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memcgstat.h"
#include "psi.h"
#include "swapstat.h"
#include "vmstat.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define FIXTURES      "tests/fixtures/"

static const char *const kernels[] = {"3.10", "4.18", "5.8", "5.15", "6.1", "6.12", "6.18", "7.3"};

static struct pgs_ctx *open_tree(const char *root)
{
	struct pgs_ctx *ctx;

	assert_int_equal(pgs_ctx_open(root, &ctx), 0);
	return ctx;
}

static struct pgs_ctx *open_kernel(const char *kernel)
{
	char root[64];

	snprintf(root, sizeof(root), FIXTURES "vmstat-%s", kernel);
	return open_tree(root);
}

#define UNSET UINT64_MAX

/* A counter of each kernel, in the order of kernels[]; UNSET: it has none. */
struct expected {
	enum pgs_vm_id id;
	uint64_t n[ARRAY_SIZE(kernels)];
};

static const struct expected expected[] = {
#define SAME(n)                                                                                    \
	{                                                                                          \
		n, n, n, n, n, n, n, n                                                             \
	}
	{PGS_VM_SWAP_OUT, SAME(9000)},
	{PGS_VM_SWAP_IN, SAME(4000)},
	{PGS_VM_SCAN_KSWAPD, SAME(1000)}, /* of 3.10 the sum of its zones */
	/* From 7.1 on with what is scanned for cgroups. */
	{PGS_VM_SCAN_DIRECT, {500, 500, 500, 500, 500, 500, 500, 2500}},
	{PGS_VM_STEAL_KSWAPD, SAME(900)},
	{PGS_VM_STEAL_DIRECT, {300, 300, 300, 300, 300, 300, 300, 1800}},
	{PGS_VM_DIRECT_THROTTLE, SAME(6)},
	{PGS_VM_ALLOCSTALL, SAME(42)},
	{PGS_VM_MAJOR_FAULT, SAME(7362)},
	{PGS_VM_DIRTY, SAME(10136)},
	{PGS_VM_WRITEBACK, SAME(17)},
	{PGS_VM_SCAN, SAME(UNSET)},
	{PGS_VM_STEAL, SAME(UNSET)},
	{PGS_VM_SCAN_KHUGEPAGED, {UNSET, UNSET, UNSET, UNSET, UNSET, 40, 40, 40}},
	{PGS_VM_STEAL_KHUGEPAGED, {UNSET, UNSET, UNSET, UNSET, UNSET, 30, 30, 30}},
	{PGS_VM_SCAN_PROACTIVE, {UNSET, UNSET, UNSET, UNSET, UNSET, UNSET, 60, 60}},
	{PGS_VM_STEAL_PROACTIVE, {UNSET, UNSET, UNSET, UNSET, UNSET, UNSET, 50, 50}},
	{PGS_VM_SCAN_ANON, {UNSET, UNSET, 1100, 1100, 1100, 1100, 1100, 1100}},
	{PGS_VM_STEAL_ANON, {UNSET, UNSET, 800, 800, 800, 800, 800, 800}},
	{PGS_VM_REFAULT, {UNSET, 1240, 1240, UNSET, UNSET, UNSET, UNSET, UNSET}},
	{PGS_VM_REFAULT_ANON, {UNSET, UNSET, UNSET, 710, 710, 710, 710, 710}},
	{PGS_VM_REFAULT_FILE, {UNSET, UNSET, UNSET, 530, 530, 530, 530, 530}},
	{PGS_VM_RESTORE, {UNSET, UNSET, 12, UNSET, UNSET, UNSET, UNSET, UNSET}},
	{PGS_VM_WORKINGSET_NODES, {UNSET, UNSET, 84906, 84906, 84906, 84906, 84906, 84906}},
	{PGS_VM_NODERECLAIM, {UNSET, 3, 3, 3, 3, 3, 3, 3}},
	{PGS_VM_THP_SWPOUT, {UNSET, 8, 8, 8, 8, 8, 8, 8}},
	{PGS_VM_THP_SWPOUT_SPLIT, {UNSET, 9, 9, 9, 9, 9, 9, 9}},
	{PGS_VM_ZSWAP_IN, {UNSET, UNSET, UNSET, UNSET, 14, 14, 14, 14}},
	{PGS_VM_ZSWAP_WRITEBACK, {UNSET, UNSET, UNSET, UNSET, UNSET, 16, 16, 16}},
	{PGS_VM_SWAP_OUT_ZERO, {UNSET, UNSET, UNSET, UNSET, UNSET, 13, 13, 13}},
	{PGS_VM_SWAP_CACHED, {UNSET, UNSET, UNSET, 321, 321, 321, 321, 321}},
	{PGS_VM_OOM_KILL, {UNSET, 2, 2, 2, 2, 2, 2, 2}},
};

static void test_kernels(void **state)
{
	(void)state;
	for (size_t k = 0; k < ARRAY_SIZE(kernels); k++) {
		struct pgs_ctx *ctx = open_kernel(kernels[k]);
		struct pgs_vmstat vm;

		assert_int_equal(pgs_vmstat_read(ctx, &vm), 0);
		assert_int_equal(vm.actors_have_cgroups, !strcmp(kernels[k], "7.3"));
		for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
			const struct pgs_count *got = &vm.count[expected[i].id];
			uint64_t want = expected[i].n[k];

			if (got->set != (want != UNSET) || (got->set && got->n != want))
				fail_msg("%s: counter %d is %s%llu", kernels[k], expected[i].id,
					 got->set ? "" : "not set, not ",
					 (unsigned long long)(got->set ? got->n : want));
		}
		pgs_ctx_close(ctx);
	}
}

static void test_parse(void **state)
{
	struct pgs_vmstat vm;

	(void)state;
	/* What only begins like a name, and what is no number, is nothing. */
	pgs_vmstat_parse("pswpout_x 1\npswp 2\npswpin -3\npgmajfault 4x\noom_kill\n", "", &vm);
	for (size_t i = 0; i < PGS_NR_VM; i++)
		assert_false(vm.count[i].set);
	/* The last line may lack its end; the numbers are 64 bits wide. */
	pgs_vmstat_parse("pswpin 18446744073709551615\npswpout 7", "", &vm);
	assert_int_equal(vm.count[PGS_VM_SWAP_IN].n, UINT64_MAX);
	assert_int_equal(vm.count[PGS_VM_SWAP_OUT].n, 7);
	/* v1: the cgroup's own and, with the prefix, those of the subtree. */
	pgs_vmstat_parse("pgmajfault 1\ntotal_pgmajfault 9\n", "total_", &vm);
	assert_int_equal(vm.count[PGS_VM_MAJOR_FAULT].n, 9);
	pgs_vmstat_parse("", "", &vm);
	assert_false(vm.count[PGS_VM_MAJOR_FAULT].set);
}

static void test_reasons(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < PGS_NR_VM; i++)
		assert_non_null(pgs_vm_reason((enum pgs_vm_id)i));
}

static void test_psi(void **state)
{
	struct pgs_ctx *ctx = open_kernel("6.1");
	struct pgs_psi psi;

	(void)state;
	assert_int_equal(pgs_psi_read(ctx, &psi), 0);
	assert_true(psi.some.set && psi.full.set);
	assert_true(psi.some.avg10 == 3.40 && psi.full.avg300 == 0.10);
	assert_int_equal(psi.some.total_us, 123456);
	assert_int_equal(psi.full.total_us, 23456);
	pgs_ctx_close(ctx);

	ctx = open_kernel("4.18");
	assert_int_equal(pgs_psi_read(ctx, &psi), -ENOENT);
	pgs_ctx_close(ctx);
	/* Without "full", as /proc/pressure/cpu was before 5.13. */
	assert_int_equal(pgs_psi_parse("some avg10=1.00 avg60=2.00 avg300=3.00 total=4\n", &psi),
			 0);
	assert_true(psi.some.set && !psi.full.set);
	assert_int_equal(pgs_psi_parse("some avg10=x\n", &psi), -EBADMSG);
}

static void test_swap(void **state)
{
	struct pgs_ctx *ctx = open_kernel("6.1");
	struct pgs_zswap zswap;
	struct pgs_zram zram;

	(void)state;
	assert_int_equal(pgs_zram_read(ctx, "/dev/zram0", &zram), 0);
	assert_int_equal(zram.disk_bytes, 536875008);
	assert_int_equal(zram.data_bytes, 62914560);
	assert_int_equal(zram.compressed_bytes, 20971520);
	assert_int_equal(zram.memory_bytes, 22020096);
	assert_int_equal(zram.same_pages, 1024);
	assert_true(zram.huge_pages.set && zram.huge_pages.n == 17);
	assert_true(zram.backing_pages.set && zram.backing_pages.n == 5);
	assert_int_equal(pgs_zram_read(ctx, "/dev/vda2", &zram), -ENOENT);
	assert_int_equal(pgs_zram_read(ctx, "/home/zram.swap", &zram), -ENOENT);
	assert_int_equal(pgs_zram_read(ctx, "/dev/zram7", &zram), -ENOENT);

	assert_int_equal(pgs_zswap_read(ctx, &zswap), 0);
	assert_true(zswap.enabled);
	assert_string_equal(zswap.compressor, "lzo");
	assert_int_equal(zswap.pool_bytes.n, 4096 * 1024);
	assert_int_equal(zswap.stored_bytes.n, 12288 * 1024);
	pgs_ctx_close(ctx);

	ctx = open_kernel("3.10"); /* six numbers fewer, and no bd_stat */
	assert_int_equal(pgs_zram_read(ctx, "/dev/zram0", &zram), 0);
	assert_false(zram.huge_pages.set || zram.backing_pages.set);
	assert_int_equal(pgs_zswap_read(ctx, &zswap), 0);
	assert_false(zswap.enabled || zswap.pool_bytes.set || zswap.stored_bytes.set);
	pgs_ctx_close(ctx);

	ctx = open_tree(FIXTURES "reporting-none");
	assert_int_equal(pgs_zswap_read(ctx, &zswap), -ENOENT);
	pgs_ctx_close(ctx);
}

/* ---- cgroups --------------------------------------------------------------------------------- */

static struct pgs_memcg_stat read_cgroup(const char *root, const char *path)
{
	struct pgs_ctx *ctx = open_tree(root);
	struct pgs_cgroups *cgroups;
	struct pgs_memcg_stat stat;

	assert_int_equal(pgs_cgroups_open(ctx, &cgroups), 0);
	assert_int_equal(pgs_memcg_stat_read(ctx, cgroups, path, &stat), 0);
	pgs_cgroups_close(cgroups);
	pgs_ctx_close(ctx);
	return stat;
}

#define assert_number(number, field, value)                                                        \
	do {                                                                                       \
		assert_true((number).set);                                                         \
		assert_int_equal((number).field, value);                                           \
	} while (0)

static void test_cgroup_v1(void **state)
{
	struct pgs_memcg_stat stat = read_cgroup(FIXTURES "memcg-v1", "/job");

	(void)state;
	assert_number(stat.memory.usage, bytes, 8 << 20);
	assert_number(stat.memory.limit, bytes, 16 << 20);
	assert_number(stat.memory.swap, bytes, 4 << 20); /* of memory.stat: it is the subtree's */
	assert_number(stat.memory.swap_limit, bytes, 32 << 20);
	assert_number(stat.anon, bytes, 5 << 20);
	assert_number(stat.file, bytes, 3 << 20);
	assert_number(stat.shmem, bytes, 1 << 20);
	assert_number(stat.peak, bytes, 15 << 20);
	assert_number(stat.max, n, 77);
	assert_number(stat.oom_kill, n, 3);
	assert_number(stat.vm.count[PGS_VM_REFAULT_ANON], n, 12);
	assert_false(stat.high.set || stat.oom.set || stat.swap_peak.set);
	assert_false(stat.vm.count[PGS_VM_SCAN].set);
	assert_int_equal(stat.psi_err, -ENOENT);
}

static void test_cgroup_v2(void **state)
{
	struct pgs_memcg_stat stat = read_cgroup(FIXTURES "memcg-v2", "/job");

	(void)state;
	assert_number(stat.memory.usage, bytes, 8 << 20);
	assert_number(stat.memory.limit, bytes, PGS_UNLIMITED);
	assert_number(stat.memory.swap, bytes, 4 << 20);
	assert_number(stat.anon, bytes, 5 << 20);
	assert_number(stat.file, bytes, 3 << 20);
	assert_number(stat.shmem, bytes, 1 << 20);
	assert_number(stat.peak, bytes, 15 << 20);
	assert_number(stat.high, n, 5);
	assert_number(stat.max, n, 77);
	assert_number(stat.oom, n, 4);
	assert_number(stat.oom_kill, n, 3);
	assert_number(stat.vm.count[PGS_VM_SCAN], n, 700);
	assert_number(stat.vm.count[PGS_VM_SCAN_DIRECT], n, 600);
	assert_int_equal(stat.psi_err, 0);
	assert_number(stat.psi.full, total_us, 55);
	assert_false(stat.memory.is_whole_machine);
}

/* The root of v2 has neither memory.current nor the like; of an old one not even memory.stat. */
static void test_cgroup_root(void **state)
{
	struct pgs_memcg_stat stat = read_cgroup(FIXTURES "memcg-v2", "/");

	(void)state;
	assert_true(stat.memory.is_whole_machine);
	assert_number(stat.memory.usage, bytes, 700 << 10);
	assert_number(stat.anon, bytes, 100 << 10);
	assert_number(stat.file, bytes, 66 << 10);
	assert_number(stat.shmem, bytes, 7 << 10);
	assert_number(stat.vm.count[PGS_VM_SWAP_OUT], n, 8);
	assert_number(stat.psi.some, total_us, 99);
	assert_false(stat.max.set || stat.peak.set);
}

static void test_cgroup_list(void **state)
{
	struct pgs_ctx *ctx = open_tree(FIXTURES "cgroup-mixed");
	struct pgs_cgroup_list list = {0};
	struct pgs_cgroups *cgroups;

	(void)state;
	assert_int_equal(pgs_cgroups_open(ctx, &cgroups), 0);
	assert_int_equal(pgs_cgroup_below(cgroups, "/app", &list), 0);
	assert_int_equal(list.nr, 2);
	assert_string_equal(list.paths[0], "/app");
	assert_string_equal(list.paths[1], "/app/worker");
	pgs_cgroup_list_fini(&list);
	assert_int_equal(pgs_cgroup_below(cgroups, "/gone", &list), -ENOENT);
	pgs_cgroups_close(cgroups);
	pgs_ctx_close(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernels),	    cmocka_unit_test(test_parse),
		cmocka_unit_test(test_reasons),	    cmocka_unit_test(test_psi),
		cmocka_unit_test(test_swap),	    cmocka_unit_test(test_cgroup_v1),
		cmocka_unit_test(test_cgroup_v2),   cmocka_unit_test(test_cgroup_root),
		cmocka_unit_test(test_cgroup_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
