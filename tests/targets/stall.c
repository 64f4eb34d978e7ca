// SPDX-License-Identifier: GPL-2.0-only
/*
 * stall - does somebody who looks at this process hold it up? pages=N (262144) written pages,
 * region "stall", and a thread that maps and unmaps one page as fast as it can: each needs
 * mmap_lock for writing, which a reader of the page tables holds for reading.
 * Command "reset" starts a measurement, "worst" ends it: "ok NANOSECONDS" of the longest round.
 */
#include "target.h"

#include <pthread.h>
#include <time.h>

static volatile uint64_t worst_ns; /* written by the thread, reset by the command */

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void *map_and_unmap(void *arg)
{
	size_t size = *(size_t *)arg;

	for (uint64_t before = now_ns(), after;; before = after) {
		char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0);

		if (p == MAP_FAILED || munmap(p, size))
			target_die("mmap");
		after = now_ns();
		if (after - before > worst_ns)
			worst_ns = after - before;
	}
	return NULL;
}

static int reset(struct target *t, int argc, char **argv)
{
	(void)t;
	(void)argc;
	(void)argv;
	worst_ns = 0;
	return 0;
}

static int worst(struct target *t, int argc, char **argv)
{
	(void)t;
	(void)argc;
	(void)argv;
	printf("ok %llu\n", (unsigned long long)worst_ns);
	return 1;
}

int main(int argc, char **argv)
{
	static const char *const keys[] = {"pages", NULL};
	static const struct target_cmd cmds[] = {{"reset", reset}, {"worst", worst}, {NULL, NULL}};
	pthread_t thread;
	struct target t;

	(void)argc;
	target_init(&t, argv, keys);
	target_dense(&t, "stall", target_number(target_word(argv, "pages", "262144")));
	errno = pthread_create(&thread, NULL, map_and_unmap, &t.page_size);
	if (errno)
		target_die("pthread_create");
	return target_serve(&t, cmds);
}
