/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * slots: how many owners each swap slot has. The kernel keeps that count (swap_map) to itself, so
 * it is made again from the page tables and the shmem objects of the whole machine.
 *
 * A slot is named by a space and an index. Spaces below PGS_PM_SWAP_TYPES are swap types, and the
 * index is the swap offset. A page of a shmem object whose slot is not known stands for its slot:
 * the space is then one of the object's own, from PGS_PM_SWAP_TYPES up, and the index that of the
 * page.
 *
 * Costs 8 bytes a slot in use, in chunks of 512.
 */
#pragma once

#include "page.h"

struct pgs_slots;

int pgs_slots_new(struct pgs_slots **ret_slots) __attribute__((nonnull, warn_unused_result));
void pgs_slots_free(struct pgs_slots *slots);

#define PGS_SLOT_ANON	(1u << 0) /* a page table entry of private memory refers to it */
#define PGS_SLOT_SHMEM	(1u << 1) /* a page of a shmem object */
#define PGS_SLOT_SHOWN	(1u << 2) /* pgs_slots_share() has counted it */

#define PGS_SLOT_NOBODY UINT32_MAX
/* Owners are numbers below this. */
#define PGS_SLOT_OWNERS (UINT32_C(1) << 31)

struct pgs_slot {
	uint32_t owner;	  /* the last one that took hold; PGS_SLOT_NOBODY */
	uint32_t holders; /* distinct owners */
	unsigned int flags;
};

/*
 * pgs_slots_hold - @owner holds @count slots from @first on. An owner counts once for each slot,
 * however often it says so (KSM merges pages of one process), if all it holds is told before the
 * next owner's turn. With PGS_SLOT_NOBODY only the flags are set. Returns 0 or -ENOMEM.
 */
int pgs_slots_hold(struct pgs_slots *slots, uint32_t space, uint64_t first, uint64_t count,
		   uint32_t owner, unsigned int flags) __attribute__((nonnull, warn_unused_result));

/* pgs_slots_name - say whose @count slots are, without a holder more: for a map of them. */
int pgs_slots_name(struct pgs_slots *slots, uint32_t space, uint64_t first, uint64_t count,
		   uint32_t owner) __attribute__((nonnull, warn_unused_result));

/* pgs_slots_get - what is known of a slot. */
struct pgs_slot pgs_slots_get(const struct pgs_slots *slots, uint32_t space, uint64_t slot)
	__attribute__((nonnull));

/* pgs_slots_run - the holders of slot @first, and how many of the @count from it on have as many.
 * At least 1. */
uint64_t pgs_slots_run(const struct pgs_slots *slots, uint32_t space, uint64_t first,
		       uint64_t count, uint32_t *ret_holders) __attribute__((nonnull));

/* An owner's part in what it holds. */
struct pgs_share {
	uint64_t anon, shmem; /* slots held, each once */
	uint64_t unique;      /* held by nobody else */
	double share;	      /* each divided by its holders */
};

/*
 * pgs_slots_share - add @owner's part in @count slots to @share, each slot once an owner; those
 * that nobody has been heard to hold, for they are new, are its own and get @flags. Once all have
 * been told to pgs_slots_hold(); one owner after the other here too. Leaves its mark in `owner`.
 * Returns 0 or -ENOMEM.
 */
int pgs_slots_share(struct pgs_slots *slots, uint32_t space, uint64_t first, uint64_t count,
		    uint32_t owner, unsigned int flags, struct pgs_share *share)
	__attribute__((nonnull, warn_unused_result));

struct pgs_slot_counts {
	uint64_t anon, shmem;		  /* in use; shmem is what is not anon */
	uint64_t shown_anon, shown_shmem; /* those of them with PGS_SLOT_SHOWN */
};

/* pgs_slots_count - add the slots of the spaces @from to @to (excluded) to @counts. */
void pgs_slots_count(const struct pgs_slots *slots, uint32_t from, uint32_t to,
		     struct pgs_slot_counts *counts) __attribute__((nonnull));
