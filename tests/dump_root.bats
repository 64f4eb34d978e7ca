#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# dump --root: trees of other machines, captured or described, for what this kernel cannot show.
# shellcheck disable=SC2030,SC2031,SC2153 # tests are subshells; the library sets TARGET, ADDR, PAGES

load lib/common
load lib/dump

dump_fixture() { # NAME ARGS...
	fixture "$1"
	shift
	run_pgscan dump --root="$ROOT" --json "$@"
}

# ---- swap areas ------------------------------------------------------------------------------

@test "swap: type, offset and device of each run, with one swap area" {
	dump_fixture swap-one 100
	jq_is '[.rows[] | select(.state == "swapped") | [.pages, .swap_type, .swap_offset, .swap_device]]' \
		'[[4,0,32,"/dev/vdb"],[2,0,256,"/dev/vdb"],[1,0,512,"/dev/vdb"],[1,0,258,"/dev/vdb"]]'
	jq_is '.summary | [.present, .swapped]' '[4,8]'
}

@test "swap: after a swapoff a line of /proc/swaps is not taken for a type" {
	dump_fixture swap-gap 100
	jq_is '[.rows[] | select(.state == "swapped") | [.pages, .swap_type, .swap_offset, .swap_device]]' \
		'[[4,1,32,null],[8,2,256,null]]'
}

@test "swap: every row of TSV has the same number of fields with several areas" {
	fixture swap-gap
	run_pgscan dump --root="$ROOT" --format=tsv 100
	[[ $(awk -F '\t' '{ print NF }' "$out" | sort -u | wc -l) == 1 ]]
	(($(wc -l <"$out") >= 4))
}

@test "swap: slots that count up are one run, others are not" {
	dump_fixture swap-one --by=page --range=0x7f0000000000+4K --range=0x7f0000001000+12K 100
	jq_is '[.rows[] | [.swap_offset, .entry]]' \
		'[[256,"0x4000000000002000"],[257,"0x4000000000002020"],[512,"0x4000000000004000"],[258,"0x4000000000002040"]]'
}

# ---- entries with the swap bit that are not in swap ------------------------------------------

@test "special entries: markers, guard, device, migration and poison are named as what they are" {
	dump_fixture special-6.12 --by=page 100
	jq_is '[.rows[] | select(.state != "none") | .state]' \
		'["present","uffd_wp_marker","poisoned","guard","guard","device_private","device_private","migration","migration","migration","hwpoison","swapped","swapped","swapped"]'
	jq_is '.summary.swapped' 3
	jq_is '[.rows[] | select(.state != "swapped" and .swap_type != null)]' '[]'
}

@test "special entries: none is ever given a swap device" {
	dump_fixture special-6.12 100
	jq_is '[.rows[] | select(.swap_device != null or .swap_type != null) |
		[.state, .swap_type, .swap_offset, .swap_device, .pages]]' \
		'[["swapped",22,64,"/dev/vdb",2],["swapped",22,9,"/dev/vdb",1]]'
}

@test "special entries: types that the tree does not explain are unknown, not swapped" {
	dump_fixture special-6.12-bare --by=page 100
	# The markers tell by their offset, and type 0 is a swap area under any configuration.
	jq_is '[.rows[] | select(.state != "none") | .state]' \
		'["present","uffd_wp_marker","poisoned","guard","guard",null,null,null,null,null,null,"swapped","swapped",null]'
	jq_is '.summary.swapped' 2
}

# ---- hidden frames ---------------------------------------------------------------------------

@test "hidden: no frame 0 and no slot 0 where the kernel hides them" {
	dump_fixture hidden --by=page 100
	jq_is '[.rows[] | select(.state == "present") | .pfn] | unique' '[null]'
	jq_is '[.rows[] | select(.state == "swapped") | [.swap_type, .swap_offset, .swap_device]] | unique' \
		'[[null,null,null]]'
	jq_is '.summary | [.present, .swapped, .pfn_visible]' '[4,4,false]'
}

@test "hidden: no look-up of frame 0 for its flags" {
	fixture hidden
	printf '\377\377\377\377\377\377\377\377' >"$ROOT/proc/kpageflags"
	cp "$ROOT/proc/kpageflags" "$ROOT/proc/kpagecount"
	run_pgscan dump --root="$ROOT" --flags --json 100
	jq_is '[.rows[] | .kpageflags, .mapcount] | unique' '[null]'
}

@test "vsyscall: a mapping beyond the page tables is one row, unscanned" {
	dump_fixture hidden --by=run 100
	jq_is '[.rows[] | select(.vma == "[vsyscall]") | [.start, .pages, .state]]' \
		'[["0xffffffffff600000",1,"unscanned"]]'
	jq_true '.complete'
}

# ---- flags -----------------------------------------------------------------------------------

@test "flags: runs are cut where the flags of their frames change" {
	dump_fixture flags --flags --range=0x7f0000000000+32K 100
	jq_is '[.rows[] | [.start, .pages, .pfn, .symbolic, .mapcount]]' \
		'[["0x7f0000000000",4,4096,"uptodate,lru,mmap,anon,swapbacked",1],["0x7f0000004000",4,4100,"uptodate,dirty,lru,active,mmap,anon,swapbacked",1]]'
}

@test "flags: a frame that kpageflags does not reach has null, not 0" {
	dump_fixture flags --flags --range=0x7f0000020000+4K 100
	jq_is '[.rows[] | [.state, .pfn, .kpageflags, .mapcount]]' '[["present",1048576,null,null]]'
}

@test "flags: --where picks frames by their flags" {
	fixture flags
	run_pgscan dump --root="$ROOT" --json --where='dirty|writeback' 100
	jq_is '[.rows[] | [.start, .pages]]' \
		'[["0x7f0000004000",4],["0x7f0000010000",1],["0x7f0000011000",1],["0x7f0000012000",1]]'
	run_pgscan dump --root="$ROOT" --json --where='dirty,!dirty' 100
	jq_is .rows '[]'
	run_pgscan dump --root="$ROOT" --json --where='thp,compound_tail' 100
	jq_is '[.rows[] | [.start, .pages]]' '[["0x7f0000201000",511]]'
}

@test "by=flags: counts per combination, names beside raw words" {
	dump_fixture flags --by=flags 100
	jq_is '[.rows[] | select(.flags) | [.pages, .symbolic]] | sort' "$(jq -cn '[
		[1, "uptodate,lru,mmap,anon,swapbacked,compound_head,thp"],
		[1, "uptodate,lru,writeback,mmap"],
		[4, "uptodate,lru,mmap,anon,swapbacked"],
		[6, "uptodate,dirty,lru,active,mmap,anon,swapbacked"],
		[511, "uptodate,lru,mmap,anon,swapbacked,compound_tail,thp"]]')"
	jq_is '[.rows[] | select(.symbolic == "uptodate,lru,writeback,mmap") | .flags]' '["0x0000000000000928"]'
}

# ---- names -----------------------------------------------------------------------------------

@test "names: newline, invalid UTF-8, (deleted), blanks, unknown [names], a long path" {
	fixture names
	run_pgscan dump --root="$ROOT" --by=vma --json 100
	jq_is '[.rows[] | .vma | .[0:40]]' "$(jq -cn '["/d/new\\x0aline", "/d/bad\\xfe\\xff", "/d/gone",
		"/d/twice (deleted)", "[anon:  two  words ]", "[vvar_vclock]", "[something new]",
		("/d/" + "long name " * 4)[0:40]]')"
	jq_true '.rows[-1].vma | length == 4004'
}

# ---- trees that are not whole ----------------------------------------------------------------

@test "garbled: a maps file that is cut short is an error, after what could be read" {
	fixture garbled
	run_pgscan 3 dump --root="$ROOT" --json 100
	jq_is '.complete' false
	jq_is '[.rows[] | [.start, .pages]]' '[["0x7f0000000000",2]]'
	jq_is '[.errors[].pid]' '[100]'
}

@test "garbled: the text of an error is not taken for a mapping" {
	fixture garbled
	run_pgscan 1 dump --root="$ROOT" 101
	[[ ! -s $out ]]
	[[ $stderr == *maps* ]]
}

@test "no memory: a process without a single mapping is said to have none" {
	fixture garbled
	run_pgscan 1 dump --root="$ROOT" 102
	[[ ! -s $out && -s $err ]]
}

@test "a tree without a proc, and a process that is not in it" {
	fixture garbled
	run_pgscan 1 dump --root="$BATS_TEST_TMPDIR" 100
	[[ ! -s $out && $stderr == *proc* ]]
	run_pgscan 1 dump --root="$ROOT" 999
	[[ ! -s $out && $stderr == *999* ]]
}

# ---- a captured tree -------------------------------------------------------------------------

@test "captured: the targets of a 6.18 kernel, as the live tests see them" {
	fixture captured-6.18
	run_pgscan dump --root="$ROOT" --json --range=0x7f4c4f6a3000+128K --range=0x7f4c4f200000+2M 100
	jq_is '.summary | [.pages, .present, .none]' '[544,524,20]'
	run_pgscan dump --root="$ROOT" --json --range=0x7fcdd0690000+64K 101
	jq_is '.summary | [.pages, .present, .uffd_wp_marker, .swapped]' '[16,8,8,0]'
	run_pgscan dump --root="$ROOT" --json --range=0x7f848fcdc000+16K 102
	jq_is '.summary | [.present, .guard, .swapped]' '[3,1,0]'
	run_pgscan dump --root="$ROOT" --json --range=0x7f9cde9e0000+64K 103
	jq_is '.summary.present' 8
	jq_is '[.rows[] | select(.state == "present") | .file] | unique' '[true]'
}

@test "captured: nothing is asked of the running kernel" {
	requires tool:strace plain
	fixture captured-6.18
	traced -e trace=ioctl,userfaultfd,openat,open -- dump --root="$ROOT" --flags --json 100
	refute grep -E 'PAGEMAP_SCAN|"/proc/(100|kpage|swaps)|userfaultfd' "$trace"
}

@test "captured: hex of a tree is what hexdump prints of its page map" {
	requires tool:hexdump
	fixture captured-6.18
	run_pgscan dump --root="$ROOT" --format=hex --range=0x7fcdd068c000+96K 101
	dd if="$ROOT/proc/101/pagemap" ibs=8 skip=$((0x7fcdd068c)) count=24 status=none | hexdump -C | cmp - "$out"
}

@test "swap: the name of an area that has blanks in it" {
	fixture swap-one
	sed -i 's,^/dev/vdb,/swap\\040file\\011x\\134y,' "$ROOT/proc/swaps"
	run_pgscan dump --root="$ROOT" --json 100
	jq_is '[.rows[] | select(.swap_device) | .swap_device] | unique' '["/swap file\\x09x\\\\y"]'
}

@test "shmem: empty pages that nobody can be asked about are unknown where there is swap" {
	fixture swap-one
	sed -i 's,^7f.*,7f0000000000-7f0000010000 rw-s 00000000 00:01 7                          /memfd:x (deleted),' \
		"$ROOT/proc/100/maps"
	run_pgscan 3 dump --root="$ROOT" --json --vma='/memfd:*' 100
	jq_is '.summary | [.swapped, .none, .unknown]' '[4,0,12]'
	jq_is '[.errors[].pid]' '[100]'
	# Without swap they cannot be anywhere.
	sed -i '2,$d' "$ROOT/proc/swaps"
	run_pgscan dump --root="$ROOT" --json --range=0x7f0000004000+4K 100
	jq_is '.summary | [.none, .unknown]' '[1,0]'
}

@test "ksm: the flag is kept, and said to be unreliable where no page is shared" {
	fixture flags
	mkdir -p "$ROOT/sys/kernel/mm/ksm"
	echo 0 >"$ROOT/sys/kernel/mm/ksm/pages_shared"
	O=$BUILD "$BUILD/tools/mkpages" "$ROOT/proc/kpageflags" <<<'#0x1000 8 flags=uptodate,anon,ksm,mmap'
	run_pgscan dump --root="$ROOT" --flags --json --range=0x7f0000000000+4K 100
	jq_true '.rows[0].symbolic | test("ksm")'
	[[ $stderr == *ksm* ]]
	echo 5 >"$ROOT/sys/kernel/mm/ksm/pages_shared"
	run_pgscan dump --root="$ROOT" --flags --json --range=0x7f0000000000+4K 100
	[[ $stderr != *ksm* ]]
}

@test "a pipe in place of a file of the tree does not stop it" {
	fixture swap-one
	cp -r "$ROOT" "$BATS_TEST_TMPDIR/tree"
	rm "$BATS_TEST_TMPDIR/tree/proc/swaps"
	mkfifo "$BATS_TEST_TMPDIR/tree/proc/swaps"
	run_pgscan dump --root="$BATS_TEST_TMPDIR/tree" --json 100
	jq_is '[.rows[].swap_device] | unique' '[null]'
}
