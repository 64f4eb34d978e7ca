// SPDX-License-Identifier: GPL-2.0-only
/* swapscan: what is told of a mapping of shared memory whose pages in swap did not hold still. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "swapobj_priv.h"
#include "swapscan.h"

#define PAGES 64u
#define TYPE  3u

struct seen {
	uint64_t base, page_size;
	size_t nr;
	struct pgs_swap_run runs[8];
};

struct fixture {
	struct pgs_ctx *ctx;
	struct pgs_scan_env env;
	struct pgs_swapobjs *objs;
	struct pgs_swapobj *obj;
	struct pgs_proc proc;
	int fd;
	struct seen seen;
};

/* An object of ours, of which the list says what it likes: pages 10 to 14 and 20 are in swap. */
static int setup(void **state)
{
	static const struct pgs_swap_extent extents[] = {{10, 5, 100, TYPE}, {20, 1, 300, TYPE}};
	struct fixture *f = calloc(1, sizeof(*f));
	struct stat st;
	void *map;

	f->fd = memfd_create("swapscan", MFD_CLOEXEC);
	assert_return_code(pgs_ctx_open("/", &f->ctx), 0);
	assert_return_code(pgs_scan_env_init(f->ctx, NULL, &f->env), 0);
	f->seen.page_size = f->ctx->page_size;
	assert_return_code(ftruncate(f->fd, PAGES * (off_t)f->ctx->page_size), 0);
	map = mmap(NULL, PAGES * f->ctx->page_size, PROT_READ, MAP_SHARED, f->fd, 0);
	assert_true(map != MAP_FAILED);
	f->seen.base = (uint64_t)(uintptr_t)map;
	assert_return_code(fstat(f->fd, &st), 0);
	assert_return_code(pgs_swapobjs_open(f->ctx, NULL, NULL, &f->objs), 0);
	f->objs->complete = true;
	f->obj = pgs_swapobj_add(f->objs, st.st_dev, st.st_ino, "/memfd:swapscan");
	assert_non_null(f->obj);
	f->obj->located = true;
	for (size_t i = 0; i < 2; i++)
		assert_return_code(pgs_swapobj_add_extent(f->obj, &extents[i]), 0);
	assert_return_code(pgs_proc_read(f->ctx, getpid(), &f->proc), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	munmap((void *)(uintptr_t)f->seen.base, PAGES * f->ctx->page_size);
	close(f->fd);
	pgs_swapobjs_close(f->objs);
	pgs_scan_env_fini(&f->env);
	pgs_ctx_close(f->ctx);
	free(f);
	return 0;
}

static int keep(void *arg, const struct pgs_vma *vma, const struct pgs_swap_run *run)
{
	struct seen *seen = arg;

	if (vma->start != seen->base)
		return 0;
	assert_true(seen->nr < sizeof(seen->runs) / sizeof(seen->runs[0]));
	seen->runs[seen->nr++] = *run;
	return 0;
}

static void scan(struct fixture *f, uint64_t from, uint64_t to)
{
	const struct pgs_range range = {f->seen.base + from * f->seen.page_size,
					f->seen.base + to * f->seen.page_size};
	const struct pgs_swapscan_opts opts = {
		.ranges = &range, .nr_ranges = 1, .run = keep, .arg = &f->seen};

	assert_return_code(pgs_swapscan(&f->env, f->objs, &f->proc, &opts), 0);
}

static void is_run(struct fixture *f, size_t i, uint64_t page, uint64_t pages, uint64_t slot)
{
	const struct pgs_swap_run *run = &f->seen.runs[i];

	assert_true(i < f->seen.nr);
	assert_int_equal(run->addr, f->seen.base + page * f->seen.page_size);
	assert_int_equal(run->pages, pages);
	assert_int_equal(run->unknown, !slot);
	assert_int_equal(run->located, !!slot);
	assert_int_equal(run->slot, slot);
}

static void test_known(void **state)
{
	struct fixture *f = *state;

	scan(f, 0, PAGES);
	is_run(f, 0, 10, 5, 100);
	is_run(f, 1, 20, 1, 300);
	assert_int_equal(f->seen.nr, 2);
}

/* What was not seen in swap may be there all the same. */
static void test_racy(void **state)
{
	struct fixture *f = *state;

	f->obj->racy = true;
	scan(f, 0, PAGES);
	is_run(f, 0, 0, 10, 0);
	is_run(f, 1, 10, 5, 100);
	is_run(f, 2, 15, 5, 0);
	is_run(f, 3, 20, 1, 300);
	is_run(f, 4, 21, PAGES - 21, 0);
	assert_int_equal(f->seen.nr, 5);
}

static void test_racy_part(void **state)
{
	struct fixture *f = *state;

	f->obj->racy = true;
	scan(f, 12, 21);
	is_run(f, 0, 12, 3, 102);
	is_run(f, 1, 15, 5, 0);
	is_run(f, 2, 20, 1, 300);
	assert_int_equal(f->seen.nr, 3);
}

static void test_racy_nothing_seen(void **state)
{
	struct fixture *f = *state;

	f->obj->racy = true;
	scan(f, 30, 40);
	is_run(f, 0, 30, 10, 0);
	assert_int_equal(f->seen.nr, 1);
}

static void test_reason(void **state)
{
	struct fixture *f = *state;

	pgs_swapobj_forget(f->obj);
	f->obj->reason = strdup("no reason");
	scan(f, 0, PAGES);
	is_run(f, 0, 0, PAGES, 0);
	assert_int_equal(f->seen.nr, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_known, setup, teardown),
		cmocka_unit_test_setup_teardown(test_racy, setup, teardown),
		cmocka_unit_test_setup_teardown(test_racy_part, setup, teardown),
		cmocka_unit_test_setup_teardown(test_racy_nothing_seen, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reason, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
