// SPDX-License-Identifier: GPL-2.0-only
/*
 * oddname - mappings whose names are hard to print, one page each, all written: regions "space",
 * "newline", … of files in dir=DIR (left there for the test's tear-down), and a comm of odd bytes.
 * What /proc/PID/maps does with them: a newline becomes \012, every other byte stays.
 */
#include "target.h"

#include <sys/prctl.h>

static const struct {
	const char *region, *name;
	bool unlink;
} files[] = {
	{"space", "two  words ", false},
	{"newline", "line\nline", false},
	{"tab", "tab\there", false},
	{"quote", "\"quoted\" and 'quoted' back\\slash", false},
	{"badutf8",
	 "bad\xfe\xff"
	 "utf8\xc3",
	 false},
	{"utf8", "\xc3\xa9t\xc3\xa9", false},
	{"control", "esc\x1b[31mred\x07", false},
	{"octal", "literal\\012digits", false},
	{"live_deleted", "kept (deleted)", false},
	{"gone", "gone", true},
	{"gone_deleted", "gone too (deleted)", true},
};

static void add_file(struct target *t, const char *dir, size_t i)
{
	char path[4096];
	char *p;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, files[i].name);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)t->page_size))
		target_die("%s", path);
	p = target_map(t, 1, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (files[i].unlink && unlink(path))
		target_die("unlink %s", path);
	close(fd);
	target_write(t, target_region_add(t, files[i].region, p, 1), "all");
}

static void add_memfd(struct target *t, const char *region, const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC);
	char *p;

	if (fd < 0 || ftruncate(fd, (off_t)t->page_size))
		target_die("memfd");
	p = target_map(t, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	target_write(t, target_region_add(t, region, p, 1), "all");
}

int main(int argc, char **argv)
{
	static const char *const keys[] = {"dir", NULL};
	struct target t;
	const char *dir;

	(void)argc;
	target_init(&t, argv, keys);
	dir = target_word(argv, "dir", ".");
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		add_file(&t, dir, i);
	add_memfd(&t, "memfd_quote", "it's \"quoted\"");
	add_memfd(&t, "memfd_deleted", "named (deleted)");
	if (prctl(PR_SET_NAME, "a b)\n(\"\xfe\\c"))
		target_die("PR_SET_NAME");
	return target_serve(&t, NULL);
}
