// SPDX-License-Identifier: GPL-2.0-only
/*
 * held - memory that others have a hold of: pages=N (16) written pages, region "held".
 *   pin=N  the first N of them are pinned for DMA, as a fixed buffer of an io_uring
 *   kvm=1  a virtual machine without memory, whose MMU notifier watches all of the process
 * Command "release": the pins go, in the kernel's own time.
 */
#include "target.h"

#include <linux/io_uring.h>
#include <linux/kvm.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>

static int ring = -1;

static void pin(struct target *t, size_t pages)
{
	struct iovec iov = {t->regions[0].addr, pages * t->page_size};
	struct io_uring_params params = {0};

	ring = (int)syscall(SYS_io_uring_setup, 1, &params);
	if (ring < 0 || syscall(SYS_io_uring_register, ring, IORING_REGISTER_BUFFERS, &iov, 1))
		target_die("io_uring");
}

static void watch(void)
{
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);

	if (kvm < 0 || ioctl(kvm, KVM_CREATE_VM, 0) < 0)
		target_die("/dev/kvm");
}

static int release(struct target *t, int argc, char **argv)
{
	(void)t;
	(void)argc;
	(void)argv;
	return close(ring) ? -1 : 0;
}

int main(int argc, char **argv)
{
	static const char *const keys[] = {"pages", "pin", "kvm", NULL};
	static const struct target_cmd cmds[] = {{"release", release}, {NULL, NULL}};
	size_t pinned;
	struct target t;

	(void)argc;
	target_init(&t, argv, keys);
	pinned = target_number(target_word(argv, "pin", "0"));
	target_dense(&t, "held", target_number(target_word(argv, "pages", "16")));
	if (pinned)
		pin(&t, pinned);
	if (target_number(target_word(argv, "kvm", "0")))
		watch();
	return target_serve(&t, cmds);
}
