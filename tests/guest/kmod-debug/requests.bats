# SPDX-License-Identifier: GPL-2.0-only
# 10^5 random requests on a kernel that checks itself (KASAN, lockdep, kmemleak), in ten parts.

setup() {
	load ../lib
	mkswap /dev/vdb >/dev/null
}

teardown() {
	swap_off /dev/vdb
	guest_teardown
}

fuzz() {
	"$PGSCAN_TARGETS/kmodfuzz" 10000 "$1" /dev/vdb >"$BATS_TEST_TMPDIR/fuzz" || {
		sed 's/^/# /' "$BATS_TEST_TMPDIR/fuzz" >&3
		return 1
	}
}

@test "10000 random requests, seed 1" { fuzz 1; }
@test "10000 random requests, seed 2" { fuzz 2; }
@test "10000 random requests, seed 3" { fuzz 3; }
@test "10000 random requests, seed 4" { fuzz 4; }
@test "10000 random requests, seed 5" { fuzz 5; }
@test "10000 random requests, seed 6" { fuzz 6; }
@test "10000 random requests, seed 7" { fuzz 7; }
@test "10000 random requests, seed 8" { fuzz 8; }
@test "10000 random requests, seed 9" { fuzz 9; }
@test "10000 random requests, seed 10" { fuzz 10; }
