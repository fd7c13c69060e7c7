// SPDX-License-Identifier: Apache-2.0
// CFLAGS: -nostdlib -fno-stack-protector -lshort
/*
 * shortlived, to be run as ./job-red, ./job-green or ./job-blue beside its library - works for about 5, 7 or 10 ms in
 * the library and exits.
 *
 * It has no C library: the start code of most C libraries is stripped, and would be a frame without a name in each
 * stack. It takes no SECONDS argument, and does not print "ready".
 *
 * Expected: _start;begin;red_job;burn_red, and so on; in job-red no function that is green or blue.
 */
#include "workload.h"

#include <sys/syscall.h>

void burn_red(uint64_t n);
void burn_green(uint64_t n);
void burn_blue(uint64_t n);
_Noreturn void begin(const uintptr_t *stack);

/* It has no caller: its frame ends the chain. */
#if defined(__x86_64__)
__asm__(".globl _start\n"
	".type _start, @function\n"
	"_start:\n"
	"	xor %ebp, %ebp\n"
	"	mov %rsp, %rdi\n"
	"	and $-16, %rsp\n"
	"	call begin\n"
	"	hlt\n"
	".size _start, . - _start\n");

static inline __attribute__((always_inline)) void end(void)
{
	__asm__ volatile("syscall" : : "a"(__NR_exit_group), "D"(0) : "rcx", "r11", "memory");
}
#elif defined(__aarch64__)
__asm__(".globl _start\n"
	".type _start, %function\n"
	"_start:\n"
	"	mov x29, #0\n"
	"	mov x30, #0\n"
	"	mov x0, sp\n"
	"	bl begin\n"
	"	brk #0\n"
	".size _start, . - _start\n");

static inline __attribute__((always_inline)) void end(void)
{
	register long number __asm__("x8") = __NR_exit_group;
	register long status __asm__("x0") = 0;

	__asm__ volatile("svc #0" : : "r"(number), "r"(status) : "memory");
}
#else
#error "no code for this CPU"
#endif

static NOINLINE void red_job(void)
{
	burn_red(4000000);
	workload_sink++;
}

static NOINLINE void green_job(void)
{
	burn_green(5500000);
	workload_sink++;
}

static NOINLINE void blue_job(void)
{
	burn_blue(8000000);
	workload_sink++;
}

/* @stack: argc, then argv */
_Noreturn void begin(const uintptr_t *stack)
{
	const char *name = (const char *)stack[1];

	while (name[0] && name[1])
		name++;
	if (*name == 'd')
		red_job();
	else if (*name == 'n')
		green_job();
	else
		blue_job();
	for (;;)
		end();
}
