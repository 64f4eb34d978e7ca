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

	(void)argc;
	target_init(&t, argv, keys);
	r = target_dense(&t, "guard", target_number(target_word(argv, "pages", "4")));
	list = target_word(argv, "guard", "1");
	if (!target_apply(&t, r, list, target_advise_pages, MADV_GUARD_INSTALL))
		target_usage(list);
	return target_serve(&t, NULL);
}
