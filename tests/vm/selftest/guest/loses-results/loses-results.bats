# SPDX-License-Identifier: GPL-2.0-only

@test "the first is reported" {
	true
}

@test "bats is killed" {
	pkill -KILL -f bats-exec-file
	sleep 5
}
