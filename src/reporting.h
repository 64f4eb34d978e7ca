/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * reporting: free page reporting ("mm: introduce Reported pages", 5.7): a guest tells its
 * hypervisor which free blocks it may take the memory of. The virtio balloon is who registers for
 * it.
 */
#pragma once

#include "kmodif.h"
#include "vmstat.h"

#define PGS_MAX_ORDERS	 PGSCAN_MAX_ORDERS

#define PGS_BALLOON_NAME 32

/* The device and what was agreed on; flags are 0 or 1. */
struct pgs_reporting {
	bool has_device;
	char device[PGS_BALLOON_NAME]; /* "virtio3" */
	bool has_driver;
	/* What the device offers is only shown by debugfs (6.8, CONFIG_VIRTIO_DEBUG), unless it was
	 * agreed on. */
	struct pgs_count offered, negotiated;
	struct pgs_count order; /* least order reported; none while nobody registered */
};

/* pgs_balloon_find - the first balloon among the virtio devices: 1, and its name, or 0. -errno
 * where it cannot be told whether there is one; -ENOENT: there is no virtio. */
int pgs_balloon_find(struct pgs_ctx *ctx, char ret_name[PGS_BALLOON_NAME])
	__attribute__((nonnull, warn_unused_result));

/* pgs_reporting_read - fill @ret. No device is a state. Returns 0, or -errno where it cannot be
 * told whether there is a device; the rest is filled. */
int pgs_reporting_read(struct pgs_ctx *ctx, struct pgs_reporting *ret)
	__attribute__((nonnull, warn_unused_result));

/* pgs_pageblock_order - not set without root or CAP_DAC_READ_SEARCH. Once a run:
 * /proc/pagetypeinfo, which has it in its first line, walks all free lists under the zones' locks
 * to print the rest. */
struct pgs_count pgs_pageblock_order(struct pgs_ctx *ctx) __attribute__((nonnull));

/* The free blocks of a zone. */
struct pgs_free_zone {
	unsigned int node;
	char zone[16];
	unsigned int nr_orders;
	uint64_t blocks[PGS_MAX_ORDERS];   /* of 2^order pages, in /proc/buddyinfo */
	bool has_reported;		   /* the counts below are known */
	uint64_t reported[PGS_MAX_ORDERS]; /* of them those that the hypervisor may have */
};

struct pgs_free_zones {
	struct pgs_free_zone *zones;
	size_t nr;
};

/* pgs_free_zones_read - from /proc/buddyinfo; nothing of reported. 0 or -errno. */
int pgs_free_zones_read(struct pgs_ctx *ctx, struct pgs_free_zones *ret)
	__attribute__((nonnull, warn_unused_result));
void pgs_free_zones_fini(struct pgs_free_zones *zones);
/* pgs_free_zones_find - the zone of that name on that node, or NULL. */
struct pgs_free_zone *pgs_free_zones_find(const struct pgs_free_zones *zones, unsigned int node,
					  const char *zone);

/* pgs_free_zones_reported - what is reported, as the module counts it. 0 or -errno; zones that were
 * counted before an error have their numbers. */
int pgs_free_zones_reported(struct pgs_kmod *kmod, struct pgs_free_zones *zones)
	__attribute__((nonnull, warn_unused_result));
