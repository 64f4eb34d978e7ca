// SPDX-License-Identifier: GPL-2.0-only
#include "kcore.h"

#include "caps.h"
#include "cleanup.h"
#include "procfs.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define NOTES_MAX (4u << 20) /* bytes; a task_struct with its FPU state is the largest, 16 KiB */

#ifndef NT_TASKSTRUCT
#define NT_TASKSTRUCT 4
#endif

struct segment {
	uint64_t start, size; /* kernel addresses */
	uint64_t offset;      /* in the file */
};

struct pgs_kcore {
	struct pgs_ctx *ctx;
	int fd;
	struct segment *segs;
	size_t nr_segs;
	unsigned char *notes; /* the note segment, as it stands in the file */
	const char *info;     /* VMCOREINFO: lines, in @notes */
	size_t info_len;
	const void *task;
	size_t task_size;
};

/* ---- headers --------------------------------------------------------------------------------- */

static int bad_file(struct pgs_ctx *ctx, const char *what)
{
	return pgs_ctx_fail(ctx, -ENOEXEC, "'/proc/kcore' is no core file that is understood: %s",
			    what);
}

static bool is_core(const Elf64_Ehdr *ehdr)
{
	const unsigned char data =
		__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;

	return !memcmp(ehdr->e_ident, ELFMAG, SELFMAG) && ehdr->e_ident[EI_CLASS] == ELFCLASS64 &&
	       ehdr->e_ident[EI_DATA] == data && ehdr->e_type == ET_CORE &&
	       ehdr->e_phentsize == sizeof(Elf64_Phdr) && ehdr->e_phnum && ehdr->e_phnum != PN_XNUM;
}

/* The program headers; the caller frees them. */
static int read_headers(struct pgs_kcore *kcore, Elf64_Phdr **ret_phdrs, size_t *ret_nr)
{
	_cleanup_free_ Elf64_Phdr *phdrs = NULL;
	Elf64_Ehdr ehdr;

	if (pgs_read_at(kcore->fd, &ehdr, sizeof(ehdr), 0) || !is_core(&ehdr))
		return bad_file(kcore->ctx, "the ELF header");
	phdrs = calloc(ehdr.e_phnum, sizeof(*phdrs));
	if (!phdrs)
		return -ENOMEM;
	if (pgs_read_at(kcore->fd, phdrs, ehdr.e_phnum * sizeof(*phdrs), ehdr.e_phoff))
		return bad_file(kcore->ctx, "the program headers");
	*ret_phdrs = phdrs;
	*ret_nr = ehdr.e_phnum;
	phdrs = NULL;
	return 0;
}

static bool is_usable(const Elf64_Phdr *phdr)
{
	uint64_t end;

	return phdr->p_type == PT_LOAD && phdr->p_filesz &&
	       !__builtin_add_overflow(phdr->p_vaddr, phdr->p_filesz - 1, &end) &&
	       !__builtin_add_overflow(phdr->p_offset, phdr->p_filesz, &end) && end <= INT64_MAX;
}

static int take_segments(struct pgs_kcore *kcore, const Elf64_Phdr *phdrs, size_t nr)
{
	struct segment *segs = calloc(nr, sizeof(*segs));
	size_t nr_segs = 0;

	if (!segs)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		if (is_usable(&phdrs[i]))
			segs[nr_segs++] = (struct segment){.start = phdrs[i].p_vaddr,
							   .size = phdrs[i].p_filesz,
							   .offset = phdrs[i].p_offset};
	free(kcore->segs);
	kcore->segs = segs;
	kcore->nr_segs = nr_segs;
	return 0;
}

int pgs_kcore_refresh(struct pgs_kcore *kcore)
{
	_cleanup_free_ Elf64_Phdr *phdrs = NULL;
	size_t nr;
	int r = read_headers(kcore, &phdrs, &nr);

	return r ? r : take_segments(kcore, phdrs, nr);
}

/* ---- notes ----------------------------------------------------------------------------------- */

static void take_note(struct pgs_kcore *kcore, const Elf64_Nhdr *nhdr, const char *name,
		      const unsigned char *desc)
{
	if (nhdr->n_namesz == sizeof("VMCOREINFO") && !memcmp(name, "VMCOREINFO", nhdr->n_namesz)) {
		kcore->info = (const char *)desc;
		kcore->info_len = nhdr->n_descsz;
	}
	if (nhdr->n_namesz == sizeof("CORE") && !memcmp(name, "CORE", nhdr->n_namesz) &&
	    nhdr->n_type == NT_TASKSTRUCT) {
		kcore->task = desc;
		kcore->task_size = nhdr->n_descsz;
	}
}

/* Name and contents are padded to 4 bytes each. */
static void parse_notes(struct pgs_kcore *kcore, size_t len)
{
	size_t at = 0;

	while (len - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr nhdr;
		size_t name, desc, next;

		memcpy(&nhdr, kcore->notes + at, sizeof(nhdr));
		name = at + sizeof(nhdr);
		desc = name + (((size_t)nhdr.n_namesz + 3) & ~(size_t)3);
		next = desc + (((size_t)nhdr.n_descsz + 3) & ~(size_t)3);
		if (next > len)
			return;
		take_note(kcore, &nhdr, (const char *)kcore->notes + name, kcore->notes + desc);
		at = next;
	}
}

static int read_notes(struct pgs_kcore *kcore, const Elf64_Phdr *phdrs, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		size_t len = phdrs[i].p_filesz;

		if (phdrs[i].p_type != PT_NOTE || !len || len > NOTES_MAX)
			continue;
		kcore->notes = malloc(len);
		if (!kcore->notes)
			return -ENOMEM;
		if (pgs_read_at(kcore->fd, kcore->notes, len, phdrs[i].p_offset))
			return bad_file(kcore->ctx, "its notes");
		parse_notes(kcore, len);
		return 0;
	}
	return 0;
}

const char *pgs_kcore_info(const struct pgs_kcore *kcore, const char *key, size_t *ret_len)
{
	const char *line = kcore->info, *end = line ? line + kcore->info_len : NULL;
	size_t key_len = strlen(key);

	while (line < end) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));
		size_t len = (size_t)((newline ? newline : end) - line);

		if (len > key_len && !memcmp(line, key, key_len) && line[key_len] == '=') {
			*ret_len = len - key_len - 1;
			return line + key_len + 1;
		}
		line += len + 1;
	}
	return NULL;
}

int pgs_kcore_symbol(const struct pgs_kcore *kcore, const char *name, uint64_t *ret_addr)
{
	char key[64], digits[17], *end;
	const char *value;
	uint64_t addr;
	size_t len;

	snprintf(key, sizeof(key), "SYMBOL(%s)", name);
	value = pgs_kcore_info(kcore, key, &len);
	if (!value || !len || len >= sizeof(digits))
		return -ENOENT;
	memcpy(digits, value, len);
	digits[len] = '\0';
	addr = strtoull(digits, &end, 16);
	if (*end || !addr)
		return -ENOENT;
	*ret_addr = addr;
	return 0;
}

const void *pgs_kcore_task(const struct pgs_kcore *kcore, size_t *ret_size)
{
	*ret_size = kcore->task_size;
	return kcore->task;
}

/* ---- open and close -------------------------------------------------------------------------- */

int pgs_kcore_new(struct pgs_ctx *ctx, int fd, struct pgs_kcore **ret_kcore)
{
	_cleanup_(pgs_kcore_closep) struct pgs_kcore *kcore = calloc(1, sizeof(*kcore));
	_cleanup_free_ Elf64_Phdr *phdrs = NULL;
	size_t nr;
	int r;

	if (!kcore) {
		close(fd);
		return -ENOMEM;
	}
	kcore->ctx = ctx;
	kcore->fd = fd;
	r = read_headers(kcore, &phdrs, &nr);
	if (!r)
		r = take_segments(kcore, phdrs, nr);
	if (!r)
		r = read_notes(kcore, phdrs, nr);
	if (r)
		return r;
	*ret_kcore = kcore;
	kcore = NULL;
	return 0;
}

/* One line that the kernel has for us, into @line; false without one. */
static bool read_line(struct pgs_ctx *ctx, const char *path, char *line, size_t size)
{
	_cleanup_free_ char *text = NULL;
	bool there = pgs_read_file(ctx, 0, &text, "%s", path) > 0;

	if (there)
		snprintf(line, size, "%.*s", (int)strcspn(text, "\n"), text);
	return there;
}

/* A map of every id to itself is that of the initial user namespace (user_namespaces(7)). */
static bool is_in_a_user_namespace(struct pgs_ctx *ctx)
{
	unsigned long inside, outside, count;
	char line[64];

	return read_line(ctx, "proc/self/uid_map", line, sizeof(line)) &&
	       (sscanf(line, "%lu %lu %lu", &inside, &outside, &count) != 3 || inside || outside ||
		count != UINT32_MAX);
}

/* "lockdown: Lock down /proc/kcore", 5.4: "confidentiality" refuses everybody. */
void pgs_kcore_refusal(struct pgs_ctx *ctx, char why[PGS_KCORE_REFUSAL])
{
	char lockdown[64];
	bool told = read_line(ctx, "sys/kernel/security/lockdown", lockdown, sizeof(lockdown));

	if (told && strstr(lockdown, "[confidentiality]"))
		snprintf(why, PGS_KCORE_REFUSAL, "the kernel is locked down (%s)", lockdown);
	else if (is_in_a_user_namespace(ctx))
		snprintf(why, PGS_KCORE_REFUSAL, "not in the initial user namespace");
	else
		snprintf(why, PGS_KCORE_REFUSAL, "%sa security module or a seccomp filter",
			 told ? "" : "lockdown, ");
}

/* The file's mode asks for its owner or CAP_DAC_READ_SEARCH, its open for CAP_SYS_RAWIO. */
uint64_t pgs_kcore_lacking(const struct pgs_ctx *ctx)
{
	uint64_t caps = PGS_CAP(CAP_SYS_RAWIO);

	if (faccessat(ctx->root_fd, "proc/kcore", R_OK, AT_EACCESS) < 0 && errno == EACCES)
		caps |= PGS_CAP(CAP_DAC_READ_SEARCH);
	return pgs_caps_lacking(caps);
}

static int open_failed(struct pgs_ctx *ctx, int err)
{
	uint64_t lacking = err == -EPERM || err == -EACCES ? pgs_kcore_lacking(ctx) : 0;
	char names[PGS_CAPS_STR], why[PGS_KCORE_REFUSAL];

	if (lacking)
		return pgs_ctx_fail(ctx, err, "cannot open '/proc/kcore': %s (needs %s)",
				    strerror(-err), pgs_caps_names(lacking, names));
	if (err != -EPERM)
		return err;
	pgs_kcore_refusal(ctx, why);
	return pgs_ctx_fail(ctx, err, "cannot open '/proc/kcore': %s (%s)", strerror(-err), why);
}

int pgs_kcore_open(struct pgs_ctx *ctx, struct pgs_kcore **ret_kcore)
{
	int fd = pgs_open(ctx, PGS_CAP(CAP_SYS_RAWIO) | PGS_CAP(CAP_DAC_READ_SEARCH), 0,
			  "proc/kcore");

	return fd < 0 ? open_failed(ctx, fd) : pgs_kcore_new(ctx, fd, ret_kcore);
}

void pgs_kcore_close(struct pgs_kcore *kcore)
{
	if (!kcore)
		return;
	pgs_closep(&kcore->fd);
	free(kcore->segs);
	free(kcore->notes);
	free(kcore);
}

void pgs_kcore_closep(struct pgs_kcore **kcore)
{
	pgs_kcore_close(*kcore);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static const struct segment *find_segment(const struct pgs_kcore *kcore, uint64_t addr)
{
	for (size_t i = 0; i < kcore->nr_segs; i++)
		if (addr - kcore->segs[i].start < kcore->segs[i].size)
			return &kcore->segs[i];
	return NULL;
}

uint64_t pgs_kcore_room(const struct pgs_kcore *kcore, uint64_t addr)
{
	const struct segment *seg = find_segment(kcore, addr);

	return seg ? seg->size - (addr - seg->start) : 0;
}

int pgs_kcore_read(struct pgs_kcore *kcore, uint64_t addr, void *buf, size_t len)
{
	unsigned char *to = buf;

	while (len) {
		const struct segment *seg = find_segment(kcore, addr);
		uint64_t skip, n;
		int r;

		if (!seg)
			return -EFAULT;
		skip = addr - seg->start;
		n = seg->size - skip < len ? seg->size - skip : len;
		r = pgs_read_at(kcore->fd, to, n, seg->offset + skip);
		if (r)
			return r;
		addr += n;
		to += n;
		len -= n;
	}
	return 0;
}

/* Insertion: they are few, and mostly in order already or all in one slab. */
static void sort_by_address(const uint64_t *addrs, unsigned int nr, uint8_t *order)
{
	for (unsigned int i = 0; i < nr; i++) {
		unsigned int at = i;

		for (; at && addrs[order[at - 1]] > addrs[i]; at--)
			order[at] = order[at - 1];
		order[at] = (uint8_t)i;
	}
}

void pgs_kcore_gather(struct pgs_kcore *kcore, const uint64_t *addrs, unsigned int nr, size_t len,
		      void *buf, const void **ret_at)
{
	uint8_t order[PGS_KCORE_GATHER];
	unsigned char *to = buf;

	sort_by_address(addrs, nr, order);
	for (unsigned int i = 0, n; i < nr; i += n) {
		uint64_t start = addrs[order[i]], end = start + len;
		bool was_read;

		/* Of addresses that overlap, which are not those of objects, each is by itself. */
		for (n = 1; i + n < nr && addrs[order[i + n]] - end <= PGS_KCORE_GAP; n++)
			end = addrs[order[i + n]] + len;
		was_read = !pgs_kcore_read(kcore, start, to, end - start);
		for (unsigned int k = i; k < i + n; k++)
			ret_at[order[k]] = was_read ? to + (addrs[order[k]] - start) : NULL;
		to += end - start;
	}
}
