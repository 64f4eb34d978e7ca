#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# dump on a machine with swap: what no host test may set up.
# shellcheck disable=SC2030,SC2031,SC2153,SC2154 # tests are subshells; the libraries set variables

load ../lib
load ../../lib/dump

# A mapping of which about half is in swap: 200 of 256 pages were written
start_half_swapped() {
	cg_new dump
	target_start --cgroup dump "$@" pages=256 write=0-199
	wait_for half_gone dump "$1"
}

@test "private pages in swap: slot by slot as the page map says, on the one device there is" {
	swap_disk 0
	start_half_swapped anon
	same_as_pmref anon
	same_as_pmref --by=page anon
	states anon
	((swapped > 32))
	run_pgscan dump --json --range="$(region anon)" "$TARGET"
	jq_is '.summary | [.swapped, .present, .none]' "[$swapped,$present,56]"
	jq_is '[.rows[] | select(.state == "swapped") | .swap_device] | unique' "[\"$swap_device\"]"
	jq_is '[.rows[] | select(.state != "swapped") | .swap_type] | unique' '[null]'
	run_pgscan dump --json --where=swapped --by=vma --range="$(region anon)" "$TARGET"
	jq_is '[.rows[].swapped]' "[$swapped]"
}

@test "private pages in swap: mapping by mapping what smaps counts" {
	swap_disk 0
	start_half_swapped anon
	cg_reclaim dump $((8 << 20))
	run_pgscan dump --json --by=vma "$TARGET"
	# Not VmSwap, which kernels before 6.2 count only roughly (SPLIT_RSS_COUNTING).
	awk '/^[0-9a-f]+-/ { private = $2 ~ /p$/; split($1, a, "-"); at = "0x" a[1] }
		/^Swap:/ && private && $2 { sub(/^0x0*/, "0x", at); print at, $2 / 4 }' \
		"/proc/$TARGET/smaps" >"$BATS_TEST_TMPDIR/want"
	jq -r '.rows[] | select(.perms | endswith("p")) | select((.swapped // 0) > 0) |
		"\(.start) \(.swapped)"' "$out" | diff "$BATS_TEST_TMPDIR/want" -
	[[ -s $BATS_TEST_TMPDIR/want ]]
}

@test "two areas, then one of them off: no device is named that is not certain" {
	swap_disk 0 9
	swap_disk 1 5
	start_half_swapped anon
	run_pgscan dump --json --range="$(region anon)" "$TARGET"
	jq_is '[.rows[] | select(.state == "swapped") | .swap_type] | unique | length > 0' true
	jq_is '[.rows[] | select(.swap_device != null and .swap_device != "/dev/vdb")]' '[]'
	swapoff /dev/vdb
	cg_reclaim dump $((8 << 20))
	run_pgscan dump --json --range="$(region anon)" "$TARGET"
	# What is left is type 1, the second of the swapons, now in the first line of /proc/swaps.
	jq_is '[.rows[] | select(.state == "swapped") | .swap_type] | unique' '[1]'
	jq_is '[.rows[] | select(.swap_device != null) | .swap_device] | unique - ["/dev/vdc"]' '[]'
}

@test "shared pages in swap without the module: swapped, where is not known; untouched ones are none" {
	local kind

	swap_zram 64M
	for kind in anon memfd sysv tmpfs; do
		start_half_swapped shm "kind=$kind"
		run_pgscan dump --kmod=off --kcore=off --json --range="$(region shm)" "$TARGET"
		# One that reclaim has unmapped, and not yet written, is in the object still
		jq_is '[.rows[] | select(.state == "none" and (.cached | not)) | .pages] | add' 56
		jq_true '.summary | .swapped > 0 and .unknown == 0'
		jq_is '[.rows[] | select(.state == "swapped") | [.swap_type, .source]] | unique' \
			'[[null,"map_files"]]'
		jq_is '[.rows[] | select(.state == "swapped" and .soft_dirty == false)]' '[]'
		target_stop
		cg_remove dump
	done
}

@test "shared pages in swap as an ordinary user: counted as unknown, never as none" {
	swap_zram 64M
	cg_new dump 512K
	target_start --nobody shm kind=memfd pages=256 write=0-199
	echo "$TARGET" >"$CG_ROOT/dump/cgroup.procs"
	run_as_nobody 3 dump --json --range="$(region shm)" "$TARGET"
	jq_is '.summary.none' 0
	jq_true '.summary.unknown >= 56'
	jq_is '.complete' false
	jq_is '[.errors[].pid]' "[$TARGET]"
}

@test "private pages in swap as an ordinary user: swapped, and no slot 0 of type 0" {
	swap_zram 64M
	cg_new dump 512K
	target_start --nobody anon pages=256 write=none
	echo "$TARGET" >"$CG_ROOT/dump/cgroup.procs"
	target_cmd write anon 0-199
	states anon
	run_as_nobody dump --json --range="$(region anon)" "$TARGET"
	jq_is '.summary | [.present + .swapped, .none]' '[200,56]'
	jq_true '.summary.swapped > 32'
	jq_is '[.rows[] | [.pfn, .swap_type, .swap_offset, .swap_device]] | unique' '[[null,null,null,null]]'
}

@test "a private mapping of shared memory: copied pages have slots of their own" {
	swap_disk 0
	cg_new dump 1M
	target_start --cgroup dump shm kind=memfd pages=128 write=all private=0-63
	cg_reclaim dump $((8 << 20))
	states private
	((swapped > 0))
	run_pgscan dump --by=page --where=swapped --format=tsv --no-header --columns=start,swap_offset \
		--range="$(region private)" "$TARGET"
	# The object's own pages in swap have no slot that could be known without the module.
	slots private | tr ' ' '\t' | cmp - <(grep -v '\\N' "$out" | head -n "$swapped")
	run_pgscan dump --kmod=off --json --range="$(region private)" "$TARGET"
	jq_true ".summary | .swapped + .swap_cache >= $swapped"
	jq_is '.summary | .none' 0
}

@test "write-protected pages in swap stay write-protected, markers stay markers" {
	requires kfeat:uffd_wp_async
	swap_zram 64M
	cg_new dump
	target_start --cgroup dump uffd pages=64 write=0-31
	wait_for out_of_memory uffd 0-31
	same_as_pmref uffd
	run_pgscan dump --json --range="$(region uffd)" "$TARGET"
	jq_is '.summary | [.swapped, .uffd_wp_marker]' '[32,32]'
	jq_is '[.rows[] | select(.state == "swapped") | .uffd_wp] | unique' '[true]'
}

@test "soft-dirty: what was written since the bits were cleared, and looking clears nothing" {
	requires kfeat:soft_dirty
	target_start anon pages=64 write=0-31
	echo 4 >"/proc/$TARGET/clear_refs"
	target_cmd write anon 3-4,40
	run_pgscan dump --json --by=vma --range="$(region anon)" "$TARGET"
	run_pgscan dump --json --where=present,soft_dirty --range="$(region anon)" "$TARGET"
	jq_is '[.rows[].pages] | add' 3
	same_as_pmref anon
}

@test "a poisoned frame is hwpoison, not swapped, of private and of shared memory" {
	requires guest
	local shared kmod

	swap_zram 64M
	grep -q HardwareCorrupted /proc/meminfo || skip "this kernel has no CONFIG_MEMORY_FAILURE"
	for shared in 0 1; do
		target_start hwpoison shared=$shared
		for kmod in auto off; do
			run_pgscan dump --json --kmod=$kmod --range="$(region hwpoison)" "$TARGET"
			jq_is '.summary | [.present, .hwpoison, .swapped]' '[7,1,0]'
			jq_is '[.rows[] | select(.state == "hwpoison") | [.start, .pages, .swap_type]]' \
				"[[\"$(page_addr hwpoison 2)\",1,null]]"
		done
	done
}

@test "truth: the states of live memory, by the independent reader" {
	target_start anon pages=1000 write=0-299/2,500-600 read=700-800
	same_as_pmref anon
	PGSCAN_DISABLE=pagemap_scan same_as_pmref --batch=7 anon
}

# The page table is looked at once by the module and once by pagemap, and reclaim is quick
@test "shared pages that reclaim takes while they are looked at were never untouched" {
	local round pid none=0
	swap_zram 128M
	cg_new dump
	target_start --cgroup dump shm kind=memfd pages=8192 write=all
	for ((round = 0; round < 3; round++)); do
		target_cmd write shm all
		cg_reclaim_once dump $((64 << 20)) 3>&- &
		pid=$!
		while kill -0 "$pid" 2>/dev/null; do
			run_pgscan dump --json -r "$(region shm)" "$TARGET"
			# Those that are in memory, and not mapped any more, are cached
			none=$((none + $(jq '[.rows[] | select(.state == "none" and .cached != true) | .pages] | add // 0' "$out")))
		done
	done
	[[ $none -eq 0 ]]
	swap_settle
	run_pgscan dump --by=vma --json -r "$(region shm)" "$TARGET"
	jq_is '.summary | .present + .swapped + .none' 8192
	jq_is '[.rows[] | .none - .cached] | add' 0
}

@test "shared memory that is in memory but not mapped here is none, and cached" {
	local kmod

	swap_disk 0
	target_start shm kind=memfd pages=64 write=0-31
	target_cmd dontneed shm 0-15
	for kmod in auto off; do
		run_pgscan dump --kmod=$kmod --kcore=off --json --range="$(region shm)" "$TARGET"
		jq_is '[.rows[] | select(.state == "none") | [.pages, .cached]]' '[[16,true],[32,false]]'
		run_pgscan dump --kmod=$kmod --kcore=off --json --by=vma --range="$(region shm)" "$TARGET"
		jq_is '[.rows[] | [.present, .none, .cached]]' '[[16,48,16]]'
	done
}

# ---- counts without slots ----

# smaps_swap REGION: its pages in swap, as the kernel counts them
smaps_swap() {
	awk -v a="${ADDR[$1]#0x}" '/^[0-9a-f]+-/ { on = index($1, a "-") == 1 }
		on && /^Swap:/ { print $2 / 4 }' "/proc/$TARGET/smaps"
}

# counts_are REGION PRESENT SWAPPED NONE CACHED: by --by=vma, which asks for counts alone, by the walk page by
# page that a filter makes of it, and by each source
counts_are() {
	local use where

	for use in "${slot_sources[@]}"; do
		for where in "" "--where=present|!present"; do
			# shellcheck disable=SC2086 # words are meant
			run_pgscan dump $use ${where:+"$where"} --json --by=vma --range="$(region "$1")" "$TARGET"
			jq_is '[.rows[] | [.present, .swapped, .none, .cached, .unknown, .other]]' \
				"[[$2,$3,$4,$5,0,0]]"
			jq_is '[.rows[] | .pages == .present + .swapped + .none]' '[true]'
			jq_is '.summary | [.present, .swapped + .swap_cache, .none]' "[$2,$3,$4]"
		done
	done
}

@test "counts: holes, pages in memory but not mapped, in swap, mapped" {
	requires module
	swap_disk 0
	target_start shm kind=memfd pages=4096 write=0-599,3000-3999
	wait_for out_of_memory shm all
	counts_are shm 0 1600 2496 0
	target_cmd read shm 100-199
	target_cmd dontneed shm 150-199
	counts_are shm 50 1500 2546 50
	target_cmd read shm 3000-3999/2
	counts_are shm 550 1000 2546 50
}

@test "counts: every second page mapped, the others in swap" {
	requires module
	swap_disk 0
	target_start shm kind=memfd pages=2000 write=all
	wait_for out_of_memory shm all
	target_cmd read shm 0-1999/2
	counts_are shm 1000 1000 0 0
	same_words shm
}

@test "counts: mapped at the start, which is not what the rest is" {
	requires module
	# The swap cache, which only kernel memory tells of, is to have none, nor get any by readahead
	set_file /proc/sys/vm/page-cluster 0
	swap_disk 0
	cg_new counts
	target_start --cgroup counts shm kind=memfd pages=4096 write=all
	wait_for out_of_memory shm all
	wait_for out_of_cache counts shm
	same_runs shm
	target_cmd read shm 0-999
	counts_are shm 1000 3096 0 0
	target_cmd read shm 2000-2999
	counts_are shm 2000 2096 0 0
	same_words shm
	same_runs shm
}

# Of 1024 written pages of 2048, so many are wherever the kernel says
counts_are_the_kernels() {
	local swapped

	states shm
	swapped=$(smaps_swap shm)
	counts_are shm "$present" "$swapped" $((2048 - present - swapped)) $((1024 - present - swapped))
	((swapped > 256))
}

@test "counts: large entries, whole and with pages read in again" {
	requires module
	local before

	swap_zram 64M
	cg_new counts
	before=$(huge_swpouts)
	huge_shm counts 0-1023 pages=2048
	cg_reclaim counts $((64 << 20))
	[[ -z $before ]] || (($(huge_swpouts) > before))
	counts_are_the_kernels
	target_cmd read shm 700
	counts_are_the_kernels
}

# sources_agree ARGS...: what dump prints is the same, whoever is asked
sources_agree() {
	local use first=$BATS_TEST_TMPDIR/first

	rm -f "$first"
	for use in "${slot_sources[@]}"; do
		# shellcheck disable=SC2086 # words are meant
		run_pgscan dump $use "$@" "$TARGET"
		[[ -s $out ]]
		[[ -e $first ]] || cp "$out" "$first"
		cmp "$out" "$first"
	done
}

# same_words REGION
same_words() {
	sources_agree --format=raw --range="$(region "$1")"
}

# same_runs REGION: each source is asked in pieces of its own, which do not show
same_runs() {
	sources_agree --format=tsv --columns=start,pages,state,pfn,swap_offset --range="$(region "$1")"
}

@test "words: slots in no order, each page a run" {
	requires module
	swap_disk 0
	target_start shm kind=memfd pages=6000 write=none
	target_cmd write shm 0-4999/2
	target_cmd pageout shm 0-4999/2
	target_cmd write shm 1-4999/2
	wait_for out_of_memory shm all
	same_words shm
	run_pgscan dump --by=page --where=swapped --format=tsv --no-header --columns=start,swap_offset \
		--range="$(region shm)" "$TARGET"
	(($(wc -l <"$out") == 5000))
	holds "$swap_device" 5000 <"$out"
}
