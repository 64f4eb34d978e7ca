// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "completion.h"

enum { OPT_NO_HEADER = 0x3000, OPT_COLOR };

static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "Output:", OPT_GROUP_OUTPUT},
	{"format", 'f', "FORMAT", 0,
	 "How to print: table (the default), json, jsonl, tsv, or what else the command has",
	 OPT_GROUP_OUTPUT},
	{"json", 'j', NULL, 0, "Same as --format=json", OPT_GROUP_OUTPUT},
	{"columns", 'o', "COLUMNS", 0, "These columns; +COLUMNS adds; help lists them",
	 OPT_GROUP_OUTPUT},
	{"bytes", 'b', NULL, 0, "Sizes in bytes, not 1.5M", OPT_GROUP_OUTPUT},
	{"no-header", OPT_NO_HEADER, NULL, 0, "No heading and no summary in tables, no keys in TSV",
	 OPT_GROUP_OUTPUT},
	{"color", OPT_COLOR, "auto|always|never", 0, "Colour in tables", OPT_GROUP_OUTPUT},
	{"quiet", 'q', NULL, 0, "No warnings and no progress", OPT_GROUP_OUTPUT},
	{"verbose", 'v', NULL, 0, "Say more about what is done", OPT_GROUP_OUTPUT},
	{0},
};

static const char *const format_names[] = {
	[PGS_FMT_TABLE] = "table",
	[PGS_FMT_JSON] = "json",
	[PGS_FMT_JSONL] = "jsonl",
	[PGS_FMT_TSV] = "tsv",
	[PGS_FMT_HEX] = "hex",
	[PGS_FMT_RAW] = "raw",
	[PGS_FMT_OPENMETRICS] = "openmetrics",
};

const char *opt_format_names(unsigned int mask, char buf[OPT_FORMAT_NAMES])
{
	char *p = buf;

	*p = '\0';
	for (enum pgs_fmt fmt = PGS_FMT_TABLE; fmt <= PGS_FMT_OPENMETRICS; fmt++)
		if (mask & PGS_FMT_BIT(fmt))
			p += sprintf(p, "%s%s", p == buf ? "" : "|", format_names[fmt]);
	return buf;
}

static enum pgs_fmt parse_format(const struct pgs_cmd *cmd, const char *word,
				 struct argp_state *state)
{
	char names[OPT_FORMAT_NAMES];

	for (enum pgs_fmt fmt = PGS_FMT_TABLE; fmt <= PGS_FMT_OPENMETRICS; fmt++)
		if (cmd->formats & PGS_FMT_BIT(fmt) && !strcmp(word, format_names[fmt]))
			return fmt;
	argp_error(state, "'%s' is not a format of this command: %s", word,
		   opt_format_names(cmd->formats, names));
	return PGS_FMT_TABLE;
}

static enum pgs_color parse_color(const char *word, struct argp_state *state)
{
	static const char *const words[] = {[PGS_COLOR_AUTO] = "auto",
					    [PGS_COLOR_ALWAYS] = "always",
					    [PGS_COLOR_NEVER] = "never",
					    NULL};

	return opt_choice(word, words, state);
}

/* Before any target is opened: the list of columns needs none. */
static void print_columns_and_exit(const struct pgs_cmd *cmd)
{
	const struct pgs_col *col;
	struct column_pos pos = {0};

	while ((col = completion_next_column(cmd, &pos)))
		printf("%-20s %-8s %s\n", col->key, completion_type_name(col->type), col->help);
	exit(PGS_EXIT_OK);
}

static void check(const struct opt_output *o, struct argp_state *state)
{
	if (o->out.columns && PGS_FMT_BIT(o->out.fmt) & ~PGS_FMTS_ROWS)
		argp_error(state, "--format=%s has no columns", format_names[o->out.fmt]);
}

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct opt_output *o = state->input;

	switch (key) {
	case 'f':
		o->out.fmt = parse_format(o->cmd, arg, state);
		return 0;
	case 'j':
		o->out.fmt = parse_format(o->cmd, "json", state);
		return 0;
	case 'o':
		if (!strcmp(arg, "help"))
			print_columns_and_exit(o->cmd);
		o->out.columns = arg;
		return 0;
	case 'b':
		o->out.bytes = true;
		return 0;
	case OPT_NO_HEADER:
		o->out.no_header = true;
		return 0;
	case OPT_COLOR:
		o->out.color = parse_color(arg, state);
		return 0;
	case 'q':
	case 'v':
		o->verbosity = key == 'q' ? -1 : 1;
		msg_set_verbosity(o->verbosity);
		return 0;
	case ARGP_KEY_SUCCESS:
		check(o, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_child children[] = {
	{&opt_common_argp, 0, NULL, 0},
	{0},
};

const struct argp opt_output_argp = {
	.options = options,
	.parser = parse_opt,
	.children = children,
};

/* ---- --sort and --top ------------------------------------------------------------------------ */

static const struct argp_option sort_options[] = {
	{"sort", 's', "KEY", 0, "Order the rows by this column, numbers from the largest down",
	 OPT_GROUP_OUTPUT},
	{"top", 'n', "N", 0, "Only the first N rows", OPT_GROUP_OUTPUT},
	{0},
};

static error_t parse_sort_opt(int key, char *arg, struct argp_state *state)
{
	struct opt_output *o = state->input;

	switch (key) {
	case 's':
		o->sort = arg;
		return 0;
	case 'n':
		if (pgs_parse_u64(arg, &o->top) || !o->top)
			argp_error(state, "'%s' is not a number of rows", arg);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp opt_sort_argp = {.options = sort_options, .parser = parse_sort_opt};
