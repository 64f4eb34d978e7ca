// SPDX-License-Identifier: GPL-2.0-only
/*
 * anon - private anonymous memory.
 *   pages=N write=LIST read=LIST   region "anon": written pages, zero pages (read only), the rest
 *                                  never touched
 *   huge=N                         region "huge": N transparent huge pages, each one collapsed
 *   hugezero=N                     region "hugezero": N huge zero pages
 *   same=N                         region "same": N equal pages that KSM may merge
 *   blank=N                        region "blank": N written pages that hold zeroes alone
 *   children=N                     N forked children that share all of it, copy on write
 *   sharers=N                      N processes that have this very memory (CLONE_VM)
 *   hugetlb=N                      region "hugetlb": N pages of hugetlbfs, never touched
 *   gigantic=N                     region "gigantic": the same of 1 GiB each
 *   headless=1                     the first thread has exited, another one obeys
 *   protnone=1                     region "anon" ends up PROT_NONE, its pages kept
 */
#include "target.h"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

static char *map_huge(struct target *t, size_t huge)
{
	size_t size = huge * TARGET_HUGE;
	char *p = target_hole(size, TARGET_HUGE);

	p = mmap(p, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (p == MAP_FAILED)
		target_die("mmap of %zu huge pages", huge);
	if (madvise(p, size, MADV_HUGEPAGE))
		target_die("MADV_HUGEPAGE");
	(void)t;
	return p;
}

static void add_huge(struct target *t, size_t huge)
{
	char *p = map_huge(t, huge);
	const struct target_region *r =
		target_region_add(t, "huge", p, huge * TARGET_HUGE / t->page_size);

	target_write(t, r, "all");
	/* A fault may have fallen back to small pages; collapse says so if it cannot either. */
	if (madvise(p, huge * TARGET_HUGE, MADV_COLLAPSE))
		target_die("MADV_COLLAPSE");
}

static void add_hugezero(struct target *t, size_t huge)
{
	const struct target_region *r = target_region_add(t, "hugezero", map_huge(t, huge),
							  huge * TARGET_HUGE / t->page_size);

	for (size_t i = 0; i < huge; i++)
		(void)*(volatile char *)(r->addr + i * TARGET_HUGE);
}

static void add_same(struct target *t, size_t pages)
{
	char *p = target_map(t, pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(p, 0x5a, pages * t->page_size);
	if (madvise(p, pages * t->page_size, MADV_MERGEABLE))
		target_die("MADV_MERGEABLE");
	target_region_add(t, "same", p, pages);
}

static void add_blank(struct target *t, size_t pages)
{
	char *p = target_map(t, pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(p, 1, pages * t->page_size);
	explicit_bzero(p, pages * t->page_size); /* which no compiler leaves out */
	target_region_add(t, "blank", p, pages);
}

/* Without a reservation: there need be no huge page at all. */
static void add_hugetlb(struct target *t, const char *name, size_t pages, unsigned int log2_size)
{
	size_t size = pages << log2_size;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_NORESERVE |
			       (int)(log2_size << MAP_HUGE_SHIFT),
		       -1, 0);

	if (p == MAP_FAILED)
		target_die("mmap of %zu pages of hugetlbfs", pages);
	target_region_add(t, name, p, size / t->page_size);
}

static int share_memory(void *arg)
{
	(void)arg;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (pause())
		;
	return 0;
}

static void add_sharers(struct target *t, size_t sharers)
{
	const size_t size = 16384;

	for (size_t i = 0; i < sharers; i++) {
		char *stack = target_map(t, size / t->page_size, PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		int pid = clone(share_memory, stack + size, CLONE_VM | SIGCHLD, NULL);

		if (pid < 0)
			target_die("clone");
		printf("child=%d pages=0\n", pid);
	}
	fflush(stdout);
}

static void *serve(void *t)
{
	exit(target_serve(t, NULL));
}

static void lose_head(struct target *t)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, serve, t))
		target_die("pthread_create");
	syscall(SYS_exit, 0); /* of this thread; pthread_exit() wants libgcc_s, which guests lack */
}

int main(int argc, char **argv)
{
	static const char *const keys[] = {"pages",    "write",	   "read",     "huge",	"same",
					   "hugezero", "protnone", "children", "blank", "hugetlb",
					   "gigantic", "sharers",  "headless", NULL};
	size_t pages, huge, hugezero, same, blank, hugetlb, gigantic;
	const struct target_region *r;
	static struct target t; /* outlives the first thread */

	(void)argc;
	target_init(&t, argv, keys);
	pages = target_number(target_word(argv, "pages", "64"));
	huge = target_number(target_word(argv, "huge", "0"));
	hugezero = target_number(target_word(argv, "hugezero", "0"));
	same = target_number(target_word(argv, "same", "0"));
	blank = target_number(target_word(argv, "blank", "0"));
	hugetlb = target_number(target_word(argv, "hugetlb", "0"));
	gigantic = target_number(target_word(argv, "gigantic", "0"));
	r = target_region_add(&t, "anon",
			      target_map(&t, pages, PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
			      pages);
	target_write(&t, r, target_word(argv, "write", "none"));
	target_read(&t, r, target_word(argv, "read", "none"));
	if (target_number(target_word(argv, "protnone", "0")) &&
	    mprotect(r->addr, pages * t.page_size, PROT_NONE))
		target_die("mprotect");
	if (huge)
		add_huge(&t, huge);
	if (hugezero)
		add_hugezero(&t, hugezero);
	if (same)
		add_same(&t, same);
	if (blank)
		add_blank(&t, blank);
	if (hugetlb)
		add_hugetlb(&t, "hugetlb", hugetlb, 21);
	if (gigantic)
		add_hugetlb(&t, "gigantic", gigantic, 30);
	fflush(stdout);
	add_sharers(&t, target_number(target_word(argv, "sharers", "0")));
	target_children(target_number(target_word(argv, "children", "0")));
	if (target_number(target_word(argv, "headless", "0")))
		lose_head(&t);
	return target_serve(&t, NULL);
}
