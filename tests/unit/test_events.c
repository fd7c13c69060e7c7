// SPDX-License-Identifier: Apache-2.0
/*
 * Events of CPUs that do not exist here. A copy of /sys lists the CPUs, and this program's own syscall() and ioctl()
 * replace libc's. Each event is a file in memory with the bytes that read(2) of the event returns.
 */
#include "core/events/cpus.h"
#include "core/events/events.h"
#include "core/events/followed.h"
#include "core/events/watch.h"
#include "core/tasks/command.h"
#include "tests/unit/fake_kernel.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>

enum { MAX_CPUS = 512, MAX_FDS = 1024 };

/* The purpose of an event. Its id is the number of its CPU plus @ids of its kind. */
enum kind { SAMPLING, SAMPLE_NOTES, SWITCHES, SWITCH_NOTES };

static const uint64_t ids[] = { [SAMPLE_NOTES] = 1000, [SWITCHES] = 2000, [SWITCH_NOTES] = 3000 };

#define MS (1000 * 1000ULL)

/* The fake kernel of these CPUs: its answers to opening events, and the calls that it has seen. */
static struct {
	int answer[MAX_CPUS];       /* for a sampling or side-band event; 0: an event */
	int notes_answer[MAX_CPUS]; /* for a note event */
	int switch_answer[MAX_CPUS], switch_notes_answer[MAX_CPUS];
	int tracepoint_answer;  /* for a tracepoint's event, on any CPU */
	bool no_switch_records; /* before 4.3 */
	bool only_switches;     /* the answers for enabling and disabling apply to switch events only */
	int enable_answer[MAX_CPUS], id_answer[MAX_CPUS], disable_answer[MAX_CPUS];
	uint64_t enabled_ns[MAX_CPUS]; /* result of read(2) */
	bool no_clockid, no_cgroups;
	bool no_kernel;            /* the kernel may not be sampled */
	bool has_dummy;            /* the dummy event, since 3.12 */
	pid_t gone[4], foreign[4]; /* threads that have ended, and threads that may not be sampled */
	pid_t vanishing;           /* this thread ends after the first try to open its event */
	pid_t refused_ioctl;       /* events of this thread can be neither enabled nor disabled */
	unsigned int opened;
	struct perf_event_attr attr[MAX_CPUS], notes_attr[MAX_CPUS]; /* of the last event opened */
	struct perf_event_attr switch_attr[MAX_CPUS], switch_notes_attr[MAX_CPUS];
} kernel;

/* For each descriptor: the owner of the event. */
static struct {
	bool used, notes, enabled;
	enum kind kind;
	int cpu;
	pid_t pid; /* -1: of the whole CPU */
	struct perf_event_attr attr;
} events[MAX_FDS];

static bool is_in(const pid_t *list, pid_t pid)
{
	size_t i;

	for (i = 0; i < 4; i++)
		if (list[i] && list[i] == pid)
			return true;
	return false;
}

static enum kind kind_of(const struct perf_event_attr *attr)
{
	bool software = attr->type == PERF_TYPE_SOFTWARE;

	if (software && attr->config == PERF_COUNT_SW_BPF_OUTPUT)
		return attr->sample_type & PERF_SAMPLE_CALLCHAIN ? SWITCH_NOTES : SAMPLE_NOTES;
	return attr->type == PERF_TYPE_TRACEPOINT || (software && attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES)
		       ? SWITCHES
		       : SAMPLING;
}

static int open_event(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	static const int *const answers[] = { kernel.answer, kernel.notes_answer, kernel.switch_answer,
					      kernel.switch_notes_answer };
	static struct perf_event_attr *const attrs[] = { kernel.attr, kernel.notes_attr, kernel.switch_attr,
							 kernel.switch_notes_attr };
	struct event_counts counts = { .enabled_ns = kernel.enabled_ns[cpu] };
	enum kind kind = kind_of(attr);
	int rc = answers[kind][cpu], fd;

	if (kernel.no_switch_records && attr->context_switch)
		return fake_refuse(-EINVAL);
	if (kernel.tracepoint_answer && attr->type == PERF_TYPE_TRACEPOINT)
		return fake_refuse(kernel.tracepoint_answer);
	if ((kernel.no_clockid && attr->use_clockid) || (kernel.no_cgroups && attr->sample_type & PERF_SAMPLE_CGROUP))
		return fake_refuse(-EINVAL);
	if (kernel.vanishing == pid)
		return fake_refuse(attr->exclude_kernel ? -ESRCH : -EACCES);
	if (is_in(kernel.gone, pid))
		return fake_refuse(-ESRCH);
	if (is_in(kernel.foreign, pid) ||
	    (kernel.no_kernel && !(attr->exclude_kernel && attr->exclude_callchain_kernel))) /* both bits: 7.2 */
		return fake_refuse(-EACCES);
	if (rc)
		return fake_refuse(rc);
	fd = memfd_create("event", MFD_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_lt(fd, MAX_FDS);
	ck_assert_int_eq(pwrite(fd, &counts, sizeof(counts), 0), sizeof(counts));
	events[fd].used = true;
	events[fd].kind = kind;
	events[fd].notes = kind == SAMPLE_NOTES || kind == SWITCH_NOTES;
	events[fd].enabled = false;
	events[fd].cpu = cpu;
	events[fd].pid = pid;
	events[fd].attr = *attr;
	attrs[kind][cpu] = *attr;
	kernel.opened++;
	return fd;
}

int fake_event_open(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	if (fake_is_dummy(attr) && !kernel.has_dummy)
		return fake_refuse(-ENOENT);
	if (fake_is_dummy(attr) && !pid) /* only tests whether it exists */
		return memfd_create("tried", MFD_CLOEXEC);
	ck_assert_int_ge(cpu, 0);
	ck_assert_int_lt(cpu, MAX_CPUS);
	return open_event(attr, pid, cpu);
}

int fake_event_ioctl(int fd, unsigned long request, uint64_t *id)
{
	bool answers;
	int cpu;

	ck_assert(events[fd].used);
	cpu = events[fd].cpu;
	answers = !kernel.only_switches || events[fd].kind == SWITCHES;
	if (kernel.refused_ioctl && kernel.refused_ioctl == events[fd].pid)
		return fake_refuse(-EIO);
	switch (request) {
	case PERF_EVENT_IOC_ENABLE:
		if (kernel.enable_answer[cpu] && answers)
			return fake_refuse(kernel.enable_answer[cpu]);
		ck_assert(!events[fd].notes); /* created enabled */
		events[fd].enabled = true;
		return 0;
	case PERF_EVENT_IOC_DISABLE:
		if (kernel.disable_answer[cpu] && answers)
			return fake_refuse(kernel.disable_answer[cpu]);
		events[fd].enabled = false;
		return 0;
	case PERF_EVENT_IOC_ID:
		if (kernel.id_answer[cpu] && answers)
			return fake_refuse(kernel.id_answer[cpu]);
		*id = ids[events[fd].kind] + (uint64_t)cpu;
		return 0;
	default:
		return fake_refuse(-ENOTTY);
	}
}

/* ---- a run */

static char *dir;
static struct host host;
static struct request req;
static struct events ev;
static unsigned int fds_before;

static void setup(void)
{
	unit_limit_files(MAX_FDS); /* two events for each CPU */
	dir = unit_tmpdir();
	host = (struct host){ .proc = dir, .sys = dir };
	req = (struct request){ .host = &host, .sampling = { event_default(), 49, 0 }, .asked = 125 };
	ev = (struct events){ .request = &req };
	memset(&kernel, 0, sizeof(kernel));
	memset(events, 0, sizeof(events));
	fds_before = unit_open_fds();
}

/* @cpu: as -C; -1: all */
static void sample_only(int cpu)
{
	req.filter.by_cpu = cpu >= 0;
	req.filter.cpu = cpu >= 0 ? (uint32_t)cpu : 0;
}

static void teardown(void)
{
	events_close(&ev);
	followed_free(ev.followed);
	watch_free(ev.watch);
	ck_assert_uint_eq(ev.nr_places, 0);
	ck_assert_ptr_null(ev.places);
	ck_assert_uint_eq(unit_open_fds(), fds_before);
	unit_rmdir(dir);
}

static void open_on(const char *possible, const char *online, bool with_notes)
{
	struct err err = { 0 };

	fake_list_cpus(dir, "possible", possible);
	fake_list_cpus(dir, "online", online);
	ck_assert_msg(events_open(&ev, with_notes, &err) == 0, "%s", err.msg);
	ck_assert_int_eq(err.code, 0);
}

static struct event_place *event_of(int cpu)
{
	size_t i;

	for (i = 0; i < ev.nr_places; i++)
		if (ev.places[i].cpu == cpu)
			return &ev.places[i];
	ck_abort_msg("no place for CPU %d", cpu);
}

/* An event must be open on its CPU, or not exist. */
static void assert_event(const struct event_place *e, bool open, bool notes)
{
	if (!open) {
		ck_assert_int_eq(e->fd, -1);
		ck_assert_int_eq(e->notes[EVENT_SAMPLES].fd, -1);
		return;
	}
	ck_assert_int_ge(e->fd, 0);
	ck_assert_int_ge(fcntl(e->fd, F_GETFD), 0);
	ck_assert_int_eq(events[e->fd].cpu, e->cpu);
	ck_assert(!events[e->fd].notes);
	if (!ev.followed) {
		ck_assert_int_eq(events[e->fd].pid, -1);
		ck_assert_uint_eq(e->nr_more, events_join_switches(&ev));
	}
	ck_assert_int_eq(e->notes[EVENT_SAMPLES].fd >= 0, notes);
	if (!notes)
		return;
	ck_assert(events[e->notes[EVENT_SAMPLES].fd].notes);
	ck_assert_int_eq(events[e->notes[EVENT_SAMPLES].fd].pid, -1);
	ck_assert_int_eq(events[e->notes[EVENT_SAMPLES].fd].cpu, e->cpu);
	ck_assert_uint_eq(e->notes[EVENT_SAMPLES].id, ids[SAMPLE_NOTES] + (uint64_t)e->cpu);
}

/* ---- opening */

static const struct {
	const char *possible, *online;
	int only;
	size_t places, nr_cpus, opened; /* without notes */
	int first;                      /* the CPU of the first place */
	size_t ring_bytes;
} hosts[] = {
	{ "0\n", "0\n", -1, 1, 1, 1, 0, 64 << 10 },
	{ "0-3\n", "0-3\n", -1, 4, 4, 4, 0, 64 << 10 },
	{ "0-199\n", "0-199\n", -1, 200, 200, 200, 0, 64 << 10 },
	{ "0-511\n", "0-199\n", -1, 512, 200, 200, 0, 64 << 10 },
	{ "0-127\n", "0-127\n", -1, 128, 128, 128, 0, 64 << 10 },
	{ "0-128\n", "0-128\n", -1, 129, 129, 129, 0, 64 << 10 },
	{ "0-63,128-191,300\n", "0-63,128-191,300\n", -1, 129, 129, 129, 0, 64 << 10 },
	{ "0-63,128-191,300\n", "1-63,128-190\n", -1, 129, 126, 126, 0, 64 << 10 },
	{ "0-63,128-191,300\n", "300\n", -1, 129, 1, 1, 0, 64 << 10 },
	{ "3,5,7\n", "5\n", -1, 3, 1, 1, 3, 64 << 10 },
	/* a CPU that is not possible cannot be online */
	{ "0-1\n", "0-3\n", -1, 2, 2, 2, 0, 64 << 10 },
	/* one CPU samples: it is the first, and the others have only side-band events */
	{ "0-199\n", "0-199\n", 150, 200, 1, 200, 150, 64 << 10 },
	{ "0-63,128-191,300\n", "0-63,128-191,300\n", 300, 129, 1, 129, 300, 64 << 10 },
	{ "0-63,128-191,300\n", "0,300\n", 300, 129, 1, 2, 300, 64 << 10 },
	{ "0-3\n", "0-3\n", 0, 4, 1, 4, 0, 64 << 10 },
};

START_TEST(test_open)
{
	bool notes = _i & 1;
	int row = _i >> 1;
	struct cpu_list online;
	size_t i, open = 0;

	sample_only(hosts[row].only);
	open_on(hosts[row].possible, hosts[row].online, notes);
	ck_assert_uint_eq(ev.nr_places, hosts[row].places);
	ck_assert_uint_eq(ev.nr_cpus, hosts[row].nr_cpus);
	ck_assert_uint_eq(ev.rings.samples, hosts[row].ring_bytes);
	ck_assert_int_eq(ev.places[0].cpu, hosts[row].first);
	ck_assert_int_eq(cpu_list_parse(hosts[row].online, &online), 0);
	for (i = 0; i < ev.nr_places; i++) {
		const struct event_place *e = &ev.places[i];
		bool on = cpu_list_has(&online, e->cpu);

		ck_assert_int_eq(e->samples, filter_match_cpu(&req.filter, (uint32_t)e->cpu));
		assert_event(e, on, notes && e->samples);
		open += on;
	}
	ck_assert_uint_eq(open, hosts[row].opened);
	ck_assert_uint_eq(kernel.opened, open + (notes ? ev.nr_cpus : 0));
	ck_assert_uint_eq(fake_event_fds(&ev), fds_before + kernel.opened);
	ck_assert_ptr_nonnull(ev.watch);
	cpu_list_release(&online);
}
END_TEST

/* The attributes of events that sample, that do not, and that carry notes. */
START_TEST(test_attributes)
{
	const struct perf_event_attr *a;

	sample_only(2);
	open_on("0-3", "0-3", true);
	a = &kernel.attr[2];
	ck_assert_uint_eq(a->config, PERF_COUNT_SW_CPU_CLOCK);
	ck_assert_uint_eq(a->freq, 1);
	ck_assert_uint_eq(a->sample_freq, 49);
	ck_assert_uint_eq(a->sample_max_stack, 125);
	ck_assert_uint_eq(a->disabled, 1);
	ck_assert(a->sample_type & PERF_SAMPLE_IDENTIFIER);
	ck_assert(a->sample_type & PERF_SAMPLE_CALLCHAIN);
	ck_assert_mem_eq(a, events_attr(&ev), sizeof(*a));
	ck_assert_uint_eq(kernel.attr[0].freq, 0);
	ck_assert_uint_eq(kernel.attr[0].sample_period, 0); /* it counts and never fires */
	ck_assert_uint_eq(kernel.attr[0].sample_type, a->sample_type);
	ck_assert_uint_eq(kernel.attr[0].comm, 1);
	ck_assert_uint_eq(kernel.attr[0].task, 1);
	ck_assert_uint_eq(kernel.notes_attr[0].size, 0); /* no such event was opened */
	a = &kernel.notes_attr[2];
	ck_assert_uint_eq(a->sample_type,
			  (events_attr(&ev)->sample_type & ~(uint64_t)PERF_SAMPLE_CALLCHAIN) | PERF_SAMPLE_RAW);
	ck_assert_uint_eq(a->sample_period, 1);
	ck_assert_uint_eq(a->disabled, 0);
	ck_assert_uint_eq(a->clockid, events_attr(&ev)->clockid);
	ck_assert_mem_eq(a, &ev.attrs[EVENT_NOTES], sizeof(*a));
}
END_TEST

/* If the sampling event is of another kind, the side-band event is still a software event. */
START_TEST(test_side_band)
{
	sample_only(1);
	req.sampling.event = event_find("cycles");
	req.sampling.period = 1000000;
	open_on("0-1", "0-1", false);
	ck_assert_uint_eq(kernel.attr[1].type, PERF_TYPE_HARDWARE);
	ck_assert_uint_eq(kernel.attr[1].sample_period, 1000000);
	ck_assert_uint_eq(kernel.attr[1].freq, 0);
	ck_assert(!(kernel.attr[1].sample_type & PERF_SAMPLE_IDENTIFIER));
	ck_assert_uint_eq(kernel.attr[0].type, PERF_TYPE_SOFTWARE);
	ck_assert_uint_eq(kernel.attr[0].config, PERF_COUNT_SW_CPU_CLOCK);
	ck_assert_uint_eq(kernel.attr[0].sample_period, 0);
}
END_TEST

/* Features that the kernel of the first CPU lacks are not requested on the others; all events have the same clock. */
START_TEST(test_old_kernel)
{
	kernel.no_clockid = true;
	open_on("0-2", "0-2", true);
	ck_assert_uint_eq(events_attr(&ev)->use_clockid, 0);
	ck_assert_uint_eq(kernel.attr[2].use_clockid, 0);
	ck_assert_uint_eq(kernel.notes_attr[2].use_clockid, 0);
}
END_TEST

/* A CPU may go offline between reading the list and opening the event, and between its two events. */
static const struct {
	int cpu;
	bool notes;
} going[] = { { 0, false }, { 100, false }, { 199, false }, { 0, true }, { 100, true }, { 199, true } };

START_TEST(test_going)
{
	int i;

	*(going[_i].notes ? &kernel.notes_answer[going[_i].cpu] : &kernel.answer[going[_i].cpu]) = -ENODEV;
	open_on("0-199", "0-199", true);
	ck_assert_uint_eq(ev.nr_cpus, 199);
	for (i = 0; i < 200; i++)
		assert_event(event_of(i), i != going[_i].cpu, true);
	ck_assert_uint_eq(fake_event_fds(&ev), fds_before + 2 * 199);
}
END_TEST

/* Any other error ends the opening, and nothing stays open. */
static const struct {
	const char *possible, *online;
	int only, cpu, answer, notes_answer, id_answer;
	int rc;
	const char *says;
} refused[] = {
	{ "0-9", "0-9", -1, 0, -EACCES, 0, 0, -EACCES, "cannot open perf event 'cpu-clock' on CPU 0" },
	{ "0-9", "0-9", -1, 9, -EMFILE, 0, 0, -EMFILE, "on CPU 9: Too many open files (RLIMIT_NOFILE is" },
	{ "0-9", "0-9", -1, 0, -EMFILE, 0, 0, -EMFILE, "on CPU 0: Too many open files (RLIMIT_NOFILE is" },
	{ "0-9", "0-9", -1, 1, -ENOMEM, 0, 0, -ENOMEM, "on CPU 1: Cannot allocate memory" },
	{ "0-9", "0-9", -1, 2, -EBUSY, 0, 0, -EBUSY, "on CPU 2: Device or resource busy" },
	{ "0-9", "0-9", -1, 5, -EINVAL, 0, 0, -EINVAL, "on CPU 5" },
	{ "0-9", "0-9", 3, 5, -ENOMEM, 0, 0, -ENOMEM, "on CPU 5" }, /* the side-band event */
	{ "0-9", "0-9", -1, 0, 0, -EACCES, 0, -EACCES, "cannot open the perf event for BPF output on CPU 0" },
	{ "0-9", "0-9", -1, 9, 0, -EMFILE, 0, -EMFILE, "cannot open the perf event for BPF output on CPU 9" },
	{ "0-9", "0-9", -1, 4, 0, 0, -ENOTTY, -ENOTTY, "cannot read the id of a perf event on CPU 4" },
	{ "0-9", "0-9", 3, 3, -ENODEV, 0, 0, -ENODEV, "on any CPU" },
	{ "0-9", "0-9", 3, 3, 0, -ENODEV, 0, -ENODEV, "on any CPU" },
	{ "7", "7", -1, 7, -ENODEV, 0, 0, -ENODEV, "cannot open perf event 'cpu-clock' on any CPU" },
	{ "0-9", "0-2", 3, 0, 0, 0, 0, -ENODEV, "on any CPU" }, /* offline */
	{ "0-9", "0-9", 10, 0, 0, 0, 0, -ENODEV, "on any CPU" },
	{ "0-9", "10-11", -1, 0, 0, 0, 0, -ENODEV, "on any CPU" },
	{ "nonsense", "0-9", -1, 0, 0, 0, 0, -EINVAL, "not a list of CPUs" },
	{ "0-9", "", -1, 0, 0, 0, 0, -EINVAL, "not a list of CPUs" },
	{ "0-9", "9-0", -1, 0, 0, 0, 0, -EINVAL, "not a list of CPUs" },
	{ "0-99999", "0", -1, 0, 0, 0, 0, -EINVAL, "not a list of CPUs" },
};

START_TEST(test_refused)
{
	struct err err = { 0 };

	sample_only(refused[_i].only);
	kernel.answer[refused[_i].cpu] = refused[_i].answer;
	kernel.notes_answer[refused[_i].cpu] = refused[_i].notes_answer;
	kernel.id_answer[refused[_i].cpu] = refused[_i].id_answer;
	fake_list_cpus(dir, "possible", refused[_i].possible);
	fake_list_cpus(dir, "online", refused[_i].online);
	ck_assert_int_eq(events_open(&ev, true, &err), refused[_i].rc);
	ck_assert_int_eq(err.code, refused[_i].rc);
	ck_assert_msg(strstr(err.msg, refused[_i].says), "%s", err.msg);
	ck_assert_uint_eq(ev.nr_places, 0);
	ck_assert_ptr_null(ev.places);
	ck_assert_uint_eq(fake_event_fds(&ev), fds_before);
	/* another backend may try after that. */
	memset(&kernel, 0, sizeof(kernel));
	sample_only(-1);
	open_on("0-1", "0-1", false);
	ck_assert_uint_eq(ev.nr_cpus, 2);
}
END_TEST

/* ---- enabling */

START_TEST(test_enable)
{
	struct err err = { 0 };
	size_t i;

	open_on("0-9", "0-4,6-9", true);
	ck_assert_int_eq(events_enable(&ev, &err), 0);
	for (i = 0; i < ev.nr_places; i++)
		ck_assert(ev.places[i].fd < 0 || events[ev.places[i].fd].enabled);
	ck_assert_int_eq(events_disable(&ev, &err), 0);
	for (i = 0; i < ev.nr_places; i++)
		ck_assert(ev.places[i].fd < 0 || !events[ev.places[i].fd].enabled);
	kernel.enable_answer[3] = kernel.disable_answer[8] = -EIO;
	ck_assert_int_eq(events_enable(&ev, &err), -EIO);
	ck_assert_str_eq(err.msg, "cannot enable the perf event of CPU 3: Input/output error");
	ck_assert_int_eq(events_disable(&ev, &err), -EIO);
	ck_assert_str_eq(err.msg, "cannot disable the perf event of CPU 8: Input/output error");
}
END_TEST

/* ---- CPUs that come online and go offline */

static struct {
	int attached[MAX_CPUS], detached[MAX_CPUS]; /* number of calls */
	int attach_answer, detach_answer;
} calls;

static int attach(void *c, size_t i, struct err *err)
{
	const struct event_place *e = &ev.places[i];

	calls.attached[e->cpu]++;
	ck_assert_int_ge(e->fd, 0);
	ck_assert(!events[e->fd].enabled); /* not enabled yet */
	(void)c;
	return calls.attach_answer ? err_set(err, calls.attach_answer, "cannot attach") : 0;
}

static int detach(void *c, size_t i, struct err *err)
{
	const struct event_place *e = &ev.places[i];
	size_t j;

	calls.detached[e->cpu]++;
	ck_assert_int_ge(fcntl(e->fd, F_GETFD), 0); /* still open, */
	ck_assert(!events[e->fd].enabled);          /* and disabled, like all events that share its ring */
	for (j = 0; j < e->nr_more; j++)
		ck_assert(!events[e->more[j].fd].enabled);
	(void)c;
	return calls.detach_answer ? err_set(err, calls.detach_answer, "cannot detach") : 0;
}

static const struct events_hooks hooks = { attach, detach, NULL };

static int follow(const char *online, uint64_t now)
{
	struct err err;

	fake_list_cpus(dir, "online", online);
	return events_follow_cpus(&ev, now, &hooks, &err);
}

/* The events of these CPUs have been enabled for so long. */
static void go_on(int first, int last, uint64_t enabled_ns)
{
	const struct event_counts counts = { .enabled_ns = enabled_ns };
	int cpu;

	for (cpu = first; cpu <= last; cpu++) {
		ck_assert_int_eq(pwrite(event_of(cpu)->fd, &counts, sizeof(counts), 0), sizeof(counts));
		ck_assert_int_eq(lseek(event_of(cpu)->fd, 0, SEEK_SET), 0);
	}
}

/* A run on CPUs 0 to 3 of 0 to 4, enabled now; times count from its beginning. */
static uint64_t begin(bool notes)
{
	struct err err = { 0 };
	uint64_t begin;

	memset(&calls, 0, sizeof(calls));
	open_on("0-4", "0-3", notes);
	ck_assert_int_eq(events_enable(&ev, &err), 0);
	begin = event_of(3)->looked_at;
	events_begin(&ev, begin);
	return begin;
}

static void assert_calls(int cpu, int attached, int detached)
{
	ck_assert_int_eq(calls.attached[cpu], attached);
	ck_assert_int_eq(calls.detached[cpu], detached);
}

START_TEST(test_goes_and_comes)
{
	uint64_t t = begin(_i);
	int cpu;

	ck_assert_int_eq(follow("0-3", t), 0);
	ck_assert_int_eq(follow("0,2-3", t + MS), 1);
	assert_event(event_of(1), false, false);
	assert_calls(1, 0, 1);
	ck_assert_int_eq(follow("0,2-3", t + 2 * MS), 0);
	ck_assert_int_eq(follow("0-3", t + 3 * MS), 1);
	assert_event(event_of(1), true, _i);
	assert_calls(1, 1, 1);
	ck_assert(events[event_of(1)->fd].enabled);
	ck_assert_uint_gt(event_of(1)->looked_at, t);
	ck_assert_int_eq(follow("0-3", t + 4 * MS), 0);
	/* one goes as another comes for the first time */
	ck_assert_int_eq(follow("0-2,4", t + 5 * MS), 1);
	assert_event(event_of(3), false, false);
	assert_event(event_of(4), true, _i);
	assert_calls(3, 0, 1);
	assert_calls(4, 1, 0);
	ck_assert(events[event_of(4)->fd].enabled);
	for (cpu = 0; cpu < 3; cpu += 2)
		assert_calls(cpu, 0, 0);
	ck_assert_uint_eq(ev.nr_cpus, 4);
	ck_assert_int_eq(follow("0-4", t + 6 * MS), 1);
	ck_assert_uint_eq(ev.nr_cpus, 5); /* at most so many */
	ck_assert_int_eq(follow("0", t + 7 * MS), 1);
	ck_assert_uint_eq(ev.nr_cpus, 5);
	ck_assert_int_gt(ev.online_fd, 0);
	ck_assert_uint_eq(fake_event_fds(&ev), fds_before + (_i ? 2 : 1));
}
END_TEST

/* The CPU that -C names, and another one. */
START_TEST(test_only)
{
	uint64_t t;

	sample_only(2);
	t = begin(true);
	ck_assert_int_eq(follow("0,2-3", t), 1);
	ck_assert_int_eq(follow("0,3", t), 1);
	assert_calls(1, 0, 1);
	assert_calls(2, 0, 1);
	ck_assert_int_eq(follow("0-3", t), 1);
	assert_event(event_of(1), true, false);
	assert_event(event_of(2), true, true);
	ck_assert_uint_eq(ev.nr_cpus, 1);
	ck_assert_uint_eq(kernel.attr[1].sample_freq, 0);
	ck_assert_uint_eq(kernel.attr[2].sample_freq, 49);
}
END_TEST

/* Failures that keep an event from coming back. */
static const struct {
	int answer, notes_answer, id_answer, enable_answer, attach_answer;
	int attached; /* calls of attach() for each try */
	int refused;  /* the error that the run reports at the end */
} broken[] = {
	{ -ENODEV, 0, 0, 0, 0, 0, 0 }, { -EMFILE, 0, 0, 0, 0, 0, -EMFILE }, { -EACCES, 0, 0, 0, 0, 0, -EACCES },
	{ 0, -ENODEV, 0, 0, 0, 0, 0 }, { 0, -EMFILE, 0, 0, 0, 0, -EMFILE }, { 0, 0, -ENOTTY, 0, 0, 0, -ENOTTY },
	{ 0, 0, 0, -EIO, 0, 1, -EIO }, { 0, 0, 0, 0, -EPERM, 1, -EPERM },   { 0, 0, 0, 0, -ENODEV, 1, 0 },
};

START_TEST(test_tried_again)
{
	uint64_t t = begin(true);
	unsigned int fds = fake_event_fds(&ev), i;

	ck_assert_int_eq(follow("0-2", t), 1);
	kernel.answer[3] = broken[_i].answer;
	kernel.notes_answer[3] = broken[_i].notes_answer;
	kernel.id_answer[3] = broken[_i].id_answer;
	kernel.enable_answer[3] = broken[_i].enable_answer;
	calls.attach_answer = broken[_i].attach_answer;
	for (i = 1; i <= 3; i++) {
		ck_assert_int_eq(follow("0-3", t + i * MS), 0);
		assert_event(event_of(3), false, false);
		ck_assert_uint_eq(fake_event_fds(&ev), fds - 2);
		/* attached events are detached again */
		assert_calls(3, (int)i * broken[_i].attached, 1 + (int)i * broken[_i].attached);
		ck_assert_int_eq(ev.refused.code, broken[_i].refused);
	}
	memset(&kernel, 0, sizeof(kernel));
	calls.attach_answer = 0;
	ck_assert_int_eq(follow("0-3", t + 5 * MS), 1);
	assert_event(event_of(3), true, true);
	ck_assert_int_eq(ev.refused.code, broken[_i].refused);
	ck_assert(events[event_of(3)->fd].enabled);
	ck_assert_uint_eq(fake_event_fds(&ev), fds);
	/* The CPU was offline until its event could be opened, however often that was tried. */
	events_account(&ev, t + 10 * MS);
	ck_assert_uint_eq(ev.due_ns, 4 * 10 * MS);
	ck_assert_uint_eq(ev.offline_ns, 5 * MS);
}
END_TEST

/* A new CPU is not due while its event cannot be opened. */
START_TEST(test_new_tried_again)
{
	uint64_t t = begin(false);

	kernel.answer[4] = -EMFILE;
	ck_assert_int_eq(follow("0-4", t + MS), 0);
	events_account(&ev, t + 2 * MS);
	ck_assert_uint_eq(ev.due_ns, 4 * 2 * MS);
	ck_assert_uint_eq(ev.offline_ns, 0);
	kernel.answer[4] = 0;
	ck_assert_int_eq(follow("0-4", t + 3 * MS), 1);
	events_account(&ev, t + 10 * MS);
	ck_assert_uint_eq(ev.due_ns, 4 * 8 * MS + 7 * MS);
	ck_assert_uint_eq(ev.offline_ns, 0);
}
END_TEST

/* The samples of the event are lost: the run ends, and nothing stays open. */
START_TEST(test_detach_fails)
{
	uint64_t t = begin(true);
	struct err err = { 0 };

	calls.detach_answer = -ENOMEM;
	fake_list_cpus(dir, "online", "0-2");
	ck_assert_int_eq(events_follow_cpus(&ev, t, &hooks, &err), -ENOMEM);
	ck_assert_str_eq(err.msg, "cannot detach");
	assert_event(event_of(3), false, false);
	/* also for an event that could not be enabled */
	calls.detach_answer = 0;
	ck_assert_int_eq(follow("0-2", t), 0);
	calls.detach_answer = -ENOMEM;
	kernel.enable_answer[3] = -EIO;
	ck_assert_int_eq(follow("0-3", t), -ENOMEM);
	assert_event(event_of(3), false, false);
}
END_TEST

/* An unreadable list changes nothing, until one can be read. */
static const char *const no_lists[] = { "3-2", "", "\n", "0-3,", "x", "0-99999999999" };

START_TEST(test_no_list)
{
	uint64_t t = begin(false);
	unsigned int fds = fake_event_fds(&ev);

	ck_assert_int_eq(follow(no_lists[_i], t), 0);
	ck_assert_uint_eq(fake_event_fds(&ev), fds);
	assert_calls(3, 0, 0);
	ck_assert_int_eq(follow("0-2", t), 1);
	ck_assert_int_eq(follow(no_lists[_i], t), 0);
	ck_assert_uint_eq(fake_event_fds(&ev), fds - 1);
	assert_calls(3, 0, 1);
}
END_TEST

/* ---- times */

static void account(uint64_t now, uint64_t due, uint64_t offline)
{
	events_account(&ev, now);
	ck_assert_uint_eq(ev.due_ns, due);
	ck_assert_uint_eq(ev.offline_ns, offline);
}

/*
 * The event's enabled time shows when its CPU went offline. Impossible times are clamped: not before the interval, not
 * after now.
 */
static const struct {
	uint64_t enabled_ns;
	uint64_t offline_ns; /* of 20 ms, if the CPU is missed 8 ms after the beginning */
} left[] = {
	{ 5 * MS, 15 * MS }, { 0, 20 * MS }, { 8 * MS, 12 * MS }, { 9 * MS, 12 * MS }, { UINT64_MAX / 2, 12 * MS },
};

START_TEST(test_left)
{
	uint64_t t;

	kernel.enabled_ns[3] = left[_i].enabled_ns;
	t = begin(false);
	ck_assert_int_eq(follow("0-2", t + 8 * MS), 1);
	account(t + 20 * MS, 4 * 20 * MS, left[_i].offline_ns);
	account(t + 30 * MS, 4 * 10 * MS, 10 * MS);
	ck_assert_int_eq(follow("0-3", t + 32 * MS), 1);
	account(t + 40 * MS, 4 * 10 * MS, 2 * MS);
	account(t + 50 * MS, 4 * 10 * MS, 0);
}
END_TEST

/* Gone and back between two looks: the enabled time stood still, and the list has the CPU each time. */
START_TEST(test_away_unseen)
{
	uint64_t t;
	int cpu;

	for (cpu = 0; cpu < 5; cpu++)
		kernel.enabled_ns[cpu] = (cpu == 3 ? 100 : 498) * MS; /* clocks are not exact */
	t = begin(_i);
	ck_assert_int_eq(follow("0-3", t + 300 * MS), 0); /* too early to know */
	ck_assert_uint_eq(events_in_doubt(&ev), 0);
	ck_assert_int_eq(follow("0-3", t + 500 * MS), 0); /* its clock may be late */
	ck_assert_uint_eq(events_in_doubt(&ev), t + 520 * MS);
	for (cpu = 0; cpu < 4; cpu++) {
		go_on(3, 3, 100 * MS);
		ck_assert_int_eq(follow("0-3", t + (uint64_t)(510 + 20 * cpu) * MS),
				 0); /* the first look is too early */
		ck_assert_int_eq(follow("0-3", t + (uint64_t)(520 + 20 * cpu) * MS), 0);
	}
	go_on(3, 3, 100 * MS);
	ck_assert_int_eq(follow("0-3", t + 600 * MS), 1);
	ck_assert_uint_eq(events_in_doubt(&ev), 0);
	for (cpu = 0; cpu < 4; cpu++)
		assert_calls(cpu, cpu == 3, cpu == 3);
	assert_event(event_of(3), true, _i);
	ck_assert(events[event_of(3)->fd].enabled);
	events_account(&ev, t + 700 * MS);
	ck_assert_uint_eq(ev.due_ns, 4 * 700 * MS);
	ck_assert_uint_eq(ev.offline_ns, 500 * MS);
}
END_TEST

/*
 * For how long CPUs 2 and 3 have been enabled after 500 ms, and then every 20 ms, in ms. If the host stood still, the
 * clock of a CPU is late until its next tick.
 */
static const struct {
	const char *what;
	uint64_t ms[2][6]; /* 0: unchanged */
	int gone[2];       /* the look that finds it gone; -1: never */
} late[] = {
	{ "always there", { { 500 }, { 500 } }, { -1, -1 } },
	{ "a little late", { { 500 }, { 300 } }, { -1, -1 } },
	{ "late until the first tick", { { 500 }, { 100, 520 } }, { -1, -1 } },
	{ "both, one longer", { { 100, 520 }, { 100, 0, 0, 560 } }, { -1, -1 } },
	{ "late until the last look", { { 500 }, { 100, 0, 0, 0, 0, 600 } }, { -1, -1 } },
	{ "advances a little", { { 500 }, { 100, 101, 0, 0, 0, 0 } }, { -1, -1 } },
	{ "gone", { { 500 }, { 100 } }, { -1, 5 } },
	{ "one gone, the other one late", { { 100, 0, 540 }, { 100 } }, { -1, 5 } },
	{ "both gone", { { 100 }, { 200 } }, { 5, 5 } },
};

START_TEST(test_late)
{
	uint64_t t = begin(true), ms[2] = { 0 };
	int cpu, i;

	go_on(0, 1, 500 * MS);
	for (i = 0; i < 6; i++) {
		for (cpu = 2; cpu <= 3; cpu++) {
			if (late[_i].ms[cpu - 2][i])
				ms[cpu - 2] = late[_i].ms[cpu - 2][i];
			go_on(cpu, cpu, ms[cpu - 2] * MS);
		}
		ck_assert_msg(follow("0-3", t + (uint64_t)(500 + 20 * i) * MS) ==
				      (late[_i].gone[0] == i || late[_i].gone[1] == i),
			      "%s: %d", late[_i].what, i);
		/* looks use the real clock, not that of this test */
		for (cpu = 0; cpu < 4; cpu++)
			event_of(cpu)->looked_at = t + (uint64_t)(500 + 20 * i) * MS;
	}
	ck_assert_uint_eq(events_in_doubt(&ev), 0);
	for (cpu = 2; cpu < 4; cpu++)
		assert_calls(cpu, late[_i].gone[cpu - 2] >= 0, late[_i].gone[cpu - 2] >= 0);
	assert_calls(0, 0, 0);
}
END_TEST

/* The same CPU may be in doubt again: time missed at the last look does not count twice. */
START_TEST(test_late_again)
{
	uint64_t t = begin(false);
	int i, cpu;

	for (i = 0; i < 3; i++) {
		uint64_t now = (uint64_t)(i + 1) * 500 * MS;

		go_on(0, 2, now);
		go_on(3, 3, now - 400 * MS);
		for (cpu = 0; cpu < 4; cpu++) /* looks use the real clock, not that of this test */
			event_of(cpu)->looked_at = t + now - 500 * MS;
		ck_assert_int_eq(follow("0-3", t + now), 0);
		ck_assert_uint_eq(events_in_doubt(&ev), t + now + 20 * MS);
		go_on(3, 3, now);
		ck_assert_int_eq(follow("0-3", t + now + 20 * MS), 0);
		ck_assert_uint_eq(events_in_doubt(&ev), 0);
	}
	assert_calls(3, 0, 0);
	events_account(&ev, t + 1600 * MS);
	ck_assert_uint_eq(ev.offline_ns, 0);
}
END_TEST

/* An interval that ends while a CPU is in doubt: offline if a second look has confirmed it, and counted once. */
START_TEST(test_doubt_at_the_end)
{
	uint64_t t = begin(false);

	go_on(0, 2, 500 * MS);
	go_on(3, 3, 100 * MS);
	ck_assert_int_eq(follow("0-3", t + 500 * MS), 0);
	if (_i) {
		go_on(3, 3, 100 * MS);
		ck_assert_int_eq(follow("0-3", t + 520 * MS), 0);
	}
	account(t + 530 * MS, 4 * 530 * MS, _i ? 430 * MS : 0);
	account(t + 550 * MS, 4 * 20 * MS, _i ? 20 * MS : 0);
	go_on(3, 3, 100 * MS);
	ck_assert_int_eq(follow("0-2", t + 560 * MS), 1);
	account(t + 570 * MS, 4 * 20 * MS, 20 * MS);
}
END_TEST

/* If an event cannot be read, its CPU has gone at the time of the look. */
START_TEST(test_left_unread)
{
	uint64_t t = begin(false);

	ck_assert_int_eq(ftruncate(event_of(3)->fd, sizeof(uint64_t)), 0);
	ck_assert_int_eq(follow("0-2", t + 8 * MS), 1);
	account(t + 20 * MS, 4 * 20 * MS, 12 * MS);
}
END_TEST

/* Before 6.0, read(2) has no third number. */
START_TEST(test_left_old_kernel)
{
	uint64_t t;

	kernel.enabled_ns[3] = 5 * MS;
	t = begin(false);
	ck_assert_int_eq(ftruncate(event_of(3)->fd, 2 * sizeof(uint64_t)), 0);
	ck_assert_int_eq(follow("0-2", t + 8 * MS), 1);
	account(t + 20 * MS, 4 * 20 * MS, 15 * MS);
}
END_TEST

/* A CPU that has gone before the interval began is found gone within it. */
START_TEST(test_left_before)
{
	uint64_t t;

	kernel.enabled_ns[3] = 5 * MS;
	t = begin(false);
	account(t + 6 * MS, 4 * 6 * MS, 0);
	ck_assert_int_eq(follow("0-2", t + 8 * MS), 1);
	account(t + 10 * MS, 4 * 4 * MS, 4 * MS);
}
END_TEST

/* Twice within one interval; several at the same time; over the end of an interval. */
START_TEST(test_sums)
{
	uint64_t t;

	kernel.enabled_ns[0] = kernel.enabled_ns[1] = UINT64_MAX / 2; /* counts as gone when found */
	t = begin(false);
	ck_assert_int_eq(follow("0,2-3", t + 10 * MS), 1);
	ck_assert_int_eq(follow("0-3", t + 13 * MS), 1);
	ck_assert_int_eq(follow("2-3", t + 20 * MS), 1);
	ck_assert_int_eq(follow("1-3", t + 25 * MS), 1);
	account(t + 30 * MS, 4 * 30 * MS, (3 + 5 + 10) * MS);
	ck_assert_int_eq(follow("0-3", t + 31 * MS), 1);
	account(t + 40 * MS, 4 * 10 * MS, MS);
	/* a fifth CPU, from here on; also if it goes offline again */
	ck_assert_int_eq(follow("0-4", t + 44 * MS), 1);
	account(t + 50 * MS, 4 * 10 * MS + 6 * MS, 0);
	kernel.enabled_ns[4] = 0;
	ck_assert_int_eq(follow("0-3", t + 50 * MS), 1);
	account(t + 60 * MS, 5 * 10 * MS, 10 * MS);
}
END_TEST

/* No samples are due from CPUs that do not sample. */
START_TEST(test_only_due)
{
	uint64_t t;

	sample_only(2);
	t = begin(false);
	kernel.enabled_ns[2] = 0;
	ck_assert_int_eq(follow("0,2-3", t + MS), 1);
	account(t + 10 * MS, 10 * MS, 0);
	ck_assert_int_eq(follow("0", t + 10 * MS), 1);
	account(t + 20 * MS, 10 * MS, 10 * MS);
}
END_TEST

/* ---- samples and switches */

enum { TRACEPOINT_ID = 372 };

static void ask_for_both(void)
{
	req.off_cpu.wanted = true;
	ev.sched_switch = (struct sched_switch){
		.id = TRACEPOINT_ID, .prev_comm.at = 8, .prev_pid.at = 24, .prev_state.at = 32, .next_pid.at = 56
	};
}

/* Check one place: the events open on its CPU, depending on whether it @samples. */
static void assert_both(const struct event_place *e, bool open, bool samples, bool joins, bool notes)
{
	const bool noted[] = { open && notes && samples, open && notes };
	const enum kind kinds[] = { SAMPLE_NOTES, SWITCH_NOTES };
	size_t i;

	ck_assert_int_eq(e->samples, samples);
	ck_assert_int_eq(e->fd >= 0, open);
	ck_assert_uint_eq(e->nr_more, open && joins);
	for (i = 0; i < MEASURED_NR; i++) {
		ck_assert_int_eq(e->notes[i].fd >= 0, noted[i]);
		if (!noted[i])
			continue;
		ck_assert_int_eq((int)events[e->notes[i].fd].kind, (int)kinds[i]);
		ck_assert_int_eq(events[e->notes[i].fd].cpu, e->cpu);
		ck_assert_uint_eq(e->notes[i].id, ids[kinds[i]] + (uint64_t)e->cpu);
	}
	if (!open)
		return;
	ck_assert_int_eq((int)events[e->fd].kind, SAMPLING);
	ck_assert_int_eq(events[e->fd].cpu, e->cpu);
	ck_assert_uint_eq(events[e->fd].attr.sample_freq, samples ? 49 : 0);
	if (!joins)
		return;
	ck_assert_int_eq((int)events[e->more[0].fd].kind, SWITCHES);
	ck_assert_int_eq(events[e->more[0].fd].cpu, e->cpu);
	ck_assert_int_eq(events[e->more[0].fd].pid, -1);
	ck_assert_uint_eq(e->more[0].id, ids[SWITCHES] + (uint64_t)e->cpu);
}

static const struct {
	bool notes, both, in_pidns, no_tracepoint, unusual;
	int only;
	enum switch_source switches;
} joinings[] = {
	{ .only = -1, .switches = SWITCHES_BY_TRACEPOINT },
	{ .only = 2, .switches = SWITCHES_BY_TRACEPOINT },
	{ .unusual = true, .only = -1, .switches = SWITCHES_BY_TRACEPOINT },
	{ .no_tracepoint = true, .only = -1, .switches = SWITCHES_BY_RECORDS },
	{ .no_tracepoint = true, .only = 0, .switches = SWITCHES_BY_RECORDS },
	{ .in_pidns = true, .only = -1, .switches = SWITCHES_BY_RECORDS },
	{ .notes = true, .only = -1, .switches = SWITCHES_BY_PROGRAM },
	{ .notes = true, .only = 2, .switches = SWITCHES_BY_PROGRAM },
	{ .notes = true, .no_tracepoint = true, .only = -1, .switches = SWITCHES_BY_PROGRAM },
	{ .notes = true, .in_pidns = true, .only = -1, .switches = SWITCHES_BY_PROGRAM },
	{ .notes = true, .both = true, .only = -1, .switches = SWITCHES_BY_TRACEPOINT },
	{ .notes = true, .both = true, .only = 3, .switches = SWITCHES_BY_TRACEPOINT },
	{ .notes = true, .both = true, .unusual = true, .only = -1, .switches = SWITCHES_BY_RECORDS },
	{ .notes = true, .both = true, .no_tracepoint = true, .only = -1, .switches = SWITCHES_BY_RECORDS },
	{ .notes = true, .both = true, .in_pidns = true, .only = 1, .switches = SWITCHES_BY_RECORDS },
};

static bool ask_for_joining(int i)
{
	ask_for_both();
	sample_only(joinings[i].only);
	req.both = joinings[i].both;
	req.in_pidns = joinings[i].in_pidns;
	if (joinings[i].no_tracepoint)
		ev.sched_switch.id = 0;
	if (joinings[i].unusual)
		ev.sched_switch.prev_pid.at = 28;
	return joinings[i].switches != SWITCHES_BY_PROGRAM;
}

/* Samples come from the CPU that -C names, switches from all: a thread may come back on any CPU. */
START_TEST(test_both)
{
	bool joins = ask_for_joining(_i), notes = joinings[_i].notes;
	size_t i, nr = 0;

	open_on("0-4", "0-3", notes);
	ck_assert_int_eq((int)ev.switches, (int)joinings[_i].switches);
	ck_assert_int_eq(events_join_switches(&ev), joins);
	ck_assert_uint_eq(ev.nr_cpus, req.filter.by_cpu ? 1 : 4);
	ck_assert_uint_eq(ev.nr_places, 5);
	ck_assert_uint_eq(ev.rings.samples, 8 << 20);
	for (i = 0; i < ev.nr_places; i++) {
		const struct event_place *e = &ev.places[i];
		bool samples = filter_match_cpu(&req.filter, (uint32_t)e->cpu);

		assert_both(e, e->cpu < 4, samples, joins, notes);
		nr += e->cpu < 4 ? 1 + joins + (notes && samples) + notes : 0;
	}
	ck_assert_uint_eq(kernel.opened, nr);
	ck_assert_uint_eq(fake_event_fds(&ev), fds_before + nr);
}
END_TEST

/* Check the joined event: all attributes that do not concern switches are those of the samples. */
static void assert_switch_attr(const struct perf_event_attr *a, bool tracepoint)
{
	struct perf_event_attr want = *events_attr(&ev);

	want.type = tracepoint ? PERF_TYPE_TRACEPOINT : PERF_TYPE_SOFTWARE;
	want.config = tracepoint ? TRACEPOINT_ID : PERF_COUNT_SW_CONTEXT_SWITCHES;
	want.freq = 0;
	want.sample_period = 1;
	want.sample_type |= tracepoint ? PERF_SAMPLE_RAW : 0;
	want.context_switch = 1;
	want.mmap = want.mmap2 = want.comm = want.comm_exec = want.task = want.namespaces = want.ksymbol = 0;
	want.exclude_idle = want.exclude_guest = 0;
	ck_assert_mem_eq(a, &want, sizeof(want));
	ck_assert_mem_eq(a, &ev.attrs[EVENT_SWITCHES], sizeof(want));
	ck_assert_uint_eq(a->disabled, 1);
	ck_assert_uint_eq(a->use_clockid, 1);
	ck_assert_uint_eq(a->clockid, CLOCK_MONOTONIC);
	ck_assert_uint_eq(a->sample_id_all, 1);
}

START_TEST(test_both_attributes)
{
	bool joins = ask_for_joining(_i), notes = joinings[_i].notes;
	int cpu, sampling = (int)req.filter.cpu;

	open_on("0-3", "0-3", notes);
	ck_assert_uint_eq(events_attr(&ev)->config, PERF_COUNT_SW_CPU_CLOCK);
	ck_assert_uint_eq(events_attr(&ev)->freq, 1);
	ck_assert_uint_eq(events_attr(&ev)->context_switch, 0);
	ck_assert_uint_eq(events_attr(&ev)->exclude_idle, joinings[_i].in_pidns);
	ck_assert(!(events_attr(&ev)->sample_type & PERF_SAMPLE_RAW));
	ck_assert(events_attr(&ev)->sample_type & PERF_SAMPLE_IDENTIFIER);
	ck_assert_uint_eq(events_attr(&ev)->mmap & events_attr(&ev)->mmap2 & events_attr(&ev)->comm &
				  events_attr(&ev)->task,
			  1);
	ck_assert_mem_eq(&kernel.attr[sampling], events_attr(&ev), sizeof(*events_attr(&ev)));
	for (cpu = 0; cpu < 4; cpu++) {
		ck_assert_uint_eq(kernel.switch_attr[cpu].size != 0, joins);
		if (joins)
			assert_switch_attr(&kernel.switch_attr[cpu], ev.switches == SWITCHES_BY_TRACEPOINT);
		ck_assert_uint_eq(kernel.switch_notes_attr[cpu].size != 0, notes);
		if (notes)
			ck_assert_mem_eq(&kernel.switch_notes_attr[cpu], &ev.attrs[EVENT_SWITCH_NOTES],
					 sizeof(*events_attr(&ev)));
	}
	if (!notes)
		return;
	ck_assert_mem_eq(&kernel.notes_attr[sampling], &ev.attrs[EVENT_NOTES], sizeof(*events_attr(&ev)));
	for (cpu = 0; cpu < MEASURED_NR; cpu++) {
		const struct perf_event_attr *a = &ev.attrs[EVENT_NOTES + cpu];

		ck_assert(a->sample_type & PERF_SAMPLE_IDENTIFIER && a->sample_type & PERF_SAMPLE_RAW);
		ck_assert_uint_eq(a->clockid, events_attr(&ev)->clockid);
		ck_assert_uint_eq(a->sample_period, 1);
	}
}
END_TEST

/* An event of another kind samples; the switch events do not use its PMU. */
START_TEST(test_both_other_clock)
{
	ask_for_both();
	req.sampling.event = event_find("task-clock");
	req.sampling.period = 1000000;
	req.filter.no_user = true;
	open_on("0-1", "0-1", false);
	ck_assert_uint_eq(kernel.attr[0].config, PERF_COUNT_SW_TASK_CLOCK);
	ck_assert_uint_eq(kernel.attr[0].sample_period, 1000000);
	ck_assert_uint_eq(kernel.attr[0].exclude_callchain_user, 1);
	ck_assert_uint_eq(kernel.switch_attr[0].exclude_callchain_user, 1);
	assert_switch_attr(&kernel.switch_attr[1], true);
}
END_TEST

/* Errors that end the opening, and leave nothing open: the message names the right event. */
static const struct {
	bool tracepoint, notes;
	int cpu, switch_answer, switch_notes_answer, id_answer, rc;
	const char *says;
} both_refused[] = {
	{ true, false, 0, -EMFILE, 0, 0, -EMFILE, "cannot open perf event 'sched:sched_switch' on CPU 0" },
	{ true, false, 9, -EMFILE, 0, 0, -EMFILE, "cannot open perf event 'sched:sched_switch' on CPU 9" },
	{ true, false, 5, -EINVAL, 0, 0, -EINVAL, "cannot open perf event 'sched:sched_switch' on CPU 5" },
	{ true, false, 5, -ENOMEM, 0, 0, -ENOMEM, "cannot open perf event 'sched:sched_switch' on CPU 5" },
	{ false, false, 0, -EACCES, 0, 0, -EACCES, "cannot open perf event 'context-switches' on CPU 0" },
	{ false, false, 9, -EPERM, 0, 0, -EPERM, "cannot open perf event 'context-switches' on CPU 9" },
	{ false, false, 4, -ENOENT, 0, 0, -ENOENT, "cannot open perf event 'context-switches' on CPU 4" },
	{ false, false, 4, -EINVAL, 0, 0, -EINVAL, "cannot open perf event 'context-switches' on CPU 4" },
	{ true, false, 0, 0, 0, -ENOTTY, -ENOTTY, "cannot read the id of a perf event on CPU 0" },
	{ false, false, 9, 0, 0, -ENOTTY, -ENOTTY, "cannot read the id of a perf event on CPU 9" },
	{ true, true, 0, 0, -EMFILE, 0, -EMFILE, "cannot open the perf event for BPF output on CPU 0" },
	{ true, true, 9, 0, -EINVAL, 0, -EINVAL, "cannot open the perf event for BPF output on CPU 9" },
	/* neither the tracepoint nor the other event may be used */
	{ true, false, 3, -EACCES, 0, 0, -EACCES, "cannot open perf event 'context-switches' on CPU 3" },
};

START_TEST(test_both_refused)
{
	struct err err = { 0 };

	ask_for_both();
	req.both = both_refused[_i].notes;
	if (!both_refused[_i].tracepoint)
		ev.sched_switch.id = 0;
	kernel.only_switches = true;
	kernel.switch_answer[both_refused[_i].cpu] = both_refused[_i].switch_answer;
	kernel.switch_notes_answer[both_refused[_i].cpu] = both_refused[_i].switch_notes_answer;
	kernel.id_answer[both_refused[_i].cpu] = both_refused[_i].id_answer;
	fake_list_cpus(dir, "possible", "0-9");
	fake_list_cpus(dir, "online", "0-9");
	ck_assert_int_eq(events_open(&ev, both_refused[_i].notes, &err), both_refused[_i].rc);
	ck_assert_int_eq(err.code, both_refused[_i].rc);
	ck_assert_msg(strstr(err.msg, both_refused[_i].says), "%s", err.msg);
	ck_assert_uint_eq(ev.nr_places, 0);
	ck_assert_uint_eq(fake_event_fds(&ev), fds_before);
	/* Another backend may try after that. */
	memset(&kernel, 0, sizeof(kernel));
	open_on("0-1", "0-1", true);
	ck_assert_uint_eq(ev.nr_cpus, 2);
}
END_TEST

/* Tracepoints of whole CPUs need more permissions: without these, the records are used, on all CPUs alike. */
static const int no_rights[] = { -EACCES, -EPERM, -ENOENT };

START_TEST(test_both_no_tracepoint)
{
	struct err err = { 0 };
	int cpu;

	ask_for_both();
	kernel.tracepoint_answer = no_rights[_i];
	fake_list_cpus(dir, "possible", "0-3");
	fake_list_cpus(dir, "online", "0-3");
	ck_assert_int_eq(events_open(&ev, false, &err), 0);
	ck_assert_int_eq((int)ev.switches, SWITCHES_BY_RECORDS);
	ck_assert_int_eq(ev.no_tracepoint.code, no_rights[_i]);
	ck_assert_ptr_nonnull(strstr(ev.no_tracepoint.msg, "cannot open perf event 'sched:sched_switch' on CPU 0"));
	for (cpu = 0; cpu < 4; cpu++) {
		assert_both(event_of(cpu), true, true, true, false);
		assert_switch_attr(&kernel.switch_attr[cpu], false);
	}
	ck_assert_uint_eq(fake_event_fds(&ev), fds_before + 2 * 4);
}
END_TEST

/* Before 4.3 there are no records of switches; the tracepoint reports the next thread, too. */
static const struct {
	bool tracepoint, notes, both;
	int rc;
} before_records[] = {
	{ true, false, false, 0 }, { false, false, false, -EOPNOTSUPP },
	{ true, true, true, 0 },   { false, true, true, -EOPNOTSUPP },
	{ false, true, false, 0 },
};

START_TEST(test_both_before_records)
{
	struct err err = { 0 };

	ask_for_both();
	kernel.no_switch_records = true;
	req.both = before_records[_i].both;
	if (!before_records[_i].tracepoint)
		ev.sched_switch.id = 0;
	fake_list_cpus(dir, "possible", "0-1");
	fake_list_cpus(dir, "online", "0-1");
	ck_assert_int_eq(events_open(&ev, before_records[_i].notes, &err), before_records[_i].rc);
	if (before_records[_i].rc) {
		ck_assert_ptr_nonnull(
			strstr(err.msg, "perf events do not report threads that return to a CPU (before Linux 4.3)"));
		ck_assert_uint_eq(ev.nr_places, 0);
		ck_assert_uint_eq(fake_event_fds(&ev), fds_before);
		return;
	}
	if (!before_records[_i].tracepoint)
		return;
	ck_assert_uint_eq(ev.attrs[EVENT_SWITCHES].context_switch, 0);
	ck_assert_uint_eq(kernel.switch_attr[1].context_switch, 0);
	ck_assert(kernel.switch_attr[1].sample_type & PERF_SAMPLE_RAW);
	ck_assert_uint_eq(kernel.switch_attr[1].sample_max_stack, 0); /* this attribute is newer */
	ck_assert_uint_eq(kernel.switch_attr[1].use_clockid, events_attr(&ev)->use_clockid);
	ck_assert_uint_eq(events_attr(&ev)->sample_max_stack, 125);
}
END_TEST

/* Events that share a ring have the same clock, also if the kernel supports only its own. */
START_TEST(test_both_old_kernel)
{
	ask_for_both();
	req.both = true;
	kernel.no_clockid = kernel.no_switch_records = true;
	open_on("0-2", "0-2", true);
	ck_assert_uint_eq(events_attr(&ev)->use_clockid, 0);
	ck_assert_uint_eq(ev.attrs[EVENT_SWITCHES].use_clockid, 0);
	ck_assert_uint_eq(kernel.switch_attr[2].use_clockid, 0);
	ck_assert_uint_eq(kernel.notes_attr[2].use_clockid, 0);
	ck_assert_uint_eq(kernel.switch_notes_attr[2].use_clockid, 0);
}
END_TEST

/* A CPU may go offline between any two of its events: then none of them stays open. */
START_TEST(test_both_going)
{
	int *const answers[] = { kernel.answer, kernel.notes_answer, kernel.switch_answer, kernel.switch_notes_answer };
	int cpu, gone = _i / 4 ? 3 : 0;

	ask_for_both();
	req.both = true;
	answers[_i % 4][gone] = -ENODEV;
	open_on("0-3", "0-3", true);
	ck_assert_uint_eq(ev.nr_cpus, 3);
	for (cpu = 0; cpu < 4; cpu++)
		assert_both(event_of(cpu), cpu != gone, true, true, true);
	ck_assert_uint_eq(fake_event_fds(&ev), fds_before + 3 * 4);
}
END_TEST

static void assert_enabled(bool enabled)
{
	size_t i;

	for (i = 0; i < ev.nr_places; i++) {
		const struct event_place *e = &ev.places[i];

		ck_assert_uint_eq(e->nr_more, 1);
		ck_assert_int_eq(events[e->fd].enabled, enabled);
		ck_assert_int_eq(events[e->more[0].fd].enabled, enabled);
	}
}

START_TEST(test_both_enable)
{
	struct err err = { 0 };

	ask_for_both();
	sample_only(_i ? 1 : -1);
	open_on("0-3", "0-3", false);
	assert_enabled(false);
	ck_assert_int_eq(events_enable(&ev, &err), 0);
	assert_enabled(true);
	ck_assert_int_eq(events_disable(&ev, &err), 0);
	assert_enabled(false);
	kernel.only_switches = true;
	kernel.enable_answer[3] = kernel.disable_answer[2] = -EIO;
	ck_assert_int_eq(events_enable(&ev, &err), -EIO);
	ck_assert_str_eq(err.msg, "cannot enable the perf event of CPU 3: Input/output error");
	ck_assert_int_eq(events_disable(&ev, &err), -EIO);
	ck_assert_str_eq(err.msg, "cannot disable the perf event of CPU 2: Input/output error");
}
END_TEST

/* @_i: bit 0: with notes, bit 1: only CPU 2 samples */
START_TEST(test_both_comes)
{
	bool notes = _i & 1;
	uint64_t t;
	int cpu;

	ask_for_both();
	req.both = notes;
	sample_only(_i & 2 ? 2 : -1);
	t = begin(notes);
	for (cpu = 1; cpu <= 2; cpu++) {
		ck_assert_int_eq(follow(cpu == 1 ? "0,2-3" : "0-1,3", t), 1);
		assert_both(event_of(cpu), false, !req.filter.by_cpu || cpu == 2, true, notes);
		assert_calls(cpu, 0, 1);
		ck_assert_int_eq(follow("0-3", t), 1);
		assert_both(event_of(cpu), true, !req.filter.by_cpu || cpu == 2, true, notes);
		assert_calls(cpu, 1, 1);
		ck_assert(events[event_of(cpu)->fd].enabled);
		ck_assert(events[event_of(cpu)->more[0].fd].enabled);
	}
	/* a new CPU */
	ck_assert_int_eq(follow("0-4", t), 1);
	assert_both(event_of(4), true, !req.filter.by_cpu, true, notes);
	ck_assert(events[event_of(4)->more[0].fd].enabled);
	ck_assert_uint_eq(ev.nr_cpus, req.filter.by_cpu ? 1 : 5);
}
END_TEST

/* Failures that keep the CPU from coming back: nothing of it stays open, and it is tried again. */
static const struct {
	int switch_answer, switch_notes_answer, id_answer, enable_answer, attach_answer;
	int attached; /* calls of attach() for each try */
} both_broken[] = {
	{ -ENODEV, 0, 0, 0, 0, 0 }, { -EMFILE, 0, 0, 0, 0, 0 }, { -EACCES, 0, 0, 0, 0, 0 }, { 0, -ENODEV, 0, 0, 0, 0 },
	{ 0, -EMFILE, 0, 0, 0, 0 }, { 0, 0, -ENOTTY, 0, 0, 0 }, { 0, 0, 0, -EIO, 0, 1 },    { 0, 0, 0, 0, -EPERM, 1 },
};

START_TEST(test_both_tried_again)
{
	unsigned int fds, i;
	uint64_t t;

	ask_for_both();
	req.both = true;
	t = begin(true);
	fds = fake_event_fds(&ev);
	ck_assert_int_eq(follow("0-2", t), 1);
	kernel.only_switches = true;
	kernel.switch_answer[3] = both_broken[_i].switch_answer;
	kernel.switch_notes_answer[3] = both_broken[_i].switch_notes_answer;
	kernel.id_answer[3] = both_broken[_i].id_answer;
	kernel.enable_answer[3] = both_broken[_i].enable_answer;
	calls.attach_answer = both_broken[_i].attach_answer;
	for (i = 1; i <= 3; i++) {
		ck_assert_int_eq(follow("0-3", t + i * MS), 0);
		assert_both(event_of(3), false, true, true, true);
		ck_assert_uint_eq(fake_event_fds(&ev), fds - 4);
		assert_calls(3, (int)i * both_broken[_i].attached, 1 + (int)i * both_broken[_i].attached);
	}
	ck_assert_int_eq((int)ev.switches, SWITCHES_BY_TRACEPOINT);
	memset(&kernel, 0, sizeof(kernel));
	calls.attach_answer = 0;
	ck_assert_int_eq(follow("0-3", t + 5 * MS), 1);
	assert_both(event_of(3), true, true, true, true);
	ck_assert_uint_eq(fake_event_fds(&ev), fds);
}
END_TEST

/* Can both events still be opened after capabilities were dropped? */
static const struct {
	int answer, switch_answer, rc;
} tries[] = { { 0, 0, 0 }, { -EACCES, 0, -EACCES }, { 0, -EACCES, -EACCES }, { -EPERM, -EACCES, -EPERM } };

START_TEST(test_both_try)
{
	unsigned int fds;

	ck_assert_int_eq(events_try(&ev), -ENODEV);
	ask_for_both();
	open_on("0-1", "0-1", false);
	fds = fake_event_fds(&ev);
	kernel.answer[0] = tries[_i].answer;
	kernel.switch_answer[0] = tries[_i].switch_answer;
	ck_assert_int_eq(events_try(&ev), tries[_i].rc);
	ck_assert_uint_eq(fake_event_fds(&ev), fds);
}
END_TEST

/* ---- threads that are followed */

static pid_t threads[] = { 100, 200, 300, 400 };

/* Add thread @tid of process @pid. */
static void add_thread(pid_t pid, pid_t tid)
{
	char name[64];

	snprintf(name, sizeof(name), "%d/task/%d/stat", pid, tid);
	unit_write(dir, name, "", 0);
}

/* Follow processes, as with -p. */
static void follow_threads(size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		add_thread(threads[i], threads[i]);
	req.filter.ids = threads;
	req.filter.nr = nr;
	ev.followed = followed_new(&ev);
	ck_assert_ptr_nonnull(ev.followed);
}

static void assert_followed(const struct event_place *e, const pid_t *pids, size_t nr)
{
	size_t i;

	ck_assert_uint_eq(1 + e->nr_more, nr);
	for (i = 0; i < nr; i++) {
		int fd = i ? e->more[i - 1].fd : e->fd;

		ck_assert_int_ge(fcntl(fd, F_GETFD), 0);
		ck_assert(events[fd].used && !events[fd].notes);
		ck_assert_int_eq(events[fd].cpu, e->cpu);
		ck_assert_int_eq(events[fd].pid, pids[i]);
		ck_assert_uint_eq(events[fd].attr.inherit, 1);
		ck_assert_uint_eq(events[fd].attr.disabled, 1);
	}
}

/* @_i: bit 0: with notes, rest: how many are followed */
START_TEST(test_followed)
{
	size_t nr = 1 + (size_t)_i / 2, i;

	follow_threads(nr);
	open_on("0-4", "0-3", _i & 1);
	ck_assert_uint_eq(ev.nr_cpus, 4);
	ck_assert_uint_eq(kernel.opened, 4 * nr + (_i & 1 ? 4 : 0));
	ck_assert_uint_eq(fake_event_fds(&ev), fds_before + kernel.opened);
	for (i = 0; i < ev.nr_places; i++) {
		assert_event(&ev.places[i], ev.places[i].cpu < 4, _i & 1);
		if (ev.places[i].cpu < 4)
			assert_followed(&ev.places[i], threads, nr);
	}
	ck_assert_uint_eq(events_attr(&ev)->inherit, 1);
	ck_assert_uint_eq(events_attr(&ev)->enable_on_exec, 0);
	ck_assert_uint_eq(events_attr(&ev)->exclude_kernel, 0);
	ck_assert_int_eq(ev.user_only.code, 0);
}
END_TEST

/* Events of whole CPUs are not inherited, and do not wait for an exec; those of a followed command do both. */
START_TEST(test_inherited)
{
	char name[] = "true", *argv[] = { name, NULL };
	struct err err;

	open_on("0", "0", true);
	ck_assert_uint_eq(kernel.attr[0].inherit, 0);
	ck_assert_uint_eq(kernel.attr[0].enable_on_exec, 0);
	events_close(&ev);
	req.command = command_start(argv, &err);
	ck_assert_ptr_nonnull(req.command);
	open_on("0", "0", true);
	ck_assert_uint_eq(kernel.attr[0].inherit, 0);
	ck_assert_uint_eq(kernel.attr[0].enable_on_exec, 0);
	ck_assert_uint_eq(events_attr(&ev)->comm_exec, 1);
	events_close(&ev);
	ev.followed = followed_new(&ev);
	open_on("0", "0", true);
	ck_assert_int_eq(events[ev.places[0].fd].pid, command_pid(req.command));
	ck_assert_uint_eq(kernel.attr[0].inherit, 1);
	ck_assert_uint_eq(kernel.attr[0].enable_on_exec, 1);
	ck_assert_uint_eq(kernel.notes_attr[0].inherit, 0);
	ck_assert_uint_eq(kernel.notes_attr[0].enable_on_exec, 0);
	command_free(req.command);
}
END_TEST

/* The event of each CPU has the time on all CPUs, unless it was closed: the longest time counts. */
START_TEST(test_followed_ns)
{
	uint64_t ns = 1;

	kernel.enabled_ns[1] = 7 * MS;
	kernel.enabled_ns[2] = 5 * MS;
	follow_threads(1);
	open_on("0-4", "0-3", false);
	ck_assert_int_eq(events_followed_ns(&ev, &ns), 0);
	ck_assert_uint_eq(ns, 7 * MS);
	ck_assert_int_eq(events_followed_ns(&ev, &ns), -ENODATA); /* no event is left to read */
	ck_assert_uint_eq(ns, 0);
	events_close(&ev);
	ck_assert_int_eq(events_followed_ns(&ev, &ns), -ENODATA);
}
END_TEST

START_TEST(test_followed_enable)
{
	struct err err = { 0 };
	size_t i, j;
	bool on;

	follow_threads(3);
	open_on("0-1", "0-1", true);
	for (on = true;; on = false) {
		ck_assert_int_eq((on ? events_enable : events_disable)(&ev, &err), 0);
		for (i = 0; i < ev.nr_places; i++) {
			ck_assert(events[ev.places[i].fd].enabled == on);
			for (j = 0; j < 2; j++)
				ck_assert(events[ev.places[i].more[j].fd].enabled == on);
		}
		if (!on)
			break;
	}
	kernel.refused_ioctl = threads[_i];
	ck_assert_int_eq(events_enable(&ev, &err), -EIO);
	ck_assert_str_eq(err.msg, "cannot enable the perf event of CPU 0: Input/output error");
	ck_assert_int_eq(events_disable(&ev, &err), -EIO);
	ck_assert_str_eq(err.msg, "cannot disable the perf event of CPU 0: Input/output error");
}
END_TEST

/* The threads have events on CPUs that are not sampled, too, to record tasks. */
START_TEST(test_followed_only)
{
	sample_only(1);
	follow_threads(2);
	open_on("0-2", "0-2", false);
	ck_assert_uint_eq(ev.nr_cpus, 1);
	assert_followed(event_of(0), threads, 2);
	assert_followed(event_of(1), threads, 2);
	ck_assert_uint_eq(kernel.attr[0].sample_freq, 0);
	ck_assert_uint_eq(kernel.attr[1].sample_freq, 49);
}
END_TEST

/* Ended threads are left out, as long as another one exists. */
static const struct {
	pid_t gone[4], left[4];
	size_t nr;
} endings[] = {
	{ { 100 }, { 200, 300, 400 }, 3 },
	{ { 400 }, { 100, 200, 300 }, 3 },
	{ { 200, 300 }, { 100, 400 }, 2 },
	{ { 100, 200, 300 }, { 400 }, 1 },
};

START_TEST(test_followed_gone)
{
	follow_threads(4);
	memcpy(kernel.gone, endings[_i].gone, sizeof(kernel.gone));
	open_on("0-1", "0-1", false);
	assert_followed(event_of(0), endings[_i].left, endings[_i].nr);
	assert_followed(event_of(1), endings[_i].left, endings[_i].nr);
}
END_TEST

/* An ended thread that could not be sampled does not affect the others. */
START_TEST(test_followed_vanishing)
{
	follow_threads(2);
	kernel.vanishing = threads[_i];
	open_on("0", "0", false);
	assert_followed(event_of(0), &threads[!_i], 1);
	ck_assert_uint_eq(kernel.attr[0].exclude_kernel, 0);
	ck_assert_int_eq(ev.user_only.code, 0);
}
END_TEST

/* @paranoid: 9: the file does not exist */
static void set_paranoid(int paranoid)
{
	char text[16];

	snprintf(text, sizeof(text), "%d\n", paranoid);
	if (paranoid < 9)
		unit_write(dir, "sys/kernel/perf_event_paranoid", text, strlen(text));
}

#define CANNOT      "cannot open perf event 'cpu-clock' of thread "
#define REFUSED(id) "process " id " may not be sampled: " CANNOT id

static const struct {
	int paranoid;
	const char *says;
} user_only[] = {
	{ 2, CANNOT "100 on CPU 0: Permission denied (kernel.perf_event_paranoid is 2; kernel stacks need CAP_PERFMON "
		    "or a value below 2)" },
	{ 1, CANNOT "100 on CPU 0: Permission denied" }, /* another cause */
	{ 9, CANNOT "100 on CPU 0: Permission denied" },
};

START_TEST(test_followed_user_only)
{
	follow_threads(2);
	kernel.no_kernel = true;
	set_paranoid(user_only[_i].paranoid);
	open_on("0-1", "0-1", false);
	assert_followed(event_of(0), threads, 2);
	assert_followed(event_of(1), threads, 2);
	ck_assert_uint_eq(kernel.attr[0].exclude_kernel, 1);
	ck_assert_uint_eq(kernel.attr[1].exclude_kernel, 1);
	ck_assert_uint_eq(events_attr(&ev)->exclude_kernel, 1);
	ck_assert_uint_eq(events_attr(&ev)->exclude_callchain_kernel, 1);
	ck_assert_int_eq(ev.user_only.code, -EACCES);
	ck_assert_str_eq(ev.user_only.msg, user_only[_i].says);
	/* another backend may try with other permissions */
	events_close(&ev);
	kernel.no_kernel = false;
	open_on("0-1", "0-1", false);
	ck_assert_uint_eq(events_attr(&ev)->exclude_kernel, 0);
	ck_assert_uint_eq(events_attr(&ev)->exclude_callchain_kernel, 0);
	ck_assert_int_eq(ev.user_only.code, 0);
}
END_TEST

/* A run without cgroups continues, with a warning that the kernel refuses them. */
static const struct {
	bool followed, no_cgroups;
	int answer;
	const char *says;
} cgroups[] = {
	{ false, true, 0, "do not tell the cgroup of a sample here (before Linux 5.7" },
	{ true, true, 0, "do not tell the cgroup of a sample here (before Linux 5.7" },
	{ true, true, -EACCES, "do not tell the cgroup of a sample here (before Linux 5.7" },
	{ false, true, -EINVAL, "cannot open perf event 'cpu-clock' on CPU 0: Invalid argument" },
	{ false, false, -EINVAL, "cannot open perf event 'cpu-clock' on CPU 0: Invalid argument" },
	{ true, false, -EINVAL, CANNOT "100 on CPU 0: Invalid argument" },
};

START_TEST(test_cgroups)
{
	struct err err = { 0 };

	if (cgroups[_i].followed)
		follow_threads(2);
	req.filter.cgroup = (struct cgroup *)dir; /* any value */
	kernel.no_cgroups = cgroups[_i].no_cgroups;
	kernel.answer[0] = cgroups[_i].answer;
	fake_list_cpus(dir, "possible", "0-1");
	fake_list_cpus(dir, "online", "0-1");
	ck_assert_int_eq(events_open(&ev, false, &err), -EINVAL);
	ck_assert_msg(strstr(err.msg, cgroups[_i].says), "%s", err.msg);
	ck_assert_uint_eq(fake_event_fds(&ev), fds_before);
	req.filter.cgroup = NULL;
}
END_TEST

static const struct {
	pid_t gone[4], foreign[4];
	bool no_kernel, kernel_only;
	int paranoid, rc;
	const char *says;
} unfollowed[] = {
	{ { 0 }, { 100 }, false, false, 2, -EACCES, REFUSED("100") " on CPU 0: Permission denied" },
	{ { 0 }, { 400 }, false, false, 2, -EACCES, REFUSED("400") " on CPU 0: Permission denied" },
	{ { 0 }, { 400 }, true, false, 2, -EACCES, REFUSED("400") " on CPU 0: Permission denied" },
	{ { 100 }, { 200, 400 }, false, false, 2, -EACCES, REFUSED("200") " on CPU 0: Permission denied" },
	{ { 0 },
	  { 100, 200, 300, 400 },
	  true,
	  false,
	  3,
	  -EACCES,
	  REFUSED("100") " on CPU 0: Permission denied (kernel.perf_event_paranoid is 3; it needs CAP_PERFMON or a "
			 "value "
			 "below 3)" },
	{ { 0 },
	  { 0 },
	  true,
	  true,
	  2,
	  -EACCES,
	  REFUSED("100") " on CPU 0: Permission denied (kernel.perf_event_paranoid is 2; kernel stacks need "
			 "CAP_PERFMON or "
			 "a value below 2)" },
};

START_TEST(test_unfollowed)
{
	struct err err = { 0 };

	follow_threads(4);
	req.filter.no_user = unfollowed[_i].kernel_only;
	memcpy(kernel.gone, unfollowed[_i].gone, sizeof(kernel.gone));
	memcpy(kernel.foreign, unfollowed[_i].foreign, sizeof(kernel.foreign));
	kernel.no_kernel = unfollowed[_i].no_kernel;
	set_paranoid(unfollowed[_i].paranoid);
	fake_list_cpus(dir, "possible", "0-1");
	fake_list_cpus(dir, "online", "0-1");
	ck_assert_int_eq(events_open(&ev, true, &err), unfollowed[_i].rc);
	ck_assert_str_eq(err.msg, unfollowed[_i].says);
	ck_assert_uint_eq(fake_event_fds(&ev), fds_before);
}
END_TEST

/* A CPU that goes offline closes no event; a new CPU is reported once. */
START_TEST(test_followed_cpus)
{
	uint64_t t;

	follow_threads(2);
	t = begin(true);
	ck_assert_int_eq(follow("0-1", t + 500 * MS), 0);
	ck_assert_int_eq(follow("0-3", t + 900 * MS), 0);
	assert_followed(event_of(3), threads, 2);
	ck_assert_int_eq(ev.refused.code, 0);
	ck_assert_int_eq(follow("0-4", t + 1300 * MS), 0);
	assert_event(event_of(4), false, false);
	ck_assert_str_eq(ev.refused.msg, "CPU 4 was offline when the run began");
	assert_calls(3, 0, 0);
	assert_calls(4, 0, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("events");
	TCase *tc = tcase_create("events");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_open, 0, 2 * ARRAY_SIZE(hosts));
	tcase_add_test(tc, test_attributes);
	tcase_add_test(tc, test_side_band);
	tcase_add_test(tc, test_old_kernel);
	tcase_add_loop_test(tc, test_going, 0, ARRAY_SIZE(going));
	tcase_add_loop_test(tc, test_refused, 0, ARRAY_SIZE(refused));
	tcase_add_test(tc, test_enable);
	tcase_add_loop_test(tc, test_goes_and_comes, 0, 2);
	tcase_add_test(tc, test_only);
	tcase_add_loop_test(tc, test_tried_again, 0, ARRAY_SIZE(broken));
	tcase_add_test(tc, test_new_tried_again);
	tcase_add_test(tc, test_detach_fails);
	tcase_add_loop_test(tc, test_no_list, 0, ARRAY_SIZE(no_lists));
	tcase_add_loop_test(tc, test_left, 0, ARRAY_SIZE(left));
	tcase_add_loop_test(tc, test_away_unseen, 0, 2);
	tcase_add_loop_test(tc, test_late, 0, ARRAY_SIZE(late));
	tcase_add_test(tc, test_late_again);
	tcase_add_loop_test(tc, test_doubt_at_the_end, 0, 2);
	tcase_add_test(tc, test_left_unread);
	tcase_add_test(tc, test_left_old_kernel);
	tcase_add_test(tc, test_left_before);
	tcase_add_test(tc, test_sums);
	tcase_add_test(tc, test_only_due);
	tcase_add_loop_test(tc, test_both, 0, ARRAY_SIZE(joinings));
	tcase_add_loop_test(tc, test_both_attributes, 0, ARRAY_SIZE(joinings));
	tcase_add_test(tc, test_both_other_clock);
	tcase_add_loop_test(tc, test_both_refused, 0, ARRAY_SIZE(both_refused));
	tcase_add_loop_test(tc, test_both_no_tracepoint, 0, ARRAY_SIZE(no_rights));
	tcase_add_loop_test(tc, test_both_before_records, 0, ARRAY_SIZE(before_records));
	tcase_add_test(tc, test_both_old_kernel);
	tcase_add_loop_test(tc, test_both_going, 0, 8);
	tcase_add_loop_test(tc, test_both_enable, 0, 2);
	tcase_add_loop_test(tc, test_both_comes, 0, 4);
	tcase_add_loop_test(tc, test_both_tried_again, 0, ARRAY_SIZE(both_broken));
	tcase_add_loop_test(tc, test_both_try, 0, ARRAY_SIZE(tries));
	tcase_add_loop_test(tc, test_followed, 0, 2 * ARRAY_SIZE(threads));
	tcase_add_test(tc, test_inherited);
	tcase_add_test(tc, test_followed_ns);
	tcase_add_loop_test(tc, test_followed_enable, 0, 3);
	tcase_add_test(tc, test_followed_only);
	tcase_add_loop_test(tc, test_followed_gone, 0, ARRAY_SIZE(endings));
	tcase_add_loop_test(tc, test_followed_vanishing, 0, 2);
	tcase_add_loop_test(tc, test_followed_user_only, 0, ARRAY_SIZE(user_only));
	tcase_add_loop_test(tc, test_cgroups, 0, ARRAY_SIZE(cgroups));
	tcase_add_loop_test(tc, test_unfollowed, 0, ARRAY_SIZE(unfollowed));
	tcase_add_test(tc, test_followed_cpus);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
