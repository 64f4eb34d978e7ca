// SPDX-License-Identifier: GPL-2.0-only
/* Which mounts are tmpfs, and the files below one. Any folder stands for a file system here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "tmpfs.h"

struct tree {
	char root[64];
	struct pgs_ctx *ctx;
};

static void write_file(const struct tree *t, const char *path, const char *text)
{
	char name[256];
	FILE *f;

	snprintf(name, sizeof(name), "%s/%s", t->root, path);
	f = fopen(name, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void make_dir(const struct tree *t, const char *path)
{
	char name[256];

	snprintf(name, sizeof(name), "%s/%s", t->root, path);
	assert_int_equal(mkdir(name, 0700), 0);
}

static int setup(void **state)
{
	struct tree *t = calloc(1, sizeof(*t));

	strcpy(t->root, "/tmp/pgscan-unit-XXXXXX");
	assert_non_null(mkdtemp(t->root));
	make_dir(t, "proc");
	make_dir(t, "proc/self");
	assert_int_equal(pgs_ctx_open(t->root, &t->ctx), 0);
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	struct tree *t = *state;
	char command[128];

	snprintf(command, sizeof(command), "rm -r '%s'", t->root);
	assert_int_equal(system(command), 0);
	pgs_ctx_close(t->ctx);
	free(t);
	return 0;
}

static void test_list(void **state)
{
	struct tree *t = *state;
	struct pgs_tmpfs_list list;

	write_file(t, "proc/self/mountinfo",
		   "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
		   "21 20 0:24 / /dev/shm rw,nosuid shared:2 - tmpfs tmpfs rw\n"
		   "22 20 0:25 /sub /part rw - tmpfs tmpfs rw\n"
		   "23 20 0:300 / /a\\040b rw master:1 shared:9 - tmpfs none rw\n"
		   "24 20 0:24 / /again rw - tmpfs tmpfs rw\n"
		   "25 20 0:26 / /tmpfs rw - ramfs - tmpfs rw\n"
		   "26 20 0:27 / / rw - tmpfs tmpfs rw\n"
		   "garbage\n");
	assert_int_equal(pgs_tmpfs_list_read(t->ctx, &list), 0);
	assert_int_equal(list.nr, 3);
	assert_string_equal(list.mounts[0].point, "/dev/shm");
	assert_int_equal(list.mounts[0].dev, makedev(0, 24));
	assert_string_equal(list.mounts[1].point, "/a b");
	assert_ptr_equal(pgs_tmpfs_find(&list, makedev(0, 300)), &list.mounts[1]);
	assert_string_equal(list.mounts[2].point, "/");
	assert_null(pgs_tmpfs_find(&list, makedev(0, 25)));
	pgs_tmpfs_list_fini(&list);
}

/* The folder "fs" of the tree as a file system. */
static struct pgs_tmpfs folder(const struct tree *t)
{
	struct stat st;
	char name[256];

	snprintf(name, sizeof(name), "%s/fs", t->root);
	assert_int_equal(stat(name, &st), 0);
	return (struct pgs_tmpfs){.point = (char *)"/fs", .dev = st.st_dev};
}

static int take_path(void *arg, const char *path, const struct stat *st)
{
	char *paths = arg;

	assert_true(S_ISREG(st->st_mode));
	strcat(strcat(paths, path), " ");
	return strcmp(path, "/stop") ? 0 : 7;
}

static void test_walk(void **state)
{
	struct tree *t = *state;
	struct pgs_tmpfs fs;
	char paths[512] = "", link[256];
	uint64_t skipped = 99;

	make_dir(t, "fs");
	make_dir(t, "fs/d");
	make_dir(t, "fs/d/e");
	write_file(t, "fs/d/e/deep", "x");
	write_file(t, "fs/empty", "");
	snprintf(link, sizeof(link), "%s/fs/d/loop", t->root);
	assert_int_equal(symlink(t->root, link), 0);
	fs = folder(t);
	assert_int_equal(pgs_tmpfs_walk(t->ctx, &fs, take_path, paths, &skipped), 0);
	assert_string_equal(paths, "/d/e/deep "); /* no link, and no file without pages */
	assert_int_equal(skipped, 0);
	write_file(t, "fs/stop", "x");
	assert_int_equal(pgs_tmpfs_walk(t->ctx, &fs, take_path, paths, &skipped), 7);
	fs.dev++;
	paths[0] = '\0';
	assert_int_equal(pgs_tmpfs_walk(t->ctx, &fs, take_path, paths, &skipped), 0);
	assert_string_equal(paths, ""); /* of another file system */
}

static void test_open(void **state)
{
	struct tree *t = *state;
	struct pgs_tmpfs fs;
	struct stat st;
	char name[256];
	int fd;

	make_dir(t, "fs");
	write_file(t, "fs/file", "x");
	fs = folder(t);
	snprintf(name, sizeof(name), "%s/fs/file", t->root);
	assert_int_equal(stat(name, &st), 0);
	fd = pgs_tmpfs_open(t->ctx, &fs, "/file", st.st_ino, O_PATH);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(pgs_tmpfs_open(t->ctx, &fs, "/file", st.st_ino + 1, O_PATH), -ESTALE);
	assert_int_equal(pgs_tmpfs_open(t->ctx, &fs, "/none", st.st_ino, O_PATH), -ENOENT);
	fs.dev++;
	assert_int_equal(pgs_tmpfs_open(t->ctx, &fs, "/file", st.st_ino, O_PATH), -ESTALE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_list, setup, teardown),
		cmocka_unit_test_setup_teardown(test_walk, setup, teardown),
		cmocka_unit_test_setup_teardown(test_open, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
