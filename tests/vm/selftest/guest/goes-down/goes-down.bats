# SPDX-License-Identifier: GPL-2.0-only

@test "power off" {
	poweroff -f
	sleep 60
}
