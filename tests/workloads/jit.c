// SPDX-License-Identifier: Apache-2.0
/*
 * jit [SECONDS [KEEP]] - makes code at run time and tells its names in /tmp/perf-PID.map, as just-in-time compilers do.
 *
 * First the whole region is called jit_replaced, then its functions jit_outer and jit_inner; they run half of the time.
 * The other half goes to jit_late, made again and again in new memory. The map is removed at the end, unless KEEP is 1:
 * then somebody else has to.
 *
 * Expected: ...;main;run_made;jit_outer;jit_inner, and ...;main;run_made;jit_late; nothing else below run_made.
 */
#include "workload.h"

#include <stdbool.h>
#include <sys/mman.h>

#define REGION 4096

typedef void (*inner_fn)(uint64_t n);
typedef void (*outer_fn)(uint64_t n, inner_fn inner);

#if defined(__x86_64__)
/* push %rbp; mov %rsp,%rbp; call *%rsi; pop %rbp; ret */
static const unsigned char outer_code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd6, 0x5d, 0xc3 };
/* push %rbp; mov %rsp,%rbp; 1: dec %rdi; jnz 1b; pop %rbp; ret */
static const unsigned char inner_code[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0xff, 0xcf, 0x75, 0xfb, 0x5d, 0xc3 };
#elif defined(__aarch64__)
/* stp x29,x30,[sp,#-16]!; mov x29,sp; blr x1; ldp x29,x30,[sp],#16; ret */
static const uint32_t outer_code[] = { 0xa9bf7bfd, 0x910003fd, 0xd63f0020, 0xa8c17bfd, 0xd65f03c0 };
/* stp x29,x30,[sp,#-16]!; mov x29,sp; 1: subs x0,x0,#1; b.ne 1b; ldp x29,x30,[sp],#16; ret */
static const uint32_t inner_code[] = { 0xa9bf7bfd, 0x910003fd, 0xf1000400, 0x54ffffe1, 0xa8c17bfd, 0xd65f03c0 };
#else
#error "no code for this CPU"
#endif

static char map_path[64];
static FILE *map;

/* Only calls that are safe in a signal handler. */
static void remove_map(int sig)
{
	unlink(map_path);
	_exit(128 + sig); /* the first process of a container does not die otherwise */
}

static void open_map(bool keep)
{
	static const int deadly[] = { SIGALRM, SIGTERM, SIGINT, SIGHUP };
	size_t i;
	int fd;

	snprintf(map_path, sizeof(map_path), "/tmp/perf-%d.map", getpid());
	unlink(map_path); /* of another one with our number */
	fd = open(map_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	map = fd < 0 ? NULL : fdopen(fd, "w");
	if (!map)
		workload_die(map_path);
	for (i = 0; !keep && i < sizeof(deadly) / sizeof(deadly[0]); i++)
		signal(deadly[i], remove_map);
}

static void tell(const void *start, size_t size, const char *name)
{
	fprintf(map, "%llx %zx %s\n", (unsigned long long)(uintptr_t)start, size, name);
	fflush(map);
}

static unsigned char *new_region(void)
{
	unsigned char *region = mmap(NULL, REGION, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (region == MAP_FAILED)
		workload_die("cannot map memory");
	return region;
}

static void seal(unsigned char *region)
{
	if (mprotect(region, REGION, PROT_READ | PROT_EXEC))
		workload_die("cannot make code executable");
	__builtin___clear_cache((char *)region, (char *)region + REGION);
}

static inner_fn make_late(void)
{
	unsigned char *region = new_region();

	memcpy(region, inner_code, sizeof(inner_code));
	tell(region, sizeof(inner_code), "jit_late");
	seal(region);
	return (inner_fn)(uintptr_t)region;
}

static NOINLINE void run_made(outer_fn outer, inner_fn inner, uint64_t n)
{
	if (outer)
		outer(n, inner);
	else
		inner(n);
	workload_sink++;
}

int main(int argc, char **argv)
{
	unsigned char *region = new_region();
	inner_fn inner = (inner_fn)(uintptr_t)(region + 64), late;
	outer_fn outer = (outer_fn)(uintptr_t)region;
	uint64_t end;

	workload_live(argc, argv);
	open_map(workload_arg(argc, argv, 2, 0) == 1);
	memcpy(region, outer_code, sizeof(outer_code));
	memcpy(region + 64, inner_code, sizeof(inner_code));
	tell(region, REGION, "jit_replaced");
	tell(region, sizeof(outer_code), "jit_outer");
	tell(region + 64, sizeof(inner_code), "jit_inner");
	seal(region);
	workload_ready();
	while (!workload_stop) {
		for (end = now_ns() + 100 * MSEC; now_ns() < end;)
			run_made(outer, inner, 1000000);
		late = make_late();
		for (end = now_ns() + 100 * MSEC; now_ns() < end;)
			run_made(NULL, late, 1000000);
		munmap((void *)(uintptr_t)late, REGION);
	}
	return 0;
}
