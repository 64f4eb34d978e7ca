// SPDX-License-Identifier: GPL-2.0-only
/*
 * bouncer - memory whose frames change all the time while its contents and mapping stay: pages=N
 * (512) written pages, region "bouncer". A thread copies them to new frames and moves the copy over
 * the old with mremap(), which swaps the page tables under mmap_lock: a reader always finds N pages
 * present, and the frame it found may belong to somebody else a moment later.
 * Command "rounds": how often all of it has moved.
 */
#include "target.h"

#include <pthread.h>

struct bouncer {
	struct target *t;
	volatile size_t rounds;
};

static struct bouncer bouncer; /* shared by the thread and the command */

static void *bounce(void *arg)
{
	struct bouncer *b = arg;
	const struct target_region *r = &b->t->regions[0];
	size_t size = r->pages * b->t->page_size;

	for (;; b->rounds++) {
		char *copy = target_map(b->t, r->pages, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		char *hole = copy - b->t->page_size;

		memcpy(copy, r->addr, size);
		if (mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, r->addr) != r->addr)
			target_die("mremap");
		if (munmap(hole, size + 2 * b->t->page_size))
			target_die("munmap");
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
	size_t pages;

	(void)argc;
	target_init(&t, argv, keys);
	pages = target_number(target_word(argv, "pages", "512"));
	target_write(&t,
		     target_region_add(&t, "bouncer",
				       target_map(&t, pages, PROT_READ | PROT_WRITE,
						  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
				       pages),
		     "all");
	bouncer.t = &t;
	errno = pthread_create(&thread, NULL, bounce, &bouncer);
	if (errno)
		target_die("pthread_create");
	return target_serve(&t, cmds);
}
