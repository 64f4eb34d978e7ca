// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a start has learnt of this kernel, kept for the next one: where members lie, which takes
 * reading 5 MB of type information, and where symbols are, which takes spelling 200,000 names.
 *
 * It is believed when it lies where root alone can write, is whole, and is of the kernel with this
 * build ID and of a pgscan that reads the same members; and then the test on our own memory still
 * has to confirm it. Symbols are kept as distances from _stext, which the randomization of the
 * kernel's base leaves as they are. Nothing here may fail: without a cache the start takes longer.
 */
#include "kmem_priv.h"

#include "cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>

#define FILE_NAME			"kernel-memory"
#define BUILD_ID_MAX			64u /* hexadecimal digits; of SHA-1, which is usual, 40 */
#define FORMAT				1u

#define SPELL(structure, member, bytes) #structure "." #member ":" #bytes "\n"

struct cache {
	char magic[8];
	uint64_t members; /* a hash of KMEM_MEMBERS: of another pgscan they may be others */
	char build_id[BUILD_ID_MAX];
	struct kmem_symbols symbols; /* less the address of _stext; 0: not known */
	struct kmem_layout layout;
	uint64_t sum; /* a hash of all before it */
};

/* FNV-1a, 64 bits: against accidents, not against an adversary, who would have to be root. */
static uint64_t hash(const void *data, size_t len)
{
	const unsigned char *at = data;
	uint64_t sum = UINT64_C(0xcbf29ce484222325);

	while (len--)
		sum = (sum ^ *at++) * UINT64_C(0x100000001b3);
	return sum;
}

/* Of a kernel without a build ID nothing is kept. */
static bool head(const struct pgs_kmem *kmem, struct cache *cache)
{
	static const char members[] = KMEM_MEMBERS(SPELL, SPELL);
	size_t len;
	const char *id = pgs_kcore_info(kmem->kcore, "BUILD-ID", &len);

	memset(cache, 0, sizeof(*cache));
	if (!id || !len || len > BUILD_ID_MAX)
		return false;
	memcpy(cache->magic, "pgskmem", sizeof("pgskmem"));
	memcpy(cache->build_id, id, len);
	cache->members = hash(members, sizeof(members)) + FORMAT;
	return true;
}

static void shift(uint64_t *addr, uint64_t by)
{
	if (*addr)
		*addr += by;
}

static void shift_symbols(struct kmem_symbols *symbols, uint64_t by)
{
	shift(&symbols->super_blocks, by);
	shift(&symbols->shmem_ops, by);
	shift(&symbols->swap_info, by);
	shift(&symbols->nr_swapfiles, by);
	shift(&symbols->swapper_spaces, by);
}

/* ---- the file -------------------------------------------------------------------------------- */

static bool is_roots(int fd, mode_t type)
{
	struct stat st;

	return !fstat(fd, &st) && (st.st_mode & S_IFMT) == type && !st.st_uid &&
	       !(st.st_mode & (S_IWGRP | S_IWOTH));
}

/* A descriptor of the folder, -1 where it is not root's, nor are we. */
static int open_folder(const char *folder)
{
	int fd = geteuid() ? -1 : open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && !is_roots(fd, S_IFDIR))
		pgs_closep(&fd);
	return fd;
}

static bool read_file(const char *folder, struct cache *cache)
{
	_cleanup_close_ int dir = open_folder(folder), fd = -1;
	char more;

	if (dir < 0)
		return false;
	fd = openat(dir, FILE_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	return fd >= 0 && is_roots(fd, S_IFREG) &&
	       read(fd, cache, sizeof(*cache)) == (ssize_t)sizeof(*cache) &&
	       read(fd, &more, sizeof(more)) == 0;
}

/* Under another name first: who reads meanwhile has the old one or the new one, whole. */
static void write_file(const char *folder, const struct cache *cache)
{
	_cleanup_close_ int dir = -1, fd = -1;
	char name[64];

	if (geteuid() || (mkdir(folder, 0700) && errno != EEXIST))
		return;
	dir = open_folder(folder);
	snprintf(name, sizeof(name), "." FILE_NAME ".%d", (int)getpid());
	fd = dir < 0 ? -1
		     : openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			      0600);
	if (fd < 0)
		return;
	if (write(fd, cache, sizeof(*cache)) != (ssize_t)sizeof(*cache) ||
	    renameat(dir, name, dir, FILE_NAME))
		unlinkat(dir, name, 0);
}

/* ---- load and store -------------------------------------------------------------------------- */

bool pgs_kmem_cache_load(struct pgs_kmem *kmem, const char *folder)
{
	struct cache want, have;
	uint64_t stext;

	if (!pgs_mech_enabled(kmem->ctx, PGS_MECH_KCORE_CACHE) || !head(kmem, &want) ||
	    pgs_kcore_symbol(kmem->kcore, "_stext", &stext) || !read_file(folder, &have) ||
	    memcmp(&have, &want, offsetof(struct cache, symbols)) != 0 ||
	    have.sum != hash(&have, offsetof(struct cache, sum)))
		return false;
	shift_symbols(&have.symbols, stext);
	kmem->sym = have.symbols;
	kmem->at = have.layout;
	return true;
}

void pgs_kmem_cache_store(const struct pgs_kmem *kmem, const char *folder)
{
	struct cache cache;
	uint64_t stext;

	if (!pgs_mech_enabled(kmem->ctx, PGS_MECH_KCORE_CACHE) || !head(kmem, &cache) ||
	    pgs_kcore_symbol(kmem->kcore, "_stext", &stext))
		return;
	cache.symbols = kmem->sym;
	shift_symbols(&cache.symbols, -stext);
	cache.layout = kmem->at;
	cache.sum = hash(&cache, offsetof(struct cache, sum));
	write_file(folder, &cache);
}
