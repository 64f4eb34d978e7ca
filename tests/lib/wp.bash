# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# wp: pgscan wp in the background, and what it said of a target that obeys meanwhile.

WP=

# wp_start ARGS...: as JSON lines of pages, no sample before the end; returns when it tracks $TARGET.
wp_start() {
	local i

	: >"$err" # now: the job does it only once it runs, and the loop would read what the last one said
	"$PGSCAN" wp -v -i 1000 -f jsonl --by=page "$@" "$TARGET" >"$out" 2>"$err" 3>&- &
	WP=$!
	for ((i = 0; i < 1000; i++)); do
		! grep -q '^pgscan wp: method' "$err" || return 0
		kill -0 "$WP" 2>/dev/null || fail "wp ended: $(<"$err")" || return
		sleep 0.02
	done
	fail "wp does not begin: $(<"$err")"
}

# wp_end: have it take the last sample, and wait for its end.
wp_end() {
	local rc=0

	kill -TERM "$WP"
	wait "$WP" || rc=$?
	WP=
	((rc == 3)) || fail "status $rc, not 3: $(<"$err")"
}

wp_teardown() {
	[[ -z $WP ]] || kill -KILL "$WP" 2>/dev/null || true
}

# wp_written REGION LIST: the pages of the region that the rows name are these, "3,5,6".
wp_written() {
	local got

	got=$(jq -r 'select(.sample and .start) | .start' "$out" | while read -r start; do
		echo $(((start - ADDR[$1]) / PAGE_SIZE))
	done | paste -sd,)
	[[ $got == "$2" ]] || fail "written are '$got', not '$2'" "$(head -c 4000 "$out")"
}

# wp_last FILTER: of the last line, which has the summary.
wp_last() {
	tail -n 1 "$out" | jq -c "$1"
}
