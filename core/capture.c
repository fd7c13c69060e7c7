// SPDX-License-Identifier: Apache-2.0
#include "core/capture.h"

#include "compat/perf_open.h"
#include "core/callchain.h"

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
#define DRAIN_NS     (200 * 1000 * 1000ULL) /* rings are read at least that often, or when half full */
#define LEARN_NS     NSEC_PER_SEC           /* between looks at whom the kernel holds counts of */
#define LEARN_SHARE  200                    /* of which at most one part in so many of our time may go */

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
		.disabled = 1,
		.sample_id_all = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.watermark = 1,
		.wakeup_watermark = (uint32_t)(cap->ring_bytes / 2),
		.exclude_guest = o->event->type == PERF_TYPE_HARDWARE,
		.exclude_callchain_kernel = o->user_only,
		.exclude_callchain_user = o->kernel_only,
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

int capture_open_error(const struct host *host, const struct event_type *event, int cpu, int code, struct err *err)
{
	char pmu[512], why[160] = "";
	struct rlimit rl;
	long long v;

	if ((code == -EACCES || code == -EPERM) && !host_setting(host, "kernel/perf_event_paranoid", &v) && v > 0)
		snprintf(why, sizeof(why),
			 " (kernel.perf_event_paranoid is %lld; whole CPUs need CAP_PERFMON or a value below 1)", v);
	if (code == -EMFILE && !getrlimit(RLIMIT_NOFILE, &rl))
		snprintf(why, sizeof(why), " (RLIMIT_NOFILE is %llu)", (unsigned long long)rl.rlim_cur);
	snprintf(pmu, sizeof(pmu), "%s/bus/event_source/devices/cpu", host->sys);
	if (code == -ENOENT && event->type == PERF_TYPE_HARDWARE && access(pmu, F_OK))
		snprintf(why, sizeof(why), " (there is no %.100s: no hardware counters here)", pmu);
	return err_set(err, code, "cannot open perf event '%s' on CPU %d: %s%s", event->name, cpu, strerror(-code), why);
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
		return capture_open_error(cap->host, cap->options->event, cpu, fd, err);
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

/* From here on SIGINT and SIGTERM end the process again, also where they were ignored when it started. */
static void release_signals(struct capture *cap)
{
	sigset_t set;

	if (cap->signal_fd < 0)
		return;
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
	int rc;

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
	return rc ? rc : catch_signals(cap, err);
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

static void learn_pid(void *ctx, pid_t pid)
{
	tasks_learn(ctx, pid);
}

struct pid_set {
	pid_t *v;
	size_t nr, cap;
	bool incomplete;
};

static void note_pid(void *ctx, pid_t pid)
{
	struct pid_set *s = ctx;
	pid_t *v;

	if (s->nr == s->cap) {
		v = realloc(s->v, (s->cap * 2 + 256) * sizeof(*v));
		if (!v) {
			s->incomplete = true;
			return;
		}
		s->v = v;
		s->cap = s->cap * 2 + 256;
	}
	s->v[s->nr++] = pid;
}

static int compare_pids(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

static bool has_pid(void *ctx, pid_t pid)
{
	struct pid_set *s = ctx;

	return bsearch(&pid, s->v, s->nr, sizeof(pid), compare_pids);
}

/* Drop what is known of exited processes that no row will ask for. */
static void forget_exited(struct capture *cap, size_t *limit)
{
	const struct capture_backend *b = &cap->backends[0];
	struct pid_set set = { 0 };
	struct stack_row row;
	size_t i;

	for (i = 0; i < stacks_nr_rows(cap->stacks); i++) {
		stacks_row(cap->stacks, i, &row);
		note_pid(&set, row.pid);
	}
	if (b->ops->pids && b->ops->pids(b->state, note_pid, &set))
		set.incomplete = true;
	if (!set.incomplete) {
		qsort(set.v, set.nr, sizeof(*set.v), compare_pids);
		tasks_forget(cap->tasks, has_pid, &set);
	}
	free(set.v);
	/* What is left is needed: look again only when as much again has come. */
	*limit = tasks_exited(cap->tasks) + TASKS_MAX_EXITED;
}

/*
 * Processes whose counts are held in the kernel are not seen sample by sample: look from time to time who they are,
 * so that their mappings are read before they exit.
 */
static uint64_t learn_pids(struct capture *cap, uint64_t now)
{
	const struct capture_backend *b = &cap->backends[0];
	uint64_t cost;

	if (!b->ops->pids)
		return UINT64_MAX;
	b->ops->pids(b->state, learn_pid, cap->tasks);
	cost = now_ns() - now;
	return now + (cost * LEARN_SHARE > LEARN_NS ? cost * LEARN_SHARE : LEARN_NS);
}

static int timeout_ms(uint64_t now, uint64_t until)
{
	uint64_t wait = until <= now ? 0 : until - now;

	if (wait > DRAIN_NS)
		wait = DRAIN_NS;
	return (int)((wait + 999999) / 1000000);
}

/* Sleep until a ring is half full, a signal comes, or the time is up. *@ended: a signal came. */
static int wait_for_work(struct pollfd *fds, size_t nr, uint64_t until, bool *ended, struct err *err)
{
	struct signalfd_siginfo signal_info;
	size_t i;

	if (poll(fds, nr, timeout_ms(now_ns(), until)) < 0 && errno != EINTR)
		return err_sys(err, -errno, "cannot poll the perf events");
	for (i = 0; i < nr; i++)
		if (fds[i].revents & (POLLHUP | POLLERR | POLLNVAL))
			fds[i].fd = -1; /* its CPU went away; it would be ready for ever */
	/* Taken, so that it does not end the process when it is no longer blocked; a second one does. */
	*ended = fds[0].revents & POLLIN && read(fds[0].fd, &signal_info, sizeof(signal_info)) > 0;
	return 0;
}

static int sample_until_end(struct capture *cap, struct err *err)
{
	uint64_t until = cap->options->duration_ns ? cap->started_ns + cap->options->duration_ns : UINT64_MAX;
	uint64_t learn_at = cap->started_ns + DRAIN_NS, now;
	size_t forget_at = TASKS_MAX_EXITED, i;
	struct pollfd *fds = calloc(cap->nr_events + 1, sizeof(*fds));
	bool ended = false;
	int rc = 0;

	if (!fds)
		return err_sys(err, -ENOMEM, "cannot wait for %zu events", cap->nr_events);
	fds[0] = (struct pollfd){ cap->signal_fd, POLLIN, 0 };
	for (i = 0; i < cap->nr_events; i++)
		fds[i + 1] = (struct pollfd){ cap->events[i].fd, POLLIN, 0 };
	while (!rc && !ended && (now = now_ns()) < until) {
		rc = wait_for_work(fds, cap->nr_events + 1, until, &ended, err);
		if (!rc)
			rc = each_backend(cap, false, err);
		if (now >= learn_at)
			learn_at = learn_pids(cap, now);
		if (tasks_exited(cap->tasks) >= forget_at)
			forget_exited(cap, &forget_at);
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

void capture_books(const struct capture *cap, struct books *out)
{
	size_t i;

	*out = (struct books){ 0 };
	for (i = 0; i < cap->nr_backends; i++)
		cap->backends[i].ops->stats(cap->backends[i].state, out);
}

void capture_free(struct capture *cap)
{
	if (!cap)
		return;
	close_backends(cap);
	close_events(cap);
	release_signals(cap);
	stacks_free(cap->stacks);
	tasks_free(cap->tasks);
	free(cap);
}
