// SPDX-License-Identifier: Apache-2.0
/*
 * jitdump [SECONDS [KEEP]] - generates code without frame pointers at run time, and describes it in a jitdump,
 * jit-PID.dump in /tmp or in the directory JITDUMP_DIR: names, source lines and unwind rules.
 *
 * First the whole region is called dumped_replaced, then its functions dumped_outer, which changes the frame pointer,
 * and dumped_inner; they run half of the time. The other half goes to dumped_late, generated again and again in new
 * memory. The file is removed at the end, unless KEEP is 1: then the caller has to do that.
 *
 * Expected: ...;main;run_made;dumped_outer;dumped_inner, at dumped.c:11 and dumped.c:21, and
 * ...;main;run_made;dumped_late at dumped.c:31; no other function below run_made.
 */
#include "core/symbols/jitdump_format.h"
#include "made_code.h"

#include <elf.h>
#include <sys/syscall.h>

/*
 * A piece of code with the instructions of its FDE. @line is the line of its first byte; the byte @body has the next
 * line.
 */
struct made {
	const char *name;
	uint32_t line, body;
	size_t size, nr_rules;
	unsigned char code[32], rules[16];
};

#if defined(__x86_64__)
#define MACHINE EM_X86_64
static const struct made outer_made = {
	"dumped_outer",
	10,
	10,
	18,
	15,
	/* push %rbp; mov $1,%ebp; sub $16,%rsp; call *%rsi; add $16,%rsp; pop %rbp; ret */
	{ 0x55, 0xbd, 1, 0, 0, 0, 0x48, 0x83, 0xec, 16, 0xff, 0xd6, 0x48, 0x83, 0xc4, 16, 0x5d, 0xc3 },
	/* behind push: CFA = rsp + 16, rbp at CFA - 16; behind sub: + 32; behind add: + 16; behind pop: + 8, rbp as
	   before */
	{ 0x41, 0x0e, 16, 0x86, 2, 0x49, 0x0e, 32, 0x46, 0x0e, 16, 0x41, 0x0e, 8, 0xc6 },
};
/* push %rbx; 1: dec %rdi; jnz 1b; pop %rbx; ret */
#define INNER_CODE                                                                                                     \
	{                                                                                                              \
		0x53, 0x48, 0xff, 0xcf, 0x75, 0xfb, 0x5b, 0xc3                                                         \
	}
/* behind push: CFA = rsp + 16, rbx at CFA - 16; behind pop: + 8 */
#define INNER_RULES                                                                                                    \
	{                                                                                                              \
		0x41, 0x0e, 16, 0x83, 2, 0x46, 0x0e, 8                                                                 \
	}
#else
#error "no code for this CPU"
#endif
static const struct made inner_made = { "dumped_inner", 20, 1, 8, 8, INNER_CODE, INNER_RULES };
static const struct made late_made = { "dumped_late", 30, 1, 8, 8, INNER_CODE, INNER_RULES };

static int dump;
static uint64_t code_index;

/* Use one write for each record, so that a reader finds it complete or not at all. */
static void put(const void *bytes, size_t len)
{
	if (write(dump, bytes, len) != (ssize_t)len)
		workload_die(made_path);
}

static void open_dump(bool keep)
{
	const struct jitdump_header header = { .magic = JITDUMP_MAGIC,
					       .version = 1,
					       .size = sizeof(header),
					       .machine = MACHINE,
					       .pid = (uint32_t)getpid(),
					       .time = now_ns() };
	const char *dir = getenv("JITDUMP_DIR");

	snprintf(made_path, sizeof(made_path), "%s/jit-%d.dump", dir ? dir : "/tmp", getpid());
	dump = open_made(keep);
	/* A profiler finds the file by this mapping. */
	if (mmap(NULL, REGION, PROT_READ | PROT_EXEC, MAP_PRIVATE, dump, 0) == MAP_FAILED)
		workload_die(made_path);
	put(&header, sizeof(header));
}

static struct jitdump_prefix prefix(enum jitdump_record id, size_t size)
{
	return (struct jitdump_prefix){ (uint32_t)id, (uint32_t)size, now_ns() };
}

/* The first byte has the line before the body's. */
static void put_lines(const unsigned char *at, const struct made *m)
{
	static const char file[] = "/src/dumped.c";
	const struct jitdump_debug_entry first = { (uintptr_t)at, m->line, 0 };
	const struct jitdump_debug_entry body = { (uintptr_t)at + m->body, m->line + 1, 0 };
	char record[256];
	struct jitdump_debug_info *info = (struct jitdump_debug_info *)(void *)record;
	char *end = record + sizeof(*info);

	memset(record, 0, sizeof(record));
	memcpy(end, &first, sizeof(first));
	memcpy(end + sizeof(first), file, sizeof(file));
	end += sizeof(first) + sizeof(file);
	memcpy(end, &body, sizeof(body));
	memcpy(end + sizeof(body), "\xff", 2); /* the same file */
	end += sizeof(body) + 2;
	*info = (struct jitdump_debug_info){ prefix(JITDUMP_DEBUG_INFO, (size_t)(end - record)), (uintptr_t)at, 2 };
	put(record, (size_t)(end - record));
}

/* Write an .eh_frame, as if it were behind the code, and an empty .eh_frame_hdr. */
static void put_rules(const struct made *m)
{
	static const unsigned char cie[] = { 20, 0,    0,  0, 0,    0,  0, 0, 1,    'z', 'R', 0,
					     1,  0x78, 16, 1, 0x1b, 12, 7, 8, 0x90, 1,   0,   0 };
	unsigned char frames[64] = { 0 }, record[128] = { 0 };
	struct jitdump_unwinding_info info = { .size = 60 + 4, .hdr_size = 4, .mapped = 64 };
	const uint32_t head[] = { 28, 28, (uint32_t) - (int32_t)(sizeof(cie) + 8 + (m->size + 7) / 8 * 8),
				  (uint32_t)m->size };

	memcpy(frames, cie, sizeof(cie));
	memcpy(frames + sizeof(cie), head, sizeof(head));
	memcpy(frames + sizeof(cie) + sizeof(head) + 1, m->rules, m->nr_rules);
	info.prefix = prefix(JITDUMP_UNWINDING_INFO, sizeof(info) + 64);
	memcpy(record, &info, sizeof(info));
	memcpy(record + sizeof(info), frames, 60);
	put(record, sizeof(info) + 64);
}

static void put_load(const unsigned char *at, size_t size, const char *name)
{
	struct jitdump_load load = { .pid = (uint32_t)getpid(),
				     .tid = (uint32_t)syscall(SYS_gettid),
				     .vma = (uintptr_t)at,
				     .addr = (uintptr_t)at,
				     .size = size,
				     .index = ++code_index };
	char record[sizeof(load) + 64 + REGION];
	size_t len = sizeof(load) + strlen(name) + 1 + size;

	load.prefix = prefix(JITDUMP_LOAD, len);
	memcpy(record, &load, sizeof(load));
	memcpy(record + sizeof(load), name, strlen(name) + 1);
	memcpy(record + len - size, at, size);
	put(record, len);
}

static void make(unsigned char *at, const struct made *m)
{
	memcpy(at, m->code, m->size);
	put_lines(at, m);
	put_rules(m);
	put_load(at, m->size, m->name);
}

int main(int argc, char **argv)
{
	unsigned char *region = new_region(), *late;
	inner_fn inner = (inner_fn)(uintptr_t)(region + 64);
	outer_fn outer = (outer_fn)(uintptr_t)region;

	workload_live(argc, argv);
	open_dump(workload_arg(argc, argv, 2, 0) == 1);
	put_load(region, REGION, "dumped_replaced");
	make(region, &outer_made);
	make(region + 64, &inner_made);
	seal(region);
	workload_ready();
	while (!workload_stop) {
		run_for_a_while(outer, inner);
		late = new_region();
		make(late, &late_made);
		seal(late);
		run_for_a_while(NULL, (inner_fn)(uintptr_t)late);
		munmap(late, REGION);
	}
	return 0;
}
