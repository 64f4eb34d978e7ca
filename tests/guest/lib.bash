# SPDX-License-Identifier: GPL-2.0-only
# What tests in a guest use beside lib/common.bash: swap, and memory cgroups of both versions. Whatever
# these functions set up is taken down after the test.
# shellcheck shell=bash

. "${BASH_SOURCE[0]%/*}/../lib/common.bash"

teardown() {
	common_teardown
	guest_teardown
}

# ---- clean-up ----

# defer COMMAND...: run at guest_teardown, last first
defer() {
	deferred+=("$(printf '%q ' "$@")")
}

guest_teardown() {
	local i
	for ((i = ${#deferred[@]} - 1; i >= 0; i--)); do
		eval "${deferred[i]}" || echo "# teardown: ${deferred[i]}" >&3
	done
	deferred=()
}

# Words that have pgscan ask one source of slots and no other: each source that this kernel has
slot_sources=("--kmod=require --kcore=off")
[[ ! -e /proc/kcore ]] || slot_sources+=("--kmod=off --kcore=require")

# ---- kernel settings ----

# set_file FILE VALUE: write it now, and what was there before at the end
set_file() {
	local old
	old=$(<"$1")
	# "always [madvise] never": the one in brackets
	[[ ! $old =~ \[(.*)\] ]] || old=${BASH_REMATCH[1]}
	echo "$2" >"$1" || return 1
	defer write_file "$1" "$old"
}

write_file() {
	echo "$2" >"$1"
}

# vmstat NAME: that counter of /proc/vmstat
vmstat() {
	awk -v n="$1" '$1 == n { print $2 }' /proc/vmstat
}

# mark WORD: have the host note what memory it gives this guest (tests/vm/vm-run). It does not answer.
mark() {
	echo "pgscan-mark: $1" >/dev/console
	sleep 1
}

# wait_for COMMAND...: until it holds, 20 s at most
wait_for() {
	local end=$((SECONDS + 20))
	until "$@"; do
		((SECONDS < end)) || return 1
		sleep 0.1
	done
}

# out_of_memory REGION LIST: have these pages go, and see that the region has none in memory any more.
# Pages that a processor still holds, on their way to a list, stay (lru_add_drain): ask again, by wait_for.
out_of_memory() {
	target_cmd pageout "$1" "$2"
	states "$1"
	((present == 0))
}

# children: of the current target, one a line
children() {
	tr ' ' '\n' <"/proc/$TARGET/task/$TARGET/children"
}

# huge_shm CGROUP LIST WORDS...: a target that has a file in a tmpfs of huge pages as its region "shm", and has
# written these of its pages, which are huge
huge_shm() {
	echo 1 >/proc/sys/vm/compact_memory # what the tests before have left
	mkdir -p /mnt/huge
	mount -t tmpfs -o huge=always none /mnt/huge || return 1
	defer umount /mnt/huge
	target_start --cgroup "$1" shm kind=tmpfs dir=/mnt/huge "${@:3}"
	target_cmd hugepage shm all
	target_cmd write shm "$2"
	awk '/^ShmemHugePages:/ { exit $2 < 2048 }' /proc/meminfo || fail "no huge page"
}

# huge_swpouts: how many huge pages have been swapped out whole. Nothing where shared ones never are: until
# "mm: shmem: support large folio swap out", 6.12.
huge_swpouts() {
	cat /sys/kernel/mm/transparent_hugepage/hugepages-2048kB/stats/swpout 2>/dev/null || true
}

# half_gone CGROUP REGION: have 64 pages of the cgroup go, and see that of 256 so many are out of memory.
# By request: under a limit, with a disk not as fast as the writer, cgroup v2 does not wait for it, and a
# busy machine's kernel kills.
half_gone() {
	cg_reclaim_once "$1" $((256 << 10))
	states "$2"
	((present < 140))
}

# ---- swap ----

# swap_on DEVICE [PRIORITY]: make it a swap area and use it; its name is in $swap_device then
# shellcheck disable=SC2034 # for the caller
swap_on() {
	mkswap "$1" >/dev/null 2>&1 || return 1
	swapon ${2:+-p "$2"} "$1" || return 1
	swap_device=$1
	defer swap_off "$1"
}

swap_off() {
	! grep -q "^$1 " /proc/swaps || swapoff "$1"
}

# swap_zram SIZE [PRIORITY]: a new zram device
swap_zram() {
	local id
	[[ -e /sys/class/zram-control ]] || modprobe zram num_devices=0 || return 1
	id=$(</sys/class/zram-control/hot_add)
	defer write_file /sys/class/zram-control/hot_remove "$id"
	echo "$1" >"/sys/block/zram$id/disksize" || return 1
	swap_on "/dev/zram$id" "${2:-}"
}

# swap_disk N [PRIORITY]: one of the guest's two disks of 256 MiB, 0 or 1
swap_disk() {
	local disks=(/dev/vdb /dev/vdc)
	swap_on "${disks[$1]}" "${2:-}"
}

# swap_bad: a small disk whose page number 512 cannot be read. Without readahead, which would have the
# pages beside it fail as well.
swap_bad() {
	set_file /proc/sys/vm/page-cluster 0
	swap_on /dev/vdd
}

# swap_used [DEVICE]: pages in use, by /proc/swaps
swap_used() {
	awk -v d="${1:-}" 'NR > 1 && (d == "" || $1 == d) { kib += $4 } END { print kib / 4 }' /proc/swaps
}

# Pages that were written out are on the device only when nothing is under writeback any more
writeback_is_over() {
	# Counters of the CPUs that /proc/vmstat would leave out: up to 125 pages each
	cat /proc/sys/vm/stat_refresh
	(($(vmstat nr_writeback) == 0))
}

swap_settle() {
	wait_for writeback_is_over
}

# ---- memory cgroups, by one set of functions for v1 and v2 ----

# Where the memory controller is; constants, as each process counts in an emulated guest
if [[ -d /sys/fs/cgroup/memory ]]; then
	CG_VERSION=v1 CG_ROOT=/sys/fs/cgroup/memory
else
	CG_VERSION=v2 CG_ROOT=/sys/fs/cgroup
fi

# cg_path NAME: its folder
cg_path() {
	echo "$CG_ROOT/$1"
}

# cg_set NAME WHAT VALUE: limit and swappiness. Cgroup v2 has one swappiness for the whole machine.
cg_set() {
	local path=$CG_ROOT/$1
	case $CG_VERSION.$2 in
	v1.limit) echo "$3" >"$path/memory.limit_in_bytes" ;;
	v2.limit) echo "${3/#-1/max}" >"$path/memory.max" ;;
	v1.swappiness) echo "$3" >"$path/memory.swappiness" ;;
	v2.swappiness) set_file /proc/sys/vm/swappiness "$3" ;;
	*) return 1 ;;
	esac
}

# cg_new NAME [LIMIT]
cg_new() {
	mkdir "$CG_ROOT/$1" || return 1
	defer cg_remove "$1"
	[[ -z ${2:-} ]] || cg_set "$1" limit "$2"
}

# Its processes are killed: a target that a failed test has left behind must not outlive the test
cg_remove() {
	local path=$CG_ROOT/$1 pid
	[[ -d $path ]] || return 0
	while read -r pid; do
		kill -KILL "$pid" 2>/dev/null
	done <"$path/cgroup.procs"
	wait_for rmdir "$path" 2>/dev/null
}

# cg_exec NAME COMMAND...: become that command, in that cgroup from its first page on
cg_exec() {
	local path=$CG_ROOT/$1
	shift
	echo "$BASHPID" >"$path/cgroup.procs" || exit 1
	exec "$@"
}

# v1 has no such file: the limit is lowered for a moment.
cg_reclaim_once() { # NAME BYTES
	local path=$CG_ROOT/$1 limit usage
	case $CG_VERSION in
	v2)
		# EAGAIN when it got fewer
		echo "$2" >"$path/memory.reclaim" 2>/dev/null || true
		;;
	v1)
		limit=$(<"$path/memory.limit_in_bytes")
		usage=$(<"$path/memory.usage_in_bytes")
		echo $((usage > $2 ? usage - $2 : 0)) >"$path/memory.limit_in_bytes" 2>/dev/null || true
		echo "$limit" >"$path/memory.limit_in_bytes"
		;;
	esac
}

cg_usage() { # NAME
	case $CG_VERSION in
	v2) cat "$CG_ROOT/$1/memory.current" ;;
	v1) cat "$CG_ROOT/$1/memory.usage_in_bytes" ;;
	esac
}

# cg_reclaim NAME BYTES: ask for as much, until there is no more to be had. Once is not enough: a page
# that waits in another processor's batch for its LRU list comes there only as the kernel gives up
# (lru_add_drain_all() in the last attempt of memory.reclaim), and its first look at a page that was just
# written only ages it.
cg_reclaim() {
	local round before
	for round in 1 2 3 4 5; do
		before=$(cg_usage "$1")
		cg_reclaim_once "$@"
		((round < 2 || $(cg_usage "$1") < before)) || break
	done
}

# out_of_cache NAME REGION: have reclaim come by again, until when pages that were written out stay in the
# swap cache, and see that it has none of the region any more. By wait_for.
out_of_cache() {
	cg_reclaim "$1" $((64 << 20))
	[[ -e /proc/kcore ]] || return 0
	[[ -z $("$PGSCAN" dump --kmod=off --kcore=require --where=swap_cache --format=tsv --no-header \
		-r "$(region "$2")" "$TARGET") ]]
}

# cg_oom_kills NAME
cg_oom_kills() {
	local path=$CG_ROOT/$1
	cat "$path/memory.events" "$path/memory.oom_control" 2>/dev/null |
		awk '$1 == "oom_kill" { print $2 }'
}

# ---- what lies where ----

# states REGION: sets present, swapped and none to how many of its pages the page map itself calls so. By
# bits, not by "is it 0": where soft-dirty is built in, bit 55 of an empty entry is the mapping's
# (VM_SOFTDIRTY).
# shellcheck disable=SC2034 # for the caller
states() {
	read -r present swapped none < <(
		"$BUILD/tools/pmref" -s "$TARGET" "${ADDR[$1]}" "${PAGES[$1]}" |
			awk '{ n[$2]++ } END { print n["present"] + 0, n["swapped"] + 0, n["none"] + 0 }'
	)
	echo "present $present swapped $swapped none $none"
}

# slots REGION: "ADDRESS OFFSET" of its swapped pages, by the page map
slots() {
	"$BUILD/tools/pmref" -s "$TARGET" "${ADDR[$1]}" "${PAGES[$1]}" |
		awk '$2 == "swapped" { print $1, $5 }'
}

# holds DEVICE PAGES <SLOTS: there are so many slots, and each holds the page it is said to hold
holds() {
	local said
	swap_settle
	said=$("$BUILD/tools/slotcheck" "$TARGET" "$1")
	[[ $said == "right $2 wrong 0" ]] || fail "$1: $said, not $2"
}
