// SPDX-License-Identifier: Apache-2.0
/* Names from the namer of a fake kernel, and when it is used. */
#include "core/host/host.h"
#include "core/files/mapped_files.h"
#include "core/files/recorded.h"
#include "core/symbols/kernel_answers.h"
#include "core/symbols/kernel_names.h"
#include "core/symbols/kernel_ranges.h"
#include "core/symbols/symbols_cfg.h"
#include "tests/unit/unit.h"

#include <errno.h>

#define K 0xffffffff81000000ULL
#define M 0xffffffffc0000000ULL

/* @answer is for @addr. All other addresses have the symbol "proper" if they are below @around_end, otherwise none. */
static struct {
	uint64_t addr;
	const char *answer; /* NULL: an error */
	uint64_t around_end;
	unsigned int asked;
} told;

static int ask(struct namer *n, uint64_t addr, const char **answer)
{
	static char text[64];

	(void)n;
	told.asked++;
	if (addr != told.addr) {
		snprintf(text, sizeof(text), addr < told.around_end ? "proper+0x1/0x2" : "0x%llx",
			 (unsigned long long)addr);
		*answer = text;
		return 0;
	}
	*answer = told.answer;
	return told.answer ? 0 : -EPERM;
}

static const struct namer_ops ops = { NULL, ask, NULL };
static const struct used_namer namer = { &ops, NULL };

static struct kernel_answers *ka;

static void setup(void)
{
	memset(&told, 0, sizeof(told));
	ka = kernel_answers_new(&namer);
	ck_assert_ptr_nonnull(ka);
}

static void teardown(void)
{
	kernel_answers_free(ka);
}

static const char *lookup(uint64_t addr)
{
	static char text[1024];
	struct kernel_symbol s;

	if (!kernel_answers_find(ka, addr, &s))
		return "-";
	snprintf(text, sizeof(text), "%s+0x%llx [%s]", s.name, (unsigned long long)(addr - s.start), s.module);
	return text;
}

#define X100 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

static const struct {
	const char *answer, *found;
	uint64_t around_end; /* 0: no answers around it */
} answers[] = {
	{ "schedule+0x0/0x90", "schedule+0x0 [kernel]" },
	{ "schedule+0x1c/0x90", "schedule+0x1c [kernel]" },
	{ "a.isra.0+0x1c/0x90", "a.isra.0+0x1c [kernel]" },
	{ X100 X100 X100 X100 X100 "+0x1/0x2", X100 X100 X100 X100 X100 "+0x1 [kernel]" },
	/* a name may contain the separators that follow it */
	{ "a+0x5/0x6+0x7/0x90", "a+0x5/0x6+0x7 [kernel]" },
	{ "ext4_write+0x1c/0x90 [ext4]", "ext4_write+0x1c [ext4]" },
	{ "bpf_nf_init+0x1/0x9 [nf_conntrack]", "bpf_nf_init+0x1 [nf_conntrack]" },
	{ "bpf_prog_6deef7357e7b4530+0x10/0x20", "bpf_prog_6deef7357e7b4530+0x10 [bpf]" },
	{ "bpf_prog_6deef7357e7b4530_take+0x10/0x20", "bpf_prog_6deef7357e7b4530_take+0x10 [bpf]" },
	{ "bpf_trampoline_6442549234_1+0x10/0x20", "bpf_trampoline_6442549234_1+0x10 [bpf]" },
	/* the module is found from the addresses around it */
	{ "bpf_prog_run+0x10/0x20", "-" },
	{ "bpf_prog_run+0x10/0x20", "bpf_prog_run+0x10 [kernel]", K + (32ULL << 20) },
	{ "bpf_prog_run+0x10/0x20", "-", K },
	{ "bpf_dispatcher_xdp+0x10/0x20", "-" },
	{ "bpf_prog_6deef7357e7b453+0x10/0x20", "-" },
	{ "bpf_prog_6deef7357e7b45300+0x10/0x20", "-" },
	{ "bpf_prog_6deef7357e7b4530take+0x10/0x20", "-" },
	{ "bpf_trampoline_+0x10/0x20", "-" },
	{ "bpf_trampoline_link_prog+0x10/0x20", "-" },
	/* no answer, or an invalid one */
	{ NULL, "-" },
	{ "", "-" },
	{ "0xffffffff81000000", "-" },
	{ "+0x10/0x20", "-" },
	{ "schedule", "-" },
	{ "schedule+0x10", "-" },
	{ "schedule+0xg/0x20", "-" },
	{ "schedule+0x/0x20 ", "-" },
	{ "schedule+0xffffffffffffffff/0x20", "-" },
	{ "schedule+0x10/0x20 ", "-" },
	{ "schedule+0x10/0x20 [", "-" },
	{ "schedule+0x10/0x20 []", "-" },
	{ "schedule+0x10/0x20 [ext4", "-" },
	{ "schedule+0x10/0x20 ext4]", "-" },
	{ "two words+0x10/0x20", "-" },
};

START_TEST(test_answers)
{
	told.addr = K;
	told.answer = answers[_i].answer;
	told.around_end = answers[_i].around_end;
	ck_assert_str_eq(lookup(K), answers[_i].found);
}
END_TEST

/* Code between addresses of the kernel proper belongs to the kernel, whatever its name. */
START_TEST(test_between)
{
	unsigned int asked;

	told.addr = K;
	told.answer = "bpf_prog_6deef7357e7b4530+0x0/0x20";
	told.around_end = K + 100;
	ck_assert_str_eq(lookup(K - 16), "proper+0x1 [kernel]");
	ck_assert_str_eq(lookup(K + 16), "proper+0x1 [kernel]");
	ck_assert_str_eq(lookup(K), "bpf_prog_6deef7357e7b4530+0x0 [kernel]");
	/* Each address is looked up once in a report. */
	asked = told.asked;
	ck_assert_str_eq(lookup(K), "bpf_prog_6deef7357e7b4530+0x0 [kernel]");
	ck_assert_uint_eq(told.asked, asked);
	told.answer = "of_a_module+0x0/0x20 [mod]";
	kernel_answers_renew(ka);
	ck_assert_str_eq(lookup(K), "of_a_module+0x0 [mod]");
	ck_assert_uint_eq(told.asked, asked + 1);
}
END_TEST

START_TEST(test_not_the_kernels)
{
	static const uint64_t addrs[] = { 0, 0x401000, 0x7fffffffffffULL };
	size_t i;

	told.around_end = UINT64_MAX;
	for (i = 0; i < ARRAY_SIZE(addrs); i++)
		ck_assert_str_eq(lookup(addrs[i]), "-");
	ck_assert_uint_eq(told.asked, 0);
}
END_TEST

/* When profile asks the namer, and when it reads kallsyms. */
static const struct {
	const char *what;
	const char *version, *kallsyms;
	const char *given; /* --kallsyms */
	bool recorded, no_namer;
	const char *first, *second; /* the names of K and M: "asked" if they come from the namer */
} uses[] = {
#define GCC   "Linux version 6.1.0-18-amd64 (gcc-12 (Debian 12.2.0-14) 12.2.0) #1 SMP\n"
#define CLANG "Linux version 6.1.0 (clang version 15.0.1, LLD 15.0.1) #1 SMP\n"
#define SHOWN                                                                                                          \
	"0000000000000000 A fixed_percpu_data\nffffffff81000000 T _text\nffffffff82000000 T _etext\n"                  \
	"ffffffffc0000000 t listed\t[mod]\n"
#define ZEROS "0000000000000000 A fixed_percpu_data\n0000000000000000 T _text\n"
	{ "as it is", GCC, SHOWN, .first = "asked", .second = "listed" },
	{ "no way to ask", GCC, SHOWN, .no_namer = true, .first = "_text", .second = "listed" },
	{ "built by clang", CLANG, SHOWN, .first = "_text", .second = "listed" },
	{ "unknown how it was built", NULL, SHOWN, .first = "_text", .second = "listed" },
	{ "it hides addresses", GCC, ZEROS, .first = "-", .second = "-" },
	{ "it shows nothing", GCC, "", .first = "-", .second = "-" },
	{ "its file is not there", GCC, NULL, .first = "-", .second = "-" },
	{ "a copy is given", GCC, SHOWN, "copy", .first = "_text", .second = "listed" },
	{ "a recording", GCC, SHOWN, .recorded = true, .first = "-", .second = "-" },
};

static const char *find_name(struct kernel_names *names, uint64_t addr)
{
	struct kernel_symbol s;

	return kernel_names_find(names, addr, &s) ? s.name : "-";
}

START_TEST(test_uses)
{
	char *dir = unit_tmpdir(), copy[4096];
	struct host host = { .proc = dir, .sys = dir };
	struct recorded recorded = { .boot = BOOT_OTHER };
	struct mapped_files_cfg files = { .host = &host, .recorded = uses[_i].recorded ? &recorded : NULL };
	struct symbols_cfg cfg = { .files = &files, .namer = uses[_i].no_namer ? NULL : &namer };
	struct kernel_names *names = NULL;
	struct err err;

	snprintf(copy, sizeof(copy), "%s/copy", dir);
	if (uses[_i].given) {
		unit_write(dir, "copy", SHOWN, strlen(SHOWN));
		cfg.kallsyms = copy;
	}
	if (uses[_i].version)
		unit_write(dir, "version", uses[_i].version, strlen(uses[_i].version));
	if (uses[_i].kallsyms)
		unit_write(dir, "kallsyms", uses[_i].kallsyms, strlen(uses[_i].kallsyms));
	told.addr = K;
	told.answer = "asked+0x0/0x10";
	ck_assert_msg(!kernel_names_open(&cfg, &names, &err), "%s: %s", uses[_i].what, err.msg);
	if (!strcmp(uses[_i].first, "asked"))
		ck_assert_msg(!kernel_names_ahead(names), "%s: reads ahead", uses[_i].what);
	ck_assert_str_eq(find_name(names, K), uses[_i].first);
	/* The namer does not know this one; the file may. */
	ck_assert_str_eq(find_name(names, M), uses[_i].second);
	kernel_names_renew(names);
	ck_assert_str_eq(find_name(names, K), uses[_i].first);
	if (strcmp(uses[_i].first, "asked") != 0)
		ck_assert_uint_eq(told.asked, 0);
	kernel_names_free(names);
	unit_rmdir(dir);
}
END_TEST

#define MODULE "mod 8192 0 - Live 0xffffffffc0000000\n"
#define CODE                                                                                                           \
	"0000000000000000 A fixed_percpu_data\nffffffff81000000 T _text\nffffffff82000000 T _etext\n"                  \
	"ffffffffc0000000 t listed\t[mod]\nffffffffc0002000 t bpf_prog_now\t[bpf]\n"

#define MODULES_CAME "kernel modules or BPF programs were loaded or unloaded during the run: their frames are [kernel]"

/*
 * The code that kallsyms lists at the end may differ from the sampled code. @module, @program, @told, @reused: expected
 * names of the module, of the program at M + 0x2000, and of two programs with records at M + 0x4000. @lost: records
 * were lost; @no_records: the kernel writes none; @by_address: the samples have no times.
 */
static const struct {
	const char *what, *modules_now;
	bool recorded, given, lost, no_records, by_address;
	const char *module, *program, *told, *reused;
	const char *warning; /* NULL: none */
} sampled[] = {
	{ "all stayed", MODULE, .module = "listed", .program = "bpf_prog_now", .told = "first", .reused = "second" },
	{ "the module was loaded anew", "mod 4096 0 - Live 0xffffffffc0000000\n", .module = "-",
	  .program = "bpf_prog_now", .told = "first", .reused = "second", .warning = MODULES_CAME },
	{ "no records", MODULE, .no_records = true, .module = "listed", .program = "-", .told = "first",
	  .reused = "second", .warning = MODULES_CAME },
	{ "lost records", MODULE, .lost = true, .module = "listed", .program = "-", .told = "-", .reused = "-",
	  .warning = "records about BPF programs were lost: their frames are [kernel]" },
	{ "without times", MODULE, .by_address = true, .module = "listed", .program = "bpf_prog_now", .told = "-",
	  .reused = "second",
	  .warning = "1 BPF programs or trampolines were at addresses that others had in the same report: their frames "
		     "are [kernel] (--backend=perfring tells them apart)" },
	{ "a recording", MODULE, .recorded = true, .module = "listed", .program = "-", .told = "first",
	  .reused = "second",
	  .warning = "the recording does not say which BPF programs were loaded: their frames are [kernel] (run perf "
		     "record as "
		     "root)" },
	{ "a copy is given", MODULE, .given = true, .recorded = true, .module = "listed", .program = "bpf_prog_now",
	  .told = "first", .reused = "second" },
};

static void add_range(struct kernel_ranges *kr, const char *name, bool removed, uint64_t time)
{
	ck_assert_int_eq(kernel_ranges_add(kr, &(struct kernel_range){ M + 0x4000, 0x100, name, true, removed, time }),
			 0);
}

static const char *frame_name(struct kernel_names *names, uint64_t frame)
{
	struct kernel_symbol s;
	uint64_t addr;

	return kernel_names_frame(names, frame, false, &s, &addr) ? s.name : "-";
}

START_TEST(test_sampled)
{
	char *dir = unit_tmpdir(), copy[4096];
	struct host host = { .proc = dir, .sys = dir };
	struct recorded recorded = { .boot = BOOT_SAME, .reference = "_text", .reference_addr = K };
	struct mapped_files_cfg files = { .host = &host, .recorded = sampled[_i].recorded ? &recorded : NULL };
	struct kernel_ranges *ranges = kernel_ranges_new();
	struct symbols_cfg cfg = { .files = &files, .kernel_ranges = ranges };
	struct kernel_names *names = NULL;
	const uint64_t ip = M + 0x4010;
	uint64_t first, second;
	struct err err;

	ck_assert_ptr_nonnull(ranges);
	unit_write(dir, "kallsyms", CODE, strlen(CODE));
	unit_write(dir, "modules", MODULE, strlen(MODULE));
	snprintf(copy, sizeof(copy), "%s/kallsyms", dir);
	cfg.kallsyms = sampled[_i].given ? copy : NULL;
	ck_assert_msg(!kernel_names_open(&cfg, &names, &err), "%s: %s", sampled[_i].what, err.msg);
	kernel_ranges_by_address(ranges, sampled[_i].by_address);
	ck_assert_int_eq(kernel_names_begin(names, sampled[_i].no_records), 0);
	add_range(ranges, "first", false, 1);
	first = *kernel_ranges_at(ranges, &ip, 1, 0);
	add_range(ranges, "first", true, 2);
	add_range(ranges, "second", false, 3);
	second = *kernel_ranges_at(ranges, &ip, 1, 0);
	if (sampled[_i].lost)
		kernel_ranges_lost(ranges);
	unit_write(dir, "modules", sampled[_i].modules_now, strlen(sampled[_i].modules_now));
	ck_assert_str_eq(frame_name(names, M), sampled[_i].module);
	ck_assert_str_eq(frame_name(names, M + 0x2000), sampled[_i].program);
	ck_assert_str_eq(frame_name(names, first), sampled[_i].told);
	/* Without times both have the same address, whose frame has no name. */
	if (!sampled[_i].by_address)
		ck_assert_str_eq(frame_name(names, second), sampled[_i].reused);
	ck_assert_str_eq(frame_name(names, K), "_text");
	err.msg[0] = 0;
	ck_assert_int_eq(kernel_names_withheld(names, &err), sampled[_i].warning != NULL);
	if (sampled[_i].warning)
		ck_assert_str_eq(err.msg, sampled[_i].warning);
	kernel_names_free(names);
	kernel_ranges_free(ranges);
	unit_rmdir(dir);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("kernel_answers");
	TCase *t = tcase_create("kernel_answers");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, test_answers, 0, ARRAY_SIZE(answers));
	tcase_add_loop_test(t, test_sampled, 0, ARRAY_SIZE(sampled));
	tcase_add_test(t, test_between);
	tcase_add_test(t, test_not_the_kernels);
	tcase_add_loop_test(t, test_uses, 0, ARRAY_SIZE(uses));
	suite_add_tcase(suite, t);
	return unit_main(suite);
}
