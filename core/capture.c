// SPDX-License-Identifier: Apache-2.0
#include "core/capture.h"

#include "compat/kernel.h"
#include "compat/perf_open.h"
#include "core/callchain.h"
#include "core/grow.h"
#include "core/ids.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#define NSEC_PER_SEC 1000000000ULL
#define DRAIN_NS     (200 * 1000 * 1000ULL) /* rings are read at least that often, */
#define WAKEUP_BYTES (32 << 10)             /* or when one holds that much */
#define LEARN_NS     NSEC_PER_SEC           /* between looks at whom the kernel holds counts of */
#define LEARN_SHARE  200                    /* of which at most one part in so many of our time may go */
#define WALK_NS      (20 * 1000 * 1000ULL)  /* and at most so much at once: the rings wait */

/* A full table of the default size takes 30 ms. Rare: once in thousands of exits. */
#define FORGET_WALK_NS (500 * 1000 * 1000ULL)

/* All rings together; a host with more CPUs gets smaller ones. perf's own default for one ring is the upper bound. */
#define RINGS_BYTES    (64UL << 20)
#define RING_MAX_BYTES (512UL << 10)
#define RING_MIN_BYTES (64UL << 10)

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

struct capture *capture_new(const struct options *options, const struct host *host)
{
	struct capture *cap = calloc(1, sizeof(*cap));

	if (!cap)
		return NULL;
	cap->options = options;
	cap->host = host;
	cap->signal_fd = -1;
	cap->filter = (struct filter){ options->pids, options->nr_pids, options->by_tid, options->include_idle };
	cap->asked = callchain_asked(host);
	cap->tasks = tasks_new(host);
	cap->stacks = stacks_new();
	if (!cap->tasks || !cap->stacks) {
		capture_free(cap);
		return NULL;
	}
	return cap;
}

static void fill_attr(struct capture *cap)
{
	const struct options *o = cap->options;
	struct perf_event_attr *a = &cap->attr;

	*a = (struct perf_event_attr){
		.size = sizeof(*a),
		.type = o->event->type,
		.config = o->event->config,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN,
		.read_format = PERF_FORMAT_LOST,
		.disabled = 1,
		.sample_id_all = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.watermark = 1,
		.wakeup_watermark = WAKEUP_BYTES,
		.exclude_guest = o->event->type == PERF_TYPE_HARDWARE,
		.exclude_callchain_kernel = o->user_only,
		/* In a pid namespace only a user stack tells tasks outside from the idle task. */
		.exclude_callchain_user = o->kernel_only && !kernel_in_pid_namespace(),
		.sample_max_stack = (uint16_t)cap->asked,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	if (o->period) {
		a->sample_period = o->period;
	} else {
		a->freq = 1;
		a->sample_freq = o->freq_hz;
	}
}

int capture_open_error(const struct host *host, const struct event_type *event, uint64_t freq_hz, int cpu, int code,
		       struct err *err)
{
	char pmu[512], why[160] = "";
	struct rlimit rl;
	long long v;

	if ((code == -EACCES || code == -EPERM) && !host_setting(host, "kernel/perf_event_paranoid", &v) && v > 0)
		snprintf(why, sizeof(why),
			 " (kernel.perf_event_paranoid is %lld; whole CPUs need CAP_PERFMON or a value below 1)", v);
	if (code == -EMFILE && !getrlimit(RLIMIT_NOFILE, &rl))
		snprintf(why, sizeof(why), " (RLIMIT_NOFILE is %llu)", (unsigned long long)rl.rlim_cur);
	if (code == -EINVAL && !host_setting(host, "kernel/perf_event_max_sample_rate", &v) && (int64_t)freq_hz > v)
		snprintf(why, sizeof(why), " (kernel.perf_event_max_sample_rate is %lld, below the rate of %llu)", v,
			 (unsigned long long)freq_hz);
	snprintf(pmu, sizeof(pmu), "%s/bus/event_source/devices/cpu", host->sys);
	if (code == -ENOENT && event->type == PERF_TYPE_HARDWARE && access(pmu, F_OK))
		snprintf(why, sizeof(why), " (there is no %.100s: no hardware counters here)", pmu);
	return err_set(err, code, "cannot open perf event '%s' on CPU %d: %s%s", event->name, cpu, strerror(-code),
		       why);
}

static void close_events(struct capture *cap)
{
	size_t i;

	for (i = 0; i < cap->nr_events; i++)
		close(cap->events[i].fd);
	free(cap->events);
	cap->events = NULL;
	cap->nr_events = 0;
}

static int open_event(struct capture *cap, int cpu, bool samples, struct err *err)
{
	struct perf_event_attr side_band = cap->attr;
	int fd;

	/* An event that only counts has no use for its count here, but its ring gets the side-band of its CPU. */
	side_band.type = PERF_TYPE_SOFTWARE;
	side_band.config = PERF_COUNT_SW_CPU_CLOCK;
	side_band.freq = 0;
	side_band.sample_period = 0;
	fd = perf_open(samples ? &cap->attr : &side_band, -1, cpu);
	if (fd == -ENODEV)
		return 0; /* went offline since the list was read */
	if (fd < 0)
		return capture_open_error(cap->host, cap->options->event, cap->options->freq_hz, cpu, fd, err);
	cap->events[cap->nr_events++] = (struct capture_event){ fd, cpu, samples };
	return 0;
}

static int open_events(struct capture *cap, struct err *err)
{
	const struct options *o = cap->options;
	struct cpu_list cpus;
	int rc = host_online_cpus(cap->host, &cpus, err);
	size_t i, ring = RING_MAX_BYTES;

	if (rc)
		return rc;
	while (ring > RING_MIN_BYTES && ring * cpus.nr > RINGS_BYTES)
		ring /= 2;
	cap->ring_bytes = ring;
	fill_attr(cap);
	cap->events = calloc(cpus.nr, sizeof(*cap->events));
	if (!cap->events)
		rc = err_sys(err, -ENOMEM, "cannot remember %zu events", cpus.nr);
	/* The CPU of -C first, so that side-band events use the attributes it was accepted with. */
	if (!rc && o->cpu >= 0)
		rc = open_event(cap, o->cpu, true, err);
	for (i = 0; i < cpus.nr && !rc; i++)
		if (cpus.cpu[i] != o->cpu)
			rc = open_event(cap, cpus.cpu[i], o->cpu < 0, err);
	if (!rc && !cap->nr_events)
		rc = err_sys(err, -ENODEV, "cannot open perf event '%s' on any CPU", o->event->name);
	cpu_list_release(&cpus);
	cap->nr_cpus = o->cpu >= 0 ? 1 : cap->nr_events;
	if (rc)
		close_events(cap);
	return rc;
}

static void close_backends(struct capture *cap)
{
	while (cap->nr_backends) {
		struct capture_backend *b = &cap->backends[--cap->nr_backends];

		b->ops->close(b->state);
	}
}

static int open_backend(struct capture *cap, const struct backend_ops *ops, struct err *err)
{
	struct capture_backend *b = &cap->backends[cap->nr_backends++];

	b->ops = ops;
	b->state = NULL;
	return ops->open(&b->state, cap, err);
}

/* Events, backend, and the reader behind it, all or nothing. */
static int open_with(struct capture *cap, const struct backend_ops *ops, struct err *err)
{
	int rc = open_events(cap, err);

	if (!rc)
		rc = open_backend(cap, ops, err);
	if (!rc && ops->in_kernel)
		rc = open_backend(cap, backend_reader(), err);
	if (rc) {
		close_backends(cap);
		close_events(cap);
	}
	return rc;
}

static int open_first_usable(struct capture *cap, struct err *err)
{
	const struct backend_ops *ops;
	struct err why = { 0 };
	unsigned int i;
	size_t used = 0;
	int rc = -ENODEV;

	for (i = 0; (ops = backend_at(i)); i++) {
		rc = ops->probe(false, &why);
		if (!rc)
			rc = open_with(cap, ops, &why);
		if (!rc && !used)
			snprintf(cap->reason, sizeof(cap->reason), "the first choice works here");
		if (!rc)
			return 0;
		used = strlen(cap->reason);
		snprintf(cap->reason + used, sizeof(cap->reason) - used, "%s%s cannot be used: %s", used ? "; " : "",
			 ops->name, why.msg);
		used = 1;
	}
	return err_set(err, rc, "%s", cap->reason);
}

static int catch_signals(struct capture *cap, struct err *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	cap->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (cap->signal_fd < 0)
		return err_sys(err, -errno, "cannot create a signalfd");
	return 0;
}

static bool take_signal(struct capture *cap)
{
	struct signalfd_siginfo info;

	cap->signalled = read(cap->signal_fd, &info, sizeof(info)) == sizeof(info);
	return cap->signalled;
}

/* From here on SIGINT and SIGTERM end the process again, also where they were ignored when it started. */
static void release_signals(struct capture *cap)
{
	sigset_t set;

	if (cap->signal_fd < 0)
		return;
	/* One that came when the end had come anyway was a first one, too. */
	if (!cap->signalled)
		take_signal(cap);
	close(cap->signal_fd);
	cap->signal_fd = -1;
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

int capture_open(struct capture *cap, struct err *err)
{
	const struct options *o = cap->options;
	struct rlimit rl;
	int rc = catch_signals(cap, err);

	if (rc)
		return rc;

	if (!getrlimit(RLIMIT_NOFILE, &rl) && rl.rlim_cur < rl.rlim_max) {
		rl.rlim_cur = rl.rlim_max;
		setrlimit(RLIMIT_NOFILE, &rl);
	}
	if (o->backend) {
		snprintf(cap->reason, sizeof(cap->reason), "asked for");
		rc = backend_find(o->backend)->probe(true, err);
		if (!rc)
			rc = open_with(cap, backend_find(o->backend), err);
	} else {
		rc = open_first_usable(cap, err);
	}
	return rc;
}

static int switch_events(struct capture *cap, unsigned long request, const char *what, struct err *err)
{
	size_t i;

	for (i = 0; i < cap->nr_events; i++)
		if (ioctl(cap->events[i].fd, request, 0))
			return err_sys(err, -errno, "cannot %s the perf event of CPU %d", what, cap->events[i].cpu);
	return 0;
}

static int each_backend(struct capture *cap, bool stop, struct err *err)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < cap->nr_backends && !rc; i++) {
		const struct capture_backend *b = &cap->backends[i];

		rc = stop ? b->ops->stop(b->state, err) : b->ops->drain(b->state, err);
	}
	return rc;
}

struct learning {
	struct tasks *tasks;
	uint64_t until_ns;
};

static bool learn_pid(void *ctx, pid_t pid)
{
	struct learning *l = ctx;

	tasks_learn(l->tasks, pid);
	return now_ns() < l->until_ns;
}

/* Processes that rows will ask for. */
struct pid_set {
	pid_t *v;
	size_t nr, cap;
	bool incomplete; /* so all are */
	uint64_t until_ns;
};

static bool note_pid(void *ctx, pid_t pid)
{
	struct pid_set *s = ctx;
	pid_t *v = grow(s->v, &s->cap, s->nr, 1, sizeof(*v));

	if (v) {
		s->v = v;
		v[s->nr++] = pid;
	} else {
		s->incomplete = true;
	}
	return !s->incomplete && now_ns() < s->until_ns;
}

static bool has_pid(void *ctx, pid_t pid)
{
	struct pid_set *s = ctx;

	return s->incomplete || ids_has(s->v, s->nr, pid);
}

/* Drop what is known of exited processes that no row will ask for. */
static void forget_exited(struct capture *cap)
{
	const struct capture_backend *b = &cap->backends[0];
	struct pid_set set = { .until_ns = now_ns() + FORGET_WALK_NS };
	struct stack_row row;
	size_t i;

	for (i = 0; i < stacks_nr_rows(cap->stacks); i++) {
		stacks_row(cap->stacks, i, &row);
		note_pid(&set, row.pid);
	}
	if (b->ops->pids && b->ops->pids(b->state, false, note_pid, &set))
		set.incomplete = true;
	ids_sort(set.v, set.nr);
	tasks_forget(cap->tasks, has_pid, &set);
	free(set.v);
}

/*
 * Processes whose counts are held in the kernel are not seen sample by sample: look from time to time who they are,
 * so that their mappings are read before they exit.
 */
static void learn_pids(struct capture *cap, uint64_t *next_ns)
{
	const struct capture_backend *b = &cap->backends[0];
	uint64_t began = now_ns(), cost;
	struct learning learning = { cap->tasks, began + WALK_NS };

	if (!b->ops->pids || began < *next_ns)
		return;
	b->ops->pids(b->state, true, learn_pid, &learning);
	cost = now_ns() - began;
	*next_ns = began + (cost * LEARN_SHARE > LEARN_NS ? cost * LEARN_SHARE : LEARN_NS);
}

static int timeout_ms(uint64_t now, uint64_t until)
{
	uint64_t wait = until <= now ? 0 : until - now;

	if (wait > DRAIN_NS)
		wait = DRAIN_NS;
	return (int)((wait + 999999) / 1000000);
}

/* Sleep until a ring wants to be read, a signal comes, or the time is up. */
static int wait_for_work(struct pollfd *fds, size_t nr, uint64_t until, struct err *err)
{
	size_t i;

	if (poll(fds, nr, timeout_ms(now_ns(), until)) < 0 && errno != EINTR)
		return err_sys(err, -errno, "cannot poll the perf events");
	for (i = 0; i < nr; i++)
		if (fds[i].revents & (POLLHUP | POLLERR | POLLNVAL))
			fds[i].fd = -1; /* its CPU went away; it would be ready for ever */
	return 0;
}

static int sample_until_end(struct capture *cap, struct err *err)
{
	uint64_t until = cap->options->duration_ns ? cap->started_ns + cap->options->duration_ns : UINT64_MAX;
	uint64_t learn_at = cap->started_ns + DRAIN_NS;
	size_t i;
	struct pollfd *fds = calloc(cap->nr_events + 1, sizeof(*fds));
	int rc = 0;

	if (!fds)
		return err_sys(err, -ENOMEM, "cannot wait for %zu events", cap->nr_events);
	fds[0] = (struct pollfd){ cap->signal_fd, POLLIN, 0 };
	for (i = 0; i < cap->nr_events; i++)
		fds[i + 1] = (struct pollfd){ cap->events[i].fd, POLLIN, 0 };
	/* The signal is taken, so that it does not end the process when it is no longer blocked; a second one does. */
	while (!rc && !take_signal(cap) && now_ns() < until) {
		rc = wait_for_work(fds, cap->nr_events + 1, until, err);
		if (!rc)
			rc = each_backend(cap, false, err);
		learn_pids(cap, &learn_at);
		if (tasks_forget_due(cap->tasks))
			forget_exited(cap);
	}
	free(fds);
	return rc;
}

int capture_run(struct capture *cap, struct err *err)
{
	struct err later;
	size_t i;
	int rc = 0, stopped;

	cap->started_ns = now_ns();
	rc = switch_events(cap, PERF_EVENT_IOC_ENABLE, "enable", err);
	if (!rc)
		cap->started_ns = now_ns();
	for (i = 0; i < cap->nr_backends && !rc; i++)
		if (cap->backends[i].ops->start)
			rc = cap->backends[i].ops->start(cap->backends[i].state, err);
	/* A reader that has to prepare itself counts from here on. */
	if (!cap->backends[0].ops->in_kernel)
		cap->started_ns = now_ns();
	if (!rc)
		rc = sample_until_end(cap, err);
	stopped = switch_events(cap, PERF_EVENT_IOC_DISABLE, "disable", rc ? &later : err);
	cap->stopped_ns = now_ns();
	if (!rc)
		rc = stopped;
	if (!rc)
		rc = each_backend(cap, true, err);
	release_signals(cap);
	return rc;
}

int64_t capture_books(const struct capture *cap, struct books *out)
{
	uint64_t passed_on;
	size_t i;

	*out = (struct books){ 0 };
	for (i = 0; i < cap->nr_backends; i++)
		cap->backends[i].ops->stats(cap->backends[i].state, out);
	if (cap->backends[0].ops->in_kernel) {
		passed_on = out->spilled_stack + out->spilled_count;
	} else {
		passed_on = out->ring_samples + out->lost_records;
		out->taken = passed_on;
	}
	out->lost = passed_on - out->ring_samples + out->bad_samples;
	return (int64_t)(out->taken - stacks_total(cap->stacks) - out->filtered - out->lost);
}

void capture_close(struct capture *cap)
{
	close_backends(cap);
	close_events(cap);
}

void capture_free(struct capture *cap)
{
	if (!cap)
		return;
	capture_close(cap);
	release_signals(cap);
	stacks_free(cap->stacks);
	tasks_free(cap->tasks);
	free(cap);
}
