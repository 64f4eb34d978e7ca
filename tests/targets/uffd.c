// SPDX-License-Identifier: GPL-2.0-only
/*
 * uffd - memory that the target itself registers with userfaultfd, and write-protects.
 *   kind=anon        region "uffd": private memory, protected asynchronously
 *                    (UFFD_FEATURE_WP_ASYNC, "userfaultfd: UFFD_FEATURE_WP_ASYNC", 6.7)
 *   kind=memfd       a memfd; who writes to what is protected waits for ever
 *   kind=private     a private mapping of one, which is written by another and read by this one
 *   pages=N          write=LIST: these pages are written
 *   protect=LIST     then these are protected, by default all; those that are not mapped hold a
 *                    marker from then on
 *   mode=missing     registered for missing pages alone, and nothing is protected
 * Command "protect LIST" protects more.
 */
#include "target.h"

#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif
#ifndef UFFD_FEATURE_WP_HUGETLBFS_SHMEM
#define UFFD_FEATURE_WP_HUGETLBFS_SHMEM (1 << 12)
#endif
#ifndef UFFD_FEATURE_WP_UNPOPULATED
#define UFFD_FEATURE_WP_UNPOPULATED (1 << 13)
#endif
#ifndef UFFD_FEATURE_WP_ASYNC
#define UFFD_FEATURE_WP_ASYNC (1 << 15)
#endif

static int uffd; /* the one of this process; a command has no other way to it */

static void protect_pages(void *arg, size_t first, size_t nr)
{
	const struct target_touch *touch = arg;
	struct uffdio_writeprotect wp = {
		.range = {.start = (uintptr_t)touch->region->addr + first * touch->page_size,
			  .len = nr * touch->page_size},
		.mode = UFFDIO_WRITEPROTECT_MODE_WP,
	};

	if (ioctl(uffd, UFFDIO_WRITEPROTECT, &wp))
		target_die("UFFDIO_WRITEPROTECT");
}

static int protect(struct target *t, int argc, char **argv)
{
	const char *list = argc > 1 ? argv[1] : "all";

	return target_apply(t, &t->regions[0], list, protect_pages, 0) ? 0 : -1;
}

static void uffd_register(const struct target_region *r, size_t page_size, uint64_t mode,
			  uint64_t features)
{
	struct uffdio_api api = {.api = UFFD_API, .features = features};
	struct uffdio_register reg = {
		.range = {.start = (uintptr_t)r->addr, .len = r->pages * page_size},
		.mode = mode,
	};

	uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	if (uffd < 0)
		target_die("userfaultfd");
	if (ioctl(uffd, UFFDIO_API, &api))
		target_die("UFFDIO_API");
	if (ioctl(uffd, UFFDIO_REGISTER, &reg))
		target_die("UFFDIO_REGISTER");
}

static char *map_anon(struct target *t, size_t pages, const char *list)
{
	struct target_region r = {.pages = pages};

	r.addr = target_map(t, pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	target_write(t, &r, list);
	return r.addr;
}

/* A private mapping would get copies of its own: its file is written through another one. */
static char *map_memfd(struct target *t, size_t pages, const char *list, bool is_private)
{
	size_t size = pages * t->page_size;
	int fd = memfd_create("pgscan-test", MFD_CLOEXEC);
	struct target_region shared = {.pages = pages};

	if (fd < 0 || ftruncate(fd, (off_t)size))
		target_die("memfd");
	shared.addr = target_map(t, pages, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	target_write(t, &shared, list);
	if (!is_private)
		return shared.addr;
	if (munmap(shared.addr, size))
		target_die("munmap");
	shared.addr = target_map(t, pages, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	target_read(t, &shared, list);
	return shared.addr;
}

int main(int argc, char **argv)
{
	static const char *const keys[] = {"kind", "pages", "write", "protect", "mode", NULL};
	static const struct target_cmd cmds[] = {{"protect", protect}, {NULL, NULL}};
	const char *kind = target_word(argv, "kind", "anon");
	const char *list = target_word(argv, "write", "0-7");
	bool wp = strcmp(target_word(argv, "mode", "wp"), "missing");
	bool is_anon = !strcmp(kind, "anon"), is_private = !strcmp(kind, "private");
	uint64_t features = is_anon ? UFFD_FEATURE_WP_ASYNC | UFFD_FEATURE_WP_UNPOPULATED
				    : UFFD_FEATURE_WP_HUGETLBFS_SHMEM;
	const struct target_region *r;
	struct target t;
	size_t pages;

	(void)argc;
	target_init(&t, argv, keys);
	pages = target_number(target_word(argv, "pages", "16"));
	if (!is_anon && !is_private && strcmp(kind, "memfd"))
		target_usage(kind);
	r = target_region_add(&t, "uffd",
			      is_anon ? map_anon(&t, pages, list)
				      : map_memfd(&t, pages, list, is_private),
			      pages);
	uffd_register(r, t.page_size, wp ? UFFDIO_REGISTER_MODE_WP : UFFDIO_REGISTER_MODE_MISSING,
		      wp ? features : 0);
	list = wp ? target_word(argv, "protect", "all") : "none";
	if (!target_apply(&t, r, list, protect_pages, 0))
		target_usage(list);
	return target_serve(&t, cmds);
}
