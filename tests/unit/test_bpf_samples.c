// SPDX-License-Identifier: Apache-2.0
/* The counter of samples, without a kernel: its maps and programs, their configuration, and rows from the maps. */
#include "bpf/profile.skel.h" /* first: its functions have variables of the names below */

#include "core/host/causes.h"
#include "tests/unit/bpf_rig.h"

static const struct counter_ops *const ops = &counter_bpf;

int fake_event_open(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	(void)attr;
	(void)pid;
	(void)cpu;
	return fake_refuse(-EACCES);
}

static const __u32 zero;

/* The program that dispatch() calls. */
static const struct fake_program *dispatched(void)
{
	int fd;

	memcpy(&fd, fake_map_get(fake_map("programs", 0), &zero), sizeof(fd));
	return fake_program(fd);
}

static void put_count(unsigned int set, size_t nth, const struct bpf_count_key *key, __u64 samples)
{
	fake_map_put(fake_map(set ? "counts_1" : "counts_0", nth), key, &samples, 0);
}

static void put_stats(unsigned int set, unsigned int cpu, struct bpf_stats stats)
{
	fake_map_put(fake_map("stats", 0), &set, &stats, cpu);
}

/* ---- opening */

START_TEST(test_open)
{
	open_counter();
	ck_assert_uint_eq(fake_nr_programs(), 2);
	ck_assert_str_eq(dispatched()->name, "count_sample");
	ck_assert_uint_eq(fake_map("counts_0", 0)->max_entries, 1024);
	ck_assert_uint_eq(fake_map("counts_1", 0)->max_entries, 1);
	ck_assert_uint_eq(fake_map("stack_map_0", 0)->max_entries, 1024);
	ck_assert_uint_eq(fake_map("stack_map_0", 0)->value_size, 126 * 8);
	ck_assert_uint_eq(fake_map("stack_map_1", 0)->max_entries, 1);
	ck_assert_uint_eq(fake_map("stack_map_1", 0)->value_size, 126 * 8);
	ck_assert_uint_eq(fake_map("short_map_0", 0)->max_entries, 2048);
	ck_assert_uint_eq(fake_map("short_map_0", 0)->value_size, 32 * 8);
	ck_assert_uint_eq(fake_map("short_map_1", 0)->max_entries, 1);
	ck_assert_uint_eq(fake_map("probe", 0)->max_entries, 1);
	ck_assert_uint_eq(fake_map("probe", 0)->value_size, 126 * 8);
	ck_assert_uint_eq(fake_map("targets", 0)->max_entries, 1);
	ck_assert_uint_eq(fake_map("notes", 0)->max_entries, POSSIBLE_CPUS);
	ck_assert_uint_eq(fake_map("first", 0)->max_entries, POSSIBLE_CPUS);
	ck_assert_uint_gt(fake_map("seen", 0)->max_entries, 1);
	ck_assert_uint_eq(fake_map("proved", 0)->max_entries, 1);
	ck_assert_uint_eq(fake_nr_maps("cgroup") + fake_nr_maps("cgroup_ids") + fake_nr_maps("mntns_ids"), 0);
}
END_TEST

/* Two sets for reports at intervals; one program, because the tables do not grow. */
START_TEST(test_open_intervals)
{
	rig.request.interval_ns = 1000000000;
	open_counter();
	ck_assert_uint_eq(fake_nr_programs(), 1);
	ck_assert(!fake_map_has(fake_map("programs", 0), &zero));
	ck_assert_int_eq(ops->attach(c, 1, &err), 0);
	ck_assert_str_eq(attached_program->name, "count_sample");
	ck_assert_uint_gt(fake_map("counts_0", 0)->max_entries, 1);
	ck_assert_uint_eq(fake_map("counts_1", 0)->max_entries, fake_map("counts_0", 0)->max_entries);
	ck_assert_uint_eq(fake_map("stack_map_1", 0)->max_entries, fake_map("stack_map_0", 0)->max_entries);
	ck_assert_uint_eq(fake_map("short_map_1", 0)->max_entries, fake_map("short_map_0", 0)->max_entries);
}
END_TEST

/* So few addresses that all stacks are short: there is no table for short ones. */
START_TEST(test_open_shallow)
{
	rig.request.asked = 10;
	open_counter();
	ck_assert_uint_eq(fake_map("stack_map_0", 0)->value_size, 11 * 8);
	ck_assert_uint_eq(fake_map("short_map_0", 0)->max_entries, 1);
	ck_assert_uint_eq(fake_map("short_map_0", 0)->value_size, 8);
	ck_assert_uint_eq(config(0).has_shorts, 0);
}
END_TEST

static pid_t ids[] = { 5, 77 };

static void want_nothing(struct request *r, struct bpf_config *want)
{
	(void)r;
	(void)want;
}

static void want_pids(struct request *r, struct bpf_config *want)
{
	r->filter.ids = ids;
	r->filter.nr = 2;
	want->by = BPF_BY_PID;
}

static void want_tids(struct request *r, struct bpf_config *want)
{
	want_pids(r, want);
	r->filter.by_tid = true;
	want->by = BPF_BY_TID;
}

static void want_tree(struct request *r, struct bpf_config *want)
{
	static char tree; /* it is not used before a sample is judged */

	r->filter.tree = (struct descendants *)&tree;
	r->filter.idle = true;
	want->by = BPF_BY_TREE;
}

static void want_idle(struct request *r, struct bpf_config *want)
{
	r->filter.idle = true;
	want->idle = 1;
}

static void want_kernel(struct request *r, struct bpf_config *want)
{
	r->filter.no_user = true;
	want->no_user = 1;
}

static void want_user(struct request *r, struct bpf_config *want)
{
	r->filter.no_kernel = true;
	want->no_kernel = 1;
}

static void want_comm(struct request *r, struct bpf_config *want)
{
	r->filter.comm = "a-name-of-16-byt";
	want->by_comm = 1;
	memcpy(want->comm, "a-name-of-16-by", 15);
}

static void want_both(struct request *r, struct bpf_config *want)
{
	r->both = true;
	want->pass_all = 1;
	want->set = BPF_SET_NONE; /* until start() */
}

static void want_rules(struct request *r, struct bpf_config *want)
{
	r->unwinds = true;
	want->unwind = BPF_UNWIND_ALL;
}

static void want_proofs(struct request *r, struct bpf_config *want)
{
	r->unwinds = r->proves = true;
	want->unwind = BPF_UNWIND_UNPROVED;
}

static void want_cgroup(struct request *r, struct bpf_config *want)
{
	r->filter.cgroup = any_cgroup;
	group_fd = 77;
	want->by_cgroup = 1;
}

static void want_mntns(struct request *r, struct bpf_config *want)
{
	r->filter.mntns = 4026531841;
	want->mntns = 4026531841;
	want->mntns_at = mntns_offsets;
}

/* The maps of other programs that a filter looks into. */
static void want_maps(struct request *r, struct bpf_config *want)
{
	r->filter.cgroup_ids = r->filter.mntns_ids = any_pinned;
	group_fd = bpf_map_create(BPF_MAP_TYPE_HASH, "pinned", 8, 8, 10, NULL);
	want->by_cgroup_ids = want->by_mntns_ids = 1;
	want->mntns_at = mntns_offsets;
}

static void want_inner_ids(struct request *r, struct bpf_config *want)
{
	(void)r;
	in_pidns = true;
	want->pidns = inner_pidns.ino;
	want->pidns_dev = inner_pidns.dev;
	want->pidns_at = pidns_offsets;
}

/* Without the offsets, user space identifies some tasks. */
static void want_inner_ids_no_btf(struct request *r, struct bpf_config *want)
{
	want_inner_ids(r, want);
	no_btf = true;
	want->pidns_at = (struct bpf_pidns_offsets){ 0 };
}

static const struct {
	void (*want)(struct request *r, struct bpf_config *want);
	const char *program;
} configs[] = {
	{ want_nothing, "count_sample" },        { want_pids, "count_sample" },
	{ want_tids, "count_sample" },           { want_tree, "count_sample" },
	{ want_idle, "count_sample" },           { want_kernel, "count_sample" },
	{ want_user, "count_sample" },           { want_comm, "count_sample" },
	{ want_both, "count_sample" },           { want_rules, "count_sample" },
	{ want_proofs, "count_sample" },         { want_cgroup, "count_sample_in_cgroup" },
	{ want_mntns, "count_sample_in_mntns" }, { want_maps, "count_sample_in_both" },
	{ want_inner_ids, "count_sample_here" }, { want_inner_ids_no_btf, "count_sample_here" },
};

START_TEST(test_config)
{
	const struct filter *f = &rig.request.filter;
	struct bpf_config want = { .has_shorts = 1 }, got;
	struct profile_bpf *skel = profile_bpf__open();

	configs[_i].want(&rig.request, &want);
	open_counter();
	ck_assert(is_program(dispatched(), skel->obj, configs[_i].program));
	profile_bpf__destroy(skel);
	got = config(0);
	want.proves_user = kernel_withholds_registers();
	memcpy(want.outside_comm, COMM_OUTSIDE, sizeof(COMM_OUTSIDE));
	ck_assert_mem_eq(&got, &want, sizeof(got));
	ck_assert_uint_eq(fake_map("targets", 0)->nr, f->nr);
	if (f->nr) {
		ck_assert_uint_eq(*(const __u32 *)fake_map_get(fake_map("targets", 0), &(const __u32){ 5 }), 1);
		ck_assert_uint_eq(*(const __u32 *)fake_map_get(fake_map("targets", 0), &(const __u32){ 77 }), 1);
		ck_assert_uint_eq(fake_map("targets", 0)->max_entries, 2);
	}
	if (f->no_user)
		ck_assert_uint_eq(fake_map("seen", 0)->max_entries, 1);
	if (rig.request.proves)
		ck_assert_uint_gt(fake_map("proved", 0)->max_entries, 1);
	ck_assert_uint_eq(fake_nr_maps("cgroup"), f->cgroup || f->cgroup_ids);
	ck_assert_uint_eq(fake_nr_maps("cgroup_ids"), f->cgroup != NULL);
	ck_assert_uint_eq(fake_nr_maps("mntns_ids"), f->mntns != 0);
	if (f->cgroup)
		ck_assert_int_eq(*(const int *)fake_map_get(fake_map("cgroup", 0), &zero), 77);
	if (rig.request.both) {
		ck_assert_int_eq(ops->start(c, &err), 0);
		ck_assert_uint_eq(config(0).set, 0);
	}
	if (f->cgroup_ids)
		close(group_fd);
}
END_TEST

/* The program calls bpf_probe_read() only if it needs it, and may. */
static const struct {
	bool proves, cannot, by_mntns, reads;
} readers[] = {
	{ false, false, false, false },
	{ true, false, false, true },
	{ true, true, false, false },
	{ false, false, true, true },
};

START_TEST(test_reading)
{
	struct request *r = &rig.request;

	r->unwinds = r->proves = readers[_i].proves;
	r->filter.mntns = readers[_i].by_mntns ? 4026531841 : 0;
	fake_bpf_cannot_read = readers[_i].cannot;
	open_counter();
	ck_assert_int_eq(dispatched()->reads, readers[_i].reads);
}
END_TEST

/* Without BTF, or below lockdown, no program can see the mount namespace of a task. */
START_TEST(test_mntns_refused)
{
	static const char lockdown[] = "none integrity [confidentiality]\n";

	rig.request.filter.mntns = 4026531841;
	no_btf = !_i;
	if (_i)
		unit_write(top, "sys/kernel/security/lockdown", lockdown, strlen(lockdown));
	ck_assert_int_eq(ops->open(&c, &rig.env, &err), _i ? -EPERM : -ENOENT);
	ck_assert_msg(strstr(err.msg, _i ? "the BPF program may not read the mount namespaces of tasks" : "no BTF"),
		      "%s", err.msg);
	ck_assert_uint_eq(fake_nr_programs(), 0);
}
END_TEST

START_TEST(test_open_refused)
{
	want_pids(&rig.request, &(struct bpf_config){ 0 });
	check_open_refused(20);
}
END_TEST

/* ---- CPUs */

START_TEST(test_attach)
{
	const __u32 cpu = LAST_CPU;

	open_counter();
	places[0].samples = false;
	ck_assert_int_eq(ops->attach(c, 0, &err), 0);
	ck_assert_int_eq(attached_fd, -1);
	ck_assert_uint_eq(fake_map("notes", 0)->nr, 0);
	ck_assert_int_eq(ops->attach(c, 1, &err), 0);
	ck_assert_int_eq(attached_fd, places[1].fd);
	ck_assert_str_eq(attached_program->name, "dispatch");
	ck_assert_int_eq(*(const int *)fake_map_get(fake_map("notes", 0), &cpu), SAMPLE_NOTES + LAST_CPU);
	ck_assert_int_eq(rig.sink.first_refused.code, 0); /* this is not the time to watch */

	ck_assert_int_eq(ops->detach(c, 0, &err), 0);
	ck_assert_uint_eq(fake_map("notes", 0)->nr, 1);
	ck_assert_int_eq(ops->detach(c, 1, &err), 0);
	ck_assert_uint_eq(fake_map("notes", 0)->nr, 0);
}
END_TEST

/* A CPU that comes online gets an event for first samples, too; this kernel refuses it. */
START_TEST(test_attach_late)
{
	open_counter();
	rig.sink.began_ns = 1;
	ck_assert_int_eq(ops->attach(c, 1, &err), 0);
	ck_assert_int_eq(rig.sink.first_refused.code, -EACCES);
	ck_assert_msg(strstr(rig.sink.first_refused.msg, "cannot open the perf events for first samples"), "%s",
		      rig.sink.first_refused.msg);
	ck_assert_int_eq(ops->first->fd(c), -1);
}
END_TEST

/* Nobody needs first samples if there are no user stacks. */
START_TEST(test_watch_unwanted)
{
	want_kernel(&rig.request, &(struct bpf_config){ 0 });
	open_counter();
	ops->first->watch(c);
	ck_assert_int_eq(rig.sink.first_refused.code, 0);
	ck_assert_int_eq(ops->first->fd(c), -1);
}
END_TEST

START_TEST(test_attach_refused)
{
	check_attach_refused();
	attach_refused = -EEXIST;
	ck_assert_int_eq(ops->attach(c, 1, &err), -EEXIST);
	ck_assert_str_eq(err.msg, "cannot attach the BPF program to the perf event of CPU 3: File exists");
}
END_TEST

/* ---- rows */

static struct row sample_row(unsigned int set, pid_t pid)
{
	return row_of(rig.sink.sets[set].samples, pid);
}

START_TEST(test_rows)
{
	const uint64_t *kernel = FRAMES(0xffffffff81000010, 0xffffffff81000020), *user = FRAMES(0x1000, 0x2000, 0x3000);
	const struct bpf_count_key keys[] = {
		KEY(10, 0, 4),
		KEY(11, BPF_NO_STACK, BPF_SHORT_STACK | 9),
		KEY(12, BPF_NO_STACK, 5),
	};
	struct row row;
	size_t i;

	open_counter();
	put_stack("stack_map_0", 0, 0, kernel);
	put_stack("stack_map_0", 0, 4, FRAMES((uint64_t)PERF_CONTEXT_USER, 0x1000, 0x2000, 0x3000));
	put_stack("short_map_0", 0, 9, FRAMES(0x7000));
	for (i = 0; i < ARRAY_SIZE(keys); i++)
		put_count(0, 0, &keys[i], 100 + i);
	end_and_take();
	ck_assert_uint_eq(config(0).set, BPF_SET_NONE);
	ck_assert_uint_eq(rows_nr(rig.sink.sets[0].samples), 3);
	ck_assert_uint_eq(rows_nr(rig.sink.sets[1].samples), 0);
	row = sample_row(0, 10);
	ck_assert_uint_eq(row.value, 100);
	ck_assert_uint_eq(row.times, 100);
	ck_assert_str_eq(row.key.comm, "work");
	check_stack(&row.key.kernel, STACK_TAKEN, kernel);
	check_stack(&row.key.user, STACK_TAKEN, user);
	row = sample_row(0, 11);
	ck_assert_uint_eq(row.value, 101);
	check_stack(&row.key.kernel, STACK_NONE, NULL);
	check_stack(&row.key.user, STACK_TAKEN, FRAMES(0x7000));
	row = sample_row(0, 12); /* its stack is not in the map any more */
	check_stack(&row.key.user, STACK_MISSED, NULL);
}
END_TEST

/* The limit applies to both stacks together, the kernel's first, but not to proven user stacks. */
START_TEST(test_limit)
{
	const struct bpf_count_key key = KEY(10, 0, 1);
	struct row row;

	rig.request.asked = 4;
	rig.request.unwinds = rig.request.proves = _i;
	open_counter();
	put_stack("stack_map_0", 0, 0, FRAMES(0xffffffff81000010, 0xffffffff81000020));
	put_stack("stack_map_0", 0, 1, FRAMES(0x1000, 0x2000, 0x3000));
	put_count(0, 0, &key, 1);
	end_and_take();
	row = sample_row(0, 10);
	ck_assert_uint_eq(row.key.kernel.nr, 2);
	ck_assert_uint_eq(row.key.user.nr, _i ? 3 : 1);
	ck_assert_int_eq(row.key.user.truncated, !_i);
}
END_TEST

/* A stack that is proven with the leaf's caller gets that caller behind its leaf. */
START_TEST(test_leaf)
{
	const struct bpf_proved_key proved = { .pid = 10, .user_stack = 3, .top = 0x1234 };
	const struct sample_note note = { .pid = 10, .user_stack = 3, .top = 0x1234, .tables = 0 };
	struct sample_note other = note;
	struct bpf_count_key key = KEY(10, BPF_NO_STACK, 0);
	struct row row;

	rig.request.unwinds = rig.request.proves = true;
	open_counter();
	other.tables = 1;
	ck_assert_int_eq((int)ops->unwound(c, &other, PROOF_LEAF), (int)PROOF_UNUSED);
	other = note;
	other.set = 1;
	ck_assert_int_eq((int)ops->unwound(c, &other, PROOF_LEAF), (int)PROOF_UNUSED);
	ck_assert_uint_eq(fake_map("proved", 0)->nr, 0);
	ck_assert_int_ne((int)ops->unwound(c, &note, PROOF_LEAF), (int)PROOF_UNUSED);
	memcpy(&key.user_stack, fake_map_get(fake_map("proved", 0), &proved), sizeof(key.user_stack));
	ck_assert_int_ge(key.user_stack, BPF_LEAF_STACKS);
	put_stack("stack_map_0", 0, 3, FRAMES(0x1000, 0x2000));
	put_count(0, 0, &key, 8);
	end_and_take();
	row = sample_row(0, 10);
	check_stack(&row.key.user, STACK_TAKEN, FRAMES(0x1000, 0x1234, 0x2000));
	ck_assert_uint_eq(ops->withdraw(c, 11, false), 0);
	ck_assert_uint_eq(ops->withdraw(c, 10, false), 1);
	ck_assert(!fake_map_has(fake_map("proved", 0), &proved));
}
END_TEST

/* No proven stack has this number. */
START_TEST(test_leaf_unknown)
{
	const struct bpf_count_key key = KEY(10, BPF_NO_STACK, BPF_LEAF_STACKS + 5);

	rig.request.unwinds = rig.request.proves = true;
	open_counter();
	put_count(0, 0, &key, 1);
	ck_assert_int_eq(ops->end(c, &err), 0);
	ck_assert_int_eq(ops->take(c, &err), -EBADMSG);
	ck_assert_str_eq(err.msg, "cannot read the BPF maps: Bad message");
}
END_TEST

/* ---- statistics and intervals */

static const struct bpf_stats sums[CPUS] = {
	{ 1000, 400, 30, { 1, 2, 3, 4, 5 }, 60, 70, 80 },
	{ 2000, 500, 40, { 10, 20, 30, 40, 50 }, 600, 700, 800 },
};

static void put_sums(unsigned int set)
{
	put_stats(set, 0, sums[0]);
	put_stats(set, LAST_CPU, sums[1]);
}

static void check_sums(const struct stats *s)
{
	ck_assert_uint_eq(s->taken, 3000);
	ck_assert_uint_eq(s->counted_kernel, 900);
	ck_assert_uint_eq(s->filtered, 70);
	ck_assert_uint_eq(s->spilled_stack, 11);
	ck_assert_uint_eq(s->spilled_count, 22);
	ck_assert_uint_eq(s->spilled_unwind, 33);
	ck_assert_uint_eq(s->spilled_tree, 44);
	ck_assert_uint_eq(s->spilled_number, 55);
	ck_assert_uint_eq(s->passed, 165);
	ck_assert_uint_eq(s->idle, 660);
	ck_assert_uint_eq(s->outside, 770);
	ck_assert_uint_eq(s->proved, 880);
}

START_TEST(test_stats)
{
	const struct bpf_count_key keys[] = { KEY(10, 2, 3), KEY(11, 2, BPF_SHORT_STACK | 1) };
	struct stats before = { .taken = 7 }, so_far = { .counted_kernel = 5 }, s = { 0 };

	rig.request.counts_entries = _i;
	open_counter();
	put_stack("stack_map_0", 0, 2, FRAMES(0xffffffff81000010));
	put_stack("stack_map_0", 0, 3, FRAMES(0x1000));
	put_stack("short_map_0", 0, 1, FRAMES(0x2000));
	put_count(0, 0, &keys[0], 1);
	put_count(0, 0, &keys[1], 1);
	put_sums(0);
	ops->so_far(c, &so_far);
	ck_assert_uint_eq(so_far.counted_kernel, 905);
	end_and_take();
	ops->stats(c, &s);
	check_sums(&s);
	ck_assert_uint_eq(s.count_entries, 2);
	ck_assert_uint_eq(s.stack_entries, _i ? 3 : 0);
	ops->stats(c, &before);
	ck_assert_uint_eq(before.taken, 3007);
	ops->stats(NULL, &before); /* a counter that could not be opened has none */
	ck_assert_uint_eq(before.taken, 3007);
}
END_TEST

/* A set that is read is empty afterwards, so that the interval after the next can use it. */
START_TEST(test_intervals)
{
	const struct bpf_count_key keys[] = { KEY(10, 2, BPF_SHORT_STACK | 1), KEY(11, 2, 3) };
	struct stats s = { 0 };

	rig.request.interval_ns = 1000000000;
	open_counter();
	put_stack("stack_map_0", 0, 2, FRAMES(0xffffffff81000010));
	put_stack("short_map_0", 0, 1, FRAMES(0x2000));
	put_count(0, 0, &keys[0], 6);
	put_count(0, 0, &KEY(20, BPF_NO_STACK, BPF_NO_STACK), 1);
	put_sums(0);
	rig.sink.set = 1;
	ck_assert_int_eq(ops->end(c, &err), 0);
	ck_assert_uint_eq(config(0).set, 1);
	put_stack("stack_map_1", 0, 2, FRAMES(0xffffffff81000020));
	put_count(1, 0, &keys[1], 9);
	ck_assert_int_eq(ops->take(c, &err), 0);
	ck_assert_uint_eq(sample_row(0, 10).value, 6);
	ck_assert_uint_eq(rows_nr(rig.sink.sets[1].samples), 0);
	ck_assert_uint_eq(fake_map("counts_0", 0)->nr, 0);
	ck_assert_uint_eq(fake_map("stack_map_0", 0)->nr, 0);
	ck_assert_uint_eq(fake_map("short_map_0", 0)->nr, 0);
	ck_assert_uint_eq(((const struct bpf_stats *)fake_map_get(fake_map("stats", 0), &zero))->taken, 0);
	ck_assert_uint_eq(fake_map("counts_1", 0)->nr, 1);
	ck_assert_uint_eq(fake_map("stack_map_1", 0)->nr, 1);

	rig.sink.ended = 1; /* and the run */
	end_and_take();
	ck_assert_uint_eq(config(0).set, BPF_SET_NONE);
	ck_assert_uint_eq(sample_row(1, 11).value, 9);
	ck_assert_uint_eq(fake_map("counts_1", 0)->nr, 1); /* the run is over */
	ops->stats(c, &s);
	ck_assert_uint_eq(s.taken, 0);
}
END_TEST

/* The proven stacks of a set go with its stacks. */
START_TEST(test_interval_proofs)
{
	const struct bpf_proved_key key = { .pid = 10, .user_stack = 3 };
	const struct sample_note note = { .pid = 10, .user_stack = 3 };

	rig.request.interval_ns = 1000000000;
	rig.request.unwinds = rig.request.proves = true;
	open_counter();
	ck_assert_int_eq((int)ops->unwound(c, &note, PROOF_CHAIN), (int)PROOF_ADMITTED);
	ck_assert(fake_map_has(fake_map("proved", 0), &key));
	rig.sink.set = 1;
	end_and_take();
	ck_assert(!fake_map_has(fake_map("proved", 0), &key));
}
END_TEST

/* Before 4.16 the kernel does not list the stacks of a map. */
START_TEST(test_interval_old)
{
	rig.request.interval_ns = 1000000000;
	rig.request.counts_entries = true;
	open_counter();
	fake_bpf_hides_stacks = true;
	put_stack("stack_map_0", 0, 2, FRAMES(0xffffffff81000010));
	put_stack("short_map_0", 0, 1, FRAMES(0x2000));
	rig.sink.set = 1;
	end_and_take();
	ck_assert_uint_eq(fake_map("stack_map_0", 0)->nr, 0);
	ck_assert_uint_eq(fake_map("short_map_0", 0)->nr, 0);
}
END_TEST

/* A run of the program that has begun may still count into the set that ends. */
static unsigned int looks;

static void land(void)
{
	const struct bpf_flight landed = { 5, 5, 0 };

	if (++looks == 10)
		fake_map_put(fake_map("flight", 0), &zero, &landed, LAST_CPU);
}

START_TEST(test_in_flight)
{
	const struct bpf_flight in_flight = { 5, 4, 0 };

	open_counter();
	fake_map_put(fake_map("flight", 0), &zero, &in_flight, LAST_CPU);
	looks = 0;
	fake_bpf_meanwhile = land;
	ck_assert_int_eq(ops->end(c, &err), 0);
	fake_bpf_meanwhile = NULL;
	ck_assert_uint_ge(looks, 10);
	ck_assert_uint_ge(pauses, 8);
}
END_TEST

/* A run that never ends: its CPU may have stopped. */
START_TEST(test_never_lands)
{
	const struct bpf_flight in_flight = { 5, 4, 0 };

	open_counter();
	fake_map_put(fake_map("flight", 0), &zero, &in_flight, 0);
	ck_assert_int_eq(ops->end(c, &err), -ETIMEDOUT);
	ck_assert_str_eq(err.msg, "cannot switch the BPF program to another set of tables: Connection timed out");
	ck_assert_uint_eq(pauses, 20000); /* a second */
}
END_TEST

/* A run that began after the change does not matter: it counts into the new set. */
static void enter_again(void)
{
	struct bpf_flight f = { 6 + looks, 5 + looks, 0 };

	looks++;
	fake_map_put(fake_map("flight", 0), &zero, &f, 0);
}

START_TEST(test_in_flight_again)
{
	open_counter();
	looks = 0;
	fake_bpf_meanwhile = enter_again;
	ck_assert_int_eq(ops->end(c, &err), 0);
	fake_bpf_meanwhile = NULL;
	ck_assert_uint_le(looks, 3);
}
END_TEST

START_TEST(test_stop)
{
	open_counter();
	ck_assert_uint_eq(config(0).set, 0);
	ck_assert_int_eq(ops->stop(c, &err), 0);
	ck_assert_uint_eq(config(0).set, BPF_SET_NONE);
	fake_bpf_refuse(0, -EPERM);
	ck_assert_int_eq(ops->stop(c, &err), -EPERM);
	ck_assert_str_eq(err.msg, "cannot stop the BPF program: Operation not permitted");
}
END_TEST

/* Prepare a run with two sets, all kinds of stacks, and statistics. */
static void fill(void)
{
	open_counter();
	put_stack("stack_map_0", 0, 2, FRAMES(0xffffffff81000010));
	put_stack("short_map_0", 0, 1, FRAMES(0x2000));
	put_count(0, 0, &KEY(10, 2, BPF_SHORT_STACK | 1), 6);
	put_count(0, 0, &KEY(11, 2, BPF_NO_STACK), 7);
	put_sums(0);
}

START_TEST(test_end_refused)
{
	check_end_refused(fill, 1, 15);
}
END_TEST

/* ---- tables that grow */

static void spill(__u64 stack, __u64 count)
{
	put_stats(0, 0, (struct bpf_stats){ .spilled = { .stack = stack, .count = count, .unwind = 1000 } });
}

static const struct {
	__u64 stack, count;
	bool grows;
} spills[] = {
	{ 31, 0, false }, { 0, 31, false }, { 32, 0, true }, { 0, 32, true }, { 16, 16, true },
};

static const char *const shared[] = { "targets", "stats", "flight", "notes", "seen", "first", "probe", "programs" };
static const char *const doubled[] = { "config",      "counts_0",    "counts_1",    "proved",
				       "stack_map_0", "stack_map_1", "short_map_0", "short_map_1" };

START_TEST(test_grow)
{
	const struct fake_program *before;
	size_t i;

	open_counter();
	before = dispatched();
	spill(spills[_i].stack, spills[_i].count);
	ops->tend(c);
	ck_assert_uint_eq(fake_nr_programs(), spills[_i].grows ? 3 : 2);
	ck_assert_int_eq(dispatched() != before, spills[_i].grows);
	if (!spills[_i].grows)
		return;
	ck_assert_str_eq(dispatched()->name, "count_sample");
	for (i = 0; i < ARRAY_SIZE(shared); i++)
		ck_assert_msg(fake_nr_maps(shared[i]) == 1, "%s is not shared", shared[i]);
	for (i = 0; i < ARRAY_SIZE(doubled); i++)
		ck_assert_msg(fake_nr_maps(doubled[i]) == 2, "%s is shared", doubled[i]);
	ck_assert_uint_eq(fake_map("counts_0", 1)->max_entries, HASH_ENTRIES);
	ck_assert_uint_eq(fake_map("stack_map_0", 1)->max_entries, STACK_ENTRIES / 2);
	ck_assert_uint_eq(fake_map("stack_map_0", 1)->value_size, 126 * 8);
	ck_assert_uint_eq(config(0).generation, 0);
	ck_assert_uint_eq(config(1).generation, 1);
	ck_assert_uint_eq(config(1).set, 0);
	ck_assert_uint_eq(config(1).has_shorts, 1);
	ops->tend(c); /* once is enough */
	ck_assert_uint_eq(fake_nr_programs(), 3);
}
END_TEST

/* On a host with little memory the tables grow less. */
START_TEST(test_grow_little)
{
	static const char memory[] = "MemTotal:          40000 kB\n";

	unit_write(top, "proc/meminfo", memory, strlen(memory));
	open_counter();
	spill(32, 0);
	ops->tend(c);
	ck_assert_uint_eq(fake_map("counts_0", 1)->max_entries, HASH_ENTRIES / 8);
	ck_assert_uint_eq(fake_map("stack_map_0", 1)->max_entries, STACK_ENTRIES / 2 / 8);
}
END_TEST

/* Numbers of stacks that were proven are valid only in their own tables. */
START_TEST(test_grown_proofs)
{
	struct sample_note note = { .pid = 10, .user_stack = 3, .top = 0x1234 };
	struct bpf_count_key first = KEY(10, BPF_NO_STACK, 0), second = KEY(11, BPF_NO_STACK, 0);
	struct bpf_proved_key key = { .pid = 10, .user_stack = 3, .top = 0x1234 };
	struct row row;

	rig.request.unwinds = rig.request.proves = true;
	open_counter();
	ck_assert_int_eq((int)ops->unwound(c, &note, PROOF_LEAF), (int)PROOF_ADMITTED);
	memcpy(&first.user_stack, fake_map_get(fake_map("proved", 0), &key), sizeof(first.user_stack));
	put_stack("stack_map_0", 0, 3, FRAMES(0x1000, 0x2000));
	put_count(0, 0, &first, 1);
	spill(32, 0);
	ops->tend(c);
	ck_assert_int_eq((int)ops->unwound(c, &note, PROOF_LEAF), (int)PROOF_UNUSED);
	note.pid = 11;
	note.tables = 1;
	ck_assert_int_eq((int)ops->unwound(c, &note, PROOF_LEAF), (int)PROOF_ADMITTED);
	key.pid = 11;
	memcpy(&second.user_stack, fake_map_get(fake_map("proved", 1), &key), sizeof(second.user_stack));
	put_stack("stack_map_0", 1, 3, FRAMES(0x5000, 0x6000));
	put_count(0, 1, &second, 1);
	end_and_take();
	ck_assert_uint_eq(config(1).generation, 1);
	row = sample_row(0, 10);
	check_stack(&row.key.user, STACK_TAKEN, FRAMES(0x1000, 0x1234, 0x2000));
	row = sample_row(0, 11);
	check_stack(&row.key.user, STACK_TAKEN, FRAMES(0x5000, 0x1234, 0x6000));
}
END_TEST

static unsigned int seen_pids[4];

static bool see_pid(void *ctx, pid_t pid)
{
	seen_pids[pid - 10]++;
	return pid != *(const pid_t *)ctx;
}

/* The first tables may have counts from before, and from runs that had begun. */
START_TEST(test_grown_rows)
{
	struct row first, second;
	pid_t last = 0;

	open_counter();
	spill(100, 0);
	put_stack("stack_map_0", 0, 7, FRAMES(0x1000));
	put_count(0, 0, &KEY(10, BPF_NO_STACK, 7), 3);
	ops->tend(c);
	put_stack("stack_map_0", 1, 7, FRAMES(0x2000));
	put_count(0, 1, &KEY(11, BPF_NO_STACK, 7), 4);
	put_count(0, 1, &KEY(12, BPF_NO_STACK, BPF_NO_STACK), 5);

	ck_assert_int_eq(ops->pids(c, see_pid, &last), 0);
	ck_assert(seen_pids[0] == 1 && seen_pids[1] == 1 && seen_pids[2] == 1);
	last = 11;
	ck_assert_int_eq(ops->pids(c, see_pid, &last), -EAGAIN);
	ck_assert(seen_pids[0] == 2 && seen_pids[1] == 2 && seen_pids[2] == 1);

	end_and_take();
	ck_assert_uint_eq(config(1).set, BPF_SET_NONE);
	first = sample_row(0, 10);
	second = sample_row(0, 11);
	check_stack(&first.key.user, STACK_TAKEN, FRAMES(0x1000));
	check_stack(&second.key.user, STACK_TAKEN, FRAMES(0x2000));
	ck_assert_uint_eq(sample_row(0, 12).value, 5);
	ck_assert_uint_eq(rows_nr(rig.sink.sets[0].samples), 3);
}
END_TEST

/* If the larger tables are refused, nothing changes, and there is no second attempt. */
START_TEST(test_grow_refused)
{
	const struct fake_program *before;
	size_t nth, programs;
	bool refused = true;

	for (nth = 0; refused; nth++) {
		fake_bpf_begin();
		open_counter();
		before = dispatched();
		spill(32, 0);
		put_count(0, 0, &KEY(10, BPF_NO_STACK, BPF_NO_STACK), 3);
		fake_bpf_refuse(nth, -ENOMEM);
		ops->tend(c);
		refused = fake_bpf_accept();
		ck_assert_int_eq(dispatched() == before, refused);
		programs = fake_nr_programs();
		if (nth > 0) /* otherwise the statistics could not be read, which may be possible later */
			ops->tend(c);
		ck_assert_uint_eq(fake_nr_programs(), programs);
		end_and_take();
		ck_assert_uint_eq(config(refused ? 0 : 1).set, BPF_SET_NONE);
		ck_assert_uint_eq(sample_row(0, 10).value, 3 * (nth + 1));
		close_counter();
		ck_assert_uint_eq(unit_open_fds(), descriptors);
	}
	ck_assert_uint_ge(nth, ARRAY_SIZE(doubled) + 3); /* the maps, the program, its configuration, and its place */
}
END_TEST

/* ---- the rest */

START_TEST(test_judged)
{
	const __u32 pid = 300;

	want_tree(&rig.request, &(struct bpf_config){ 0 });
	open_counter();
	ck_assert_uint_gt(fake_map("targets", 0)->max_entries, 1000);
	ck_assert(ops->judged(c, 300, DESCENT_IN));
	ck_assert_uint_eq(*(const __u32 *)fake_map_get(fake_map("targets", 0), &pid), 1);
	ck_assert(ops->judged(c, 300, DESCENT_OUT));
	ck_assert_uint_eq(*(const __u32 *)fake_map_get(fake_map("targets", 0), &pid), 0);
	ck_assert(ops->judged(c, 300, DESCENT_UNKNOWN));
	ck_assert(!fake_map_has(fake_map("targets", 0), &pid));
	ck_assert(!ops->judged(c, 300, DESCENT_UNKNOWN));
	fake_bpf_refuse(0, -E2BIG);
	ck_assert(!ops->judged(c, 300, DESCENT_IN));
}
END_TEST

START_TEST(test_probe)
{
	struct cause why;

	/* These two give other answers. */
	if (kernel_bpf_taints(&host_here) || cause_of_unreadable(&host_here, &why))
		return;
	ck_assert_int_eq(counter_bpf.probe(false, &err), 0);
	fake_bpf_lacks = BPF_PROG_TYPE_PERF_EVENT;
	ck_assert_int_eq(counter_bpf.probe(false, &err), -EINVAL);
	ck_assert_str_eq(err.msg,
			 "cannot load a BPF program for perf events: Invalid argument (before Linux 4.9, or built "
			 "without CONFIG_BPF_EVENTS)");
	fake_bpf_lacks = BPF_PROG_TYPE_TRACEPOINT;
	ck_assert_int_eq(counter_bpf_switches.probe(false, &err), -EINVAL);
	ck_assert_str_eq(err.msg,
			 "cannot load a BPF program for tracepoints: Invalid argument (before Linux 4.7, or built "
			 "without CONFIG_BPF_EVENTS)");
	ck_assert_int_eq(counter_bpf.probe(false, &err), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("bpf_samples");
	TCase *t = tcase_create("samples");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_open);
	tcase_add_test(t, test_open_intervals);
	tcase_add_test(t, test_open_shallow);
	tcase_add_loop_test(t, test_config, 0, ARRAY_SIZE(configs));
	tcase_add_loop_test(t, test_reading, 0, ARRAY_SIZE(readers));
	tcase_add_loop_test(t, test_mntns_refused, 0, 2);
	tcase_add_test(t, test_open_refused);
	tcase_add_test(t, test_attach);
	tcase_add_test(t, test_attach_late);
	tcase_add_test(t, test_watch_unwanted);
	tcase_add_test(t, test_attach_refused);
	tcase_add_test(t, test_rows);
	tcase_add_loop_test(t, test_limit, 0, 2);
	tcase_add_test(t, test_leaf);
	tcase_add_test(t, test_leaf_unknown);
	tcase_add_loop_test(t, test_stats, 0, 2);
	tcase_add_test(t, test_intervals);
	tcase_add_test(t, test_interval_proofs);
	tcase_add_test(t, test_interval_old);
	tcase_add_test(t, test_in_flight);
	tcase_add_test(t, test_in_flight_again);
	tcase_add_test(t, test_never_lands);
	tcase_add_test(t, test_stop);
	tcase_add_test(t, test_end_refused);
	tcase_add_loop_test(t, test_grow, 0, ARRAY_SIZE(spills));
	tcase_add_test(t, test_grow_little);
	tcase_add_test(t, test_grown_proofs);
	tcase_add_test(t, test_grown_rows);
	tcase_add_test(t, test_grow_refused);
	tcase_add_test(t, test_judged);
	tcase_add_test(t, test_probe);
	suite_add_tcase(s, t);
	return unit_main(s);
}
