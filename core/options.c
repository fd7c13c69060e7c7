// SPDX-License-Identifier: Apache-2.0
#include "core/options.h"

#include "core/backend.h"
#include "core/cgroup.h"
#include "core/clock.h"
#include "core/ids.h"
#include "core/number.h"
#include "core/pinned.h"
#include "core/privileges.h"
#include "core/recording.h"
#include "core/report/labels.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FREQ_HZ       49 /* not 50: out of step with timers */
#define HASH_ENTRIES  40960
#define STACK_ENTRIES 16384
#define STR_(n)       #n
#define STR(n)        STR_(n)

#define MAX_SECONDS      999999999
#define DUMP_SIZE        16384
#define HASH_ENTRY_SIZE  100            /* bytes: key, value and the kernel's list node */
#define STACK_ENTRY_SIZE (127 * 8 + 40) /* bytes: kernel.perf_event_max_stack addresses, a head */
#define COMM_MAX         15             /* TASK_COMM_LEN - 1 */

struct opt;

/** struct parse - a command line in work. */
struct parse {
	struct options *o;
	const struct host *host;
	struct err *err;
	const char *cpu;       /* -C as it was written */
	const char *spelled;   /* the option at hand, as the user wrote it: "-p" or "--pid" */
	uint64_t seen;         /* bit i: options[i] was there */
	uint64_t spelled_long; /* bit i: in its long form, where it has another one */
};

/** opt_set - check @value (NULL: the option takes none), store it. Return: 0; -errno, described in p->err */
typedef int (*opt_set)(struct parse *p, const struct opt *opt, const char *value);

struct opt {
	char letter;
	const char *name, *arg, *help;
	opt_set set; /* NULL: nothing to check or store */
	size_t at;   /* offset in struct options, for the setters that serve several options */
	int action;
	bool later; /* not available yet */
	bool live;  /* about how samples are taken: not with --input */

	/* What is stored must be on this host, unless the samples are of a recording; NULL: need not. */
	int (*here)(struct parse *p);
};

/* "-p 'abc': " and what is wrong with the value, which is cut where it is long. Return: -EINVAL. */
static int __attribute__((format(printf, 3, 4))) refuse(const struct parse *p, const char *value, const char *fmt, ...)
{
	char why[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	return err_set(p->err, -EINVAL, "%s '%.200s': %s", p->spelled, value, why);
}

static void *member(const struct parse *p, const struct opt *opt)
{
	return (char *)p->o + opt->at;
}

static int set_flag(struct parse *p, const struct opt *opt, const char *value)
{
	(void)value;
	*(bool *)member(p, opt) = true;
	return 0;
}

static int set_folded(struct parse *p, const struct opt *opt, const char *value)
{
	(void)opt;
	(void)value;
	p->o->report.form = REPORT_FOLDED;
	return 0;
}

static int set_action(struct parse *p, const struct opt *opt, const char *value)
{
	(void)value;
	p->o->action = opt->action;
	return 0;
}

static int check_text(struct parse *p, const struct opt *opt, const char *value)
{
	(void)opt;
	if (!*value)
		return refuse(p, value, "must not be empty");
	return 0;
}

static int set_text(struct parse *p, const struct opt *opt, const char *value)
{
	int rc = check_text(p, opt, value);

	if (!rc)
		*(const char **)member(p, opt) = value;
	return rc;
}

static int set_folder(struct parse *p, const struct opt *opt, const char *value)
{
	struct stat st;
	int rc = set_text(p, opt, value);

	if (rc)
		return rc;
	if (stat(value, &st))
		return refuse(p, value, "%s", strerror(errno));
	return S_ISDIR(st.st_mode) ? 0 : refuse(p, value, "not a folder");
}

/* The whole of @s is one number. Return: as parse_digits(). */
static int parse_whole(const char *s, uint64_t max, uint64_t *out)
{
	uint64_t n;
	int rc = parse_digits(&s, 10, max, &n);

	if (rc == -EINVAL || *s)
		return -EINVAL;
	if (!rc)
		*out = n;
	return rc;
}

/* A number from 1 to @max, which the message calls @limit. */
static int parse_number(const struct parse *p, const char *value, uint64_t max, const char *limit, uint64_t *out)
{
	int rc = parse_whole(value, max, out);

	if (rc == -EINVAL)
		return refuse(p, value, "not a number");
	if (rc)
		return refuse(p, value, "above %s (%" PRIu64 ")", limit, max);
	if (!*out)
		return refuse(p, value, "must be at least 1");
	return 0;
}

static int set_freq(struct parse *p, const struct opt *opt, const char *value)
{
	const char *limit = "kernel.perf_event_max_sample_rate";
	long long rate;

	(void)opt;
	if (host_setting(p->host, "kernel/perf_event_max_sample_rate", &rate) || rate <= 0) {
		limit = "the highest rate";
		rate = LLONG_MAX;
	}
	return parse_number(p, value, rate, limit, &p->o->freq_hz);
}

static int set_period(struct parse *p, const struct opt *opt, const char *value)
{
	(void)opt;
	return parse_number(p, value, INT64_MAX, "the highest count", &p->o->period);
}

static int parse_entries(const struct parse *p, const char *value, uint64_t max, uint64_t *out)
{
	return parse_number(p, value, max, "the largest table", out);
}

static int check_memory(const struct parse *p, const char *value, uint64_t bytes)
{
	uint64_t memory = host_memory_bytes(p->host);

	if (memory && bytes > memory)
		return refuse(p, value, "beyond this host's memory (%" PRIu64 " MiB)", memory >> 20);
	return 0;
}

static int set_hash_entries(struct parse *p, const struct opt *opt, const char *value)
{
	uint64_t n;
	int rc = parse_entries(p, value, UINT32_MAX, &n);

	(void)opt;
	if (!rc)
		rc = check_memory(p, value, n * HASH_ENTRY_SIZE);
	if (!rc)
		p->o->hash_entries = (uint32_t)n;
	return rc;
}

static int set_stack_entries(struct parse *p, const struct opt *opt, const char *value)
{
	uint64_t n, rounded = 1;
	int rc = parse_entries(p, value, 1U << 31, &n);

	(void)opt;
	if (rc)
		return rc;
	while (rounded < n) /* as the kernel does; it refuses what would not fit 32 bits then */
		rounded *= 2;
	rc = check_memory(p, value, rounded * STACK_ENTRY_SIZE);
	if (!rc)
		p->o->stack_entries = (uint32_t)n;
	return rc;
}

/* "0-1,4" of a list; what does not fit into @size is cut. */
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
	int rc = parse_whole(value, INT_MAX, &cpu);

	(void)opt;
	if (rc == -EINVAL)
		return refuse(p, value, "not a CPU number");
	p->o->cpu = rc ? INT_MAX : (int)cpu; /* beyond int: no CPU has such a number either */
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
		rc = refuse(p, p->cpu, "CPU is not online (online: %s)", text);
	}
	cpu_list_release(&online);
	return rc;
}

/* Seconds with up to 9 decimals, "5", "0.5" or ".5", exactly. */
static int parse_seconds(const struct parse *p, const char *value, uint64_t *ns)
{
	uint64_t sec = 0, frac = 0;
	const char *s = value, *point;
	ptrdiff_t decimals = 0;
	int rc = parse_digits(&s, 10, MAX_SECONDS, &sec);

	if (rc == -EINVAL && *s != '.')
		return refuse(p, value, "not a number of seconds");
	if (*s == '.') {
		point = ++s;
		if (parse_digits(&s, 10, UINT64_MAX, &frac) == -EINVAL)
			return refuse(p, value, "not a number of seconds");
		decimals = s - point;
	}
	if (*s)
		return refuse(p, value, "not a number of seconds");
	if (decimals > 9)
		return refuse(p, value, "more than 9 decimals");
	for (; decimals < 9; decimals++)
		frac *= 10;
	if (rc == -ERANGE || (sec == MAX_SECONDS && frac))
		return refuse(p, value, "above " STR(MAX_SECONDS) " seconds");
	if (!sec && !frac)
		return refuse(p, value, "must be above 0");
	*ns = sec * NSEC_PER_SEC + frac;
	return 0;
}

static int set_seconds(struct parse *p, const struct opt *opt, const char *value)
{
	return parse_seconds(p, value, member(p, opt));
}

static int set_dump_size(struct parse *p, const struct opt *opt, const char *value)
{
	uint64_t n = 0;

	(void)opt;
	if (parse_whole(value, STACK_DUMP_MAX, &n) || !n || n % 8)
		return refuse(p, value, "must be a multiple of 8 from 8 to " STR(STACK_DUMP_MAX));
	p->o->dump_bytes = (uint32_t)n;
	return 0;
}

static int set_comm(struct parse *p, const struct opt *opt, const char *value)
{
	if (strlen(value) > COMM_MAX)
		return refuse(p, value, "longer than a task's name can be (" STR(COMM_MAX) " bytes)");
	return set_text(p, opt, value);
}

static int refuse_missing(const struct parse *p, const char *text, const char *kind)
{
	char self[PATH_MAX];

	snprintf(self, sizeof(self), "%s/self", p->host->proc);
	if (access(self, F_OK))
		return refuse(p, text, "cannot be looked up without /proc");
	return refuse(p, text, "no such %s", kind);
}

static int check_task(const struct parse *p, pid_t id, bool is_tid)
{
	uint64_t effective = privileges_lend(); /* /proc may hide those of others */
	bool found;
	char text[16];
	pid_t tgid;

	snprintf(text, sizeof(text), "%d", id);
	found = is_tid ? host_is_thread(p->host, id) : host_is_process(p->host, id, &tgid);
	privileges_back(effective);
	if (found)
		return 0;
	if (is_tid)
		return refuse_missing(p, text, "thread");
	if (tgid)
		return refuse(p, text, "is a thread of process %d (use -L)", tgid);
	return refuse_missing(p, text, "process");
}

/* The id at *@s, which ends at a comma or at the end of @value. */
static int parse_task(const struct parse *p, const char *value, const char **s, bool is_tid, pid_t *out)
{
	const char *start = *s, *kind = is_tid ? "thread" : "process";
	uint64_t id = 0;
	char text[64];
	int rc = parse_digits(s, 10, INT_MAX, &id);

	if (rc == -EINVAL || (**s && **s != ','))
		return refuse(p, value, strchr(value, ',') ? "not a list of %s ids" : "not a %s id", kind);
	if (rc || !id) {
		snprintf(text, sizeof(text), "%.*s", (int)(*s - start), start);
		return refuse(p, text, "out of range (1 to %d)", INT_MAX);
	}
	*out = (pid_t)id;
	return 0;
}

static size_t sort_and_fold(pid_t *pids, size_t nr)
{
	size_t i, kept = 0;

	ids_sort(pids, nr);
	for (i = 0; i < nr; i++)
		if (!kept || pids[i] != pids[kept - 1])
			pids[kept++] = pids[i];
	return kept;
}

static int set_tasks(struct parse *p, const struct opt *opt, const char *value)
{
	struct options *o = p->o;
	size_t nr = 0, max = 1;
	const char *s;
	int rc = 0;

	for (s = value; *s; s++)
		max += *s == ',';
	free(o->pids);
	o->pids = calloc(max, sizeof(*o->pids));
	if (!o->pids)
		return err_sys(p->err, -ENOMEM, "%s", p->spelled);
	o->by_tid = opt->letter == 'L';
	for (s = value; nr < max && !rc; s++)
		rc = parse_task(p, value, &s, o->by_tid, &o->pids[nr++]);
	if (!rc)
		o->nr_pids = sort_and_fold(o->pids, nr);
	return rc;
}

static int check_tasks(struct parse *p)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < p->o->nr_pids && !rc; i++)
		rc = check_task(p, p->o->pids[i], p->o->by_tid);
	return rc;
}

/* Of one that may not be opened, it is said when sampling is to begin. */
static int check_map(const struct parse *p, const char *path)
{
	struct pinned *map;
	struct err why;
	int rc;

	if (access(path, F_OK))
		return refuse(p, path, "%s", strerror(errno));
	rc = pinned_open(&map, p->host, path, &why);
	pinned_close(map);
	return rc == -EINVAL ? refuse(p, path, "not a BPF hash map with keys of 8 bytes") : 0;
}

static int check_cgroup_map(struct parse *p)
{
	return check_map(p, p->o->cgroup_map);
}

static int check_mntns_map(struct parse *p)
{
	return check_map(p, p->o->mntns_map);
}

static int set_mntns(struct parse *p, const struct opt *opt, const char *value)
{
	const char *s = value;
	int rc = parse_task(p, value, &s, false, &p->o->mntns_of);

	(void)opt;
	return !rc && *s ? refuse(p, value, "takes one process id") : rc;
}

static int check_mntns(struct parse *p)
{
	return check_task(p, p->o->mntns_of, false);
}

static int check_cgroup(struct parse *p)
{
	const char *path = p->o->cgroup;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool is_cgroup;

	if (fd < 0)
		return refuse(p, path, "%s", strerror(errno));
	is_cgroup = cgroup_is_folder(fd);
	close(fd);
	return is_cgroup ? 0 : refuse(p, path, "not a cgroup of version 2");
}

static int check_event(struct parse *p)
{
	const struct event_type *event = event_find(p->o->event_name);

	if (!event)
		return refuse(p, p->o->event_name, "unknown event (see profile(8))");
	p->o->event = event;
	return 0;
}

static int set_backend(struct parse *p, const struct opt *opt, const char *value)
{
	(void)opt;
	if (strcmp(value, "auto") && strcmp(value, BACKEND_BOTH) && !backend_find(value))
		return refuse(p, value, "not one of auto, bpf, perfring, both");
	p->o->backend = strcmp(value, "auto") ? value : NULL;
	return 0;
}

static int set_unwind(struct parse *p, const struct opt *opt, const char *value)
{
	(void)opt;
	if (strcmp(value, "dwarf") && strcmp(value, "fp"))
		return refuse(p, value, "not one of fp, dwarf");
	p->o->unwind = strcmp(value, "dwarf") ? UNWIND_BY_FP : UNWIND_BY_RULES;
	return 0;
}

#define AT(field) offsetof(struct options, field)

static const struct opt options[] = {
	{ 'p', "pid", "PID,...", "only these processes", .set = set_tasks, .here = check_tasks },
	{ 'L', "tid", "TID,...", "only these threads", .set = set_tasks, .here = check_tasks },
	{ 'U', "user-stacks-only", NULL, "only user stacks", .set = set_flag, .at = AT(user_only) },
	{ 'K', "kernel-stacks-only", NULL, "only kernel stacks", .set = set_flag, .at = AT(kernel_only) },
	{ 'F', "frequency", "HZ", "samples per second and CPU (default " STR(FREQ_HZ) ")", .set = set_freq,
	  .live = true },
	{ 'c', "count", "N", "sample every N events (nanoseconds for the CPU clock)", .set = set_period, .live = true },
	{ 'd', "delimited", NULL, "delimiter between kernel and user stack", .set = set_flag,
	  .at = AT(report.delimited) },
	{ 'a', "annotations", NULL, "_[k] after kernel frames, _[i] after inlined ones", .set = set_flag,
	  .at = AT(report.annotations) },
	{ 'I', "include-idle", NULL, "keep the idle task", .set = set_flag, .at = AT(include_idle) },
	{ 'f', "folded", NULL, "one line per stack, as flame graph tools read it", .set = set_folded },
	{ 'A', "address", NULL, "raw addresses before the names", .set = set_flag, .at = AT(report.addresses) },
	{ 's', "symbol-offset", NULL, "name+0xoff [module]", .set = set_flag, .at = AT(report.offsets) },
	{ 0, "hash-storage-size", "N", "entries of the in-kernel count table (default " STR(HASH_ENTRIES) ")",
	  .set = set_hash_entries, .live = true },
	{ 0, "stack-storage-size", "N", "entries of the in-kernel stack table (default " STR(STACK_ENTRIES) ")",
	  .set = set_stack_entries, .live = true },
	{ 'C', "cpu", "CPU", "only this CPU", .set = set_cpu, .here = check_cpu },
	{ 0, "cgroupmap", "PATH", "only cgroups in this pinned BPF map", .set = set_text, .at = AT(cgroup_map),
	  .live = true, .here = check_cgroup_map },
	{ 0, "mntnsmap", "PATH", "only mount namespaces in this map", .set = set_text, .at = AT(mntns_map),
	  .live = true, .here = check_mntns_map },
	{ 0, "ebpf", NULL, "print the BPF program's source and exit", .set = set_action, .action = ACTION_PRINT_BPF },
	{ 0, "backend", "auto|bpf|perfring|both", "what takes the samples (default auto)", .set = set_backend,
	  .live = true },
	{ 0, "unwind", "fp|dwarf", "how user stacks are walked (default fp)", .set = set_unwind },
	{ 0, "list-backends", NULL, "show what this host permits, why not and what helps", .set = set_action,
	  .action = ACTION_LIST_BACKENDS },
	{ 0, "stack-dump-size", "BYTES", "stack copied for dwarf (default " STR(DUMP_SIZE) ")", .set = set_dump_size,
	  .live = true },
	{ 'i', "interval", "SECONDS", "a report each interval", .set = set_seconds, .at = AT(interval_ns),
	  .live = true },
	{ 'e', "event", "NAME", "what is sampled, as perf names it (default cpu-clock)", .set = set_text,
	  .at = AT(event_name), .here = check_event },
	{ 0, "input", "FILE", "read a perf.data recording instead of sampling (-: standard input)", .set = set_text,
	  .at = AT(input) },
	{ 0, "kallsyms", "FILE", "kernel names from this copy of /proc/kallsyms", .set = set_text, .at = AT(kallsyms) },
	{ 0, "vmlinux", "FILE", "kernel names from this kernel image", .set = set_text, .at = AT(vmlinux) },
	{ 0, "debug-dir", "DIR", "look for debug files here before /usr/lib/debug", .set = set_folder,
	  .at = AT(debug_dir) },
	{ 0, "inline", NULL, "frames for inlined functions, too (needs debug information)", .set = set_flag,
	  .at = AT(report.inlined) },
	{ 0, "source", NULL, "with -s: file.c:123 of each frame (needs debug information)", .set = set_flag,
	  .at = AT(report.source) },
	{ 0, "cgroup", "PATH", "only tasks in this cgroup and those below", .set = set_text, .at = AT(cgroup),
	  .live = true, .here = check_cgroup },
	{ 0, "mntns", "PID", "only this process's mount namespace", .set = set_mntns, .live = true,
	  .here = check_mntns },
	{ 0, "comm", "NAME", "only threads of this name", .set = set_comm, .at = AT(comm) },
	{ 0, "off-cpu", NULL, "add the time off CPU", .later = true },
	{ 'o', "output", "FILE", "write the report there, whole or not at all", .set = set_text, .at = AT(output) },
	{ 0, "stats", NULL, "what became of the samples, to stderr", .set = set_flag, .at = AT(stats) },
	{ 'v', "verbose", NULL, "progress and diagnosis to stderr", .set = set_flag, .at = AT(verbose) },
	{ 'h', "help", NULL, "show this help and exit", .set = set_action, .action = ACTION_HELP },
	{ 0, "version", NULL, "show the version and exit", .set = set_action, .action = ACTION_VERSION },
};

_Static_assert(ARRAY_SIZE(options) <= 64, "struct parse has 64 bits for them");

static const char exclusive[][2] = { { 'U', 'K' }, { 'p', 'L' }, { 'F', 'c' } };

/* What getopt_long returns for the long form of options[0], options[1], ...: above every letter. */
#define LONG_FORM 256

static const struct opt *opt_by_letter(int letter)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(options); i++)
		if (options[i].letter && options[i].letter == letter)
			return &options[i];
	return NULL;
}

/** struct spec - the table as getopt_long wants it. */
struct spec {
	char letters[2 + 2 * ARRAY_SIZE(options) + 1];
	struct option longs[ARRAY_SIZE(options) + 1];
};

static void spec_init(struct spec *s)
{
	char *l = s->letters;
	size_t i;

	*s = (struct spec){ 0 };
	/* '-': words come in their order, as options numbered 1; ':': a missing argument is told apart. */
	*l++ = '-';
	*l++ = ':';
	for (i = 0; i < ARRAY_SIZE(options); i++) {
		s->longs[i].name = options[i].name;
		s->longs[i].has_arg = options[i].arg ? required_argument : no_argument;
		s->longs[i].val = LONG_FORM + (int)i;
		if (!options[i].letter)
			continue;
		*l++ = options[i].letter;
		if (options[i].arg)
			*l++ = ':';
	}
}

/* getopt_long takes any beginning of a long name that only one has. Lists those that begin as @word does. */
static int unknown_long(struct err *err, const char *word)
{
	size_t len = strcspn(word, "="), used = 0, i;
	int shown = len > 200 ? 200 : (int)len;
	char which[256] = "";

	for (i = 0; i < ARRAY_SIZE(options) && used < sizeof(which); i++)
		if (!strncmp(options[i].name, word + 2, len - 2))
			used += snprintf(which + used, sizeof(which) - used, "%s--%s", used ? ", " : "",
					 options[i].name);
	if (used)
		return err_set(err, -EINVAL, "option '%.*s' is ambiguous (%s)", shown, word, which);
	return err_set(err, -EINVAL, "unknown option '%.*s'", shown, word);
}

/* @word: the argument that getopt_long was looking at when it returned '?' */
static int unknown_option(struct err *err, const char *word)
{
	if (optopt >= LONG_FORM)
		return err_set(err, -EINVAL, "option '--%s' takes no argument", options[optopt - LONG_FORM].name);
	if (!optopt)
		return unknown_long(err, word);
	if (optopt < 0x20 || optopt > 0x7e) /* part of a character, for all we know */
		return err_set(err, -EINVAL, "unknown option '-\\x%02x'", optopt & 0xff);
	return err_set(err, -EINVAL, "unknown option '-%c'", optopt);
}

static void spell(char *buf, size_t size, int code)
{
	if (code >= LONG_FORM)
		snprintf(buf, size, "--%s", options[code - LONG_FORM].name);
	else
		snprintf(buf, size, "-%c", code);
}

static int set_duration(struct parse *p, const char *word)
{
	int rc;

	p->spelled = "duration";
	if (p->o->duration)
		return refuse(p, word, "there is one already, '%.100s'", p->o->duration);
	rc = parse_seconds(p, word, &p->o->duration_ns);
	if (!rc)
		p->o->duration = word;
	return rc;
}

/* @code: what getopt_long returned, but for '?', ':' and the end */
static int take(struct parse *p, int code, const char *value)
{
	const struct opt *opt;
	char spelled[32];
	int rc = 0;

	if (code == 1)
		return set_duration(p, value);
	opt = code >= LONG_FORM ? &options[code - LONG_FORM] : opt_by_letter(code);
	spell(spelled, sizeof(spelled), code);
	p->spelled = spelled;
	if (opt->set)
		rc = opt->set(p, opt, value);
	if (!rc && opt->later)
		rc = err_set(p->err, -ENOTSUP, "%s: not available yet", spelled);
	p->seen |= 1ULL << (opt - options);
	if (code >= LONG_FORM)
		p->spelled_long |= 1ULL << (opt - options);
	else
		p->spelled_long &= ~(1ULL << (opt - options));
	return rc;
}

static int take_all(struct parse *p, int argc, char **argv)
{
	struct spec spec;
	char spelled[32];
	int code, rc, seen = 1;

	spec_init(&spec);
	opterr = 0;
	optind = 0; /* glibc, musl: begin anew, with this optstring */
	while ((code = getopt_long(argc, argv, spec.letters, spec.longs, NULL)) != -1) {
		seen = optind;
		if (code == '?')
			return unknown_option(p->err, argv[optind - 1]);
		if (code == ':') {
			spell(spelled, sizeof(spelled), optopt);
			return err_set(p->err, -EINVAL, "option '%s' needs an argument", spelled);
		}
		rc = take(p, code, optarg);
		if (rc)
			return rc;
	}
	/* An empty $COMMAND, perhaps: without one, everything would be sampled. */
	if (optind == argc && optind > seen)
		return err_set(p->err, -EINVAL, "no command behind '--'");
	p->spelled = "command";
	if (optind < argc && !*argv[optind])
		return refuse(p, argv[optind], "must not be empty");
	if (optind < argc)
		p->o->command = argv + optind;
	return 0;
}

/* Of a recording: nothing is sampled. Else whatever was named must be here. */
static int check_origin(struct parse *p)
{
	char spelled[32];
	size_t i;
	int rc = 0;

	if (p->o->input && p->o->duration)
		return err_set(p->err, -EINVAL, "a duration and --input exclude each other");
	if (p->o->input && p->o->command)
		return err_set(p->err, -EINVAL, "a command and --input exclude each other");
	if (p->o->nr_pids && p->o->command)
		return err_set(p->err, -EINVAL, "a command and -%c exclude each other", p->o->by_tid ? 'L' : 'p');
	for (i = 0; i < ARRAY_SIZE(options) && !rc; i++) {
		if (!(p->seen & 1ULL << i))
			continue;
		spell(spelled, sizeof(spelled),
		      options[i].letter && !(p->spelled_long & 1ULL << i) ? options[i].letter : LONG_FORM + (int)i);
		p->spelled = spelled;
		if (p->o->input && options[i].live)
			rc = err_set(p->err, -EINVAL, "%s and --input exclude each other", spelled);
		else if (!p->o->input && options[i].here)
			rc = options[i].here(p);
	}
	return rc;
}

static int finish(struct parse *p)
{
	struct options *o = p->o;
	uint64_t pair;
	size_t i;
	int rc;

	for (i = 0; i < ARRAY_SIZE(exclusive); i++) {
		pair = 1ULL << (opt_by_letter(exclusive[i][0]) - options) |
		       1ULL << (opt_by_letter(exclusive[i][1]) - options);
		if ((p->seen & pair) == pair)
			return err_set(p->err, -EINVAL, "-%c and -%c exclude each other", exclusive[i][0],
				       exclusive[i][1]);
	}
	rc = check_origin(p);
	if (rc)
		return rc;
	if (!o->freq_hz && !o->period)
		o->freq_hz = FREQ_HZ;
	if (o->user_only || o->kernel_only)
		o->report.delimited = false;
	if (o->report.form == REPORT_FOLDED)
		o->report.addresses = o->report.offsets = false;
	o->report.source &= o->report.offsets;
	return 0;
}

/* A value such as "$(pgrep dd)" may have newlines, but an error is one line. */
static void one_line(char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			*s = '?';
}

int options_parse(struct options *o, int argc, char **argv, const struct host *host, struct err *err)
{
	struct parse p = { .o = o, .host = host, .err = err };
	int rc;

	*o = (struct options){
		.cpu = -1,
		.event = event_default(),
		.dump_bytes = DUMP_SIZE,
		.hash_entries = HASH_ENTRIES,
		.stack_entries = STACK_ENTRIES,
	};
	rc = take_all(&p, argc, argv);
	if (!rc)
		rc = finish(&p);
	if (rc && err)
		one_line(err->msg);
	return rc;
}

void options_release(struct options *o)
{
	free(o->pids);
	*o = (struct options){ 0 };
}

#define HELP_COLUMN 32

static void help_option(FILE *out, const struct opt *opt)
{
	int col;

	if (opt->letter)
		col = fprintf(out, "  -%c, --%s", opt->letter, opt->name);
	else
		col = fprintf(out, "      --%s", opt->name);
	if (opt->arg)
		col += fprintf(out, " %s", opt->arg);
	if (col > HELP_COLUMN - 2)
		col = fprintf(out, "\n") - 1;
	fprintf(out, "%*s%s%s\n", HELP_COLUMN - col, "", opt->help, opt->later ? " (not available yet)" : "");
}

void options_help(FILE *out)
{
	size_t i;

	fputs("usage: profile [options] [duration] [-- command [argument...]]\n"
	      "\n"
	      "Count the stacks that run, sampled on every CPU, for duration seconds or until Ctrl-C.\n"
	      "With a command, run it and count only its stacks, with those of all that it starts, until it ends.\n"
	      "\n",
	      out);
	for (i = 0; i < ARRAY_SIZE(options); i++)
		help_option(out, &options[i]);
	fputs("\n"
	      "examples:\n"
	      "  profile                       all threads, 49 samples per second and CPU, until Ctrl-C\n"
	      "  profile -F 99 5               99 samples per second and CPU, for 5 seconds\n"
	      "  profile -p 185 -U             only process 185, only its user stacks\n"
	      "  profile -c 1000000 5          every millisecond of CPU time\n"
	      "  profile -f -o out -- make -j4 what a command and its children run\n"
	      "  profile -df -o out.folded 30  one line per stack, for flamegraph.pl out.folded >out.svg\n"
	      "  profile --list-backends       what this host can do\n"
	      "\n"
	      "See profile(8).\n",
	      out);
}

static void header_who(FILE *out, const struct options *o)
{
	const char *kind = o->by_tid ? "TID" : "PID";
	char name[NAME_SHOWN + 1];
	size_t i;

	if (o->command) {
		fprintf(out, "all threads of '%s'", name_shown(o->command[0], name));
	} else if (!o->nr_pids) {
		fputs("all threads", out);
	} else if (o->nr_pids == 1) {
		fprintf(out, "%s %d", kind, o->pids[0]);
	} else {
		fprintf(out, "%s [%d", kind, o->pids[0]);
		for (i = 1; i < o->nr_pids; i++)
			fprintf(out, ", %d", o->pids[i]);
		fputc(']', out);
	}
}

static void header_what(FILE *out, const struct options *o, uint64_t freq_hz, uint64_t period, bool user_only)
{
	if (freq_hz)
		fprintf(out, "at %" PRIu64 " Hertz of ", freq_hz);
	else
		fprintf(out, "at every %" PRIu64 " events of ", period);
	header_who(out, o);
	fprintf(out, " by %s stack", user_only ? "user" : o->kernel_only ? "kernel" : "user + kernel");
	if (o->cpu >= 0)
		fprintf(out, " on CPU#%d", o->cpu);
}

void options_header_recorded(FILE *out, const struct options *o, const struct recording *r)
{
	char name[NAME_SHOWN + 1];

	fprintf(out, "Samples of %s ", r->event);
	header_what(out, o, r->freq_hz, r->period, o->user_only);
	fprintf(out, " in %s", name_shown(strcmp(o->input, "-") ? o->input : "standard input", name));
	if (r->others)
		fprintf(out, " (others: %s)", r->others);
	fputs(".\n", out);
}

void options_header(FILE *out, const struct options *o, bool user_only)
{
	fputs("Sampling ", out);
	if (o->event != event_default())
		fprintf(out, "%s ", o->event->name);
	header_what(out, o, o->freq_hz, o->period, o->user_only || user_only);
	if (o->duration)
		fprintf(out, " for %s secs.\n", o->duration);
	else
		fputs("... Hit Ctrl-C to end.\n", out);
}

int options_doc(unsigned int i, struct option_doc *out)
{
	if (i >= ARRAY_SIZE(options))
		return 0;
	*out = (struct option_doc){
		.letter = options[i].letter,
		.name = options[i].name,
		.arg = options[i].arg,
		.help = options[i].help,
		.available = !options[i].later,
	};
	return 1;
}
