// SPDX-License-Identifier: Apache-2.0
/*
 * The backend that adds up time off the CPU in the kernel: loads bpf/offcpu.bpf.c, attaches it to the switches of all
 * CPUs at once, and turns its maps into rows at the end. What the program passes on is the ring reader's.
 */
#include "backend-bpf/object.h"
#include "backend-bpf/offsets.h"
#include "backend-bpf/source.h"
#include "compat/perf_open.h"
#include "core/base/number.h"
#include "core/base/saturate.h"
#include "core/events/events.h"
#include "core/host/causes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "bpf/offcpu.skel.h"

_Static_assert(sizeof(struct bpf_slot) == 40, "a value that is inserted must not have padding");
_Static_assert(sizeof(struct bpf_switch_note) == 48, "a note must not have padding");

#define SLOTS_MIN        65536
#define SLOTS_PER_THREAD 4   /* of those there are now */
#define SLOT_BYTES       112 /* of the kernel's memory for each */
#define SLOTS_MEMORY     64  /* this part of the memory at most */

struct counter {
	struct object object;
	struct offcpu_bpf *skel;
	bool raw; /* the program is given the tasks, not the record of the tracepoint */
	struct bpf_switch_offsets switch_at;
	int attached;          /* the program is, to the switches, as long as this is open; -1: it is not */
	struct stats stats[2]; /* of each set, when its interval has ended */
};

static int switches_probe(bool forced, struct err *err)
{
	return object_probe(BPF_PROG_TYPE_TRACEPOINT, "tracepoints",
			    "before Linux 4.7, or built without CONFIG_BPF_EVENTS", forced, err);
}

/* Threads there are: the number behind the slash in "0.20 0.18 0.12 1/80 11206"; 0: not known. */
static uint64_t nr_threads(const struct host *host)
{
	char text[128];
	const char *p;
	uint64_t nr;

	if (host_read(host->proc, "loadavg", text, sizeof(text)) < 0)
		return 0;
	p = strchr(text, '/');
	if (!p)
		return 0;
	p++;
	return parse_digits(&p, 10, UINT32_MAX, &nr) ? 0 : nr;
}

/* All are made at once, so that the memory is taken whether they are used or not. */
static __u32 nr_slots(const struct host *host)
{
	uint64_t nr = nr_threads(host) * SLOTS_PER_THREAD, memory = host_memory_bytes(host);
	long long most;

	if (memory && nr > memory / SLOTS_MEMORY / SLOT_BYTES)
		nr = memory / SLOTS_MEMORY / SLOT_BYTES;
	if (!host_setting(host, "kernel/threads-max", &most) && most > 0 && nr > (uint64_t)most)
		nr = (uint64_t)most;
	if (nr > UINT32_MAX / 2)
		nr = UINT32_MAX / 2;
	return nr < SLOTS_MIN ? SLOTS_MIN : (__u32)nr;
}

static void configure(const struct counter *b, struct bpf_config *c)
{
	const struct sched_switch *record = &b->object.env->events->sched_switch;
	const struct options *o = b->object.env->request->options;
	unsigned int shift = b->raw ? 0 : record->state_shift;

	c->min_ns = o->min_ns;
	c->max_ns = o->max_ns;
	c->by_state = o->state_mask >= 0;
	c->state_mask = (c->by_state ? (__u64)o->state_mask : 0) << shift;
	c->could_run = b->raw ? BPF_STATE_PREEMPTED : record->preempted | ((1ULL << shift) - 1);
	c->dead = b->raw ? BPF_STATE_DEAD : record->dead;
	c->switch_at = b->switch_at;
	c->by_cpu = o->cpu >= 0;
	c->cpu = c->by_cpu ? (__u32)o->cpu : 0;
	c->threads = o->user_threads ? BPF_THREADS_USER : o->kernel_threads ? BPF_THREADS_KERNEL : BPF_THREADS_ANY;
}

/*
 * The program is one of the tracepoint's, not of an event on one CPU (perf_event_set_bpf_prog(), kernel/events/core.c):
 * it runs for the switches of all, and does so until the event is closed, also after the event's CPU has gone offline.
 * That event counts nothing. Before 4.15 a tracepoint has one program at most.
 */
static int attach_tracepoint(struct counter *b, struct err *err)
{
	const struct source_env *env = b->object.env;
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_TRACEPOINT,
		.config = env->events->sched_switch.id,
		.sample_period = 1,
		.disabled = 1,
	};
	size_t i;

	for (i = 0; i < env->events->nr_places && b->attached < 0; i++) {
		struct perf_event_attr tried = attr;
		int fd = env->events->places[i].fd < 0 ? -ENODEV : perf_open(&tried, -1, env->events->places[i].cpu);

		if (fd < 0 && fd != -ENODEV)
			return err_sys(err, fd, "cannot open a perf event for 'sched:sched_switch' on CPU %d",
				       env->events->places[i].cpu);
		b->attached = fd;
	}
	if (b->attached < 0)
		return err_sys(err, -ENODEV, "cannot open a perf event for 'sched:sched_switch'");
	if (!ioctl(b->attached, PERF_EVENT_IOC_SET_BPF, bpf_program__fd(b->object.program)))
		return 0;
	if (errno == EEXIST)
		return err_set(err, -EEXIST,
			       "cannot attach the BPF program to 'sched:sched_switch': "
			       "another one is, and before Linux 4.15 there can be no second");
	return err_sys(err, -errno, "cannot attach the BPF program to 'sched:sched_switch'");
}

static int attach_raw(struct counter *b, struct err *err)
{
	b->attached = bpf_raw_tracepoint_open("sched_switch", bpf_program__fd(b->object.program));
	return b->attached < 0 ? err_sys(err, -errno, "cannot attach the BPF program to 'sched_switch'") : 0;
}

/* Does the kernel tell what is in its tasks, and let the program read it? */
static int find_tasks(const struct host *host, struct bpf_switch_offsets *at, struct err *err)
{
	struct cause why;

	if (libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_RAW_TRACEPOINT, NULL) != 1)
		return err_set(err, -EOPNOTSUPP, "this kernel has no programs for raw tracepoints (before Linux 4.17)");
	if (cause_of_unreadable(host, &why))
		return cause_err(err, -EPERM, &why, "the BPF program may not read the state of tasks");
	return offsets_of_switch(at, err);
}

/* Are its fields where the program expects them? */
static bool is_readable(const struct sched_switch *s)
{
	return s->id && sched_switch_is_usual(s);
}

static int no_source(const struct sched_switch *s, const struct err *unknown, const struct err *no_tasks,
		     struct err *err)
{
	return err_set(err, -EOPNOTSUPP, "%s; and %s",
		       s->id ? "the records of 'sched:sched_switch' are unusual here" : unknown->msg, no_tasks->msg);
}

/*
 * The tasks themselves, else the record: before that is made, perf may believe that the task is inside another record
 * already, and then makes none (see leave_unsampled(), backend-perfring/switching.c, for who is). With both backends
 * the record, where there is one: then the note of a switch is in front of its sample.
 */
static int choose_source(struct counter *b, const struct source_env *env, struct err *err)
{
	struct err no_tasks;

	if (is_readable(&env->events->sched_switch) && env->request->both &&
	    env->events->switches == SWITCHES_BY_TRACEPOINT)
		return 0;
	b->raw = !find_tasks(env->request->host, &b->switch_at, &no_tasks);
	if (b->raw || is_readable(&env->events->sched_switch))
		return 0;
	return no_source(&env->events->sched_switch, &env->events->no_tracepoint, &no_tasks, err);
}

static int switches_shown(const struct host *host, const struct sched_switch *known, const struct err *unknown,
			  struct err *err)
{
	struct bpf_switch_offsets at;
	struct err no_tasks;

	if (is_readable(known) || !find_tasks(host, &at, &no_tasks))
		return 0;
	return no_source(known, unknown, &no_tasks, err);
}

static int switches_open(struct counter **out, const struct source_env *env, struct err *err)
{
	struct counter *b = calloc(1, sizeof(*b));
	int rc;

	*out = b;
	if (!b)
		return err_sys(err, -ENOMEM, "cannot open backend 'bpf'");
	b->attached = -1;
	if (choose_source(b, env, err))
		return err->code;
	if (object_init(&b->object, env, err))
		return err->code;
	b->skel = offcpu_bpf__open();
	if (!b->skel)
		return object_refused(err, -errno, "cannot read the embedded BPF object");
	b->object.maps.stacks[0] = b->object.maps.stacks[1] = b->skel->maps.stack_map;
	rc = bpf_map__set_max_entries(b->skel->maps.slots, nr_slots(env->request->host));
	if (rc)
		return object_refused(err, rc, "cannot size the BPF map of threads");
	if (object_load(&b->object, b->skel->obj, b->raw ? "raw_count_switch" : "count_switch", err))
		return err->code;
	configure(b, &b->object.config);
	return 0;
}

/* The first of them: switches are everywhere at once. They are not counted before start(). */
static int switches_attach(struct counter *b, size_t i, struct err *err)
{
	const struct event_place *e = &b->object.env->events->places[i];

	if (e->notes[NOTED_SWITCHES].fd >= 0 && object_notes(&b->object, e->cpu, e->notes[NOTED_SWITCHES].fd, err))
		return err->code;
	if (b->attached >= 0)
		return 0;
	return b->raw ? attach_raw(b, err) : attach_tracepoint(b, err);
}

static int switches_detach(struct counter *b, size_t i, struct err *err)
{
	return object_notes(&b->object, b->object.env->events->places[i].cpu, -1, err);
}

static int switches_start(struct counter *b, struct err *err)
{
	int rc = object_set(&b->object, b->object.env->sink->set);

	return rc ? err_sys(err, rc, "cannot tell the BPF program to begin") : 0;
}

/*
 * Where the tracepoint is raw the program is let go of at once: nobody waits for that. Where it is an event's it runs
 * on, without counting.
 */
static int switches_stop(struct counter *b, struct err *err)
{
	int rc = object_change_set(&b->object, BPF_SET_NONE);

	if (!b->raw)
		events_hold(b->object.env->events, b->attached);
	else if (b->attached >= 0)
		close(b->attached);
	b->attached = -1;
	return rc ? err_sys(err, rc, "cannot tell the BPF program to end") : 0;
}

static int add_row(struct counter *b, const struct bpf_count_key *key, uint64_t ns, uint64_t times, struct rows *to)
{
	struct row_key row;
	int rc = object_row_key(&b->object, 0, key, &row);

	return rc ? rc : rows_add(to, &row, ns, times);
}

static int add_charge(void *ctx, const struct bpf_count_key *key, const void *value)
{
	struct counter *b = ctx;
	const struct source_env *env = b->object.env;
	const struct bpf_charge *sum = value;

	b->stats[env->sink->ended].count_entries++;
	return add_row(b, key, sum->ns, sum->times, env->sink->sets[env->sink->ended].intervals);
}

/* At the end of the run: threads that are off CPU. Those whose intervals were passed on the reader knows of. */
static int look_at_open(struct counter *b, int (*fn)(struct counter *b, const struct bpf_slot *slot))
{
	int fd = bpf_map__fd(b->skel->maps.slots), rc = 0;
	__u32 id = 0; /* no thread has a place with this number: the walk begins with the first */
	struct bpf_slot slot;

	while (!rc && !bpf_map_get_next_key(fd, &id, &id)) {
		if (bpf_map_lookup_elem(fd, &id, &slot))
			rc = -errno;
		else if (slot.ns && !slot.spilled)
			rc = fn(b, &slot);
	}
	return rc ? rc : errno == ENOENT ? 0 : -errno;
}

static int count_open(struct counter *b, const struct bpf_slot *slot)
{
	(void)slot;
	b->stats[b->object.env->sink->ended].intervals_open++;
	return 0;
}

static int add_open(struct counter *b, const struct bpf_slot *slot)
{
	const struct source_env *env = b->object.env;
	uint64_t ns = sub_or_0(env->sink->over_ns, slot->ns);

	return add_row(b, &slot->key, ns, 1, env->sink->sets[env->sink->ended].intervals);
}

static int read_stats(const struct counter *b, unsigned int set, struct stats *to)
{
	union {
		struct bpf_switch_books stats;
		uint64_t all[sizeof(struct bpf_switch_books) / sizeof(uint64_t)];
	} sum = { 0 };
	int rc = object_stats(&b->object, set, sum.all, ARRAY_SIZE(sum.all));

	if (rc)
		return rc;
	to->intervals_begun = sum.stats.begun;
	to->intervals_charged = sum.stats.charged;
	to->intervals_filtered = sum.stats.filtered;
	to->intervals_lost = sum.stats.lost;
	to->intervals_no_slot = sum.stats.no_slot;
	to->intervals_passed = sum.stats.passed;
	to->spilled_stack = sum.stats.spilled_stack;
	to->spilled_count = sum.stats.spilled_count;
	to->spilled_unwind = sum.stats.spilled_unwind;
	to->spilled_tree = sum.stats.spilled_tree;
	to->spilled_number = sum.stats.spilled_number;
	return 0;
}

static int switches_end(struct counter *b, struct err *err)
{
	const struct source_env *env = b->object.env;
	bool over = env->sink->set == env->sink->ended;
	int rc = object_change_set(&b->object, over ? BPF_SET_NONE : env->sink->set);

	if (rc)
		return err_sys(err, rc, "cannot switch the BPF program to another set of tables");
	b->stats[env->sink->ended] = (struct stats){ 0 };
	rc = read_stats(b, env->sink->ended, &b->stats[env->sink->ended]);
	if (!rc && over)
		rc = look_at_open(b, count_open);
	return rc ? err_sys(err, rc, "cannot read the statistics of the BPF program") : 0;
}

static int switches_take(struct counter *b, struct err *err)
{
	const struct source_env *env = b->object.env;
	bool over = env->sink->set == env->sink->ended;
	struct bpf_charge value;
	int rc = object_counts(&b->object, env->sink->ended, &value, add_charge, b);

	if (env->request->options->stats)
		b->stats[env->sink->ended].stack_entries = object_nr_stacks(&b->object, env->sink->ended);
	if (!rc && over && env->request->options->open_intervals)
		rc = look_at_open(b, add_open);
	if (!rc && !over)
		rc = object_clear(&b->object, env->sink->ended);
	return rc ? err_sys(err, rc, "cannot read the BPF maps") : 0;
}

static int switches_pids(struct counter *b, bool resume, bool (*fn)(void *ctx, pid_t pid), void *ctx)
{
	return object_pids(&b->object, resume, fn, ctx);
}

static bool switches_judged(struct counter *b, pid_t pid, enum descent what)
{
	return object_judged(&b->object, pid, what);
}

static int read_note(const void *raw, size_t size, struct bpf_switch_note *out)
{
	bool begins, has_id;

	if (size < sizeof(*out))
		return -EBADMSG;
	memcpy(out, raw, sizeof(*out));
	begins = out->kind == BPF_SWITCH_BEGIN;
	has_id = begins || out->kind == BPF_SWITCH_END;
	if (out->kind != BPF_SWITCH_SEEN && has_id != (out->id != 0)) /* the idle task is never off its CPU */
		return -EBADMSG;
	if (out->kind == BPF_SWITCH_CHARGE) {
		const struct bpf_count_key *key = &out->charge.key;
		bool stored = key->kernel_stack >= BPF_NO_STACK && key->user_stack >= BPF_NO_STACK;

		return stored && out->charge.set <= 1 ? 0 : -EBADMSG;
	}
	return (begins ? out->who.verdict < BPF_SPILLED : out->who.verdict != 0) ? -EBADMSG : 0;
}

static int switches_note(const void *raw, size_t size, struct switch_note *out)
{
	static const int kinds[] = {
		[BPF_SWITCH_SEEN] = SWITCH_SEEN,
		[BPF_SWITCH_BEGIN] = SWITCH_BEGIN,
		[BPF_SWITCH_END] = SWITCH_END,
		[BPF_SWITCH_CHARGE] = SWITCH_CHARGE,
	};
	struct bpf_switch_note n;
	struct sample_note who;

	if (read_note(raw, size, &n) || n.kind >= ARRAY_SIZE(kinds))
		return -EBADMSG;
	if (n.kind != BPF_SWITCH_CHARGE && object_note(&n.who, &who))
		return -EBADMSG;
	*out = (struct switch_note){ .set = n.who.set, .id = n.id, .ns = n.ns, .raw = raw, .raw_size = size };
	out->kind = kinds[n.kind];
	if (n.kind == BPF_SWITCH_BEGIN)
		out->who = who;
	return 0;
}

static int switches_charge(struct counter *b, const struct switch_note *note, struct rows *to)
{
	struct bpf_switch_note n;

	if (read_note(note->raw, note->raw_size, &n) || n.kind != BPF_SWITCH_CHARGE)
		return -EBADMSG;
	return add_row(b, &n.charge.key, n.ns, 1, to);
}

static void switches_stats(const struct counter *b, struct stats *stats)
{
	if (b)
		stats_add(stats, &b->stats[b->object.env->sink->ended]);
}

static void switches_close(struct counter *b)
{
	if (!b)
		return;
	if (b->attached >= 0)
		close(b->attached);
	offcpu_bpf__destroy(b->skel);
	object_release(&b->object);
	free(b);
}

const struct counter_ops counter_bpf_switches = {
	.program = bpf_switches_source,
	.files = 18, /* a dozen maps, the program, its event, and what libbpf opens while it loads them */
	.probe = switches_probe,
	.shown = switches_shown,
	.open = switches_open,
	.attach = switches_attach,
	.detach = switches_detach,
	.start = switches_start,
	.stop = switches_stop,
	.end = switches_end,
	.take = switches_take,
	.pids = switches_pids,
	.judged = switches_judged,
	.switch_note = switches_note,
	.charge = switches_charge,
	.stats = switches_stats,
	.close = switches_close,
};
