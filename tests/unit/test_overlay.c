// SPDX-License-Identifier: GPL-2.0-only
/* Which mounts of an overlay have a layer on tmpfs, by their options. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <linux/magic.h>
#include <sys/vfs.h>

#include "overlay.h"

static void test_options(void **state)
{
	static const struct {
		const char *options;
		bool tmpfs;
	} cases[] = {
		{"rw,lowerdir=/proc,upperdir=/dev/shm,workdir=/proc", true},
		{"rw,lowerdir=/proc:/sys:/dev/shm,upperdir=/proc", true},
		{"rw,lowerdir=/dev/shm:/proc", true},
		{"rw,lowerdir=/proc::/dev/shm", true},
		{"rw,lowerdir+=/proc,lowerdir+=/dev/shm", true},
		{"rw,lowerdir=/proc,datadir+=/dev/shm", true},
		{"rw,upperdir=/dev\\057shm", true},
		{"rw,lowerdir=/proc,upperdir=/proc,workdir=/dev/shm", false},
		{"rw,lowerdir=/proc,upperdir=/sys", false},
		{"rw,lowerdir=/dev/shm/none:dev/shm", false}, /* leads nowhere from here */
		{"rw,xupperdir=/dev/shm,upperdirs=/dev/shm", false},
		{"rw,upperdir", false},
		{"", false},
	};
	struct statfs fs;

	(void)state;
	if (statfs("/dev/shm", &fs) || fs.f_type != TMPFS_MAGIC)
		skip();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (pgs_overlay_has_tmpfs(cases[i].options) != cases[i].tmpfs)
			fail_msg("%s", cases[i].options);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_options)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
