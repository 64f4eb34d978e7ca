// SPDX-License-Identifier: GPL-2.0-only
/*
 * pread PID START PAGES BATCH [flags] - the least that any reader of a page map must do: pread it
 * in batches of BATCH entries, and look at nothing. With "flags" also read /proc/kpageflags for
 * each page that is present, with a system call a page, as a reader does that knows no runs.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PRESENT (UINT64_C(1) << 63)
#define FRAME	((UINT64_C(1) << 55) - 1)

static int open_or_die(const char *path)
{
	int fd = open(path, O_RDONLY);

	if (fd < 0) {
		perror(path);
		exit(1);
	}
	return fd;
}

#define FILES 3

static void read_flags(const int fds[FILES], const uint64_t *words, size_t count)
{
	uint64_t word;

	for (size_t i = 0; i < count; i++)
		for (int f = 0; f < FILES && words[i] & PRESENT; f++)
			if (pread(fds[f], &word, 8, (off_t)((words[i] & FRAME) * 8)) != 8)
				exit(1);
}

int main(int argc, char **argv)
{
	uint64_t first, pages, batch;
	int pagemap, fds[FILES];
	bool flags;
	uint64_t *words;
	char path[64];

	if (argc < 5) {
		fprintf(stderr, "usage: pread PID START PAGES BATCH [flags]\n");
		return 2;
	}
	snprintf(path, sizeof(path), "/proc/%s/pagemap", argv[1]);
	pagemap = open_or_die(path);
	flags = argc > 5 && !strcmp(argv[5], "flags");
	if (flags) {
		fds[0] = open_or_die("/proc/kpageflags");
		fds[1] = open_or_die("/proc/kpagecount");
		fds[2] = open_or_die("/proc/kpagecgroup");
	}
	first = strtoull(argv[2], NULL, 0) / (uint64_t)sysconf(_SC_PAGESIZE);
	pages = strtoull(argv[3], NULL, 0);
	batch = strtoull(argv[4], NULL, 0);
	words = malloc(batch * sizeof(*words));
	while (words && pages) {
		size_t want = pages < batch ? pages : batch;
		ssize_t got = pread(pagemap, words, want * 8, (off_t)(first * 8));

		if (got < 8) {
			fprintf(stderr, "pread: short read\n");
			return 1;
		}
		if (flags)
			read_flags(fds, words, (size_t)got / 8);
		first += (uint64_t)got / 8;
		pages -= (uint64_t)got / 8;
	}
	free(words);
	return 0;
}
