// SPDX-License-Identifier: GPL-2.0-only
/*
 * out_hex: 64-bit words as they lie in memory; raw, or byte for byte what hexdump -C prints of
 * them: a block of 16 bytes a line, "*" for blocks equal to the one before, the length at the end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "out_priv.h"

#define BLOCK	 16 /* bytes a line */
#define LINE_MAX 96 /* bytes: 16 digits of offset and 70 more */

struct hex {
	uint64_t offset; /* bytes before @block */
	size_t filled;	 /* bytes in @block: 0 or 8 */
	bool printed;	 /* there is a block in @last */
	bool starred;
	unsigned char block[BLOCK], last[BLOCK];
	char digits[256][4]; /* "7f " */
	char glyphs[256];    /* the byte itself, or "." where it is not printable ASCII */
};

static void init_tables(struct hex *h)
{
	static const char hex[16] = "0123456789abcdef";

	for (int c = 0; c < 256; c++) {
		memcpy(h->digits[c], (char[]){hex[c >> 4], hex[c & 15], ' ', ' '}, 4);
		h->glyphs[c] = (char)(c >= 0x20 && c < 0x7f ? c : '.');
	}
}

/* As %08x, for any 64-bit offset: hexdump takes more digits from 4 GiB on. */
static char *put_offset(char *p, uint64_t offset)
{
	return out_put_hex(p, offset, offset >> 32 ? (67 - __builtin_clzll(offset)) / 4 : 8);
}

/* Eight bytes in hexadecimal; four are stored where three count, the next overwrites the fourth. */
static inline char *put_half(const struct hex *h, char *p, const unsigned char *bytes)
{
	for (size_t i = 0; i < BLOCK / 2; i++, p += 3)
		memcpy(p, h->digits[bytes[i]], 4);
	*p++ = ' ';
	return p;
}

static char *put_line(const struct hex *h, char *p)
{
	p = put_offset(p, h->offset);
	*p++ = ' ';
	*p++ = ' ';
	p = put_half(h, p, h->block);
	if (h->filled == BLOCK) {
		p = put_half(h, p, h->block + BLOCK / 2);
	} else {
		memset(p, ' ', 25);
		p += 25;
	}
	*p++ = '|';
	for (size_t i = 0; i < h->filled; i++)
		*p++ = h->glyphs[h->block[i]];
	*p++ = '|';
	*p++ = '\n';
	return p;
}

/* @block is full or the last of all, which hexdump prints even where it would squeeze. */
static int put_block(struct out *o, struct hex *h)
{
	char *p = out_reserve(o, LINE_MAX);

	if (!p)
		return -ENOMEM;
	if (h->printed && h->filled == BLOCK && !memcmp(h->block, h->last, BLOCK)) {
		if (!h->starred)
			p = mempcpy(p, "*\n", 2);
		h->starred = true;
	} else {
		p = put_line(h, p);
		h->starred = false;
	}
	h->printed = true;
	memcpy(h->last, h->block, BLOCK);
	h->offset += h->filled;
	h->filled = 0;
	out_commit(o, p);
	return o->len >= OUT_FLUSH_AT ? out_write(o) : 0;
}

static int put_word(struct out *o, struct hex *h, uint64_t word)
{
	memcpy(h->block + h->filled, &word, sizeof(word));
	h->filled += sizeof(word);
	return h->filled == BLOCK ? put_block(o, h) : 0;
}

static int hex_begin(struct out *o)
{
	struct hex *h = calloc(1, sizeof(*h));

	if (!h)
		return -ENOMEM;
	init_tables(h);
	o->priv = h;
	return 0;
}

static int hex_words(struct out *o, const uint64_t *words, size_t count)
{
	int err = 0;

	for (size_t i = 0; !err && i < count; i++)
		err = put_word(o, o->priv, words[i]);
	return err;
}

/* A line of @word stands by the third word, its "*" by the fifth. Those skipped in between would
 * print nothing and move the offset on: any count costs the same. */
static int hex_fill(struct out *o, uint64_t word, uint64_t count)
{
	struct hex *h = o->priv;
	uint64_t skip_blocks = count > 5 ? (count - 5) / 2 : 0;
	int err = 0;

	for (uint64_t i = 0; !err && i < count - 2 * skip_blocks; i++) {
		if (i == 3)
			h->offset += BLOCK * skip_blocks;
		err = put_word(o, h, word);
	}
	return err;
}

static int hex_end(struct out *o, bool complete)
{
	struct hex *h = o->priv;
	int err = h->filled ? put_block(o, h) : 0;
	char *p = out_reserve(o, LINE_MAX);

	(void)complete;
	if (err || !p)
		return err ?: -ENOMEM;
	if (h->offset) {
		p = put_offset(p, h->offset);
		*p++ = '\n';
		out_commit(o, p);
	}
	return 0;
}

static void hex_free(struct out *o)
{
	free(o->priv);
}

const struct out_ops out_hex_ops = {
	.begin = hex_begin,
	.words = hex_words,
	.fill = hex_fill,
	.end = hex_end,
	.free = hex_free,
};

/* ---- raw ------------------------------------------------------------------------------------- */

static int raw_words(struct out *o, const uint64_t *words, size_t count)
{
	return out_put(o, (const char *)words, count * sizeof(*words));
}

static int raw_fill(struct out *o, uint64_t word, uint64_t count)
{
	uint64_t block[512];
	int err = 0;

	for (size_t i = 0; i < 512; i++)
		block[i] = word;
	while (!err && count) {
		size_t n = count < 512 ? (size_t)count : 512;

		err = raw_words(o, block, n);
		if (!err && o->len >= OUT_FLUSH_AT)
			err = out_write(o);
		count -= n;
	}
	return err;
}

const struct out_ops out_raw_ops = {
	.words = raw_words,
	.fill = raw_fill,
};
