// SPDX-License-Identifier: GPL-2.0-only
#include "completion.h"

#include <ctype.h>
#include <string.h>

static const char *const type_names[] = {
	[PGS_STR] = "string",	[PGS_BLOB] = "string", [PGS_U64] = "integer",
	[PGS_BYTES] = "bytes",	[PGS_S64] = "signed",  [PGS_F64] = "float",
	[PGS_ADDR] = "address", [PGS_RAW64] = "raw64", [PGS_BOOL] = "boolean",
};

const char *completion_type_name(enum pgs_type type)
{
	return type_names[type];
}

/* A field never holds the separators and is never empty. */
static void print_field(FILE *f, const char *s, char end)
{
	if (!s || !*s)
		s = "-";
	for (; *s; s++)
		putc(*s == '\t' || *s == '\n' || *s == '\v' ? ' ' : *s, f);
	putc(end, f);
}

static bool option_is_end(const struct argp_option *opt)
{
	return !opt->name && !opt->key && !opt->doc && !opt->group;
}

static bool option_is_listed(const struct argp_option *opt, const struct argp_option *real)
{
	bool header = !opt->name && !opt->key;

	return !header && !((opt->flags | real->flags) & (OPTION_HIDDEN | OPTION_DOC));
}

/* FORMAT is one word for all commands in the help, and here what the command has. */
static void format_metavar(char *buf, size_t size, const struct pgs_cmd *cmd,
			   const struct argp_option *real)
{
	char formats[OPT_FORMAT_NAMES];
	const char *arg = real->arg ?: "";

	if (cmd && !strcmp(arg, "FORMAT"))
		arg = opt_format_names(cmd->formats, formats);
	snprintf(buf, size, real->flags & OPTION_ARG_OPTIONAL ? "[%s]" : "%s", arg);
}

static void print_option(FILE *f, const struct pgs_cmd *cmd, const struct argp_option *opt,
			 const struct argp_option *real)
{
	char key[2] = {0};
	char metavar[OPT_FORMAT_NAMES + 2];

	if (opt->key > 0 && opt->key < 0x80 && isprint(opt->key))
		key[0] = (char)opt->key;
	format_metavar(metavar, sizeof(metavar), cmd, real);
	print_field(f, cmd ? cmd->name : "-", '\t');
	print_field(f, opt->name, '\t');
	print_field(f, key, '\t');
	print_field(f, metavar, '\t');
	print_field(f, real->doc, '\n');
}

/* @cmd is NULL for the options before the command word. */
static void print_options(FILE *f, const struct pgs_cmd *cmd, const struct argp *argp)
{
	const struct argp_option *real = argp->options;
	const struct argp_child *child;

	for (const struct argp_option *opt = argp->options; opt && !option_is_end(opt); opt++) {
		if (!(opt->flags & OPTION_ALIAS))
			real = opt;
		if (option_is_listed(opt, real))
			print_option(f, cmd, opt, real);
	}
	for (child = argp->children; child && child->argp; child++)
		print_options(f, cmd, child->argp);
}

static void print_command(FILE *f, const struct pgs_cmd *cmd)
{
	print_field(f, cmd->name, '\t');
	fputs("-\t-\t", f);
	print_field(f, cmd->argp->args_doc, '\t');
	print_field(f, cmd->summary, '\n');
	print_options(f, cmd, cmd->argp);
}

static bool key_is_in_earlier_table(const struct pgs_cmd *cmd, size_t table, const char *key)
{
	for (size_t i = 0; i < table; i++)
		for (const struct pgs_col *col = cmd->tables[i]; col->key; col++)
			if (!strcmp(col->key, key))
				return true;
	return false;
}

const struct pgs_col *completion_next_column(const struct pgs_cmd *cmd, struct column_pos *pos)
{
	while (cmd->tables && cmd->tables[pos->table]) {
		const struct pgs_col *col = &cmd->tables[pos->table][pos->col++];

		if (!col->key)
			*pos = (struct column_pos){.table = pos->table + 1};
		else if (!key_is_in_earlier_table(cmd, pos->table, col->key))
			return col;
	}
	return NULL;
}

static int print_columns(FILE *f, const struct pgs_cmd *const *commands, const char *name)
{
	const struct pgs_col *col;
	struct column_pos pos = {0};

	while (*commands && strcmp((*commands)->name, name))
		commands++;
	if (!*commands)
		return msg_usage("'%s' is not a command", name);
	while ((col = completion_next_column(*commands, &pos))) {
		print_field(f, col->key, '\t');
		print_field(f, completion_type_name(col->type), '\t');
		print_field(f, col->help, '\n');
	}
	return PGS_EXIT_OK;
}

int completion_print(FILE *f, const struct argp *global, const struct pgs_cmd *const *commands,
		     const char *what)
{
	static const char columns[] = "columns:";

	if (!strncmp(what, columns, strlen(columns)))
		return print_columns(f, commands, what + strlen(columns));
	if (*what)
		return msg_usage("'%s' is not completion data", what);
	print_options(f, NULL, global);
	for (; *commands; commands++)
		print_command(f, *commands);
	return PGS_EXIT_OK;
}
