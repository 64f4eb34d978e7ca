# SPDX-License-Identifier: GPL-2.0-only
# swapmap -a: the used swap, and in whose hands it is.

# Variables of the libraries, which shellcheck does not see come
# shellcheck disable=SC2030,SC2031,SC2154
# Words of jq, and lists of processes
# shellcheck disable=SC2016,SC2046

load ../lib

# The figures of the summary, and that they add up
account() {
	jq -c '.summary' "$out"
	jq_true '.summary | .used == .anon_slots + .shmem_slots + .swap_cache_slots + .unaccounted'
	jq_is '.summary.changed' 0
	jq_true '.summary | .anon_slots + .shmem_slots + .swap_cache_slots <= .used'
}

# A tmpfs file that no process maps nor has open
tmpfs_file() { # CGROUP FILE MIB
	(cg_exec "$1" dd if=/dev/urandom of="$2" bs=1M count="$3" status=none)
	defer rm -f "$2"
}

remove_segments() {
	awk 'NR > 1 { print $2 }' /proc/sysvipc/shm | while read -r id; do
		ipcrm -m "$id"
	done
}

# Some of everything that is found on a machine with a database: 80 MiB
mix() {
	cg_new mix
	target_start --cgroup mix shm kind=sysv pages=4096 write=all keep=1
	defer remove_segments
	target_cmd unmap shm
	target_start --cgroup mix shm kind=sysv pages=2048 write=all children=3
	target_start --cgroup mix shm kind=anon pages=4096 write=all children=3
	target_start --cgroup mix shm kind=memfd pages=2048 write=0-2047/2
	target_start --cgroup mix shm kind=memfd pages=1024 write=all
	target_cmd unmap shm
	target_start --cgroup mix shm kind=tmpfs pages=1024 write=all
	target_start --cgroup mix anon pages=4096 write=all children=3
	tmpfs_file mix /dev/shm/unmapped 8
	cg_reclaim mix $((512 << 20))
}

# Slots that each processor keeps for its next swap-out, and for its next return, are used by nobody: 64
# at most of each (SWAP_SLOTS_CACHE_SIZE, until 6.14). Only kernel memory says how many.
slots_untold() {
	[[ -e /proc/kcore ]] && echo 0 || echo $((2 * 64 * $(nproc)))
}

@test "a mix like a database's on two areas: 99.9 % of the used swap is accounted for" {
	requires module
	swap_disk 0 9
	swap_zram 64M 5
	mix
	[[ $(swap_used) -gt 16384 ]]
	run_pgscan swapmap -a --json
	account
	jq_true ".summary | .unaccounted <= .used * 0.001 + $(slots_untold)"
	jq_is '.summary.shmem_partial' false
	run_pgscan swapmap --by=device --json
	jq_true '.summary as $s | [.rows[].used] | add == $s.used'
	jq_true '.summary as $s | [.rows[] | .anon, .shmem] | add == $s.anon_slots + $s.shmem_slots'
	# The disk is filled first; zram says what it keeps
	jq_true '.rows | map(select(.device == "/dev/vdb")) | .[0] | .used > 0 and .zram_data == null'
}

@test "kernel memory accounts for all of it, and lists the objects that the module lists" {
	requires kcore
	local columns=kind,dev,inode,name,size,swapped,mappers
	swap_disk 0 9
	swap_zram 64M 5
	mix
	run_pgscan swapmap -a --json --kmod=off --kcore=require
	account
	jq_is '.summary.shmem_partial' false
	jq_true '.summary | .unaccounted <= .used * 0.001'
	jq_true '.summary | .swap_cache_estimated == false and .swap_cache_reserved <= .swap_cache_slots'
	run_pgscan swapmap --by=device --json --kmod=off --kcore=require
	jq_is '[.rows[] | select(.device == null or .cached == null)]' '[]'
	[[ -c /dev/pgscan ]] || return 0
	run_pgscan swapmap --by=object --format=tsv -o $columns --kmod=off --kcore=require
	sort "$out" >"$BATS_TEST_TMPDIR/ours"
	run_pgscan swapmap --by=object --format=tsv -o $columns --kmod=require
	sort "$out" | diff - "$BATS_TEST_TMPDIR/ours"
}

@test "without the module it is partial, and says so: what nobody maps is found by other traces" {
	swap_disk 0
	mix
	run_pgscan swapmap -a --json --kmod=off --kcore=off
	account
	jq_is '.summary.shmem_partial' true
	jq_true '.summary | .unaccounted <= .used * 0.005'
	run_pgscan swapmap --by=object --json --kmod=off --kcore=off
	jq_true '[.rows[] | select(.name == "/dev/shm/unmapped")][0] | .swapped > 1024 and .mappers == 0'
	jq_true '[.rows[] | select(.kind == "memfd" and .mappers == 0)][0].swapped == 1024'
	jq_true '[.rows[] | select(.kind == "sysv" and .mappers == 0)][0].swapped > 2048'
	jq_true '[.rows[] | select(.kind == "sysv" and .mappers == 4)][0].swapped > 1024'
}

# all_gone CGROUP REGION...: reclaim from the cgroup, and see that these have no page in memory. By wait_for.
all_gone() {
	local name

	cg_reclaim "$1" $((64 << 20))
	for name in "${@:2}"; do
		states "$name"
		((present == 0)) || return 1
	done
}

# inside PID: have run_pgscan run pgscan in the PID namespace of that process, with a /proc of it
inside() {
	# shellcheck disable=SC2016
	printf '#!/bin/bash\nexec nsenter -t %d -p unshare -m bash -c %s - %q "$@"\n' "$1" \
		"'mount -t proc proc /proc && exec \"\$@\"'" "$PGSCAN" >"$BATS_TEST_TMPDIR/inside"
	chmod +x "$BATS_TEST_TMPDIR/inside"
	PGSCAN=$BATS_TEST_TMPDIR/inside
}

@test "a PID namespace: who is outside is not seen, and what they may hold is unknown" {
	local source child outer=$PGSCAN

	swap_zram 64M
	cg_new mix
	target_start --cgroup mix pidns
	child=$(<"/proc/$TARGET/task/$TARGET/children")
	wait_for all_gone mix anon shm
	for source in "${slot_sources[@]}" "--kmod=off --kcore=off"; do
		# shellcheck disable=SC2086 # words
		set -- $source --json
		# Outside the child holds half of it
		PGSCAN=$outer
		run_pgscan swapmap "$@" --by=process "$TARGET" "${child% }"
		jq_true 'all(.rows[]; .anon >= 64 and .shmem >= 64 and .pswap <= .total - 64)'
		inside "${child% }"
		run_pgscan 3 swapmap "$@" -a
		jq_true '.rows[0] | .anon >= 64 and .shmem >= 64'
		jq_is '.rows[0] | [.pswap, .uswap, .note]' '[null,null,"not all owners known"]'
		jq_is '.summary | [.anon_slots, .unaccounted]' '[null,null]'
		jq_is '[.errors[].what]' '["/proc shows the processes of one PID namespace alone"]'
		[[ $stderr == *"PID namespace alone: those outside are not seen"* ]]
		run_pgscan 3 swapmap "$@" --by=device
		jq_is '.rows[0] | [.anon, .other]' '[null,null]'
		run_pgscan 3 swapmap "$@" --by=object
		jq_is '[.rows[].mappers] | unique' '[null]'
		run_pgscan 3 swapmap "$@" --by=cgroup -a
		jq_is '[.rows[] | .processes, .anon, .pswap, .uswap] | unique' '[null]'
		run_pgscan swapmap "$@" --by=run 1
		jq_is '[.rows[].owners] | unique' '[null]'
	done
	run_pgscan 3 swapmap --map
}

# with_rights RIGHTS ARGS...: swapmap by somebody who does not see all; the status is left in $status
with_rights() {
	local -a as=()
	local fd

	case $1 in
	hidepid) as=(unshare -m bash -c 'mount -t proc -o hidepid=2 proc /proc && exec "$@"' - "${NOBODY[@]}") ;;
	user) as=("${NOBODY[@]}") ;;
	tracer) as=(setpriv --reuid=65534 --clear-groups "--inh-caps=-all,+sys_ptrace,+dac_read_search"
		"--ambient-caps=+sys_ptrace,+dac_read_search") ;;
	esac
	exec {fd}<"$PGSCAN"
	status=0
	"${as[@]}" "/proc/self/fd/$fd" swapmap "${@:2}" >"$out" 2>"$err" || status=$?
	exec {fd}<&-
}

# Each number that one with less rights prints is the number that root prints, or null.
@test "whoever does not see all: in every view a number is right, or null, and never 0 instead" {
	local rights anon shmem slot total

	swap_zram 64M
	cg_new mix
	target_start --cgroup mix anon pages=64 write=all children=1
	target_start --cgroup mix shm kind=anon pages=64 write=all children=2
	wait_for all_gone mix shm
	run_pgscan swapmap -a --json
	read -r anon shmem < <(jq -r '.summary | "\(.anon_slots) \(.shmem_slots)"' "$out")
	total=$(jq -c ".rows[] | select(.pid == $TARGET) | [.anon, .shmem, .total, .pswap, .uswap]" "$out")
	((anon > 64 && shmem == 64))
	slot=$(run_pgscan swapmap -a --by=page --json >&2 && jq '[.rows[].swap_offset | select(.)][0]' "$out")
	for rights in user hidepid tracer; do
		with_rights $rights -a --json
		[[ $status == 3 || $rights == tracer ]]
		jq_true ".summary | (.anon_slots // $anon) == $anon and (.shmem_slots // $shmem) == $shmem"
		jq_is .summary.unaccounted null
		jq_true "all(.rows[] | select(.pid == $TARGET) | [.anon, .shmem, .total, .pswap, .uswap];
			. as \$row | $total | to_entries | all(.[]; \$row[.key] == null or \$row[.key] == .value))"
		with_rights $rights --by=device --json
		[[ $status == 3 || $rights == tracer ]]
		jq_true ".rows[0] | (.anon // $anon) == $anon and (.shmem // $shmem) == $shmem and .other == null"
		with_rights $rights --by=object --json
		jq_true 'all(.rows[] | select(.kind == "shared_anon"); .mappers == null or .mappers == 3)'
		with_rights $rights -a --by=cgroup --json
		jq_true 'all(.rows[]; .uswap == null or .total == 0)'
		with_rights $rights -a --by=run --json
		jq_true 'all(.rows[]; .owners == null)'
		with_rights $rights --slot="$swap_device:$slot" --json
		((status == 3))
		with_rights $rights --map
		[[ $status == 3 && -s $err ]]
	done
}

@test "objects: every one in swap, mapped or not" {
	requires module
	swap_zram 128M
	mix
	run_pgscan swapmap --by=object --json
	jq_is '[.rows[] | select(.swapped > 256).kind] | sort' \
		'["memfd","memfd","shared_anon","sysv","sysv","tmpfs","tmpfs"]'
	jq_true '[.rows[] | select(.kind == "memfd").mappers] | sort == [0, 1]'
	jq_true '[.rows[] | select(.kind == "shared_anon" and .swapped > 256).mappers] == [4]'
	jq_true '.summary as $s | [.rows[].swapped] | add == $s.shmem_slots'
	# Those of one process
	run_pgscan swapmap --by=object --json "$TARGET"
	jq_is '[.rows[] | select(.swapped > 256)]' '[]'
}

@test "a tmpfs file that nobody maps: no process, and yet in the account" {
	requires module
	swap_zram 64M
	cg_new mix
	tmpfs_file mix /dev/shm/file 2
	cg_reclaim mix $((64 << 20))
	run_pgscan swapmap --by=object --json
	jq_is '[.rows[] | select(.name == "/dev/shm/file") | .kind, .size, .mappers]' '["tmpfs",2097152,0]'
	jq_true '[.rows[] | select(.name == "/dev/shm/file").swapped][0] > 256'
	run_pgscan swapmap -a --json
	account
	jq_true '.summary.shmem_slots > 256 and .summary.shmem < 256'
}

@test "objects: long symbolic links have a page each" {
	requires module
	local i use long
	swap_disk 0
	cg_new mix
	mkdir /dev/shm/links
	defer rm -r /dev/shm/links
	long=$(printf 'x%.0s' {1..1000})
	for ((i = 0; i < 20; i++)); do
		(cg_exec mix ln -s "$long" "/dev/shm/links/$i")
	done
	cg_reclaim mix $((64 << 20))
	for use in "${slot_sources[@]}"; do
		# shellcheck disable=SC2086 # words are meant
		run_pgscan swapmap $use --by=object --json
		jq_is '[.rows[] | select(.name | startswith("/dev/shm/links/")) | .swapped] | add' 20
	done
}

@test "a memfd of four processes is 64 slots, not 256" {
	local kmod
	swap_zram 64M
	cg_new mix
	target_start --cgroup mix shm kind=memfd pages=64 write=all children=3
	cg_reclaim mix $((64 << 20))
	for kmod in auto off; do
		run_pgscan swapmap -a --json --kmod=$kmod
		account
		jq_is '[.rows[] | select(.shmem == 64) | .pswap] | length' 4
		jq_true '.summary.shmem >= 256 and .summary.shmem_slots < 128'
	done
}

@test "pages read back are in memory and still hold their slots, each once" {
	swap_disk 0
	set_file /proc/sys/vm/page-cluster 0
	cg_new mix
	target_start --cgroup mix anon pages=2048 write=all children=1
	cg_reclaim mix $((64 << 20))
	target_cmd read anon 0-999
	run_pgscan swapmap -a --json
	account
	# The child has entries for all of them
	jq_true '.summary | .swap_cached >= 900 and .swap_cache_slots < 100'
	kill -KILL "$(children)"
	# Its parent does not ask for it: without memory it stays
	wait_for grep -q '^State:.*zombie' "/proc/$(children)/status"
	run_pgscan swapmap -a --json
	account
	jq_true '.summary | .swap_cache_slots >= 900 and .unaccounted < 300'
}

@test "cgroups: what processes of one share counts once in it" {
	swap_zram 64M
	cg_new mix
	cg_new other
	target_start --cgroup mix anon pages=64 write=all children=3
	target_start --cgroup other shm kind=anon pages=64 write=all
	cg_reclaim mix $((64 << 20))
	cg_reclaim other $((64 << 20))
	run_pgscan swapmap -a --by=cgroup --json
	jq_true '.rows[] | select(.cgroup == "/mix") | .processes == 4 and .anon >= 64 and .anon < 200 and .uswap == .anon and .charged > 0'
	jq_true '.rows[] | select(.cgroup == "/other") | .processes == 1 and .shmem == 64 and .uswap >= 64'
	run_pgscan swapmap -g mix --by=cgroup --json
	jq_is '[.rows[].cgroup]' '["/mix"]'
}

@test "zram: slots in use, data stored and memory taken are three things" {
	swap_zram 64M
	cg_new mix
	target_start --cgroup mix shm kind=memfd pages=64 write=all
	target_start --cgroup mix anon same=512 pages=1
	cg_reclaim mix $((64 << 20))
	run_pgscan swapmap --by=device --json
	jq_true '.rows[0] | .used >= 512 and .zram_same >= 500 and .zram_data >= 4096 * .zram_same and .zram_memory < 4096 * .used'
}

@test "--slot: the processes that hold it, or the object" {
	local slot addr
	swap_disk 0
	cg_new mix
	target_start --cgroup mix anon pages=64 write=all children=3
	cg_reclaim mix $((64 << 20))
	read -r addr slot < <(slots anon | tail -n 1)
	run_pgscan swapmap --slot="$swap_device:$slot" --json
	jq_is '[.rows[] | .kind, .pages, .owners, .swap_offset] | unique' "[1,4,$slot,\"anon\"]"
	jq_is '[.rows[].start] | unique' "[\"$addr\"]"
	jq_is '[.rows[].pid] | sort' "$(printf '%s\n' "$TARGET" $(children) | jq -sc sort)"
	run_pgscan swapmap --slot="$swap_device:60000" --json
	jq_is '[.rows, .summary.found]' '[[],false]'
	run_pgscan 1 swapmap --slot="$swap_device:99999999"
	run_pgscan 1 swapmap --slot=/dev/none:1
}

@test "--slot: shared memory that nobody maps" {
	requires module
	swap_disk 0
	cg_new mix
	target_start --cgroup mix shm kind=memfd pages=64 write=all
	cg_reclaim mix $((64 << 20))
	run_pgscan swapmap --by=page --json -r "$(region shm)" "$TARGET"
	slot=$(jq '.rows[10].swap_offset' "$out")
	run_pgscan swapmap --slot="$swap_device:$slot" --json
	jq_is '[.rows[] | .pid, .start, .kind, .owners]' "[$TARGET,\"$(page_addr shm 10)\",\"shmem\",1]"
	target_cmd unmap shm
	run_pgscan swapmap --slot="$swap_device:$slot" --json
	jq_is '[.rows[] | .pid, .start, .vma, .owners]' '[null,null,"/memfd:pgscan-test",0]'
}

@test "--map: letters for the owners, as much of them as they have" {
	swap_disk 0
	cg_new mix
	target_start --cgroup mix anon pages=8192 write=all
	cg_reclaim mix $((64 << 20))
	run_pgscan swapmap --map
	cat "$out"
	[[ $output == "$swap_device: "*" of 256M in use"* ]]
	[[ $(sed -n '2,/^$/p' "$out" | awk 'length > n { n = length } END { print n }') -eq 80 ]]
	grep -qE "^A +(3[0-9]|3[0-9]\.[0-9])M  .* \($TARGET\)\$" "$out"
	# 32 MiB of 256 MiB are 80 of 640 cells
	[[ $(sed -n '2,/^$/p' "$out" | tr -cd 'Aa' | wc -c) -ge 75 ]]
	[[ $(tr -cd '\033' <"$out" | wc -c) -eq 0 ]]
}

@test "an area that goes away during the walk is no failure" {
	local i pid
	swap_disk 0 9
	swap_disk 1 5
	cg_new mix
	target_start --cgroup mix anon pages=8192 write=all
	cg_reclaim mix $((64 << 20))
	swapoff /dev/vdb &
	pid=$!
	for ((i = 0; i < 8; i++)); do
		run_pgscan swapmap -a --json
		jq_true '.summary | .used <= .size and .anon_slots + .shmem_slots <= .used + .changed'
		run_pgscan swapmap --by=run --json "$TARGET"
		jq_true '[.rows[].swap_device] | unique - [null, "/dev/vdb", "/dev/vdc"] == []'
	done
	wait "$pid"
}

@test "zswap: pages have their slot, and the totals are given" {
	[[ -d /sys/module/zswap ]] || skip "this kernel has no zswap"
	swap_disk 0
	set_file /sys/module/zswap/parameters/enabled Y
	cg_new mix
	target_start --cgroup mix anon same=512 pages=1
	cg_reclaim mix $((64 << 20))
	run_pgscan swapmap -a --json
	account
	jq_true '.summary | .zswap_stored_bytes > 0 and .zswap_stored_bytes >= .zswap_pool_bytes'
	run_pgscan swapmap --by=run --json -r "$(region same)" "$TARGET"
	jq_is '[.rows[].swap_device] | unique' "[\"$swap_device\"]"
	jq_true '[.rows[].swap_offset] | min > 0'
}

@test "huge pages of tmpfs: each page has a slot of its own" {
	requires module
	local start swapped

	swap_disk 0
	cg_new mix
	huge_shm mix all pages=1024
	cg_reclaim mix $((64 << 20))
	start=$(region shm)
	start=${start%%+*}
	# Reclaim may leave some in memory.
	swapped=$(awk -v at="${start#0x}-" 'index($0, at) == 1 { found = 1 }
		found && /^Swap:/ { print $2 / 4; exit }' "/proc/$TARGET/smaps")
	((swapped >= 512)) || fail "$swapped of 1024 pages are in swap"
	run_pgscan swapmap --by=page --json -r "$(region shm)" "$TARGET"
	jq_is '[.rows | length, ([.[].swap_offset] | unique | length)]' "[$swapped,$swapped]"
	jq -r '.rows[] | "\(.start) \(.swap_offset)"' "$out" | holds "$swap_device" "$swapped"
}
