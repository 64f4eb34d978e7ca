/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of the module know of each other. */
#ifndef PGSCAN_INTERNAL_H
#define PGSCAN_INTERNAL_H

#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/types.h>

#include "uapi/pgscan.h"

/*
 * How much work is done before locks are dropped and the scheduler gets its chance, and how much
 * in one call before it returns to let the caller go on from walk_end. The unit is about ten
 * nanoseconds: a page looked at, an entry of an object.
 */
#define PGSCAN_BATCH_WORK 8192
#define PGSCAN_CALL_WORK  (4 << 20)

/* The argument of any request, in the kernel. */
union pgscan_arg {
	struct pgscan_info info;
	struct pgscan_shmem shmem;
	struct pgscan_extents extents;
	struct pgscan_objects objects;
	struct pgscan_scan scan;
	struct pgscan_reported reported;
	struct pgscan_tags tags;
};

/*
 * The requests. `arg` is copied in before and, unless the result is negative, out afterwards; its
 * size and flags are checked, reserved fields are not. All return what ioctl returns, and sleep.
 * Those that can go on where they stopped do stop for a signal (-ERESTARTSYS before they have
 * done anything), the others only when the caller is killed.
 */
long pgscan_shmem(union pgscan_arg *arg);
long pgscan_extents(union pgscan_arg *arg);
long pgscan_objects(union pgscan_arg *arg);
long pgscan_reported(union pgscan_arg *arg);
long pgscan_tags(union pgscan_arg *arg);
#ifdef PGSCAN_WITH_SCAN
long pgscan_scan(union pgscan_arg *arg);
u64 pgscan_scan_features(void);
#else
static inline long pgscan_scan(union pgscan_arg *arg)
{
	return -EOPNOTSUPP;
}
static inline u64 pgscan_scan_features(void)
{
	return 0;
}
#endif

int pgscan_reported_init(void);
void pgscan_reported_exit(void);

/* target.c: the process that a pagemap descriptor stands for */

int pgscan_target_init(void);
/*
 * On success *ret_mm holds a reference to mm_users, to be dropped with mmput() outside of locks.
 * -EBADF, -EINVAL, -EPERM, -ESRCH as uapi/pgscan.h says.
 */
int pgscan_target_get(int fd, struct mm_struct **ret_mm);
/* 0, or -EINVAL if [start, end) is not a page aligned range of user addresses. */
int pgscan_check_range(u64 start, u64 end);

/* runs.c: records of runs on their way to the caller */

#define PGSCAN_RUN_STATES (PGSCAN_RUN_POISONED + 1)

struct pgscan_runs {
	struct pgscan_run *buf; /* the last record may still grow */
	unsigned int nr;	/* records in buf */
	bool refused;		/* a run found no room, and was not counted */
	bool broken;		/* the next run starts a new record whatever it is */
	struct pgscan_run __user *vec;
	u64 vec_len;
	u64 written;
	u64 want;		      /* bit n: records of state n are wanted */
	u64 pages[PGSCAN_RUN_STATES]; /* pages accepted, by state, wanted or not */
	u64 marker_pages;	      /* those of them in runs with PGSCAN_RUN_F_UFFD_WP */
};

/* vec_len 0 is allowed and makes a counter. -EINVAL for bits in `want` that are no state. */
int pgscan_runs_init(struct pgscan_runs *runs, u64 vec, u64 vec_len, u64 want);
void pgscan_runs_fini(struct pgscan_runs *runs);
/* False if there is no room. Never sleeps. */
bool pgscan_runs_add(struct pgscan_runs *runs, const struct pgscan_run *run);
/* Do not let the next run join the last record: another mapping begins. */
static inline void pgscan_runs_break(struct pgscan_runs *runs)
{
	runs->broken = true;
}
/* Make room by copying to the caller: 1, or 0 if its vector is full, or -EFAULT. */
int pgscan_runs_make_room(struct pgscan_runs *runs);
/* Copy what is left: the number of records written in all, or -EFAULT. */
long pgscan_runs_finish(struct pgscan_runs *runs);

/* object.c: what the page cache of a shmem object says */

struct pgscan_object_walk {
	struct address_space *mapping;
	struct pgscan_runs *runs;
	u64 start;  /* what run.start is for the page at `first` */
	u16 flags;  /* of the runs */
	bool holes; /* also report holes, as PGSCAN_RUN_NONE */
	long work;  /* may do so much; what is left comes back, below 1 if it ran out */
};

/*
 * Report the pages `first` to `last` (included, `last` < ULONG_MAX). Returns the index to go on
 * from, last + 1 when done: it stops when runs are refused or the work runs out. Takes the lock
 * of the XArray, for at most 512 entries each time. May sleep.
 */
pgoff_t pgscan_object_walk(struct pgscan_object_walk *walk, pgoff_t first, pgoff_t last);

/* inodes.c: all shmem objects of the system */

struct pgscan_inode_walk {
	/*
	 * Called for each inode of shmem that may have pages, without a reference and under
	 * s_inode_list_lock: whether to visit it.
	 */
	bool (*match)(struct pgscan_inode_walk *walk, struct inode *inode);
	/* Called with a reference, and s_umount of the superblock held for reading. May sleep. */
	void (*visit)(struct pgscan_inode_walk *walk, struct inode *inode);
	u64 supers; /* superblocks seen */
	bool stop;  /* set by the callbacks to end the walk */
};

/* 0, or -EINTR if the caller is being killed: then the walk ended somewhere. */
int pgscan_walk_inodes(struct pgscan_inode_walk *walk);

void pgscan_object_key(const struct inode *inode, struct pgscan_key *ret_key);
/*
 * The inode of that key: *ret_inode holds a reference to it and an active one to its superblock;
 * both are dropped by pgscan_object_put(). -ESTALE if there is no such object, -EINTR.
 */
int pgscan_object_find(const struct pgscan_key *key, struct inode **ret_inode);
void pgscan_object_put(struct inode *inode);

#endif /* PGSCAN_INTERNAL_H */
