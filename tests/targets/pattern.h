/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The words that mark a page of a test: its first 8 bytes are pattern_word(pid, number), its last 8
 * the complement, with the process that wrote it and the number of the virtual page it wrote it to.
 * By them a page can be told from every other wherever it lies, also in a swap slot.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The finalizer of splitmix64, a bijection: no two pages of one process have the same word. */
static inline uint64_t pattern_word(uint64_t pid, uint64_t number)
{
	uint64_t z = number + pid * 0x9e3779b97f4a7c15ull + 1;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static inline void pattern_write(unsigned char *page, size_t size, uint64_t pid, uint64_t number)
{
	uint64_t first = pattern_word(pid, number), last = ~first;

	memcpy(page, &first, sizeof(first));
	memcpy(page + size - sizeof(last), &last, sizeof(last));
}

static inline bool pattern_is(const unsigned char *page, size_t size, uint64_t pid, uint64_t number)
{
	uint64_t first, last;

	memcpy(&first, page, sizeof(first));
	memcpy(&last, page + size - sizeof(last), sizeof(last));
	return first == pattern_word(pid, number) && last == ~first;
}
