// SPDX-License-Identifier: GPL-2.0-only
/*
 * SCAN at the entries of a page table: categories, and how to make an entry clean without losing
 * a write. x86-64 only.
 *
 * A page is tracked when its entry is neither writable nor soft-dirty: the first write faults, and
 * the fault handler sets both. So to clear means to take both away, and what makes it safe is
 *
 *  - the page table lock, under which no fault can change the entry;
 *  - the flush of all TLBs before that lock is dropped. We hold mmap_lock for reading only, so a
 *    fault may copy a page (COW) as soon as it gets the page table lock; a CPU that still wrote
 *    through an old entry then would write into the old copy. This is why clear_refs takes
 *    mmap_lock for writing;
 *  - the look for pins after the entry was changed: fast GUP pins first and then looks whether the
 *    entry is still the same, so that one of the two sees the other. What is pinned for DMA is
 *    written to without a fault, and stays as it is.
 */
#include <linux/mm.h>
#include <linux/pgtable.h>
#include <linux/smp.h>

#include "compat/mm_compat.h"
#include "compat/swapops_compat.h"
#include "compat/tlbflush_compat.h"
#include "scan.h"

#ifdef HAVE_SOFT_DIRTY

bool scan_table_can_read(void)
{
	return true;
}

bool scan_table_can_clear(void)
{
	return PGSCAN_CAN_FLUSH_TLB;
}

static void flush_local(void *unused)
{
	pgscan_flush_tlb_local();
}

/*
 * On all CPUs, and not only on those of mm_cpumask(): one that has left the address space may keep
 * entries of it under its PCID, and looks for a newer generation (mm->context.tlb_gen) when it
 * comes back; with INVLPGB and a global ASID (v6.15) it does not even look. Neither can be
 * announced through exported functions.
 */
static void flush_all(void)
{
	on_each_cpu(flush_local, NULL, 1);
}

/* The page of a present entry, or NULL if it is none that anybody counts: vm_normal_page(). */
static struct page *normal_page(pte_t pte)
{
	if (pte_special(pte) || !pfn_valid(pte_pfn(pte)))
		return NULL;
	return pte_page(pte);
}

static bool is_pinned(struct mm_struct *mm, struct page *page)
{
	return page && pgscan_mm_has_pinned(mm) && folio_maybe_dma_pinned(page_folio(page));
}

static u64 vma_categories(const struct vm_area_struct *vma)
{
	/*
	 * As long as the mapping is marked, the kernel does not keep the entries in step: they may
	 * become writable without a mark of their own.
	 */
	if (vma->vm_flags & VM_SOFTDIRTY)
		return PGSCAN_PAGE_SOFT_DIRTY | PGSCAN_PAGE_VMA_DIRTY;
	return 0;
}

static u64 pte_categories(const struct vm_area_struct *vma, pte_t pte)
{
	u64 categories = vma_categories(vma);
	struct page *page;

	if (pte_present(pte)) {
		categories |= PGSCAN_PAGE_PRESENT;
		if (pte_soft_dirty(pte))
			categories |= PGSCAN_PAGE_SOFT_DIRTY;
		page = normal_page(pte);
		if (page && !PageAnon(page))
			categories |= PGSCAN_PAGE_FILE;
		return categories;
	}

	categories |= pgscan_pte_is_slot(pte) ? PGSCAN_PAGE_SWAPPED : PGSCAN_PAGE_SPECIAL;
	if (pte_swp_soft_dirty(pte))
		categories |= PGSCAN_PAGE_SOFT_DIRTY;
	return categories;
}

/* Returns whether it is clean and tracked now; *flush is set if the entry was changed. */
static bool clear_present(struct vm_area_struct *vma, unsigned long addr, pte_t *ptep, pte_t pte,
			  bool *flush)
{
	pte_t old, new;

	if (!pte_soft_dirty(pte) && !pte_write(pte))
		return true;

	old = ptep_modify_prot_start(vma, addr, ptep);
	if (is_pinned(vma->vm_mm, normal_page(old))) {
		ptep_modify_prot_commit(vma, addr, ptep, old, old);
		return false;
	}
	new = pte_clear_soft_dirty(pte_wrprotect(old));
	ptep_modify_prot_commit(vma, addr, ptep, old, new);
	*flush = true;
	return true;
}

/*
 * Entries of slots only. That of a page under migration must not be touched: a writable one
 * becomes a writable entry again, without a fault, and would do so without the mark.
 */
static bool clear_absent(struct vm_area_struct *vma, unsigned long addr, pte_t *ptep, pte_t pte)
{
	if (!pgscan_pte_is_slot(pte))
		return false;
	if (pte_swp_soft_dirty(pte))
		set_pte_at(vma->vm_mm, addr, ptep, pte_swp_clear_soft_dirty(pte));
	return true;
}

/* One entry. False if there is no room for it; then it was not changed. */
static bool scan_pte(struct scan_walk *walk, struct vm_area_struct *vma, unsigned long addr,
		     pte_t *ptep, bool *flush)
{
	pte_t pte = ptep_get(ptep);
	u64 categories;
	bool cleared;

	if (pte_none(pte))
		return true;
	categories = pte_categories(vma, pte);
	if (walk->clear) {
		if (!scan_has_room(walk, addr, categories))
			return false;
		cleared = pte_present(pte) ? clear_present(vma, addr, ptep, pte, flush)
					   : clear_absent(vma, addr, ptep, pte);
		if (!cleared)
			categories |= PGSCAN_PAGE_NOT_CLEARED;
	}
	return scan_take(walk, addr, addr + PAGE_SIZE, categories);
}

/* The entries of a page table, which the caller has locked. */
static unsigned long scan_ptes(struct scan_walk *walk, struct vm_area_struct *vma, pte_t *ptep,
			       unsigned long addr, unsigned long end)
{
	bool flush = false;

	for (; addr < end; addr += PAGE_SIZE, ptep++) {
		if (!scan_pte(walk, vma, addr, ptep, &flush))
			break;
	}
	if (flush)
		flush_all();
	return addr;
}

#ifdef CONFIG_TRANSPARENT_HUGEPAGE
static struct page *huge_page(pmd_t pmd)
{
	return pfn_valid(pmd_pfn(pmd)) ? pmd_page(pmd) : NULL;
}

static bool is_anon_huge(pmd_t pmd)
{
	struct page *page = huge_page(pmd);

	return page && PageAnon(page);
}

static u64 pmd_categories(struct vm_area_struct *vma, pmd_t pmd)
{
	u64 categories = vma_categories(vma) | PGSCAN_PAGE_HUGE;

	if (!pmd_present(pmd)) {
		categories |= PGSCAN_PAGE_SPECIAL;
		if (pmd_swp_soft_dirty(pmd))
			categories |= PGSCAN_PAGE_SOFT_DIRTY;
		return categories;
	}
	categories |= PGSCAN_PAGE_PRESENT;
	if (pmd_soft_dirty(pmd))
		categories |= PGSCAN_PAGE_SOFT_DIRTY;
	/* The huge zero page is in mappings of anonymous memory, and not anonymous itself. */
	if (!vma_is_anonymous(vma) && !is_anon_huge(pmd))
		categories |= PGSCAN_PAGE_FILE;
	return categories;
}

/*
 * Exchange the entry against one that the CPU has not changed meanwhile. It must not be empty for
 * a moment, as in pmdp_invalidate() it is not either: MADV_DONTNEED looks at it without the lock.
 */
static void exchange_pmd(pmd_t *pmd, pmd_t (*change)(pmd_t now, pmd_t arg), pmd_t arg)
{
	pmd_t now = READ_ONCE(*pmd);

	while (!try_cmpxchg(&pmd->pmd, &now.pmd, pmd_val(change(now, arg))))
		;
}

static pmd_t make_clean(pmd_t now, pmd_t unused)
{
	return pmd_clear_soft_dirty(pmd_wrprotect(now));
}

static pmd_t make_as_before(pmd_t now, pmd_t before)
{
	return __pmd(pmd_val(before) | (pmd_val(now) & _PAGE_ACCESSED));
}

/* Only as a whole: split_huge_pmd() is not exported. */
static bool clear_huge(struct vm_area_struct *vma, pmd_t *pmd, bool whole)
{
	pmd_t before = READ_ONCE(*pmd);

	if (!pmd_present(before))
		return false;
	if (!pmd_soft_dirty(before) && !pmd_write(before))
		return true;
	if (!whole)
		return false;
	exchange_pmd(pmd, make_clean, before);
	if (is_pinned(vma->vm_mm, huge_page(before))) {
		exchange_pmd(pmd, make_as_before, before);
		return false;
	}
	flush_all();
	return true;
}

/* A huge page, or one under migration, under the lock. */
static bool scan_huge_locked(struct scan_walk *walk, struct vm_area_struct *vma, pmd_t *pmd,
			     unsigned long addr, unsigned long end)
{
	u64 categories = pmd_categories(vma, READ_ONCE(*pmd));

	if (walk->clear) {
		if (!scan_has_room(walk, addr, categories))
			return false;
		if (!clear_huge(vma, pmd, end - addr == PMD_SIZE))
			categories |= PGSCAN_PAGE_NOT_CLEARED;
	}
	return scan_take(walk, addr, end, categories);
}

static unsigned long scan_huge(struct scan_walk *walk, struct vm_area_struct *vma, pmd_t *pmd,
			       unsigned long addr, unsigned long end)
{
	spinlock_t *ptl = pmd_lock(walk->mm, pmd);
	pmd_t pmdval = READ_ONCE(*pmd);

	if (pmd_none(pmdval))
		addr = end;
	else if (pmd_bad(pmdval) && scan_huge_locked(walk, vma, pmd, addr, end))
		addr = end;
	/* Else there is no room, or it is a table now: come again. */
	spin_unlock(ptl);
	return addr;
}
#else
static unsigned long scan_huge(struct scan_walk *walk, struct vm_area_struct *vma, pmd_t *pmd,
			       unsigned long addr, unsigned long end)
{
	walk->arg->skipped_pages += (end - addr) >> PAGE_SHIFT;
	return end;
}
#endif

/*
 * The table must not go away between finding and locking it: as in pte_offset_map_lock(), which is
 * not exported, RCU keeps its memory, and the entry that leads to it is looked at again when it
 * is locked.
 */
unsigned long scan_pmd(struct scan_walk *walk, struct vm_area_struct *vma, pmd_t *pmd,
		       unsigned long addr, unsigned long end)
{
	pmd_t pmdval = READ_ONCE(*pmd);
	spinlock_t *ptl;

	if (pmd_none(pmdval))
		return end;
	if (pmd_bad(pmdval))
		return scan_huge(walk, vma, pmd, addr, end);

	rcu_read_lock();
	pmdval = READ_ONCE(*pmd);
	if (pmd_none(pmdval) || pmd_bad(pmdval))
		goto out;
	ptl = pte_lockptr(walk->mm, &pmdval);
	spin_lock(ptl);
	if (pmd_same(pmdval, READ_ONCE(*pmd)))
		addr = scan_ptes(walk, vma, pte_offset_kernel(&pmdval, addr), addr, end);
	spin_unlock(ptl);
out:
	rcu_read_unlock();
	return addr;
}

#else /* !HAVE_SOFT_DIRTY */

bool scan_table_can_read(void)
{
	return false;
}

bool scan_table_can_clear(void)
{
	return false;
}

unsigned long scan_pmd(struct scan_walk *walk, struct vm_area_struct *vma, pmd_t *pmd,
		       unsigned long addr, unsigned long end)
{
	return end;
}

#endif
