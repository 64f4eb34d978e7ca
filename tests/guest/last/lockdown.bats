# SPDX-License-Identifier: GPL-2.0-only
# Kernel lockdown, which cannot be taken back: the last tests of a guest.

# shellcheck disable=SC2154

load ../lib

lock_down() {
	[[ -e /sys/kernel/security/lockdown ]] || mount -t securityfs none /sys/kernel/security
	echo "$1" >/sys/kernel/security/lockdown
}

@test "lockdown=integrity leaves kernel memory readable" {
	lock_down integrity || skip "this kernel has no lockdown"
	run_pgscan check kmem --json
	jq_is '.rows[0].state' '"yes"'
}

@test "lockdown=confidentiality refuses it, and pgscan says so and does without" {
	lock_down confidentiality || skip "this kernel has no lockdown"
	run_pgscan 5 dump --kmod=off --kcore=require $$
	[[ $stderr == *"locked down"* ]]
	run_pgscan 5 check kmem --json
	jq_is '.rows[0].state' '"not permitted"'
	run_pgscan dump --kmod=off --json $$
}
