// SPDX-License-Identifier: Apache-2.0
#include "core/host/privileges.h"
#include "tests/unit/unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define C(name)    (1ULL << CAP_##name)
#define STRANGER   65533 /* not a user of the host */
#define FILES_CAPS (C(DAC_READ_SEARCH) | C(SYSLOG))
#define LIVE_CAPS  (FILES_CAPS | C(SYS_PTRACE) | C(CHECKPOINT_RESTORE) | C(PERFMON) | C(IPC_LOCK))
#define LIVE       (PRIVILEGES_PROCESSES | PRIVILEGES_EVENTS)

struct caps {
	uint64_t effective, permitted, inheritable;
};

static void get(struct caps *c)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct d[2] = { 0 };

	ck_assert_int_eq(syscall(SYS_capget, &head, d), 0);
	c->effective = (uint64_t)d[1].effective << 32 | d[0].effective;
	c->permitted = (uint64_t)d[1].permitted << 32 | d[0].permitted;
	c->inheritable = (uint64_t)d[1].inheritable << 32 | d[0].inheritable;
}

static int set(const struct caps *c)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct d[2] = {
		{ (uint32_t)c->effective, (uint32_t)c->permitted, (uint32_t)c->inheritable },
		{ (uint32_t)(c->effective >> 32), (uint32_t)(c->permitted >> 32), (uint32_t)(c->inheritable >> 32) },
	};

	return (int)syscall(SYS_capset, &head, d);
}

/* Capabilities are dropped for good, so each test runs in a child. Its exit status is the failed check. */
static int in_child(int (*fn)(int row), int row)
{
	pid_t pid = fork();
	int status;

	ck_assert_int_ge(pid, 0);
	if (!pid)
		_exit(fn(row));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status), "killed by signal %d", WTERMSIG(status));
	return WEXITSTATUS(status);
}

static bool bounded(int cap)
{
	return prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 1;
}

static bool is_ambient(int cap)
{
	return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, cap, 0, 0) == 1;
}

/* The answer of privileges_need.again, and the effective capabilities at that time. */
struct tried {
	int answer;
	unsigned int calls;
	struct caps caps;
};

static int try_event(void *ctx)
{
	struct tried *t = ctx;

	t->calls++;
	get(&t->caps);
	return t->answer;
}

static const struct {
	const char *name;
	unsigned int uses;
	uint64_t without; /* the process did not have these */
	int answer;       /* result of trying an event; 1: none is tried */
	uint64_t keep;
} sets[] = {
	{ "a recording", 0, 0, 1, FILES_CAPS },
	{ "a recording, -o", PRIVILEGES_REPORT, 0, 1, FILES_CAPS | C(DAC_OVERRIDE) | C(FOWNER) },
	{ "rings", LIVE, 0, 0, LIVE_CAPS },
	{ "rings, -o", LIVE | PRIVILEGES_REPORT, 0, 0, LIVE_CAPS | C(DAC_OVERRIDE) | C(FOWNER) },
	{ "a command", LIVE | PRIVILEGES_COMMAND, 0, 0, LIVE_CAPS | C(KILL) },
	{ "a command, without CAP_KILL", LIVE | PRIVILEGES_COMMAND, C(KILL), 0, LIVE_CAPS },
	{ "bpf", LIVE | PRIVILEGES_BPF, 0, 0, LIVE_CAPS | C(BPF) },
	{ "no perfmon", LIVE, C(PERFMON), 1, (LIVE_CAPS & ~C(PERFMON)) | C(SYS_ADMIN) },
	{ "no bpf", LIVE | PRIVILEGES_BPF, C(BPF), 1, LIVE_CAPS | C(SYS_ADMIN) },
	{ "no bpf, and no use for it", LIVE, C(BPF), 0, LIVE_CAPS },
	{ "no map_files", LIVE, C(CHECKPOINT_RESTORE), 1, (LIVE_CAPS & ~C(CHECKPOINT_RESTORE)) | C(SYS_ADMIN) },
	{ "no admin", LIVE | PRIVILEGES_BPF, C(SYS_ADMIN), 1, LIVE_CAPS | C(BPF) },
	{ "neither", LIVE, C(PERFMON) | C(SYS_ADMIN), 1, LIVE_CAPS & ~C(PERFMON) },
	{ "a kernel that needs more", LIVE, 0, -EACCES, LIVE_CAPS | C(SYS_ADMIN) },
	{ "the same with another error", LIVE, 0, -EPERM, LIVE_CAPS | C(SYS_ADMIN) },
	{ "other errors", LIVE, 0, -ENODEV, LIVE_CAPS },
	{ "other errors", LIVE, 0, -EMFILE, LIVE_CAPS },
	{ "nothing at all", LIVE, UINT64_MAX, 1, 0 },
	{ "without CAP_SETPCAP", LIVE, C(SETPCAP), 0, LIVE_CAPS },
};

static int drop_set(int row)
{
	struct tried tried = { .answer = sets[row].answer };
	struct privileges_need need = { sets[row].uses, try_event, &tried };
	struct caps had, c;
	struct err err = { 0 };
	uint64_t keep;

	get(&had);
	c.effective = c.permitted = had.permitted & ~sets[row].without;
	c.inheritable = c.permitted & (C(CHOWN) | C(SYSLOG));
	if (set(&c))
		return 1;
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYSLOG, 0, 0);
	keep = sets[row].keep & had.permitted;
	if (privileges_drop(&need, &err) || err.code)
		return 2;
	/* The test opens its event without the capabilities to be dropped. */
	if (had.permitted & C(SYS_ADMIN) && tried.calls != (sets[row].answer != 1))
		return 3;
	if (tried.calls && tried.caps.effective & C(SYS_ADMIN))
		return 4;
	get(&c);
	if (c.effective != keep || c.permitted != keep || c.inheritable)
		return 5;
	if (is_ambient(CAP_SYSLOG))
		return 6;
	if (bounded(CAP_CHOWN) != (sets[row].without & C(SETPCAP) && had.permitted & C(CHOWN)))
		return 7;
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : 8;
}

START_TEST(test_sets)
{
	struct caps c;
	int step;

	get(&c);
	if (geteuid() || !(c.permitted & C(SETPCAP)))
		return; /* test_nothing() covers other users */
	step = in_child(drop_set, _i);
	ck_assert_msg(!step, "%s: step %d", sets[_i].name, step);
}
END_TEST

/* A bounding set that lacks some capabilities before is emptied, too. */
static int empty_bounding(int row)
{
	static const int holes[] = { CAP_CHOWN, CAP_NET_RAW };
	struct privileges_need need = { .uses = 0 };
	struct err err = { 0 };
	size_t i;
	int cap;

	(void)row;
	for (i = 0; i < ARRAY_SIZE(holes); i++)
		if (prctl(PR_CAPBSET_DROP, holes[i], 0, 0, 0))
			return 1;
	if (privileges_drop(&need, &err) || err.code)
		return 2;
	for (cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (bounded(cap))
			return 3;
	return cap > CAP_SYSLOG ? 0 : 4;
}

START_TEST(test_bounding)
{
	struct caps c;

	get(&c);
	if (c.effective & C(SETPCAP)) /* others cannot empty it */
		ck_assert_int_eq(in_child(empty_bounding, 0), 0);
}
END_TEST

/* For a process without capabilities. */
static int drop_nothing(int row)
{
	struct tried tried = { .answer = -EACCES };
	struct privileges_need need = { LIVE | PRIVILEGES_BPF, try_event, &tried };
	struct caps c = { 0 };
	struct err err = { 0 };

	(void)row;
	if (!geteuid() && setresuid(STRANGER, STRANGER, STRANGER))
		return 1;
	if (set(&c))
		return 2;
	if (privileges_drop(&need, &err) || err.code || tried.calls)
		return 3;
	if (open("/proc/self/maps", O_RDONLY | O_CLOEXEC) < 0 || open("/proc/self/fd", O_RDONLY | O_CLOEXEC) < 0)
		return 4;
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : 5;
}

START_TEST(test_nothing)
{
	ck_assert_int_eq(in_child(drop_nothing, 0), 0);
}
END_TEST

static char *dir;

static const struct {
	const char *name;
	unsigned int uses;
	mode_t mode; /* of the directory, which another user owns */
	bool reads, renames;
} folders[] = {
	{ "no report", LIVE, 0700, true, false },
	{ "a report", LIVE | PRIVILEGES_REPORT, 0700, true, true },
	{ "no report, directory writable for all", LIVE, 0777, true, true },
	{ "no report, like /tmp", LIVE, 01777, true, false },
	{ "a report, like /tmp", LIVE | PRIVILEGES_REPORT, 01777, true, true },
};

static int use_folder(int row)
{
	struct privileges_need need = { .uses = folders[row].uses };
	struct err err = { 0 };
	int fd;

	if (chdir(dir) || chown(".", STRANGER, STRANGER) || chmod(".", folders[row].mode))
		return 1;
	if (chown("theirs", STRANGER, STRANGER) || chmod("theirs", 0600))
		return 2;
	if (privileges_drop(&need, &err))
		return 3;
	fd = open("theirs", O_RDONLY | O_CLOEXEC);
	if ((fd >= 0) != folders[row].reads)
		return 4;
	fd = open("theirs", O_WRONLY | O_CLOEXEC);
	if ((fd >= 0) != !!(folders[row].uses & PRIVILEGES_REPORT))
		return 5;
	return !rename("ours", "theirs") == folders[row].renames ? 0 : 6;
}

START_TEST(test_folders)
{
	struct caps c;
	int step;

	get(&c);
	if (geteuid() || !(c.permitted & C(CHOWN)) || !(c.permitted & C(DAC_READ_SEARCH)))
		return;
	dir = unit_tmpdir();
	unit_write(dir, "ours", "x", 1);
	unit_write(dir, "theirs", "y", 1);
	step = in_child(use_folder, _i);
	ck_assert_msg(!step, "%s: step %d", folders[_i].name, step);
	unit_rmdir(dir);
}
END_TEST

/* Open the first entry of directory @name of process @pid, or @name itself if it is no directory. */
static bool opens(pid_t pid, const char *name)
{
	char path[600];
	struct dirent *e = NULL;
	DIR *d;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	d = strcmp(name, "map_files") ? NULL : opendir(path);
	while (d && (e = readdir(d)) && *e->d_name == '.')
		;
	if (e)
		snprintf(path, sizeof(path), "/proc/%d/%s/%s", pid, name, e->d_name);
	if (d)
		closedir(d);
	if (!e && !strcmp(name, "map_files"))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static const struct {
	const char *name;
	unsigned int uses;
	bool processes;
} strangers[] = {
	{ "a recording", 0, false },
	{ "a report of one", PRIVILEGES_REPORT, false },
	{ "a live run", LIVE, true },
	{ "a live run in the kernel", LIVE | PRIVILEGES_BPF, true },
};

/*
 * @ready: written when this process has changed its user. @alive: closed when the parent ends; then this process ends,
 * too, because the parent may not kill it any more.
 */
static void be_stranger(int ready, int alive)
{
	char byte;

	if (setresgid(STRANGER, STRANGER, STRANGER) || setresuid(STRANGER, STRANGER, STRANGER))
		_exit(1);
	if (write(ready, "", 1) != 1)
		_exit(1);
	_exit(read(alive, &byte, 1) != 0);
}

static int read_stranger(int row)
{
	static const char *const files[] = { "maps", "root", "map_files" };
	struct privileges_need need = { .uses = strangers[row].uses };
	struct err err = { 0 };
	int ready[2], alive[2], rc = 0;
	char byte;
	pid_t pid;
	size_t i;

	if (pipe(ready) || pipe(alive))
		return 1;
	pid = fork();
	if (!pid) {
		close(alive[1]);
		be_stranger(ready[1], alive[0]);
	}
	close(ready[1]);
	if (pid < 0 || read(ready[0], &byte, 1) != 1)
		return 2;
	if (privileges_drop(&need, &err))
		rc = 3;
	for (i = 0; i < ARRAY_SIZE(files) && !rc; i++)
		if (opens(pid, files[i]) != strangers[row].processes)
			rc = 4 + (int)i;
	return rc;
}

START_TEST(test_strangers)
{
	struct caps c;
	int step;

	get(&c);
	if (geteuid() || !(c.permitted & C(SETUID)) || !(c.permitted & C(SYS_PTRACE)) ||
	    !(c.permitted & (C(SYS_ADMIN) | C(CHECKPOINT_RESTORE))))
		return;
	step = in_child(read_stranger, _i);
	ck_assert_msg(!step, "%s: step %d", strangers[_i].name, step);
}
END_TEST

/* Ambient capabilities matter at exec: see tests/live/filecaps. */
START_TEST(test_not_lent)
{
	struct caps before, now;
	uint64_t effective;
	struct err err = { 0 };

	get(&before);
	ck_assert_int_eq(privileges_begin(&err), 0);
	ck_assert(!privileges_lent());
	setenv("TEST_NOT_LENT", "1", 1);
	effective = privileges_as_caller();
	get(&now);
	ck_assert_mem_eq(&now, &before, sizeof(now));
	privileges_back(effective);
	effective = privileges_only(PRIVILEGES_BPF);
	privileges_use();
	privileges_back(effective);
	ck_assert_int_eq(privileges_return(), 0);
	get(&now);
	ck_assert_mem_eq(&now, &before, sizeof(now));
	ck_assert_ptr_nonnull(getenv("TEST_NOT_LENT"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("privileges");
	TCase *t = tcase_create("drop");

	tcase_add_loop_test(t, test_sets, 0, ARRAY_SIZE(sets));
	tcase_add_test(t, test_bounding);
	tcase_add_test(t, test_nothing);
	tcase_add_loop_test(t, test_folders, 0, ARRAY_SIZE(folders));
	tcase_add_loop_test(t, test_strangers, 0, ARRAY_SIZE(strangers));
	suite_add_tcase(s, t);
	t = tcase_create("lent");
	tcase_add_test(t, test_not_lent);
	suite_add_tcase(s, t);
	return unit_main(s);
}
