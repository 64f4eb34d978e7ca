// SPDX-License-Identifier: GPL-2.0-only
#include "pageset.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#define CHUNK_PAGES 512u
#define WORD_BITS   64u

struct chunk {
	uint64_t key; /* number of the chunk, plus one; 0: free */
	uint64_t bits[CHUNK_PAGES / WORD_BITS];
};

/* Open addressing with linear probing; @room is a power of two, at most half of it is used. */
struct pgs_pageset {
	struct chunk *chunks;
	uint64_t nr, room, count;
};

struct pgs_pageset *pgs_pageset_new(void)
{
	return calloc(1, sizeof(struct pgs_pageset));
}

void pgs_pageset_free(struct pgs_pageset *set)
{
	if (!set)
		return;
	free(set->chunks);
	free(set);
}

static struct chunk *slot_of(struct chunk *chunks, uint64_t room, uint64_t key)
{
	uint64_t i = (key * UINT64_C(0x9e3779b97f4a7c15)) >> 20;

	while (chunks[i & (room - 1)].key && chunks[i & (room - 1)].key != key)
		i++;
	return &chunks[i & (room - 1)];
}

static int grow(struct pgs_pageset *set)
{
	uint64_t room = set->room ? 2 * set->room : 64;
	struct chunk *chunks = calloc(room, sizeof(*chunks));

	if (!chunks)
		return -ENOMEM;
	for (uint64_t i = 0; i < set->room; i++)
		if (set->chunks[i].key)
			*slot_of(chunks, room, set->chunks[i].key) = set->chunks[i];
	free(set->chunks);
	set->chunks = chunks;
	set->room = room;
	return 0;
}

static void set_bits(struct pgs_pageset *set, struct chunk *chunk, unsigned int first,
		     unsigned int count)
{
	for (unsigned int n; count; first += n, count -= n) {
		unsigned int bit = first % WORD_BITS;
		uint64_t mask, *word = &chunk->bits[first / WORD_BITS];

		n = WORD_BITS - bit < count ? WORD_BITS - bit : count;
		mask = (n == WORD_BITS ? UINT64_MAX : (UINT64_C(1) << n) - 1) << bit;
		set->count += (uint64_t)__builtin_popcountll(mask & ~*word);
		*word |= mask;
	}
}

int pgs_pageset_add(struct pgs_pageset *set, uint64_t first, uint64_t count)
{
	for (uint64_t n; count; first += n, count -= n) {
		unsigned int at = first % CHUNK_PAGES;
		uint64_t key = first / CHUNK_PAGES + 1;
		struct chunk *chunk;

		if (2 * set->nr >= set->room && grow(set))
			return -ENOMEM;
		chunk = slot_of(set->chunks, set->room, key);
		set->nr += !chunk->key;
		chunk->key = key;
		n = CHUNK_PAGES - at < count ? CHUNK_PAGES - at : count;
		set_bits(set, chunk, at, (unsigned int)n);
	}
	return 0;
}

uint64_t pgs_pageset_count(const struct pgs_pageset *set)
{
	return set->count;
}
