/* SPDX-License-Identifier: GPL-2.0-only */
/* kmem_priv: what the parts of kmem share; of no use to others. */
#pragma once

#include "kcore.h"
#include "kmem.h"

#include <string.h>

/*
 * The members that are read, and the size each must have, or 0 where kernels differ and the size
 * found is used. A member of "may" can be absent: its size is 0 then.
 *
 *	must(structure, member, size)	may(structure, member, size)
 */
/* clang-format off */
#define KMEM_MEMBERS(must, may)						\
	must(task_struct, files, 8)					\
	must(files_struct, fdt, 8)					\
	must(fdtable, max_fds, 4)					\
	must(fdtable, fd, 8)						\
	must(file, f_inode, 8)						\
	must(inode, i_sb, 8)						\
	must(inode, i_ino, 8)						\
	must(inode, i_size, 8)						\
	must(inode, i_mode, 2)						\
	must(inode, i_rdev, 4)						\
	must(inode, i_generation, 4)					\
	must(inode, i_mapping, 8)					\
	must(inode, i_data, 0)						\
	must(inode, i_sb_list, 16)					\
	must(super_block, s_list, 16)					\
	must(super_block, s_dev, 4)					\
	must(super_block, s_op, 8)					\
	must(super_block, s_type, 8)					\
	must(super_block, s_inodes, 16)					\
	must(file_system_type, name, 8)					\
	must(shmem_inode_info, vfs_inode, 0)				\
	must(shmem_inode_info, swapped, 8)				\
	must(address_space, host, 8)					\
	must(address_space, i_pages, 0)					\
	must(address_space, nrpages, 8)					\
	must(xarray, xa_head, 8)					\
	must(xa_node, shift, 1)						\
	must(xa_node, offset, 1)					\
	must(xa_node, parent, 8)					\
	must(xa_node, array, 8)						\
	must(xa_node, slots, 0)						\
	may(inode, i_dentry, 8)						\
	may(dentry, d_parent, 8)					\
	may(dentry, d_name, 0)						\
	may(qstr, name, 8)						\
	may(qstr, len, 4)						\
	may(swap_info_struct, flags, 8)					\
	may(swap_info_struct, prio, 0)					\
	may(swap_info_struct, max, 0)					\
	may(swap_info_struct, pages, 0)					\
	may(swap_info_struct, swap_file, 8)				\
	may(swap_info_struct, zeromap, 8)				\
	may(swap_info_struct, swap_map, 8)				\
	may(swap_info_struct, cluster_info, 8)				\
	may(swap_cluster_info, table, 8)
/* clang-format on */

struct kmem_member {
	uint32_t offset, size; /* bytes; size 0: this kernel has none */
};

#define KMEM_DECLARE(structure, member, bytes) struct kmem_member structure##_##member;
struct kmem_layout {
	KMEM_MEMBERS(KMEM_DECLARE, KMEM_DECLARE)
	uint32_t shmem_inode_info_bytes;
	uint32_t xa_node_bytes;
	uint32_t swap_info_struct_bytes;
	uint32_t swap_cluster_info_bytes;
	uint32_t xa_slots;	/* of a node: 64, or 16 with CONFIG_BASE_SMALL */
	uint32_t cluster_slots; /* of a swap table; 0: this kernel has none */
	uint32_t address_space_bytes;
	struct kmem_member dentry_alias; /* the node in its inode's list of dentries */
};

/* Addresses; 0: not known. */
struct kmem_symbols {
	uint64_t super_blocks, shmem_ops, swap_info, nr_swapfiles, swapper_spaces;
};

struct pgs_kmem {
	struct pgs_ctx *ctx;
	bool started;
	int error; /* of the start */
	struct pgs_kcore *kcore;
	struct kmem_layout at;
	struct kmem_symbols sym; /* pgs_kmem_name() */
	uint64_t shmem_ops;	 /* &shmem_ops, from an inode of our own */
	uint64_t kernel_sb;	 /* the superblock of the kernel's own mount of tmpfs */
	bool named;		 /* symbols were looked up */
	char reason[PGS_KMEM_PARTS][256];
};

/* ---- kmem.c ---------------------------------------------------------------------------------- */

/* kmem_get - the unsigned value of @member in @object, the bytes of the structure it is part of. */
static inline uint64_t kmem_get(const void *object, struct kmem_member member)
{
	const unsigned char *at = (const unsigned char *)object + member.offset;
	uint64_t u64;
	uint32_t u32;
	uint16_t u16;

	switch (member.size) {
	case 1:
		return *at;
	case 2:
		memcpy(&u16, at, sizeof(u16));
		return u16;
	case 4:
		memcpy(&u32, at, sizeof(u32));
		return u32;
	}
	memcpy(&u64, at, sizeof(u64));
	return u64;
}

/* pgs_kmem_read - the value of @member (1, 2, 4 or 8 bytes) of the structure at kernel address
 * @addr. 0 or -EFAULT. */
int pgs_kmem_read(struct pgs_kmem *kmem, uint64_t addr, struct kmem_member member,
		  uint64_t *ret_value) __attribute__((nonnull, warn_unused_result));
/* pgs_kmem_word - the 8 bytes at kernel address @addr. */
int pgs_kmem_word(struct pgs_kmem *kmem, uint64_t addr, uint64_t *ret_value)
	__attribute__((nonnull, warn_unused_result));
/* pgs_kmem_nr_swapfiles - swap types in use are below; 0: not known. */
unsigned int pgs_kmem_nr_swapfiles(struct pgs_kmem *kmem) __attribute__((nonnull));
/* pgs_kmem_off - a part cannot be had, and why. Returns @err. */
int pgs_kmem_off(struct pgs_kmem *kmem, enum pgs_kmem_part part, int err, const char *fmt, ...)
	__attribute__((nonnull, format(printf, 4, 5)));

/* ---- kmem_layout.c --------------------------------------------------------------------------- */

/* pgs_kmem_layout - fill kmem->at from the kernel's type information. 0, or -errno with the reason
 * in the context. */
int pgs_kmem_layout(struct pgs_kmem *kmem) __attribute__((nonnull, warn_unused_result));

/* ---- kmem_cache.c ---------------------------------------------------------------------------- */

#define PGS_KMEM_CACHE "/run/pgscan" /* gone with the boot */

/* pgs_kmem_cache_load - kmem->at and kmem->sym as a start of this kernel left them in @folder;
 * symbols that were not looked up then are 0. False: nothing that can be believed is there. */
bool pgs_kmem_cache_load(struct pgs_kmem *kmem, const char *folder) __attribute__((nonnull));
/* pgs_kmem_cache_store - leave them there, if we are root and it can be written. */
void pgs_kmem_cache_store(const struct pgs_kmem *kmem, const char *folder) __attribute__((nonnull));

/* ---- kmem_objects.c -------------------------------------------------------------------------- */

/* pgs_kmem_dev - a dev_t of the kernel as one of ours. */
dev_t pgs_kmem_dev(uint64_t dev) __attribute__((const));
/* pgs_kmem_inode_of_fd - the address of the inode behind our own descriptor. 0 or -errno. */
int pgs_kmem_inode_of_fd(struct pgs_kmem *kmem, int fd, uint64_t *ret_inode)
	__attribute__((nonnull, warn_unused_result));
/* pgs_kmem_read_object - the shmem object whose inode lies at @inode. 0; -ENODEV it is none. */
int pgs_kmem_read_object(struct pgs_kmem *kmem, uint64_t inode, struct pgs_kobject *ret_object)
	__attribute__((nonnull, warn_unused_result));

/* ---- kmem_xarray.c --------------------------------------------------------------------------- */

/* pgs_kmem_tree - pgs_kmem_entries() of the address_space at kernel address @mapping. */
int pgs_kmem_tree(struct pgs_kmem *kmem, uint64_t mapping, uint64_t from, uint64_t to,
		  struct pgs_kentries *runs, size_t room)
	__attribute__((nonnull, warn_unused_result));

/* ---- kmem_swap.c ----------------------------------------------------------------------------- */

/* pgs_kmem_has_swap_table - whether this kernel keeps the swap cache, and counts and zero pages
 * with it, in swap tables. Those of 6.18, beside a swap_map, are laid out in another way. */
bool pgs_kmem_has_swap_table(const struct pgs_kmem *kmem) __attribute__((nonnull));
