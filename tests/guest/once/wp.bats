#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# wp by every method this kernel has: by uffd from 6.7 on, by the module, and by soft-dirty.
# shellcheck disable=SC2030,SC2031,SC2153,SC2154 # tests are subshells; the libraries set variables

load ../lib
load ../../lib/wp

teardown() {
	wp_teardown
	common_teardown
	guest_teardown
}

has_uffd() { has_kfeat uffd_wp_async && has_kfeat pagemap_scan; }

# methods: those that are there, one a word
methods() {
	! has_uffd || echo uffd
	[[ ! -c /dev/pgscan ]] || echo module
	! has_kfeat soft_dirty || echo soft-dirty
}

@test "random writes, reads and drops against their own log" {
	has_uffd || skip "no PAGEMAP_SCAN and asynchronous write protection"
	TRACK_ROUNDS=${TRACK_ROUNDS:-30} "$BUILD/tools/test_track"
}

@test "random writes and reads against their own log, by the module" {
	requires module
	TRACK_METHOD=module TRACK_ROUNDS=${TRACK_ROUNDS:-30} "$BUILD/tools/test_track"
}

@test "random writes and reads against their own log, by soft-dirty" {
	requires kfeat:soft_dirty
	TRACK_METHOD=soft-dirty TRACK_ROUNDS=${TRACK_ROUNDS:-30} "$BUILD/tools/test_track"
}

@test "auto takes uffd, then the module, then, when it is allowed to, soft-dirty" {
	requires module kfeat:soft_dirty
	target_start anon pages=16 write=0-15
	run_pgscan wp --json -i 0.01 -c 1 "$TARGET"
	if has_uffd; then
		jq_is .summary.method '"uffd"'
	else
		jq_is .summary.method '"module"'
		jq_true '.summary.method_why | startswith("uffd: this kernel or user has no ")'
	fi
	PGSCAN_DISABLE=pagemap_scan run_pgscan wp --json -i 0.01 -c 1 "$TARGET"
	jq_is '.summary | [.method, .stop_us]' '["module",0]'
	PGSCAN_DISABLE=pagemap_scan,module run_pgscan 4 wp -i 0.01 -c 1 "$TARGET"
	[[ $stderr == *"ask for it"* && -z $output ]]
	PGSCAN_DISABLE=pagemap_scan,module run_pgscan wp --json -i 0.01 -c 1 --clear-soft-dirty "$TARGET"
	jq_is .summary.method '"soft-dirty"'
	[[ $stderr == *"is cleared for the whole process"* ]]
}

@test "private memory, by each method: exactly the pages that were written" {
	local method

	for method in $(methods); do
		target_start anon pages=64 write=0-15
		wp_start --method="$method" --range="$(region anon)"
		target_cmd write anon 3,5-7,25
		target_cmd read anon 20-30
		wp_end
		wp_written anon 3,5,6,7,25
		[[ $(wp_last .summary.method) == "\"$method\"" ]]
	done
}

# write_and_swap KIND METHOD [OPTION...]: wp looks on while a target of that kind, all of whose 64 pages have
# been written, writes ten of them, and all go to swap.
write_and_swap() {
	target_start "$1" pages=64 write=0-63
	wp_start --method="$2" --range="$(region "$1")" "${@:3}"
	target_cmd write "$1" 10-19
	target_cmd pageout "$1" all
	wp_end
}

@test "a page that was written and went to swap is written" {
	local method

	swap_disk 0
	for method in $(methods); do
		write_and_swap anon "$method"
		grep -q '^VmSwap:[[:space:]]*[1-9]' "/proc/$TARGET/status"
		wp_written anon 10,11,12,13,14,15,16,17,18,19
	done
}

@test "shared memory that reclaim took is unknown to soft-dirty, not clean" {
	local method

	swap_disk 0
	for method in $(methods); do
		write_and_swap shm "$method" --by=vma
		if [[ $method == uffd ]]; then
			jq -se '.[0].written == 10' "$out" >/dev/null
		else
			jq -se '.[0].written + .[0].unknown >= 10' "$out" >/dev/null
		fi
	done
}

@test "huge pages: by uffd the small page that was written, by the others the huge one" {
	local method pages

	for method in $(methods); do
		target_start anon pages=1 huge=2
		wp_start --method="$method" --range="$(region huge)"
		target_cmd write huge 700
		wp_end
		pages=$(seq -s, 512 1023)
		[[ $method != uffd ]] || pages=700
		wp_written huge "$pages"
	done
}

@test "a dropped huge page counts with all its pages, where drops are seen" {
	has_uffd || skip "soft-dirty does not see them"
	target_start anon pages=1 huge=2
	wp_start --method=uffd --range="$(region huge)"
	target_cmd dontneed huge 0-511
	wp_end
	wp_written huge "$(seq -s, 0 511)"
}

@test "huge pages of hugetlbfs, unpopulated, are left alone" {
	has_uffd || skip "the other methods do not walk them"
	set_file /proc/sys/vm/nr_hugepages 4
	target_start anon hugetlb=2
	run_pgscan wp --json -i 0.01 -c 2 --by=vma --range="$(region hugetlb)" "$TARGET"
	jq_is '[.rows[].why] | unique' '["hugetlb"]'
}

# wait_samples N: so many more than there are, of a wp that takes them all the time
wait_samples() {
	local more=$(($(wc -l <"$out") + $1))

	wait_for samples_are "$more"
}

samples_are() { (($(wc -l <"$out") >= $1)); }

# sample_is FIELDS VALUES: of the last sample, as a list
sample_is() {
	local got

	got=$(grep '"sample"' "$out" | tail -n 1 | jq -c "[$1]")
	[[ $got == "[$2]" ]] || fail "the last sample has [$1] = $got, not [$2]" "$(tail -n 5 "$out")"
}

@test "huge pages of hugetlbfs that are there are tracked when it is asked for; by uffd alone" {
	local method

	set_file /proc/sys/vm/nr_hugepages 4
	target_start anon hugetlb=4
	target_cmd write hugetlb 0-1535
	for method in $(methods); do
		wp_start --hugetlb --method="$method" --by=vma --range="$(region hugetlb)"
		target_cmd write hugetlb 0,700,1536 # the last for the first time
		target_cmd dontneed hugetlb 0-511
		wp_end
		if [[ $method == uffd ]]; then
			sample_is .pages,.written,.untracked,.why 2048,1536,0,null
		else
			sample_is .pages,.written,.untracked,.why '0,null,2048,"hugetlb"'
		fi
	done
}

@test "pages of 1 GiB, which the kernel does not protect, are not tracked even when it is asked for" {
	has_uffd || skip "the other methods track none of hugetlbfs"
	[[ -d /sys/kernel/mm/hugepages/hugepages-1048576kB ]] || skip "no pages of 1 GiB here"
	target_start anon gigantic=1
	run_pgscan wp --hugetlb --json -i 0.01 -c 1 --by=vma --range="$(region gigantic)" "$TARGET"
	jq_is '.rows[] | [.pages, .written, .untracked, .why]' '[0,null,262144,"hugetlb"]'
}

@test "a mapping merged with a new one is marked as a whole: its pages count, its holes do not" {
	local method want

	for method in $(methods); do
		target_start merge pages=16 write=0-7 grow=16
		wp_start --method="$method" --by=total -i 0.2 \
			--range="${ADDR[old]}-$(printf '%#x' $((ADDR[new] + 16 * PAGE_SIZE)))"
		wait_samples 2
		sample_is .pages,.written,.whole 16,0,0
		target_cmd grow
		wait_for grep -q '"untracked":16' "$out"
		target_cmd write new 2
		wait_samples 4
		sample_is .pages,.written,.whole,.untracked 32,0,0,0
		wp_end
		# the samples that met the mark say so of all that they call written
		want='length == 0'
		[[ $method == uffd ]] || want='length > 0 and all(.written == .whole and .whole >= 8)'
		jq -se "[.[] | select(.sample and .whole > 0)] | $want" "$out" >/dev/null ||
			fail "by $method, not: $want" "$(<"$out")"
		# and of all: what has been written since, and the holes never
		[[ $(wp_last .summary.distinct_pages) == $([[ $method == uffd ]] && echo 1 || echo 9) ]]
	done
}

@test "pinned pages count each time, by the module: a device may write to them unseen" {
	requires module
	target_start held pages=16 pin=4
	wp_start --method=module --by=total -i 0.1 --range="$(region held)"
	wait_samples 3
	sample_is .written,.stuck 4,4
	target_cmd write held 8
	wait_for grep -q '"written":5,' "$out"
	target_cmd release
	wait_for grep -q '"written":0,' "$out"
	wait_samples 2
	sample_is .written,.stuck 0,0
	wp_end
	[[ $(wp_last .summary.distinct_pages) == 5 ]]
}

@test "a process that an MMU notifier watches: not by the module, which says why" {
	requires module
	[[ -e /dev/kvm ]] || modprobe kvm-amd || skip "no KVM here"
	defer rmmod kvm-amd
	target_start held kvm=1
	run_pgscan 4 wp --method=module -c 1 -i 0.01 "$TARGET"
	[[ -z $output && $stderr == *"MMU notifiers watch process $TARGET"* ]]
	PGSCAN_DISABLE=pagemap_scan run_pgscan 4 wp -c 1 -i 0.01 "$TARGET"
	[[ $stderr == *"module: MMU notifiers"*"soft-dirty"* ]]
	target_stop
}

@test "a command, by each method" {
	local method

	for method in $(methods); do
		run_pgscan 7 wp --method="$method" --json -i 10 -- sh -c 'exit 7'
		jq_is '.summary | [.method, .execs, .samples]' "[\"$method\",1,1]"
		jq_true '.rows[0].written > 0'
	done
}

@test "memory that another userfaultfd has for its missing pages alone: by uffd not tracked, and why" {
	local method

	for method in $(methods); do
		target_start uffd mode=missing pages=16 write=all
		wp_start --method="$method" --range="$(region uffd)"
		target_cmd write uffd 3,7
		wp_end
		if [[ $method != uffd ]]; then
			wp_written uffd 3,7
			continue
		fi
		wp_written uffd ""
		[[ $(wp_last '.summary | [.tracked_bytes, .untracked_bytes, .untracked_why]') == \
			'[0,65536,"another userfaultfd 65536"]' ]]
	done
}

# UFFDIO_WRITEPROTECT passes over empty pages (without UFFD_FEATURE_WP_UNPOPULATED), and a page that it
# passed over is written at no cost.
@test "the comparison: each write that it measures is a fault, by each way" {
	local before faults want

	[[ -n $(methods) ]]
	before=$(vmstat pgfault)
	run_pgscan wp --compare=512 --json
	faults=$(($(vmstat pgfault) - before))
	# One round more than counts. What the processes of this test have beside it is less than a way's.
	want=$(jq '[.rows[] | (.rounds + 1) * .pages] | add' "$out")
	((faults >= want && faults < want + 20000)) || fail "$faults faults, not $want"
	jq_is .summary.memory '"private, anonymous, small pages, all written before"'
}
