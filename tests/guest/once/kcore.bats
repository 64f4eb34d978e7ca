# SPDX-License-Identifier: GPL-2.0-only
# Kernel memory as a source: the same slots as the module's, and the name of each swap area.

# Variables of the libraries, which shellcheck does not see come
# shellcheck disable=SC2030,SC2031,SC2154

load ../lib

# The debug kernel has none
setup() {
	common_setup
	requires kcore
}

kcore_dump() {
	run_pgscan dump --kmod=off --kcore=require "$@"
}

# Start a target of the given kind that has most of its pages in swap
swap_out() {
	[[ -d $(cg_path kcore) ]] || cg_new kcore
	target_start --cgroup kcore "$@"
	cg_reclaim kcore $((64 << 20))
}

swap_out_shm() {
	swap_out shm "$@"
	states shm
	((none > 128))
}

# pages_of REGION: a line a page: where it starts, its state, source, and where in which swap area
pages_of() {
	kcore_dump --by=page --format=tsv -o start,state,source,swap_offset,swap_device \
		-r "$(region "$1")" "$TARGET"
}

# A page just written out stays in the swap cache until reclaim comes by again
# shellcheck disable=SC2016 # awk's
in_swap='($2 == "swapped" || $2 == "swap_cache")'

# What the device at $1 is said to hold, as slotcheck wants it
said_of() {
	awk -F '\t' -v d="$1" "$in_swap"' && $5 == d { print $1, $4 }' "$out"
}

# Swapped pages without a name
nameless() {
	awk -F '\t' "$in_swap"' && $5 !~ "^/" { n++ } END { print n + 0 }' "$out"
}

@test "every word of shared memory is the module's" {
	requires module
	local kind
	swap_disk 0
	for kind in anon memfd sysv tmpfs; do
		swap_out_shm "kind=$kind" pages=400 write=all
		kcore_dump --format=raw -r "$(region shm)" "$TARGET"
		(($(stat -c %s "$out") == 400 * 8))
		cp "$out" "$BATS_TEST_TMPDIR/ours"
		run_pgscan dump --kmod=require --kcore=off --format=raw -r "$(region shm)" "$TARGET"
		cmp "$out" "$BATS_TEST_TMPDIR/ours"
		target_stop
	done
}

@test "the device holds the pages where kernel memory says" {
	local kind
	swap_disk 0
	for kind in anon memfd sysv tmpfs; do
		swap_out_shm "kind=$kind" pages=256 write=all
		pages_of shm
		[[ $(awk -F '\t' "$in_swap"' { print $3 }' "$out" | sort -u) == kcore ]]
		said_of "$swap_device" | holds "$swap_device" "$none"
		target_stop
	done
}

@test "huge pages of tmpfs: an entry for 512 pages has 512 slots" {
	local before
	swap_zram 64M
	cg_new kcore
	before=$(huge_swpouts)
	huge_shm kcore all pages=1024
	cg_reclaim kcore $((64 << 20))
	[[ -z $before ]] || (($(huge_swpouts) > before))
	states shm
	((none > 512))
	pages_of shm
	said_of "$swap_device" | holds "$swap_device" "$none"
}

@test "a hole, a page in memory and a page in swap of one object" {
	swap_disk 0
	swap_out_shm kind=memfd pages=65536 write=0-255,65000
	kcore_dump --by=vma --json -r "$(region shm)" "$TARGET"
	jq_is '.rows[0] | .present + .swapped + .none == .pages' true
	jq_is '[.rows[].swapped] | add' "$(awk '/^Swap:/ { n += $2 } END { print n / 4 }' <(
		awk -v a="${ADDR[shm]#0x}" 'index($1, a "-") { on = 1; print; next }
			/^[0-9a-f]+-/ { on = 0 } on' "/proc/$TARGET/smaps"))"
}

@test "a file on tmpfs that nobody maps: its slots are the module's" {
	requires module
	local columns=start,pages,state,swap_type,swap_offset
	swap_disk 0
	cg_new kcore
	(cg_exec kcore dd if=/dev/urandom of=/dev/shm/kcore bs=1M count=1 status=none)
	defer rm -f /dev/shm/kcore
	cg_reclaim kcore $((64 << 20))
	kcore_dump --file=/dev/shm/kcore --format=tsv -o $columns
	sort "$out" >"$BATS_TEST_TMPDIR/ours"
	grep -q swapped "$out"
	run_pgscan dump --kmod=require --file=/dev/shm/kcore --format=tsv -o $columns
	sort "$out" | diff - "$BATS_TEST_TMPDIR/ours"
	kcore_dump --file=/dev/shm/kcore --json
	jq_is '[.rows[] | .source, .racy] | unique' '[false,"kcore"]'
}

@test "pages of zeroes in swap, which the kernel does not write to the device" {
	local detail
	run_pgscan check --json kmem
	detail=$(jq -r '.rows[0].detail' "$out")
	[[ $detail != *"no zero pages"* ]] || skip "this kernel has no zero map"
	swap_disk 0
	swap_out anon pages=64 write=all blank=64
	kcore_dump --by=page --json -r "$(region blank)" "$TARGET"
	jq_is '[.rows[] | select(.swap_offset) | .zero] | unique' '[true]'
	kcore_dump --by=page --json -r "$(region anon)" "$TARGET"
	jq_is '[.rows[] | select(.swap_offset) | .zero] | unique' '[false]'
}

# ---- the swap cache ----

# in_state STATE: where the pages of pages_of are that have it
in_state() {
	awk -F '\t' -v OFS='\t' -v s="$1" '$2 == s { print $1, $4, $5 }' "$out"
}

# counts_of_cache REGION SWAPPED CACHED: what each view counts
counts_of_cache() {
	local all=$(($2 + $3))
	kcore_dump --json -r "$(region "$1")" "$TARGET"
	jq_is '.summary | [.swapped, .swap_cache]' "[$2,$3]"
	jq_is '[.rows[] | select(.state == "swap_cache") | .pages] | add' "$3"
	kcore_dump --json --where=swap_cache -r "$(region "$1")" "$TARGET"
	jq_is '.summary | [.pages, .swapped, .swap_cache]' "[$3,0,$3]"
	kcore_dump --json --where='swapped,!swap_cache' -r "$(region "$1")" "$TARGET"
	jq_is '.summary | [.pages, .swapped, .swap_cache]' "[$2,$2,0]"
	kcore_dump --json --by=vma --where='swapped|swap_cache' -r "$(region "$1")" "$TARGET"
	jq_is '[.rows[] | .swapped, .other]' "[$all,0]"
	kcore_dump --json --by=vma -r "$(region "$1")" "$TARGET"
	jq_is '[.rows[] | .swapped, .other]' "[$all,0]"
	jq_is '.summary | [.swapped, .swap_cache]' "[$all,null]"
}

@test "pages read into the swap cache, and mapped nowhere: there are and have their slots" {
	local kind all half
	set_file /proc/sys/vm/page-cluster 0
	swap_disk 0
	for kind in shm anon; do
		swap_out $kind pages=256 write=all
		wait_for out_of_cache kcore $kind
		pages_of $kind
		in_state swapped >"$BATS_TEST_TMPDIR/slots"
		# Of the second half of the rows, which come after a header
		awk -F '\t' -v OFS='\t' 'NR > 129 && $2 == "swapped" { print $1, $4, $5 }' "$out" \
			>"$BATS_TEST_TMPDIR/half"
		all=$(wc -l <"$BATS_TEST_TMPDIR/slots") half=$(wc -l <"$BATS_TEST_TMPDIR/half")
		((all > 200 && half > 100 && half <= 128))
		kcore_dump --format=raw -r "$(region $kind)" "$TARGET"
		cp "$out" "$BATS_TEST_TMPDIR/words"

		# Up to the end: of shared memory 6.1 reads one page more (shmem_swapin_range)
		target_cmd willneed $kind 128-255
		pages_of $kind
		in_state swap_cache | diff "$BATS_TEST_TMPDIR/half" -
		{ in_state swapped && in_state swap_cache; } | diff "$BATS_TEST_TMPDIR/slots" -
		counts_of_cache $kind $((all - half)) "$half"
		kcore_dump --format=raw -r "$(region $kind)" "$TARGET"
		cmp "$out" "$BATS_TEST_TMPDIR/words"

		# It passes: out again, to the same slots, or in
		wait_for out_of_cache kcore $kind
		pages_of $kind
		in_state swapped | diff "$BATS_TEST_TMPDIR/slots" -
		target_cmd willneed $kind 128-255
		target_cmd read $kind all
		pages_of $kind
		[[ -z $(in_state swap_cache)$(in_state swapped) ]]
		target_stop
	done
}

@test "without kernel memory a page in the swap cache is swapped, and that it is there unknown" {
	swap_disk 0
	swap_out anon pages=256 write=all
	target_cmd willneed anon 0-127
	states anon
	run_pgscan dump --kcore=off --json -r "$(region anon)" "$TARGET"
	jq_is '.summary | [.swapped, .swap_cache]' "[$swapped,null]"
	jq_is '[.rows[] | select(.state == "swap_cache")]' '[]'
	run_pgscan dump --kcore=off --json --where='!swap_cache,!present' -r "$(region anon)" "$TARGET"
	jq_is '.summary.swapped' 0
}

# ---- swap areas ----

# areas_on NAME...: the small areas, in this order, so that pages overflow from one to the next
areas_on() {
	local name prio=10
	for name; do
		swapon -p "$prio" "${area[$name]}"
		prio=$((prio - 1))
	done
}

areas_make() {
	local id name
	declare -gA area=([disk]=/dev/vdb [file]=/root/kcore.swap)
	[[ -e /sys/class/zram-control ]] || modprobe zram num_devices=0
	id=$(</sys/class/zram-control/hot_add)
	defer write_file /sys/class/zram-control/hot_remove "$id"
	echo 1M >"/sys/block/zram$id/disksize"
	area[zram]=/dev/zram$id
	# Written out: a page cache that is still dirty would be written over the swap later
	dd if=/dev/zero of="${area[file]}" bs=1M count=1 conv=fsync status=none
	chmod 600 "${area[file]}"
	defer rm -f "${area[file]}"
	mkswap "${area[disk]}" 1024 >/dev/null 2>&1
	mkswap "${area[zram]}" >/dev/null 2>&1
	mkswap "${area[file]}" >/dev/null 2>&1
	sync
	for name in "${!area[@]}"; do
		defer swap_off "${area[$name]}"
	done
}

# areas_are_right REGION AREAS: every swapped page has a name, that area holds it, and so many areas hold
# some. A file's slots are its pages, as the blocks of the root's file system are (tests/vm/vm-prepare).
areas_are_right() {
	local name count seen=0
	pages_of "$1"
	for name in "${!area[@]}"; do
		count=$(said_of "${area[$name]}" | wc -l)
		((count > 0)) || continue
		seen=$((seen + 1))
		said_of "${area[$name]}" | holds "${area[$name]}" "$count"
	done
	[[ $(nameless) -eq 0 ]]
	((seen == $2)) || fail "only $seen of the areas are in use"
}

@test "three areas, in every order of swapoff and swapon: every name is right" {
	local order
	areas_make
	cg_new kcore
	for order in "disk zram file" "disk file zram" "zram disk file" "zram file disk" \
		"file disk zram" "file zram disk"; do
		# shellcheck disable=SC2086 # words
		areas_on $order
		swap_out anon pages=700 write=all
		areas_are_right anon 3
		# The first one goes, which leaves a gap in the types, and comes back at the same type
		swapoff "${area[${order%% *}]}"
		pages_of anon
		[[ $(nameless) -eq 0 ]]
		swapon -p 10 "${area[${order%% *}]}"
		cg_reclaim kcore $((64 << 20))
		areas_are_right anon 3
		target_stop
		swapoff -a
	done
}

# ---- change, and rights ----

# churn_start: tools/churn in a cgroup of its own. churn_end: it must have done everything at least once.
churn_start() {
	cg_new churn
	mkdir -p /mnt/churn
	mkfifo "$BATS_TEST_TMPDIR/churn"
	defer churn_clean
	(cg_exec churn "$BUILD/tools/churn" /mnt/churn) <"$BATS_TEST_TMPDIR/churn" \
		>"$BATS_TEST_TMPDIR/churned" 3>&- &
	churn_pid=$!
	exec {CHURN_IN}>"$BATS_TEST_TMPDIR/churn"
}

churn_end() {
	exec {CHURN_IN}>&-
	wait "$churn_pid"
	cat "$BATS_TEST_TMPDIR/churned"
	grep -q '^memory [1-9][0-9]* files [1-9]' "$BATS_TEST_TMPDIR/churned"
}

churn_clean() {
	! mountpoint -q /mnt/churn || umount /mnt/churn
}

# Seconds of churn
churn_time() {
	echo "${SLOW:+60}" | grep . || echo 6
}

# What the kernel has said, but of its clock and its own work being late, as on an emulated machine it is
kernel_said() {
	dmesg | grep -vE 'hogged CPU|hrtimer: interrupt|clocksource|perf: interrupt'
}

# Slots of the churning processes that the area has not
slots_of_no_area() {
	local pid
	for pid in $(<"$(cg_path churn)/cgroup.procs"); do
		"$PGSCAN" dump --kmod=off --kcore=require --where='swapped,file|swap_cache,file' --format=tsv --no-header \
			-o swap_type,swap_offset,pages "$pid" || [[ $? == 3 ]]
	done | tee -a "$BATS_TEST_TMPDIR/slots" |
		awk -F '\t' '$2 != "" && ($1 != 0 || $2 < 1 || $2 + $3 > 65536)'
}

@test "--slot: the types of empty areas are known, of one alone too" {
	swap_disk 0
	swap_disk 1
	swapoff /dev/vdb
	run_pgscan 1 swapmap --kcore=require --slot=0:9
	[[ $stderr == *"swap type 0 is not in use: there is /dev/vdc (type 1)"* ]]
	run_pgscan swapmap --kcore=require --json --slot=1:9
	jq_is '[.rows, .summary.found, .complete]' '[[],false,true]'
	[[ $stderr != *"not certain"* ]]
	run_pgscan 1 swapmap --kcore=require --slot=1:9999999
	run_pgscan swapmap --kcore=off --slot=0:9
	[[ $stderr == *"that this type is in use is not certain"* ]]
}

@test "beside churn, a quiet object is never wrong, and no slot is told that there is none of" {
	local end
	swap_disk 0
	swap_out_shm kind=memfd pages=400 write=all
	kcore_dump --format=raw -r "$(region shm)" "$TARGET"
	cp "$out" "$BATS_TEST_TMPDIR/quiet"
	kernel_said >"$BATS_TEST_TMPDIR/dmesg"
	churn_start
	end=$((SECONDS + $(churn_time)))
	: >"$BATS_TEST_TMPDIR/slots"
	# On a busy machine there are few looks, and each may come when nothing is out
	while ((SECONDS < end)) || { [[ ! -s $BATS_TEST_TMPDIR/slots ]] && ((SECONDS < end + 90)); }; do
		kcore_dump --format=raw -r "$(region shm)" "$TARGET"
		cmp "$out" "$BATS_TEST_TMPDIR/quiet"
		run_pgscan swapmap --by=object --json --kmod=off --kcore=require
		jq_is '[.rows[] | select(.kind == "memfd" and .size == 1638400).swapped]' "[$none]"
		jq_is '[.rows[] | select(.swapped != null and .note != null)]' '[]'
		[[ -z $(slots_of_no_area) ]]
	done
	churn_end
	[[ -s $BATS_TEST_TMPDIR/slots ]]
	kernel_said | diff "$BATS_TEST_TMPDIR/dmesg" -
}

@test "nor in the thousands of looks that the library has in that time" {
	swap_disk 0
	kernel_said >"$BATS_TEST_TMPDIR/dmesg"
	churn_start
	"$BUILD/tools/kmemwatch" "$(churn_time)"
	churn_end
	kernel_said | diff "$BATS_TEST_TMPDIR/dmesg" -
}

# ---- what a start needs ----

# no_btf: hide the kernel's type information. with_btf: show it again. other_btf FILE: show that.
no_btf() {
	mount -t tmpfs none /sys/kernel/btf
	defer with_btf
}

with_btf() {
	! mountpoint -q /sys/kernel/btf || umount /sys/kernel/btf
	! mountpoint -q /sys/kernel/btf/vmlinux || umount /sys/kernel/btf/vmlinux
}

other_btf() {
	mount --bind "$1" /sys/kernel/btf/vmlinux
	defer with_btf
}

# kmem_is_off REASON: refused, and said so; what needs no kernel memory goes on
kmem_is_off() {
	run_pgscan 4 check kmem --json
	jq_is '.rows[0].state' '"no"'
	jq_true ".rows[0].detail | contains(\"$1\")"
	run_pgscan 4 dump --kmod=off --kcore=require $$
	[[ $stderr == *"$1"* ]]
	run_pgscan dump --kmod=off --by=vma --json $$
}

@test "no type information, a part of it, or none that is such: refused, with the reason" {
	local size cut at
	rm -rf /run/pgscan
	size=$(stat -c %s /sys/kernel/btf/vmlinux)
	no_btf
	kmem_is_off "there is no /sys/kernel/btf/vmlinux"
	with_btf
	for cut in 0 23 1000 $((size / 2)) $((size - 1)); do
		head -c "$cut" /sys/kernel/btf/vmlinux >"$BATS_TEST_TMPDIR/btf"
		other_btf "$BATS_TEST_TMPDIR/btf"
		kmem_is_off "cannot make sense of '/sys/kernel/btf/vmlinux'"
		with_btf
	done
	# Whole, but of a kernel whose inodes have no such member
	cp /sys/kernel/btf/vmlinux "$BATS_TEST_TMPDIR/btf"
	at=$(strings -t d "$BATS_TEST_TMPDIR/btf" | awk '$2 == "i_sb_list" { print $1 }')
	printf x | dd of="$BATS_TEST_TMPDIR/btf" bs=1 seek="$at" conv=notrunc status=none
	other_btf "$BATS_TEST_TMPDIR/btf"
	kmem_is_off "has no member i_sb_list"
	with_btf
	[[ ! -e /run/pgscan ]]
	run_pgscan check kmem
}

cache=/run/pgscan/kernel-memory

# Whether a start takes what the cache has: without type information there is no other way
cache_is_used() {
	local status=0
	"$PGSCAN" check kmem >/dev/null 2>&1 || status=$?
	((status == 0))
}

# cache_fresh: the file as a start leaves it, in a folder as it makes it
cache_fresh() {
	rm -rf /run/pgscan
	mkdir -m 700 /run/pgscan
	(umask 077 && cp "$BATS_TEST_TMPDIR/cache" "$cache")
}

# The sum at the end of the cache, as its contents are now: FNV-1a
cache_sum() {
	local size sum=$((0xcbf29ce484222325)) byte i
	size=$(($(stat -c %s "$cache") - 8))
	for byte in $(head -c "$size" "$cache" | od -An -v -tu1); do
		sum=$(((sum ^ byte) * 0x100000001b3))
	done
	for ((i = 0; i < 64; i += 8)); do
		# shellcheck disable=SC2059 # an escape
		printf "\\x$(printf %02x $((sum >> i & 255)))"
	done | dd of="$cache" bs=1 seek="$size" conv=notrunc status=none
}

# Each makes it one that is not to be believed
spoil() {
	local at
	case $1 in
	file-of-user) chown 1000 "$cache" ;;
	file-of-group) chmod 660 "$cache" ;;
	folder-of-user) chown 1000 /run/pgscan ;;
	folder-of-all) chmod 1777 /run/pgscan ;;
	link) mv "$cache" /run/other && ln -s /run/other "$cache" ;;
	folder-link) mv /run/pgscan /run/elsewhere && ln -s /run/elsewhere /run/pgscan ;;
	short) truncate -s -1 "$cache" ;;
	long) echo >>"$cache" ;;
	fifo) rm "$cache" && mkfifo -m 600 "$cache" ;;
	byte-*) # the file's byte there is another one
		at=${1#byte-}
		head -c "$at" "$BATS_TEST_TMPDIR/cache" >"$cache"
		tail -c "+$((at + 1))" "$BATS_TEST_TMPDIR/cache" | head -c 1 | tr '\000-\377' '\001-\377\000' >>"$cache"
		tail -c "+$((at + 2))" "$BATS_TEST_TMPDIR/cache" >>"$cache"
		;;
	esac
}

@test "what a start has learnt is kept for the next, where root alone can write, and else not believed" {
	local how size
	rm -rf /run/pgscan
	defer rm -rf /run/pgscan /run/other /run/elsewhere
	run_pgscan check kmem
	[[ $(stat -c '%a %u' /run/pgscan "$cache" | tr '\n' ' ') == "700 0 600 0 " ]]
	[[ $(ls -A /run/pgscan) == kernel-memory ]]
	cp "$cache" "$BATS_TEST_TMPDIR/cache"
	size=$(stat -c %s "$cache")
	no_btf
	cache_is_used
	cache_fresh
	cache_is_used
	PGSCAN_DISABLE=kcore_cache run_pgscan 4 check kmem
	for how in file-of-user file-of-group folder-of-user folder-of-all link folder-link short long fifo \
		byte-0 byte-8 byte-20 byte-80 byte-$((size / 2)) byte-$((size - 1)); do
		cache_fresh
		spoil "$how"
		! cache_is_used || fail "believed: $how"
		rm -rf /run/pgscan /run/other /run/elsewhere
	done
}

@test "a cache that does not fit this kernel's memory is found out by the test, and made anew" {
	local sum at=120 # behind the head and the symbols: the first members
	rm -rf /run/pgscan
	defer rm -rf /run/pgscan
	run_pgscan check kmem
	sum=$(md5sum <"$cache")
	# Two of them change places; all else is as it should be
	{ tail -c "+$((at + 9))" "$cache" | head -c 8 && tail -c "+$((at + 1))" "$cache" | head -c 8; } \
		>"$BATS_TEST_TMPDIR/pair"
	dd if="$BATS_TEST_TMPDIR/pair" of="$cache" bs=1 seek="$at" conv=notrunc status=none
	cache_sum
	[[ $(md5sum <"$cache") != "$sum" ]]
	run_pgscan check kmem
	[[ $(md5sum <"$cache") == "$sum" ]]
}

@test "only root writes it, and only where it can" {
	rm -rf /run/pgscan
	setpriv --reuid=1000 --inh-caps=+sys_rawio,+dac_read_search --ambient-caps=+sys_rawio,+dac_read_search \
		"$PGSCAN" check kmem >"$out"
	grep -q yes "$out"
	[[ ! -e /run/pgscan ]]
	mount -o remount,ro /run
	defer mount -o remount,rw /run
	run_pgscan check kmem
	[[ ! -e /run/pgscan ]]
}

@test "kptr_restrict=2 hides nothing from it" {
	areas_make
	areas_on file disk # two, so that symbols are needed to tell them apart
	set_file /proc/sys/kernel/kptr_restrict 2
	# More than the first has, however many of its slots each processor keeps and other pages take
	swap_out_shm kind=memfd pages=400 write=all
	areas_are_right shm 2
}

@test "CAP_SYS_RAWIO is what it takes, and is named when it is missing" {
	swap_disk 0
	swap_out_shm kind=memfd pages=256 write=all
	status=0
	stderr=$(setpriv --bounding-set=-sys_rawio --inh-caps=-sys_rawio "$PGSCAN" dump --kmod=off \
		--kcore=require -r "$(region shm)" "$TARGET" 2>&1 >/dev/null) || status=$?
	[[ $status -eq 5 && $stderr == *"needs CAP_SYS_RAWIO"* ]]
	setpriv --bounding-set=-all,+sys_rawio --inh-caps=-all "$PGSCAN" check --json kmem >"$out"
	jq_is '.rows[0].state' '"yes"'
}

@test "masked, or off, it leaves shared memory to map_files" {
	swap_disk 0
	swap_out_shm kind=memfd pages=256 write=all
	run_pgscan dump --kmod=off --kcore=off --by=page --json -r "$(region shm)" "$TARGET"
	jq_is '[.rows[] | select(.state == "swapped") | .source, .swap_offset] | unique' \
		'[null,"map_files"]'
	PGSCAN_DISABLE=kcore run_pgscan 4 dump --kmod=off --kcore=require "$TARGET"
	[[ $stderr == *"switched off"* ]]
}
