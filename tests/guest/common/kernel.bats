# SPDX-License-Identifier: GPL-2.0-only
# What the kernel of this guest offers, held against what is known of its version: so that a test that
# is skipped elsewhere for want of a feature is skipped for a reason.

# shellcheck disable=SC2154 # variables of the library

load ../lib.bash

teardown() {
	guest_teardown
}

# since VERSION: "yes" on that kernel and later ones
since() {
	[[ $(printf '%s\n' "$1" "$(uname -r)" | sort -V | head -n 1) == "$1" ]] && echo yes || echo no
}

@test "its features are those of its version" {
	"$PGSCAN_TARGETS/offers" >"$BATS_TEST_TMPDIR/offers"
	uname -r | cat - "$BATS_TEST_TMPDIR/offers" | tee /out/kernel
	diff "$BATS_TEST_TMPDIR/offers" - <<-END
		soft_dirty yes
		pagemap_scan $(since 6.7)
		userfaultfd yes
		uffd_wp_async $(since 6.7)
	END
}

@test "the memory controller is the one the guest asked for" {
	[[ $(cg_version) == "$PG_CG" ]]
	cg_new kernel 4M
	cg_run kernel true
}

@test "areas of several priorities are filled from the highest down" {
	swap_disk 0 5
	swap_disk 1 9
	cg_new kernel 512K
	target_start t kernel shmdirty -k private 256
	[[ $(swap_used /dev/vdb) -eq 0 && $(swap_used /dev/vdc) -gt 0 ]]
}

@test "reclaim on request takes a cgroup's pages out, and swapoff brings them back" {
	swap_zram 64M
	cg_new kernel
	target_start t kernel shmdirty -k private 256
	cg_reclaim kernel $((4 << 20))
	read -r present swapped none < <(pagemap_counts "$t_pid" "$t_addr" 256)
	echo "present $present swapped $swapped none $none"
	[[ $swapped -gt 128 ]]
	swapoff "$swap_device"
	[[ $(pagemap_counts "$t_pid" "$t_addr" 256) == "256 0 0" ]]
}

@test "frame numbers and flags can be read" {
	local pfn
	target_start t - shmdirty -k private 1
	pfn=$(pagemap_raw "$t_pid" "$t_addr" 1 | od -An -tu8)
	pfn=$((pfn & 0x7fffffffffffff))
	[[ $pfn -gt 0 ]]
	# Mapped (11), anonymous (12)
	flags=$(dd if=/proc/kpageflags bs=8 skip="$pfn" count=1 status=none | od -An -tu8)
	[[ $((flags >> 11 & 3)) -eq 3 ]]
}
