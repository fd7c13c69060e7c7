// SPDX-License-Identifier: Apache-2.0
#include "core/capture_events.h"

#include "compat/kernel.h"
#include "compat/perf_open.h"
#include "core/causes.h"
#include "core/cgroup.h"
#include "core/clock.h"
#include "core/followed.h"
#include "core/memory_limit.h"
#include "core/saturate.h"
#include "core/side_band.h"
#include "core/watch.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LOOK_NS  (400 * 1000 * 1000ULL) /* between looks whether an event is alive */
#define AGAIN_NS (20 * 1000 * 1000ULL)  /* where that is in doubt: longer than a tick of any kernel, */
#define AGAIN    6                      /* looks: then it has */

#define RECORD_REST 512 /* of a sample: what is beside its stacks, registers included */

/* Where samples come with copies of stacks, each is as large as dozens of others. */
#define DUMP_WAKEUP_BYTES (128 << 10)
#define DUMPS_WANTED      8 /* copies that a ring has room for */
#define DUMPS_MIN         4 /* where locked memory is limited: then they are smaller */

/* A ring that tells of no tasks and mappings need not be read before a part in so many of it is full. */
#define WAKEUP_SHARE 4

#define RING_MIN_BYTES (64UL << 10) /* smaller ones are told of */

/* A CPU may have 100,000 switches in a second, but few have so many. */
#define SWITCHES_RATE 5000

/* The general registers and the instruction pointer of x86-64: PERF_REG_X86_AX to _IP and _R8 to _R15. */
#define USER_REGS 0xff01ffULL

static uint32_t fitting_wakeup(const struct capture *cap)
{
	size_t bytes = cap->unwinds ? DUMP_WAKEUP_BYTES : RING_WAKEUP_BYTES;

	if (cap->apart && bytes < cap->rings.samples / WAKEUP_SHARE)
		bytes = cap->rings.samples / WAKEUP_SHARE;
	return ring_wakeup(cap->rings.samples, bytes);
}

/* Of the copies of stacks a ring has to hold some. */
static uint32_t fitting_dump(const struct capture *cap)
{
	uint32_t dump = cap->options->dump_bytes;

	while (dump > cap->rings.samples / DUMPS_MIN)
		dump = dump / 2 & ~7U;
	return dump;
}

bool events_outgrow_rings(const struct capture *cap)
{
	return cap->attr.wakeup_watermark > fitting_wakeup(cap) || side_band_outgrows_rings(cap) ||
	       (cap->unwinds && cap->attr.sample_stack_user > fitting_dump(cap));
}

/* For a reader that has to filter: all samples, or those whose tasks the program in the kernel cannot number. */
static void ask_for_groups(struct capture *cap)
{
	if (filter_by_cgroup(&cap->filter))
		cap->attr.sample_type |= PERF_SAMPLE_CGROUP;
	cap->attr.namespaces = !cap->apart && filter_by_mntns(&cap->filter);
}

/*
 * The tracepoint is where a thread leaves, and its ids are those of the initial namespace. With both backends the
 * program has to be the one that reads its record: then its note is in front of that.
 */
static enum switch_source choose_switches(const struct capture *cap, bool with_notes)
{
	if (!cap->options->off_cpu)
		return SWITCHES_NONE;
	if (with_notes && !cap->both)
		return SWITCHES_BY_PROGRAM;
	if (cap->sched_switch.id && !cap->followed && !cap->in_pidns &&
	    (!cap->both || sched_switch_is_usual(&cap->sched_switch)))
		return SWITCHES_BY_TRACEPOINT;
	return SWITCHES_BY_RECORDS;
}

/* What is sampled: without a clock each switch, or nothing, where a program in the kernel sees them. */
static void choose_events(struct capture *cap, bool with_notes)
{
	const struct event_type tracepoint = event_sched_switch(cap->sched_switch.id);

	cap->switches = choose_switches(cap, with_notes);
	cap->switch_event = cap->switches == SWITCHES_BY_TRACEPOINT ? tracepoint : *event_switches();
	if (cap->options->on_cpu)
		cap->event = *cap->options->event;
	else
		cap->event = cap->switches == SWITCHES_BY_PROGRAM ? *event_default() : cap->switch_event;
}

/* Does it matter whether a thread has a user stack, though nobody wants to see it? */
static bool tells_kinds(const struct options *o)
{
	return o->user_threads || o->kernel_threads;
}

static void ask_for_period(struct perf_event_attr *a, const struct capture *cap)
{
	const struct options *o = cap->options;

	if (!o->on_cpu) {
		a->sample_period = cap->switches != SWITCHES_BY_PROGRAM;
	} else if (o->period) {
		a->sample_period = o->period;
	} else {
		a->freq = 1;
		a->sample_freq = o->freq_hz;
	}
}

static void ask_for_switches(struct perf_event_attr *a, const struct capture *cap)
{
	if (cap->switches == SWITCHES_BY_TRACEPOINT)
		a->sample_type |= PERF_SAMPLE_RAW;
	a->context_switch = capture_reads_switches(cap);
}

static void fill_attr(struct capture *cap, bool with_notes)
{
	const struct options *o = cap->options;
	struct perf_event_attr *a = &cap->attr;
	bool tells = !cap->apart;

	*a = (struct perf_event_attr){
		.size = sizeof(*a),
		.type = cap->event.type,
		.config = cap->event.config,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_LOST,
		.disabled = 1,
		.sample_id_all = 1,
		.mmap = tells,
		.mmap2 = tells,
		.comm = tells,
		.comm_exec = tells,
		.task = tells,
		.watermark = 1,
		.wakeup_watermark = fitting_wakeup(cap),
		.exclude_guest = cap->event.type == PERF_TYPE_HARDWARE,
		.exclude_callchain_kernel = o->user_only,
		/* In a pid namespace tasks outside have to be told from the idle task. */
		.exclude_callchain_user = o->kernel_only && !cap->in_pidns && !tells_kinds(o),
		.exclude_idle = cap->in_pidns && event_is_clock(&cap->event) && !o->include_idle,
		.sample_max_stack = (uint16_t)cap->asked,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.inherit = cap->followed && !o->by_tid,
		.enable_on_exec = cap->followed && cap->command,
	};
	if (with_notes || capture_joins_switches(cap))
		a->sample_type |= PERF_SAMPLE_IDENTIFIER;
	if (!o->on_cpu)
		ask_for_switches(a, cap);
	if (!with_notes || cap->both || cap->in_pidns)
		ask_for_groups(cap);
	if (cap->unwinds) {
		a->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		a->sample_regs_user = USER_REGS;
		a->sample_stack_user = fitting_dump(cap);
	}
	ask_for_period(a, cap);
}

/* What the side-band tells is the main event's, and so is what the kernel has accepted of the rest. */
static void fill_switch_attr(struct capture *cap)
{
	struct perf_event_attr *a = &cap->switch_attr;

	*a = cap->attr;
	if (!capture_joins_switches(cap))
		return;
	a->type = cap->switch_event.type;
	a->config = cap->switch_event.config;
	a->freq = 0;
	a->sample_period = 1;
	a->exclude_idle = a->exclude_guest = 0;
	a->mmap = a->mmap2 = a->comm = a->comm_exec = a->task = a->namespaces = 0;
	ask_for_switches(a, cap);
}

static const char no_cgroups[] = "the perf rings do not tell the cgroup of a sample here";

/*
 * Events that share a ring must have the same clock. A note about a sample is in front of it; one about a switch has
 * the stacks itself.
 */
static void fill_notes_attr(struct capture *cap, enum noted what)
{
	const struct perf_event_attr *a = &cap->attr;
	const uint64_t not_noted =
		PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_CGROUP;
	bool stacks = what == NOTED_SWITCHES;

	cap->notes_attr[what] = (struct perf_event_attr){
		.size = sizeof(*a),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.sample_period = 1,
		.sample_type = (stacks ? a->sample_type : a->sample_type & ~not_noted) | PERF_SAMPLE_RAW,
		.sample_regs_user = stacks ? a->sample_regs_user : 0,
		.sample_stack_user = stacks ? a->sample_stack_user : 0,
		.sample_max_stack = stacks ? a->sample_max_stack : 0,
		.exclude_callchain_kernel = stacks && a->exclude_callchain_kernel,
		.exclude_callchain_user = stacks && a->exclude_callchain_user,
		.read_format = a->read_format,
		.sample_id_all = 1, /* of PERF_RECORD_LOST, which is written by whichever event comes next */
		.watermark = 1,
		.wakeup_watermark = a->wakeup_watermark,
		.use_clockid = a->use_clockid,
		.clockid = a->clockid,
	};
}

int capture_open_error(const struct host *host, const struct event_type *event, uint64_t freq_hz, int cpu, int code,
		       struct err *err)
{
	struct cause why;

	cause_of_event(host, &(struct cause_event){ event, freq_hz, .tid = -1, .kernel = true }, code, &why);
	return cause_err(err, code, &why, "cannot open perf event '%s' on CPU %d", event->name, cpu);
}

int capture_ring_error(const struct capture *cap, int cpu, int code, struct err *err)
{
	struct cause why;

	cause_of_ring(cap->host, code, &why);
	return cause_err(err, code, &why, "cannot map a ring of %zu KiB on CPU %d", cap->rings.samples >> 10, cpu);
}

bool capture_small_rings(const struct capture *cap, struct err *why)
{
	bool cut = cap->unwinds && cap->attr.sample_stack_user < cap->options->dump_bytes;
	char copies[64] = "";
	struct cause limits;

	if (!cap->ring_refused || (cap->rings.samples >= RING_MIN_BYTES && !cut))
		return false;
	cause_of_ring(cap->host, cap->ring_refused, &limits);
	if (cut)
		snprintf(copies, sizeof(copies), " and stack copies of %u bytes", cap->attr.sample_stack_user);
	err_set(why, cap->ring_refused, "rings of %zu KiB%s only: %s", cap->rings.samples >> 10, copies,
		*limits.text ? limits.text : strerror(-cap->ring_refused));
	return true;
}

/* @kernel: it may have been because of the kernel's part. */
static int refused(const struct capture *cap, const struct event_type *event, pid_t tid, int cpu, bool kernel, int code,
		   struct err *err)
{
	uint64_t freq_hz = event == &cap->event ? cap->options->freq_hz : 0;
	struct cause why;

	if (tid < 0)
		return capture_open_error(cap->host, event, freq_hz, cpu, code, err);
	cause_of_event(cap->host, &(struct cause_event){ event, freq_hz, tid, kernel }, code, &why);
	return cause_err(err, code, &why, "cannot open perf event '%s' of thread %d on CPU %d", event->name, tid, cpu);
}

/* All but what tells of tasks and mappings. */
static void close_main(struct capture_event *e)
{
	size_t i;

	while (e->nr_more)
		close(e->more[--e->nr_more].fd);
	free(e->more);
	e->more = NULL;
	if (e->fd >= 0)
		close(e->fd);
	e->fd = -1;
	for (i = 0; i < NOTED_NR; i++) {
		if (e->notes[i].fd >= 0)
			close(e->notes[i].fd);
		e->notes[i].fd = -1;
	}
	e->waits = false;
}

void event_close(struct capture_event *e)
{
	close_main(e);
	side_band_close(&e->side);
}

void events_close(struct capture *cap)
{
	size_t i;

	for (i = 0; i < cap->nr_events; i++)
		event_close(&cap->events[i]);
	free(cap->events);
	cap->events = NULL;
	cap->nr_events = 0;
}

int event_id(int fd, int cpu, uint64_t *id, struct err *err)
{
	if (ioctl(fd, PERF_EVENT_IOC_ID, id))
		return err_sys(err, -errno, "cannot read the id of a perf event on CPU %d", cpu);
	return 0;
}

/* Return: 0; -ENODEV: the CPU is offline, not described; -errno. */
static int open_notes(struct capture *cap, struct capture_event *e, enum noted what, struct err *err)
{
	int fd;

	fill_notes_attr(cap, what);
	fd = perf_open(&cap->notes_attr[what], -1, e->cpu);
	if (fd == -ENODEV)
		return -ENODEV;
	if (fd < 0)
		return err_sys(err, fd, "cannot open the perf event for BPF output on CPU %d", e->cpu);
	e->notes[what].fd = fd;
	return event_id(fd, e->cpu, &e->notes[what].id, err);
}

/* @attr: also out, see perf_open(); @tid: -1: of the whole CPU. Return: a descriptor or -errno. */
static int open_for(struct perf_event_attr *attr, const struct capture_event *e, pid_t tid)
{
	struct perf_event_attr side_band = *attr;

	/* An event that only counts has no use for its count here, but its ring gets the side-band of its CPU. */
	side_band.type = PERF_TYPE_SOFTWARE;
	side_band.config = PERF_COUNT_SW_CPU_CLOCK;
	side_band.freq = 0;
	side_band.sample_period = 0;
	return perf_open(e->samples ? attr : &side_band, tid, e->cpu);
}

/* Who may not see the kernel may perhaps see user code. */
static int open_user_only(struct capture *cap, const struct capture_event *e, pid_t tid, int code)
{
	struct err why;
	int fd;

	if ((code != -EACCES && code != -EPERM) || cap->attr.exclude_kernel || cap->options->kernel_only)
		return code;
	refused(cap, &cap->event, tid, e->cpu, true, code, &why);
	cap->attr.exclude_kernel = 1;
	cap->attr.exclude_callchain_kernel = 1; /* else 7.2 refuses it */
	fd = open_for(&cap->attr, e, tid);
	if (fd >= 0) {
		cap->user_only = why;
	} else {
		cap->attr.exclude_kernel = 0;
		cap->attr.exclude_callchain_kernel = cap->options->user_only;
	}
	return fd;
}

int event_open(struct capture *cap, const struct capture_event *e, pid_t tid)
{
	int fd = open_for(&cap->attr, e, tid);

	return fd < 0 && tid >= 0 ? open_user_only(cap, e, tid, fd) : fd;
}

/* -EINVAL does not say what of the attributes it is about. Rights are looked at behind them. */
static bool is_about(const struct capture *cap, const struct capture_event *e, pid_t tid, int code, uint64_t what)
{
	struct perf_event_attr without = cap->attr;
	int fd;

	if (code != -EINVAL || !(without.sample_type & what))
		return false;
	without.sample_type &= ~what;
	fd = open_for(&without, e, tid);
	if (fd >= 0)
		close(fd);
	return fd != -EINVAL;
}

int event_refused(const struct capture *cap, const struct capture_event *e, pid_t tid, int code, struct err *err)
{
	if (is_about(cap, e, tid, code, PERF_SAMPLE_CGROUP))
		return err_set(err, code, "%s (before Linux 5.7, or without CONFIG_CGROUP_PERF)", no_cgroups);
	if (is_about(cap, e, tid, code, PERF_SAMPLE_IDENTIFIER))
		return err_set(err, code,
			       "the samples and the switches of a ring cannot be told apart (before Linux 3.12)");
	return refused(cap, &cap->event, tid, e->cpu, tid < 0 || cap->options->kernel_only, code, err);
}

int event_open_switches(struct capture *cap, const struct capture_event *e, pid_t tid)
{
	fill_switch_attr(cap);
	return perf_open(&cap->switch_attr, tid, e->cpu);
}

int event_switches_refused(const struct capture *cap, const struct capture_event *e, pid_t tid, int code,
			   struct err *err)
{
	return refused(cap, &cap->switch_event, tid, e->cpu, tid < 0, code, err);
}

int event_join(struct capture_event *e, const struct joined_event *joined)
{
	struct joined_event *more = reallocarray(e->more, e->nr_more + 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	e->more = more;
	e->more[e->nr_more++] = *joined;
	return 0;
}

static int open_switches(struct capture *cap, struct capture_event *e, struct err *err)
{
	struct joined_event joined = { .fd = event_open_switches(cap, e, -1) };
	int rc;

	if (joined.fd == -ENODEV)
		return -ENODEV;
	if (joined.fd < 0)
		return event_switches_refused(cap, e, -1, joined.fd, err);
	rc = event_id(joined.fd, e->cpu, &joined.switch_id, err);
	if (!rc && event_join(e, &joined))
		rc = err_sys(err, -ENOMEM, "cannot remember the events of CPU %d", e->cpu);
	if (rc)
		close(joined.fd);
	return rc;
}

static int open_whole(struct capture *cap, struct capture_event *e, struct err *err)
{
	int fd = event_open(cap, e, -1);

	if (fd == -ENODEV)
		return -ENODEV;
	if (fd < 0)
		return event_refused(cap, e, -1, fd, err);
	e->fd = fd;
	return 0;
}

/* Where threads are followed, their events are open. Return: 0; -ENODEV: the CPU is offline, not described; -errno. */
static int open_event(struct capture *cap, struct capture_event *e, struct err *err)
{
	const struct options *o = cap->options;
	int rc = cap->followed ? (e->fd < 0 ? -ENODEV : 0) : open_whole(cap, e, err);

	if (!rc && !cap->followed && capture_joins_switches(cap))
		rc = open_switches(cap, e, err);
	if (!rc && cap->has_notes && o->on_cpu && e->samples)
		rc = open_notes(cap, e, NOTED_SAMPLES, err);
	if (!rc && cap->has_notes && o->off_cpu)
		rc = open_notes(cap, e, NOTED_SWITCHES, err);
	if (!rc && cap->apart && !cap->followed)
		rc = side_band_open(cap, e, err);
	if (rc) {
		close_main(e);
		side_band_leave(&e->side);
	}
	return rc;
}

/* Samples of these are due as long as they are online. */
static int watch_cpus(struct capture *cap)
{
	struct cpu_list cpus = { calloc(cap->nr_events, sizeof(*cpus.cpu)), 0 };
	size_t i;

	for (i = 0; cpus.cpu && i < cap->nr_events; i++)
		if (cap->events[i].samples)
			cpus.cpu[cpus.nr++] = cap->events[i].cpu;
	watch_free(cap->watch);
	cap->watch = cpus.cpu ? watch_new(cap->host, &cpus) : NULL;
	cpu_list_release(&cpus);
	return cap->watch ? 0 : -ENOMEM;
}

size_t capture_largest_record(const struct capture *cap, size_t dump)
{
	return cap->asked * sizeof(uint64_t) + dump + RECORD_REST;
}

/* Samples of the main event, and switches. */
static uint64_t known_rate(const struct capture *cap)
{
	uint64_t rate = cap->options->on_cpu ? cap->options->freq_hz : 0;

	if (cap->options->on_cpu && !rate && event_is_clock(&cap->event))
		rate = NSEC_PER_SEC / capture_period_ns(cap);
	return cap->switches ? rate + SWITCHES_RATE : rate;
}

static void choose_rings(struct capture *cap, size_t cpus)
{
	const struct ring_needs needs = {
		.cpus = cpus,
		.rate = known_rate(cap),
		.record = capture_largest_record(cap, cap->unwinds ? cap->options->dump_bytes : 0),
		.at_least = cap->unwinds ? DUMPS_WANTED : 0,
		.apart = cap->apart,
		.memory = memory_limit(cap->host),
	};

	cap->rings_wanted = ring_sizes_wanted(&needs);
	cap->rings = ring_sizes(&needs);
	cap->kept_bytes_max = ring_sizes_kept(needs.memory);
}

/* A place for each CPU that may be there, those that sample first: the attributes they are accepted with serve all. */
static int make_places(struct capture *cap, const struct cpu_list *possible)
{
	/* A thread that leaves one CPU may come back on any other. */
	int only = cap->options->on_cpu ? cap->options->cpu : -1;
	size_t pass, i;

	cap->events = calloc(possible->nr, sizeof(*cap->events));
	if (!cap->events)
		return -ENOMEM;
	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < possible->nr; i++) {
			bool samples = only < 0 || possible->cpu[i] == only;

			if (samples == (pass == 0))
				cap->events[cap->nr_events++] = (struct capture_event){
					.fd = -1,
					.cpu = possible->cpu[i],
					.samples = samples,
					.notes = { { .fd = -1 }, { .fd = -1 } },
					.side = { .fd = -1 },
				};
		}
	}
	return 0;
}

static int open_all(struct capture *cap, const struct cpu_list *online, struct err *err)
{
	size_t i;
	int rc = cap->followed ? followed_open(cap, online, err) : 0;

	if (rc)
		return rc;
	if (!cap->followed)
		side_band_find_targets(cap);
	for (i = 0; i < cap->nr_events; i++) {
		struct capture_event *e = &cap->events[i];

		if (!cpu_list_has(online, e->cpu))
			continue;
		rc = open_event(cap, e, err);
		if (rc && rc != -ENODEV)
			return rc;
		cap->nr_cpus += !rc && e->samples;
	}
	if (!cap->nr_cpus)
		return err_sys(err, -ENODEV, "cannot open perf event '%s' on any CPU", cap->event.name);
	return 0;
}

static int open_events(struct capture *cap, bool with_notes, struct err *err)
{
	struct cpu_list online = { 0 }, possible = { 0 };
	int rc = host_online_cpus(cap->host, &online, err);

	if (!rc)
		rc = host_possible_cpus(cap->host, &possible, err);
	if (!rc) {
		cap->has_notes = with_notes;
		choose_events(cap, with_notes);
		side_band_begin(cap);
		if (!cap->rings.samples)
			choose_rings(cap, online.nr);
		cap->nr_cpus = 0;
		cap->user_only.code = cap->unfollowed.code = 0;
		fill_attr(cap, with_notes);
		rc = make_places(cap, &possible);
		if (!rc)
			rc = watch_cpus(cap);
		if (rc)
			err_sys(err, rc, "cannot remember %zu CPUs", possible.nr);
	}
	if (!rc && cap->switches == SWITCHES_BY_RECORDS && cap->options->state_mask > 0)
		rc = err_set(err, -EOPNOTSUPP, "--state %" PRId64 " needs the tracepoint sched:sched_switch%s%s",
			     cap->options->state_mask, cap->no_tracepoint.code ? ": " : "",
			     cap->no_tracepoint.code ? cap->no_tracepoint.msg : " of whole CPUs");
	if (!rc && cap->attr.sample_type & PERF_SAMPLE_CGROUP && !cgroup_sampled(cap->host))
		rc = err_set(err, -EOPNOTSUPP,
			     "%s (the controller perf_event is in a hierarchy of version 1, or none is enabled below "
			     "the root)",
			     no_cgroups);
	if (!rc)
		rc = open_all(cap, &online, err);
	if (!rc && !capture_joins_switches(cap))
		fill_switch_attr(cap);
	if (!rc && !cap->apart)
		cap->side_attr = cap->attr;
	if (!rc && cap->switches == SWITCHES_BY_RECORDS && !cap->switch_attr.context_switch)
		rc = cause_of_no_switches(&cap->no_tracepoint, err);
	cpu_list_release(&online);
	cpu_list_release(&possible);
	if (rc)
		events_close(cap);
	return rc;
}

/* Tracepoints of whole CPUs need more rights than other events. */
int events_open(struct capture *cap, bool with_notes, struct err *err)
{
	int rc = open_events(cap, with_notes, err);

	if (cap->switches != SWITCHES_BY_TRACEPOINT || (rc != -EACCES && rc != -EPERM && rc != -ENOENT))
		return rc;
	cap->sched_switch.id = 0;
	cap->no_tracepoint = *err;
	return open_events(cap, with_notes, err);
}

static int try(const struct perf_event_attr *accepted, int cpu)
{
	struct perf_event_attr attr = *accepted;
	int fd = perf_open(&attr, -1, cpu);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

int events_try(void *capture)
{
	const struct capture *cap = capture;
	size_t i;
	int rc;

	for (i = 0; i < cap->nr_events; i++) {
		if (cap->events[i].fd < 0)
			continue;
		rc = try(&cap->attr, cap->events[i].cpu);
		return rc || !capture_joins_switches(cap) ? rc : try(&cap->switch_attr, cap->events[i].cpu);
	}
	return -ENODEV;
}

/* @request: to enable or disable all that samples, or sees switches, on the CPU of @e. */
static int tell(const struct capture_event *e, unsigned long request)
{
	size_t i;

	if (e->fd >= 0 && ioctl(e->fd, request, 0))
		return -errno;
	for (i = 0; i < e->nr_more; i++)
		if (ioctl(e->more[i].fd, request, 0))
			return -errno;
	return 0;
}

/* With the time of now: what passed since a round began would be missing at the next look. */
static void take_look(struct capture_event *e, uint64_t enabled_ns)
{
	e->looked_at = now_ns();
	e->looked_ns = enabled_ns;
}

static int enable(struct capture_event *e, struct err *err)
{
	int rc = side_band_tell(&e->side, PERF_EVENT_IOC_ENABLE);

	if (!rc)
		rc = tell(e, PERF_EVENT_IOC_ENABLE);
	take_look(e, 0);
	e->stands = 0;
	return rc ? err_sys(err, rc, "cannot enable the perf event of CPU %d", e->cpu) : 0;
}

int events_enable(struct capture *cap, struct err *err)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < cap->nr_events && !rc; i++)
		rc = enable(&cap->events[i], err);
	return rc;
}

/* First what samples: of the others every sample has still been told. */
int events_disable(struct capture *cap, struct err *err)
{
	const struct capture_event *e;
	size_t i;
	int rc = 0;

	for (i = 0; i < 2 * cap->nr_events && !rc; i++) {
		e = &cap->events[i % cap->nr_events];
		rc = i < cap->nr_events ? tell(e, PERF_EVENT_IOC_DISABLE)
					: side_band_tell(&e->side, PERF_EVENT_IOC_DISABLE);
		if (rc)
			err_sys(err, rc, "cannot disable the perf event of CPU %d", e->cpu);
	}
	return rc;
}

/* How long @e has been enabled for. Return: false: it cannot be read. */
static bool read_enabled(const struct capture_event *e, uint64_t *enabled_ns)
{
	struct event_counts counts;

	if (read(e->fd, &counts, sizeof(counts)) < (ssize_t)offsetof(struct event_counts, lost))
		return false;
	*enabled_ns = counts.enabled_ns;
	return true;
}

/*
 * Until when @e was alive: the time it has been enabled for stands still when its CPU goes offline (on 6.18; where it
 * does not, that is taken to be now), which is all that a kernel tells of it. Only what came since the last look
 * counts: the two clocks drift apart.
 */
static uint64_t alive_until(const struct capture_event *e, uint64_t now, uint64_t *enabled_ns)
{
	uint64_t at;

	if (!read_enabled(e, enabled_ns))
		return now;
	at = e->looked_at + (*enabled_ns - e->looked_ns);
	return at < now ? at : now;
}

/*
 * The time of a thread's event goes on while the thread runs, on whatever CPU, and also while it is throttled; that of
 * the events that were inherited is added to it. So each CPU's event of a thread tells the same.
 */
int events_followed_ns(const struct capture *cap, uint64_t *ns)
{
	bool known = false;
	size_t i;

	*ns = 0;
	for (i = 0; i < cap->nr_events; i++) {
		const struct capture_event *e = &cap->events[i];
		uint64_t enabled_ns;

		if (e->fd < 0 || !read_enabled(e, &enabled_ns))
			continue;
		known = true;
		if (enabled_ns > *ns)
			*ns = enabled_ns;
	}
	return known ? 0 : -ENODATA;
}

/* Return: does its time still stand? */
static bool stands_still(struct capture_event *e)
{
	uint64_t enabled_ns = e->stands_ns;

	if (read_enabled(e, &enabled_ns) && enabled_ns == e->stands_ns)
		return true;
	take_look(e, enabled_ns);
	return false;
}

/*
 * The host says that the CPU of @e is online. Perhaps it has gone and is back already: then it is its event that tells.
 *
 * Where all of the host stood still for a while, a guest that was stopped or a laptop that slept, the clock of a CPU is
 * late until its next tick (sched_clock_local(), kernel/sched/clock.c), and then goes on. What has gone does not.
 */
static void look(struct capture_event *e, uint64_t now)
{
	uint64_t enabled_ns = e->looked_ns, at;

	if (e->stands) {
		if (now >= e->again_at) {
			e->stands = stands_still(e) ? e->stands + 1 : 0;
			e->again_at = now + AGAIN_NS;
		}
		return;
	}
	if (now - e->looked_at < LOOK_NS)
		return;
	at = alive_until(e, now, &enabled_ns);
	if (now - at > (now - e->looked_at) / 2) {
		e->stands = 1;
		e->stands_ns = enabled_ns;
		e->stands_at = at;
		e->again_at = now + AGAIN_NS;
		return;
	}
	take_look(e, enabled_ns);
}

uint64_t events_in_doubt(const struct capture *cap)
{
	uint64_t first = 0;
	size_t i;

	for (i = 0; i < cap->nr_events; i++) {
		const struct capture_event *e = &cap->events[i];

		if (e->fd >= 0 && e->stands && (!first || e->again_at < first))
			first = e->again_at;
	}
	return first;
}

/*
 * Has the CPU of @e gone?
 * @on: the host says that it is online
 * @at: out: when it went
 */
static bool is_gone(struct capture_event *e, bool on, uint64_t now, uint64_t *at)
{
	uint64_t enabled_ns;

	if (on)
		look(e, now);
	*at = e->stands ? e->stands_at : on ? now : alive_until(e, now, &enabled_ns);
	return !on || e->stands >= AGAIN;
}

static int leave(struct capture *cap, size_t i, uint64_t at, int (*detach)(struct capture *, size_t, struct err *),
		 struct err *err)
{
	struct capture_event *e = &cap->events[i];
	int rc;

	/* That it is gone is inferred: what is not must not fire behind the last look at its ring. */
	tell(e, PERF_EVENT_IOC_DISABLE);
	side_band_tell(&e->side, PERF_EVENT_IOC_DISABLE);
	rc = detach(cap, i, err);
	e->offline_at = at < e->due_from ? e->due_from : at;
	close_main(e);
	side_band_leave(&e->side);
	return rc;
}

/*
 * A CPU is back, or new. Where it cannot be sampled now, which is told in the end, it counts as offline until the next
 * try. Return: 1 or 0.
 */
static int come(struct capture *cap, size_t i, uint64_t now, int (*attach)(struct capture *, size_t, struct err *),
		int (*detach)(struct capture *, size_t, struct err *), struct err *err)
{
	struct capture_event *e = &cap->events[i];
	uint64_t offline_at = e->offline_at;
	int rc = open_event(cap, e, err);

	if (rc) {
		if (rc != -ENODEV && !cap->refused.code)
			cap->refused = *err;
		return 0;
	}
	rc = attach(cap, i, err);
	if (!rc)
		rc = enable(e, err);
	if (rc) {
		rc = leave(cap, i, now, detach, err);
		e->offline_at = offline_at;
		return rc;
	}
	if (e->due)
		e->offline_ns += now - offline_at;
	else
		e->due_from = now;
	e->due = true;
	return 1;
}

/*
 * The events of threads stay with them, and go on when their CPU is back. Those of a CPU that comes for the first time
 * wait for that. One that is opened now would miss the threads that were made before. Return: 1 or 0.
 */
static int welcome_cpus(struct capture *cap, const struct cpu_list *online,
			int (*attach)(struct capture *, size_t, struct err *), struct err *err)
{
	int changed = 0;
	size_t i;

	for (i = 0; i < cap->nr_events; i++) {
		struct capture_event *e = &cap->events[i];

		if ((e->fd >= 0 && !e->waits) || !cpu_list_has(online, e->cpu))
			continue;
		if (e->fd < 0) {
			err_set(err, -ENODEV, "CPU %d was offline when the run began", e->cpu);
		} else if (!attach(cap, i, err)) {
			e->waits = false;
			changed = 1;
			cap->nr_cpus += e->samples;
			continue;
		}
		if (!cap->refused.code)
			cap->refused = *err;
		event_close(e);
	}
	return changed;
}

int events_follow_cpus(struct capture *cap, uint64_t now_ns, int (*attach)(struct capture *, size_t, struct err *),
		       int (*detach)(struct capture *, size_t, struct err *), struct err *err)
{
	struct cpu_list online = { 0 };
	size_t i, nr = 0;
	uint64_t at;
	int rc = 0, changed = 0;

	/* Whatever is in the way of reading that, it is no reason to end the run. */
	if (host_online_cpus(cap->host, &online, err))
		return 0;
	if (cap->followed) {
		changed = welcome_cpus(cap, &online, attach, err);
		cpu_list_release(&online);
		return changed;
	}
	for (i = 0; i < cap->nr_events && rc >= 0; i++) {
		struct capture_event *e = &cap->events[i];
		bool on = cpu_list_has(&online, e->cpu);

		if (e->fd >= 0 && is_gone(e, on, now_ns, &at)) {
			rc = leave(cap, i, at, detach, err);
			changed = 1;
		}
		if (rc >= 0 && on && e->fd < 0) {
			rc = come(cap, i, now_ns, attach, detach, err);
			changed |= rc > 0;
		}
		nr += e->fd >= 0 && e->samples;
	}
	if (nr > cap->nr_cpus)
		cap->nr_cpus = nr;
	cpu_list_release(&online);
	return rc < 0 ? rc : changed;
}

void events_begin(struct capture *cap, uint64_t now_ns)
{
	size_t i;

	for (i = 0; i < cap->nr_events; i++) {
		struct capture_event *e = &cap->events[i];

		e->due |= e->fd >= 0;
		e->due_from = e->offline_at = now_ns;
		e->offline_ns = 0;
	}
}

/* How long it has been offline; where that is in doubt, and was so at the last look, too, it is. */
static uint64_t away_ns(const struct capture_event *e, uint64_t now)
{
	uint64_t since = e->fd < 0 ? e->offline_at : e->stands_at;

	if (e->fd >= 0 && e->stands < 2)
		return 0;
	if (since < e->due_from)
		since = e->due_from;
	return sub_or_0(now, since);
}

void events_account(struct capture *cap, uint64_t now_ns)
{
	size_t i;

	cap->due_ns = cap->offline_ns = 0;
	for (i = 0; i < cap->nr_events; i++) {
		const struct capture_event *e = &cap->events[i];

		if (!e->due || !e->samples)
			continue;
		cap->due_ns += now_ns - e->due_from;
		cap->offline_ns += e->offline_ns + away_ns(e, now_ns);
	}
	events_begin(cap, now_ns);
}
