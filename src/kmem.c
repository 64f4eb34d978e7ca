// SPDX-License-Identifier: GPL-2.0-only
#include "kmem_priv.h"

#include "cleanup.h"
#include "ksyms.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* ---- reading --------------------------------------------------------------------------------- */

int pgs_kmem_word(struct pgs_kmem *kmem, uint64_t addr, uint64_t *ret_value)
{
	return pgs_kcore_read(kmem->kcore, addr, ret_value, sizeof(*ret_value));
}

int pgs_kmem_read(struct pgs_kmem *kmem, uint64_t addr, struct kmem_member member,
		  uint64_t *ret_value)
{
	struct kmem_member here = {.size = member.size};
	uint64_t raw;
	int r;

	if (member.size > sizeof(raw))
		return -EINVAL;
	r = pgs_kcore_read(kmem->kcore, addr + member.offset, &raw, member.size);
	if (!r)
		*ret_value = kmem_get(&raw, here);
	return r;
}

/* ---- the parts, and why one is off ----------------------------------------------------------- */

int pgs_kmem_off(struct pgs_kmem *kmem, enum pgs_kmem_part part, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(kmem->reason[part], sizeof(kmem->reason[part]), fmt, ap);
	va_end(ap);
	return err;
}

const char *pgs_kmem_reason(const struct pgs_kmem *kmem, enum pgs_kmem_part part)
{
	return kmem->reason[part];
}

/* ---- symbols --------------------------------------------------------------------------------- */

/* What kmem_get() can take. */
static bool is_number(struct kmem_member member)
{
	return member.size && member.size <= 8 && !(member.size & (member.size - 1));
}

static void parts_of_symbols(struct pgs_kmem *kmem)
{
	const struct kmem_layout *at = &kmem->at;

	if (!kmem->sym.super_blocks)
		pgs_kmem_off(kmem, PGS_KMEM_LIST, 0, "there is no symbol super_blocks");
	if (!kmem->sym.swap_info || !kmem->sym.nr_swapfiles)
		pgs_kmem_off(kmem, PGS_KMEM_AREAS, 0, "there is no symbol swap_info");
	else if (!at->swap_info_struct_flags.size || !is_number(at->swap_info_struct_prio) ||
		 !is_number(at->swap_info_struct_max) || !is_number(at->swap_info_struct_pages) ||
		 !at->swap_info_struct_swap_file.size)
		pgs_kmem_off(kmem, PGS_KMEM_AREAS, 0,
			     "this kernel's struct swap_info_struct is not understood");
	for (int part = PGS_KMEM_SWAP_CACHE; part <= PGS_KMEM_ZERO_MAP; part++)
		snprintf(kmem->reason[part], sizeof(kmem->reason[part]), "%s",
			 kmem->reason[PGS_KMEM_AREAS]);
	if (*kmem->reason[PGS_KMEM_AREAS] || pgs_kmem_has_swap_table(kmem))
		return;
	if (!kmem->sym.swapper_spaces)
		pgs_kmem_off(kmem, PGS_KMEM_SWAP_CACHE, 0, "there is no symbol swapper_spaces");
	if (!at->swap_info_struct_zeromap.size)
		pgs_kmem_off(kmem, PGS_KMEM_ZERO_MAP, 0, "this kernel has no zero map");
}

static int look_up_symbols(struct pgs_kmem *kmem)
{
	enum { SUPER_BLOCKS, SHMEM_OPS, SWAP_INFO, NR_SWAPFILES, SWAPPER_SPACES, NR_SYMS };
	struct pgs_ksym syms[NR_SYMS] = {
		[SUPER_BLOCKS] = {.name = "super_blocks"},
		[SHMEM_OPS] = {.name = "shmem_ops"},
		[SWAP_INFO] = {.name = "swap_info"},
		[NR_SWAPFILES] = {.name = "nr_swapfiles"},
		[SWAPPER_SPACES] = {.name = "swapper_spaces"},
	};
	int r = pgs_ksyms_find(kmem->ctx, kmem->kcore, syms, NR_SYMS);

	if (r)
		return r;
	if (syms[SHMEM_OPS].addr != kmem->shmem_ops)
		return pgs_ctx_fail(kmem->ctx, -EOPNOTSUPP,
				    "symbol shmem_ops is not what our own memory has it");
	kmem->sym = (struct kmem_symbols){
		.super_blocks = syms[SUPER_BLOCKS].addr,
		.shmem_ops = syms[SHMEM_OPS].addr,
		.swap_info = syms[SWAP_INFO].addr,
		.nr_swapfiles = syms[NR_SWAPFILES].addr,
		.swapper_spaces = syms[SWAPPER_SPACES].addr,
	};
	pgs_kmem_cache_store(kmem, PGS_KMEM_CACHE);
	return 0;
}

/* Symbols take longer than all else, and the pages of an object need none: looked up when a part is
 * first asked for that does. Those that were kept are right where the one is that can be told. */
static void find_symbols(struct pgs_kmem *kmem)
{
	int r = 0;

	if (kmem->named)
		return;
	kmem->named = true;
	if (kmem->sym.shmem_ops != kmem->shmem_ops)
		r = look_up_symbols(kmem);
	for (int part = PGS_KMEM_LIST; part < PGS_KMEM_PARTS && r; part++)
		pgs_kmem_off(kmem, (enum pgs_kmem_part)part, r, "%s", pgs_ctx_error(kmem->ctx));
	if (!r)
		parts_of_symbols(kmem);
}

unsigned int pgs_kmem_nr_swapfiles(struct pgs_kmem *kmem)
{
	uint32_t nr;

	find_symbols(kmem);
	if (!kmem->sym.nr_swapfiles ||
	    pgs_kcore_read(kmem->kcore, kmem->sym.nr_swapfiles, &nr, sizeof(nr)))
		return 0;
	return nr;
}

bool pgs_kmem_is_on(const struct pgs_kmem *kmem)
{
	return kmem->started && !kmem->error;
}

bool pgs_kmem_has(struct pgs_kmem *kmem, enum pgs_kmem_part part)
{
	if (pgs_kmem_start(kmem))
		return false;
	if (part != PGS_KMEM_OBJECT)
		find_symbols(kmem);
	return !*kmem->reason[part];
}

/* ---- the test on our own memory -------------------------------------------------------------- */

#define OWN_PAGES 2u
#define OWN_HOLE  (UINT64_C(1) << 20) /* a page that has nothing, nor has a huge page around it */

static int doubt(struct pgs_kmem *kmem, const char *what)
{
	return pgs_ctx_fail(kmem->ctx, -EOPNOTSUPP,
			    "kernel memory is not what the test on our own expects: %s", what);
}

/* A memfd is on the kernel's own mount of tmpfs: that is how its operations are known. */
static int learn_tmpfs(struct pgs_kmem *kmem, uint64_t inode)
{
	const struct kmem_layout *at = &kmem->at;
	uint64_t sb, ops, type, name;
	char tmpfs[sizeof("tmpfs")];

	if (pgs_kmem_read(kmem, inode, at->inode_i_sb, &sb) ||
	    pgs_kmem_read(kmem, sb, at->super_block_s_op, &ops) ||
	    pgs_kmem_read(kmem, sb, at->super_block_s_type, &type) ||
	    pgs_kmem_read(kmem, type, at->file_system_type_name, &name) ||
	    pgs_kcore_read(kmem->kcore, name, tmpfs, sizeof(tmpfs)) ||
	    memcmp(tmpfs, "tmpfs", sizeof(tmpfs)) != 0)
		return doubt(kmem, "the file system");
	kmem->shmem_ops = ops;
	kmem->kernel_sb = sb;
	return 0;
}

static int check_object(struct pgs_kmem *kmem, const struct pgs_kobject *object,
			const struct stat *st)
{
	if (object->dev != st->st_dev || object->ino != st->st_ino ||
	    object->size_bytes != (uint64_t)st->st_size || !object->is_kernel)
		return doubt(kmem, "the inode");
	if (object->memory_pages + object->swapped_pages < OWN_PAGES ||
	    object->memory_pages > OWN_HOLE)
		return doubt(kmem, "the number of pages");
	return 0;
}

static int check_entries(struct pgs_kmem *kmem, const struct pgs_kobject *object)
{
	struct pgs_kentries runs[4];
	int nr = pgs_kmem_entries(kmem, object, 0, OWN_HOLE + 1, runs, 4);

	if (nr < 2 || runs[0].index || runs[0].pages < OWN_PAGES ||
	    (runs[0].entry != PGS_KENTRY_MEMORY && runs[0].entry != PGS_KENTRY_SWAPPED) ||
	    runs[nr - 1].entry != PGS_KENTRY_NONE ||
	    runs[nr - 1].index + runs[nr - 1].pages != OWN_HOLE + 1)
		return doubt(kmem, "the entries");
	return 0;
}

static int check_list(struct pgs_kmem *kmem, uint64_t inode)
{
	uint64_t node = inode + kmem->at.inode_i_sb_list.offset, prev, next;

	/* struct list_head: next, prev */
	if (pgs_kmem_word(kmem, node + sizeof(uint64_t), &prev) ||
	    pgs_kmem_word(kmem, prev, &next) || next != node)
		return doubt(kmem, "the list of inodes");
	return 0;
}

static int test_on(struct pgs_kmem *kmem, int fd)
{
	struct pgs_kobject object;
	uint64_t inode;
	struct stat st;
	int r = 0;

	for (unsigned int i = 0; i < OWN_PAGES; i++)
		if (pwrite(fd, "pgscan", 6, (off_t)i * kmem->ctx->page_size) != 6)
			return pgs_ctx_fail(kmem->ctx, -errno, "cannot write to a memfd");
	if (fstat(fd, &st) || pgs_kmem_inode_of_fd(kmem, fd, &inode))
		return doubt(kmem, "the table of descriptors");
	r = learn_tmpfs(kmem, inode);
	if (!r && pgs_kmem_read_object(kmem, inode, &object))
		r = doubt(kmem, "the inode");
	if (!r)
		r = check_object(kmem, &object, &st);
	if (!r)
		r = check_entries(kmem, &object);
	return r ? r : check_list(kmem, inode);
}

static int self_test(struct pgs_kmem *kmem)
{
	_cleanup_close_ int fd = memfd_create("pgscan-test", MFD_CLOEXEC);

	if (fd < 0)
		return pgs_ctx_fail(kmem->ctx, -errno, "cannot make a memfd");
	return test_on(kmem, fd);
}

/* ---- open and close -------------------------------------------------------------------------- */

/* By what an earlier start has learnt, if that passes the test; else from the beginning. */
static int learn(struct pgs_kmem *kmem)
{
	int r;

	if (pgs_kmem_cache_load(kmem, PGS_KMEM_CACHE) && !self_test(kmem))
		return 0;
	kmem->sym = (struct kmem_symbols){0};
	r = pgs_kmem_layout(kmem);
	if (r == -ENOENT)
		r = pgs_ctx_fail(kmem->ctx, -EOPNOTSUPP, "there is no /sys/kernel/btf/vmlinux");
	if (!r)
		r = self_test(kmem);
	if (!r)
		pgs_kmem_cache_store(kmem, PGS_KMEM_CACHE);
	return r;
}

static int try_start(struct pgs_kmem *kmem)
{
	struct pgs_ctx *ctx = kmem->ctx;
	int r;

	if (!ctx->live)
		return pgs_ctx_fail(ctx, -EOPNOTSUPP, "the tree is not the running kernel's");
	if (!pgs_mech_enabled(ctx, PGS_MECH_KCORE))
		return pgs_ctx_fail(ctx, -EOPNOTSUPP,
				    "switched off by PGSCAN_DISABLE or an option");
	if (sizeof(void *) != 8)
		return pgs_ctx_fail(ctx, -EOPNOTSUPP, "not on a machine of 32 bits");
	r = pgs_kcore_open(ctx, &kmem->kcore);
	if (r == -ENOENT)
		r = pgs_ctx_fail(ctx, -EOPNOTSUPP, "there is no /proc/kcore");
	if (!r)
		r = learn(kmem);
	/* What makes no sense to us is nothing that could be had another time. */
	return r == -EBADMSG || r == -ENOEXEC ? -EOPNOTSUPP : r;
}

int pgs_kmem_start(struct pgs_kmem *kmem)
{
	if (kmem->started)
		return kmem->error;
	kmem->started = true;
	kmem->error = try_start(kmem);
	for (int part = 0; part < PGS_KMEM_PARTS && kmem->error; part++)
		pgs_kmem_off(kmem, (enum pgs_kmem_part)part, 0, "%s", pgs_ctx_error(kmem->ctx));
	if (kmem->error) { /* the right to all of the kernel's memory is not kept for nothing */
		pgs_kcore_close(kmem->kcore);
		kmem->kcore = NULL;
	}
	return kmem->error;
}

struct pgs_kmem *pgs_kmem_new(struct pgs_ctx *ctx)
{
	struct pgs_kmem *kmem = calloc(1, sizeof(*kmem));

	if (kmem)
		kmem->ctx = ctx;
	return kmem;
}

void pgs_kmem_free(struct pgs_kmem *kmem)
{
	if (!kmem)
		return;
	pgs_kcore_close(kmem->kcore);
	free(kmem);
}

void pgs_kmem_freep(struct pgs_kmem **kmem)
{
	pgs_kmem_free(*kmem);
}
