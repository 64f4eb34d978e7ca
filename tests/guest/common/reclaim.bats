# SPDX-License-Identifier: GPL-2.0-only
# reclaim-report where there is swap: its figures against those read by hand around it, and commands
# in cgroups of either version.

# Variables of the libraries, which shellcheck does not see come
# shellcheck disable=SC2030,SC2031,SC2154

load ../lib

# value NAME CONDITION FIELD: the field of the one row that matches
value() {
	jq -r "[.rows[] | select(.name == \"$1\" and ($2))] | if length == 1 then .[0].$3 else \"rows: \(length)\" end" \
		"$out"
}

# near ONE OTHER PERCENT
near() {
	awk -v a="$1" -v b="$2" -v p="$3" 'BEGIN { d = a > b ? a - b : b - a; exit !(d * 100 <= b * p) }' ||
		fail "$1 is not within $3 % of $2"
}

# run_around [STATUS] ARGS...: run_pgscan reclaim-report, with its report in $out in the end and not mixed
# with what the command prints
run_around() {
	local want=0

	if [[ $1 =~ ^[0-9]+$ ]]; then
		want=$1
		shift
	fi
	run_pgscan "$want" reclaim-report --json --output-file="$BATS_TEST_TMPDIR/report" "$@"
	mv "$BATS_TEST_TMPDIR/report" "$out"
}

no_cgroup_left() {
	[[ -z $(find /sys/fs/cgroup -type d -name 'pgscan-*') ]]
}

# scanned_by ACTOR: of the machine, in the interval
scanned_by() {
	value scanned ".section == \"rates\" and .actor == \"$1\"" delta
}

# Eight sequential writers, each larger than what all of them may have, as vm-scalability's swap-w-seq
# shellcheck disable=SC2016 # of sh, not ours
writers='for i in 1 2 3 4 5 6 7 8; do "$0" pages=6144 write=all </dev/null >/dev/null & done; wait'

@test "reclaim-report: sequential writers: swap-out is what pswpout says" {
	local before after

	swap_zram 256M
	before=$(vmstat pswpout)
	run_around --limit=16M -- sh -c "$writers" "$BUILD/targets/anon"
	after=$(vmstat pswpout)
	cp "$out" /out/reclaim-writers.json
	((after - before > 8000)) || fail "only $((after - before)) pages were swapped out"
	near "$(jq .summary.swap_out_pages "$out")" $((after - before)) 1
	near "$(jq '.summary.swap_out_mib_s * .summary.elapsed_s * 256' "$out")" $((after - before)) 1
	jq_true 'all(.rows[] | select(.name == "efficiency" and .percent != null);
		.percent >= 0 and .percent <= 100)'
	jq_true '.summary.peak_bytes == null or .summary.peak_bytes <= 16777216'
	jq_true '.summary.left_processes == 0 and .summary.cgroup_oom_kills == 0'
	# The limit of a cgroup had it reclaimed. That is no actor of the machine, where the kernel tells;
	# or (7.1, where the counters are those of nodes) it is direct reclaim, and cannot be told.
	if grep -qs '^pgscan_kswapd ' /sys/devices/system/node/node0/vmstat; then
		[[ $(scanned_by cgroup) == null ]]
		(($(scanned_by direct) > 8000))
	elif [[ -n $(vmstat pgscan_anon) ]]; then
		(($(scanned_by cgroup) > 8000))
	fi
	no_cgroup_left
}

@test "reclaim-report: what is used of an area is what /proc/swaps says" {
	swap_zram 64M 10
	swap_disk 0 5
	cg_new used 8M
	target_start --cgroup used anon pages=4096 write=all
	swap_settle
	run_pgscan reclaim-report --json -i 0.2 -c 1
	while read -r device _ size used _; do
		[[ $(value size ".device == \"$device\"" value) == $((size / 4)) ]]
		[[ $(value used ".device == \"$device\"" value) == $((used / 4)) ]]
	done < <(tail -n +2 /proc/swaps)
	(($(value used '.device == null' value) > 1000))
	# zram's own numbers
	zram=$(awk '/zram/ { sub(".*/", "", $1); print $1 }' /proc/swaps)
	read -r data compressed memory _ </sys/block/"$zram"/mm_stat
	[[ $(value zram_data true value) == "$data" ]]
	[[ $(value zram_compressed true value) == "$compressed" ]]
	[[ $(value zram_memory true value) == "$memory" ]]
}

@test "reclaim-report: a cgroup's figures are those of its files" {
	swap_zram 64M
	cg_new figures 8M
	target_start --cgroup figures anon pages=4096 write=all
	swap_settle
	run_pgscan reclaim-report --json -i 0.1 -c 1 -g figures
	case $CG_VERSION in
	v1)
		usage=$(<"$CG_ROOT/figures/memory.usage_in_bytes")
		swap=$(awk '$1 == "total_swap" { print $2 }' "$CG_ROOT/figures/memory.stat")
		;;
	v2)
		usage=$(<"$CG_ROOT/figures/memory.current")
		swap=$(<"$CG_ROOT/figures/memory.swap.current")
		[[ $(value scanned '.cgroup == "/figures" and .actor == null' value) == \
			$(awk '$1 == "pgscan" { print $2 }' "$CG_ROOT/figures/memory.stat") ]]
		(($(value stalled_some '.cgroup == "/figures"' value) >= 0))
		;;
	esac
	[[ $(value usage '.cgroup == "/figures"' value) == "$usage" ]]
	[[ $(value swap '.cgroup == "/figures"' value) == "$swap" ]]
	((swap > 4 << 20))
	[[ $(value limit '.cgroup == "/figures"' value) == 8388608 ]]
}

@test "reclaim-report: the experiment around its target, with no set-up" {
	swap_zram 64M
	run_around --limit=512K --swappiness=60 -- \
		"$BUILD/targets/shm" kind=anon pages=256 write=all
	cp "$out" /out/reclaim-experiment.json
	jq_is '[.summary.status, .summary.swappiness, .summary.limit_bytes]' '[0,60,524288]'
	# The last look before it ends: shared pages in swap, and in the cgroup's account.
	jq_true '.summary.end_swap_shmem_pages > 64 and .summary.end_swap_shmem_pages <= 256'
	jq_true '.summary.end_swap_bytes >= .summary.end_swap_shmem_pages * 4096'
	jq_true '.summary.end_usage_bytes <= 524288'
	jq_true '.summary.swap_out_pages > 64'
	no_cgroup_left
}

@test "reclaim-report: private pages at the end are anonymous swap" {
	swap_zram 64M
	run_around --limit=1M -- "$BUILD/targets/anon" pages=1024 write=all
	jq_true '.summary.end_swap_anon_pages > 700 and .summary.end_swap_shmem_pages == 0'
}

@test "reclaim-report: swap beside the memory: the two limits mean the same on v1 and v2" {
	swap_zram 64M
	[[ $CG_VERSION == v2 || -e $CG_ROOT/memory.memsw.limit_in_bytes ]] || skip "no swap accounting"
	# 4 MiB in 2 and 4; and killed in 2 and 1.
	run_around --limit=2M --swap-limit=4M -- "$BUILD/targets/anon" pages=1024 write=all
	[[ $(value swap_limit true value) == 4194304 ]]
	run_around 137 --limit=2M --swap-limit=1M -- \
		"$BUILD/targets/anon" pages=1024 write=all
	jq_true '.summary.cgroup_oom_kills >= 1 and .summary.verdict == "out of memory"'
	no_cgroup_left
}

@test "reclaim-report: a command in another cgroup is not taken for one in its own" {
	cg_new elsewhere
	run_around -- sh -c "echo \$\$ >$CG_ROOT/elsewhere/cgroup.procs"
	jq_is '[.summary | .in_cgroup, .in_cgroup_why, .peak_bytes, .end_usage_bytes]' \
		"[false,\"it was in '/elsewhere'\",null,null]"
	# Without a last look: v2 goes on to tell of one that has ended, v1 does not.
	setpriv --bounding-set=-sys_ptrace "$PGSCAN" reclaim-report --json -- \
		sh -c "echo \$\$ >$CG_ROOT/elsewhere/cgroup.procs" >"$out"
	[[ $CG_VERSION == v2 ]] || jq_is .summary.in_cgroup null
	[[ $CG_VERSION == v1 ]] || jq_is .summary.in_cgroup false
	setpriv --bounding-set=-sys_ptrace "$PGSCAN" reclaim-report --json -- true >"$out"
	[[ $CG_VERSION == v2 ]] || jq_is .summary.in_cgroup null
	[[ $CG_VERSION == v1 ]] || jq_is .summary.in_cgroup true
	jq_true '.summary.end_usage_bytes == null and .summary.cgroup_oom_kills == 0'
	no_cgroup_left
}

@test "reclaim-report: many runs, a quarter of them ended by a signal, leave no cgroup" {
	local i pid times=60

	[[ -z ${SLOW:-} ]] || times=200
	for ((i = 0; i < times; i++)); do
		if ((i % 4)); then
			"$PGSCAN" reclaim-report -q --limit=32M --output-file=/dev/null -- true
		else
			"$PGSCAN" reclaim-report -q --output-file=/dev/null -- \
				sh -c 'sleep 1000 & exec sleep 1000' 3>&- &
			pid=$!
			until_pgscan "$pid"
			((i % 8)) || until ! no_cgroup_left; do :; done
			kill -TERM "$pid"
			wait "$pid" || true
		fi
	done
	no_cgroup_left
}

# tags_are PATTERN USES CACHED DIRTY: of the mapping at $mapping, whose name matches
tags_are() {
	local want=("${@:2}") got

	mapfile -t got < <(for name in uses_tags cached tagged_dirty; do
		value "$name" ".start == \"$mapping\" and (.vma | test(\"$1\"))" value
	done)
	[[ ${got[*]} == "${want[*]}" ]] ||
		fail "${got[*]}, not ${want[*]}" "$(grep "$mapping" "$out")" "$(cat "/proc/$TARGET/maps")"
}

@test "reclaim-report: tags of a mapping: dirty when written, clean when synced; none of shared memory" {
	requires module
	local file=/root/tags

	target_start file path="$file" pages=512 shared=0-3
	mapping=$(printf '0x%x' $((ADDR[shared])))
	dd if=/dev/zero of="$file" bs=4096 count=512 conv=notrunc status=none
	run_pgscan reclaim-report --json -i 0.1 -c 1 --section=writeback "$TARGET"
	tags_are tags 1 512 512
	sync "$file"
	run_pgscan reclaim-report --json -i 0.1 -c 1 --section=writeback "$TARGET"
	tags_are tags 1 512 0
	target_stop
	rm "$file"

	target_start shm kind=memfd pages=64 write=all
	mapping=$(printf '0x%x' $((ADDR[shm])))
	run_pgscan reclaim-report --json -i 0.1 -c 1 "$TARGET"
	tags_are memfd 0 64 0
}

# reported: pages that the hypervisor has back, by all means that there are
reported() {
	run_pgscan reclaim-report --json -i 0.1 -c 1 --section=reporting "$@"
	value reported '.zone == null' value
}

# all_reported PAGES: how many are, once it is at least so many and no more come: reports are sent two
# seconds apart, a sixteenth of the free blocks and never less than 32 at a time (page_reporting_cycle()).
all_reported() {
	local now last=-4096 end=$((SECONDS + 90))

	until now=$(reported) && ((now >= $1 && now < last + 4096)); do
		((SECONDS < end)) || fail "$now pages are reported, not $1" || return
		last=$now
		sleep 3
	done
	echo "$now"
}

@test "reclaim-report: what a program frees is reported to the hypervisor" {
	local pages before during after

	modprobe virtio_balloon 2>/dev/null || true
	run_pgscan reclaim-report --json -i 0.1 -c 1 --section=reporting
	[[ $(value negotiated true value) == 1 ]] || skip "no balloon that reports"
	[[ $(value balloon true value) == 1 && $(value offered true value) == 1 ]]
	[[ $(value least_order true value) == "$(</sys/module/page_reporting/parameters/page_reporting_order)" ]]
	pages=$(($(value free '.zone == null' value) * 3 / 4))
	before=$(all_reported "$pages")
	target_start anon pages="$pages" write=all
	during=$(all_reported 0)
	((during < before - pages / 2)) || fail "$during of $before are reported while it is in use"
	mark taken
	target_stop
	# Not all: some of what is free again lies in blocks that are in part in use by others.
	after=$(all_reported $((during + (before - during) * 4 / 5)))
	mark freed
	echo $((after - during)) >/out/reporting # for tests/vm/vm-verdict
	# The module and the walk over all pages count the same on a quiet machine.
	if [[ -c /dev/pgscan ]]; then
		near "$(reported --kmod=off)" "$(reported --kmod=require)" 2
	fi
}
