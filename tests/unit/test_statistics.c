// SPDX-License-Identifier: Apache-2.0
/* Samples that were due but not taken: the facts about them that come from a session. */
#include "core/cli/backends.h"
#include "core/host/event_types.h"
#include "core/session/state.h"
#include "core/session/statistics.h"
#include "core/tasks/command.h"
#include "tests/unit/unit.h"

#include <sys/resource.h>
#include <sys/wait.h>

#define MS  (1000 * 1000ULL)
#define SEC (1000 * MS)

/* 100 samples are due for 1 s. */
static struct session session;
static struct command *command;
static struct err why;

/* Instead of libc's: the command has used a second, a quarter of it in the kernel. */
pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
	*usage = (struct rusage){ .ru_utime.tv_usec = 750000, .ru_stime.tv_usec = 250000 };
	return waitpid(pid, status, options);
}

static void setup(void)
{
	session = (struct session){ .ways = ways_here };
	session.request.sampling = (struct sampling){ .event = event_default(), .freq_hz = 100 };
	why = (struct err){ 0 };
}

/* Run a command whose threads were followed, as far as the session knows. */
static void setup_command(void)
{
	static char *argv[] = { (char *)"true", NULL };

	setup();
	command = command_start(argv, &why);
	ck_assert_msg(command, "%s", why.msg);
	ck_assert_msg(!command_release(command, -1, &why), "%s", why.msg);
	ck_assert_int_eq(command_wait(command), 0);
	session.request.command = command;
	session.command_ns = SEC;
}

static void teardown_command(void)
{
	command_free(command);
}

#define OF_SECOND "the CPU time of the command, 1.00 s, is worth about 100 samples, of which "

START_TEST(test_command)
{
	const struct stats stats = { .taken = 7, .started = 60, .throttled = 2, .throttled_ns = 200 * MS };
	const struct shortfall total = { .times_known = true, .steal_ns = 200 * MS };

	session.events.nr_cpus = 2;
	ck_assert(session_command_shortfall(&session, &stats, &total, &why));
	ck_assert_msg(!strncmp(why.msg, OF_SECOND "7 were taken: ", strlen(OF_SECOND "7 were taken: ")), "%s", why.msg);
	ck_assert_msg(strstr(why.msg, "it started 60 threads and processes"), "%s", why.msg);
	ck_assert_msg(strstr(why.msg, "the kernel throttled the event 2 times"), "%s", why.msg);
	ck_assert_msg(strstr(why.msg, "the hypervisor stole 0.2 s of the CPUs' time"), "%s", why.msg);
	ck_assert_msg(strstr(why.msg, "it is not known why"), "%s", why.msg);
	/* The time was stolen from other CPUs. */
	session.events.nr_cpus = 100000;
	ck_assert(session_command_shortfall(&session, &stats, &total, &why));
	ck_assert_msg(!strstr(why.msg, "stole"), "%s", why.msg);
}
END_TEST

/* Events ran for a part of its time. */
START_TEST(test_unfollowed)
{
	const struct stats stats = { 0 };
	const struct shortfall total = { 0 };

	session.followed_known = true;
	session.followed_ns = SEC / 2;
	ck_assert(session_command_shortfall(&session, &stats, &total, &why));
	ck_assert_msg(strstr(why.msg, OF_SECOND "0 were taken: ") &&
			      strstr(why.msg, "let only 0.50 s of it be sampled"),
		      "%s", why.msg);
	session.followed_ns = SEC;
	ck_assert(session_command_shortfall(&session, &stats, &total, &why));
	ck_assert_msg(!strstr(why.msg, "let only"), "%s", why.msg);
}
END_TEST

/* It is not known how many samples were due. */
START_TEST(test_command_unknown)
{
	const struct stats stats = { .started = 60 };
	const struct shortfall total = { 0 };

	switch (_i) {
	case 0:
		session.request.sampling.event = NULL;
		break;
	case 1:
		session.request.sampling.event = event_find("page-faults");
		ck_assert_ptr_nonnull(session.request.sampling.event);
		break;
	case 2:
		session.request.filter.by_cpu = true;
		break;
	case 3: /* it did not end, or whole CPUs were sampled */
		session.command_ns = 0;
		break;
	}
	ck_assert(!session_command_shortfall(&session, &stats, &total, &why));
	ck_assert_str_eq(why.msg, "");
}
END_TEST

START_TEST(test_interval)
{
	const struct stats stats = { .taken = 150, .idle = 40, .throttled = 2, .throttled_ns = 3 * MS };
	struct shortfall out;

	session.shortfall = (struct shortfall){ .times_known = true, .steal_ns = 5, .max_rate_end = 6 };
	session.events.nr_cpus = 2;
	session.events.due_ns = 2 * SEC;
	session.events.offline_ns = 7;
	session.request.filter.idle = true;
	ck_assert(session_shortfall(&session, &stats, &out));
	ck_assert_uint_eq(out.period_ns, 10 * MS);
	ck_assert_uint_eq(out.nr_cpus, 2);
	ck_assert_uint_eq(out.due_ns, 2 * SEC);
	ck_assert_uint_eq(out.offline_ns, 7);
	ck_assert_uint_eq(out.taken, 150);
	ck_assert_uint_eq(out.idle_taken, 40);
	ck_assert_uint_eq(out.throttled, 2);
	ck_assert_uint_eq(out.throttled_ns, 3 * MS);
	ck_assert_uint_eq(out.steal_ns, 5);
	ck_assert_uint_eq(out.max_rate_end, 6);
	ck_assert(out.times_known && out.include_idle && !out.in_kernel);
}
END_TEST

/* It is not known how many samples are due in an interval. */
START_TEST(test_interval_unknown)
{
	static struct followed *const any = (struct followed *)&session;
	const struct stats stats = { .taken = 150 };
	struct shortfall out;

	session.events.offline_ns = 7;
	if (_i == 0)
		session.events.followed = any;
	else
		session.request.sampling.event = _i == 1 ? event_find("page-faults") : NULL;
	ck_assert_int_eq(session.request.sampling.event != NULL, _i != 2);
	ck_assert(!session_shortfall(&session, &stats, &out));
	ck_assert_uint_eq(out.offline_ns, 7);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("statistics");
	TCase *tc = tcase_create("interval");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, test_interval);
	tcase_add_loop_test(tc, test_interval_unknown, 0, 3);
	suite_add_tcase(s, tc);
	tc = tcase_create("command");
	tcase_add_checked_fixture(tc, setup_command, teardown_command);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, test_command);
	tcase_add_test(tc, test_unfollowed);
	tcase_add_loop_test(tc, test_command_unknown, 0, 4);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
