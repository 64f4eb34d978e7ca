# SPDX-License-Identifier: GPL-2.0-only
# The experiment of linux-mm in July 2021, "pagemap: swap location for shared pages": what the kernel's
# own page map says of shared and of private pages that were swapped out, and what pgscan says.

# Variables of the libraries, which shellcheck does not see come
# shellcheck disable=SC2030,SC2031,SC2154

load ../lib

# 256 pages, all written, in a cgroup that holds half of them. Swap is on zram here, where a limit never ends
# in an OOM kill, unless the kernel itself takes more memory than others: the matrix says how much it gets.
start_in_512k() {
	cg_new experiment "${EXPERIMENT_LIMIT:-512K}"
	cg_set experiment swappiness 60
	target_start --cgroup experiment "$@" pages=256 write=all
	[[ $(cg_oom_kills experiment) -eq 0 ]]
}

# What is seen of shared memory: no entry for what is swapped
is_half_gone() {
	states shm
	[[ $swapped -eq 0 && $none -gt 64 && $((present + none)) -eq 256 ]]
}

hexdump_of_pagemap() {
	dd if="/proc/$TARGET/pagemap" ibs=8 skip=$((ADDR[$1] / PAGE_SIZE)) count=256 status=none |
		hexdump -C
}

@test "swapped pages of shared memory read as never touched" {
	swap_zram 64M
	start_in_512k shm kind=anon
	is_half_gone
	# Bit 55, the 80 of the seventh byte, is the mapping's VM_SOFTDIRTY
	hexdump_of_pagemap shm | tee /out/experiment | grep -qE ' 00 00 00 00 00 00 (00|80) 00 '
}

@test "so do memfd, SysV and a file in tmpfs, swapped to a disk" {
	local kind
	swap_disk 0
	cg_new kinds
	for kind in memfd sysv tmpfs; do
		target_start --cgroup kinds shm "kind=$kind" pages=256 write=all
		wait_for half_gone kinds shm
		is_half_gone
		target_stop
	done
}

@test "private memory keeps its swap entries, and the device holds the pages there" {
	swap_zram 64M
	start_in_512k anon
	states anon
	[[ $swapped -gt 64 && $none -eq 0 ]]
	slots anon | holds "$swap_device" "$swapped"
}

@test "pgscan dump shows the same bytes without the module and kernel memory" {
	swap_zram 64M
	start_in_512k shm kind=anon
	is_half_gone
	run_pgscan dump --kmod=off --kcore=off --format=hex -r "$(region shm)" "$TARGET"
	diff <(hexdump_of_pagemap shm) "$out"
	run_pgscan dump --kmod=off --kcore=off --by=vma --json -r "$(region shm)" "$TARGET"
	jq_is '[.rows[] | .present, .swapped, .none]' "[$present,$none,0]"
}

@test "pgscan dump shows where shared pages are swapped, and the device holds them there" {
	requires module
	local kind
	swap_disk 0
	cg_new kinds
	for kind in anon memfd sysv tmpfs; do
		target_start --cgroup kinds shm "kind=$kind" pages=256 write=all
		wait_for half_gone kinds shm
		is_half_gone
		run_pgscan dump --by=page --format=tsv -o start,state,swap_offset -r "$(region shm)" "$TARGET"
		awk '$2 == "swapped" { print $1, $3 }' "$out" >"$BATS_TEST_TMPDIR/slots"
		holds "$swap_device" "$none" <"$BATS_TEST_TMPDIR/slots"
		target_stop
	done
}

@test "pgscan's hexdump differs from the kernel's in the swapped pages alone" {
	requires module
	swap_zram 64M
	start_in_512k shm kind=anon
	is_half_gone
	run_pgscan dump --format=raw -r "$(region shm)" "$TARGET"
	od -An -v -tx8 -w8 "$out" >"$BATS_TEST_TMPDIR/ours"
	"$BUILD/tools/pmref" -w "$TARGET" "${ADDR[shm]}" 256 | od -An -v -tx8 -w8 >"$BATS_TEST_TMPDIR/theirs"
	paste "$BATS_TEST_TMPDIR/ours" "$BATS_TEST_TMPDIR/theirs" | awk -v none="$none" '
		$1 != $2 && !($1 ~ /^[4-7]/ && $2 ~ /^00[08]0*$/) { print; bad = 1 }
		$1 ~ /^[4-7]/ { swapped++ }
		END { exit bad || swapped != none }'
}
