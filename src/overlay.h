/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * overlay: files of an overlayfs. A layer of it may be a tmpfs, whose files are shmem, and another
 * one a disk; of a mapping /proc/PID/maps tells the overlay's device and inode (since Linux 6.8;
 * the layer's before), which say nothing of either.
 */
#pragma once

#include "ctx.h"

/* pgs_overlay_has_tmpfs - whether the @super_options of such a mount name a layer on tmpfs. A layer
 * whose path leads nowhere from here is none. */
bool pgs_overlay_has_tmpfs(const char *super_options) __attribute__((nonnull));

/* pgs_overlay_may_swap - whether a page of the file behind @fd, on such a mount, may be in swap
 * when it is not in memory; if not, the file is on a disk, or there is no swap. @fd may be a
 * -errno: then only the latter is asked. */
bool pgs_overlay_may_swap(struct pgs_ctx *ctx, int fd) __attribute__((nonnull));

#define PGS_OVERLAY_REASON "the layer of an overlay's file, tmpfs or a disk, is not known"
