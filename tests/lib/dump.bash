# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2154 # lib/common.bash sets out and err
# dump: what the tests of `pgscan dump` share.

# The columns that rowpages reads.
PAGE_COLUMNS=start,pages,state,pfn,swap_type,swap_offset,file,soft_dirty,exclusive,uffd_wp,huge,zero

# pmref [-s|-w] ARGS...: the independent reader.
pmref() {
	"$BUILD/tools/pmref" "$@"
}

# same_as_pmref [OPTION...] REGION...: pgscan and the independent reader agree on each page of these
# regions of the current target. Options go to pgscan.
same_as_pmref() {
	local -a options=() ranges=()
	local r

	while [[ $1 == -* ]]; do
		options+=("$1")
		shift
	done
	for r; do
		options+=("--range=$(region "$r")")
		ranges+=("${ADDR[$r]}" "${PAGES[$r]}")
	done
	compare_pages "${options[@]}" -- "${ranges[@]}"
}

# same_everywhere [OPTION...]: the same for all mappings of the current target that pagemap shows.
same_everywhere() {
	local -a ranges

	mapfile -t ranges < <(awk '!/^ffffffffff/ { split($1, a, "-"); print a[1] "\n" a[2] }' \
		"/proc/$TARGET/maps" | while read -r start && read -r end; do
		printf '0x%s\n%d\n' "$start" $(((0x$end - 0x$start) / PAGE_SIZE))
	done)
	compare_pages --range=0-0x7ffffffff000 "$@" -- "${ranges[@]}"
}

# A frame that the kernel moves meanwhile (compaction does, when memory is short) is no fault of a reader:
# the reference is read before and after, and what changed in between, little, is left out.
compare_pages() {
	local -a options=()
	local dir=$BATS_TEST_TMPDIR name

	while [[ $1 != -- ]]; do
		options+=("$1")
		shift
	done
	shift
	pmref -s "$TARGET" "$@" | sort >"$dir/before"
	run_pgscan dump --format=tsv --no-header --columns="$PAGE_COLUMNS" "${options[@]}" "$TARGET"
	normalise <"$out" | "$BUILD/tools/rowpages" | sort >"$dir/got"
	pmref -s "$TARGET" "$@" | sort >"$dir/after"
	comm -3 "$dir/before" "$dir/after" | awk '{ print $1 }' | sort -u >"$dir/moved"
	(($(wc -l <"$dir/moved") * 10 < $(wc -l <"$dir/after"))) || fail "nothing to compare"
	for name in got after; do
		awk 'FILENAME == ARGV[1] { moved[$1]; next } !($1 in moved)' "$dir/moved" "$dir/$name" \
			>"$dir/$name.still"
	done
	diff "$dir/after.still" "$dir/got.still" | head -20
	cmp "$dir/after.still" "$dir/got.still"
}

# same_flags ADDR PAGES: and on the flags and the map count of each frame. Those of a live frame change by
# themselves (referenced, lru): only what two readings by the independent reader agree on is compared, and they
# agree soon.
same_flags() {
	local i

	for ((i = 0; i < 20; i++)); do
		pmref "$TARGET" "$@" >"$BATS_TEST_TMPDIR/before"
		run_pgscan dump --by=page --flags --format=tsv --no-header \
			--columns=start,entry,kpageflags,mapcount \
			--range="$(printf '0x%x+0x%x' "$1" $(($2 * PAGE_SIZE)))" "$TARGET"
		pmref "$TARGET" "$@" >"$BATS_TEST_TMPDIR/after"
		cmp -s "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after" || continue
		sed 's/\t/ /g; s/\\N/-/g' "$out" >"$BATS_TEST_TMPDIR/got"
		diff "$BATS_TEST_TMPDIR/after" "$BATS_TEST_TMPDIR/got" | head
		cmp "$BATS_TEST_TMPDIR/after" "$BATS_TEST_TMPDIR/got"
		return
	done
	fail "the flags do not settle"
}

# pgscan knows more than a word of pagemap says, and says when it knows nothing; undo that.
#   soft_dirty null where the kernel has no such bit: the word has 0
#   other bits null where there is no page, as the kernel keeps none there: the word has 0
#   memory of a driver, whose page tables pagemap does not walk, is "unscanned": the word has 0
normalise() {
	local no_soft_dirty=0

	has_kfeat soft_dirty || no_soft_dirty=1
	awk -v none="$no_soft_dirty" 'BEGIN { FS = OFS = "\t" }
		none && $8 != "\\N" { print "soft_dirty is not null: " $0 >"/dev/stderr"; exit 1 }
		none { $8 = 0 }
		$3 == "unscanned" { $3 = "none" }
		$3 != "present" { for (i = 7; i <= 10; i++) if ($i == "\\N") $i = 0 }
		{ print }'
}

# fixture NAME: build that tree; ROOT is where.
fixture() {
	ROOT=$BATS_TEST_TMPDIR/root-$1
	O=$BUILD "$FIXTURES/build" "$1" "$ROOT"
}

# hexdump_of ADDR PAGES: what people look at today.
hexdump_of() {
	dd if="/proc/$TARGET/pagemap" ibs=8 skip=$(($1 / PAGE_SIZE)) count="$2" status=none |
		hexdump -C
}

# traced OPTIONS... -- ARGS...: pgscan under strace, whose record goes to $trace.
traced() {
	local -a options=()

	while [[ $1 != -- ]]; do
		options+=("$1")
		shift
	done
	shift
	trace=$BATS_TEST_TMPDIR/strace
	status=0
	timeout -k 5 60 strace -f -o "$trace" "${options[@]}" "$PGSCAN" "$@" >"$out" 2>"$err" \
		</dev/null 3>&- || status=$?
	[[ $status == 0 ]] || fail "status $status of: pgscan ${*@Q}" "$(<"$err")"
}
