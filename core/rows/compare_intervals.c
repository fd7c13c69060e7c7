// SPDX-License-Identifier: Apache-2.0
#include "core/rows/compare_intervals.h"

#include "core/base/hash.h"
#include "core/rows/compare.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The ring's rows, by contents. */
struct side {
	const struct stacks *rows;
	struct hash_index index;
	bool *seen; /* in the program's, too */
};

static uint64_t hash_stack(const struct stack *s, uint64_t seed)
{
	seed = hash_bytes(&seed, sizeof(seed), (uint64_t)s->state << 1 | s->truncated);
	return hash_bytes(s->frames, s->nr * sizeof(*s->frames), seed);
}

static uint64_t hash_row(const struct stack_row *row)
{
	uint64_t hash = hash_bytes(row->comm, COMM_LEN, (uint32_t)row->pid);

	return hash_stack(&row->user, hash_stack(&row->kernel, hash));
}

static bool same_stack(const struct stack *a, const struct stack *b)
{
	return a->state == b->state && a->truncated == b->truncated && a->nr == b->nr &&
	       (!a->nr || !memcmp(a->frames, b->frames, a->nr * sizeof(*a->frames)));
}

static bool same_row(const void *table, uint32_t pos, const void *key)
{
	const struct stack_row *b = key;
	struct stack_row a;

	stacks_row(table, pos, &a);
	return a.pid == b->pid && !memcmp(a.comm, b->comm, COMM_LEN) && same_stack(&a.kernel, &b->kernel) &&
	       same_stack(&a.user, &b->user);
}

static int side_init(struct side *side, const struct stacks *rows)
{
	size_t nr = stacks_nr_rows(rows), i;
	struct stack_row row;
	int rc = 0;

	*side = (struct side){ .rows = rows, .seen = calloc(nr + 1, sizeof(*side->seen)) };
	if (!side->seen)
		return -ENOMEM;
	for (i = 0; i < nr && !rc; i++) {
		stacks_row(rows, i, &row);
		if (row.times)
			rc = hash_add(&side->index, hash_row(&row), (uint32_t)i);
	}
	return rc;
}

static void side_release(struct side *side)
{
	hash_release(&side->index);
	free(side->seen);
}

static const char *leaf_of(const struct stack *s, char buf[24])
{
	if (!s->nr)
		return s->state == STACK_MISSED ? "missed" : "none";
	snprintf(buf, 24, "0x%" PRIx64, s->frames[0]);
	return buf;
}

/* @program or @ring is NULL: it has no such row. */
static void add_example(struct compared_intervals *c, const struct stack_row *program, const struct stack_row *ring)
{
	const struct stack_row none = { .times = 0 }, *row = program ? program : ring;
	char comm[COMM_LEN], kernel[24], user[24];
	size_t size = sizeof(c->examples[0]);

	if (c->nr_examples >= INTERVALS_EXAMPLES)
		return;
	program = program ? program : &none;
	ring = ring ? ring : &none;
	compare_printable(row->comm, comm);
	snprintf(c->examples[c->nr_examples++], size,
		 "'%s', process %d, kernel leaf %s, user leaf %s: bpf: %" PRIu64 " times, %" PRIu64
		 " us; perfring: %" PRIu64 " times, %" PRIu64 " us",
		 comm, row->pid, leaf_of(&row->kernel, kernel), leaf_of(&row->user, user), program->times,
		 program->value / 1000, ring->times, ring->value / 1000);
}

/* Of @ring's intervals, if these are some of @program's, or as long as some of them. */
static bool is_within(const struct stack_row *program, uint64_t ring_ns, uint64_t ring_times)
{
	return ring_ns <= program->value || ring_ns - program->value <= ring_times * INTERVAL_APART_NS;
}

/* The program may have intervals that the ring has not. @ring: NULL: it has none */
static bool is_missed(struct compared_intervals *c, const struct stack_row *program, const struct stack_row *ring,
		      const struct intervals_lost *lost)
{
	uint64_t times = ring ? ring->times : 0;

	if ((!lost->unseen && !lost->unsampled) || program->times <= times)
		return false;
	if (ring && !is_within(program, ring->value, times)) {
		if (!lost->unseen)
			return false;
		c->stretched++;
	}
	c->missed += program->times - times;
	return true;
}

/* The ring may have them in a row without stacks, and the program elsewhere. */
static bool is_unsampled(struct compared_intervals *c, uint64_t program_times, const struct stack_row *ring,
			 bool unsampled)
{
	bool no_stacks = !ring->kernel.nr && !ring->user.nr &&
			 (ring->kernel.state == STACK_MISSED || ring->user.state == STACK_MISSED);

	if (!unsampled || !no_stacks || ring->times <= program_times)
		return false;
	c->unsampled += ring->times - program_times;
	return true;
}

/*
 * While nobody saw the switches of a CPU, a thread may have come there and left again: then the ring has one long
 * interval instead of two.
 */
static bool is_stretched(const struct stack_row *program, const struct stack_row *ring,
			 const struct intervals_lost *lost)
{
	return lost->unseen && ring->value > program->value;
}

static void compare_rows_of_both(struct compared_intervals *c, const struct stack_row *program,
				 const struct stack_row *ring, const struct intervals_lost *lost)
{
	uint64_t apart, each;

	c->rows++;
	if (is_missed(c, program, ring, lost) || is_unsampled(c, program->times, ring, lost->unsampled))
		return;
	if (program->times != ring->times) {
		c->other_times++;
		add_example(c, program, ring);
		return;
	}
	apart = program->value > ring->value ? program->value - ring->value : ring->value - program->value;
	each = apart / ring->times + (apart % ring->times > 0);
	if (each > INTERVAL_APART_NS && is_stretched(program, ring, lost)) {
		c->stretched++;
		return;
	}
	if (each > c->apart_ns)
		c->apart_ns = each;
	if (each <= INTERVAL_APART_NS)
		return;
	c->other_time++;
	add_example(c, program, ring);
}

static void compare_program(struct compared_intervals *c, const struct stacks *program, struct side *ring,
			    const struct intervals_lost *lost)
{
	struct stack_row row, other;
	uint32_t pos;
	size_t i;

	for (i = 0; i < stacks_nr_rows(program); i++) {
		stacks_row(program, i, &row);
		if (!row.times)
			continue;
		pos = hash_find(&ring->index, hash_row(&row), same_row, ring->rows, &row);
		if (pos == HASH_NONE && is_missed(c, &row, NULL, lost)) {
			c->rows++;
			continue;
		}
		if (pos == HASH_NONE) {
			c->only_program++;
			add_example(c, &row, NULL);
			continue;
		}
		ring->seen[pos] = true;
		stacks_row(ring->rows, pos, &other);
		compare_rows_of_both(c, &row, &other, lost);
	}
}

static void find_only_ring(struct compared_intervals *c, const struct side *ring, const struct intervals_lost *lost)
{
	struct stack_row row;
	size_t i;

	for (i = 0; i < stacks_nr_rows(ring->rows); i++) {
		stacks_row(ring->rows, i, &row);
		if (!row.times || ring->seen[i])
			continue;
		if (is_unsampled(c, 0, &row, lost->unsampled)) {
			c->rows++;
			continue;
		}
		c->only_ring++;
		add_example(c, NULL, &row);
	}
}

static void compare_sides(struct compared_intervals *c, const struct stacks *program, struct side *ring,
			  const struct intervals_lost *lost)
{
	memset(c, 0, sizeof(*c));
	memset(ring->seen, 0, stacks_nr_rows(ring->rows) * sizeof(*ring->seen));
	compare_program(c, program, ring, lost);
	find_only_ring(c, ring, lost);
}

/* An interval without stacks is missing where the program has it. */
static bool is_explained(const struct compared_intervals *c, const struct intervals_lost *lost)
{
	return c->unsampled <= lost->unsampled && c->stretched <= lost->unseen &&
	       (c->missed <= c->unsampled || c->missed - c->unsampled <= lost->unseen);
}

int compare_intervals(const struct stacks *program, const struct stacks *ring, const struct intervals_lost *lost,
		      struct compared_intervals *out)
{
	const struct intervals_lost nothing = { 0 };
	struct side side;
	int rc = side_init(&side, ring);

	memset(out, 0, sizeof(*out));
	if (!rc) {
		compare_sides(out, program, &side, lost);
		if (!is_explained(out, lost))
			compare_sides(out, program, &side, &nothing);
	}
	side_release(&side);
	return rc;
}

bool compared_equal(const struct compared_intervals *c)
{
	return !(c->other_times | c->other_time | c->only_program | c->only_ring);
}
