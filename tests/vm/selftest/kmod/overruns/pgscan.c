// SPDX-License-Identifier: GPL-2.0-only
/* A module that reads one byte too many as it is loaded, which only KASAN sees. */
#include <linux/module.h>
#include <linux/slab.h>

static int length = 32;

static int __init overruns_init(void)
{
	volatile char *p = kzalloc(length, GFP_KERNEL);

	if (!p)
		return -ENOMEM;
	(void)p[length];
	kfree((char *)p);
	return 0;
}

static void __exit overruns_exit(void)
{
}

module_init(overruns_init);
module_exit(overruns_exit);
module_param(length, int, 0444);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("selftest: overruns");
