/* SPDX-License-Identifier: GPL-2.0-only */
/* swapmap: what the parts of `pgscan swapmap` share; of no use to other commands. */
#pragma once

#include "cmd.h"
#include "progress.h"
#include "targets.h"
#include "../src/cgroup.h"
#include "../src/slots.h"
#include "../src/swap.h"
#include "../src/swapcache.h"
#include "../src/swapscan.h"

enum swapmap_by {
	SWAPMAP_AUTO, /* process for several targets, vma for one */
	SWAPMAP_PROCESS,
	SWAPMAP_VMA,
	SWAPMAP_RUN,
	SWAPMAP_PAGE,
	SWAPMAP_DEVICE,
	SWAPMAP_OBJECT,
	SWAPMAP_CGROUP,
};

struct swapmap_opts {
	struct opt_target target;
	struct opt_output output;
	enum swapmap_by by;
	const char *slot;     /* --slot, NULL: none */
	size_t slot_area_len; /* of it, the part before the colon */
	uint64_t slot_offset; /* and what stands behind it */
	bool map;	      /* --map */
};

/* A process of the machine. */
struct swapmap_proc {
	struct pgs_proc proc;
	uint32_t owner; /* its number in the slots: its own, or its cgroup's */
	bool shown;	/* it is a target */
	int err;	/* a -errno: it could not be looked into */
	/* The first process that has the same memory, by index: its own, but for those that were
	 * made with CLONE_VM. What they have is counted there, and once. */
	size_t first;
	/* Of that first one: */
	bool wanted;	/* one of them is a target */
	pid_t told_for; /* whose row has told what they have; 0: none yet */
};

/* What of the used swap is in whose hands; only with --system. */
struct swapmap_account {
	uint64_t used;
	uint64_t anon, shmem; /* slots, each once */
	struct pgs_val cache; /* slots that only the swap cache holds */
	bool cache_by_type;   /* and of each type, from kernel memory */
	bool cache_estimated; /* by the frames of present pages */
	uint64_t cache_of_type[PGS_PM_SWAP_TYPES];
	uint64_t reserved; /* of cache_by_type: slots that no page uses */
	uint64_t unaccounted;
	uint64_t excess; /* more was found than is used: things moved meanwhile */
};

/* The one slot to show; only with --slot. */
struct swapmap_slot {
	bool set, found;
	uint32_t types; /* bit n: its area is, or may be, of type n */
	bool type_open; /* a type was named, and that it is in use is not certain */
};

struct swapmap {
	const struct swapmap_opts *opts;
	enum swapmap_by by;
	struct pgs_ctx *ctx;
	struct pgs_scan_env env;
	struct out *out;
	struct progress *progress;
	struct targets targets;

	/* What is on the machine, from swapmap_gather(). */
	struct pgs_swap_areas swaps;
	struct swapmap_proc *procs; /* ascending; those of one owner together */
	size_t nr_procs;
	size_t *shown; /* indices of the targets, in the order to show them */
	size_t nr_shown;
	struct pgs_cgroups *cgroups; /* for --by=cgroup, with their paths by owner */
	char **paths;
	size_t nr_paths;
	struct pgs_slots *slots;
	struct pgs_swapobjs *objs;   /* NULL: nothing is in swap */
	struct pgs_swapcache *cache; /* NULL: not looked at */
	struct pgs_val cached_pages; /* SwapCached */
	struct pgs_swap_evidence evidence;
	struct pgs_swap_match match; /* which line of @swaps a swap type is */
	bool procs_unseen;	     /* /proc does not show or describe every process */
	bool owners_known;	     /* every process that may own a slot was looked into */
	bool hidden_slots;	     /* some slots are hidden from this user */
	struct swapmap_account account;
	struct swapmap_slot slot;

	/* What was shown. */
	uint64_t nr_looked_at, anon_pages, shmem_pages;
	uint64_t nr_refused; /* could not be looked into */
	char *refusal;	     /* why the first of them could not; NULL */
	bool shmem_unknown;
	const char *told_unknown; /* the object's reason that was said last */
	int failure;		  /* exit status of the first target that failed, 0: none did */
	bool incomplete;	  /* swapmap_error() was told of something */
};

/* ---- swapmap_gather.c: the whole machine, once ---------------------------------------------- */

/* swapmap_gather - find processes, objects, slots and their owners. PGS_EXIT_OK, or the exit status
 * after a message. */
int swapmap_gather(struct swapmap *m);
void swapmap_fini(struct swapmap *m);

/* swapmap_failed - a target failed with @err: a message, an entry in "errors", the exit status. */
void swapmap_failed(struct swapmap *m, pid_t pid, const char *what, int err);

/* swapmap_error - the answer is not complete: an entry in "errors", where there is a document. */
void swapmap_error(struct swapmap *m, pid_t pid, const char *what, int err);

/* swapmap_keep_refusal - why a process could not be looked into, from the context, unless an
 * earlier one could not. */
void swapmap_keep_refusal(struct swapmap *m);

/* swapmap_is_told - the memory of process @i is that of an earlier one that was looked into. */
bool swapmap_is_told(const struct swapmap *m, size_t i);

/* swapmap_type_of - the type that line @line of the areas certainly is, or -1; *@ret_open: some
 * type that was seen may be this one. */
int swapmap_type_of(const struct swapmap *m, size_t line, bool *ret_open);

/* swapmap_areas_moved - areas came or went meanwhile: what was seen does not go with their list. */
bool swapmap_areas_moved(const struct swapmap *m);

/* swapmap_device - the area that a swap type certainly is, as a value. */
struct pgs_val swapmap_device(const struct swapmap *m, unsigned int type);

/* ---- swapmap_rows.c: the views of processes ------------------------------------------------- */

extern const struct pgs_col swapmap_process_cols[], swapmap_run_cols[];

/* swapmap_columns - the columns of the view; the caller frees. NULL without memory. */
struct pgs_col *swapmap_columns(const struct swapmap *m);
/* swapmap_show - look into each target, with a row or more of it if that is the view. 0 or -errno
 * of the output. */
int swapmap_show(struct swapmap *m);

/* swapmap_emit_object_page - the row of a page that no process maps; @run->addr is its offset in
 * the object. */
int swapmap_emit_object_page(struct swapmap *m, const struct pgs_swap_run *run);

/* What an owner has in swap, and how sure that is. */
struct swapmap_part {
	struct pgs_share share;
	uint64_t anon, shmem; /* pages that its processes map */
	bool unknown;	      /* some shmem could not be told; @shmem was seen */
	bool has_hidden;      /* some slots are hidden */
	int err;	      /* some process could not be looked into */
};

/* swapmap_part_vals - anon, shmem, total, pswap and uswap, of pages @anon and @shmem. */
void swapmap_part_vals(const struct swapmap *m, const struct swapmap_part *part, uint64_t anon,
		       uint64_t shmem, struct pgs_val vals[5]);
/* swapmap_part_bytes - the same five in bytes. */
void swapmap_part_bytes(const struct swapmap *m, const struct pgs_val pages[5],
			struct pgs_val bytes[5]);
#define SWAPMAP_NOTE 96
/* swapmap_part_note - why some of them are null; NULL. Static, or in @buf. */
const char *swapmap_part_note(const struct swapmap *m, const struct swapmap_part *part,
			      uint64_t shmem, char buf[SWAPMAP_NOTE]);

/* ---- swapmap_cgroup.c, swapmap_device.c, swapmap_object.c ----------------------------------- */

extern const struct pgs_col swapmap_cgroup_cols[], swapmap_device_cols[], swapmap_object_cols[];

/* swapmap_by_cgroup - number the cgroups, and order the processes by them. 0 or -errno. */
int swapmap_by_cgroup(struct swapmap *m);
/* Each prints its rows; 0 or -errno of the output. */
int swapmap_emit_cgroup(struct swapmap *m, uint32_t owner, uint64_t nr_procs,
			const struct swapmap_part *part);
int swapmap_show_devices(struct swapmap *m);
int swapmap_show_objects(struct swapmap *m);

/* ---- swapmap_cache.c ------------------------------------------------------------------------ */

/* swapmap_count_cache - count the slots that only the swap cache holds, once all owners are known.
 * 0, or -errno: -EOPNOTSUPP where kernel memory does not tell. */
int swapmap_count_cache(struct swapmap *m, uint64_t *ret_slots);

/* ---- swapmap_summary.c ---------------------------------------------------------------------- */

/* swapmap_reconcile - fill m->account. 0 or -errno. */
int swapmap_reconcile(struct swapmap *m);
int swapmap_summary(struct swapmap *m);
/* swapmap_anon_known, swapmap_shmem_known - whether the slots that were found are all there are of
 * their kind: on the machine with --system, else of the processes that were named. */
bool swapmap_anon_known(const struct swapmap *m);
bool swapmap_shmem_known(const struct swapmap *m);
/* swapmap_shmem_partial - nobody has listed all shared memory: some of it may not be found. */
bool swapmap_shmem_partial(const struct swapmap *m);
/* swapmap_pages_if - a count, or null where it is not known. */
struct pgs_val swapmap_pages_if(bool known, uint64_t pages);

/* ---- swapmap_slot.c: --slot ----------------------------------------------------------------- */

/* swapmap_find_slot - fill m->slot, after swapmap_gather(). PGS_EXIT_OK, or the exit status after a
 * message. */
int swapmap_find_slot(struct swapmap *m);
/* swapmap_narrow - cut @run to the page in the slot; false: it does not reach there. */
bool swapmap_narrow(const struct swapmap *m, struct pgs_swap_run *run);
int swapmap_show_slot_object(struct swapmap *m);
int swapmap_slot_summary(struct swapmap *m);

/* ---- swapmap_map.c: --map ------------------------------------------------------------------- */

/* swapmap_draw - the picture, on stdout. 0 or -ENOMEM. */
int swapmap_draw(struct swapmap *m);
