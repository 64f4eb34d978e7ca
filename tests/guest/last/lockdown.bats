# SPDX-License-Identifier: GPL-2.0-only
# Kernel lockdown (kernel_lockdown(7)), which cannot be taken back: the last tests of a guest.

# shellcheck disable=SC2154

load ../lib

lock_down() {
	[[ -e /sys/kernel/security/lockdown ]] || mount -t securityfs none /sys/kernel/security
	echo "$1" >/sys/kernel/security/lockdown
}

# Without a skip: Debian's kernels have lockdown, and it is their guests that end with these tests
swap_out_shm() {
	swap_disk 0
	cg_new lockdown
	target_start --cgroup lockdown shm pages=256 write=all
	cg_reclaim lockdown $((64 << 20))
	states shm
	((none > 128))
}

# swapped_rows OPTION...: sources and kinds of place of the swapped pages of the target
swapped_rows() {
	run_pgscan dump --json "$@" -r "$(region shm)" "$TARGET"
	jq -c '[.rows[] | select(.state == "swapped" or .state == "swap_cache") | [.source, (.swap_offset | type)]] | unique' "$out"
}

@test "lockdown=integrity leaves kernel memory readable" {
	lock_down integrity
	run_pgscan check kmem --json
	jq_is '.rows[0].state' '"yes"'
	swap_out_shm
	[[ $(swapped_rows --kmod=off --kcore=require) == '[["kcore","number"]]' ]]
}

@test "lockdown=confidentiality refuses kernel memory, and every command says so" {
	local command
	lock_down confidentiality
	for command in dump swapmap; do
		run_pgscan 5 "$command" --kmod=off --kcore=require $$
		[[ $stderr == *"the kernel is locked down (none integrity [confidentiality])"* ]]
	done
	run_pgscan 5 check kmem --json
	jq_is '.rows[0].state' '"not permitted"'
}

@test "lockdown=confidentiality: without kernel memory a place in swap is unknown, not an error" {
	swap_out_shm
	[[ $(swapped_rows --kmod=off --kcore=auto) == '[["map_files","null"]]' ]]
}

@test "lockdown=confidentiality: the module that was there before answers as ever" {
	requires module
	swap_out_shm
	[[ $(swapped_rows) == '[["module","number"]]' ]]
}

@test "lockdown=confidentiality: what needs no kernel memory goes on" {
	run_pgscan check --json
	run_pgscan reclaim-report --json
	target_start anon pages=16 write=all
	run_pgscan wp -c 1 -i 0.1 --json "$TARGET"
	run_pgscan swapmap --json -a
}

@test "lockdown: the module cannot be loaded unsigned, and the commands do without" {
	requires module
	swap_out_shm
	rmmod pgscan
	refute modprobe pgscan
	run_pgscan 4 dump --kmod=require -r "$(region shm)" "$TARGET"
	[[ $(swapped_rows) == '[["map_files","null"]]' ]]
}
