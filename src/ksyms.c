// SPDX-License-Identifier: GPL-2.0-only
#include "ksyms.h"

#include "caps.h"
#include "cleanup.h"
#include "procfs.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/*
 * The table (scripts/kallsyms.c, kernel/kallsyms.c): names are strings of tokens, one byte each,
 * with their number in front; a token stands for a string in kallsyms_token_table, which
 * kallsyms_token_index points into. The first character is the symbol's type letter.
 */
#define TOKENS		256u
#define TOKEN_TABLE_MAX 65536u /* bytes: the index has 16 bits */
#define SYMS_MAX	(8u << 20)
#define CHUNK		65536u
#define NAME_MAX_LEN	1024u

struct table {
	struct pgs_kcore *kcore;
	uint64_t names, offsets; /* where the arrays lie */
	uint32_t nr;
	bool is_relative; /* offsets are from @base, else each from its own place */
	uint64_t base;
	uint16_t index[TOKENS];
	char tokens[TOKEN_TABLE_MAX + 1];
};

/* A window on kallsyms_names, moved along. */
struct names {
	struct pgs_kcore *kcore;
	uint64_t addr; /* of what follows the window */
	size_t at, len;
	unsigned char buf[CHUNK];
};

/* ---- where the table is ---------------------------------------------------------------------- */

static int read_tokens(struct table *table, uint64_t token_table, uint64_t token_index)
{
	uint64_t room = pgs_kcore_room(table->kcore, token_table);
	size_t len = room < TOKEN_TABLE_MAX ? room : TOKEN_TABLE_MAX;
	int r = pgs_kcore_read(table->kcore, token_table, table->tokens, len);

	table->tokens[len] = '\0';
	if (!r)
		r = pgs_kcore_read(table->kcore, token_index, table->index, sizeof(table->index));
	return r;
}

static int open_table(struct pgs_kcore *kcore, struct table **ret_table)
{
	_cleanup_free_ struct table *table = calloc(1, sizeof(*table));
	uint64_t nr, token_table, token_index, base;

	if (!table)
		return -ENOMEM;
	table->kcore = kcore;
	if (pgs_kcore_symbol(kcore, "kallsyms_names", &table->names) ||
	    pgs_kcore_symbol(kcore, "kallsyms_offsets", &table->offsets) ||
	    pgs_kcore_symbol(kcore, "kallsyms_num_syms", &nr) ||
	    pgs_kcore_symbol(kcore, "kallsyms_token_table", &token_table) ||
	    pgs_kcore_symbol(kcore, "kallsyms_token_index", &token_index))
		return -ENOENT;
	table->is_relative = !pgs_kcore_symbol(kcore, "kallsyms_relative_base", &base);
	if (pgs_kcore_read(kcore, nr, &table->nr, sizeof(table->nr)) || table->nr > SYMS_MAX ||
	    (table->is_relative &&
	     pgs_kcore_read(kcore, base, &table->base, sizeof(table->base))) ||
	    read_tokens(table, token_table, token_index))
		return -EBADMSG;
	*ret_table = table;
	table = NULL;
	return 0;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Have at least @need bytes in the window, if memory has them. */
static int names_fill(struct names *names, size_t need)
{
	size_t left = names->len - names->at;
	uint64_t room;

	if (left >= need)
		return 0;
	memmove(names->buf, names->buf + names->at, left);
	names->at = 0;
	names->len = left;
	room = pgs_kcore_room(names->kcore, names->addr);
	if (room > CHUNK - left)
		room = CHUNK - left;
	if (pgs_kcore_read(names->kcore, names->addr, names->buf + left, room))
		return -EBADMSG;
	names->addr += room;
	names->len += room;
	return names->len < need ? -EBADMSG : 0;
}

/* The tokens of the next name: *@ret_tokens lies in the window. A number above 127 takes two bytes
 * (6.1, "kallsyms: support "big" kernel symbols"). Returns how many, or -EBADMSG. */
static int names_next(struct names *names, const unsigned char **ret_tokens)
{
	size_t nr;

	if (names_fill(names, 1))
		return -EBADMSG;
	nr = names->buf[names->at];
	if (nr & 0x80) {
		if (names_fill(names, 2))
			return -EBADMSG;
		nr = (nr & 0x7f) | (size_t)names->buf[names->at + 1] << 7;
		names->at++;
	}
	names->at++;
	if (names_fill(names, nr))
		return -EBADMSG;
	*ret_tokens = names->buf + names->at;
	names->at += nr;
	return (int)nr;
}

/* The name, without its type letter; one that is too long is cut, and is none we look for. */
static void expand(const struct table *table, const unsigned char *tokens, int nr,
		   char name[NAME_MAX_LEN])
{
	bool first = true;
	size_t len = 0;

	for (int i = 0; i < nr; i++) {
		const char *token = table->tokens + table->index[tokens[i]];

		if (first && *token) {
			first = false;
			token++;
		}
		while (*token && len < NAME_MAX_LEN - 1)
			name[len++] = *token++;
	}
	name[len] = '\0';
}

/* ---- addresses ------------------------------------------------------------------------------- */

/*
 * How the 32 bits of a symbol make an address depends on the configuration (6.1 and 6.12 on x86
 * have absolute per-CPU symbols, arm64 has none), which nothing tells: _stext, whose address stands
 * in the note too, does.
 */
enum rule { RULE_SELF, RULE_PERCPU, RULE_BASE, NR_RULES };

static int address_by(const struct table *table, enum rule rule, uint32_t i, uint64_t *ret_addr)
{
	uint64_t at = table->offsets + (uint64_t)i * sizeof(int32_t);
	int32_t value;

	if (pgs_kcore_read(table->kcore, at, &value, sizeof(value)))
		return -EBADMSG;
	switch (rule) {
	case RULE_SELF: /* kernels without kallsyms_relative_base: seen on 7.3 */
		*ret_addr = at + (uint64_t)(int64_t)value;
		break;
	case RULE_PERCPU: /* kallsyms_sym_address() with KALLSYMS_ABSOLUTE_PERCPU */
		*ret_addr =
			value >= 0 ? (uint64_t)value : table->base - 1 - (uint64_t)(int64_t)value;
		break;
	default:
		*ret_addr = table->base + (uint32_t)value;
	}
	return 0;
}

static int find_rule(const struct table *table, uint32_t stext, enum rule *ret_rule)
{
	enum rule first = table->is_relative ? RULE_PERCPU : RULE_SELF;
	enum rule last = table->is_relative ? RULE_BASE : RULE_SELF;
	uint64_t known, addr;

	if (pgs_kcore_symbol(table->kcore, "_stext", &known))
		return -EBADMSG;
	for (enum rule rule = first; rule <= last; rule++) {
		if (!address_by(table, rule, stext, &addr) && addr == known) {
			*ret_rule = rule;
			return 0;
		}
	}
	return -EBADMSG;
}

static int fill_addresses(const struct table *table, struct pgs_ksym *syms, size_t nr,
			  uint32_t stext)
{
	enum rule rule;
	int r = find_rule(table, stext, &rule);

	for (size_t i = 0; i < nr && !r; i++)
		if (syms[i].seen == 1) /* addr holds the symbol's number so far */
			r = address_by(table, rule, (uint32_t)syms[i].addr, &syms[i].addr);
	return r;
}

/*
 * Which of the names that are looked for a token can be part of, as bits: few names of the table
 * share any with one of them, the others need not be spelled.
 */
struct filter {
	uint64_t first[TOKENS]; /* it begins with this one, behind its letter */
	uint64_t later[TOKENS]; /* it has this one, somewhere */
};

static void filter_name(const struct table *table, const char *name, uint64_t bit,
			struct filter *filter)
{
	for (unsigned int i = 0; i < TOKENS; i++) {
		const char *token = table->tokens + table->index[i];

		if (*token && !strncmp(name, token + 1, strlen(token + 1)))
			filter->first[i] |= bit;
		if (strstr(name, token))
			filter->later[i] |= bit;
	}
}

/* More names than there are bits share the last one. */
static void make_filter(const struct table *table, const struct pgs_ksym *syms, size_t nr,
			struct filter *filter)
{
	filter_name(table, "_stext", 1, filter);
	for (size_t i = 0; i < nr; i++)
		filter_name(table, syms[i].name, UINT64_C(2) << (i < 62 ? i : 62), filter);
}

static bool is_candidate(const struct filter *filter, const unsigned char *tokens, int nr)
{
	uint64_t names = nr ? filter->first[tokens[0]] : 0;

	for (int i = 1; i < nr && names; i++)
		names &= filter->later[tokens[i]];
	return names;
}

static struct pgs_ksym *find_sym(struct pgs_ksym *syms, size_t nr, const char *name)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(syms[i].name, name))
			return &syms[i];
	return NULL;
}

static void clear(struct pgs_ksym *syms, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		syms[i].addr = 0;
		syms[i].seen = 0;
	}
}

static int search_table(const struct table *table, struct pgs_ksym *syms, size_t nr)
{
	_cleanup_free_ struct names *names = calloc(1, sizeof(*names));
	_cleanup_free_ struct filter *filter = calloc(1, sizeof(*filter));
	char name[NAME_MAX_LEN];
	uint32_t stext = UINT32_MAX;

	if (!names || !filter)
		return -ENOMEM;
	make_filter(table, syms, nr, filter);
	names->kcore = table->kcore;
	names->addr = table->names;
	for (uint32_t i = 0; i < table->nr; i++) {
		const unsigned char *tokens;
		int nr_tokens = names_next(names, &tokens);
		struct pgs_ksym *sym;

		if (nr_tokens < 0)
			return nr_tokens;
		if (!is_candidate(filter, tokens, nr_tokens))
			continue;
		expand(table, tokens, nr_tokens, name);
		if (!strcmp(name, "_stext"))
			stext = i;
		sym = find_sym(syms, nr, name);
		if (!sym)
			continue;
		sym->addr = i;
		sym->seen++;
	}
	return stext == UINT32_MAX ? -EBADMSG : fill_addresses(table, syms, nr, stext);
}

static int find_in_memory(struct pgs_kcore *kcore, struct pgs_ksym *syms, size_t nr)
{
	_cleanup_free_ struct table *table = NULL;
	int r = open_table(kcore, &table);

	return r ? r : search_table(table, syms, nr);
}

/* ---- /proc/kallsyms -------------------------------------------------------------------------- */

/* "address letter name", of modules also "[module]". Who may not see addresses reads 0. */
static int find_in_proc(struct pgs_ctx *ctx, struct pgs_ksym *syms, size_t nr)
{
	int fd = pgs_open(ctx, PGS_CAP(CAP_SYSLOG), 0, "proc/kallsyms");
	_cleanup_fclose_ FILE *f = fd < 0 ? NULL : fdopen(fd, "re");
	_cleanup_free_ char *line = NULL;
	bool visible = false;
	size_t room = 0;

	if (fd < 0)
		return fd;
	if (!f) {
		close(fd);
		return -ENOMEM;
	}
	while (getline(&line, &room, f) > 0) {
		char name[NAME_MAX_LEN];
		struct pgs_ksym *sym;
		uint64_t addr;

		if (sscanf(line, "%" SCNx64 " %*c %1023s", &addr, name) != 2 || strchr(line, '['))
			continue;
		visible |= addr != 0;
		sym = find_sym(syms, nr, name);
		if (!sym)
			continue;
		sym->addr = addr;
		sym->seen++;
	}
	return visible ? 0
		       : pgs_ctx_fail(ctx, -EPERM,
				      "'/proc/kallsyms' hides addresses (kernel.kptr_restrict)");
}

int pgs_ksyms_find(struct pgs_ctx *ctx, struct pgs_kcore *kcore, struct pgs_ksym *syms, size_t nr)
{
	int r;

	clear(syms, nr);
	r = find_in_memory(kcore, syms, nr);
	if (r && r != -ENOMEM) {
		clear(syms, nr);
		r = find_in_proc(ctx, syms, nr);
	}
	for (size_t i = 0; i < nr; i++)
		if (syms[i].seen != 1)
			syms[i].addr = 0;
	return r;
}
