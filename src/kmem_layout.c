// SPDX-License-Identifier: GPL-2.0-only
/* Where the members that kmem reads lie in this kernel's structures. */
#include "kmem_priv.h"

#include "btf.h"
#include "cleanup.h"

#include <errno.h>

#define OFFSET_MAX (64u * 1024)
#define SLOTS_MAX  64u /* of a node of an XArray: the kernel's XA_CHUNK_SIZE, or 16 */

struct row {
	const char *type, *member;
	uint32_t size; /* 0: any that a number can have */
	bool optional;
	size_t to; /* offset of the struct kmem_member in the layout */
};

#define MUST(structure, member, bytes)                                                             \
	{#structure, #member, bytes, false, offsetof(struct kmem_layout, structure##_##member)},
#define MAY(structure, member, bytes)                                                              \
	{#structure, #member, bytes, true, offsetof(struct kmem_layout, structure##_##member)},

static const struct row rows[] = {KMEM_MEMBERS(MUST, MAY)};

static int find_member(struct pgs_ctx *ctx, struct pgs_btf *btf, const struct row *row,
		       struct kmem_layout *at)
{
	struct kmem_member *to = (struct kmem_member *)((char *)at + row->to);
	struct pgs_btf_member found;
	uint32_t whole = 0;
	int r = pgs_btf_member(btf, row->type, row->member, &found);

	if (r && row->optional)
		return 0;
	if (r)
		return pgs_ctx_fail(ctx, -EOPNOTSUPP, "this kernel's struct %s has no member %s",
				    row->type, row->member);
	if (row->size && row->size != found.size)
		return row->optional
			       ? 0
			       : pgs_ctx_fail(ctx, -EOPNOTSUPP,
					      "%s of this kernel's struct %s has %u bytes, not %u",
					      row->member, row->type, found.size, row->size);
	/* What is taken out of a structure that was read as a whole must lie in it. */
	if (pgs_btf_sizeof(btf, row->type, &whole) || whole > OFFSET_MAX ||
	    (uint64_t)found.offset + found.size > whole)
		return pgs_ctx_fail(ctx, -EOPNOTSUPP, "%s lies outside struct %s", row->member,
				    row->type);
	*to = (struct kmem_member){found.offset, found.size};
	return 0;
}

static int find_size(struct pgs_ctx *ctx, struct pgs_btf *btf, const char *type, uint32_t *ret_size)
{
	if (!pgs_btf_sizeof(btf, type, ret_size) && *ret_size <= OFFSET_MAX)
		return 0;
	return pgs_ctx_fail(ctx, -EOPNOTSUPP, "this kernel has no struct %s", type);
}

/* The number of slots from the array, not from the structure's size: marks follow it. */
static int find_slots(struct pgs_ctx *ctx, struct pgs_btf *btf, struct kmem_layout *at)
{
	struct pgs_btf_member slots;

	if (pgs_btf_member(btf, "xa_node", "slots", &slots) || !slots.elements ||
	    slots.elements > SLOTS_MAX || slots.elements & (slots.elements - 1) ||
	    slots.size != slots.elements * sizeof(uint64_t) ||
	    slots.offset + slots.size > at->xa_node_bytes)
		return pgs_ctx_fail(
			ctx, -EOPNOTSUPP,
			"this kernel's struct xa_node has no slots that are understood");
	at->xa_slots = slots.elements;
	/* Where there is none all types would have to be looked at to know. */
	if (at->swap_cluster_info_table.size &&
	    !pgs_btf_member(btf, "swap_table", "entries", &slots) &&
	    slots.size == slots.elements * sizeof(uint64_t))
		at->cluster_slots = slots.elements;
	return 0;
}

/* An inode of shmem holds a struct inode, which holds its address_space: both are read with it. */
static int check_nesting(struct pgs_ctx *ctx, struct pgs_btf *btf, const struct kmem_layout *at)
{
	uint32_t inode;

	if (!pgs_btf_sizeof(btf, "inode", &inode) && at->shmem_inode_info_vfs_inode.size == inode &&
	    at->inode_i_data.size == at->address_space_bytes)
		return 0;
	return pgs_ctx_fail(ctx, -EOPNOTSUPP, "struct shmem_inode_info is not consistent");
}

/* d_u.d_alias, as it was called before it became a member of an anonymous union. */
static void find_alias(struct pgs_btf *btf, struct kmem_layout *at)
{
	struct pgs_btf_member alias;

	if (!pgs_btf_member(btf, "dentry", "d_alias", &alias) ||
	    !pgs_btf_member(btf, "dentry", "d_u.d_alias", &alias))
		at->dentry_alias = (struct kmem_member){alias.offset, alias.size};
}

static int fill(struct pgs_ctx *ctx, struct pgs_btf *btf, struct kmem_layout *at)
{
	int r = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && !r; i++)
		r = find_member(ctx, btf, &rows[i], at);
	if (!r)
		r = find_size(ctx, btf, "shmem_inode_info", &at->shmem_inode_info_bytes);
	if (!r)
		r = find_size(ctx, btf, "xa_node", &at->xa_node_bytes);
	if (!r)
		r = find_size(ctx, btf, "address_space", &at->address_space_bytes);
	if (!r)
		r = find_slots(ctx, btf, at);
	if (!r)
		r = check_nesting(ctx, btf, at);
	if (r)
		return r;
	find_alias(btf, at);
	if (pgs_btf_sizeof(btf, "swap_info_struct", &at->swap_info_struct_bytes))
		at->swap_info_struct_bytes = 0; /* CONFIG_SWAP=n */
	if (pgs_btf_sizeof(btf, "swap_cluster_info", &at->swap_cluster_info_bytes))
		at->swap_cluster_info_bytes = 0;
	return 0;
}

int pgs_kmem_layout(struct pgs_kmem *kmem)
{
	struct kmem_layout at = {0};
	_cleanup_(pgs_btf_freep) struct pgs_btf *btf = NULL;
	int r = pgs_btf_open(kmem->ctx, &btf);

	if (!r)
		r = fill(kmem->ctx, btf, &at);
	if (btf && pgs_btf_error(btf)) /* then what was not found may be there */
		r = pgs_btf_error(btf);
	if (r == -EBADMSG)
		return pgs_ctx_fail(kmem->ctx, r, "cannot make sense of '/sys/kernel/btf/vmlinux'");
	if (btf && pgs_btf_error(btf))
		return pgs_ctx_fail(kmem->ctx, r, "cannot read '/sys/kernel/btf/vmlinux': %s",
				    strerror(-r));
	if (r)
		return r;
	kmem->at = at;
	return 0;
}
