// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/cfi_image.h"
#include "unwind/unwind.h"

/* ---- a process: its mappings, and the functions of its program */

#define PROGRAM 0x555555555000ULL /* address of its code */
#define JIT     0x7f0000000000ULL /* code without rules */
#define VDSO    0x7fff00000000ULL
#define STACK   0x7ffc00001000ULL /* address of the first word */

#define P(at)   (PROGRAM + (at))
#define J(at)   (JIT + (at))
#define V(at)   (VDSO + CFI_CODE_OFFSET + (at))
#define X(at)   ((at) | UNWIND_EXACT)
#define AT(i)   (STACK + 8 * (i)) /* the address of word i of the stack */
#define NOWHERE 0x1234000ULL

/* Functions, with the rule for the CFA (or the next stack pointer). Each has 64 bytes, unless it says more. */
enum {
	FRAME = 0x000,      /* CFA = rsp + 16 */
	LEAF = 0x040,       /* rsp + 8 */
	BY_RBP = 0x080,     /* rbp + 16; rbp is saved there */
	SAVES = 0x0c0,      /* rsp + 32; rbx at CFA - 16, r12 at CFA - 24 */
	BY_RBX = 0x100,     /* rbx + 16 */
	REALIGNS = 0x140,   /* the word at rbp - 8; rbp is saved at rbp */
	ROOT = 0x180,       /* the outermost function */
	SIGNAL = 0x1c0,     /* the word at rsp + 160, from the kernel's copy of registers */
	STAYS = 0x200,      /* rsp; the return address is below */
	BY_R10 = 0x240,     /* r10 + 8 */
	UNKNOWN = 0x280,    /* an unknown instruction */
	IN_RBX = 0x2c0,     /* rsp + 8; the return address is in rbx */
	RBP_IS = 0x300,     /* rsp + 16; rbp was CFA + 48 */
	LOSES_RBX = 0x340,  /* rsp + 16 */
	ENDLESS = 0x380,    /* an expression without an end */
	RBX_IS = 0x3c0,     /* rsp + 16; rbx was CFA + 32 */
	PLT = 0x400,        /* no rules up to 0x500 */
	RESTORE = 0x480,    /* a signal trampoline */
	PLAIN = 0x4a0,      /* with a frame pointer */
	ENDBR = 0x4c0,      /* endbr64; sub $8,%rsp */
	PUSHES = 0x4e0,     /* push %rbp; mov %rsp,%rbp; sub $8,%rsp */
	CLONE = 0x4f0,      /* the system call of clone3() */
	CALLS_LAST = 0x500, /* rsp + 16; its last instruction is a call */
	NEXT = 0x540,       /* rsp + 80 */
	CONSTANT = 0x580,   /* rsp + a constant in the code */
	UNREADABLE = 0x5c0, /* the word at address 0x10 */
	ENTERED = 0x600,    /* rsp: no register was pushed, and the return address is in rbx */
	LOSES_RSP = 0x640,  /* rsp + 16, but the caller's rsp is lost */
	BEYOND = 0x680,     /* the expression is longer than the section */
	IN_R10 = 0x6c0,     /* rsp + 16; rbx was r10 */
	POPS = 0x700,       /* rsp + 8; rbx at CFA - 24 */
	NUMBERS = 0x740,    /* 16, of CONSTANT */
	ALIGNED = 0x780,    /* rsp + 8; rbp is saved at rbp, rbx at rbp - 8 */
	LAST = 0xfc0,       /* rsp + 16; up to the end of the mapping */
};

static const struct cfi_function functions[] = {
	{ FRAME, 64, false, CFI_PROGRAM("\x0e\x10") },
	{ LEAF, 64, false, CFI_PROGRAM("") },
	{ BY_RBP, 64, false, CFI_PROGRAM("\x0c\x06\x10\x86\x02") },
	{ SAVES, 64, false, CFI_PROGRAM("\x0e\x20\x83\x02\x8c\x03") },
	{ BY_RBX, 64, false, CFI_PROGRAM("\x0c\x03\x10") },
	{ REALIGNS, 64, false, CFI_PROGRAM("\x0f\x03\x76\x78\x06\x10\x06\x02\x76\x00") },
	{ ROOT, 64, false, CFI_PROGRAM("\x07\x10") },
	/* As in glibc: from one byte earlier on, because callers are looked up at their address - 1. */
	{ SIGNAL - 1, 64, true,
	  CFI_PROGRAM(
		  "\x0f\x04\x77\xa0\x01\x06\x10\x10\x03\x77\xa8\x01\x10\x06\x03\x77\xf8\x00\x10\x03\x03\x77\x80\x01") },
	{ STAYS, 64, false, CFI_PROGRAM("\x0e\x00") },
	{ BY_R10, 64, false, CFI_PROGRAM("\x0c\x0a\x08") },
	{ UNKNOWN, 64, false, CFI_PROGRAM("\x3f") },
	{ IN_RBX, 64, false, CFI_PROGRAM("\x09\x10\x03") },
	{ RBP_IS, 64, false, CFI_PROGRAM("\x0e\x10\x15\x06\x7a") },
	{ LOSES_RBX, 64, false, CFI_PROGRAM("\x0e\x10\x07\x03") },
	{ ENDLESS, 64, false, CFI_PROGRAM("\x0f\x03\x2f\xfd\xff") },
	{ RBX_IS, 64, false, CFI_PROGRAM("\x0e\x10\x16\x03\x02\x23\x20") },
	{ CALLS_LAST, 64, false, CFI_PROGRAM("\x0e\x10") },
	{ NEXT, 64, false, CFI_PROGRAM("\x0e\x50") },
	{ CONSTANT, 64, false, CFI_PROGRAM("\x0f\x07\x80\xc0\x03\x06\x77\x00\x22") }, /* rip + 0x1c0 */
	{ UNREADABLE, 64, false, CFI_PROGRAM("\x0f\x02\x40\x06") },
	{ ENTERED, 64, false, CFI_PROGRAM("\x0e\x00\x09\x10\x03") },
	{ LOSES_RSP, 64, false, CFI_PROGRAM("\x0e\x10\x07\x07") },
	{ BEYOND, 64, false, CFI_PROGRAM("\x0f\xff\x7f") },
	{ IN_R10, 64, false, CFI_PROGRAM("\x0e\x10\x09\x03\x0a") },
	{ POPS, 64, false, CFI_PROGRAM("\x83\x03") },
	{ ALIGNED, 64, false, CFI_PROGRAM("\x10\x06\x02\x76\x00\x10\x03\x02\x76\x78") },
	{ LAST, 64, false, CFI_PROGRAM("\x0e\x10") },
};

/* Code without rules that is recognized by its bytes. */
static const struct {
	uint32_t at;
	uint8_t size;
	const char *bytes;
} codes[] = {
	{ PLT, CFI_PROGRAM("\xff\x35\1\2\3\4\xff\x25\1\2\3\4") },
	{ PLT + 0x10, CFI_PROGRAM("\xff\x25\1\2\3\4\x68\1\0\0\0\xe9\1\2\3\4") },
	{ PLT + 0x20, CFI_PROGRAM("\xf3\x0f\x1e\xfa\x68\1\0\0\0\xf2\xe9\1\2\3\4") },
	{ PLT + 0x30, CFI_PROGRAM("\xf3\x0f\x1e\xfa\xf2\xff\x25\1\2\3\4") },
	{ PLT + 0x40, CFI_PROGRAM("\xf3\x0f\x1e\xfa\xff\x25\1\2\3\4") },
	{ PLT + 0x50, CFI_PROGRAM("\xf2\xff\x25\1\2\3\4") },
	{ PLT + 0x60, CFI_PROGRAM("\x68\1\0\0\0\x90\xe9") }, /* not a PLT entry */
	{ PLT + 0x70, CFI_PROGRAM("\xff\x15\1\2\3\4") },     /* a call */
	{ RESTORE, CFI_PROGRAM("\x48\xc7\xc0\x0f\0\0\0\x0f\x05") },
	{ RESTORE + 0x10, CFI_PROGRAM("\x48\xc7\xc0\x0e\0\0\0\x0f\x05") }, /* another system call */
	{ ENDBR, CFI_PROGRAM("\xf3\x0f\x1e\xfa\x48\x83\xec\x08") },
	{ PUSHES, CFI_PROGRAM("\x55\x48\x89\xe5\x48\x83\xec\x08") },
	{ CLONE, CFI_PROGRAM("\x0f\x05\x48\x85\xc0\x7c\x18\x74\x01\xc3") },
	{ NUMBERS, CFI_PROGRAM("\x10\0\0\0\0\0\0\0") },
};

static struct cfi_image image;
static struct rules *rules;

static const struct mapped_file program = { .path = "/program" }, anon = { .path = "//anon" },
				vdso = { .path = "[vdso]" };

/* The last mapping has the offset that old kernels report for the vDSO: its address. A file's headers are not code. */
static const struct mapping maps[] = {
	{ PROGRAM, PROGRAM + CFI_CODE_SIZE, CFI_CODE_OFFSET, &program },
	{ PROGRAM - 0x100000, PROGRAM - 0xff000, 0, &program },
	{ JIT, JIT + 0x1000, 0, &anon },
	{ VDSO, VDSO + CFI_FILE_SIZE, VDSO, &vdso },
};

static void setup(void)
{
	size_t i;

	cfi_image_build(&image, functions, ARRAY_SIZE(functions));
	for (i = 0; i < ARRAY_SIZE(codes); i++)
		memcpy(image.bytes + CFI_CODE_OFFSET + codes[i].at, codes[i].bytes, codes[i].size);
	rules = cfi_image_open(&image);
}

static void teardown(void)
{
	rules_close(rules);
}

/** struct memory - the known words of a stack. The rest up to @stack_end existed, but was not copied. */
struct memory {
	const uint64_t *words;
	size_t nr;
	uint64_t stack_end;
	unsigned int reads, fail_at; /* this read fails, from 1 on; 0: none */
	int failure;                 /* with this error */
};

static int read_stack(void *ctx, uint64_t addr, void *to, size_t len)
{
	struct memory *m = ctx;
	uint64_t end = STACK + 8 * m->nr;

	if (++m->reads == m->fail_at)
		return m->failure;
	if (addr < STACK || addr >= m->stack_end)
		return -EFAULT;
	if (addr > end || len > end - addr)
		return -ENODATA;
	memcpy(to, (const char *)m->words + (addr - STACK), len);
	return 0;
}

static const struct mapping *find_mapping(void *ctx, uint64_t addr)
{
	size_t i;

	(void)ctx;
	for (i = 0; i < ARRAY_SIZE(maps); i++)
		if (addr >= maps[i].start && addr < maps[i].end)
			return &maps[i];
	return NULL;
}

static struct rules *find_rules(void *ctx, const struct mapping *m)
{
	(void)ctx;
	return m->file == &anon ? NULL : rules;
}

static void walk(const struct unwind_regs *regs, struct memory *m, struct unwind_result *out)
{
	const struct unwind_memory memory = { m, read_stack };
	const struct unwind_mappings mappings = { NULL, find_mapping };
	const struct unwind_files files = { NULL, find_rules };

	m->reads = 0;
	out->nr = 77;
	out->missing = 77;
	unwind_walk(regs, &memory, &mappings, &files, out);
	ck_assert_uint_le(out->nr, out->cap);
	ck_assert(out->end < UNWIND_NR_ENDS);
	ck_assert(!out->missing || out->end == UNWIND_TRUNCATED);
}

/* ---- stacks */

#define WORDS 28 /* words of a row; the stack ends after word 31 */
#define IPS   6
#define FP    (1U << ARCH_FP)
#define RBX   (1U << 3)
#define RAX   (1U << ARCH_RESULT) /* rax is the number of a thread */
#define RAX_0 (1U << 29)          /* rax is 0 */
#define NO_SP (1U << 31)
#define NO_IP (1U << 30)

/** struct row - a test: the stack pointer is at word @sp; @regs: the other known registers. */
struct row {
	const char *what;
	uint64_t ip;
	uint32_t regs;
	uint64_t fp, rbx;
	uint64_t words[WORDS];
	uint64_t ips[IPS]; /* expected addresses after @ip, up to the first 0 */
	enum unwind_end end;
	uint64_t missing;
	size_t sp;
};

#define FRAMES_TO_ROOT 0, P(ROOT) + 5 /* from FRAME to the root */

/* The whole stack is readable. */
static const struct row good[] = {
	{ "a leaf", P(LEAF), 0, 0, 0, { P(FRAME) + 5, FRAMES_TO_ROOT }, { P(FRAME) + 5, P(ROOT) + 5 }, UNWIND_ROOT },
	{ "within a function", P(FRAME) + 63, 0, 0, 0, { FRAMES_TO_ROOT }, { P(ROOT) + 5 }, UNWIND_ROOT },
	{ "the outermost frame", P(ROOT), 0, 0, 0, { 0 }, { 0 }, UNWIND_ROOT },
	{ "a zero return address", P(FRAME), 0, 0, 0, { 0, P(LEAF) + 5, 0 }, { P(LEAF) + 5 }, UNWIND_ROOT },
	{ "a frame pointer",
	  P(BY_RBP),
	  FP,
	  AT(3),
	  0,
	  { 0, 0, 0, AT(8), P(BY_RBP) + 5, 0, 0, 0, 0, P(ROOT) + 5 },
	  { P(BY_RBP) + 5, P(ROOT) + 5 },
	  UNWIND_ROOT },
	{ "a saved register finds the next frame but one",
	  P(SAVES),
	  RBX,
	  0,
	  99,
	  { 0, 12, AT(8), P(FRAME) + 5, 0, P(BY_RBX) + 5, 0, 0, 0, P(ROOT) + 5 },
	  { P(FRAME) + 5, P(BY_RBX) + 5, P(ROOT) + 5 },
	  UNWIND_ROOT },
	{ "a register of the leaf",
	  P(BY_RBX),
	  RBX,
	  0,
	  AT(4),
	  { 0, 0, 0, 0, 0, P(ROOT) + 5 },
	  { P(ROOT) + 5 },
	  UNWIND_ROOT },
	{ "a stack that was realigned",
	  P(REALIGNS),
	  FP,
	  AT(4),
	  0,
	  { 0, 0, 0, AT(10), AT(14), 0, 0, 0, 0, P(BY_RBP) + 5, 0, 0, 0, 0, 0, P(ROOT) + 5 },
	  { P(BY_RBP) + 5, P(ROOT) + 5 },
	  UNWIND_ROOT },
	{ "a return address in a register", P(IN_RBX), RBX, 0, P(ROOT) + 5, { 0 }, { P(ROOT) + 5 }, UNWIND_ROOT },
	{ "nothing pushed yet", P(ENTERED), RBX, 0, P(ROOT) + 5, { 0 }, { P(ROOT) + 5 }, UNWIND_ROOT },
	{ "a register that is an address of the frame",
	  P(RBP_IS),
	  0,
	  0,
	  0,
	  { AT(8), P(BY_RBP) + 5, 0, 0, 0, 0, 0, 0, 0, P(ROOT) + 5 },
	  { P(BY_RBP) + 5, P(ROOT) + 5 },
	  UNWIND_ROOT },
	{ "a register that an expression gives",
	  P(RBX_IS),
	  0,
	  0,
	  0,
	  { 0, P(BY_RBX) + 5, 0, 0, 0, 0, 0, P(ROOT) + 5 },
	  { P(BY_RBX) + 5, P(ROOT) + 5 },
	  UNWIND_ROOT },
	{ "a constant of the file", P(CONSTANT), 0, 0, 0, { FRAMES_TO_ROOT }, { P(ROOT) + 5 }, UNWIND_ROOT },
	{ "a call as the last instruction",
	  P(LEAF),
	  0,
	  0,
	  0,
	  { P(NEXT), FRAMES_TO_ROOT },
	  { P(NEXT), P(ROOT) + 5 },
	  UNWIND_ROOT },
	{ "the first instruction of the function behind it",
	  P(NEXT),
	  0,
	  0,
	  0,
	  { 0, 0, 0, 0, 0, 0, 0, 0, 0, P(ROOT) + 5 },
	  { P(ROOT) + 5 },
	  UNWIND_ROOT },
	{ "a call at the end of the mapping",
	  P(LEAF),
	  0,
	  0,
	  0,
	  { P(0x1000), FRAMES_TO_ROOT },
	  { P(0x1000), P(ROOT) + 5 },
	  UNWIND_ROOT },
	{ "the vDSO", V(LEAF), 0, 0, 0, { V(FRAME) + 5, FRAMES_TO_ROOT }, { V(FRAME) + 5, P(ROOT) + 5 }, UNWIND_ROOT },

	{ "no rules: by the frame pointer, then rules again",
	  J(9),
	  FP,
	  AT(1),
	  0,
	  { 0, AT(6), P(FRAME) + 5, FRAMES_TO_ROOT },
	  { P(FRAME) + 5, P(ROOT) + 5 },
	  UNWIND_ROOT },
	{ "between frames with rules",
	  P(SAVES),
	  FP | RBX,
	  AT(5),
	  AT(20),
	  { 0, 0, 0, J(5), 0, AT(9), J(7), 0, 0, AT(14), P(FRAME) + 5, 0, P(BY_RBP) + 5, 0, AT(24), P(ROOT) + 5 },
	  { J(5), J(7), P(FRAME) + 5, P(BY_RBP) + 5, P(ROOT) + 5 },
	  UNWIND_ROOT },
	{ "no rules: 0 is the last frame pointer",
	  P(LEAF),
	  FP,
	  AT(2),
	  0,
	  { J(5), 0, 0, J(7) },
	  { J(5), J(7) },
	  UNWIND_ROOT },
	{ "no rules: a zero return address", J(9), FP, AT(0), 0, { AT(4), 0 }, { 0 }, UNWIND_ROOT },
	{ "code of a file without rules",
	  P(PLAIN),
	  FP,
	  AT(0),
	  0,
	  { AT(4), P(PLAIN) + 5, 0, 0, 0, P(ROOT) + 5 },
	  { P(PLAIN) + 5, P(ROOT) + 5 },
	  UNWIND_ROOT },

	{ "PLT: its beginning", P(PLT), 0, 0, 0, { 1, P(ROOT) + 5 }, { P(ROOT) + 5 }, UNWIND_ROOT },
	{ "PLT: its beginning, pushed", P(PLT) + 6, 0, 0, 0, { 1, 2, P(ROOT) + 5 }, { P(ROOT) + 5 }, UNWIND_ROOT },
	{ "PLT: jump", P(PLT) + 0x10, 0, 0, 0, { P(ROOT) + 5 }, { P(ROOT) + 5 }, UNWIND_ROOT },
	{ "PLT: push", P(PLT) + 0x16, 0, 0, 0, { P(ROOT) + 5 }, { P(ROOT) + 5 }, UNWIND_ROOT },
	{ "PLT: pushed", P(PLT) + 0x1b, 0, 0, 0, { 1, P(ROOT) + 5 }, { P(ROOT) + 5 }, UNWIND_ROOT },
	{ "PLT: endbr64, push", P(PLT) + 0x20, 0, 0, 0, { P(ROOT) + 5 }, { P(ROOT) + 5 }, UNWIND_ROOT },
	{ "PLT: push, bnd", P(PLT) + 0x24, 0, 0, 0, { P(ROOT) + 5 }, { P(ROOT) + 5 }, UNWIND_ROOT },
	{ "PLT: pushed, bnd", P(PLT) + 0x29, 0, 0, 0, { 1, P(ROOT) + 5 }, { P(ROOT) + 5 }, UNWIND_ROOT },
	{ "PLT: endbr64, bnd jump", P(PLT) + 0x30, 0, 0, 0, { P(ROOT) + 5 }, { P(ROOT) + 5 }, UNWIND_ROOT },
	{ "PLT: bnd jump behind it", P(PLT) + 0x34, 0, 0, 0, { P(ROOT) + 5 }, { P(ROOT) + 5 }, UNWIND_ROOT },
	{ "PLT: endbr64, jump", P(PLT) + 0x40, 0, 0, 0, { P(ROOT) + 5 }, { P(ROOT) + 5 }, UNWIND_ROOT },
	{ "PLT: jump behind it", P(PLT) + 0x44, 0, 0, 0, { P(ROOT) + 5 }, { P(ROOT) + 5 }, UNWIND_ROOT },
	{ "PLT: bnd jump", P(PLT) + 0x50, 0, 0, 0, { P(ROOT) + 5 }, { P(ROOT) + 5 }, UNWIND_ROOT },
	{ "PLT: no register is lost",
	  P(PLT) + 0x10,
	  RBX,
	  0,
	  AT(3),
	  { P(BY_RBX) + 5, 0, 0, 0, P(ROOT) + 5 },
	  { P(BY_RBX) + 5, P(ROOT) + 5 },
	  UNWIND_ROOT },

	/*
	 * The kernel's copy has rsp of the interrupted function at [rsp + 160], its address at + 168, rbp at + 120, rbx
	 * at + 128.
	 */
	{ "a signal by rules: the interrupted function did not call",
	  P(LEAF),
	  0,
	  0,
	  0,
	  { P(SIGNAL), [16] = 0, [21] = AT(23), [22] = P(LEAF), [23] = P(ROOT) + 5 },
	  { P(SIGNAL), X(P(LEAF)), P(ROOT) + 5 },
	  UNWIND_ROOT },
	{ "a signal: its registers come back",
	  P(LEAF),
	  0,
	  0,
	  0,
	  { P(SIGNAL), [17] = AT(23), [21] = AT(23), [22] = P(BY_RBX), [24] = P(ROOT) + 5 },
	  { P(SIGNAL), X(P(BY_RBX)), P(ROOT) + 5 },
	  UNWIND_ROOT },
	{ "a signal: from another stack",
	  P(LEAF),
	  0,
	  0,
	  0,
	  { [1] = P(ROOT) + 5, [2] = P(SIGNAL), [23] = AT(0), [24] = P(FRAME) },
	  { P(SIGNAL), X(P(FRAME)), P(ROOT) + 5 },
	  UNWIND_ROOT,
	  .sp = 2 },
	{ "a signal in a PLT",
	  P(LEAF),
	  0,
	  0,
	  0,
	  { P(SIGNAL), [21] = AT(23), [22] = P(PLT) + 0x10, [23] = P(ROOT) + 5 },
	  { P(SIGNAL), X(P(PLT) + 0x10), P(ROOT) + 5 },
	  UNWIND_ROOT },
	/* [rsp + 40]: r8 to r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip. */
	{ "a signal by code",
	  P(LEAF),
	  0,
	  0,
	  0,
	  { P(RESTORE), [21] = AT(23), [22] = P(LEAF), [23] = P(ROOT) + 5 },
	  { P(RESTORE), X(P(LEAF)), P(ROOT) + 5 },
	  UNWIND_ROOT },
	{ "a signal trampoline that was interrupted",
	  P(RESTORE),
	  0,
	  0,
	  0,
	  { [20] = AT(23), [21] = P(LEAF), [23] = P(ROOT) + 5 },
	  { X(P(LEAF)), P(ROOT) + 5 },
	  UNWIND_ROOT },
	{ "a signal by code: registers come back",
	  P(LEAF),
	  0,
	  0,
	  0,
	  { P(RESTORE), [17] = AT(23), [21] = AT(0), [22] = P(BY_RBX), [24] = P(ROOT) + 5 },
	  { P(RESTORE), X(P(BY_RBX)), P(ROOT) + 5 },
	  UNWIND_ROOT },
	{ "a signal by code: the frame pointer comes back",
	  P(LEAF),
	  0,
	  0,
	  0,
	  { P(RESTORE), [16] = AT(23), [21] = AT(23), [22] = J(0), [24] = P(ROOT) + 5 },
	  { P(RESTORE), X(J(0)), P(ROOT) + 5 },
	  UNWIND_ROOT },
	{ "a signal by code: r12 to r10", /* the third and the fifth */
	  P(LEAF),
	  0,
	  0,
	  0,
	  { P(RESTORE), [8] = AT(22), [21] = AT(22), [22] = P(BY_R10), [23] = 0 },
	  { P(RESTORE), X(P(BY_R10)), P(BY_R10) },
	  UNWIND_BAD },
	{ "a signal trampoline at its system call",
	  P(RESTORE) + 7,
	  0,
	  0,
	  0,
	  { [20] = AT(23), [21] = P(LEAF), [23] = P(ROOT) + 5 },
	  { X(P(LEAF)), P(ROOT) + 5 },
	  UNWIND_ROOT },
	{ "a signal trampoline in its system call",
	  P(RESTORE) + 9,
	  0,
	  0,
	  0,
	  { [20] = AT(23), [21] = P(LEAF), [23] = P(ROOT) + 5 },
	  { X(P(LEAF)), P(ROOT) + 5 },
	  UNWIND_ROOT },

	{ "a register that was popped",
	  P(POPS),
	  RBX,
	  0,
	  AT(6),
	  { 0, 0, P(BY_RBX) + 5, [7] = P(ROOT) + 5 },
	  { P(BY_RBX) + 5, P(ROOT) + 5 },
	  UNWIND_ROOT,
	  .sp = 2 },
	{ "a register that was not popped: the function called",
	  P(FRAME),
	  0,
	  0,
	  0,
	  { AT(6), P(POPS) + 5, P(BY_RBX) + 5, [7] = P(ROOT) + 5 },
	  { P(POPS) + 5, P(BY_RBX) + 5, P(ROOT) + 5 },
	  UNWIND_ROOT },
	{ "registers that were popped with the frame pointer that finds them",
	  P(ALIGNED),
	  FP | RBX,
	  AT(6),
	  AT(10),
	  { P(BY_RBP) + 5, 0, 0, 0, 0, NOWHERE, AT(8), P(BY_RBX) + 5, 0, 0, 0, P(ROOT) + 5 },
	  { P(BY_RBP) + 5, P(BY_RBX) + 5, P(ROOT) + 5 },
	  UNWIND_ROOT },
	{ "such a frame pointer below the stack",
	  P(ALIGNED),
	  FP | RBX,
	  12,
	  AT(4),
	  { P(BY_RBX) + 5, 0, 0, 0, 0, P(ROOT) + 5 },
	  { P(BY_RBX) + 5, P(ROOT) + 5 },
	  UNWIND_ROOT },
	{ "a register whose computed place is below the stack pointer",
	  P(ALIGNED),
	  FP | RBX,
	  AT(2),
	  AT(5),
	  { 0, 0, P(BY_RBX) + 5, 0, 0, 0, P(ROOT) + 5 },
	  { P(BY_RBX) + 5, P(ROOT) + 5 },
	  UNWIND_ROOT,
	  .sp = 2 },
	{ "clone3: the system call",
	  P(CLONE),
	  FP,
	  AT(1),
	  0,
	  { P(ROOT) + 5, 0, P(LEAF) },
	  { P(ROOT) + 5 },
	  UNWIND_ROOT },
	{ "clone3: in it, and behind",
	  P(CLONE) + 2,
	  FP | RAX,
	  AT(1),
	  0,
	  { P(ROOT) + 5, 0, P(LEAF) },
	  { P(ROOT) + 5 },
	  UNWIND_ROOT },
	{ "clone3: behind its test of the result",
	  P(CLONE) + 5,
	  FP | RAX,
	  AT(1),
	  0,
	  { P(ROOT) + 5 },
	  { P(ROOT) + 5 },
	  UNWIND_ROOT },
	{ "clone3: no error", P(CLONE) + 7, FP | RAX, AT(1), 0, { P(ROOT) + 5 }, { P(ROOT) + 5 }, UNWIND_ROOT },
	{ "clone3: its return", P(CLONE) + 9, FP | RAX, AT(1), 0, { P(ROOT) + 5 }, { P(ROOT) + 5 }, UNWIND_ROOT },
	{ "clone3: the new thread",
	  P(CLONE) + 2,
	  FP | RAX_0,
	  AT(1),
	  0,
	  { P(LEAF) + 5, 0, P(LEAF) },
	  { 0 },
	  UNWIND_ROOT },
	{ "endbr64: nothing was done", P(ENDBR), 0, 0, 0, { P(ROOT) + 5 }, { P(ROOT) + 5 }, UNWIND_ROOT },
	{ "after it: room is made", P(ENDBR) + 4, 0, 0, 0, { P(ROOT) + 5 }, { P(ROOT) + 5 }, UNWIND_ROOT },
	{ "room was made", P(ENDBR) + 8, 0, 0, 0, { 0, P(ROOT) + 5 }, { P(ROOT) + 5 }, UNWIND_ROOT },
	{ "a frame pointer, and then room",
	  P(PUSHES) + 4,
	  FP,
	  AT(0),
	  0,
	  { AT(4), P(PLAIN) + 5, 0, 0, 0, P(ROOT) + 5 },
	  { P(PLAIN) + 5, P(ROOT) + 5 },
	  UNWIND_ROOT },
	{ "a frame pointer, and room was made",
	  P(PUSHES) + 8,
	  FP,
	  AT(1),
	  0,
	  { 0, AT(4), P(PLAIN) + 5, 0, 0, P(ROOT) + 5 },
	  { P(PLAIN) + 5, P(ROOT) + 5 },
	  UNWIND_ROOT },
};

static const struct row bad[] = {
	{ "no rules, and a frame pointer that is not of this function", J(9), FP, 0, 0, { 0 }, { 0 }, UNWIND_NO_RULES },
	{ "no address", P(LEAF), NO_IP, 0, 0, { P(ROOT) + 5 }, { 0 }, UNWIND_BAD },
	{ "no stack pointer", P(LEAF), NO_SP, 0, 0, { P(ROOT) + 5 }, { 0 }, UNWIND_BAD },
	{ "address 0", 0, 0, 0, 0, { P(ROOT) + 5 }, { 0 }, UNWIND_BAD },
	{ "an unmapped leaf", NOWHERE, FP, AT(0), 0, { AT(4), P(ROOT) + 5 }, { 0 }, UNWIND_BAD },
	{ "address 1", 1, FP, AT(0), 0, { AT(4), P(ROOT) + 5 }, { 0 }, UNWIND_BAD },
	{ "the last address", UINT64_MAX, FP, AT(0), 0, { AT(4), P(ROOT) + 5 }, { 0 }, UNWIND_BAD },
	{ "an unmapped caller", P(LEAF), 0, 0, 0, { NOWHERE }, { NOWHERE }, UNWIND_BAD },
	{ "a return address of 1", P(LEAF), 0, 0, 0, { 1 }, { 1 }, UNWIND_BAD },
	{ "a return address of all ones", P(LEAF), 0, 0, 0, { UINT64_MAX }, { UINT64_MAX }, UNWIND_BAD },
	{ "the end of the mapping, interrupted", P(0x1000), 0, 0, 0, { 0, P(ROOT) + 5 }, { 0 }, UNWIND_BAD },
	{ "the beginning of the mapping, as a caller", P(LEAF), 0, 0, 0, { P(0) }, { P(0) }, UNWIND_BAD },
	{ "the file's headers", P(0) - 0x100000, 0, 0, 0, { P(ROOT) + 5 }, { 0 }, UNWIND_NO_RULES },
	{ "between the vDSO's headers and its code", V(0) - 1, 0, 0, 0, { P(ROOT) + 5 }, { 0 }, UNWIND_NO_RULES },

	{ "a register that is not known", P(BY_RBX), 0, 0, AT(4), { 0 }, { 0 }, UNWIND_BAD },
	{ "a register that calls may change", P(BY_R10), 0, 0, 0, { P(ROOT) + 5 }, { 0 }, UNWIND_BAD },
	{ "a register that was never known, saved in another",
	  P(IN_R10),
	  RBX,
	  0,
	  AT(9),
	  { 0, P(BY_RBX) + 5 },
	  { P(BY_RBX) + 5 },
	  UNWIND_BAD },
	{ "a register that was lost",
	  P(LOSES_RBX),
	  RBX,
	  0,
	  AT(4),
	  { 0, P(BY_RBX) + 5, 0, 0, 0, P(ROOT) + 5 },
	  { P(BY_RBX) + 5 },
	  UNWIND_BAD },
	{ "a lost stack pointer", P(LOSES_RSP), 0, 0, 0, { FRAMES_TO_ROOT }, { 0 }, UNWIND_BAD },
	{ "a return address in a register that is not known", P(IN_RBX), 0, 0, 0, { P(ROOT) + 5 }, { 0 }, UNWIND_BAD },
	{ "an expression with a register that is not known", P(REALIGNS), 0, AT(4), 0, { 0 }, { 0 }, UNWIND_BAD },
	{ "an unknown instruction", P(UNKNOWN), FP, AT(0), 0, { AT(4), P(ROOT) + 5 }, { 0 }, UNWIND_BAD },
	{ "an expression without an end", P(ENDLESS), FP, AT(0), 0, { AT(4), P(ROOT) + 5 }, { 0 }, UNWIND_BAD },
	{ "an expression beyond the section", P(BEYOND), FP, AT(0), 0, { AT(4), P(ROOT) + 5 }, { 0 }, UNWIND_BAD },
	{ "an expression that reads unmapped memory", P(UNREADABLE), 0, 0, 0, { P(ROOT) + 5 }, { 0 }, UNWIND_BAD },

	{ "a frame that stays", P(FRAME), 0, 0, 0, { 0, P(STAYS) + 5, 0 }, { P(STAYS) + 5 }, UNWIND_BAD },
	{ "a leaf that stays where it is", P(STAYS) + 5, 0, 0, 0, { P(STAYS) + 5 }, { 0 }, UNWIND_BAD, .sp = 1 },
	{ "one stays, and another", P(STAYS), 0, 0, 0, { P(STAYS) + 5 }, { P(STAYS) + 5 }, UNWIND_BAD, .sp = 1 },
	{ "a CFA below", P(BY_RBX), RBX, 0, AT(0), { 0, P(ROOT) + 5 }, { 0 }, UNWIND_BAD, .sp = 4 },
	{ "a caller's CFA below",
	  P(SAVES),
	  0,
	  0,
	  0,
	  { 0, P(ROOT) + 5, AT(0), P(BY_RBX) + 5 },
	  { P(BY_RBX) + 5 },
	  UNWIND_BAD },
	{ "a CFA at the end of memory", P(BY_RBX), RBX, 0, UINT64_MAX - 15, { 0 }, { 0 }, UNWIND_BAD },
	{ "a CFA beyond the end of memory", P(BY_RBX), RBX, 0, UINT64_MAX, { P(ROOT) + 5 }, { 0 }, UNWIND_BAD },
	{ "a return address outside of the stack", P(BY_RBX), RBX, 0, AT(100), { 0 }, { 0 }, UNWIND_BAD },

	{ "no rules, no frame pointer", J(9), 0, AT(0), 0, { AT(4), P(ROOT) + 5 }, { 0 }, UNWIND_NO_RULES },
	{ "a file without rules there", P(PLAIN), 0, AT(0), 0, { AT(4), P(ROOT) + 5 }, { 0 }, UNWIND_NO_RULES },
	{ "a frame pointer below the stack", J(9), FP, 0x1000, 0, { 0 }, { 0 }, UNWIND_NO_RULES },
	{ "a word below the stack pointer",
	  J(9),
	  FP,
	  AT(1),
	  0,
	  { 0, AT(4), P(ROOT) + 5 },
	  { 0 },
	  UNWIND_NO_RULES,
	  .sp = 2 },
	{ "not a pointer", J(9), FP, 8, 0, { 0 }, { 0 }, UNWIND_NO_RULES },
	{ "not aligned", J(9), FP, AT(0) + 1, 0, { AT(4), P(ROOT) + 5 }, { 0 }, UNWIND_NO_RULES },
	{ "aligned to 4", J(9), FP, AT(0) + 4, 0, { AT(4), P(ROOT) + 5 }, { 0 }, UNWIND_NO_RULES },
	{ "a later frame pointer not aligned", J(9), FP, AT(0), 0, { AT(4) + 4, J(5) }, { J(5) }, UNWIND_NO_RULES },
	{ "outside of the stack", J(9), FP, AT(0), 0, { AT(100), J(5) }, { J(5) }, UNWIND_NO_RULES },
	{ "the end of the address space", J(9), FP, AT(0), 0, { UINT64_MAX - 7, J(5) }, { J(5) }, UNWIND_NO_RULES },
	{ "the end of the address space at once", J(9), FP, UINT64_MAX - 7, 0, { 0 }, { 0 }, UNWIND_NO_RULES },
	{ "a frame that points to itself", J(9), FP, AT(0), 0, { AT(0), J(5) }, { J(5) }, UNWIND_NO_RULES },
	{ "a cycle of two", J(9), FP, AT(0), 0, { AT(2), J(5), AT(0), J(7) }, { J(5), J(7) }, UNWIND_NO_RULES },
	{ "an unmapped caller by the frame pointer", J(9), FP, AT(0), 0, { AT(4), NOWHERE }, { 0 }, UNWIND_NO_RULES },

	{ "clone3: whose thread, is not known",
	  P(CLONE) + 2,
	  FP,
	  AT(1),
	  0,
	  { P(ROOT) + 5, 0, P(LEAF) },
	  { 0 },
	  UNWIND_BAD },
	{ "not quite a PLT", P(PLT) + 0x60, 0, 0, 0, { P(ROOT) + 5 }, { 0 }, UNWIND_NO_RULES },
	{ "a call is no jump", P(PLT) + 0x70, 0, 0, 0, { P(ROOT) + 5 }, { 0 }, UNWIND_NO_RULES },
	{ "a PLT that called", P(LEAF), 0, 0, 0, { P(PLT) + 0x10, P(ROOT) + 5 }, { P(PLT) + 0x10 }, UNWIND_NO_RULES },
	{ "the operand of a jump", P(PLT) + 0x12, 0, 0, 0, { P(ROOT) + 5 }, { 0 }, UNWIND_NO_RULES },
	{ "a trampoline of another system call",
	  P(LEAF),
	  0,
	  0,
	  0,
	  { P(RESTORE) + 0x10, [21] = AT(23), [22] = P(ROOT) },
	  { P(RESTORE) + 0x10 },
	  UNWIND_NO_RULES },
	{ "a call that returns into a trampoline",
	  P(LEAF),
	  0,
	  0,
	  0,
	  { P(RESTORE) + 1, [21] = AT(23), [22] = P(ROOT) },
	  { P(RESTORE) + 1 },
	  UNWIND_NO_RULES },
	{ "a signal: an unmapped address",
	  P(LEAF),
	  0,
	  0,
	  0,
	  { P(SIGNAL), [21] = AT(23), [22] = NOWHERE },
	  { P(SIGNAL), X(NOWHERE) },
	  UNWIND_BAD },
	{ "a signal: the caller of the interrupted function is below",
	  P(LEAF),
	  0,
	  0,
	  0,
	  { P(SIGNAL), P(ROOT) + 5, [17] = AT(0), [21] = AT(20), [22] = P(BY_RBX) },
	  { P(SIGNAL), X(P(BY_RBX)) },
	  UNWIND_BAD },

	{ "beyond the copy at once", P(BY_RBX), RBX, 0, AT(WORDS), { 0 }, { 0 }, UNWIND_TRUNCATED, AT(WORDS + 1) },
	{ "beyond the copy by a frame pointer", J(9), FP, AT(WORDS), 0, { 0 }, { 0 }, UNWIND_TRUNCATED, AT(WORDS) },
	{ "half of a frame in the copy", J(9), FP, AT(WORDS - 1), 0, { 0 }, { 0 }, UNWIND_TRUNCATED, AT(WORDS - 1) },
	{ "beyond the copy later", J(9), FP, AT(0), 0, { AT(WORDS), J(5) }, { J(5) }, UNWIND_TRUNCATED, AT(WORDS) },
	{ "the registers of a signal beyond the copy",
	  P(LEAF),
	  0,
	  0,
	  0,
	  { [24] = P(RESTORE) },
	  { P(RESTORE) },
	  UNWIND_TRUNCATED,
	  AT(30),
	  .sp = 24 },
	{ "the registers of a signal by rules beyond the copy",
	  P(LEAF),
	  0,
	  0,
	  0,
	  { [7] = P(SIGNAL) },
	  { P(SIGNAL) },
	  UNWIND_TRUNCATED,
	  AT(28),
	  .sp = 7 },
};

/* Only a byte longer than the known part, so that a sanitizer finds reads beyond it. */
static struct memory copy_words(const struct row *row, size_t known)
{
	uint64_t *words = malloc(8 * known + 1);

	ck_assert_ptr_nonnull(words);
	memcpy(words, row->words, 8 * known);
	return (struct memory){ words, known, AT(32), 0, 0, 0 };
}

static struct unwind_regs regs_of(const struct row *row)
{
	struct unwind_regs regs = { .have = 1U << ARCH_SP | 1U << ARCH_IP | (row->regs & (FP | RBX | RAX)) };

	/* Unknown registers have a value that must not be used. */
	memset(regs.r, 0x51, sizeof(regs.r));
	if (row->regs & NO_SP)
		regs.have &= ~(1U << ARCH_SP);
	if (row->regs & NO_IP)
		regs.have &= ~(1U << ARCH_IP);
	if (row->regs & RAX_0) {
		regs.have |= RAX;
		regs.r[ARCH_RESULT] = 0;
	}
	regs.r[ARCH_FP] = row->fp;
	regs.r[ARCH_SP] = AT(row->sp);
	regs.r[ARCH_IP] = row->ip;
	regs.r[3] = row->rbx;
	return regs;
}

/* Without an address and a stack pointer there are no frames, not even the leaf. */
static size_t nr_of(const struct row *row)
{
	size_t nr = 0;

	if (row->regs & (NO_SP | NO_IP) || !row->ip)
		return 0;
	while (nr < IPS && row->ips[nr])
		nr++;
	return nr + 1;
}

static uint64_t ip_of(const struct row *row, size_t i)
{
	return i ? row->ips[i - 1] : row->ip;
}

static void assert_ips(const struct row *row, const struct unwind_result *out)
{
	size_t i;

	for (i = 0; i < out->nr; i++)
		ck_assert_msg(out->ips[i] == ip_of(row, i), "%s: address %zu: %#llx", row->what, i,
			      (unsigned long long)out->ips[i]);
}

static void assert_row(const struct row *row)
{
	struct memory m = copy_words(row, WORDS);
	struct unwind_regs regs = regs_of(row);
	uint64_t ips[UNWIND_MAX_FRAMES];
	struct unwind_result out = { .ips = ips, .cap = ARRAY_SIZE(ips) };

	walk(&regs, &m, &out);
	assert_ips(row, &out);
	ck_assert_msg(out.nr == nr_of(row), "%s: %zu addresses", row->what, out.nr);
	ck_assert_msg(out.end == row->end, "%s: end %d", row->what, out.end);
	ck_assert_msg(!out.root || (out.end == UNWIND_ROOT && out.root >= AT(row->sp)), "%s: root %#llx", row->what,
		      (unsigned long long)out.root);
	ck_assert_msg(out.missing == row->missing, "%s: missing %#llx", row->what, (unsigned long long)out.missing);
	free((void *)m.words);
}

START_TEST(test_good)
{
	assert_row(&good[_i]);
}
END_TEST

START_TEST(test_bad)
{
	assert_row(&bad[_i]);
}
END_TEST

/* Rules are cached, and give the same the second time. */
START_TEST(test_all_again)
{
	size_t again, i;

	for (again = 0; again < 2; again++) {
		for (i = 0; i < ARRAY_SIZE(bad); i++)
			assert_row(&bad[i]);
		for (i = 0; i < ARRAY_SIZE(good); i++)
			assert_row(&good[i]);
	}
}
END_TEST

/*
 * The address of the outermost frame, if rules show that it has no caller. The end of a walk without rules shows
 * nothing.
 */
START_TEST(test_root)
{
	static const struct {
		const char *what;
		uint64_t root;
	} rows[] = {
		{ "the outermost frame", AT(0) },
		{ "PLT: jump", AT(1) },
		{ "a zero return address", 0 },
		{ "no rules: a zero return address", 0 },
	};
	size_t i, at;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t ips[UNWIND_MAX_FRAMES];
		struct unwind_result out = { .ips = ips, .cap = ARRAY_SIZE(ips) };
		struct unwind_regs regs;
		struct memory m;

		for (at = 0; at < ARRAY_SIZE(good) && strcmp(good[at].what, rows[i].what); at++)
			;
		ck_assert_uint_lt(at, ARRAY_SIZE(good));
		m = copy_words(&good[at], WORDS);
		regs = regs_of(&good[at]);
		walk(&regs, &m, &out);
		ck_assert_int_eq(out.end, UNWIND_ROOT);
		ck_assert_msg(out.root == rows[i].root, "%s: %#llx", rows[i].what, (unsigned long long)out.root);
		free((void *)m.words);
	}
}
END_TEST

/* As many frames as there is room for, all of them right. */
START_TEST(test_room)
{
	const struct row *row = &good[_i];
	struct memory m = copy_words(row, WORDS);
	struct unwind_regs regs = regs_of(row);
	size_t cap, nr = nr_of(row);

	for (cap = 0; cap <= nr; cap++) {
		uint64_t *ips = malloc(8 * cap + 1);
		struct unwind_result out = { .ips = ips, .cap = cap };

		ck_assert_ptr_nonnull(ips);
		walk(&regs, &m, &out);
		ck_assert_uint_eq(out.nr, cap);
		assert_ips(row, &out);
		ck_assert_int_eq(out.end, cap < nr ? UNWIND_TRUNCATED : row->end);
		ck_assert_uint_eq(out.missing, 0);
		free(ips);
	}
	free((void *)m.words);
}
END_TEST

/* A copy that ends at any word: the frames in it are the same, and the result has the first missing word. */
START_TEST(test_truncated)
{
	const struct row *row = &good[_i];
	struct unwind_regs regs = regs_of(row);
	uint64_t ips[UNWIND_MAX_FRAMES];
	size_t known, cut = 0;
	unsigned int reads = 0;

	for (known = 0; known <= WORDS; known++) {
		struct memory m = copy_words(row, known);
		struct unwind_result out = { .ips = ips, .cap = ARRAY_SIZE(ips) };

		walk(&regs, &m, &out);
		reads = m.reads;
		assert_ips(row, &out);
		if (out.missing) {
			cut++;
			ck_assert_uint_le(out.nr, nr_of(row));
			ck_assert(out.missing + 17 * 8 > AT(known) && out.missing < AT(WORDS));
		} else {
			ck_assert_msg(out.nr == nr_of(row) && out.end == row->end, "%s: %zu", row->what, known);
		}
		free((void *)m.words);
	}
	/* Only walks without reads work without a copy. */
	ck_assert_int_eq(cut != 0, reads != 0);
}
END_TEST

/* Any read may fail: the frames before it are the same. */
START_TEST(test_failing_reads)
{
	static const int failures[] = { -EFAULT, -ENODATA };
	const struct row *row = &good[_i];
	struct memory m = copy_words(row, WORDS);
	struct unwind_regs regs = regs_of(row);
	uint64_t ips[UNWIND_MAX_FRAMES];
	unsigned int all, i;

	for (i = 0; i < 2; i++) {
		struct unwind_result out = { .ips = ips, .cap = ARRAY_SIZE(ips) };

		m.failure = failures[i];
		m.fail_at = 0;
		walk(&regs, &m, &out);
		all = m.reads;
		for (m.fail_at = 1; m.fail_at <= all; m.fail_at++) {
			walk(&regs, &m, &out);
			assert_ips(row, &out);
			ck_assert_uint_ge(m.reads, m.fail_at);
			if (out.nr < nr_of(row))
				ck_assert_int_ne(out.end, UNWIND_ROOT);
			if (m.failure == -EFAULT)
				ck_assert_int_ne(out.end, UNWIND_TRUNCATED);
		}
	}
	free((void *)m.words);
}
END_TEST

/* ---- deep stacks */

#define FRAMES (4 * UNWIND_MAX_FRAMES)

static void assert_deep(uint64_t ip, uint64_t fp, const uint64_t *words, size_t nr, uint64_t caller)
{
	struct memory m = { words, nr, AT(nr), 0, 0, 0 };
	struct unwind_regs regs = { .have = 1U << ARCH_SP | 1U << ARCH_IP | FP };
	uint64_t ips[UNWIND_MAX_FRAMES + 1] = { 0 };
	struct unwind_result out = { .ips = ips, .cap = ARRAY_SIZE(ips) };
	size_t i;

	regs.r[ARCH_IP] = ip;
	regs.r[ARCH_SP] = STACK;
	regs.r[ARCH_FP] = fp;
	walk(&regs, &m, &out);
	ck_assert_uint_eq(out.nr, UNWIND_MAX_FRAMES);
	ck_assert_int_eq(out.end, UNWIND_TRUNCATED);
	ck_assert_uint_eq(out.missing, 0);
	ck_assert_uint_eq(ips[0], ip);
	ck_assert_uint_eq(ips[UNWIND_MAX_FRAMES], 0);
	for (i = 1; i < UNWIND_MAX_FRAMES; i++)
		ck_assert_uint_eq(ips[i], caller);
}

/* A stack of frames only, with rules or without, ends at the limit. */
START_TEST(test_deep)
{
	uint64_t *words = malloc(16 * FRAMES), caller = _i ? J(5) : P(FRAME) + 5, i;

	ck_assert_ptr_nonnull(words);
	for (i = 0; i < FRAMES; i++) {
		words[2 * i] = AT(2 * i + 2);
		words[2 * i + 1] = caller;
	}
	assert_deep(caller, STACK, words, 2 * FRAMES, caller);
	free(words);
}
END_TEST

/* How the walk left the first frame, or tried to. */
static const struct {
	uint64_t ip;
	unsigned int left;
	size_t nr;
} lefts[] = {
	{ P(LEAF), 0, 2 },
	{ P(ROOT), 0, 1 },
	{ P(UNKNOWN), 0, 1 },
	{ P(STAYS), 0, 1 },
	{ P(ENTERED), UNWIND_LEFT_NOT_ABOVE, 1 },
	{ NOWHERE, 0, 1 },
	{ J(9), UNWIND_LEFT_NO_RULES, 2 },
	{ P(PLAIN), UNWIND_LEFT_NO_RULES, 2 },
	{ P(PLT) + 0x10, UNWIND_LEFT_NO_RULES | UNWIND_LEFT_ENTRY, 2 },
	{ P(ENDBR), UNWIND_LEFT_NO_RULES | UNWIND_LEFT_ENTRY, 2 },
	{ P(RESTORE), UNWIND_LEFT_NO_RULES, 2 },
	{ P(RESTORE) + 7, UNWIND_LEFT_NO_RULES | UNWIND_LEFT_SIGNAL, 2 },
	{ P(RESTORE) + 9, UNWIND_LEFT_NO_RULES | UNWIND_LEFT_SIGNAL, 2 },
};

START_TEST(test_left)
{
	const uint64_t words[32] = { P(ROOT) + 5, P(ROOT) + 5, [20] = AT(24), [21] = P(ROOT) + 5 };
	struct memory m = { words, 32, AT(32), 0, 0, 0 };
	struct unwind_regs regs = { .have = 1U << ARCH_SP | 1U << ARCH_IP | FP | RBX };
	uint8_t left[4] = { 77, 77, 77, 77 };
	uint64_t ips[4];
	struct unwind_result out = { .ips = ips, .left = left, .cap = 4 };

	regs.r[ARCH_IP] = lefts[_i].ip;
	regs.r[ARCH_SP] = STACK;
	regs.r[ARCH_FP] = STACK;
	regs.r[3] = P(ENTERED);
	walk(&regs, &m, &out);
	ck_assert_uint_eq(out.nr, lefts[_i].nr);
	ck_assert_uint_eq(left[0], lefts[_i].left);
	ck_assert_uint_eq(left[out.nr], 77);
	if (out.nr > 1)
		ck_assert_uint_eq(left[1], 0);
}
END_TEST

/*
 * After a frame that was left by its frame pointer, addresses are guessed, until a frame is found by another register
 * than the stack pointer.
 */
START_TEST(test_guessed)
{
	const uint64_t words[32] = { AT(4),  P(FRAME) + 5, 0, P(BY_RBP) + 5, AT(8), P(FRAME) + 5, 0, 0,
				     AT(12), P(FRAME) + 5, 0, P(ROOT) + 5 };
	static const uint8_t want[] = { UNWIND_LEFT_NO_RULES, UNWIND_LEFT_GUESSED, 0, 0, 0 };
	struct memory m = { words, 32, AT(32), 0, 0, 0 };
	struct unwind_regs regs = { .have = 1U << ARCH_SP | 1U << ARCH_IP | FP };
	uint8_t left[8] = { 0 };
	uint64_t ips[8];
	struct unwind_result out = { .ips = ips, .left = left, .cap = 8 };

	regs.r[ARCH_IP] = J(5);
	regs.r[ARCH_SP] = STACK;
	regs.r[ARCH_FP] = STACK;
	walk(&regs, &m, &out);
	ck_assert_uint_ge(out.nr, 4);
	ck_assert_mem_eq(left, want, 4);
}
END_TEST

/* Signal frames may lead anywhere, also back. */
START_TEST(test_signals_in_a_circle)
{
	uint64_t words[32] = { [20] = AT(0), [21] = P(SIGNAL) };

	assert_deep(P(SIGNAL), 0, words, ARRAY_SIZE(words), X(P(SIGNAL)));
}
END_TEST

/* ---- the chain of frames */

/* Two frames, at words 0 and 3: each has the saved frame pointer and the return address. */
#define TO_ROOT AT(3), P(BY_RBP) + 5, 0, 0, P(ROOT) + 5

/* @words: the first is at STACK */
static const struct {
	const char *what;
	uint64_t ip, fp;
	uint64_t words[8];
	enum unwind_chain chain;
	enum unwind_end end;
	size_t nr;
	size_t sp; /* the stack pointer is at this word */
} chains[] = {
	{ "frames alone", P(BY_RBP), AT(0), { TO_ROOT }, UNWIND_CHAIN_WHOLE, UNWIND_ROOT, 3, 0 },
	{ "room below the frame",
	  P(BY_RBP),
	  AT(2),
	  { 0, 0, AT(5), P(ROOT) + 5 },
	  UNWIND_CHAIN_WHOLE,
	  UNWIND_ROOT,
	  2,
	  0 },
	{ "only the outermost frame", P(ROOT), 0, { 0 }, UNWIND_CHAIN_WHOLE, UNWIND_ROOT, 1, 0 },
	{ "code without rules", J(5), AT(0), { TO_ROOT }, UNWIND_CHAIN_WHOLE, UNWIND_ROOT, 3, 0 },
	{ "frames in it up to a saved 0",
	  J(5),
	  AT(0),
	  { AT(2), J(9), 0, J(7) },
	  UNWIND_CHAIN_WHOLE,
	  UNWIND_ROOT,
	  3,
	  0 },
	{ "a return address of 0", P(BY_RBP), AT(0), { AT(4), 0 }, UNWIND_CHAIN_WHOLE, UNWIND_ROOT, 1, 0 },
	{ "more than was copied",
	  P(BY_RBP),
	  AT(0),
	  { AT(20), P(BY_RBP) + 5 },
	  UNWIND_CHAIN_WHOLE,
	  UNWIND_TRUNCATED,
	  2,
	  0 },

	{ "a leaf without a frame",
	  P(LEAF),
	  AT(1),
	  { P(BY_RBP) + 9, AT(4), P(BY_RBP) + 5, 0, 0, P(ROOT) + 5 },
	  UNWIND_CHAIN_BEHIND_LEAF,
	  UNWIND_ROOT,
	  4,
	  0 },
	{ "a leaf that the outermost frame called",
	  P(LEAF),
	  0,
	  { P(ROOT) + 5 },
	  UNWIND_CHAIN_BEHIND_LEAF,
	  UNWIND_ROOT,
	  2,
	  0 },
	{ "after an epilogue that pops a register",
	  P(POPS),
	  AT(3),
	  { 0, 0, P(BY_RBP) + 5, 0, P(ROOT) + 5 },
	  UNWIND_CHAIN_BEHIND_LEAF,
	  UNWIND_ROOT,
	  3,
	  2 },
	{ "a PLT entry",
	  P(PLT + 0x10),
	  AT(1),
	  { P(BY_RBP) + 5, 0, P(ROOT) + 5 },
	  UNWIND_CHAIN_BEHIND_LEAF,
	  UNWIND_ROOT,
	  3,
	  0 },

	{ "a leaf with a frame of its own size",
	  P(FRAME),
	  AT(2),
	  { 0, P(BY_RBP) + 5, 0, P(ROOT) + 5 },
	  UNWIND_CHAIN_NONE,
	  UNWIND_ROOT,
	  3,
	  0 },
	{ "a caller without a frame",
	  P(BY_RBP),
	  AT(0),
	  { AT(3), P(LEAF) + 5, P(ROOT) + 5 },
	  UNWIND_CHAIN_NONE,
	  UNWIND_ROOT,
	  3,
	  0 },
	{ "two functions without a frame",
	  P(LEAF),
	  0,
	  { P(LEAF) + 5, P(ROOT) + 5 },
	  UNWIND_CHAIN_NONE,
	  UNWIND_ROOT,
	  3,
	  0 },
	{ "a frame pointer that points to the frame, and is not saved there",
	  P(BY_RBX),
	  0,
	  { 0 },
	  UNWIND_CHAIN_NONE,
	  UNWIND_BAD,
	  1,
	  0 },
	{ "a frame pointer to another address of the frame",
	  P(RBP_IS),
	  0,
	  { 0, P(ROOT) + 5 },
	  UNWIND_CHAIN_NONE,
	  UNWIND_ROOT,
	  2,
	  0 },
	{ "a frame that was popped: the rules are wrong",
	  P(BY_RBP),
	  AT(0),
	  { AT(4), P(ROOT) + 5, 0 },
	  UNWIND_CHAIN_NONE,
	  UNWIND_ROOT,
	  2,
	  2 },
	{ "a PLT entry that has pushed",
	  P(PLT + 0x10) + 11,
	  AT(2),
	  { 0, P(BY_RBP) + 5, 0, P(ROOT) + 5 },
	  UNWIND_CHAIN_NONE,
	  UNWIND_ROOT,
	  3,
	  0 },
	{ "a signal", P(LEAF), 0, { P(SIGNAL) }, UNWIND_CHAIN_NONE, UNWIND_TRUNCATED, 2, 0 },
	{ "a return address in a register", P(IN_RBX), 0, { 0 }, UNWIND_CHAIN_NONE, UNWIND_BAD, 1, 0 },
};

START_TEST(test_chain)
{
	uint64_t ips[8];
	struct memory m = { .words = chains[_i].words, .nr = ARRAY_SIZE(chains[_i].words), .stack_end = AT(32) };
	struct unwind_regs regs = { .have = ARCH_BIT(ARCH_IP) | ARCH_BIT(ARCH_SP) | ARCH_BIT(ARCH_FP) };
	struct unwind_result result = { .ips = ips, .cap = ARRAY_SIZE(ips) };

	regs.r[ARCH_IP] = chains[_i].ip;
	regs.r[ARCH_SP] = AT(chains[_i].sp);
	regs.r[ARCH_FP] = chains[_i].fp;
	walk(&regs, &m, &result);
	ck_assert_msg(result.end == chains[_i].end && result.nr == chains[_i].nr, "%s: end %d, %zu frames",
		      chains[_i].what, result.end, result.nr);
	ck_assert_msg(result.chain == chains[_i].chain, "%s: %d", chains[_i].what, result.chain);
}
END_TEST

/* Return addresses beyond the copy of a stack, checked only by their rules. */
static const struct {
	uint64_t ips[4];
	bool right;
} rests[] = {
	{ { P(ROOT) + 5 }, true },
	{ { P(BY_RBP) + 5, P(ROOT) + 5 }, true },
	{ { P(BY_RBP) + 64, P(ROOT) + 63 }, true }, /* a call is the last instruction */
	{ { 0 }, false },                           /* no return address */
	{ { P(BY_RBP) + 5 }, false },               /* unknown whether it has a caller */
	{ { P(ROOT) + 5, P(ROOT) + 5 }, false },
	{ { P(LEAF) + 5, P(ROOT) + 5 }, false },
	{ { P(FRAME) + 5, P(ROOT) + 5 }, false },
	{ { P(BY_RBP) + 5, P(LEAF) + 5 }, false },
	{ { P(BY_RBP), P(ROOT) + 5 }, false }, /* the call belongs to the function before */
	{ { P(BY_RBP) + 5, P(ROOT) }, false },
	{ { P(SIGNAL) + 5, P(ROOT) + 5 }, false },
	{ { P(UNKNOWN) + 5, P(ROOT) + 5 }, false },
	{ { J(5), P(ROOT) + 5 }, false },
	{ { P(PLAIN) + 5, P(ROOT) + 5 }, false },
	{ { NOWHERE, P(ROOT) + 5 }, false },
	{ { 1, P(ROOT) + 5 }, false },
	{ { UINT64_MAX, P(ROOT) + 5 }, false },
};

START_TEST(test_rest)
{
	const struct unwind_mappings mappings = { NULL, find_mapping };
	const struct unwind_files files = { NULL, find_rules };
	size_t nr = 0;

	while (rests[_i].ips[nr])
		nr++;
	ck_assert_int_eq(unwind_chained(&mappings, &files, rests[_i].ips, nr), rests[_i].right);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("walk");
	TCase *tc = tcase_create("walk");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_good, 0, ARRAY_SIZE(good));
	tcase_add_loop_test(tc, test_bad, 0, ARRAY_SIZE(bad));
	tcase_add_test(tc, test_all_again);
	tcase_add_test(tc, test_root);
	tcase_add_loop_test(tc, test_room, 0, ARRAY_SIZE(good));
	tcase_add_loop_test(tc, test_truncated, 0, ARRAY_SIZE(good));
	tcase_add_loop_test(tc, test_failing_reads, 0, ARRAY_SIZE(good));
	tcase_add_loop_test(tc, test_deep, 0, 2);
	tcase_add_loop_test(tc, test_left, 0, ARRAY_SIZE(lefts));
	tcase_add_test(tc, test_guessed);
	tcase_add_test(tc, test_signals_in_a_circle);
	tcase_add_loop_test(tc, test_chain, 0, ARRAY_SIZE(chains));
	tcase_add_loop_test(tc, test_rest, 0, ARRAY_SIZE(rests));
	suite_add_tcase(s, tc);
	return unit_main(s);
}
