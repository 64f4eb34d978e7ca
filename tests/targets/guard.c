// SPDX-License-Identifier: GPL-2.0-only
/*
 * guard - pages=N (4) written pages, then MADV_GUARD_INSTALL over guard=LIST (1): region "guard".
 */
#include "target.h"

int main(int argc, char **argv)
{
	static const char *const keys[] = {"pages", "guard", NULL};
	const struct target_region *r;
	struct target t;
	const char *list;
	size_t pages;

	(void)argc;
	target_init(&t, argv, keys);
	pages = target_number(target_word(argv, "pages", "4"));
	r = target_region_add(&t, "guard",
			      target_map(&t, pages, PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
			      pages);
	target_write(&t, r, "all");
	list = target_word(argv, "guard", "1");
	if (!target_apply(&t, r, list, target_advise_pages, MADV_GUARD_INSTALL))
		target_usage(list);
	return target_serve(&t, NULL);
}
