// SPDX-License-Identifier: GPL-2.0-only
/*
 * rowpages - expand rows into pages, for comparison with `pmref -s`. Reads lines of tab-separated
 *   start pages state pfn swap_type swap_offset file soft_dirty exclusive uffd_wp
 * (null as "-", booleans as 0 and 1) and prints a line a page, frame and slot counted up.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIELDS 10

enum { START, PAGES, STATE, PFN, SWAP_TYPE, SWAP_OFFSET, FILE_BIT, SOFT_DIRTY, EXCLUSIVE, UFFD_WP };

static void print_number(const char *field, uint64_t add)
{
	if (!strcmp(field, "-"))
		fputs(" -", stdout);
	else
		printf(" %" PRIu64, (uint64_t)strtoull(field, NULL, 0) + add);
}

static bool expand(char *line, uint64_t page_size)
{
	uint64_t start, pages;
	char *f[FIELDS];
	size_t n = 0;

	for (char *word; n < FIELDS && (word = strsep(&line, "\t\n"));)
		f[n++] = word;
	if (n != FIELDS)
		return false;
	start = strtoull(f[START], NULL, 0);
	pages = strtoull(f[PAGES], NULL, 0);
	for (uint64_t i = 0; i < pages; i++) {
		printf("0x%" PRIx64 " %s", start + i * page_size, f[STATE]);
		print_number(f[PFN], i);
		print_number(f[SWAP_TYPE], 0);
		print_number(f[SWAP_OFFSET], i);
		printf(" %s %s %s %s\n", f[FILE_BIT], f[SOFT_DIRTY], f[EXCLUSIVE], f[UFFD_WP]);
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
			fputs("rowpages: a line has not 10 fields\n", stderr);
			return 1;
		}
	}
	free(line);
	return 0;
}
