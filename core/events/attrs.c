// SPDX-License-Identifier: Apache-2.0
#include "core/events/attrs.h"

#include "core/arch/arch.h"
#include "core/events/event_rings.h"
#include "core/host/kernel.h"

#include <time.h>

/*
 * If filters need them, ask for the cgroup of samples, and for records of namespaces. The reader filters all samples
 * or, in a PID namespace, those of tasks whose ids the BPF program does not know (NOTE_UNNUMBERED).
 */
static void ask_for_groups(struct perf_event_attr *a, const struct events *ev)
{
	if (filter_by_cgroup(&ev->request->filter))
		a->sample_type |= PERF_SAMPLE_CGROUP;
	a->namespaces = !ev->apart && filter_by_mntns(&ev->request->filter);
}

/*
 * The tracepoint fires when a thread leaves its CPU, and its ids are those of the initial namespace. If both backends
 * count, the BPF program must be able to read the tracepoint's record: then the program runs on this tracepoint, and
 * writes its note about a switch before the kernel writes the sample.
 */
static enum switch_source choose_switches(const struct events *ev)
{
	if (!ev->request->off_cpu.wanted)
		return SWITCHES_NONE;
	if (!events_reader_counts(ev))
		return SWITCHES_BY_PROGRAM;
	if (ev->sched_switch.id && !ev->followed && !ev->request->in_pidns &&
	    (!ev->has_notes || sched_switch_is_usual(&ev->sched_switch)))
		return SWITCHES_BY_TRACEPOINT;
	return SWITCHES_BY_RECORDS;
}

/*
 * Without a sampling event, the switch event leads, and each switch is a sample. But if a BPF program sees the
 * switches, the leading event takes no samples: it only has the ring.
 */
void attrs_choose(struct events *ev)
{
	const struct event_type tracepoint = event_sched_switch(ev->sched_switch.id);

	ev->switches = choose_switches(ev);
	ev->types[EVENT_SWITCHES] = ev->switches == SWITCHES_BY_TRACEPOINT ? tracepoint
				    : ev->switches == SWITCHES_BY_PROGRAM  ? *event_default()
									   : *event_switches();
	ev->leads = ev->request->sampling.event ? EVENT_SAMPLES : EVENT_SWITCHES;
	if (ev->leads == EVENT_SAMPLES)
		ev->types[EVENT_SAMPLES] = *ev->request->sampling.event;
}

bool attrs_no_kernel_chain(const struct request *r)
{
	return r->filter.no_kernel && !(r->unwinds && kernel_has_fast_path());
}

/* True if the run needs to know whether a thread has a user stack, although no user stack is printed. */
static bool tells_kinds(const struct filter *f)
{
	return f->threads != FILTER_ANY_THREADS;
}

static void ask_for_period(struct perf_event_attr *a, const struct events *ev)
{
	const struct sampling *s = &ev->request->sampling;

	if (!s->event) {
		a->sample_period = ev->switches != SWITCHES_BY_PROGRAM;
	} else if (s->period) {
		a->sample_period = s->period;
	} else {
		a->freq = 1;
		a->sample_freq = s->freq_hz;
	}
}

static void ask_for_switches(struct perf_event_attr *a, const struct events *ev)
{
	if (ev->switches == SWITCHES_BY_TRACEPOINT)
		a->sample_type |= PERF_SAMPLE_RAW;
	a->context_switch = events_read_switches(ev);
}

void attrs_fill(struct events *ev)
{
	const struct event_type *type = &ev->types[ev->leads];
	const struct filter *f = &ev->request->filter;
	struct perf_event_attr *a = &ev->attrs[ev->leads];
	bool tells = !ev->apart;

	*a = (struct perf_event_attr){
		.size = sizeof(*a),
		.type = type->type,
		.config = type->config,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_LOST,
		.disabled = 1,
		.sample_id_all = 1,
		.mmap = tells,
		.mmap2 = tells,
		.comm = tells,
		.comm_exec = tells,
		.task = tells,
		.ksymbol = tells && events_want_kernel_code(ev),
		.watermark = 1,
		.wakeup_watermark = rings_wakeup(ev),
		.exclude_guest = type->type == PERF_TYPE_HARDWARE,
		.exclude_callchain_kernel = attrs_no_kernel_chain(ev->request),
		/* In a PID namespace, the user part tells tasks outside the namespace from the idle task. */
		.exclude_callchain_user = f->no_user && !ev->request->in_pidns && !tells_kinds(f),
		.exclude_idle = ev->request->in_pidns && event_is_clock(type) && !f->idle,
		.sample_max_stack = (uint16_t)ev->request->asked,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.inherit = ev->followed && !f->by_tid,
		.enable_on_exec = ev->followed && ev->request->command,
	};
	if (ev->has_notes || events_join_switches(ev))
		a->sample_type |= PERF_SAMPLE_IDENTIFIER;
	if (ev->leads == EVENT_SWITCHES)
		ask_for_switches(a, ev);
	if (events_reader_counts(ev) || ev->request->in_pidns)
		ask_for_groups(a, ev);
	if (ev->request->unwinds) {
		a->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		a->sample_regs_user = ARCH_PERF_REGS;
		a->sample_stack_user = rings_dump(ev);
	}
	ask_for_period(a, ev);
}

/*
 * Start from the attributes of the sampling event, which the kernel has accepted. Records of tasks and mappings come
 * from that event or, if @ev->apart, from the side band: do not ask for them again.
 */
void attrs_fill_switches(struct events *ev)
{
	struct perf_event_attr *a = &ev->attrs[EVENT_SWITCHES];

	*a = ev->attrs[EVENT_SAMPLES];
	a->type = ev->types[EVENT_SWITCHES].type;
	a->config = ev->types[EVENT_SWITCHES].config;
	a->freq = 0;
	a->sample_period = 1;
	a->exclude_idle = a->exclude_guest = 0;
	a->mmap = a->mmap2 = a->comm = a->comm_exec = a->task = a->namespaces = a->ksymbol = 0;
	ask_for_switches(a, ev);
}

/*
 * Events that share a ring must have the same clock. A note about a sample comes before the sample, which has the
 * stacks; a note about a switch has the stacks itself.
 */
void attrs_fill_notes(struct events *ev, enum event_kind about)
{
	const struct perf_event_attr *a = events_attr(ev);
	const uint64_t not_noted =
		PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_CGROUP;
	bool stacks = about == EVENT_SWITCHES;

	ev->attrs[EVENT_NOTES + about] = (struct perf_event_attr){
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
		.sample_id_all = 1, /* for PERF_RECORD_LOST, which the next event that gets room writes */
		.watermark = 1,
		.wakeup_watermark = a->wakeup_watermark,
		.use_clockid = a->use_clockid,
		.clockid = a->clockid,
	};
}
