# SPDX-License-Identifier: GPL-2.0-only
# pgscan swapmap on memory that is in swap, with the module and without it.

# Variables of the libraries, which shellcheck does not see come
# shellcheck disable=SC2030,SC2031,SC2154

load ../lib

# Start a target in a cgroup of its own and have reclaim take out all it can, mapped twice or not
swap_out_target() {
	[[ -d $CG_ROOT/swapmap ]] || cg_new swapmap
	target_start --cgroup swapmap "$@"
	cg_reclaim swapmap $((64 << 20))
}

# "START SLOT" of the pages that the view shows, with its device
located() {
	jq -r --arg device "$swap_device" '.rows[] | select(.swap_device == $device) |
		"\(.start) \(.swap_offset)"' "$out"
}

# Each page of shared memory of every kind: its slot is on that device, and holds it
every_kind_is_there() {
	local kind
	for kind in anon memfd sysv tmpfs; do
		swap_out_target shm "kind=$kind" pages=256 write=all
		states shm
		[[ $none -gt 128 ]]
		run_pgscan swapmap --by=page --json -r "$(region shm)" "$TARGET"
		jq_is '.rows | length' "$none"
		jq_is '[.rows[] | .kind, .owners, .swap_type, .note] | unique' '[null,0,1,"shmem"]'
		located | holds "$swap_device" "$none"
		target_stop
	done
}

@test "shared memory of every kind: device and slot of each page, and the page is there, on a disk" {
	requires module
	swap_disk 0
	every_kind_is_there
}

@test "shared memory of every kind: the same on zram" {
	requires module
	swap_zram 64M
	every_kind_is_there
}

@test "private memory: device and slot of each page, and the page is there" {
	swap_disk 0
	swap_out_target anon pages=256 write=all
	states anon
	[[ $swapped -gt 128 ]]
	run_pgscan swapmap --by=page --json -r "$(region anon)" "$TARGET"
	jq_is '.rows | length' "$swapped"
	located | holds "$swap_device" "$swapped"
	run_pgscan swapmap --by=run --json -r "$(region anon)" "$TARGET"
	jq_is '[.rows[].pages] | add' "$swapped"
	jq -r '.rows[] | range(.pages) as $i | "\(.start) \(.pages) \($i) \(.swap_offset + $i)"' "$out" |
		while read -r start _ i slot; do
			printf '0x%x %d\n' $((start + i * PAGE_SIZE)) "$slot"
		done | holds "$swap_device" "$swapped"
}

@test "without the module shared pages are in swap at an unknown place" {
	local kind
	swap_zram 64M
	for kind in anon memfd sysv tmpfs; do
		swap_out_target shm "kind=$kind" pages=256 write=all
		states shm
		[[ $none -gt 128 ]]
		run_pgscan swapmap --kmod=off --kcore=off --by=vma --json -r "$(region shm)" "$TARGET"
		jq_is '[.rows[] | .pages, .swap_type, .swap_device, .swap_offset, .owners]' \
			"[$none,null,null,null,1]"
		jq_is '.rows[0].note' '"location needs the module or kernel memory"'
		target_stop
	done
}

@test "holes are not in swap, whatever the size" {
	local kmod
	swap_zram 64M
	swap_out_target shm kind=memfd pages=262144 write=0-9
	for kmod in auto off; do
		run_pgscan swapmap --kmod=$kmod --by=process --json "$TARGET"
		jq_is '.rows[0].shmem' 10
	done
}

@test "anonymous and shared pages are told apart, and anonymous ones are VmSwap" {
	swap_zram 64M
	swap_out_target anon pages=100 write=all
	run_pgscan swapmap --by=process --json "$TARGET"
	jq_is '.rows[0].anon * 4' "$(awk '$1 == "VmSwap:" { print $2 }' "/proc/$TARGET/status")"
	jq_is '.rows[0].shmem' 0
	jq_true '.rows[0] | .anon >= 100 and .total == .anon and .uswap == .anon and .pswap == .anon'
	# In one process: VmSwap leaves shared memory out
	swap_out_target shm kind=memfd pages=200 write=all
	run_pgscan swapmap --by=process --json "$TARGET"
	jq_is '.rows[0].anon * 4' "$(awk '$1 == "VmSwap:" { print $2 }' "/proc/$TARGET/status")"
	jq_is '.rows[0].shmem' 200
	jq_true '.rows[0] | .anon > 0 and .total == .anon + 200'
}

@test "a few pages in swap are found, whatever the process's counters hide" {
	swap_zram 64M
	swap_out_target anon pages=5 write=all
	states anon
	[[ $swapped -eq 5 ]]
	run_pgscan swapmap --by=process --json -r "$(region anon)" "$TARGET"
	jq_is '.rows[0].anon' 5
	PGSCAN_DISABLE=exact_counters run_pgscan swapmap --by=process --json -r "$(region anon)" "$TARGET"
	jq_is '.rows[0].anon' 5
}

@test "shared by four processes: each holds all, a quarter of it is its own" {
	local kmod
	swap_zram 64M
	swap_out_target shm kind=memfd pages=64 write=all children=3
	for kmod in auto off; do
		# shellcheck disable=SC2046 # words
		run_pgscan swapmap --kmod=$kmod --by=process --json -V '/memfd:*' "$TARGET" $(children)
		jq_is '[.rows[] | .shmem, .pswap, .uswap] | unique' '[0,16,64]'
		jq_is '.rows | length' 4
		jq_is '.summary.shmem_slots' 64
		jq_is '.summary.shmem' 256
		# The other three count, though they are not shown
		run_pgscan swapmap --kmod=$kmod --by=process --json -V '/memfd:*' "$TARGET"
		jq_is '.rows[0] | [.shmem, .pswap, .uswap]' '[64,16,0]'
	done
}

@test "forked private memory: one slot, four owners" {
	swap_disk 0
	swap_out_target anon pages=64 write=all children=3
	states anon
	[[ $swapped -eq 64 ]]
	# shellcheck disable=SC2046 # words
	run_pgscan swapmap --by=process --json -r "$(region anon)" "$TARGET" $(children)
	jq_is '[.rows[] | .anon, .pswap, .uswap] | unique' '[0,16,64]'
	jq_is '.summary | [.anon, .anon_slots]' '[256,64]'
	run_pgscan swapmap --by=run --json -r "$(region anon)" "$TARGET"
	jq_is '[.rows[].owners] | unique' '[4]'
	# One of them writes: its page is its own again, the slot has an owner less
	target_cmd write anon 0-9
	run_pgscan swapmap --by=process --json -r "$(region anon)" "$TARGET"
	jq_is '.rows[0] | [.anon, .pswap]' '[54,13.5]'
}

@test "processes that have the very same memory: what it has in swap is counted once" {
	local first

	swap_disk 0
	swap_out_target anon pages=64 write=all sharers=2
	states anon
	((swapped > 32))
	# shellcheck disable=SC2046 # words are meant
	run_pgscan swapmap --by=process --json -r "$(region anon)" "$TARGET" $(children)
	first=$(jq '.rows[0].pid' "$out")
	jq_is '[.rows[] | [.anon, .pswap, .uswap]]' \
		"[[$swapped,$swapped,$swapped],[null,null,null],[null,null,null]]"
	jq_is '[.rows[1:][].note] | unique' "[\"has the memory of process $first\"]"
	jq_is '.summary.anon_slots' "$swapped"
	# shellcheck disable=SC2046 # a word is meant
	run_pgscan swapmap --by=run --json -r "$(region anon)" $(children | sed -n 2p)
	jq_is '[.rows[] | .pages] | add' "$swapped"
	jq_is '[.rows[] | .owners] | unique' '[1]'
}

@test "a process that has lost its first thread owns its slots still" {
	local process task

	swap_disk 0
	swap_out_target anon pages=64 write=all headless=1
	process=$TARGET
	for task in "/proc/$process/task"/*; do
		TARGET=${task##*/} # the last is the one that is left
	done
	states anon
	TARGET=$process
	((swapped > 32))
	run_pgscan swapmap --by=run --json -r "$(region anon)" "$TARGET"
	jq_is '[.rows[].pages] | add' "$swapped"
	run_pgscan swapmap -a --json -r "$(region anon)"
	jq_is "[.rows[] | select(.pid == $TARGET)][0] | [.anon, .uswap]" "[$swapped,$swapped]"
}

@test "a private mapping of shared memory: its copies have slots of their own" {
	requires module
	swap_zram 64M
	swap_out_target shm kind=memfd pages=64 write=all private=0-15
	run_pgscan swapmap --by=run --json -r "$(region private)" "$TARGET"
	jq_is '[.rows[] | select(.kind == "anon").pages] | add' 16
	jq_is '[.rows[] | select(.kind == "shmem").pages] | add' 48
	run_pgscan swapmap --by=process --json "$TARGET"
	# 64 of the object, and 48 of them once more through the private mapping
	jq_is '.rows[0].shmem' 112
	jq_is '.summary.shmem_slots' 64
}

@test "an ordinary user sees how many, not where" {
	swap_zram 64M
	cg_new swapmap
	target_start --nobody anon pages=64 write=all
	wait_for out_of_memory anon all
	run_as_nobody swapmap --by=vma --json -r "$(region anon)" "$TARGET"
	jq_is '[.rows[] | .pages, .swap_type, .swap_device, .swap_offset, .owners]' '[64,null,null,null,null]'
	[[ $stderr == *CAP_SYS_ADMIN* ]]
	run_as_nobody swapmap --by=process --json -r "$(region anon)" "$TARGET"
	jq_is '.rows[0] | [.anon, .pswap, .uswap]' '[64,null,null]'
}

@test "after a swapoff the area is not named by its line" {
	local i devices=()
	for i in 0 1 2; do
		swap_zram 64M $((9 - i))
		devices+=("$swap_device")
	done
	swapoff "${devices[0]}"
	swap_out_target anon pages=64 write=all
	# Pages are on type 1, which is the first line now; only the second could be type 1 as well
	run_pgscan swapmap --by=vma --json -r "$(region anon)" "$TARGET"
	jq_is '.rows[0].swap_type' 1
	jq_true ".rows[0].swap_device | . == null or . == \"${devices[1]}\""
	# The next one takes type 0, and is the first line. A processor goes on where it is to the end of its
	# cluster of 512 slots, whatever the priority ("mm, swap: use percpu cluster as allocation fast path", 6.15)
	swapon -p 20 "${devices[0]}"
	defer swap_off "${devices[0]}"
	target_start --cgroup swapmap anon pages=1100 write=all
	cg_reclaim swapmap $((64 << 20))
	run_pgscan swapmap --by=run --json -r "$(region anon)" "$TARGET"
	jq_is '[.rows[] | select(.swap_type == 0).swap_device] | unique' "[\"${devices[0]}\"]"
}

# An overlay of two layers, the upper one on tmpfs, the lower one on the guest's disk
overlay_on_tmpfs() {
	modprobe overlay 2>/dev/null || grep -qw overlay /proc/filesystems || skip "no overlayfs"
	mkdir -p /mnt/layers /mnt/overlay /mnt/lower
	mount -t tmpfs none /mnt/layers
	defer umount /mnt/layers
	mkdir /mnt/layers/upper /mnt/layers/work
	mount -t overlay -o lowerdir=/mnt/lower,upperdir=/mnt/layers/upper,workdir=/mnt/layers/work \
		none /mnt/overlay
	defer umount /mnt/overlay
}

# What is unknown makes an answer partial.
whole_or_partial() {
	run_pgscan "$@" || run_pgscan 3 "$@"
}

# Which object a mapping is of cannot be told without the module where the kernel shows the overlay's
# inode: the number is null then, and never 0.
@test "files of an overlay that are on tmpfs: in swap, or not known to be, and never untouched" {
	local how swapped
	overlay_on_tmpfs
	swap_disk 0
	cg_new mix
	target_start --cgroup mix shm kind=tmpfs dir=/mnt/overlay pages=256 write=all
	cg_reclaim mix $((64 << 20))
	states shm
	((none > 128))
	swapped=$none
	for how in "" --kmod=off "--kmod=off --kcore=off"; do
		# shellcheck disable=SC2086 # words
		set -- $how --json
		[[ ! -c /dev/pgscan || -n $how ]] || set -- --kmod=require "$@"
		whole_or_partial dump "$@" -r "$(region shm)" "$TARGET"
		jq_is '[.rows[] | select(.state == "swapped" or .state == null) | .pages] | add' "$swapped"
		whole_or_partial swapmap "$@" --by=process "$TARGET"
		jq_true ".rows[0].shmem | . == $swapped or (. == null and \"$how\" != \"\")"
		whole_or_partial swapmap "$@" -a
		jq_true '.summary | .anon_slots + (.shmem_slots // 0) <= .used'
		whole_or_partial swapmap "$@" --by=object
		jq_true "[.rows[].swapped // 0] | add == $swapped or (. == [] or . == [0])"
	done
	[[ -c /dev/pgscan ]] || return 0
	run_pgscan swapmap --kmod=require --by=object --json
	jq_is '[.rows[] | .kind, .swapped, .mappers]' "[\"tmpfs\",$swapped,1]"
	run_pgscan swapmap --by=page --json -r "$(region shm)" "$TARGET"
	jq -r '.rows[] | "\(.start) \(.swap_offset)"' "$out" | holds "$swap_device" "$swapped"
}

@test "files of an overlay that are on a disk are not in swap, mapped or not" {
	local how pid
	overlay_on_tmpfs
	swap_disk 0
	[[ $(stat -f -c %T /mnt/lower) != tmpfs ]] || skip "no disk here"
	cp "$(type -P bash)" /mnt/lower/shell
	cg_new mix
	target_start --cgroup mix anon pages=64 write=all
	cg_reclaim mix $((64 << 20))
	/mnt/overlay/shell -c 'read -r _' < <(exec sleep 100) 3>&- &
	pid=$!
	defer kill "$pid"
	wait_for grep -q overlay/shell "/proc/$pid/maps"
	echo 1 >/proc/sys/vm/drop_caches
	for how in "" --kmod=off "--kmod=off --kcore=off"; do
		# shellcheck disable=SC2086 # words
		run_pgscan dump $how --json --vma='*/shell' "$pid"
		jq_is '[.rows[] | select(.state != "present" and .state != "none")]' '[]'
		# shellcheck disable=SC2086
		run_pgscan swapmap $how --json --by=process --vma='*/shell' "$pid"
		jq_is '.rows[0].shmem' 0
		# shellcheck disable=SC2086
		run_pgscan dump $how --json --file=/mnt/overlay/shell
		jq_is '[.rows[] | select(.state != "present" and .state != "none")]' '[]'
	done
}

@test "dump --file: of an overlay's file on tmpfs what is not in memory is not known to be nowhere" {
	overlay_on_tmpfs
	swap_disk 0
	cg_new mix
	target_start --cgroup mix shm kind=memfd pages=16
	cg_write() { cg_exec mix dd if=/dev/zero of=/mnt/overlay/file bs=64k count=16; }
	(cg_write) 2>/dev/null
	cg_reclaim mix $((64 << 20))
	run_pgscan dump --json --file=/mnt/layers/upper/file
	swapped=$(jq '.summary.swapped' "$out")
	((swapped > 128))
	run_pgscan 3 dump --json --file=/mnt/overlay/file
	jq_is '[.rows[] | select(.state == null).pages] | add' "$swapped"
	[[ $stderr == *"cannot tell whether pages are in swap"* ]]
}
