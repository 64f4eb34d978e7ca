// SPDX-License-Identifier: GPL-2.0-only
/*
 * churn DIR: change shared memory in every way there is, until standard input ends: one process
 * makes memfds, writes them, pages them out, touches them and punches holes; another mounts a tmpfs
 * on DIR, makes files there, pages them out, and unlinks them and unmounts it. Prints how often
 * each has done so: "memory N files N".
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGES	   2048
#define ROUNDS	   16 /* of one memfd */
#define FILES	   200
#define FILE_PAGES 8

static volatile unsigned long *done; /* shared: of each process */
static volatile sig_atomic_t stop;

static __attribute__((noreturn)) void die(const char *what)
{
	fprintf(stderr, "churn: %s: %s\n", what, strerror(errno));
	exit(1);
}

static char *map(int fd, size_t size)
{
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		die("mmap");
	return p;
}

static void write_pages(char *p, size_t pages, size_t page_size, unsigned int round)
{
	for (size_t i = 0; i < pages; i++)
		memset(p + i * page_size, (int)(round + i) | 1, 64);
}

/* Every third page is read back, and of every seventh the memory is given up. */
static void touch_and_punch(char *p, size_t page_size)
{
	for (size_t i = 0; i < PAGES; i += 3)
		(void)((volatile char *)p)[i * page_size];
	for (size_t i = 0; i < PAGES; i += 7)
		if (madvise(p + i * page_size, page_size, MADV_REMOVE))
			die("MADV_REMOVE");
}

static void churn_memory(size_t page_size)
{
	size_t size = PAGES * page_size;

	while (!stop) {
		int fd = memfd_create("churn", MFD_CLOEXEC);
		char *p;

		if (fd < 0 || ftruncate(fd, (off_t)size))
			die("memfd");
		p = map(fd, size);
		for (unsigned int i = 0; i < ROUNDS && !stop; i++) {
			write_pages(p, PAGES, page_size, i);
			madvise(p, size, MADV_PAGEOUT);
			touch_and_punch(p, page_size);
			done[0]++;
		}
		munmap(p, size);
		close(fd);
	}
}

static void make_file(const char *dir, unsigned int i, size_t page_size)
{
	size_t size = FILE_PAGES * page_size;
	char path[4096], *p;
	int fd;

	snprintf(path, sizeof(path), "%s/%u", dir, i);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)size))
		die(path);
	p = map(fd, size);
	write_pages(p, FILE_PAGES, page_size, i);
	madvise(p, size, MADV_PAGEOUT);
	munmap(p, size);
	close(fd);
	if (i % 2)
		unlink(path); /* the others go with the file system */
}

static void churn_files(const char *dir, size_t page_size)
{
	while (!stop) {
		if (mount("none", dir, "tmpfs", 0, NULL))
			die("mount");
		for (unsigned int i = 0; i < FILES && !stop; i++)
			make_file(dir, i, page_size);
		if (umount(dir))
			die("umount");
		done[1]++;
	}
}

static void end(int sig)
{
	(void)sig;
	stop = 1;
}

static pid_t start(void (*files)(const char *, size_t), const char *dir, size_t page_size)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		die("fork");
	if (pid)
		return pid;
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) || getppid() != parent)
		_exit(1);
	close(0);
	if (files)
		files(dir, page_size);
	else
		churn_memory(page_size);
	_exit(0);
}

static int reap(pid_t pid)
{
	int status;

	kill(pid, SIGTERM);
	return waitpid(pid, &status, 0) != pid || status;
}

int main(int argc, char **argv)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	struct sigaction action = {.sa_handler = end};
	pid_t memory, files;
	int failed;
	char c;

	if (argc != 2)
		return 2;
	done = mmap(NULL, page_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (done == MAP_FAILED || sigaction(SIGTERM, &action, NULL))
		die("start");
	memory = start(NULL, NULL, page_size);
	files = start(churn_files, argv[1], page_size);
	while (read(0, &c, 1) > 0)
		;
	failed = reap(memory) | reap(files);
	printf("memory %lu files %lu\n", done[0], done[1]);
	return failed;
}
