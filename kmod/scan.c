// SPDX-License-Identifier: GPL-2.0-only
/*
 * SCAN: soft-dirty pages of a range, and making them clean in the same step.
 */
#include <linux/capability.h>
#include <linux/mmu_notifier.h>
#include <linux/module.h>
#include <linux/pagemap.h>
#include <linux/pgtable.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "compat/mm_compat.h"
#include "scan.h"

static bool allow_clear = true;
module_param(allow_clear, bool, 0444);
MODULE_PARM_DESC(allow_clear, "let SCAN clear soft-dirty bits (PGSCAN_SCAN_CLEAR)");

#define REGIONS_IN_BUF 512

/* Page tables under one hold of mmap_lock, and in one call. Clearing one flushes all TLBs. */
#define TABLES_PER_BATCH 16
#define TABLES_PER_CALL	 8192

#define CATEGORIES                                                                                 \
	(PGSCAN_PAGE_FILE | PGSCAN_PAGE_PRESENT | PGSCAN_PAGE_SWAPPED | PGSCAN_PAGE_HUGE |         \
	 PGSCAN_PAGE_SOFT_DIRTY | PGSCAN_PAGE_VMA_DIRTY | PGSCAN_PAGE_NOT_CLEARED |                \
	 PGSCAN_PAGE_SPECIAL)

u64 pgscan_scan_features(void)
{
	u64 features = 0;

	if (scan_table_can_read())
		features |= PGSCAN_FEAT_SCAN;
	if (scan_table_can_read() && scan_table_can_clear() && allow_clear) {
		features |= PGSCAN_FEAT_SCAN_CLEAR;
		if (PGSCAN_CAN_CLEAR_VM_FLAGS)
			features |= PGSCAN_FEAT_SCAN_CLEAR_VMA;
	}
	return features;
}

/* ---- regions ---- */

static bool is_wanted(const struct pgscan_scan *arg, u64 categories)
{
	categories ^= arg->category_inverted;
	return (categories & arg->category_mask) == arg->category_mask &&
	       (!arg->category_anyof_mask || categories & arg->category_anyof_mask);
}

static bool joins_last(const struct scan_walk *walk, unsigned long addr, u64 returned)
{
	const struct pgscan_region *last;

	if (!walk->nr)
		return false;
	last = &walk->buf[walk->nr - 1];
	return last->end == addr && last->categories == returned;
}

bool scan_has_room(struct scan_walk *walk, unsigned long addr, u64 categories)
{
	const struct pgscan_scan *arg = walk->arg;

	if (!is_wanted(arg, categories))
		return true;
	if ((walk->nr < walk->capacity || joins_last(walk, addr, categories & arg->return_mask)) &&
	    (!arg->max_pages || walk->reported_pages < arg->max_pages))
		return true;
	walk->full = true;
	return false;
}

static void count_pages(struct scan_walk *walk, u64 categories, u64 pages)
{
	struct pgscan_scan *arg = walk->arg;

	if (categories & PGSCAN_PAGE_SOFT_DIRTY)
		arg->dirty_pages += pages;
	if (!walk->clear)
		return;
	if (!(categories & PGSCAN_PAGE_NOT_CLEARED))
		arg->cleared_pages += pages;
	else if (categories & PGSCAN_PAGE_SPECIAL)
		arg->special_pages += pages;
	else if (categories & PGSCAN_PAGE_HUGE && pages < PTRS_PER_PTE)
		arg->partial_huge_pages += pages;
	else
		arg->pinned_pages += pages;
}

bool scan_take(struct scan_walk *walk, unsigned long addr, unsigned long end, u64 categories)
{
	u64 returned = categories & walk->arg->return_mask;
	u64 pages = (end - addr) >> PAGE_SHIFT;

	if (!scan_has_room(walk, addr, categories))
		return false;
	count_pages(walk, categories, pages);
	if (!is_wanted(walk->arg, categories))
		return true;

	walk->reported_pages += pages;
	if (joins_last(walk, addr, returned))
		walk->buf[walk->nr - 1].end = end;
	else
		walk->buf[walk->nr++] = (struct pgscan_region){addr, end, returned};
	return true;
}

/* ---- the walk ---- */

/*
 * The entry of the page middle directory for addr, or NULL if there is nothing to look at; *next
 * comes back as the end of what it, or the nothing, covers.
 */
static pmd_t *find_pmd(struct mm_struct *mm, unsigned long addr, unsigned long *next)
{
	unsigned long end = *next;
	pgd_t *pgd;
	p4d_t *p4d;
	pud_t *pud;

	*next = pgd_addr_end(addr, end);
	pgd = pgd_offset(mm, addr);
	if (pgd_none(READ_ONCE(*pgd)) || pgd_bad(READ_ONCE(*pgd)))
		return NULL;
	*next = p4d_addr_end(addr, end);
	p4d = p4d_offset(pgd, addr);
	if (p4d_none(READ_ONCE(*p4d)) || p4d_bad(READ_ONCE(*p4d)))
		return NULL;
	*next = pud_addr_end(addr, end);
	pud = pud_offset(p4d, addr);
	if (pud_none(READ_ONCE(*pud)) || pud_bad(READ_ONCE(*pud)))
		return NULL;
	*next = pmd_addr_end(addr, end);
	return pmd_offset(pud, addr);
}

/* Not of pages that anybody reclaims, or of entries as we know them. */
static bool is_skipped(const struct vm_area_struct *vma)
{
	return vma->vm_flags & (VM_PFNMAP | VM_IO | VM_HUGETLB);
}

static unsigned long scan_vma(struct scan_walk *walk, struct vm_area_struct *vma,
			      unsigned long addr, unsigned long end, int *tables)
{
	while (*tables > 0 && addr < end && !walk->full) {
		unsigned long next = end;
		pmd_t *pmd = find_pmd(walk->mm, addr, &next);

		addr = pmd ? scan_pmd(walk, vma, pmd, addr, next) : next;
		--*tables;
	}
	return addr;
}

/* One hold of mmap_lock. Returns the address to go on from. */
static unsigned long scan_batch(struct scan_walk *walk, unsigned long addr, unsigned long end)
{
	int tables = TABLES_PER_BATCH;

	while (addr < end && tables > 0 && !walk->full) {
		struct vm_area_struct *vma = find_vma(walk->mm, addr);
		unsigned long start, stop;

		if (!vma || vma->vm_start >= end)
			return end;
		start = max(addr, vma->vm_start);
		stop = min(end, vma->vm_end);
		if (is_skipped(vma)) {
			walk->arg->skipped_pages += (stop - start) >> PAGE_SHIFT;
			addr = stop;
			tables--;
			continue;
		}
		addr = scan_vma(walk, vma, start, stop, &tables);
		if (vma->vm_flags & VM_SOFTDIRTY)
			walk->arg->vma_dirty_pages += (addr - start) >> PAGE_SHIFT;
	}
	return addr;
}

static int scan_batch_locked(struct scan_walk *walk, unsigned long *addr, unsigned long end)
{
	int err = 0;

	if (mmap_read_lock_killable(walk->mm))
		return -EINTR;
	/*
	 * Who watches the process with MMU notifiers (KVM) has page tables of his own, which we
	 * could not write-protect: mmu_notifier_invalidate_range_start() is not exported. To
	 * register, one needs mmap_lock for writing.
	 */
	if (walk->clear && mm_has_notifiers(walk->mm))
		err = -EOPNOTSUPP;
	else
		*addr = scan_batch(walk, *addr, end);
	mmap_read_unlock(walk->mm);
	return err;
}

/*
 * Copy the regions, but the last, which may grow, unless `all`. What was cleared is lost if this
 * fails; the caller's memory was made present before (make_room()), so it takes another thread
 * that unmaps it.
 */
static int copy_regions(struct scan_walk *walk, u64 *written, bool all)
{
	struct pgscan_region __user *vec = u64_to_user_ptr(walk->arg->vec);
	unsigned int nr = all || !walk->nr ? walk->nr : walk->nr - 1;

	if (copy_to_user(vec + *written, walk->buf, nr * sizeof(*vec)))
		return -EFAULT;
	*written += nr;
	walk->nr -= nr;
	if (walk->nr)
		walk->buf[0] = walk->buf[nr];
	return 0;
}

static int make_room(struct scan_walk *walk, u64 written)
{
	struct pgscan_region __user *vec = u64_to_user_ptr(walk->arg->vec);
	size_t bytes;

	walk->capacity = min_t(u64, REGIONS_IN_BUF, walk->arg->vec_len - written);
	walk->full = false;
	bytes = walk->capacity * sizeof(*vec);
	if (walk->clear && fault_in_writeable((char __user *)(vec + written), bytes))
		return -EFAULT;
	return 0;
}

/* Has the walk come to its end before that of the range? */
static bool is_done(const struct scan_walk *walk, u64 written)
{
	const struct pgscan_scan *arg = walk->arg;

	return walk->full && (walk->nr == arg->vec_len - written ||
			      (arg->max_pages && walk->reported_pages >= arg->max_pages));
}

/* Returns the number of regions written, or -errno if nothing was done at all. */
static long scan_range(struct scan_walk *walk)
{
	int batches = TABLES_PER_CALL / TABLES_PER_BATCH, err = 0;
	struct pgscan_scan *arg = walk->arg;
	unsigned long addr = arg->start;
	u64 written = 0;

	while (addr < arg->end && batches--) {
		err = signal_pending(current) ? -ERESTARTSYS : make_room(walk, written);
		if (!err)
			err = scan_batch_locked(walk, &addr, arg->end);
		if (err || is_done(walk, written))
			break;
		if (walk->full && copy_regions(walk, &written, false))
			return -EFAULT;
		cond_resched();
	}
	if (err && addr == arg->start)
		return err;
	arg->walk_end = addr;
	return copy_regions(walk, &written, true) ?: (long)written;
}

/* ---- the marks of whole mappings ---- */

/*
 * As clear_refs does; the kernel then has to notice writes, so what vma_set_page_prot(), which is
 * not exported, would do to shared writable mappings is done here.
 */
static void clear_vma(struct vm_area_struct *vma)
{
	pgprot_t prot = vma->vm_page_prot;

	pgscan_vm_flags_clear(vma, VM_SOFTDIRTY);
	if ((vma->vm_flags & (VM_SHARED | VM_WRITE)) == (VM_SHARED | VM_WRITE))
		WRITE_ONCE(vma->vm_page_prot, __pgprot(pgprot_val(prot) & ~_PAGE_RW));
}

static int clear_vmas(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	struct vm_area_struct *vma;
	unsigned long addr = start;
	int err = 0;

	if (mmap_write_lock_killable(mm))
		return -EINTR;
	if (mm_has_notifiers(mm)) {
		err = -EOPNOTSUPP;
		goto out;
	}
	while (addr < end && (vma = find_vma(mm, addr)) && vma->vm_start < end) {
		addr = vma->vm_end;
		/* split_vma() is not exported either: what reaches out stays marked. */
		if (vma->vm_start >= start && vma->vm_end <= end && !is_skipped(vma) &&
		    vma->vm_flags & VM_SOFTDIRTY)
			clear_vma(vma);
	}
out:
	mmap_write_unlock(mm);
	return err;
}

/* ---- the request ---- */

static int check_arg(const struct pgscan_scan *arg)
{
	const u64 masks = arg->category_inverted | arg->category_mask | arg->category_anyof_mask |
			  arg->return_mask;
	u64 features = pgscan_scan_features();

	if (!(features & PGSCAN_FEAT_SCAN) ||
	    (arg->flags & PGSCAN_SCAN_CLEAR && !(features & PGSCAN_FEAT_SCAN_CLEAR)) ||
	    (arg->flags & PGSCAN_SCAN_CLEAR_VMA && !(features & PGSCAN_FEAT_SCAN_CLEAR_VMA)))
		return -EOPNOTSUPP;
	if (arg->reserved || !arg->vec_len || masks & ~CATEGORIES ||
	    (arg->flags & PGSCAN_SCAN_CLEAR_VMA && !(arg->flags & PGSCAN_SCAN_CLEAR)))
		return -EINVAL;
	return pgscan_check_range(arg->start, arg->end);
}

static long scan_target(struct scan_walk *walk)
{
	const struct pgscan_scan *arg = walk->arg;
	int err;

	/* To read a process does not yet mean to be allowed to change it. */
	if (walk->clear && walk->mm != current->mm && !capable(CAP_SYS_PTRACE))
		return -EPERM;
	if (arg->flags & PGSCAN_SCAN_CLEAR_VMA) {
		err = clear_vmas(walk->mm, arg->start, arg->end);
		if (err)
			return err;
	}
	return scan_range(walk);
}

long pgscan_scan(union pgscan_arg *uarg)
{
	struct pgscan_scan *arg = &uarg->scan;
	struct scan_walk walk = {.arg = arg, .clear = arg->flags & PGSCAN_SCAN_CLEAR};
	long ret;

	ret = check_arg(arg);
	if (ret)
		return ret;
	arg->dirty_pages = 0;
	arg->cleared_pages = 0;
	arg->pinned_pages = 0;
	arg->partial_huge_pages = 0;
	arg->special_pages = 0;
	arg->skipped_pages = 0;
	arg->vma_dirty_pages = 0;

	walk.buf = kmalloc_array(REGIONS_IN_BUF, sizeof(*walk.buf), GFP_KERNEL);
	if (!walk.buf)
		return -ENOMEM;
	ret = pgscan_target_get(arg->pagemap_fd, &walk.mm);
	if (ret)
		goto out;
	ret = scan_target(&walk);
	mmput(walk.mm);
out:
	kfree(walk.buf);
	return ret;
}
