/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PGSCAN_XARRAY_COMPAT_H
#define PGSCAN_XARRAY_COMPAT_H

#include <linux/xarray.h>

#include "config.h"

#ifndef HAVE_XAS_GET_ORDER
/* Enough for value entries, which are never large on such kernels: see probe/xas_get_order.c. */
static inline int xas_get_order(struct xa_state *xas)
{
	return 0;
}
#endif

#endif /* PGSCAN_XARRAY_COMPAT_H */
