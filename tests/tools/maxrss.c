// SPDX-License-Identifier: GPL-2.0-only
/*
 * maxrss FILE COMMAND [ARG...] - run it, write the most memory that it ever had resident, in KiB,
 * to FILE, and end with its status (128 and the number for a signal).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct rusage usage;
	int status;
	pid_t pid;
	FILE *f;

	if (argc < 3) {
		fputs("usage: maxrss FILE COMMAND [ARG...]\n", stderr);
		return 2;
	}
	/* vfork: a fork's copied memory would count as the command's own. */
	pid = vfork();
	if (pid < 0)
		return 1;
	if (!pid) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	while (wait4(pid, &status, 0, &usage) < 0)
		if (errno != EINTR)
			return 1;
	f = fopen(argv[1], "w");
	if (!f || fprintf(f, "%ld\n", usage.ru_maxrss) < 0 || fclose(f))
		return 1;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
