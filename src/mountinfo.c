// SPDX-License-Identifier: GPL-2.0-only
#include "mountinfo.h"

#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

static bool is_octal(const char *s)
{
	return s[0] >= '0' && s[0] <= '3' && s[1] >= '0' && s[1] <= '7' && s[2] >= '0' &&
	       s[2] <= '7';
}

char *pgs_mount_unescape(char *s)
{
	char *to = s;

	for (const char *from = s; *from; from++) {
		if (*from == '\\' && is_octal(from + 1)) {
			*to++ = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 |
				       (from[3] - '0'));
			from += 3;
		} else {
			*to++ = *from;
		}
	}
	*to = '\0';
	return s;
}

/* "36 35 98:0 /root /point rw,noatime shared:1 … - type source options" */
static bool parse(char *line, struct pgs_mount *ret)
{
	char *root, *point, *words = line, *rest = strstr(line, " - ");
	unsigned int dev_major, dev_minor;
	int at = 0;

	if (!rest || sscanf(line, "%*d %*d %u:%u %n", &dev_major, &dev_minor, &at) != 2 || !at)
		return false;
	*rest = '\0';
	rest += strlen(" - ");
	words += at;
	root = strsep(&words, " ");
	point = strsep(&words, " ");
	if (!point)
		return false;
	ret->dev = makedev(dev_major, dev_minor);
	ret->type = strsep(&rest, " ");
	strsep(&rest, " "); /* the source, which may be empty */
	ret->super_options = strsep(&rest, " ");
	ret->root = pgs_mount_unescape(root);
	ret->point = pgs_mount_unescape(point);
	return ret->super_options;
}

bool pgs_mount_next(char **text, struct pgs_mount *ret)
{
	for (char *line; (line = strsep(text, "\n"));)
		if (parse(line, ret))
			return true;
	return false;
}
