// SPDX-License-Identifier: GPL-2.0-only
/*
 * manyvma - vmas=N (65000) mappings of one page each: region "manyvma". Protections alternate so
 * that they do not merge; the even ones are writable and written, the odd ones read-only and
 * untouched. vm.max_map_count (65530) leaves room for the program's own.
 */
#include "target.h"

int main(int argc, char **argv)
{
	static const char *const keys[] = {"vmas", NULL};
	struct target t;
	size_t vmas;
	char *p;

	(void)argc;
	target_init(&t, argv, keys);
	vmas = target_number(target_word(argv, "vmas", "65000"));
	p = target_map(&t, vmas, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (size_t i = 0; i < vmas; i++) {
		if (i % 2 == 0)
			p[i * t.page_size] = 1;
		else if (mprotect(p + i * t.page_size, t.page_size, PROT_READ))
			target_die("mprotect of page %zu", i);
	}
	target_region_add(&t, "manyvma", p, vmas);
	return target_serve(&t, NULL);
}
