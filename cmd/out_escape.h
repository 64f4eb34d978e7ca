/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * out_escape: the bytes of other processes (names, paths) as text that is safe to print.
 *
 * A process may be called anything: a newline would forge a row, an escape sequence would drive
 * the reader's terminal, half a UTF-8 character would make the JSON invalid. So, before any back
 * end sees them, and alike in all of them:
 *
 *	\xHH	a byte of a control character (U+0000-U+001F, U+007F-U+009F), of a character that
 *		breaks or reorders the line (U+061C, U+200E, U+200F, U+2028-U+202E, U+2066-U+2069),
 *or of what is not valid UTF-8; HH are two lower-case hexadecimal digits
 *	\\	a backslash
 *
 * All else, valid UTF-8 included, stays as it is. Every byte string has one escaped form, and the
 * two rules read backwards give the bytes again.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Room for the escaped form of @len bytes. */
#define OUT_ESCAPE_MAX(len) (4 * (len))

/* out_escape - write the escaped form of @len bytes at @src to @dst, which has room for
 * OUT_ESCAPE_MAX(@len) bytes; no NUL is added. Returns its length. */
size_t out_escape(char *dst, const char *src, size_t len) __attribute__((nonnull));

/* out_escape_message - the same for a line of our own that may quote foreign bytes: a backslash
 * stays single, since nobody reads such a line backwards. */
size_t out_escape_message(char *dst, const char *src, size_t len) __attribute__((nonnull));

/* out_is_plain - whether all bytes are printable ASCII and none is a backslash or a double quote:
 * such text is its own escaped form, in JSON too. */
bool out_is_plain(const char *src, size_t len) __attribute__((nonnull));
