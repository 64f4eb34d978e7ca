// SPDX-License-Identifier: GPL-2.0-only
/*
 * hwpoison - pages=N (8) written pages, private or with shared=1 shared, of which poison=LIST (2)
 * are hit by MADV_HWPOISON. The frames are lost to the machine until it boots again: for guests
 * only, and it insists.
 */
#include "target.h"

#include <signal.h>

static void on_sigbus(int sig)
{
	(void)sig;
}

int main(int argc, char **argv)
{
	static const char *const keys[] = {"pages", "poison", "shared", NULL};
	const struct target_region *r;
	struct target t;
	const char *list;

	(void)argc;
	target_init(&t, argv, keys);
	if (!getenv("PGSCAN_GUEST")) {
		fputs("hwpoison: only in a guest (PGSCAN_GUEST is not set)\n", stderr);
		return 2;
	}
	r = target_dense(&t, "hwpoison", target_number(target_word(argv, "pages", "8")));
	/* The kernel tells a process of the dirty page that it has lost, and takes no "ignore". */
	signal(SIGBUS, on_sigbus);
	list = target_word(argv, "poison", "2");
	if (!target_apply(&t, r, list, target_advise_pages, MADV_HWPOISON))
		target_usage(list);
	return target_serve(&t, NULL);
}
