// SPDX-License-Identifier: GPL-2.0-only
#include "slots.h"

#include <errno.h>
#include <stdlib.h>

#define CHUNK_SLOTS 512u
#define SECOND	    PGS_SLOT_OWNERS /* in `owner`: counted by pgs_slots_share() */

struct slot {
	uint32_t owner;
	uint32_t holders : 24; /* there are at most 2^22 processes (PID_MAX_LIMIT) */
	uint32_t flags : 8;
};

struct chunk {
	uint64_t number; /* of its first slot, divided by CHUNK_SLOTS */
	uint32_t space;
	struct slot slots[CHUNK_SLOTS];
};

/* Chunks by space and number: open addressing, @room is a power of two. */
struct pgs_slots {
	struct chunk **table;
	size_t room, nr;
	struct chunk *last; /* runs stay in one chunk for a while */
};

int pgs_slots_new(struct pgs_slots **ret_slots)
{
	struct pgs_slots *slots = calloc(1, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	*ret_slots = slots;
	return 0;
}

void pgs_slots_free(struct pgs_slots *slots)
{
	if (!slots)
		return;
	for (size_t i = 0; i < slots->room; i++)
		free(slots->table[i]);
	free(slots->table);
	free(slots);
}

/* ---- chunks --------------------------------------------------------------------------------- */

/* Where the chunk is or would be. */
static struct chunk **find_place(struct chunk **table, size_t room, uint32_t space, uint64_t number)
{
	size_t i = (size_t)((number ^ (uint64_t)space << 40) * UINT64_C(0x9e3779b97f4a7c15) >> 20);

	for (i &= room - 1; table[i]; i = (i + 1) & (room - 1))
		if (table[i]->number == number && table[i]->space == space)
			break;
	return &table[i];
}

static int grow(struct pgs_slots *slots)
{
	size_t room = slots->room ? slots->room * 2 : 64;
	struct chunk **table = calloc(room, sizeof(struct chunk *));

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < slots->room; i++) {
		struct chunk *chunk = slots->table[i];

		if (chunk)
			*find_place(table, room, chunk->space, chunk->number) = chunk;
	}
	free(slots->table);
	slots->table = table;
	slots->room = room;
	return 0;
}

static struct chunk *find_chunk(const struct pgs_slots *slots, uint32_t space, uint64_t number)
{
	if (slots->last && slots->last->number == number && slots->last->space == space)
		return slots->last;
	return slots->room ? *find_place(slots->table, slots->room, space, number) : NULL;
}

static struct chunk *get_chunk(struct pgs_slots *slots, uint32_t space, uint64_t number)
{
	struct chunk *chunk = find_chunk(slots, space, number);

	if (!chunk) {
		if (slots->nr * 2 >= slots->room && grow(slots))
			return NULL;
		chunk = calloc(1, sizeof(*chunk));
		if (!chunk)
			return NULL;
		chunk->space = space;
		chunk->number = number;
		for (size_t i = 0; i < CHUNK_SLOTS; i++)
			chunk->slots[i].owner = PGS_SLOT_NOBODY;
		*find_place(slots->table, slots->room, space, number) = chunk;
		slots->nr++;
	}
	slots->last = chunk;
	return chunk;
}

/* The slots from @first on that lie in one chunk: at most *@count, which becomes their number. */
static struct slot *get_slots(struct pgs_slots *slots, uint32_t space, uint64_t first,
			      uint64_t *count)
{
	struct chunk *chunk = get_chunk(slots, space, first / CHUNK_SLOTS);
	uint64_t room = CHUNK_SLOTS - first % CHUNK_SLOTS;

	if (*count > room)
		*count = room;
	return chunk ? &chunk->slots[first % CHUNK_SLOTS] : NULL;
}

/* ---- owners --------------------------------------------------------------------------------- */

int pgs_slots_hold(struct pgs_slots *slots, uint32_t space, uint64_t first, uint64_t count,
		   uint32_t owner, unsigned int flags)
{
	for (uint64_t n; count; first += n, count -= n) {
		struct slot *s;

		n = count;
		s = get_slots(slots, space, first, &n);
		if (!s)
			return -ENOMEM;
		for (uint64_t i = 0; i < n; i++) {
			s[i].flags |= flags & 0xff;
			if (owner == PGS_SLOT_NOBODY || s[i].owner == owner)
				continue;
			s[i].owner = owner;
			s[i].holders++;
		}
	}
	return 0;
}

int pgs_slots_name(struct pgs_slots *slots, uint32_t space, uint64_t first, uint64_t count,
		   uint32_t owner)
{
	for (uint64_t n; count; first += n, count -= n) {
		struct slot *s;

		n = count;
		s = get_slots(slots, space, first, &n);
		if (!s)
			return -ENOMEM;
		for (uint64_t i = 0; i < n; i++)
			s[i].owner = owner;
	}
	return 0;
}

static const struct slot *peek(const struct pgs_slots *slots, uint32_t space, uint64_t slot)
{
	static const struct slot empty = {.owner = PGS_SLOT_NOBODY};
	const struct chunk *chunk = find_chunk(slots, space, slot / CHUNK_SLOTS);

	return chunk ? &chunk->slots[slot % CHUNK_SLOTS] : &empty;
}

struct pgs_slot pgs_slots_get(const struct pgs_slots *slots, uint32_t space, uint64_t slot)
{
	const struct slot *s = peek(slots, space, slot);

	return (struct pgs_slot){s->owner, s->holders, s->flags};
}

uint64_t pgs_slots_run(const struct pgs_slots *slots, uint32_t space, uint64_t first,
		       uint64_t count, uint32_t *ret_holders)
{
	uint32_t holders = peek(slots, space, first)->holders;
	uint64_t n = 1;

	while (n < count && peek(slots, space, first + n)->holders == holders)
		n++;
	*ret_holders = holders;
	return n;
}

/* ---- shares --------------------------------------------------------------------------------- */

static void share_slot(struct slot *slot, uint32_t owner, unsigned int flags,
		       struct pgs_share *share)
{
	uint32_t holders = slot->holders ?: 1;

	if (slot->owner == (owner | SECOND))
		return;
	slot->owner = owner | SECOND;
	slot->flags |= (flags | PGS_SLOT_SHOWN) & 0xff;
	if (slot->flags & PGS_SLOT_ANON)
		share->anon++;
	else
		share->shmem++;
	share->unique += holders == 1;
	share->share += 1.0 / holders;
}

int pgs_slots_share(struct pgs_slots *slots, uint32_t space, uint64_t first, uint64_t count,
		    uint32_t owner, unsigned int flags, struct pgs_share *share)
{
	for (uint64_t n; count; first += n, count -= n) {
		struct slot *s;

		n = count;
		s = get_slots(slots, space, first, &n);
		if (!s)
			return -ENOMEM;
		for (uint64_t i = 0; i < n; i++)
			share_slot(&s[i], owner, flags, share);
	}
	return 0;
}

void pgs_slots_count(const struct pgs_slots *slots, uint32_t from, uint32_t to,
		     struct pgs_slot_counts *counts)
{
	for (size_t i = 0; i < slots->room; i++) {
		const struct chunk *chunk = slots->table[i];

		if (!chunk || chunk->space < from || chunk->space >= to)
			continue;
		for (size_t k = 0; k < CHUNK_SLOTS; k++) {
			unsigned int flags = chunk->slots[k].flags;
			bool anon = flags & PGS_SLOT_ANON;
			bool shmem = flags & PGS_SLOT_SHMEM && !anon;
			bool shown = flags & PGS_SLOT_SHOWN;

			counts->anon += anon;
			counts->shmem += shmem;
			counts->shown_anon += anon && shown;
			counts->shown_shmem += shmem && shown;
		}
	}
}
