// SPDX-License-Identifier: GPL-2.0-only
#include "shmem.h"

#include "caps.h"
#include "cleanup.h"
#include "procfs.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define MODULE_RUNS 1024u /* records a request */

/* A provider. Each fills the run that starts at @addr; `shmem` below is the common front. */
struct shmem_ops {
	enum pgs_source source;
	bool sees_tables;
	int (*next)(struct pgs_shmem *shmem, const struct pgs_vma *vma, uint64_t addr, uint64_t end,
		    struct pgs_shmem_run *ret_run);
};

struct pgs_shmem {
	struct pgs_ctx *ctx;
	const struct shmem_ops *ops;
	pid_t pid;
	char reason[256];
	/* module */
	struct pgs_kmod *kmod;
	int pagemap_fd;
	struct pgscan_run *runs;
	size_t nr_runs, next_run;
	uint64_t walk_end; /* the records reach so far */
	/* map_files */
	int file_fd;
	uint64_t vma_start, vma_end; /* the mapping that file_fd belongs to */
	struct pgs_residency *res;
	int res_error;
};

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

/* ---- the module ------------------------------------------------------------------------------ */

static int ask_module(struct pgs_shmem *shmem, uint64_t addr, uint64_t end)
{
	struct pgscan_shmem arg = {
		.size = sizeof(arg),
		.pagemap_fd = shmem->pagemap_fd,
		.start = addr,
		.end = end,
		.vec = (uintptr_t)shmem->runs,
		.vec_len = MODULE_RUNS,
	};
	int n;

	do
		n = pgs_kmod_request(shmem->kmod, PGSCAN_IOC_SHMEM, &arg);
	while (n == -EINTR && arg.walk_end == addr);
	if (n == -ESRCH)
		return pgs_ctx_fail(shmem->ctx, n,
				    "process %d has exited or executed another program",
				    (int)shmem->pid);
	if (n < 0)
		return pgs_ctx_fail(shmem->ctx, n, "the module cannot look up process %d: %s",
				    (int)shmem->pid, strerror(-n));
	shmem->nr_runs = (size_t)n;
	shmem->next_run = 0;
	shmem->walk_end = arg.walk_end;
	return 0;
}

static enum pgs_shmem_state state_of_record(uint16_t state)
{
	switch (state) {
	case PGSCAN_RUN_NONE:
		return PGS_SHMEM_NONE;
	case PGSCAN_RUN_SWAPPED:
		return PGS_SHMEM_SWAPPED;
	case PGSCAN_RUN_CACHED:
		return PGS_SHMEM_CACHED;
	case PGSCAN_RUN_POISONED:
		return PGS_SHMEM_POISONED;
	default:
		return PGS_SHMEM_MAPPED;
	}
}

/* The part of record @rec from @addr on, up to @end. */
static void clip_record(const struct pgs_ctx *ctx, const struct pgscan_run *rec, uint64_t addr,
			uint64_t end, struct pgs_shmem_run *ret_run)
{
	uint64_t skip = (addr - rec->start) >> ctx->page_shift;
	uint64_t room = (end - addr) >> ctx->page_shift;

	*ret_run = (struct pgs_shmem_run){
		.addr = addr,
		.pages = rec->pages - skip < room ? rec->pages - skip : room,
		.state = state_of_record(rec->state),
		.located = rec->state == PGSCAN_RUN_SWAPPED,
		.vma_soft_dirty = rec->flags & PGSCAN_RUN_F_SOFT_DIRTY,
		.swap_type = rec->swap_type,
		.slot = rec->slot + (rec->state == PGSCAN_RUN_SWAPPED ? skip : 0),
	};
}

/* Between records, pagemap decides: mapped memory that is not shmem after all, or none. */
static void gap_run(const struct pgs_shmem *shmem, uint64_t addr, uint64_t to, uint64_t end,
		    struct pgs_shmem_run *ret_run)
{
	if (to > end)
		to = end;
	*ret_run = (struct pgs_shmem_run){.addr = addr,
					  .pages = (to - addr) >> shmem->ctx->page_shift,
					  .state = PGS_SHMEM_MAPPED};
}

static uint64_t record_end(const struct pgs_shmem *shmem, const struct pgscan_run *rec)
{
	return rec->start + (rec->pages << shmem->ctx->page_shift);
}

static int module_next(struct pgs_shmem *shmem, const struct pgs_vma *vma, uint64_t addr,
		       uint64_t end, struct pgs_shmem_run *ret_run)
{
	int r;

	(void)vma;
	for (;;) {
		const struct pgscan_run *rec = shmem->runs + shmem->next_run;

		while (shmem->next_run < shmem->nr_runs && record_end(shmem, rec) <= addr)
			rec = shmem->runs + ++shmem->next_run;
		if (shmem->next_run < shmem->nr_runs) {
			if (rec->start <= addr)
				clip_record(shmem->ctx, rec, addr, end, ret_run);
			else
				gap_run(shmem, addr, rec->start, end, ret_run);
			return 1;
		}
		if (addr < shmem->walk_end) {
			gap_run(shmem, addr, shmem->walk_end, end, ret_run);
			return 1;
		}
		r = ask_module(shmem, addr, end);
		if (r)
			return r;
	}
}

static const struct shmem_ops module_ops = {
	.source = PGS_SRC_MODULE,
	.sees_tables = true,
	.next = module_next,
};

/* ---- map_files ------------------------------------------------------------------------------- */

static void set_reason(struct pgs_shmem *shmem, int err)
{
	shmem->res_error = err;
	snprintf(shmem->reason, sizeof(shmem->reason), "%s", pgs_ctx_error(shmem->ctx));
}

static void close_file(struct pgs_shmem *shmem)
{
	pgs_residency_close(shmem->res);
	shmem->res = NULL;
	pgs_closep(&shmem->file_fd);
	shmem->file_fd = -1;
}

int pgs_map_file_open(struct pgs_ctx *ctx, pid_t pid, const struct pgs_vma *vma)
{
	const uint64_t caps = PGS_CAP(CAP_SYS_PTRACE) | PGS_CAP(CAP_SYS_ADMIN) |
			      PGS_CAP(CAP_CHECKPOINT_RESTORE) | PGS_CAP(CAP_DAC_READ_SEARCH);

	if (!pgs_mech_enabled(ctx, PGS_MECH_MAP_FILES))
		return pgs_ctx_fail(ctx, -EOPNOTSUPP, "map_files is disabled");
	return pgs_open(ctx, caps, 0, "proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid,
			vma->start, vma->end);
}

static void open_file(struct pgs_shmem *shmem, const struct pgs_vma *vma)
{
	int r = 0;

	close_file(shmem);
	shmem->vma_start = vma->start;
	shmem->vma_end = vma->end;
	shmem->file_fd = pgs_map_file_open(shmem->ctx, shmem->pid, vma);
	if (shmem->file_fd < 0)
		r = shmem->file_fd;
	else
		r = pgs_residency_open(shmem->ctx, shmem->file_fd, &shmem->res);
	set_reason(shmem, r);
}

static int map_files_next(struct pgs_shmem *shmem, const struct pgs_vma *vma, uint64_t addr,
			  uint64_t end, struct pgs_shmem_run *ret_run)
{
	bool data, resident;
	int64_t n = 0;

	if (shmem->vma_start != vma->start || shmem->vma_end != vma->end)
		open_file(shmem, vma);
	if (!shmem->res_error) {
		n = pgs_residency_next(shmem->res, vma->offset + (addr - vma->start),
				       vma->offset + (end - vma->start), &data, &resident);
		if (n < 0)
			set_reason(shmem, (int)n);
	}
	ret_run->addr = addr;
	ret_run->located = ret_run->vma_soft_dirty = false;
	if (shmem->res_error) {
		ret_run->pages = (end - addr) >> shmem->ctx->page_shift;
		ret_run->state = PGS_SHMEM_UNKNOWN;
		return 1;
	}
	ret_run->pages = (uint64_t)n;
	ret_run->state = !data ? PGS_SHMEM_NONE : resident ? PGS_SHMEM_CACHED : PGS_SHMEM_SWAPPED;
	return 1;
}

static const struct shmem_ops map_files_ops = {
	.source = PGS_SRC_MAP_FILES,
	.sees_tables = false,
	.next = map_files_next,
};

/* ---- the front ------------------------------------------------------------------------------- */

int pgs_shmem_open(struct pgs_ctx *ctx, pid_t pid, int pagemap_fd, struct pgs_kmod *kmod,
		   struct pgs_shmem **ret_shmem)
{
	_cleanup_(pgs_shmem_closep) struct pgs_shmem *shmem = calloc(1, sizeof(*shmem));

	if (!shmem)
		return -ENOMEM;
	shmem->ctx = ctx;
	shmem->pid = pid;
	shmem->pagemap_fd = pagemap_fd;
	shmem->file_fd = -1;
	shmem->ops = &map_files_ops;
	if (kmod && pgs_kmod_has(kmod, PGSCAN_FEAT_SHMEM)) {
		shmem->ops = &module_ops;
		shmem->kmod = kmod;
		shmem->runs = calloc(MODULE_RUNS, sizeof(*shmem->runs));
		if (!shmem->runs)
			return -ENOMEM;
	}
	*ret_shmem = shmem;
	shmem = NULL;
	return 0;
}

void pgs_shmem_close(struct pgs_shmem *shmem)
{
	if (!shmem)
		return;
	close_file(shmem);
	free(shmem->runs);
	free(shmem);
}

void pgs_shmem_closep(struct pgs_shmem **shmem)
{
	pgs_shmem_close(*shmem);
}

enum pgs_source pgs_shmem_source(const struct pgs_shmem *shmem)
{
	return shmem->ops->source;
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
