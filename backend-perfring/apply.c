// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/apply.h"

#include "backend-perfring/deferred.h"
#include "backend-perfring/sample.h"
#include "backend-perfring/switching.h"
#include "compat/perf_deferred.h"
#include "core/events/cpus.h"
#include "core/rows/callchain.h"
#include "core/rows/compare.h"
#include "core/sources/source.h"
#include "core/symbols/kernel_ranges.h"
#include "core/tasks/pinned.h"
#include "core/tasks/proc.h"

#include <limits.h>
#include <string.h>

static int add_sample(struct applier *a, struct rows *to, const struct owner *o, struct sample *s)
{
	const struct sample_lead *lead = s->lead;
	bool known = lead->noted && lead->note.verdict != NOTE_UNNUMBERED;
	struct row_key key;
	int rc;

	if (o->outside)
		sample_hide_user(s);
	rc = sample_complete(a, s, known ? lead->note.pid : o->pid);
	if (rc)
		return rc;
	key = sample_key(a, s, o);
	return rows_add(to, &key, 1, 1);
}

int apply_deferred(void *ctx, const struct row_key *key, unsigned int set)
{
	struct applier *a = ctx;
	int rc = rows_add(a->env->sink->sets[set].samples, key, 1, 1);

	a->stats[set].counted_ring += !rc;
	a->stats[set].deferred_missed += key->user.state == STACK_MISSED;
	return rc;
}

/* True if the kernel has deferred the user stack. If the recording has copies of stacks, those are unwound instead. */
static bool is_deferred(const struct applier *a, const struct sample *s, const struct owner *o)
{
	return a->deferred && !a->unwinding && s->user.state == STACK_MISSED && !o->outside;
}

/* Return: the cookie of the deferred user stack that a sample should wait for; 0: unknown. */
static uint64_t awaited(const struct sample *s)
{
	return s->record->tid > 0 ? callchain_cookie(s->record->sample.ips, s->record->sample.nr) : 0;
}

/* The row gets its task and name now, because the thread may have another name when its stack comes. */
static int wait_for_user(struct applier *a, const struct sample *s, const struct owner *o, uint64_t cookie)
{
	struct row_key key = sample_key(a, s, o);
	unsigned int set = s->lead->note.set;
	int rc = tasks_learn_sampled(a->env->sink->tasks, o->pid);

	key.image = sample_image(a, o->pid);
	if (!rc)
		rc = deferred_wait(a->deferred, s->record->tid, cookie, &key, set);
	a->stats[set].deferred += !rc;
	return rc;
}

static int count_as(struct applier *a, struct sample *s, const struct owner *o, bool wanted)
{
	unsigned int set = s->lead->note.set;
	struct stats *stats = &a->stats[set];
	bool deferred = is_deferred(a, s, o);
	uint64_t cookie;
	int rc;

	stats->outside += o->outside;
	if (!wanted) {
		stats->filtered++;
		stats->hidden += sample_is_hidden(a, s, o);
		return 0;
	}
	cookie = deferred ? awaited(s) : 0;
	if (cookie)
		return wait_for_user(a, s, o, cookie);
	rc = add_sample(a, a->env->sink->sets[set].samples, o, s);
	stats->counted_ring += !rc;
	stats->deferred += !rc && deferred;
	stats->deferred_missed += !rc && deferred;
	return rc;
}

/* Count a sample if there is no BPF program. */
static int count(struct applier *a, struct sample *s)
{
	struct stats *stats = &a->stats[s->lead->note.set];
	bool unsure = false;
	struct owner o;

	sample_identify(a, s, stats, &o);
	stats->idle += !o.tid;
	return count_as(a, s, &o, sample_is_wanted(a, s, &o, &unsure));
}

/* The BPF program could not identify the task of the sample. The reader has identified it: @o. */
static int count_unnumbered(struct applier *a, struct sample *s, const struct owner *o, bool wanted)
{
	a->stats[s->lead->note.set].spilled_filtered += !wanted;
	return count_as(a, s, o, wanted);
}

/* True if filter.tree excludes @pid, and the BPF program left that to us: its note says so, or there is no note. */
static bool is_spilled_bystander(const struct applier *a, const struct sample *s, pid_t pid)
{
	struct descendants *tree = a->env->request->filter.tree;

	if (!tree || (s->lead->noted && s->lead->note.verdict != NOTE_UNKNOWN))
		return false;
	return !descendants_judge(tree, pid);
}

/*
 * True if the BPF program left it to us to identify the task of this sample, and therefore to filter the sample. If the
 * note is missing, return true in a PID namespace. In the initial one, the program never leaves this to us, so the
 * sample has passed the program's filters.
 */
static bool is_unnumbered(const struct applier *a, const struct sample *s)
{
	return s->lead->noted ? s->lead->note.verdict == NOTE_UNNUMBERED : a->env->request->in_pidns;
}

/*
 * The BPF program could not count this sample. The note has the thread's name at the time of the sample. Prefer it:
 * /proc only has the current name.
 */
static int count_spilled(struct applier *a, struct sample *s)
{
	const struct sample_note *note = &s->lead->note;
	struct stats *stats = &a->stats[note->set];
	struct owner o = { note->pid, note->tid, "", note->tid < 0 };
	bool unsure;
	int rc;

	memcpy(o.comm, note->comm, COMM_LEN);
	if (!s->lead->noted || note->verdict == NOTE_UNNUMBERED)
		sample_identify(a, s, stats, &o);
	if (is_unnumbered(a, s))
		return count_unnumbered(a, s, &o, sample_is_wanted(a, s, &o, &unsure));
	if (is_spilled_bystander(a, s, o.pid)) {
		stats->filtered++;
		stats->spilled_filtered++;
		return 0;
	}
	rc = add_sample(a, a->env->sink->sets[note->set].samples, &o, s);
	stats->counted_ring += !rc;
	return rc;
}

/*
 * Tell the pinned maps what the program has found in them. If it counted the sample, the ids of the sample are keys of
 * all maps. If it filtered the sample, and the filter has no other condition that can be the reason, the id is no key.
 */
static void tell_pinned(const struct applier *a, const struct sample *s, const struct owner *o)
{
	const struct sample_note *note = &s->lead->note;
	const struct filter *f = &a->env->request->filter;
	bool counted = note->verdict != NOTE_FILTERED;
	int groups = !!f->cgroup + !!f->cgroup_ids + !!f->mntns + !!f->mntns_ids;

	if (!s->lead->noted || note->verdict == NOTE_UNNUMBERED || note->left ||
	    !filter_match(f, note->pid, note->tid, note->comm) || (!counted && groups > 1))
		return;
	if (f->cgroup_ids)
		pinned_told(f->cgroup_ids, s->record->sample.cgroup, counted);
	if (f->mntns_ids && o->tid > 0)
		pinned_told(f->mntns_ids, tasks_mntns(a->env->sink->tasks, o->pid, o->tid), counted);
}

/*
 * True if the BPF program may have judged the sample by the answer about an earlier process with this pid. The program
 * applies filter.tree first. So return false if the reader's result, @filtered, is not that of filter.tree alone.
 */
static bool is_reused(const struct applier *a, const struct sample *s, bool filtered)
{
	const struct descendants *tree = a->env->request->filter.tree;
	pid_t pid = s->lead->note.pid;

	return tree && s->lead->noted && descendants_reused(tree, pid, sample_time(a, s->record)) &&
	       filtered == sample_is_bystander(a, pid);
}

/* If the program leaves the task to the reader, use the reader's result for both: there is nothing to compare. */
static int compare_unnumbered(struct applier *a, struct sample *s, const struct owner *o, bool filtered,
			      struct compare_view *program)
{
	*program = (struct compare_view){ .filtered = filtered, .pid = o->pid, .tid = o->tid };
	memcpy(program->comm, o->comm, COMM_LEN);
	return count_unnumbered(a, s, o, !filtered);
}

/* --backend=both: compare the result of the reader for this sample with that of the program. */
static int count_compared(struct applier *a, struct sample *s)
{
	const struct sample_note *note = &s->lead->note;
	struct compare *c = a->env->sink->sets[note->set].compare;
	struct compare_view program = { .pid = note->pid, .tid = note->tid, .left = note->left };
	struct compare_view ring = { .pid = s->record->pid, .tid = s->record->tid };
	struct row_key key;
	struct owner o;
	int rc = 0;

	sample_identify(a, s, &a->stats[note->set], &o);
	program.filtered =
		note->verdict == NOTE_FILTERED || (note->verdict == NOTE_UNKNOWN && sample_is_bystander(a, note->pid));
	memcpy(program.comm, note->comm, COMM_LEN);
	memcpy(ring.comm, o.comm, COMM_LEN);
	tell_pinned(a, s, &o);
	ring.filtered = !sample_is_wanted(a, s, &o, &ring.unsure);
	program.reused = is_reused(a, s, ring.filtered);
	if (s->lead->noted && note->verdict == NOTE_UNNUMBERED)
		rc = compare_unnumbered(a, s, &o, ring.filtered, &program);
	else if (note->tid < 0)
		sample_hide_user(s);
	if (!rc && !ring.filtered)
		rc = add_sample(a, compare_rows(c), &o, s);
	else if (!rc && s->lead->noted && !program.filtered)
		rc = sample_complete(a, s, program.pid); /* to find its row, in case the difference is explained */
	if (rc)
		return rc;
	key = sample_key(a, s, &o);
	return compare_sample(c, s->lead->noted ? &program : NULL, &ring, &key);
}

static bool is_spilled(const struct sample_note *note)
{
	return note->verdict == NOTE_SPILLED || note->verdict == NOTE_UNKNOWN;
}

static int count_sample(struct applier *a, uint32_t ring, const struct record *r, const struct sample_lead *lead)
{
	const struct source_env *env = a->env;
	struct sample s = { .record = r, .ring = ring, .lead = lead };
	int rc = 0;

	sample_take_stacks(env, &s);
	if (!env->nr_counters)
		return count(a, &s);
	if (env->request->both)
		rc = count_compared(a, &s);
	if (!rc && (!env->request->both || (lead->noted && is_spilled(&lead->note))))
		rc = count_spilled(a, &s);
	return rc;
}

static int apply_sample(struct applier *a, uint32_t ring, const struct record *r, const struct sample_lead *lead)
{
	switch (lead->kind) {
	case EVENT_SWITCHES:
		return switching_sample(a, ring, r, lead);
	case EVENT_SWITCH_NOTES:
		return switching_note(a, ring, r, lead);
	default:
		return count_sample(a, ring, r, lead);
	}
}

/* A callchain of the kernel's maximal length may have had more addresses: drop its last one, and mark it as cut. */
static int apply_callchain(struct applier *a, const struct record *r)
{
	struct stack kernel = { .state = STACK_NONE }, user;

	if (!a->deferred)
		return 0;
	callchain_entry(r->deferred.ips, r->deferred.nr, &user);
	callchain_limit(user.nr == DEFERRED_MAX_STACK ? DEFERRED_MAX_STACK : UINT_MAX, &kernel, &user);
	if (user.state == STACK_NONE)
		user.state = STACK_MISSED; /* the kernel could not walk it */
	return deferred_came(a->deferred, r->tid, r->deferred.cookie, &user);
}

static int apply_comm(struct applier *a, const struct record *r)
{
	int rc = a->deferred && r->comm.exec ? deferred_executed(a->deferred, r->tid) : 0;
	size_t i;

	/* This record may explain a sample of the interval before. */
	for (i = 0; i < ARRAY_SIZE(a->env->sink->sets) && !rc; i++)
		if (a->env->sink->sets[i].compare)
			rc = compare_renamed(a->env->sink->sets[i].compare, r->tid, r->writer, r->comm.name);
	return rc ? rc : tasks_comm(a->env->sink->tasks, r->pid, r->tid, r->comm.name, r->comm.exec);
}

static int apply_namespaces(struct applier *a, const struct record *r)
{
	const struct filter *f = &a->env->request->filter;
	bool wanted, unsure = false;
	size_t i;
	int rc = 0;

	if (!filter_by_mntns(f)) /* a recording may have them though we do not need them */
		return 0;
	wanted = filter_match_mntns(f, r->mntns, sample_time(a, r), &unsure);
	for (i = 0; i < ARRAY_SIZE(a->env->sink->sets) && !rc; i++)
		if (a->env->sink->sets[i].compare)
			rc = compare_unshared(a->env->sink->sets[i].compare, r->tid, wanted, unsure);
	return rc ? rc : tasks_namespaces(a->env->sink->tasks, r->pid, r->tid, r->mntns);
}

static int apply_exit(struct applier *a, uint32_t ring, const struct record *r)
{
	struct exited_task *exit = &a->rings[ring].exit;
	int rc = a->deferred ? deferred_exited(a->deferred, r->tid) : 0;

	if (rc)
		return rc;
	if (!r->tid) {
		*exit = (struct exited_task){ owner_outside.pid, owner_outside.tid, COMM_OUTSIDE };
		return 0;
	}
	*exit = (struct exited_task){ r->pid, r->tid, "" };
	if (!sample_is_bystander(a, r->pid))
		tasks_name(a->env->sink->tasks, r->pid, r->tid, exit->comm);
	a->exits[(uint32_t)r->tid % RECENT_EXITS] = *exit;
	if (sample_is_bystander(a, r->pid))
		return 0;
	return tasks_exit(a->env->sink->tasks, r->pid, r->tid);
}

static int apply_mmap(struct applier *a, const struct record *r)
{
	struct mapped_file file = { .path = r->mmap.path, r->mmap.maj, r->mmap.min, r->mmap.ino };
	struct mapping m = { r->mmap.start, r->mmap.start + r->mmap.len, r->mmap.pgoff, &file };

	if (r->mmap.build_id_size) {
		memcpy(file.build_id, r->mmap.build_id, r->mmap.build_id_size);
		file.build_id_size = r->mmap.build_id_size;
	}
	return tasks_mmap(a->env->sink->tasks, r->pid, &m);
}

static int apply_ksymbol(const struct applier *a, const struct record *r)
{
	struct kernel_ranges *ranges = a->env->sink->kernel_ranges;

	return ranges ? kernel_ranges_add(ranges, &(struct kernel_range){ .start = r->ksymbol.start,
									  .len = r->ksymbol.len,
									  .name = r->ksymbol.name,
									  .bpf = r->ksymbol.bpf,
									  .removed = r->ksymbol.removed,
									  .time = r->time })
		      : 0;
}

/* A lost record may have been about code of the kernel. */
static void apply_lost(struct applier *a, bool of_samples)
{
	const struct source_env *env = a->env;

	if (a->switching && of_samples)
		switching_gap(a);
	if (env->sink->kernel_ranges && env->events->attrs[EVENT_SIDE_BAND].ksymbol &&
	    (!of_samples || !env->events->apart))
		kernel_ranges_lost(env->sink->kernel_ranges);
}

static void end_throttling(struct applier *a, uint32_t ring, uint64_t ns)
{
	struct applied_ring *ar = &a->rings[ring];

	if (ar->throttled_at < ar->since && ns > ar->since)
		ns = ar->since;
	if (ar->throttled_at && ns > ar->throttled_at)
		a->stats[a->set].throttled_ns += ns - ar->throttled_at;
	ar->throttled_at = 0;
}

void apply_time(struct applier *a, uint64_t ns)
{
	uint32_t i;

	for (i = 0; i < a->env->events->nr_places; i++) {
		uint64_t at = a->rings[i].throttled_at;

		if (!at || ns <= at)
			continue;
		end_throttling(a, i, ns);
		/* If the event was closed or opened again, the throttling is over: no record of its end will come. */
		if (a->env->events->places[i].fd >= 0 && at >= a->rings[i].since)
			a->rings[i].throttled_at = ns;
	}
}

/* Update the tree of descendants before the record is used for anything else. */
static int trace_descent(struct descendants *tree, const struct record *r)
{
	if (r->type == PERF_RECORD_COMM && r->comm.exec)
		return descendants_exec(tree, r->pid);
	if (r->type == PERF_RECORD_FORK)
		return descendants_fork(tree, r->pid, r->fork.ppid);
	if (r->type == PERF_RECORD_EXIT)
		descendants_exit(tree, r->pid, r->tid);
	return 0;
}

/*
 * When a thread executes a program with more rights, the kernel removes its perf events (perf_event_exit_task() in
 * begin_new_exec(), fs/exec.c) and writes an EXIT record, before anything is mapped. The task lives on, unless it has
 * ended since.
 */
static bool is_out_of_sight(const struct applier *a, const struct record *r)
{
	const struct source_env *env = a->env;

	if (!env->events->side_of_targets || r->type != PERF_RECORD_EXIT ||
	    (env->request->filter.tree && !descendants_has(env->request->filter.tree, r->pid)) ||
	    !tasks_unmapped(env->sink->tasks, r->pid, r->tid))
		return false;
	env->events->lost_sight = true;
	sink_missed(env->sink);
	return proc_lives(env->request->host, r->pid, r->tid);
}

/* If @r means that the process maps something else, or is another one, its proved stacks are not proved any more. */
static void withdraw(struct applier *a, const struct record *r)
{
	bool of_process = r->pid == r->tid;
	bool gone = (r->type == PERF_RECORD_COMM && r->comm.exec) ||
		    (of_process && (r->type == PERF_RECORD_FORK || r->type == PERF_RECORD_EXIT));
	bool maps = r->type == PERF_RECORD_MMAP || r->type == PERF_RECORD_MMAP2;

	if (a->env->request->proves && (gone || maps))
		a->stats[a->set].withdrawn += env_withdraw(a->env, r->pid, gone);
}

/* @r is about a task or its mappings. */
static int apply_side_band(struct applier *a, uint32_t ring, const struct record *r)
{
	int rc;

	withdraw(a, r);
	if (is_out_of_sight(a, r))
		return 0;
	rc = a->env->request->filter.tree ? trace_descent(a->env->request->filter.tree, r) : 0;
	a->stats[a->set].started += r->type == PERF_RECORD_FORK;
	if (rc || r->type == PERF_RECORD_EXIT)
		return rc ? rc : apply_exit(a, ring, r);
	if (sample_is_bystander(a, r->pid))
		return 0;
	switch (r->type) {
	case PERF_RECORD_COMM:
		return apply_comm(a, r);
	case PERF_RECORD_FORK:
		return tasks_fork(a->env->sink->tasks, r->pid, r->tid, r->fork.ppid, r->fork.ptid, r->fork.exec);
	case PERF_RECORD_NAMESPACES:
		return apply_namespaces(a, r);
	default:
		return apply_mmap(a, r);
	}
}

/* True for a record of a task outside our pid namespace: all such tasks have the id 0, so the process is unknown. */
static bool is_nobodys(const struct record *r)
{
	switch (r->type) {
	case PERF_RECORD_COMM:
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_FORK:
	case PERF_RECORD_NAMESPACES:
		return !r->pid;
	default:
		return false;
	}
}

static void apply_gap(struct applier *a, uint32_t ring, enum record_gap what)
{
	if (what == GAP_BEGINS)
		switching_gap_begins(a, ring);
	else
		switching_gap(a);
	if (what == GAP_ENDS)
		switching_gap_ends(a, ring);
}

static int apply_name(struct applier *a, const struct record *r)
{
	const struct source_env *env = a->env;

	if (r->tid)
		return tasks_refresh(env->sink->tasks, r->pid, r->tid, r->comm.name);
	tasks_read_anew(env->sink->tasks);
	a->stats[a->set].withdrawn += env_withdraw(env, 0, true);
	sink_gap(env->sink, events_cpu_is_away(env->events));
	return 0;
}

int apply_record(struct applier *a, uint32_t ring, const struct record *r, const struct sample_lead *lead)
{
	bool of_samples = lead->kind != EVENT_SIDE_BAND;

	if (r->type == RECORD_GAP) {
		apply_gap(a, ring, r->gap);
		return 0;
	}
	tasks_at(a->env->sink->tasks, sample_time(a, r));
	if (a->switching && of_samples)
		switching_gap_ends(a, ring);
	if (a->switching && (r->type == PERF_RECORD_FORK || r->type == PERF_RECORD_EXIT ||
			     (r->type == PERF_RECORD_COMM && r->comm.exec)))
		switching_task(a, ring, r);
	if (is_nobodys(r))
		return 0;
	switch (r->type) {
	case PERF_RECORD_SAMPLE:
		return apply_sample(a, ring, r, lead);
	case PERF_RECORD_SWITCH:
		return a->switching ? switching_record(a, ring, r) : 0;
	case PERF_RECORD_LOST:
		apply_lost(a, of_samples);
		return 0;
	case PERF_RECORD_KSYMBOL:
		return apply_ksymbol(a, r);
	case PERF_RECORD_COMM:
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_NAMESPACES:
		return apply_side_band(a, ring, r);
	case RECORD_NAME:
		return apply_name(a, r);
	case RECORD_CALLCHAIN_DEFERRED:
		return apply_callchain(a, r);
	case PERF_RECORD_THROTTLE:
		a->stats[a->set].throttled++;
		a->rings[ring].throttled_at = r->time;
		return 0;
	case PERF_RECORD_UNTHROTTLE:
		end_throttling(a, ring, r->time);
		return 0;
	default:
		return 0;
	}
}
