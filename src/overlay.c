// SPDX-License-Identifier: GPL-2.0-only
#include "overlay.h"

#include "cleanup.h"
#include "mountinfo.h"
#include "swap.h"
#include "units.h"

#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>

static bool is_on_tmpfs(const char *path)
{
	struct statfs fs;

	return path[0] == '/' && !statfs(path, &fs) && fs.f_type == TMPFS_MAGIC;
}

/* "/a:/b::/data": one directory or many. Cut up in place. */
static bool any_on_tmpfs(char *dirs)
{
	char *dir;

	while ((dir = strsep(&dirs, ":")))
		if (is_on_tmpfs(dir))
			return true;
	return false;
}

/* What an option names, if that is a layer: "lowerdir+" and "datadir+" name one each (6.8). */
static const char *layer_of(const char *option)
{
	static const char *const keys[] = {"upperdir=", "lowerdir=", "lowerdir+=", "datadir+="};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strncmp(option, keys[i], strlen(keys[i])))
			return option + strlen(keys[i]);
	return NULL;
}

bool pgs_overlay_has_tmpfs(const char *super_options)
{
	const char *option;
	size_t len;

	while ((option = pgs_list_next(&super_options, &len))) {
		const char *layer = layer_of(option);
		_cleanup_free_ char *dirs =
			layer ? strndup(layer, len - (size_t)(layer - option)) : NULL;

		if (dirs && any_on_tmpfs(pgs_mount_unescape(dirs)))
			return true;
	}
	return false;
}

/* tmpfs has no map of blocks (FS_IOC_FIEMAP), which overlayfs passes on. Nothing is written back
 * for it without FIEMAP_FLAG_SYNC. */
static bool has_blocks(int fd)
{
	struct fiemap map = {.fm_length = 1};

	return fd >= 0 && !ioctl(fd, FS_IOC_FIEMAP, &map);
}

bool pgs_overlay_may_swap(struct pgs_ctx *ctx, int fd)
{
	struct pgs_swap_areas areas;
	bool swap = true;

	if (has_blocks(fd))
		return false;
	if (!pgs_swap_areas_read(ctx, &areas)) {
		swap = areas.nr;
		pgs_swap_areas_fini(&areas);
	}
	return swap;
}
