# SPDX-License-Identifier: GPL-2.0-only

@test "the kernel panics" {
	echo 1 >/proc/sys/kernel/sysrq
	echo c >/proc/sysrq-trigger
}
