# SPDX-License-Identifier: GPL-2.0-only

@test "does not hold" {
	false
}
