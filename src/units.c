// SPDX-License-Identifier: GPL-2.0-only
#include "units.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* No isdigit() and kin: they depend on the locale and take no plain char. */
static int digit_value(char c, unsigned int base)
{
	int v = -1;

	if (c >= '0' && c <= '9')
		v = c - '0';
	else if (c >= 'a' && c <= 'f')
		v = c - 'a' + 10;
	else if (c >= 'A' && c <= 'F')
		v = c - 'A' + 10;
	return v < (int)base ? v : -1;
}

/* The digits at @s; -EINVAL if there is none. *@ret_end is the first byte that is not a digit. */
static int parse_digits(const char *s, unsigned int base, uint64_t *ret_value, const char **ret_end)
{
	const char *p = s;
	uint64_t value = 0;
	int d;

	for (; (d = digit_value(*p, base)) >= 0; p++)
		if (__builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, (unsigned int)d, &value))
			return -ERANGE;
	if (p == s)
		return -EINVAL;
	*ret_value = value;
	*ret_end = p;
	return 0;
}

static bool is_hex(const char *s)
{
	return s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
}

/* "010" is 8 to C, 10 to a person, and an address copied from /proc/PID/maps is "00400000", in hex
 * without saying so: refused, rather than read as one of the three. */
static bool is_ambiguous(const char *s)
{
	return s[0] == '0' && digit_value(s[1], 10) >= 0;
}

int pgs_parse_u64(const char *s, uint64_t *ret_value)
{
	const char *end;
	uint64_t value;
	int r;

	if (is_ambiguous(s))
		return -EINVAL;
	r = is_hex(s) ? parse_digits(s + 2, 16, &value, &end) : parse_digits(s, 10, &value, &end);
	if (r < 0)
		return r;
	if (*end)
		return -EINVAL;
	*ret_value = value;
	return 0;
}

int pgs_parse_pid(const char *s, pid_t *ret_pid)
{
	uint64_t value;
	int r = is_hex(s) ? -EINVAL : pgs_parse_u64(s, &value);

	if (r < 0)
		return r;
	if (!value || value > INT_MAX)
		return -ERANGE;
	*ret_pid = (pid_t)value;
	return 0;
}

/* A decimal number with an optional fraction: value = @whole + @num / @den. */
struct decimal {
	uint64_t whole, num, den;
};

/* Digits past these change less than a byte of an exbibyte, or nothing of a nanosecond. */
#define FRACTION_DIGITS 15

static int parse_decimal(const char *s, struct decimal *ret, const char **ret_end)
{
	struct decimal dec = {.den = 1};
	const char *p = s;
	int r, d;

	if (is_ambiguous(s))
		return -EINVAL;
	if (*p != '.') {
		r = parse_digits(p, 10, &dec.whole, &p);
		if (r < 0)
			return r;
	}
	if (*p == '.') {
		if (digit_value(*++p, 10) < 0)
			return -EINVAL;
		for (int n = 0; (d = digit_value(*p, 10)) >= 0; p++, n++) {
			if (n >= FRACTION_DIGITS)
				continue;
			dec.num = dec.num * 10 + (unsigned int)d;
			dec.den *= 10;
		}
	}
	*ret = dec;
	*ret_end = p;
	return 0;
}

/* Multiply by 1024 without losing what the fraction carries over. */
static int decimal_mul1024(struct decimal *dec)
{
	if (dec->whole > UINT64_MAX >> 10)
		return -ERANGE;
	dec->num <<= 10; /* < 1024 * 10^FRACTION_DIGITS: fits */
	dec->whole = (dec->whole << 10) + dec->num / dec->den;
	dec->num %= dec->den;
	return 0;
}

/* The power of 1024 that "K", "KB" or "KiB" stands for, in any case; 0 for ""; -EINVAL. */
static int unit_power(const char *s)
{
	static const char units[] = "KMGTPE";
	const char *unit;

	if (!*s)
		return 0;
	unit = strchr(units, *s & ~0x20);
	if (!unit || !*unit)
		return -EINVAL;
	s++;
	if (*s == 'i' && (s[1] == 'B' || s[1] == 'b'))
		s++;
	if (*s == 'B' || *s == 'b')
		s++;
	return *s ? -EINVAL : (int)(unit - units) + 1;
}

int pgs_parse_size(const char *s, uint64_t *ret_bytes)
{
	struct decimal dec;
	const char *unit;
	int r, power;

	if (is_hex(s)) /* without a unit: E and B are digits there */
		return pgs_parse_u64(s, ret_bytes);

	r = parse_decimal(s, &dec, &unit);
	if (r < 0)
		return r;
	power = unit_power(unit);
	if (power < 0)
		return power;
	if (!power && dec.den > 1) /* a fraction of a byte */
		return -EINVAL;
	while (power-- > 0) {
		r = decimal_mul1024(&dec);
		if (r < 0)
			return r;
	}
	*ret_bytes = dec.whole;
	return 0;
}

int pgs_parse_seconds(const char *s, uint64_t *ret_ns)
{
	const uint64_t ns_per_s = 1000000000;
	struct decimal dec;
	const char *end;
	uint64_t ns;
	int r;

	r = parse_decimal(s, &dec, &end);
	if (r < 0)
		return r;
	if (*end)
		return -EINVAL;
	/* The fraction in nanoseconds, with no product over 64 bits: den is a power of ten. */
	ns = dec.den > ns_per_s ? dec.num / (dec.den / ns_per_s) : dec.num * (ns_per_s / dec.den);
	if (__builtin_mul_overflow(dec.whole, ns_per_s, &dec.whole) ||
	    __builtin_add_overflow(ns, dec.whole, &ns) || !ns)
		return -ERANGE;
	*ret_ns = ns;
	return 0;
}

/* Out to multiples of @align. The last unit of the address space has no end in 64 bits; nothing is
 * ever mapped there (it holds the kernel's ERR_PTR values), so "to the end" stops before it. */
static struct pgs_range round_out(struct pgs_range range, uint64_t align)
{
	const uint64_t mask = align - 1;

	range.start &= ~mask;
	range.end = range.end > UINT64_MAX - mask ? ~mask : (range.end + mask) & ~mask;
	return range;
}

int pgs_parse_range(const char *s, uint64_t align, struct pgs_range *ret_range)
{
	const char *sep = strpbrk(s, "-+");
	struct pgs_range range;
	char start[64];
	uint64_t value;
	int r;

	if (!sep || (size_t)(sep - s) >= sizeof(start))
		return -EINVAL;
	memcpy(start, s, (size_t)(sep - s));
	start[sep - s] = '\0';

	r = pgs_parse_size(start, &range.start);
	if (r < 0)
		return r;
	r = pgs_parse_size(sep + 1, &value);
	if (r < 0)
		return r;
	if (*sep == '-')
		range.end = value;
	else if (__builtin_add_overflow(range.start, value, &range.end))
		return -ERANGE;
	if (range.end <= range.start)
		return -EINVAL;
	range = round_out(range, align);
	if (range.end <= range.start)
		return -ERANGE;
	*ret_range = range;
	return 0;
}

const char *pgs_list_next(const char **rest, size_t *ret_len)
{
	const char *word = *rest;

	if (!word)
		return NULL;
	*ret_len = strcspn(word, ",");
	*rest = word[*ret_len] ? word + *ret_len + 1 : NULL;
	return word;
}

bool pgs_has_word(const char *list, const char *word, const char *separators)
{
	size_t len = strlen(word);

	for (list += strspn(list, separators); *list; list += strspn(list, separators)) {
		size_t n = strcspn(list, separators);

		if (n == len && !memcmp(list, word, len))
			return true;
		list += n;
	}
	return false;
}

char *pgs_format_size(uint64_t bytes, char buf[PGS_SIZE_STR])
{
	static const char units[][2] = {"", "K", "M", "G", "T", "P", "E"};
	unsigned int unit = 0, frac = 0; /* 1024ths of the unit */
	unsigned int decimals, scale, value;
	int n;

	/* Up to the unit in which the value, once rounded, has at most three digits. */
	while (bytes + (frac >= 512) >= 1000) {
		frac = bytes & 1023;
		bytes >>= 10;
		unit++;
	}
	decimals = bytes >= 100 ? 0 : bytes >= 10 ? 1 : 2;
	scale = decimals == 0 ? 1 : decimals == 1 ? 10 : 100;
	value = (unsigned int)bytes * scale + (frac * scale + 512) / 1024;
	while (decimals && value % 10 == 0) {
		value /= 10;
		scale /= 10;
		decimals--;
	}
	n = snprintf(buf, PGS_SIZE_STR, "%u", value / scale);
	if (decimals)
		n += snprintf(buf + n, PGS_SIZE_STR - (size_t)n, ".%0*u", (int)decimals,
			      value % scale);
	snprintf(buf + n, PGS_SIZE_STR - (size_t)n, "%s", units[unit]);
	return buf;
}
