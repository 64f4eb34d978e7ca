# SPDX-License-Identifier: GPL-2.0-only
# Pages that a swap device has lost: they are poisoned, in no slot, and nobody counts them as swapped.

# Variables of the libraries, which shellcheck does not see come
# shellcheck disable=SC2154

load ../lib

# swap_out TARGET...: its pages are on the disk that cannot read its page 512
swap_out() {
	swap_bad
	cg_new poison
	target_start --cgroup poison "$@" pages=1000 write=all
	cg_reclaim poison $((64 << 20))
}

@test "private memory whose slot swapoff could not read is poisoned" {
	swap_out anon
	states anon
	((swapped > 512))
	swap_off /dev/vdd
	run_pgscan dump --json -r "$(region anon)" "$TARGET"
	jq_is '.summary | [.present, .poisoned, .swapped]' '[999,1,0]'
	jq_is '[.rows[] | select(.state == "poisoned") | [.pages, .swap_type, .swap_offset, .swap_device]]' \
		'[[1,null,null,null]]'
	run_pgscan swapmap --json -r "$(region anon)" "$TARGET"
	jq_is .summary.total 0
}

@test "shared memory whose slot could not be read is poisoned" {
	requires module
	local bad source sources=("--kmod=require --kcore=off")
	[[ ! -e /proc/kcore ]] || sources+=("--kmod=off --kcore=require")
	swap_out shm
	run_pgscan dump --json --by=page -r "$(region shm)" "$TARGET"
	bad=$(jq -er '.rows[] | select(.swap_offset == 512) | .start' "$out")
	# By a read like a debugger's: the target itself would get SIGBUS
	refute dd if="/proc/$TARGET/mem" of=/dev/null bs=4096 count=1 skip=$((bad / PAGE_SIZE))
	for source in "${sources[@]}"; do
		# shellcheck disable=SC2086 # two options
		run_pgscan dump --json $source -r "$(region shm)" "$TARGET"
		jq_is '[.rows[] | select(.state == "poisoned") | [.start, .pages, .swap_type, .swap_offset]]' \
			"[[\"$bad\",1,null,null]]"
		swapped=$(jq '.summary | .swapped + .swap_cache' "$out")
		# shellcheck disable=SC2086 # two options
		run_pgscan swapmap --json $source "$TARGET"
		jq_is .summary.shmem "$swapped"
	done
}

@test "shared memory that swapoff could not read is poisoned, when no area is left, too" {
	local source
	swap_out shm
	swap_off /dev/vdd
	for source in "" "${slot_sources[@]}"; do
		for view in run vma; do
			# shellcheck disable=SC2086 # options, or none
			run_pgscan dump --json --by=$view $source -r "$(region shm)" "$TARGET"
			jq_is '.summary | [.poisoned, .swapped, .none, .unknown]' '[1,0,999,0]'
		done
		jq_is '.rows[0] | [.cached, .other]' '[999,1]'
	done
	# The file behind the mapping says that it is not in memory, and it cannot be in swap
	run_pgscan 3 dump --json --kmod=off --kcore=off -r "$(region shm)" "$TARGET"
	jq_is '.summary | [.poisoned, .swapped, .none, .unknown]' '[0,0,999,1]'
	jq_true '.errors[0].what | contains("no swap is in use")'
	# Nor with an area that nothing is in
	swap_zram 64M
	run_pgscan 3 dump --json --kmod=off --kcore=off -r "$(region shm)" "$TARGET"
	jq_is '.summary | [.swapped, .unknown]' '[0,1]'
	jq_is '[.rows[] | select(.state == null) | [.pages, .cached]]' '[[1,null]]'
}
