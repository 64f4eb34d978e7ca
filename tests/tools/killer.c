// SPDX-License-Identifier: GPL-2.0-only
/*
 * killer TIMES MAX_US PID PGSCAN ARGS...: start PGSCAN that often, and kill it (SIGKILL) after a
 * random time of up to MAX_US microseconds. After each: process PID must be untraced again, alive,
 * and have the descriptors and mappings it had in the beginning. Prints how often pgscan was killed
 * before it ended by itself, and how often while PID was traced.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TEXT_MAX (1 << 20)

static void die(const char *what)
{
	fprintf(stderr, "killer: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void read_proc(pid_t pid, const char *name, char *text)
{
	char path[64];
	size_t len = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die(path);
	while ((n = read(fd, text + len, TEXT_MAX - 1 - len)) > 0)
		len += (size_t)n;
	text[len] = '\0';
	close(fd);
}

/* "0:/dev/null 1:pipe:[7] …" */
static void read_fds(pid_t pid, char *text)
{
	char path[320], link[256];
	struct dirent *entry;
	size_t len = 0;
	ssize_t n;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	if (!dir)
		die(path);
	while ((entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%s", (int)pid, entry->d_name);
		n = readlink(path, link, sizeof(link) - 1);
		if (n <= 0)
			continue;
		link[n] = '\0';
		len += (size_t)snprintf(text + len, TEXT_MAX - len, "%s:%s ", entry->d_name, link);
	}
	closedir(dir);
}

static long tracer_of(pid_t pid, char *text)
{
	const char *field;

	read_proc(pid, "status", text);
	field = strstr(text, "\nTracerPid:");
	return field ? strtol(field + strlen("\nTracerPid:"), NULL, 10) : -1;
}

static void wait_us(unsigned int us)
{
	struct timespec ts = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};

	nanosleep(&ts, NULL);
}

/* Returns 1 when it had to be killed. */
static int run_and_kill(char **argv, unsigned int us)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		die("fork");
	if (!pid) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execv(argv[0], argv);
		_exit(127);
	}
	wait_us(us);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		die(argv[0]);
	return WIFSIGNALED(status);
}

/* What is under way when pgscan is killed is brought to its end, and the kernel puts the mappings
 * together again when the userfaultfd's last descriptor goes: give that a moment. */
static int is_as_before(pid_t pid, const char *what, void (*get)(pid_t, char *), const char *before,
			char *now)
{
	for (int i = 0; i < 1000; i++) {
		get(pid, now);
		if (!strcmp(before, now))
			return 1;
		wait_us(1000);
	}
	printf("%s differ\nbefore: %s\nnow: %s\n", what, before, now);
	return 0;
}

static void read_maps(pid_t pid, char *text)
{
	read_proc(pid, "maps", text);
}

int main(int argc, char **argv)
{
	char *fds = calloc(1, TEXT_MAX), *maps = calloc(1, TEXT_MAX), *now = calloc(1, TEXT_MAX);
	unsigned int times, max_us;
	int killed = 0, traced = 0;
	pid_t pid;

	if (argc < 5 || !fds || !maps || !now)
		return 2;
	times = (unsigned int)strtoul(argv[1], NULL, 10);
	max_us = (unsigned int)strtoul(argv[2], NULL, 10);
	pid = (pid_t)strtol(argv[3], NULL, 10);
	srand((unsigned int)time(NULL));
	read_fds(pid, fds);
	read_maps(pid, maps);
	for (unsigned int i = 0; i < times; i++) {
		killed += run_and_kill(argv + 4, (unsigned int)rand() % max_us);
		traced += tracer_of(pid, now) > 0;
		if (!is_as_before(pid, "descriptors", read_fds, fds, now) ||
		    !is_as_before(pid, "mappings", read_maps, maps, now))
			return 1;
	}
	for (int i = 0; i < 1000 && tracer_of(pid, now) > 0; i++)
		wait_us(1000);
	if (tracer_of(pid, now)) {
		printf("still traced\n");
		return 1;
	}
	printf("runs=%u killed=%d traced=%d\n", times, killed, traced);
	return 0;
}
