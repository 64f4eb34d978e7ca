// SPDX-License-Identifier: GPL-2.0-only
#include "cgmake.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "caps.h"
#include "cleanup.h"
#include "procfs.h"
#include "units.h"

#define NAME_TRIES   100
#define REMOVE_TRIES 500 /* of 10 ms: processes that were killed take a while to go */

struct pgs_cgmake {
	struct pgs_ctx *ctx;
	struct pgs_cgroups *cgroups;
	char *home;   /* the caller's own cgroup */
	char *parent; /* where it is made */
	char *path;   /* NULL: not made yet, or removed */
	bool enabled; /* the controller, at the root */
};

/* ---- files ----------------------------------------------------------------------------------- */

static int file_failed(struct pgs_cgmake *made, const char *path, const char *file, int err)
{
	return pgs_ctx_fail(made->ctx, err, "cannot write '%s%s/%s': %s",
			    pgs_cgroups_mount(made->cgroups), path, file, strerror(-err));
}

static uint64_t own_caps(void)
{
	return pgs_caps_are_callers() ? PGS_CAP(CAP_DAC_OVERRIDE) : 0;
}

static int put(struct pgs_cgmake *made, const char *path, const char *file, const char *text)
{
	_cleanup_free_ char *name = NULL;
	_cleanup_close_ int fd = -1;
	int err;

	if (asprintf(&name, "%s%s/%s", pgs_cgroups_mount(made->cgroups) + 1, path, file) < 0)
		return -ENOMEM;
	pgs_caps_raise(own_caps());
	fd = openat(made->ctx->root_fd, name, O_WRONLY | O_CLOEXEC);
	err = fd < 0 || write(fd, text, strlen(text)) < 0 ? -errno : 0;
	pgs_caps_lower();
	return !err ? 0 : file_failed(made, path, file, err);
}

static int put_number(struct pgs_cgmake *made, const char *file, uint64_t n)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, n);
	return put(made, made->path, file, text);
}

/* ---- where ----------------------------------------------------------------------------------- */

/* The root when ours is outside of what we see, as in some containers. */
static int find_home(struct pgs_cgmake *made)
{
	_cleanup_free_ char *own = NULL;
	int r = pgs_cgroup_own(made->cgroups, &own);

	if (r && r != -ESRCH)
		return r;
	if (!r && !pgs_cgroup_resolve(made->cgroups, own, &made->home))
		return 0;
	made->home = strdup("/");
	return made->home ? 0 : -ENOMEM;
}

static bool gives_memory(struct pgs_cgmake *made, const char *path)
{
	_cleanup_free_ char *text = NULL;

	return pgs_cgroup_read(made->cgroups, path, "cgroup.subtree_control", &text) >= 0 &&
	       pgs_has_word(text, "memory", " \n");
}

static int find_parent_v2(struct pgs_cgmake *made)
{
	int r;

	while (!gives_memory(made, made->parent) && made->parent[1]) {
		char *slash = strrchr(made->parent, '/');

		slash[slash == made->parent] = '\0';
	}
	if (gives_memory(made, made->parent))
		return 0;
	r = put(made, made->parent, "cgroup.subtree_control", "+memory");
	made->enabled = !r;
	return r;
}

static int find_parent(struct pgs_cgmake *made)
{
	made->parent = strdup(made->home);
	if (!made->parent)
		return -ENOMEM;
	return pgs_cgroups_version(made->cgroups) == 1 ? 0 : find_parent_v2(made);
}

static int make_directory(struct pgs_cgmake *made)
{
	const char *mount = pgs_cgroups_mount(made->cgroups);
	int err = -EEXIST;

	for (unsigned int i = 0; i < NAME_TRIES && err == -EEXIST; i++) {
		_cleanup_free_ char *path = NULL, *full = NULL;

		if (asprintf(&path, "%s/pgscan-%d.%u", made->parent[1] ? made->parent : "",
			     (int)getpid(), i) < 0 ||
		    asprintf(&full, "%s%s", mount + 1, path) < 0)
			return -ENOMEM;
		pgs_caps_raise(own_caps());
		err = mkdirat(made->ctx->root_fd, full, 0755) < 0 ? -errno : 0;
		pgs_caps_lower();
		if (!err) {
			made->path = path;
			path = NULL;
		}
	}
	if (err)
		return pgs_ctx_fail(made->ctx, err, "cannot make a cgroup in '%s%s': %s", mount,
				    made->parent, strerror(-err));
	return 0;
}

int pgs_cgmake_new(struct pgs_ctx *ctx, struct pgs_cgroups *cgroups, struct pgs_cgmake **ret)
{
	_cleanup_(pgs_cgmake_freep) struct pgs_cgmake *made = calloc(1, sizeof(*made));
	int r;

	if (!ctx->live)
		return pgs_ctx_fail(ctx, -EOPNOTSUPP,
				    "a command runs on this machine, not in a "
				    "tree");
	if (!made)
		return -ENOMEM;
	made->ctx = ctx;
	made->cgroups = cgroups;
	r = find_home(made);
	r = r ?: find_parent(made);
	r = r ?: make_directory(made);
	if (r)
		return r;
	*ret = made;
	made = NULL;
	return 0;
}

const char *pgs_cgmake_path(const struct pgs_cgmake *made)
{
	return made->path;
}

bool pgs_cgmake_enabled(const struct pgs_cgmake *made)
{
	return made->enabled;
}

/* ---- limits ---------------------------------------------------------------------------------- */

static int limit_v1(struct pgs_cgmake *made, struct pgs_count bytes, struct pgs_count swap_bytes)
{
	int r = 0;

	if (swap_bytes.set && !bytes.set)
		return pgs_ctx_fail(made->ctx, -EINVAL,
				    "cgroup v1 limits memory and swap together: a swap limit "
				    "needs a memory limit");
	if (bytes.set)
		r = put_number(made, "memory.limit_in_bytes", bytes.n);
	if (!r && swap_bytes.set)
		r = put_number(made, "memory.memsw.limit_in_bytes", bytes.n + swap_bytes.n);
	return r;
}

static int limit_v2(struct pgs_cgmake *made, struct pgs_count bytes, struct pgs_count swap_bytes)
{
	int r = 0;

	if (bytes.set)
		r = put_number(made, "memory.max", bytes.n);
	if (!r && swap_bytes.set)
		r = put_number(made, "memory.swap.max", swap_bytes.n);
	return r;
}

int pgs_cgmake_limit(struct pgs_cgmake *made, struct pgs_count bytes, struct pgs_count swap_bytes)
{
	int r = pgs_cgroups_version(made->cgroups) == 1 ? limit_v1(made, bytes, swap_bytes)
							: limit_v2(made, bytes, swap_bytes);

	if (r == -ENOENT) /* the cgroup is ours: it is the file that is missing */
		return pgs_ctx_fail(made->ctx, -EOPNOTSUPP,
				    "this kernel does not account swap to cgroups");
	return r;
}

int pgs_cgmake_swappiness(struct pgs_cgmake *made, uint64_t value, uint64_t *ret_effective)
{
	int r;

	if (pgs_cgroups_version(made->cgroups) == 1) {
		r = put_number(made, "memory.swappiness", value);
		if (!r)
			*ret_effective = value;
		return r;
	}
	r = pgs_read_u64(made->ctx, 0, ret_effective, "proc/sys/vm/swappiness");
	if (r || *ret_effective == value)
		return r;
	return pgs_ctx_fail(made->ctx, -EOPNOTSUPP,
			    "cgroup v2 has no swappiness of a cgroup, and the machine's is "
			    "%" PRIu64,
			    *ret_effective);
}

/* ---- processes ------------------------------------------------------------------------------- */

static int move(struct pgs_cgmake *made, const char *path, pid_t pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", (int)pid);
	return put(made, path, "cgroup.procs", text);
}

int pgs_cgmake_enter(struct pgs_cgmake *made, pid_t pid)
{
	return move(made, made->path, pid);
}

static bool is_exiting(struct pgs_cgmake *made, pid_t pid)
{
	struct pgs_proc proc;

	return pgs_proc_read(made->ctx, pid, &proc) || proc.exiting;
}

int pgs_cgmake_holds(struct pgs_cgmake *made, pid_t pid, char **ret_elsewhere)
{
	_cleanup_free_ char *path = NULL;
	size_t len = strlen(made->path);
	int r = pgs_cgroup_of(made->cgroups, pid, &path);

	if (r)
		return r;
	if (!strncmp(path, made->path, len) && (!path[len] || path[len] == '/'))
		return 1;
	/* Asked afterwards: one that is not exiting now was not when its cgroup was read. */
	if (pgs_cgroups_version(made->cgroups) == 1 && is_exiting(made, pid))
		return -ENODATA;
	*ret_elsewhere = path;
	path = NULL;
	return 0;
}

void pgs_cgmake_kill(struct pgs_cgmake *made)
{
	struct pgs_cgroup_pids pids;

	/* "cgroup: introduce cgroup.kill", 5.14: at once, with what forks meanwhile. */
	if (!put(made, made->path, "cgroup.kill", "1") ||
	    pgs_cgroup_pids(made->cgroups, made->path, &pids) < 0)
		return;
	pgs_caps_raise(PGS_CAP(CAP_KILL));
	for (size_t i = 0; i < pids.nr; i++)
		kill(pids.pids[i], SIGKILL);
	pgs_caps_lower();
	pgs_cgroup_pids_fini(&pids);
}

/* Zombies and those that end meanwhile cannot be moved and need not be. */
static void move_out(struct pgs_cgmake *made)
{
	struct pgs_cgroup_pids pids;

	if (pgs_cgroup_pids(made->cgroups, made->path, &pids) < 0)
		return;
	for (size_t i = 0; i < pids.nr; i++)
		(void)!move(made, made->home, pids.pids[i]);
	pgs_cgroup_pids_fini(&pids);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* The cgroup with those below it, the deepest first. */
static int remove_directories(struct pgs_cgmake *made)
{
	struct pgs_cgroup_list list;
	int r = pgs_cgroup_below(made->cgroups, made->path, &list);

	if (r < 0)
		return r;
	for (size_t i = list.nr; i-- > 0 && !r;) {
		_cleanup_free_ char *full = NULL;

		if (asprintf(&full, "%s%s", pgs_cgroups_mount(made->cgroups) + 1, list.paths[i]) <
		    0) {
			r = -ENOMEM;
			break;
		}
		pgs_caps_raise(own_caps());
		if (unlinkat(made->ctx->root_fd, full, AT_REMOVEDIR) < 0 && errno != ENOENT)
			r = -errno;
		pgs_caps_lower();
	}
	pgs_cgroup_list_fini(&list);
	return r;
}

static void disable_again(struct pgs_cgmake *made)
{
	if (made->enabled)
		(void)!put(made, made->parent, "cgroup.subtree_control", "-memory");
	made->enabled = false;
}

int pgs_cgmake_remove(struct pgs_cgmake *made)
{
	const struct timespec pause = {.tv_nsec = 10000000};
	int r = -EBUSY;

	for (unsigned int i = 0; i < REMOVE_TRIES && r == -EBUSY; i++) {
		if (i)
			nanosleep(&pause, NULL);
		move_out(made);
		r = remove_directories(made);
	}
	if (r && r != -ENOENT)
		return pgs_ctx_fail(made->ctx, r, "cannot remove the cgroup '%s%s': %s",
				    pgs_cgroups_mount(made->cgroups), made->path, strerror(-r));
	free(made->path);
	made->path = NULL;
	disable_again(made);
	return 0;
}

void pgs_cgmake_free(struct pgs_cgmake *made)
{
	if (!made)
		return;
	if (made->path)
		(void)!pgs_cgmake_remove(made);
	disable_again(made);
	free(made->home);
	free(made->parent);
	free(made->path);
	free(made);
}

void pgs_cgmake_freep(struct pgs_cgmake **made)
{
	pgs_cgmake_free(*made);
}
