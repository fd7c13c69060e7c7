// SPDX-License-Identifier: Apache-2.0
#include "core/base/grow.h"
#include "core/files/file_search.h"
#include "tests/unit/elf_image.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#define FIRST     101
#define SECOND    102
#define START     0x1000
#define END       0x2000
#define FILE_NAME "lib/x.so"

static char *dir, *proc, *root;

/* While the caller's own rights are used, directory @closed has another name, as if the caller could not enter it. */
static const char *closed;
static unsigned int entered; /* calls of privileges_as_caller() without privileges_back() */
static bool lent;
static struct search_places places;

/* The places of a file, in the order of the search. */
enum { MAPPED, IN_FIRST, IN_SECOND, ON_HOST, PLACES };

static const char *const names[PLACES] = {
	"mapped/x.so",
	"proc/101/root/" FILE_NAME,
	"proc/102/root/" FILE_NAME,
	"host/" FILE_NAME,
};

static char *below(const char *name)
{
	static char path[4096];

	ck_assert_int_lt(snprintf(path, sizeof(path), "%s/%s", dir, name), (int)sizeof(path));
	return path;
}

static void rename_closed(bool closes)
{
	char name[4096], other[4096 + 8];

	if (!closed)
		return;
	snprintf(name, sizeof(name), "%s/%s", dir, closed);
	snprintf(other, sizeof(other), "%s.closed", name);
	ck_assert_int_eq(rename(closes ? name : other, closes ? other : name), 0);
}

uint64_t __wrap_privileges_as_caller(void);
void __wrap_privileges_back(uint64_t effective);
bool __wrap_privileges_lent(void);

uint64_t __wrap_privileges_as_caller(void)
{
	if (!entered++)
		rename_closed(true);
	return entered;
}

void __wrap_privileges_back(uint64_t effective)
{
	ck_assert_uint_eq(effective, entered);
	if (!--entered)
		rename_closed(false);
}

bool __wrap_privileges_lent(void)
{
	return lent;
}

static void setup(void)
{
	static const char *const dirs[] = { "proc/101/map_files/x", "proc/101/root/any",
					    "proc/102/root/any",    "host/any",
					    "aside/x.so",           "mapped/any" };
	size_t i;

	closed = NULL;
	entered = 0;
	lent = false;
	dir = unit_tmpdir();
	ck_assert_int_ge(asprintf(&proc, "%s/proc", dir), 0);
	ck_assert_int_ge(asprintf(&root, "%s/host", dir), 0);
	places = (struct search_places){ proc, root };
	for (i = 0; i < ARRAY_SIZE(dirs); i++)
		unit_write(dir, dirs[i], "x", 1);
}

static void teardown(void)
{
	free(proc);
	free(root);
	unit_rmdir(dir);
}

static void link_mapped(const char *to)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, to);
	ck_assert_int_eq(symlink(path, below("proc/101/map_files/1000-2000")), 0);
}

/* Write an ELF file with build id @id, unless that is empty. */
static void write_built(const char *name, const char *id)
{
	unsigned char bytes[128];
	struct image_notes notes = { bytes, 0, true, true, 4 };
	size_t len = strlen(id);
	struct image im;

	if (len)
		notes.len = image_note(bytes, ELFDATA2LSB, 4, NT_GNU_BUILD_ID, "GNU", 4, id, (uint32_t)len);
	image_build_with(&im, ELFCLASS64, ELFDATA2LSB, NULL, 0, NULL, 0, len ? &notes : NULL);
	unit_write(dir, name, im.bytes, im.len);
	image_release(&im);
}

/*
 * The contents of a place: '-' nothing, 'x' a file, 'f' a FIFO, 'd' a directory, 'l' a symlink to a file, 'L' a file
 * whose directory is a symlink. ELF files: 'a' with build id "abc", 'b' with another, 'n' with none.
 */
static void make(const char *name, char what)
{
	char parent[256];

	if (what == 'L') {
		snprintf(parent, sizeof(parent), "%s", name);
		*strrchr(parent, '/') = 0;
		ck_assert_int_eq(symlink("../../../aside", below(parent)), 0);
		return;
	}
	if (what == '-')
		return;
	unit_write(dir, name, name, strlen(name));
	if (what == 'x')
		return;
	ck_assert_int_eq(unlink(below(name)), 0);
	if (what == 'f')
		ck_assert_int_eq(mkfifo(below(name), 0666), 0);
	if (what == 'd')
		ck_assert_int_eq(mkdir(below(name), 0777), 0);
	if (what == 'l')
		ck_assert_int_eq(symlink("../any", below(name)), 0);
	if (what == 'a' || what == 'b' || what == 'n')
		write_built(name, what == 'a' ? "abc" : what == 'b' ? "xyz" : "");
}

/* Check that @f has the file called @name, at its beginning. */
static void check_found(struct found_file *f, const char *name)
{
	struct stat st;
	char byte;

	ck_assert_int_ge(f->fd, 0);
	ck_assert_int_eq(fstat(f->fd, &st), 0);
	ck_assert_uint_eq(st.st_ino, unit_inode(dir, name));
	ck_assert(st.st_ino == f->st.st_ino && st.st_dev == f->st.st_dev && st.st_size == f->st.st_size);
	ck_assert_int_eq(fcntl(f->fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	ck_assert_int_eq(fcntl(f->fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	ck_assert_int_eq(read(f->fd, &byte, 1), 1);
	close(f->fd);
}

static void check_search(const struct file_search *what, const char *name, int rc)
{
	struct found_file found = { .fd = 99 };
	int fds = unit_open_fds();

	ck_assert_int_eq(file_search(&places, what, &found), rc);
	if (!rc)
		check_found(&found, name);
	else
		ck_assert_int_eq(found.fd, -1);
	ck_assert_int_eq(unit_open_fds(), fds);
}

/*
 * The contents of each place; the place whose inode the mapping has, '?' another inode, '-' unknown; the place where it
 * is found, or -1 and the failure.
 */
static const struct {
	const char *there;
	int ino, found, rc;
} orders[] = {
	{ "xxxx", '-', MAPPED, 0 },
	{ "-xxx", '-', IN_FIRST, 0 },
	{ "--xx", '-', IN_SECOND, 0 },
	{ "---x", '-', ON_HOST, 0 },
	{ "fxxx", '-', IN_FIRST, 0 },
	{ "dfdx", '-', ON_HOST, 0 },
	{ "-llx", '-', ON_HOST, 0 },
	{ "-LLx", '-', ON_HOST, 0 },
	{ "xfff", '-', MAPPED, 0 },
	{ "-dx-", '-', IN_SECOND, 0 },
	{ "xxxx", MAPPED, MAPPED, 0 },
	{ "xxxx", IN_FIRST, IN_FIRST, 0 },
	{ "xxxx", IN_SECOND, IN_SECOND, 0 },
	{ "xxxx", ON_HOST, ON_HOST, 0 },
	{ "-x-x", ON_HOST, ON_HOST, 0 },
	{ "fdlx", ON_HOST, ON_HOST, 0 },
	/* none */
	{ "----", '-', -1, -ENOENT },
	{ "----", '?', -1, -ENOENT },
	{ "-L--", '-', -1, -ENOENT },
	{ "-LLL", '?', -1, -ENOENT },
	/* Another file at any place is remembered. */
	{ "x---", '?', -1, -ESTALE },
	{ "-x--", '?', -1, -ESTALE },
	{ "--x-", '?', -1, -ESTALE },
	{ "---x", '?', -1, -ESTALE },
	{ "xxxx", '?', -1, -ESTALE },
	{ "f---", '-', -1, -ESTALE },
	{ "d---", '-', -1, -ESTALE },
	{ "-f--", '-', -1, -ESTALE },
	{ "--d-", '-', -1, -ESTALE },
	{ "---l", '-', -1, -ESTALE },
	{ "-lL-", '-', -1, -ESTALE },
	{ "fdlf", '-', -1, -ESTALE },
	{ "ffff", MAPPED, -1, -ESTALE },
	{ "-f--", IN_FIRST, -1, -ESTALE },
	{ "-d--", IN_FIRST, -1, -ESTALE },
	{ "-l--", IN_FIRST, -1, -ESTALE },
};

static void make_all(const char *there)
{
	int i;

	for (i = 0; i < PLACES; i++)
		make(names[i], there[i]);
	if (there[MAPPED] != '-')
		link_mapped(names[MAPPED]);
}

START_TEST(test_order)
{
	struct file_search what = { START, END, { FIRST, SECOND }, .host = true, .path = "/" FILE_NAME };

	make_all(orders[_i].there);
	if (orders[_i].ino != '-')
		what.ino = orders[_i].ino == '?' ? UINT64_MAX : unit_inode(dir, names[orders[_i].ino]);
	check_search(&what, orders[_i].rc ? NULL : names[orders[_i].found], orders[_i].rc);
}
END_TEST

/* All places have the file; only some are searched. */
static const struct {
	uint64_t start, end;
	pid_t pids[SEARCH_PIDS_MAX];
	bool host;
	const char *path;
	int found, rc;
} asked[] = {
	{ START, END, { FIRST }, false, "", MAPPED, 0 },
	{ START, END, { FIRST }, true, "/none", MAPPED, 0 },
	{ 0, 0, { FIRST, SECOND }, true, "/" FILE_NAME, IN_FIRST, 0 },
	{ END, START, { FIRST }, false, "/" FILE_NAME, IN_FIRST, 0 },
	{ START, START, { FIRST }, false, "/" FILE_NAME, IN_FIRST, 0 },
	{ START, END + 1, { FIRST }, false, "/" FILE_NAME, IN_FIRST, 0 },
	{ START + 1, END, { FIRST }, false, FILE_NAME, IN_FIRST, 0 },
	{ START, END, { SECOND, FIRST }, true, "/" FILE_NAME, IN_SECOND, 0 },
	{ START, END, { 7, 8, 9, 10, 11, 12, 13, SECOND }, true, "/" FILE_NAME, IN_SECOND, 0 },
	{ START, END, { 7, 8, 9, 10, 11, 12, 13, 14 }, true, "/" FILE_NAME, ON_HOST, 0 },
	{ START, END, { 0, FIRST }, true, "/" FILE_NAME, ON_HOST, 0 },
	{ 0, 0, { 0 }, true, "lib//./x.so", ON_HOST, 0 },
	/* none */
	{ START, END, { 0, FIRST }, false, "/" FILE_NAME, -1, -ENOENT },
	{ START, END, { 7, 0, FIRST }, false, "/" FILE_NAME, -1, -ENOENT },
	{ 0, 0, { FIRST }, true, "", -1, -ENOENT },
	{ START, END, { SECOND }, true, "", -1, -ENOENT },
	{ START, END, { -1 }, false, "/" FILE_NAME, -1, -ENOENT },
	{ 0, 0, { FIRST }, true, "/", -1, -ENOENT },
	{ 0, 0, { FIRST }, true, "..", -1, -ENOENT },
	{ 0, 0, { FIRST }, true, "/../root/" FILE_NAME, -1, -ENOENT },
	{ 0, 0, { FIRST }, true, "/lib/../" FILE_NAME, -1, -ENOENT },
	{ 0, 0, { FIRST }, true, "/../../../aside/x.so", -1, -ENOENT },
	{ 0, 0, { FIRST }, true, "/" FILE_NAME "/", -1, -ENOENT },
	{ 0, 0, { FIRST }, true, "/" FILE_NAME "/.", -1, -ENOENT },
	{ 0, 0, { FIRST }, true, "/any/" FILE_NAME, -1, -ENOENT },
	/* the path is not a file */
	{ 0, 0, { FIRST }, true, "/lib", -1, -ESTALE },
	{ 0, 0, { FIRST }, true, ".", -1, -ESTALE },
};

START_TEST(test_asked)
{
	struct file_search what = { asked[_i].start, asked[_i].end, .host = asked[_i].host, .path = asked[_i].path };

	memcpy(what.pids, asked[_i].pids, sizeof(what.pids));
	make_all("xxxx");
	check_search(&what, asked[_i].rc ? NULL : names[asked[_i].found], asked[_i].rc);
}
END_TEST

/*
 * With @as_caller, files are opened with the caller's own rights, and so is the root of the host; the roots of
 * processes, and the file of the mapping, are opened with ours.
 */
static const struct {
	const char *there, *closed;
	bool as_caller;
	int found, rc;
} callers[] = {
	{ "---x", "host", false, ON_HOST, 0 },
	{ "---x", "host", true, -1, -ENOENT },
	{ "---x", "host/lib", true, -1, -ENOENT },
	{ "---x", "proc/101/root", true, ON_HOST, 0 },
	{ "-x--", "proc/101/root", true, IN_FIRST, 0 },
	{ "-x--", "proc/101/root/lib", true, -1, -ENOENT },
	{ "-x--", "proc/101/root/lib", false, IN_FIRST, 0 },
	{ "x---", "mapped", true, MAPPED, 0 },
};

START_TEST(test_as_caller)
{
	struct file_search what = {
		START, END, { FIRST }, .host = true, .path = "/" FILE_NAME, .as_caller = callers[_i].as_caller
	};

	make_all(callers[_i].there);
	closed = callers[_i].closed;
	check_search(&what, callers[_i].rc ? NULL : names[callers[_i].found], callers[_i].rc);
	ck_assert_uint_eq(entered, 0);
}
END_TEST

/* With lent rights, a file on another device than the mapping's is opened again with the caller's own. */
static const struct {
	bool lent, same;
	int rc;
} elsewhere[] = {
	{ true, false, -ENOENT },
	{ true, true, 0 },
	{ false, false, 0 },
};

START_TEST(test_elsewhere)
{
	struct file_search what = { 0, 0, { FIRST }, .path = "/" FILE_NAME };
	struct stat st;

	make_all("-x--");
	ck_assert_int_eq(stat(below(names[IN_FIRST]), &st), 0);
	what.dev = st.st_dev + !elsewhere[_i].same;
	closed = "proc/101/root/lib";
	lent = elsewhere[_i].lent;
	check_search(&what, elsewhere[_i].rc ? NULL : names[IN_FIRST], elsewhere[_i].rc);
}
END_TEST

/*
 * A file is opened if it is on the device of the mapping, or if all users may read it. A file found through the mapping
 * itself is not checked.
 */
static const struct {
	mode_t mode;
	bool mapped, same, by_build;
	int rc;
} devices[] = {
	{ 0644, false, true, false, 0 },        { 0600, false, true, false, 0 },
	{ 0644, false, false, false, 0 },       { 0604, false, false, false, 0 },
	{ 0600, true, false, false, 0 },        { 0600, false, false, true, 0 },
	{ 0600, false, false, false, -ESTALE }, { 0640, false, false, false, -ESTALE },
	{ 0711, false, false, false, -ESTALE }, { 0733, false, false, false, -ESTALE },
};

START_TEST(test_device)
{
	int place = devices[_i].mapped ? MAPPED : IN_FIRST;
	struct file_search what = { 0, devices[_i].mapped ? END : 0, { FIRST }, .path = "/" FILE_NAME };
	struct stat st;

	make_all(devices[_i].mapped ? "a---" : "-a--");
	ck_assert_int_eq(chmod(below(names[place]), devices[_i].mode), 0);
	ck_assert_int_eq(stat(below(names[place]), &st), 0);
	what.start = devices[_i].mapped ? START : 0;
	what.ino = st.st_ino;
	what.dev = devices[_i].same ? st.st_dev : st.st_dev + 1;
	what.by_build = devices[_i].by_build && build_id_set(&what.id, "abc", 3);
	check_search(&what, devices[_i].rc ? NULL : names[place], devices[_i].rc);
	what.dev = 0;
	check_search(&what, names[place], 0);
}
END_TEST

/* A file of build "abc": the contents of the places, and where it is found. */
static const struct {
	const char *there;
	int found, rc;
} builds[] = {
	{ "aaaa", MAPPED, 0 },   { "baaa", IN_FIRST, 0 }, { "-bab", IN_SECOND, 0 }, { "xfna", ON_HOST, 0 },
	{ "nxda", ON_HOST, 0 },  { "-L-a", ON_HOST, 0 },  { "----", -1, -ENOENT },  { "b---", -1, -ESTALE },
	{ "-b--", -1, -ESTALE }, { "--n-", -1, -ESTALE }, { "---x", -1, -ESTALE },  { "-f--", -1, -ESTALE },
	{ "bnxb", -1, -ESTALE }, { "-d-l", -1, -ESTALE }, { "-LLL", -1, -ENOENT },
};

START_TEST(test_build)
{
	struct file_search what = {
		START, END, { FIRST, SECOND }, .host = true, .path = "/" FILE_NAME, .by_build = true, .ino = UINT64_MAX
	};

	make_all(builds[_i].there);
	build_id_set(&what.id, "abc", 3);
	check_search(&what, builds[_i].rc ? NULL : names[builds[_i].found], builds[_i].rc);
	/* An unknown build id does not match files without build id. */
	what.id = (struct build_id){ 0 };
	check_search(&what, NULL, builds[_i].rc == -ENOENT ? -ENOENT : -ESTALE);
}
END_TEST

/* A path that is too long does not exist, and is not truncated to one that does. */
START_TEST(test_long_places)
{
	const struct file_search what = { START, END, { FIRST }, .host = true, .path = FILE_NAME };
	char slashes[8192] = "";

	make_all("xxxx");
	memset(slashes, '/', sizeof(slashes) - 1);
	memcpy(slashes, proc, strlen(proc));
	places.proc = slashes;
	check_search(&what, names[ON_HOST], 0);
	places.root = slashes;
	check_search(&what, NULL, -ENOENT);
}
END_TEST

/* With more and more descriptors left: no file until there are enough. Never another failure, never a leak. */
START_TEST(test_few_descriptors)
{
	struct file_search what = { START, END, { FIRST }, .path = "/" FILE_NAME };
	int fds, left, rc = -1;
	struct found_file found;
	rlim_t before;

	make_all(_i ? "aaaa" : "-xxx");
	what.by_build = _i;
	build_id_set(&what.id, "abc", 3);
	fds = unit_open_fds();
	for (left = 0; left < 8 && rc; left++) {
		before = unit_leave_files((unsigned int)left);
		rc = file_search(&places, &what, &found);
		unit_limit_files(before);
		if (rc) {
			ck_assert_int_eq(rc, -EMFILE);
			ck_assert_int_eq(found.fd, -1);
			ck_assert_int_eq(unit_open_fds(), fds);
		}
	}
	ck_assert_int_eq(rc, 0);
	ck_assert_int_gt(left, 1);
	check_found(&found, names[_i ? MAPPED : IN_FIRST]);
	ck_assert_int_eq(unit_open_fds(), fds);
}
END_TEST

/* ---- local or not */

static bool find_local(const struct search_places *where, pid_t pid, const char *path)
{
	const struct file_search what = { .pids = { pid }, .host = !pid, .path = path };
	struct found_file found;

	ck_assert_int_eq(file_search(where, &what, &found), 0);
	close(found.fd);
	return found.local;
}

START_TEST(test_local)
{
	const struct search_places here = { "/proc", "/" };
	char path[] = "/dev/shm/fleetprof-unit-XXXXXX";
	struct statfs fs;
	int fd;

	ck_assert(!find_local(&here, 0, "/proc/version"));
	ck_assert(!find_local(&here, getpid(), "/proc/version"));
	fd = statfs("/dev/shm", &fs) || fs.f_type != TMPFS_MAGIC ? -1 : mkstemp(path);
	if (fd < 0)
		return;
	ck_assert(find_local(&here, 0, path));
	ck_assert(find_local(&here, getpid(), path));
	unlink(path);
	close(fd);
}
END_TEST

/* @user: the user namespace of the process; NULL: ours; "": unknown */
static void check_overlay(const char *user, bool local)
{
	const char *name = below("proc/101/ns/user");
	char ours[64] = "";

	unlink(name);
	ck_assert_int_gt(readlink("/proc/self/ns/user", ours, sizeof(ours) - 1), 0);
	if (!user || *user)
		ck_assert_int_eq(symlink(user ? user : ours, name), 0);
	ck_assert_int_eq(find_local(&places, FIRST, FILE_NAME), local);
}

/* Overlay mounts that users can make on any directory belong to them, unless the process is ours. */
START_TEST(test_overlay)
{
	char options[8192];

	unit_write(dir, "lower/" FILE_NAME, "x", 1);
	unit_write(dir, "proc/101/ns/any", "x", 1);
	snprintf(options, sizeof(options), "lowerdir=%s/lower:%s/aside", dir, dir);
	if (unshare(CLONE_NEWNS) || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) ||
	    mount("overlay", below("proc/101/root"), "overlay", MS_RDONLY, options)) {
		printf("# overlay is not tested: it cannot be mounted here (%s)\n", strerror(errno));
		return;
	}
	check_overlay(NULL, true);
	check_overlay("user:[1]", false);
	check_overlay("", false);
	ck_assert_int_eq(mount(below("proc/101/root"), root, "none", MS_BIND, NULL), 0);
	ck_assert(find_local(&places, 0, FILE_NAME));
	ck_assert_int_eq(umount2(root, MNT_DETACH), 0);
	ck_assert_int_eq(umount2(below("proc/101/root"), MNT_DETACH), 0);
}
END_TEST

/*
 * One of our processes may map a file that another process with its own user namespace has passed to it. The file
 * belongs to our process only if its own root has it, too.
 */
START_TEST(test_overlay_mapped)
{
	struct file_search what = { START, END, { FIRST }, .path = "/" FILE_NAME };
	char options[8192], ours[64] = "";
	struct found_file found;
	int i;

	unit_write(dir, "lower/" FILE_NAME, "x", 1);
	unit_write(dir, "proc/101/ns/any", "x", 1);
	link_mapped("mapped/" FILE_NAME);
	snprintf(options, sizeof(options), "lowerdir=%s/lower:%s/aside", dir, dir);
	if (unshare(CLONE_NEWNS) || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) ||
	    mount("overlay", below("mapped"), "overlay", MS_RDONLY, options)) {
		printf("# overlay is not tested: it cannot be mounted here (%s)\n", strerror(errno));
		return;
	}
	ck_assert_int_gt(readlink("/proc/self/ns/user", ours, sizeof(ours) - 1), 0);
	ck_assert_int_eq(symlink(ours, below("proc/101/ns/user")), 0);
	for (i = 0; i < 4; i++) {
		if (i == 1) /* another file at the path */
			unit_write(dir, "proc/101/root/" FILE_NAME, "x", 1);
		if (i == 2)
			ck_assert_int_eq(mount(dir, below("proc/101/root"), "none", MS_BIND | MS_REC, NULL), 0);
		what.path = i == 2 ? "/mapped/lib/gone" : i == 3 ? "/mapped/" FILE_NAME : "/" FILE_NAME;
		ck_assert_int_eq(file_search(&places, &what, &found), 0);
		ck_assert_int_eq(found.local, i == 3);
		close(found.fd);
	}
	ck_assert_int_eq(umount2(below("proc/101/root"), MNT_DETACH), 0);
	ck_assert_int_eq(umount2(below("mapped"), MNT_DETACH), 0);
}
END_TEST

/* ---- by our own path */

static const struct {
	const char *path; /* below the directory "debug" */
	int rc;
} opens[] = {
	{ "abc", 0 },          { "link", 0 },           { "again", 0 },      { "./abc", 0 },
	{ "../debug/abc", 0 }, { "xyz", -ESTALE },      { "none", -ESTALE }, { "text", -ESTALE },
	{ "fifo", -ESTALE },   { "to-fifo", -ESTALE },  { "", -ESTALE },     { ".", -ESTALE },
	{ "absent", -ENOENT }, { "dangling", -ENOENT }, { "loop", -ENOENT }, { "abc/", -ENOENT },
	{ "abc/x", -ENOENT },  { "fifo/x", -ENOENT },
};

START_TEST(test_open_build)
{
	struct found_file found = { .fd = 99 };
	char name[256];
	struct build_id id;
	int fds;

	write_built("debug/abc", "abc");
	write_built("debug/xyz", "xyz");
	write_built("debug/none", "");
	unit_write(dir, "debug/text", "text", 4);
	ck_assert_int_eq(mkfifo(below("debug/fifo"), 0666), 0);
	ck_assert_int_eq(symlink("abc", below("debug/link")), 0);
	ck_assert_int_eq(symlink("link", below("debug/again")), 0);
	ck_assert_int_eq(symlink("fifo", below("debug/to-fifo")), 0);
	ck_assert_int_eq(symlink("nowhere", below("debug/dangling")), 0);
	ck_assert_int_eq(symlink("loop", below("debug/loop")), 0);
	fds = unit_open_fds();
	snprintf(name, sizeof(name), "debug/%s", opens[_i].path);
	build_id_set(&id, "abc", 3);
	ck_assert_int_eq(file_open_build(below(name), &id, &found), opens[_i].rc);
	if (!opens[_i].rc)
		check_found(&found, "debug/abc");
	else
		ck_assert_int_eq(found.fd, -1);
	id = (struct build_id){ 0 };
	ck_assert_int_eq(file_open_build(below(name), &id, &found), opens[_i].rc ? opens[_i].rc : -ESTALE);
	ck_assert_int_eq(unit_open_fds(), fds);
}
END_TEST

/* ---- copies */

#define MANY (512u << 10)

/* A file of @len bytes, and how much of it may be copied. */
static const struct {
	size_t len;
	uint64_t max;
	int rc;
} sizes[] = {
	{ 0, 0, 0 },
	{ 0, 1, 0 },
	{ 1, 1, 0 },
	{ 1, UINT64_MAX, 0 },
	{ MANY / 2, MANY, 0 }, /* as much as one read */
	{ MANY / 2 + 1, MANY, 0 },
	{ MANY - 1, MANY, 0 },
	{ MANY, MANY, 0 },
	{ MANY + 1, MANY, -EFBIG },
	{ 1, 0, -EFBIG },
	{ 2, 1, -EFBIG },
	{ MANY, MANY / 2, -EFBIG },
};

START_TEST(test_copy)
{
	char *bytes = malloc(MANY + 1), *copied = malloc(MANY + 2);
	int fds, fd, copy;
	size_t i;

	for (i = 0; i <= MANY; i++)
		bytes[i] = (char)(i * 7 + i / 251);
	unit_write(dir, "from", bytes, sizes[_i].len);
	fds = unit_open_fds();
	fd = open(below("from"), O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(lseek(fd, (off_t)sizes[_i].len / 2, SEEK_SET), (off_t)sizes[_i].len / 2);
	copy = file_copy(fd, sizes[_i].max);
	ck_assert_int_eq(lseek(fd, 0, SEEK_CUR), (off_t)sizes[_i].len / 2);
	close(fd);
	if (sizes[_i].rc) {
		ck_assert_int_eq(copy, sizes[_i].rc);
	} else {
		ck_assert_int_ge(copy, 0);
		ck_assert_int_eq(fcntl(copy, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
		ck_assert_int_eq(pread(copy, copied, MANY + 2, 0), (ssize_t)sizes[_i].len);
		ck_assert(!memcmp(copied, bytes, sizes[_i].len));
		close(copy);
	}
	ck_assert_int_eq(unit_open_fds(), fds);
	free(bytes);
	free(copied);
}
END_TEST

/* Files without bytes to copy. */
static const struct {
	const char *path;
	int flags, rc;
} uncopied[] = {
	{ "aside", O_RDONLY | O_DIRECTORY, -EIO }, { "aside/x.so", O_WRONLY, -EIO }, { "aside/x.so", O_PATH, -EIO },
	{ "fifo", O_RDONLY | O_NONBLOCK, -EIO },   { "huge", O_RDONLY, -EFBIG },
};

START_TEST(test_uncopied)
{
	int fds, fd;

	unit_write(dir, "huge", "x", 1);
	ck_assert_int_eq(truncate(below("huge"), 1ll << 40), 0);
	ck_assert_int_eq(mkfifo(below("fifo"), 0666), 0);
	fds = unit_open_fds();
	fd = open(below(uncopied[_i].path), uncopied[_i].flags | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(file_copy(fd, 1 << 20), uncopied[_i].rc);
	close(fd);
	ck_assert_int_eq(file_copy(fd, 1 << 20), -EBADF);
	ck_assert_int_eq(file_copy(-1, 1 << 20), -EBADF);
	ck_assert_int_eq(unit_open_fds(), fds);
}
END_TEST

/* A file with size 0, as in /proc, is read all the same, up to its end. */
START_TEST(test_copy_unsized)
{
	int fds = unit_open_fds(), fd = open("/proc/version", O_RDONLY | O_CLOEXEC), copy;
	char want[1024], got[1024];
	ssize_t len;

	ck_assert_int_ge(fd, 0);
	len = pread(fd, want, sizeof(want), 0);
	ck_assert_int_gt(len, 1);
	copy = file_copy(fd, (uint64_t)len);
	ck_assert_int_ge(copy, 0);
	ck_assert_int_eq(pread(copy, got, sizeof(got), 0), len);
	ck_assert_mem_eq(want, got, (size_t)len);
	close(copy);
	ck_assert_int_eq(file_copy(fd, (uint64_t)len - 1), -EFBIG);
	close(fd);
	ck_assert_int_eq(unit_open_fds(), fds);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("file_search");
	TCase *tc = tcase_create("file_search");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, test_order, 0, ARRAY_SIZE(orders));
	tcase_add_loop_test(tc, test_asked, 0, ARRAY_SIZE(asked));
	tcase_add_loop_test(tc, test_as_caller, 0, ARRAY_SIZE(callers));
	tcase_add_loop_test(tc, test_elsewhere, 0, ARRAY_SIZE(elsewhere));
	tcase_add_loop_test(tc, test_device, 0, ARRAY_SIZE(devices));
	tcase_add_loop_test(tc, test_build, 0, ARRAY_SIZE(builds));
	tcase_add_test(tc, test_long_places);
	tcase_add_loop_test(tc, test_few_descriptors, 0, 2);
	tcase_add_test(tc, test_local);
	tcase_add_test(tc, test_overlay);
	tcase_add_test(tc, test_overlay_mapped);
	tcase_add_loop_test(tc, test_open_build, 0, ARRAY_SIZE(opens));
	tcase_add_loop_test(tc, test_copy, 0, ARRAY_SIZE(sizes));
	tcase_add_loop_test(tc, test_uncopied, 0, ARRAY_SIZE(uncopied));
	tcase_add_test(tc, test_copy_unsized);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
