// SPDX-License-Identifier: Apache-2.0
#include "core/base/clock.h"
#include "core/tasks/descendants.h"
#include "tests/unit/unit.h"

#include <limits.h>

#define ROOT 10

static struct descendants *d;

/* The answers that the listener got and keeps. */
static struct {
	pid_t pid;
	enum descent what;
} kept[16];
static size_t nr_kept, room;
static unsigned int calls;

static bool keep(void *ctx, pid_t pid, enum descent what)
{
	size_t i;

	ck_assert_ptr_eq(ctx, kept);
	calls++;
	for (i = 0; i < nr_kept && kept[i].pid != pid; i++)
		;
	if (what == DESCENT_UNKNOWN) {
		ck_assert_uint_lt(i, nr_kept);
		kept[i] = kept[--nr_kept];
		return true;
	}
	ck_assert_uint_eq(i, nr_kept); /* once */
	if (nr_kept >= room)
		return false;
	kept[nr_kept].pid = pid;
	kept[nr_kept++].what = what;
	return true;
}

static enum descent kept_of(pid_t pid)
{
	size_t i;

	for (i = 0; i < nr_kept; i++)
		if (kept[i].pid == pid)
			return kept[i].what;
	return DESCENT_UNKNOWN;
}

static void setup(void)
{
	d = descendants_new(ROOT);
	ck_assert_ptr_nonnull(d);
	nr_kept = 0;
	room = ARRAY_SIZE(kept);
	calls = 0;
}

static void teardown(void)
{
	descendants_free(d);
}

enum what { NONE, EXEC, FORK, EXIT, IN, OUT };

struct step {
	enum what what;
	pid_t pid, other; /* FORK: its parent; EXIT: its thread */
};

static void walk(const char *name, const struct step *s)
{
	for (; s->what; s++) {
		if (s->what == EXEC)
			ck_assert_int_eq(descendants_exec(d, s->pid), 0);
		else if (s->what == FORK)
			ck_assert_int_eq(descendants_fork(d, s->pid, s->other), 0);
		else if (s->what == EXIT)
			descendants_exit(d, s->pid, s->other);
		else
			ck_assert_msg(descendants_has(d, s->pid) == (s->what == IN), "%s: %d", name, s->pid);
	}
}

static const struct {
	const char *name;
	struct step steps[14];
} walks[] = {
	{ "nothing yet", { { OUT, 10 }, { OUT, 11 }, { OUT, 0 }, { OUT, -1 }, { OUT, INT_MIN }, { OUT, INT_MAX } } },
	{ "its exec", { { EXEC, 10 }, { IN, 10 }, { OUT, 11 }, { OUT, 1 } } },
	{ "another exec",
	  { { EXEC, 11 }, { OUT, 11 }, { OUT, 10 }, { EXEC, 10 }, { IN, 10 }, { EXEC, 10 }, { IN, 10 } } },
	{ "made before", { { FORK, 11, 10 }, { OUT, 11 }, { EXEC, 10 }, { OUT, 11 }, { FORK, 12, 11 }, { OUT, 12 } } },
	{ "made after",
	  { { EXEC, 10 }, { FORK, 11, 10 }, { IN, 11 }, { FORK, 12, 11 }, { IN, 12 }, { EXEC, 12 }, { IN, 12 } } },
	{ "of others", { { EXEC, 10 }, { FORK, 21, 20 }, { OUT, 21 }, { FORK, 22, 21 }, { OUT, 22 }, { OUT, 20 } } },
	{ "its parent", { { EXEC, 10 }, { FORK, 10, 9 }, { OUT, 9 } } },
	{ "orphans",
	  { { EXEC, 10 },
	    { FORK, 11, 10 },
	    { FORK, 12, 11 },
	    { EXIT, 11, 11 },
	    { IN, 12 },
	    { FORK, 13, 12 },
	    { IN, 13 } } },
	{ "of the root, too",
	  { { EXEC, 10 }, { FORK, 11, 10 }, { EXIT, 10, 10 }, { IN, 11 }, { FORK, 12, 11 }, { IN, 12 }, { IN, 10 } } },
	{ "its last samples",
	  { { EXEC, 10 }, { FORK, 11, 10 }, { EXIT, 11, 11 }, { IN, 11 }, { EXIT, 11, 11 }, { IN, 11 } } },
	{ "a pid of another",
	  { { EXEC, 10 },
	    { FORK, 11, 10 },
	    { EXIT, 11, 11 },
	    { FORK, 11, 20 },
	    { OUT, 11 },
	    { FORK, 12, 11 },
	    { OUT, 12 } } },
	{ "a pid of another process, whose end was not recorded",
	  { { EXEC, 10 }, { FORK, 11, 10 }, { FORK, 11, 20 }, { OUT, 11 }, { EXIT, 11, 11 }, { OUT, 11 } } },
	{ "a pid again", { { EXEC, 10 }, { FORK, 11, 10 }, { EXIT, 11, 11 }, { FORK, 11, 10 }, { IN, 11 } } },
	{ "the root's pid again",
	  { { EXEC, 10 }, { EXIT, 10, 10 }, { FORK, 10, 20 }, { OUT, 10 }, { EXEC, 10 }, { OUT, 10 } } },
	{ "a child of another process",
	  { { FORK, 11, 20 }, { EXEC, 10 }, { EXIT, 11, 11 }, { FORK, 11, 10 }, { IN, 11 } } },
	{ "threads are no processes", { { EXEC, 10 }, { FORK, 10, 10 }, { IN, 10 }, { FORK, 20, 20 }, { OUT, 20 } } },
	{ "threads end",
	  { { EXEC, 10 }, { FORK, 10, 10 }, { EXIT, 10, 15 }, { IN, 10 }, { FORK, 11, 10 }, { IN, 11 } } },
	{ "the first thread ends",
	  { { EXEC, 10 },
	    { FORK, 10, 10 },
	    { EXIT, 10, 10 },
	    { IN, 10 },
	    { FORK, 11, 10 },
	    { IN, 11 },
	    { EXIT, 10, 15 },
	    { IN, 10 } } },
	{ "another executes",
	  { { EXEC, 10 },
	    { FORK, 10, 10 },
	    { EXIT, 10, 10 },
	    { EXEC, 10 },
	    { IN, 10 },
	    { EXIT, 10, 10 },
	    { IN, 10 },
	    { FORK, 10, 20 },
	    { OUT, 10 } } },
	{ "of nobody",
	  { { EXIT, 11, 11 },
	    { EXIT, 0, 0 },
	    { EXIT, -1, -1 },
	    { FORK, 0, 0 },
	    { FORK, 12, 0 },
	    { OUT, 12 },
	    { OUT, 0 } } },
	{ "its own parent", { { EXEC, 10 }, { FORK, 11, 11 }, { OUT, 11 } } },
};

START_TEST(test_walk)
{
	walk(walks[_i].name, walks[_i].steps);
}
END_TEST

/* The results are the same as without a listener, however many answers it can keep. */
START_TEST(test_walk_telling)
{
	const struct step *s;

	descendants_tell(d, keep, kept);
	room = _i % 2 ? 1 : ARRAY_SIZE(kept);
	for (s = walks[_i / 2].steps; s->what; s++) {
		walk(walks[_i / 2].name, (const struct step[]){ *s, { NONE } });
		if (s->what == IN || s->what == OUT)
			ck_assert_int_eq(descendants_judge(d, s->pid), s->what == IN);
	}
}
END_TEST

/*
 * The listener is called when a process joins the tree or is judged; the answer is withdrawn when the process has
 * ended.
 */
START_TEST(test_told)
{
	descendants_tell(d, keep, kept);
	ck_assert(!descendants_judge(d, ROOT)); /* will join */
	ck_assert(!descendants_judge(d, 0));
	ck_assert(!descendants_judge(d, -1));
	ck_assert_uint_eq(calls, 0);
	descendants_exec(d, ROOT);
	ck_assert_int_eq(kept_of(ROOT), DESCENT_IN);
	descendants_fork(d, 11, ROOT);
	ck_assert_int_eq(kept_of(11), DESCENT_IN);
	descendants_fork(d, 20, 19);
	ck_assert_int_eq(kept_of(20), DESCENT_UNKNOWN);
	ck_assert(!descendants_judge(d, 20));
	ck_assert_int_eq(kept_of(20), DESCENT_OUT);
	ck_assert_uint_eq(calls, 3);
	/* one answer is enough */
	ck_assert(!descendants_judge(d, 20));
	ck_assert(descendants_judge(d, 11));
	ck_assert(descendants_judge(d, ROOT));
	ck_assert_uint_eq(calls, 3);
	descendants_exit(d, 11, 11);
	ck_assert_int_eq(kept_of(11), DESCENT_UNKNOWN);
	descendants_exit(d, 20, 21); /* one of its threads */
	ck_assert_int_eq(kept_of(20), DESCENT_OUT);
	descendants_exit(d, 20, 20);
	ck_assert_int_eq(kept_of(20), DESCENT_UNKNOWN);
	/* their last samples */
	ck_assert(descendants_judge(d, 11));
	ck_assert(!descendants_judge(d, 20));
	ck_assert_uint_eq(nr_kept, 1);
	/* other processes */
	descendants_fork(d, 20, ROOT);
	descendants_fork(d, 11, 19);
	ck_assert_int_eq(kept_of(20), DESCENT_IN);
	ck_assert_int_eq(kept_of(11), DESCENT_UNKNOWN);
	/* an end without record */
	descendants_fork(d, 20, 19);
	ck_assert_int_eq(kept_of(20), DESCENT_UNKNOWN);
	ck_assert_uint_eq(nr_kept, 1);
}
END_TEST

/* The answer is withdrawn when the last known thread of the process has ended. */
START_TEST(test_told_of_threads)
{
	descendants_tell(d, keep, kept);
	descendants_exec(d, ROOT);
	descendants_fork(d, ROOT, ROOT);
	descendants_fork(d, ROOT, ROOT);
	descendants_exit(d, ROOT, ROOT);
	descendants_exit(d, ROOT, 15);
	ck_assert_int_eq(kept_of(ROOT), DESCENT_IN);
	descendants_exit(d, ROOT, 16);
	ck_assert_int_eq(kept_of(ROOT), DESCENT_UNKNOWN);
	/* an exec in an unknown thread */
	ck_assert_int_eq(descendants_exec(d, ROOT), 0);
	ck_assert(descendants_judge(d, ROOT));
	ck_assert_int_eq(kept_of(ROOT), DESCENT_IN);
	descendants_exit(d, ROOT, 15);
	descendants_exit(d, ROOT, 16);
	ck_assert_int_eq(kept_of(ROOT), DESCENT_IN); /* the leader is alive */
	descendants_exit(d, ROOT, ROOT);
	ck_assert_uint_eq(nr_kept, 0);
}
END_TEST

/* Until an answer is withdrawn, it applies to any process that has the pid by then. */
START_TEST(test_reused)
{
	uint64_t before = now_ns();

	descendants_tell(d, keep, kept);
	descendants_exec(d, ROOT);
	descendants_fork(d, 11, ROOT);
	descendants_judge(d, 20);
	descendants_judge(d, 21);
	descendants_exit(d, 11, 11);
	descendants_exit(d, 20, 20);
	ck_assert(!descendants_reused(d, 11, before)); /* no other process has it */
	ck_assert(!descendants_reused(d, 20, before));
	ck_assert(!descendants_reused(d, 0, before));
	ck_assert(!descendants_reused(d, -1, before));
	descendants_fork(d, 11, 19);
	descendants_fork(d, 20, ROOT);
	descendants_fork(d, 21, ROOT); /* its end was not recorded */
	descendants_fork(d, 30, ROOT); /* a new process */
	ck_assert(descendants_reused(d, 11, before));
	ck_assert(descendants_reused(d, 20, before));
	ck_assert(descendants_reused(d, 21, before));
	ck_assert(!descendants_reused(d, 30, before));
	ck_assert(!descendants_reused(d, 11, now_ns() + NSEC_PER_SEC));
	ck_assert(!descendants_reused(d, 20, now_ns() + NSEC_PER_SEC));
	/* again, without a record of the first */
	descendants_fork(d, 11, ROOT);
	ck_assert(descendants_reused(d, 11, before));
	/* another one at the same place of the table */
	descendants_judge(d, 20 + 1024);
	descendants_fork(d, 20 + 1024, 19);
	ck_assert(descendants_reused(d, 20 + 1024, before));
	ck_assert(!descendants_reused(d, 20, before));
}
END_TEST

/* Without a kept answer, or without a listener, no pid counts as reused. */
START_TEST(test_reused_untold)
{
	uint64_t before = now_ns();

	room = 0;
	if (_i)
		descendants_tell(d, keep, kept);
	descendants_exec(d, ROOT);
	descendants_fork(d, 11, ROOT);
	descendants_judge(d, 20);
	descendants_exit(d, 11, 11);
	descendants_fork(d, 11, 19);
	descendants_fork(d, 20, ROOT);
	ck_assert(!descendants_reused(d, 11, before));
	ck_assert(!descendants_reused(d, 20, before));
}
END_TEST

/* A listener that could not keep an answer is called again. */
START_TEST(test_no_room)
{
	descendants_tell(d, keep, kept);
	room = 1;
	descendants_exec(d, ROOT);
	descendants_fork(d, 11, ROOT);
	ck_assert_int_eq(kept_of(11), DESCENT_UNKNOWN);
	ck_assert(descendants_judge(d, 11));
	ck_assert(!descendants_judge(d, 20));
	ck_assert_uint_eq(calls, 4);
	descendants_exit(d, ROOT, ROOT);
	ck_assert(!descendants_judge(d, 20));
	ck_assert_int_eq(kept_of(20), DESCENT_OUT);
	descendants_exit(d, 11, 11); /* no answer to withdraw */
	ck_assert_uint_eq(nr_kept, 1);
}
END_TEST

/* More processes end than are remembered: those that ended longest ago are forgotten, but never a living one. */
START_TEST(test_many)
{
	pid_t i, pid;

	descendants_tell(d, keep, kept);
	room = 0;
	descendants_exec(d, ROOT);
	descendants_fork(d, 11, ROOT);
	for (i = 0; i < 20000; i++) {
		pid = 1000 + i % 10000;
		descendants_fork(d, pid, i % 2 ? ROOT : 11);
		ck_assert(descendants_has(d, pid));
		if (i % 10000 == 7)
			continue; /* its end is not recorded: its pid has a new process later */
		descendants_exit(d, pid, pid);
		ck_assert(descendants_has(d, pid));
	}
	ck_assert(descendants_has(d, ROOT));
	ck_assert(descendants_has(d, 11));
	ck_assert(descendants_has(d, 1007));
	ck_assert(!descendants_has(d, 1008));
	for (i = 0; i < 8000; i++)
		ck_assert(descendants_has(d, 1000 + (19999 - i) % 10000));
}
END_TEST

/* A process that lives again under the pid of an ended one is not forgotten when that one would be. */
START_TEST(test_again)
{
	pid_t i;

	descendants_exec(d, ROOT);
	descendants_fork(d, 11, ROOT);
	descendants_exit(d, 11, 11);
	descendants_fork(d, 11, ROOT);
	descendants_fork(d, 12, ROOT);
	descendants_exit(d, 12, 12);
	descendants_exec(d, 12);
	for (i = 0; i < 10000; i++) {
		descendants_fork(d, 1000 + i, ROOT);
		descendants_exit(d, 1000 + i, 1000 + i);
	}
	ck_assert(descendants_has(d, 11));
	ck_assert(descendants_has(d, 12));
	ck_assert(!descendants_has(d, 1000));
}
END_TEST

START_TEST(test_nothing)
{
	descendants_free(NULL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("descendants");
	TCase *t = tcase_create("descendants");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, test_walk, 0, ARRAY_SIZE(walks));
	tcase_add_loop_test(t, test_walk_telling, 0, 2 * ARRAY_SIZE(walks));
	tcase_add_test(t, test_told);
	tcase_add_test(t, test_told_of_threads);
	tcase_add_test(t, test_reused);
	tcase_add_loop_test(t, test_reused_untold, 0, 2);
	tcase_add_test(t, test_no_room);
	tcase_add_test(t, test_many);
	tcase_add_test(t, test_again);
	tcase_add_test(t, test_nothing);
	suite_add_tcase(s, t);
	return unit_main(s);
}
