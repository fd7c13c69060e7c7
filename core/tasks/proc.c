// SPDX-License-Identifier: Apache-2.0
#include "core/tasks/proc.h"

#include "core/base/clock.h"
#include "core/base/number.h"
#include "core/tasks/cgroup.h"
#include "core/tasks/comm.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WQ_WORKER 0x20 /* PF_WQ_WORKER, include/linux/sched.h: the same value since 2.6.36 */

/* Read a number that ends with @end; moves *@p behind @end. */
static bool number(const char **p, unsigned int base, char end, uint64_t max, uint64_t *out)
{
	if (parse_digits(p, base, max, out) || **p != end)
		return false;
	++*p;
	return true;
}

/* The kernel writes \ooo for a newline in a path, and for nothing else. */
static void unescape(char *s)
{
	char *to;

	s += strcspn(s, "\\");
	for (to = s; *s; s++) {
		if (!strncmp(s, "\\012", 4)) {
			*to++ = '\n';
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = 0;
}

int proc_map_parse(char *line, struct proc_map *out)
{
	uint64_t maj, min, start, end, pgoff, ino;
	const char *p = line, *perms;
	char *path;

	if (!number(&p, 16, '-', UINT64_MAX, &start) || !number(&p, 16, ' ', UINT64_MAX, &end) || start >= end)
		return -EINVAL;
	perms = p;
	if (strnlen(perms, 5) < 5 || perms[4] != ' ')
		return -EINVAL;
	p += 5;
	if (!number(&p, 16, ' ', UINT64_MAX, &pgoff) || !number(&p, 16, ':', UINT32_MAX, &maj) ||
	    !number(&p, 16, ' ', UINT32_MAX, &min) || parse_digits(&p, 10, UINT64_MAX, &ino) || (*p && *p != ' '))
		return -EINVAL;
	path = line + (p - line);
	path += strspn(path, " ");
	unescape(path);
	*out = (struct proc_map){ start, end, pgoff, perms[2] == 'x', (uint32_t)maj, (uint32_t)min, ino, path };
	return 0;
}

ssize_t proc_readlink(const char *path, char *buf, size_t size)
{
	ssize_t len = readlink(path, buf, size - 1);

	buf[len > 0 ? len : 0] = 0;
	return len < 0 ? -errno : len;
}

int proc_maps(const struct host *h, pid_t pid, int (*fn)(void *ctx, const struct proc_map *m), void *ctx)
{
	struct proc_map m;
	char path[512], buffer[16384], *line = NULL;
	size_t cap = 0;
	ssize_t len;
	FILE *f;
	int rc = 0;

	snprintf(path, sizeof(path), "%s/%d/maps", host_tasks(h), pid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	/* The default of stdio is to read 1024 bytes of a file of /proc at once. */
	setvbuf(f, buffer, _IOFBF, sizeof(buffer));
	errno = 0; /* getline(3) does not change it at the end of the file */
	/* The kernel writes this file, so a line is at most about PATH_MAX long. */
	while (!rc && (len = getline(&line, &cap, f)) > 0) {
		if (line[len - 1] == '\n')
			line[len - 1] = 0;
		if (!proc_map_parse(line, &m))
			rc = fn(ctx, &m);
		errno = 0;
	}
	if (!rc && errno == ENOMEM)
		rc = -ENOMEM;
	free(line);
	fclose(f);
	return rc;
}

/* As host_read(), for @file in the /proc directory of a thread. */
static ssize_t read_thread(const struct host *h, pid_t pid, pid_t tid, const char *file, char *buf, size_t size)
{
	char name[64];

	snprintf(name, sizeof(name), "%d/task/%d/%s", pid, tid, file);
	return host_read(host_tasks(h), name, buf, size);
}

/*
 * Field @n, from 3 on, of "1 (name) S PPID PGRP SESSION TTY TPGID FLAGS ...": the name may have any character. NULL:
 * none.
 */
static const char *stat_field(const char *stat, int n)
{
	const char *p = strrchr(stat, ')');

	for (; p && n > 2; n--)
		p = strchr(p + 1, ' ');
	return p ? p + 1 : NULL;
}

/* @flags: 0 if there are none */
static bool read_state(const struct host *h, pid_t pid, pid_t tid, char *state, uint64_t *flags)
{
	char stat[256];
	const char *p;

	if (read_thread(h, pid, tid, "stat", stat, sizeof(stat)) < 0)
		return false;
	p = strrchr(stat, ')');
	if (!p || p[1] != ' ' || !p[2])
		return false;
	*state = p[2];
	p = stat_field(stat, 9);
	*flags = 0;
	if (p)
		number(&p, 10, ' ', UINT32_MAX, flags);
	return true;
}

/* Return: false: there is no such task, or we may not read it. */
static bool read_stat(const struct host *h, pid_t id, char *stat, size_t size)
{
	char name[32];

	snprintf(name, sizeof(name), "%d/stat", id);
	return host_read(host_tasks(h), name, stat, size) > 0;
}

/* 0: there is no such number. */
static uint64_t stat_number(const char *stat, int n)
{
	const char *p = stat_field(stat, n);
	uint64_t value = 0;

	return !p || parse_digits(&p, 10, UINT64_MAX, &value) ? 0 : value;
}

uint64_t proc_started(const struct host *h, pid_t pid)
{
	char stat[1024];

	return read_stat(h, pid, stat, sizeof(stat)) ? stat_number(stat, 22) : 0;
}

/* Without /proc, or if it hides the process (hidepid), kill(2) shows whether it exists. */
bool proc_ended(const struct host *h, pid_t id, bool is_process, uint64_t started)
{
	const char *state;
	char stat[1024];

	if (!read_stat(h, id, stat, sizeof(stat)))
		return kill(id, 0) && errno == ESRCH;
	state = stat_field(stat, 3);
	if (started && stat_number(stat, 22) != started)
		return true;
	/* If the first thread has ended, it is a zombie until all have. Field 20, the number of threads, counts it. */
	return state && *state && strchr("ZXx", *state) && (!is_process || stat_number(stat, 20) <= 1);
}

/* The clock of a process needs no right and no /proc; the clock of another process's thread cannot be read. */
int proc_cpu_ns(const struct host *h, pid_t id, bool is_process, uint64_t *out)
{
	char name[32], text[128];
	const char *p = text;
	struct timespec ts;
	clockid_t clock;
	ssize_t len;

	if (is_process) {
		if (clock_getcpuclockid(id, &clock) || clock_gettime(clock, &ts))
			return -ESRCH;
		*out = (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
		return 0;
	}
	snprintf(name, sizeof(name), "%d/schedstat", id);
	len = host_read(host_tasks(h), name, text, sizeof(text));
	if (len < 0)
		return (int)len;
	/* A thread that has never run has 0; without these statistics every thread has 0. */
	return number(&p, 10, ' ', UINT64_MAX, out) && *out ? 0 : -ENODATA;
}

/* The kernel escapes a newline in the name of a process in its status, so that the name cannot forge a field. */
static bool status_field(const char *status, const char *name, uint64_t max, uint64_t *out)
{
	const char *p = host_field(status, name);

	return p && !parse_digits(&p, 10, max, out);
}

int proc_owner(const struct host *h, pid_t pid, uid_t *uid, pid_t *parent)
{
	char name[32], status[1024];
	uint64_t id, ppid;
	ssize_t len;

	snprintf(name, sizeof(name), "%d/status", pid);
	len = host_read(h->proc, name, status, sizeof(status));
	if (len < 0)
		return (int)len;
	if (!status_field(status, "PPid", INT32_MAX, &ppid) || !status_field(status, "Uid", UINT32_MAX, &id))
		return -EBADMSG;
	*parent = (pid_t)ppid;
	*uid = (uid_t)id;
	return 0;
}

/* How well @path, of @line of /proc/PID/cgroup, describes the process; 0: not at all, the line is malformed. */
static int cgroup_rank(const char *line, const char *path)
{
	if (!path)
		return 0;
	if (!strcmp(path, "/"))
		return 1;
	if (cgroup_line_is_v2(line))
		return 4;
	return cgroup_line_has(line, "name=systemd") ? 3 : 2;
}

int proc_cgroup(const struct host *h, pid_t pid, char **out)
{
	char path[512], *line = NULL;
	int best = 0, rank, rc = 0;
	const char *found;
	size_t cap = 0;
	FILE *f;

	*out = NULL;
	snprintf(path, sizeof(path), "%s/%d/cgroup", host_tasks(h), pid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (!rc && getline(&line, &cap, f) > 0) {
		line[strcspn(line, "\n")] = 0;
		found = cgroup_line_path(line);
		rank = cgroup_rank(line, found);
		if (rank <= best)
			continue;
		best = rank;
		free(*out);
		*out = strdup(found);
		rc = *out ? 0 : -ENOMEM;
	}
	if (!rc && ferror(f))
		rc = errno ? -errno : -EIO; /* -ESRCH: the process has ended */
	free(line);
	fclose(f);
	return rc || *out ? rc : -ENOENT;
}

/*
 * For kcmp(2), kernel threads and processes that have ended are equal, because they have no memory. So check that @a
 * has memory after the call: then it also had some during the call.
 */
bool proc_share_memory(const struct host *h, pid_t a, pid_t b)
{
	char stat[1024];

	return !syscall(SYS_kcmp, a, b, KCMP_VM, 0, 0) && read_stat(h, a, stat, sizeof(stat)) && stat_number(stat, 23);
}

/* "0.20 0.18 0.12 1/80 11206", proc(5) */
pid_t proc_newest(const struct host *h)
{
	const char *p = NULL;
	char text[128];
	uint64_t id;

	if (host_read(h->proc, "loadavg", text, sizeof(text)) > 0)
		p = strrchr(text, ' ');
	if (!p)
		return 0;
	p++;
	return number(&p, 10, '\n', INT32_MAX, &id) ? (pid_t)id : 0;
}

bool proc_lives(const struct host *h, pid_t pid, pid_t tid)
{
	uint64_t flags;
	char state;

	return read_state(h, pid, tid, &state, &flags) && !strchr("ZXx", state);
}

/*
 * "kworker/0:1H-events" or "kworker/u8:2+flush": the kernel appends the last work of the worker after '-' or '+'. Any
 * thread may have such a name, so check the kernel's own flag for workers.
 */
static void strip_worker(const struct host *h, pid_t pid, pid_t tid, char *name)
{
	static const char worker[] = "kworker/";
	size_t at = sizeof(worker) - 1;
	uint64_t flags;
	char state;

	if (strncmp(name, worker, at) || !strchr("u0123456789", name[at]) || !read_state(h, pid, tid, &state, &flags) ||
	    !(flags & WQ_WORKER))
		return;
	name[at + strcspn(name + at, "-+")] = 0;
}

int proc_comm(const struct host *h, pid_t pid, pid_t tid, char *comm)
{
	char name[80];
	ssize_t len = read_thread(h, pid, tid, "comm", name, sizeof(name));

	if (len < 0)
		return (int)len;
	if (len && name[len - 1] == '\n')
		name[len - 1] = 0;
	strip_worker(h, pid, tid, name);
	comm_set(comm, name);
	return 0;
}

/* The link has the form "mnt:[4026531841]". */
int proc_mntns(const struct host *h, pid_t pid, pid_t tid, uint64_t *out)
{
	static const char kind[] = "mnt:[";
	char path[512], text[64];
	const char *p = text + sizeof(kind) - 1;
	ssize_t len;
	uint64_t ino;

	snprintf(path, sizeof(path), "%s/%d/task/%d/ns/mnt", host_tasks(h), pid, tid);
	len = proc_readlink(path, text, sizeof(text));
	if (len < 0)
		return (int)len;
	if (strncmp(text, kind, sizeof(kind) - 1) || !number(&p, 10, ']', UINT32_MAX, &ino) || *p || !ino)
		return -EBADMSG;
	*out = ino;
	return 0;
}

int proc_hold_mntns(const struct host *h, pid_t pid, uint64_t *out)
{
	struct stat st;
	char path[512];
	int fd, rc;

	snprintf(path, sizeof(path), "%s/%d/ns/mnt", h->proc, pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	rc = fstat(fd, &st) ? -errno : !st.st_ino || st.st_ino > UINT32_MAX ? -EBADMSG : fd;
	if (rc < 0)
		close(fd);
	else
		*out = st.st_ino;
	return rc;
}

/* A directory entry that is a number, else 0. */
static pid_t entry_id(const struct dirent *d)
{
	const char *p = d->d_name;
	uint64_t id;

	return number(&p, 10, 0, INT32_MAX, &id) ? (pid_t)id : 0;
}

/* @but: a thread to leave out, or 0 */
static int list_threads(const struct host *h, pid_t pid, pid_t but, int (*fn)(void *ctx, pid_t pid, pid_t tid),
			void *ctx)
{
	struct dirent *e;
	char path[512];
	int rc = 0;
	pid_t tid;
	DIR *d;

	snprintf(path, sizeof(path), "%s/%d/task", host_tasks(h), pid);
	d = opendir(path);
	while (d && !rc && (e = readdir(d)))
		if ((tid = entry_id(e)) && tid != but)
			rc = fn(ctx, pid, tid);
	if (d)
		closedir(d);
	return rc; /* also 0 if the process has ended */
}

int proc_threads(const struct host *h, pid_t pid, int (*fn)(void *ctx, pid_t pid, pid_t tid), void *ctx)
{
	return list_threads(h, pid, 0, fn, ctx);
}

/* True for most processes: the link count of the directory shows it (proc_task_getattr() in fs/proc/base.c). */
static bool has_one_thread(const struct host *h, pid_t pid)
{
	struct stat st;
	char path[512];

	snprintf(path, sizeof(path), "%s/%d/task", host_tasks(h), pid);
	return !stat(path, &st) && S_ISDIR(st.st_mode) && st.st_nlink == 2 + 1;
}

/*
 * Listing costs the kernel an inode for each thread. If a thread is made while @fn runs, the process has more than one
 * afterwards, and listing finds it.
 */
static int see_process(const struct host *h, pid_t pid, int (*fn)(void *ctx, pid_t pid, pid_t tid), void *ctx)
{
	bool one = has_one_thread(h, pid);
	int rc = 0;

	if (one)
		rc = fn(ctx, pid, pid);
	if (rc || (one && has_one_thread(h, pid)))
		return rc;
	return list_threads(h, pid, one ? pid : 0, fn, ctx);
}

uint32_t proc_pid_words(const struct host *h)
{
	long long max;

	if (host_setting(h, "kernel/pid_max", &max) || max < 1 || max > PID_MAX_LIMIT)
		max = PID_MAX_LIMIT;
	return (uint32_t)max / 64 + 1;
}

int proc_pids(const struct host *h, int (*fn)(void *ctx, pid_t pid), void *ctx)
{
	DIR *d = opendir(host_tasks(h));
	struct dirent *e;
	int rc = 0;
	pid_t pid;

	if (!d)
		return -errno;
	while (!rc && (e = readdir(d)))
		if ((pid = entry_id(e)))
			rc = fn(ctx, pid);
	closedir(d);
	return rc;
}

struct seen_threads {
	const struct host *h;
	int (*fn)(void *ctx, pid_t pid, pid_t tid);
	void *ctx;
};

static int see_threads(void *ctx, pid_t pid)
{
	const struct seen_threads *s = ctx;

	return see_process(s->h, pid, s->fn, s->ctx);
}

int proc_processes(const struct host *h, int (*fn)(void *ctx, pid_t pid, pid_t tid), void *ctx)
{
	return proc_pids(h, see_threads, &(struct seen_threads){ h, fn, ctx });
}
