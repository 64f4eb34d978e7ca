// SPDX-License-Identifier: GPL-2.0-only
/*
 * The inodes of shmem, mapped or not: the lists of all superblocks of type tmpfs. One of these is
 * the kernel's own mount, where memfd, System V segments, shared anonymous memory and the buffers
 * of graphics drivers live; it is on the list as any other, though nothing else leads to it.
 */
#include <linux/dcache.h>
#include <linux/kdev_t.h>
#include <linux/module.h>
#include <linux/shmem_fs.h>

#include "internal.h"

/*
 * An inode is put on the list before it is initialised, but gets the operations of shmem after
 * that, so they tell when shmem's part of it (swapped, alloced) may be read. Regular files have
 * them, and symbolic links whose target takes a page (shmem_symlink(): of 128 bytes and more).
 */
static bool has_pages(struct inode *inode)
{
	return shmem_mapping(inode->i_mapping);
}

/*
 * The oldest first: new ones are added at the head, so their numbers mostly ascend like this.
 * The way to let go of the lock is that of drop_pagecache_sb(): the inode that holds our place
 * in the list is put only after the next one is held.
 */
static void walk_super(struct super_block *sb, void *data)
{
	struct pgscan_inode_walk *walk = data;
	struct inode *inode, *held = NULL;

	walk->supers++;
	if (walk->stop)
		return;

	spin_lock(&sb->s_inode_list_lock);
	list_for_each_entry_reverse(inode, &sb->s_inodes, i_sb_list) {
		bool matches = has_pages(inode) && walk->match(walk, inode);

		if (!matches && !need_resched() && !walk->stop)
			continue;
		if (!igrab(inode))
			continue;
		spin_unlock(&sb->s_inode_list_lock);

		iput(held);
		held = inode;
		if (matches)
			walk->visit(walk, inode);
		if (fatal_signal_pending(current))
			walk->stop = true;
		cond_resched();

		spin_lock(&sb->s_inode_list_lock);
		if (walk->stop)
			break;
	}
	spin_unlock(&sb->s_inode_list_lock);
	iput(held);
}

int pgscan_walk_inodes(struct pgscan_inode_walk *walk)
{
	struct file_system_type *type = get_fs_type("tmpfs");

	if (!type)
		return -EOPNOTSUPP;
	iterate_supers_type(type, walk_super, walk);
	module_put(type->owner);
	return fatal_signal_pending(current) ? -EINTR : 0;
}

void pgscan_object_key(const struct inode *inode, struct pgscan_key *ret_key)
{
	*ret_key = (struct pgscan_key){
		.dev = huge_encode_dev(inode->i_sb->s_dev),
		.ino = inode->i_ino,
		.generation = inode->i_generation,
	};
}

struct find_walk {
	struct pgscan_inode_walk walk;
	const struct pgscan_key *key;
	struct inode *found;
};

static bool find_match(struct pgscan_inode_walk *walk, struct inode *inode)
{
	struct find_walk *find = container_of(walk, struct find_walk, walk);
	struct pgscan_key key;

	pgscan_object_key(inode, &key);
	return !memcmp(&key, find->key, sizeof(key));
}

static void find_visit(struct pgscan_inode_walk *walk, struct inode *inode)
{
	struct find_walk *find = container_of(walk, struct find_walk, walk);

	/* An inode that is held when its file system is unmounted would outlive it. */
	if (atomic_inc_not_zero(&inode->i_sb->s_active))
		find->found = igrab(inode);
	walk->stop = true;
}

int pgscan_object_find(const struct pgscan_key *key, struct inode **ret_inode)
{
	struct find_walk find = {
		.walk = {.match = find_match, .visit = find_visit},
		.key = key,
	};
	int err = pgscan_walk_inodes(&find.walk);

	if (find.found) {
		*ret_inode = find.found;
		return 0;
	}
	return err ?: -ESTALE;
}

void pgscan_object_put(struct inode *inode)
{
	struct super_block *sb = inode->i_sb;

	iput(inode);
	deactivate_super(sb);
}
