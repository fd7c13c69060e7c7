// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/elf_image.h"

#include "core/host.h"
#include "core/proc.h"
#include "core/symbols/symbols.h"
#include "core/tasks.h"

#include <sys/auxv.h>
#include <sys/stat.h>

#define PID  4242
#define BASE 0x7f0000000000ULL /* where a test's file is mapped; its .text begins at BASE + TEXT_OFFSET */
#define TEXT (BASE + TEXT_OFFSET)

static char *dir, *proc;
static struct host host;
static struct tasks *tasks;
static struct symbols *syms;

static void setup(void)
{
	dir = unit_tmpdir();
	ck_assert_int_ge(asprintf(&proc, "%s/proc", dir), 0);
	host = (struct host){ .proc = proc, .sys = dir };
	tasks = tasks_new(&host);
	ck_assert_ptr_nonnull(tasks);
	syms = symbols_new(tasks, &host);
	ck_assert_ptr_nonnull(syms);
}

static void teardown(void)
{
	symbols_free(syms);
	tasks_free(tasks);
	free(proc);
	unit_rmdir(dir);
}

static void write_text(const char *name, const char *text)
{
	unit_write(dir, name, text, strlen(text));
}

/* Write a library with "first" at .text + 0x100 and "second" behind it; its inode number. */
static uint64_t write_library(const char *name)
{
	static const struct image_symbol v[] = {
		{ "first", 0x100, 0x40, STT_FUNC, STB_GLOBAL, SEC_TEXT },
		{ "second", 0x140, 0x40, STT_FUNC, STB_GLOBAL, SEC_TEXT },
		{ "_Z6secondv", 0x180, 0x40, STT_FUNC, STB_GLOBAL, SEC_TEXT },
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

/* Map it as the dynamic linker does: the text alone, from its page of the file on. */
static void map_at(pid_t pid, uint64_t start, uint64_t len, uint64_t pgoff, const char *path, uint64_t ino)
{
	struct mapping m = { .start = start, .end = start + len, .pgoff = pgoff };

	ck_assert_int_eq(tasks_mmap(tasks, pid, &m, path, 0, 0, ino), 0);
}

static void map(pid_t pid, const char *path, uint64_t ino)
{
	map_at(pid, TEXT, TEXT_SIZE, TEXT_OFFSET, path, ino);
}

/* "name+0xoffset [module]"; "-" without name, "-" alone without mapping. */
static const char *lookup(pid_t pid, uint64_t addr, bool is_return)
{
	static char text[256];
	struct symbol s;
	int n = 1;

	symbols_user(syms, pid, "test", addr, is_return, &s);
	snprintf(text, sizeof(text), "-");
	if (s.name)
		n = snprintf(text, sizeof(text), "%s+0x%llx", s.name, (unsigned long long)s.offset);
	else
		ck_assert_uint_eq(s.offset, 0);
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
	{ TEXT + 0x140, true, "first+0x40 [libx.so.1]" }, /* the call is first's last instruction */
	{ TEXT + 0x140, false, "second+0x0 [libx.so.1]" },
	{ TEXT + 0x180, false, "_Z6secondv+0x0 [libx.so.1]" },
	{ TEXT + 0x1c0, true, "_Z6secondv+0x40 [libx.so.1]" },
	{ TEXT + 0x1c0, false, "- [libx.so.1]" },
	{ TEXT + 0xfff, false, "- [libx.so.1]" },
	{ TEXT + 0x1000, true, "- [libx.so.1]" }, /* behind the mapping, the call within */
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

	map(PID, "/lib/libx.so.1", ino);
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

/* In a run of many reports processes end, and their files; others may take their place in memory. */
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

/* What is mapped without being a file that can be opened, and what it is called. */
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

START_TEST(test_which_file)
{
	uint64_t ino = write_library("proc/1/root/a.so"), outside;
	char path[4096];

	/* unknown inode: the path has to do; another inode: another file */
	map(1, "/a.so", 0);
	ck_assert_str_eq(lookup(1, TEXT + 0x100, false), "first+0x0 [a.so]");
	map(1, "/a.so", ino + 1000);
	ck_assert_str_eq(lookup(1, TEXT + 0x100, false), "- [a.so]");
	map(1, "/a.so", ino);
	ck_assert_str_eq(lookup(1, TEXT + 0x100, false), "first+0x0 [a.so]");

	/* the first process is gone, the second has it; then it is known for the first, too */
	ino = write_library("proc/3/root/b.so");
	map(2, "/b.so", ino);
	map(3, "/b.so", ino);
	ck_assert_str_eq(lookup(2, TEXT + 0x100, false), "- [b.so]");
	ck_assert_str_eq(lookup(3, TEXT + 0x100, false), "first+0x0 [b.so]");
	ck_assert_str_eq(lookup(2, TEXT + 0x100, false), "first+0x0 [b.so]");

	/* outside of any root of a process: the path itself */
	outside = write_library("outside/c.so");
	snprintf(path, sizeof(path), "%s/outside/c.so", dir);
	map(4, path, outside);
	ck_assert_str_eq(lookup(4, TEXT + 0x100, false), "first+0x0 [c.so]");
}
END_TEST

/* A file that is not there is asked for once for each of the first few processes, not for each address. */
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

	/* broken: no second look */
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

static int own_vdso(void *ctx, const struct proc_map *m)
{
	if (strcmp(m->path, "[vdso]"))
		return 0;
	*(struct mapping *)ctx = (struct mapping){ .start = m->start, .end = m->end };
	return 1;
}

/* Is clock_gettime somewhere in the vDSO that begins at @start? */
static bool has_clock(uint64_t start, uint64_t len)
{
	const char *found;
	uint64_t at;

	for (at = 0; at < len; at++) {
		found = lookup(PID, start + at, false);
		ck_assert_ptr_nonnull(strstr(found, " [[vdso]]"));
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
	/* wherever it is in that process, and whatever old kernels say of the offset */
	map_at(PID, BASE, len, 0, "[vdso]", 0);
	ck_assert_int_eq(has_clock(BASE, len), have);
	map_at(PID, BASE, len, BASE, "[vdso]", 0);
	ck_assert_int_eq(has_clock(BASE, len), have);
	/* not ours: another size, or that of a 32-bit process */
	map_at(PID, 2 * BASE, 2 * len, 0, "[vdso]", 0);
	ck_assert(!has_clock(2 * BASE, 2 * len));
	map_at(PID, 0xf7f00000, len, 0, "[vdso]", 0);
	ck_assert(!has_clock(0xf7f00000, len));
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

/* What is said when the kernel shows no addresses, by its settings. NULL: they are not hidden. */
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

int main(void)
{
	Suite *s = suite_create("symbols");
	TCase *tc = tcase_create("symbols");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, test_address, 0, ARRAY_SIZE(addresses));
	tcase_add_test(tc, test_forgotten);
	tcase_add_loop_test(tc, test_no_file, 0, ARRAY_SIZE(no_files));
	tcase_add_test(tc, test_which_file);
	tcase_add_test(tc, test_failure_is_kept);
	tcase_add_test(tc, test_many_files);
	tcase_add_test(tc, test_vdso);
	tcase_add_loop_test(tc, test_kernel, 0, ARRAY_SIZE(kernel_addresses));
	tcase_add_loop_test(tc, test_hidden, 0, ARRAY_SIZE(hidden));
	suite_add_tcase(s, tc);
	return unit_main(s);
}
