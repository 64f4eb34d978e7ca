// SPDX-License-Identifier: GPL-2.0-only
/*
 * Swap areas by type, and per slot whether the swap cache holds a page of it and whether it stands
 * for a zero page.
 *
 *	swap cache	up to 6.17: swapper_spaces[type][slot >> 14], an XArray each
 *			later: si->cluster_info[slot / 512].table, a word a slot
 *	zero pages	since 6.12: the bitmap si->zeromap; later a bit of that word
 *
 * What has been seen to hold is 6.1, 6.12 and 7.3. Between them lie tables of pointers beside a
 * swap_map (6.18, "mm, swap: use the swap table for the swap cache and switch API"), and tables of
 * frame numbers beside the bitmap (until "mm, swap: merge zeromap into swap table"). Those kernels
 * have no swapper_spaces any more, and a table is only read where neither swap_map nor zeromap is
 * left: nothing is told of their swap cache, and zero pages by the bitmap.
 */
#include "kmem_priv.h"

#include "cleanup.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define SWP_USED       UINT64_C(1) /* include/linux/swap.h; always the first of the flags */
#define SWAP_HAS_CACHE 0x40u	   /* of swap_map, include/linux/swap.h: a slot without users */
#define SPACE_BITS     14u	   /* SWAP_ADDRESS_SPACE_SHIFT */
#define SPACE_SLOTS    (UINT64_C(1) << SPACE_BITS)
#define RUNS	       512u

/* A word of a swap table (mm/swap_table.h, as of 7.3): the low bits tell a folio from a shadow,
 * which is odd, and from slots that are free, bad or of a hibernation image; the five topmost bits
 * are the slot's count and, the lowest of them, the mark of a zero page. */
#define TABLE_KIND   UINT64_C(3)
#define TABLE_CACHED UINT64_C(2)
#define TABLE_ZERO   (UINT64_C(1) << 59)

bool pgs_kmem_has_swap_table(const struct pgs_kmem *kmem)
{
	const struct kmem_layout *at = &kmem->at;

	return at->cluster_slots && !at->swap_info_struct_swap_map.size &&
	       !at->swap_info_struct_zeromap.size && at->swap_info_struct_cluster_info.size &&
	       at->swap_cluster_info_table.size && at->swap_cluster_info_bytes;
}

/* ---- areas ----------------------------------------------------------------------------------- */

static int64_t sign_extend(uint64_t value, uint32_t size)
{
	unsigned int unused = 64 - size * 8;

	return (int64_t)(value << unused) >> unused;
}

/* A device's inode lies in devtmpfs or whatever names it: its number is i_rdev. */
static int find_file(struct pgs_kmem *kmem, uint64_t file, struct pgs_kmem_area *area)
{
	const struct kmem_layout *at = &kmem->at;
	uint64_t inode, mode, rdev, sb, dev;
	int r = pgs_kmem_read(kmem, file, at->file_f_inode, &inode);

	if (!r)
		r = pgs_kmem_read(kmem, inode, at->inode_i_mode, &mode);
	if (!r)
		r = pgs_kmem_read(kmem, inode, at->inode_i_rdev, &rdev);
	if (!r)
		r = pgs_kmem_read(kmem, inode, at->inode_i_ino, &area->ino);
	if (!r)
		r = pgs_kmem_read(kmem, inode, at->inode_i_sb, &sb);
	if (!r)
		r = pgs_kmem_read(kmem, sb, at->super_block_s_dev, &dev);
	if (r)
		return r;
	area->is_block = S_ISBLK(mode);
	area->dev = pgs_kmem_dev(area->is_block ? rdev : dev);
	return 0;
}

/* The area of @type: 1, 0 if it is not in use, -errno. */
static int read_area(struct pgs_kmem *kmem, unsigned int type, void *si,
		     struct pgs_kmem_area *ret_area)
{
	const struct kmem_layout *at = &kmem->at;
	struct pgs_kmem_area area = {.type = type};
	int r = pgs_kmem_word(kmem, kmem->sym.swap_info + type * sizeof(uint64_t), &area.info);

	if (!r)
		r = pgs_kcore_read(kmem->kcore, area.info, si, at->swap_info_struct_bytes);
	if (r)
		return r;
	if (!(kmem_get(si, at->swap_info_struct_flags) & SWP_USED))
		return 0;
	area.prio = (int)sign_extend(kmem_get(si, at->swap_info_struct_prio),
				     at->swap_info_struct_prio.size);
	area.pages = kmem_get(si, at->swap_info_struct_pages);
	area.slots = kmem_get(si, at->swap_info_struct_max);
	r = find_file(kmem, kmem_get(si, at->swap_info_struct_swap_file), &area);
	if (r)
		return r;
	*ret_area = area;
	return 1;
}

int pgs_kmem_areas(struct pgs_kmem *kmem, struct pgs_kmem_area areas[PGS_KMEM_AREAS_MAX])
{
	_cleanup_free_ void *si = NULL;
	unsigned int types;
	int nr = 0;

	if (!pgs_kmem_has(kmem, PGS_KMEM_AREAS))
		return -EOPNOTSUPP;
	types = pgs_kmem_nr_swapfiles(kmem);
	if (types > PGS_KMEM_AREAS_MAX)
		return -ERANGE;
	si = malloc(kmem->at.swap_info_struct_bytes);
	if (!si)
		return -ENOMEM;
	for (unsigned int type = 0; type < types; type++) {
		int r = read_area(kmem, type, si, &areas[nr]);

		if (r < 0)
			return r;
		nr += r;
	}
	return nr;
}

/* ---- slots by the swap cache's XArrays and the zero map -------------------------------------- */

/* Values are shadows here, of pages that were in the swap cache. */
static uint8_t flag_of(enum pgs_kentry entry)
{
	if (entry == PGS_KENTRY_MEMORY)
		return PGS_KSLOT_CACHED;
	return entry == PGS_KENTRY_UNKNOWN ? PGS_KSLOT_UNSEEN : 0;
}

/* Entries @from to @from + @count - 1 of a space. */
static int mark_entries(struct pgs_kmem *kmem, uint64_t mapping, uint64_t from, size_t count,
			uint8_t *flags)
{
	_cleanup_free_ struct pgs_kentries *runs = calloc(RUNS, sizeof(*runs));
	uint64_t next = from, end = from + count;

	if (!runs)
		return -ENOMEM;
	while (next < end) {
		int nr = pgs_kmem_tree(kmem, mapping, next, end, runs, RUNS);

		if (nr < 0)
			return nr;
		for (int i = 0; i < nr; i++)
			for (uint64_t k = 0; k < runs[i].pages; k++)
				flags[runs[i].index - from + k] |= flag_of(runs[i].entry);
		next = runs[nr - 1].index + runs[nr - 1].pages;
	}
	return 0;
}

/* 6.12 numbers the entries of a space from 0, older kernels by the slot. Where the other kind would
 * have an entry there never is one, but in the first space, where both are the same. */
static int mark_space(struct pgs_kmem *kmem, uint64_t mapping, uint64_t first, size_t count,
		      uint8_t *flags)
{
	uint64_t index = first % SPACE_SLOTS;
	int r = mark_entries(kmem, mapping, index, count, flags);

	return r || index == first ? r : mark_entries(kmem, mapping, first, count, flags);
}

static int mark_spaces(struct pgs_kmem *kmem, const struct pgs_kmem_area *area, uint64_t first,
		       size_t count, uint8_t *flags)
{
	uint64_t spaces;
	int r = pgs_kmem_word(kmem, kmem->sym.swapper_spaces + area->type * sizeof(uint64_t),
			      &spaces);

	for (size_t done = 0, n; done < count && !r; done += n) {
		uint64_t slot = first + done, left = SPACE_SLOTS - slot % SPACE_SLOTS;

		n = count - done < left ? count - done : left;
		r = mark_space(kmem, spaces + (slot >> SPACE_BITS) * kmem->at.address_space_bytes,
			       slot, n, flags + done);
	}
	return r;
}

/*
 * Up to 6.14 a processor takes 64 slots at a time for what it will swap out next, and gives back as
 * many at a time (mm/swap_slots.c). Nothing but this flag in their count tells them from free ones.
 */
static int mark_reserved(struct pgs_kmem *kmem, const struct pgs_kmem_area *area, uint64_t first,
			 size_t count, uint8_t *flags)
{
	_cleanup_free_ uint8_t *counts = malloc(count);
	uint64_t map;
	int r;

	if (!counts)
		return -ENOMEM;
	r = pgs_kmem_read(kmem, area->info, kmem->at.swap_info_struct_swap_map, &map);
	if (!r)
		r = pgs_kcore_read(kmem->kcore, map + first, counts, count);
	for (size_t i = 0; i < count && !r; i++)
		if (counts[i] == SWAP_HAS_CACHE && !(flags[i] & PGS_KSLOT_CACHED))
			flags[i] |= PGS_KSLOT_RESERVED;
	return r;
}

static int mark_zero_map(struct pgs_kmem *kmem, const struct pgs_kmem_area *area, uint64_t first,
			 size_t count, uint8_t *flags)
{
	uint64_t map, skip = first / 64, words = (first + count - 1) / 64 - skip + 1;
	_cleanup_free_ uint64_t *bits = calloc(words, sizeof(*bits));
	int r;

	if (!bits)
		return -ENOMEM;
	r = pgs_kmem_read(kmem, area->info, kmem->at.swap_info_struct_zeromap, &map);
	if (!r)
		r = pgs_kcore_read(kmem->kcore, map + skip * sizeof(*bits), bits,
				   words * sizeof(*bits));
	for (size_t i = 0; i < count && !r; i++) {
		uint64_t bit = first + i - skip * 64;

		if (bits[bit / 64] >> bit % 64 & 1)
			flags[i] |= PGS_KSLOT_ZERO;
	}
	return r;
}

/* ---- slots by swap tables -------------------------------------------------------------------- */

/* A cluster without a table has no slot in use. */
static int read_table(struct pgs_kmem *kmem, uint64_t clusters, uint64_t cluster, uint64_t *words)
{
	uint64_t info = clusters + cluster * kmem->at.swap_cluster_info_bytes, table;
	size_t size = kmem->at.cluster_slots * sizeof(*words);
	int r = pgs_kmem_read(kmem, info, kmem->at.swap_cluster_info_table, &table);

	if (r)
		return r;
	memset(words, 0, size);
	return table ? pgs_kcore_read(kmem->kcore, table, words, size) : 0;
}

static int mark_tables(struct pgs_kmem *kmem, const struct pgs_kmem_area *area, uint64_t first,
		       size_t count, uint8_t *flags)
{
	uint64_t slots = kmem->at.cluster_slots, clusters, loaded = UINT64_MAX;
	_cleanup_free_ uint64_t *words = calloc(slots, sizeof(*words));
	int r;

	if (!words)
		return -ENOMEM;
	r = pgs_kmem_read(kmem, area->info, kmem->at.swap_info_struct_cluster_info, &clusters);
	for (size_t i = 0; i < count && !r; i++) {
		uint64_t slot = first + i, word;

		if (slot / slots != loaded) {
			loaded = slot / slots;
			r = read_table(kmem, clusters, loaded, words);
		}
		word = words[slot % slots];
		if ((word & TABLE_KIND) == TABLE_CACHED)
			flags[i] |= PGS_KSLOT_CACHED;
		if (word & TABLE_KIND && word & TABLE_ZERO)
			flags[i] |= PGS_KSLOT_ZERO;
	}
	return r;
}

int pgs_kmem_slots(struct pgs_kmem *kmem, const struct pgs_kmem_area *area, uint64_t first,
		   size_t count, uint8_t *flags)
{
	int r = 0;

	memset(flags, 0, count);
	if (!count)
		return 0;
	if (first >= area->slots || count > area->slots - first)
		return -ERANGE;
	if (pgs_kmem_has_swap_table(kmem))
		return mark_tables(kmem, area, first, count, flags);
	if (pgs_kmem_has(kmem, PGS_KMEM_SWAP_CACHE)) {
		r = mark_spaces(kmem, area, first, count, flags);
		if (!r && kmem->at.swap_info_struct_swap_map.size)
			r = mark_reserved(kmem, area, first, count, flags);
	}
	if (!r && pgs_kmem_has(kmem, PGS_KMEM_ZERO_MAP))
		r = mark_zero_map(kmem, area, first, count, flags);
	return r;
}
