// SPDX-License-Identifier: GPL-2.0-only
/* The options that stand before the command word and after it: --help, --usage, --version. Ours
 * and not argp's, because argp's --version would take -V and its --help has no -h. */
#include "cmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_USAGE = 0x1000, OPT_VERSION };

static const struct argp_option options[] = {
	{"help", 'h', NULL, 0, "Print this help and exit", -1},
	{"usage", OPT_USAGE, NULL, 0, "Print a short usage message and exit", 0},
	{"version", OPT_VERSION, NULL, 0, "Print the version and exit", 0},
	{0},
};

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	switch (key) {
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return 0;
	case OPT_USAGE:
		argp_state_help(state, stdout, ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK);
		return 0;
	case OPT_VERSION:
		puts(argp_program_version);
		exit(PGS_EXIT_OK);
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp opt_common_argp = {.options = options, .parser = parse_opt};

int cmd_parse(const struct pgs_cmd *cmd, int argc, char **argv, void *opts)
{
	error_t err = argp_parse(cmd->argp, argc, argv, ARGP_NO_HELP, NULL, opts);

	if (!err)
		return PGS_EXIT_OK;
	msg_error("%s", strerror(err));
	return PGS_EXIT_FAILED;
}

char **cmd_split_command(int *argc, char **argv)
{
	for (int i = 1; i < *argc; i++)
		if (!strcmp(argv[i], "--")) {
			*argc = i;
			argv[i] = NULL;
			return argv + i + 1;
		}
	return NULL;
}

int opt_choice(const char *word, const char *const *words, const struct argp_state *state)
{
	char list[256] = "";
	size_t len = 0;

	for (int i = 0; words[i]; i++) {
		if (!strcmp(word, words[i]))
			return i;
		len += snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "", words[i]);
	}
	argp_error(state, "'%s' is not one of %s", word, list);
	return 0;
}

const char *opt_cgroup(const char *word, const struct argp_state *state)
{
	if (!*word)
		argp_error(state, "'' is not a cgroup: the root is '/'");
	return word;
}
