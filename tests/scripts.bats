#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The scripts that judge the tree: each fault that they look for is planted once, and found.

load lib/common

# ---- scripts/check: TAP in, a count out ------------------------------------------------------

# suite LINE...: have `check unit` run a program that prints the lines and ends with status $rc.
suite() {
	mkdir -p "$BATS_TEST_TMPDIR/unit"
	{
		echo '#!/bin/sh'
		printf "echo '%s'\n" "$@"
		echo "exit ${rc:-0}"
	} >"$BATS_TEST_TMPDIR/unit/test_x"
	chmod +x "$BATS_TEST_TMPDIR/unit/test_x"
	status=0
	O=$BATS_TEST_TMPDIR "$TESTS/../scripts/check" unit >"$out" || status=$?
	count=$(tail -n 1 "$out")
}

@test "check counts what passed, failed and was skipped" {
	unset ACCEPT_SKIPS
	suite 1..3 'ok 1 - a' 'ok 2 b # skip no reason' 'ok 3 - c'
	[[ $status == 0 && $count == "2 passed, 0 failed, 1 skipped" ]]
	rc=1 suite 1..2 'ok 1 - a' 'not ok 2 - b'
	[[ $status == 1 && $count == "1 passed, 1 failed, 0 skipped" ]]
	grep -qx '1..2' "$out"
}

@test "check: a suite that falls short of its plan has failed" {
	unset ACCEPT_SKIPS
	suite 1..3 'ok 1 - a' 'ok 2 - b'
	[[ $status == 1 && $count == "2 passed, 1 failed, 0 skipped" ]]
	grep -q 'ran 2 of 3' "$out"
}

@test "check: a suite that dies has failed, planned or not" {
	rc=139 suite 1..1 'ok 1 - a'
	[[ $status == 1 && $count == "1 passed, 1 failed, 0 skipped" ]]
	suite 'Segmentation fault'
	[[ $status == 1 && $count == "0 passed, 1 failed, 0 skipped" ]]
}

@test "check: nothing run is not success" {
	mkdir "$BATS_TEST_TMPDIR/unit"
	status=0
	O=$BATS_TEST_TMPDIR "$TESTS/../scripts/check" unit >"$out" || status=$?
	[[ $status == 1 ]]
}

@test "check: with a list of accepted skips, another skip has failed" {
	printf '# comment\nunit: b # skip no disk*\tguests have it\n' >"$BATS_TEST_TMPDIR/accepted"
	export ACCEPT_SKIPS=$BATS_TEST_TMPDIR/accepted
	suite 1..2 'ok 1 - a' 'ok 2 b # skip no disk here'
	[[ $status == 0 && $count == "1 passed, 0 failed, 1 skipped" ]]
	suite 1..1 'ok 1 b # skip no disk here'
	[[ $status == 1 && $count == "0 passed, 0 failed, 1 skipped" ]]
	suite 1..1 'ok 1 b # skip no moon'
	[[ $status == 1 && $count == "0 passed, 1 failed, 0 skipped" ]]
}

# ---- tests/vm/vm-verdict: what a boot left, in TAP ---------------------------------------------

@test "the verdict of a guest with many tests" {
	local dir=$BATS_TEST_TMPDIR/vm/many i

	mkdir -p "$dir"
	for ((i = 1; i <= 3000; i++)); do
		echo "ok $i the test of number $i in $i ms"
	done >"$dir/tap"
	echo "1..3000" >>"$dir/tap"
	echo 33 >"$dir/status"
	echo 7 >"$dir/seconds"
	touch "$dir/console.log" "$dir/out.tar"
	O=$(realpath --relative-to="$TESTS/.." "$BATS_TEST_TMPDIR") "$TESTS/vm/vm-verdict" many >"$out"
	[[ $(grep -c '^ok \[many\]' "$out") == 3001 ]]
	[[ $(tail -n 5 "$out") == "#    3.0 s the test of number 3000"*"#    3.0 s the test of number 2996" ]]
}

# ---- scripts/lint ----------------------------------------------------------------------------

# tree: a small tree without fault, in which lint is run.
tree() {
	mkdir -p "$BATS_TEST_TMPDIR"/tree/{scripts,src,cmd}
	cd "$BATS_TEST_TMPDIR/tree" || return
	cp "$TESTS/../scripts/lint" scripts/
	cp "$TESTS/../.clang-format" "$TESTS/../.shellcheckrc" .
	printf '%s\n' '/* SPDX-License-Identifier: GPL-2.0-only */' '#pragma once' '#include <stdint.h>' \
		'uint64_t pgs_answer(void);' >src/answer.h
	printf '%s\n' '// SPDX-License-Identifier: GPL-2.0-only' '#include "answer.h"' '' \
		'/* exit() is not called, printf("x") not printed. */' 'uint64_t pgs_answer(void)' '{' \
		$'\treturn 42;' '}' >src/answer.c
	printf '%s\n' '// SPDX-License-Identifier: GPL-2.0-only' '#include "../src/answer.h"' '' \
		'int cmd_a(void);' 'int cmd_a(void)' '{' $'\treturn (int)pgs_answer();' '}' >cmd/cmd_a.c
}

# lint CHECK [TEXT]: TEXT is among the faults; without it, there are none.
lint() {
	local want=$(($# - 1))

	status=0
	scripts/lint "$1" >"$out" 2>&1 || status=$?
	if ((status != want)) || ! grep -qF -e "${2-}" "$out"; then
		fail "lint $1 does not say '${2-}':" "$(<"$out")"
	fi
}

@test "lint: a tree without fault" {
	requires tool:shellcheck tool:cppcheck tool:sparse tool:codespell tool:clang-format-14
	local name

	tree
	for name in layers headers length format spdx blanks spelling shell cppcheck sparse; do
		lint "$name"
	done
}

@test "lint: who may know whom" {
	local line

	tree
	for line in 'printf("x");' 'fputs("x", stderr);' 'exit(1);' 'abort();'; do
		printf 'void f(void)\n{\n\t%s\n}\n' "$line" >src/b.c
		lint layers src/b.c:3:
	done
	for line in '<argp.h>' '<jansson.h>' '"../cmd/msg.h"' '<sys/capability.h>'; do
		echo "#include $line" >src/b.c
		lint layers src/b.c:1:
	done
	rm src/b.c
	for line in '<jansson.h>' '<sys/capability.h>' '"cmd_b.h"'; do
		echo "#include $line" >cmd/cmd_c.c
		lint layers cmd/cmd_c.c:1:
	done
	for line in 'ioctl(1, 2);' 'x = atoi(s);' 'x = strtoul(s, NULL, 0);' '#define _GNU_SOURCE'; do
		echo "$line" >cmd/cmd_c.c
		lint layers cmd/cmd_c.c:1:
	done
	echo '#include <jansson.h>' >cmd/out_json.c
	rm cmd/cmd_c.c
	lint layers
}

@test "lint: a header that leans on its includer" {
	tree
	echo 'size_t pgs_b(void);' >src/b.h
	lint headers src/b.h
}

@test "lint: a function of 61 lines" {
	tree
	{
		printf 'int f(void);\nint f(void)\n{\n'
		for ((i = 0; i < 59; i++)); do echo ';'; done
		printf 'return 0;\n}\n'
	} >src/b.c
	lint length
	sed -i 's/^return/;\n&/' src/b.c
	lint length '61 lines'
}

@test "lint: layout, licence, blanks, spelling, shell" {
	requires tool:shellcheck tool:codespell tool:clang-format-14
	tree
	echo 'int  x;' >src/b.c
	lint format src/b.c:1
	lint spdx src/b.c:1
	echo 'int x; ' >src/b.c
	lint blanks src/b.c:1
	printf '/* t%s */\n' eh >src/b.c
	lint spelling 't''eh'
	printf '#!/bin/sh\nrm %s1\n' \$ >scripts/b
	lint shell scripts/b:2
}

@test "lint: cppcheck and sparse" {
	requires tool:cppcheck tool:sparse
	tree
	printf 'int f(void);\nint f(void)\n{\n\tint a[2] = {0};\n\n\treturn a[2];\n}\n' >src/b.c
	lint cppcheck src/b.c:6
	printf 'char *f(void);\nchar *f(void)\n{\n\treturn 0;\n}\n' >src/b.c
	lint sparse src/b.c:4
}
