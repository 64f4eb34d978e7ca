// SPDX-License-Identifier: GPL-2.0-only
/* kfeat_self: what is found by trying it on a page, a child or a descriptor of our own. */
#include "kfeat_probes.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h> /* struct iovec; <sys/uio.h> defines RWF_* that <linux/fs.h> has too */
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "caps.h"
#include "cleanup.h"
#include "inject.h"
#include "procfs.h"
#include "uapi/madvise.h"
#include "uapi/pagemap_scan.h"
#include "uapi/procmap_query.h"

#define PM_SOFT_DIRTY (UINT64_C(1) << 55)
#define PM_PRESENT    (UINT64_C(1) << 63)
#define PM_PFN_MASK   ((UINT64_C(1) << 55) - 1)

/* ---- a page of our own ----------------------------------------------------------------------- */

struct own_page {
	char *addr;
	size_t size;
};

static void own_page_unmap(struct own_page *page)
{
	if (page->addr)
		munmap(page->addr, page->size);
}

#define _cleanup_page_ _cleanup_(own_page_unmap)

/* A mapping of one page, of @fd or anonymous; not touched yet. */
static int own_page_map(struct pgs_ctx *ctx, int fd, struct own_page *ret_page)
{
	int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
	void *addr = mmap(NULL, ctx->page_size, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (addr == MAP_FAILED)
		return -errno;
	*ret_page = (struct own_page){.addr = addr, .size = ctx->page_size};
	return 0;
}

static void own_page_write(const struct own_page *page)
{
	*(volatile char *)page->addr = 1;
}

/* The page's word of our own pagemap, read through @fd. */
static int own_page_word(const struct own_page *page, int fd, uint64_t *ret_word)
{
	off_t offset = (off_t)((uintptr_t)page->addr / page->size * sizeof(*ret_word));
	ssize_t n = pread(fd, ret_word, sizeof(*ret_word), offset);

	if (n < 0)
		return -errno;
	return n == sizeof(*ret_word) ? 0 : -EIO;
}

/* The word of a page just written to, as @caps let us see it. */
static int written_page_word(struct pgs_ctx *ctx, uint64_t caps, uint64_t *ret_word)
{
	_cleanup_page_ struct own_page page = {0};
	_cleanup_close_ int fd = pgs_open(ctx, caps, 0, "proc/self/pagemap");
	int r;

	if (fd < 0)
		return fd;
	r = own_page_map(ctx, -1, &page);
	if (r < 0)
		return r;
	own_page_write(&page);
	return own_page_word(&page, fd, ret_word);
}

/* ---- pagemap --------------------------------------------------------------------------------- */

int pgs_probe_pagemap(struct pgs_ctx *ctx, const struct pgs_probe *probe, struct pgs_feat *feat)
{
	uint64_t word;
	int r = written_page_word(ctx, probe->caps, &word);

	if (r < 0)
		return r;
	if (word & PM_PRESENT)
		return 1;
	pgs_feat_detail(feat, "a page just written to reads as %#llx", (unsigned long long)word);
	return -EPROTO;
}

/* "pagemap: do not leak physical addresses to non-privileged userspace", 4.0; since 4.2 the frame
 * reads as 0 without CAP_SYS_ADMIN in the initial user namespace, and open() succeeds. */
int pgs_probe_pfn(struct pgs_ctx *ctx, const struct pgs_probe *probe, struct pgs_feat *feat)
{
	uint64_t word;
	int r = written_page_word(ctx, probe->caps, &word);

	if (r < 0)
		return r;
	if (word & PM_PFN_MASK)
		return 1;
	if (pgs_caps_missing(probe->caps) < 0)
		pgs_feat_detail(feat, "hidden outside the initial user namespace");
	return -EPERM;
}

/* ---- PAGEMAP_SCAN ---------------------------------------------------------------------------- */

/* Scan a page just written to for @mask. Returns the count of regions, 0 or 1, or -errno. */
static int scan_written_page(struct pgs_ctx *ctx, uint64_t mask, struct page_region *ret_region,
			     struct own_page *ret_page)
{
	_cleanup_close_ int fd = pgs_open(ctx, 0, 0, "proc/self/pagemap");
	struct pm_scan_arg arg = {
		.size = sizeof(arg),
		.category_mask = mask,
		.return_mask = mask,
		.vec = (uintptr_t)ret_region,
		.vec_len = 1,
	};
	int r;

	if (fd < 0)
		return fd;
	r = own_page_map(ctx, -1, ret_page);
	if (r < 0)
		return r;
	own_page_write(ret_page);
	arg.start = (uintptr_t)ret_page->addr;
	arg.end = arg.start + ret_page->size;
	r = ioctl(fd, PAGEMAP_SCAN, &arg);
	return r < 0 ? -errno : r;
}

int pgs_probe_scan(struct pgs_ctx *ctx, const struct pgs_probe *probe, struct pgs_feat *feat)
{
	_cleanup_page_ struct own_page page = {0};
	struct page_region region = {0};
	int r = scan_written_page(ctx, PAGE_IS_PRESENT, &region, &page);

	(void)probe;
	if (r < 0)
		return r;
	if (r == 1 && region.start == (uintptr_t)page.addr &&
	    region.end == region.start + page.size && region.categories == PAGE_IS_PRESENT)
		return 1;
	pgs_feat_detail(feat, "a page just written to was not found");
	return -EPROTO;
}

int pgs_probe_scan_category(struct pgs_ctx *ctx, const struct pgs_probe *probe,
			    struct pgs_feat *feat)
{
	_cleanup_page_ struct own_page page = {0};
	struct page_region region;
	bool tracked = true;
	int r = scan_written_page(ctx, probe->arg, &region, &page);

	if (r < 0)
		return r;
	/* Accepted by kernels that track nothing: it would be the lie "nothing was written". */
	if (probe->arg == PAGE_IS_SOFT_DIRTY) {
		r = pgs_soft_dirty_passive(ctx, &tracked);
		if (r < 0)
			return r;
		if (!tracked)
			pgs_feat_detail(feat, pgs_mech_enabled(ctx, PGS_MECH_SOFT_DIRTY)
						      ? "accepted, but this kernel never sets it"
						      : "switched off by PGSCAN_DISABLE");
	}
	return tracked;
}

/* ---- soft-dirty ------------------------------------------------------------------------------ */

int pgs_soft_dirty_passive(struct pgs_ctx *ctx, bool *ret_tracked)
{
	_cleanup_page_ struct own_page page = {0};
	_cleanup_close_ int fd = -1;
	uint64_t word;
	int r;

	if (!pgs_mech_enabled(ctx, PGS_MECH_SOFT_DIRTY)) {
		*ret_tracked = false;
		return 0;
	}
	fd = pgs_open(ctx, 0, 0, "proc/self/pagemap");
	if (fd < 0)
		return fd;
	r = own_page_map(ctx, -1, &page);
	if (r < 0)
		return r;
	r = own_page_word(&page, fd, &word);
	if (r < 0)
		return r;
	*ret_tracked = word & PM_SOFT_DIRTY;
	return 0;
}

/* Clear our soft-dirty bits, write to a page, see its bit come back. */
static int soft_dirty_write_test(struct pgs_ctx *ctx)
{
	_cleanup_page_ struct own_page page = {0};
	_cleanup_close_ int pagemap = pgs_open(ctx, 0, 0, "proc/self/pagemap");
	_cleanup_close_ int clear = pgs_open(ctx, 0, O_WRONLY, "proc/self/clear_refs");
	uint64_t before, after;
	int r;

	if (pagemap < 0 || clear < 0)
		return pagemap < 0 ? pagemap : clear;
	r = own_page_map(ctx, -1, &page);
	if (r < 0)
		return r;
	own_page_write(&page);
	if (write(clear, "4", 1) < 0)
		return -errno;
	r = own_page_word(&page, pagemap, &before);
	if (r < 0)
		return r;
	own_page_write(&page);
	r = own_page_word(&page, pagemap, &after);
	if (r < 0)
		return r;
	if (before & PM_SOFT_DIRTY)
		return -EPROTO; /* not cleared */
	return !!(after & PM_SOFT_DIRTY);
}

/* The end of a child: without atexit() handlers and stdio buffers, which are the parent's. */
static void __attribute__((noreturn)) child_end(void)
{
	for (;;)
		raise(SIGKILL);
}

static void child_reap(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* The answer of a child that runs @test, on its own copy of our memory. */
static int ask_child(struct pgs_ctx *ctx, int (*test)(struct pgs_ctx *ctx))
{
	int answer[2], r = -ECHILD;
	pid_t pid;

	if (pipe2(answer, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (!pid) {
		r = test(ctx);
		(void)!write(answer[1], &r, sizeof(r));
		child_end();
	}
	close(answer[1]);
	if (pid < 0)
		r = -errno;
	else if (read(answer[0], &r, sizeof(r)) != sizeof(r))
		r = -ECHILD;
	close(answer[0]);
	if (pid > 0)
		child_reap(pid);
	return r;
}

/* clear_refs acts on a whole address space: on that of a child, so that nobody who tracks this
 * process by its soft-dirty bits loses them. */
int pgs_probe_soft_dirty(struct pgs_ctx *ctx, const struct pgs_probe *probe, struct pgs_feat *feat)
{
	int r = ask_child(ctx, soft_dirty_write_test);

	(void)probe;
	if (r == -EPROTO)
		pgs_feat_detail(feat, "clear_refs did not clear the bit");
	else if (!r)
		pgs_feat_detail(feat, "a write after clear_refs sets no bit");
	return r;
}

/* ---- mappings -------------------------------------------------------------------------------- */

int pgs_probe_map_files(struct pgs_ctx *ctx, const struct pgs_probe *probe, struct pgs_feat *feat)
{
	_cleanup_page_ struct own_page page = {0};
	_cleanup_close_ int memfd = memfd_create("pgscan", MFD_CLOEXEC);
	_cleanup_close_ int fd = -1;
	struct stat mapped, opened;
	uintptr_t start;
	int r;

	if (memfd < 0 || ftruncate(memfd, ctx->page_size) < 0)
		return -errno;
	r = own_page_map(ctx, memfd, &page);
	if (r < 0)
		return r;
	start = (uintptr_t)page.addr;
	fd = pgs_open(ctx, probe->caps, 0, "proc/self/map_files/%lx-%lx", (unsigned long)start,
		      (unsigned long)(start + page.size));
	if (fd < 0)
		return fd;
	if (fstat(memfd, &mapped) < 0 || fstat(fd, &opened) < 0)
		return -errno;
	if (mapped.st_dev == opened.st_dev && mapped.st_ino == opened.st_ino)
		return 1;
	pgs_feat_detail(feat, "the link leads to another file");
	return -EPROTO;
}

int pgs_probe_procmap_query(struct pgs_ctx *ctx, const struct pgs_probe *probe,
			    struct pgs_feat *feat)
{
	_cleanup_page_ struct own_page page = {0};
	_cleanup_close_ int fd = pgs_open(ctx, probe->caps, 0, "proc/self/maps");
	struct procmap_query query = {.size = sizeof(query)};
	int r;

	if (fd < 0)
		return fd;
	r = own_page_map(ctx, -1, &page);
	if (r < 0)
		return r;
	query.query_addr = (uintptr_t)page.addr;
	if (ioctl(fd, PROCMAP_QUERY, &query) < 0)
		return -errno;
	if (query.vma_start <= query.query_addr && query.query_addr < query.vma_end)
		return 1;
	pgs_feat_detail(feat, "another mapping was answered");
	return -EPROTO;
}

/* With length 0: whether the advice is known is looked at first, and then there is nothing to do
 * (madvise(2), "NOTES"). MADV_COLLAPSE is EINVAL on mappings that do not suit it, too. */
int pgs_probe_madvise(struct pgs_ctx *ctx, const struct pgs_probe *probe, struct pgs_feat *feat)
{
	_cleanup_page_ struct own_page page = {0};
	int r = own_page_map(ctx, -1, &page);

	(void)feat;
	if (r < 0)
		return r;
	return madvise(page.addr, 0, (int)probe->arg) < 0 ? -errno : 1;
}

/* ---- other processes, tried on ourselves ----------------------------------------------------- */

static int pidfd_self(void)
{
	int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);

	return fd < 0 ? -errno : fd;
}

int pgs_probe_pidfd_getfd(struct pgs_ctx *ctx, const struct pgs_probe *probe, struct pgs_feat *feat)
{
	_cleanup_close_ int pidfd = pidfd_self();
	_cleanup_close_ int fd = -1;

	(void)ctx, (void)probe, (void)feat;
	if (pidfd < 0)
		return pidfd;
	fd = (int)syscall(SYS_pidfd_getfd, pidfd, pidfd, 0);
	return fd < 0 ? -errno : 1;
}

int pgs_probe_process_madvise(struct pgs_ctx *ctx, const struct pgs_probe *probe,
			      struct pgs_feat *feat)
{
	_cleanup_page_ struct own_page page = {0};
	_cleanup_close_ int pidfd = pidfd_self();
	struct iovec iov;
	int r;

	(void)probe, (void)feat;
	if (pidfd < 0)
		return pidfd;
	r = own_page_map(ctx, -1, &page);
	if (r < 0)
		return r;
	iov = (struct iovec){.iov_base = page.addr, .iov_len = page.size};
	return syscall(SYS_process_madvise, pidfd, &iov, 1, MADV_COLD, 0) < 0 ? -errno : 1;
}

/* Seize a child that sleeps until its pipe ends, which it does with us, however we end. */
static int seize_child(uint64_t caps)
{
	int gate[2], r = 0;
	pid_t pid;
	char c;

	if (pipe2(gate, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (!pid) {
		close(gate[1]);
		(void)!read(gate[0], &c, 1);
		child_end();
	}
	pgs_caps_raise(caps);
	if (pid < 0 || ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0)
		r = -errno;
	pgs_caps_lower();
	close(gate[0]);
	close(gate[1]);
	if (pid > 0) {
		kill(pid, SIGKILL);
		child_reap(pid);
	}
	return r;
}

int pgs_probe_ptrace(struct pgs_ctx *ctx, const struct pgs_probe *probe, struct pgs_feat *feat)
{
	_cleanup_free_ char *scope = NULL;
	int r;

	if (!pgs_inject_supported()) {
		pgs_feat_detail(feat, "only builds for x86-64 and arm64 can use it");
		return 0;
	}
	r = seize_child(probe->caps);
	/* Yama restricts whom else: a child of ours is allowed up to scope 1. */
	if (pgs_read_file(ctx, 0, &scope, "proc/sys/kernel/yama/ptrace_scope") > 0)
		pgs_feat_detail(feat, "kernel.yama.ptrace_scope is %.*s", (int)strcspn(scope, "\n"),
				scope);
	return r < 0 ? r : 1;
}

int pgs_probe_cap(struct pgs_ctx *ctx, const struct pgs_probe *probe, struct pgs_feat *feat)
{
	if ((int)probe->arg > pgs_cap_last()) {
		pgs_feat_detail(feat, "this kernel does not know it");
		return 0;
	}
	if (pgs_caps_missing(PGS_CAP(probe->arg)) >= 0)
		return -EPERM;
	if (!pgs_in_initial_user_ns(ctx))
		pgs_feat_detail(feat, "in this user namespace alone");
	return 1;
}
