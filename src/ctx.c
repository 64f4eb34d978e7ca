// SPDX-License-Identifier: GPL-2.0-only
#include "ctx.h"

#include "cleanup.h"
#include "units.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

static const struct {
	const char *word;
	unsigned int mech;
} mech_words[] = {
	{"exact_counters", PGS_MECH_COUNTERS},
	{"kcore", PGS_MECH_KCORE},
	{"kcore_cache", PGS_MECH_KCORE_CACHE},
	{"map_files", PGS_MECH_MAP_FILES},
	{"module", PGS_MECH_MODULE},
	{"pagemap_scan", PGS_MECH_PAGEMAP_SCAN},
	{"procmap_query", PGS_MECH_PROCMAP_QUERY},
	{"soft_dirty", PGS_MECH_SOFT_DIRTY},
	{"uffd", PGS_MECH_UFFD},
};

static unsigned int mech_of_word(const char *word, size_t len)
{
	for (size_t i = 0; i < sizeof(mech_words) / sizeof(mech_words[0]); i++)
		if (strlen(mech_words[i].word) == len && !memcmp(mech_words[i].word, word, len))
			return mech_words[i].mech;
	return 0;
}

static int parse_disabled(struct pgs_ctx *ctx, const char *list)
{
	const char *word;
	size_t len;

	while (list && *list && (word = pgs_list_next(&list, &len))) {
		unsigned int mech = mech_of_word(word, len);

		if (!mech)
			return pgs_ctx_fail(ctx, -EINVAL,
					    "PGSCAN_DISABLE: unknown mechanism '%.*s'", (int)len,
					    word);
		ctx->disabled |= mech;
	}
	return 0;
}

/* A tree is live when its proc/ is the very mount that answers for this process. */
static bool is_live(int root_fd)
{
	struct stat ours, theirs;

	return !fstatat(AT_FDCWD, "/proc/self/", &ours, 0) &&
	       !fstatat(root_fd, "proc/self/", &theirs, 0) && ours.st_dev == theirs.st_dev &&
	       ours.st_ino == theirs.st_ino;
}

static int open_root(struct pgs_ctx *ctx, const char *root)
{
	ctx->root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (ctx->root_fd < 0)
		return pgs_ctx_fail(ctx, -errno, "cannot open '%s': %s", root, strerror(errno));
	if (faccessat(ctx->root_fd, "proc", F_OK, 0) < 0)
		return pgs_ctx_fail(ctx, -errno, "no proc/ in '%s'", root);
	ctx->live = is_live(ctx->root_fd);
	return 0;
}

/* Without the slash that follows it in a path. */
static char *root_prefix(const char *root)
{
	size_t len = strlen(root);

	while (len && root[len - 1] == '/')
		len--;
	return strndup(root, len);
}

int pgs_ctx_open(const char *root, struct pgs_ctx **ret_ctx)
{
	struct pgs_ctx *ctx = calloc(1, sizeof(*ctx));
	int r;

	if (!ctx)
		return -ENOMEM;
	*ret_ctx = ctx;
	ctx->root_fd = -1;
	ctx->page_size = (uint32_t)sysconf(_SC_PAGESIZE);
	ctx->page_shift = (unsigned int)__builtin_ctz(ctx->page_size);
	ctx->root = root_prefix(root ? root : "/");
	if (!ctx->root)
		return -ENOMEM;
	r = parse_disabled(ctx, secure_getenv("PGSCAN_DISABLE"));
	return r ? r : open_root(ctx, root ? root : "/");
}

void pgs_ctx_close(struct pgs_ctx *ctx)
{
	if (!ctx)
		return;
	pgs_closep(&ctx->root_fd);
	free(ctx->devices);
	free(ctx->root);
	free(ctx);
}

void pgs_ctx_closep(struct pgs_ctx **ctx)
{
	pgs_ctx_close(*ctx);
}

const char *pgs_ctx_error(const struct pgs_ctx *ctx)
{
	return ctx->error;
}

int pgs_ctx_fail(struct pgs_ctx *ctx, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(ctx->error, sizeof(ctx->error), fmt, ap);
	va_end(ap);
	return err;
}
