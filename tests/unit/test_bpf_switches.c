// SPDX-License-Identifier: Apache-2.0
/* The counter of off-CPU intervals, without a kernel: its maps and programs, and rows from the maps. */
#include "bpf/offcpu.skel.h" /* first: its functions have variables of the names below */

#include "tests/unit/bpf_rig.h"

static const struct counter_ops *const ops = &counter_bpf_switches;

static int open_refused[POSSIBLE_CPUS]; /* -errno of perf_event_open(2) by CPU; 0: it works */
static unsigned int opened[POSSIBLE_CPUS];

int fake_event_open(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	if (attr->type != PERF_TYPE_TRACEPOINT)
		return fake_refuse(-EACCES);
	ck_assert_uint_eq(attr->config, 300);
	ck_assert_uint_eq(attr->sample_period, 1);
	ck_assert(attr->disabled);
	ck_assert_int_eq(pid, -1);
	if (open_refused[cpu])
		return fake_refuse(open_refused[cpu]);
	opened[cpu]++;
	return rig_event(0, 0, 0);
}

static void setup_switches(void)
{
	setup();
	fake_bpf_lacks = BPF_PROG_TYPE_RAW_TRACEPOINT;
	rig.request.off_cpu = (struct off_cpu){ .wanted = true, .min_ns = 1000, .max_ns = UINT64_MAX };
	rig.events.sched_switch = (struct sched_switch){
		.id = 300,
		.prev_comm = { 8, 16 },
		.prev_pid = { 24, 4 },
		.prev_state = { 32, 8 },
		.next_pid = { 56, 4 },
		.dead = 0x30,
		.preempted = 0x100,
	};
	memset(open_refused, 0, sizeof(open_refused));
	memset(opened, 0, sizeof(opened));
}

static void teardown_switches(void)
{
	if (rig.events.held_fd)
		close(rig.events.held_fd);
	teardown();
}

/* ---- opening */

START_TEST(test_open)
{
	open_counter();
	ck_assert_uint_eq(fake_nr_programs(), 1);
	ck_assert_uint_eq(fake_map("slots", 0)->max_entries, 65536);
	ck_assert_uint_eq(fake_map("counts_0", 0)->max_entries, HASH_ENTRIES);
	ck_assert_uint_eq(fake_map("counts_1", 0)->max_entries, 1);
	ck_assert_uint_eq(fake_map("stack_map", 0)->max_entries, STACK_ENTRIES);
	ck_assert_uint_eq(fake_map("stack_map", 0)->value_size, 127 * 8);
	ck_assert_uint_eq(fake_map("probe", 0)->max_entries, 1);
	ck_assert_uint_eq(fake_map("probe", 0)->value_size, 2 * 8);
	ck_assert_uint_eq(config(0).set, BPF_SET_NONE); /* it counts from start() on, but runs before */
	ck_assert_uint_eq(config(0).max_ns, UINT64_MAX);
	ck_assert_uint_eq(config(0).dead, 0x30);
	ck_assert_int_eq(ops->attach(c, 0, &err), 0);
	ck_assert_str_eq(attached_program->name, "count_switch");
	ck_assert_int_eq(ops->start(c, &err), 0);
	ck_assert_uint_eq(config(0).set, 0);
}
END_TEST

/* Neither the tracepoint's records nor the tasks can be read. */
static const struct {
	uint64_t id;
	uint32_t state_at;
	const char *said;
} unreadable[] = {
	{ 300, 40,
	  "the records of 'sched:sched_switch' are unusual here; and this kernel has no programs for raw "
	  "tracepoints (before Linux 4.17)" },
	{ 0, 32, "no tracefs; and this kernel has no programs for raw tracepoints (before Linux 4.17)" },
};

START_TEST(test_unreadable)
{
	rig.events.sched_switch.id = unreadable[_i].id;
	rig.events.sched_switch.prev_state.at = unreadable[_i].state_at;
	err_set(&rig.events.no_tracepoint, -ENOENT, "no tracefs");
	ck_assert_int_eq(ops->open(&c, &rig.env, &err), -EOPNOTSUPP);
	ck_assert_str_eq(err.msg, unreadable[_i].said);
}
END_TEST

/* From the tasks, unless the rings get the tracepoint's samples, or the program cannot read tasks. */
static const struct {
	bool both;
	enum switch_source switches;
	bool no_btf, locked, raw;
} sources[] = {
	{ false, SWITCHES_BY_TRACEPOINT, false, false, true }, { true, SWITCHES_BY_RECORDS, false, false, true },
	{ true, SWITCHES_BY_TRACEPOINT, false, false, false }, { false, SWITCHES_BY_TRACEPOINT, true, false, false },
	{ false, SWITCHES_BY_TRACEPOINT, false, true, false },
};

START_TEST(test_raw)
{
	static const char lockdown[] = "none integrity [confidentiality]\n";
	bool raw = sources[_i].raw;
	struct offcpu_bpf *skel = offcpu_bpf__open();
	struct bpf_config want = { .min_ns = 1000, .max_ns = UINT64_MAX, .by_state = 1 }, got;
	unsigned int fds;

	fake_bpf_lacks = 0;
	no_btf = sources[_i].no_btf;
	if (sources[_i].locked)
		unit_write(top, "sys/kernel/security/lockdown", lockdown, strlen(lockdown));
	rig.request.both = sources[_i].both;
	rig.request.filter.by_state = true;
	rig.request.filter.state_mask = 3;
	rig.events.switches = sources[_i].switches;
	rig.events.sched_switch.dead = 0x60;
	rig.events.sched_switch.preempted = 0x1000;
	rig.events.sched_switch.state_shift = 1;
	open_counter();
	ck_assert_int_eq(ops->attach(c, 0, &err), 0);
	ck_assert_int_eq(attached_program == NULL, raw);
	ck_assert_str_eq(fake_raw.name, raw ? "sched_switch" : "");
	ck_assert(is_program(raw ? fake_raw.program : attached_program, skel->obj,
			     raw ? "raw_count_switch" : "count_switch"));
	ck_assert_int_eq(ops->start(c, &err), 0);
	got = config(0);
	memcpy(want.outside_comm, COMM_OUTSIDE, sizeof(COMM_OUTSIDE));
	want.proves_user = got.proves_user;
	want.pass_all = sources[_i].both;
	want.kernel_skip = raw ? 2 : 0;
	want.state_mask = raw ? 3 : 6;
	want.could_run = raw ? BPF_STATE_PREEMPTED : 0x1001;
	want.dead = raw ? BPF_STATE_DEAD : 0x60;
	if (raw)
		want.switch_at = switch_offsets;
	ck_assert_mem_eq(&got, &want, sizeof(got));
	fds = unit_open_fds();
	ck_assert_int_eq(ops->stop(c, &err), 0);
	ck_assert_uint_eq(unit_open_fds(), fds - raw); /* the raw tracepoint's is closed now, the other one is held */
	ck_assert_int_eq(rig.events.held_fd > 0, !raw);
	offcpu_bpf__destroy(skel);
}
END_TEST

START_TEST(test_raw_refused)
{
	fake_bpf_lacks = 0;
	open_counter();
	fake_bpf_refuse(1, -EPERM); /* behind the call for the notes */
	ck_assert_int_eq(ops->attach(c, 0, &err), -EPERM);
	ck_assert_str_eq(err.msg, "cannot attach the BPF program to 'sched_switch': Operation not permitted");
}
END_TEST

static void want_nothing(struct bpf_config *want)
{
	(void)want;
}

static void want_limits(struct bpf_config *want)
{
	rig.request.off_cpu.min_ns = want->min_ns = 77;
	rig.request.off_cpu.max_ns = want->max_ns = 88;
}

static void want_state(struct bpf_config *want)
{
	rig.request.filter.by_state = true;
	rig.request.filter.state_mask = 3;
	want->by_state = 1;
	want->state_mask = 3;
}

/* Kernels that shift the state. */
static void want_shifted(struct bpf_config *want)
{
	want_state(want);
	rig.events.sched_switch.state_shift = 1;
	want->state_mask = 6;
	want->could_run = 0x101;
}

static void want_cpu(struct bpf_config *want)
{
	rig.request.filter.by_cpu = true;
	rig.request.filter.cpu = want->cpu = 5;
	want->by_cpu = 1;
}

static void want_user_threads(struct bpf_config *want)
{
	rig.request.filter.threads = FILTER_USER_THREADS;
	want->threads = BPF_THREADS_USER;
}

static void want_unpreempted(struct bpf_config *want)
{
	rig.events.sched_switch.preempted = 0;
	rig.events.sched_switch.dead = 0x60;
	want->could_run = 0;
	want->dead = 0x60;
}

static void (*const wants[])(struct bpf_config *want) = {
	want_nothing, want_limits, want_state, want_shifted, want_cpu, want_user_threads, want_unpreempted,
};

START_TEST(test_config)
{
	struct bpf_config want = { .min_ns = 1000, .max_ns = UINT64_MAX, .could_run = 0x100, .dead = 0x30 }, got;

	wants[_i](&want);
	open_counter();
	ck_assert_int_eq(ops->start(c, &err), 0);
	got = config(0);
	want.proves_user = got.proves_user;
	memcpy(want.outside_comm, COMM_OUTSIDE, sizeof(COMM_OUTSIDE));
	ck_assert_mem_eq(&got, &want, sizeof(got));
}
END_TEST

/* The number of threads decides, within limits. */
static const struct {
	const char *loadavg, *threads_max, *meminfo;
	uint32_t slots;
} loads[] = {
	{ "0.20 0.18 0.12 1/80 11206", NULL, NULL, 65536 },
	{ "0.20 0.18 0.12 1/16384 11206", NULL, NULL, 65536 },
	{ "0.20 0.18 0.12 1/20000 11206", NULL, NULL, 80000 },
	{ "0.20 0.18 0.12 1/20000 11206", "70000", NULL, 70000 },
	{ "0.20 0.18 0.12 1/20000 11206", "0", NULL, 80000 },
	{ "0.20 0.18 0.12 1/20000 11206", "100", NULL, 65536 },
	{ "0.20 0.18 0.12 1/20000 11206", NULL, "MemTotal: 525000 kB", 75000 },
	{ "0.20 0.18 0.12 1/20000 11206", NULL, "MemTotal: 8000 kB", 65536 },
	{ "0.20 0.18 0.12 1/20000 11206", NULL, "MemTotal: 99999999 kB", 80000 },
	{ "0.20 0.18 0.12 1/4294967295 1", NULL, NULL, UINT32_MAX / 2 },
	{ "0.20 0.18 0.12 1/4294967296 1", NULL, NULL, 65536 },
	{ "0.20 0.18 0.12 80 11206", NULL, NULL, 65536 },
	{ "0.20 0.18 0.12 1/x 11206", NULL, NULL, 65536 },
};

START_TEST(test_slots)
{
	unit_write(top, "proc/loadavg", loads[_i].loadavg, strlen(loads[_i].loadavg));
	if (loads[_i].threads_max)
		unit_write(top, "proc/sys/kernel/threads-max", loads[_i].threads_max, strlen(loads[_i].threads_max));
	if (loads[_i].meminfo)
		unit_write(top, "proc/meminfo", loads[_i].meminfo, strlen(loads[_i].meminfo));
	open_counter();
	ck_assert_uint_eq(fake_map("slots", 0)->max_entries, loads[_i].slots);
}
END_TEST

START_TEST(test_open_refused)
{
	check_open_refused(10);
}
END_TEST

/* ---- CPUs */

/* One event attaches the program to the switches of all CPUs. */
START_TEST(test_attach)
{
	const __u32 cpus[] = { 0, LAST_CPU };

	open_counter();
	places[1].notes[EVENT_SWITCHES].fd = -1;
	ck_assert_int_eq(ops->attach(c, 0, &err), 0);
	ck_assert_int_eq(ops->attach(c, 1, &err), 0);
	ck_assert(opened[0] == 1 && opened[LAST_CPU] == 0);
	ck_assert_int_eq(*(const int *)fake_map_get(fake_map("notes", 0), &cpus[0]), SWITCH_NOTES);
	ck_assert(!fake_map_has(fake_map("notes", 0), &cpus[1]));
	ck_assert_int_eq(rig.sink.first_refused.code, 0);
	rig.sink.began_ns = 1;
	ck_assert_int_eq(ops->attach(c, 1, &err), 0);
	ck_assert_int_eq(rig.sink.first_refused.code, -EACCES);
	ck_assert_int_eq(ops->detach(c, 0, &err), 0);
	ck_assert_uint_eq(fake_map("notes", 0)->nr, 0);
}
END_TEST

static const struct {
	int refused[CPUS];
	bool no_event[CPUS]; /* the CPU is offline */
	int attach, rc;
	const char *said;
} attachments[] = {
	{ { -ENODEV }, { false }, 0, 0, NULL },
	{ { 0 }, { true }, 0, 0, NULL },
	{ { -ENODEV, -ENODEV },
	  { false },
	  0,
	  -ENODEV,
	  "cannot open a perf event for 'sched:sched_switch': No such device" },
	{ { 0 }, { true, true }, 0, -ENODEV, "cannot open a perf event for 'sched:sched_switch': No such device" },
	{ { -ENODEV, -EMFILE },
	  { false },
	  0,
	  -EMFILE,
	  "cannot open a perf event for 'sched:sched_switch' on CPU 3: Too many open files" },
	{ { 0 },
	  { false },
	  -EEXIST,
	  -EEXIST,
	  "cannot attach the BPF program to 'sched:sched_switch': another one is, and before Linux 4.15 there can be "
	  "no "
	  "second" },
	{ { 0 },
	  { false },
	  -EPERM,
	  -EPERM,
	  "cannot attach the BPF program to 'sched:sched_switch': Operation not permitted" },
};

START_TEST(test_attachments)
{
	int fds[CPUS];
	size_t i;

	open_counter();
	attach_refused = attachments[_i].attach;
	for (i = 0; i < CPUS; i++) {
		open_refused[places[i].cpu] = attachments[_i].refused[i];
		fds[i] = places[i].fd;
		if (attachments[_i].no_event[i])
			places[i].fd = -1;
	}
	ck_assert_int_eq(ops->attach(c, 0, &err), attachments[_i].rc);
	for (i = 0; i < CPUS; i++)
		places[i].fd = fds[i];
	if (attachments[_i].said)
		ck_assert_str_eq(err.msg, attachments[_i].said);
	else
		ck_assert(opened[0] == 0 && opened[LAST_CPU] == 1);
}
END_TEST

START_TEST(test_attach_refused)
{
	check_attach_refused();
}
END_TEST

START_TEST(test_start_and_stop_refused)
{
	open_counter();
	fake_bpf_refuse(0, -EPERM);
	ck_assert_int_eq(ops->start(c, &err), -EPERM);
	ck_assert_str_eq(err.msg, "cannot start the BPF program: Operation not permitted");
	ck_assert_int_eq(ops->attach(c, 0, &err), 0);
	fake_bpf_refuse(0, -EPERM);
	ck_assert_int_eq(ops->stop(c, &err), -EPERM);
	ck_assert_str_eq(err.msg, "cannot stop the BPF program: Operation not permitted");
	ck_assert_int_gt(rig.events.held_fd, 0);
}
END_TEST

/* ---- rows */

static void put_charge(unsigned int set, const struct bpf_count_key *key, __u64 ns, __u64 times)
{
	fake_map_put(fake_map(set ? "counts_1" : "counts_0", 0), key, &(struct bpf_charge){ ns, times }, 0);
}

static void put_slot(__u32 tid, __u64 ns, __u64 spilled, const struct bpf_count_key *key)
{
	fake_map_put(fake_map("slots", 0), &tid, &(struct bpf_slot){ ns, spilled, *key }, 0);
}

static void put_stats(unsigned int set, unsigned int cpu, struct bpf_switch_stats stats)
{
	fake_map_put(fake_map("stats", 0), &set, &stats, cpu);
}

static const struct bpf_switch_stats sums = { 9000, 8000, 700, 60, 50, 4, 3, { 1, 2, 0, 40, 5 } };

static void fill(void)
{
	open_counter();
	ck_assert_int_eq(ops->start(c, &err), 0);
	put_stack("stack_map", 0, 3, FRAMES(0xffffffff81000010));
	put_stack("stack_map", 0, 4, FRAMES(0x1000, 0x2000));
	put_charge(0, &KEY(10, 3, 4), 5000, 2);
	put_charge(0, &KEY(11, 3, BPF_NO_STACK), 700, 1);
	put_slot(100, 90000, 0, &KEY(12, 3, 4));
	put_slot(101, 0, 0, &KEY(13, 3, 4));     /* runs */
	put_slot(102, 80000, 1, &KEY(14, 3, 4)); /* the reader has it */
	put_slot(103, 99999, 0, &KEY(15, 3, 4)); /* began after the end of the run, by its clock */
	put_stats(0, 0, sums);
}

START_TEST(test_rows)
{
	const struct rows *rows = rig.sink.sets[0].intervals;
	struct stats so_far = { .intervals_charged = 1 }, s = { 0 };
	struct row row;

	rig.request.off_cpu.open = _i;
	rig.request.counts_entries = true;
	fill();
	ops->so_far(c, &so_far);
	ck_assert_uint_eq(so_far.intervals_charged, 8001);
	ck_assert_int_eq(ops->stop(c, &err), 0);
	rig.sink.over_ns = 95000;
	end_and_take();
	ck_assert_uint_eq(rows_nr(rows), _i ? 4 : 2);
	row = row_of(rows, 10);
	ck_assert_uint_eq(row.value, 5000);
	ck_assert_uint_eq(row.times, 2);
	check_stack(&row.key.kernel, STACK_TAKEN, FRAMES(0xffffffff81000010));
	check_stack(&row.key.user, STACK_TAKEN, FRAMES(0x1000, 0x2000));
	row = row_of(rows, 11);
	ck_assert_uint_eq(row.value, 700);
	check_stack(&row.key.user, STACK_NONE, NULL);
	if (_i) {
		row = row_of(rows, 12);
		ck_assert_uint_eq(row.value, 5000);
		ck_assert_uint_eq(row.times, 1);
		check_stack(&row.key.user, STACK_TAKEN, FRAMES(0x1000, 0x2000));
		ck_assert_uint_eq(row_of(rows, 15).value, 0);
	}
	ck_assert_uint_eq(rows_nr(rig.sink.sets[0].samples), 0);

	ops->stats(c, &s);
	ck_assert_uint_eq(s.intervals_begun, 9000);
	ck_assert_uint_eq(s.intervals_charged, 8000);
	ck_assert_uint_eq(s.intervals_filtered, 700);
	ck_assert_uint_eq(s.intervals_lost, 60);
	ck_assert_uint_eq(s.intervals_passed, 50);
	ck_assert_uint_eq(s.intervals_no_slot, 4);
	ck_assert_uint_eq(s.switches_unseen, 3);
	ck_assert_uint_eq(s.intervals_open, 2);
	ck_assert_uint_eq(s.spilled_stack, 1);
	ck_assert_uint_eq(s.spilled_count, 2);
	ck_assert_uint_eq(s.spilled_tree, 40);
	ck_assert_uint_eq(s.spilled_number, 5);
	ck_assert_uint_eq(s.count_entries, 2);
	ck_assert_uint_eq(s.stack_entries, 2);
}
END_TEST

/* Threads stay off their CPUs from one interval of the report to the next, and so do their stacks. */
START_TEST(test_intervals)
{
	struct stats s = { 0 };

	rig.request.interval_ns = 1000000000;
	rig.request.off_cpu.open = true;
	fill();
	rig.sink.set = 1;
	end_and_take();
	ck_assert_uint_eq(config(0).set, 1);
	ck_assert_uint_eq(rows_nr(rig.sink.sets[0].intervals), 2);
	ck_assert_uint_eq(rows_nr(rig.sink.sets[1].intervals), 0);
	ck_assert_uint_eq(fake_map("counts_0", 0)->nr, 0);
	ck_assert_uint_eq(fake_map("stack_map", 0)->nr, 2);
	ck_assert_uint_eq(fake_map("slots", 0)->nr, 4);
	ops->stats(c, &s);
	ck_assert_uint_eq(s.intervals_open, 0);

	put_charge(1, &KEY(20, 3, 4), 6, 1);
	rig.sink.ended = 1;
	rig.sink.over_ns = 95000;
	ck_assert_int_eq(ops->stop(c, &err), 0);
	end_and_take();
	ck_assert_uint_eq(row_of(rig.sink.sets[1].intervals, 20).value, 6);
	ck_assert_uint_eq(row_of(rig.sink.sets[1].intervals, 12).value, 5000);
	ck_assert_uint_eq(rows_nr(rig.sink.sets[0].intervals), 2);
}
END_TEST

/* At the end of the run (0), and of an interval (1). */
START_TEST(test_end_refused)
{
	rig.request.off_cpu.open = true;
	check_end_refused(fill, (unsigned int)_i, 10);
}
END_TEST

/* An interval that ended when there was no room to count it. */
START_TEST(test_charge)
{
	const struct bpf_switch_note n = { .kind = BPF_SWITCH_CHARGE,
					   .ns = 44,
					   .charge = { .set = 0, .key = KEY(10, 3, 4) } };
	const struct rows *rows = rig.sink.sets[1].intervals;
	struct switch_note note;
	struct row row;

	fill();
	ck_assert_int_eq(ops->switch_note(&n, sizeof(n), &note), 0);
	ck_assert_int_eq(ops->charge(c, &note, rig.sink.sets[1].intervals), 0);
	ck_assert_int_eq(ops->charge(c, &note, rig.sink.sets[1].intervals), 0);
	row = row_of(rows, 10);
	ck_assert_uint_eq(row.value, 88);
	ck_assert_uint_eq(row.times, 2);
	check_stack(&row.key.user, STACK_TAKEN, FRAMES(0x1000, 0x2000));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("bpf_switches");
	TCase *t = tcase_create("switches");

	tcase_add_checked_fixture(t, setup_switches, teardown_switches);
	tcase_add_test(t, test_open);
	tcase_add_loop_test(t, test_unreadable, 0, ARRAY_SIZE(unreadable));
	tcase_add_loop_test(t, test_raw, 0, ARRAY_SIZE(sources));
	tcase_add_test(t, test_raw_refused);
	tcase_add_loop_test(t, test_config, 0, ARRAY_SIZE(wants));
	tcase_add_loop_test(t, test_slots, 0, ARRAY_SIZE(loads));
	tcase_add_test(t, test_open_refused);
	tcase_add_test(t, test_attach);
	tcase_add_loop_test(t, test_attachments, 0, ARRAY_SIZE(attachments));
	tcase_add_test(t, test_attach_refused);
	tcase_add_test(t, test_start_and_stop_refused);
	tcase_add_loop_test(t, test_rows, 0, 2);
	tcase_add_test(t, test_intervals);
	tcase_add_loop_test(t, test_end_refused, 0, 2);
	tcase_add_test(t, test_charge);
	suite_add_tcase(s, t);
	return unit_main(s);
}
