/* SPDX-License-Identifier: GPL-2.0-only */
/* shmem_priv: what the parts of shmem share; of no use to others. */
#pragma once

#include "page.h"
#include "shmem.h"

/* A provider. Each fills the run that starts at @addr: the contracts are those of shmem.h. */
struct pgs_shmem_ops {
	bool sees_tables;
	int (*next)(struct pgs_shmem *shmem, const struct pgs_vma *vma, uint64_t addr, uint64_t end,
		    struct pgs_shmem_run *ret_run);
	ssize_t (*words)(struct pgs_shmem *shmem, const struct pgs_vma *vma,
			 const struct pgs_shmem_run *run, uint64_t end, uint64_t *words,
			 size_t room);
	/* Where it sees the tables. */
	int (*again)(struct pgs_shmem *shmem, uint64_t addr, uint64_t end,
		     struct pgs_shmem_run *ret_run);
};

struct pgs_shmem {
	struct pgs_ctx *ctx;
	const struct pgs_shmem_ops *ops;
	enum pgs_source source; /* of the last run */
	pid_t pid;
	bool counts; /* slots are of no interest */
	char reason[256];
	/* module */
	struct pgs_kmod *kmod;
	int pagemap_fd;
	uint64_t marker_word;
	struct pgscan_run *runs;
	size_t nr_runs, next_run;
	uint64_t walk_end;	      /* the records reach so far */
	bool counted;		      /* there are records of mapped pages alone */
	struct pgs_shmem_counts told; /* of the others, until a run has told them */
	/* kernel memory and map_files: one object at a time */
	int file_fd;
	uint64_t vma_start, vma_end; /* the mapping that file_fd belongs to */
	struct pgs_residency *res;
	int res_error;
	bool swap_in_use; /* it was when it was last looked at */
	bool overlay;	  /* of one: what is not in memory may be in swap, or on a disk; */
	bool not_shmem;	  /* but it is certainly not in swap */
	struct pgs_kmem *kmem;
	bool has_object; /* @object is the mapping's: kernel memory shows it */
	struct pgs_kobject object;
	struct pgs_kentries *entries;
	size_t nr_entries, next_entry;
	size_t ask_entries; /* the next time */
	uint64_t ask_pages;
};

/* The marks of a word that are the page table's own, whatever the object says of the page. */
#define PGS_SHMEM_TABLE_MARKS (PGS_PM_SOFT_DIRTY | PGS_PM_UFFD_WP)

/* In place of @word, which pagemap has for it: those marks stay. */
static inline uint64_t pgs_shmem_swap_word(unsigned int type, uint64_t slot, uint64_t word)
{
	return pgs_pm_swap_word(type, slot) | PGS_PM_FILE | (word & PGS_SHMEM_TABLE_MARKS);
}

/* ---- shmem_module.c: the module -------------------------------------------------------------- */

/* pgs_shmem_module_open - have @kmod, which must see through markers, tell. 0 or -ENOMEM. */
int pgs_shmem_module_open(struct pgs_shmem *shmem, struct pgs_kmod *kmod) __attribute__((nonnull));

/* ---- shmem_object.c: the object of a mapping, by kernel memory or else map_files ------------- */

/* pgs_shmem_object_open - have the object of each mapping tell; @kmem may be NULL. */
void pgs_shmem_object_open(struct pgs_shmem *shmem, struct pgs_kmem *kmem)
	__attribute__((nonnull(1)));
/* pgs_shmem_object_close - let go of the object that is open, if one is. */
void pgs_shmem_object_close(struct pgs_shmem *shmem) __attribute__((nonnull));
/* pgs_shmem_set_error - @err (0: none), and the context's line as the reason. */
void pgs_shmem_set_error(struct pgs_shmem *shmem, int err) __attribute__((nonnull));

/* ---- shmem_kmem.c: kernel memory ------------------------------------------------------------- */

/* pgs_shmem_kmem_reset - another object, or other pages: nothing is loaded, and little at first. */
void pgs_shmem_kmem_reset(struct pgs_shmem *shmem) __attribute__((nonnull));
/* pgs_shmem_kmem_ready - whether kernel memory shows objects, and there is room to load entries. */
bool pgs_shmem_kmem_ready(struct pgs_shmem *shmem) __attribute__((nonnull));
/* As the provider's functions of that name, of shmem->object. */
int pgs_shmem_kmem_next(struct pgs_shmem *shmem, const struct pgs_vma *vma, uint64_t addr,
			uint64_t end, struct pgs_shmem_run *ret_run) __attribute__((nonnull));
ssize_t pgs_shmem_kmem_words(struct pgs_shmem *shmem, const struct pgs_vma *vma,
			     const struct pgs_shmem_run *run, uint64_t end, uint64_t *words,
			     size_t room) __attribute__((nonnull));

/* ---- shmem_files.c: map_files ---------------------------------------------------------------- */

/* As the provider's function of that name, of shmem->res. */
int pgs_shmem_files_next(struct pgs_shmem *shmem, const struct pgs_vma *vma, uint64_t addr,
			 uint64_t end, struct pgs_shmem_run *ret_run) __attribute__((nonnull));
