// SPDX-License-Identifier: Apache-2.0
#include "core/files/build_ids.h"
#include "core/files/mapped_files.h"
#include "core/files/open_files.h"
#include "core/files/perf_cache.h"
#include "core/files/recorded.h"
#include "core/host/host.h"
#include "tests/unit/elf_image.h"

#include <fcntl.h>
#include <sys/stat.h>

#define PID    4242
#define INSIDE "proc/4242/root/" /* below the test's directory: the root of the process, and that of the host */
#define HOST   "host/"

static char *dir, *proc, *root;
static struct host host;
static struct recorded origin;
static struct build_ids *table;
static struct mapped_files_cfg cfg;

static void write_text(const char *name)
{
	unit_write(dir, name, name, strlen(name));
}

static void make_link(const char *to, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	ck_assert_int_eq(symlink(to, path), 0);
}

static void make_fifo(const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	ck_assert_int_eq(mkfifo(path, 0666), 0);
}

/* Files that have their own names as contents. They belong to the process, to the host, or cannot be opened by path. */
static void setup(void)
{
	static const char *const names[] = {
		INSIDE "lib/both.so", INSIDE "lib/own.so", INSIDE "dev/x.so", INSIDE "memfd:x", HOST "lib/both.so",
		HOST "lib/host.so",   HOST "link.so",      HOST "dev/x.so",   "outside/x.so",
	};
	size_t i;

	dir = unit_tmpdir();
	ck_assert_int_ge(asprintf(&proc, "%s/proc", dir), 0);
	ck_assert_int_ge(asprintf(&root, "%s/host", dir), 0);
	host = (struct host){ .proc = proc, .sys = dir };
	cfg = (struct mapped_files_cfg){ .host = &host, .root = root };
	table = build_ids_new();
	ck_assert_ptr_nonnull(table);
	origin = (struct recorded){ .build_ids = table };
	for (i = 0; i < ARRAY_SIZE(names); i++)
		write_text(names[i]);
	make_link("lib/own.so", INSIDE "own-link.so");
	make_link("lib/own.so", INSIDE "link.so");
	make_link("lib", INSIDE "linked");
	make_link("../../../outside", INSIDE "escape");
	make_link("none", INSIDE "dangling");
	make_link("lib", HOST "host-linked");
	make_fifo(INSIDE "fifo");
	make_fifo(HOST "host-fifo");
}

static void teardown(void)
{
	build_ids_free(table);
	free(proc);
	free(root);
	unit_rmdir(dir);
}

/* Check @got, the result of opening: the file called @name, at its beginning, or, if @name is NULL, the failure @rc. */
static void check_opened(int got, const char *name, int rc, int fds)
{
	struct stat st;
	char byte;

	if (name) {
		ck_assert_int_ge(got, 0);
		ck_assert_int_eq(fstat(got, &st), 0);
		ck_assert_uint_eq(st.st_ino, unit_inode(dir, name));
		ck_assert_int_eq(fcntl(got, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
		ck_assert_int_eq(fcntl(got, F_GETFL) & O_ACCMODE, O_RDONLY);
		ck_assert_int_eq(read(got, &byte, 1), 1);
		close(got);
	} else {
		ck_assert_int_eq(got, rc);
	}
	ck_assert_int_eq(unit_open_fds(), fds);
}

/* @of: the file whose inode the mapping has; "": no file that exists; NULL: the inode is unknown. */
static const struct {
	const char *path, *of, *opened;
	int rc;
} live[] = {
	{ "/lib/both.so", NULL, INSIDE "lib/both.so", 0 },
	{ "/lib/both.so", INSIDE "lib/both.so", INSIDE "lib/both.so", 0 },
	{ "/lib/both.so", HOST "lib/both.so", HOST "lib/both.so", 0 },
	{ "/lib/own.so", NULL, INSIDE "lib/own.so", 0 },
	{ "/lib/host.so", NULL, HOST "lib/host.so", 0 },
	{ "/lib/host.so", HOST "lib/host.so", HOST "lib/host.so", 0 },
	{ "/lib//own.so", NULL, INSIDE "lib/own.so", 0 },
	{ "/./lib/./own.so", NULL, INSIDE "lib/own.so", 0 },
	{ "/link.so", NULL, HOST "link.so", 0 }, /* the file of the process is a link */
	/* another file */
	{ "/lib/both.so", "", NULL, -ESTALE },
	{ "/lib/both.so", INSIDE "lib/own.so", NULL, -ESTALE },
	{ "/lib/own.so", "", NULL, -ESTALE },
	{ "/lib/host.so", "", NULL, -ESTALE },
	{ "/own-link.so", NULL, NULL, -ESTALE },
	{ "/own-link.so", INSIDE "lib/own.so", NULL, -ESTALE },
	{ "/own-link.so", INSIDE "own-link.so", NULL, -ESTALE },
	{ "/dangling", NULL, NULL, -ESTALE },
	{ "/escape", NULL, NULL, -ESTALE },
	{ "/host-linked", NULL, NULL, -ESTALE },
	{ "/fifo", NULL, NULL, -ESTALE },
	{ "/fifo", INSIDE "fifo", NULL, -ESTALE },
	{ "/host-fifo", NULL, NULL, -ESTALE },
	{ "/lib", NULL, NULL, -ESTALE },
	{ "/lib", INSIDE "lib", NULL, -ESTALE },
	{ "/.", NULL, NULL, -ESTALE },
	/* none */
	{ "/none", NULL, NULL, -ENOENT },
	{ "/none/x.so", NULL, NULL, -ENOENT },
	{ "/lib/none", INSIDE "lib/own.so", NULL, -ENOENT },
	{ "/lib/own.so (deleted)", NULL, NULL, -ENOENT },
	{ "/lib/own.so/", NULL, NULL, -ENOENT },
	{ "/lib/own.so/x", NULL, NULL, -ENOENT },
	{ "/lib/own.so/.", NULL, NULL, -ENOENT },
	{ "/lib/", NULL, NULL, -ENOENT },
	{ "/linked/own.so", NULL, NULL, -ENOENT },
	{ "/linked/own.so", INSIDE "lib/own.so", NULL, -ENOENT },
	{ "/linked/./own.so", NULL, NULL, -ENOENT },
	{ "/host-linked/host.so", NULL, NULL, -ENOENT },
	{ "/escape/x.so", NULL, NULL, -ENOENT },
	{ "/escape/x.so", "outside/x.so", NULL, -ENOENT },
	{ "/fifo/x", NULL, NULL, -ENOENT },
	{ "/lib/../lib/own.so", NULL, NULL, -ENOENT },
	{ "/../root/lib/own.so", NULL, NULL, -ENOENT },
	{ "/../../../outside/x.so", "outside/x.so", NULL, -ENOENT },
	{ "/../outside/x.so", "outside/x.so", NULL, -ENOENT },
	{ "/..", NULL, NULL, -ENOENT },
	{ "/lib/..", NULL, NULL, -ENOENT },
	/* not the path of a file */
	{ "", NULL, NULL, -ENOENT },
	{ "/", NULL, NULL, -ENOENT },
	{ "lib/own.so", NULL, NULL, -ENOENT },
	{ "../root/lib/own.so", NULL, NULL, -ENOENT },
	{ "//lib/own.so", NULL, NULL, -ENOENT },
	{ "//anon", NULL, NULL, -ENOENT },
	{ "[vdso]", NULL, NULL, -ENOENT },
	{ "anon_inode:[perf_event]", NULL, NULL, -ENOENT },
	{ "/memfd:x", NULL, NULL, -ENOENT },
	{ "/dev/x.so", NULL, NULL, -ENOENT },
};

START_TEST(test_live)
{
	struct mapped_file file = { .path = live[_i].path };
	int fds = unit_open_fds();

	if (live[_i].of)
		file.ino = *live[_i].of ? unit_inode(dir, live[_i].of) : UINT64_MAX;
	check_opened(mapped_file_open(&cfg, PID, &file), live[_i].opened, live[_i].rc, fds);
}
END_TEST

/* The process is gone, or there is no /proc: the host's file is used. */
START_TEST(test_no_process)
{
	static const pid_t pids[] = { PID + 1, 0, -1, INT32_MAX };
	const struct mapped_file own = { .path = "/lib/own.so" }, both = { .path = "/lib/both.so" };
	char long_proc[8192] = "";
	int fds = unit_open_fds();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(pids); i++) {
		check_opened(mapped_file_open(&cfg, pids[i], &own), NULL, -ENOENT, fds);
		check_opened(mapped_file_open(&cfg, pids[i], &both), HOST "lib/both.so", 0, fds);
	}
	memset(long_proc, '/', sizeof(long_proc) - 1);
	host.proc = long_proc;
	check_opened(mapped_file_open(&cfg, PID, &both), HOST "lib/both.so", 0, fds);
}
END_TEST

/* Without another root, the host's is "/". */
START_TEST(test_root)
{
	struct mapped_file file = { 0 };
	int fds = unit_open_fds();
	char path[4096];

	snprintf(path, sizeof(path), "%s/outside/x.so", dir);
	file.path = path;
	check_opened(mapped_file_open(&cfg, PID, &file), NULL, -ENOENT, fds);
	cfg.root = NULL;
	check_opened(mapped_file_open(&cfg, PID, &file), "outside/x.so", 0, fds);
}
END_TEST

START_TEST(test_long_names)
{
	int fds = unit_open_fds(), len;
	struct mapped_file file = { 0 };
	char name[300], path[20000];
	size_t i;

	for (len = 254; len <= 255; len++) {
		snprintf(name, sizeof(name), INSIDE "%0*d", len, 0);
		write_text(name);
		file.path = name + strlen(INSIDE) - 1;
		check_opened(mapped_file_open(&cfg, PID, &file), name, 0, fds);
	}
	for (; len <= 260; len++) {
		snprintf(name, sizeof(name), INSIDE "%0*d", len, 0);
		file.path = name + strlen(INSIDE) - 1;
		check_opened(mapped_file_open(&cfg, PID, &file), NULL, -ENOENT, fds);
	}
	memset(path, 'a', sizeof(path));
	path[0] = '/';
	path[sizeof(path) - 1] = 0;
	file.path = path;
	check_opened(mapped_file_open(&cfg, PID, &file), NULL, -ENOENT, fds);
	/* Longer than any path that open(2) accepts; but each name is looked up by itself. */
	for (i = 0; i + 16 < sizeof(path); i += 2)
		memcpy(path + i, "/.", 2);
	snprintf(path + i, sizeof(path) - i, "/lib/own.so");
	check_opened(mapped_file_open(&cfg, PID, &file), INSIDE "lib/own.so", 0, fds);
}
END_TEST

/* With more and more descriptors left: no file until there are enough. Never another failure, never a leak. */
START_TEST(test_few_descriptors)
{
	const struct mapped_file file = { .path = "/lib/own.so" };
	int fds = unit_open_fds(), left, fd = -1;
	rlim_t before;

	for (left = 0; left < 8 && fd < 0; left++) {
		before = unit_leave_files((unsigned int)left);
		fd = mapped_file_open(&cfg, PID, &file);
		unit_limit_files(before);
		ck_assert_int_eq(left ? 0 : fd, left ? 0 : -EMFILE);
		check_opened(fd, fd < 0 ? NULL : INSIDE "lib/own.so", -EMFILE, fds);
	}
	ck_assert_int_ge(fd, 0);
}
END_TEST

/* Write an ELF file with build id @id, unless @id is NULL. */
static void write_built(const char *name, const void *id, size_t len)
{
	unsigned char bytes[128];
	struct image_notes notes = { bytes, 0, true, true, 4 };
	struct image im;

	if (id)
		notes.len = image_note(bytes, ELFDATA2LSB, 4, NT_GNU_BUILD_ID, "GNU", 4, id, (uint32_t)len);
	image_build_with(&im, ELFCLASS64, ELFDATA2LSB, NULL, 0, NULL, 0, id ? &notes : NULL);
	unit_write(dir, name, im.bytes, im.len);
	image_release(&im);
}

enum inode { INO_NONE, INO_SAME, INO_OTHER };

/*
 * The mapping's ids, the ids known for its path, and the file at that path (ids are text, "" a file without id, NULL:
 * none).
 */
static const struct {
	const char *mapping, *table[2], *file;
	enum inode ino;
	enum recorded_boot boot;
	int rc;
} recorded[] = {
	{ NULL, { "abc" }, "abc", INO_NONE, BOOT_OTHER, 0 },
	{ NULL, { "abc" }, "abc", INO_OTHER, BOOT_OTHER, 0 }, /* copied to another host */
	{ "abc", { NULL }, "abc", INO_NONE, BOOT_UNKNOWN, 0 },
	{ "abc", { "xyz" }, "abc", INO_NONE, BOOT_UNKNOWN, 0 },
	{ "abc", { "abc", "xyz" }, "abc", INO_OTHER, BOOT_UNKNOWN, 0 },
	{ NULL, { "abc", "xyz" }, "abc", INO_SAME, BOOT_OTHER, 0 },
	{ NULL, { NULL }, "", INO_SAME, BOOT_OTHER, 0 },
	{ NULL, { NULL }, "", INO_NONE, BOOT_UNKNOWN, 0 },
	{ NULL, { NULL }, "abc", INO_NONE, BOOT_SAME, 0 },
	/* another file */
	{ NULL, { "abc" }, "xyz", INO_SAME, BOOT_SAME, -ESTALE },
	{ NULL, { "abc" }, "ab", INO_SAME, BOOT_SAME, -ESTALE },
	{ NULL, { "abc" }, "abcd", INO_SAME, BOOT_SAME, -ESTALE },
	{ NULL, { "abc" }, "", INO_SAME, BOOT_SAME, -ESTALE },
	{ "abc", { "xyz" }, "xyz", INO_SAME, BOOT_SAME, -ESTALE },
	{ "abc", { NULL }, "", INO_NONE, BOOT_SAME, -ESTALE },
	{ NULL, { "abc", "xyz" }, "abc", INO_NONE, BOOT_SAME, -ESTALE },
	{ NULL, { "abc", "xyz" }, "xyz", INO_OTHER, BOOT_SAME, -ESTALE },
	{ NULL, { NULL }, "", INO_OTHER, BOOT_SAME, -ESTALE },
	{ NULL, { NULL }, "abc", INO_OTHER, BOOT_OTHER, -ESTALE },
	/* none */
	{ NULL, { NULL }, "", INO_NONE, BOOT_OTHER, -ENOENT },
	{ NULL, { NULL }, "abc", INO_NONE, BOOT_OTHER, -ENOENT },
	{ "abc", { "abc" }, NULL, INO_NONE, BOOT_SAME, -ENOENT },
	{ NULL, { NULL }, NULL, INO_NONE, BOOT_SAME, -ENOENT },
};

START_TEST(test_recorded)
{
	struct mapped_file file = { .path = "/x.so" };
	const char *there = recorded[_i].file, *id;
	int fds = unit_open_fds();
	size_t i;

	/* A process with that id runs here, and has a matching file. */
	write_built(INSIDE "x.so", "abc", 3);
	if (there)
		write_built(HOST "x.so", *there ? there : NULL, strlen(there));
	for (i = 0; i < 2 && recorded[_i].table[i]; i++) {
		id = recorded[_i].table[i];
		ck_assert_int_eq(build_ids_add(table, file.path, id, strlen(id)), 0);
	}
	if (recorded[_i].mapping) {
		file.build_id_size = (uint8_t)strlen(recorded[_i].mapping);
		memcpy(file.build_id, recorded[_i].mapping, file.build_id_size);
	}
	if (recorded[_i].ino != INO_NONE)
		file.ino = unit_inode(dir, HOST "x.so") + (recorded[_i].ino == INO_OTHER);
	origin.boot = recorded[_i].boot;
	cfg.recorded = &origin;
	check_opened(mapped_file_open(&cfg, PID, &file), recorded[_i].rc ? NULL : HOST "x.so", recorded[_i].rc, fds);
}
END_TEST

/* Something else than an ELF file is at that path. */
static const struct {
	const char *path;
	int rc;
} recorded_others[] = {
	{ "/lib/host.so", -ESTALE }, { "/host-fifo", -ESTALE },           { "/lib", -ESTALE },
	{ "/host-linked", -ESTALE }, { "/host-linked/built", -ENOENT },   { "/lib/../lib/built", -ENOENT },
	{ "lib/built", -ENOENT },    { "/dev/built", -ENOENT },           { "/../outside/built", -ENOENT },
	{ "/lib/built/", -ENOENT },  { "/lib/built (deleted)", -ENOENT }, { "/lib/own.so", -ENOENT },
};

START_TEST(test_recorded_other)
{
	struct mapped_file file = { .path = recorded_others[_i].path, .build_id = "abc", .build_id_size = 3 };
	int fds = unit_open_fds();

	write_built(HOST "lib/built", "abc", 3);
	write_built(HOST "dev/built", "abc", 3);
	write_built("outside/built", "abc", 3);
	cfg.recorded = &origin;
	check_opened(mapped_file_open(&cfg, PID, &file), NULL, recorded_others[_i].rc, fds);
}
END_TEST

START_TEST(test_build)
{
	struct mapped_file file = { .path = "/x.so", .build_id = "abc", .build_id_size = 3 };
	struct build_id id, abc, xyz;

	build_id_set(&abc, "abc", 3);
	build_id_set(&xyz, "xyz", 3);
	ck_assert(!mapped_file_build(&cfg, &file, &id)); /* not a recording */
	cfg.recorded = &origin;
	ck_assert(mapped_file_build(&cfg, &file, &id) && build_id_equal(&id, &abc));
	file.build_id_size = BUILD_ID_MAX + 1;
	ck_assert(!mapped_file_build(&cfg, &file, &id));
	file.build_id_size = 0;
	ck_assert(!mapped_file_build(&cfg, &file, &id));
	origin.build_ids = NULL;
	ck_assert(!mapped_file_build(&cfg, &file, &id));
	origin.build_ids = table;
	ck_assert_int_eq(build_ids_add(table, "/x.so", "xyz", 3), 0);
	ck_assert(mapped_file_build(&cfg, &file, &id) && build_id_equal(&id, &xyz));
	ck_assert_int_eq(build_ids_add(table, "/x.so", "abc", 3), 0);
	ck_assert(mapped_file_build(&cfg, &file, &id) && !id.size);
	file.ino = 1;
	ck_assert(!mapped_file_build(&cfg, &file, &id));
}
END_TEST

static const struct {
	const char *path;
	bool has;
} paths[] = {
	{ "/x", true },
	{ "/usr/lib/x.so", true },
	{ "/device", true },
	{ "/memfd", true },
	{ "/x (deleted)", true },
	{ "", false },
	{ "x", false },
	{ "//anon", false },
	{ "/dev/zero", false },
	{ "/dev/shm/x", false },
	{ "/memfd:", false },
	{ "/memfd:x (deleted)", false },
	{ "[heap]", false },
	{ "[vdso]", false },
	{ "[uprobes]", false },
	{ "/SYSV00000000 (deleted)", false },
	{ "/anon_hugepage (deleted)", false },
};

START_TEST(test_has_path)
{
	const struct mapped_file file = { .path = paths[_i].path };

	ck_assert_int_eq(mapped_file_has_path(&file), paths[_i].has);
}
END_TEST

#define DEBUG    HOST "usr/lib/debug/.build-id/"
#define ID       "\x0f\xab\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\xf2"
#define ID_NAME  DEBUG "0f/ab0102030405060708090a0b0c0d0e0f1011f2.debug"
#define USER_ID  "user/.build-id/0f/ab0102030405060708090a0b0c0d0e0f1011f2.debug"
#define ID0      "\x0f\xab\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\0\0"
#define ID0_NAME DEBUG "0f/ab0102030405060708090a0b0c0d0e0f100000.debug"

/* Look for build id @id of @size bytes; @has, of the same size, is the id of the file called @name (NULL: none). */
static const struct {
	const char *id;
	size_t size;
	const char *name, *has;
	bool found;
} debugs[] = {
	{ ID, 20, ID_NAME, ID, true },
	{ ID0, 20, ID0_NAME, ID0, true },
	{ ID, 16, DEBUG "0f/ab0102030405060708090a0b0c0d0e.debug", ID, true },
	{ ID, 8, DEBUG "0f/ab010203040506.debug", ID, true },
	{ "\x0f\xab\x01\0\0\0\0\0", 8, DEBUG "0f/ab010000000000.debug", "\x0f\xab\x01\0\0\0\0\0", true },
	{ "\x0f\xab", 2, DEBUG "0f/ab.debug", "\x0f\xab", true },
	/* another build, or no build id */
	{ ID, 20, ID_NAME, ID0, false },
	{ ID0, 20, ID0_NAME, ID, false },
	{ ID, 20, ID_NAME, NULL, false },
	{ "abc", 3, DEBUG "61/6263.debug", "xyz", false },
	/* under another name */
	{ ID, 20, DEBUG "0F/AB0102030405060708090A0B0C0D0E0F1011F2.debug", ID, false },
	{ ID, 20, DEBUG "0f/ab0102030405060708090a0b0c0d0e0f1011f2", ID, false },
	{ ID, 20, DEBUG "0f/ab0102030405060708090a0b0c0d0e0f101100.debug", ID, false },
	{ ID, 16, DEBUG "0f/ab0102030405060708090a0b0c0d0e0f.debug", ID, false },
	{ ID, 20, DEBUG "0fab/0102030405060708090a0b0c0d0e0f1011f2.debug", ID, false },
	{ ID, 20, INSIDE "usr/lib/debug/.build-id/0f/ab0102030405060708090a0b0c0d0e0f1011f2.debug", ID, false },
	/* not an id */
	{ "", 0, DEBUG "00/.debug", NULL, false },
	{ "\0\0", 2, DEBUG "00/00.debug", "\0\0", false },
};

START_TEST(test_debug)
{
	int fds = unit_open_fds();
	struct build_id id;

	write_built(debugs[_i].name, debugs[_i].has, debugs[_i].size);
	build_id_set(&id, debugs[_i].id, debugs[_i].size);
	check_opened(mapped_file_open_debug(&cfg, &id), debugs[_i].found ? debugs[_i].name : NULL, -ENOENT, fds);
	cfg.recorded = &origin;
	check_opened(mapped_file_open_debug(&cfg, &id), debugs[_i].found ? debugs[_i].name : NULL, -ENOENT, fds);
}
END_TEST

/* The user's directory or that of the host has the file of build @user and @host (NULL: none). */
static const struct {
	const char *user, *host, *found;
} user_debugs[] = {
	{ ID, NULL, USER_ID }, { ID, ID, USER_ID }, { NULL, ID, ID_NAME },
	{ ID0, ID, ID_NAME },  { ID0, ID0, NULL },  { NULL, NULL, NULL },
};

START_TEST(test_debug_user)
{
	int fds = unit_open_fds();
	struct build_id id;
	char folder[4096];

	snprintf(folder, sizeof(folder), "%s/user", dir);
	cfg.debug_dir = folder;
	if (user_debugs[_i].user)
		write_built(USER_ID, user_debugs[_i].user, 20);
	if (user_debugs[_i].host)
		write_built(ID_NAME, user_debugs[_i].host, 20);
	build_id_set(&id, ID, 20);
	check_opened(mapped_file_open_debug(&cfg, &id), user_debugs[_i].found, -ENOENT, fds);
}
END_TEST

/*
 * A recorded file that is not at its path, or of which another build is there: found by its build id, with the place of
 * its debug file.
 */
#define FILE_NAME "usr/lib/debug/.build-id/0f/ab0102030405060708090a0b0c0d0e0f1011f2"
#define USER_FILE "user/.build-id/0f/ab0102030405060708090a0b0c0d0e0f1011f2"

#define CACHE_FILE "cache/.build-id/0f/ab0102030405060708090a0b0c0d0e0f1011f2"
#define SYMFS      "symfs/"

static const struct {
	const char *path, *name, *has; /* build ids of the file at its path (NULL: nothing), and at @name */
	const char *found;
	int rc;
} builds_elsewhere[] = {
	{ ID0, USER_FILE, ID, USER_FILE, 0 },
	{ NULL, USER_FILE, ID, USER_FILE, 0 },
	{ ID, USER_FILE, ID, HOST "x.so", 0 },
	{ ID0, USER_FILE "/elf", ID, USER_FILE "/elf", 0 },
	{ ID0, CACHE_FILE "/elf", ID, CACHE_FILE "/elf", 0 },
	{ ID0, CACHE_FILE, ID, CACHE_FILE, 0 },
	{ NULL, SYMFS FILE_NAME, ID, SYMFS FILE_NAME, 0 },
	{ ID0, CACHE_FILE "/elf", ID0, NULL, -ESTALE },
	{ ID, SYMFS "x.so", ID, SYMFS "x.so", 0 },
	{ ID, SYMFS "x.so", ID0, HOST "x.so", 0 },
	{ ID0, SYMFS "x.so", ID0, NULL, -ESTALE },
	{ NULL, SYMFS "x.so", ID0, NULL, -ESTALE },
	{ NULL, SYMFS "x.so", NULL, NULL, -ESTALE },
	{ NULL, SYMFS "x.so/x", ID, NULL, -ESTALE },
	{ ID0, HOST FILE_NAME, ID, HOST FILE_NAME, 0 },
	{ NULL, HOST FILE_NAME "/elf", ID, HOST FILE_NAME "/elf", 0 },
	{ ID0, USER_FILE, ID0, NULL, -ESTALE },
	{ NULL, USER_FILE, ID0, NULL, -ENOENT },
	{ ID0, USER_FILE "/elf", ID0, NULL, -ESTALE },
	{ ID0, USER_FILE ".debug", ID, NULL, -ESTALE },
	{ ID0, USER_FILE "/vdso", ID, NULL, -ESTALE },
	{ NULL, INSIDE FILE_NAME, ID, NULL, -ENOENT },
};

START_TEST(test_recorded_elsewhere)
{
	struct mapped_file file = { .path = "/x.so", .build_id = ID, .build_id_size = 20 };
	char folder[4096], cache[4096], symfs[4096];
	int fds = unit_open_fds();

	snprintf(folder, sizeof(folder), "%s/user", dir);
	snprintf(cache, sizeof(cache), "%s/cache", dir);
	snprintf(symfs, sizeof(symfs), "%s/symfs", dir);
	cfg.debug_dir = folder;
	cfg.perf_cache = cache;
	cfg.symfs = symfs;
	cfg.recorded = &origin;
	write_text(SYMFS "any");
	if (builds_elsewhere[_i].path)
		write_built(HOST "x.so", builds_elsewhere[_i].path, 20);
	write_built(builds_elsewhere[_i].name, builds_elsewhere[_i].has, 20);
	check_opened(mapped_file_open(&cfg, PID, &file), builds_elsewhere[_i].found, builds_elsewhere[_i].rc, fds);
	/* For a live mapping, no file is looked up by its build id. */
	cfg.recorded = NULL;
	cfg.perf_cache = cfg.symfs = NULL;
	file.ino = UINT64_MAX;
	check_opened(mapped_file_open(&cfg, PID, &file), NULL, builds_elsewhere[_i].path ? -ESTALE : -ENOENT, fds);
}
END_TEST

/* A recorded file without known build id, mapped from @path, with --symfs. @ino: is its inode that of @there? */
static const struct {
	const char *path, *there;
	enum inode ino;
	enum recorded_boot boot;
	const char *found;
	int rc;
} beneath[] = {
	{ "/x.so", SYMFS "x.so", INO_NONE, BOOT_UNKNOWN, SYMFS "x.so", 0 },
	{ "/x.so", SYMFS "x.so", INO_OTHER, BOOT_OTHER, SYMFS "x.so", 0 },
	{ "/x.so", HOST "x.so", INO_SAME, BOOT_UNKNOWN, HOST "x.so", 0 },
	{ "/x.so", HOST "x.so", INO_OTHER, BOOT_UNKNOWN, NULL, -ESTALE },
	{ "/x.so", HOST "x.so", INO_NONE, BOOT_SAME, NULL, -ENOENT },
	{ "/../outside/x.so", HOST "x.so", INO_NONE, BOOT_SAME, NULL, -ENOENT },
	{ "/out/x.so", HOST "x.so", INO_NONE, BOOT_SAME, NULL, -ENOENT }, /* a link that leads outside */
	{ "/out", HOST "x.so", INO_NONE, BOOT_SAME, NULL, -ESTALE },
};

START_TEST(test_symfs)
{
	struct mapped_file file = { .path = beneath[_i].path };
	int fds = unit_open_fds();
	char symfs[4096];

	snprintf(symfs, sizeof(symfs), "%s/symfs", dir);
	cfg.symfs = symfs;
	cfg.recorded = &origin;
	origin.boot = beneath[_i].boot;
	write_text(SYMFS "any");
	make_link("../outside", SYMFS "out");
	write_text(beneath[_i].there);
	if (beneath[_i].ino != INO_NONE)
		file.ino = unit_inode(dir, beneath[_i].there) + (beneath[_i].ino == INO_OTHER);
	check_opened(mapped_file_open(&cfg, PID, &file), beneath[_i].found, beneath[_i].rc, fds);
}
END_TEST

/* Other files in perf's cache: the debug file, the vDSO, and the kernel's names, which have no build id. */
START_TEST(test_perf_cache)
{
	const char *const debug = CACHE_FILE "/debug", *const vdso = CACHE_FILE "/vdso";
	int fds = unit_open_fds();
	struct build_id id, one;
	char cache[4096];

	snprintf(cache, sizeof(cache), "%s/cache", dir);
	cfg.perf_cache = cache;
	cfg.recorded = &origin;
	build_id_set(&id, ID, 20);
	build_id_set(&one, ID, 1);
	check_opened(mapped_file_open_debug(&cfg, &id), NULL, -ENOENT, fds);
	write_built(debug, ID, 20);
	write_built(vdso, ID, 20);
	write_text(CACHE_FILE "/kallsyms");
	write_text("cache/.build-id/0f/kallsyms");
	check_opened(mapped_file_open_debug(&cfg, &id), debug, 0, fds);
	check_opened(mapped_file_open_vdso(&cfg, &id), vdso, 0, fds);
	check_opened(mapped_file_open_kallsyms(&cfg, &id), CACHE_FILE "/kallsyms", 0, fds);
	check_opened(mapped_file_open_kallsyms(&cfg, &one), NULL, -ENOENT, fds);
	write_built(debug, ID0, 20);
	write_built(vdso, ID0, 20);
	check_opened(mapped_file_open_debug(&cfg, &id), NULL, -ENOENT, fds);
	check_opened(mapped_file_open_vdso(&cfg, &id), NULL, -ENOENT, fds);
	cfg.perf_cache = NULL;
	check_opened(mapped_file_open_kallsyms(&cfg, &id), NULL, -ENOENT, fds);
	cfg.debug_dir = cache;
	check_opened(mapped_file_open_kallsyms(&cfg, &id), CACHE_FILE "/kallsyms", 0, fds);
}
END_TEST

/* The owner and permissions of the directory: @owner, @mode (0: there is none). */
static const struct {
	uid_t owner;
	mode_t mode;
	bool found;
} caches[] = { { 0, 0755, true }, { 0, 0700, true }, { 0, 0777, false }, { 1234, 0755, false }, { 0, 0, false } };

START_TEST(test_cache_of)
{
	char path[4096], *found;

	if (getuid())
		return;
	snprintf(path, sizeof(path), "%s/.debug", dir);
	if (caches[_i].mode) {
		ck_assert_int_eq(mkdir(path, 0700), 0);
		ck_assert_int_eq(chmod(path, caches[_i].mode), 0);
		ck_assert_int_eq(chown(path, caches[_i].owner, 0), 0);
	}
	found = perf_cache_find(dir);
	ck_assert_int_eq(found != NULL, caches[_i].found);
	if (found)
		ck_assert_str_eq(found, path);
	free(found);
	ck_assert_ptr_null(perf_cache_find(NULL));
	ck_assert_ptr_null(perf_cache_find(""));
	ck_assert_ptr_null(perf_cache_find("."));
}
END_TEST

/* A symlink to @link with the name of a debug file, and the file that is opened by it. */
static const struct {
	const char *link, *opened;
} debug_others[] = {
	{ "../../x.debug", HOST "usr/lib/debug/x.debug" },
	{ "again", HOST "usr/lib/debug/x.debug" },
	{ "../../other.debug", NULL },
	{ "../../text", NULL },
	{ "../../none", NULL },
	{ "../../fifo", NULL },
	{ "../..", NULL },
	{ "ab0102030405060708090a0b0c0d0e0f1011f2.debug", NULL }, /* a link to itself */
};

START_TEST(test_debug_link)
{
	int fds = unit_open_fds();
	struct build_id id;

	write_built(HOST "usr/lib/debug/x.debug", ID, 20);
	write_built(HOST "usr/lib/debug/other.debug", ID0, 20);
	write_text(HOST "usr/lib/debug/text");
	make_fifo(HOST "usr/lib/debug/fifo");
	write_text(DEBUG "0f/any");
	make_link("../../x.debug", DEBUG "0f/again");
	make_link(debug_others[_i].link, ID_NAME);
	build_id_set(&id, ID, 20);
	check_opened(mapped_file_open_debug(&cfg, &id), debug_others[_i].opened, -ENOENT, fds);
}
END_TEST

START_TEST(test_debug_kind)
{
	int fds = unit_open_fds();
	struct build_id id;

	build_id_set(&id, ID, 20);
	check_opened(mapped_file_open_debug(&cfg, &id), NULL, -ENOENT, fds);
	write_text(DEBUG "0f/any");
	check_opened(mapped_file_open_debug(&cfg, &id), NULL, -ENOENT, fds);
	if (_i == 0)
		make_fifo(ID_NAME);
	else
		write_text(_i == 1 ? ID_NAME : ID_NAME "/x");
	check_opened(mapped_file_open_debug(&cfg, &id), NULL, -ENOENT, fds);
}
END_TEST

/* A worker, which may return a copy, finds the same. */
static struct open_files *begin_worker(int *fds)
{
	const struct mapped_file none = { .path = "/none" };
	struct open_files *of = open_files_new(&host, root, 60000);

	ck_assert_ptr_nonnull(of);
	cfg.open_files = of;
	ck_assert_int_eq(mapped_file_open(&cfg, PID, &none), -ENOENT);
	*fds = unit_open_fds();
	return of;
}

START_TEST(test_live_by_worker)
{
	struct mapped_file file = { .path = live[_i].path };
	struct open_files *of;
	char text[256] = "";
	int fds, fd;

	of = begin_worker(&fds);
	if (live[_i].of)
		file.ino = *live[_i].of ? unit_inode(dir, live[_i].of) : UINT64_MAX;
	fd = mapped_file_open(&cfg, PID, &file);
	if (live[_i].opened) {
		ck_assert_int_gt(pread(fd, text, sizeof(text) - 1, 0), 0);
		ck_assert_str_eq(text, live[_i].opened);
		close(fd);
	} else {
		ck_assert_int_eq(fd, live[_i].rc);
	}
	ck_assert_int_eq(unit_open_fds(), fds);
	open_files_free(of);
}
END_TEST

START_TEST(test_debug_by_worker)
{
	struct open_files *of;
	struct build_id id;
	int fds, fd;

	of = begin_worker(&fds);
	write_built(debugs[_i].name, debugs[_i].has, debugs[_i].size);
	build_id_set(&id, debugs[_i].id, debugs[_i].size);
	fd = mapped_file_open_debug(&cfg, &id);
	ck_assert_int_eq(fd < 0 ? fd : 0, debugs[_i].found ? 0 : -ENOENT);
	if (fd >= 0)
		close(fd);
	ck_assert_int_eq(unit_open_fds(), fds);
	open_files_free(of);
}
END_TEST

/* A process's own file with the result of stat(2), whether opened here or by the worker. */
START_TEST(test_process_file)
{
	struct open_files *of = NULL;
	int fds = 0, fd;
	struct stat st;

	if (_i)
		of = begin_worker(&fds);
	fd = process_file_open(&cfg, PID, "lib/both.so", &st);
	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_uint_eq(st.st_ino, unit_inode(dir, INSIDE "lib/both.so"));
	fd = process_file_open(&cfg, 0, "lib/both.so", &st);
	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_uint_eq(st.st_ino, unit_inode(dir, HOST "lib/both.so"));
	ck_assert_int_eq(process_file_open(&cfg, PID, "lib/host.so", &st), -ENOENT); /* not its own file */
	ck_assert_int_eq(process_file_open(&cfg, PID + 1, "lib/both.so", &st), -ENOENT);
	ck_assert_int_eq(process_file_open(&cfg, PID, "own-link.so", &st), -ESTALE);
	ck_assert_int_eq(process_file_open(&cfg, PID, "fifo", &st), -ESTALE);
	ck_assert_int_eq(process_file_open(&cfg, PID, "../root/lib/own.so", &st), -ENOENT);
	open_files_free(of);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mapped_files");
	TCase *tc = tcase_create("mapped_files");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, test_live, 0, ARRAY_SIZE(live));
	tcase_add_test(tc, test_no_process);
	tcase_add_test(tc, test_root);
	tcase_add_test(tc, test_long_names);
	tcase_add_test(tc, test_few_descriptors);
	tcase_add_loop_test(tc, test_recorded, 0, ARRAY_SIZE(recorded));
	tcase_add_loop_test(tc, test_recorded_other, 0, ARRAY_SIZE(recorded_others));
	tcase_add_test(tc, test_build);
	tcase_add_loop_test(tc, test_has_path, 0, ARRAY_SIZE(paths));
	tcase_add_loop_test(tc, test_debug, 0, ARRAY_SIZE(debugs));
	tcase_add_loop_test(tc, test_debug_user, 0, ARRAY_SIZE(user_debugs));
	tcase_add_loop_test(tc, test_recorded_elsewhere, 0, ARRAY_SIZE(builds_elsewhere));
	tcase_add_loop_test(tc, test_symfs, 0, ARRAY_SIZE(beneath));
	tcase_add_test(tc, test_perf_cache);
	tcase_add_loop_test(tc, test_cache_of, 0, ARRAY_SIZE(caches));
	tcase_add_loop_test(tc, test_debug_link, 0, ARRAY_SIZE(debug_others));
	tcase_add_loop_test(tc, test_debug_kind, 0, 3);
	tcase_add_loop_test(tc, test_live_by_worker, 0, ARRAY_SIZE(live));
	tcase_add_loop_test(tc, test_debug_by_worker, 0, ARRAY_SIZE(debugs));
	tcase_add_loop_test(tc, test_process_file, 0, 2);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
