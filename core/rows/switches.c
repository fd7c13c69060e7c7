// SPDX-License-Identifier: Apache-2.0
#include "core/rows/switches.h"

#include "core/base/intern.h"
#include "core/base/saturate.h"
#include "core/rows/stats.h"

#include <errno.h>
#include <stdlib.h>

/*
 * Rows of ended intervals are kept for later intervals with the same key, unless there are at least KEPT_ROWS rows, and
 * at least KEPT_TIMES as many as open intervals.
 */
#define KEPT_ROWS  4096
#define KEPT_TIMES 4

/* An open interval. */
struct interval {
	uint32_t id;
	uint32_t row;   /* of switches.rows */
	uint64_t ns;    /* when it began */
	uint64_t since; /* when the CPU stay before it began; 0: not known */
	bool exited;    /* see switches_exited() */
	bool maybe;     /* its thread has exited and may be gone: the interval does not count as begun yet */
};

static const struct intern_kind interval_kind = INTERN_BYTES(struct interval, id);

struct switches {
	struct switches_limits limits;
	struct intern_table open; /* intervals */
	struct rows *rows;        /* names and stacks of open intervals; values mean nothing */

	uint32_t exited[SWITCHES_EXITED]; /* a ring of the last threads that left and may be gone */
	size_t nr_exited;                 /* number of threads ever put there */
	size_t nr_maybe;                  /* number of intervals in @open with @maybe */

	/*
	 * Numbers since the last switches_stats(). @begun may go below zero, modulo 2^64 as all sums of statistics,
	 * because the end of a thread takes back an interval that was reported.
	 */
	uint64_t begun, charged, filtered, lost;
};

struct switches *switches_new(const struct switches_limits *limits)
{
	struct switches *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->limits = *limits;
	s->rows = rows_new();
	if (s->rows)
		return s;
	free(s);
	return NULL;
}

void switches_free(struct switches *s)
{
	if (!s)
		return;
	intern_release(&s->open);
	rows_free(s->rows);
	free(s);
}

static struct interval *find_interval(const struct switches *s, uint32_t id)
{
	return intern_find(&s->open, &interval_kind, &id);
}

/* Add an interval. None of the same id is open. */
static int add_interval(struct switches *s, const struct interval *new)
{
	bool is_new;
	struct interval *v = intern(&s->open, &interval_kind, &new->id, &is_new);

	if (!v)
		return -ENOMEM;
	*v = *new;
	return 0;
}

static void drop_interval(struct switches *s, struct interval *v)
{
	s->nr_maybe -= v->maybe;
	intern_delete(&s->open, &interval_kind, v);
}

/* Drop the interval of @id, if there is one, and count it as lost unless it is @maybe. */
static void lose_interval(struct switches *s, uint32_t id)
{
	struct interval *v = find_interval(s, id);

	if (!v)
		return;
	s->lost += !v->maybe;
	drop_interval(s, v);
}

/* Copy the rows of open intervals to @to. @moved: out: the new row of each interval */
static int copy_open(const struct switches *s, struct rows *to, uint32_t *moved)
{
	const struct interval *v = s->open.v;
	struct row row;
	size_t i;
	int rc = 0;

	for (i = 0; i < s->open.nr && !rc; i++) {
		rows_get(s->rows, v[i].row, &row);
		rc = rows_add(to, &row.key, 0, 0);
		moved[i] = rows_last(to);
	}
	return rc;
}

/*
 * A table of stacks never forgets a stack. If most of its rows are of finished intervals, copy the others to a new
 * table.
 */
static int make_small(struct switches *s)
{
	size_t nr = rows_nr(s->rows), i;
	struct interval *v = s->open.v;
	struct rows *rows;
	uint32_t *moved;
	int rc = -ENOMEM;

	if (nr < KEPT_ROWS || nr / KEPT_TIMES < s->open.nr)
		return 0;
	rows = rows_new();
	moved = malloc((s->open.nr + 1) * sizeof(*moved));
	if (rows && moved)
		rc = copy_open(s, rows, moved);
	if (!rc) {
		for (i = 0; i < s->open.nr; i++)
			v[i].row = moved[i];
		rows_free(s->rows);
		s->rows = rows;
	} else {
		rows_free(rows);
	}
	free(moved);
	return rc;
}

int switches_out(struct switches *s, const struct switch_out *out)
{
	int rc;

	lose_interval(s, out->id);
	rc = make_small(s);
	if (!rc)
		rc = rows_add(s->rows, &out->key, 0, 0);
	if (!rc)
		rc = add_interval(s,
				  &(struct interval){ out->id, rows_last(s->rows), out->ns, out->since, false, false });
	s->begun += !rc;
	return rc;
}

void switches_filtered(struct switches *s, uint32_t id)
{
	lose_interval(s, id);
	switches_over_filtered(s);
}

void switches_over_filtered(struct switches *s)
{
	s->begun++;
	s->filtered++;
}

static uint64_t time_since(const struct interval *v, uint64_t ns)
{
	return sub_or_0(ns, v->ns);
}

static bool is_within(const struct switches *s, uint64_t time)
{
	return time >= s->limits.min_ns && time <= s->limits.max_ns;
}

static int charge(const struct switches *s, const struct interval *v, uint64_t time, struct rows *to)
{
	struct row row;

	rows_get(s->rows, v->row, &row);
	return rows_add(to, &row.key, time, 1);
}

int switches_in(struct switches *s, uint32_t id, uint64_t ns, struct rows *to)
{
	struct interval *v = find_interval(s, id);
	uint64_t time;
	int rc = 0;

	if (!v)
		return 0;
	s->begun += v->maybe;
	time = time_since(v, ns);
	if (!is_within(s, time)) {
		s->filtered++;
	} else {
		rc = charge(s, v, time, to);
		s->charged += !rc;
		s->lost += !!rc;
	}
	drop_interval(s, v);
	return rc;
}

uint64_t switches_next_stay(const struct switches *s, uint32_t id, uint64_t since)
{
	const struct interval *v = find_interval(s, id);

	return v && v->since > since ? v->since : 0;
}

int switches_over(struct switches *s, const struct switch_out *out, uint64_t ns, struct rows *to)
{
	uint64_t time = sub_or_0(ns, out->ns);
	int rc;

	s->begun++;
	if (!is_within(s, time)) {
		s->filtered++;
		return 0;
	}
	rc = rows_add(to, &out->key, time, 1);
	s->charged += !rc;
	s->lost += !!rc;
	return rc;
}

void switches_exit(struct switches *s, uint32_t id)
{
	struct interval *v = find_interval(s, id);

	if (!v)
		return;
	s->begun -= !v->maybe;
	drop_interval(s, v);
}

void switches_exited(struct switches *s, uint32_t id, bool comes_back)
{
	struct interval *v = find_interval(s, id), *oldest;
	uint32_t *place = &s->exited[s->nr_exited % SWITCHES_EXITED];

	if (!v)
		return;
	v->exited = true;
	if (comes_back || v->maybe)
		return;
	v->maybe = true;
	s->nr_maybe++;
	s->begun--;
	if (s->nr_exited++ >= SWITCHES_EXITED && *place != id) {
		oldest = find_interval(s, *place);
		if (oldest && oldest->maybe)
			drop_interval(s, oldest);
	}
	*place = id;
}

bool switches_has_exited(const struct switches *s, uint32_t id)
{
	const struct interval *v = find_interval(s, id);

	return v && v->exited;
}

void switches_unseen(struct switches *s, uint32_t id)
{
	lose_interval(s, id);
}

void switches_reject(struct switches *s, uint32_t id)
{
	struct interval *v = find_interval(s, id);

	if (!v)
		return;
	s->filtered += !v->maybe;
	drop_interval(s, v);
}

void switches_gap(struct switches *s)
{
	s->lost += switches_nr_open(s);
	s->nr_maybe = 0;
	intern_release(&s->open);
}

int switches_open(const struct switches *s, uint64_t ns, struct rows *to)
{
	const struct interval *v = s->open.v, *end = v + s->open.nr;
	int rc = 0;

	for (; v < end && !rc; v++)
		if (!v->maybe)
			rc = charge(s, v, time_since(v, ns), to);
	return rc;
}

size_t switches_nr_open(const struct switches *s)
{
	return s->open.nr - s->nr_maybe;
}

void switches_stats(struct switches *s, struct stats *stats)
{
	stats->intervals_begun += s->begun;
	stats->intervals_charged += s->charged;
	stats->intervals_filtered += s->filtered;
	stats->intervals_lost += s->lost;
	s->begun = s->charged = s->filtered = s->lost = 0;
}
