# SPDX-License-Identifier: GPL-2.0-only
# What tests in a guest use: swap, memory cgroups of both versions, target programs. Whatever is set up
# by these functions is taken down by guest_teardown, which every file calls from its teardown().
# shellcheck shell=bash

PGSCAN_TARGETS=${PGSCAN_TARGETS:-/pgscan/build/targets}
page_size=4096

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

# wait_for COMMAND...: until it holds, 20 s at most
wait_for() {
	local end=$((SECONDS + 20))
	until "$@"; do
		((SECONDS < end)) || return 1
		sleep 0.1
	done
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

# swap_used [DEVICE]: pages in use, by /proc/swaps
swap_used() {
	awk -v d="${1:-}" 'NR > 1 && (d == "" || $1 == d) { kib += $4 } END { print kib / 4 }' /proc/swaps
}

# Pages that were written out are on the device only when nothing is under writeback any more
writeback_is_over() {
	(($(vmstat nr_writeback) == 0))
}

swap_settle() {
	wait_for writeback_is_over
}

# ---- memory cgroups, by one set of functions for v1 and v2 ----

cg_version() {
	if [[ -e /sys/fs/cgroup/memory/memory.limit_in_bytes || -d /sys/fs/cgroup/memory ]]; then
		echo v1
	else
		echo v2
	fi
}

# cg_path NAME: its folder
cg_path() {
	case $(cg_version) in
	v1) echo "/sys/fs/cgroup/memory/$1" ;;
	v2) echo "/sys/fs/cgroup/$1" ;;
	esac
}

# cg_set NAME WHAT VALUE: limit and swappiness. Cgroup v2 has one swappiness for the whole machine.
cg_set() {
	local path
	path=$(cg_path "$1")
	case $(cg_version).$2 in
	v1.limit) echo "$3" >"$path/memory.limit_in_bytes" ;;
	v2.limit) echo "${3/#-1/max}" >"$path/memory.max" ;;
	v1.swappiness) echo "$3" >"$path/memory.swappiness" ;;
	v2.swappiness) set_file /proc/sys/vm/swappiness "$3" ;;
	*) return 1 ;;
	esac
}

# cg_new NAME [LIMIT]
cg_new() {
	mkdir "$(cg_path "$1")" || return 1
	defer cg_remove "$1"
	[[ -z ${2:-} ]] || cg_set "$1" limit "$2"
}

# Its processes are killed: a target that a failed test has left behind must not outlive the test
cg_remove() {
	local path pid
	path=$(cg_path "$1")
	[[ -d $path ]] || return 0
	while read -r pid; do
		kill -KILL "$pid" 2>/dev/null
	done <"$path/cgroup.procs"
	wait_for rmdir "$path" 2>/dev/null
}

# cg_run NAME COMMAND...: in that cgroup from its first page on
cg_run() {
	local path
	path=$(cg_path "$1")
	shift
	(
		echo "$BASHPID" >"$path/cgroup.procs" || exit 1
		exec "$@"
	)
}

# cg_reclaim NAME BYTES: ask for as much. v1 has no such file: the limit is lowered for a moment.
cg_reclaim() {
	local path limit usage
	path=$(cg_path "$1")
	case $(cg_version) in
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

# cg_oom_kills NAME
cg_oom_kills() {
	local path
	path=$(cg_path "$1")
	cat "$path/memory.events" "$path/memory.oom_control" 2>/dev/null |
		awk '$1 == "oom_kill" { print $2 }'
}

# ---- targets ----

# target_start NAME CGROUP PROGRAM ARG...: start one of $PGSCAN_TARGETS in that cgroup ("-": none), and
# wait until it says "ready". What it says before, words KEY=VALUE, become variables NAME_KEY;
# NAME_pid is its process.
target_start() {
	local name=$1 cgroup=$2 program=$PGSCAN_TARGETS/$3 dir line word pid
	local -n in=target_in_$1 out=target_out_$1
	shift 3
	dir=$(mktemp -d)
	mkfifo "$dir/in" "$dir/out"
	if [[ $cgroup == - ]]; then
		"$program" "$@" <"$dir/in" >"$dir/out" 3>&- &
	else
		cg_run "$cgroup" "$program" "$@" <"$dir/in" >"$dir/out" 3>&- &
	fi
	pid=$!
	exec {in}>"$dir/in" {out}<"$dir/out"
	rm -r "$dir"
	printf -v "${name}_pid" %s "$pid"
	defer target_stop "$name"
	while read -r -t 60 -u "$out" line; do
		[[ $line != ready ]] || return 0
		for word in $line; do
			[[ $word != *=* ]] || printf -v "${name}_${word%%=*}" %s "${word#*=}"
		done
	done
	echo "$program did not get ready" >&2
	return 1
}

# target_say NAME COMMAND...: its answer is in $reply then
# shellcheck disable=SC2034 # for the caller
target_say() {
	local -n in=target_in_$1 out=target_out_$1
	shift
	echo "$*" >&"$in"
	read -r -t 60 -u "$out" reply
}

# target_stop NAME: end it by the end of its input, and wait
target_stop() {
	local -n in=target_in_$1 out=target_out_$1 pid=$1_pid
	[[ -n ${in:-} ]] || return 0
	exec {in}>&- {out}<&-
	in=
	wait "$pid" 2>/dev/null || true
}

# ---- pagemap by hand, as a second opinion ----

# pagemap_raw PID ADDR PAGES: the entries, as they are
pagemap_raw() {
	dd if="/proc/$1/pagemap" ibs=8 skip=$(($2 / page_size)) count="$3" status=none
}

# pagemap_counts PID ADDR PAGES: "PRESENT SWAPPED NONE", by bits 63 and 62 alone. Not "is it 0": where
# soft-dirty is built in, bit 55 of an empty entry is the mapping's (VM_SOFTDIRTY).
pagemap_counts() {
	pagemap_raw "$@" | hexdump -v -e '1/8 "%016x\n"' | awk '
		/^[89a-f]/ { present++; next }
		/^[4-7]/ { swapped++; next }
		{ none++ }
		END { print present + 0, swapped + 0, none + 0 }'
}

# pagemap_slots PID ADDR PAGES TYPE: "INDEX OFFSET" of the pages with a swap entry of that type
pagemap_slots() {
	local type=$4
	pagemap_raw "$1" "$2" "$3" | od -An -v -tu8 -w8 | {
		local entry index=0
		while read -r entry; do
			# bash has no unsigned shift: the mask drops what the sign brings in
			entry=$((entry))
			if (((entry >> 62 & 3) == 1 && (entry & 31) == type)); then
				echo "$index $((entry >> 5 & 0x3ffffffffffff))"
			fi
			index=$((index + 1))
		done
	}
}
