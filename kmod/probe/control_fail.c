// SPDX-License-Identifier: GPL-2.0-only
/* Control: must fail, because no kernel declares such a function. */
#include <linux/mm.h>

void probe(struct mm_struct *mm);

void probe(struct mm_struct *mm)
{
	pgscan_no_such_function(mm);
}
