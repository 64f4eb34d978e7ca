// SPDX-License-Identifier: GPL-2.0-only
/*
 * __flush_tlb_all(): what to use without CONFIG_PARAVIRT. Newer kernels export it to KVM only.
 */
#include <linux/mm.h>
#include <asm/tlbflush.h>

void probe(void);

void probe(void)
{
	__flush_tlb_all();
}
