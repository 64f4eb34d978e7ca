// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which swap types are no swap area (struct pgs_swap_types): the numbers depend on four
 * configuration options, so they are learned from what each option leaves visible.
 */
#include "page.h"

#include "caps.h"
#include "cleanup.h"
#include "procfs.h"
#include "uapi/madvise.h"
#include "uapi/userfaultfd.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define NR_MIGRATION 3u /* read, read exclusive, write: since 5.19, as are PTE markers */

/* The word of one page of our own memory, 0 if it cannot be read. */
static uint64_t own_word(struct pgs_ctx *ctx, const void *page)
{
	_cleanup_close_ int fd = pgs_open(ctx, PGS_CAP(CAP_SYS_ADMIN), 0, "proc/self/pagemap");
	uint64_t word = 0;

	if (fd < 0 || pread(fd, &word, sizeof(word),
			    (off_t)((uintptr_t)page / ctx->page_size * sizeof(word))) !=
			      (ssize_t)sizeof(word))
		return 0;
	return word;
}

/* A guard region's word: its type is the marker's, and bit 58 tells whether guards have a bit. */
static uint64_t guard_word(struct pgs_ctx *ctx)
{
	void *page = mmap(NULL, ctx->page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	uint64_t word = 0;

	if (page == MAP_FAILED)
		return 0;
	if (!madvise(page, ctx->page_size, MADV_GUARD_INSTALL))
		word = own_word(ctx, page);
	munmap(page, ctx->page_size);
	return word;
}

/* Write-protect an empty shared page of our own: since 5.19 that leaves a marker (bit 57). */
static uint64_t uffd_wp_word(struct pgs_ctx *ctx)
{
	_cleanup_close_ int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_WP_HUGETLBFS_SHMEM};
	struct uffdio_register reg = {.mode = UFFDIO_REGISTER_MODE_WP};
	struct uffdio_writeprotect wp = {.mode = UFFDIO_WRITEPROTECT_MODE_WP};
	uint64_t word = 0;
	void *page;

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api))
		return 0;
	page = mmap(NULL, ctx->page_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		    0);
	if (page == MAP_FAILED)
		return 0;
	reg.range.start = wp.range.start = (uintptr_t)page;
	reg.range.len = wp.range.len = ctx->page_size;
	if (!ioctl(fd, UFFDIO_REGISTER, &reg) && !ioctl(fd, UFFDIO_WRITEPROTECT, &wp))
		word = own_word(ctx, page);
	munmap(page, ctx->page_size);
	return word;
}

static bool tree_has(struct pgs_ctx *ctx, const char *path, const char *needle)
{
	_cleanup_free_ char *text = NULL;

	return pgs_read_file(ctx, 0, &text, "%s", path) > 0 && strstr(text, needle);
}

/*
 * make_device_exclusive_range() (5.13) and make_device_exclusive() (6.15, "mm: drop the
 * device-exclusive read entries") exist only with CONFIG_DEVICE_PRIVATE; the former came with four
 * types, the latter with three. Returns -1 when the names cannot be read.
 */
static int count_device_types(struct pgs_ctx *ctx)
{
	_cleanup_free_ char *names = NULL;

	if (pgs_read_file(ctx, 0, &names, "proc/kallsyms") <= 0)
		return -1;
	if (strstr(names, " make_device_exclusive_range\n"))
		return 4;
	return strstr(names, " make_device_exclusive\n") ? 3 : 0;
}

/* @count types down from *@top are @state. */
static void take(struct pgs_swap_types *types, unsigned int *top, unsigned int count,
		 enum pgs_state state)
{
	for (; count; count--)
		types->state[--*top] = (uint8_t)state;
}

/* What a trial leaves behind says nothing when the slot is hidden. */
static bool is_visible_swap(uint64_t word)
{
	return word & PGS_PM_SWAP && word & PGS_PM_FRAME;
}

static void learn_marker(struct pgs_ctx *ctx, struct pgs_swap_types *types)
{
	uint64_t guard = guard_word(ctx);
	uint64_t word = guard & PGS_PM_SWAP ? guard : uffd_wp_word(ctx);

	types->guard_is_bare = guard & PGS_PM_SWAP && !(guard & PGS_PM_GUARD);
	if (is_visible_swap(word))
		types->marker = (int)pgs_pm_swap_type(word);
}

void pgs_swap_types_init(struct pgs_ctx *ctx, struct pgs_swap_types *ret_types)
{
	struct pgs_swap_types types = {.marker = PGS_PM_SWAP_TYPES - 1};
	_cleanup_free_ char *swaps = NULL;
	char *line;

	for (unsigned int i = 0; i < PGS_PM_SWAP_TYPES; i++)
		types.state[i] = i < PGS_SWAP_TYPE_SURE ? PGS_SWAPPED : PGS_UNKNOWN;
	if (ctx->live)
		learn_marker(ctx, &types);
	types.swap_areas = true;
	if (pgs_read_file(ctx, 0, &swaps, "proc/swaps") >= 0) {
		line = strchr(swaps, '\n');
		types.swap_areas = line && line[1];
	} else if (ctx->live && pgs_procfs_is_whole(ctx)) {
		types.swap_areas = false; /* CONFIG_SWAP=n has no such file */
	}
	*ret_types = types;
}

/*
 * From the top down (include/linux/swap.h): swap-in error (6.1 alone, above the markers), markers,
 * device, migration, hwpoison. An option whose trace cannot be found leaves all below it unknown.
 */
void pgs_swap_types_resolve(struct pgs_ctx *ctx, struct pgs_swap_types *types)
{
	unsigned int top = PGS_PM_SWAP_TYPES;
	int nr_device;

	types->resolved = true;
	if (types->marker == (int)top - 2)
		take(types, &top, 1, PGS_POISONED);
	take(types, &top, 1, PGS_UNKNOWN); /* the markers: told by their offset */
	nr_device = count_device_types(ctx);
	if (nr_device < 0)
		return;
	take(types, &top, (unsigned int)nr_device, PGS_DEVICE_PRIVATE);
	if (tree_has(ctx, "proc/vmstat", "pgmigrate_success "))
		take(types, &top, NR_MIGRATION, PGS_MIGRATION);
	if (tree_has(ctx, "proc/meminfo", "HardwareCorrupted:"))
		take(types, &top, 1, PGS_HWPOISON);
	while (top > PGS_SWAP_TYPE_SURE)
		types->state[--top] = PGS_SWAPPED;
}

uint64_t pgs_zero_pfn(struct pgs_ctx *ctx)
{
	volatile const char *page =
		mmap(NULL, ctx->page_size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t word;

	if (page == MAP_FAILED)
		return 0;
	(void)page[0];
	word = ctx->live ? own_word(ctx, (const void *)page) : 0;
	munmap((void *)page, ctx->page_size);
	return word & PGS_PM_PRESENT ? word & PGS_PM_FRAME : 0;
}
