# SPDX-License-Identifier: GPL-2.0-only
# Random requests while everything changes under them. What is looked for is on the console, and in
# whether the module can be unloaded after the tests; the harness sees to both. On a kernel with
# kmemleak, which is a debug kernel, ten times as many.

setup() {
	load ../lib
	mkswap /dev/vdb >/dev/null
}

teardown() {
	swap_off /dev/vdb
	guest_teardown
}

fuzz() {
	local count=1000
	[[ ! -e /sys/kernel/debug/kmemleak ]] || count=10000
	"$PGSCAN_TARGETS/kmodfuzz" "$count" "$1" /dev/vdb >"$BATS_TEST_TMPDIR/fuzz" || {
		sed 's/^/# /' "$BATS_TEST_TMPDIR/fuzz" >&3
		return 1
	}
}

@test "random requests, 1" { fuzz 1; }
@test "random requests, 2" { fuzz 2; }
@test "random requests, 3" { fuzz 3; }
@test "random requests, 4" { fuzz 4; }
@test "random requests, 5" { fuzz 5; }
@test "random requests, 6" { fuzz 6; }
@test "random requests, 7" { fuzz 7; }
@test "random requests, 8" { fuzz 8; }
@test "random requests, 9" { fuzz 9; }
@test "random requests, 10" { fuzz 10; }
