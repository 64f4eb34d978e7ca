// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which pages make one run, and pages whose slot is lost. Reclaim that goes through memory in order
 * fills slots in order, so runs are tried on pages that went out in another.
 */
#include <sys/swap.h>

#include "kmodtest.h"

#define AREA 256UL /* pages */

/* Reclaim gives a page its slot and takes it out of the page table at once; it is written later. */
static void push_out(char *addr)
{
	int try;

	for (try = 0; try < 100; try++) {
		CHECK_EQ(madvise(addr, PAGE, MADV_PAGEOUT), 0);
		if (!(pagemap_word(self_fd, addr) >> 62))
			return;
	}
	fprintf(stderr, "a page does not go out\n");
	exit(1);
}

static struct pgscan_run run_of_page(const char *addr, size_t page)
{
	struct pgscan_run run;
	struct runs runs;

	get_shmem(self_fd, addr + page * PAGE, PAGE, 1, &runs);
	CHECK_EQ(runs.nr, 1);
	CHECK_EQ(runs.run[0].pages, 1);
	run = runs.run[0];
	free_runs(&runs);
	return run;
}

/* Whether `b` belongs to the run that ends with the page `a`, by what uapi/pgscan.h says of runs.
 */
static bool is_one_run(const struct pgscan_run *a, const struct pgscan_run *b)
{
	if (a->state != b->state || a->flags != b->flags)
		return false;
	return a->state != PGSCAN_RUN_SWAPPED ||
	       (a->swap_type == b->swap_type && a->slot + 1 == b->slot);
}

/* The runs that these pages make. */
static size_t join_pages(const struct pgscan_run *pages, struct pgscan_run *ret_runs)
{
	size_t i, nr = 0;

	for (i = 0; i < AREA; i++) {
		if (i && is_one_run(&pages[i - 1], &pages[i]))
			ret_runs[nr - 1].pages++;
		else
			ret_runs[nr++] = pages[i];
	}
	return nr;
}

/* Addresses and offsets are counted from the start of both. */
static void check_runs(const struct runs *got, uint64_t got_start, const struct pgscan_run *want,
		       size_t nr, uint64_t want_start)
{
	size_t i;

	for (i = 0; i < got->nr && i < nr; i++) {
		CHECK_EQ(got->run[i].start - got_start, want[i].start - want_start);
		CHECK_EQ(got->run[i].state, want[i].state);
		CHECK_EQ(got->run[i].swap_type, want[i].swap_type);
		CHECK_EQ(got->run[i].slot, want[i].slot);
		CHECK_EQ(got->run[i].pages, want[i].pages);
	}
	CHECK_EQ(got->nr, nr);
}

/*
 * The runs of an area that is all in swap must be those that its pages make when they are asked
 * for one by one, with room for all of them and for few; and the device must hold what they say.
 * Returns how many there are.
 */
static size_t check_slots_of(const char *addr, int fd, uint64_t seed)
{
	static const size_t lens[] = {4096, 3};
	struct pgscan_run pages[AREA], want[AREA];
	uint64_t start = (uintptr_t)addr;
	struct runs runs;
	size_t i, nr;

	for (i = 0; i < AREA; i++)
		pages[i] = run_of_page(addr, i);
	nr = join_pages(pages, want);
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		get_shmem(self_fd, addr, AREA * PAGE, lens[i], &runs);
		check_runs(&runs, start, want, nr, start);
		CHECK_EQ(check_slots(&runs, start, seed), AREA);
		free_runs(&runs);
		get_extents(fd, NULL, lens[i], &runs);
		check_runs(&runs, 0, want, nr, start);
		CHECK_EQ(check_slots(&runs, 0, seed), AREA);
		free_runs(&runs);
	}
	return nr;
}

static size_t forwards(size_t i)
{
	return i;
}

static size_t backwards(size_t i)
{
	return AREA - 1 - i;
}

/* Four pages forwards, four backwards, and so on: some runs of several pages, between gaps. */
static size_t in_turns(size_t i)
{
	return i / 4 % 2 ? i / 4 * 4 + 3 - i % 4 : i;
}

/* Out in that order, with a page of other memory between each two. */
static size_t count_runs(size_t (*order)(size_t), bool between, uint64_t seed)
{
	int fd = new_memfd(AREA);
	char *addr = map_pages(fd, AREA, MAP_SHARED);
	char *other = map_pages(-1, AREA, MAP_SHARED | MAP_ANONYMOUS);
	size_t i, runs;

	write_pages(addr, 0, AREA, seed);
	write_pages(other, 0, AREA, ~seed);
	for (i = 0; i < AREA; i++) {
		push_out(addr + order(i) * PAGE);
		if (between)
			push_out(other + i * PAGE);
	}
	page_out(addr, AREA);
	runs = check_slots_of(addr, fd, seed);
	CHECK_EQ(munmap(addr, AREA * PAGE), 0);
	CHECK_EQ(munmap(other, AREA * PAGE), 0);
	close(fd);
	return runs;
}

/*
 * Which slots they get is the kernel's choice, and mostly it is the next: otherwise these would not
 * be the cases they are meant to be.
 */
static void test_gaps(void)
{
	size_t in_order = count_runs(forwards, false, 11), gaps = count_runs(forwards, true, 12);
	size_t down = count_runs(backwards, false, 13), turns = count_runs(in_turns, false, 14);

	printf("runs of %lu pages: %zu in order, %zu with gaps, %zu backwards, %zu in turns\n",
	       AREA, in_order, gaps, down, turns);
	CHECK(in_order < AREA / 4);
	CHECK(gaps > AREA / 4 * 3);
	CHECK(down > AREA / 4 * 3);
	CHECK(turns > AREA / 2 && turns < AREA / 4 * 3);
}

/* Push out pages of other memory until one lies in this slot: the page after it comes next. */
static void fill_up_to(uint32_t swap_type, uint64_t slot)
{
	const size_t pages = 4096;
	char *addr = map_pages(-1, pages, MAP_SHARED | MAP_ANONYMOUS);
	struct pgscan_run run;
	size_t i;

	write_pages(addr, 0, pages, 15);
	for (i = 0; i < pages; i++) {
		push_out(addr + i * PAGE);
		run = run_of_page(addr, i);
		if (run.swap_type == swap_type && run.slot == slot)
			return;
	}
	fprintf(stderr, "no page went to slot %llu of type %u\n", (unsigned long long)slot,
		swap_type);
	exit(1);
}

/* Page 127 and page 128 in neighbouring slots, but of two areas; the second one is turned on here.
 */
static void test_types(void)
{
	int fd = new_memfd(AREA);
	char *addr = map_pages(fd, AREA, MAP_SHARED);
	struct pgscan_run before, after;
	size_t i;

	CHECK(swap_devices[1]);
	write_pages(addr, 0, AREA, 16);
	for (i = 0; i < AREA / 2; i++)
		push_out(addr + i * PAGE);
	before = run_of_page(addr, AREA / 2 - 1);
	CHECK_EQ(before.state, PGSCAN_RUN_SWAPPED);

	CHECK_EQ(swapon(swap_devices[1], SWAP_FLAG_PREFER | 10), 0);
	fill_up_to(1, before.slot);
	for (; i < AREA; i++)
		push_out(addr + i * PAGE);
	page_out(addr, AREA);
	after = run_of_page(addr, AREA / 2);
	CHECK_EQ(after.swap_type, 1);
	CHECK_EQ(after.slot, before.slot + 1);
	check_slots_of(addr, fd, 16);
	CHECK_EQ(swapoff(swap_devices[1]), 0);
}

/* The run of `state` among them, of which there must be one, or the only page of it. */
static const struct pgscan_run *only_page(const struct runs *runs, unsigned int state)
{
	const struct pgscan_run *found = NULL;
	size_t i;

	for (i = 0; i < runs->nr; i++) {
		if (runs->run[i].state != state)
			continue;
		CHECK(!found);
		CHECK_EQ(runs->run[i].pages, 1);
		found = &runs->run[i];
	}
	CHECK(found);
	return found;
}

/* Which page of the area lies in that slot. */
static size_t page_in_slot(const char *addr, size_t pages, uint64_t slot)
{
	struct runs runs;
	size_t i;

	get_shmem(self_fd, addr, pages * PAGE, 4096, &runs);
	for (i = 0; i < runs.nr; i++) {
		const struct pgscan_run *run = &runs.run[i];

		if (run->state == PGSCAN_RUN_SWAPPED && slot - run->slot < run->pages)
			return (run->start - (uintptr_t)addr) / PAGE + (slot - run->slot);
	}
	fprintf(stderr, "no page went to slot %llu\n", (unsigned long long)slot);
	exit(1);
}

/* MADV_PAGEOUT only goes to what is mapped; the cgroup this runs in, by v2, is asked for the rest.
 */
static void drop_swap_cache(void)
{
	static const char much[] = "64M";
	char path[256];
	int fd;

	CHECK(getenv("CGROUP"));
	snprintf(path, sizeof(path), "%s/memory.reclaim", getenv("CGROUP"));
	fd = open(path, O_WRONLY | O_CLOEXEC);
	CHECK(fd >= 0);
	CHECK(write(fd, much, strlen(much)) > 0 || errno == EAGAIN);
	close(fd);
}

/*
 * On a disk that cannot read its page 512: the object keeps a marker in place of the entry once the
 * read has failed, and neither counts it nor knows a slot. The pages beside it stay as they are.
 */
static void test_poisoned(void)
{
	const size_t pages = 1000, bad_slot = 512;
	int fd = new_memfd(pages);
	char *addr = map_pages(fd, pages, MAP_SHARED), byte;
	struct runs runs, extents;
	size_t bad;

	write_pages(addr, 0, pages, 17);
	page_out(addr, pages);
	drop_swap_cache();
	bad = page_in_slot(addr, pages, bad_slot);
	CHECK_ERRNO(pread(fd, &byte, 1, bad * PAGE), EIO);

	get_shmem(self_fd, addr, pages * PAGE, 4096, &runs);
	CHECK_EQ(only_page(&runs, PGSCAN_RUN_POISONED)->start, (uintptr_t)addr + bad * PAGE);
	CHECK_EQ(only_page(&runs, PGSCAN_RUN_POISONED)->slot, 0);
	CHECK_EQ(runs.total.poisoned_pages, 1);
	CHECK_EQ(check_slots(&runs, (uintptr_t)addr, 17), runs.total.swapped_pages);
	CHECK_EQ(smaps_pages(addr, "Swap"), runs.total.swapped_pages);
	CHECK(runs.total.swapped_pages > pages / 2);

	get_extents(fd, NULL, 4096, &extents);
	CHECK_EQ(only_page(&extents, PGSCAN_RUN_POISONED)->start, bad * PAGE);
	CHECK_EQ(extents.extents_total.poisoned_pages, 1);
	CHECK_EQ(extents.extents_total.swapped_pages, runs.total.swapped_pages);
}

const struct test slot_tests[] = {
	{"gaps", test_gaps},
	{"types", test_types},
	{"poisoned", test_poisoned},
	{},
};
