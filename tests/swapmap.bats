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
	jq_is '.rows' '[]'
	jq_true '.summary.processes > 0'
	run_pgscan swapmap --by=process --json $$
	jq_is '[.rows[] | .pid, .anon, .shmem, .pswap, .uswap]' "[$$,0,0,0,0]"
	run_pgscan swapmap --by=device --json
	jq_is '.rows' '[]'
	run_pgscan swapmap --by=run --json $$
	jq_is '.rows' '[]'
}

@test "an empty proc is no procfs, and not a machine without swap" {
	mkdir -p "$BATS_TEST_TMPDIR/empty/proc"
	for view in "swapmap -a" "swapmap --by=device" "swapmap --map" "dump -a"; do
		# shellcheck disable=SC2086
		run_pgscan 1 $view --root="$BATS_TEST_TMPDIR/empty/"
		[[ -z $output ]]
		[[ $stderr == *"no process in '$BATS_TEST_TMPDIR/empty/proc': is procfs mounted there?"* ]]
	done
	run_pgscan 1 swapmap -a --json --root="$BATS_TEST_TMPDIR/empty"
	jq_is '[.complete, (.errors | length), .summary.used]' '[false,1,null]'
}

@test "a proc of processes alone does not say that there is no swap" {
	requires root plain tool:unshare
	unshare -m mount -t proc -o subset=pid none /proc 2>/dev/null || skip "no mount, or no subset=pid (5.8)"
	printf '#!/bin/sh\nmount -t proc -o subset=pid none /proc && exec "%s" "$@"\n' "$PGSCAN" \
		>"$BATS_TEST_TMPDIR/pgscan"
	PGSCAN=$(command -v unshare) run_pgscan 1 -m sh "$BATS_TEST_TMPDIR/pgscan" swapmap -a --json
	[[ $stderr == *"no '/proc/swaps', nor '/proc/meminfo'"* ]]
	jq_is '[.complete, (.errors | length), .summary.used]' '[false,1,null]'
}

@test "a process that is not there, a kernel thread, another user's" {
	run_pgscan 1 swapmap 999999999
	[[ -z $output && $stderr == *999999999* ]]
	if [[ $(<"/proc/2/comm") == kthreadd ]]; then
		run_pgscan 1 swapmap 2
		[[ $stderr == *"kernel thread"* ]]
	fi
	run_pgscan 2 swapmap
	run_pgscan 2 swapmap --by=page --sort=pages $$
}

@test "--slot: by device and by type, and what is none" {
	swapmap_fixture swap-gap --slot=/dev/zram2:259
	jq_is '[.rows[] | .pid, .start, .swap_type, .swap_offset]' '[100,"0x7f0000003000",2,259]'
	jq_is '.summary.found' true
	swapmap_fixture swap-gap --slot=1:35
	jq_is '[.rows[].start]' '["0x55d000007000"]'
	swapmap_fixture swap-gap --slot=/dev/zram1:36
	jq_is '[.rows, .summary.found]' '[[],false]'
	local bad
	for bad in 0 -1 '' x; do
		run_pgscan 2 swapmap --slot=/dev/zram1:$bad
	done
	run_pgscan 2 swapmap --slot=/dev/zram1
	run_pgscan 2 swapmap --slot=/dev/zram1:1 $$
	run_pgscan 1 swapmap --slot=/dev/zram9:1
}

@test "--slot: a type that is no area's, or may be none's" {
	local root=$BATS_TEST_TMPDIR/root-swap-gap

	# Two areas, and both types were seen.
	swapmap_fixture swap-gap --slot=1:35
	run_pgscan 1 swapmap --root="$root" --json --slot=0:35
	[[ $stderr == *"swap type 0 is not in use: there is /dev/zram1 (type 1), /dev/zram2 (type 2)"* ]]
	jq_is '[.rows, .complete, .errors[0].what]' \
		'[[],false,"swap type 0 is not in use: there is /dev/zram1 (type 1), /dev/zram2 (type 2)"]'
	run_pgscan 1 swapmap --root="$root" --slot=/dev/sda2:35
	[[ $stderr == *"'/dev/sda2' is not a swap area in use: there is /dev/zram1"* ]]
	# Three areas: the third may be of any type.
	echo '/dev/zram5 partition 524284 0 -4' >>"$root/proc/swaps"
	run_pgscan swapmap --root="$root" --json --slot=9:35
	jq_is '.summary.found' false
	[[ $stderr == *"nobody was found to hold the slot; that this type is in use is not certain"* ]]
	run_pgscan 1 swapmap --root="$root" --slot=9:99999999
	[[ $stderr == *"'9' ends with slot "*" at the latest"* ]]
}

@test "--slot: what is no slot is refused before anything is looked at" {
	run_pgscan 2 swapmap --json --slot=/dev/zram1
	[[ -z $output && $stderr == *"'/dev/zram1' is not DEVICE:OFFSET"* ]]
}

@test "--slot: an area by another name of it, as /dev/mapper has for what /proc/swaps calls dm-0" {
	local root=$BATS_TEST_TMPDIR/root

	"$FIXTURES/build" swap-one "$root"
	true >"$BATS_TEST_TMPDIR/dm-0"
	ln -s dm-0 "$BATS_TEST_TMPDIR/vg-swap"
	sed -i "s|/dev/vdb|$BATS_TEST_TMPDIR/dm-0|" "$root/proc/swaps"
	run_pgscan swapmap --root="$root" --json --slot="$BATS_TEST_TMPDIR/vg-swap:33"
	jq_is '[.rows[] | [.pid, .swap_offset, .swap_device]]' "[[100,33,\"$BATS_TEST_TMPDIR/dm-0\"]]"
	run_pgscan 1 swapmap --root="$root" --slot="$BATS_TEST_TMPDIR/none:33"
}

@test "--slot: a bare type beyond the end of its area, or where there is no area" {
	swapmap_fixture swap-one --slot=0:33
	jq_is '.rows | length' 1
	run_pgscan 1 swapmap --root="$BATS_TEST_TMPDIR/root-swap-one" --slot=0:131072
	[[ $stderr == *"ends with slot 131071"* ]]
	sed -i 1q "$BATS_TEST_TMPDIR/root-swap-one/proc/swaps"
	run_pgscan 1 swapmap --root="$BATS_TEST_TMPDIR/root-swap-one" --slot=0:33
	[[ $stderr == *"no swap area is in use"* ]]
}

@test "--map: shared memory whose slots are not known is told, not drawn as nobody's" {
	local root=$BATS_TEST_TMPDIR/root

	"$FIXTURES/build" swap-one "$root"
	run_pgscan swapmap --root="$root" --map
	[[ $stderr != *"shared memory"* ]]
	mkdir -p "$root/proc/sysvipc"
	cat >"$root/proc/sysvipc/shm" <<-END
		       key      shmid perms                  size  cpid  lpid nattch   uid   gid  cuid  cgid      atime      dtime      ctime                   rss                  swap
		         0          5  1600                 12288     7     7      0     0     0     0     0          0          0          0                     0                 12288
	END
	run_pgscan swapmap --root="$root" --map
	[[ $stderr == *"3 pages of shared memory are not drawn"* ]]
}

@test "--map: one cell for each 205 slots, letters for owners, no colour in a pipe" {
	local root=$BATS_TEST_TMPDIR/root
	"$FIXTURES/build" swap-gap "$root"
	run_pgscan swapmap --map --root="$root"
	[[ ${output%%$'\n'*} == "/dev/zram1: 16K of 512M in use, priority -3" ]]
	[[ $(grep -c '^[.a]*$' "$out") -eq 18 ]] # 8 lines and an empty one each
	[[ $(sed -n 2p "$out") == a...* && $(sed -n 12p "$out") == .a..* ]]
	grep -qF 'A    48K  sleeper (100)' "$out"
	run_pgscan swapmap --map --color=always --root="$root"
	grep -q $'\033\\[0;31ma\033\\[m' "$out"
	run_pgscan 2 swapmap --map --json
	run_pgscan 2 swapmap --map --by=device
}

@test "areas: used, and in whose hands; a row for a type that may be either" {
	swapmap_fixture swap-gap --by=device
	jq_is '[.rows[] | [.device, .type, .prio, .size, .used, .anon]]' \
		'[["/dev/zram1",1,-3,131071,4,4],["/dev/zram2",2,-4,131071,8,8]]'
	jq_is '.summary | [.used, .anon_slots, .shmem_partial]' '[12,12,true]'
}

# one_refused ARGS...: swapmap of two relatives, of which one may not be looked into: 3
one_refused() {
	local root=$BATS_TEST_TMPDIR/refused tree

	[[ -d $root ]] || "$FIXTURES/build" swap-forked "$root"
	chmod -R a+rX "$root"
	chmod 000 "$root"/proc/101/{maps,pagemap}
	exec {tree}<"$root" # nobody may not be able to reach it by name
	run_as_nobody 3 swapmap --root="/proc/self/fd/$tree" "$@"
	exec {tree}<&-
	[[ $stderr == *"1 process could not be looked into: cannot open '/proc/self/fd/$tree/proc/101/"*CAP_SYS_PTRACE* ]]
}

@test "a process that may not be looked into: what it may hold is unknown in every view, and never 0" {
	requires root native
	one_refused -a --json
	jq_is '.rows | map([.pid, .anon, .pswap, .uswap, .note])' \
		'[[100,4,null,null,"not all owners known"],[101,4,null,null,"not permitted"]]'
	jq_is '.summary | [.processes, .anon, .shmem, .anon_slots, .shmem_slots, .swap_cache_slots, .unaccounted]' \
		'[1,null,null,null,null,null,null]'
	one_refused --by=device --json
	jq_is '.rows[0] | [.used, .anon, .shmem, .cached, .other, .note]' \
		'[10,null,null,null,null,"not all owners known"]'
	one_refused -a --by=run --json
	jq_is '[.rows[].owners] | unique' '[null]'
	one_refused --slot=0:34 --json
	jq_is '.rows | map([.pid, .owners])' '[[100,null]]'
	one_refused --map
	one_refused -a --format=tsv --no-header -o pid,uswap
	[[ $output == $'100\t\\N\n101\t\\N' ]]
}

@test "zram: three figures" {
	local root=$BATS_TEST_TMPDIR/root
	"$FIXTURES/build" swap-gap "$root"
	mkdir -p "$root/sys/block/zram1"
	echo '1572864 65536 131072 0 262144 380 0 0 0' >"$root/sys/block/zram1/mm_stat"
	echo 536870912 >"$root/sys/block/zram1/disksize"
	run_pgscan swapmap --by=device --json --root="$root"
	jq_is '.rows[0] | [.zram_data, .zram_compressed, .zram_memory, .zram_same]' '[1572864,65536,131072,380]'
	jq_is '.rows[1] | [.zram_data, .zram_memory]' '[null,null]'
}

@test "zswap: totals of the machine" {
	local root=$BATS_TEST_TMPDIR/root
	"$FIXTURES/build" swap-one "$root"
	printf 'SwapCached: 0 kB\nZswap: 12 kB\nZswapped: 32 kB\n' >>"$root/proc/meminfo"
	mkdir -p "$root/sys/module/zswap/parameters"
	echo Y >"$root/sys/module/zswap/parameters/enabled"
	run_pgscan swapmap -a --json --root="$root"
	jq_is '.summary | [.zswap_pool_bytes, .zswap_stored_bytes, .swap_cached, .swap_cache_slots]' \
		'[12288,32768,0,0]'
}

@test "cgroups: by the path in /proc/PID/cgroup" {
	requires cgroup:v1
	run_pgscan swapmap -a --by=cgroup --json
	jq_is '[.rows[] | select(.processes == 0)]' '[]'
	run_pgscan swapmap --by=cgroup --json $$
	jq_is '[.rows[].processes]' '[1]'
}

@test "five hundred processes without swap: under 100 ms of processor time" {
	requires plain
	local i pids=()
	(($(wc -l </proc/swaps) <= 1)) || skip "this machine has swap"
	for ((i = 0; i < 500; i++)); do
		sleep 60 3>&- &
		pids+=("$!")
	done
	TIMEFORMAT='%U %S'
	{ time "$PGSCAN" swapmap -a --json >"$out"; } 2>"$BATS_TEST_TMPDIR/time"
	# Not TERM: one that bash has not made a sleep of yet would report this test a second time
	kill -KILL "${pids[@]}"
	cat "$BATS_TEST_TMPDIR/time"
	jq_true '.summary.processes > 500'
	awk '{ exit $1 + $2 >= 0.1 }' "$BATS_TEST_TMPDIR/time"
}

@test "slots of a fork are divided by their owners, also when one alone is shown" {
	swapmap_fixture swap-forked -a
	jq_is '[.rows[] | [.pid, .anon, .pswap, .uswap]]' '[[100,4,3,2],[101,4,3,2]]'
	jq_is '.summary | [.anon, .anon_slots]' '[8,6]'
	swapmap_fixture swap-forked --by=process 101
	jq_is '[.rows[] | [.pid, .anon, .pswap, .uswap]]' '[[101,4,3,2]]'
	jq_is '.summary | [.anon, .anon_slots, .swap_cache_slots, .unaccounted]' '[4,4,null,null]'
	swapmap_fixture swap-forked --by=run 100
	jq_is '[.rows[] | [.swap_offset, .pages, .owners]]' '[[32,2,2],[34,2,1]]'
}

@test "328 KiB in swap, which smaps tells as Swap and as SwapPss, are 328 and not 656" {
	local root=$BATS_TEST_TMPDIR/root

	"$FIXTURES/build" swap-one "$root"
	sed -i 's/^VmSwap:.*/VmSwap:\t328 kB/' "$root/proc/100/status"
	sed -i 's/^\(7f0000000000-7f00000\)10000/\152000/' "$root/proc/100/maps"
	rm "$root/proc/100/pagemap"
	echo '0x7f0000000000 82 swap type=0 offset=0x100' | "$BUILD/tools/mkpages" "$root/proc/100/pagemap"
	printf '%s\n' '7f0000000000-7f0000052000 rw-p 00000000 00:00 0' 'Rss: 0 kB' 'Swap: 328 kB' \
		'SwapPss: 328 kB' >"$root/proc/100/smaps"
	run_pgscan swapmap --root="$root" --json -a
	jq_is '[.rows[] | [.anon_bytes, .total_bytes, .pswap_bytes, .uswap_bytes] | map(. / 1024)]' \
		'[[328,328,328,328]]'
}

# Until "mm: fix the inaccurate memory statistics issue for users", kernels since 6.2 round VmSwap down by
# what each CPU has not handed in yet: 31 pages and more
@test "a process whose VmSwap is 0 is looked into where the kernel does not count exactly" {
	"$FIXTURES/build" swap-one "$BATS_TEST_TMPDIR/root"
	sed -i 's/^VmSwap:.*/VmSwap:\t0 kB/' "$BATS_TEST_TMPDIR/root/proc/100/status"
	PGSCAN_DISABLE=exact_counters run_pgscan swapmap --root="$BATS_TEST_TMPDIR/root" -a --json
	jq_is '[.rows[] | [.pid, .anon]]' '[[100,8]]'
	jq_is '.summary | [.anon_slots, .unaccounted]' '[8,0]'
	# Else a glance at it has to do
	run_pgscan swapmap --root="$BATS_TEST_TMPDIR/root" -a --json
	jq_is '.rows' '[]'
}

@test "cached pages hold slots: each frame once, and not where a relative has the slot" {
	swapmap_fixture swap-forked -a
	jq_is '.summary | [.used, .anon_slots, .shmem_slots, .swap_cache_slots, .unaccounted, .swap_cached]' \
		'[10,6,0,2,2,4]'
	# By frames that is an estimate, and what is left with it
	jq_is '.summary | [.swap_cache_reserved, .swap_cache_estimated]' '[null,true]'
	swapmap_fixture swap-forked --by=device
	jq_is '.rows[0] | [.anon, .shmem, .cached, .other]' '[6,0,2,2]'
	jq_true '.rows[0].note | endswith("cached is an estimate")'
}

@test "cgroups: two processes of one are one owner" {
	local root=$BATS_TEST_TMPDIR/root
	"$FIXTURES/build" swap-forked "$root"
	mkdir -p "$root/proc/self" "$root/sys/fs/cgroup/memory/jobs/one"
	echo '33 32 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory' |
		tee "$root/proc/self/mountinfo" >"$root/proc/1-mountinfo"
	echo 40960 >"$root/sys/fs/cgroup/memory/jobs/one/memory.memsw.usage_in_bytes"
	run_pgscan swapmap -a --by=cgroup --json --root="$root"
	jq_is '[.rows[] | [.cgroup, .processes, .anon, .pswap, .uswap]]' '[["/jobs/one",2,6,6,6]]'
}

@test "rows that are not in address order can be sorted and cut" {
	swapmap_fixture swap-forked -a --sort=uswap --top=1
	jq_is '.rows | length' 1
	swapmap_fixture swap-forked --by=vma --sort=pages 101
	jq_is '[.rows[].pages]' '[2,2]'
}

@test "TSV has as many fields on every line, whatever is null" {
	local root=$BATS_TEST_TMPDIR/root by
	"$FIXTURES/build" swap-gap "$root"
	for by in process vma run page device object; do
		run_pgscan swapmap -a --by=$by --format=tsv --root="$root"
		[[ $(awk -F '\t' '{ print NF }' "$out" | sort -u | wc -l) == 1 ]]
	done
}
