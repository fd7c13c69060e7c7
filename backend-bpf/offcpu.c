// SPDX-License-Identifier: Apache-2.0
/*
 * The backend that adds up time off the CPU in the kernel. It loads bpf/offcpu.bpf.c, attaches it to the switches of
 * all CPUs at once, and turns its maps into rows at the end of each interval of the report. The ring's reader adds up
 * the off-CPU intervals that the program passes on.
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

_Static_assert(sizeof(struct bpf_slot) == 48, "a value that is inserted must not have padding");
_Static_assert(sizeof(struct bpf_switch_note) == 56, "a note must not have padding");

#define SLOTS_MIN        65536
#define SLOTS_PER_THREAD 4   /* for each thread that exists now */
#define SLOT_BYTES       112 /* kernel memory for each */
#define SLOTS_MEMORY     64  /* slots take at most 1/64 of the memory, but there are at least SLOTS_MIN */

/* Entries of a stack that the kernel walks to test whether there is a stack; one may be a PERF_CONTEXT_ marker. */
#define PROBE_DEPTH 2

struct switch_counter {
	struct counter counter;
	struct offcpu_bpf *skel;
	bool raw; /* the program gets the tasks, not the tracepoint's record */
	struct bpf_switch_offsets switch_at;
	int attached; /* descriptor that keeps the program attached to the switches; -1: it is not attached */
};

static int switches_probe(bool forced, struct err *err)
{
	return object_probe(BPF_PROG_TYPE_TRACEPOINT, "tracepoints",
			    "before Linux 4.7, or built without CONFIG_BPF_EVENTS", forced, err);
}

/* The number of threads: after the slash in "0.20 0.18 0.12 1/80 11206"; 0: not known. */
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

/* All slots are allocated at once: they take memory whether they are used or not. */
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

_Static_assert(BPF_THREADS_USER == (int)FILTER_USER_THREADS && BPF_THREADS_KERNEL == (int)FILTER_KERNEL_THREADS,
	       "kinds of threads are numbered alike");

/*
 * In a program for a raw tracepoint, a kernel stack begins with the address behind the call of bpf_get_stackid(), and
 * two calls must give the same stack, see is_stored() of bpf/shared.h. perf_callchain_kernel() stores this address, and
 * some unwinders begin with it again. Otherwise the second frame is that of bpf_trace_run3() or bpf_trace_run4().
 */
#define RAW_SKIP 2

static void configure(const struct switch_counter *own, struct bpf_config *c)
{
	const struct sched_switch *record = &own->counter.env->events->sched_switch;
	const struct off_cpu *o = &own->counter.env->request->off_cpu;
	const struct filter *f = &own->counter.env->request->filter;
	unsigned int shift = own->raw ? 0 : record->state_shift;

	c->min_ns = o->min_ns;
	c->max_ns = o->max_ns;
	c->by_state = f->by_state;
	c->state_mask = f->state_mask << shift;
	c->could_run = own->raw ? BPF_STATE_PREEMPTED : record->preempted | ((1ULL << shift) - 1);
	c->dead = own->raw ? BPF_STATE_DEAD : record->dead;
	c->switch_at = own->switch_at;
	c->kernel_skip = own->raw ? RAW_SKIP : 0;
	c->by_cpu = f->by_cpu;
	c->cpu = f->cpu;
	c->threads = f->threads;
}

/*
 * The program belongs to the tracepoint, not to an event on one CPU (perf_event_set_bpf_prog(), kernel/events/core.c).
 * It runs for all switches until the event is closed, even after the event's CPU has gone offline. That event counts
 * nothing. Before 4.15 a tracepoint has at most one program.
 */
static int attach_tracepoint(struct switch_counter *own, struct err *err)
{
	const struct source_env *env = own->counter.env;
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_TRACEPOINT,
		.config = env->events->sched_switch.id,
		.sample_period = 1,
		.disabled = 1,
	};
	size_t i;

	for (i = 0; i < env->events->nr_places && own->attached < 0; i++) {
		struct perf_event_attr tried = attr;
		int fd = env->events->places[i].fd < 0 ? -ENODEV : perf_open(&tried, -1, env->events->places[i].cpu);

		if (fd < 0 && fd != -ENODEV)
			return err_sys(err, fd, "cannot open a perf event for 'sched:sched_switch' on CPU %d",
				       env->events->places[i].cpu);
		own->attached = fd;
	}
	if (own->attached < 0)
		return err_sys(err, -ENODEV, "cannot open a perf event for 'sched:sched_switch'");
	if (!ioctl(own->attached, PERF_EVENT_IOC_SET_BPF, bpf_program__fd(own->counter.program)))
		return 0;
	if (errno == EEXIST)
		return err_set(err, -EEXIST,
			       "cannot attach the BPF program to 'sched:sched_switch': "
			       "another one is, and before Linux 4.15 there can be no second");
	return err_sys(err, -errno, "cannot attach the BPF program to 'sched:sched_switch'");
}

static int attach_raw(struct switch_counter *own, struct err *err)
{
	own->attached = bpf_raw_tracepoint_open("sched_switch", bpf_program__fd(own->counter.program));
	return own->attached < 0 ? err_sys(err, -errno, "cannot attach the BPF program to 'sched_switch'") : 0;
}

/* Test whether the layout of tasks is known, and whether the program may read them. */
static int find_tasks(const struct host *host, struct bpf_switch_offsets *at, struct err *err)
{
	struct cause why;

	if (libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_RAW_TRACEPOINT, NULL) != 1)
		return err_set(err, -EOPNOTSUPP, "this kernel has no programs for raw tracepoints (before Linux 4.17)");
	if (cause_of_unreadable(host, &why))
		return cause_err(err, -EPERM, &why, "the BPF program may not read the state of tasks");
	return offsets_of_switch(at, err);
}

/* True if the fields of the record are where the program expects them. */
static bool is_readable(const struct sched_switch *s)
{
	return s->id && sched_switch_is_usual(s);
}

/*
 * Prefer the raw tracepoint, which passes the tasks. For the ordinary tracepoint, perf may believe that the task is
 * inside another record already, and then makes no record (leave_unsampled() in backend-perfring/switching.c has the
 * cases). With both backends, if the rings get the tracepoint's samples, use its record if it is readable: then the
 * note of a switch comes before its sample.
 */
static int choose_source(struct switch_counter *own, const struct source_env *env, struct err *err)
{
	const struct events *ev = env->events;
	struct err no_tasks;

	if (is_readable(&ev->sched_switch) && env->request->both && ev->switches == SWITCHES_BY_TRACEPOINT)
		return 0;
	own->raw = !find_tasks(env->request->host, &own->switch_at, &no_tasks);
	if (own->raw || is_readable(&ev->sched_switch))
		return 0;
	return err_set(err, -EOPNOTSUPP, "%s; and %s",
		       ev->sched_switch.id ? "the records of 'sched:sched_switch' are unusual here"
					   : ev->no_tracepoint.msg,
		       no_tasks.msg);
}

static int switches_open(struct counter **out, const struct source_env *env, struct err *err)
{
	struct switch_counter *own = calloc(1, sizeof(*own));
	struct counter *c = own ? &own->counter : NULL;
	int rc;

	*out = c;
	if (!own)
		return err_sys(err, -ENOMEM, "cannot open backend 'bpf'");
	own->attached = -1;
	if (choose_source(own, env, err))
		return err->code;
	if (object_init(c, env, RAW_SKIP, err))
		return err->code;
	own->skel = offcpu_bpf__open();
	if (!own->skel)
		return object_refused(err, -errno, "cannot read the embedded BPF object");
	c->tables.stacks[0] = c->tables.stacks[1] = own->skel->maps.stack_map;
	rc = bpf_map__set_max_entries(own->skel->maps.slots, nr_slots(env->request->host));
	if (!rc)
		rc = object_size_stacks(own->skel->maps.probe, 1, PROBE_DEPTH);
	if (rc)
		return object_refused(err, rc, "cannot choose the sizes of the BPF maps");
	if (object_load(c, own->skel->obj, own->raw ? "raw_count_switch" : "count_switch", err))
		return err->code;
	/* The program runs from attach() on, and may read the map during an update: let start() change one word only. */
	configure(own, &c->config);
	rc = object_set(c, BPF_SET_NONE);
	return rc ? err_sys(err, rc, "cannot fill the BPF maps") : 0;
}

/* Attach the program once: it sees the switches of all CPUs. It counts them from switches_start() on. */
static int switches_attach(struct counter *c, size_t i, struct err *err)
{
	struct switch_counter *own = (struct switch_counter *)c;
	const struct event_place *e = &c->env->events->places[i];

	if (e->notes[EVENT_SWITCHES].fd >= 0 && object_notes(c, e->cpu, e->notes[EVENT_SWITCHES].fd, err))
		return err->code;
	if (c->env->sink->began_ns) /* the CPU has come online */
		object_watch_first(c);
	if (own->attached >= 0)
		return 0;
	return own->raw ? attach_raw(own, err) : attach_tracepoint(own, err);
}

static int switches_detach(struct counter *c, size_t i, struct err *err)
{
	return object_notes(c, c->env->events->places[i].cpu, -1, err);
}

static int switches_start(struct counter *c, struct err *err)
{
	int rc = object_set(c, c->env->sink->set);

	return rc ? err_sys(err, rc, "cannot start the BPF program") : 0;
}

/*
 * Detach a raw tracepoint's program now, because its close() does not wait. The close() of an ordinary tracepoint's
 * event may wait long, see events_hold(): leave its program attached, but it counts nothing.
 */
static int switches_stop(struct counter *c, struct err *err)
{
	struct switch_counter *own = (struct switch_counter *)c;
	int rc = object_change_set(c, BPF_SET_NONE);

	if (!own->raw)
		events_hold(c->env->events, own->attached);
	else if (own->attached >= 0)
		close(own->attached);
	own->attached = -1;
	return rc ? err_sys(err, rc, "cannot stop the BPF program") : 0;
}

static int add_row(struct counter *c, const struct bpf_count_key *key, uint64_t ns, uint64_t times, struct rows *to)
{
	struct row_key row;
	int rc = object_row_key(c, 0, key, &row);

	return rc ? rc : rows_add(to, &row, ns, times);
}

static int add_charge(struct counter *c, const struct bpf_count_key *key, const void *value)
{
	const struct source_env *env = c->env;
	const struct bpf_charge *sum = value;

	c->stats[env->sink->ended].count_entries++;
	return add_row(c, key, sum->ns, sum->times, env->sink->sets[env->sink->ended].intervals);
}

/* Call @fn for each thread that is off CPU at the end of the run, unless its interval was passed on to the reader. */
static int look_at_open(struct counter *c, int (*fn)(struct counter *c, const struct bpf_slot *slot))
{
	int fd = bpf_map__fd(((struct switch_counter *)c)->skel->maps.slots), rc = 0;
	__u32 id = 0; /* no thread has a slot with this number: the walk begins with the first */
	struct bpf_slot slot;

	while (!rc && !bpf_map_get_next_key(fd, &id, &id)) {
		if (bpf_map_lookup_elem(fd, &id, &slot))
			rc = -errno;
		else if (slot.ns && !slot.spilled)
			rc = fn(c, &slot);
	}
	return rc ? rc : errno == ENOENT ? 0 : -errno;
}

static int count_open(struct counter *c, const struct bpf_slot *slot)
{
	(void)slot;
	c->stats[c->env->sink->ended].intervals_open++;
	return 0;
}

static int add_open(struct counter *c, const struct bpf_slot *slot)
{
	const struct source_env *env = c->env;
	uint64_t ns = sub_or_0(env->sink->over_ns, slot->ns);

	return add_row(c, &slot->key, ns, 1, env->sink->sets[env->sink->ended].intervals);
}

static int switches_end(struct counter *c, struct err *err)
{
	const struct sink *sink = c->env->sink;
	struct stats *to = &c->stats[sink->ended];
	struct bpf_switch_stats sum = { 0 };
	int rc = 0;

	if (object_end(c, &sum, sizeof(sum), err))
		return err->code;
	*to = (struct stats){
		.intervals_begun = sum.begun,
		.intervals_charged = sum.charged,
		.intervals_filtered = sum.filtered,
		.intervals_lost = sum.lost,
		.intervals_no_slot = sum.no_slot,
		.switches_unseen = sum.unseen,
		.intervals_passed = sum.passed,
	};
	object_add_spills(&sum.spilled, to);
	if (sink->set == sink->ended)
		rc = look_at_open(c, count_open);
	return rc ? err_sys(err, rc, "cannot read the statistics of the BPF program") : 0;
}

static void switches_so_far(const struct counter *c, struct stats *stats)
{
	struct bpf_switch_stats sum = { 0 };

	if (!object_sum(c, c->config.set, &sum, sizeof(sum)))
		stats->intervals_charged += sum.charged;
}

static int switches_take(struct counter *c, struct err *err)
{
	const struct source_env *env = c->env;
	int rc = object_take(c, add_charge, err);

	if (rc || env->sink->set != env->sink->ended || !env->request->off_cpu.open)
		return rc;
	rc = look_at_open(c, add_open);
	return rc ? err_sys(err, rc, "cannot read the BPF maps") : 0;
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

static int switches_charge(struct counter *c, const struct switch_note *note, struct rows *to)
{
	struct bpf_switch_note n;

	if (read_note(note->raw, note->raw_size, &n) || n.kind != BPF_SWITCH_CHARGE)
		return -EBADMSG;
	return add_row(c, &n.charge.key, n.ns, 1, to);
}

static void switches_close(struct counter *c)
{
	struct switch_counter *own = (struct switch_counter *)c;
	if (!c)
		return;
	if (own->attached >= 0)
		close(own->attached);
	object_release(c);
	offcpu_bpf__destroy(own->skel);
	free(own);
}

const struct counter_ops counter_bpf_switches = {
	.program = bpf_switches_source,
	.probe = switches_probe,
	.open = switches_open,
	.attach = switches_attach,
	.detach = switches_detach,
	.start = switches_start,
	.stop = switches_stop,
	.end = switches_end,
	.take = switches_take,
	.so_far = switches_so_far,
	.first = &object_first,
	.pids = object_pids,
	.judged = object_judged,
	.switch_note = switches_note,
	.charge = switches_charge,
	.stats = object_add_stats,
	.close = switches_close,
};
