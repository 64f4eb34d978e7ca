// SPDX-License-Identifier: GPL-2.0-only
#include "tags.h"

#include <errno.h>
#include <string.h>

#include "caps.h"
#include "cleanup.h"
#include "maps.h"
#include "procfs.h"

/* Takes over @tags->name. */
static int add(struct pgs_tags_list *list, const struct pgs_tags *tags)
{
	struct pgs_tags *more = reallocarray(list->tags, list->nr + 1, sizeof(*more));

	if (!more || !tags->name) {
		free(tags->name);
		list->tags = more ?: list->tags;
		return -ENOMEM;
	}
	list->tags = more;
	more[list->nr++] = *tags;
	return 0;
}

/* ENOENT: it is gone, or no file mapping after all. */
static int read_mapping(struct pgs_kmod *kmod, int pagemap, const struct pgs_vma *vma,
			struct pgs_tags_list *list)
{
	struct pgscan_tags ask = {
		.size = sizeof(ask),
		.pagemap_fd = pagemap,
		.start = vma->start,
		.end = vma->end,
	};
	int r = pgs_kmod_request(kmod, PGSCAN_IOC_TAGS, &ask);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	return add(list, &(struct pgs_tags){
				 .start = ask.start,
				 .end = ask.walk_end,
				 .name = strndup(vma->name, vma->name_len),
				 .uses_tags = !(ask.mapping_flags & (PGSCAN_MAPPING_NO_TAGS |
								     PGSCAN_MAPPING_NO_WRITEBACK)),
				 .cached_pages = ask.cached_pages,
				 .dirty_pages = ask.dirty_pages,
				 .writeback_pages = ask.writeback_pages,
				 .towrite_pages = ask.towrite_pages,
			 });
}

int pgs_tags_read(struct pgs_ctx *ctx, struct pgs_kmod *kmod, pid_t pid, struct pgs_tags_list *ret)
{
	_cleanup_(pgs_maps_closep) struct pgs_maps *maps = NULL;
	_cleanup_close_ int pagemap = -1;
	struct pgs_tags_list list = {0};
	struct pgs_vma vma;
	int r;

	/* The module asks that whoever opened it had CAP_SYS_ADMIN. */
	pagemap = pgs_open(ctx, PGS_CAPS_OTHERS | PGS_CAP(CAP_SYS_ADMIN), 0, "proc/%d/pagemap",
			   (int)pid);
	if (pagemap < 0)
		return pagemap == -ENOENT ? -ESRCH : pagemap;
	r = pgs_maps_open(ctx, pid, &maps);
	while (!r && (r = pgs_maps_next(maps, &vma)) > 0)
		r = vma.inode ? read_mapping(kmod, pagemap, &vma, &list) : 0;
	if (r < 0) {
		pgs_tags_list_fini(&list);
		return r;
	}
	*ret = list;
	return 0;
}

void pgs_tags_list_fini(struct pgs_tags_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->tags[i].name);
	free(list->tags);
	*list = (struct pgs_tags_list){0};
}
