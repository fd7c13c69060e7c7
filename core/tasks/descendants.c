// SPDX-License-Identifier: Apache-2.0
#include "core/tasks/descendants.h"

#include "core/base/clock.h"
#include "core/base/intern.h"

#include <errno.h>
#include <stdlib.h>

#define MAX_ENDED 8192 /* processes that have ended and are remembered */

#define MAX_REUSED 1024 /* reused pids, see struct reused */

/* A sample has the time when it is written, somewhat after the filter has decided on it. */
#define MOMENT_NS (10 * 1000 * 1000ULL)

/* A descendant, or another process about which @keep has stored an answer. */
struct process {
	pid_t pid;
	bool in;
	bool told;           /* @keep has stored an answer */
	uint64_t told_until; /* a withdrawn answer may have been used until then; 0: none was withdrawn */
	bool led;            /* its first thread lives */
	bool ended;
	size_t ended_at; /* its index in the queue, if it has ended */
	unsigned int nr; /* number of its threads that live; only known for descendants */
};

static const struct intern_kind process_kind = INTERN_BYTES(struct process, pid);

struct reused {
	pid_t pid;
	uint64_t until; /* told_until of the last earlier process with this pid */
};

struct descendants {
	pid_t root;
	bool begun; /* @root has executed its program */

	struct intern_table processes;

	pid_t ended[MAX_ENDED]; /* a queue: a new entry replaces the oldest */
	size_t next_ended;
	struct reused reused[MAX_REUSED]; /* at place_of() the pid; a newer entry replaces an older one */

	bool (*keep)(void *ctx, pid_t pid, enum descent what);
	void *keep_ctx;
};

struct descendants *descendants_new(pid_t root)
{
	struct descendants *d = calloc(1, sizeof(*d));

	if (d)
		d->root = root;
	return d;
}

void descendants_free(struct descendants *d)
{
	if (!d)
		return;
	intern_release(&d->processes);
	free(d);
}

void descendants_tell(struct descendants *d, bool (*keep)(void *ctx, pid_t pid, enum descent what), void *ctx)
{
	d->keep = keep;
	d->keep_ctx = ctx;
}

static struct process *find_process(const struct descendants *d, pid_t pid)
{
	return intern_find(&d->processes, &process_kind, &pid);
}

static void tell_decision(struct descendants *d, struct process *p)
{
	if (d->keep && !p->told)
		p->told = d->keep(d->keep_ctx, p->pid, p->in ? DESCENT_IN : DESCENT_OUT);
}

static void take_back(struct descendants *d, struct process *p)
{
	if (!p->told)
		return;
	d->keep(d->keep_ctx, p->pid, DESCENT_UNKNOWN);
	p->told = false;
	p->told_until = now_ns() + MOMENT_NS;
}

static size_t place_of(pid_t pid)
{
	return (unsigned int)pid % MAX_REUSED;
}

/* Add a process with one thread; it must not exist yet. */
static struct process *add_process(struct descendants *d, pid_t pid, bool in)
{
	bool is_new;
	struct process *p = intern(&d->processes, &process_kind, &pid, &is_new);

	if (p)
		*p = (struct process){ .pid = pid, .in = in, .led = true, .nr = 1 };
	return p;
}

static void drop_process(struct descendants *d, struct process *p)
{
	intern_delete(&d->processes, &process_kind, p);
}

static void end(struct descendants *d, struct process *p)
{
	pid_t pid = p->pid;
	struct process *oldest;

	take_back(d, p);
	p->ended = true;
	p->ended_at = d->next_ended;
	oldest = find_process(d, d->ended[d->next_ended]);
	/* If the pid was reused, the process has another place in the queue, or none. */
	if (oldest && oldest != p && oldest->ended && oldest->ended_at == d->next_ended)
		drop_process(d, oldest);
	d->ended[d->next_ended] = pid;
	d->next_ended = (d->next_ended + 1) % MAX_ENDED;
}

static int begin(struct descendants *d, pid_t pid)
{
	struct process *p = add_process(d, pid, true);

	if (!p)
		return -ENOMEM;
	tell_decision(d, p);
	return 0;
}

int descendants_exec(struct descendants *d, pid_t pid)
{
	struct process *p;

	if (pid == d->root && !d->begun) {
		d->begun = true;
		return begin(d, pid);
	}
	p = find_process(d, pid);
	if (!p || !p->in)
		return 0;
	/*
	 * The calling thread has become the leader. The old leader has an EXIT record, the caller's old tid has none.
	 */
	p->ended = false;
	p->led = true;
	p->nr = 1;
	return 0;
}

int descendants_fork(struct descendants *d, pid_t pid, pid_t ppid)
{
	struct process *p = find_process(d, pid);
	bool in = descendants_has(d, ppid);

	if (pid == ppid) {
		if (p)
			p->nr++;
		return 0;
	}
	if (p) {
		take_back(d, p);
		if (p->told_until)
			d->reused[place_of(pid)] = (struct reused){ pid, p->told_until };
		drop_process(d, p);
	}
	return in ? begin(d, pid) : 0;
}

void descendants_exit(struct descendants *d, pid_t pid, pid_t tid)
{
	struct process *p = find_process(d, pid);

	if (!p || p->ended)
		return;
	p->nr -= p->nr > 0;
	p->led &= pid != tid;
	if (!p->led && (!p->nr || !p->in))
		end(d, p);
}

bool descendants_has(const struct descendants *d, pid_t pid)
{
	const struct process *p = find_process(d, pid);

	return p && p->in;
}

bool descendants_judge(struct descendants *d, pid_t pid)
{
	struct process *p = find_process(d, pid);

	/* The answer about the root changes with its exec; ids below 1 are not processes. */
	if (!p && d->keep && pid > 0 && (pid != d->root || d->begun))
		p = add_process(d, pid, false);
	if (p && !p->ended)
		tell_decision(d, p);
	return p && p->in;
}

bool descendants_reused(const struct descendants *d, pid_t pid, uint64_t time)
{
	const struct reused *r = &d->reused[place_of(pid)];

	return r->pid == pid && time <= r->until;
}
