// SPDX-License-Identifier: GPL-2.0-only
/* A module that writes to address 0 as it is loaded. */
#include <linux/module.h>

static int __init oopses_init(void)
{
	*(volatile int *)NULL = 0;
	return 0;
}

module_init(oopses_init);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("selftest: oopses");
