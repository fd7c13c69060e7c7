// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/apply.h"
#include "backend-perfring/stack_roots.h"
#include "backend-perfring/unwinding.h"
#include "core/events/attrs.h"
#include "tests/unit/cfi_image.h"
#include "tests/unit/rig.h"

#include <asm/perf_regs.h>
#include <sys/utsname.h>

#define PROGRAM 0x555555555000ULL /* address of process 500's code */
#define STACK   0x7ffc00001000ULL /* its stack pointer */
#define FRAME   0x400             /* CFA = rsp + 16 */
#define ROOT    0x440             /* the outermost frame */
#define BY_FP   0x480             /* CFA = rbp + 16; rbp points to the saved rbp and the return address */
#define STATES  0x4c0             /* CFA = rsp + 8; with more states than our own unwinder keeps */
#define LEAF    0x500             /* CFA = rsp + 8 */

#define P(at) (PROGRAM + (at))

/* Return addresses after calls of BY_FP: in a function with a frame, in the outermost one, in one without a frame. */
#define LINK  P(BY_FP + 0x25)
#define ENTRY P(ROOT + 0x25)
#define PLAIN P(FRAME + 0x25)
/* After calls in the outermost function: through a pointer, and of FRAME. */
#define POINTED P(ROOT + 0x10)
#define OTHER   P(ROOT + 0x1a)

/* The registers that perf record requests on x86-64: all except ds, es, fs and gs. */
#define PERF_MASK  0xff0fffULL
#define LEAST_MASK (1ULL << PERF_REG_X86_IP | 1ULL << PERF_REG_X86_SP)

/* Function N, 64 bytes at 64 * N, has its return address in register N. */
static const char in_registers[ARCH_NR_REGS][3] = {
	"\x09\x10\x00", "\x09\x10\x01", "\x09\x10\x02", "\x09\x10\x03", "\x09\x10\x04", "\x09\x10\x05",
	"\x09\x10\x06", "\x09\x10\x07", "\x09\x10\x08", "\x09\x10\x09", "\x09\x10\x0a", "\x09\x10\x0b",
	"\x09\x10\x0c", "\x09\x10\x0d", "\x09\x10\x0e", "\x09\x10\x0f",
};

static struct cfi_image image;
static char *dir;
static struct host host;
static struct rig rig;
static struct event_place events[1];
static struct applied_ring rings[1];
static struct applier a;

static const char *release = "6.18.0";

int uname(struct utsname *out)
{
	memset(out, 0, sizeof(*out));
	snprintf(out->release, sizeof(out->release), "%s", release);
	return 0;
}

/* A call of function @to in function @from; see LINK. */
static void put_call(uint32_t from, uint32_t to)
{
	uint8_t *code = image.bytes + CFI_CODE_OFFSET + from + 0x20;
	uint32_t distance = to - (from + 0x25);

	code[0] = 0xe8;
	memcpy(code + 1, &distance, sizeof(distance));
}

static void put_code(uint32_t at, const uint8_t *code, size_t len)
{
	memcpy(image.bytes + CFI_CODE_OFFSET + at, code, len);
}

static void make_program(void)
{
	static const uint8_t prologue[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10 };
	static const uint8_t pointed[] = { 0xff, 0xd0 }, other[] = { 0xe8, 0xa6, 0xff, 0xff, 0xff };
	struct cfi_function functions[21] = { [16] = { FRAME, 64, false, CFI_PROGRAM("\x0e\x10") },
					      [17] = { ROOT, 64, false, CFI_PROGRAM("\x07\x10") },
					      [18] = { BY_FP, 64, false, CFI_PROGRAM("\x0c\x06\x10\x86\x02") },
					      [19] = { STATES, 64, false,
						       CFI_PROGRAM("\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n") },
					      [20] = { LEAF, 64, false, CFI_PROGRAM("") } };
	unsigned int i;

	for (i = 0; i < 16; i++)
		functions[i] = (struct cfi_function){ 64 * i, 64, false, 3, in_registers[i] };
	cfi_image_build(&image, functions, ARRAY_SIZE(functions));
	put_call(BY_FP, BY_FP);
	put_call(ROOT, BY_FP);
	put_call(FRAME, BY_FP);
	put_code(BY_FP, prologue, sizeof(prologue));
	put_code(ROOT + 0x0e, pointed, sizeof(pointed));
	put_code(ROOT + 0x15, other, sizeof(other));
	unit_write(dir, "500/root/bin/program", image.bytes, sizeof(image.bytes));
}

static void put_maps(const char *text)
{
	unit_write(dir, "500/maps", text, strlen(text));
}

static void map_program(pid_t pid)
{
	struct mapped_file file = { .path = "/bin/program" };
	struct mapping m = { PROGRAM, PROGRAM + CFI_CODE_SIZE, CFI_CODE_OFFSET, &file };

	ck_assert_int_eq(tasks_comm(rig.sink.tasks, pid, pid, "program", true), 0);
	ck_assert_int_eq(tasks_mmap(rig.sink.tasks, pid, &m), 0);
}

static void setup(void)
{
	dir = unit_tmpdir();
	make_program();
	host = (struct host){ .proc = dir, .sys = dir };
	memset(rings, 0, sizeof(rings));
	rig_make(&rig,
		 (struct request){
			 .host = &host, .sampling = { .event = event_default() }, .asked = 126, .unwinds = true });
	rig.files.host = &host;
	rig.events.places = events;
	rig.events.nr_places = 1;
	rig.sink.tasks = tasks_new(&host);
	rig.sink.sets[0].samples = rows_new();
	rig.sink.sets[1].samples = rows_new();
	a = (struct applier){ .env = &rig.env, .rings = rings, .unwinding = unwinding_new(&rig.env) };
	ck_assert_ptr_nonnull(rig.sink.tasks);
	ck_assert_ptr_nonnull(rig.sink.sets[0].samples);
	ck_assert_ptr_nonnull(rig.sink.sets[1].samples);
	ck_assert_ptr_nonnull(a.unwinding);
	map_program(500);
}

static void teardown(void)
{
	unwinding_free(a.unwinding);
	tasks_free(rig.sink.tasks);
	rows_free(rig.sink.sets[0].samples);
	rows_free(rig.sink.sets[1].samples);
	unit_rmdir(dir);
}

/* ---- made-up samples */

static const uint64_t walked[] = { PERF_CONTEXT_KERNEL, 0xffffffff81000010, PERF_CONTEXT_USER, 0x401000, 0x402000 };

/** struct copy - the data of a sample beside @walked, the stacks that the kernel walked. */
struct copy {
	uint64_t abi, mask, regs[64];
	const uint64_t *words; /* NULL: no copy */
	size_t nr;
	bool whole;
	bool no_chain;       /* the kernel walked only its own stack */
	const uint64_t *ips; /* its callchain instead of @walked; NULL: @walked */
	size_t nr_ips;
	unsigned int mode; /* mode of the record */
};

/* Set register @perf, of PERF_REG_X86_*, if the mask has it. */
static void set_reg(struct copy *c, unsigned int perf, uint64_t value)
{
	if (c->mask & 1ULL << perf)
		c->regs[__builtin_popcountll(c->mask & ((1ULL << perf) - 1))] = value;
}

static struct copy copy_of(uint64_t mask, uint64_t ip, const uint64_t *words, size_t nr, bool whole)
{
	struct copy c = { PERF_SAMPLE_REGS_ABI_64, mask, { 0 }, words, nr, whole, false, NULL, 0, 0 };

	memset(c.regs, 0x51, sizeof(c.regs));
	set_reg(&c, PERF_REG_X86_IP, ip);
	set_reg(&c, PERF_REG_X86_SP, STACK);
	set_reg(&c, PERF_REG_X86_BP, 0);
	return c;
}

static struct record sample_of(pid_t pid, pid_t tid, const struct copy *c)
{
	return (struct record){ .type = PERF_RECORD_SAMPLE,
				.mode = c->mode,
				.pid = pid,
				.tid = tid,
				.sample = { .ips = c->ips ? c->ips : walked,
					    .nr = c->ips        ? c->nr_ips
						  : c->no_chain ? 2
								: ARRAY_SIZE(walked),
					    .abi = c->abi,
					    .regs = c->regs,
					    .mask = c->mask,
					    .stack = c->words,
					    .stack_size = 8 * c->nr,
					    .stack_whole = c->whole } };
}

static void sample_in(unsigned int set, pid_t pid, pid_t tid, const struct copy *c)
{
	const struct record r = sample_of(pid, tid, c);
	const struct sample_lead lead = { .note = { .set = set } };

	ck_assert_int_eq(apply_record(&a, 0, &r, &lead), 0);
}

static struct row only_row(unsigned int set)
{
	struct row row;

	ck_assert_uint_eq(rows_nr(rig.sink.sets[set].samples), 1);
	rows_get(rig.sink.sets[set].samples, 0, &row);
	return row;
}

/* Check that each sample with a user part ended with @end. */
static void assert_unwound(unsigned int set, int end, uint64_t nr)
{
	int i;

	for (i = 0; i < UNWOUND_NR; i++)
		ck_assert_msg(a.stats[set].unwound[i] == (i == end ? nr : 0), "end %d: %llu", i,
			      (unsigned long long)a.stats[set].unwound[i]);
}

static void assert_user(const struct row *row, const uint64_t *ips, size_t nr, bool truncated)
{
	ck_assert_int_eq(row->key.user.state, nr ? STACK_TAKEN : STACK_NONE);
	ck_assert_uint_eq(row->key.user.nr, nr);
	ck_assert_mem_eq(row->key.user.frames, ips, 8 * nr);
	ck_assert_int_eq(row->key.user.truncated, truncated);
}

/* ---- registers */

static const unsigned int perf_of[16] = {
	PERF_REG_X86_AX,  PERF_REG_X86_DX,  PERF_REG_X86_CX,  PERF_REG_X86_BX,  PERF_REG_X86_SI,  PERF_REG_X86_DI,
	PERF_REG_X86_BP,  PERF_REG_X86_SP,  PERF_REG_X86_R8,  PERF_REG_X86_R9,  PERF_REG_X86_R10, PERF_REG_X86_R11,
	PERF_REG_X86_R12, PERF_REG_X86_R13, PERF_REG_X86_R14, PERF_REG_X86_R15,
};

/*
 * A function that returns to the address in register _i: its caller is found whatever the other registers are, but only
 * if the sample has the register.
 */
START_TEST(test_register)
{
	uint64_t word = 0, own = 1ULL << perf_of[_i];
	const uint64_t masks[] = { LEAST_MASK | own,     PERF_MASK,
				   UINT64_MAX,           ~0ULL << 8 | LEAST_MASK | own,
				   LEAST_MASK | own | 1, PERF_MASK & ~own,
				   UINT64_MAX & ~own };
	const uint64_t ips[] = { P(64 * (uint64_t)_i + 9), P(ROOT) + 5 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(masks); i++) {
		struct copy c = copy_of(masks[i], ips[0], &word, 1, true);
		bool has = masks[i] & own;
		struct row row;

		set_reg(&c, perf_of[_i], ips[1]);
		sample_in(0, 500, 500, &c);
		assert_unwound(0, has ? UNWOUND_ROOT : UNWOUND_BAD, 1);
		row = only_row(0);
		assert_user(&row, ips, has ? 2 : 1, false);
		rows_free(rig.sink.sets[0].samples);
		rig.sink.sets[0].samples = rows_new();
		ck_assert_ptr_nonnull(rig.sink.sets[0].samples);
		memset(&a.stats, 0, sizeof(a.stats));
	}
}
END_TEST

/* ---- ends */

static const uint64_t deep[] = { 0, P(FRAME) + 5, 0, P(FRAME) + 7, 0, P(ROOT) + 5, 0, 0 };
static const uint64_t lost[] = { 0, P(FRAME) + 5, 0, 0x1234 };

static const struct {
	const char *what;
	uint64_t abi, mask;
	const uint64_t *words;
	size_t nr;
	bool whole, kernel_only;
	int end;       /* -1: not unwound */
	size_t frames; /* number of unwound frames; 0: the kernel's are kept */
	bool truncated;
} ends[] = {
	{ "a whole copy", 2, PERF_MASK, deep, 8, true, false, UNWOUND_ROOT, 4, false },
	{ "a full copy that holds all", 2, PERF_MASK, deep, 8, false, false, UNWOUND_ROOT, 4, false },
	{ "just enough", 2, PERF_MASK, deep, 6, false, false, UNWOUND_ROOT, 4, false },
	{ "a word less", 2, PERF_MASK, deep, 5, false, false, UNWOUND_TRUNCATED, 3, true },
	{ "half of it", 2, PERF_MASK, deep, 3, false, false, UNWOUND_TRUNCATED, 2, true },
	{ "a word", 2, PERF_MASK, deep, 1, false, false, UNWOUND_TRUNCATED, 1, true },
	{ "nothing of a whole stack", 2, PERF_MASK, deep, 0, true, false, UNWOUND_BAD, 1, false },
	{ "half of a whole stack", 2, PERF_MASK, deep, 3, true, false, UNWOUND_BAD, 2, false },
	{ "a caller that is not mapped", 2, PERF_MASK, lost, 4, true, false, UNWOUND_BAD, 3, false },
	{ "the least that is needed", 2, LEAST_MASK, deep, 8, true, false, UNWOUND_ROOT, 4, false },
	{ "no registers", 0, PERF_MASK, deep, 8, true, false, UNWOUND_KERNEL, 0, false },
	{ "a task of 32 bits", 1, PERF_MASK, deep, 8, true, false, UNWOUND_KERNEL, 0, false },
	{ "an unknown kind of task", 99, PERF_MASK, deep, 8, true, false, UNWOUND_KERNEL, 0, false },
	{ "no copy", 2, PERF_MASK, NULL, 0, false, false, UNWOUND_KERNEL, 0, false },
	{ "no stack pointer", 2, 1ULL << PERF_REG_X86_IP, deep, 8, true, false, UNWOUND_KERNEL, 0, false },
	{ "no address", 2, 1ULL << PERF_REG_X86_SP, deep, 8, true, false, UNWOUND_KERNEL, 0, false },
	{ "no registers asked for", 2, 0, deep, 8, true, false, UNWOUND_KERNEL, 0, false },
	{ "-K", 2, PERF_MASK, deep, 8, true, true, -1, 0, false },
};

START_TEST(test_end)
{
	const uint64_t ips[] = { P(FRAME), ends[_i].words ? ends[_i].words[1] : 0,
				 ends[_i].words ? ends[_i].words[3] : 0, P(ROOT) + 5 };
	struct copy c = copy_of(ends[_i].mask, ips[0], ends[_i].words, ends[_i].nr, ends[_i].whole);
	struct row row;

	c.abi = ends[_i].abi;
	rig.request.filter.no_user = ends[_i].kernel_only;
	sample_in(0, 500, 500, &c);
	assert_unwound(0, ends[_i].end, 1);
	assert_unwound(1, -1, 0);
	ck_assert_uint_eq(a.stats[0].counted_ring, 1);
	row = only_row(0);
	if (ends[_i].frames)
		assert_user(&row, ips, ends[_i].frames, ends[_i].truncated);
	else
		assert_user(&row, walked + 3, ends[_i].kernel_only ? 0 : 2, false);
	/* The kernel stack is always the one that the kernel walked. */
	ck_assert_uint_eq(row.key.kernel.nr, 1);
	ck_assert_uint_eq(row.key.kernel.frames[0], walked[1]);
}
END_TEST

/* The next copy of this stack need not be kept above its root. */
START_TEST(test_root_noted)
{
	uint64_t words[28] = { 0 };
	struct copy c = copy_of(PERF_MASK, P(FRAME), words, ARRAY_SIZE(words), true);
	const struct record r = sample_of(500, 500, &c);

	memcpy(words, deep, sizeof(deep));
	ck_assert_uint_eq(stack_roots_needed(unwinding_roots(a.unwinding), &r), sizeof(words));
	sample_in(0, 500, 500, &c);
	ck_assert_uint_eq(stack_roots_needed(unwinding_roots(a.unwinding), &r), 6 * 8 + 64);
}
END_TEST

static void unwind_by(enum unwind_mode mode)
{
	unwinding_free(a.unwinding);
	rig.request.unwind = mode;
	a.unwinding = unwinding_new(&rig.env);
	ck_assert_ptr_nonnull(a.unwinding);
}

/* The same results with libunwind, and with both, which agree. */
START_TEST(test_end_of_others)
{
	const uint64_t ips[] = { P(FRAME), ends[_i].words ? ends[_i].words[1] : 0,
				 ends[_i].words ? ends[_i].words[3] : 0, P(ROOT) + 5 };
	struct copy c = copy_of(ends[_i].mask, ips[0], ends[_i].words, ends[_i].nr, ends[_i].whole);
	const enum unwind_mode modes[] = { UNWIND_BY_LIBUNWIND, UNWIND_BY_BOTH };
	struct row row;
	unsigned int i;

	c.abi = ends[_i].abi;
	rig.request.filter.no_user = ends[_i].kernel_only;
	for (i = 0; i < 2; i++) {
		unwind_by(modes[i]);
		sample_in(i, 500, 500, &c);
		assert_unwound(i, ends[_i].end, 1);
		row = only_row(i);
		if (ends[_i].frames)
			assert_user(&row, ips, ends[_i].frames, ends[_i].truncated);
		ck_assert_uint_eq(a.stats[i].unwinders[UNWINDERS_EQUAL], i && ends[_i].frames);
		ck_assert_uint_eq(a.stats[i].unwinders[UNWINDERS_DIFFERENT], 0);
		ck_assert_uint_eq(a.stats[i].libunwind_failed, 0);
	}
	ck_assert_uint_eq(rig.sink.unwinders.nr, 0);
	ck_assert_int_eq(rig.sink.unwinders.failed.code, 0);
}
END_TEST

/* A difference is counted, and its place is noted. */
START_TEST(test_difference)
{
	static const uint64_t words[] = { P(ROOT) + 5 };
	struct copy c = copy_of(PERF_MASK, P(STATES), words, 1, true);
	const uint64_t ips[] = { P(STATES) };
	struct row row;
	unsigned int i;

	unwind_by(UNWIND_BY_BOTH);
	for (i = 0; i < 5; i++)
		sample_in(0, 500, 500, &c);
	assert_unwound(0, UNWOUND_BAD, 5);
	row = only_row(0);
	assert_user(&row, ips, 1, false);
	ck_assert_uint_eq(a.stats[0].unwinders[UNWINDERS_DIFFERENT], 5);
	ck_assert_uint_eq(rig.sink.unwinders.nr, 2);
	ck_assert_str_eq(rig.sink.unwinders.examples[0],
			 "process 500, behind frame 1, 5555555554c0 (/bin/program+0x14c0): dwarf ends there, libunwind "
			 "goes on to 555555555445 and has 2 frames");
}
END_TEST

/* On 5.10, a task without memory has registers, but no copy. A recording may have no callchains at all. */
static const struct {
	bool no_chain, recorded;
	size_t nr; /* words in the copy */
	int end;
	size_t frames;
} dying[] = {
	{ true, false, 0, UNWOUND_KERNEL, 0 },
	{ true, false, 8, UNWOUND_ROOT, 4 },
	{ false, false, 0, UNWOUND_BAD, 1 },
	{ true, true, 0, UNWOUND_BAD, 1 },
};

START_TEST(test_dying)
{
	const uint64_t ips[] = { P(FRAME), deep[1], deep[3], P(ROOT) + 5 };
	struct copy c = copy_of(PERF_MASK, ips[0], deep, dying[_i].nr, true);
	struct row row;

	c.no_chain = dying[_i].no_chain;
	rig.env.source = dying[_i].recorded ? &source_recording : &source_rings;
	sample_in(0, 500, 500, &c);
	assert_unwound(0, dying[_i].end, 1);
	row = only_row(0);
	assert_user(&row, ips, dying[_i].frames, false);
}
END_TEST

/* Each sample is unwound in the statistics of its own interval; a filtered one is not. */
START_TEST(test_sets)
{
	struct copy c = copy_of(PERF_MASK, P(FRAME), deep, 8, true);
	static const pid_t wanted[] = { 500 };

	rig.request.filter = (struct filter){ wanted, 1, false, false };
	a.set = 1;
	sample_in(0, 500, 500, &c);
	sample_in(1, 500, 500, &c);
	sample_in(1, 500, 501, &c);
	sample_in(1, 501, 501, &c);
	assert_unwound(0, UNWOUND_ROOT, 1);
	assert_unwound(1, UNWOUND_ROOT, 2);
	ck_assert_uint_eq(a.stats[1].filtered, 1);
}
END_TEST

/* An unknown process keeps the kernel's stack, and no other process's code is read. */
START_TEST(test_unknown_process)
{
	struct copy c = copy_of(PERF_MASK, P(FRAME), deep, 8, true);
	struct row row;

	sample_in(0, 777, 777, &c);
	assert_unwound(0, UNWOUND_KERNEL, 1);
	row = only_row(0);
	ck_assert_uint_eq(row.key.user.nr, 2);
}
END_TEST

/* A stack whose rules cannot be read for lack of descriptors is counted as such, each time. */
START_TEST(test_no_descriptors)
{
	struct copy c = copy_of(PERF_MASK, P(FRAME), deep, 8, true);
	rlim_t before = unit_leave_files(0);

	sample_in(0, 500, 500, &c);
	sample_in(0, 500, 500, &c);
	unit_limit_files(before);
	assert_unwound(0, UNWOUND_NO_RULES, 2);
	ck_assert_uint_eq(rig.sink.unwinders.nr_faults, 2);
	ck_assert_int_eq(rig.sink.unwinders.fault, -EMFILE);
	sample_in(1, 500, 500, &c);
	assert_unwound(1, UNWOUND_ROOT, 1);
	ck_assert_uint_eq(rig.sink.unwinders.nr_faults, 2);
}
END_TEST

/* Without unwinding, a copy is ignored. */
START_TEST(test_off)
{
	struct copy c = copy_of(PERF_MASK, P(FRAME), deep, 8, true);
	struct row row;

	unwinding_free(a.unwinding);
	a.unwinding = NULL;
	sample_in(0, 500, 500, &c);
	assert_unwound(0, -1, 0);
	row = only_row(0);
	assert_user(&row, walked + 3, 2, false);
}
END_TEST

/* More frames than the limit. */
START_TEST(test_deep)
{
	size_t nr = 4 * UNWIND_MAX_FRAMES, i;
	uint64_t *words = calloc(nr, 8);
	struct copy c = copy_of(PERF_MASK, P(FRAME) + 5, words, nr, true);
	struct row row;

	ck_assert_ptr_nonnull(words);
	for (i = 0; i < nr; i++)
		words[i] = P(FRAME) + 5;
	put_maps("7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0 [stack]\n");
	sample_in(0, 500, 500, &c);
	assert_unwound(0, UNWOUND_TRUNCATED, 1);
	row = only_row(0);
	ck_assert(row.key.user.truncated);
	ck_assert_uint_le(row.key.user.nr, UNWIND_MAX_FRAMES);
	ck_assert_uint_eq(rig.events.dump_needed, 0); /* a larger copy would not help */
	free(words);
}
END_TEST

/* ---- the size that the copy should have had */

#define STACK_LINE "7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0 [stack]\n"
#define OTHERS     "555555554000-555555556000 r-xp 00000000 00:00 0 /bin/program\n"

static const struct {
	const char *maps; /* NULL: the file does not exist */
	uint64_t sp, needed;
} stacks[] = {
	{ STACK_LINE, STACK, 0x20000 },
	{ OTHERS STACK_LINE, STACK, 0x20000 },
	{ OTHERS STACK_LINE, 0x7ffc00000000, 0x21000 },
	{ OTHERS STACK_LINE, 0x7ffc00020ff8, 8 },
	{ OTHERS STACK_LINE, 0x7ffc00020ff9, 8 },
	{ OTHERS STACK_LINE, 0x7ffc00001001, 0x20000 },
	{ "7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0\n", STACK, 0x20000 }, /* the stack of a thread */
	{ "garbage\n\n-\n7ffc00001000\n" STACK_LINE "more", STACK, 0x20000 },
	{ OTHERS STACK_LINE, 0x7ffc00021000, 0 }, /* above it */
	{ OTHERS STACK_LINE, 0x7ffbffffffff, 0 },
	{ OTHERS STACK_LINE, 8, 0 },
	{ OTHERS, STACK, 0 },
	{ "garbage\n", STACK, 0 },
	{ "7ffc00021000-7ffc00000000 rw-p 00000000 00:00 0 [stack]\n", STACK, 0 },
	{ "", STACK, 0 },
	{ NULL, STACK, 0 },
};

static void truncated_sample(pid_t pid, uint64_t sp)
{
	struct copy c = copy_of(PERF_MASK, P(FRAME), deep, 3, false);
	uint64_t before = a.stats[0].unwound[UNWOUND_TRUNCATED];

	set_reg(&c, PERF_REG_X86_SP, sp);
	sample_in(0, pid, pid, &c);
	ck_assert_uint_eq(a.stats[0].unwound[UNWOUND_TRUNCATED], before + 1);
}

START_TEST(test_needed)
{
	if (stacks[_i].maps)
		put_maps(stacks[_i].maps);
	truncated_sample(500, stacks[_i].sp);
	ck_assert_uint_eq(rig.events.dump_needed, stacks[_i].needed);
}
END_TEST

/* The search for the stack ends after many mappings: a process could have made them to cost time. */
START_TEST(test_needed_behind)
{
	char *maps = NULL;
	size_t i, len;
	FILE *f = open_memstream(&maps, &len);

	ck_assert_ptr_nonnull(f);
	for (i = 0; i < (_i ? 15000 : 13000); i++)
		fprintf(f, "%zx-%zx r-xp 00000000 08:01 77%33s/lib\n", (256 + i) << 12, (257 + i) << 12, "");
	fputs(STACK_LINE, f);
	ck_assert_int_eq(fclose(f), 0);
	put_maps(maps);
	free(maps);
	truncated_sample(500, STACK);
	ck_assert_uint_eq(rig.events.dump_needed, (_i ? 0 : 0x20000));
}
END_TEST

/* The largest need counts. A stack is looked up once, and again when it has grown or is another one. */
START_TEST(test_needed_again)
{
	char *maps;

	map_program(564); /* at the same place of the table as 500 */
	unit_write(dir, "564/root/bin/program", image.bytes, sizeof(image.bytes));
	put_maps(STACK_LINE);
	truncated_sample(500, 0x7ffc00020000);
	ck_assert_uint_eq(rig.events.dump_needed, 0x1000);
	truncated_sample(500, 0x7ffc00020800);
	ck_assert_uint_eq(rig.events.dump_needed, 0x1000);
	truncated_sample(500, 0x7ffc0001f000);
	ck_assert_uint_eq(rig.events.dump_needed, 0x2000);
	truncated_sample(564, 0x7ffc0001e000); /* its stack is unknown */
	ck_assert_uint_eq(rig.events.dump_needed, 0x2000);
	put_maps("7ffb00000000-7ffc00021000 rw-p 00000000 00:00 0 [stack]\n");
	truncated_sample(500, 0x7ffbfffff000);
	ck_assert_uint_eq(rig.events.dump_needed, 0x22000);
	put_maps(STACK_LINE "7ffd00000000-7ffd00090000 rw-p 00000000 00:00 0\n");
	truncated_sample(500, 0x7ffd00010000); /* not looked up: the need already exceeds the largest copy */
	ck_assert_uint_eq(rig.events.dump_needed, 0x22000);
	rig.events.dump_needed = 0;
	truncated_sample(500, 0x7ffd00010000);
	ck_assert_uint_eq(rig.events.dump_needed, 0x80000);
	rig.events.dump_needed = 0;
	put_maps("7ffb00000000-7ffc00021000 rw-p 00000000 00:00 0 [stack]\n");
	truncated_sample(500, 0x7ffbfffff000);
	ck_assert_uint_eq(rig.events.dump_needed, 0x22000);
	ck_assert_int_ge(asprintf(&maps, "%s/500/maps", dir), 0);
	ck_assert_int_eq(unlink(maps), 0);
	free(maps);
	rig.events.dump_needed = 1;
	truncated_sample(500, 0x7ffbffffe000);
	ck_assert_uint_eq(rig.events.dump_needed, 0x23000);
	truncated_sample(500, 0x7ff000000000); /* elsewhere, and now the process is gone */
	ck_assert_uint_eq(rig.events.dump_needed, 0x23000);
}
END_TEST

/* The processes and files of a recording are not the present ones: process 500 of this host is not read. */
START_TEST(test_recorded)
{
	const uint64_t by_fp[] = { P(FRAME), P(FRAME) + 5 };
	struct copy c = copy_of(PERF_MASK, by_fp[0], deep, 3, false);
	struct row row;

	unwinding_free(a.unwinding);
	rig.env.source = &source_recording;
	rig.files.recorded = &rig.recording.origin;
	a.unwinding = unwinding_new(&rig.env);
	ck_assert_ptr_nonnull(a.unwinding);
	put_maps(STACK_LINE);
	set_reg(&c, PERF_REG_X86_BP, STACK);
	sample_in(0, 500, 500, &c);
	assert_unwound(0, UNWOUND_ROOT, 1);
	set_reg(&c, PERF_REG_X86_BP, STACK + 16);
	sample_in(1, 500, 500, &c);
	assert_unwound(1, UNWOUND_TRUNCATED, 1);
	row = only_row(0);
	assert_user(&row, by_fp, 2, false);
	row = only_row(1);
	assert_user(&row, by_fp, 1, true);
	ck_assert_uint_eq(rig.events.dump_needed, 0);
}
END_TEST

START_TEST(test_free_nothing)
{
	unwinding_free(NULL);
}
END_TEST

/* ---- registers that the kernel withholds */

#define CHAIN(...)                                                                                                     \
	{                                                                                                              \
		PERF_CONTEXT_KERNEL, 0xffffffff81000010, PERF_CONTEXT_USER, __VA_ARGS__                                \
	}
#define CALLED (P(BY_FP) + 5) /* from there, a function without a frame pointer made the system call */
#define END    (P(ROOT) + 5)

static const struct {
	const char *what;
	uint64_t chain[8];
	size_t nr;
	uint64_t words[6];
	int end;
	size_t frames; /* number of frames, of P(FRAME), CALLED, END */
	size_t copied; /* copied words; 0: all, and that is the whole stack */
	bool truncated;
	uint64_t third; /* the last of these frames; 0: END */
} withheld[] = {
	{ "it is in the callchain", CHAIN(P(FRAME), END), 5, { 1, CALLED, 2, 0, END }, UNWOUND_ROOT, 3 },
	{ "the first of several",
	  CHAIN(P(FRAME), END, 0x77),
	  6,
	  { 1, CALLED, STACK + 32, END, 0, 0x77 },
	  UNWOUND_ROOT,
	  3 },
	{ "no caller in the callchain", CHAIN(P(FRAME)), 4, { 1, CALLED, 2, 0, END }, UNWOUND_UNKNOWN, 2 },
	{ "no user part", { PERF_CONTEXT_KERNEL, 0x10 }, 2, { 1, CALLED, 2, 0, END }, UNWOUND_UNKNOWN, 2 },
	{ "another callchain", CHAIN(P(FRAME), 0x77), 5, { 1, CALLED, 2, 0, END }, UNWOUND_UNKNOWN, 2 },
	{ "beyond the copy", CHAIN(P(FRAME), END), 5, { 1, CALLED, 2, 0, END }, UNWOUND_KERNEL, 3, 3 },
	{ "in half of the copy", CHAIN(P(FRAME), END), 5, { 1, CALLED, 2, 0, END }, UNWOUND_KERNEL, 3, 4 },
	{ "beyond the copy, and not in the callchain", CHAIN(P(FRAME)), 4, { 1, CALLED, 2 }, UNWOUND_UNKNOWN, 2, 3 },
	{ "a bogus address behind it",
	  CHAIN(P(FRAME), END, 0x4c9018),
	  6,
	  { 1, CALLED, 2, 0x4c9000, END },
	  UNWOUND_ROOT,
	  3 },
	{ "beyond the copy, with bogus addresses of a function without a frame",
	  CHAIN(P(FRAME), END, 0x4c9018, CALLED),
	  7,
	  { 1, CALLED, 2 },
	  UNWOUND_KERNEL,
	  3,
	  3 },
	{ "the same of a function with one",
	  CHAIN(P(FRAME), CALLED, CALLED),
	  6,
	  { 1, CALLED, 2 },
	  UNWOUND_KERNEL,
	  3,
	  3,
	  .third = CALLED },
	{ "a caller that cannot be read", CHAIN(P(FRAME), END), 5, { 1, 0x77, 2, 0, END }, UNWOUND_BAD, 0 },
};

/* As for a task in a system call before 4.19: the registers that functions save are all ones. */
START_TEST(test_withheld)
{
	static const unsigned int saved[] = { PERF_REG_X86_BX,  PERF_REG_X86_BP,  PERF_REG_X86_R12,
					      PERF_REG_X86_R13, PERF_REG_X86_R14, PERF_REG_X86_R15 };
	const uint64_t ips[] = { P(FRAME), CALLED, withheld[_i].third ? withheld[_i].third : END };
	size_t copied = withheld[_i].copied ? withheld[_i].copied : ARRAY_SIZE(withheld[_i].words);
	struct copy c = copy_of(PERF_MASK, P(FRAME), withheld[_i].words, copied, !withheld[_i].copied);
	struct row row;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(saved); i++)
		set_reg(&c, saved[i], UINT64_MAX);
	c.ips = withheld[_i].chain;
	c.nr_ips = withheld[_i].nr;
	sample_in(0, 500, 500, &c);
	assert_unwound(0, withheld[_i].end, 1);
	row = only_row(0);
	if (withheld[_i].frames)
		assert_user(&row, ips, withheld[_i].frames, withheld[_i].truncated);
}
END_TEST

/* ---- records of old kernels: registers that an entry into the kernel does not save have values of an earlier entry */

static const char kernel_symbols[] =
	"ffffffff81000000 T _stext\nffffffff81000010 T do_something\n"
	"ffffffff81600000 T system_call\nffffffff81600010 T system_call_after_swapgs\n"
	"ffffffff81600060 t system_call_fastpath\nffffffff81600080 T ret_from_sys_call\n"
	"ffffffff81600090 t sysret_careful\nffffffff81600098 t tracesys\nffffffff816000a0 t auditsys\n"
	"ffffffff816000b0 t sysret_audit\nffffffff816000c0 t retint_careful\nffffffff816000d0 T page_fault\n"
	"ffffffff816000e0 T entry_SYSCALL_64_after_swapgs\nffffffff816000f0 t entry_SYSCALL_64_fastpath\n"
	"ffffffff81600100 T entry_SYSCALL_64_after_hwframe\nffffffff81600110 T _etext\n";

/* Return addresses of functions that these call. */
#define SOMETHING      0xffffffff81000018
#define FASTPATH       0xffffffff81600070
#define FASTPATH_END   0xffffffff81600080
#define SYSRET_CAREFUL 0xffffffff81600095
#define TRACESYS       0xffffffff8160009d
#define AUDITSYS       0xffffffff816000a8
#define SYSRET_AUDIT   0xffffffff816000b8
#define PAGE_FAULT     0xffffffff816000d8
#define RETINT_CAREFUL 0xffffffff816000c8
#define AFTER_SWAPGS   0xffffffff81600014 /* interrupted here */
#define FAST_4_4       0xffffffff816000f8
#define EARLY_4_4      0xffffffff816000e8
#define SLOW           0xffffffff81600108
#define STACK_WORDS    8

/*
 * The kernel's record, and the expected result. Lists end with 0. The frame pointer is that of BY_FP's frame, at word
 * 4; the copy begins at the reported stack pointer.
 */
static const struct scripted {
	const char *what;
	uint64_t kernel[3], user[5]; /* callchains */
	uint64_t words[STACK_WORDS];
	int end;
	uint64_t frames[5];  /* frames of the row; none: its user stack is missed */
	const char *release; /* NULL: 3.10.0-1160.el7 */
	uint64_t bx, bp;     /* 0: the user's value */
	bool hidden;         /* the kernel's symbols are hidden */
	bool user_only;      /* the kernel's callchain is not requested */
	bool withheld;       /* registers are withheld */
	bool no_regs;        /* no registers and no copy */
	bool part;           /* the copy has only the first word */
} scripted[] = {
	/* 3.10.0-1160.el7: rsp is stale, registers that functions save are not */
	{ "el7: in a system call; the copy begins in zeros",
	  { SOMETHING, FASTPATH },
	  { P(LEAF), LINK, ENTRY },
	  { 0 },
	  UNWOUND_KERNEL,
	  { P(LEAF), LINK, ENTRY } },
	{ "el7: the same, and the program keeps no frame pointer",
	  { SOMETHING, FASTPATH },
	  { P(LEAF) },
	  { 0 },
	  UNWOUND_UNKNOWN,
	  { P(LEAF) } },
	{ "el7: the copy begins at a frame of earlier",
	  { SOMETHING, FASTPATH },
	  { P(LEAF) },
	  { PLAIN, 0, ENTRY },
	  UNWOUND_UNKNOWN,
	  { P(LEAF) } },
	{ "el7: the copy begins in data",
	  { SOMETHING, FASTPATH },
	  { P(LEAF), LINK, ENTRY },
	  { 0x77, 0x77, 0x77 },
	  UNWOUND_KERNEL,
	  { P(LEAF), LINK, ENTRY } },
	{ "el7: the frame pointer is a number of the program's",
	  { SOMETHING, FASTPATH },
	  { P(LEAF), 0x1234, LINK, ENTRY },
	  { 0 },
	  UNWOUND_UNKNOWN,
	  { P(LEAF) } },
	{ "el7: it points to a pointer to a function",
	  { SOMETHING, FASTPATH },
	  { P(LEAF), P(BY_FP), LINK, ENTRY },
	  { 0 },
	  UNWOUND_UNKNOWN,
	  { P(LEAF) } },
	{ "el7: it points to where a function without a frame was called from",
	  { SOMETHING, FASTPATH },
	  { P(LEAF), PLAIN, LINK, ENTRY },
	  { 0 },
	  UNWOUND_UNKNOWN,
	  { P(LEAF) } },
	{ "el7: the callchain goes on beyond the outermost frame",
	  { SOMETHING, FASTPATH },
	  { P(LEAF), LINK, ENTRY, 0x4c9018 },
	  { 0 },
	  UNWOUND_KERNEL,
	  { P(LEAF), LINK, ENTRY } },
	{ "el7: the outermost keeps no frame",
	  { SOMETHING, FASTPATH },
	  { P(LEAF), LINK, PLAIN, ENTRY },
	  { 0 },
	  UNWOUND_KERNEL,
	  { P(LEAF), LINK, PLAIN } },
	{ "el7: at the end of that code",
	  { SOMETHING, FASTPATH_END },
	  { P(LEAF), LINK, ENTRY },
	  { 0 },
	  UNWOUND_KERNEL,
	  { P(LEAF), LINK, ENTRY } },
	{ "el7: preempted on the way back",
	  { SOMETHING, SYSRET_CAREFUL },
	  { P(LEAF), LINK, ENTRY },
	  { 0 },
	  UNWOUND_KERNEL,
	  { P(LEAF), LINK, ENTRY } },
	{ "el7: audited",
	  { SOMETHING, AUDITSYS },
	  { P(LEAF), LINK, ENTRY },
	  { 0 },
	  UNWOUND_KERNEL,
	  { P(LEAF), LINK, ENTRY } },
	{ "el7: audited on the way back",
	  { SOMETHING, SYSRET_AUDIT },
	  { P(LEAF), LINK, ENTRY },
	  { 0 },
	  UNWOUND_KERNEL,
	  { P(LEAF), LINK, ENTRY } },
	{ "el7: that code is interrupted, perhaps before it has saved registers",
	  { FASTPATH },
	  { P(LEAF), LINK, ENTRY },
	  { 0 },
	  UNWOUND_UNKNOWN,
	  { P(LEAF) } },
	{ "el7: hidden symbols",
	  { SOMETHING, FASTPATH },
	  { P(LEAF), LINK, ENTRY },
	  { 0 },
	  UNWOUND_UNKNOWN,
	  { P(LEAF) },
	  .hidden = true },
	{ "el7: without the kernel's callchain",
	  { 0 },
	  { P(LEAF), LINK, ENTRY },
	  { 0 },
	  UNWOUND_UNKNOWN,
	  { P(LEAF) },
	  .user_only = true },
	/* mainline: the call in the system call has overwritten the place of a register */
	{ "3.10: in a system call",
	  { SOMETHING, FASTPATH },
	  { P(LEAF), LINK, ENTRY },
	  { PLAIN, 0, ENTRY },
	  UNWOUND_UNKNOWN,
	  { P(LEAF) },
	  .bx = FASTPATH,
	  .release = "3.10.108" },
	{ "3.16: preempted on the way back",
	  { SOMETHING, SYSRET_CAREFUL },
	  { P(LEAF), LINK, ENTRY },
	  { PLAIN, 0, ENTRY },
	  UNWOUND_UNKNOWN,
	  { P(LEAF) },
	  .bp = SYSRET_CAREFUL,
	  .release = "3.16.85" },
	/* el7 preempts user code: rbx and rbp are overwritten, and the kernel cannot walk by the latter */
	{ "el7: user code is preempted",
	  { SOMETHING, RETINT_CAREFUL },
	  { P(LEAF) },
	  { CALLED, 0, 0, 0, 0, END },
	  UNWOUND_UNKNOWN,
	  { P(LEAF), CALLED },
	  .bx = 0xff,
	  .bp = RETINT_CAREFUL },
	{ "el7: the same, in a function that is left by the stack pointer, as its callers",
	  { SOMETHING, RETINT_CAREFUL },
	  { P(LEAF) },
	  { P(FRAME) + 5, 0, END },
	  UNWOUND_ROOT,
	  { P(LEAF), P(FRAME) + 5, END },
	  .bx = 0xff,
	  .bp = RETINT_CAREFUL },
	{ "el7: rbp has become an address on the stack",
	  { SOMETHING, RETINT_CAREFUL },
	  { P(LEAF), LINK, ENTRY },
	  { CALLED, 0, 0, 0, 0, LINK, 0, ENTRY },
	  UNWOUND_UNKNOWN,
	  { P(LEAF), CALLED } },
	{ "el7: before the system call has saved anything",
	  { AFTER_SWAPGS },
	  { P(LEAF), LINK, ENTRY },
	  { CALLED, 0, 0, 0, 0, END },
	  UNWOUND_UNKNOWN,
	  { 0 } },
	{ "el7: a name of code that calls nothing",
	  { SOMETHING, AFTER_SWAPGS },
	  { P(LEAF), LINK, ENTRY },
	  { CALLED, 0, 0, 0, 0, END },
	  UNWOUND_ROOT,
	  { P(LEAF), CALLED, END } },
	/* 4.4 reports no callee-saved registers, and its callchain begins with a stale rbp: rsp and the copy are right
	 */
	{ "4.4: in a system call; the frame that the callchain begins with is of an outer function",
	  { SOMETHING, FAST_4_4 },
	  { P(LEAF), END },
	  { CALLED, 0, STACK + 48, CALLED, 0, 0, 0, END },
	  UNWOUND_UNKNOWN,
	  { P(LEAF), CALLED },
	  .withheld = true,
	  .release = "4.4.178" },
	{ "4.4: it is a frame that was",
	  { SOMETHING, FAST_4_4 },
	  { P(LEAF), LINK, END },
	  { CALLED, STACK + 24, LINK, 0, END, 0, 0, END },
	  UNWOUND_UNKNOWN,
	  { P(LEAF), CALLED },
	  .withheld = true,
	  .release = "4.4.178" },
	{ "4.4: it is of something else",
	  { SOMETHING, FAST_4_4 },
	  { P(LEAF), 0x4c9018 },
	  { CALLED, 0, 0x4c9018, 0, 0, 0, 0, END },
	  UNWOUND_UNKNOWN,
	  { P(LEAF), CALLED },
	  .withheld = true,
	  .release = "4.4.178" },
	{ "4.4: the frame is above the copy",
	  { SOMETHING, FAST_4_4 },
	  { P(LEAF), LINK, ENTRY },
	  { CALLED },
	  UNWOUND_UNKNOWN,
	  { P(LEAF), CALLED },
	  .withheld = true,
	  .part = true,
	  .release = "4.4.178" },
	{ "4.4: its code tells where the frame is",
	  { SOMETHING, FAST_4_4 },
	  { P(LEAF), LINK, END },
	  { CALLED, STACK + 8, LINK, 0, ENTRY },
	  UNWOUND_ROOT,
	  { P(LEAF), CALLED, ENTRY },
	  .withheld = true,
	  .release = "4.4.178" },
	{ "4.4: it was called through a pointer, and its caller has a frame",
	  { SOMETHING, FAST_4_4 },
	  { P(LEAF) },
	  { CALLED, 0, 0, STACK + 40, LINK, 0, POINTED },
	  UNWOUND_ROOT,
	  { P(LEAF), CALLED, LINK, POINTED },
	  .withheld = true,
	  .release = "4.4.178" },
	{ "4.4: what is there was pushed by a call of another function",
	  { SOMETHING, FAST_4_4 },
	  { P(LEAF) },
	  { CALLED, 0, 0, 0, OTHER },
	  UNWOUND_UNKNOWN,
	  { P(LEAF), CALLED },
	  .withheld = true,
	  .release = "4.4.178" },
	{ "4.9.115: the callchain does not tell, its code does",
	  { SOMETHING, SLOW },
	  { P(LEAF) },
	  { CALLED, 0, 0, 0, ENTRY },
	  UNWOUND_ROOT,
	  { P(LEAF), CALLED, ENTRY },
	  .withheld = true,
	  .release = "4.9.115" },
	{ "4.4: functions without frames",
	  { SOMETHING, FAST_4_4 },
	  { P(LEAF), 0x4c9018 },
	  { P(FRAME) + 5, 0, P(FRAME) + 7, 0, END },
	  UNWOUND_ROOT,
	  { P(LEAF), P(FRAME) + 5, P(FRAME) + 7, END },
	  .withheld = true,
	  .release = "4.4.178" },
	{ "4.9.0: the same code",
	  { SOMETHING, FAST_4_4 },
	  { P(LEAF), LINK, END },
	  { CALLED, STACK + 24, LINK, 0, END, 0, 0, END },
	  UNWOUND_UNKNOWN,
	  { P(LEAF), CALLED },
	  .withheld = true,
	  .release = "4.9.0-13-amd64" },
	{ "4.4: before the system call has saved anything",
	  { EARLY_4_4 },
	  { P(LEAF), LINK, ENTRY },
	  { CALLED, 0, 0, 0, 0, END },
	  UNWOUND_UNKNOWN,
	  { 0 },
	  .withheld = true,
	  .release = "4.4.178" },
	{ "4.4: of a 32-bit task, or without registers: the first address alone",
	  { SOMETHING, FAST_4_4 },
	  { P(LEAF), LINK, ENTRY },
	  { CALLED, 0, 0, 0, 0, END },
	  UNWOUND_UNKNOWN,
	  { P(LEAF) },
	  .no_regs = true,
	  .release = "4.4.178" },
	{ "4.9.115: the callchain begins with the right rbp",
	  { SOMETHING, SLOW },
	  { P(LEAF), END },
	  { CALLED, 0, 0, 0, 0, END },
	  UNWOUND_ROOT,
	  { P(LEAF), CALLED, END },
	  .withheld = true,
	  .release = "4.9.115" },
	{ "4.9.115: and goes on by data",
	  { SOMETHING, SLOW },
	  { P(LEAF), END, 0x4c9018, 0x1 },
	  { CALLED, 0, 0, 0, 0x4c9000, END },
	  UNWOUND_ROOT,
	  { P(LEAF), CALLED, END },
	  .withheld = true,
	  .release = "4.9.115" },
	{ "4.9.115: frames of earlier lead to the frame",
	  { SOMETHING, SLOW },
	  { P(LEAF), END },
	  { CALLED, STACK + 32, PLAIN, 0, 0, END },
	  UNWOUND_ROOT,
	  { P(LEAF), CALLED, END },
	  .withheld = true,
	  .release = "4.9.115" },
	{ "4.9.115: the kernel's symbols are hidden",
	  { SOMETHING, SLOW },
	  { P(LEAF), END },
	  { CALLED, 0, 0, 0, 0, END },
	  UNWOUND_UNKNOWN,
	  { P(LEAF), CALLED },
	  .withheld = true,
	  .hidden = true,
	  .release = "4.9.115" },
	/* all registers are saved */
	{ "el7: of that code, not called from there",
	  { FASTPATH, SOMETHING },
	  { P(LEAF), LINK, ENTRY },
	  { CALLED, 0, 0, 0, 0, END },
	  UNWOUND_ROOT,
	  { P(LEAF), CALLED, END } },
	{ "el7: in a page fault",
	  { SOMETHING, PAGE_FAULT },
	  { P(LEAF), LINK, ENTRY },
	  { CALLED, 0, 0, 0, 0, END },
	  UNWOUND_ROOT,
	  { P(LEAF), CALLED, END } },
	{ "el7: traced",
	  { SOMETHING, TRACESYS },
	  { P(LEAF), LINK, ENTRY },
	  { CALLED, 0, 0, 0, 0, END },
	  UNWOUND_ROOT,
	  { P(LEAF), CALLED, END } },
	{ "el7: not in the kernel",
	  { 0 },
	  { P(LEAF), LINK, ENTRY },
	  { CALLED, 0, 0, 0, 0, END },
	  UNWOUND_ROOT,
	  { P(LEAF), CALLED, END } },
	{ "a kernel without such code, whatever it calls its functions",
	  { SOMETHING, FASTPATH },
	  { P(LEAF), LINK, ENTRY },
	  { CALLED, 0, 0, 0, 0, END },
	  UNWOUND_ROOT,
	  { P(LEAF), CALLED, END },
	  .release = "5.10.0-28-amd64" },
};

static size_t nr_of(const uint64_t *list, size_t max)
{
	size_t nr = 0;

	while (nr < max && list[nr])
		nr++;
	return nr;
}

/* Put both callchains of a scripted record, with their markers. */
static size_t write_chain(const struct scripted *s, uint64_t *to)
{
	size_t nr_kernel = nr_of(s->kernel, ARRAY_SIZE(s->kernel)), nr_user = nr_of(s->user, ARRAY_SIZE(s->user));
	size_t nr = 0;

	if (nr_kernel)
		to[nr++] = PERF_CONTEXT_KERNEL;
	memcpy(to + nr, s->kernel, 8 * nr_kernel);
	nr += nr_kernel;
	to[nr++] = PERF_CONTEXT_USER;
	memcpy(to + nr, s->user, 8 * nr_user);
	return nr + nr_user;
}

static void set_saved(struct copy *c, const struct scripted *s)
{
	static const unsigned int saved[] = { PERF_REG_X86_BX,  PERF_REG_X86_BP,  PERF_REG_X86_R12,
					      PERF_REG_X86_R13, PERF_REG_X86_R14, PERF_REG_X86_R15 };
	size_t i;

	set_reg(c, PERF_REG_X86_BP, s->bp ? s->bp : STACK + 32);
	if (s->bx)
		set_reg(c, PERF_REG_X86_BX, s->bx);
	for (i = 0; i < ARRAY_SIZE(saved) && s->withheld; i++)
		set_reg(c, saved[i], UINT64_MAX);
}

START_TEST(test_scripted)
{
	const struct scripted *s = &scripted[_i];
	struct copy c = copy_of(PERF_MASK, s->user[0], s->words, s->part ? 1 : STACK_WORDS, !s->part);
	size_t nr = nr_of(s->frames, ARRAY_SIZE(s->frames));
	uint64_t chain[10];
	struct row row;

	if (!s->hidden)
		unit_write(dir, "kallsyms", kernel_symbols, strlen(kernel_symbols));
	unwinding_free(a.unwinding);
	release = s->release ? s->release : "3.10.0-1160.el7.x86_64";
	a.unwinding = unwinding_new(&rig.env);
	ck_assert_ptr_nonnull(a.unwinding);
	set_saved(&c, s);
	c.abi = s->no_regs ? PERF_SAMPLE_REGS_ABI_NONE : c.abi;
	c.ips = chain;
	c.nr_ips = write_chain(s, chain);
	c.mode = s->kernel[0] || s->user_only ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
	sample_in(0, 500, 500, &c);
	row = only_row(0);
	ck_assert_msg(row.key.user.nr == nr && !memcmp(row.key.user.frames, s->frames, 8 * nr), "%s: %u frames: %#lx",
		      s->what, row.key.user.nr, row.key.user.nr > 1 ? row.key.user.frames[1] : 0);
	ck_assert_int_eq(row.key.user.state, nr ? STACK_TAKEN : STACK_MISSED);
	ck_assert_msg(a.stats[0].unwound[s->end] == 1, "%s", s->what);
	assert_unwound(0, s->end, 1);
}
END_TEST

/*
 * With -U, the kernel's part of a callchain is still requested if stacks are unwound on a kernel whose entry code tells
 * which registers are right: see arch_entry_stale().
 */
static const struct {
	const char *release;
	bool user_only, unwinds, left_out;
} chains[] = {
	{ "3.10.0-1160.el7.x86_64", true, true, false },
	{ "4.14.67", true, true, false },
	{ "4.14.67", true, false, true },
	{ "4.14.67", false, true, false },
	{ "4.15.0", true, true, true },
	{ "6.18.0", true, true, true },
};

START_TEST(test_kernel_chain)
{
	release = chains[_i].release;
	rig.request.filter.no_kernel = chains[_i].user_only;
	rig.request.unwinds = chains[_i].unwinds;
	ck_assert_int_eq(attrs_no_kernel_chain(&rig.request), chains[_i].left_out);
}
END_TEST

/* ---- proven frame pointers */

static struct {
	unsigned int calls;
	enum proof proof;
} told;

static enum proof_use note_proof(struct counter *c, const struct sample_note *note, enum proof proof)
{
	(void)c;
	(void)note;
	told.calls++;
	told.proof = proof;
	return proof == PROOF_NONE ? PROOF_UNUSED : PROOF_ADMITTED;
}

#define AT(i) (STACK + 8 * (i))
#define U     PERF_CONTEXT_USER

static const uint64_t two_frames[] = { AT(3), P(BY_FP) + 5, 0, 0, P(ROOT) + 5, 0 };
static const uint64_t called[] = { P(BY_FP) + 9, AT(4), P(BY_FP) + 5, 0, 0, P(ROOT) + 5 };
static const uint64_t misled[] = { AT(3), P(LEAF) + 5, P(ROOT) + 5, 0, P(ROOT) + 5, 0 };

/*
 * @ips: user part of the callchain; @top: from the note; @nr: frames of the row; @gained: frames that the copy does not
 * have
 */
static const struct {
	const char *what;
	uint64_t ip, fp;
	const uint64_t *words;
	size_t nr_words;
	bool whole;
	uint64_t ips[8], top;
	enum proof proof;
	size_t nr;
	bool gained;
} proofs[] = {
	{ "frames",
	  P(BY_FP),
	  AT(0),
	  two_frames,
	  6,
	  true,
	  { U, P(BY_FP), P(BY_FP) + 5, P(ROOT) + 5 },
	  0,
	  PROOF_CHAIN,
	  3,
	  false },
	{ "more frames than the copy has",
	  P(BY_FP),
	  AT(0),
	  two_frames,
	  2,
	  false,
	  { U, P(BY_FP), P(BY_FP) + 5, P(ROOT) + 5 },
	  0,
	  PROOF_CHAIN,
	  3,
	  true },
	{ "many more",
	  P(BY_FP),
	  AT(0),
	  two_frames,
	  2,
	  false,
	  { U, P(BY_FP), P(BY_FP) + 5, P(BY_FP) + 5, P(BY_FP) + 7, P(ROOT) + 5 },
	  0,
	  PROOF_CHAIN,
	  5,
	  true },
	{ "a leaf",
	  P(LEAF),
	  AT(1),
	  called,
	  6,
	  true,
	  { U, P(LEAF), P(BY_FP) + 5, P(ROOT) + 5 },
	  P(BY_FP) + 9,
	  PROOF_LEAF,
	  4,
	  false },
	{ "a leaf of a deep stack",
	  P(LEAF),
	  AT(1),
	  called,
	  3,
	  false,
	  { U, P(LEAF), P(BY_FP) + 5, P(ROOT) + 5 },
	  P(BY_FP) + 9,
	  PROOF_LEAF,
	  4,
	  true },
	{ "a leaf, and the program has read another caller",
	  P(LEAF),
	  AT(1),
	  called,
	  6,
	  true,
	  { U, P(LEAF), P(BY_FP) + 5, P(ROOT) + 5 },
	  P(BY_FP) + 10,
	  PROOF_NONE,
	  4,
	  false },
	{ "a leaf, and the program has not read its caller",
	  P(LEAF),
	  AT(1),
	  called,
	  6,
	  true,
	  { U, P(LEAF), P(BY_FP) + 5, P(ROOT) + 5 },
	  0,
	  PROOF_NONE,
	  4,
	  false },
	{ "a callchain that the kernel cut",
	  P(BY_FP),
	  AT(0),
	  two_frames,
	  6,
	  true,
	  { U, P(BY_FP), P(BY_FP) + 5 },
	  0,
	  PROOF_NONE,
	  3,
	  false },
	{ "a longer one",
	  P(BY_FP),
	  AT(0),
	  two_frames,
	  6,
	  true,
	  { U, P(BY_FP), P(BY_FP) + 5, P(ROOT) + 5, 9 },
	  0,
	  PROOF_NONE,
	  3,
	  false },
	{ "another one",
	  P(BY_FP),
	  AT(0),
	  two_frames,
	  6,
	  true,
	  { U, P(BY_FP), P(BY_FP) + 6, P(ROOT) + 5 },
	  0,
	  PROOF_NONE,
	  3,
	  false },
	{ "another leaf",
	  P(BY_FP),
	  AT(0),
	  two_frames,
	  6,
	  true,
	  { U, P(BY_FP) + 1, P(BY_FP) + 5, P(ROOT) + 5 },
	  0,
	  PROOF_NONE,
	  3,
	  false },
	{ "none",
	  P(BY_FP),
	  AT(0),
	  two_frames,
	  6,
	  true,
	  { PERF_CONTEXT_KERNEL, 0xffffffff81000010 },
	  0,
	  PROOF_NONE,
	  3,
	  false },
	{ "forged: a copy that ends before what the callchain says, without rules for it",
	  P(BY_FP),
	  AT(0),
	  two_frames,
	  2,
	  false,
	  { U, P(BY_FP), P(BY_FP) + 5, P(LEAF) + 5, P(ROOT) + 5 },
	  0,
	  PROOF_NONE,
	  2,
	  false },
	{ "forged: a frame in other memory",
	  P(BY_FP),
	  0x10000,
	  two_frames,
	  6,
	  true,
	  { U, P(BY_FP), P(BY_FP) + 5, P(ROOT) + 5 },
	  0,
	  PROOF_NONE,
	  1,
	  false },
	{ "a function that uses the register for something else",
	  P(FRAME),
	  AT(0),
	  misled,
	  6,
	  true,
	  { U, P(FRAME), P(LEAF) + 5, P(ROOT) + 5 },
	  0,
	  PROOF_NONE,
	  3,
	  false },
	{ "a caller that has no frame",
	  P(BY_FP),
	  AT(0),
	  misled,
	  6,
	  true,
	  { U, P(BY_FP), P(LEAF) + 5, P(ROOT) + 5 },
	  0,
	  PROOF_NONE,
	  3,
	  false },
};

static void sample_passed_on(int i, enum proof expected)
{
	static const struct counter_ops ops = { .unwound = note_proof };
	struct copy c = copy_of(PERF_MASK, proofs[i].ip, proofs[i].words, proofs[i].nr_words, proofs[i].whole);
	struct record r = { .type = PERF_RECORD_SAMPLE, .pid = 500, .tid = 500 };
	const struct sample_lead lead = { .noted = true,
					  .note = { .verdict = NOTE_SPILLED,
						    .pid = 500,
						    .tid = 500,
						    .comm = "program",
						    .user_stack = 3,
						    .top = proofs[i].top } };
	size_t nr = 0;

	while (nr < ARRAY_SIZE(proofs[i].ips) && proofs[i].ips[nr])
		nr++;
	set_reg(&c, PERF_REG_X86_BP, proofs[i].fp);
	r.sample.ips = proofs[i].ips;
	r.sample.nr = nr;
	r.sample.abi = c.abi;
	r.sample.regs = c.regs;
	r.sample.mask = c.mask;
	r.sample.stack = c.words;
	r.sample.stack_size = 8 * c.nr;
	r.sample.stack_whole = c.whole;
	memset(&told, 0, sizeof(told));
	rig.env.counters[0].ops = &ops;
	rig.env.nr_counters = 1;
	ck_assert_int_eq(apply_record(&a, 0, &r, &lead), 0);
	ck_assert_msg(told.calls == 1 && told.proof == expected, "%s: %u, %d", proofs[i].what, told.calls, told.proof);
	ck_assert_uint_eq(a.stats[0].admitted, expected != PROOF_NONE);
}

/* With --unwind=dwarf nothing is proven, and stacks come from the copy alone. */
START_TEST(test_proof)
{
	bool proves = _i % 2;
	int i = _i / 2;
	bool cut = proofs[i].gained && !proves;
	struct row row;

	rig.request.proves = proves;
	sample_passed_on(i, proves ? proofs[i].proof : PROOF_NONE);
	ck_assert_int_eq(rig.events.hurry, proves && proofs[i].proof != PROOF_NONE);
	row = only_row(0);
	ck_assert_msg(cut ? row.key.user.nr < proofs[i].nr : row.key.user.nr == proofs[i].nr, "%s: %u frames",
		      proofs[i].what, row.key.user.nr);
	ck_assert(!proofs[i].gained || row.key.user.truncated == cut);
	if (proves && proofs[i].proof == PROOF_CHAIN)
		ck_assert_mem_eq(row.key.user.frames, proofs[i].ips + 1, 8 * proofs[i].nr);
}
END_TEST

/* ---- uretprobes */

#define TRAMPOLINE 0x7fffffffe000ULL

/* BY_FP is called by BY_FP. The caller has a uretprobe: its return address in the copy leads to the kernel's code. */
static const uint64_t probed_words[] = { 0, 0, STACK + 32, P(BY_FP) + 9, STACK + 48, TRAMPOLINE, 0, P(ROOT) + 5 };

static const struct {
	const char *what;
	uint64_t ip;
	const uint64_t *chain; /* the user's part of the callchain */
	size_t nr;
	int end;
	const uint64_t *ips; /* of the stack */
	size_t frames;
} probed[] = {
#define CALLS P(BY_FP) + 9
	{ "the kernel has put the address into its callchain", P(BY_FP) + 8,
	  (const uint64_t[]){ P(BY_FP) + 8, CALLS, CALLS, P(ROOT) + 5 }, 4, UNWOUND_ROOT,
	  (const uint64_t[]){ P(BY_FP) + 8, CALLS, CALLS, P(ROOT) + 5 }, 4 },
	{ "it has not, before 6.11", P(BY_FP) + 8, (const uint64_t[]){ P(BY_FP) + 8, CALLS, TRAMPOLINE, P(ROOT) + 5 },
	  4, UNWOUND_PROBED, (const uint64_t[]){ P(BY_FP) + 8, CALLS, TRAMPOLINE }, 3 },
	{ "there is no callchain", P(BY_FP) + 8, NULL, 0, UNWOUND_PROBED,
	  (const uint64_t[]){ P(BY_FP) + 8, CALLS, TRAMPOLINE }, 3 },
	{ "the function has returned to the kernel's code", TRAMPOLINE + 4,
	  (const uint64_t[]){ TRAMPOLINE + 4, CALLS, CALLS, P(ROOT) + 5 }, 4, UNWOUND_PROBED,
	  (const uint64_t[]){ TRAMPOLINE + 4 }, 1 },
};

START_TEST(test_probed)
{
	struct mapped_file file = { .path = "[uprobes]" };
	struct mapping m = { TRAMPOLINE, TRAMPOLINE + 0x1000, 0, &file };
	struct copy c = copy_of(PERF_MASK, probed[_i].ip, probed_words, ARRAY_SIZE(probed_words), true);
	uint64_t ips[16] = { PERF_CONTEXT_USER };
	struct row row;
	int round;

	rig.request.proves = true;
	set_reg(&c, PERF_REG_X86_BP, STACK + 16);
	memcpy(ips + 1, probed[_i].chain ? probed[_i].chain : ips, 8 * probed[_i].nr);
	c.ips = ips;
	c.nr_ips = 1 + probed[_i].nr;
	ck_assert_int_eq(tasks_mmap(rig.sink.tasks, 500, &m), 0);
	/* The second time it is known that the process has such probes. */
	for (round = 1; round <= 2; round++) {
		sample_in(0, 500, 500, &c);
		assert_unwound(0, probed[_i].end, (uint64_t)round);
		row = only_row(0);
		assert_user(&row, probed[_i].ips, probed[_i].frames, false);
		ck_assert_uint_eq(row.value, (uint64_t)round);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("unwinding");
	TCase *tc = tcase_create("unwinding");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_register, 0, 7);
	tcase_add_loop_test(tc, test_register, 8, 16); /* 7 is the stack pointer */
	tcase_add_loop_test(tc, test_end, 0, ARRAY_SIZE(ends));
	tcase_add_test(tc, test_root_noted);
	if (unwind_has_libunwind()) {
		tcase_add_loop_test(tc, test_end_of_others, 0, ARRAY_SIZE(ends));
		tcase_add_test(tc, test_difference);
	}
	tcase_add_loop_test(tc, test_withheld, 0, ARRAY_SIZE(withheld));
	tcase_add_loop_test(tc, test_scripted, 0, ARRAY_SIZE(scripted));
	tcase_add_loop_test(tc, test_kernel_chain, 0, ARRAY_SIZE(chains));
	tcase_add_loop_test(tc, test_dying, 0, ARRAY_SIZE(dying));
	tcase_add_test(tc, test_sets);
	tcase_add_test(tc, test_unknown_process);
	tcase_add_test(tc, test_no_descriptors);
	tcase_add_test(tc, test_off);
	tcase_add_test(tc, test_deep);
	tcase_add_loop_test(tc, test_needed, 0, ARRAY_SIZE(stacks));
	tcase_add_loop_test(tc, test_needed_behind, 0, 2);
	tcase_add_test(tc, test_needed_again);
	tcase_add_test(tc, test_recorded);
	tcase_add_loop_test(tc, test_proof, 0, 2 * ARRAY_SIZE(proofs));
	tcase_add_test(tc, test_free_nothing);
	tcase_add_loop_test(tc, test_probed, 0, ARRAY_SIZE(probed));
	suite_add_tcase(s, tc);
	return unit_main(s);
}
