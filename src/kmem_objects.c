// SPDX-License-Identifier: GPL-2.0-only
/* From a descriptor of ours, or from the kernel's lists, to shmem inodes. */
#include "kmem_priv.h"

#include "cleanup.h"

#include <errno.h>
#include <sys/sysmacros.h>

/* MINORBITS of include/linux/kdev_t.h */
dev_t pgs_kmem_dev(uint64_t dev)
{
	return makedev((unsigned int)(dev >> 20), (unsigned int)(dev & 0xfffff));
}

/*
 * task->files->fdt->fd[fd]->f_inode, from the note that holds our own task. The table moves when it
 * grows, so it is looked up each time; none of it goes away while we sit here and read.
 */
int pgs_kmem_inode_of_fd(struct pgs_kmem *kmem, int fd, uint64_t *ret_inode)
{
	const struct kmem_layout *at = &kmem->at;
	size_t size;
	const void *task = pgs_kcore_task(kmem->kcore, &size);
	uint64_t files, fdt, max, table, file;
	int r;

	if (!task || size < at->task_struct_files.offset + sizeof(uint64_t))
		return -EOPNOTSUPP;
	files = kmem_get(task, at->task_struct_files);
	r = pgs_kmem_read(kmem, files, at->files_struct_fdt, &fdt);
	if (!r)
		r = pgs_kmem_read(kmem, fdt, at->fdtable_max_fds, &max);
	if (!r)
		r = pgs_kmem_read(kmem, fdt, at->fdtable_fd, &table);
	if (!r && (fd < 0 || (uint64_t)fd >= max))
		r = -EBADF;
	if (!r)
		r = pgs_kmem_word(kmem, table + (uint64_t)fd * sizeof(uint64_t), &file);
	return r ? r : pgs_kmem_read(kmem, file, at->file_f_inode, ret_inode);
}

/* @raw: the bytes of the shmem_inode_info whose inode lies at @inode. */
static int take_inode(struct pgs_kmem *kmem, const void *raw, uint64_t inode,
		      struct pgs_kobject *ret_object)
{
	const struct kmem_layout *at = &kmem->at;
	const unsigned char *vfs =
		(const unsigned char *)raw + at->shmem_inode_info_vfs_inode.offset;
	const unsigned char *data = vfs + at->inode_i_data.offset;
	uint64_t sb = kmem_get(vfs, at->inode_i_sb), dev, op;
	int r = pgs_kmem_read(kmem, sb, at->super_block_s_op, &op);

	if (!r && op != kmem->shmem_ops)
		r = -ENODEV;
	if (!r)
		r = pgs_kmem_read(kmem, sb, at->super_block_s_dev, &dev);
	/* A shmem inode's pages are those of the address_space inside it. */
	if (!r && (kmem_get(vfs, at->inode_i_mapping) != inode + at->inode_i_data.offset ||
		   kmem_get(data, at->address_space_host) != inode))
		r = -ENODEV;
	if (r)
		return r;
	*ret_object = (struct pgs_kobject){
		.inode = inode,
		.mapping = inode + at->inode_i_data.offset,
		.dev = pgs_kmem_dev(dev),
		.ino = kmem_get(vfs, at->inode_i_ino),
		.generation = (uint32_t)kmem_get(vfs, at->inode_i_generation),
		.is_kernel = sb == kmem->kernel_sb,
		.size_bytes = kmem_get(vfs, at->inode_i_size),
		.swapped_pages = kmem_get(raw, at->shmem_inode_info_swapped),
		.memory_pages = kmem_get(data, at->address_space_nrpages),
	};
	return 0;
}

int pgs_kmem_read_object(struct pgs_kmem *kmem, uint64_t inode, struct pgs_kobject *ret_object)
{
	size_t size = kmem->at.shmem_inode_info_bytes;
	_cleanup_free_ void *raw = malloc(size);
	int r;

	if (!raw)
		return -ENOMEM;
	r = pgs_kcore_read(kmem->kcore, inode - kmem->at.shmem_inode_info_vfs_inode.offset, raw,
			   size);
	return r ? r : take_inode(kmem, raw, inode, ret_object);
}

int pgs_kmem_object(struct pgs_kmem *kmem, int fd, struct pgs_kobject *ret_object)
{
	uint64_t inode;
	int r = pgs_kmem_start(kmem);

	if (!r)
		r = pgs_kcore_refresh(kmem->kcore);
	if (!r)
		r = pgs_kmem_inode_of_fd(kmem, fd, &inode);
	return r ? r : pgs_kmem_read_object(kmem, inode, ret_object);
}
