// SPDX-License-Identifier: GPL-2.0-only
/*
 * xas_get_order(): a4864671ca0b ("lib/xarray: introduce a new helper xas_get_order"), v6.10, and
 * stable trees below it. Without it no kernel stores swap entries that cover more than one page
 * (809bc86517cc, "mm: shmem: support large folio swap out", v6.12).
 */
#include <linux/xarray.h>

int probe(struct xa_state *xas);

int probe(struct xa_state *xas)
{
	return xas_get_order(xas);
}
