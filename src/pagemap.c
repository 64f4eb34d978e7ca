// SPDX-License-Identifier: GPL-2.0-only
#include "pagemap.h"

#include "caps.h"
#include "cleanup.h"
#include "procfs.h"
#include "uapi/pagemap_scan.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

/* Reading an empty page costs 1.2 ns and an ioctl some hundred: a page table's worth is the
 * break-even. */
#define ASK_AFTER_PAGES 512u

/*
 * PAGEMAP_SCAN holds mmap_lock for a whole call. Page tables that exist but are empty take time,
 * so the address space asked for grows while calls are quick and shrinks when one is not.
 */
#define SCAN_BYTES_FIRST (UINT64_C(1) << 30)
#define SCAN_QUICK_NS	 100000
#define SCAN_SLOW_NS	 1000000

enum scan_support { SCAN_UNTRIED, SCAN_YES, SCAN_NO };

struct pgs_pagemap {
	struct pgs_ctx *ctx;
	int fd;
	pid_t pid;
	uint32_t batch;	      /* entries a read at most */
	bool fixed_batch;     /* the user's: no smaller first reads */
	uint32_t window;      /* entries of the next read */
	uint64_t next_addr;   /* where the last span ended: going on there is sequential */
	uint64_t empty_pages; /* empty pages just before next_addr */
	uint64_t scan_bytes;  /* address space of the next PAGEMAP_SCAN for holes */
	enum scan_support scan;
	uint64_t *words;
};

int pgs_pagemap_open(struct pgs_ctx *ctx, pid_t pid, uint32_t batch, struct pgs_pagemap **ret_pm)
{
	_cleanup_(pgs_pagemap_closep) struct pgs_pagemap *pm = calloc(1, sizeof(*pm));

	if (!pm)
		return -ENOMEM;
	pm->ctx = ctx;
	pm->pid = pid;
	pm->batch = batch ? batch : PGS_PAGEMAP_BATCH;
	pm->fixed_batch = batch;
	pm->scan_bytes = SCAN_BYTES_FIRST;
	/* Frames show when CAP_SYS_ADMIN was effective at open (file_ns_capable(), since 4.2). */
	pm->fd = pgs_open(ctx, PGS_CAPS_OTHERS | PGS_CAP(CAP_SYS_ADMIN), 0, "proc/%d/pagemap",
			  (int)pid);
	if (pm->fd == -ENOENT || pm->fd == -ESRCH)
		return pgs_ctx_fail(ctx, -ESRCH, "process %d has no memory of its own", (int)pid);
	if (pm->fd < 0)
		return pm->fd;
	if (!ctx->live || !pgs_mech_enabled(ctx, PGS_MECH_PAGEMAP_SCAN))
		pm->scan = SCAN_NO;
	if (!pgs_pagemap_alive(pm))
		return pgs_ctx_fail(ctx, -ESRCH, "process %d has no memory of its own", (int)pid);
	pm->words = malloc(pm->batch * sizeof(*pm->words));
	if (!pm->words)
		return -ENOMEM;
	*ret_pm = pm;
	pm = NULL;
	return 0;
}

void pgs_pagemap_close(struct pgs_pagemap *pm)
{
	if (!pm)
		return;
	pgs_closep(&pm->fd);
	free(pm->words);
	free(pm);
}

void pgs_pagemap_closep(struct pgs_pagemap **pm)
{
	pgs_pagemap_close(*pm);
}

int pgs_pagemap_fd(const struct pgs_pagemap *pm)
{
	return pm->fd;
}

/* The first page of an address space can always be asked for; without users the file is empty. */
bool pgs_pagemap_alive(struct pgs_pagemap *pm)
{
	uint64_t word;

	return pread(pm->fd, &word, sizeof(word), 0) == (ssize_t)sizeof(word);
}

static int vanished(struct pgs_pagemap *pm)
{
	return pgs_ctx_fail(pm->ctx, -ESRCH, "process %d has exited or executed another program",
			    (int)pm->pid);
}

static int read_failed(struct pgs_pagemap *pm, int err)
{
	return pgs_ctx_fail(pm->ctx, -err, "cannot read '%s/proc/%d/pagemap': %s", pm->ctx->root,
			    (int)pm->pid, strerror(err));
}

ssize_t pgs_pagemap_read(struct pgs_pagemap *pm, uint64_t addr, size_t count, uint64_t *words)
{
	uint64_t offset = (addr >> pm->ctx->page_shift) * sizeof(*words);
	ssize_t n;

	do
		n = pread(pm->fd, words, count * sizeof(*words), (off_t)offset);
	while (n < 0 && errno == EINTR);
	return n < 0 ? read_failed(pm, errno) : n / (ssize_t)sizeof(*words);
}

/* ---- PAGEMAP_SCAN ---------------------------------------------------------------------------- */

/*
 * Always with a buffer: a NULL vec with vec_len 0 and write-protection made 6.7 to 6.17 oops over
 * huge pages ("fs/proc/task_mmu: fix vec_len 0"), and one habit serves all callers.
 */
static ssize_t scan_once(struct pgs_pagemap *pm, struct pm_scan_arg *arg)
{
	int n = ioctl(pm->fd, PAGEMAP_SCAN, arg);

	return n < 0 ? -errno : n;
}

/* @arg has its flags and masks. */
static ssize_t scan_range(struct pgs_pagemap *pm, struct pm_scan_arg *arg, uint64_t start,
			  uint64_t end, struct pgs_region *regions, size_t room,
			  uint64_t *ret_walk_end)
{
	ssize_t n;

	_Static_assert(sizeof(struct pgs_region) == sizeof(struct page_region),
		       "a region is the kernel's");
	if (pm->scan == SCAN_NO)
		return -ENOTTY;
	arg->size = sizeof(*arg);
	arg->start = start;
	arg->end = end;
	arg->vec = (uintptr_t)regions;
	arg->vec_len = room;
	n = scan_once(pm, arg);
	if (n == -ENOTTY)
		pm->scan = SCAN_NO;
	if (n == -ESRCH)
		return vanished(pm);
	if (n >= 0) {
		uint64_t last = n ? regions[n - 1].end : 0;

		pm->scan = SCAN_YES;
		/*
		 * Only a full vector stops the walk. do_pagemap_scan() goes in legs of 512 regions,
		 * and after the last one leaves walk_end at the end of the leg before (6.7
		 * to 6.18): to go on from there would be to look at the rest twice.
		 */
		if ((size_t)n < room)
			*ret_walk_end = end;
		else
			*ret_walk_end = last > arg->walk_end ? last : arg->walk_end;
	}
	return n;
}

ssize_t pgs_pagemap_scan(struct pgs_pagemap *pm, uint64_t start, uint64_t end, uint64_t any,
			 struct pgs_region *regions, size_t room, uint64_t *ret_walk_end)
{
	struct pm_scan_arg arg = {.category_anyof_mask = any, .return_mask = any};

	return scan_range(pm, &arg, start, end, regions, room, ret_walk_end);
}

ssize_t pgs_pagemap_populated(struct pgs_pagemap *pm, uint64_t start, uint64_t end,
			      struct pgs_region *regions, size_t room, uint64_t *ret_walk_end)
{
	struct pm_scan_arg arg = {
		.category_anyof_mask = PAGE_IS_PRESENT | PAGE_IS_SWAPPED,
		.return_mask = PGS_SCAN_KINDS,
	};

	return scan_range(pm, &arg, start, end, regions, room, ret_walk_end);
}

/* This form of the masks is the one that all kernels answer alike for empty entries: it has a loop
 * of its own in pagemap_scan_pmd_entry(). */
ssize_t pgs_pagemap_written(struct pgs_pagemap *pm, uint64_t start, uint64_t end,
			    struct pgs_region *regions, size_t room, uint64_t *ret_walk_end)
{
	struct pm_scan_arg arg = {
		.flags = PM_SCAN_WP_MATCHING | PM_SCAN_CHECK_WPASYNC,
		.category_mask = PAGE_IS_WRITTEN,
		.return_mask = PAGE_IS_WRITTEN,
	};

	return scan_range(pm, &arg, start, end, regions, room, ret_walk_end);
}

bool pgs_pagemap_can_scan(struct pgs_pagemap *pm)
{
	struct pgs_region region;
	uint64_t walk_end;

	if (pm->scan == SCAN_UNTRIED &&
	    pgs_pagemap_scan(pm, 0, pm->ctx->page_size, PAGE_IS_PRESENT, &region, 1, &walk_end) < 0)
		pm->scan = SCAN_NO;
	return pm->scan == SCAN_YES;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* One bounded look for the first populated page: 1 found, 0 none in [*addr, end of the look). */
static int look_ahead(struct pgs_pagemap *pm, uint64_t *addr, uint64_t end)
{
	uint64_t stop = end - *addr > pm->scan_bytes ? *addr + pm->scan_bytes : end;
	struct pm_scan_arg arg = {
		.size = sizeof(arg),
		.start = *addr,
		.end = stop,
		.vec_len = 1,
		.max_pages = 1,
		.category_anyof_mask = PAGE_IS_PRESENT | PAGE_IS_SWAPPED,
		.return_mask = PAGE_IS_PRESENT,
	};
	struct pgs_region region;
	uint64_t began = now_ns(), took;
	ssize_t n;

	arg.vec = (uintptr_t)&region;
	n = scan_once(pm, &arg);
	if (n == -ESRCH)
		return vanished(pm);
	if (n < 0)
		return read_failed(pm, (int)-n);
	took = now_ns() - began;
	if (took < SCAN_QUICK_NS && pm->scan_bytes < UINT64_MAX / 4)
		pm->scan_bytes *= 2;
	else if (took > SCAN_SLOW_NS && pm->scan_bytes > SCAN_BYTES_FIRST / 64)
		pm->scan_bytes /= 2;
	*addr = n ? region.start : stop;
	return n > 0;
}

/* ---- spans ----------------------------------------------------------------------------------- */

/*
 * An empty page's word is the same all over a mapping: 0, or the soft-dirty bit of a young mapping
 * (VM_SOFTDIRTY). One word read tells it.
 */
static int empty_span(struct pgs_pagemap *pm, uint64_t addr, uint64_t stop,
		      struct pgs_span *ret_span)
{
	uint64_t word = 0;
	ssize_t n = pgs_pagemap_read(pm, addr, 1, &word);

	if (n < 0)
		return (int)n;
	*ret_span = (struct pgs_span){.addr = addr,
				      .pages = (stop - addr) >> pm->ctx->page_shift,
				      .fill = word & PGS_PM_SOFT_DIRTY};
	pm->next_addr = stop;
	return 1;
}

/* 1 and a span when [@addr, …) starts with a long hole, 0 when it does not, -errno. */
static int skip_hole(struct pgs_pagemap *pm, uint64_t addr, uint64_t end, struct pgs_span *ret_span)
{
	uint64_t to = addr;
	int found = 0;

	while (!found && to < end) {
		found = look_ahead(pm, &to, end);
		if (found < 0)
			return found;
	}
	pm->empty_pages = 0;
	if (!pm->fixed_batch)
		pm->window = ASK_AFTER_PAGES;
	return to == addr ? 0 : empty_span(pm, addr, to, ret_span);
}

static bool is_empty(uint64_t word)
{
	return !(word & (PGS_PM_PRESENT | PGS_PM_SWAP));
}

/* How many pages at the end of the window are empty, on top of those before it. @empty: at its
 * start. */
static void note_empty_tail(struct pgs_pagemap *pm, size_t count, size_t empty)
{
	if (empty < count)
		pm->empty_pages = empty = 0;
	while (empty < count && is_empty(pm->words[count - 1 - empty]))
		empty++;
	pm->empty_pages += empty;
}

static int read_span(struct pgs_pagemap *pm, uint64_t addr, uint64_t end, struct pgs_span *ret_span)
{
	uint64_t pages = (end - addr) >> pm->ctx->page_shift;
	size_t empty;
	ssize_t n;

	n = pgs_pagemap_read(pm, addr, pages < pm->window ? pages : pm->window, pm->words);
	if (n < 0)
		return (int)n;
	if (!n)
		return pgs_pagemap_alive(pm) ? -ENODATA : vanished(pm);
	empty = pgs_words_empty(pm->words, (size_t)n);
	note_empty_tail(pm, (size_t)n, empty);
	if (pm->window < pm->batch && pm->empty_pages < (uint64_t)n)
		pm->window = pm->window * 2 < pm->batch ? pm->window * 2 : pm->batch;
	pm->next_addr = addr + ((uint64_t)n << pm->ctx->page_shift);
	*ret_span = (struct pgs_span){
		.addr = addr, .pages = (uint64_t)n, .words = pm->words, .empty = empty};
	return 1;
}

int pgs_pagemap_next(struct pgs_pagemap *pm, uint64_t addr, uint64_t end, struct pgs_span *ret_span)
{
	uint64_t pages = (end - addr) >> pm->ctx->page_shift;
	int r;

	if (addr != pm->next_addr) { /* another mapping: it may begin with a hole */
		pm->empty_pages = ASK_AFTER_PAGES;
		pm->window = pm->batch;
	}
	if (pages >= ASK_AFTER_PAGES && pm->empty_pages >= ASK_AFTER_PAGES &&
	    pgs_pagemap_can_scan(pm)) {
		r = skip_hole(pm, addr, end, ret_span);
		if (r)
			return r;
	}
	return read_span(pm, addr, end, ret_span);
}
