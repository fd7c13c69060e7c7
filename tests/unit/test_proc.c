// SPDX-License-Identifier: Apache-2.0
#include "core/tasks/proc.h"
#include "core/tasks/tasks.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char *top;
static struct host host;

static void setup(void)
{
	top = unit_tmpdir();
	host = (struct host){ .proc = top, .sys = "/nowhere" };
}

static void teardown(void)
{
	unit_rmdir(top);
}

static void put(const char *name, const char *text)
{
	unit_write(top, name, text, strlen(text));
}

#define M "1000-2000 r-xp 00000000 08:01 7"

static const struct {
	const char *in;
	struct proc_map want; /* path NULL: refused */
} lines[] = {
	{ "00400000-0048a000 r-xp 00001000 fd:03 960637       /bin/bash",
	  { 0x400000, 0x48a000, 0x1000, true, 0xfd, 3, 960637, (char *)"/bin/bash" } },
	{ "7f0000000000-7f0000001000 rw-p 00000000 00:00 0 ", { 0x7f0000000000, 0x7f0000001000, .path = (char *)"" } },
	{ "7f0000000000-7f0000001000 rwxp 00000000 00:00 0",
	  { 0x7f0000000000, 0x7f0000001000, 0, true, .path = (char *)"" } },
	{ "1000-2000 --xs 00000000 00:00 0  [vdso]", { 0x1000, 0x2000, 0, true, .path = (char *)"[vdso]" } },
	{ "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]",
	  { 0xffffffffff600000, 0xffffffffff601000, 0, true, .path = (char *)"[vsyscall]" } },
	{ "0-ffffffffffffffff ---p ffffffffffffffff ffffffff:ffffffff 18446744073709551615 /f",
	  { 0, UINT64_MAX, UINT64_MAX, false, UINT32_MAX, UINT32_MAX, UINT64_MAX, (char *)"/f" } },
	/* contents of a path */
	{ M " /a b  c", { 0x1000, 0x2000, 0, true, 8, 1, 7, (char *)"/a b  c" } },
	{ M " /a ", { 0x1000, 0x2000, 0, true, 8, 1, 7, (char *)"/a " } },
	{ M " /a (deleted)", { 0x1000, 0x2000, 0, true, 8, 1, 7, (char *)"/a (deleted)" } },
	{ M " /a (deleted) (deleted)", { 0x1000, 0x2000, 0, true, 8, 1, 7, (char *)"/a (deleted) (deleted)" } },
	{ M " /memfd:x y (deleted)", { 0x1000, 0x2000, 0, true, 8, 1, 7, (char *)"/memfd:x y (deleted)" } },
	{ M " /a (deleted) ", { 0x1000, 0x2000, 0, true, 8, 1, 7, (char *)"/a (deleted) " } },
	{ M " /a(deleted)", { 0x1000, 0x2000, 0, true, 8, 1, 7, (char *)"/a(deleted)" } },
	{ M "  (deleted)", { 0x1000, 0x2000, 0, true, 8, 1, 7, (char *)"(deleted)" } },
	{ M " /a\\012b", { 0x1000, 0x2000, 0, true, 8, 1, 7, (char *)"/a\nb" } },
	{ M " \\012\\012", { 0x1000, 0x2000, 0, true, 8, 1, 7, (char *)"\n\n" } },
	{ M " /a\\012 (deleted)", { 0x1000, 0x2000, 0, true, 8, 1, 7, (char *)"/a\n (deleted)" } },
	{ M " /a\\011b\\", { 0x1000, 0x2000, 0, true, 8, 1, 7, (char *)"/a\\011b\\" } },
	{ M " /a\\01", { 0x1000, 0x2000, 0, true, 8, 1, 7, (char *)"/a\\01" } },
	{ M " /a\\\\012", { 0x1000, 0x2000, 0, true, 8, 1, 7, (char *)"/a\\\n" } },
	{ M " /\xff\x01", { 0x1000, 0x2000, 0, true, 8, 1, 7, (char *)"/\xff\x01" } },
	/* truncated lines */
	{ "", { 0 } },
	{ "1000", { 0 } },
	{ "1000-", { 0 } },
	{ "1000-2000", { 0 } },
	{ "1000-2000 ", { 0 } },
	{ "1000-2000 r", { 0 } },
	{ "1000-2000 r-xp", { 0 } },
	{ "1000-2000 r-xp ", { 0 } },
	{ "1000-2000 r-xp 0", { 0 } },
	{ "1000-2000 r-xp 0 ", { 0 } },
	{ "1000-2000 r-xp 0 08", { 0 } },
	{ "1000-2000 r-xp 0 08:", { 0 } },
	{ "1000-2000 r-xp 0 08:01", { 0 } },
	{ "1000-2000 r-xp 0 08:01 ", { 0 } },
	/* a field is missing */
	{ "-2000 r-xp 0 08:01 7 /f", { 0 } },
	{ "1000- r-xp 0 08:01 7 /f", { 0 } },
	{ "1000-2000 0 08:01 7 /f", { 0 } },
	{ "1000-2000 r-xp 08:01 7 /f", { 0 } },
	{ "1000-2000 r-xp 0 7 /f", { 0 } },
	{ "1000-2000 r-xp 0 :01 7 /f", { 0 } },
	{ "1000-2000 r-xp 0 08: 7 /f", { 0 } },
	{ "1000-2000 r-xp 0 08:01 /f", { 0 } },
	{ "r-xp 0 08:01 7 /f", { 0 } },
	/* invalid ranges */
	{ "2000-2000 r-xp 0 08:01 7 /f", { 0 } },
	{ "2000-1000 r-xp 0 08:01 7 /f", { 0 } },
	{ "0-0 r-xp 0 08:01 7 /f", { 0 } },
	/* invalid numbers, or too large ones */
	{ "10000000000000000-20000000000000000 r-xp 0 08:01 7 /f", { 0 } },
	{ "1000-10000000000000000 r-xp 0 08:01 7 /f", { 0 } },
	{ "1000-ffffffffffffffffffffffffffffffff r-xp 0 08:01 7 /f", { 0 } },
	{ "1000-2000 r-xp 10000000000000000 08:01 7 /f", { 0 } },
	{ "1000-2000 r-xp 0 100000000:01 7 /f", { 0 } },
	{ "1000-2000 r-xp 0 08:100000000 7 /f", { 0 } },
	{ "1000-2000 r-xp 0 08:01 18446744073709551616 /f", { 0 } },
	{ "1000-2000 r-xp 0 08:01 99999999999999999999999", { 0 } },
	{ "1000-2000 r-xp 0 08:01 7f /f", { 0 } },
	{ "1000-2000 r-xp 0 08:01 -7 /f", { 0 } },
	{ "1000-2000 r-xp 0 08:01 7\t/f", { 0 } },
	{ "1000-2000 r-xp -0 08:01 7 /f", { 0 } },
	{ "1000-2000 r-xp 0 8.01 7 /f", { 0 } },
	{ "0x1000-0x2000 r-xp 0 08:01 7 /f", { 0 } },
	{ "1000-2000g r-xp 0 08:01 7 /f", { 0 } },
	{ "+1000-2000 r-xp 0 08:01 7 /f", { 0 } },
	{ " 1000-2000 r-xp 0 08:01 7 /f", { 0 } },
	{ "1000 - 2000 r-xp 0 08:01 7 /f", { 0 } },
	{ "1000-2000  r-xp 0 08:01 7 /f", { 0 } },
	{ "1000-2000 r-xp  0 08:01 7 /f", { 0 } },
	{ "1000-2000 r-xp 0 08:01  7 /f", { 0 } },
	{ "1000_2000 r-xp 0 08:01 7 /f", { 0 } },
	/* permissions of a wrong length */
	{ "1000-2000 r-x 0 08:01 7 /f", { 0 } },
	{ "1000-2000 r-xps 0 08:01 7 /f", { 0 } },
	{ "1000-2000  0 08:01 7 /f", { 0 } },
	/* other files of /proc/PID */
	{ "Name:\tbash", { 0 } },
	{ "Size:                552 kB", { 0 } },
	{ "VmFlags: rd ex mr mw me dw sd", { 0 } },
};

START_TEST(test_line)
{
	char *line = strdup(lines[_i].in); /* exactly as long: sanitizers find reads beyond it */
	const struct proc_map *want = &lines[_i].want, untouched = { .start = 77, .path = (char *)"?" };
	struct proc_map m = untouched;

	ck_assert_int_eq(proc_map_parse(line, &m), want->path ? 0 : -EINVAL);
	if (!want->path)
		want = &untouched;
	ck_assert_uint_eq(m.start, want->start);
	ck_assert_uint_eq(m.end, want->end);
	ck_assert_uint_eq(m.pgoff, want->pgoff);
	ck_assert_int_eq(m.exec, want->exec);
	ck_assert_uint_eq(m.maj, want->maj);
	ck_assert_uint_eq(m.min, want->min);
	ck_assert_uint_eq(m.ino, want->ino);
	ck_assert_str_eq(m.path, want->path);
	free(line);
}
END_TEST

/* Any line truncated anywhere: read or refused, never read beyond its end. */
START_TEST(test_cut)
{
	size_t len = strlen(lines[_i].in), at;
	struct proc_map m;

	for (at = 0; at <= len; at++) {
		char *line = strndup(lines[_i].in, at);

		if (!proc_map_parse(line, &m)) {
			ck_assert_uint_lt(m.start, m.end);
			ck_assert(m.path >= line && m.path <= line + at);
		}
		free(line);
	}
}
END_TEST

struct seen {
	size_t nr;
	char paths[8][16];
	int stop_at, rc;
};

static int see(void *ctx, const struct proc_map *m)
{
	struct seen *s = ctx;

	snprintf(s->paths[s->nr % 8], sizeof(s->paths[0]), "%s", m->path);
	return (int)++s->nr == s->stop_at ? s->rc : 0;
}

START_TEST(test_maps)
{
	struct seen s = { 0 }, one = { .stop_at = 1, .rc = -EDOM }, none = { 0 };

	put("12/maps", "1000-2000 r-xp 0 08:01 7 /one\n"
		       "nonsense\n"
		       "\n"
		       "2000-1000 r-xp 0 08:01 7 /backwards\n"
		       "3000-4000 rw-p 0 00:00 0 \n"
		       "5000-6000 r-xp 0 08:01 7 /last"); /* no newline */
	ck_assert_int_eq(proc_maps(&host, 12, see, &s), 0);
	ck_assert_uint_eq(s.nr, 3);
	ck_assert_str_eq(s.paths[0], "/one");
	ck_assert_str_eq(s.paths[1], "");
	ck_assert_str_eq(s.paths[2], "/last");

	ck_assert_int_eq(proc_maps(&host, 12, see, &one), -EDOM);
	ck_assert_uint_eq(one.nr, 1);

	put("13/maps", "");
	ck_assert_int_eq(proc_maps(&host, 13, see, &none), 0);
	ck_assert_int_eq(proc_maps(&host, 14, see, &none), -ENOENT);
	ck_assert_int_eq(proc_maps(&host, -1, see, &none), -ENOENT);
	ck_assert_uint_eq(none.nr, 0);
}
END_TEST

/* A path of maximal length, with each byte escaped. */
START_TEST(test_long_path)
{
	static const char head[] = M " ";
	enum { LEN = 4095 };
	char *text = malloc(sizeof(head) + 4 * LEN), *p = text + sizeof(head) - 1;
	struct seen s = { 0 };
	int i;

	memcpy(text, head, sizeof(head) - 1);
	for (i = 0; i < LEN; i++, p += 4)
		memcpy(p, "\\012", 4);
	*p++ = '\n';
	unit_write(top, "12/maps", text, (size_t)(p - text));
	ck_assert_int_eq(proc_maps(&host, 12, see, &s), 0);
	ck_assert_uint_eq(s.nr, 1);
	ck_assert_str_eq(s.paths[0], "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n");
	free(text);
}
END_TEST

static const struct {
	const char *text, *comm;
} names[] = {
	{ "bash\n", "bash" },
	{ "exactly15chars_\n", "exactly15chars_" },
	{ "more than fifteen characters\n", "more than fifte" },
	{ "no newline", "no newline" },
	{ "", "" },
	{ "\n", "" },
	{ "in\nside\n", "in\nside" },
	{ "end\n\n", "end\n" },
	{ " (x) \n", " (x) " },
	{ "\xff\x1b[2J\n", "\xff\x1b[2J" },
	/* workers: their last work follows their name */
	{ "kworker/0:1-events\n", "kworker/0:1" },
	{ "kworker/0:1H-kblockd\n", "kworker/0:1H" },
	{ "kworker/0:0H-events_highpri\n", "kworker/0:0H" },
	{ "kworker/u8:2+flush-8:0\n", "kworker/u8:2" },
	{ "kworker/u8:1-ext4-rsv-conversion\n", "kworker/u8:1" },
	{ "kworker/u257:0-a\n", "kworker/u257:0" },
	{ "kworker/127:10+mm_percpu_wq\n", "kworker/127:10" },
	{ "kworker/0:1-\n", "kworker/0:1" },
	{ "kworker/u9:0\n", "kworker/u9:0" },
	{ "kworker/0:1-0123456789012345678901234567890123456789012345678901234567890123456789\n", "kworker/0:1" },
	/* names that end elsewhere */
	{ "kworker/R-kblockd\n", "kworker/R-kbloc" },
	{ "kworker/R-foo\n", "kworker/R-foo" },
	{ "kworker/dying\n", "kworker/dying" },
	{ "kworker/\n", "kworker/" },
	{ "kworker/-x\n", "kworker/-x" },
	{ "kworker\n", "kworker" },
	{ "kworker-0:1-x\n", "kworker-0:1-x" },
	{ "Kworker/0:1-x\n", "Kworker/0:1-x" },
	{ "xkworker/0:1-x\n", "xkworker/0:1-x" },
	{ "ksoftirqd/0\n", "ksoftirqd/0" },
};

START_TEST(test_comm)
{
	char comm[COMM_LEN + 1], want[COMM_LEN] = "";

	memset(comm, '#', sizeof(comm));
	strncpy(want, names[_i].comm, COMM_LEN - 1);
	put("12/task/13/comm", names[_i].text);
	put("12/task/13/stat", "13 (kworker/0:1-) S 2 3 0 0 -1 69238880 0 0\n");
	ck_assert_int_eq(proc_comm(&host, 12, 13, comm), 0);
	ck_assert_mem_eq(comm, want, COMM_LEN);
	ck_assert_int_eq(comm[COMM_LEN], '#');
}
END_TEST

/* Other threads may have the name of a worker. */
static const char *const no_workers[] = {
	NULL, /* no such file */
	"",
	"13",
	"13 (kworker/0:1-x",
	"13 (kworker/0:1-x)",
	"13 (kworker/0:1-x) S",
	"13 (kworker/0:1-x) S 2 3 0 0 -1\n",
	"13 (kworker/0:1-x) S 2 3 0 0 -1 0 0\n",
	"13 (kworker/0:1-x) S 2 3 0 0 -1 4194304 0\n",
	"13 (kworker/0:1-x) S 2 3 0 0 -1 2129984 0\n", /* a kernel thread */
	"13 (kworker/0:1-x) S 2 3 0 0 32 0 0\n",
	"13 (kworker/0:1-x) S 32 32 32 32 32 x\n",
	"13 (() S 1 1 1 1 1 32 )) S 2 3 0 0 -1 0 0\n", /* a name that looks like the rest of the line */
};

START_TEST(test_no_worker)
{
	char comm[COMM_LEN];

	put("12/task/13/comm", "kworker/0:1-x\n");
	if (no_workers[_i])
		put("12/task/13/stat", no_workers[_i]);
	ck_assert_int_eq(proc_comm(&host, 12, 13, comm), 0);
	ck_assert_str_eq(comm, "kworker/0:1-x");
}
END_TEST

START_TEST(test_comm_absent)
{
	char comm[COMM_LEN] = "untouched";
	char path[512];

	put("12/task/12/comm", "x\n");
	ck_assert_int_eq(proc_comm(&host, 12, 13, comm), -ENOENT);
	ck_assert_int_eq(proc_comm(&host, 13, 12, comm), -ENOENT);
	ck_assert_int_eq(proc_comm(&host, -1, -1, comm), -ENOENT);
	ck_assert_int_eq(proc_comm(&host, 0, 0, comm), -ENOENT);
	snprintf(path, sizeof(path), "%s/12/task/14/comm", top);
	put("12/task/14/x", "");
	ck_assert_int_eq(mkdir(path, 0755), 0);
	ck_assert_int_eq(proc_comm(&host, 12, 14, comm), -EISDIR);
	ck_assert_str_eq(comm, "untouched");
}
END_TEST

/* The target of the link, which is not a file name. */
static const struct {
	const char *to; /* NULL: there is no link */
	int rc;
	uint64_t ino;
} links[] = {
	{ "mnt:[4026531841]", 0, 4026531841 },
	{ "mnt:[1]", 0, 1 },
	{ "mnt:[4294967295]", 0, 4294967295 },
	{ "mnt:[4294967296]", -EBADMSG, 0 },
	{ "mnt:[0]", -EBADMSG, 0 },
	{ "mnt:[]", -EBADMSG, 0 },
	{ "mnt:[-1]", -EBADMSG, 0 },
	{ "mnt:[1", -EBADMSG, 0 },
	{ "mnt:[1]]", -EBADMSG, 0 },
	{ "mnt:[1] ", -EBADMSG, 0 },
	{ "mnt:1", -EBADMSG, 0 },
	{ "mnt:", -EBADMSG, 0 },
	{ "net:[4026531841]", -EBADMSG, 0 },
	{ "/", -EBADMSG, 0 },
	/* Longer than any real one */
	{ "mnt:[00000000000000000000000000000000000000000000000000000000001]", -EBADMSG, 0 },
	{ NULL, -ENOENT, 0 },
};

START_TEST(test_mntns)
{
	uint64_t ino = 0;
	char path[512];

	put("12/task/13/ns/net", "");
	snprintf(path, sizeof(path), "%s/12/task/13/ns/mnt", top);
	if (links[_i].to)
		ck_assert_int_eq(symlink(links[_i].to, path), 0);
	ck_assert_int_eq(proc_mntns(&host, 12, 13, &ino), links[_i].rc);
	ck_assert_uint_eq(ino, links[_i].ino);
}
END_TEST

START_TEST(test_mntns_here)
{
	struct stat st;
	uint64_t ino;

	ck_assert_int_eq(stat("/proc/self/ns/mnt", &st), 0);
	ck_assert_int_eq(proc_mntns(&host_here, getpid(), getpid(), &ino), 0);
	ck_assert_uint_eq(ino, st.st_ino);
}
END_TEST

/* An open descriptor keeps the namespace. */
START_TEST(test_hold_mntns)
{
	int fds = unit_open_fds(), fd;
	struct stat st, held;
	uint64_t ino = 0;

	ck_assert_int_eq(proc_hold_mntns(&host, 12, &ino), -ENOENT);
	put("12/ns", "");
	ck_assert_int_eq(proc_hold_mntns(&host, 12, &ino), -ENOTDIR);
	ck_assert_uint_eq(ino, 0);
	ck_assert_int_eq(unit_open_fds(), fds);
	ck_assert_int_eq(stat("/proc/self/ns/mnt", &st), 0);
	fd = proc_hold_mntns(&host_here, getpid(), &ino);
	ck_assert_int_ge(fd, 0);
	ck_assert_uint_eq(ino, st.st_ino);
	ck_assert_int_eq(fstat(fd, &held), 0);
	ck_assert(held.st_dev == st.st_dev && held.st_ino == st.st_ino);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
}
END_TEST

struct ids {
	long pids, tids;
	size_t nr, stop_at;
	pid_t only; /* 0: all processes */
};

static int sum_ids(void *ctx, pid_t pid, pid_t tid)
{
	struct ids *s = ctx;

	if (s->only && pid != s->only)
		return 0;
	s->pids += pid;
	s->tids += tid;
	return ++s->nr == s->stop_at ? -EDOM : 0;
}

START_TEST(test_threads)
{
	struct ids s = { 0 }, two = { .stop_at = 2 };
	struct host nowhere = { .proc = "/nowhere/at/all", .sys = "/nowhere" };

	put("1/task/1/comm", "");
	put("20/task/20/comm", "");
	put("20/task/300/comm", "");
	put("4000/task/none", ""); /* its threads have just ended */
	put("50000/comm", "");
	put("2147483647/task/2147483647/comm", "");
	/* not processes, not threads */
	put("self/task/7/comm", "");
	put("2147483648/task/7/comm", "");
	put("99999999999999999999/task/7/comm", "");
	put("0/task/7/comm", "");
	put("-5/task/7/comm", "");
	put("5x/task/7/comm", "");
	put("a/task/7/comm", "");
	put("6/task/x/comm", "");
	put("6/task/0/comm", "");
	put("7", "a file");
	ck_assert_int_eq(proc_processes(&host, sum_ids, &s), 0);
	ck_assert_uint_eq(s.nr, 4);
	ck_assert_int_eq(s.pids, 1L + 20 + 20 + 2147483647);
	ck_assert_int_eq(s.tids, 1L + 20 + 300 + 2147483647);
	ck_assert_int_eq(proc_processes(&host, sum_ids, &two), -EDOM);
	ck_assert_uint_eq(two.nr, 2);
	ck_assert_int_eq(proc_processes(&nowhere, sum_ids, &s), -ENOENT);
}
END_TEST

static int find_code(void *ctx, const struct proc_map *m)
{
	uintptr_t code = (uintptr_t)find_code;

	(void)ctx;
	return m->exec && m->start <= code && code < m->end && *m->path == '/' ? 1 : 0;
}

static int find_self(void *ctx, pid_t pid, pid_t tid)
{
	(void)ctx;
	return pid == getpid() && tid == getpid() ? 1 : 0;
}

/* The kernel's real files, not imitations. */
START_TEST(test_real)
{
	char comm[COMM_LEN];

	ck_assert_int_eq(proc_maps(&host_here, getpid(), find_code, NULL), 1);
	ck_assert_int_eq(proc_processes(&host_here, find_self, NULL), 1);
	ck_assert_int_eq(proc_comm(&host_here, getpid(), getpid(), comm), 0);
	ck_assert_uint_gt(strlen(comm), 0);
}
END_TEST

static void *tell_and_wait(void *fds)
{
	const int *p = fds;
	pid_t tid = (pid_t)syscall(SYS_gettid);
	char c;

	if (write(p[1], &tid, sizeof(tid)) != sizeof(tid) || read(p[2], &c, 1) != 1)
		abort();
	return NULL;
}

static void assert_threads(pid_t pid, size_t nr, long tids)
{
	struct ids s = { .only = pid }, all = { .only = pid };

	ck_assert_int_eq(proc_threads(&host_here, pid, sum_ids, &s), 0);
	ck_assert_int_eq(proc_processes(&host_here, sum_ids, &all), 0);
	ck_assert_uint_eq(s.nr, nr);
	ck_assert_int_eq(s.tids, tids);
	ck_assert_uint_eq(all.nr, nr);
	ck_assert_int_eq(all.tids, tids);
}

struct joined {
	struct ids ids;
	const int *pipes;
	pid_t tid; /* the thread that was created meanwhile */
};

/* Create another thread when one is seen. */
static int join_in(void *ctx, pid_t pid, pid_t tid)
{
	struct joined *j = ctx;

	if (pid == j->ids.only && !j->tid) {
		ck_assert_int_eq(write(j->pipes[3], "x", 1), 1);
		ck_assert_int_eq(read(j->pipes[0], &j->tid, sizeof(j->tid)), sizeof(j->tid));
	}
	return sum_ids(&j->ids, pid, tid);
}

/* Single-threaded or not, by the links of a real directory, also after the leader has ended; and no process. */
START_TEST(test_real_threads)
{
	int p[4];
	pthread_t thread;
	struct joined joined;
	char c;
	pid_t child, tid;

	ck_assert_int_eq(pipe(p), 0);
	ck_assert_int_eq(pipe(p + 2), 0);
	child = fork();
	if (!child) {
		tid = getpid();
		if (write(p[1], &tid, sizeof(tid)) != sizeof(tid) || read(p[2], &c, 1) != 1 ||
		    pthread_create(&thread, NULL, tell_and_wait, p))
			abort();
		pthread_exit(NULL);
	}
	ck_assert_int_eq(read(p[0], &tid, sizeof(tid)), sizeof(tid));
	ck_assert_int_eq(tid, child);
	assert_threads(child, 1, child);
	joined = (struct joined){ .ids.only = child, .pipes = p };
	ck_assert_int_eq(proc_processes(&host_here, join_in, &joined), 0);
	tid = joined.tid;
	ck_assert_uint_eq(joined.ids.nr, 2);
	ck_assert_int_eq(joined.ids.tids, (long)child + tid);
	while (proc_lives(&host_here, child, child))
		sched_yield();
	assert_threads(child, 2, (long)child + tid);
	ck_assert_int_eq(write(p[3], "x", 1), 1);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	assert_threads(child, 0, 0);
	for (tid = 0; tid < 4; tid++)
		close(p[tid]);
}
END_TEST

static const struct {
	const char *stat; /* NULL: no such file */
	bool lives;
} states[] = {
	{ "7 (a) S 1 7 7 0", true },
	{ "7 (a) R 1", true },
	{ "7 (a) D 1", true },
	{ "7 (a) Z 1", false },
	{ "7 (a) X 1", false },
	{ "7 (a) x 1", false },
	{ "7 (a) Z) S 1", true },
	{ "7 () ) Z 1", false },
	{ "7 (a)", false },
	{ "7 (a) ", false },
	{ "7 a S 1", false },
	{ "", false },
	{ NULL, false },
};

START_TEST(test_lives)
{
	char *root = unit_tmpdir();
	struct host h = { .proc = root, .sys = "/nowhere" };

	if (states[_i].stat)
		unit_write(root, "7/task/7/stat", states[_i].stat, strlen(states[_i].stat));
	ck_assert_int_eq(proc_lives(&h, 7, 7), states[_i].lives);
	unit_rmdir(root);
}
END_TEST

/* Field 20 is the number of threads, 22 the start time. */
#define STAT(state, threads, started)                                                                                  \
	"7 (a b) " state " 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 " threads " 0 " started " 0 0"

static const struct {
	const char *stat;
	bool process_ended, thread_ended;
} ends[] = {
	{ STAT("S", "1", "99"), false, false },
	{ STAT("R", "5", "99"), false, false },
	{ STAT("Z", "1", "99"), true, true },
	{ STAT("Z", "0", "99"), true, true },
	{ STAT("X", "1", "99"), true, true },
	{ STAT("Z", "5", "99"), false, true },
	/* another process */
	{ STAT("S", "1", "100"), true, true },
	{ STAT("S", "1", "98"), true, true },
};

START_TEST(test_ended)
{
	char *root = unit_tmpdir();
	const struct host h = { .proc = root, .sys = root };

	unit_write(root, "7/stat", ends[_i].stat, strlen(ends[_i].stat));
	ck_assert_int_eq(proc_ended(&h, 7, true, 99), ends[_i].process_ended);
	ck_assert_int_eq(proc_ended(&h, 7, false, 99), ends[_i].thread_ended);
	/* With an unknown start time. */
	ck_assert_int_eq(proc_ended(&h, 7, false, 0), ends[_i].thread_ended && strchr("ZX", ends[_i].stat[8]));
	/* /proc does not show this process, nor one that does not exist. */
	ck_assert(!proc_ended(&h, getpid(), true, 99));
	ck_assert(proc_ended(&h, 5000001, true, 99));
	unit_rmdir(root);
}
END_TEST

static const struct {
	const char *status; /* NULL: no such file */
	int rc;
	uid_t uid;
	pid_t parent;
} owners[] = {
	{ "Name:\ta\nPid:\t7\nPPid:\t3\nTracerPid:\t0\nUid:\t1000\t0\t0\t0\n", 0, 1000, 3 },
	{ "Name:\ta\nPPid:\t0\nUid:\t0\t1\t2\t3\n", 0, 0, 0 },
	{ "Name:\ta\nPPid:\t2147483647\nUid:\t4294967295\t1\t2\t3\n", 0, UINT32_MAX, INT32_MAX },
	{ "Name:\tUid:\t5 PPid:\t6\nPPid:\t3\nUid:\t9\t1\t2\t3\n", 0, 9, 3 },
	{ "Name:\t\\nUid:\t5\nPPid:\t3\nUid:\t9\t1\t2\t3\n", 0, 9, 3 },
	{ "Name:\ta\nPPid:\t2147483648\nUid:\t0\t1\t2\t3\n", -EBADMSG, 0, 0 },
	{ "Name:\ta\nPPid:\t1\nUid:\t4294967296\t1\t2\t3\n", -EBADMSG, 0, 0 },
	{ "Name:\ta\nPPid:\t-1\nUid:\t0\t1\t2\t3\n", -EBADMSG, 0, 0 },
	{ "Name:\ta\nPPid:\t1\nUid:\t\n", -EBADMSG, 0, 0 },
	{ "Name:\ta\nPPid:\t1\nUid: 5\n", 0, 5, 1 },
	{ "Name:\ta\nPPid:\t1\n", -EBADMSG, 0, 0 },
	{ "Name:\ta\nUid:\t1\n", -EBADMSG, 0, 0 },
	{ "Uid:\t1\nPPid:\t2\n", 0, 1, 2 },
	{ "", -EBADMSG, 0, 0 },
	{ NULL, -ENOENT, 0, 0 },
};

START_TEST(test_owner)
{
	uid_t uid = 77;
	pid_t parent = 88;

	if (owners[_i].status)
		unit_write(top, "7/status", owners[_i].status, strlen(owners[_i].status));
	ck_assert_int_eq(proc_owner(&host, 7, &uid, &parent), owners[_i].rc);
	ck_assert_uint_eq(uid, owners[_i].rc ? 77 : owners[_i].uid);
	ck_assert_int_eq(parent, owners[_i].rc ? 88 : owners[_i].parent);
}
END_TEST

static const struct {
	const char *cgroup;
	int rc;
	const char *path;
} cgroups[] = {
	{ "0::/\n", 0, "/" },
	{ "0::/system.slice/a.service\n", 0, "/system.slice/a.service" },
	{ "1:name=systemd:/s\n0::/v2\n", 0, "/v2" },
	{ "0::/v2\n1:name=systemd:/s\n", 0, "/v2" },
	{ "4:memory:/m\n1:name=systemd:/s\n0::/\n", 0, "/s" },
	{ "9:name=systemd:/\n4:memory:/docker/1\n1:cpu:/2\n0::/\n", 0, "/docker/1" },
	{ "0::/a:b c", 0, "/a:b c" },
	{ "0::/a (deleted)\n", 0, "/a (deleted)" },
	/* No usable content. */
	{ "", -ENOENT, NULL },
	{ "0\n", -ENOENT, NULL },
	{ "0:cpu\n", -ENOENT, NULL },
	{ "/a\n", -ENOENT, NULL },
	{ NULL, -ENOENT, NULL },
};

START_TEST(test_cgroup)
{
	char *path;

	if (cgroups[_i].cgroup)
		unit_write(top, "7/cgroup", cgroups[_i].cgroup, strlen(cgroups[_i].cgroup));
	ck_assert_int_eq(proc_cgroup(&host, 7, &path), cgroups[_i].rc);
	if (cgroups[_i].path)
		ck_assert_str_eq(path, cgroups[_i].path);
	else
		ck_assert_ptr_null(path);
	free(path);
}
END_TEST

START_TEST(test_owner_here)
{
	pid_t parent;
	uid_t uid;

	ck_assert_int_eq(proc_owner(&host_here, getpid(), &uid, &parent), 0);
	ck_assert_uint_eq(uid, getuid());
	ck_assert_int_eq(parent, getppid());
}
END_TEST

static const struct {
	const char *loadavg; /* NULL: no such file */
	pid_t newest;
} loads[] = {
	{ "0.20 0.18 0.12 1/80 11206\n", 11206 },
	{ "0.20 0.18 0.12 1/80 2147483647\n", 2147483647 },
	{ "0.20 0.18 0.12 1/80 2147483648\n", 0 },
	{ "0.20 0.18 0.12 1/80 11206", 0 }, /* cut */
	{ "0.20 0.18 0.12 1/80\n", 0 },
	{ "0.20 0.18 0.12 1/80 \n", 0 },
	{ "0.20 0.18 0.12 1/80 -5\n", 0 },
	{ "0.20 0.18 0.12 1/80 5x\n", 0 },
	{ "11206\n", 0 },
	{ "\n", 0 },
	{ "", 0 },
	{ NULL, 0 },
};

START_TEST(test_newest)
{
	if (loads[_i].loadavg)
		unit_write(top, "loadavg", loads[_i].loadavg, strlen(loads[_i].loadavg));
	ck_assert_int_eq(proc_newest(&host), loads[_i].newest);
}
END_TEST

START_TEST(test_newest_here)
{
	pid_t before = proc_newest(&host_here), pid = fork(), after = proc_newest(&host_here);

	if (!pid)
		_exit(0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_gt(before, 0);
	/* Ids may wrap around. */
	ck_assert(after < before || (before < pid && pid <= after));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("proc");
	TCase *t = tcase_create("lines");

	tcase_add_loop_test(t, test_line, 0, ARRAY_SIZE(lines));
	tcase_add_loop_test(t, test_cut, 0, ARRAY_SIZE(lines));
	tcase_add_loop_test(t, test_lives, 0, ARRAY_SIZE(states));
	tcase_add_loop_test(t, test_ended, 0, ARRAY_SIZE(ends));
	suite_add_tcase(s, t);
	t = tcase_create("files");
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_maps);
	tcase_add_test(t, test_long_path);
	tcase_add_loop_test(t, test_comm, 0, ARRAY_SIZE(names));
	tcase_add_loop_test(t, test_no_worker, 0, ARRAY_SIZE(no_workers));
	tcase_add_test(t, test_comm_absent);
	tcase_add_test(t, test_threads);
	tcase_add_test(t, test_real);
	tcase_add_test(t, test_real_threads);
	tcase_add_loop_test(t, test_mntns, 0, ARRAY_SIZE(links));
	tcase_add_test(t, test_mntns_here);
	tcase_add_loop_test(t, test_owner, 0, ARRAY_SIZE(owners));
	tcase_add_test(t, test_owner_here);
	tcase_add_loop_test(t, test_cgroup, 0, ARRAY_SIZE(cgroups));
	tcase_add_loop_test(t, test_newest, 0, ARRAY_SIZE(loads));
	tcase_add_test(t, test_newest_here);
	tcase_add_test(t, test_hold_mntns);
	suite_add_tcase(s, t);
	return unit_main(s);
}
