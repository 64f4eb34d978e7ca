/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ctx: where the kernel's files are read from, and one line about what went wrong.
 *
 * Every object of libpgscan hangs on one context. It knows the directory that holds proc/ and
 * sys/ ("/" for this machine, a container's host mounts or a captured tree otherwise), the page
 * size, and the text of the last failure. One thread uses a context at a time.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pgs_ctx {
	int root_fd;	    /* directory that holds proc/ and sys/ */
	char *root;	    /* its name, which paths in messages begin with: "" for "/" */
	bool live;	    /* root is "/": the running kernel answers, ioctls are worth trying */
	uint32_t page_size; /* bytes */
	unsigned int page_shift;
	unsigned int disabled; /* PGS_MECH_* masked by PGSCAN_DISABLE, for tests of the fallbacks */
	char error[768];       /* pgs_ctx_error() */
	struct pgs_devices *devices; /* what maps.c has found out; NULL: nothing yet */
};

/* Mechanisms that PGSCAN_DISABLE (a comma-separated list, secure_getenv) can mask. */
#define PGS_MECH_PAGEMAP_SCAN  (1u << 0)
#define PGS_MECH_MAP_FILES     (1u << 1)
#define PGS_MECH_MODULE	       (1u << 2)
#define PGS_MECH_PROCMAP_QUERY (1u << 3)
#define PGS_MECH_UFFD	       (1u << 4)
#define PGS_MECH_SOFT_DIRTY    (1u << 5)
#define PGS_MECH_KCORE	       (1u << 6)
#define PGS_MECH_KCORE_CACHE   (1u << 7)
#define PGS_MECH_COUNTERS      (1u << 8)

/*
 * pgs_ctx_open - open the tree at @root (NULL or "/": this machine).
 * Returns 0, or -errno (-ENOENT: no proc/ in it; -EINVAL: PGSCAN_DISABLE has an unknown word).
 * The caller owns *@ret_ctx; pgs_ctx_close() frees it and takes NULL. On failure *@ret_ctx is
 * still set when memory allowed, so that pgs_ctx_error() can be asked.
 */
int pgs_ctx_open(const char *root, struct pgs_ctx **ret_ctx)
	__attribute__((nonnull(2), warn_unused_result));
void pgs_ctx_close(struct pgs_ctx *ctx);
void pgs_ctx_closep(struct pgs_ctx **ctx);

/*
 * pgs_ctx_error - one line about the last failure: lower case, no full stop, path in quotes.
 * Points into @ctx; valid until the next failure. Never NULL.
 */
const char *pgs_ctx_error(const struct pgs_ctx *ctx) __attribute__((nonnull));

/* pgs_ctx_fail - record the line and return @err (a -errno) so that callers can `return` it. */
int pgs_ctx_fail(struct pgs_ctx *ctx, int err, const char *fmt, ...)
	__attribute__((nonnull(1, 3), format(printf, 3, 4)));

/* pgs_mech_enabled - false when PGSCAN_DISABLE masks @mech (one PGS_MECH_ bit). */
static inline bool pgs_mech_enabled(const struct pgs_ctx *ctx, unsigned int mech)
{
	return !(ctx->disabled & mech);
}

/* pgs_is_shortage - whether @err (a -errno) is of a caller that ran short, of descriptors or of
 * memory: it tells nothing of what was asked for, which may be there. */
static inline bool pgs_is_shortage(int err)
{
	return err == -EMFILE || err == -ENFILE || err == -ENOMEM;
}
