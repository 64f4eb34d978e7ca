# SPDX-License-Identifier: GPL-2.0-only

@test "a memory controller is mounted" {
	grep -E 'cgroup' /proc/mounts
}
