// SPDX-License-Identifier: Apache-2.0
#include "core/host/host.h"

#include "core/base/err.h"
#include "core/base/number.h"
#include "core/base/saturate.h"
#include "core/host/pidns.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_CPU 65535

struct host host_here = { .proc = "/proc", .sys = "/sys" };

void host_here_look(void)
{
	host_here.foreign = pidns_proc_is_foreign();
}

const char *host_tasks(const struct host *h)
{
	return h->foreign ? "/dev/null" : h->proc;
}

static ssize_t read_open(int fd, char *buf, size_t size)
{
	size_t len = 0;
	ssize_t n;

	while ((n = read(fd, buf + len, size - 1 - len)) > 0)
		len += n;
	n = n < 0 ? -errno : (ssize_t)len;
	buf[len] = 0;
	return n;
}

static void close_kept(int *kept)
{
	if (*kept)
		close(*kept);
	*kept = 0;
}

/*
 * As host_read(), but the file stays open: the kernel writes a file of sysfs anew if it is read from its beginning. It
 * is opened again if that fails, as for a file of lxcfs that was mounted anew.
 * @kept: its descriptor, for the next call; 0: none, and 0 itself is not kept
 */
static ssize_t read_again(int *kept, const char *top, const char *name, char *buf, size_t size)
{
	char path[PATH_MAX];
	ssize_t n;
	int fd;

	if (*kept && !lseek(*kept, 0, SEEK_SET)) {
		n = read_open(*kept, buf, size);
		if (n >= 0)
			return n;
	}
	close_kept(kept);
	if (snprintf(path, sizeof(path), "%s/%s", top, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read_open(fd, buf, size);
	if (n >= 0 && fd)
		*kept = fd;
	else
		close(fd);
	return n;
}

ssize_t host_read(const char *top, const char *name, char *buf, size_t size)
{
	int kept = 0;
	ssize_t n = read_again(&kept, top, name, buf, size);

	close_kept(&kept);
	return n;
}

/* All of the file must fit into @size - 1 bytes, otherwise -EFBIG. @n: see host_read() */
static ssize_t whole(ssize_t n, size_t size)
{
	return n == (ssize_t)size - 1 ? -EFBIG : n;
}

const char *host_field(const char *text, const char *name)
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

/* Parse "5" or "8-11" at *@s: the first and last number, which must not be below @min. */
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

/* If @out is NULL, only count and check. Return: how many CPUs there are, or -EINVAL. */
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

static int affinity_cpus(const char *which, struct cpu_list *out, struct err *err)
{
	size_t size = CPU_ALLOC_SIZE(MAX_CPU + 1), nr = 0;
	cpu_set_t *set = CPU_ALLOC(MAX_CPU + 1);
	int *cpu = NULL, i, rc = 0;

	if (!set)
		return err_sys(err, -ENOMEM, "cannot list the %s CPUs", which);
	CPU_ZERO_S(size, set);
	if (sched_getaffinity(0, size, set)) {
		rc = err_sys(err, -errno, "cannot list the %s CPUs: sched_getaffinity", which);
		goto out;
	}
	cpu = calloc(CPU_COUNT_S(size, set), sizeof(*cpu));
	if (!cpu) {
		rc = err_sys(err, -ENOMEM, "cannot list the %s CPUs", which);
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

/*
 * @which: a list of /sys/devices/system/cpu
 * @kept: see host_online_again()
 */
static int read_cpus(const struct host *h, const char *which, int *kept, struct cpu_list *out, struct err *err)
{
	char text[65536 + 1]; /* a sysfs file is less than one page, which is 64 KiB on some kernels */
	char name[64];
	int rc;

	snprintf(name, sizeof(name), "devices/system/cpu/%s", which);
	rc = whole(read_again(kept, h->sys, name, text, sizeof(text)), sizeof(text));
	if (descriptors_ran_out(rc) || rc == -ENOMEM) /* the file may exist, with other contents */
		return err_sys(err, rc, "cannot read '%s/%s'", h->sys, name);
	if (rc < 0)
		return affinity_cpus(which, out, err);
	rc = cpu_list_parse(text, out);
	if (rc == -EINVAL)
		return err_set(err, rc, "'%s/%s': not a list of CPUs", h->sys, name);
	if (rc)
		return err_sys(err, rc, "cannot list the %s CPUs", which);
	return 0;
}

static int host_cpus(const struct host *h, const char *which, struct cpu_list *out, struct err *err)
{
	int kept = 0, rc = read_cpus(h, which, &kept, out, err);

	close_kept(&kept);
	return rc;
}

int host_online_cpus(const struct host *h, struct cpu_list *out, struct err *err)
{
	return host_cpus(h, "online", out, err);
}

int host_online_again(const struct host *h, int *kept, struct cpu_list *out, struct err *err)
{
	return read_cpus(h, "online", kept, out, err);
}

int host_possible_cpus(const struct host *h, struct cpu_list *out, struct err *err)
{
	return host_cpus(h, "possible", out, err);
}

int host_present_cpus(const struct host *h, struct cpu_list *out, struct err *err)
{
	return host_cpus(h, "present", out, err);
}

/* Time of guests on this host is part of user time. */
enum { STAT_USER, STAT_NICE, STAT_SYSTEM, STAT_IDLE, STAT_IOWAIT, STAT_IRQ, STAT_SOFTIRQ, STAT_STEAL, STAT_FIELDS };

/* Parse "cpu3 1 2 3 4 5 6 7 8 ..."; newer kernels have more fields. */
static int parse_cpu_times(const char *s, uint64_t tick_ns, uint64_t *cpu, struct cpu_times *out)
{
	uint64_t ticks[STAT_FIELDS];
	size_t i;

	s += strlen("cpu");
	if (parse_digits(&s, 10, MAX_CPU, cpu))
		return -EINVAL;
	/* Limit each number, so that their sum in ns does not overflow. */
	for (i = 0; i < STAT_FIELDS; i++)
		if (*s++ != ' ' || parse_digits(&s, 10, UINT64_MAX / STAT_FIELDS / tick_ns, &ticks[i]))
			return -EINVAL;
	if (*s != ' ' && *s != '\n')
		return -EINVAL;
	*out = (struct cpu_times){
		.listed = true,
		.idle_ns = (ticks[STAT_IDLE] + ticks[STAT_IOWAIT]) * tick_ns,
		.steal_ns = ticks[STAT_STEAL] * tick_ns,
		.busy_ns = (ticks[STAT_USER] + ticks[STAT_NICE] + ticks[STAT_SYSTEM] + ticks[STAT_IRQ] +
			    ticks[STAT_SOFTIRQ]) *
			   tick_ns,
	};
	return 0;
}

/* The CPUs come first, ascending like @cpus. The next line has a number for each interrupt: do not read all of it. */
static int read_cpu_times(FILE *f, uint64_t tick_ns, const struct cpu_list *cpus, struct cpu_times *out)
{
	char line[512]; /* "cpu" and eleven numbers, of at most 20 digits */
	struct cpu_times times;
	uint64_t cpu, min = 0;
	size_t i = 0;

	if (!fgets(line, sizeof(line), f))
		return ferror(f) ? -errno : -EINVAL;
	if (strncmp(line, "cpu ", 4))
		return -EINVAL;
	while (fgets(line, sizeof(line), f) && !strncmp(line, "cpu", 3)) {
		if (parse_cpu_times(line, tick_ns, &cpu, &times) || cpu < min || !strchr(line, '\n'))
			return -EINVAL;
		min = cpu + 1;
		while (i < cpus->nr && (uint64_t)cpus->cpu[i] < cpu)
			i++;
		if (i < cpus->nr && (uint64_t)cpus->cpu[i] == cpu)
			out[i] = times;
	}
	return ferror(f) ? -errno : min ? 0 : -EINVAL;
}

int host_cpu_times(const struct host *h, const struct cpu_list *cpus, struct cpu_times *out, struct err *err)
{
	long ticks_per_sec = sysconf(_SC_CLK_TCK);
	char path[PATH_MAX];
	FILE *f;
	int rc;

	memset(out, 0, cpus->nr * sizeof(*out));
	if (snprintf(path, sizeof(path), "%s/stat", h->proc) >= (int)sizeof(path))
		return err_sys(err, -ENAMETOOLONG, "cannot read the times of the CPUs");
	f = fopen(path, "re");
	if (!f)
		return err_sys(err, -errno, "cannot open '%s'", path);
	rc = read_cpu_times(f, 1000000000 / ticks_per_sec, cpus, out);
	fclose(f);
	if (!rc)
		return 0;
	memset(out, 0, cpus->nr * sizeof(*out));
	if (rc == -EINVAL)
		return err_set(err, rc, "'%s': not the times of CPUs", path);
	return err_sys(err, rc, "cannot read '%s'", path);
}

void cpu_times_passed(const struct cpu_times *before, const struct cpu_times *after, size_t nr, struct cpu_times *sum)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		if (!before[i].listed || !after[i].listed)
			continue;
		sum->listed = true;
		sum->idle_ns += sub_or_0(after[i].idle_ns, before[i].idle_ns);
		sum->steal_ns += sub_or_0(after[i].steal_ns, before[i].steal_ns);
		sum->busy_ns += sub_or_0(after[i].busy_ns, before[i].busy_ns);
	}
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
	rc = whole(host_read(h->proc, path, text, sizeof(text)), sizeof(text));
	if (rc < 0)
		return (int)rc;
	negative = *s == '-';
	s += negative;
	if (parse_digits(&s, 10, LLONG_MAX, &n) || (*s && strcmp(s, "\n")))
		return -EINVAL;
	*out = negative ? -(long long)n : (long long)n;
	return 0;
}

/* Copy the value of a line that begins with "@name:"; @line has the first bytes of the line. */
static int take_field(const char *line, const char *name, char *out, size_t size)
{
	const char *value = host_field(line, name);
	size_t len = strcspn(value, "\n");

	if (len >= size || !value[len])
		return -EFBIG;
	memcpy(out, value, len);
	out[len] = 0;
	return 0;
}

/*
 * Read line by line: the line of groups may be longer than all others. The kernel escapes newlines in the task's name.
 */
int host_task_field(const struct host *h, const char *task, const char *name, char *out, size_t size)
{
	char path[PATH_MAX], line[512];
	bool begins = true;
	int rc = -ENOENT;
	FILE *f;

	if (snprintf(path, sizeof(path), "%s/%s/status", h->proc, task) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (rc == -ENOENT && fgets(line, sizeof(line), f)) {
		size_t len = strlen(name);

		if (begins && !strncmp(line, name, len) && line[len] == ':')
			rc = take_field(line, name, out, size);
		begins = strchr(line, '\n');
	}
	if (rc == -ENOENT && ferror(f))
		rc = -EIO;
	fclose(f);
	return rc;
}

uint64_t host_memory_bytes(const struct host *h)
{
	const char *s;
	char text[4096];
	uint64_t kib;

	if (host_read(h->proc, "meminfo", text, sizeof(text)) < 0)
		return 0;
	s = host_field(text, "MemTotal");
	if (!s || parse_digits(&s, 10, UINT64_MAX / 1024, &kib) || strncmp(s, " kB", 3))
		return 0;
	return kib * 1024;
}

/* Test an id of a process or a thread. */
static bool is_here(pid_t id)
{
	return id > 0 && (!kill(id, 0) || errno == EPERM);
}

int host_is_process(const struct host *h, pid_t pid, pid_t *tgid)
{
	char name[64], text[4096];
	const char *s;
	uint64_t n;

	*tgid = 0;
	if (h->foreign)
		return is_here(pid);
	snprintf(name, sizeof(name), "%d/status", pid);
	if (host_read(h->proc, name, text, sizeof(text)) < 0)
		return 0;
	/* The task chooses its name, which is in an earlier line, but the kernel escapes newlines in it. */
	s = host_field(text, "Tgid");
	if (!s || parse_digits(&s, 10, INT_MAX, &n) || *s != '\n')
		return 0;
	*tgid = (pid_t)n;
	return *tgid == pid;
}

bool host_has_pmu(const struct host *h)
{
	static const char *const files[] = { "cpu", "*/cpus" };
	char path[PATH_MAX];
	glob_t found;
	bool has = false;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(files) && !has; i++) {
		snprintf(path, sizeof(path), "%s/bus/event_source/devices/%s", h->sys, files[i]);
		has = !glob(path, 0, NULL, &found);
		globfree(&found);
	}
	return has;
}

/* Look up the path: /proc lists only leaders, but has every thread. */
int host_is_thread(const struct host *h, pid_t tid)
{
	char path[PATH_MAX];

	if (h->foreign)
		return is_here(tid);
	if (snprintf(path, sizeof(path), "%s/%d/status", h->proc, tid) >= (int)sizeof(path))
		return 0;
	return access(path, F_OK) == 0;
}

bool host_is_zombie(const struct host *h, pid_t id, bool is_process)
{
	char task[16], state[32], threads[32];

	snprintf(task, sizeof(task), "%d", id);
	if (h->foreign || host_task_field(h, task, "State", state, sizeof(state)) || *state != 'Z')
		return false;
	/* The first thread of a process may have ended, and be a zombie, while others still run. */
	return !is_process || host_task_field(h, task, "Threads", threads, sizeof(threads)) || !strcmp(threads, "1");
}
