// SPDX-License-Identifier: GPL-2.0-only
/* --decode: one raw page map entry, explained without a process. */
#include "dump.h"

enum {
	D_ENTRY,
	D_STATE,
	D_PFN,
	D_SWAP_TYPE,
	D_SWAP_OFFSET,
	D_FILE,
	D_SOFT_DIRTY,
	D_EXCLUSIVE,
	D_UFFD_WP,
	D_GUARD,
	D_UNKNOWN_BITS,
	D_COLS
};

/* clang-format off */
const struct pgs_col dump_decode_cols[] = {
	[D_ENTRY]	 = {"entry", NULL, PGS_RAW64, 18, 0, "the raw entry"},
	[D_STATE]	 = {"state", NULL, PGS_STR, 8, 0, "where the page is"},
	[D_PFN]		 = {"pfn", NULL, PGS_U64, 8, 0, "frame number, bits 0-54 of a present page; null if hidden"},
	[D_SWAP_TYPE]	 = {"swap_type", NULL, PGS_U64, 9, 0, "bits 0-4 of a page that is not present"},
	[D_SWAP_OFFSET]	 = {"swap_offset", NULL, PGS_U64, 11, 0, "bits 5-54 of a page that is not present"},
	[D_FILE]	 = {"file", NULL, PGS_BOOL, 4, 0, "bit 61: page of a file or shared memory"},
	[D_SOFT_DIRTY]	 = {"soft_dirty", NULL, PGS_BOOL, 10, 0, "bit 55: written since soft-dirty was cleared"},
	[D_EXCLUSIVE]	 = {"exclusive", NULL, PGS_BOOL, 9, 0, "bit 56: mapped once only; a hint in large folios"},
	[D_UFFD_WP]	 = {"uffd_wp", NULL, PGS_BOOL, 7, 0, "bit 57: write-protected by userfaultfd"},
	[D_GUARD]	 = {"guard", NULL, PGS_BOOL, 5, 0, "bit 58, or a marker that says so: guard page"},
	[D_UNKNOWN_BITS] = {"unknown_bits", NULL, PGS_RAW64, 18, 0, "bits that no known kernel sets"},
	[D_COLS]	 = {0},
};
/* clang-format on */

static int decode_entry(struct dump *d, uint64_t word)
{
	struct pgs_val vals[D_COLS] = {0};
	struct pgs_page page;

	if (!d->env.types.resolved && pgs_words_special(&word, 1, &d->env.types))
		pgs_swap_types_resolve(d->ctx, &d->env.types);
	pgs_page_decode(word, &d->env.types, &page);
	vals[D_ENTRY] = pgs_u64(word);
	vals[D_STATE] = pgs_str(pgs_state_name(page.state));
	if (page.has_frame)
		vals[D_PFN] = pgs_u64(page.pfn);
	if (page.state != PGS_PRESENT && word & PGS_PM_SWAP && word & PGS_PM_FRAME) {
		vals[D_SWAP_TYPE] = pgs_u64(pgs_pm_swap_type(word));
		vals[D_SWAP_OFFSET] = pgs_u64(pgs_pm_swap_offset(word));
	}
	vals[D_FILE] = pgs_bool(page.file);
	vals[D_SOFT_DIRTY] = pgs_bool(page.soft_dirty);
	vals[D_EXCLUSIVE] = pgs_bool(page.exclusive);
	vals[D_UFFD_WP] = pgs_bool(page.uffd_wp);
	vals[D_GUARD] = pgs_bool(page.guard);
	vals[D_UNKNOWN_BITS] = pgs_u64(page.unknown_bits);
	return out_row(d->out, vals);
}

int dump_decode(struct dump *d)
{
	int r = 0;

	d->env.types.swap_areas = true; /* the entries may come from anywhere */
	for (size_t i = 0; i < d->opts->nr_entries && !r; i++)
		r = decode_entry(d, d->opts->entries[i]);
	return PGS_EXIT_OK;
}
