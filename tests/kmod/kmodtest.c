// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmodtest [-s DEVICE]... TEST: one test of the module, by its ioctls alone.
 *
 * -s names the swap areas by type. Needs root, and the module. Status 0: as it must be; 1: not,
 * and stderr says what; 77: this kernel lacks what the test needs.
 */
#include "kmodtest.h"

int dev_fd, self_fd;
const char *swap_devices[8];

static const struct test *const suites[] = {
	arg_tests, shmem_tests, slot_tests, object_tests, zone_tests, cost_tests, scan_tests,
};

int open_pagemap(int pid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0);
	return fd;
}

uint64_t pagemap_word(int fd, const void *addr)
{
	uint64_t word;

	CHECK_EQ(pread(fd, &word, sizeof(word), (uintptr_t)addr / PAGE * sizeof(word)),
		 sizeof(word));
	return word;
}

int new_memfd(size_t pages)
{
	int fd = memfd_create("kmodtest", MFD_CLOEXEC);

	CHECK(fd >= 0);
	CHECK_EQ(ftruncate(fd, pages * PAGE), 0);
	return fd;
}

char *map_pages(int fd, size_t pages, int flags)
{
	char *addr = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, flags, fd, 0);

	CHECK(addr != MAP_FAILED);
	return addr;
}

void write_pages(char *addr, size_t first, size_t pages, uint64_t seed)
{
	size_t i;

	for (i = first; i < first + pages; i++)
		pattern_write((unsigned char *)addr + i * PAGE, PAGE, seed, i);
}

static bool is_under_writeback(void)
{
	char line[128];
	long pages = 0;
	FILE *f = fopen("/proc/vmstat", "re");

	CHECK(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "nr_writeback %ld", &pages) == 1)
			break;
	}
	fclose(f);
	return pages > 0;
}

/*
 * A page on its way out is put back by the first try, and freed by one after its I/O. What counts
 * as swapped is on the device when nothing is under writeback any more.
 */
void page_out(char *addr, size_t pages)
{
	int round;

	for (round = 0; round < 5; round++) {
		CHECK_EQ(madvise(addr, pages * PAGE, MADV_PAGEOUT), 0);
		do
			usleep(10000);
		while (is_under_writeback());
	}
}

static void add_runs(struct runs *runs, const struct pgscan_run *run, size_t nr)
{
	runs->run = realloc(runs->run, (runs->nr + nr + 1) * sizeof(*run));
	CHECK(runs->run);
	memcpy(runs->run + runs->nr, run, nr * sizeof(*run));
	runs->nr += nr;
}

static void add_shmem_counts(struct pgscan_shmem *total, const struct pgscan_shmem *arg)
{
	total->none_pages += arg->none_pages;
	total->mapped_pages += arg->mapped_pages;
	total->swapped_pages += arg->swapped_pages;
	total->cached_pages += arg->cached_pages;
	total->poisoned_pages += arg->poisoned_pages;
	total->other_pages += arg->other_pages;
}

void get_shmem_states(int pagemap_fd, const void *addr, size_t bytes, size_t vec_len, uint64_t want,
		      struct runs *runs)
{
	struct pgscan_run *vec = calloc(vec_len, sizeof(*vec));
	struct pgscan_shmem arg = {
		.size = sizeof(arg),
		.pagemap_fd = pagemap_fd,
		.start = (uintptr_t)addr,
		.end = (uintptr_t)addr + bytes,
		.vec = (uintptr_t)vec,
		.vec_len = vec_len,
		.want = want,
	};
	int nr;

	memset(runs, 0, sizeof(*runs));
	do {
		nr = ioctl(dev_fd, PGSCAN_IOC_SHMEM, &arg);
		CHECK(nr >= 0);
		CHECK((size_t)nr <= vec_len);
		CHECK(arg.walk_end > arg.start && arg.walk_end <= arg.end);
		add_runs(runs, vec, nr);
		add_shmem_counts(&runs->total, &arg);
		arg.start = arg.walk_end;
	} while (arg.walk_end < arg.end);
	free(vec);
}

void get_shmem(int pagemap_fd, const void *addr, size_t bytes, size_t vec_len, struct runs *runs)
{
	get_shmem_states(pagemap_fd, addr, bytes, vec_len, 0, runs);
}

void get_extents(int fd, const struct pgscan_key *key, size_t vec_len, struct runs *runs)
{
	struct pgscan_run *vec = calloc(vec_len, sizeof(*vec));
	struct pgscan_extents arg = {
		.size = sizeof(arg),
		.fd = fd,
		.end = ~0ULL,
		.vec = (uintptr_t)vec,
		.vec_len = vec_len,
	};
	int nr;

	memset(runs, 0, sizeof(*runs));
	do {
		arg.key = key ? *key : (struct pgscan_key){};
		nr = ioctl(dev_fd, PGSCAN_IOC_EXTENTS, &arg);
		CHECK(nr >= 0);
		CHECK((size_t)nr <= vec_len);
		add_runs(runs, vec, nr);
		runs->extents_total.swapped_pages += arg.swapped_pages;
		runs->extents_total.cached_pages += arg.cached_pages;
		runs->extents_total.poisoned_pages += arg.poisoned_pages;
		runs->extents_total.key = arg.key;
		arg.start = arg.walk_end;
	} while (arg.walk_end < arg.end);
	free(vec);
}

void free_runs(struct runs *runs)
{
	free(runs->run);
}

static void check_slot(const struct pgscan_run *run, size_t i, uint64_t index, uint64_t seed)
{
	static unsigned char page[4096] __attribute__((aligned(4096)));
	static int fds[ARRAY_SIZE(swap_devices)];
	uint64_t slot = run->slot + i;

	CHECK(run->swap_type < ARRAY_SIZE(fds) && swap_devices[run->swap_type]);
	if (!fds[run->swap_type])
		fds[run->swap_type] =
			open(swap_devices[run->swap_type], O_RDONLY | O_DIRECT | O_CLOEXEC);
	CHECK(fds[run->swap_type] > 0);
	CHECK_EQ(pread(fds[run->swap_type], page, PAGE, slot * PAGE), PAGE);
	if (!pattern_is(page, PAGE, seed, index)) {
		fprintf(stderr, "page %llu is not at slot %llu of type %u\n",
			(unsigned long long)index, (unsigned long long)slot, run->swap_type);
		exit(1);
	}
}

size_t check_slots(const struct runs *runs, uint64_t base, uint64_t seed)
{
	size_t i, page, checked = 0;

	for (i = 0; i < runs->nr; i++) {
		const struct pgscan_run *run = &runs->run[i];

		if (run->state != PGSCAN_RUN_SWAPPED)
			continue;
		for (page = 0; page < run->pages; page++, checked++)
			check_slot(run, page, (run->start - base) / PAGE + page, seed);
	}
	return checked;
}

size_t smaps_pages(const void *addr, const char *field)
{
	unsigned long start, end, kib;
	bool inside = false;
	char line[4096];
	size_t len = strlen(field);
	FILE *f = fopen("/proc/self/smaps", "re");

	CHECK(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			inside = (uintptr_t)addr >= start && (uintptr_t)addr < end;
		else if (inside && !strncmp(line, field, len) &&
			 sscanf(line + len, ": %lu", &kib) == 1)
			break;
	}
	CHECK(!feof(f));
	fclose(f);
	return kib / (PAGE / 1024);
}

static void run_test(const char *name)
{
	const struct test *test;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(suites); i++) {
		for (test = suites[i]; test->name; test++) {
			if (!strcmp(test->name, name)) {
				test->run();
				exit(0);
			}
		}
	}
	fprintf(stderr, "kmodtest: no test '%s'\n", name);
	exit(2);
}

int main(int argc, char **argv)
{
	size_t nr = 0;
	int opt;

	while ((opt = getopt(argc, argv, "s:")) == 's') {
		CHECK(nr < ARRAY_SIZE(swap_devices));
		swap_devices[nr++] = optarg;
	}
	if (opt != -1 || optind + 1 != argc)
		return 2;
	dev_fd = open(PGSCAN_DEVICE, O_RDWR | O_CLOEXEC);
	CHECK(dev_fd >= 0);
	self_fd = open_pagemap(getpid());
	run_test(argv[optind]);
}
