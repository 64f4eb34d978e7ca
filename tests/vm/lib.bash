# SPDX-License-Identifier: GPL-2.0-only
# What the scripts of this folder share: folders, messages, the rows of the matrix.
# shellcheck shell=bash

vm_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$vm_dir/../.." && pwd)
build=$top/${O:-build}/vm
# Kernels and headers are a few hundred MB; clones that share PGSCAN_CACHE download them once.
cache=${PGSCAN_CACHE:-$top/.cache}
export vm_dir top build cache

die() {
	echo "${0##*/}: $*" >&2
	exit 1
}

# matrix_row NAME: set the variables that name the columns of the matrix
matrix_row() {
	local row
	row=$(awk -v n="$1" '!/^#/ && $1 == n' "${PGSCAN_MATRIX:-$vm_dir/matrix}")
	[[ -n $row ]] || die "no guest '$1' in the matrix"
	# shellcheck disable=SC2034 # for the caller
	read -r name set kernel mem smp cgroup tests timeout append qemu_args <<<"$row"
	append=${append//,/ }
	[[ $append != - ]] || append=
	[[ $qemu_args != - ]] || qemu_args=
}

# matrix_names SET: the guests of that set, one a line; those of "check" are in "matrix" too
matrix_names() {
	awk -v s="$1" '!/^#/ && ($2 == s || s == "matrix" && $2 == "check") { print $1 }' \
		"${PGSCAN_MATRIX:-$vm_dir/matrix}"
}

# with_lock FILE COMMAND...: one at a time, also between clones that share the cache
with_lock() {
	local lock=$1
	shift
	mkdir -p "$(dirname "$lock")"
	(
		flock 9
		"$@" 9>&-
	) 9>"$lock"
}

# setup_guests NAME...: what the guests share. Kernels are fetched before two guests ask for the same one.
setup_guests() {
	local name kernel_dir
	mkdir -p "$build"
	with_lock "$build/root.lock" "$vm_dir/mkroot" "$build/root"
	for name; do
		matrix_row "$name"
		# shellcheck disable=SC2154 # matrix_row sets it
		kernel_dir=$("$vm_dir/fetch-kernel" "$kernel") || die "no kernel for the guest $name"
	done
	"$vm_dir/accel" "$kernel_dir" >"$build/accel" 2>/dev/null
}
