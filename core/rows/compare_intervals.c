// SPDX-License-Identifier: Apache-2.0
#include "core/rows/compare_intervals.h"

#include "core/rows/compare.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *leaf_of(const struct stack *s, char buf[24])
{
	if (!s->nr)
		return s->state == STACK_MISSED ? "missed" : "none";
	snprintf(buf, 24, "0x%" PRIx64, s->frames[0]);
	return buf;
}

/* @program, @ring: NULL: this side has no such row */
static void add_example(struct compared_intervals *c, const struct row *program, const struct row *ring)
{
	const struct row none = { .times = 0 }, *row = program ? program : ring;
	char comm[COMM_LEN], kernel[24], user[24];
	size_t size = sizeof(c->examples[0]);

	if (c->nr_examples >= INTERVALS_EXAMPLES)
		return;
	program = program ? program : &none;
	ring = ring ? ring : &none;
	compare_printable(row->key.comm, comm);
	snprintf(c->examples[c->nr_examples++], size,
		 "'%s', process %d, kernel leaf %s, user leaf %s: bpf: %" PRIu64 " times, %" PRIu64
		 " us; perfring: %" PRIu64 " times, %" PRIu64 " us",
		 comm, row->key.pid, leaf_of(&row->key.kernel, kernel), leaf_of(&row->key.user, user), program->times,
		 program->value / 1000, ring->times, ring->value / 1000);
}

/* True if the ring's intervals can be some of @program's: their time is not longer, except for the tolerance. */
static bool is_within(const struct row *program, uint64_t ring_ns, uint64_t ring_times)
{
	return ring_ns <= program->value || ring_ns - program->value <= ring_times * INTERVAL_APART_NS;
}

/* True if the program has intervals that the ring missed. @ring: NULL: the ring has none */
static bool is_missed(struct compared_intervals *c, const struct row *program, const struct row *ring,
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

/* True if this row has no stacks, and the ring has more intervals in it: the program has them in other rows. */
static bool is_unsampled(struct compared_intervals *c, uint64_t program_times, const struct row *ring, bool unsampled)
{
	const struct stack *kernel = &ring->key.kernel, *user = &ring->key.user;
	bool no_stacks = !kernel->nr && !user->nr && (kernel->state == STACK_MISSED || user->state == STACK_MISSED);

	if (!unsampled || !no_stacks || ring->times <= program_times)
		return false;
	c->unsampled += ring->times - program_times;
	return true;
}

/*
 * True if the ring may have one long interval instead of two: while the switches of a CPU were not seen, the thread may
 * have come to that CPU and left it again.
 */
static bool is_stretched(const struct row *program, const struct row *ring, const struct intervals_lost *lost)
{
	return lost->unseen && ring->value > program->value;
}

/*
 * True if the ring may have intervals that the program lost: a thread left, came back by a switch that neither side
 * could record, and left again by one that only the program recorded. The kernel does not report all switches, and the
 * program's notes are lost while a CPU that came online has no ring.
 */
static bool is_surplus(struct compared_intervals *c, uint64_t program_times, const struct row *ring, bool surplus)
{
	if (!surplus || ring->times <= program_times)
		return false;
	c->surplus += ring->times - program_times;
	return true;
}

/* True if the ring may have such a surplus interval, and lack another one of the same row. */
static bool is_exchanged(struct compared_intervals *c, const struct intervals_lost *lost)
{
	if (!lost->unseen || !lost->surplus)
		return false;
	c->missed++;
	c->surplus++;
	return true;
}

static void compare_rows_of_both(struct compared_intervals *c, const struct row *program, const struct row *ring,
				 const struct intervals_lost *lost)
{
	uint64_t apart, each;

	c->rows++;
	if (is_missed(c, program, ring, lost) || is_unsampled(c, program->times, ring, lost->unsampled) ||
	    is_surplus(c, program->times, ring, lost->surplus))
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
	if (each > INTERVAL_APART_NS && is_exchanged(c, lost))
		return;
	if (each > c->apart_ns)
		c->apart_ns = each;
	if (each <= INTERVAL_APART_NS)
		return;
	c->other_time++;
	add_example(c, program, ring);
}

/* @seen: out: the rows of @ring that @program has, too */
static void compare_program(struct compared_intervals *c, const struct rows *program, const struct rows *ring,
			    bool *seen, const struct intervals_lost *lost)
{
	struct row row, other;
	uint32_t pos;
	size_t i;

	for (i = 0; i < rows_nr(program); i++) {
		rows_get(program, i, &row);
		if (!row.times)
			continue;
		pos = rows_find(ring, &row.key);
		if (pos != HASH_NONE)
			rows_get(ring, pos, &other);
		if (pos != HASH_NONE && other.times) {
			seen[pos] = true;
			compare_rows_of_both(c, &row, &other, lost);
		} else if (is_missed(c, &row, NULL, lost)) {
			c->rows++;
		} else {
			c->only_program++;
			add_example(c, &row, NULL);
		}
	}
}

static void find_only_ring(struct compared_intervals *c, const struct rows *ring, const bool *seen,
			   const struct intervals_lost *lost)
{
	struct row row;
	size_t i;

	for (i = 0; i < rows_nr(ring); i++) {
		rows_get(ring, i, &row);
		if (!row.times || seen[i])
			continue;
		if (is_unsampled(c, 0, &row, lost->unsampled) || is_surplus(c, 0, &row, lost->surplus)) {
			c->rows++;
			continue;
		}
		c->only_ring++;
		add_example(c, NULL, &row);
	}
}

static void compare_sides(struct compared_intervals *c, const struct rows *program, const struct rows *ring, bool *seen,
			  const struct intervals_lost *lost)
{
	memset(c, 0, sizeof(*c));
	memset(seen, 0, rows_nr(ring) * sizeof(*seen));
	compare_program(c, program, ring, seen, lost);
	find_only_ring(c, ring, seen, lost);
}

/*
 * True if the losses explain all differences. An interval that the ring has without stacks also counts as missed, in
 * the row in which the program has it.
 */
static bool is_explained(const struct compared_intervals *c, const struct intervals_lost *lost)
{
	return c->unsampled <= lost->unsampled && c->surplus <= lost->surplus && c->stretched <= lost->unseen &&
	       (c->missed <= c->unsampled || c->missed - c->unsampled <= lost->unseen);
}

int compare_intervals(const struct rows *program, const struct rows *ring, const struct intervals_lost *lost,
		      struct compared_intervals *out)
{
	const struct intervals_lost nothing = { 0 };
	bool *seen = calloc(rows_nr(ring) + 1, sizeof(*seen));

	memset(out, 0, sizeof(*out));
	if (!seen)
		return -ENOMEM;
	compare_sides(out, program, ring, seen, lost);
	if (!is_explained(out, lost))
		compare_sides(out, program, ring, seen, &nothing);
	free(seen);
	return 0;
}

bool compared_equal(const struct compared_intervals *c)
{
	return !(c->other_times | c->other_time | c->only_program | c->only_ring);
}
