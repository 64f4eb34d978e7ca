// SPDX-License-Identifier: GPL-2.0-only
/*
 * shmdirty: map pages of shared (or private) memory, write a known word into each, and wait.
 *
 * The program of the experiment on linux-mm in July 2021 ("pagemap: swap location for shared
 *pages"), but that each page tells which one it is (pattern.h), so that a swap slot can be proven
 *to hold it.
 *
 *	shmdirty [-k KIND] [-f FILE] [-s SEED] [-w WRITTEN] [-c MAPPERS] PAGES
 *
 * writes the first WRITTEN pages (all), prints "addr=0x... pages=N pid=N seed=N", then "ready", and
 * obeys one command a line on stdin, each answered by a line "COMMAND NUMBER": touch I (reads a
 *byte), write I, pageout, unmap, sum (how many written pages do not hold what was written; reads
 *all in), quit.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <unistd.h>

#include "pattern.h"

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21
#endif

struct area {
	unsigned char *addr;
	uint64_t pages;
	uint64_t written;
	uint64_t seed;
	size_t page_size;
};

static void die(const char *what)
{
	fprintf(stderr, "shmdirty: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void map_fd(struct area *a, int fd)
{
	if (fd < 0 || ftruncate(fd, (off_t)(a->pages * a->page_size)))
		die("file");
	a->addr = mmap(NULL, a->pages * a->page_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

static void map_sysv(struct area *a)
{
	int id = shmget(IPC_PRIVATE, a->pages * a->page_size, IPC_CREAT | 0600);

	if (id < 0)
		die("shmget");
	a->addr = shmat(id, NULL, 0);
	/* Gone with the last process that has it attached: nothing to clean up after a kill. */
	if (shmctl(id, IPC_RMID, NULL))
		die("shmctl");
}

static void map_area(struct area *a, const char *kind, const char *file)
{
	int anon = MAP_ANONYMOUS;

	if (!strcmp(kind, "shared") || !strcmp(kind, "private")) {
		anon |= *kind == 's' ? MAP_SHARED : MAP_PRIVATE;
		a->addr = mmap(NULL, a->pages * a->page_size, PROT_READ | PROT_WRITE, anon, -1, 0);
	} else if (!strcmp(kind, "memfd")) {
		map_fd(a, memfd_create("shmdirty", MFD_CLOEXEC));
	} else if (!strcmp(kind, "sysv")) {
		map_sysv(a);
	} else if (!strcmp(kind, "file") && file) {
		map_fd(a, open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
	} else {
		fprintf(stderr,
			"shmdirty: kind is shared, private, memfd, sysv, or file with -f\n");
		exit(2);
	}
	if (a->addr == MAP_FAILED)
		die("map");
}

static void write_page(const struct area *a, uint64_t index)
{
	pattern_write(a->addr + index * a->page_size, a->page_size, a->seed, index);
}

static int64_t wrong_pages(const struct area *a)
{
	uint64_t i;
	int64_t wrong = 0;

	for (i = 0; i < a->written; i++)
		wrong += !pattern_is(a->addr + i * a->page_size, a->page_size, a->seed, i);
	return wrong;
}

static int64_t pageout(const struct area *a)
{
	return madvise(a->addr, a->pages * a->page_size, MADV_PAGEOUT) ? -errno : 0;
}

static int64_t unmap(const struct area *a)
{
	return munmap(a->addr, a->pages * a->page_size) ? -errno : 0;
}

/* Obeys one line and answers with its first word and a number. Returns false for "quit". */
static bool obey(const struct area *a, const char *line)
{
	char word[16] = "";
	uint64_t index = 0;
	int64_t value = 0;

	if (sscanf(line, "%15s %" SCNu64, word, &index) < 1 || !strcmp(word, "quit"))
		return false;
	if (index >= a->pages)
		value = -ERANGE;
	else if (!strcmp(word, "touch"))
		value = *(volatile unsigned char *)(a->addr + index * a->page_size);
	else if (!strcmp(word, "write"))
		write_page(a, index);
	else if (!strcmp(word, "pageout"))
		value = pageout(a);
	else if (!strcmp(word, "unmap"))
		value = unmap(a);
	else if (!strcmp(word, "sum"))
		value = wrong_pages(a);
	else
		value = -ENOSYS;
	printf("%s %" PRId64 "\n", word, value);
	return true;
}

/* Processes that have the area mapped too, and never touch it; they die with this one. */
static void fork_mappers(int count)
{
	pid_t pid = 1;

	while (count-- > 0 && pid > 0)
		pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
}

static uint64_t number(const char *s)
{
	char *end;
	uint64_t n;

	errno = 0;
	n = strtoull(s, &end, 0);
	if (errno || end == s || *end) {
		fprintf(stderr, "shmdirty: not a number: %s\n", s);
		exit(2);
	}
	return n;
}

struct options {
	const char *kind, *file;
	int mappers;
};

static void parse(int argc, char **argv, struct area *a, struct options *o)
{
	int opt;

	while ((opt = getopt(argc, argv, "k:f:s:w:c:")) != -1) {
		if (opt == 'k')
			o->kind = optarg;
		else if (opt == 'f')
			o->file = optarg;
		else if (opt == 's')
			a->seed = number(optarg);
		else if (opt == 'w')
			a->written = number(optarg);
		else if (opt == 'c')
			o->mappers = (int)number(optarg);
		else
			exit(2);
	}
	if (optind + 1 != argc)
		exit(2);
	a->pages = number(argv[optind]);
	if (a->written > a->pages)
		a->written = a->pages;
}

int main(int argc, char **argv)
{
	struct area a = {.written = UINT64_MAX, .page_size = (size_t)sysconf(_SC_PAGESIZE)};
	struct options o = {.kind = "shared"};
	char line[64];
	uint64_t i;

	parse(argc, argv, &a, &o);
	setvbuf(stdout, NULL, _IOLBF, 0);
	map_area(&a, o.kind, o.file);
	fork_mappers(o.mappers);
	for (i = 0; i < a.written; i++)
		write_page(&a, i);
	printf("addr=0x%" PRIxPTR " pages=%" PRIu64 " pid=%d seed=%" PRIu64 "\nready\n",
	       (uintptr_t)a.addr, a.pages, getpid(), a.seed);
	while (fgets(line, sizeof(line), stdin) && obey(&a, line))
		;
	return 0;
}
