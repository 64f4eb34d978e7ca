/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PGSCAN_MM_COMPAT_H
#define PGSCAN_MM_COMPAT_H

#include <linux/mm.h>
#include <linux/sched/coredump.h>

#include "config.h"

/* Has any page of this process ever been pinned for DMA? */
static inline bool pgscan_mm_has_pinned(struct mm_struct *mm)
{
#ifdef HAVE_MM_FLAGS_TEST
	return mm_flags_test(MMF_HAS_PINNED, mm);
#else
	return test_bit(MMF_HAS_PINNED, &mm->flags);
#endif
}

/* Drop flags of a mapping, with mmap_lock held for writing. */
#if defined(HAVE_VM_FLAGS_CLEAR)
#define PGSCAN_CAN_CLEAR_VM_FLAGS 1
static inline void pgscan_vm_flags_clear(struct vm_area_struct *vma, unsigned long flags)
{
	vm_flags_clear(vma, flags);
}
#elif defined(HAVE_VM_FLAGS_PLAIN)
#define PGSCAN_CAN_CLEAR_VM_FLAGS 1
static inline void pgscan_vm_flags_clear(struct vm_area_struct *vma, unsigned long flags)
{
	vma->vm_flags &= ~flags;
}
#else
#define PGSCAN_CAN_CLEAR_VM_FLAGS 0
static inline void pgscan_vm_flags_clear(struct vm_area_struct *vma, unsigned long flags)
{
}
#endif

#endif /* PGSCAN_MM_COMPAT_H */
