// SPDX-License-Identifier: Apache-2.0
/*
 * copied SECONDS WHAT [ROUNDS] - copies a page of its code to anonymous memory at the same address, as programs do to
 * have their code in large pages, and works there. ROUNDS: ends after this many rounds of work; 0: goes on. WHAT:
 * "same"; "late": the memory is executable before it has the copy; "other": other code is put there.
 *
 * Expected: ...;main;copied_outer;copied_inner; with "other", no name of the code that was there before.
 */
#include "workload.h"

#include <stdbool.h>
#include <sys/mman.h>

#define PAGE    4096
#define IN_PAGE __attribute__((section("copied_code"), noinline))

void copied_inner(uint64_t n);
void copied_outer(uint64_t n);
void behind_copy(void);

IN_PAGE __attribute__((aligned(PAGE))) void copied_inner(uint64_t n)
{
	spin_iterations(n);
	workload_sink++;
}

IN_PAGE void copied_outer(uint64_t n)
{
	copied_inner(n);
	workload_sink++;
}

/* This part of the file stays mapped. */
IN_PAGE __attribute__((aligned(PAGE))) void behind_copy(void)
{
	workload_sink++;
}

static void *memory(void *at, int prot)
{
	void *p = mmap(at, PAGE, prot, MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);

	if (p == MAP_FAILED)
		workload_die("cannot map memory");
	return p;
}

/* The code from copied_outer() on is: dec %rdi; jnz to it; ret. */
static void put_other_code(unsigned char *page)
{
	static const unsigned char loop[] = { 0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3 };

	memset(page, 0xcc, PAGE);
	memcpy(page + ((uintptr_t)copied_outer - (uintptr_t)copied_inner), loop, sizeof(loop));
}

int main(int argc, char **argv)
{
	void *page = (void *)copied_inner, *copy = memory(NULL, PROT_READ | PROT_WRITE);
	const char *what = argc > 2 ? argv[2] : "same";
	bool late = !strcmp(what, "late");
	long rounds = workload_arg(argc, argv, 3, 0), i;

	workload_live(argc, argv);
	memcpy(copy, page, PAGE);
	memory(page, PROT_READ | PROT_WRITE | (late ? PROT_EXEC : 0));
	if (strcmp(what, "other") != 0)
		memcpy(page, copy, PAGE);
	else
		put_other_code(page);
	if (mprotect(page, PAGE, PROT_READ | PROT_EXEC))
		workload_die("cannot execute memory");
	workload_ready();
	for (i = 0; !rounds || i < rounds; i++)
		copied_outer(10000000);
	return 0;
}
