// SPDX-License-Identifier: GPL-2.0-only
#include "kpage.h"

#include "caps.h"
#include "cleanup.h"
#include "procfs.h"

#include <errno.h>
#include <string.h>

/*
 * Two frames this far apart are still read in one call: the kernel takes some 15 ns a frame, a
 * system call some hundred.
 */
#define BRIDGE_FRAMES 32u
#define BUFFER_WORDS  32768u

static const char *const file_names[PGS_KPAGE_FILES] = {
	[PGS_KPAGEFLAGS] = "kpageflags",
	[PGS_KPAGECOUNT] = "kpagecount",
	[PGS_KPAGECGROUP] = "kpagecgroup",
};

/* Frames of the request that are consecutive, in the order they were asked for. */
struct frame_run {
	uint64_t pfn;
	uint32_t index, count;
};

struct pgs_kpage {
	struct pgs_ctx *ctx;
	int fd[PGS_KPAGE_FILES];
	struct frame_run *runs;
	size_t room;
	uint64_t *buffer; /* BUFFER_WORDS */
};

int pgs_kpage_open(struct pgs_ctx *ctx, struct pgs_kpage **ret_kpage)
{
	const uint64_t caps = PGS_CAP(CAP_DAC_READ_SEARCH); /* they ask for the file mode alone */
	_cleanup_(pgs_kpage_closep) struct pgs_kpage *kpage = calloc(1, sizeof(*kpage));
	int i;

	if (!kpage)
		return -ENOMEM;
	kpage->ctx = ctx;
	for (i = PGS_KPAGE_FILES - 1; i >= 0; i--) /* kpageflags last: its failure is the line */
		kpage->fd[i] = pgs_open(ctx, caps, 0, "proc/%s", file_names[i]);
	if (kpage->fd[PGS_KPAGEFLAGS] < 0)
		return kpage->fd[PGS_KPAGEFLAGS];
	kpage->buffer = malloc(BUFFER_WORDS * sizeof(*kpage->buffer));
	if (!kpage->buffer)
		return -ENOMEM;
	*ret_kpage = kpage;
	kpage = NULL;
	return 0;
}

void pgs_kpage_close(struct pgs_kpage *kpage)
{
	if (!kpage)
		return;
	for (int i = 0; i < PGS_KPAGE_FILES; i++)
		pgs_closep(&kpage->fd[i]);
	free(kpage->runs);
	free(kpage->buffer);
	free(kpage);
}

void pgs_kpage_closep(struct pgs_kpage **kpage)
{
	pgs_kpage_close(*kpage);
}

bool pgs_kpage_has(const struct pgs_kpage *kpage, enum pgs_kpage_file file)
{
	return kpage->fd[file] >= 0;
}

ssize_t pgs_kpage_read(struct pgs_kpage *kpage, enum pgs_kpage_file file, uint64_t pfn,
		       size_t count, uint64_t *ret_words)
{
	ssize_t n;

	do
		n = pread(kpage->fd[file], ret_words, count * sizeof(*ret_words),
			  (off_t)(pfn * sizeof(*ret_words)));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return pgs_ctx_fail(kpage->ctx, -errno, "cannot read '%s/proc/%s': %s",
				    kpage->ctx->root, file_names[file], strerror(errno));
	return n / (ssize_t)sizeof(*ret_words);
}

static int compare_runs(const void *a, const void *b)
{
	const struct frame_run *x = a, *y = b;

	return x->pfn < y->pfn ? -1 : x->pfn > y->pfn;
}

/* Cut the request into runs, sorted by frame. Returns how many, or -ENOMEM. */
static ssize_t sort_runs(struct pgs_kpage *kpage, const uint64_t *pfns, size_t count)
{
	bool sorted = true;
	size_t nr = 0;

	if (kpage->room < count) {
		struct frame_run *more = reallocarray(kpage->runs, count, sizeof(*more));

		if (!more)
			return -ENOMEM;
		kpage->runs = more;
		kpage->room = count;
	}
	for (size_t i = 0; i < count; nr += pfns[i] != PGS_NO_FRAME, i++) {
		size_t n = 1;

		if (pfns[i] == PGS_NO_FRAME)
			continue;
		while (i + n < count && n < BUFFER_WORDS && pfns[i + n] == pfns[i] + n)
			n++;
		kpage->runs[nr] = (struct frame_run){pfns[i], (uint32_t)i, (uint32_t)n};
		sorted &= !nr || pfns[i] >= kpage->runs[nr - 1].pfn;
		i += n - 1;
	}
	if (!sorted)
		qsort(kpage->runs, nr, sizeof(*kpage->runs), compare_runs);
	return (ssize_t)nr;
}

static uint64_t run_end(const struct frame_run *run)
{
	return run->pfn + run->count;
}

/* How many of the @nr runs from @run on one read covers, and how far it goes. */
static size_t bridge(const struct frame_run *run, size_t nr, uint64_t *ret_end)
{
	uint64_t end = run_end(run);
	size_t n = 1;

	for (; n < nr && run[n].pfn <= end + BRIDGE_FRAMES; n++) {
		uint64_t new_end = run_end(&run[n]) > end ? run_end(&run[n]) : end;

		if (new_end - run->pfn > BUFFER_WORDS)
			break;
		end = new_end;
	}
	*ret_end = end;
	return n;
}

/* The run's words, from @at on in the @got ones that were read: fewer at the end of memory. */
static void copy_run(const struct frame_run *run, const uint64_t *buffer, uint64_t at, uint64_t got,
		     uint64_t *ret_words)
{
	for (uint64_t i = 0; i < run->count; i++)
		ret_words[run->index + i] = at + i < got ? buffer[at + i] : PGS_NO_WORD;
}

int pgs_kpage_gather(struct pgs_kpage *kpage, enum pgs_kpage_file file, const uint64_t *pfns,
		     size_t count, uint64_t *ret_words)
{
	ssize_t nr = sort_runs(kpage, pfns, count);
	const struct frame_run *run = kpage->runs, *last = run + nr;

	if (nr < 0)
		return (int)nr;
	memset(ret_words, 0, count * sizeof(*ret_words));
	while (run < last) {
		uint64_t base = run->pfn, end;
		size_t n = bridge(run, (size_t)(last - run), &end);
		ssize_t got = pgs_kpage_read(kpage, file, base, end - base, kpage->buffer);

		if (got < 0)
			return (int)got;
		for (; n; n--, run++)
			copy_run(run, kpage->buffer, run->pfn - base, (uint64_t)got, ret_words);
	}
	return 0;
}

/* ---- flags ----------------------------------------------------------------------------------- */

/* include/uapi/linux/kernel-page-flags.h, from 32 on include/linux/kernel-page-flags.h, and what
 * pgs_kpf_expand() makes. */
/* clang-format off */
static const char *const kpf_names[PGS_KPF_BITS] = {
	[0] = "locked",		[1] = "error",	       [2] = "referenced",   [3] = "uptodate",
	[4] = "dirty",		[5] = "lru",	       [6] = "active",	     [7] = "slab",
	[8] = "writeback",	[9] = "reclaim",       [10] = "buddy",	     [11] = "mmap",
	[12] = "anon",		[13] = "swapcache",    [14] = "swapbacked",  [15] = "compound_head",
	[16] = "compound_tail", [17] = "hugetlb",      [18] = "unevictable", [19] = "hwpoison",
	[20] = "nopage",	[21] = "ksm",	       [22] = "thp",	     [23] = "offline",
	[24] = "zero_page",	[25] = "idle",	       [26] = "pgtable",     [32] = "reserved",
	[33] = "mlocked",	[34] = "mappedtodisk", [35] = "private",     [36] = "private_2",
	[37] = "owner_private", [38] = "arch",	       [39] = "uncached",    [40] = "softdirty",
	[41] = "arch_2",	[42] = "arch_3",
	[47] = "anon_exclusive", [48] = "readahead",
};
/* clang-format on */

#define KPF(bit) (UINT64_C(1) << (bit))

uint64_t pgs_kpf_expand(uint64_t flags)
{
	const uint64_t writeback = KPF(8), reclaim = KPF(9), anon = KPF(12), mappedtodisk = KPF(34);

	if (flags & anon && flags & mappedtodisk)
		flags ^= mappedtodisk | KPF(47);
	if (flags & reclaim && !(flags & writeback))
		flags ^= reclaim | KPF(48);
	return flags;
}

const char *pgs_kpf_name(unsigned int bit)
{
	return bit < PGS_KPF_BITS ? kpf_names[bit] : NULL;
}

int pgs_kpf_bit(const char *name)
{
	for (unsigned int bit = 0; bit < PGS_KPF_BITS; bit++)
		if (kpf_names[bit] && !strcmp(kpf_names[bit], name))
			return (int)bit;
	return -1;
}

char *pgs_kpf_format(uint64_t flags, char buf[PGS_KPF_STR])
{
	size_t len = 0;

	flags = pgs_kpf_expand(flags);
	buf[0] = '\0';
	for (unsigned int bit = 0; bit < PGS_KPF_BITS && len < PGS_KPF_STR; bit++) {
		const char *comma = len ? "," : "";

		if (!(flags >> bit & 1))
			continue;
		if (kpf_names[bit])
			len += (size_t)snprintf(buf + len, PGS_KPF_STR - len, "%s%s", comma,
						kpf_names[bit]);
		else
			len += (size_t)snprintf(buf + len, PGS_KPF_STR - len, "%sbit%u", comma,
						bit);
	}
	return buf;
}
