// SPDX-License-Identifier: GPL-2.0-only
#include "maps.h"

#include "caps.h"
#include "cleanup.h"
#include "mountinfo.h"
#include "overlay.h"
#include "procfs.h"

#include <errno.h>
#include <limits.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <time.h>

#define DELETED " (deleted)"

/* A line is at most four times PATH_MAX (every byte escaped) and its numbers. */
#define BUFFER_BYTES (64 * 1024)

/* What is known of a file system's device. */
struct fs_dev {
	unsigned int major, minor;
	bool shmem, overlay;
	uint64_t huge_bytes; /* hugetlbfs */
};

/*
 * To find out takes the mount table of a process, so processes that are looked at one after another
 * share the answer. Not for long: the number of a file system that is gone is used again.
 */
#define DEVICES_MAX	64
#define DEVICES_VALID_S 1

struct pgs_devices {
	struct fs_dev shm_mnt; /* the kernel's own tmpfs: memfd, SysV, shared anonymous */
	time_t since;	       /* of the others; CLOCK_MONOTONIC */
	size_t nr;
	struct fs_dev dev[DEVICES_MAX];
};

struct pgs_maps {
	struct pgs_ctx *ctx;
	pid_t pid;
	int fd;
	bool eof, any;
	size_t pos, len;
	char *buf; /* BUFFER_BYTES; not in here, where it would be zeroed for each process */
};

/*
 * memfd_create(), shmget() and MAP_SHARED|MAP_ANONYMOUS share one superblock (mm/shmem.c,
 * shm_mnt): our own memfd tells its device. A captured tree has to do with the usual 0:1.
 */
static struct fs_dev find_shm_mnt(const struct pgs_ctx *ctx)
{
	struct fs_dev dev = {.major = 0, .minor = 1, .shmem = true};
	_cleanup_close_ int fd = ctx->live ? memfd_create("pgscan", MFD_CLOEXEC) : -1;
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st)) {
		dev.major = major(st.st_dev);
		dev.minor = minor(st.st_dev);
	}
	return dev;
}

/* Make the table, or forget what is old. */
static int refresh_devices(struct pgs_ctx *ctx)
{
	struct timespec now;

	if (!ctx->devices) {
		ctx->devices = calloc(1, sizeof(*ctx->devices));
		if (!ctx->devices)
			return -ENOMEM;
		ctx->devices->shm_mnt = find_shm_mnt(ctx);
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec - ctx->devices->since > DEVICES_VALID_S) {
		ctx->devices->nr = 0;
		ctx->devices->since = now.tv_sec;
	}
	return 0;
}

int pgs_maps_open(struct pgs_ctx *ctx, pid_t pid, struct pgs_maps **ret_maps)
{
	_cleanup_(pgs_maps_closep) struct pgs_maps *maps = calloc(1, sizeof(*maps));
	int r;

	if (!maps)
		return -ENOMEM;
	maps->ctx = ctx;
	maps->pid = pid;
	maps->fd = -1;
	maps->buf = malloc(BUFFER_BYTES);
	if (!maps->buf)
		return -ENOMEM;
	maps->fd = pgs_open(ctx, PGS_CAP(CAP_SYS_PTRACE), 0, "proc/%d/maps", (int)pid);
	if (maps->fd == -ENOENT)
		return pgs_ctx_fail(ctx, -ESRCH, "no process %d", (int)pid);
	if (maps->fd < 0)
		return maps->fd;
	r = refresh_devices(ctx);
	if (r)
		return r;
	*ret_maps = maps;
	maps = NULL;
	return 0;
}

void pgs_maps_close(struct pgs_maps *maps)
{
	if (!maps)
		return;
	pgs_closep(&maps->fd);
	free(maps->buf);
	free(maps);
}

void pgs_maps_closep(struct pgs_maps **maps)
{
	pgs_maps_close(*maps);
}

bool pgs_maps_empty(const struct pgs_maps *maps)
{
	return !maps->any;
}

/* ---- which file systems are shmem, or hugetlbfs ---------------------------------------------- */

static int vma_fstatfs(struct pgs_ctx *ctx, pid_t pid, const struct pgs_vma *vma,
		       struct statfs *ret_fs)
{
	_cleanup_close_ int fd = -1;

	if (!pgs_mech_enabled(ctx, PGS_MECH_MAP_FILES))
		return -EOPNOTSUPP;
	fd = pgs_open(ctx,
		      PGS_CAPS_OTHERS | PGS_CAP(CAP_CHECKPOINT_RESTORE) | PGS_CAP(CAP_SYS_ADMIN),
		      O_PATH, "proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, vma->start,
		      vma->end);
	if (fd < 0)
		return fd;
	return fstatfs(fd, ret_fs) ? -errno : 0;
}

/* The type that the process's own mounts give a device: 1, or 0 if none is of it. */
static int mount_type(struct pgs_ctx *ctx, pid_t pid, const struct pgs_vma *vma, char ret_type[16],
		      bool *ret_overlay)
{
	_cleanup_free_ char *text = NULL;
	struct pgs_mount mount;

	if (pgs_read_file(ctx, PGS_CAP(CAP_SYS_PTRACE), &text, "proc/%d/mountinfo", (int)pid) < 0)
		return 0;
	for (char *rest = text; pgs_mount_next(&rest, &mount);)
		if (mount.dev == makedev(vma->dev_major, vma->dev_minor)) {
			snprintf(ret_type, 16, "%s", mount.type);
			*ret_overlay = ctx->live && !strcmp(mount.type, "overlay") &&
				       pgs_overlay_has_tmpfs(mount.super_options);
			return 1;
		}
	return 0;
}

/*
 * rootfs and devtmpfs are tmpfs or ramfs, hugetlbfs has pages of one size a mount, and a device
 * without a mount of that process says nothing: there the file itself is asked.
 * Returns 0, or -errno: it could not be; *@ret_dev is then of no special kind.
 */
static int find_fs(struct pgs_ctx *ctx, pid_t pid, const struct pgs_vma *vma,
		   struct fs_dev *ret_dev)
{
	char type[16];
	struct statfs fs;
	int r;

	*ret_dev = (struct fs_dev){.minor = vma->dev_minor};
	if (mount_type(ctx, pid, vma, type, &ret_dev->overlay) && strcmp(type, "rootfs") &&
	    strcmp(type, "devtmpfs") && strcmp(type, "hugetlbfs")) {
		ret_dev->shmem = !strcmp(type, "tmpfs");
		return 0;
	}
	r = vma_fstatfs(ctx, pid, vma, &fs);
	if (r)
		return r;
	ret_dev->shmem = fs.f_type == TMPFS_MAGIC;
	ret_dev->huge_bytes = fs.f_type == HUGETLBFS_MAGIC ? (uint64_t)fs.f_bsize : 0;
	return 0;
}

/* A memfd, a SysV segment or shared anonymous memory, whose names are no paths. */
static bool is_on_shm_mnt(const struct pgs_ctx *ctx, const struct pgs_vma *vma)
{
	const struct fs_dev *shm_mnt = &ctx->devices->shm_mnt;

	return vma->dev_major == shm_mnt->major && vma->dev_minor == shm_mnt->minor;
}

/*
 * Neither has a block device, so the major number is 0 (get_anon_bdev()). A mapping without a file
 * has minor 0 too; inode 0 says nothing, for a System V segment's is its id, and the first has 0.
 */
static struct fs_dev fs_of(struct pgs_ctx *ctx, pid_t pid, const struct pgs_vma *vma)
{
	struct pgs_devices *known = ctx->devices;
	struct fs_dev dev = {0};

	if (vma->dev_major || !vma->dev_minor)
		return dev;
	if (is_on_shm_mnt(ctx, vma))
		return known->shm_mnt;
	for (size_t i = 0; i < known->nr; i++)
		if (known->dev[i].minor == vma->dev_minor)
			return known->dev[i];
	if (!find_fs(ctx, pid, vma, &dev) && known->nr < DEVICES_MAX)
		known->dev[known->nr++] = dev;
	return dev;
}

bool pgs_maps_overlay(struct pgs_ctx *ctx, pid_t pid, unsigned int minor)
{
	const struct pgs_vma vma = {.dev_minor = minor};

	return !refresh_devices(ctx) && fs_of(ctx, pid, &vma).overlay;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* show_map_vma() escapes a newline as \012 and nothing else, not even the backslash. */
static size_t unescape_newlines(char *name, size_t len)
{
	size_t to = 0;

	for (size_t from = 0; from < len; to++) {
		if (len - from >= 4 && !memcmp(name + from, "\\012", 4)) {
			name[to] = '\n';
			from += 4;
		} else {
			name[to] = name[from++];
		}
	}
	name[to] = '\0';
	return to;
}

/*
 * A name that has the four characters itself looks like one with a newline. The link in map_files
 * is not escaped; it is taken if it is what the line would have come from.
 */
static ssize_t ask_link(struct pgs_maps *maps, const struct pgs_vma *vma, char *link, size_t room)
{
	char path[64];
	ssize_t n;

	if (!maps->ctx->live || !pgs_mech_enabled(maps->ctx, PGS_MECH_MAP_FILES))
		return -1;
	snprintf(path, sizeof(path), "proc/%d/map_files/%llx-%llx", (int)maps->pid,
		 (unsigned long long)vma->start, (unsigned long long)vma->end);
	pgs_caps_raise(PGS_CAPS_OTHERS);
	n = readlinkat(maps->ctx->root_fd, path, link, room);
	pgs_caps_lower();
	return n;
}

/* Whether the kernel would print @name as @line. */
static bool is_printed_as(const char *name, size_t len, const char *line, size_t line_len)
{
	size_t at = 0;

	for (size_t i = 0; i < len; i++) {
		const char *printed = name[i] == '\n' ? "\\012" : (char[]){name[i], '\0'};
		size_t n = strlen(printed);

		if (line_len - at < n || memcmp(line + at, printed, n))
			return false;
		at += n;
	}
	return at == line_len;
}

/* The name's own bytes in place of what the line has. Returns their number. */
static size_t recover_name(struct pgs_maps *maps, const struct pgs_vma *vma, char *name, size_t len)
{
	char link[PATH_MAX];
	ssize_t n;

	if (!strstr(name, "\\012"))
		return len;
	n = ask_link(maps, vma, link, sizeof(link));
	if (n <= 0 || !is_printed_as(link, (size_t)n, name, len))
		return unescape_newlines(name, len);
	memcpy(name, link, (size_t)n);
	name[n] = '\0';
	return (size_t)n;
}

/*
 * The suffix is the kernel's, or the end of a living file's name: it is the name's own when a
 * file of that whole name is the one that is mapped.
 */
static bool suffix_is_name(struct pgs_maps *maps, const struct pgs_vma *vma)
{
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (vma->name[0] != '/' || is_on_shm_mnt(maps->ctx, vma))
		return false;
	fd = pgs_open(maps->ctx, PGS_CAPS_OTHERS, O_PATH, "proc/%d/root%s", (int)maps->pid,
		      vma->name);
	return fd >= 0 && !fstat(fd, &st) && st.st_ino == vma->inode &&
	       major(st.st_dev) == vma->dev_major && minor(st.st_dev) == vma->dev_minor;
}

static void strip_deleted(struct pgs_maps *maps, struct pgs_vma *vma, char *name)
{
	size_t suffix = strlen(DELETED);

	if (vma->name_len < suffix || strcmp(name + vma->name_len - suffix, DELETED))
		return;
	if (suffix_is_name(maps, vma))
		return;
	vma->deleted = true;
	vma->name_len -= suffix;
	name[vma->name_len] = '\0';
}

static bool has_prefix(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

/*
 * Memory that a driver maps by frame number (VM_PFNMAP) is left out of the page table walk behind
 * pagemap, so "none" there would be a guess. /dev/zero, mapped privately, is plain anonymous
 * memory.
 */
static bool is_device(struct pgs_maps *maps, const struct pgs_vma *vma)
{
	const char *name = vma->name;
	struct stat st;

	if (has_prefix(name, "/sys/") || has_prefix(name, "/proc/") ||
	    has_prefix(name, "anon_inode:") || has_prefix(name, "socket:"))
		return true;
	if (!has_prefix(name, "/dev/") || !strcmp(name, "/dev/zero"))
		return false;
	return !maps->ctx->live || stat(name, &st) || S_ISCHR(st.st_mode);
}

static enum pgs_vma_kind bracket_kind(const char *name)
{
	if (!strcmp(name, "[heap]") || has_prefix(name, "[stack") || has_prefix(name, "[anon"))
		return PGS_VMA_ANON;
	return PGS_VMA_SPECIAL;
}

static void set_name(struct pgs_vma *vma, const char *name)
{
	vma->name = name;
	vma->name_len = strlen(name);
}

static void classify(struct pgs_maps *maps, struct pgs_vma *vma, char *name)
{
	struct fs_dev fs = fs_of(maps->ctx, maps->pid, vma);

	vma->name = name;
	vma->name_len = recover_name(maps, vma, name, vma->name_len);
	vma->huge_bytes = fs.huge_bytes;
	if (fs.shmem)
		vma->kind = PGS_VMA_SHMEM;
	else if (!vma->name_len)
		vma->kind = PGS_VMA_ANON;
	else if (name[0] == '[' && !vma->inode)
		vma->kind = bracket_kind(name);
	else if (is_device(maps, vma))
		vma->kind = PGS_VMA_DEVICE;
	else
		vma->kind = fs.overlay ? PGS_VMA_OVERLAY : PGS_VMA_FILE;
	if (!vma->name_len) {
		set_name(vma, vma->kind == PGS_VMA_SHMEM ? "[shmem]" : "[anon]");
		return;
	}
	strip_deleted(maps, vma, name);
	if (vma->kind == PGS_VMA_SHMEM && vma->deleted && !strcmp(name, "/dev/zero")) {
		set_name(vma, "[shmem]");
		vma->deleted = false;
	}
}

/* ---- lines ----------------------------------------------------------------------------------- */

static unsigned int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned int)(c - '0');
	return c >= 'a' && c <= 'f' ? (unsigned int)(c - 'a') + 10 : 16;
}

/* One hex number and the character behind it. Nothing else that strtoull() would take for one, and
 * in a third of its time, which was half of what a mapping takes us. */
static bool take_hex(char **p, uint64_t *ret_value, char behind)
{
	uint64_t value = 0;
	unsigned int digit;
	char *at = *p;

	for (; (digit = hex_digit(*at)) < 16; at++) {
		if (value >> 60)
			return false;
		value = value << 4 | digit;
	}
	if (at == *p || *at != behind)
		return false;
	*ret_value = value;
	*p = at + 1;
	return true;
}

/* "START-END PERMS OFFSET MAJ:MIN INODE   NAME", the newline already cut off. */
static int parse_line(struct pgs_maps *maps, char *line, size_t len, struct pgs_vma *vma)
{
	uint64_t dev_major, dev_minor;
	char *p = line, *end;

	*vma = (struct pgs_vma){0};
	if (!take_hex(&p, &vma->start, '-') || !take_hex(&p, &vma->end, ' ') ||
	    vma->end <= vma->start || strnlen(p, 5) < 5 || p[4] != ' ')
		return -EBADMSG;
	memcpy(vma->perms, p, 4);
	p += 5;
	if (!take_hex(&p, &vma->offset, ' ') || !take_hex(&p, &dev_major, ':') ||
	    !take_hex(&p, &dev_minor, ' '))
		return -EBADMSG;
	vma->dev_major = (unsigned int)dev_major;
	vma->dev_minor = (unsigned int)dev_minor;
	vma->inode = strtoull(p, &end, 10);
	if (end == p || (*end && *end != ' '))
		return -EBADMSG;
	p = end + strspn(end, " ");
	vma->name_len = len - (size_t)(p - line);
	classify(maps, vma, p);
	return 0;
}

/* Move the rest to the front and read more: 1, 0 at the end of the file, -errno. */
static int fill(struct pgs_maps *maps)
{
	ssize_t n;

	memmove(maps->buf, maps->buf + maps->pos, maps->len - maps->pos);
	maps->len -= maps->pos;
	maps->pos = 0;
	if (maps->len == BUFFER_BYTES - 1)
		return -EBADMSG;
	do
		n = read(maps->fd, maps->buf + maps->len, BUFFER_BYTES - 1 - maps->len);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	maps->len += (size_t)n;
	maps->eof = !n;
	return n > 0;
}

/* 1 and a line without its newline, 0 at the end, -errno. */
static int next_line(struct pgs_maps *maps, char **ret_line, size_t *ret_len)
{
	for (;;) {
		char *line = maps->buf + maps->pos;
		char *nl = memchr(line, '\n', maps->len - maps->pos);
		int r;

		if (nl) {
			*nl = '\0';
			*ret_line = line;
			*ret_len = (size_t)(nl - line);
			maps->pos += *ret_len + 1;
			return 1;
		}
		if (maps->eof)
			return maps->pos == maps->len ? 0 : -EBADMSG;
		r = fill(maps);
		if (r < 0)
			return r;
	}
}

int pgs_maps_next(struct pgs_maps *maps, struct pgs_vma *ret_vma)
{
	char *line;
	size_t len;
	int r = next_line(maps, &line, &len);

	if (r > 0) {
		r = parse_line(maps, line, len, ret_vma);
		if (!r) {
			maps->any = true;
			return 1;
		}
	}
	if (r == -EBADMSG)
		return pgs_ctx_fail(maps->ctx, r, "cannot make sense of '%s/proc/%d/maps'",
				    maps->ctx->root, (int)maps->pid);
	if (r < 0)
		return pgs_ctx_fail(maps->ctx, r, "cannot read '%s/proc/%d/maps': %s",
				    maps->ctx->root, (int)maps->pid, strerror(-r));
	return r;
}
