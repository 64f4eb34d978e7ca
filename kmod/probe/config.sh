#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# config.sh HEADER RESULT...: the answers of the probes as HAVE_<NAME>. Fails if the control
# probes, whose answers are known, come out wrong: then the compiler, the flags or the tree are
# broken, and every other answer would be a lie.
header=$1
shift

dir=$(dirname "$1")
if [ "$(cat "$dir/control_pass.have")" != yes ]; then
	echo >&2 "pgscan: the probe that must pass says $(cat "$dir/control_pass.have")"
	exit 1
fi
for control in control_fail control_unexported; do
	if [ "$(cat "$dir/$control.have")" = yes ]; then
		echo >&2 "pgscan: the probe $control, which must fail, passes"
		exit 1
	fi
done

{
	echo "/* Made by probe/config.sh: what this kernel has. */"
	for result; do
		name=$(basename "$result" .have)
		case $name in control_*) continue ;; esac
		macro=HAVE_$(echo "$name" | tr '[:lower:]' '[:upper:]')
		if read -r answer <"$result" && [ "$answer" = yes ]; then
			echo "#define $macro 1"
		else
			echo "/* $macro: $answer */"
		fi
	done
} >"$header.tmp"

if [ -e "$header" ] && [ "$(cat "$header.tmp")" = "$(cat "$header")" ]; then
	rm -f "$header.tmp"
else
	mv "$header.tmp" "$header"
fi
