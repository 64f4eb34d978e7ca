// SPDX-License-Identifier: GPL-2.0-only
#include "psi.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cleanup.h"
#include "procfs.h"

/* "some avg10=0.12 avg60=0.00 avg300=0.00 total=12345" */
static struct pgs_psi_line parse_line(const char *text, const char *kind)
{
	const char *at = strstr(text, kind);
	struct pgs_psi_line line = {0};

	line.set = at && sscanf(at + strlen(kind), " avg10=%lf avg60=%lf avg300=%lf total=%" SCNu64,
				&line.avg10, &line.avg60, &line.avg300, &line.total_us) == 4;
	return line;
}

int pgs_psi_parse(const char *text, struct pgs_psi *ret)
{
	struct pgs_psi psi = {
		.some = parse_line(text, "some "),
		.full = parse_line(text, "full "),
	};

	if (!psi.some.set && !psi.full.set)
		return -EBADMSG;
	*ret = psi;
	return 0;
}

int pgs_psi_read(struct pgs_ctx *ctx, struct pgs_psi *ret)
{
	_cleanup_free_ char *text = NULL;
	ssize_t len = pgs_read_file(ctx, 0, &text, "proc/pressure/memory");

	return len < 0 ? (int)len : pgs_psi_parse(text, ret);
}

int pgs_psi_read_cgroup(struct pgs_cgroups *cgroups, const char *path, struct pgs_psi *ret)
{
	_cleanup_free_ char *text = NULL;
	ssize_t len = pgs_cgroup_read(cgroups, path, "memory.pressure", &text);

	return len < 0 ? (int)len : pgs_psi_parse(text, ret);
}
