// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemwatch SECONDS: read kernel memory in a loop, beside whatever else goes on, with the library
 * itself, as starting pgscan each time would be too slow to meet a race.
 *
 * An object of our own that nobody changes, all of it in swap, must be found to have the same slots
 * each time, by our descriptor and in the list of all objects; and of no object, however it
 * changes, may a slot be told that no swap area has. Prints "KEY VALUE" lines; status 1 when
 * anything was wrong. The start is timed first, in microseconds: what the pages of an object need
 * (start_us), and the rest (symbols_us).
 */
#include "../../src/cleanup.h"
#include "../../src/kmem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PAGES 3000u
#define RUNS  4096u

struct watch {
	struct pgs_kmem *kmem;
	int fd;
	struct stat st;
	struct pgs_kentries *first, *runs;
	int nr_first;
	struct pgs_kmem_area areas[PGS_KMEM_AREAS_MAX];
	int nr_areas;
	uint64_t lookups, wrong, lists, lost, missed, objects, slots, implausible, racy, longest_us;
};

static __attribute__((noreturn)) void die(const char *what, int err)
{
	fprintf(stderr, "kmemwatch: %s: %s\n", what, strerror(-err));
	exit(2);
}

static uint64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

static int read_own(struct watch *w, struct pgs_kentries *runs)
{
	struct pgs_kobject object;
	int r = pgs_kmem_object(w->kmem, w->fd, &object);

	return r ? r : pgs_kmem_entries(w->kmem, &object, 0, PAGES, runs, RUNS);
}

static uint64_t count_swapped(const struct pgs_kentries *runs, int nr)
{
	uint64_t pages = 0;

	for (int i = 0; i < nr; i++)
		pages += runs[i].entry == PGS_KENTRY_SWAPPED ? runs[i].pages : 0;
	return pages;
}

/* Pages under writeback are not taken at the first go. */
static void make_quiet(struct watch *w)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE), size = PAGES * page_size;
	char *p;

	w->fd = memfd_create("kmemwatch", MFD_CLOEXEC);
	if (w->fd < 0 || ftruncate(w->fd, (off_t)size) || fstat(w->fd, &w->st))
		die("memfd", -errno);
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, w->fd, 0);
	if (p == MAP_FAILED)
		die("mmap", -errno);
	for (size_t i = 0; i < PAGES; i++)
		memset(p + i * page_size, (int)i | 1, 64);
	for (int try = 0; try < 100; try++) {
		madvise(p, size, MADV_PAGEOUT);
		w->nr_first = read_own(w, w->first);
		if (w->nr_first < 0)
			die("our own object", w->nr_first);
		if (count_swapped(w->first, w->nr_first) == PAGES)
			return;
		usleep(50000);
	}
	die("our own object is not all in swap", -EBUSY);
}

static bool is_same(const struct pgs_kentries *a, const struct pgs_kentries *b)
{
	return a->index == b->index && a->pages == b->pages && a->entry == b->entry &&
	       a->swap_type == b->swap_type && a->slot == b->slot && !a->racy && !b->racy;
}

static void look_at_own(struct watch *w)
{
	int nr = read_own(w, w->runs);
	bool same = nr == w->nr_first;

	for (int i = 0; i < nr && same; i++)
		same = is_same(&w->runs[i], &w->first[i]);
	w->lookups++;
	w->wrong += !same;
}

static bool is_plausible(const struct watch *w, const struct pgs_kentries *run)
{
	for (int i = 0; i < w->nr_areas; i++)
		if (w->areas[i].type == run->swap_type)
			return run->slot && run->slot < w->areas[i].slots &&
			       run->pages <= w->areas[i].slots - run->slot;
	return false;
}

static void look_into(struct watch *w, const struct pgs_kobject *object)
{
	uint64_t from = 0, end = object->size_bytes / (uint64_t)sysconf(_SC_PAGESIZE);

	while (from < end) {
		int nr = pgs_kmem_entries(w->kmem, object, from, end, w->runs, RUNS);

		if (nr < 0)
			return;
		for (int i = 0; i < nr; i++) {
			w->racy += w->runs[i].racy;
			if (w->runs[i].entry != PGS_KENTRY_SWAPPED)
				continue;
			w->slots += w->runs[i].pages;
			w->implausible += !is_plausible(w, &w->runs[i]);
		}
		from = w->runs[nr - 1].index + w->runs[nr - 1].pages;
	}
}

static void look_at_all(struct watch *w)
{
	struct pgs_kobjects list;
	bool found = false;
	int r = pgs_kmem_list(w->kmem, &list);

	w->lists++;
	if (r) {
		w->lost++;
		return;
	}
	for (size_t i = 0; i < list.nr; i++) {
		w->objects++;
		if (list.objects[i].ino == w->st.st_ino && list.objects[i].dev == w->st.st_dev)
			found |= list.objects[i].swapped_pages == PAGES;
		look_into(w, &list.objects[i]);
	}
	w->missed += !found;
	pgs_kobjects_fini(&list);
}

static void start(struct watch *w)
{
	uint64_t before = now_us(), middle;
	int r = pgs_kmem_start(w->kmem);

	if (r)
		die(pgs_kmem_reason(w->kmem, PGS_KMEM_OBJECT), r);
	middle = now_us();
	if (!pgs_kmem_has(w->kmem, PGS_KMEM_LIST) || !pgs_kmem_has(w->kmem, PGS_KMEM_AREAS))
		die(pgs_kmem_reason(w->kmem, PGS_KMEM_AREAS), -EOPNOTSUPP);
	printf("start_us %llu\nsymbols_us %llu\n", (unsigned long long)(middle - before),
	       (unsigned long long)(now_us() - middle));
}

static int report(const struct watch *w)
{
	const struct {
		const char *key;
		uint64_t value;
	} rows[] = {
		{"lookups", w->lookups}, {"wrong", w->wrong},
		{"lists", w->lists},	 {"lost", w->lost},
		{"missed", w->missed},	 {"objects", w->objects},
		{"slots", w->slots},	 {"implausible", w->implausible},
		{"racy", w->racy},	 {"longest_us", w->longest_us},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		printf("%s %llu\n", rows[i].key, (unsigned long long)rows[i].value);
	return w->wrong || w->missed || w->implausible;
}

int main(int argc, char **argv)
{
	struct watch w = {.fd = -1};
	struct pgs_ctx *ctx;
	uint64_t end;

	if (argc != 2)
		return 2;
	w.first = calloc(RUNS, sizeof(*w.first));
	w.runs = calloc(RUNS, sizeof(*w.runs));
	if (!w.first || !w.runs || pgs_ctx_open(NULL, &ctx))
		die("start", -ENOMEM);
	w.kmem = pgs_kmem_new(ctx);
	start(&w);
	end = now_us() + strtoull(argv[1], NULL, 10) * 1000000;
	if (!strcmp(argv[1], "0"))
		return 0;
	make_quiet(&w);
	w.nr_areas = pgs_kmem_areas(w.kmem, w.areas);
	while (now_us() < end) {
		uint64_t before = now_us();

		look_at_own(&w);
		if (w.lookups % 4 == 0)
			look_at_all(&w);
		if (now_us() - before > w.longest_us)
			w.longest_us = now_us() - before;
	}
	return report(&w);
}
