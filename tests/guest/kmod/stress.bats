# SPDX-License-Identifier: GPL-2.0-only
# Random requests, and writers, while everything changes under them. What is looked for is also on the
# console, and in whether the module can be unloaded after the tests; the harness sees to both.

load ../kmod

# writes SECONDS [DISTURBANCE]...; with SLOW=1 two minutes each
writes() {
	local seconds=$1

	[[ -z ${SLOW:-} ]] || seconds=120
	kmod_program kmodwrites "$seconds" "${@:2}"
}

@test "SCAN: no write is lost" { writes 3; }
@test "SCAN: no write is lost while pages are swapped and protections change" {
	writes 4 pageout mprotect
}
@test "SCAN: no write is lost with huge pages, fork, collapse and all that" {
	writes 4 huge pageout mprotect fork collapse
}

@test "random requests" { kmodfuzz 2000 1; }
