// SPDX-License-Identifier: GPL-2.0-only
#include "out_escape.h"

#include <stdint.h>
#include <string.h>

/* Bit 7 of each byte of the result is set where the byte of @word is less than @n (n <= 128) and
 * below 128 itself; exact for all bytes up to and including the lowest one that is set, which is
 * enough to say whether there is one. */
static uint64_t bytes_below(uint64_t word, uint8_t n)
{
	return (word - 0x0101010101010101u * n) & ~word & 0x8080808080808080u;
}

static uint64_t bytes_equal(uint64_t word, uint8_t c)
{
	return bytes_below(word ^ (0x0101010101010101u * c), 1);
}

static bool word_is_plain(uint64_t word)
{
	uint64_t high = word & 0x8080808080808080u;

	return !(high | bytes_below(word, 0x20) | bytes_equal(word, 0x7f) |
		 bytes_equal(word, '\\') | bytes_equal(word, '"'));
}

bool out_is_plain(const char *src, size_t len)
{
	uint64_t word;

	for (; len >= sizeof(word); src += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, src, sizeof(word));
		if (!word_is_plain(word))
			return false;
	}
	memset(&word, ' ', sizeof(word));
	memcpy(&word, src, len);
	return word_is_plain(word);
}

/* The length of the UTF-8 sequence that @c starts and the bits of the character it holds; 0 where
 * no sequence starts so. */
static size_t lead_byte(unsigned char c, uint32_t *ret_bits)
{
	if (c < 0x80) {
		*ret_bits = c;
		return 1;
	}
	if (c >= 0xc2 && c <= 0xdf) {
		*ret_bits = c & 0x1f;
		return 2;
	}
	if (c >= 0xe0 && c <= 0xef) {
		*ret_bits = c & 0x0f;
		return 3;
	}
	if (c >= 0xf0 && c <= 0xf4) {
		*ret_bits = c & 0x07;
		return 4;
	}
	return 0;
}

/* The length of the valid UTF-8 sequence at @s (RFC 3629: shortest form, no surrogates, at most
 * U+10FFFF), 0 when there is none. */
static size_t decode(const unsigned char *s, size_t len, uint32_t *ret_char)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	uint32_t ch = 0;
	size_t n = lead_byte(s[0], &ch);

	if (!n || n > len)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		ch = ch << 6 | (s[i] & 0x3f);
	}
	if (ch < least[n] || ch > 0x10ffff || (ch >= 0xd800 && ch <= 0xdfff))
		return 0;
	*ret_char = ch;
	return n;
}

static bool char_is_unsafe(uint32_t ch)
{
	return ch < 0x20 || (ch >= 0x7f && ch <= 0x9f) || ch == 0x061c || ch == 0x200e ||
	       ch == 0x200f || (ch >= 0x2028 && ch <= 0x202e) || (ch >= 0x2066 && ch <= 0x2069);
}

static char *put_hex_byte(char *dst, unsigned char c)
{
	static const char digits[16] = "0123456789abcdef";

	*dst++ = '\\';
	*dst++ = 'x';
	*dst++ = digits[c >> 4];
	*dst++ = digits[c & 15];
	return dst;
}

static size_t escape(char *dst, const char *src, size_t len, bool backslash)
{
	const unsigned char *s = (const unsigned char *)src;
	const unsigned char *end = s + len;
	char *d = dst;

	while (s < end) {
		uint32_t ch = 0;
		size_t n = decode(s, (size_t)(end - s), &ch);

		if (!n || char_is_unsafe(ch)) {
			for (n = n ?: 1; n; n--)
				d = put_hex_byte(d, *s++);
			continue;
		}
		if (ch == '\\' && backslash)
			*d++ = '\\';
		d = mempcpy(d, s, n);
		s += n;
	}
	return (size_t)(d - dst);
}

size_t out_escape(char *dst, const char *src, size_t len)
{
	return escape(dst, src, len, true);
}

size_t out_escape_message(char *dst, const char *src, size_t len)
{
	return escape(dst, src, len, false);
}
