#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# swapmap on trees of other machines, and on this one as it is.
# shellcheck disable=SC2030,SC2031,SC2153 # tests are subshells; the library sets TARGET, ADDR, PAGES

load lib/common

swapmap_fixture() { # NAME ARGS...
	local root=$BATS_TEST_TMPDIR/root-$1

	"$FIXTURES/build" "$1" "$root"
	shift
	run_pgscan swapmap --root="$root" --json "$@"
}

@test "runs: type, device and slot of each, with one swap area" {
	swapmap_fixture swap-one --by=run 100
	jq_is '[.rows[] | [.pages, .swap_type, .swap_offset, .swap_device, .owners, .note]]' \
		'[[4,0,32,"/dev/vdb",1,null],[2,0,256,"/dev/vdb",1,null],[1,0,512,"/dev/vdb",1,null],[1,0,258,"/dev/vdb",1,null]]'
	jq_is '.summary | [.anon, .anon_slots, .size, .used]' '[8,8,131071,8]'
}

@test "pages: one row each, at its own slot" {
	swapmap_fixture swap-one --by=page 100
	jq_is '[.rows[].swap_offset]' '[32,33,34,35,256,257,512,258]'
	jq_is '[.rows[] | select(.pages != 1)]' '[]'
	jq_is '.rows[1] | [.start, .end]' '["0x55d000005000","0x55d000006000"]'
}

@test "mappings: what differs within one is null, and the row says why" {
	swapmap_fixture swap-one --by=vma 100
	jq_is '[.rows[] | [.vma, .pages, .swap_type, .swap_offset, .note]]' \
		'[["[heap]",4,0,32,null],["[anon]",4,0,null,"several places"]]'
}

@test "a process: one for --by=vma, several for --by=process" {
	swapmap_fixture swap-one 100
	jq_is '.rows[0] | has("vma")' true
	swapmap_fixture swap-one -a
	jq_is '.rows[0] | [.pid, .comm, .anon, .shmem, .total, .pswap, .uswap, .anon_bytes, .pswap_bytes]' \
		'[100,"sleeper",8,0,8,8,8,32768,32768]'
	grep -qF '"pswap":8.0,' "$out"
}

@test "as many types as lines: each is certain, whatever their numbers" {
	swapmap_fixture swap-gap --by=vma 100
	jq_is '[.rows[] | [.swap_type, .swap_device]]' '[[1,"/dev/zram1"],[2,"/dev/zram2"]]'
}

@test "one type of two lines is not certain, and the row says so" {
	"$FIXTURES/build" swap-gap "$BATS_TEST_TMPDIR/root"
	# Nothing on type 2 any more
	truncate -s 0 "$BATS_TEST_TMPDIR/root/proc/100/pagemap"
	sed '/type=2/d' "$FIXTURES/swap-gap/proc/100/pagemap.words" |
		"$BUILD/tools/mkpages" "$BATS_TEST_TMPDIR/root/proc/100/pagemap"
	run_pgscan swapmap --root="$BATS_TEST_TMPDIR/root" --by=run --json 100
	jq_is '[.rows[] | [.swap_type, .swap_offset, .swap_device, .note]]' '[[1,32,null,"device not certain"]]'
}

@test "special entries are not in swap" {
	swapmap_fixture special-6.12 --by=page 100
	jq_is '[.rows[] | [.swap_type, .swap_offset]]' '[[22,64],[22,65],[22,9]]'
}

@test "ranges and patterns choose pages" {
	swapmap_fixture swap-one --by=page --range=0x7f0000001000+8K 100
	jq_is '[.rows[].swap_offset]' '[257,512]'
	swapmap_fixture swap-one --by=process -V '[heap]' 100
	jq_is '.rows[0].anon' 4
}

@test "no swap at all: totals 0, percent null, status 0" {
	requires plain
	(($(wc -l </proc/swaps) <= 1)) || skip "this machine has swap"
	run_pgscan swapmap -a --json
	jq_is '.summary | [.size, .used, .used_percent, .anon_slots]' '[0,0,null,0]'
	jq_is '[.rows[] | .anon, .shmem, .pswap, .uswap] | unique' '[0]'
	jq_true '.rows | length > 0'
	run_pgscan swapmap --by=run --json $$
	jq_is '.rows' '[]'
}

@test "a process that is not there, a kernel thread, another user's" {
	run_pgscan 1 swapmap 999999999
	[[ -z $output && $stderr == *999999999* ]]
	run_pgscan 2 swapmap
	run_pgscan 2 swapmap --by=page --sort=pages $$
}
