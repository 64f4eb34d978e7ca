// SPDX-License-Identifier: GPL-2.0-only
/*
 * bouncer - memory whose frames change all the time while its contents stay: pages=N (512) written
 * pages, region "bouncer". A thread copies some of them to new frames and moves the copy over the
 * old with mremap(), which swaps the page tables under mmap_lock, and so on through the region: a
 * reader always finds N pages present, and the frame it found may belong to somebody else a moment
 * later.
 * Command "rounds": how often all of it has moved.
 */
#include "target.h"

#include <pthread.h>

#define CHUNK_PAGES 64

struct bouncer {
	struct target *t;
	volatile size_t rounds;
};

static struct bouncer bouncer; /* shared by the thread and the command */

static void bounce_chunk(struct target *t, char *chunk, size_t pages)
{
	size_t size = pages * t->page_size;
	char *copy =
		target_map(t, pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *hole = copy - t->page_size;

	memcpy(copy, chunk, size);
	if (mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, chunk) != chunk)
		target_die("mremap");
	if (munmap(hole, size + 2 * t->page_size))
		target_die("munmap");
}

static void *bounce(void *arg)
{
	struct bouncer *b = arg;
	const struct target_region *r = &b->t->regions[0];

	for (;; b->rounds++) {
		for (size_t first = 0; first < r->pages; first += CHUNK_PAGES) {
			size_t left = r->pages - first;

			bounce_chunk(b->t, r->addr + first * b->t->page_size,
				     left < CHUNK_PAGES ? left : CHUNK_PAGES);
		}
	}
	return NULL;
}

static int rounds(struct target *t, int argc, char **argv)
{
	(void)t;
	(void)argc;
	(void)argv;
	printf("ok %zu\n", bouncer.rounds);
	return 1;
}

int main(int argc, char **argv)
{
	static const char *const keys[] = {"pages", NULL};
	static const struct target_cmd cmds[] = {{"rounds", rounds}, {NULL, NULL}};
	pthread_t thread;
	struct target t;

	(void)argc;
	target_init(&t, argv, keys);
	target_dense(&t, "bouncer", target_number(target_word(argv, "pages", "512")));
	bouncer.t = &t;
	errno = pthread_create(&thread, NULL, bounce, &bouncer);
	if (errno)
		target_die("pthread_create");
	return target_serve(&t, cmds);
}
