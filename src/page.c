// SPDX-License-Identifier: GPL-2.0-only
#include "page.h"

#include <string.h>

static const char *const state_names[PGS_STATES] = {
	[PGS_PRESENT] = "present",
	[PGS_SWAPPED] = "swapped",
	[PGS_NONE] = "none",
	[PGS_GUARD] = "guard",
	[PGS_UFFD_WP_MARKER] = "uffd_wp_marker",
	[PGS_MIGRATION] = "migration",
	[PGS_HWPOISON] = "hwpoison",
	[PGS_DEVICE_PRIVATE] = "device_private",
	[PGS_SWAP_CACHE] = "swap_cache",
	[PGS_POISONED] = "poisoned",
	[PGS_UNSCANNED] = "unscanned",
};

const char *pgs_state_name(enum pgs_state state)
{
	return state < PGS_STATES ? state_names[state] : NULL;
}

enum pgs_state pgs_state_of_name(const char *name)
{
	for (unsigned int i = 0; i < PGS_STATES; i++)
		if (!strcmp(state_names[i], name))
			return i;
	return PGS_UNKNOWN;
}

static enum pgs_state marker_state(uint64_t offset)
{
	if (offset & PGS_PTE_MARKER_GUARD)
		return PGS_GUARD;
	if (offset & PGS_PTE_MARKER_POISONED)
		return PGS_POISONED;
	return offset & PGS_PTE_MARKER_UFFD_WP ? PGS_UFFD_WP_MARKER : PGS_UNKNOWN;
}

/*
 * Type and offset read as 0 without CAP_SYS_ADMIN. A marker then looks like a swapped page, unless
 * its own bit gives it away or there is no swap area that the page could be in.
 */
static enum pgs_state hidden_state(uint64_t word, const struct pgs_swap_types *types)
{
	if (!types->swap_areas)
		return word & PGS_PM_UFFD_WP ? PGS_UFFD_WP_MARKER : PGS_UNKNOWN;
	return word & PGS_PM_UFFD_WP || types->guard_is_bare ? PGS_UNKNOWN : PGS_SWAPPED;
}

static enum pgs_state swap_word_state(uint64_t word, const struct pgs_swap_types *types)
{
	unsigned int type = pgs_pm_swap_type(word);

	if (word & PGS_PM_GUARD)
		return PGS_GUARD;
	if (!(word & PGS_PM_FRAME))
		return hidden_state(word, types);
	if ((int)type == types->marker)
		return marker_state(pgs_pm_swap_offset(word));
	return types->state[type];
}

enum pgs_state pgs_page_state(uint64_t word, const struct pgs_swap_types *types)
{
	if (word & PGS_PM_PRESENT)
		return PGS_PRESENT;
	return word & PGS_PM_SWAP ? swap_word_state(word, types) : PGS_NONE;
}

void pgs_page_decode(uint64_t word, const struct pgs_swap_types *types, struct pgs_page *ret_page)
{
	struct pgs_page page = {
		.state = pgs_page_state(word, types),
		.file = word & PGS_PM_FILE,
		.soft_dirty = word & PGS_PM_SOFT_DIRTY,
		.exclusive = word & PGS_PM_EXCLUSIVE,
		.uffd_wp = word & PGS_PM_UFFD_WP,
		.unknown_bits = word & ~PGS_PM_KNOWN_BITS,
	};

	page.guard = page.state == PGS_GUARD || word & PGS_PM_GUARD;
	if (page.state == PGS_PRESENT && word & PGS_PM_FRAME) {
		page.has_frame = true;
		page.pfn = word & PGS_PM_FRAME;
	}
	if (page.state == PGS_SWAPPED && word & PGS_PM_FRAME) {
		page.has_slot = true;
		page.swap_type = pgs_pm_swap_type(word);
		page.swap_offset = pgs_pm_swap_offset(word);
	}
	*ret_page = page;
}

uint64_t pgs_page_step(uint64_t word, const struct pgs_swap_types *types)
{
	if (!(word & PGS_PM_FRAME))
		return 0;
	if (word & PGS_PM_PRESENT)
		return 1;
	if (word & PGS_PM_SWAP && (int)pgs_pm_swap_type(word) != types->marker)
		return PGS_PM_SWAP_STEP;
	return 0;
}

size_t pgs_run_length(const uint64_t *words, size_t count, uint64_t step)
{
	uint64_t next = words[0] + step;
	size_t n = 1;

	for (; n < count && words[n] == next; next += step)
		n++;
	return n;
}

size_t pgs_words_present(const uint64_t *words, size_t count)
{
	size_t n = 0;

	while (n + PGS_WORDS_BLOCK <= count && pgs_bits_of_all(words + n) & PGS_PM_PRESENT)
		n += PGS_WORDS_BLOCK;
	while (n < count && words[n] & PGS_PM_PRESENT)
		n++;
	return n;
}

size_t pgs_words_empty(const uint64_t *words, size_t count)
{
	size_t n = 0;

	while (n + PGS_WORDS_BLOCK <= count &&
	       !(pgs_bits_of_any(words + n) & (PGS_PM_PRESENT | PGS_PM_SWAP)))
		n += PGS_WORDS_BLOCK;
	while (n < count && !(words[n] & (PGS_PM_PRESENT | PGS_PM_SWAP)))
		n++;
	return n;
}

static bool is_special(uint64_t word, const struct pgs_swap_types *types)
{
	unsigned int type = pgs_pm_swap_type(word);

	return (word & (PGS_PM_PRESENT | PGS_PM_SWAP)) == PGS_PM_SWAP &&
	       type >= PGS_SWAP_TYPE_SURE && (int)type != types->marker;
}

bool pgs_words_special(const uint64_t *words, size_t count, const struct pgs_swap_types *types)
{
	for (size_t i = 0; i < count; i++) {
		i += words[i] & PGS_PM_PRESENT ? pgs_words_present(words + i, count - i)
					       : pgs_words_empty(words + i, count - i);
		if (i < count && is_special(words[i], types))
			return true;
	}
	return false;
}

/* @n pages whose words have the same flag bits as @word and are in state @state. */
static void count_flags(struct pgs_counts *counts, uint64_t word, enum pgs_state state, uint64_t n)
{
	counts->pages += n;
	counts->state[state] += n;
	if (state == PGS_NONE)
		return;
	counts->file += word & PGS_PM_FILE ? n : 0;
	counts->soft_dirty += word & PGS_PM_SOFT_DIRTY ? n : 0;
	counts->exclusive += word & PGS_PM_EXCLUSIVE ? n : 0;
	counts->uffd_wp += word & PGS_PM_UFFD_WP ? n : 0;
	counts->guard += state == PGS_GUARD ? n : 0;
}

/* @n present pages of one frame: it may be the zero page's, or not be shown. */
static void count_frame(uint64_t word, uint64_t n, uint64_t zero_pfn, struct pgs_counts *counts)
{
	uint64_t pfn = word & PGS_PM_FRAME;

	if (!pfn)
		counts->hidden += n;
	else if (pfn == zero_pfn)
		counts->zero += n;
}

static void count_frames(const uint64_t *words, size_t n, uint64_t zero_pfn,
			 struct pgs_counts *counts)
{
	for (size_t i = 0; i < n; i++)
		count_frame(words[i], 1, zero_pfn, counts);
}

/*
 * The frames of a block. A bit that all of them have and the zero page's has not says that none is
 * that, and none hidden; neighbours' frames are seldom so far apart that no such bit is left.
 */
static void count_block(const uint64_t *words, uint64_t all, uint64_t any, uint64_t zero_pfn,
			struct pgs_counts *counts)
{
	if (all & ~zero_pfn & PGS_PM_FRAME)
		return;
	if (all == any)
		count_frame(all, PGS_WORDS_BLOCK, zero_pfn, counts);
	else
		count_frames(words, PGS_WORDS_BLOCK, zero_pfn, counts);
}

/* Present pages, one after the other: as many of @n as there are from the first on. */
static size_t count_singly(const uint64_t *words, size_t n, uint64_t zero_pfn,
			   struct pgs_counts *counts)
{
	uint64_t file = 0, soft_dirty = 0, exclusive = 0, uffd_wp = 0;
	size_t i;

	for (i = 0; i < n && words[i] & PGS_PM_PRESENT; i++) {
		file += !!(words[i] & PGS_PM_FILE);
		soft_dirty += !!(words[i] & PGS_PM_SOFT_DIRTY);
		exclusive += !!(words[i] & PGS_PM_EXCLUSIVE);
		uffd_wp += !!(words[i] & PGS_PM_UFFD_WP);
	}
	count_frames(words, i, zero_pfn, counts);
	counts->pages += i;
	counts->state[PGS_PRESENT] += i;
	counts->file += file;
	counts->soft_dirty += soft_dirty;
	counts->exclusive += exclusive;
	counts->uffd_wp += uffd_wp;
	return i;
}

/*
 * Neighbours mostly have the same flag bits: how long they stay the same is found by blocks. Where
 * they change they may change at each page, so that a block is counted singly.
 */
static size_t count_present(const uint64_t *words, size_t count, uint64_t zero_pfn,
			    struct pgs_counts *counts)
{
	uint64_t flags = words[0] & ~PGS_PM_FRAME;
	size_t n = 0, rest;

	for (; n + PGS_WORDS_BLOCK <= count; n += PGS_WORDS_BLOCK) {
		uint64_t all = pgs_bits_of_all(words + n), any = pgs_bits_of_any(words + n);

		if (((all ^ flags) | (any ^ flags)) & ~PGS_PM_FRAME)
			break;
		count_block(words + n, all, any, zero_pfn, counts);
	}
	count_flags(counts, flags, PGS_PRESENT, n);
	rest = count - n < PGS_WORDS_BLOCK ? count - n : PGS_WORDS_BLOCK;
	return n + count_singly(words + n, rest, zero_pfn, counts);
}

/* Of one swap area's pages only the offset differs, which says nothing of the state. */
#define SAME_AREA (~PGS_PM_FRAME | (PGS_PM_SWAP_TYPES - 1))

/* What decides about a swap word is its type, if that is not the markers' and anything is shown. */
static bool is_decided_by_type(uint64_t word, const struct pgs_swap_types *types)
{
	return word & PGS_PM_SWAP && word & PGS_PM_FRAME &&
	       (int)pgs_pm_swap_type(word) != types->marker;
}

/* Slots are in no order often enough that to count them by runs would be to count them singly. */
static size_t count_swapped(const uint64_t *words, size_t count, const struct pgs_swap_types *types,
			    struct pgs_counts *counts)
{
	uint64_t area = words[0] & SAME_AREA;
	size_t n = 1;

	while (n < count && (words[n] & SAME_AREA) == area && words[n] & PGS_PM_FRAME)
		n++;
	count_flags(counts, words[0], pgs_page_state(words[0], types), n);
	return n;
}

void pgs_count_words(const uint64_t *words, size_t count, const struct pgs_swap_types *types,
		     uint64_t zero_pfn, struct pgs_counts *counts)
{
	while (count) {
		size_t n;

		if (words[0] & PGS_PM_PRESENT) {
			n = count_present(words, count, zero_pfn, counts);
		} else if (is_decided_by_type(words[0], types)) {
			n = count_swapped(words, count, types, counts);
		} else {
			n = pgs_run_length(words, count, pgs_page_step(words[0], types));
			count_flags(counts, words[0], pgs_page_state(words[0], types), n);
		}
		words += n;
		count -= n;
	}
}

void pgs_counts_add(struct pgs_counts *to, const struct pgs_counts *from)
{
	to->pages += from->pages;
	for (unsigned int i = 0; i <= PGS_STATES; i++)
		to->state[i] += from->state[i];
	to->file += from->file;
	to->soft_dirty += from->soft_dirty;
	to->exclusive += from->exclusive;
	to->uffd_wp += from->uffd_wp;
	to->guard += from->guard;
	to->zero += from->zero;
	to->hidden += from->hidden;
}
