// SPDX-License-Identifier: Apache-2.0
/* Which exited processes a session keeps: those that a row of any table has, in this process or in the kernel. */
#include "core/session/forget.h"
#include "tests/row_key.h"
#include "tests/unit/unit.h"

enum { RUNS = 5, NOWHERE, IN_KERNEL, ENDED, COMPARED, RING_INTERVALS, INTERVALS, SAMPLES };

static struct session session;
static bool complete; /* the counter knows all of its processes */

static int counter_pids(struct counter *c, bool (*fn)(void *ctx, pid_t pid), void *ctx)
{
	(void)c;
	fn(ctx, IN_KERNEL); /* false if the walk took long, which a busy host could cause here */
	return complete ? 0 : -EAGAIN;
}

static const struct counter_ops counter = { .pids = counter_pids };

static void add(struct rows *rows, pid_t pid)
{
	static const struct stack none = { .state = STACK_NONE };

	ck_assert_int_eq(row_add(rows, "comm", pid, &none, &none, 1, 1), 0);
}

static void setup(void)
{
	static const struct mapped_file file = { .path = "/bin/x", 8, 1, 77 };
	static const struct mapping m = { 0x1000, 0x2000, 0, &file };
	static const struct filter any;
	struct row_set *set = session.sink.sets;
	pid_t pid;

	session = (struct session){ .sink.tasks = tasks_new(NULL) };
	set[0] = (struct row_set){ .samples = rows_new(),
				   .intervals = rows_new(),
				   .compare = compare_new(&any),
				   .ring_intervals = rows_new() };
	set[1].samples = rows_new();
	ck_assert(session.sink.tasks && set[0].samples && set[0].intervals && set[0].compare && set[0].ring_intervals &&
		  set[1].samples);
	for (pid = RUNS; pid <= SAMPLES; pid++) {
		ck_assert_int_eq(tasks_mmap(session.sink.tasks, pid, &m), 0);
		ck_assert_int_eq(pid == RUNS ? 0 : tasks_exit(session.sink.tasks, pid, pid), 0);
	}
	add(set[0].samples, SAMPLES);
	add(set[0].intervals, INTERVALS);
	add(set[0].ring_intervals, RING_INTERVALS);
	add(compare_rows(set[0].compare), COMPARED);
	add(set[1].samples, ENDED);
	complete = true;
}

static void teardown(void)
{
	sink_release(&session.sink);
}

static bool has(pid_t pid)
{
	struct mapping found;

	return tasks_find(session.sink.tasks, pid, "", 0, 0x1800, &found) == 1;
}

/* All but NOWHERE and @but are kept. */
static void check_kept(pid_t but)
{
	pid_t pid;

	for (pid = RUNS; pid <= SAMPLES; pid++)
		ck_assert_msg(has(pid) == (pid != but && pid != NOWHERE), "%d", pid);
}

START_TEST(test_without_counter)
{
	forget_tasks(&session);
	check_kept(IN_KERNEL);
}
END_TEST

START_TEST(test_counter)
{
	session.env.counters[0].ops = &counter;
	session.env.nr_counters = 1;
	forget_tasks(&session);
	check_kept(NOWHERE);
}
END_TEST

/* All are kept if it is not known which ones the kernel has counted. */
START_TEST(test_incomplete)
{
	session.env.counters[0].ops = &counter;
	session.env.nr_counters = 1;
	complete = false;
	forget_tasks(&session);
	ck_assert(has(NOWHERE) && has(IN_KERNEL) && has(SAMPLES));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("forget");
	TCase *tc = tcase_create("forget");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_without_counter);
	tcase_add_test(tc, test_counter);
	tcase_add_test(tc, test_incomplete);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
