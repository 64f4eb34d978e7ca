#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# dump: its options, formats and exit statuses.
# shellcheck disable=SC2030,SC2031,SC2153 # tests are subshells; the library sets TARGET, ADDR, PAGES

load lib/common
load lib/dump

# ---- targets and ranges ----------------------------------------------------------------------

@test "several processes come in the order given" {
	local first

	target_start anon pages=8 write=0-7
	first=$TARGET
	target_start anon pages=8 write=0-3
	run_pgscan dump --json --by=vma "$TARGET" "$first"
	jq_is '[.rows[].pid] | [.[0], .[-1]]' "[$TARGET,$first]"
	jq_is '[.rows[].pid] | unique | length' 2
}

@test "range: both forms, sizes, and rounding out to pages" {
	local a

	target_start anon pages=64 write=all
	a=${ADDR[anon]}
	for range in "$a-$(page_addr anon 4)" "$a+16K" "$a+0x4000" "$a+16384" \
		"$(printf '%d' "$a")+16K" "$(printf '0x%x' $((a + 1)))+12289" "$a-$(printf '0x%x' $((a + 12289)))"; do
		run_pgscan dump --json --range="$range" "$TARGET"
		jq_is '[.summary.pages, .rows[0].start, .rows[-1].end]' "[4,\"$a\",\"$(page_addr anon 4)\"]"
	done
}

@test "range: several, in any order, overlapping, cutting mappings" {
	target_start anon pages=64 write=all
	run_pgscan dump --by=page --json --range="$(region anon 10 5)" --range="$(region anon 0 2)" \
		--range="$(region anon 12 5)" "$TARGET"
	jq_is '.summary.pages' 9
	jq_is '[.rows[].start] == ([.rows[].start] | unique)' true
	run_pgscan dump --by=vma --json --range="$(region anon 10 5)" "$TARGET"
	jq_is '.summary.present' 5
}

@test "range: one that ends where a mapping starts, or starts where it ends, is none of it" {
	local view

	target_start anon pages=16 write=all
	for view in run vma page; do
		run_pgscan dump --json --by=$view --range="$(region anon -1 1)" \
			--range="$(region anon 16 1)" "$TARGET"
		jq_is '[.rows[] | [.start, .pages]]' \
			"[[\"$(page_addr anon -1)\",1],[\"$(page_addr anon 16)\",1]]"
		jq_is '.summary | [.pages, .present]' '[2,0]'
	done
}

@test "range: what is no range is a usage error" {
	local range

	for range in '' x 0x1000 0x1000- 0x1000+ -0x1000 +0x1000 0x2000-0x1000 0x1000-0x1000 0x1000+0 \
		0x1000+4Q 0x1000+-4 '0x1000 + 4' 0x1g00+4K 0xffffffffffffffff0+1; do
		run_pgscan 2 dump "--range=$range" $$
		[[ ! -s $out && $(wc -l <"$err") -le 2 ]] || fail "for '$range'"
	done
}

@test "range: nothing mapped there is no row and no failure" {
	local view

	target_start anon pages=8 write=all
	target_cmd unmap anon
	for view in run vma page; do
		run_pgscan dump --json --by=$view --range="$(region anon)" "$TARGET"
		jq_is '[.rows, .summary.pages, .complete]' '[[],0,true]'
		[[ $stderr == *"no mapping matches --range"* ]]
	done
}

@test "vma: patterns choose mappings by name" {
	target_start shm kind=memfd pages=8 write=all private=0-1
	run_pgscan dump --json --vma='/memfd:*' "$TARGET"
	jq_is '[.rows[].vma] | unique' '["/memfd:pgscan-test"]'
	jq_is '.summary.pages' 16
	run_pgscan dump --json --vma='[stack]' --vma='[h*]' "$TARGET"
	jq_is '[.rows[].vma] | unique - ["[stack]", "[heap]"]' '[]'
	jq_true '.rows | any(.vma == "[stack]")'
	target_start shm kind=anon pages=8 write=all
	run_pgscan dump --json --by=vma --vma='[shmem]' "$TARGET"
	jq_is '[.rows[].start]' "[\"${ADDR[shm]}\"]"
	target_start anon pages=8 write=all
	run_pgscan dump --json --by=vma --vma='[anon]' --range="$(region anon)" "$TARGET"
	jq_is '[.rows[].start]' "[\"${ADDR[anon]}\"]"
	target_start shm kind=sysv pages=8 write=all
	run_pgscan dump --json --by=vma --vma='/SYSV*' "$TARGET"
	jq_is '[.rows[].start]' "[\"${ADDR[shm]}\"]"
}

@test "vma: a pattern that matches nothing is an empty result" {
	run_pgscan dump --json --vma=/no/such/file $$
	jq_is '[.rows, .complete]' '[[],true]'
	[[ $stderr == *"no mapping matches --vma"* ]]
	run_pgscan dump --json --vma='[stack]' $$
	[[ -z $stderr ]]
}

@test "cgroup: the processes of a cgroup and of its children, by either form of its path" {
	requires root cgroup:v1
	local root group=/pgscan-test-$BASHPID

	root=$(memory_cgroup_v1)
	mkdir "$root$group" "$root$group/child"
	target_start anon pages=8 write=all
	echo "$TARGET" >"$root$group/child/cgroup.procs"
	run_pgscan dump --json --by=vma --cgroup="$group" --range="$(region anon)"
	jq_is '[.rows[].pid]' "[$TARGET]"
	run_pgscan dump --json --by=vma -g "${group#/}/child" --range="$(region anon)"
	jq_is '[.rows[].pid]' "[$TARGET]"
	run_pgscan dump --json --by=vma -g "$root$group" --range="$(region anon)"
	jq_is '[.rows[].pid]' "[$TARGET]"
	target_stop
	rmdir "$root$group/child" "$root$group"
	run_pgscan 1 dump --cgroup="$group"
	[[ ! -s $out && $stderr == *"$group"* ]]
}

@test "system: every process, this one among them" {
	target_start shm kind=memfd pages=8 write=0-2
	run_pgscan dump --system --json --by=vma --vma='/memfd:pgscan-test*' ||
		run_pgscan 3 dump --system --json --by=vma --vma='/memfd:pgscan-test*'
	jq_is "[.rows[] | select(.pid == $TARGET) | [.start, .present]]" "[[\"${ADDR[shm]}\",3]]"
}

@test "targets: none, nonsense, and two kinds at once are usage errors" {
	local args

	for args in '' 0 -1 x 1x 99999999999999999999 "--system $$" "--cgroup=/ $$" "--system --cgroup=/"; do
		# shellcheck disable=SC2086 # words are meant
		run_pgscan 2 dump $args
		[[ ! -s $out && -s $err ]] || fail "for '$args'"
	done
}

# ---- formats and columns ---------------------------------------------------------------------

@test "format: json, jsonl, tsv and the table have the same rows" {
	local n

	target_start anon pages=64 write=0-15,32-40
	run_pgscan dump --json --range="$(region anon)" "$TARGET"
	n=$(jq '.rows | length' "$out")
	((n >= 4))
	jq -c '.rows[]' "$out" >"$BATS_TEST_TMPDIR/rows"
	run_pgscan dump --format=jsonl --range="$(region anon)" "$TARGET"
	head -n -1 "$out" | jq -c . | cmp - "$BATS_TEST_TMPDIR/rows"
	[[ $(tail -n 1 "$out" | jq .complete) == true ]]
	run_pgscan dump --format=tsv --range="$(region anon)" "$TARGET"
	[[ $(wc -l <"$out") == $((n + 1)) ]]
	run_pgscan dump --format=table --range="$(region anon)" "$TARGET"
	(($(grep -c ' present ' "$out") == $(grep -c '"present"' "$BATS_TEST_TMPDIR/rows")))
}

@test "format: the JSON document's frame" {
	target_start anon pages=8 write=all
	run_pgscan dump --json --range="$(region anon)" "$TARGET"
	jq_is 'keys_unsorted' \
		'["schema","command","version","kernel","page_size","module","rows","summary","errors","complete"]'
	jq_is '[.schema, .command, .kernel, .page_size]' "[1,\"dump\",\"$(uname -r)\",$PAGE_SIZE]"
}

@test "format: addresses and words are strings, counts are numbers, one type a key" {
	requires kfeat:pfn
	target_start anon pages=64 write=0-15
	run_pgscan dump --json --by=page "$TARGET"
	jq_is '[.rows[] | to_entries[] | select(.value != null) | "\(.key) \(.value | type)"] | unique | map(split(" ")[0]) | length' \
		"$(jq '[.rows[] | to_entries[] | select(.value != null) | .key] | unique | length' "$out")"
	jq_true '.rows | all(.start | test("^0x[0-9a-f]+$"))'
	jq_true '.rows | any(.entry) and all(.entry == null or (.entry | test("^0x[0-9a-f]{16}$")))'
	jq_true '.rows | all(.pages == 1)'
}

@test "format: a word keeps all its digits through a reader of doubles" {
	requires kfeat:pfn
	target_start anon pages=1 write=all
	run_pgscan dump --json --by=page --range="$(region anon)" "$TARGET"
	[[ $(jq -r '.rows[0].entry' "$out") == $(pmref "$TARGET" "${ADDR[anon]}" 1 | cut -d ' ' -f 2) ]]
}

@test "format: unknown ones, and hex or raw of a view without words, are usage errors" {
	local args

	for args in --format=xml --format= -fjs '--format=hex --by=vma' '--format=raw --by=flags' \
		'--by=x' '--color=red'; do
		# shellcheck disable=SC2086 # words are meant
		run_pgscan 2 dump $args $$
		[[ ! -s $out && -s $err ]] || fail "for '$args'"
	done
}

@test "columns: a list, one more, help, and an unknown one" {
	run_pgscan dump --format=tsv --columns=state,start --vma='[stack]' $$
	[[ $(head -n 1 "$out") == state$'\t'start ]]
	run_pgscan dump --by=page --format=tsv --columns=+entry --vma='[stack]' $$
	[[ $(head -n 1 "$out") == *entry* && $(head -n 1 "$out") == *state* ]]
	run_pgscan dump --columns=help
	grep -q swap_offset "$out"
	run_pgscan 2 dump --columns=start,nonsense $$
	[[ ! -s $out && $stderr == *nonsense* ]]
}

@test "sort and top: the mappings with the most pages first" {
	target_start anon pages=5000 write=all
	run_pgscan dump --json --by=vma --sort=present --top=1 "$TARGET"
	jq_is '[.rows[] | .start]' "[\"${ADDR[anon]}\"]"
	run_pgscan dump --json --by=vma --sort=present "$TARGET"
	jq_true '[.rows[].present] == ([.rows[].present] | sort | reverse)'
	run_pgscan 2 dump --by=vma --sort=nonsense "$TARGET"
	run_pgscan 2 dump --by=vma --top=x "$TARGET"
}

@test "no-header: rows alone" {
	run_pgscan dump --format=tsv --no-header --columns=start --vma='[stack]' $$
	grep -qvE '^0x' "$out" && fail "a line that is no row"
	run_pgscan dump --no-header --columns=start --vma='[stack]' $$
	[[ $(head -n 1 "$out") =~ ^\ *0x ]]
}

@test "kmod and kcore: require what is not there is status 4, off never needs it" {
	[[ ! -c /dev/pgscan ]] || skip "the module is loaded"
	run_pgscan 4 dump --kmod=require $$
	[[ ! -s $out && $stderr == */dev/pgscan* ]]
	run_pgscan dump --kmod=off --kcore=off --json --vma='[stack]' $$
	jq_is '.module' false
	run_pgscan 2 dump --kmod=maybe $$
}

@test "batch: a number that makes no sense is a usage error" {
	local n

	for n in 0 -1 x '' 1.5 99999999999999999999; do
		run_pgscan 2 dump "--batch=$n" $$
		[[ ! -s $out ]] || fail "for '$n'"
	done
}

@test "an option that is not there, and one that lacks its argument" {
	run_pgscan 2 dump --nonsense $$
	run_pgscan 2 dump --range
	run_pgscan 2 dump --by
	[[ ! -s $out ]]
	[[ $stderr == *--help* ]]
	(($(wc -l <"$err") <= 3))
}

# ---- decode ----------------------------------------------------------------------------------

@test "decode: a table of words" {
	local word want=$BATS_TEST_TMPDIR/want
	local -a words=()

	# word, state, pfn, type, slot, and the bits that are set
	cat >"$want" <<-'END'
		0x0000000000000000 none - - -
		0x0080000000000000 none - - - soft_dirty
		0x81000000002634d4 present 2503892 - - exclusive
		0xa000000000119e50 present 1154640 - - file
		0x8000000000000000 present - - -
		0x4000000000000043 swapped - 3 2
		0x4080000000002000 swapped - 0 256 soft_dirty
		0x6000000000002000 swapped - 0 256 file
		0x420000000000003f uffd_wp_marker - 31 1 uffd_wp
		0x440000000000009f guard - 31 4 guard
		0x400000000000009f guard - 31 4 guard
		0x400000000000005f poisoned - 31 2
	END
	while read -r word _; do
		words+=("--decode=$word")
	done <"$want"
	run_pgscan dump --json "${words[@]}"
	jq -r '.rows[] | [.entry, .state, .pfn // "-", .swap_type // "-", .swap_offset // "-",
		(to_entries[] | select(.value == true) | .key)] | map(tostring) | join(" ")' "$out" |
		diff "$want" -
	jq_is '[.rows[].unknown_bits] | unique' '["0x0000000000000000"]'
}

@test "decode: the same word in decimal, and digits of either case" {
	run_pgscan dump --json --decode=9295429630895207636 --decode=0x81000000002634D4
	jq_is '[.rows[] | [.entry, .pfn]] | unique' '[["0x81000000002634d4",2503892]]'
}

@test "decode: bits that have no meaning are shown as a number" {
	run_pgscan dump --decode=0x1800000000000000
	[[ $(<"$out") == *0x1800000000000000* ]]
	run_pgscan dump --decode=0x9000000000001234
	[[ $(<"$out") == *0x1000000000000000* || $(<"$out") == *60* ]]
}

@test "decode: what is no word of 64 bits is a usage error" {
	local word

	for word in '' x 0x 0x1g 0x10000000000000000 18446744073709551616 -1 1.5 ' 1' '1 '; do
		run_pgscan 2 dump "--decode=$word"
		[[ ! -s $out && -s $err ]] || fail "for '$word'"
	done
}

# ---- physical memory and files ---------------------------------------------------------------

@test "pfn: the flags of a range of frames" {
	requires kfeat:kpageflags
	run_pgscan dump --pfn=0x1000+512 --json
	jq_is '[.rows[].pages] | add' 512
	dd if=/proc/kpageflags ibs=8 skip=$((0x1000)) count=512 status=none | od -An -v -tx8 -w8 |
		awk '{ n[$1]++ } END { for (f in n) print "0x" f, n[f] }' | sort >"$BATS_TEST_TMPDIR/want"
	jq -r '.rows[] | "\(.kpageflags) \(.pages)"' "$out" |
		awk '{ n[$1] += $2 } END { for (f in n) print f, n[f] }' | sort | diff "$BATS_TEST_TMPDIR/want" -
}

@test "pfn: beyond the end of memory is no frame, and no failure" {
	requires kfeat:kpageflags
	PGSCAN_TIMEOUT=20 run_pgscan dump --pfn=0x7fffffffff+16 --json
	jq_is '[.rows, .summary.frames, .complete]' '[[],0,true]'
}

@test "file: which pages of a file are cached, without reading one in" {
	local file=$BATS_TEST_TMPDIR/file

	target_start file "path=$file" pages=64 cached=0-9,32
	run_pgscan dump --json --file="$file"
	jq_is '[.rows[] | select(.state == "present") | .pages] | add' 11
	jq_is '[.rows[].pages] | add' 64
	run_pgscan dump --json --file="$file"
	jq_is '[.rows[] | select(.state == "present") | .pages] | add' 11
}

@test "file: on tmpfs, allocated pages and holes" {
	[[ $(stat -f -c %T /dev/shm) == tmpfs ]] || skip "/dev/shm is no tmpfs"
	local file=/dev/shm/pgscan-test-$BASHPID

	truncate -s 64K "$file"
	dd if=/dev/zero of="$file" bs=4K seek=3 count=2 conv=notrunc status=none
	run_pgscan dump --json --file="$file"
	rm "$file"
	jq_is '[.rows[] | [.pages, .state]]' '[[3,"none"],[2,"present"],[11,"none"]]'
}

@test "file: one that is not there, a directory, an empty one" {
	run_pgscan 1 dump --file="$BATS_TEST_TMPDIR/nothing"
	[[ ! -s $out && $stderr == *nothing* ]]
	run_pgscan 1 dump --file="$BATS_TEST_TMPDIR"
	[[ ! -s $out ]]
	: >"$BATS_TEST_TMPDIR/empty"
	run_pgscan dump --json --file="$BATS_TEST_TMPDIR/empty"
	jq_is '[.rows, .complete]' '[[],true]'
}
