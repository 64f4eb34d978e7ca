// SPDX-License-Identifier: GPL-2.0-only
#include "procfs.h"

#include "caps.h"
#include "cleanup.h"
#include "units.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

/* include/linux/sched.h; field 9 of /proc/PID/stat */
#define PF_EXITING 0x00000004u
#define PF_KTHREAD 0x00200000u

struct pgs_pids {
	pid_t *pid;
	size_t nr, room, next;
};

/* include/linux/proc_ns.h: PROC_USER_INIT_INO, the same on every kernel since 3.8. */
#define INIT_USER_NS_INODE 0xeffffffdu
#define INIT_PID_NS_INODE  0xeffffffcu /* PROC_PID_INIT_INO */

bool pgs_in_initial_user_ns(struct pgs_ctx *ctx)
{
	struct stat st;

	return fstatat(ctx->root_fd, "proc/self/ns/user", &st, 0) < 0 ||
	       st.st_ino == INIT_USER_NS_INODE;
}

/* The right to trace comes first: without it none of the others opens a process's file. */
static int missing_cap(uint64_t caps)
{
	int cap = pgs_caps_missing(caps & PGS_CAP(CAP_SYS_PTRACE));

	return cap >= 0 ? cap : pgs_caps_missing(caps);
}

/* The line says who could have opened it: EACCES alone sends people to chmod. */
static int open_failed(struct pgs_ctx *ctx, const char *path, uint64_t caps, int err)
{
	char name[PGS_CAP_STR];
	int cap = err == EACCES || err == EPERM ? missing_cap(caps) : -1;

	if (cap >= 0)
		return pgs_ctx_fail(ctx, -err, "cannot open '%s/%s': %s (needs %s)", ctx->root,
				    path, strerror(err), pgs_cap_name(cap, name));
	if ((err == EACCES || err == EPERM) && caps & PGS_CAP(CAP_SYS_PTRACE))
		return pgs_ctx_fail(ctx, -err, "cannot open '%s/%s': %s (%s)", ctx->root, path,
				    strerror(err),
				    pgs_in_initial_user_ns(ctx)
					    ? "a security module refuses ptrace access"
					    : "the capabilities of this user namespace do not "
					      "reach it");
	return pgs_ctx_fail(ctx, -err, "cannot open '%s/%s': %s", ctx->root, path, strerror(err));
}

static int open_path(struct pgs_ctx *ctx, uint64_t caps, int flags, const char *path)
{
	int fd, err;

	if (!ctx->live) /* a pipe in a captured tree must not stop us */
		flags |= O_NONBLOCK;
	if (caps)
		pgs_caps_raise(caps);
	fd = openat(ctx->root_fd, path, flags | O_RDONLY | O_CLOEXEC | O_NOCTTY);
	err = errno;
	if (caps)
		pgs_caps_lower();
	return fd < 0 ? open_failed(ctx, path, caps, err) : fd;
}

int pgs_open(struct pgs_ctx *ctx, uint64_t caps, int flags, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	if (len < 0 || len >= (int)sizeof(path))
		return pgs_ctx_fail(ctx, -ENAMETOOLONG, "path too long");
	return open_path(ctx, caps, flags, path);
}

int pgs_read_at(int fd, void *buf, size_t len, uint64_t offset)
{
	unsigned char *to = buf;

	while (len) {
		ssize_t n = pread(fd, to, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ENODATA;
		to += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

#define SLURP_LEAST 4096u /* seq_file gives a page a read: asking for less makes many reads */

/* Sizes of proc files are 0: read until a read returns nothing. */
static ssize_t slurp(int fd, char **ret_text)
{
	size_t len = 0, room = 2 * SLURP_LEAST;
	_cleanup_free_ char *text = malloc(room);

	for (;;) {
		ssize_t n;

		if (!text)
			return -ENOMEM;
		n = read(fd, text + len, room - len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		len += (size_t)n;
		if (room - len <= SLURP_LEAST) {
			char *more = realloc(text, room *= 2);

			if (!more)
				return -ENOMEM;
			text = more;
		}
	}
	text[len] = '\0';
	*ret_text = text;
	text = NULL;
	return (ssize_t)len;
}

ssize_t pgs_read_file(struct pgs_ctx *ctx, uint64_t caps, char **ret_text, const char *fmt, ...)
{
	_cleanup_close_ int fd = -1;
	char path[PATH_MAX];
	ssize_t len;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	fd = open_path(ctx, caps, 0, path);
	if (fd < 0)
		return fd;
	len = slurp(fd, ret_text);
	if (len < 0)
		pgs_ctx_fail(ctx, (int)len, "cannot read '%s/%s': %s", ctx->root, path,
			     strerror((int)-len));
	return len;
}

int pgs_read_u64(struct pgs_ctx *ctx, uint64_t caps, uint64_t *ret_value, const char *fmt, ...)
{
	_cleanup_free_ char *text = NULL;
	char path[PATH_MAX];
	ssize_t len;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	len = pgs_read_file(ctx, caps, &text, "%s", path);
	if (len < 0)
		return (int)len;
	text[strcspn(text, "\n")] = '\0';
	return pgs_parse_u64(text, ret_value);
}

int pgs_text_field(const char *text, const char *key, uint64_t *ret_value)
{
	size_t len = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		char *end;
		uint64_t value;

		line += *line == '\n';
		if (strncmp(line, key, len) ||
		    (line[len] != ':' && !isspace((unsigned char)line[len])))
			continue;
		line += len + (line[len] == ':');
		line += strspn(line, " \t");
		if (!isdigit((unsigned char)*line))
			return -EINVAL;
		errno = 0;
		value = strtoull(line, &end, 10);
		if (errno)
			return -EINVAL;
		*ret_value = value;
		return 1;
	}
	return 0;
}

/*
 * The comm of /proc/PID/stat may hold ") R 1 (" and newlines: it ends at the last parenthesis
 * (proc(5)). Fields behind it are blank-separated; flags is field 9, num_threads
 * field 20, starttime field 22.
 */
static int parse_stat(const char *stat, struct pgs_proc *proc)
{
	const char *open = strchr(stat, '('), *end = strrchr(stat, ')');
	unsigned long long start;
	unsigned int flags;
	size_t len;

	if (!open || !end || end < open)
		return -EBADMSG;
	len = (size_t)(end - open - 1);
	if (len >= sizeof(proc->comm))
		len = sizeof(proc->comm) - 1;
	memcpy(proc->comm, open + 1, len);
	proc->comm[len] = '\0';
	if (sscanf(end + 1,
		   " %c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %u %*d "
		   "%llu",
		   &proc->run_state, &flags, &proc->threads, &start) != 4)
		return -EBADMSG;
	proc->kthread = flags & PF_KTHREAD;
	proc->exiting = flags & PF_EXITING;
	proc->start_ticks = start;
	return 0;
}

static void parse_status(const char *status, struct pgs_proc *proc)
{
	proc->has_swap_kb = pgs_text_field(status, "VmSwap", &proc->vm_swap_kb) == 1;
	if (pgs_text_field(status, "RssShmem", &proc->rss_shmem_kb) != 1)
		proc->rss_shmem_kb = 0;
	if (pgs_text_field(status, "RssAnon", &proc->rss_anon_kb) != 1)
		proc->rss_anon_kb = 0;
}

/* kill() knows every process, whatever this mount of /proc shows of it: one that it knows is hidden
 * unless the mount certainly hides none. */
static bool is_hidden(struct pgs_ctx *ctx, pid_t pid)
{
	int hidden = pgs_pids_hidden(ctx);

	return hidden && hidden != PGS_PIDS_NAMESPACE && kill(pid, 0) < 0 && errno == EPERM;
}

/* Everybody may read these two, unless the mount says hidepid=: only then is ptrace access asked
 * for. */
static int read_own_text(struct pgs_ctx *ctx, pid_t pid, const char *name, char **ret_text)
{
	ssize_t r = pgs_read_file(ctx, 0, ret_text, "proc/%d/%s", (int)pid, name);

	if (r == -ENOENT || r == -EACCES || r == -EPERM)
		r = pgs_read_file(ctx, PGS_CAP(CAP_SYS_PTRACE), ret_text, "proc/%d/%s", (int)pid,
				  name);
	if (r != -ENOENT && r != -ESRCH)
		return r < 0 ? (int)r : 0;
	if (is_hidden(ctx, pid))
		return pgs_ctx_fail(ctx, -EPERM,
				    "process %d is hidden by the mount options of /proc (needs "
				    "CAP_SYS_PTRACE)",
				    (int)pid);
	return pgs_ctx_fail(ctx, -ESRCH, "no process %d", (int)pid);
}

static int refuse_thread(struct pgs_ctx *ctx, pid_t pid, const char *status)
{
	uint64_t tgid;

	if (pgs_text_field(status, "Tgid", &tgid) != 1 || !tgid || tgid == (uint64_t)pid)
		return 0;
	return pgs_ctx_fail(ctx, -ESRCH, "%d is a thread of process %llu: name that one", (int)pid,
			    (unsigned long long)tgid);
}

int pgs_proc_check_leader(struct pgs_ctx *ctx, pid_t pid)
{
	_cleanup_free_ char *status = NULL;

	return read_own_text(ctx, pid, "status", &status) ? 0 : refuse_thread(ctx, pid, status);
}

/* The first thread has let go of the memory when it exited: find one that has not. */
static void find_task(struct pgs_ctx *ctx, struct pgs_proc *proc)
{
	int fd = pgs_open(ctx, 0, O_DIRECTORY, "proc/%d/task", (int)proc->pid);
	_cleanup_closedir_ DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!dir && fd >= 0)
		close(fd);
	while (dir && proc->task == proc->pid && (entry = readdir(dir))) {
		_cleanup_free_ char *status = NULL;
		uint64_t tid;

		if (pgs_parse_u64(entry->d_name, &tid) || (pid_t)tid == proc->pid ||
		    read_own_text(ctx, (pid_t)tid, "status", &status))
			continue;
		parse_status(status, proc);
		if (proc->has_swap_kb)
			proc->task = (pid_t)tid;
	}
}

int pgs_proc_read(struct pgs_ctx *ctx, pid_t pid, struct pgs_proc *ret_proc)
{
	_cleanup_free_ char *stat = NULL, *status = NULL;
	struct pgs_proc proc = {.pid = pid, .task = pid};
	int r;

	r = read_own_text(ctx, pid, "stat", &stat);
	if (!r)
		r = read_own_text(ctx, pid, "status", &status);
	if (!r)
		r = refuse_thread(ctx, pid, status);
	if (r)
		return r;
	if (parse_stat(stat, &proc) < 0)
		return pgs_ctx_fail(ctx, -EBADMSG, "cannot make sense of '%s/proc/%d/stat'",
				    ctx->root, (int)pid);
	parse_status(status, &proc);
	if (proc.run_state == 'Z' && proc.threads > 1)
		find_task(ctx, &proc);
	*ret_proc = proc;
	return 0;
}

int pgs_proc_explain(struct pgs_ctx *ctx, pid_t pid, int err)
{
	struct pgs_proc proc;
	int r;

	if (err != -ESRCH && err != -EACCES && err != -EPERM)
		return err;
	r = pgs_proc_read(ctx, pid, &proc);
	if (r)
		return r == -EPERM ? r : err;
	if (proc.kthread)
		return pgs_ctx_fail(ctx, -ESRCH,
				    "process %d is a kernel thread: it has no memory of its own",
				    (int)pid);
	if (proc.task != pid)
		return pgs_ctx_fail(ctx, -ESRCH,
				    "the first thread of process %d has exited, others go on",
				    (int)pid);
	if (proc.run_state == 'Z')
		return pgs_ctx_fail(ctx, -ESRCH, "process %d has exited: it is a zombie", (int)pid);
	return err;
}

static int pids_push(struct pgs_pids *pids, pid_t pid)
{
	if (pids->nr == pids->room) {
		size_t room = pids->room ? pids->room * 2 : 512;
		pid_t *more = realloc(pids->pid, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		pids->pid = more;
		pids->room = room;
	}
	pids->pid[pids->nr++] = pid;
	return 0;
}

static int pids_list(struct pgs_pids *pids, DIR *dir)
{
	struct dirent *entry;
	uint64_t pid;
	int r = 0;

	while (!r && (errno = 0, (entry = readdir(dir)) != NULL))
		if (isdigit((unsigned char)entry->d_name[0]) &&
		    !pgs_parse_u64(entry->d_name, &pid) && pid <= INT_MAX)
			r = pids_push(pids, (pid_t)pid);
	return r ? r : -errno;
}

bool pgs_procfs_is_whole(struct pgs_ctx *ctx)
{
	return !faccessat(ctx->root_fd, "proc/meminfo", F_OK, 0);
}

/* The list is taken at once, with ptrace access, so that hidepid= hides nobody from root. */
int pgs_pids_open(struct pgs_ctx *ctx, struct pgs_pids **ret_pids)
{
	_cleanup_(pgs_pids_closep) struct pgs_pids *pids = calloc(1, sizeof(*pids));
	_cleanup_closedir_ DIR *dir = NULL;
	int fd, r;

	if (!pids)
		return -ENOMEM;
	fd = pgs_open(ctx, 0, O_DIRECTORY, "proc");
	if (fd < 0)
		return fd;
	dir = fdopendir(fd);
	if (!dir) {
		r = -errno;
		close(fd);
		return r;
	}
	pgs_caps_raise(PGS_CAP(CAP_SYS_PTRACE));
	r = pids_list(pids, dir);
	pgs_caps_lower();
	if (r)
		return pgs_ctx_fail(ctx, r, "cannot list '%s/proc': %s", ctx->root, strerror(-r));
	if (!pids->nr)
		return pgs_ctx_fail(ctx, -ENOENT,
				    "there is no process in '%s/proc': is procfs mounted there?",
				    ctx->root);
	*ret_pids = pids;
	pids = NULL;
	return 0;
}

void pgs_pids_close(struct pgs_pids *pids)
{
	if (!pids)
		return;
	free(pids->pid);
	free(pids);
}

void pgs_pids_closep(struct pgs_pids **pids)
{
	pgs_pids_close(*pids);
}

int pgs_pids_next(struct pgs_pids *pids, pid_t *ret_pid)
{
	if (pids->next == pids->nr)
		return 0;
	*ret_pid = pids->pid[pids->next++];
	return 1;
}

/*
 * hidepid=1, 2, 4 (noaccess, invisible, ptraceable) hide what ptrace access or the gid= option do
 * not open (Documentation/filesystems/proc.rst, "Mount options").
 */
static int hidden_by_mount(struct pgs_ctx *ctx)
{
	_cleanup_free_ char *mounts = NULL;
	char *save, *line;
	int hidden = -ENODATA;
	ssize_t len;

	if (!ctx->live ||
	    (pgs_caps_missing(PGS_CAP(CAP_SYS_PTRACE)) < 0 && pgs_in_initial_user_ns(ctx)))
		return 0;
	len = pgs_read_file(ctx, 0, &mounts, "proc/self/mounts");
	if (len < 0)
		return len == -ENOENT ? -ENODATA : (int)len;
	for (line = strtok_r(mounts, "\n", &save); line && hidden <= 0;
	     line = strtok_r(NULL, "\n", &save)) {
		const char *options = strstr(line, " /proc proc ");
		const char *hide = options ? strstr(options, "hidepid=") : NULL;

		if (options)
			hidden = hide && hide[strlen("hidepid=")] != '0' &&
				 strncmp(hide, "hidepid=off", 11);
	}
	return hidden;
}

static bool is_procfs(const struct pgs_ctx *ctx)
{
	_cleanup_close_ int fd = openat(ctx->root_fd, "proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct statfs fs;

	return fd >= 0 && !fstatfs(fd, &fs) && fs.f_type == PROC_SUPER_MAGIC;
}

/* rest_init() in init/main.c starts it second, and threads of the kernel are in the outermost
 * namespace alone. */
static bool shows_kthreadd(struct pgs_ctx *ctx)
{
	_cleanup_free_ char *stat = NULL;
	struct pgs_proc proc;

	return pgs_read_file(ctx, PGS_CAP(CAP_SYS_PTRACE), &stat, "proc/2/stat") > 0 &&
	       !parse_stat(stat, &proc) && proc.kthread;
}

/*
 * A procfs shows the processes of the PID namespace it was mounted for, and of those within
 * (pid_namespaces(7)). That need not be ours, but where ours is the outermost one every procfs that
 * has us is the machine's.
 */
static bool is_inner_namespace(struct pgs_ctx *ctx)
{
	struct stat st;

	if (ctx->live) {
		if (fstatat(ctx->root_fd, "proc/self/ns/pid", &st, 0) < 0) {
			if (errno == ENOENT) /* CONFIG_PID_NS=n */
				return false;
		} else if (st.st_ino == INIT_PID_NS_INODE) {
			return false;
		}
	}
	return is_procfs(ctx) && !shows_kthreadd(ctx);
}

int pgs_pids_hidden(struct pgs_ctx *ctx)
{
	int hidden = hidden_by_mount(ctx);

	return hidden <= 0 && is_inner_namespace(ctx) ? PGS_PIDS_NAMESPACE : hidden;
}

/* ---- whether counters are exact -------------------------------------------------------------- */

#define OWN_PAGES 3u /* few enough for one CPU to keep to itself */

static char *touch_shared(const struct pgs_ctx *ctx, unsigned int pages)
{
	char *map = mmap(NULL, (size_t)pages * ctx->page_size, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	for (unsigned int i = 0; map != MAP_FAILED && i < pages; i++)
		*(volatile char *)(map + (size_t)i * ctx->page_size) = 1;
	return map;
}

/* RssShmem, which nothing else of ours changes. To unmap a page hands in what kernels before 6.2
 * keep in the task (sync_mm_rss()); VmSwap never was kept there. */
static bool own_shmem(struct pgs_ctx *ctx, uint64_t *ret_kb)
{
	_cleanup_free_ char *text = NULL;
	char *page = touch_shared(ctx, 1);

	if (page == MAP_FAILED)
		return false;
	munmap(page, ctx->page_size);
	return pgs_read_file(ctx, 0, &text, "proc/self/status") > 0 &&
	       pgs_text_field(text, "RssShmem", ret_kb) == 1;
}

bool pgs_counters_are_exact(struct pgs_ctx *ctx)
{
	uint64_t before, after, size = OWN_PAGES * ctx->page_size;
	bool exact;
	char *map;

	if (!pgs_mech_enabled(ctx, PGS_MECH_COUNTERS))
		return false;
	if (!ctx->live)
		return true;
	if (!own_shmem(ctx, &before))
		return false;
	map = touch_shared(ctx, OWN_PAGES);
	if (map == MAP_FAILED)
		return false;
	exact = own_shmem(ctx, &after) && after - before == size / 1024;
	munmap(map, size);
	return exact;
}
