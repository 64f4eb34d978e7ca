/* SPDX-License-Identifier: GPL-2.0-only */
/* cycles: the processor's counter, read so that what is measured lies between two readings. */
#pragma once

#include <stdint.h>
#include <time.h>

/* On x86-64 the time stamp counter: cycles of its nominal frequency. On arm64 ticks of the system
 * counter; elsewhere nanoseconds. */
static inline uint64_t pgs_cycles(void)
{
#if defined(__x86_64__)
	uint32_t low, high;

	__asm__ volatile("lfence; rdtsc; lfence" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
#elif defined(__aarch64__)
	uint64_t ticks;

	__asm__ volatile("isb; mrs %0, cntvct_el0; isb" : "=r"(ticks) : : "memory");
	return ticks;
#else
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
#endif
}
