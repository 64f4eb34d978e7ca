/* SPDX-License-Identifier: GPL-2.0-only */
/* cleanup: scope-bound release, the one way in user space. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <dirent.h>

static inline void pgs_freep(void *p)
{
	free(*(void **)p);
}

static inline void pgs_closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void pgs_fclosep(FILE **f)
{
	if (*f)
		fclose(*f);
}

static inline void pgs_closedirp(DIR **d)
{
	if (*d)
		closedir(*d);
}

#define _cleanup_(fn)	   __attribute__((cleanup(fn)))
#define _cleanup_free_	   _cleanup_(pgs_freep)
#define _cleanup_close_	   _cleanup_(pgs_closep)
#define _cleanup_fclose_   _cleanup_(pgs_fclosep)
#define _cleanup_closedir_ _cleanup_(pgs_closedirp)
