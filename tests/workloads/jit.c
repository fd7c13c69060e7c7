// SPDX-License-Identifier: Apache-2.0
/*
 * jit [SECONDS [KEEP [MEMORY]]] - generates code at run time and writes its names to /tmp/perf-PID.map, as just-in-time
 * compilers do.
 *
 * First the whole region is called jit_replaced, then its functions jit_outer and jit_inner; they run half of the time.
 * The other half goes to jit_late, generated again and again in new memory. The map is removed at the end, unless KEEP
 * is 1: then the caller has to do that. MEMORY: 0: anonymous; 1: of an unlinked file; 2: System V shared memory.
 *
 * Expected: ...;main;run_made;jit_outer;jit_inner, and ...;main;run_made;jit_late; no other function below run_made.
 */
#include "made_code.h"
#include "spin_code.h"

#if defined(__x86_64__)
/* push %rbp; mov %rsp,%rbp; call *%rsi; pop %rbp; ret */
static const unsigned char outer_code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd6, 0x5d, 0xc3 };
#elif defined(__aarch64__)
/* stp x29,x30,[sp,#-16]!; mov x29,sp; blr x1; ldp x29,x30,[sp],#16; ret */
static const uint32_t outer_code[] = { 0xa9bf7bfd, 0x910003fd, 0xd63f0020, 0xa8c17bfd, 0xd65f03c0 };
#else
#error "no code for this CPU"
#endif

static FILE *map;

static void open_map(bool keep)
{
	snprintf(made_path, sizeof(made_path), "/tmp/perf-%d.map", getpid());
	map = fdopen(open_made(keep), "w");
	if (!map)
		workload_die(made_path);
}

static void tell(const void *start, size_t size, const char *name)
{
	fprintf(map, "%llx %zx %s\n", (unsigned long long)(uintptr_t)start, size, name);
	fflush(map);
}

static inner_fn make_late(void)
{
	unsigned char *region = new_region();

	memcpy(region, spin_code, sizeof(spin_code));
	tell(region, sizeof(spin_code), "jit_late");
	seal(region);
	return (inner_fn)(uintptr_t)region;
}

int main(int argc, char **argv)
{
	unsigned char *region;
	inner_fn inner, late;
	outer_fn outer;

	workload_live(argc, argv);
	made_memory = (enum made_memory)workload_arg(argc, argv, 3, MADE_ANONYMOUS);
	region = new_region();
	outer = (outer_fn)(uintptr_t)region;
	inner = (inner_fn)(uintptr_t)(region + 64);
	open_map(workload_arg(argc, argv, 2, 0) == 1);
	memcpy(region, outer_code, sizeof(outer_code));
	memcpy(region + 64, spin_code, sizeof(spin_code));
	tell(region, REGION, "jit_replaced");
	tell(region, sizeof(outer_code), "jit_outer");
	tell(region + 64, sizeof(spin_code), "jit_inner");
	seal(region);
	workload_ready();
	while (!workload_stop) {
		run_for_a_while(outer, inner);
		late = make_late();
		run_for_a_while(NULL, late);
		munmap((void *)(uintptr_t)late, REGION);
	}
	return 0;
}
