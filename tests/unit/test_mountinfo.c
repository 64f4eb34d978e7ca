// SPDX-License-Identifier: GPL-2.0-only
/* The lines of mountinfo: what is documented, and what else was seen there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/sysmacros.h>

#include "mountinfo.h"

static void test_fields(void **state)
{
	char text[] =
		"36 35 98:11 /root /mnt rw,noatime master:1 shared:2 - ext3 /dev/root rw,x=y\n"
		"37 35 0:28 / /run rw - tmpfs tmpfs rw,size=64k";
	char *rest = text;
	struct pgs_mount mount;

	(void)state;
	assert_true(pgs_mount_next(&rest, &mount));
	assert_int_equal(mount.dev, makedev(98, 11));
	assert_string_equal(mount.root, "/root");
	assert_string_equal(mount.point, "/mnt");
	assert_string_equal(mount.type, "ext3");
	assert_string_equal(mount.super_options, "rw,x=y");
	assert_true(pgs_mount_next(&rest, &mount));
	assert_int_equal(mount.dev, makedev(0, 28));
	assert_string_equal(mount.point, "/run");
	assert_false(pgs_mount_next(&rest, &mount));
}

/* Escapes of blanks, newlines, # and backslashes; octal digits alone are an escape. */
static void test_escapes(void **state)
{
	char text[] = "1 1 0:1 /a\\040b /c\\134d\\012\\0438\\9 rw - tmpfs none rw\n";
	char *rest = text;
	struct pgs_mount mount;

	(void)state;
	assert_true(pgs_mount_next(&rest, &mount));
	assert_string_equal(mount.root, "/a b");
	assert_string_equal(mount.point, "/c\\d\n#8\\9");
}

/* mount("", …): the source is there, and empty. */
static void test_empty_source(void **state)
{
	char text[] = "1 1 0:1 / /a rw - tmpfs  rw,size=1k\n";
	char *rest = text;
	struct pgs_mount mount;

	(void)state;
	assert_true(pgs_mount_next(&rest, &mount));
	assert_string_equal(mount.type, "tmpfs");
	assert_string_equal(mount.super_options, "rw,size=1k");
}

static void test_garbage(void **state)
{
	char text[] = "\n"
		      " - \n"
		      "1 1 0:1 - tmpfs none rw\n"
		      "1 1 0:1 / /a rw\n"
		      "1 1 0:1 / /a rw - tmpfs\n"
		      "1 1 0:1 / /a rw - tmpfs none\n"
		      "x y 0:1 / /a rw - tmpfs none rw\n"
		      "1 1 0:1 / /good rw - tmpfs none rw";
	char *rest = text;
	struct pgs_mount mount;

	(void)state;
	assert_true(pgs_mount_next(&rest, &mount));
	assert_string_equal(mount.point, "/good");
	assert_false(pgs_mount_next(&rest, &mount));
	assert_false(pgs_mount_next(&rest, &mount));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_empty_source),
		cmocka_unit_test(test_garbage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
