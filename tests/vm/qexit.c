// SPDX-License-Identifier: GPL-2.0-only
/*
 * qexit VALUE: end QEMU with status VALUE * 2 + 1, through its isa-debug-exit device at port 0xf4.
 * qexit exec PROGRAM [ARG...]: become that program, which can end QEMU from then on.
 *
 * Debian's kernels have no /dev/port (CONFIG_DEVPORT is off), so it takes ioperm(), which lockdown
 * denies. Both fork() and execve() hand the permission on: whoever has it keeps it.
 *
 * As init of a guest without an argument it shows that the machine can boot at all.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <unistd.h>

#define DEBUG_EXIT_PORT 0xf4
#define BOOTED		16

int main(int argc, char **argv)
{
	/* Denied under lockdown. Without the permission from before, outl() is SIGSEGV then. */
	(void)ioperm(DEBUG_EXIT_PORT, 4, 1);
	if (argc > 2 && !strcmp(argv[1], "exec")) {
		execv(argv[2], argv + 2);
		return 1;
	}
	outl(argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 10) : BOOTED, DEBUG_EXIT_PORT);
	sleep(1);
	return 1;
}
