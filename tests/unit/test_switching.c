// SPDX-License-Identifier: Apache-2.0
/* Intervals off the CPU from records of the rings, for each source of switches. */
#include "backend-perfring/apply.h"
#include "backend-perfring/switching.h"
#include "tests/unit/rig.h"
#include "tests/unit/unit.h"

#define RINGS 2

#define DEAD      0x30
#define PREEMPTED 0x100

static char *dir;
static struct host host;
static struct rig rig;
static struct applied_ring rings[RINGS];
static struct event_place events[RINGS];
static struct applier a;

static void setup(void)
{
	dir = unit_tmpdir();
	host = (struct host){ .proc = dir, .sys = dir };
	memset(rings, 0, sizeof(rings));
	memset(events, 0, sizeof(events));
	rig_make(&rig, (struct request){ .host = &host, .off_cpu = { true, .max_ns = UINT64_MAX }, .asked = 126 });
	rig.events.switches = SWITCHES_BY_TRACEPOINT;
	/* The raw data here: the name, tids, and the state. */
	rig.events.sched_switch = (struct sched_switch){
		1, { 0, 16 }, { 16, 4 }, { 24, 8 }, { 20, 4 }, .dead = DEAD, .preempted = PREEMPTED
	};
	rig.events.attrs[EVENT_SAMPLES].use_clockid = 1;
	rig.events.places = events;
	rig.events.nr_places = RINGS;
	rig.sink.tasks = tasks_new(&host);
	rig.sink.sets[0].intervals = rows_new();
	rig.sink.sets[0].ring_intervals = rows_new();
	ck_assert(rig.sink.tasks && rig.sink.sets[0].intervals && rig.sink.sets[0].ring_intervals);
	a = (struct applier){ .env = &rig.env, .rings = rings };
}

/* Call it after the options of a test are set. */
static void begin(void)
{
	a.switching = switching_new(&rig.env);
	ck_assert_ptr_nonnull(a.switching);
}

static void teardown(void)
{
	switching_free(a.switching);
	tasks_free(rig.sink.tasks);
	rows_free(rig.sink.sets[0].intervals);
	rows_free(rig.sink.sets[0].ring_intervals);
	unit_rmdir(dir);
}

static const uint64_t both_sides[] = { PERF_CONTEXT_KERNEL, 0xffffffff81000010, PERF_CONTEXT_USER, 0x401000 };

/* An event at so many us. */
struct step {
	uint64_t us;
	enum {
		SWITCH, /* @from leaves with @state and @to comes, on @ring: a sample of the tracepoint */
		SAMPLE, /* @from leaves: a sample of context-switches */
		LEFT,   /* PERF_RECORD_SWITCH of @from, with @state PREEMPTED or not */
		CAME,   /* PERF_RECORD_SWITCH of @to */
		EXIT,   /* exit of @from, a thread of process @to, or of its own */
		FORK,   /* @to is created */
		LOST,   /* records of @ring were lost */
		GAP,    /* records may be missing */
		OFF,    /* and the CPU of @ring has gone offline */
		CUT,    /* a sample without all its raw data */
	} what;
	uint32_t ring;
	int from, to;
	uint64_t state;
	bool kernel;  /* @from is a thread of the kernel */
	bool unnamed; /* the pid tables no longer have @from, or the thread that came */
};

/* @noted: the BPF program has seen it */
static void apply(const struct step *s, bool noted)
{
	struct {
		char comm[16];
		int32_t prev, next;
		uint64_t state;
	} raw = { "worker", s->from, s->to, s->state };
	const struct sample_lead lead = { .kind = EVENT_SWITCHES };
	struct record r = { .time = s->us * 1000, .cpu = s->ring, .pid = s->from, .tid = s->from };

	if (s->unnamed)
		r.pid = r.tid = -1;
	if (s->what == SWITCH || s->what == SAMPLE || s->what == CUT) {
		r.type = PERF_RECORD_SAMPLE;
		r.sample.ips = both_sides;
		r.sample.nr = s->kernel ? 2 : ARRAY_SIZE(both_sides);
		r.sample.raw = s->what == SAMPLE ? NULL : &raw;
		r.sample.raw_size = s->what == CUT ? sizeof(raw) - 1 : sizeof(raw);
	} else if (s->what == LEFT || s->what == CAME) {
		r.type = PERF_RECORD_SWITCH;
		r.switched.out = s->what == LEFT;
		r.switched.preempted = s->state == PREEMPTED;
		if (!r.switched.out)
			r.pid = r.tid = s->unnamed ? -1 : s->to;
	} else if (s->what == LOST) {
		r.type = PERF_RECORD_LOST;
	} else {
		r.type = s->what == EXIT ? PERF_RECORD_EXIT : PERF_RECORD_FORK;
		if (s->what == FORK)
			r.pid = r.tid = s->to;
		else if (s->to)
			r.pid = s->to;
	}
	/* As a note does. */
	if (noted) {
		rings[s->ring].at_switch.seen = true;
		rings[s->ring].at_switch.ns = r.time;
		rings[s->ring].at_switch.next = s->to;
	}
	if (s->what == OFF)
		events[s->ring].fd = -1;
	if (s->what == GAP || s->what == OFF)
		switching_gap_begins(&a, s->ring);
	else
		ck_assert_int_eq(apply_record(&a, s->ring, &r, &lead), 0);
}

/* The results: us and number of charged intervals, and the other counts. */
struct outcome {
	uint64_t us, charged, filtered, open, lost;
};

struct scenario {
	const char *what;
	struct step steps[10];
	struct outcome want;
	enum switch_source by; /* SWITCHES_NONE: the tracepoint */
	struct filter with;    /* only threads and ids; and: */
	uint64_t min_ns, max_ns;
	int64_t mask;    /* 0: any state; -1: threads that could run */
	bool records;    /* with PERF_RECORD_SWITCH */
	int cpu;         /* 0: any; otherwise the CPU's number + 1 */
	bool own_clocks; /* each CPU has a clock of its own */
	uint64_t disordered;
};

static const struct scenario scenarios[] = {
	{ "one", { { 10, SWITCH, 0, 5, 0, 1 }, { 30, SWITCH, 0, 0, 5 } }, { 20, 1, 0, 0, 0 } },
	{ "on another CPU", { { 10, SWITCH, 0, 5, 0, 1 }, { 30, SWITCH, 1, 0, 5 } }, { 20, 1, 0, 0, 0 } },
	{ "two threads take turns",
	  { { 10, SWITCH, 0, 5, 6, 1 }, { 20, SWITCH, 0, 6, 5, 1 }, { 50, SWITCH, 0, 5, 6, 1 } },
	  { 10 + 30, 2, 0, 1, 0 } },
	{ "the idle task", { { 10, SWITCH, 0, 0, 5 }, { 30, SWITCH, 0, 5, 0, 1 } }, { 0, 0, 0, 1, 0 } },
	{ "began before", { { 30, SWITCH, 0, 0, 5 } }, { 0, 0, 0, 0, 0 } },
	{ "never comes back", { { 10, SWITCH, 0, 5, 0, 1 } }, { 0, 0, 0, 1, 0 } },
	{ "is dead", { { 10, SWITCH, 0, 5, 0, 0x10 } }, { 0, 0, 0, 0, 0 } },
	{ "a zombie", { { 10, SWITCH, 0, 5, 0, 0x20 } }, { 0, 0, 0, 0, 0 } },
	{ "dead, and its number used again",
	  { { 10, SWITCH, 0, 5, 0, 0x20 }, { 30, SWITCH, 0, 0, 5 } },
	  { 0, 0, 0, 0, 0 } },
	{ "its end is not seen",
	  { { 10, SWITCH, 0, 5, 0, 1 }, { 30, SWITCH, 0, 5, 0, 1 }, { 40, SWITCH, 0, 0, 5 } },
	  { 10, 1, 0, 0, 1 } },
	{ "dying, of another process", { { 10, SWITCH, 0, -1, 0, 1 }, { 30, SWITCH, 0, 0, -1 } }, { 20, 1, 0, 0, 0 } },
	{ "a CPU goes offline",
	  { { 10, SWITCH, 0, 5, 0, 1 }, { 20, OFF, 0 }, { 30, SWITCH, 1, 0, 5 } },
	  { 0, 0, 0, 0, 1 } },
	{ "clocks that differ", { { 30, SWITCH, 0, 5, 0, 1 }, { 20, SWITCH, 1, 0, 5 } }, { 0, 1, 0, 0, 0 } },
	{ "came before it left",
	  { { 20, SWITCH, 1, 0, 5 }, { 30, SWITCH, 0, 5, 0, 1 }, { 50, SWITCH, 1, 5, 0, 1 }, { 55, SWITCH, 0, 0, 5 } },
	  { 0 + 5, 2, 0, 0, 0 },
	  .own_clocks = true,
	  .disordered = 1 },
	{ "came before it left, with PERF_RECORD_SWITCH",
	  { { 10, SWITCH, 0, 0, 5 },
	    { 20, SWITCH, 1, 0, 5 },
	    { 30, SWITCH, 0, 5, 6, 1 },
	    { 50, SWITCH, 1, 5, 0, 1 },
	    { 55, SWITCH, 0, 6, 5, 1 } },
	  { 0 + 5, 2, 0, 1, 0 },
	  .own_clocks = true,
	  .disordered = 1 },
	{ "a whole stay before it left",
	  { { 10, SWITCH, 0, 0, 5 },
	    { 20, SWITCH, 1, 0, 5 },
	    { 25, SWITCH, 1, 5, 0, 1 },
	    { 30, SWITCH, 0, 5, 0, 1 },
	    { 55, SWITCH, 0, 0, 5 } },
	  { 0 + 30, 2, 0, 0, 0 },
	  .own_clocks = true,
	  .disordered = 1 },
	{ "a whole stay before it left, none of them requested",
	  { { 10, SWITCH, 0, 0, 5 },
	    { 20, SWITCH, 1, 0, 5 },
	    { 25, SWITCH, 1, 5, 0, 1 },
	    { 30, SWITCH, 0, 5, 0, 1 },
	    { 55, SWITCH, 0, 0, 5 } },
	  { 0, 0, 2, 0, 0 },
	  .with.threads = FILTER_KERNEL_THREADS,
	  .own_clocks = true },
	{ "came before it left, too short",
	  { { 20, SWITCH, 1, 0, 5 }, { 30, SWITCH, 0, 5, 0, 1 }, { 50, SWITCH, 1, 5, 0, 1 }, { 55, SWITCH, 0, 0, 5 } },
	  { 5, 1, 1, 0, 0 },
	  .min_ns = 1,
	  .own_clocks = true,
	  .disordered = 1 },
	{ "came before it died",
	  { { 20, SWITCH, 1, 0, 5 }, { 30, SWITCH, 0, 6, 0, 1 }, { 50, SWITCH, 1, 5, 0, 0x20 } },
	  { 0, 0, 0, 1, 0 },
	  .own_clocks = true },
	{ "each CPU has a clock, and nothing is out of order",
	  { { 10, SWITCH, 0, 0, 5 },
	    { 20, SWITCH, 0, 5, 6, 1 },
	    { 30, SWITCH, 1, 0, 5 },
	    { 40, SWITCH, 1, 5, 0, 1 },
	    { 50, SWITCH, 0, 6, 5, 1 } },
	  { 10 + 10, 2, 0, 1, 0 },
	  .own_clocks = true },
	{ "its leave was lost where it was",
	  { { 10, SWITCH, 0, 0, 5 },
	    { 15, LOST, 0 },
	    { 20, SWITCH, 1, 0, 5 },
	    { 30, SWITCH, 1, 5, 0, 1 },
	    { 50, SWITCH, 0, 0, 5 } },
	  { 20, 1, 0, 0, 0 },
	  .own_clocks = true },
	{ "its coming was lost where it leaves",
	  { { 10, SWITCH, 0, 0, 5 }, { 15, LOST, 1 }, { 30, SWITCH, 1, 5, 0, 1 }, { 50, SWITCH, 0, 0, 5 } },
	  { 20, 1, 0, 0, 0 },
	  .own_clocks = true },
	{ "too short", { { 10, SWITCH, 0, 5, 0, 1 }, { 30, SWITCH, 0, 0, 5 } }, { 0, 0, 1, 0, 0 }, .min_ns = 20001 },
	{ "too long", { { 10, SWITCH, 0, 5, 0, 1 }, { 30, SWITCH, 0, 0, 5 } }, { 0, 0, 1, 0, 0 }, .max_ns = 19999 },
	{ "just right",
	  { { 10, SWITCH, 0, 5, 0, 1 }, { 30, SWITCH, 0, 0, 5 } },
	  { 20, 1, 0, 0, 0 },
	  .min_ns = 20000,
	  .max_ns = 20000 },
	{ "lost records", { { 10, SWITCH, 0, 5, 0, 1 }, { 20, LOST, 1 }, { 30, SWITCH, 0, 0, 5 } }, { 0, 0, 0, 0, 1 } },
	{ "came back before they were lost",
	  { { 10, SWITCH, 0, 5, 0, 1 }, { 20, SWITCH, 0, 0, 5 }, { 30, LOST, 1 } },
	  { 10, 1, 0, 0, 0 } },
	{ "a full ring, not known yet",
	  { { 10, SWITCH, 0, 5, 0, 1 }, { 20, GAP, 1 }, { 30, SWITCH, 0, 0, 5 }, { 40, LOST, 1 } },
	  { 0, 0, 0, 0, 1 } },
	{ "began in it",
	  { { 20, GAP, 1 }, { 22, SWITCH, 0, 5, 0, 1 }, { 30, SWITCH, 0, 0, 5 }, { 40, SWITCH, 1, 0, 6 } },
	  { 0, 0, 0, 0, 1 } },
	{ "began after it",
	  { { 20, GAP, 1 }, { 30, SWITCH, 1, 0, 6 }, { 40, SWITCH, 0, 5, 0, 1 }, { 50, SWITCH, 0, 0, 5 } },
	  { 10, 1, 0, 0, 0 } },
	{ "two rings are full, one is reported",
	  { { 20, GAP, 1 }, { 21, GAP, 0 }, { 30, SWITCH, 1, 5, 6, 1 }, { 40, SWITCH, 1, 6, 5, 1 } },
	  { 0, 0, 0, 1, 1 } },
	{ "truncated raw data", { { 10, CUT, 0, 5, 0, 1 }, { 30, SWITCH, 0, 0, 5 } }, { 0, 0, 0, 0, 0 } },
	{ "blocked, requested",
	  { { 10, SWITCH, 0, 5, 0, 2 }, { 30, SWITCH, 0, 0, 5 } },
	  { 20, 1, 0, 0, 0 },
	  .mask = 2 },
	{ "blocked otherwise", { { 10, SWITCH, 0, 5, 0, 1 }, { 30, SWITCH, 0, 0, 5 } }, { 0, 0, 1, 0, 0 }, .mask = 2 },
	{ "preempted, not requested",
	  { { 10, SWITCH, 0, 5, 0, PREEMPTED }, { 30, SWITCH, 0, 0, 5 } },
	  { 0, 0, 1, 0, 0 },
	  .mask = 0x1ff },
	{ "preempted",
	  { { 10, SWITCH, 0, 5, 0, PREEMPTED }, { 30, SWITCH, 0, 0, 5 } },
	  { 20, 1, 0, 0, 0 },
	  .mask = -1 },
	{ "gave way", { { 10, SWITCH, 0, 5, 0, 0 }, { 30, SWITCH, 0, 0, 5 } }, { 20, 1, 0, 0, 0 }, .mask = -1 },
	{ "blocked, only the preempted",
	  { { 10, SWITCH, 0, 5, 0, 1 }, { 30, SWITCH, 0, 0, 5 } },
	  { 0, 0, 1, 0, 0 },
	  .mask = -1 },
	{ "a kernel thread, not requested",
	  { { 10, SWITCH, 0, 5, 0, 1, true }, { 30, SWITCH, 0, 0, 5 } },
	  { 0, 0, 1, 0, 0 },
	  .with.threads = FILTER_USER_THREADS },
	{ "of the kernel",
	  { { 10, SWITCH, 0, 5, 0, 1, true }, { 30, SWITCH, 0, 0, 5 } },
	  { 20, 1, 0, 0, 0 },
	  .with.threads = FILTER_KERNEL_THREADS },
	{ "not a kernel thread",
	  { { 10, SWITCH, 0, 5, 0, 1 }, { 30, SWITCH, 0, 0, 5 } },
	  { 0, 0, 1, 0, 0 },
	  .with.threads = FILTER_KERNEL_THREADS },
	{ "began on the CPU",
	  { { 10, SWITCH, 1, 5, 0, 1 }, { 30, SWITCH, 0, 0, 5 } },
	  { 20, 1, 0, 0, 0 },
	  .cpu = 1 + 1 },
	{ "ended on it", { { 10, SWITCH, 0, 5, 0, 1 }, { 30, SWITCH, 1, 0, 5 } }, { 0, 0, 1, 0, 0 }, .cpu = 1 + 1 },
	{ "by records",
	  { { 10, SAMPLE, 0, 5 }, { 11, LEFT, 0, 5 }, { 30, CAME, 1, 0, 5 } },
	  { 20, 1, 0, 0, 0 },
	  SWITCHES_BY_RECORDS },
	{ "by records, the idle task",
	  { { 10, SAMPLE, 0, 0 }, { 11, LEFT, 0, 0 }, { 30, CAME, 0, 0, 0 } },
	  { 0, 0, 0, 0, 0 },
	  SWITCHES_BY_RECORDS },
	{ "by records, the last time",
	  { { 8, EXIT, 0, 5 }, { 10, SAMPLE, 0, 5 }, { 11, LEFT, 0, 5 } },
	  { 0, 0, 0, 0, 0 },
	  SWITCHES_BY_RECORDS },
	{ "by records, without a number",
	  { { 8, EXIT, 0, 5 }, { 10, SAMPLE, 0, -1 }, { 11, LEFT, 0, -1 } },
	  { 0, 0, 0, 0, 0 },
	  SWITCHES_BY_RECORDS },
	{ "by records, exited, and comes back",
	  { { 8, EXIT, 0, 5 },
	    { 10, SAMPLE, 0, 5 },
	    { 11, LEFT, 0, 5 },
	    { 30, CAME, 0, 0, 5 },
	    { 40, SAMPLE, 0, 5 },
	    { 41, LEFT, 0, 5 } },
	  { 20, 1, 0, 0, 0 },
	  SWITCHES_BY_RECORDS },
	{ "by records, exited, and comes back elsewhere for the last time",
	  { { 8, EXIT, 0, 5 },
	    { 10, SAMPLE, 0, 5 },
	    { 11, LEFT, 0, 5, 0, PREEMPTED },
	    { 30, CAME, 1, 0, 5 },
	    { 40, SAMPLE, 1, 5 },
	    { 41, LEFT, 1, 5 } },
	  { 20, 1, 0, 0, 0 },
	  SWITCHES_BY_RECORDS },
	{ "by records, exited, and preempted at the end",
	  { { 8, EXIT, 0, 5 }, { 10, SAMPLE, 0, 5 }, { 11, LEFT, 0, 5, 0, PREEMPTED } },
	  { 0, 0, 0, 1, 0 },
	  SWITCHES_BY_RECORDS },
	{ "by records, exited, not requested",
	  { { 8, EXIT, 0, 5 }, { 10, SAMPLE, 0, 5 }, { 11, LEFT, 0, 5 } },
	  { 0, 0, 0, 0, 0 },
	  SWITCHES_BY_RECORDS,
	  .with = { .nr = 1, .ids = (pid_t[]){ 6 } } },
	{ "by records, the last time, only the preempted",
	  { { 8, EXIT, 0, 5 }, { 10, SAMPLE, 0, 5 }, { 11, LEFT, 0, 5 } },
	  { 0, 0, 0, 0, 0 },
	  SWITCHES_BY_RECORDS,
	  .mask = -1 },
	{ "by records, the last time, no sample, not requested",
	  { { 8, EXIT, 0, 5 }, { 11, LEFT, 0, 5 } },
	  { 0, 0, 0, 0, 0 },
	  SWITCHES_BY_RECORDS,
	  .with = { .nr = 1, .ids = (pid_t[]){ 6 } } },
	{ "by records, without a number, and its number is used again",
	  { { 8, EXIT, 0, 5 },
	    { 10, SAMPLE, 0, -1 },
	    { 11, LEFT, 0, -1, 0, PREEMPTED },
	    { 20, FORK, 0, 7, 5 },
	    { 40, SAMPLE, 1, 5 },
	    { 41, LEFT, 1, 5 },
	    { 50, CAME, 0, 0, 9, .unnamed = true },
	    { 60, CAME, 1, 0, 5 } },
	  { 20, 1, 0, 0, 0 },
	  SWITCHES_BY_RECORDS },
	{ "by records, without a number, its last time, and another one comes",
	  { { 8, EXIT, 0, 5 }, { 10, SAMPLE, 0, -1 }, { 11, LEFT, 0, -1 }, { 50, CAME, 0, 0, 9, .unnamed = true } },
	  { 0, 0, 0, 0, 0 },
	  SWITCHES_BY_RECORDS },
	{ "by records, without a number, comes back",
	  { { 8, EXIT, 0, 5 },
	    { 10, SAMPLE, 0, -1 },
	    { 11, LEFT, 0, -1, 0, PREEMPTED },
	    { 30, CAME, 0, 0, 5, .unnamed = true },
	    { 40, SAMPLE, 0, -1 },
	    { 41, LEFT, 0, -1 } },
	  { 20, 1, 0, 0, 0 },
	  SWITCHES_BY_RECORDS },
	{ "by records, without a number, no thread has exited",
	  { { 10, SAMPLE, 0, -1 }, { 11, LEFT, 0, -1, 0, PREEMPTED }, { 30, CAME, 0, 0, 5, .unnamed = true } },
	  { 0, 0, 0, 0, 0 },
	  SWITCHES_BY_RECORDS },
	{ "without a number, exited elsewhere, its process is requested",
	  { { 8, EXIT, 1, 5, 4 },
	    { 9, EXIT, 0, 6, 6 },
	    { 10, SWITCH, 0, 5, 0, PREEMPTED, .unnamed = true },
	    { 30, SWITCH, 0, 0, 5 } },
	  { 20, 1, 0, 0, 0 },
	  .with = { .nr = 1, .ids = (pid_t[]){ 4 } } },
	{ "without a number, exited elsewhere, its process is not requested",
	  { { 8, EXIT, 1, 5, 4 }, { 10, SWITCH, 0, 5, 0, PREEMPTED, .unnamed = true }, { 30, SWITCH, 0, 0, 5 } },
	  { 0, 0, 1, 0, 0 },
	  .with = { .nr = 1, .ids = (pid_t[]){ 5 } } },
	{ "without a number, another one exited on that CPU since",
	  { { 8, EXIT, 1, 5, 4 },
	    { 9, EXIT, 1, 5 + RECENT_EXITS, 4 },
	    { 10, SWITCH, 0, 5, 0, PREEMPTED, .unnamed = true },
	    { 30, SWITCH, 0, 0, 5 } },
	  { 0, 0, 1, 0, 0 },
	  .with = { .nr = 1, .ids = (pid_t[]){ 4 } } },
	{ "by records, a new thread of that number",
	  { { 10, SAMPLE, 0, 5 }, { 11, LEFT, 0, 5 }, { 20, FORK, 0, 7, 5 }, { 30, CAME, 1, 0, 5 } },
	  { 0, 0, 0, 0, 0 },
	  SWITCHES_BY_RECORDS },
	{ "by records, preempted",
	  { { 10, SAMPLE, 0, 5 }, { 11, LEFT, 0, 5, 0, PREEMPTED }, { 30, CAME, 1, 0, 5 } },
	  { 20, 1, 0, 0, 0 },
	  SWITCHES_BY_RECORDS,
	  .mask = -1 },
	{ "by records, blocked, only the preempted",
	  { { 10, SAMPLE, 0, 5 }, { 11, LEFT, 0, 5 }, { 30, CAME, 1, 0, 5 } },
	  { 0, 0, 1, 0, 0 },
	  SWITCHES_BY_RECORDS,
	  .mask = -1 },
	{ "by records, the sample was lost",
	  { { 11, LEFT, 0, 5 }, { 30, CAME, 1, 0, 5 } },
	  { 19, 1, 0, 0, 0 },
	  SWITCHES_BY_RECORDS },
	{ "by records, another one's sample was before",
	  { { 10, SAMPLE, 0, 6 }, { 11, LEFT, 0, 5 }, { 30, CAME, 1, 0, 5 } },
	  { 19, 1, 0, 1, 0 },
	  SWITCHES_BY_RECORDS },
	{ "by both",
	  { { 10, SWITCH, 0, 5, 6, 1 }, { 11, LEFT, 0, 5 }, { 12, CAME, 0, 0, 6 }, { 31, CAME, 1, 0, 5 } },
	  { 21, 1, 0, 0, 0 },
	  .records = true },
	{ "by both, no sample of the preempted thread",
	  { { 10, SWITCH, 0, 5, 0, 1 }, { 11, LEFT, 0, 5 }, { 30, LEFT, 1, 0 }, { 31, CAME, 1, 0, 5 } },
	  { 21, 1, 0, 0, 0 },
	  .records = true },
	{ "by both, no sample of the leaving thread",
	  { { 11, LEFT, 0, 5 }, { 31, CAME, 1, 0, 5 } },
	  { 20, 1, 0, 0, 0 },
	  .records = true },
	{ "by both, no sample, and so no state",
	  { { 11, LEFT, 0, 5 }, { 31, CAME, 1, 0, 5 } },
	  { 0, 0, 1, 0, 0 },
	  .records = true,
	  .mask = 1 },
	{ "by both, no sample, but it could run",
	  { { 11, LEFT, 0, 5, 0, PREEMPTED }, { 31, CAME, 1, 0, 5 } },
	  { 20, 1, 0, 0, 0 },
	  .records = true,
	  .mask = -1 },
	{ "by both, is dead",
	  { { 10, SWITCH, 0, 5, 0, 0x10 }, { 11, LEFT, 0, 5 } },
	  { 0, 0, 0, 0, 0 },
	  .records = true },
	{ "by both, has ended, and its number is used again",
	  { { 9, EXIT, 0, 5 }, { 11, LEFT, 0, 5 }, { 20, FORK, 0, 7, 5 }, { 30, SWITCH, 0, 0, 5 } },
	  { 0, 0, 0, 0, 0 },
	  .records = true },
	{ "by both, has ended for the pid tables",
	  { { 9, EXIT, 0, 5 }, { 11, LEFT, 0, 5 } },
	  { 0, 0, 0, 0, 0 },
	  .records = true },
};

static void arrange(const struct scenario *s)
{
	rig.request.off_cpu.min_ns = s->min_ns;
	rig.request.off_cpu.max_ns = s->max_ns ? s->max_ns : UINT64_MAX;
	rig.request.filter = s->with;
	rig.request.filter.by_state = s->mask;
	rig.request.filter.state_mask = s->mask > 0 ? (uint64_t)s->mask : 0;
	rig.request.filter.by_cpu = s->cpu;
	rig.request.filter.cpu = s->cpu ? (uint32_t)s->cpu - 1 : 0;
	if (s->by)
		rig.events.switches = s->by;
	rig.events.attrs[EVENT_SWITCHES].context_switch = s->by || s->records;
	rig.events.attrs[EVENT_SAMPLES].use_clockid = !s->own_clocks;
	begin();
}

static void check(const struct scenario *s, const struct rows *rows)
{
	const struct stats *b = &a.stats[0];
	uint64_t ns = 0, times = 0;
	struct row row;
	size_t i;

	ck_assert_int_eq(switching_end(&a, 1000 * 1000), 0);
	for (i = 0; i < rows_nr(rows); i++) {
		rows_get(rows, i, &row);
		ns += row.value;
		times += row.times;
	}
	ck_assert_msg(ns == s->want.us * 1000, "%s: %lu ns", s->what, ns);
	ck_assert_msg(times == s->want.charged, "%s: %lu intervals", s->what, times);
	ck_assert_msg(b->intervals_disordered == s->disordered, "%s: %lu disordered", s->what, b->intervals_disordered);
	if (rig.request.both)
		return;
	ck_assert_msg(b->intervals_charged == s->want.charged, "%s: %lu charged", s->what, b->intervals_charged);
	ck_assert_msg(b->intervals_filtered == s->want.filtered, "%s: %lu filtered", s->what, b->intervals_filtered);
	ck_assert_msg(b->intervals_open == s->want.open, "%s: %lu open", s->what, b->intervals_open);
	ck_assert_msg(b->intervals_lost == s->want.lost, "%s: %lu lost", s->what, b->intervals_lost);
	ck_assert_msg(b->intervals_begun == s->want.charged + s->want.filtered + s->want.open + s->want.lost,
		      "%s: %lu begun", s->what, b->intervals_begun);
}

static void play(const struct scenario *s, bool noted)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(s->steps) && s->steps[i].us; i++)
		apply(&s->steps[i], noted);
}

START_TEST(each_interval_is_somewhere)
{
	arrange(&scenarios[_i]);
	play(&scenarios[_i], false);
	check(&scenarios[_i], rig.sink.sets[0].intervals);
}
END_TEST

/* With both backends, the reader's rows are separate, and not in the statistics. */
START_TEST(compared_ones_are_apart)
{
	rig.request.both = true;
	arrange(&scenarios[_i]);
	play(&scenarios[_i], true);
	check(&scenarios[_i], rig.sink.sets[0].ring_intervals);
	ck_assert_uint_eq(rows_nr(rig.sink.sets[0].intervals), 0);
	ck_assert_uint_eq(a.stats[0].intervals_begun + a.stats[0].intervals_charged + a.stats[0].intervals_lost +
				  a.stats[0].intervals_open,
			  0);
}
END_TEST

/* Switches that the BPF program has not seen do not count. */
START_TEST(unseen_ones_do_not_count)
{
	rig.request.both = true;
	arrange(&scenarios[_i]);
	play(&scenarios[_i], false);
	ck_assert_uint_eq(rows_nr(rig.sink.sets[0].ring_intervals), 0);
}
END_TEST

START_TEST(name_and_process_are_of_the_moment)
{
	struct row row;

	begin();
	apply(&(struct step){ 10, SWITCH, 0, 5, 0, 1 }, false);
	apply(&(struct step){ 30, SWITCH, 0, 0, 5 }, false);
	rows_get(rig.sink.sets[0].intervals, 0, &row);
	ck_assert_str_eq(row.key.comm, "worker");
	ck_assert_int_eq(row.key.pid, 5);
	ck_assert_uint_eq(row.key.kernel.nr, 1);
	ck_assert_uint_eq(row.key.kernel.frames[0], both_sides[1]);
	ck_assert_uint_eq(row.key.user.nr, 1);
	ck_assert_uint_eq(row.key.user.frames[0], both_sides[3]);
}
END_TEST

/* The samples of the switch event never come, but it is known when the thread left. */
START_TEST(without_rights_the_time_is_known)
{
	struct row row;

	rig.events.switches = SWITCHES_BY_RECORDS;
	rig.events.attrs[EVENT_SWITCHES].context_switch = 1;
	rig.events.attrs[EVENT_SAMPLES].exclude_kernel = 1;
	begin();
	apply(&(struct step){ 11, LEFT, 0, 5 }, false);
	apply(&(struct step){ 31, CAME, 1, 0, 5 }, false);
	ck_assert_uint_eq(rows_nr(rig.sink.sets[0].intervals), 1);
	rows_get(rig.sink.sets[0].intervals, 0, &row);
	ck_assert_uint_eq(row.value, 20000);
	ck_assert_int_eq(row.key.user.state, STACK_MISSED);
	ck_assert_int_eq(row.key.kernel.state, STACK_NONE);
}
END_TEST

START_TEST(open_ones_on_demand)
{
	struct row row;

	rig.request.off_cpu.open = true;
	begin();
	apply(&(struct step){ 10, SWITCH, 0, 5, 0, 1 }, false);
	ck_assert_int_eq(switching_end(&a, 500 * 1000), 0);
	ck_assert_uint_eq(rows_nr(rig.sink.sets[0].intervals), 1);
	rows_get(rig.sink.sets[0].intervals, 0, &row);
	ck_assert_uint_eq(row.value, 490 * 1000);
	ck_assert_uint_eq(a.stats[0].intervals_open, 1);
	ck_assert_uint_eq(a.stats[0].intervals_charged, 0);
}
END_TEST

/* Intervals that the program passes on: the note has the task, or the record. */
static const struct passed {
	const char *what;
	int verdict;
	pid_t noted, recorded, wanted; /* @wanted: 0: any */
	uint64_t charged, filtered;
} passed[] = {
	{ "of any", NOTE_SPILLED, 5, 5, 0, 1, 0 },
	{ "the program has filtered", NOTE_SPILLED, 5, 5, 7, 1, 0 },
	{ "no command, so no descendants", NOTE_UNKNOWN, 5, 5, 0, 1, 0 },
	{ "unnumbered", NOTE_UNNUMBERED, 0, 5, 0, 1, 0 },
	{ "unnumbered, requested", NOTE_UNNUMBERED, 0, 5, 5, 1, 0 },
	{ "unnumbered, not requested", NOTE_UNNUMBERED, 0, 5, 7, 0, 1 },
	{ "unnumbered, outside", NOTE_UNNUMBERED, 0, 0, 0, 0, 1 },
	{ "unnumbered, outside, others are requested", NOTE_UNNUMBERED, 0, 0, 7, 0, 1 },
};

static int read_note(const void *raw, size_t size, struct switch_note *out)
{
	memcpy(out, raw, size);
	return 0;
}

static void note(const struct passed *p, int kind, uint64_t us)
{
	struct switch_note n = { .kind = kind, .id = 5, .ns = us * 1000 };
	const struct sample_lead lead = { .kind = EVENT_SWITCHES };
	struct record r = { .type = PERF_RECORD_SAMPLE, .time = n.ns };

	n.who = (struct sample_note){ .verdict = p->verdict, .pid = p->noted };
	n.who.tid = n.who.pid;
	r.pid = r.tid = p->recorded;
	r.sample.ips = both_sides;
	r.sample.nr = ARRAY_SIZE(both_sides);
	r.sample.raw = &n;
	r.sample.raw_size = sizeof(n);
	ck_assert_int_eq(switching_note(&a, 0, &r, &lead), 0);
}

START_TEST(passed_ones_are_asked_for)
{
	const struct counter_ops program = { .switch_note = read_note };
	const struct stats *b = &a.stats[0];

	rig.env.counters[0].ops = &program;
	rig.env.nr_counters = 1;
	rig.request.in_pidns = true;
	rig.request.filter = (struct filter){ &passed[_i].wanted, passed[_i].wanted != 0, false, false };
	begin();
	note(&passed[_i], SWITCH_BEGIN, 10);
	note(&passed[_i], SWITCH_END, 30);
	ck_assert_msg(b->intervals_charged == passed[_i].charged, "%s: %lu", passed[_i].what, b->intervals_charged);
	ck_assert_msg(b->intervals_filtered == passed[_i].filtered, "%s: %lu", passed[_i].what, b->intervals_filtered);
	ck_assert_uint_eq(rows_total(rig.sink.sets[0].intervals), passed[_i].charged * 20000);
	ck_assert_uint_eq(b->intervals_lost + b->bad_records, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("switching");
	TCase *tc = tcase_create("switching");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, each_interval_is_somewhere, 0, (int)ARRAY_SIZE(scenarios));
	tcase_add_loop_test(tc, compared_ones_are_apart, 0, (int)ARRAY_SIZE(scenarios));
	tcase_add_loop_test(tc, unseen_ones_do_not_count, 0, (int)ARRAY_SIZE(scenarios));
	tcase_add_test(tc, name_and_process_are_of_the_moment);
	tcase_add_test(tc, without_rights_the_time_is_known);
	tcase_add_test(tc, open_ones_on_demand);
	tcase_add_loop_test(tc, passed_ones_are_asked_for, 0, (int)ARRAY_SIZE(passed));
	suite_add_tcase(s, tc);
	return unit_main(s);
}
