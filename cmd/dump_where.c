// SPDX-License-Identifier: GPL-2.0-only
#include "dump_where.h"

#include "dump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The states take the low bits, in the order of enum pgs_state; the attributes follow. */
enum {
	ATTR_FILE = PGS_STATES,
	ATTR_SOFT_DIRTY,
	ATTR_EXCLUSIVE,
	ATTR_UFFD_WP,
	ATTR_HUGE,
	ATTR_ZERO
};

static const struct {
	const char *name;
	unsigned int bit;
} attr_names[] = {
	{"exclusive", ATTR_EXCLUSIVE},	 {"file", ATTR_FILE},	    {"huge", ATTR_HUGE},
	{"soft_dirty", ATTR_SOFT_DIRTY}, {"uffd_wp", ATTR_UFFD_WP}, {"zero", ATTR_ZERO},
};

/* All of @must, none of @must_not. */
struct where_term {
	uint32_t must, must_not; /* attributes */
	uint64_t must_kpf, must_not_kpf;
};

struct dump_where {
	size_t nr;
	bool needs_frames;
	struct where_term terms[]; /* one of them has to match */
};

static int attr_bit(const char *name)
{
	enum pgs_state state = pgs_state_of_name(name);

	if (state != PGS_UNKNOWN)
		return (int)state;
	for (size_t i = 0; i < sizeof(attr_names) / sizeof(attr_names[0]); i++)
		if (!strcmp(attr_names[i].name, name))
			return (int)attr_names[i].bit;
	return -1;
}

/* States and attributes go before frame flags of the same name; "kpf_" in front means the flag. */
static int parse_name(struct dump_where *where, struct where_term *term, const char *name)
{
	bool negated = *name == '!';
	int bit;

	name += negated;
	bit = attr_bit(name);
	if (bit >= 0) {
		*(negated ? &term->must_not : &term->must) |= UINT32_C(1) << bit;
		return 0;
	}
	bit = pgs_kpf_bit(strncmp(name, "kpf_", 4) ? name : name + 4);
	if (bit < 0)
		return -EINVAL;
	*(negated ? &term->must_not_kpf : &term->must_kpf) |= UINT64_C(1) << bit;
	where->needs_frames = true;
	return 0;
}

static int parse_term(struct dump_where *where, char *text, char **ret_bad)
{
	struct where_term *term = &where->terms[where->nr++];
	char *name;

	while ((name = strsep(&text, ","))) {
		if (!parse_name(where, term, name))
			continue;
		*ret_bad = strdup(name);
		return *ret_bad ? -EINVAL : -ENOMEM;
	}
	return 0;
}

int dump_where_parse(const char *expr, struct dump_where **ret_where, char **ret_bad)
{
	char *text = strdup(expr), *rest = text, *part;
	struct dump_where *where;
	size_t nr = 1;
	int r = 0;

	for (const char *p = expr; *p; p++)
		nr += *p == '|';
	where = calloc(1, sizeof(*where) + nr * sizeof(where->terms[0]));
	if (!text || !where)
		r = -ENOMEM;
	while (!r && (part = strsep(&rest, "|")))
		r = parse_term(where, part, ret_bad);
	free(text);
	if (r) {
		free(where);
		return r;
	}
	*ret_where = where;
	return 0;
}

void dump_where_free(struct dump_where *where)
{
	free(where);
}

bool dump_where_needs_frames(const struct dump_where *where)
{
	return where->needs_frames;
}

static void set_attr(unsigned int bit, enum pgs_tri value, uint32_t *set, uint32_t *unknown)
{
	*set |= (uint32_t)(value == PGS_TRI_YES) << bit;
	*unknown |= (uint32_t)(value == PGS_TRI_UNKNOWN) << bit;
}

/* What is null in the row (dump_rows.c) is unknown here. */
static void run_attrs(const struct dump_run *run, bool soft_dirty, uint32_t *set, uint32_t *unknown)
{
	const struct pgs_page *page = &run->page;
	bool is_table = page->state != PGS_UNSCANNED, has_bits = is_table && !run->bits_lost;
	enum pgs_tri clear = has_bits ? PGS_TRI_NO : PGS_TRI_UNKNOWN;

	*set = *unknown = 0;
	if (page->state == PGS_UNKNOWN)
		*unknown = (UINT32_C(1) << PGS_STATES) - 1;
	else
		*set = UINT32_C(1) << page->state;
	if (page->state == PGS_SWAPPED && !run->cache_known)
		*unknown |= UINT32_C(1) << PGS_SWAP_CACHE;
	if (page->file)
		set_attr(ATTR_FILE, PGS_TRI_YES, set, unknown);
	else if (!is_table || page->state == PGS_UNKNOWN)
		set_attr(ATTR_FILE, PGS_TRI_UNKNOWN, set, unknown);
	if (!soft_dirty)
		set_attr(ATTR_SOFT_DIRTY, PGS_TRI_UNKNOWN, set, unknown);
	else
		set_attr(ATTR_SOFT_DIRTY, page->soft_dirty ? PGS_TRI_YES : clear, set, unknown);
	set_attr(ATTR_EXCLUSIVE, page->exclusive ? PGS_TRI_YES : clear, set, unknown);
	set_attr(ATTR_UFFD_WP, page->uffd_wp ? PGS_TRI_YES : clear, set, unknown);
	set_attr(ATTR_HUGE, is_table ? run->huge : PGS_TRI_UNKNOWN, set, unknown);
	set_attr(ATTR_ZERO, is_table ? run->zero : PGS_TRI_UNKNOWN, set, unknown);
}

bool dump_where_matches(const struct dump_where *where, const struct dump_run *run, bool soft_dirty)
{
	bool has_flags = run->has_flags && !run->racy;
	uint64_t flags = pgs_kpf_expand(run->kpageflags);
	uint32_t set, unknown;

	run_attrs(run, soft_dirty, &set, &unknown);
	for (size_t i = 0; i < where->nr; i++) {
		const struct where_term *term = &where->terms[i];
		bool asks_kpf = term->must_kpf | term->must_not_kpf;

		if ((set & term->must) != term->must || set & term->must_not ||
		    unknown & (term->must | term->must_not))
			continue;
		if (!asks_kpf || (has_flags && (flags & term->must_kpf) == term->must_kpf &&
				  !(flags & term->must_not_kpf)))
			return true;
	}
	return false;
}
