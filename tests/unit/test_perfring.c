// SPDX-License-Identifier: Apache-2.0
/* How the reader of the rings begins a run. No event is open: its rings are empty. */
#include "backend-perfring/ring/rings.h"
#include "core/tasks/command.h"
#include "tests/unit/failing_memory.h"
#include "tests/unit/rig.h"
#include "tests/unit/unit.h"

#include <sys/stat.h>

static struct rig rig;
static struct event_place place;
static struct err err;
static struct source *source;

static void make_rig(struct request request)
{
	rig_make(&rig, request);
	rig.events.places = &place;
	rig.events.nr_places = 1;
	rig.events.apart = true;
	place = (struct event_place){ .fd = -1, .notes = { { .fd = -1 }, { .fd = -1 } }, .side.fd = -1 };
	rig.sink.tasks = tasks_new(request.command ? NULL : request.host);
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
	struct stat ns;
	pid_t pid;

	ck_assert_msg(command, "%s", err.msg);
	ck_assert_int_eq(stat("/proc/self/ns/mnt", &ns), 0);
	pid = command_pid(command);
	open_source((struct request){ .host = &host_here, .command = command, .filter.mntns = _i ? 7 : 0 });
	ck_assert_msg(!source_rings.start(source, &err), "%s", err.msg);
	ck_assert_uint_eq(tasks_mntns(rig.sink.tasks, pid, pid), _i ? ns.st_ino : 0);
	close_source();
	command_free(command);
}
END_TEST

/* Without a command, the names of all threads are read at the start: a later name has a record. */
START_TEST(test_names)
{
	char *dir = unit_tmpdir();
	struct host host = unit_host(dir);
	char comm[COMM_LEN];

	unit_write(dir, "proc/500/task/500/comm", "first\n", 6);
	unit_write(dir, "proc/500/task/501/comm", "early\n", 6);
	open_source((struct request){ .host = &host });
	ck_assert_msg(!source_rings.start(source, &err), "%s", err.msg);
	unit_write(dir, "proc/500/task/501/comm", "later\n", 6);
	tasks_name(rig.sink.tasks, 500, 501, comm);
	ck_assert_str_eq(comm, "early");
	close_source();
	unit_rmdir(dir);
}
END_TEST

/* Records that were lost before the run are not of this run. */
START_TEST(test_lost_before)
{
	const struct event_counts reads[] = { { .lost = 5 }, { .lost = 12 }, { .lost = 15 } };
	struct stats stats = { 0 };
	FILE *event = tmpfile();

	ck_assert_ptr_nonnull(event);
	ck_assert_int_eq(write(fileno(event), reads, sizeof(reads)), sizeof(reads));
	ck_assert_int_eq(lseek(fileno(event), 0, SEEK_SET), 0);
	open_source((struct request){ .host = &host_here });
	rig.events.attrs[EVENT_SAMPLES].read_format = PERF_FORMAT_LOST;
	place.samples = true;
	place.fd = fileno(event);
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
	fclose(event);
}
END_TEST

/* A run that needs all parts of the reader: if there is no memory for one of them, it does not begin. */
START_TEST(test_no_memory)
{
	struct request request = { .host = &host_here, .unwinds = true, .in_pidns = true };
	bool failed;
	size_t nr = 0;
	int rc;

	make_rig(request);
	rig.files.host = &host_here;
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

	tcase_add_loop_test(tc, test_command, 0, 2);
	tcase_add_test(tc, test_names);
	tcase_add_test(tc, test_lost_before);
	tcase_add_loop_test(tc, test_no_memory, 0, 2);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
