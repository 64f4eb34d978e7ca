/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PGSCAN_TLBFLUSH_COMPAT_H
#define PGSCAN_TLBFLUSH_COMPAT_H

#include <linux/mm.h>

#include "config.h"

/* Flush all entries of this CPU's TLB, whatever address space they belong to. */
#if defined(HAVE_FLUSH_TLB_GLOBAL)
#include <asm/paravirt.h>
#define PGSCAN_CAN_FLUSH_TLB 1
static inline void pgscan_flush_tlb_local(void)
{
	__flush_tlb_global();
}
#elif defined(HAVE_FLUSH_TLB_ALL_LOCAL)
#include <asm/tlbflush.h>
#define PGSCAN_CAN_FLUSH_TLB 1
static inline void pgscan_flush_tlb_local(void)
{
	__flush_tlb_all();
}
#else
#define PGSCAN_CAN_FLUSH_TLB 0
static inline void pgscan_flush_tlb_local(void)
{
}
#endif

#endif /* PGSCAN_TLBFLUSH_COMPAT_H */
