// SPDX-License-Identifier: GPL-2.0-only
/*
 * OBJECTS: what shmem objects there are, in the order of their keys.
 *
 * The lists of inodes have no order that would last from one call to the next, and an inode must
 * not stay referenced between two calls. So each call walks them all and keeps those with the
 * lowest keys above the cursor: what is there all the time is found exactly once.
 */
#include <linux/cred.h>
#include <linux/dcache.h>
#include <linux/pagemap.h>
#include <linux/shmem_fs.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/uaccess.h>

#include "internal.h"

#define OBJECTS_PER_CALL 1024

struct objects_walk {
	struct pgscan_inode_walk walk;
	struct pgscan_objects *arg;
	struct pgscan_object *objects; /* room for max, of which nr are used */
	struct pgscan_object **sorted; /* the nr, by key */
	char *path;		       /* PATH_MAX bytes */
	unsigned int nr;
	unsigned int max;
};

static int compare_keys(const struct pgscan_key *a, const struct pgscan_key *b)
{
	if (a->dev != b->dev)
		return a->dev < b->dev ? -1 : 1;
	if (a->ino != b->ino)
		return a->ino < b->ino ? -1 : 1;
	if (a->generation != b->generation)
		return a->generation < b->generation ? -1 : 1;
	return 0;
}

static bool objects_match(struct pgscan_inode_walk *iwalk, struct inode *inode)
{
	struct objects_walk *walk = container_of(iwalk, struct objects_walk, walk);
	unsigned long swapped = READ_ONCE(SHMEM_I(inode)->swapped);
	struct pgscan_objects *arg = walk->arg;
	struct pgscan_key key;

	arg->total_inodes++;
	arg->total_swapped_pages += swapped;
	if (!swapped && !(arg->flags & PGSCAN_OBJECTS_ALL))
		return false;

	pgscan_object_key(inode, &key);
	if (compare_keys(&key, &arg->cursor) <= 0)
		return false;

	if (walk->nr < walk->max)
		return true;
	if (walk->max && compare_keys(&key, &walk->sorted[walk->nr - 1]->key) < 0)
		return true;
	arg->remaining++;
	return false;
}

/* The end of `path` if it is too long: that is where paths differ. */
static void set_name(struct pgscan_object *object, const char *path)
{
	size_t len = strlen(path);

	if (len >= sizeof(object->name)) {
		object->flags |= PGSCAN_OBJ_F_NAME_CUT;
		path += len - (sizeof(object->name) - 1);
	}
	strscpy(object->name, path, sizeof(object->name));
}

static void name_object(struct objects_walk *walk, struct inode *inode,
			struct pgscan_object *object)
{
	/* Not d_find_alias(): it leaves out unhashed dentries, as those of memfds are. */
	struct dentry *dentry = d_find_any_alias(inode);
	char *path;

	if (!dentry)
		return;
	if (IS_ROOT(dentry)) {
		snprintf(walk->path, PATH_MAX, "%pd", dentry);
		set_name(object, walk->path);
	} else {
		path = dentry_path_raw(dentry, walk->path, PATH_MAX);
		if (!IS_ERR(path))
			set_name(object, path);
	}
	dput(dentry);
}

static void describe_object(struct objects_walk *walk, struct inode *inode,
			    struct pgscan_object *object)
{
	struct shmem_inode_info *info = SHMEM_I(inode);

	memset(object, 0, sizeof(*object));
	pgscan_object_key(inode, &object->key);
	object->size_bytes = i_size_read(inode);
	object->swapped_pages = READ_ONCE(info->swapped);
	object->alloced_pages = READ_ONCE(info->alloced);
	object->cached_pages = READ_ONCE(inode->i_mapping->nrpages);
	object->uid = from_kuid(&init_user_ns, inode->i_uid);
	object->gid = from_kgid(&init_user_ns, inode->i_gid);
	object->mode = inode->i_mode;
	object->nlink = inode->i_nlink;
	if (inode->i_sb->s_flags & SB_NOUSER)
		object->flags |= PGSCAN_OBJ_F_KERNEL;
	if (mapping_mapped(inode->i_mapping))
		object->flags |= PGSCAN_OBJ_F_MAPPED;
	if (!inode->i_nlink)
		object->flags |= PGSCAN_OBJ_F_UNLINKED;
	name_object(walk, inode, object);
}

/* The place for one more object: if all are taken, that of the one with the highest key. */
static struct pgscan_object *objects_room(struct objects_walk *walk)
{
	if (walk->nr < walk->max)
		return &walk->objects[walk->nr];
	walk->arg->remaining++;
	return walk->sorted[--walk->nr];
}

static void objects_visit(struct pgscan_inode_walk *iwalk, struct inode *inode)
{
	struct objects_walk *walk = container_of(iwalk, struct objects_walk, walk);
	struct pgscan_object *object = objects_room(walk);
	unsigned int low = 0, high = walk->nr;

	describe_object(walk, inode, object);
	while (low < high) {
		unsigned int mid = (low + high) / 2;

		if (compare_keys(&walk->sorted[mid]->key, &object->key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	memmove(&walk->sorted[low + 1], &walk->sorted[low],
		(walk->nr - low) * sizeof(*walk->sorted));
	walk->sorted[low] = object;
	walk->nr++;
}

static long copy_objects(struct objects_walk *walk)
{
	struct pgscan_objects *arg = walk->arg;
	char __user *vec = u64_to_user_ptr(arg->vec);
	size_t size = min_t(size_t, arg->object_size, sizeof(struct pgscan_object));
	unsigned int i;

	for (i = 0; i < walk->nr; i++, vec += arg->object_size) {
		if (copy_to_user(vec, walk->sorted[i], size) ||
		    clear_user(vec + size, arg->object_size - size))
			return -EFAULT;
	}
	if (walk->nr)
		arg->cursor = walk->sorted[walk->nr - 1]->key;
	return walk->nr;
}

long pgscan_objects(union pgscan_arg *uarg)
{
	struct pgscan_objects *arg = &uarg->objects;
	struct objects_walk walk = {
		.walk = {.match = objects_match, .visit = objects_visit},
		.arg = arg,
		.max = min_t(u64, arg->vec_len, OBJECTS_PER_CALL),
	};
	long ret = -ENOMEM;

	if (arg->reserved || arg->cursor.reserved || arg->object_size % sizeof(u64) ||
	    arg->object_size < PGSCAN_OBJECT_SIZE_VER0 || arg->object_size > PAGE_SIZE)
		return -EINVAL;

	arg->remaining = 0;
	arg->total_inodes = 0;
	arg->total_swapped_pages = 0;
	walk.objects = kvmalloc_array(walk.max, sizeof(*walk.objects), GFP_KERNEL);
	walk.sorted = kvmalloc_array(walk.max, sizeof(*walk.sorted), GFP_KERNEL);
	walk.path = kmalloc(PATH_MAX, GFP_KERNEL);
	if (!walk.objects || !walk.sorted || !walk.path)
		goto out;

	ret = pgscan_walk_inodes(&walk.walk);
	if (ret)
		goto out;
	arg->total_supers = walk.walk.supers;
	ret = copy_objects(&walk);
out:
	kfree(walk.path);
	kvfree(walk.sorted);
	kvfree(walk.objects);
	return ret;
}
