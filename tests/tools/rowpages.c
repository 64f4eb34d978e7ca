// SPDX-License-Identifier: GPL-2.0-only
/*
 * rowpages - expand rows into pages, for comparison with `pmref -s`. Reads pgscan's TSV (null is
 * \\N) with the columns start pages state pfn swap_type swap_offset file soft_dirty exclusive
 * uffd_wp huge zero and prints a line a page, slot and frame counted up, but the frame of the zero
 * page, which is one; null is "-".
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIELDS 12

enum {
	START,
	PAGES,
	STATE,
	PFN,
	SWAP_TYPE,
	SWAP_OFFSET,
	FILE_BIT,
	UFFD_WP = FILE_BIT + 3,
	HUGE,
	ZERO
};

static void print_number(const char *field, uint64_t add)
{
	if (!strcmp(field, "\\N"))
		fputs(" -", stdout);
	else
		printf(" %" PRIu64, (uint64_t)strtoull(field, NULL, 0) + add);
}

static bool expand(char *line, uint64_t page_size)
{
	uint64_t start, pages, frame_step;
	char *f[FIELDS];
	size_t n = 0;

	for (char *word; n < FIELDS && (word = strsep(&line, "\t\n"));)
		f[n++] = word;
	if (n != FIELDS)
		return false;
	start = strtoull(f[START], NULL, 0);
	pages = strtoull(f[PAGES], NULL, 0);
	frame_step = strcmp(f[ZERO], "1") || !strcmp(f[HUGE], "1");
	for (uint64_t i = 0; i < pages; i++) {
		printf("0x%" PRIx64 " %s", start + i * page_size, f[STATE]);
		print_number(f[PFN], i * frame_step);
		print_number(f[SWAP_TYPE], 0);
		print_number(f[SWAP_OFFSET], i);
		for (size_t bit = FILE_BIT; bit <= UFFD_WP; bit++)
			printf(" %s", strcmp(f[bit], "\\N") ? f[bit] : "-");
		putchar('\n');
	}
	return true;
}

int main(void)
{
	uint64_t page_size = (uint64_t)sysconf(_SC_PAGESIZE);
	char *line = NULL;
	size_t size = 0;

	while (getline(&line, &size, stdin) > 0) {
		if (!expand(line, page_size)) {
			fputs("rowpages: a line has not 12 fields\n", stderr);
			return 1;
		}
	}
	free(line);
	return 0;
}
