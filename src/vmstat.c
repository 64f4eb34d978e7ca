// SPDX-License-Identifier: GPL-2.0-only
#include "vmstat.h"

#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "procfs.h"

/* Every name that a counter has had. Several names of one counter are its parts and are added up:
 * no kernel prints a whole and its parts. In strcmp() order. */
static const struct name {
	const char *name;
	enum pgs_vm_id id;
} names[] = {
	/* By zone since 4.8, when reclaim went from zones to nodes. */
	{"allocstall", PGS_VM_ALLOCSTALL},
	{"allocstall_device", PGS_VM_ALLOCSTALL},
	{"allocstall_dma", PGS_VM_ALLOCSTALL},
	{"allocstall_dma32", PGS_VM_ALLOCSTALL},
	{"allocstall_high", PGS_VM_ALLOCSTALL},
	{"allocstall_movable", PGS_VM_ALLOCSTALL},
	{"allocstall_normal", PGS_VM_ALLOCSTALL},
	{"nr_dirty", PGS_VM_DIRTY},
	{"nr_swapcached", PGS_VM_SWAP_CACHED},
	{"nr_writeback", PGS_VM_WRITEBACK},
	{"oom_kill", PGS_VM_OOM_KILL},
	{"pgmajfault", PGS_VM_MAJOR_FAULT},
	{"pgscan", PGS_VM_SCAN},
	{"pgscan_anon", PGS_VM_SCAN_ANON},
	{"pgscan_direct", PGS_VM_SCAN_DIRECT},
	/* By zone before 4.8. */
	{"pgscan_direct_dma", PGS_VM_SCAN_DIRECT},
	{"pgscan_direct_dma32", PGS_VM_SCAN_DIRECT},
	{"pgscan_direct_high", PGS_VM_SCAN_DIRECT},
	{"pgscan_direct_movable", PGS_VM_SCAN_DIRECT},
	{"pgscan_direct_normal", PGS_VM_SCAN_DIRECT},
	{"pgscan_direct_throttle", PGS_VM_DIRECT_THROTTLE},
	{"pgscan_file", PGS_VM_SCAN_FILE},
	{"pgscan_khugepaged", PGS_VM_SCAN_KHUGEPAGED},
	{"pgscan_kswapd", PGS_VM_SCAN_KSWAPD},
	{"pgscan_kswapd_dma", PGS_VM_SCAN_KSWAPD},
	{"pgscan_kswapd_dma32", PGS_VM_SCAN_KSWAPD},
	{"pgscan_kswapd_high", PGS_VM_SCAN_KSWAPD},
	{"pgscan_kswapd_movable", PGS_VM_SCAN_KSWAPD},
	{"pgscan_kswapd_normal", PGS_VM_SCAN_KSWAPD},
	{"pgscan_proactive", PGS_VM_SCAN_PROACTIVE},
	{"pgsteal", PGS_VM_STEAL},
	{"pgsteal_anon", PGS_VM_STEAL_ANON},
	{"pgsteal_direct", PGS_VM_STEAL_DIRECT},
	{"pgsteal_direct_dma", PGS_VM_STEAL_DIRECT},
	{"pgsteal_direct_dma32", PGS_VM_STEAL_DIRECT},
	{"pgsteal_direct_high", PGS_VM_STEAL_DIRECT},
	{"pgsteal_direct_movable", PGS_VM_STEAL_DIRECT},
	{"pgsteal_direct_normal", PGS_VM_STEAL_DIRECT},
	{"pgsteal_file", PGS_VM_STEAL_FILE},
	{"pgsteal_khugepaged", PGS_VM_STEAL_KHUGEPAGED},
	{"pgsteal_kswapd", PGS_VM_STEAL_KSWAPD},
	{"pgsteal_kswapd_dma", PGS_VM_STEAL_KSWAPD},
	{"pgsteal_kswapd_dma32", PGS_VM_STEAL_KSWAPD},
	{"pgsteal_kswapd_high", PGS_VM_STEAL_KSWAPD},
	{"pgsteal_kswapd_movable", PGS_VM_STEAL_KSWAPD},
	{"pgsteal_kswapd_normal", PGS_VM_STEAL_KSWAPD},
	{"pgsteal_proactive", PGS_VM_STEAL_PROACTIVE},
	{"pswpin", PGS_VM_SWAP_IN},
	{"pswpout", PGS_VM_SWAP_OUT},
	{"swpin_zero", PGS_VM_SWAP_IN_ZERO},
	{"swpout_zero", PGS_VM_SWAP_OUT_ZERO},
	{"thp_swpout", PGS_VM_THP_SWPOUT},
	{"thp_swpout_fallback", PGS_VM_THP_SWPOUT_SPLIT},
	{"workingset_activate", PGS_VM_ACTIVATE},
	{"workingset_activate_anon", PGS_VM_ACTIVATE_ANON},
	{"workingset_activate_file", PGS_VM_ACTIVATE_FILE},
	{"workingset_nodereclaim", PGS_VM_NODERECLAIM},
	{"workingset_nodes", PGS_VM_WORKINGSET_NODES},
	{"workingset_refault", PGS_VM_REFAULT},
	{"workingset_refault_anon", PGS_VM_REFAULT_ANON},
	{"workingset_refault_file", PGS_VM_REFAULT_FILE},
	{"workingset_restore", PGS_VM_RESTORE},
	{"workingset_restore_anon", PGS_VM_RESTORE_ANON},
	{"workingset_restore_file", PGS_VM_RESTORE_FILE},
	{"zswpin", PGS_VM_ZSWAP_IN},
	{"zswpout", PGS_VM_ZSWAP_OUT},
	{"zswpwb", PGS_VM_ZSWAP_WRITEBACK},
};

#define NR_NAMES     (sizeof(names) / sizeof(names[0]))
#define LONGEST_NAME 32

static int compare_names(const void *key, const void *element)
{
	return strcmp(key, ((const struct name *)element)->name);
}

static const struct name *find_name(const char *text, size_t len)
{
	char key[LONGEST_NAME];

	if (len >= sizeof(key))
		return NULL;
	*(char *)mempcpy(key, text, len) = '\0';
	return bsearch(key, names, NR_NAMES, sizeof(names[0]), compare_names);
}

/*
 * "name 123": the number is unsigned but for lines that a race made negative, which are skipped.
 *
 * "mm: move pgscan, pgsteal, pgrefill to node stats" (7.1) made the actors' counters count reclaim
 * for cgroups too, which they had left out. All that shows of it is where they stand: before the
 * events, of which pgpgin has always been the first.
 */
static void take_line(const char *line, bool after_events, struct pgs_vmstat *ret)
{
	size_t len = strcspn(line, " \n");
	const struct name *name = find_name(line, len);
	struct pgs_count *count;
	char *end;
	uint64_t n;

	if (!name || line[len] != ' ' || line[len + 1] < '0' || line[len + 1] > '9')
		return;
	ret->actors_have_cgroups |= name->id == PGS_VM_SCAN_KSWAPD && !after_events;
	n = strtoull(line + len + 1, &end, 10);
	if (*end != '\n' && *end)
		return;
	count = &ret->count[name->id];
	*count = (struct pgs_count){.set = true, .n = count->n + n};
}

void pgs_vmstat_parse(const char *text, const char *prefix, struct pgs_vmstat *ret)
{
	size_t len = strlen(prefix);
	bool after_events = false;

	*ret = (struct pgs_vmstat){0};
	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		after_events |= !strncmp(line, "pgpgin ", strlen("pgpgin "));
		if (!strncmp(line, prefix, len))
			take_line(line + len, after_events, ret);
	}
}

int pgs_vmstat_read(struct pgs_ctx *ctx, struct pgs_vmstat *ret)
{
	_cleanup_free_ char *text = NULL;
	ssize_t len = pgs_read_file(ctx, 0, &text, "proc/vmstat");

	if (len < 0)
		return (int)len;
	pgs_vmstat_parse(text, "", ret);
	return 0;
}

#define NONE(name, version)  "no " name " in /proc/vmstat (Linux " version ")"
#define CONFIG(name, option) "no " name " in /proc/vmstat (" option ")"

/* By the commits that brought them; some distributions have them earlier. */
static const char *const reasons[PGS_NR_VM] = {
	[PGS_VM_SWAP_OUT] = CONFIG("pswpout", "CONFIG_SWAP"),
	[PGS_VM_SWAP_IN] = CONFIG("pswpin", "CONFIG_SWAP"),
	[PGS_VM_SWAP_OUT_ZERO] = NONE("swpout_zero", "6.12"),
	[PGS_VM_SWAP_IN_ZERO] = NONE("swpin_zero", "6.12"),
	[PGS_VM_SCAN_KSWAPD] = CONFIG("pgscan_kswapd", "CONFIG_VM_EVENT_COUNTERS"),
	[PGS_VM_SCAN_DIRECT] = CONFIG("pgscan_direct", "CONFIG_VM_EVENT_COUNTERS"),
	[PGS_VM_SCAN_KHUGEPAGED] = NONE("pgscan_khugepaged", "6.2") "; counted as direct",
	[PGS_VM_SCAN_PROACTIVE] = NONE("pgscan_proactive", "6.15") "; counted as direct",
	[PGS_VM_STEAL_KSWAPD] = CONFIG("pgsteal_kswapd", "CONFIG_VM_EVENT_COUNTERS"),
	[PGS_VM_STEAL_DIRECT] = CONFIG("pgsteal_direct", "CONFIG_VM_EVENT_COUNTERS"),
	[PGS_VM_STEAL_KHUGEPAGED] = NONE("pgsteal_khugepaged", "6.2") "; counted as direct",
	[PGS_VM_STEAL_PROACTIVE] = NONE("pgsteal_proactive", "6.15") "; counted as direct",
	[PGS_VM_SCAN_ANON] = NONE("pgscan_anon", "5.8"),
	[PGS_VM_SCAN_FILE] = NONE("pgscan_file", "5.8"),
	[PGS_VM_STEAL_ANON] = NONE("pgsteal_anon", "5.8"),
	[PGS_VM_STEAL_FILE] = NONE("pgsteal_file", "5.8"),
	[PGS_VM_SCAN] = "/proc/vmstat has no sum of all actors",
	[PGS_VM_STEAL] = "/proc/vmstat has no sum of all actors",
	[PGS_VM_ALLOCSTALL] = CONFIG("allocstall", "CONFIG_VM_EVENT_COUNTERS"),
	[PGS_VM_DIRECT_THROTTLE] = NONE("pgscan_direct_throttle", "3.6"),
	[PGS_VM_REFAULT] = NONE("workingset_refault", "3.15 to 5.8"),
	[PGS_VM_REFAULT_ANON] = NONE("workingset_refault_anon", "5.9"),
	[PGS_VM_REFAULT_FILE] = NONE("workingset_refault_file", "5.9"),
	[PGS_VM_ACTIVATE] = NONE("workingset_activate", "3.15 to 5.8"),
	[PGS_VM_ACTIVATE_ANON] = NONE("workingset_activate_anon", "5.9"),
	[PGS_VM_ACTIVATE_FILE] = NONE("workingset_activate_file", "5.9"),
	[PGS_VM_RESTORE] = NONE("workingset_restore", "4.20 to 5.8"),
	[PGS_VM_RESTORE_ANON] = NONE("workingset_restore_anon", "5.9"),
	[PGS_VM_RESTORE_FILE] = NONE("workingset_restore_file", "5.9"),
	[PGS_VM_NODERECLAIM] = NONE("workingset_nodereclaim", "3.15"),
	[PGS_VM_THP_SWPOUT] = NONE("thp_swpout", "4.14, CONFIG_TRANSPARENT_HUGEPAGE"),
	[PGS_VM_THP_SWPOUT_SPLIT] =
		NONE("thp_swpout_fallback", "4.14, CONFIG_TRANSPARENT_HUGEPAGE"),
	[PGS_VM_ZSWAP_IN] = NONE("zswpin", "5.19, CONFIG_ZSWAP"),
	[PGS_VM_ZSWAP_OUT] = NONE("zswpout", "5.19, CONFIG_ZSWAP"),
	[PGS_VM_ZSWAP_WRITEBACK] = NONE("zswpwb", "6.8, CONFIG_ZSWAP"),
	[PGS_VM_MAJOR_FAULT] = CONFIG("pgmajfault", "CONFIG_VM_EVENT_COUNTERS"),
	[PGS_VM_OOM_KILL] = NONE("oom_kill", "4.13"),
	[PGS_VM_WORKINGSET_NODES] = NONE("workingset_nodes", "4.20"),
	[PGS_VM_DIRTY] = CONFIG("nr_dirty", "4.8 and later all have it"),
	[PGS_VM_WRITEBACK] = CONFIG("nr_writeback", "4.8 and later all have it"),
	[PGS_VM_SWAP_CACHED] = NONE("nr_swapcached", "5.12, CONFIG_SWAP"),
};

const char *pgs_vm_reason(enum pgs_vm_id id)
{
	return reasons[id];
}
