// SPDX-License-Identifier: Apache-2.0
// CFLAGS: -static
/*
 * stranger [SECONDS [COMM]] - runs code that it made, at 0x10000000, of which it tells nobody, under any name.
 *
 * Needs no other file, so that it runs below any root. A file /tmp/perf-PID.map of any kind, for that page, is the
 * test's to write.
 *
 * Expected: ...;main;run_made;ANYTHING, where ANYTHING is what that file says of the page, or [unknown].
 */
#include "workload.h"

#include <sys/mman.h>

#define AT   0x10000000
#define SIZE 4096

typedef void (*made_fn)(uint64_t n);

#if defined(__x86_64__)
/* push %rbp; mov %rsp,%rbp; 1: dec %rdi; jnz 1b; pop %rbp; ret */
static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0xff, 0xcf, 0x75, 0xfb, 0x5d, 0xc3 };
#elif defined(__aarch64__)
/* stp x29,x30,[sp,#-16]!; mov x29,sp; 1: subs x0,x0,#1; b.ne 1b; ldp x29,x30,[sp],#16; ret */
static const uint32_t code[] = { 0xa9bf7bfd, 0x910003fd, 0xf1000400, 0x54ffffe1, 0xa8c17bfd, 0xd65f03c0 };
#else
#error "no code for this CPU"
#endif

static made_fn make(void)
{
	void *page = mmap((void *)AT, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	if (page == MAP_FAILED)
		workload_die("cannot map memory");
	memcpy(page, code, sizeof(code));
	if (mprotect(page, SIZE, PROT_READ | PROT_EXEC))
		workload_die("cannot make code executable");
	__builtin___clear_cache((char *)page, (char *)page + SIZE);
	return (made_fn)(uintptr_t)page;
}

static NOINLINE void run_made(made_fn made)
{
	made(1000000);
	workload_sink++;
}

int main(int argc, char **argv)
{
	made_fn made = make();

	workload_live(argc, argv);
	if (argc > 2)
		prctl(PR_SET_NAME, argv[2]);
	workload_ready();
	while (!workload_stop)
		run_made(made);
	return 0;
}
