# SPDX-License-Identifier: GPL-2.0-only
# The experiment of linux-mm in July 2021, "pagemap: swap location for shared pages": what the kernel's
# own pagemap says of shared and of private pages that were swapped out.

# Variables of the target and of the library, which shellcheck does not see come
# shellcheck disable=SC2030,SC2031,SC2154

load ../lib.bash

teardown() {
	guest_teardown
}

# 256 pages, all written, in a cgroup that holds half of them
start_in_512k() {
	cg_new experiment 512K
	cg_set experiment swappiness 60
	target_start t experiment shmdirty "$@" 256
	read -r present swapped none < <(pagemap_counts "$t_pid" "$t_addr" 256)
	echo "present $present swapped $swapped none $none"
	[[ $((present + swapped + none)) -eq 256 ]]
	[[ $(cg_oom_kills experiment) -eq 0 ]]
}

@test "swapped pages of shared memory read as never touched: zram" {
	swap_zram 64M
	start_in_512k -k shared
	[[ $swapped -eq 0 && $none -gt 64 ]]
}

@test "swapped pages of shared memory read as never touched: disk" {
	swap_disk 0
	start_in_512k -k shared
	[[ $swapped -eq 0 && $none -gt 64 ]]
}

@test "hexdump shows zeros for them" {
	swap_zram 64M
	start_in_512k -k shared
	pagemap_raw "$t_pid" "$t_addr" 256 | hexdump -C >"$BATS_TEST_TMPDIR/dump"
	cat "$BATS_TEST_TMPDIR/dump"
	# Bit 55, the 80 of the seventh byte, is the mapping's VM_SOFTDIRTY
	grep -qE ' 00 00 00 00 00 00 (00|80) 00 ' "$BATS_TEST_TMPDIR/dump"
}

@test "so do memfd, SysV and a file in tmpfs" {
	local kind
	swap_zram 64M
	cg_new kinds 512K
	for kind in memfd sysv "file -f /tmp/experiment"; do
		# shellcheck disable=SC2086 # options
		target_start t kinds shmdirty -k $kind 256
		read -r present swapped none < <(pagemap_counts "$t_pid" "$t_addr" 256)
		echo "$kind: present $present swapped $swapped none $none"
		[[ $swapped -eq 0 && $none -gt 64 && $((present + none)) -eq 256 ]]
		target_stop t
	done
	rm /tmp/experiment
}

@test "private memory keeps its swap entries, and the device holds the pages there" {
	local right
	swap_disk 0
	start_in_512k -k private -s 7
	[[ $swapped -gt 64 && $none -eq 0 ]]
	swap_settle
	pagemap_slots "$t_pid" "$t_addr" 256 0 >"$BATS_TEST_TMPDIR/slots"
	[[ $(wc -l <"$BATS_TEST_TMPDIR/slots") -eq $swapped ]]
	right=$("$PGSCAN_TARGETS/slotcheck" -s 7 "$swap_device" <"$BATS_TEST_TMPDIR/slots")
	echo "$right"
	[[ $right == "right $swapped wrong 0" ]]
}

@test "the pages come back whole" {
	swap_zram 64M
	start_in_512k -k shared
	target_say t sum
	[[ $reply == "sum 0" ]]
}
