#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# dump: faults that people met in tools of this kind, each with the right answer.
# shellcheck disable=SC2030,SC2031,SC2153 # tests are subshells; the library sets TARGET, ADDR, PAGES

load lib/common
load lib/dump

# ---- what looks like swap and is not ---------------------------------------------------------

@test "markers of userfaultfd are not counted as swapped" {
	requires kfeat:uffd_wp_async
	target_start uffd
	run_pgscan dump --json --range="$(region uffd)" "$TARGET"
	jq_is '.summary | [.present, .swapped, .uffd_wp_marker]' '[8,0,8]'
	jq_is '[.rows[] | select(.swap_type != null or .swap_device != null)]' '[]'
	run_pgscan dump --json --by=vma --range="$(region uffd)" "$TARGET"
	jq_is '.rows[0] | [.present, .swapped]' '[8,0]'
}

@test "guard pages are not counted as swapped" {
	requires kfeat:guard
	target_start guard
	run_pgscan dump --json --range="$(region guard)" "$TARGET"
	jq_is '.summary | [.present, .swapped, .guard]' '[3,0,1]'
	jq_is '[.rows[] | select(.state == "guard") | [.start, .guard, .swap_type]]' \
		"[[\"$(page_addr guard 1)\",true,null]]"
}

@test "markers and guard pages are told without rights, where there is no swap to mistake them for" {
	requires root kfeat:uffd_wp_async kfeat:guard
	target_start --nobody uffd
	run_as_nobody dump --json --range="$(region uffd)" "$TARGET"
	jq_is '.summary | [.present, .swapped, .uffd_wp_marker]' '[8,0,8]'
	target_start --nobody guard
	run_as_nobody dump --json --range="$(region guard)" "$TARGET"
	jq_is '.summary | [.present, .swapped, .guard]' '[3,0,1]'
}

# ---- who may see what ------------------------------------------------------------------------

@test "an ordinary user: no frame is shown as 0, and one note says why" {
	requires root
	target_start --nobody anon pages=32 write=0-15
	run_as_nobody dump --json --range="$(region anon)" "$TARGET"
	jq_is '[.rows[].pfn] | unique' '[null]'
	jq_is '.summary | [.present, .none, .pfn_visible]' '[16,16,false]'
	run_as_nobody dump --range="$(region anon)" "$TARGET"
	(($(grep -c CAP_SYS_ADMIN "$err") == 1))
}

@test "an ordinary user: flags are null, not those of frame 0" {
	requires root
	target_start --nobody anon pages=8 write=0-7
	run_as_nobody 5 dump --flags --json --range="$(region anon)" "$TARGET"
	refute jq -e '.rows[]? | select(.kpageflags != null or .mapcount != null)' "$out"
	[[ $(<"$err")$(<"$out") == *CAP_* ]]
}

@test "root without CAP_SYS_ADMIN: flags of frames are refused, not filtered to nothing" {
	local args

	requires root cap:sys_admin
	target_start anon pages=8 write=0-7
	for args in --flags --by=flags --where=lru; do
		status=0
		setpriv --bounding-set=-sys_admin "$PGSCAN" dump "$args" "$TARGET" >"$out" 2>"$err" || status=$?
		((status == 5)) || fail "$args: status $status"
		[[ ! -s $out ]]
		grep -q CAP_SYS_ADMIN "$err"
	done
}

@test "another user's process: nothing on stdout, ptrace access named, status 5" {
	requires root
	target_start anon pages=8
	run_as_nobody 5 dump "$TARGET"
	[[ ! -s $out ]]
	[[ $stderr == *CAP_SYS_PTRACE* ]]
	run_as_nobody 5 dump --format=tsv "$TARGET"
	[[ ! -s $out ]]
}

@test "another user's process: root sees what its owner sees, and the frames" {
	requires root kfeat:pfn
	target_start --nobody shm kind=memfd pages=32 write=0-15 private=0-3
	run_pgscan dump --json --where=present --range="$(region private)" "$TARGET"
	jq_is '.summary | [.present, .pfn_visible]' '[4,true]'
	jq_true '.rows | all(.pfn > 0)'
	run_pgscan dump --json --by=vma --range="$(region shm)" "$TARGET"
	jq_is '[.rows[] | [.present, .none, .file]]' '[[16,16,16]]'
	jq_is .errors '[]'
}

@test "frames of physical memory need a capability, which is named" {
	requires root
	run_as_nobody 5 dump --pfn=0x1000+16
	[[ ! -s $out ]]
	[[ $stderr == *CAP_[SD]* ]]
}

@test "a shared page that cannot be asked about is unknown, never none" {
	requires root swap
	target_start --nobody shm kind=memfd pages=32 write=0-15
	run_as_nobody 3 dump --json --range="$(region shm)" "$TARGET"
	jq_is '[.rows[] | [.pages, .state]]' '[[16,"present"],[16,null]]'
	jq_is '.summary.none' 0
	jq_is '[.errors[].pid]' "[$TARGET]"
}

@test "a shared page that was never allocated is none" {
	requires kfeat:map_files
	local kind

	for kind in memfd anon sysv tmpfs; do
		target_start shm "kind=$kind" pages=32 write=0-15
		run_pgscan dump --json --range="$(region shm)" "$TARGET"
		jq_is '.summary | [.present, .none, .swapped, .unknown]' '[16,16,0,0]'
		jq_is '[.rows[] | select(.state == "none") | [.start, .pages]]' "[[\"$(page_addr shm 16)\",16]]"
	done
}

@test "a shared page in memory that this mapping has not touched is not swapped" {
	requires kfeat:map_files
	target_start shm kind=memfd pages=32 write=0-15 second=1
	run_pgscan dump --json --range="$(region second)" "$TARGET"
	jq_is '.summary.swapped' 0
	jq_is '[.rows[].state] | unique' '["none"]'
}

@test "how many such pages there are is known to each view, or to none" {
	local cached
	target_start shm kind=memfd pages=32 write=0-15 second=1
	run_pgscan dump --json --range="$(region second)" "$TARGET"
	cached=$(jq 'if all(.rows[]; .cached == null) then null else [.rows[] | select(.cached).pages] | add end' "$out")
	[[ $cached == @(null|15) ]]
	run_pgscan dump --json --by=vma --range="$(region second)" "$TARGET"
	jq_is '.rows[0].cached' "$cached"
	run_pgscan dump --json --by=vma --range="$(region shm 0 16)" "$TARGET"
	jq_is '.rows[0].cached' 0
}

# ---- processes that are not as usual ---------------------------------------------------------

@test "65000 mappings: each has its row, and the pages are right" {
	target_start manyvma
	run_pgscan dump --by=vma --format=tsv --no-header --columns=start,pages,present,none \
		--range="$(region manyvma)" "$TARGET"
	[[ $(wc -l <"$out") == 65000 ]]
	[[ $(awk '{ p += $2; r += $3; n += $4 } END { print p, r, n }' "$out") == "65000 32500 32500" ]]
	[[ $(cut -f1 "$out" | sort -u | wc -l) == 65000 ]]
	run_pgscan dump --json --range="$(region manyvma)" "$TARGET"
	jq_is '.summary | [.pages, .present, .none]' '[65000,32500,32500]'
}

@test "16 TiB reserved, three pages touched: found, without walking the rest" {
	requires kfeat:pagemap_scan
	local prot

	for prot in none rw; do
		target_start sparse "prot=$prot"
		PGSCAN_TIMEOUT=20 run_pgscan dump --json --range="$(region sparse)" "$TARGET"
		jq_is '[.rows[] | select(.state == "present") | [.start, .pages]]' \
			"[[\"$(page_addr sparse 0)\",1],[\"$(page_addr sparse $((1 << 31)))\",1],[\"$(page_addr sparse $(((1 << 32) - 1)))\",1]]"
		jq_is '.summary | [.pages, .present]' '[4294967296,3]'
		target_stop
	done
}

@test "16 TiB, an entry a page: it says what is coming, and streams" {
	local view pages sent

	target_start sparse prot=rw
	pages=$(awk '!/^ffffffffff/ { split($1, a, "-"); print a[1], a[2] }' "/proc/$TARGET/maps" |
		while read -r start end; do echo $(((0x$end - 0x$start) / PAGE_SIZE)); done |
		awk '{ n += $1 } END { printf "%.0f", n }')
	for view in "-f raw" "--by=page -f jsonl"; do
		# shellcheck disable=SC2086 # several words
		sent=$(timeout 30 "$PGSCAN" dump $view "$TARGET" 2>"$err" | head -c 4000000 | wc -c)
		((sent == 4000000)) || fail "$view: $sent bytes" "$(<"$err")"
		[[ $(<"$err") =~ "the address space has "([0-9]+)" pages, and each will be printed" ]]
		# vsyscall is a mapping too, of one page.
		((BASH_REMATCH[1] - pages <= 1 && BASH_REMATCH[1] >= pages)) || fail "$(<"$err")" "not $pages"
	done
	# A range is printed whole, holes too; hex has a line for them.
	"$PGSCAN" dump -f raw --range=0x100000000+2T "$TARGET" 2>"$err" | head -c 1000 >/dev/null || true
	[[ $(<"$err") == *"--range has $(((2 << 40) / PAGE_SIZE)) pages, and each will be printed"* ]]
	"$PGSCAN" dump -f raw --range=0x100000000+1G "$TARGET" 2>"$err" | head -c 1000 >/dev/null || true
	[[ ! -s $err ]]
	"$PGSCAN" dump -f hex --range=0x100000000+2T "$TARGET" 2>"$err" | head -c 1000 >/dev/null || true
	[[ ! -s $err ]]
	if has_kfeat pagemap_scan; then
		run_pgscan dump -f jsonl "$TARGET"
		[[ $stderr != *"each will be printed"* ]]
	fi
}

@test "a kernel thread: a clear message, no rows, no endless loop" {
	requires root
	local kthread

	kthread=$(awk '{ if (($9 % 4194304) >= 2097152) { print $1; exit } }' /proc/2/stat)
	[[ $kthread == 2 ]] || skip "pid 2 is no kernel thread here"
	PGSCAN_TIMEOUT=10 run_pgscan 1 dump 2
	[[ ! -s $out ]]
	[[ $stderr == *"2 is a kernel thread"* ]]
}

@test "a process without its first thread has its memory still" {
	local i

	target_start anon pages=64 write=0-15 headless=1
	for ((i = 0; i < 200; i++)); do
		[[ $(<"/proc/$TARGET/stat") != *") Z "* ]] || break
		sleep 0.01
	done
	run_pgscan dump --json --range="$(region anon)" "$TARGET"
	jq_is '[.summary.present, .summary.none, .rows[0].pid]' "[16,48,$TARGET]"
	target_cmd write anon 16-31
	run_pgscan dump --json --range="$(region anon)" "$TARGET"
	jq_is .summary.present 32
}

@test "a thread is no process, to any command: its process is named" {
	local command tid

	target_start anon pages=64 write=0-15 headless=1
	tid=$(find "/proc/$TARGET/task" -mindepth 1 -maxdepth 1 -printf '%f\n' | grep -vx "$TARGET")
	for command in dump swapmap "wp -c 1"; do
		# shellcheck disable=SC2086
		run_pgscan 1 $command "$tid"
		[[ -z $output && $stderr == *"$tid is a thread of process $TARGET: name that one"* ]]
	done
	run_pgscan 3 dump --json "$tid" "$TARGET"
	jq_is '[.summary.present >= 16, .errors[0].pid, .errors[0].error]' "[true,$tid,\"ESRCH\"]"
	jq_true "[.rows[].pid] | unique == [$TARGET]"
}

@test "a process that does not exist: status 1; beside one that does: status 3" {
	local gone

	target_start anon pages=8
	gone=$TARGET
	target_stop
	run_pgscan 1 dump "$gone"
	[[ ! -s $out && $stderr == *"$gone"* ]]
	target_start anon pages=8 write=0-7
	run_pgscan 3 dump --json "$gone" "$TARGET"
	jq_is '.complete' false
	jq_is '[.errors[] | [.pid, .error]]' "[[$gone,\"ESRCH\"]]"
	jq_true "[.rows[].pid] | unique == [$TARGET]"
}

@test "no memory is told before no permission, and of a group not at all" {
	requires root
	run_as_nobody 1 dump 2
	[[ ! -s $out && $stderr == *"2 is a kernel thread"* ]]
	# Those of others are refused, and counted; kernel threads are none of them.
	run_as_nobody 3 dump -a --json --by=vma
	jq_is '[.errors[].pid] | index(2)' null
	[[ $stderr =~ ([0-9]+)\ of\ [0-9]+\ processes ]]
	((BASH_REMATCH[1] <= $(grep -lE '^VmSize' /proc/[0-9]*/status 2>/dev/null | wc -l) + 20))
}

@test "a zombie: no memory, said so" {
	zombie_start
	PGSCAN_TIMEOUT=10 run_pgscan 1 dump "$ZOMBIE"
	[[ ! -s $out && $stderr == *zombie* ]]
}

# The pipe is full long before the end: pgscan waits in the middle of the target, which then goes.
@test "a process that exits in the middle: what was read, and that it is not all" {
	local line rest

	target_start anon pages=400000 write=0-399999/2
	mkfifo "$BATS_TEST_TMPDIR/pipe"
	timeout 60 "$PGSCAN" dump --by=page --format=jsonl "$TARGET" >"$BATS_TEST_TMPDIR/pipe" 2>"$err" 3>&- &
	rest=$!
	exec {line}<"$BATS_TEST_TMPDIR/pipe"
	read -r -u "$line" _
	target_stop
	cat <&"$line" >"$out"
	exec {line}<&-
	status=0
	wait "$rest" || status=$?
	[[ $status == 3 ]]
	[[ $(tail -n 1 "$out" | jq -c '[.complete, (.errors[0].pid), (.errors[0].error)]') == "[false,$TARGET,\"ESRCH\"]" ]]
	(($(wc -l <"$out") < 400000))
	jq -e -n 'reduce inputs as $row (0; . + 1)' "$out" >/dev/null
}

@test "a process that exits in the middle of its mappings" {
	local line rest

	target_start manyvma
	mkfifo "$BATS_TEST_TMPDIR/pipe"
	timeout 60 "$PGSCAN" dump --by=vma --format=json "$TARGET" >"$BATS_TEST_TMPDIR/pipe" 2>"$err" 3>&- &
	rest=$!
	exec {line}<"$BATS_TEST_TMPDIR/pipe"
	read -r -N 1 -u "$line" _
	target_stop
	{ printf '{' && cat <&"$line"; } >"$out"
	exec {line}<&-
	status=0
	wait "$rest" || status=$?
	[[ $status == 3 ]]
	jq_is '.complete' false
	jq_true '.rows | length < 65000'
	jq_true '.errors | length > 0'
}

@test "frames that move between the two reads: the page count holds, and no row lies" {
	requires kfeat:kpageflags kfeat:pfn
	local i

	target_start bouncer pages=20000
	for ((i = 0; i < 10; i++)); do
		run_pgscan dump --flags --format=tsv --no-header --columns=pages,state,racy,symbolic \
			--range="$(region bouncer)" "$TARGET"
		# Kernels that list mappings without mmap_lock ("fs/proc/task_mmu: read proc/pid/maps under
		# per-vma lock", 6.17) may miss the one that mremap() is about to put back, 64 or 32 pages.
		# A row that is not marked shows flags of a page that is mapped and anonymous; freed
		# frames are buddy pages or somebody else's.
		awk -F '\t' '{ pages += $1 } $2 != "present" { print "state: " $0 }
			$3 == 0 && $4 !~ /anon/ { print "flags: " $0 }
			END { if (pages > 20000 || pages < 19000 || pages % 32) print pages " pages" }' \
			"$out" >"$BATS_TEST_TMPDIR/faults"
		[[ ! -s $BATS_TEST_TMPDIR/faults ]] || fail "$(head "$BATS_TEST_TMPDIR/faults")"
	done
}

@test "the target is read, not written, not traced, and smaps is left alone" {
	requires tool:strace plain kfeat:kpageflags
	target_start anon pages=500 write=0-99
	traced -e trace=all -- dump --flags --json "$TARGET"
	sed -i '\,"/dev/pgscan", d' "$trace"
	refute grep -E 'open(at)?\(.*(O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND)' "$trace"
	refute grep -E '(write|pwrite64|writev)\((0|[3-9]|[1-9][0-9])' "$trace"
	refute grep -E 'clear_refs|smaps|ptrace\(|process_vm|process_madvise|kill\(|pidfd_send' "$trace"
}

@test "soft-dirty bits stay as they are" {
	requires kfeat:soft_dirty
	target_start anon pages=16 write=0-15
	echo 4 >"/proc/$TARGET/clear_refs"
	target_cmd write anon 3-4
	run_pgscan dump --json --range="$(region anon)" "$TARGET"
	run_pgscan dump --json --range="$(region anon)" "$TARGET"
	jq_is '[.rows[] | select(.soft_dirty) | .pages] | add' 2
}

@test "soft-dirty is unknown where the kernel has no such bit" {
	requires kfeat:pagemap
	! has_kfeat soft_dirty || skip "this kernel has soft-dirty"
	target_start anon pages=16 write=0-15
	run_pgscan dump --json --range="$(region anon)" "$TARGET"
	jq_is '[.rows[].soft_dirty] | unique' '[null]'
	run_pgscan dump --json --by=vma --range="$(region anon)" "$TARGET"
	jq_is '[.rows[].soft_dirty] | unique' '[null]'
	run_pgscan dump --json --where='soft_dirty|!soft_dirty' --range="$(region anon)" "$TARGET"
	jq_is '[.rows, .summary.pages]' '[[],0]'
}

@test "a reader does not hold the target up: an attempt with no wait over 30 ms" {
	requires plain
	local i without

	# Other load on the machine makes waits too: it is the best of some attempts that counts, and
	# a wait as long as one without pgscan is not its. A reader that holds mmap_lock for the whole
	# mapping makes one in each.
	target_start stall pages=200000
	for ((i = 0; i < 20; i++)); do
		target_cmd reset
		run_pgscan dump --by=vma --json $$
		run_pgscan dump --by=vma --json $$
		target_cmd worst
		without=$ANSWER
		target_cmd reset
		run_pgscan dump --by=vma --json "$TARGET"
		target_cmd worst
		((ANSWER >= 30000000 && ANSWER >= without)) || return 0
	done
	fail "$ANSWER ns in the last attempt, $without without"
}

@test "mappings whose pages pagemap does not show: both engines say the same" {
	requires kfeat:pagemap_scan
	target_start anon pages=8
	run_pgscan dump --format=tsv --columns=start,end,state,pfn,vma --vma='[v*' "$TARGET"
	cp "$out" "$BATS_TEST_TMPDIR/scan"
	grep -qF '[vdso]' "$out"
	PGSCAN_DISABLE=pagemap_scan run_pgscan dump --format=tsv --columns=start,end,state,pfn,vma \
		--vma='[v*' "$TARGET"
	cmp "$out" "$BATS_TEST_TMPDIR/scan"
}

@test "vsyscall: one row, unscanned" {
	grep -q vsyscall /proc/self/maps || skip "no vsyscall page here"
	target_start anon pages=8
	PGSCAN_TIMEOUT=10 run_pgscan dump --json --vma='[vsyscall]' "$TARGET"
	jq_is '[.rows[] | [.start, .pages, .state]]' '[["0xffffffffff600000",1,"unscanned"]]'
}

@test "a 32-bit build: entries, offsets and addresses of 64 bits" {
	requires plain kfeat:pagemap_scan
	local o=$BATS_TEST_TMPDIR/32 view

	gcc -m32 -x c -o "$o-probe" - -lcap -ljansson 2>/dev/null <<-'END' ||
		#include <errno.h>
		#include <jansson.h>
		#include <sys/capability.h>
		int main(void) { return !cap_get_proc() + !json_null(); }
	END
		skip "no 32-bit libcap and jansson for this compiler"
	env -u MAKEFLAGS make -s -C "$TESTS/.." O="$o" CC="gcc -m32" CFLAGS="-O1 -w" "$o/pgscan"
	[[ $(head -c 5 "$o/pgscan") == $'\x7fELF\x01' ]]

	target_start anon pages=70000 write=0-999/9,30000-31000,69999 read=2000-2500
	((ADDR[anon] > 1 << 32))
	PGSCAN=$o/pgscan same_as_pmref --by=page anon
	for view in raw hex "tsv --by=vma" "jsonl --by=run"; do
		# shellcheck disable=SC2086 # several words
		set -- dump --range="$(region anon)" -f $view "$TARGET"
		cmp <("$o/pgscan" "$@") <("$PGSCAN" "$@")
	done
	target_start sparse prot=rw
	run_pgscan dump -f tsv --range="$(region sparse)" "$TARGET"
	"$o/pgscan" dump -f tsv --range="$(region sparse)" "$TARGET" | cmp - "$out"
	# wp has no code for a processor of 32 bits, so it is not said to be able to use ptrace
	PGSCAN=$o/pgscan run_pgscan 4 check ptrace --json
	jq_is '.rows[0] | [.state, .detail]' '["no","only builds for x86-64 and arm64 can use it"]'
}

@test "zero pages are no data: a column of their own" {
	requires kfeat:pfn
	target_start anon pages=32 write=0-7 read=8-15
	run_pgscan dump --json --by=vma --range="$(region anon)" "$TARGET"
	jq_is '.rows[0] | [.present, .zero]' '[16,8]'
}

@test "zero pages are one frame, and one row" {
	requires kfeat:pfn
	local view

	target_start anon pages=300000 write=0-99/7 read=0-299999
	for view in "" --flags; do
		run_pgscan dump --json ${view:+"$view"} --range="$(region anon)" "$TARGET"
		jq_is '[.rows[] | select(.zero) | .pages] | sort | [length, .[-1]]' '[15,299901]'
		jq_is '[.rows[] | select(.zero) | .pfn] | unique | length' 1
		jq_is '[.summary.present, .summary.zero]' '[300000,299985]'
	done
	run_pgscan dump --by=page -f jsonl --range="$(page_addr anon 99)+12K" "$TARGET"
	[[ $(jq -s '[.[:-1][] | [.pages, .pfn, .entry]] | [length, (unique | length)]' -c "$out") == '[3,1]' ]]
}

@test "an empty huge page is not counted as huge: counts need present pages" {
	requires kfeat:thp
	target_start anon huge=2
	target_cmd dontneed huge 0-511
	run_pgscan dump --json --by=vma --range="$(region huge)" "$TARGET"
	jq_is '.rows[0] | [.pages, .present, .huge]' '[1024,512,512]'
}

# ---- names -----------------------------------------------------------------------------------

# name_of REGION: the name of that page's mapping, in bytes, escapes undone.
name_of() {
	printf '%b' "$(jq -r --arg a "${ADDR[$1]}" '.rows[] | select(.start == $a) | .vma' "$out" |
		sed 's/\\\\/\\x5c/g')"
}

@test "names: blanks, newline, tab, quotes, escapes, invalid UTF-8 are recovered to the byte" {
	local dir=$BATS_TEST_TMPDIR

	target_start oddname "dir=$dir"
	run_pgscan dump --by=vma --json "$TARGET"
	[[ $(name_of space; echo .) == "$dir/two  words ." ]]
	[[ $(name_of newline) == "$dir/line"$'\n'"line" ]]
	[[ $(name_of tab) == "$dir/tab"$'\t'"here" ]]
	[[ $(name_of quote) == "$dir/\"quoted\" and 'quoted' back\\slash" ]]
	[[ $(name_of badutf8) == "$dir/bad"$'\xfe\xff'"utf8"$'\xc3' ]]
	[[ $(name_of utf8) == "$dir/"$'\xc3\xa9'"t"$'\xc3\xa9' ]]
	[[ $(name_of control) == "$dir/esc"$'\e'"[31mred"$'\a' ]]
}

@test "names: a file really called (deleted), one that is deleted, and both" {
	local dir=$BATS_TEST_TMPDIR

	target_start oddname "dir=$dir"
	run_pgscan dump --by=vma --json "$TARGET"
	[[ $(name_of live_deleted) == "$dir/kept (deleted)" ]]
	[[ $(name_of gone) == "$dir/gone" ]]
	[[ $(name_of gone_deleted) == "$dir/gone too (deleted)" ]]
	[[ $(name_of memfd_deleted) == "/memfd:named (deleted)" ]]
	[[ $(name_of memfd_quote) == "/memfd:it's \"quoted\"" ]]
}

@test "names: digits that look like the kernel's escape of a newline" {
	requires kfeat:map_files
	target_start oddname "dir=$BATS_TEST_TMPDIR"
	run_pgscan dump --by=vma --json "$TARGET"
	[[ $(name_of octal) == "$BATS_TEST_TMPDIR/literal\\012digits" ]]
}

@test "names: one row a mapping in every format, whatever the name" {
	local rows

	target_start oddname "dir=$BATS_TEST_TMPDIR"
	rows=$(wc -l <"/proc/$TARGET/maps")
	run_pgscan dump --by=vma --format=tsv --no-header "$TARGET"
	[[ $(wc -l <"$out") == "$rows" ]]
	run_pgscan dump --by=vma --format=jsonl "$TARGET"
	[[ $(wc -l <"$out") == $((rows + 1)) ]]
	run_pgscan dump --by=vma --no-header "$TARGET"
	refute grep -q $'[\e\a\xfe]' "$out"
}

@test "names: a pattern finds the file by its real name" {
	target_start oddname "dir=$BATS_TEST_TMPDIR"
	run_pgscan dump --json --vma="$BATS_TEST_TMPDIR/line"$'\n'"line" "$TARGET"
	jq_is '[.rows[].start] | unique' "[\"${ADDR[newline]}\"]"
	run_pgscan dump --json --vma="$BATS_TEST_TMPDIR/gone" "$TARGET"
	jq_is '[.rows[].start] | unique' "[\"${ADDR[gone]}\"]"
}
