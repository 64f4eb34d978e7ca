#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# run.sh SOURCE RESULT SYMVERS NM COMPILER [FLAG...]: what one probe says of this kernel.
#
# RESULT becomes one line: "yes", or "no" and the reason. To compile is not enough: an inline
# function may need a symbol that is not exported, or is exported to other modules only
# (EXPORT_SYMBOL_FOR_MODULES, whose names are in field 5 of Module.symvers as "module:kvm,…";
# modpost lets nobody else import such a name space).
src=$1 result=$2 symvers=$3 nm=$4
shift 4

obj=${result%.have}.o
mkdir -p "$(dirname "$result")"
if ! errors=$("$@" -w -Wno-error -UKBUILD_MODNAME -DKBUILD_MODNAME='"probe"' \
	-c -o "$obj" "$src" 2>&1); then
	echo "no: $(printf '%s\n' "$errors" | grep -m1 'error:')" >"$result"
	exit 0
fi

missing=$($nm -u "$obj" | awk -v symvers="$symvers" '
	BEGIN {
		FS = "\t"
		while ((getline < symvers) > 0)
			if ($5 !~ /^module:/)
				exported[$2] = 1
		FS = " "
	}
	# These are made by the compiler and resolved when the module is linked.
	$2 ~ /^(_GLOBAL_OFFSET_TABLE_|__this_module)$/ { next }
	!($2 in exported) { print $2 }')
rm -f "$obj"
if [ -n "$missing" ]; then
	echo "no: not exported: $(echo "$missing" | tr "\n" " ")" >"$result"
else
	echo yes >"$result"
fi
