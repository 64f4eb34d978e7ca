// SPDX-License-Identifier: GPL-2.0-only
/* Control: must pass, on every kernel that the module supports. */
#include <linux/mm.h>
#include <linux/printk.h>

unsigned long probe(struct mm_struct *mm);

unsigned long probe(struct mm_struct *mm)
{
	struct vm_area_struct *vma = find_vma(mm, 0);

	pr_info("probe\n");
	return vma ? vma->vm_start : 0;
}
