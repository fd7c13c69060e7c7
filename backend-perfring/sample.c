// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/sample.h"

#include "backend-perfring/kernel_code.h"
#include "core/rows/callchain.h"
#include "core/sources/source.h"
#include "core/symbols/kernel_ranges.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define MAX_CPU 65535 /* as in core/host/host.h */

const struct owner owner_outside = { -1, -1, COMM_OUTSIDE, true };

static bool take_exited(const struct exited_task *exit, struct owner *o)
{
	if (!exit->tid)
		return false;
	o->pid = exit->pid;
	o->tid = exit->tid;
	o->outside = exit->tid < 0;
	memcpy(o->comm, exit->comm, COMM_LEN);
	return true;
}

bool sample_exited(const struct applier *a, pid_t tid, struct owner *o)
{
	const struct exited_task *exit = &a->exits[(uint32_t)tid % RECENT_EXITS];

	return exit->tid == tid && take_exited(exit, o);
}

void sample_take_stacks(const struct source_env *env, struct sample *s)
{
	const struct record *r = s->record;

	callchain_split(r->sample.ips, r->sample.nr, &s->kernel, &s->user);
	s->chain = s->kernel;
	/* A recording may have been made without callchains, or with stack copies instead of the user's part. */
	if (r->sample.ip && s->kernel.state == STACK_NONE && s->user.state == STACK_NONE)
		callchain_leaf(&r->sample.ip, r->mode, &s->kernel, &s->user);
	s->has_user = s->user.state != STACK_NONE || r->sample.abi != PERF_SAMPLE_REGS_ABI_NONE;
	/*
	 * In a recording both sides share the limit, wanted or not. The limit may be a guess, which a longer callchain
	 * proves wrong: only a callchain of exactly this length may have been cut.
	 */
	if (!env->source->live)
		callchain_limit(s->kernel.nr + s->user.nr == env->request->asked ? env->request->asked : UINT_MAX,
				&s->kernel, &s->user);
	if (env->request->filter.no_kernel)
		s->kernel = (struct stack){ .state = STACK_NONE };
	if (env->request->filter.no_user)
		s->user = (struct stack){ .state = STACK_NONE };
	if (env->source->live)
		callchain_limit(env->request->asked, &s->kernel, &s->user);
	if (env->sink->kernel_ranges && s->kernel.nr)
		s->kernel.frames = kernel_ranges_at(env->sink->kernel_ranges, s->kernel.frames, s->kernel.nr, r->time);
}

/* True if the BPF program could not count this sample, but may be able to count the next one like it. */
static bool is_passed_on(const struct sample_lead *lead)
{
	return lead->noted && lead->note.verdict == NOTE_SPILLED;
}

/*
 * If the note has the number of the callchain, PROOF_LEAF holds only if the program has read the leaf's caller as the
 * top of the stack.
 */
static void tell_counter(struct applier *a, const struct sample *s, enum proof proof)
{
	const struct sample_note *note = &s->lead->note;
	enum proof_use use;

	if (proof == PROOF_LEAF && note->user_stack >= 0 && s->user.frames[1] != note->top)
		proof = PROOF_NONE;
	use = env_unwound(a->env, note, proof);
	a->stats[note->set].admitted += use == PROOF_ADMITTED;
	a->env->events->hurry |= use != PROOF_UNUSED;
}

/*
 * Only for samples that count. Mappings are learned while the process lives; unwinding needs them.
 */
int sample_complete(struct applier *a, struct sample *s, pid_t pid)
{
	bool unwind = a->unwinding && s->has_user && !a->env->request->filter.no_user;
	int rc = unwind || s->user.nr ? tasks_learn_sampled(a->env->sink->tasks, pid) : 0;
	struct stats *stats = &a->stats[s->lead->note.set];
	enum proof proof;

	if (rc || !unwind || s->unwound)
		return rc;
	s->unwound = true;
	proof = unwinding_stack(a->unwinding, s->record, pid, &s->chain, &s->user, stats);
	if (is_passed_on(s->lead))
		tell_counter(a, s, proof);
	return 0;
}

/* Use the kernel's names of its idle tasks. The samples of a recording may have no CPU number. */
static void name_idle(uint32_t cpu, char *comm)
{
	if (cpu > MAX_CPU)
		memcpy(comm, "swapper", sizeof("swapper"));
	else
		snprintf(comm, COMM_LEN, "swapper/%u", cpu);
}

bool sample_is_bystander(const struct applier *a, pid_t pid)
{
	const struct descendants *tree = a->env->request->filter.tree;

	return tree && !descendants_has(tree, pid);
}

/* Clock events can exclude the idle task; other kinds of events ignore exclude_idle. */
static bool has_no_idle(const struct perf_event_attr *attr)
{
	return attr->exclude_idle && attr->type == PERF_TYPE_SOFTWARE &&
	       (attr->config == PERF_COUNT_SW_CPU_CLOCK || attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

/*
 * The ids are those of our pid namespace: a task outside has 0, like the idle task. The idle task has no user stack,
 * and its kernel stack begins in its loop.
 */
static bool is_outside(const struct applier *a, const struct sample *s)
{
	if (s->has_user || has_no_idle(events_attr(a->env->events)))
		return true;
	return a->kernel_code && s->chain.state == STACK_TAKEN && s->chain.nr < a->env->request->asked &&
	       kernel_code_not_idle(a->kernel_code, &s->chain);
}

void sample_identify(struct applier *a, const struct sample *s, struct stats *stats, struct owner *o)
{
	*o = (struct owner){ .pid = s->record->pid, .tid = s->record->tid };
	if (o->tid < 0) {
		if (stats)
			stats->dead_tasks++;
		/* It has left the pid tables before its last samples: it is the task that exited last on this CPU. */
		if (take_exited(&a->rings[s->ring].exit, o))
			return;
	}
	if (!o->tid && is_outside(a, s)) {
		*o = owner_outside;
	} else if (o->tid && !sample_is_bystander(a, o->pid)) {
		tasks_name(a->env->sink->tasks, o->pid, o->tid, o->comm);
	} else if (!o->tid) {
		name_idle(s->record->cpu, o->comm);
	}
}

uint64_t sample_time(const struct applier *a, const struct record *r)
{
	return events_attr(a->env->events)->use_clockid ? r->time : 0;
}

/* True if it passes the filters, except that on mount namespaces. @unsure: see pinned_has() */
static bool is_wanted_anywhere(const struct applier *a, const struct sample *s, const struct owner *o, bool *unsure)
{
	const struct filter *f = &a->env->request->filter;

	return filter_match(f, o->pid, o->tid, o->comm) &&
	       filter_match_cgroup(f, s->record->sample.cgroup, sample_time(a, s->record), unsure);
}

bool sample_is_wanted(const struct applier *a, const struct sample *s, const struct owner *o, bool *unsure)
{
	const struct filter *f = &a->env->request->filter;
	uint64_t mntns;

	if (!is_wanted_anywhere(a, s, o, unsure))
		return false;
	if (!filter_by_mntns(f))
		return true;
	mntns = o->tid > 0 ? tasks_mntns(a->env->sink->tasks, o->pid, o->tid) : 0;
	return filter_match_mntns(f, mntns, sample_time(a, s->record), unsure);
}

bool sample_is_hidden(const struct applier *a, const struct sample *s, const struct owner *o)
{
	bool unsure = false;

	return filter_by_mntns(&a->env->request->filter) && tasks_mntns_hidden(a->env->sink->tasks, o->tid) &&
	       is_wanted_anywhere(a, s, o, &unsure);
}

/* A BPF program does not know the image, and both backends should have the same rows. */
uint32_t sample_image(const struct applier *a, pid_t pid)
{
	return a->env->request->both ? 0 : tasks_image(a->env->sink->tasks, pid);
}

struct row_key sample_key(const struct applier *a, const struct sample *s, const struct owner *o)
{
	struct row_key key = { .pid = o->pid, .kernel = s->kernel, .user = s->user };

	if (s->user.nr)
		key.image = sample_image(a, o->pid);
	memcpy(key.comm, o->comm, COMM_LEN);
	return key;
}

void sample_hide_user(struct sample *s)
{
	s->user = (struct stack){ .state = STACK_NONE };
	s->has_user = false;
}
