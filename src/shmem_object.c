// SPDX-License-Identifier: GPL-2.0-only
/* shmem: by the object of a mapping, one at a time, which its map_files link leads to. */
#include "shmem_priv.h"

#include "caps.h"
#include "cleanup.h"
#include "overlay.h"
#include "procfs.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

void pgs_shmem_set_error(struct pgs_shmem *shmem, int err)
{
	shmem->res_error = err;
	snprintf(shmem->reason, sizeof(shmem->reason), "%s", pgs_ctx_error(shmem->ctx));
}

void pgs_shmem_object_close(struct pgs_shmem *shmem)
{
	pgs_residency_close(shmem->res);
	shmem->res = NULL;
	shmem->has_object = false;
	pgs_shmem_kmem_reset(shmem);
	pgs_closep(&shmem->file_fd);
	shmem->file_fd = -1;
}

#define MAP_FILE "proc/%d/map_files/%" PRIx64 "-%" PRIx64

int pgs_map_file_open(struct pgs_ctx *ctx, pid_t pid, const struct pgs_vma *vma, int flags)
{
	/* Whoever may not look into the process gets EACCES, who has none of these EPERM
	 * (proc_map_files_get_link()). */
	const uint64_t caps = PGS_CAP(CAP_SYS_ADMIN) | PGS_CAP(CAP_CHECKPOINT_RESTORE);
	char names[PGS_CAPS_STR];
	int fd;

	if (!pgs_mech_enabled(ctx, PGS_MECH_MAP_FILES))
		return pgs_ctx_fail(ctx, -EOPNOTSUPP, "map_files is disabled");
	fd = pgs_open(ctx, PGS_CAPS_OTHERS | caps, flags, MAP_FILE, (int)pid, vma->start, vma->end);
	if (fd != -EPERM || !pgs_caps_lacking(caps))
		return fd;
	return pgs_ctx_fail(ctx, fd, "cannot open '%s/" MAP_FILE "': %s (needs %s)", ctx->root,
			    (int)pid, vma->start, vma->end, strerror(EPERM),
			    pgs_caps_names(pgs_caps_lacking(caps), names));
}

/* By kernel memory, if it shows the object; the descriptor pins it. */
static bool open_object(struct pgs_shmem *shmem, const struct pgs_vma *vma)
{
	if (!pgs_shmem_kmem_ready(shmem))
		return false;
	shmem->file_fd = pgs_map_file_open(shmem->ctx, shmem->pid, vma, O_PATH);
	shmem->has_object = shmem->file_fd >= 0 &&
			    !pgs_kmem_object(shmem->kmem, shmem->file_fd, &shmem->object);
	return shmem->has_object;
}

static void open_file(struct pgs_shmem *shmem, const struct pgs_vma *vma)
{
	int r;

	pgs_shmem_object_close(shmem);
	shmem->vma_start = vma->start;
	shmem->vma_end = vma->end;
	shmem->res_error = 0;
	if (open_object(shmem, vma))
		return;
	pgs_shmem_object_close(shmem);
	shmem->file_fd = pgs_map_file_open(shmem->ctx, shmem->pid, vma, 0);
	r = shmem->file_fd < 0 ? shmem->file_fd : 0;
	if (!r)
		r = pgs_residency_open(shmem->ctx, shmem->file_fd, &shmem->res);
	pgs_shmem_set_error(shmem, r);
	shmem->overlay = vma->kind == PGS_VMA_OVERLAY;
	shmem->not_shmem = shmem->overlay && !pgs_overlay_may_swap(shmem->ctx, shmem->file_fd);
}

static void reach_file(struct pgs_shmem *shmem, const struct pgs_vma *vma)
{
	if (shmem->vma_start != vma->start || shmem->vma_end != vma->end)
		open_file(shmem, vma);
}

static int object_next(struct pgs_shmem *shmem, const struct pgs_vma *vma, uint64_t addr,
		       uint64_t end, struct pgs_shmem_run *ret_run)
{
	reach_file(shmem, vma);
	return shmem->has_object ? pgs_shmem_kmem_next(shmem, vma, addr, end, ret_run)
				 : pgs_shmem_files_next(shmem, vma, addr, end, ret_run);
}

static ssize_t object_words(struct pgs_shmem *shmem, const struct pgs_vma *vma,
			    const struct pgs_shmem_run *run, uint64_t end, uint64_t *words,
			    size_t room)
{
	/* map_files knows no slots: runs are all there is. */
	reach_file(shmem, vma);
	return shmem->has_object ? pgs_shmem_kmem_words(shmem, vma, run, end, words, room) : 0;
}

static const struct pgs_shmem_ops object_ops = {
	.sees_tables = false,
	.next = object_next,
	.words = object_words,
};

void pgs_shmem_object_open(struct pgs_shmem *shmem, struct pgs_kmem *kmem)
{
	shmem->ops = &object_ops;
	shmem->source = PGS_SRC_MAP_FILES;
	shmem->kmem = kmem;
}
