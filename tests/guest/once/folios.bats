#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# dump on large folios whose pages are not all mapped equally often. Kernels without a count a page
# (CONFIG_NO_PAGE_MAPCOUNT, 6.15) know an average alone, and then do not call such a page exclusive. Of what a
# single page table entry maps kernels say exclusive when the first page is ("fs/proc/task_mmu: properly detect
# PM_MMAP_EXCLUSIVE per page of PMD-mapped THPs", 6.11, until 6.15).
#
# Variables of the libraries, which shellcheck does not see come
# shellcheck disable=SC2030,SC2031,SC2154

load ../lib
load ../../lib/dump

# A huge page that is split, or collapsed anew, meanwhile would be another test.
hold_still() {
	set_file /sys/kernel/mm/transparent_hugepage/khugepaged/defrag 0
}

# parts REGION FIRST: sets alone and shared to its pages before that one, mapped nowhere else, and from that
# one on, mapped once more. What dump says of them is the kernel's; the counts are right, or the same average.
parts() {
	alone=$(region "$1" 0 "$2")
	shared=$(region "$1" "$2" $((PAGES[$1] - $2)))
	same_as_pmref "$1"
	same_flags "${ADDR[$1]}" "${PAGES[$1]}"
	run_pgscan dump --by=page --flags --json --range="$shared" "$TARGET"
	jq_is '[.rows[].mapcount] | unique' '[2]'
	run_pgscan dump --by=page --flags --json --range="$alone" "$TARGET"
	jq_true '[.rows[].mapcount] | unique | . == [1] or . == [2]'
}

# shared_is_not_exclusive: by any view; but for what one entry maps, where that is known
shared_is_not_exclusive() {
	run_pgscan dump --json --range="$shared" "$TARGET"
	jq_is '[.rows[] | select(.huge == false and .exclusive)]' '[]'
	[[ $(jq -c '[.rows[].huge] | unique' "$out") == '[false]' ]] || return 0
	run_pgscan dump --json --by=vma --range="$shared" "$TARGET"
	jq_is '[.rows[] | .present == .pages, .exclusive]' '[true,0]'
	run_pgscan dump --json --where=exclusive --range="$shared" "$TARGET"
	jq_is .rows '[]'
}

@test "a huge page that two processes map, one of them in part" {
	requires kfeat:thp
	local alone shared
	hold_still
	target_start anon pages=1 huge=1 children=1
	target_cmd dontneed huge 0-255
	shared=$(region huge 256 256)
	run_pgscan dump --json --by=vma --range="$shared" "$TARGET"
	jq_is '[.rows[] | .present, .exclusive]' '[256,0]'
	shared_is_not_exclusive
	TARGET=$(children)
	parts huge 256
	shared_is_not_exclusive
}

@test "a huge page of tmpfs that a process maps twice, the second time in part" {
	local alone shared
	hold_still
	cg_new folios
	huge_shm folios all pages=512 second=1
	target_cmd write second 100-510
	parts shm 101
	shared_is_not_exclusive
	run_pgscan dump --json --where=exclusive --range="$alone" "$TARGET"
	jq_true '.summary.pages | . == 101 or . == 0'
}
