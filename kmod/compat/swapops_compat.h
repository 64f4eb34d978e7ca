/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PGSCAN_SWAPOPS_COMPAT_H
#define PGSCAN_SWAPOPS_COMPAT_H

#include <linux/swap.h>
#include <linux/swapops.h>

#include "config.h"

#ifdef HAVE_LEAFOPS
#include <linux/leafops.h>
#endif

/* Is this entry, which is neither empty nor present, that of a slot of a swap area? */
static inline bool pgscan_pte_is_slot(pte_t pte)
{
#ifdef HAVE_LEAFOPS
	return softleaf_is_swap(softleaf_from_pte(pte));
#else
	return !non_swap_entry(pte_to_swp_entry(pte));
#endif
}

/* Is this entry, which is neither empty nor present, a marker of write-protection and no other? */
static inline bool pgscan_pte_is_uffd_wp_marker(pte_t pte)
{
#ifdef HAVE_LEAFOPS
	softleaf_t entry = softleaf_from_pte(pte);

	return softleaf_is_marker(entry) && softleaf_to_marker(entry) == PTE_MARKER_UFFD_WP;
#else
	return is_pte_marker(pte) && pte_marker_get(pte_to_swp_entry(pte)) == PTE_MARKER_UFFD_WP;
#endif
}

#endif /* PGSCAN_SWAPOPS_COMPAT_H */
