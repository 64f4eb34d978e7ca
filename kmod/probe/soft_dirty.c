// SPDX-License-Identifier: GPL-2.0-only
/*
 * Soft-dirty bits of page table entries, read and cleared. Needs CONFIG_MEM_SOFT_DIRTY: without it
 * the functions are there, and do nothing. CONFIG_PAGE_TABLE_CHECK adds calls that are not
 * exported, which this shows.
 */
#include <linux/mm.h>
#include <linux/pgtable.h>

#ifndef CONFIG_MEM_SOFT_DIRTY
#error "no soft-dirty"
#endif

void probe(struct vm_area_struct *vma, unsigned long addr, pte_t *pte);

void probe(struct vm_area_struct *vma, unsigned long addr, pte_t *pte)
{
	pte_t old = ptep_modify_prot_start(vma, addr, pte);
	pte_t new = pte_clear_soft_dirty(pte_wrprotect(old));

	if (pte_soft_dirty(old) || pte_swp_soft_dirty(old))
		ptep_modify_prot_commit(vma, addr, pte, old, new);
	else
		set_pte_at(vma->vm_mm, addr, pte, pte_swp_clear_soft_dirty(old));
}
