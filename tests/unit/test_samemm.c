// SPDX-License-Identifier: GPL-2.0-only
/* samemm: who shares memory, among processes of our own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linux/kcmp.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "samemm.h"

static int wait_for_the_end(void *arg)
{
	(void)arg;
	while (pause())
		;
	return 0;
}

static pid_t start(int flags)
{
	static char stacks[4][16384];
	static size_t nr;
	pid_t pid =
		clone(wait_for_the_end, stacks[nr++] + sizeof(stacks[0]), flags | SIGCHLD, NULL);

	assert_true(pid > 0);
	return pid;
}

static void test_sharers(void **state)
{
	/* A pid that is none: nothing can be told of it. */
	pid_t pids[] = {start(0), start(CLONE_VM), getpid(), INT32_MAX, start(0), start(CLONE_VM)};
	const size_t nr = sizeof(pids) / sizeof(pids[0]);
	struct pgs_ctx *ctx;
	size_t first[6];

	(void)state;
	if (syscall(SYS_kcmp, getpid(), getpid(), KCMP_VM, 0, 0))
		skip(); /* this kernel has no CONFIG_KCMP */
	assert_int_equal(pgs_ctx_open(NULL, &ctx), 0);
	assert_int_equal(pgs_same_mm(ctx, pids, nr, first), 0);
	for (size_t i = 0; i < nr; i++) {
		bool shares = i == 1 || i == 2 || i == 5;

		assert_int_equal(first[i], shares ? 1 : i);
		if (pids[i] != getpid() && pids[i] != INT32_MAX) {
			kill(pids[i], SIGKILL);
			waitpid(pids[i], NULL, 0);
		}
	}
	pgs_ctx_close(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sharers),
	};

	return cmocka_run_group_tests_name("samemm", tests, NULL, NULL);
}
