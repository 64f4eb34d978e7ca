# SPDX-License-Identifier: GPL-2.0-only
# say: what the demonstrations share.
# shellcheck shell=bash

# say WORDS...: one paragraph.
say() {
	printf '\n'
	printf '%s ' "$@" | fold -s -w 96 | sed 's/^/# /; s/ *$//'
	printf '\n'
}

# show ARG...: a pgscan command and what it prints.
show() {
	printf '\n$ pgscan %s\n' "${*@Q}" | sed "s/'\([A-Za-z0-9,=+_-]*\)'/\1/g"
	"$PGSCAN" "$@"
}
