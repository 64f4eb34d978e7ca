/* SPDX-License-Identifier: GPL-2.0-only */
/* procfs: files below the context's root, opened with the least privilege; all processes. */
#pragma once

#include "ctx.h"

#include <fcntl.h>
#include <sys/types.h>

/*
 * pgs_open - open a file below the context's root, read-only and close-on-exec, with the
 * permitted ones of @caps (PGS_CAP() bits) effective during the open alone.
 * Returns a descriptor or -errno; on EACCES/EPERM the context's line names the first of @caps
 * that is missing.
 */
int pgs_open(struct pgs_ctx *ctx, uint64_t caps, int flags, const char *fmt, ...)
	__attribute__((nonnull(1, 4), format(printf, 4, 5), warn_unused_result));

/* pgs_read_at - @len bytes of a file from @offset on. 0, or -errno: -ENODATA it ends before. */
int pgs_read_at(int fd, void *buf, size_t len, uint64_t offset)
	__attribute__((nonnull, warn_unused_result));

/*
 * pgs_read_file - a whole small file below the root as a NUL-terminated string.
 * The caller frees *@ret_text. Returns its length or -errno.
 */
ssize_t pgs_read_file(struct pgs_ctx *ctx, uint64_t caps, char **ret_text, const char *fmt, ...)
	__attribute__((nonnull(1, 3, 4), format(printf, 4, 5), warn_unused_result));

/* pgs_read_u64 - the number that a file holds, alone in its first line. 0 or -errno: as
 * pgs_read_file() or, where it is no number, as pgs_parse_u64(). */
int pgs_read_u64(struct pgs_ctx *ctx, uint64_t caps, uint64_t *ret_value, const char *fmt, ...)
	__attribute__((nonnull(1, 3, 4), format(printf, 4, 5), warn_unused_result));

/* pgs_in_initial_user_ns - whether capabilities count everywhere, or in a namespace of users alone;
 * true where that cannot be told. */
bool pgs_in_initial_user_ns(struct pgs_ctx *ctx) __attribute__((nonnull));

/* pgs_text_field - the number after a line's "@key" and optional colon and blanks in @text
 * ("VmSwap", "HugePages_Total"): 1 found, 0 no such line, -EINVAL no number there. */
int pgs_text_field(const char *text, const char *key, uint64_t *ret_value)
	__attribute__((nonnull, warn_unused_result));

/* What one look at /proc/PID/stat and /proc/PID/status tells; kB fields as the kernel prints. */
struct pgs_proc {
	pid_t pid;
	/* The thread by whose files in /proc its memory is seen: @pid, or where the first thread
	 * has exited before the others (pthread_exit(3) in main()) one of them. Live systems only.
	 */
	pid_t task;
	char comm[64];	/* raw bytes; the kernel's 15, or a workqueue's longer name */
	char run_state; /* R S D Z X ... */
	bool kthread;
	bool exiting; /* it will not run in user mode again; a zombie is, too */
	unsigned int threads;
	uint64_t start_ticks; /* with pid: the identity of the process */
	bool has_swap_kb;     /* VmSwap was there (it is absent for kernel threads and zombies) */
	uint64_t vm_swap_kb, rss_shmem_kb, rss_anon_kb;
};

/* pgs_proc_read - fill @ret_proc. Returns 0, or -errno (-ESRCH: no such process, or @pid is a
 * thread of one; -EPERM: there is one, which hidepid= hides). */
int pgs_proc_read(struct pgs_ctx *ctx, pid_t pid, struct pgs_proc *ret_proc)
	__attribute__((nonnull, warn_unused_result));

/* pgs_proc_check_leader - /proc opens for the number of any thread too, and shows the memory of its
 * process, which who adds processes up would count again. Returns -ESRCH where @pid is such a
 * number, otherwise 0: whether there is a process is not asked. */
int pgs_proc_check_leader(struct pgs_ctx *ctx, pid_t pid)
	__attribute__((nonnull, warn_unused_result));

/* pgs_proc_explain - @err met at the memory of @pid: a task without any may be refused before it is
 * found to have none. Returns -ESRCH where that is so, -EPERM where /proc hides it, otherwise @err;
 * why is in the context. */
int pgs_proc_explain(struct pgs_ctx *ctx, pid_t pid, int err) __attribute__((nonnull));

/* pgs_procfs_is_whole - whether proc/ has the files that are not of processes: where it has none, a
 * file that is missing tells nothing of the kernel. False where nothing is mounted on it, and with
 * subset=pid ("proc: allow to mount only pids", 5.8). */
bool pgs_procfs_is_whole(struct pgs_ctx *ctx) __attribute__((nonnull));

/* The processes of the machine, as /proc lists them at one moment (but for hidepid: below).
 * -ENOENT: it lists none, not even the one that asks, as no procfs does. */
struct pgs_pids;
int pgs_pids_open(struct pgs_ctx *ctx, struct pgs_pids **ret_pids)
	__attribute__((nonnull, warn_unused_result));
void pgs_pids_close(struct pgs_pids *pids);
void pgs_pids_closep(struct pgs_pids **pids);
/* 1 and *@ret_pid, 0 at the end. */
int pgs_pids_next(struct pgs_pids *pids, pid_t *ret_pid)
	__attribute__((nonnull, warn_unused_result));
#define PGS_PIDS_HIDEPID   1 /* mount option hidepid=, and no right to look past it */
#define PGS_PIDS_NAMESPACE 2 /* it is of a PID namespace that is not the machine's */
/*
 * pgs_pids_hidden - whether this mount of /proc hides processes of the machine from us: why, 0: it
 * does not, or -errno: that is not known (-ENODATA: there is no list of mounts, or /proc is not in
 * it). A captured tree hides nothing; the /proc of another namespace is no such tree.
 */
int pgs_pids_hidden(struct pgs_ctx *ctx) __attribute__((nonnull, warn_unused_result));

/*
 * pgs_counters_are_exact - whether a process's counters of pages (VmSwap, Rss*) are what they say.
 * Since 6.2 ("mm: convert mm's rss stats into percpu_counter") they were short by what each CPU had
 * not handed in, at least 31 pages each, until "mm: fix the inaccurate memory statistics issue for
 * users". Found out on our own; a captured tree is taken at its word.
 */
bool pgs_counters_are_exact(struct pgs_ctx *ctx) __attribute__((nonnull));
