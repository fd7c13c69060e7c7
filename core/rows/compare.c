// SPDX-License-Identifier: Apache-2.0
#include "core/rows/compare.h"

#include "core/base/grow.h"
#include "core/base/saturate.h"
#include "core/tasks/filter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_EXAMPLES    10
#define MAX_PENDING     4096 /* more threads than can be inside the system calls of compare.h at once */
#define MAX_UNEXPLAINED 65536
#define MAX_RENAMED     1024 /* threads whose last two names are remembered */

/* The record that may explain a difference. */
enum awaited { AWAITED_COMM, AWAITED_NAMESPACES };

/* A sample that the two sides see differently. */
struct difference {
	struct compare_view program, ring;
	pid_t pid;    /* as the reader counted it */
	uint32_t row; /* in compare.rows, or in compare.held if the reader filtered it */
	enum awaited awaited;
};

struct list {
	struct difference *v;
	size_t nr, cap;
};

/* The last two names of a thread, from the records. */
struct renamed {
	pid_t tid;
	bool by_other; /* another thread set the last name */
	bool either;   /* another thread set one of the two: the thread may have either name */
	char last[COMM_LEN], before[COMM_LEN];
};

struct compare {
	const struct filter *filter;
	struct rows *rows;
	struct rows *held; /* samples that the reader filtered, with the program's keys */
	struct compare_counts counts;
	bool gap, had_gap;                   /* see compare_gap(); @had_gap: there was one */
	struct list pending;                 /* a record of the thread that is still to come may explain these */
	struct list unexplained;             /* no record explained these; lost records still may */
	struct renamed renamed[MAX_RENAMED]; /* hashed by tid; a newer entry replaces an older one */
	uint64_t *moved;                     /* for each row of @rows: number of explained samples */
	size_t nr_moved, cap_moved;
	struct rows *moved_to; /* these samples, in the rows where the program counted them */
	struct difference examples[MAX_EXAMPLES];
	size_t nr_examples;
};

struct compare *compare_new(const struct filter *filter)
{
	struct compare *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->filter = filter;
	c->rows = rows_new();
	c->held = rows_new();
	c->moved_to = rows_new();
	if (c->rows && c->held && c->moved_to)
		return c;
	compare_free(c);
	return NULL;
}

void compare_free(struct compare *c)
{
	if (!c)
		return;
	rows_free(c->rows);
	rows_free(c->held);
	free(c->pending.v);
	free(c->unexplained.v);
	free(c->moved);
	rows_free(c->moved_to);
	free(c);
}

struct rows *compare_rows(struct compare *c)
{
	return c->rows;
}

/* Add a sample to the row where the program counts it: @key with the program's name and ids. */
static int add_as_program(struct rows *to, const struct difference *d, const struct row_key *key)
{
	struct row_key own = *key;

	memcpy(own.comm, d->program.comm, COMM_LEN);
	own.pid = d->program.pid;
	return rows_add(to, &own, 1, 1);
}

/* If the reader filtered the sample, it has no row for it: keep its stacks in @held. */
static int hold(struct compare *c, struct difference *d, const struct row_key *key)
{
	int rc;

	if (!d->ring.filtered)
		return 0;
	rc = add_as_program(c->held, d, key);
	d->row = rows_last(c->held);
	return rc;
}

static int append(struct list *l, const struct difference *d)
{
	struct difference *v = grow(l->v, &l->cap, l->nr, 1, sizeof(*v));

	if (!v)
		return -ENOMEM;
	l->v = v;
	v[l->nr++] = *d;
	return 0;
}

/*
 * @d is explained: move one sample from the row of the reader to that of the program, unless the program filtered it.
 * @counter: counts this explanation
 */
static int move(struct compare *c, const struct difference *d, const struct row_key *key, uint64_t *counter)
{
	size_t nr = rows_nr(c->rows);
	uint64_t *moved = grow(c->moved, &c->cap_moved, c->nr_moved, nr - c->nr_moved, sizeof(*moved));

	if (!moved)
		return -ENOMEM;
	c->moved = moved;
	while (c->nr_moved < nr)
		moved[c->nr_moved++] = 0;
	++*counter;
	if (!d->ring.filtered)
		moved[d->row]++;
	return d->program.filtered ? 0 : add_as_program(c->moved_to, d, key);
}

/* As move(), with the key of row @d->row. */
static int move_row(struct compare *c, const struct difference *d, uint64_t *counter)
{
	struct row row;

	rows_get(d->ring.filtered ? c->held : c->rows, d->row, &row);
	return move(c, d, &row.key, counter);
}

static int differ(struct compare *c, const struct difference *d)
{
	c->counts.different++;
	if (c->nr_examples < MAX_EXAMPLES)
		c->examples[c->nr_examples++] = *d;
	return 0;
}

/* No record explained @d: it is unseen if there is a gap, otherwise unexplained. */
static int give_up(struct compare *c, const struct difference *d)
{
	if (c->gap)
		return move_row(c, d, &c->counts.unseen);
	return c->unexplained.nr < MAX_UNEXPLAINED ? append(&c->unexplained, d) : differ(c, d);
}

/* Take a pending difference of thread @tid that awaits one of these records (bits) off the list. */
static bool take_pending(struct compare *c, pid_t tid, unsigned int awaited, struct difference *out)
{
	size_t i;

	for (i = 0; i < c->pending.nr; i++) {
		if (c->pending.v[i].ring.tid != tid || !(awaited & 1U << c->pending.v[i].awaited))
			continue;
		*out = c->pending.v[i];
		c->pending.v[i] = c->pending.v[--c->pending.nr];
		return true;
	}
	return false;
}

static struct renamed *renamed_at(struct compare *c, pid_t tid)
{
	return &c->renamed[(unsigned int)tid % MAX_RENAMED];
}

static bool has_either(struct compare *c, const struct compare_view *p)
{
	const struct renamed *n = renamed_at(c, p->tid);

	return n->tid == p->tid && n->either && !memcmp(p->comm, n->before, COMM_LEN);
}

static void remember(struct compare *c, pid_t tid, pid_t by, const char *comm)
{
	struct renamed *n = renamed_at(c, tid);

	if (n->tid != tid)
		*n = (struct renamed){ .tid = tid };
	n->either = *n->last && (n->by_other || by != tid);
	n->by_other = by != tid;
	memcpy(n->before, n->last, COMM_LEN);
	memcpy(n->last, comm, COMM_LEN);
}

static bool is_equal(const struct difference *d)
{
	const struct compare_view *p = &d->program, *r = &d->ring;

	if (p->filtered || r->filtered)
		return p->filtered && r->filtered;
	return p->pid == d->pid && !memcmp(p->comm, r->comm, COMM_LEN);
}

/* True if both sides see a task outside our PID namespace, whose record has the ids 0. */
static bool is_outside(const struct difference *d)
{
	return d->program.tid < 0 && d->pid < 0 && !d->ring.tid;
}

/* True if the task was dying: its sample had no ids, or it had left its namespaces. See compare.h. */
static bool is_dying(const struct difference *d)
{
	return d->ring.tid == -1 || (!d->ring.tid && d->program.tid && !is_outside(d)) ||
	       (d->program.left && d->program.filtered);
}

/* True if both saw the same thread and name, but the pinned map may have changed before the reader looked. */
static bool is_remapped(const struct difference *d)
{
	const struct compare_view *p = &d->program, *r = &d->ring;

	bool same = is_outside(d) || (p->pid == r->pid && p->tid == r->tid);

	return r->unsure && p->filtered != r->filtered && same && !memcmp(p->comm, r->comm, COMM_LEN);
}

/*
 * True if both saw the same thread, and the program may know its pid from an earlier process. The name does not matter.
 */
static bool is_reused(const struct difference *d)
{
	const struct compare_view *p = &d->program, *r = &d->ring;

	return p->reused && p->filtered != r->filtered && p->pid == r->pid && p->tid == r->tid;
}

/* True if both saw the same thread, and each applied the filter to the name that it saw: only the names differ. */
static bool is_of_names(const struct compare *c, const struct difference *d)
{
	const struct compare_view *p = &d->program, *r = &d->ring;

	return p->pid == r->pid && p->tid == r->tid &&
	       p->filtered != filter_match(c->filter, p->pid, p->tid, p->comm) &&
	       r->filtered != filter_match(c->filter, r->pid, r->tid, r->comm);
}

/* True if both saw the same thread under the same name, which is selected: only its mount namespace differs. */
static bool is_of_mntns(const struct compare *c, const struct difference *d)
{
	const struct compare_view *p = &d->program, *r = &d->ring;

	return filter_by_mntns(c->filter) && p->pid == r->pid && p->tid == r->tid &&
	       !memcmp(p->comm, r->comm, COMM_LEN) && p->filtered != r->filtered &&
	       filter_match(c->filter, p->pid, p->tid, p->comm);
}

/* True if the reader has the name kthreadd, the creator of kernel threads, for another kernel thread. */
static bool is_unnamed(const struct difference *d, const struct row_key *key)
{
	return d->program.pid == d->program.tid && d->program.tid != 2 && !strcmp(d->ring.comm, "kthreadd") &&
	       key->user.state == STACK_NONE;
}

/* Wait for the record that may explain @d. Return: 1: it waits; 0: counted at once; -ENOMEM. */
static int await(struct compare *c, struct difference *d, enum awaited awaited, const struct row_key *key)
{
	int rc = hold(c, d, key);

	if (rc)
		return rc;
	if (c->pending.nr >= MAX_PENDING)
		return give_up(c, d);
	d->awaited = awaited;
	rc = append(&c->pending, d);
	return rc ? rc : 1;
}

/* Classify @d. Return: as await(). */
static int judge(struct compare *c, struct difference *d, const struct row_key *key)
{
	if (is_equal(d))
		return 0;
	if (is_dying(d))
		return move(c, d, key, &c->counts.dying);
	if (is_remapped(d))
		return move(c, d, key, &c->counts.remapped);
	if (is_reused(d))
		return move(c, d, key, &c->counts.reused);
	if (is_of_mntns(c, d))
		return await(c, d, AWAITED_NAMESPACES, key);
	if (!is_of_names(c, d))
		return differ(c, d);
	if (is_unnamed(d, key))
		return move(c, d, key, &c->counts.unnamed);
	if (has_either(c, &d->program))
		return move(c, d, key, &c->counts.renamed);
	return await(c, d, AWAITED_COMM, key);
}

/* @tid has a later sample that awaits no record: so its waiting samples were not inside a call that writes one. */
static int give_up_pending(struct compare *c, pid_t tid)
{
	struct difference d;
	int rc = 0;

	while (!rc && take_pending(c, tid, 1U << AWAITED_COMM | 1U << AWAITED_NAMESPACES, &d))
		rc = give_up(c, &d);
	return rc;
}

int compare_sample(struct compare *c, const struct compare_view *program, const struct compare_view *ring,
		   const struct row_key *key)
{
	int rc = 0;

	if (program) {
		c->counts.compared++;
		rc = judge(c, &(struct difference){ *program, *ring, key->pid, rows_last(c->rows) }, key);
	} else {
		c->counts.unpaired++;
	}
	/*
	 * Give up only if this sample does not wait itself: several may wait, if a CPU is slow or its host suspends it
	 * while the thread is inside that system call.
	 */
	if (!rc && ring->tid > 0)
		rc = give_up_pending(c, ring->tid);
	return rc < 0 ? rc : 0;
}

/*
 * True if a reader could see @seen while or just after the kernel wrote @new over @old. The kernel writes from the
 * front; the reader may come at any moment and stops at the first zero. Linux 3.10 fills the name with zeros first
 * (set_task_comm()), so that any beginning of @new may be seen there.
 */
static bool is_torn(const char *seen, const char *old, const char *new)
{
	char mixed[COMM_LEN];
	size_t written;

	if (!strncmp(seen, new, strnlen(seen, COMM_LEN)))
		return true;
	for (written = 0; written < COMM_LEN; written++) {
		memcpy(mixed, new, written);
		memcpy(mixed + written, old + written, COMM_LEN - written);
		mixed[COMM_LEN - 1] = 0;
		if (!strcmp(seen, mixed))
			return true;
	}
	return false;
}

/*
 * Before 6.3 a new kernel thread has the name of its creator until a COMM record names it. The reader has the new name
 * from /proc already.
 */
static bool is_named_early(const struct difference *d, const char *new)
{
	return d->program.pid == d->program.tid && d->program.tid != 2 && !strcmp(d->program.comm, "kthreadd") &&
	       !memcmp(d->ring.comm, new, COMM_LEN);
}

int compare_renamed(struct compare *c, pid_t tid, pid_t by, const char *comm)
{
	char padded[COMM_LEN] = "";
	struct difference d;
	int rc = 0;

	memcpy(padded, comm, strnlen(comm, COMM_LEN - 1));
	remember(c, tid, by, padded);
	while (!rc && take_pending(c, tid, 1U << AWAITED_COMM, &d)) {
		if (is_torn(d.program.comm, d.ring.comm, padded))
			rc = move_row(c, &d, &c->counts.renamed);
		else if (is_named_early(&d, padded))
			rc = move_row(c, &d, &c->counts.unnamed);
		else if (c->had_gap &&
			 /* The reader had the new name from /proc, when names were read again */
			 !memcmp(d.ring.comm, padded, COMM_LEN))
			rc = move_row(c, &d, &c->counts.unseen);
		else
			rc = give_up(c, &d);
	}
	return rc;
}

int compare_unshared(struct compare *c, pid_t tid, bool wanted, bool unsure)
{
	struct difference d;
	int rc = 0;

	while (!rc && take_pending(c, tid, 1U << AWAITED_NAMESPACES, &d)) {
		if (d.program.filtered != wanted)
			rc = move_row(c, &d, &c->counts.unshared);
		else if (unsure)
			rc = move_row(c, &d, &c->counts.remapped);
		else
			rc = give_up(c, &d);
	}
	return rc;
}

size_t compare_nr_pending(const struct compare *c)
{
	return c->pending.nr;
}

void compare_wait(void)
{
	const struct timespec moment = { .tv_nsec = 10 * 1000 * 1000 };

	nanosleep(&moment, NULL);
}

/* Give up all pending differences: their records may be among the lost ones. */
static void give_up_all(struct compare *c)
{
	while (c->pending.nr && !give_up(c, &c->pending.v[c->pending.nr - 1]))
		c->pending.nr--;
}

void compare_gap(struct compare *c, bool missing)
{
	if (c->gap && !missing)
		give_up_all(c);
	c->gap = missing;
	c->had_gap |= missing;
}

void compare_missed(struct compare *c)
{
	while (c->unexplained.nr && !move_row(c, &c->unexplained.v[c->unexplained.nr - 1], &c->counts.unseen))
		c->unexplained.nr--;
}

int compare_end(struct compare *c)
{
	size_t i;
	int rc = 0;

	while (c->pending.nr && !rc)
		rc = give_up(c, &c->pending.v[--c->pending.nr]);
	for (i = 0; i < c->unexplained.nr && !rc; i++)
		rc = differ(c, &c->unexplained.v[i]);
	c->unexplained.nr = 0;
	return rc;
}

void compare_counts_add(struct compare_counts *to, const struct compare_counts *more)
{
#define ADD(member, name) to->member += more->member;
	COMPARE_EXPLAINED(ADD)
	to->compared += more->compared;
	to->different += more->different;
	to->unpaired += more->unpaired;
}

uint64_t compare_nr_explained(const struct compare_counts *n)
{
#define PLUS(member, name) +n->member
	return COMPARE_EXPLAINED(PLUS);
}

void compare_counts(const struct compare *c, struct compare_counts *out)
{
	*out = c->counts;
}

static int add_rows(struct rows *to, const struct rows *from, const uint64_t *less, size_t nr_less)
{
	struct row row;
	size_t i;
	int rc = 0;

	for (i = 0; i < rows_nr(from) && !rc; i++) {
		rows_get(from, i, &row);
		if (i < nr_less)
			row.value -= less[i];
		if (row.value)
			rc = rows_add(to, &row.key, row.value, row.value);
	}
	return rc;
}

struct rows *compare_explained(const struct compare *c)
{
	struct rows *to = rows_new();

	if (to && !add_rows(to, c->rows, c->moved, c->nr_moved) && !add_rows(to, c->moved_to, NULL, 0))
		return to;
	rows_free(to);
	return NULL;
}

/* Return: how many samples @program has beyond those of @ring; -ENOMEM. @to: add these samples to it; NULL: do not */
static int64_t more_of(const struct rows *program, const struct rows *ring, struct rows *to)
{
	struct row row, other;
	uint64_t more;
	int64_t sum = 0;
	uint32_t pos;
	size_t i;
	int rc = 0;

	for (i = 0; i < rows_nr(program) && !rc; i++) {
		rows_get(program, i, &row);
		pos = rows_find(ring, &row.key);
		if (pos != HASH_NONE)
			rows_get(ring, pos, &other);
		more = sub_or_0(row.value, pos == HASH_NONE ? 0 : other.value);
		sum += (int64_t)more;
		if (to && more)
			rc = rows_add(to, &row.key, more, more);
	}
	return rc ? rc : sum;
}

int64_t compare_add_lost(struct rows *ring, const struct rows *program, uint64_t lost)
{
	int64_t more = more_of(program, ring, NULL);

	return (uint64_t)more <= lost ? more_of(program, ring, ring) : 0;
}

void compare_printable(const char *comm, char *out)
{
	size_t i;

	for (i = 0; i < COMM_LEN - 1 && comm[i]; i++)
		out[i] = (unsigned char)comm[i] < ' ' || (unsigned char)comm[i] > '~' ? '?' : comm[i];
	out[i] = 0;
}

static void describe(const struct compare_view *v, pid_t pid, char *buf, size_t size)
{
	char comm[COMM_LEN];

	compare_printable(v->comm, comm);
	if (v->filtered)
		snprintf(buf, size, "filtered out, of thread %d of %d", v->tid, pid);
	else
		snprintf(buf, size, "'%s', thread %d of %d", comm, v->tid, pid);
}

bool compare_example(const struct compare *c, size_t i, char *buf, size_t size)
{
	char program[96], ring[96];
	const struct difference *d;

	if (i >= c->nr_examples)
		return false;
	d = &c->examples[i];
	describe(&d->program, d->program.pid, program, sizeof(program));
	describe(&d->ring, d->pid, ring, sizeof(ring));
	snprintf(buf, size, "bpf: %s; perfring: %s", program, ring);
	return true;
}
