/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * btf: where the members of the kernel's structures lie, by name, from the type information that
 * the kernel carries (CONFIG_DEBUG_INFO_BTF; Documentation/bpf/btf.rst).
 *
 * Every length and every reference is checked before it is followed: a blob that is cut short or
 * made up is refused, or names nothing; it is never read past its end.
 */
#pragma once

#include "ctx.h"

struct pgs_btf;

/* pgs_btf_open - /sys/kernel/btf/vmlinux; everybody may read it. It is read as far as what is asked
 * for needs. 0, or -errno: -ENOENT no such file, -EBADMSG not what is expected. */
int pgs_btf_open(struct pgs_ctx *ctx, struct pgs_btf **ret_btf)
	__attribute__((nonnull, warn_unused_result));
/* pgs_btf_new - the same from memory. @blob is the caller's and must outlive what is returned.
 * 0, -EBADMSG, -ENOMEM. */
int pgs_btf_new(const void *blob, size_t size, struct pgs_btf **ret_btf)
	__attribute__((nonnull, warn_unused_result));
/* pgs_btf_error - why something may not have been found that is there: -EBADMSG a type makes no
 * sense, -errno a read failed; 0: all that was not found is not there. */
int pgs_btf_error(const struct pgs_btf *btf) __attribute__((nonnull, warn_unused_result));
void pgs_btf_free(struct pgs_btf *btf);
void pgs_btf_freep(struct pgs_btf **btf);

struct pgs_btf_member {
	uint32_t offset, size; /* bytes; the size of an array is that of all of it */
	uint32_t elements;     /* of an array; 0: it is none */
};

/*
 * pgs_btf_member - member @path of struct @type, also one in an anonymous structure inside it.
 * A path has dots where it leads into members: "d_u.d_alias". Of several structures of one name the
 * first counts. 0; -ENOENT no such structure or member; -EINVAL a bit-field, or a type of no size.
 */
int pgs_btf_member(struct pgs_btf *btf, const char *type, const char *path,
		   struct pgs_btf_member *ret_member) __attribute__((nonnull, warn_unused_result));

/* pgs_btf_sizeof - bytes of struct @type. 0 or -ENOENT. */
int pgs_btf_sizeof(struct pgs_btf *btf, const char *type, uint32_t *ret_size)
	__attribute__((nonnull, warn_unused_result));
