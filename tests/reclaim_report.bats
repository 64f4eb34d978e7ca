#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# reclaim-report: the figures of fixtures are those that they were made with, an interval is what
# changed in it, and the live ones agree with the kernel's files read by hand.

# jq has variables of its own:
# shellcheck disable=SC2016

load lib/common

setup() {
	common_setup
	tree=$BATS_TEST_TMPDIR/tree
	sampler=
}

teardown() {
	[[ -z $sampler ]] || kill -KILL "$sampler" 2>/dev/null || true
	common_teardown
}

# value SECTION NAME JQ-CONDITION FIELD VALUE: the field of the one row that matches.
value() {
	jq_is "[.rows[] | select(.section == \"$1\" and .name == \"$2\" and ($3)) | .$4]" "[$5]"
}

# of_all: rows that are not divided by anything.
of_all='.actor == null and .kind == null and .cgroup == null and .device == null'

# start_sampling ARGS...: run it on $tree in the background, as JSON lines on descriptor $samples.
start_sampling() {
	mkfifo "$BATS_TEST_TMPDIR/samples"
	exec {samples}<>"$BATS_TEST_TMPDIR/samples"
	"$PGSCAN" reclaim-report --root="$tree" -f jsonl "$@" >&"$samples" 2>"$err" 3>&- &
	sampler=$!
}

# next_sample: the rows of the next sample into $out, as a document's rows. The last row of each is
# that of the cost of counting free blocks.
next_sample() {
	local line

	: >"$out.rows"
	while read -r -t 30 -u "$samples" line; do
		echo "$line" >>"$out.rows"
		[[ $line != *'"section":"reporting","name":"counting"'* ]] || break
	done
	jq -s '{rows: .}' "$out.rows" >"$out"
}

# set_counters NAME=VALUE...: in the tree's vmstat, all at one instant.
set_counters() {
	awk -v list="$*" 'BEGIN { n = split(list, a, "[ =]"); for (i = 1; i < n; i += 2) to[a[i]] = a[i + 1] }
		{ print $1, $1 in to ? to[$1] : $2 }' "$tree/proc/vmstat" >"$BATS_TEST_TMPDIR/vmstat"
	mv "$BATS_TEST_TMPDIR/vmstat" "$tree/proc/vmstat"
}

# next_change: samples, up to one in which a counter of the rates moved.
next_change() {
	local i

	for ((i = 0; i < 50; i++)); do
		next_sample
		! jq -e '[.rows[] | select(.delta != null and .delta > 0)] | length > 0' "$out" >/dev/null ||
			return 0
	done
	fail "nothing changed"
}

# stop_sampling: and the summary, as a document, into $out. Bash has its background jobs ignore
# SIGINT, and pgscan respects that.
stop_sampling() {
	kill -TERM "$sampler"
	timeout 30 sed '/"summary"/q' <&"$samples" | tail -n 1 >"$out"
	status=0
	wait "$sampler" || status=$?
	((status == 3)) || fail "status $status"
}

# ---- the document ----------------------------------------------------------------------------

@test "reclaim-report: every row has the same keys, each of one type" {
	run_pgscan reclaim-report --json -i 0.1 -c 2
	jq_is '[.rows[] | keys_unsorted] | unique | length' 1
	jq_is '[.rows[].section] | unique' '["psi","rates","reporting","swap","writeback"]'
	jq_is '[.rows[].sample] | unique' '[1,2]'
	jq_true 'all(.rows[]; (.value | type | IN("number", "null")) and (.reason | type |
		IN("string", "null")) and (.unit | type) == "string")'
	# What is null has a reason.
	jq_true 'all(.rows[]; .value != null or .percent != null or .reason != null)'
	# Nothing is there twice.
	jq_true '[.rows[] | [.sample, .section, .name, .cgroup, .device, .actor, .kind, .node, .zone, .order]] |
		length == (unique | length)'
	jq_true '.summary.samples == 2 and .complete and .summary.elapsed_s >= 0.2'
}

@test "reclaim-report: jsonl ends with the summary, tsv has one number of fields" {
	run_pgscan reclaim-report -f jsonl -i 0.1 -c 1
	jq -es 'last.complete and (.[0] | has("section"))' "$out"
	run_pgscan reclaim-report -f tsv -i 0.1 -c 1
	[[ $(awk -F '\t' '{ print NF }' "$out" | sort -u | wc -l) == 1 ]]
}

@test "reclaim-report: only the sections asked for" {
	run_pgscan reclaim-report --json -i 0.1 -c 1 --section=psi,swap
	jq_is '[.rows[].section] | unique' '["psi","swap"]'
	run_pgscan 2 reclaim-report --section=rates,nonsense
	[[ $stderr == *"'nonsense' is not one of rates, psi, cgroup,"* ]]
	run_pgscan 2 reclaim-report --section=rates -g /
	run_pgscan 2 reclaim-report -i 0
	run_pgscan 2 reclaim-report -c 0
	run_pgscan 2 reclaim-report --sort=size
}

# ---- fixtures: kernels -----------------------------------------------------------------------

@test "reclaim-report: scanned is the sum of the actors, on every kernel" {
	local kernel
	local -A scanned=([3.10]=1500 [4.18]=1500 [5.8]=1500 [5.15]=1500 [6.1]=1500 [6.12]=1540
		[6.18]=1600 [7.3]=3600)
	local -A reclaimed=([3.10]=1200 [4.18]=1200 [5.8]=1200 [5.15]=1200 [6.1]=1200 [6.12]=1230
		[6.18]=1280 [7.3]=2780)

	for kernel in "${!scanned[@]}"; do
		run_pgscan reclaim-report --json --root="$FIXTURES/vmstat-$kernel"
		value rates scanned "$of_all" value "${scanned[$kernel]}"
		value rates reclaimed "$of_all" value "${reclaimed[$kernel]}"
		value rates swap_out "$of_all" value 9000
		value rates stalls "$of_all" value 42
		value rates throttled "$of_all" value 6
		jq_is '.kernel' "\"$kernel.0-test\""
		jq_true 'all(.rows[]; .percent == null or .name == "zram_ratio" or
			.name == "zswap_ratio" or .percent >= 0 and .percent <= 100)'
	done
}

@test "reclaim-report: refaults are anon and file, or the old single counter" {
	local kernel

	for kernel in 4.18 5.8 5.15 6.18; do
		run_pgscan reclaim-report --json --root="$FIXTURES/vmstat-$kernel"
		value rates refaulted "$of_all" value 1240
	done
	run_pgscan reclaim-report --json --root="$FIXTURES/vmstat-5.8"
	value rates refaulted '.kind == "anon"' value null
	value rates refaulted '.kind == "anon"' reason \
		'"no workingset_refault_anon in /proc/vmstat (Linux 5.9)"'
	run_pgscan reclaim-report --json --root="$FIXTURES/vmstat-3.10"
	value rates refaulted "$of_all" value null
}

@test "reclaim-report: reclaim for the limits of cgroups is what anon and file have beyond the actors" {
	run_pgscan reclaim-report --json --root="$FIXTURES/vmstat-6.18"
	value rates scanned '.actor == "cgroup"' value 2000
	value rates reclaimed '.actor == "cgroup"' value 1500
	value rates efficiency '.actor == "cgroup"' percent 75
	value rates efficiency '.actor == "kswapd"' percent 90
	run_pgscan reclaim-report --json --root="$FIXTURES/vmstat-4.18"
	value rates scanned '.actor == "cgroup"' value null
	# From 7.1 on the actors have it: what they lack is nothing, and says nothing.
	run_pgscan reclaim-report --json --root="$FIXTURES/vmstat-7.3" -g job
	value rates scanned '.actor == "cgroup"' value null
	value rates scanned '.actor == "cgroup"' reason \
		'"counted with the actors (Linux 7.1), as direct mostly"'
	value rates scanned '.actor == "direct"' value 2500
	value cgroup scanned '.actor == null' value 700
	value cgroup scanned '.actor == "direct"' value 600
}

@test "reclaim-report: a tree is read once: totals, and no rate" {
	run_pgscan reclaim-report --json --root="$FIXTURES/vmstat-6.18"
	jq_true '.rows | length > 0 and all(.delta == null and .rate == null and .interval_s == null)'
	jq_is '.summary.elapsed_s' null
	jq_is '.summary.verdict' null
}

@test "reclaim-report: swap areas, zram and zswap" {
	run_pgscan reclaim-report --json --root="$FIXTURES/vmstat-6.1" --section=swap
	value swap size "$of_all" value 262143
	value swap used "$of_all" value 65535
	value swap used '.device == "/dev/vda2"' value 32768
	value swap swap_cache "$of_all" value 321
	value swap zram_data '.device == "/dev/zram0"' value 62914560
	value swap zram_compressed '.device == "/dev/zram0"' value 20971520
	value swap zram_memory '.device == "/dev/zram0"' value 22020096
	value swap zram_same_filled '.device == "/dev/zram0"' value 1024
	value swap zswap_stored "$of_all" value 12582912
	value swap zswap_ratio "$of_all" percent 300
	jq_is '[.rows[] | select(.name == "zram_data") | .device]' '["/dev/zram0"]'
	# A kernel without zswap, and no swap at all: a state.
	cp -r "$FIXTURES/vmstat-4.18" "$tree"
	rm -r "$tree/sys/module"
	sed -i 1q "$tree/proc/swaps"
	run_pgscan reclaim-report --json --root="$tree" --section=swap
	value swap size "$of_all" value 0
	value swap zswap_enabled "$of_all" reason '"this kernel has no zswap"'
}

@test "reclaim-report: a kernel without pressure" {
	run_pgscan reclaim-report --json --root="$FIXTURES/vmstat-4.18" --section=psi
	value psi stalled_some "$of_all" value null
	jq_true 'all(.rows[]; .reason == "no /proc/pressure (Linux 4.20, CONFIG_PSI)")'
	run_pgscan reclaim-report --json --root="$FIXTURES/vmstat-6.1" --section=psi
	value psi stalled_some "$of_all" value 123456
	value psi full_avg10 "$of_all" percent 1.1
}

@test "reclaim-report: text that is not as usual: no blank behind a colon, a pressure file of something else" {
	cp -r "$FIXTURES/memcg-v2" "$tree"
	sed -i 's/:  */:/' "$tree/proc/meminfo"
	echo "cannot be shown" >"$tree/proc/pressure/memory"
	run_pgscan reclaim-report --json --root="$tree" --section=rates,psi,cgroup
	value cgroup usage true value 716800
	value cgroup anon true value 102400
	value rates swap_out "$of_all" value 8
	jq_true '[.rows[] | select(.section == "psi")] | length > 0 and
		all(.value == null and .percent == null and .reason == "the pressure file cannot be read")'
}

@test "reclaim-report: no figure needs tracing, which kernels rename" {
	requires plain tool:strace
	local trace=$BATS_TEST_TMPDIR/trace

	strace -f -o "$trace" "$PGSCAN" reclaim-report --json -i 0.1 -c 1 -g / >"$out" || [[ $? == 4 ]]
	grep -q '"/proc/vmstat"\|"proc/vmstat"' "$trace"
	refute grep -E 'tracing|kprobe|kallsyms|/proc/kcore|perf_event_open\(|bpf\(' "$trace"
}

@test "reclaim-report: no vmstat is a failure of that file, and the rest is whole" {
	cp -r "$FIXTURES/vmstat-6.1" "$tree"
	rm "$tree/proc/vmstat"
	run_pgscan 3 reclaim-report --json --root="$tree"
	jq_is '[.errors[] | [.what, .error]]' '[["/proc/vmstat","ENOENT"]]'
	value psi stalled_some "$of_all" value 123456
}

# ---- fixtures: cgroups -----------------------------------------------------------------------

@test "reclaim-report: a cgroup means the same on v1 and v2" {
	local version

	for version in v1 v2; do
		run_pgscan reclaim-report --json --root="$FIXTURES/memcg-$version" -g job --section=cgroup
		value cgroup usage true value 8388608
		value cgroup swap true value 4194304
		value cgroup anon true value 5242880
		value cgroup file true value 3145728
		value cgroup shmem true value 1048576
		value cgroup peak true value 15728640
		value cgroup max_events true value 77
		value cgroup oom_kills true value 3
		value cgroup refaulted '.kind == null' value 25
		value cgroup major_faults true value 14
		jq_is '[.rows[].cgroup] | unique' '["/job"]'
	done
	# v2:
	value cgroup limit true reason '"no limit"'
	value cgroup swap_limit true value 0
	value cgroup scanned '.actor == null' value 700
	value cgroup scanned '.actor == "direct"' value 600
	value cgroup efficiency '.actor == "kswapd"' percent 90
	value cgroup stalled_full true value 55
	run_pgscan reclaim-report --json --root="$FIXTURES/memcg-v1" -g job --section=cgroup
	value cgroup limit true value 16777216
	value cgroup swap_limit true value 33554432
	value cgroup stalled_some true value null
}

@test "reclaim-report: the root of v2 is the machine, and says so" {
	run_pgscan reclaim-report --json --root="$FIXTURES/memcg-v2" --section=cgroup
	jq_is '[.rows[].cgroup] | unique' '["/"]'
	value cgroup usage true value 716800
	value cgroup usage true reason '"the root cgroup has no file for it: of the machine"'
	value cgroup scanned '.actor == null' value 150
	value cgroup stalled_some true value 99
	value cgroup max_events true value null
}

@test "reclaim-report: cgroups below, the largest first" {
	run_pgscan reclaim-report --json --root="$FIXTURES/memcg-v2" --section=cgroup --recursive
	jq_is '[.rows[] | select(.name == "usage") | .cgroup]' '["/","/job"]'
	run_pgscan reclaim-report --json --root="$FIXTURES/memcg-v2" --recursive --top=1
	jq_is '[.rows[] | select(.name == "usage") | .cgroup]' '["/job"]'
	run_pgscan reclaim-report --json --root="$FIXTURES/memcg-v2" -g job -g / --sort=swap
	jq_is '[.rows[] | select(.name == "usage") | .cgroup]' '["/job","/"]'
}

@test "reclaim-report: a cgroup without swap accounting has unknown swap, not none" {
	local job

	for job in v2:/user.slice mixed:/noswap; do
		rm -rf "$tree"
		cp -r "$FIXTURES/cgroup-${job%%:*}" "$tree"
		cp "$FIXTURES/vmstat-6.1/proc/vmstat" "$tree/proc/"
		run_pgscan reclaim-report --json --root="$tree" -g "${job#*:}" --section=cgroup
		jq_is '[.rows[] | select(.name == "swap" or .name == "swap_limit") | [.value, .reason == null]]' \
			'[[null,false],[null,false]]'
		jq_true '[.rows[] | select(.name == "usage")][0].value > 0'
	done
}

@test "reclaim-report: a cgroup that is not there, and no hierarchy" {
	run_pgscan 1 reclaim-report --root="$FIXTURES/memcg-v2" -g jo
	[[ $stderr == *"no cgroup '/jo'"*"'job'"* && -z $output ]]
	run_pgscan 1 reclaim-report --json --root="$FIXTURES/memcg-v2" -g jo
	jq_is '[.complete, .errors[0].error, (.rows | length)]' '[false,"ENOENT",0]'
	jq -e '.errors[0].what | startswith("no cgroup")' "$out" >/dev/null
	run_pgscan 4 reclaim-report --root="$FIXTURES/cgroup-disabled" -g /
	[[ $stderr == *disabled* && -z $output ]]
}

# ---- pages -----------------------------------------------------------------------------------

@test "reclaim-report: page states and reported blocks, from one walk" {
	"$FIXTURES/build" free-reported "$tree"
	run_pgscan reclaim-report --json --root="$tree" --section=writeback,reporting
	value writeback dirty true value 3
	value writeback pages_dirty true value 3
	value writeback pages_writeback true value 2
	value writeback pages_swap_cache true value 5
	value writeback pages_free true value 2312
	value writeback pages true value 2832
	# The blocks are those of buddyinfo, found again from flags.
	jq_is '[.rows[] | select(.name == "free_blocks" and .value > 0) | [.zone, .order, .value]]' \
		'[["DMA",9,1],["DMA",10,1],["Normal",0,2],["Normal",1,1],["Normal",2,1],["Normal",8,1],["Normal",9,1]]'
	jq_is '[.rows[] | select(.name == "reported_blocks" and .value > 0) | [.zone, .order, .value]]' \
		'[["DMA",10,1],["Normal",9,1]]'
	value reporting reported '.zone == null' value 1536
	value reporting reported_memory '.zone == null' value 6291456
	value reporting free '.zone == null' value 2312
	value reporting negotiated true value 1
	value reporting least_order true value 9
	value reporting pageblock_order true value 9
}

@test "reclaim-report: what is costly is done for sections that are named, and says its cost" {
	"$FIXTURES/build" free-reported "$tree"
	run_pgscan reclaim-report --json --root="$tree"
	value writeback dirty true value 3
	value writeback pages_dirty true reason \
		'"it takes a walk over all pages: asked for by --section=writeback"'
	value reporting free '.zone == "DMA"' value 1536
	value reporting reported '.zone == "DMA"' value null
	run_pgscan reclaim-report --json --root="$tree" --section=reporting
	jq_true '[.rows[] | select(.name == "counting")][0].value >= 0'
}

@test "reclaim-report: no balloon is a state" {
	run_pgscan reclaim-report --json --root="$FIXTURES/vmstat-6.18"
	value reporting balloon true value 0
	value reporting negotiated true reason '"no balloon device"'
	run_pgscan reclaim-report --root="$FIXTURES/vmstat-6.18"
	[[ $output == *"no balloon device"* ]]
}

@test "reclaim-report: without the module the tags are null, with the reason" {
	run_pgscan reclaim-report --json --kmod=off -i 0.1 -c 1 --section=psi $$
	value writeback uses_tags true value null
	value writeback uses_tags true reason '"the module is not there"'
	jq_is "[.rows[] | select(.name == \"uses_tags\") | .pid]" "[$$]"
	[[ -c /dev/pgscan ]] || run_pgscan 4 reclaim-report --kmod=require $$
	PGSCAN_DISABLE=kcore run_pgscan 4 reclaim-report --kcore=require $$
}

@test "reclaim-report: live, the pages walked are those that the kernel counts" {
	requires root plain cap:sys_admin
	local free

	run_pgscan reclaim-report --json -i 0.1 -c 1 --section=writeback,reporting
	free=$(awk '$1 == "nr_free_pages" { print $2 }' /proc/vmstat)
	# Memory moves on a machine that others use: within a tenth.
	jq_true "[.rows[] | select(.name == \"pages_free\")][0].value | . > $free * 0.9 and . < $free * 1.1"
	jq_true '[.rows[] | select(.name == "pages_walk")][0].value > 0'
}

# ---- intervals -------------------------------------------------------------------------------

@test "reclaim-report: an interval is what changed in it; backwards is null" {
	cp -r "$FIXTURES/vmstat-6.18" "$tree"
	start_sampling -i 0.2
	next_sample
	value rates swap_out "$of_all" delta 0
	value rates efficiency "$of_all" reason '"nothing was scanned"'
	set_counters pswpout=10024 pswpin=3999 pgscan_direct=1500 pgsteal_direct=500 pgscan_anon=3100
	next_change
	value rates swap_out "$of_all" delta 1024
	jq_true '[.rows[] | select(.name == "swap_out")][0] |
		(.rate * .interval_s - 1024 | fabs) < 0.001 and
		(.mib_s * .interval_s - 4 | fabs) < 0.00001'
	value rates swap_in "$of_all" delta null
	value rates swap_in "$of_all" rate null
	value rates swap_in "$of_all" value 3999
	value rates swap_in "$of_all" reason '"the counter went backwards"'
	value rates scanned "$of_all" delta 1000
	value rates efficiency '.actor == "direct"' percent 20
	value rates scanned '.actor == "cgroup"' delta 1000
}

@test "reclaim-report: interrupted, it ends with the summary of the whole run" {
	cp -r "$FIXTURES/vmstat-6.18" "$tree"
	start_sampling -i 0.1
	next_sample
	set_counters pswpout=9100
	next_change
	set_counters pswpout=9150
	next_change
	stop_sampling
	jq_is '.complete' false
	jq_is '.summary.swap_out_pages' 150
	jq_true '.summary.samples >= 3'
}

@test "reclaim-report: the verdict names the cause, with its figures" {
	cp -r "$FIXTURES/vmstat-6.18" "$tree"
	start_sampling -i 0.5
	next_sample
	# Half of the pages reclaimed from anon come back, and nobody can run for a second.
	sed -i "s/^full .*/full avg10=9.00 avg60=1.00 avg300=1.00 total=1023456/" \
		"$tree/proc/pressure/memory"
	set_counters pgsteal_anon=2800 workingset_refault_anon=1710
	next_change
	stop_sampling
	jq_is '.summary.verdict' '"thrashing"'
	jq_true '.summary.verdict_text |
		startswith("50 % as many pages as were reclaimed from anon were refaulted")'
}

@test "reclaim-report: refaults without pressure are no thrashing" {
	cp -r "$FIXTURES/vmstat-6.18" "$tree"
	start_sampling -i 0.2
	next_sample
	set_counters pgsteal_anon=2800 pgscan_anon=3100 workingset_refault_anon=1710
	next_change
	stop_sampling
	jq_is '.summary.verdict' '"reclaim"'
}

@test "reclaim-report: a killed process is the verdict whatever else there is" {
	cp -r "$FIXTURES/vmstat-6.18" "$tree"
	start_sampling -i 0.2
	next_sample
	set_counters oom_kill=3 pgscan_kswapd=900000
	next_change
	stop_sampling
	jq_is '[.summary.verdict, .summary.verdict_text]' \
		'["out of memory","1 process was killed for want of memory"]'
}

# ---- for people ------------------------------------------------------------------------------

@test "reclaim-report: a block fits 100 columns, and off a terminal has neither colour nor bars" {
	run_pgscan reclaim-report -i 0.1 -c 3 -g /
	[[ $output == *"pages per s"*kswapd*direct*cgroup* ]]
	(($(wc -L <"$out") <= 100))
	[[ $output != *$'\033'* && $output != *▁* ]]
	run_pgscan reclaim-report --root="$FIXTURES/vmstat-6.18"
	(($(wc -L <"$out") <= 100))
	[[ $output =~ efficiency\ +90\.0\ %\ +60\.0\ %\ +75\.0\ % ]]
}

@test "reclaim-report: bars on a terminal" {
	requires tool:script
	script -qec "$PGSCAN reclaim-report -i 0.1 -c 3 --section=rates" /dev/null >"$out" </dev/null
	grep -q '▁' "$out"
	sed 's/\r//' "$out" >"$out.lf"
	(($(LC_ALL=C.UTF-8 wc -L <"$out.lf") <= 100))
}

@test "reclaim-report: columns make a table of rows" {
	run_pgscan reclaim-report -i 0.1 -c 1 -o section,name,value
	[[ $(head -n 1 "$out") =~ ^SECTION\ +NAME\ +VALUE$ ]]
}

# ---- live ------------------------------------------------------------------------------------

@test "reclaim-report: totals lie between two readings by hand" {
	local key before after

	while read -r _ key; do
		before[${#before[@]}]=$(awk -v key="$key" '$1 == key { print $2 }' /proc/vmstat)
	done <<-END
		swap_out pswpout
		major_faults pgmajfault
	END
	run_pgscan reclaim-report --json -i 0.1 -c 1
	after=$(awk '$1 == "pgmajfault" { print $2 }' /proc/vmstat)
	jq_true "[.rows[] | select(.name == \"major_faults\")][0].value |
		. >= ${before[1]} and . <= $after"
	jq_true "[.rows[] | select(.name == \"swap_out\")][0].value >= ${before[0]}"
	jq_true "[.rows[] | select(.name == \"size\" and .device == null)][0].value ==
		$(awk 'NR > 1 { kb += $3 } END { print kb * 1024 / '"$PAGE_SIZE"' + 0 }' /proc/swaps)"
}

@test "reclaim-report: what is an ordinary user's to read needs no more" {
	run_as_nobody reclaim-report --json -i 0.1 -c 1
	jq_is '.errors' '[]'
	value rates swap_out "$of_all" reason null
}

@test "reclaim-report: a sample takes less than 2 ms of CPU" {
	requires plain
	local ticks

	# Of a run of 200 samples; the clock of times(1) has steps of 10 ms.
	ticks=$( (TIMEFORMAT='%U %S'; time "$PGSCAN" reclaim-report -f jsonl -i 0.005 -c 200 >/dev/null) 2>&1 |
		awk '{ print int(($1 + $2) * 1000) }')
	((ticks < 400)) || fail "200 samples took $ticks ms"
}

@test "a process that is not there, or has no memory, is an error with the module or without" {
	run_pgscan 3 reclaim-report --json -i 0.01 -c 1 --section=psi 4194303
	jq_is '[.errors[].pid, .complete]' '[4194303,false]'
	run_pgscan 3 reclaim-report --json -i 0.01 -c 1 --section=psi 2
	jq_is '[.errors[] | [.pid, .error]]' '[[2,"ESRCH"]]'
}
