// SPDX-License-Identifier: GPL-2.0-only
/* A module that takes two locks in both orders as it is loaded, one after the other: only lockdep
 * sees. */
#include <linux/module.h>
#include <linux/mutex.h>

static DEFINE_MUTEX(one);
static DEFINE_MUTEX(other);

static int __init locks_init(void)
{
	mutex_lock(&one);
	mutex_lock(&other);
	mutex_unlock(&other);
	mutex_unlock(&one);

	mutex_lock(&other);
	mutex_lock(&one);
	mutex_unlock(&one);
	mutex_unlock(&other);
	return 0;
}

static void __exit locks_exit(void)
{
}

module_init(locks_init);
module_exit(locks_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("selftest: locks");
