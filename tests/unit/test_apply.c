// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/apply.h"
#include "backend-perfring/deferred.h"
#include "backend-perfring/kernel_code.h"
#include "compat/perf_deferred.h"
#include "core/base/clock.h"
#include "core/rows/compare.h"
#include "core/symbols/kernel_ranges.h"
#include "core/tasks/descendants.h"
#include "tests/unit/rig.h"
#include "tests/unit/unit.h"

#define RINGS 3

/* A run with only the parts that the applier needs, and a /proc with process 500 "old" and thread 501 "older". */
static char *dir;
static struct host host;
static struct rig rig;
static struct applied_ring rings[RINGS];
static struct event_place events[RINGS];
static struct applier a;
static uint64_t nr_samples; /* samples applied */

static void setup(void)
{
	dir = unit_tmpdir();
	nr_samples = 0;
	unit_write(dir, "500/task/500/comm", "old\n", 4);
	unit_write(dir, "500/task/501/comm", "older\n", 6);
	host = (struct host){ .proc = dir, .sys = dir };
	memset(rings, 0, sizeof(rings));
	rig_make(&rig, (struct request){ .host = &host, .sampling = { .event = event_default() }, .asked = 126 });
	rig.events.places = events;
	rig.events.nr_places = RINGS;
	rig.sink.tasks = tasks_new(&host);
	rig.sink.sets[0].samples = rows_new();
	ck_assert_ptr_nonnull(rig.sink.tasks);
	ck_assert_ptr_nonnull(rig.sink.sets[0].samples);
	a = (struct applier){ .env = &rig.env, .rings = rings };
}

static void teardown(void)
{
	descendants_free(rig.request.filter.tree);
	tasks_free(rig.sink.tasks);
	rows_free(rig.sink.sets[0].samples);
	unit_rmdir(dir);
}

static void apply(uint32_t ring, struct record r)
{
	static const struct sample_lead no_note;

	ck_assert_int_eq(apply_record(&a, ring, &r, &no_note), 0);
}

static const uint64_t both_sides[] = {
	PERF_CONTEXT_KERNEL, 0xffffffff81000010, 0xffffffff81000020, PERF_CONTEXT_USER, 0x401000, 0x402000, 0x403000
};

#define K(n) (0xffffffff81000000 + (n))

#define KERNEL_SIDE 3 /* entries of both_sides; the idle task has no others */

static void sample(uint32_t ring, pid_t pid, pid_t tid)
{
	nr_samples++;
	apply(ring, (struct record){ .type = PERF_RECORD_SAMPLE,
				     .cpu = ring,
				     .pid = pid,
				     .tid = tid,
				     .sample = { both_sides, tid ? ARRAY_SIZE(both_sides) : KERNEL_SIDE } });
}

static void comm(pid_t pid, pid_t tid, const char *name, bool exec)
{
	apply(0, (struct record){
			 .type = PERF_RECORD_COMM, .pid = pid, .tid = tid, .writer = tid, .comm = { name, exec } });
}

static void fork_task(pid_t pid, pid_t tid, pid_t ppid, pid_t ptid)
{
	apply(0, (struct record){ .type = PERF_RECORD_FORK, .pid = pid, .tid = tid, .fork = { ppid, ptid } });
}

static void exit_task(uint32_t ring, pid_t pid, pid_t tid)
{
	apply(ring, (struct record){ .type = PERF_RECORD_EXIT, .pid = pid, .tid = tid, .fork = { 1, 1 } });
}

/* The value of that task's only row; 0 if there is none. */
static uint64_t value_of(const char *name, pid_t pid)
{
	uint64_t value = 0;
	struct row row;
	size_t i;

	for (i = 0; i < rows_nr(rig.sink.sets[0].samples); i++) {
		rows_get(rig.sink.sets[0].samples, i, &row);
		ck_assert_int_eq(row.key.comm[COMM_LEN - 1], 0);
		if (strcmp(row.key.comm, name) || row.key.pid != pid)
			continue;
		ck_assert_uint_eq(value, 0);
		value = row.value;
	}
	return value;
}

/* The sum over all rows of that task. */
static uint64_t value_in(const struct rows *t, const char *name, pid_t pid)
{
	struct row row;
	uint64_t value = 0;
	size_t i;

	for (i = 0; i < rows_nr(t); i++) {
		rows_get(t, i, &row);
		if (!strcmp(row.key.comm, name) && row.key.pid == pid)
			value += row.value;
	}
	return value;
}

static struct row only_row(void)
{
	struct row row;

	ck_assert_uint_eq(rows_nr(rig.sink.sets[0].samples), 1);
	rows_get(rig.sink.sets[0].samples, 0, &row);
	return row;
}

/* Every sample is counted or filtered, and the counted ones are in the rows. */
static void assert_books(uint64_t counted, uint64_t filtered)
{
	ck_assert_uint_eq(a.stats[0].counted_ring, counted);
	ck_assert_uint_eq(a.stats[0].filtered, filtered);
	ck_assert_uint_eq(counted + filtered, nr_samples);
	ck_assert_uint_eq(rows_total(rig.sink.sets[0].samples), counted);
}

START_TEST(test_rename)
{
	comm(10, 10, "first", false);
	sample(0, 10, 10);
	sample(1, 10, 10);
	comm(10, 10, "second", false);
	sample(0, 10, 10);
	comm(10, 11, "worker", false);
	sample(0, 10, 11);
	ck_assert_uint_eq(value_of("first", 10), 2);
	ck_assert_uint_eq(value_of("second", 10), 1);
	ck_assert_uint_eq(value_of("worker", 10), 1);
	assert_books(4, 0);
}
END_TEST

/* Threads of a process with the same name share a row. */
START_TEST(test_threads)
{
	comm(10, 10, "task", false);
	comm(10, 11, "task", false);
	sample(0, 10, 10);
	sample(0, 10, 11);
	sample(1, 10, 11);
	sample(0, 0, 0);
	ck_assert_uint_eq(rows_nr(rig.sink.sets[0].samples), 1);
	ck_assert_uint_eq(value_in(rig.sink.sets[0].samples, "task", 10), 3);
	assert_books(3, 1);
}
END_TEST

START_TEST(test_long_name)
{
	comm(10, 10, "fifteen-letters-and-more", false);
	sample(0, 10, 10);
	ck_assert_uint_eq(value_of("fifteen-letters", 10), 1);
	assert_books(1, 0);
}
END_TEST

START_TEST(test_fork_and_exec)
{
	comm(10, 10, "shell", false);
	fork_task(20, 20, 10, 10);
	sample(0, 20, 20);
	comm(10, 10, "renamed", false); /* the child keeps the name it got */
	sample(1, 20, 20);
	comm(20, 20, "program", true);
	sample(1, 20, 20);
	fork_task(20, 21, 20, 20); /* a thread */
	sample(2, 20, 21);
	sample(2, 10, 10);
	ck_assert_uint_eq(value_of("shell", 20), 2);
	ck_assert_uint_eq(value_of("program", 20), 2);
	ck_assert_uint_eq(value_of("renamed", 10), 1);
	ck_assert_uint_eq(a.stats[0].started, 2);
	assert_books(5, 0);
}
END_TEST

START_TEST(test_pid_used_again)
{
	comm(20, 20, "first", true);
	sample(0, 20, 20);
	exit_task(0, 20, 20);
	sample(0, 20, 20); /* a dying task that still has its ids */
	comm(10, 10, "shell", false);
	fork_task(20, 20, 10, 10);
	sample(0, 20, 20);
	ck_assert_uint_eq(value_of("first", 20), 2);
	ck_assert_uint_eq(value_of("shell", 20), 1);
	assert_books(3, 0);
}
END_TEST

/* No record has their names: /proc has, or they have none. */
START_TEST(test_unknown_names)
{
	sample(0, 500, 500);
	sample(0, 500, 501);
	sample(0, 500, 502); /* thread of a known process */
	sample(0, 777, 778);
	ck_assert_uint_eq(value_of("old", 500), 2);
	ck_assert_uint_eq(value_of("older", 500), 1);
	ck_assert_uint_eq(value_of(":778", 777), 1);
	assert_books(4, 0);
}
END_TEST

/* Samples without a task belong to the last task that exited on the same CPU. */
START_TEST(test_dying)
{
	comm(10, 10, "ten", false);
	comm(20, 21, "twenty", false);
	comm(30, 30, "thirty", false);
	exit_task(1, 10, 10);
	sample(1, -1, -1);
	exit_task(2, 20, 21);
	sample(1, -1, -1);
	sample(2, -1, -1);
	exit_task(1, 30, 30);
	sample(1, -1, -1);
	ck_assert_uint_eq(value_of("ten", 10), 2);
	ck_assert_uint_eq(value_of("twenty", 20), 1);
	ck_assert_uint_eq(value_of("thirty", 30), 1);
	ck_assert_uint_eq(a.stats[0].dead_tasks, 4);
	assert_books(4, 0);
}
END_TEST

/* A dying task keeps the name with which it died, though its id is used again. */
START_TEST(test_dying_name)
{
	comm(10, 10, "dead", false);
	exit_task(1, 10, 10);
	comm(10, 10, "reborn", false);
	sample(1, -1, -1);
	ck_assert_uint_eq(value_of("dead", 10), 1);
	assert_books(1, 0);
}
END_TEST

/* No task has exited on that CPU yet: counted without a name. */
START_TEST(test_dying_unknown)
{
	comm(10, 10, "ten", false);
	exit_task(1, 10, 10);
	sample(0, -1, -1);
	ck_assert_uint_eq(value_of(":-1", -1), 1);
	assert_books(1, 0);
}
END_TEST

START_TEST(test_dying_filtered)
{
	static const pid_t wanted[] = { 10 };

	rig.request.filter = (struct filter){ wanted, 1, false, false };
	comm(10, 10, "ten", false);
	comm(20, 20, "twenty", false);
	sample(0, -1, -1);
	exit_task(0, 10, 10);
	sample(0, -1, -1);
	exit_task(0, 20, 20);
	sample(0, -1, -1);
	ck_assert_uint_eq(value_of("ten", 10), 1);
	assert_books(1, 2);
}
END_TEST

START_TEST(test_idle)
{
	rig.request.filter.idle = _i;
	comm(0, 0, "not its name", false);
	sample(0, 0, 0);
	sample(2, 0, 0);
	sample(2, 0, 0);
	ck_assert_uint_eq(value_of("swapper/0", 0), _i ? 1 : 0);
	ck_assert_uint_eq(value_of("swapper/2", 0), _i ? 2 : 0);
	assert_books(_i ? 3 : 0, _i ? 0 : 3);
}
END_TEST

/* Samples may have no CPU, or an unknown one. */
static const struct {
	uint32_t cpu;
	const char *name;
} idle_cpus[] = {
	{ 0, "swapper/0" },       { 65535, "swapper/65535" }, { 65536, "swapper" },
	{ INT32_MAX, "swapper" }, { 1U << 31, "swapper" },    { UINT32_MAX, "swapper" },
};

START_TEST(test_idle_on_odd_cpu)
{
	rig.request.filter.idle = true;
	nr_samples++;
	apply(0, (struct record){ .type = PERF_RECORD_SAMPLE, .cpu = idle_cpus[_i].cpu });
	ck_assert_uint_eq(value_of(idle_cpus[_i].name, 0), 1);
	assert_books(1, 0);
}
END_TEST

/* Ids are also 0 for a task outside our PID namespace, but that task may have a user stack. */
START_TEST(test_outside)
{
	rig.request.filter.idle = _i;
	nr_samples++;
	apply(1, (struct record){
			 .type = PERF_RECORD_SAMPLE, .cpu = 1, .sample = { both_sides, ARRAY_SIZE(both_sides) } });
	ck_assert_uint_eq(value_of("[outside]", -1), 1);
	ck_assert_uint_eq(a.stats[0].outside, 1);
	ck_assert_int_eq(only_row().key.user.state, STACK_NONE); /* its mappings cannot be read */
	ck_assert_uint_eq(only_row().key.kernel.nr, 2);
	assert_books(1, 0);
}
END_TEST

/* Has the addresses of cpu_startup_entry and of a kernel thread's first function. */
static const char kallsyms[] = "ffffffff81000000 T _text\n"
			       "ffffffff81000100 T cpu_startup_entry\n"
			       "ffffffff81000200 t kthread\n"
			       "ffffffff81000300 T _etext\n";
static const char zeroed[] = "0000000000000000 T _text\n"
			     "0000000000000000 T cpu_startup_entry\n";

#define FLAG(t, c)                                                                                                     \
	{                                                                                                              \
		.type = PERF_TYPE_##t, .config = PERF_COUNT_##c, .exclude_idle = 1                                     \
	}

/* A sample with the ids 0 and without a user stack is of the idle task, or of a task outside: @outside. */
static const struct {
	const char *name, *symbols;
	struct perf_event_attr attr;
	uint64_t ips[4];
	uint64_t nr;
	unsigned int asked;
	bool outside;
} ambiguous[] = {
	{ "idle", kallsyms, { 0 }, { PERF_CONTEXT_KERNEL, K(1), K(0x110), K(2) }, 4, 126, false },
	{ "in the first function", kallsyms, { 0 }, { PERF_CONTEXT_KERNEL, K(0x100) }, 2, 126, false },
	{ "a kernel thread", kallsyms, { 0 }, { PERF_CONTEXT_KERNEL, K(1), K(2), K(0x210) }, 4, 126, true },
	{ "in front of it", kallsyms, { 0 }, { PERF_CONTEXT_KERNEL, K(0xff) }, 2, 126, true },
	{ "behind it", kallsyms, { 0 }, { PERF_CONTEXT_KERNEL, K(0x200) }, 2, 126, true },
	{ "cut", kallsyms, { 0 }, { PERF_CONTEXT_KERNEL, K(1), K(2), K(3) }, 4, 3, false },
	{ "no addresses", kallsyms, { 0 }, { PERF_CONTEXT_KERNEL }, 1, 126, false },
	{ "no stack", kallsyms, { 0 }, { 0 }, 0, 126, false },
	{ "symbols hidden", zeroed, { 0 }, { PERF_CONTEXT_KERNEL, K(0x210) }, 2, 126, false },
	{ "symbols empty", "", { 0 }, { PERF_CONTEXT_KERNEL, K(0x210) }, 2, 126, false },
	{ "no symbols", NULL, { 0 }, { PERF_CONTEXT_KERNEL, K(0x210) }, 2, 126, false },
	{ "a clock without idle", NULL, FLAG(SOFTWARE, SW_CPU_CLOCK), { 0 }, 0, 126, true },
	{ "another clock", NULL, FLAG(SOFTWARE, SW_TASK_CLOCK), { 0 }, 0, 126, true },
	{ "no clock", NULL, FLAG(SOFTWARE, SW_CONTEXT_SWITCHES), { 0 }, 0, 126, false },
	{ "a counter of the CPU", NULL, FLAG(HARDWARE, HW_CPU_CYCLES), { 0 }, 0, 126, false },
};

START_TEST(test_idle_or_outside)
{
	bool outside = ambiguous[_i].outside;

	rig.request.filter.idle = true;
	rig.events.attrs[EVENT_SAMPLES] = ambiguous[_i].attr;
	rig.request.asked = ambiguous[_i].asked;
	if (ambiguous[_i].symbols)
		unit_write(dir, "kallsyms", ambiguous[_i].symbols, strlen(ambiguous[_i].symbols));
	a.kernel_code = kernel_code_new(&host);
	for (nr_samples = 0; nr_samples < 2; nr_samples++)
		apply(1, (struct record){ .type = PERF_RECORD_SAMPLE,
					  .cpu = 1,
					  .sample = { ambiguous[_i].ips, ambiguous[_i].nr } });
	kernel_code_free(a.kernel_code);
	ck_assert_msg(value_of("[outside]", -1) == (outside ? 2 : 0), "%s", ambiguous[_i].name);
	ck_assert_uint_eq(value_of("swapper/1", 0), outside ? 0 : 2);
	assert_books(2, 0);
}
END_TEST

/* Records of tasks outside are ignored: all have the id 0. The last task to exit on a CPU may be one. */
START_TEST(test_records_outside)
{
	static const char maps[] = "00400000-00401000 r-xp 00000000 08:01 47 /bin/old\n";
	struct mapping m;

	unit_write(dir, "500/maps", maps, sizeof(maps) - 1);
	rig.request.filter.idle = true;
	comm(0, 0, "runc", true);
	apply(0, (struct record){ .type = PERF_RECORD_MMAP2,
				  .mmap = { .start = 0x400000, .len = 0x1000, .path = "/bin/runc" } });
	fork_task(0, 0, 0, 0);
	fork_task(500, 500, 0, 0); /* from outside into our namespace */
	exit_task(0, 0, 0);
	sample(0, -1, -1);
	sample(1, -1, -1);
	sample(0, 500, 500);
	exit_task(0, 500, 500);
	sample(0, -1, -1);
	ck_assert_int_eq(tasks_find(rig.sink.tasks, 0, "runc", 0, 0x400000, &m), 0);
	ck_assert_int_eq(tasks_find(rig.sink.tasks, 500, "old", 0, 0x400000, &m), 1); /* read from /proc */
	ck_assert_uint_eq(value_of("[outside]", -1), 1);
	ck_assert_uint_eq(value_of(":-1", -1), 1);
	ck_assert_uint_eq(value_of("old", 500), 2);
	ck_assert_uint_eq(a.stats[0].outside, 1);
	ck_assert_uint_eq(a.stats[0].dead_tasks, 3);
	assert_books(4, 0);
}
END_TEST

static const pid_t ids[] = { 10, 21, 30 };

/* Tasks 10/10, 10/11, 20/20, 20/21, 30/31 and idle. */
static const struct {
	struct filter filter;
	uint64_t counted;
} filters[] = {
	{ { .comm = "ten" }, 2 },
	{ { .comm = "twenty" }, 1 },
	{ { .comm = "te" }, 0 },
	{ { .comm = "swapper/0" }, 0 },
	{ { .comm = "swapper/0", .idle = true }, 1 },
	{ { ids, 3, true, false, "ten" }, 2 }, /* tasks 10 and 21 */
	{ { ids, 3, true, false, "twenty" }, 0 },
	{ { ids, 3, false, false, "ten" }, 1 },
	{ { NULL, 0, false, false }, 5 },
	{ { NULL, 0, false, true }, 6 },
	{ { ids, 3, false, false }, 3 },
	{ { ids, 3, false, true }, 3 },
	{ { ids, 1, false, false }, 2 },
	{ { ids, 3, true, false }, 2 },
	{ { ids, 1, true, false }, 1 },
	{ { ids + 1, 1, true, false }, 1 },
	{ { ids + 1, 1, false, false }, 0 },
	{ { ids + 2, 1, true, false }, 0 },
};

START_TEST(test_filter)
{
	rig.request.filter = filters[_i].filter;
	comm(10, 10, "ten", false);
	comm(10, 11, "eleven", false);
	comm(20, 20, "twenty", false);
	comm(20, 21, "ten", false);
	comm(30, 31, "thirty", false);
	sample(0, 10, 10);
	sample(0, 10, 11);
	sample(0, 20, 20);
	sample(0, 20, 21);
	sample(0, 30, 31);
	sample(0, 0, 0);
	assert_books(filters[_i].counted, 6 - filters[_i].counted);
}
END_TEST

static void in_mntns(pid_t pid, pid_t tid, uint64_t mntns)
{
	apply(0, (struct record){ .type = PERF_RECORD_NAMESPACES, .pid = pid, .tid = tid, .mntns = mntns });
}

/* By the records. Neither the idle task nor tasks outside are in any mount namespace. */
START_TEST(test_filter_mntns)
{
	rig.request.filter = (struct filter){ .mntns = 5, .idle = true };
	comm(10, 10, "ten", false);
	comm(20, 20, "twenty", false);
	in_mntns(10, 10, 5);
	in_mntns(20, 20, 6);
	sample(0, 10, 10);
	sample(0, 20, 20);
	sample(0, 0, 0);
	sample(0, 30, 30);
	assert_books(1, 3);
	in_mntns(20, 20, 5);
	in_mntns(10, 10, 7);
	sample(0, 10, 10);
	sample(0, 20, 20);
	exit_task(0, 20, 20);
	sample(0, -1, -1);
	ck_assert_uint_eq(value_of("ten", 10), 1);
	ck_assert_uint_eq(value_of("twenty", 20), 2);
	assert_books(3, 4);
}
END_TEST

/* ---- stacks */

/* The lengths of the stacks from a callchain; -1: no such stack. @asked is 126 unless the limit matters. */
static const struct {
	const char *what;
	uint64_t ips[10];
	uint64_t nr;
	bool user_only, kernel_only;
	unsigned int asked;
	int kernel, user;
	bool kernel_cut, user_cut;
} chains[] = {
	{ "both", { PERF_CONTEXT_KERNEL, K(1), K(2), PERF_CONTEXT_USER, 1, 2, 3 }, 7, false, false, 126, 2, 3 },
	{ "-U", { PERF_CONTEXT_KERNEL, K(1), K(2), PERF_CONTEXT_USER, 1, 2, 3 }, 7, true, false, 126, -1, 3 },
	{ "-K", { PERF_CONTEXT_KERNEL, K(1), K(2), PERF_CONTEXT_USER, 1, 2, 3 }, 7, false, true, 126, 2, -1 },
	{ "-U of a kernel thread", { PERF_CONTEXT_KERNEL, K(1), K(2) }, 3, true, false, 126, -1, -1 },
	{ "-K in user space", { PERF_CONTEXT_USER, 1, 2 }, 3, false, true, 126, -1, -1 },
	{ "kernel only", { PERF_CONTEXT_KERNEL, K(1) }, 2, false, false, 126, 1, -1 },
	{ "user only", { PERF_CONTEXT_USER, 1 }, 2, false, false, 126, -1, 1 },
	{ "none", { 0 }, 0, false, false, 126, -1, -1 },
	{ "no marker", { 1, 2, 3 }, 3, false, false, 126, -1, -1 },
	{ "marker alone", { PERF_CONTEXT_USER }, 1, false, false, 126, -1, -1 },
	{ "cut at zero", { PERF_CONTEXT_USER, 1, 2, 0, 3 }, 5, false, false, 126, -1, 2 },
	{ "limit in the user part",
	  { PERF_CONTEXT_KERNEL, K(1), K(2), PERF_CONTEXT_USER, 1, 2, 3 },
	  7,
	  false,
	  false,
	  5,
	  2,
	  2,
	  false,
	  true },
	{ "limit in the kernel part", { PERF_CONTEXT_KERNEL, K(1), K(2), K(3) }, 4, false, false, 3, 2, -1, true },
	{ "the kernel part takes all",
	  { PERF_CONTEXT_KERNEL, K(1), K(2), PERF_CONTEXT_USER, 1 },
	  5,
	  false,
	  false,
	  3,
	  2,
	  0,
	  false,
	  true },
	{ "-U leaves the room to the user part",
	  { PERF_CONTEXT_KERNEL, K(1), K(2), PERF_CONTEXT_USER, 1, 2 },
	  6,
	  true,
	  false,
	  3,
	  -1,
	  2 },
};

static void assert_side(const char *what, const struct stack *s, int nr, bool cut)
{
	ck_assert_msg(s->state == (nr < 0 ? STACK_NONE : STACK_TAKEN), "%s: state %d", what, s->state);
	ck_assert_msg(s->nr == (nr < 0 ? 0 : (uint32_t)nr), "%s: %u addresses", what, s->nr);
	ck_assert_msg(s->truncated == cut, "%s: truncated %d", what, s->truncated);
}

START_TEST(test_chains)
{
	struct row row;

	rig.request.filter.no_kernel = chains[_i].user_only;
	rig.request.filter.no_user = chains[_i].kernel_only;
	rig.request.asked = chains[_i].asked;
	apply(0,
	      (struct record){
		      .type = PERF_RECORD_SAMPLE, .pid = 10, .tid = 10, .sample = { chains[_i].ips, chains[_i].nr } });
	row = only_row();
	assert_side(chains[_i].what, &row.key.kernel, chains[_i].kernel, chains[_i].kernel_cut);
	assert_side(chains[_i].what, &row.key.user, chains[_i].user, chains[_i].user_cut);
	ck_assert_uint_eq(row.value, 1);
}
END_TEST

/* ---- deferred user stacks */

#define COOKIE   0x700000001
#define DEFERRED { PERF_CONTEXT_KERNEL, K(1), K(2), CONTEXT_USER_DEFERRED, COOKIE }, 5

/*
 * A sample of thread 11 of process 10, called "before". Then steps: c: its stack comes, with @nr addresses; o: one with
 * another cookie; t: one of another thread; r: a COMM renames it to "after"; e: an exec does; x: it ends; X: another
 * thread ends.
 */
static const struct {
	const char *what;
	uint64_t ips[6];
	uint64_t nr;
	const char *steps;
	char only;    /* 'U' or 'K' */
	char user;    /* 't'aken, 'm'issed, 'n'one */
	char counted; /* 'l'ate: when the stack came, 'n'ow */
} deferrals[] = {
	{ "comes", DEFERRED, "c", 0, 't', 'l' },
	{ "in user space", { CONTEXT_USER_DEFERRED, COOKIE }, 2, "c", 0, 't', 'l' },
	{ "keeps the name at the sample", DEFERRED, "rc", 0, 't', 'l' },
	{ "-U", DEFERRED, "c", 'U', 't', 'l' },
	{ "-K needs none", DEFERRED, "", 'K', 'n', 'n' },
	{ "-K, and it comes", DEFERRED, "c", 'K', 'n', 'n' },
	{ "never comes", DEFERRED, "", 0, 'm', 'l' },
	{ "ignores another cookie", DEFERRED, "o", 0, 'm', 'l' },
	{ "ignores another thread", DEFERRED, "t", 0, 'm', 'l' },
	{ "finds it after others", DEFERRED, "otXc", 0, 't', 'l' },
	{ "not after an exec", DEFERRED, "ec", 0, 'm', 'l' },
	{ "exec after the stack", DEFERRED, "ce", 0, 't', 'l' },
	{ "after the end", DEFERRED, "xc", 0, 't', 'l' },
	{ "not after the end", DEFERRED, "x", 0, 'm', 'l' },
	{ "no cookie", { PERF_CONTEXT_KERNEL, K(1), K(2), CONTEXT_USER_DEFERRED }, 4, "c", 0, 'm', 'n' },
	{ "cookie 0", { PERF_CONTEXT_KERNEL, K(1), K(2), CONTEXT_USER_DEFERRED, 0 }, 5, "c", 0, 'm', 'n' },
	{ "-U, never comes", DEFERRED, "", 'U', 'm', 'l' },
	{ "the marker is an address of the program",
	  { PERF_CONTEXT_USER, 1, CONTEXT_USER_DEFERRED, COOKIE },
	  4,
	  "c",
	  0,
	  't',
	  'n' },
};

static const uint64_t user_side[] = { 0x401000, 0x402000, 0x403000 };

static void user_stack(pid_t tid, uint64_t cookie, const uint64_t *ips, uint64_t nr)
{
	apply(1, (struct record){ .type = RECORD_CALLCHAIN_DEFERRED,
				  .pid = 10,
				  .tid = tid,
				  .writer = tid,
				  .deferred = { cookie, ips, nr } });
}

static void take_step(char step)
{
	switch (step) {
	case 'r':
	case 'e':
		comm(10, 11, "after", step == 'e');
		break;
	case 'x':
	case 'X':
		exit_task(2, 10, step == 'x' ? 11 : 12);
		break;
	default:
		user_stack(step == 't' ? 12 : 11, COOKIE + 2 * (step == 'o'), user_side, ARRAY_SIZE(user_side));
	}
}

static void begin_deferred(const uint64_t *ips, uint64_t nr)
{
	a.deferred = deferred_new(apply_deferred, &a);
	ck_assert_ptr_nonnull(a.deferred);
	comm(10, 11, "before", false);
	nr_samples = 1;
	apply(0, (struct record){ .type = PERF_RECORD_SAMPLE, .pid = 10, .tid = 11, .sample = { ips, nr } });
}

static struct row end_deferred(void)
{
	ck_assert_int_eq(deferred_flush(a.deferred), 0);
	ck_assert_uint_eq(deferred_nr(a.deferred), 0);
	deferred_free(a.deferred);
	assert_books(1, 0);
	return only_row();
}

START_TEST(test_deferred)
{
	char user = deferrals[_i].user;
	const char *step;
	struct row row;

	rig.request.filter.no_kernel = deferrals[_i].only == 'U';
	rig.request.filter.no_user = deferrals[_i].only == 'K';
	begin_deferred(deferrals[_i].ips, deferrals[_i].nr);
	ck_assert_uint_eq(a.stats[0].counted_ring, deferrals[_i].counted == 'n');
	for (step = deferrals[_i].steps; *step; step++)
		take_step(*step);
	row = end_deferred();
	ck_assert_str_eq(row.key.comm, "before");
	ck_assert_int_eq(row.key.user.state, user == 't' ? STACK_TAKEN : user == 'm' ? STACK_MISSED : STACK_NONE);
	ck_assert_uint_eq(row.key.user.nr, user != 't' ? 0 : deferrals[_i].counted == 'n' ? 1 : 3);
	ck_assert_uint_eq(a.stats[0].deferred, deferrals[_i].counted == 'l' || user == 'm');
	ck_assert_uint_eq(a.stats[0].deferred_missed, user == 'm');
}
END_TEST

/* The stack made from the deferred addresses. */
static const struct {
	uint64_t ips[4];
	uint64_t nr;
	uint32_t kept;
	enum stack_state state;
} arrivals[] = {
	{ { 1, 2, 3 }, 3, 3, STACK_TAKEN },
	{ { PERF_CONTEXT_USER, 1, 2 }, 3, 2, STACK_TAKEN }, /* the format planned at first */
	{ { 1, 2, 0, 3 }, 4, 2, STACK_TAKEN },
	{ { 1, PERF_CONTEXT_KERNEL, 2, 3 }, 4, 1, STACK_TAKEN },
	{ { 1, CONTEXT_USER_DEFERRED, COOKIE }, 3, 1, STACK_TAKEN },
	{ { 0 }, 0, 0, STACK_MISSED },
	{ { 0, 1, 2 }, 3, 0, STACK_MISSED },
	{ { PERF_CONTEXT_USER }, 1, 0, STACK_MISSED },
	{ { PERF_CONTEXT_KERNEL, PERF_CONTEXT_USER, 1 }, 3, 0, STACK_MISSED },
};

START_TEST(test_deferred_arrival)
{
	const uint64_t ips[] = { PERF_CONTEXT_KERNEL, K(1), K(2), CONTEXT_USER_DEFERRED, COOKIE };
	struct row row;

	begin_deferred(ips, ARRAY_SIZE(ips));
	user_stack(11, COOKIE, arrivals[_i].ips, arrivals[_i].nr);
	row = end_deferred();
	ck_assert_int_eq(row.key.user.state, arrivals[_i].state);
	ck_assert_uint_eq(row.key.user.nr, arrivals[_i].kept);
	ck_assert_uint_eq(row.key.kernel.nr, 2);
	ck_assert_uint_eq(a.stats[0].deferred_missed, arrivals[_i].state == STACK_MISSED);
}
END_TEST

/* The last address of a callchain of maximal length stands for the addresses that the kernel left out. */
START_TEST(test_deferred_limit)
{
	static const int more[] = { -1, 0, 1 };
	const uint64_t ips[] = { CONTEXT_USER_DEFERRED, COOKIE };
	uint64_t deep[DEFERRED_MAX_STACK + 1];
	struct row row;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(deep); i++)
		deep[i] = 0x401000 + i;
	begin_deferred(ips, ARRAY_SIZE(ips));
	user_stack(11, COOKIE, deep, (uint64_t)(DEFERRED_MAX_STACK + more[_i]));
	row = end_deferred();
	ck_assert_int_eq(row.key.user.truncated, !more[_i]);
	ck_assert_uint_eq(row.key.user.nr, (uint64_t)(DEFERRED_MAX_STACK + more[_i]) - !more[_i]);
}
END_TEST

/* No sample waits without a.deferred (@_i 0), nor if its task is dying and never returns to user space (@_i 1). */
START_TEST(test_deferred_unawaited)
{
	const uint64_t ips[] = { PERF_CONTEXT_KERNEL, K(1), CONTEXT_USER_DEFERRED, COOKIE };

	if (_i) {
		a.deferred = deferred_new(apply_deferred, &a);
		exit_task(0, 10, 11);
	}
	nr_samples = 1;
	apply(0, (struct record){ .type = PERF_RECORD_SAMPLE,
				  .pid = _i ? -1 : 10,
				  .tid = _i ? -1 : 11,
				  .sample = { ips, ARRAY_SIZE(ips) } });
	ck_assert_int_eq(only_row().key.user.state, STACK_MISSED);
	ck_assert_uint_eq(a.stats[0].deferred, _i);
	ck_assert_uint_eq(a.stats[0].deferred_missed, _i);
	user_stack(11, COOKIE, user_side, ARRAY_SIZE(user_side));
	assert_books(1, 0);
	deferred_free(a.deferred);
}
END_TEST

/* A sample that is filtered out does not wait. */
START_TEST(test_deferred_filtered)
{
	const uint64_t ips[] = { PERF_CONTEXT_KERNEL, K(1), CONTEXT_USER_DEFERRED, COOKIE };
	char name[COMM_LEN] = "after";

	rig.request.filter.comm = name;
	begin_deferred(ips, ARRAY_SIZE(ips));
	take_step('r');
	ck_assert_uint_eq(deferred_nr(a.deferred), 0);
	take_step('c');
	deferred_free(a.deferred);
	assert_books(0, 1);
}
END_TEST

#define KERNEL  PERF_RECORD_MISC_KERNEL
#define USER    PERF_RECORD_MISC_USER
#define CHAIN   { PERF_CONTEXT_KERNEL, K(1), K(2), PERF_CONTEXT_USER, 1, 2, 3 }, 7
#define KCHAIN  { PERF_CONTEXT_KERNEL, K(1), K(2) }, 3
#define NOCHAIN { 0 }, 0

/*
 * The stack lengths of a recorded sample. The recording may be without callchains, or have stack copies instead of
 * their user part.
 */
static const struct {
	const char *what;
	uint64_t ips[7];
	uint64_t nr, ip;
	uint32_t mode;
	unsigned int asked;
	char only; /* 'U' or 'K' */
	int kernel, user;
	bool kernel_cut, user_cut;
} recorded[] = {
	{ "chain that begins at the sample's address", CHAIN, K(1), KERNEL, 126, 0, 2, 3 },
	{ "chain, interrupted elsewhere", CHAIN, 77, USER, 126, 0, 2, 3 },
	{ "leaf in the kernel", NOCHAIN, K(1), KERNEL, 126, 0, 1, -1 },
	{ "leaf in user space", NOCHAIN, 77, USER, 126, 0, -1, 1 },
	{ "-K of a leaf in the kernel", NOCHAIN, K(1), KERNEL, 126, 'K', 1, -1 },
	{ "-U of a leaf in user space", NOCHAIN, 77, USER, 126, 'U', -1, 1 },
	{ "-U of a leaf in the kernel", NOCHAIN, K(1), KERNEL, 126, 'U', -1, -1 },
	{ "-K of a leaf in user space", NOCHAIN, 77, USER, 126, 'K', -1, -1 },
	{ "leaf of nowhere", NOCHAIN, 77, PERF_RECORD_MISC_CPUMODE_UNKNOWN, 126, 0, -1, -1 },
	{ "leaf in the hypervisor", NOCHAIN, 77, PERF_RECORD_MISC_HYPERVISOR, 126, 0, -1, -1 },
	{ "leaf in a guest's kernel", NOCHAIN, 77, PERF_RECORD_MISC_GUEST_KERNEL, 126, 0, -1, -1 },
	{ "leaf in a guest", NOCHAIN, 77, PERF_RECORD_MISC_GUEST_USER, 126, 0, -1, -1 },
	{ "no address in the kernel", NOCHAIN, 0, KERNEL, 126, 0, -1, -1 },
	{ "no address in user space", NOCHAIN, 0, USER, 126, 0, -1, -1 },
	{ "an address that is a marker", NOCHAIN, PERF_CONTEXT_USER, USER, 126, 0, -1, -1 },
	{ "chain of a guest", { PERF_CONTEXT_GUEST, 5, 6 }, 3, 5, PERF_RECORD_MISC_GUEST_USER, 126, 0, -1, -1 },
	{ "chain without markers", { 5, 6 }, 2, 5, USER, 126, 0, -1, 1 },
	{ "copied, in the kernel", KCHAIN, K(1), KERNEL, 126, 0, 2, -1 },
	{ "copied, in the kernel, -K", KCHAIN, K(1), KERNEL, 126, 'K', 2, -1 },
	{ "copied, in the kernel, -U", KCHAIN, K(1), KERNEL, 126, 'U', -1, -1 },
	{ "copied, in user space", NOCHAIN, 77, USER, 126, 0, -1, 1 },
	{ "copied, in user space, -K", NOCHAIN, 77, USER, 126, 'K', -1, -1 },
	{ "limit", CHAIN, K(1), KERNEL, 5, 0, 2, 2, false, true },
	{ "limit, reached", CHAIN, K(1), KERNEL, 6, 0, 2, 3 },
	{ "limit, -U: the kernel's part had its share", CHAIN, K(1), KERNEL, 5, 'U', -1, 2, false, true },
	{ "more than the limit, -U", CHAIN, K(1), KERNEL, 3, 'U', -1, 3 },
	{ "limit at its end",
	  { PERF_CONTEXT_KERNEL, K(1), K(2), PERF_CONTEXT_USER, 5 },
	  5,
	  K(1),
	  KERNEL,
	  3,
	  0,
	  2,
	  0,
	  false,
	  true },
	{ "limit at its end, -U",
	  { PERF_CONTEXT_KERNEL, K(1), K(2), PERF_CONTEXT_USER, 5 },
	  5,
	  K(1),
	  KERNEL,
	  3,
	  'U',
	  -1,
	  0,
	  false,
	  true },
	{ "limit, -K", CHAIN, K(1), KERNEL, 5, 'K', 2, -1 },
	{ "limit in the kernel's part", KCHAIN, K(1), KERNEL, 2, 0, 1, -1, true },
	{ "limit in the kernel's part, -K", KCHAIN, K(1), KERNEL, 2, 'K', 1, -1, true },
	{ "more than the limit", CHAIN, K(1), KERNEL, 2, 0, 2, 3 },
	{ "more than the limit, -K", CHAIN, K(1), KERNEL, 4, 'K', 2, -1 },
	{ "limit of a leaf", NOCHAIN, 77, USER, 2, 0, -1, 1 },
	{ "no limit", CHAIN, K(1), KERNEL, UINT16_MAX, 0, 2, 3 },
};

START_TEST(test_recorded)
{
	const struct record r = { .type = PERF_RECORD_SAMPLE,
				  .mode = recorded[_i].mode,
				  .pid = 10,
				  .tid = 10,
				  .sample = { recorded[_i].ips, recorded[_i].nr, recorded[_i].ip } };
	struct row row;

	rig.env.source = &source_recording;
	rig.request.filter.no_kernel = recorded[_i].only == 'U';
	rig.request.filter.no_user = recorded[_i].only == 'K';
	rig.request.asked = recorded[_i].asked;
	apply(0, r);
	row = only_row();
	assert_side(recorded[_i].what, &row.key.kernel, recorded[_i].kernel, recorded[_i].kernel_cut);
	assert_side(recorded[_i].what, &row.key.user, recorded[_i].user, recorded[_i].user_cut);
	if (row.key.kernel.nr)
		ck_assert_uint_eq(row.key.kernel.frames[0], K(1));
	if (row.key.user.nr && !recorded[_i].nr)
		ck_assert_uint_eq(row.key.user.frames[0], 77);
	ck_assert_uint_eq(row.value, 1);
}
END_TEST

/* A leaf alone distinguishes the idle task from one of another PID namespace, as a callchain does, wanted or not. */
START_TEST(test_idle_leaf)
{
	struct record r = { .type = PERF_RECORD_SAMPLE, .cpu = 1 };

	rig.request.filter.idle = true;
	rig.env.source = &source_recording;
	rig.request.filter.no_kernel = _i == 1;
	rig.request.filter.no_user = _i == 2;
	nr_samples = 4;
	r.sample.ip = K(1);
	r.mode = KERNEL;
	apply(1, r);
	r.mode = USER;
	apply(1, r);
	r.mode = PERF_RECORD_MISC_GUEST_USER; /* while this CPU seems to be idle */
	apply(1, r);
	r.sample.ip = 0;
	r.mode = USER;
	apply(1, r);
	ck_assert_uint_eq(value_in(rig.sink.sets[0].samples, "swapper/1", 0), 3);
	ck_assert_uint_eq(value_in(rig.sink.sets[0].samples, "[outside]", -1), 1);
	ck_assert_uint_eq(a.stats[0].idle, 3);
	ck_assert_uint_eq(a.stats[0].outside, 1);
	assert_books(4, 0);
}
END_TEST

/* ---- mappings */

static void map(pid_t pid, uint32_t type, uint64_t start, uint64_t len, const char *path)
{
	apply(0, (struct record){ .type = type,
				  .pid = pid,
				  .tid = pid,
				  .mmap = { .start = start,
					    .len = len,
					    .pgoff = 0x2000,
					    .maj = 8,
					    .min = 1,
					    .ino = 47,
					    .path = path } });
}

START_TEST(test_mmap)
{
	struct mapping m;

	comm(10, 10, "ten", true);
	map(10, PERF_RECORD_MMAP2, 0x400000, 0x1000, "/bin/ten");
	map(10, PERF_RECORD_MMAP, 0x500000, 0x1000, "/lib/ten");
	ck_assert_int_eq(tasks_find(rig.sink.tasks, 10, "ten", 0, 0x400fff, &m), 1);
	ck_assert_str_eq(m.file->path, "/bin/ten");
	ck_assert_uint_eq(m.start, 0x400000);
	ck_assert_uint_eq(m.end, 0x401000);
	ck_assert_uint_eq(m.pgoff, 0x2000);
	ck_assert_uint_eq(m.file->maj, 8);
	ck_assert_uint_eq(m.file->min, 1);
	ck_assert_uint_eq(m.file->ino, 47);
	ck_assert_int_eq(tasks_find(rig.sink.tasks, 10, "ten", 0, 0x401000, &m), 0);
	ck_assert_int_eq(tasks_find(rig.sink.tasks, 10, "ten", 0, 0x500000, &m), 1);
	ck_assert_str_eq(m.file->path, "/lib/ten");
}
END_TEST

/* The build id is used instead of device and inode, if the record has one. */
static const struct {
	uint8_t size;
	const char *path, *kept;
} identified[] = {
	{ 20, "/bin/ten", "/bin/ten" },
	{ 16, "/bin/ten (deleted)", "/bin/ten" },
	{ 1, "/bin/ten (deleted)", "/bin/ten" },
	{ 0, "/bin/ten", "/bin/ten" },
	{ 0, "/bin/ten (deleted)", "/bin/ten (deleted)" }, /* an unknown file */
};

START_TEST(test_mmap_build_id)
{
	static const unsigned char id[BUILD_ID_MAX] = "0123456789abcdef0123";
	unsigned char want[BUILD_ID_MAX] = { 0 };
	struct mapping m;

	comm(10, 10, "ten", true);
	apply(0, (struct record){ .type = PERF_RECORD_MMAP2,
				  .pid = 10,
				  .tid = 10,
				  .mmap = { .start = 0x400000,
					    .len = 0x1000,
					    .build_id = id,
					    .build_id_size = identified[_i].size,
					    .path = identified[_i].path } });
	memcpy(want, id, identified[_i].size);
	ck_assert_int_eq(tasks_find(rig.sink.tasks, 10, "ten", 0, 0x400000, &m), 1);
	ck_assert_str_eq(m.file->path, identified[_i].kept);
	ck_assert_uint_eq(m.file->build_id_size, identified[_i].size);
	ck_assert_mem_eq(m.file->build_id, want, sizeof(want));
	ck_assert_uint_eq(m.file->maj | m.file->min | m.file->ino, 0);
}
END_TEST

/* Made up by perf record: a child that has executed another program since then gets a name, and no mappings. */
START_TEST(test_fork_exec)
{
	struct mapping m;

	comm(10, 10, "shell", true);
	map(10, PERF_RECORD_MMAP2, 0x400000, 0x1000, "/bin/sh");
	apply(0, (struct record){ .type = PERF_RECORD_FORK, .pid = 20, .tid = 20, .fork = { 10, 10, _i } });
	sample(0, 20, 20);
	ck_assert_uint_eq(value_of("shell", 20), 1);
	ck_assert_int_eq(tasks_find(rig.sink.tasks, 20, "shell", 0, 0x400000, &m), _i ? 0 : 1);
	ck_assert_int_eq(tasks_find(rig.sink.tasks, 10, "shell", 0, 0x400000, &m), 1);
}
END_TEST

/* Ranges that no kernel writes are ignored. */
static const struct {
	uint64_t start, len;
} bad_maps[] = {
	{ 0x400000, 0 }, { UINT64_MAX, 1 }, { UINT64_MAX, UINT64_MAX }, { 0x400000, UINT64_MAX }, { 1, UINT64_MAX },
};

START_TEST(test_bad_mmap)
{
	struct mapping m;

	comm(10, 10, "ten", true);
	map(10, PERF_RECORD_MMAP2, bad_maps[_i].start, bad_maps[_i].len, "/bin/ten");
	ck_assert_int_eq(tasks_find(rig.sink.tasks, 10, "ten", 0, bad_maps[_i].start, &m), 0);
	ck_assert_int_eq(tasks_find(rig.sink.tasks, 10, "ten", 0, 0, &m), 0);
}
END_TEST

/* ---- records that are only counted, and invalid ones */

START_TEST(test_counters)
{
	apply(0, (struct record){ .type = PERF_RECORD_LOST, .lost = { 7 } });
	apply(1, (struct record){ .type = PERF_RECORD_LOST, .lost = { 8 } });
	apply(1, (struct record){ .type = PERF_RECORD_THROTTLE });
	apply(1, (struct record){ .type = PERF_RECORD_UNTHROTTLE });
	apply(1, (struct record){ .type = 12345 });
	ck_assert_uint_eq(a.stats[0].throttled, 1);
	ck_assert_uint_eq(rows_nr(rig.sink.sets[0].samples), 0);
	assert_books(0, 0);
}
END_TEST

static const pid_t strange[] = { 0, -1, INT32_MIN, INT32_MAX };

START_TEST(test_strange_ids)
{
	size_t i;

	rig.request.filter.idle = true;
	for (i = 0; i < ARRAY_SIZE(strange); i++) {
		pid_t x = strange[_i], y = strange[i];

		comm(x, y, "strange", i & 1);
		fork_task(x, y, y, x);
		fork_task(y, x, x, x);
		map(x, PERF_RECORD_MMAP2, 0x1000, 0x1000, "");
		sample(0, x, y);
		exit_task(0, x, y);
		sample(0, y, x);
		exit_task(0, x, y);
	}
	assert_books(2 * ARRAY_SIZE(strange), 0);
}
END_TEST

/* ---- a BPF program */

static const struct counter_ops counting = { 0 };

/* The program counts, and passes on the samples that it cannot count; with --backend=both all samples. */
static void use_program(bool both)
{
	size_t i;

	rig.env.counters[0].ops = &counting;
	rig.env.nr_counters = 1;
	rig.request.both = both;
	rig.sink.sets[1].samples = rows_new();
	ck_assert_ptr_nonnull(rig.sink.sets[1].samples);
	for (i = 0; both && i < ARRAY_SIZE(rig.sink.sets); i++) {
		rig.sink.sets[i].compare = compare_new(&rig.request.filter);
		ck_assert_ptr_nonnull(rig.sink.sets[i].compare);
	}
}

static void teardown_program(void)
{
	rows_free(rig.sink.sets[1].samples);
	compare_free(rig.sink.sets[0].compare);
	compare_free(rig.sink.sets[1].compare);
	teardown();
}

static struct sample_note note(int verdict, pid_t pid, pid_t tid, const char *name)
{
	struct sample_note n = { .pid = pid, .tid = tid };

	n.verdict = verdict;
	memcpy(n.comm, name, strlen(name));
	return n;
}

static void noted_in(unsigned int set, struct sample_note n, uint32_t ring, pid_t pid, pid_t tid)
{
	const struct record r = { .type = PERF_RECORD_SAMPLE,
				  .cpu = ring,
				  .pid = pid,
				  .tid = tid,
				  .sample = { both_sides, tid ? ARRAY_SIZE(both_sides) : KERNEL_SIDE } };
	struct sample_lead lead = { .note = n, .noted = 1 };

	lead.note.set = set;
	ck_assert_int_eq(apply_record(&a, ring, &r, &lead), 0);
}

static void noted(struct sample_note n, pid_t pid, pid_t tid)
{
	noted_in(0, n, 0, pid, tid);
}

static void lone_in(unsigned int set, pid_t pid, pid_t tid)
{
	const struct record r = { .type = PERF_RECORD_SAMPLE,
				  .pid = pid,
				  .tid = tid,
				  .sample = { both_sides, tid ? ARRAY_SIZE(both_sides) : KERNEL_SIDE } };
	const struct sample_lead lead = { .note = { .set = set, .pid = 66, .comm = "not this" } };

	ck_assert_int_eq(apply_record(&a, 0, &r, &lead), 0);
}

/* A spilled sample has the task and name of the note, whatever the record and the side-band say. */
START_TEST(test_spilled)
{
	use_program(false);
	comm(10, 10, "later", false);
	noted(note(NOTE_SPILLED, 10, 10, "then"), 10, 10);
	noted(note(NOTE_SPILLED, 10, 10, "later"), 10, 10);
	noted(note(NOTE_SPILLED, 500, 501, "not of /proc"), 500, 501);
	noted(note(NOTE_SPILLED, 777, 777, "unknown"), 777, 777);
	noted(note(NOTE_SPILLED, 30, 31, "dead"), -1, -1);
	noted(note(NOTE_SPILLED, 40, 40, ""), 0, 0);
	noted(note(NOTE_SPILLED, 0, 0, "swapper/7"), 0, 0);
	ck_assert_uint_eq(value_of("then", 10), 1);
	ck_assert_uint_eq(value_of("later", 10), 1);
	ck_assert_uint_eq(value_of("not of /proc", 500), 1);
	ck_assert_uint_eq(value_of("unknown", 777), 1);
	ck_assert_uint_eq(value_of("dead", 30), 1);
	ck_assert_uint_eq(value_of("", 40), 1);
	ck_assert_uint_eq(value_of("swapper/7", 0), 1);
	ck_assert_uint_eq(a.stats[0].dead_tasks, 0); /* the reader did not have to guess */
	ck_assert_uint_eq(a.stats[0].outside, 0);
	nr_samples = 7;
	assert_books(7, 0);
}
END_TEST

/* If the note was lost, the sample is treated as without a program; but the program has filtered it already. */
START_TEST(test_spilled_without_note)
{
	static const pid_t wanted[] = { 20 };

	use_program(false);
	rig.request.filter = (struct filter){ wanted, 1, false, false };
	comm(10, 10, "ten", false);
	exit_task(0, 10, 10);
	lone_in(0, 10, 10);
	lone_in(0, 500, 501);
	lone_in(0, -1, -1);
	lone_in(0, 0, 0);
	ck_assert_uint_eq(value_of("ten", 10), 2);
	ck_assert_uint_eq(value_of("older", 500), 1);
	ck_assert_uint_eq(value_of("swapper/0", 0), 1);
	ck_assert_uint_eq(a.stats[0].dead_tasks, 1);
	nr_samples = 4;
	assert_books(4, 0);
}
END_TEST

/* A sample is counted in its own interval, even after records of the next one. */
START_TEST(test_sets)
{
	use_program(false);
	a.set = 1;
	noted_in(0, note(NOTE_SPILLED, 10, 10, "a"), 0, 10, 10);
	noted_in(1, note(NOTE_SPILLED, 10, 10, "a"), 0, 10, 10);
	noted_in(0, note(NOTE_SPILLED, 10, 10, "a"), 1, 10, 10);
	lone_in(1, 500, 500);
	lone_in(1, -1, -1);
	apply(0, (struct record){ .type = PERF_RECORD_THROTTLE, .time = 5 });
	ck_assert_uint_eq(rows_total(rig.sink.sets[0].samples), 2);
	ck_assert_uint_eq(rows_total(rig.sink.sets[1].samples), 3);
	ck_assert_uint_eq(a.stats[0].counted_ring, 2);
	ck_assert_uint_eq(a.stats[1].counted_ring, 3);
	ck_assert_uint_eq(a.stats[0].dead_tasks, 0);
	ck_assert_uint_eq(a.stats[1].dead_tasks, 1);
	ck_assert_uint_eq(a.stats[0].throttled, 0);
	ck_assert_uint_eq(a.stats[1].throttled, 1);
}
END_TEST

/* Without a program, too, unwanted samples are filtered in their own set. */
START_TEST(test_sets_alone)
{
	rig.sink.sets[1].samples = rows_new();
	lone_in(1, 0, 0);
	lone_in(1, 500, 500);
	lone_in(0, 0, 0);
	ck_assert_uint_eq(a.stats[1].filtered, 1);
	ck_assert_uint_eq(a.stats[1].idle, 1);
	ck_assert_uint_eq(a.stats[1].counted_ring, 1);
	ck_assert_uint_eq(rows_total(rig.sink.sets[1].samples), 1);
	ck_assert_uint_eq(a.stats[0].filtered, 1);
	ck_assert_uint_eq(a.stats[0].idle, 1);
	ck_assert_uint_eq(rows_total(rig.sink.sets[0].samples), 0);
}
END_TEST

/* The idle task's samples, wanted or not; not those of tasks outside, nor those that a program counts. */
START_TEST(test_idle_counter)
{
	rig.request.filter.idle = _i;
	sample(0, 0, 0);
	sample(1, 0, 0);
	sample(1, 500, 500);
	sample(1, -1, -1);
	apply(1, (struct record){
			 .type = PERF_RECORD_SAMPLE, .cpu = 1, .sample = { both_sides, ARRAY_SIZE(both_sides) } });
	ck_assert_uint_eq(a.stats[0].outside, 1);
	ck_assert_uint_eq(a.stats[0].idle, 2);
	use_program(false);
	noted(note(NOTE_SPILLED, 0, 0, "swapper/0"), 0, 0);
	ck_assert_uint_eq(a.stats[0].idle, 2);
}
END_TEST

/* ---- --backend=both */

/*
 * The program's verdict on a sample, and the results: counted (in the rows of the kernel backend), kept (in those of
 * the reader), compared, and how they differ.
 */
static const struct {
	const char *name;
	int verdict; /* -1: no note */
	pid_t pid, tid;
	const char *comm;
	pid_t ring_pid, ring_tid;
	const char *ring_comm; /* NULL: the reader filters it */
	uint64_t compared, different, dying;
} compared[] = {
	{ "counted", NOTE_COUNTED, 10, 10, "ten", 10, 10, "ten", 1, 0, 0 },
	{ "spilled", NOTE_SPILLED, 10, 10, "ten", 10, 10, "ten", 1, 0, 0 },
	{ "filtered", NOTE_FILTERED, 20, 20, "twenty", 20, 20, NULL, 1, 0, 0 },
	{ "idle filtered", NOTE_FILTERED, 0, 0, "swapper/0", 0, 0, NULL, 1, 0, 0 },
	{ "dying", NOTE_COUNTED, 10, 10, "ten", -1, -1, "thirty", 1, 0, 1 },
	{ "dying, spilled", NOTE_SPILLED, 10, 10, "ten", -1, -1, "thirty", 1, 0, 1 },
	{ "without a note", -1, 0, 0, "", 10, 10, "ten", 0, 0, 0 },
	{ "without a note, filtered", -1, 0, 0, "", 20, 20, NULL, 0, 0, 0 },
	{ "outside", NOTE_FILTERED, -1, -1, "[outside]", 0, 0, NULL, 1, 0, 0 },
	{ "the program does not know the task", NOTE_UNNUMBERED, 0, 0, "", 10, 10, "ten", 1, 0, 0 },
	{ "nor to filter", NOTE_UNNUMBERED, 0, 0, "", 20, 20, NULL, 1, 0, 0 },
	{ "a dying task that the program does not know", NOTE_UNNUMBERED, 0, 0, "", -1, -1, "thirty", 1, 0, 0 },
	{ "another name", NOTE_COUNTED, 10, 10, "eleven", 10, 10, "ten", 1, 1, 0 },
	{ "another name, spilled", NOTE_SPILLED, 10, 10, "eleven", 10, 10, "ten", 1, 1, 0 },
	{ "another process", NOTE_COUNTED, 11, 10, "ten", 10, 10, "ten", 1, 1, 0 },
	{ "counted, filtered by the reader", NOTE_COUNTED, 20, 20, "twenty", 20, 20, NULL, 1, 1, 0 },
	{ "spilled, filtered by the reader", NOTE_SPILLED, 20, 20, "twenty", 20, 20, NULL, 1, 1, 0 },
	{ "filtered by the program alone", NOTE_FILTERED, 10, 10, "ten", 10, 10, "ten", 1, 1, 0 },
};

START_TEST(test_both)
{
	static const pid_t wanted[] = { 10, 30 };
	bool unnumbered = compared[_i].verdict == NOTE_UNNUMBERED, kept = compared[_i].ring_comm != NULL;
	bool spilled = compared[_i].verdict == NOTE_SPILLED, added = unnumbered ? kept : spilled;
	struct compare_counts n;
	pid_t kept_pid;

	use_program(true);
	rig.request.filter = (struct filter){ wanted, ARRAY_SIZE(wanted), false, false };
	comm(10, 10, "ten", false);
	comm(30, 30, "thirty", false);
	exit_task(0, 30, 30);
	if (compared[_i].verdict < 0)
		lone_in(0, compared[_i].ring_pid, compared[_i].ring_tid);
	else
		noted(note(compared[_i].verdict, compared[_i].pid, compared[_i].tid, compared[_i].comm),
		      compared[_i].ring_pid, compared[_i].ring_tid);
	ck_assert_int_eq(compare_end(rig.sink.sets[0].compare), 0);
	compare_counts(rig.sink.sets[0].compare, &n);
	ck_assert_msg(n.compared == compared[_i].compared, "%s", compared[_i].name);
	ck_assert_msg(n.different == compared[_i].different, "%s", compared[_i].name);
	ck_assert_msg(n.dying == compared[_i].dying, "%s", compared[_i].name);
	ck_assert_uint_eq(n.unpaired, compared[_i].verdict < 0);
	ck_assert_uint_eq(n.renamed, 0);
	/* Only samples that the program could not count are added to its rows. */
	ck_assert_uint_eq(rows_total(rig.sink.sets[0].samples), added);
	ck_assert_uint_eq(value_in(rig.sink.sets[0].samples, compared[_i].comm, compared[_i].pid), spilled);
	ck_assert_uint_eq(a.stats[0].counted_ring, added);
	ck_assert_uint_eq(a.stats[0].filtered, unnumbered && !kept); /* otherwise the program counted it */
	kept_pid = compared[_i].ring_pid == -1 ? 30 : compared[_i].ring_pid;
	ck_assert_uint_eq(rows_total(compare_rows(rig.sink.sets[0].compare)), kept);
	if (kept)
		ck_assert_uint_eq(value_in(compare_rows(rig.sink.sets[0].compare), compared[_i].ring_comm, kept_pid),
				  1);
	if (unnumbered && kept)
		ck_assert_uint_eq(value_in(rig.sink.sets[0].samples, compared[_i].ring_comm, kept_pid), 1);
}
END_TEST

/* A task outside has one row on both sides: without its user stack. */
START_TEST(test_both_outside)
{
	struct record r = { .type = PERF_RECORD_SAMPLE, .sample = { both_sides, ARRAY_SIZE(both_sides) } };
	struct sample_lead lead = { .noted = 1 };
	struct compare_counts n;
	struct row row;

	use_program(_i);
	lead.note = note(NOTE_SPILLED, -1, -1, "[outside]");
	ck_assert_int_eq(apply_record(&a, 0, &r, &lead), 0);
	row = only_row();
	ck_assert_int_eq(row.key.user.state, STACK_NONE);
	ck_assert_uint_eq(row.key.kernel.nr, 2);
	ck_assert_uint_eq(value_of("[outside]", -1), 1);
	ck_assert_uint_eq(a.stats[0].outside, 0); /* the program counted it */
	if (!_i)
		return;
	rows_get(compare_rows(rig.sink.sets[0].compare), 0, &row);
	ck_assert_int_eq(row.key.user.state, STACK_NONE);
	ck_assert_int_eq(row.key.pid, -1);
	compare_counts(rig.sink.sets[0].compare, &n);
	ck_assert_uint_eq(n.compared, 1);
	ck_assert_uint_eq(n.different + n.dying, 0);
}
END_TEST

/* A renaming explains the sample before it, whatever interval that belongs to. */
START_TEST(test_both_renamed)
{
	struct compare_counts n[2];
	size_t i;

	use_program(true);
	comm(10, 10, "old", false);
	comm(10, 11, "old", false);
	noted_in(0, note(NOTE_COUNTED, 10, 10, "new"), 0, 10, 10);
	noted_in(1, note(NOTE_SPILLED, 10, 11, "ned"), 1, 10, 11);
	noted_in(1, note(NOTE_COUNTED, 10, 11, "never"), 1, 10, 11);
	noted_in(1, note(NOTE_COUNTED, 500, 501, "new"), 1, 500, 501);
	a.set = 1;
	comm(500, 501, "new", false);
	comm(10, 10, "new", false);
	comm(10, 11, "new", false);
	noted_in(1, note(NOTE_COUNTED, 10, 10, "new"), 1, 10, 10);
	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(compare_end(rig.sink.sets[i].compare), 0);
		compare_counts(rig.sink.sets[i].compare, &n[i]);
	}
	ck_assert_uint_eq(n[0].renamed, 1);
	ck_assert_uint_eq(n[0].different, 0);
	ck_assert_uint_eq(n[1].compared, 4);
	ck_assert_uint_eq(n[1].renamed, 2);
	ck_assert_uint_eq(n[1].different, 1); /* no thread has that name */
	ck_assert_uint_eq(rows_total(rig.sink.sets[0].samples), 0);
	ck_assert_uint_eq(value_in(rig.sink.sets[1].samples, "ned", 10), 1);
	ck_assert_uint_eq(value_in(compare_rows(rig.sink.sets[0].compare), "old", 10), 1);
	ck_assert_uint_eq(value_in(compare_rows(rig.sink.sets[1].compare), "old", 10), 2);
	ck_assert_uint_eq(value_in(compare_rows(rig.sink.sets[1].compare), "new", 10), 1);
}
END_TEST

/* Both sides of a spilled sample get the same stacks. */
START_TEST(test_both_stacks)
{
	struct row program, ring;

	use_program(true);
	rig.request.filter.no_user = _i == 1;
	rig.request.filter.no_kernel = _i == 2;
	rig.request.asked = _i == 3 ? 4 : 126;
	comm(10, 10, "ten", false);
	noted(note(NOTE_SPILLED, 10, 10, "ten"), 10, 10);
	program = only_row();
	ck_assert_uint_eq(rows_nr(compare_rows(rig.sink.sets[0].compare)), 1);
	rows_get(compare_rows(rig.sink.sets[0].compare), 0, &ring);
	ck_assert_int_eq(program.key.kernel.state, _i == 2 ? STACK_NONE : STACK_TAKEN);
	ck_assert_int_eq(program.key.user.state, _i == 1 ? STACK_NONE : STACK_TAKEN);
	ck_assert_int_eq(program.key.kernel.state, ring.key.kernel.state);
	ck_assert_int_eq(program.key.user.state, ring.key.user.state);
	ck_assert_uint_eq(program.key.kernel.nr, ring.key.kernel.nr);
	ck_assert_uint_eq(program.key.user.nr, ring.key.user.nr);
	ck_assert_int_eq(program.key.user.truncated, _i == 3);
	ck_assert_int_eq(ring.key.user.truncated, _i == 3);
}
END_TEST

/* ---- a command */

/* The last answer that the program got about each process. */
static enum descent told[100];

static bool keep(void *ctx, pid_t pid, enum descent what)
{
	(void)ctx;
	ck_assert_int_gt(pid, 0);
	told[pid] = what;
	return true;
}

/* The root is 10; "old" is a process outside the tree. */
static void use_tree(void)
{
	rig.request.filter.tree = descendants_new(10);
	ck_assert_ptr_nonnull(rig.request.filter.tree);
	memset(told, 0, sizeof(told));
	descendants_tell(rig.request.filter.tree, keep, NULL);
}

/* A command counts from its exec on, with its descendants, until they end. Records come in time order. */
START_TEST(test_tree)
{
	use_tree();
	sample(0, 10, 10);
	comm(10, 10, "sh", true);
	sample(0, 10, 10);
	sample(1, 500, 500);
	sample(1, 0, 0);
	fork_task(20, 20, 10, 10);
	sample(1, 20, 20);
	fork_task(20, 21, 20, 20);
	sample(1, 20, 21);
	comm(20, 20, "job", true);
	fork_task(30, 30, 20, 20);
	exit_task(1, 20, 20);
	sample(0, 20, 20);
	sample(1, -1, -1);
	sample(0, 30, 30);
	fork_task(20, 20, 500, 500);
	sample(0, 20, 20);
	fork_task(40, 40, 500, 500);
	exit_task(1, 40, 40);
	sample(1, -1, -1);
	ck_assert_uint_eq(value_of("sh", 10), 1);
	ck_assert_uint_eq(value_of("sh", 20), 2);
	ck_assert_uint_eq(value_of("job", 20), 2);
	ck_assert_uint_eq(value_of("job", 30), 1);
	assert_books(6, 5);
}
END_TEST

/* @lost: the kernel removed the events of a thread that executed a program with more rights; @exits: it has ended. */
static const struct {
	const char *what;
	bool of_targets, executes, maps, lives;
	bool lost, exits; /* out */
} sights[] = {
	{ "more rights", true, true, false, true, true, false },
	{ "it has ended since", true, true, false, false, true, true },
	{ "it has mapped something", true, true, true, true, false, true },
	{ "no program", true, false, false, true, false, true },
	{ "the CPUs' events record all", false, true, false, true, false, true },
};

START_TEST(test_lost_sight)
{
	const char stat[] = "10 (sudo) R 1 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0\n";
	struct record mapping = { .type = PERF_RECORD_MMAP2,
				  .pid = 10,
				  .tid = 10,
				  .mmap = { .start = 0x401000, .len = 0x1000, .path = "/bin/it" } };

	rig.events.side_of_targets = sights[_i].of_targets;
	if (sights[_i].lives)
		unit_write(dir, "10/task/10/stat", stat, strlen(stat));
	fork_task(10, 10, 1, 1);
	comm(10, 10, "sudo", sights[_i].executes);
	if (sights[_i].maps)
		apply(0, mapping);
	exit_task(0, 10, 10);
	sample(0, -1, -1);
	ck_assert_msg(rig.events.lost_sight == sights[_i].lost, "%s", sights[_i].what);
	/* The last task that ended on a CPU is the one dying there. */
	ck_assert_uint_eq(value_in(rig.sink.sets[0].samples, "sudo", 10), sights[_i].exits);
}
END_TEST

/* Nothing is kept about other processes: neither names nor mappings. */
START_TEST(test_tree_bystanders)
{
	struct mapping m;

	use_tree();
	comm(10, 10, "before", false);
	comm(10, 10, "sh", true);
	map(10, PERF_RECORD_MMAP2, 0x400000, 0x1000, "/bin/sh");
	comm(20, 20, "other", true);
	map(20, PERF_RECORD_MMAP2, 0x400000, 0x1000, "/bin/other");
	fork_task(30, 30, 20, 20);
	exit_task(0, 20, 20);
	ck_assert_int_eq(tasks_find(rig.sink.tasks, 10, "sh", 0, 0x400000, &m), 1);
	ck_assert_int_eq(tasks_find(rig.sink.tasks, 20, "other", 0, 0x400000, &m), 0);
	ck_assert_int_eq(tasks_find(rig.sink.tasks, 30, "other", 0, 0x400000, &m), 0);
}
END_TEST

/*
 * The reader judges processes that the program did not know, and the program gets the answer. It does not judge samples
 * that the program counted or could not count.
 */
START_TEST(test_tree_spilled)
{
	use_program(false);
	use_tree();
	noted(note(NOTE_UNKNOWN, 10, 10, "profile"), 10, 10);
	ck_assert_int_eq(told[10], DESCENT_UNKNOWN); /* will belong to the command */
	comm(10, 10, "sh", true);
	ck_assert_int_eq(told[10], DESCENT_IN);
	noted(note(NOTE_UNKNOWN, 10, 10, "sh"), 10, 10);
	noted(note(NOTE_UNKNOWN, 50, 51, "other"), 50, 51);
	ck_assert_int_eq(told[50], DESCENT_OUT);
	noted(note(NOTE_SPILLED, 50, 51, "whatever"), 50, 51);
	fork_task(20, 20, 10, 10);
	noted(note(NOTE_UNKNOWN, 20, 20, "job"), -1, -1); /* the note decides */
	exit_task(0, 20, 20);
	ck_assert_int_eq(told[20], DESCENT_UNKNOWN);
	noted(note(NOTE_UNKNOWN, 20, 20, "job"), -1, -1);
	ck_assert_int_eq(told[20], DESCENT_UNKNOWN);
	noted(note(NOTE_UNKNOWN, 0, 0, "swapper/0"), 0, 0);
	ck_assert_uint_eq(value_of("sh", 10), 1);
	ck_assert_uint_eq(value_of("job", 20), 2);
	ck_assert_uint_eq(value_of("whatever", 50), 1);
	ck_assert_uint_eq(a.stats[0].spilled_filtered, 3);
	nr_samples = 7;
	assert_books(4, 3);
}
END_TEST

/* Also without a note: the program may not have known the process. Counted in the set of the sample. */
START_TEST(test_tree_without_note)
{
	use_program(false);
	use_tree();
	comm(10, 10, "sh", true);
	lone_in(1, 10, 10);
	lone_in(1, 50, 50);
	lone_in(1, -1, -1);
	ck_assert_uint_eq(rows_total(rig.sink.sets[1].samples), 1);
	ck_assert_uint_eq(a.stats[1].counted_ring, 1);
	ck_assert_uint_eq(a.stats[1].filtered, 2);
	ck_assert_uint_eq(a.stats[1].spilled_filtered, 2);
	ck_assert_uint_eq(a.stats[0].filtered, 0);
}
END_TEST

/* The program's verdict about a process of the command or another one, and the reader's. */
static const struct {
	const char *name;
	int verdict;
	pid_t pid, ring_pid;
	uint64_t counted, filtered, kept, different, dying; /* kept: counted by the reader */
} judged[] = {
	{ "known", NOTE_COUNTED, 10, 10, 0, 0, 1, 0, 0 },
	{ "known, no room", NOTE_SPILLED, 10, 10, 1, 0, 1, 0, 0 },
	{ "known as another's", NOTE_FILTERED, 50, 50, 0, 0, 0, 0, 0 },
	{ "not known", NOTE_UNKNOWN, 10, 10, 1, 0, 1, 0, 0 },
	{ "not known, another's", NOTE_UNKNOWN, 50, 50, 0, 1, 0, 0, 0 },
	{ "dying", NOTE_UNKNOWN, 10, -1, 1, 0, 0, 0, 1 },
	{ "dying, another's", NOTE_UNKNOWN, 50, -1, 0, 1, 0, 0, 0 },
	{ "wrongly filtered", NOTE_FILTERED, 10, 10, 0, 0, 1, 1, 0 },
	{ "wrongly counted", NOTE_COUNTED, 50, 50, 0, 0, 0, 1, 0 },
	{ "wrongly known, no room", NOTE_SPILLED, 50, 50, 1, 0, 0, 1, 0 },
};

START_TEST(test_tree_both)
{
	struct compare_counts n;

	use_program(true);
	use_tree();
	comm(10, 10, "sh", true);
	noted(note(judged[_i].verdict, judged[_i].pid, judged[_i].pid, "sh"), judged[_i].ring_pid, judged[_i].ring_pid);
	ck_assert_int_eq(compare_end(rig.sink.sets[0].compare), 0);
	compare_counts(rig.sink.sets[0].compare, &n);
	ck_assert_msg(n.different == judged[_i].different, "%s", judged[_i].name);
	ck_assert_msg(n.dying == judged[_i].dying, "%s", judged[_i].name);
	ck_assert_uint_eq(n.compared, 1);
	ck_assert_uint_eq(a.stats[0].counted_ring, judged[_i].counted);
	ck_assert_uint_eq(a.stats[0].filtered, judged[_i].filtered);
	ck_assert_uint_eq(a.stats[0].spilled_filtered, judged[_i].filtered);
	ck_assert_uint_eq(rows_total(rig.sink.sets[0].samples), judged[_i].counted);
	ck_assert_uint_eq(rows_total(compare_rows(rig.sink.sets[0].compare)), judged[_i].kept);
}
END_TEST

/*
 * As judged[], for pids about which the program got an answer that is outdated: they have joined the tree or left it
 * since.
 */
static const struct {
	const char *name;
	int verdict;
	pid_t pid;
	bool later; /* the sample is newer than the withdrawal of the answers */
	uint64_t counted, filtered, kept, different, reused;
} judged_anew[] = {
	{ "one of the tree, filtered", NOTE_FILTERED, 50, false, 0, 0, 1, 0, 1 },
	{ "another, counted", NOTE_COUNTED, 20, false, 0, 0, 0, 0, 1 },
	{ "another, no room", NOTE_SPILLED, 20, false, 1, 0, 0, 0, 1 },
	{ "one of the tree, already known", NOTE_COUNTED, 50, false, 0, 0, 1, 0, 0 },
	{ "another, already known", NOTE_FILTERED, 20, false, 0, 0, 0, 0, 0 },
	{ "not known any more", NOTE_UNKNOWN, 20, false, 0, 1, 0, 0, 0 },
	{ "filtered, later", NOTE_FILTERED, 50, true, 0, 0, 1, 1, 0 },
	{ "counted, later", NOTE_COUNTED, 20, true, 0, 0, 0, 1, 0 },
	{ "of the tree all the time, filtered", NOTE_FILTERED, 30, false, 0, 0, 1, 1, 0 },
	{ "never of the tree, counted", NOTE_COUNTED, 60, false, 0, 0, 0, 1, 0 },
	{ "of the tree again, filtered only for its name", NOTE_COUNTED, 40, false, 0, 0, 0, 1, 0 },
};

START_TEST(test_tree_reused)
{
	const pid_t pid = judged_anew[_i].pid;
	struct record r = {
		.type = PERF_RECORD_SAMPLE, .pid = pid, .tid = pid, .sample = { both_sides, ARRAY_SIZE(both_sides) }
	};
	const struct sample_lead lead = { .note = note(judged_anew[_i].verdict, pid, pid, "sh"), .noted = 1 };
	struct compare_counts n;

	use_program(true);
	use_tree();
	rig.request.filter.comm = "sh";
	rig.events.attrs[EVENT_SAMPLES].use_clockid = 1;
	comm(10, 10, "sh", true);
	fork_task(20, 20, 10, 10);
	fork_task(30, 30, 10, 10);
	fork_task(40, 40, 10, 10);
	descendants_judge(rig.request.filter.tree, 50);
	descendants_judge(rig.request.filter.tree, 60);
	r.time = now_ns();
	exit_task(0, 20, 20);
	exit_task(0, 40, 40);
	exit_task(0, 50, 50);
	fork_task(20, 20, 500, 500);
	fork_task(40, 40, 10, 10);
	comm(40, 40, "other", false);
	fork_task(50, 50, 10, 10);
	if (judged_anew[_i].later)
		r.time = now_ns() + NSEC_PER_SEC;
	ck_assert_int_eq(apply_record(&a, 0, &r, &lead), 0);
	ck_assert_int_eq(compare_end(rig.sink.sets[0].compare), 0);
	compare_counts(rig.sink.sets[0].compare, &n);
	ck_assert_msg(n.reused == judged_anew[_i].reused, "%s", judged_anew[_i].name);
	ck_assert_msg(n.different == judged_anew[_i].different, "%s", judged_anew[_i].name);
	ck_assert_uint_eq(a.stats[0].counted_ring, judged_anew[_i].counted);
	ck_assert_uint_eq(a.stats[0].filtered, judged_anew[_i].filtered);
	ck_assert_uint_eq(rows_total(rig.sink.sets[0].samples), judged_anew[_i].counted);
	ck_assert_uint_eq(rows_total(compare_rows(rig.sink.sets[0].compare)), judged_anew[_i].kept);
}
END_TEST

/* ---- throttling */

enum throttle_what { THROTTLE, UNTHROTTLE, TIME };

struct throttle_step {
	enum throttle_what what;
	uint32_t ring;
	uint64_t ns;
};

static const struct {
	const char *name;
	struct throttle_step steps[6]; /* ns 0: no more */
	uint64_t throttled, throttled_ns;
} throttles[] = {
	{ "once", { { THROTTLE, 0, 100 }, { UNTHROTTLE, 0, 150 } }, 1, 50 },
	{ "twice",
	  { { THROTTLE, 0, 100 }, { UNTHROTTLE, 0, 150 }, { THROTTLE, 0, 200 }, { UNTHROTTLE, 0, 203 } },
	  2,
	  53 },
	{ "on two CPUs",
	  { { THROTTLE, 0, 100 }, { THROTTLE, 2, 110 }, { UNTHROTTLE, 2, 150 }, { UNTHROTTLE, 0, 160 } },
	  2,
	  100 },
	{ "until the end", { { THROTTLE, 0, 100 }, { TIME, 0, 170 } }, 1, 70 },
	{ "beyond the end: the rest belongs to the next one",
	  { { THROTTLE, 0, 100 }, { TIME, 0, 170 }, { UNTHROTTLE, 0, 190 } },
	  1,
	  90 },
	{ "on all CPUs until the end",
	  { { THROTTLE, 0, 100 }, { THROTTLE, 1, 100 }, { THROTTLE, 2, 100 }, { TIME, 0, 110 } },
	  3,
	  30 },
	{ "over two ends",
	  { { THROTTLE, 1, 100 }, { TIME, 0, 110 }, { TIME, 0, 125 }, { UNTHROTTLE, 1, 130 } },
	  1,
	  30 },
	{ "not throttled at the end", { { THROTTLE, 0, 100 }, { UNTHROTTLE, 0, 150 }, { TIME, 0, 1000 } }, 1, 50 },
	/* impossible sequences */
	{ "an end without a beginning", { { UNTHROTTLE, 0, 150 }, { TIME, 0, 160 } }, 0, 0 },
	{ "two ends", { { THROTTLE, 0, 100 }, { UNTHROTTLE, 0, 150 }, { UNTHROTTLE, 0, 190 } }, 1, 50 },
	{ "that of another CPU", { { THROTTLE, 0, 100 }, { UNTHROTTLE, 1, 150 } }, 1, 0 },
	{ "two begins", { { THROTTLE, 0, 100 }, { THROTTLE, 0, 120 }, { UNTHROTTLE, 0, 150 } }, 2, 30 },
	{ "back in time", { { THROTTLE, 0, 100 }, { UNTHROTTLE, 0, 90 }, { TIME, 0, 200 } }, 1, 0 },
	{ "time goes backwards", { { THROTTLE, 0, 100 }, { TIME, 0, 90 } }, 1, 0 },
	{ "at once", { { THROTTLE, 0, 100 }, { UNTHROTTLE, 0, 100 } }, 1, 0 },
};

START_TEST(test_throttled)
{
	const struct throttle_step *s;

	for (s = throttles[_i].steps; s->ns; s++) {
		if (s->what == TIME)
			apply_time(&a, s->ns);
		else
			apply(s->ring, (struct record){ .type = s->what == THROTTLE ? PERF_RECORD_THROTTLE
										    : PERF_RECORD_UNTHROTTLE,
							.time = s->ns });
	}
	ck_assert_msg(a.stats[0].throttled == throttles[_i].throttled, "%s", throttles[_i].name);
	ck_assert_msg(a.stats[0].throttled_ns == throttles[_i].throttled_ns, "%s: %llu", throttles[_i].name,
		      (unsigned long long)a.stats[0].throttled_ns);
	ck_assert_uint_eq(a.stats[1].throttled_ns, 0);
}
END_TEST

/* Each interval gets its own part of the throttled time. */
START_TEST(test_throttled_intervals)
{
	apply(1, (struct record){ .type = PERF_RECORD_THROTTLE, .time = 100 });
	apply_time(&a, 130);
	a.set = 1;
	apply(1, (struct record){ .type = PERF_RECORD_UNTHROTTLE, .time = 150 });
	ck_assert_uint_eq(a.stats[0].throttled, 1);
	ck_assert_uint_eq(a.stats[0].throttled_ns, 30);
	ck_assert_uint_eq(a.stats[1].throttled, 0);
	ck_assert_uint_eq(a.stats[1].throttled_ns, 20);
}
END_TEST

static void ksymbol(const char *name, bool removed, uint64_t time)
{
	apply(1, (struct record){ .type = PERF_RECORD_KSYMBOL,
				  .time = time,
				  .ksymbol = { 0xffffffffc0001000, 0x80, name, true, removed } });
}

static void kernel_sample(uint64_t ip)
{
	const uint64_t ips[] = { PERF_CONTEXT_KERNEL, ip, 0xffffffff81000010 };

	apply(0, (struct record){
			 .type = PERF_RECORD_SAMPLE, .pid = 500, .tid = 500, .sample = { ips, ARRAY_SIZE(ips) } });
}

/* The name of the leaf of row @i, and its value. */
static const char *leaf_of(size_t i, uint64_t *value)
{
	struct kernel_symbol s;
	struct row row;
	uint64_t addr;

	rows_get(rig.sink.sets[0].samples, i, &row);
	*value = row.value;
	ck_assert_uint_eq(row.key.kernel.nr, 2);
	ck_assert_uint_eq(row.key.kernel.frames[1], 0xffffffff81000010);
	return kernel_ranges_find(rig.sink.kernel_ranges, *row.key.kernel.frames, false, &s, &addr) == RANGE_FOUND
		       ? s.name
		       : "-";
}

/* A program is loaded, replaced at its address, and loaded again. @_i: the counts have no times */
START_TEST(test_ksymbol)
{
	const char *const programs[] = { "first", "second", "first" };
	uint64_t value;
	size_t i;

	rig.sink.kernel_ranges = kernel_ranges_new();
	ck_assert_ptr_nonnull(rig.sink.kernel_ranges);
	kernel_ranges_by_address(rig.sink.kernel_ranges, _i);
	kernel_sample(0xffffffffc0001010); /* no record describes this code */
	ck_assert_str_eq(leaf_of(0, &value), "-");
	rows_free(rig.sink.sets[0].samples);
	rig.sink.sets[0].samples = rows_new();
	for (i = 0; i < ARRAY_SIZE(programs); i++) {
		ksymbol(programs[i], false, 10 * i + 1);
		kernel_sample(0xffffffffc0001010);
		ksymbol(programs[i], true, 10 * i + 2);
		kernel_sample(0xffffffffc0001010); /* the program may still run after this record */
	}
	ck_assert_uint_eq(rows_nr(rig.sink.sets[0].samples), _i ? 1 : 2);
	ck_assert_str_eq(leaf_of(0, &value), _i ? "-" : "first");
	ck_assert_uint_eq(value, _i ? 6 : 4);
	if (!_i) {
		ck_assert_str_eq(leaf_of(1, &value), "second");
		ck_assert_uint_eq(value, 2);
	}
	kernel_ranges_free(rig.sink.kernel_ranges);
}
END_TEST

/* Records were lost. @_i: bit 0: in a ring of samples, else of side-band records; bit 1: no KSYMBOL records */
START_TEST(test_ksymbol_lost)
{
	const struct sample_lead lead = { .kind = _i & 1 ? EVENT_SAMPLES : EVENT_SIDE_BAND };
	struct record r = { .type = PERF_RECORD_LOST, .lost = { .records = 1 } };

	rig.sink.kernel_ranges = kernel_ranges_new();
	ck_assert_ptr_nonnull(rig.sink.kernel_ranges);
	rig.events.apart = true;
	rig.events.attrs[EVENT_SIDE_BAND].ksymbol = !(_i & 2);
	ck_assert_int_eq(apply_record(&a, 0, &r, &lead), 0);
	ck_assert_int_eq(kernel_ranges_incomplete(rig.sink.kernel_ranges), !_i);
	kernel_ranges_free(rig.sink.kernel_ranges);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("apply");
	TCase *tc = tcase_create("apply"), *program = tcase_create("program");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_checked_fixture(program, setup, teardown_program);
	tcase_add_test(program, test_spilled);
	tcase_add_test(program, test_spilled_without_note);
	tcase_add_test(program, test_sets);
	tcase_add_test(program, test_sets_alone);
	tcase_add_loop_test(program, test_idle_counter, 0, 2);
	tcase_add_loop_test(program, test_both, 0, ARRAY_SIZE(compared));
	tcase_add_loop_test(program, test_both_outside, 0, 2);
	tcase_add_test(program, test_both_renamed);
	tcase_add_loop_test(program, test_both_stacks, 0, 4);
	tcase_add_test(tc, test_tree);
	tcase_add_test(tc, test_tree_bystanders);
	tcase_add_loop_test(tc, test_lost_sight, 0, ARRAY_SIZE(sights));
	tcase_add_test(program, test_tree_spilled);
	tcase_add_test(program, test_tree_without_note);
	tcase_add_loop_test(program, test_tree_both, 0, ARRAY_SIZE(judged));
	tcase_add_loop_test(program, test_tree_reused, 0, ARRAY_SIZE(judged_anew));
	tcase_add_loop_test(tc, test_throttled, 0, ARRAY_SIZE(throttles));
	tcase_add_test(tc, test_throttled_intervals);
	tcase_add_test(tc, test_rename);
	tcase_add_test(tc, test_threads);
	tcase_add_test(tc, test_long_name);
	tcase_add_test(tc, test_fork_and_exec);
	tcase_add_test(tc, test_pid_used_again);
	tcase_add_test(tc, test_unknown_names);
	tcase_add_test(tc, test_dying);
	tcase_add_test(tc, test_dying_name);
	tcase_add_test(tc, test_dying_unknown);
	tcase_add_test(tc, test_dying_filtered);
	tcase_add_loop_test(tc, test_idle, 0, 2);
	tcase_add_loop_test(tc, test_idle_on_odd_cpu, 0, ARRAY_SIZE(idle_cpus));
	tcase_add_loop_test(tc, test_outside, 0, 2);
	tcase_add_loop_test(tc, test_idle_or_outside, 0, ARRAY_SIZE(ambiguous));
	tcase_add_test(tc, test_records_outside);
	tcase_add_loop_test(tc, test_filter, 0, ARRAY_SIZE(filters));
	tcase_add_test(tc, test_filter_mntns);
	tcase_add_loop_test(tc, test_chains, 0, ARRAY_SIZE(chains));
	tcase_add_loop_test(tc, test_deferred, 0, ARRAY_SIZE(deferrals));
	tcase_add_loop_test(tc, test_deferred_arrival, 0, ARRAY_SIZE(arrivals));
	tcase_add_loop_test(tc, test_deferred_limit, 0, 3);
	tcase_add_loop_test(tc, test_deferred_unawaited, 0, 2);
	tcase_add_test(tc, test_deferred_filtered);
	tcase_add_loop_test(tc, test_recorded, 0, ARRAY_SIZE(recorded));
	tcase_add_loop_test(tc, test_idle_leaf, 0, 3);
	tcase_add_test(tc, test_mmap);
	tcase_add_loop_test(tc, test_mmap_build_id, 0, ARRAY_SIZE(identified));
	tcase_add_loop_test(tc, test_fork_exec, 0, 2);
	tcase_add_loop_test(tc, test_bad_mmap, 0, ARRAY_SIZE(bad_maps));
	tcase_add_test(tc, test_counters);
	tcase_add_loop_test(tc, test_strange_ids, 0, ARRAY_SIZE(strange));
	tcase_add_loop_test(tc, test_ksymbol, 0, 2);
	tcase_add_loop_test(tc, test_ksymbol_lost, 0, 4);
	suite_add_tcase(s, tc);
	suite_add_tcase(s, program);
	return unit_main(s);
}
