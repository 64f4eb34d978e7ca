// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kfeat.h"

static void test_names(void **state)
{
	(void)state;
	for (int id = 0; id < PGS_NR_FEATS; id++) {
		enum pgs_feat_id found;

		/* A gap in the table, and a name that two have, would show here. */
		assert_non_null(pgs_feat_name((enum pgs_feat_id)id));
		assert_non_null(pgs_feat_how((enum pgs_feat_id)id));
		assert_int_equal(pgs_feat_find(pgs_feat_name((enum pgs_feat_id)id), &found), 0);
		assert_int_equal(found, id);
	}
}

static void test_unknown_name(void **state)
{
	enum pgs_feat_id id = PGS_NR_FEATS;

	(void)state;
	assert_int_equal(pgs_feat_find("", &id), -ENOENT);
	assert_int_equal(pgs_feat_find("pagemap_scanner", &id), -ENOENT);
	assert_int_equal(pgs_feat_find("pagemap_sca", &id), -ENOENT);
	assert_int_equal(id, PGS_NR_FEATS);
}

static int nr_open_files(void)
{
	int nr = 0;

	for (int fd = 0; fd < 256; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	return nr;
}

/* Every probe answers, says why when it is not "yes", and leaves no descriptor open. */
static void test_all(void **state)
{
	int files = nr_open_files();
	struct pgs_kfeat *kfeat;
	struct pgs_ctx *ctx;

	(void)state;
	assert_int_equal(pgs_ctx_open(NULL, &ctx), 0);
	assert_int_equal(pgs_kfeat_new(ctx, &kfeat), 0);
	for (int id = 0; id < PGS_NR_FEATS; id++) {
		const struct pgs_feat *feat = pgs_kfeat_get(kfeat, (enum pgs_feat_id)id);

		assert_true(feat->state == PGS_FEAT_YES || feat->state == PGS_FEAT_NO ||
			    feat->state == PGS_FEAT_DENIED);
		assert_true(feat->state == PGS_FEAT_DENIED || !feat->caps);
		assert_int_equal(pgs_kfeat_has(kfeat, (enum pgs_feat_id)id),
				 feat->state == PGS_FEAT_YES);
		/* Asked again, the answer is the one that was kept. */
		assert_ptr_equal(pgs_kfeat_get(kfeat, (enum pgs_feat_id)id), feat);
	}
	pgs_kfeat_free(kfeat);
	pgs_ctx_close(ctx);
	assert_int_equal(nr_open_files(), files);
}

static void test_masked(void **state)
{
	struct pgs_kfeat *kfeat;
	struct pgs_ctx *ctx;

	(void)state;
	assert_int_equal(pgs_ctx_open(NULL, &ctx), 0);
	ctx->disabled = PGS_MECH_PAGEMAP_SCAN;
	assert_int_equal(pgs_kfeat_new(ctx, &kfeat), 0);
	assert_int_equal(pgs_kfeat_get(kfeat, PGS_FEAT_PAGEMAP_SCAN)->state, PGS_FEAT_NO);
	assert_int_equal(pgs_kfeat_get(kfeat, PGS_FEAT_SCAN_WRITTEN)->state, PGS_FEAT_NO);
	assert_int_equal(pgs_kfeat_get(kfeat, PGS_FEAT_PAGEMAP)->state, PGS_FEAT_YES);
	pgs_kfeat_free(kfeat);
	pgs_ctx_close(ctx);
}

/* The word of a mapping just made, read here by other means. */
static bool fresh_page_is_soft_dirty(void)
{
	long size = sysconf(_SC_PAGESIZE);
	char *page = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t word;

	assert_int_equal(pread(fd, &word, 8, (off_t)((uintptr_t)page / (uintptr_t)size * 8)), 8);
	close(fd);
	munmap(page, (size_t)size);
	return word >> 55 & 1;
}

static void test_soft_dirty_passive(void **state)
{
	struct pgs_ctx *ctx;
	bool tracked;

	(void)state;
	assert_int_equal(pgs_ctx_open(NULL, &ctx), 0);
	tracked = !fresh_page_is_soft_dirty();
	assert_int_equal(pgs_soft_dirty_passive(ctx, &tracked), 0);
	assert_int_equal(tracked, fresh_page_is_soft_dirty());
	ctx->disabled = PGS_MECH_SOFT_DIRTY;
	tracked = true;
	assert_int_equal(pgs_soft_dirty_passive(ctx, &tracked), 0);
	assert_false(tracked);
	pgs_ctx_close(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_unknown_name),
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_masked),
		cmocka_unit_test(test_soft_dirty_passive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
