// SPDX-License-Identifier: Apache-2.0
#include "core/base/grow.h"
#include "core/files/open_files.h"
#include "core/host/host.h"
#include "tests/unit/unit.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>

#define PID   4242
#define CHILD 4243
#define ROOT  "proc/4242/root/"
#define LATE  60000 /* ms: no test waits so long */

/* ---- waiting: this file replaces poll() and the clock */

static bool hangs;           /* the awaited event does not come, and poll() returns soon */
static unsigned int slow_ms; /* each wait takes so long, by the clock */
static uint64_t slow_ns;     /* the sum of all waits so far */

int poll(struct pollfd *fds, nfds_t nr, int timeout)
{
	const struct timespec soon = { .tv_nsec = 30 * 1000 * 1000 },
			      whole = { timeout / 1000, timeout % 1000 * 1000000L };

	int ready = ppoll(fds, nr, timeout < 0 ? NULL : hangs && timeout ? &soon : &whole, NULL);

	slow_ns += slow_ms * 1000000ULL;
	if (!ready && hangs)
		slow_ns += LATE * 1000000ULL;
	return ready;
}

int clock_gettime(clockid_t clock, struct timespec *ts)
{
	int rc = (int)syscall(SYS_clock_gettime, clock, ts);
	uint64_t ns = (uint64_t)ts->tv_nsec + slow_ns;

	ts->tv_sec += (time_t)(ns / 1000000000);
	ts->tv_nsec = (long)(ns % 1000000000);
	return rc;
}

static bool no_worker; /* no worker can be started */
static unsigned int nr_workers;

pid_t fork(void)
{
	static pid_t (*real)(void);

	if (no_worker) {
		errno = EAGAIN;
		return -1;
	}
	nr_workers++;
	if (!real)
		real = (pid_t(*)(void))(uintptr_t)dlsym(RTLD_NEXT, "fork");
	return real();
}

static char *dir, *proc, *root;
static struct host host;
static struct open_files *of;

static char *below(const char *name)
{
	static char path[4096];

	ck_assert_int_lt(snprintf(path, sizeof(path), "%s/%s", dir, name), (int)sizeof(path));
	return path;
}

static void write_text(const char *name)
{
	unit_write(dir, name, name, strlen(name));
}

static void setup(void)
{
	dir = unit_tmpdir();
	ck_assert_int_ge(asprintf(&proc, "%s/proc", dir), 0);
	ck_assert_int_ge(asprintf(&root, "%s/host", dir), 0);
	host = (struct host){ .proc = proc, .sys = dir };
	write_text(ROOT "any");
	write_text("host/any");
	of = open_files_new(&host, root, LATE);
	ck_assert_ptr_nonnull(of);
	no_worker = false;
	nr_workers = 0;
}

static void teardown(void)
{
	open_files_free(of);
	free(proc);
	free(root);
	unit_rmdir(dir);
}

/* The process that forked @pid is 4242, for every @pid. */
static bool keep(pid_t pid, const struct mapped_file *file)
{
	const pid_t pids[] = { pid, PID };
	const struct mapping m = { 0x1000, 0x2000, 0, file };

	return open_files_keep(of, pids, pid == PID ? 1 : 2, &m);
}

/* Check that @fd, which is closed, has @text; NULL: @fd is the failure @rc. */
static void check_text(int fd, const char *text, int rc)
{
	char got[256] = "";

	if (!text) {
		ck_assert_int_eq(fd, rc);
		return;
	}
	ck_assert_msg(fd >= 0, "%s", strerror(-fd));
	ck_assert_int_eq(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	ck_assert_int_eq(pread(fd, got, sizeof(got) - 1, 0), (ssize_t)strlen(text));
	ck_assert_str_eq(got, text);
	close(fd);
}

static void check_get(const struct mapped_file *file, const char *text)
{
	check_text(open_files_get(of, file), text, -ENOENT);
}

/* ---- keeping */

START_TEST(test_gone)
{
	const struct mapped_file file = { "/x.so", 8, 1,
					  .ino = (write_text(ROOT "x.so"), unit_inode(dir, ROOT "x.so")) };
	int i;

	check_get(&file, NULL);
	ck_assert(keep(PID, &file));
	ck_assert_int_eq(unlink(below(ROOT "x.so")), 0);
	write_text(ROOT "x.so"); /* another file */
	for (i = 0; i < 3; i++)
		check_get(&file, ROOT "x.so");
	ck_assert_int_eq(rename(below("proc"), below("gone")), 0);
	check_get(&file, ROOT "x.so");
	ck_assert(keep(PID, &file)); /* it is kept already */
	check_get(&file, ROOT "x.so");
	ck_assert_uint_eq(open_files_hung(of), 0);
}
END_TEST

/*
 * Files of process 4242 and of the host: are they kept for its child, which has no root of its own? @ino: the inode is
 * known; @again: the result of open_files_keep()
 */
static const struct {
	const char *path, *file;
	bool ino, kept, again;
} children[] = {
	{ "/own.so", ROOT "own.so", true, true, true },
	{ "/host.so", "host/host.so", true, true, true },
	{ "/host.so", "host/host.so", false, true, true },
	/* Another process may have another file at that path, and nothing would show it. */
	{ "/own.so", ROOT "own.so", false, false, false },
	{ "/own.so", "host/host.so", true, false, false },
	{ "/none.so", ROOT "own.so", true, false, false },
	{ "/none.so", ROOT "own.so", false, false, false },
	{ "/own.so/", ROOT "own.so", true, false, false },
	{ "/../root/own.so", ROOT "own.so", true, false, false },
	/* not by a path */
	{ "/memfd:x", ROOT "memfd:x", true, false, false },
	{ "/dev/x.so", ROOT "dev/x.so", true, false, false },
	/* never */
	{ "//anon", ROOT "own.so", true, false, true },
	{ "[vdso]", ROOT "own.so", true, false, true },
	{ "own.so", ROOT "own.so", true, false, true },
	{ "", ROOT "own.so", true, false, true },
};

START_TEST(test_child)
{
	struct mapped_file file = { .path = children[_i].path };

	write_text(ROOT "own.so");
	write_text(ROOT "memfd:x");
	write_text(ROOT "dev/x.so");
	write_text("host/host.so");
	if (children[_i].ino)
		file.ino = unit_inode(dir, children[_i].file);
	ck_assert_int_eq(keep(CHILD, &file), children[_i].again);
	check_get(&file, children[_i].kept ? children[_i].file : NULL);
}
END_TEST

/* A missing file is tried again; a FIFO does not block. */
START_TEST(test_again)
{
	struct mapped_file file = { .path = "/x.so" }, fifo = { .path = "/fifo" };

	ck_assert_int_eq(mkfifo(below(ROOT "fifo"), 0666), 0);
	ck_assert(!keep(PID, &fifo));
	check_get(&fifo, NULL);
	ck_assert(!keep(PID, &file));
	write_text(ROOT "x.so");
	ck_assert(keep(PID, &file));
	check_get(&file, ROOT "x.so");
	/* With another inode it is another file. */
	file.ino = UINT64_MAX;
	ck_assert(!keep(PID, &file));
	check_get(&file, NULL);
	ck_assert_uint_eq(open_files_hung(of), 0);
}
END_TEST

/* A path that is too long for a message, and more processes than are searched. */
START_TEST(test_too_much)
{
	static char path[40000];
	struct mapped_file file = { .path = path };
	struct mapping m = { 0, 0, 0, &file };
	pid_t pids[SEARCH_PIDS_MAX + 1] = { 1, 2, 3, 4, 5, 6, 7, 8, PID };

	memset(path, '/', sizeof(path) - 1);
	path[1] = '.';
	ck_assert(!keep(PID, &file));
	write_text(ROOT "x.so");
	file = (struct mapped_file){ .path = "/x.so", .ino = unit_inode(dir, ROOT "x.so") };
	ck_assert(!open_files_keep(of, pids, ARRAY_SIZE(pids), &m));
	ck_assert(!open_files_keep(of, pids, 0, &m));
	pids[SEARCH_PIDS_MAX - 1] = PID;
	ck_assert(open_files_keep(of, pids, ARRAY_SIZE(pids), &m));
	check_get(&file, ROOT "x.so");
}
END_TEST

/*
 * Files that a process may have mounted are not opened in this process, and are tried again. Directories of debug files
 * cannot be mounts of a process.
 */
START_TEST(test_no_worker)
{
	const struct mapped_file file = { .path = "/any" };
	const struct file_search what = { .pids = { PID }, .path = "/any" };
	const struct build_id id = { 0 };

	no_worker = true;
	open_files_start(of);
	ck_assert(!keep(PID, &file));
	ck_assert_int_eq(open_files_search(of, &what, NULL), -EAGAIN);
	ck_assert_uint_eq(open_files_unserved(of), 2);
	ck_assert_int_eq(open_files_build(of, below("host/none"), &id), -ENOENT);
	ck_assert_uint_eq(open_files_unserved(of), 2);
	no_worker = false;
	check_text(open_files_search(of, &what, NULL), ROOT "any", 0);
	ck_assert(keep(PID, &file));
	check_get(&file, ROOT "any");
	ck_assert_uint_eq(open_files_unserved(of), 2);
	ck_assert_uint_eq(open_files_hung(of), 0);
}
END_TEST

/* A worker that was started early serves the requests. */
START_TEST(test_start)
{
	open_files_start(of);
	open_files_start(of);
	ck_assert_uint_eq(nr_workers, 1);
	no_worker = true;
	ck_assert(keep(PID, &(struct mapped_file){ .path = "/any" }));
}
END_TEST

static struct mapped_file *many(int i)
{
	static char path[32];
	static struct mapped_file file;

	snprintf(path, sizeof(path), "/%d", i);
	file = (struct mapped_file){ .path = path };
	return &file;
}

/* The last files keep a descriptor each; a requested file counts as one of the last. */
START_TEST(test_bound)
{
	enum { MAX = 25, NR = 4 * MAX };
	int i, fds, kept = 0;
	char name[64];
	rlim_t before;

	open_files_free(of);
	before = unit_limit_files(4 * MAX + 3);
	of = open_files_new(&host, root, LATE);
	unit_limit_files(before);
	for (i = 0; i < NR; i++) {
		snprintf(name, sizeof(name), ROOT "%d", i);
		write_text(name);
	}
	ck_assert(!keep(PID, &(struct mapped_file){ .path = "/none" })); /* starts the worker */
	fds = unit_open_fds();
	for (i = 0; i < NR; i++) {
		ck_assert(keep(PID, many(i)));
		ck_assert(keep(PID, many(i)));
		check_get(many(0), ROOT "0");
		ck_assert_int_eq(unit_open_fds(), fds + (i < MAX ? i + 1 : MAX));
	}
	check_get(many(0), ROOT "0");
	for (i = 1; i < NR; i++) {
		snprintf(name, sizeof(name), ROOT "%d", i);
		check_get(many(i), i <= NR - MAX ? NULL : name);
		kept += i > NR - MAX;
	}
	ck_assert_int_eq(kept, MAX - 1);
	open_files_free(of);
	of = NULL;
	ck_assert_int_lt(unit_open_fds(), fds);
}
END_TEST

/* Without room, no file is kept or remembered. */
START_TEST(test_no_room)
{
	rlim_t before;
	int fds;

	open_files_free(of);
	before = unit_limit_files(3);
	of = open_files_new(&host, root, LATE);
	unit_limit_files(before);
	write_text(ROOT "0");
	ck_assert(keep(PID, many(0)));
	fds = unit_open_fds();
	ck_assert(keep(PID, many(0)));
	check_get(many(0), NULL);
	ck_assert_int_eq(unit_open_fds(), fds);
}
END_TEST

/* No descriptor left, here or for the worker's answer: an error, and tried again. */
START_TEST(test_few_descriptors)
{
	const struct mapped_file file = { .path = "/x.so" };
	const struct file_search what = { .pids = { PID }, .path = "/x.so" };
	rlim_t before;
	int fds;

	if (!getauxval(AT_SYSINFO_EHDR))
		return; /* valgrind does not apply the limit to descriptors that another process passes */
	write_text(ROOT "x.so");
	check_text(open_files_search(of, &what, NULL), ROOT "x.so", 0);
	fds = unit_open_fds();
	before = unit_leave_files(0);
	ck_assert_int_eq(open_files_search(of, &what, NULL), -EMFILE);
	ck_assert(!keep(PID, &file));
	unit_leave_files(1);
	ck_assert(keep(PID, &file));
	ck_assert_int_eq(open_files_get(of, &file), -EMFILE);
	unit_limit_files(before);
	check_get(&file, ROOT "x.so");
	ck_assert_int_eq(unit_open_fds(), fds + 1);
}
END_TEST

/* ---- searching */

START_TEST(test_search)
{
	struct file_search what = { .pids = { PID }, .host = true, .path = "/x.so" };
	int fds, fd;
	struct stat st;

	ck_assert_int_eq(open_files_search(of, &what, NULL), -ENOENT);
	fds = unit_open_fds();
	write_text("host/x.so");
	check_text(open_files_search(of, &what, NULL), "host/x.so", 0);
	write_text(ROOT "x.so");
	fd = open_files_search(of, &what, &st);
	ck_assert_uint_eq(st.st_ino, unit_inode(dir, ROOT "x.so"));
	check_text(fd, ROOT "x.so", 0);
	what.ino = UINT64_MAX;
	ck_assert_int_eq(open_files_search(of, &what, NULL), -ESTALE);
	what.by_build = true;
	build_id_set(&what.id, "abc", 3);
	ck_assert_int_eq(open_files_search(of, &what, NULL), -ESTALE); /* not an ELF file */
	ck_assert_int_eq(open_files_build(of, below("host/x.so"), &what.id), -ESTALE);
	ck_assert_int_eq(open_files_build(of, below("host/none"), &what.id), -ENOENT);
	ck_assert_int_eq(unit_open_fds(), fds);
	ck_assert_uint_eq(open_files_hung(of), 0);
}
END_TEST

/* Files that are not local are copied: a file of /proc has size 0, its copy has not. */
START_TEST(test_copied)
{
	const struct file_search what = { .host = true, .path = "/proc/version" };
	struct stat st, copied;
	int fds, fd;

	open_files_free(of);
	of = open_files_new(&host_here, "/", LATE);
	close(open_files_search(of, &what, NULL));
	fds = unit_open_fds();
	fd = open_files_search(of, &what, &st);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &copied), 0);
	ck_assert_int_eq(st.st_size, 0);
	ck_assert_int_gt(copied.st_size, 0);
	close(fd);
	ck_assert_int_eq(unit_open_fds(), fds);
}
END_TEST

/* ---- by the mapping itself */

static bool may_follow_mappings(const void *start, size_t len)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/map_files/%lx-%lx", (unsigned long)start, (unsigned long)start + len);
	fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		printf("# files without a path are not tested: /proc/self/map_files (%s)\n", strerror(errno));
	else
		close(fd);
	return fd >= 0;
}

/* A file that was deleted, or never had a path; another file is there. */
START_TEST(test_pathless)
{
	const size_t len = (size_t)sysconf(_SC_PAGESIZE);
	int fd = _i ? memfd_create("x.so", MFD_CLOEXEC) : open(below("x.so"), O_RDWR | O_CREAT | O_CLOEXEC, 0700);
	struct mapped_file file = { _i ? "/memfd:x.so" : below("x.so"), 8, 1, 0 };
	const pid_t self = getpid();
	struct mapping m = { 0, 0, 0, &file };
	struct stat st;
	void *at;

	ck_assert_int_eq(write(fd, "mapped", 6), 6);
	ck_assert_int_eq(fstat(fd, &st), 0);
	file.ino = st.st_ino;
	at = mmap(NULL, len, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	ck_assert_ptr_ne(at, MAP_FAILED);
	close(fd);
	if (!_i) {
		ck_assert_int_eq(unlink(file.path), 0);
		unit_write(dir, "x.so", "another", 7);
	}
	if (!may_follow_mappings(at, len))
		return;
	open_files_free(of);
	of = open_files_new(&host_here, "/", LATE);
	m.start = (uintptr_t)at;
	m.end = m.start + len;
	file.ino = UINT64_MAX;
	ck_assert(!open_files_keep(of, &self, 1, &m));
	file.ino = st.st_ino;
	m.end += len;
	ck_assert(!open_files_keep(of, &self, 1, &m));
	m.end -= len;
	ck_assert(open_files_keep(of, &self, 1, &m));
	munmap(at, len);
	check_get(&file, "mapped");
	check_get(&file, "mapped");
}
END_TEST

/* ---- a slow file system: one file, "x.so", of a FUSE server */

#define TEXT   "what is there"
#define DEVICE 77 /* 0:77, the device in mappings */

struct shared {
	_Atomic uint32_t silent, failing; /* opcodes without an answer, or with an error; 0: none */
	_Atomic int error;
};

static struct shared none, *fs = &none;
static pid_t server, own, foreign; /* processes with our mounts, and with others */
static char *remote;               /* path of the remote file */

static struct fuse_attr attr_of(uint64_t node)
{
	struct fuse_attr a = { .ino = node, .mode = node == 1 ? S_IFDIR | 0755 : S_IFREG | 0644, .nlink = 1 };

	a.size = node == 1 ? 0 : strlen(TEXT);
	return a;
}

/* Return: the length of the answer in @out, or -errno. */
static int answer(const struct fuse_in_header *in, const void *arg, void *out)
{
	const struct fuse_init_in *init = arg;
	const struct fuse_read_in *rd = arg;

	switch (in->opcode) {
	case FUSE_INIT:
		*(struct fuse_init_out *)out = (struct fuse_init_out){ .major = 7,
								       .minor = init->minor < 31 ? init->minor : 31,
								       .max_write = 65536 };
		return sizeof(struct fuse_init_out);
	case FUSE_LOOKUP:
		if (strcmp(arg, "x.so"))
			return -ENOENT;
		*(struct fuse_entry_out *)out = (struct fuse_entry_out){ .nodeid = 2, .attr = attr_of(2) };
		return sizeof(struct fuse_entry_out);
	case FUSE_GETATTR:
		*(struct fuse_attr_out *)out = (struct fuse_attr_out){ .attr = attr_of(in->nodeid) };
		return sizeof(struct fuse_attr_out);
	case FUSE_OPEN:
		*(struct fuse_open_out *)out = (struct fuse_open_out){ .open_flags = FOPEN_DIRECT_IO };
		return sizeof(struct fuse_open_out);
	case FUSE_READ:
		if (rd->offset >= strlen(TEXT))
			return 0;
		memcpy(out, &TEXT[rd->offset], strlen(TEXT) - rd->offset);
		return (int)(strlen(TEXT) - rd->offset);
	case FUSE_STATFS:
		memset(out, 0, sizeof(struct fuse_statfs_out));
		return sizeof(struct fuse_statfs_out);
	case FUSE_FLUSH:
	case FUSE_RELEASE:
		return 0;
	default:
		return -ENOSYS;
	}
}

static void serve(int fd)
{
	static _Alignas(8) char request[FUSE_MIN_READ_BUFFER + 65536], bytes[4096];
	struct fuse_in_header *in = (void *)request;
	struct fuse_out_header *out = (void *)bytes;
	int len;

	while (read(fd, request, sizeof(request)) > 0) {
		if (in->opcode == FUSE_FORGET || in->opcode == FUSE_BATCH_FORGET || in->opcode == FUSE_INTERRUPT ||
		    in->opcode == atomic_load(&fs->silent))
			continue;
		len = in->opcode == atomic_load(&fs->failing) ? -atomic_load(&fs->error) : answer(in, in + 1, out + 1);
		*out = (struct fuse_out_header){ (uint32_t)sizeof(*out) + (uint32_t)(len > 0 ? len : 0),
						 len < 0 ? len : 0, in->unique };
		if (write(fd, out, out->len) < 0 && errno != ENOENT)
			break;
	}
}

static pid_t make_process(bool other_mounts)
{
	int ready[2];
	char byte;
	pid_t pid;

	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if ((other_mounts && unshare(CLONE_NEWNS)) || write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

/* Return: 0 or -errno. */
static int mount_fuse(const char *at)
{
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC), rc;
	char options[128];

	if (fd < 0)
		return -errno;
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", fd);
	if (unshare(CLONE_NEWNS) || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) ||
	    mount("test", at, "fuse.test", MS_NOSUID | MS_NODEV, options)) {
		rc = -errno;
		close(fd);
		return rc;
	}
	server = fork();
	if (server < 0) {
		rc = -errno;
		close(fd);
		return rc;
	}
	if (!server) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(fd);
		_exit(1);
	}
	close(fd);
	return 0;
}

static void setup_remote(void)
{
	char *real;

	setup();
	open_files_free(of);
	fs = mmap(NULL, sizeof(*fs), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(fs, MAP_FAILED);
	memset(fs, 0, sizeof(*fs));
	real = realpath(below("host"), NULL);
	ck_assert_ptr_nonnull(real);
	ck_assert_int_ge(asprintf(&remote, "%s/x.so", real), 0);
	ck_assert_int_eq(mount_fuse(real), 0);
	free(real);
	own = make_process(false);
	foreign = make_process(true);
	of = open_files_new(&host_here, "/", LATE);
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Without the server, processes that still wait for it get an error. */
static void teardown_remote(void)
{
	end(server);
	end(own);
	end(foreign);
	ck_assert_int_eq(umount2(below("host"), MNT_DETACH), 0);
	free(remote);
	munmap(fs, sizeof(*fs));
	fs = &none;
	teardown();
}

/* Do not answer @opcode from now on. */
static void fall_silent(uint32_t opcode)
{
	atomic_store(&fs->silent, opcode);
	hangs = true;
}

static struct mapped_file there(uint32_t minor)
{
	return (struct mapped_file){ remote, 0, minor, 2 };
}

/* A local file that every process has. Its mapping has the device 0:@minor. */
static struct mapped_file ours(uint32_t minor)
{
	static char path[4096];
	char *real;

	write_text("ours");
	real = realpath(below("ours"), NULL);
	ck_assert_ptr_nonnull(real);
	snprintf(path, sizeof(path), "%s", real);
	free(real);
	return (struct mapped_file){ path, 0, minor, unit_inode(dir, "ours") };
}

static bool keep_there(pid_t pid, struct mapped_file file)
{
	const struct mapping m = { 0, 0, 0, &file };

	return open_files_keep(of, &pid, 1, &m);
}

static int search_there(pid_t pid, struct mapped_file file)
{
	const struct file_search what = {
		.pids = { pid }, .host = true, .path = file.path, .ino = file.ino, .dev = makedev(file.maj, file.min)
	};

	return open_files_search(of, &what, NULL);
}

/* The server answers: a kept file is read when it is requested, once, and stays local from then on. */
START_TEST(test_remote)
{
	const struct mapped_file file = there(DEVICE);
	int fds, i;

	check_text(search_there(own, file), TEXT, 0);
	fds = unit_open_fds();
	ck_assert(keep_there(_i ? foreign : own, file));
	ck_assert_int_eq(unit_open_fds(), fds + 1);
	end(_i ? foreign : own);
	for (i = 0; i < 3; i++) {
		check_get(&file, TEXT);
		atomic_store(&fs->failing, FUSE_READ);
		atomic_store(&fs->error, EIO);
	}
	ck_assert_int_eq(unit_open_fds(), fds + 1);
	ck_assert_int_eq(search_there(own, file), -EIO);
	ck_assert_uint_eq(open_files_hung(of), 0);
}
END_TEST

/* An error from the server is not mistaken for an error of the worker. */
static const struct {
	uint32_t opcode;
	int error, search, get; /* 0: not kept */
} errors[] = {
	{ FUSE_LOOKUP, EIO, -ENOENT, 0 },     { FUSE_LOOKUP, EAGAIN, -ENOENT, 0 }, { FUSE_LOOKUP, ETIME, -ENOENT, 0 },
	{ FUSE_GETATTR, EAGAIN, -ESTALE, 0 }, { FUSE_GETATTR, ETIME, -ESTALE, 0 }, { FUSE_OPEN, EAGAIN, -ENOENT, 0 },
	{ FUSE_OPEN, ETIME, -ENOENT, 0 },     { FUSE_OPEN, EPIPE, -ENOENT, 0 },    { FUSE_OPEN, EBADMSG, -ENOENT, 0 },
	{ FUSE_READ, EAGAIN, -EIO, -EIO },    { FUSE_READ, ETIME, -EIO, -EIO },    { FUSE_READ, EPIPE, -EIO, -EIO },
	{ FUSE_READ, EBADMSG, -EIO, -EIO },   { FUSE_READ, ENOENT, -EIO, -EIO },   { FUSE_READ, EMFILE, -EIO, -EIO },
	{ FUSE_READ, EINTR, -EIO, -EIO },
};

START_TEST(test_error)
{
	const struct mapped_file file = there(DEVICE);
	int fds;

	check_text(search_there(own, file), TEXT, 0);
	fds = unit_open_fds();
	atomic_store(&fs->error, errors[_i].error);
	atomic_store(&fs->failing, errors[_i].opcode);
	ck_assert_int_eq(search_there(own, file), errors[_i].search);
	ck_assert_int_eq(keep_there(own, file), !!errors[_i].get);
	ck_assert_int_eq(open_files_get(of, &file), errors[_i].get ? errors[_i].get : -ENOENT);
	atomic_store(&fs->failing, 0);
	if (errors[_i].get) /* the error stays */
		ck_assert_int_eq(open_files_get(of, &file), errors[_i].get);
	check_text(search_there(own, file), TEXT, 0);
	ck_assert_int_eq(unit_open_fds(), fds);
	ck_assert_uint_eq(open_files_hung(of), 0);
}
END_TEST

/* The same for a kept file. */
START_TEST(test_late_error)
{
	static const int late[] = { EAGAIN, ETIME, EPIPE, EBADMSG, EIO };
	const struct mapped_file file = there(DEVICE);

	ck_assert(keep_there(own, file));
	atomic_store(&fs->error, late[_i]);
	atomic_store(&fs->failing, FUSE_OPEN);
	ck_assert_int_eq(open_files_get(of, &file), -EIO);
	ck_assert_uint_eq(open_files_hung(of), 0);
}
END_TEST

/* Requests that the server does not answer. */
static const struct {
	uint32_t opcode;
	bool kept; /* it was opened before */
} silences[] = {
	{ FUSE_LOOKUP, false }, { FUSE_GETATTR, false }, { FUSE_OPEN, false },
	{ FUSE_FLUSH, false },  { FUSE_READ, true },     { FUSE_FLUSH, true },
};

/* Files of our own mount namespace: the device is not used again, others are. */
START_TEST(test_hung_device)
{
	const struct mapped_file file = there(DEVICE);

	if (silences[_i].kept)
		ck_assert(keep_there(own, file));
	fall_silent(silences[_i].opcode);
	if (silences[_i].kept)
		ck_assert_int_eq(open_files_get(of, &file), -ETIME);
	else
		ck_assert(keep_there(own, file));
	hangs = false;
	ck_assert_uint_eq(open_files_hung(of), 1);
	/* A file on the same device, which exists, is not requested. */
	ck_assert_int_eq(search_there(own, ours(DEVICE)), -ETIME);
	ck_assert_uint_eq(open_files_hung(of), 2);
	check_text(search_there(own, ours(DEVICE + 1)), "ours", 0);
	check_text(search_there(foreign, ours(0)), "ours", 0);
	ck_assert_uint_eq(open_files_hung(of), 2);
}
END_TEST

/*
 * Files of another mount namespace: none of its files is opened again. In our own one, a device with the same number
 * may be another one, and still works.
 */
START_TEST(test_hung_mounts)
{
	const struct mapped_file file = there(DEVICE);

	if (silences[_i].kept)
		ck_assert(keep_there(foreign, file));
	fall_silent(silences[_i].opcode);
	if (silences[_i].kept)
		ck_assert_int_eq(open_files_get(of, &file), -ETIME);
	else
		ck_assert(!keep_there(foreign, file));
	hangs = false;
	ck_assert_uint_eq(open_files_hung(of), 1);
	ck_assert_int_eq(search_there(foreign, ours(DEVICE + 1)), -ETIME);
	ck_assert_int_eq(search_there(foreign, ours(0)), -ETIME);
	ck_assert(!keep_there(foreign, ours(DEVICE + 1)));
	ck_assert(keep_there(own, ours(DEVICE)));
	check_text(search_there(own, ours(DEVICE)), "ours", 0);
	ck_assert_uint_eq(open_files_hung(of), 3);
}
END_TEST

/* Each device may hang: after some of them, no new ones are tried. Kept files stay. */
START_TEST(test_hung_many)
{
	const struct mapped_file kept = ours(50);
	uint32_t i;

	ck_assert(keep_there(own, kept));
	fall_silent(FUSE_OPEN);
	for (i = 0; i < 8; i++)
		ck_assert_int_eq(search_there(own, there(i)), -ETIME); /* 0:0 stands for an unknown device */
	hangs = false;
	ck_assert_uint_eq(open_files_hung(of), 8);
	atomic_store(&fs->silent, 0);
	ck_assert_int_eq(search_there(own, there(100)), -ETIME);
	ck_assert_int_eq(search_there(foreign, ours(100)), -ETIME);
	ck_assert(keep_there(own, ours(100)));
	ck_assert_uint_eq(open_files_hung(of), 10);
	check_get(&kept, "ours");
}
END_TEST

/* Many answers just in time are as bad: after that, no new files are opened. */
START_TEST(test_slow)
{
	struct mapped_file file = there(DEVICE);
	int i;

	file.ino++; /* so that it is never kept */
	slow_ms = LATE / 4;
	for (i = 0; i < 100 && !open_files_hung(of); i++)
		ck_assert(!keep_there(foreign, file));
	/* So many take the time of 8 that hang, and of the part of the run time that is permitted meanwhile. */
	ck_assert_int_le(i, 8 * 4 + 8);
	check_text(search_there(foreign, there(DEVICE)), TEXT, 0);
}
END_TEST

/* In a child process, so that the mounts end with it. */
static bool can_mount_fuse(void)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		status = mount_fuse("/tmp");
		if (server > 0)
			kill(server, SIGKILL);
		_exit(-status);
	}
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return true;
	printf("# file systems that hang are not tested: FUSE cannot be mounted here (%s)\n",
	       WIFEXITED(status) ? strerror(WEXITSTATUS(status)) : "crashed");
	return false;
}

int main(void)
{
	bool fuse = can_mount_fuse();
	Suite *s = suite_create("open_files");
	TCase *tc = tcase_create("open_files"), *slow = tcase_create("remote");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, test_gone);
	tcase_add_loop_test(tc, test_child, 0, ARRAY_SIZE(children));
	tcase_add_test(tc, test_again);
	tcase_add_test(tc, test_too_much);
	tcase_add_test(tc, test_no_worker);
	tcase_add_test(tc, test_start);
	tcase_add_test(tc, test_bound);
	tcase_add_test(tc, test_no_room);
	tcase_add_test(tc, test_few_descriptors);
	tcase_add_test(tc, test_search);
	tcase_add_test(tc, test_copied);
	tcase_add_loop_test(tc, test_pathless, 0, 2);
	suite_add_tcase(s, tc);
	if (fuse) {
		tcase_add_checked_fixture(slow, setup_remote, teardown_remote);
		tcase_set_timeout(slow, 60);
		tcase_add_loop_test(slow, test_remote, 0, 2);
		tcase_add_loop_test(slow, test_error, 0, ARRAY_SIZE(errors));
		tcase_add_loop_test(slow, test_late_error, 0, 5);
		tcase_add_loop_test(slow, test_hung_device, 0, ARRAY_SIZE(silences));
		tcase_add_loop_test(slow, test_hung_mounts, 0, ARRAY_SIZE(silences));
		tcase_add_test(slow, test_hung_many);
		tcase_add_test(slow, test_slow);
		suite_add_tcase(s, slow);
	}
	return unit_main(s);
}
