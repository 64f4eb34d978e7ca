// SPDX-License-Identifier: GPL-2.0-only
#include "inject_find.h"

#include "caps.h"
#include "cleanup.h"
#include "inject_arch.h"
#include "maps.h"
#include "procfs.h"
#include "units.h"

#include <errno.h>
#include <string.h>

/* ---- which thread ---------------------------------------------------------------------------- */

struct thread_state {
	char state; /* R S D T t Z X … */
	uint64_t tracer, seccomp;
};

static int read_thread(struct pgs_ctx *ctx, pid_t pid, pid_t tid, struct thread_state *ret)
{
	_cleanup_free_ char *text = NULL;
	struct thread_state ts = {0};
	const char *state;

	if (pgs_read_file(ctx, 0, &text, "proc/%d/task/%d/status", (int)pid, (int)tid) < 0)
		return -ESRCH;
	state = strstr(text, "\nState:");
	if (!state)
		return -EBADMSG;
	state += strlen("\nState:");
	ts.state = state[strspn(state, " \t")];
	if (pgs_text_field(text, "TracerPid", &ts.tracer) < 0 ||
	    pgs_text_field(text, "Seccomp", &ts.seccomp) < 0)
		return -EBADMSG;
	*ret = ts;
	return 0;
}

/* D would not stop before its sleep ends. T is fine: it stays stopped afterwards. */
static bool can_stop(const struct thread_state *ts)
{
	return !ts->tracer && strchr("RST", ts->state);
}

static int refuse(struct pgs_ctx *ctx, int pid, const struct thread_state *leader)
{
	if (leader->tracer)
		return pgs_ctx_fail(ctx, -EBUSY, "process %d is already traced, by process %d", pid,
				    (int)leader->tracer);
	if (leader->state == 'Z')
		return pgs_ctx_fail(ctx, -EOPNOTSUPP, "process %d has exited: it is a zombie", pid);
	if (leader->state == 'D')
		return pgs_ctx_fail(
			ctx, -EBUSY,
			"process %d is in uninterruptible sleep and cannot be stopped now", pid);
	return pgs_ctx_fail(ctx, -EBUSY, "no thread of process %d can be stopped: state %c", pid,
			    leader->state);
}

/* Whether a stop would go unnoticed: the thread runs, or sleeps in a call that goes on by itself.
 * Of this file the kernel checks the right to read it at each read. */
static bool stops_unnoticed(struct pgs_ctx *ctx, pid_t pid, pid_t tid)
{
	_cleanup_close_ int fd =
		pgs_open(ctx, PGS_CAPS_OTHERS, 0, "proc/%d/task/%d/syscall", (int)pid, (int)tid);
	char text[32];
	uint64_t nr;
	ssize_t n;

	if (fd < 0)
		return true;
	pgs_caps_raise(PGS_CAP(CAP_SYS_PTRACE));
	n = read(fd, text, sizeof(text) - 1);
	pgs_caps_lower();
	if (n <= 0)
		return true;
	text[n] = '\0';
	text[strcspn(text, " \n")] = '\0';
	return pgs_parse_u64(text, &nr) || pgs_syscall_restarts((long)nr);
}

static void take_thread(struct pgs_thread *thread, pid_t tid, const struct thread_state *ts)
{
	thread->tid = tid;
	thread->seccomp = (int)ts->seccomp;
}

/* Another thread than the first: one that will not notice, if there is one. */
static int choose_other(struct pgs_ctx *ctx, pid_t pid, struct pgs_thread *thread)
{
	_cleanup_(pgs_closedirp) DIR *dir = NULL;
	int fd = pgs_open(ctx, 0, O_DIRECTORY, "proc/%d/task", (int)pid);
	struct thread_state ts;
	struct dirent *entry;

	if (fd < 0)
		return fd;
	dir = fdopendir(fd);
	while (dir && (entry = readdir(dir))) {
		uint64_t tid;

		if (pgs_parse_u64(entry->d_name, &tid) || read_thread(ctx, pid, (pid_t)tid, &ts) ||
		    !can_stop(&ts))
			continue;
		if (!thread->tid)
			take_thread(thread, (pid_t)tid, &ts);
		if (!stops_unnoticed(ctx, pid, (pid_t)tid))
			continue;
		take_thread(thread, (pid_t)tid, &ts);
		break;
	}
	return 0;
}

/* The first thread is preferred: it is the one whose descriptors pidfd_getfd(2) looks at, should
 * the threads not share them. */
int pgs_find_thread(struct pgs_ctx *ctx, pid_t pid, struct pgs_thread *ret_thread)
{
	struct pgs_thread thread = {0};
	struct thread_state leader;
	int r = read_thread(ctx, pid, pid, &leader);

	if (r)
		return pgs_ctx_fail(ctx, r, "there is no process %d", (int)pid);
	if (can_stop(&leader))
		take_thread(&thread, pid, &leader);
	if (!thread.tid || !stops_unnoticed(ctx, pid, pid))
		r = choose_other(ctx, pid, &thread);
	if (!r && !thread.tid)
		r = refuse(ctx, (int)pid, &leader);
	if (!r)
		*ret_thread = thread;
	return r;
}

/* ---- which instruction ----------------------------------------------------------------------- */

/* Look for the instruction in [start, end) of the target. The bytes may be the middle of another
 * one: nothing but the two of them is executed. */
static int search_mapping(int mem, const struct pgs_vma *vma, uint64_t *ret_insn)
{
	enum { CHUNK = 65536 };
	_cleanup_free_ unsigned char *buf = malloc(CHUNK);
	ssize_t n;

	for (uint64_t at = vma->start; buf && at < vma->end; at += (uint64_t)n) {
		const unsigned char *p = buf;
		size_t want = vma->end - at < CHUNK ? vma->end - at : CHUNK;

		n = pread(mem, buf, want, (off_t)at);
		if (n <= 0)
			return 0;
		while ((p = memmem(p, (size_t)(buf + n - p), pgs_insn_bytes, pgs_insn_size))) {
			if ((size_t)(p - buf) % pgs_insn_align == 0) {
				*ret_insn = at + (uint64_t)(p - buf);
				return 1;
			}
			p++;
		}
	}
	return buf ? 0 : -ENOMEM;
}

/* Every process has one in its vdso; if that is off, in its C library or in itself. */
static int search_pass(struct pgs_ctx *ctx, pid_t pid, int mem, bool vdso, uint64_t *ret_insn)
{
	_cleanup_(pgs_maps_closep) struct pgs_maps *maps = NULL;
	struct pgs_vma vma;
	int r = pgs_maps_open(ctx, pid, &maps), found;

	while (!r && (r = pgs_maps_next(maps, &vma)) > 0) {
		bool is_vdso = vma.name_len == 6 && !memcmp(vma.name, "[vdso]", 6);

		r = 0;
		if (vma.perms[2] != 'x' || is_vdso != vdso || vma.kind == PGS_VMA_DEVICE)
			continue;
		found = search_mapping(mem, &vma, ret_insn);
		if (found)
			return found;
	}
	return r;
}

int pgs_find_insn(struct pgs_ctx *ctx, pid_t pid, uint64_t *ret_insn)
{
	_cleanup_close_ int mem = pgs_open(ctx, PGS_CAPS_OTHERS, 0, "proc/%d/mem", (int)pid);
	int r;

	if (mem < 0)
		return mem;
	r = search_pass(ctx, pid, mem, true, ret_insn);
	if (!r)
		r = search_pass(ctx, pid, mem, false, ret_insn);
	if (r < 0)
		return r;
	return r ? 0
		 : pgs_ctx_fail(ctx, -EOPNOTSUPP,
				"process %d has no system call instruction in its memory",
				(int)pid);
}
