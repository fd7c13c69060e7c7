/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A counter of backend-bpf/ on a fake kernel: its environment with two CPUs, and entries for the maps of its program.
 * The test defines `ops` and fake_event_open(). tests/module.mk wraps functions that ask the host: __wrap_*() here.
 */
#ifndef TESTS_UNIT_BPF_RIG_H
#define TESTS_UNIT_BPF_RIG_H

#include "backend-bpf/object.h"
#include "backend-bpf/offsets.h"
#include "core/tasks/cgroup.h"
#include "core/tasks/pinned.h"
#include "tests/unit/fake_bpf.h"
#include "tests/unit/fake_kernel.h"
#include "tests/unit/rig.h"

#include <linux/perf_event.h>
#include <time.h>

#define CPUS          2 /* that are online: CPU 0 and the last one */
#define POSSIBLE_CPUS 4
#define LAST_CPU      (POSSIBLE_CPUS - 1)

/* Descriptors of the notes' events: plus the CPU. */
#define SAMPLE_NOTES 100
#define SWITCH_NOTES 200

static const struct counter_ops *const ops; /* the counter */
static char *top;                           /* the directory of the host's files */
static struct host host;
static struct rig rig;
static struct event_place places[CPUS];
static struct counter *c;
static struct err err;
static unsigned int descriptors; /* open ones before the counter was opened */

/* ---- facts about the host */

static bool in_pidns, no_btf;
static int group_fd; /* of any_cgroup and any_pinned */

/* Only the functions below look at these. */
static struct cgroup *const any_cgroup = (struct cgroup *)&group_fd;
static struct pinned *const any_pinned = (struct pinned *)&group_fd;

static const struct pidns inner_pidns = { .dev = 4, .ino = 4026532000 };
static const struct bpf_switch_offsets switch_offsets = { 1234, 24, 1200, 1 };
static const struct bpf_mntns_offsets mntns_offsets = { 2900, 24, 140 };
static const struct bpf_pidns_offsets pidns_offsets = { 2300, 2900, 300, 4, 96, 16, 0, 8, 40 };

int __wrap_libbpf_num_possible_cpus(void);
bool __wrap_pidns_here(struct pidns *out);
int __wrap_offsets_of_switch(struct bpf_switch_offsets *out, struct err *e);
int __wrap_offsets_of_mntns(struct bpf_mntns_offsets *out, struct err *e);
int __wrap_offsets_of_pidns(struct bpf_pidns_offsets *out, struct err *e);
int __wrap_cgroup_fd(const struct cgroup *group);
int __wrap_pinned_fd(const struct pinned *map);

int __wrap_libbpf_num_possible_cpus(void)
{
	return POSSIBLE_CPUS;
}

bool __wrap_pidns_here(struct pidns *out)
{
	if (in_pidns && out)
		*out = inner_pidns;
	return in_pidns;
}

static int copy_offsets(void *out, const void *offsets, size_t size, struct err *e)
{
	if (no_btf)
		return err_set(e, -ENOENT, "no BTF");
	memcpy(out, offsets, size);
	return 0;
}

int __wrap_offsets_of_switch(struct bpf_switch_offsets *out, struct err *e)
{
	return copy_offsets(out, &switch_offsets, sizeof(*out), e);
}

int __wrap_offsets_of_mntns(struct bpf_mntns_offsets *out, struct err *e)
{
	return copy_offsets(out, &mntns_offsets, sizeof(*out), e);
}

int __wrap_offsets_of_pidns(struct bpf_pidns_offsets *out, struct err *e)
{
	return copy_offsets(out, &pidns_offsets, sizeof(*out), e);
}

int __wrap_cgroup_fd(const struct cgroup *group)
{
	ck_assert_ptr_eq(group, any_cgroup);
	return group_fd;
}

int __wrap_pinned_fd(const struct pinned *map)
{
	ck_assert_ptr_eq(map, any_pinned);
	return group_fd;
}

/* The pause between two looks at the map `flight` takes no time. */
static unsigned int pauses;

int nanosleep(const struct timespec *wanted, struct timespec *rest)
{
	(void)rest;
	ck_assert(!wanted->tv_sec && wanted->tv_nsec == 50000);
	pauses++;
	return 0;
}

/* ---- attaching by ioctl(2) */

static int attached_fd, attach_refused;
static const struct fake_program *attached_program;

int fake_event_ioctl(int fd, unsigned long request, uint64_t *id)
{
	ck_assert_uint_eq(request, PERF_EVENT_IOC_SET_BPF);
	if (attach_refused)
		return fake_refuse(attach_refused);
	attached_fd = fd;
	attached_program = fake_program((int)(uintptr_t)id); /* the argument of this request is an int */
	return 0;
}

static void setup(void)
{
	const struct sink_cfg cfg = { .filter = &rig.request.filter };
	size_t i;

	top = unit_tmpdir();
	host = unit_host(top);
	fake_bpf_begin();
	rig_make(&rig, (struct request){
			       .host = &host,
			       .asked = 125,
			       .sampling.freq_hz = 99,
			       .tables = { HASH_ENTRIES, STACK_ENTRIES },
		       });
	for (i = 0; i < CPUS; i++) {
		places[i] = rig_place();
		places[i].cpu = i ? LAST_CPU : 0;
		places[i].fd = rig_event(0, 0, 0);
		places[i].samples = true;
		places[i].notes[EVENT_SAMPLES].fd = SAMPLE_NOTES + places[i].cpu;
		places[i].notes[EVENT_SWITCHES].fd = SWITCH_NOTES + places[i].cpu;
	}
	rig.events.places = places;
	rig.events.nr_places = CPUS;
	ck_assert_int_eq(sink_empty(&rig.sink, 0, &cfg), 0);
	ck_assert_int_eq(sink_empty(&rig.sink, 1, &cfg), 0);
	c = NULL;
	err = (struct err){ 0 };
	attached_fd = group_fd = -1;
	attached_program = NULL;
	attach_refused = 0;
	in_pidns = no_btf = false;
	pauses = 0;
	descriptors = unit_open_fds();
}

static void open_counter(void)
{
	ck_assert_msg(!ops->open(&c, &rig.env, &err), "%s", err.msg);
}

static void close_counter(void)
{
	ops->close(c);
	c = NULL;
}

static void teardown(void)
{
	unsigned int left;
	size_t i;

	close_counter();
	left = unit_open_fds();
	for (i = 0; i < CPUS; i++)
		close(places[i].fd);
	sink_release(&rig.sink);
	fake_bpf_end();
	unit_rmdir(top);
	ck_assert_uint_eq(left, descriptors);
}

/* The configuration of the @nth instance of the program. */
static struct bpf_config config(size_t nth)
{
	const __u32 zero = 0;
	struct bpf_config out;

	memcpy(&out, fake_map_get(fake_map("config", nth), &zero), sizeof(out));
	return out;
}

/* True if @p is the program that @object has under this name. */
static bool is_program(const struct fake_program *p, const struct bpf_object *object, const char *name)
{
	const struct bpf_program *want = bpf_object__find_program_by_name(object, name);

	ck_assert_msg(want, "there is no %s", name);
	return p->nr_insns == bpf_program__insn_cnt(want) && !strncmp(p->name, name, sizeof(p->name) - 1);
}

/* End interval sink.ended. The run goes on if sink.set differs from it. */
static void end_and_take(void)
{
	ck_assert_msg(!ops->end(c, &err), "%s", err.msg);
	ck_assert_msg(!ops->take(c, &err), "%s", err.msg);
}

/* ---- calls that are refused */

/* The first call of attach() is refused. */
static void check_attach_refused(void)
{
	open_counter();
	fake_bpf_refuse(0, -EBUSY);
	ck_assert_int_eq(ops->attach(c, 1, &err), -EBUSY);
	ck_assert_str_eq(err.msg, "cannot give the BPF program the ring of CPU 3: Device or resource busy");
	ck_assert(fake_bpf_accept());
	ck_assert_int_eq(attached_fd, -1);
}

/* A new kernel, with the same types of programs. */
static void renew_kernel(void)
{
	enum bpf_prog_type lacks = fake_bpf_lacks;

	err = (struct err){ 0 };
	fake_bpf_begin();
	fake_bpf_lacks = lacks;
}

/* If any call is refused, open() reports that, and close() leaves nothing open. @least: number of calls */
static void check_open_refused(size_t least)
{
	size_t nth;
	int rc = 1;

	open_counter(); /* libbpf now knows the features of this kernel */
	close_counter();
	for (nth = 0; rc; nth++) {
		renew_kernel();
		fake_bpf_refuse(nth, -EPERM);
		rc = ops->open(&c, &rig.env, &err);
		ck_assert_int_eq(rc, fake_bpf_accept() ? -EPERM : 0);
		ck_assert_int_eq(err.code, rc);
		close_counter();
		ck_assert_uint_eq(unit_open_fds(), descriptors);
		ck_assert_msg(!rc || strstr(err.msg, "the BPF maps") || strstr(err.msg, "refuses the BPF object"), "%s",
			      err.msg);
	}
	ck_assert_uint_gt(nth, least);
}

/*
 * If any call is refused, end() or take() reports that. Each of their messages comes at least once.
 * @fill: opens the counter, and fills its maps; @next: sink.set at the end: 0: the run ends, and no map is cleared
 */
static void check_end_refused(void (*fill)(void), unsigned int next, size_t least)
{
	static const char *const failures[] = {
		"cannot switch the BPF program to another set of tables",
		"cannot read the statistics of the BPF program",
		"cannot read the BPF maps",
		"cannot clear the BPF maps",
	};
	bool said[ARRAY_SIZE(failures)] = { false };
	size_t nth, i;
	int rc = 1;

	rig.request.interval_ns = 1000000000;
	for (nth = 0; rc; nth++) {
		renew_kernel();
		rig.sink.set = 0;
		fill();
		rig.sink.set = next;
		fake_bpf_refuse(nth, -EPERM);
		rc = ops->end(c, &err);
		rc = rc ? rc : ops->take(c, &err);
		ck_assert_msg(fake_bpf_accept() == !!rc, "call %zu was refused, but no error says so", nth);
		ck_assert_int_eq(err.code, rc);
		close_counter();
		for (i = 0; rc && i < ARRAY_SIZE(failures); i++)
			said[i] |= !strncmp(err.msg, failures[i], strlen(failures[i]));
	}
	for (i = 0; i < ARRAY_SIZE(failures); i++)
		ck_assert_msg(said[i] == (next || i < 3), "said or not: %s", failures[i]);
	ck_assert_uint_gt(nth, least);
}

/* ---- what the program would write */

#define FRAMES(...) ((const uint64_t[]){ __VA_ARGS__, 0 })

#define KEY(process, kernel, user)                                                                                     \
	((const struct bpf_count_key){                                                                                 \
		.pid = (process), .kernel_stack = (kernel), .user_stack = (user), .comm = "work" })

static void put_stack(const char *map, size_t nth, __s32 id, const uint64_t *frames)
{
	struct fake_map *m = fake_map(map, nth);
	const __u32 key = (__u32)id;
	uint64_t *entry = calloc(1, m->value_size);
	size_t i;

	for (i = 0; frames[i] && i < m->value_size / sizeof(*entry); i++)
		entry[i] = frames[i];
	fake_map_put(m, &key, entry, 0);
	free(entry);
}

/* ---- rows */

static void check_stack(const struct stack *s, enum stack_state state, const uint64_t *frames)
{
	size_t i;

	ck_assert_int_eq((int)s->state, (int)state);
	ck_assert(!s->truncated);
	for (i = 0; frames && frames[i]; i++) {
		ck_assert_uint_lt(i, s->nr);
		ck_assert_uint_eq(s->frames[i], frames[i]);
	}
	ck_assert_uint_eq(s->nr, i);
}

/* The row of process @pid. */
static struct row row_of(const struct rows *rows, pid_t pid)
{
	struct row row;
	size_t i;

	for (i = 0; i < rows_nr(rows); i++) {
		rows_get(rows, i, &row);
		if (row.key.pid == pid)
			return row;
	}
	ck_abort_msg("no row of process %d", (int)pid);
	return row;
}

#endif
