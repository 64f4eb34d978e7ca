// SPDX-License-Identifier: GPL-2.0-only
/*
 * uffd - memory that the target itself write-protects asynchronously (UFFD_FEATURE_WP_ASYNC,
 * "userfaultfd: UFFD_FEATURE_WP_ASYNC", 6.7).
 *   pages=N write=LIST   region "uffd": these pages written, then all of them protected; the ones
 *                        never touched hold a marker from then on
 * Command "protect" protects all again.
 */
#include "target.h"

#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif
#ifndef UFFD_FEATURE_WP_UNPOPULATED
#define UFFD_FEATURE_WP_UNPOPULATED (1 << 13)
#endif
#ifndef UFFD_FEATURE_WP_ASYNC
#define UFFD_FEATURE_WP_ASYNC (1 << 15)
#endif

static int uffd; /* the one of this process; a command has no other way to it */

static int protect(struct target *t, int argc, char **argv)
{
	struct uffdio_writeprotect wp = {
		.range = {.start = (uintptr_t)t->regions[0].addr,
			  .len = t->regions[0].pages * t->page_size},
		.mode = UFFDIO_WRITEPROTECT_MODE_WP,
	};

	(void)argc;
	(void)argv;
	return ioctl(uffd, UFFDIO_WRITEPROTECT, &wp);
}

static void uffd_register(const struct target_region *r, size_t page_size, bool wp)
{
	struct uffdio_api api = {
		.api = UFFD_API,
		.features = wp ? UFFD_FEATURE_WP_ASYNC | UFFD_FEATURE_WP_UNPOPULATED : 0,
	};
	struct uffdio_register reg = {
		.range = {.start = (uintptr_t)r->addr, .len = r->pages * page_size},
		.mode = wp ? UFFDIO_REGISTER_MODE_WP : UFFDIO_REGISTER_MODE_MISSING,
	};

	uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	if (uffd < 0)
		target_die("userfaultfd");
	if (ioctl(uffd, UFFDIO_API, &api))
		target_die("UFFDIO_API");
	if (ioctl(uffd, UFFDIO_REGISTER, &reg))
		target_die("UFFDIO_REGISTER");
}

int main(int argc, char **argv)
{
	static const char *const keys[] = {"pages", "write", "mode", NULL};
	static const struct target_cmd cmds[] = {{"protect", protect}, {NULL, NULL}};
	const struct target_region *r;
	struct target t;
	size_t pages;
	bool wp;

	(void)argc;
	target_init(&t, argv, keys);
	pages = target_number(target_word(argv, "pages", "16"));
	r = target_region_add(&t, "uffd",
			      target_map(&t, pages, PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
			      pages);
	wp = strcmp(target_word(argv, "mode", "wp"), "missing");
	/* A missing page would have to be sent for: those that are to be there come first. */
	if (!wp)
		target_write(&t, r, target_word(argv, "write", "0-7"));
	uffd_register(r, t.page_size, wp);
	if (wp)
		target_write(&t, r, target_word(argv, "write", "0-7"));
	if (wp && protect(&t, 0, NULL))
		target_die("UFFDIO_WRITEPROTECT");
	return target_serve(&t, cmds);
}
