// SPDX-License-Identifier: Apache-2.0
#include "core/files/mapped_files.h"
#include "core/files/recorded.h"
#include "core/host/host.h"
#include "core/symbols/perf_maps.h"
#include "tests/unit/unit.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define PID    4242
#define INSIDE "proc/4242/root/" /* below the test's directory */
#define MAP    INSIDE "tmp/perf-4242.map"

/*
 * The host has been up for at least an hour: so a process that began 150 s ago is possible, however new the machine is.
 */
#define UP_S 3600

int clock_gettime(clockid_t clock, struct timespec *ts)
{
	static int (*next)(clockid_t, struct timespec *);
	int rc;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "clock_gettime");
	rc = next(clock, ts);
	if (!rc && clock == CLOCK_BOOTTIME)
		ts->tv_sec += UP_S;
	return rc;
}

static bool out_of_memory;

int __real_perf_map_feed(struct perf_map *m, const char *text, size_t len);
int __wrap_perf_map_feed(struct perf_map *m, const char *text, size_t len);

int __wrap_perf_map_feed(struct perf_map *m, const char *text, size_t len)
{
	return out_of_memory ? -ENOMEM : __real_perf_map_feed(m, text, len);
}

static char *dir, *proc, *root;
static struct host host;
static struct mapped_files_cfg where;
static struct perf_maps *maps;

static void setup(void)
{
	dir = unit_tmpdir();
	ck_assert_int_ge(asprintf(&proc, "%s/proc", dir), 0);
	ck_assert_int_ge(asprintf(&root, "%s/host", dir), 0);
	host = (struct host){ .proc = proc, .sys = dir };
	where = (struct mapped_files_cfg){ .host = &host, .root = root };
	maps = perf_maps_new(&where);
	ck_assert_ptr_nonnull(maps);
}

static void teardown(void)
{
	perf_maps_free(maps);
	free(proc);
	free(root);
	unit_rmdir(dir);
}

static void write_text(const char *name, const char *text)
{
	unit_write(dir, name, text, strlen(text));
}

static char *path_of(const char *name)
{
	static char path[2][4096];
	static int next;

	next = !next;
	snprintf(path[next], sizeof(path[next]), "%s/%s", dir, name);
	return path[next];
}

/* If @nspid is not NULL, as in a kernel since 4.1. */
static void write_status(pid_t pid, uid_t euid, const char *nspid)
{
	char name[64], text[256];

	snprintf(name, sizeof(name), "proc/%d/status", pid);
	snprintf(text, sizeof(text),
		 "Name:\tx\\nUid:\t7\t7\t7\t7\nTgid:\t%d\nUid:\t12345\t%u\t0\t0\nGid:\t0\t0\t0\t0\n%s%s", pid, euid,
		 nspid ? nspid : "", nspid ? "\nNSpgid:\t1\n" : "");
	write_text(name, text);
}

static const char *show(bool found, uint64_t addr, const struct perf_map_symbol *s)
{
	static char text[8192];

	if (!found)
		return "-";
	snprintf(text, sizeof(text), "%s+0x%" PRIx64, s->name, addr - s->start);
	return text;
}

/* "name+0xoffset" or "-" */
static const char *lookup(pid_t pid, uint64_t addr)
{
	struct perf_map_symbol s;
	int rc = perf_maps_find(maps, pid, addr, &s);

	ck_assert_int_ge(rc, 0);
	return show(rc, addr, &s);
}

/* The place of the file. @nspid: the line in status, NULL: none. */
static const struct {
	const char *nspid, *name;
	bool read;
} names[] = {
	{ NULL, MAP, true },
	{ "NSpid:\t4242", MAP, true },
	{ "NSpid:\t4242\t17", INSIDE "tmp/perf-17.map", true },
	{ "NSpid:\t4242\t17\t1", INSIDE "tmp/perf-1.map", true },
	{ "NSpid:\t4242\t", MAP, true },
	{ "NSpid:\t4242\t17", MAP, false },
	{ "NSpid:\t4242\t17\t1", INSIDE "tmp/perf-17.map", false },
	{ "NSpid:", MAP, true },
	{ "NSpid:\tx", MAP, true },
	{ "NSpid:\t99999999999", MAP, true },
	{ "xNSpid:\t17", INSIDE "tmp/perf-17.map", false },
	/* the process has a root of its own */
	{ NULL, "host/tmp/perf-4242.map", false },
	{ "NSpid:\t4242\t17", "host/tmp/perf-17.map", false },
};

START_TEST(test_name)
{
	write_status(PID, getuid(), names[_i].nspid);
	write_text("host/x", "");
	write_text(names[_i].name, "1000 10 f\n");
	ck_assert_str_eq(lookup(PID, 0x1004), names[_i].read ? "f+0x4" : "-");
	ck_assert_str_eq(lookup(PID, 0x2000), "-");
	ck_assert_str_eq(lookup(PID + 1, 0x1004), "-");
}
END_TEST

#define GOOD "1000 10 f\n"

static void make_fifo(void)
{
	write_text(INSIDE "tmp/x", "");
	ck_assert_int_eq(mkfifo(path_of(MAP), 0666), 0);
}

static void make_directory(void)
{
	write_text(MAP "/x", GOOD);
}

static void make_link(const char *to)
{
	write_text(INSIDE "tmp/good", GOOD);
	ck_assert_int_eq(symlink(to, path_of(MAP)), 0);
}

static void make_symlink(void)
{
	make_link("good");
}

static void make_shadow_link(void)
{
	make_link("/etc/shadow");
}

static void make_endless_link(void)
{
	make_link("perf-4242.map");
}

static void make_linked_tmp(void)
{
	write_text(INSIDE "elsewhere/perf-4242.map", GOOD);
	ck_assert_int_eq(symlink("elsewhere", path_of(INSIDE "tmp")), 0);
}

static void make_hard_link(void)
{
	write_text(INSIDE "tmp/good", GOOD);
	ck_assert_int_eq(link(path_of(INSIDE "tmp/good"), path_of(MAP)), 0);
}

static void make_zeros(void)
{
	write_text(INSIDE "tmp/x", "");
	ck_assert_int_eq(mknod(path_of(MAP), S_IFCHR | 0666, makedev(1, 5)), 0);
}

static void make_others(void)
{
	write_text(MAP, GOOD);
	ck_assert_int_eq(chown(path_of(MAP), 1234, 1234), 0);
}

static void make_empty(void)
{
	write_text(MAP, "");
}

/* A hole of a gigabyte: only the last 64 MiB are read, and no line ends there. */
static void make_hole(void)
{
	write_text(MAP, GOOD);
	ck_assert_int_eq(truncate(path_of(MAP), 1 << 30), 0);
	unit_write(dir, INSIDE "tmp/x", "", 0);
}

/* The newest line comes after the hole; a line that begins inside the hole is ignored. */
static void make_late(void)
{
	FILE *f;

	write_text(MAP, "");
	ck_assert_int_eq(truncate(path_of(MAP), 1 << 30), 0);
	f = fopen(path_of(MAP), "a");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs("1000 100 cut\n" GOOD, f), 0);
	fclose(f);
}

static void make_older(void)
{
	struct timespec up, times[2] = { 0 };
	char stat[512];

	clock_gettime(CLOCK_BOOTTIME, &up);
	snprintf(stat, sizeof(stat), "4242 (x) 1 2) R 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 %lld 20 21\n",
		 (long long)up.tv_sec * sysconf(_SC_CLK_TCK));
	write_text("proc/4242/stat", stat);
	write_text(MAP, GOOD);
	clock_gettime(CLOCK_REALTIME, &times[1]);
	times[1].tv_sec -= 5;
	ck_assert_int_eq(utimensat(AT_FDCWD, path_of(MAP), times, 0), 0);
}

static void make_fresh(void)
{
	make_older();
	ck_assert_int_eq(utimensat(AT_FDCWD, path_of(MAP), NULL, 0), 0);
}

static void make_good(void)
{
	write_text(MAP, GOOD);
}

static const struct {
	void (*make)(void);
	bool needs_root, read;
} files[] = {
	{ make_good, false, true },         { make_fresh, false, true },         { make_late, false, true },
	{ make_fifo, false, false },        { make_directory, false, false },    { make_symlink, false, false },
	{ make_shadow_link, false, false }, { make_endless_link, false, false }, { make_linked_tmp, false, false },
	{ make_hard_link, false, false },   { make_zeros, true, false },         { make_others, true, false },
	{ make_empty, false, false },       { make_older, false, true },         { make_hole, false, false },
};

START_TEST(test_file)
{
	int fds = unit_open_fds();

	if (files[_i].needs_root && getuid())
		return;
	write_status(PID, getuid(), NULL);
	files[_i].make();
	ck_assert_str_eq(lookup(PID, 0x1004), files[_i].read ? "f+0x4" : "-");
	ck_assert_int_eq(unit_open_fds(), fds);
}
END_TEST

#define MEANS                                                                                                          \
	": names of generated code are of an earlier process, unless the clock was set or the process was restored"

/* A file that is older than its process is used, and reported once a name comes of it. */
START_TEST(test_older)
{
	struct timespec times[2] = { { 0, UTIME_OMIT } };
	struct err why;
	int i;

	write_status(PID, getuid(), NULL);
	make_older();
	ck_assert_str_eq(lookup(PID, 0x2000), "-");
	ck_assert(!perf_maps_older(maps, &why));
	for (i = 0; i < 2; i++) {
		ck_assert_str_eq(lookup(PID, 0x1004), "f+0x4");
		ck_assert(perf_maps_older(maps, &why));
		ck_assert_str_eq(why.msg, "the perf map of process 4242 is older than the process" MEANS);
		perf_maps_renew(maps);
	}
	write_status(17, getuid(), NULL);
	write_text("proc/17/stat", "17 (x) R 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 360000 20 21\n");
	write_text("proc/17/root/tmp/perf-17.map", GOOD);
	times[1].tv_sec = 1;
	ck_assert_int_eq(utimensat(AT_FDCWD, path_of("proc/17/root/tmp/perf-17.map"), times, 0), 0);
	ck_assert_str_eq(lookup(17, 0x1004), "f+0x4");
	ck_assert(perf_maps_older(maps, &why));
	ck_assert_str_eq(why.msg, "the perf maps of 2 processes are older than these, first of PID 17" MEANS);
}
END_TEST

/* Such a file is not kept for the time after the process: until its end, the process may write another one. */
START_TEST(test_older_noted)
{
	int fds = unit_open_fds();

	write_status(PID, getuid(), NULL);
	make_older();
	perf_maps_note(maps, PID);
	ck_assert_int_eq(unit_open_fds(), fds);
	ck_assert_int_eq(utimensat(AT_FDCWD, path_of(MAP), NULL, 0), 0);
	perf_maps_note(maps, PID);
	ck_assert_int_eq(unit_open_fds(), fds + 1);
}
END_TEST

/* Whose file is read: @owner and @mode of the file, @euid of the process (-1: it is gone). */
static const struct {
	uid_t owner;
	int euid;
	mode_t mode;
	bool read;
} owners[] = {
	{ 0, 0, 0600, true },         { 1234, 1234, 0600, true }, { 0, 1234, 0644, true },  { 0, 1234, 0604, true },
	{ 0, 1234, 0600, false },     { 0, 1234, 0640, false },   { 0, 1234, 0611, false }, { 1234, 0, 0644, false },
	{ 12345, 1234, 0644, false }, { 7, 1234, 0644, false },   { 0, -1, 0600, true },    { 1234, -1, 0644, false },
};

START_TEST(test_owner)
{
	const char *name = owners[_i].euid < 0 ? "host/tmp/perf-4242.map" : MAP;

	if (getuid())
		return;
	if (owners[_i].euid >= 0)
		write_status(PID, (uid_t)owners[_i].euid, NULL);
	write_text(name, GOOD);
	ck_assert_int_eq(chown(path_of(name), owners[_i].owner, 0), 0);
	ck_assert_int_eq(chmod(path_of(name), owners[_i].mode), 0);
	ck_assert_str_eq(lookup(PID, 0x1004), owners[_i].read ? "f+0x4" : "-");
}
END_TEST

/*
 * A recording that ended @ended seconds ago (0: unknown): the process began @began seconds ago (0: it is gone), the
 * file was last written @written seconds ago. @inside: the file is in the root of the process.
 */
static const struct {
	int ended, began, written;
	bool inside, read;
} recordings[] = {
	{ 100, 0, 200, false, true },   { 100, 0, 50, false, false },   { 100, 150, 120, false, true },
	{ 100, 150, 10, false, true },  { 100, 50, 120, false, true },  { 100, 50, 40, false, false },
	{ 100, 150, 200, false, true }, { 0, 0, 200, false, false },    { 0, 150, 120, false, false },
	{ 100, 0, 200, true, false },   { 100, 150, 120, true, false },
};

START_TEST(test_recorded)
{
	const char *name = recordings[_i].inside ? MAP : "host/tmp/perf-4242.map";
	struct timespec up, times[2] = { 0 };
	struct recorded origin = { .boot = BOOT_SAME };
	char stat[512];

	clock_gettime(CLOCK_BOOTTIME, &up);
	clock_gettime(CLOCK_REALTIME, &times[1]);
	if (recordings[_i].ended)
		origin.ended_s = times[1].tv_sec - recordings[_i].ended;
	where.recorded = &origin;
	snprintf(stat, sizeof(stat), "4242 (x) R 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 %lld 20 21\n",
		 (long long)(up.tv_sec - recordings[_i].began) * sysconf(_SC_CLK_TCK));
	if (recordings[_i].began) {
		write_status(PID, getuid(), "NSpid:\t4242\t17");
		write_text("proc/4242/stat", stat);
	}
	write_text("host/x", "");
	write_text(name, GOOD);
	times[1].tv_sec -= recordings[_i].written;
	ck_assert_int_eq(utimensat(AT_FDCWD, path_of(name), times, 0), 0);
	ck_assert_str_eq(lookup(PID, 0x1004), recordings[_i].read ? "f+0x4" : "-");
}
END_TEST

/* Between reports the file grows, is truncated, is replaced, is removed; and the process ends. */
START_TEST(test_renew)
{
	write_status(PID, getuid(), NULL);
	write_text("proc/4242/stat", "4242 (x) R 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 1 20 21\n");
	write_text(MAP, GOOD);
	ck_assert_str_eq(lookup(PID, 0x1004), "f+0x4");
	write_text(MAP, GOOD "1000 8 g\n2000 10 h\n");
	ck_assert_str_eq(lookup(PID, 0x1004), "f+0x4"); /* the same answer within a report */
	ck_assert_str_eq(lookup(PID, 0x2000), "-");
	perf_maps_renew(maps);
	ck_assert_str_eq(lookup(PID, 0x1004), "g+0x4");
	ck_assert_str_eq(lookup(PID, 0x1008), "f+0x8");
	ck_assert_str_eq(lookup(PID, 0x2000), "h+0x0");
	write_text(MAP, GOOD);
	perf_maps_renew(maps);
	ck_assert_str_eq(lookup(PID, 0x1004), "f+0x4");
	ck_assert_str_eq(lookup(PID, 0x2000), "-");
	ck_assert_int_eq(unlink(path_of(MAP)), 0);
	perf_maps_renew(maps);
	ck_assert_str_eq(lookup(PID, 0x1004), "f+0x4");
	write_text(MAP, "1000 10 i\n");
	perf_maps_renew(maps);
	ck_assert_str_eq(lookup(PID, 0x1004), "i+0x4");
	ck_assert_int_eq(unlink(path_of(MAP)), 0);
	ck_assert_int_eq(unlink(path_of("proc/4242/status")), 0);
	perf_maps_renew(maps);
	ck_assert_str_eq(lookup(PID, 0x1004), "i+0x4");
	/* another process has its pid */
	write_status(PID, getuid(), NULL);
	write_text("proc/4242/stat", "4242 (x) R 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 2 20 21\n");
	perf_maps_renew(maps);
	ck_assert_str_eq(lookup(PID, 0x1004), "-");
}
END_TEST

/* Reading takes time even without result: the rest is read for the next report. */
START_TEST(test_much_to_read)
{
	const off_t size = 63 << 20;
	struct perf_map_symbol s;
	char name[64], line[32];
	int fd, i, len;

	for (i = 0; i < 5; i++) {
		write_status(PID + i, getuid(), NULL);
		snprintf(name, sizeof(name), "proc/%d/root/tmp/perf-%d.map", PID + i, PID + i);
		write_text(name, "");
		fd = open(path_of(name), O_WRONLY | O_CLOEXEC);
		len = snprintf(line, sizeof(line), "\n1000 10 f%d\n", i);
		ck_assert_int_eq(pwrite(fd, line, (size_t)len, size - len), len);
		close(fd);
	}
	for (i = 0; i < 5; i++)
		ck_assert_int_eq(perf_maps_find(maps, PID + i, 0x1000, &s), i < 4 ? 1 : -E2BIG);
	perf_maps_renew(maps);
	ck_assert_str_eq(lookup(PID + 4, 0x1000), "f4+0x0");
	ck_assert_str_eq(lookup(PID, 0x1000), "f0+0x0");
}
END_TEST

/* Maps that no report uses any more are dropped, others are not. */
START_TEST(test_many_processes)
{
	enum { PROCESSES = 100 };
	char name[64], text[64], want[64];
	int i, round;

	for (i = 1; i <= PROCESSES; i++) {
		snprintf(name, sizeof(name), "proc/%d/root/tmp/perf-%d.map", i, i);
		snprintf(text, sizeof(text), "1000 10 f%d\n", i);
		write_text(name, text);
		write_status(i, getuid(), NULL);
	}
	for (round = 1; round <= 4; round++) {
		for (i = round; i <= PROCESSES; i += round) {
			snprintf(want, sizeof(want), "f%d+0x1", i);
			ck_assert_str_eq(lookup(i, 0x1001), want);
		}
		/* and maps that are still known need no process any more */
		for (i = 1; i <= PROCESSES && round == 3; i++) {
			snprintf(name, sizeof(name), "proc/%d/status", i);
			ck_assert_int_eq(unlink(path_of(name)), 0);
		}
		perf_maps_renew(maps);
		if (round == 3)
			break;
	}
	for (i = 1; i <= PROCESSES; i++) {
		snprintf(want, sizeof(want), "f%d+0x1", i);
		ck_assert_str_eq(lookup(i, 0x1001), i % 3 ? "-" : want);
	}
}
END_TEST

/* The lack of descriptors is returned once in a report, so that there is one warning. */
START_TEST(test_no_descriptors)
{
	struct perf_map_symbol s;
	rlim_t before;

	write_status(PID, getuid(), NULL);
	write_text(MAP, GOOD);
	write_text("host/x", "");
	before = unit_limit_files(0);
	ck_assert_int_eq(perf_maps_find(maps, PID, 0x1000, &s), -EMFILE);
	ck_assert_int_eq(perf_maps_find(maps, PID, 0x1000, &s), 0);
	unit_limit_files(before);
	perf_maps_renew(maps);
	ck_assert_str_eq(lookup(PID, 0x1000), "f+0x0");
}
END_TEST

/* The caller must see that names may be missing. The names from before are kept. */
START_TEST(test_no_memory)
{
	struct perf_map_symbol s;

	write_status(PID, getuid(), NULL);
	write_text(MAP, "1000 10 f\n");
	ck_assert_str_eq(lookup(PID, 0x1000), "f+0x0");
	write_text(MAP, "1000 10 f\n2000 10 g\n");
	perf_maps_renew(maps);
	out_of_memory = true;
	ck_assert_int_eq(perf_maps_find(maps, PID, 0x2000, &s), -ENOMEM);
	out_of_memory = false;
	ck_assert_str_eq(lookup(PID, 0x1000), "f+0x0");
	perf_maps_renew(maps);
	ck_assert_str_eq(lookup(PID, 0x2000), "g+0x0");
}
END_TEST

/* The file is read after the process is gone: at its old path, with its old owner. */
static const struct {
	const char *before, *after; /* the text when it is noted, and at the end; NULL: no file */
	bool removed;               /* at the end */
	unsigned int notes;
	uint64_t addr;
	const char *found;
} noted[] = {
	{ "1000 10 f\n", NULL, false, 1, 0x1000, "f+0x0" },
	{ "1000 10 f\n", NULL, true, 1, 0x1000, "f+0x0" },
	{ "1000 10 f\n", NULL, false, 5, 0x1000, "f+0x0" },
	{ "1000 10 f\n", "1000 10 f\n2000 10 g\n", false, 1, 0x2000, "g+0x0" },
	{ "", "1000 10 f\n", false, 1, 0x1000, "f+0x0" },
	/* the file is there too late or never, was not noted, or does not have the address */
	{ NULL, "1000 10 f\n", false, 1, 0x1000, "-" },
	{ NULL, NULL, false, 1, 0x1000, "-" },
	{ "1000 10 f\n", NULL, false, 0, 0x1000, "-" },
	{ "1000 10 f\n", NULL, false, 1, 0x2000, "-" },
};

START_TEST(test_noted)
{
	int fds = unit_open_fds();
	unsigned int i;
	FILE *f;

	write_status(PID, getuid() + 1, NULL);
	if (noted[_i].before) {
		write_text(MAP, noted[_i].before);
		if (chown(path_of(MAP), getuid() + 1, (gid_t)-1))
			write_status(PID, getuid(), NULL);
	}
	for (i = 0; i < noted[_i].notes; i++)
		perf_maps_note(maps, PID);
	if (noted[_i].after) {
		f = fopen(path_of(MAP), "r+");
		if (f) {
			ck_assert_int_ge(fputs(noted[_i].after, f), 0);
			fclose(f);
		} else {
			write_text(MAP, noted[_i].after);
		}
	}
	if (noted[_i].removed)
		ck_assert_int_eq(unlink(path_of(MAP)), 0);
	ck_assert_int_eq(rename(path_of("proc/4242"), path_of("gone")), 0);
	perf_maps_renew(maps);
	ck_assert_str_eq(lookup(PID, noted[_i].addr), noted[_i].found);
	perf_maps_renew(maps);
	ck_assert_str_eq(lookup(PID, noted[_i].addr), noted[_i].found);
	perf_maps_free(maps);
	maps = perf_maps_new(&where);
	ck_assert_int_eq(unit_open_fds(), fds);
}
END_TEST

/* The present file counts; after it was removed, the one that was noted. */
START_TEST(test_noted_and_lives)
{
	write_status(PID, getuid(), NULL);
	write_text(MAP, "1000 10 f\n");
	perf_maps_note(maps, PID);
	unlink(path_of(MAP));
	write_text(MAP, "1000 10 g\n");
	ck_assert_str_eq(lookup(PID, 0x1000), "g+0x0");
	perf_maps_renew(maps);
	unlink(path_of(MAP));
	ck_assert_str_eq(lookup(PID, 0x1000), "f+0x0");
}
END_TEST

/* Another process has the pid now: the file of the first one is dropped. */
START_TEST(test_noted_again)
{
	static const char stat[] = "4242 (x) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %d 0 0\n";
	char text[256];
	int fds;

	write_status(PID, getuid(), NULL);
	snprintf(text, sizeof(text), stat, 7);
	write_text("proc/4242/stat", text);
	write_text(MAP, "1000 10 f\n");
	fds = unit_open_fds();
	perf_maps_note(maps, PID);
	ck_assert_int_eq(unit_open_fds(), fds + 1);
	snprintf(text, sizeof(text), stat, 8);
	write_text("proc/4242/stat", text);
	unlink(path_of(MAP));
	perf_maps_note(maps, PID);
	ck_assert_int_eq(unit_open_fds(), fds);
	ck_assert_str_eq(lookup(PID, 0x1000), "-");
}
END_TEST

/* A noted file is dropped if it is neither looked up nor noted for a whole report. */
START_TEST(test_noted_long_ago)
{
	int fds = unit_open_fds();

	write_status(PID, getuid(), NULL);
	write_text(MAP, "1000 10 f\n");
	perf_maps_note(maps, PID);
	perf_maps_renew(maps);
	ck_assert_int_eq(unit_open_fds(), fds + 1);
	perf_maps_renew(maps);
	ck_assert_int_eq(unit_open_fds(), fds);
}
END_TEST

/* A limited number of files is kept open, and the others cost nothing. */
START_TEST(test_noted_many)
{
	int fds = unit_open_fds(), i;
	char name[64];

	for (i = 0; i < 300; i++) {
		write_status(10000 + i, getuid(), NULL);
		snprintf(name, sizeof(name), "proc/%d/root/tmp/perf-%d.map", 10000 + i, 10000 + i);
		write_text(name, "1000 10 f\n");
		perf_maps_note(maps, 10000 + i);
	}
	ck_assert_int_eq(unit_open_fds(), fds + 256);
	ck_assert_str_eq(lookup(10299, 0x1000), "f+0x0");
	for (i = 0; i < 10000; i++)
		perf_maps_note(maps, 100000 + i);
	ck_assert_int_eq(unit_open_fds(), fds + 256);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("perf_maps");
	TCase *tc = tcase_create("perf_maps");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, test_name, 0, ARRAY_SIZE(names));
	tcase_add_loop_test(tc, test_file, 0, ARRAY_SIZE(files));
	tcase_add_test(tc, test_older);
	tcase_add_test(tc, test_older_noted);
	tcase_add_loop_test(tc, test_recorded, 0, ARRAY_SIZE(recordings));
	tcase_add_loop_test(tc, test_owner, 0, ARRAY_SIZE(owners));
	tcase_add_test(tc, test_renew);
	tcase_add_test(tc, test_much_to_read);
	tcase_add_test(tc, test_many_processes);
	tcase_add_test(tc, test_no_descriptors);
	tcase_add_test(tc, test_no_memory);
	tcase_add_loop_test(tc, test_noted, 0, ARRAY_SIZE(noted));
	tcase_add_test(tc, test_noted_and_lives);
	tcase_add_test(tc, test_noted_again);
	tcase_add_test(tc, test_noted_long_ago);
	tcase_add_test(tc, test_noted_many);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
