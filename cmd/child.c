// SPDX-License-Identifier: GPL-2.0-only
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../src/caps.h"
#include "../src/cleanup.h"

/* As of a shell. */
#define STATUS_NOT_FOUND  127
#define STATUS_CANNOT_RUN 126
#define STATUS_SIGNAL	  128

/* pgscan's own handlers: a signal that comes before the exec must do what it would do after it. */
static void reset_handlers(void)
{
	static const int handled[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ};

	for (size_t i = 0; i < sizeof(handled) / sizeof(handled[0]); i++) {
		struct sigaction sa;

		if (!sigaction(handled[i], NULL, &sa) && sa.sa_handler != SIG_IGN)
			signal(handled[i], SIG_DFL);
	}
}

static void __attribute__((noreturn))
child_main(char **argv, const sigset_t *mask, int gate, int trouble)
{
	char go;
	int err;

	reset_handlers();
	/* Yama (kernel.yama.ptrace_scope 1) lets ancestors trace: this adds pgscan's children. */
	(void)prctl(PR_SET_PTRACER, getppid());
	if (read(gate, &go, 1) != 1 || pgs_caps_restore() || sigprocmask(SIG_SETMASK, mask, NULL))
		_exit(STATUS_CANNOT_RUN);
	execvp(argv[0], argv);
	err = errno;
	(void)!write(trouble, &err, sizeof(err));
	_exit(err == ENOENT ? STATUS_NOT_FOUND : STATUS_CANNOT_RUN);
}

static int open_pipes(int gate[2], int trouble[2])
{
	int err;

	if (pipe2(gate, O_CLOEXEC) < 0)
		return -errno;
	if (!pipe2(trouble, O_CLOEXEC))
		return 0;
	err = -errno;
	close(gate[0]);
	close(gate[1]);
	return err;
}

int child_start(struct pgs_ctx *ctx, char **argv, const sigset_t *mask, struct child *ret)
{
	int gate[2], trouble[2];
	int err = open_pipes(gate, trouble);
	pid_t pid;

	if (err)
		return pgs_ctx_fail(ctx, err, "cannot make a pipe: %s", strerror(-err));
	pid = fork();
	err = pid < 0 ? -errno : 0;
	if (!pid) {
		close(gate[1]);
		child_main(argv, mask, gate[0], trouble[1]);
	}
	close(gate[0]);
	close(trouble[1]);
	*ret = (struct child){.pid = pid, .gate = gate[1], .trouble = trouble[0]};
	if (!err)
		return 0;
	child_fini(ret);
	return pgs_ctx_fail(ctx, err, "cannot fork: %s", strerror(-err));
}

void child_go(struct child *c)
{
	(void)!write(c->gate, "g", 1);
}

int child_exec_error(struct child *c)
{
	int err;

	return read(c->trouble, &err, sizeof(err)) == sizeof(err) ? err : 0;
}

void child_fini(struct child *c)
{
	pgs_closep(&c->gate);
	pgs_closep(&c->trouble);
	c->gate = c->trouble = -1;
}

int child_status(int wait_status)
{
	return WIFSIGNALED(wait_status) ? STATUS_SIGNAL + WTERMSIG(wait_status)
					: WEXITSTATUS(wait_status);
}
