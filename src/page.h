/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * page: one 64-bit word of /proc/PID/pagemap, explained
 * (Documentation/admin-guide/mm/pagemap.rst).
 *
 * Words travel raw, because hex, raw and histograms want them so and because a word compares in
 * one instruction; pgs_page_decode() explains one.
 */
#pragma once

#include "ctx.h"

#define PGS_PM_PRESENT (UINT64_C(1) << 63)
#define PGS_PM_SWAP    (UINT64_C(1) << 62)
#define PGS_PM_FILE    (UINT64_C(1) << 61) /* file or shared anonymous; since 3.5 */
#define PGS_PM_GUARD   (UINT64_C(1) << 58) /* since 6.15 */
#define PGS_PM_UFFD_WP (UINT64_C(1) << 57) /* since 5.13 */
#define PGS_PM_EXCLUSIVE                                                                           \
	(UINT64_C(1) << 56) /* mapped once, as far as the kernel can tell; since 4.2 */
#define PGS_PM_SOFT_DIRTY (UINT64_C(1) << 55) /* since 3.11 */
#define PGS_PM_FRAME	  ((UINT64_C(1) << 55) - 1)
#define PGS_PM_KNOWN_BITS                                                                          \
	(PGS_PM_PRESENT | PGS_PM_SWAP | PGS_PM_FILE | PGS_PM_GUARD | PGS_PM_UFFD_WP |              \
	 PGS_PM_EXCLUSIVE | PGS_PM_SOFT_DIRTY | PGS_PM_FRAME)

/* Swap words: five bits of type, then the offset (MAX_SWAPFILES_SHIFT in include/linux/swap.h). */
#define PGS_PM_SWAP_TYPE_BITS 5
#define PGS_PM_SWAP_TYPES     (1u << PGS_PM_SWAP_TYPE_BITS)
#define PGS_PM_SWAP_STEP      (UINT64_C(1) << PGS_PM_SWAP_TYPE_BITS) /* the next slot's word */

static inline unsigned int pgs_pm_swap_type(uint64_t word)
{
	return word & (PGS_PM_SWAP_TYPES - 1);
}

static inline uint64_t pgs_pm_swap_offset(uint64_t word)
{
	return (word & PGS_PM_FRAME) >> PGS_PM_SWAP_TYPE_BITS;
}

static inline uint64_t pgs_pm_swap_word(unsigned int type, uint64_t offset)
{
	return PGS_PM_SWAP | offset << PGS_PM_SWAP_TYPE_BITS | type;
}

/* pgs_words_fill - write a run out: @count words, each @step more than the one before it. */
static inline void pgs_words_fill(uint64_t *words, uint64_t count, uint64_t first, uint64_t step)
{
	for (uint64_t i = 0; i < count; i++, first += step)
		words[i] = first;
}

/*
 * Most memory is alike for long, and each pass over its words counts: they are taken so many a
 * step, by the bits that all of them have, and those that any of them has.
 */
#define PGS_WORDS_BLOCK 8u

static inline uint64_t pgs_bits_of_all(const uint64_t *w)
{
	return w[0] & w[1] & w[2] & w[3] & w[4] & w[5] & w[6] & w[7];
}

static inline uint64_t pgs_bits_of_any(const uint64_t *w)
{
	return w[0] | w[1] | w[2] | w[3] | w[4] | w[5] | w[6] | w[7];
}

/* PTE markers: what the offset's bits say (include/linux/swapops.h, PTE_MARKER_*). */
#define PGS_PTE_MARKER_UFFD_WP	1u
#define PGS_PTE_MARKER_POISONED 2u
#define PGS_PTE_MARKER_GUARD	4u

/* What a page is. The order is that of the summary. */
enum pgs_state {
	PGS_PRESENT,
	PGS_SWAPPED,
	PGS_NONE,	    /* no page table entry and, where that was asked, not in swap either */
	PGS_GUARD,	    /* MADV_GUARD_INSTALL, since 6.13 */
	PGS_UFFD_WP_MARKER, /* write-protected while empty, and not in swap */
	PGS_MIGRATION,	    /* on its way to another frame: present again in a moment */
	PGS_HWPOISON,	    /* the frame had a memory error */
	PGS_DEVICE_PRIVATE, /* lives in a device's memory, or is a device's alone */
	PGS_SWAP_CACHE,	    /* a swap slot is reserved and the page is still in memory */
	PGS_POISONED,	    /* its contents are lost: a failed swap-in, UFFDIO_POISON */
	PGS_UNSCANNED,	    /* no page table that pagemap shows: vsyscall, driver memory */
	PGS_STATES,
	PGS_UNKNOWN = PGS_STATES, /* null: it could not be told */
};

/* The state's name, as pgscan-dump(1) has it; NULL for PGS_UNKNOWN. */
const char *pgs_state_name(enum pgs_state state);
/* The state of a name, PGS_UNKNOWN if there is none. */
enum pgs_state pgs_state_of_name(const char *name) __attribute__((nonnull));

/*
 * Which swap types are no swap area. The kernel numbers them down from 31 (include/linux/swap.h):
 * PTE markers, device-private, migration, hwpoison, as far as each is configured in. Where the
 * configuration cannot be seen the type is PGS_UNKNOWN, never a guess.
 */
struct pgs_swap_types {
	uint8_t state[PGS_PM_SWAP_TYPES]; /* enum pgs_state; PGS_SWAPPED for a swap area */
	int marker;			  /* the type of PTE markers */
	bool resolved;	    /* the types above PGS_SWAP_TYPE_SURE have been looked into */
	bool swap_areas;    /* there is a swap area at all */
	bool guard_is_bare; /* guard regions exist and have no bit of their own (6.13, 6.14) */
};

/* Types below this one are swap areas under every configuration there has been (32 less one
 * marker, one swap-in error, four device, three migration, one hwpoison). */
#define PGS_SWAP_TYPE_SURE 22u

/* pgs_swap_types_init - what is quickly learned: the type of markers, by a guard page or else a
 * write-protected page of our own. pgs_swap_types_resolve - the rest, once a word asks for it
 * (pgs_words_special()): reads meminfo, vmstat and the names in kallsyms (0.1 s). What cannot be
 * learned stays unknown. */
void pgs_swap_types_init(struct pgs_ctx *ctx, struct pgs_swap_types *ret_types)
	__attribute__((nonnull));
void pgs_swap_types_resolve(struct pgs_ctx *ctx, struct pgs_swap_types *types)
	__attribute__((nonnull));

/* pgs_words_present - how many of @count words from the first on are of present pages. */
size_t pgs_words_present(const uint64_t *words, size_t count) __attribute__((nonnull));

/* pgs_words_empty - the same of empty entries: of no page, or of one that only its object knows. */
size_t pgs_words_empty(const uint64_t *words, size_t count) __attribute__((nonnull));

/* pgs_words_special - whether any of @count words has a swap type that may be no swap area, and
 * that is not the markers'. */
bool pgs_words_special(const uint64_t *words, size_t count, const struct pgs_swap_types *types)
	__attribute__((nonnull));

/* One word, explained. */
struct pgs_page {
	enum pgs_state state;
	bool has_frame; /* present and the frame number is visible (and not hidden as 0) */
	bool has_slot;	/* swapped and type and offset are visible */
	bool file, soft_dirty, exclusive, uffd_wp, guard;
	uint64_t pfn;
	unsigned int swap_type;
	uint64_t swap_offset;
	uint64_t unknown_bits; /* bits 59 and 60: no kernel sets them so far */
};

void pgs_page_decode(uint64_t word, const struct pgs_swap_types *types, struct pgs_page *ret_page)
	__attribute__((nonnull));

/* pgs_page_state - the state alone, for loops. */
enum pgs_state pgs_page_state(uint64_t word, const struct pgs_swap_types *types)
	__attribute__((nonnull));

/*
 * pgs_word_is_uffd_marker - whether a word is but a mark of userfaultfd: write-protected, and empty
 * or, in a mapping of shared memory, of a page that only its object knows ("mm/shmem: persist
 * uffd-wp bit across zapping for file-backed", 5.19).
 */
static inline bool pgs_word_is_uffd_marker(uint64_t word, const struct pgs_swap_types *types)
{
	const uint64_t bits = PGS_PM_SWAP | PGS_PM_UFFD_WP;

	return (word & (PGS_PM_PRESENT | bits)) == bits &&
	       pgs_page_state(word, types) == PGS_UFFD_WP_MARKER;
}

/* pgs_uffd_marker_word - the word of such a mark, where type and offset are shown. */
static inline uint64_t pgs_uffd_marker_word(const struct pgs_swap_types *types)
{
	return pgs_pm_swap_word((unsigned int)types->marker, PGS_PTE_MARKER_UFFD_WP) |
	       PGS_PM_UFFD_WP;
}

/*
 * pgs_page_step - what to add to @word for the next page of the same run: 1 for a visible frame,
 * PGS_PM_SWAP_STEP for a visible slot, else 0 (equal words).
 */
uint64_t pgs_page_step(uint64_t word, const struct pgs_swap_types *types) __attribute__((nonnull));

/* pgs_run_length - how many of @count words go up by @step from the first on. At least 1. */
size_t pgs_run_length(const uint64_t *words, size_t count, uint64_t step) __attribute__((nonnull));

/* Page counts of a stretch of words. */
struct pgs_counts {
	uint64_t pages;
	uint64_t state[PGS_STATES + 1]; /* by enum pgs_state; the last is unknown */
	uint64_t file, soft_dirty, exclusive, uffd_wp, guard; /* pages with the bit */
	uint64_t zero;					      /* frame equal to @zero_pfn */
	uint64_t hidden;				      /* present without a visible frame */
};

/* pgs_count_words - add @count words to @counts. @zero_pfn: the zero page's, 0 if not known. */
void pgs_count_words(const uint64_t *words, size_t count, const struct pgs_swap_types *types,
		     uint64_t zero_pfn, struct pgs_counts *counts) __attribute__((nonnull));

/* pgs_counts_add - add one tally to another. */
void pgs_counts_add(struct pgs_counts *to, const struct pgs_counts *from) __attribute__((nonnull));

/*
 * pgs_zero_pfn - the frame of the zero page, from a read-only touch of a page of our own; 0 where
 * frames are hidden. The tests' word for "zero" without it is PAGEMAP_SCAN's PAGE_IS_PFNZERO.
 */
uint64_t pgs_zero_pfn(struct pgs_ctx *ctx) __attribute__((nonnull));
