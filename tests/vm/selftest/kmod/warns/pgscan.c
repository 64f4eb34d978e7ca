// SPDX-License-Identifier: GPL-2.0-only
/* A module that warns as it is loaded, and works all the same. */
#include <linux/module.h>

static int __init warns_init(void)
{
	WARN(1, "on purpose");
	return 0;
}

static void __exit warns_exit(void)
{
}

module_init(warns_init);
module_exit(warns_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("selftest: warns");
