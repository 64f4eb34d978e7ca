// SPDX-License-Identifier: GPL-2.0-only
/* The options that commands share. argp ends the process on a usage error, so each parse runs in a
 * child; what it found comes back as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd.h"
#include "completion.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define ARGS_MAX      16

const char *argp_program_version = "pgscan test";

/* ---- A command with all of them -------------------------------------------------------------- */

struct test_opts {
	struct opt_target target;
	struct opt_output output;
};

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct test_opts *opts = state->input;

	(void)arg;
	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	state->child_inputs[0] = &opts->target;
	state->child_inputs[1] = &opts->output;
	state->child_inputs[2] = &opts->output;
	return 0;
}

static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "A heading:", 0},
	{"by", 0x100, "page|vma", 0, "A\tview", 0},
	{"view", 0, NULL, OPTION_ALIAS, NULL, 0},
	{"pfn", 0x101, "RANGE", OPTION_ARG_OPTIONAL, "Frames", 0},
	{"secret", 0x102, NULL, OPTION_HIDDEN, "Nobody's", 0},
	{0},
};

static const struct argp_child children[] = {
	{&opt_target_argp, 0, NULL, 0},
	{&opt_output_argp, 0, NULL, 0},
	{&opt_sort_argp, 0, NULL, 0},
	{0},
};

static const struct argp test_argp = {
	.options = options,
	.parser = parse_opt,
	.args_doc = "PID...",
	.children = children,
};

static const struct pgs_col run_cols[] = {
	{"pid", NULL, PGS_U64, 0, 0, "Process"},
	{"start", NULL, PGS_ADDR, 0, 0, "First address"},
	{0},
};
static const struct pgs_col vma_cols[] = {
	{"pid", NULL, PGS_U64, 0, 0, "Process"},
	{"vma", NULL, PGS_BLOB, 0, 0, "Name"},
	{0},
};
static const struct pgs_col *const tables[] = {run_cols, vma_cols, NULL};

static const struct pgs_cmd test_cmd = {
	.name = "test",
	.summary = "A test",
	.argp = &test_argp,
	.tables = tables,
	.formats = PGS_FMTS_ROWS | PGS_FMT_BIT(PGS_FMT_HEX),
};

/* ---- One parse ------------------------------------------------------------------------------- */

static void print_opts(const struct test_opts *opts)
{
	const struct opt_target *t = &opts->target;
	const struct opt_output *o = &opts->output;

	for (size_t i = 0; i < t->nr_pids; i++)
		printf("pid=%d ", t->pids[i]);
	for (size_t i = 0; i < t->nr_ranges; i++)
		printf("range=%#llx-%#llx ", (unsigned long long)t->ranges[i].start,
		       (unsigned long long)t->ranges[i].end);
	for (size_t i = 0; i < t->nr_vma_patterns; i++)
		printf("vma=%s ", t->vma_patterns[i]);
	if (t->cgroup)
		printf("cgroup=%s ", t->cgroup);
	if (t->root)
		printf("root=%s ", t->root);
	if (o->sort)
		printf("sort=%s ", o->sort);
	if (o->out.columns)
		printf("columns=%s ", o->out.columns);
	printf("given=%d system=%d kmod=%d kcore=%d fmt=%d bytes=%d no_header=%d color=%d top=%llu "
	       "verbosity=%d",
	       opt_target_is_given(t), t->system, t->kmod, t->kcore, o->out.fmt, o->out.bytes,
	       o->out.no_header, o->out.color, (unsigned long long)o->top, o->verbosity);
}

static void parse_and_exit(char *words)
{
	struct test_opts opts = {.output.cmd = &test_cmd};
	char *argv[ARGS_MAX] = {"pgscan test"};
	int argc = 1, status;

	for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	argp_err_exit_status = PGS_EXIT_USAGE;
	status = cmd_parse(&test_cmd, argc, argv, &opts);
	print_opts(&opts);
	opt_target_fini(&opts.target);
	exit(status);
}

/* Parse @words in a child; its status and what it printed on both outputs. */
static int parse(const char *words, char *text, size_t size)
{
	char copy[256];
	int fds[2], status;
	size_t len = 0;
	ssize_t n;
	pid_t pid;

	snprintf(copy, sizeof(copy), "%s", words);
	fflush(NULL);
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		dup2(fds[1], STDOUT_FILENO);
		dup2(fds[1], STDERR_FILENO);
		parse_and_exit(copy);
	}
	close(fds[1]);
	while (len < size - 1 && (n = read(fds[0], text + len, size - 1 - len)) > 0)
		len += (size_t)n;
	text[len] = '\0';
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

#define REST(given, rest) "given=" given " system=0 kmod=0 kcore=0 " rest
#define PLAIN		  "fmt=0 bytes=0 no_header=0 color=0 top=0 verbosity=0"

static void test_accepted(void **state)
{
	static const struct {
		const char *words, *want;
	} cases[] = {
		{"", REST("0", PLAIN)},
		{"7 1 7", "pid=7 pid=1 pid=7 " REST("1", PLAIN)},
		{"16", "pid=16 " REST("1", PLAIN)},
		{"-g a/b", "cgroup=a/b " REST("1", PLAIN)},
		{"-a", "given=1 system=1 kmod=0 kcore=0 " PLAIN},
		{"--root=/x --kmod=require --kcore=off",
		 "root=/x given=0 system=0 kmod=2 kcore=1 " PLAIN},
		{"-V [heap] --vma=/memfd:*", "vma=[heap] vma=/memfd:* " REST("0", PLAIN)},
		/* rounded out, in order, and none twice */
		{"-r 5M+1 -r 0x1fff-0x2001 -r 4096+1 -r 0x8000-0x9000",
		 "range=0x1000-0x3000 range=0x8000-0x9000 range=0x500000-0x501000 " REST("0",
											 PLAIN)},
		{"-r 0-8K -r 4K-20K -r 4K-8K -r 20K+1", "range=0-0x6000 " REST("0", PLAIN)},
		{"-fjson -fhex", REST("0", "fmt=4 bytes=0 no_header=0 color=0 top=0 verbosity=0")},
		{"-j -b --no-header --color=never -v",
		 REST("0", "fmt=1 bytes=1 no_header=1 color=2 top=0 verbosity=1")},
		{"-q -o +a,b -s pid -n 0x10",
		 "sort=pid columns=+a,b " REST(
			 "0", "fmt=0 bytes=0 no_header=0 color=0 top=16 verbosity=-1")},
	};
	char text[1024];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(parse(cases[i].words, text, sizeof(text)), PGS_EXIT_OK);
		assert_string_equal(text, cases[i].want);
	}
}

/* A usage error is status 2, one line that quotes the word, and where to look. */
static void test_refused(void **state)
{
	static const struct {
		const char *words, *message;
	} cases[] = {
		{"0", "'0' is not a process id"},
		{"-- -1", "'-1' is not a process id"},
		{"2147483648", "'2147483648' is not a process id"},
		{"1x", "'1x' is not a process id"},
		{"0x1", "'0x1' is not a process id"},
		{"+1", "'+1' is not a process id"},
		{"01", "'01' is not a process id"},
		{"-r 5", "'5' is not a range: START-END, END behind START, or START+LENGTH"},
		{"-r 5-5", "'5-5' is not a range: START-END, END behind START, or START+LENGTH"},
		{"--kmod=maybe", "'maybe' is not one of auto, off, require"},
		{"--color=red", "'red' is not one of auto, always, never"},
		{"-f raw", "'raw' is not a format of this command: table|json|jsonl|tsv|hex"},
		{"-f jso", "'jso' is not a format of this command: table|json|jsonl|tsv|hex"},
		{"-f hex -o pid", "--format=hex has no columns"},
		{"-n 0", "'0' is not a number of rows"},
		{"-n x", "'x' is not a number of rows"},
		{"--foo", "unrecognized option '--foo'"},
		{"--json=1", "option '--json' doesn't allow an argument"},
		{"-r", "option requires an argument -- 'r'"},
	};
	char text[1024], want[256];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(parse(cases[i].words, text, sizeof(text)), PGS_EXIT_USAGE);
		snprintf(want, sizeof(want), "pgscan test: %s\nTry ", cases[i].message);
		assert_memory_equal(text, want, strlen(want));
		assert_ptr_equal(strchr(strchr(text, '\n') + 1, '\n'), text + strlen(text) - 1);
	}
}

static void test_help(void **state)
{
	char text[8192];

	(void)state;
	assert_int_equal(parse("--version", text, sizeof(text)), PGS_EXIT_OK);
	assert_string_equal(text, "pgscan test\n");
	assert_int_equal(parse("-h", text, sizeof(text)), PGS_EXIT_OK);
	assert_non_null(strstr(text, "Usage: pgscan test [OPTION...] PID...\n"));
	assert_non_null(strstr(text, "  -V, --vma=PATTERN "));
	assert_null(strstr(text, "secret"));
	assert_int_equal(parse("-o help", text, sizeof(text)), PGS_EXIT_OK);
	assert_string_equal(text, "pid                  integer  Process\n"
				  "start                address  First address\n"
				  "vma                  string   Name\n");
}

/* ---- The data for the shells ----------------------------------------------------------------- */

static int completion(const char *what, char *text, size_t size)
{
	static const struct pgs_cmd *const commands[] = {&test_cmd, NULL};
	FILE *f = fmemopen(text, size, "w");
	int status = completion_print(f, &opt_common_argp, commands, what);

	fclose(f);
	return status;
}

static void test_completion(void **state)
{
	static const char *const lines[] = {
		"-\thelp\th\t-\tPrint this help and exit\n",
		"\ntest\t-\t-\tPID...\tA test\n",
		"\ntest\tby\t-\tpage|vma\tA view\n",
		"\ntest\tview\t-\tpage|vma\tA view\n",
		"\ntest\tpfn\t-\t[RANGE]\tFrames\n",
		"\ntest\tsystem\ta\t-\tEvery process\n",
		"\ntest\tformat\tf\ttable|json|jsonl|tsv|hex\t",
	};
	char text[8192];

	(void)state;
	assert_int_equal(completion("", text, sizeof(text)), PGS_EXIT_OK);
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		assert_non_null(strstr(text, lines[i]));
	assert_null(strstr(text, "secret"));
	assert_null(strstr(text, "A heading"));
	assert_int_equal(completion("columns:test", text, sizeof(text)), PGS_EXIT_OK);
	assert_string_equal(text, "pid\tinteger\tProcess\n"
				  "start\taddress\tFirst address\n"
				  "vma\tstring\tName\n");
	assert_int_equal(completion("columns:tes", text, sizeof(text)), PGS_EXIT_USAGE);
	assert_int_equal(completion("rows", text, sizeof(text)), PGS_EXIT_USAGE);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accepted),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_completion),
	};

	return cmocka_run_group_tests_name("opt", tests, NULL, NULL);
}
