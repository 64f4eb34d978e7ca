// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "out_escape.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Text with its length, so that it may hold a NUL. */
#define T(s)                                                                                       \
	{                                                                                          \
		s, sizeof(s) - 1                                                                   \
	}

struct text {
	const char *s;
	size_t len;
};

static void test_table(void **state)
{
	static const struct {
		struct text from, to;
	} cases[] = {
		{T(""), T("")},
		{T("bash"), T("bash")},
		{T("a b\"'$`"), T("a b\"'$`")},
		{T("back\\slash"), T("back\\\\slash")},
		{T("\\x41"), T("\\\\x41")},
		{T("a\nb\tc\r"), T("a\\x0ab\\x09c\\x0d")},
		{T("\0\x1f\x7f"), T("\\x00\\x1f\\x7f")},
		{T("\033[31m"), T("\\x1b[31m")},
		/* valid UTF-8 of 2, 3 and 4 bytes, the last character of all */
		{T("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\xa7"),
		 T("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\xa7")},
		{T("\xf4\x8f\xbf\xbf"), T("\xf4\x8f\xbf\xbf")},
		/* U+0080 and U+009F are controls, U+00A0 is not */
		{T("\xc2\x80\xc2\x9f\xc2\xa0"), T("\\xc2\\x80\\xc2\\x9f\xc2\xa0")},
		/* U+202E turns the line round, U+2028 breaks it */
		{T("\xe2\x80\xae\xe2\x80\xa8"), T("\\xe2\\x80\\xae\\xe2\\x80\\xa8")},
		/* not UTF-8: stray, cut short, overlong, surrogate, beyond U+10FFFF */
		{T("\xfe\x80"), T("\\xfe\\x80")},
		{T("\xc3"), T("\\xc3")},
		{T("\xe2\x82"), T("\\xe2\\x82")},
		{T("\xe2\x82z"), T("\\xe2\\x82z")},
		{T("\xc0\xaf"), T("\\xc0\\xaf")},
		{T("\xe0\x80\xaf"), T("\\xe0\\x80\\xaf")},
		{T("\xed\xa0\x80"), T("\\xed\\xa0\\x80")},
		{T("\xf4\x90\x80\x80"), T("\\xf4\\x90\\x80\\x80")},
	};
	char out[256];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t len = out_escape(out, cases[i].from.s, cases[i].from.len);

		assert_int_equal(len, cases[i].to.len);
		assert_memory_equal(out, cases[i].to.s, len);
	}
}

/* The rules of out_escape.h read backwards. */
static size_t unescape(char *dst, const char *src, size_t len)
{
	char *d = dst;

	for (size_t i = 0; i < len;) {
		if (src[i] != '\\') {
			*d++ = src[i++];
		} else if (src[i + 1] == '\\') {
			*d++ = '\\';
			i += 2;
		} else {
			assert_int_equal(src[i + 1], 'x');
			*d++ = (char)strtoul((char[]){src[i + 2], src[i + 3], 0}, NULL, 16);
			i += 4;
		}
	}
	return (size_t)(d - dst);
}

/* Escaped text is valid UTF-8 without controls, and gives the bytes again. */
static void check_round_trip(const char *bytes, size_t len)
{
	char escaped[OUT_ESCAPE_MAX(16)], back[16];
	size_t escaped_len = out_escape(escaped, bytes, len);
	json_t *json = json_stringn(escaped, escaped_len); /* jansson checks UTF-8 */

	assert_non_null(json);
	json_decref(json);
	for (size_t i = 0; i < escaped_len; i++)
		assert_true((unsigned char)escaped[i] >= 0x20 && escaped[i] != 0x7f);
	assert_int_equal(unescape(back, escaped, escaped_len), len);
	assert_memory_equal(back, bytes, len);
}

static void test_round_trip(void **state)
{
	/* bytes at which UTF-8 changes its mind */
	static const unsigned char edges[] = {0x00, 0x1f, 0x20, '"',  '\\', 'x',  0x7f, 0x80, 0x8f,
					      0x90, 0x9f, 0xa0, 0xa8, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf,
					      0xe0, 0xe2, 0xed, 0xef, 0xf0, 0xf4, 0xf5, 0xff};
	size_t n = ARRAY_SIZE(edges);
	char bytes[4];

	(void)state;
	for (size_t i = 0; i < n * n * n * n; i++) {
		size_t rest = i;

		for (size_t k = 0; k < 4; k++, rest /= n)
			bytes[k] = (char)edges[rest % n];
		for (size_t len = 1; len <= (i < n * n * n ? 4 : 1); len++)
			check_round_trip(bytes, len);
		check_round_trip(bytes, 4);
	}
}

static void test_plain(void **state)
{
	char text[19];

	(void)state;
	for (size_t len = 0; len <= sizeof(text); len++) {
		memset(text, 'a', sizeof(text));
		assert_true(out_is_plain(text, len));
		for (size_t at = 0; at < len; at++) {
			for (int c = 0; c < 256; c++) {
				bool plain = c >= 0x20 && c < 0x7f && c != '\\' && c != '"';

				text[at] = (char)c;
				assert_int_equal(out_is_plain(text, len), plain);
			}
			text[at] = 'a';
		}
	}
}

static void test_message(void **state)
{
	static const char text[] = "cannot open 'a\\b\nc'";
	char out[OUT_ESCAPE_MAX(sizeof(text))];
	size_t len = out_escape_message(out, text, strlen(text));

	(void)state;
	out[len] = '\0';
	assert_string_equal(out, "cannot open 'a\\b\\x0ac'");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_message),
	};

	return cmocka_run_group_tests_name("out_escape", tests, NULL, NULL);
}
