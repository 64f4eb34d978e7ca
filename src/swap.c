// SPDX-License-Identifier: GPL-2.0-only
#include "swap.h"

#include "cleanup.h"
#include "procfs.h"

#include <errno.h>
#include <string.h>

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

/* "Filename Type Size Used Priority"; sizes in KiB. The name is one word, as it is escaped. */
static int parse_area(struct pgs_ctx *ctx, char *line, struct pgs_swap_area *ret_area)
{
	unsigned long long size_kb, used_kb;
	size_t name_len = strcspn(line, " \t");
	char type[16];
	int prio;

	if (sscanf(line + name_len, " %15s %llu %llu %d", type, &size_kb, &used_kb, &prio) != 4)
		return pgs_ctx_fail(ctx, -EBADMSG, "cannot make sense of '/proc/swaps'");
	line[name_len] = '\0';
	*ret_area = (struct pgs_swap_area){
		.name = strdup(line),
		.is_file = !strcmp(type, "file"),
		.size_pages = size_kb * 1024 >> ctx->page_shift,
		.used_pages = used_kb * 1024 >> ctx->page_shift,
		.prio = prio,
	};
	if (!ret_area->name)
		return -ENOMEM;
	unescape_octal(ret_area->name);
	ret_area->deleted = strip_suffix(ret_area->name, " (deleted)");
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

const struct pgs_swap_area *pgs_swap_area_of_type(const struct pgs_swap_areas *areas,
						  unsigned int type)
{
	(void)type;
	return areas->nr == 1 ? &areas->areas[0] : NULL;
}
