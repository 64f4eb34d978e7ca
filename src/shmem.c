// SPDX-License-Identifier: GPL-2.0-only
/* shmem: the front. Which provider tells is settled when it is opened. */
#include "shmem_priv.h"

#include "cleanup.h"

#include <errno.h>
#include <stdlib.h>

const char *pgs_source_name(enum pgs_source source)
{
	static const char *const names[] = {
		[PGS_SRC_PAGEMAP] = "pagemap",
		[PGS_SRC_MODULE] = "module",
		[PGS_SRC_KCORE] = "kcore",
		[PGS_SRC_MAP_FILES] = "map_files",
	};

	return names[source];
}

uint64_t pgs_shmem_word(const struct pgs_shmem_run *run, uint64_t *ret_step)
{
	*ret_step = run->located ? PGS_PM_SWAP_STEP : 0;
	return run->located ? pgs_shmem_swap_word(run->swap_type, run->slot, run->word) : run->word;
}

int pgs_shmem_open(struct pgs_ctx *ctx, pid_t pid, int pagemap_fd,
		   const struct pgs_shmem_opts *opts, struct pgs_shmem **ret_shmem)
{
	_cleanup_(pgs_shmem_closep) struct pgs_shmem *shmem = calloc(1, sizeof(*shmem));
	int r = 0;

	if (!shmem)
		return -ENOMEM;
	shmem->ctx = ctx;
	shmem->pid = pid;
	shmem->pagemap_fd = pagemap_fd;
	shmem->file_fd = -1;
	shmem->counts = opts->counts;
	shmem->marker_word = opts->marker_word;
	pgs_shmem_object_open(shmem, opts->kmem);
	if (opts->kmod && pgs_kmod_has(opts->kmod, PGSCAN_FEAT_SHMEM_MARKERS))
		r = pgs_shmem_module_open(shmem, opts->kmod);
	if (r)
		return r;
	*ret_shmem = shmem;
	shmem = NULL;
	return 0;
}

void pgs_shmem_close(struct pgs_shmem *shmem)
{
	if (!shmem)
		return;
	pgs_shmem_object_close(shmem);
	free(shmem->runs);
	free(shmem->entries);
	free(shmem);
}

void pgs_shmem_closep(struct pgs_shmem **shmem)
{
	pgs_shmem_close(*shmem);
}

enum pgs_source pgs_shmem_source(const struct pgs_shmem *shmem)
{
	return shmem->source;
}

bool pgs_shmem_sees_tables(const struct pgs_shmem *shmem)
{
	return shmem->ops->sees_tables;
}

const char *pgs_shmem_reason(const struct pgs_shmem *shmem)
{
	return shmem->reason;
}

int pgs_shmem_next(struct pgs_shmem *shmem, const struct pgs_vma *vma, uint64_t addr, uint64_t end,
		   struct pgs_shmem_run *ret_run)
{
	return shmem->ops->next(shmem, vma, addr, end, ret_run);
}

ssize_t pgs_shmem_words(struct pgs_shmem *shmem, const struct pgs_vma *vma,
			const struct pgs_shmem_run *run, uint64_t end, uint64_t *words, size_t room)
{
	return shmem->ops->words(shmem, vma, run, end, words, room);
}

int pgs_shmem_again(struct pgs_shmem *shmem, uint64_t addr, uint64_t end,
		    struct pgs_shmem_run *ret_run)
{
	return shmem->ops->again(shmem, addr, end, ret_run);
}
