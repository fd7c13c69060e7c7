/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A counter of backend-bpf/ on a fake kernel: its environment with two CPUs, and entries for the maps of its program.
 * The test defines `ops` and fake_event_open().
 */
#ifndef TESTS_UNIT_BPF_RIG_H
#define TESTS_UNIT_BPF_RIG_H

#include "backend-bpf/object.h"
#include "tests/unit/fake_bpf.h"
#include "tests/unit/fake_kernel.h"
#include "tests/unit/rig.h"

#include <linux/perf_event.h>

#define CPUS  2
#define NOTES 100 /* descriptors of the notes' events, by CPU: samples, and from 200 on switches */

static const struct counter_ops *const ops; /* the counter */
static char *top;                           /* the directory of the host's files */
static struct host host;
static struct rig rig;
static struct event_place places[CPUS];
static struct counter *c;
static struct err err;
static unsigned int descriptors;                          /* open ones before the counter was opened */
static int attached_fd, attached_program, attach_refused; /* by ioctl(2) */

int fake_event_ioctl(int fd, unsigned long request, uint64_t *id)
{
	ck_assert_uint_eq(request, PERF_EVENT_IOC_SET_BPF);
	if (attach_refused)
		return fake_refuse(attach_refused);
	attached_fd = fd;
	attached_program = (int)(uintptr_t)id;
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
		places[i].cpu = (int)i;
		places[i].fd = rig_event(0, 0, 0);
		places[i].samples = true;
		places[i].notes[EVENT_SAMPLES].fd = NOTES + (int)i;
		places[i].notes[EVENT_SWITCHES].fd = 2 * NOTES + (int)i;
	}
	rig.events.places = places;
	rig.events.nr_places = CPUS;
	ck_assert_int_eq(sink_empty(&rig.sink, 0, &cfg), 0);
	ck_assert_int_eq(sink_empty(&rig.sink, 1, &cfg), 0);
	c = NULL;
	err = (struct err){ 0 };
	attached_fd = attached_program = -1;
	attach_refused = 0;
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
	size_t i;

	close_counter();
	ck_assert_uint_eq(unit_open_fds(), descriptors);
	for (i = 0; i < CPUS; i++)
		close(places[i].fd);
	sink_release(&rig.sink);
	fake_bpf_end();
	unit_rmdir(top);
}

/* The configuration of the @nth instance of the program. */
static struct bpf_config config(size_t nth)
{
	const __u32 zero = 0;
	struct bpf_config out;

	memcpy(&out, fake_map_get(fake_map("config", nth), &zero), sizeof(out));
	return out;
}

/* Facts about this host, whatever they are here. */
static void want_host(struct bpf_config *want, const struct bpf_config *got)
{
	memcpy(want->outside_comm, COMM_OUTSIDE, sizeof(COMM_OUTSIDE));
	want->proves_user = got->proves_user;
	want->pidns = got->pidns;
	want->pidns_dev = got->pidns_dev;
	want->pidns_at = got->pidns_at;
}

/* The next interval goes on after this one if sink.set is another one; otherwise the run ends. */
static void end_and_take(void)
{
	ck_assert_msg(!ops->end(c, &err), "%s", err.msg);
	ck_assert_msg(!ops->take(c, &err), "%s", err.msg);
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
