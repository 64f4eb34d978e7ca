// SPDX-License-Identifier: GPL-2.0-only
#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A device or a pipe is not to be replaced by a file. */
static bool is_replaceable(const char *path)
{
	struct stat st;

	return stat(path, &st) < 0 ? errno == ENOENT : S_ISREG(st.st_mode);
}

/* mkstemp() makes files for the owner alone; this one is as any other would be. */
static void open_mode(int fd)
{
	mode_t mask = umask(0);

	umask(mask);
	(void)!fchmod(fd, 0666 & ~mask);
}

static FILE *open_temp(struct output_file *file)
{
	int fd;

	if (asprintf(&file->temp, "%s.XXXXXX", file->path) < 0)
		return NULL;
	fd = mkostemp(file->temp, O_CLOEXEC);
	if (fd < 0)
		return NULL;
	open_mode(fd);
	return fdopen(fd, "w");
}

int output_file_open(const char *path, struct output_file *ret)
{
	struct output_file file = {0};
	int err;

	/* Of a symbolic link what it points to is replaced. */
	file.path = realpath(path, NULL) ?: strdup(path);
	if (!file.path)
		return -ENOMEM;
	file.f = is_replaceable(file.path) ? open_temp(&file) : fopen(file.path, "we");
	err = errno;
	if (file.f) {
		*ret = file;
		return 0;
	}
	free(file.temp);
	free(file.path);
	return -err;
}

static void release(struct output_file *file)
{
	free(file->temp);
	free(file->path);
	*file = (struct output_file){0};
}

int output_file_commit(struct output_file *file)
{
	int r = fclose(file->f), err;

	if (!r && file->temp)
		r = rename(file->temp, file->path);
	err = errno;
	if (r && file->temp)
		unlink(file->temp);
	release(file);
	errno = err;
	return r;
}

void output_file_discard(struct output_file *file)
{
	fclose(file->f);
	if (file->temp)
		unlink(file->temp);
	release(file);
}
