// SPDX-License-Identifier: Apache-2.0
#include "core/files/build_ids.h"
#include "core/files/mapped_files.h"
#include "core/files/recorded.h"
#include "core/files/vdso.h"
#include "core/host/host.h"
#include "core/symbols/perf_maps.h"
#include "core/symbols/symbols.h"
#include "core/tasks/proc.h"
#include "core/tasks/tasks.h"
#include "tests/unit/cfi_image.h"
#include "tests/unit/fake_signal.h"
#include "tests/unit/large_rules.h"

#include <inttypes.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#define PID  4242
#define BASE 0x7f0000000000ULL /* where a test's file is mapped; its .text begins at BASE + TEXT_OFFSET */
#define TEXT (BASE + TEXT_OFFSET)

static char *dir, *proc;
static struct host host;
static struct mapped_files_cfg files_cfg, recorded_files_cfg;
static struct perf_maps *perf_maps;
static struct tasks *tasks;
static struct symbols *syms;
static struct build_ids *table;
static struct recorded origin;

static rlim_t descriptors; /* the limit outside of tests */

static void setup(void)
{
	descriptors = unit_limit_files(1024); /* the usual one: shares of it are kept open */
	dir = unit_tmpdir();
	ck_assert_int_ge(asprintf(&proc, "%s/proc", dir), 0);
	host = (struct host){ .proc = proc, .sys = dir };
	tasks = tasks_new(&host);
	ck_assert_ptr_nonnull(tasks);
	files_cfg = (struct mapped_files_cfg){ .host = &host };
	recorded_files_cfg = (struct mapped_files_cfg){ .host = &host, .recorded = &origin };
	perf_maps = perf_maps_new(&files_cfg);
	ck_assert_ptr_nonnull(perf_maps);
	ck_assert_int_eq(symbols_open(tasks, &(struct symbols_cfg){ .files = &files_cfg, .perf_maps = perf_maps },
				      &syms, NULL),
			 0);
	table = build_ids_new();
	ck_assert_ptr_nonnull(table);
	origin = (struct recorded){ .build_ids = table };
}

static void teardown(void)
{
	unit_limit_files(descriptors);
	symbols_free(syms);
	perf_maps_free(perf_maps);
	build_ids_free(table);
	tasks_free(tasks);
	free(proc);
	unit_rmdir(dir);
}

static void write_text(const char *name, const char *text)
{
	unit_write(dir, name, text, strlen(text));
}

/* Write a library with "first" at .text + 0x100 and "second" behind it. Return: its inode number. */
static uint64_t write_library(const char *name)
{
	static const struct image_symbol v[] = {
		{ "first", 0x100, 0x40, STT_FUNC, STB_GLOBAL, SEC_TEXT },
		{ "second", 0x140, 0x40, STT_FUNC, STB_GLOBAL, SEC_TEXT },
		{ "_Z6secondv", 0x180, 0x40, STT_FUNC, STB_GLOBAL, SEC_TEXT },
		{ "__restore_rt", 0x1d0, 0x9, STT_FUNC, STB_GLOBAL, SEC_TEXT },
		{ "third", 0x1e0, 0x8, STT_FUNC, STB_GLOBAL, SEC_TEXT },
		{ "rt_sigreturn", 0x1e8, 0x8, STT_FUNC, STB_GLOBAL, SEC_TEXT },
	};
	struct image im;
	struct stat st;
	char path[4096];

	image_build(&im, ELFCLASS64, ELFDATA2LSB, v, ARRAY_SIZE(v), NULL, 0);
	unit_write(dir, name, im.bytes, im.len);
	image_release(&im);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	ck_assert_int_eq(stat(path, &st), 0);
	return st.st_ino;
}

/* Map such a file as the dynamic linker does: the text alone, from its page of the file on. */
static void map_at(pid_t pid, uint64_t start, uint64_t len, uint64_t pgoff, const char *path, uint64_t ino)
{
	const struct mapped_file file = { .path = path, .ino = ino };
	const struct mapping m = { start, start + len, pgoff, &file };

	ck_assert_int_eq(tasks_mmap(tasks, pid, &m), 0);
}

static void map(pid_t pid, const char *path, uint64_t ino)
{
	map_at(pid, TEXT, TEXT_SIZE, TEXT_OFFSET, path, ino);
}

/* "name+0xoffset [module]"; "-" without name, "-" alone without mapping; "0xfunction+0xoffset" by unwind rules. */
static const char *lookup(pid_t pid, uint64_t addr, bool is_return)
{
	static char text[256];
	struct symbol s;
	int n = 1;

	symbols_user(syms, pid, "test", tasks_image(tasks, pid), addr, is_return, &s);
	snprintf(text, sizeof(text), "-");
	if (s.name)
		n = snprintf(text, sizeof(text), "%s+0x%llx", s.name, (unsigned long long)s.offset);
	else if (s.has_function)
		n = snprintf(text, sizeof(text), "0x%" PRIx64 "+0x%" PRIx64, s.function, s.offset);
	if (s.module)
		snprintf(text + n, sizeof(text) - (size_t)n, " [%s]", s.module);
	return text;
}

static const struct {
	uint64_t addr;
	bool is_return;
	const char *found;
} addresses[] = {
	{ TEXT + 0x100, false, "first+0x0 [libx.so.1]" },
	{ TEXT + 0x100, true, "- [libx.so.1]" },
	{ TEXT + 0x101, true, "first+0x1 [libx.so.1]" },
	{ TEXT + 0x140, true, "first+0x40 [libx.so.1]" }, /* the call is the last instruction of first */
	{ TEXT + 0x140, false, "second+0x0 [libx.so.1]" },
	{ TEXT + 0x180, false, "_Z6secondv+0x0 [libx.so.1]" },
	{ TEXT + 0x1c0, true, "_Z6secondv+0x40 [libx.so.1]" },
	{ TEXT + 0x1c0, false, "- [libx.so.1]" },
	{ TEXT + 0x1cf, true, "- [libx.so.1]" },
	{ TEXT + 0x1d0, true, "__restore_rt+0x0 [libx.so.1]" }, /* a signal handler returns there */
	{ TEXT + 0x1d1, true, "__restore_rt+0x1 [libx.so.1]" },
	{ TEXT + 0x1e0, true, "- [libx.so.1]" },
	{ TEXT + 0x1e8, true, "third+0x8 [libx.so.1]" }, /* the call is in third */
	{ TEXT + 0xfff, false, "- [libx.so.1]" },
	{ TEXT + 0x1000, true, "- [libx.so.1]" }, /* after the mapping; the call is inside */
	{ TEXT + 0x1000, false, "-" },
	{ TEXT, false, "- [libx.so.1]" },
	{ TEXT, true, "-" },
	{ TEXT - 1, false, "-" },
	{ 0, false, "-" },
	{ 0, true, "-" },
	{ UINT64_MAX, true, "-" },
};

START_TEST(test_address)
{
	uint64_t ino = write_library("proc/4242/root/lib/libx.so.1");
	struct symbol s;

	map(PID, "/lib/libx.so.1", ino);
	symbols_user(syms, PID, "test", 0, addresses[_i].addr, addresses[_i].is_return, &s);
	ck_assert_uint_eq(s.file_address, s.module ? addresses[_i].addr - TEXT + TEXT_ADDR : 0);
	ck_assert_str_eq(lookup(PID, addresses[_i].addr, addresses[_i].is_return), addresses[_i].found);
	ck_assert_str_eq(lookup(PID + 1, addresses[_i].addr, addresses[_i].is_return), "-");
}
END_TEST

static bool keep_none(void *ctx, pid_t pid)
{
	(void)ctx;
	(void)pid;
	return false;
}

/* In a run with many reports, processes end and their files disappear; others may then use the same memory. */
START_TEST(test_forgotten)
{
	char path[64];
	int i, nr;

	for (nr = 0; nr < 2; nr++) {
		for (i = 0; i < 40; i++) {
			snprintf(path, sizeof(path), "proc/%d/root/lib/%d.so", PID + i, i);
			map(PID + i, strstr(path, "/lib"), nr ? 0 : write_library(path));
			if (nr)
				continue;
			ck_assert_str_ne(lookup(PID + i, TEXT + 0x100, false), "-");
			ck_assert_int_eq(tasks_exit(tasks, PID + i, PID + i), 0);
		}
		for (i = 0; i < 40 && nr; i++) {
			snprintf(path, sizeof(path), "- [%d.so]", i);
			ck_assert_str_eq(lookup(PID + i, TEXT + 0x100, false), path);
		}
		tasks_forget(tasks, keep_none, NULL);
		unit_rmdir(dir);
		dir = unit_tmpdir();
	}
}
END_TEST

/* ---- functions of files without symbols */

#define CODE (BASE + CFI_CODE_OFFSET)

/* Rules of some functions: an ordinary one, _start, the one to which signal handlers return, and damaged ones. */
static const struct cfi_function functions[] = {
	{ 0x100, 0x40, false, CFI_PROGRAM("\x0e\x10") },
	{ 0x140, 0x20, false, CFI_PROGRAM("\x07\x10") },
	{ 0x1bf, 0x11, true, CFI_PROGRAM("") },
	{ 0x200, 0x40, false, CFI_PROGRAM("\x3f") },
	{ 0x240, 0, false, CFI_PROGRAM("") },
	{ 0x280, 0x20, false, CFI_PROGRAM("\x42\x07\x10") },
	/* one function begins inside another one, two have the same code */
	{ 0x300, 0x80, false, CFI_PROGRAM("") },
	{ 0x320, 0x20, false, CFI_PROGRAM("") },
	{ 0x400, 0x20, false, CFI_PROGRAM("") },
	{ 0x400, 0x40, false, CFI_PROGRAM("") },
	{ 0xff0, 0x7fffffff, false, CFI_PROGRAM("") },
};

static void map_functions(const char *path)
{
	struct cfi_image image;

	cfi_image_build(&image, functions, ARRAY_SIZE(functions));
	unit_write(dir, "proc/4242/root/bin/gzip", image.bytes, sizeof(image.bytes));
	map_at(PID, CODE, CFI_CODE_SIZE, CFI_CODE_OFFSET, path, 0);
}

/* @entry: the function has no caller. */
static const struct {
	uint64_t addr;
	bool is_return;
	const char *found;
	bool entry;
} by_rules[] = {
	{ CODE + 0x100, false, "0x421100+0x0 [gzip]", false },
	{ CODE + 0x13f, false, "0x421100+0x3f [gzip]", false },
	{ CODE + 0x140, true, "0x421100+0x40 [gzip]", false }, /* the call is the last instruction */
	{ CODE + 0x140, false, "0x421140+0x0 [gzip]", true },
	{ CODE + 0x150, true, "0x421140+0x10 [gzip]", true },
	{ CODE + 0x160, true, "0x421140+0x20 [gzip]", true },
	{ CODE + 0x160, false, "- [gzip]", false },
	{ CODE + 0x161, true, "- [gzip]", false },
	{ CODE + 0x100, true, "- [gzip]", false },
	{ CODE + 0xff, false, "- [gzip]", false },
	/* the rules begin one byte before the code */
	{ CODE + 0x1c0, true, "0x4211c0+0x0 [gzip]", false },
	{ CODE + 0x1c0, false, "0x4211c0+0x0 [gzip]", false },
	{ CODE + 0x1c7, false, "0x4211c0+0x7 [gzip]", false },
	{ CODE + 0x1d0, false, "0x4211c0+0x10 [gzip]", false }, /* within its system call */
	{ CODE + 0x1d1, false, "- [gzip]", false },
	{ CODE + 0x1bf, false, "0x4211c0+0x0 [gzip]", false },
	/* the rules show where the function begins, but they are damaged */
	{ CODE + 0x210, false, "0x421200+0x10 [gzip]", false },
	{ CODE + 0x240, false, "- [gzip]", false },
	{ CODE + 0x241, true, "- [gzip]", false },
	/* from its third byte on, the function has no caller */
	{ CODE + 0x280, false, "0x421280+0x0 [gzip]", false },
	{ CODE + 0x282, true, "0x421280+0x2 [gzip]", false },
	{ CODE + 0x283, true, "0x421280+0x3 [gzip]", true },
	{ CODE + 0x310, false, "0x421300+0x10 [gzip]", false },
	{ CODE + 0x330, false, "0x421320+0x10 [gzip]", false },
	{ CODE + 0x340, false, "- [gzip]", false },
	{ CODE + 0x43f, false, "0x421400+0x3f [gzip]", false },
	{ CODE + 0xfff, false, "0x421ff0+0xf [gzip]", false },
	{ CODE + 0x1000, true, "0x421ff0+0x10 [gzip]", false },
	{ CODE + 0x1000, false, "-", false },
	{ CODE, true, "-", false },
	{ CODE, false, "- [gzip]", false },
	{ 0, true, "-", false },
	{ 0, false, "-", false },
	{ UINT64_MAX, true, "-", false },
};

START_TEST(test_by_rules)
{
	map_functions("/bin/gzip");
	ck_assert_str_eq(lookup(PID, by_rules[_i].addr, by_rules[_i].is_return), by_rules[_i].found);
	ck_assert_int_eq(symbols_user_called(syms, PID, "test", 0, by_rules[_i].addr, by_rules[_i].is_return),
			 *by_rules[_i].found == '0' && !by_rules[_i].entry);
	ck_assert(!symbols_user_called(syms, PID + 1, "test", 0, by_rules[_i].addr, by_rules[_i].is_return));
	ck_assert_str_eq(lookup(PID, by_rules[_i].addr, by_rules[_i].is_return), by_rules[_i].found);
}
END_TEST

/* Mappings without a file that can be opened, and their names. */
static const struct {
	const char *path, *module;
} no_files[] = {
	{ "//anon", "- [//anon]" },
	{ "[heap]", "- [[heap]]" },
	{ "[stack]", "- [[stack]]" },
	{ "[vsyscall]", "- [[vsyscall]]" },
	{ "[anon:a/b]", "- [[anon:a/b]]" },
	{ "anon_inode:[perf_event]", "- [anon_inode:[perf_event]]" },
	{ "/memfd:jit", "- [memfd:jit]" },
	{ "/memfd:jit (deleted)", "- [memfd:jit (deleted)]" },
	{ "/dev/zero", "- [zero]" },
	{ "/dev/shm/x", "- [x]" },
	{ "/SYSV00000000 (deleted)", "- [SYSV00000000 (deleted)]" },
	{ "/none/such.so", "- [such.so]" },
	{ "relative", "- [relative]" },
	{ "lib/libx.so", "- [lib/libx.so]" },
	{ "", "- []" },
	{ "/", "- [/]" },
	{ "/lib/", "- [/lib/]" },
	/* the file exists, but not by this path */
	{ "/lib/libx.so (deleted)", "- [libx.so (deleted)]" },
	{ "/lib/../lib/libx.so", "- [libx.so]" },
	{ "/lib/libx.so/", "- [/lib/libx.so/]" },
	{ "/lib/libx.so/x", "- [x]" },
	{ "/link.so", "- [link.so]" },
	{ "/linked/libx.so", "- [libx.so]" },
	{ "/escape/libx.so", "- [libx.so]" },
	{ "/fifo", "- [fifo]" },
	{ "/lib", "- [lib]" },
	{ "/text", "- [text]" },
	{ "/empty", "- [empty]" },
};

START_TEST(test_no_file)
{
	static const char *links[][2] = {
		{ "lib/libx.so", "link.so" },
		{ "lib", "linked" },
		{ "../../../outside", "escape" },
	};
	char path[4096];
	size_t i;

	write_library("proc/4242/root/lib/libx.so");
	write_library("outside/libx.so");
	write_text("proc/4242/root/text", "#!/bin/sh\n");
	write_text("proc/4242/root/empty", "");
	for (i = 0; i < ARRAY_SIZE(links); i++) {
		snprintf(path, sizeof(path), "%s/proc/4242/root/%s", dir, links[i][1]);
		ck_assert_int_eq(symlink(links[i][0], path), 0);
	}
	snprintf(path, sizeof(path), "%s/proc/4242/root/fifo", dir);
	ck_assert_int_eq(mkfifo(path, 0666), 0);
	map(PID, no_files[_i].path, 0);
	ck_assert_str_eq(lookup(PID, TEXT + 0x100, false), no_files[_i].module);
}
END_TEST

/* Code made at run time: by the mapping it is in, NULL: by none that is known. */
static const struct {
	const char *path;
	bool recorded;
	uint64_t addr;
	bool is_return;
	const char *found;
} made[] = {
	{ "//anon", false, TEXT + 0x100, false, "made f+0x0 [//anon]" },
	{ "//anon", false, TEXT + 0x140, true, "made f+0x40 [//anon]" },
	{ "//anon", false, TEXT + 0x13f, false, "made f+0x3f [//anon]" },
	{ "[anon:v8]", false, TEXT + 0x100, false, "made f+0x0 [[anon:v8]]" },
	{ "[heap]", false, TEXT + 0x100, false, "made f+0x0 [[heap]]" },
	{ "/memfd:jit (deleted)", false, TEXT + 0x100, false, "made f+0x0 [memfd:jit (deleted)]" },
	{ "/dev/zero (deleted)", false, TEXT + 0x100, false, "made f+0x0 [zero (deleted)]" },
	{ "/anon_hugepage (deleted)", false, TEXT + 0x100, false, "made f+0x0 [anon_hugepage (deleted)]" },
	{ "/SYSV00000000 (deleted)", false, TEXT + 0x100, false, "made f+0x0 [SYSV00000000 (deleted)]" },
	{ "/proc-text", false, TEXT + 0x100, false, "made f+0x0 [proc-text]" },
	{ NULL, false, TEXT + 0x100, false, "made f+0x0" },
	{ NULL, false, TEXT + 0x140, true, "made f+0x40" },
	{ "//anon", false, TEXT + 0x100, true, "- [//anon]" },
	{ "//anon", false, TEXT + 0x140, false, "- [//anon]" },
	{ NULL, false, TEXT + 0x100, true, "-" },
	{ NULL, false, 0, true, "-" },
	{ NULL, false, UINT64_MAX, false, "-" },
	{ "/none.so", false, TEXT + 0x100, false, "made f+0x0 [none.so]" },
	{ "/lib/libx.so", false, TEXT + 0x148, false, "second+0x8 [libx.so]" },
	{ "/lib/libx.so", false, TEXT + 0x1c0, false, "- [libx.so]" },
	{ "[vdso]", false, TEXT + 0x100, false, "- [[vdso]]" },
	{ "//anon", true, TEXT + 0x100, false, "- [//anon]" },
	{ NULL, true, TEXT + 0x100, false, "-" },
};

START_TEST(test_made)
{
	struct symbol s;
	char text[128];

	snprintf(text, sizeof(text), "Tgid:\t4242\nUid:\t1\t%u\t1\t1\nNSpid:\t4242\t7\n", getuid());
	write_text("proc/4242/status", text);
	snprintf(text, sizeof(text), "%llx 40 made f\n%llx 40 other\n", TEXT + 0x100, TEXT + 0x1c0);
	write_text("proc/4242/root/tmp/perf-7.map", text);
	write_library("proc/4242/root/lib/libx.so");
	write_text("proc/4242/root/proc-text", "no ELF file");
	if (made[_i].recorded) {
		symbols_free(syms);
		ck_assert_int_eq(symbols_open(tasks, &(struct symbols_cfg){ .files = &recorded_files_cfg }, &syms,
					      NULL),
				 0);
	}
	if (made[_i].path)
		map(PID, made[_i].path, 0);
	ck_assert_str_eq(lookup(PID, made[_i].addr, made[_i].is_return), made[_i].found);
	symbols_user(syms, PID, "test", 0, made[_i].addr, made[_i].is_return, &s);
	ck_assert_int_eq(s.jit, !strncmp(made[_i].found, "made", 4));
	ck_assert_str_eq(lookup(PID + 1, made[_i].addr, made[_i].is_return), "-");
}
END_TEST

/* The next report has names that were added since the last one. */
START_TEST(test_made_later)
{
	char text[128];

	snprintf(text, sizeof(text), "Uid:\t1\t%u\t1\t1\n", getuid());
	write_text("proc/4242/status", text);
	ck_assert_str_eq(lookup(PID, 0x1004, false), "-");
	write_text("proc/4242/root/tmp/perf-4242.map", "1000 10 f\n");
	ck_assert_str_eq(lookup(PID, 0x1004, false), "-");
	symbols_renew(syms);
	ck_assert_str_eq(lookup(PID, 0x1004, false), "f+0x4");
}
END_TEST

START_TEST(test_which_file)
{
	uint64_t ino = write_library("proc/1/root/a.so"), outside;
	char path[4096];

	/* unknown inode: the path decides; other inode: another file */
	map(1, "/a.so", 0);
	ck_assert_str_eq(lookup(1, TEXT + 0x100, false), "first+0x0 [a.so]");
	map(1, "/a.so", ino + 1000);
	ck_assert_str_eq(lookup(1, TEXT + 0x100, false), "- [a.so]");
	map(1, "/a.so", ino);
	ck_assert_str_eq(lookup(1, TEXT + 0x100, false), "first+0x0 [a.so]");

	/* the first process has ended, the second has the file; then the first one has it, too */
	ino = write_library("proc/3/root/b.so");
	map(2, "/b.so", ino);
	map(3, "/b.so", ino);
	ck_assert_str_eq(lookup(2, TEXT + 0x100, false), "- [b.so]");
	ck_assert_str_eq(lookup(3, TEXT + 0x100, false), "first+0x0 [b.so]");
	ck_assert_str_eq(lookup(2, TEXT + 0x100, false), "first+0x0 [b.so]");

	/* outside of any root of a process: use the path itself */
	outside = write_library("outside/c.so");
	snprintf(path, sizeof(path), "%s/outside/c.so", dir);
	map(4, path, outside);
	ck_assert_str_eq(lookup(4, TEXT + 0x100, false), "first+0x0 [c.so]");
}
END_TEST

/* A missing file is looked up once for each of the first few processes, not for each address. */
START_TEST(test_failure_is_kept)
{
	pid_t pid;

	map(1, "/late.so", 0);
	ck_assert_str_eq(lookup(1, TEXT + 0x100, false), "- [late.so]");
	write_library("proc/1/root/late.so");
	ck_assert_str_eq(lookup(1, TEXT + 0x100, false), "- [late.so]");
	for (pid = 2; pid < 10; pid++) {
		map(pid, "/late.so", 0);
		ck_assert_str_eq(lookup(pid, TEXT + 0x100, false), "- [late.so]");
	}
	write_library("proc/10/root/late.so");
	map(10, "/late.so", 0);
	ck_assert_str_eq(lookup(10, TEXT + 0x100, false), "- [late.so]");

	/* invalid file: no second try */
	write_text("proc/1/root/broken.so", "\177ELF");
	write_library("proc/2/root/broken.so");
	map(1, "/broken.so", 0);
	map(2, "/broken.so", 0);
	ck_assert_str_eq(lookup(1, TEXT + 0x100, false), "- [broken.so]");
	ck_assert_str_eq(lookup(2, TEXT + 0x100, false), "- [broken.so]");
}
END_TEST

START_TEST(test_many_files)
{
	char name[64], want[64];
	int i;

	for (i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "proc/4242/root/lib%d.so", i);
		write_library(name);
		map_at(PID, TEXT + (uint64_t)i * TEXT_SIZE, TEXT_SIZE, TEXT_OFFSET, strrchr(name, '/'), 0);
	}
	for (i = 99; i >= 0; i--) {
		snprintf(want, sizeof(want), "second+0x2 [lib%d.so]", i);
		ck_assert_str_eq(lookup(PID, TEXT + (uint64_t)i * TEXT_SIZE + 0x142, false), want);
	}
}
END_TEST

/*
 * Descriptors that an earlier report used are free for the files of the next one, also for files that had none before.
 */
START_TEST(test_room)
{
	const int nr = 24, room = 12;
	char name[64], want[64];
	int i, named, report;

	for (i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), "proc/4242/root/lib%d.so", i);
		write_library(name);
		map_at(PID, TEXT + (uint64_t)i * TEXT_SIZE, TEXT_SIZE, TEXT_OFFSET, strrchr(name, '/'), 0);
	}
	unit_leave_files(room);
	for (report = 0; report < 4; report++) {
		symbols_renew(syms);
		named = 0;
		for (i = 0; i < nr; i++)
			named += lookup(PID, TEXT + (uint64_t)i * TEXT_SIZE + 0x142, false)[0] == 's';
		ck_assert_int_gt(named, 0);
		ck_assert_int_lt(named, nr);
		symbols_renew(syms);
		for (i = nr - 1; i >= nr - named; i--) {
			snprintf(want, sizeof(want), "second+0x2 [lib%d.so]", i);
			ck_assert_str_eq(lookup(PID, TEXT + (uint64_t)i * TEXT_SIZE + 0x142, false), want);
		}
	}
	ck_assert(symbols_skipped(syms, NULL));
}
END_TEST

/* A library whose symbol table has the largest number of symbols that profile reads. All are empty. */
static void write_empty_symbols(const char *name)
{
	const uint64_t nr = 4u << 20, at = 0x2000;
	struct image im;
	char path[4096];
	unsigned char *header;
	Elf64_Shdr sh;

	image_build(&im, ELFCLASS64, ELFDATA2LSB, NULL, 0, NULL, 0);
	header = im.bytes + im.shdr + SEC_SYMTAB * sizeof(sh);
	memcpy(&sh, header, sizeof(sh)); /* it is not aligned */
	sh.sh_offset = at;
	sh.sh_size = nr * sizeof(Elf64_Sym);
	memcpy(header, &sh, sizeof(sh));
	unit_write(dir, name, im.bytes, im.len);
	image_release(&im);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	ck_assert_int_eq(truncate(path, (off_t)(at + nr * sizeof(Elf64_Sym))), 0);
}

/*
 * Symbols that are not functions take time, too, and count towards the limit. The next report begins anew. Two files
 * are skipped: the library, and the debug file of the last file before it, in which an address has no name.
 */
START_TEST(test_empty_symbols)
{
	enum { EMPTY = 4 };
	struct err why;
	char name[64];
	int i;

	write_library("proc/4242/root/lib.so");
	map_at(PID, TEXT + EMPTY * TEXT_SIZE, TEXT_SIZE, TEXT_OFFSET, "/lib.so", 0);
	for (i = 0; i < EMPTY; i++) {
		snprintf(name, sizeof(name), "proc/4242/root/empty%d", i);
		write_empty_symbols(name);
		map_at(PID, TEXT + (uint64_t)i * TEXT_SIZE, TEXT_SIZE, TEXT_OFFSET, strrchr(name, '/'), 0);
	}
	for (i = 0; i <= EMPTY; i++)
		lookup(PID, TEXT + (uint64_t)i * TEXT_SIZE + 0x142, false);
	ck_assert(symbols_skipped(syms, &why));
	ck_assert_str_eq(why.msg, "the symbols or unwind rules of 2 files were not read: there are too many");
	symbols_renew(syms);
	ck_assert_str_eq(lookup(PID, TEXT + EMPTY * TEXT_SIZE + 0x142, false), "second+0x2 [lib.so]");
}
END_TEST

/* Files of other users do not use up the limit for ours. */
START_TEST(test_strangers)
{
	char name[64], path[4096];
	int i;

	for (i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "proc/4242/root/empty%d", i);
		write_empty_symbols(name);
		snprintf(path, sizeof(path), "%s/%s", dir, name);
		if (chown(path, 65533, 65533))
			return; /* not root */
		map_at(PID, TEXT + (uint64_t)i * TEXT_SIZE, TEXT_SIZE, TEXT_OFFSET, strrchr(name, '/'), 0);
		lookup(PID, TEXT + (uint64_t)i * TEXT_SIZE + 0x142, false);
	}
	write_library("proc/4242/root/lib.so");
	map_at(PID, TEXT + 4 * TEXT_SIZE, TEXT_SIZE, TEXT_OFFSET, "/lib.so", 0);
	ck_assert_str_eq(lookup(PID, TEXT + 4 * TEXT_SIZE + 0x142, false), "second+0x2 [lib.so]");
	ck_assert(symbols_skipped(syms, NULL));
}
END_TEST

/* Many names of one file cost as much as one, and each module is named after its own path. */
START_TEST(test_links)
{
	char old[4096], new[4096], path[32], want[64];
	uint64_t ino;
	int i;

	write_empty_symbols("proc/4242/root/empty");
	ino = write_library("proc/4242/root/lib.so");
	for (i = 0; i < 8; i++) {
		snprintf(old, sizeof(old), "%s/proc/4242/root/%s", dir, i % 2 ? "empty" : "lib.so");
		snprintf(path, sizeof(path), "/link%d", i);
		snprintf(new, sizeof(new), "%s/proc/4242/root%s", dir, path);
		ck_assert_int_eq(link(old, new), 0);
		map_at(PID, TEXT + (uint64_t)i * TEXT_SIZE, TEXT_SIZE, TEXT_OFFSET, path, i % 2 ? 0 : ino);
	}
	for (i = 7; i >= 0; i--) {
		snprintf(want, sizeof(want), i % 2 ? "- [link%d]" : "second+0x2 [link%d]", i);
		ck_assert_str_eq(lookup(PID, TEXT + (uint64_t)i * TEXT_SIZE + 0x142, false), want);
	}
	ck_assert(!symbols_skipped(syms, NULL));
}
END_TEST

/* After a signal a report is overdue: files that were read before have names, and no others are opened. */
START_TEST(test_signal)
{
	struct err why;

	write_library("proc/4242/root/lib0.so");
	write_library("proc/4242/root/lib1.so");
	map_at(PID, TEXT, TEXT_SIZE, TEXT_OFFSET, "/lib0.so", 0);
	map_at(PID, TEXT + TEXT_SIZE, TEXT_SIZE, TEXT_OFFSET, "/lib1.so", 0);
	ck_assert_str_eq(lookup(PID, TEXT + 0x142, false), "second+0x2 [lib0.so]");
	fake_signal_begin();
	symbols_renew(syms);
	ck_assert_str_eq(lookup(PID, TEXT + 0x142, false), "second+0x2 [lib0.so]");
	ck_assert_str_ne(lookup(PID, TEXT + TEXT_SIZE + 0x142, false), "second+0x2 [lib1.so]");
	fake_signal_end();
	ck_assert(symbols_skipped(syms, &why));
	ck_assert_str_eq(why.msg,
			 "the symbols or unwind rules of 1 files were not read: a signal left no time for them");
}
END_TEST

/*
 * With @_i descriptors: if the rules cannot be read, a warning says so, and the report prints one name for each
 * function.
 */
START_TEST(test_no_rules)
{
	rlim_t all;
	struct err why;
	bool found;

	map_functions("/bin/gzip");
	all = unit_leave_files((unsigned int)_i);
	symbols_renew(syms);
	found = lookup(PID, CODE + 0x100, false)[0] == '0';
	ck_assert_int_eq(symbols_skipped(syms, &why), !found);
	if (!found)
		ck_assert_int_eq(strncmp(why.msg, "the symbols or unwind rules of 1 files were not read: ", 54), 0);
	unit_limit_files(all);
	ck_assert_int_eq(lookup(PID, CODE + 0x101, false)[0] == '0', found);
	ck_assert_int_eq(symbols_user_called(syms, PID, "test", 0, CODE + 0x102, false), found);
	symbols_renew(syms);
	ck_assert_str_eq(lookup(PID, CODE + 0x101, false), "0x421100+0x1 [gzip]");
}
END_TEST

static int own_vdso(void *ctx, const struct proc_map *m)
{
	if (strcmp(m->path, "[vdso]"))
		return 0;
	*(struct mapping *)ctx = (struct mapping){ .start = m->start, .end = m->end };
	return 1;
}

/* True if clock_gettime is in the vDSO that begins at @start. */
static bool has_clock(uint64_t start, uint64_t len)
{
	const char *found, *module = start > UINT32_MAX ? " [[vdso]]" : " [[vdso32]]";
	uint64_t at;

	for (at = 0; at < len; at++) {
		found = lookup(PID, start + at, false);
		ck_assert_ptr_nonnull(strstr(found, module));
		if (!strncmp(found, "clock_gettime+0x0 ", 18) || !strncmp(found, "__vdso_clock_gettime+0x0 ", 25) ||
		    !strncmp(found, "__kernel_clock_gettime+0x0 ", 27))
			return true;
	}
	return false;
}

START_TEST(test_vdso)
{
	bool have = getauxval(AT_SYSINFO_EHDR) != 0; /* not under valgrind */
	struct mapping m = { .start = BASE, .end = BASE + 0x2000 };
	uint64_t len;

	proc_maps(&host_here, getpid(), own_vdso, &m);
	len = m.end - m.start;
	/* at any address in that process, and with any page offset from old kernels */
	map_at(PID, BASE, len, 0, "[vdso]", 0);
	ck_assert_int_eq(has_clock(BASE, len), have);
	map_at(PID, BASE, len, BASE, "[vdso]", 0);
	ck_assert_int_eq(has_clock(BASE, len), have);
	/* another size: not our vDSO */
	map_at(PID, 2 * BASE, 2 * len, 0, "[vdso]", 0);
	ck_assert(!has_clock(2 * BASE, 2 * len));
}
END_TEST

/* Below 4 GiB: a 32-bit process. Kernels before 4.9, and valgrind, do not give its vDSO. */
START_TEST(test_vdso32)
{
	static const struct mapped_file file = { .path = VDSO32 };
	const uint64_t start = 0xf7f00000;
	struct elf_file f = { 0 };
	bool have = !vdso_open_mapped(&file, &f);
	uint64_t len = have ? f.bytes.size : 0x2000;

	if (have)
		elf_file_release(&f);
	map_at(PID, start, len, 0, "[vdso]", 0);
	ck_assert_int_eq(has_clock(start, len), have);
	map_at(PID, start + (1 << 20), 2 * len, 0, "[vdso]", 0);
	ck_assert(!has_clock(start + (1 << 20), 2 * len));
}
END_TEST

static const char kallsyms[] = "ffffffff81000000 T start\n"
			       "ffffffff81000040 T do_something\n"
			       "ffffffff81000080 t _Z9not_a_cppv\n"
			       "ffffffff810000c0 D data\n"
			       "ffffffffc0000000 t in_module\t[mod]\n";

static const struct {
	uint64_t addr;
	bool is_return;
	const char *name, *module;
	uint64_t offset;
} kernel_addresses[] = {
	{ 0xffffffff81000040, false, "do_something", "kernel", 0 },
	{ 0xffffffff81000040, true, "start", "kernel", 0x40 },
	{ 0xffffffff810000c0, true, "_Z9not_a_cppv", "kernel", 0x40 },
	{ 0xffffffff810000c0, false, NULL, "kernel", 0 },
	{ 0xffffffff81000000, true, NULL, "kernel", 0 },
	{ 0xffffffffc0000010, false, "in_module", "mod", 0x10 },
	{ 0x00007fffffffffff, false, NULL, NULL, 0 },
	{ 0, true, NULL, NULL, 0 },
};

START_TEST(test_kernel)
{
	struct err why = { 0 };
	struct symbol s;

	write_text("proc/kallsyms", kallsyms);
	symbols_kernel(syms, kernel_addresses[_i].addr, kernel_addresses[_i].is_return, &s);
	ck_assert_pstr_eq(s.name, kernel_addresses[_i].name);
	ck_assert_pstr_eq(s.module, kernel_addresses[_i].module);
	ck_assert_uint_eq(s.offset, kernel_addresses[_i].offset);
	ck_assert(!symbols_kernel_hidden(syms, &why));
	ck_assert_int_eq(why.code, 0);
}
END_TEST

#define ZEROS "0000000000000000 T _text\n0000000000000000 t x\t[m]\n"

/* The warning if the kernel's settings hide its addresses. NULL: they are not hidden. */
static const struct {
	const char *kallsyms, *kptr, *paranoid, *says;
} hidden[] = {
	{ ZEROS, "1\n", "2\n", "kernel symbol names are hidden: kernel.kptr_restrict is 1" },
	{ ZEROS, "2\n", "-1\n", "kernel symbol names are hidden: kernel.kptr_restrict is 2" },
	{ ZEROS, "0\n", "2\n", "kernel symbol names are hidden: kernel.perf_event_paranoid is 2" },
	{ ZEROS, "0\n", "1\n", "kernel symbol names are hidden from this user" },
	{ ZEROS, "0\n", NULL, "kernel symbol names are hidden from this user" },
	{ ZEROS, NULL, NULL, "kernel symbol names are hidden from this user" },
	{ ZEROS, "x\n", "\n", "kernel symbol names are hidden from this user" },
	{ kallsyms, "2\n", "4\n", NULL },
	{ "", "2\n", "4\n", NULL },
	{ NULL, "2\n", "4\n", "kernel symbol names are missing: cannot read kallsyms: No such file or directory" },
};

START_TEST(test_hidden)
{
	struct err why = { 0 };
	struct symbol s;

	if (hidden[_i].kallsyms)
		write_text("proc/kallsyms", hidden[_i].kallsyms);
	if (hidden[_i].kptr)
		write_text("proc/sys/kernel/kptr_restrict", hidden[_i].kptr);
	if (hidden[_i].paranoid)
		write_text("proc/sys/kernel/perf_event_paranoid", hidden[_i].paranoid);
	ck_assert(!symbols_kernel_hidden(syms, &why)); /* never asked */
	symbols_kernel(syms, 0x401000, false, &s);
	ck_assert(!symbols_kernel_hidden(syms, &why));
	symbols_kernel(syms, 0xffffffff81000500, false, &s);
	ck_assert_ptr_null(s.name);
	ck_assert_str_eq(s.module, "kernel");
	ck_assert_int_eq(symbols_kernel_hidden(syms, &why), hidden[_i].says != NULL);
	ck_assert_str_eq(why.msg, hidden[_i].says ? hidden[_i].says : "");
}
END_TEST

/* Open as for a recording, with these files. Return: the result of symbols_open(). */
static int reopen(const char *kallsyms_path, const char *vmlinux, bool recorded, struct err *err)
{
	const struct symbols_cfg cfg = {
		.files = recorded ? &recorded_files_cfg : &files_cfg,
		.kallsyms = kallsyms_path,
		.vmlinux = vmlinux,
	};

	symbols_free(syms);
	syms = NULL;
	return symbols_open(tasks, &cfg, &syms, err);
}

static void open_recorded(void)
{
	ck_assert_int_eq(reopen(NULL, NULL, true, NULL), 0);
}

/* Write the text of a library, as write_library(), with build id @id unless NULL. Return: its inode. */
static uint64_t write_built(const char *name, const char *id)
{
	static const struct image_symbol v[] = { { "first", 0x100, 0x40, STT_FUNC, STB_GLOBAL, SEC_TEXT },
						 { "_text", 0, 0, STT_NOTYPE, STB_GLOBAL, SHN_ABS } };
	unsigned char bytes[128];
	struct image_notes notes = { bytes, 0, true, true, 4 };
	char path[4096];
	struct image im;
	struct stat st;

	notes.len = id ? image_note(bytes, ELFDATA2LSB, 4, NT_GNU_BUILD_ID, "GNU", 4, id, (uint32_t)strlen(id)) : 0;
	image_build_with(&im, ELFCLASS64, ELFDATA2LSB, v, ARRAY_SIZE(v), NULL, 0, id ? &notes : NULL);
	unit_write(dir, name, im.bytes, im.len);
	image_release(&im);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	ck_assert_int_eq(stat(path, &st), 0);
	return st.st_ino;
}

/* Map the file with a build id of the mapping, as tasks has it from an MMAP2 record. */
static void set_build_id(pid_t pid, const char *id)
{
	struct mapped_file file;
	struct mapping m;

	ck_assert_int_eq(tasks_find(tasks, pid, "test", 0, TEXT, &m), 1);
	file = *m.file;
	file.build_id_size = (uint8_t)strlen(id);
	memcpy(file.build_id, id, strlen(id));
	m.file = &file;
	ck_assert_int_eq(tasks_mmap(tasks, pid, &m), 0);
}

enum inode { INO_NONE, INO_SAME, INO_OTHER };

/* The build ids of the mapping, of the table, and of the file. Ids are text. */
static const struct {
	const char *mapping, *table[2], *file;
	enum inode ino;
	bool found;
} recorded_files[] = {
	{ NULL, { "abc" }, "abc", INO_NONE, true },
	{ NULL, { "abc" }, "abc", INO_SAME, true },
	{ NULL, { "abc" }, "abc", INO_OTHER, true }, /* copied to another host */
	{ "abc", { NULL }, "abc", INO_NONE, true },
	{ "abc", { "xyz" }, "abc", INO_NONE, true }, /* the id of the mapping decides */
	{ "abc", { "abc", "xyz" }, "abc", INO_NONE, true },
	{ NULL, { NULL }, NULL, INO_SAME, true },
	{ NULL, { NULL }, "abc", INO_SAME, true },
	{ NULL, { NULL }, NULL, INO_NONE, true },
	{ NULL, { NULL }, "abc", INO_NONE, true },
	{ NULL, { "abc", "xyz" }, "abc", INO_SAME, true },
	{ NULL, { "abc" }, "xyz", INO_NONE, false },
	{ NULL, { "abc" }, "xyz", INO_SAME, false }, /* overwritten */
	{ NULL, { "abc" }, "ab", INO_SAME, false },
	{ NULL, { "abc" }, "abcd", INO_SAME, false },
	{ NULL, { "abc" }, NULL, INO_SAME, false },
	{ NULL, { "abc" }, NULL, INO_NONE, false },
	{ "abc", { NULL }, "xyz", INO_NONE, false },
	{ "abc", { NULL }, NULL, INO_NONE, false },
	{ "abc", { "xyz" }, "xyz", INO_NONE, false },
	{ NULL, { "abc", "xyz" }, "abc", INO_NONE, false },
	{ NULL, { "abc", "xyz" }, "xyz", INO_OTHER, false },
	{ NULL, { NULL }, "abc", INO_OTHER, false },
	{ NULL, { NULL }, NULL, INO_OTHER, false },
};

START_TEST(test_recorded_file)
{
	const char *id = recorded_files[_i].found ? recorded_files[_i].file : recorded_files[_i].mapping;
	uint64_t ino = write_built("usr/lib/x.so", recorded_files[_i].file);
	struct symbol s;
	char path[4096];
	size_t i;

	open_recorded();
	snprintf(path, sizeof(path), "%s/usr/lib/x.so", dir);
	for (i = 0; i < 2 && recorded_files[_i].table[i]; i++)
		ck_assert_int_eq(build_ids_add(table, path, recorded_files[_i].table[i],
					       strlen(recorded_files[_i].table[i])),
				 0);
	map(PID, path, recorded_files[_i].ino == INO_NONE ? 0 : ino + (recorded_files[_i].ino == INO_OTHER));
	if (recorded_files[_i].mapping)
		set_build_id(PID, recorded_files[_i].mapping);
	ck_assert_str_eq(lookup(PID, TEXT + 0x100, false), recorded_files[_i].found ? "first+0x0 [x.so]" : "- [x.so]");
	ck_assert_str_eq(lookup(PID, TEXT + 0x13f, false), recorded_files[_i].found ? "first+0x3f [x.so]" : "- [x.so]");
	ck_assert_uint_eq(symbols_mismatched(syms), !recorded_files[_i].found);
	symbols_user(syms, PID, "test", tasks_image(tasks, PID), TEXT + 0x100, false, &s);
	ck_assert_uint_eq(s.build_id_size, id ? strlen(id) : 0);
	ck_assert(!id || !memcmp(s.build_id, id, s.build_id_size));
}
END_TEST

/* Another process with the same PID runs on this host, and has a file at the same path. */
START_TEST(test_recorded_root)
{
	write_built("proc/4242/root/only/here.so", "abc");
	open_recorded();
	ck_assert_int_eq(build_ids_add(table, "/only/here.so", "abc", 3), 0);
	map(PID, "/only/here.so", 0);
	ck_assert_str_eq(lookup(PID, TEXT + 0x100, false), "- [here.so]");
	ck_assert_uint_eq(symbols_mismatched(syms), 0); /* profile does not look there */
}
END_TEST

/* Something at the path that cannot be the mapped file. */
static const struct {
	const char *name;
	size_t mismatched;
} recorded_others[] = {
	{ "fifo", 1 }, { "directory", 1 }, { "text", 1 },      { "empty", 1 },
	{ "none", 0 }, { "link", 1 },      { "a/../text", 0 },
};

START_TEST(test_recorded_other)
{
	char path[4096];

	write_text("text", "#!/bin/sh\n");
	write_text("empty", "");
	write_text("directory/x", "");
	snprintf(path, sizeof(path), "%s/fifo", dir);
	ck_assert_int_eq(mkfifo(path, 0666), 0);
	write_built("target", "abc");
	snprintf(path, sizeof(path), "%s/link", dir);
	ck_assert_int_eq(symlink("target", path), 0);
	open_recorded();
	snprintf(path, sizeof(path), "%s/%s", dir, recorded_others[_i].name);
	ck_assert_int_eq(build_ids_add(table, path, "abc", 3), 0);
	map(PID, path, 0);
	ck_assert(lookup(PID, TEXT + 0x100, false)[0] == '-');
	ck_assert_uint_eq(symbols_mismatched(syms), recorded_others[_i].mismatched);
}
END_TEST

#define KASLR 0xffffffffa3000000ULL
#define LINK  0xffffffff81000000ULL

#define OTHER_KERNEL "kernel symbol names are missing: the recording was made on another kernel" GIVE
#define MAYBE_KERNEL "kernel symbol names are missing: nothing tells that the recording was made on this kernel" GIVE
#define NOWHERE      "kernel symbol names are missing: nothing tells where the kernel of the recording was loaded" GIVE
#define GIVE         "; give --kallsyms or --vmlinux"
#define MODULES      "names of kernel modules and BPF programs are missing: "
#define OTHER_BOOT   MODULES "the recording was made in another boot of this kernel; give --kallsyms"
#define MAYBE_BOOT   MODULES "nothing tells that the recording was made in this boot; give --kallsyms"
#define KEPT_BOOT    MODULES "perf has kept them of another boot of this kernel; give --kallsyms"
#define HIDDEN       "kernel symbol names are hidden: kernel.kptr_restrict is 1"

/*
 * The recorded kernel and the running one, whose _text is at @here (0: hidden). @proper, @module: it has names.
 */
static const struct {
	const char *id, *running;
	const char *reference;
	uint64_t addr, here;
	enum recorded_boot boot;
	bool proper, module;
	const char *says;
} recorded_kernels[] = {
	{ "abc", "abc", "_text", KASLR, KASLR, BOOT_UNKNOWN, true, true, NULL },
	{ "abc", "abc", "_text", KASLR, KASLR, BOOT_SAME, true, true, NULL },
	{ "abc", "abc", "_stext", KASLR, KASLR, BOOT_UNKNOWN, true, true, NULL },
	{ NULL, "abc", "_text", KASLR, KASLR, BOOT_SAME, true, true, NULL },
	{ "abc", NULL, "_text", KASLR, KASLR, BOOT_SAME, true, true, NULL },
	{ NULL, NULL, "_text", KASLR, KASLR, BOOT_SAME, true, true, NULL },
	{ "abc", "abc", NULL, 0, KASLR, BOOT_SAME, true, true, NULL },
	{ "abc", "abc", "_text", LINK, LINK, BOOT_SAME, true, true, NULL },
	/* without modules */
	{ "abc", "abc", "_text", KASLR, KASLR, BOOT_OTHER, true, false, OTHER_BOOT },
	{ "abc", "abc", "_text", KASLR + 0x5200000, KASLR, BOOT_UNKNOWN, true, false, OTHER_BOOT },
	{ "abc", "abc", "_text", LINK, KASLR, BOOT_UNKNOWN, true, false, OTHER_BOOT },
	{ "abc", "abc", "_text", KASLR, LINK, BOOT_UNKNOWN, true, false, OTHER_BOOT },
	{ "abc", "abc", "_text", LINK, KASLR, BOOT_SAME, true, false, OTHER_BOOT },
	{ "abc", "abc", "_text", LINK, LINK, BOOT_UNKNOWN, true, false, MAYBE_BOOT },
	{ "abc", "abc", "_text", LINK, LINK, BOOT_OTHER, true, false, OTHER_BOOT },
	/* not at all */
	{ "abc", "xyz", "_text", KASLR, KASLR, BOOT_UNKNOWN, false, false, OTHER_KERNEL },
	{ "abc", "xyz", "_text", KASLR, KASLR, BOOT_SAME, false, false, OTHER_KERNEL },
	{ "abc", "xyz", NULL, 0, KASLR, BOOT_SAME, false, false, OTHER_KERNEL },
	{ "abc", "ab", "_text", KASLR, KASLR, BOOT_UNKNOWN, false, false, OTHER_KERNEL },
	{ NULL, "abc", "_text", KASLR, LINK, BOOT_SAME, false, false, OTHER_KERNEL },
	{ NULL, "abc", "_text", KASLR, KASLR, BOOT_UNKNOWN, false, false, MAYBE_KERNEL },
	{ NULL, "abc", "_text", KASLR, KASLR, BOOT_OTHER, false, false, MAYBE_KERNEL },
	{ "abc", NULL, "_text", KASLR, KASLR, BOOT_UNKNOWN, false, false, MAYBE_KERNEL },
	{ NULL, NULL, NULL, 0, KASLR, BOOT_UNKNOWN, false, false, MAYBE_KERNEL },
	{ NULL, NULL, NULL, 0, KASLR, BOOT_SAME, false, false, NOWHERE },
	{ NULL, "abc", "_text", 0, KASLR, BOOT_SAME, false, false, NOWHERE },
	{ "abc", "abc", NULL, 0, KASLR, BOOT_UNKNOWN, false, false, NOWHERE },
	{ "abc", "abc", "_text", 0, KASLR, BOOT_UNKNOWN, false, false, NOWHERE },
	{ "abc", "abc", "_text", 0x401000, KASLR, BOOT_UNKNOWN, false, false, NOWHERE },
	{ "abc", "abc", "do_something", KASLR + 0x40, KASLR, BOOT_UNKNOWN, false, false, NOWHERE },
	{ "abc", "abc", "", KASLR, KASLR, BOOT_UNKNOWN, false, false, NOWHERE },
	{ "abc", "abc", "_text", KASLR, 0, BOOT_SAME, false, false, HIDDEN },
	{ "abc", "xyz", "_text", KASLR, 0, BOOT_SAME, false, false, OTHER_KERNEL },
};

static void write_notes(const char *id)
{
	unsigned char bytes[128];

	if (id)
		unit_write(dir, "kernel/notes", bytes,
			   image_note(bytes, ELFDATA2LSB, 4, NT_GNU_BUILD_ID, "GNU", 4, id, (uint32_t)strlen(id)));
}

/* With _text at @text and a module, whose symbol is at 0xffffffffc0000000. */
static void write_kallsyms(const char *name, uint64_t text)
{
	char lines[512];

	snprintf(lines, sizeof(lines),
		 "%016" PRIx64 " T _text\n%016" PRIx64 " T _stext\n%016" PRIx64 " T do_something\n%016" PRIx64
		 " D data\n"
		 "%016" PRIx64 " t in_module\t[mod]\n",
		 text, text, text ? text + 0x40 : 0, text ? text + 0xc0 : 0, text ? 0xffffffffc0000000 : 0);
	write_text(name, lines);
}

/* "name+0xoffset [module]" of a kernel address */
static const char *lookup_kernel(uint64_t addr)
{
	static char text[256];
	struct symbol s;

	symbols_kernel(syms, addr, false, &s);
	if (!s.name)
		return s.module ? s.module : "-";
	snprintf(text, sizeof(text), "%s+0x%" PRIx64 " [%s]", s.name, s.offset, s.module);
	return text;
}

static void check_says(const char *says)
{
	struct err why = { 0 };

	ck_assert_int_eq(symbols_kernel_hidden(syms, &why), says != NULL);
	ck_assert_str_eq(why.msg, says ? says : "");
}

START_TEST(test_recorded_kernel)
{
	uint64_t text = recorded_kernels[_i].addr >= LINK ? recorded_kernels[_i].addr : KASLR;
	bool proper = recorded_kernels[_i].proper;

	write_kallsyms("proc/kallsyms", recorded_kernels[_i].here);
	write_text("proc/sys/kernel/kptr_restrict", "1\n");
	write_notes(recorded_kernels[_i].running);
	if (recorded_kernels[_i].id)
		ck_assert_int_eq(build_ids_add(table, BUILD_ID_KERNEL, recorded_kernels[_i].id,
					       strlen(recorded_kernels[_i].id)),
				 0);
	open_recorded();
	/* set only after the resolver was made */
	origin.reference = recorded_kernels[_i].reference;
	origin.reference_addr = recorded_kernels[_i].addr;
	origin.boot = recorded_kernels[_i].boot;
	ck_assert_str_eq(lookup_kernel(0x401000), "-");
	check_says(NULL);
	ck_assert_str_eq(lookup_kernel(text + 0x48), proper ? "do_something+0x8 [kernel]" : "kernel");
	check_says(proper ? NULL : recorded_kernels[_i].says);
	ck_assert_str_eq(lookup_kernel(0xffffffffc0000008),
			 recorded_kernels[_i].module ? "in_module+0x8 [mod]" : "kernel");
	check_says(recorded_kernels[_i].says);
}
END_TEST

/*
 * The running kernel is another one: use the names that perf has kept of the recorded kernel, whose _text was @kept (0:
 * hidden).
 */
static const struct {
	const char *id, *reference;
	uint64_t addr, kept;
	bool proper, module;
	const char *says;
} kept_kernels[] = {
	{ "abc", "_text", KASLR, KASLR, true, true, NULL },
	{ "abc", "_text", KASLR, KASLR + 0x5200000, true, false, KEPT_BOOT },
	{ "abc", "_text", LINK, LINK, true, false, KEPT_BOOT },
	{ "abc", NULL, 0, KASLR, false, false, OTHER_KERNEL },
	{ "abc", "_text", KASLR, 0, false, false, OTHER_KERNEL },
	{ "abd", "_text", KASLR, KASLR, false, false, OTHER_KERNEL },
};

START_TEST(test_kept_kernel)
{
	uint64_t text = kept_kernels[_i].addr ? kept_kernels[_i].addr : KASLR;
	char cache[4096];

	snprintf(cache, sizeof(cache), "%s/cache", dir);
	recorded_files_cfg.perf_cache = cache;
	write_kallsyms("proc/kallsyms", KASLR - 0x100000);
	write_kallsyms("cache/.build-id/61/6263/kallsyms", kept_kernels[_i].kept);
	write_notes("xyz");
	ck_assert_int_eq(build_ids_add(table, BUILD_ID_KERNEL, kept_kernels[_i].id, 3), 0);
	open_recorded();
	origin.reference = kept_kernels[_i].reference;
	origin.reference_addr = kept_kernels[_i].addr;
	ck_assert_str_eq(lookup_kernel(text + 0x48), kept_kernels[_i].proper ? "do_something+0x8 [kernel]" : "kernel");
	ck_assert_str_eq(lookup_kernel(0xffffffffc0000008), kept_kernels[_i].module ? "in_module+0x8 [mod]" : "kernel");
	check_says(kept_kernels[_i].says);
}
END_TEST

#define K2 0xffffffff9a000000ULL /* another address */

/*
 * With --kallsyms (of a kernel at K2), --vmlinux (with this build id, "" for none), or both. The other fields as above.
 * @first: the expected address of "first" in the vmlinux, which is _text + 0x100; 0: none
 */
static const struct {
	bool recorded, kallsyms;
	const char *vmlinux, *id, *running;
	uint64_t addr, here;
	uint64_t first, do_something, module;
	const char *says;
} given[] = {
	/* a live run */
	{ false, true, NULL, NULL, "abc", 0, KASLR, 0, K2 + 0x40, 0xffffffffc0000000, NULL },
	{ false, true, NULL, NULL, NULL, 0, 0, 0, K2 + 0x40, 0xffffffffc0000000, NULL },
	{ false, false, "abc", NULL, "abc", 0, KASLR, KASLR + 0x100, KASLR + 0x40, 0xffffffffc0000000, NULL },
	{ false, false, "", NULL, "abc", 0, KASLR, KASLR + 0x100, KASLR + 0x40, 0xffffffffc0000000, NULL },
	{ false, false, "abc", NULL, NULL, 0, KASLR, KASLR + 0x100, KASLR + 0x40, 0xffffffffc0000000, NULL },
	{ false, true, "abc", NULL, "abc", 0, KASLR, K2 + 0x100, K2 + 0x40, 0xffffffffc0000000, NULL },
	{ false, false, "abc", NULL, "abc", 0, 0, 0, 0, 0, HIDDEN },
	/* a recording */
	{ true, true, NULL, "xyz", "abc", KASLR, KASLR, 0, K2 + 0x40, 0xffffffffc0000000, NULL },
	{ true, false, "xyz", "xyz", "abc", K2, KASLR, K2 + 0x100, 0, 0,
	  MODULES "the recording was made on another kernel; give --kallsyms" },
	{ true, false, "", "xyz", "abc", K2, KASLR, K2 + 0x100, 0, 0,
	  MODULES "the recording was made on another kernel; give --kallsyms" },
	{ true, false, "xyz", NULL, "abc", K2, KASLR, K2 + 0x100, 0, 0,
	  MODULES "nothing tells that the recording was made on this kernel; give --kallsyms" },
	{ true, false, "abc", "abc", "abc", KASLR, KASLR, KASLR + 0x100, KASLR + 0x40, 0xffffffffc0000000, NULL },
	{ true, false, "abc", "abc", "abc", K2, KASLR, K2 + 0x100, K2 + 0x40, 0, OTHER_BOOT },
	{ true, true, "abc", "abc", "abc", 0, KASLR, K2 + 0x100, K2 + 0x40, 0xffffffffc0000000, NULL },
	/* refused: another build, or an unknown address */
	{ true, false, "abc", "xyz", "abc", K2, KASLR, 0, 0, 0,
	  "'vmlinux' is not the kernel that was recorded: the build ids differ" },
	{ true, false, "xyz", "abc", "abc", KASLR, KASLR, 0, KASLR + 0x40, 0xffffffffc0000000,
	  "'vmlinux' is not the kernel that was recorded: the build ids differ" },
	{ true, false, "xyz", "xyz", "abc", 0, KASLR, 0, 0, 0,
	  "'vmlinux' is not used: the address of its _text or _stext in memory is not known" },
	{ true, false, "xyz", NULL, NULL, 0, KASLR, 0, 0, 0,
	  "'vmlinux' is not used: the address of its _text or _stext in memory is not known" },
};

START_TEST(test_given)
{
	static const char *const names[] = { "first+0x4 [kernel]", "do_something+0x4 [kernel]", "in_module+0x4 [mod]" };
	const uint64_t found[] = { given[_i].first, given[_i].do_something, given[_i].module };
	char top[4096];
	size_t i;

	ck_assert_ptr_nonnull(getcwd(top, sizeof(top)));
	write_kallsyms("proc/kallsyms", given[_i].here);
	write_kallsyms("copy", K2);
	write_text("proc/sys/kernel/kptr_restrict", "1\n");
	write_notes(given[_i].running);
	if (given[_i].vmlinux)
		write_built("vmlinux", *given[_i].vmlinux ? given[_i].vmlinux : NULL);
	if (given[_i].id)
		ck_assert_int_eq(build_ids_add(table, BUILD_ID_KERNEL, given[_i].id, strlen(given[_i].id)), 0);
	origin.reference = "_text";
	origin.reference_addr = given[_i].addr;
	ck_assert_int_eq(chdir(dir), 0);
	ck_assert_int_eq(reopen(given[_i].kallsyms ? "copy" : NULL, given[_i].vmlinux ? "vmlinux" : NULL,
				given[_i].recorded, NULL),
			 0);
	ck_assert_int_eq(chdir(top), 0);
	for (i = 0; i < ARRAY_SIZE(found); i++)
		if (found[i])
			ck_assert_str_eq(lookup_kernel(found[i] + 4), names[i]);
	/* a name there would be chance */
	if (!given[_i].first)
		ck_assert_str_ne(lookup_kernel(TEXT_ADDR + 0x104), names[0]);
	if (!given[_i].module)
		ck_assert_str_eq(lookup_kernel(0xffffffffc0000004), "kernel");
	if (!given[_i].do_something)
		ck_assert_str_eq(lookup_kernel(given[_i].here + 0x44 - (given[_i].here ? 0 : 0x1000)), "kernel");
	check_says(given[_i].says);
}
END_TEST

/* Files that are refused at once, in the directory of the test. */
static const struct {
	const char *kallsyms, *vmlinux;
	int rc;
	const char *says;
} bad_given[] = {
	{ "none", NULL, -ENOENT, "cannot read kernel symbols from 'none': No such file or directory" },
	{ "proc", NULL, -EISDIR, "cannot read kernel symbols from 'proc': Is a directory" },
	{ "fifo", NULL, -EINVAL, "cannot read kernel symbols from 'fifo': not a regular file" },
	{ "empty", NULL, -EINVAL, "'empty' is no copy of /proc/kallsyms" },
	{ "text", NULL, -EINVAL, "'text' is no copy of /proc/kallsyms" },
	{ "vmlinux", NULL, -EINVAL, "'vmlinux' is no copy of /proc/kallsyms" },
	{ "zeros", NULL, -EINVAL,
	  "all addresses in 'zeros' are 0: the kernel hid them from the user who copied it (copy it as root)" },
	{ NULL, "none", -ENOENT, "cannot read kernel symbols from 'none': No such file or directory" },
	{ NULL, "proc", -EINVAL, "cannot read kernel symbols from 'proc': not a regular file" },
	{ NULL, "fifo", -EINVAL, "cannot read kernel symbols from 'fifo': not a regular file" },
	{ NULL, "empty", -ENOEXEC, "cannot read kernel symbols from 'empty': not an ELF file with sections" },
	{ NULL, "text", -ENOEXEC, "cannot read kernel symbols from 'text': not an ELF file with sections" },
	{ NULL, "library", -EINVAL, "'library' is no kernel, or is stripped: it has no symbol _text or _stext" },
	{ NULL, "vmlinux", -EINVAL, "'vmlinux' is not the kernel that runs: the build ids differ" },
	{ "good", "vmlinux", -EINVAL, "'vmlinux' is not the kernel that runs: the build ids differ" },
	{ "good", "none", -ENOENT, "cannot read kernel symbols from 'none': No such file or directory" },
	{ "none", "none", -ENOENT, "cannot read kernel symbols from 'none': No such file or directory" },
};

START_TEST(test_bad_given)
{
	char path[4096], top[4096];
	struct err err = { 0 };

	write_text("empty", "");
	write_text("text", "#!/bin/sh\n");
	write_text("proc/x", "");
	write_kallsyms("zeros", 0);
	write_kallsyms("good", K2);
	write_library("library");
	write_built("vmlinux", "xyz");
	write_notes("abc");
	snprintf(path, sizeof(path), "%s/fifo", dir);
	ck_assert_int_eq(mkfifo(path, 0666), 0);
	ck_assert_ptr_nonnull(getcwd(top, sizeof(top)));
	ck_assert_int_eq(chdir(dir), 0);
	ck_assert_int_eq(reopen(bad_given[_i].kallsyms, bad_given[_i].vmlinux, false, &err), bad_given[_i].rc);
	ck_assert_int_eq(chdir(top), 0);
	ck_assert_ptr_null(syms);
	ck_assert_int_eq(err.code, bad_given[_i].rc);
	ck_assert_str_eq(err.msg, bad_given[_i].says);
}
END_TEST

/* Our vDSO in a recording: identified by the kernel's build id, unless its own is known. */
static const struct {
	const char *kernel, *running, *vdso;
	enum recorded_boot boot;
	bool named;
} vdsos[] = {
	{ "abc", "abc", NULL, BOOT_UNKNOWN, true }, { "abc", "abc", NULL, BOOT_OTHER, true },
	{ NULL, "abc", NULL, BOOT_SAME, true },     { "abc", "xyz", NULL, BOOT_SAME, false },
	{ "abc", NULL, NULL, BOOT_UNKNOWN, false }, { NULL, "abc", NULL, BOOT_UNKNOWN, false },
	{ NULL, NULL, NULL, BOOT_OTHER, false },    { "abc", "abc", "not ours", BOOT_SAME, false },
};

START_TEST(test_recorded_vdso)
{
	bool have = getauxval(AT_SYSINFO_EHDR) != 0;
	struct mapping m = { .start = BASE, .end = BASE + 0x2000 };

	proc_maps(&host_here, getpid(), own_vdso, &m);
	write_notes(vdsos[_i].running);
	if (vdsos[_i].kernel)
		ck_assert_int_eq(build_ids_add(table, BUILD_ID_KERNEL, vdsos[_i].kernel, strlen(vdsos[_i].kernel)), 0);
	if (vdsos[_i].vdso)
		ck_assert_int_eq(build_ids_add(table, "[vdso]", vdsos[_i].vdso, strlen(vdsos[_i].vdso)), 0);
	origin.boot = vdsos[_i].boot;
	open_recorded();
	map_at(PID, BASE, m.end - m.start, 0, "[vdso]", 0);
	ck_assert_int_eq(has_clock(BASE, m.end - m.start), have && vdsos[_i].named);
}
END_TEST

/* The vDSO of another kernel in perf's cache is used if it has the build id @has. */
static const struct {
	const char *has, *name;
} kept_vdsos[] = { { "abc", "first+0x8 [[vdso]]" }, { "abd", "- [[vdso]]" } };

START_TEST(test_kept_vdso)
{
	char cache[4096], path[8192];
	const uint64_t start = 0x700000000000;
	const off_t size = TEXT_OFFSET + TEXT_SIZE;

	snprintf(cache, sizeof(cache), "%s/cache", dir);
	snprintf(path, sizeof(path), "%s/.build-id/61/6263/vdso", cache);
	recorded_files_cfg.perf_cache = cache;
	write_built("cache/.build-id/61/6263/vdso", kept_vdsos[_i].has);
	ck_assert_int_eq(truncate(path, size), 0);
	ck_assert_int_eq(build_ids_add(table, "[vdso]", "abc", 3), 0);
	open_recorded();
	map_at(PID, start, (uint64_t)size, 0, "[vdso]", 0);
	ck_assert_str_eq(lookup(PID, start + TEXT_OFFSET + 0x108, false), kept_vdsos[_i].name);
}
END_TEST

/* ---- debug files */

#define BUILD_ID   "\x0f\xab\1\2\3\4\5\6"
#define DEBUG_FILE "debug/.build-id/0f/ab010203040506.debug"

/* Map a program with "last" at 0x200, whose debug file has "first" at 0x100, under two names. */
static void map_partial(char *debug_dir, size_t cap)
{
	static const struct image_symbol last = { "last", 0x200, 0x40, STT_FUNC, STB_GLOBAL, SEC_TEXT };
	unsigned char bytes[64];
	struct image_notes notes = { bytes, 0, true, true, 4 };
	char path[2][4096];
	struct image im;

	notes.len = image_note(bytes, ELFDATA2LSB, 4, NT_GNU_BUILD_ID, "GNU", 4, BUILD_ID, 8);
	image_build_with(&im, ELFCLASS64, ELFDATA2LSB, &last, 1, NULL, 0, &notes);
	unit_write(dir, "proc/4242/root/bin/partial", im.bytes, im.len);
	image_release(&im);
	snprintf(path[0], sizeof(path[0]), "%s/proc/4242/root/bin/partial", dir);
	snprintf(path[1], sizeof(path[1]), "%s/proc/4242/root/bin/twin", dir);
	ck_assert_int_eq(link(path[0], path[1]), 0);
	write_built(DEBUG_FILE, BUILD_ID);
	snprintf(debug_dir, cap, "%s/debug", dir);
	files_cfg.debug_dir = debug_dir;
	map(PID, "/bin/partial", 0);
	map_at(PID, TEXT + TEXT_SIZE, TEXT_SIZE, TEXT_OFFSET, "/bin/twin", 0);
}

/* The debug file is read only for the first address without a name. */
START_TEST(test_partial)
{
	char debug_dir[4096], path[4096];
	unsigned int fds;

	map_partial(debug_dir, sizeof(debug_dir));
	snprintf(path, sizeof(path), "%s/" DEBUG_FILE, dir);
	ck_assert_str_eq(lookup(PID, TEXT + 0x204, false), "last+0x4 [partial]");
	fds = unit_open_fds();
	ck_assert_str_eq(lookup(PID, TEXT + 0x208, false), "last+0x8 [partial]");
	ck_assert_uint_eq(unit_open_fds(), fds);
	ck_assert_str_eq(lookup(PID, TEXT + 0x104, false), "first+0x4 [partial]");
	ck_assert_str_eq(lookup(PID, TEXT + TEXT_SIZE + 0x104, true), "first+0x4 [twin]");
	ck_assert_str_eq(lookup(PID, TEXT + 0x204, false), "last+0x4 [partial]");
	ck_assert_str_eq(lookup(PID, TEXT + 0x300, false), "- [partial]");
	symbols_renew(syms);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_str_eq(lookup(PID, TEXT + 0x104, false), "first+0x4 [partial]"); /* the debug file is still open */
}
END_TEST

/* With too few descriptors, the next report tries again. */
START_TEST(test_partial_later)
{
	char debug_dir[4096];
	rlim_t all;
	struct err why;

	map_partial(debug_dir, sizeof(debug_dir));
	ck_assert_str_eq(lookup(PID, TEXT + 0x204, false), "last+0x4 [partial]");
	all = unit_leave_files(0);
	ck_assert_str_eq(lookup(PID, TEXT + 0x104, false), "- [partial]");
	ck_assert(symbols_skipped(syms, &why));
	unit_limit_files(all);
	ck_assert_str_eq(lookup(PID, TEXT + 0x104, false), "- [partial]");
	symbols_renew(syms);
	ck_assert_str_eq(lookup(PID, TEXT + 0x104, false), "first+0x4 [partial]");
}
END_TEST

/* ---- limits */

/* Map a program without symbols, whose debug file has "first". */
static void map_stripped(char *debug_dir, size_t cap)
{
	unsigned char note[64];
	struct section v = { ".note", { .sh_type = SHT_NOTE, .sh_addralign = 4 }, note };
	struct image im;

	v.sh.sh_size = image_note(note, ELFDATA2LSB, 4, NT_GNU_BUILD_ID, "GNU", 4, BUILD_ID, 8);
	sections_build(&im, &v, 1);
	unit_write(dir, "proc/4242/root/bin/stripped", im.bytes, im.len);
	image_release(&im);
	write_built(DEBUG_FILE, BUILD_ID);
	snprintf(debug_dir, cap, "%s/debug", dir);
	files_cfg.debug_dir = debug_dir;
	map(PID, "/bin/stripped", 0);
}

/* Return: a warning says that files were skipped. It has to name one file, and the limit on descriptors. */
static bool one_skipped(void)
{
	struct err why;
	bool skipped = symbols_skipped(syms, &why);

	if (skipped)
		ck_assert_ptr_nonnull(strstr(why.msg, " rules of 1 files were not read: Too many open files (RLIMIT_NOFILE is "));
	return skipped;
}

/* With @_i descriptors: a file counts once in a report, also if several parts of it are skipped; the next one starts
 * anew. */
START_TEST(test_skipped_once)
{
	char debug_dir[4096], name[256];
	rlim_t all;
	int report;

	map_stripped(debug_dir, sizeof(debug_dir));
	all = unit_leave_files((unsigned int)_i);
	for (report = 0; report < 3; report++) {
		symbols_renew(syms);
		symbols_user_called(syms, PID, "test", 0, TEXT, false);
		snprintf(name, sizeof(name), "%s", lookup(PID, TEXT + 0x100, false));
		ck_assert_str_eq(lookup(PID, TEXT + 0x800, false), "- [stripped]");
		ck_assert(one_skipped() || !strcmp(name, "first+0x0 [stripped]"));
	}
	unit_limit_files(all);
	ck_assert_str_eq(lookup(PID, TEXT + 0x100, false), name);
	symbols_renew(syms);
	ck_assert_str_eq(lookup(PID, TEXT + 0x100, false), "first+0x0 [stripped]");
}
END_TEST

/* The warning is for the whole run: a complete report does not withdraw it. */
START_TEST(test_skipped_earlier)
{
	rlim_t all;

	map_functions("/bin/gzip");
	all = unit_leave_files(0);
	symbols_renew(syms);
	ck_assert_str_eq(lookup(PID, CODE + 0x100, false), "- [gzip]");
	unit_limit_files(all);
	symbols_renew(syms);
	ck_assert_str_eq(lookup(PID, CODE + 0x100, false), "0x421100+0x0 [gzip]");
	ck_assert(one_skipped());
}
END_TEST

/* Unwind rules take the descriptors of symbols that only an earlier report needed. */
START_TEST(test_room_for_rules)
{
	char name[64];
	int i;

	map_functions("/bin/gzip");
	for (i = 0; i < 12; i++) {
		snprintf(name, sizeof(name), "proc/4242/root/lib%d.so", i);
		write_library(name);
		map_at(PID, 2 * BASE + (uint64_t)i * TEXT_SIZE, TEXT_SIZE, TEXT_OFFSET, strrchr(name, '/'), 0);
		ck_assert_int_eq(lookup(PID, 2 * BASE + (uint64_t)i * TEXT_SIZE + 0x142, false)[0], 's');
	}
	unit_leave_files(0);
	symbols_renew(syms);
	ck_assert(symbols_user_called(syms, PID, "test", 0, CODE + 0x100, false));
	ck_assert(!symbols_skipped(syms, NULL));
}
END_TEST

#define LARGE_FILES 5       /* four of them have room */
#define LARGE_CODE  0x1000u /* place of a function, in the file and from 0x400000 on */

/* A program with one function, which has a caller. */
static void write_large(const char *name)
{
	static const uint32_t rules[] = { 16,         UINT32_MAX, 0x78010003,
					  0x08070c10, 0x190, /* CIE */
					  24,         0,          0x400000 + LARGE_CODE,
					  0,          64,         0,
					  0x100e };

	write_large_rules(dir, name, rules, ARRAY_SIZE(rules));
}

/* If there is no room for the rules of a file, no address of it has a name from them: one name for a function. */
START_TEST(test_rules_refused)
{
	char name[64];
	struct err why;
	int i, report;

	for (i = 0; i < LARGE_FILES; i++) {
		snprintf(name, sizeof(name), "proc/4242/root/large%d", i);
		write_large(name);
		map_at(PID, BASE + (uint64_t)i * TEXT_SIZE, TEXT_SIZE, LARGE_CODE, strrchr(name, '/'), 0);
	}
	for (report = 0; report < 2; report++) {
		symbols_renew(syms);
		for (i = 0; i < 2 * LARGE_FILES; i++) {
			bool room = i % LARGE_FILES < LARGE_FILES - 1;
			uint64_t addr = BASE + (uint64_t)(i % LARGE_FILES) * TEXT_SIZE + 4;

			ck_assert_int_eq(!strncmp(lookup(PID, addr, false), "0x401000+0x4 ", 13), room);
			ck_assert_int_eq(symbols_user_called(syms, PID, "test", 0, addr, false), room);
		}
		ck_assert(symbols_skipped(syms, &why));
		ck_assert_str_eq(why.msg, "the symbols or unwind rules of 1 files were not read: there are too many");
	}
}
END_TEST

/* If another file replaces one that was forgotten, its own rules give the names. */
START_TEST(test_rules_forgotten)
{
	static const struct cfi_function other = { 0xf0, 0x40, false, CFI_PROGRAM("") };
	struct cfi_image image;
	char path[4096];

	map_functions("/bin/gzip");
	ck_assert_str_eq(lookup(PID, CODE + 0x100, false), "0x421100+0x0 [gzip]");
	ck_assert_int_eq(tasks_exit(tasks, PID, PID), 0);
	tasks_forget(tasks, keep_none, NULL);
	cfi_image_build(&image, &other, 1);
	snprintf(path, sizeof(path), "%s/proc/4242/root/bin/gzip", dir);
	ck_assert_int_eq(unlink(path), 0);
	unit_write(dir, "proc/4242/root/bin/gzip", image.bytes, sizeof(image.bytes));
	map_at(PID, CODE, CFI_CODE_SIZE, CFI_CODE_OFFSET, "/bin/gzip", 0);
	ck_assert_str_eq(lookup(PID, CODE + 0x100, false), "0x4210f0+0x10 [gzip]");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("symbols");
	TCase *tc = tcase_create("symbols");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, test_by_rules, 0, ARRAY_SIZE(by_rules));
	tcase_add_loop_test(tc, test_address, 0, ARRAY_SIZE(addresses));
	tcase_add_test(tc, test_forgotten);
	tcase_add_loop_test(tc, test_no_file, 0, ARRAY_SIZE(no_files));
	tcase_add_loop_test(tc, test_made, 0, ARRAY_SIZE(made));
	tcase_add_test(tc, test_made_later);
	tcase_add_test(tc, test_which_file);
	tcase_add_test(tc, test_failure_is_kept);
	tcase_add_test(tc, test_many_files);
	tcase_add_test(tc, test_room);
	tcase_add_test(tc, test_signal);
	tcase_add_loop_test(tc, test_no_rules, 0, 10);
	tcase_add_test(tc, test_empty_symbols);
	tcase_add_test(tc, test_partial);
	tcase_add_test(tc, test_partial_later);
	tcase_add_test(tc, test_strangers);
	tcase_add_test(tc, test_links);
	tcase_add_test(tc, test_vdso);
	tcase_add_test(tc, test_vdso32);
	tcase_add_loop_test(tc, test_kernel, 0, ARRAY_SIZE(kernel_addresses));
	tcase_add_loop_test(tc, test_hidden, 0, ARRAY_SIZE(hidden));
	tcase_add_loop_test(tc, test_recorded_file, 0, ARRAY_SIZE(recorded_files));
	tcase_add_test(tc, test_recorded_root);
	tcase_add_loop_test(tc, test_recorded_other, 0, ARRAY_SIZE(recorded_others));
	tcase_add_loop_test(tc, test_kept_kernel, 0, ARRAY_SIZE(kept_kernels));
	tcase_add_loop_test(tc, test_recorded_kernel, 0, ARRAY_SIZE(recorded_kernels));
	tcase_add_loop_test(tc, test_given, 0, ARRAY_SIZE(given));
	tcase_add_loop_test(tc, test_bad_given, 0, ARRAY_SIZE(bad_given));
	tcase_add_loop_test(tc, test_kept_vdso, 0, ARRAY_SIZE(kept_vdsos));
	tcase_add_loop_test(tc, test_recorded_vdso, 0, ARRAY_SIZE(vdsos));
	tcase_add_loop_test(tc, test_skipped_once, 0, 12);
	tcase_add_test(tc, test_skipped_earlier);
	tcase_add_test(tc, test_room_for_rules);
	tcase_add_test(tc, test_rules_refused);
	tcase_add_test(tc, test_rules_forgotten);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
