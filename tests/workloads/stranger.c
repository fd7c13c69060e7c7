// SPDX-License-Identifier: Apache-2.0
// CFLAGS: -static
/*
 * stranger [SECONDS [COMM]] - runs code that it has generated at 0x10000000, without a perf map, under any name.
 *
 * Needs no other file, so that it runs below any root. The test may write a file /tmp/perf-PID.map of any kind for that
 * page.
 *
 * Expected: ...;main;run_made;ANYTHING, where ANYTHING is the name in that file, or [unknown].
 */
#include "spin_code.h"
#include "workload.h"

#include <sys/mman.h>

#define AT   0x10000000
#define SIZE 4096

typedef void (*made_fn)(uint64_t n);

static made_fn make(void)
{
	void *page = mmap((void *)AT, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	if (page == MAP_FAILED)
		workload_die("cannot map memory");
	memcpy(page, spin_code, sizeof(spin_code));
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
