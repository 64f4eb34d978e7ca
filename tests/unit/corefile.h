/* SPDX-License-Identifier: GPL-2.0-only */
/* corefile: a core file as /proc/kcore is one, made by a test: one segment of memory, and notes. */
#pragma once

#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CORE_BASE UINT64_C(0xffff888000001000) /* where the memory lies */

static inline size_t core_note(unsigned char *to, const char *name, uint32_t type, const void *desc,
			       size_t len)
{
	Elf64_Nhdr nhdr = {
		.n_namesz = (uint32_t)strlen(name) + 1, .n_descsz = (uint32_t)len, .n_type = type};
	size_t name_room = (nhdr.n_namesz + 3u) & ~3u, desc_room = (len + 3) & ~(size_t)3;

	memcpy(to, &nhdr, sizeof(nhdr));
	memset(to + sizeof(nhdr), 0, name_room + desc_room);
	memcpy(to + sizeof(nhdr), name, nhdr.n_namesz);
	memcpy(to + sizeof(nhdr) + name_room, desc, len);
	return sizeof(nhdr) + name_room + desc_room;
}

/* The headers, notes and memory of such a file in @file, which must have room. Returns its size. */
static inline size_t core_build(unsigned char *file, const void *mem, size_t mem_len,
				const char *info, const void *task, size_t task_len)
{
	const unsigned char ident[EI_NIDENT] = {ELFMAG0,    ELFMAG1,	 ELFMAG2,   ELFMAG3,
						ELFCLASS64, ELFDATA2LSB, EV_CURRENT};
	Elf64_Ehdr ehdr = {.e_type = ET_CORE,
			   .e_phoff = sizeof(ehdr),
			   .e_phentsize = sizeof(Elf64_Phdr),
			   .e_phnum = 2};
	Elf64_Phdr phdr[2] = {{.p_type = PT_NOTE}, {.p_type = PT_LOAD, .p_vaddr = CORE_BASE}};
	size_t at = sizeof(ehdr) + sizeof(phdr), start = at;

	memcpy(ehdr.e_ident, ident, sizeof(ident));
	if (task)
		at += core_note(file + at, "CORE", 4, task, task_len);
	at += core_note(file + at, "VMCOREINFO", 0, info, strlen(info));
	phdr[0].p_offset = start;
	phdr[0].p_filesz = at - start;
	phdr[1].p_offset = at;
	phdr[1].p_filesz = phdr[1].p_memsz = mem_len;
	memcpy(file, &ehdr, sizeof(ehdr));
	memcpy(file + sizeof(ehdr), phdr, sizeof(phdr));
	memcpy(file + at, mem, mem_len);
	return at + mem_len;
}

/* A descriptor of it; -1. */
static inline int core_fd(const unsigned char *file, size_t len)
{
	int fd = memfd_create("core", MFD_CLOEXEC);

	if (fd >= 0 && write(fd, file, len) != (ssize_t)len) {
		close(fd);
		return -1;
	}
	return fd;
}
