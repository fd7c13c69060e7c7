// SPDX-License-Identifier: Apache-2.0
#include "core/session/ladder.h"

#include "compat/perf_open.h"
#include "compat/tracepoint.h"
#include "core/host/event_types.h"
#include "core/host/kernel.h"
#include "core/host/pidns.h"
#include "core/session/ways.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static const struct {
	const char *name, *does[2]; /* by enum tool */
} rungs[RUNG_NR] = {
	[RUNG_BPF] = { "bpf",
		       { "counts the stacks of all CPUs in the kernel",
			 "adds up the time off the CPU of all threads in the kernel" } },
	[RUNG_PERFRING] = { "perfring",
			    { "reads the perf rings of all CPUs and counts in user space",
			      "reads the perf rings of all CPUs and adds up in user space" } },
	[RUNG_TASKS] = { "perfring-tasks",
			 { "reads the perf rings of threads of this user (of a command, -p, -L, or all)",
			   "reads the perf rings of threads of this user (of a command, -p, -t, or all)" } },
};

const char *rung_name(enum rung rung)
{
	return rungs[rung].name;
}

const char *rung_does(enum tool tool, enum rung rung)
{
	return rungs[rung].does[tool];
}

/* The events of a run. */
struct attempt {
	const struct event_type *event;
	uint64_t freq_hz;                /* of its samples; 0: there are none, unless: */
	bool switches;                   /* each one is a sample, and the kernel is to tell of threads that come back */
	pid_t tid;                       /* -1: whole CPUs; 0: the calling thread, and those that it makes */
	bool kernel;                     /* its part, too */
	const struct err *no_tracepoint; /* where @switches are not its samples: code 0: it was not looked for */
	size_t files, files_per_cpu;
};

/* An event, and the smallest ring that a run would settle for. */
struct trial {
	int fd;
	void *ring; /* MAP_FAILED: none */
};

static size_t trial_bytes(void)
{
	return 2 * (size_t)sysconf(_SC_PAGESIZE);
}

static void close_trial(struct trial *t)
{
	if (t->ring != MAP_FAILED)
		munmap(t->ring, trial_bytes());
	if (t->fd >= 0)
		close(t->fd);
}

static struct perf_event_attr trial_attr(const struct attempt *a)
{
	struct perf_event_attr attr = {
		.size = sizeof(struct perf_event_attr),
		.type = a->event->type,
		.config = a->event->config,
		.sample_type = PERF_SAMPLE_CALLCHAIN,
		.disabled = 1,
		.inherit = a->tid >= 0,
		.exclude_kernel = !a->kernel,
		.exclude_callchain_kernel = !a->kernel, /* else 7.2 refuses it */
		.context_switch = a->switches,
	};

	if (a->freq_hz) {
		attr.freq = 1;
		attr.sample_freq = a->freq_hz;
	} else {
		attr.sample_period = a->switches;
	}
	if (attr.type == PERF_TYPE_TRACEPOINT)
		attr.sample_type |= PERF_SAMPLE_RAW;
	return attr;
}

static void explain_event(const struct host *host, const struct attempt *a, int code, struct cause *out)
{
	cause_of_event(host, &(struct cause_event){ a->event, a->freq_hz, a->tid, a->kernel }, code, out);
}

/* Return: 0; -ENODEV: the CPU has just gone offline; -errno, described. */
static int open_trial(const struct host *host, const struct attempt *a, int cpu, struct trial *t,
		      struct rung_state *out)
{
	struct perf_event_attr attr = trial_attr(a);
	int rc;

	t->ring = MAP_FAILED;
	t->fd = perf_open(&attr, a->tid, cpu);
	if (t->fd == -ENODEV)
		return -ENODEV;
	if (t->fd < 0) {
		explain_event(host, a, t->fd, &out->cause);
		return cause_err(&out->why, t->fd, &out->cause, "cannot open perf event '%s' %son CPU %d",
				 a->event->name, a->tid < 0 ? "" : "of a thread ", cpu);
	}
	/* The tracepoint tells of them itself. */
	if (a->switches && !attr.context_switch && attr.type != PERF_TYPE_TRACEPOINT)
		return cause_of_no_switches(a->no_tracepoint, &out->why);
	t->ring = mmap(NULL, trial_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, t->fd, 0);
	if (t->ring != MAP_FAILED)
		return 0;
	rc = -errno;
	cause_of_ring(host, rc, &out->cause);
	return cause_err(&out->why, rc, &out->cause, "cannot map the ring of a perf event on CPU %d", cpu);
}

/* Of a run there is more to open than events. */
static int hold_files(const struct host *host, const struct attempt *a, struct trial *t, size_t nr,
		      struct rung_state *out)
{
	size_t i;
	int rc;

	for (i = 0; i < nr; i++)
		t[i] = (struct trial){ -1, MAP_FAILED };
	for (i = 0; i < nr; i++) {
		t[i].fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
		if (t[i].fd >= 0)
			continue;
		rc = -errno;
		explain_event(host, a, rc, &out->cause);
		return cause_err(&out->why, rc, &out->cause, "cannot open the files of a run");
	}
	return 0;
}

/* Return: 0, also where some of @cpus have just gone offline; -errno, described. */
static int open_on(const struct host *host, const struct attempt *a, const struct cpu_list *cpus, struct trial *trials,
		   size_t *nr, struct rung_state *out)
{
	size_t opened = 0;
	int rc = 0;

	for (*nr = 0; *nr < cpus->nr && (!rc || rc == -ENODEV); ++*nr) {
		rc = open_trial(host, a, cpus->cpu[*nr], &trials[*nr], out);
		opened += !rc;
	}
	if (rc != -ENODEV || opened)
		return rc == -ENODEV ? 0 : rc;
	return err_sys(&out->why, rc, "cannot open perf event '%s' on any CPU", a->event->name);
}

/* On all of @cpus at once, and keeping @files more: the rings share a limit, and so do descriptors. */
static int try_on(const struct host *host, const struct attempt *a, const struct cpu_list *cpus, size_t files,
		  struct rung_state *out)
{
	struct trial *trials = calloc(cpus->nr + files, sizeof(*trials));
	size_t nr = 0;
	int rc;

	if (!trials)
		return err_sys(&out->why, -ENOMEM, "cannot remember %zu CPUs", cpus->nr);
	rc = open_on(host, a, cpus, trials, &nr, out);
	if (!rc) {
		rc = hold_files(host, a, trials + nr, files, out);
		nr += files;
	}
	while (nr)
		close_trial(&trials[--nr]);
	free(trials);
	return rc;
}

static int try_events(const struct host *host, const struct attempt *a, struct rung_state *out)
{
	struct cpu_list cpus;
	int rc = host_online_cpus(host, &cpus, &out->why);

	if (rc)
		return rc;
	rc = try_on(host, a, &cpus, a->files + a->files_per_cpu * cpus.nr, out);
	cpu_list_release(&cpus);
	return rc;
}

/* Of the thread that empties the rings, and of what tells of tasks and mappings. */
#define READER_FILES         2
#define READER_FILES_PER_CPU 1

/* One sample a second is what every host permits that permits any. */
static struct attempt samples(pid_t tid, size_t files)
{
	return (struct attempt){
		.event = event_default(),
		.freq_hz = 1,
		.tid = tid,
		.kernel = true,
		.files = files + READER_FILES,
		.files_per_cpu = READER_FILES_PER_CPU,
	};
}

static struct attempt switches(pid_t tid, size_t files)
{
	return (struct attempt){
		.event = event_switches(),
		.switches = true,
		.tid = tid,
		.kernel = true,
		.files = files + READER_FILES,
		.files_per_cpu = READER_FILES_PER_CPU,
	};
}

/* As in a run, the tracepoint where it can be had, else the kernel's records of switches: then @out remarks why. */
static int try_ring_switches(const struct host *host, size_t files, struct rung_state *out)
{
	struct event_type tracepoint;
	struct attempt a = switches(-1, files);
	struct sched_switch known = { .id = 0 };
	struct err unknown = { 0 };
	int rc;

	a.no_tracepoint = &unknown;
	if (!sched_switch_find(host, &known, &unknown) && !pidns_here(NULL)) {
		tracepoint = event_sched_switch(known.id);
		a.event = &tracepoint;
		rc = try_events(host, &a, out);
		if (rc != -EACCES && rc != -EPERM && rc != -ENOENT)
			return rc;
		unknown = out->why;
		out->cause = (struct cause){ "" };
		a.event = event_switches();
	}
	rc = try_events(host, &a, out);
	if (!rc && unknown.code)
		err_set(&out->why, unknown.code, "by PERF_RECORD_SWITCH: %s", unknown.msg);
	return rc;
}

static int try_rings(const struct host *host, enum tool tool, size_t files, struct rung_state *out)
{
	const struct attempt a = samples(-1, files);

	return tool == TOOL_OFFCPUTIME ? try_ring_switches(host, files, out) : try_events(host, &a, out);
}

/* There is an event more for each CPU, of what the program has to say. One that sees switches takes no samples. */
static int try_programs_events(const struct host *host, enum tool tool, const struct counter_ops *counter, size_t files,
			       struct rung_state *out)
{
	struct attempt a = samples(-1, files + counter->files);
	struct sched_switch known = { .id = 0 };
	struct err unknown = { 0 };
	int rc;

	a.files_per_cpu++;
	if (tool == TOOL_OFFCPUTIME)
		a.freq_hz = 0;
	rc = try_events(host, &a, out);
	if (rc || !counter->shown)
		return rc;
	if (sched_switch_find(host, &known, &unknown))
		known.id = 0;
	return counter->shown(host, &known, &unknown, &out->why);
}

static int try_bpf(const struct host *host, enum tool tool, size_t files, struct rung_state *out)
{
	const struct counter_ops *counter = way_counting(ways_here)->counter;
	int rc;

	if (tool == TOOL_OFFCPUTIME && counter->switches)
		counter = counter->switches;
	rc = counter->probe(false, &out->why);
	if (!rc)
		return try_programs_events(host, tool, counter, files, out);
	if (kernel_bpf_taints())
		snprintf(out->cause.remedy, sizeof(out->cause.remedy), "--backend=bpf, which taints it");
	else if (rc == -EOPNOTSUPP && pidns_here(NULL))
		snprintf(out->cause.remedy, sizeof(out->cause.remedy), "run it in the pid namespace of the host");
	else
		cause_of_bpf(host, rc, &out->cause);
	return rc;
}

/* Who may not see the kernel may perhaps see user code; but threads leave their CPUs in the kernel. */
static int try_tasks(const struct host *host, enum tool tool, size_t files, struct rung_state *out)
{
	struct attempt a = tool == TOOL_OFFCPUTIME ? switches(0, files) : samples(0, files);
	const struct err not_looked_for = { 0 };
	struct rung_state user = { .usable = false };
	int rc;

	a.no_tracepoint = &not_looked_for;
	rc = try_events(host, &a, out);
	if (rc == -EACCES || rc == -EPERM) {
		a.kernel = false;
		rc = try_events(host, &a, &user);
		out->user_only = !rc;
	}
	if (rc && !a.kernel)
		*out = user;
	if (!out->user_only)
		return rc;
	user.why = out->why;
	return err_set(&out->why, user.why.code, "%s: %s", a.switches ? "stacks cannot be taken" : "user stacks only",
		       *out->cause.text ? out->cause.text : user.why.msg);
}

void ladder_try(const struct host *host, enum tool tool, enum rung rung, size_t files, struct rung_state *out)
{
	struct rlimit limit = { 0 }, raised;
	bool limited = !getrlimit(RLIMIT_NOFILE, &limit);
	int rc;

	*out = (struct rung_state){ .usable = false };
	raised = (struct rlimit){ limit.rlim_max, limit.rlim_max };
	if (limited)
		setrlimit(RLIMIT_NOFILE, &raised); /* as a run does */
	if (rung == RUNG_BPF)
		rc = try_bpf(host, tool, files, out);
	else if (rung == RUNG_PERFRING)
		rc = try_rings(host, tool, files, out);
	else
		rc = try_tasks(host, tool, files, out);
	out->usable = !rc || out->user_only;
	if (limited)
		setrlimit(RLIMIT_NOFILE, &limit);
}
