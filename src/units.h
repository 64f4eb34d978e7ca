/* SPDX-License-Identifier: GPL-2.0-only */
/* units: numbers as people type and read them. Whole string or error; no locale. */
#pragma once

#include <stdint.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A half-open range [start, end) of addresses, frames or slots. */
struct pgs_range {
	uint64_t start, end;
};

/* All parsers return 0, -EINVAL (not a number of that form) or -ERANGE; *ret untouched then. */

/* pgs_parse_u64 - decimal, or hex with 0x. No sign, no blanks, and no decimal with a leading zero:
 * that is octal to some, and hex in what is copied from /proc/PID/maps. */
int pgs_parse_u64(const char *s, uint64_t *ret_value) __attribute__((nonnull, warn_unused_result));

/* pgs_parse_pid - a process id as /proc has it: decimal, from 1 to INT_MAX. */
int pgs_parse_pid(const char *s, pid_t *ret_pid) __attribute__((nonnull, warn_unused_result));

/* pgs_parse_size - bytes: a u64, or a decimal (may have a fraction: 1.5G) with K M G T P E
 * (powers of 1024; "KiB" and "kB" mean the same here). Whole bytes, rounded down; hex takes no
 * unit. */
int pgs_parse_size(const char *s, uint64_t *ret_bytes) __attribute__((nonnull, warn_unused_result));

/* pgs_parse_seconds - decimal seconds with a fraction, > 0; in nanoseconds. */
int pgs_parse_seconds(const char *s, uint64_t *ret_ns) __attribute__((nonnull, warn_unused_result));

/* pgs_parse_range - START-END or START+LENGTH; each a size. END > START, else -EINVAL. Rounded
 * out to multiples of @align (a power of two; 1 for none); the last unit of the address space,
 * which has no end in 64 bits, is left out. */
int pgs_parse_range(const char *s, uint64_t align, struct pgs_range *ret_range)
	__attribute__((nonnull, warn_unused_result));

/* pgs_list_next - the next element of a list with commas, *@ret_len bytes at the pointer returned,
 * and *@rest behind it; NULL at the end. There is always one more than commas: some may be empty.
 */
const char *pgs_list_next(const char **rest, size_t *ret_len) __attribute__((nonnull));

/* pgs_has_word - whether @word is one of @list's, which any of the bytes of @separators part. */
bool pgs_has_word(const char *list, const char *word, const char *separators)
	__attribute__((nonnull));

#define PGS_SIZE_STR 16
/* pgs_format_size - "0", "4K", "1.5M": at most three digits and a unit of 1024. Returns @buf. */
char *pgs_format_size(uint64_t bytes, char buf[PGS_SIZE_STR]) __attribute__((nonnull));
