// SPDX-License-Identifier: GPL-2.0-only
/* Node and zone of a frame, from /proc/zoneinfo and the memory blocks of each node. */
#include "kpage.h"

#include "cleanup.h"
#include "procfs.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

#define NO_NODE UINT16_MAX

struct zone {
	unsigned int node;
	char name[16];
	uint64_t start_pfn, end_pfn;
};

struct pgs_zones {
	struct zone *zones;
	size_t nr;
	uint64_t block_pages;  /* frames of a memory block; 0: no blocks in sysfs */
	uint16_t *block_nodes; /* node by block number, NO_NODE where it is not known */
	size_t nr_blocks;
};

static int add_zone(struct pgs_zones *zones, const struct zone *zone)
{
	struct zone *more = reallocarray(zones->zones, zones->nr + 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	zones->zones = more;
	more[zones->nr++] = *zone;
	return 0;
}

/* "Node 0, zone   Normal", then its "spanned N" and, last of all, its "start_pfn: N". */
static int parse_zoneinfo(struct pgs_zones *zones, char *text)
{
	struct zone zone = {0};
	unsigned long long n;
	char *save, *line;
	uint64_t spanned = 0;
	int r = 0;

	for (line = strtok_r(text, "\n", &save); line && !r; line = strtok_r(NULL, "\n", &save)) {
		if (sscanf(line, "Node %u, zone %15s", &zone.node, zone.name) == 2) {
			spanned = 0;
		} else if (sscanf(line, " spanned %llu", &n) == 1) {
			spanned = n;
		} else if (sscanf(line, " start_pfn: %llu", &n) == 1 && spanned) {
			zone.start_pfn = n;
			zone.end_pfn = n + spanned;
			r = add_zone(zones, &zone);
		}
	}
	return r;
}

static int set_block(struct pgs_zones *zones, unsigned long block, unsigned int node)
{
	if (block >= zones->nr_blocks) {
		uint16_t *more = reallocarray(zones->block_nodes, block + 1, sizeof(*more));

		if (!more)
			return -ENOMEM;
		for (size_t i = zones->nr_blocks; i <= block; i++)
			more[i] = NO_NODE;
		zones->block_nodes = more;
		zones->nr_blocks = block + 1;
	}
	zones->block_nodes[block] = (uint16_t)node;
	return 0;
}

static int read_node_blocks(struct pgs_ctx *ctx, struct pgs_zones *zones, unsigned int node)
{
	int fd = pgs_open(ctx, 0, O_DIRECTORY, "sys/devices/system/node/node%u", node), r = 0;
	_cleanup_closedir_ DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;
	unsigned long block;
	char rest;

	while (dir && !r && (entry = readdir(dir)))
		if (sscanf(entry->d_name, "memory%lu%c", &block, &rest) == 1)
			r = set_block(zones, block, node);
	return r;
}

/* Only where zones of two nodes interleave are the blocks needed. */
static int read_blocks(struct pgs_ctx *ctx, struct pgs_zones *zones)
{
	_cleanup_free_ char *text = NULL;
	unsigned int last = NO_NODE;
	int r = 0;

	if (pgs_read_file(ctx, 0, &text, "sys/devices/system/memory/block_size_bytes") <= 0)
		return 0;
	zones->block_pages = strtoull(text, NULL, 16) >> ctx->page_shift;
	for (size_t i = 0; i < zones->nr && !r; i++) {
		if (zones->zones[i].node != last)
			r = read_node_blocks(ctx, zones, zones->zones[i].node);
		last = zones->zones[i].node;
	}
	return r;
}

int pgs_zones_open(struct pgs_ctx *ctx, struct pgs_zones **ret_zones)
{
	_cleanup_(pgs_zones_closep) struct pgs_zones *zones = calloc(1, sizeof(*zones));
	_cleanup_free_ char *text = NULL;
	ssize_t r;

	if (!zones)
		return -ENOMEM;
	r = pgs_read_file(ctx, 0, &text, "proc/zoneinfo");
	if (r >= 0)
		r = parse_zoneinfo(zones, text);
	else if (r == -ENOENT)
		r = 0;
	if (!r && zones->nr && zones->zones[zones->nr - 1].node != zones->zones[0].node)
		r = read_blocks(ctx, zones);
	if (r < 0)
		return (int)r;
	*ret_zones = zones;
	zones = NULL;
	return 0;
}

void pgs_zones_close(struct pgs_zones *zones)
{
	if (!zones)
		return;
	free(zones->zones);
	free(zones->block_nodes);
	free(zones);
}

void pgs_zones_closep(struct pgs_zones **zones)
{
	pgs_zones_close(*zones);
}

/* The node that owns the frame's memory block, NO_NODE if that is not known. */
static unsigned int block_node(const struct pgs_zones *zones, uint64_t pfn)
{
	uint64_t block = zones->block_pages ? pfn / zones->block_pages : UINT64_MAX;

	return block < zones->nr_blocks ? zones->block_nodes[block] : NO_NODE;
}

bool pgs_zones_find(const struct pgs_zones *zones, uint64_t pfn, unsigned int *ret_node,
		    const char **ret_zone)
{
	unsigned int node = block_node(zones, pfn);
	const struct zone *found = NULL;

	for (size_t i = 0; i < zones->nr; i++) {
		const struct zone *zone = &zones->zones[i];

		if (pfn < zone->start_pfn || pfn >= zone->end_pfn ||
		    (node != NO_NODE && zone->node != node))
			continue;
		if (found)
			return false;
		found = zone;
	}
	if (!found)
		return false;
	*ret_node = found->node;
	*ret_zone = found->name;
	return true;
}
