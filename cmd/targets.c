// SPDX-License-Identifier: GPL-2.0-only
#include "targets.h"

#include "../src/cgroup.h"
#include "../src/cleanup.h"
#include "../src/procfs.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

static int push(struct targets *t, pid_t pid)
{
	pid_t *more;

	for (size_t i = 0; t->named && i < t->nr; i++)
		if (t->pids[i] == pid)
			return 0;
	more = reallocarray(t->pids, t->nr + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	t->pids = more;
	more[t->nr++] = pid;
	return 0;
}

static int find_named(const struct opt_target *opt, struct targets *t)
{
	int r = 0;

	t->named = true;
	for (size_t i = 0; i < opt->nr_pids && !r; i++)
		r = push(t, opt->pids[i]);
	return r;
}

static int find_all(struct pgs_ctx *ctx, struct targets *t)
{
	_cleanup_(pgs_pids_closep) struct pgs_pids *pids = NULL;
	int r = pgs_pids_open(ctx, &pids);
	pid_t pid;

	while (!r && pgs_pids_next(pids, &pid) > 0)
		r = push(t, pid);
	t->hidden = pgs_pids_hidden(ctx);
	return r;
}

static int find_cgroup(struct pgs_ctx *ctx, const char *word, struct targets *t)
{
	_cleanup_(pgs_cgroups_closep) struct pgs_cgroups *cgroups = NULL;
	_cleanup_free_ char *path = NULL;
	struct pgs_cgroup_pids members;
	int r = pgs_cgroups_open(ctx, &cgroups);

	if (!r)
		r = pgs_cgroup_resolve(cgroups, word, &path);
	if (!r)
		r = pgs_cgroup_pids(cgroups, path, &members);
	if (r)
		return r;
	for (size_t i = 0; i < members.nr && !r; i++)
		r = push(t, members.pids[i]);
	t->nr_foreign = members.nr_foreign;
	if (pgs_cgroups_version(cgroups) == 1) /* which leaves those out that v2 lists as 0 */
		t->hidden = pgs_pids_hidden(ctx) == PGS_PIDS_NAMESPACE ? PGS_PIDS_NAMESPACE : 0;
	pgs_cgroup_pids_fini(&members);
	return r;
}

int targets_find(struct pgs_ctx *ctx, const struct opt_target *opt, struct targets *ret)
{
	int ways = !!opt->nr_pids + !!opt->cgroup + opt->system, r;
	struct targets t = {0};

	if (!ways)
		return msg_usage("no process given: name PIDs, a cgroup with -g, or all with -a");
	if (ways > 1)
		return msg_usage("PIDs, --cgroup and --system exclude each other");
	if (opt->cgroup)
		r = find_cgroup(ctx, opt->cgroup, &t);
	else
		r = opt->system ? find_all(ctx, &t) : find_named(opt, &t);
	if (r) {
		targets_fini(&t);
		msg_error("%s", r == -ENOMEM ? "out of memory" : pgs_ctx_error(ctx));
		return msg_exit_status(r);
	}
	*ret = t;
	return PGS_EXIT_OK;
}

void targets_fini(struct targets *t)
{
	free(t->pids);
	*t = (struct targets){0};
}

static void tell_foreign(const struct targets *t, struct out *o)
{
	char what[96];

	snprintf(what, sizeof(what), "%zu process%s of the cgroup ha%s no PID in this namespace",
		 t->nr_foreign, t->nr_foreign == 1 ? "" : "es", t->nr_foreign == 1 ? "s" : "ve");
	msg_warn("%s", what);
	if (o)
		out_error(o, 0, what, 0);
}

void targets_tell_hidden(const struct targets *t, struct out *o)
{
	const char *what = "cannot tell whether /proc hides processes of other users", *so;
	int err = t->hidden;

	if (t->nr_foreign)
		tell_foreign(t, o);
	switch (t->hidden) {
	case 0:
		return;
	case PGS_PIDS_HIDEPID:
		what = "/proc hides the processes of other users";
		so = "only your own are shown";
		err = EPERM;
		break;
	case PGS_PIDS_NAMESPACE:
		what = "/proc shows the processes of one PID namespace alone";
		so = "those outside are not seen";
		err = 0;
		break;
	default:
		so = strerror(-t->hidden);
	}
	msg_warn("%s: %s", what, so);
	if (o)
		out_error(o, 0, what, err);
}

/* fnmatch(), but a bracket at the start is the kernel's, "[heap]", and no set of characters. */
static bool name_matches(const char *pattern, const char *name)
{
	if (*pattern == '[')
		return *name == '[' && !fnmatch(pattern + 1, name + 1, 0);
	return !fnmatch(pattern, name, 0);
}

bool target_matches(const struct pgs_vma *vma, void *arg)
{
	const struct opt_target *opt = arg;

	for (size_t i = 0; i < opt->nr_vma_patterns; i++)
		if (name_matches(opt->vma_patterns[i], vma->name))
			return true;
	return !opt->nr_vma_patterns;
}

void target_tell_unmatched(const struct opt_target *opt, uint64_t pages)
{
	if (!pages && (opt->nr_ranges || opt->nr_vma_patterns))
		msg_note("no mapping matches %s%s%s", opt->nr_vma_patterns ? "--vma" : "",
			 opt->nr_vma_patterns && opt->nr_ranges ? " within " : "",
			 opt->nr_ranges ? "--range" : "");
}

int target_ctx(const struct opt_target *opt, struct pgs_ctx **ret_ctx)
{
	int r = pgs_ctx_open(opt->root, ret_ctx);

	if (!r && opt->kcore == OPT_OFF)
		(*ret_ctx)->disabled |= PGS_MECH_KCORE;
	if (!r)
		return PGS_EXIT_OK;
	msg_error("%s", *ret_ctx ? pgs_ctx_error(*ret_ctx) : "out of memory");
	return r == -EINVAL ? PGS_EXIT_USAGE : msg_exit_status(r);
}

int target_kmod(struct pgs_ctx *ctx, const struct opt_target *opt, struct pgs_kmod **ret_kmod)
{
	int r;

	*ret_kmod = NULL;
	if (opt->kmod == OPT_OFF)
		return PGS_EXIT_OK;
	r = pgs_kmod_open(ctx, ret_kmod);
	if (!r)
		return PGS_EXIT_OK;
	if (pgs_is_shortage(r)) { /* it may be there */
		msg_error("%s", pgs_ctx_error(ctx));
		return PGS_EXIT_FAILED;
	}
	if (opt->kmod == OPT_AUTO) {
		msg_debug("without the module: %s", pgs_ctx_error(ctx));
		return PGS_EXIT_OK;
	}
	msg_error("--kmod=require: %s", pgs_ctx_error(ctx));
	return r == -EACCES || r == -EPERM ? PGS_EXIT_PERMISSION : PGS_EXIT_UNSUPPORTED;
}

/* Kernel memory that is required starts now; else when it is first asked. */
static int require_kcore(const struct opt_target *opt, struct pgs_kmem *kmem)
{
	int r = opt->kcore == OPT_REQUIRE ? pgs_kmem_start(kmem) : 0;

	if (!r)
		return PGS_EXIT_OK;
	msg_error("--kcore=require: %s", pgs_kmem_reason(kmem, PGS_KMEM_OBJECT));
	if (pgs_is_shortage(r))
		return PGS_EXIT_FAILED;
	return r == -EACCES || r == -EPERM ? PGS_EXIT_PERMISSION : PGS_EXIT_UNSUPPORTED;
}

int target_env(struct pgs_ctx *ctx, const struct opt_target *opt, struct pgs_scan_env *ret_env)
{
	struct pgs_kmod *kmod;
	int r = target_kmod(ctx, opt, &kmod);

	if (r)
		return r;
	r = pgs_scan_env_init(ctx, kmod, ret_env);
	if (!r)
		return require_kcore(opt, ret_env->kmem);
	msg_error("%s", pgs_ctx_error(ctx));
	return msg_exit_status(r);
}

int target_check_kcore(struct pgs_ctx *ctx, const struct opt_target *opt)
{
	_cleanup_(pgs_kmem_freep) struct pgs_kmem *kmem = NULL;

	if (opt->kcore != OPT_REQUIRE)
		return PGS_EXIT_OK;
	kmem = pgs_kmem_new(ctx);
	if (kmem)
		return require_kcore(opt, kmem);
	msg_error("out of memory");
	return PGS_EXIT_FAILED;
}

void target_env_fini(struct pgs_scan_env *env)
{
	const char *reason = env->kmem ? pgs_kmem_reason(env->kmem, PGS_KMEM_OBJECT) : "";

	if (*reason) /* it was to be used */
		msg_debug("without kernel memory: %s", reason);
	pgs_scan_env_fini(env);
}

char *target_release(struct pgs_ctx *ctx)
{
	char *release = NULL;

	if (ctx->live)
		return NULL;
	if (pgs_read_file(ctx, 0, &release, "proc/sys/kernel/osrelease") <= 0)
		return strdup("unknown");
	release[strcspn(release, "\n")] = '\0';
	return release;
}
