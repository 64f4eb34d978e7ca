// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of runs: made under locks in a buffer of the kernel, and copied to the caller after the
 * locks are dropped, because the caller may be the target itself, and a page fault under its own
 * mmap_lock would deadlock.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "internal.h"

/*
 * 64 KiB: as many as the pages that shmem.c looks at before it asks the object, for those may be a
 * run each, and have to be looked at again when there is no room.
 */
#define RUNS_IN_BUF 2048

int pgscan_runs_init(struct pgscan_runs *runs, u64 vec, u64 vec_len, u64 want)
{
	memset(runs, 0, sizeof(*runs));
	if (want >> PGSCAN_RUN_STATES)
		return -EINVAL;

	runs->vec = u64_to_user_ptr(vec);
	runs->vec_len = vec_len;
	if (vec_len)
		runs->want = want ?: U64_MAX;
	runs->broken = true;
	if (!runs->want)
		return 0;

	runs->buf =
		kvmalloc_array(min_t(u64, RUNS_IN_BUF, vec_len), sizeof(*runs->buf), GFP_KERNEL);
	return runs->buf ? 0 : -ENOMEM;
}

void pgscan_runs_fini(struct pgscan_runs *runs)
{
	kvfree(runs->buf);
}

static unsigned int runs_capacity(const struct pgscan_runs *runs)
{
	return min_t(u64, RUNS_IN_BUF, runs->vec_len - runs->written);
}

/* Does `run` go on where `last` ends, and in the same way? */
static bool run_continues(const struct pgscan_run *last, const struct pgscan_run *run)
{
	if (run->state != last->state || run->flags != last->flags ||
	    run->start != last->start + (last->pages << PAGE_SHIFT))
		return false;
	return run->state != PGSCAN_RUN_SWAPPED ||
	       (run->swap_type == last->swap_type && run->slot == last->slot + last->pages);
}

bool pgscan_runs_add(struct pgscan_runs *runs, const struct pgscan_run *run)
{
	if (runs->want & BIT_ULL(run->state)) {
		if (!runs->broken && run_continues(&runs->buf[runs->nr - 1], run)) {
			runs->buf[runs->nr - 1].pages += run->pages;
		} else if (runs->nr < runs_capacity(runs)) {
			runs->buf[runs->nr++] = *run;
			runs->broken = false;
		} else {
			runs->refused = true;
			return false;
		}
	}
	runs->pages[run->state] += run->pages;
	if (run->flags & PGSCAN_RUN_F_UFFD_WP)
		runs->marker_pages += run->pages;
	return true;
}

static int runs_flush(struct pgscan_runs *runs, unsigned int nr)
{
	if (copy_to_user(runs->vec + runs->written, runs->buf, nr * sizeof(*runs->buf)))
		return -EFAULT;
	runs->written += nr;
	runs->nr -= nr;
	return 0;
}

int pgscan_runs_make_room(struct pgscan_runs *runs)
{
	int err;

	if (!runs->refused)
		return 1;
	runs->refused = false;

	/* The last one stays, for it may grow, unless it is finished for certain. */
	if (runs->nr > 1) {
		struct pgscan_run last = runs->buf[runs->nr - 1];

		err = runs_flush(runs, runs->nr - 1);
		if (err)
			return err;
		runs->buf[0] = last;
	}
	return runs->nr < runs_capacity(runs);
}

long pgscan_runs_finish(struct pgscan_runs *runs)
{
	int err = runs_flush(runs, runs->nr);

	return err ?: (long)runs->written;
}
