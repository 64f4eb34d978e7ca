// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemstart: what the first question to kernel memory costs: prints "start_ms N.N", from nothing to
 * all that can be asked for, symbols too. What an earlier start has left is used, if it is there.
 */
#include "../../src/kmem.h"

#include <stdio.h>
#include <time.h>

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

int main(void)
{
	double began = now_ms();
	struct pgs_kmem *kmem;
	struct pgs_ctx *ctx;

	if (pgs_ctx_open(NULL, &ctx))
		return 2;
	kmem = pgs_kmem_new(ctx);
	if (!kmem || pgs_kmem_start(kmem) || !pgs_kmem_has(kmem, PGS_KMEM_LIST)) {
		fprintf(stderr, "kmemstart: %s\n", pgs_ctx_error(ctx));
		return 1;
	}
	printf("start_ms %.1f\n", now_ms() - began);
	pgs_kmem_free(kmem);
	pgs_ctx_close(ctx);
	return 0;
}
