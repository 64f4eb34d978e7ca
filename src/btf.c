// SPDX-License-Identifier: GPL-2.0-only
#include "btf.h"

#include "cleanup.h"
#include "procfs.h"

#include <errno.h>
#include <linux/btf.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#define DEPTH_MAX    16u /* of anonymous members, arrays and qualifiers: the kernel has five */
#define MEMBERS_MAX  65536u
#define POINTER_SIZE 8u

struct blob {
	void *bytes;
	size_t size;
	bool is_map; /* or else on the heap */
};

struct pgs_btf {
	struct blob blob; /* ours, if it is the file's */
	const unsigned char *types;
	size_t types_len;
	const char *strings; /* the last byte is 0 */
	uint32_t strings_len;
	uint32_t *offset; /* of each type, by id; id 0 is void and has none */
	uint32_t nr_types;
	uint32_t *structs; /* ids of named structures, open addressing by name; 0: free */
	uint32_t structs_mask;
};

/* ---- the blob -------------------------------------------------------------------------------- */

/*
 * What follows the twelve bytes that all kinds begin with: so many bytes, and so many more for each
 * of the type's members. Of kinds that are not in the list nothing is known, not even their length.
 */
static const struct tail {
	bool is_known;
	uint8_t bytes, each;
} tails[BTF_INFO_KIND(UINT32_MAX) + 1] = {
	[BTF_KIND_INT] = {true, sizeof(uint32_t), 0},
	[BTF_KIND_PTR] = {true, 0, 0},
	[BTF_KIND_ARRAY] = {true, sizeof(struct btf_array), 0},
	[BTF_KIND_STRUCT] = {true, 0, sizeof(struct btf_member)},
	[BTF_KIND_UNION] = {true, 0, sizeof(struct btf_member)},
	[BTF_KIND_ENUM] = {true, 0, sizeof(struct btf_enum)},
	[BTF_KIND_FWD] = {true, 0, 0},
	[BTF_KIND_TYPEDEF] = {true, 0, 0},
	[BTF_KIND_VOLATILE] = {true, 0, 0},
	[BTF_KIND_CONST] = {true, 0, 0},
	[BTF_KIND_RESTRICT] = {true, 0, 0},
	[BTF_KIND_FUNC] = {true, 0, 0},
	[BTF_KIND_FUNC_PROTO] = {true, 0, sizeof(struct btf_param)},
	[BTF_KIND_VAR] = {true, sizeof(struct btf_var), 0},
	[BTF_KIND_DATASEC] = {true, 0, sizeof(struct btf_var_secinfo)},
	[BTF_KIND_FLOAT] = {true, 0, 0},
	[BTF_KIND_DECL_TAG] = {true, sizeof(struct btf_decl_tag), 0},
	[BTF_KIND_TYPE_TAG] = {true, 0, 0},
	[BTF_KIND_ENUM64] = {true, 0, sizeof(struct btf_enum64)},
};

/* The sections must lie in the blob and be aligned; the strings begin and end with a 0. */
static int parse_header(struct pgs_btf *btf, const unsigned char *blob, size_t size)
{
	struct btf_header h;
	uint64_t body;

	if (size < sizeof(h))
		return -EBADMSG;
	memcpy(&h, blob, sizeof(h));
	body = size - h.hdr_len;
	if (h.magic != BTF_MAGIC || h.version != BTF_VERSION || h.hdr_len < sizeof(h) ||
	    h.hdr_len > size || (h.hdr_len | h.type_off) % sizeof(uint32_t))
		return -EBADMSG;
	if (h.type_off > body || h.type_len > body - h.type_off || h.str_off > body ||
	    h.str_len > body - h.str_off || !h.str_len)
		return -EBADMSG;
	btf->types = blob + h.hdr_len + h.type_off;
	btf->types_len = h.type_len;
	btf->strings = (const char *)blob + h.hdr_len + h.str_off;
	btf->strings_len = h.str_len;
	return btf->strings[0] || btf->strings[h.str_len - 1] ? -EBADMSG : 0;
}

static const struct btf_type *type_at(const struct pgs_btf *btf, uint32_t offset)
{
	return (const struct btf_type *)(btf->types + offset);
}

/* NULL: no such type, or void. */
static const struct btf_type *type_of(const struct pgs_btf *btf, uint32_t id)
{
	return id && id <= btf->nr_types ? type_at(btf, btf->offset[id]) : NULL;
}

static const char *name_of(const struct pgs_btf *btf, uint32_t name_off)
{
	return name_off < btf->strings_len ? btf->strings + name_off : "";
}

/*
 * Find where each type begins: they are of different lengths, and are named by their number. The
 * one pass over a hundred thousand of them, so it also notes which are structures with a name, in
 * @structs. Returns how many of those there are, or -EBADMSG.
 */
static int64_t index_types(struct pgs_btf *btf, uint32_t *structs)
{
	uint32_t nr_structs = 0;
	size_t at = 0;

	while (at < btf->types_len) {
		size_t left = btf->types_len - at, size = sizeof(struct btf_type);
		const struct btf_type *type = type_at(btf, (uint32_t)at);
		const struct tail *tail;

		if (left < size)
			return -EBADMSG;
		tail = &tails[BTF_INFO_KIND(type->info)];
		size += tail->bytes + (size_t)tail->each * BTF_INFO_VLEN(type->info);
		if (!tail->is_known || left < size)
			return -EBADMSG;
		btf->offset[++btf->nr_types] = (uint32_t)at;
		if (BTF_INFO_KIND(type->info) == BTF_KIND_STRUCT && type->name_off)
			structs[nr_structs++] = btf->nr_types;
		at += size;
	}
	return nr_structs;
}

/* ---- structures by name ---------------------------------------------------------------------- */

/* FNV-1a, 32 bits */
static uint32_t hash_name(const char *name)
{
	uint32_t hash = 2166136261u;

	while (*name)
		hash = (hash ^ (unsigned char)*name++) * 16777619u;
	return hash;
}

/* The place of @name in the table: that of the structure, or the free one where it would be. */
static uint32_t *find_place(const struct pgs_btf *btf, const char *name)
{
	uint32_t at = hash_name(name) & btf->structs_mask;

	while (btf->structs[at] &&
	       strcmp(name_of(btf, type_of(btf, btf->structs[at])->name_off), name) != 0)
		at = (at + 1) & btf->structs_mask;
	return &btf->structs[at];
}

static int index_structs(struct pgs_btf *btf, const uint32_t *structs, uint32_t nr)
{
	uint32_t places = 16;

	while (places < nr * 2)
		places *= 2;
	btf->structs = calloc(places, sizeof(*btf->structs));
	if (!btf->structs)
		return -ENOMEM;
	btf->structs_mask = places - 1;
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t *place = find_place(btf, name_of(btf, type_of(btf, structs[i])->name_off));

		if (!*place)
			*place = structs[i];
	}
	return 0;
}

/* Memory for as many types as there can be; what of it is not needed is never touched. */
static int index_all(struct pgs_btf *btf)
{
	size_t most = btf->types_len / sizeof(struct btf_type) + 1;
	_cleanup_free_ uint32_t *structs = malloc(most * sizeof(*structs));
	int64_t nr;

	btf->offset = malloc(most * sizeof(*btf->offset));
	if (!structs || !btf->offset)
		return -ENOMEM;
	nr = index_types(btf, structs);
	return nr < 0 ? (int)nr : index_structs(btf, structs, (uint32_t)nr);
}

static const struct btf_type *find_struct(const struct pgs_btf *btf, const char *name)
{
	return type_of(btf, *find_place(btf, name));
}

/* ---- open and close -------------------------------------------------------------------------- */

int pgs_btf_new(const void *blob, size_t size, struct pgs_btf **ret_btf)
{
	_cleanup_(pgs_btf_freep) struct pgs_btf *btf = calloc(1, sizeof(*btf));
	int r;

	if (!btf)
		return -ENOMEM;
	r = parse_header(btf, blob, size);
	if (!r)
		r = index_all(btf);
	if (r)
		return r;
	*ret_btf = btf;
	btf = NULL;
	return 0;
}

#define VMLINUX "sys/kernel/btf/vmlinux"

/*
 * Mapped, where the kernel lets us (6.16, "btf: Allow mmap of vmlinux btf"): reads of sysfs are of
 * a page each. Another file that lies there could be cut short while it is mapped: it is read.
 */
static int map_file(struct pgs_ctx *ctx, struct blob *ret_blob)
{
	_cleanup_close_ int fd = pgs_open(ctx, 0, 0, VMLINUX);
	struct statfs fs;
	struct stat st;
	void *map;

	if (fd < 0)
		return fd;
	if (fstatfs(fd, &fs) || fs.f_type != SYSFS_MAGIC || fstat(fd, &st))
		return -ENODEV;
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	*ret_blob = (struct blob){.bytes = map, .size = (size_t)st.st_size, .is_map = true};
	return 0;
}

static int read_file(struct pgs_ctx *ctx, struct blob *ret_blob)
{
	char *bytes;
	ssize_t size = pgs_read_file(ctx, 0, &bytes, VMLINUX);

	if (size < 0)
		return (int)size;
	*ret_blob = (struct blob){.bytes = bytes, .size = (size_t)size};
	return 0;
}

static void blob_fini(struct blob *blob)
{
	if (blob->is_map)
		munmap(blob->bytes, blob->size);
	else
		free(blob->bytes);
}

int pgs_btf_open(struct pgs_ctx *ctx, struct pgs_btf **ret_btf)
{
	struct blob blob = {0};
	int r = map_file(ctx, &blob) ? read_file(ctx, &blob) : 0;

	if (r)
		return r;
	r = pgs_btf_new(blob.bytes, blob.size, ret_btf);
	if (r) {
		blob_fini(&blob);
		return pgs_ctx_fail(ctx, r, "cannot make sense of '/" VMLINUX "'");
	}
	(*ret_btf)->blob = blob;
	return 0;
}

void pgs_btf_free(struct pgs_btf *btf)
{
	if (!btf)
		return;
	blob_fini(&btf->blob);
	free(btf->offset);
	free(btf->structs);
	free(btf);
}

void pgs_btf_freep(struct pgs_btf **btf)
{
	pgs_btf_free(*btf);
}

/* ---- members --------------------------------------------------------------------------------- */

/* The type behind names and qualifiers; NULL when they lead nowhere. */
static const struct btf_type *strip(const struct pgs_btf *btf, uint32_t id)
{
	for (unsigned int depth = 0; depth < DEPTH_MAX; depth++) {
		const struct btf_type *type = type_of(btf, id);

		if (!type)
			return NULL;
		switch (BTF_INFO_KIND(type->info)) {
		case BTF_KIND_TYPEDEF:
		case BTF_KIND_VOLATILE:
		case BTF_KIND_CONST:
		case BTF_KIND_RESTRICT:
		case BTF_KIND_TYPE_TAG:
			id = type->type;
			continue;
		}
		return type;
	}
	return NULL;
}

static bool is_container(const struct btf_type *type)
{
	unsigned int kind = type ? BTF_INFO_KIND(type->info) : BTF_KIND_UNKN;

	return kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION;
}

/* Bytes of a type, 0 where it has none; *@ret_elements those of an array's first dimension. */
static uint32_t size_of(const struct pgs_btf *btf, uint32_t id, uint32_t *ret_elements)
{
	uint64_t times = 1;

	*ret_elements = 0;
	for (unsigned int depth = 0; depth < DEPTH_MAX; depth++) {
		const struct btf_type *type = strip(btf, id);
		const struct btf_array *array;
		uint64_t size = 0;

		if (!type)
			return 0;
		switch (BTF_INFO_KIND(type->info)) {
		case BTF_KIND_ARRAY:
			array = (const struct btf_array *)(type + 1);
			*ret_elements = depth ? *ret_elements : array->nelems;
			if (__builtin_mul_overflow(times, (uint64_t)array->nelems, &times))
				return 0;
			id = array->type;
			continue;
		case BTF_KIND_PTR:
			size = POINTER_SIZE;
			break;
		case BTF_KIND_INT:
		case BTF_KIND_STRUCT:
		case BTF_KIND_UNION:
		case BTF_KIND_ENUM:
		case BTF_KIND_ENUM64:
		case BTF_KIND_FLOAT:
			size = type->size;
		}
		return __builtin_mul_overflow(times, size, &size) || size > UINT32_MAX
			       ? 0
			       : (uint32_t)size;
	}
	return 0;
}

static uint32_t bit_offset(const struct btf_type *type, const struct btf_member *member)
{
	return BTF_INFO_KFLAG(type->info) ? BTF_MEMBER_BIT_OFFSET(member->offset) : member->offset;
}

static bool is_bitfield(const struct btf_type *type, const struct btf_member *member)
{
	return bit_offset(type, member) % 8 ||
	       (BTF_INFO_KFLAG(type->info) && BTF_MEMBER_BITFIELD_SIZE(member->offset));
}

/* The search for a member. @budget bounds it: a blob that was made up may nest without end. */
struct search {
	const struct pgs_btf *btf;
	const char *name;
	size_t len;
	unsigned int budget;	   /* members still to be looked at */
	const struct btf_type *in; /* found: the structure it is a direct member of */
	uint64_t bits;		   /* found: from the start of the one that was searched */
};

static bool has_name(const struct search *search, const struct btf_member *member)
{
	const char *own = name_of(search->btf, member->name_off);

	return !strncmp(own, search->name, search->len) && !own[search->len];
}

/* The member of that name of @type, or of an anonymous member of it. */
static const struct btf_member *find_member(struct search *search, const struct btf_type *type,
					    unsigned int depth)
{
	const struct btf_member *members = (const struct btf_member *)(type + 1), *found;

	for (uint32_t i = 0; i < BTF_INFO_VLEN(type->info) && search->budget; i++) {
		const struct btf_type *inner;

		search->budget--;
		if (has_name(search, &members[i])) {
			search->bits += bit_offset(type, &members[i]);
			search->in = type;
			return &members[i];
		}
		if (*name_of(search->btf, members[i].name_off) || depth == DEPTH_MAX)
			continue;
		inner = strip(search->btf, members[i].type);
		found = is_container(inner) ? find_member(search, inner, depth + 1) : NULL;
		if (found) {
			search->bits += bit_offset(type, &members[i]);
			return found;
		}
	}
	return NULL;
}

int pgs_btf_member(const struct pgs_btf *btf, const char *type_name, const char *path,
		   struct pgs_btf_member *ret_member)
{
	struct search search = {.btf = btf, .budget = MEMBERS_MAX};
	const struct btf_type *type = find_struct(btf, type_name);
	const struct btf_member *member;
	struct pgs_btf_member ret = {0};

	do {
		search.name = path;
		search.len = strcspn(path, ".");
		member = is_container(type) ? find_member(&search, type, 0) : NULL;
		if (!member)
			return -ENOENT;
		if (is_bitfield(search.in, member))
			return -EINVAL;
		type = strip(btf, member->type);
		path += search.len;
	} while (*path++);
	ret.size = size_of(btf, member->type, &ret.elements);
	ret.offset = (uint32_t)(search.bits / 8);
	if (!ret.size || search.bits / 8 > UINT32_MAX)
		return -EINVAL;
	*ret_member = ret;
	return 0;
}

int pgs_btf_sizeof(const struct pgs_btf *btf, const char *type_name, uint32_t *ret_size)
{
	const struct btf_type *type = find_struct(btf, type_name);

	if (!type)
		return -ENOENT;
	*ret_size = type->size;
	return 0;
}

int pgs_btf_enumerator(const struct pgs_btf *btf, const char *name, uint32_t *ret_value)
{
	for (uint32_t id = 1; id <= btf->nr_types; id++) {
		const struct btf_type *type = type_of(btf, id);
		const struct btf_enum *values = (const struct btf_enum *)(type + 1);

		if (BTF_INFO_KIND(type->info) != BTF_KIND_ENUM)
			continue;
		for (uint32_t i = 0; i < BTF_INFO_VLEN(type->info); i++) {
			if (!strcmp(name_of(btf, values[i].name_off), name)) {
				*ret_value = (uint32_t)values[i].val;
				return 0;
			}
		}
	}
	return -ENOENT;
}
