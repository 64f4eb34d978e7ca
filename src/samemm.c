// SPDX-License-Identifier: GPL-2.0-only
#include "samemm.h"

#include "caps.h"
#include "cleanup.h"

#include <errno.h>
#include <linux/kcmp.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

struct process {
	pid_t pid;
	size_t index;
};

static bool kcmp_works(void)
{
	return !syscall(SYS_kcmp, getpid(), getpid(), KCMP_VM, 0, 0);
}

/* kcmp() orders what it compares, for the sake of sorting; 3 is "not equal, and no order". */
static int compare_mm(const struct process *a, const struct process *b)
{
	switch (syscall(SYS_kcmp, a->pid, b->pid, KCMP_VM, 0, 0)) {
	case 0:
		return 0;
	case 1:
		return -1;
	default:
		return 1;
	}
}

static int by_mm(const void *pa, const void *pb)
{
	const struct process *a = pa, *b = pb;
	int r = compare_mm(a, b);

	return r ? r : (a->index > b->index) - (a->index < b->index);
}

int pgs_same_mm(const struct pgs_ctx *ctx, const pid_t *pids, size_t nr, size_t *ret_first)
{
	_cleanup_free_ struct process *sorted = calloc(nr + 1, sizeof(*sorted));

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		sorted[i] = (struct process){pids[i], i};
		ret_first[i] = i;
	}
	if (!ctx->live || !kcmp_works())
		return 0;
	pgs_caps_raise(PGS_CAP(CAP_SYS_PTRACE));
	qsort(sorted, nr, sizeof(*sorted), by_mm);
	for (size_t i = 1; i < nr; i++)
		if (!compare_mm(&sorted[i - 1], &sorted[i]))
			ret_first[sorted[i].index] = ret_first[sorted[i - 1].index];
	pgs_caps_lower();
	return 0;
}
