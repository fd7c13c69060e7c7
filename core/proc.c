// SPDX-License-Identifier: Apache-2.0
#include "core/proc.h"

#include "core/tasks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Digits of @base up to a character that is @end; moves *@p behind it. */
static bool number(char **p, int base, char end, uint64_t *out)
{
	uint64_t v = 0;
	int digits = 0, d;
	char c;

	for (;; (*p)++, digits++) {
		c = **p;
		d = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
		if (d >= base)
			break;
		if (v > (UINT64_MAX - (uint64_t)d) / (uint64_t)base)
			return false;
		v = v * (uint64_t)base + (uint64_t)d;
	}
	if (!digits || c != end)
		return false;
	(*p)++;
	*out = v;
	return true;
}

/* The kernel writes \ooo for a newline in a path, and for nothing else. */
static void unescape(char *s)
{
	char *to = s;

	for (; *s; s++) {
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
	static const char deleted[] = " (deleted)";
	uint64_t maj, min, start, end, pgoff, ino;
	char *p = line, *perms;
	size_t len;

	if (!number(&p, 16, '-', &start) || !number(&p, 16, ' ', &end) || start >= end)
		return -EINVAL;
	perms = p;
	if (strnlen(perms, 5) < 5 || perms[4] != ' ')
		return -EINVAL;
	p += 5;
	if (!number(&p, 16, ' ', &pgoff) || !number(&p, 16, ':', &maj) || !number(&p, 16, ' ', &min) ||
	    maj > UINT32_MAX || min > UINT32_MAX)
		return -EINVAL;
	/* The inode is the last thing of a line without a path. */
	len = strcspn(p, " ");
	if (!p[len]) {
		if (!number(&p, 10, 0, &ino))
			return -EINVAL;
		p--;
	} else if (!number(&p, 10, ' ', &ino)) {
		return -EINVAL;
	}
	p += strspn(p, " ");
	unescape(p);
	len = strlen(p);
	if (len > sizeof(deleted) - 1 && !strcmp(p + len - (sizeof(deleted) - 1), deleted))
		p[len - (sizeof(deleted) - 1)] = 0;
	*out = (struct proc_map){ start, end, pgoff, perms[2] == 'x', (uint32_t)maj, (uint32_t)min, ino, p };
	return 0;
}

int proc_maps(const struct host *h, pid_t pid, int (*fn)(void *ctx, const struct proc_map *m), void *ctx)
{
	struct proc_map m;
	char path[512], *line = NULL;
	size_t cap = 0;
	ssize_t len;
	FILE *f;
	int rc = 0;

	snprintf(path, sizeof(path), "%s/%d/maps", h->proc, pid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	/* A line is bounded by PATH_MAX: the kernel writes this file. */
	while (!rc && (len = getline(&line, &cap, f)) > 0) {
		if (line[len - 1] == '\n')
			line[len - 1] = 0;
		if (!proc_map_parse(line, &m))
			rc = fn(ctx, &m);
	}
	free(line);
	fclose(f);
	return rc;
}

/* "kworker/0:1H-events" or "kworker/u8:2+flush": the kernel adds what the worker last did, after '-' or '+'. */
static void strip_worker(char *name)
{
	static const char worker[] = "kworker/";
	size_t at = sizeof(worker) - 1;

	if (strncmp(name, worker, at) || !strchr("u0123456789", name[at]))
		return;
	name[at + strcspn(name + at, "-+")] = 0;
}

int proc_comm(const struct host *h, pid_t pid, pid_t tid, char *comm)
{
	char path[512], name[80];
	ssize_t len;
	int fd, code;

	snprintf(path, sizeof(path), "%s/%d/task/%d/comm", h->proc, pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	len = read(fd, name, sizeof(name) - 1);
	code = len < 0 ? -errno : 0;
	close(fd);
	if (len < 0)
		return code;
	name[len] = 0;
	if (len && name[len - 1] == '\n')
		name[len - 1] = 0;
	strip_worker(name);
	memset(comm, 0, COMM_LEN);
	memcpy(comm, name, strnlen(name, COMM_LEN - 1));
	return 0;
}

/* A directory entry that is a number, else 0. */
static pid_t entry_id(const struct dirent *d)
{
	char *p = (char *)d->d_name;
	uint64_t id;

	return number(&p, 10, 0, &id) && id <= INT32_MAX ? (pid_t)id : 0;
}

static int each_thread(const char *dir, pid_t pid, int (*fn)(void *ctx, pid_t pid, pid_t tid), void *ctx)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int rc = 0;
	pid_t tid;

	if (!d)
		return 0; /* it is gone */
	while (!rc && (e = readdir(d)))
		if ((tid = entry_id(e)))
			rc = fn(ctx, pid, tid);
	closedir(d);
	return rc;
}

int proc_threads(const struct host *h, int (*fn)(void *ctx, pid_t pid, pid_t tid), void *ctx)
{
	DIR *d = opendir(h->proc);
	struct dirent *e;
	char path[512];
	int rc = 0;
	pid_t pid;

	if (!d)
		return -errno;
	while (!rc && (e = readdir(d))) {
		pid = entry_id(e);
		if (!pid)
			continue;
		snprintf(path, sizeof(path), "%s/%d/task", h->proc, pid);
		rc = each_thread(path, pid, fn, ctx);
	}
	closedir(d);
	return rc;
}
