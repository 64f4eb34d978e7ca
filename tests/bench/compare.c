// SPDX-License-Identifier: GPL-2.0-only
/*
 * compare ROUNDS COMMAND... - run the shell commands in turn, ROUNDS times, output discarded; print
 * for each a line of: median of the wall time and of the processor's, in microseconds, largest
 * resident set in KiB, and the last exit status. In turn, so that what else the machine does in the
 * meantime falls on all alike.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct result {
	uint64_t *us, *cpu_us;
	long max_rss_kib;
	int status;
};

static uint64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

static uint64_t timeval_us(struct timeval tv)
{
	return (uint64_t)tv.tv_sec * 1000000 + (uint64_t)tv.tv_usec;
}

static void exec_quietly(const char *command)
{
	int fd = open("/dev/null", O_WRONLY);

	if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0)
		_exit(127);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

static void run(const char *command, struct result *result, size_t round)
{
	uint64_t start = now_us();
	struct rusage usage;
	pid_t pid = vfork();
	int status;

	if (!pid)
		exec_quietly(command);
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid) {
		perror("compare");
		exit(1);
	}
	result->us[round] = now_us() - start;
	result->cpu_us[round] = timeval_us(usage.ru_utime) + timeval_us(usage.ru_stime);
	result->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	if (usage.ru_maxrss > result->max_rss_kib)
		result->max_rss_kib = usage.ru_maxrss;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static uint64_t median(uint64_t *us, size_t rounds)
{
	qsort(us, rounds, sizeof(*us), by_value);
	return us[rounds / 2];
}

int main(int argc, char **argv)
{
	size_t rounds = argc > 2 ? strtoul(argv[1], NULL, 10) : 0;
	struct result *results;

	if (!rounds) {
		fprintf(stderr, "usage: compare ROUNDS COMMAND...\n");
		return 2;
	}
	results = calloc((size_t)argc - 2, sizeof(*results));
	for (int c = 2; results && c < argc; c++) {
		results[c - 2].us = calloc(rounds, sizeof(uint64_t));
		results[c - 2].cpu_us = calloc(rounds, sizeof(uint64_t));
	}
	for (size_t round = 0; results && round < rounds; round++)
		for (int c = 2; c < argc; c++)
			run(argv[c], &results[c - 2], round);
	for (int c = 2; results && c < argc; c++) {
		struct result *r = &results[c - 2];

		printf("%lu %lu %ld %d\n", (unsigned long)median(r->us, rounds),
		       (unsigned long)median(r->cpu_us, rounds), r->max_rss_kib, r->status);
		free(r->us);
		free(r->cpu_us);
	}
	free(results);
	return 0;
}
