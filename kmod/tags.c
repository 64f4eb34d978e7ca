// SPDX-License-Identifier: GPL-2.0-only
/*
 * TAGS: the marks by which writeback finds its pages in the page cache of a mapped file.
 */
#include <linux/backing-dev.h>
#include <linux/dax.h>
#include <linux/file.h>
#include <linux/kdev_t.h>
#include <linux/pagemap.h>
#include <linux/sched/mm.h>
#include <linux/shmem_fs.h>

#include "compat/xarray_compat.h"
#include "internal.h"

/* Go through so many pages of the mapping before walk_end is told. */
#define TAGS_CALL_PAGES (1UL << 24)

/* The part of a file that one mapping shows. */
struct tags_part {
	struct file *file;
	unsigned long start;
	unsigned long end;
	pgoff_t first;
	pgoff_t last;
};

/* The first file mapping that ends above `start`, with a reference to its file. */
static int find_part(struct mm_struct *mm, unsigned long start, unsigned long end,
		     struct tags_part *part)
{
	struct vm_area_struct *vma;
	int err = -ENOENT;

	if (mmap_read_lock_killable(mm))
		return -EINTR;
	for (vma = find_vma(mm, start); vma && vma->vm_start < end;
	     vma = find_vma(mm, vma->vm_end)) {
		if (!vma->vm_file)
			continue;
		part->file = get_file(vma->vm_file);
		part->start = max(start, vma->vm_start);
		part->end = min3(end, vma->vm_end, part->start + (TAGS_CALL_PAGES << PAGE_SHIFT));
		part->first = vma->vm_pgoff + ((part->start - vma->vm_start) >> PAGE_SHIFT);
		part->last = part->first + ((part->end - part->start) >> PAGE_SHIFT) - 1;
		err = 0;
		break;
	}
	mmap_read_unlock(mm);
	return err;
}

/* How many of the pages of the part this entry of the page cache covers. */
static unsigned long covered_pages(struct xa_state *xas, void *entry, const struct tags_part *part)
{
	unsigned long covers = 1UL << xas_get_order(xas);
	pgoff_t base = round_down(xas->xa_index, covers);

	return min(base + covers - 1, part->last) - max(base, part->first) + 1;
}

static void count_cached(struct address_space *mapping, const struct tags_part *part,
			 struct pgscan_tags *arg)
{
	XA_STATE(xas, &mapping->i_pages, part->first);
	unsigned int nr = 0;
	void *entry;

	rcu_read_lock();
	xas_for_each(&xas, entry, part->last) {
		if (xas_retry(&xas, entry))
			continue;
		if (xa_is_value(entry))
			arg->shadow_pages += covered_pages(&xas, entry, part);
		else
			arg->cached_pages += covered_pages(&xas, entry, part);
		if (++nr % XA_CHECK_SCHED)
			continue;
		xas_pause(&xas);
		rcu_read_unlock();
		if (fatal_signal_pending(current))
			return;
		cond_resched();
		rcu_read_lock();
	}
	rcu_read_unlock();
}

static u64 count_tagged(struct address_space *mapping, const struct tags_part *part, xa_mark_t tag)
{
	XA_STATE(xas, &mapping->i_pages, part->first);
	unsigned int nr = 0;
	u64 pages = 0;
	void *entry;

	if (!mapping_tagged(mapping, tag))
		return 0;

	rcu_read_lock();
	xas_for_each_marked(&xas, entry, part->last, tag) {
		if (xas_retry(&xas, entry))
			continue;
		if (!xa_is_value(entry))
			pages += covered_pages(&xas, entry, part);
		if (++nr % XA_CHECK_SCHED)
			continue;
		xas_pause(&xas);
		rcu_read_unlock();
		if (fatal_signal_pending(current))
			return pages;
		cond_resched();
		rcu_read_lock();
	}
	rcu_read_unlock();
	return pages;
}

static u32 mapping_flags(struct address_space *mapping)
{
	u32 flags = 0;

	if (!mapping_use_writeback_tags(mapping))
		flags |= PGSCAN_MAPPING_NO_TAGS;
	if (!mapping_can_writeback(mapping))
		flags |= PGSCAN_MAPPING_NO_WRITEBACK;
	if (shmem_mapping(mapping))
		flags |= PGSCAN_MAPPING_SHMEM;
	if (dax_mapping(mapping))
		flags |= PGSCAN_MAPPING_DAX;
	return flags;
}

static long report_part(const struct tags_part *part, struct pgscan_tags *arg)
{
	struct address_space *mapping = part->file->f_mapping;
	const struct inode *host = mapping->host;

	arg->start = part->start;
	arg->walk_end = part->end;
	arg->dev = huge_encode_dev(host->i_sb->s_dev);
	arg->ino = host->i_ino;
	arg->generation = host->i_generation;
	arg->mapping_flags = mapping_flags(mapping);
	arg->cached_pages = 0;
	arg->shadow_pages = 0;
	count_cached(mapping, part, arg);
	arg->dirty_pages = count_tagged(mapping, part, PAGECACHE_TAG_DIRTY);
	arg->writeback_pages = count_tagged(mapping, part, PAGECACHE_TAG_WRITEBACK);
	arg->towrite_pages = count_tagged(mapping, part, PAGECACHE_TAG_TOWRITE);
	return fatal_signal_pending(current) ? -EINTR : 0;
}

long pgscan_tags(union pgscan_arg *uarg)
{
	struct pgscan_tags *arg = &uarg->tags;
	struct tags_part part;
	struct mm_struct *mm;
	long ret;

	if (arg->reserved)
		return -EINVAL;
	ret = pgscan_check_range(arg->start, arg->end);
	if (ret)
		return ret;
	ret = pgscan_target_get(arg->pagemap_fd, &mm);
	if (ret)
		return ret;

	ret = find_part(mm, arg->start, arg->end, &part);
	mmput(mm);
	if (ret)
		return ret;
	ret = report_part(&part, arg);
	fput(part.file);
	return ret;
}
