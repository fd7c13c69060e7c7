// SPDX-License-Identifier: Apache-2.0
#include "core/session/session.h"

#include "core/base/clock.h"
#include "core/base/err.h"
#include "core/base/saturate.h"
#include "core/events/cpus.h"
#include "core/events/event_rings.h"
#include "core/events/events.h"
#include "core/events/followed.h"
#include "core/events/side_band.h"
#include "core/events/waiting.h"
#include "core/events/watch.h"
#include "core/files/copied_code.h"
#include "core/files/open_files.h"
#include "core/files/perf_cache.h"
#include "core/host/ids.h"
#include "core/host/pidns.h"
#include "core/host/priority.h"
#include "core/host/signals.h"
#include "core/rows/callchain.h"
#include "core/rows/compare.h"
#include "core/session/counting.h"
#include "core/session/forget.h"
#include "core/session/input.h"
#include "core/session/open.h"
#include "core/session/ring_thread.h"
#include "core/session/unwinder.h"
#include "core/symbols/jitdumps.h"
#include "core/symbols/kernel_ranges.h"
#include "core/symbols/perf_maps.h"
#include "core/tasks/cgroup.h"
#include "core/tasks/cgroup_limits.h"
#include "core/tasks/descendants.h"
#include "core/tasks/pinned.h"
#include "core/tasks/proc.h"
#include "core/tasks/targets.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define DRAIN_NS    (200 * 1000 * 1000ULL) /* rings are read at least that often */
#define HURRY_NS    (20 * 1000 * 1000ULL)  /* and this often at first, and when look_closer() sees a need */
#define CALM_NS     (5 * HURRY_NS)         /* how long HURRY_NS then applies */
#define CPUS_NS     (200 * 1000 * 1000ULL) /* time between two looks at the list of online CPUs */
#define PROGRESS_NS (500 * 1000 * 1000ULL) /* time between two calls of session.progress */
#define AHEAD_NS    (4 * 1000 * 1000ULL)   /* time for work ahead between two reads of the rings */
#define REALTIME_US 100000                 /* in each second; with a smaller limit, real-time priority is not used */

/* After sampling, the reader keeps its priority for the report: for one part in so many of the sampled time, */
#define REPORT_SHARE  2
#define REPORT_MAX_NS (2 * NSEC_PER_SEC) /* and at most for so long */

static int empty_set(struct session *s, unsigned int i)
{
	const struct request *r = &s->request;

	return sink_empty(&s->sink, i,
			  &(struct sink_cfg){ .filter = &r->filter,
					      .compares = session_compares_samples(s),
					      .adds = session_compares_intervals(s) });
}

/* Process @pid makes code at run time: keep its file with the names of that code open. */
static void keep_names(const struct session *s, pid_t pid)
{
	uint64_t began = now_ns();

	if (!open_files_has_time(s->files.open_files))
		return;
	perf_maps_note(s->perf_maps, pid);
	open_files_spend(s->files.open_files, now_ns() - began);
}

/* Keep a mapped file open. With threads as targets (-L, -t), their processes are not known: keep all. */
static bool keep_file(void *ctx, pid_t pid, const struct mapping *m)
{
	const struct session *s = ctx;
	const struct filter *filter = &s->request.filter;
	pid_t pids[SEARCH_PIDS_MAX];

	if (filter->nr && !filter->by_tid && !ids_has(filter->ids, filter->nr, pid))
		return false;
	if (!mapped_file_has_path(m->file) && !mapped_file_is_vdso(m->file))
		keep_names(s, pid);
	return open_files_keep(s->files.open_files, pids, tasks_lineage(s->sink.tasks, pid, pids, ARRAY_SIZE(pids)), m);
}

static int find_copy(void *ctx, pid_t pid, const struct mapping *m, const struct mapping *near, struct mapping *pieces,
		     size_t max)
{
	const struct session *s = ctx;
	uint64_t began = now_ns();
	int rc;

	if (!open_files_has_time(s->files.open_files))
		return -ETIME;
	rc = copied_code_find(&s->files, pid, m, near, pieces, max);
	open_files_spend(s->files.open_files, now_ns() - began);
	return rc;
}

static int keep_files(struct session *s)
{
	if (s->request.filter.no_user)
		return 0;
	s->perf_maps = perf_maps_new(&s->files);
	s->jitdumps = jitdumps_new(&s->files, s->sink.tasks);
	if (!s->perf_maps || !s->jitdumps)
		return -ENOMEM;
	if (!session_is_live(s))
		return 0;
	/* Not for a recording: when it is read, a jitdump may have newer code at the address that was sampled. */
	s->env.jitdumps = s->jitdumps;
	s->files.open_files = open_files_new(s->request.host, mapped_files_root(&s->files), OPEN_FILES_MS);
	if (!s->files.open_files)
		return -ENOMEM;
	tasks_on_mapped(s->sink.tasks, keep_file, s);
	tasks_on_copied(s->sink.tasks, find_copy, s);
	return 0;
}

/* Each CPU needs up to six descriptors, each followed thread one or more on each CPU, and each file kept open one. */
static void raise_descriptors(void)
{
	struct rlimit rl;

	if (!getrlimit(RLIMIT_NOFILE, &rl) && rl.rlim_cur < rl.rlim_max) {
		rl.rlim_cur = rl.rlim_max;
		setrlimit(RLIMIT_NOFILE, &rl);
	}
}

struct session *session_new(const struct request *request, const struct way *ways)
{
	const struct host *host = request->host;
	struct session *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	raise_descriptors();
	s->events.request = &s->request;
	s->env = (struct source_env){ .request = &s->request,
				      .events = &s->events,
				      .sink = &s->sink,
				      .files = &s->files,
				      .recording = &s->recording };
	s->ways = ways;
	s->request = *request;
	s->signal_fd = s->mntns_fd = -1;
	unwinder_choose(s);
	s->request.asked = callchain_asked(host);
	s->request.in_pidns = pidns_here(NULL);
	s->sink.tasks = tasks_new(session_is_live(s) ? host : NULL); /* those of a recording are not here */
	s->sink.kernel_ranges = kernel_ranges_new();
	if (s->sink.tasks && request->keeps_cgroups)
		tasks_keep_cgroups(s->sink.tasks);
	s->files = (struct mapped_files_cfg){ .host = host, .debug_dir = request->debug_dir, .tasks = s->sink.tasks };
	if (!session_is_live(s)) {
		s->perf_cache = perf_cache_find(getenv("HOME"));
		s->files.recorded = &s->recording.origin;
		s->files.perf_cache = s->perf_cache;
		s->files.symfs = request->symfs;
	}
	if (!s->sink.tasks || !s->sink.kernel_ranges || empty_set(s, 0) || keep_files(s)) {
		session_free(s);
		return NULL;
	}
	return s;
}

void session_command(struct session *s, struct command *command)
{
	s->request.command = command;
}

void session_ahead(struct session *s, bool (*more)(void *ctx), void *ctx)
{
	s->ahead = more;
	s->ahead_ctx = ctx;
}

void session_progress(struct session *s, void (*fn)(void *ctx, const struct progress *p), void *ctx)
{
	s->progress = fn;
	s->progress_ctx = ctx;
}

static bool take_signal(struct session *s)
{
	if (!s->signalled)
		s->signalled = signals_take(s->signal_fd) || (s->ring_thread && ring_thread_signalled(s->ring_thread));
	return s->signalled;
}

static void release_signals(struct session *s)
{
	if (s->signal_fd < 0)
		return;
	/* A signal that came after the last look is a first one, too: take it, so that it does not end the process. */
	while (signals_take(s->signal_fd))
		s->signalled = true;
	close(s->signal_fd);
	s->signal_fd = -1;
	signals_release();
}

/* Records about a new process are applied only after two reads of the rings, so the next read should come soon. */
static void notice_process(void *ctx, pid_t pid, bool existed)
{
	struct session *s = ctx;

	if (existed)
		tasks_learn(s->sink.tasks, pid);
	s->events.hurry = true;
}

/* Do a little at a time: it takes CPU time and is visible in the profile. */
static void work_ahead(struct session *s)
{
	uint64_t began = now_ns();

	if (!s->ahead || s->request.filter.no_kernel || events_attr(&s->events)->exclude_kernel || began < s->ahead_at)
		return;
	while (s->ahead && now_ns() - began < AHEAD_NS)
		if (!s->ahead(s->ahead_ctx))
			s->ahead = NULL;
	s->ahead_at = began + DRAIN_NS;
}

static void report_progress(struct session *s)
{
	uint64_t now = now_ns(), duration = s->request.duration_ns;
	struct progress p = { .elapsed_ns = now - s->sink.began_ns, .left_ns = UINT64_MAX };

	if (!s->progress || now < s->progress_at)
		return;
	if (duration)
		p.left_ns = sub_or_0(duration, p.elapsed_ns);
	counting_so_far(s, &p);
	s->progress(s->progress_ctx, &p);
	s->progress_at = now + PROGRESS_NS;
}

static int timeout_ms(const struct session *s, uint64_t now, uint64_t until)
{
	uint64_t wait = sub_or_0(until, now), often = now < s->hurry_until ? HURRY_NS : DRAIN_NS;

	if (wait > often)
		wait = often;
	return (int)((wait + 999999) / 1000000);
}

/* Descriptors that belong to the run, not to its events. */
enum { SIGNALS, COMMAND, TARGETS, RING_THREAD, FIRST, NR_WAITS = FIRST + COUNTERS_MAX };

_Static_assert(TARGETS < WAITING_OTHERS, "all three have a place in struct waiting");

static int fd_of_command(const struct session *s)
{
	return s->request.command ? command_fd(s->request.command) : -1;
}

static int fd_of_targets(const struct session *s)
{
	return s->targets ? targets_fd(s->targets) : -1;
}

/*
 * Sleep until there is much to read or a process to notice, a signal comes, the command or all targets have ended, or
 * the time is up. Return: 1: a CPU seems to have gone; 0; -errno.
 */
static int wait_for_work(const struct session *s, uint64_t until, struct err *err)
{
	struct pollfd fds[NR_WAITS] = {
		[SIGNALS] = { s->signal_fd, POLLIN, 0 },
		[COMMAND] = { fd_of_command(s), POLLIN, 0 },
		[TARGETS] = { fd_of_targets(s), POLLIN, 0 },
		[RING_THREAD] = { s->ring_thread ? ring_thread_fd(s->ring_thread) : -1, POLLIN, 0 },
	};
	size_t i;

	for (i = 0; i < COUNTERS_MAX; i++)
		fds[FIRST + i] = (struct pollfd){ counting_first_fd(s, i), POLLIN, 0 };

	if (poll(fds, ARRAY_SIZE(fds), timeout_ms(s, now_ns(), until)) < 0 && errno != EINTR)
		return err_sys(err, -errno, "cannot wait for the perf events");
	return fds[RING_THREAD].revents ? ring_thread_asks(s->ring_thread, err) : 0;
}

/* The same if no thread empties the rings, but a process to notice does not end the sleep. */
static int wait_for_rings(const struct session *s, struct waiting *w, uint64_t until, struct err *err)
{
	uint64_t now = now_ns();
	bool gone;
	int rc = 0;

	/* Begin again after each CPUS_NS: the events may have changed. Each time, dead events set @gone once more. */
	if (now - w->began >= CPUS_NS) {
		waiting_end(w);
		rc = waiting_begin(w, &s->events, err);
		w->began = now;
	}
	if (rc)
		return rc;
	w->fds[SIGNALS].fd = s->signal_fd;
	w->fds[COMMAND].fd = fd_of_command(s);
	w->fds[TARGETS].fd = fd_of_targets(s);
	rc = waiting_poll(w, timeout_ms(s, now, until), &gone, err);
	return rc < 0 ? rc : gone;
}

/* True if the real-time limit of the cgroup is large enough: a thread that has used it up does not run at all. */
static bool has_realtime(const struct session *s)
{
	uint64_t us = realtime_limit_us(s->request.host);

	return !us || us >= REALTIME_US;
}

/*
 * Tell the ring thread when to stop the sampling. If an earlier ring thread has stopped it, stop at once. For off-CPU
 * time the session stops it, because BPF programs have to be stopped, too.
 */
static void stop_in_time(struct session *s)
{
	uint64_t duration = s->request.duration_ns, end = duration ? s->sink.began_ns + duration : UINT64_MAX;

	if (s->ring_thread && s->sink.began_ns && !s->request.off_cpu.wanted)
		ring_thread_stop_at(s->ring_thread, s->stopped_ns ? s->stopped_ns : end);
}

/* True if the ring thread has ended the sampling; then it was over at s->stopped_ns. */
static bool has_stopped(struct session *s)
{
	if (s->ring_thread && !s->stopped_ns)
		s->stopped_ns = ring_thread_stopped_ns(s->ring_thread);
	return s->stopped_ns;
}

/* Start the thread that empties the rings into memory, so that they never wait for this thread. */
static int keep_rings(struct session *s, struct err *err)
{
	if (s->ring_thread || !s->env.source->fetch)
		return 0;
	s->ring_thread = ring_thread_start(&s->events, has_realtime(s), s->signal_fd, s->env.source, s->source, err);
	/*
	 * If no thread can be created, which may happen at any time, this thread empties the rings. Not if there are
	 * intervals and the run has not begun: only another thread can empty the rings during the reports.
	 */
	if (!s->ring_thread && (err->code == -EAGAIN || descriptors_ran_out(err->code)) &&
	    (!s->request.interval_ns || s->sink.began_ns))
		return 0;
	stop_in_time(s);
	return s->ring_thread ? 0 : err->code;
}

static int release_rings(struct session *s, struct err *err)
{
	struct ring_thread *k = s->ring_thread;
	bool signalled = false;
	int rc;

	has_stopped(s);
	rc = k ? ring_thread_end(k, &signalled, err) : 0;
	s->ring_thread = NULL;
	s->signalled |= signalled;
	return rc;
}

/* The ring thread must not touch the events while they change. */
static int attach_event(void *ctx, size_t i, struct err *err)
{
	struct session *s = ctx;
	int rc = release_rings(s, err);

	/* A counter may now reopen the events that report first samples, and lose unread reports. */
	counting_read_first(s, notice_process, s);
	return rc ? rc : counting_attach(s, i, err);
}

static int detach_event(void *ctx, size_t i, struct err *err)
{
	struct session *s = ctx;
	int rc = release_rings(s, err);

	return rc ? rc : counting_detach(s, i, err);
}

/* Return: 1: the events have changed; 0; -errno. */
static int follow_cpus(struct session *s, struct err *err)
{
	const struct events_hooks hooks = { attach_event, detach_event, s };
	int rc = events_follow_cpus(&s->events, now_ns(), &hooks, err);

	if (rc > 0)
		rc = release_rings(s, err);
	return rc < 0 ? rc : keep_rings(s, err);
}

/* A target has lost its own events: only the events of the CPUs can record the mappings of it and its children. */
static int tell_of_all(struct session *s, struct err *err)
{
	int rc;

	if (!s->events.lost_sight || s->events.side_of_all)
		return 0;
	rc = release_rings(s, err);
	if (rc)
		return rc;
	side_band_tell_of_all(&s->events);
	return keep_rings(s, err);
}

/*
 * Read the rings more often for CALM_NS after a stack was proven: each sample of a stack that is not proven yet comes
 * with a copy, though the BPF program could count it. The same when a process had its first sample: before it exits,
 * the records about its mappings must be applied, so that its files are opened.
 */
static void look_closer(struct session *s, uint64_t now)
{
	if (s->events.hurry)
		s->hurry_until = now + CALM_NS;
	s->events.hurry = false;
}

/* The work between two reads of the rings. */
static int look_after(struct session *s, bool cpus_changed, struct err *err)
{
	uint64_t now = now_ns();
	int rc = 0;

	if (cpus_changed || now >= s->cpus_at) {
		rc = follow_cpus(s, err);
		s->cpus_at = events_in_doubt(&s->events);
		if (!s->cpus_at || s->cpus_at > now + CPUS_NS)
			s->cpus_at = now + CPUS_NS;
	}
	if (!rc)
		rc = tell_of_all(s, err);
	look_closer(s, now);
	counting_tend(s);
	work_ahead(s);
	report_progress(s);
	if (tasks_forget_due(s->sink.tasks))
		forget_tasks(s);
	return rc;
}

/* True if all tasks that the user named have ended. */
static bool all_ended(const struct session *s)
{
	return (s->request.command && command_ended(s->request.command)) || (s->targets && targets_ended(s->targets));
}

/*
 * Sample until the interval is over (return 0), a signal came, or the command or all targets ended (return 1), or
 * -errno. Looks at the rings at least once.
 */
static int sample_until(struct session *s, uint64_t until, struct err *err)
{
	struct waiting w = { 0 };
	bool over;
	int rc;

	/* Take the signal, so that it does not end the process when it is unblocked later. A second one does. */
	do {
		uint64_t wake = until < s->cpus_at ? until : s->cpus_at;
		int gone;

		if (s->signalled)
			wake = 0;
		gone = s->ring_thread ? wait_for_work(s, wake, err) : wait_for_rings(s, &w, wake, err);
		/* First of all: processes that are reported at their first sample may exit soon. */
		counting_read_first(s, notice_process, s);
		rc = gone < 0 ? gone : counting_drain(s, err);
		if (!rc)
			rc = look_after(s, gone, err);
		over = take_signal(s) || all_ended(s);
	} while (rc >= 0 && !over && now_ns() < until);
	waiting_end(&w);
	return rc < 0 ? rc : over;
}

/* Set the times and sums of the interval that ends now, or ended with the sampling. */
static void close_interval(struct session *s)
{
	s->sink.stopped_ns = has_stopped(s) ? s->stopped_ns : now_ns();
	/* Sampling stopped before the end of the previous interval was handled. */
	if (s->sink.stopped_ns < s->sink.started_ns)
		s->sink.stopped_ns = s->sink.started_ns;
	kernel_ranges_interval(s->sink.kernel_ranges, s->sink.started_ns, s->sink.stopped_ns);
	watch_end(s->events.watch, &s->shortfall);
	events_account(&s->events, s->sink.stopped_ns);
}

/*
 * The report lasts until the next interval begins, or the run is over. A second signal must end it even if its output
 * is not read.
 */
static void begin_report(struct session *s)
{
	if (s->ring_thread)
		ring_thread_take_signals(s->ring_thread, true);
}

static void end_report(struct session *s)
{
	if (s->ring_thread)
		ring_thread_take_signals(s->ring_thread, false);
}

/*
 * First start the thread that empties the rings. BPF programs count samples from events_enable() on, but with both
 * backends, and intervals off the CPU, from counting_start() on.
 */
static int begin(struct session *s, struct err *err)
{
	int rc = keep_rings(s, err);

	if (s->targets)
		targets_begin(s->targets);
	if (!rc && !events_attr(&s->events)->enable_on_exec)
		rc = events_enable(&s->events, err);

	s->sink.began_ns = now_ns();
	watch_begin(s->events.watch);
	if (!rc)
		rc = counting_start(s, err);
	/* If the reader of the rings counts, it counts only from now on: counting_start() has emptied the rings. */
	if (events_reader_counts(&s->events))
		s->sink.began_ns = now_ns();
	s->sink.started_ns = s->sink.began_ns;
	stop_in_time(s);
	s->cpus_at = s->ahead_at = s->sink.began_ns + DRAIN_NS;
	s->progress_at = s->sink.began_ns + PROGRESS_NS;
	/* Only samples show processes that existed before: their mappings have to be read soon, while they live. */
	s->hurry_until = s->sink.began_ns + CALM_NS;
	events_begin(&s->events, s->sink.began_ns);
	/*
	 * Perhaps no record will show that the command executes its program (comm_exec is new in 3.16): note it here.
	 * The command waits until it is released.
	 */
	if (!rc && s->request.filter.tree && !s->events.attrs[EVENT_SIDE_BAND].comm_exec &&
	    descendants_exec(s->request.filter.tree, command_pid(s->request.command)))
		rc = err_sys(err, -ENOMEM, "cannot begin");
	if (!rc && s->request.command)
		rc = command_release(s->request.command, s->signal_fd, err);
	return rc;
}

/* End an interval. Sampling continues in the other set. */
static int end_one(struct session *s, struct err *err)
{
	int rc;

	if (empty_set(s, !s->sink.set))
		return err_sys(err, -ENOMEM, "cannot begin another interval");
	s->sink.ended = s->sink.set;
	s->sink.set = !s->sink.set;
	close_interval(s);
	rc = counting_end(s, err);
	if (!rc)
		begin_report(s);
	if (!rc)
		rc = counting_take(s, err);
	return rc ? rc : 1;
}

/*
 * Stop counting on all CPUs, while all events still record. With both backends, record a moment longer: then the
 * records of a thread that was sampled while it renamed itself come, too.
 */
static int stop_counting(struct session *s, struct err *err)
{
	int rc = counting_stop(s, err);

	if (s->request.both)
		compare_wait();
	return rc;
}

/* Note the CPU time of the targets or the command. A command began with none. */
static void account_cpu_time(struct session *s)
{
	struct command *c = s->request.command;

	if (s->targets) {
		s->ran_known = !targets_ran(s->targets, &s->ran_ns);
	} else if (c && command_ended(c)) {
		s->ran_ns = command_cpu_ns(c, false);
		s->ran_known = true;
	} else if (c) {
		s->ran_known = !proc_cpu_ns(s->request.host, command_pid(c), true, &s->ran_ns);
		s->ran_first = true;
	}
}

static int end_run(struct session *s, int rc, struct err *err)
{
	struct err later;
	int stopped, disabled;

	s->sink.ended = s->sink.set;
	close_interval(s);
	s->sink.over_ns = s->sink.stopped_ns;
	account_cpu_time(s);
	/* If the command went on after the end of the sampling, its CPU time says nothing about the samples. */
	if (s->events.followed && s->request.command && !s->stopped_ns && command_ended(s->request.command)) {
		s->command_ns = command_cpu_ns(s->request.command, events_attr(&s->events)->exclude_kernel);
		s->followed_known = !events_followed_ns(&s->events, &s->followed_ns);
	}
	stopped = stop_counting(s, rc ? &later : err);
	disabled = events_disable(&s->events, rc || stopped ? &later : err);
	if (!rc)
		rc = stopped ? stopped : disabled;
	if (!rc)
		rc = counting_end(s, err);
	stopped = release_rings(s, rc ? &later : err);
	if (!rc)
		rc = stopped ? stopped : counting_take(s, err);
	release_signals(s);
	return rc;
}

/* The next end of an interval: a report may have taken longer than one interval. */
static uint64_t next_end(const struct session *s, uint64_t now)
{
	uint64_t interval = s->request.interval_ns;

	return interval ? s->sink.began_ns + ((now - s->sink.began_ns) / interval + 1) * interval : UINT64_MAX;
}

static int sample_interval(struct session *s, struct err *err)
{
	uint64_t end = UINT64_MAX, until;
	int rc;

	if (!s->sink.began_ns) {
		rc = begin(s, err);
	} else {
		end_report(s);
		rc = 0;
		s->sink.started_ns = s->sink.stopped_ns;
	}
	if (s->request.duration_ns)
		end = s->sink.began_ns + s->request.duration_ns;
	until = next_end(s, s->sink.stopped_ns > s->sink.began_ns ? s->sink.stopped_ns : s->sink.began_ns);
	if (until > end)
		until = end;
	if (!rc)
		rc = sample_until(s, until, err);
	/*
	 * Look once more, so that a CPU that went offline since the last look counts as offline in this interval. No
	 * later look can: the interval is closed while the report is made.
	 */
	if (rc >= 0 && follow_cpus(s, err))
		rc = err->code;
	/* The report or the reader may have taken longer than the rest of the run. */
	if (!rc && until < end && now_ns() < end && !has_stopped(s)) {
		rc = end_one(s, err);
		if (rc >= 0)
			return rc;
	}
	return end_run(s, rc < 0 ? rc : 0, err);
}

static void keep_priority(uint64_t sampled_ns)
{
	uint64_t ns = sampled_ns / REPORT_SHARE, due = signals_due();

	if (ns > REPORT_MAX_NS)
		ns = REPORT_MAX_NS;
	/* After a signal, keep it as long as the work on the report may take. */
	priority_keep(due == UINT64_MAX ? ns : sub_or_0(due, now_ns()));
}

/*
 * Raise the priority only for the interval. A thread that empties the rings during the report has started by then, and
 * keeps its priority.
 */
int session_run(struct session *s, struct err *err)
{
	int rc;

	if (!session_is_live(s))
		return input_run(s, err);
	priority_raise();
	rc = sample_interval(s, err);
	keep_priority(s->sink.stopped_ns - s->sink.started_ns);
	return rc;
}

bool session_targets_ended(const struct session *s)
{
	return s->targets && targets_ended(s->targets);
}

size_t session_files_hung(const struct session *s)
{
	return s->files.open_files ? open_files_hung(s->files.open_files) : 0;
}

size_t session_files_unserved(const struct session *s)
{
	return s->files.open_files ? open_files_unserved(s->files.open_files) : 0;
}

void session_close(struct session *s)
{
	struct err ignored;

	release_rings(s, &ignored);
	events_hold_tracepoint(&s->events);
	counting_close(s);
	events_close(&s->events);
}

void session_free(struct session *s)
{
	if (!s)
		return;
	session_close(s);
	namer_close(&s->namer);
	release_signals(s);
	followed_free(s->events.followed);
	jitdumps_free(s->jitdumps);
	sink_release(&s->sink);
	perf_maps_free(s->perf_maps);
	open_files_free(s->files.open_files);
	free(s->perf_cache);
	recording_release(&s->recording);
	watch_free(s->events.watch);
	targets_free(s->targets);
	descendants_free(s->request.filter.tree);
	cgroup_close(s->request.filter.cgroup);
	pinned_close(s->request.filter.cgroup_ids);
	pinned_close(s->request.filter.mntns_ids);
	if (s->mntns_fd >= 0)
		close(s->mntns_fd);
	events_let_go(&s->events);
	free(s);
}

const char *session_way_name(const struct session *s)
{
	return s->request.both ? WAY_BOTH : s->way->name;
}
