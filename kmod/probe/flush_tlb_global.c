// SPDX-License-Identifier: GPL-2.0-only
/*
 * __flush_tlb_global(): all entries of this CPU, of all PCIDs, and global ones. Reachable from a
 * module with CONFIG_PARAVIRT, where it is an inline call through pv_ops.
 */
#include <linux/mm.h>
#include <asm/paravirt.h>

void probe(void);

void probe(void)
{
	__flush_tlb_global();
}
