/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests of the module share. Each test is a function; the program runs the one that its
 * first argument names, and the test ends the program at the first thing that is not as it must be.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "uapi/pgscan.h"
#include "../targets/pattern.h"

#define PAGE	      4096UL

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Values are printed, because a test fails far from where somebody could look. */
#define CHECK_EQ(got, expected)                                                                    \
	do {                                                                                       \
		long long got_ = (long long)(got), expected_ = (long long)(expected);              \
		if (got_ != expected_) {                                                           \
			fprintf(stderr, "%s:%d: %s is %lld (%#llx), not %lld (%#llx); errno %s\n", \
				__FILE__, __LINE__, #got, got_, got_, expected_, expected_,        \
				strerror(errno));                                                  \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: not so: %s; errno %s\n", __FILE__, __LINE__,       \
				#condition, strerror(errno));                                      \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

/* The call fails with that errno. */
#define CHECK_ERRNO(call, code)                                                                    \
	do {                                                                                       \
		errno = 0;                                                                         \
		CHECK_EQ(call, -1);                                                                \
		CHECK_EQ(errno, code);                                                             \
	} while (0)

/* /dev/pgscan, open, and this process's pagemap. */
extern int dev_fd;
extern int self_fd;

/* The swap areas by type, as given on the command line (option -s, in the order of swapon). */
extern const char *swap_devices[8];

/* The argument of any request, and more than a request takes. */
union any {
	struct {
		uint32_t size, flags;
	};
	struct pgscan_info info;
	struct pgscan_shmem shmem;
	struct pgscan_extents extents;
	struct pgscan_objects objects;
	struct pgscan_scan scan;
	struct pgscan_reported reported;
	struct pgscan_tags tags;
	uint64_t words[64];
	char bytes[4096];
};

struct test {
	const char *name;
	void (*run)(void);
};

extern const struct test arg_tests[], shmem_tests[], slot_tests[], object_tests[], zone_tests[],
	cost_tests[], scan_tests[];

int open_pagemap(int pid);
uint64_t pagemap_word(int fd, const void *addr);

int new_memfd(size_t pages);
char *map_pages(int fd, size_t pages, int flags);

/* Memory: patterned pages at `addr`, pushed to swap; the rest is left alone. */
void write_pages(char *addr, size_t first, size_t pages, uint64_t seed);
void page_out(char *addr, size_t pages);

/* All runs of a range, in one growing array; the walk goes on until the end. */
struct runs {
	struct pgscan_run *run;
	size_t nr;
	struct pgscan_shmem total; /* the counts, summed over the calls */
	struct pgscan_extents extents_total;
};
void get_shmem(int pagemap_fd, const void *addr, size_t bytes, size_t vec_len, struct runs *runs);
/* The same of the states in `want` alone. */
void get_shmem_states(int pagemap_fd, const void *addr, size_t bytes, size_t vec_len, uint64_t want,
		      struct runs *runs);
void get_extents(int fd, const struct pgscan_key *key, size_t vec_len, struct runs *runs);
void free_runs(struct runs *runs);

/*
 * Each swapped page of the runs must lie on the swap device at its slot, with the pattern of page
 * (run.start - base) / PAGE. Returns how many were compared.
 */
size_t check_slots(const struct runs *runs, uint64_t base, uint64_t seed);

/* "Swap:" and such of the mapping that holds addr, in pages, from smaps. */
size_t smaps_pages(const void *addr, const char *field);
