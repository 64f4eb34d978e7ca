// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"

enum { OPT_KMOD = 0x2000, OPT_KCORE, OPT_ROOT };

static const struct argp_option options[] = {
	{"cgroup", 'g', "CGROUP", 0, "Every process of the cgroup and its children",
	 OPT_GROUP_TARGETS},
	{"system", 'a', NULL, 0, "Every process", OPT_GROUP_TARGETS},
	{0},
};

static const struct argp_option process_options[] = {
	{NULL, 0, NULL, 0, "Targets:", OPT_GROUP_TARGETS},
	{"range", 'r', "START-END", 0,
	 "Only these addresses, also as START+LENGTH; repeatable; 0x for hex, sizes with K M G T",
	 OPT_GROUP_TARGETS},
	{"vma", 'V', "PATTERN", 0, "Only mappings whose name matches, such as '[heap]'; repeatable",
	 OPT_GROUP_TARGETS},
	{0},
};

static const struct argp_option source_options[] = {
	{NULL, 0, NULL, 0, "Sources:", OPT_GROUP_SOURCES},
	{"kmod", OPT_KMOD, "auto|off|require", 0, "Use of the kernel module", OPT_GROUP_SOURCES},
	{"kcore", OPT_KCORE, "auto|off|require", 0, "Use of kernel memory", OPT_GROUP_SOURCES},
	{"root", OPT_ROOT, "DIR", 0, "Read DIR/proc and DIR/sys", OPT_GROUP_SOURCES},
	{0},
};

/* One more element of @size bytes at the end of *@array; NULL without memory. */
static void *append(void *array, size_t *nr, size_t size)
{
	void **p = array;
	void *bigger = reallocarray(*p, *nr + 1, size);

	if (!bigger)
		return NULL;
	*p = bigger;
	return (char *)bigger + (*nr)++ * size;
}

static error_t add_pid(struct opt_target *t, const char *arg, struct argp_state *state)
{
	pid_t *pid, value = 0;

	if (pgs_parse_pid(arg, &value))
		argp_error(state, "'%s' is not a process id", arg);
	pid = append(&t->pids, &t->nr_pids, sizeof(*pid));
	if (!pid)
		return ENOMEM;
	*pid = value;
	return 0;
}

static error_t add_range(struct opt_target *t, const char *arg, struct argp_state *state)
{
	struct pgs_range *range, value = {0, 0};

	if (pgs_parse_range(arg, (uint64_t)sysconf(_SC_PAGESIZE), &value))
		argp_error(state,
			   "'%s' is not a range: START-END, END behind START, or "
			   "START+LENGTH",
			   arg);
	range = append(&t->ranges, &t->nr_ranges, sizeof(*range));
	if (!range)
		return ENOMEM;
	*range = value;
	return 0;
}

static error_t add_pattern(struct opt_target *t, const char *arg)
{
	const char **pattern = append(&t->vma_patterns, &t->nr_vma_patterns, sizeof(*pattern));

	if (!pattern)
		return ENOMEM;
	*pattern = arg;
	return 0;
}

static enum opt_use parse_use(const char *arg, struct argp_state *state)
{
	static const char *const words[] = {
		[OPT_AUTO] = "auto", [OPT_OFF] = "off", [OPT_REQUIRE] = "require", NULL};

	return opt_choice(arg, words, state);
}

static int compare_ranges(const void *pa, const void *pb)
{
	const struct pgs_range *a = pa, *b = pb;

	return (a->start > b->start) - (a->start < b->start);
}

/* Ranges that overlap must not count a page twice. */
static void merge_ranges(struct opt_target *t)
{
	size_t nr = 0;

	if (!t->nr_ranges)
		return;
	qsort(t->ranges, t->nr_ranges, sizeof(*t->ranges), compare_ranges);
	for (size_t i = 1; i < t->nr_ranges; i++) {
		struct pgs_range *last = &t->ranges[nr];

		if (t->ranges[i].start > last->end)
			t->ranges[++nr] = t->ranges[i];
		else if (t->ranges[i].end > last->end)
			last->end = t->ranges[i].end;
	}
	t->nr_ranges = nr + 1;
}

static error_t parse_source_opt(int key, char *arg, struct argp_state *state)
{
	struct opt_target *t = state->input;

	switch (key) {
	case OPT_KMOD:
		t->kmod = parse_use(arg, state);
		return 0;
	case OPT_KCORE:
		t->kcore = parse_use(arg, state);
		return 0;
	case OPT_ROOT:
		t->root = arg;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp opt_source_argp = {.options = source_options, .parser = parse_source_opt};

static error_t parse_process_opt(int key, char *arg, struct argp_state *state)
{
	struct opt_target *t = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		return add_pid(t, arg, state);
	case 'r':
		return add_range(t, arg, state);
	case 'V':
		return add_pattern(t, arg);
	case ARGP_KEY_INIT:
		state->child_inputs[0] = t;
		return 0;
	case ARGP_KEY_SUCCESS:
		merge_ranges(t);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_child process_children[] = {
	{&opt_source_argp, 0, NULL, 0},
	{0},
};

const struct argp opt_process_argp = {
	.options = process_options,
	.parser = parse_process_opt,
	.children = process_children,
};

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct opt_target *t = state->input;

	switch (key) {
	case 'g':
		if (t->cgroup)
			argp_error(state, "one --cgroup at a time");
		t->cgroup = opt_cgroup(arg, state);
		return 0;
	case 'a':
		t->system = true;
		return 0;
	case ARGP_KEY_INIT:
		state->child_inputs[0] = t;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_child children[] = {
	{&opt_process_argp, 0, NULL, 0},
	{0},
};

const struct argp opt_target_argp = {
	.options = options,
	.parser = parse_opt,
	.children = children,
};

void opt_target_fini(struct opt_target *t)
{
	free(t->pids);
	free(t->ranges);
	free(t->vma_patterns);
	*t = (struct opt_target){0};
}

bool opt_target_is_given(const struct opt_target *t)
{
	return t->nr_pids || t->cgroup || t->system;
}
