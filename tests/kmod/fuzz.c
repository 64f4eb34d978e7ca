// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmodfuzz COUNT SEED [SWAP-DEVICE]: COUNT random requests, while their targets map, unmap, fork,
 * exit and are killed, signals arrive, descriptors are closed, and the swap area comes and goes.
 * Results go over the argument itself, and some arguments change while the kernel reads them.
 *
 * It looks for what the kernel says on its console; by itself it only checks that each request
 * ends with one of the errors that the interface has, and that each kind of request was answered
 * now and then, for otherwise the arguments would be too random to test anything.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/swap.h>
#include <sys/wait.h>
#include <time.h>

#include "kmodtest.h"

#define TARGETS	     3
#define CALLERS	     4
#define WINDOW	     ((char *)0x200000000000) /* where targets keep their memory */
#define WINDOW_PAGES 8192UL
#define REQUESTS     7

int dev_fd, self_fd;
static int zero_fd;

static atomic_long requests_left;
static atomic_bool quit;
static atomic_int target_fds[TARGETS];
/* Of the device and of a shmem object, until a caller puts another in its place. */
static atomic_int passing_fd = -1, object_fd = -1;
static atomic_ulong foreign_answers; /* of what passing_fd was by then */
/* By request and errno; the last row is for requests that there are not. */
static atomic_ulong answers[REQUESTS + 1][256];
static unsigned long seed;
/*
 * A caller's argument, and what its vectors point to: 64 pages, of which the last 32 are not there.
 * Not shared: an address among the results must never be taken for a vector.
 */
static _Thread_local char *scratch;

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static bool one_in(uint64_t *rnd, unsigned int n)
{
	return random_next(rnd) % n == 0;
}

/* ---- targets ---- */

static char *random_place(uint64_t *rnd, size_t *ret_pages)
{
	*ret_pages = 1 + random_next(rnd) % (one_in(rnd, 8) ? 2048 : 64);
	return WINDOW + random_next(rnd) % (WINDOW_PAGES - *ret_pages) * PAGE;
}

static void map_something(uint64_t *rnd)
{
	size_t pages;
	char *addr = random_place(rnd, &pages);
	int prot = PROT_READ | PROT_WRITE, fd = -1, flags = MAP_FIXED;

	switch (random_next(rnd) % 4) {
	case 0:
		flags |= MAP_PRIVATE | MAP_ANONYMOUS;
		break;
	case 1:
		flags |= MAP_SHARED | MAP_ANONYMOUS;
		break;
	case 2:
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		flags |= one_in(rnd, 2) ? MAP_SHARED : MAP_PRIVATE;
		break;
	default:
		fd = open("/dev/shm", O_TMPFILE | O_RDWR, 0600);
		flags |= one_in(rnd, 2) ? MAP_SHARED : MAP_PRIVATE;
		break;
	}
	/* Sometimes the mapping is longer than the object. Nothing is touched there. */
	if (fd >= 0 && ftruncate(fd, pages * PAGE))
		return;
	if (mmap(addr, pages * PAGE, prot, flags, fd, 0) == MAP_FAILED)
		return;
	if (one_in(rnd, 3))
		madvise(addr, pages * PAGE, MADV_HUGEPAGE);
	/* By the kernel, which says EFAULT where the other thread has taken it away. */
	for (size_t i = 0; i < pages; i += 1 + random_next(rnd) % 3) {
		if (read(zero_fd, addr + i * PAGE, 1) < 0)
			break;
	}
	if (fd >= 0 && one_in(rnd, 4) && ftruncate(fd, pages / 2 * PAGE))
		return;
	if (fd >= 0 && one_in(rnd, 4))
		fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, pages / 2 * PAGE);
	if (fd >= 0)
		close(fd);
}

static void change_something(uint64_t *rnd)
{
	static const int advice[] = {MADV_PAGEOUT,
				     MADV_PAGEOUT,
				     MADV_DONTNEED,
				     MADV_WILLNEED,
				     MADV_FREE,
				     MADV_COLD,
				     25 /* MADV_COLLAPSE */};
	size_t pages;
	char *addr = random_place(rnd, &pages);

	switch (random_next(rnd) % 6) {
	case 0:
		munmap(addr, pages * PAGE);
		break;
	case 1:
		mprotect(addr, pages * PAGE, one_in(rnd, 2) ? PROT_READ : PROT_READ | PROT_WRITE);
		break;
	case 2:
		mremap(addr, pages * PAGE, pages * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
		       WINDOW + random_next(rnd) % (WINDOW_PAGES - pages) * PAGE);
		break;
	default:
		madvise(addr, pages * PAGE, advice[random_next(rnd) % ARRAY_SIZE(advice)]);
		break;
	}
}

static void *churn(void *arg)
{
	uint64_t rnd = seed * 7919 + (uintptr_t)arg;

	for (;;) {
		if (one_in(&rnd, 3))
			map_something(&rnd);
		else
			change_something(&rnd);
		if (one_in(&rnd, 200)) {
			pid_t pid = fork();

			if (!pid) {
				change_something(&rnd);
				_exit(0);
			}
			waitpid(pid, NULL, 0);
		}
	}
	return NULL;
}

/* A process that changes its memory until it is killed. */
static pid_t start_target(unsigned int nr)
{
	pid_t parent = getpid(), pid = fork();
	pthread_t thread;

	if (pid)
		return pid;
	signal(SIGALRM, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	pthread_create(&thread, NULL, churn, (void *)(uintptr_t)(nr * 1000 + 1));
	churn((void *)(uintptr_t)(nr * 1000 + 2));
	_exit(0);
}

static void *keep_targets(void *unused)
{
	uint64_t rnd = seed + 1;
	pid_t pids[TARGETS] = {};
	char path[64];
	unsigned int i;

	(void)unused;
	while (!quit) {
		for (i = 0; i < TARGETS; i++) {
			if (pids[i] && waitpid(pids[i], NULL, WNOHANG) == 0 && !one_in(&rnd, 60))
				continue;
			if (pids[i]) {
				kill(pids[i], SIGKILL);
				waitpid(pids[i], NULL, 0);
			}
			pids[i] = start_target(random_next(&rnd) % 1000);
			snprintf(path, sizeof(path), "/proc/%d/pagemap", pids[i]);
			close(atomic_exchange(&target_fds[i], open(path, O_RDONLY | O_CLOEXEC)));
		}
		usleep(20000);
	}
	for (i = 0; i < TARGETS; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	return NULL;
}

/* ---- swap ---- */

static void *swap_on_off(void *device)
{
	while (!quit) {
		swapon(device, 0);
		usleep(300000);
		swapoff(device);
	}
	swapoff(device);
	return NULL;
}

/* ---- requests ---- */

static int random_fd(uint64_t *rnd)
{
	switch (random_next(rnd) % 12) {
	case 0:
		return self_fd;
	case 1:
		return dev_fd;
	case 2:
		return -1;
	case 3:
		return (int)random_next(rnd);
	default:
		return target_fds[random_next(rnd) % TARGETS];
	}
}

static uint64_t random_vec(uint64_t *rnd)
{
	switch (random_next(rnd) % 12) {
	case 0:
		return random_next(rnd);
	case 1:
		return (uintptr_t)scratch + 32 * PAGE - random_next(rnd) % 256;
	case 2:
		return 0;
	default:
		return (uintptr_t)scratch + random_next(rnd) % 8 * 8;
	}
}

static uint64_t random_len(uint64_t *rnd)
{
	switch (random_next(rnd) % 8) {
	case 0:
		return 0;
	case 1:
		return random_next(rnd);
	default:
		return 1 + random_next(rnd) % 512;
	}
}

static void random_range(uint64_t *rnd, __u64 *start, __u64 *end)
{
	uint64_t page = random_next(rnd) % WINDOW_PAGES;

	*start = (uintptr_t)WINDOW + page * PAGE;
	*end = *start + (1 + random_next(rnd) % (WINDOW_PAGES - page)) * PAGE;
	switch (random_next(rnd) % 16) {
	case 0:
		*start = random_next(rnd);
		break;
	case 1:
		*end = random_next(rnd);
		break;
	case 2:
		*start = 0;
		*end = 0x7ffffffff000;
		break;
	}
}

static uint64_t few_bits(uint64_t *rnd, unsigned int bits)
{
	uint64_t mask = random_next(rnd) & random_next(rnd) & ((1ULL << bits) - 1);

	return one_in(rnd, 16) ? random_next(rnd) : mask;
}

/* The others write their arguments over it. */
static union any shared_arg;

static const size_t sizes[] = {
	sizeof(struct pgscan_info),    sizeof(struct pgscan_shmem), sizeof(struct pgscan_extents),
	sizeof(struct pgscan_objects), sizeof(struct pgscan_scan),  sizeof(struct pgscan_reported),
	sizeof(struct pgscan_tags),
};

static void random_scan(uint64_t *rnd, struct pgscan_scan *arg)
{
	/* Categories have holes: most masks are made of known ones. */
	const uint64_t known = 0x7000000dcULL;

	arg->pagemap_fd = random_fd(rnd);
	random_range(rnd, &arg->start, &arg->end);
	arg->vec = random_vec(rnd);
	arg->vec_len = random_len(rnd);
	arg->max_pages = one_in(rnd, 4) ? random_next(rnd) % 1000 : 0;
	arg->category_inverted = one_in(rnd, 4) ? few_bits(rnd, 36) & known : 0;
	arg->category_mask = few_bits(rnd, 36) & known;
	arg->category_anyof_mask = one_in(rnd, 4) ? few_bits(rnd, 36) & known : 0;
	arg->return_mask = one_in(rnd, 50) ? random_next(rnd) : known;
	arg->flags = (uint32_t[]){0, 0, 1, 1, 1, 3, 3, 2}[random_next(rnd) % 8];
}

static void random_objects(uint64_t *rnd, union any *arg, bool extents)
{
	struct pgscan_key *key = extents ? &arg->extents.key : &arg->objects.cursor;

	if (one_in(rnd, 3))
		*key = (struct pgscan_key){.dev = 1, .ino = random_next(rnd) % 5000};
	if (extents) {
		arg->extents.fd = one_in(rnd, 4) ? -1 : random_fd(rnd);
		if (one_in(rnd, 2)) {
			arg->extents.fd = object_fd;
			*key = (struct pgscan_key){};
		}
		arg->extents.end = one_in(rnd, 4) ? random_next(rnd) : ~0ULL;
		arg->extents.start = one_in(rnd, 4) ? random_next(rnd) % 100 * PAGE : 0;
		arg->extents.vec = random_vec(rnd);
		arg->extents.vec_len = random_len(rnd);
		arg->extents.want = few_bits(rnd, 5);
	} else {
		arg->objects.vec = random_vec(rnd);
		arg->objects.vec_len = random_len(rnd);
		arg->objects.object_size =
			one_in(rnd, 8) ? random_next(rnd) : sizeof(struct pgscan_object);
		arg->flags = random_next(rnd) % 2;
	}
}

static void random_arg(uint64_t *rnd, unsigned int nr, union any *arg)
{
	memset(arg, 0, sizeof(*arg));
	switch (nr) {
	case 1:
		arg->flags = random_next(rnd) % 2;
		arg->shmem.pagemap_fd = random_fd(rnd);
		random_range(rnd, &arg->shmem.start, &arg->shmem.end);
		arg->shmem.vec = random_vec(rnd);
		arg->shmem.vec_len = random_len(rnd);
		arg->shmem.want = one_in(rnd, 2) ? few_bits(rnd, 5) : 0;
		break;
	case 2:
	case 3:
		random_objects(rnd, arg, nr == 2);
		break;
	case 4:
		random_scan(rnd, &arg->scan);
		break;
	case 5:
		arg->reported.cursor = one_in(rnd, 2) ? random_next(rnd) % 64 : 0;
		arg->reported.vec = random_vec(rnd);
		arg->reported.vec_len = random_len(rnd);
		arg->reported.zone_size =
			one_in(rnd, 8) ? random_next(rnd) : sizeof(struct pgscan_zone);
		break;
	case 6:
		arg->tags.pagemap_fd = random_fd(rnd);
		random_range(rnd, &arg->tags.start, &arg->tags.end);
		break;
	}
	arg->size = sizes[nr];
	if (one_in(rnd, 32))
		arg->size = random_next(rnd) % 600;
	if (one_in(rnd, 32))
		arg->flags = random_next(rnd);
	if (one_in(rnd, 32))
		arg->words[random_next(rnd) % ARRAY_SIZE(arg->words)] = random_next(rnd);
}

/* A request of this number; zones are few and slow to count: less of them. */
static unsigned int random_number(uint64_t *rnd)
{
	unsigned int nr = random_next(rnd) % REQUESTS;

	if (one_in(rnd, 100))
		return REQUESTS + random_next(rnd) % (256 - REQUESTS);
	return nr == 5 && !one_in(rnd, 16) ? 1 : nr;
}

static void one_request(uint64_t *rnd)
{
	unsigned int nr = random_number(rnd), row = nr < REQUESTS ? nr : REQUESTS;
	union any *arg = one_in(rnd, 16) ? &shared_arg : (union any *)scratch;
	int fd = one_in(rnd, 16) ? passing_fd : dev_fd;
	int ret;

	random_arg(rnd, nr % REQUESTS, arg);
	ret = ioctl(fd, _IO(PGSCAN_IOC_MAGIC, nr),
		    one_in(rnd, 100) ? (void *)random_vec(rnd) : arg);
	if (fd == dev_fd)
		answers[row][ret < 0 ? errno & 255 : 0]++;
	else
		foreign_answers++;
}

/* The old ones are closed under whoever uses them. */
static void change_descriptors(uint64_t *rnd)
{
	int fd;

	if (one_in(rnd, 20))
		close(atomic_exchange(&passing_fd, open(PGSCAN_DEVICE, O_RDWR | O_CLOEXEC)));
	if (!one_in(rnd, 50))
		return;
	fd = memfd_create("fuzz-fd", MFD_CLOEXEC);
	if (fd >= 0 && !ftruncate(fd, 64 * PAGE) && pwrite(fd, "x", 1, 5 * PAGE) == 1)
		close(atomic_exchange(&object_fd, fd));
}

static void *call(void *arg)
{
	uint64_t rnd = seed * 104729 + (uintptr_t)arg + 1;

	scratch = mmap(NULL, 64 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(scratch != MAP_FAILED && !munmap(scratch + 32 * PAGE, 32 * PAGE));
	while (requests_left-- > 0) {
		one_request(&rnd);
		change_descriptors(&rnd);
	}
	return NULL;
}

/* For requests about the caller itself. The targets inherit it, and so share an object. */
static void map_window(void)
{
	size_t i;

	CHECK(mmap(WINDOW, WINDOW_PAGES * PAGE, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == WINDOW);
	for (i = 0; i < WINDOW_PAGES; i += 3)
		WINDOW[i * PAGE] = 1;
}

static void on_alarm(int sig)
{
	(void)sig;
}

static bool is_allowed(unsigned int nr, int err)
{
	static const int allowed[] = {0,     EINVAL, EFAULT, EBADF,  ESRCH,  EINTR,
				      E2BIG, EPERM,  ENOENT, ESTALE, ENOMEM, EOPNOTSUPP};
	size_t i;

	if (nr == REQUESTS)
		return err == ENOTTY;
	for (i = 0; i < ARRAY_SIZE(allowed); i++) {
		if (err == allowed[i])
			return true;
	}
	return false;
}

/*
 * Counts by request and answer. Status 1 for an error that is none of the interface's; and when a
 * kind of request never went well, or processes were found dead more often than alive, for then
 * nothing was tried.
 */
static int report(void)
{
	unsigned long sum = foreign_answers;
	unsigned int nr;
	int err, status = 0;

	for (nr = 0; nr <= REQUESTS; nr++) {
		printf(nr < REQUESTS ? "request %u:" : "no request:", nr);
		for (err = 0; err < 256; err++) {
			if (!answers[nr][err])
				continue;
			sum += answers[nr][err];
			status |= !is_allowed(nr, err);
			printf(" %s%lu %s", is_allowed(nr, err) ? "" : "UNEXPECTED ",
			       answers[nr][err], err ? strerrorname_np(err) : "ok");
		}
		printf("\n");
		status |= nr < REQUESTS && answers[nr][0] <= answers[nr][ESRCH];
	}
	printf("%lu requests, of them %lu to a descriptor that was being closed\n", sum,
	       foreign_answers);
	return status;
}

int main(int argc, char **argv)
{
	const struct timespec interval = {.tv_nsec = 5000000};
	pthread_t callers[CALLERS], keeper, swapper;
	struct sigaction action = {.sa_handler = on_alarm};
	size_t i;

	if (argc < 3)
		return 2;
	requests_left = atol(argv[1]);
	seed = strtoul(argv[2], NULL, 0) + 1;
	dev_fd = open(PGSCAN_DEVICE, O_RDWR | O_CLOEXEC);
	self_fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	zero_fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	CHECK(dev_fd >= 0 && self_fd >= 0 && zero_fd >= 0);
	map_window();
	for (i = 0; i < TARGETS; i++)
		target_fds[i] = -1;
	sigaction(SIGALRM, &action, NULL);

	pthread_create(&keeper, NULL, keep_targets, NULL);
	if (argc > 3)
		pthread_create(&swapper, NULL, swap_on_off, argv[3]);
	for (i = 0; i < TARGETS; i++) {
		while (target_fds[i] < 0)
			usleep(1000);
	}
	for (i = 0; i < CALLERS; i++)
		pthread_create(&callers[i], NULL, call, (void *)i);
	/* Signals, to end requests in the middle. */
	while (requests_left > 0) {
		nanosleep(&interval, NULL);
		pthread_kill(callers[time(NULL) % CALLERS], SIGALRM);
	}
	for (i = 0; i < CALLERS; i++)
		pthread_join(callers[i], NULL);
	quit = true;
	pthread_join(keeper, NULL);
	if (argc > 3)
		pthread_join(swapper, NULL);
	return report();
}
