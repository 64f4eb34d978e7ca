#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# wp: which pages were written. What was written is told by targets that obey; a sample comes when a
# test interrupts pgscan, which takes a last one then.
# shellcheck disable=SC2030,SC2031,SC2153,SC2154 # tests are subshells; the libraries set variables

load lib/common
load lib/wp

teardown() {
	wp_teardown
	common_teardown
}

requires_wp() {
	local scope=0

	requires native kfeat:uffd_wp_async kfeat:pagemap_scan "$@"
	[[ ! -r /proc/sys/kernel/yama/ptrace_scope ]] || read -r scope </proc/sys/kernel/yama/ptrace_scope
	((EUID == 0 || scope == 0)) || skip "kernel.yama.ptrace_scope keeps a user from tracing"
}

# ---- the pages -------------------------------------------------------------------------------

@test "private memory: exactly the pages that were written, new and old" {
	requires_wp
	target_start anon pages=64 write=0-15
	wp_start --range="$(region anon)"
	target_cmd write anon 3,5-7
	target_cmd read anon 20-30
	target_cmd write anon 25,63
	wp_end
	wp_written anon 3,5,6,7,25,63
	[[ $(wp_last '[.summary.method, .summary.distinct_pages, .summary.untracked_bytes]') == '["uffd",6,0]' ]]
}

@test "what is for more than one process is neither taken nor in the help" {
	run_pgscan 0 wp --help
	[[ $output == *--range* && $output != *--cgroup* && $output != *--system* ]] || fail "$output"
	run_pgscan 2 wp --system
	run_pgscan 2 wp -g /
	run_pgscan 2 wp 1 2
	[[ $stderr == *"one process at a time"* ]] || fail "$stderr"
}

@test "where no method works, what each of them lacks is said to its end" {
	target_start anon pages=1
	PGSCAN_DISABLE=pagemap_scan,module run_pgscan 4 wp "$TARGET"
	[[ $stderr == *"uffd: "*"; module: "*"; soft-dirty: "*@("ask for it"|"sets no bit") ]]
}

@test "shared memory" {
	requires_wp
	target_start shm pages=64 write=0-15
	wp_start --range="$(region shm)"
	target_cmd write shm 2,14-17
	wp_end
	wp_written shm 2,14,15,16,17
	wp_last .summary.limits | grep -q 'by others are not seen'
}

@test "a private mapping of a file: what was only read is not written" {
	requires_wp
	target_start file path="$BATS_TEST_TMPDIR/file" pages=64 cached=0-63 private=1
	wp_start --range="$(region private)"
	target_cmd read private 0-9
	target_cmd write private 1,4,40
	wp_end
	wp_written private 1,4,40
}

@test "huge pages: the small page that was written, and all of one that was dropped" {
	requires_wp
	target_start anon pages=1 huge=2
	wp_start --range="$(region huge)"
	target_cmd write huge 700
	target_cmd dontneed huge 0-511
	wp_end
	wp_written huge "$(seq -s, 0 511),700"
}

@test "pages that were dropped count as written" {
	requires_wp
	target_start anon pages=16 write=0-15
	wp_start --range="$(region anon)"
	target_cmd dontneed anon 8-15
	target_cmd write anon 0
	wp_end
	wp_written anon 0,8,9,10,11,12,13,14,15
}

@test "each page once: the second sample knows nothing of the first" {
	requires_wp
	target_start anon pages=16 write=0-15
	run_pgscan wp --json -i 0.05 -c 3 --range="$(region anon)" "$TARGET"
	jq_is '[.rows[] | [.sample, .pages, .written, .untracked]]' '[[1,16,0,0],[2,16,0,0],[3,16,0,0]]'
	jq_true '(([.rows[].interval_s] | add) - .summary.elapsed_s) | fabs < 0.001'
	jq_true '.rows[0].interval_s > 0.05 and .summary.elapsed_s > 0.15'
	jq_is '.summary | [.samples, .distinct_pages, .tracked_bytes]' "[3,0,$((16 * PAGE_SIZE))]"
}

@test "ranges and patterns: nothing else is tracked" {
	requires_wp
	target_start anon pages=64 write=0-63
	wp_start --range="$(region anon 8 8)"
	target_cmd write anon all
	wp_end
	wp_written anon 8,9,10,11,12,13,14,15
	run_pgscan wp --json -i 0.01 -c 1 --vma='[heap]' "$TARGET"
	local start end
	IFS='- ' read -r start end _ < <(grep -F '[heap]' "/proc/$TARGET/maps")
	jq_is '.summary.tracked_bytes' $((0x$end - 0x$start))
}

@test "a sparse reservation costs the target no page tables, and pgscan no time" {
	requires_wp plain
	target_start sparse
	local before after
	before=$(awk '/VmPTE/ { print $2 }' "/proc/$TARGET/status")
	PGSCAN_TIMEOUT=10 run_pgscan wp --json -i 0.01 -c 3 "$TARGET"
	after=$(awk '/VmPTE/ { print $2 }' "/proc/$TARGET/status")
	((after <= before + 64))
	jq_true '.summary.tracked_bytes > 1e12'
}

# ---- what is not tracked ---------------------------------------------------------------------

@test "memory under another userfaultfd is not tracked, which is said; not 100 % written" {
	requires_wp
	target_start uffd pages=16
	run_pgscan wp --json -i 0.01 -c 1 --by=vma --range="$(region uffd)" "$TARGET"
	jq_is '.rows[] | [.pages, .written, .untracked, .why]' '[0,null,16,"another userfaultfd"]'
	jq_is '.summary | [.tracked_bytes, .untracked_bytes]' "[0,$((16 * PAGE_SIZE))]"
}

@test "huge pages of hugetlbfs are left alone, which is said" {
	requires_wp
	target_start anon hugetlb=2
	run_pgscan wp --json -i 0.01 -c 1 --by=vma --range="$(region hugetlb)" "$TARGET"
	jq_is '.rows[] | [.pages, .written, .untracked, .why]' '[0,null,1024,"hugetlb"]'
	jq_is '.summary.untracked_why' '"hugetlb 4194304"'
}

@test "read-only mappings are named, and do not count as untracked" {
	requires_wp
	target_start anon
	run_pgscan wp --json -i 0.01 -c 1 "$TARGET"
	jq_is '.summary.untracked_bytes' 0
	jq_true '.summary.untracked_why | startswith("read-only ")'
}

@test "every scan has a buffer: without one kernels before 6.18 oops" {
	requires_wp plain tool:gcc
	gcc -shared -fPIC -I"$TESTS/../src" -o "$BATS_TEST_TMPDIR/shim.so" -x c - <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <stdarg.h>
		#include <stdio.h>
		#include "uapi/pagemap_scan.h"
		int ioctl(int fd, unsigned long request, ...)
		{
			static int (*next)(int, unsigned long, void *);
			struct pm_scan_arg *scan;
			va_list ap;

			va_start(ap, request);
			scan = va_arg(ap, void *);
			va_end(ap);
			if (!next)
				next = dlsym(RTLD_NEXT, "ioctl");
			if (request == PAGEMAP_SCAN)
				fprintf(stderr, "scan %s\n", scan->vec && scan->vec_len ? "buffer" : "none");
			return next(fd, request, scan);
		}
	END
	target_start anon pages=64 write=0-15 huge=1
	LD_PRELOAD=$BATS_TEST_TMPDIR/shim.so run_pgscan wp -i 0.01 -c 2 "$TARGET"
	grep -q '^scan buffer' "$err"
	refute grep -q '^scan none' "$err"
}

@test "kernels that lose dirty bits while they protect are warned of, others are not" {
	requires_wp plain tool:gcc
	local release warned

	gcc -shared -fPIC -o "$BATS_TEST_TMPDIR/uname.so" -x c - <<-'END'
		#include <stdlib.h>
		#include <string.h>
		#include <sys/utsname.h>
		int uname(struct utsname *uts)
		{
			memset(uts, 0, sizeof(*uts));
			strcpy(uts->release, getenv("RELEASE"));
			return 0;
		}
	END
	target_start anon
	for release in 6.6.30-1-amd64:0 6.7.12-amd64:1 6.8:1 6.8.0-31-generic:1 6.8.9:1 6.8.10:0 6.9.0:0 \
		6.18.5:0 7.3.4:0; do
		RELEASE=${release%:*} LD_PRELOAD=$BATS_TEST_TMPDIR/uname.so \
			run_pgscan wp -i 0.01 -c 1 "$TARGET"
		warned=$(grep -c CVE-2024-36943 "$err" || true)
		((warned == ${release#*:})) || fail "with $release: $warned warnings"
	done
}

# ---- the target is left in peace ---------------------------------------------------------------

@test "descriptors, mappings and memory are as before" {
	requires_wp
	local fds maps

	target_start anon pages=64 write=0-15 huge=1
	fds=$(find "/proc/$TARGET/fd" -type l -printf '%f %l\n' | sort)
	maps=$(<"/proc/$TARGET/maps")
	run_pgscan wp -i 0.01 -c 3 "$TARGET"
	[[ $(find "/proc/$TARGET/fd" -type l -printf '%f %l\n' | sort) == "$fds" ]]
	[[ $(<"/proc/$TARGET/maps") == "$maps" ]]
	grep -q '^TracerPid:[[:space:]]*0$' "/proc/$TARGET/status"
	run_pgscan dump --json --by=vma "$TARGET"
	jq_is '[.rows[].uffd_wp] | add' 0
}

# blocked_start WORDS...: the target that goes through calls that sleep; its words go to a file.
blocked_start() {
	"$BUILD/targets/blocked" "$@" >"$BATS_TEST_TMPDIR/blocked" 3>&- &
	TARGET=$!
	TARGETS+=("$TARGET")
	until grep -q ready "$BATS_TEST_TMPDIR/blocked"; do
		sleep 0.01
	done
}

blocked_end() {
	kill "$TARGET"
	wait "$TARGET" || true
	cat "$BATS_TEST_TMPDIR/blocked" >&2
	grep -q '^done calls=[1-9][0-9]* bad=0 ' "$BATS_TEST_TMPDIR/blocked"
}

@test "calls that sleep return what they must: nanosleep, poll, futex, read, pause, ppoll, epoll, sigtimedwait" {
	requires_wp
	local i

	blocked_start ms=30
	for ((i = 0; i < 60; i++)); do
		run_pgscan wp -q -i 0.001 -c 1 "$TARGET"
	done
	blocked_end
}

@test "and under a rain of signals" {
	requires_wp
	local i

	blocked_start ms=30 signals=1
	for ((i = 0; i < 60; i++)); do
		run_pgscan wp -q -i 0.001 -c 1 "$TARGET"
	done
	blocked_end
}

@test "a thread inside a restartable sequence has it aborted, as the kernel would" {
	requires_wp
	local i

	"$BUILD/targets/rseq" >"$BATS_TEST_TMPDIR/rseq" 3>&- &
	TARGET=$!
	TARGETS+=("$TARGET")
	until [[ -s $BATS_TEST_TMPDIR/rseq ]]; do
		sleep 0.01
	done
	! grep -q none "$BATS_TEST_TMPDIR/rseq" || skip "no restartable sequences here"
	for ((i = 0; i < 30; i++)); do
		run_pgscan wp -q -i 0.001 -c 1 "$TARGET"
	done
	kill "$TARGET"
	wait "$TARGET" || true
	cat "$BATS_TEST_TMPDIR/rseq" >&2
	grep -q '^done ends=[1-9][0-9]* aborts=[0-9]* violations=0$' "$BATS_TEST_TMPDIR/rseq"
}

@test "pgscan is killed at random moments: the target runs on, as it was" {
	requires_wp plain
	local times=100

	[[ -z ${SLOW:-} ]] || times=1000
	blocked_start
	"$BUILD/tools/killer" "$times" 12000 "$TARGET" "$PGSCAN" wp -i 0.001 "$TARGET"
	blocked_end
}

@test "a stopped process stays stopped" {
	requires_wp
	target_start anon pages=4
	kill -STOP "$TARGET"
	until grep -q '^State:.*T (stopped)' "/proc/$TARGET/status"; do
		sleep 0.01
	done
	run_pgscan wp -i 0.01 -c 1 "$TARGET"
	grep -q '^State:.*T (stopped)' "/proc/$TARGET/status"
	kill -CONT "$TARGET"
	target_cmd write anon 1
}

# ---- refusals --------------------------------------------------------------------------------

@test "a process that is traced already is refused, its tracer named" {
	requires_wp tool:strace
	target_start anon
	strace -o /dev/null -p "$TARGET" 2>/dev/null 3>&- &
	TARGETS+=("$!")
	until grep -q '^TracerPid:[[:space:]]*[1-9]' "/proc/$TARGET/status"; do
		sleep 0.01
	done
	run_pgscan 1 wp --method=uffd -c 1 "$TARGET"
	[[ $stderr == *"already traced, by process "* && -z $output ]]
	has_kfeat soft_dirty || run_pgscan 1 wp -c 1 "$TARGET"
}

@test "a process in uninterruptible sleep is refused for now; one of its threads will do" {
	requires_wp tool:gcc
	gcc -pthread -o "$BATS_TEST_TMPDIR/asleep" -x c - <<-'END'
		#include <pthread.h>
		#include <unistd.h>
		static void *wait(void *arg)
		{
			for (;;)
				pause();
			return arg;
		}
		int main(int argc, char **argv)
		{
			pthread_t thread;
			if (argc > 1)
				pthread_create(&thread, NULL, wait, NULL);
			if (!vfork()) { /* the parent is in state D until its child ends */
				pause();
				_exit(0);
			}
			return argv == NULL;
		}
	END
	local more

	for more in '' more; do
		"$BATS_TEST_TMPDIR/asleep" ${more:+"$more"} 3>&- &
		TARGET=$!
		until grep -q '^State:.*D' "/proc/$TARGET/status"; do
			sleep 0.01
		done
		TARGETS+=("$(pgrep -P "$TARGET")" "$TARGET")
		if [[ -z $more ]]; then
			run_pgscan 1 wp --method=uffd -c 1 "$TARGET"
			[[ $stderr == *"is in uninterruptible sleep"* && -z $output ]]
		else
			run_pgscan wp --method=uffd -c 1 -i 0.01 "$TARGET"
		fi
	done
}

# filtered_start [AS...]: a process whose seccomp filter kills it for userfaultfd(2); its pid in TARGET.
filtered_start() {
	gcc -o "$BATS_TEST_TMPDIR/filtered" -x c - <<-'END'
		#include <linux/filter.h>
		#include <linux/seccomp.h>
		#include <stddef.h>
		#include <sys/prctl.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		int main(void)
		{
			struct sock_filter code[] = {
				BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
				BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_userfaultfd, 0, 1),
				BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
				BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
			};
			struct sock_fprog program = {4, code};
			prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
			if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
				return 1;
			for (;;)
				pause();
		}
	END
	chmod 755 "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/filtered"
	"$@" "$BATS_TEST_TMPDIR/filtered" 3>&- &
	TARGET=$!
	TARGETS+=("$TARGET")
	until grep -q '^Seccomp:[[:space:]]*2' "/proc/$TARGET/status"; do
		sleep 0.01
	done
}

@test "a process whose seccomp filter would kill it: tracked by root, refused to others, alive" {
	requires_wp root tool:gcc
	filtered_start
	run_pgscan wp --json --method=uffd -i 0.01 -c 1 "$TARGET"
	jq_is .summary.method '"uffd"'
	grep -q '^State:.*S' "/proc/$TARGET/status"
	filtered_start "${NOBODY[@]}"
	run_as_nobody 4 wp --method=uffd -c 1 "$TARGET"
	[[ $stderr == *"is under seccomp"* ]]
	grep -q '^State:.*S' "/proc/$TARGET/status"
}

@test "32-bit code is refused" {
	requires_wp tool:gcc
	gcc -m32 -nostdlib -static -o "$BATS_TEST_TMPDIR/compat" -x c - 2>/dev/null <<-'END' ||
		void _start(void)
		{
			for (;;)
				__asm__ volatile("int $0x80" : : "a"(29 /* pause */) : "memory");
		}
	END
		skip "no 32-bit code from this compiler"
	"$BATS_TEST_TMPDIR/compat" 3>&- &
	TARGETS+=("$!")
	until [[ $(readlink "/proc/$!/exe") == */compat ]]; do
		sleep 0.01
	done
	run_pgscan 4 wp --method=uffd -c 1 "$!"
	[[ $stderr == *"runs 32-bit code"* ]]
	grep -q '^State:.*S' "/proc/$!/status"
}

@test "no such process, a kernel thread, a zombie" {
	run_pgscan 1 wp -c 1 4194303
	[[ $stderr == *"no process 4194303"* && -z $output ]]
	if [[ -d /proc/2 ]] && ! readlink /proc/2/exe >/dev/null; then
		run_pgscan 1 wp -c 1 2
		[[ $stderr == *"process 2 is a kernel thread"* && -z $output ]]
	fi
	zombie_start
	run_pgscan 1 wp -c 1 "$ZOMBIE"
	[[ $stderr == *"is a zombie"* && -z $output ]]
}

@test "soft-dirty where the kernel has none is refused, not 0 pages written" {
	has_kfeat soft_dirty && skip "this kernel has it"
	target_start anon
	run_pgscan 4 wp --method=soft-dirty -c 1 "$TARGET"
	[[ $stderr == *"sets no bit"* && -z $output ]]
	PGSCAN_DISABLE=uffd,pagemap_scan run_pgscan 4 wp -c 1 "$TARGET"
	[[ $stderr == *"uffd: "*"module: "*"soft-dirty: "* ]]
}

# Each number of descriptors fails at another place, from the first file to the last.
@test "descriptors that run short are no lack of the kernel's" {
	local nr

	requires plain
	requires_wp
	target_start anon
	for nr in {4..16}; do
		with_descriptors "$nr" wp -i 0.1 -c 1 "$TARGET"
		((status == 0)) || [[ $status:$stderr == 1:*"Too many open files"* ]] ||
			fail "$nr descriptors: status $status, $stderr"
		with_descriptors "$nr" wp -- true
		((status == 0)) || [[ $stderr == *"Too many open files"* ]] ||
			fail "$nr descriptors, a command: status $status, $stderr"
		[[ $stderr != *"no pagemap_scan"* && $stderr != *"No such file"* ]] || fail "$stderr"
	done
	((status == 0)) || fail "16 are too few: $stderr"
}

@test "an ordinary user: one's own process, and nobody else's" {
	requires_wp root
	target_start --nobody anon pages=16 write=0-15
	run_as_nobody wp --json -i 0.01 -c 1 --range="$(region anon)" "$TARGET"
	jq_is '.rows[] | [.pages, .written]' '[16,0]'
	target_start anon
	run_as_nobody 5 wp -c 1 "$TARGET"
	[[ -z $output ]]
}

@test "another user's process is tracked by root, by its files alone" {
	requires_wp root
	target_start --nobody anon pages=16 write=0-15
	run_pgscan wp --json -i 0.01 -c 1 --range="$(region anon)" "$TARGET"
	jq_is '.rows[] | [.pages, .written]' '[16,0]'
}

@test "usage: what makes no sense is status 2" {
	local args

	for args in "" "1 2" "-a" "-i 0 1" "-i x 1" "-c 0 1" "--by=x 1" "--method=x 1" "1 -- true" \
		"--compare=0" "--compare=x" "--compare=1," "--compare=,1" "--compare=1,,2" "--compare 1" "--heat --by=run 1" "-f hex 1"; do
		# shellcheck disable=SC2086 # words
		run_pgscan 2 wp $args
		[[ -z $output ]]
	done
}

@test "kmod and kcore: require what is not there is status 4, though this command can do without" {
	local args

	target_start anon
	for args in "-c 1 $TARGET" --compare=64 "-- true"; do
		# shellcheck disable=SC2086 # words
		PGSCAN_DISABLE=kcore run_pgscan 4 wp --kcore=require $args
		[[ -z $output && $stderr == *"--kcore=require: "* ]]
		# shellcheck disable=SC2086
		PGSCAN_DISABLE=module run_pgscan 4 wp --kmod=require $args
		[[ -z $output && $stderr == *"--kmod=require: "* ]]
	done
}

# ---- the end ---------------------------------------------------------------------------------

@test "a signal right before the wait ends the interval, as any other" {
	requires_wp plain tool:gcc
	gcc -shared -fPIC -o "$BATS_TEST_TMPDIR/late.so" -x c - <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <poll.h>
		#include <signal.h>
		#include <time.h>
		#define WAIT(name, params, args)                                   \
			int name params                                            \
			{                                                          \
				int (*next) params = dlsym(RTLD_NEXT, #name);      \
				raise(SIGTERM);                                    \
				return next args;                                  \
			}
		WAIT(poll, (struct pollfd *p, nfds_t n, int ms), (p, n, ms))
		WAIT(ppoll, (struct pollfd *p, nfds_t n, const struct timespec *t, const sigset_t *s), (p, n, t, s))
		WAIT(clock_nanosleep, (clockid_t c, int f, const struct timespec *t, struct timespec *r), (c, f, t, r))
	END
	target_start anon
	LD_PRELOAD=$BATS_TEST_TMPDIR/late.so run_pgscan 3 wp --json -i 1000 "$TARGET"
	jq_is '[.complete, .summary.samples]' '[false,1]'
}

@test "the process ends: what was found is printed, status 3" {
	requires_wp
	local rc=0

	target_start anon pages=16 write=0-15
	wp_start --by=total -i 0.05
	until (($(grep -c '"sample":' "$out") >= 2)); do
		sleep 0.01
	done
	kill -KILL "$TARGET"
	wait "$WP" || rc=$?
	WP=
	((rc == 3)) || fail "status $rc"
	[[ $(wp_last '[.complete, .errors[0].pid, .errors[0].error]') == "[false,$TARGET,\"ESRCH\"]" ]]
}

# ---- a command -------------------------------------------------------------------------------

@test "a command: a signal to pgscan alone is passed on to it" {
	local signal rc

	requires_wp
	for signal in INT TERM HUP; do
		env --default-signal="$signal" "$PGSCAN" wp --json -i 0.05 -- sleep 30 >"$out" 2>"$err" 3>&- &
		WP=$!
		for ((i = 0; i < 200; i++)); do
			grep -qsx sleep "/proc/$(tr -d " " <"/proc/$WP/task/$WP/children")/comm" && break
			sleep 0.05
		done
		kill -"$signal" "$WP"
		timeout 10 tail --pid="$WP" -f /dev/null || fail "SIG$signal: goes on"
		rc=0
		wait "$WP" || rc=$?
		WP=
		((rc == 128 + $(kill -l "$signal"))) || fail "SIG$signal: status $rc"
	done
}

@test "a command: from its first instruction to its exit, its status is ours" {
	requires_wp
	run_pgscan 7 wp --json -i 10 -- sh -c 'exit 7'
	jq_is '.complete' true
	jq_is '.summary | [.method, .samples, .execs, .forks_not_followed]' '["uffd",1,1,0]'
	jq_true '.rows[0].written > 0'
	run_pgscan 143 wp -i 10 -- sh -c 'kill $$'
	run_pgscan 127 wp -- /nonexistent/command
	[[ $stderr == *"cannot execute '/nonexistent/command'"* ]]
	run_pgscan 126 wp -- /
}

@test "a command that executes another is followed; one that it forks is not, which is said" {
	requires_wp
	run_pgscan wp --json -i 10 -- sh -c 'exec sh -c "exec true"'
	jq_is '.summary | [.execs, .forks_not_followed]' '[3,0]'
	run_pgscan wp --json -i 10 -- sh -c 'true & sh -c true; wait'
	jq_is '.summary | [.execs, .forks_not_followed]' '[1,2]'
	[[ $stderr == *"were not followed"* ]]
}

@test "a command keeps its capabilities, its signals, and its input" {
	requires_wp root
	[[ $(echo word | "$PGSCAN" wp -q -i 10 -f tsv --no-header -- sh -c 'cat; grep CapEff /proc/self/status') == \
		"word"$'\n'"$(grep CapEff /proc/self/status)"* ]]
	run_pgscan wp -i 10 -- sh -c 'grep -q "^SigIgn:.*0000$" /proc/self/status'
}

@test "pgscan is killed: its command runs on, untraced" {
	requires_wp
	local line

	"$PGSCAN" wp -q -i 10 -- sh -c 'echo $$; sleep 60 & wait; exit 0' >"$out" 3>&- &
	WP=$!
	until [[ -s $out ]]; do
		sleep 0.01
	done
	line=$(<"$out")
	kill -KILL "$WP"
	wait "$WP" || true
	WP=
	TARGETS+=("$line")
	until grep -q '^TracerPid:[[:space:]]*0$' "/proc/$line/status"; do
		sleep 0.01
	done
	grep -q '^State:.*S' "/proc/$line/status"
	kill $(pgrep -P "$line") # the sleep
}

# ---- views -----------------------------------------------------------------------------------

@test "every view in every format" {
	requires_wp
	local by

	target_start anon pages=64 write=0-15 huge=1
	for by in total vma run page; do
		run_pgscan wp --by=$by -i 0.01 -c 2 "$TARGET"
		run_pgscan wp --by=$by -i 0.01 -c 2 -j "$TARGET"
		jq_is '.summary.samples' 2
		run_pgscan wp --by=$by -i 0.01 -c 2 -f jsonl "$TARGET"
		run_pgscan wp --by=$by -i 0.01 -c 2 -f tsv "$TARGET"
	done
}

@test "the map: a row a sample in a table, a row a cell elsewhere; the cells are all that is tracked" {
	requires_wp
	target_start anon pages=1000 write=all
	run_pgscan wp --heat -i 0.01 -c 3 --range="$(region anon)" "$TARGET"
	(($(grep -c '^ *[0-9]' "$out") == 3))
	grep -q -- '-- 1000 pages in 1 ranges, 20 a cell --' "$out"
	run_pgscan wp --heat --json -i 0.01 -c 1 --range="$(region anon)" "$TARGET"
	jq_is '[.rows | length, (map(.pages) | add), .[0].start, .[49].end]' \
		"[50,1000,\"${ADDR[anon]}\",\"$(page_addr anon 1000)\"]"
	jq_is '[.rows[] | select(.written > 0)]' '[]'
}

# ---- comparison ------------------------------------------------------------------------------

@test "the comparison: both requests, each size, with ratios that are those of the figures" {
	requires_wp
	run_pgscan wp --compare=64,512 --json
	jq_is '[.rows[] | [.pages, .method]]' \
		'[[64,"UFFDIO_WRITEPROTECT"],[64,"PAGEMAP_SCAN"],[512,"UFFDIO_WRITEPROTECT"],[512,"PAGEMAP_SCAN"]]'
	jq_true '[.rows[] | .rounds > 8 and .protect_cycles > 0 and .write_ns > 0] | all'
	jq_true '(.rows[0].protect_cycles / .rows[1].protect_cycles - .rows[1].protect_ratio) | fabs < 0.001'
	run_pgscan 3 wp --compare=9000000000 --json
	jq_is '.rows' '[]'
}

@test "the comparison: a signal ends it within a round" {
	local pid

	requires_wp plain
	"$PGSCAN" wp --compare=64,200000 -f jsonl >"$out" 2>"$err" 3>&- &
	pid=$!
	for ((i = 0; i < 600 && $(wc -l <"$out") < 2; i++)); do
		sleep 0.05
	done
	kill -TERM "$pid"
	timeout 20 tail --pid="$pid" -f /dev/null || fail "goes on"
	status=0
	# Not a row more than the two of the first size: it did not go on to the end of the second
	wait "$pid" || status=$?
	[[ $status == 3 && $(wc -l <"$out") == 3 ]]
}

@test "a full disk: one failure, one message, in each view" {
	local args

	requires_wp
	target_start anon
	for args in "-c 1 -i 0.01 $TARGET" "--heat -c 1 -i 0.01 $TARGET" --compare=64; do
		status=0
		# shellcheck disable=SC2086
		"$PGSCAN" wp $args >/dev/full 2>"$err" || status=$?
		[[ $status == 1 && $(<"$err") == *"the output: No space left"* && $(wc -l <"$err") == 1 ]] ||
			fail "$args: status $status, $(<"$err")"
	done
}
