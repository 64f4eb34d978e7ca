# SPDX-License-Identifier: GPL-2.0-only
# What the tests of the module by its ioctls share, beside lib.bash. One swap disk is all they need.
# shellcheck shell=bash

. "${BASH_SOURCE[0]%/*}/lib.bash"

# In place of what lib.bash does: there is no pgscan and no target
setup() {
	swap_disk 0
}

teardown() {
	guest_teardown
}

# kmod_program NAME ARG...: run a program that tests the module; what it says is in the results
kmod_program() {
	local status=0
	"$PGSCAN_TARGETS/$1" "${@:2}" >"$BATS_TEST_TMPDIR/said" || status=$?
	sed 's/^/# /' "$BATS_TEST_TMPDIR/said" >&3
	((status != 77)) || skip "this kernel lacks it"
	return "$status"
}

# kmodtest TEST: by default with the one swap area there is
kmodtest() {
	kmod_program kmodtest -s /dev/vdb "$@"
}

# kmodfuzz COUNT SEED: it turns swap on and off by itself
kmodfuzz() {
	swap_off /dev/vdb
	kmod_program kmodfuzz "$1" "$2" /dev/vdb
}
