// SPDX-License-Identifier: GPL-2.0-only
/*
 * vm_flags_clear(): bc292ab00f6c ("mm: introduce vma->vm_flags wrapper functions"), v6.3. With
 * CONFIG_PER_VMA_LOCK it has to lock the mapping, by a function that later kernels export.
 */
#include <linux/mm.h>

void probe(struct vm_area_struct *vma);

void probe(struct vm_area_struct *vma)
{
	vm_flags_clear(vma, VM_SOFTDIRTY);
}
