// SPDX-License-Identifier: GPL-2.0-only
#include "cgroup_priv.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "caps.h"
#include "cleanup.h"
#include "mountinfo.h"
#include "procfs.h"
#include "units.h"

/* ---- finding the hierarchy ------------------------------------------------------------------- */

/* The version of the memory controller that this mount shows, 0 if it shows none. */
static int memory_version(struct pgs_ctx *ctx, const struct pgs_mount *mount)
{
	_cleanup_free_ char *controllers = NULL;

	if (!strcmp(mount->type, "cgroup"))
		return pgs_has_word(mount->super_options, "memory", ",") ? 1 : 0;
	if (strcmp(mount->type, "cgroup2") != 0 ||
	    pgs_read_file(ctx, 0, &controllers, "%s/cgroup.controllers", mount->point + 1) < 0)
		return 0;
	return pgs_has_word(controllers, "memory", " \n") ? 2 : 0;
}

static int take_mount(struct pgs_cgroups *cgroups, const struct pgs_mount *mount, int version)
{
	char *point = strdup(mount->point), *root = strdup(mount->root);

	if (!point || !root) {
		free(point);
		free(root);
		return -ENOMEM;
	}
	free(cgroups->mount);
	free(cgroups->mount_root);
	cgroups->mount = point;
	cgroups->mount_root = root;
	cgroups->version = version;
	return 0;
}

/* The first mount that shows the whole hierarchy, or else the first that shows a part of it. */
static int find_memory(struct pgs_cgroups *cgroups, char *mountinfo)
{
	struct pgs_mount mount;

	while (pgs_mount_next(&mountinfo, &mount)) {
		int r, version = memory_version(cgroups->ctx, &mount);

		if (!version || (cgroups->version && strcmp(mount.root, "/") != 0))
			continue;
		r = take_mount(cgroups, &mount, version);
		if (r < 0)
			return r;
		if (!strcmp(mount.root, "/"))
			break;
	}
	return 0;
}

/* Another tree's mounts are those of its first process; in a captured one there may be just the
 * mounts of the process that captured it. */
static ssize_t read_mountinfo(struct pgs_ctx *ctx, char **ret_text)
{
	ssize_t len = -ENOENT;

	if (!ctx->live)
		len = pgs_read_file(ctx, PGS_CAP(CAP_SYS_PTRACE), ret_text, "proc/1/mountinfo");
	if (len < 0)
		len = pgs_read_file(ctx, 0, ret_text, "proc/self/mountinfo");
	return len;
}

/* Why there is no memory hierarchy. /proc/cgroups: "memory  hierarchy  cgroups  enabled". */
static int no_memory(struct pgs_ctx *ctx)
{
	_cleanup_free_ char *text = NULL;
	const char *line;
	int enabled = 1;

	if (pgs_read_file(ctx, 0, &text, "proc/cgroups") < 0)
		return pgs_ctx_fail(ctx, -EOPNOTSUPP, "this kernel has no cgroups");
	line = strstr(text, "\nmemory\t");
	if (line && sscanf(line, " memory %*d %*d %d", &enabled) == 1 && !enabled)
		return pgs_ctx_fail(ctx, -EOPNOTSUPP,
				    "the memory controller is disabled on the kernel command line");
	return pgs_ctx_fail(ctx, -EOPNOTSUPP,
			    "no mounted cgroup hierarchy has the memory controller");
}

int pgs_cgroups_open(struct pgs_ctx *ctx, struct pgs_cgroups **ret_cgroups)
{
	_cleanup_(pgs_cgroups_closep) struct pgs_cgroups *cgroups = calloc(1, sizeof(*cgroups));
	_cleanup_free_ char *mountinfo = NULL;
	ssize_t len;
	int r;

	if (!cgroups)
		return -ENOMEM;
	cgroups->ctx = ctx;
	len = read_mountinfo(ctx, &mountinfo);
	if (len < 0)
		return (int)len;
	r = find_memory(cgroups, mountinfo);
	if (r < 0)
		return r;
	if (!cgroups->version)
		return no_memory(ctx);
	*ret_cgroups = cgroups;
	cgroups = NULL;
	return 0;
}

void pgs_cgroups_close(struct pgs_cgroups *cgroups)
{
	if (!cgroups)
		return;
	pgs_cgroup_names_fini(&cgroups->names);
	free(cgroups->mount);
	free(cgroups->mount_root);
	free(cgroups);
}

void pgs_cgroups_closep(struct pgs_cgroups **cgroups)
{
	pgs_cgroups_close(*cgroups);
}

int pgs_cgroups_version(const struct pgs_cgroups *cgroups)
{
	return cgroups->version;
}

const char *pgs_cgroups_mount(const struct pgs_cgroups *cgroups)
{
	return cgroups->mount;
}

ssize_t pgs_cgroup_read(struct pgs_cgroups *cgroups, const char *path, const char *file,
			char **ret_text)
{
	return pgs_read_file(cgroups->ctx, PGS_CAP(CAP_DAC_READ_SEARCH), ret_text, "%s%s/%s",
			     cgroups->mount + 1, path, file);
}

/* The directory of @path. */
static int open_cgroup(struct pgs_cgroups *cgroups, const char *path)
{
	return pgs_open(cgroups->ctx, PGS_CAP(CAP_DAC_READ_SEARCH), O_DIRECTORY, "%s%s",
			cgroups->mount + 1, path);
}

int pgs_cgroup_open_dir(struct pgs_cgroups *cgroups, const char *path, DIR **ret_dir)
{
	int fd = open_cgroup(cgroups, path);

	if (fd < 0)
		return fd;
	*ret_dir = fdopendir(fd);
	if (*ret_dir)
		return 0;
	close(fd);
	return -errno;
}

const char *pgs_cgroup_next_child(DIR *dir)
{
	const struct dirent *entry;
	struct stat st;

	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		if (entry->d_type == DT_DIR)
			return entry->d_name;
		if (entry->d_type == DT_UNKNOWN &&
		    !fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
		    S_ISDIR(st.st_mode))
			return entry->d_name;
	}
	return NULL;
}

static const char *below(const char *path, const char *prefix);

/* "4:cpu,memory:/path" of v1, "0::/path" of v2: the path, or NULL when the line is of another. */
static char *path_of_line(const struct pgs_cgroups *cgroups, char *line)
{
	char *controllers = strchr(line, ':'), *path;

	path = controllers ? strchr(++controllers, ':') : NULL;
	if (!path)
		return NULL;
	*path++ = '\0';
	if (cgroups->version == 1)
		return pgs_has_word(controllers, "memory", ",") ? path : NULL;
	return *controllers ? NULL : path;
}

/* @text: of /proc/@who/cgroup. It is cut up. */
static int path_of(struct pgs_cgroups *cgroups, const char *who, char *text, char **ret_path)
{
	char *save, *path = NULL;
	const char *inner;

	for (char *line = strtok_r(text, "\n", &save); line && !path;
	     line = strtok_r(NULL, "\n", &save))
		path = path_of_line(cgroups, line);
	if (!path)
		return pgs_ctx_fail(cgroups->ctx, -ESRCH, "process %s is in no memory cgroup", who);
	inner = below(path, cgroups->mount_root) ?: path;
	*ret_path = strdup(*inner ? inner : "/");
	return *ret_path ? 0 : -ENOMEM;
}

int pgs_cgroup_of(struct pgs_cgroups *cgroups, pid_t pid, char **ret_path)
{
	_cleanup_free_ char *text = NULL;
	char who[16];
	ssize_t len;

	snprintf(who, sizeof(who), "%d", (int)pid);
	len = pgs_read_file(cgroups->ctx, PGS_CAP(CAP_SYS_PTRACE), &text, "proc/%s/cgroup", who);
	if (len < 0)
		return len == -ENOENT ? -ESRCH : (int)len;
	return path_of(cgroups, who, text, ret_path);
}

int pgs_cgroup_own(struct pgs_cgroups *cgroups, char **ret_path)
{
	_cleanup_free_ char *text = NULL;
	ssize_t len = pgs_read_file(cgroups->ctx, 0, &text, "proc/self/cgroup");

	return len < 0 ? (int)len : path_of(cgroups, "self", text, ret_path);
}

/* ---- what people type ------------------------------------------------------------------------ */

/* What follows @prefix in @path, when it does so at a slash or at the end; else NULL. */
static const char *below(const char *path, const char *prefix)
{
	size_t len = strlen(prefix);

	if (!strcmp(prefix, "/") || strncmp(path, prefix, len) || (path[len] && path[len] != '/'))
		return NULL;
	return path + len;
}

/* @word without doubled, trailing and "." parts, with one leading slash. */
static int normalise(const char *word, char **ret_path)
{
	char *path = malloc(strlen(word) + 2), *to = path;

	if (!path)
		return -ENOMEM;
	for (word += strspn(word, "/"); *word; word += strspn(word, "/")) {
		size_t len = strcspn(word, "/");

		if (len == 2 && !memcmp(word, "..", 2)) {
			free(path);
			return -EINVAL;
		}
		if (len != 1 || *word != '.') {
			*to++ = '/';
			to = mempcpy(to, word, len);
		}
		word += len;
	}
	if (to == path)
		*to++ = '/';
	*to = '\0';
	*ret_path = path;
	return 0;
}

/* "'x', 'y' and 3 more": what lies in a cgroup that exists. */
static void list_children(DIR *dir, char *buf, size_t size)
{
	unsigned int shown = 0, more = 0;
	const char *name;
	size_t len = 0;

	buf[0] = '\0';
	while ((name = pgs_cgroup_next_child(dir))) {
		size_t room = size - len;
		int n = snprintf(buf + len, room, "%s'%s'", shown ? ", " : "", name);

		if (n > 0 && (size_t)n + sizeof(" and 99999 more") < room) {
			len += (size_t)n;
			shown++;
		} else {
			buf[len] = '\0';
			more++;
		}
	}
	if (more)
		snprintf(buf + len, size - len, " and %u more", more);
	if (!shown && !more)
		snprintf(buf, size, "no cgroup");
}

/* The line that helps: as much of @path as exists, and what is there instead of the rest. */
static int no_such_cgroup(struct pgs_cgroups *cgroups, const char *path)
{
	_cleanup_closedir_ DIR *dir = NULL;
	_cleanup_free_ char *existing = strdup(path);
	char children[120];
	char *slash;

	if (!existing)
		return -ENOMEM;
	do {
		slash = strrchr(existing, '/');
		slash[slash == existing] = '\0'; /* the root keeps its slash */
	} while (pgs_cgroup_open_dir(cgroups, existing, &dir) < 0 && existing[1]);
	if (!dir)
		return pgs_ctx_fail(cgroups->ctx, -ENOENT, "no cgroup '%s' below '%s'", path,
				    cgroups->mount);
	list_children(dir, children, sizeof(children));
	return pgs_ctx_fail(cgroups->ctx, -ENOENT, "no cgroup '%s' below '%s': in '%s' there is %s",
			    path, cgroups->mount, existing, children);
}

int pgs_cgroup_resolve(struct pgs_cgroups *cgroups, const char *word, char **ret_path)
{
	_cleanup_free_ char *path = NULL;
	const char *rest;
	int fd, r;

	rest = below(word, cgroups->mount) ?: below(word, cgroups->mount_root) ?: word;
	r = normalise(rest, &path);
	if (r == -EINVAL)
		return pgs_ctx_fail(cgroups->ctx, r, "'..' in cgroup '%s'", word);
	if (r < 0)
		return r;
	fd = open_cgroup(cgroups, path);
	if (fd == -ENOENT || fd == -ENOTDIR)
		return no_such_cgroup(cgroups, path);
	if (fd < 0)
		return fd;
	close(fd);
	*ret_path = path;
	path = NULL;
	return 0;
}
