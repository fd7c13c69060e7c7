// SPDX-License-Identifier: Apache-2.0
/* How the reader of the rings begins a run. No ring is mapped: all are empty. */
#include "backend-perfring/ring/rings.h"
#include "core/tasks/command.h"
#include "tests/unit/failing_memory.h"
#include "tests/unit/rig.h"

static char *dir;
static struct host host;
static struct rig rig;
static struct event_place place;
static struct err err;
static struct source *source;

static void setup(void)
{
	dir = unit_tmpdir();
	host = unit_host(dir);
	err = (struct err){ 0 };
}

static void teardown(void)
{
	unit_rmdir(dir);
}

static void make_rig(struct request request)
{
	request.host = &host;
	rig_make(&rig, request);
	rig.events.places = &place;
	rig.events.nr_places = 1;
	rig.events.apart = true;
	place = rig_place();
	rig.sink.tasks = tasks_new(request.command ? NULL : &host);
	ck_assert_ptr_nonnull(rig.sink.tasks);
}

static void open_source(struct request request)
{
	make_rig(request);
	ck_assert_msg(!source_rings.open(&source, &rig.env, &err), "%s", err.msg);
}

static void close_source(void)
{
	source_rings.close(source);
	tasks_free(rig.sink.tasks);
}

/* A command has the namespace of its parent, and no record tells of that. It is read if a filter needs it. */
START_TEST(test_command)
{
	static char *argv[] = { (char *)"true", NULL };
	struct command *command = command_start(argv, &err);
	char name[128], path[4096];
	pid_t pid;

	ck_assert_msg(command, "%s", err.msg);
	pid = command_pid(command);
	snprintf(name, sizeof(name), "proc/%d/task/%d/ns/net", pid, pid);
	unit_write(dir, name, "", 0);
	snprintf(path, sizeof(path), "%s/proc/%d/task/%d/ns/mnt", dir, pid, pid);
	ck_assert_int_eq(symlink("mnt:[7]", path), 0);
	open_source((struct request){ .command = command, .filter.mntns = _i ? 5 : 0 });
	ck_assert_msg(!source_rings.start(source, &err), "%s", err.msg);
	ck_assert_uint_eq(tasks_mntns(rig.sink.tasks, pid, pid), _i ? 7 : 0);
	close_source();
	command_free(command);
}
END_TEST

/* Without a command, the names of all threads are read at the start: a later name has a record. */
START_TEST(test_names)
{
	char comm[COMM_LEN];

	unit_write(dir, "proc/500/task/500/comm", "first\n", 6);
	unit_write(dir, "proc/500/task/501/comm", "early\n", 6);
	open_source((struct request){ 0 });
	ck_assert_msg(!source_rings.start(source, &err), "%s", err.msg);
	unit_write(dir, "proc/500/task/501/comm", "later\n", 6);
	tasks_name(rig.sink.tasks, 500, 501, comm);
	ck_assert_str_eq(comm, "early");
	close_source();
}
END_TEST

/*
 * After records were lost, the names of all threads that live are read again. Before 4.1, which has no use_clockid,
 * they are not.
 */
START_TEST(test_refresh)
{
	static const char lives[] = "501 (x) S 1 1 1 0 -1 0 0", dead[] = "502 (x) Z 1 1 1 0 -1 0 0";
	char comm[COMM_LEN];
	int i;

	unit_write(dir, "proc/500/task/500/comm", "first\n", 6);
	unit_write(dir, "proc/500/task/501/comm", "early\n", 6);
	unit_write(dir, "proc/500/task/502/comm", "early\n", 6);
	open_source((struct request){ 0 });
	rig.events.attrs[EVENT_SAMPLES].use_clockid = _i;
	ck_assert_msg(!source_rings.start(source, &err), "%s", err.msg);
	unit_write(dir, "proc/500/task/501/comm", "later\n", 6);
	unit_write(dir, "proc/500/task/501/stat", lives, strlen(lives));
	unit_write(dir, "proc/500/task/502/comm", "later\n", 6);
	unit_write(dir, "proc/500/task/502/stat", dead, strlen(dead));
	source->refresh = true;
	for (i = 0; i < 2; i++)
		ck_assert_msg(!source_rings.drain(source, &err), "%s", err.msg);
	ck_assert(!source->refresh);
	tasks_name(rig.sink.tasks, 500, 501, comm);
	ck_assert_str_eq(comm, _i ? "later" : "early");
	tasks_name(rig.sink.tasks, 500, 502, comm);
	ck_assert_str_eq(comm, "early");
	close_source();
}
END_TEST

/* Records that were lost before the run are not of this run. */
START_TEST(test_lost_before)
{
	struct stats stats = { 0 };

	open_source((struct request){ 0 });
	rig.events.attrs[EVENT_SAMPLES].read_format = PERF_FORMAT_LOST;
	place.samples = true;
	place.fd = rig_event(5, 12, 15);
	source->rings[0].lost = lost_now(source, 0);
	ck_assert_msg(!source_rings.start(source, &err), "%s", err.msg);
	source_rings.so_far(source, &stats);
	ck_assert_uint_eq(stats.lost_here, 0);
	ck_assert_int_eq(source_rings.detach(source, 0, &err), 0);
	source_rings.so_far(source, &stats);
	ck_assert_uint_eq(stats.lost_here, 3);
	source_rings.stats(source, &stats);
	ck_assert_uint_eq(stats.lost_records, 3);
	close_source();
	close(place.fd);
}
END_TEST

/* A run that needs all parts of the reader: if there is no memory for one of them, it does not begin. */
START_TEST(test_no_memory)
{
	bool failed;
	size_t nr = 0;
	int rc;

	make_rig((struct request){ .unwinds = true, .in_pidns = true });
	rig.files.host = &host;
	rig.events.switches = SWITCHES_BY_TRACEPOINT;
	do {
		err = (struct err){ 0 };
		memory_fail_after(nr++, _i);
		rc = source_rings.open(&source, &rig.env, &err);
		failed = memory_restore();
		ck_assert_msg(rc == (failed ? -ENOMEM : 0), "%zu: %d", nr, rc);
		ck_assert_int_eq(err.code, rc);
		source_rings.close(source);
	} while (failed);
	ck_assert_uint_gt(nr, 10);
	tasks_free(rig.sink.tasks);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("perfring");
	TCase *tc = tcase_create("perfring");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, test_command, 0, 2);
	tcase_add_test(tc, test_names);
	tcase_add_loop_test(tc, test_refresh, 0, 2);
	tcase_add_test(tc, test_lost_before);
	tcase_add_loop_test(tc, test_no_memory, 0, 2);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
