#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# check: what it says of this kernel and this user is what others find: an independent program, the
# system calls as strace sees them, /proc, and the capabilities as the kernel prints them.

# jq has variables of its own:
# shellcheck disable=SC2016

load lib/common

# state NAME VALUE: the state of a feature in $out.
state() {
	jq_is "[.rows[] | select(.name == \"$1\") | .state]" "[\"$2\"]"
}

# detail NAME VALUE: its line.
detail() {
	jq_is "[.rows[] | select(.name == \"$1\") | .detail]" "[\"$2\"]"
}

# Compare with tests/tools/kfeat, which shares no line with src/. It calls some by other names.
agrees_with_kfeat() {
	local name answer
	local -A other=([pfn]=pfn_visible [guard]=madv_guard)
	local -A is_row=()

	while read -r name; do
		is_row[$name]=1
	done < <(jq -r '.rows[].name' "$out")
	while read -r name answer; do
		name=${other[$name]:-$name}
		[[ -n ${is_row[$name]:-} ]] || continue
		jq_true "[.rows[] | select(.name == \"$name\")][0] |
			(.state == \"yes\") == (\"$answer\" == \"yes\")" ||
			fail "$name: another program says $answer"
	done
}

@test "check: every row has its kind of values, and the summary counts them" {
	run_pgscan check --json
	jq_true '.rows | length > 50'
	jq_true '[.rows[].name] | length == (unique | length)'
	jq_true 'all(.rows[]; .state | IN("yes", "no", "not permitted", "error"))'
	jq_true 'all(.rows[]; .how != "" and .purpose != "" and .group != "")'
	jq_true '.summary.features == (.rows | length)'
	jq_true '.rows as $r | .summary |
		.yes == ([$r[] | select(.state == "yes")] | length) and
		.no == ([$r[] | select(.state == "no")] | length) and
		.not_permitted == ([$r[] | select(.state == "not permitted")] | length) and
		.untried == 0 and .error == ([$r[] | select(.state == "error")] | length)'
	jq_is '.complete' true
	jq_is '[.rows[] | select(.state == "error")]' '[]'
	# A capability is named where one is missing, and nowhere else.
	jq_true 'all(.rows[]; .capability == null or .state == "not permitted")'
	jq_true '(.module == true) == ([.rows[] | select(.name == "module")][0].state == "yes")'
}

@test "check: rows stay in their groups" {
	run_pgscan check --json
	jq_true '[.rows[].group] as $g | [range(1; $g | length) | select($g[.] != $g[. - 1])] |
		length + 1 == ($g | unique | length)'
}

@test "check: another program finds the same" {
	requires native
	run_pgscan check --json
	agrees_with_kfeat < <("$BUILD/tools/kfeat")
}

@test "check: another program finds the same as an ordinary user" {
	requires native
	requires root
	run_as_nobody check --json
	exec {fd}<"$BUILD/tools/kfeat"
	agrees_with_kfeat < <(as_nobody "/proc/self/fd/$fd")
}

@test "check: type information that cannot be understood is none" {
	local bytes own=$PGSCAN file=$BATS_TEST_TMPDIR/btf

	requires root tool:unshare
	[[ -e /sys/kernel/btf/vmlinux ]] || skip "this kernel has no type information"
	run_pgscan check btf
	for bytes in 0 10 24 100 100000; do
		head -c "$bytes" /sys/kernel/btf/vmlinux >"$file"
		# shellcheck disable=SC2016
		PGSCAN=$(command -v unshare) run_pgscan 4 -m sh -c \
			'mount --bind "$1" /sys/kernel/btf/vmlinux && exec "$0" check --json btf' "$own" "$file"
		jq_is '[.rows[] | .state, .detail]' '["no","cannot make sense of '"'/sys/kernel/btf/vmlinux'"'"]'
	done
}

@test "check: an ordinary user is told which capability is missing" {
	requires root
	run_as_nobody check --json
	state pagemap yes
	state pfn_visible "not permitted"
	jq_is '[.rows[] | select(.name == "pfn_visible") | .capability, .error, .detail]' \
		'["CAP_SYS_ADMIN","EPERM","needs CAP_SYS_ADMIN"]'
	jq_is '[.rows[] | select(.name | startswith("cap_")) | .state] | unique' '["not permitted"]'
	if [[ -e /proc/kpageflags ]]; then
		# Mode 0400, and nothing else is asked: CAP_SYS_ADMIN alone does not open it.
		jq_is '[.rows[] | select(.name == "kpageflags") | .capability]' \
			'["CAP_DAC_READ_SEARCH"]'
	fi
}

@test "check: the capability that is named is the one that helps" {
	requires root
	[[ -e /proc/kpageflags ]] || skip "no /proc/kpageflags"
	exec {fd}<"$PGSCAN"
	setpriv --reuid=65534 --clear-groups --inh-caps=-all,+dac_read_search \
		--ambient-caps=+dac_read_search "/proc/self/fd/$fd" check --json >"$out"
	state kpageflags yes
	state cap_dac_read_search yes
	state cap_sys_admin "not permitted"
	setpriv --reuid=65534 --clear-groups --inh-caps=-all,+sys_admin \
		--ambient-caps=+sys_admin "/proc/self/fd/$fd" check --json >"$out"
	state kpageflags "not permitted"
	state pfn_visible yes
}

@test "check: capabilities are those of the permitted set" {
	run_pgscan check --json
	local permitted name
	local -A number=([dac_read_search]=2 [sys_rawio]=17 [sys_ptrace]=19 [sys_admin]=21 [syslog]=34
		[checkpoint_restore]=40)

	permitted=$(sed -n 's/^CapPrm:[[:space:]]*//p' /proc/self/status)
	for name in "${!number[@]}"; do
		if (((0x$permitted >> number[$name]) & 1)); then
			state "cap_$name" yes
		else
			state "cap_$name" "not permitted"
		fi
	done
}

@test "check: without one capability, that one row and what hangs on it change" {
	requires root cap:sys_admin
	setpriv --bounding-set=-sys_admin "$PGSCAN" check --json >"$out"
	state cap_sys_admin "not permitted"
	state pfn_visible "not permitted"
	state cap_sys_ptrace yes
	state kpageflags yes
}

@test "check: in a user namespace, capabilities do not reach beyond it" {
	unshare -Ur true || skip "no user namespaces"
	unshare -Ur "$PGSCAN" check --json >"$out"
	jq_is '[.rows[] | select(.name == "pfn_visible") | .state, .capability, .detail]' \
		'["not permitted",null,"hidden outside the initial user namespace"]'
	state cap_sys_admin yes
	detail cap_sys_admin "in this user namespace alone"
}

@test "check: features as arguments are an answer for scripts" {
	run_pgscan check --json pagemap
	jq_is '[.rows[].name]' '["pagemap"]'
	PGSCAN_DISABLE=pagemap_scan run_pgscan 4 check --json pagemap pagemap_scan
	jq_is '[.rows[] | .name, .state]' '["pagemap","yes","pagemap_scan","no"]'
	jq_is .complete true
	[[ $stderr == *"pgscan check: no pagemap_scan"* ]] || fail "stderr: $stderr"
}

@test "check: a feature that is not permitted is status 5, with the capability" {
	requires root
	run_as_nobody 5 check pfn_visible
	[[ $stderr == "pgscan check: pfn_visible is not permitted: needs CAP_SYS_ADMIN" ]] ||
		fail "stderr: $stderr"
	# The first that is not there decides.
	PGSCAN_DISABLE=pagemap_scan run_as_nobody 4 check pagemap_scan pfn_visible
	PGSCAN_DISABLE=pagemap_scan run_as_nobody 5 check pfn_visible pagemap_scan
}

@test "check: an unknown feature is a usage error and prints nothing" {
	run_pgscan 2 check --json pagemap nonsense
	[[ ! -s $out ]] || fail "stdout: $output"
	[[ $stderr == *"'nonsense' is not a feature"* ]] || fail "stderr: $stderr"
}

@test "check: PGSCAN_DISABLE switches off what it names, and only that" {
	run_pgscan check --json
	jq -c '[.rows[] | select((.name | test("^(pagemap_scan|scan_|map_files|soft_dirty)")) | not) |
		[.name, .state]]' "$out" >"$BATS_TEST_TMPDIR/others"
	PGSCAN_DISABLE=pagemap_scan,map_files,soft_dirty run_pgscan check --json
	jq_is '[.rows[] | select(.name | test("^(pagemap_scan|scan_|map_files|soft_dirty)")) |
		.state] | unique' '["no"]'
	jq -c '[.rows[] | select((.name | test("^(pagemap_scan|scan_|map_files|soft_dirty)")) | not) |
		[.name, .state]]' "$out" | diff - "$BATS_TEST_TMPDIR/others"
	PGSCAN_DISABLE=uffd run_pgscan check --json
	jq_is '[.rows[] | select(.group == "userfaultfd") | .state] | unique' '["no"]'
	PGSCAN_DISABLE=nonsense run_pgscan 2 check
}

@test "check: --kmod=require without the module is status 4" {
	[[ ! -c /dev/pgscan ]] || skip "the module is loaded"
	run_pgscan 4 check --kmod=require --json
	state module no
	jq_true '.rows | length > 50'
	[[ $stderr == *"no module: the module is not loaded"* ]] || fail "stderr: $stderr"
}

@test "check: --kmod=require with the module is status 0" {
	requires root module
	run_pgscan check --kmod=require --json
	state module yes
	jq_is .module true
	run_pgscan check --kmod=off --json
	state module no
	jq_is .module false
}

# ---- what is really called -------------------------------------------------------------------

# trace CALLS: run check under strace, every line with the pid of the process.
trace() {
	strace -f -qq -e trace="$1" -e signal=none -o "$BATS_TEST_TMPDIR/trace" \
		"$PGSCAN" check --json >"$out"
}

@test "check: the categories of PAGEMAP_SCAN are those that the ioctl takes" {
	requires kfeat:pagemap_scan tool:strace plain
	trace ioctl
	local refused
	# _IOWR('f', 16, 96 bytes), as a strace prints it that knows the name, or not.
	grep -E 'PAGEMAP_SCAN|0x66, 0x10, 0x60' "$BATS_TEST_TMPDIR/trace" >"$BATS_TEST_TMPDIR/scans"
	refused=$(grep -c EINVAL "$BATS_TEST_TMPDIR/scans") || true
	jq_is '[.rows[] | select(.how == "PAGEMAP_SCAN" and .error == "EINVAL")] | length' "$refused"
	(($(wc -l <"$BATS_TEST_TMPDIR/scans") == 11))
}

@test "check: soft-dirty is cleared in a child alone" {
	requires tool:strace plain
	trace openat,write
	local first

	first=$(awk '{ print $1; exit }' "$BATS_TEST_TMPDIR/trace")
	grep -q clear_refs "$BATS_TEST_TMPDIR/trace"
	awk -v first="$first" '/clear_refs/ && $1 == first { found = 1 } END { exit found }' \
		"$BATS_TEST_TMPDIR/trace"
	# Nothing else is opened for writing but the two devices, and what pgscan-kcore(7) keeps.
	if grep -E 'O_WRONLY|O_RDWR|O_CREAT' "$BATS_TEST_TMPDIR/trace" |
		grep -v -e clear_refs -e /dev/userfaultfd -e dev/pgscan -e kernel-memory; then
		fail "opened for writing"
	fi
}

@test "check: soft-dirty is no word, but a write test" {
	run_pgscan check --json
	if "$BUILD/tools/kfeat" soft_dirty; then
		state soft_dirty yes
		state scan_soft_dirty yes
	else
		state soft_dirty no
		# Kernels accept the category though they never set it.
		jq_is '[.rows[] | select(.name == "scan_soft_dirty" and .state == "yes")]' '[]'
	fi
}

@test "check: every way to a userfaultfd is tried, and the refusal names the sysctl" {
	requires native
	requires root
	local value=/proc/sys/vm/unprivileged_userfaultfd

	[[ -e $value ]] || skip "no userfaultfd, or no such sysctl"
	run_as_nobody check --json
	if (($(<"$value"))); then
		state uffd_syscall yes
	else
		state uffd_syscall "not permitted"
		detail uffd_syscall "needs CAP_SYS_PTRACE; vm.unprivileged_userfaultfd is 0"
	fi
	state uffd_user_mode yes
	state userfaultfd yes
	jq_true '[.rows[] | select(.name == "uffd_device")][0].state != "yes"'
}

@test "check: a seccomp filter is not mistaken for an old kernel" {
	requires root tool:strace plain
	strace -f -qq -o /dev/null -e inject=userfaultfd:error=EPERM "$PGSCAN" check --json >"$out"
	state uffd_syscall "not permitted"
	jq_is '[.rows[] | select(.name == "uffd_syscall") | .capability]' '[null]'
	strace -f -qq -o /dev/null -e inject=userfaultfd:error=ENOSYS "$PGSCAN" check --json >"$out"
	state uffd_syscall no
	strace -f -qq -o /dev/null -e inject=userfaultfd:error=EMFILE "$PGSCAN" check --json >"$out"
	state uffd_syscall error
	jq_is '[.rows[] | select(.name == "uffd_syscall") | .error]' '["EMFILE"]'
	jq_true '.summary.error >= 1'
}

# ---- files -----------------------------------------------------------------------------------

@test "check: swap areas, pressure and cgroups as /proc lists them" {
	run_pgscan check --json
	local areas

	areas=$(($(wc -l </proc/swaps) - 1))
	if ((areas)); then
		state swap yes
		jq_true "[.rows[] | select(.name == \"swap\")][0].detail | startswith(\"$areas area\")"
	else
		state swap no
	fi
	state psi "$([[ -r /proc/pressure/memory ]] && echo yes || echo no)"
	state memcg_v1 "$([[ -n $(memory_cgroup_v1) ]] && echo yes || echo no)"
	state memcg_v2 "$([[ -n $(memory_cgroup_v2) ]] && echo yes || echo no)"
}

@test "check: free page reporting, in guests and outside" {
	run_pgscan check --root="$FIXTURES/reporting-on" --json
	state balloon yes
	detail balloon virtio3
	state balloon_reporting yes
	detail balloon_reporting "virtio3: feature bit 5 negotiated"
	# Parameters that nobody upstream knows are shown as they are.
	detail page_reporting "order 9, batch=Y, delay_ms=2000"
	jq_is .kernel '"6.99.0-vendor"'

	run_pgscan check --root="$FIXTURES/reporting-declined" --json
	state balloon yes
	state balloon_reporting no
	jq_is .kernel '"unknown"'
	run_pgscan check --root="$FIXTURES/reporting-unbound" --json
	state balloon yes
	state balloon_reporting no
	# No balloon is no error.
	run_pgscan check --root="$FIXTURES/reporting-none" --json
	state balloon no
	state balloon_reporting no
	detail balloon_reporting "no balloon device"
}

@test "check: a balloon that cannot be looked for is not called absent" {
	local nr there

	requires plain
	run_pgscan check --json
	there=$(jq -r '.rows[] | select(.name == "balloon") | .state' "$out")
	for nr in {4..8}; do
		with_descriptors "$nr" check --json
		jq -e --arg there "$there" '.rows[] | select(.name == "balloon")
			| .state == "error" or .state == $there' "$out" >/dev/null || fail "$nr descriptors"
		with_descriptors "$nr" reclaim-report --json -c 1 -i 0.1
		jq -e --argjson there "$([[ $there == yes ]] && echo 1 || echo 0)" '
			(.rows[] | select(.name == "balloon").value) as $got
			| $got == $there or $got == null and (.complete | not)' "$out" >/dev/null ||
			fail "$nr descriptors: reclaim-report"
	done
}

@test "check: a size of zram that cannot be read is not 0" {
	local nr

	requires plain
	mkdir -p "$BATS_TEST_TMPDIR/tree/"{proc,sys/block/zram0}
	echo 4096 >"$BATS_TEST_TMPDIR/tree/sys/block/zram0/disksize"
	for nr in {4..8}; do
		with_descriptors "$nr" check --json --root="$BATS_TEST_TMPDIR/tree"
		jq -e '.rows[] | select(.name == "zram")
			| .state == "error" or .detail == "1 device, 1 with a size"' "$out" >/dev/null ||
			fail "$nr descriptors: $(jq -c '.rows[] | select(.name == "zram")' "$out")"
	done
}

@test "check: swap of another tree" {
	run_pgscan check --root="$FIXTURES/reporting-on" --json
	state swap yes
	detail swap "2 areas, 1.06G"
	state zram yes
	detail zram "2 devices, 1 with a size"
	state zswap yes
	detail zswap "compressor zstd"
	state psi yes
	run_pgscan check --root="$FIXTURES/reporting-declined" --json
	state swap no
	state zswap no
	detail zswap "built in, but off"
}

@test "check: where the memory controller is, in other trees" {
	run_pgscan 4 check --root="$FIXTURES/cgroup-mixed" --json memcg_v1 memcg_v2
	jq_is '[.rows[].state]' '["yes","no"]'
	run_pgscan 4 check --root="$FIXTURES/cgroup-v2" --json memcg_v1 memcg_v2
	jq_is '[.rows[].state]' '["no","yes"]'
	run_pgscan 4 check --root="$FIXTURES/cgroup-disabled" --json memcg_v1 memcg_v2
	jq_is '[.rows[].state]' '["no","no"]'
	[[ $stderr == *"disabled on the kernel command line"* ]] || fail "stderr: $stderr"
}

@test "check: another tree answers no calls, and what it lacks is not called absent" {
	run_pgscan check --root="$FIXTURES/reporting-on" --json
	state pagemap untried
	state pagemap_scan untried
	state soft_dirty untried
	state module untried
	# Not captured: nothing is known of it.
	state kpageflags untried
	run_pgscan 1 check --root="$FIXTURES/reporting-on" pagemap
	[[ $stderr == *"cannot tell whether there is pagemap"* ]] || fail "stderr: $stderr"
	run_pgscan 1 check --root=/nonexistent
}

# ---- for people ------------------------------------------------------------------------------

@test "check: the table fits 100 columns but for what a detail says" {
	run_pgscan check
	local head

	head=$(head -n 1 "$out")
	head=${head%%DETAIL*}
	((${#head} <= 84)) || fail "DETAIL starts at ${#head}"
	grep -q '^pagemap_scan ' "$out"
	grep -qE '^features +[0-9]+$' "$out"
}

@test "check: a reader that closes early ends it quietly" {
	requires native
	local rc

	"$PGSCAN" check -f jsonl 2>"$err" | head -n 1 >"$out" || true
	rc=${PIPESTATUS[0]}
	((rc == 0 || rc == 141)) || fail "status $rc"
	[[ ! -s $err ]] || fail "stderr: $(<"$err")"
	jq_is .name '"pagemap"'
}
