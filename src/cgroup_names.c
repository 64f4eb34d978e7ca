// SPDX-License-Identifier: GPL-2.0-only
#include "cgroup_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "procfs.h"

#define MAX_NAMES 16384 /* some 2 MiB */

struct pgs_cgroup_inode {
	uint64_t inode;
	char *text;
	bool missing; /* no directory had it when they were last collected */
};

void pgs_cgroup_names_fini(struct pgs_cgroup_names *names)
{
	for (size_t i = 0; i < names->nr; i++)
		free(names->list[i].text);
	free(names->list);
	*names = (struct pgs_cgroup_names){0};
}

static int compare_names(const void *a, const void *b)
{
	const struct pgs_cgroup_inode *x = a, *y = b;

	return (x->inode > y->inode) - (x->inode < y->inode);
}

static int visit_name(struct pgs_cgroups *cgroups, const char *path, DIR *dir, void *data)
{
	struct pgs_cgroup_inode name;
	struct stat st;

	(void)data;
	if (cgroups->names.nr == MAX_NAMES) {
		cgroups->names.full = true;
		return 0;
	}
	if (fstat(dirfd(dir), &st) < 0)
		return -errno;
	name = (struct pgs_cgroup_inode){.inode = st.st_ino, .text = strdup(path)};
	if (!name.text)
		return -ENOMEM;
	cgroups->names.list[cgroups->names.nr++] = name;
	return 0;
}

static time_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + 1; /* never 0 */
}

/* What could be seen is kept, even when the walk ends early. */
static int names_collect(struct pgs_cgroups *cgroups)
{
	pgs_cgroup_names_fini(&cgroups->names);
	cgroups->names.list = calloc(MAX_NAMES, sizeof(*cgroups->names.list));
	if (!cgroups->names.list)
		return -ENOMEM;
	if (pgs_cgroup_walk(cgroups, "/", visit_name, NULL) < 0)
		cgroups->names.full = true;
	cgroups->names.at = now();
	qsort(cgroups->names.list, cgroups->names.nr, sizeof(*cgroups->names.list), compare_names);
	return 0;
}

static struct pgs_cgroup_inode *names_find(struct pgs_cgroups *cgroups, uint64_t inode)
{
	struct pgs_cgroup_inode key = {.inode = inode};

	if (!cgroups->names.nr)
		return NULL;
	return bsearch(&key, cgroups->names.list, cgroups->names.nr, sizeof(key), compare_names);
}

/* Remember an inode that no directory has, while there is room. */
static struct pgs_cgroup_inode *names_add_missing(struct pgs_cgroups *cgroups, uint64_t inode)
{
	const char *form = cgroups->names.full ? "inode %" PRIu64 : "gone (inode %" PRIu64 ")";
	struct pgs_cgroup_inode *name;
	char *text;
	size_t i = cgroups->names.nr;

	if (asprintf(&text, form, inode) < 0)
		return NULL;
	if (i == MAX_NAMES)
		free(cgroups->names.list[--i].text); /* the last gives way */
	else
		cgroups->names.nr++;
	for (; i > 0 && cgroups->names.list[i - 1].inode > inode; i--)
		cgroups->names.list[i] = cgroups->names.list[i - 1];
	name = &cgroups->names.list[i];
	*name = (struct pgs_cgroup_inode){.inode = inode, .text = text, .missing = true};
	return name;
}

const char *pgs_cgroup_name(struct pgs_cgroups *cgroups, uint64_t inode)
{
	struct pgs_cgroup_inode *name;

	if (!inode)
		return NULL;
	name = names_find(cgroups, inode);
	if ((!name || name->missing) && cgroups->names.at != now()) {
		if (names_collect(cgroups) < 0)
			return NULL;
		name = names_find(cgroups, inode);
	}
	if (!name)
		name = names_add_missing(cgroups, inode);
	return name ? name->text : NULL;
}
