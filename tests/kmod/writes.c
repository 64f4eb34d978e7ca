// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmodwrites SECONDS [DISTURBANCE]...: does SCAN with CLEAR lose a write?
 *
 * Threads write to random pages as fast as they can. Meanwhile pages are asked for and cleared in a
 * loop, and each page that was reported is copied. Every now and then the writers stop; after one
 * more scan the copies must then be equal to the pages: a page that differs was written to without
 * being reported. After that a scan of the quiet memory must report nothing.
 *
 * Disturbances: huge (huge pages), pageout, mprotect, fork, collapse, dontneed. Prints what was
 * done, status 1 if a write was lost or invented, 77 if this kernel cannot.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>

#include "kmodtest.h"

#define PAGES	4096UL /* 16 MiB */
#define WRITERS 3

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

/* pthread_barrier_wait() is no place to wait in while others must go on. */
static atomic_bool stop_writers, quit;
static atomic_int writers_stopped;
static atomic_ullong writes;

static char *area, *shadow;
static bool use_huge;
int dev_fd, self_fd;

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void *writer(void *arg)
{
	uint64_t state = 88172645463325252ull * (uintptr_t)arg + 1, done = 0;

	while (!quit) {
		if (stop_writers) {
			writes += done;
			done = 0;
			writers_stopped++;
			while (stop_writers && !quit)
				usleep(200);
			writers_stopped--;
			continue;
		}
		/* Own words in each page, so that no write is overwritten by another thread. */
		uint64_t r = random_next(&state);
		volatile uint64_t *page = (void *)(area + r % PAGES * PAGE);

		page[(r >> 32) % 16 * WRITERS + (uintptr_t)arg]++;
		done++;
	}
	return NULL;
}

static void *pager(void *unused)
{
	uint64_t state = 7;

	(void)unused;
	while (!quit) {
		size_t first = random_next(&state) % (PAGES - 64);

		madvise(area + first * PAGE, 64 * PAGE, MADV_PAGEOUT);
		usleep(500);
	}
	return NULL;
}

static void *protector(void *unused)
{
	(void)unused;
	while (!quit) {
		/* To what it has already, through read-only for a part that nobody would notice. */
		CHECK_EQ(mprotect(area, PAGES * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
		CHECK_EQ(mprotect(area, PAGES * PAGE, PROT_READ | PROT_WRITE), 0);
		usleep(1000);
	}
	return NULL;
}

static void *forker(void *unused)
{
	(void)unused;
	while (!quit) {
		pid_t pid = fork();

		if (!pid) {
			area[0] ^= 0;
			_exit(0);
		}
		if (pid > 0)
			waitpid(pid, NULL, 0);
		usleep(1000);
	}
	return NULL;
}

static void *collapser(void *unused)
{
	(void)unused;
	while (!quit) {
		madvise(area, PAGES * PAGE, MADV_COLLAPSE);
		usleep(2000);
	}
	return NULL;
}

static const struct {
	const char *name;
	void *(*run)(void *);
} disturbances[] = {
	{"pageout", pager},
	{"mprotect", protector},
	{"fork", forker},
	{"collapse", collapser},
};

static void map_area(void)
{
	const size_t huge = 2UL << 20;
	char *addr =
		mmap(NULL, PAGES * PAGE + 2 * huge, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(addr != MAP_FAILED);
	area = (char *)(((uintptr_t)addr + huge) & ~(huge - 1));
	CHECK_EQ(mprotect(area, PAGES * PAGE, PROT_READ | PROT_WRITE), 0);
	CHECK_EQ(madvise(area, PAGES * PAGE, use_huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE), 0);
	memset(area, 0, PAGES * PAGE);
	shadow = calloc(PAGES, PAGE);
	CHECK(shadow);
}

/* One scan of it all, and the copies of what it reports. Returns the number of pages. */
static size_t scan_and_copy(uint32_t flags)
{
	static struct pgscan_region vec[256];
	struct pgscan_scan arg = {
		.size = sizeof(arg),
		.flags = PGSCAN_SCAN_CLEAR | flags,
		.pagemap_fd = self_fd,
		.start = (uintptr_t)area,
		.end = (uintptr_t)area + PAGES * PAGE,
		.vec = (uintptr_t)vec,
		.vec_len = ARRAY_SIZE(vec),
		.category_mask = PGSCAN_PAGE_SOFT_DIRTY,
		.return_mask = PGSCAN_PAGE_SOFT_DIRTY,
	};
	size_t pages = 0;
	int nr, i;

	do {
		nr = ioctl(dev_fd, PGSCAN_IOC_SCAN, &arg);
		CHECK(nr >= 0);
		for (i = 0; i < nr; i++) {
			size_t bytes = vec[i].end - vec[i].start;

			memcpy(shadow + (vec[i].start - (uintptr_t)area),
			       (void *)(uintptr_t)vec[i].start, bytes);
			pages += bytes / PAGE;
		}
		arg.start = arg.walk_end;
	} while (arg.walk_end < arg.end);
	return pages;
}

static size_t count_lost(void)
{
	size_t i, lost = 0;

	for (i = 0; i < PAGES; i++)
		lost += memcmp(area + i * PAGE, shadow + i * PAGE, PAGE) != 0;
	return lost;
}

static void wait_stopped(int nr)
{
	while (writers_stopped != nr)
		usleep(200);
}

/*
 * Stop the writers and compare. Invented pages are only certain where nothing but the writers can
 * set a mark: collapsing and splitting of huge pages may.
 */
static size_t check_stopped(size_t *ret_invented)
{
	size_t lost;

	stop_writers = true;
	wait_stopped(WRITERS);
	scan_and_copy(0);
	lost = count_lost();
	*ret_invented = scan_and_copy(0);
	stop_writers = false;
	wait_stopped(0);
	return lost;
}

static void require_clear(void)
{
	struct pgscan_info info = {.size = sizeof(info)};

	dev_fd = open(PGSCAN_DEVICE, O_RDWR | O_CLOEXEC);
	self_fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	CHECK(dev_fd >= 0 && self_fd >= 0);
	CHECK_EQ(ioctl(dev_fd, PGSCAN_IOC_INFO, &info), 0);
	if (!(info.features & PGSCAN_FEAT_SCAN_CLEAR_VMA))
		exit(77);
}

static void start_threads(int argc, char **argv)
{
	pthread_t thread;
	size_t i;
	int a;

	for (i = 0; i < WRITERS; i++)
		CHECK_EQ(pthread_create(&thread, NULL, writer, (void *)i), 0);
	for (a = 2; a < argc; a++) {
		for (i = 0; i < ARRAY_SIZE(disturbances); i++) {
			if (!strcmp(argv[a], disturbances[i].name))
				CHECK_EQ(pthread_create(&thread, NULL, disturbances[i].run, NULL),
					 0);
		}
	}
}

int main(int argc, char **argv)
{
	size_t lost = 0, invented, all_invented = 0, dirty = 0, scans = 0, stops = 0, i;
	time_t end;
	int a;

	if (argc < 2)
		return 2;
	for (a = 2; a < argc; a++)
		use_huge |= !strcmp(argv[a], "huge") || !strcmp(argv[a], "collapse");
	require_clear();
	map_area();
	scan_and_copy(PGSCAN_SCAN_CLEAR_VMA);
	start_threads(argc, argv);

	end = time(NULL) + atoi(argv[1]);
	while (time(NULL) < end && !lost) {
		for (i = 0; i < 50 && time(NULL) < end; i++, scans++)
			dirty += scan_and_copy(0);
		lost += check_stopped(&invented);
		all_invented += invented;
		stops++;
	}
	quit = true;
	printf("%llu writes, %zu scans, %zu dirty pages, %zu stops, %zu lost, %zu invented\n",
	       (unsigned long long)writes, scans, dirty, stops, lost, all_invented);
	return lost || (argc == 2 && all_invented);
}
