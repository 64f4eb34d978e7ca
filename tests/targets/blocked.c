// SPDX-License-Identifier: GPL-2.0-only
/*
 * blocked - the first thread goes through system calls that sleep, and checks that each returns
 * what it must, at its time: a tracer that does not restart them right is found out.
 *   calls=nanosleep,poll,futex,read,pause,ppoll,epoll,sigtimedwait   in this order, again and again
 *   ms=N      for how long each sleeps (20)
 *   loops=N   rounds, then it obeys commands (0: for ever)
 *   signals=1 a second thread sends SIGUSR1 (a handler without SA_RESTART) and SIGUSR2 (with it) to
 *             the first in all calls whose result does not depend on them
 * Prints "bad …" for each wrong result, and "done calls=N bad=N late_us=N" at the end or when
 * SIGTERM comes.
 */
#include "target.h"

#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>

struct call {
	const char *name;
	long (*run)(void);
	long result;
	int err;
	bool sleeps; /* for all of ms; otherwise it is woken after ms */
};

static long ms = 20;
static int pipe_fds[2];
static pthread_t main_thread;
static pid_t main_tid;
static atomic_int request; /* to the helper: what to do in ms */
static atomic_int futex_word;
static volatile sig_atomic_t ended;
static atomic_bool quiet = true; /* no random signals now */

enum { WAKE_NONE, WAKE_WRITE, WAKE_SIGNAL };

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static struct timespec interval(void)
{
	return (struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
}

static long call_nanosleep(void)
{
	struct timespec ts = interval();

	return syscall(SYS_nanosleep, &ts, NULL);
}

static long call_poll(void)
{
	return poll(NULL, 0, (int)ms);
}

static long call_futex(void)
{
	struct timespec ts = interval();

	return syscall(SYS_futex, &futex_word, FUTEX_WAIT_PRIVATE, 0, &ts, NULL, 0);
}

static long call_read(void)
{
	char byte = 0;
	ssize_t n;

	request = WAKE_WRITE;
	n = read(pipe_fds[0], &byte, 1);
	return n == 1 && byte == 'x' ? 'x' : n;
}

static long call_pause(void)
{
	request = WAKE_SIGNAL;
	return pause();
}

static long call_ppoll(void)
{
	struct timespec ts = interval();
	sigset_t mask;

	sigemptyset(&mask);
	return ppoll(NULL, 0, &ts, &mask);
}

static long call_epoll(void)
{
	int fd = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event;
	long r = epoll_wait(fd, &event, 1, (int)ms);
	int err = errno;

	close(fd);
	errno = err;
	return r;
}

static long call_sigtimedwait(void)
{
	struct timespec ts = interval();
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGURG);
	return sigtimedwait(&mask, NULL, &ts);
}

static const struct call table[] = {
	{"nanosleep", call_nanosleep, 0, 0, true},
	{"poll", call_poll, 0, 0, true},
	{"futex", call_futex, -1, ETIMEDOUT, true},
	{"read", call_read, 'x', 0, false},
	{"pause", call_pause, -1, EINTR, false},
	{"ppoll", call_ppoll, 0, 0, true},
	{"epoll", call_epoll, 0, 0, true},
	{"sigtimedwait", call_sigtimedwait, -1, EAGAIN, true},
};

static void on_signal(int sig)
{
	(void)sig;
}

static void on_term(int sig)
{
	(void)sig;
	ended = 1;
}

/* Wakes the first thread where it waits for that, and bothers it with signals where it does not. */
static void *helper(void *arg)
{
	bool signals = *(bool *)arg;

	for (;;) {
		struct timespec ts = interval();
		struct timespec step = {.tv_nsec = 300000};
		int what;

		nanosleep(&step, NULL);
		if (signals && !quiet)
			syscall(SYS_tgkill, getpid(), main_tid, SIGUSR2);
		what = atomic_exchange(&request, WAKE_NONE);
		if (what == WAKE_NONE)
			continue;
		nanosleep(&ts, NULL);
		if (what == WAKE_WRITE && write(pipe_fds[1], "x", 1) != 1)
			abort();
		if (what == WAKE_SIGNAL)
			pthread_kill(main_thread, SIGUSR1);
	}
	return NULL;
}

static bool check(const struct call *call, double *late_ms)
{
	double before = now_ms(), took;
	long result;
	int err;

	/* A futex's timeout starts anew with each restart after a handler. */
	quiet = strcmp(call->name, "read");
	errno = 0;
	result = call->run();
	err = errno;
	quiet = true;
	took = now_ms() - before;
	if (took - (double)ms > *late_ms)
		*late_ms = took - (double)ms;
	if (result == call->result && (result >= 0 || err == call->err) &&
	    took >= (double)ms - 0.01)
		return true;
	if (ended)
		return true; /* SIGTERM came into it */
	printf("bad %s: %ld %s after %.3f ms\n", call->name, result, strerror(err), took);
	return false;
}

static bool is_chosen(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = list; (p = strstr(p, name)); p += len)
		if ((p == list || p[-1] == ',') && (!p[len] || p[len] == ','))
			return true;
	return false;
}

static void handle(int sig, void (*handler)(int), int flags)
{
	struct sigaction sa = {.sa_handler = handler, .sa_flags = flags};

	sigaction(sig, &sa, NULL);
}

int main(int argc, char **argv)
{
	static const char *const keys[] = {"calls", "ms", "loops", "signals", NULL};
	const char *list;
	struct target t;
	size_t loops, calls = 0, bad = 0;
	double late_ms = 0;
	static bool signals;
	pthread_t thread;

	(void)argc;
	target_init(&t, argv, keys);
	list = target_word(argv, "calls",
			   "nanosleep,poll,futex,read,pause,ppoll,epoll,sigtimedwait");
	ms = (long)target_number(target_word(argv, "ms", "20"));
	loops = target_number(target_word(argv, "loops", "0"));
	signals = target_number(target_word(argv, "signals", "0"));
	if (pipe2(pipe_fds, O_CLOEXEC))
		target_die("pipe");
	handle(SIGUSR1, on_signal, 0);
	handle(SIGUSR2, on_signal, SA_RESTART);
	handle(SIGTERM, on_term, 0);
	main_thread = pthread_self();
	main_tid = (pid_t)syscall(SYS_gettid);
	if (pthread_create(&thread, NULL, helper, &signals))
		target_die("pthread_create");
	puts("ready");
	fflush(stdout);
	for (size_t i = 0; (!loops || i < loops) && !ended; i++)
		for (size_t c = 0; c < sizeof(table) / sizeof(table[0]) && !ended; c++)
			if (is_chosen(list, table[c].name)) {
				bad += !check(&table[c], &late_ms);
				calls++;
			}
	printf("done calls=%zu bad=%zu late_us=%.0f\n", calls, bad, late_ms * 1e3);
	return bad ? 1 : 0;
}
