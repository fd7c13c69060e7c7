// SPDX-License-Identifier: Apache-2.0
#include "core/host.h"

#include "core/number.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_CPU 65535

const struct host host_here = { .proc = "/proc", .sys = "/sys" };

/* The first @size - 1 bytes of @top/@name, zero terminated. Return: how many there are, or -errno. */
static ssize_t read_head(const char *top, const char *name, char *buf, size_t size)
{
	char path[PATH_MAX];
	size_t len = 0;
	ssize_t n;
	int fd;

	if (snprintf(path, sizeof(path), "%s/%s", top, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while ((n = read(fd, buf + len, size - 1 - len)) > 0)
		len += n;
	n = n < 0 ? -errno : (ssize_t)len;
	close(fd);
	buf[len] = 0;
	return n;
}

/* As read_head(), for a file that must fit: -EFBIG when it does not. */
static ssize_t read_whole(const char *top, const char *name, char *buf, size_t size)
{
	ssize_t n = read_head(top, name, buf, size);

	return n == (ssize_t)size - 1 ? -EFBIG : n;
}

/* What follows "@name:" and blanks in a text of such lines, or NULL. */
static const char *field(const char *text, const char *name)
{
	size_t len = strlen(name);

	while (text) {
		if (!strncmp(text, name, len) && text[len] == ':')
			return text + len + 1 + strspn(text + len + 1, " \t");
		text = strchr(text, '\n');
		if (text)
			text++;
	}
	return NULL;
}

/* "5" or "8-11" at *@s: its first and last number, which are not below @min. */
static int parse_range(const char **s, uint64_t min, uint64_t *first, uint64_t *last)
{
	if (parse_digits(s, 10, MAX_CPU, first) || *first < min)
		return -EINVAL;
	*last = *first;
	if (**s != '-')
		return 0;
	++*s;
	return parse_digits(s, 10, MAX_CPU, last) || *last < *first ? -EINVAL : 0;
}

/* Without @out the list is only counted and checked. Return: how many CPUs there are, or -EINVAL. */
static int parse_cpus(const char *text, int *out)
{
	uint64_t first, last, min = 0;
	int nr = 0;

	for (;; text++) {
		if (parse_range(&text, min, &first, &last))
			return -EINVAL;
		min = last + 1;
		for (; first <= last; first++, nr++)
			if (out)
				out[nr] = (int)first;
		if (*text != ',')
			break;
	}
	return !*text || !strcmp(text, "\n") ? nr : -EINVAL;
}

int cpu_list_parse(const char *text, struct cpu_list *out)
{
	int nr = parse_cpus(text, NULL);
	int *cpu;

	if (nr < 0)
		return nr;
	cpu = calloc(nr, sizeof(*cpu));
	if (!cpu)
		return -ENOMEM;
	parse_cpus(text, cpu);
	*out = (struct cpu_list){ .cpu = cpu, .nr = nr };
	return 0;
}

bool cpu_list_has(const struct cpu_list *l, int cpu)
{
	size_t i;

	for (i = 0; i < l->nr; i++)
		if (l->cpu[i] == cpu)
			return true;
	return false;
}

void cpu_list_release(struct cpu_list *l)
{
	free(l->cpu);
	*l = (struct cpu_list){ 0 };
}

static int affinity_cpus(struct cpu_list *out, struct err *err)
{
	size_t size = CPU_ALLOC_SIZE(MAX_CPU + 1), nr = 0;
	cpu_set_t *set = CPU_ALLOC(MAX_CPU + 1);
	int *cpu = NULL, i, rc = 0;

	if (!set)
		return err_sys(err, -ENOMEM, "cannot list the online CPUs");
	CPU_ZERO_S(size, set);
	if (sched_getaffinity(0, size, set)) {
		rc = err_sys(err, -errno, "cannot list the online CPUs: sched_getaffinity");
		goto out;
	}
	cpu = calloc(CPU_COUNT_S(size, set), sizeof(*cpu));
	if (!cpu) {
		rc = err_sys(err, -ENOMEM, "cannot list the online CPUs");
		goto out;
	}
	for (i = 0; i <= MAX_CPU; i++)
		if (CPU_ISSET_S(i, size, set))
			cpu[nr++] = i;
	*out = (struct cpu_list){ .cpu = cpu, .nr = nr };
out:
	CPU_FREE(set);
	return rc;
}

int host_online_cpus(const struct host *h, struct cpu_list *out, struct err *err)
{
	static const char name[] = "devices/system/cpu/online";
	char text[65536 + 1]; /* a sysfs file is less than one page, which is 64 KiB on some kernels */
	int rc;

	if (read_whole(h->sys, name, text, sizeof(text)) < 0)
		return affinity_cpus(out, err);
	rc = cpu_list_parse(text, out);
	if (rc == -EINVAL)
		return err_set(err, rc, "'%s/%s': not a list of CPUs", h->sys, name);
	if (rc)
		return err_sys(err, rc, "cannot list the online CPUs");
	return 0;
}

int host_setting(const struct host *h, const char *name, long long *out)
{
	char path[256], text[64];
	const char *s = text;
	bool negative;
	uint64_t n;
	ssize_t rc;

	if (snprintf(path, sizeof(path), "sys/%s", name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	rc = read_whole(h->proc, path, text, sizeof(text));
	if (rc < 0)
		return (int)rc;
	negative = *s == '-';
	s += negative;
	if (parse_digits(&s, 10, LLONG_MAX, &n) || (*s && strcmp(s, "\n")))
		return -EINVAL;
	*out = negative ? -(long long)n : (long long)n;
	return 0;
}

uint64_t host_memory_bytes(const struct host *h)
{
	const char *s;
	char text[4096];
	uint64_t kib;

	if (read_head(h->proc, "meminfo", text, sizeof(text)) < 0)
		return 0;
	s = field(text, "MemTotal");
	if (!s || parse_digits(&s, 10, UINT64_MAX / 1024, &kib) || strncmp(s, " kB", 3))
		return 0;
	return kib * 1024;
}

int host_is_process(const struct host *h, pid_t pid, pid_t *tgid)
{
	char name[64], text[4096];
	const char *s;
	uint64_t n;

	*tgid = 0;
	snprintf(name, sizeof(name), "%d/status", pid);
	if (read_head(h->proc, name, text, sizeof(text)) < 0)
		return 0;
	/* The name, in the line before, is the task's own choice, but the kernel escapes newlines in it. */
	s = field(text, "Tgid");
	if (!s || parse_digits(&s, 10, INT_MAX, &n) || *s != '\n')
		return 0;
	*tgid = (pid_t)n;
	return *tgid == pid;
}

/* By name: /proc lists only leaders, but finds every thread. */
int host_is_thread(const struct host *h, pid_t tid)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%d/status", h->proc, tid) >= (int)sizeof(path))
		return 0;
	return access(path, F_OK) == 0;
}
