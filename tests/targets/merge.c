// SPDX-License-Identifier: GPL-2.0-only
/*
 * merge - a mapping that grows: pages=N (16) write=LIST, region "old", and behind it room for
 * grow=N (16) pages, region "new", where nothing is mapped yet.
 * Command "grow": map them; the kernel makes one mapping of both, which soft-dirty then calls dirty
 * as a whole.
 */
#include "target.h"

/* Without an advice, which would keep the two from being alike. */
static void map(char *addr, size_t size)
{
	if (mmap(addr, size, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != addr)
		target_die("mmap of %zu bytes", size);
}

static int grow(struct target *t, int argc, char **argv)
{
	const struct target_region *r = target_region_find(t, "new");

	(void)argc;
	(void)argv;
	map(r->addr, r->pages * t->page_size);
	return 0;
}

int main(int argc, char **argv)
{
	static const char *const keys[] = {"pages", "write", "grow", NULL};
	static const struct target_cmd cmds[] = {{"grow", grow}, {NULL, NULL}};
	size_t pages, more;
	struct target t;
	char *hole;

	(void)argc;
	target_init(&t, argv, keys);
	pages = target_number(target_word(argv, "pages", "16"));
	more = target_number(target_word(argv, "grow", "16"));
	hole = target_hole((pages + more) * t.page_size, t.page_size);
	munmap(hole, (pages + more) * t.page_size);
	map(hole, pages * t.page_size);
	target_write(&t, target_region_add(&t, "old", hole, pages),
		     target_word(argv, "write", "none"));
	target_region_add(&t, "new", hole + pages * t.page_size, more);
	return target_serve(&t, cmds);
}
