// SPDX-License-Identifier: GPL-2.0-only
#include "reporting.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "caps.h"
#include "cleanup.h"
#include "procfs.h"
#include "units.h"

#define DEVICES			   "sys/bus/virtio/devices"
#define VIRTIO_ID_BALLOON	   5
#define VIRTIO_BALLOON_F_REPORTING 5
#define ZONES_PER_ASK		   8

/* ---- the device ------------------------------------------------------------------------------ */

/* 1 or 0, -errno where that cannot be told. */
static int is_balloon(struct pgs_ctx *ctx, const char *name)
{
	uint64_t id;
	int r;

	if (name[0] == '.')
		return 0;
	r = pgs_read_u64(ctx, 0, &id, DEVICES "/%s/device", name);
	if (r == -ENOENT || r == -EINVAL || r == -ERANGE) /* unplugged, or no such number */
		return 0;
	return r < 0 ? r : id == VIRTIO_ID_BALLOON;
}

int pgs_balloon_find(struct pgs_ctx *ctx, char ret_name[PGS_BALLOON_NAME])
{
	int fd = pgs_open(ctx, 0, O_DIRECTORY, DEVICES), r = 0;
	_cleanup_closedir_ DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (fd < 0)
		return fd;
	if (!dir) {
		r = -errno;
		close(fd);
		return r;
	}
	while (!r && (entry = readdir(dir))) {
		r = is_balloon(ctx, entry->d_name);
		if (r > 0)
			snprintf(ret_name, PGS_BALLOON_NAME, "%.31s", entry->d_name);
	}
	return r;
}

static struct pgs_count flag(bool value)
{
	return (struct pgs_count){.set = true, .n = value};
}

/* A number a line: the bits that the device has (drivers/virtio/virtio_debug.c). */
static struct pgs_count find_offered(struct pgs_ctx *ctx, const char *device)
{
	_cleanup_free_ char *text = NULL;
	bool offers = false;

	if (pgs_read_file(ctx, PGS_CAP(CAP_DAC_READ_SEARCH), &text,
			  "sys/kernel/debug/virtio/%s/device_features", device) < 0)
		return (struct pgs_count){0};
	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		unsigned int bit;

		line += *line == '\n';
		offers |= sscanf(line, "%u", &bit) == 1 && bit == VIRTIO_BALLOON_F_REPORTING;
	}
	return flag(offers);
}

/* A digit a bit: those that driver and device agreed on; without a driver there are none. */
static void find_features(struct pgs_ctx *ctx, struct pgs_reporting *ret)
{
	_cleanup_free_ char *bits = NULL;

	if (pgs_read_file(ctx, 0, &bits, DEVICES "/%s/features", ret->device) >
	    VIRTIO_BALLOON_F_REPORTING) {
		ret->has_driver = strchr(bits, '1');
		ret->negotiated = flag(bits[VIRTIO_BALLOON_F_REPORTING] == '1');
	}
	if (ret->negotiated.set && ret->negotiated.n)
		ret->offered = flag(true);
	else
		ret->offered = find_offered(ctx, ret->device);
}

/*
 * While nobody registered the parameter is out of range: MAX_ORDER when that was one above the
 * largest order, -1 since 6.4. Anything that no free list has is such.
 */
static void find_order(struct pgs_ctx *ctx, struct pgs_reporting *ret)
{
	_cleanup_free_ char *buddyinfo = NULL;
	unsigned int orders = 0;
	uint64_t order;

	if (pgs_read_u64(ctx, 0, &order,
			 "sys/module/page_reporting/parameters/page_reporting_order") < 0)
		return;
	if (pgs_read_file(ctx, 0, &buddyinfo, "proc/buddyinfo") > 0) {
		const char *at = strstr(buddyinfo, "zone");

		at = at ? at + strlen("zone") + strspn(at + strlen("zone"), " ") : "";
		at += strcspn(at, " \n");
		for (at += strspn(at, " "); *at && *at != '\n'; at += strspn(at, " ")) {
			orders++;
			at += strcspn(at, " \n");
		}
	}
	ret->order = (struct pgs_count){.set = !orders || order < orders, .n = order};
}

struct pgs_count pgs_pageblock_order(struct pgs_ctx *ctx)
{
	_cleanup_free_ char *text = NULL;
	struct pgs_count order = {0};

	if (pgs_read_file(ctx, PGS_CAP(CAP_DAC_READ_SEARCH), &text, "proc/pagetypeinfo") > 0)
		order.set = pgs_text_field(text, "Page block order", &order.n) == 1;
	return order;
}

int pgs_reporting_read(struct pgs_ctx *ctx, struct pgs_reporting *ret)
{
	struct pgs_reporting r = {0};
	int found = pgs_balloon_find(ctx, r.device);

	r.has_device = found > 0;
	if (r.has_device)
		find_features(ctx, &r);
	find_order(ctx, &r);
	*ret = r;
	return found < 0 && found != -ENOENT ? found : 0;
}

/* ---- free blocks ----------------------------------------------------------------------------- */

/* "Node 0, zone   Normal     12     3 …": the free blocks of each order. */
static int parse_zone(char *line, struct pgs_free_zone *ret)
{
	struct pgs_free_zone zone = {0};
	char *save, *word;
	int at = 0;

	if (sscanf(line, "Node %u, zone %15s%n", &zone.node, zone.zone, &at) != 2)
		return -EBADMSG;
	for (word = strtok_r(line + at, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		if (zone.nr_orders == PGS_MAX_ORDERS ||
		    pgs_parse_u64(word, &zone.blocks[zone.nr_orders]))
			return -EBADMSG;
		zone.nr_orders++;
	}
	*ret = zone;
	return 0;
}

int pgs_free_zones_read(struct pgs_ctx *ctx, struct pgs_free_zones *ret)
{
	struct pgs_free_zones zones = {0};
	_cleanup_free_ char *text = NULL;
	char *save, *line;
	ssize_t r = pgs_read_file(ctx, 0, &text, "proc/buddyinfo");

	if (r < 0)
		return (int)r;
	r = 0;
	for (line = strtok_r(text, "\n", &save); line && !r; line = strtok_r(NULL, "\n", &save)) {
		struct pgs_free_zone *more = reallocarray(zones.zones, zones.nr + 1, sizeof(*more));

		if (!more) {
			r = -ENOMEM;
			break;
		}
		zones.zones = more;
		r = parse_zone(line, &more[zones.nr]);
		zones.nr += !r;
	}
	if (r) {
		pgs_free_zones_fini(&zones);
		return r == -EBADMSG
			       ? pgs_ctx_fail(ctx, -EBADMSG,
					      "cannot make sense of '%s/proc/buddyinfo'", ctx->root)
			       : (int)r;
	}
	*ret = zones;
	return 0;
}

void pgs_free_zones_fini(struct pgs_free_zones *zones)
{
	free(zones->zones);
	*zones = (struct pgs_free_zones){0};
}

struct pgs_free_zone *pgs_free_zones_find(const struct pgs_free_zones *zones, unsigned int node,
					  const char *zone)
{
	for (size_t i = 0; i < zones->nr; i++)
		if (zones->zones[i].node == node && !strcmp(zones->zones[i].zone, zone))
			return &zones->zones[i];
	return NULL;
}

/* The blocks are the module's too: of one moment with those reported. */
static void take_counted(struct pgs_free_zones *zones, const struct pgscan_zone *counted)
{
	struct pgs_free_zone *zone = pgs_free_zones_find(zones, counted->node, counted->name);

	if (!zone)
		return;
	zone->has_reported = true;
	memcpy(zone->blocks, counted->free, sizeof(zone->blocks));
	memcpy(zone->reported, counted->reported, sizeof(zone->reported));
}

int pgs_free_zones_reported(struct pgs_kmod *kmod, struct pgs_free_zones *zones)
{
	_cleanup_free_ struct pgscan_zone *vec = calloc(ZONES_PER_ASK, sizeof(*vec));
	struct pgscan_reported ask = {
		.size = sizeof(ask),
		.vec = (uint64_t)(uintptr_t)vec,
		.vec_len = ZONES_PER_ASK,
		.zone_size = sizeof(*vec),
	};
	int nr;

	if (!vec)
		return -ENOMEM;
	while ((nr = pgs_kmod_request(kmod, PGSCAN_IOC_REPORTED, &ask)) > 0)
		for (int i = 0; i < nr; i++)
			take_counted(zones, &vec[i]);
	return nr;
}
