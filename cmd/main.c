// SPDX-License-Identifier: GPL-2.0-only
/* main: the global options and the command word; all the rest is the command's. */
#include "cmd.h"
#include "completion.h"
#include "signals.h"
#include "../src/caps.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROGRAM "pgscan"

const char *argp_program_version = PROGRAM " " PGSCAN_VERSION;

/* In alphabetical order: help and completion print them as they stand. */
static const struct pgs_cmd *const commands[] = {
	&cmd_check, &cmd_dump, &cmd_reclaim_report, &cmd_swapmap, &cmd_wp, NULL,
};

struct main_opts {
	const struct pgs_cmd *cmd;
	int cmd_index;		/* of the command word in argv */
	const char *completion; /* what --completion-data was asked for; "" for the options */
};

enum { OPT_COMPLETION = 0x100 };

static const struct argp_option options[] = {
	{"completion-data", OPT_COMPLETION, "columns:COMMAND", OPTION_ARG_OPTIONAL | OPTION_HIDDEN,
	 "Print the option tables for the shells", 0},
	{0},
};

static const struct pgs_cmd *find_command(const char *word)
{
	for (size_t i = 0; commands[i]; i++)
		if (!strcmp(commands[i]->name, word))
			return commands[i];
	return NULL;
}

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct main_opts *opts = state->input;

	switch (key) {
	case OPT_COMPLETION:
		opts->completion = arg ?: "";
		return 0;
	case ARGP_KEY_ARG:
		opts->cmd = find_command(arg);
		if (!opts->cmd)
			argp_error(state, "'%s' is not a command", arg);
		opts->cmd_index = state->next - 1;
		state->next = state->argc; /* what follows is the command's to parse */
		return 0;
	case ARGP_KEY_END:
		if (!opts->cmd && !opts->completion)
			argp_error(state, "no command given");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* The list of commands comes after the options; argp frees what is returned. */
static char *help_filter(int key, const char *text, void *input)
{
	char *list = NULL;
	size_t size;
	FILE *f;

	(void)input;
	if (key != ARGP_KEY_HELP_EXTRA)
		return (char *)text;
	f = open_memstream(&list, &size);
	if (!f)
		return NULL;
	fputs("Commands:\n", f);
	for (size_t i = 0; commands[i]; i++)
		fprintf(f, "  %-16s %s\n", commands[i]->name, commands[i]->summary);
	fputs("\nSee '" PROGRAM " COMMAND --help' for the options of a command.", f);
	return fclose(f) ? NULL : list;
}

static const struct argp_child children[] = {
	{&opt_common_argp, 0, NULL, 0},
	{0},
};

static const struct argp main_argp = {
	.options = options,
	.parser = parse_opt,
	.args_doc = "COMMAND [ARG...]",
	.doc = "The truth about the memory of a running Linux machine.",
	.children = children,
	.help_filter = help_filter,
};

/* A standard descriptor that the caller closed must not be given to a file that pgscan opens:
 * what is printed would go there. Opened the wrong way round, its use fails with EBADF. */
static void occupy_standard_fds(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* What went through stdio without out_close(), such as --help, must not be lost in silence. */
static void close_stdout(void)
{
	if ((ferror(stdout) | fflush(stdout)) && errno != EPIPE) {
		msg_error("cannot write the output: %s", strerror(errno));
		_exit(PGS_EXIT_FAILED);
	}
}

/* Output is UTF-8 in every locale, so that a script sees the same bytes everywhere; numbers and
 * messages stay those of the C locale. */
static void init_locale(void)
{
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		setlocale(LC_CTYPE, "");
}

static int run_command(const struct pgs_cmd *cmd, int argc, char **argv)
{
	char name[64];

	snprintf(name, sizeof(name), PROGRAM " %s", cmd->name);
	argv[0] = name; /* argp's messages name the command */
	msg_init(name, 0);
	return cmd->run(argc, argv);
}

int main(int argc, char **argv)
{
	struct main_opts opts = {0};
	int err;

	occupy_standard_fds();
	init_locale();
	msg_init(PROGRAM, 0);
	argp_err_exit_status = PGS_EXIT_USAGE;
	err = pgs_caps_init();
	if (err) {
		msg_error("cannot lower the capabilities: %s", strerror(-err));
		return PGS_EXIT_FAILED;
	}
	if (argc < 1)
		return msg_usage("no command given");
	argv[0] = PROGRAM;
	if (atexit(close_stdout))
		return PGS_EXIT_FAILED;
	if (argp_parse(&main_argp, argc, argv, ARGP_IN_ORDER | ARGP_NO_HELP, NULL, &opts))
		return PGS_EXIT_FAILED;
	if (opts.completion)
		return completion_print(stdout, &main_argp, commands, opts.completion);
	signals_init();
	return run_command(opts.cmd, argc - opts.cmd_index, argv + opts.cmd_index);
}
