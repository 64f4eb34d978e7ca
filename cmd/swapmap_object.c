// SPDX-License-Identifier: GPL-2.0-only
/* The view of shmem objects in swap, mapped or not. */
#include "swapmap.h"

#include <string.h>
#include <sys/sysmacros.h>

#define HIDDEN PGS_COL_HIDDEN

/* clang-format off */
enum {
	O_KIND, O_DEV, O_INODE, O_GENERATION, O_NAME, O_SIZE, O_SWAPPED, O_SWAPPED_BYTES, O_MAPPERS, O_NOTE,
	O_COLS
};

const struct pgs_col swapmap_object_cols[] = {
	[O_KIND]	= {"kind", NULL, PGS_STR, 11, 0, "memfd, sysv, tmpfs, shared_anon or driver"},
	[O_DEV]		= {"dev", NULL, PGS_STR, 5, 0, "device of its file system"},
	[O_INODE]	= {"inode", NULL, PGS_U64, 8, 0, "its inode number; of SysV the shmid"},
	[O_GENERATION]	= {"generation", NULL, PGS_U64, 10, HIDDEN, "the inode's generation"},
	[O_NAME]	= {"name", NULL, PGS_BLOB, 24, 0, "its name or path"},
	[O_SIZE]	= {"size", NULL, PGS_BYTES, 7, 0, "its size"},
	[O_SWAPPED]	= {"swapped", NULL, PGS_U64, 9, 0, "pages in swap"},
	[O_SWAPPED_BYTES] = {"swapped_bytes", NULL, PGS_BYTES, 13, HIDDEN, "the same in bytes"},
	[O_MAPPERS]	= {"mappers", NULL, PGS_U64, 7, 0, "processes that map it"},
	[O_NOTE]	= {"note", NULL, PGS_STR, 4, 0, "why a value is not known"},
	[O_COLS]	= {0},
};
/* clang-format on */

/* Why its pages in swap are not known; NULL. In @buf, if need be. */
static const char *object_note(const struct pgs_swapobj *obj, char *buf, size_t size)
{
	if (obj->reason)
		return "not known whether in swap";
	if (!obj->racy)
		return NULL;
	snprintf(buf, size, "racy: %llu pages were seen in swap",
		 (unsigned long long)obj->swapped_pages);
	return buf;
}

static int emit_object(struct swapmap *m, const struct pgs_swapobj *obj)
{
	bool known = !obj->reason && !obj->racy;
	char dev[32], note[64];
	struct pgs_val vals[O_COLS] = {
		[O_KIND] = pgs_str(pgs_swapobj_kind_name(obj->kind)),
		[O_DEV] = pgs_str(dev),
		[O_INODE] = pgs_u64(obj->ino),
		[O_GENERATION] = swapmap_pages_if(obj->has_generation, obj->generation),
		[O_NAME] = pgs_blob(obj->name, strlen(obj->name)),
		[O_SIZE] = swapmap_pages_if(!obj->reason, obj->size_bytes),
		[O_SWAPPED] = swapmap_pages_if(known, obj->swapped_pages),
		[O_SWAPPED_BYTES] =
			swapmap_pages_if(known, obj->swapped_pages << m->ctx->page_shift),
		[O_MAPPERS] = swapmap_pages_if(m->owners_known, obj->mappers),
		[O_NOTE] = pgs_str(object_note(obj, note, sizeof(note))),
	};

	snprintf(dev, sizeof(dev), "%u:%u", major(obj->dev), minor(obj->dev));
	return out_row(m->out, vals);
}

int swapmap_show_objects(struct swapmap *m)
{
	int r = 0;

	for (size_t i = 0; m->objs && i < pgs_swapobjs_nr(m->objs) && !r && !cmd_interrupted; i++) {
		const struct pgs_swapobj *obj = pgs_swapobjs_get(m->objs, i);

		if (!obj->swapped_pages && !obj->reason && !obj->racy)
			continue;
		if (obj->wanted || m->opts->target.system)
			r = emit_object(m, obj);
	}
	return r;
}
