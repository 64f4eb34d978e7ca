// SPDX-License-Identifier: GPL-2.0-only
/* Lines of /proc/PID/maps, in trees made for each test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "maps.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static char root[64];

static void write_file(const char *name, const char *text, size_t len)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/proc/7/%s", root, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static void write_text(const char *name, const char *text)
{
	write_file(name, text, strlen(text));
}

static int make_tree(void **state)
{
	char path[96];

	(void)state;
	strcpy(root, "/tmp/test_maps.XXXXXX");
	if (!mkdtemp(root))
		return -1;
	snprintf(path, sizeof(path), "%s/proc", root);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/proc/7", root);
	return mkdir(path, 0755);
}

static int remove_tree(void **state)
{
	static const char *const names[] = {"proc/7/maps", "proc/7/mountinfo", "proc/7", "proc",
					    ""};
	char path[128];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, names[i]);
		remove(path);
	}
	return 0;
}

/* The only line of the tree. */
static void read_one(const char *line, void (*check)(const struct pgs_vma *vma, const void *arg),
		     const void *arg)
{
	struct pgs_ctx *ctx;
	struct pgs_maps *maps;
	struct pgs_vma vma;

	write_text("maps", line);
	assert_int_equal(pgs_ctx_open(root, &ctx), 0);
	assert_int_equal(pgs_maps_open(ctx, 7, &maps), 0);
	assert_int_equal(pgs_maps_next(maps, &vma), 1);
	check(&vma, arg);
	assert_int_equal(pgs_maps_next(maps, &vma), 0);
	assert_false(pgs_maps_empty(maps));
	pgs_maps_close(maps);
	pgs_ctx_close(ctx);
}

struct name_case {
	const char *line, *name;
	bool deleted;
	enum pgs_vma_kind kind;
};

static void check_name(const struct pgs_vma *vma, const void *arg)
{
	const struct name_case *want = arg;

	assert_string_equal(vma->name, want->name);
	assert_int_equal(vma->name_len, strlen(want->name));
	assert_int_equal(vma->deleted, want->deleted);
	assert_int_equal(vma->kind, want->kind);
}

#define AT "7f0000000000-7f0000001000 rw-p 00000000 "

static void test_names(void **state)
{
	static const struct name_case cases[] = {
		{AT "00:00 0 \n", "[anon]", false, PGS_VMA_ANON},
		{AT "00:00 0                          [heap]\n", "[heap]", false, PGS_VMA_ANON},
		{AT "00:00 0                          [anon:a b]\n", "[anon:a b]", false,
		 PGS_VMA_ANON},
		{AT "00:00 0                          [new_thing]\n", "[new_thing]", false,
		 PGS_VMA_SPECIAL},
		{AT "08:01 9                          /a b  c\n", "/a b  c", false, PGS_VMA_FILE},
		{AT "08:01 9                          /a\\012b\n", "/a\nb", false, PGS_VMA_FILE},
		{AT "08:01 9                          /a\\040b\n", "/a\\040b", false, PGS_VMA_FILE},
		{AT "08:01 9                          /x \376\n", "/x \376", false, PGS_VMA_FILE},
		{AT "08:01 9                          /x (deleted)\n", "/x", true, PGS_VMA_FILE},
		{AT "08:01 9                          /x (deleted) (deleted)\n", "/x (deleted)",
		 true, PGS_VMA_FILE},
		{AT "08:01 9                          [heap]\n", "[heap]", false, PGS_VMA_FILE},
		{AT "00:01 9                          /dev/zero (deleted)\n", "[shmem]", false,
		 PGS_VMA_SHMEM},
		{AT "00:01 9                          /memfd:\"q\" (deleted)\n", "/memfd:\"q\"",
		 true, PGS_VMA_SHMEM},
		{AT "00:01 9                          /SYSV00000000 (deleted)\n", "/SYSV00000000",
		 true, PGS_VMA_SHMEM},
		{AT "00:01 0                          /SYSV00000000 (deleted)\n", "/SYSV00000000",
		 true, PGS_VMA_SHMEM},
		{AT "00:2a 9                          /run/x\n", "/run/x", false, PGS_VMA_SHMEM},
		{AT "00:2b 9                          /sys/x\n", "/sys/x", false, PGS_VMA_DEVICE},
		{AT "00:0f 9                          /memfd:huge (deleted)\n", "/memfd:huge", true,
		 PGS_VMA_FILE},
		{AT "00:05 9                          /dev/mem\n", "/dev/mem", false,
		 PGS_VMA_DEVICE},
		{AT "00:05 9                          anon_inode:[perf_event]\n",
		 "anon_inode:[perf_event]", false, PGS_VMA_DEVICE},
	};

	(void)state;
	write_text("mountinfo", "20 1 0:42 / /run rw - tmpfs tmpfs rw\n"
				"21 1 0:43 / /sys rw - sysfs sysfs rw\n");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		read_one(cases[i].line, check_name, &cases[i]);
}

static void check_numbers(const struct pgs_vma *vma, const void *arg)
{
	(void)arg;
	assert_int_equal(vma->start, UINT64_C(0xffffffffff600000));
	assert_int_equal(vma->end, UINT64_C(0xffffffffff601000));
	assert_string_equal(vma->perms, "r-xs");
	assert_true(pgs_vma_is_shared(vma));
	assert_int_equal(vma->offset, UINT64_C(0x123456789000));
	assert_int_equal(vma->dev_major, 0xfe);
	assert_int_equal(vma->dev_minor, 0x1b);
	assert_int_equal(vma->inode, UINT64_C(18446744073709551615));
}

static void test_numbers(void **state)
{
	(void)state;
	read_one("ffffffffff600000-ffffffffff601000 r-xs 123456789000 fe:1b 18446744073709551615 "
		 "/x\n",
		 check_numbers, NULL);
}

/* Any line that is not a maps line is an error, not a mapping: error texts were parsed as maps. */
static void test_garbage(void **state)
{
	static const char *const texts[] = {
		"No such process\n",
		"7f0000000000-7f0000001000\n",
		"7f0000001000-7f0000000000 rw-p 00000000 00:00 0 \n", /* backwards */
		"7f0000000000-7f0000000000 rw-p 00000000 00:00 0 \n", /* empty */
		"7f0000000000-7f0000001000 rw-p 00000000 00:00 x\n",
		"7f0000000000-7f0000001000 rw-p 00000000 00:00 0 ", /* cut off */
		"g-7f0000001000 rw-p 00000000 00:00 0 \n",
		"-1000-7f0000001000 rw-p 00000000 00:00 0 \n", /* strtoull() would take these */
		"0x1000-7f0000001000 rw-p 00000000 00:00 0 \n",
		" 1000-7f0000001000 rw-p 00000000 00:00 0 \n",
		"17f00000000000000-27f0000000001000 rw-p 00000000 00:00 0 \n", /* 65 bits */
		"\n",
	};
	struct pgs_maps *maps;
	struct pgs_ctx *ctx;
	struct pgs_vma vma;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		write_text("maps", texts[i]);
		assert_int_equal(pgs_ctx_open(root, &ctx), 0);
		assert_int_equal(pgs_maps_open(ctx, 7, &maps), 0);
		assert_int_equal(pgs_maps_next(maps, &vma), -EBADMSG);
		assert_non_null(strstr(pgs_ctx_error(ctx), "/proc/7/maps"));
		pgs_maps_close(maps);
		pgs_ctx_close(ctx);
	}
}

/* Many lines, longer than the buffer, arrive whole wherever a read cuts them. */
static void test_long(void **state)
{
	enum { LINES = 3000, NAME = 200 };
	char *text = NULL, name[NAME + 1];
	struct pgs_maps *maps;
	struct pgs_ctx *ctx;
	struct pgs_vma vma;
	size_t len;
	FILE *f;

	(void)state;
	memset(name, 'n', NAME);
	name[0] = '/';
	name[NAME] = '\0';
	f = open_memstream(&text, &len);
	for (unsigned int i = 1; i <= LINES; i++)
		fprintf(f, "%x000-%x001 r--p 0 08:01 1 %.*s\n", i, i, (int)(1 + i % NAME), name);
	fclose(f);
	write_file("maps", text, len);
	free(text);
	assert_int_equal(pgs_ctx_open(root, &ctx), 0);
	assert_int_equal(pgs_maps_open(ctx, 7, &maps), 0);
	for (unsigned int i = 1; i <= LINES; i++) {
		assert_int_equal(pgs_maps_next(maps, &vma), 1);
		assert_int_equal(vma.start, (uint64_t)i << 12);
		assert_int_equal(vma.name_len, 1 + i % NAME);
	}
	assert_int_equal(pgs_maps_next(maps, &vma), 0);
	pgs_maps_close(maps);
	pgs_ctx_close(ctx);
}

static void test_empty(void **state)
{
	struct pgs_maps *maps;
	struct pgs_ctx *ctx;
	struct pgs_vma vma;

	(void)state;
	write_text("maps", "");
	assert_int_equal(pgs_ctx_open(root, &ctx), 0);
	assert_int_equal(pgs_maps_open(ctx, 8, &maps), -ESRCH);
	assert_int_equal(pgs_maps_open(ctx, 7, &maps), 0);
	assert_int_equal(pgs_maps_next(maps, &vma), 0);
	assert_true(pgs_maps_empty(maps));
	pgs_maps_close(maps);
	pgs_ctx_close(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),	cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_garbage), cmocka_unit_test(test_long),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
