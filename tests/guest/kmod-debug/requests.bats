# SPDX-License-Identifier: GPL-2.0-only
# 10^5 random requests on a kernel that checks itself (KASAN, lockdep, kmemleak), in ten parts.

load ../kmod

@test "10000 random requests, seed 1" { kmodfuzz 10000 1; }
@test "10000 random requests, seed 2" { kmodfuzz 10000 2; }
@test "10000 random requests, seed 3" { kmodfuzz 10000 3; }
@test "10000 random requests, seed 4" { kmodfuzz 10000 4; }
@test "10000 random requests, seed 5" { kmodfuzz 10000 5; }
@test "10000 random requests, seed 6" { kmodfuzz 10000 6; }
@test "10000 random requests, seed 7" { kmodfuzz 10000 7; }
@test "10000 random requests, seed 8" { kmodfuzz 10000 8; }
@test "10000 random requests, seed 9" { kmodfuzz 10000 9; }
@test "10000 random requests, seed 10" { kmodfuzz 10000 10; }
