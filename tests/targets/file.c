// SPDX-License-Identifier: GPL-2.0-only
/*
 * file - mappings of a file on a disk.
 *   path=FILE pages=N     the file, made here if it is not there; it is left
 *   cached=LIST           these pages are in the page cache, beside those that are touched
 *   shared=LIST           region "shared": these pages touched (read)
 *   private=LIST          region "private": these pages copied on write
 */
#include "target.h"

static int file_make(const char *path, size_t size)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	char block[4096];

	if (fd < 0)
		target_die("open %s", path);
	for (size_t done = 0; done < size; done += sizeof(block)) {
		memset(block, 'a' + (int)(done / sizeof(block) % 26), sizeof(block));
		if (pwrite(fd, block, sizeof(block), (off_t)done) != sizeof(block))
			target_die("write %s", path);
	}
	/* Dirty pages cannot be dropped; read-ahead would bring in what nobody asked for. */
	if (fsync(fd) || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) ||
	    posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM))
		target_die("drop the cache of %s", path);
	return fd;
}

struct cache_in {
	int fd;
	size_t page_size;
};

static void cache_in(void *arg, size_t first, size_t nr)
{
	const struct cache_in *c = arg;
	char byte;

	for (size_t i = first; i < first + nr; i++)
		if (pread(c->fd, &byte, 1, (off_t)(i * c->page_size)) != 1)
			target_die("read");
}

int main(int argc, char **argv)
{
	static const char *const keys[] = {"path", "pages", "cached", "shared", "private", NULL};
	const struct target_region *r;
	struct cache_in c;
	const char *cached;
	struct target t;
	size_t pages;

	(void)argc;
	target_init(&t, argv, keys);
	pages = target_number(target_word(argv, "pages", "64"));
	c.page_size = t.page_size;
	c.fd = file_make(target_word(argv, "path", ""), pages * t.page_size);
	r = target_region_add(&t, "shared", target_map(&t, pages, PROT_READ, MAP_SHARED, c.fd, 0),
			      pages);
	/* No read-ahead; a fault maps what is cached around it too, so caching comes last. */
	if (madvise(r->addr, pages * t.page_size, MADV_RANDOM))
		target_die("MADV_RANDOM");
	target_read(&t, r, target_word(argv, "shared", "none"));

	r = target_region_add(&t, "private",
			      target_map(&t, pages, PROT_READ | PROT_WRITE, MAP_PRIVATE, c.fd, 0),
			      pages);
	if (madvise(r->addr, pages * t.page_size, MADV_RANDOM))
		target_die("MADV_RANDOM");
	target_write(&t, r, target_word(argv, "private", "none"));
	cached = target_word(argv, "cached", "none");
	if (!target_list(cached, pages, cache_in, &c))
		target_usage(cached);
	return target_serve(&t, NULL);
}
