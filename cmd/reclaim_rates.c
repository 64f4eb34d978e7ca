// SPDX-License-Identifier: GPL-2.0-only
/* reclaim_rates: the sections rates and psi, and the same figures of a cgroup. */
#include "reclaim.h"

#include <errno.h>

static const char *const actors[PGS_VM_ACTORS] = {"kswapd", "direct", "khugepaged", "proactive"};

#define COUNT(vm, id) ((vm)->count[id])

/* Counters that stand for themselves. @kind: anon or file. */
static const struct {
	const char *name, *unit, *kind;
	enum pgs_vm_id id;
} counters[] = {
	{"swap_out", "pages", NULL, PGS_VM_SWAP_OUT},
	{"swap_in", "pages", NULL, PGS_VM_SWAP_IN},
	{"swap_out_zero", "pages", NULL, PGS_VM_SWAP_OUT_ZERO},
	{"swap_in_zero", "pages", NULL, PGS_VM_SWAP_IN_ZERO},
	{"stalls", "events", NULL, PGS_VM_ALLOCSTALL},
	{"throttled", "events", NULL, PGS_VM_DIRECT_THROTTLE},
	{"refaulted", "pages", "anon", PGS_VM_REFAULT_ANON},
	{"refaulted", "pages", "file", PGS_VM_REFAULT_FILE},
	{"activated", "pages", "anon", PGS_VM_ACTIVATE_ANON},
	{"activated", "pages", "file", PGS_VM_ACTIVATE_FILE},
	{"restored", "pages", "anon", PGS_VM_RESTORE_ANON},
	{"restored", "pages", "file", PGS_VM_RESTORE_FILE},
	{"thp_swap_out", "huge_pages", NULL, PGS_VM_THP_SWPOUT},
	{"thp_swap_out_split", "huge_pages", NULL, PGS_VM_THP_SWPOUT_SPLIT},
	{"zswap_in", "pages", NULL, PGS_VM_ZSWAP_IN},
	{"zswap_out", "pages", NULL, PGS_VM_ZSWAP_OUT},
	{"zswap_writeback", "pages", NULL, PGS_VM_ZSWAP_WRITEBACK},
	{"major_faults", "events", NULL, PGS_VM_MAJOR_FAULT},
	{"oom_kills", "events", NULL, PGS_VM_OOM_KILL},
};

#define NR_COUNTERS (sizeof(counters) / sizeof(counters[0]))

/* The whole and its parts: kernels have either. */
static const struct {
	const char *name;
	enum pgs_vm_id whole, anon, file;
} splits[] = {
	{"refaulted", PGS_VM_REFAULT, PGS_VM_REFAULT_ANON, PGS_VM_REFAULT_FILE},
	{"activated", PGS_VM_ACTIVATE, PGS_VM_ACTIVATE_ANON, PGS_VM_ACTIVATE_FILE},
	{"restored", PGS_VM_RESTORE, PGS_VM_RESTORE_ANON, PGS_VM_RESTORE_FILE},
};

static struct pgs_count add(struct pgs_count a, struct pgs_count b)
{
	if (!a.set || !b.set)
		return (struct pgs_count){0};
	return (struct pgs_count){.set = true, .n = a.n + b.n};
}

/* Of @id, in the words of the file it is missing from. */
static const char *why_missing(const char *cgroup, enum pgs_vm_id id)
{
	return cgroup ? "this kernel does not count it by cgroup" : pgs_vm_reason(id);
}

static struct pgs_count whole_of(const struct pgs_vmstat *vm, size_t split)
{
	if (COUNT(vm, splits[split].whole).set)
		return COUNT(vm, splits[split].whole);
	return add(COUNT(vm, splits[split].anon), COUNT(vm, splits[split].file));
}

/* Of the four actors. Those that a kernel lacks are counted as direct reclaim there. A cgroup of
 * v2 may have the sum alone, before 6.0. */
static struct pgs_count actors_of(const struct pgs_vmstat *vm, enum pgs_vm_id first,
				  enum pgs_vm_id sum_id)
{
	struct pgs_count sum = {0};

	if (COUNT(vm, sum_id).set)
		return COUNT(vm, sum_id);
	if (!COUNT(vm, first).set || !COUNT(vm, first + 1).set)
		return sum;
	sum.set = true;
	for (unsigned int i = 0; i < PGS_VM_ACTORS; i++)
		sum.n += COUNT(vm, first + i).n; /* 0 where it is not set */
	return sum;
}

struct pgs_count reclaim_scanned(const struct pgs_vmstat *vm)
{
	return actors_of(vm, PGS_VM_SCAN_KSWAPD, PGS_VM_SCAN);
}

/*
 * Before 7.1, reclaim for the limit of a cgroup, or for its memory.reclaim, is in pgscan_anon and
 * pgscan_file and not in those of the actors (mm/vmscan.c, cgroup_reclaim()): the difference is
 * what cgroups did. The counters are of each CPU and read one after the other, so a difference may
 * come out below zero by as much as was counted meanwhile: that is none.
 */
static struct pgs_count cgroups_of(const struct pgs_vmstat *vm, enum pgs_vm_id anon,
				   enum pgs_vm_id first, enum pgs_vm_id sum_id)
{
	struct pgs_count all = add(COUNT(vm, anon), COUNT(vm, anon + 1));
	struct pgs_count by_actors = actors_of(vm, first, sum_id);

	if (!all.set || !by_actors.set || vm->actors_have_cgroups)
		return (struct pgs_count){0};
	all.n = all.n > by_actors.n ? all.n - by_actors.n : 0;
	return all;
}

struct pair {
	struct pgs_count before, now;
};

/* One line of a table: who scanned, who reclaimed, and how well. */
static void report_scan(struct report *rep, enum section section, struct labels labels,
			struct pair scanned, struct pair reclaimed, const char *reason)
{
	report_counter(rep, section, "scanned", "pages", labels, scanned.before, scanned.now,
		       reason);
	report_counter(rep, section, "reclaimed", "pages", labels, reclaimed.before, reclaimed.now,
		       reason);
	reason = why_no_delta(rep, scanned.before, scanned.now, reason)
			 ?: why_no_delta(rep, reclaimed.before, reclaimed.now, reason);
	if (rep->interval_s > 0)
		report_efficiency(rep, section, labels, count_delta(scanned.before, scanned.now),
				  count_delta(reclaimed.before, reclaimed.now), reason);
	else
		report_efficiency(rep, section, labels, scanned.now, reclaimed.now, reason);
}

static void report_actors(struct report *rep, enum section section, const char *cgroup,
			  const struct pgs_vmstat *before, const struct pgs_vmstat *now)
{
	const enum pgs_vm_id scan = PGS_VM_SCAN_KSWAPD, steal = PGS_VM_STEAL_KSWAPD;
	struct labels labels = {.cgroup = cgroup};

	report_scan(rep, section, labels,
		    (struct pair){actors_of(before, scan, PGS_VM_SCAN),
				  actors_of(now, scan, PGS_VM_SCAN)},
		    (struct pair){actors_of(before, steal, PGS_VM_STEAL),
				  actors_of(now, steal, PGS_VM_STEAL)},
		    why_missing(cgroup, scan));
	for (unsigned int i = 0; i < PGS_VM_ACTORS; i++) {
		labels.actor = actors[i];
		report_scan(rep, section, labels,
			    (struct pair){COUNT(before, scan + i), COUNT(now, scan + i)},
			    (struct pair){COUNT(before, steal + i), COUNT(now, steal + i)},
			    why_missing(cgroup, scan + i));
	}
}

/* Of the machine alone: memory.stat has neither. */
static void report_kinds(struct report *rep, const struct pgs_vmstat *before,
			 const struct pgs_vmstat *now)
{
	static const char *const kinds[] = {"anon", "file"};
	const enum pgs_vm_id scan = PGS_VM_SCAN_ANON, steal = PGS_VM_STEAL_ANON;

	report_scan(rep, SECTION_RATES, (struct labels){.actor = "cgroup"},
		    (struct pair){cgroups_of(before, scan, PGS_VM_SCAN_KSWAPD, PGS_VM_SCAN),
				  cgroups_of(now, scan, PGS_VM_SCAN_KSWAPD, PGS_VM_SCAN)},
		    (struct pair){cgroups_of(before, steal, PGS_VM_STEAL_KSWAPD, PGS_VM_STEAL),
				  cgroups_of(now, steal, PGS_VM_STEAL_KSWAPD, PGS_VM_STEAL)},
		    now->actors_have_cgroups
			    ? "counted with the actors (Linux 7.1), as direct mostly"
			    : pgs_vm_reason(scan));
	for (unsigned int i = 0; i < 2; i++)
		report_scan(rep, SECTION_RATES, (struct labels){.kind = kinds[i]},
			    (struct pair){COUNT(before, scan + i), COUNT(now, scan + i)},
			    (struct pair){COUNT(before, steal + i), COUNT(now, steal + i)},
			    pgs_vm_reason(scan + i));
}

void report_vm(struct report *rep, enum section section, const char *cgroup,
	       const struct pgs_vmstat *before, const struct pgs_vmstat *now)
{
	struct labels labels = {.cgroup = cgroup};

	report_actors(rep, section, cgroup, before, now);
	for (size_t i = 0; i < NR_COUNTERS; i++) {
		const enum pgs_vm_id id = counters[i].id;

		labels.kind = counters[i].kind;
		report_counter(rep, section, counters[i].name, counters[i].unit, labels,
			       COUNT(before, id), COUNT(now, id), why_missing(cgroup, id));
	}
	labels.kind = NULL;
	for (size_t i = 0; i < sizeof(splits) / sizeof(splits[0]); i++)
		report_counter(rep, section, splits[i].name, "pages", labels, whole_of(before, i),
			       whole_of(now, i), why_missing(cgroup, splits[i].whole));
}

void report_rates(struct report *rep, const struct reading *before, const struct reading *now)
{
	if (now->vm_err) {
		report_add(rep, SECTION_RATES, "scanned", "pages", (struct labels){0})->reason =
			"/proc/vmstat cannot be read";
		return;
	}
	report_kinds(rep, &before->vm, &now->vm);
	report_vm(rep, SECTION_RATES, NULL, &before->vm, &now->vm);
	report_state(rep, SECTION_RATES, "workingset_nodes", "nodes", (struct labels){0},
		     COUNT(&before->vm, PGS_VM_WORKINGSET_NODES),
		     COUNT(&now->vm, PGS_VM_WORKINGSET_NODES),
		     pgs_vm_reason(PGS_VM_WORKINGSET_NODES));
}

/* ---- pressure -------------------------------------------------------------------------------- */

static const char *why_no_pressure(const char *cgroup, int err)
{
	if (err == -EOPNOTSUPP)
		return "pressure stall information is switched off";
	if (err == -ENOENT && cgroup)
		return "no memory.pressure: cgroup v1, or a kernel without CONFIG_PSI";
	if (err == -ENOENT)
		return "no /proc/pressure (Linux 4.20, CONFIG_PSI)";
	return "the pressure file cannot be read";
}

static struct pgs_count total_of(const struct pgs_psi_line *line)
{
	return (struct pgs_count){.set = line->set, .n = line->total_us};
}

/* The total, with the share of the interval that was stalled, and the kernel's own averages. */
static void report_line(struct report *rep, enum section section, struct labels labels,
			const char *const names[4], const struct pgs_psi_line *before,
			const struct pgs_psi_line *now, const char *reason)
{
	const double averages[] = {now->avg10, now->avg60, now->avg300};
	struct metric *m;

	report_counter(rep, section, names[0], "us", labels, total_of(before), total_of(now),
		       reason);
	m = &rep->metrics[rep->nr - 1];
	if (m->rate.set)
		m->percent = (struct figure){true, m->rate.d / 1e4}; /* us a second */
	for (int i = 0; i < 3; i++)
		report_percent(rep, section, names[i + 1], labels,
			       (struct figure){now->set, averages[i]}, reason);
}

void report_pressure(struct report *rep, enum section section, const char *cgroup,
		     const struct pgs_psi *before, const struct pgs_psi *now, int err)
{
	static const char *const some[] = {"stalled_some", "some_avg10", "some_avg60",
					   "some_avg300"};
	static const char *const full[] = {"stalled_full", "full_avg10", "full_avg60",
					   "full_avg300"};
	const struct labels labels = {.cgroup = cgroup};
	const char *reason = why_no_pressure(cgroup, err);

	report_line(rep, section, labels, some, &before->some, &now->some, reason);
	report_line(rep, section, labels, full, &before->full, &now->full, reason);
}

void report_psi(struct report *rep, const struct reading *before, const struct reading *now)
{
	report_pressure(rep, SECTION_PSI, NULL, &before->psi, &now->psi, now->psi_err);
}
