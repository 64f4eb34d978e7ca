# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# common: what every .bats file loads. Runs pgscan, starts targets, says what a test needs.
#
# From the environment, as the Makefile sets it:
#   PGSCAN   the binary, or a script that runs it (default $O/pgscan)
#   O        where targets/ and tools/ were built (default build)

TESTS=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)
BUILD=$(cd "$TESTS/.." && realpath "${O:-build}")
PGSCAN=$(realpath "${PGSCAN:-$BUILD/pgscan}")
PAGE_SIZE=$(getconf PAGESIZE)
export FIXTURES=$TESTS/fixtures
NOBODY=()
((EUID != 0)) || NOBODY=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all)

# A sanitizer's report must not pass for the status that the test expects.
export ASAN_OPTIONS="exitcode=99:abort_on_error=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
export UBSAN_OPTIONS="halt_on_error=1:exitcode=99:print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}"
export LC_ALL=C
unset COLUMNS NO_COLOR PGSCAN_DISABLE
out=/dev/null err=/dev/null # of the last run: files of the test, once it is set up

# Bats' own setup and teardown; a file that defines others calls these.
setup() {
	common_setup
}

teardown() {
	common_teardown
}

common_setup() {
	out=$BATS_TEST_TMPDIR/stdout
	err=$BATS_TEST_TMPDIR/stderr
	declare -gA ADDR=() PAGES=()
	declare -ga TARGETS=()
}

common_teardown() {
	local pid

	for pid in "${TARGETS[@]}"; do
		target_stop "$pid"
	done
}

# fail TEXT...: say why, and fail the test.
fail() {
	printf '%s\n' "$@" >&2
	return 1
}

# refute COMMAND...: it must not succeed. ("! COMMAND" never ends a test: bash -e leaves it out.)
refute() {
	if "$@"; then
		fail "this should not hold: ${*@Q}"
	fi
}

# ---- pgscan ----------------------------------------------------------------------------------

# run_pgscan [STATUS] ARGS...: run it and demand the exit status (0). Standard output goes to the
# file $out, standard error to $err; $output and $stderr hold their text when they are small.
run_pgscan() {
	run_checked "$PGSCAN" "$@"
}

# until_pgscan PID: until a background job has become pgscan. A signal that comes before meets a bash with a
# trap, which notes it and then execs: it is lost.
until_pgscan() {
	until [[ $(cat "/proc/$1/comm" 2>/dev/null || echo pgscan) == pgscan ]]; do :; done
}

# run_as_nobody [STATUS] ARGS...: the same as a user without any rights; as whoever we are when that
# is not root. The binary is opened here: nobody may not be able to reach it by name.
run_as_nobody() {
	local fd rc=0

	exec {fd}<"$PGSCAN"
	run_checked "/proc/self/fd/$fd" "$@" || rc=$?
	exec {fd}<&-
	return "$rc"
}

# as_nobody COMMAND...: run it with the rights of nobody, and no groups.
as_nobody() {
	"${NOBODY[@]}" "$@"
}

run_checked() {
	local binary=$1 want=0
	local -a as=()

	[[ $binary == "$PGSCAN" ]] || as=("${NOBODY[@]}")
	shift
	if [[ $1 =~ ^[0-9]+$ ]]; then
		want=$1
		shift
	fi
	status=0
	timeout -k 5 "${PGSCAN_TIMEOUT:-60}" "${as[@]}" "$binary" "$@" \
		>"$out" 2>"$err" </dev/null 3>&- || status=$?
	output=
	stderr=$(head -c 65536 "$err")
	if (($(stat -c %s "$out") <= 65536)); then
		output=$(tr -d '\0' <"$out")
	fi
	if ((status != want)); then
		echo "status $status, not $want, of: pgscan ${*@Q}" >&2
		echo "stdout: ${output:0:2000}" >&2
		echo "stderr: ${stderr:0:4000}" >&2
		return 1
	fi
}

# with_descriptors N ARGS...: pgscan with no more than N of them, whatever its status, which is left in
# $status. Output goes where run_pgscan has it.
with_descriptors() {
	status=0
	# shellcheck disable=SC2016
	timeout -k 5 60 sh -c 'ulimit -n "$0"; exec "$@"' "$1" "$PGSCAN" "${@:2}" \
		>"$out" 2>"$err" </dev/null 3>&- || status=$?
	stderr=$(<"$err")
}

# ---- what a test needs -----------------------------------------------------------------------

# requires WORD...: skip the test, with the reason, unless all are there. An unknown word fails.
#   root            uid 0
#   cap:NAME        an effective capability, as cap:sys_admin
#   kfeat:NAME      a name of tests/tools/kfeat.c
#   tool:NAME       a program in $PATH
#   cgroup:v1|v2    a memory controller of that hierarchy
#   module          /dev/pgscan
#   kcore           /proc/kcore, and with it what pgscan reads of kernel memory
#   swap            a swap area in use
#   guest           a machine of our own that the test may change
#   native          no valgrind, which does not know every call and answers some for the kernel
#   plain           no sanitizer and no valgrind: for figures of time, memory and system calls
requires() {
	local word

	for word; do
		case $word in
		root) ((EUID == 0)) || skip "needs root" ;;
		cap:*) has_cap "${word#cap:}" || skip "needs CAP_${word#cap:}" ;;
		kfeat:*) has_kfeat "${word#kfeat:}" || skip "this kernel or user has no ${word#kfeat:}" ;;
		tool:*) command -v "${word#tool:}" >/dev/null || skip "no ${word#tool:} installed" ;;
		cgroup:v1) [[ -n $(memory_cgroup_v1) ]] || skip "no v1 memory controller" ;;
		cgroup:v2) [[ -n $(memory_cgroup_v2) ]] || skip "no v2 memory controller" ;;
		module) [[ -c /dev/pgscan ]] || skip "the module is not loaded" ;;
		kcore) [[ -e /proc/kcore ]] || skip "this kernel has no /proc/kcore" ;;
		swap) (($(wc -l </proc/swaps) > 1)) || skip "no swap area" ;;
		guest) [[ -n ${PGSCAN_GUEST:-} ]] || skip "only in a guest" ;;
		native) [[ $(head -c 4 "$PGSCAN") == $'\x7fELF' ]] || skip "not under valgrind" ;;
		plain) is_plain_build || skip "not under a sanitizer or valgrind" ;;
		*)
			echo "requires: unknown word '$word'" >&2
			return 1
			;;
		esac
	done
}

has_cap() {
	local -A number=([checkpoint_restore]=40 [sys_admin]=21 [sys_ptrace]=19 [dac_override]=1
		[dac_read_search]=2 [sys_resource]=24)
	local effective

	[[ -n ${number[$1]:-} ]] || fail "requires: unknown capability '$1'" || exit 1
	effective=$(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status)
	(((0x$effective >> number[$1]) & 1))
}

has_kfeat() {
	local rc=0

	"$BUILD/tools/kfeat" "$1" || rc=$?
	((rc != 2)) || fail "requires: unknown feature '$1'" || exit 1
	return "$rc"
}

is_plain_build() {
	grep -q $'^\x7fELF' "$PGSCAN" && ! grep -qF __asan_init "$PGSCAN"
}

memory_cgroup_v1() {
	awk '$3 == "cgroup" && $4 ~ /(^|,)memory(,|$)/ { print $2; exit }' /proc/mounts
}

memory_cgroup_v2() {
	local dir

	dir=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	if [[ -n $dir ]] && grep -qw memory "$dir/cgroup.controllers"; then
		echo "$dir"
	fi
}

# ---- targets ---------------------------------------------------------------------------------

# target_start [--nobody|--cgroup CGROUP] NAME [KEY=VALUE]...: start a program of tests/targets and
# wait until it is ready; the cgroup is one of guest/lib.bash's. Sets TARGET (its pid), and ADDR[name] and PAGES[name] for each region it prints.
target_start() {
	local -a as=()
	local name fifo exe line

	if [[ $1 == --nobody ]]; then
		as=("${NOBODY[@]}")
		shift
	elif [[ $1 == --cgroup ]]; then
		as=(cg_exec "$2")
		shift 2
	fi
	name=$1
	shift
	fifo=$BATS_TEST_TMPDIR/target-${#TARGETS[@]}
	mkfifo "$fifo.in" "$fifo.out"
	# Opened for both ways, so that neither side waits for the other to open its end.
	exec {TARGET_IN}<>"$fifo.in" {TARGET_OUT}<>"$fifo.out" {exe}<"$BUILD/targets/$name"
	"${as[@]}" "/proc/self/fd/$exe" "$@" <"$fifo.in" >"$fifo.out" 3>&- &
	TARGET=$!
	exec {exe}<&-
	TARGETS+=("$TARGET")
	declare -g "TARGET_IN_$TARGET=$TARGET_IN" "TARGET_OUT_$TARGET=$TARGET_OUT"
	while target_line; do
		if [[ $line == ready ]]; then
			return 0
		elif [[ $line =~ ^([a-z0-9_]+)=(0x[0-9a-f]+)\ pages=([0-9]+)$ ]]; then
			ADDR[${BASH_REMATCH[1]}]=${BASH_REMATCH[2]}
			PAGES[${BASH_REMATCH[1]}]=${BASH_REMATCH[3]}
		fi
	done
	fail "target $name did not become ready"
}

# zombie_start: a process that has ended and that nobody has waited for. Sets ZOMBIE.
zombie_start() {
	local parent go=$BATS_TEST_TMPDIR/zombie.go pid=$BATS_TEST_TMPDIR/zombie.pid

	# Its parent becomes sleep(1), which waits for nobody, before the child may go: a shell would.
	mkfifo "$go"
	bash -c 'read -r <"$1" & echo $! >"$2"; exec sleep 60' - "$go" "$pid" 3>&- &
	parent=$!
	TARGETS+=("$parent")
	until [[ $(<"/proc/$parent/comm") == sleep ]]; do
		sleep 0.01
	done
	ZOMBIE=$(<"$pid")
	echo >"$go"
	until [[ $(cut -d ' ' -f 3 "/proc/$ZOMBIE/stat") == Z ]]; do
		sleep 0.01
	done
}

# A line of the current target into $line; fails when it has died or is silent for too long.
target_line() {
	local i part

	line=
	for ((i = 0; i < 300; i++)); do
		# Time may be up in the middle of a line: what was read of it is kept.
		if read -r -t 0.2 -u "$TARGET_OUT" part; then
			line+=$part
			return 0
		fi
		line+=$part
		kill -0 "$TARGET" 2>/dev/null || return 1
	done
	return 1
}

# target_cmd WORDS...: have the current target obey; ANSWER is what it said after "ok".
target_cmd() {
	local line=

	echo "$*" >&"$TARGET_IN"
	target_line || fail "target does not answer: $*" || return
	[[ $line == ok* ]] || fail "target says '$line' to: $*" || return
	ANSWER=${line#ok}
	ANSWER=${ANSWER# }
}

# target_use PID: make one of several targets the current one.
target_use() {
	local in=TARGET_IN_$1 out=TARGET_OUT_$1

	TARGET=$1
	TARGET_IN=${!in}
	TARGET_OUT=${!out}
}

# target_stop [PID]: end it, and wait until it is gone.
target_stop() {
	local pid=${1:-$TARGET}

	kill -KILL "$pid" 2>/dev/null || return 0
	wait "$pid" 2>/dev/null || true
}

# ---- reading the results ---------------------------------------------------------------------

# jq_is FILTER VALUE: the filter's compact result on the JSON in $out is VALUE.
jq_is() {
	local got

	got=$(jq -c "$1" "$out") || fail "no JSON in: $(head -c 1500 "$out")" || return
	[[ $got == "$2" ]] || fail "$1 is $got, not $2" "in: $(head -c 1500 "$out")"
}

# jq_true FILTER: it is true.
jq_true() {
	jq_is "$1" true
}

# region NAME [FIRST NR]: the range of a target's region, for --range.
region() {
	printf '0x%x+0x%x' $((ADDR[$1] + ${2:-0} * PAGE_SIZE)) $((${3:-${PAGES[$1]}} * PAGE_SIZE))
}

# page_addr NAME INDEX: the address of a page of a region, as pgscan prints it.
page_addr() {
	printf '0x%x' $((ADDR[$1] + $2 * PAGE_SIZE))
}
