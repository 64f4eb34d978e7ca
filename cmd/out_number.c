// SPDX-License-Identifier: GPL-2.0-only
/* Numbers as text, for the back ends that write their rows themselves: a call of snprintf() costs
 * more than all else in a row. */
#include "out_priv.h"

#include <stdlib.h>
#include <string.h>

static const char pairs[] = "0001020304050607080910111213141516171819"
			    "2021222324252627282930313233343536373839"
			    "4041424344454647484950515253545556575859"
			    "6061626364656667686970717273747576777879"
			    "8081828384858687888990919293949596979899";

char *out_put_u64(char *p, uint64_t u)
{
	char digits[20];
	char *d = digits + sizeof(digits);

	for (; u >= 100; u /= 100)
		d = memcpy(d - 2, pairs + 2 * (u % 100), 2);
	if (u >= 10)
		d = memcpy(d - 2, pairs + 2 * u, 2);
	else
		*--d = (char)('0' + u);
	return mempcpy(p, d, (size_t)(digits + sizeof(digits) - d));
}

char *out_put_s64(char *p, int64_t i)
{
	if (i >= 0)
		return out_put_u64(p, (uint64_t)i);
	*p++ = '-';
	return out_put_u64(p, -(uint64_t)i);
}

char *out_put_hex(char *p, uint64_t u, int digits)
{
	static const char hex[16] = "0123456789abcdef";

	for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4)
		*p++ = hex[u >> shift & 15];
	return p;
}

char *out_put_addr(char *p, uint64_t u)
{
	return out_put_hex(mempcpy(p, "0x", 2), u, u ? (67 - __builtin_clzll(u)) / 4 : 1);
}

char *out_put_raw64(char *p, uint64_t u)
{
	return out_put_hex(mempcpy(p, "0x", 2), u, 16);
}

/* "5" and "1e+22" lack the point that tells a reader the type: "5.0", "1.0e+22". */
static char *add_point(char *s, char *end)
{
	char *mantissa_end = memchr(s, 'e', (size_t)(end - s)) ?: end;

	if (memchr(s, '.', (size_t)(end - s)))
		return end;
	memmove(mantissa_end + 2, mantissa_end, (size_t)(end - mantissa_end));
	memcpy(mantissa_end, ".0", 2);
	return end + 2;
}

char *out_put_f64(char *p, double d)
{
	char text[OUT_NUMBER_MAX];
	double back;
	int len = 0;

	for (int precision = 15; precision <= 17; precision++) {
		len = snprintf(text, sizeof(text), "%.*g", precision, d);
		if (sscanf(text, "%lf", &back) == 1 && back == d)
			break;
	}
	return add_point(p, mempcpy(p, text, (size_t)len));
}
