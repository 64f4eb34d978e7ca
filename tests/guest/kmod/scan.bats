# SPDX-License-Identifier: GPL-2.0-only
# SCAN: soft-dirty pages by range, read and cleared in one step.

load ../kmod

@test "SCAN: anonymous memory, exactly what was written" { kmodtest scan-anon; }
@test "SCAN: shared memory" { kmodtest scan-shared; }
@test "SCAN: private file mapping" { kmodtest scan-file; }
@test "SCAN: a part is cleared, nothing around it" { kmodtest scan-part; }
@test "SCAN: the mark survives swap and can be cleared there" { kmodtest scan-swapped; }
@test "SCAN: huge pages, whole and in part" { kmodtest scan-huge; }
@test "SCAN: small vectors and max_pages lose nothing" { kmodtest scan-limits; }
@test "SCAN: masks as PAGEMAP_SCAN has them" { kmodtest scan-masks; }
@test "SCAN: pinned pages are never clean" { kmodtest scan-pinned; }
@test "SCAN: another process needs CAP_SYS_PTRACE to be changed" { kmodtest scan-other; }

@test "SCAN: no clearing under an MMU notifier" {
	[[ -e /dev/kvm ]] || modprobe kvm-amd || skip "no KVM here"
	defer rmmod kvm-amd
	kmodtest scan-notifier
}

@test "SCAN: allow_clear=0 turns clearing off" {
	rmmod pgscan
	modprobe pgscan allow_clear=0
	defer modprobe pgscan
	defer rmmod pgscan
	kmodtest scan-forbidden
}
