// SPDX-License-Identifier: Apache-2.0
#include "core/ladder.h"

#include "compat/kernel.h"
#include "compat/perf_open.h"
#include "core/backend.h"
#include "core/events.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static const struct {
	const char *name, *does;
} rungs[RUNG_NR] = {
	[RUNG_BPF] = { "bpf", "counts the stacks of all CPUs in the kernel" },
	[RUNG_PERFRING] = { "perfring", "reads the perf rings of all CPUs and counts in user space" },
	[RUNG_TASKS] = { "perfring-tasks",
			 "reads the perf rings of threads of this user (of a command, -p, -L, or all)" },
};

const char *rung_name(enum rung rung)
{
	return rungs[rung].name;
}

const char *rung_does(enum rung rung)
{
	return rungs[rung].does;
}

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

/* @tid: -1: the whole CPU; 0: the calling thread there, and those that it makes. */
static struct perf_event_attr trial_attr(pid_t tid, bool kernel)
{
	return (struct perf_event_attr){
		.size = sizeof(struct perf_event_attr),
		.type = event_default()->type,
		.config = event_default()->config,
		.freq = 1,
		.sample_freq = 1,
		.sample_type = PERF_SAMPLE_CALLCHAIN,
		.disabled = 1,
		.inherit = tid >= 0,
		.exclude_kernel = !kernel,
		.exclude_callchain_kernel = !kernel, /* else 7.2 refuses it */
	};
}

/* Return: 0; -ENODEV: the CPU has just gone offline; -errno, described. */
static int open_trial(const struct host *host, const struct cause_event *event, int cpu, struct trial *t,
		      struct rung_state *out)
{
	struct perf_event_attr attr = trial_attr(event->tid, event->kernel);
	int rc;

	t->ring = MAP_FAILED;
	t->fd = perf_open(&attr, event->tid, cpu);
	if (t->fd == -ENODEV)
		return -ENODEV;
	if (t->fd < 0) {
		cause_of_event(host, event, t->fd, &out->cause);
		return cause_err(&out->why, t->fd, &out->cause, "cannot open perf event '%s' %son CPU %d",
				 event->type->name, event->tid < 0 ? "" : "of a thread ", cpu);
	}
	t->ring = mmap(NULL, trial_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, t->fd, 0);
	if (t->ring != MAP_FAILED)
		return 0;
	rc = -errno;
	cause_of_ring(host, rc, &out->cause);
	return cause_err(&out->why, rc, &out->cause, "cannot map the ring of a perf event on CPU %d", cpu);
}

/* Of a run there is more to open than events. */
static int hold_files(const struct host *host, const struct cause_event *event, struct trial *t, size_t nr,
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
		cause_of_event(host, event, rc, &out->cause);
		return cause_err(&out->why, rc, &out->cause, "cannot open the files of a run");
	}
	return 0;
}

/* Return: 0, also where some of @cpus have just gone offline; -errno, described. */
static int open_on(const struct host *host, const struct cause_event *event, const struct cpu_list *cpus,
		   struct trial *trials, size_t *nr, struct rung_state *out)
{
	size_t opened = 0;
	int rc = 0;

	for (*nr = 0; *nr < cpus->nr && (!rc || rc == -ENODEV); ++*nr) {
		rc = open_trial(host, event, cpus->cpu[*nr], &trials[*nr], out);
		opened += !rc;
	}
	if (rc != -ENODEV || opened)
		return rc == -ENODEV ? 0 : rc;
	return err_sys(&out->why, rc, "cannot open perf event '%s' on any CPU", event->type->name);
}

/* On all of @cpus at once, and keeping @files more: the rings share a limit, and so do descriptors. */
static int try_on(const struct host *host, const struct cause_event *event, const struct cpu_list *cpus, size_t files,
		  struct rung_state *out)
{
	struct trial *trials = calloc(cpus->nr + files, sizeof(*trials));
	size_t nr = 0;
	int rc;

	if (!trials)
		return err_sys(&out->why, -ENOMEM, "cannot remember %zu CPUs", cpus->nr);
	rc = open_on(host, event, cpus, trials, &nr, out);
	if (!rc) {
		rc = hold_files(host, event, trials + nr, files, out);
		nr += files;
	}
	while (nr)
		close_trial(&trials[--nr]);
	free(trials);
	return rc;
}

struct attempt {
	pid_t tid;
	bool kernel;
	size_t files, files_per_cpu;
};

static int try_events(const struct host *host, const struct attempt *a, struct rung_state *out)
{
	const struct cause_event event = { event_default(), 1, a->tid, a->kernel };
	struct cpu_list cpus;
	int rc = host_online_cpus(host, &cpus, &out->why);

	if (rc)
		return rc;
	rc = try_on(host, &event, &cpus, a->files + a->files_per_cpu * cpus.nr, out);
	cpu_list_release(&cpus);
	return rc;
}

static int try_rings(const struct host *host, size_t files, struct rung_state *out)
{
	return try_events(host, &(struct attempt){ -1, true, files, 0 }, out);
}

/* There is an event more for each CPU, of what the program has to say. */
static int try_bpf(const struct host *host, size_t files, struct rung_state *out)
{
	const struct backend_ops *backend = backend_in_kernel();
	int rc = backend->probe(false, &out->why);

	if (!rc)
		return try_events(host, &(struct attempt){ -1, true, files + backend->files, 1 }, out);
	if (kernel_bpf_taints())
		snprintf(out->cause.remedy, sizeof(out->cause.remedy), "--backend=bpf, which taints it");
	else if (rc == -EOPNOTSUPP && kernel_pid_namespace(NULL))
		snprintf(out->cause.remedy, sizeof(out->cause.remedy), "run it in the pid namespace of the host");
	else
		cause_of_bpf(host, rc, &out->cause);
	return rc;
}

/* Who may not see the kernel may perhaps see user code. */
static int try_tasks(const struct host *host, size_t files, struct rung_state *out)
{
	struct rung_state user = { .usable = false };
	int rc = try_events(host, &(struct attempt){ 0, true, files, 0 }, out);

	if (rc != -EACCES && rc != -EPERM)
		return rc;
	rc = try_events(host, &(struct attempt){ 0, false, files, 0 }, &user);
	if (rc) {
		*out = user;
		return rc;
	}
	out->user_only = true;
	user.why = out->why;
	return err_set(&out->why, user.why.code, "user stacks only: %s",
		       *out->cause.text ? out->cause.text : user.why.msg);
}

void ladder_try(const struct host *host, enum rung rung, size_t files, struct rung_state *out)
{
	struct rlimit limit = { 0 }, raised;
	bool limited = !getrlimit(RLIMIT_NOFILE, &limit);
	int rc;

	*out = (struct rung_state){ .usable = false };
	raised = (struct rlimit){ limit.rlim_max, limit.rlim_max };
	if (limited)
		setrlimit(RLIMIT_NOFILE, &raised); /* as a run does */
	if (rung == RUNG_BPF)
		rc = try_bpf(host, files, out);
	else if (rung == RUNG_PERFRING)
		rc = try_rings(host, files, out);
	else
		rc = try_tasks(host, files, out);
	out->usable = !rc || out->user_only;
	if (limited)
		setrlimit(RLIMIT_NOFILE, &limit);
}
