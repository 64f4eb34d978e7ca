// SPDX-License-Identifier: GPL-2.0-only
#include "caps.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/capability.h>
#include <unistd.h>

#include "cleanup.h"

static void cap_freep(cap_t *caps)
{
	if (*caps)
		cap_free(*caps);
}

static void cap_name_freep(char **name)
{
	if (*name)
		cap_free(*name);
}

/* Those of @mask that are in the permitted set of @caps. */
static uint64_t permitted_of(cap_t caps, uint64_t mask)
{
	uint64_t have = 0;

	for (cap_value_t cap = 0; cap < cap_max_bits() && cap < 64; cap++) {
		cap_flag_value_t v;

		if ((mask & PGS_CAP(cap)) && !cap_get_flag(caps, cap, CAP_PERMITTED, &v) &&
		    v == CAP_SET)
			have |= PGS_CAP(cap);
	}
	return have;
}

/* Make the effective set the permitted ones of @mask; nothing else changes. */
static int set_effective(uint64_t mask, uint64_t *ret_set)
{
	_cleanup_(cap_freep) cap_t caps = cap_get_proc();
	cap_value_t list[64];
	int n = 0;

	if (!caps || cap_clear_flag(caps, CAP_EFFECTIVE) < 0)
		return -errno;
	mask = permitted_of(caps, mask);
	for (cap_value_t cap = 0; cap < 64; cap++)
		if (mask & PGS_CAP(cap))
			list[n++] = cap;
	if (n && cap_set_flag(caps, CAP_EFFECTIVE, n, list, CAP_SET) < 0)
		return -errno;
	if (cap_set_proc(caps) < 0)
		return -errno;
	if (ret_set)
		*ret_set = mask;
	return 0;
}

int pgs_caps_init(void)
{
	return set_effective(0, NULL);
}

bool pgs_caps_are_callers(void)
{
	return !getauxval(AT_SECURE);
}

/* The inheritable set is the caller's, and stays. */
static int give_up_all(void)
{
	_cleanup_(cap_freep) cap_t caps = cap_get_proc();

	if (!caps || cap_clear_flag(caps, CAP_EFFECTIVE) < 0 ||
	    cap_clear_flag(caps, CAP_PERMITTED) < 0 || cap_set_proc(caps) < 0)
		return -errno;
	if (setresgid(getgid(), getgid(), getgid()) < 0 ||
	    setresuid(getuid(), getuid(), getuid()) < 0)
		return -errno;
	return 0;
}

int pgs_caps_restore(void)
{
	return pgs_caps_are_callers() ? set_effective(UINT64_MAX, NULL) : give_up_all();
}

uint64_t pgs_caps_permitted(void)
{
	_cleanup_(cap_freep) cap_t caps = cap_get_proc();

	return caps ? permitted_of(caps, UINT64_MAX) : 0;
}

uint64_t pgs_caps_raise(uint64_t mask)
{
	uint64_t raised = 0;
	int r;

	if (!mask)
		return 0;
	r = set_effective(mask, &raised);
	return r < 0 ? 0 : raised;
}

void pgs_caps_lower(void)
{
	int saved = errno;

	/* Giving up effective capabilities needs none and cannot be refused. */
	(void)set_effective(0, NULL);
	errno = saved;
}

#define EITHER (PGS_CAP(CAP_CHECKPOINT_RESTORE) | PGS_CAP(CAP_SYS_ADMIN))

uint64_t pgs_caps_lacking(uint64_t mask)
{
	uint64_t have = pgs_caps_permitted();

	if ((mask & EITHER) == EITHER)
		mask &= have & EITHER ? ~EITHER
			: pgs_cap_last() >= CAP_CHECKPOINT_RESTORE
				? ~PGS_CAP(CAP_SYS_ADMIN)
				: ~PGS_CAP(CAP_CHECKPOINT_RESTORE);
	return mask & ~have;
}

int pgs_caps_missing(uint64_t mask)
{
	uint64_t missing = pgs_caps_lacking(mask);

	return missing ? __builtin_ctzll(missing) : -1;
}

const char *pgs_cap_name(int cap, char buf[PGS_CAP_STR])
{
	_cleanup_(cap_name_freep) char *name = cap_to_name(cap);
	size_t n = 0;

	/* libcap's own word for a number it does not know is that number. */
	if (!name || strncmp(name, "cap_", 4) || strlen(name) >= PGS_CAP_STR) {
		snprintf(buf, PGS_CAP_STR, "CAP_%d", cap);
		return buf;
	}
	for (; name[n]; n++)
		buf[n] = (char)toupper((unsigned char)name[n]);
	buf[n] = '\0';
	return buf;
}

const char *pgs_caps_names(uint64_t mask, char buf[PGS_CAPS_STR])
{
	char name[PGS_CAP_STR];
	size_t len = 0;

	buf[0] = '\0';
	for (; mask && len < PGS_CAPS_STR; mask &= mask - 1)
		len += (size_t)snprintf(buf + len, PGS_CAPS_STR - len, "%s%s",
					!len		    ? ""
					: mask & (mask - 1) ? ", "
							    : " and ",
					pgs_cap_name(__builtin_ctzll(mask), name));
	return buf;
}

int pgs_cap_last(void)
{
	return cap_max_bits() - 1;
}
