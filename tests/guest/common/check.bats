# SPDX-License-Identifier: GPL-2.0-only
# check, on kernels of which it is known what they have: Debian's, whose soft-dirty, kcore and module
# are there, and whose PAGEMAP_SCAN came with 6.7.

# Variables of the libraries, which shellcheck does not see come
# shellcheck disable=SC2154

load ../lib

# state NAME VALUE
state() {
	jq_is "[.rows[] | select(.name == \"$1\") | .state]" "[\"$2\"]"
}

# field NAME KEY VALUE
field() {
	jq_is "[.rows[] | select(.name == \"$1\") | .$2]" "[$3]"
}

has_pagemap_scan() {
	[[ $(printf '%s\n' 6.7 "$(uname -r)" | sort -V | head -n 1) == 6.7 ]]
}

@test "check: soft-dirty works, by the write test" {
	run_pgscan check --json
	state soft_dirty yes
	jq_is .summary.error 0
}

@test "check: the write test clears nobody else's bits" {
	target_start anon pages=16 write=all
	"$BUILD/tools/pmref" -s "$TARGET" "${ADDR[anon]}" 16 >"$BATS_TEST_TMPDIR/before"
	# A new mapping is soft-dirty as a whole: the seventh field.
	(($(awk '$7 == 1' "$BATS_TEST_TMPDIR/before" | wc -l) == 16))
	run_pgscan check --json soft_dirty
	state soft_dirty yes
	"$BUILD/tools/pmref" -s "$TARGET" "${ADDR[anon]}" 16 | diff - "$BATS_TEST_TMPDIR/before"
}

@test "check: PAGEMAP_SCAN and its categories, by the kernel's answers" {
	run_pgscan check --json
	if has_pagemap_scan; then
		state pagemap_scan yes
		state scan_written yes
		state scan_soft_dirty yes
		state uffd_wp_async yes
		state uffd_wp_unpopulated yes
	else
		state pagemap_scan no
		field pagemap_scan error '"ENOTTY"'
		state scan_written no
		state procmap_query no
		field procmap_query error '"ENOTTY"'
		state uffd_wp_async no
		field uffd_wp_async error '"EINVAL"'
		state uffd_wp yes
		state uffd_wp_unpopulated no
	fi
}

@test "check: the memory controller is of the version that was mounted" {
	run_pgscan check --json
	state "memcg_$PG_CG" yes
	state "memcg_v$((3 - ${PG_CG#v}))" no
}

@test "check: kernel memory needs CAP_SYS_RAWIO, and says so" {
	requires kcore
	run_pgscan check kcore
	setpriv --bounding-set=-sys_rawio "$PGSCAN" check --json >"$out"
	field kcore state '"not permitted"'
	field kcore capability '"CAP_SYS_RAWIO"'
}

@test "check: both capabilities that kernel memory needs are named, everywhere alike" {
	local both="CAP_DAC_READ_SEARCH and CAP_SYS_RAWIO" row fd

	requires kcore
	exec {fd}<"$PGSCAN"
	setpriv --reuid=65534 --clear-groups --inh-caps=-all,+sys_admin --ambient-caps=+sys_admin \
		"/proc/self/fd/$fd" check --json >"$out"
	for row in kcore kmem; do
		field "$row" state '"not permitted"'
		field "$row" capability "\"$both\""
		field "$row" detail "\"needs $both\""
	done
	exec {fd}<&-
	run_as_nobody 5 dump --kmod=off --kcore=require $$
	[[ $stderr == *"(needs $both)"* ]]
}

@test "check: of two capabilities that will do, dump and swapmap name the one that check names" {
	local fd view

	swap_zram 64M
	run_as_nobody 5 check --json map_files
	jq_is '[.rows[].capability]' '["CAP_CHECKPOINT_RESTORE"]'
	cg_new check
	target_start --nobody shm kind=anon pages=64 write=all
	echo "$TARGET" >"$(cg_path check)/cgroup.procs"
	wait_for out_of_memory shm all
	for view in dump swapmap; do
		run_as_nobody 3 $view --json --range="$(region shm)" "$TARGET"
		jq_true '.errors | any(.what | contains("map_files") and endswith("(needs CAP_CHECKPOINT_RESTORE)"))'
	done
}

@test "check: kernel memory that is masked, as containers do, is none" {
	local own=$PGSCAN row

	requires kcore
	for row in kcore kmem; do
		# shellcheck disable=SC2016
		PGSCAN=$(command -v unshare) run_pgscan 4 -m sh -c \
			'mount --bind /dev/null /proc/kcore && exec "$0" check --json "$1"' "$own" "$row"
		jq_is '.rows[0].state' '"no"'
		jq_true '.rows[0].detail | contains("is no core file that is understood")'
	done
}

@test "check: the module answers root, and is not for everybody" {
	requires module
	run_pgscan check --kmod=require --json
	state module yes
	jq_is .module true
	run_as_nobody 5 check module
	[[ $stderr == *"module is not permitted: needs CAP_SYS_ADMIN"* ]]
	run_pgscan check --kmod=off --json
	state module no
	jq_is .module false
}

@test "check: swap areas are counted as they come and go" {
	run_pgscan check --json swap || run_pgscan 4 check --json swap
	state swap no
	swap_zram 64M
	swap_disk 0
	run_pgscan check --json swap zram
	state swap yes
	jq_true '.rows[0].detail | startswith("2 areas, ")'
	swapoff "$swap_device"
	run_pgscan check --json swap
	jq_true '.rows[0].detail | startswith("1 area, ")'
}

@test "check: page reporting is on where the balloon has it" {
	run_pgscan check --json
	if grep -q 0x0005 /sys/bus/virtio/devices/*/device; then
		modprobe virtio_balloon
		run_pgscan check --json
		state balloon yes
		state balloon_reporting yes
	else
		state balloon no
		state balloon_reporting no
		field balloon_reporting detail '"no balloon device"'
	fi
}
