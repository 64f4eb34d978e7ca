# SPDX-License-Identifier: GPL-2.0-only
# Random requests, and writers, while everything changes under them. What is looked for is also on the
# console, and in whether the module can be unloaded after the tests; the harness sees to both.

setup() {
	load ../lib
}

teardown() {
	swap_off /dev/vdb
	guest_teardown
}

fuzz() {
	mkswap /dev/vdb >/dev/null
	"$PGSCAN_TARGETS/kmodfuzz" 2000 1 /dev/vdb >"$BATS_TEST_TMPDIR/fuzz" || {
		sed 's/^/# /' "$BATS_TEST_TMPDIR/fuzz" >&3
		return 1
	}
}

writes() {
	local status=0
	swap_disk 0
	"$PGSCAN_TARGETS/kmodwrites" "$@" >"$BATS_TEST_TMPDIR/writes" || status=$?
	sed 's/^/# /' "$BATS_TEST_TMPDIR/writes" >&3
	((status != 77)) || skip "this kernel lacks it"
	return "$status"
}

@test "SCAN: no write is lost" { writes 3; }
@test "SCAN: no write is lost while pages are swapped and protections change" {
	writes 4 pageout mprotect
}
@test "SCAN: no write is lost with huge pages, fork, collapse and all that" {
	writes 4 huge pageout mprotect fork collapse
}

@test "random requests" { fuzz; }
