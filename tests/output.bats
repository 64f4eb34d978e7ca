#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# How results leave pgscan: pipes that close, disks that are full, terminals, signals.
# shellcheck disable=SC2030,SC2031,SC2153 # tests are subshells; the library sets TARGET, ADDR, PAGES

load lib/common
load lib/dump

@test "a reader that closes early ends pgscan at once and quietly" {
	local format view statuses

	target_start anon pages=300000 write=0-299999/2
	for format in table tsv json jsonl hex raw; do
		view=--by=page
		[[ $format != @(hex|raw) ]] || view=
		statuses=$(set +o pipefail
			# shellcheck disable=SC2086 # no word where there is no view
			timeout 20 "$PGSCAN" dump -q $view --format=$format --range="$(region anon)" "$TARGET" \
				2>"$err" | head -c 100 >"$out"
			echo "${PIPESTATUS[0]}")
		[[ $statuses == 0 || $statuses == 141 ]] || fail "$format: status $statuses"
		[[ ! -s $err ]] || fail "$format: $(<"$err")"
		(($(wc -c <"$out") == 100)) || fail "$format: nothing was written"
	done
}

@test "a full disk is one failure with one message, at the end or in the middle" {
	local format nr

	target_start anon pages=100000 write=0-99999/2
	for nr in 4 100000; do
		for format in table tsv json jsonl hex raw; do
			status=0
			"$PGSCAN" dump -q --format=$format --range="$(region anon 0 $nr)" "$TARGET" \
				>/dev/full 2>"$err" || status=$?
			[[ $status == 1 && $(<"$err") == *"No space left"* && $(wc -l <"$err") == 1 ]] ||
				fail "$format, $nr pages: status $status, $(<"$err")"
		done
	done
}

@test "a document that is not complete says why" {
	local command

	for command in dump swapmap; do
		run_pgscan 1 "$command" --json --cgroup=/no/such/cgroup
		jq_is '[.rows, .complete, (.errors | length)]' '[[],false,1]'
		[[ $stderr == *"$(jq -r '.errors[0].what' "$out")"* ]]
	done
	requires root
	run_as_nobody 5 dump --json --pfn=0+1
	jq_is '.errors[0].error' '"EACCES"'
}

@test "a limit on the size of files is as a full disk" {
	target_start anon pages=10000 write=0-9999/2
	status=0
	(ulimit -f 4 && "$PGSCAN" dump --json --range="$(region anon)" "$TARGET") >"$out" 2>"$err" ||
		status=$?
	[[ $status == 1 && $(<"$err") == *"File too large"* ]] || fail "status $status, $(<"$err")"
}

@test "a closed standard output is a failure, not silence" {
	status=0
	"$PGSCAN" dump --json --vma='[stack]' $$ >&- 2>"$err" || status=$?
	[[ $status == 1 && -s $err ]]
}

@test "SIGTERM in the middle: the document is closed, and not complete" {
	local line pid

	target_start anon pages=400000 write=0-399999/2
	mkfifo "$BATS_TEST_TMPDIR/pipe"
	"$PGSCAN" dump --by=page --json --range="$(region anon)" "$TARGET" \
		>"$BATS_TEST_TMPDIR/pipe" 2>"$err" 3>&- &
	pid=$!
	exec {line}<"$BATS_TEST_TMPDIR/pipe"
	read -r -N 1 -u "$line" _
	kill -TERM "$pid"
	{ printf '{' && cat <&"$line"; } >"$out"
	exec {line}<&-
	status=0
	wait "$pid" || status=$?
	# Ended by the signal, as a shell expects, or with the status for an incomplete run.
	[[ $status == 143 || $status == 3 ]] || fail "status $status"
	jq_is '.complete' false
	jq_true '.rows | length < 400000'
}

@test "a pipe gets no escape sequence, no truncation, and the same bytes whatever the terminal" {
	requires native # a table that comes slowly is laid out in parts
	target_start oddname "dir=$BATS_TEST_TMPDIR"
	run_pgscan dump --by=vma "$TARGET"
	cp "$out" "$BATS_TEST_TMPDIR/plain"
	refute grep -q $'\e' "$out"
	COLUMNS=20 TERM=xterm-256color run_pgscan dump --by=vma "$TARGET"
	cmp "$out" "$BATS_TEST_TMPDIR/plain"
	NO_COLOR=1 TERM=dumb run_pgscan dump --by=vma --color=auto "$TARGET"
	cmp "$out" "$BATS_TEST_TMPDIR/plain"
	grep -qF "$(basename "$BATS_TEST_TMPDIR")/kept" "$out"
}

on_terminal() { # ARGS...: pgscan on a terminal of its own
	script -qec "$(printf '%q ' "$PGSCAN" "$@")" /dev/null </dev/null
}

@test "a terminal: colour by default, none with NO_COLOR, TERM=dumb or --color=never" {
	requires tool:script
	target_start anon pages=64 write=0-15
	TERM=xterm-256color on_terminal dump --color=always --range="$(region anon)" "$TARGET" >"$out"
	grep -q $'\e\\[' "$out" || skip "dump's table has no colours"
	TERM=xterm-256color on_terminal dump --range="$(region anon)" "$TARGET" | grep -q $'\e\\['
	NO_COLOR=1 TERM=xterm-256color on_terminal dump --range="$(region anon)" "$TARGET" >"$out"
	refute grep -q $'\e\\[[0-9;]*m' "$out"
	TERM=dumb on_terminal dump --range="$(region anon)" "$TARGET" >"$out"
	refute grep -q $'\e\\[[0-9;]*m' "$out"
	TERM=xterm-256color on_terminal dump --color=never --range="$(region anon)" "$TARGET" >"$out"
	refute grep -q $'\e\\[[0-9;]*m' "$out"
}

@test "JSON of odd names is JSON, in UTF-8, for other readers too" {
	local format

	target_start oddname "dir=$BATS_TEST_TMPDIR"
	for format in json jsonl; do
		run_pgscan dump --format=$format --by=vma "$TARGET"
		iconv -f UTF-8 -t UTF-8 "$out" | cmp - "$out"
		jq -e . "$out" >/dev/null
		! command -v python3 >/dev/null || python3 -c '
import json, sys
text = sys.stdin.buffer.read().decode("utf-8")
[json.loads(line) for line in (text.splitlines() if sys.argv[1] == "jsonl" else [text])]
' $format <"$out"
	done
}

@test "results go to stdout, all else to stderr" {
	requires root
	target_start --nobody anon pages=8 write=all
	run_as_nobody dump --format=tsv --no-header --columns=start --range="$(region anon)" "$TARGET"
	[[ -s $out && -s $err ]]
	refute grep -qvE '^0x[0-9a-f]+$' "$out"
	run_as_nobody dump -q --format=tsv --range="$(region anon)" "$TARGET"
	[[ -s $out && ! -s $err ]]
}

@test "the table's columns have room for what they hold: every row splits alike" {
	target_start anon pages=200 write=0-99/3 huge=1
	run_pgscan dump --columns=pid,start,end,pages,state,perms --no-header "$TARGET"
	[[ $(awk '{ print NF }' "$out" | sort -u) == 6 ]]
}

@test "a run that takes longer tells a terminal how far it is, and wipes that line; nobody else" {
	requires tool:script kfeat:kpageflags
	local began=$SECONDS took

	run_pgscan dump --pfn --by=flags --format=tsv
	took=$((SECONDS - began))
	[[ -s $out && ! -s $err ]] || fail "$(<"$err")"
	on_terminal dump --pfn --by=flags --format=tsv -q >"$out"
	refute grep -q $'\r[0-9]' "$out"
	((took >= 3)) || return 0
	# Standard error alone is the terminal here.
	script -qec "$(printf '%q ' "$PGSCAN" dump --pfn --by=flags --format=tsv) >/dev/null" /dev/null \
		</dev/null >"$out"
	grep -q 'frames, .*/s' "$out"
	[[ $(tail -c 4 "$out") == $'\r\e[K' ]]
}

# until_walking PID: until it reads the page map.
until_walking() {
	until [[ -n $(find "/proc/$1/fd" -lname '*/proc/100/pagemap' 2>/dev/null) ]]; do
		kill -0 "$1" || fail "it has ended" || return
	done
}

# A hole that nothing can skip: a captured tree has no PAGEMAP_SCAN. Walking it takes minutes.
@test "SIGTERM in the middle of an endless hole: it ends at once" {
	local args

	requires native
	fixture swap-one
	sed -i 's/^7f0000000000-7f0000010000/100000000000-7f0000010000/' "$ROOT/proc/100/maps"
	for args in "dump --by=vma" "dump --by=run" "swapmap" "swapmap --by=vma" "swapmap --by=run"; do
		status=0
		# shellcheck disable=SC2086 # words are meant
		"$PGSCAN" $args --json --root="$ROOT" 100 >"$out" 2>"$err" 3>&- &
		until_walking $!
		kill -TERM $!
		timeout 20 tail --pid=$! -f /dev/null || kill -KILL $!
		wait $! || status=$?
		[[ $status == 3 ]] || fail "$args: status $status" "$(<"$err")"
		jq_is .complete false
	done
}

@test "a column that is named twice is one key, in every command" {
	local command

	for command in "dump --by=vma -o pid,pid $$" "swapmap --by=process -o pid,pid $$" "check -o name,name pagemap" \
		"dump --decode=0 -o entry,entry"; do
		# shellcheck disable=SC2086
		run_pgscan $command --format=tsv
		[[ $(head -n 1 "$out") == [a-z]* && $(head -n 1 "$out") != *$'\t'* ]]
	done
}
