// SPDX-License-Identifier: GPL-2.0-only
/* Free page reporting. Run from the top of the tree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "reporting.h"

#define FIXTURES "tests/fixtures/"

static struct pgs_reporting read_tree(const char *root)
{
	struct pgs_reporting r;
	struct pgs_ctx *ctx;

	assert_int_equal(pgs_ctx_open(root, &ctx), 0);
	assert_int_equal(pgs_reporting_read(ctx, &r), 0);
	pgs_ctx_close(ctx);
	return r;
}

static void test_device(void **state)
{
	struct pgs_reporting r = read_tree(FIXTURES "reporting-on");

	(void)state;
	assert_true(r.has_device && r.has_driver);
	assert_string_equal(r.device, "virtio3"); /* virtio0 is another kind of device */
	assert_true(r.negotiated.set && r.negotiated.n && r.offered.set && r.offered.n);
	assert_true(r.order.set && r.order.n == 9);

	/* Not negotiated, and no file says what was offered; the order -1 is none. */
	r = read_tree(FIXTURES "reporting-declined");
	assert_true(r.has_device && r.has_driver && r.negotiated.set);
	assert_false(r.negotiated.n || r.offered.set || r.order.set);

	r = read_tree(FIXTURES "reporting-unbound");
	assert_true(r.has_device);
	assert_false(r.has_driver || r.negotiated.n);

	r = read_tree(FIXTURES "reporting-none");
	assert_false(r.has_device || r.negotiated.set || r.order.set);
}

static void test_pageblock_order(void **state)
{
	struct pgs_count order;
	struct pgs_ctx *ctx;

	(void)state;
	assert_int_equal(pgs_ctx_open(FIXTURES "free-reported", &ctx), 0);
	order = pgs_pageblock_order(ctx);
	assert_true(order.set && order.n == 9);
	pgs_ctx_close(ctx);
	assert_int_equal(pgs_ctx_open(FIXTURES "reporting-on", &ctx), 0);
	assert_false(pgs_pageblock_order(ctx).set);
	pgs_ctx_close(ctx);
}

static void test_zones(void **state)
{
	struct pgs_free_zones zones;
	struct pgs_free_zone *zone;
	struct pgs_ctx *ctx;

	(void)state;
	assert_int_equal(pgs_ctx_open(FIXTURES "free-reported", &ctx), 0);
	assert_int_equal(pgs_free_zones_read(ctx, &zones), 0);
	assert_int_equal(zones.nr, 2);
	zone = pgs_free_zones_find(&zones, 0, "Normal");
	assert_non_null(zone);
	assert_int_equal(zone->nr_orders, 11);
	assert_int_equal(zone->blocks[0], 2);
	assert_int_equal(zone->blocks[9], 1);
	assert_int_equal(zone->blocks[10], 0);
	assert_false(zone->has_reported);
	assert_null(pgs_free_zones_find(&zones, 1, "Normal"));
	assert_null(pgs_free_zones_find(&zones, 0, "DMA32"));
	pgs_free_zones_fini(&zones);
	pgs_ctx_close(ctx);

	assert_int_equal(pgs_ctx_open(FIXTURES "reporting-none", &ctx), 0);
	assert_int_equal(pgs_free_zones_read(ctx, &zones), -ENOENT);
	pgs_ctx_close(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_device),
		cmocka_unit_test(test_pageblock_order),
		cmocka_unit_test(test_zones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
