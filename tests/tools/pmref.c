// SPDX-License-Identifier: GPL-2.0-only
/*
 * pmref - the independent reader that pgscan is compared with: one pread of 8 bytes a page from
 * /proc/PID/pagemap, and from /proc/kpageflags and /proc/kpagecount for each frame. Slow, obvious,
 * and without a line of src/.
 *
 *   pmref PID START PAGES [START PAGES]...     "addr word flags count" a page, in hex; "-" where
 *                                              there is no frame or none is shown
 *   pmref -s PID START PAGES ...               "addr state pfn swap_type swap_offset file
 *                                              soft_dirty exclusive uffd_wp": what rowpages prints
 *                                              for pgscan's rows
 *   pmref -w PID START PAGES ...               the words alone, as bytes, like dd would
 *
 * The layout of a word is that of Documentation/admin-guide/mm/pagemap.rst.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum mode { MODE_RAW, MODE_STATE, MODE_WORDS };

struct reader {
	int pagemap, kpageflags, kpagecount;
	uint64_t page_size;
	enum mode mode;
};

static void die(const char *what)
{
	fprintf(stderr, "pmref: %s: %s\n", what, strerror(errno));
	exit(1);
}

static bool word_at(int fd, uint64_t index, uint64_t *ret_word)
{
	return fd >= 0 && pread(fd, ret_word, 8, (off_t)(index * 8)) == 8;
}

static void print_raw(const struct reader *r, uint64_t addr, uint64_t word)
{
	uint64_t pfn = word & ((UINT64_C(1) << 55) - 1), flags, count;

	printf("0x%" PRIx64 " 0x%016" PRIx64, addr, word);
	if (!(word >> 63) || !pfn)
		printf(" - -\n");
	else if (word_at(r->kpageflags, pfn, &flags) && word_at(r->kpagecount, pfn, &count))
		printf(" 0x%016" PRIx64 " %" PRIu64 "\n", flags, count);
	else
		printf(" ? ?\n");
}

/*
 * Swap types of entries that are not swap, on kernels since 6.11 (include/linux/swap.h counts them
 * down from 31): 31 markers, whose offset says which. The tests that use -s live on such a kernel.
 */
static const char *state_of(uint64_t word)
{
	uint64_t type = word & 31, offset = word >> 5 & ((UINT64_C(1) << 50) - 1);

	if (word >> 63)
		return "present";
	if (!(word >> 62 & 1))
		return "none";
	if (word >> 58 & 1 || (type == 31 && offset & 4))
		return "guard";
	if (type == 31)
		return offset & 2 ? "poisoned" : "uffd_wp_marker";
	return type < 23 ? "swapped" : "special";
}

static void print_state(uint64_t addr, uint64_t word)
{
	const char *state = state_of(word);

	printf("0x%" PRIx64 " %s ", addr, state);
	if (word >> 63 && word & ((UINT64_C(1) << 55) - 1))
		printf("%" PRIu64 " - -", word & ((UINT64_C(1) << 55) - 1));
	else if (!strcmp(state, "swapped"))
		printf("- %" PRIu64 " %" PRIu64, word & 31, word >> 5 & ((UINT64_C(1) << 50) - 1));
	else
		printf("- - -");
	printf(" %u %u %u %u\n", (unsigned int)(word >> 61 & 1), (unsigned int)(word >> 55 & 1),
	       (unsigned int)(word >> 56 & 1), (unsigned int)(word >> 57 & 1));
}

static void read_range(const struct reader *r, uint64_t start, uint64_t pages)
{
	for (uint64_t i = 0; i < pages; i++) {
		uint64_t word, index = start / r->page_size + i;

		if (!word_at(r->pagemap, index, &word)) {
			printf("0x%" PRIx64 " unreadable\n", index * r->page_size);
			continue;
		}
		if (r->mode == MODE_WORDS)
			fwrite(&word, 8, 1, stdout);
		else if (r->mode == MODE_STATE)
			print_state(index * r->page_size, word);
		else
			print_raw(r, index * r->page_size, word);
	}
}

int main(int argc, char **argv)
{
	struct reader r = {.mode = MODE_RAW, .page_size = (uint64_t)sysconf(_SC_PAGESIZE)};
	char path[64];

	if (argc > 1 && (!strcmp(argv[1], "-s") || !strcmp(argv[1], "-w"))) {
		r.mode = argv[1][1] == 's' ? MODE_STATE : MODE_WORDS;
		argv++;
		argc--;
	}
	if (argc < 4 || argc % 2) {
		fputs("usage: pmref [-s|-w] PID START PAGES [START PAGES]...\n", stderr);
		return 2;
	}
	snprintf(path, sizeof(path), "/proc/%s/pagemap", argv[1]);
	r.pagemap = open(path, O_RDONLY);
	if (r.pagemap < 0)
		die(path);
	r.kpageflags = open("/proc/kpageflags", O_RDONLY); /* root only; "?" otherwise */
	r.kpagecount = open("/proc/kpagecount", O_RDONLY);
	for (int i = 2; i + 1 < argc; i += 2)
		read_range(&r, strtoull(argv[i], NULL, 0), strtoull(argv[i + 1], NULL, 0));
	return fflush(stdout) || ferror(stdout);
}
