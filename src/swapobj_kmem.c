// SPDX-License-Identifier: GPL-2.0-only
/* The objects in swap, by kernel memory, which shows all there are, with their slots. */
#include "swapobj_priv.h"

#include "cleanup.h"

#include <errno.h>
#include <string.h>

/* All pages in swap of one object, which nothing pins. 0 or -errno. */
static int read_extents(struct pgs_swapobjs *objs, struct pgs_kmem *kmem,
			const struct pgs_kobject *object, struct pgs_swapobj *obj)
{
	_cleanup_free_ struct pgs_kentries *runs = calloc(PGS_SWAPOBJ_RUNS, sizeof(*runs));
	const uint64_t end = UINT64_MAX >> objs->ctx->page_shift;
	uint64_t from = 0;
	int r = runs ? 0 : -ENOMEM;

	while (!r && from < end) {
		int nr = pgs_kmem_entries(kmem, object, from, end, runs, PGS_SWAPOBJ_RUNS);

		if (nr < 0)
			return nr;
		for (int i = 0; i < nr && !r; i++) {
			const struct pgs_swap_extent extent = {runs[i].index, runs[i].pages,
							       runs[i].slot, runs[i].swap_type};

			obj->racy |= runs[i].racy || runs[i].entry == PGS_KENTRY_UNKNOWN;
			if (runs[i].entry == PGS_KENTRY_SWAPPED)
				r = pgs_swapobj_add_extent(obj, &extent);
		}
		from = runs[nr - 1].index + runs[nr - 1].pages;
	}
	return r;
}

/* What is not certain of all of it is not 0. */
static int judge_extents(struct pgs_swapobjs *objs, struct pgs_swapobj *obj, int err)
{
	if (err)
		pgs_ctx_fail(objs->ctx, err, "its pages cannot be read in kernel memory: %s",
			     strerror(-err));
	else if (obj->racy && !obj->nr_extents)
		pgs_ctx_fail(objs->ctx, -EAGAIN, PGS_SWAPOBJ_RACY);
	else
		return 0;
	pgs_swapobj_forget(obj);
	return pgs_swapobj_set_reason(objs, obj);
}

static int take_kobject(struct pgs_swapobjs *objs, struct pgs_kmem *kmem,
			const struct pgs_kobject *object)
{
	_cleanup_free_ char *own = NULL, *name = NULL;
	struct pgs_swapobj *obj;
	int r = pgs_kmem_name(kmem, object, &own);

	if (r == -ENOMEM || (r < 0 && !pgs_kmem_is_same(kmem, object)))
		return r == -ENOMEM ? r : 0; /* gone since it was listed */
	/* It is in swap under whatever name. */
	name = pgs_swapobj_full_name(objs, object->dev, object->is_kernel, r > 0, r < 0 ? "" : own);
	obj = name ? pgs_swapobj_add(objs, object->dev, object->ino, name) : NULL;
	if (!obj)
		return -ENOMEM;
	obj->has_generation = true;
	obj->generation = object->generation;
	obj->size_bytes = object->size_bytes;
	obj->located = true;
	r = read_extents(objs, kmem, object, obj);
	if (r == -ENOMEM)
		return r;
	if (pgs_kmem_is_same(kmem, object))
		return judge_extents(objs, obj, r);
	pgs_swapobj_forget(obj); /* gone: what was read is of who knows what */
	obj->racy = false;
	return 0;
}

/* Where it cannot be had, or the lists do not hold still, the objects are found as without it. */
int pgs_swapobjs_list_kmem(struct pgs_swapobjs *objs, struct pgs_kmem *kmem)
{
	struct pgs_kobjects list;
	int r = pgs_kmem_list(kmem, &list);

	if (r)
		return r == -ENOMEM ? r : 0;
	for (size_t i = 0; i < list.nr && !r; i++)
		r = take_kobject(objs, kmem, &list.objects[i]);
	pgs_kobjects_fini(&list);
	objs->complete = !r;
	return r;
}
