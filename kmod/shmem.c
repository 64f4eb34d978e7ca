// SPDX-License-Identifier: GPL-2.0-only
/*
 * SHMEM: the pages of the shmem mappings of a process.
 *
 * When a shared page is swapped out its page table entry is cleared and the swap entry stays in
 * the page cache of the object, so /proc/PID/pagemap shows the same for it as for a page that
 * never was (Documentation/admin-guide/mm/pagemap.rst, "Exceptions for Shared Memory"). Here both
 * are asked: first the page table, which wins, and for the pages without an entry the object. An
 * entry that is but a marker of userfaultfd wins nothing: the kernel's own faults ask the object.
 */
#include <linux/bitmap.h>
#include <linux/pgtable.h>
#include <linux/sched/mm.h>
#include <linux/shmem_fs.h>

#include "compat/swapops_compat.h"
#include "internal.h"

struct shmem_walk {
	struct pgscan_runs runs;
	struct mm_struct *mm;
	unsigned long end;
	u64 other_pages;
	long work; /* left in this batch */
	bool sees_markers;
	/* What was peeked at, where it is mixed: bit 0 is for the first address. */
	DECLARE_BITMAP(mapped, PTRS_PER_PTE);
	DECLARE_BITMAP(marked, PTRS_PER_PTE); /* with has_markers; those are mapped, too */
	bool has_markers;
	u16 marker_flags;
};

#define PEEK_AHEAD (4 * PMD_SIZE)

/* What the page table has for a range of addresses. */
enum peek {
	PEEK_NONE,  /* nothing */
	PEEK_ALL,   /* an entry for each page, or something that needs a closer look */
	PEEK_MIXED, /* it is in the bitmaps */
};

/*
 * Take note of a marker that is to be seen through. False if it has not the flags of those before
 * it. It may be soft-dirty by itself, once mremap() has moved it.
 */
static bool add_marker(struct shmem_walk *walk, unsigned int i, pte_t pte)
{
	u16 flags = PGSCAN_RUN_F_UFFD_WP;

	if (pte_swp_soft_dirty(pte))
		flags |= PGSCAN_RUN_F_SOFT_DIRTY;
	if (!walk->has_markers) {
		bitmap_zero(walk->marked, PTRS_PER_PTE);
		walk->has_markers = true;
		walk->marker_flags = flags;
	}
	if (flags != walk->marker_flags)
		return false;
	__set_bit(i, walk->marked);
	return true;
}

/*
 * Mark the entries of one page table that are not empty, up to *end, which comes back lower where
 * markers of another kind begin.
 *
 * The table cannot be freed under our mmap_lock but by khugepaged, or by the reclaim of empty
 * tables on newer kernels, which both wait for RCU; whether it was in use all the time shows when
 * the entry of the level above is still the same. Whether an entry is empty needs no page table
 * lock to see.
 */
static enum peek peek_table(struct shmem_walk *walk, pmd_t *pmd, pmd_t pmdval, unsigned long addr,
			    unsigned long *end)
{
	unsigned int nr = (*end - addr) >> PAGE_SHIFT;
	enum peek ret = PEEK_NONE;
	unsigned int i;
	pte_t *ptes;

	bitmap_zero(walk->mapped, nr);
	walk->has_markers = false;
	rcu_read_lock();
	ptes = pte_offset_kernel(&pmdval, addr);
	for (i = 0; i < nr; i++) {
		pte_t pte = READ_ONCE(ptes[i]);

		if (pte_none(pte))
			continue;
		if (walk->sees_markers && !pte_present(pte) && pgscan_pte_is_uffd_wp_marker(pte) &&
		    !add_marker(walk, i, pte))
			break;
		__set_bit(i, walk->mapped);
		ret = PEEK_MIXED;
	}
	*end = addr + ((unsigned long)i << PAGE_SHIFT);
	if (pmd_val(READ_ONCE(*pmd)) != pmd_val(pmdval))
		ret = PEEK_ALL;
	rcu_read_unlock();
	return ret;
}

/*
 * Look at [addr, *end), but no further than one page table, or one entry of a higher level if
 * there is no table; *end comes back as where the answer ends. What is neither an empty entry nor
 * a table is PEEK_ALL, so that the caller is told to read pagemap: a huge page, one that is being
 * migrated, or whatever else kernels may have.
 */
static enum peek peek(struct shmem_walk *walk, unsigned long addr, unsigned long *end)
{
	unsigned long limit = *end;
	pmd_t *pmd, pmdval;
	pgd_t *pgd;
	p4d_t *p4d;
	pud_t *pud;

	*end = pgd_addr_end(addr, limit);
	pgd = pgd_offset(walk->mm, addr);
	if (pgd_none(READ_ONCE(*pgd)))
		return PEEK_NONE;
	if (unlikely(pgd_bad(READ_ONCE(*pgd))))
		return PEEK_ALL;

	*end = p4d_addr_end(addr, limit);
	p4d = p4d_offset(pgd, addr);
	if (p4d_none(READ_ONCE(*p4d)))
		return PEEK_NONE;
	if (unlikely(p4d_bad(READ_ONCE(*p4d))))
		return PEEK_ALL;

	*end = pud_addr_end(addr, limit);
	pud = pud_offset(p4d, addr);
	if (pud_none(READ_ONCE(*pud)))
		return PEEK_NONE;
	if (unlikely(pud_bad(READ_ONCE(*pud))))
		return PEEK_ALL;

	*end = pmd_addr_end(addr, limit);
	pmd = pmd_offset(pud, addr);
	pmdval = READ_ONCE(*pmd);
	if (pmd_none(pmdval))
		return PEEK_NONE;
	if (pmd_bad(pmdval))
		return PEEK_ALL;
	return peek_table(walk, pmd, pmdval, addr, end);
}

static u16 vma_run_flags(const struct vm_area_struct *vma)
{
	u16 flags = 0;

	if (vma->vm_flags & VM_SOFTDIRTY)
		flags |= PGSCAN_RUN_F_SOFT_DIRTY;
	if (!(vma->vm_flags & VM_MAYSHARE))
		flags |= PGSCAN_RUN_F_PRIVATE;
	return flags;
}

static unsigned long add_mapped(struct shmem_walk *walk, struct vm_area_struct *vma,
				unsigned long addr, unsigned long end)
{
	struct pgscan_run run = {
		.start = addr,
		.pages = (end - addr) >> PAGE_SHIFT,
		.state = PGSCAN_RUN_MAPPED,
		.flags = vma_run_flags(vma),
	};

	return pgscan_runs_add(&walk->runs, &run) ? end : addr;
}

/* The addresses that the page table has nothing for, or markers alone: then their @flags. Returns
 * where to go on, as all of these. */
static unsigned long add_unmapped(struct shmem_walk *walk, struct vm_area_struct *vma,
				  unsigned long addr, unsigned long end, u16 flags)
{
	struct pgscan_object_walk object = {
		.mapping = vma->vm_file->f_mapping,
		.runs = &walk->runs,
		.start = addr,
		.flags = vma_run_flags(vma) | flags,
		.holes = true,
		.work = walk->work,
	};
	pgoff_t first = vma->vm_pgoff + ((addr - vma->vm_start) >> PAGE_SHIFT);
	pgoff_t last = first + ((end - addr) >> PAGE_SHIFT) - 1;
	pgoff_t next = pgscan_object_walk(&object, first, last);

	walk->work = object.work;
	return addr + ((next - first) << PAGE_SHIFT);
}

/* Where the bits after @from are no more as that one is; @nr at the latest. */
static unsigned int end_of(const unsigned long *bits, unsigned int nr, unsigned int from)
{
	return test_bit(from, bits) ? find_next_zero_bit(bits, nr, from)
				    : find_next_bit(bits, nr, from);
}

static unsigned long add_mixed(struct shmem_walk *walk, struct vm_area_struct *vma,
			       unsigned long addr, unsigned long end)
{
	unsigned int nr = (end - addr) >> PAGE_SHIFT;
	unsigned int from, to;

	for (from = 0; from < nr; from = to) {
		unsigned long start = addr + ((unsigned long)from << PAGE_SHIFT);
		bool is_mapped = test_bit(from, walk->mapped);
		bool is_marked = walk->has_markers && test_bit(from, walk->marked);
		unsigned long stop, next;

		to = end_of(walk->mapped, nr, from);
		if (walk->has_markers && is_mapped)
			to = end_of(walk->marked, to, from);
		stop = addr + ((unsigned long)to << PAGE_SHIFT);
		if (is_mapped && !is_marked)
			next = add_mapped(walk, vma, start, stop);
		else
			next = add_unmapped(walk, vma, start, stop,
					    is_marked ? walk->marker_flags : 0);
		if (next != stop)
			return next;
	}
	return end;
}

/*
 * A part of one shmem mapping, until the work of the batch is done. A few page tables without
 * entries are put together before the object is asked; not more, because what was looked at in
 * vain, when there is no room for the runs, has to be looked at again.
 */
static unsigned long walk_vma(struct shmem_walk *walk, struct vm_area_struct *vma,
			      unsigned long addr, unsigned long end)
{
	unsigned long empty = addr; /* from here to addr there are no entries */

	while (addr < end && walk->work > 0) {
		unsigned long stop = end, next;
		enum peek peeked = peek(walk, addr, &stop);

		/* A page table costs as much as some dozens of entries of an object. */
		walk->work -= 64;
		if (peeked == PEEK_NONE) {
			addr = stop;
			if (addr - empty < PEEK_AHEAD)
				continue;
		}
		if (empty < addr) {
			next = add_unmapped(walk, vma, empty, addr, 0);
			if (next != addr)
				return next;
		}
		if (peeked == PEEK_ALL)
			addr = add_mapped(walk, vma, addr, stop);
		else if (peeked == PEEK_MIXED)
			addr = add_mixed(walk, vma, addr, stop);
		if (addr != stop)
			return addr;
		empty = addr;
	}
	return empty < addr ? add_unmapped(walk, vma, empty, addr, 0) : addr;
}

/* One hold of mmap_lock. Returns the address to go on from. */
static unsigned long walk_batch(struct shmem_walk *walk, unsigned long addr)
{
	walk->work = PGSCAN_BATCH_WORK;
	while (addr < walk->end && walk->work > 0) {
		struct vm_area_struct *vma = find_vma(walk->mm, addr);
		unsigned long stop, next;

		if (!vma || vma->vm_start >= walk->end)
			return walk->end;
		if (addr <= vma->vm_start) {
			addr = vma->vm_start;
			pgscan_runs_break(&walk->runs);
		}

		stop = min(vma->vm_end, walk->end);
		if (vma->vm_file && shmem_mapping(vma->vm_file->f_mapping)) {
			next = walk_vma(walk, vma, addr, stop);
		} else {
			walk->other_pages += (stop - addr) >> PAGE_SHIFT;
			walk->work--;
			next = stop;
		}
		if (next == addr)
			break;
		addr = next;
	}
	return addr;
}

/* Returns the address where the walk ended, or -errno. */
static long walk_range(struct shmem_walk *walk, unsigned long start)
{
	long work = PGSCAN_CALL_WORK;
	unsigned long addr = start;
	int room;

	while (addr < walk->end && work > 0) {
		if (signal_pending(current))
			return addr == start ? -ERESTARTSYS : addr;
		if (mmap_read_lock_killable(walk->mm))
			return -EINTR;
		addr = walk_batch(walk, addr);
		mmap_read_unlock(walk->mm);

		room = pgscan_runs_make_room(&walk->runs);
		if (room < 0)
			return room;
		if (!room)
			break;
		work -= PGSCAN_BATCH_WORK - walk->work;
		cond_resched();
	}
	return addr;
}

static void report_counts(struct pgscan_shmem *arg, const struct shmem_walk *walk)
{
	arg->none_pages = walk->runs.pages[PGSCAN_RUN_NONE];
	arg->mapped_pages = walk->runs.pages[PGSCAN_RUN_MAPPED];
	arg->swapped_pages = walk->runs.pages[PGSCAN_RUN_SWAPPED];
	arg->cached_pages = walk->runs.pages[PGSCAN_RUN_CACHED];
	arg->poisoned_pages = walk->runs.pages[PGSCAN_RUN_POISONED];
	arg->other_pages = walk->other_pages;
	arg->marker_pages = walk->runs.marker_pages;
}

long pgscan_shmem(union pgscan_arg *uarg)
{
	struct pgscan_shmem *arg = &uarg->shmem;
	struct shmem_walk walk = {
		.end = arg->end,
		.sees_markers = arg->flags & PGSCAN_SHMEM_MARKERS,
	};
	long ret;

	if (arg->reserved)
		return -EINVAL;
	ret = pgscan_check_range(arg->start, arg->end);
	if (ret)
		return ret;
	ret = pgscan_runs_init(&walk.runs, arg->vec, arg->vec_len, arg->want);
	if (ret)
		return ret;
	ret = pgscan_target_get(arg->pagemap_fd, &walk.mm);
	if (ret)
		goto out;

	ret = walk_range(&walk, arg->start);
	mmput(walk.mm);
	if (ret < 0)
		goto out;
	arg->walk_end = ret;
	report_counts(arg, &walk);
	ret = pgscan_runs_finish(&walk.runs);
out:
	pgscan_runs_fini(&walk.runs);
	return ret;
}
