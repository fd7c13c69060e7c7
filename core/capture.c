// SPDX-License-Identifier: Apache-2.0
#include "core/capture.h"

#include "compat/kernel.h"
#include "core/callchain.h"
#include "core/capture_events.h"
#include "core/capture_input.h"
#include "core/capture_open.h"
#include "core/cgroup.h"
#include "core/clock.h"
#include "core/compare.h"
#include "core/grow.h"
#include "core/ids.h"
#include "core/keeper.h"
#include "core/open_files.h"
#include "core/pinned.h"
#include "core/priority.h"
#include "core/saturate.h"
#include "core/side_band.h"
#include "core/signals.h"
#include "core/symbols/perf_maps.h"
#include "core/waiting.h"
#include "core/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define DRAIN_NS    (200 * 1000 * 1000ULL) /* rings are read at least that often */
#define CPUS_NS     (200 * 1000 * 1000ULL) /* between looks at which CPUs are online */
#define LEARN_NS    DRAIN_NS               /* between looks at whom the kernel holds counts of */
#define LEARN_SHARE 200                    /* of which at most one part in so many of our time may go */
#define WALK_NS     (20 * 1000 * 1000ULL)  /* and at most so much at once: the rings wait */
#define AHEAD_NS    (4 * 1000 * 1000ULL)   /* of the time between two drains is spent on work ahead */

/* A full table of the default size takes 30 ms. Rare: once in thousands of exits. */
#define FORGET_WALK_NS (500 * 1000 * 1000ULL)

/* After sampling the priority of the reader is kept for the report. */
#define REPORT_SHARE  8            /* one part in so many of the time that was sampled, */
#define REPORT_MAX_NS NSEC_PER_SEC /* at most */

static void release_set(struct capture_set *s)
{
	stacks_free(s->samples);
	stacks_free(s->intervals);
	compare_free(s->compare);
	stacks_free(s->ring_intervals);
}

/* Make set @i an empty one. */
static int empty_set(struct capture *cap, unsigned int i)
{
	bool compared = cap->both && cap->options->on_cpu, both_add = cap->both && cap->options->off_cpu;
	struct capture_set *s = &cap->sets[i];

	release_set(s);
	*s = (struct capture_set){ .samples = stacks_new(), .intervals = stacks_new() };
	if (compared)
		s->compare = compare_new(&cap->filter);
	if (both_add)
		s->ring_intervals = stacks_new();
	if (s->compare && cap->gap)
		compare_gap(s->compare, true);
	return s->samples && s->intervals && (s->compare || !compared) && (s->ring_intervals || !both_add) ? 0
													   : -ENOMEM;
}

/* Of a process that makes code the names are kept, too. */
static void keep_names(const struct capture *cap, pid_t pid)
{
	uint64_t began = now_ns();

	if (!open_files_has_time(cap->files.open_files))
		return;
	perf_maps_note(cap->perf_maps, pid);
	open_files_spend(cap->files.open_files, now_ns() - began);
}

/* Where threads are asked for, nothing tells their processes from others. */
static bool keep_file(void *ctx, pid_t pid, const struct mapping *m)
{
	const struct capture *cap = ctx;
	const struct filter *filter = &cap->filter;
	pid_t pids[SEARCH_PIDS_MAX];

	if (filter->nr && !filter->by_tid && !ids_has(filter->ids, filter->nr, pid))
		return false;
	if (!mapped_file_has_path(m->file) && strcmp(m->file->path, "[vdso]"))
		keep_names(cap, pid);
	return open_files_keep(cap->files.open_files, pids, tasks_lineage(cap->tasks, pid, pids, ARRAY_SIZE(pids)), m);
}

static int keep_files(struct capture *cap)
{
	if (cap->options->input || cap->options->kernel_only)
		return 0;
	cap->files.open_files = open_files_new(cap->host, mapped_files_root(&cap->files), OPEN_FILES_MS);
	cap->perf_maps = perf_maps_new(&cap->files);
	if (!cap->files.open_files || !cap->perf_maps)
		return -ENOMEM;
	tasks_on_mapped(cap->tasks, keep_file, cap);
	return 0;
}

/* Each CPU has two, and one for each thread that is followed, and each file that is kept open one. */
static void raise_descriptors(void)
{
	struct rlimit rl;

	if (!getrlimit(RLIMIT_NOFILE, &rl) && rl.rlim_cur < rl.rlim_max) {
		rl.rlim_cur = rl.rlim_max;
		setrlimit(RLIMIT_NOFILE, &rl);
	}
}

struct capture *capture_new(const struct options *options, const struct host *host)
{
	struct capture *cap = calloc(1, sizeof(*cap));

	if (!cap)
		return NULL;
	raise_descriptors();
	cap->options = options;
	cap->host = host;
	cap->signal_fd = cap->mntns_fd = cap->held_fd = -1;
	cap->filter = (struct filter){ options->pids, options->nr_pids, options->by_tid, options->include_idle,
				       options->comm };
	cap->both = options->backend && !strcmp(options->backend, BACKEND_BOTH);
	cap->unwinds = !options->input && options->unwind == UNWIND_BY_RULES && !options->kernel_only;
	cap->asked = callchain_asked(host);
	cap->in_pidns = kernel_pid_namespace(NULL);
	cap->tasks = tasks_new(options->input ? NULL : host); /* those of a recording are not here */
	cap->files = (struct mapped_files_cfg){ .host = host, .debug_dir = options->debug_dir, .tasks = cap->tasks };
	if (options->input)
		cap->files.recorded = &cap->recording.origin;
	if (!cap->tasks || empty_set(cap, 0) || keep_files(cap)) {
		capture_free(cap);
		return NULL;
	}
	return cap;
}

void capture_command(struct capture *cap, struct command *command)
{
	cap->command = command;
}

void capture_ahead(struct capture *cap, bool (*more)(void *ctx), void *ctx)
{
	cap->ahead = more;
	cap->ahead_ctx = ctx;
}

static bool take_signal(struct capture *cap)
{
	if (!cap->signalled)
		cap->signalled = signals_take(cap->signal_fd) || (cap->keeper && keeper_signalled(cap->keeper));
	return cap->signalled;
}

static void release_signals(struct capture *cap)
{
	if (cap->signal_fd < 0)
		return;
	/* One that came when the end had come anyway was a first one, too. */
	while (signals_take(cap->signal_fd))
		cap->signalled = true;
	close(cap->signal_fd);
	cap->signal_fd = -1;
	signals_release();
}

static int drain(struct capture *cap, struct err *err)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < cap->nr_backends && !rc; i++)
		if (cap->backends[i].ops->drain)
			rc = cap->backends[i].ops->drain(cap->backends[i].state, err);
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

static void note_rows(struct pid_set *set, const struct stacks *stacks)
{
	struct stack_row row;
	size_t i;

	for (i = 0; stacks && i < stacks_nr_rows(stacks); i++) {
		stacks_row(stacks, i, &row);
		note_pid(set, row.pid);
	}
}

static bool has_pid(void *ctx, pid_t pid)
{
	struct pid_set *s = ctx;

	return s->incomplete || ids_has(s->v, s->nr, pid);
}

void capture_forget(struct capture *cap)
{
	struct pid_set set = { .until_ns = now_ns() + FORGET_WALK_NS };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cap->sets); i++) {
		note_rows(&set, cap->sets[i].samples);
		note_rows(&set, cap->sets[i].intervals);
		note_rows(&set, cap->sets[i].ring_intervals);
		if (cap->sets[i].compare)
			note_rows(&set, compare_rows(cap->sets[i].compare));
	}
	for (i = 0; i < cap->nr_backends; i++)
		if (cap->backends[i].ops->pids &&
		    cap->backends[i].ops->pids(cap->backends[i].state, false, note_pid, &set))
			set.incomplete = true;
	ids_sort(set.v, set.nr);
	tasks_forget(cap->tasks, has_pid, &set);
	free(set.v);
}

/*
 * Processes whose counts are held in the kernel are not seen sample by sample: look from time to time who they are,
 * so that their mappings are read before they exit.
 */
static void learn_pids(struct capture *cap)
{
	uint64_t began = now_ns(), cost;
	struct learning learning = { cap->tasks, began + WALK_NS };
	size_t i;

	if (!cap->backends[0].ops->in_kernel || began < cap->learn_at)
		return;
	cost = own_cpu_ns();
	for (i = 0; i < cap->nr_backends; i++)
		if (cap->backends[i].ops->pids)
			cap->backends[i].ops->pids(cap->backends[i].state, true, learn_pid, &learning);
	/* Not what others took: on a busy host the next look would come after those who are there now have gone. */
	cost = own_cpu_ns() - cost;
	cap->learn_at = began + (cost * LEARN_SHARE > LEARN_NS ? cost * LEARN_SHARE : LEARN_NS);
}

/* A little at a time: it is CPU time, and in the profile. */
static void work_ahead(struct capture *cap)
{
	uint64_t began = now_ns();

	if (!cap->ahead || cap->options->user_only || cap->attr.exclude_kernel || began < cap->ahead_at)
		return;
	while (cap->ahead && now_ns() - began < AHEAD_NS)
		if (!cap->ahead(cap->ahead_ctx))
			cap->ahead = NULL;
	cap->ahead_at = began + DRAIN_NS;
}

static int timeout_ms(uint64_t now, uint64_t until)
{
	uint64_t wait = sub_or_0(until, now);

	if (wait > DRAIN_NS)
		wait = DRAIN_NS;
	return (int)((wait + 999999) / 1000000);
}

/* Those that there are, of a run and not of its events. */
enum { SIGNALS, COMMAND, KEEPER, NR_WAITS };

_Static_assert(COMMAND < WAITING_OTHERS, "both have a place in struct waiting");

/* Sleep until there is much to be read, a signal comes, or the time is up. Return: 1: a CPU seems to have gone. */
static int wait_for_work(const struct capture *cap, uint64_t until, struct err *err)
{
	struct pollfd fds[NR_WAITS] = {
		[SIGNALS] = { cap->signal_fd, POLLIN, 0 },
		[COMMAND] = { cap->command ? command_fd(cap->command) : -1, POLLIN, 0 },
		[KEEPER] = { cap->keeper ? keeper_fd(cap->keeper) : -1, POLLIN, 0 },
	};

	if (poll(fds, ARRAY_SIZE(fds), timeout_ms(now_ns(), until)) < 0 && errno != EINTR)
		return err_sys(err, -errno, "cannot wait for the perf events");
	return fds[KEEPER].revents ? keeper_asks(cap->keeper, err) : 0;
}

/* The same where no thread empties the rings. */
static int wait_for_rings(const struct capture *cap, struct waiting *w, uint64_t until, struct err *err)
{
	uint64_t now = now_ns();
	bool gone;
	int rc = 0;

	/* The events are others from time to time. What is dead is passed over once in that time. */
	if (now - w->began >= CPUS_NS) {
		waiting_end(w);
		rc = waiting_begin(w, cap, err);
		w->began = now;
	}
	if (rc)
		return rc;
	w->fds[SIGNALS].fd = cap->signal_fd;
	w->fds[COMMAND].fd = cap->command ? command_fd(cap->command) : -1;
	rc = waiting_poll(w, timeout_ms(now, until), &gone, err);
	return rc < 0 ? rc : gone;
}

/* A thread of its own empties the rings into memory: nothing that we do makes them wait. */
static int keep_rings(struct capture *cap, struct err *err)
{
	const struct capture_backend *reader = &cap->backends[cap->nr_backends - 1];

	if (cap->keeper || !reader->ops->fetch)
		return 0;
	cap->keeper = keeper_start(cap, reader->ops, reader->state, err);
	/* Where no thread may be made, which may come to be so at any time, we do it ourselves. */
	if (!cap->keeper && err->code == -EAGAIN && (!cap->options->interval_ns || cap->began_ns))
		return 0;
	return cap->keeper ? 0 : err->code;
}

static int release_rings(struct capture *cap, struct err *err)
{
	struct keeper *k = cap->keeper;
	bool signalled = false;
	int rc = k ? keeper_end(k, &signalled, err) : 0;

	cap->keeper = NULL;
	cap->signalled |= signalled;
	return rc;
}

/* While events come or go it must not touch them. */
static int attach_event(struct capture *cap, size_t i, struct err *err)
{
	int rc = release_rings(cap, err);

	return rc ? rc : backends_attach(cap, i, err);
}

static int detach_event(struct capture *cap, size_t i, struct err *err)
{
	int rc = release_rings(cap, err);

	return rc ? rc : backends_detach(cap, i, err);
}

/* Return: 1: the events are others now. */
static int follow_cpus(struct capture *cap, struct err *err)
{
	int rc = events_follow_cpus(cap, now_ns(), attach_event, detach_event, err);

	if (rc > 0)
		rc = release_rings(cap, err);
	return rc < 0 ? rc : keep_rings(cap, err);
}

/* A target's own events have been taken away: nobody else can tell what it, and its children, map. */
static int tell_of_all(struct capture *cap, struct err *err)
{
	int rc;

	if (!cap->lost_sight || cap->side_of_all)
		return 0;
	rc = release_rings(cap, err);
	if (rc)
		return rc;
	side_band_tell_of_all(cap);
	return keep_rings(cap, err);
}

/* Between drains. */
static int look_after(struct capture *cap, bool cpus_changed, struct err *err)
{
	uint64_t now = now_ns();
	int rc = 0;

	if (cpus_changed || now >= cap->cpus_at) {
		rc = follow_cpus(cap, err);
		cap->cpus_at = events_in_doubt(cap);
		if (!cap->cpus_at || cap->cpus_at > now + CPUS_NS)
			cap->cpus_at = now + CPUS_NS;
	}
	if (!rc)
		rc = tell_of_all(cap, err);
	learn_pids(cap);
	work_ahead(cap);
	if (tasks_forget_due(cap->tasks))
		capture_forget(cap);
	return rc;
}

/* Until the interval is over (return 0), a signal came or the command ended (return 1), or -errno. At least once
 * around.
 */
static int sample_until(struct capture *cap, uint64_t until, struct err *err)
{
	struct waiting w = { 0 };
	bool over;
	int rc;

	/* The signal is taken, so that it does not end the process when it is no longer blocked; a second one does. */
	do {
		uint64_t wake = until < cap->cpus_at ? until : cap->cpus_at;
		int gone;

		if (cap->signalled)
			wake = 0;
		gone = cap->keeper ? wait_for_work(cap, wake, err) : wait_for_rings(cap, &w, wake, err);
		priority_check_now();
		rc = gone < 0 ? gone : drain(cap, err);
		if (!rc)
			rc = look_after(cap, gone, err);
		over = take_signal(cap) || (cap->command && command_ended(cap->command));
	} while (rc >= 0 && !over && now_ns() < until);
	waiting_end(&w);
	return rc < 0 ? rc : over;
}

/* Take everything of the interval that ended, from the kernel first: then it is known what the rings must hold. */
static int end_interval(struct capture *cap, struct err *err)
{
	struct books b = { 0 };
	size_t i;
	int rc = 0;

	cap->samples_passed = cap->intervals_passed = 0;
	for (i = 0; i < cap->nr_backends && !rc; i++) {
		const struct capture_backend *each = &cap->backends[i];

		rc = each->ops->end(each->state, err);
		if (!rc && each->ops->in_kernel) {
			each->ops->stats(each->state, &b);
			cap->samples_passed = cap->both ? b.taken : b.passed;
			cap->intervals_passed = b.intervals_passed;
		}
	}
	return rc;
}

/* What belongs to the interval that ends now. */
static void account(struct capture *cap)
{
	cap->stopped_ns = now_ns();
	watch_end(cap->watch, &cap->shortfall);
	events_account(cap, cap->stopped_ns);
}

static int take_interval(struct capture *cap, struct err *err)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < cap->nr_backends && !rc; i++)
		if (cap->backends[i].ops->take)
			rc = cap->backends[i].ops->take(cap->backends[i].state, err);
	return rc;
}

/* It lasts until the next interval begins, or the run is over: a second signal must end even a report nobody reads. */
static void begin_report(struct capture *cap)
{
	if (cap->keeper)
		keeper_minds_signals(cap->keeper, true);
}

static void end_report(struct capture *cap)
{
	if (cap->keeper)
		keeper_minds_signals(cap->keeper, false);
}

/* The reader first: a program in the kernel that waits for it counts from here on. */
static int begin(struct capture *cap, struct err *err)
{
	size_t i = cap->nr_backends;
	int rc = keep_rings(cap, err);

	if (!rc && !cap->attr.enable_on_exec)
		rc = events_enable(cap, err);

	cap->began_ns = now_ns();
	watch_begin(cap->watch);
	while (!rc && i-- > 0)
		if (cap->backends[i].ops->start)
			rc = cap->backends[i].ops->start(cap->backends[i].state, err);
	/* A reader that has to prepare itself counts from here on. */
	if (cap->both || !cap->backends[0].ops->in_kernel)
		cap->began_ns = now_ns();
	cap->started_ns = cap->began_ns;
	cap->cpus_at = cap->learn_at = cap->ahead_at = cap->began_ns + DRAIN_NS;
	events_begin(cap, cap->began_ns);
	/* Nothing will tell that it executes something; until then it waits. */
	if (!rc && cap->filter.tree && !cap->side_attr.comm_exec &&
	    descendants_exec(cap->filter.tree, command_pid(cap->command)))
		rc = err_sys(err, -ENOMEM, "cannot begin");
	if (!rc && cap->command)
		rc = command_release(cap->command, cap->signal_fd, err);
	return rc;
}

/* Sampling goes on into the other set. */
static int end_one(struct capture *cap, struct err *err)
{
	int rc;

	if (empty_set(cap, !cap->set))
		return err_sys(err, -ENOMEM, "cannot begin another interval");
	cap->ended = cap->set;
	cap->set = !cap->set;
	account(cap);
	rc = end_interval(cap, err);
	if (!rc)
		begin_report(cap);
	if (!rc)
		rc = take_interval(cap, err);
	return rc ? rc : 1;
}

/*
 * Nothing counts from now on, on any CPU, while all events still tell what happens. With both backends for a moment
 * more, so that a thread that was sampled while it renames itself comes to tell of it.
 */
static int stop_counting(struct capture *cap, struct err *err)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < cap->nr_backends && !rc; i++)
		if (cap->backends[i].ops->stop)
			rc = cap->backends[i].ops->stop(cap->backends[i].state, err);
	if (cap->both)
		compare_wait();
	return rc;
}

static int end_run(struct capture *cap, int rc, struct err *err)
{
	struct err later;
	int stopped, disabled;

	cap->ended = cap->set;
	account(cap);
	cap->over_ns = cap->stopped_ns;
	if (cap->followed && cap->command && command_ended(cap->command)) {
		cap->command_ns = command_cpu_ns(cap->command, cap->attr.exclude_kernel);
		cap->followed_known = !events_followed_ns(cap, &cap->followed_ns);
	}
	stopped = stop_counting(cap, rc ? &later : err);
	disabled = events_disable(cap, rc || stopped ? &later : err);
	if (!rc)
		rc = stopped ? stopped : disabled;
	if (!rc)
		rc = end_interval(cap, err);
	stopped = release_rings(cap, rc ? &later : err);
	if (!rc)
		rc = stopped ? stopped : take_interval(cap, err);
	release_signals(cap);
	return rc;
}

/* The first end of an interval that is still to come: a report may have taken longer than one. */
static uint64_t next_end(const struct capture *cap, uint64_t now)
{
	uint64_t interval = cap->options->interval_ns;

	return interval ? cap->began_ns + ((now - cap->began_ns) / interval + 1) * interval : UINT64_MAX;
}

static int sample_interval(struct capture *cap, struct err *err)
{
	uint64_t end = UINT64_MAX, until;
	int rc;

	if (!cap->began_ns) {
		rc = begin(cap, err);
	} else {
		end_report(cap);
		rc = 0;
		cap->started_ns = cap->stopped_ns;
	}
	if (cap->options->duration_ns)
		end = cap->began_ns + cap->options->duration_ns;
	until = next_end(cap, cap->stopped_ns > cap->began_ns ? cap->stopped_ns : cap->began_ns);
	if (until > end)
		until = end;
	if (!rc)
		rc = sample_until(cap, until, err);
	/*
	 * A CPU that went since the last look is offline in this interval, too: one that ends while a report is made
	 * has no look.
	 */
	if (rc >= 0 && follow_cpus(cap, err))
		rc = err->code;
	if (!rc && until < end)
		return end_one(cap, err);
	return end_run(cap, rc < 0 ? rc : 0, err);
}

/* For the report: that may take a part of what one CPU could do while it was sampled. */
static void keep_priority(uint64_t sampled_ns)
{
	uint64_t ns = sampled_ns / REPORT_SHARE;

	priority_keep(ns < REPORT_MAX_NS ? ns : REPORT_MAX_NS);
}

/* A thread that keeps the rings while a report is made has been started by then, and stays as it is. */
int capture_run(struct capture *cap, struct err *err)
{
	int rc;

	if (cap->options->input)
		return input_run(cap, err);
	priority_raise();
	rc = sample_interval(cap, err);
	keep_priority(cap->stopped_ns - cap->started_ns);
	return rc;
}

const struct stacks *capture_samples(const struct capture *cap)
{
	return cap->sets[cap->ended].samples;
}

const struct stacks *capture_intervals(const struct capture *cap)
{
	return cap->sets[cap->ended].intervals;
}

void capture_gap(struct capture *cap, bool missing)
{
	size_t i;

	for (i = 0; i < cap->nr_events; i++)
		missing |= cap->events[i].due && cap->events[i].fd < 0;
	cap->gap = missing;
	for (i = 0; i < ARRAY_SIZE(cap->sets); i++)
		if (cap->sets[i].compare)
			compare_gap(cap->sets[i].compare, missing);
}

void capture_missed(struct capture *cap)
{
	size_t i;

	capture_gap(cap, true);
	for (i = 0; i < ARRAY_SIZE(cap->sets); i++)
		if (cap->sets[i].compare)
			compare_missed(cap->sets[i].compare);
}

/*
 * How many samples may have been lost, as the kernel tells? What an interval lost at its very end may be told of in the
 * next one.
 */
static uint64_t lost_at_most(const struct capture *cap, const struct books *b)
{
	bool told = cap->attr.read_format & PERF_FORMAT_LOST && !cap->options->interval_ns;

	return told ? b->lost_here + b->lost_notes + b->bad_samples : UINT64_MAX;
}

/* Those that the program passed on and no ring gave back are lost. */
static int64_t interval_books(const struct capture *cap, struct books *b)
{
	const struct stacks *rows = capture_intervals(cap);
	struct stack_row row;
	int64_t times = 0;
	size_t i;

	b->intervals_lost += sub_or_0(b->intervals_passed, b->intervals_received);
	for (i = 0; i < stacks_nr_rows(rows); i++) {
		stacks_row(rows, i, &row);
		times += (int64_t)row.times;
	}
	if (!cap->options->open_intervals)
		times += (int64_t)b->intervals_open;
	return (int64_t)(b->intervals_begun - b->intervals_filtered - b->intervals_lost) - times;
}

static int64_t sample_books(const struct capture *cap, struct books *b)
{
	uint64_t told;

	if (cap->backends[0].ops->in_kernel) {
		told = lost_at_most(cap, b);
		b->lost = sub_or_0(b->passed, b->counted_ring + b->spilled_filtered);
		if (b->lost > told)
			b->lost = told;
	} else {
		b->taken = b->ring_samples + b->lost_here;
		b->lost = b->lost_here + b->bad_samples;
	}
	return (int64_t)(b->taken - stacks_total(capture_samples(cap)) - b->filtered - b->lost);
}

struct unaccounted capture_books(const struct capture *cap, struct books *out)
{
	struct unaccounted u = { 0 };
	size_t i;

	*out = (struct books){ 0 };
	for (i = 0; i < cap->nr_backends; i++)
		cap->backends[i].ops->stats(cap->backends[i].state, out);
	if (cap->options->on_cpu)
		u.samples = sample_books(cap, out);
	if (cap->options->off_cpu)
		u.intervals = interval_books(cap, out);
	return u;
}

static void take_least(size_t *least, size_t bytes)
{
	if (bytes && (!*least || bytes < *least))
		*least = bytes;
}

struct ring_sizes capture_ring_sizes(const struct capture *cap)
{
	struct ring_sizes least = { 0 };
	size_t i;

	for (i = 0; i < cap->nr_events; i++) {
		take_least(&least.samples, cap->events[i].ring_bytes);
		take_least(&least.side, cap->events[i].side.ring_bytes);
	}
	return least;
}

uint64_t capture_period_ns(const struct capture *cap)
{
	const struct options *o = cap->options;

	return shortfall_period(o->period ? o->period : NSEC_PER_SEC / o->freq_hz);
}

bool capture_shortfall(const struct capture *cap, const struct books *books, struct shortfall *out)
{
	const struct options *o = cap->options;

	*out = cap->shortfall;
	out->offline_ns = cap->offline_ns;
	if (o->input || !o->on_cpu)
		return false;
	out->period_ns = capture_period_ns(cap);
	/* How long what is followed has been running is not known. */
	if (!event_is_clock(&cap->event) || cap->followed)
		return false;
	out->nr_cpus = cap->nr_cpus;
	out->due_ns = cap->due_ns;
	out->taken = books->taken;
	out->idle_taken = books->idle;
	out->include_idle = o->include_idle;
	out->in_kernel = cap->backends[0].ops->in_kernel;
	out->throttled = books->throttled;
	out->throttled_ns = books->throttled_ns;
	return true;
}

bool capture_command_shortfall(const struct capture *cap, const struct books *books, const struct shortfall *total,
			       struct err *why)
{
	struct shortfall s = *total;

	if (!cap->options->on_cpu || !event_is_clock(&cap->event) || cap->options->cpu >= 0)
		return false;
	s.period_ns = capture_period_ns(cap);
	s.nr_cpus = cap->nr_cpus;
	s.due_ns = cap->command_ns;
	s.taken = books->taken;
	s.throttled = books->throttled;
	s.throttled_ns = books->throttled_ns;
	s.cpu_ns = cap->command_ns ? command_cpu_ns(cap->command, false) : 0;
	s.followed_known = cap->followed_known;
	s.followed_ns = cap->followed_ns;
	s.started = books->started;
	return shortfall_explain_command(&s, why);
}

size_t capture_files_hung(const struct capture *cap)
{
	return cap->files.open_files ? open_files_hung(cap->files.open_files) : 0;
}

void capture_hold(struct capture *cap, int fd)
{
	if (cap->held_fd < 0)
		cap->held_fd = fd;
	else
		close(fd);
}

static void hold_tracepoint(struct capture *cap)
{
	const struct capture_event *e;
	size_t i;
	int fd;

	if (cap->switches != SWITCHES_BY_TRACEPOINT)
		return;
	for (i = 0; i < cap->nr_events && cap->held_fd < 0; i++) {
		e = &cap->events[i];
		/* Beside samples, the event of switches is the joined one. */
		fd = e->nr_more ? e->more[0].fd : e->fd;
		if (e->samples && fd >= 0)
			cap->held_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	}
}

void capture_close(struct capture *cap)
{
	struct err ignored;

	release_rings(cap, &ignored);
	hold_tracepoint(cap);
	backends_close(cap);
	events_close(cap);
}

void capture_free(struct capture *cap)
{
	size_t i;

	if (!cap)
		return;
	capture_close(cap);
	release_signals(cap);
	for (i = 0; i < ARRAY_SIZE(cap->sets); i++)
		release_set(&cap->sets[i]);
	followed_free(cap->followed);
	tasks_free(cap->tasks);
	perf_maps_free(cap->perf_maps);
	open_files_free(cap->files.open_files);
	recording_release(&cap->recording);
	watch_free(cap->watch);
	descendants_free(cap->filter.tree);
	cgroup_close(cap->filter.cgroup);
	pinned_close(cap->filter.cgroup_ids);
	pinned_close(cap->filter.mntns_ids);
	if (cap->mntns_fd >= 0)
		close(cap->mntns_fd);
	if (cap->held_fd >= 0)
		close(cap->held_fd);
	free(cap);
}
