// SPDX-License-Identifier: Apache-2.0
/* The options that both commands have, and the parsing of their values. */
#include "core/base/clock.h"
#include "core/base/number.h"
#include "core/cli/options_table.h"
#include "core/cli/suggest.h"
#include "core/host/ids.h"
#include "core/host/privileges.h"
#include "core/report/forms.h"
#include "core/cli/backends.h"
#include "core/tasks/cgroup.h"
#include "core/tasks/pinned.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_SECONDS      999999999
#define STACK_ENTRY_SIZE ((127 * 8 + 40) / 2 + 4 * (32 * 8 + 40)) /* bytes, with headers: backend-bpf/map_sizes.h */
#define COMM_MAX         15                                       /* TASK_COMM_LEN - 1 */

int opt_refuse(const struct parse *p, const char *value, const char *fmt, ...)
{
	char why[768];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	return err_set(p->err, -EINVAL, "%s '%.200s': %s", p->spelled, value, why);
}

void *opt_member(const struct parse *p, const struct opt *opt)
{
	return (char *)p->o + opt->at;
}

int opt_set_flag(struct parse *p, const struct opt *opt, const char *value)
{
	(void)value;
	*(bool *)opt_member(p, opt) = true;
	return 0;
}

static int set_folded(struct parse *p, const struct opt *opt, const char *value)
{
	(void)opt;
	(void)value;
	p->o->report.form = &report_folded;
	p->form_given = true;
	return 0;
}

static int set_fail_above(struct parse *p, const struct opt *opt, const char *value)
{
	char *end;
	double points = strtod(value, &end);

	(void)opt;
	if (end == value || *end || value[strspn(value, "0123456789.")] || !(points >= 0 && points <= 100))
		return opt_refuse(p, value, "not a number of points from 0 to 100");
	p->o->fail_above = points;
	return 0;
}

static int refuse_format(const struct parse *p, const char *value)
{
#define LISTED(form) ", " #form
	return opt_refuse(p, value, "not one of %s", &(REPORT_FORMS(LISTED))[strlen(", ")]);
#undef LISTED
}

static int set_format(struct parse *p, const struct opt *opt, const char *value)
{
	const struct report_writer *form = report_form(value);

	(void)opt;
	if (!form)
		return refuse_format(p, value);
	p->o->report.form = form;
	p->form_given = true;
	return 0;
}

static int set_limit(struct parse *p, const struct opt *opt, const char *value)
{
	uint64_t n;
	int rc = opt_parse_number(p, value, UINT32_MAX, "the largest number of lines", &n);

	(void)opt;
	if (!rc)
		p->o->report.limit = (size_t)n;
	return rc;
}

static int set_sort(struct parse *p, const struct opt *opt, const char *value)
{
	(void)opt;
	p->o->report.by_total = !strcmp(value, "total");
	if (!p->o->report.by_total && strcmp(value, "self") != 0)
		return opt_refuse(p, value, "not self or total");
	return 0;
}

int opt_set_action(struct parse *p, const struct opt *opt, const char *value)
{
	(void)value;
	p->o->action = opt->action;
	return 0;
}

int opt_check_text(struct parse *p, const struct opt *opt, const char *value)
{
	(void)opt;
	if (!*value)
		return opt_refuse(p, value, "must not be empty");
	return 0;
}

int opt_set_text(struct parse *p, const struct opt *opt, const char *value)
{
	int rc = opt_check_text(p, opt, value);

	if (!rc)
		*(const char **)opt_member(p, opt) = value;
	return rc;
}

int opt_set_folder(struct parse *p, const struct opt *opt, const char *value)
{
	struct stat st;
	int rc = opt_set_text(p, opt, value);

	if (rc)
		return rc;
	if (stat(value, &st))
		return opt_refuse(p, value, "%s", strerror(errno));
	return S_ISDIR(st.st_mode) ? 0 : opt_refuse(p, value, "Not a directory");
}

int opt_parse_whole(const char *s, uint64_t max, uint64_t *out)
{
	uint64_t n;
	int rc = parse_digits(&s, 10, max, &n);

	if (rc == -EINVAL || *s)
		return -EINVAL;
	if (!rc)
		*out = n;
	return rc;
}

int opt_parse_number(const struct parse *p, const char *value, uint64_t max, const char *limit, uint64_t *out)
{
	int rc = opt_parse_whole(value, max, out);

	if (rc == -EINVAL)
		return opt_refuse(p, value, "not a number");
	if (rc)
		return opt_refuse(p, value, "above %s (%" PRIu64 ")", limit, max);
	if (!*out)
		return opt_refuse(p, value, "must be at least 1");
	return 0;
}

int opt_check_memory(const struct parse *p, const char *value, uint64_t bytes)
{
	uint64_t memory = host_memory_bytes(p->host);

	if (memory && bytes > memory)
		return opt_refuse(p, value, "beyond this host's memory (%" PRIu64 " MiB)", memory >> 20);
	return 0;
}

static int set_stack_entries(struct parse *p, const struct opt *opt, const char *value)
{
	uint64_t n, rounded = 1;
	int rc = opt_parse_number(p, value, 1U << 31, "the largest table", &n);

	(void)opt;
	if (rc)
		return rc;
	while (rounded < n) /* like the kernel, which refuses sizes above 32 bits */
		rounded *= 2;
	rc = opt_check_memory(p, value, rounded * STACK_ENTRY_SIZE);
	if (!rc)
		p->o->tables.stacks = (uint32_t)n;
	return rc;
}

/* Print a list as "0-1,4"; text beyond @size is cut off. */
static void cpu_list_text(const struct cpu_list *l, char *buf, size_t size)
{
	size_t i, first, used = 0;

	buf[0] = 0;
	for (i = 0; i < l->nr && used < size; i++) {
		first = i;
		while (i + 1 < l->nr && l->cpu[i + 1] == l->cpu[i] + 1)
			i++;
		used += snprintf(buf + used, size - used, "%s%d", first ? "," : "", l->cpu[first]);
		if (i > first && used < size)
			used += snprintf(buf + used, size - used, "-%d", l->cpu[i]);
	}
}

static int set_cpu(struct parse *p, const struct opt *opt, const char *value)
{
	uint64_t cpu;
	int rc = opt_parse_whole(value, INT_MAX, &cpu);

	(void)opt;
	if (rc == -EINVAL)
		return opt_refuse(p, value, "not a CPU number");
	p->o->cpu = rc ? INT_MAX : (int)cpu; /* above the range of int: no CPU has this number either */
	p->cpu = value;
	return 0;
}

static int check_cpu(struct parse *p)
{
	struct cpu_list online;
	char text[128];
	int rc = host_online_cpus(p->host, &online, p->err);

	if (rc)
		return rc;
	if (!cpu_list_has(&online, p->o->cpu)) {
		cpu_list_text(&online, text, sizeof(text));
		rc = opt_refuse(p, p->cpu, "CPU is not online (online: %s)", text);
	}
	cpu_list_release(&online);
	return rc;
}

int opt_parse_seconds(const struct parse *p, const char *value, uint64_t *ns)
{
	uint64_t sec = 0, frac = 0;
	const char *s = value, *point;
	ptrdiff_t decimals = 0;
	int rc = parse_digits(&s, 10, MAX_SECONDS, &sec);

	if (rc == -EINVAL && *s != '.')
		return opt_refuse(p, value, "not a number of seconds");
	if (*s == '.') {
		point = ++s;
		if (parse_digits(&s, 10, UINT64_MAX, &frac) == -EINVAL)
			return opt_refuse(p, value, "not a number of seconds");
		decimals = s - point;
	}
	if (*s)
		return opt_refuse(p, value, "not a number of seconds");
	if (decimals > 9)
		return opt_refuse(p, value, "more than 9 decimals");
	for (; decimals < 9; decimals++)
		frac *= 10;
	if (rc == -ERANGE || (sec == MAX_SECONDS && frac))
		return opt_refuse(p, value, "above " STR(MAX_SECONDS) " seconds");
	if (!sec && !frac)
		return opt_refuse(p, value, "must be above 0");
	*ns = sec * NSEC_PER_SEC + frac;
	return 0;
}

static int set_seconds(struct parse *p, const struct opt *opt, const char *value)
{
	return opt_parse_seconds(p, value, opt_member(p, opt));
}

static int set_dump_size(struct parse *p, const struct opt *opt, const char *value)
{
	uint64_t n = 0;

	(void)opt;
	if (opt_parse_whole(value, STACK_DUMP_MAX, &n) || !n || n % 8)
		return opt_refuse(p, value, "must be a multiple of 8 from 8 to " STR(STACK_DUMP_MAX));
	p->o->dump_bytes = (uint32_t)n;
	return 0;
}

static int set_comm(struct parse *p, const struct opt *opt, const char *value)
{
	if (strlen(value) > COMM_MAX)
		return opt_refuse(p, value, "longer than a task's name can be (" STR(COMM_MAX) " bytes)");
	return opt_set_text(p, opt, value);
}

static int refuse_missing(const struct parse *p, pid_t id, const char *text, const char *kind)
{
	char self[PATH_MAX];

	snprintf(self, sizeof(self), "%s/self", p->host->proc);
	if (access(self, F_OK))
		return opt_refuse(p, text, "cannot be looked up without /proc");
	if (!kill(id, 0) || errno == EPERM)
		return opt_refuse(p, text, "cannot be looked up: /proc does not show it (see hidepid in proc(5))");
	return opt_refuse(p, text, "no such %s", kind);
}

/* @by_tid: the letter of an option that takes threads; 0: there is none. */
static int check_task(const struct parse *p, pid_t id, bool is_tid, char by_tid)
{
	uint64_t effective = privileges_lend(); /* /proc may hide processes of other users */
	bool found;
	char text[16];
	pid_t tgid;

	snprintf(text, sizeof(text), "%d", id);
	found = is_tid ? host_is_thread(p->host, id) : host_is_process(p->host, id, &tgid);
	privileges_back(effective);
	if (found)
		return 0;
	if (is_tid)
		return refuse_missing(p, id, text, "thread");
	if (tgid && by_tid)
		return opt_refuse(p, text, "is a thread of process %d (use -%c)", tgid, by_tid);
	if (tgid)
		return opt_refuse(p, text, "is a thread of process %d (use its id)", tgid);
	return refuse_missing(p, id, text, "process");
}

/* Parse the id at *@s, which ends at a comma or at the end of @value. */
static int parse_task(const struct parse *p, const char *value, const char **s, bool is_tid, pid_t *out)
{
	const char *start = *s, *kind = is_tid ? "thread" : "process";
	uint64_t id = 0;
	char text[64];
	int rc = parse_digits(s, 10, INT_MAX, &id);

	if (rc == -EINVAL || (**s && **s != ','))
		return opt_refuse(p, value, strchr(value, ',') ? "not a list of %s ids" : "not a %s id", kind);
	if (rc || !id) {
		snprintf(text, sizeof(text), "%.*s", (int)(*s - start), start);
		return opt_refuse(p, text, "out of range (1 to %d)", INT_MAX);
	}
	*out = (pid_t)id;
	return 0;
}

static bool is_among(const pid_t *pids, size_t nr, pid_t pid)
{
	size_t i = 0;

	while (i < nr && pids[i] != pid)
		i++;
	return i < nr;
}

/*
 * Copy the different ids of @given to @sorted, which has room for @nr, in ascending order. In @given keep the first of
 * equal ids, in the order given. Return: the number of different ids.
 */
static size_t sort_and_fold(pid_t *given, pid_t *sorted, size_t nr)
{
	size_t i, kept = 0, different = 0;

	memcpy(sorted, given, nr * sizeof(*given));
	ids_sort(sorted, nr);
	for (i = 0; i < nr; i++)
		if (!different || sorted[i] != sorted[different - 1])
			sorted[different++] = sorted[i];
	for (i = 0; i < nr; i++)
		if (!is_among(given, kept, given[i]))
			given[kept++] = given[i];
	return different;
}

int opt_set_tasks(struct parse *p, const struct opt *opt, const char *value)
{
	struct options *o = p->o;
	size_t nr = 0, max = 1;
	const char *s;
	int rc = 0;

	if (suggest_comm(value))
		return opt_refuse(p, value, "not a %s id (by name: --comm %s)",
				  opt->letter == p->table->tid ? "thread" : "process", value);
	for (s = value; *s; s++)
		max += *s == ',';
	free(o->pids);
	free(o->given_pids);
	o->pids = calloc(max, sizeof(*o->pids));
	o->given_pids = calloc(max, sizeof(*o->given_pids));
	if (!o->pids || !o->given_pids)
		return err_sys(p->err, -ENOMEM, "%s", p->spelled);
	o->filter.by_tid = opt->letter == p->table->tid;
	for (s = value; nr < max && !rc; s++)
		rc = parse_task(p, value, &s, o->filter.by_tid, &o->given_pids[nr++]);
	if (!rc)
		o->nr_pids = sort_and_fold(o->given_pids, o->pids, nr);
	return rc;
}

int opt_check_tasks(struct parse *p)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < p->o->nr_pids && !rc; i++)
		rc = check_task(p, p->o->pids[i], p->o->filter.by_tid, p->table->tid);
	return rc;
}

/* If a map may not be opened, the error comes when sampling begins. */
static int check_map(const struct parse *p, const char *path)
{
	struct pinned *map;
	struct err why;
	int rc;

	if (access(path, F_OK))
		return opt_refuse(p, path, "%s", strerror(errno));
	rc = pinned_open(&map, p->host, path, &why);
	pinned_close(map);
	return rc == -EINVAL ? opt_refuse(p, path, "not a BPF hash map with keys of 8 bytes") : 0;
}

static int check_cgroup_map(struct parse *p)
{
	return check_map(p, p->o->groups.cgroup_map);
}

static int check_mntns_map(struct parse *p)
{
	return check_map(p, p->o->groups.mntns_map);
}

static int set_mntns(struct parse *p, const struct opt *opt, const char *value)
{
	const char *s = value;
	int rc = parse_task(p, value, &s, false, &p->o->groups.mntns_of);

	(void)opt;
	return !rc && *s ? opt_refuse(p, value, "takes one process id") : rc;
}

static int check_mntns(struct parse *p)
{
	return check_task(p, p->o->groups.mntns_of, false, 0);
}

static int check_cgroup(struct parse *p)
{
	const char *path = p->o->groups.cgroup;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool is_cgroup;

	if (fd < 0)
		return opt_refuse(p, path, "%s", strerror(errno));
	is_cgroup = cgroup_is_folder(fd);
	close(fd);
	return is_cgroup ? 0 : opt_refuse(p, path, "not a cgroup of version 2");
}

static int set_backend(struct parse *p, const struct opt *opt, const char *value)
{
	(void)opt;
	if (strcmp(value, "auto") && strcmp(value, WAY_BOTH) && !way_find(ways_here, value))
		return opt_refuse(p, value, "not one of auto, bpf, perfring, both");
	p->o->backend = strcmp(value, "auto") ? value : NULL;
	return 0;
}

static int set_unwind(struct parse *p, const struct opt *opt, const char *value)
{
	enum unwind_mode mode;

	(void)opt;
	if (!unwind_mode_of(value, &mode))
		return opt_refuse(p, value, "not one of auto, fp, dwarf, libunwind, both");
	if (unwind_needs_libunwind(mode) && !unwind_has_libunwind())
		return opt_refuse(p, value, "this program was built without libunwind");
	p->o->unwind = mode;
	return 0;
}

static int set_color(struct parse *p, const struct opt *opt, const char *value)
{
	static const char *const names[] = {
		[COLOR_AUTO] = "auto",
		[COLOR_ALWAYS] = "always",
		[COLOR_NEVER] = "never",
	};
	size_t i = 0;

	(void)opt;
	while (i < ARRAY_SIZE(names) && strcmp(names[i], value) != 0)
		i++;
	if (i == ARRAY_SIZE(names))
		return opt_refuse(p, value, "not one of auto, always, never");
	p->o->color = (enum color_use)i;
	return 0;
}

/* -h is one screen, --help is complete. */
static int set_help(struct parse *p, const struct opt *opt, const char *value)
{
	(void)opt;
	(void)value;
	p->o->action = p->spelled[1] == '-' ? ACTION_HELP : ACTION_SUMMARY;
	return 0;
}

OPT_ROW(opt_pid, 'p', "pid", "PID,...", "only these processes", .set = opt_set_tasks, .here = opt_check_tasks,
	.group = OPT_WHAT, .brief = true);
OPT_ROW(opt_user_stacks, 'U', "user-stacks-only", NULL, "only user stacks", .set = opt_set_flag,
	.at = OPT_AT(filter.no_kernel), .group = OPT_WHAT);
OPT_ROW(opt_kernel_stacks, 'K', "kernel-stacks-only", NULL, "only kernel stacks", .set = opt_set_flag,
	.at = OPT_AT(filter.no_user), .group = OPT_WHAT);
OPT_ROW(opt_delimited, 'd', "delimited", NULL, "a delimiter between kernel and user stack", .set = opt_set_flag,
	.at = OPT_AT(report.delimited), .group = OPT_OUTPUT);
OPT_ROW(opt_annotations, 'a', "annotations", NULL, "_[k] after kernel frames, _[i] inlined, _[j] JIT code",
	.set = opt_set_flag, .at = OPT_AT(report.annotations), .group = OPT_OUTPUT);
OPT_ROW(opt_folded, 'f', "folded", NULL, "one line per stack, as flame graph tools read it", .set = set_folded,
	.group = OPT_OUTPUT, .brief = true);
OPT_ROW(opt_offsets, 's', "symbol-offset", NULL, "frames as name+0xoff [module]", .set = opt_set_flag,
	.at = OPT_AT(report.offsets), .group = OPT_OUTPUT);
OPT_ROW(opt_stack_entries, 0, "stack-storage-size", "N",
	"entries of the in-kernel stack table (default " STR(STACK_ENTRIES) ")", .set = set_stack_entries, .live = true,
	.group = OPT_HOW);
OPT_ROW(opt_cpu, 'C', "cpu", "CPU", "only this CPU", .set = set_cpu, .here = check_cpu, .group = OPT_WHAT);
OPT_ROW(opt_cgroup_map, 0, "cgroupmap", "PATH", "only cgroups in this pinned BPF map", .set = opt_set_text,
	.at = OPT_AT(groups.cgroup_map), .live = true, .here = check_cgroup_map, .group = OPT_WHAT);
OPT_ROW(opt_mntns_map, 0, "mntnsmap", "PATH", "only mount namespaces in this pinned BPF map", .set = opt_set_text,
	.at = OPT_AT(groups.mntns_map), .live = true, .here = check_mntns_map, .group = OPT_WHAT);
OPT_ROW(opt_backend, 0, "backend", "auto|bpf|perfring|both", "the backend that counts (default auto)",
	.set = set_backend, .live = true, .group = OPT_HOW);
OPT_ROW(opt_unwind, 0, "unwind", "auto|fp|dwarf|libunwind|both", "how user stacks are walked (default auto)",
	.set = set_unwind, .group = OPT_HOW, .brief = true);
OPT_ROW(opt_print_bpf, 0, "ebpf", NULL, "print the BPF program's source and exit", .set = opt_set_action,
	.action = ACTION_PRINT_BPF, .group = OPT_DIAGNOSIS);
OPT_ROW(opt_list_backends, 0, "list-backends", NULL, "show for each backend whether it works here, and the cause",
	.set = opt_set_action, .action = ACTION_LIST_BACKENDS, .group = OPT_DIAGNOSIS);
OPT_ROW(opt_dump_size, 0, "stack-dump-size", "BYTES",
	"stack copied with each sample, to unwind it (default: by the rate)", .set = set_dump_size, .live = true,
	.group = OPT_HOW);
OPT_ROW(opt_interval, 'i', "interval", "SECONDS", "a report each interval, not one at the end", .set = set_seconds,
	.at = OPT_AT(interval_ns), .live = true, .group = OPT_HOW, .brief = true);
OPT_ROW(opt_kallsyms, 0, "kallsyms", "FILE", "kernel names from this copy of /proc/kallsyms", .set = opt_set_text,
	.at = OPT_AT(kallsyms), .group = OPT_NAMES);
OPT_ROW(opt_vmlinux, 0, "vmlinux", "FILE", "kernel names from this kernel image", .set = opt_set_text,
	.at = OPT_AT(vmlinux), .group = OPT_NAMES);
OPT_ROW(opt_debug_dir, 0, "debug-dir", "DIR", "look for debug files in DIR first, then in /usr/lib/debug",
	.set = opt_set_folder, .at = OPT_AT(debug_dir), .group = OPT_NAMES);
OPT_ROW(opt_inline, 0, "inline", NULL, "show inlined functions as frames (needs debug information)",
	.set = opt_set_flag, .at = OPT_AT(report.inlined), .group = OPT_NAMES);
OPT_ROW(opt_source, 0, "source", NULL, "with -s: file.c:123 of each user frame (needs debug information)",
	.set = opt_set_flag, .at = OPT_AT(report.source), .group = OPT_NAMES);
OPT_ROW(opt_cgroup, 0, "cgroup", "PATH", "only tasks in this cgroup and below", .set = opt_set_text,
	.at = OPT_AT(groups.cgroup), .here = check_cgroup, .group = OPT_WHAT, .brief = true);
OPT_ROW(opt_mntns, 0, "mntns", "PID", "only the mount namespace of this process", .set = set_mntns, .live = true,
	.here = check_mntns, .group = OPT_WHAT);
OPT_ROW(opt_comm, 0, "comm", "NAME", "only threads of this name", .set = set_comm, .at = OPT_AT(filter.comm),
	.group = OPT_WHAT);
OPT_ROW(opt_format, 0, "format", "FORM", "text, folded, top, html, pprof, speedscope, json", .set = set_format,
	.group = OPT_OUTPUT, .brief = true);
OPT_ROW(opt_limit, 0, "limit", "N", "lines of each table of top (default " STR(TABLE_LINES) ")", .set = set_limit,
	.group = OPT_OUTPUT);
OPT_ROW(opt_sort, 0, "sort", "self|total", "order of functions in top (default self)", .set = set_sort,
	.group = OPT_OUTPUT);
OPT_ROW(opt_baseline, 0, "baseline", "FILE", "compare with this report or recording", .set = opt_set_text,
	.at = OPT_AT(baseline), .group = OPT_OUTPUT);
OPT_ROW(opt_absolute, 0, "absolute", NULL, "with --baseline: compare values, not shares", .set = opt_set_flag,
	.at = OPT_AT(report.absolute), .group = OPT_OUTPUT);
OPT_ROW(opt_fail_above, 0, "fail-above", "POINTS", "with --baseline: exit with 4 if a function grew by more",
	.set = set_fail_above, .group = OPT_OUTPUT);
OPT_ROW(opt_output, 'o', "output", "FILE", "write the report to FILE, whole or not at all", .set = opt_set_text,
	.at = OPT_AT(output), .group = OPT_OUTPUT, .brief = true);
OPT_ROW(opt_color, 0, "color", "auto|always|never", "color the words error: and WARNING: (default auto)",
	.set = set_color, .group = OPT_OUTPUT);
OPT_ROW(opt_stats, 0, "stats", NULL, "statistics: samples taken, counted, lost and why, to stderr", .set = opt_set_flag,
	.at = OPT_AT(stats), .group = OPT_DIAGNOSIS);
OPT_ROW(opt_help, 'h', "help", NULL, "-h: the options used most; --help: all options", .set = set_help,
	.group = OPT_DIAGNOSIS);
OPT_ROW(opt_version, 0, "version", NULL, "show the version and exit", .set = opt_set_action, .action = ACTION_VERSION,
	.group = OPT_DIAGNOSIS);
