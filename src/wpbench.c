// SPDX-License-Identifier: GPL-2.0-only
#include "wpbench.h"

#include "cleanup.h"
#include "cycles.h"
#include "pagemap.h"
#include "uffd.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define ROOM 4096u

const char *pgs_wpbench_way_name(enum pgs_wpbench_way way)
{
	static const char *const names[PGS_WPBENCH_WAYS] = {
		[PGS_WPBENCH_WRITEPROTECT] = "UFFDIO_WRITEPROTECT",
		[PGS_WPBENCH_SCAN] = "PAGEMAP_SCAN",
		[PGS_WPBENCH_MODULE] = "module",
	};

	return names[way];
}

struct bench {
	struct pgs_ctx *ctx;
	struct pgs_kmod *kmod;
	struct pgs_pagemap *pm;
	struct pgs_region *regions; /* ROOM */
	int uffd;
	char *map;
	size_t size; /* bytes */
};

/* ---- the ways -------------------------------------------------------------------------------- */

static int protect_writeprotect(struct bench *b)
{
	uint64_t start = (uintptr_t)b->map;

	return pgs_uffd_protect(b->uffd, start, start + b->size);
}

static int protect_scan(struct bench *b)
{
	uint64_t at = (uintptr_t)b->map, end = at + b->size;

	while (at < end) {
		ssize_t n = pgs_pagemap_written(b->pm, at, end, b->regions, ROOM, &at);

		if (n < 0)
			return (int)n;
	}
	return 0;
}

static int protect_module(struct bench *b)
{
	struct pgscan_scan arg = {
		.size = sizeof(arg),
		.flags = PGSCAN_SCAN_CLEAR,
		.pagemap_fd = pgs_pagemap_fd(b->pm),
		.start = (uintptr_t)b->map,
		.end = (uintptr_t)b->map + b->size,
		.vec = (uintptr_t)b->regions,
		.vec_len = ROOM,
		.category_mask = PGSCAN_PAGE_SOFT_DIRTY,
		.return_mask = PGSCAN_PAGE_SOFT_DIRTY,
	};

	while (arg.start < arg.end) {
		int n = pgs_kmod_request(b->kmod, PGSCAN_IOC_SCAN, &arg);

		if (n < 0 && n != -EINTR)
			return n;
		if (n >= 0)
			arg.start = arg.walk_end;
	}
	return 0;
}

static int (*const protect[PGS_WPBENCH_WAYS])(struct bench *b) = {
	[PGS_WPBENCH_WRITEPROTECT] = protect_writeprotect,
	[PGS_WPBENCH_SCAN] = protect_scan,
	[PGS_WPBENCH_MODULE] = protect_module,
};

/* ---- a round --------------------------------------------------------------------------------- */

/*
 * Stores alone, out of registers: the processor runs ahead of a fault into the pages behind, and
 * how far, with a load in the way or not, made a quarter of the figure. So it is that of the
 * plainest loop there is, which others write too.
 */
static void write_all(struct bench *b)
{
	const size_t size = b->size, page_size = b->ctx->page_size;
	volatile char *map = b->map;

	for (size_t at = 0; at < size; at += page_size)
		map[at] = 1;
}

/* Small pages: the figures are a page's. All there from the beginning, so that neither way is about
 * empty pages, which they treat each in its own manner (UFFD_FEATURE_WP_UNPOPULATED). */
static int map_memory(struct bench *b, uint64_t pages)
{
	b->size = pages * b->ctx->page_size;
	b->map = mmap(NULL, b->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (b->map == MAP_FAILED) {
		b->map = NULL;
		return -errno;
	}
	(void)madvise(b->map, b->size, MADV_NOHUGEPAGE);
	write_all(b);
	return 0;
}

static int prepare(struct bench *b, enum pgs_wpbench_way way)
{
	uint64_t start = (uintptr_t)b->map;

	if (way == PGS_WPBENCH_MODULE)
		return b->kmod && pgs_kmod_has(b->kmod, PGSCAN_FEAT_SCAN_CLEAR) ? 0 : -EOPNOTSUPP;
	return b->uffd < 0 ? b->uffd : pgs_uffd_register(b->uffd, start, start + b->size);
}

/* The uffd ways leave the memory registered, which the module's would feel. */
static void clean_up(struct bench *b, enum pgs_wpbench_way way)
{
	uint64_t start = (uintptr_t)b->map;

	if (way != PGS_WPBENCH_MODULE && b->uffd >= 0)
		pgs_uffd_unregister(b->uffd, start, start + b->size);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

struct stamp {
	uint64_t cycles, ns;
};

static struct stamp stamp(void)
{
	struct stamp s = {.ns = now_ns()};

	s.cycles = pgs_cycles();
	return s;
}

enum field { PROTECT_CYCLES, PROTECT_NS, WRITE_CYCLES, WRITE_NS, FIELDS };

struct round_cost {
	double v[FIELDS];
};

static int measure(struct bench *b, enum pgs_wpbench_way way, struct round_cost *ret)
{
	double pages = (double)(b->size / b->ctx->page_size);
	struct stamp began, protected, written;
	int r = prepare(b, way);

	if (r)
		return r;
	write_all(b);
	began = stamp();
	r = protect[way](b);
	protected = stamp();
	write_all(b);
	written = stamp();
	clean_up(b, way);
	*ret = (struct round_cost){{
		[PROTECT_CYCLES] = (double)(protected.cycles - began.cycles),
		[PROTECT_NS] = (double)(protected.ns - began.ns),
		[WRITE_CYCLES] = (double)(written.cycles - protected.cycles) / pages,
		[WRITE_NS] = (double)(written.ns - protected.ns) / pages,
	}};
	return r;
}

/* ---- all rounds ------------------------------------------------------------------------------ */

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Of field @field of @n costs. */
static double median(const struct round_cost *costs, unsigned int n, enum field field)
{
	_cleanup_free_ double *values = calloc(n, sizeof(*values));

	if (!values)
		return 0;
	for (unsigned int i = 0; i < n; i++)
		values[i] = costs[i].v[field];
	qsort(values, n, sizeof(*values), compare_double);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* The ways take turns, so that what else the machine does meets all of them; the first round warms
 * up and does not count. */
static int run_rounds(struct bench *b, unsigned int rounds, const volatile sig_atomic_t *stop,
		      struct round_cost *all, unsigned int done[PGS_WPBENCH_WAYS])
{
	for (unsigned int round = 0; round <= rounds; round++)
		for (int way = 0; way < PGS_WPBENCH_WAYS; way++) {
			struct round_cost *cost = &all[(unsigned int)way * rounds + done[way]];
			struct round_cost warm_up;
			int r = stop && *stop ? -EINTR
					      : measure(b, (enum pgs_wpbench_way)way,
							round ? cost : &warm_up);

			if (r && r != -EOPNOTSUPP && r != -EPERM && r != -ENOTTY && r != -ENOSYS)
				return r;
			done[way] += !r && round;
		}
	return 0;
}

static int open_bench(struct bench *b, uint64_t pages)
{
	int r = pgs_pagemap_open(b->ctx, getpid(), 1, &b->pm);

	b->regions = calloc(ROOM, sizeof(*b->regions));
	if (!b->regions)
		return -ENOMEM;
	if (!r)
		r = map_memory(b, pages);
	if (r)
		return r;
	b->uffd = pgs_uffd_of_self();
	if (b->uffd >= 0 && pgs_uffd_init(b->uffd)) {
		close(b->uffd);
		b->uffd = -EOPNOTSUPP;
	}
	return 0;
}

static void close_bench(struct bench *b)
{
	pgs_closep(&b->uffd);
	if (b->map)
		munmap(b->map, b->size);
	pgs_pagemap_close(b->pm);
	free(b->regions);
}

int pgs_wpbench(struct pgs_ctx *ctx, struct pgs_kmod *kmod, uint64_t pages, unsigned int rounds,
		const volatile sig_atomic_t *stop,
		struct pgs_wpbench_cost ret_costs[PGS_WPBENCH_WAYS])
{
	_cleanup_free_ struct round_cost *all =
		calloc((size_t)PGS_WPBENCH_WAYS * rounds, sizeof(*all));
	_cleanup_(close_bench) struct bench b = {.ctx = ctx, .kmod = kmod, .uffd = -1};
	unsigned int done[PGS_WPBENCH_WAYS] = {0}, any = 0;
	int r;

	if (!all)
		return -ENOMEM;
	r = open_bench(&b, pages);
	if (!r)
		r = run_rounds(&b, rounds, stop, all, done);
	for (unsigned int way = 0; way < PGS_WPBENCH_WAYS && !r; way++) {
		const struct round_cost *costs = &all[way * rounds];

		any += done[way];
		ret_costs[way] = (struct pgs_wpbench_cost){.rounds = done[way]};
		if (!done[way])
			continue;
		ret_costs[way].protect_cycles = median(costs, done[way], PROTECT_CYCLES);
		ret_costs[way].protect_ns = median(costs, done[way], PROTECT_NS);
		ret_costs[way].write_cycles = median(costs, done[way], WRITE_CYCLES);
		ret_costs[way].write_ns = median(costs, done[way], WRITE_NS);
	}
	return r || any ? r : -EOPNOTSUPP;
}
