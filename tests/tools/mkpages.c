// SPDX-License-Identifier: GPL-2.0-only
/*
 * mkpages - make the files of 64-bit words that /proc has (pagemap, kpageflags, kpagecount) from a
 * description that people can read. `mkpages FILE <DESCRIPTION`: a line is
 *
 *   ADDR COUNT WORD...       pages from that address on (it is a multiple of the page size)
 *   #N COUNT WORD...         items from index N on, for the files that are indexed by frame
 *
 * and the WORDs are ored together: present swap file guard uffd_wp exclusive soft_dirty (bits of
 * Documentation/admin-guide/mm/pagemap.rst), pfn=N, type=N, offset=N, raw=N, flags=a,b,… (names of
 * include/uapi/linux/kernel-page-flags.h); pfn and offset count up from page to page, and step=N is
 * what is added to a raw word. Lines that start with a blank or ';' and empty lines are comments.
 * What is not described is a hole in the file: it reads as 0.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE_SIZE 4096 /* of every tree under tests/fixtures */

static const struct {
	const char *name;
	unsigned int bit;
} bits[] = {
	{"present", 63}, {"swap", 62},	    {"file", 61},	{"guard", 58},
	{"uffd_wp", 57}, {"exclusive", 56}, {"soft_dirty", 55},
};

static const char *const flag_names[64] = {
	"locked",      "error",	    "referenced", "uptodate",	   "dirty",	    "lru",
	"active",      "slab",	    "writeback",  "reclaim",	   "buddy",	    "mmap",
	"anon",	       "swapcache", "swapbacked", "compound_head", "compound_tail", "huge",
	"unevictable", "hwpoison",  "nopage",	  "ksm",	   "thp",	    "offline",
	"zero_page",   "idle",	    "pgtable",
};

static uint64_t number(const char *text)
{
	char *end;
	uint64_t n = strtoull(text, &end, 0);

	if (end == text || *end) {
		fprintf(stderr, "mkpages: no number: %s\n", text);
		exit(1);
	}
	return n;
}

static bool value_of(const char *word, const char *key, uint64_t *ret_value)
{
	size_t len = strlen(key);

	if (strncmp(word, key, len) || word[len] != '=')
		return false;
	*ret_value = number(word + len + 1);
	return true;
}

static uint64_t flags_of(char *list)
{
	uint64_t flags = 0;

	for (char *name; (name = strsep(&list, ","));) {
		unsigned int bit = 0;

		while (bit < 64 && (!flag_names[bit] || strcmp(flag_names[bit], name)))
			bit++;
		if (bit == 64) {
			fprintf(stderr, "mkpages: no flag: %s\n", name);
			exit(1);
		}
		flags |= UINT64_C(1) << bit;
	}
	return flags;
}

/* Or what @word says into *@entry; *@step is what the next page has more. */
static void apply(char *word, uint64_t *entry, uint64_t *step)
{
	uint64_t value;

	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		if (!strcmp(bits[i].name, word)) {
			*entry |= UINT64_C(1) << bits[i].bit;
			return;
		}
	}
	if (value_of(word, "pfn", &value)) {
		*entry |= value;
		*step = 1;
	} else if (value_of(word, "type", &value)) {
		*entry |= value;
	} else if (value_of(word, "offset", &value)) {
		*entry |= value << 5;
		*step = 32;
	} else if (value_of(word, "raw", &value)) {
		*entry |= value;
	} else if (value_of(word, "step", &value)) {
		*step = value;
	} else if (!strncmp(word, "flags=", 6)) {
		*entry |= flags_of(word + 6);
	} else {
		fprintf(stderr, "mkpages: unknown word: %s\n", word);
		exit(1);
	}
}

static void describe(int fd, char *line)
{
	char *save, *at = strtok_r(line, " \t\n", &save), *nr = strtok_r(NULL, " \t\n", &save);
	uint64_t index, count, entry = 0, step = 0;

	if (!at || !nr) {
		fputs("mkpages: a line without a count\n", stderr);
		exit(1);
	}
	index = *at == '#' ? number(at + 1) : number(at) / PAGE_SIZE;
	count = number(nr);
	for (char *word; (word = strtok_r(NULL, " \t\n", &save));)
		apply(word, &entry, &step);
	for (uint64_t i = 0; i < count; i++, entry += step) {
		if (pwrite(fd, &entry, 8, (off_t)((index + i) * 8)) != 8) {
			fprintf(stderr, "mkpages: write: %s\n", strerror(errno));
			exit(1);
		}
	}
}

int main(int argc, char **argv)
{
	char *line = NULL;
	size_t size = 0;
	int fd;

	if (argc != 2) {
		fputs("usage: mkpages FILE <DESCRIPTION\n", stderr);
		return 2;
	}
	fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0) {
		fprintf(stderr, "mkpages: %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	while (getline(&line, &size, stdin) > 0)
		if (!strchr(" ;\t\n", *line))
			describe(fd, line);
	free(line);
	return close(fd) ? 1 : 0;
}
