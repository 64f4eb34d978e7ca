// SPDX-License-Identifier: GPL-2.0-only
/*
 * slotcheck [-s SEED] DEVICE: are pages where they are said to be?
 *
 * Reads lines "INDEX OFFSET" on stdin and says for how many of them slot OFFSET of the swap device
 * holds page INDEX of a pattern (pattern.h): "right N wrong N". The first wrong one is shown on
 * stderr. Reads past the page cache, which knows nothing of what swap wrote.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pattern.h"

static int check(int fd, unsigned char *page, size_t size, uint64_t seed)
{
	uint64_t index, offset, right = 0, wrong = 0, word;

	while (scanf("%" SCNu64 " %" SCNu64, &index, &offset) == 2) {
		if (pread(fd, page, size, (off_t)(offset * size)) != (ssize_t)size) {
			fprintf(stderr, "slotcheck: slot %" PRIu64 ": %s\n", offset,
				strerror(errno));
			return 1;
		}
		if (pattern_is(page, size, seed, index)) {
			right++;
		} else if (!wrong++) {
			memcpy(&word, page, sizeof(word));
			fprintf(stderr,
				"slotcheck: slot %" PRIu64 " is not page %" PRIu64 ": %016" PRIx64
				", not %016" PRIx64 "\n",
				offset, index, word, pattern_word(seed, index));
		}
	}
	printf("right %" PRIu64 " wrong %" PRIu64 "\n", right, wrong);
	return 0;
}

int main(int argc, char **argv)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t seed = 0;
	void *page;
	int opt, fd;

	while ((opt = getopt(argc, argv, "s:")) == 's')
		seed = strtoull(optarg, NULL, 0);
	if (opt != -1 || optind + 1 != argc)
		return 2;
	fd = open(argv[optind], O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (fd < 0 || posix_memalign(&page, size, size)) {
		perror(argv[optind]);
		return 1;
	}
	return check(fd, page, size, seed);
}
