// SPDX-License-Identifier: Apache-2.0
/*
 * odd_symbols [SECONDS] - half of the time in the chosen code of an indirect function (IFUNC), half in a function whose
 * symbol has no size.
 *
 * Expected: ...;main;odd_work;picked_code and ...;main;odd_work;without_size.
 */
#include "workload.h"

#if defined(__x86_64__)
__asm__(".text\n"
	".type without_size, @function\n"
	"without_size:\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"1:	dec %rdi\n"
	"	jnz 1b\n"
	"	pop %rbp\n"
	"	ret\n");
#elif defined(__aarch64__)
__asm__(".text\n"
	".type without_size, %function\n"
	"without_size:\n"
	"	stp x29, x30, [sp, #-16]!\n"
	"	mov x29, sp\n"
	"1:	subs x0, x0, #1\n"
	"	b.ne 1b\n"
	"	ldp x29, x30, [sp], #16\n"
	"	ret\n");
#else
#error "no code for this CPU"
#endif

void without_size(uint64_t n);
void picked(uint64_t n);

static NOINLINE void picked_code(uint64_t n)
{
	spin_iterations(n);
}

__attribute__((used)) static void (*pick(void))(uint64_t n)
{
	return picked_code;
}

void picked(uint64_t n) __attribute__((ifunc("pick")));

static NOINLINE void odd_work(void)
{
	uint64_t end;

	for (end = now_ns() + 20 * MSEC; now_ns() < end;)
		picked(1000000);
	for (end = now_ns() + 20 * MSEC; now_ns() < end;)
		without_size(1000000);
}

int main(int argc, char **argv)
{
	workload_live(argc, argv);
	workload_ready();
	while (!workload_stop)
		odd_work();
	return 0;
}
