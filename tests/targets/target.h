/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * target: what the programs under tests/targets share. Each puts its memory into a known state,
 * prints one "name=0x… pages=N" line a region, then "ready", and obeys commands on stdin, one a
 * line, each answered by one line: "ok" (perhaps with words behind it) or "error …". End of file
 * ends the target. So a test waits for the line it needs and never sleeps.
 *
 * Words on the command line are KEY=VALUE. A LIST chooses pages of a region by index:
 * "0-15,20", "0-255/2" (every second one), "all", "none".
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "pattern.h"

/* Advice that Debian bookworm's headers (6.1) lack. */
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102 /* "mm: add PTE_MARKER_GUARD PTE marker", 6.13 */
#endif
#ifndef MADV_GUARD_REMOVE
#define MADV_GUARD_REMOVE 103
#endif

#define TARGET_REGIONS 16
#define TARGET_HUGE    (2UL << 20)

struct target_region {
	const char *name;
	char *addr;
	size_t pages;
};

struct target {
	size_t page_size;
	size_t nr_regions;
	struct target_region regions[TARGET_REGIONS];
};

/* A command of one target; returns 0 ("ok" is printed unless it printed an answer itself: 1). */
struct target_cmd {
	const char *name;
	int (*run)(struct target *t, int argc, char **argv);
};

__attribute__((noreturn, format(printf, 1, 2))) static inline void target_die(const char *fmt, ...)
{
	int err = errno;
	va_list ap;

	va_start(ap, fmt);
	fprintf(stderr, "%s: ", program_invocation_short_name);
	vfprintf(stderr, fmt, ap);
	fprintf(stderr, ": %s\n", strerror(err));
	va_end(ap);
	exit(1);
}

__attribute__((noreturn)) static inline void target_usage(const char *word)
{
	fprintf(stderr, "%s: bad word '%s'\n", program_invocation_short_name, word);
	exit(2);
}

/* target_init - refuse words that are not among @keys (a NULL-terminated list). */
static inline void target_init(struct target *t, char **argv, const char *const *keys)
{
	*t = (struct target){.page_size = (size_t)sysconf(_SC_PAGESIZE)};
	for (char **word = argv + 1; *word; word++) {
		size_t len = strcspn(*word, "=");
		const char *const *k = keys;

		while (*k && (strlen(*k) != len || strncmp(*k, *word, len)))
			k++;
		if (!*k || (*word)[len] != '=')
			target_usage(*word);
	}
}

/* target_word - the value of the last word "@key=…", or @otherwise. */
static inline const char *target_word(char **argv, const char *key, const char *otherwise)
{
	size_t len = strlen(key);

	for (char **word = argv + 1; *word; word++)
		if (!strncmp(*word, key, len) && (*word)[len] == '=')
			otherwise = *word + len + 1;
	return otherwise;
}

static inline size_t target_number(const char *text)
{
	char *end;
	size_t n;

	errno = 0;
	n = strtoul(text, &end, 0);
	if (end == text || *end || errno)
		target_usage(text);
	return n;
}

/* target_region_add - announce a region under a name. */
static inline struct target_region *target_region_add(struct target *t, const char *name,
						      void *addr, size_t pages)
{
	struct target_region *r = &t->regions[t->nr_regions++];

	if (t->nr_regions > TARGET_REGIONS)
		abort();
	*r = (struct target_region){.name = name, .addr = addr, .pages = pages};
	printf("%s=0x%llx pages=%zu\n", name, (unsigned long long)(uintptr_t)addr, pages);
	return r;
}

static inline struct target_region *target_region_find(struct target *t, const char *name)
{
	for (size_t i = 0; i < t->nr_regions; i++)
		if (!strcmp(t->regions[i].name, name))
			return &t->regions[i];
	return NULL;
}

/*
 * target_hole - @size bytes of address space, aligned to @align, that touch no other mapping: what
 * is mapped there with MAP_FIXED stays a VMA of its own instead of merging with its neighbour.
 */
static inline char *target_hole(size_t size, size_t align)
{
	char *p = mmap(NULL, size + 2 * align, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		target_die("mmap of %zu bytes", size);
	return (char *)(((uintptr_t)p + 2 * align - 1) & ~(uintptr_t)(align - 1));
}

/* target_map - map @pages into a hole of their own, where huge pages fit; small ones unless the
 * caller asks later. */
static inline char *target_map(struct target *t, size_t pages, int prot, int flags, int fd,
			       off_t offset)
{
	size_t size = pages * t->page_size;
	char *p = target_hole(size, size < TARGET_HUGE ? t->page_size : TARGET_HUGE);

	p = mmap(p, size, prot, flags | MAP_FIXED, fd, offset);
	if (p == MAP_FAILED)
		target_die("mmap of %zu pages", pages);
	/* EINVAL where the kernel has no transparent huge pages. */
	if (madvise(p, size, MADV_NOHUGEPAGE) && errno != EINVAL)
		target_die("MADV_NOHUGEPAGE");
	return p;
}

/*
 * target_list - call @fn for each page index of @list; a range goes to it whole when the list has
 * no step. Returns false for a list that is none or leaves the region.
 */
static inline bool target_list(const char *list, size_t pages,
			       void (*fn)(void *arg, size_t first, size_t nr), void *arg)
{
	if (!strcmp(list, "none"))
		return true;
	if (!strcmp(list, "all")) {
		fn(arg, 0, pages);
		return true;
	}
	for (char *end; *list; list = *end == ',' ? end + 1 : end) {
		size_t first = strtoul(list, &end, 10), last = first, step = 1;

		if (end == list)
			return false;
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		if (*end == '/')
			step = strtoul(end + 1, &end, 10);
		if ((*end && *end != ',') || last < first || last >= pages || !step)
			return false;
		if (step == 1)
			fn(arg, first, last - first + 1);
		else
			for (size_t i = first; i <= last; i += step)
				fn(arg, i, 1);
	}
	return true;
}

struct target_touch {
	const struct target_region *region;
	size_t page_size;
	int advice;
};

/* Each page tells whose it is and which (pattern.h), and each write changes its second word. */
static inline void target_write_pages(void *arg, size_t first, size_t nr)
{
	const struct target_touch *w = arg;

	for (size_t i = first; i < first + nr; i++) {
		unsigned char *page = (unsigned char *)w->region->addr + i * w->page_size;

		pattern_write(page, w->page_size, (uint64_t)getpid(),
			      (uintptr_t)page / w->page_size);
		((volatile uint64_t *)(void *)page)[1] += 1;
	}
}

static inline void target_read_pages(void *arg, size_t first, size_t nr)
{
	const struct target_touch *w = arg;

	for (size_t i = first; i < first + nr; i++)
		(void)*(volatile char *)(w->region->addr + i * w->page_size);
}

static inline void target_advise_pages(void *arg, size_t first, size_t nr)
{
	struct target_touch *w = arg;

	if (madvise(w->region->addr + first * w->page_size, nr * w->page_size, w->advice))
		target_die("madvise %d", w->advice);
}

static inline bool target_apply(struct target *t, const struct target_region *r, const char *list,
				void (*fn)(void *arg, size_t first, size_t nr), int advice)
{
	struct target_touch w = {.region = r, .page_size = t->page_size, .advice = advice};

	return target_list(list, r->pages, fn, &w);
}

static inline void target_write(struct target *t, const struct target_region *r, const char *list)
{
	if (!target_apply(t, r, list, target_write_pages, 0))
		target_usage(list);
}

static inline void target_read(struct target *t, const struct target_region *r, const char *list)
{
	if (!target_apply(t, r, list, target_read_pages, 0))
		target_usage(list);
}

/* target_dense - @pages small pages, all of them written, announced as a region. */
static inline const struct target_region *target_dense(struct target *t, const char *name,
						       size_t pages)
{
	char *p = target_map(t, pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct target_region *r = target_region_add(t, name, p, pages);

	target_write(t, r, "all");
	return r;
}

static inline int target_advice(const char *name)
{
	static const struct {
		const char *name;
		int advice;
	} table[] = {
		{"dontneed", MADV_DONTNEED},   {"pageout", MADV_PAGEOUT},
		{"cold", MADV_COLD},	       {"free", MADV_FREE},
		{"hugepage", MADV_HUGEPAGE},   {"nohugepage", MADV_NOHUGEPAGE},
		{"mergeable", MADV_MERGEABLE}, {"collapse", 25 /* MADV_COLLAPSE, 6.1 */},
		{"guard", MADV_GUARD_INSTALL}, {"unguard", MADV_GUARD_REMOVE},
		{"hwpoison", MADV_HWPOISON},   {"remove", MADV_REMOVE},
		{"willneed", MADV_WILLNEED},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (!strcmp(table[i].name, name))
			return table[i].advice;
	return -1;
}

/* The commands that every target has: write|read REGION LIST, ADVICE REGION LIST, unmap REGION, and
 * exec, after which the process goes on as sleep(1) and answers no more. */
static inline bool target_common_cmd(struct target *t, int argc, char **argv)
{
	const struct target_region *r = argc > 1 ? target_region_find(t, argv[1]) : NULL;
	int advice = target_advice(argv[0]);

	if (argc == 1 && !strcmp(argv[0], "exec"))
		return execlp("sleep", "sleep", "600", NULL) == 0;
	if (r && argc == 2 && !strcmp(argv[0], "unmap"))
		return !munmap(r->addr, r->pages * t->page_size);
	if (!r || argc != 3)
		return false;
	if (!strcmp(argv[0], "write"))
		return target_apply(t, r, argv[2], target_write_pages, 0);
	if (!strcmp(argv[0], "read"))
		return target_apply(t, r, argv[2], target_read_pages, 0);
	return advice >= 0 && target_apply(t, r, argv[2], target_advise_pages, advice);
}

static inline void target_obey(struct target *t, const struct target_cmd *cmds, char *line)
{
	char *argv[8] = {NULL}, *save;
	int argc = 0, answered;

	for (char *w = strtok_r(line, " \n", &save); w && argc < 7;
	     w = strtok_r(NULL, " \n", &save))
		argv[argc++] = w;
	if (!argc)
		return;
	for (; cmds && cmds->name; cmds++) {
		if (strcmp(cmds->name, argv[0]))
			continue;
		answered = cmds->run(t, argc, argv);
		if (answered >= 0) {
			if (!answered)
				puts("ok");
			return;
		}
		break;
	}
	puts((!cmds || !cmds->name) && target_common_cmd(t, argc, argv) ? "ok" : "error");
}

/* target_children - fork; children die with the target, even when it is killed. */
static inline void target_children(size_t children)
{
	pid_t parent = getpid();

	for (size_t i = 0; i < children; i++) {
		pid_t pid = fork();

		if (pid < 0)
			target_die("fork");
		if (!pid) {
			if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
				_exit(1);
			for (;;)
				pause();
		}
		printf("child=%d pages=0\n", pid);
		fflush(stdout);
	}
}

/*
 * target_serve - say "ready" and obey until stdin ends. Neither reads through stdio: its buffers
 * would be allocated from a heap that the test may be looking at. Returns the exit status.
 */
static inline int target_serve(struct target *t, const struct target_cmd *cmds)
{
	char line[256];
	size_t len = 0;

	puts("ready");
	fflush(stdout);
	while (len < sizeof(line) - 1 && read(STDIN_FILENO, line + len, 1) == 1) {
		if (line[len++] != '\n')
			continue;
		line[len] = '\0';
		len = 0;
		target_obey(t, cmds, line);
		fflush(stdout);
	}
	return 0;
}
