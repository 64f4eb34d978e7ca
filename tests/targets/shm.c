// SPDX-License-Identifier: GPL-2.0-only
/*
 * shm - shared memory of every make.
 *   kind=memfd|anon|sysv|tmpfs   what the object is; dir=DIR: where the tmpfs file lies
 *   pages=N write=LIST           region "shm"
 *   second=1                     region "second": another mapping of it, one page further on,
 *                                nothing of it touched
 *   private=LIST                 region "private": a private mapping, these pages copied on write
 *   children=N                   N forked children that keep the mapping
 *   keep=1                       a SysV segment that stays when nobody has it attached
 * Command "unmap shm" leaves the object alive without a mapping (a descriptor, a SysV id, a name).
 */
#include "target.h"

#include <sys/ipc.h>
#include <sys/shm.h>

struct object {
	const char *kind;
	int fd;	   /* memfd, tmpfs */
	int shmid; /* sysv */
	bool keep;
	size_t size;
};

static void object_make(struct object *o, const char *dir)
{
	if (!strcmp(o->kind, "memfd")) {
		o->fd = memfd_create("pgscan-test", MFD_CLOEXEC);
	} else if (!strcmp(o->kind, "tmpfs")) {
		char path[4096];

		snprintf(path, sizeof(path), "%s/pgscan-test-%d", dir, getpid());
		o->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (o->fd >= 0 && unlink(path))
			target_die("unlink %s", path);
	} else if (!strcmp(o->kind, "sysv")) {
		o->shmid = shmget(IPC_PRIVATE, o->size, IPC_CREAT | 0600);
		if (o->shmid < 0)
			target_die("shmget");
		return;
	} else if (!strcmp(o->kind, "anon")) {
		return;
	} else {
		target_usage(o->kind);
	}
	if (o->fd < 0 || ftruncate(o->fd, (off_t)o->size))
		target_die("%s", o->kind);
}

static char *object_map(struct target *t, struct object *o)
{
	char *p;

	if (!strcmp(o->kind, "sysv")) {
		p = shmat(o->shmid, target_hole(o->size, t->page_size), SHM_REMAP);
		/* Marked for removal at once, it goes with its last mapping, whatever happens. */
		if (p == (void *)-1 || (!o->keep && shmctl(o->shmid, IPC_RMID, NULL)))
			target_die("shmat");
		return p;
	}
	return target_map(t, o->size / t->page_size, PROT_READ | PROT_WRITE,
			  o->fd < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED, o->fd, 0);
}

/* A private mapping of shared memory: its written pages are anonymous, the others the object's. */
static void add_private(struct target *t, const struct object *o, const char *list)
{
	size_t pages = o->size / t->page_size;
	const struct target_region *r;

	if (o->fd < 0)
		target_usage("private");
	r = target_region_add(t, "private",
			      target_map(t, pages, PROT_READ | PROT_WRITE, MAP_PRIVATE, o->fd, 0),
			      pages);
	target_write(t, r, list);
}

static void add_second(struct target *t, const struct object *o)
{
	size_t pages = o->size / t->page_size - 1;

	if (o->fd < 0 || !pages)
		target_usage("second");
	target_region_add(t, "second",
			  target_map(t, pages, PROT_READ | PROT_WRITE, MAP_SHARED, o->fd,
				     (off_t)t->page_size),
			  pages);
}

int main(int argc, char **argv)
{
	static const char *const keys[] = {"kind",    "dir",	  "pages", "write", "second",
					   "private", "children", "keep",  NULL};
	struct object o = {.fd = -1};
	const struct target_region *r;
	const char *private;
	struct target t;

	(void)argc;
	target_init(&t, argv, keys);
	o.kind = target_word(argv, "kind", "memfd");
	o.keep = target_number(target_word(argv, "keep", "0"));
	o.size = target_number(target_word(argv, "pages", "64")) * t.page_size;
	object_make(&o, target_word(argv, "dir", "/dev/shm"));
	r = target_region_add(&t, "shm", object_map(&t, &o), o.size / t.page_size);
	target_write(&t, r, target_word(argv, "write", "none"));
	if (target_number(target_word(argv, "second", "0")))
		add_second(&t, &o);
	private = target_word(argv, "private", NULL);
	if (private)
		add_private(&t, &o, private);
	fflush(stdout);
	target_children(target_number(target_word(argv, "children", "0")));
	return target_serve(&t, NULL);
}
