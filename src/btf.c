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
#define CHUNK	     32768u /* bytes that are read at once */

/* A part of the blob, of which the first @ready bytes can be looked at. */
struct section {
	unsigned char *bytes;
	uint32_t len, ready;
	uint64_t at; /* in the file */
};

/* The file's bytes, or room for them. */
struct blob {
	void *bytes;
	size_t size;
	bool is_map; /* or else on the heap */
};

/*
 * The kernel's blob has 5 MB, a read gives a page of it, and what is looked for mostly lies in its
 * first third, so it is read and its types are numbered as far as somebody asks.
 */
struct pgs_btf {
	int fd;		  /* -1: there is nothing to be read */
	struct blob blob; /* ours, if it is the file's */
	struct section types, strings;
	int error;	   /* that ended it early */
	uint32_t *offset;  /* of each type, by id; id 0 is void and has none */
	uint32_t nr_types; /* that have been numbered */
	uint64_t next;	   /* where the one after them begins */
	uint32_t *structs; /* ids of those that are structures with a name */
	uint32_t nr_structs;
	const struct btf_type *last; /* structure that was asked for */
};

/* ---- the blob -------------------------------------------------------------------------------- */

/* The sections must lie in the blob and be aligned. @bytes: all of the blob, of which only the
 * header needs to be there. */
static int parse_header(struct pgs_btf *btf, unsigned char *bytes, size_t size, bool is_read)
{
	struct btf_header h;
	uint64_t body;

	if (size < sizeof(h))
		return -EBADMSG;
	memcpy(&h, bytes, sizeof(h));
	body = size - h.hdr_len;
	if (h.magic != BTF_MAGIC || h.version != BTF_VERSION || h.hdr_len < sizeof(h) ||
	    h.hdr_len > size || (h.hdr_len | h.type_off) % sizeof(uint32_t))
		return -EBADMSG;
	if (h.type_off > body || h.type_len > body - h.type_off || h.str_off > body ||
	    h.str_len > body - h.str_off || !h.str_len)
		return -EBADMSG;
	btf->types = (struct section){.len = h.type_len, .at = (uint64_t)h.hdr_len + h.type_off};
	btf->strings = (struct section){.len = h.str_len, .at = (uint64_t)h.hdr_len + h.str_off};
	btf->types.bytes = bytes + btf->types.at;
	btf->strings.bytes = bytes + btf->strings.at;
	btf->types.ready = is_read ? h.type_len : 0;
	btf->strings.ready = is_read ? h.str_len : 0;
	return 0;
}

/* Have the section's bytes below @end. False: it has not so many, or they cannot be read. */
static bool have(struct pgs_btf *btf, struct section *section, uint64_t end)
{
	uint64_t want = end < section->ready + (uint64_t)CHUNK ? section->ready + CHUNK : end;
	int r;

	if (end <= section->ready)
		return true;
	if (end > section->len || btf->error)
		return false;
	want = want < section->len ? want : section->len;
	r = pgs_read_at(btf->fd, section->bytes + section->ready, want - section->ready,
			section->at + section->ready);
	btf->error = r == -ENODATA ? -EBADMSG : r;
	if (!r)
		section->ready = (uint32_t)want;
	return !r;
}

/* Whether the string at @at is @name, of @len characters. */
static bool is_string(struct pgs_btf *btf, uint32_t at, const char *name, size_t len)
{
	const unsigned char *own = btf->strings.bytes + at;

	return have(btf, &btf->strings, (uint64_t)at + len + 1) && *own == (unsigned char)*name &&
	       !memcmp(own, name, len) && !own[len];
}

/* ---- types ----------------------------------------------------------------------------------- */

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

static const struct btf_type *type_at(const struct pgs_btf *btf, uint64_t offset)
{
	return (const struct btf_type *)(btf->types.bytes + offset);
}

static bool is_bad(struct pgs_btf *btf)
{
	btf->error = btf->error ?: -EBADMSG;
	return false;
}

/* Find where one more type ends: they are of different lengths, and are named by their number. */
static bool number_next(struct pgs_btf *btf)
{
	const struct btf_type *type = type_at(btf, btf->next);
	uint64_t end = btf->next + sizeof(*type);
	const struct tail *tail;

	if (btf->error || btf->next == btf->types.len)
		return false;
	if (!have(btf, &btf->types, end))
		return is_bad(btf);
	tail = &tails[BTF_INFO_KIND(type->info)];
	end += tail->bytes + (uint64_t)tail->each * BTF_INFO_VLEN(type->info);
	if (!tail->is_known || !have(btf, &btf->types, end))
		return is_bad(btf);
	btf->offset[++btf->nr_types] = (uint32_t)btf->next;
	if (BTF_INFO_KIND(type->info) == BTF_KIND_STRUCT && type->name_off)
		btf->structs[btf->nr_structs++] = btf->nr_types;
	btf->next = end;
	return true;
}

/* NULL: no such type, or void. */
static const struct btf_type *type_of(struct pgs_btf *btf, uint32_t id)
{
	while (id > btf->nr_types && number_next(btf))
		;
	return id && id <= btf->nr_types ? type_at(btf, btf->offset[id]) : NULL;
}

static const struct btf_type *find_struct(struct pgs_btf *btf, const char *name)
{
	size_t len = strlen(name);

	if (btf->last && is_string(btf, btf->last->name_off, name, len))
		return btf->last;
	for (uint32_t i = 0;; i++) {
		const struct btf_type *type;

		while (i == btf->nr_structs)
			if (!number_next(btf))
				return NULL;
		type = type_of(btf, btf->structs[i]);
		if (is_string(btf, type->name_off, name, len))
			return btf->last = type;
	}
}

/* ---- open and close -------------------------------------------------------------------------- */

/* Memory for as many types as there can be; what of it is not needed is never touched. */
static int init_types(struct pgs_btf *btf)
{
	size_t most = btf->types.len / sizeof(struct btf_type) + 1;

	btf->offset = malloc(most * sizeof(*btf->offset));
	btf->structs = malloc(most * sizeof(*btf->structs));
	return btf->offset && btf->structs ? 0 : -ENOMEM;
}

static int btf_new(void *bytes, size_t size, bool is_read, struct pgs_btf **ret_btf)
{
	_cleanup_(pgs_btf_freep) struct pgs_btf *btf = calloc(1, sizeof(*btf));
	int r;

	if (!btf)
		return -ENOMEM;
	btf->fd = -1;
	r = parse_header(btf, bytes, size, is_read);
	if (!r)
		r = init_types(btf);
	if (r)
		return r;
	*ret_btf = btf;
	btf = NULL;
	return 0;
}

int pgs_btf_new(const void *blob, size_t size, struct pgs_btf **ret_btf)
{
	return btf_new((void *)(uintptr_t)blob, size, true, ret_btf); /* is not written to */
}

/*
 * Mapped, where the kernel lets us (6.16, "btf: Allow mmap of vmlinux btf"). Another file that lies
 * there could be cut short while it is mapped: it is read.
 */
static bool map_blob(int fd, struct blob *blob)
{
	struct statfs fs;
	void *map;

	if (fstatfs(fd, &fs) || fs.f_type != SYSFS_MAGIC)
		return false;
	map = mmap(NULL, blob->size, PROT_READ, MAP_PRIVATE, fd, 0);
	blob->is_map = map != MAP_FAILED;
	if (blob->is_map)
		blob->bytes = map;
	return blob->is_map;
}

/* The header alone, and room for the rest. */
static int read_blob(int fd, struct blob *blob)
{
	if (blob->size < sizeof(struct btf_header))
		return -EBADMSG;
	blob->bytes = malloc(blob->size);
	return blob->bytes ? pgs_read_at(fd, blob->bytes, sizeof(struct btf_header), 0) : -ENOMEM;
}

static void blob_fini(struct blob *blob)
{
	if (blob->is_map)
		munmap(blob->bytes, blob->size);
	else
		free(blob->bytes);
}

static int open_blob(int fd, struct pgs_btf **ret_btf)
{
	struct blob blob = {0};
	struct stat st;
	int r;

	if (fstat(fd, &st))
		return -errno;
	blob.size = (size_t)st.st_size;
	r = map_blob(fd, &blob) ? 0 : read_blob(fd, &blob);
	if (!r)
		r = btf_new(blob.bytes, blob.size, blob.is_map, ret_btf);
	if (r)
		blob_fini(&blob);
	else
		(*ret_btf)->blob = blob;
	return r;
}

int pgs_btf_open(struct pgs_ctx *ctx, struct pgs_btf **ret_btf)
{
	_cleanup_close_ int fd = pgs_open(ctx, 0, 0, "sys/kernel/btf/vmlinux");
	int r = fd < 0 ? fd : open_blob(fd, ret_btf);

	if (r)
		return r;
	(*ret_btf)->fd = fd;
	fd = -1;
	return 0;
}

int pgs_btf_error(const struct pgs_btf *btf)
{
	return btf->error;
}

void pgs_btf_free(struct pgs_btf *btf)
{
	if (!btf)
		return;
	pgs_closep(&btf->fd);
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
static const struct btf_type *strip(struct pgs_btf *btf, uint32_t id)
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
static uint32_t size_of(struct pgs_btf *btf, uint32_t id, uint32_t *ret_elements)
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
	struct pgs_btf *btf;
	const char *name;
	size_t len;
	unsigned int budget;	   /* members still to be looked at */
	const struct btf_type *in; /* found: the structure it is a direct member of */
	uint64_t bits;		   /* found: from the start of the one that was searched */
};

/* The member of that name of @type, or of an anonymous member of it. */
static const struct btf_member *find_member(struct search *search, const struct btf_type *type,
					    unsigned int depth)
{
	const struct btf_member *members = (const struct btf_member *)(type + 1), *found;

	for (uint32_t i = 0; i < BTF_INFO_VLEN(type->info) && search->budget; i++) {
		const struct btf_type *inner;

		search->budget--;
		if (is_string(search->btf, members[i].name_off, search->name, search->len)) {
			search->bits += bit_offset(type, &members[i]);
			search->in = type;
			return &members[i];
		}
		if (members[i].name_off || depth == DEPTH_MAX)
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

int pgs_btf_member(struct pgs_btf *btf, const char *type_name, const char *path,
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

int pgs_btf_sizeof(struct pgs_btf *btf, const char *type_name, uint32_t *ret_size)
{
	const struct btf_type *type = find_struct(btf, type_name);

	if (!type)
		return -ENOENT;
	*ret_size = type->size;
	return 0;
}
