/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program without a C library: its stacks are the same with every compiler, from _start on, where both kinds of
 * unwinding end. Its first arguments are its maximal lifetime in seconds and its CPU.
 */
#ifndef TESTS_VM_BARE_H
#define TESTS_VM_BARE_H

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

/* The first frame: no frame pointer to follow, and no rule for a caller. */
__asm__(".globl _start\n"
	".type _start, @function\n"
	"_start:\n"
	".cfi_startproc\n"
	".cfi_undefined rip\n"
	"	xor %ebp, %ebp\n"
	"	mov %rsp, %rdi\n"
	"	and $-16, %rsp\n"
	"	call begin\n"
	"	hlt\n"
	".cfi_endproc\n"
	".size _start, .-_start\n");

static inline __attribute__((always_inline)) long bare_call(long nr, long a, long b, long c)
{
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "a"(nr), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return ret;
}

/* Map a file to be written, shared. */
static inline __attribute__((always_inline)) long bare_map(long fd, size_t size)
{
	register long flags __asm__("r10") = MAP_SHARED | MAP_POPULATE;
	register long of __asm__("r8") = fd;
	register long offset __asm__("r9") = 0;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(SYS_mmap), "D"(0), "S"(size), "d"(PROT_READ | PROT_WRITE), "r"(flags), "r"(of),
			   "r"(offset)
			 : "rcx", "r11", "memory");
	return ret;
}

static inline __attribute__((always_inline)) uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts = { 0, 0 };

	bare_call(SYS_clock_gettime, clock, (long)&ts, 0);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

static void bare_die(int status)
{
	for (;;)
		bare_call(SYS_exit_group, status, 0, 0);
}

static unsigned long bare_number(const char *s)
{
	unsigned long n = 0;

	for (; *s >= '0' && *s <= '9'; s++)
		n = n * 10 + (unsigned long)(*s - '0');
	return n;
}

/* @stack: argc, then the @nr words of argv. */
static void bare_begin(const long *stack, long nr)
{
	unsigned long mask[16] = { 0 }, cpu;

	if (stack[0] != nr)
		bare_die(2);
	cpu = bare_number((const char *)stack[3]);
	if (cpu >= sizeof(mask) * 8)
		bare_die(2);
	mask[cpu / 64] = 1UL << cpu % 64;
	bare_call(SYS_alarm, (long)bare_number((const char *)stack[2]), 0, 0);
	if (bare_call(SYS_sched_setaffinity, 0, sizeof(mask), (long)mask) < 0)
		bare_die(1);
}

static void bare_ready(void)
{
	bare_call(SYS_write, 1, (long)"ready\n", 6);
}

void begin(const long *stack);

#endif
