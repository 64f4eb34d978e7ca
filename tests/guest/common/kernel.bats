# SPDX-License-Identifier: GPL-2.0-only
# What the kernel of this guest offers, held against what is known of its version: so that a test that
# is skipped elsewhere for want of a feature is skipped for a reason.

# shellcheck disable=SC2154 # variables of the libraries

load ../lib

# since VERSION: "yes" on that kernel and later ones
since() {
	[[ $(printf '%s\n' "$1" "$(uname -r)" | sort -V | head -n 1) == "$1" ]] && echo yes || echo no
}

@test "its features are those of its version" {
	"$BUILD/tools/kfeat" >"$BATS_TEST_TMPDIR/has"
	uname -r | cat - "$BATS_TEST_TMPDIR/has" | tee /out/kernel
	while read -r feature has; do
		grep -x "$feature $has" "$BATS_TEST_TMPDIR/has"
	done <<-END
		pagemap yes
		pfn yes
		soft_dirty yes
		pagemap_scan $(since 6.7)
		uffd_wp_async $(since 6.7)
		guard $(since 6.13)
		kpageflags yes
		kpagecgroup yes
		map_files yes
	END
}

@test "the memory controller is the one the guest asked for" {
	[[ $CG_VERSION == "$PG_CG" ]]
	cg_new kernel 4M
	(cg_exec kernel true)
}

@test "areas of several priorities are filled from the highest down" {
	swap_disk 0 5
	swap_disk 1 9
	cg_new kernel
	target_start --cgroup kernel anon pages=256 write=all
	wait_for half_gone kernel anon
	[[ $(swap_used /dev/vdb) -eq 0 && $(swap_used /dev/vdc) -gt 0 ]]
}

@test "reclaim on request takes a cgroup's pages out, and swapoff brings them back" {
	swap_zram 64M
	cg_new kernel
	target_start --cgroup kernel anon pages=256 write=all
	cg_reclaim kernel $((4 << 20))
	states anon
	[[ $swapped -gt 128 ]]
	swapoff "$swap_device"
	states anon
	[[ $present -eq 256 ]]
}
