// SPDX-License-Identifier: GPL-2.0-only
/*
 * pgscan: what /proc does not tell about memory. The device, and the way of a request into the
 * kernel and back; the requests themselves are in the other files, the interface is described in
 * uapi/pgscan.h.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/build_bug.h>
#include <linux/capability.h>
#include <linux/miscdevice.h>
#include <linux/mmzone.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/swap.h>
#include <linux/uaccess.h>

#include "internal.h"

static long pgscan_info(union pgscan_arg *arg)
{
	arg->info.abi = PGSCAN_ABI;
	arg->info.page_shift = PAGE_SHIFT;
	arg->info.features = PGSCAN_FEAT_SHMEM | PGSCAN_FEAT_EXTENTS | PGSCAN_FEAT_OBJECTS |
			     PGSCAN_FEAT_REPORTED | PGSCAN_FEAT_TAGS | PGSCAN_FEAT_SHMEM_MARKERS |
			     pgscan_scan_features();
	arg->info.max_swapfiles = MAX_SWAPFILES;
	arg->info.nr_orders = ARRAY_SIZE(((struct zone *)NULL)->free_area);
	return 0;
}

struct pgscan_request {
	size_t size;	  /* of the argument, as this module knows it */
	size_t size_ver0; /* as it was first published: the least a caller may have */
	u32 flags;	  /* those that are defined */
	long (*run)(union pgscan_arg *arg);
};

#define PGSCAN_REQUEST(NAME, name, valid_flags)                                                    \
	[_IOC_NR(PGSCAN_IOC_##NAME)] = {                                                           \
		.size = sizeof(struct pgscan_##name),                                              \
		.size_ver0 = PGSCAN_##NAME##_SIZE_VER0,                                            \
		.flags = (valid_flags),                                                            \
		.run = pgscan_##name,                                                              \
	}

static const struct pgscan_request pgscan_requests[] = {
	PGSCAN_REQUEST(INFO, info, 0),
	PGSCAN_REQUEST(SHMEM, shmem, PGSCAN_SHMEM_MARKERS),
	PGSCAN_REQUEST(EXTENTS, extents, 0),
	PGSCAN_REQUEST(OBJECTS, objects, PGSCAN_OBJECTS_ALL),
	PGSCAN_REQUEST(SCAN, scan, PGSCAN_SCAN_CLEAR | PGSCAN_SCAN_CLEAR_VMA),
	PGSCAN_REQUEST(REPORTED, reported, 0),
	PGSCAN_REQUEST(TAGS, tags, 0),
};

/* Each argument starts with these two. */
struct pgscan_arg_head {
	u32 size;
	u32 flags;
};

static int pgscan_copy_arg(const struct pgscan_request *req, union pgscan_arg *arg,
			   void __user *uarg, size_t *ret_size)
{
	struct pgscan_arg_head head;
	u32 size;
	int err;

	if (get_user(size, (u32 __user *)uarg))
		return -EFAULT;
	if (size < req->size_ver0)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;

	memset(arg, 0, sizeof(*arg));
	err = copy_struct_from_user(arg, req->size, uarg, size);
	if (err)
		return err;

	memcpy(&head, arg, sizeof(head));
	if (head.flags & ~req->flags)
		return -EINVAL;
	/* Another thread may have changed it since it was read: ours was checked. */
	if (head.size != size)
		return -EINVAL;

	*ret_size = min_t(size_t, size, req->size);
	return 0;
}

static long pgscan_ioctl(struct file *file, unsigned int cmd, unsigned long uaddr)
{
	void __user *uarg = (void __user *)uaddr;
	const struct pgscan_request *req;
	union pgscan_arg arg;
	unsigned int nr;
	size_t size;
	long ret;

	if (_IOC_TYPE(cmd) != PGSCAN_IOC_MAGIC || _IOC_NR(cmd) >= ARRAY_SIZE(pgscan_requests) ||
	    cmd != _IO(PGSCAN_IOC_MAGIC, _IOC_NR(cmd)))
		return -ENOTTY;
	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;

	nr = array_index_nospec(_IOC_NR(cmd), ARRAY_SIZE(pgscan_requests));
	req = &pgscan_requests[nr];
	ret = pgscan_copy_arg(req, &arg, uarg, &size);
	if (ret)
		return ret;

	ret = req->run(&arg);
	if (ret >= 0 && copy_to_user(uarg, &arg, size))
		return -EFAULT;
	return ret;
}

static const struct file_operations pgscan_fops = {
	.owner = THIS_MODULE,
	.open = nonseekable_open,
	.unlocked_ioctl = pgscan_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct miscdevice pgscan_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "pgscan",
	.mode = 0600,
	.fops = &pgscan_fops,
};

static int __init pgscan_init(void)
{
	int err;

	err = pgscan_target_init();
	if (err) {
		pr_err("cannot find out what /proc/PID/pagemap is: %d\n", err);
		return err;
	}

	err = pgscan_reported_init();
	if (err)
		return err;

	err = misc_register(&pgscan_device);
	if (err)
		pgscan_reported_exit();
	return err;
}

static void __exit pgscan_exit(void)
{
	misc_deregister(&pgscan_device);
	pgscan_reported_exit();
}

module_init(pgscan_init);
module_exit(pgscan_exit);

/* Entries of page tables are read in one access. */
static_assert(BITS_PER_LONG == 64);

/* Compared with the published sizes, and free of padding, which a 32-bit caller would differ in. */
static_assert(sizeof(struct pgscan_info) == PGSCAN_INFO_SIZE_VER0);
static_assert(sizeof(struct pgscan_run) == 32);
static_assert(sizeof(struct pgscan_shmem) == PGSCAN_SHMEM_SIZE_VER1);
static_assert(sizeof(struct pgscan_key) == 24);
static_assert(sizeof(struct pgscan_extents) == PGSCAN_EXTENTS_SIZE_VER0);
static_assert(sizeof(struct pgscan_object) == PGSCAN_OBJECT_SIZE_VER0);
static_assert(sizeof(struct pgscan_objects) == PGSCAN_OBJECTS_SIZE_VER0);
static_assert(sizeof(struct pgscan_region) == 24);
static_assert(sizeof(struct pgscan_scan) == PGSCAN_SCAN_SIZE_VER0);
static_assert(sizeof(struct pgscan_zone) == PGSCAN_ZONE_SIZE_VER0);
static_assert(sizeof(struct pgscan_reported) == PGSCAN_REPORTED_SIZE_VER0);
static_assert(sizeof(struct pgscan_tags) == PGSCAN_TAGS_SIZE_VER0);

MODULE_DESCRIPTION("What /proc does not tell about memory: swap slots of shared pages and more");
MODULE_AUTHOR("The pgscan project");
MODULE_LICENSE("GPL");
