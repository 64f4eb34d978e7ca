#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# dump: what it may cost. Bounds that hold on any machine; the figures of speed are `make bench`'s.
# shellcheck disable=SC2030,SC2031,SC2153 # tests are subshells; the library sets TARGET, ADDR, PAGES

load lib/common
load lib/dump

# peak_kib ARGS...: the most memory pgscan had resident.
peak_kib() {
	status=0
	timeout 60 "$BUILD/tools/maxrss" "$BATS_TEST_TMPDIR/peak" "$PGSCAN" "$@" >"$out" 2>"$err" || status=$?
	[[ $status == 0 ]] || fail "status $status of: pgscan ${*@Q}" "$(<"$err")"
	cat "$BATS_TEST_TMPDIR/peak"
}

@test "memory stays below 16 MiB, whatever the size of the target" {
	requires plain
	local args peak

	target_start anon pages=400000 write=0-399999/2
	for args in --format=table --format=json --format=tsv --format=hex --format=raw \
		"--by=page --format=jsonl" "--by=vma" "--flags --format=tsv" "--by=flags"; do
		# shellcheck disable=SC2086 # words are meant
		peak=$(peak_kib dump $args --range="$(region anon)" "$TARGET")
		((peak < 16384)) || fail "$args: $peak KiB"
	done
}

@test "memory stays below 16 MiB with 65000 mappings, sorted or not" {
	requires plain
	local args peak

	target_start manyvma
	for args in "--by=vma" "--by=vma --json" "--by=run" "--by=vma --sort=present --top=10"; do
		# shellcheck disable=SC2086 # words are meant
		peak=$(peak_kib dump $args "$TARGET")
		((peak < 16384)) || fail "$args: $peak KiB"
	done
}

# calls: the system calls of the last traced run, without those of starting up.
calls() {
	grep -cE '^[0-9]+ +(pread64|read|ioctl|preadv|mincore|lseek)\(' "$trace"
}

@test "flags of consecutive frames: far less than one system call per 64 pages" {
	requires plain tool:strace kfeat:kpageflags kfeat:pfn kfeat:thp
	local pages

	# Huge pages: the frames of each are consecutive. 64 MiB.
	target_start anon huge=32
	pages=${PAGES[huge]}
	traced -- dump --flags --json --range="$(region huge)" "$TARGET"
	jq_is '.summary.present' "$pages"
	(($(calls) < pages / 64)) || fail "$(calls) calls for $pages pages"
}

@test "a dense mapping: one read a batch" {
	requires plain tool:strace
	target_start anon pages=131072 write=all
	traced -- dump --by=vma --json --range="$(region anon)" "$TARGET"
	jq_is '.summary.present' 131072
	(($(grep -c pread64 "$trace") < 24)) || fail "$(grep -c pread64 "$trace") reads"
}

@test "a hole of 16 TiB: a handful of calls" {
	requires plain tool:strace kfeat:pagemap_scan
	target_start sparse prot=rw
	traced -- dump --json --range="$(region sparse)" "$TARGET"
	jq_is '.summary.present' 3
	(($(calls) < 400)) || fail "$(calls) calls"
}

@test "PAGEMAP_SCAN is always given a buffer" {
	requires plain tool:strace kfeat:pagemap_scan
	target_start sparse prot=rw
	traced -e trace=ioctl -- dump --json --range="$(region sparse)" "$TARGET"
	grep -q PAGEMAP_SCAN "$trace" || grep -qE '0x66, 0x10|0xc0606610' "$trace"
	refute grep -E 'vec_len=0[,}]|vec=NULL' "$trace"
}
