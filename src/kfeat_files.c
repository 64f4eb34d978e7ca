// SPDX-License-Identifier: GPL-2.0-only
/* kfeat_files: what files of /proc, /sys and /dev tell; most of them for a captured tree too. */
#include "kfeat_probes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "btf.h"
#include "caps.h"
#include "cgroup.h"
#include "cleanup.h"
#include "kcore.h"
#include "kmem.h"
#include "kmodif.h"
#include "procfs.h"
#include "reporting.h"
#include "units.h"

/* Files whose mode is 0400 ask for the owner or this, whatever else they ask for. */
#define MODE_CAPS PGS_CAP(CAP_DAC_READ_SEARCH)

static int open_probed(struct pgs_ctx *ctx, const struct pgs_probe *probe)
{
	return pgs_open(ctx, probe->caps | MODE_CAPS, 0, "%s", probe->path);
}

int pgs_probe_open(struct pgs_ctx *ctx, const struct pgs_probe *probe, struct pgs_feat *feat)
{
	_cleanup_close_ int fd = open_probed(ctx, probe);

	(void)feat;
	return fd < 0 ? fd : 1;
}

/* There when it can be read: 8 bytes, as the kpage files take no less. */
int pgs_probe_read(struct pgs_ctx *ctx, const struct pgs_probe *probe, struct pgs_feat *feat)
{
	_cleanup_close_ int fd = open_probed(ctx, probe);
	uint64_t word;
	ssize_t n;

	(void)feat;
	if (fd < 0)
		return fd;
	n = read(fd, &word, sizeof(word));
	if (n < 0)
		return -errno;
	return n > 0 ? 1 : -ENODATA;
}

int pgs_probe_proc_visible(struct pgs_ctx *ctx, const struct pgs_probe *probe,
			   struct pgs_feat *feat)
{
	int hidden = pgs_pids_hidden(ctx);

	(void)probe;
	if (!hidden)
		return 1;
	if (hidden == PGS_PIDS_NAMESPACE) {
		pgs_feat_detail(feat, "/proc shows the processes of one PID namespace alone");
		return 0;
	}
	pgs_feat_detail(feat, hidden > 0
				      ? "this mount of /proc hides other users' processes"
				      : "cannot tell whether this mount of /proc hides processes");
	return hidden > 0 ? -EPERM : hidden;
}

/* There when its headers are those of a core file: what masks it in a container opens, too. */
int pgs_probe_kcore(struct pgs_ctx *ctx, const struct pgs_probe *probe, struct pgs_feat *feat)
{
	_cleanup_(pgs_kcore_closep) struct pgs_kcore *kcore = NULL;
	char why[PGS_KCORE_REFUSAL];
	int r = pgs_kcore_open(ctx, &kcore);

	(void)probe;
	if (r == -EPERM || r == -EACCES)
		feat->caps = pgs_kcore_lacking(ctx);
	if (r == -EPERM && !feat->caps) {
		pgs_kcore_refusal(ctx, why);
		pgs_feat_detail(feat, "%s", why);
	}
	if (r != -ENOEXEC)
		return r ? r : 1;
	pgs_feat_detail(feat, "%s", pgs_ctx_error(ctx));
	return 0;
}

/* There when a structure is found in it that every kernel has. */
int pgs_probe_btf(struct pgs_ctx *ctx, const struct pgs_probe *probe, struct pgs_feat *feat)
{
	_cleanup_(pgs_btf_freep) struct pgs_btf *btf = NULL;
	uint32_t size;
	int r = pgs_btf_open(ctx, &btf);

	if (!r && pgs_btf_sizeof(btf, "inode", &size))
		r = pgs_btf_error(btf) ?: -EBADMSG;
	if (r != -EBADMSG && r != -ENODATA)
		return r ? r : 1;
	pgs_feat_detail(feat, "cannot make sense of '%s/%s'", ctx->root, probe->path);
	return 0;
}

/* The reader's own test on memory of ours; then what this kernel has, and why not the rest. */
int pgs_probe_kmem(struct pgs_ctx *ctx, const struct pgs_probe *probe, struct pgs_feat *feat)
{
	static const char *const names[PGS_KMEM_PARTS] = {
		[PGS_KMEM_OBJECT] = "objects",	    [PGS_KMEM_LIST] = "their list",
		[PGS_KMEM_AREAS] = "swap areas",    [PGS_KMEM_SWAP_CACHE] = "swap cache",
		[PGS_KMEM_ZERO_MAP] = "zero pages",
	};
	_cleanup_(pgs_kmem_freep) struct pgs_kmem *kmem = pgs_kmem_new(ctx);
	char has[128] = "", lacks[512] = "";
	int r = kmem ? pgs_kmem_start(kmem) : -ENOMEM;

	(void)probe;
	if (r == -EPERM || r == -EACCES)
		feat->caps = pgs_kcore_lacking(ctx);
	if (r && !feat->caps)
		pgs_feat_detail(feat, "%s", kmem ? pgs_kmem_reason(kmem, PGS_KMEM_OBJECT) : "");
	if (r)
		return r;
	for (int part = 0; part < PGS_KMEM_PARTS; part++) {
		bool there = pgs_kmem_has(kmem, (enum pgs_kmem_part)part);
		char *line = there ? has : lacks;
		size_t room = there ? sizeof(has) : sizeof(lacks), len = strlen(line);

		snprintf(line + len, room - len, "%s%s%s%s", there && len ? ", " : "",
			 there ? "" : "; no ", names[part], there ? "" : ": ");
		if (!there)
			snprintf(line + strlen(line), room - strlen(line), "%s",
				 pgs_kmem_reason(kmem, (enum pgs_kmem_part)part));
	}
	pgs_feat_detail(feat, "%s%s", has, lacks);
	return 1;
}

/* ---- the module ------------------------------------------------------------------------------ */

int pgs_probe_module(struct pgs_ctx *ctx, const struct pgs_probe *probe, struct pgs_feat *feat)
{
	_cleanup_(pgs_kmod_closep) struct pgs_kmod *kmod = NULL;
	int r = pgs_kmod_open(ctx, &kmod);

	(void)probe;
	if (r == -ENOENT)
		pgs_feat_detail(feat, "the module is not loaded");
	if (r == -EPROTO) { /* there, but of no use to this pgscan */
		pgs_feat_detail(feat, "%s", pgs_ctx_error(ctx));
		return 0;
	}
	if (r < 0)
		return r;
	pgs_feat_detail(feat, "interface %u, features %#llx", pgs_kmod_info(kmod)->abi,
			(unsigned long long)pgs_kmod_info(kmod)->features);
	return 1;
}

/* ---- cgroups and swap ------------------------------------------------------------------------ */

int pgs_probe_memcg(struct pgs_ctx *ctx, const struct pgs_probe *probe, struct pgs_feat *feat)
{
	_cleanup_(pgs_cgroups_closep) struct pgs_cgroups *cgroups = NULL;
	int r = pgs_cgroups_open(ctx, &cgroups);

	if (r == -EOPNOTSUPP)
		pgs_feat_detail(feat, "%s", pgs_ctx_error(ctx));
	if (r < 0)
		return r;
	pgs_feat_detail(feat, "memory is a v%d controller, at %s", pgs_cgroups_version(cgroups),
			pgs_cgroups_mount(cgroups));
	return pgs_cgroups_version(cgroups) == (int)probe->arg;
}

int pgs_probe_swap(struct pgs_ctx *ctx, const struct pgs_probe *probe, struct pgs_feat *feat)
{
	_cleanup_free_ char *text = NULL;
	ssize_t len = pgs_read_file(ctx, 0, &text, "%s", probe->path);
	uint64_t total_kb = 0, kb;
	unsigned int areas = 0;
	char size[PGS_SIZE_STR];

	if (len < 0)
		return (int)len;
	/* The header, then a line for each area: path, type, size and used in kB, priority. */
	for (const char *line = strchr(text, '\n'); line && line[1];
	     line = strchr(line + 1, '\n')) {
		if (sscanf(line + 1, "%*s %*s %" SCNu64, &kb) != 1)
			return -EBADMSG;
		areas++;
		total_kb += kb;
	}
	if (!areas) {
		pgs_feat_detail(feat, "no swap area");
		return 0;
	}
	pgs_feat_detail(feat, "%u area%s, %s", areas, areas == 1 ? "" : "s",
			pgs_format_size(total_kb * 1024, size));
	return 1;
}

/* A directory below the root, for readdir(). */
static DIR *open_dir(struct pgs_ctx *ctx, const char *path, int *ret_err)
{
	int fd = pgs_open(ctx, 0, O_DIRECTORY, "%s", path);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir) {
		*ret_err = fd < 0 ? fd : -errno;
		if (fd >= 0)
			close(fd);
	}
	return dir;
}

int pgs_probe_zram(struct pgs_ctx *ctx, const struct pgs_probe *probe, struct pgs_feat *feat)
{
	unsigned int devices = 0, in_use = 0;
	const struct dirent *entry;
	int err = 0;
	_cleanup_closedir_ DIR *dir = open_dir(ctx, probe->path, &err);

	if (!dir)
		return err;
	while ((entry = readdir(dir))) {
		uint64_t size;

		if (strncmp(entry->d_name, "zram", 4))
			continue;
		devices++;
		err = pgs_read_u64(ctx, 0, &size, "%s/%s/disksize", probe->path, entry->d_name);
		if (pgs_is_shortage(err))
			return err;
		in_use += !err && size;
	}
	if (!devices) {
		pgs_feat_detail(feat, "no zram device");
		return 0;
	}
	pgs_feat_detail(feat, "%u device%s, %u with a size", devices, devices == 1 ? "" : "s",
			in_use);
	return 1;
}

int pgs_probe_zswap(struct pgs_ctx *ctx, const struct pgs_probe *probe, struct pgs_feat *feat)
{
	_cleanup_free_ char *enabled = NULL, *compressor = NULL;
	ssize_t len = pgs_read_file(ctx, 0, &enabled, "%s/enabled", probe->path);

	if (len < 0)
		return (int)len;
	if (enabled[0] != 'Y' && enabled[0] != '1') {
		pgs_feat_detail(feat, "built in, but off");
		return 0;
	}
	if (pgs_read_file(ctx, 0, &compressor, "%s/compressor", probe->path) > 0)
		pgs_feat_detail(feat, "compressor %.*s", (int)strcspn(compressor, "\n"),
				compressor);
	return 1;
}

/* ---- free page reporting --------------------------------------------------------------------- */

#define REPORTING_ORDER "page_reporting_order"

/* Parameters that upstream does not have, as they stand: "name=value, …" appended to @line. */
static int append_parameter(struct pgs_ctx *ctx, const char *dir, const char *name, char **line)
{
	_cleanup_free_ char *value = NULL;
	char *longer;

	if (pgs_read_file(ctx, 0, &value, "%s/%s", dir, name) < 0)
		return 0; /* write-only, or gone */
	if (asprintf(&longer, "%s, %s=%.*s", *line, name, (int)strcspn(value, "\n"), value) < 0)
		return -ENOMEM;
	free(*line);
	*line = longer;
	return 0;
}

static int parameter_filter(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && strcmp(entry->d_name, REPORTING_ORDER) != 0;
}

/* The order is out of range, -1 or MAX_ORDER, until a device registers for reports. */
int pgs_probe_page_reporting(struct pgs_ctx *ctx, const struct pgs_probe *probe,
			     struct pgs_feat *feat)
{
	_cleanup_free_ char *order = NULL, *line = NULL;
	struct dirent **entries = NULL;
	ssize_t len = pgs_read_file(ctx, 0, &order, "%s/" REPORTING_ORDER, probe->path);
	int n, r;

	if (len < 0)
		return (int)len;
	if (asprintf(&line, "order %.*s", (int)strcspn(order, "\n"), order) < 0)
		return -ENOMEM;
	n = scandirat(ctx->root_fd, probe->path, &entries, parameter_filter, alphasort);
	r = n < 0 ? -errno : 1;
	for (int i = 0; i < n; i++) {
		if (r == 1 && append_parameter(ctx, probe->path, entries[i]->d_name, &line) < 0)
			r = -ENOMEM;
		free(entries[i]);
	}
	free(entries);
	pgs_feat_detail(feat, "%s", line);
	return r;
}

#define VIRTIO_BALLOON_F_REPORTING 5

/* A balloon's feature string, one digit a bit: those that device and driver agreed on. What the
 * device offered beyond is in no file. */
static int reporting_negotiated(struct pgs_ctx *ctx, const char *dir, const char *device,
				struct pgs_feat *feat)
{
	_cleanup_free_ char *bits = NULL;
	ssize_t len = pgs_read_file(ctx, 0, &bits, "%s/%s/features", dir, device);

	if (len < 0)
		return (int)len;
	if (len <= VIRTIO_BALLOON_F_REPORTING)
		return -EBADMSG;
	if (bits[VIRTIO_BALLOON_F_REPORTING] == '1') {
		pgs_feat_detail(feat, "%s: feature bit %d negotiated", device,
				VIRTIO_BALLOON_F_REPORTING);
		return 1;
	}
	pgs_feat_detail(feat, "%s: feature bit %d not negotiated (%s)", device,
			VIRTIO_BALLOON_F_REPORTING,
			strchr(bits, '1') ? "not offered, or the driver declined" : "no driver");
	return 0;
}

int pgs_probe_balloon(struct pgs_ctx *ctx, const struct pgs_probe *probe, struct pgs_feat *feat)
{
	char name[PGS_BALLOON_NAME];
	int r = pgs_balloon_find(ctx, name);

	if (!r || r == -ENOENT)
		pgs_feat_detail(feat, "no balloon device");
	if (r <= 0)
		return r;
	if (probe->arg == PGS_BALLOON_REPORTING)
		return reporting_negotiated(ctx, probe->path, name, feat);
	pgs_feat_detail(feat, "%s", name);
	return r;
}
