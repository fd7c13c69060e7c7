// SPDX-License-Identifier: Apache-2.0
#include "core/rows/stats.h"
#include "core/rows/switches.h"
#include "tests/unit/unit.h"

#include <sys/resource.h>

/* clang-format off */
#define ALL           { 0, UINT64_MAX }
#define FROM(ns)      { ns, UINT64_MAX }
#define FROM_TO(a, b) { a, b }
/* clang-format on */

enum { END_NS = 1000 };

static struct switches *s;
static struct rows *to;
static struct stats stats;

static void begin(const struct switches_limits *limits)
{
	s = switches_new(limits);
	to = rows_new();
	ck_assert_ptr_nonnull(s);
	ck_assert_ptr_nonnull(to);
	memset(&stats, 0, sizeof(stats));
}

static void end(void)
{
	switches_free(s);
	rows_free(to);
}

/* ck_assert() writes a record each time: too slow for 100,000 checks. */
static void must(bool is)
{
	if (!is)
		ck_abort_msg("an answer out of many");
}

/* A thread that leaves as @who: its name, process and stacks are made from that letter. */
struct who {
	uint64_t kernel[3], user[2];
	struct switch_out out;
};

static const struct switch_out *leaves(struct who *w, uint32_t id, uint64_t ns, char who)
{
	memset(w, 0, sizeof(*w));
	w->kernel[0] = w->kernel[1] = (uint64_t)who;
	w->kernel[2] = 7;
	w->user[0] = 8;
	w->user[1] = (uint64_t)who;
	w->out = (struct switch_out){ .id = id, .ns = ns, .key = { .comm = { who }, .pid = who } };
	w->out.key.kernel = (struct stack){ w->kernel, 3, STACK_TAKEN, false };
	w->out.key.user = (struct stack){ w->user, 2, STACK_TAKEN, true };
	return &w->out;
}

static void assert_stack(const struct stack *got, const struct stack *want)
{
	ck_assert_int_eq(got->state, want->state);
	ck_assert_int_eq(got->truncated, want->truncated);
	ck_assert_uint_eq(got->nr, want->nr);
	ck_assert_mem_eq(got->frames, want->frames, want->nr * sizeof(*want->frames));
}

/* Check that row @i is @who's, completely. */
static void assert_row(const struct rows *rows, size_t i, char who, uint64_t value, uint64_t times, const char *name)
{
	struct row row;
	struct who w;

	leaves(&w, 0, 0, who);
	rows_get(rows, i, &row);
	ck_assert_msg(!memcmp(row.key.comm, w.out.key.comm, COMM_LEN), "%s: row %zu is of %s", name, i, row.key.comm);
	ck_assert_int_eq(row.key.pid, who);
	assert_stack(&row.key.kernel, &w.out.key.kernel);
	assert_stack(&row.key.user, &w.out.key.user);
	ck_assert_msg(row.value == value, "%s: %c has %llu", name, who, (unsigned long long)row.value);
	ck_assert_msg(row.times == times, "%s: %c %llu times", name, who, (unsigned long long)row.times);
}

static void assert_balanced(const char *name)
{
	uint64_t sum;

	switches_stats(s, &stats);
	sum = stats.intervals_charged + stats.intervals_filtered + stats.intervals_lost + switches_nr_open(s);
	ck_assert_msg(stats.intervals_begun == sum, "%s: %llu have begun, of %llu it is known", name,
		      (unsigned long long)stats.intervals_begun, (unsigned long long)sum);
}

/* RETURNS: EXITED, and comes back for sure. */
enum what { NONE, OUT, IN, FILTERED, EXIT, GAP, REJECT, EXITED, RETURNS };

struct step {
	enum what what;
	uint32_t id;
	uint64_t ns;
	char who;
};

static void walk(const struct step *step)
{
	struct who w;

	if (step->what == OUT)
		must(!switches_out(s, leaves(&w, step->id, step->ns, step->who)));
	else if (step->what == IN)
		must(!switches_in(s, step->id, step->ns, to));
	else if (step->what == FILTERED)
		switches_filtered(s, step->id);
	else if (step->what == EXIT)
		switches_exit(s, step->id);
	else if (step->what == REJECT)
		switches_reject(s, step->id);
	else if (step->what == EXITED || step->what == RETURNS)
		switches_exited(s, step->id, step->what == RETURNS);
	else
		switches_gap(s);
}

struct want {
	char who;
	uint64_t value, times;
};

/* clang-format off */
static const struct {
	const char *name;
	struct switches_limits limits;
	struct step steps[10];
	struct want rows[4]; /* charged intervals */
	struct want open[4]; /* open intervals at END_NS */
	uint64_t begun, charged, filtered, lost;
} walks[] = {
	{ "nothing", ALL, { { 0 } }, .begun = 0 },
	{ "one", ALL, { { OUT, 1, 10, 'a' }, { IN, 1, 25 } }, { { 'a', 15, 1 } }, .begun = 1, .charged = 1 },
	{ "one that does not end", ALL, { { OUT, 1, 10, 'a' } }, .open = { { 'a', 990, 1 } }, .begun = 1 },
	{ "one whose beginning was not seen", ALL, { { IN, 1, 25 } }, .begun = 0 },
	{ "it ends once", ALL,
	  { { OUT, 1, 10, 'a' }, { IN, 1, 25 }, { IN, 1, 30 } }, { { 'a', 15, 1 } }, .begun = 1, .charged = 1 },
	{ "of another thread", ALL,
	  { { OUT, 1, 10, 'a' }, { IN, 2, 25 } }, .open = { { 'a', 990, 1 } }, .begun = 1 },
	{ "twice with one stack", ALL,
	  { { OUT, 1, 10, 'a' }, { IN, 1, 25 }, { OUT, 1, 30, 'a' }, { IN, 1, 31 } },
	  { { 'a', 16, 2 } }, .begun = 2, .charged = 2 },
	{ "with two stacks", ALL,
	  { { OUT, 1, 10, 'a' }, { IN, 1, 25 }, { OUT, 1, 30, 'b' }, { IN, 1, 31 } },
	  { { 'a', 15, 1 }, { 'b', 1, 1 } }, .begun = 2, .charged = 2 },
	{ "two threads with one stack", ALL,
	  { { OUT, 1, 10, 'a' }, { OUT, 2, 11, 'a' }, { IN, 1, 20 }, { IN, 2, 30 } },
	  { { 'a', 29, 2 } }, .begun = 2, .charged = 2 },
	{ "crosswise", ALL,
	  { { OUT, 1, 10, 'a' }, { OUT, 2, 11, 'b' }, { OUT, 3, 12, 'c' },
	    { IN, 1, 20 }, { IN, 3, 30 }, { IN, 2, 40 } },
	  { { 'a', 10, 1 }, { 'c', 18, 1 }, { 'b', 29, 1 } }, .begun = 3, .charged = 3 },
	{ "ids at their ends", ALL,
	  { { OUT, 0, 10, 'a' }, { OUT, UINT32_MAX, 11, 'b' }, { IN, UINT32_MAX, 20 }, { IN, 0, 30 } },
	  { { 'b', 9, 1 }, { 'a', 20, 1 } }, .begun = 2, .charged = 2 },

	/* time */
	{ "no time", ALL, { { OUT, 1, 10, 'a' }, { IN, 1, 10 } }, { { 'a', 0, 1 } }, .begun = 1, .charged = 1 },
	{ "back in time", ALL, { { OUT, 1, 10, 'a' }, { IN, 1, 9 } }, { { 'a', 0, 1 } }, .begun = 1, .charged = 1 },
	{ "back to the beginning of time", ALL,
	  { { OUT, 1, UINT64_MAX, 'a' }, { IN, 1, 0 } }, { { 'a', 0, 1 } }, .begun = 1, .charged = 1 },
	{ "all of it", ALL,
	  { { OUT, 1, 0, 'a' }, { IN, 1, UINT64_MAX } }, { { 'a', UINT64_MAX, 1 } }, .begun = 1, .charged = 1 },
	{ "all of it, and more", ALL,
	  { { OUT, 1, 0, 'a' }, { IN, 1, UINT64_MAX }, { OUT, 1, 0, 'a' }, { IN, 1, 5 } },
	  { { 'a', UINT64_MAX, 2 } }, .begun = 2, .charged = 2 },
	{ "open, begun later than now", ALL, { { OUT, 1, 2000, 'a' } }, .open = { { 'a', 0, 1 } }, .begun = 1 },

	/* limits */
	{ "too short", FROM(10), { { OUT, 1, 10, 'a' }, { IN, 1, 19 } }, .begun = 1, .filtered = 1 },
	{ "just long enough", FROM(10),
	  { { OUT, 1, 10, 'a' }, { IN, 1, 20 } }, { { 'a', 10, 1 } }, .begun = 1, .charged = 1 },
	{ "no time is too short", FROM(1), { { OUT, 1, 10, 'a' }, { IN, 1, 10 } }, .begun = 1, .filtered = 1 },
	{ "back in time is too short", FROM(1000), { { OUT, 1, 10, 'a' }, { IN, 1, 9 } }, .begun = 1, .filtered = 1 },
	{ "too long", FROM_TO(0, 10), { { OUT, 1, 10, 'a' }, { IN, 1, 21 } }, .begun = 1, .filtered = 1 },
	{ "just short enough", FROM_TO(0, 10),
	  { { OUT, 1, 10, 'a' }, { IN, 1, 20 } }, { { 'a', 10, 1 } }, .begun = 1, .charged = 1 },
	{ "exactly so long", FROM_TO(10, 10),
	  { { OUT, 1, 10, 'a' }, { IN, 1, 20 }, { OUT, 1, 30, 'a' }, { IN, 1, 39 },
	    { OUT, 1, 40, 'a' }, { IN, 1, 51 } },
	  { { 'a', 10, 1 } }, .begun = 3, .charged = 1, .filtered = 2 },
	{ "no length will do", FROM_TO(10, 9),
	  { { OUT, 1, 10, 'a' }, { IN, 1, 20 }, { OUT, 1, 30, 'a' }, { IN, 1, 39 } }, .begun = 2, .filtered = 2 },
	{ "open ones have no limits", FROM_TO(5, 6),
	  { { OUT, 1, 999, 'a' }, { OUT, 2, 10, 'b' } }, .open = { { 'a', 1, 1 }, { 'b', 990, 1 } }, .begun = 2 },

	/* intervals that are not requested */
	{ "filtered", ALL, { { FILTERED, 1 } }, .begun = 1, .filtered = 1 },
	{ "filtered, its end", ALL, { { FILTERED, 1 }, { IN, 1, 20 } }, .begun = 1, .filtered = 1 },
	{ "filtered twice", ALL, { { FILTERED, 1 }, { FILTERED, 1 } }, .begun = 2, .filtered = 2 },
	{ "filtered, and then not", ALL,
	  { { FILTERED, 1 }, { OUT, 1, 10, 'a' }, { IN, 1, 20 } }, { { 'a', 10, 1 } },
	  .begun = 2, .filtered = 1, .charged = 1 },
	{ "filtered, an end missed before", ALL,
	  { { OUT, 1, 10, 'a' }, { FILTERED, 1 }, { IN, 1, 20 } }, .begun = 2, .filtered = 1, .lost = 1 },
	{ "filtered, of another thread", ALL,
	  { { OUT, 1, 10, 'a' }, { FILTERED, 2 }, { IN, 1, 20 } }, { { 'a', 10, 1 } },
	  .begun = 2, .filtered = 1, .charged = 1 },

	/* lost */
	{ "an end missed", ALL,
	  { { OUT, 1, 10, 'a' }, { OUT, 1, 20, 'b' }, { IN, 1, 25 } }, { { 'b', 5, 1 } },
	  .begun = 2, .lost = 1, .charged = 1 },
	{ "ends missed", ALL,
	  { { OUT, 1, 10, 'a' }, { OUT, 1, 20, 'a' }, { OUT, 1, 30, 'b' } }, .open = { { 'b', 970, 1 } },
	  .begun = 3, .lost = 2 },
	{ "a gap", ALL,
	  { { OUT, 1, 10, 'a' }, { OUT, 2, 10, 'b' }, { GAP }, { IN, 1, 25 }, { IN, 2, 26 } }, .begun = 2, .lost = 2 },
	{ "a gap before all", ALL,
	  { { GAP }, { OUT, 1, 10, 'a' }, { IN, 1, 25 } }, { { 'a', 15, 1 } }, .begun = 1, .charged = 1 },
	{ "gaps", ALL,
	  { { OUT, 1, 10, 'a' }, { GAP }, { GAP }, { OUT, 1, 20, 'a' }, { GAP }, { OUT, 1, 30, 'b' }, { IN, 1, 31 } },
	  { { 'b', 1, 1 } }, .begun = 3, .lost = 2, .charged = 1 },
	{ "a gap after the end", ALL,
	  { { OUT, 1, 10, 'a' }, { IN, 1, 25 }, { GAP } }, { { 'a', 15, 1 } }, .begun = 1, .charged = 1 },

	/* threads that end */
	{ "exit of nobody", ALL, { { EXIT, 1 } }, .begun = 0 },
	{ "exit while off CPU", ALL, { { OUT, 1, 10, 'a' }, { EXIT, 1 } }, .begun = 0 },
	{ "exit twice", ALL, { { OUT, 1, 10, 'a' }, { EXIT, 1 }, { EXIT, 1 } }, .begun = 0 },
	{ "exit, then a new one of that id comes", ALL,
	  { { OUT, 1, 10, 'a' }, { EXIT, 1 }, { IN, 1, 20 } }, .begun = 0 },
	{ "exit, then a new one of that id goes", ALL,
	  { { OUT, 1, 10, 'a' }, { EXIT, 1 }, { OUT, 1, 20, 'b' }, { IN, 1, 21 } }, { { 'b', 1, 1 } },
	  .begun = 1, .charged = 1 },
	{ "exit on a CPU", ALL,
	  { { OUT, 1, 10, 'a' }, { IN, 1, 20 }, { EXIT, 1 } }, { { 'a', 10, 1 } }, .begun = 1, .charged = 1 },
	{ "exit of another", ALL,
	  { { OUT, 1, 10, 'a' }, { OUT, 2, 10, 'b' }, { EXIT, 1 }, { IN, 2, 30 } }, { { 'b', 20, 1 } },
	  .begun = 1, .charged = 1 },
	{ "exit of the last that came", ALL,
	  { { OUT, 1, 10, 'a' }, { OUT, 2, 10, 'b' }, { EXIT, 2 }, { IN, 1, 30 } }, { { 'a', 20, 1 } },
	  .begun = 1, .charged = 1 },
	{ "exit of one that was filtered", ALL, { { FILTERED, 1 }, { EXIT, 1 } }, .begun = 1, .filtered = 1 },
	{ "exit of one that was lost", ALL,
	  { { OUT, 1, 10, 'a' }, { GAP }, { EXIT, 1 } }, .begun = 1, .lost = 1 },
	{ "exit after an end was missed", ALL,
	  { { OUT, 1, 10, 'a' }, { OUT, 1, 20, 'a' }, { EXIT, 1 } }, .begun = 1, .lost = 1 },

	/* threads with an EXIT record that may come back */
	{ "exited, nobody", ALL, { { EXITED, 1 } }, .begun = 0 },
	{ "exited, gone", ALL, { { OUT, 1, 10, 'a' }, { EXITED, 1 } }, .begun = 0 },
	{ "exited, told twice", ALL, { { OUT, 1, 10, 'a' }, { EXITED, 1 }, { EXITED, 1 } }, .begun = 0 },
	{ "exited, comes back", ALL,
	  { { OUT, 1, 10, 'a' }, { EXITED, 1 }, { IN, 1, 25 } }, { { 'a', 15, 1 } }, .begun = 1, .charged = 1 },
	{ "exited, comes back for its last time", ALL,
	  { { OUT, 1, 10, 'a' }, { EXITED, 1 }, { IN, 1, 25 }, { OUT, 1, 30, 'a' }, { EXITED, 1 } },
	  { { 'a', 15, 1 } }, .begun = 1, .charged = 1 },
	{ "exited, comes back, too short", { 20, UINT64_MAX },
	  { { OUT, 1, 10, 'a' }, { EXITED, 1 }, { IN, 1, 25 } }, .begun = 1, .filtered = 1 },
	{ "exited, comes back for sure", ALL,
	  { { OUT, 1, 10, 'a' }, { RETURNS, 1 } }, .open = { { 'a', 990, 1 } }, .begun = 1 },
	{ "exited, another one is open", ALL,
	  { { OUT, 1, 10, 'a' }, { OUT, 2, 10, 'b' }, { EXITED, 1 } }, .open = { { 'b', 990, 1 } }, .begun = 1 },
	{ "exited, goes again", ALL,
	  { { OUT, 1, 10, 'a' }, { EXITED, 1 }, { OUT, 1, 20, 'b' }, { IN, 1, 21 } }, { { 'b', 1, 1 } },
	  .begun = 1, .charged = 1 },
	{ "exited, not requested", ALL, { { OUT, 1, 10, 'a' }, { EXITED, 1 }, { REJECT, 1 } }, .begun = 0 },
	{ "exited, a gap", ALL, { { OUT, 1, 10, 'a' }, { OUT, 2, 10, 'b' }, { EXITED, 1 }, { GAP } },
	  .begun = 1, .lost = 1 },
	{ "exited, a gap, comes back", ALL, { { OUT, 1, 10, 'a' }, { EXITED, 1 }, { GAP }, { IN, 1, 25 } }, .begun = 0 },
	{ "exited, its number is used again", ALL,
	  { { OUT, 1, 10, 'a' }, { EXITED, 1 }, { EXIT, 1 }, { OUT, 1, 20, 'b' } }, .open = { { 'b', 980, 1 } },
	  .begun = 1 },
};
/* clang-format on */

static void assert_rows(const struct rows *rows, const struct want *want, const char *name)
{
	size_t i;

	for (i = 0; want[i].who; i++) {
		ck_assert_msg(i < rows_nr(rows), "%s: %c has no row", name, want[i].who);
		assert_row(rows, i, want[i].who, want[i].value, want[i].times, name);
	}
	ck_assert_msg(rows_nr(rows) == i, "%s: %zu rows", name, rows_nr(rows));
}

/* The end of exited threads is never recorded: only a limited number is remembered. */
START_TEST(test_exited_are_bounded)
{
	const struct switches_limits all = ALL;
	struct who w;
	uint32_t id;

	begin(&all);
	for (id = 1; id <= SWITCHES_EXITED + 2; id++) {
		must(!switches_out(s, leaves(&w, id, id, 'a')));
		switches_exited(s, id, false);
		ck_assert(switches_has_exited(s, id));
	}
	ck_assert(!switches_has_exited(s, 1));
	ck_assert(!switches_has_exited(s, 2));
	ck_assert(switches_has_exited(s, 3));
	/* A thread that came back in time and left again is a new one. */
	must(!switches_in(s, 3, id, to));
	must(!switches_out(s, leaves(&w, 3, id + 1, 'b')));
	must(!switches_out(s, leaves(&w, id, id + 1, 'a')));
	switches_exited(s, id, false);
	ck_assert_uint_eq(switches_nr_open(s), 1);
	must(!switches_in(s, 3, id + 5, to));
	ck_assert_uint_eq(rows_nr(to), 2);
	assert_balanced("bounded");
	ck_assert_uint_eq(stats.intervals_begun, 2);
	end();
}
END_TEST

/* Statistics are read at the end, or after each step. */
START_TEST(test_walk)
{
	const char *name = walks[_i / 2].name;
	struct rows *open = rows_new();
	const struct step *step;

	begin(&walks[_i / 2].limits);
	for (step = walks[_i / 2].steps; step->what; step++) {
		walk(step);
		if (_i % 2)
			assert_balanced(name);
	}
	assert_balanced(name);
	assert_rows(to, walks[_i / 2].rows, name);
	ck_assert_uint_eq(stats.intervals_begun, walks[_i / 2].begun);
	ck_assert_uint_eq(stats.intervals_charged, walks[_i / 2].charged);
	ck_assert_uint_eq(stats.intervals_filtered, walks[_i / 2].filtered);
	ck_assert_uint_eq(stats.intervals_lost, walks[_i / 2].lost);
	ck_assert_uint_eq(stats.intervals_open, 0); /* the owner of the statistics knows when the run ends */
	ck_assert_int_eq(switches_open(s, END_NS, open), 0);
	assert_rows(open, walks[_i / 2].open, name);
	assert_balanced(name);
	rows_free(open);
	end();
}
END_TEST

/* An open interval stays open when it is reported, and is charged when it ends. */
START_TEST(test_open)
{
	const struct switches_limits all = ALL;
	struct who w;

	begin(&all);
	ck_assert_int_eq(switches_out(s, leaves(&w, 1, 10, 'a')), 0);
	ck_assert_int_eq(switches_open(s, 15, to), 0);
	ck_assert_int_eq(switches_open(s, 20, to), 0);
	ck_assert_uint_eq(switches_nr_open(s), 1);
	ck_assert_int_eq(switches_in(s, 1, 30, to), 0);
	ck_assert_uint_eq(rows_nr(to), 1);
	assert_row(to, 0, 'a', 5 + 10 + 20, 3, "open");
	ck_assert_int_eq(switches_open(s, 40, to), 0);
	assert_row(to, 0, 'a', 5 + 10 + 20, 3, "open");
	end();
}
END_TEST

/* Intervals that begin in one interval of the report and end in another. */
START_TEST(test_sets)
{
	const struct switches_limits all = ALL;
	struct rows *next;
	struct who w;

	begin(&all);
	next = rows_new();
	ck_assert_int_eq(switches_out(s, leaves(&w, 1, 10, 'a')), 0);
	ck_assert_int_eq(switches_out(s, leaves(&w, 2, 10, 'b')), 0);
	ck_assert_int_eq(switches_in(s, 1, 15, to), 0);
	ck_assert_int_eq(switches_in(s, 2, 25, next), 0);
	ck_assert_uint_eq(rows_nr(to), 1);
	ck_assert_uint_eq(rows_nr(next), 1);
	assert_row(to, 0, 'a', 5, 1, "sets");
	assert_row(next, 0, 'b', 15, 1, "sets");
	rows_free(next);
	end();
}
END_TEST

enum { IDS = 200, LETTERS = 20, STEPS = 200000 };

/* The expected result of the random steps. */
struct model {
	struct {
		bool open;
		uint64_t ns;
		char who;
	} threads[IDS];
	struct want rows[LETTERS];
	uint64_t begun, charged, filtered, lost;
};

static const struct switches_limits some = FROM_TO(20, 2000);

static void model_in(struct model *m, uint32_t id, uint64_t ns)
{
	uint64_t time = ns > m->threads[id].ns ? ns - m->threads[id].ns : 0;
	struct want *row;

	if (!m->threads[id].open)
		return;
	m->threads[id].open = false;
	if (time < some.min_ns || time > some.max_ns) {
		m->filtered++;
		return;
	}
	m->charged++;
	row = &m->rows[m->threads[id].who - 'a'];
	row->value += time;
	row->times++;
}

static void model_step(struct model *m, const struct step *step)
{
	bool open = m->threads[step->id].open;
	uint32_t id;

	if (step->what == OUT) {
		m->lost += open;
		m->threads[step->id].open = true;
		m->threads[step->id].ns = step->ns;
		m->threads[step->id].who = step->who;
		m->begun++;
	} else if (step->what == IN) {
		model_in(m, step->id, step->ns);
	} else if (step->what == FILTERED) {
		m->lost += open;
		m->threads[step->id].open = false;
		m->begun++;
		m->filtered++;
	} else if (step->what == EXIT) {
		m->begun -= open;
		m->threads[step->id].open = false;
	} else {
		for (id = 0; id < IDS; id++) {
			m->lost += m->threads[id].open;
			m->threads[id].open = false;
		}
	}
}

static struct step draw(uint64_t now)
{
	static const enum what often[] = { OUT, OUT, OUT, OUT, OUT, IN, IN, IN, IN, IN, FILTERED, EXIT };
	struct step step = { .what = often[rand() % ARRAY_SIZE(often)], .id = (uint32_t)rand() % IDS };

	if (rand() % 5000 == 0)
		step.what = GAP;
	step.ns = now + (uint64_t)rand() % 30; /* sometimes backwards */
	step.who = (char)('a' + rand() % LETTERS);
	return step;
}

/* Random steps, compared with an array of all threads. */
START_TEST(test_reference)
{
	struct model m = { 0 };
	struct row row;
	uint64_t now, nr = 0;
	size_t i;

	srand((unsigned int)_i);
	begin(&some);
	for (now = 100; now < 100 + STEPS; now++) {
		struct step step = draw(now);

		walk(&step);
		model_step(&m, &step);
		if (now % 1000 == 0)
			assert_balanced("random");
	}
	assert_balanced("random");
	ck_assert_uint_eq(stats.intervals_begun, m.begun);
	ck_assert_uint_eq(stats.intervals_charged, m.charged);
	ck_assert_uint_eq(stats.intervals_filtered, m.filtered);
	ck_assert_uint_eq(stats.intervals_lost, m.lost);
	for (i = 0; i < IDS; i++)
		nr += m.threads[i].open;
	ck_assert_uint_eq(switches_nr_open(s), nr);
	ck_assert_uint_eq(rows_nr(to), LETTERS);
	for (i = 0; i < LETTERS; i++) {
		rows_get(to, i, &row);
		assert_row(to, i, row.key.comm[0], m.rows[row.key.comm[0] - 'a'].value,
			   m.rows[row.key.comm[0] - 'a'].times, "random");
	}
	end();
}
END_TEST

enum { THREADS = 300000, FRAMES = 30, MEMORY_KIB = 16 << 10 }; /* their stacks would take 69 MiB */

/* Thread @id leaves with a stack of its own. */
static void leave(uint32_t id, uint64_t ns)
{
	uint64_t frames[FRAMES] = { id };
	struct switch_out out = { .id = id, .ns = ns, .key = { .comm = "many", .pid = 1 } };

	out.key.kernel = (struct stack){ frames, FRAMES, STACK_TAKEN, false };
	must(!switches_out(s, &out));
}

/* False with the address sanitizer and valgrind: they may not use freed memory again. */
static bool memory_means_something(void)
{
#ifdef __SANITIZE_ADDRESS__
	return false;
#else
	return !unit_below_valgrind();
#endif
}

/* So many threads come and go, in one of these ways: nothing of them is left. */
START_TEST(test_come_and_go)
{
	const struct switches_limits none = FROM_TO(1, 0);
	struct rusage before, after;
	uint32_t id;

	begin(&none);
	ck_assert_int_eq(getrusage(RUSAGE_SELF, &before), 0);
	for (id = 1; id <= THREADS; id++) {
		leave(id, id);
		if (_i == 0)
			must(!switches_in(s, id, id + 10, to));
		else if (_i == 1)
			switches_exit(s, id);
		else if (_i == 2)
			switches_filtered(s, id);
		else
			switches_gap(s);
		must(!switches_nr_open(s));
	}
	ck_assert_int_eq(getrusage(RUSAGE_SELF, &after), 0);
	if (memory_means_something())
		ck_assert_int_lt(after.ru_maxrss - before.ru_maxrss, MEMORY_KIB);
	assert_balanced("come and go");
	ck_assert_uint_eq(stats.intervals_begun, _i == 1 ? 0 : _i == 2 ? 2 * THREADS : THREADS);
	ck_assert_uint_eq(stats.intervals_lost, _i >= 2 ? THREADS : 0);
	end();
}
END_TEST

/* Thread @id comes back: it has its old stack. */
static void assert_comes(size_t row_nr, uint32_t id)
{
	struct row row;

	ck_assert_int_eq(switches_in(s, id, THREADS + 10, to), 0);
	ck_assert_uint_eq(rows_nr(to), row_nr + 1);
	rows_get(to, row_nr, &row);
	ck_assert_uint_eq(row.key.kernel.nr, FRAMES);
	ck_assert_uint_eq(row.key.kernel.frames[0], id);
	ck_assert_uint_eq(row.value, THREADS + 10 - id);
	ck_assert_int_eq(row.key.user.state, STACK_NONE);
}

/* Some threads stay off CPU, while the others come and go. */
START_TEST(test_stay)
{
	static const uint32_t every[] = { THREADS, 30000, 1000, 60 };
	const struct switches_limits all = ALL;
	struct rows *open = rows_new();
	struct rusage before, after;
	uint32_t id, step = every[_i];
	size_t nr = 0;

	begin(&all);
	ck_assert_int_eq(getrusage(RUSAGE_SELF, &before), 0);
	for (id = 1; id <= THREADS; id++) {
		leave(id, id);
		if (id % step && id % 2)
			switches_exit(s, id);
		else if (id % step)
			switches_filtered(s, id);
	}
	ck_assert_int_eq(getrusage(RUSAGE_SELF, &after), 0);
	if (memory_means_something())
		ck_assert_int_lt(after.ru_maxrss - before.ru_maxrss, 2 * MEMORY_KIB);
	ck_assert_uint_eq(switches_nr_open(s), THREADS / step);
	ck_assert_int_eq(switches_open(s, END_NS, open), 0);
	ck_assert_uint_eq(rows_nr(open), THREADS / step);
	for (id = step; id <= THREADS; id += step)
		assert_comes(nr++, id);
	assert_balanced("stay");
	ck_assert_uint_eq(switches_nr_open(s), 0);
	rows_free(open);
	end();
}
END_TEST

/* All at once: as many entries as threads, until they come back, in another order. */
START_TEST(test_all_at_once)
{
	const struct switches_limits all = ALL;
	struct row row;
	uint32_t id;

	begin(&all);
	for (id = 1; id <= THREADS; id++) {
		struct who w;

		must(!switches_out(s, leaves(&w, id, id, (char)('a' + id % LETTERS))));
	}
	ck_assert_uint_eq(switches_nr_open(s), THREADS);
	for (id = 1; id <= THREADS; id += 2)
		must(!switches_in(s, id, id + 3, to));
	for (id = 2; id <= THREADS; id += 2)
		must(!switches_in(s, id, id + 3, to));
	ck_assert_uint_eq(switches_nr_open(s), 0);
	ck_assert_uint_eq(rows_nr(to), LETTERS);
	ck_assert_uint_eq(rows_total(to), 3 * THREADS);
	for (id = 0; id < LETTERS; id++) {
		rows_get(to, id, &row);
		ck_assert_uint_eq(row.times, THREADS / LETTERS);
	}
	assert_balanced("all at once");
	ck_assert_uint_eq(stats.intervals_charged, THREADS);
	end();
}
END_TEST

START_TEST(test_nothing)
{
	switches_free(NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("switches");
	TCase *t = tcase_create("switches");

	tcase_add_loop_test(t, test_walk, 0, 2 * ARRAY_SIZE(walks));
	tcase_add_test(t, test_exited_are_bounded);
	tcase_add_test(t, test_open);
	tcase_add_test(t, test_sets);
	tcase_add_loop_test(t, test_reference, 0, 3);
	tcase_add_loop_test(t, test_come_and_go, 0, 4);
	tcase_add_loop_test(t, test_stay, 0, 4);
	tcase_add_test(t, test_all_at_once);
	tcase_add_test(t, test_nothing);
	tcase_set_timeout(t, 120);
	suite_add_tcase(suite, t);
	return unit_main(suite);
}
