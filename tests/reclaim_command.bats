#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# reclaim-report -- COMMAND: the command gets what it would have got, its cgroup is as asked for, and
# nothing of it is left behind.

load lib/common

setup() {
	common_setup
	hierarchy=$(memory_cgroup_v1)
	hierarchy=${hierarchy:-$(memory_cgroup_v2)}
}

teardown() {
	common_teardown
	[[ -z ${elsewhere:-} ]] || remove "$elsewhere"
	left=$(made_cgroups)
	[[ -z $left ]] || fail "left behind: $left"
}

# remove CGROUP: once the last process is gone from it.
remove() {
	local i

	for ((i = 0; i < 100; i++)); do
		! rmdir "$1" 2>/dev/null || return 0
		sleep 0.05
	done
	fail "cannot remove $1, with: $(<"$1/cgroup.procs")"
}

made_cgroups() {
	[[ -z $hierarchy ]] || find "$hierarchy" -type d -name 'pgscan-[0-9]*' 2>/dev/null
}

# made_comms: the names of the processes in them.
made_comms() {
	local group pid

	for group in $(made_cgroups); do
		while read -r pid; do
			cat "/proc/$pid/comm" 2>/dev/null || true
		done <"$group/cgroup.procs"
	done
}

# needs_cgroups: may a memory cgroup be made here? Found out without pgscan. Sets own, where it is.
needs_cgroups() {
	[[ -n $hierarchy ]] || skip "no memory controller"
	if [[ -n $(memory_cgroup_v1) ]]; then
		own=$hierarchy$(awk -F: '$2 ~ /(^|,)memory(,|$)/ { print $3 }' /proc/self/cgroup)
	else
		own=$hierarchy$(awk -F: '$1 == 0 { print $3 }' /proc/self/cgroup)
		while [[ $own != "$hierarchy" && $own != "$hierarchy/" ]] &&
			! grep -qw memory "$own/cgroup.subtree_control"; do
			own=${own%/*}
		done
	fi
	mkdir "$own/tests-probe" 2>/dev/null || skip "no cgroup can be made in $own"
	rmdir "$own/tests-probe"
}

# in_background ARGS...: pgscan, with SIGINT as it is by default and not ignored as in a background job.
in_background() {
	env --default-signal=INT "$PGSCAN" reclaim-report --json "$@" >"$out" 2>"$err" 3>&- &
	background=$!
}

# stop SIGNAL: and wait for the end, into $status.
stop() {
	kill -"$1" "$background"
	status=0
	wait "$background" || status=$?
}

@test "command: its status is ours, and its output is its own" {
	run_pgscan 7 reclaim-report --json --output-file="$BATS_TEST_TMPDIR/report" -- \
		sh -c 'echo hello; exit 7'
	[[ $output == hello ]]
	mv "$BATS_TEST_TMPDIR/report" "$out"
	jq_is '[.summary.command, .summary.status, .complete]' '["sh",7,true]'
	run_pgscan 0 reclaim-report -- true
	run_pgscan 143 reclaim-report --json -- sh -c 'kill $$'
	jq_is .summary.status 143
	run_pgscan 127 reclaim-report -- nothing-of-this-name
	[[ $stderr == *"cannot execute 'nothing-of-this-name'"* ]]
	run_pgscan 126 reclaim-report -- /etc/passwd
}

@test "command: options after it are the command's, and limits need one" {
	run_pgscan 0 reclaim-report --json --output-file=/dev/null -- echo --limit=x -j
	[[ $output == "--limit=x -j" ]]
	run_pgscan 2 reclaim-report --limit=10M
	run_pgscan 2 reclaim-report true
	[[ $stderr == *"behind '--'"* ]]
	run_pgscan 2 reclaim-report --
	[[ $stderr == *"no command behind '--'"* ]]
	run_pgscan 2 reclaim-report --limit=lots -- true
	run_pgscan 2 reclaim-report --swappiness=201 -- true
	run_pgscan 2 reclaim-report -c 3 -- true
	run_pgscan 2 reclaim-report --root=/ -- true
}

@test "command: processes named before it are not taken for it" {
	run_pgscan 0 reclaim-report --json --output-file="$BATS_TEST_TMPDIR/report" $$ -- echo a b
	[[ $output == "a b" ]]
	mv "$BATS_TEST_TMPDIR/report" "$out"
	jq_is '[.rows[] | select(.name == "uses_tags") | .pid] | unique' "[$$]"
}

@test "command: it has the cgroup, the limit and the standard input" {
	needs_cgroups
	run_pgscan 0 reclaim-report --json --limit=64M --output-file="$BATS_TEST_TMPDIR/report" -- \
		sh -c 'cat /proc/self/cgroup'
	[[ $output == */pgscan-* ]]
	mv "$BATS_TEST_TMPDIR/report" "$out"
	jq_is .summary.limit_bytes 67108864
	jq_is '[.rows[] | select(.section == "cgroup" and .name == "limit") | .value]' '[67108864]'
	jq_true '.summary.peak_bytes == null or .summary.peak_bytes > 0'
	# run_checked gives it an empty input; this one does not.
	[[ $(echo word | "$PGSCAN" reclaim-report --output-file=/dev/null -- cat) == word ]]
}

@test "command: a limit without swap has it killed, and the report says so" {
	needs_cgroups
	(($(wc -l </proc/swaps) == 1)) || skip "this machine has swap"
	run_pgscan 137 reclaim-report --json --limit=8M -- "$BUILD/targets/anon" pages=16384 write=all
	jq_is '[.summary.verdict, .summary.cgroup_oom_kills]' '["out of memory",1]'
	jq_true '.summary.cgroup_max_events > 0'
}

@test "command: on v1 a swap limit is beside the memory limit" {
	requires cgroup:v1
	needs_cgroups
	[[ -e $hierarchy/memory.memsw.limit_in_bytes ]] || skip "no cgroup can be made in v1 with a swap limit"
	run_pgscan 0 reclaim-report --json --limit=64M --swap-limit=32M --swappiness=13 -- true
	jq_is '[.rows[] | select(.section == "cgroup" and .name == "swap_limit") | .value]' '[33554432]'
	jq_is .summary.swappiness 13
	run_pgscan 2 reclaim-report --swap-limit=32M -- true
	[[ $stderr == *"a swap limit needs a memory limit"* ]]
}

@test "command: processes that it leaves go on, outside of the cgroup" {
	needs_cgroups
	local pid

	run_pgscan 0 reclaim-report --json --output-file="$BATS_TEST_TMPDIR/report" -- \
		sh -c 'sleep 1000 >/dev/null 2>&1 & echo $!'
	pid=$output
	[[ $stderr == *"left 1 process running, which goes on outside of its cgroup: $pid"* ]]
	kill -0 "$pid"
	[[ $(<"/proc/$pid/cgroup") != *pgscan-* ]]
	kill -KILL "$pid"
	mv "$BATS_TEST_TMPDIR/report" "$out"
	jq_is .summary.left_processes 1
}

@test "command: cgroups that it makes below its own go too" {
	requires cgroup:v1
	needs_cgroups
	# shellcheck disable=SC2016 # the inner shell's
	run_pgscan 0 reclaim-report --json -- sh -c '
		own='"$hierarchy"'$(awk -F: "\$2 == \"memory\" { print \$3 }" /proc/self/cgroup)
		mkdir -p $own/a/b && echo $$ >$own/a/b/cgroup.procs'
}

# What the summary has of the cgroup, and of the processes in it.
of_cgroup='[.summary | .peak_bytes, .cgroup_major_faults, .cgroup_max_events, .cgroup_oom_kills,
	.end_usage_bytes, .end_swap_bytes, .swappiness, .left_processes]'

@test "command: the figures are its own as long as it is in its cgroup" {
	needs_cgroups
	run_pgscan 0 reclaim-report --json --swappiness="$(</proc/sys/vm/swappiness)" -- true
	jq_is '[.summary.in_cgroup, .summary.in_cgroup_why, .complete]' '[true,null,true]'
	jq_true "$of_cgroup | all(type == \"number\")"
	jq_is '[.rows[] | select(.section == "cgroup" and .name == "usage") | .reason]' '[null]'
}

@test "command: one that goes to another cgroup is said to have, and what is not its own is null" {
	needs_cgroups
	elsewhere=$own/tests-elsewhere
	mkdir "$elsewhere"
	run_pgscan 0 reclaim-report --json --limit=64M -- sh -c "echo \$\$ >$elsewhere/cgroup.procs"
	[[ $stderr == *"has left its cgroup for '"*"/tests-elsewhere'"* ]] || fail "$stderr"
	jq_is '[.summary.in_cgroup, .complete]' '[false,false]'
	jq_true '.summary.in_cgroup_why | endswith("/tests-elsewhere'"'"'")'
	jq_true '[.errors[].what | select(test("/tests-elsewhere"))] | length == 1'
	jq_is "$of_cgroup | unique" '[null]'
	jq_true '[.rows[] | select(.section == "cgroup" and .value != null) | .reason] | unique ==
		["the command has left this cgroup"]'

	run_pgscan 0 reclaim-report -- sh -c "echo \$\$ >$elsewhere/cgroup.procs"
	[[ $output == *$'\n'" "*"the command has left this cgroup"$'\n'* ]] || fail "$output"
	[[ $(grep in_cgroup_why <<<"$output") == *"/tests-elsewhere"* ]]
}

@test "command: one that comes back has left all the same, and who has ended elsewhere is not taken for there" {
	needs_cgroups
	local fifo=$BATS_TEST_TMPDIR/fifo

	elsewhere=$own/tests-elsewhere
	mkdir "$elsewhere"
	mkfifo "$fifo"
	# The file is written at the end alone: a sample is seen by its warning.
	in_background -i 0.05 -- sh -c "
		home=\$(find '$own' -type d -name 'pgscan-[0-9]*')
		echo \$\$ >$elsewhere/cgroup.procs
		read -r go <$fifo
		echo \$\$ >\$home/cgroup.procs"
	until grep -q 'has left its cgroup' "$err"; do sleep 0.02; done
	echo go >"$fifo"
	wait "$background"
	jq_is '[.summary.in_cgroup, .summary.cgroup_oom_kills]' '[false,null]'

	# Without a last look v1 does not tell where one was that has ended.
	requires root
	setpriv --bounding-set=-sys_ptrace "$PGSCAN" reclaim-report --json -- \
		sh -c "echo \$\$ >$elsewhere/cgroup.procs" >"$out" 2>"$err"
	jq_true '.summary | .in_cgroup != true and .in_cgroup_why != null'
}

@test "command: a second signal kills it elsewhere, too" {
	needs_cgroups
	local fifo=$BATS_TEST_TMPDIR/fifo

	elsewhere=$own/tests-elsewhere
	mkdir "$elsewhere"
	mkfifo "$fifo"
	in_background -- sh -c "echo \$\$ >$elsewhere/cgroup.procs; trap '' TERM; echo up >$fifo
		while :; do sleep 0.1; done"
	read -r <"$fifo"
	kill -TERM "$background"
	sleep 0.2
	stop TERM
	((status == 137)) || fail "status $status"
}

@test "command: SIGTERM is passed on, and a second signal kills all of it" {
	needs_cgroups
	local fifo=$BATS_TEST_TMPDIR/fifo

	mkfifo "$fifo"
	in_background -- sh -c 'trap "exit 9" TERM; echo up >'"$fifo"'; while :; do sleep 0.1; done'
	read -r <"$fifo"
	stop TERM
	((status == 9)) || fail "status $status"
	jq_is .summary.status 9

	# shellcheck disable=SC2016 # the inner shell's
	in_background -- sh -c 'trap "" TERM; sleep 1000 & trap "echo again >$0" TERM; echo up >"$0"
		while :; do sleep 0.1; done' "$fifo"
	read -r <"$fifo"
	kill -TERM "$background"
	read -r <"$fifo"
	stop TERM
	((status == 137)) || fail "status $status"
	jq_is .summary.status 137
}

@test "command: what it leaves after a signal is killed" {
	needs_cgroups
	local fifo=$BATS_TEST_TMPDIR/fifo pid stat i

	mkfifo "$fifo"
	in_background -- sh -c 'trap "exit 0" TERM; sleep 1000 & echo $! >'"$fifo"'; while :; do sleep 0.1; done'
	read -r pid <"$fifo"
	stop TERM
	((status == 0)) || fail "status $status"
	[[ $(<"$err") == *"killed: "*"$pid"* ]]
	# It may be on its way out, and may go between two looks.
	for ((i = 0; i < 100; i++)); do
		stat=$(cat "/proc/$pid/stat" 2>/dev/null) || return 0
		[[ $stat != *") "[ZX]" "* ]] || return 0
		sleep 0.05
	done
	fail "it lives: $stat"
}

@test "command: SIGINT ends it, with its report" {
	needs_cgroups
	local fifo=$BATS_TEST_TMPDIR/fifo

	mkfifo "$fifo"
	in_background -i 0.1 -- sh -c 'echo up >'"$fifo"'; exec sleep 1000'
	read -r <"$fifo"
	stop INT
	((status == 130)) || fail "status $status"
	jq_is '[.summary.status, .complete]' '[130,true]'
}

@test "command: many runs, a quarter of them interrupted, leave no cgroup behind" {
	requires plain
	needs_cgroups
	local i pid times=40

	[[ -z ${SLOW:-} ]] || times=200
	for ((i = 0; i < times; i++)); do
		if ((i % 4)); then
			"$PGSCAN" reclaim-report -q --limit=32M --output-file=/dev/null -- true
		else
			env --default-signal=INT "$PGSCAN" reclaim-report -q --output-file=/dev/null -- \
				sh -c 'sleep 1000 & exec sleep 1000' 3>&- &
			pid=$!
			# SIGTERM at any moment. SIGINT once the command's shell is out of the way: it catches
			# SIGINT, and one that comes just before its exec is lost with it.
			until_pgscan "$pid"
			if ((i % 8)); then
				kill -TERM "$pid"
			else
				until [[ $(made_comms) == $'sleep\nsleep' ]]; do :; done
				kill -INT "$pid"
			fi
			wait "$pid" || true
		fi
	done
	[[ -z $(made_cgroups) ]]
}

@test "command: it has the capabilities of the caller, and none of pgscan's" {
	requires root tool:capsh tool:setpriv
	local copy=$BATS_TEST_TMPDIR/pgscan want got

	# Root's command is root's.
	want=$(grep Cap /proc/self/status)
	got=$("$PGSCAN" reclaim-report -q --output-file=/dev/null -- grep Cap /proc/self/status)
	[[ $got == "$want" ]] || fail "$want" "$got"
	# With file capabilities, an ordinary user's is an ordinary user's.
	requires plain
	chmod 755 "$BATS_TEST_TMPDIR"
	cp "$PGSCAN" "$copy"
	setcap cap_sys_admin,cap_sys_ptrace+p "$copy" || skip "no file capabilities on this file system"
	exec {fd}<"$copy"
	want=$(as_nobody grep Cap /proc/self/status)
	got=$(as_nobody "/proc/self/fd/$fd" reclaim-report -q --output-file=/dev/null -- \
		grep Cap /proc/self/status)
	exec {fd}<&-
	[[ $got == "$want" ]] || fail "$want" "$got"
}

@test "command: ignored signals and the signal mask are the caller's" {
	local want got

	want=$(grep -E 'Sig(Blk|Ign)' /proc/self/status)
	got=$("$PGSCAN" reclaim-report -q --output-file=/dev/null -- grep -E 'Sig(Blk|Ign)' /proc/self/status)
	[[ $got == "$want" ]] || fail "$want" "$got"
}

@test "command: descriptors that run short are said to have" {
	local nr

	requires plain
	needs_cgroups
	for nr in {4..12}; do
		with_descriptors "$nr" reclaim-report --limit=10M -- true
		((status == 0)) || [[ $status:$stderr == 1:*"Too many open files"* ]] ||
			fail "$nr descriptors: status $status, $stderr"
	done
	((status == 0)) || fail "12 are too few: $stderr"
}

@test "command: a file is written whole or not at all" {
	echo old >"$BATS_TEST_TMPDIR/report"
	ln "$BATS_TEST_TMPDIR/report" "$BATS_TEST_TMPDIR/link"
	run_pgscan 2 reclaim-report --output-file="$BATS_TEST_TMPDIR/report" --limit=x -- true
	[[ $(<"$BATS_TEST_TMPDIR/report") == old ]]
	run_pgscan 0 reclaim-report -j -i 0.1 -c 1 --output-file="$BATS_TEST_TMPDIR/report"
	# A new file, not the old one with new words in it.
	[[ $(<"$BATS_TEST_TMPDIR/link") == old && -z $output ]]
	jq -e .complete "$BATS_TEST_TMPDIR/report"
	[[ $(ls "$BATS_TEST_TMPDIR") != *report.* ]]
	run_pgscan 1 reclaim-report --output-file="$BATS_TEST_TMPDIR/no/report" -i 0.1 -c 1
	[[ $stderr == *"cannot write"* ]]
}

@test "command: a report that cannot be written is no success, and takes no file's place" {
	local report=$BATS_TEST_TMPDIR/report

	status=0
	"$PGSCAN" reclaim-report -- true >/dev/full 2>"$err" || status=$?
	[[ $status == 1 && $(<"$err") == *"No space left"* ]] || fail "status $status, $(<"$err")"
	status=0
	"$PGSCAN" reclaim-report -- sh -c 'exit 7' >/dev/full 2>"$err" || status=$?
	((status == 7)) || fail "status $status"

	echo old >"$report"
	status=0
	(
		ulimit -f 4 # KiB; over it SIGXFSZ kills who does not expect it
		"$PGSCAN" reclaim-report --json --output-file="$report" -- true
	) 2>"$err" || status=$?
	[[ $status == 1 && $(<"$err") == *"File too large"* ]] || fail "status $status, $(<"$err")"
	[[ $(<"$report") == old ]]
	[[ $(ls "$BATS_TEST_TMPDIR") != *report.* ]]
}

@test "command: SIGQUIT ends it as SIGTERM does, and no cgroup stays" {
	needs_cgroups
	local fifo=$BATS_TEST_TMPDIR/fifo

	mkfifo "$fifo"
	env --default-signal=QUIT "$PGSCAN" reclaim-report --json -- \
		sh -c 'ulimit -c 0; echo up >'"$fifo"'; exec sleep 1000' >"$out" 2>"$err" 3>&- &
	background=$!
	read -r <"$fifo"
	stop QUIT
	((status == 131)) || fail "status $status"
	jq_is '[.summary.status, .complete]' '[131,true]'
}
