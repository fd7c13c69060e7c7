// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "core/host.h"
#include "core/mapped_files.h"
#include "core/symbols/perf_map.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define PID    4242
#define INSIDE "proc/4242/root/" /* below the test's directory */
#define MAP    INSIDE "tmp/perf-4242.map"

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

/* As of a kernel since 4.1, when @nspid is not NULL. */
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

static const struct {
	const char *text;
	uint64_t addr;
	const char *found;
} texts[] = {
	{ "1000 10 f\n", 0x1000, "f+0x0" },
	{ "1000 10 f\n", 0x100f, "f+0xf" },
	{ "1000 10 LazyCompile:~f /a b.js:1\n", 0x1001, "LazyCompile:~f /a b.js:1+0x1" },
	{ "0x1000 0x10 f\n", 0x100f, "f+0xf" },
	{ "7F00ABCDEF00 1A f\n", 0x7f00abcdef19, "f+0x19" },
	{ "0000000000001000 00000010 f\n", 0x1000, "f+0x0" },
	{ "0000000000000000001000 10 f\n", 0x1000, "f+0x0" },
	{ "1000\t10\tf\n", 0x1000, "f+0x0" },
	{ "1000  10  f \n", 0x1000, "f +0x0" },
	{ "1000 10 f\r\n", 0x1000, "f+0x0" },
	{ "\n\nx\n1000 10 f\n", 0x1000, "f+0x0" },
	{ "0 10 f\n", 0, "f+0x0" },
	{ "ffffffffffffff00 ff f\n", 0xfffffffffffffffe, "f+0xfe" },
	{ "1000 10 \033[31mf\001\n", 0x1000, "\033[31mf\001+0x0" }, /* the report makes it safe to print */
	{ "1000 10 \xff\xfe\n", 0x1000, "\xff\xfe+0x0" },
	/* none */
	{ "", 0x1000, "-" },
	{ "\n", 0x1000, "-" },
	{ "1000 10 f\n", 0xfff, "-" },
	{ "1000 10 f\n", 0x1010, "-" },
	{ "1000 10 f\n", 0, "-" },
	{ "1000 10 f\n", UINT64_MAX, "-" },
	{ "1000 10 f", 0x1000, "-" }, /* being written */
	{ "1000 0 f\n", 0x1000, "-" },
	{ "1000 10\n", 0x1000, "-" },
	{ "1000 10 \n", 0x1000, "-" },
	{ "1000 10 \r\n", 0x1000, "-" },
	{ "1000 f\n", 0x1000, "-" },
	{ "1000\n", 0x1000, "-" },
	{ " 1000 10 f\n", 0x1000, "-" },
	{ "-1000 10 f\n", 0x1000, "-" },
	{ "1000 -10 f\n", 0x1000, "-" },
	{ "1000,10,f\n", 0x1000, "-" },
	{ "0x 10 f\n", 0, "-" },
	{ "1000 0x f\n", 0x1000, "-" },
	{ "g000 10 f\n", 0, "-" },
	{ "100g 10 f\n", 0x100, "-" },
	{ "1000 1g f\n", 0x1000, "-" },
	{ "10000000000001000 10 f\n", 0x1000, "-" },
	{ "1000 10000000000000010 f\n", 0x1000, "-" },
	{ "ffffffffffffff00 100 f\n", 0xffffffffffffff00, "-" },
	{ "ffffffffffffffff 1 f\n", UINT64_MAX, "-" },
	{ "ffffffffffffffff ffffffffffffffff f\n", UINT64_MAX, "-" },
	{ "1 ffffffffffffffff f\n", 1, "-" },
	{ "0 ffffffffffffffff f\n", UINT64_MAX, "-" },
	{ "0 ffffffffffffffff f\n", UINT64_MAX - 1, "f+0xfffffffffffffffe" },
	/* the last line wins */
	{ "1000 10 old\n1000 10 new\n", 0x1008, "new+0x8" },
	{ "1000 100 old\n1040 10 new\n", 0x103f, "old+0x3f" },
	{ "1000 100 old\n1040 10 new\n", 0x1040, "new+0x0" },
	{ "1000 100 old\n1040 10 new\n", 0x104f, "new+0xf" },
	{ "1000 100 old\n1040 10 new\n", 0x1050, "old+0x50" },
	{ "1040 10 old\n1000 100 new\n", 0x1048, "new+0x48" },
	{ "1000 20 old\n1010 20 new\n", 0x1018, "new+0x8" },
	{ "1000 20 old\n1010 20 new\n", 0x100f, "old+0xf" },
	{ "1010 20 old\n1000 20 new\n", 0x1018, "new+0x18" },
	{ "1010 20 old\n1000 20 new\n", 0x1020, "old+0x10" },
	{ "1000 10 a\n1010 10 b\n", 0x1010, "b+0x0" },
	{ "1000 10 a\n1020 10 b\n", 0x1010, "-" },
	{ "1000 10 a\n1020 10 b\n", 0x1020, "b+0x0" },
	{ "1000 10 a\n1008 10 b\n1000 10 a\n", 0x1009, "a+0x9" },
	{ "1000 30 a\n1010 10 b\n1018 30 c\n1000 11 d\n", 0x1017, "b+0x7" },
	{ "1000 30 a\n1010 10 b\n1018 30 c\n1000 11 d\n", 0x1047, "c+0x2f" },
	{ "1000 10 old\n1000 0 new\n", 0x1000, "old+0x0" },
	{ "1000 10 old\n1000 10\n", 0x1000, "old+0x0" },
	{ "1000 10 old\n1000 10 new", 0x1000, "old+0x0" },
};

/* However it is cut. */
START_TEST(test_text)
{
	static const size_t pieces[] = { 4096, 7, 1 };
	const char *text = texts[_i].text;
	size_t len = strlen(text), at, i, n;
	struct perf_map_symbol s;
	struct perf_map *m;

	for (i = 0; i < ARRAY_SIZE(pieces); i++) {
		m = perf_map_new();
		ck_assert_ptr_nonnull(m);
		for (at = 0; at < len; at += n) {
			n = len - at < pieces[i] ? len - at : pieces[i];
			ck_assert_int_eq(perf_map_feed(m, text + at, n), 0);
		}
		ck_assert_int_eq(perf_map_finish(m), 0);
		ck_assert_str_eq(show(perf_map_find(m, texts[_i].addr, &s), texts[_i].addr, &s), texts[_i].found);
		perf_map_free(m);
	}
}
END_TEST

/* Against an array that each line paints over. */
START_TEST(test_overlaps)
{
	enum { LINES = 200, ADDRESSES = 1000 };
	int start[LINES], owner[ADDRESSES], i, at, size;
	struct perf_map *m = perf_map_new();
	struct perf_map_symbol s;
	char line[64], want[64];

	srand((unsigned int)_i);
	for (at = 0; at < ADDRESSES; at++)
		owner[at] = -1;
	for (i = 0; i < LINES; i++) {
		start[i] = rand() % ADDRESSES;
		size = rand() % (1 + (rand() % 2 ? 20 : ADDRESSES - start[i]));
		size = size < ADDRESSES - start[i] ? size : ADDRESSES - start[i];
		for (at = start[i]; at < start[i] + size; at++)
			owner[at] = i;
		snprintf(line, sizeof(line), "%x %x f%d\n", start[i], size, i);
		ck_assert_int_eq(perf_map_feed(m, line, strlen(line)), 0);
	}
	ck_assert_int_eq(perf_map_finish(m), 0);
	for (at = 0; at < ADDRESSES; at++) {
		snprintf(want, sizeof(want), "-");
		if (owner[at] >= 0)
			snprintf(want, sizeof(want), "f%d+0x%x", owner[at], at - start[owner[at]]);
		ck_assert_str_eq(show(perf_map_find(m, (uint64_t)at, &s), (uint64_t)at, &s), want);
	}
	perf_map_free(m);
}
END_TEST

/* What a file may hold beyond sense: @lines times @text, between two good lines. */
static const struct {
	const char *text;
	size_t times, name; /* that the good lines are found, and this many bytes of the name at 0x5000 */
	bool behind;        /* is the second good line read? */
} bulks[] = {
	{ "", 0, 0, true },
	{ "x", 1 << 20, 0, false },       /* a megabyte without newline takes the next line with it */
	{ "\n", 1 << 20, 0, true },       /* empty lines */
	{ "0 0 x\n", 1 << 20, 0, true },  /* of no size */
	{ "9 1 x\n", 1 << 20, 0, false }, /* too many */
	{ "5000 1 y", 1, 1, false },
	{ "\177\200\n", 1 << 20, 0, true },
};

START_TEST(test_bulk)
{
	size_t len = strlen(bulks[_i].text), i;
	struct perf_map *m = perf_map_new();
	struct perf_map_symbol s;

	ck_assert_int_eq(perf_map_feed(m, "1000 10 first\n", 14), 0);
	for (i = 0; i < bulks[_i].times; i++)
		ck_assert_int_eq(perf_map_feed(m, bulks[_i].text, len), 0);
	ck_assert_int_eq(perf_map_feed(m, "2000 10 second\n", 15), 0);
	ck_assert_int_eq(perf_map_finish(m), 0);
	ck_assert_str_eq(show(perf_map_find(m, 0x1000, &s), 0x1000, &s), "first+0x0");
	ck_assert_str_eq(show(perf_map_find(m, 0x2000, &s), 0x2000, &s), bulks[_i].behind ? "second+0x0" : "-");
	ck_assert_int_eq(perf_map_find(m, 0x5000, &s), bulks[_i].name != 0);
	perf_map_free(m);
}
END_TEST

/* The name is cut, the next line is not. */
START_TEST(test_long_line)
{
	size_t len = (size_t)1 << 20;
	char *text = malloc(len + 32);
	struct perf_map *m = perf_map_new();
	struct perf_map_symbol s;

	ck_assert_ptr_nonnull(text);
	memset(text, 'n', len);
	memcpy(text, "1000 10 ", 8);
	memcpy(text + len, "\n2000 10 g\n", 12);
	ck_assert_int_eq(perf_map_feed(m, text, len + 11), 0);
	ck_assert_int_eq(perf_map_finish(m), 0);
	ck_assert(perf_map_find(m, 0x1000, &s));
	ck_assert_uint_eq(strlen(s.name), 4096 - 8);
	ck_assert_uint_eq(strspn(s.name, "n"), 4096 - 8);
	ck_assert(perf_map_find(m, 0x2000, &s));
	ck_assert_str_eq(s.name, "g");
	perf_map_free(m);
	free(text);
}
END_TEST

/* Where the file is. @nspid: the line of the status, NULL: none. */
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
	/* it has a root of its own */
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

/* A hole of a gigabyte: 64 MiB are read, in which no line ends. */
static void make_hole(void)
{
	write_text(MAP, GOOD);
	ck_assert_int_eq(truncate(path_of(MAP), 1 << 30), 0);
	unit_write(dir, INSIDE "tmp/x", "", 0);
}

static void make_leftover(void)
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
	make_leftover();
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
	{ make_good, false, true },         { make_fresh, false, true },         { make_hole, false, true },
	{ make_fifo, false, false },        { make_directory, false, false },    { make_symlink, false, false },
	{ make_shadow_link, false, false }, { make_endless_link, false, false }, { make_linked_tmp, false, false },
	{ make_hard_link, false, false },   { make_zeros, true, false },         { make_others, true, false },
	{ make_empty, false, false },       { make_leftover, false, false },
};

static int open_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int nr = 0;

	ck_assert_ptr_nonnull(d);
	while (readdir(d))
		nr++;
	closedir(d);
	return nr;
}

START_TEST(test_file)
{
	int fds = open_fds();

	if (files[_i].needs_root && getuid())
		return;
	write_status(PID, getuid(), NULL);
	files[_i].make();
	ck_assert_str_eq(lookup(PID, 0x1004), files[_i].read ? "f+0x4" : "-");
	ck_assert_int_eq(open_fds(), fds);
}
END_TEST

/* Whose file is read: @owner of the file, @euid of the process (-1: it is gone). */
static const struct {
	uid_t owner;
	int euid;
	bool read;
} owners[] = {
	{ 0, 0, true },         { 1234, 1234, true }, { 0, 1234, true }, { 1234, 0, false },
	{ 12345, 1234, false }, { 7, 1234, false },   { 0, -1, true },   { 1234, -1, false },
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
	ck_assert_str_eq(lookup(PID, 0x1004), owners[_i].read ? "f+0x4" : "-");
}
END_TEST

/* Between reports it grows, is cut, is replaced, is removed; and the process ends. */
START_TEST(test_renew)
{
	write_status(PID, getuid(), NULL);
	write_text("proc/4242/stat", "4242 (x) R 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 1 20 21\n");
	write_text(MAP, GOOD);
	ck_assert_str_eq(lookup(PID, 0x1004), "f+0x4");
	write_text(MAP, GOOD "1000 8 g\n2000 10 h\n");
	ck_assert_str_eq(lookup(PID, 0x1004), "f+0x4"); /* one report, one answer */
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
	/* another one has its number */
	write_status(PID, getuid(), NULL);
	write_text("proc/4242/stat", "4242 (x) R 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 2 20 21\n");
	perf_maps_renew(maps);
	ck_assert_str_eq(lookup(PID, 0x1004), "-");
}
END_TEST

/* Those that no report asks for any more are dropped, the others are not. */
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
		/* and those that are still known need no process any more */
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

/* Told once. */
START_TEST(test_no_descriptors)
{
	struct rlimit none = { 0, 0 }, old;
	struct perf_map_symbol s;

	write_status(PID, getuid(), NULL);
	write_text(MAP, GOOD);
	write_text("host/x", "");
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
	none.rlim_max = old.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	ck_assert_int_eq(perf_maps_find(maps, PID, 0x1000, &s), -EMFILE);
	ck_assert_int_eq(perf_maps_find(maps, PID, 0x1000, &s), 0);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
	perf_maps_renew(maps);
	ck_assert_str_eq(lookup(PID, 0x1000), "f+0x0");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("perf_map");
	TCase *tc = tcase_create("perf_map");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, test_text, 0, ARRAY_SIZE(texts));
	tcase_add_loop_test(tc, test_overlaps, 0, 20);
	tcase_add_loop_test(tc, test_bulk, 0, ARRAY_SIZE(bulks));
	tcase_add_test(tc, test_long_line);
	tcase_add_loop_test(tc, test_name, 0, ARRAY_SIZE(names));
	tcase_add_loop_test(tc, test_file, 0, ARRAY_SIZE(files));
	tcase_add_loop_test(tc, test_owner, 0, ARRAY_SIZE(owners));
	tcase_add_test(tc, test_renew);
	tcase_add_test(tc, test_many_processes);
	tcase_add_test(tc, test_no_descriptors);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
