// SPDX-License-Identifier: Apache-2.0
#include "core/report/report.h"
#include "tests/demangle_here.h"
#include "tests/row_key.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>

/* The addresses of this test. From KERNEL on they are the kernel's. */
enum {
	NOWHERE, /* no symbol, no mapping */
	MAIN,
	MAIN_LATER, /* another address in the same function */
	READ,
	NAMELESS, /* in a mapping, no symbol */
	VDSO,
	VDSO_NAMELESS,
	EMPTY, /* a symbol without letters */
	SEMI,
	COLON,
	EVIL,
	A,
	A_B,
	A_PLUS,
	A_LT,
	A_B_SEMI,
	B,
	DASH,
	DASHES,
	KERNEL,
	CLEAR = KERNEL,
	ZERO,
	VFS,
	ENTRY,
	IN_MODULE,
	HIDDEN,
	K_A,
	K_B,
	/* User addresses again. */
	HOT,      /* two functions are inlined there */
	EVIL_HOT, /* with hostile names */
	NAMELESS_HOT,
	OWN_SWITCH, /* in a process that has a scheduler of its own */
	/* Kernel addresses again, of a thread that leaves its CPU. */
	TRACING, /* code that traces it */
	PROGRAM,
	SWITCH,
	SWITCH_LATER,
	SWITCH_ISRA,
	SWITCH_COLD,
	SWITCH_NOT,
	SWITCH_NEITHER,
	SCHEDULE,
	SCHEDULE_PART,
	SCHEDULE_NOT,
	IN_COMMON,
	IN_IRQ,
	IN_IDLE,
	FUTEX,
	K_NAMELESS,
	MODULE_NAMELESS,
	/* User addresses in files without symbols; unwind rules show the functions. */
	FUNCTION,
	FUNCTION_LATER,
	FUNCTION_START,
	FUNCTION_OTHER,
	FUNCTION_ZERO,
	FUNCTION_EVIL,
	FUNCTION_VDSO,
	NO_FUNCTION, /* as in the procedure linkage table */
	BRACKET,
	BRACKETS,
	MEMORY,
	HEAP,
	EMPTY_FILE,
};

static const struct symbol symbols[] = {
	[MAIN] = { "main", 0x10, "dd" },
	[MAIN_LATER] = { "main", 0x20, "dd" },
	[READ] = { "read", 0x1a, "libc.so.6" },
	[NAMELESS] = { NULL, 0, "libfoo.so" },
	[VDSO] = { "clock_gettime", 0x123456789abcdef0, "[vdso]" },
	[VDSO_NAMELESS] = { NULL, 0, "[vdso]" },
	[EMPTY] = { "", 0, NULL },
	[SEMI] = { "a;b", 1, "x;y" },
	[COLON] = { "a:b", 2, NULL },
	[EVIL] = { "e\033[2Jvil\n", 0, "m\r\n\xff" },
	[A] = { "a", 0, NULL },
	[A_B] = { "a b", 0, NULL },
	[A_PLUS] = { "a+", 0, NULL },
	[A_LT] = { "a<", 0, NULL },
	[A_B_SEMI] = { "a;", 0, NULL },
	[B] = { "b", 0, NULL },
	[DASH] = { "-", 0, NULL },
	[DASHES] = { "--", 0, NULL },
	[HOT] = { "_ZN3app5outerEv", 0x1e, "app", "app.c", 40 },
	[EVIL_HOT] = { "b", 1, "app", "\033a;.c", 4294967295U },
	[NAMELESS_HOT] = { NULL, 0, "app", "app.c", 0 },
	[OWN_SWITCH] = { "__schedule", 0, "dd" },
	[FUNCTION] = { NULL, 0x1a, "libfoo.so", .function = 0x4300, .has_function = true },
	[FUNCTION_LATER] = { NULL, 0x1f, "libfoo.so", .function = 0x4300, .has_function = true },
	[FUNCTION_START] = { NULL, 0, "libfoo.so", .function = 0x4300, .has_function = true },
	[FUNCTION_OTHER] = { NULL, 0, "libfoo.so", .function = UINT64_MAX, .has_function = true },
	[FUNCTION_ZERO] = { NULL, 2, "libfoo.so", .function = 0, .has_function = true },
	[FUNCTION_EVIL] = { NULL, 7, "a;b]\033[2J\n\xff", .function = 1, .has_function = true },
	[FUNCTION_VDSO] = { NULL, 4, "[vdso]", .function = 0xa10, .has_function = true },
	[NO_FUNCTION] = { NULL, 0x2fe0, "libfoo.so", .function = 0x4300 },
	[BRACKET] = { NULL, 0, "[" },
	[BRACKETS] = { NULL, 0, "[]" },
	[MEMORY] = { NULL, 0, "//anon", .anonymous = true },
	[HEAP] = { NULL, 8, "[heap]", .anonymous = true },
	[EMPTY_FILE] = { "", 8, "libfoo.so" },
	[CLEAR] = { "__clear_user", 0x5, "kernel" },
	[ZERO] = { "iov_iter_zero", 0, "kernel" },
	[VFS] = { "vfs_read", 0xff, "kernel" },
	[ENTRY] = { "entry_SYSCALL_64_fastpath", 0x1e, "kernel" },
	[IN_MODULE] = { "ext4_sync_file", 0x1, "ext4" },
	[HIDDEN] = { NULL, 0, NULL },
	[K_A] = { "a", 0, "kernel" },
	[K_B] = { "b", 0, "kernel" },
	[TRACING] = { "perf_trace_sched_switch", 0x40, "kernel" },
	[PROGRAM] = { "bpf_prog_0123456789abcdef", 0, "bpf" },
	[SWITCH] = { "__schedule", 0x2a0, "kernel" },
	[SWITCH_LATER] = { "__schedule", 0x300, "kernel" },
	[SWITCH_ISRA] = { "__schedule.isra.0", 0x2a0, "kernel" },
	[SWITCH_COLD] = { "__schedule.", 0, "kernel" },
	[SWITCH_NOT] = { "__schedule_bug", 0, "kernel" },
	[SWITCH_NEITHER] = { "__sched", 0, "kernel" },
	[SCHEDULE] = { "schedule", 0x20, "kernel" },
	[SCHEDULE_PART] = { "schedule.part.3", 0x20, "kernel" },
	[SCHEDULE_NOT] = { "schedule_timeout", 0x80, "kernel" },
	[IN_COMMON] = { "preempt_schedule_common", 0, "kernel" },
	[IN_IRQ] = { "preempt_schedule_irq", 0, "kernel" },
	[IN_IDLE] = { "schedule_idle", 0, "kernel" },
	[FUTEX] = { "futex_wait", 0x99, "kernel" },
	[K_NAMELESS] = { NULL, 0, "kernel" },
	[MODULE_NAMELESS] = { NULL, 0, "ext4" },
};

static const struct symbol in_hot[] = {
	{ "_ZN3app5innerEi", 0, "app", "inner.h", 3, true },
	{ "middle", 0, "app", NULL, 0, true },
};

static const struct symbol in_evil[] = { { "in;line\n", 0, "app", "b\n.c", 7, true } };

static uint64_t asked_last;

static void name_kernel(void *ctx, uint64_t addr, bool is_return, struct symbol *out)
{
	(void)ctx;
	(void)is_return;
	ck_assert_uint_ge(addr, KERNEL);
	*out = symbols[addr];
}

static void name_user(void *ctx, pid_t pid, const char *comm, uint32_t image, uint64_t addr, bool is_return,
		      struct symbol *out)
{
	(void)ctx;
	(void)pid;
	(void)comm;
	(void)image;
	(void)is_return;
	ck_assert(addr < KERNEL || (addr >= HOT && addr < TRACING) || addr >= FUNCTION);
	asked_last = addr;
	*out = symbols[addr];
}

static size_t name_inlined(void *ctx, const struct symbol **out)
{
	(void)ctx;
	*out = asked_last == EVIL_HOT ? in_evil : in_hot;
	return asked_last == HOT ? 2 : asked_last == EVIL_HOT || asked_last == NAMELESS_HOT;
}

static const struct report_names world = { NULL, name_kernel, name_user, name_inlined, NULL, demangle_here };

/* Frames of one side, leaf first, up to the first 0. UNMAPPED stands for NOWHERE, which is 0. */
enum { MAX_FRAMES = 20, MAX_ROWS = 8, UNMAPPED = 1000 };

struct side {
	enum stack_state state;
	bool truncated;
	uint64_t frames[MAX_FRAMES];
};

struct input {
	uint64_t value; /* 0 ends a table */
	const char *comm;
	pid_t pid;
	struct side user, kernel;
};

/* clang-format off */
#define T(...)     { STACK_TAKEN, false, { __VA_ARGS__ } }
#define CUT(...)   { STACK_TAKEN, true, { __VA_ARGS__ } }
#define CUT_EMPTY  { STACK_TAKEN, true, { 0 } }
#define T_EMPTY    { STACK_TAKEN, false, { 0 } }
#define MISSED     { STACK_MISSED, false, { 0 } }
#define NONE       { STACK_NONE, false, { 0 } }
#define FOLDED     .form = &report_folded
#define TEXT       .form = &report_text
#define DD_KERNEL  T(CLEAR, ZERO, VFS, ENTRY)
#define FIFTEEN    TRACING, TRACING, TRACING, TRACING, TRACING, TRACING, TRACING, TRACING, TRACING, TRACING, TRACING, \
		   TRACING, TRACING, TRACING, TRACING
#define TEN_FOLDED "perf_trace_sched_switch;perf_trace_sched_switch;perf_trace_sched_switch;" \
		   "perf_trace_sched_switch;perf_trace_sched_switch;perf_trace_sched_switch;" \
		   "perf_trace_sched_switch;perf_trace_sched_switch;perf_trace_sched_switch;perf_trace_sched_switch"
#define SCHED      .form = &report_folded, .from_schedule = true
#define TASK(comm, pid, value) "    -                " comm " (" #pid ")\n        " #value "\n\n"

static const struct golden {
	const char *name;
	struct report_cfg cfg;
	const char *out;
	struct input in[MAX_ROWS];
} goldens[] = {
	/* every option in both forms */
	{ "the contract's example",
	  { TEXT, .delimited = true },
	  "    __clear_user\n"
	  "    iov_iter_zero\n"
	  "    vfs_read\n"
	  "    entry_SYSCALL_64_fastpath\n"
	  "    --\n"
	  "    read\n"
	  "    -                dd (25036)\n"
	  "        4\n"
	  "\n",
	  { { 4, "dd", 25036, T(READ), DD_KERNEL } } },
	{ "text",
	  { TEXT },
	  "    __clear_user\n    vfs_read\n    read\n    main\n" TASK("dd", 25036, 4),
	  { { 4, "dd", 25036, T(READ, MAIN), T(CLEAR, VFS) } } },
	{ "text -a",
	  { TEXT, .annotations = true },
	  "    __clear_user_[k]\n    read\n" TASK("dd", 1, 4),
	  { { 4, "dd", 1, T(READ), T(CLEAR) } } },
	{ "text -A",
	  { TEXT, .addresses = true },
	  "    0x0000000000000013 __clear_user\n"
	  "    0x0000000000000000 [unknown]\n"
	  "    0x0000000000000003 read\n"
	  TASK("dd", 1, 4),
	  { { 4, "dd", 1, T(UNMAPPED, READ), T(CLEAR) } } },
	{ "text -s",
	  { TEXT, .offsets = true },
	  "    __clear_user+0x5 [kernel]\n    ext4_sync_file+0x1 [ext4]\n    [unknown]\n"
	  "    read+0x1a [libc.so.6]\n"
	  "    [libfoo.so]\n"
	  "    clock_gettime+0x123456789abcdef0 [vdso]\n"
	  "    [vdso]\n    [unknown]\n    b+0x0\n"
	  TASK("dd", 1, 4),
	  { { 4, "dd", 1, T(READ, NAMELESS, VDSO, VDSO_NAMELESS, UNMAPPED, B),
	      T(CLEAR, IN_MODULE, HIDDEN) } } },
	{ "text -A -s -a -d",
	  { TEXT, .addresses = true, .offsets = true, .annotations = true, .delimited = true },
	  "    0x0000000000000013 __clear_user+0x5 [kernel]_[k]\n"
	  "    0x0000000000000018 [unknown]_[k]\n"
	  "    --\n"
	  "    0x0000000000000001 main+0x10 [dd]\n" TASK("dd", 1, 4),
	  { { 4, "dd", 1, T(MAIN), T(CLEAR, HIDDEN) } } },
	{ "folded",
	  { FOLDED },
	  "dd;main;read;vfs_read;__clear_user 4\n",
	  { { 4, "dd", 25036, T(READ, MAIN), T(CLEAR, VFS) } } },
	{ "folded -d",
	  { FOLDED, .delimited = true },
	  "dd;main;read;-;vfs_read;__clear_user 4\n",
	  { { 4, "dd", 25036, T(READ, MAIN), T(CLEAR, VFS) } } },
	{ "folded -a",
	  { FOLDED, .annotations = true },
	  "dd;main;read;[unknown]_[k];__clear_user_[k] 4\n",
	  { { 4, "dd", 25036, T(READ, MAIN), T(CLEAR, HIDDEN) } } },
	{ "inlined functions are not wanted",
	  { FOLDED, .annotations = true },
	  "app;main;app::outer;app::outer 4\n",
	  { { 4, "app", 1, T(HOT, HOT, MAIN), NONE } } },
	{ "folded --inline",
	  { FOLDED, .inlined = true },
	  "app;main;app::outer;middle;app::inner;app::outer;middle;app::inner;vfs_read 4\n",
	  { { 4, "app", 1, T(HOT, HOT, MAIN), T(VFS) } } },
	{ "folded --inline -a -d",
	  { FOLDED, .annotations = true, .inlined = true, .delimited = true },
	  "app;main;app::outer;middle_[i];app::inner_[i];-;vfs_read_[k] 4\n",
	  { { 4, "app", 1, T(HOT, MAIN), T(VFS) } } },
	{ "text --inline -a",
	  { TEXT, .annotations = true, .inlined = true },
	  "    vfs_read_[k]\n    app::inner_[i]\n    middle_[i]\n    app::outer\n    main\n" TASK("app", 1, 4),
	  { { 4, "app", 1, T(HOT, MAIN), T(VFS) } } },
	{ "text --inline -A -s",
	  { TEXT, .addresses = true, .offsets = true, .inlined = true },
	  "    0x000000000000001b app::inner [app]\n    0x000000000000001b middle [app]\n"
	  "    0x000000000000001b app::outer+0x1e [app]\n" TASK("app", 1, 4),
	  { { 4, "app", 1, T(HOT), NONE } } },
	{ "text --source -s",
	  { TEXT, .offsets = true, .source = true },
	  "    vfs_read+0xff [kernel]\n    app::outer+0x1e [app] app.c:40\n    main+0x10 [dd]\n" TASK("app", 1, 4),
	  { { 4, "app", 1, T(HOT, MAIN), T(VFS) } } },
	{ "text --source --inline -s -a",
	  { TEXT, .annotations = true, .offsets = true, .source = true, .inlined = true },
	  "    vfs_read+0xff [kernel]_[k]\n    app::inner [app]_[i] inner.h:3\n    middle [app]_[i]\n"
	  "    app::outer+0x1e [app] app.c:40\n" TASK("app", 1, 4),
	  { { 4, "app", 1, T(HOT), T(VFS) } } },
	{ "text --source --inline, hostile names",
	  { TEXT, .offsets = true, .source = true, .inlined = true },
	  "    in;line? [app] b?.c:7\n    b+0x1 [app] ?a;.c:4294967295\n" TASK("app", 1, 4),
	  { { 4, "app", 1, T(EVIL_HOT), NONE } } },
	{ "folded --inline, hostile names",
	  { FOLDED, .inlined = true },
	  "app;b;in:line? 4\n",
	  { { 4, "app", 1, T(EVIL_HOT), NONE } } },
	{ "text --source --inline, no symbol and no line",
	  { TEXT, .offsets = true, .source = true, .inlined = true },
	  "    app::inner [app] inner.h:3\n    [app]\n" TASK("app", 1, 4),
	  { { 4, "app", 1, T(NAMELESS_HOT), NONE } } },
	{ "rows that differ in inlined functions",
	  { FOLDED, .inlined = true },
	  "app;app::outer;middle;app::inner 4\napp;app::outer;middle;app::inner;main 4\n",
	  { { 4, "app", 1, T(MAIN, HOT), NONE }, { 1, "app", 1, T(HOT), NONE }, { 3, "app", 2, T(HOT), NONE } } },
	{ "folded: -A and -s mean nothing",
	  { FOLDED, .addresses = true, .offsets = true },
	  "dd;main;[unknown];[libfoo.so];vfs_read 4\n",
	  { { 4, "dd", 1, T(NAMELESS, UNMAPPED, MAIN), T(VFS) } } },
	/* without symbols */
	{ "functions",
	  { TEXT },
	  "    [libfoo.so+0x4300]\n    [libfoo.so+0xffffffffffffffff]\n    [libfoo.so+0x0]\n    [libfoo.so]\n"
	  "    [vdso+0xa10]\n    [vdso]\n    [[]\n    []\n" TASK("dd", 1, 4),
	  { { 4, "dd", 1, T(FUNCTION, FUNCTION_OTHER, FUNCTION_ZERO, NO_FUNCTION, FUNCTION_VDSO, VDSO_NAMELESS, BRACKET,
			    BRACKETS), NONE } } },
	{ "functions, folded",
	  { FOLDED, .addresses = true, .offsets = true },
	  "dd;[];[[];[vdso];[vdso+0xa10];[libfoo.so];[libfoo.so+0x0];[libfoo.so+0xffffffffffffffff];"
	  "[libfoo.so+0x4300] 4\n",
	  { { 4, "dd", 1, T(FUNCTION, FUNCTION_OTHER, FUNCTION_ZERO, NO_FUNCTION, FUNCTION_VDSO, VDSO_NAMELESS, BRACKET,
			    BRACKETS), NONE } } },
	{ "functions, -s",
	  { TEXT, .offsets = true },
	  "    [libfoo.so+0x4300]+0x1a\n    [libfoo.so+0x4300]+0x0\n    [libfoo.so+0x0]+0x2\n"
	  "    [libfoo.so]+0x2fe0\n    [vdso+0xa10]+0x4\n    [vdso]\n" TASK("dd", 1, 4),
	  { { 4, "dd", 1, T(FUNCTION, FUNCTION_START, FUNCTION_ZERO, NO_FUNCTION, FUNCTION_VDSO, VDSO_NAMELESS),
	      NONE } } },
	{ "functions, -A",
	  { TEXT, .addresses = true },
	  "    0x0000000000000030 [libfoo.so+0x4300]\n    0x0000000000000037 [libfoo.so]\n" TASK("dd", 1, 4),
	  { { 4, "dd", 1, T(FUNCTION, NO_FUNCTION), NONE } } },
	{ "a file of a hostile name",
	  { FOLDED },
	  "dd;[a:b]?[2J??+0x1] 4\n",
	  { { 4, "dd", 1, T(FUNCTION_EVIL), NONE } } },
	{ "a file of a hostile name, text",
	  { TEXT, .offsets = true },
	  "    [a;b]?[2J??+0x1]+0x7\n" TASK("dd", 1, 4),
	  { { 4, "dd", 1, T(FUNCTION_EVIL), NONE } } },
	{ "two addresses of a function without name",
	  { FOLDED },
	  "dd;[libfoo.so] 4\ndd;[libfoo.so+0x4300] 5\n",
	  { { 2, "dd", 1, T(FUNCTION), NONE },
	    { 3, "dd", 1, T(FUNCTION_LATER), NONE },
	    { 4, "dd", 1, T(NO_FUNCTION), NONE } } },
	{ "memory without a file",
	  { FOLDED },
	  "dd;[unknown];[unknown];[unknown] 4\n",
	  { { 4, "dd", 1, T(MEMORY, HEAP, UNMAPPED), NONE } } },
	{ "memory without a file, -s",
	  { TEXT, .offsets = true },
	  "    [unknown] [//anon]\n    [unknown] [heap]\n    [unknown]\n" TASK("dd", 1, 4),
	  { { 4, "dd", 1, T(MEMORY, HEAP, UNMAPPED), NONE } } },
	{ "the kernel without names",
	  { FOLDED, .annotations = true },
	  "dd;[unknown]_[k];[ext4]_[k];[kernel]_[k] 4\n",
	  { { 4, "dd", 1, NONE, T(K_NAMELESS, MODULE_NAMELESS, HIDDEN) } } },
	{ "the kernel without names, -s",
	  { TEXT, .offsets = true },
	  "    [kernel]\n    [ext4]\n    [unknown]\n" TASK("dd", 1, 4),
	  { { 4, "dd", 1, NONE, T(K_NAMELESS, MODULE_NAMELESS, HIDDEN) } } },
	/* missing stacks */
	{ "no rows", { FOLDED }, "", { { 0 } } },
	{ "no rows, text", { TEXT }, "", { { 0 } } },
	{ "no stacks, folded", { FOLDED, .delimited = true }, "dd 4\n", { { 4, "dd", 1, NONE, NONE } } },
	{ "no stacks, text",
	  { TEXT, .delimited = true },
	  TASK("dd", 1, 4),
	  { { 4, "dd", 1, NONE, NONE } } },
	{ "one side",
	  { FOLDED, .delimited = true },
	  "dd;main 4\ndd;vfs_read 5\n",
	  { { 4, "dd", 1, T(MAIN), NONE }, { 5, "dd", 1, NONE, T(VFS) } } },
	{ "one side, text",
	  { TEXT, .delimited = true },
	  "    main\n" TASK("dd", 1, 4) "    vfs_read\n" TASK("dd", 1, 5),
	  { { 4, "dd", 1, T(MAIN), NONE }, { 5, "dd", 1, NONE, T(VFS) } } },
	{ "missed",
	  { FOLDED, .delimited = true, .annotations = true },
	  "dd;[Missed User Stack];vfs_read_[k] 4\n"
	  "dd;main;[Missed Kernel Stack] 5\n"
	  "dd;[Missed User Stack];[Missed Kernel Stack] 6\n",
	  { { 4, "dd", 1, MISSED, T(VFS) },
	    { 5, "dd", 1, T(MAIN), MISSED },
	    { 6, "dd", 1, MISSED, MISSED } } },
	{ "missed, text",
	  { TEXT, .delimited = true, .addresses = true, .offsets = true, .annotations = true },
	  "    [Missed Kernel Stack]\n    0x0000000000000001 main+0x10 [dd]\n" TASK("dd", 1, 5)
	  "    [Missed Kernel Stack]\n    [Missed User Stack]\n" TASK("dd", 1, 6),
	  { { 5, "dd", 1, T(MAIN), MISSED }, { 6, "dd", 1, MISSED, MISSED } } },
	{ "truncated",
	  { FOLDED, .delimited = true, .annotations = true },
	  "dd;[truncated];main;-;[truncated];vfs_read_[k] 4\n",
	  { { 4, "dd", 1, CUT(MAIN), CUT(VFS) } } },
	{ "truncated, text",
	  { TEXT, .delimited = true, .addresses = true, .offsets = true },
	  "    0x0000000000000015 vfs_read+0xff [kernel]\n    [truncated]\n    --\n"
	  "    0x0000000000000001 main+0x10 [dd]\n    [truncated]\n" TASK("dd", 1, 4),
	  { { 4, "dd", 1, CUT(MAIN), CUT(VFS) } } },
	{ "truncated before the first frame",
	  { FOLDED, .delimited = true },
	  "dd;[truncated];-;vfs_read 4\n",
	  { { 4, "dd", 1, CUT_EMPTY, T(VFS) } } },
	{ "taken, but empty: like none",
	  { FOLDED, .delimited = true },
	  "dd 3\ndd;vfs_read 4\n",
	  { { 4, "dd", 1, T_EMPTY, T(VFS) },
	    { 1, "dd", 1, T_EMPTY, T_EMPTY },
	    { 2, "dd", 1, NONE, T_EMPTY } } },
	{ "a symbol without letters", { FOLDED }, "dd;[unknown] 1\n", { { 1, "dd", 1, T(EMPTY), NONE } } },
	{ "a symbol without letters in a file, -s",
	  { TEXT, .offsets = true },
	  "    [libfoo.so]\n" TASK("dd", 1, 1),
	  { { 1, "dd", 1, T(EMPTY_FILE), NONE } } },
	/* rows that print the same */
	{ "two addresses of a function",
	  { FOLDED },
	  "dd;main 5\n",
	  { { 2, "dd", 1, T(MAIN), NONE }, { 3, "dd", 1, T(MAIN_LATER), NONE } } },
	{ "two addresses of a function, text",
	  { TEXT },
	  "    main\n" TASK("dd", 1, 5),
	  { { 2, "dd", 1, T(MAIN), NONE }, { 3, "dd", 1, T(MAIN_LATER), NONE } } },
	{ "two addresses of a function, -A tells",
	  { TEXT, .addresses = true },
	  "    0x0000000000000001 main\n" TASK("dd", 1, 2)
	  "    0x0000000000000002 main\n" TASK("dd", 1, 2),
	  { { 2, "dd", 1, T(MAIN_LATER), NONE }, { 2, "dd", 1, T(MAIN), NONE } } },
	{ "two addresses of a function, -s tells",
	  { TEXT, .offsets = true },
	  "    main+0x20 [dd]\n" TASK("dd", 1, 1)
	  "    main+0x10 [dd]\n" TASK("dd", 1, 2),
	  { { 2, "dd", 1, T(MAIN), NONE }, { 1, "dd", 1, T(MAIN_LATER), NONE } } },
	{ "pids do not show when folded",
	  { FOLDED },
	  "dd;main 5\n",
	  { { 2, "dd", 2, T(MAIN), NONE }, { 3, "dd", 1, T(MAIN), NONE } } },
	{ "pids show in text",
	  { TEXT },
	  "    main\n" TASK("dd", 9, 2) "    main\n" TASK("dd", 10, 2),
	  { { 2, "dd", 10, T(MAIN), NONE }, { 2, "dd", 9, T(MAIN), NONE } } },
	{ "comms that become equal when made safe",
	  { FOLDED },
	  "d:d;main 3\nd?d;main 12\n",
	  { { 1, "d;d", 1, T(MAIN), NONE },
	    { 2, "d:d", 1, T(MAIN), NONE },
	    { 4, "d\1d", 1, T(MAIN), NONE },
	    { 8, "d\xff" "d", 1, T(MAIN), NONE } } },
	{ "comms that become equal when made safe, text",
	  { TEXT },
	  TASK("d:d", 1, 1) TASK("d;d", 1, 1)
	  TASK("d?d", 1, 12),
	  { { 1, "d;d", 1, NONE, NONE },
	    { 1, "d:d", 1, NONE, NONE },
	    { 4, "d\1d", 1, NONE, NONE },
	    { 8, "d\xff" "d", 1, NONE, NONE } } },
	{ "a ';' folds to ':'",
	  { FOLDED },
	  "dd;a:b;a:b 3\n",
	  { { 1, "dd", 1, T(SEMI, COLON), NONE }, { 2, "dd", 1, T(COLON, SEMI), NONE } } },
	{ "a ';' in text stays, and decides last",
	  { TEXT },
	  "    a;b\n    a:b\n" TASK("dd", 1, 1)
	  "    a:b\n    a;b\n" TASK("dd", 1, 1),
	  { { 1, "dd", 1, T(COLON, SEMI), NONE }, { 1, "dd", 1, T(SEMI, COLON), NONE } } },
	{ "one name on both sides",
	  { FOLDED },
	  "dd;a;b 7\n",
	  { { 1, "dd", 1, T(B, A), NONE },
	    { 2, "dd", 1, T(A), T(K_B) },
	    { 4, "dd", 1, NONE, T(K_B, K_A) } } },
	{ "one name on both sides, -a tells",
	  { FOLDED, .annotations = true },
	  "dd;a;b 1\ndd;a;b_[k] 1\ndd;a_[k];b_[k] 1\n",
	  { { 1, "dd", 1, NONE, T(K_B, K_A) },
	    { 1, "dd", 1, T(A), T(K_B) },
	    { 1, "dd", 1, T(B, A), NONE } } },
	{ "one name on both sides, -d tells",
	  { FOLDED, .delimited = true },
	  "dd;a;-;b 2\ndd;a;b 5\n",
	  { { 1, "dd", 1, T(B, A), NONE },
	    { 2, "dd", 1, T(A), T(K_B) },
	    { 4, "dd", 1, NONE, T(K_B, K_A) } } },
	{ "a function with the name of the delimiter",
	  { FOLDED, .delimited = true },
	  "dd;a;-;b 3\n",
	  { { 1, "dd", 1, T(B, DASH, A), NONE }, { 2, "dd", 1, T(A), T(K_B) } } },
	{ "a function with the name of the delimiter, text",
	  { TEXT, .delimited = true },
	  "    b\n    --\n    a\n" TASK("dd", 1, 3)
	  "    b\n    -\n    a\n" TASK("dd", 1, 4),
	  { { 4, "dd", 1, T(B, DASH, A), NONE },
	    { 1, "dd", 1, T(B, DASHES, A), NONE },
	    { 2, "dd", 1, T(A), T(K_B) } } },
	{ "a sum that does not fit",
	  { FOLDED },
	  "dd;b 1\ndd;a 18446744073709551615\n",
	  { { UINT64_MAX, "dd", 1, T(A), NONE },
	    { UINT64_MAX - 1, "dd", 2, T(A), NONE },
	    { 1, "dd", 1, T(B), NONE } } },
	/* order */
	{ "value, as a number",
	  { FOLDED },
	  "dd;b 9\ndd;a 10\ndd;main 18446744073709551614\n",
	  { { 10, "dd", 1, T(A), NONE },
	    { UINT64_MAX - 1, "dd", 1, T(MAIN), NONE },
	    { 9, "dd", 1, T(B), NONE } } },
	{ "sorts by the merged value",
	  { FOLDED },
	  "dd;b 3\ndd;a 4\n",
	  { { 2, "dd", 1, T(A), NONE }, { 3, "dd", 1, T(B), NONE }, { 2, "dd", 2, T(A), NONE } } },
	{ "comm before stack, as bytes",
	  { FOLDED },
	  ";b 1\nB;b 1\na;b 1\na b;a 1\nab;a 1\n\xc3\xa9;a 1\n",
	  { { 1, "\xc3\xa9", 1, T(A), NONE },
	    { 1, "ab", 1, T(A), NONE },
	    { 1, "a b", 1, T(A), NONE },
	    { 1, "", 1, T(B), NONE },
	    { 1, "a", 1, T(B), NONE },
	    { 1, "B", 1, T(B), NONE } } },
	{ "stacks as bytes of the line",
	  { FOLDED },
	  "dd 1\ndd;a 1\ndd;a b 1\ndd;a b;a 1\ndd;a+;a 1\ndd;a;a 1\ndd;a<;a 1\ndd;b 1\n",
	  { { 1, "dd", 1, T(B), NONE },
	    { 1, "dd", 1, T(A, A_LT), NONE },
	    { 1, "dd", 1, T(A, A), NONE },
	    { 1, "dd", 1, T(A, A_PLUS), NONE },
	    { 1, "dd", 1, T(A_B), NONE },
	    { 1, "dd", 1, T(A, A_B), NONE },
	    { 1, "dd", 1, T(A), NONE },
	    { 1, "dd", 1, NONE, NONE } } },
	{ "comm, then pid, then stack",
	  { TEXT },
	  "    b\n" TASK("a", 2, 1) "    a\n" TASK("a", 10, 1)
	  "    b\n" TASK("a", 10, 1) "    a\n" TASK("b", 1, 1),
	  { { 1, "b", 1, T(A), NONE },
	    { 1, "a", 10, T(B), NONE },
	    { 1, "a", 10, T(A), NONE },
	    { 1, "a", 2, T(B), NONE } } },
	{ "text is in the folded order",
	  { TEXT },
	  "    main\n    a;\n" TASK("dd", 1, 1) "    b\n    a\n" TASK("dd", 1, 1),
	  { { 1, "dd", 1, T(B, A), NONE }, { 1, "dd", 1, T(MAIN, A_B_SEMI), NONE } } },
	/* in units */
	{ "unit",
	  { FOLDED, .unit = 1000 },
	  "dd;main 0\ndd;a 1\ndd;b 2\n",
	  { { 2999, "dd", 1, T(B), NONE }, { 1000, "dd", 1, T(A), NONE }, { 999, "dd", 1, T(MAIN), NONE } } },
	{ "unit, text",
	  { TEXT, .unit = 1000 },
	  "    a\n" TASK("dd", 1, 1) "    b\n" TASK("dd", 1, 2),
	  { { 2999, "dd", 1, T(B), NONE }, { 1000, "dd", 1, T(A), NONE } } },
	{ "unit 1", { FOLDED, .unit = 1 }, "dd;a 1999\n", { { 1999, "dd", 1, T(A), NONE } } },
	{ "a unit as large as there is",
	  { FOLDED, .unit = UINT64_MAX },
	  "dd;b 0\ndd;a 1\n",
	  { { UINT64_MAX, "dd", 1, T(A), NONE }, { UINT64_MAX - 1, "dd", 1, T(B), NONE } } },
	{ "units of a sum that does not fit",
	  { FOLDED, .unit = 1000 },
	  "dd;a 18446744073709551\n",
	  { { UINT64_MAX, "dd", 1, T(A), NONE }, { UINT64_MAX - 1, "dd", 2, T(A), NONE } } },
	{ "rows are merged, then divided",
	  { FOLDED, .unit = 1000 },
	  "dd;b 1\ndd;a 2\n",
	  { { 999, "dd", 1, T(A), NONE }, { 1, "dd", 2, T(A), NONE }, { 1000, "dd", 3, T(A), NONE },
	    { 999, "dd", 1, T(B), NONE }, { 999, "dd", 2, T(B), NONE } } },
	{ "sorts by the printed value, then the stack",
	  { FOLDED, .unit = 1000 },
	  "dd;a 1\ndd;b 1\ndd;main 2\n",
	  { { 1999, "dd", 1, T(A), NONE }, { 1001, "dd", 1, T(B), NONE }, { 2000, "dd", 1, T(MAIN), NONE } } },
	{ "sorts by the printed value, then the pid",
	  { TEXT, .unit = 1000 },
	  "    main\n" TASK("dd", 9, 1) "    main\n" TASK("dd", 10, 1),
	  { { 1000, "dd", 10, T(MAIN), NONE }, { 1999, "dd", 9, T(MAIN), NONE } } },
	/* kernel stacks from where the thread left its CPU */
	{ "tracing code is not named",
	  { FOLDED },
	  "dd;futex_wait;schedule;__schedule;perf_trace_sched_switch 4\n",
	  { { 4, "dd", 1, NONE, T(TRACING, SWITCH, SCHEDULE, FUTEX) } } },
	{ "tracing code is not shown",
	  { SCHED },
	  "dd;main;futex_wait;schedule 4\n",
	  { { 4, "dd", 1, T(MAIN), T(PROGRAM, TRACING, SWITCH, SCHEDULE, FUTEX) } } },
	{ "tracing code is not shown, text",
	  { TEXT, .from_schedule = true },
	  "    schedule\n    futex_wait\n    main\n" TASK("dd", 1, 4),
	  { { 4, "dd", 1, T(MAIN), T(TRACING, SWITCH, SCHEDULE, FUTEX) } } },
	{ "tracing code is not shown, every option",
	  { TEXT, .from_schedule = true, .addresses = true, .offsets = true, .annotations = true, .delimited = true,
	    .unit = 1000 },
	  "    0x000000000000002d futex_wait+0x99 [kernel]_[k]\n"
	  "    [truncated]\n    --\n"
	  "    0x0000000000000001 main+0x10 [dd]\n    [truncated]\n" TASK("dd", 1, 4),
	  { { 4000, "dd", 1, CUT(MAIN), CUT(TRACING, SWITCH, FUTEX) } } },
	{ "no tracing code",
	  { SCHED },
	  "dd;futex_wait;schedule 4\n",
	  { { 4, "dd", 1, NONE, T(SWITCH, SCHEDULE, FUTEX) } } },
	{ "only tracing code",
	  { SCHED },
	  "dd;perf_trace_sched_switch;bpf_prog_0123456789abcdef 4\n",
	  { { 4, "dd", 1, NONE, T(PROGRAM, TRACING) } } },
	{ "the scheduler alone", { SCHED }, "dd;__schedule 4\n", { { 4, "dd", 1, NONE, T(TRACING, SWITCH) } } },
	{ "the first __schedule counts",
	  { SCHED },
	  "dd;__schedule;futex_wait 4\n",
	  { { 4, "dd", 1, NONE, T(TRACING, SWITCH, FUTEX, SWITCH) } } },
	{ "twice, as in 5.4",
	  { SCHED },
	  "dd;futex_wait;schedule 4\n",
	  { { 4, "dd", 1, NONE, T(SWITCH, SWITCH_LATER, SCHEDULE, FUTEX) } } },
	{ "twice and alone", { SCHED }, "dd;__schedule 4\n", { { 4, "dd", 1, NONE, T(SWITCH, SWITCH) } } },
	{ "with a compiler's suffix",
	  { SCHED },
	  "dd;a 2\ndd;b 4\n",
	  { { 4, "dd", 1, NONE, T(TRACING, SWITCH_ISRA, K_B) }, { 2, "dd", 1, NONE, T(TRACING, SWITCH_COLD, K_A) } } },
	{ "other names that begin like it",
	  { SCHED },
	  "dd;schedule_timeout;__sched;__schedule_bug;perf_trace_sched_switch 4\n",
	  { { 4, "dd", 1, NONE, T(TRACING, SWITCH_NOT, SWITCH_NEITHER, SCHEDULE_NOT) } } },
	{ "other names that begin like it, below",
	  { SCHED },
	  "dd;a 4\n",
	  { { 4, "dd", 1, NONE, T(TRACING, SWITCH_NOT, SWITCH_NEITHER, SCHEDULE_NOT, SWITCH, K_A) } } },
	{ "it is inlined",
	  { SCHED },
	  "dd;a;preempt_schedule_common 1\ndd;a;preempt_schedule_irq 2\ndd;a;schedule 3\ndd;a;schedule.part.3 4\n"
	  "dd;a;schedule_idle 5\n",
	  { { 1, "dd", 1, NONE, T(TRACING, IN_COMMON, K_A) },
	    { 2, "dd", 1, NONE, T(TRACING, IN_IRQ, K_A) },
	    { 3, "dd", 1, NONE, T(TRACING, SCHEDULE, K_A) },
	    { 4, "dd", 1, NONE, T(TRACING, SCHEDULE_PART, K_A) },
	    { 5, "dd", 1, NONE, T(TRACING, IN_IDLE, K_A) } } },
	{ "inlined, the first one counts",
	  { SCHED },
	  "dd;a;preempt_schedule_irq;schedule 4\n",
	  { { 4, "dd", 1, NONE, T(TRACING, SCHEDULE, IN_IRQ, K_A) } } },
	{ "not inlined, though its callers come first",
	  { SCHED },
	  "dd;a 4\n",
	  { { 4, "dd", 1, NONE, T(TRACING, SCHEDULE, IN_IRQ, SWITCH, K_A) } } },
	{ "the sixteenth frame",
	  { SCHED },
	  "dd;a 4\n",
	  { { 4, "dd", 1, NONE, T(FIFTEEN, SWITCH, K_A) } } },
	{ "the seventeenth frame",
	  { SCHED },
	  "dd;a;__schedule;schedule;" TEN_FOLDED ";perf_trace_sched_switch;perf_trace_sched_switch;"
	  "perf_trace_sched_switch;perf_trace_sched_switch;perf_trace_sched_switch;__sched 4\n",
	  { { 4, "dd", 1, NONE, T(SWITCH_NEITHER, FIFTEEN, SCHEDULE, SWITCH, K_A) } } },
	{ "the sixteenth and the seventeenth",
	  { SCHED },
	  "dd;a;__schedule;schedule 4\n",
	  { { 4, "dd", 1, NONE, T(FIFTEEN, SCHEDULE, SWITCH, K_A) } } },
	{ "no name at all", { SCHED }, "dd;a;[unknown] 4\n", { { 4, "dd", 1, NONE, T(HIDDEN, K_A) } } },
	{ "no name before it", { SCHED }, "dd;a 4\n", { { 4, "dd", 1, NONE, T(HIDDEN, SWITCH, K_A) } } },
	{ "truncated, and tracing code",
	  { SCHED, .delimited = true, .annotations = true },
	  "dd;main;-;[truncated];schedule_[k] 4\n",
	  { { 4, "dd", 1, T(MAIN), CUT(TRACING, SWITCH, SCHEDULE) } } },
	{ "truncated and empty, missed, none",
	  { SCHED, .delimited = true },
	  "dd;main 1\ndd;main;-;[truncated] 2\ndd;main;[Missed Kernel Stack] 4\n",
	  { { 1, "dd", 1, T(MAIN), NONE }, { 2, "dd", 1, T(MAIN), CUT_EMPTY }, { 4, "dd", 1, T(MAIN), MISSED } } },
	{ "user frames stay",
	  { SCHED },
	  "dd;main;__schedule;read;__schedule 4\n",
	  { { 4, "dd", 1, T(READ, OWN_SWITCH, MAIN), T(TRACING, SWITCH) } } },
	{ "only user frames stay",
	  { SCHED },
	  "dd;main;__schedule;read;a 4\n",
	  { { 4, "dd", 1, T(READ, OWN_SWITCH, MAIN), T(K_A) } } },
	{ "rows that differ in tracing code",
	  { SCHED, .unit = 1000 },
	  "dd;b 1\ndd;futex_wait 2\n",
	  { { 999, "dd", 1, NONE, T(TRACING, SWITCH, FUTEX) },
	    { 1, "dd", 1, NONE, T(PROGRAM, TRACING, SWITCH, FUTEX) },
	    { 1000, "dd", 1, NONE, T(SWITCH, FUTEX) },
	    { 1000, "dd", 1, NONE, T(K_B) } } },
	{ "rows that differ in tracing code, and in an address",
	  { TEXT, .from_schedule = true, .addresses = true },
	  "    0x0000000000000021 __schedule\n" TASK("dd", 1, 3)
	  "    0x0000000000000022 __schedule\n" TASK("dd", 1, 4),
	  { { 1, "dd", 1, NONE, T(TRACING, SWITCH) },
	    { 2, "dd", 1, NONE, T(PROGRAM, TRACING, SWITCH) },
	    { 4, "dd", 1, NONE, T(TRACING, SWITCH_LATER) } } },
	{ "rows that differ in tracing code, sorted without it",
	  { SCHED },
	  "dd;a 1\ndd;b 1\n",
	  { { 1, "dd", 1, NONE, T(TRACING, SWITCH, K_B) }, { 1, "dd", 1, NONE, T(PROGRAM, TRACING, SWITCH, K_A) } } },
	/* hostile names */
	{ "evil names", { FOLDED }, "d?;e?[2Jvil? 1\n", { { 1, "d\n", 1, T(EVIL), NONE } } },
	{ "evil names, text",
	  { TEXT, .offsets = true },
	  "    e?[2Jvil?+0x0 [m???]\n    a;b+0x1 [x;y]\n" TASK("d?", 1, 1),
	  { { 1, "d\n", 1, T(EVIL, SEMI), NONE } } },
};
/* clang-format on */

/* ---- rows of several kinds */

enum { MAX_PARTS = 3 };

struct part {
	const char *root;
	uint64_t weight; /* 0: there is no such part */
	bool from_schedule;
	struct input in[MAX_ROWS];
};

/* clang-format off */
#define ON(weight, ...)  { "on-cpu", weight, false, { __VA_ARGS__ } }
#define OFF(...)         { "off-cpu", 1, true, { __VA_ARGS__ } }
#define NO_ROWS          { 0 }
#define MOST             18446744073709551615U
#define HALF             9223372036854775808U

static const struct {
	const char *name;
	struct report_cfg cfg;
	const char *out;
	struct part parts[MAX_PARTS];
} of_parts[] = {
	{ "two parts",
	  { FOLDED },
	  "dd;off-cpu;main;read;futex_wait 3\ndd;on-cpu;main;read;vfs_read 4\n",
	  { ON(1, { 4, "dd", 1, T(READ, MAIN), T(VFS) }), OFF({ 3, "dd", 1, T(READ, MAIN), T(FUTEX) }) } },
	{ "two parts, text",
	  { TEXT },
	  "    futex_wait\n    read\n    main\n    off-cpu\n" TASK("dd", 1, 3)
	  "    vfs_read\n    read\n    main\n    on-cpu\n" TASK("dd", 1, 4),
	  { ON(1, { 4, "dd", 1, T(READ, MAIN), T(VFS) }), OFF({ 3, "dd", 1, T(READ, MAIN), T(FUTEX) }) } },
	{ "folded -d -a: the root has neither",
	  { FOLDED, .delimited = true, .annotations = true },
	  "dd;off-cpu;main;-;futex_wait_[k] 3\ndd;on-cpu;main;-;vfs_read_[k] 4\n",
	  { ON(1, { 4, "dd", 1, T(MAIN), T(VFS) }), OFF({ 3, "dd", 1, T(MAIN), T(FUTEX) }) } },
	{ "text -d -a -A -s: nor an address",
	  { TEXT, .delimited = true, .annotations = true, .addresses = true, .offsets = true },
	  "    0x0000000000000015 vfs_read+0xff [kernel]_[k]\n    --\n"
	  "    0x0000000000000001 main+0x10 [dd]\n    on-cpu\n" TASK("dd", 1, 4),
	  { ON(1, { 4, "dd", 1, T(MAIN), T(VFS) }) } },
	{ "-d, one side: the root is none",
	  { FOLDED, .delimited = true },
	  "dd;on-cpu;main 4\ndd;off-cpu;futex_wait 5\n",
	  { ON(1, { 4, "dd", 1, T(MAIN), NONE }), OFF({ 5, "dd", 1, NONE, T(FUTEX) }) } },
	{ "no stacks",
	  { FOLDED, .delimited = true },
	  "dd;off-cpu 3\ndd;on-cpu 4\n",
	  { ON(1, { 4, "dd", 1, NONE, NONE }), OFF({ 3, "dd", 1, NONE, NONE }) } },
	{ "no stacks, text",
	  { TEXT, .delimited = true },
	  "    off-cpu\n" TASK("dd", 1, 3) "    on-cpu\n" TASK("dd", 1, 4),
	  { ON(1, { 4, "dd", 1, NONE, NONE }), OFF({ 3, "dd", 1, NONE, NONE }) } },
	{ "truncated",
	  { FOLDED, .delimited = true },
	  "dd;on-cpu;[truncated];main;-;[truncated];vfs_read 4\n"
	  "dd;off-cpu;[truncated];main;-;[truncated];futex_wait 5\n",
	  { ON(1, { 4, "dd", 1, CUT(MAIN), CUT(VFS) }), OFF({ 5, "dd", 1, CUT(MAIN), CUT(TRACING, SWITCH, FUTEX) }) } },
	{ "truncated, text",
	  { TEXT },
	  "    vfs_read\n    [truncated]\n    main\n    [truncated]\n    on-cpu\n" TASK("dd", 1, 4),
	  { ON(1, { 4, "dd", 1, CUT(MAIN), CUT(VFS) }) } },
	{ "missed",
	  { FOLDED, .delimited = true, .annotations = true },
	  "dd;on-cpu;[Missed User Stack];vfs_read_[k] 4\n"
	  "dd;off-cpu;main;[Missed Kernel Stack] 5\n"
	  "dd;off-cpu;[Missed User Stack];[Missed Kernel Stack] 6\n",
	  { ON(1, { 4, "dd", 1, MISSED, T(VFS) }),
	    OFF({ 5, "dd", 1, T(MAIN), MISSED }, { 6, "dd", 1, MISSED, MISSED }) } },
	{ "missed, text",
	  { TEXT },
	  "    [Missed Kernel Stack]\n    [Missed User Stack]\n    off-cpu\n" TASK("dd", 1, 6),
	  { ON(1, NO_ROWS), OFF({ 6, "dd", 1, MISSED, MISSED }) } },
	/* rows that become one */
	{ "the same stack in both",
	  { FOLDED },
	  "dd;off-cpu;main;vfs_read 4\ndd;on-cpu;main;vfs_read 4\n",
	  { ON(1, { 4, "dd", 1, T(MAIN), T(VFS) }), OFF({ 4, "dd", 1, T(MAIN), T(VFS) }) } },
	{ "the same stack in both, text",
	  { TEXT },
	  "    main\n    off-cpu\n" TASK("dd", 1, 4) "    main\n    on-cpu\n" TASK("dd", 1, 4),
	  { ON(1, { 4, "dd", 1, T(MAIN), NONE }), OFF({ 4, "dd", 1, T(MAIN), NONE }) } },
	{ "one row in each part",
	  { FOLDED },
	  "dd;off-cpu;main 7\ndd;on-cpu;main 300\n",
	  { ON(100, { 1, "dd", 1, T(MAIN), NONE }, { 2, "dd", 2, T(MAIN_LATER), NONE }),
	    OFF({ 3, "dd", 1, T(MAIN_LATER), NONE }, { 4, "dd", 3, T(MAIN), NONE }) } },
	{ "two parts of one root",
	  { FOLDED },
	  "dd;on-cpu;main 203\n",
	  { ON(100, { 2, "dd", 1, T(MAIN), NONE }), ON(1, { 3, "dd", 1, T(MAIN), NONE }) } },
	{ "two parts of one root, and of one without",
	  { FOLDED },
	  "dd;on-cpu;main 5\ndd;main 7\n",
	  { ON(1, { 2, "dd", 1, T(MAIN), NONE }),
	    { NULL, 1, false, { { 7, "dd", 1, T(MAIN), NONE } } },
	    ON(1, { 3, "dd", 1, T(MAIN), NONE }) } },
	{ "a root is no frame of another stack, unless it prints the same",
	  { FOLDED },
	  "dd;a;b 3\ndd;a;a;b 4\n",
	  { { "a", 1, false, { { 1, "dd", 1, T(B), NONE }, { 4, "dd", 1, T(B, A), NONE } } },
	    { NULL, 1, false, { { 2, "dd", 1, T(B, A), NONE } } } } },
	{ "a root that has to be made safe",
	  { FOLDED },
	  "dd;o:n?;main 1\n",
	  { { "o;n\n", 1, false, { { 1, "dd", 1, T(MAIN), NONE } } } } },
	{ "tasks and stacks belong to the part",
	  { FOLDED },
	  "dd;on-cpu;main;a 1\ncp;off-cpu;read;b 2\ndd;off-cpu;read;futex_wait 4\ncp;on-cpu;main;vfs_read 8\n",
	  { ON(1, { 1, "dd", 1, T(MAIN), T(K_A) }, { 8, "cp", 2, T(MAIN), T(VFS) }),
	    OFF({ 2, "cp", 2, T(READ), T(K_B) }, { 4, "dd", 1, T(READ), T(FUTEX) }) } },
	/* values */
	{ "weights",
	  { FOLDED },
	  "dd;off-cpu;main 7\ndd;on-cpu;main 61224489\n",
	  { ON(20408163, { 3, "dd", 1, T(MAIN), NONE }), OFF({ 7, "dd", 1, T(MAIN), NONE }) } },
	{ "weights, sorted by the printed value",
	  { FOLDED },
	  "dd;on-cpu;a 10\ndd;off-cpu;a 15\ndd;on-cpu;b 20\ndd;off-cpu;b 25\n",
	  { ON(10, { 2, "dd", 1, T(B), NONE }, { 1, "dd", 1, T(A), NONE }),
	    OFF({ 25, "dd", 1, T(B), NONE }, { 15, "dd", 1, T(A), NONE }) } },
	{ "the largest",
	  { FOLDED },
	  "dd;on-cpu;main 18446744073709551614\n",
	  { ON(2, { HALF - 1, "dd", 1, T(MAIN), NONE }) } },
	{ "too large for the weight",
	  { FOLDED },
	  "dd;on-cpu;a 2\ndd;off-cpu;main 18446744073709551615\ndd;on-cpu;main 18446744073709551615\n",
	  { ON(2, { HALF, "dd", 1, T(MAIN), NONE }, { 1, "dd", 1, T(A), NONE }),
	    OFF({ MOST, "dd", 1, T(MAIN), NONE }) } },
	{ "the largest weight",
	  { TEXT },
	  "    main\n    on-cpu\n" TASK("dd", 1, 18446744073709551615),
	  { ON(MOST, { 2, "dd", 1, T(MAIN), NONE }) } },
	{ "too large together",
	  { FOLDED },
	  "dd;on-cpu;main 18446744073709551615\n",
	  { ON(2, { HALF / 2, "dd", 1, T(MAIN), NONE }, { HALF / 2, "dd", 2, T(MAIN), NONE }) } },
	{ "divided after the weight and the sum",
	  { FOLDED, .unit = 1000 },
	  "dd;off-cpu;a 0\ndd;off-cpu;main 1\ndd;on-cpu;main 2\n",
	  { ON(500, { 3, "dd", 1, T(MAIN), NONE }, { 2, "dd", 2, T(MAIN), NONE }),
	    OFF({ 999, "dd", 1, T(MAIN), NONE }, { 1, "dd", 2, T(MAIN), NONE }, { 999, "dd", 1, T(A), NONE }) } },
	{ "divided, sorted by the printed value",
	  { FOLDED, .unit = 1000 },
	  "dd;off-cpu;b 1\ndd;on-cpu;a 1\n",
	  { ON(1, { 1001, "dd", 1, T(A), NONE }), OFF({ 1999, "dd", 1, T(B), NONE }) } },
	{ "sorted by the comm, the pid, and then the root",
	  { TEXT },
	  "    main\n    on-cpu\n" TASK("cp", 9, 1)
	  "    main\n    on-cpu\n" TASK("dd", 2, 1)
	  "    main\n    off-cpu\n" TASK("dd", 3, 1)
	  "    a\n    on-cpu\n" TASK("dd", 3, 1),
	  { ON(1, { 1, "dd", 2, T(MAIN), NONE }, { 1, "cp", 9, T(MAIN), NONE }, { 1, "dd", 3, T(A), NONE }),
	    OFF({ 1, "dd", 3, T(MAIN), NONE }) } },
	/* the beginning of a kernel stack */
	{ "tracing code is left out of one part only",
	  { FOLDED },
	  "dd;off-cpu;futex_wait 1\ndd;on-cpu;futex_wait;__schedule;perf_trace_sched_switch 1\n",
	  { ON(1, { 1, "dd", 1, NONE, T(TRACING, SWITCH, FUTEX) }),
	    OFF({ 1, "dd", 1, NONE, T(TRACING, SWITCH, FUTEX) }) } },
	{ "in the other order",
	  { FOLDED },
	  "dd;off-cpu;futex_wait 1\ndd;on-cpu;futex_wait;__schedule;perf_trace_sched_switch 1\n",
	  { OFF({ 1, "dd", 1, NONE, T(TRACING, SWITCH, FUTEX) }),
	    ON(1, { 1, "dd", 1, NONE, T(TRACING, SWITCH, FUTEX) }) } },
	{ "the option of report_write() has no effect",
	  { SCHED },
	  "dd;on-cpu;futex_wait;__schedule;perf_trace_sched_switch 1\n",
	  { ON(1, { 1, "dd", 1, NONE, T(TRACING, SWITCH, FUTEX) }) } },
	{ "rows that differ in tracing code",
	  { FOLDED },
	  "dd;on-cpu;futex_wait;__schedule 1\ndd;off-cpu;futex_wait 3\n",
	  { OFF({ 1, "dd", 1, NONE, T(TRACING, SWITCH, FUTEX) }, { 2, "dd", 1, NONE, T(SWITCH, FUTEX) }),
	    ON(1, { 1, "dd", 1, NONE, T(SWITCH, FUTEX) }) } },
	/* missing parts */
	{ "no part", { FOLDED }, "", { NO_ROWS } },
	{ "empty parts", { TEXT }, "", { ON(1, NO_ROWS), OFF(NO_ROWS) } },
	{ "the first is empty", { FOLDED }, "dd;off-cpu;main 1\n", { ON(1, NO_ROWS), OFF({ 1, "dd", 1, T(MAIN), NONE }) } },
	{ "the second is empty", { FOLDED }, "dd;on-cpu;main 1\n", { ON(1, { 1, "dd", 1, T(MAIN), NONE }), OFF(NO_ROWS) } },
	{ "the middle one is empty",
	  { FOLDED },
	  "dd;off-cpu;main 1\ndd;on-cpu;main 1\n",
	  { ON(1, { 1, "dd", 1, T(MAIN), NONE }), ON(1, NO_ROWS), OFF({ 1, "dd", 1, T(MAIN), NONE }) } },
};
/* clang-format on */

static struct stack side(const struct side *in, uint64_t *frames)
{
	struct stack s = { .frames = frames, .state = in->state, .truncated = in->truncated };

	for (; s.nr < MAX_FRAMES && in->frames[s.nr]; s.nr++)
		frames[s.nr] = in->frames[s.nr] == UNMAPPED ? (uint64_t)NOWHERE : in->frames[s.nr];
	return s;
}

static void add(struct rows *t, const struct input *in)
{
	uint64_t user_frames[MAX_FRAMES], kernel_frames[MAX_FRAMES];
	struct stack user = side(&in->user, user_frames), kernel = side(&in->kernel, kernel_frames);
	char comm[COMM_LEN] = "";

	memcpy(comm, in->comm, strlen(in->comm));
	ck_assert_int_eq(row_add(t, comm, in->pid, &kernel, &user, in->value, in->value), 0);
}

static char *write_report(const struct rows *t, const struct report_names *names, const struct report_cfg *cfg)
{
	struct err err = { 0 };
	char *buf = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&buf, &len);

	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(report_write(out, t, names, cfg, &err), 0);
	ck_assert_int_eq(err.code, 0);
	ck_assert_int_eq(fclose(out), 0);
	ck_assert_uint_eq(strlen(buf), len);
	return buf;
}

static void assert_report(const struct rows *t, const struct report_cfg *cfg, const char *want, const char *name)
{
	char *got = write_report(t, &world, cfg);

	ck_assert_msg(!strcmp(got, want), "%s: got\n%s\nwant\n%s", name, got, want);
	free(got);
}

static void shuffle(uint32_t *order, uint32_t nr)
{
	uint32_t i, j, tmp;

	for (i = nr; i > 1; i--) {
		j = (uint32_t)rand() % i;
		tmp = order[i - 1];
		order[i - 1] = order[j];
		order[j] = tmp;
	}
}

/* The same bytes for rows in any order. */
START_TEST(test_golden)
{
	const struct golden *g = &goldens[_i];
	uint32_t order[MAX_ROWS], nr, i, round;

	for (nr = 0; nr < MAX_ROWS && g->in[nr].value; nr++)
		order[nr] = nr;
	srand(1);
	for (round = 0; round < 20; round++) {
		struct rows *t = rows_new();

		for (i = 0; i < nr; i++)
			add(t, &g->in[order[i]]);
		assert_report(t, &g->cfg, g->out, g->name);
		rows_free(t);
		shuffle(order, nr);
	}
}
END_TEST

static char *write_parts(const struct report_part *parts, size_t nr, const struct report_cfg *cfg)
{
	struct err err = { 0 };
	char *buf = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&buf, &len);
	struct report_output o;

	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(report_begin(&o, out, cfg->form, NULL, &err), 0);
	ck_assert_int_eq(report_rows(&o, parts, nr, cfg, &err), 0);
	ck_assert_int_eq(report_end(&o, true, &err), 0);
	ck_assert_int_eq(err.code, 0);
	ck_assert_int_eq(fclose(out), 0);
	ck_assert_uint_eq(strlen(buf), len);
	return buf;
}

START_TEST(test_parts)
{
	struct report_part parts[MAX_PARTS];
	struct rows *stacks[MAX_PARTS];
	size_t nr, i;
	char *got;

	for (nr = 0; nr < MAX_PARTS && of_parts[_i].parts[nr].weight; nr++) {
		const struct part *p = &of_parts[_i].parts[nr];

		stacks[nr] = rows_new();
		for (i = 0; i < MAX_ROWS && p->in[i].value; i++)
			add(stacks[nr], &p->in[i]);
		parts[nr] = (struct report_part){
			.rows = stacks[nr],
			.names = &world,
			.root = p->root,
			.weight = p->weight,
			.from_schedule = p->from_schedule,
		};
	}
	got = write_parts(parts, nr, &of_parts[_i].cfg);
	ck_assert_msg(!strcmp(got, of_parts[_i].out), "%s: got\n%s\nwant\n%s", of_parts[_i].name, got,
		      of_parts[_i].out);
	free(got);
	for (i = 0; i < nr; i++)
		rows_free(stacks[i]);
}
END_TEST

/* Without roots the parts are one report, wherever the rows are divided. */
START_TEST(test_golden_cut)
{
	const struct golden *g = &goldens[_i];
	size_t nr, cut, i;

	for (nr = 0; nr < MAX_ROWS && g->in[nr].value; nr++)
		continue;
	for (cut = 0; cut <= nr; cut++) {
		struct rows *head = rows_new(), *tail = rows_new();
		struct report_part parts[2] = { { .rows = head, .names = &world, .weight = 1 } };
		char *got;

		parts[0].from_schedule = g->cfg.from_schedule;
		parts[1] = parts[0];
		parts[1].rows = tail;
		for (i = 0; i < nr; i++)
			add(i < cut ? head : tail, &g->in[i]);
		got = write_parts(parts, ARRAY_SIZE(parts), &g->cfg);
		ck_assert_msg(!strcmp(got, g->out), "%s, cut at %zu: got\n%s\nwant\n%s", g->name, cut, got, g->out);
		free(got);
		rows_free(head);
		rows_free(tail);
	}
}
END_TEST

/* clang-format off */
static const struct {
	const char *in, *out; /* @out: in the multi-line form; folded has ':' for ';' */
} names[] = {
	{ "plain", "plain" },
	{ "operator<(int, char const*)", "operator<(int, char const*)" },
	{ "caf\xc3\xa9", "caf\xc3\xa9" },
	{ "\xe2\x82\xac", "\xe2\x82\xac" },
	{ "\xf0\x9f\x94\xa5", "\xf0\x9f\x94\xa5" },
	{ "\xc2\xa0\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xf0\x90\x80\x80\xf4\x8f\xbf\xbf",
	  "\xc2\xa0\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xf0\x90\x80\x80\xf4\x8f\xbf\xbf" },
	{ "a;b;", "a;b;" },
	/* control characters */
	{ "\1\2\t\n\r\033\037", "???????" },
	{ "a\177b", "a?b" },
	{ "\xc2\x80\xc2\x85\xc2\x9b\xc2\x9f", "????" },
	/* direction marks, embeddings, overrides and isolates */
	{ "\xd8\x9c\xe2\x80\x8e\xe2\x80\x8f", "???" },
	{ "\xe2\x80\xaa\xe2\x80\xab\xe2\x80\xac\xe2\x80\xad\xe2\x80\xae", "?????" },
	{ "\xe2\x81\xa6\xe2\x81\xa7\xe2\x81\xa8\xe2\x81\xa9", "????" },
	/* characters without width, and ends of lines */
	{ "a\xe2\x80\x8b" "b\xe2\x80\x8c\xe2\x80\x8d\xe2\x81\xa0\xef\xbb\xbf", "a?b????" },
	{ "\xe2\x80\xa8\xe2\x80\xa9", "??" },
	/* their neighbours */
	{ "\xd8\x9b\xd8\x9d\xe2\x80\x8a\xe2\x80\x90\xe2\x80\xa7\xe2\x80\xaf\xe2\x81\x9f\xe2\x81\xb0\xef\xbb\xbe",
	  "\xd8\x9b\xd8\x9d\xe2\x80\x8a\xe2\x80\x90\xe2\x80\xa7\xe2\x80\xaf\xe2\x81\x9f\xe2\x81\xb0\xef\xbb\xbe" },
	/* bytes that are no UTF-8 */
	{ "\x80", "?" },
	{ "\xbf" "a", "?a" },
	{ "\xff\xfe", "??" },
	{ "\xc0\x80", "??" },
	{ "\xc1\xbf", "??" },
	{ "\xc3", "?" },
	{ "\xc3(", "?(" },
	{ "\xc3\xc3\xa9", "?\xc3\xa9" },
	{ "\xc3\xa9\xa9", "\xc3\xa9?" },
	{ "\xe0\x9f\xbf", "???" },
	{ "\xe2\x82", "??" },
	{ "\xe2\x82" "a", "??a" },
	{ "\xe2(\xa1", "?(?" },
	{ "\xed\xa0\x80", "???" },
	{ "\xed\xbf\xbf", "???" },
	{ "\xf0\x8f\xbf\xbf", "????" },
	{ "\xf0\x9f\x94", "???" },
	{ "\xf0\x9f\x94;", "???;" },
	{ "\xf4\x90\x80\x80", "????" },
	{ "\xf5\x80\x80\x80", "????" },
	{ "\xf8\x88\x80\x80\x80", "?????" },
	{ "\xc2\n", "??" },
};
/* clang-format on */

static void name_fixed(void *ctx, pid_t pid, const char *comm, uint32_t image, uint64_t addr, bool is_return,
		       struct symbol *out)
{
	(void)pid;
	(void)comm;
	(void)image;
	(void)addr;
	(void)is_return;
	*out = (struct symbol){ ctx, 0, ctx };
}

static void name_fixed_kernel(void *ctx, uint64_t addr, bool is_return, struct symbol *out)
{
	name_fixed(ctx, 0, NULL, 0, addr, is_return, out);
}

/* Names, comms and modules are made safe in the same way. */
START_TEST(test_names)
{
	const struct report_names fixed = { (void *)names[_i].in, name_fixed_kernel, name_fixed };
	const struct report_cfg text = { TEXT, .offsets = true }, folded = { FOLDED };
	const struct side leaf = T(MAIN), none = NONE;
	struct input in = { 1, "dd", 1, leaf, none };
	struct rows *t = rows_new();
	char *got, *want, *p, colons[64];

	add(t, &in);
	got = write_report(t, &fixed, &text);
	ck_assert_int_gt(asprintf(&want, "    %s+0x0 [%s]\n    -                dd (1)\n        1\n\n", names[_i].out,
				  names[_i].out),
			 0);
	ck_assert_str_eq(got, want);
	free(got);
	free(want);

	snprintf(colons, sizeof(colons), "%s", names[_i].out);
	for (p = colons; (p = strchr(p, ';'));)
		*p = ':';
	got = write_report(t, &fixed, &folded);
	ck_assert_int_gt(asprintf(&want, "dd;%s 1\n", colons), 0);
	ck_assert_str_eq(got, want);
	free(got);
	free(want);
	rows_free(t);
}
END_TEST

/* The name is made of the arguments of the resolver. */
static void name_by_address(void *ctx, pid_t pid, const char *comm, uint32_t image, uint64_t addr, bool is_return,
			    struct symbol *out)
{
	static char text[32];

	(void)ctx;
	(void)pid;
	(void)comm;
	(void)image;
	(void)is_return;
	snprintf(text, sizeof(text), "at_%" PRIx64, addr);
	*out = (struct symbol){ text, 4, "dd" };
}

static void name_kernel_by_address(void *ctx, uint64_t addr, bool is_return, struct symbol *out)
{
	name_by_address(ctx, 0, NULL, 0, addr, is_return, out);
}

/* clang-format off */
static const struct {
	const char *name;
	struct report_cfg cfg;
	bool has_names;
	const char *out;
} with_names[] = {
	{ "text", { TEXT, .addresses = true, .offsets = true, .annotations = true, .delimited = true }, true,
	  "    0xffffffff81000000 at_ffffffff81000000+0x4 [dd]_[k]\n"
	  "    [entry]\n"
	  "    --\n"
	  "    _ZN3app5outerEv;?\n"
	  "    0x0000000000401000 at_401000+0x4 [dd]\n"
	  "    [entry]\n"
	  "    0x2000000200000007 at_2000000200000007+0x4 [dd]\n"
	  "    -                dd (1)\n"
	  "        1\n\n" },
	{ "folded", { FOLDED, .annotations = true }, true,
	  "dd;at_2000000200000007;[entry];at_401000;_ZN3app5outerEv:?;[entry];at_ffffffff81000000_[k] 1\n" },
	{ "forged", { FOLDED }, false,
	  "dd;at_2000000200000007;at_2000000200000000;at_401000;at_2000000100000001;at_2000000200000000;"
	  "at_ffffffff81000000 1\n" },
};
/* clang-format on */

/* Name frames on both sides, one with an unknown number, and all of them without names. */
START_TEST(test_name_frames)
{
	struct frame_names frame_names = { 0 };
	const struct report_names by_address = { NULL, name_kernel_by_address, name_by_address,
						 NULL, &frame_names,           demangle_here };
	frame_t user[4] = { 0, 0x401000, 0, FRAME_NAME | (uint64_t)FRAME_MARKER << 32 | 7 };
	frame_t kernel[2] = { 0xffffffff81000000, 0 };
	const struct stack user_stack = { user, 4, STACK_TAKEN, false },
			   kernel_stack = { kernel, 2, STACK_TAKEN, false };
	struct rows *t = rows_new();
	char *got;

	ck_assert_int_eq(frame_names_add(&frame_names, FRAME_MARKER, "[entry]", &kernel[1]), 0);
	ck_assert_int_eq(frame_names_add(&frame_names, FRAME_FUNCTION, "_ZN3app5outerEv;\n", &user[0]), 0);
	user[2] = kernel[1];
	ck_assert_int_eq(row_add(t, "dd", 1, &kernel_stack, &user_stack, 1, 1), 0);
	if (!with_names[_i].has_names)
		frame_names_release(&frame_names);
	got = write_report(t, &by_address, &with_names[_i].cfg);
	ck_assert_msg(!strcmp(got, with_names[_i].out), "%s: got\n%s\nwant\n%s", with_names[_i].name, got,
		      with_names[_i].out);
	free(got);
	frame_names_release(&frame_names);
	rows_free(t);
}
END_TEST

START_TEST(test_comms)
{
	const struct report_cfg text = { TEXT };
	const struct side none = NONE;
	struct input in = { 1, names[_i].in, 1, none, none };
	struct rows *t = rows_new();
	char *got, *want;

	if (strlen(names[_i].in) < COMM_LEN) {
		add(t, &in);
		got = write_report(t, &world, &text);
		ck_assert_int_gt(asprintf(&want, "    -                %s (1)\n        1\n\n", names[_i].out), 0);
		ck_assert_str_eq(got, want);
		free(got);
		free(want);
	}
	rows_free(t);
}
END_TEST

/* A name of many megabytes is cut, also within a character. */
START_TEST(test_long_name)
{
	const size_t cap = 64 * 1024, len = 4 << 20;
	const struct report_cfg cfg = { FOLDED };
	const struct side leaf = T(MAIN), none = NONE;
	struct input in = { 1, "dd", 1, leaf, none };
	struct rows *t = rows_new();
	char *name = malloc(len + 1), *got;
	struct report_names fixed = { name, name_fixed_kernel, name_fixed };

	memset(name, 'x', len);
	name[len] = 0;
	memcpy(name + cap - 2, "\xe2\x82\xac", 3);
	add(t, &in);
	got = write_report(t, &fixed, &cfg);
	ck_assert_uint_eq(strlen(got), strlen("dd;") + cap + strlen(" 1\n"));
	ck_assert_str_eq(got + strlen("dd;") + cap - 3, "x?? 1\n");
	free(got);
	free(name);
	rows_free(t);
}
END_TEST

/* A resolver that counts the questions; each name is the question itself. */
struct asker {
	char name[64];
	int asked;
};

static void ask_kernel(void *ctx, uint64_t addr, bool is_return, struct symbol *out)
{
	struct asker *a = ctx;

	a->asked++;
	snprintf(a->name, sizeof(a->name), "k%u%s", (unsigned int)addr, is_return ? "r" : "");
	*out = (struct symbol){ a->name, 0, NULL };
}

static void ask_user(void *ctx, pid_t pid, const char *comm, uint32_t image, uint64_t addr, bool is_return,
		     struct symbol *out)
{
	struct asker *a = ctx;

	(void)image;
	a->asked++;
	snprintf(a->name, sizeof(a->name), "%s/%d/u%u%s", comm, (int)pid, (unsigned int)addr, is_return ? "r" : "");
	*out = (struct symbol){ a->name, 0, NULL };
}

static char *ask(const struct input *in, size_t nr, int *asked)
{
	const struct report_cfg cfg = { FOLDED };
	struct asker a = { "", 0 };
	const struct report_names asker = { &a, ask_kernel, ask_user };
	struct rows *t = rows_new();
	size_t i;
	char *got;

	for (i = 0; i < nr; i++)
		add(t, &in[i]);
	got = write_report(t, &asker, &cfg);
	rows_free(t);
	*asked = a.asked;
	return got;
}

/* All addresses of a side except the leaf are return addresses; recursion shows the same address as both. */
START_TEST(test_is_return)
{
	const struct input in = { 1, "dd", 7, T(1, 1, 2), T(3, 3) };
	int asked;
	char *got = ask(&in, 1, &asked);

	ck_assert_str_eq(got, "dd;dd/7/u2r;dd/7/u1r;dd/7/u1;k3r;k3 1\n");
	ck_assert_int_eq(asked, 5);
	free(got);
}
END_TEST

static void name_switch(void *ctx, uint64_t addr, bool is_return, struct symbol *out)
{
	(void)ctx;
	*out = (struct symbol){ addr == SWITCH ? "__schedule" : is_return ? "schedule.return" : "schedule", 0, NULL };
}

/* If the frames below an address are not shown, it becomes the leaf, but is still a return address. */
START_TEST(test_is_return_still)
{
	const struct report_cfg cfg = { SCHED };
	const struct report_names own = { NULL, name_switch, name_user };
	const struct input in[] = { { 1, "dd", 7, NONE, T(SWITCH, SCHEDULE) }, { 2, "dd", 7, NONE, T(SCHEDULE) } };
	struct rows *t = rows_new();
	char *got;

	add(t, &in[0]);
	add(t, &in[1]);
	got = write_report(t, &own, &cfg);
	ck_assert_str_eq(got, "dd;schedule.return 1\ndd;schedule 2\n");
	free(got);
	rows_free(t);
}
END_TEST

/* A user address is named once for each process and program, a kernel address only once. */
START_TEST(test_asked_once)
{
	const struct input in[] = {
		{ 1, "dd", 7, T(1), T(3) }, { 2, "dd", 8, T(1), T(3) },     { 4, "cp", 7, T(1), T(3) },
		{ 8, "dd", 7, T(1), T(4) }, { 16, "dd", 7, T(1, 1), NONE }, { 32, "dd", 7, T(1), T(4, 3) },
	};
	int asked;
	char *got = ask(in, ARRAY_SIZE(in), &asked);

	ck_assert_str_eq(got, "dd;dd/7/u1;k3 1\ndd;dd/8/u1;k3 2\ncp;cp/7/u1;k3 4\ndd;dd/7/u1;k4 8\n"
			      "dd;dd/7/u1r;dd/7/u1 16\ndd;dd/7/u1;k3r;k4 32\n");
	ck_assert_int_eq(asked, 4 + 3);
	free(got);
}
END_TEST

enum { RANDOM_ROWS = 3000 };

/* Few names, so that rows collide in every way; each is the beginning of another, with bytes around ';'. */
static void draw(struct input *in)
{
	static const char *const comms[] = { "a", "a b", "a;", "a:", "a\1", "a\2", "b" };
	static const uint64_t user[] = { A, A_B, A_PLUS, A_LT, A_B_SEMI, B, DASH, DASHES, MAIN, MAIN_LATER, UNMAPPED };
	static const uint64_t kernel[] = { K_A, K_B, VFS, HIDDEN, SWITCH };
	size_t i, n;

	*in = (struct input){ 1 + (uint64_t)rand() % 3, comms[rand() % ARRAY_SIZE(comms)], 1 + rand() % 3 };
	in->user.state = (enum stack_state)(rand() % 3);
	in->kernel.state = (enum stack_state)(rand() % 3);
	in->user.truncated = in->user.state == STACK_TAKEN && rand() % 4 == 0;
	in->kernel.truncated = in->kernel.state == STACK_TAKEN && rand() % 4 == 0;
	for (i = 0, n = in->user.state == STACK_TAKEN ? (size_t)rand() % 4 : 0; i < n; i++)
		in->user.frames[i] = user[rand() % ARRAY_SIZE(user)];
	for (i = 0, n = in->kernel.state == STACK_TAKEN ? (size_t)rand() % 3 : 0; i < n; i++)
		in->kernel.frames[i] = kernel[rand() % ARRAY_SIZE(kernel)];
}

static struct report_cfg cfg_of(int bits)
{
	return (struct report_cfg){
		.form = bits & 16 ? &report_folded : &report_text,
		.delimited = bits & 1,
		.annotations = bits & 2,
		.addresses = bits & 4,
		.offsets = bits & 8,
		.from_schedule = bits & 32,
	};
}

struct line {
	uint64_t value;
	char *comm, *stack;
};

/* Split "comm;stack VALUE" in place. */
static struct line parse(char *s)
{
	struct line l;
	char *space = strrchr(s, ' '), *semicolon;

	ck_assert_ptr_nonnull(space);
	*space = 0;
	l.value = strtoull(space + 1, NULL, 10);
	semicolon = strchr(s, ';');
	if (semicolon)
		*semicolon = 0;
	l.comm = s;
	l.stack = semicolon ? semicolon + 1 : space;
	return l;
}

static void assert_sorted(char *report, uint64_t total)
{
	struct line last = { 0 }, l;
	uint64_t sum = 0;
	char *s, *end;
	int c;

	for (s = report; *s; s = end + 1) {
		end = strchr(s, '\n');
		ck_assert_ptr_nonnull(end);
		*end = 0;
		l = parse(s);
		sum += l.value;
		if (last.comm) {
			c = l.value != last.value ? (last.value < l.value ? -1 : 1) : strcmp(last.comm, l.comm);
			ck_assert_int_lt(c ? c : strcmp(last.stack, l.stack), 0);
		}
		last = l;
	}
	ck_assert_uint_eq(sum, total);
}

/* Add rows in an order, each at once or (@singly) sample by sample, alternating with all others. */
static struct rows *add_all(const struct input *in, const uint32_t *order, uint32_t nr, bool singly)
{
	struct rows *t = rows_new();
	struct input sample;
	uint64_t before;
	bool more = true;
	uint32_t i;

	for (before = 0; more; before++) {
		more = false;
		for (i = 0; i < nr; i++) {
			sample = in[order[i]];
			if (sample.value <= before)
				continue;
			if (singly) {
				sample.value = 1;
				more = true;
			}
			add(t, &sample);
		}
	}
	return t;
}

enum { ROUNDS = 6 };

/*
 * Random rows under each combination of options: the same bytes in any order, sample by sample, and when they are
 * written again. Lines ascend strictly in the folded form.
 */
START_TEST(test_random)
{
	struct input *in = calloc(RANDOM_ROWS, sizeof(*in));
	struct report_cfg cfg = cfg_of(_i);
	uint32_t order[RANDOM_ROWS], i, round;
	char *first = NULL, *got;
	uint64_t total = 0;

	srand(2);
	for (i = 0; i < RANDOM_ROWS; i++) {
		draw(&in[i]);
		order[i] = i;
	}
	for (round = 0; round < ROUNDS; round++) {
		struct rows *t = add_all(in, order, RANDOM_ROWS, round >= ROUNDS / 2);

		ck_assert(!total || rows_total(t) == total);
		total = rows_total(t);
		got = write_report(t, &world, &cfg);
		if (!first) {
			first = got;
			got = write_report(t, &world, &cfg);
		}
		ck_assert_msg(!strcmp(got, first), "round %u differs", round);
		free(got);
		rows_free(t);
		if (round) /* the second time must be equal, as in a repeated run */
			shuffle(order, RANDOM_ROWS);
	}
	if (cfg.form == &report_folded)
		assert_sorted(first, total);
	free(first);
	free(in);
}
END_TEST

static struct rows *many_rows(uint32_t nr)
{
	struct rows *t = rows_new();
	struct input in = { 1, "dd", 1, T(MAIN), NONE };
	uint32_t i;

	for (i = 0; i < nr; i++) {
		in.value = i + 1;
		in.pid = (pid_t)i;
		add(t, &in);
	}
	return t;
}

/* A full disk, found by stdio early or only at the end. */
static const struct {
	const struct report_writer *form;
	uint32_t rows;
} full[] = { { &report_folded, 1 }, { &report_text, 1 }, { &report_text, 20000 } };

START_TEST(test_full_disk)
{
	struct report_cfg cfg = { .form = full[_i].form };
	struct rows *t = many_rows(full[_i].rows);
	FILE *out = fopen("/dev/full", "we");
	struct err err = { 0 };

	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(report_write(out, t, &world, &cfg, &err), -ENOSPC);
	ck_assert_int_eq(err.code, -ENOSPC);
	ck_assert_str_eq(err.msg, "cannot write the report: No space left on device");
	fclose(out);
	rows_free(t);
}
END_TEST

START_TEST(test_closed_pipe)
{
	const struct report_cfg cfg = { TEXT };
	struct rows *t = many_rows(10);
	struct err err = { 0 };
	int fds[2];
	FILE *out;

	signal(SIGPIPE, SIG_IGN);
	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	close(fds[0]);
	out = fdopen(fds[1], "w");
	ck_assert_int_eq(report_write(out, t, &world, &cfg, &err), -EPIPE);
	ck_assert_str_eq(err.msg, "cannot write the report: Broken pipe");
	ck_assert_int_lt(report_write(out, t, &world, &cfg, NULL), 0); /* the stream stays failed */
	fclose(out);
	rows_free(t);
}
END_TEST

/* After a failed write, nothing more is written. */
START_TEST(test_stops)
{
	const struct report_cfg cfg = { TEXT };
	struct rows *t = many_rows(20000);
	int calls = 0;
	FILE *out = fopencookie(&calls, "w", (cookie_io_functions_t){ .write = unit_failing_write });

	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(report_write(out, t, &world, &cfg, NULL), -EIO);
	ck_assert_int_le(calls, 4);
	fclose(out);
	rows_free(t);
}
END_TEST

#ifdef HAVE_IBERTY

enum { MANGLED_ROWS = 20000, MANGLED_TASKS = 3, MANGLED_NAMES = 700 };

/* Names of which three read the same, and one in five cannot be read. */
static void name_mangled(void *ctx, pid_t pid, const char *comm, uint32_t image, uint64_t addr, bool is_return,
			 struct symbol *out)
{
	static char name[64], file[64];
	unsigned int function = (unsigned int)addr % MANGLED_NAMES;
	bool readable = ctx;

	(void)pid;
	(void)comm;
	(void)image;
	(void)is_return;
	if (function % 5 == 0 || !readable)
		snprintf(name, sizeof(name), "_Z%u.%u", function, function % 5 ? (unsigned int)addr % 3 : 0);
	else
		snprintf(name, sizeof(name), "f%u", function);
	snprintf(file, sizeof(file), "f%u.c", function % 7);
	*out = (struct symbol){ name, addr % 4, "app", file, function };
}

static int read_mangled(void *ctx, const char *const *mangled, size_t nr, const char **out)
{
	static char text[MANGLED_NAMES * 3][64];
	static bool seen[MANGLED_NAMES * 3];
	unsigned int function, clone;
	char *end;
	size_t i;

	(void)ctx;
	if (!mangled) {
		memset(seen, 0, sizeof(seen));
		return 0;
	}
	for (i = 0; i < nr; i++) {
		function = (unsigned int)strtoul(mangled[i] + 2, &end, 10);
		clone = (unsigned int)strtoul(end + 1, NULL, 10);
		clone += function * 3;
		ck_assert(!seen[clone]);
		seen[clone] = true;
		snprintf(text[clone], sizeof(text[clone]), "f%u", function);
		out[i] = function % 5 ? text[clone] : NULL;
	}
	return 0;
}

/*
 * The report is the same as with names that were never mangled, though rows wait for them. Each name is demangled once.
 */
START_TEST(test_mangled)
{
	const struct report_names mangled = { NULL, name_kernel, name_mangled, NULL, NULL, read_mangled };
	const struct report_names readable = { (void *)1, name_kernel, name_mangled };
	const struct report_cfg cfg = cfg_of(_i);
	struct rows *t = rows_new();
	struct input in = { 1, "dd", 1, T(MAIN, MAIN), T(VFS) };
	char *got, *want;
	int i;

	srand(1);
	for (i = 0; i < MANGLED_ROWS; i++) {
		in.pid = 1 + rand() % MANGLED_TASKS;
		in.user.frames[0] = 4096 + (uint64_t)rand() % (MANGLED_NAMES * 12);
		in.user.frames[1] = 4096 + (uint64_t)rand() % 20;
		add(t, &in);
	}
	read_mangled(NULL, NULL, 0, NULL);
	got = write_report(t, &mangled, &cfg);
	want = write_report(t, &readable, &cfg);
	ck_assert(!strcmp(got, want));
	free(got);
	free(want);
	rows_free(t);
}
END_TEST

#endif

int main(void)
{
	Suite *s = suite_create("report");
	TCase *tc = tcase_create("report");

	tcase_add_loop_test(tc, test_golden, 0, ARRAY_SIZE(goldens));
	tcase_add_loop_test(tc, test_parts, 0, ARRAY_SIZE(of_parts));
	tcase_add_loop_test(tc, test_golden_cut, 0, ARRAY_SIZE(goldens));
	tcase_add_loop_test(tc, test_names, 0, ARRAY_SIZE(names));
	tcase_add_loop_test(tc, test_name_frames, 0, ARRAY_SIZE(with_names));
	tcase_add_loop_test(tc, test_comms, 0, ARRAY_SIZE(names));
	tcase_add_test(tc, test_long_name);
	tcase_add_test(tc, test_is_return);
	tcase_add_test(tc, test_is_return_still);
	tcase_add_test(tc, test_asked_once);
	tcase_add_loop_test(tc, test_random, 0, unit_times(64));
#ifdef HAVE_IBERTY
	tcase_add_loop_test(tc, test_mangled, 0, 32);
#endif
	tcase_add_loop_test(tc, test_full_disk, 0, ARRAY_SIZE(full));
	tcase_add_test(tc, test_closed_pipe);
	tcase_add_test(tc, test_stops);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
