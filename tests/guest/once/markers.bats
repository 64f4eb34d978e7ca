# SPDX-License-Identifier: GPL-2.0-only
# Shared memory that userfaultfd protects keeps a marker in the page table when it is swapped out
# ("mm/shmem: persist uffd-wp bit across zapping for file-backed", 5.19). The marker says nothing of where
# the page is: only the object knows.

# Variables of the libraries, which shellcheck does not see come
# shellcheck disable=SC2154

load ../lib

# Each source that can be asked for the object
sources=("--kmod=off --kcore=off" "${slot_sources[@]}")

# start KIND: 64 pages, 48 written, 40 protected, of which 8 never touched; all of them in swap
start() {
	local source
	swap_zram 64M
	cg_new markers
	target_start --cgroup markers uffd kind="$1" pages=64 write=0-47 protect=0-31,56-63
	wait_for out_of_memory uffd 0-47
	wait_for out_of_cache markers uffd
	wait_for all_in_swap
}

# By the kernel's own count of the object (st_blocks has no page that was never there)
all_in_swap() {
	cg_reclaim markers $((64 << 20))
	(($(swap_used) >= 48))
}

# dump_by SOURCE ARG...
dump_by() {
	# shellcheck disable=SC2086 # two options
	run_pgscan dump $1 -r "$(region uffd)" "${@:2}" "$TARGET"
}

# counts SOURCE SWAPPED MARKERS: every view says so, and how many pages are protected: all that have a
# marker
counts() {
	dump_by "$1" --json --by=vma
	jq_is '.rows[0] | [.present, .swapped, .other, .unknown, .uffd_wp]' "[0,$2,$3,0,40]"
	jq_is '.summary | [.swapped, .uffd_wp_marker]' "[$2,$3]"
	dump_by "$1" --json --by=vma --where='swapped|swap_cache|uffd_wp_marker'
	jq_is '.rows[0] | [.swapped, .other, .uffd_wp]' "[$2,$3,40]"
	dump_by "$1" --json
	jq_is '.summary | [.swapped + .swap_cache, .uffd_wp_marker]' "[$2,$3]"
	jq_is '[.rows[] | select(.uffd_wp) | .pages] | add' 40
	dump_by "$1" --json --where=swapped,uffd_wp
	jq_is '[.rows[].pages] | add' $((40 - $3))
	dump_by "$1" --json --by=page --where=uffd_wp_marker
	jq_is '.rows | length' "$3"
}

@test "shared pages that are write-protected are in swap where their object says so" {
	local source
	start memfd
	[[ $(awk -v a="$(printf '%x-' "${ADDR[uffd]}")" 'index($0, a) == 1 { f = 1 }
		f && /^Swap:/ { print $2; exit }' "/proc/$TARGET/smaps") == 192 ]]
	for source in "${sources[@]}"; do
		counts "$source" 48 8
	done
	run_pgscan swapmap --json "$TARGET"
	jq_is .summary.shmem 48
}

@test "private mappings of such memory are the object's where there is a marker, too" {
	local source
	start private
	for source in "${sources[@]}"; do
		counts "$source" 48 8
	done
	run_pgscan swapmap --json --by=vma -r "$(region uffd)" "$TARGET"
	jq_is '[.rows[] | .swapped // .pages] | add' 48
}

@test "a marker's page that is in memory again stays a marker, and is cached" {
	local source range
	start memfd
	range=$(printf '%x-%x' "${ADDR[uffd]}" $((ADDR[uffd] + 64 * PAGE_SIZE)))
	echo 0 >/proc/sys/vm/page-cluster
	dd if="/proc/$TARGET/map_files/$range" of=/dev/null bs=4096 skip=8 count=4 status=none
	for source in "${sources[@]}"; do
		counts "$source" 44 12
		dump_by "$source" --json --by=vma
		jq_is '.rows[0].cached' 4
		dump_by "$source" --json --where=uffd_wp_marker
		jq_is '[.rows[] | [.pages, .cached, .uffd_wp]]' '[[4,true,true],[8,false,true]]'
	done
}

@test "the word of a marker's page in swap is its slot's, and write-protected" {
	local source
	start memfd
	for source in "${slot_sources[@]}"; do
		dump_by "$source" --format=tsv --no-header --by=page -o swap_offset,entry --where=swapped,uffd_wp
		cp "$out" "$BATS_TEST_TMPDIR/rows"
		(($(wc -l <"$out") == 32))
		dump_by "$source" --format=raw
		od -An -v -tx8 -w8 "$out" | head -32 | awk '{ print "0x" $1 }' |
			diff - <(cut -f2 "$BATS_TEST_TMPDIR/rows")
		# File, swap and write-protection; the slot behind five bits of the type
		while read -r slot entry; do
			(((entry >> 56) == 0x62 && ((entry & ((1 << 55) - 1)) >> 5) == slot))
		done <"$BATS_TEST_TMPDIR/rows"
		dump_by "$source" --format=raw
		od -An -v -tx8 -w8 "$out" | tail -8 | sort -u | grep -Eqx ' 42[0-9a-f]{12}3[ef]'
	done
	# Without a slot the word is the kernel's
	dump_by "${sources[0]}" --format=raw
	cmp "$out" <(dd if="/proc/$TARGET/pagemap" bs=8 skip=$((ADDR[uffd] / PAGE_SIZE)) count=64 status=none)
}
