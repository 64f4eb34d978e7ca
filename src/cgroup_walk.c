// SPDX-License-Identifier: GPL-2.0-only
#include "cgroup_priv.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "caps.h"
#include "cleanup.h"
#include "procfs.h"
#include "units.h"

#define MAX_DEPTH 128

static int walk(struct pgs_cgroups *cgroups, const char *path, int depth, pgs_cgroup_visitor visit,
		void *data)
{
	_cleanup_closedir_ DIR *dir = NULL;
	const char *name;
	int r;

	if (depth > MAX_DEPTH)
		return pgs_ctx_fail(cgroups->ctx, -ELOOP, "cgroups nest too deep at '%s'", path);
	r = pgs_cgroup_open_dir(cgroups, path, &dir);
	if (r < 0)
		return r;
	r = visit(cgroups, path, dir, data);
	while (r >= 0 && (name = pgs_cgroup_next_child(dir))) {
		_cleanup_free_ char *child = NULL;

		if (asprintf(&child, "%s/%s", path[1] ? path : "", name) < 0)
			return -ENOMEM;
		r = walk(cgroups, child, depth + 1, visit, data);
		if (r == -ENOENT || r == -ENODEV) /* removed meanwhile */
			r = 0;
	}
	return r;
}

int pgs_cgroup_walk(struct pgs_cgroups *cgroups, const char *path, pgs_cgroup_visitor visit,
		    void *data)
{
	return walk(cgroups, path, 0, visit, data);
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
	int r = pgs_cgroup_walk(cgroups, path, visit_path, &list);

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
	int r = pgs_cgroup_walk(cgroups, path, visit_members, &list);

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
