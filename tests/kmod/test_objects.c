// SPDX-License-Identifier: GPL-2.0-only
/* OBJECTS: everything in shmem is found, mapped or not, each once; EXTENTS by key. */
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "kmodtest.h"

#define AREA 64UL

struct objects {
	struct pgscan_object *object;
	size_t nr;
	struct pgscan_objects last; /* as the last call left it */
};

static void get_objects(uint32_t flags, size_t vec_len, struct objects *all)
{
	struct pgscan_object *vec = calloc(vec_len, sizeof(*vec));
	struct pgscan_objects arg = {
		.size = sizeof(arg),
		.flags = flags,
		.vec = (uintptr_t)vec,
		.vec_len = vec_len,
		.object_size = sizeof(*vec),
	};
	int nr;

	memset(all, 0, sizeof(*all));
	do {
		nr = ioctl(dev_fd, PGSCAN_IOC_OBJECTS, &arg);
		CHECK(nr >= 0);
		CHECK((size_t)nr <= vec_len);
		all->object = realloc(all->object, (all->nr + nr + 1) * sizeof(*vec));
		memcpy(all->object + all->nr, vec, nr * sizeof(*vec));
		all->nr += nr;
	} while (arg.remaining);
	all->last = arg;
	free(vec);
}

static const struct pgscan_object *find(const struct objects *all, const char *name)
{
	const struct pgscan_object *found = NULL;
	size_t i;

	for (i = 0; i < all->nr; i++) {
		if (strcmp(all->object[i].name, name))
			continue;
		CHECK(!found);
		found = &all->object[i];
	}
	return found;
}

/* What it says must agree with its extents, and these with the swap device. */
static void check_object(const struct objects *all, const char *name, uint32_t flags, uint64_t seed)
{
	const struct pgscan_object *object = find(all, name);
	struct runs runs;

	if (!object) {
		fprintf(stderr, "no object %s\n", name);
		exit(1);
	}
	CHECK_EQ(object->size_bytes, AREA * PAGE);
	CHECK_EQ(object->flags, flags);
	CHECK(object->swapped_pages > AREA / 2);
	CHECK(S_ISREG(object->mode));
	get_extents(-1, &object->key, 7, &runs);
	CHECK_EQ(runs.extents_total.swapped_pages, object->swapped_pages);
	CHECK_EQ(runs.extents_total.key.ino, object->key.ino);
	CHECK_EQ(check_slots(&runs, 0, seed), object->swapped_pages);
	free_runs(&runs);
}

/* Write, push out and unmap: the memory of an object that nobody maps. */
static char *fill_fd(int fd, uint64_t seed)
{
	char *addr;

	CHECK(fd >= 0);
	CHECK_EQ(ftruncate(fd, AREA * PAGE), 0);
	addr = mmap(NULL, AREA * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(addr != MAP_FAILED);
	write_pages(addr, 0, AREA, seed);
	page_out(addr, AREA);
	return addr;
}

static void test_objects(void)
{
	int memfd = memfd_create("find-me", MFD_CLOEXEC), key = 0x7e57, id, fd;
	struct objects all;
	struct stat st;
	char *addr;

	/* A memfd that is only a descriptor. */
	munmap(fill_fd(memfd, 1), AREA * PAGE);
	/* A segment that nobody attaches. */
	id = shmget(key, AREA * PAGE, IPC_CREAT | IPC_EXCL | 0600);
	CHECK(id >= 0);
	addr = shmat(id, NULL, 0);
	write_pages(addr, 0, AREA, 2);
	page_out(addr, AREA);
	CHECK_EQ(shmdt(addr), 0);
	/* A file in a folder of tmpfs, closed. */
	CHECK(!mkdir("/dev/shm/folder", 0700) || errno == EEXIST);
	fd = open("/dev/shm/folder/closed", O_CREAT | O_RDWR, 0640);
	munmap(fill_fd(fd, 3), AREA * PAGE);
	close(fd);
	/* One that is mapped and unlinked. */
	fd = open("/dev/shm/gone", O_CREAT | O_RDWR, 0600);
	fill_fd(fd, 4);
	CHECK_EQ(unlink("/dev/shm/gone"), 0);
	close(fd);

	get_objects(0, 64, &all);
	check_object(&all, "memfd:find-me", PGSCAN_OBJ_F_KERNEL | PGSCAN_OBJ_F_UNLINKED, 1);
	check_object(&all, "SYSV00007e57", PGSCAN_OBJ_F_KERNEL | PGSCAN_OBJ_F_UNLINKED, 2);
	check_object(&all, "/folder/closed", 0, 3);
	check_object(&all, "/gone", PGSCAN_OBJ_F_MAPPED | PGSCAN_OBJ_F_UNLINKED, 4);
	CHECK_EQ(find(&all, "SYSV00007e57")->key.ino, id);
	CHECK_EQ(find(&all, "/folder/closed")->mode & 0777, 0640);
	CHECK_EQ(fstat(memfd, &st), 0);
	CHECK_EQ(find(&all, "memfd:find-me")->key.ino, st.st_ino);
	CHECK_EQ(find(&all, "memfd:find-me")->key.dev, st.st_dev);

	CHECK_EQ(shmctl(id, IPC_RMID, NULL), 0);
	CHECK_EQ(unlink("/dev/shm/folder/closed"), 0);
	get_objects(0, 64, &all);
	CHECK(!find(&all, "SYSV00007e57"));
	CHECK(!find(&all, "/folder/closed"));
}

/* More objects than fit into one call: each exactly once, whatever the size of the vector. */
static void test_cursor(void)
{
	enum { NR = 2500 };
	static const size_t lens[] = {7, 1000, 5000};
	struct objects all;
	char name[32];
	size_t i, l;

	for (i = 0; i < NR; i++) {
		snprintf(name, sizeof(name), "/dev/shm/cursor-%zu", i);
		close(open(name, O_CREAT | O_RDWR, 0600));
	}
	for (l = 0; l < ARRAY_SIZE(lens); l++) {
		static unsigned char seen[NR];
		unsigned int nr;

		memset(seen, 0, sizeof(seen));
		get_objects(PGSCAN_OBJECTS_ALL, lens[l], &all);
		CHECK_EQ(all.nr, all.last.total_inodes);
		for (i = 0; i < all.nr; i++) {
			if (sscanf(all.object[i].name, "/cursor-%u", &nr) == 1)
				CHECK_EQ(seen[nr]++, 0);
			CHECK(!i || all.object[i].key.dev > all.object[i - 1].key.dev ||
			      (all.object[i].key.dev == all.object[i - 1].key.dev &&
			       all.object[i].key.ino >= all.object[i - 1].key.ino));
		}
		for (i = 0; i < NR; i++)
			CHECK_EQ(seen[i], 1);
	}
	for (i = 0; i < NR; i++) {
		snprintf(name, sizeof(name), "/dev/shm/cursor-%zu", i);
		unlink(name);
	}
}

/* A path longer than the record keeps its end. */
static void test_long_name(void)
{
	char path[8 + 3 * 201] = "/dev/shm";
	struct objects all;
	size_t i, len;
	bool found = false;

	for (i = 0; i < 3; i++) {
		len = strlen(path);
		path[len] = '/';
		memset(path + len + 1, 'a' + i, 198);
		path[len + 199] = 0;
		if (i < 2)
			CHECK(!mkdir(path, 0700) || errno == EEXIST);
	}
	close(open(path, O_CREAT | O_RDWR, 0600));
	get_objects(PGSCAN_OBJECTS_ALL, 256, &all);
	for (i = 0; i < all.nr; i++) {
		const struct pgscan_object *object = &all.object[i];

		if (!(object->flags & PGSCAN_OBJ_F_NAME_CUT))
			continue;
		CHECK(!found);
		found = true;
		CHECK_EQ(strlen(object->name), PGSCAN_NAME_LEN - 1);
		CHECK_EQ(strcmp(object->name, path + strlen(path) - (PGSCAN_NAME_LEN - 1)), 0);
	}
	CHECK(found);
	unlink(path);
}

const struct test object_tests[] = {
	{"objects", test_objects},
	{"cursor", test_cursor},
	{"long-name", test_long_name},
	{},
};
