// SPDX-License-Identifier: Apache-2.0
#include "core/cli/advice.h"
#include "core/cli/backends.h"
#include "core/files/recorded.h"
#include "core/symbols/perf_maps.h"
#include "core/tasks/tasks.h"
#include "tests/row_key.h"
#include "tests/unit/elf_image.h"

#include <fcntl.h>
#include <sys/stat.h>

#define ID    "\x0f\xab\x01\x02\x03\x04\x05\x06"
#define BUILD ".build-id/0f/ab010203040506.debug"
#define DEBUG "host/usr/lib/debug/" BUILD
#define PROG  "/usr/bin/prog"
#define PID   4242

/* Where each process has its mappings. */
#define BASE  0x400000ULL /* the program */
#define TEXT  (BASE + TEXT_OFFSET)
#define OTHER 0x7f0000000000ULL /* the library */
#define LIB_B 0x7f1000000000ULL
#define ANON  0x7e0000000000ULL
#define GONE  0x1234ULL /* no mapping */
#define NAMED (TEXT + 0x100)
#define BARE  (TEXT + 0x800)

static char *dir, proc[4096], root[4096], user[4096];
static struct host host;
static struct session session;
static struct recorded recorded;
static struct perf_maps *maps;
static struct symbols *syms;
static struct rows *rows;
static struct report_names names;
static bool called; /* every outermost frame has a caller */

static void name_kernel(void *ctx, uint64_t addr, bool is_return, struct symbol *out)
{
	(void)ctx;
	(void)addr;
	(void)is_return;
	*out = (struct symbol){ 0 };
}

static void name_user(void *ctx, pid_t pid, const char *comm, uint32_t image, uint64_t addr, bool is_return,
		      struct symbol *out)
{
	symbols_user(ctx, pid, comm, image, addr, is_return, out);
}

static bool is_called(void *ctx, pid_t pid, const char *comm, uint32_t image, uint64_t addr, bool is_return)
{
	(void)ctx;
	(void)pid;
	(void)comm;
	(void)image;
	(void)addr;
	(void)is_return;
	return called;
}

static void setup(void)
{
	dir = unit_tmpdir();
	snprintf(proc, sizeof(proc), "%s/proc", dir);
	snprintf(root, sizeof(root), "%s/host", dir);
	snprintf(user, sizeof(user), "%s/user", dir);
	unit_write(dir, "host/any", "", 0);
	unit_write(dir, "proc/any", "", 0);
	host = (struct host){ .proc = proc, .sys = proc };
	recorded = (struct recorded){ .boot = BOOT_OTHER };
	session = (struct session){ .ways = ways_here, .files = { .host = &host, .root = root } };
	session.sink.tasks = tasks_new(&host);
	rows = rows_new();
	maps = perf_maps_new(&session.files);
	ck_assert(session.sink.tasks && rows && maps);
	ck_assert_int_eq(symbols_open(session.sink.tasks,
				      &(struct symbols_cfg){ .files = &session.files, .perf_maps = maps }, &syms, NULL),
			 0);
	names = (struct report_names){ .ctx = syms, .kernel = name_kernel, .user = name_user, .called = is_called };
	called = false;
}

static void teardown(void)
{
	symbols_free(syms);
	perf_maps_free(maps);
	rows_free(rows);
	tasks_free(session.sink.tasks);
	unit_rmdir(dir);
}

/* ---- files and processes */

/*
 * Write a program with the function "known" at NAMED, and no other symbol except in .dynsym. Return: its inode number.
 */
static uint64_t write_program(const char *name, bool stripped, bool has_id)
{
	static const struct image_symbol known = { "known", 0x100, 0x40, STT_FUNC, STB_GLOBAL, SEC_TEXT };
	unsigned char note[64];
	struct image_notes notes = { .bytes = note, .segment = true, .section = true, .align = 4 };
	const uint32_t none = SHT_NULL;
	struct image im;

	notes.len = image_note(note, ELFDATA2LSB, 4, NT_GNU_BUILD_ID, "GNU", 4, ID, 8);
	image_build_with(&im, ELFCLASS64, ELFDATA2LSB, &known, 1, &known, 1, has_id ? &notes : NULL);
	if (stripped)
		memcpy(im.bytes + im.shdr + SEC_SYMTAB * sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_type), &none, 4);
	unit_write(dir, name, im.bytes, im.len);
	image_release(&im);
	return unit_inode(dir, name);
}

static void write_release(const char *below, const char *text)
{
	char name[4096];

	snprintf(name, sizeof(name), "%s/usr/lib/os-release", below);
	unit_write(dir, name, text, strlen(text));
}

static void map_at(pid_t pid, uint64_t start, uint64_t pgoff, const char *path, uint64_t ino)
{
	const struct mapped_file file = { .path = path, .ino = ino };
	const struct mapping m = { start, start + TEXT_SIZE, pgoff, &file };

	ck_assert_int_eq(tasks_mmap(session.sink.tasks, pid, &m), 0);
}

/* The same for the program, with a build id. */
static void map_built(pid_t pid, const char *path, const char *id)
{
	struct mapped_file file = { .path = path, .build_id_size = (uint8_t)strlen(id) };
	const struct mapping m = { TEXT, TEXT + TEXT_SIZE, TEXT_OFFSET, &file };

	memcpy(file.build_id, id, strlen(id));
	ck_assert_int_eq(tasks_mmap(session.sink.tasks, pid, &m), 0);
}

/* Process @pid runs @path, and makes code at run time. */
static void run(pid_t pid, const char *path, uint64_t ino)
{
	map_at(pid, TEXT, TEXT_OFFSET, path, ino);
	map_at(pid, ANON, 0, "//anon", 0);
}

static void add_stack(const char *comm, pid_t pid, const struct stack *stack, uint64_t samples)
{
	const struct stack none = { .state = STACK_NONE };

	ck_assert_int_eq(row_add(rows, comm, pid, &none, stack, samples, samples), 0);
}

static void add(const char *comm, pid_t pid, uint64_t leaf, uint64_t caller, uint64_t samples)
{
	const uint64_t frames[] = { leaf, caller };
	const struct stack stack = { frames, caller ? 2 : 1, STACK_TAKEN, false };

	add_stack(comm, pid, &stack, samples);
}

/* ---- the printed line */

static void report(const struct report_part *part)
{
	const struct report_cfg cfg = { .form = &report_folded };
	FILE *out = fopen("/dev/null", "we");
	struct report_output o;

	ck_assert_ptr_nonnull(out);
	symbols_renew(syms);
	ck_assert_int_eq(report_begin(&o, out, cfg.form, NULL, NULL), 0);
	ck_assert_int_eq(report_rows(&o, part, 1, &cfg, NULL), 0);
	ck_assert_int_eq(report_end(&o, true, NULL), 0);
	fclose(out);
}

/* The line for a report of all rows, "" if there is none. The caller frees it. */
static char *advise(void)
{
	struct report_quality q = { .by_fp = true };
	const struct report_part part = { .rows = rows, .names = &names, .quality = &q, .weight = 1 };
	const struct advised a = { &session, syms, &names, &part, 1, &q };
	char *line = NULL;
	size_t len;
	bool printed;
	FILE *f;

	report(&part);
	f = open_memstream(&line, &len);
	ck_assert_ptr_nonnull(f);
	printed = advice_print(f, &a);
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_int_eq(printed, len > 0);
	report_quality_release(&q);
	return line;
}

/* @expected: without the beginning that all lines share, and without the newline; "": no line. */
static void check_line(const char *expected)
{
	char *line = advise(), text[4096];

	snprintf(text, sizeof(text), *expected ? "WARNING: %s\n" : "%s", expected);
	ck_assert_str_eq(line, text);
	free(line);
}

/* ---- a stripped program */

#define LACKS     "100 % of the user stacks of '" PROG "' lack names: '" PROG "' has no symbols, and "
#define NOT_THERE "its debug file '" BUILD "' is not in '/usr/lib/debug' ("
#define GENERIC   "use --debug-dir with a directory that has it, or keep the symbols: strip --strip-debug)"
#define RECORDED                                                                                                       \
	"100 % of the user stacks of '" PROG "' lack names: the recorded build of '" PROG "' is not on this host, "
#define RECORDED_FILE "and '.build-id/ab/c001' is "
#define NO_READ       "or you may not read it, "
#define KEPT          " (use --debug-dir with a copy of ~/.debug of the recorded host: perf record keeps its files there)"
#define MAYBE_OTHER                                                                                                    \
	"100 % of the user stacks of '" PROG "' lack names: '" PROG                                                    \
	"' of this host may be another file than the recorded one, "
#define NOT_ON_HOST "100 % of the user stacks of '" PROG "' lack names: '" PROG "' is not on this host, " NO_READ
#define NO_ID       "and the recording does not have its build id (use perf record --buildid-mmap)"
#define INSTALL                                                                                                        \
	"find-dbgsym-packages --install " PROG                                                                         \
	", which is in debian-goodies and needs the debug archive in apt's sources"

static const struct {
	const char *what, *program, *below, *os, *debug_dir, *line, *symfs, *perf_cache;
	bool has_symbols, no_id, replaced, no_inode, of_recording;
	const char *recorded_id; /* in the mapping */
} stripped[] = {
	{ "of a package", PROG, "host", "ID=debian\n", NULL, LACKS NOT_THERE "install it: " INSTALL ")" },
	{ "with --debug-dir", PROG, "host", "ID=debian\n", "/d\033",
	  LACKS "its debug file '" BUILD
		"' is neither in --debug-dir '/d?' nor in '/usr/lib/debug' (install it: " INSTALL ")" },
	{ "of another distribution", PROG, "host", "ID=fedora\n", NULL,
	  LACKS NOT_THERE "install it: dnf debuginfo-install \"$(rpm -qf " PROG ")\")" },
	{ "of an unknown one", PROG, "host", "ID=own\n", NULL, LACKS NOT_THERE GENERIC },
	{ "without os-release", PROG, "host", NULL, NULL, LACKS NOT_THERE GENERIC },
	{ "in a container", PROG, "proc/4242/root", "ID=debian\n", NULL,
	  LACKS NOT_THERE "install it in its container: " INSTALL
			  "; then use --debug-dir=/proc/4242/root/usr/lib/debug)" },
	{ "in one without os-release", PROG, "proc/4242/root", NULL, NULL, LACKS NOT_THERE GENERIC },
	{ "of somebody", "/opt/\n$(x)", "host", "ID=debian\n", NULL,
	  "100 % of the user stacks of '/opt/?$(x)' lack names: '/opt/?$(x)' has no symbols, and " NOT_THERE GENERIC },
	{ "hostile, at the place of a package", "/usr/bin/$(x)", "host", "ID=debian\n", NULL,
	  "100 % of the user stacks of '/usr/bin/$(x)' lack names: '/usr/bin/$(x)' has no symbols, and " NOT_THERE
		  GENERIC },
	{ "no build id", PROG, "host", "ID=debian\n", NULL,
	  LACKS "no build id to find a debug file by (build it with symbols)", .no_id = true },
	{ "replaced", PROG, "host", "ID=debian\n", NULL,
	  "100 % of the user stacks of '" PROG "' lack names: '" PROG
	  "' has been replaced since it was mapped (restart the program)",
	  .replaced = true },
	{ "of a recording", PROG, "host", "ID=debian\n", NULL, LACKS NOT_THERE GENERIC, .of_recording = true },
	{ "of a recording, another build", PROG, "host", "ID=debian\n", NULL,
	  RECORDED RECORDED_FILE "not in '/usr/lib/debug'" KEPT, .of_recording = true, .recorded_id = "\xab\xc0\x01" },
	{ "of a recording, another build, with --debug-dir", PROG, "host", "ID=debian\n", "/d\033",
	  RECORDED RECORDED_FILE "neither in --debug-dir '/d?' nor in '/usr/lib/debug'", .of_recording = true,
	  .recorded_id = "\xab\xc0\x01" },
	{ "of a recording, another build, with ~/.debug", PROG, "host", "ID=debian\n", NULL,
	  RECORDED RECORDED_FILE "neither in '/h/.debug' nor in '/usr/lib/debug'" KEPT, .perf_cache = "/h/.debug",
	  .of_recording = true, .recorded_id = "\xab\xc0\x01" },
	{ "of a recording, another build, with all directories", PROG, "host", "ID=debian\n", "/d",
	  "100 % of the user stacks of '" PROG "' lack names: the recorded build of '" PROG
	  "' is not at its path below --symfs or on this host, " RECORDED_FILE
	  "in none of --debug-dir '/d', --symfs '/s', '/h/.debug' and '/usr/lib/debug'",
	  .symfs = "/s", .perf_cache = "/h/.debug", .of_recording = true, .recorded_id = "\xab\xc0\x01" },
	{ "of a recording, not there", PROG, NULL, "ID=debian\n", NULL,
	  RECORDED NO_READ RECORDED_FILE "not in '/usr/lib/debug'" KEPT, .of_recording = true,
	  .recorded_id = "\xab\xc0\x01" },
	{ "of a recording, another inode and no build id", PROG, "host", "ID=debian\n", NULL, MAYBE_OTHER NO_ID,
	  .replaced = true, .of_recording = true },
	{ "of a recording, neither inode nor build id", PROG, "host", "ID=debian\n", NULL, MAYBE_OTHER NO_ID,
	  .no_inode = true, .of_recording = true },
	{ "of a recording, not there, no build id", PROG, NULL, "ID=debian\n", NULL, NOT_ON_HOST NO_ID,
	  .of_recording = true },
	{ "of a recording, not there, neither inode nor build id", PROG, NULL, "ID=debian\n", NULL, NOT_ON_HOST NO_ID,
	  .no_inode = true, .of_recording = true },
	{ "has symbols, none there", PROG, "host", "ID=debian\n", NULL, "", .has_symbols = true },
	{ "is not there", PROG, NULL, "ID=debian\n", NULL, "" },
};

START_TEST(test_stripped)
{
	const char *below = stripped[_i].below ? stripped[_i].below : "host/elsewhere";
	char name[4096];
	uint64_t ino;

	snprintf(name, sizeof(name), "%s%s", below, stripped[_i].program);
	ino = write_program(name, !stripped[_i].has_symbols, !stripped[_i].no_id);
	/* The host has another distribution than the container. */
	write_release("host", "ID=arch\n");
	if (stripped[_i].os)
		write_release(below, stripped[_i].os);
	else if (!strcmp(below, "host"))
		write_release(below, "");
	session.files.debug_dir = stripped[_i].debug_dir;
	session.files.symfs = stripped[_i].symfs;
	session.files.perf_cache = stripped[_i].perf_cache;
	session.files.recorded = stripped[_i].of_recording ? &recorded : NULL;
	if (stripped[_i].recorded_id)
		map_built(PID, stripped[_i].program, stripped[_i].recorded_id);
	else
		run(PID, stripped[_i].program, stripped[_i].no_inode ? 0 : ino + stripped[_i].replaced);
	add("prog", PID, BARE, 0, 20);
	check_line(stripped[_i].line);
}
END_TEST

/* A debug file that has no symbols either does not stop the advice. */
START_TEST(test_debug_file)
{
	write_release("host", "ID=debian\n");
	write_program(DEBUG, true, true);
	run(PID, PROG, write_program("host" PROG, true, true));
	add("prog", PID, BARE, 0, 20);
	check_line("");
}
END_TEST

/* The file with most of the program's values, in any order of rows; only files of the program count. */
START_TEST(test_which_file)
{
	uint64_t lib = write_program("host/usr/lib/liba.so", true, true);

	write_release("host", "ID=own\n");
	run(PID, PROG, write_program("host" PROG, true, true));
	map_at(PID, OTHER, TEXT_OFFSET, "/usr/lib/liba.so", lib);
	run(PID + 1, "/usr/bin/small", write_program("host/usr/bin/small", true, true));
	add("prog", PID, BARE, BARE, 10);
	add("prog", PID, OTHER + 0x800, BARE, 11);
	add("small", PID + 1, BARE, BARE, 12);
	check_line("100 % of the user stacks of '" PROG
		   "' lack names: '/usr/lib/liba.so' has no symbols, and " NOT_THERE GENERIC);
}
END_TEST

/* A file is not blamed for stacks that have names, or that lack the names of code made at run time. */
START_TEST(test_blame)
{
	static const uint64_t frames[] = { NAMED, NAMED + 1, NAMED + 2, OTHER + 0x800 };
	const struct stack named = { frames, 4, STACK_TAKEN, false };

	write_release("host", "ID=own\n");
	run(PID, PROG, write_program("host" PROG, false, true));
	map_at(PID, OTHER, TEXT_OFFSET, "/usr/lib/liba.so", write_program("host/usr/lib/liba.so", true, true));
	map_at(PID, LIB_B, TEXT_OFFSET, "/usr/lib/libb.so", write_program("host/usr/lib/libb.so", true, true));
	add("prog", PID, OTHER + 0x800, 0, 10);
	add("prog", PID, LIB_B + 0x800, 0, 25);
	if (_i)
		add("prog", PID, ANON, OTHER + 0x800, 19);
	else
		add_stack("prog", PID, &named, 19);
	check_line("64 % of the user stacks of '" PROG
		   "' lack names: '/usr/lib/libb.so' has no symbols, and " NOT_THERE GENERIC);
}
END_TEST

/* ---- code made at run time */

#define MADE "lack names: their code was made at run time, and "
#define MAP  "there is no perf map (/tmp/perf-PID.map) for it ("

static const struct {
	const char *what, *program, *library, *line;
	uint64_t leaf;
	bool map, of_recording;
} made[] = {
	{ "node", "/usr/bin/node", NULL,
	  "100 % of the user stacks of '/usr/bin/node' " MADE MAP "run node --perf-basic-prof)", ANON },
	{ "python", "/usr/bin/python3.12", NULL,
	  "100 % of the user stacks of '/usr/bin/python3.12' " MADE MAP "run python3 -X perf)", ANON },
	{ "an old python", "/usr/bin/python3.11", NULL,
	  "100 % of the user stacks of '/usr/bin/python3.11' " MADE MAP "have its compiler write one, if it can)",
	  ANON },
	{ "java", "/usr/bin/java", "/usr/lib/jvm/libjvm.so",
	  "100 % of the user stacks of '/usr/bin/java' " MADE MAP
	  "run java -XX:+PreserveFramePointer, and before the report jcmd 4242 Compiler.perfmap)",
	  ANON },
	{ "a program of that name is mapped, and does not run", "/usr/bin/x", "/usr/bin/node",
	  "100 % of the user stacks of '/usr/bin/x' " MADE MAP "have its compiler write one, if it can)", ANON },
	{ "not known by its name", "/opt/\033[2J", NULL,
	  "100 % of the user stacks of '/opt/?[2J' " MADE MAP "have its compiler write one, if it can)", ANON },
	{ "in memory that was not told of", "/usr/bin/node", NULL,
	  "100 % of the user stacks of '/usr/bin/node' " MADE MAP "run node --perf-basic-prof)", GONE },
	{ "a map without the name", "/usr/bin/node", NULL, "", ANON, .map = true },
	{ "of a process of which nothing is known", NULL, NULL, "", GONE },
	{ "of a recording", "/usr/bin/node", NULL,
	  "100 % of the user stacks of '/usr/bin/node' " MADE
	  "a recording has no names for it (record node --perf-prof by perf record -k 1, then use perf inject --jit)",
	  ANON, .of_recording = true },
	{ "of one, nothing to be done", "/usr/bin/java", "/usr/lib/jvm/libjvm.so", "", ANON, .of_recording = true },
	{ "of one, not known by its name", "/usr/bin/x", NULL, "", ANON, .of_recording = true },
};

START_TEST(test_made)
{
	if (made[_i].program)
		run(PID, made[_i].program, 0);
	if (made[_i].library)
		map_at(PID, OTHER, 0, made[_i].library, 0);
	if (made[_i].map)
		unit_write(dir, "host/tmp/perf-4242.map", "100 10 other\n", 13);
	if (made[_i].of_recording)
		session.ways = ways_recorded;
	add("comm", PID, made[_i].leaf, 0, 20);
	check_line(made[_i].line);
}
END_TEST

/* ---- frame pointers */

#define INCOMPLETE "are incomplete: the kernel follows frame pointers, and its code keeps none "

START_TEST(test_incomplete)
{
	called = true;
	run(PID, PROG, write_program("host" PROG, false, true));
	add("prog", PID, NAMED, 0, 20);
	check_line("100 % of the user stacks of '" PROG "' " INCOMPLETE "(use --unwind=dwarf)");
	session.ways = ways_recorded;
	check_line("100 % of the user stacks of '" PROG "' " INCOMPLETE "(use perf record --call-graph dwarf)");
	called = false;
	check_line("");
}
END_TEST

/* Of two reasons the larger one; if nothing can be done about it, the other one. */
START_TEST(test_next_reason)
{
	called = true;
	run(PID, "/usr/bin/node", 0);
	unit_write(dir, "host/tmp/perf-4242.map", "100 10 other\n", 13);
	add("node", PID, ANON, ANON, 30);
	check_line("100 % of the user stacks of '/usr/bin/node' " INCOMPLETE "(use --unwind=dwarf)");
}
END_TEST

/*
 * If nothing can be done about most of the worst program, the next program is more important than a small flaw of the
 * worst.
 */
START_TEST(test_small_reason)
{
	static const struct {
		uint64_t nameless;
		const char *line;
	} small[] = {
		{ 8, "100 % of the user stacks of '" PROG "' lack names: '" PROG "' has no symbols, and " },
		{ 10, "10 % of the user stacks of '/usr/bin/node' lack names: '/usr/bin/node' has no symbols, and " },
	};
	char line[4096];

	write_release("host", "ID=own\n");
	run(PID, "/usr/bin/node", write_program("host/usr/bin/node", true, true));
	run(PID + 1, PROG, write_program("host" PROG, true, true));
	unit_write(dir, "host/tmp/perf-4242.map", "100 10 other\n", 13);
	add("node", PID, ANON, 0, 90);
	add("node", PID, BARE, 0, small[_i].nameless);
	add("prog", PID + 1, BARE, 0, 20);
	snprintf(line, sizeof(line), "%s" NOT_THERE GENERIC, small[_i].line);
	check_line(line);
}
END_TEST

/* ---- how many, and of which program */

static const struct {
	uint64_t named, nameless;
	const char *percent; /* NULL: no advice */
} thresholds[] = {
	{ 0, 20, "100" },    { 9, 11, "55" }, { 10, 11, "52" }, { 1, UINT64_MAX, "100" },
	{ 0, 19, NULL },     { 9, 10, NULL }, { 10, 10, NULL }, { 20, 20, NULL },
	{ 1000, 999, NULL }, { 20, 0, NULL }, { 0, 1, NULL },
};

START_TEST(test_threshold)
{
	char line[4096] = "";

	write_release("host", "ID=own\n");
	run(PID, PROG, write_program("host" PROG, true, true));
	if (thresholds[_i].named)
		add("prog", PID, NAMED, 0, thresholds[_i].named);
	if (thresholds[_i].nameless)
		add("prog", PID, BARE, 0, thresholds[_i].nameless);
	if (thresholds[_i].percent)
		snprintf(line, sizeof(line),
			 "%s %% of the user stacks of '" PROG "' lack names: '" PROG
			 "' has no symbols, and " NOT_THERE GENERIC,
			 thresholds[_i].percent);
	check_line(line);
}
END_TEST

/* Processes and threads of one program are added up. Another program has more in a single process. */
START_TEST(test_program)
{
	uint64_t ino = write_program("host" PROG, true, true), other = write_program("host/usr/bin/big", true, true);
	pid_t pid;

	write_release("host", "ID=own\n");
	run(PID, "/usr/bin/big", other);
	add("big", PID, BARE, 0, 10);
	for (pid = 1; pid <= 11; pid++) {
		run(pid, PROG, ino);
		add(pid % 2 ? "one" : "two", pid, BARE, 0, 1);
	}
	check_line("100 % of the user stacks of '" PROG "' lack names: '" PROG
		   "' has no symbols, and " NOT_THERE GENERIC);
	/* The whole report decides, not the program. */
	run(PID + 1, "/usr/bin/good", write_program("host/usr/bin/good", false, true));
	add("good", PID + 1, NAMED, 0, 21);
	check_line("");
}
END_TEST

START_TEST(test_same_number)
{
	const char *paths[] = { "/usr/bin/b", "/usr/bin/a", "/usr/bin/c" };
	char name[64];
	size_t i;

	write_release("host", "ID=own\n");
	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		snprintf(name, sizeof(name), "host%s", paths[i]);
		run(PID + (pid_t)i, paths[i], write_program(name, true, true));
		add("x", PID + (pid_t)i, BARE, 0, 10);
	}
	check_line("100 % of the user stacks of '/usr/bin/a' lack names: '/usr/bin/a' has no symbols, and " NOT_THERE
			   GENERIC);
}
END_TEST

/* If there is no advice about the worst program, take the next one, unless it matters little. */
static const struct {
	uint64_t worst, next;
	bool printed;
} next_programs[] = {
	{ 89, 11, true },
	{ 91, 9, false },
	{ 50, 50, true },
};

START_TEST(test_next_program)
{
	write_release("host", "ID=own\n");
	run(PID, "/usr/bin/gone", 1);
	run(PID + 1, PROG, write_program("host" PROG, true, true));
	run(PID + 2, "/usr/bin/last", write_program("host/usr/bin/last", true, true));
	add("gone", PID, BARE, 0, next_programs[_i].worst);
	add("prog", PID + 1, BARE, 0, next_programs[_i].next);
	add("last", PID + 2, BARE, 0, 1);
	check_line(next_programs[_i].printed ? "100 % of the user stacks of '" PROG "' lack names: '" PROG
					       "' has no symbols, and " NOT_THERE GENERIC
					     : "");
}
END_TEST

START_TEST(test_nothing)
{
	check_line("");
	add("idle", 0, GONE, 0, 100);
	check_line("");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("advice");
	TCase *t = tcase_create("advice");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, test_stripped, 0, ARRAY_SIZE(stripped));
	tcase_add_test(t, test_debug_file);
	tcase_add_test(t, test_which_file);
	tcase_add_loop_test(t, test_blame, 0, 2);
	tcase_add_loop_test(t, test_made, 0, ARRAY_SIZE(made));
	tcase_add_test(t, test_incomplete);
	tcase_add_test(t, test_next_reason);
	tcase_add_loop_test(t, test_small_reason, 0, 2);
	tcase_add_loop_test(t, test_threshold, 0, ARRAY_SIZE(thresholds));
	tcase_add_test(t, test_program);
	tcase_add_test(t, test_same_number);
	tcase_add_loop_test(t, test_next_program, 0, ARRAY_SIZE(next_programs));
	tcase_add_test(t, test_nothing);
	suite_add_tcase(s, t);
	return unit_main(s);
}
