#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# dump: every state, frame and bit equals what an independent reader finds on a live process.
# shellcheck disable=SC2030,SC2031,SC2153 # tests are subshells; the library sets TARGET, ADDR, PAGES

load lib/common
load lib/dump

@test "truth: written, zero and untouched pages of private memory" {
	requires kfeat:pagemap
	target_start anon pages=600 write=0-99,200-399/3 read=100-149
	same_as_pmref anon
}

@test "truth: each frame of a fragmented mapping, page by page" {
	requires kfeat:pfn
	target_start anon pages=2000 write=0-1999/7
	target_cmd write anon 0-1999/3
	target_cmd dontneed anon 0-1999/5
	same_as_pmref --by=page anon
	same_as_pmref anon
}

@test "truth: a whole process, each mapping" {
	requires kfeat:pagemap
	target_start anon pages=64 write=0-15
	same_everywhere
}

@test "truth: a huge page and the huge zero page" {
	requires kfeat:thp
	target_start anon huge=2 hugezero=1
	same_as_pmref huge hugezero
}

@test "truth: the flags of the huge zero page, whose mappings the kernel does not count" {
	requires kfeat:thp kfeat:kpageflags kfeat:pfn
	target_start anon hugezero=1
	run_pgscan dump --flags --json --range="$(region hugezero)" "$TARGET"
	jq_is '[.rows[] | [.zero, .racy, (.symbolic // "" | test("zero_page"))]] | unique' \
		'[[true,false,true]]'
	run_pgscan dump --by=flags --json --range="$(region hugezero)" "$TARGET"
	jq_is '[.rows[].pages] | add' "${PAGES[hugezero]}"
}

@test "truth: shared memory of each kind, with a second and a private mapping" {
	requires kfeat:pagemap kfeat:map_files
	local kind

	for kind in memfd anon sysv tmpfs; do
		target_start shm "kind=$kind" pages=300 write=0-99,150-299/2
		same_as_pmref shm
	done
	target_start shm kind=memfd pages=100 write=0-49 second=1 private=10-59
	same_as_pmref shm second private
}

@test "truth: a file mapped shared and private" {
	requires kfeat:pagemap
	target_start file "path=$BATS_TEST_TMPDIR/file" pages=64 cached=0-31 shared=0-9 private=20-29
	same_as_pmref shared private
}

@test "truth: pages that userfaultfd protects, and markers where nothing is" {
	requires kfeat:uffd_wp_async kfeat:pfn
	target_start uffd pages=64 write=0-31/3
	same_as_pmref uffd
	target_cmd write uffd 5-40
	same_as_pmref uffd
}

@test "truth: guard pages" {
	requires kfeat:guard
	target_start guard pages=32 guard=1,8-11,31
	same_as_pmref guard
}

@test "truth: memory made inaccessible keeps its pages" {
	requires kfeat:pagemap
	target_start anon pages=64 write=0-31 protnone=1
	same_as_pmref anon
}

@test "truth: both engines, with and without PAGEMAP_SCAN, give the same pages" {
	requires kfeat:pagemap_scan
	target_start anon pages=70000 write=0-999/9,30000-31000,69999 huge=1
	same_as_pmref anon huge
	cp "$out" "$BATS_TEST_TMPDIR/scan"
	PGSCAN_DISABLE=pagemap_scan same_as_pmref anon huge
	# Rows may be cut elsewhere; here neither has a reason to. Huge pages only one of them sees.
	cmp <(cut -f 1-10 "$out") <(cut -f 1-10 "$BATS_TEST_TMPDIR/scan")
}

@test "truth: every batch size reads the same rows" {
	requires kfeat:pagemap
	local batch

	target_start anon pages=3000 write=0-2999/11,500-1500
	same_as_pmref anon
	cp "$out" "$BATS_TEST_TMPDIR/rows"
	for batch in 1 2 7 511 512 513 4096 65536; do
		same_as_pmref "--batch=$batch" anon
		cmp "$out" "$BATS_TEST_TMPDIR/rows"
	done
}

@test "truth: two runs over a quiet process print the same rows" {
	requires kfeat:pagemap
	target_start anon pages=5000 write=0-4999/13 read=0-4999/17
	run_pgscan dump --json "$TARGET"
	jq_true '.summary.present > 600 and (.rows | length) > 1000'
	cp "$out" "$BATS_TEST_TMPDIR/first"
	run_pgscan dump --json "$TARGET"
	cmp "$out" "$BATS_TEST_TMPDIR/first"
}

# ---- views -----------------------------------------------------------------------------------

@test "by=page: the raw entry of each page" {
	requires kfeat:pagemap
	target_start anon pages=200 write=0-99 read=100-120
	run_pgscan dump --by=page --format=tsv --no-header --columns=start,entry \
		--range="$(region anon)" "$TARGET"
	pmref "$TARGET" "${ADDR[anon]}" 200 | awk '{ print $1 "\t" $2 }' >"$BATS_TEST_TMPDIR/want"
	diff "$BATS_TEST_TMPDIR/want" "$out" | head
	cmp "$BATS_TEST_TMPDIR/want" "$out"
}

@test "by=run: a run ends where state, frame order or a bit changes, and nowhere else" {
	requires kfeat:pfn
	target_start anon pages=256 write=0-99 read=128-255 huge=1
	run_pgscan dump --json --range="$(region anon)" "$TARGET"
	jq_true '.rows | length > 2'
	jq_is '[.rows | [.[:-1], .[1:]] | transpose[] |
		select(.[0].end == .[1].start and .[0].state == .[1].state and .[0].pfn and
			.[0].zero == .[1].zero and
			.[1].pfn == .[0].pfn + if .[0].zero then 0 else .[0].pages end and
			.[0].file == .[1].file and .[0].exclusive == .[1].exclusive)]' '[]'
	# Untouched pages have no frame: one run.
	jq_is '[.rows[] | select(.state == "none") | .pages]' '[28]'
	# A huge page is one run of 512 frames.
	run_pgscan dump --json --range="$(region huge)" "$TARGET"
	jq_is '[.rows[] | [.pages, .state, .huge]]' '[[512,"present",true]]'
}

@test "by=vma: the mappings of /proc/PID/maps with the counts of their pages" {
	requires kfeat:pagemap
	target_start anon pages=64 write=0-15 read=16-31
	run_pgscan dump --by=vma --json "$TARGET"
	jq -r '.rows[] | [.start, .end, .perms, .offset, .inode // 0] | map(tostring) | join(" ")' "$out" \
		>"$BATS_TEST_TMPDIR/got"
	while read -r range perms offset _ inode _; do
		printf '0x%x 0x%x %s 0x%x %d\n' "0x${range%-*}" "0x${range#*-}" "$perms" "0x$offset" "$inode"
	done <"/proc/$TARGET/maps" >"$BATS_TEST_TMPDIR/want"
	diff "$BATS_TEST_TMPDIR/want" "$BATS_TEST_TMPDIR/got"
	jq_is "[.rows[] | select(.start == \"${ADDR[anon]}\") |
		.pages, .present, .swapped, .none, .zero, .file]" '[64,32,0,32,16,0]'
	jq_true '.rows | all(.pages >= .present + .none)'
}

@test "by=vma: present equals Rss of the process' own count" {
	requires kfeat:pagemap kfeat:thp
	target_start anon pages=1000 write=0-999/3 huge=1
	run_pgscan dump --by=vma --json "$TARGET"
	jq_is "[.rows[] | select(.start == \"${ADDR[anon]}\" or .start == \"${ADDR[huge]}\") | .present]" \
		'[512,334]'
	jq_is "[.rows[] | select(.start == \"${ADDR[huge]}\") | .huge]" '[512]'
}

@test "summary: the states add up to the pages" {
	requires kfeat:pagemap kfeat:guard
	target_start guard pages=32 guard=3-5
	run_pgscan dump --json --range="$(region guard)" "$TARGET"
	jq_is '.summary | [.pages, .present, .guard, .swapped, .none]' '[32,29,3,0,0]'
	jq_true '.complete'
}

# ---- hex and raw -----------------------------------------------------------------------------

same_hexdump() { # ADDR PAGES
	run_pgscan dump --format=hex --range="$(printf '0x%x+0x%x' "$1" $(($2 * PAGE_SIZE)))" "$TARGET"
	hexdump_of "$1" "$2" >"$BATS_TEST_TMPDIR/want"
	[[ -s $BATS_TEST_TMPDIR/want ]] || fail "nothing to compare"
	cmp "$BATS_TEST_TMPDIR/want" "$out"
}

@test "hex: what dd | hexdump -C prints, for pages, zeroes and both" {
	requires kfeat:pagemap tool:hexdump
	target_start anon pages=300 write=0-99 read=200-249
	same_hexdump "${ADDR[anon]}" 300
	same_hexdump "${ADDR[anon]}" 100
	same_hexdump $((ADDR[anon] + 100 * PAGE_SIZE)) 100
}

@test "hex: lines that squeeze to *, and what follows them" {
	requires kfeat:pagemap tool:hexdump
	local pages

	# Zero pages repeat one word, untouched ones another; the ends fall at and beside the
	# boundaries of a line of two words.
	target_start anon pages=64 read=0-15 write=31
	for pages in 1 2 3 4 5 6 15 16 17 18 30 31 32 33 34 63 64; do
		same_hexdump "${ADDR[anon]}" "$pages"
		same_hexdump $((ADDR[anon] + PAGE_SIZE)) $((pages - 1 ? pages - 1 : 1))
	done
}

@test "hex: a long hole, and the page behind it" {
	requires kfeat:pagemap tool:hexdump
	target_start anon pages=100000 write=0,99990
	same_hexdump "${ADDR[anon]}" 100000
	grep -qxF '*' "$out"
}

@test "hex: a range that begins and ends outside of any mapping" {
	requires kfeat:pagemap tool:hexdump
	target_start anon pages=16 write=0-15
	same_hexdump $((ADDR[anon] - 8 * PAGE_SIZE)) 40
	target_cmd unmap anon
	same_hexdump $((ADDR[anon] - 8 * PAGE_SIZE)) 40
}

@test "hex, raw: a range across the end of the address space ends there, as pagemap does" {
	requires kfeat:pagemap tool:hexdump
	[[ $(uname -m) == x86_64 ]] || skip "knows where the address space of x86-64 ends"
	local before

	target_start anon pages=16 write=0-15
	# Not further than so: a fault would fill the disk.
	for before in 1 2 16 17 300; do
		same_hexdump $((0x7ffffffff000 - before * PAGE_SIZE)) 320
		run_pgscan dump --format=raw \
			--range="$(printf '0x%x+16M' $((0x7ffffffff000 - before * PAGE_SIZE)))" "$TARGET"
		[[ $(stat -c %s "$out") -eq $((before * 8)) ]]
	done
	run_pgscan dump --format=raw --range=0x7ffffffff000+16M "$TARGET"
	[[ ! -s $out ]]
}

@test "hex: offsets count from the start of the range over more than one read" {
	requires kfeat:pagemap tool:hexdump
	target_start anon pages=9000 write=0-8999/2
	same_hexdump "${ADDR[anon]}" 9000
	run_pgscan dump --format=hex --batch=7 --range="$(region anon)" "$TARGET"
	cmp "$BATS_TEST_TMPDIR/want" "$out"
}

@test "hex: markers and guard pages keep their words" {
	requires kfeat:uffd_wp_async kfeat:guard tool:hexdump
	target_start uffd
	same_hexdump "${ADDR[uffd]}" 16
	target_start guard
	same_hexdump "${ADDR[guard]}" 4
}

@test "raw: the words as they lie in the page map" {
	requires kfeat:pagemap
	target_start anon pages=3001 write=0-3000/3 read=0-3000/5
	run_pgscan dump --format=raw --range="$(region anon)" "$TARGET"
	pmref -w "$TARGET" "${ADDR[anon]}" 3001 | cmp - "$out"
}

# ---- flags -----------------------------------------------------------------------------------

@test "flags: each frame's flags and map count" {
	requires kfeat:kpageflags kfeat:pfn
	target_start anon pages=500 write=0-299/2 read=300-320
	same_flags "${ADDR[anon]}" 500
}

@test "flags: a huge page, head and tails" {
	requires kfeat:kpageflags kfeat:pfn kfeat:thp
	target_start anon huge=1
	same_flags "${ADDR[huge]}" 512
	run_pgscan dump --flags --json --range="$(region huge)" "$TARGET"
	jq_is '[.rows[].pages] | add' 512
	jq_true '.rows | all(.symbolic | test("thp"))'
	jq_true '.rows[0].symbolic | test("compound_head")'
}

@test "flags: shared memory that two mappings share" {
	requires kfeat:kpageflags kfeat:pfn
	target_start shm kind=memfd pages=32 write=0-15 second=1 private=none
	same_flags "${ADDR[shm]}" 32
}

@test "by=flags: the histogram counts what single pages have" {
	requires kfeat:kpageflags kfeat:pfn
	local i

	target_start anon pages=300 write=0-99 read=100-149
	for ((i = 0; i < 20; i++)); do
		pmref "$TARGET" "${ADDR[anon]}" 300 >"$BATS_TEST_TMPDIR/before"
		run_pgscan dump --by=flags --json --range="$(region anon)" "$TARGET"
		pmref "$TARGET" "${ADDR[anon]}" 300 >"$BATS_TEST_TMPDIR/after"
		! cmp -s "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after" || break
	done
	awk '$3 != "-" { n[$3]++ } END { for (f in n) print f, n[f] }' "$BATS_TEST_TMPDIR/after" | sort \
		>"$BATS_TEST_TMPDIR/want"
	jq -r '.rows[] | select(.flags) | "\(.flags) \(.pages)"' "$out" | sort |
		diff "$BATS_TEST_TMPDIR/want" -
	jq_true '.rows | any(.symbolic | test("zero_page"))'
}

@test "flags: the cgroup of a frame by its path" {
	requires kfeat:kpagecgroup kfeat:pfn
	local path

	target_start anon pages=16 write=0-15
	path=$(sed -n 's/^[0-9]*:memory://p' "/proc/$TARGET/cgroup")
	[[ -n $path ]] || path=$(sed -n 's/^0:://p' "/proc/$TARGET/cgroup")
	run_pgscan dump --flags --json --range="$(region anon)" "$TARGET"
	jq_is '[.rows[].cgroup] | unique' "[\"$path\"]"
}

@test "flags: node and zone of a frame" {
	requires kfeat:kpageflags kfeat:pfn
	target_start anon pages=4 write=0-3
	run_pgscan dump --flags --json --range="$(region anon)" "$TARGET"
	jq_true '.rows | length > 0 and all((.node | type) == "number")'
	jq_true '.rows | all(.zone | IN("DMA", "DMA32", "Normal", "Movable"))'
}

# ---- where -----------------------------------------------------------------------------------

# pages_where EXPR: how many pages of the region anon match.
pages_where() {
	run_pgscan dump --json --where="$1" --range="$(region "${2:-anon}")" "$TARGET"
	jq '[.rows[].pages] | add // 0' "$out"
}

@test "where: states, bits, not, and, or, and binds before or" {
	requires kfeat:pagemap_scan
	target_start anon pages=100 write=0-39 read=40-59
	[[ $(pages_where present) == 60 ]]
	[[ $(pages_where '!present') == 40 ]]
	[[ $(pages_where none) == 40 ]]
	[[ $(pages_where zero) == 20 ]]
	[[ $(pages_where 'present,!zero') == 40 ]]
	[[ $(pages_where 'present,zero|none') == 60 ]]
	[[ $(pages_where 'none|present,zero') == 60 ]]
	[[ $(pages_where 'present,none') == 0 ]]
	[[ $(pages_where 'present|none') == 100 ]]
	[[ $(pages_where swapped) == 0 ]]
}

@test "where: flags of the frames, with --flags or without" {
	requires kfeat:kpageflags kfeat:pfn
	target_start anon pages=100 write=0-39 read=40-59
	[[ $(pages_where zero_page) == 20 ]]
	[[ $(pages_where 'anon,!ksm') == 40 ]]
	[[ $(pages_where 'anon|none') == 80 ]]
}

@test "where: file and shared pages apart from private ones" {
	requires kfeat:pagemap
	target_start shm kind=memfd pages=32 write=0-15 private=0-3
	[[ $(pages_where present,file shm) == 16 ]]
	[[ $(pages_where 'present,!file' private) == 4 ]]
	[[ $(pages_where present private) == 4 ]]
}

@test "where: guard pages and markers are told apart from swapped ones" {
	requires kfeat:guard kfeat:uffd_wp_async
	target_start guard
	[[ $(pages_where guard guard) == 1 ]]
	[[ $(pages_where swapped guard) == 0 ]]
	target_start uffd
	[[ $(pages_where uffd_wp_marker uffd) == 8 ]]
	[[ $(pages_where swapped uffd) == 0 ]]
	[[ $(pages_where present,uffd_wp uffd) == 8 ]]
}

@test "where: an expression that means nothing is a usage error" {
	local expr

	for expr in '' nonsense 'present,' ',present' 'present|' '!' '!!' 'present file' 'present&file'; do
		run_pgscan 2 dump "--where=$expr" $$
		[[ -s $err && ! -s $out ]] || fail "for '$expr'"
	done
}

# ---- chance ----------------------------------------------------------------------------------

random_list() { # PAGES: one to three stretches of a region of that many pages
	local i first step list=

	for ((i = 0; i <= RANDOM % 3; i++)); do
		first=$((RANDOM * RANDOM % $1))
		step=$((RANDOM % 2 ? 1 : RANDOM % 9 + 1))
		list+=,$first-$((first + RANDOM * RANDOM % ($1 - first)))/$step
	done
	echo "${list#,}"
}

@test "truth: whatever is done to the memory, in whatever batches, by either engine" {
	requires kfeat:pagemap kfeat:map_files
	local seed=${SEED:-$RANDOM} i region
	local -a ops=(write read write read dontneed cold)

	RANDOM=$seed
	echo "SEED=$seed"
	target_start anon pages=3000
	local anon=$TARGET
	target_start shm kind=memfd pages=3000 second=1 private=none
	for ((i = 0; i < 12; i++)); do
		target_use "$anon"
		target_cmd "${ops[RANDOM % ${#ops[@]}]}" anon "$(random_list 3000)"
		same_as_pmref "--batch=$((RANDOM % 3000 + 1))" anon
		PGSCAN_DISABLE=pagemap_scan same_as_pmref --by=page anon
		target_use "${TARGETS[1]}"
		region=$(shuf -n 1 -e shm second private --random-source=<(yes "$RANDOM"))
		target_cmd "${ops[RANDOM % 2]}" "$region" "$(random_list 2999)"
		same_as_pmref "--batch=$((RANDOM % 3000 + 1))" shm second private
		same_hexdump $((ADDR[shm] + RANDOM % 3000 * PAGE_SIZE)) $((RANDOM % 3000 + 1))
	done
}
