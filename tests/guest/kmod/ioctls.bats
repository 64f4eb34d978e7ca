# SPDX-License-Identifier: GPL-2.0-only
# The module by its ioctls alone: each test is one of kmodtest's, in a guest with one swap disk.

load ../kmod

@test "INFO tells version and features" { kmodtest info; }
@test "argument sizes: older, newer, wrong" { kmodtest sizes; }
@test "unknown flags and reserved fields are EINVAL" { kmodtest flags; }
@test "unknown requests are ENOTTY, bad pointers EFAULT" { kmodtest numbers; }
@test "descriptors that are not the right kind are refused" { kmodtest descriptors; }
@test "ranges that are none are EINVAL" { kmodtest ranges; }
@test "vectors that cannot be written are EFAULT" { kmodtest vectors; }
@test "every request needs CAP_SYS_ADMIN, and pagemap opened with it" { kmodtest permissions; }
@test "exit and exec of the target are ESRCH" { kmodtest target-gone; }

@test "SHMEM: memfd, slots proven on the device" { kmodtest memfd; }
@test "SHMEM: shared anonymous memory" { kmodtest shared-anon; }
@test "SHMEM: System V segment" { kmodtest sysv; }
@test "SHMEM: tmpfs file" { kmodtest tmpfs; }
@test "SHMEM: private copies win over the object" { kmodtest private; }
@test "SHMEM: pages beyond the end are marked" { kmodtest beyond-eof; }
@test "SHMEM: runs end with their mapping" { kmodtest neighbours; }
@test "SHMEM, EXTENTS: runs of pages whose slots have gaps, or go backwards" { kmodtest gaps; }
@test "SHMEM, EXTENTS: neighbouring slots of two swap areas are two runs" {
	mkswap /dev/vdc >/dev/null
	defer swap_off /dev/vdc
	kmodtest -s /dev/vdc types
}

@test "SHMEM, EXTENTS: the marker of a failed swap-in is no slot" {
	swap_off /dev/vdb
	swap_bad
	cg_new poisoned
	(
		export CGROUP=$CG_ROOT/poisoned
		echo "$BASHPID" >"$CGROUP/cgroup.procs"
		kmod_program kmodtest -s /dev/vdd poisoned
	)
}

@test "SHMEM: 16 TiB with three pages in few records" { kmodtest sparse; }
@test "SHMEM: counting without a vector, and by state" { kmodtest counts-only; }

@test "SHMEM: what lies under markers of userfaultfd" { kmodtest markers; }

@test "SHMEM costs less than to read pagemap" {
	[[ ! -e /sys/kernel/debug/kmemleak ]] || skip "a debug kernel has costs of its own"
	kmodtest cost
}

# On zram: large folios go out whole only to devices that do not rotate, as virtio disks say they do.
@test "SHMEM and EXTENTS: huge pages of tmpfs, large swap entries" {
	swapoff /dev/vdb
	swap_zram 64M
	mkdir -p /mnt/huge
	mount -t tmpfs -o huge=always none /mnt/huge
	defer umount /mnt/huge
	kmod_program kmodtest -s "$swap_device" huge
}

@test "OBJECTS: memfd, SysV, closed and unlinked files are found unmapped" { kmodtest objects; }
@test "OBJECTS: each once, however small the vector" { kmodtest cursor; }
@test "OBJECTS: a long path keeps its end" { kmodtest long-name; }

@test "REPORTED agrees with buddyinfo" { kmodtest reported; }
@test "TAGS: dirty when written, clean when synced" { kmodtest tags; }
@test "TAGS: shared memory has none" { kmodtest tags-shmem; }
@test "TAGS: no file mapping is ENOENT" { kmodtest tags-none; }
