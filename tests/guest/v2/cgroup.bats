# SPDX-License-Identifier: GPL-2.0-only
# The processes of cgroups that only v2 has.

# Variables of the libraries, which shellcheck does not see come
# shellcheck disable=SC2154

load ../lib

# pids CGROUP: the processes that dump finds in it, as a JSON list
pids() {
	run_pgscan dump --by=vma --json --cgroup="$1"
	jq -c '[.rows[].pid] | unique' "$out"
}

@test "a threaded cgroup does not list its processes, and they are found" {
	cg_new domain
	mkdir "$CG_ROOT/domain/threads"
	defer rmdir "$CG_ROOT/domain/threads"
	echo threaded >"$CG_ROOT/domain/threads/cgroup.type"
	target_start --cgroup domain anon pages=16 write=all
	[[ $(pids domain) == "[$TARGET]" ]]
	echo "$TARGET" >"$CG_ROOT/domain/threads/cgroup.threads"
	# That is why: the kernel does not say it here.
	! cat "$CG_ROOT/domain/threads/cgroup.procs" 2>"$BATS_TEST_TMPDIR/why" || false
	grep -q 'not supported' "$BATS_TEST_TMPDIR/why"
	[[ $(pids domain/threads) == "[$TARGET]" ]]
	# In the domain the process is listed, and again as its thread below: once.
	[[ $(pids domain) == "[$TARGET]" ]]
	target_stop
}

@test "children count, and a path is understood in each of its forms" {
	cg_new parent
	mkdir "$CG_ROOT/parent/child"
	defer cg_remove parent/child
	target_start --cgroup parent/child anon pages=16 write=all
	[[ $(pids parent) == "[$TARGET]" ]]
	[[ $(pids /parent/child) == "[$TARGET]" ]]
	[[ $(pids /sys/fs/cgroup/parent/child/) == "[$TARGET]" ]]
	run_pgscan 1 dump --cgroup=parent/children
	[[ $stderr == *"in '/parent' there is 'child'"* ]]
}
