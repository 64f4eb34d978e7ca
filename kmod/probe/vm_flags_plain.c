// SPDX-License-Identifier: GPL-2.0-only
/* vma->vm_flags may be assigned: until 1c71222e5f23 ("mm: replace vma->vm_flags direct
 * modifications with modifier calls") and 601c3c29dbe5, v6.3, made it const.
 */
#include <linux/mm.h>

void probe(struct vm_area_struct *vma);

void probe(struct vm_area_struct *vma)
{
	vma->vm_flags &= ~VM_SOFTDIRTY;
}
