// SPDX-License-Identifier: GPL-2.0-only
/* Run from the top of the tree: the fixtures are named from there. */
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

#include "cgroup.h"
#include "memcg.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define FIXTURES      "tests/fixtures/"

struct tree {
	struct pgs_ctx *ctx;
	struct pgs_cgroups *cgroups;
};

static struct tree tree_open(const char *root)
{
	struct tree tree;

	assert_int_equal(pgs_ctx_open(root, &tree.ctx), 0);
	assert_int_equal(pgs_cgroups_open(tree.ctx, &tree.cgroups), 0);
	return tree;
}

static void tree_close(struct tree *tree)
{
	pgs_cgroups_close(tree->cgroups);
	pgs_ctx_close(tree->ctx);
}

static void test_hierarchy(void **state)
{
	static const struct {
		const char *root, *mount;
		int version;
	} cases[] = {
		{FIXTURES "cgroup-mixed", "/sys/fs/cgroup/memory#v1", 1},
		{FIXTURES "cgroup-v2", "/sys/fs/cgroup", 2},
		{FIXTURES "cgroup-container", "/sys/fs/cgroup/memory", 1},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct tree tree = tree_open(cases[i].root);

		assert_int_equal(pgs_cgroups_version(tree.cgroups), cases[i].version);
		assert_string_equal(pgs_cgroups_mount(tree.cgroups), cases[i].mount);
		tree_close(&tree);
	}
}

static void test_no_hierarchy(void **state)
{
	struct pgs_cgroups *cgroups = NULL;
	struct pgs_ctx *ctx;

	(void)state;
	assert_int_equal(pgs_ctx_open(FIXTURES "cgroup-disabled", &ctx), 0);
	assert_int_equal(pgs_cgroups_open(ctx, &cgroups), -EOPNOTSUPP);
	assert_null(cgroups);
	assert_non_null(strstr(pgs_ctx_error(ctx), "disabled"));
	pgs_ctx_close(ctx);
}

static void test_resolve(void **state)
{
	static const struct {
		const char *root, *word, *path;
		int ret;
		const char *says; /* a part of the context's line */
	} cases[] = {
		{FIXTURES "cgroup-mixed", "app/worker", "/app/worker", 0, NULL},
		{FIXTURES "cgroup-mixed", "/app/worker", "/app/worker", 0, NULL},
		{FIXTURES "cgroup-mixed", "//app/./worker/", "/app/worker", 0, NULL},
		{FIXTURES "cgroup-mixed", "/sys/fs/cgroup/memory#v1/app", "/app", 0, NULL},
		{FIXTURES "cgroup-mixed", "/sys/fs/cgroup/memory#v1", "/", 0, NULL},
		{FIXTURES "cgroup-mixed", "/", "/", 0, NULL},
		{FIXTURES "cgroup-mixed", "", "/", 0, NULL},
		{FIXTURES "cgroup-mixed", "app/../noswap", NULL, -EINVAL, "'..'"},
		{FIXTURES "cgroup-mixed", "app/worker/x/y", NULL, -ENOENT,
		 "in '/app/worker' there is no cgroup"},
		{FIXTURES "cgroup-mixed", "app/x", NULL, -ENOENT, "in '/app' there is 'worker'"},
		{FIXTURES "cgroup-mixed", "appendix", NULL, -ENOENT, "in '/' there is '"},
		{FIXTURES "cgroup-mixed", "app/memory.stat", NULL, -ENOENT, "'worker'"},
		/* The mount point of another controller is no part of this hierarchy. */
		{FIXTURES "cgroup-mixed", "/sys/fs/cgroup/unified", NULL, -ENOENT, "in '/'"},
		{FIXTURES "cgroup-v2", "system.slice/db.service", "/system.slice/db.service", 0,
		 NULL},
		{FIXTURES "cgroup-v2", "/sys/fs/cgroup/user.slice", "/user.slice", 0, NULL},
		/* A path as the host prints it, where only a part is mounted. */
		{FIXTURES "cgroup-container", "/docker/f00/inner", "/inner", 0, NULL},
		{FIXTURES "cgroup-container", "inner", "/inner", 0, NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct tree tree = tree_open(cases[i].root);
		char *path = NULL;

		assert_int_equal(pgs_cgroup_resolve(tree.cgroups, cases[i].word, &path),
				 cases[i].ret);
		if (cases[i].path)
			assert_string_equal(path, cases[i].path);
		else
			assert_null(path);
		if (cases[i].says && !strstr(pgs_ctx_error(tree.ctx), cases[i].says))
			fail_msg("'%s': %s", cases[i].word, pgs_ctx_error(tree.ctx));
		free(path);
		tree_close(&tree);
	}
}

static void test_pids(void **state)
{
	static const pid_t app[] = {100, 200, 300, 400};
	struct tree tree = tree_open(FIXTURES "cgroup-mixed");
	struct pgs_cgroup_pids pids;

	(void)state;
	assert_int_equal(pgs_cgroup_pids(tree.cgroups, "/app", &pids), 0);
	assert_int_equal(pids.nr, ARRAY_SIZE(app));
	assert_memory_equal(pids.pids, app, sizeof(app));
	assert_int_equal(pids.nr_foreign, 1);
	pgs_cgroup_pids_fini(&pids);

	assert_int_equal(pgs_cgroup_pids(tree.cgroups, "/", &pids), 0);
	assert_int_equal(pids.nr, 6);
	pgs_cgroup_pids_fini(&pids);

	assert_int_equal(pgs_cgroup_pids(tree.cgroups, "/noswap", &pids), 0);
	assert_int_equal(pids.nr, 0);
	pgs_cgroup_pids_fini(&pids);

	assert_int_equal(pgs_cgroup_pids(tree.cgroups, "/gone", &pids), -ENOENT);
	tree_close(&tree);
}

static uint64_t inode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_ino;
}

static void test_name(void **state)
{
	struct tree tree = tree_open(FIXTURES "cgroup-mixed");
	char gone[64];

	(void)state;
#define ROOT FIXTURES "cgroup-mixed/sys/fs/cgroup/memory#v1"
	assert_string_equal(pgs_cgroup_name(tree.cgroups, inode_of(ROOT)), "/");
	assert_string_equal(pgs_cgroup_name(tree.cgroups, inode_of(ROOT "/app/worker")),
			    "/app/worker");
	assert_string_equal(pgs_cgroup_name(tree.cgroups, inode_of(ROOT "/noswap")), "/noswap");
	/* The v2 hierarchy beside it does not number the pages' cgroups. */
	snprintf(gone, sizeof(gone), "gone (inode %llu)",
		 (unsigned long long)inode_of(FIXTURES "cgroup-mixed/sys/fs/cgroup/unified"));
	assert_string_equal(
		pgs_cgroup_name(tree.cgroups,
				inode_of(FIXTURES "cgroup-mixed/sys/fs/cgroup/unified")),
		gone);
	assert_string_equal(pgs_cgroup_name(tree.cgroups, UINT64_MAX),
			    "gone (inode 18446744073709551615)");
	assert_string_equal(pgs_cgroup_name(tree.cgroups, UINT64_MAX),
			    "gone (inode 18446744073709551615)");
	assert_string_equal(pgs_cgroup_name(tree.cgroups, inode_of(ROOT "/app")), "/app");
	assert_null(pgs_cgroup_name(tree.cgroups, 0));
	tree_close(&tree);
}

static void write_file(const char *dir, const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "we");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* A cgroup made after the first look is found, once a second has passed: never "gone" for good. */
static void test_name_of_new(void **state)
{
	static const char *const dirs[] = {"proc", "proc/self", "cg", "cg/new"};
	char root[] = "/tmp/pgscan-cgroup-XXXXXX", path[64];
	struct tree tree;
	uint64_t inode;

	(void)state;
	assert_non_null(mkdtemp(root));
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, dirs[i]);
		if (i < 3)
			assert_int_equal(mkdir(path, 0755), 0);
	}
	write_file(root, "proc/self/mountinfo", "1 1 0:1 / /cg rw - cgroup cgroup rw,memory\n");
	tree = tree_open(root);
	assert_string_equal(pgs_cgroup_name(tree.cgroups, 1), "gone (inode 1)");
	assert_int_equal(mkdir(path, 0755), 0);
	inode = inode_of(path);
	for (int i = 0; i < 30; i++) {
		if (!strcmp(pgs_cgroup_name(tree.cgroups, inode), "/new"))
			break;
		usleep(100000);
	}
	assert_string_equal(pgs_cgroup_name(tree.cgroups, inode), "/new");
	assert_string_equal(pgs_cgroup_name(tree.cgroups, 1), "gone (inode 1)");
	tree_close(&tree);

	snprintf(path, sizeof(path), "%s/proc/self/mountinfo", root);
	assert_int_equal(unlink(path), 0);
	for (size_t i = ARRAY_SIZE(dirs); i-- > 0;) {
		snprintf(path, sizeof(path), "%s/%s", root, dirs[i]);
		assert_int_equal(rmdir(path), 0);
	}
	assert_int_equal(rmdir(root), 0);
}

#define BYTES(n)                                                                                   \
	{                                                                                          \
		.set = true, .bytes = n                                                            \
	}
#define UNKNOWN                                                                                    \
	{                                                                                          \
		.set = false                                                                       \
	}
#define UNLIMITED BYTES(PGS_UNLIMITED)

static void assert_bytes(const char *path, const char *what, struct pgs_bytes got,
			 struct pgs_bytes want)
{
	if (got.set != want.set || got.bytes != want.bytes)
		fail_msg("%s of %s: %s %llu", what, path, got.set ? "is" : "is unknown, not",
			 (unsigned long long)(got.set ? got.bytes : want.bytes));
}

static void test_memcg(void **state)
{
	static const struct {
		const char *root, *path;
		struct pgs_memcg memcg;
	} cases[] = {
		/* memory.stat has it: the subtree's, whatever memsw says */
		{FIXTURES "cgroup-mixed",
		 "/",
		 {BYTES(104857600), UNLIMITED, BYTES(2097152), UNLIMITED, false}},
		/* memsw less memory */
		{FIXTURES "cgroup-mixed",
		 "/app",
		 {BYTES(524288), BYTES(524288), BYTES(524288), BYTES(1572864), false}},
		/* memsw, read a moment before, is below memory: 0, not 16 EiB */
		{FIXTURES "cgroup-mixed",
		 "/app/worker",
		 {BYTES(8192), UNLIMITED, BYTES(0), UNLIMITED, false}},
		/* no swap accounting: unknown, not 0 */
		{FIXTURES "cgroup-mixed",
		 "/noswap",
		 {BYTES(4096), BYTES(1048576), UNKNOWN, UNKNOWN, false}},
		{FIXTURES "cgroup-v2",
		 "/system.slice",
		 {BYTES(3000000000), UNLIMITED, BYTES(4096), UNLIMITED, false}},
		{FIXTURES "cgroup-v2",
		 "/system.slice/db.service",
		 {BYTES(524288), BYTES(524288), BYTES(1572864), BYTES(0), false}},
		{FIXTURES "cgroup-v2",
		 "/user.slice",
		 {BYTES(77), BYTES(4096), UNKNOWN, UNKNOWN, false}},
		/* the root of v2 has no such files: meminfo, and it says so */
		{FIXTURES "cgroup-v2",
		 "/",
		 {BYTES(5120000000), UNLIMITED, BYTES(614400000), UNLIMITED, true}},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct tree tree = tree_open(cases[i].root);
		const struct pgs_memcg *want = &cases[i].memcg;
		struct pgs_memcg got;

		assert_int_equal(pgs_memcg_read(tree.ctx, tree.cgroups, cases[i].path, &got), 0);
		assert_bytes(cases[i].path, "usage", got.usage, want->usage);
		assert_bytes(cases[i].path, "limit", got.limit, want->limit);
		assert_bytes(cases[i].path, "swap", got.swap, want->swap);
		assert_bytes(cases[i].path, "swap limit", got.swap_limit, want->swap_limit);
		assert_int_equal(got.is_whole_machine, want->is_whole_machine);
		assert_int_equal(pgs_memcg_read(tree.ctx, tree.cgroups, "/none", &got), -ENOENT);
		tree_close(&tree);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hierarchy), cmocka_unit_test(test_no_hierarchy),
		cmocka_unit_test(test_resolve),	  cmocka_unit_test(test_pids),
		cmocka_unit_test(test_name),	  cmocka_unit_test(test_name_of_new),
		cmocka_unit_test(test_memcg),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
