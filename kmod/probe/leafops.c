// SPDX-License-Identifier: GPL-2.0-only
/*
 * softleaf_from_pte(): "mm: introduce leaf entry type and use to simplify leaf entry logic", v6.19,
 * in place of pte_to_swp_entry() and non_swap_entry().
 */
#include <linux/mm.h>
#include <linux/leafops.h>

int probe(pte_t pte);

int probe(pte_t pte)
{
	return softleaf_is_swap(softleaf_from_pte(pte));
}
