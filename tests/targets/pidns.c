// SPDX-License-Identifier: GPL-2.0-only
/*
 * pidns - memory that a process of another PID namespace holds, too.
 *   pages=N   regions "anon" and "shm": private and shared memory, all of it written. A child in a
 *             PID namespace of its own has both.
 */
#include "target.h"

#include <sched.h>

int main(int argc, char **argv)
{
	static const char *const keys[] = {"pages", NULL};
	struct target t;
	size_t pages;
	int pid;

	(void)argc;
	target_init(&t, argv, keys);
	pages = target_number(target_word(argv, "pages", "64"));
	for (int shared = 0; shared < 2; shared++) {
		int flags = MAP_ANONYMOUS | (shared ? MAP_SHARED : MAP_PRIVATE);
		char *p = target_map(&t, pages, PROT_READ | PROT_WRITE, flags, -1, 0);

		target_write(&t, target_region_add(&t, shared ? "shm" : "anon", p, pages), "all");
	}
	fflush(stdout);
	if (unshare(CLONE_NEWPID))
		target_die("unshare");
	pid = fork();
	if (pid < 0)
		target_die("fork");
	if (!pid) {
		if (prctl(PR_SET_PDEATHSIG, SIGKILL))
			_exit(1);
		for (;;)
			pause();
	}
	return target_serve(&t, NULL);
}
