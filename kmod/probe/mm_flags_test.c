// SPDX-License-Identifier: GPL-2.0-only
/* mm_flags_test(): the flags of an mm became a bitmap, "mm: add bitmap mm->flags field", v6.18. */
#include <linux/mm.h>
#include <linux/sched/coredump.h>

int probe(const struct mm_struct *mm);

int probe(const struct mm_struct *mm)
{
	return mm_flags_test(MMF_HAS_PINNED, mm);
}
