// SPDX-License-Identifier: Apache-2.0
/*
 * The embedded BPF programs, before they are loaded: each uses only features of the oldest kernel for which it is made.
 * Other errors can only be found by a real kernel's verifier.
 */
#include "core/sources/counter.h"
#include "tests/kernels.h"
#include "tests/unit/unit.h"

#include <bpf/libbpf.h>

#include "bpf/offcpu.skel.h"
#include "bpf/profile.skel.h"

/*
 * The oldest kernel for each program. A filter by mount namespace needs the kernel's BTF, and ids in a PID namespace
 * need a helper of 5.7.
 */
static const struct {
	const char *program;
	enum bpf_prog_type type;
	int since;
} programs[] = {
	{ "count_sample", BPF_PROG_TYPE_PERF_EVENT, LINUX(4, 9) },
	{ "count_sample_in_cgroup", BPF_PROG_TYPE_PERF_EVENT, LINUX(4, 18) },
	{ "count_sample_in_mntns", BPF_PROG_TYPE_PERF_EVENT, LINUX(4, 9) },
	{ "count_sample_in_both", BPF_PROG_TYPE_PERF_EVENT, LINUX(4, 18) },
	{ "count_sample_here", BPF_PROG_TYPE_PERF_EVENT, LINUX(5, 7) },
	{ "count_sample_here_in_cgroup", BPF_PROG_TYPE_PERF_EVENT, LINUX(5, 7) },
	{ "count_sample_here_in_mntns", BPF_PROG_TYPE_PERF_EVENT, LINUX(5, 7) },
	{ "count_sample_here_in_both", BPF_PROG_TYPE_PERF_EVENT, LINUX(5, 7) },
	{ "dispatch", BPF_PROG_TYPE_PERF_EVENT, LINUX(4, 9) },
	{ "count_switch", BPF_PROG_TYPE_TRACEPOINT, LINUX(4, 7) },
	{ "count_switch_in_cgroup", BPF_PROG_TYPE_TRACEPOINT, LINUX(4, 18) },
	{ "count_switch_in_mntns", BPF_PROG_TYPE_TRACEPOINT, LINUX(4, 8) },
	{ "count_switch_in_both", BPF_PROG_TYPE_TRACEPOINT, LINUX(4, 18) },
	{ "count_switch_here", BPF_PROG_TYPE_TRACEPOINT, LINUX(5, 7) },
	{ "count_switch_here_in_cgroup", BPF_PROG_TYPE_TRACEPOINT, LINUX(5, 7) },
	{ "count_switch_here_in_mntns", BPF_PROG_TYPE_TRACEPOINT, LINUX(5, 7) },
	{ "count_switch_here_in_both", BPF_PROG_TYPE_TRACEPOINT, LINUX(5, 7) },
	{ "raw_count_switch", BPF_PROG_TYPE_RAW_TRACEPOINT, LINUX(4, 17) },
	{ "raw_count_switch_in_cgroup", BPF_PROG_TYPE_RAW_TRACEPOINT, LINUX(4, 18) },
	{ "raw_count_switch_in_mntns", BPF_PROG_TYPE_RAW_TRACEPOINT, LINUX(4, 17) },
	{ "raw_count_switch_in_both", BPF_PROG_TYPE_RAW_TRACEPOINT, LINUX(4, 18) },
	{ "raw_count_switch_here", BPF_PROG_TYPE_RAW_TRACEPOINT, LINUX(5, 7) },
	{ "raw_count_switch_here_in_cgroup", BPF_PROG_TYPE_RAW_TRACEPOINT, LINUX(5, 7) },
	{ "raw_count_switch_here_in_mntns", BPF_PROG_TYPE_RAW_TRACEPOINT, LINUX(5, 7) },
	{ "raw_count_switch_here_in_both", BPF_PROG_TYPE_RAW_TRACEPOINT, LINUX(5, 7) },
};

static struct profile_bpf *samples;
static struct offcpu_bpf *switches;

static void setup(void)
{
	samples = profile_bpf__open();
	switches = offcpu_bpf__open();
	ck_assert_ptr_nonnull(samples);
	ck_assert_ptr_nonnull(switches);
}

static void teardown(void)
{
	profile_bpf__destroy(samples);
	offcpu_bpf__destroy(switches);
}

/* Kernels before 5.2 refuse programs of more than 4096 instructions. */
static int long_program(int version)
{
	return version < LINUX(5, 2) ? -E2BIG : 0;
}

static int answer(int version, const struct bpf_program *p)
{
	return program_answer(version, long_program(version), bpf_program__type(p), bpf_program__insns(p),
			      bpf_program__insn_cnt(p));
}

START_TEST(test_programs)
{
	const char *name = programs[_i].program;
	const struct bpf_program *p = bpf_object__find_program_by_name(samples->obj, name);

	if (!p)
		p = bpf_object__find_program_by_name(switches->obj, name);
	ck_assert_msg(p, "there is no %s", name);
	ck_assert_int_eq(bpf_program__type(p), programs[_i].type);
	ck_assert_msg(!answer(programs[_i].since, p), "%s: %zu instructions", name, bpf_program__insn_cnt(p));
	/* Each program fails on the kernel before @since: @since is not larger than needed. */
	ck_assert_int_ne(answer(programs[_i].since - 1, p), 0);
}
END_TEST

static unsigned int nr_programs(const struct bpf_object *object)
{
	struct bpf_program *p;
	unsigned int nr = 0;

	bpf_object__for_each_program(p, object) nr++;
	return nr;
}

/* All programs are in the table, and all data is in declared maps: there are no .rodata, .data, .bss and .kconfig. */
START_TEST(test_object)
{
	struct bpf_object *const objects[] = { samples->obj, switches->obj };
	struct bpf_map *m;

	ck_assert_uint_eq(nr_programs(objects[0]) + nr_programs(objects[1]), ARRAY_SIZE(programs));
	bpf_object__for_each_map(m, objects[_i])
	{
		ck_assert_msg(!bpf_map__is_internal(m), "%s is a section of data", bpf_map__name(m));
		ck_assert_msg(bpf_map__type(m) < GROWN(map_types, LINUX(4, 9)), "%s: its type is newer than 4.9",
			      bpf_map__name(m));
		/* Maps are preallocated: programs must not allocate. */
		ck_assert_msg(!bpf_map__map_flags(m), "%s has flags", bpf_map__name(m));
	}
}
END_TEST

/* The output of --ebpf: everything that is compiled, and each file before those that need it. */
static const struct {
	const struct counter_ops *ops;
	const char *parts[4];
} sources[] = {
	{ &counter_bpf,
	  { "struct bpf_config {", "__u32 judge(const struct bpf_config *c", "PROGRAMS(count_sample)", "LICENSE[]" } },
	{ &counter_bpf_switches,
	  { "struct bpf_config {", "__u32 judge(const struct bpf_config *c", "PROGRAMS(count_switch)", "LICENSE[]" } },
};

START_TEST(test_source)
{
	const char *text = sources[_i].ops->program;
	size_t i;

	ck_assert_int_eq(strncmp(text, "/* SPDX", 7), 0);
	for (i = 0; i < ARRAY_SIZE(sources[_i].parts); i++) {
		const char *part = strstr(text, sources[_i].parts[i]);

		ck_assert_msg(part, "'%s' is missing, or before its turn", sources[_i].parts[i]);
		text = part;
	}
	ck_assert_ptr_null(strstr(text, "SPDX"));
}
END_TEST

#define EXIT                                                                                                           \
	{                                                                                                              \
		.code = BPF_JMP | BPF_EXIT                                                                             \
	}

/* Check the checks: the last kernel that does not accept an instruction, and the first that does. */
static const struct {
	const char *what;
	struct bpf_insn insn;
	int not_yet, since; /* @not_yet 0: always; @since 0: never in these programs */
} instructions[] = {
	{ "mov", { .code = BPF_ALU64 | BPF_MOV | BPF_K }, 0, LINUX(4, 9) },
	{ "a jump", { .code = BPF_JMP | BPF_JEQ | BPF_K, .off = 1 }, 0, LINUX(4, 9) },
	{ "the address of a map", { .code = BPF_LD | BPF_IMM | BPF_DW, .src_reg = BPF_PSEUDO_MAP_FD }, 0, LINUX(4, 9) },
	{ "get_stackid", { .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_stackid }, 0, LINUX(4, 9) },
	{ "probe_read_str",
	  { .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_probe_read_str },
	  LINUX(4, 10),
	  LINUX(4, 11) },
	{ "get_stack", { .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_stack }, LINUX(4, 17), LINUX(4, 18) },
	{ "probe_read_kernel",
	  { .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_probe_read_kernel },
	  LINUX(5, 4),
	  LINUX(5, 5) },
	{ "get_ns_current_pid_tgid",
	  { .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_ns_current_pid_tgid },
	  LINUX(5, 6),
	  LINUX(5, 7) },
	{ "no helper", { .code = BPF_JMP | BPF_CALL, .imm = -1 }, LINUX(6, 18), 0 },
	{ "jlt", { .code = BPF_JMP | BPF_JLT | BPF_K, .off = 1 }, LINUX(4, 13), LINUX(4, 14) },
	{ "a call of another function",
	  { .code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_CALL, .imm = 1 },
	  LINUX(4, 15),
	  LINUX(4, 16) },
	{ "a jump of 32 bits", { .code = BPF_JMP32 | BPF_JEQ | BPF_K, .off = 1 }, LINUX(5, 0), LINUX(5, 1) },
	{ "data", { .code = BPF_LD | BPF_IMM | BPF_DW, .src_reg = BPF_PSEUDO_MAP_VALUE }, LINUX(5, 1), LINUX(5, 2) },
	{ "a jump to itself", { .code = BPF_JMP | BPF_JNE | BPF_K, .off = -1 }, LINUX(5, 2), LINUX(5, 3) },
};

START_TEST(test_instructions)
{
	/* Room for the second half of a long instruction. */
	const struct bpf_insn program[] = { instructions[_i].insn, { .code = BPF_ALU64 | BPF_MOV | BPF_K }, EXIT };
	const size_t nr = ARRAY_SIZE(program);
	int not_yet = instructions[_i].not_yet, since = instructions[_i].since;

	if (not_yet)
		ck_assert_int_eq(program_answer(not_yet, 0, BPF_PROG_TYPE_PERF_EVENT, program, nr), -EINVAL);
	if (since)
		ck_assert_int_eq(program_answer(since, 0, BPF_PROG_TYPE_PERF_EVENT, program, nr), 0);
}
END_TEST

START_TEST(test_length)
{
	static struct bpf_insn program[4097];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(program); i++)
		program[i].code = BPF_ALU64 | BPF_MOV | BPF_K;
	ck_assert_int_eq(program_answer(LINUX(4, 9), -EINVAL, BPF_PROG_TYPE_PERF_EVENT, program, 4096), 0);
	ck_assert_int_eq(program_answer(LINUX(4, 9), -EINVAL, BPF_PROG_TYPE_PERF_EVENT, program, 4097), -EINVAL);
	ck_assert_int_eq(program_answer(LINUX(4, 14), -E2BIG, BPF_PROG_TYPE_PERF_EVENT, program, 4097), -E2BIG);
	ck_assert_int_eq(program_answer(LINUX(5, 4), 0, BPF_PROG_TYPE_PERF_EVENT, program, 4097), 0);
	ck_assert_int_eq(program_answer(LINUX(5, 4), 0, BPF_PROG_TYPE_PERF_EVENT, program, 0), -EINVAL);
	ck_assert_int_eq(program_answer(LINUX(4, 8), 0, BPF_PROG_TYPE_PERF_EVENT, program, 1), -EINVAL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("bpf_object");
	TCase *objects = tcase_create("objects"), *tc = tcase_create("kernels");

	tcase_add_checked_fixture(objects, setup, teardown);
	tcase_add_loop_test(objects, test_programs, 0, ARRAY_SIZE(programs));
	tcase_add_loop_test(objects, test_object, 0, 2);
	tcase_add_loop_test(objects, test_source, 0, ARRAY_SIZE(sources));
	tcase_add_loop_test(tc, test_instructions, 0, ARRAY_SIZE(instructions));
	tcase_add_test(tc, test_length);
	suite_add_tcase(s, objects);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
