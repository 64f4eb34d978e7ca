#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# dump: cgroups, namespaces and mounts, which decide what there is to see.
# shellcheck disable=SC2016,SC2030,SC2031,SC2153 # tests are subshells; the library sets TARGET, ADDR, PAGES

load lib/common
load lib/dump

teardown() {
	common_teardown
	[[ -z ${GROUP-} || ! -d $GROUP ]] || find "$GROUP" -depth -type d -exec rmdir {} \;
}

# group_make: a memory cgroup of this test's own, GROUP; NAME is its path in the hierarchy.
group_make() {
	local root

	root=$(memory_cgroup_v1)
	[[ -n $root ]] || root=$(memory_cgroup_v2)
	[[ -n $root ]] || skip "no memory controller"
	NAME=/pgscan-test-$BASHPID
	GROUP=$root$NAME
	mkdir "$GROUP" 2>/dev/null || skip "cannot make a cgroup"
}

@test "a target that would be dropped or widened in silence is a usage error" {
	run_pgscan 2 dump --cgroup=
	run_pgscan 2 swapmap --cgroup=
	run_pgscan 2 reclaim-report --cgroup=
	[[ $stderr == *"the root is '/'"* ]]
	run_pgscan 2 dump --cgroup=/ --cgroup=/
	run_pgscan 2 dump --file=/proc/self/exe --file=/proc/self/exe
	run_pgscan 2 dump --pfn=0-1 --pfn=2-3
	run_pgscan 2 dump --where=present --where=huge $$
	run_pgscan 2 swapmap --slot=0:1 --slot=0:2
}

@test "the cgroup of a frame, by its path" {
	requires root kfeat:kpagecgroup
	group_make
	target_start anon pages=64
	echo "$TARGET" >"$GROUP/cgroup.procs"
	target_cmd write anon 0-31
	run_pgscan dump --flags --json --range="$(region anon)" "$TARGET"
	jq_is '[.rows[] | select(.state == "present") | .cgroup] | unique' "[\"$NAME\"]"
}

@test "the cgroup of a frame, when it has been removed since" {
	requires root kfeat:kpagecgroup
	local inode home

	group_make
	target_start anon pages=64
	home=$(sed -n 's/^[0-9]*:memory://p; s/^0:://p' "/proc/$TARGET/cgroup" | head -n 1)
	echo "$TARGET" >"$GROUP/cgroup.procs"
	target_cmd write anon 0-31
	inode=$(stat -c %i "$GROUP")
	# Its pages stay charged to it.
	echo "$TARGET" >"${GROUP%"$NAME"}$home/cgroup.procs"
	rmdir "$GROUP"
	run_pgscan dump --flags --json --range="$(region anon)" "$TARGET"
	# Some kernels give such pages to the parent in the end, a little later.
	jq_is "[.rows[] | select(.state == \"present\") | .cgroup] | unique - [\"gone (inode $inode)\", \"/\"]" '[]'
}

@test "hidepid: only one's own processes are seen, and that is said" {
	requires root tool:unshare
	target_start --nobody shm kind=memfd pages=8 write=0-2
	exec {fd}<"$PGSCAN"
	status=0
	unshare -m bash -c 'mount -t proc -o hidepid=2 proc /proc && exec "$@"' - \
		"${NOBODY[@]}" "/proc/self/fd/$fd" dump -a --json --by=vma --vma='/memfd:pgscan-test*' \
		>"$out" 2>"$err" || status=$?
	exec {fd}<&-
	[[ $status == 3 ]] || fail "status $status" "$(<"$err")"
	jq_true ".rows | any(.pid == $TARGET)"
	jq_is '.complete' false
	jq_true '.errors | length > 0'
	grep -q /proc "$err"
}

# hidden_as_nobody STATUS ARGS...: pgscan as an ordinary user, with a /proc that hides the others.
hidden_as_nobody() {
	local want=$1 fd

	shift
	exec {fd}<"$PGSCAN"
	status=0
	unshare -m bash -c 'mount -t proc -o hidepid=2 proc /proc && exec "$@"' - \
		"${NOBODY[@]}" "/proc/self/fd/$fd" "$@" >"$out" 2>"$err" || status=$?
	exec {fd}<&-
	((status == want)) || fail "$*: status $status" "$(<"$err")"
}

@test "hidepid: of a cgroup too, what is hidden is not left out in silence" {
	local others

	requires root tool:unshare
	group_make
	target_start anon
	others=$TARGET
	target_start --nobody anon
	echo "$others" >"$GROUP/cgroup.procs"
	echo "$TARGET" >"$GROUP/cgroup.procs"
	hidden_as_nobody 3 dump --cgroup="$NAME" --json --by=vma
	jq_is '[.rows[].pid] | unique' "[$TARGET]"
	jq_is '[.errors[] | [.pid, .error]]' "[[$others,\"EPERM\"]]"
	hidden_as_nobody 3 swapmap --cgroup="$NAME" --json
	jq_is .complete false
}

@test "hidepid: a hidden process is there, and is not permitted" {
	requires root tool:unshare
	target_start anon
	hidden_as_nobody 5 dump "$TARGET"
	[[ $(<"$err") == *"process $TARGET is hidden"*CAP_SYS_PTRACE* ]]
	hidden_as_nobody 5 wp -c 1 "$TARGET"
	hidden_as_nobody 5 swapmap "$TARGET"
	hidden_as_nobody 3 reclaim-report -i 0.01 -c 1 --section=psi "$TARGET"
	hidden_as_nobody 1 dump 4194303
}

# mounts_unread ARGS...: pgscan as an ordinary user who cannot read with what options /proc is mounted.
mounts_unread() {
	local fd

	exec {fd}<"$PGSCAN"
	status=0
	"${NOBODY[@]}" strace -qq -o /dev/null -P proc/self/mounts -e inject=openat:error="$1" \
		"/proc/self/fd/$fd" "${@:2}" >"$out" 2>"$err" || status=$?
	exec {fd}<&-
}

@test "hidepid: where the mount options cannot be read, that is not taken for all processes" {
	local error

	requires root tool:strace plain
	target_start --nobody shm kind=memfd pages=8 write=0-2
	for error in EACCES ENOENT EMFILE; do
		mounts_unread "$error" dump -a --json --by=vma --vma='/memfd:pgscan-test*'
		((status == 3)) || fail "$error: status $status"
		jq_is '[.errors[] | select(.what | test("cannot tell whether /proc hides")) | .error] | length' 1
		grep -q 'cannot tell whether /proc hides processes of other users: ' "$err"
		mounts_unread "$error" swapmap -a --json
		jq_true '.errors | any(.what | test("cannot tell whether /proc hides"))'
		mounts_unread "$error" swapmap -a --map
		((status == 3)) || fail "$error: status $status"
		grep -q 'cannot tell whether /proc hides' "$err"
		mounts_unread "$error" check --json proc_visible
		jq_true '.rows[0].state == (if "'"$error"'" == "EACCES" then "not permitted" else "error" end)'
		jq_true '.rows[0].detail | test("cannot tell")'
	done
	# A process that is there and is not seen is not gone.
	status=0
	mounts_unread EACCES dump "$TARGET"
	((status == 0)) || fail "status $status"
	# Who may look past hidepid= need not know.
	strace -qq -o /dev/null -P proc/self/mounts -e inject=openat:error=EACCES "$PGSCAN" check proc_visible
}

@test "a PID namespace: who is outside is not seen, and that is said" {
	local other inner tree own=$PGSCAN

	requires root tool:unshare tool:nsenter
	[[ $(readlink /proc/self/ns/pid) == "pid:[4026531836]" ]] || skip "in a PID namespace"
	run_pgscan check proc_visible
	PGSCAN=$(command -v unshare) run_pgscan 3 -pf --mount-proc "$own" dump -a --json --by=vma
	jq_is '[.rows[].pid] | unique' '[1]'
	jq_is '[.errors[] | [.what, .error]]' '[["/proc shows the processes of one PID namespace alone",null]]'
	[[ $stderr == *"PID namespace alone: those outside are not seen"* ]]
	PGSCAN=$(command -v unshare) run_pgscan 4 -pf --mount-proc "$own" check --json proc_visible
	jq_is '.rows[0].state' '"no"'
	# From inside, by the /proc of the outermost one, all are seen.
	PGSCAN=$(command -v unshare) run_pgscan 0 -pf "$own" check --json proc_visible
	# The /proc of another namespace, from outside
	unshare -pf --mount-proc sleep 100 3>&- &
	other=$!
	until [[ $(cat "/proc/$other/task/$other/children") ]]; do :; done
	inner=$(<"/proc/$other/task/$other/children")
	inner=${inner% }
	until [[ $(cat "/proc/$inner/comm") == sleep ]]; do :; done
	exec {tree}<"/proc/$inner/root"
	run_pgscan 3 dump -a --json --by=vma --root="/proc/self/fd/$tree"
	exec {tree}<&-
	jq_is '[.rows[].pid] | unique' '[1]'
	kill -KILL "$inner"
}

@test "a PID namespace: of a cgroup, those outside are not left out in silence" {
	local own=$PGSCAN

	requires root tool:unshare
	[[ $(readlink /proc/self/ns/pid) == "pid:[4026531836]" ]] || skip "in a PID namespace"
	group_make
	target_start anon
	echo "$TARGET" >"$GROUP/cgroup.procs"
	PGSCAN=$(command -v unshare) run_pgscan 3 -pf --mount-proc "$own" dump --cgroup="$NAME" --json
	# Version 1 has no line for them.
	jq_true '.errors[0].what == "1 process of the cgroup has no PID in this namespace" or
		.errors[0].what == "/proc shows the processes of one PID namespace alone"'
	[[ $stderr == *"PID"* ]]
}

@test "of a group, those that may not be read are told in one line, with the reason of the first" {
	requires root
	local status=0

	target_start --nobody anon pages=16 write=0-7
	exec {fd}<"$PGSCAN"
	"${NOBODY[@]}" "/proc/self/fd/$fd" dump -a --json --by=vma >"$out" 2>"$err" || status=$?
	exec {fd}<&-
	[[ $status == 3 ]] || fail "status $status" "$(<"$err")"
	jq_true ".rows | any(.pid == $TARGET)"
	[[ $(grep -c 'could not be read' "$err") == 1 ]] || fail "$(<"$err")"
	grep -q "could not be read: cannot open '/proc/[0-9]*/[a-z]*': .*(needs CAP_SYS_PTRACE)" "$err" ||
		fail "$(<"$err")"
	jq_true '.errors | map(select(.error == "EACCES")) | length > 1'
}

@test "a user namespace of one's own shows no frames" {
	requires root tool:unshare
	target_start --nobody anon pages=16 write=0-7
	exec {fd}<"$PGSCAN"
	status=0
	"${NOBODY[@]}" unshare -Ur "/proc/self/fd/$fd" dump --json "$BASHPID" >"$out" 2>"$err" || status=$?
	exec {fd}<&-
	# This shell is root's: outside of that namespace, whatever capabilities it has within.
	[[ $status == 5 ]] || fail "status $status" "$(<"$err")"
	jq_is '.rows' '[]'
	jq_true '.errors[0].what | contains("user namespace")'
}

@test "a user namespace: one's own memory without its frames" {
	requires root tool:unshare
	exec {fd}<"$PGSCAN"
	status=0
	"${NOBODY[@]}" unshare -Ur bash -c '"$0" dump --json $$; exit' "/proc/self/fd/$fd" >"$out" 2>"$err" ||
		status=$?
	exec {fd}<&-
	[[ $status == 0 ]] || fail "status $status" "$(<"$err")"
	jq_is '.summary.pfn_visible' false
	jq_is '[.rows[].pfn] | unique' '[null]'
}

@test "--root of another mount of /proc is this machine" {
	requires root tool:unshare kfeat:pfn
	target_start anon pages=16 write=0-7 read=8-9
	mkdir -p "$BATS_TEST_TMPDIR/host/proc" "$BATS_TEST_TMPDIR/host/sys"
	status=0
	unshare -m bash -c 'mount --bind /proc "$0/proc" && mount --bind /sys "$0/sys" && shift 0 && exec "$@"' \
		"$BATS_TEST_TMPDIR/host" "$PGSCAN" dump --root="$BATS_TEST_TMPDIR/host" --json \
		--range="$(region anon)" "$TARGET" >"$out" 2>"$err" || status=$?
	[[ $status == 0 ]] || fail "status $status" "$(<"$err")"
	jq_is .summary.present 10
	cp "$out" "$BATS_TEST_TMPDIR/there"
	run_pgscan dump --json --range="$(region anon)" "$TARGET"
	cmp "$out" "$BATS_TEST_TMPDIR/there"
}

@test "a process that executes another program in the middle: what was read, and that it is not all" {
	local line rest

	target_start anon pages=400000 write=0-399999/2
	mkfifo "$BATS_TEST_TMPDIR/pipe"
	timeout 60 "$PGSCAN" dump --by=page --format=jsonl --range="$(region anon)" "$TARGET" \
		>"$BATS_TEST_TMPDIR/pipe" 2>"$err" 3>&- &
	rest=$!
	exec {line}<"$BATS_TEST_TMPDIR/pipe"
	read -r -u "$line" _
	echo exec >&"$TARGET_IN"
	until [[ $(<"/proc/$TARGET/comm") == sleep ]]; do :; done
	cat <&"$line" >"$out"
	exec {line}<&-
	status=0
	wait "$rest" || status=$?
	[[ $status == 3 ]] || fail "status $status"
	[[ $(tail -n 1 "$out" | jq -c '[.complete, .errors[0].pid, .errors[0].error]') == \
		"[false,$TARGET,\"ESRCH\"]" ]] || fail "$(tail -n 1 "$out")"
}

@test "device memory: a mapping without page tables is unscanned, not none" {
	requires kfeat:pagemap
	grep -q '\[vvar\]' /proc/self/maps || skip "no vvar page here"
	target_start anon pages=8
	run_pgscan dump --json --vma='[vvar*' "$TARGET"
	jq_is '[.rows[].state] | unique' '["unscanned"]'
}

@test "a file on tmpfs that is really called (deleted)" {
	[[ $(stat -f -c %T /dev/shm) == tmpfs ]] || skip "/dev/shm is no tmpfs"
	local dir=/dev/shm/pgscan-test-$BASHPID

	mkdir "$dir"
	target_start oddname "dir=$dir"
	run_pgscan dump --by=vma --json "$TARGET"
	target_stop
	rm -r "$dir"
	jq_is "[.rows[] | select(.start == \"${ADDR[live_deleted]}\") | [.vma, .deleted]]" \
		"[[\"$dir/kept (deleted)\",false]]"
	jq_is "[.rows[] | select(.start == \"${ADDR[gone]}\") | [.vma, .deleted]]" "[[\"$dir/gone\",true]]"
}

@test "file: a sparse file of 1 TiB costs what is in it" {
	[[ $(stat -f -c %T /dev/shm) == tmpfs ]] || skip "/dev/shm is no tmpfs"
	local file=/dev/shm/pgscan-test-$BASHPID

	truncate -s 1T "$file"
	dd if=/dev/zero of="$file" bs=4K seek=1000000 count=3 conv=notrunc status=none
	status=0
	PGSCAN_TIMEOUT=20 run_pgscan dump --json --file="$file" || status=$?
	rm "$file"
	[[ $status == 0 ]]
	jq_is '.summary | [.pages, .present]' '[268435456,3]'
}
