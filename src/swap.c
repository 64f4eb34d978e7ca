// SPDX-License-Identifier: GPL-2.0-only
#include "swap.h"

#include "cleanup.h"
#include "procfs.h"
#include "units.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* seq_file_path() writes blanks, newlines, tabs and backslashes of the name as \ooo. */
static void unescape_octal(char *s)
{
	char *to = s;

	while (*s) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
		    s[3] >= '0' && s[3] <= '7') {
			*to++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 4;
		} else {
			*to++ = *s++;
		}
	}
	*to = '\0';
}

static bool strip_suffix(char *s, const char *suffix)
{
	size_t len = strlen(s), cut = strlen(suffix);

	if (len < cut || strcmp(s + len - cut, suffix))
		return false;
	s[len - cut] = '\0';
	return true;
}

/*
 * Slot 0 is the header, so the last slot is the number of usable ones, and more where some are bad
 * (mkswap -c): the device's own size is sure.
 */
static uint64_t find_last_slot(struct pgs_ctx *ctx, const struct pgs_swap_area *area)
{
	const char *base = strrchr(area->name, '/');
	uint64_t sectors;

	if (area->is_file || !base ||
	    pgs_read_u64(ctx, 0, &sectors, "sys/class/block/%s/size", base + 1) ||
	    sectors * 512 >> ctx->page_shift <= area->size_pages)
		return area->size_pages;
	return (sectors * 512 >> ctx->page_shift) - 1;
}

/* "Filename Type Size Used Priority"; sizes in KiB. The name is one word, as it is escaped. */
static int parse_area(struct pgs_ctx *ctx, char *line, struct pgs_swap_area *ret_area)
{
	unsigned long long size_kb, used_kb;
	size_t name_len = strcspn(line, " \t");
	char type[16];
	int prio;

	if (sscanf(line + name_len, " %15s %llu %llu %d", type, &size_kb, &used_kb, &prio) != 4)
		return pgs_ctx_fail(ctx, -EBADMSG, "cannot make sense of '%s/proc/swaps'",
				    ctx->root);
	line[name_len] = '\0';
	*ret_area = (struct pgs_swap_area){
		.name = strdup(line),
		.is_file = !strcmp(type, "file"),
		.size_pages = size_kb * 1024 >> ctx->page_shift,
		.used_pages = used_kb * 1024 >> ctx->page_shift,
		.prio = prio,
		.type = -1,
	};
	if (!ret_area->name)
		return -ENOMEM;
	unescape_octal(ret_area->name);
	ret_area->deleted = strip_suffix(ret_area->name, " (deleted)");
	ret_area->last_slot = find_last_slot(ctx, ret_area);
	return 0;
}

int pgs_swap_areas_read(struct pgs_ctx *ctx, struct pgs_swap_areas *ret)
{
	struct pgs_swap_areas areas = {0};
	_cleanup_free_ char *text = NULL;
	char *save, *line;
	ssize_t r = pgs_read_file(ctx, 0, &text, "proc/swaps");

	if (r < 0 && r != -ENOENT)
		return (int)r;
	if (r < 0 && !pgs_procfs_is_whole(ctx))
		return pgs_ctx_fail(ctx, -ENOENT,
				    "there is no '%s/proc/swaps', nor '%s/proc/meminfo': is procfs "
				    "mounted there?",
				    ctx->root, ctx->root);
	line = text ? strtok_r(text, "\n", &save) : NULL; /* the heading */
	while (line && (line = strtok_r(NULL, "\n", &save))) {
		struct pgs_swap_area *more = reallocarray(areas.areas, areas.nr + 1, sizeof(*more));

		r = more ? 0 : -ENOMEM;
		if (more) {
			areas.areas = more;
			r = parse_area(ctx, line, &more[areas.nr]);
		}
		if (r) {
			pgs_swap_areas_fini(&areas);
			return (int)r;
		}
		areas.nr++;
	}
	*ret = areas;
	return 0;
}

void pgs_swap_areas_fini(struct pgs_swap_areas *areas)
{
	for (size_t i = 0; i < areas->nr; i++)
		free(areas->areas[i].name);
	free(areas->areas);
	*areas = (struct pgs_swap_areas){0};
}

bool pgs_swap_areas_same(const struct pgs_swap_areas *a, const struct pgs_swap_areas *b)
{
	if (a->nr != b->nr)
		return false;
	for (size_t i = 0; i < a->nr; i++)
		if (strcmp(a->areas[i].name, b->areas[i].name) != 0 ||
		    a->areas[i].size_pages != b->areas[i].size_pages ||
		    a->areas[i].prio != b->areas[i].prio)
			return false;
	return true;
}

uint64_t pgs_swap_areas_used(const struct pgs_swap_areas *areas)
{
	uint64_t pages = 0;

	for (size_t i = 0; i < areas->nr; i++)
		pages += areas->areas[i].used_pages;
	return pages;
}

bool pgs_swap_is_in_use(struct pgs_ctx *ctx)
{
	struct pgs_swap_areas areas;
	bool used;

	if (pgs_swap_areas_read(ctx, &areas))
		return true;
	used = pgs_swap_areas_used(&areas);
	pgs_swap_areas_fini(&areas);
	return used;
}

uint64_t pgs_swap_areas_size(const struct pgs_swap_areas *areas)
{
	uint64_t pages = 0;

	for (size_t i = 0; i < areas->nr; i++)
		pages += areas->areas[i].size_pages;
	return pages;
}

/* ---- which area a type is -------------------------------------------------------------------- */

void pgs_swap_evidence_add(struct pgs_swap_evidence *evidence, unsigned int type, uint64_t first,
			   uint64_t count)
{
	uint64_t last = first + count - 1;

	evidence->seen |= UINT32_C(1) << type;
	if (last > evidence->last[type])
		evidence->last[type] = last;
}

/* The lines that are long enough, and in use enough, for what was seen of @type. */
static uint32_t fitting_lines(const struct pgs_swap_areas *areas,
			      const struct pgs_swap_evidence *evidence, unsigned int type)
{
	uint32_t lines = 0;

	for (size_t i = 0; i < areas->nr; i++)
		if (evidence->last[type] <= areas->areas[i].last_slot &&
		    evidence->slots[type] <= areas->areas[i].used_pages)
			lines |= UINT32_C(1) << i;
	return lines;
}

/*
 * The types seen are in order, and so are the lines; between the lines of two types seen lie as
 * many areas as there are unseen types between them, at most. Below the first and above the last
 * likewise.
 *
 * After the loop over @types in either direction, a line is left for a type when the types before
 * it (or behind it) can be placed too; left by both, it is part of a whole way to place them all.
 */
static uint32_t reachable(uint32_t lines, uint32_t before, unsigned int gap, bool upwards)
{
	uint32_t reach = 0;

	for (unsigned int d = 1; d <= gap; d++)
		reach |= upwards ? before << d : before >> d;
	return lines & reach;
}

static uint32_t low_bits(unsigned int nr)
{
	return nr >= 32 ? UINT32_MAX : (UINT32_C(1) << nr) - 1;
}

static void place_upwards(uint32_t seen, const uint32_t *fit, uint32_t *lines)
{
	int last = -1;

	for (int type = 0; type < (int)PGS_PM_SWAP_TYPES; type++) {
		if (!(seen & UINT32_C(1) << type))
			continue;
		lines[type] = last < 0 ? fit[type] & low_bits((unsigned int)type + 1)
				       : reachable(fit[type], lines[last],
						   (unsigned int)(type - last), true);
		last = type;
	}
}

static void place_downwards(uint32_t seen, size_t nr, const uint32_t *fit, uint32_t *lines)
{
	int last = -1;

	for (int type = PGS_PM_SWAP_TYPES - 1; type >= 0; type--) {
		unsigned int above = PGS_PM_SWAP_TYPES - 1 - (unsigned int)type;

		if (!(seen & UINT32_C(1) << type))
			continue;
		if (last >= 0)
			lines[type] = reachable(fit[type], lines[last], (unsigned int)(last - type),
						false);
		else /* at most @above lines come behind it */
			lines[type] = nr > above + 1
					      ? fit[type] & ~low_bits((unsigned int)nr - above - 1)
					      : fit[type];
		last = type;
	}
}

/* ---- by kernel memory ------------------------------------------------------------------------ */

/*
 * Lines and areas in use are both in the order of the types, so with as many of them, line N is
 * area N. Priority and size must be equal, and so must the device where a device has a name here.
 * (A file's is not compared: btrfs shows another one than its superblock has.)
 */
static bool is_same_area(const struct pgs_swap_area *area, const struct pgs_kmem_area *found)
{
	struct stat st;

	if (area->prio != found->prio || area->size_pages != found->pages ||
	    area->is_file == found->is_block)
		return false;
	return area->is_file || stat(area->name, &st) || !S_ISBLK(st.st_mode) ||
	       st.st_rdev == found->dev;
}

void pgs_swap_areas_ask(struct pgs_swap_areas *areas, struct pgs_kmem *kmem)
{
	struct pgs_kmem_area found[PGS_KMEM_AREAS_MAX];
	int nr;

	if (areas->asked)
		return;
	areas->asked = true;
	nr = pgs_kmem_areas(kmem, found);
	if (nr < 0 || (size_t)nr != areas->nr)
		return;
	for (size_t i = 0; i < areas->nr; i++)
		if (!is_same_area(&areas->areas[i], &found[i]))
			return;
	for (size_t i = 0; i < areas->nr; i++)
		areas->areas[i].type = (int)found[i].type;
}

/* What kernel memory said needs no evidence. */
static bool match_known(const struct pgs_swap_areas *areas, struct pgs_swap_match *match)
{
	*match = (struct pgs_swap_match){0};
	for (size_t i = 0; i < areas->nr; i++) {
		if (areas->areas[i].type < 0)
			return false;
		match->lines[areas->areas[i].type] = UINT32_C(1) << i;
	}
	return areas->nr;
}

/* ---- by all that is known -------------------------------------------------------------------- */

void pgs_swap_match(const struct pgs_swap_areas *areas, const struct pgs_swap_evidence *evidence,
		    struct pgs_swap_match *ret_match)
{
	uint32_t fit[PGS_PM_SWAP_TYPES] = {0}, up[PGS_PM_SWAP_TYPES] = {0};
	struct pgs_swap_match match = {0};
	bool possible = areas->nr <= PGS_PM_SWAP_TYPES;

	if (match_known(areas, ret_match))
		return;
	for (unsigned int t = 0; possible && t < PGS_PM_SWAP_TYPES; t++)
		if (evidence->seen & UINT32_C(1) << t)
			fit[t] = fitting_lines(areas, evidence, t);
	place_upwards(evidence->seen, fit, up);
	place_downwards(evidence->seen, areas->nr, fit, match.lines);
	for (unsigned int t = 0; t < PGS_PM_SWAP_TYPES; t++) {
		match.lines[t] &= up[t];
		possible &= !(evidence->seen & UINT32_C(1) << t) || match.lines[t];
	}
	*ret_match = possible ? match : (struct pgs_swap_match){0};
}

const struct pgs_swap_area *pgs_swap_match_area(const struct pgs_swap_areas *areas,
						const struct pgs_swap_match *match,
						unsigned int type)
{
	uint32_t lines = match->lines[type];

	if (!lines || lines & (lines - 1))
		return NULL;
	return &areas->areas[__builtin_ctz(lines)];
}

uint32_t pgs_swap_types_open(const struct pgs_swap_areas *areas,
			     const struct pgs_swap_evidence *evidence)
{
	uint32_t types = 0;

	for (unsigned int t = 0; t < PGS_PM_SWAP_TYPES; t++) {
		struct pgs_swap_evidence and_this = *evidence;
		struct pgs_swap_match match;

		pgs_swap_evidence_add(&and_this, t, 0, 1);
		pgs_swap_match(areas, &and_this, &match);
		types |= match.lines[t] ? UINT32_C(1) << t : 0;
	}
	return types;
}

const struct pgs_swap_area *pgs_swap_area_of_type(const struct pgs_swap_areas *areas,
						  unsigned int type)
{
	struct pgs_swap_evidence evidence = {0};
	struct pgs_swap_match match;

	pgs_swap_evidence_add(&evidence, type, 0, 1);
	pgs_swap_match(areas, &evidence, &match);
	return pgs_swap_match_area(areas, &match, type);
}
