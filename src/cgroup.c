// SPDX-License-Identifier: GPL-2.0-only
#include "cgroup.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "caps.h"
#include "cleanup.h"
#include "procfs.h"
#include "units.h"

#define MAX_DEPTH 128
#define MAX_NAMES 16384 /* some 2 MiB */

struct name {
	uint64_t inode;
	char *text;
	bool missing; /* no directory had it when they were last collected */
};

struct pgs_cgroups {
	struct pgs_ctx *ctx;
	int version;
	char *mount;	    /* mount point, with a leading slash */
	char *mount_root;   /* what of the hierarchy is mounted there; "/" but in some containers */
	struct name *names; /* ascending by inode */
	size_t nr_names;
	bool names_full;
	time_t names_at; /* when they were last collected; 0: never */
};

/* ---- finding the hierarchy ------------------------------------------------------------------- */

/* Blanks and backslashes in a path of mountinfo are octal escapes (proc(5)). In place. */
static void unescape(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
		    s[3] >= '0' && s[3] <= '7') {
			*to++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

static bool has_word(const char *list, const char *word, const char *separators)
{
	size_t len = strlen(word);

	for (list += strspn(list, separators); *list; list += strspn(list, separators)) {
		size_t n = strcspn(list, separators);

		if (n == len && !memcmp(list, word, len))
			return true;
		list += n;
	}
	return false;
}

/* A line of mountinfo, cut up in place. */
struct mount {
	char *root, *point, *type, *super_options;
};

/* "36 35 98:0 /root /point rw,noatime shared:1 … - type source options" */
static int parse_mount(char *line, struct mount *ret)
{
	char *save, *rest = strstr(line, " - ");
	char *word = strtok_r(line, " ", &save);

	if (!rest)
		return -EBADMSG;
	for (int field = 0; word && field < 5; field++, word = strtok_r(NULL, " ", &save)) {
		if (field == 3)
			ret->root = word;
		if (field == 4)
			ret->point = word;
	}
	if (!word)
		return -EBADMSG;
	ret->type = strtok_r(rest + 3, " ", &save);
	if (!ret->type || !strtok_r(NULL, " ", &save)) /* source */
		return -EBADMSG;
	ret->super_options = strtok_r(NULL, " ", &save);
	if (!ret->super_options)
		return -EBADMSG;
	unescape(ret->root);
	unescape(ret->point);
	return 0;
}

/* The version of the memory controller that this mount shows, 0 if it shows none. */
static int memory_version(struct pgs_ctx *ctx, const struct mount *mount)
{
	_cleanup_free_ char *controllers = NULL;

	if (!strcmp(mount->type, "cgroup"))
		return has_word(mount->super_options, "memory", ",") ? 1 : 0;
	if (strcmp(mount->type, "cgroup2") != 0 ||
	    pgs_read_file(ctx, 0, &controllers, "%s/cgroup.controllers", mount->point + 1) < 0)
		return 0;
	return has_word(controllers, "memory", " \n") ? 2 : 0;
}

static int take_mount(struct pgs_cgroups *cgroups, const struct mount *mount, int version)
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
	char *save;

	for (char *line = strtok_r(mountinfo, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		struct mount mount = {0};
		int r, version;

		if (parse_mount(line, &mount) < 0)
			continue;
		version = memory_version(cgroups->ctx, &mount);
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

static void names_clear(struct pgs_cgroups *cgroups)
{
	for (size_t i = 0; i < cgroups->nr_names; i++)
		free(cgroups->names[i].text);
	free(cgroups->names);
	cgroups->names = NULL;
	cgroups->nr_names = 0;
	cgroups->names_full = false;
}

void pgs_cgroups_close(struct pgs_cgroups *cgroups)
{
	if (!cgroups)
		return;
	names_clear(cgroups);
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

static int open_cgroup_dir(struct pgs_cgroups *cgroups, const char *path, DIR **ret_dir)
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

/* The next cgroup of a directory, NULL at the end. The tree may be a copy on any file system. */
static const char *next_child(DIR *dir)
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
		return has_word(controllers, "memory", ",") ? path : NULL;
	return *controllers ? NULL : path;
}

int pgs_cgroup_of(struct pgs_cgroups *cgroups, pid_t pid, char **ret_path)
{
	_cleanup_free_ char *text = NULL;
	char *save, *path = NULL;
	const char *inner;
	ssize_t len = pgs_read_file(cgroups->ctx, PGS_CAP(CAP_SYS_PTRACE), &text, "proc/%d/cgroup",
				    (int)pid);

	if (len < 0)
		return len == -ENOENT ? -ESRCH : (int)len;
	for (char *line = strtok_r(text, "\n", &save); line && !path;
	     line = strtok_r(NULL, "\n", &save))
		path = path_of_line(cgroups, line);
	if (!path)
		return pgs_ctx_fail(cgroups->ctx, -ESRCH, "process %d is in no memory cgroup",
				    (int)pid);
	inner = below(path, cgroups->mount_root) ?: path;
	*ret_path = strdup(*inner ? inner : "/");
	return *ret_path ? 0 : -ENOMEM;
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
	while ((name = next_child(dir))) {
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
	} while (open_cgroup_dir(cgroups, existing, &dir) < 0 && existing[1]);
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

/* ---- walking --------------------------------------------------------------------------------- */

typedef int (*visitor)(struct pgs_cgroups *cgroups, const char *path, DIR *dir, void *data);

static int walk(struct pgs_cgroups *cgroups, const char *path, int depth, visitor visit, void *data)
{
	_cleanup_closedir_ DIR *dir = NULL;
	const char *name;
	int r;

	if (depth > MAX_DEPTH)
		return pgs_ctx_fail(cgroups->ctx, -ELOOP, "cgroups nest too deep at '%s'", path);
	r = open_cgroup_dir(cgroups, path, &dir);
	if (r < 0)
		return r;
	r = visit(cgroups, path, dir, data);
	while (r >= 0 && (name = next_child(dir))) {
		_cleanup_free_ char *child = NULL;

		if (asprintf(&child, "%s/%s", path[1] ? path : "", name) < 0)
			return -ENOMEM;
		r = walk(cgroups, child, depth + 1, visit, data);
		if (r == -ENOENT || r == -ENODEV) /* removed meanwhile */
			r = 0;
	}
	return r;
}

/* ---- what is below --------------------------------------------------------------------------- */

static int visit_path(struct pgs_cgroups *cgroups, const char *path, DIR *dir, void *data)
{
	struct pgs_cgroup_list *list = data;
	char **more = reallocarray(list->paths, list->nr + 1, sizeof(*more));

	(void)cgroups;
	(void)dir;
	if (!more)
		return -ENOMEM;
	list->paths = more;
	more[list->nr] = strdup(path);
	return more[list->nr++] ? 0 : -ENOMEM;
}

int pgs_cgroup_below(struct pgs_cgroups *cgroups, const char *path, struct pgs_cgroup_list *ret)
{
	struct pgs_cgroup_list list = {0};
	int r = walk(cgroups, path, 0, visit_path, &list);

	if (r < 0) {
		pgs_cgroup_list_fini(&list);
		return r == -ENODEV ? -ENOENT : r;
	}
	*ret = list;
	return 0;
}

void pgs_cgroup_list_fini(struct pgs_cgroup_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->paths[i]);
	free(list->paths);
	*list = (struct pgs_cgroup_list){0};
}

/* ---- processes ------------------------------------------------------------------------------- */

struct pid_list {
	struct pgs_cgroup_pids out;
	size_t room;
};

static int pid_list_add(struct pid_list *list, pid_t pid)
{
	if (list->out.nr == list->room) {
		size_t room = list->room ? list->room * 2 : 64;
		pid_t *more = reallocarray(list->out.pids, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		list->out.pids = more;
		list->room = room;
	}
	list->out.pids[list->out.nr++] = pid;
	return 0;
}

/* The process of a thread; -ESRCH if it is gone. */
static int process_of(struct pgs_ctx *ctx, pid_t tid, pid_t *ret_pid)
{
	_cleanup_free_ char *status = NULL;
	uint64_t tgid;

	if (pgs_read_file(ctx, PGS_CAP(CAP_SYS_PTRACE), &status, "proc/%d/status", tid) < 0)
		return -ESRCH;
	if (pgs_text_field(status, "Tgid", &tgid) != 1 || tgid > INT_MAX)
		return -EBADMSG;
	*ret_pid = (pid_t)tgid;
	return 0;
}

/* Each line of cgroup.procs, or of cgroup.threads. 0 stands for a task without a number here. */
static int add_members(struct pgs_cgroups *cgroups, char *text, bool threads, struct pid_list *list)
{
	char *save;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		uint64_t number;
		pid_t pid;
		int r;

		if (pgs_parse_u64(line, &number) < 0 || number > INT_MAX)
			return -EBADMSG;
		if (!number) {
			list->out.nr_foreign++;
			continue;
		}
		pid = (pid_t)number;
		r = threads ? process_of(cgroups->ctx, pid, &pid) : 0;
		if (r == -ESRCH)
			continue;
		if (!r)
			r = pid_list_add(list, pid);
		if (r < 0)
			return r;
	}
	return 0;
}

static int visit_members(struct pgs_cgroups *cgroups, const char *path, DIR *dir, void *data)
{
	_cleanup_free_ char *text = NULL;
	bool threads = false;
	ssize_t len;

	(void)dir;
	len = pgs_cgroup_read(cgroups, path, "cgroup.procs", &text);
	if (len == -EOPNOTSUPP) { /* a threaded cgroup: its processes are listed further up */
		threads = true;
		len = pgs_cgroup_read(cgroups, path, "cgroup.threads", &text);
	}
	return len < 0 ? (int)len : add_members(cgroups, text, threads, data);
}

static int compare_pids(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* A process whose threads are in several cgroups was seen several times. */
static void sort_unique(struct pgs_cgroup_pids *pids)
{
	size_t nr = 0;

	if (!pids->nr)
		return;
	qsort(pids->pids, pids->nr, sizeof(*pids->pids), compare_pids);
	for (size_t i = 1; i < pids->nr; i++)
		if (pids->pids[i] != pids->pids[nr])
			pids->pids[++nr] = pids->pids[i];
	pids->nr = nr + 1;
}

int pgs_cgroup_pids(struct pgs_cgroups *cgroups, const char *path, struct pgs_cgroup_pids *ret)
{
	struct pid_list list = {0};
	int r = walk(cgroups, path, 0, visit_members, &list);

	if (r < 0) {
		pgs_cgroup_pids_fini(&list.out);
		return r == -ENODEV ? -ENOENT : r;
	}
	sort_unique(&list.out);
	*ret = list.out;
	return 0;
}

void pgs_cgroup_pids_fini(struct pgs_cgroup_pids *pids)
{
	free(pids->pids);
	*pids = (struct pgs_cgroup_pids){0};
}

/* ---- names of inodes ------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
	const struct name *x = a, *y = b;

	return (x->inode > y->inode) - (x->inode < y->inode);
}

static int visit_name(struct pgs_cgroups *cgroups, const char *path, DIR *dir, void *data)
{
	struct name name;
	struct stat st;

	(void)data;
	if (cgroups->nr_names == MAX_NAMES) {
		cgroups->names_full = true;
		return 0;
	}
	if (fstat(dirfd(dir), &st) < 0)
		return -errno;
	name = (struct name){.inode = st.st_ino, .text = strdup(path)};
	if (!name.text)
		return -ENOMEM;
	cgroups->names[cgroups->nr_names++] = name;
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
	names_clear(cgroups);
	cgroups->names = calloc(MAX_NAMES, sizeof(*cgroups->names));
	if (!cgroups->names)
		return -ENOMEM;
	if (walk(cgroups, "/", 0, visit_name, NULL) < 0)
		cgroups->names_full = true;
	cgroups->names_at = now();
	qsort(cgroups->names, cgroups->nr_names, sizeof(*cgroups->names), compare_names);
	return 0;
}

static struct name *names_find(struct pgs_cgroups *cgroups, uint64_t inode)
{
	struct name key = {.inode = inode};

	if (!cgroups->nr_names)
		return NULL;
	return bsearch(&key, cgroups->names, cgroups->nr_names, sizeof(key), compare_names);
}

/* Remember an inode that no directory has, while there is room. */
static struct name *names_add_missing(struct pgs_cgroups *cgroups, uint64_t inode)
{
	const char *form = cgroups->names_full ? "inode %" PRIu64 : "gone (inode %" PRIu64 ")";
	struct name *name;
	char *text;
	size_t i = cgroups->nr_names;

	if (asprintf(&text, form, inode) < 0)
		return NULL;
	if (i == MAX_NAMES)
		free(cgroups->names[--i].text); /* the last gives way */
	else
		cgroups->nr_names++;
	for (; i > 0 && cgroups->names[i - 1].inode > inode; i--)
		cgroups->names[i] = cgroups->names[i - 1];
	name = &cgroups->names[i];
	*name = (struct name){.inode = inode, .text = text, .missing = true};
	return name;
}

const char *pgs_cgroup_name(struct pgs_cgroups *cgroups, uint64_t inode)
{
	struct name *name;

	if (!inode)
		return NULL;
	name = names_find(cgroups, inode);
	if ((!name || name->missing) && cgroups->names_at != now()) {
		if (names_collect(cgroups) < 0)
			return NULL;
		name = names_find(cgroups, inode);
	}
	if (!name)
		name = names_add_missing(cgroups, inode);
	return name ? name->text : NULL;
}
