// SPDX-License-Identifier: Apache-2.0
#include "core/base/hash.h"
#include "core/host/host.h"
#include "core/host/privileges.h"
#include "core/tasks/filter.h"
#include "core/tasks/proc.h"
#include "core/tasks/tasks.h"
#include "core/tasks/tasks_state.h"
#include "tests/unit/failing_memory.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/kcmp.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char *top;
static struct host host;
static struct tasks *tasks;

static void setup(void)
{
	top = unit_tmpdir();
	host = (struct host){ .proc = top, .sys = "/nowhere" };
	tasks = tasks_new(&host);
	ck_assert_ptr_nonnull(tasks);
}

static void teardown(void)
{
	tasks_free(tasks);
	unit_rmdir(top);
}

static void put(const char *name, const char *text)
{
	unit_write(top, name, text, strlen(text));
}

static void take_away(const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", top, name);
	ck_assert_int_eq(unlink(path), 0);
}

static void put_comm(pid_t pid, pid_t tid, const char *comm)
{
	char name[64];

	snprintf(name, sizeof(name), "%d/task/%d/comm", pid, tid);
	put(name, comm);
}

/* The kernel's strings are terminated, but a record's need not be. The buffer has no byte to spare. */
static void name(pid_t pid, pid_t tid, const char *comm, bool exec)
{
	char *copy = calloc(1, COMM_LEN);

	memcpy(copy, comm, strnlen(comm, COMM_LEN));
	ck_assert_int_eq(tasks_comm(tasks, pid, tid, copy, exec), 0);
	free(copy);
}

/* The same for a name from /proc. */
static void refresh(pid_t pid, pid_t tid, const char *comm)
{
	char *copy = calloc(1, COMM_LEN);

	memcpy(copy, comm, strnlen(comm, COMM_LEN));
	ck_assert_int_eq(tasks_refresh(tasks, pid, tid, copy), 0);
	free(copy);
}

static void fork_to(pid_t pid, pid_t tid, pid_t ppid, pid_t ptid)
{
	ck_assert_int_eq(tasks_fork(tasks, pid, tid, ppid, ptid, false), 0);
}

static void end(pid_t pid, pid_t tid)
{
	ck_assert_int_eq(tasks_exit(tasks, pid, tid), 0);
}

static uint64_t inode_of(const char *path)
{
	return hash_bytes(path, strlen(path), 0) >> 1 | 1;
}

static void map(pid_t pid, uint64_t start, uint64_t stop, const char *path)
{
	const struct mapped_file file = { .path = path, 8, 1, inode_of(path) };
	const struct mapping m = { start, stop, 0, &file };

	ck_assert_int_eq(tasks_mmap(tasks, pid, &m), 0);
}

static void check_name(pid_t pid, pid_t tid, const char *want)
{
	char comm[COMM_LEN + 1], padded[COMM_LEN] = "";

	memset(comm, '#', sizeof(comm));
	memcpy(padded, want, strnlen(want, COMM_LEN - 1));
	tasks_name(tasks, pid, tid, comm);
	ck_assert_msg(!memcmp(comm, padded, COMM_LEN), "%d of %d is '%.16s', not '%s'", tid, pid, comm, want);
	ck_assert_int_eq(comm[COMM_LEN], '#');
}

#define REUSED "?"

/* @path NULL: nothing is known of @addr; REUSED: it showed different files at unknown times. */
static void check_map(pid_t pid, const char *comm, uint64_t addr, const char *path)
{
	char padded[COMM_LEN] = "";
	struct mapping m = { 0 };

	memcpy(padded, comm, strnlen(comm, COMM_LEN - 1));
	ck_assert_int_eq(tasks_find(tasks, pid, padded, 0, addr, &m), !path                       ? 0
								      : strcmp(path, REUSED) != 0 ? 1
												  : -ESTALE);
	if (!path || !strcmp(path, REUSED))
		return;
	ck_assert_msg(!strcmp(m.file->path, path), "0x%llx of %s (%d) is in '%s', not in '%s'",
		      (unsigned long long)addr, comm, pid, m.file->path, path);
	ck_assert(m.start <= addr && addr < m.end);
}

/* The process shows @path at @addr now. */
static void check_now(pid_t pid, uint64_t addr, const char *path)
{
	struct mapping m;

	ck_assert_int_eq(tasks_find(tasks, pid, "", tasks_image(tasks, pid), addr, &m), 1);
	ck_assert_str_eq(m.file->path, path);
}

static bool list_mapping(void *ctx, const struct mapping *m)
{
	char *list = ctx;

	snprintf(list + strlen(list), 256 - strlen(list), "%s ", m->file->path);
	return strlen(list) < 16;
}

/* Check all paths mapped while a thread was called @comm; only the first ones if @comm is 16 bytes long. */
static void check_mapped(pid_t pid, const char *comm, const char *paths)
{
	char padded[COMM_LEN] = "", list[256] = "";

	memcpy(padded, comm, strnlen(comm, COMM_LEN - 1));
	tasks_each_mapped(tasks, pid, padded, list_mapping, list);
	ck_assert_str_eq(list, paths);
}

static bool keep_one(void *ctx, pid_t pid)
{
	return pid == *(pid_t *)ctx;
}

/* ---- names */

START_TEST(test_names)
{
	name(10, 10, "sh", true);
	check_name(10, 10, "sh");
	fork_to(11, 11, 10, 10);
	check_name(11, 11, "sh"); /* until a record names it */
	name(11, 11, "ls", true);
	check_name(11, 11, "ls");
	check_name(10, 10, "sh");
	name(10, 10, "bash", false);
	check_name(10, 10, "bash");
	check_name(11, 11, "ls");

	fork_to(11, 12, 11, 11); /* a thread */
	check_name(11, 12, "ls");
	name(11, 12, "worker", false);
	check_name(11, 12, "worker");
	check_name(11, 11, "ls");
	fork_to(13, 13, 11, 12); /* takes the name of the thread that forked it */
	check_name(13, 13, "worker");
	end(11, 11);
	end(11, 12);
	check_name(11, 12, "worker"); /* samples of it may still come */
	fork_to(11, 11, 10, 10);      /* the pid is used again */
	check_name(11, 11, "bash");
	fork_to(20, 12, 77, 77); /* the tid is used again, by the child of an unknown process */
	check_name(20, 12, ":12");
}
END_TEST

START_TEST(test_each_mapped)
{
	check_mapped(1, "sh", "");
	fork_to(1, 1, 0, 0);
	check_mapped(1, "sh", "");
	name(1, 1, "sh", true);
	check_mapped(1, "sh", "");
	map(1, 0x2000, 0x3000, "/lib");
	map(1, 0x1000, 0x2000, "/bin/sh");
	check_mapped(1, "sh", "/bin/sh /lib ");
	/* mappings of the program that began under the name, otherwise of the newest */
	name(1, 1, "awk", true);
	map(1, 0x1000, 0x2000, "/bin/awk");
	check_mapped(1, "sh", "/bin/sh /lib ");
	check_mapped(1, "awk", "/bin/awk ");
	check_mapped(1, "thread", "/bin/awk ");
	map(1, 0x5000, 0x6000, "/long");
	map(1, 0x6000, 0x7000, "/longer");
	map(1, 0x7000, 0x8000, "/more");
	check_mapped(1, "awk", "/bin/awk /long /longer ");
	end(1, 1);
	check_mapped(1, "sh", "/bin/sh /lib ");
	check_mapped(2, "sh", "");
}
END_TEST

static const struct {
	const char *given, *kept;
} lengths[] = {
	{ "", "" },
	{ "a", "a" },
	{ "fourteen chars", "fourteen chars" },
	{ "fifteen chars__", "fifteen chars__" },
	{ "sixteen chars___", "sixteen chars__" },
	{ "\n\t\x1b[31m", "\n\t\x1b[31m" },
	{ "\xff\xfe", "\xff\xfe" },
};

START_TEST(test_length)
{
	name(10, 10, lengths[_i].given, true);
	check_name(10, 10, lengths[_i].kept);
	map(10, 1, 2, "/a");
	map(11, 1, 2, "/b");
	name(10, 10, "other", true);
	map(10, 1, 2, "/c");
	check_map(10, lengths[_i].kept, 1, "/a");
	check_map(10, "other", 1, "/c");
}
END_TEST

/* A name without any event is read from /proc, once. */
START_TEST(test_unknown_names)
{
	check_name(30, 31, ":31");
	put_comm(30, 30, "leader\n");
	check_name(30, 31, "leader"); /* this thread is gone already */
	put_comm(30, 31, "thread\n");
	check_name(30, 31, "thread");
	put_comm(30, 30, "new name\n");
	put_comm(30, 31, "new name\n");
	check_name(30, 30, "leader"); /* only events change names */
	check_name(30, 31, "thread");
	name(30, 31, "event", false);
	check_name(30, 31, "event");

	put_comm(2, 50, "kworker/u8:2+flush-8:0\n");
	put("2/task/50/stat", "50 (kworker/u8:2+fl) I 2 0 0 0 -1 69238880 0\n");
	check_name(2, 50, "kworker/u8:2");
	check_name(-1, -1, ":-1");
	check_name(INT32_MIN, INT32_MIN, ":-2147483648");
	check_name(0, 0, ":0");
}
END_TEST

/* The parent existed before the first event. */
START_TEST(test_unknown_parent)
{
	put_comm(30, 30, "sh\n");
	put("30/maps", "1000-2000 r-xp 0 08:01 7 /bin/sh\n");
	fork_to(31, 31, 30, 30);
	check_name(31, 31, "sh");
	name(31, 31, "tool", true);
	map(31, 0x1000, 0x2000, "/bin/tool");
	check_map(31, "tool", 0x1000, "/bin/tool");
	check_map(31, "sh", 0x1000, "/bin/sh"); /* between fork and exec the child had this name, too */
}
END_TEST

START_TEST(test_snapshot)
{
	static const struct filter all = { 0 };

	name(30, 30, "from event", false);
	put_comm(30, 30, "from proc\n");
	put_comm(30, 31, "thread\n");
	put_comm(32, 32, "other\n");
	put("32/task/33/x", ""); /* it ended while the list was read */
	ck_assert_int_eq(tasks_snapshot(tasks, &all), 0);
	put_comm(30, 31, "late\n");
	put_comm(32, 32, "late\n");
	put_comm(32, 33, "late\n");
	check_name(30, 30, "from event");
	check_name(30, 31, "thread");
	check_name(32, 32, "other");
	check_name(32, 33, "late");
}
END_TEST

/* ---- mount namespaces */

static void put_mntns(int pid, int tid, const char *to)
{
	char name[64], path[512];

	snprintf(name, sizeof(name), "%d/task/%d/ns/net", pid, tid);
	put(name, "");
	snprintf(path, sizeof(path), "%s/%d/task/%d/ns/mnt", top, pid, tid);
	unlink(path);
	ck_assert_int_eq(symlink(to, path), 0);
}

/* The last record decides; without one, /proc is read once; otherwise it is unknown. */
START_TEST(test_mntns)
{
	static const struct filter any = { 0 }, one = { .mntns = 5 };

	put_comm(30, 30, "a\n");
	put_mntns(30, 30, "mnt:[5]");
	put_comm(30, 31, "b\n");
	put_mntns(30, 31, "mnt:[6]");
	ck_assert_int_eq(tasks_snapshot(tasks, &any), 0);
	put_mntns(30, 30, "mnt:[7]"); /* not read yet */
	ck_assert_uint_eq(tasks_mntns(tasks, 30, 30), 7);
	put_mntns(30, 30, "mnt:[8]");
	ck_assert_uint_eq(tasks_mntns(tasks, 30, 30), 7);
	ck_assert_int_eq(tasks_snapshot(tasks, &one), 0);
	put_mntns(30, 31, "mnt:[9]");
	ck_assert_uint_eq(tasks_mntns(tasks, 30, 31), 6);
	ck_assert_int_eq(tasks_namespaces(tasks, 30, 31, 10), 0);
	ck_assert_uint_eq(tasks_mntns(tasks, 30, 31), 10);
	check_name(30, 31, "b");
	ck_assert_uint_eq(tasks_mntns(tasks, 40, 40), 0);
	ck_assert_int_eq(tasks_namespaces(tasks, 40, 41, 11), 0);
	ck_assert_uint_eq(tasks_mntns(tasks, 40, 41), 11);
}
END_TEST

/* An unreadable namespace is not read again, but a record may name it. */
START_TEST(test_mntns_hidden)
{
	char path[512];

	put_comm(30, 30, "a\n");
	put_mntns(30, 30, "mnt:[5]");
	snprintf(path, sizeof(path), "%s/30/task/30/ns", top);
	ck_assert_int_eq(privileges_none(), 0);
	ck_assert_int_eq(chmod(path, 0), 0);
	ck_assert_uint_eq(tasks_mntns(tasks, 30, 30), 0);
	ck_assert(tasks_mntns_hidden(tasks, 30));
	ck_assert_int_eq(chmod(path, 0700), 0);
	ck_assert_uint_eq(tasks_mntns(tasks, 30, 30), 0);
	ck_assert_int_eq(tasks_namespaces(tasks, 30, 30, 6), 0);
	ck_assert_uint_eq(tasks_mntns(tasks, 30, 30), 6);
	ck_assert(!tasks_mntns_hidden(tasks, 30));
	ck_assert(!tasks_mntns_hidden(tasks, 31));
	/* a process that does not exist is not hidden */
	ck_assert_uint_eq(tasks_mntns(tasks, 40, 40), 0);
	ck_assert(!tasks_mntns_hidden(tasks, 40));
}
END_TEST

/*
 * A leader that ended before the first look has no namespaces in /proc. Its id is used again by the thread that
 * executes a program.
 */
START_TEST(test_mntns_of_group)
{
	put_comm(30, 30, "a\n");
	put_comm(30, 31, "b\n");
	put_mntns(30, 31, "mnt:[6]");
	ck_assert_int_eq(tasks_snapshot(tasks, &(struct filter){ .mntns = 6 }), 0);
	ck_assert_uint_eq(tasks_mntns(tasks, 30, 30), 6);
	name(40, 40, "c", false);
	name(40, 41, "d", false);
	ck_assert_int_eq(tasks_namespaces(tasks, 40, 41, 7), 0);
	name(40, 40, "e", true);
	ck_assert_uint_eq(tasks_mntns(tasks, 40, 40), 7);
	name(50, 50, "f", true);
	ck_assert_uint_eq(tasks_mntns(tasks, 50, 50), 0);
}
END_TEST

static void is_in_cgroup(pid_t pid, const char *comm, const char *want)
{
	const char *got = tasks_cgroup(tasks, pid, comm);

	if (want)
		ck_assert_msg(got && !strcmp(got, want), "%d: %s", pid, got ? got : "none");
	else
		ck_assert_msg(!got, "%d: %s", pid, got);
}

static void learn(pid_t pid)
{
	ck_assert_int_eq(tasks_learn(tasks, pid), 0);
}

START_TEST(test_cgroups)
{
	put("1/cgroup", "0::/init\n");
	put("2/cgroup", "0::/a\n");
	is_in_cgroup(1, "", NULL); /* cgroups are not kept */
	tasks_keep_cgroups(tasks);
	is_in_cgroup(1, "", "/init");
	is_in_cgroup(9, "", NULL);
	/* A process that ended before it had a sample belongs to the cgroup of its parent. */
	fork_to(3, 3, 2, 2);
	end(3, 3);
	is_in_cgroup(3, "", "/a");
	/* A process that was moved after its fork is in its own cgroup from its first sample on, even after its end. */
	fork_to(4, 4, 2, 2);
	put("4/cgroup", "0::/b\n");
	learn(4);
	put("4/cgroup", "0::/c\n");
	is_in_cgroup(4, "", "/b");
	end(4, 4);
	is_in_cgroup(4, "", "/b");
	is_in_cgroup(-1, "", NULL);
	is_in_cgroup(0, "", NULL);
}
END_TEST

START_TEST(test_cgroups_of_programs)
{
	tasks_keep_cgroups(tasks);
	put("2/cgroup", "0::/runtime\n");
	put("4/cgroup", "0::/runtime\n");
	fork_to(4, 4, 2, 2);
	learn(4);
	/* A container's process is moved, then executes its program. */
	put("4/cgroup", "0::/container\n");
	name(4, 4, "entry", true);
	is_in_cgroup(4, "entry", "/container");
	/* The process ends before a sample of its next program. */
	name(4, 4, "short", true);
	end(4, 4);
	put("4/cgroup", "0::/elsewhere\n");
	is_in_cgroup(4, "short", "/container");
	is_in_cgroup(4, "entry", "/container");
	/* The pid is used again. */
	fork_to(4, 4, 1, 1);
	name(4, 4, "other", true);
	is_in_cgroup(4, "other", "/elsewhere");
	is_in_cgroup(4, "entry", "/container");
	is_in_cgroup(4, "short", "/container");
}
END_TEST

START_TEST(test_cgroups_unknown)
{
	tasks_keep_cgroups(tasks);
	put("2/cgroup", "0::/a\n");
	learn(2);
	/* An unreadable cgroup does not fall back to the parent's. */
	fork_to(5, 5, 2, 2);
	put("5/cgroup/x", "");
	learn(5);
	is_in_cgroup(5, "", NULL);
	end(5, 5);
	is_in_cgroup(5, "", NULL);
	/* Two processes that are each other's parent. */
	fork_to(7, 7, 6, 6);
	fork_to(6, 6, 7, 7);
	end(6, 6);
	end(7, 7);
	is_in_cgroup(6, "", NULL);
}
END_TEST

/* All paths of cgroups together are limited. */
START_TEST(test_many_cgroups)
{
	char *text = malloc(100000), path[32];
	int i;

	tasks_keep_cgroups(tasks);
	put("2/cgroup", "0::/a\n");
	learn(2);
	memset(text, 'x', 100000);
	memcpy(text, "0::/", 4);
	text[99999] = 0;
	for (i = 100; i < 200; i++) {
		snprintf(path, sizeof(path), "%d/cgroup", i);
		snprintf(text + 4, 16, "%d", i);
		text[7] = 'x';
		put(path, text);
		fork_to(i, i, 2, 2);
		learn(i);
	}
	for (i = 100; i < 200; i++)
		ck_assert_int_eq(tasks_cgroup(tasks, i, "") != NULL, i < 184);
	is_in_cgroup(2, "", "/a");
	free(text);
}
END_TEST

/* A child begins in the namespace of its parent. A dead process keeps its namespace, and its pid starts again. */
START_TEST(test_mntns_of_child)
{
	name(30, 30, "parent", false);
	ck_assert_int_eq(tasks_namespaces(tasks, 30, 30, 5), 0);
	fork_to(31, 31, 30, 30);
	fork_to(30, 32, 30, 30);
	ck_assert_int_eq(tasks_namespaces(tasks, 30, 30, 6), 0);
	ck_assert_uint_eq(tasks_mntns(tasks, 31, 31), 5);
	ck_assert_uint_eq(tasks_mntns(tasks, 30, 32), 5);
	ck_assert_uint_eq(tasks_mntns(tasks, 30, 30), 6);
	put_mntns(31, 31, "mnt:[7]");
	ck_assert_int_eq(tasks_exit(tasks, 31, 31), 0);
	ck_assert_uint_eq(tasks_mntns(tasks, 31, 31), 5);
	fork_to(31, 31, 30, 30);
	ck_assert_uint_eq(tasks_mntns(tasks, 31, 31), 6);
	/* the parent is unknown */
	ck_assert_int_eq(tasks_exit(tasks, 31, 31), 0);
	fork_to(31, 31, 50, 50);
	ck_assert_uint_eq(tasks_mntns(tasks, 31, 31), 7);
}
END_TEST

static bool keep_none(void *ctx, pid_t pid)
{
	(void)ctx;
	(void)pid;
	return false;
}

static const pid_t wanted_ids[] = { 30, 33 };

/* Only the processes of the filter are read; others are found by their later name. */
static const struct {
	struct filter filter;
	const char *leader, *thread, *other, *other_thread;
} snapshots[] = {
	{ { wanted_ids, 1, false, false }, "leader", "thread", "late", "late" },
	{ { wanted_ids, 2, true, false }, "leader", "late", "late", "thread" },
	{ { wanted_ids + 1, 1, true, false }, "late", "late", "late", "thread" },
	{ { wanted_ids + 1, 1, false, false }, "late", "late", "late", "late" }, /* no process with this id exists */
};

START_TEST(test_snapshot_filtered)
{
	put_comm(30, 30, "leader\n");
	put_comm(30, 31, "thread\n");
	put_comm(32, 32, "other\n");
	put_comm(32, 33, "thread\n");
	put_comm(33, 33, "thread\n"); /* like /proc/TID, which exists though no directory lists it */
	if (!snapshots[_i].filter.by_tid)
		put("33/task/33/comm", "late\n");
	ck_assert_int_eq(tasks_snapshot(tasks, &snapshots[_i].filter), 0);
	put_comm(30, 30, "late\n");
	put_comm(30, 31, "late\n");
	put_comm(32, 32, "late\n");
	put_comm(32, 33, "late\n");
	check_name(30, 30, snapshots[_i].leader);
	check_name(30, 31, snapshots[_i].thread);
	check_name(32, 32, snapshots[_i].other);
	check_name(32, 33, snapshots[_i].other_thread);
}
END_TEST

/* Repeated mappings do not fill the memory: files that are no longer mapped are dropped. */
START_TEST(test_forget_files)
{
	char path[32];
	int i;

	name(10, 10, "maker", true);
	for (i = 0; i < 40000 && !tasks_forget_due(tasks); i++) {
		snprintf(path, sizeof(path), "/tmp/%d", i);
		map(10, 0x1000, 0x2000, path);
	}
	ck_assert_int_lt(i, 40000);
	tasks_forget(tasks, keep_none, NULL);
	ck_assert(!tasks_forget_due(tasks));
	check_now(10, 0x1000, path); /* the last one is still there */
	map(10, 0x1000, 0x2000, "/tmp/1");
	check_now(10, 0x1000, "/tmp/1");
}
END_TEST

static bool keep_all(void *ctx, pid_t pid)
{
	(void)ctx;
	(void)pid;
	return true;
}

/* Exited processes that rows need are not looked through again before as many others have exited. */
START_TEST(test_forget_exited)
{
	pid_t i;

	for (i = 0; i < 2 * TASKS_MAX_EXITED; i++) {
		ck_assert_int_eq(tasks_forget_due(tasks), i == TASKS_MAX_EXITED);
		if (i == TASKS_MAX_EXITED)
			tasks_forget(tasks, keep_all, NULL);
		name(1000 + i, 1000 + i, "brief", true);
		end(1000 + i, 1000 + i);
	}
	ck_assert(tasks_forget_due(tasks));
	tasks_forget(tasks, keep_none, NULL);
	ck_assert(!tasks_forget_due(tasks));
	check_name(1000, 1000, ":1000");
}
END_TEST

/* Names of dead threads are kept for a limited time: memory is limited. */
START_TEST(test_dead_threads)
{
	enum { KEPT = 1024, NR = 3 * KEPT };
	char comm[COMM_LEN];
	pid_t i;

	name(10, 10, "main", false);
	for (i = 0; i < NR; i++) {
		snprintf(comm, sizeof(comm), "t%d", i);
		fork_to(10, 1000 + i, 10, 10);
		name(10, 1000 + i, comm, false);
		end(10, 1000 + i);
		end(10, 1000 + i); /* a second EXIT does not count */
	}
	for (i = 0; i < NR; i++) {
		snprintf(comm, sizeof(comm), "t%d", i);
		check_name(10, 1000 + i, i < NR - KEPT ? "main" : comm);
	}
}
END_TEST

/* A thread that dies again under the same id is kept as long as any other. */
START_TEST(test_dead_again)
{
	enum { KEPT = 1024 };
	pid_t i;

	name(10, 10, "main", false);
	name(10, 500, "first life", false);
	end(10, 500);
	for (i = 0; i < KEPT - 2; i++) {
		fork_to(10, 1000 + i, 10, 10);
		end(10, 1000 + i);
	}
	name(10, 500, "second life", false);
	end(10, 500);
	fork_to(10, 3000, 10, 10);
	end(10, 3000); /* takes the entry of its first life */
	check_name(10, 500, "second life");
	for (i = 0; i < KEPT; i++) {
		fork_to(10, 4000 + i, 10, 10);
		end(10, 4000 + i);
	}
	check_name(10, 500, "main");
}
END_TEST

/* A living thread whose id is in the queue of dead threads is not forgotten. */
START_TEST(test_dead_reused)
{
	pid_t i;

	name(10, 10, "main", false);
	name(10, 500, "dead", false);
	end(10, 500);
	name(10, 501, "dead", false);
	end(10, 501);
	name(20, 500, "alive", false);
	fork_to(20, 501, 20, 500);
	for (i = 0; i < 3000; i++) {
		fork_to(10, 1000 + i, 10, 10);
		end(10, 1000 + i);
	}
	check_name(20, 500, "alive");
	check_name(20, 501, "alive");
}
END_TEST

/* ---- mappings */

START_TEST(test_mappings)
{
	name(10, 10, "a", true);
	map(10, 0x1000, 0x3000, "/bin/a");
	map(10, 0x2000, 0x4000, "/lib/l");
	map(10, 0x9000, 0x9000, "/empty");
	map(10, 0x9000, 0x8000, "/backwards");
	check_map(10, "a", 0xfff, NULL);
	check_map(10, "a", 0x1000, "/bin/a");
	check_map(10, "a", 0x1fff, "/bin/a");
	check_map(10, "a", 0x2000, REUSED);
	check_map(10, "a", 0x2fff, REUSED);
	check_map(10, "a", 0x3000, "/lib/l");
	check_map(10, "a", 0x3fff, "/lib/l");
	check_now(10, 0x2000, "/lib/l");
	check_map(10, "a", 0x4000, NULL);
	check_map(10, "a", 0x9000, NULL);
	check_map(10, "other", 0x1000, "/bin/a"); /* renamed since: the newest image that maps it */
	check_map(11, "a", 0x1000, NULL);
	check_map(-1, "a", 0x1000, NULL);
	check_map(0, "a", 0x1000, NULL);
}
END_TEST

/* Take the newest image that began under the name and maps the address, otherwise the newest that maps it. */
START_TEST(test_rule)
{
	name(10, 10, "a", true);
	map(10, 0x1000, 0x2000, "/a1");
	map(10, 0x5000, 0x6000, "/a1-only");
	name(10, 10, "b", true);
	map(10, 0x1000, 0x2000, "/b");
	map(10, 0x7000, 0x8000, "/b-only");
	name(10, 10, "a", true);
	map(10, 0x1000, 0x2000, "/a2");
	name(10, 10, "c", true);
	map(10, 0x1000, 0x2000, "/c");
	check_map(10, "a", 0x1000, REUSED); /* by both programs of that name */
	check_map(10, "a", 0x5000, "/a1-only");
	check_map(10, "a", 0x7000, "/b-only");
	check_map(10, "b", 0x1000, "/b");
	check_map(10, "b", 0x5000, "/a1-only");
	check_map(10, "c", 0x1000, "/c");
	check_map(10, "c", 0x7000, "/b-only");
	check_map(10, "d", 0x1000, "/c");
	check_map(10, "", 0x1000, "/c");
	check_map(10, "d", 0x3000, NULL);
	/* a new name without an exec begins no image */
	name(10, 10, "e", false);
	map(10, 0x1800, 0x2000, "/e");
	check_map(10, "e", 0x1000, "/c");
	check_map(10, "c", 0x1800, REUSED);
	check_map(10, "a", 0x1800, REUSED);
	check_now(10, 0x1800, "/e");
}
END_TEST

/* The image showed @path, as of check_map(), at @addr. */
static void check_image(pid_t pid, uint32_t image, uint64_t addr, const char *path)
{
	struct mapping m = { 0 };

	ck_assert_int_eq(tasks_find(tasks, pid, "a", image, addr, &m), strcmp(path, REUSED) != 0 ? 1 : -ESTALE);
	if (m.file)
		ck_assert_str_eq(m.file->path, path);
}

START_TEST(test_images)
{
	uint32_t first, second, third;

	ck_assert_uint_eq(tasks_image(tasks, 10), 0);
	name(10, 10, "a", true);
	map(10, 0x1000, 0x2000, "/bin/a");
	map(10, 0x5000, 0x6000, "/lib/red");
	first = tasks_image(tasks, 10);
	ck_assert_uint_ne(first, 0);
	map(10, 0x5000, 0x6000, "/lib/blue");
	second = tasks_image(tasks, 10);
	ck_assert_uint_ne(second, first);
	check_image(10, first, 0x5000, "/lib/red");
	check_image(10, second, 0x5000, "/lib/blue");
	check_image(10, 0, 0x5000, REUSED);
	check_image(10, first, 0x1000, "/bin/a");
	check_image(10, 0, 0x1000, "/bin/a");
	map(10, 0x8000, 0x9000, "/lib/more"); /* at a new place */
	ck_assert_uint_eq(tasks_image(tasks, 10), second);
	check_image(10, first, 0x8000, "/lib/more"); /* no other file was there */

	/* a process that loads them in turn has two images */
	map(10, 0x5000, 0x6000, "/lib/red");
	third = tasks_image(tasks, 10);
	map(10, 0x5000, 0x6000, "/lib/blue");
	ck_assert_uint_eq(tasks_image(tasks, 10), second);
	map(10, 0x5000, 0x6000, "/lib/red");
	ck_assert_uint_eq(tasks_image(tasks, 10), third);
	check_image(10, third, 0x5000, "/lib/red");
	check_image(10, second, 0x5000, "/lib/blue");

	/* so does a program that executes another build of itself */
	name(10, 10, "a", true);
	map(10, 0x1000, 0x2000, "/new/a");
	check_image(10, tasks_image(tasks, 10), 0x1000, "/new/a");
	check_image(10, first, 0x1000, "/bin/a");
	check_image(10, 0, 0x1000, REUSED);
}
END_TEST

/* Memory without a file, and a file that is mapped again unchanged, do not begin an image. */
START_TEST(test_same_image)
{
	uint32_t image;

	name(10, 10, "a", true);
	map(10, 0x5000, 0x6000, "//anon");
	map(10, 0x7000, 0x8000, "/lib/red");
	image = tasks_image(tasks, 10);
	map(10, 0x5000, 0x6000, "//anon");
	map(10, 0x4000, 0x5800, "[heap]");
	map(10, 0x7000, 0x8000, "/lib/red");
	ck_assert_uint_eq(tasks_image(tasks, 10), image);
	check_image(10, 0, 0x5000, "[heap]");
	check_image(10, 0, 0x5800, "//anon");
	map(10, 0x5000, 0x6000, "/lib/blue");
	ck_assert_uint_ne(tasks_image(tasks, 10), image);
	check_image(10, 0, 0x5000, REUSED);
}
END_TEST

/*
 * The loader maps a whole library, then its segments over it. That is one image, unless a sample or some time comes
 * between.
 */
static const struct {
	bool sampled, other;
	uint64_t after_ns;
	bool same;
} loads[] = { { false, false, 1000, true },
	      { false, false, 200 * 1000 * 1000, false },
	      { true, false, 1000, false },
	      { false, true, 1000, false } };

START_TEST(test_loading)
{
	struct mapped_file file = { .path = "/lib/red" };
	struct mapping m = { 0x5000, 0x9000, 0, &file };
	uint32_t image;

	name(10, 10, "a", true);
	tasks_at(tasks, 1000);
	ck_assert_int_eq(tasks_mmap(tasks, 10, &m), 0);
	if (loads[_i].sampled)
		ck_assert_int_eq(tasks_learn_sampled(tasks, 10), 0);
	if (loads[_i].other)
		map(10, 0x10000, 0x11000, "/lib/other");
	image = tasks_image(tasks, 10);
	tasks_at(tasks, 1000 + loads[_i].after_ns);
	m.start = 0x8000;
	m.pgoff = 0x2000;
	ck_assert_int_eq(tasks_mmap(tasks, 10, &m), 0);
	ck_assert_int_eq(tasks_image(tasks, 10) == image, loads[_i].same);
	check_image(10, 0, 0x8000, loads[_i].same ? "/lib/red" : REUSED);
}
END_TEST

/*
 * Samples that are all newer than @since do not belong to an image that had ended by then. No sample belongs to an
 * image that only existed for a moment.
 */
static const struct {
	uint64_t began, ended, since;
	const char *path;
} lives[] = {
	{ 1000, 100 * 1000 * 1000, 0, REUSED },
	{ 1000, 100 * 1000 * 1000, 100 * 1000 * 1000, REUSED },
	{ 1000, 100 * 1000 * 1000, 100 * 1000 * 1000 + 1, "/lib/blue" },
	{ 1000, 9 * 1000 * 1000, 0, "/lib/blue" },
};

START_TEST(test_lives)
{
	tasks_at(tasks, lives[_i].began);
	name(10, 10, "a", true);
	map(10, 0x5000, 0x6000, "/lib/red");
	tasks_at(tasks, lives[_i].ended);
	map(10, 0x5000, 0x6000, "/lib/blue");
	tasks_report(tasks, lives[_i].since);
	check_image(10, 0, 0x5000, lives[_i].path);
}
END_TEST

/* Mappings in quick succession begin one image, unless a sample comes between them. */
START_TEST(test_brief)
{
	uint32_t image;

	tasks_at(tasks, 1000);
	name(10, 10, "a", true);
	map(10, 0x5000, 0x6000, "/lib/red");
	tasks_at(tasks, 50 * 1000 * 1000);
	map(10, 0x5000, 0x6000, "/lib/blue");
	image = tasks_image(tasks, 10);
	tasks_at(tasks, 50 * 1000 * 1000 + 1000);
	if (_i)
		ck_assert_int_eq(tasks_learn_sampled(tasks, 10), 0);
	map(10, 0x5000, 0x6000, "/lib/green");
	ck_assert_int_eq(tasks_image(tasks, 10) == image, !_i);
	check_image(10, tasks_image(tasks, 10), 0x5000, "/lib/green");
	check_image(10, image, 0x5000, _i ? "/lib/blue" : "/lib/green");
}
END_TEST

/* A process that maps new files all the time has a limited number of images, and of lists of mappings. */
START_TEST(test_many_images)
{
	enum { NR = 2000, KEPT = 200 };
	uint32_t images[NR];
	char path[32];
	int i;

	name(10, 10, "a", true);
	for (i = 0; i < NR; i++) {
		snprintf(path, sizeof(path), "/lib/%d", i);
		map(10, 0x5000, 0x6000, path);
		images[i] = tasks_image(tasks, 10);
	}
	for (i = NR - KEPT; i < NR; i++) {
		snprintf(path, sizeof(path), "/lib/%d", i);
		check_image(10, images[i], 0x5000, path);
	}
	check_image(10, images[0], 0x5000, REUSED); /* the first image was dropped */
	check_image(10, 0, 0x5000, REUSED);
}
END_TEST

/* The memory has a copy, from 0x5400 to 0x5c00, of the code of the file that is next to it, or was there before. */
static struct {
	int rc;
	unsigned int asked;
	struct mapping near;
	struct mapped_file file;
} copies;

static int find_copy(void *ctx, pid_t pid, const struct mapping *m, const struct mapping *near, struct mapping *pieces,
		     size_t max)
{
	ck_assert_ptr_eq(ctx, &copies);
	ck_assert_int_eq(pid, 10);
	ck_assert_uint_gt(max, 0);
	ck_assert_uint_eq(m->start, 0x5000);
	copies.asked++;
	copies.near = *near;
	copies.file = *near->file;
	copies.file.path = !strcmp(near->file->path, "/bin/a") ? "/bin/a" : "/lib/red";
	copies.near.file = &copies.file;
	pieces[0] = (struct mapping){ 0x5400, 0x5c00, 0x1400, &copies.file };
	return copies.rc;
}

/* Expected paths, inside the copy and around it. */
static const struct {
	int rc;
	const char *inside, *around;
} copied[] = {
	{ 1, "/bin/a", "//anon" },
	{ 0, "//anon", "//anon" },
	{ -EPERM, "//anon", "//anon" },
};

START_TEST(test_copied)
{
	uint32_t before;

	memset(&copies, 0, sizeof(copies));
	copies.rc = copied[_i].rc;
	tasks_on_copied(tasks, find_copy, &copies);
	name(10, 10, "a", true);
	map(10, 0x1000, 0x2000, "/bin/a");
	map(10, 0x9000, 0xa000, "//anon"); /* no file was there */
	ck_assert_uint_eq(copies.asked, 0);
	map(10, 0x5000, 0x6000, "/bin/a");
	before = tasks_image(tasks, 10);
	map(10, 0x5000, 0x6000, "//anon");
	ck_assert_uint_eq(copies.asked, 1);
	ck_assert_uint_eq(copies.near.start, 0x5000);
	check_now(10, 0x5400, copied[_i].inside);
	check_now(10, 0x5bff, copied[_i].inside);
	check_now(10, 0x53ff, copied[_i].around);
	check_now(10, 0x5c00, copied[_i].around);
	check_image(10, before, 0x5400, "/bin/a");
}
END_TEST

/* In a list of mappings: the file before the memory is tried, then the one behind it. */
START_TEST(test_copied_before)
{
	memset(&copies, 0, sizeof(copies));
	copies.rc = _i == 1;
	tasks_on_copied(tasks, find_copy, &copies);
	put_comm(10, 10, "a\n");
	put("10/maps", "1000-2000 r--p 2000 08:01 7 /bin/a\n"
		       "5000-6000 r-xp 0 00:00 0 \n"
		       "7000-8000 r--p 3000 08:01 8 /lib/red\n"
		       "9000-a000 rw-p 0 00:00 0 \n");
	check_map(10, "a", 0x5400, _i == 1 ? "/bin/a" : "//anon");
	check_map(10, "a", 0x5000, "//anon");
	check_map(10, "a", 0x1000, NULL); /* it is not executable */
	ck_assert_uint_eq(copies.asked, _i == 1 ? 1 : 2);
	ck_assert_str_eq(copies.file.path, _i == 1 ? "/bin/a" : "/lib/red");
	ck_assert_uint_eq(copies.near.pgoff, _i == 1 ? 0x2000 : 0x3000);
}
END_TEST

/* A mapping for which there is no memory is not forgotten: the read fails, and the next one finds it. */
START_TEST(test_no_memory)
{
	bool failed = true;
	size_t nr;

	put_comm(10, 10, "a\n");
	put("10/maps", "1000-2000 r-xp 2000 08:01 7 /bin/a\n"
		       "5000-6000 r-xp 0 08:01 8 /lib/red\n");
	for (nr = 0; failed; nr++) {
		int rc;

		tasks_free(tasks);
		tasks = tasks_new(&host);
		ck_assert_ptr_nonnull(tasks);
		memory_fail_after(nr, false);
		rc = tasks_learn(tasks, 10);
		failed = memory_restore();
		ck_assert_int_eq(rc, rc && failed ? -ENOMEM : 0);
		if (rc)
			ck_assert_int_eq(tasks_learn(tasks, 10), 0);
		check_now(10, 0x1000, "/bin/a");
		check_now(10, 0x5000, "/lib/red");
	}
	ck_assert_uint_gt(nr, 5);
}
END_TEST

static int wait_for_end(void *fd)
{
	char c;

	return read(*(int *)fd, &c, 1) < 0;
}

static void put_real_stat(pid_t pid)
{
	char name[32], stat[1024];
	ssize_t len;

	snprintf(name, sizeof(name), "%d/stat", pid);
	len = host_read(host_here.proc, name, stat, sizeof(stat));
	ck_assert_int_gt(len, 0);
	unit_write(top, name, stat, (size_t)len);
}

/* valgrind refuses clone(2) with CLONE_VM. */
static bool can_share_memory(void)
{
	return !unit_below_valgrind();
}

/* The child ends when end_children() lets it. */
static pid_t clone_child(bool shares, int *fd)
{
	static char stacks[2][64 * 1024];
	static int nr;
	pid_t child = clone(wait_for_end, stacks[nr++ % 2] + sizeof(*stacks), (shares ? CLONE_VM : 0) | SIGCHLD, fd);

	ck_assert_int_gt(child, 0);
	ck_assert_int_eq(proc_share_memory(&host_here, child, getpid()), shares);
	put_real_stat(child);
	return child;
}

static void end_children(const int fds[2], size_t nr)
{
	ck_assert_int_eq(write(fds[1], "xx", nr), nr);
	while (nr--)
		ck_assert_int_gt(wait(NULL), 0);
	close(fds[0]);
	close(fds[1]);
}

/* Processes that have ended have no memory: they share none. */
START_TEST(test_memory_of_ended)
{
	pid_t children[2];
	siginfo_t info;
	int i, fds[2];

	if (!can_share_memory())
		return;
	ck_assert_int_eq(pipe(fds), 0);
	for (i = 0; i < 2; i++)
		children[i] = clone_child(i, &fds[0]);
	ck_assert_int_eq(write(fds[1], "xx", 2), 2);
	for (i = 0; i < 2; i++)
		ck_assert_int_eq(waitid(P_PID, (id_t)children[i], &info, WEXITED | WNOWAIT), 0);
	ck_assert_int_eq(syscall(SYS_kcmp, children[0], children[1], KCMP_VM, 0, 0), 0);
	ck_assert(!proc_share_memory(&host_here, children[0], children[1]));
	for (i = 0; i < 2; i++)
		ck_assert_int_eq(waitpid(children[i], NULL, 0), children[i]);
	close(fds[0]);
	close(fds[1]);
}
END_TEST

/* A process made with CLONE_VM also has mappings that its parent makes later, until it executes a program. */
START_TEST(test_shared_memory)
{
	pid_t parent = getpid(), child;
	int fds[2];

	if (_i && !can_share_memory())
		return;
	ck_assert_int_eq(pipe(fds), 0);
	child = clone_child(_i, &fds[0]);
	name(parent, parent, "a", true);
	map(parent, 0x1000, 0x2000, "/bin/a");
	fork_to(child, child, parent, parent);
	map(parent, 0x5000, 0x6000, "/lib/parent");
	map(child, 0x7000, 0x8000, "/lib/child");
	check_map(child, "a", 0x5000, _i ? "/lib/parent" : NULL);
	check_map(parent, "a", 0x7000, _i ? "/lib/child" : NULL);
	check_map(child, "a", 0x1000, "/bin/a");
	name(child, child, "b", true);
	map(parent, 0x9000, 0xa000, "/lib/more");
	check_map(child, "b", 0x9000, NULL);
	end_children(fds, 1);
}
END_TEST

/* The first child keeps the memory that its parent had before it executed a program, and shares nothing after that. */
START_TEST(test_shared_before)
{
	pid_t parent = getpid(), first, second;
	int fds[2];

	if (!can_share_memory())
		return;
	ck_assert_int_eq(pipe(fds), 0);
	first = clone_child(true, &fds[0]);
	second = clone_child(true, &fds[0]);
	name(parent, parent, "a", true);
	fork_to(first, first, parent, parent);
	name(parent, parent, "b", true);
	fork_to(second, second, parent, parent);
	map(parent, 0x5000, 0x6000, "/lib/b");
	check_map(second, "b", 0x5000, "/lib/b");
	check_map(first, "a", 0x5000, NULL);
	end_children(fds, 2);
}
END_TEST

/* A recording does not show which processes share their memory, but sampled code was mapped. */
START_TEST(test_recorded_memory)
{
	struct mapping m;

	tasks_free(tasks);
	tasks = tasks_new(NULL);
	name(10, 10, "a", true);
	fork_to(11, 11, 10, 10);
	fork_to(12, 12, 11, 11);
	map(10, 0x5000, 0x6000, "/lib/parent");
	check_map(11, "a", 0x5000, "/lib/parent");
	check_map(12, "a", 0x5000, "/lib/parent");
	ck_assert_int_eq(tasks_mapped(tasks, 12, 0x5000, &m), 1);
	name(12, 12, "b", true);
	check_map(12, "b", 0x5000, NULL);
	ck_assert_int_eq(tasks_mapped(tasks, 12, 0x5000, &m), 0);
}
END_TEST

START_TEST(test_fork)
{
	struct mapping parent, child;

	name(10, 10, "sh", true);
	map(10, 0x1000, 0x2000, "/bin/sh");
	fork_to(11, 11, 10, 10);
	check_map(11, "sh", 0x1000, "/bin/sh");
	map(11, 0x1000, 0x1800, "/child");
	map(11, 0x8000, 0x9000, "/child");
	check_map(11, "sh", 0x1000, REUSED);
	check_now(11, 0x1000, "/child");
	check_map(11, "sh", 0x1800, "/bin/sh");
	check_map(10, "sh", 0x1000, "/bin/sh");
	check_map(10, "sh", 0x8000, NULL);
	map(10, 0x1800, 0x2000, "/parent");
	check_map(11, "sh", 0x1800, "/bin/sh");
	fork_to(12, 12, 11, 11); /* a grandchild has the child's present mappings */
	check_map(12, "sh", 0x8000, "/child");
	end(10, 10);
	end(11, 11);
	tasks_forget(tasks, keep_none, NULL);
	check_map(12, "sh", 0x8000, "/child");
	check_map(12, "sh", 0x1800, "/bin/sh");

	/* a file is one object in all processes */
	map(20, 0x1000, 0x2000, "/lib");
	map(21, 0x5000, 0x6000, "/lib");
	ck_assert_int_eq(tasks_find(tasks, 20, "", 0, 0x1000, &parent), 1);
	ck_assert_int_eq(tasks_find(tasks, 21, "", 0, 0x5000, &child), 1);
	ck_assert_ptr_eq(parent.file, child.file);
}
END_TEST

/* Threads share mappings. A child's image begins under the name of the thread that forked it. */
START_TEST(test_thread_fork)
{
	name(10, 10, "main", true);
	map(10, 0x1000, 0x2000, "/main");
	fork_to(10, 11, 10, 10);
	name(10, 11, "pool", false);
	map(10, 0x5000, 0x6000, "/plugin");
	check_map(10, "pool", 0x5000, "/plugin");
	fork_to(20, 20, 10, 11);
	name(20, 20, "tool", true);
	map(20, 0x1000, 0x2000, "/tool");
	check_map(20, "pool", 0x1000, "/main");
	check_map(20, "main", 0x1000, "/tool"); /* no image of 20 began under that name */
	check_map(20, "tool", 0x5000, "/plugin");
}
END_TEST

START_TEST(test_pid_again)
{
	name(10, 10, "old", true);
	map(10, 0x1000, 0x2000, "/old");
	map(10, 0x5000, 0x6000, "/old-only");
	end(10, 10);
	name(1, 1, "init", true);
	map(1, 0x1000, 0x2000, "/init");
	fork_to(10, 10, 1, 1);
	check_name(10, 10, "init");
	check_map(10, "init", 0x1000, "/init");
	check_map(10, "old", 0x1000, "/old"); /* rows of the first process may still need it */
	check_map(10, "init", 0x5000, "/old-only");
	tasks_forget(tasks, keep_none, NULL);
	check_map(10, "init", 0x1000, "/init"); /* it is alive */
	end(10, 10);
	tasks_forget(tasks, keep_none, NULL);
	check_map(10, "init", 0x1000, NULL);
}
END_TEST

/* An endless chain of execs keeps the newest images. */
START_TEST(test_exec_chain)
{
	enum { NR = 10000, KEPT_AT_LEAST = 3584 };
	char comm[COMM_LEN], path[32];
	int i;

	for (i = 0; i < NR; i++) {
		snprintf(comm, sizeof(comm), "c%d", i);
		snprintf(path, sizeof(path), "/c%d", i % 100);
		name(10, 10, comm, true);
		map(10, 0x1000, 0x2000, path);
	}
	for (i = NR - KEPT_AT_LEAST; i < NR; i++) {
		snprintf(comm, sizeof(comm), "c%d", i);
		snprintf(path, sizeof(path), "/c%d", i % 100);
		check_map(10, comm, 0x1000, path);
	}
	check_map(10, "c0", 0x1000, "/c99"); /* that image is forgotten: use the newest */
}
END_TEST

/* Thousands of processes come and go with the same pids: only those with samples are kept, and little else. */
START_TEST(test_numbers_used_again)
{
	enum { PIDS = 2048, LIVES = 48, SAMPLED = 3, GONE = 8 };
	uint64_t start;
	pid_t pid;
	int life;

	for (life = 0; life < LIVES; life++) {
		for (pid = 10; pid < 10 + PIDS; pid++) {
			start = 0x10000ULL * (uint64_t)(1 + life);
			name(pid, pid, "job", true);
			map(pid, start, start + 0x1000, "/job");
			if (life % SAMPLED == 0)
				ck_assert_int_eq(tasks_learn_sampled(tasks, pid), 0);
			end(pid, pid);
		}
	}
	for (pid = 10; pid < 10 + PIDS; pid++)
		for (life = 0; life < LIVES; life++)
			if (life % SAMPLED == 0 || life < GONE)
				check_map(pid, "job", 0x10000ULL * (uint64_t)(1 + life),
					  life % SAMPLED == 0 ? "/job" : NULL);
}
END_TEST

START_TEST(test_forget)
{
	enum { NR = 500 };
	pid_t i, kept = 77;

	for (i = 1; i <= NR; i++) {
		name(i, i, "x", true);
		map(i, 0x1000, 0x2000, "/x");
		fork_to(i, 1000 + i, i, i);
	}
	for (i = 1; i <= NR; i++) {
		end(i, 1000 + i);
		if (i % 2 == 0) {
			end(i, i);
			end(i, i);
		}
	}
	kept = 78;
	tasks_forget(tasks, keep_one, &kept);
	for (i = 1; i <= NR; i++)
		check_map(i, "x", 0x1000, i % 2 || i == kept ? "/x" : NULL);
	tasks_forget(tasks, keep_none, NULL);
	tasks_forget(tasks, keep_none, NULL);
	check_map(kept, "x", 0x1000, NULL);
	check_map(77, "x", 0x1000, "/x");
	end(999999, 999999); /* an unknown thread */
}
END_TEST

/* ---- /proc/PID/maps */

START_TEST(test_learn)
{
	put_comm(30, 30, "old\n");
	put("30/maps", "1000-2000 r--p 0 08:01 7 /bin/data\n"
		       "2000-3000 r-xp 1000 08:01 7 /bin/code\n"
		       "3000-4000 rw-p 0 08:01 7 /bin/data\n"
		       "4000-5000 rwxp 0 00:00 0 \n"
		       "5000-6000 --xp 0 00:00 0 [vdso]\n"
		       "nonsense\n");
	check_map(30, "old", 0x1000, NULL);
	check_map(30, "old", 0x2000, "/bin/code");
	check_map(30, "old", 0x3000, NULL);
	check_map(30, "old", 0x4000, "//anon"); /* named as in MMAP records */
	check_map(30, "old", 0x5000, VDSO32);   /* below 4 GiB */

	/* once */
	put("30/maps", "1000-6000 r-xp 0 08:01 7 /late\n");
	ck_assert_int_eq(tasks_learn(tasks, 30), 0);
	check_map(30, "old", 0x2000, "/bin/code");
	check_map(30, "old", 0x1000, NULL);
	map(30, 0x2000, 0x3000, "/event");
	ck_assert_int_eq(tasks_learn(tasks, 30), 0);
	check_now(30, 0x2000, "/event");

	/* after an exec nothing is read from /proc, because events have everything */
	name(30, 30, "new", true);
	ck_assert_int_eq(tasks_learn(tasks, 30), 0);
	map(30, 0x2000, 0x3000, "/bin/new");
	check_map(30, "new", 0x2000, "/bin/new");
	check_map(30, "old", 0x2000, REUSED);
}
END_TEST

static int lines_left = -1; /* lines until memory runs out; -1: it never does */

/* Replaces libc's function, which optimized code calls for getline(3). */
ssize_t __getdelim(char **line, size_t *cap, int delim, FILE *f)
{
	if (!lines_left) {
		lines_left = -1;
		errno = ENOMEM;
		return -1;
	}
	lines_left -= lines_left > 0;
	return getdelim(line, cap, delim, f);
}

ssize_t getline(char **line, size_t *cap, FILE *f)
{
	return __getdelim(line, cap, '\n', f);
}

/* Memory runs out at line @_i: this is counted, and the next reading gets the missed lines. */
START_TEST(test_learn_again)
{
	put("30/maps", "1000-2000 r-xp 0 08:01 7 /one\n2000-3000 r-xp 0 08:01 8 /two\n");
	lines_left = _i;
	ck_assert_int_eq(tasks_learn(tasks, 30), -ENOMEM);
	ck_assert_uint_eq(tasks_unread(tasks), 1);
	check_map(30, "x", 0x1000, "/one");
	check_map(30, "x", 0x2000, "/two");
	ck_assert_uint_eq(tasks_unread(tasks), 1);
}
END_TEST

START_TEST(test_learn_absent)
{
	ck_assert_int_eq(tasks_learn(tasks, 40), 0);
	put("40/maps", "1000-2000 r-xp 0 08:01 7 /late\n");
	ck_assert_int_eq(tasks_learn(tasks, 40), 0); /* not read again at every sample */
	check_map(40, "x", 0x1000, NULL);
	put("0/maps", "1000-2000 r-xp 0 08:01 7 /idle\n");
	put("-1/maps", "1000-2000 r-xp 0 08:01 7 /nobody\n");
	ck_assert_int_eq(tasks_learn(tasks, 0), 0);
	ck_assert_int_eq(tasks_learn(tasks, -1), 0);
	check_map(0, "x", 0x1000, NULL);
	check_map(-1, "x", 0x1000, NULL);
}
END_TEST

/* The leader has ended, the other threads have not. */
static const struct {
	const char *name;
	const char *own; /* contents of the process's maps, NULL: no file */
	bool threads[3]; /* which of threads 51, 52, 53 have mappings */
	const char *path;
	pid_t shown;
} leaderless[] = {
	{ "the first thread has them", "1000-2000 r-xp 0 08:01 7 /own\n", { true }, "/own", 50 },
	{ "the first thread has them, without code", "1000-2000 r--p 0 08:01 7 /own\n", { true }, NULL, 50 },
	{ "the second thread has them", "", { true, true }, "/of51", 51 },
	{ "the last thread has them", "", { false, false, true }, "/of53", 53 },
	{ "no thread has any, like a kernel thread", "", { false }, NULL, 50 },
	{ "the process is gone", NULL, { true }, NULL, 50 },
};

START_TEST(test_learn_leaderless)
{
	char file[64], text[96];
	pid_t pids[4];
	int i;

	put_comm(50, 50, "x\n");
	if (leaderless[_i].own)
		put("50/maps", leaderless[_i].own);
	for (i = 51; i <= 53; i++) {
		put_comm(50, i, "x\n");
		snprintf(file, sizeof(file), "%d/maps", i);
		snprintf(text, sizeof(text), "1000-2000 r-xp 0 08:01 7 /of%d\n", i);
		put(file, leaderless[_i].threads[i - 51] ? text : "");
	}
	check_map(50, "x", 0x1000, leaderless[_i].path);
	ck_assert_uint_eq(tasks_lineage(tasks, 50, pids, ARRAY_SIZE(pids)), 1);
	ck_assert_int_eq(pids[0], leaderless[_i].shown);
	ck_assert_int_eq(pids[1], 0);
	name(50, 50, "new", true); /* the thread that called exec has this id now */
	tasks_lineage(tasks, 50, pids, ARRAY_SIZE(pids));
	ck_assert_int_eq(pids[0], 50);
}
END_TEST

/* Events of a process that existed before: it is still read, and the newer of the two wins. */
START_TEST(test_learn_after_event)
{
	char maps[256];

	put_comm(30, 30, "p\n");
	snprintf(maps, sizeof(maps),
		 "1000-2000 r-xp 0 08:01 7 /bin/p\n"
		 "5000-6000 r-xp 0 08:01 9 /lib/newer\n"
		 "8000-9000 r-xp 0 08:01 %" PRIu64 " /opened\n",
		 inode_of("/lib/opened"));
	put("30/maps", maps);
	map(30, 0x5000, 0x6000, "/lib/older");  /* the record of the newer one comes later */
	map(30, 0x8000, 0x9000, "/lib/opened"); /* in a chroot it has another path */
	check_map(30, "p", 0x1000, "/bin/p");
	check_map(30, "p", 0x5000, "/lib/older");
	check_now(30, 0x8000, "/opened");
	check_map(30, "p", 0x8000, "/opened");
}
END_TEST

/* The parent is read when it forks: the child may need its mappings, and the parent may end soon. */
START_TEST(test_learn_parent)
{
	put_comm(30, 30, "p\n");
	put("30/maps", "1000-2000 r-xp 0 08:01 7 /bin/p\n");
	put("31/maps", "1000-2000 r-xp 0 08:01 7 /wrong\n");
	fork_to(31, 31, 30, 30);
	put("30/maps", "");
	check_map(31, "p", 0x1000, "/bin/p");
	check_map(30, "p", 0x1000, "/bin/p");
	fork_to(33, 33, 32, 32); /* the parent is gone */
	check_map(33, "p", 0x1000, NULL);
	/* a thread's parent is its own process: nothing to read */
	put("34/maps", "1000-2000 r-xp 0 08:01 7 /early\n");
	fork_to(34, 35, 34, 34);
	put("34/maps", "1000-2000 r-xp 0 08:01 7 /now\n");
	check_map(34, "p", 0x1000, "/now");
}
END_TEST

/* ---- /proc is read later than the records are applied */

#define OLDER    1ULL       /* event time before anything that this test reads */
#define NEWER    UINT64_MAX /* event time after it */
#define NO_CLOCK 0ULL

enum known { NOTHING, FROM_PROC, FROM_EVENTS };
enum told { FORK, COMM, EXEC, MMAP, EXIT };

/*
 * Process 30 maps 0x1000-0x2000. Its data is from events ("ev", "/ev") or from /proc ("pr", "/pr"). Then one record
 * comes: FORK by 1 ("init", which maps "/init" at 0x9000 and from 0x1800 on), COMM "new" without or with exec (EXEC is
 * followed by an MMAP), MMAP of "/new" at 0x1000-0x1800, or EXIT. From then on, /proc shows "late" and "/late".
 * Expected: its name, and the paths at 0x1000 and at 0x1800 for its rows with the first name, and with the new one.
 */
static const struct {
	enum known known;
	enum told told;
	uint64_t at;
	const char *name, *old[2], *new[2];
} combinations[] = {
	/* Nothing is known: after a record that begins or ends it, nothing is read any more. */
	{ NOTHING, FORK, OLDER, "init", { NULL, "/init" }, { NULL, "/init" } },
	{ NOTHING, FORK, NEWER, "init", { NULL, "/init" }, { NULL, "/init" } },
	{ NOTHING, FORK, NO_CLOCK, "init", { NULL, "/init" }, { NULL, "/init" } },
	{ NOTHING, COMM, OLDER, "new", { "/late", "/late" }, { "/late", "/late" } },
	{ NOTHING, COMM, NEWER, "new", { "/late", "/late" }, { "/late", "/late" } },
	{ NOTHING, COMM, NO_CLOCK, "new", { "/late", "/late" }, { "/late", "/late" } },
	{ NOTHING, EXEC, OLDER, "new", { "/new", NULL }, { "/new", NULL } },
	{ NOTHING, EXEC, NEWER, "new", { "/new", NULL }, { "/new", NULL } },
	{ NOTHING, EXEC, NO_CLOCK, "new", { "/new", NULL }, { "/new", NULL } },
	{ NOTHING, MMAP, OLDER, "late", { "/new", NULL }, { "/new", NULL } },
	{ NOTHING, MMAP, NEWER, "late", { "/new", NULL }, { "/new", NULL } },
	{ NOTHING, MMAP, NO_CLOCK, "late", { "/new", NULL }, { "/new", NULL } },
	{ NOTHING, EXIT, OLDER, ":30", { NULL, NULL }, { NULL, NULL } },
	{ NOTHING, EXIT, NEWER, ":30", { NULL, NULL }, { NULL, NULL } },
	{ NOTHING, EXIT, NO_CLOCK, ":30", { NULL, NULL }, { NULL, NULL } },
	/* Read from /proc: void if a record that begins or ends it is older than that. */
	{ FROM_PROC, FORK, OLDER, "init", { NULL, "/init" }, { NULL, "/init" } },
	{ FROM_PROC, FORK, NEWER, "init", { "/pr", "/pr" }, { "/pr", "/init" } },
	{ FROM_PROC, FORK, NO_CLOCK, "pr", { "/pr", REUSED }, { "/pr", REUSED } },
	{ FROM_PROC, COMM, OLDER, "new", { "/pr", "/pr" }, { "/pr", "/pr" } },
	{ FROM_PROC, COMM, NEWER, "new", { "/pr", "/pr" }, { "/pr", "/pr" } },
	{ FROM_PROC, COMM, NO_CLOCK, "new", { "/pr", "/pr" }, { "/pr", "/pr" } },
	{ FROM_PROC, EXEC, OLDER, "new", { NULL, NULL }, { "/new", NULL } },
	{ FROM_PROC, EXEC, NEWER, "new", { "/pr", "/pr" }, { "/new", "/pr" } },
	{ FROM_PROC, EXEC, NO_CLOCK, "new", { "/pr", "/pr" }, { "/new", "/pr" } },
	{ FROM_PROC, MMAP, OLDER, "pr", { REUSED, "/pr" }, { REUSED, "/pr" } },
	{ FROM_PROC, MMAP, NEWER, "pr", { REUSED, "/pr" }, { REUSED, "/pr" } },
	{ FROM_PROC, MMAP, NO_CLOCK, "pr", { REUSED, "/pr" }, { REUSED, "/pr" } },
	{ FROM_PROC, EXIT, OLDER, "pr", { NULL, NULL }, { NULL, NULL } },
	{ FROM_PROC, EXIT, NEWER, "pr", { "/pr", "/pr" }, { "/pr", "/pr" } },
	{ FROM_PROC, EXIT, NO_CLOCK, "pr", { "/pr", "/pr" }, { "/pr", "/pr" } },
	/* Known from events: the records decide, whatever their times. */
	{ FROM_EVENTS, FORK, OLDER, "init", { "/ev", "/ev" }, { "/ev", "/init" } },
	{ FROM_EVENTS, FORK, NO_CLOCK, "init", { "/ev", "/ev" }, { "/ev", "/init" } },
	{ FROM_EVENTS, COMM, OLDER, "new", { "/ev", "/ev" }, { "/ev", "/ev" } },
	{ FROM_EVENTS, COMM, NO_CLOCK, "new", { "/ev", "/ev" }, { "/ev", "/ev" } },
	{ FROM_EVENTS, EXEC, OLDER, "new", { "/ev", "/ev" }, { "/new", "/ev" } },
	{ FROM_EVENTS, EXEC, NO_CLOCK, "new", { "/ev", "/ev" }, { "/new", "/ev" } },
	{ FROM_EVENTS, MMAP, OLDER, "ev", { REUSED, "/ev" }, { REUSED, "/ev" } },
	{ FROM_EVENTS, MMAP, NO_CLOCK, "ev", { REUSED, "/ev" }, { REUSED, "/ev" } },
	{ FROM_EVENTS, EXIT, OLDER, "ev", { "/ev", "/ev" }, { "/ev", "/ev" } },
	{ FROM_EVENTS, EXIT, NO_CLOCK, "ev", { "/ev", "/ev" }, { "/ev", "/ev" } },
};

static void know(enum known known)
{
	if (known == FROM_EVENTS) {
		name(30, 30, "ev", true);
		map(30, 0x1000, 0x2000, "/ev");
	} else if (known == FROM_PROC) {
		put_comm(30, 30, "pr\n");
		put("30/maps", "1000-2000 r-xp 0 08:01 7 /pr\n");
		check_name(30, 30, "pr");
		ck_assert_int_eq(tasks_learn(tasks, 30), 0);
	}
	put_comm(30, 30, "late\n");
	put("30/maps", "1000-2000 r-xp 0 08:01 8 /late\n");
}

static void tell(enum told told)
{
	if (told == FORK)
		fork_to(30, 30, 1, 1);
	if (told == COMM || told == EXEC)
		name(30, 30, "new", told == EXEC);
	if (told == EXEC || told == MMAP)
		map(30, 0x1000, 0x1800, "/new");
	if (told == EXIT)
		end(30, 30);
}

START_TEST(test_late_reading)
{
	static const char *const names[] = { "late", "pr", "ev" };
	const char *old = names[combinations[_i].known], *new = combinations[_i].told == FORK ? "init" : "new";

	name(1, 1, "init", true);
	map(1, 0x1800, 0x2000, "/init");
	map(1, 0x9000, 0xa000, "/init");
	know(combinations[_i].known);
	tasks_at(tasks, combinations[_i].at);
	tell(combinations[_i].told);
	check_name(30, 30, combinations[_i].name);
	check_map(30, old, 0x1000, combinations[_i].old[0]);
	check_map(30, old, 0x1800, combinations[_i].old[1]);
	check_map(30, new, 0x1000, combinations[_i].new[0]);
	check_map(30, new, 0x1800, combinations[_i].new[1]);
}
END_TEST

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Another process writes "maps" while it is read. Return: a time between its first line and its end. */
static uint64_t learn_from_pipe(pid_t pid)
{
	static const char line[] = "1000-2000 r-xp 0 08:01 7 /either\n";
	char path[512];
	int times[2], fd, status;
	uint64_t at;
	pid_t writer;

	snprintf(path, sizeof(path), "%s/%d/maps", top, pid);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(pipe(times), 0);
	writer = fork();
	ck_assert_int_ge(writer, 0);
	if (!writer) {
		fd = open(path, O_WRONLY | O_CLOEXEC); /* waits for the reader */
		at = write(fd, line, strlen(line)) == (ssize_t)strlen(line) ? now() : 0;
		_exit(write(times[1], &at, sizeof(at)) != sizeof(at));
	}
	ck_assert_int_eq(tasks_learn(tasks, pid), 0);
	ck_assert_int_eq(read(times[0], &at, sizeof(at)), sizeof(at));
	ck_assert_int_eq(waitpid(writer, &status, 0), writer);
	ck_assert(WIFEXITED(status) && !WEXITSTATUS(status));
	close(times[0]);
	close(times[1]);
	ck_assert_uint_ne(at, 0);
	return at;
}

/*
 * Process 30 ends, or calls exec. The record comes after its mappings were read anew, because others may have been
 * lost. @maps: what was read then; NULL: the process was gone. @path: at 0x1000, of its rows until then; NULL: the
 * reading may be of the new program, or of another process.
 */
static const struct {
	enum known known;
	const char *maps;
	enum told told;
	const char *path;
} anew[] = {
	{ FROM_PROC, NULL, EXIT, "/pr" },
	{ FROM_PROC, "", EXIT, "/pr" },
	{ FROM_PROC, "1000-2000 r-xp 0 08:01 7 /pr\n", EXIT, "/pr" },
	{ FROM_PROC, "1000-2000 r-xp 0 08:01 7 /pr\n", EXEC, "/pr" },
	{ FROM_PROC, "1000-2000 r-xp 0 08:01 7 /pr\n5000-6000 r-xp 0 08:01 9 /more\n", EXIT, NULL },
	{ FROM_PROC, "5000-6000 r-xp 0 08:01 9 /other\n", EXEC, NULL },
	{ FROM_PROC, "1000-2000 r--p 0 08:01 7 /pr\n5000-6000 r--p 0 08:01 9 /data\n", EXIT, "/pr" },
	{ FROM_PROC, "1000-1800 r-xp 0 08:01 7 /pr\n1800-2000 r-xp 800 08:01 7 /pr\n", EXIT, "/pr" },
	{ FROM_PROC, "1000-2800 r-xp 0 08:01 7 /pr\n", EXIT, NULL },
	{ FROM_PROC, "ffffffffff600000-ffffffffff601000 --xp 0 00:00 0 [vsyscall]\n", EXIT, "/pr" },
	{ FROM_EVENTS, NULL, EXIT, "/ev" },
	{ FROM_EVENTS, "5000-6000 r-xp 0 08:01 9 /other\n", EXIT, NULL },
};

START_TEST(test_read_anew)
{
	const char *name = anew[_i].known == FROM_PROC ? "pr" : "ev";
	uint64_t at;

	know(anew[_i].known);
	at = now();
	tasks_read_anew(tasks);
	take_away("30/maps");
	if (anew[_i].maps)
		put("30/maps", anew[_i].maps);
	ck_assert_int_eq(tasks_learn(tasks, 30), 0);
	tasks_at(tasks, at);
	tell(anew[_i].told);
	check_map(30, name, 0x1000, anew[_i].path);
}
END_TEST

/*
 * The first reading of process 30 failed, a later one does not: so its mappings are known, and its child has them.
 * @_i 0, 1: the later one fails, too, or finds nothing: then the child is read itself.
 */
START_TEST(test_read_anew_whole)
{
	char maps[100] = "";

	ck_assert_int_eq(tasks_learn(tasks, 30), 0);
	map(30, 0x1000, 0x2000, "/ev");
	if (_i == 2)
		snprintf(maps, sizeof(maps), "1000-2000 r-xp 0 08:01 %llu /ev\n", (unsigned long long)inode_of("/ev"));
	if (_i)
		put("30/maps", maps);
	tasks_read_anew(tasks);
	ck_assert_int_eq(tasks_learn(tasks, 30), 0);
	check_now(30, 0x1000, "/ev");
	fork_to(31, 31, 30, 30);
	put("31/maps", "3000-4000 r-xp 0 08:01 8 /own\n");
	check_map(31, "x", 0x3000, _i == 2 ? NULL : "/own");
}
END_TEST

/* Process 30 cannot be read anew. Its mappings are known from records, and those of its child, which ends soon. */
START_TEST(test_read_anew_unreadable)
{
	uint64_t at = now();

	know(FROM_EVENTS);
	take_away("30/maps");
	tasks_read_anew(tasks);
	ck_assert_int_eq(tasks_learn(tasks, 30), 0);
	fork_to(31, 31, 30, 30);
	ck_assert_int_eq(tasks_learn(tasks, 31), 0);
	tasks_at(tasks, at);
	end(31, 31);
	check_map(31, "ev", 0x1000, "/ev");
}
END_TEST

/*
 * Process 31 has the mappings of its parent 30, and is read anew. Then a record shows that those of 30 were read too
 * late. @_i 1: those of 31 were read as a whole: they are not in doubt. 0: it had ended: they are.
 */
START_TEST(test_read_anew_inherited)
{
	uint64_t at = now();

	know(FROM_PROC);
	fork_to(31, 31, 30, 30);
	put("31/maps", _i ? "1000-2000 r-xp 0 08:01 7 /pr\n" : "");
	tasks_read_anew(tasks);
	ck_assert_int_eq(tasks_learn(tasks, 31), 0);
	end(31, 31);
	tasks_at(tasks, at);
	tell(EXEC);
	check_map(31, "pr", 0x1000, _i ? "/pr" : NULL);
}
END_TEST

/*
 * An exec during the reading: it is unknown to which program the mappings belong. An exec after it: they belong to the
 * old program.
 */
START_TEST(test_exec_while_read)
{
	uint64_t at;

	put_comm(30, 30, "old\n");
	at = learn_from_pipe(30);
	tasks_at(tasks, _i ? now() : at);
	name(30, 30, "new", true);
	check_map(30, "old", 0x1000, _i ? "/either" : NULL);
	map(30, 0x1000, 0x2000, "/new");
	check_map(30, "new", 0x1000, "/new");
	check_map(30, "old", 0x1000, _i ? "/either" : NULL);
}
END_TEST

/* Mappings read from a parent are its children's, too, even if they turn out to belong to its next program. */
START_TEST(test_late_reading_inherited)
{
	put_comm(30, 30, "sh\n");
	put("30/maps", "1000-3000 r-xp 0 08:01 7 /bin/next\n");
	put("31/maps", "1000-3000 r-xp 0 08:01 8 /bin/sh\n");
	tasks_at(tasks, OLDER);
	fork_to(31, 31, 30, 30);
	check_map(31, "sh", 0x1000, "/bin/next");
	fork_to(32, 32, 31, 31);
	fork_to(33, 33, 31, 31);
	map(33, 0x2000, 0x3000, "/lib/before");
	tasks_at(tasks, OLDER + 1);
	name(30, 30, "next", true);
	map(30, 0x1000, 0x3000, "/bin/next");
	check_map(30, "sh", 0x1000, NULL);
	check_map(30, "next", 0x1000, "/bin/next");
	/* read themselves, because their mappings are unknown */
	check_map(31, "sh", 0x1000, "/bin/sh");
	map(32, 0x2000, 0x3000, "/lib/after");
	put("32/maps", "1000-2000 r-xp 0 08:01 8 /bin/sh\n");
	check_map(32, "sh", 0x1000, "/bin/sh");
	check_map(32, "sh", 0x2000, "/lib/after");
	check_map(33, "sh", 0x2000, NULL);
	/* their own execs do not invalidate the mappings of their parent */
	put("40/maps", "1000-3000 r-xp 0 08:01 7 /bin/parent\n");
	fork_to(41, 41, 40, 40);
	name(41, 41, "child", true);
	check_map(40, "", 0x1000, "/bin/parent");
	check_map(41, "", 0x1000, "/bin/parent");
	end(40, 40);
	check_map(40, "", 0x1000, NULL);
	fork_to(42, 42, 40, 40); /* by a parent that was read late, and is not read again */
	put("42/maps", "1000-3000 r-xp 0 08:01 7 /bin/42\n");
	check_map(42, "", 0x1000, "/bin/42");
}
END_TEST

/* Read after the process was born, executed a program and took another name, before any record of that was applied. */
START_TEST(test_late_reading_of_renamed)
{
	name(1, 1, "init", true);
	map(1, 0x9000, 0xa000, "/init");
	know(FROM_PROC);
	tasks_at(tasks, OLDER);
	fork_to(30, 30, 1, 1);
	name(30, 30, "program", true);
	map(30, 0x1000, 0x3000, "/bin/program");
	name(30, 30, "pr", false);
	check_map(30, "pr", 0x1000, "/bin/program");
	check_map(30, "program", 0x1000, "/bin/program");
	check_map(30, "pr", 0x3000, NULL);
}
END_TEST

/* An image that began with an event of an unknown process gets the name that is read with its mappings. */
START_TEST(test_late_reading_of_image)
{
	map(30, 0x5000, 0x6000, "/lib/told");
	know(FROM_PROC);
	tasks_at(tasks, OLDER);
	name(30, 30, "new", true);
	map(30, 0x1000, 0x6000, "/new");
	check_map(30, "pr", 0x1000, NULL);
	check_map(30, "pr", 0x5000, NULL); /* looks like the mappings read with it */
	check_map(30, "new", 0x1000, "/new");
}
END_TEST

/* An unreadable process is not read again after an exec. A child is read itself. */
START_TEST(test_unreadable)
{
	put_comm(30, 30, "old\n");
	ck_assert_int_eq(tasks_learn(tasks, 30), 0);
	map(30, 0x5000, 0x6000, "/lib/told");
	put("31/maps", "1000-2000 r-xp 0 08:01 7 /bin/old\n");
	fork_to(31, 31, 30, 30);
	map(31, 0x7000, 0x8000, "/lib/child");
	name(30, 30, "new", true);
	map(30, 0x1000, 0x2000, "/bin/new");
	check_map(30, "old", 0x1000, NULL);
	check_map(30, "old", 0x5000, "/lib/told");
	check_map(30, "new", 0x1000, "/bin/new");
	check_map(30, "new", 0x5000, "/lib/told");
	check_map(31, "old", 0x1000, "/bin/old");
	check_map(31, "old", 0x5000, "/lib/told");
	check_map(31, "old", 0x7000, "/lib/child");
}
END_TEST

/* An exec in a thread ends the leader, and the thread goes on with the leader's id: the process has not exited. */
START_TEST(test_exec_in_thread)
{
	name(10, 10, "main", true);
	fork_to(10, 11, 10, 10);
	end(10, 10);
	name(10, 10, "new", true);
	map(10, 0x1000, 0x2000, "/new");
	tasks_forget(tasks, keep_none, NULL);
	check_map(10, "new", 0x1000, "/new");
}
END_TEST

/*
 * Process 10 has the leader "main". Each letter is an event:
 *   a, b: thread 11 is named "worker", 12 "other"; A, B: it ends    u: thread 13 is created by an unknown thread
 *   p: /proc shows thread 14, "read"    m: thread 11 now belongs to process 20    x: exec of "new" under the id 10
 *   L: the leader ends; it had its own name until then    f: exited tasks are forgotten
 * Expected: the name of a sample with the leader's ids.
 */
static const struct {
	const char *told, *name;
} successions[] = {
	{ "aL", "worker" },
	{ "abLB", "worker" },
	{ "abLA", "other" },
	{ "abBL", "worker" },
	{ "aaL", "worker" },
	{ "aAaL", "worker" },
	{ "pL", "read" },
	{ "amaL", "worker" },
	{ "aLf", "worker" },
	{ "aLxbL", "other" }, /* once more, in the next program */
	/* no exec in a thread, or an exec in an unknown thread */
	{ "", "main" },
	{ "a", "main" },
	{ "L", "main" },
	{ "aAL", "main" },
	{ "aLA", "main" },
	{ "abL", "main" },
	{ "abLAB", "main" },
	{ "uL", "main" },
	{ "uaL", "main" },
	{ "amL", "main" },
	{ "aLm", "main" },
	/* an exec ends all other threads, even without a record of that */
	{ "aLx", "new" },
	{ "aLxL", "new" },
	{ "abxL", "new" },
	{ "abLxL", "new" },
	{ "uaLxL", "new" },
};

static void tell_succession(char what)
{
	if (what == 'a' || what == 'b')
		name(10, what == 'a' ? 11 : 12, what == 'a' ? "worker" : "other", false);
	if (what == 'A' || what == 'B')
		end(10, what == 'A' ? 11 : 12);
	if (what == 'u')
		fork_to(10, 13, 10, 99);
	if (what == 'p') {
		put_comm(10, 14, "read\n");
		check_name(10, 14, "read");
	}
	if (what == 'm')
		fork_to(20, 11, 20, 20);
	if (what == 'x')
		name(10, 10, "new", true);
	if (what == 'f')
		tasks_forget(tasks, keep_none, NULL);
	if (what == 'L')
		end(10, 10);
}

START_TEST(test_succession)
{
	const char *c, *own = "main";

	name(10, 10, own, true);
	name(20, 20, "elsewhere", true);
	for (c = successions[_i].told; *c; c++) {
		if (*c == 'L')
			check_name(10, 10, own); /* read at its EXIT record */
		tell_succession(*c);
		if (*c == 'x')
			own = "new";
	}
	check_name(10, 10, successions[_i].name);
	check_name(20, 20, "elsewhere");
}
END_TEST

/* A thread that executed a program has no EXIT record, but is forgotten like one that has. */
START_TEST(test_succession_bounded)
{
	enum { KEPT = 1024, NR = 3 * KEPT };
	char comm[COMM_LEN];
	pid_t i;

	name(10, 10, "main", true);
	for (i = 0; i < NR; i++) {
		snprintf(comm, sizeof(comm), "t%d", i);
		name(10, 1000 + i, comm, false);
		name(10, 10, "next", true);
	}
	for (i = 0; i < NR; i++) {
		snprintf(comm, sizeof(comm), "t%d", i);
		check_name(10, 1000 + i, i < NR - KEPT ? "next" : comm);
	}
}
END_TEST

/* ---- a recording: a process that /proc shows now is another one */

static void forget_host(void)
{
	put_comm(30, 30, "here\n");
	put_comm(30, 31, "here too\n");
	put("30/maps", "1000-9000 r-xp 0 08:01 7 /here\n");
	tasks_free(tasks);
	tasks = tasks_new(NULL);
	ck_assert_ptr_nonnull(tasks);
}

/* Names come from events: of the thread, otherwise of its process, otherwise its id. */
START_TEST(test_nowhere_names)
{
	forget_host();
	check_name(30, 31, ":31");
	check_name(30, 30, ":30");
	name(30, 30, "leader", false);
	check_name(30, 31, "leader");
	name(30, 31, "thread", false);
	check_name(30, 31, "thread");
	fork_to(40, 40, 30, 31);
	check_name(40, 40, "thread");
	fork_to(41, 41, 99, 99);
	check_name(41, 41, ":41");
	name(2, 2, "kthreadd", false);
	fork_to(50, 50, 2, 2); /* read from /proc elsewhere */
	check_name(50, 50, "kthreadd");
	end(30, 30);
	check_name(30, 32, "leader");
}
END_TEST

/* Processes known only from events have the mappings of the events, and no others. */
START_TEST(test_nowhere_mappings)
{
	forget_host();
	check_map(30, "here", 0x1000, NULL);
	ck_assert_int_eq(tasks_learn(tasks, 30), 0);
	check_map(30, "here", 0x1000, NULL);
	map(35, 0x1000, 0x2000, "/told"); /* no record has the name of the process */
	check_map(35, "any", 0x1000, "/told");
	check_map(35, "any", 0x2000, NULL);
	name(30, 30, "sh", false);
	map(30, 0x1000, 0x2000, "/told");
	check_map(30, "sh", 0x1000, "/told");
	fork_to(31, 31, 30, 30);
	check_map(31, "sh", 0x1000, "/told");
	check_map(31, "sh", 0x2000, NULL);
	name(30, 30, "next", true);
	check_map(30, "next", 0x3000, NULL);
	map(30, 0x3000, 0x4000, "/next");
	check_map(30, "next", 0x3000, "/next");
	check_map(30, "sh", 0x1000, "/told");
	check_map(30, "sh", 0x3000, NULL); /* the mappings of "sh" are unknown */
	fork_to(32, 32, 98, 98);
	check_map(32, "x", 0x1000, NULL);
	map(32, 0x1000, 0x2000, "/child");
	check_map(32, "x", 0x1000, "/child");
	end(32, 32);
	check_map(32, "x", 0x1000, "/child");
}
END_TEST

/* A child that has executed another program before its FORK record comes. */
START_TEST(test_fork_exec)
{
	forget_host();
	name(10, 10, "sh", false);
	map(10, 0x1000, 0x2000, "/bin/sh");
	ck_assert_int_eq(tasks_fork(tasks, 20, 20, 10, 10, _i == 0), 0);
	check_name(20, 20, "sh");
	check_map(20, "sh", 0x1000, _i ? "/bin/sh" : NULL);
	map(20, 0x5000, 0x6000, "/bin/ls");
	check_map(20, "sh", 0x5000, "/bin/ls");
	check_map(20, "sh", 0x1000, _i ? "/bin/sh" : NULL);
	check_map(10, "sh", 0x5000, NULL);
	/* A thread has the mappings of its process, whatever the record says. */
	ck_assert_int_eq(tasks_fork(tasks, 10, 11, 10, 10, _i == 0), 0);
	check_name(10, 11, "sh");
	check_map(10, "sh", 0x1000, "/bin/sh");
}
END_TEST

/*
 * For existing processes, perf record makes up the fork, then the name, then the mappings. The name is that of the
 * image, which keeps it after an exec of another program with code at the same addresses.
 */
START_TEST(test_made_up)
{
	forget_host();
	name(10, 10, "bash", false);
	ck_assert_int_eq(tasks_fork(tasks, 20, 20, 10, 10, true), 0);
	name(20, 20, "foo", false);
	map(20, 0x1000, 0x2000, "/bin/foo");
	name(20, 20, "bar", true);
	map(20, 0x1000, 0x2000, "/bin/bar");
	check_map(20, "foo", 0x1000, "/bin/foo");
	check_map(20, "bar", 0x1000, "/bin/bar");
}
END_TEST

/* ---- which file it is */

static const struct {
	struct mapped_file a, b;
	bool same;
} files[] = {
	{ { "/l", 8, 1, 5 }, { "/l", 8, 1, 5 }, true },
	{ { "/l", .build_id = "abc", .build_id_size = 3 }, { "/l", .build_id = "abc", .build_id_size = 3 }, true },
	{ { "/l", .build_id = "abc", .build_id_size = 3 },
	  { "/l (deleted)", .build_id = "abc", .build_id_size = 3 },
	  true },
	{ { "/l", 8, 1, 5 }, { "/l (deleted)", 8, 1, 5 }, true },
	{ { "/l", .build_id = "abc", .build_id_size = 3 }, { "/l", .build_id = "abd", .build_id_size = 3 }, false },
	{ { "/l", .build_id = "abc", .build_id_size = 20 },
	  { "/l", .build_id = "abc\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0d", .build_id_size = 20 },
	  false },
	{ { "/l", .build_id = "abc", .build_id_size = 3 }, { "/l", .build_id = "abc", .build_id_size = 4 }, false },
	{ { "/l", .build_id = "abc", .build_id_size = 3 }, { "/l" }, false },
	{ { "/l", .build_id = "abc", .build_id_size = 3 }, { "/l", 8, 1, 5 }, false },
	{ { "/l", .build_id = "abc", .build_id_size = 3 }, { "/m", .build_id = "abc", .build_id_size = 3 }, false },
	{ { "/l", 8, 1, 5 }, { "/l", 8, 1, 6 }, false },
	{ { "/l", 8, 1, 5 }, { "/l", 8, 2, 5 }, false },
	{ { "/l", 8, 1, 5 }, { "/l", 9, 1, 5 }, false },
	{ { "/l" }, { "/l (deleted)" }, false }, /* no identity shows that it is the same file */
};

START_TEST(test_files)
{
	const struct mapping a = { 0x1000, 0x2000, 0, &files[_i].a }, b = { 0x1000, 0x2000, 0, &files[_i].b };
	struct mapping first, second;

	ck_assert_int_eq(tasks_mmap(tasks, 10, &a), 0);
	ck_assert_int_eq(tasks_mmap(tasks, 20, &b), 0);
	ck_assert_int_eq(tasks_find(tasks, 10, "", 0, 0x1000, &first), 1);
	ck_assert_int_eq(tasks_find(tasks, 20, "", 0, 0x1000, &second), 1);
	ck_assert_int_eq(first.file == second.file, files[_i].same);
	ck_assert_uint_eq(first.file->build_id_size, files[_i].a.build_id_size);
	ck_assert_mem_eq(first.file->build_id, files[_i].a.build_id, BUILD_ID_MAX);
	ck_assert_mem_eq(second.file->build_id, files[_i].b.build_id, BUILD_ID_MAX);
}
END_TEST

static const struct {
	const char *path;
	uint64_t ino;
	uint8_t build_id_size;
	const char *kept;
} deleted[] = {
	{ "/bin/x (deleted)", 5, 0, "/bin/x" },
	{ "/bin/x (deleted)", 0, 20, "/bin/x" },
	{ "/bin/x (deleted)", 5, 20, "/bin/x" },
	{ "/bin/x (deleted) (deleted)", 0, 1, "/bin/x (deleted)" },
	{ "/bin/x (deleted)", 0, 0, "/bin/x (deleted)" },
	{ "/bin/x (deleted", 0, 20, "/bin/x (deleted" },
	{ "/bin/x (Deleted)", 0, 20, "/bin/x (Deleted)" },
	{ "/bin/x(deleted)", 0, 20, "/bin/x(deleted)" },
	{ "/bin/x (deleted) ", 0, 20, "/bin/x (deleted) " },
	{ " (deleted)", 0, 20, " (deleted)" }, /* this is the whole name */
	{ "", 0, 20, "" },
};

START_TEST(test_deleted)
{
	const struct mapped_file file = { .path = deleted[_i].path,
					  .ino = deleted[_i].ino,
					  .build_id = "id",
					  .build_id_size = deleted[_i].build_id_size };
	const struct mapping m = { 0x1000, 0x2000, 0, &file };

	ck_assert_int_eq(tasks_mmap(tasks, 10, &m), 0);
	check_map(10, "", 0x1000, deleted[_i].kept);
}
END_TEST

/*
 * /proc shows the leader of process 30 under the name @comm. The process is known as above, and may have ended.
 * Expected: its name, and the path at 0x1000 for its rows with the old name, and with @comm.
 */
static const struct {
	enum known known;
	bool ended;
	uint64_t at;
	const char *comm, *name, *old, *new;
} refreshed[] = {
	/* nothing new */
	{ FROM_EVENTS, false, NEWER, "ev", "ev", "/ev", "/ev" },
	{ FROM_EVENTS, false, OLDER, "ev", "ev", "/ev", "/ev" },
	{ FROM_EVENTS, false, NO_CLOCK, "ev", "ev", "/ev", "/ev" },
	{ FROM_PROC, false, NEWER, "pr", "pr", "/pr", "/pr" },
	{ FROM_PROC, false, OLDER, "pr", "pr", "/pr", "/pr" },
	{ FROM_PROC, false, NO_CLOCK, "pr", "pr", "/pr", "/pr" },
	/* nothing is known */
	{ NOTHING, false, NEWER, "new", "new", "/late", "/late" },
	{ NOTHING, false, NEWER, "", "", "/late", "/late" },
	{ NOTHING, true, NEWER, "new", "new", "/late", "/late" },
	/* another name */
	{ FROM_EVENTS, false, NEWER, "new", "new", "/ev", "/late" },
	{ FROM_EVENTS, false, OLDER, "new", "new", "/ev", "/late" },
	{ FROM_EVENTS, false, NO_CLOCK, "new", "new", "/ev", "/late" },
	{ FROM_EVENTS, false, NEWER, "e", "e", "/ev", "/late" },
	{ FROM_EVENTS, false, NEWER, "evx", "evx", "/ev", "/late" },
	{ FROM_EVENTS, false, NEWER, "", "", "/ev", "/late" },
	{ FROM_EVENTS, false, NEWER, "sixteen chars___", "sixteen chars__", "/ev", "/late" },
	{ FROM_PROC, false, NEWER, "new", "new", "/pr", "/late" },
	{ FROM_PROC, false, OLDER, "new", "new", NULL, "/late" }, /* the mappings read belong to the new program */
	{ FROM_PROC, false, NO_CLOCK, "new", "new", "/pr", "/late" },
	/* it had ended */
	{ FROM_EVENTS, true, NEWER, "ev", "ev", REUSED, REUSED },
	{ FROM_EVENTS, true, NEWER, "new", "new", "/ev", "/late" },
	{ FROM_PROC, true, NEWER, "pr", "pr", REUSED, REUSED },
	{ FROM_PROC, true, NEWER, "new", "new", "/pr", "/late" },
	{ FROM_PROC, true, OLDER, "new", "new", NULL, "/late" },
};

START_TEST(test_refresh)
{
	static const char *const names[] = { "late", "pr", "ev" };

	know(refreshed[_i].known);
	tasks_at(tasks, refreshed[_i].at);
	if (refreshed[_i].ended)
		end(30, 30);
	refresh(30, 30, refreshed[_i].comm);
	ck_assert_int_eq(tasks_learn(tasks, 30), 0);
	put("30/maps", "1000-2000 r-xp 0 08:01 8 /latest\n");
	refresh(30, 30, refreshed[_i].comm); /* nothing new this time */
	check_name(30, 30, refreshed[_i].name);
	check_map(30, names[refreshed[_i].known], 0x1000, refreshed[_i].old);
	check_map(30, refreshed[_i].name, 0x1000, refreshed[_i].new);
}
END_TEST

/* A thread other than the leader has a name but no image: a known one, one that has ended, one without name. */
START_TEST(test_refresh_thread)
{
	know(FROM_EVENTS);
	if (_i == 0 || _i == 1)
		name(30, 31, "thread", false);
	if (_i == 1 || _i == 2)
		end(30, 31);
	if (_i == 3)
		fork_to(30, 31, 30, 99);
	refresh(30, 31, "new");
	check_name(30, 31, "new");
	check_name(30, 30, "ev");
	check_map(30, "ev", 0x1000, "/ev");
	check_map(30, "new", 0x1000, "/ev");
	end(30, 30);
	check_name(30, 30, "new"); /* it is alive */
	refresh(30, 31, "newer");
	check_name(30, 31, "newer");
}
END_TEST

/* An event between a refresh and the reading, as for any process that is to be read. */
START_TEST(test_refresh_then)
{
	know(FROM_EVENTS);
	refresh(30, 30, "new");
	if (_i == 0) {
		map(30, 0x5000, 0x6000, "/lib/told");
		check_map(30, "new", 0x1000, "/late");
		check_map(30, "new", 0x5000, "/lib/told");
	} else if (_i == 1) {
		fork_to(31, 31, 30, 30);
		check_map(31, "new", 0x1000, "/late");
	} else if (_i == 2) {
		name(30, 30, "next", true);
		map(30, 0x1000, 0x2000, "/next");
		check_map(30, "new", 0x1000, NULL);
		check_map(30, "next", 0x1000, "/next");
	} else if (_i == 3) {
		refresh(30, 30, "newer");
		check_map(30, "new", 0x1000, NULL);
		check_map(30, "newer", 0x1000, "/late");
	} else {
		end(30, 30);
		check_map(30, "new", 0x1000, NULL);
	}
	check_map(30, "ev", 0x1000, "/ev");
}
END_TEST

/* A known process without name gets the name: that is no new program. */
START_TEST(test_refresh_unnamed)
{
	know(FROM_EVENTS);
	fork_to(31, 31, 30, 99);
	put("31/maps", "1000-2000 r-xp 0 08:01 8 /late\n");
	refresh(31, 31, "new");
	check_name(31, 31, "new");
	check_map(31, "new", 0x1000, "/ev");
}
END_TEST

/* A thread id that now belongs to a process with the same name. */
START_TEST(test_refresh_moved)
{
	name(10, 10, "main", true);
	know(FROM_EVENTS);
	name(10, 30, "ev", false);
	refresh(30, 30, "ev");
	check_now(30, 0x1000, "/late");
	end(10, 10);
	check_name(10, 10, "main");
}
END_TEST

/* A process that is kept longer than its leader's name. */
START_TEST(test_refresh_forgotten)
{
	pid_t i;

	know(FROM_EVENTS);
	end(30, 30);
	for (i = 1000; i < 3000; i++)
		end(10, i);
	refresh(30, 30, "new");
	check_map(30, "new", 0x1000, "/late");
	check_map(30, "ev", 0x1000, "/ev");
}
END_TEST

/*
 * A FORK record of a child (31) whose name was read, by a parent (30) whose name is known from events, was read, or is
 * unknown. @child: the child's name after that.
 */
static const struct {
	bool parent_told, parent_read;
	uint64_t at;
	const char *child;
} late_names[] = {
	{ true, false, OLDER, "parent" }, /* a later record renames it */
	{ false, true, OLDER, "child" },  /* both names were read later */
	{ false, false, OLDER, "child" }, /* better than no name */
	{ true, false, NEWER, "parent" }, /* the id belonged to another process */
	{ false, true, NEWER, "parent" },   { false, false, NEWER, "again" },    { true, false, NO_CLOCK, "child" },
	{ false, true, NO_CLOCK, "child" }, { false, false, NO_CLOCK, "child" },
};

START_TEST(test_late_names)
{
	put_comm(31, 31, "child\n");
	check_name(31, 31, "child");
	put_comm(31, 31, "again\n");
	if (late_names[_i].parent_told)
		name(30, 30, "parent", false);
	if (late_names[_i].parent_read) {
		put_comm(30, 30, "parent\n");
		check_name(30, 30, "parent");
	}
	tasks_at(tasks, late_names[_i].at);
	fork_to(31, 31, 30, 30);
	check_name(31, 31, late_names[_i].child);
	name(31, 31, "renamed", false);
	check_name(31, 31, "renamed");
}
END_TEST

/* An exec before anything was read about the old program. Its name is known, and perhaps (_i) one of its mappings. */
START_TEST(test_exec_unread)
{
	name(30, 30, "old", false);
	if (_i)
		map(30, 0x5000, 0x6000, "/lib/told");
	name(30, 30, "new", true);
	map(30, 0x1000, 0x8000, "/new");
	check_map(30, "old", 0x1000, NULL);
	check_map(30, "old", 0x5000, _i ? "/lib/told" : NULL);
	check_map(30, "new", 0x1000, "/new");
	check_map(30, "thread", 0x1000, "/new");
	name(30, 30, "newer", true);
	check_map(30, "new", 0x1000, "/new");
	check_map(30, "newer", 0x1000, "/new"); /* the rule above, among the known images */
	check_map(30, "newer", 0x9000, NULL);
}
END_TEST

/* A name is no longer the one from /proc after a child has taken its parent's. */
START_TEST(test_late_name_replaced)
{
	put_comm(31, 31, "child\n");
	check_name(31, 31, "child");
	end(31, 31);
	name(30, 30, "first", false);
	fork_to(31, 31, 30, 30);
	check_name(31, 31, "first");
	name(30, 30, "second", false);
	fork_to(31, 31, 30, 30); /* the EXIT record between them was lost */
	check_name(31, 31, "second");
}
END_TEST

/* ---- the callback for new mappings */

/* Counts the mappings passed to the callback, and keeps the last. */
struct listener {
	int nr, stop_at; /* stop at this mapping */
	pid_t pid;
	struct mapping last;
	char path[32];
	pid_t pids[4];
};

static bool listen(void *ctx, pid_t pid, const struct mapping *m)
{
	struct listener *l = ctx;

	l->pid = pid;
	l->last = *m;
	snprintf(l->path, sizeof(l->path), "%s", m->file->path);
	tasks_lineage(tasks, pid, l->pids, ARRAY_SIZE(l->pids));
	return ++l->nr == l->stop_at;
}

static void check_told(const struct listener *l, int nr, pid_t pid, uint64_t start, uint64_t stop, const char *path)
{
	ck_assert_int_eq(l->nr, nr);
	ck_assert_int_eq(l->pid, pid);
	ck_assert(l->last.start == start && l->last.end == stop);
	ck_assert_str_eq(l->path, path);
}

START_TEST(test_told)
{
	struct listener l = { 0 };

	map(10, 0x1000, 0x2000, "/early"); /* no callback is set */
	tasks_on_mapped(tasks, listen, &l);
	fork_to(11, 11, 10, 10);
	name(11, 11, "x", true);
	ck_assert_int_eq(l.nr, 0);
	map(11, 0x1000, 0x3000, "/bin/x");
	check_told(&l, 1, 11, 0x1000, 0x3000, "/bin/x");
	ck_assert(l.pids[0] == 11 && l.pids[1] == 10 && !l.pids[2]);
	map(11, 0x2000, 0x4000, "/bin/x"); /* as in the record, whatever mapping was there before */
	check_told(&l, 2, 11, 0x2000, 0x4000, "/bin/x");
	map(11, 0x9000, 0x9000, "/empty");
	map(11, 0x9000, 0x8000, "/backwards");
	ck_assert_int_eq(l.nr, 2);
	map(12, 0x1000, 0x2000, "/early");
	check_told(&l, 3, 12, 0x1000, 0x2000, "/early");
	map(12, 0x5000, 0x6000, "//anon");
	check_told(&l, 4, 12, 0x5000, 0x6000, "//anon");
	tasks_on_mapped(tasks, NULL, NULL);
	map(12, 0x5000, 0x6000, "//anon");
	ck_assert_int_eq(l.nr, 4);
}
END_TEST

/* Each line of /proc/PID/maps that is kept, exactly as it is there. */
START_TEST(test_told_learned)
{
	struct listener l = { 0 };

	put_comm(30, 30, "p\n");
	put("30/maps", "1000-2000 r--p 0 08:01 7 /bin/data\n"
		       "2000-3000 r-xp 1000 08:01 7 /bin/code\n"
		       "3000-4000 r-xp 2000 08:01 7 /bin/code\n"
		       "8000-9000 r-xp 0 08:01 9 /lib/last (deleted)\n"
		       "nonsense\n");
	tasks_on_mapped(tasks, listen, &l);
	ck_assert_int_eq(tasks_learn(tasks, 30), 0);
	check_told(&l, 3, 30, 0x8000, 0x9000, "/lib/last");
	ck_assert_int_eq(tasks_learn(tasks, 30), 0);
	ck_assert_int_eq(tasks_learn(tasks, 31), 0); /* there is no such process */
	ck_assert_int_eq(l.nr, 3);
}
END_TEST

/* How often is the callback called for a file that is mapped @maps times? */
static const struct {
	int maps, stop_at, told;
} often[] = {
	{ 1, 0, 1 }, { 15, 0, 15 }, { 16, 0, 16 },  { 17, 0, 16 },  { 600, 0, 16 },
	{ 9, 1, 1 }, { 9, 2, 2 },   { 40, 16, 16 }, { 40, 17, 16 },
};

START_TEST(test_told_often)
{
	struct listener l = { .stop_at = often[_i].stop_at };
	int i;

	tasks_on_mapped(tasks, listen, &l);
	for (i = 0; i < often[_i].maps; i++)
		map(10 + i % 3, (uint64_t)(i + 1) << 12, (uint64_t)(i + 2) << 12, "/x");
	ck_assert_int_eq(l.nr, often[_i].told);
	l.stop_at = 0;
	map(10, 0x1000, 0x2000, "/other");
	ck_assert_int_eq(l.nr, often[_i].told + 1);
	/* A file that is no longer mapped is forgotten, and may be reported again. */
	for (i = 0; i < 3; i++)
		end(10 + i, 10 + i);
	tasks_forget(tasks, keep_none, NULL);
	map(10, 0x1000, 0x2000, "/x");
	ck_assert_int_eq(l.nr, often[_i].told + 2);
}
END_TEST

/* A slow callback does not make the mappings from /proc newer. */
static bool take_time(void *ctx, pid_t pid, const struct mapping *m)
{
	uint64_t *at = ctx;

	(void)pid;
	(void)m;
	*at = now();
	while (now() == *at)
		;
	return false;
}

START_TEST(test_told_in_time)
{
	uint64_t at = 0;

	put_comm(30, 30, "p\n");
	put("30/maps", "1000-2000 r-xp 0 08:01 7 /bin/p\n2000-3000 r-xp 0 08:01 8 /lib/p\n");
	tasks_on_mapped(tasks, take_time, &at);
	ck_assert_int_eq(tasks_learn(tasks, 30), 0);
	ck_assert_uint_ne(at, 0);
	tasks_at(tasks, at); /* the exec came after the reading */
	name(30, 30, "q", true);
	check_map(30, "p", 0x1000, "/bin/p");
}
END_TEST

static void check_lineage(pid_t pid, size_t max, const pid_t *want, size_t nr)
{
	pid_t pids[8] = { -7, -7, -7, -7, -7, -7, -7, -7 };
	size_t i;

	ck_assert_uint_eq(tasks_lineage(tasks, pid, pids, max), nr);
	for (i = 0; i < nr; i++)
		ck_assert_int_eq(pids[i], want[i]);
	for (; i < ARRAY_SIZE(pids); i++)
		ck_assert_int_eq(pids[i], i == nr && nr < max ? 0 : -7);
}

/* A chain of forks 10, 11, ... 15. All children of 10 but the first are forked by a thread. */
static const struct {
	pid_t pid;
	size_t max;
	pid_t want[8];
	size_t nr;
} lineages[] = {
	{ 15, 8, { 15, 14, 13, 12, 11, 10 }, 6 },
	{ 15, 7, { 15, 14, 13, 12, 11, 10 }, 6 },
	{ 15, 6, { 15, 14, 13, 12, 11, 10 }, 6 },
	{ 15, 5, { 15, 14, 13, 12, 11 }, 5 },
	{ 15, 1, { 15 }, 1 },
	{ 15, 0, { 0 }, 0 },
	{ 11, 8, { 11, 10 }, 2 },
	{ 10, 8, { 10 }, 1 },
	/* unknown */
	{ 99, 8, { 99 }, 1 },
	{ 1012, 8, { 1012 }, 1 }, /* a thread of 12 */
	{ 0, 8, { 0 }, 0 },
	{ -1, 8, { 0 }, 0 },
	{ INT32_MIN, 8, { 0 }, 0 },
};

START_TEST(test_lineage)
{
	pid_t pid;

	for (pid = 11; pid <= 15; pid++) {
		fork_to(pid, pid, pid - 1, pid == 11 ? 10 : 1000 + pid - 1);
		fork_to(pid, 1000 + pid, pid, pid);
	}
	name(14, 14, "x", true); /* an exec leaves it where it is */
	end(13, 13);             /* and so does its end */
	check_lineage(lineages[_i].pid, lineages[_i].max, lineages[_i].want, lineages[_i].nr);
}
END_TEST

/* Ids are used again: the last process that forked it counts, and a process may descend from itself. */
START_TEST(test_lineage_again)
{
	fork_to(11, 11, 10, 10);
	fork_to(12, 12, 11, 11);
	fork_to(13, 13, 12, 12);
	end(11, 11);
	fork_to(11, 11, 20, 20);
	check_lineage(13, 8, (pid_t[]){ 13, 12, 11, 20 }, 4);
	end(11, 11);
	fork_to(11, 11, 13, 13);
	check_lineage(13, 8, (pid_t[]){ 13, 12, 11 }, 3);
	check_lineage(11, 8, (pid_t[]){ 11, 13, 12 }, 3);
	check_lineage(11, 2, (pid_t[]){ 11, 13 }, 2);
	fork_to(14, 14, 12, 12);
	check_lineage(14, 8, (pid_t[]){ 14, 12, 11, 13 }, 4);
	/* A forgotten process ends the chain. */
	end(12, 12);
	tasks_forget(tasks, keep_none, NULL);
	check_lineage(14, 8, (pid_t[]){ 14, 12 }, 2);
}
END_TEST

/* Any order of any events: nothing breaks, and counts are right. */
START_TEST(test_random)
{
	unsigned int seed = 1 + (unsigned int)_i;
	char comm[COMM_LEN];
	struct mapping m;
	int i;

	for (i = 0; i < 30000; i++) {
		pid_t pid = rand_r(&seed) % 40, tid = rand_r(&seed) % 3 ? pid : rand_r(&seed) % 3000;
		pid_t other = rand_r(&seed) % 40;
		uint64_t at = (uint64_t)rand_r(&seed) % 64;

		snprintf(comm, sizeof(comm), "c%d", rand_r(&seed) % 8);
		tasks_at(tasks, rand_r(&seed) % 3 ? OLDER : NEWER);
		switch (rand_r(&seed) % 9) {
		case 0:
			name(pid, tid, comm, rand_r(&seed) % 2);
			break;
		case 1:
			fork_to(pid, tid, other, other);
			break;
		case 2:
			end(pid, tid);
			break;
		case 3:
			map(pid, at, at + (uint64_t)rand_r(&seed) % 16, comm);
			break;
		case 4:
			tasks_name(tasks, pid, tid, comm);
			ck_assert_int_eq(comm[COMM_LEN - 1], 0);
			break;
		case 5:
			if (tasks_find(tasks, pid, comm, 0, at, &m))
				ck_assert(m.start <= at && at < m.end && m.file->path[0] == 'c');
			break;
		case 6:
			ck_assert_int_eq(tasks_learn(tasks, pid), 0);
			break;
		case 7:
			refresh(pid, tid, comm);
			break;
		default:
			if (rand_r(&seed) % 50 == 0)
				tasks_forget(tasks, keep_one, &other);
		}
	}
}
END_TEST

/* The maps of a process with @nr pages from 1 MiB on, as the kernel prints them. */
static void put_pages(pid_t pid, size_t nr, const char *path)
{
	char name[64], *text = NULL;
	size_t i, len;
	FILE *f = open_memstream(&text, &len);

	ck_assert_ptr_nonnull(f);
	for (i = 0; i < nr; i++)
		fprintf(f, "%zx-%zx r-xp 00000000 08:01 77%33s%s\n", (256 + i) << 12, (257 + i) << 12, "", path);
	ck_assert_int_eq(fclose(f), 0);
	snprintf(name, sizeof(name), "%d/maps", pid);
	put(name, text);
	free(text);
}

static int finds(pid_t pid, uint64_t addr)
{
	struct mapping m;

	return tasks_find(tasks, pid, "x", 0, addr, &m);
}

/* When no time is left for long lists, lists of the usual length are still read. */
START_TEST(test_long_list)
{
	put_pages(5, 4000, "/lib");
	put_pages(6, 4000, "/lib");
	put_pages(7, 1000, "/lib");
	ck_assert_int_eq(finds(5, 4200 << 12), 1);
	ck_assert_uint_gt(tasks->long_ns, 0);
	ck_assert_uint_eq(tasks_overlong(tasks), 0);
	tasks->long_ns = UINT64_MAX / 2;
	ck_assert_int_eq(finds(6, 256 << 12), 1);
	ck_assert_int_eq(finds(6, 4200 << 12), 0);
	ck_assert_uint_eq(tasks_overlong(tasks), 1);
	ck_assert_int_eq(finds(7, 1200 << 12), 1);
	ck_assert_uint_eq(tasks_overlong(tasks), 1);
}
END_TEST

static bool count_told(void *ctx, pid_t pid, const struct mapping *m)
{
	size_t *nr = ctx;

	ck_assert_int_eq(pid, 5);
	ck_assert_uint_ge(m->start, 256 << 12);
	++*nr;
	return true;
}

/* At most 1024 mappings of a list are passed to the callback: a file is opened for each. */
START_TEST(test_told_of_list)
{
	size_t nr = 0;

	put_pages(5, 1500, "");
	tasks_on_mapped(tasks, count_told, &nr);
	ck_assert_int_eq(finds(5, 1700 << 12), 1);
	ck_assert_uint_eq(nr, 1024);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tasks");
	TCase *t = tcase_create("tasks");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_names);
	tcase_add_loop_test(t, test_length, 0, ARRAY_SIZE(lengths));
	tcase_add_test(t, test_unknown_names);
	tcase_add_test(t, test_unknown_parent);
	tcase_add_test(t, test_snapshot);
	tcase_add_loop_test(t, test_snapshot_filtered, 0, ARRAY_SIZE(snapshots));
	tcase_add_test(t, test_forget_files);
	tcase_add_test(t, test_forget_exited);
	tcase_add_test(t, test_dead_threads);
	tcase_add_test(t, test_dead_again);
	tcase_add_test(t, test_dead_reused);
	tcase_add_test(t, test_mappings);
	tcase_add_test(t, test_each_mapped);
	tcase_add_test(t, test_rule);
	tcase_add_test(t, test_images);
	tcase_add_test(t, test_same_image);
	tcase_add_loop_test(t, test_loading, 0, ARRAY_SIZE(loads));
	tcase_add_loop_test(t, test_lives, 0, ARRAY_SIZE(lives));
	tcase_add_loop_test(t, test_brief, 0, 2);
	tcase_add_test(t, test_many_images);
	tcase_add_loop_test(t, test_shared_memory, 0, 2);
	tcase_add_test(t, test_shared_before);
	tcase_add_test(t, test_memory_of_ended);
	tcase_add_test(t, test_recorded_memory);
	tcase_add_loop_test(t, test_copied, 0, ARRAY_SIZE(copied));
	tcase_add_loop_test(t, test_copied_before, 0, 2);
	tcase_add_test(t, test_no_memory);
	tcase_add_test(t, test_fork);
	tcase_add_test(t, test_thread_fork);
	tcase_add_test(t, test_pid_again);
	tcase_add_test(t, test_exec_chain);
	tcase_add_test(t, test_numbers_used_again);
	tcase_add_test(t, test_forget);
	tcase_add_test(t, test_learn);
	tcase_add_loop_test(t, test_learn_again, 0, 3);
	tcase_add_test(t, test_learn_absent);
	tcase_add_loop_test(t, test_learn_leaderless, 0, ARRAY_SIZE(leaderless));
	tcase_add_test(t, test_learn_after_event);
	tcase_add_test(t, test_learn_parent);
	tcase_add_loop_test(t, test_late_reading, 0, ARRAY_SIZE(combinations));
	tcase_add_loop_test(t, test_exec_while_read, 0, 2);
	tcase_add_loop_test(t, test_read_anew, 0, ARRAY_SIZE(anew));
	tcase_add_loop_test(t, test_read_anew_whole, 0, 3);
	tcase_add_test(t, test_read_anew_unreadable);
	tcase_add_loop_test(t, test_read_anew_inherited, 0, 2);
	tcase_add_test(t, test_late_reading_inherited);
	tcase_add_test(t, test_late_reading_of_renamed);
	tcase_add_test(t, test_late_reading_of_image);
	tcase_add_test(t, test_late_name_replaced);
	tcase_add_loop_test(t, test_exec_unread, 0, 2);
	tcase_add_test(t, test_unreadable);
	tcase_add_test(t, test_exec_in_thread);
	tcase_add_loop_test(t, test_succession, 0, ARRAY_SIZE(successions));
	tcase_add_test(t, test_succession_bounded);
	tcase_add_test(t, test_nowhere_names);
	tcase_add_test(t, test_nowhere_mappings);
	tcase_add_loop_test(t, test_fork_exec, 0, 2);
	tcase_add_test(t, test_made_up);
	tcase_add_loop_test(t, test_files, 0, ARRAY_SIZE(files));
	tcase_add_loop_test(t, test_deleted, 0, ARRAY_SIZE(deleted));
	tcase_add_loop_test(t, test_refresh, 0, ARRAY_SIZE(refreshed));
	tcase_add_loop_test(t, test_refresh_thread, 0, 5);
	tcase_add_loop_test(t, test_refresh_then, 0, 5);
	tcase_add_test(t, test_refresh_unnamed);
	tcase_add_test(t, test_refresh_moved);
	tcase_add_test(t, test_refresh_forgotten);
	tcase_add_loop_test(t, test_late_names, 0, ARRAY_SIZE(late_names));
	tcase_add_test(t, test_told);
	tcase_add_test(t, test_told_learned);
	tcase_add_loop_test(t, test_told_often, 0, ARRAY_SIZE(often));
	tcase_add_test(t, test_told_in_time);
	tcase_add_loop_test(t, test_lineage, 0, ARRAY_SIZE(lineages));
	tcase_add_test(t, test_lineage_again);
	tcase_add_loop_test(t, test_random, 0, 4);
	tcase_add_test(t, test_mntns);
	tcase_add_test(t, test_cgroups);
	tcase_add_test(t, test_cgroups_of_programs);
	tcase_add_test(t, test_cgroups_unknown);
	tcase_add_test(t, test_many_cgroups);
	tcase_add_test(t, test_mntns_of_child);
	tcase_add_test(t, test_mntns_of_group);
	tcase_add_test(t, test_mntns_hidden);
	tcase_add_test(t, test_long_list);
	tcase_add_test(t, test_told_of_list);
	suite_add_tcase(s, t);
	return unit_main(s);
}
