// SPDX-License-Identifier: Apache-2.0
/*
 * lying_fs WAY SOURCE MOUNTPOINT UID PROGRAM [ARGUMENT...] - run PROGRAM, a path below the new root, as user UID in a
 * mount namespace of its own. Its root is a file system that shows SOURCE, read-only. From SIGUSR1 on the file system
 * is hostile:
 *
 *   hang  takes requests, and never answers: a process that waits for an answer cannot even be killed
 *   drip  answers one request in a second
 *   lie   has every file that is looked up. If SOURCE lacks a file, the file belongs to root and has 2^60 bytes. They
 *         repeat a line of a perf map, with the name "lied" for code at 0x10000000
 *
 * When this process ends, at the latest with PROGRAM, the kernel answers the open requests with an error, and PROGRAM
 * is killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/fuse.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NODES_MAX 1024
#define SECONDS   240 /* no process hangs for longer, even if the test is killed */
#define READ_MAX  (128 << 10)
#define LIE_BYTES (1ULL << 60)
#define LIE       "10000000 1000 lied\n"

static const char *way, *source;
static volatile sig_atomic_t hostile;
static char *nodes[NODES_MAX]; /* paths below SOURCE; "" for the root */
static bool made_up[NODES_MAX];
static size_t nr_nodes = 2; /* the root is number 1 */

static void die(const char *what)
{
	fprintf(stderr, "lying_fs: %s: %s\n", what, strerror(errno));
	_exit(2);
}

static void turn_hostile(int sig)
{
	(void)sig;
	hostile = 1;
}

static void end(int sig)
{
	(void)sig;
	_exit(0);
}

static bool does(const char *what)
{
	return hostile && !strcmp(way, what);
}

static int stat_node(uint64_t id, struct stat *st)
{
	char path[4096];

	if (id >= nr_nodes)
		return -ENOENT;
	snprintf(path, sizeof(path), "%s%s", source, nodes[id]);
	if (!made_up[id])
		return lstat(path, st) ? -errno : 0;
	*st = (struct stat){
		.st_mode = S_IFREG | 0644, .st_nlink = 1, .st_size = (off_t)LIE_BYTES, .st_mtime = time(NULL)
	};
	return 0;
}

static int fill_attr(uint64_t id, struct fuse_attr *a)
{
	struct stat st;
	int rc = stat_node(id, &st);

	if (rc)
		return rc;
	*a = (struct fuse_attr){ .ino = id,
				 .size = (uint64_t)st.st_size,
				 .mode = st.st_mode,
				 .nlink = 1,
				 .uid = st.st_uid,
				 .gid = st.st_gid,
				 .blksize = 4096,
				 .mtime = (uint64_t)st.st_mtime };
	return 0;
}

static uint64_t node_of(uint64_t parent, const char *name)
{
	char *path;
	size_t i;

	if (asprintf(&path, "%s/%s", nodes[parent], name) < 0)
		return 0;
	for (i = 1; i < nr_nodes; i++) {
		if (!strcmp(nodes[i], path)) {
			free(path);
			return i;
		}
	}
	nodes[nr_nodes] = path;
	return nr_nodes < NODES_MAX - 1 ? nr_nodes++ : 0;
}

static int look_up(uint64_t parent, const char *name, struct fuse_entry_out *out)
{
	struct stat st;
	int rc;

	if (parent >= nr_nodes)
		return -ENOENT;
	*out = (struct fuse_entry_out){ .nodeid = node_of(parent, name) };
	if (!out->nodeid)
		return -ENOMEM;
	if (does("lie") && stat_node(out->nodeid, &st))
		made_up[out->nodeid] = true;
	rc = fill_attr(out->nodeid, &out->attr);
	return rc;
}

/* Return: bytes read, or -errno. */
static ssize_t read_node(uint64_t id, uint64_t at, char *buf, size_t len)
{
	char path[4096];
	ssize_t n;
	size_t i;
	int fd;

	if (id < nr_nodes && made_up[id]) {
		for (i = 0; i < len; i++)
			buf[i] = LIE[(at + i) % (sizeof(LIE) - 1)];
		return (ssize_t)len;
	}
	if (id >= nr_nodes)
		return -ENOENT;
	snprintf(path, sizeof(path), "%s%s", source, nodes[id]);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = pread(fd, buf, len, (off_t)at);
	n = n < 0 ? -errno : n;
	close(fd);
	return n;
}

static void answer(int fuse, uint64_t unique, ssize_t code, const void *data)
{
	static char out[sizeof(struct fuse_out_header) + READ_MAX];
	struct fuse_out_header head = { .len = sizeof(head), .unique = unique };

	if (code < 0) {
		head.error = (int)code;
	} else {
		head.len += (uint32_t)code;
		memcpy(out + sizeof(head), data, (size_t)code);
	}
	memcpy(out, &head, sizeof(head));
	/* The process that sent the request may be gone. */
	if (write(fuse, out, head.len) < 0 && errno != ENOENT)
		die("cannot answer");
}

static void serve(int fuse, const struct fuse_in_header *in, const void *arg)
{
	static char data[READ_MAX];
	const struct fuse_init_in *init = arg;
	const struct fuse_read_in *rd = arg;
	struct fuse_attr_out *attr = (void *)data;
	ssize_t rc = -ENOSYS;

	memset(data, 0, sizeof(struct fuse_init_out));
	switch (in->opcode) {
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		return;
	case FUSE_INIT:
		*(struct fuse_init_out *)(void *)data = (struct fuse_init_out){
			.major = FUSE_KERNEL_VERSION, .minor = init->minor < 31 ? init->minor : 31, .max_write = 4096
		};
		rc = sizeof(struct fuse_init_out);
		break;
	case FUSE_LOOKUP:
		rc = look_up(in->nodeid, arg, (void *)data);
		rc = rc ? rc : (ssize_t)sizeof(struct fuse_entry_out);
		break;
	case FUSE_GETATTR:
		*attr = (struct fuse_attr_out){ 0 };
		rc = fill_attr(in->nodeid, &attr->attr);
		rc = rc ? rc : (ssize_t)sizeof(*attr);
		break;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		/* Bypass the page cache: it may hold contents from before the file system became hostile. */
		*(struct fuse_open_out *)(void *)data =
			(struct fuse_open_out){ .open_flags = hostile ? FOPEN_DIRECT_IO : 0 };
		rc = sizeof(struct fuse_open_out);
		break;
	case FUSE_READ:
		rc = read_node(in->nodeid, rd->offset, data, rd->size < READ_MAX ? rd->size : READ_MAX);
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
		rc = 0;
		break;
	}
	answer(fuse, in->unique, rc, data);
}

static void serve_all(int fuse)
{
	static union {
		struct fuse_in_header head;
		char bytes[FUSE_MIN_READ_BUFFER + READ_MAX];
	} in;
	ssize_t n;

	for (;;) {
		n = read(fuse, &in, sizeof(in) - 1);
		if (n < 0 && (errno == EINTR || errno == ENOENT))
			continue;
		if (n < (ssize_t)sizeof(in.head))
			die("cannot read a request");
		in.bytes[n] = 0;
		if (does("hang"))
			continue;
		if (does("drip"))
			sleep(1);
		serve(fuse, &in.head, in.bytes + sizeof(in.head));
	}
}

static void run(const char *root, uid_t uid, char **command)
{
	signal(SIGUSR1, SIG_DFL);
	/* As containers do. This process still needs the old root, so PROGRAM gets one more mount namespace. */
	if (unshare(CLONE_NEWNS) || chdir(root) || syscall(SYS_pivot_root, ".", ".") || umount2(".", MNT_DETACH))
		die(root);
	if (setgroups(0, NULL) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
		die("cannot become another user");
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* changing the user has cleared it */
	execv(command[0], command);
	die(command[0]);
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = turn_hostile };
	char options[128];
	pid_t pid;
	int fuse;

	if (argc < 6) {
		fputs("usage: lying_fs WAY SOURCE MOUNTPOINT UID PROGRAM [ARGUMENT...]\n", stderr);
		return 2;
	}
	way = argv[1];
	source = argv[2];
	nodes[FUSE_ROOT_ID] = (char *)"";
	sigaction(SIGUSR1, &sa, NULL);
	signal(SIGCHLD, end);
	alarm(SECONDS);
	fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fuse < 0)
		die("/dev/fuse");
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		die("cannot make a mount namespace");
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", fuse);
	if (mount("lying_fs", argv[3], "fuse", MS_NODEV | MS_NOSUID, options))
		die("cannot mount");
	pid = fork();
	if (pid < 0)
		die("cannot fork");
	if (!pid)
		run(argv[3], (uid_t)strtoul(argv[4], NULL, 10), argv + 5);
	serve_all(fuse);
}
