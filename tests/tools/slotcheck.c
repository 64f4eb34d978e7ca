// SPDX-License-Identifier: GPL-2.0-only
/*
 * slotcheck PID DEVICE: are the pages of a target where they are said to be?
 *
 * Reads lines "ADDRESS OFFSET" (hex, decimal) on stdin and says for how many of them slot OFFSET of
 * the swap device holds what the target PID wrote at ADDRESS: "right N wrong N". The first wrong
 * one is shown on stderr. Reads past the page cache, which knows nothing of what swap wrote.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../targets/pattern.h"

static int check(int fd, unsigned char *page, size_t size, uint64_t pid)
{
	uint64_t addr, offset, right = 0, wrong = 0, word;

	while (scanf("%" SCNx64 " %" SCNu64, &addr, &offset) == 2) {
		if (pread(fd, page, size, (off_t)(offset * size)) != (ssize_t)size) {
			fprintf(stderr, "slotcheck: slot %" PRIu64 ": %s\n", offset,
				strerror(errno));
			return 1;
		}
		if (pattern_is(page, size, pid, addr / size)) {
			right++;
		} else if (!wrong++) {
			memcpy(&word, page, sizeof(word));
			fprintf(stderr,
				"slotcheck: slot %" PRIu64 " does not hold 0x%" PRIx64
				": %016" PRIx64 ", not %016" PRIx64 "\n",
				offset, addr, word, pattern_word(pid, addr / size));
		}
	}
	printf("right %" PRIu64 " wrong %" PRIu64 "\n", right, wrong);
	return 0;
}

int main(int argc, char **argv)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *page;
	int fd;

	if (argc != 3)
		return 2;
	fd = open(argv[2], O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (fd < 0 || posix_memalign(&page, size, size)) {
		perror(argv[2]);
		return 1;
	}
	return check(fd, page, size, strtoull(argv[1], NULL, 0));
}
