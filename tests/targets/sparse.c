// SPDX-License-Identifier: GPL-2.0-only
/*
 * sparse - a reservation like a sanitizer's or a Java heap's: gib=N (16384) GiB of address space of
 * which three pages are touched, the first, one in the middle and the last: region "sparse".
 *   prot=none (default)  the reservation is PROT_NONE, the three pages are made accessible
 *   prot=rw              one mapping, all of it accessible
 */
#include "target.h"

int main(int argc, char **argv)
{
	static const char *const keys[] = {"gib", "prot", NULL};
	size_t size, pages, touch[3];
	const char *prot;
	struct target t;
	bool rw;
	char *p;

	(void)argc;
	target_init(&t, argv, keys);
	size = target_number(target_word(argv, "gib", "16384")) << 30;
	prot = target_word(argv, "prot", "none");
	rw = !strcmp(prot, "rw");
	if (!rw && strcmp(prot, "none"))
		target_usage(prot);
	pages = size / t.page_size;
	p = mmap(target_hole(size, t.page_size), size, rw ? PROT_READ | PROT_WRITE : PROT_NONE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	if (p == MAP_FAILED)
		target_die("mmap of %zu bytes", size);
	if (madvise(p, size, MADV_NOHUGEPAGE) && errno != EINVAL)
		target_die("MADV_NOHUGEPAGE");
	target_region_add(&t, "sparse", p, pages);
	touch[0] = 0;
	touch[1] = pages / 2;
	touch[2] = pages - 1;
	for (size_t i = 0; i < 3; i++) {
		char *page = p + touch[i] * t.page_size;

		if (!rw && mprotect(page, t.page_size, PROT_READ | PROT_WRITE))
			target_die("mprotect");
		*page = 1;
	}
	return target_serve(&t, NULL);
}
