// SPDX-License-Identifier: GPL-2.0-only
/*
 * The process that a descriptor of /proc/PID/pagemap stands for.
 *
 * ptrace_may_access() is not exported. A pagemap descriptor is as good: to open it the caller has
 * passed that very check, and the file holds on to the mm it was opened for, so that an exec of a
 * setuid program does not turn it into a key to something else.
 */
#include <linux/capability.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/module.h>
#include <linux/mount.h>
#include <linux/sched/mm.h>

#include "internal.h"

/* The file operations of /proc/PID/pagemap, by which such a file is known. */
static const struct file_operations *pagemap_fops;

/*
 * proc_pagemap_operations is static to proc, so open such a file once and look. It is opened on a
 * proc mount of our own, and not through a path, where anything may be mounted. The private data
 * must be what the rest of this file takes it for: the mm of the task, here of modprobe.
 */
int __init pgscan_target_init(void)
{
	struct file_system_type *type;
	struct vfsmount *mnt;
	struct file *file;
	struct path root;
	int err = 0;

	type = get_fs_type("proc");
	if (!type)
		return -ENODEV;
	mnt = kern_mount(type);
	/* put_filesystem() is not exported. */
	module_put(type->owner);
	if (IS_ERR(mnt))
		return PTR_ERR(mnt);

	root.mnt = mnt;
	root.dentry = mnt->mnt_root;
	file = file_open_root(&root, "self/pagemap", O_RDONLY, 0);
	if (IS_ERR(file)) {
		err = PTR_ERR(file);
		goto out_unmount;
	}

	if (current->mm && file->private_data == current->mm)
		pagemap_fops = file->f_op;
	else
		err = -ENODEV;
	fput(file);
out_unmount:
	kern_unmount(mnt);
	return err;
}

int pgscan_target_get(int fd, struct mm_struct **ret_mm)
{
	struct mm_struct *mm;
	struct file *file;
	int err = 0;

	file = fget(fd);
	if (!file)
		return -EBADF;

	if (file->f_op != pagemap_fops) {
		err = -EINVAL;
		goto out;
	}
	/*
	 * As pagemap_read() does before it shows frames: 1c90308e7a77 ("pagemap: hide physical
	 * addresses from non-privileged users"), v4.2.
	 */
	if (!file_ns_capable(file, &init_user_ns, CAP_SYS_ADMIN)) {
		err = -EPERM;
		goto out;
	}
	/* NULL: of a kernel thread, whose pagemap older kernels let one open. */
	mm = file->private_data;
	if (!mm || !mmget_not_zero(mm)) {
		err = -ESRCH;
		goto out;
	}
	*ret_mm = mm;
out:
	fput(file);
	return err;
}

int pgscan_check_range(u64 start, u64 end)
{
	if (!PAGE_ALIGNED(start) || !PAGE_ALIGNED(end) || start > end || end > TASK_SIZE_MAX)
		return -EINVAL;
	return 0;
}
