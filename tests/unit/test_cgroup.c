// SPDX-License-Identifier: Apache-2.0
#include "core/tasks/cgroup.h"
#include "tests/unit/failing_memory.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static char *top;
static char ours[128]; /* the path of this program's cgroup; "": none can be made */

static int no_handles; /* errno of each open_by_handle_at(2); 0: it works */

int open_by_handle_at(int mount, struct file_handle *handle, int flags)
{
	if (no_handles) {
		errno = no_handles;
		return -1;
	}
	return (int)syscall(SYS_open_by_handle_at, mount, handle, flags);
}

static void setup(void)
{
	no_handles = 0;
	top = unit_tmpdir();
}

/* Also called after a test was killed: cgroups that it leaves would stay until the next boot. */
static void remove_ours(void)
{
	if (*ours)
		unit_rmdir(strdup(ours));
}

static void teardown(void)
{
	remove_ours();
	unit_rmdir(top);
}

/* ---- /proc/self/cgroup */

static const struct {
	const char *text; /* NULL: there is no such file */
	bool sampled;
} hosts[] = {
	{ NULL, true },
	{ "", true },
	{ "0::/\n", true },
	{ "0::/perf_event\n", true },
	{ "1:cpu,cpuacct:/\n0::/\n", true },
	{ "1:perf_events:/\n0::/\n", true },
	{ "1:xperf_event,perf_even:/\n0::/\n", true },
	{ "1:name=perf_event:/:perf_event:\n", true },
	{ "perf_event\n1\n:\n::\n", true },
	{ "1:perf_event", true }, /* not a valid line of this file */
	{ "9:perf_event:/\n0::/\n", false },
	{ "0::/\n9:perf_event:/a/b\n", false },
	{ "3:cpu,perf_event:/\n", false },
	{ "3:perf_event,cpu:/\n", false },
	{ "3:cpu,perf_event,net_cls:/", false },
};

START_TEST(test_sampled)
{
	const struct host host = { .proc = top, .sys = top };

	if (hosts[_i].text)
		unit_write(top, "self/cgroup", hosts[_i].text, strlen(hosts[_i].text));
	ck_assert_int_eq(cgroup_sampled(&host), hosts[_i].sampled);
}
END_TEST

/* Files of /sys/fs/cgroup; NULL: there is none. */
static const struct {
	const char *type, *control;
	bool sampled;
} roots[] = {
	{ NULL, "memory pids\n", true },
	{ NULL, "pids", true },
	{ NULL, NULL, true },     /* version 1, or elsewhere */
	{ "domain\n", "", true }, /* in a cgroup namespace */
	{ NULL, "", false },
	{ NULL, "\n", false },
};

START_TEST(test_untouched)
{
	const struct host host = { .proc = top, .sys = top };

	unit_write(top, "self/cgroup", "0::/\n", 5);
	if (roots[_i].type)
		unit_write(top, "fs/cgroup/cgroup.type", roots[_i].type, strlen(roots[_i].type));
	if (roots[_i].control)
		unit_write(top, "fs/cgroup/cgroup.subtree_control", roots[_i].control, strlen(roots[_i].control));
	ck_assert_int_eq(cgroup_sampled(&host), roots[_i].sampled);
}
END_TEST

/* ---- directories */

static void refused(const char *path, int rc)
{
	struct cgroup *c = (struct cgroup *)path;
	int fds = unit_open_fds();
	struct err err = { 0 };

	ck_assert_int_eq(cgroup_open(&c, path, &err), rc);
	ck_assert_ptr_null(c);
	ck_assert_ptr_nonnull(strstr(err.msg, path));
	ck_assert_int_eq(unit_open_fds(), fds);
}

/* Opening does not block, and refuses directories of other file systems. */
START_TEST(test_refused)
{
	char path[512];

	unit_write(top, "file", "1", 1);
	refused(top, -EINVAL);
	refused("/proc/self", -EINVAL);
	snprintf(path, sizeof(path), "%s/file", top);
	refused(path, -ENOTDIR);
	snprintf(path, sizeof(path), "%s/none", top);
	refused(path, -ENOENT);
	snprintf(path, sizeof(path), "%s/fifo", top);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	refused(path, -ENOTDIR);
	cgroup_close(NULL);
}
END_TEST

START_TEST(test_is_folder)
{
	int fd = open(top, O_RDONLY | O_CLOEXEC), pipes[2];

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pipe(pipes), 0);
	ck_assert(!cgroup_is_folder(fd));
	ck_assert(!cgroup_is_folder(pipes[0]));
	ck_assert(!cgroup_is_folder(-1));
	close(fd);
	close(pipes[0]);
	close(pipes[1]);
}
END_TEST

/* The mount point of cgroup version 2 on this host. NULL: none. */
static const char *mounted(char *path, size_t size)
{
	static const char *const places[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	bool found = false;
	size_t i;
	int fd;

	for (i = 0; i < ARRAY_SIZE(places) && !found; i++) {
		snprintf(path, size, "%s", places[i]);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		found = cgroup_is_folder(fd);
		if (fd >= 0)
			close(fd);
	}
	return found ? path : NULL;
}

/* On 64-bit kernels since 5.5 the id of a cgroup is its inode number. */
static uint64_t inode(const char *path)
{
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	return st.st_ino;
}

START_TEST(test_root)
{
	char root[64], file[128];
	int fds = unit_open_fds();
	struct cgroup *c;
	struct err err;

	if (!mounted(root, sizeof(root)))
		return;
	snprintf(file, sizeof(file), "%s/cgroup.procs", root);
	refused(file, -ENOTDIR);
	ck_assert_int_eq(cgroup_open(&c, root, &err), 0);
	ck_assert(cgroup_is_folder(cgroup_fd(c)));
	ck_assert(cgroup_has(c, inode(root)));
	ck_assert(!cgroup_has(c, 0));
	ck_assert(!cgroup_has(c, UINT64_MAX));
	ck_assert(!cgroup_has(c, UINT64_MAX)); /* known now */
	ck_assert(!cgroup_has(c, inode(file)));
	cgroup_close(c);
	ck_assert_int_eq(unit_open_fds(), fds);
}
END_TEST

/* Return: false: none can be made. */
static bool make_ours(void)
{
	return *ours && !mkdir(ours, 0700);
}

/* The remedy is only for the failure that it mends. */
static int nr_missed(const struct cgroup *c)
{
	struct err why;

	if (!cgroup_missed(c, &why))
		return 0;
	ck_assert_int_eq(strstr(why.msg, "(give it CAP_DAC_READ_SEARCH)") != NULL, why.code == -EPERM);
	return (int)strtol(why.msg, NULL, 10);
}

/*
 * Without handles, too, a cgroup that is not below this one is soon known to be elsewhere. The root would not do: below
 * it, the host may have cgroups that are too deep for a walk.
 */
START_TEST(test_elsewhere)
{
	struct cgroup *c;
	struct err err;
	int missed;

	if (!make_ours())
		return;
	no_handles = EPERM;
	ck_assert_int_eq(cgroup_open(&c, ours, &err), 0);
	do {
		missed = nr_missed(c);
		ck_assert(!cgroup_has(c, UINT64_MAX));
	} while (nr_missed(c) > missed);
	cgroup_close(c);
}
END_TEST

/* Look up @id until it is found. With handles, the first lookup must find it; without them, a later walk does. */
static void await_has(struct cgroup *c, uint64_t id)
{
	while (!cgroup_has(c, id))
		ck_assert(no_handles);
}

/* Cgroups below it, older or made later, at any depth; not beside or above it. */
START_TEST(test_tree)
{
	static const char *const names[] = { "", "/in", "/in/a", "/in/a/b", "/in/later", "/in/later/on", "/beside" };
	char root[64], path[ARRAY_SIZE(names)][160];
	struct cgroup *c;
	struct err err;
	size_t i;

	if (!mounted(root, sizeof(root)) || !make_ours())
		return;
	no_handles = _i ? EPERM : 0;
	for (i = 0; i < ARRAY_SIZE(names); i++)
		snprintf(path[i], sizeof(path[i]), "%s%s", ours, names[i]);
	for (i = 1; i < 4; i++)
		ck_assert_int_eq(mkdir(path[i], 0700), 0);
	ck_assert_int_eq(cgroup_open(&c, path[1], &err), 0);
	for (i = 4; i < ARRAY_SIZE(names); i++)
		ck_assert_int_eq(mkdir(path[i], 0700), 0);
	await_has(c, inode(path[5]));
	ck_assert(!cgroup_has(c, inode(path[0])));
	for (i = 1; i < 6; i++)
		ck_assert_msg(cgroup_has(c, inode(path[i])), "%s", names[i]);
	ck_assert(!cgroup_has(c, inode(path[6])));
	ck_assert(!cgroup_has(c, inode(root)));
	remove_ours();
	ck_assert(!cgroup_has(c, UINT64_MAX)); /* all are gone */
	cgroup_close(c);
}
END_TEST

#define DEEP 80 /* deeper than the walk goes */

/* Make nested directories below @path. Return: the id of the last one. */
static uint64_t make_deep(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), next;
	struct stat st;
	size_t i;

	for (i = 0; i < DEEP; i++) {
		ck_assert_int_eq(mkdirat(fd, "d", 0700), 0);
		next = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		ck_assert_int_ge(next, 0);
		close(fd);
		fd = next;
	}
	ck_assert_int_eq(fstat(fd, &st), 0);
	close(fd);
	return st.st_ino;
}

/*
 * The deepest cgroup is found by its handle; without handles, a warning says that it is not. Cgroups elsewhere are not
 * remembered for ever.
 */
START_TEST(test_deep)
{
	int fds = unit_open_fds();
	struct cgroup *c;
	uint64_t id, i;
	struct err err;

	if (!make_ours())
		return;
	no_handles = _i ? EPERM : 0;
	ck_assert_int_eq(cgroup_open(&c, ours, &err), 0);
	id = make_deep(ours);
	ck_assert_int_eq(cgroup_has(c, id), !no_handles);
	ck_assert_int_eq(cgroup_missed(c, &err), !!no_handles);
	for (i = 1; i < (100 << 10) && !no_handles; i++)
		ck_assert(!cgroup_has(c, UINT64_MAX - i));
	ck_assert_int_eq(cgroup_has(c, id), !no_handles);
	ck_assert_int_eq(unit_open_fds(), fds + 1);
	cgroup_close(c);
}
END_TEST

/* The warning names the cause that has a remedy, also if another came later. */
START_TEST(test_causes)
{
	static const struct {
		int first, second, want;
	} causes[] = {
		{ EPERM, EMFILE, -EPERM }, { EMFILE, EPERM, -EPERM }, { EPERM, 0, -EPERM }, { EMFILE, ENFILE, -ENFILE }
	};
	struct cgroup *c;
	struct err why;
	uint64_t id;

	if (!make_ours())
		return;
	ck_assert_int_eq(cgroup_open(&c, ours, &why), 0);
	id = make_deep(ours);
	no_handles = causes[_i].first;
	ck_assert(!cgroup_has(c, id));
	no_handles = causes[_i].second;
	ck_assert_int_eq(cgroup_has(c, id), !no_handles);
	ck_assert_int_eq(nr_missed(c), 1 + !!no_handles);
	cgroup_missed(c, &why);
	ck_assert_int_eq(why.code, causes[_i].want);
	cgroup_close(c);
}
END_TEST

/* Without memory for the way up, a cgroup is found by a walk, or missed until the next lookup. */
START_TEST(test_no_memory)
{
	int fds = unit_open_fds();
	char below[160];
	struct cgroup *c;
	struct err err;
	uint64_t id;
	bool has;

	if (!make_ours())
		return;
	ck_assert_int_eq(cgroup_open(&c, ours, &err), 0);
	snprintf(below, sizeof(below), "%s/below", ours);
	ck_assert_int_eq(mkdir(below, 0700), 0);
	id = inode(below);
	memory_fail_after(0, false);
	has = cgroup_has(c, id);
	ck_assert(memory_restore());
	ck_assert_int_eq(nr_missed(c), !has);
	ck_assert(cgroup_has(c, id));
	ck_assert_int_eq(unit_open_fds(), fds + 1);
	cgroup_close(c);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cgroup");
	TCase *t = tcase_create("cgroup");
	char root[64];

	if (mounted(root, sizeof(root)))
		snprintf(ours, sizeof(ours), "%s/fleetprof-unit-%d", root, getpid());
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_unchecked_fixture(t, NULL, remove_ours);
	tcase_add_loop_test(t, test_sampled, 0, ARRAY_SIZE(hosts));
	tcase_add_loop_test(t, test_untouched, 0, ARRAY_SIZE(roots));
	tcase_add_test(t, test_refused);
	tcase_add_test(t, test_is_folder);
	tcase_add_test(t, test_root);
	tcase_add_test(t, test_elsewhere);
	tcase_add_loop_test(t, test_tree, 0, 2);
	tcase_add_loop_test(t, test_deep, 0, 2);
	tcase_add_loop_test(t, test_causes, 0, 4);
	tcase_add_test(t, test_no_memory);
	suite_add_tcase(s, t);
	return unit_main(s);
}
