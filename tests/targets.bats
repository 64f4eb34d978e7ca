#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The programs that the other tests look at: each has the memory it promises, by the independent
# reader. When one of these fails, look no further.

load lib/common

# states NAME: how many pages of the region are in which state, as "none 48 present 16".
states() {
	"$BUILD/tools/pmref" -s "$TARGET" "${ADDR[$1]}" "${PAGES[$1]}" |
		awk '{ n[$2]++ } END { for (s in n) print s, n[s] }' | sort | xargs
}

@test "anon: written, zero and untouched pages" {
	requires kfeat:pagemap
	target_start anon pages=64 write=0-15 read=16-31
	[[ $(states anon) == "none 32 present 32" ]]
	target_cmd write anon 40-63/2
	[[ $(states anon) == "none 20 present 44" ]]
	target_cmd dontneed anon all
	[[ $(states anon) == "none 64" ]]
}

@test "anon: huge pages" {
	requires kfeat:thp
	target_start anon huge=2
	[[ $(states huge) == "present 1024" ]]
	grep -qE '^AnonHugePages: +4096 kB' "/proc/$TARGET/smaps"
}

@test "shm: each kind of object, a second and a private mapping" {
	requires kfeat:pagemap
	local kind

	for kind in memfd anon sysv tmpfs; do
		target_start shm "kind=$kind" pages=16 write=0-3
		[[ $(states shm) == "none 12 present 4" ]]
	done
	target_start shm kind=memfd pages=16 write=0-3 second=1 private=2-9
	[[ $(states second) == "none 15" ]]
	[[ $(states private) == "none 8 present 8" ]]
}

@test "file: pages touched and copied on write" {
	requires kfeat:pagemap
	target_start file "path=$BATS_TEST_TMPDIR/file" pages=32 cached=0-15 shared=0-3 private=8-9
	[[ $(states shared) == "none 28 present 4" ]]
	[[ $(states private) == "none 30 present 2" ]]
}

@test "uffd: protected pages hold markers where nothing was" {
	requires kfeat:uffd_wp_async kfeat:pfn
	target_start uffd
	[[ $(states uffd) == "present 8 uffd_wp_marker 8" ]]
}

@test "guard: a guard page among written ones" {
	requires kfeat:guard
	target_start guard
	[[ $(states guard) == "guard 1 present 3" ]]
}

@test "bouncer: pages stay present while their frames change" {
	requires kfeat:pfn
	local before

	target_start bouncer pages=32
	target_cmd rounds
	before=$ANSWER
	while target_cmd rounds; ((ANSWER < before + 10)); do
		[[ $(states bouncer) == "present 32" ]]
	done
}

@test "as nobody: a target of an ordinary user" {
	requires root
	target_start --nobody anon write=0
	[[ $(stat -c %u "/proc/$TARGET") == 65534 ]]
}
