// SPDX-License-Identifier: GPL-2.0-only
/*
 * rseq - is nearly always inside a restartable sequence, rseq(2). Whoever interrupts it there must
 * have it aborted: one that comes to its end with the kernel's note of it gone was interrupted, and
 * was not. Runs until SIGTERM, then prints "done ends=N aborts=N violations=N".
 */
#include "target.h"

#include <signal.h>

#if defined(__x86_64__) && __has_include(<sys/rseq.h>)
#include <sys/rseq.h>

static volatile sig_atomic_t ended;

static void on_term(int sig)
{
	(void)sig;
	ended = 1;
}

enum { END, ABORT, VIOLATION };

/* Some 100 us inside, and the note read at the end of it: a moment later, outside, the kernel may
 * take it away with good reason. The signature stands before the code to abort to, as glibc
 * registered it. */
static int sequence(struct rseq *rseq)
{
	int result;

	__asm__ volatile("	.pushsection __rseq_cs, \"aw\"\n"
			 "	.balign 32\n"
			 "3:	.long 0, 0\n"
			 "	.quad 1f, 2f - 1f, 4f\n"
			 "	.popsection\n"
			 "	leaq 3b(%%rip), %%rax\n"
			 "	movq %%rax, 8(%[rseq])\n"
			 "1:	movl $100000, %%ecx\n"
			 "5:	decl %%ecx\n"
			 "	jnz 5b\n"
			 "	movq 8(%[rseq]), %%rcx\n"
			 "2:	xorl %[result], %[result]\n"
			 "	cmpq %%rax, %%rcx\n"
			 "	je 6f\n"
			 "	movl $2, %[result]\n"
			 "	jmp 6f\n"
			 "	.byte 0x0f, 0xb9, 0x3d\n"
			 "	.long 0x53053053\n"
			 "4:	movl $1, %[result]\n"
			 "6:\n"
			 : [result] "=&r"(result)
			 : [rseq] "r"(rseq)
			 : "rax", "rcx", "memory", "cc");
	return result;
}

int main(int argc, char **argv)
{
	static const char *const keys[] = {NULL};
	size_t counts[3] = {0};
	struct target t;

	(void)argc;
	target_init(&t, argv, keys);
	signal(SIGTERM, on_term);
	if (!__rseq_size) {
		puts("none");
		return 77;
	}
	puts("ready");
	fflush(stdout);
	while (!ended)
		counts[sequence((void *)((char *)__builtin_thread_pointer() + __rseq_offset))]++;
	printf("done ends=%zu aborts=%zu violations=%zu\n", counts[END], counts[ABORT],
	       counts[VIOLATION]);
	return counts[VIOLATION] ? 1 : 0;
}
#else
int main(void)
{
	puts("none");
	return 77;
}
#endif
