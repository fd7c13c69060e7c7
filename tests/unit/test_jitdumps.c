// SPDX-License-Identifier: Apache-2.0
#include "core/base/clock.h"
#include "core/files/mapped_files.h"
#include "core/symbols/jitdumps.h"
#include "core/tasks/tasks.h"
#include "tests/unit/jitdump_image.h"

#include <inttypes.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define PID  4242
#define ROOT "4242/root" /* root of the process, below the test's directory */
#define DUMP "/tmp/jit-7.dump"
#define CODE UINT64_C(0x7f0000000000)

static struct jitdump_image im;
static char *dir, *root;
static struct host host;
static struct mapped_files_cfg cfg;
static struct tasks *tasks;
static struct jitdumps *dumps;

static void setup(void)
{
	dir = unit_tmpdir();
	ck_assert_int_ge(asprintf(&root, "%s/host", dir), 0);
	host = (struct host){ .proc = dir, .sys = dir };
	tasks = tasks_new(NULL);
	ck_assert_ptr_nonnull(tasks);
	cfg = (struct mapped_files_cfg){ .host = &host, .root = root, .tasks = tasks };
	dumps = jitdumps_new(&cfg, tasks);
	ck_assert_ptr_nonnull(dumps);
	unit_write(dir, "host/x", "", 0);
	im.len = 0;
	dump_put_header(&im);
}

static void teardown(void)
{
	jitdumps_free(dumps);
	tasks_free(tasks);
	free(root);
	unit_rmdir(dir);
}

static char *path_of(const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void write_dump(const char *name)
{
	unit_write(dir, name, im.bytes, im.len);
}

static void map_code(pid_t pid)
{
	const struct mapped_file anon = { .path = "//anon" };
	const struct mapping m = { CODE, CODE + 0x10000, 0, &anon };

	ck_assert_int_eq(tasks_mmap(tasks, pid, &m), 0);
}

/* Map the file at @path of the process, which is @name below the test's directory; NULL: its inode is unknown. */
static void map_dump(pid_t pid, const char *path, const char *name)
{
	struct mapped_file file = { .path = path };
	const struct mapping m = { 0x10000, 0x11000, 0, &file };
	struct stat st;

	if (name) {
		ck_assert_int_eq(stat(path_of(name), &st), 0);
		file.ino = st.st_ino;
		file.maj = major(st.st_dev);
		file.min = minor(st.st_dev);
	}
	ck_assert_int_eq(tasks_mmap(tasks, pid, &m), 0);
}

static void put_code(const char *name, uint64_t offset)
{
	dump_put_load(&im, CODE + offset, 16, 1, name);
}

/* A dump of PID with f at CODE. */
static void make_good(void)
{
	put_code("f", 0);
	write_dump(ROOT DUMP);
	tasks_comm(tasks, PID, PID, "jit", false);
	map_code(PID);
	map_dump(PID, DUMP, ROOT DUMP);
}

/* "name+0xoffset" or "-" */
static const char *lookup(pid_t pid, const char *comm, uint64_t offset)
{
	static char text[256];
	struct jitdump_code code;
	int rc = jitdumps_find(dumps, pid, comm, 0, CODE + offset, &code, NULL);

	ck_assert_int_ge(rc, 0);
	if (!rc)
		return "-";
	snprintf(text, sizeof(text), "%s+0x%" PRIx64, code.name, CODE + offset - code.start);
	return text;
}

/* Files with the names of jitdumps. */
static const struct {
	const char *path;
	bool is_dump;
} paths[] = {
	{ "/tmp/jit-7.dump", true },
	{ "/var/lib/x/.debug/jit/llvm-IR-jit-20260101-abc/jit-123456.dump", true },
	{ "/jit-0.dump", true },
	{ "/tmp/jit-.dump", false },
	{ "/tmp/jit-7", false },
	{ "/tmp/jit-7x.dump", false },
	{ "/tmp/jit--7.dump", false },
	{ "/tmp/jit-7.dump.so", false },
	{ "/tmp/jit-7.dump/x", false },
	{ "/tmp/xjit-7.dump", false },
	{ "/tmp/perf-7.map", false },
	{ "/memfd:/jit-7.dump", false },
	{ "/dev/shm/jit-7.dump", false },
	{ "jit-7.dump", false },
	{ "//jit-7.dump", false },
	{ "[anon:/jit-7.dump", false },
	{ "//anon", false },
	{ "", false },
};

START_TEST(test_paths)
{
	const struct mapped_file file = { .path = paths[_i].path };

	ck_assert_int_eq(mapped_file_is_jitdump(&file), paths[_i].is_dump);
	map_dump(PID, paths[_i].path, NULL);
	ck_assert_int_eq(tasks_jitdump(tasks, PID) != NULL, paths[_i].is_dump);
}
END_TEST

START_TEST(test_found)
{
	make_good();
	ck_assert_str_eq(lookup(PID, "jit", 4), "f+0x4");
	ck_assert_str_eq(lookup(PID, "other", 4), "f+0x4");
	ck_assert_str_eq(lookup(PID, "jit", 16), "-");
	ck_assert_str_eq(lookup(PID, "jit", 0x10000), "-"); /* nothing is mapped there */
	ck_assert_str_eq(lookup(PID + 1, "jit", 4), "-");
	ck_assert_ptr_nonnull(jitdumps_of(dumps, PID));
	ck_assert_ptr_null(jitdumps_of(dumps, PID + 1));
}
END_TEST

static void make_fifo(void)
{
	unit_write(dir, ROOT "/tmp/x", "", 0);
	ck_assert_int_eq(mkfifo(path_of(ROOT DUMP), 0666), 0);
}

static void make_symlink(void)
{
	char to[4096];

	write_dump(ROOT "/tmp/real");
	snprintf(to, sizeof(to), "%s", path_of(ROOT "/tmp/real"));
	ck_assert_int_eq(symlink(to, path_of(ROOT DUMP)), 0);
}

static void make_directory(void)
{
	write_dump(ROOT DUMP "/x");
}

static void make_host(void)
{
	write_dump("host" DUMP);
}

static void make_nothing(void)
{
}

/* The file at the path of the mapping; @ino: it has another inode than the mapping. */
static const struct {
	void (*make)(void);
	bool ino;
} wrong_files[] = {
	{ make_fifo, false },      { make_fifo, true },      { make_symlink, true },
	{ make_directory, false }, { make_directory, true }, { make_host, true },
	{ make_nothing, false },   { make_nothing, true },   { make_symlink, false },
};

START_TEST(test_wrong_files)
{
	int fds = (int)unit_open_fds();
	struct mapped_file file = { .path = DUMP };
	const struct mapping m = { 0x10000, 0x11000, 0, &file };

	put_code("f", 0);
	wrong_files[_i].make();
	if (wrong_files[_i].ino)
		file.ino = 1;
	map_code(PID);
	ck_assert_int_eq(tasks_mmap(tasks, PID, &m), 0);
	ck_assert_str_eq(lookup(PID, "", 4), "-");
	ck_assert_ptr_null(jitdumps_of(dumps, PID));
	ck_assert_int_eq((int)unit_open_fds(), fds);
}
END_TEST

/* A child process has inherited the code; a program that it executes has not. */
START_TEST(test_images)
{
	make_good();
	ck_assert_int_eq(tasks_fork(tasks, PID + 1, PID + 1, PID, PID, false), 0);
	ck_assert_str_eq(lookup(PID + 1, "jit", 4), "f+0x4");
	ck_assert_ptr_nonnull(jitdumps_of(dumps, PID + 1));
	ck_assert_int_eq(tasks_comm(tasks, PID, PID, "next", true), 0);
	ck_assert_ptr_null(jitdumps_of(dumps, PID));
	map_code(PID);
	ck_assert_str_eq(lookup(PID, "next", 4), "-");
	ck_assert_str_eq(lookup(PID, "jit", 4), "f+0x4");
	ck_assert_str_eq(lookup(PID + 1, "jit", 4), "f+0x4");
}
END_TEST

static bool keep_all(void *ctx, pid_t pid)
{
	(void)ctx;
	(void)pid;
	return true;
}

/* Another file is mapped at the place of the dump, which still describes the code. */
START_TEST(test_unmapped)
{
	const struct mapped_file file = { .path = "/lib/x" };
	const struct mapping m = { 0x10000, 0x20000, 0, &file };

	make_good();
	ck_assert_int_eq(tasks_mmap(tasks, PID, &m), 0);
	tasks_forget(tasks, keep_all, NULL);
	ck_assert_str_eq(lookup(PID, "jit", 4), "f+0x4");
	ck_assert_str_eq(tasks_jitdump(tasks, PID)->path, DUMP);
}
END_TEST

/*
 * Answers stay the same within a report; the next one knows more. Dumps that were read stay when the process and its
 * file are gone.
 */
START_TEST(test_renew)
{
	make_good();
	ck_assert_str_eq(lookup(PID, "jit", 4), "f+0x4");
	put_code("g", 0);
	put_code("h", 32);
	write_dump(ROOT DUMP);
	ck_assert_str_eq(lookup(PID, "jit", 4), "f+0x4");
	ck_assert_str_eq(lookup(PID, "jit", 33), "-");
	jitdumps_renew(dumps);
	ck_assert_str_eq(lookup(PID, "jit", 4), "g+0x4");
	ck_assert_str_eq(lookup(PID, "jit", 33), "h+0x1");
	ck_assert_int_eq(unlink(path_of(ROOT DUMP)), 0);
	tasks_exit(tasks, PID, PID);
	jitdumps_renew(dumps);
	ck_assert_str_eq(lookup(PID, "jit", 4), "g+0x4");
	jitdumps_renew(dumps);
	jitdumps_renew(dumps); /* no address was looked up since the one before */
	ck_assert_str_eq(lookup(PID, "jit", 4), "-");
}
END_TEST

/* While samples wait, the dump is read at most 200 times per second. */
START_TEST(test_look)
{
	uint64_t began = now_ns(), changes;
	struct jitdump *d;

	make_good();
	d = jitdumps_of(dumps, PID);
	ck_assert_ptr_nonnull(d);
	changes = jitdump_changes(d);
	ck_assert_uint_gt(changes, 0);
	put_code("g", 0);
	write_dump(ROOT DUMP);
	ck_assert_ptr_eq(jitdumps_of(dumps, PID), d);
	ck_assert(jitdump_changes(d) == changes || now_ns() - began > NSEC_PER_SEC / 200);
	while (jitdump_changes(d) == changes)
		ck_assert_ptr_eq(jitdumps_of(dumps, PID), d);
	ck_assert(now_ns() - began >= NSEC_PER_SEC / 200);
}
END_TEST

START_TEST(test_no_descriptors)
{
	struct jitdump_code code;
	rlim_t before;

	make_good();
	before = unit_limit_files(0);
	ck_assert_int_eq(jitdumps_find(dumps, PID, "jit", 0, CODE, &code, NULL), 0);
	unit_limit_files(before);
	ck_assert_str_eq(lookup(PID, "jit", 4), "f+0x4");
}
END_TEST

/*
 * A limited number of dumps is open: those of one report stay, because it uses their names. The next report may have
 * others.
 */
START_TEST(test_many)
{
	int fds = (int)unit_open_fds(), i;
	char name[64];

	put_code("f", 0);
	for (i = 1; i <= 300; i++) {
		snprintf(name, sizeof(name), "%d/root" DUMP, i);
		write_dump(name);
		map_code(i);
		map_dump(i, DUMP, name);
		ck_assert_str_eq(lookup(i, "", 4), i <= 128 ? "f+0x4" : "-");
		ck_assert_int_le((int)unit_open_fds(), fds + 128);
	}
	jitdumps_renew(dumps);
	for (i = 300; i > 172; i--)
		ck_assert_str_eq(lookup(i, "", 4), "f+0x4");
	ck_assert_str_eq(lookup(172, "", 4), "-");
	for (i = 1001; i <= 3000; i++) {
		snprintf(name, sizeof(name), "/tmp/jit-%d.dump", i);
		map_dump(i, name, NULL);
		ck_assert_ptr_null(jitdumps_of(dumps, i));
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("jitdumps");
	TCase *tc = tcase_create("jitdumps");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, test_paths, 0, ARRAY_SIZE(paths));
	tcase_add_test(tc, test_found);
	tcase_add_loop_test(tc, test_wrong_files, 0, ARRAY_SIZE(wrong_files));
	tcase_add_test(tc, test_images);
	tcase_add_test(tc, test_unmapped);
	tcase_add_test(tc, test_renew);
	tcase_add_test(tc, test_look);
	tcase_add_test(tc, test_no_descriptors);
	tcase_add_test(tc, test_many);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
