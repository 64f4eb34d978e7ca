/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * caps: pgscan runs with an empty effective set and raises a capability only around the call
 * that needs it, so that a bug elsewhere acts with nobody's authority. The only user of libcap.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/capability.h>

#define PGS_CAP(cap) (UINT64_C(1) << (cap)) /* PGS_CAP(CAP_SYS_ADMIN) */

/* For the memory and the open files of another user's process: the right to trace it, and, as most
 * of these files are their owner's alone by mode (0400, 0500), to read what the mode does not let.
 */
#define PGS_CAPS_OTHERS (PGS_CAP(CAP_SYS_PTRACE) | PGS_CAP(CAP_DAC_READ_SEARCH))

/* pgs_caps_init - empty the effective set, keep the permitted one. Once, first thing in main().
 * Returns 0 or -errno. */
int pgs_caps_init(void) __attribute__((warn_unused_result));

/*
 * pgs_caps_restore - for a child about to exec a command of the user's: leave it what the caller of
 * pgscan had, and nothing more. What file capabilities or set-user-ID gave to pgscan (AT_SECURE) is
 * given up for good; otherwise all that is permitted came from the caller, and is made effective
 * again, so that the command is found and run as the caller's own exec would. Returns 0 or -errno.
 */
int pgs_caps_restore(void) __attribute__((warn_unused_result));

/* pgs_caps_permitted - the permitted set as a mask of PGS_CAP() bits. */
uint64_t pgs_caps_permitted(void);

/* pgs_caps_raise - put those of @mask that are permitted into the effective set; returns what was
 * raised. pgs_caps_lower - empty the effective set again; errno is kept. */
uint64_t pgs_caps_raise(uint64_t mask);
void pgs_caps_lower(void);

/* pgs_caps_are_callers - false when pgscan has privileges that its caller had not, from its file:
 * what is done for the caller, and not only read for it, is then done with the caller's rights
 * alone. */
bool pgs_caps_are_callers(void);

/*
 * pgs_caps_lacking - those of @mask that are not permitted. Of CAP_CHECKPOINT_RESTORE and
 * CAP_SYS_ADMIN, from which it was split off (5.9), either is enough where both are in @mask: the
 * lesser one is what is lacking, if this kernel knows it.
 */
uint64_t pgs_caps_lacking(uint64_t mask);
/* pgs_caps_missing - the first of those, in the order of its number, as its CAP_ number; -1 when
 * none is. */
int pgs_caps_missing(uint64_t mask);

#define PGS_CAP_STR 32
/* pgs_cap_name - "CAP_SYS_PTRACE"; for an unknown number "CAP_63". Returns @buf. */
const char *pgs_cap_name(int cap, char buf[PGS_CAP_STR]) __attribute__((nonnull));
#define PGS_CAPS_STR 160
/* pgs_caps_names - "CAP_DAC_READ_SEARCH and CAP_SYS_RAWIO". Returns @buf. */
const char *pgs_caps_names(uint64_t mask, char buf[PGS_CAPS_STR]) __attribute__((nonnull));
/* pgs_cap_last - the highest capability the running kernel knows. */
int pgs_cap_last(void);
