// SPDX-License-Identifier: Apache-2.0
#include "core/base/clock.h"
#include "core/files/recorded.h"
#include "core/files/vdso.h"
#include "core/host/host.h"
#include "core/tasks/tasks.h"
#include "tests/unit/cfi_image.h"
#include "tests/unit/large_rules.h"
#include "unwind/rule_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#define FRAME 0x40 /* a function of the program, as offset in its code */

static struct cfi_image image;
static char *dir, *root;
static struct host host;
static struct recorded origin;
static struct mapped_files_cfg cfg;
static struct tasks *tasks;
static struct rule_files *files;
static int fds; /* open before the test */

/* Process @pid has the program at @path. */
static void put_program(pid_t pid, const char *path)
{
	char name[256];

	snprintf(name, sizeof(name), "%d/root%s", pid, path);
	unit_write(dir, name, image.bytes, sizeof(image.bytes));
}

static void setup(void)
{
	static const struct cfi_function function = { FRAME, 64, false, CFI_PROGRAM("\x0e\x10") };

	cfi_image_build(&image, &function, 1);
	dir = unit_tmpdir();
	ck_assert_int_ge(asprintf(&root, "%s/host", dir), 0);
	host = (struct host){ .proc = dir, .sys = dir };
	cfg = (struct mapped_files_cfg){ .host = &host, .root = root };
	tasks = tasks_new(&host);
	ck_assert_ptr_nonnull(tasks);
	fds = unit_open_fds();
	files = rule_files_new(&cfg, tasks, NSEC_PER_SEC);
	ck_assert_ptr_nonnull(files);
}

/* All files are closed. */
static void teardown(void)
{
	rule_files_free(files);
	ck_assert_int_eq(unit_open_fds(), fds);
	tasks_free(tasks);
	free(root);
	unit_rmdir(dir);
}

static struct rules *find(pid_t pid, const struct mapped_file *file)
{
	const struct mapping m = { 0x1000, 0x2000, 0, file };

	return rule_files_find(files, pid, &m, NULL);
}

/* Check that these are the rules of the program. */
static void assert_rules(struct rules *r)
{
	const struct cfi_row *row;

	ck_assert_ptr_nonnull(r);
	ck_assert_int_eq(rules_find(r, CFI_CODE_ADDR + FRAME, &row), 1);
	ck_assert_int_eq(row->cfa_value, 16);
}

static bool keep_none(void *ctx, pid_t pid)
{
	(void)ctx;
	(void)pid;
	return false;
}

START_TEST(test_found)
{
	struct mapped_file file = { .path = "/bin/a" };
	struct rules *r;

	put_program(5, "/bin/a");
	r = find(5, &file);
	assert_rules(r);
	ck_assert_ptr_eq(find(5, &file), r);
	ck_assert_ptr_eq(find(6, &file), r); /* this process does not have the file there */
	ck_assert_int_eq(unit_open_fds(), fds + 1);
}
END_TEST

/* The file that is opened counts, not the struct by which it is found. */
static const struct {
	struct mapped_file file;
	bool same;
} others[] = {
	{ { "/bin/a", 8, 1, 0, "12345", 5 }, true },    { { "/bin/b", 8, 1, 0, "12345", 5 }, false },
	{ { "/bin/aa", 8, 1, 0, "12345", 5 }, false },  { { "/bin/", 8, 1, 0, "12345", 5 }, false },
	{ { "/bin/a", 9, 1, 0, "12345", 5 }, true },    { { "/bin/a", 8, 2, 0, "12345", 5 }, true },
	{ { "/bin/a", 8, 1, 77, "12345", 5 }, false },  { { "/bin/a", 8, 1, 0, "12346", 5 }, true },
	{ { "/bin/a", 8, 1, 0, "1234", 4 }, true },     { { "/bin/a", 8, 1, 0, "", 0 }, true },
	{ { "/bin/link", 8, 1, 0, "12345", 5 }, true },
};

/* Another name of "/bin/a". */
static void link_program(const char *path)
{
	char old[4096], new[4096];

	snprintf(old, sizeof(old), "%s/5/root/bin/a", dir);
	snprintf(new, sizeof(new), "%s/5/root%s", dir, path);
	ck_assert_int_eq(link(old, new), 0);
}

START_TEST(test_same)
{
	static const struct mapped_file usual = { "/bin/a", 8, 1, 0, "12345", 5 };
	size_t row = (size_t)_i / 2;
	char *path = strdup(others[row].file.path);
	struct mapped_file other = others[row].file;
	struct rules *r;

	ck_assert_ptr_nonnull(path);
	other.path = path;
	put_program(5, "/bin/a");
	link_program("/bin/link");
	r = find(5, _i % 2 ? &other : &usual);
	ck_assert_int_eq(find(5, _i % 2 ? &usual : &other) == r && r, others[row].same);
	r = find(5, &usual);
	assert_rules(r);
	free(path);
	ck_assert_ptr_eq(find(5, &usual), r); /* paths are copied */
}
END_TEST

/* ---- rules in debug files */

#define BUILD "/.build-id/0f/ab010203040506.debug"

/*
 * Write a file of the build in BUILD, with rules for one function if it is a debug file: version 3, "", code 1, data
 * -8, register 16; rsp + 8, rip; in the function rsp + 16.
 */
static void write_built(const char *name, bool debug)
{
	static const uint32_t cie[] = { 16, UINT32_MAX, 0x78010003, 0x08070c10, 0x190 };
	static const uint32_t fde[] = { 24, 0, CFI_CODE_ADDR + FRAME, 0, 64, 0, 0x100e };
	unsigned char frame[sizeof(cie) + sizeof(fde)];
	unsigned char note[64];
	size_t len = image_note(note, ELFDATA2LSB, 4, NT_GNU_BUILD_ID, "GNU", 4, "\x0f\xab\1\2\3\4\5\6", 8);
	const struct section v[] = {
		{ ".note", { .sh_type = SHT_NOTE, .sh_size = len, .sh_addralign = 4 }, note },
		{ ".debug_frame",
		  { .sh_type = debug ? SHT_PROGBITS : SHT_NULL, .sh_size = debug ? sizeof(frame) : 0 },
		  frame },
	};
	struct image im;

	memcpy(frame, cie, sizeof(cie));
	memcpy(frame + sizeof(cie), fde, sizeof(fde));
	sections_build(&im, v, ARRAY_SIZE(v));
	unit_write(dir, name, im.bytes, im.len);
	image_release(&im);
}

static const struct {
	const char *debug;
	bool found;
} debugs[] = {
	{ "user" BUILD, true },
	{ "host/usr/lib/debug" BUILD, true },
	{ "user/usr/lib/debug" BUILD, false },
	{ "5/root/usr/lib/debug" BUILD, false },
};

START_TEST(test_debug)
{
	struct mapped_file file = { .path = "/bin/a" };
	const struct cfi_row *row;
	struct rules *r;
	char user[4096];

	snprintf(user, sizeof(user), "%s/user", dir);
	cfg.debug_dir = user;
	write_built("5/root/bin/a", false);
	write_built(debugs[_i].debug, true);
	r = find(5, &file);
	if (debugs[_i].found) {
		assert_rules(r);
	} else {
		ck_assert_ptr_nonnull(r);
		ck_assert_int_eq(rules_find(r, CFI_CODE_ADDR + FRAME, &row), 0);
	}
}
END_TEST

/* ---- invalid files */

static void make_text(const char *path)
{
	unit_write(dir, "5/root/bin/a", "#!/bin/sh\n", 10);
	(void)path;
}

static void make_empty(const char *path)
{
	unit_write(dir, "5/root/bin/a", "", 0);
	(void)path;
}

static void make_cut(const char *path)
{
	unit_write(dir, "5/root/bin/a", image.bytes, 100);
	(void)path;
}

static void make_32(const char *path)
{
	image.bytes[EI_CLASS] = ELFCLASS32;
	put_program(5, "/bin/a");
	(void)path;
}

static void make_fifo(const char *path)
{
	unit_write(dir, "5/root/bin/b", "", 0);
	ck_assert_int_eq(mkfifo(path, 0666), 0);
}

static void make_dir(const char *path)
{
	unit_write(dir, "5/root/bin/a/b", "", 0);
	(void)path;
}

static void make_link(const char *path)
{
	put_program(5, "/bin/b");
	ck_assert_int_eq(symlink("b", path), 0);
}

static void make_inode(const char *path)
{
	put_program(5, "/bin/a");
	(void)path;
}

static const struct {
	const char *what;
	void (*make)(const char *path);
	struct mapped_file file;
	bool again; /* another process may have a valid one */
} useless[] = {
	{ "a script", make_text, { "/bin/a" }, false },
	{ "an empty file", make_empty, { "/bin/a" }, false },
	{ "half a header", make_cut, { "/bin/a" }, false },
	{ "of 32 bits", make_32, { "/bin/a" }, false },
	{ "a FIFO", make_fifo, { "/bin/a" }, true },
	{ "a folder", make_dir, { "/bin/a" }, true },
	{ "a symlink", make_link, { "/bin/a" }, true },
	{ "another inode", make_inode, { "/bin/a", 0, 0, UINT64_MAX }, true },
	{ "nothing there", make_inode, { "/bin/other" }, true },
	{ "no path", make_inode, { "" }, false },
	{ "out of the root", make_inode, { "/bin/../bin/a" }, true },
	{ "memory", make_inode, { "//anon" }, false },
	{ "the heap", make_inode, { "[heap]" }, false },
	{ "the vsyscall page", make_inode, { "[vsyscall]" }, false },
	{ "a memfd", make_inode, { "memfd:x" }, false },
};

START_TEST(test_useless)
{
	struct cfi_image good = image;
	char *path;

	ck_assert_int_ge(asprintf(&path, "%s/5/root/bin/a", dir), 0);
	unit_write(dir, "5/root/bin/c", "", 0);
	useless[_i].make(path);
	ck_assert_msg(!find(5, &useless[_i].file), "%s", useless[_i].what);
	ck_assert(!find(5, &useless[_i].file));
	ck_assert_int_eq(unit_open_fds(), fds);
	/* Another process may have the file only if it was missing here. */
	image = good;
	if (useless[_i].file.path[0] == '/' && !useless[_i].file.ino)
		put_program(6, strcmp(useless[_i].file.path, "/bin/../bin/a") ? useless[_i].file.path : "/bin/a");
	if (useless[_i].again && !useless[_i].file.ino && !strstr(useless[_i].file.path, ".."))
		assert_rules(find(6, &useless[_i].file));
	else
		ck_assert(!find(6, &useless[_i].file));
	free(path);
}
END_TEST

/* Each process is tried once, but not all processes. */
START_TEST(test_tries)
{
	struct mapped_file file = { .path = "/bin/a" };
	pid_t pid;

	ck_assert(!find(10, &file));
	put_program(10, "/bin/a");
	ck_assert(!find(10, &file));
	for (pid = 11; pid < 10 + _i; pid++)
		ck_assert(!find(pid, &file));
	put_program(100, "/bin/a");
	if (_i <= 3)
		assert_rules(find(100, &file));
	else
		ck_assert(!find(100, &file));
}
END_TEST

/* No descriptors are left: another process is tried again. */
START_TEST(test_no_descriptors)
{
	struct mapped_file file = { .path = "/bin/a" };
	rlim_t before;

	put_program(5, "/bin/a");
	before = unit_limit_files((rlim_t)_i);
	ck_assert(!find(4, &file));
	unit_limit_files(before);
	assert_rules(find(5, &file));
}
END_TEST

/* If no descriptor is left, another file is closed for a new one, at once. */
START_TEST(test_spared_descriptors)
{
	struct mapped_file file[] = { { .path = "/bin/a" }, { .path = "/bin/b" }, { .path = "/bin/c" },
				      { .path = "/bin/d" }, { .path = "/bin/e" }, { .path = "/bin/f" } };
	const size_t nr = ARRAY_SIZE(file) - 1;
	rlim_t before;
	size_t i;
	int rc;

	for (i = 0; i <= nr; i++)
		put_program(5, file[i].path);
	for (i = 0; i < nr; i++)
		assert_rules(find(5, &file[i]));
	before = unit_leave_files(0);
	assert_rules(find(5, &file[nr]));
	unit_limit_files((rlim_t)fds);
	ck_assert_ptr_null(rule_files_find(files, 5, &(struct mapping){ 0x1000, 0x2000, 0, &file[0] }, &rc));
	ck_assert_int_eq(rc, -EMFILE);
	unit_limit_files(before);
	ck_assert_ptr_nonnull(rule_files_find(files, 5, &(struct mapping){ 0x1000, 0x2000, 0, &file[0] }, &rc));
	ck_assert_int_eq(rc, 0);
}
END_TEST

/* With @_i descriptors: if the debug file cannot be opened, there are no rules, not fewer rules. */
START_TEST(test_debug_descriptors)
{
	struct mapped_file file = { .path = "/bin/a" };
	const struct mapping m = { 0x1000, 0x2000, 0, &file };
	rlim_t before;
	struct rules *r;
	int rc;

	write_built("5/root/bin/a", false);
	write_built("host/usr/lib/debug" BUILD, true);
	before = unit_leave_files((unsigned int)_i);
	r = rule_files_find(files, 5, &m, &rc);
	ck_assert_int_eq(rc, r ? 0 : -EMFILE);
	if (r)
		assert_rules(r);
	unit_limit_files(before);
	if (!r)
		ck_assert_int_eq(unit_open_fds(), fds);
	assert_rules(find(5, &file));
}
END_TEST

/* When descriptors become available, a file is tried again, also for the same process. */
START_TEST(test_few_descriptors)
{
	struct mapped_file a = { .path = "/bin/a" }, b = { .path = "/bin/b" };
	rlim_t before;

	put_program(5, "/bin/a");
	put_program(5, "/bin/b");
	assert_rules(find(5, &a));
	before = unit_leave_files(0);
	ck_assert(!find(5, &b));
	unit_limit_files(before);
	assert_rules(find(5, &b));
	assert_rules(find(5, &a));
}
END_TEST

/* Closed files are opened again. */
START_TEST(test_close)
{
	struct mapped_file a = { .path = "/bin/a" }, b = { .path = "/bin/b" };

	put_program(5, "/bin/a");
	put_program(5, "/bin/b");
	ck_assert(!rule_files_close(files));
	assert_rules(find(5, &a));
	assert_rules(find(5, &b));
	ck_assert(rule_files_close(files));
	ck_assert_int_eq(unit_open_fds(), fds);
	ck_assert(!rule_files_close(files));
	assert_rules(find(5, &a));
	assert_rules(find(5, &b));
}
END_TEST

/* ---- the vDSO */

START_TEST(test_vdso)
{
	static const struct mapped_file file = { .path = "[vdso]" };
	struct mapping whole = { 1ULL << 40, 0, 0, &file };
	struct elf_file f = ELF_FILE_NONE;
	bool have = !vdso_open(&f);

	if (_i) {
		origin = (struct recorded){ .boot = _i == 1 ? BOOT_SAME : BOOT_OTHER };
		cfg.recorded = &origin;
	}
	whole.end = whole.start + (have ? f.bytes.size : 0x1000);
	elf_file_release(&f);
	ck_assert_int_eq(rule_files_find(files, 5, &whole, NULL) != NULL, have && _i != 2);
	ck_assert_int_eq(rule_files_find(files, 6, &whole, NULL) != NULL, have && _i != 2);
	whole.end++;
	ck_assert_ptr_null(rule_files_find(files, 6, &whole, NULL));
	ck_assert_int_eq(unit_open_fds(), fds);
	cfg.recorded = NULL;
}
END_TEST

/* ---- bounds */

#define MANY 1500 /* more than are remembered */

static struct mapped_file many[MANY];
static char paths[MANY][16];

/* The same program under many names. */
static void make_many(void)
{
	char from[4096], to[4096];
	size_t i;

	put_program(5, "/bin/program");
	snprintf(from, sizeof(from), "%s/5/root/bin/program", dir);
	for (i = 0; i < MANY; i++) {
		snprintf(paths[i], sizeof(paths[i]), "/bin/%zu", i);
		many[i].path = paths[i];
		snprintf(to, sizeof(to), "%s/5/root%s", dir, paths[i]);
		ck_assert_int_eq(link(from, to), 0);
	}
}

/* However many files there are, few are open, and each can be opened again. */
START_TEST(test_many)
{
	size_t i;

	make_many();
	for (i = 0; i < 2 * MANY; i++) {
		assert_rules(find(5, &many[i % MANY]));
		if (i % 100 == 99)
			ck_assert_int_le(unit_open_fds(), fds + 256);
	}
}
END_TEST

/* A file that is used all the time stays open. */
START_TEST(test_in_use)
{
	struct rules *first;
	size_t i;

	make_many();
	first = find(5, &many[0]);
	for (i = 1; i < MANY; i++) {
		assert_rules(find(5, &many[i]));
		ck_assert_ptr_eq(find(5, &many[0]), first);
	}
	ck_assert_int_le(unit_open_fds(), fds + 256);
}
END_TEST

/* Many invalid files do not close open ones. */
START_TEST(test_no_files)
{
	struct mapped_file file = { .path = "/bin/a" };
	struct rules *r;
	size_t i;

	put_program(5, "/bin/a");
	r = find(5, &file);
	for (i = 0; i < 1000; i++) {
		snprintf(paths[i], sizeof(paths[i]), "anon:%zu", i);
		many[i].path = paths[i];
		ck_assert(!find(5, &many[i]));
	}
	ck_assert_ptr_eq(find(5, &file), r);
	assert_rules(r);
}
END_TEST

/* ---- large files */

#define LARGE_FILES 6 /* four of them have room */

/* A large file with rules for one function. */
static void write_large(const char *name)
{
	static const uint32_t rules[] = { 16,         UINT32_MAX, 0x78010003,
					  0x08070c10, 0x190, /* CIE */
					  24,         0,          CFI_CODE_ADDR + FRAME,
					  0,          64,         0,
					  0x100e };

	write_large_rules(dir, name, rules, ARRAY_SIZE(rules));
}

static struct mapped_file large[LARGE_FILES];
static char large_paths[LARGE_FILES][16];

/* All of them, below the root of process 5. */
static void write_all_large(void)
{
	char name[64];
	size_t i;

	for (i = 0; i < LARGE_FILES; i++) {
		snprintf(large_paths[i], sizeof(large_paths[i]), "/bin/large%zu", i);
		snprintf(name, sizeof(name), "5/root%s", large_paths[i]);
		large[i].path = large_paths[i];
		write_large(name);
	}
}

/* Return: there are rules, and they are kept. */
static bool use_large(size_t i)
{
	struct rules *r = find(5, &large[i]);
	uint64_t start;

	if (!r)
		return false;
	ck_assert_int_eq(rules_function(r, CFI_CODE_ADDR + FRAME + 1, &start), 1);
	ck_assert_uint_eq(start, CFI_CODE_ADDR + FRAME);
	return rule_files_settle(files);
}

/* More names than are remembered cost one file, which stays open until the last name is gone. */
START_TEST(test_links)
{
	char path[32];
	struct mapped_file file = { .path = path };
	struct rules *r = NULL;
	int i;

	put_program(5, "/bin/a");
	for (i = 0; i < 1200; i++) {
		snprintf(path, sizeof(path), "/bin/link%d", i);
		link_program(path);
		r = r ? r : find(5, &file);
		ck_assert_ptr_eq(find(5, &file), r);
		ck_assert_int_eq(unit_open_fds(), fds + 1);
	}
	assert_rules(r);
	ck_assert(rule_files_close(files));
	ck_assert_int_eq(unit_open_fds(), fds);
	ck_assert(!rule_files_close(files));
	assert_rules(find(5, &file));
}
END_TEST

/* In a report, used files stay, and others are refused; in the next one, others may replace them. */
START_TEST(test_large)
{
	struct mapped_file file = { .path = "/bin/a" };
	size_t i, nr;

	put_program(5, "/bin/a");
	write_all_large();
	rule_files_renew(files);
	for (nr = 0; nr < 3; nr++)
		for (i = 0; i < LARGE_FILES; i++) {
			assert_rules(find(5, &file));
			ck_assert_int_eq(use_large(i), i < 4);
		}
	rule_files_renew(files);
	for (nr = 0; nr < 3; nr++)
		for (i = LARGE_FILES; i-- > 0;)
			ck_assert_int_eq(use_large(i), i > 1);
	/* Small ones are opened again. */
	assert_rules(find(5, &file));
}
END_TEST

/* Without reports, a large file is not read twice. */
START_TEST(test_large_once)
{
	size_t i;

	write_all_large();
	for (i = 0; i < LARGE_FILES; i++)
		use_large(i);
	for (i = 0; i < LARGE_FILES; i++)
		ck_assert_int_eq(use_large(i), i > 1);
}
END_TEST

/* After rule_files_clear(), all files are unknown. */
START_TEST(test_clear)
{
	struct mapped_file file = { .path = "/bin/a" };

	ck_assert(!find(5, &file));
	put_program(5, "/bin/a");
	ck_assert(!find(5, &file));
	rule_files_clear(files);
	assert_rules(find(5, &file));
	rule_files_clear(files);
	ck_assert_int_eq(unit_open_fds(), fds);
}
END_TEST

/* ---- files that change */

/* A path that shows another file now, also if its struct is at the address of the forgotten one. */
START_TEST(test_forgotten)
{
	struct mapped_file file = { .path = "/bin/a" }, mapped = { .path = "/bin/x" };
	const struct mapping m = { 0x1000, 0x2000, 0, &mapped };

	put_program(5, "/bin/a");
	assert_rules(find(5, &file));
	file.path = "/bin/none";
	ck_assert_int_eq(tasks_mmap(tasks, 9, &m), 0);
	ck_assert_int_eq(tasks_exit(tasks, 9, 9), 0);
	tasks_forget(tasks, keep_none, NULL);
	ck_assert_uint_eq(tasks_forgotten(tasks), 1);
	ck_assert(!find(5, &file));
}
END_TEST

/* Truncated or overwritten while it is open: no rules, or other ones, but no crash. */
START_TEST(test_changed)
{
	static const off_t sizes[] = { 0, 1, 64, CFI_EH_OFFSET, CFI_EH_OFFSET + 30, CFI_CODE_OFFSET, CFI_FILE_SIZE };
	struct mapped_file file = { .path = "/bin/a" };
	const struct cfi_row *row;
	struct rules *r;
	uint64_t addr;
	char *path;

	put_program(5, "/bin/a");
	r = find(5, &file);
	ck_assert_ptr_nonnull(r);
	ck_assert_int_ge(asprintf(&path, "%s/5/root/bin/a", dir), 0);
	ck_assert_int_eq(truncate(path, sizes[_i]), 0);
	for (addr = CFI_CODE_ADDR; addr < CFI_CODE_ADDR + CFI_CODE_SIZE; addr += 16)
		ck_assert_int_le(rules_find(r, addr, &row), 1);
	ck_assert_ptr_eq(find(5, &file), r);
	free(path);
}
END_TEST

static uint64_t serial_of(pid_t pid, const struct mapped_file *file)
{
	struct rules *r = find(pid, file);

	ck_assert_ptr_nonnull(r);
	return rules_serial(r);
}

/* A changed file is read again for another process, once in a round. */
START_TEST(test_written)
{
	struct mapped_file file = { .path = "/bin/a" };
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = 1000 } };
	uint64_t first, second;
	char *path;

	put_program(5, "/bin/a");
	put_program(6, "/bin/a");
	first = serial_of(5, &file);
	ck_assert_int_ge(asprintf(&path, "%s/5/root/bin/a", dir), 0);
	ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
	ck_assert_uint_eq(serial_of(6, &file), first);
	rule_files_round(files);
	second = serial_of(6, &file);
	ck_assert_uint_ne(second, first);
	times[1].tv_sec++;
	strstr(path, "/5/root")[1] = '6'; /* the file that is open now is there */
	ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
	ck_assert_uint_eq(serial_of(5, &file), second);
	ck_assert_uint_eq(serial_of(6, &file), second);
	rule_files_renew(files);
	ck_assert_uint_ne(serial_of(5, &file), second);
	free(path);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rule_files");
	TCase *tc = tcase_create("rule_files");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_found);
	tcase_add_loop_test(tc, test_same, 0, 2 * ARRAY_SIZE(others));
	tcase_add_loop_test(tc, test_debug, 0, ARRAY_SIZE(debugs));
	tcase_add_loop_test(tc, test_useless, 0, ARRAY_SIZE(useless));
	tcase_add_loop_test(tc, test_tries, 1, 8);
	tcase_add_loop_test(tc, test_no_descriptors, 3, 6);
	tcase_add_test(tc, test_spared_descriptors);
	tcase_add_loop_test(tc, test_debug_descriptors, 0, 10);
	tcase_add_test(tc, test_few_descriptors);
	tcase_add_test(tc, test_close);
	tcase_add_loop_test(tc, test_vdso, 0, 3);
	tcase_add_test(tc, test_many);
	tcase_add_test(tc, test_in_use);
	tcase_add_test(tc, test_no_files);
	tcase_add_test(tc, test_links);
	tcase_add_test(tc, test_large);
	tcase_add_test(tc, test_large_once);
	tcase_add_test(tc, test_clear);
	tcase_add_test(tc, test_forgotten);
	tcase_add_test(tc, test_written);
	tcase_add_loop_test(tc, test_changed, 0, 7);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
