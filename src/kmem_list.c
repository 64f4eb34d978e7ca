// SPDX-License-Identifier: GPL-2.0-only
/*
 * All shmem objects: super_blocks, the list of superblocks; of those with shmem's operations
 * (tmpfs, also devtmpfs and the kernel's own mount) s_inodes, the list of inodes.
 *
 * Both are circular lists without a lock for us. An entry that is taken out leads on into freed
 * memory, or in circles; so every step is checked against the one before, and a list counts only
 * when it has come back to its head.
 */
#include "kmem_priv.h"

#include "cleanup.h"

#include <errno.h>
#include <limits.h>

#define PASSES	    16u
#define INODES_MAX  (UINT64_C(1) << 28)
#define SUPERS_MAX  (1u << 20)
#define COMPONENTS  64u /* of a path */
#define NAME_LENGTH 255u

/* struct list_head */
struct link {
	uint64_t next, prev;
};

static int read_link(struct pgs_kmem *kmem, uint64_t addr, struct link *ret_link)
{
	return pgs_kcore_read(kmem->kcore, addr, ret_link, sizeof(*ret_link));
}

static int add_object(struct pgs_kobjects *list, const struct pgs_kobject *object)
{
	if (!(list->nr & (list->nr - 1))) { /* full: 0, 1, 2, 4, ... */
		size_t room = list->nr ? list->nr * 2 : 1;
		struct pgs_kobject *more = reallocarray(list->objects, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		list->objects = more;
	}
	list->objects[list->nr++] = *object;
	return 0;
}

/* An inode of the list: its link, and the object if it is one that has pages in swap. */
static int take_inode(struct pgs_kmem *kmem, uint64_t node, struct pgs_kobjects *list)
{
	uint64_t inode = node - kmem->at.inode_i_sb_list.offset, swapped;
	struct pgs_kobject object;
	int r = pgs_kmem_read(kmem, inode - kmem->at.shmem_inode_info_vfs_inode.offset,
			      kmem->at.shmem_inode_info_swapped, &swapped);

	if (r || !swapped)
		return r;
	r = pgs_kmem_read_object(kmem, inode, &object);
	if (r == -ENODEV) /* a directory, a device, or one that has just gone */
		return 0;
	return r ? r : add_object(list, &object);
}

/* The inodes of superblock @sb. 0; -EAGAIN when the list was lost. */
static int walk_inodes(struct pgs_kmem *kmem, uint64_t sb, struct pgs_kobjects *list)
{
	uint64_t head = sb + kmem->at.super_block_s_inodes.offset, prev = head;
	uint64_t owner, seen = 0;
	struct link link;
	int r = read_link(kmem, head, &link);

	while (!r && link.next != head) {
		uint64_t node = link.next;

		r = read_link(kmem, node, &link);
		if (!r)
			r = pgs_kmem_read(kmem, node - kmem->at.inode_i_sb_list.offset,
					  kmem->at.inode_i_sb, &owner);
		if (r || link.prev != prev || owner != sb || link.next == node ||
		    seen++ == INODES_MAX)
			return -EAGAIN;
		r = take_inode(kmem, node, list);
		prev = node;
	}
	return r == -EFAULT ? -EAGAIN : r;
}

static int walk_supers(struct pgs_kmem *kmem, struct pgs_kobjects *list)
{
	uint64_t head = kmem->sym.super_blocks, prev = head, ops;
	unsigned int seen = 0;
	struct link link;
	int r = read_link(kmem, head, &link);

	while (!r && link.next != head) {
		uint64_t sb = link.next - kmem->at.super_block_s_list.offset;
		uint64_t node = link.next;

		r = pgs_kmem_read(kmem, sb, kmem->at.super_block_s_op, &ops);
		if (!r && ops == kmem->shmem_ops)
			r = walk_inodes(kmem, sb, list);
		if (!r) /* only now: the superblock may have gone while its inodes were walked */
			r = read_link(kmem, node, &link);
		if (!r && (link.prev != prev || seen++ == SUPERS_MAX))
			r = -EAGAIN;
		prev = node;
	}
	return r == -EFAULT ? -EAGAIN : r;
}

int pgs_kmem_list(struct pgs_kmem *kmem, struct pgs_kobjects *ret_list)
{
	struct pgs_kobjects list = {0};
	int r;

	if (!pgs_kmem_has(kmem, PGS_KMEM_LIST))
		return -EOPNOTSUPP;
	r = pgs_kcore_refresh(kmem->kcore);
	for (unsigned int pass = 0; pass < PASSES && !r; pass++) {
		list.nr = 0;
		r = walk_supers(kmem, &list);
		if (!r) {
			*ret_list = list;
			return 0;
		}
		if (r == -EAGAIN && pass + 1 < PASSES)
			r = 0;
	}
	pgs_kobjects_fini(&list);
	return r;
}

void pgs_kobjects_fini(struct pgs_kobjects *list)
{
	free(list->objects);
	*list = (struct pgs_kobjects){0};
}

bool pgs_kmem_is_same(struct pgs_kmem *kmem, const struct pgs_kobject *object)
{
	struct pgs_kobject now;

	return !pgs_kmem_read_object(kmem, object->inode, &now) && now.dev == object->dev &&
	       now.ino == object->ino && now.generation == object->generation;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* One component, put in front of what there is; @path ends at @end. */
static int prepend(struct pgs_kmem *kmem, uint64_t dentry, char *path, size_t *at, bool slash)
{
	const struct kmem_layout *l = &kmem->at;
	uint64_t qstr = dentry + l->dentry_d_name.offset, name, len;
	int r = pgs_kmem_read(kmem, qstr, l->qstr_name, &name);

	if (!r)
		r = pgs_kmem_read(kmem, qstr, l->qstr_len, &len);
	if (r)
		return r;
	if (len > NAME_LENGTH || len + slash > *at)
		return -ENAMETOOLONG;
	*at -= len;
	r = pgs_kcore_read(kmem->kcore, name, path + *at, len);
	if (slash)
		path[--*at] = '/';
	return r;
}

/* From the dentry up to the root, which is its own parent. */
static int walk_up(struct pgs_kmem *kmem, uint64_t dentry, char *path, size_t *at)
{
	for (unsigned int i = 0; i < COMPONENTS; i++) {
		uint64_t parent;
		int r = pgs_kmem_read(kmem, dentry, kmem->at.dentry_d_parent, &parent);

		if (r || parent == dentry)
			return r;
		r = prepend(kmem, dentry, path, at, true);
		if (r)
			return r;
		dentry = parent;
	}
	return -ENAMETOOLONG;
}

int pgs_kmem_name(struct pgs_kmem *kmem, const struct pgs_kobject *object, char **ret_name)
{
	const struct kmem_layout *l = &kmem->at;
	_cleanup_free_ char *path = calloc(1, PATH_MAX);
	size_t at = PATH_MAX - 1;
	uint64_t alias;
	int r;

	if (!path)
		return -ENOMEM;
	if (!l->inode_i_dentry.size || !l->dentry_alias.size || !l->dentry_d_parent.size ||
	    !l->dentry_d_name.size || !l->qstr_name.size || !l->qstr_len.size)
		return -EOPNOTSUPP;
	/* struct hlist_head: the first node, or NULL */
	r = pgs_kmem_read(kmem, object->inode, l->inode_i_dentry, &alias);
	if (!r && alias && object->is_kernel)
		r = prepend(kmem, alias - l->dentry_alias.offset, path, &at, false);
	else if (!r && alias)
		r = walk_up(kmem, alias - l->dentry_alias.offset, path, &at);
	if (r && r != -ENAMETOOLONG)
		return r;
	*ret_name = strdup(path + at);
	return *ret_name ? r == -ENAMETOOLONG : -ENOMEM;
}
