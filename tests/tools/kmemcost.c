// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemcost PAGES [FILE]: what it costs to find the slots of PAGES swapped pages of a memfd, or of a
 * new FILE on tmpfs, in kernel memory, against reading their page map, which does not have them.
 * Prints "pages N pagemap_ns N kcore_ns N ratio N": nanoseconds a page, the best of some rounds in
 * turn.
 */
#include "../../src/kmem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 15
#define RUNS   4096

struct cost {
	struct pgs_kmem *kmem;
	int fd, pagemap;
	size_t pages, page_size;
	char *mem;
	uint64_t *words;
	struct pgs_kentries *runs;
	uint64_t swapped; /* found by the last look */
};

static __attribute__((noreturn)) void die(const char *what)
{
	fprintf(stderr, "kmemcost: %s: %s\n", what, strerror(errno));
	exit(2);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void read_pagemap(struct cost *c)
{
	size_t size = c->pages * sizeof(*c->words);
	off_t at = (off_t)((uintptr_t)c->mem / c->page_size * sizeof(*c->words));

	if (pread(c->pagemap, c->words, size, at) != (ssize_t)size)
		die("pagemap");
}

static void read_kcore(struct cost *c)
{
	struct pgs_kobject object;
	uint64_t from = 0;

	c->swapped = 0;
	if (pgs_kmem_object(c->kmem, c->fd, &object))
		die("the object");
	while (from < c->pages) {
		int nr = pgs_kmem_entries(c->kmem, &object, from, c->pages, c->runs, RUNS);

		if (nr < 0)
			die("its entries");
		for (int i = 0; i < nr; i++)
			c->swapped += c->runs[i].entry == PGS_KENTRY_SWAPPED ? c->runs[i].pages : 0;
		from = c->runs[nr - 1].index + c->runs[nr - 1].pages;
	}
}

static uint64_t best_of(struct cost *c, void (*look)(struct cost *), uint64_t best)
{
	uint64_t ns = now_ns();

	look(c);
	ns = now_ns() - ns;
	return ns < best ? ns : best;
}

static void swap_out(struct cost *c, const char *file)
{
	size_t size = c->pages * c->page_size;

	c->fd = file ? open(file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)
		     : memfd_create("kmemcost", MFD_CLOEXEC);
	if (c->fd < 0 || (file && unlink(file)) || ftruncate(c->fd, (off_t)size))
		die("the file");
	c->mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, c->fd, 0);
	if (c->mem == MAP_FAILED)
		die("mmap");
	for (size_t i = 0; i < c->pages; i++)
		memset(c->mem + i * c->page_size, (int)i | 1, 64);
	for (int try = 0; try < 200; try++) {
		madvise(c->mem, size, MADV_PAGEOUT);
		read_kcore(c);
		if (c->swapped == c->pages)
			return;
		usleep(50000);
	}
	die("not all of it went out");
}

int main(int argc, char **argv)
{
	uint64_t pagemap_ns = UINT64_MAX, kcore_ns = UINT64_MAX;
	struct cost c = {.page_size = (size_t)sysconf(_SC_PAGESIZE)};
	struct pgs_ctx *ctx;

	if (argc < 2)
		return 2;
	c.pages = strtoull(argv[1], NULL, 10);
	c.words = calloc(c.pages, sizeof(*c.words));
	c.runs = calloc(RUNS, sizeof(*c.runs));
	c.pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	if (!c.words || !c.runs || c.pagemap < 0 || pgs_ctx_open(NULL, &ctx))
		die("start");
	c.kmem = pgs_kmem_new(ctx);
	swap_out(&c, argv[2]);
	for (int i = 0; i < ROUNDS; i++) {
		pagemap_ns = best_of(&c, read_pagemap, pagemap_ns);
		kcore_ns = best_of(&c, read_kcore, kcore_ns);
	}
	printf("pages %zu pagemap_ns %.1f kcore_ns %.1f ratio %.2f\n", c.pages,
	       (double)pagemap_ns / (double)c.pages, (double)kcore_ns / (double)c.pages,
	       (double)kcore_ns / (double)pagemap_ns);
	return 0;
}
