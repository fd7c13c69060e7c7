// SPDX-License-Identifier: Apache-2.0
#include "core/cli/options.h"
#include "core/cli/options_table.h"
#include "core/report/forms.h"
#include "core/report/writer.h"
#include "core/sources/recording.h"
#include "tests/unit/unit.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#define MAX_ARGS 32

/* A host with CPUs 0, 1 and 4, 1 GiB, processes 185, 2040 (and its thread 2041) and 1316151. */
static char *top;
static struct host host;

static void put(const char *name, const char *text)
{
	unit_write(top, name, text, strlen(text));
}

static void put_task(int tid, int tgid)
{
	char name[64], text[128];

	snprintf(name, sizeof(name), "proc/%d/status", tid);
	snprintf(text, sizeof(text), "Name:\tdd\nState:\tS (sleeping)\nTgid:\t%d\nPid:\t%d\n", tgid, tid);
	put(name, text);
}

static void setup_empty(void)
{
	top = unit_tmpdir();
	host = unit_host(top);
}

static void setup(void)
{
	char path[PATH_MAX];

	setup_empty();
	put("proc/self/status", "Name:\tself\n");
	put("proc/meminfo", "MemTotal:        1048576 kB\n");
	put("proc/sys/kernel/perf_event_max_sample_rate", "100000\n");
	put("sys/devices/system/cpu/online", "0-1,4\n");
	put_task(185, 185);
	put_task(2040, 2040);
	put_task(2041, 2040);
	put_task(1316151, 1316151);
	put("unit-dd", "");
	put("unit-no-program", "");
	snprintf(path, sizeof(path), "%s/unit-dd", top);
	ck_assert_int_eq(chmod(path, 0755), 0);
	ck_assert_int_eq(setenv("PATH", top, 1), 0);
}

static void teardown(void)
{
	unit_rmdir(top);
}

/** struct line - a command line, made of words. */
struct line {
	char text[8192];
	char *argv[MAX_ARGS + 1];
	int argc;
};

/* Words are separated by single blanks; 'quotes' hold a word together, or an empty word. */
static void split(struct line *l, enum tool tool, const char *args)
{
	char *s = l->text, *end;

	ck_assert_int_lt(snprintf(l->text, sizeof(l->text), "%s%s%s", tool_name(tool), *args ? " " : "", args),
			 (int)sizeof(l->text));
	for (l->argc = 0; s; l->argc++) {
		ck_assert_int_lt(l->argc, MAX_ARGS);
		end = *s == '\'' ? strchr(++s, '\'') : s;
		ck_assert_ptr_nonnull(end);
		l->argv[l->argc] = s;
		s = strchr(end, ' ');
		if (*end == '\'')
			*end = 0;
		if (s)
			*s++ = 0;
	}
	l->argv[l->argc] = NULL;
}

static int parse_as(enum tool tool, struct options *o, struct line *l, const char *args, struct err *err)
{
	split(l, tool, args);
	return options_parse(o, tool, l->argc, l->argv, &host, err);
}

static int parse(struct options *o, struct line *l, const char *args, struct err *err)
{
	return parse_as(TOOL_PROFILE, o, l, args, err);
}

static void put_rate(FILE *f, const struct options *o)
{
	ck_assert(o->sampling.event);
	ck_assert_uint_eq(o->report.unit, o->off_cpu.wanted ? 1000 : 0);
	ck_assert(!o->report.from_schedule);
	ck_assert_int_eq(o->off_cpu.open, o->off_cpu.wanted);
	ck_assert_uint_eq(o->off_cpu.min_ns, o->off_cpu.wanted ? 0 : 1000);
	ck_assert_uint_eq(o->off_cpu.max_ns, UINT64_MAX);
	ck_assert_int_eq(o->state_mask, -1);
	ck_assert(!o->user_threads && !o->kernel_threads);
	fprintf(f, o->sampling.period ? "period=%" PRIu64 : "freq=%" PRIu64,
		o->sampling.period ? o->sampling.period : o->sampling.freq_hz);
	if (o->sampling.period && o->sampling.freq_hz)
		fprintf(f, " freq=%" PRIu64, o->sampling.freq_hz);
	fprintf(f, "%s", o->off_cpu.wanted ? " off-cpu" : "");
}

static void put_intervals(FILE *f, const struct options *o)
{
	ck_assert(o->off_cpu.wanted && !o->sampling.event);
	ck_assert_uint_eq(o->report.unit, 1000);
	ck_assert(o->report.from_schedule);
	fprintf(f, "%" PRIu64 "..", o->off_cpu.min_ns);
	if (o->off_cpu.max_ns != UINT64_MAX)
		fprintf(f, "%" PRIu64, o->off_cpu.max_ns);
	if (o->state_mask != -1)
		fprintf(f, " state=%" PRId64, o->state_mask);
	fprintf(f, "%s%s%s", o->off_cpu.open ? " open" : "", o->user_threads ? " -u" : "",
		o->kernel_threads ? " -k" : "");
}

/* All fields that differ from their default, and the rate or the lengths. */
static char *fields(const struct options *o)
{
	size_t size, i;
	char *text;
	FILE *f = open_memstream(&text, &size);

	if (o->tool == TOOL_PROFILE)
		put_rate(f, o);
	else
		put_intervals(f, o);
	if (o->action)
		fprintf(f, " action=%d", o->action);
	for (i = 0; i < o->nr_pids; i++)
		fprintf(f, "%s%d", i ? "," : o->filter.by_tid ? " tids=" : " pids=", o->pids[i]);
	fprintf(f, "%s%s%s", o->filter.no_kernel ? " user" : "", o->filter.no_user ? " kernel" : "",
		o->filter.idle ? " idle" : "");
	if (o->groups.cgroup_map)
		fprintf(f, " cgroupmap=%s", o->groups.cgroup_map);
	if (o->groups.mntns_map)
		fprintf(f, " mntnsmap=%s", o->groups.mntns_map);
	if (o->groups.mntns_of)
		fprintf(f, " mntns=%d", o->groups.mntns_of);
	if (o->filter.comm)
		fprintf(f, " comm=%s", o->filter.comm);
	if (o->cpu != -1)
		fprintf(f, " cpu=%d", o->cpu);
	if (o->sampling.event && o->sampling.event != event_default())
		fprintf(f, " event=%s", o->sampling.event->name);
	else if (o->input && o->event_name)
		fprintf(f, " name=%s", o->event_name);
	if (o->duration || o->duration_ns)
		fprintf(f, " ns=%" PRIu64, o->duration_ns);
	if (o->interval_ns)
		fprintf(f, " interval=%" PRIu64, o->interval_ns);
	fprintf(f, "%s%s", o->report.form != &report_text ? " " : "",
		o->report.form != &report_text ? o->report.form->name : "");
	fprintf(f, "%s%s%s%s", o->report.delimited ? " -d" : "", o->report.annotations ? " -a" : "",
		o->report.addresses ? " -A" : "", o->report.offsets ? " -s" : "");
	if (o->output)
		fprintf(f, " output=%s", o->output);
	if (o->report.limit != 30)
		fprintf(f, " limit=%zu", o->report.limit);
	ck_assert(o->report.compared == !!o->baseline);
	if (o->baseline)
		fprintf(f, " baseline=%s", o->baseline);
	if (o->fail_above >= 0)
		fprintf(f, " above=%g", o->fail_above);
	fprintf(f, "%s%s", o->report.by_total ? " total" : "", o->report.absolute ? " absolute" : "");
	if (o->backend)
		fprintf(f, " backend=%s", o->backend);
	if (o->tables.counts != 40960)
		fprintf(f, " hash=%u", o->tables.counts);
	if (o->tables.stacks != 16384)
		fprintf(f, " stack=%u", o->tables.stacks);
	if (o->unwind != UNWIND_AUTO)
		fprintf(f, " unwind=%s", unwind_name(o->unwind));
	if (o->dump_bytes)
		fprintf(f, " dump=%u", o->dump_bytes);
	fprintf(f, "%s%s", o->report.inlined ? " inline" : "", o->report.source ? " source" : "");
	if (o->color)
		fprintf(f, " color=%s", o->color == COLOR_ALWAYS ? "always" : "never");
	fprintf(f, "%s%s%s", o->stats ? " stats" : "", o->verbose ? " verbose" : "", o->list_fields ? " fields" : "");
	for (i = 0; i < o->nr_inputs; i++)
		fprintf(f, "%s%s", i ? " " : " input=", o->inputs[i]);
	if (o->kallsyms)
		fprintf(f, " kallsyms=%s", o->kallsyms);
	if (o->vmlinux)
		fprintf(f, " vmlinux=%s", o->vmlinux);
	if (o->debug_dir)
		fprintf(f, " debug-dir=%s", o->debug_dir);
	if (o->symfs)
		fprintf(f, " symfs=%s", o->symfs);
	for (i = 0; o->command && o->command[i]; i++)
		fprintf(f, "%s%s", i ? "," : " command=", o->command[i]);
	fclose(f);
	return text;
}

#define HERTZ    "Sampling at 49 Hertz of "
#define BOTH     " by user + kernel stack"
#define CTRL_C   "... Hit Ctrl-C to end."
#define ALL_LINE HERTZ "all threads" BOTH CTRL_C
#define AND_OFF  "and tracing off-CPU time (us) of "
#define OFF_LINE "Sampling at 49 Hertz " AND_OFF "all threads" BOTH CTRL_C

struct good_row {
	const char *args;
	const char *fields;
	const char *header;
};

struct bad_row {
	const char *args;
	int rc;
	const char *msg;
};

static const struct good_row good[] = {
	{ "", "freq=49", ALL_LINE },
	{ "5", "freq=49 ns=5000000000", HERTZ "all threads" BOTH " for 5 secs." },

	{ "-- dd", "freq=49 command=dd", HERTZ "all threads of 'dd'" BOTH CTRL_C },
	{ "5 -- dd -F 0", "freq=49 ns=5000000000 command=dd,-F,0", HERTZ "all threads of 'dd'" BOTH " for 5 secs." },
	{ "-- 5", "freq=49 command=5", HERTZ "all threads of '5'" BOTH CTRL_C },
	{ "-- --help", "freq=49 command=--help", HERTZ "all threads of '--help'" BOTH CTRL_C },
	{ "-U -- sh -c '' -- -K", "freq=49 user command=sh,-c,,--,-K",
	  HERTZ "all threads of 'sh'"
		" by user stack" CTRL_C },
	{ "-C 1 -- -- 'a b'", "freq=49 cpu=1 command=--,a b", HERTZ "all threads of '--'" BOTH " on CPU#1" CTRL_C },
	{ "-o --", "freq=49 output=--", ALL_LINE },
	{ "-- 'a\xc2\x9bm\xff;\xc3\xa4'", "freq=49 command=a\xc2\x9bm\xff;\xc3\xa4",
	  HERTZ "all threads of 'a?m?;\xc3\xa4'" BOTH CTRL_C },
	{ "-- 'a\nb\033c\x7f'", "freq=49 command=a\nb\033c\x7f", HERTZ "all threads of 'a?b?c?'" BOTH CTRL_C },

	{ "-p 185", "freq=49 pids=185", HERTZ "PID 185" BOTH CTRL_C },
	{ "-p 2040,1316151 5", "freq=49 pids=2040,1316151 ns=5000000000",
	  HERTZ "PID [2040, 1316151]" BOTH " for 5 secs." },
	{ "-p 1316151,185,2040,185,00185", "freq=49 pids=185,2040,1316151",
	  HERTZ "PID [1316151, 185, 2040]" BOTH CTRL_C },
	{ "-p 2040,185", "freq=49 pids=185,2040", HERTZ "PID [2040, 185]" BOTH CTRL_C },
	{ "-L 2041,185,2041", "freq=49 tids=185,2041", HERTZ "TID [2041, 185]" BOTH CTRL_C },
	{ "-p 185,185", "freq=49 pids=185", HERTZ "PID 185" BOTH CTRL_C },
	{ "-p185", "freq=49 pids=185", HERTZ "PID 185" BOTH CTRL_C },
	{ "--pid=185", "freq=49 pids=185", HERTZ "PID 185" BOTH CTRL_C },
	{ "--pid 185", "freq=49 pids=185", HERTZ "PID 185" BOTH CTRL_C },
	{ "-p 2040,185 -p 1316151", "freq=49 pids=1316151", HERTZ "PID 1316151" BOTH CTRL_C },
	{ "-L 185", "freq=49 tids=185", HERTZ "TID 185" BOTH CTRL_C },
	{ "-L 2041,2040", "freq=49 tids=2040,2041", HERTZ "TID [2041, 2040]" BOTH CTRL_C },
	{ "--tid 2041 -L 2040", "freq=49 tids=2040", HERTZ "TID 2040" BOTH CTRL_C },

	{ "-U", "freq=49 user", HERTZ "all threads by user stack" CTRL_C },
	{ "-K 3", "freq=49 kernel ns=3000000000", HERTZ "all threads by kernel stack for 3 secs." },
	{ "-UU --user-stacks-only", "freq=49 user", HERTZ "all threads by user stack" CTRL_C },
	{ "-U -d", "freq=49 user", HERTZ "all threads by user stack" CTRL_C },
	{ "-dK", "freq=49 kernel", HERTZ "all threads by kernel stack" CTRL_C },

	{ "-F 99", "freq=99", "Sampling at 99 Hertz of all threads" BOTH CTRL_C },
	{ "-F 1", "freq=1", "Sampling at 1 Hertz of all threads" BOTH CTRL_C },
	{ "-F 100000", "freq=100000", "Sampling at 100000 Hertz of all threads" BOTH CTRL_C },
	{ "-F 99 -F 199", "freq=199", "Sampling at 199 Hertz of all threads" BOTH CTRL_C },
	{ "--freq 99", "freq=99", "Sampling at 99 Hertz of all threads" BOTH CTRL_C },
	{ "-c 1000", "period=1000", "Sampling at every 1000 events of all threads" BOTH CTRL_C },
	{ "--count 1", "period=1", "Sampling at every 1 events of all threads" BOTH CTRL_C },
	{ "-c 9223372036854775807", "period=9223372036854775807",
	  "Sampling at every 9223372036854775807 events of all threads" BOTH CTRL_C },
	{ "-e cycles 5", "freq=49 event=cycles ns=5000000000",
	  "Sampling cycles at 49 Hertz of all threads" BOTH " for 5 secs." },
	{ "-e cpu-cycles -c 1000", "period=1000 event=cycles",
	  "Sampling cycles at every 1000 events of all threads" BOTH CTRL_C },
	{ "-e faults", "freq=49 event=page-faults", "Sampling page-faults at 49 Hertz of all threads" BOTH CTRL_C },
	{ "-e cpu-clock", "freq=49", ALL_LINE },
	{ "--event cs -e cpu-clock", "freq=49", ALL_LINE },

	{ "-I", "freq=49 idle", ALL_LINE },
	{ "--mntns 185", "freq=49 mntns=185", ALL_LINE },
	{ "--mntns 185 --mntns=2040", "freq=49 mntns=2040", ALL_LINE },
	{ "--comm dd", "freq=49 comm=dd", ALL_LINE },
	{ "--comm=dd --comm 123456789012345", "freq=49 comm=123456789012345", ALL_LINE },
	{ "--comm ' ;\n' -p 185", "freq=49 pids=185 comm= ;\n", HERTZ "PID 185" BOTH CTRL_C },
	{ "-d", "freq=49 -d", ALL_LINE },
	{ "-a", "freq=49 -a", ALL_LINE },
	{ "-As", "freq=49 -A -s", ALL_LINE },
	{ "--address --symbol-offset", "freq=49 -A -s", ALL_LINE },
	{ "-fAs", "freq=49 folded", ALL_LINE },
	{ "--inline", "freq=49 inline", ALL_LINE },
	{ "--inl -fa", "freq=49 folded -a inline", ALL_LINE },
	{ "-s --source", "freq=49 -s source", ALL_LINE },
	{ "--source --inline -A -s", "freq=49 -A -s inline source", ALL_LINE },
	{ "--source", "freq=49", ALL_LINE }, /* it needs -s */
	{ "--source -sf --inline", "freq=49 folded inline", ALL_LINE },
	{ "-adf", "freq=49 folded -d -a", ALL_LINE },
	{ "--format top -As --limit 5 --sort total", "freq=49 top limit=5 total", ALL_LINE },
	{ "--format text -As --sort total --sort self", "freq=49 -A -s", ALL_LINE },
	{ "-f --format top", "freq=49 top", ALL_LINE },
	{ "--format top -f", "freq=49 folded", ALL_LINE },
	{ "-o x.folded", "freq=49 folded output=x.folded", ALL_LINE },
	{ "-o .folded", "freq=49 output=.folded", ALL_LINE },
	{ "-o x.folded.txt", "freq=49 output=x.folded.txt", ALL_LINE },
	{ "--format text -o x.folded", "freq=49 output=x.folded", ALL_LINE },
	{ "--baseline b", "freq=49 top baseline=b", ALL_LINE },
	{ "--baseline b -f --absolute", "freq=49 folded baseline=b absolute", ALL_LINE },
	{ "--baseline b --fail-above 0.5", "freq=49 top baseline=b above=0.5", ALL_LINE },
	{ "--baseline b --fail-above 0", "freq=49 top baseline=b above=0", ALL_LINE },
	{ "-C 0", "freq=49 cpu=0", HERTZ "all threads" BOTH " on CPU#0" CTRL_C },
	{ "-C 4 5", "freq=49 cpu=4 ns=5000000000", HERTZ "all threads" BOTH " on CPU#4 for 5 secs." },
	{ "--cpu 1", "freq=49 cpu=1", HERTZ "all threads" BOTH " on CPU#1" CTRL_C },
	{ "-U -p 185 -C 1 -F 99 0.5", "freq=99 pids=185 user cpu=1 ns=500000000",
	  "Sampling at 99 Hertz of PID 185 by user stack on CPU#1 for 0.5 secs." },

	{ "--hash-storage-size 1", "freq=49 hash=1", ALL_LINE },
	{ "--hash-storage-size 10737418", "freq=49 hash=10737418", ALL_LINE },
	{ "--stack-storage-size 1", "freq=49 stack=1", ALL_LINE },
	{ "--stack-storage-size 524288", "freq=49 stack=524288", ALL_LINE },
	{ "--backend auto", "freq=49", ALL_LINE },
	{ "--backend bpf", "freq=49 backend=bpf", ALL_LINE },
	{ "--backend=perfring", "freq=49 backend=perfring", ALL_LINE },
	{ "--backend bpf --backend auto", "freq=49", ALL_LINE },
	{ "--backend both", "freq=49 backend=both", ALL_LINE },
	{ "-i 1", "freq=49 interval=1000000000", ALL_LINE },
	{ "--interval 0.5 5", "freq=49 ns=5000000000 interval=500000000", HERTZ "all threads" BOTH " for 5 secs." },
	{ "-i .000000001", "freq=49 interval=1", ALL_LINE },
	{ "-i 7 -i 3 2", "freq=49 ns=2000000000 interval=3000000000", HERTZ "all threads" BOTH " for 2 secs." },
	{ "--unwind fp", "freq=49 unwind=fp", ALL_LINE },
	{ "--unwind=dwarf", "freq=49 unwind=dwarf", ALL_LINE },
	{ "--unwind auto", "freq=49", ALL_LINE },
	{ "--unwind fp --unwind=auto", "freq=49", ALL_LINE },
	{ "--unwind dwarf --unwind fp", "freq=49 unwind=fp", ALL_LINE },
#ifdef HAVE_LIBUNWIND
	{ "--unwind libunwind", "freq=49 unwind=libunwind", ALL_LINE },
	{ "--unwind=both", "freq=49 unwind=both", ALL_LINE },
	{ "--unwind both --backend both", "freq=49 backend=both unwind=both", ALL_LINE },
#endif
	{ "--unw dwarf -U -F 99", "freq=99 user unwind=dwarf",
	  "Sampling at 99 Hertz of all threads by user stack" CTRL_C },
	{ "--stack-dump-size 8", "freq=49 dump=8", ALL_LINE },
	{ "--stack-dump-size=65528 --unwind dwarf", "freq=49 unwind=dwarf dump=65528", ALL_LINE },
	{ "--stack-dump-size 8 --stack-d 016384", "freq=49 dump=16384", ALL_LINE },
	{ "-o out", "freq=49 output=out", ALL_LINE },
	{ "--output=- --output 'a b'", "freq=49 output=a b", ALL_LINE },
	{ "--stats -v", "freq=49 stats verbose", ALL_LINE },
	{ "--color always", "freq=49 color=always", ALL_LINE },
	{ "--color=never", "freq=49 color=never", ALL_LINE },
	{ "--color=always --color=auto", "freq=49", ALL_LINE },
	{ "--stat --verb", "freq=49 stats verbose", ALL_LINE },
	{ "--kallsyms k --vmlinux v", "freq=49 kallsyms=k vmlinux=v", ALL_LINE },
	{ "--kallsyms=- --kallsyms k", "freq=49 kallsyms=k", ALL_LINE },
	{ "--debug-dir . --debug-dir=/", "freq=49 debug-dir=/", ALL_LINE },
	{ "--user --include", "freq=49 user idle", HERTZ "all threads by user stack" CTRL_C },

	{ "--off-cpu", "freq=49 off-cpu", OFF_LINE },
	{ "--off", "freq=49 off-cpu", OFF_LINE },
	{ "--off-cpu --off-cpu", "freq=49 off-cpu", OFF_LINE },
	{ "--off-cpu 5", "freq=49 off-cpu ns=5000000000",
	  "Sampling at 49 Hertz " AND_OFF "all threads" BOTH " for 5 secs." },
	{ "-F 99 --off-cpu", "freq=99 off-cpu", "Sampling at 99 Hertz " AND_OFF "all threads" BOTH CTRL_C },
	{ "--off-cpu -c 1000", "period=1000 off-cpu",
	  "Sampling at every 1000 events " AND_OFF "all threads" BOTH CTRL_C },
	{ "--off-cpu -p 2040,185", "freq=49 off-cpu pids=185,2040",
	  "Sampling at 49 Hertz " AND_OFF "PID [2040, 185]" BOTH CTRL_C },
	{ "-L 2041 --off-cpu", "freq=49 off-cpu tids=2041", "Sampling at 49 Hertz " AND_OFF "TID 2041" BOTH CTRL_C },
	{ "--off-cpu -C 4", "freq=49 off-cpu cpu=4",
	  "Sampling at 49 Hertz " AND_OFF "all threads" BOTH " on CPU#4" CTRL_C },
	{ "--off-cpu 2 -- dd --off-cpu", "freq=49 off-cpu ns=2000000000 command=dd,--off-cpu",
	  "Sampling at 49 Hertz " AND_OFF "all threads of 'dd'" BOTH " for 2 secs." },
	{ "-- dd --off-cpu", "freq=49 command=dd,--off-cpu", HERTZ "all threads of 'dd'" BOTH CTRL_C },
	{ "-U --off-cpu", "freq=49 off-cpu user", "Sampling at 49 Hertz " AND_OFF "all threads by user stack" CTRL_C },
	{ "--off-cpu -K", "freq=49 off-cpu kernel",
	  "Sampling at 49 Hertz " AND_OFF "all threads by kernel stack" CTRL_C },
	{ "--off-cpu -e cpu-clock", "freq=49 off-cpu", OFF_LINE },
	{ "--off-cpu --event task-clock", "freq=49 off-cpu event=task-clock",
	  "Sampling task-clock at 49 Hertz " AND_OFF "all threads" BOTH CTRL_C },
	{ "-e cycles -e cpu-clock --off-cpu", "freq=49 off-cpu", OFF_LINE }, /* the last one counts */
	{ "--off-cpu -Idaf --stats", "freq=49 off-cpu idle folded -d -a stats", OFF_LINE },
	{ "--off-cpu --backend both -i 1", "freq=49 off-cpu interval=1000000000 backend=both", OFF_LINE },
	{ "--off-cpu --unwind dwarf --stack-dump-size 8", "freq=49 off-cpu unwind=dwarf dump=8", OFF_LINE },
	{ "--off-cpu --comm dd --mntns 185", "freq=49 off-cpu mntns=185 comm=dd", OFF_LINE },
	{ "--off-cpu --help", "freq=49 off-cpu action=1", OFF_LINE },
	{ "--version --off-cpu", "freq=49 off-cpu action=2", OFF_LINE },

	{ "-h", "freq=49 action=5", ALL_LINE },
	{ "-h --help", "freq=49 action=1", ALL_LINE },
	{ "--help -h", "freq=49 action=5", ALL_LINE },
	{ "--hel", "freq=49 action=1", ALL_LINE },
	{ "--help", "freq=49 action=1", ALL_LINE },
	{ "--version", "freq=49 action=2", ALL_LINE },
	{ "--vers", "freq=49 action=2", ALL_LINE },
	{ "--ebpf", "freq=49 action=3", ALL_LINE },
	{ "--list-backends", "freq=49 action=4", ALL_LINE },
	{ "-f --list-backends", "freq=49 action=4 folded fields", ALL_LINE },
	{ "--list-backends --help -f", "freq=49 action=1 folded", ALL_LINE },
	{ "--help --version", "freq=49 action=2", ALL_LINE },

	{ "0.5", "freq=49 ns=500000000", HERTZ "all threads" BOTH " for 0.5 secs." },
	{ ".5", "freq=49 ns=500000000", HERTZ "all threads" BOTH " for .5 secs." },
	{ "1.000000001", "freq=49 ns=1000000001", HERTZ "all threads" BOTH " for 1.000000001 secs." },
	{ "0.000000001", "freq=49 ns=1", HERTZ "all threads" BOTH " for 0.000000001 secs." },
	{ "0.10", "freq=49 ns=100000000", HERTZ "all threads" BOTH " for 0.10 secs." },
	{ "010", "freq=49 ns=10000000000", HERTZ "all threads" BOTH " for 010 secs." },
	{ "99999999", "freq=49 ns=99999999000000000", HERTZ "all threads" BOTH " for 99999999 secs." },
	{ "999999999", "freq=49 ns=999999999000000000", HERTZ "all threads" BOTH " for 999999999 secs." },
	{ "999999999.0", "freq=49 ns=999999999000000000", HERTZ "all threads" BOTH " for 999999999.0 secs." },
	{ "5 -F 99 -df", "freq=99 ns=5000000000 folded -d", "Sampling at 99 Hertz of all threads" BOTH " for 5 secs." },
};

#define USAGE -EINVAL
#define EVENTS                                                                                                         \
	"cpu-clock, task-clock, page-faults, context-switches, cpu-migrations, minor-faults, major-faults, "           \
	"alignment-faults, emulation-faults"
#define NINES "99999999999999999999" /* beyond 64 bits */

#define ADDS_UP "--off-cpu adds up time, and -e "
#define COUNTS  " does not measure time (try -e cpu-clock)"

static const struct bad_row bad[] = {
	{ "-p ''", USAGE, "-p '': not a process id" },
	{ "--pid=", USAGE, "--pid '': not a process id" },
	{ "-p abc", USAGE, "-p 'abc': not a process id (by name: --comm abc)" },
	{ "-p tokio-runtime-w", USAGE, "-p 'tokio-runtime-w': not a process id (by name: --comm tokio-runtime-w)" },
	{ "-p tokio-runtime-wo", USAGE, "-p 'tokio-runtime-wo': not a process id" },
	{ "-p 'a b'", USAGE, "-p 'a b': not a process id" },
	{ "-p a,b", USAGE, "-p 'a,b': not a list of process ids" },
	{ "-p 1,,2", USAGE, "-p '1,,2': not a list of process ids" },
	{ "-p 99999999,x", USAGE, "-p '99999999,x': not a list of process ids" },
	{ "-p 185,,2040", USAGE, "-p '185,,2040': not a list of process ids" },
	{ "-p 185,", USAGE, "-p '185,': not a list of process ids" },
	{ "-p ,185", USAGE, "-p ',185': not a list of process ids" },
	{ "-p ,", USAGE, "-p ',': not a list of process ids" },
	{ "-p 12x", USAGE, "-p '12x': not a process id" },
	{ "-p 0xb9", USAGE, "-p '0xb9': not a process id" },
	{ "-p 185.0", USAGE, "-p '185.0': not a process id" },
	{ "-p -185", USAGE, "-p '-185': not a process id" },
	{ "-p +185", USAGE, "-p '+185': not a process id" },
	{ "-p ' 185'", USAGE, "-p ' 185': not a process id" },
	{ "-p '185 '", USAGE, "-p '185 ': not a process id" },
	{ "-p '185, 2040'", USAGE, "-p '185, 2040': not a list of process ids" },
	{ "-p '185\n2040'", USAGE, "-p '185?2040': not a process id" },
	{ "-p '\033[31m'", USAGE, "-p '?[31m': not a process id" },
	{ "-p 0", USAGE, "-p '0': out of range (1 to 2147483647)" },
	{ "-p 2147483648", USAGE, "-p '2147483648': out of range (1 to 2147483647)" },
	{ "-p 4294967481", USAGE, "-p '4294967481': out of range (1 to 2147483647)" }, /* 2^32 + 185 */
	{ "-p 185," NINES ",2040", USAGE, "-p '" NINES "': out of range (1 to 2147483647)" },
	{ "-p 2147483647", USAGE, "-p '2147483647': no such process" },
	{ "-p 99999999", USAGE, "-p '99999999': no such process" },
	{ "-p 1", USAGE, "-p '1': cannot be looked up: /proc does not show it (see hidepid in proc(5))" },
	{ "-p 185,99999999", USAGE, "-p '99999999': no such process" },
	{ "--pid 99999999", USAGE, "--pid '99999999': no such process" },
	{ "--pi 99999999", USAGE, "--pid '99999999': no such process" },
	{ "-p 2041", USAGE, "-p '2041': is a thread of process 2040 (use -L)" },
	{ "-p", USAGE, "option '-p' needs an argument" },
	{ "-L ''", USAGE, "-L '': not a thread id" },
	{ "-L abc", USAGE, "-L 'abc': not a thread id (by name: --comm abc)" },
	{ "-L 2041,,185", USAGE, "-L '2041,,185': not a list of thread ids" },
	{ "-L 99999999", USAGE, "-L '99999999': no such thread" },
	{ "--tid 2041,99999999", USAGE, "--tid '99999999': no such thread" },
	{ "-L 2147483648", USAGE, "-L '2147483648': out of range (1 to 2147483647)" },

	{ "-F 0", USAGE, "-F '0': must be at least 1" },
	{ "-F ''", USAGE, "-F '': not a number" },
	{ "-F 49abc", USAGE, "-F '49abc': not a number" },
	{ "-F -1", USAGE, "-F '-1': not a number" },
	{ "-F 4.9", USAGE, "-F '4.9': not a number" },
	{ "-F 1e3", USAGE, "-F '1e3': not a number" },
	{ "-F 100001", USAGE, "-F '100001': above kernel.perf_event_max_sample_rate (100000)" },
	{ "-F 200000", USAGE, "-F '200000': above kernel.perf_event_max_sample_rate (100000)" },
	{ "-F 4294967345", USAGE, "-F '4294967345': above kernel.perf_event_max_sample_rate (100000)" },
	{ "-F " NINES, USAGE, "-F '" NINES "': above kernel.perf_event_max_sample_rate (100000)" },
	{ "--frequency 0", USAGE, "--frequency '0': must be at least 1" },
	{ "-c 0", USAGE, "-c '0': must be at least 1" },
	{ "-c ''", USAGE, "-c '': not a number" },
	{ "-c abc", USAGE, "-c 'abc': not a number" },
	{ "-c 0x10", USAGE, "-c '0x10': not a number" },
	{ "-c 9223372036854775808", USAGE, "-c '9223372036854775808': above the highest count (9223372036854775807)" },
	{ "-c " NINES, USAGE, "-c '" NINES "': above the highest count (9223372036854775807)" },

	{ "-C ''", USAGE, "-C '': not a CPU number" },
	{ "-C abc", USAGE, "-C 'abc': not a CPU number" },
	{ "-C -1", USAGE, "-C '-1': not a CPU number" },
	{ "-C 0-1", USAGE, "-C '0-1': not a CPU number" },
	{ "-C 0,1", USAGE, "-C '0,1': not a CPU number" },
	{ "-C 2", USAGE, "-C '2': CPU is not online (online: 0-1,4)" },
	{ "-C 200", USAGE, "-C '200': CPU is not online (online: 0-1,4)" },
	{ "-C 2147483647", USAGE, "-C '2147483647': CPU is not online (online: 0-1,4)" },
	{ "-C 4294967296", USAGE, "-C '4294967296': CPU is not online (online: 0-1,4)" },
	{ "--cpu " NINES, USAGE, "--cpu '" NINES "': CPU is not online (online: 0-1,4)" },

	{ "0", USAGE, "duration '0': must be above 0" },
	{ "0.0", USAGE, "duration '0.0': must be above 0" },
	{ "''", USAGE, "duration '': not a number of seconds" },
	{ "-", USAGE, "duration '-': not a number of seconds" },
	{ ".", USAGE, "duration '.': not a number of seconds" },
	{ "5.", USAGE, "duration '5.': not a number of seconds" },
	{ "1x", USAGE, "duration '1x': not a number of seconds" },
	{ "1.x", USAGE, "duration '1.x': not a number of seconds" },
	{ "1.5x", USAGE, "duration '1.5x': not a number of seconds" },
	{ "1.2.3", USAGE, "duration '1.2.3': not a number of seconds" },
	{ "1,5", USAGE, "duration '1,5': not a number of seconds" },
	{ "5s", USAGE, "duration '5s': not a number of seconds" },
	{ "1e5", USAGE, "duration '1e5': not a number of seconds" },
	{ "0x5", USAGE, "duration '0x5': not a number of seconds" },
	{ "+5", USAGE, "duration '+5': not a number of seconds" },
	{ "' 5'", USAGE, "duration ' 5': not a number of seconds" },
	{ "'5 '", USAGE, "duration '5 ': not a number of seconds" },
	{ "nan", USAGE, "duration 'nan': not a number of seconds" },
	{ "inf", USAGE, "duration 'inf': not a number of seconds" },
	{ "-1", USAGE, "unknown option '-1'" },
	{ "0.0000000001", USAGE, "duration '0.0000000001': more than 9 decimals" },
	{ "1.0000000000", USAGE, "duration '1.0000000000': more than 9 decimals" },
	{ "1." NINES NINES, USAGE, "duration '1." NINES NINES "': more than 9 decimals" },
	{ "1000000000", USAGE, "duration '1000000000': above 999999999 seconds" },
	{ "999999999.000000001", USAGE, "duration '999999999.000000001': above 999999999 seconds" },
	{ NINES, USAGE, "duration '" NINES "': above 999999999 seconds" },
	{ NINES "x", USAGE, "duration '" NINES "x': not a number of seconds" },
	{ "5 10", USAGE, "duration '10': there is one already, '5'" },
	{ "5 -U 5", USAGE, "duration '5': there is one already, '5'" },
	/* a program of the unit's PATH, with the line that runs it */
	{ "5 unit-dd", USAGE,
	  "duration 'unit-dd': not a number of seconds (to run a command, write -- before it: profile 5 -- unit-dd)" },
	{ "unit-dd", USAGE,
	  "duration 'unit-dd': not a number of seconds (to run a command, write -- before it: profile -- unit-dd)" },
	{ "-F 9 unit-dd -f 3", USAGE,
	  "duration 'unit-dd': not a number of seconds (to run a command, write -- before it: profile -F 9 -- unit-dd "
	  "-f 3)" },
	{ "-f unit-dd 'a b' c", USAGE,
	  "duration 'unit-dd': not a number of seconds (to run a command, write -- before it: profile -f -- unit-dd "
	  "...)" },
	{ "--comm 'a b' unit-dd", USAGE,
	  "duration 'unit-dd': not a number of seconds (to run a command, write -- before it: profile --comm ... -- "
	  "unit-dd)" },
	{ "5 unit-no-program", USAGE, "duration 'unit-no-program': there is one already, '5'" },
	{ "unit-no-program", USAGE, "duration 'unit-no-program': not a number of seconds" },
	{ "/", USAGE, "duration '/': not a number of seconds" },
	{ "--frequncy 99", USAGE, "unknown option '--frequncy' (is it --frequency?)" },
	{ "--ouptut=x", USAGE, "unknown option '--ouptut' (is it --output?)" },
	{ "--cup 1", USAGE, "unknown option '--cup' (is it --cpu?)" },
	{ "--kernel-stack-onyl", USAGE, "unknown option '--kernel-stack-onyl'" },

	{ "--hash-storage-size 0", USAGE, "--hash-storage-size '0': must be at least 1" },
	{ "--hash-storage-size ''", USAGE, "--hash-storage-size '': not a number" },
	{ "--hash-storage-size 1k", USAGE, "--hash-storage-size '1k': not a number" },
	{ "--hash-storage-size 10737419", USAGE,
	  "--hash-storage-size '10737419': beyond this host's memory (1024 MiB)" },
	{ "--hash-storage-size 4294967295", USAGE,
	  "--hash-storage-size '4294967295': beyond this host's memory (1024 MiB)" },
	{ "--hash-storage-size 4294967296", USAGE,
	  "--hash-storage-size '4294967296': above the largest table (4294967295)" },
	{ "--stack-storage-size 0", USAGE, "--stack-storage-size '0': must be at least 1" },
	{ "--stack-storage-size -8", USAGE, "--stack-storage-size '-8': not a number" },
	{ "--stack-storage-size 524289", USAGE, /* 2^20 after rounding */
	  "--stack-storage-size '524289': beyond this host's memory (1024 MiB)" },
	{ "--stack-storage-size 2147483648", USAGE,
	  "--stack-storage-size '2147483648': beyond this host's memory (1024 MiB)" },
	{ "--stack-storage-size 2147483649", USAGE,
	  "--stack-storage-size '2147483649': above the largest table (2147483648)" },
	{ "--stack-storage-size " NINES, USAGE,
	  "--stack-storage-size '" NINES "': above the largest table (2147483648)" },

	{ "-e foo", USAGE, "-e 'foo': unknown event (this host has " EVENTS ")" },
	{ "-e ''", USAGE, "-e '': must not be empty" },
	{ "--event=", USAGE, "--event '': must not be empty" },
	{ "--event foo -e bar", USAGE, "-e 'bar': unknown event (this host has " EVENTS ")" },
	{ "-e foo --event bar", USAGE, "--event 'bar': unknown event (this host has " EVENTS ")" },
	{ "-e foo --help", USAGE, "-e 'foo': unknown event (this host has " EVENTS ")" },
	{ "-e foo -p 99999999", USAGE, "-p '99999999': no such process" },
	{ "-e cycles:u", USAGE, "-e 'cycles:u': unknown event (this host has " EVENTS ")" },
	{ "--event CPU-CLOCK", USAGE, "--event 'CPU-CLOCK': unknown event (this host has " EVENTS ")" },
	{ "--backend foo", USAGE, "--backend 'foo': not one of auto, bpf, perfring, both" },
	{ "--backend ''", USAGE, "--backend '': not one of auto, bpf, perfring, both" },
	{ "--backend per", USAGE, "--backend 'per': not one of auto, bpf, perfring, both" },
	{ "--unwind foo", USAGE, "--unwind 'foo': not one of auto, fp, dwarf, libunwind, both" },
	{ "-o ''", USAGE, "-o '': must not be empty" },

	{ "-U -K", USAGE, "-U and -K exclude each other" },
	{ "--kernel --user", USAGE, "-U and -K exclude each other" },
	{ "-UK", USAGE, "-U and -K exclude each other" },
	{ "-p 185 -L 185", USAGE, "-p and -L exclude each other" },
	{ "-L 185 -p 185", USAGE, "-p and -L exclude each other" },
	{ "-F 99 -c 1000", USAGE, "-F and -c exclude each other" },
	{ "-c 1000 -F 49", USAGE, "-F and -c exclude each other" },

	{ "--foo", USAGE, "unknown option '--foo'" },
	{ "--foo=3", USAGE, "unknown option '--foo'" },
	{ "--fooled --help", USAGE, "unknown option '--fooled' (is it --folded?)" },
	{ "--helpme", USAGE, "unknown option '--helpme' (is it --help?)" },
	{ "--'", USAGE, "unknown option '--''" },
	{ "---", USAGE, "unknown option '---'" },
	{ "-x", USAGE, "unknown option '-x'" },
	{ "-fx", USAGE, "unknown option '-x'" },
	{ "--format fold", USAGE, "--format 'fold': not one of text, folded, top, html, pprof, speedscope, json" },
	{ "--format ''", USAGE, "--format '': not one of text, folded, top, html, pprof, speedscope, json" },
	{ "--sort all", USAGE, "--sort 'all': not self or total" },
	{ "--limit 0", USAGE, "--limit '0': must be at least 1" },
	{ "--limit x", USAGE, "--limit 'x': not a number" },
	{ "--baseline b --fail-above 0x1", USAGE, "--fail-above '0x1': not a number of points from 0 to 100" },
	{ "--absolute", USAGE, "--absolute needs --baseline" },
	{ "--fail-above 3", USAGE, "--fail-above needs --baseline" },
	{ "--baseline ''", USAGE, "--baseline '': must not be empty" },
	{ "--baseline b -i 1", USAGE, "-i and --baseline exclude each other" },
	{ "--baseline b --backend both", USAGE, "--backend=both and --baseline exclude each other" },
	{ "--baseline b --format text", USAGE, "--baseline cannot be shown in --format text (try --format top)" },
	{ "--baseline b --fail-above -1", USAGE, "--fail-above '-1': not a number of points from 0 to 100" },
	{ "--baseline b --fail-above 101", USAGE, "--fail-above '101': not a number of points from 0 to 100" },
	{ "--baseline b --fail-above nan", USAGE, "--fail-above 'nan': not a number of points from 0 to 100" },
	{ "--baseline b --fail-above 1x", USAGE, "--fail-above '1x': not a number of points from 0 to 100" },
	{ "--baseline b --fail-above ''", USAGE, "--fail-above '': not a number of points from 0 to 100" },
	{ "-f-", USAGE, "unknown option '--'" },
	{ "-:", USAGE, "unknown option '-:'" },
	{ "-;", USAGE, "unknown option '-;'" },
	{ "-?", USAGE, "unknown option '-?'" },
	{ "-\xc3\xa9", USAGE, "unknown option '-\\xc3'" },
	{ "-\001", USAGE, "unknown option '-\\x01'" },
	{ "-W foo", USAGE, "unknown option '-W'" },
	{ "--st", USAGE, "option '--st' is ambiguous (--stack-dump-size, --stack-storage-size, --stats)" },
	{ "--stack=5", USAGE, "option '--stack' is ambiguous (--stack-dump-size, --stack-storage-size)" },
	{ "--f 99", USAGE, "option '--f' is ambiguous (--frequency, --format, --folded, --fail-above)" },
	{ "--in", USAGE, "option '--in' is ambiguous (--include-idle, --input, --interval, --inline)" },
	{ "-F", USAGE, "option '-F' needs an argument" },
	{ "-fF", USAGE, "option '-F' needs an argument" },
	{ "--frequency", USAGE, "option '--frequency' needs an argument" },
	{ "--freq", USAGE, "option '--frequency' needs an argument" },
	{ "5 --output", USAGE, "option '--output' needs an argument" },
	{ "--color", USAGE, "option '--color' needs an argument" },
	{ "--color=", USAGE, "--color '': not one of auto, always, never" },
	{ "--color=yes", USAGE, "--color 'yes': not one of auto, always, never" },
	{ "--colour=auto", USAGE, "unknown option '--colour' (is it --color?)" },
	{ "--stats=1", USAGE, "option '--stats' takes no argument" },
	{ "--fold=", USAGE, "option '--folded' takes no argument" },

	{ "--help -x", USAGE, "unknown option '-x'" },
	{ "--version 1x", USAGE, "duration '1x': not a number of seconds" },
	{ "--list-backends -F 0", USAGE, "-F '0': must be at least 1" },
	{ "--ebpf -U -K", USAGE, "-U and -K exclude each other" },

	{ "--cgroupmap /nowhere/at/all", USAGE, "--cgroupmap '/nowhere/at/all': No such file or directory" },
	{ "--cgroupmap", USAGE, "option '--cgroupmap' needs an argument" },
	{ "--cgroupmap ''", USAGE, "--cgroupmap '': must not be empty" },
	{ "--cgroupmap /", USAGE, "--cgroupmap '/': not a BPF hash map with keys of 8 bytes" },
	{ "--mntnsmap /dev/null", USAGE, "--mntnsmap '/dev/null': not a BPF hash map with keys of 8 bytes" },
	{ "--mntnsmap /dev/null/x", USAGE, "--mntnsmap '/dev/null/x': Not a directory" },
	{ "--mntnsmap", USAGE, "option '--mntnsmap' needs an argument" },
	{ "--mntnsmap=", USAGE, "--mntnsmap '': must not be empty" },
	{ "--unwind ''", USAGE, "--unwind '': not one of auto, fp, dwarf, libunwind, both" },
	{ "--unwind dwarf,fp", USAGE, "--unwind 'dwarf,fp': not one of auto, fp, dwarf, libunwind, both" },
	{ "--unwind libunwind8", USAGE, "--unwind 'libunwind8': not one of auto, fp, dwarf, libunwind, both" },
	{ "--unwind both,fp", USAGE, "--unwind 'both,fp': not one of auto, fp, dwarf, libunwind, both" },
	{ "--unwind DWARF", USAGE, "--unwind 'DWARF': not one of auto, fp, dwarf, libunwind, both" },
	{ "--unwind dwar", USAGE, "--unwind 'dwar': not one of auto, fp, dwarf, libunwind, both" },
	{ "--unwind", USAGE, "option '--unwind' needs an argument" },
	{ "--backend Both", USAGE, "--backend 'Both': not one of auto, bpf, perfring, both" },
	{ "--stack-dump-size ''", USAGE, "--stack-dump-size '': must be a multiple of 8 from 8 to 65528" },
	{ "--stack-dump-size -8", USAGE, "--stack-dump-size '-8': must be a multiple of 8 from 8 to 65528" },
	{ "--stack-dump-size 4", USAGE, "--stack-dump-size '4': must be a multiple of 8 from 8 to 65528" },
	{ "--stack-dump-size 65529", USAGE, "--stack-dump-size '65529': must be a multiple of 8 from 8 to 65528" },
	{ "--stack-dump-size 4294967304", USAGE, /* 2^32 + 8 */
	  "--stack-dump-size '4294967304': must be a multiple of 8 from 8 to 65528" },
	{ "--stack-dump-size " NINES, USAGE, "--stack-dump-size '" NINES "': must be a multiple of 8 from 8 to 65528" },
	{ "--stack-dump-size 0", USAGE, "--stack-dump-size '0': must be a multiple of 8 from 8 to 65528" },
	{ "--stack-dump-size 12", USAGE, "--stack-dump-size '12': must be a multiple of 8 from 8 to 65528" },
	{ "--stack-dump-size 65536", USAGE, "--stack-dump-size '65536': must be a multiple of 8 from 8 to 65528" },
	{ "--stack-dump-size 8k", USAGE, "--stack-dump-size '8k': must be a multiple of 8 from 8 to 65528" },
	{ "-i -1", USAGE, "-i '-1': not a number of seconds" },
	{ "-i 1000000000", USAGE, "-i '1000000000': above 999999999 seconds" },
	{ "--interval ''", USAGE, "--interval '': not a number of seconds" },
	{ "-i 0", USAGE, "-i '0': must be above 0" },
	{ "-i 1x", USAGE, "-i '1x': not a number of seconds" },
	{ "--kallsyms ''", USAGE, "--kallsyms '': must not be empty" },
	{ "--kallsyms", USAGE, "option '--kallsyms' needs an argument" },
	{ "--vmlinux ''", USAGE, "--vmlinux '': must not be empty" },
	{ "--debug-dir /nowhere/at/all", USAGE, "--debug-dir '/nowhere/at/all': No such file or directory" },
	{ "--debug-dir /dev/null", USAGE, "--debug-dir '/dev/null': Not a directory" },
	{ "--debug-dir / --debug-dir /dev/null/x", USAGE, "--debug-dir '/dev/null/x': Not a directory" },
	{ "--symfs /", USAGE, "--symfs needs --input: it names the files of a recording" },
	{ "--debug-dir", USAGE, "option '--debug-dir' needs an argument" },
	{ "--debug-dir ''", USAGE, "--debug-dir '': must not be empty" },
	{ "--inline=yes", USAGE, "option '--inline' takes no argument" },
	{ "--source=", USAGE, "option '--source' takes no argument" },
	{ "--inlined", USAGE, "unknown option '--inlined' (is it --inline?)" },
	{ "--inline x.c", USAGE, "duration 'x.c': not a number of seconds" },
	{ "--cgroup", USAGE, "option '--cgroup' needs an argument" },
	{ "--cgroup /", USAGE, "--cgroup '/': not a cgroup of version 2" },
	{ "--cgroup /proc/self", USAGE, "--cgroup '/proc/self': not a cgroup of version 2" },
	{ "--cgroup /dev/null", USAGE, "--cgroup '/dev/null': Not a directory" },
	{ "--cgroup /nowhere/at/all", USAGE, "--cgroup '/nowhere/at/all': No such file or directory" },
	{ "--cgroup / -p 99999999", USAGE, "-p '99999999': no such process" },
	{ "--cgroup ''", USAGE, "--cgroup '': must not be empty" },
	{ "--mntns", USAGE, "option '--mntns' needs an argument" },
	{ "--mntns ''", USAGE, "--mntns '': not a process id" },
	{ "--mntns 0", USAGE, "--mntns '0': out of range (1 to 2147483647)" },
	{ "--mntns 2041", USAGE, "--mntns '2041': is a thread of process 2040 (use its id)" },
	{ "--mntns abc", USAGE, "--mntns 'abc': not a process id" },
	{ "--mntns 99999999", USAGE, "--mntns '99999999': no such process" },
	{ "--mntns 185,2040", USAGE, "--mntns '185,2040': takes one process id" },
	{ "--comm", USAGE, "option '--comm' needs an argument" },
	{ "--comm ''", USAGE, "--comm '': must not be empty" },
	{ "--comm 1234567890123456", USAGE, "--comm '1234567890123456': longer than a task's name can be (15 bytes)" },
	{ "-t 185", USAGE, "unknown option '-t'" },
	{ "-m 5", USAGE, "unknown option '-m'" },
	{ "--state 0", USAGE, "unknown option '--state' (is it --stats?)" },
	{ "--open-intervals", USAGE, "unknown option '--open-intervals'" },
	{ "--off-cpu=1", USAGE, "option '--off-cpu' takes no argument" },
	{ "--off-cpu=", USAGE, "option '--off-cpu' takes no argument" },
	{ "--off-cpus", USAGE, "unknown option '--off-cpus' (is it --off-cpu?)" },
	{ "--off-cpu 1 2", USAGE, "duration '2': there is one already, '1'" },
	{ "--off-cpu -e cycles", USAGE, ADDS_UP "cycles" COUNTS },
	{ "-e cycles --off-cpu", USAGE, ADDS_UP "cycles" COUNTS },
	{ "--off-cpu -e cpu-cycles", USAGE, ADDS_UP "cycles" COUNTS }, /* perf's own name comes first */
	{ "-e instructions --off-cpu -c 1000", USAGE, ADDS_UP "instructions" COUNTS },
	{ "--off-cpu -e page-faults", USAGE, ADDS_UP "page-faults" COUNTS },
	{ "--off-cpu -e cs", USAGE, ADDS_UP "context-switches" COUNTS },
	{ "--off-cpu -e cpu-clock -e faults", USAGE, ADDS_UP "page-faults" COUNTS },
	{ "--off-cpu -e faults --help", USAGE, ADDS_UP "page-faults" COUNTS },
	{ "--off-cpu -e faults -- dd", USAGE, ADDS_UP "page-faults" COUNTS },
	{ "--off-cpu -e nothing", USAGE, "-e 'nothing': unknown event (this host has " EVENTS ")" },
	{ "--off-cpu -e ''", USAGE, "-e '': must not be empty" },
	{ "--off-cpu -F 9 -c 9", USAGE, "-F and -c exclude each other" },
	{ "--off-cpu -F 0", USAGE, "-F '0': must be at least 1" },
	{ "-F 0 --off-cpu", USAGE, "-F '0': must be at least 1" },
	{ "--off-cpu -C 2", USAGE, "-C '2': CPU is not online (online: 0-1,4)" },
	{ "--off-cpu -p 99999999", USAGE, "-p '99999999': no such process" },
	{ "--off-cpu -p 185 -- dd", USAGE, "a command and -p exclude each other" },
	{ "--off-cpu -u", USAGE, "unknown option '-u'" },
	{ "--off-cpu -m 5", USAGE, "unknown option '-m'" },
	{ "--off-cpu --state 0", USAGE, "unknown option '--state' (is it --stats?)" },
	{ "--off-cpu --", USAGE, "no command after '--'" },
	{ "-- ''", USAGE, "command '': must not be empty" },
	{ "--", USAGE, "no command after '--'" },
	{ "5 --", USAGE, "no command after '--'" },
	{ "-o -- --", USAGE, "no command after '--'" },
	{ "-dU --", USAGE, "no command after '--'" },
	{ "5 -- '' dd", USAGE, "command '': must not be empty" },
	{ "-p 185 -- dd", USAGE, "a command and -p exclude each other" },
	{ "-L 185 -- dd", USAGE, "a command and -L exclude each other" },
	{ "-p 185 -L 185 -- dd", USAGE, "-p and -L exclude each other" },
	{ "-p 99999999 -- dd", USAGE, "a command and -p exclude each other" },
	{ "dd -- dd", USAGE, "duration 'dd': not a number of seconds" },
	{ "5 6 -- dd", USAGE, "duration '6': there is one already, '5'" },
	{ "-F 0 -- dd", USAGE, "-F '0': must be at least 1" },
};

/* ---- offcputime */

#define TRACING "Tracing off-CPU time (us) of "
#define OFF_ALL TRACING "all threads" BOTH CTRL_C

static const struct good_row good_offcputime[] = {
	{ "", "1000..", OFF_ALL },
	{ "5", "1000.. ns=5000000000", TRACING "all threads" BOTH " for 5 secs." },
	{ "-- dd -m 0", "1000.. command=dd,-m,0", TRACING "all threads of 'dd'" BOTH CTRL_C },
	{ "-U .5 -- sh", "1000.. user ns=500000000 command=sh",
	  TRACING "all threads of 'sh' by user stack for .5 secs." },
	{ "-- 'a\nb'", "1000.. command=a\nb", TRACING "all threads of 'a?b'" BOTH CTRL_C },

	{ "-p 185", "1000.. pids=185", TRACING "PIDs 185" BOTH CTRL_C },
	{ "--pid 2040,185,2040", "1000.. pids=185,2040", TRACING "PIDs 2040,185" BOTH CTRL_C },
	{ "-t 2041", "1000.. tids=2041", TRACING "TIDs 2041" BOTH CTRL_C },
	{ "--tid=2041,185 -K 3", "1000.. tids=185,2041 kernel ns=3000000000",
	  TRACING "TIDs 2041,185 by kernel stack for 3 secs." },
	{ "-u", "1000.. -u", TRACING "user threads" BOTH CTRL_C },
	{ "--user-threads-only", "1000.. -u", TRACING "user threads" BOTH CTRL_C },
	{ "-k", "1000.. -k", TRACING "kernel threads" BOTH CTRL_C },
	{ "--kernel-t -C 1 5", "1000.. -k cpu=1 ns=5000000000", TRACING "kernel threads" BOTH " on CPU#1 for 5 secs." },
	{ "-u -U", "1000.. -u user", TRACING "user threads by user stack" CTRL_C },
	{ "-kK -C 4", "1000.. -k kernel cpu=4", TRACING "kernel threads by kernel stack on CPU#4" CTRL_C },

	{ "-m 1", "1000..", OFF_ALL },
	{ "-m 5 -m 1000", "1000000..", OFF_ALL },
	{ "-M 1", "1000..1999", OFF_ALL },
	{ "-m 7 -M 7", "7000..7999", OFF_ALL },
	{ "--min-block-time=5 --max-block-time 10000000", "5000..10000000999", OFF_ALL },
	{ "--min 010 --max 20", "10000..20999", OFF_ALL },
	{ "-m 9223372036854775", "9223372036854775000..", OFF_ALL },
	{ "-M 9223372036854775", "1000..9223372036854775999", OFF_ALL },
	{ "--state 0", "1000.. state=0", OFF_ALL },
	{ "--state=2", "1000.. state=2", OFF_ALL },
	{ "--state 0x3", "1000.. state=3", OFF_ALL },
	{ "--state 0x0ff", "1000.. state=255", OFF_ALL },
	{ "--state 0x0", "1000.. state=0", OFF_ALL },
	{ "--state 010", "1000.. state=10", OFF_ALL },
	{ "--state 1 --state 0x100", "1000.. state=256", OFF_ALL },
	{ "--state 4294967295", "1000.. state=4294967295", OFF_ALL },
	{ "--state 0xffffffff", "1000.. state=4294967295", OFF_ALL },
	{ "--open-intervals", "1000.. open", OFF_ALL },
	{ "--open -m 5 5", "5000.. open ns=5000000000", TRACING "all threads" BOTH " for 5 secs." },

	{ "-v", "1000.. -A", OFF_ALL }, /* not "verbose" */
	{ "--address --verbose", "1000.. -A verbose", OFF_ALL },
	{ "-vs", "1000.. -A -s", OFF_ALL },
	{ "--offset 5", "1000.. ns=5000000000 -s", TRACING "all threads" BOTH " for 5 secs." },
	{ "--ebpf", "1000.. action=3", OFF_ALL },
	{ "-k -s", "1000.. -k -s", TRACING "kernel threads" BOTH CTRL_C },
	{ "-fvs --source", "1000.. folded", OFF_ALL },
	{ "-adf", "1000.. folded -d -a", OFF_ALL },
	{ "-dU", "1000.. user", TRACING "all threads by user stack" CTRL_C },
	{ "-s --inline --source", "1000.. -s inline source", OFF_ALL },
	{ "--stack-storage-size 1 --stack-dump-size 8 --unwind dwarf", "1000.. stack=1 unwind=dwarf dump=8", OFF_ALL },
	{ "--backend both", "1000.. backend=both", OFF_ALL },
	{ "--backend bpf --backend auto", "1000..", OFF_ALL },
	{ "-i .5 --stats", "1000.. interval=500000000 stats", OFF_ALL },
	{ "--kallsyms k --vmlinux v --debug-dir /", "1000.. kallsyms=k vmlinux=v debug-dir=/", OFF_ALL },
	{ "--mntns 185 --comm dd", "1000.. mntns=185 comm=dd", OFF_ALL },
	{ "-o out", "1000.. output=out", OFF_ALL },
	{ "-h", "1000.. action=5", OFF_ALL },
	{ "--help", "1000.. action=1", OFF_ALL },
	{ "--version", "1000.. action=2", OFF_ALL },
	{ "--list-backends -f", "1000.. action=4 folded fields", OFF_ALL },
};

#define NO_MASK "': not a mask of task states (a number, or 0x and digits from 0 to f)"

static const struct bad_row bad_offcputime[] = {
	{ "-p ''", USAGE, "-p '': not a process id" },
	{ "-p 185,,2040", USAGE, "-p '185,,2040': not a list of process ids" },
	{ "-p 99999999", USAGE, "-p '99999999': no such process" },
	{ "-p 2041", USAGE, "-p '2041': is a thread of process 2040 (use -t)" },
	{ "-p", USAGE, "option '-p' needs an argument" },
	{ "-t ''", USAGE, "-t '': not a thread id" },
	{ "-t abc", USAGE, "-t 'abc': not a thread id (by name: --comm abc)" },
	{ "-t 2041,", USAGE, "-t '2041,': not a list of thread ids" },
	{ "-t 0", USAGE, "-t '0': out of range (1 to 2147483647)" },
	{ "-t 2147483648", USAGE, "-t '2147483648': out of range (1 to 2147483647)" },
	{ "-t 99999999", USAGE, "-t '99999999': no such thread" },
	{ "--tid 99999999", USAGE, "--tid '99999999': no such thread" },
	{ "-t", USAGE, "option '-t' needs an argument" },

	{ "-U -K", USAGE, "-U and -K exclude each other" },
	{ "-p 185 -t 185", USAGE, "-p and -t exclude each other" },
	{ "-t 185 -p 185", USAGE, "-p and -t exclude each other" },
	{ "-u -p 185", USAGE, "-p and -u exclude each other" },
	{ "-p 185 --user-threads-only", USAGE, "-p and -u exclude each other" },
	{ "-k -p 185", USAGE, "-p and -k exclude each other" },
	{ "-t 185 -u", USAGE, "-t and -u exclude each other" },
	{ "-k --tid 185", USAGE, "-t and -k exclude each other" },
	{ "-u -k", USAGE, "-u and -k exclude each other" },
	{ "-k -U", USAGE, "-k and -U exclude each other: kernel threads have no user stacks" },
	{ "--user-stacks-only --kernel-threads-only", USAGE,
	  "-k and -U exclude each other: kernel threads have no user stacks" },
	{ "-ku", USAGE, "-u and -k exclude each other" },
	{ "-uk -p 185", USAGE, "-p and -u exclude each other" },
	{ "-p 185 -- dd", USAGE, "a command and -p exclude each other" },
	{ "-t 185 -- dd", USAGE, "a command and -t exclude each other" },
	{ "-p 99999999 -k", USAGE, "-p and -k exclude each other" },

	{ "-m 0", USAGE, "-m '0': must be at least 1" },
	{ "-m ''", USAGE, "-m '': not a number" },
	{ "-m 1us", USAGE, "-m '1us': not a number" },
	{ "-m 0.5", USAGE, "-m '0.5': not a number" },
	{ "-m -1", USAGE, "-m '-1': not a number" },
	{ "-m 0x10", USAGE, "-m '0x10': not a number" },
	{ "-m 9223372036854776", USAGE, "-m '9223372036854776': above the longest time (9223372036854775)" },
	{ "-m 18446744073709552", USAGE, /* 2^64 ns and more */
	  "-m '18446744073709552': above the longest time (9223372036854775)" },
	{ "--min-block-time " NINES, USAGE, "--min-block-time '" NINES "': above the longest time (9223372036854775)" },
	{ "-m", USAGE, "option '-m' needs an argument" },
	{ "-M 0", USAGE, "-M '0': must be at least 1" },
	{ "-M abc", USAGE, "-M 'abc': not a number" },
	{ "-M ' 5'", USAGE, "-M ' 5': not a number" },
	{ "-M -1", USAGE, "-M '-1': not a number" },
	{ "-M 9223372036854776", USAGE, "-M '9223372036854776': above the longest time (9223372036854775)" },
	{ "--max-block-time=", USAGE, "--max-block-time '': not a number" },
	{ "--max", USAGE, "option '--max-block-time' needs an argument" },
	{ "-m 5 -M 4", USAGE, "-m 5 is above -M 4" },
	{ "-M 999 --min-block-time 1000", USAGE, "-m 1000 is above -M 999" },
	{ "-m 9223372036854775 -M 1", USAGE, "-m 9223372036854775 is above -M 1" },
	{ "-m 5 -M 4 -p 99999999", USAGE, "-m 5 is above -M 4" },
	{ "-m 5 -M 4 --help", USAGE, "-m 5 is above -M 4" },
	{ "-m 0 -M 0", USAGE, "-m '0': must be at least 1" },

	{ "--state ''", USAGE, "--state '" NO_MASK },
	{ "--state=", USAGE, "--state '" NO_MASK },
	{ "--state", USAGE, "option '--state' needs an argument" },
	{ "--state D", USAGE, "--state 'D" NO_MASK },
	{ "--state -1", USAGE, "--state '-1" NO_MASK },
	{ "--state +1", USAGE, "--state '+1" NO_MASK },
	{ "--state 0x", USAGE, "--state '0x" NO_MASK },
	{ "--state 0X1", USAGE, "--state '0X1" NO_MASK },
	{ "--state 0xF", USAGE, "--state '0xF" NO_MASK },
	{ "--sta 0", USAGE, "option '--sta' is ambiguous (--state, --stack-dump-size, --stack-storage-size, --stats)" },
	{ "--state 0xg", USAGE, "--state '0xg" NO_MASK },
	{ "--state 0x0x1", USAGE, "--state '0x0x1" NO_MASK },
	{ "--state 0x-1", USAGE, "--state '0x-1" NO_MASK },
	{ "--state x1", USAGE, "--state 'x1" NO_MASK },
	{ "--state ff", USAGE, "--state 'ff" NO_MASK },
	{ "--state 1f", USAGE, "--state '1f" NO_MASK },
	{ "--state 1,2", USAGE, "--state '1,2" NO_MASK },
	{ "--state '1 '", USAGE, "--state '1 " NO_MASK },
	{ "--state '1\n'", USAGE, "--state '1?" NO_MASK },
	{ "--state 4294967296", USAGE, "--state '4294967296': above the largest mask (0xffffffff)" },
	{ "--state 0x100000000", USAGE, "--state '0x100000000': above the largest mask (0xffffffff)" },
	{ "--state 0x10000000000000001", USAGE, "--state '0x10000000000000001': above the largest mask (0xffffffff)" },
	{ "--state " NINES "x", USAGE, "--state '" NINES "x" NO_MASK },
	{ "--open-intervals=1", USAGE, "option '--open-intervals' takes no argument" },

	{ "0", USAGE, "duration '0': must be above 0" },
	{ "5x", USAGE, "duration '5x': not a number of seconds" },
	{ "5 6", USAGE, "duration '6': there is one already, '5'" },
	{ "-C 2", USAGE, "-C '2': CPU is not online (online: 0-1,4)" },
	{ "-i 0", USAGE, "-i '0': must be above 0" },
	{ "--backend foo", USAGE, "--backend 'foo': not one of auto, bpf, perfring, both" },
	{ "--unwind lbr", USAGE, "--unwind 'lbr': not one of auto, fp, dwarf, libunwind, both" },
	{ "--stack-storage-size 0", USAGE, "--stack-storage-size '0': must be at least 1" },
	{ "--stack-dump-size 7", USAGE, "--stack-dump-size '7': must be a multiple of 8 from 8 to 65528" },
	{ "--cgroup /", USAGE, "--cgroup '/': not a cgroup of version 2" },
	{ "--mntns 2041", USAGE, "--mntns '2041': is a thread of process 2040 (use its id)" },
	{ "--comm 1234567890123456", USAGE, "--comm '1234567890123456': longer than a task's name can be (15 bytes)" },
	{ "-o ''", USAGE, "-o '': must not be empty" },
	{ "--", USAGE, "no command after '--'" },
	{ "-- ''", USAGE, "command '': must not be empty" },

	/* options that only profile has */
	{ "-L 185", USAGE, "unknown option '-L'" },
	{ "-F 99", USAGE, "unknown option '-F'" },
	{ "--frequency 99", USAGE, "unknown option '--frequency'" },
	{ "-c 1", USAGE, "unknown option '-c'" },
	{ "-I", USAGE, "unknown option '-I'" },
	{ "-A", USAGE, "unknown option '-A'" },
	{ "-e cs", USAGE, "unknown option '-e'" },
	{ "--hash-storage-size 9", USAGE, "unknown option '--hash-storage-size'" },
	{ "--input x", USAGE, "unknown option '--input'" },
	{ "--off-cpu", USAGE, "unknown option '--off-cpu'" },
	{ "-V", USAGE, "unknown option '-V'" },
	{ "--user", USAGE, "option '--user' is ambiguous (--user-threads-only, --user-stacks-only)" },
	{ "--ver", USAGE, "option '--ver' is ambiguous (--verbose, --version)" },
	{ "--m", USAGE, "option '--m' is ambiguous (--mntns, --mntnsmap, --min-block-time, --max-block-time)" },
};

/* ---- recordings: nothing is sampled, so nothing need exist here */

#define WITH     " and --input exclude each other"
#define OF_ALL   "Samples of cycles:P at 999 Hertz of all threads"
#define RECORDED " in perf.data."
#define PERIODIC "Samples of cycles:P at every 1000 events of all threads"

static const struct recording recordings[] = {
	{ .event = (char *)"cycles:P", .freq_hz = 999 },
	{ .event = (char *)"cycles:P", .period = 1000 },
	{ .event = (char *)"cycles:P", .others = (char *)"faults, page-faults:u", .freq_hz = 999 },
};

static const struct {
	const char *args;
	const char *fields;
	int recording;
	const char *header;
} recorded[] = {
	{ "--input perf.data", "freq=49 input=perf.data", 0, OF_ALL BOTH RECORDED },
	{ "--input perf.data", "freq=49 input=perf.data", 1, PERIODIC BOTH RECORDED },
	{ "--input perf.data", "freq=49 input=perf.data", 2,
	  OF_ALL BOTH " in perf.data (others: faults, page-faults:u)." },
	{ "--input -", "freq=49 input=-", 0, OF_ALL BOTH " in standard input." },
	{ "--input=-", "freq=49 input=-", 2, OF_ALL BOTH " in standard input (others: faults, page-faults:u)." },
	{ "--inp perf.data --input x", "freq=49 input=perf.data x", 0, OF_ALL BOTH " in perf.data and 1 more." },
	{ "--input perf.data -e cycles:u", "freq=49 name=cycles:u input=perf.data", 0, OF_ALL BOTH RECORDED },
	{ "--event 'any name' --input perf.data", "freq=49 name=any name input=perf.data", 0, OF_ALL BOTH RECORDED },
	{ "-e cs --input perf.data", "freq=49 name=cs input=perf.data", 0, OF_ALL BOTH RECORDED },
	{ "-p 99999999 --input perf.data", "freq=49 pids=99999999 input=perf.data", 0,
	  "Samples of cycles:P at 999 Hertz of PID 99999999" BOTH RECORDED },
	{ "--input perf.data --pid 3,99999999,2", "freq=49 pids=2,3,99999999 input=perf.data", 0,
	  "Samples of cycles:P at 999 Hertz of PID [3, 99999999, 2]" BOTH RECORDED },
	{ "-p 2041 --input perf.data", "freq=49 pids=2041 input=perf.data", 0, /* a thread here */
	  "Samples of cycles:P at 999 Hertz of PID 2041" BOTH RECORDED },
	{ "-L 99999999 --input perf.data", "freq=49 tids=99999999 input=perf.data", 0,
	  "Samples of cycles:P at 999 Hertz of TID 99999999" BOTH RECORDED },
	{ "--input perf.data --tid=7", "freq=49 tids=7 input=perf.data", 1,
	  "Samples of cycles:P at every 1000 events of TID 7" BOTH RECORDED },
	{ "-C 3 --input perf.data", "freq=49 cpu=3 input=perf.data", 0, OF_ALL BOTH " on CPU#3" RECORDED },
	{ "--input perf.data --cpu 3", "freq=49 cpu=3 input=perf.data", 0, OF_ALL BOTH " on CPU#3" RECORDED },
	{ "--input perf.data -C " NINES, "freq=49 cpu=2147483647 input=perf.data", 0,
	  OF_ALL BOTH " on CPU#2147483647" RECORDED },
	{ "-U --input perf.data", "freq=49 user input=perf.data", 0, OF_ALL " by user stack" RECORDED },
	{ "-K --input perf.data", "freq=49 kernel input=perf.data", 0, OF_ALL " by kernel stack" RECORDED },
	{ "-fIda --stats -v -o out --input perf.data",
	  "freq=49 idle folded -d -a output=out stats verbose input=perf.data", 0, OF_ALL BOTH RECORDED },
	{ "--input perf.data --symfs /", "freq=49 input=perf.data symfs=/", 0, OF_ALL BOTH RECORDED },
	{ "--input perf.data --kallsyms k --vmlinux v", "freq=49 input=perf.data kallsyms=k vmlinux=v", 0,
	  OF_ALL BOTH RECORDED },
	{ "--input perf.data --unwind fp", "freq=49 unwind=fp input=perf.data", 0, OF_ALL BOTH RECORDED },
	{ "--unwind dwarf --input perf.data", "freq=49 unwind=dwarf input=perf.data", 0, OF_ALL BOTH RECORDED },
};

static const struct bad_row badly_recorded[] = {
	{ "--input ''", USAGE, "--input '': must not be empty" },
	{ "--input=", USAGE, "--input '': must not be empty" },
	{ "--input", USAGE, "option '--input' needs an argument" },
	{ "--input x 5", USAGE, "a duration" WITH },
	{ "5 --input -", USAGE, "a duration" WITH },
	{ "5 --input x -F 9", USAGE, "a duration" WITH },
	{ "--input x 5x", USAGE, "duration '5x': not a number of seconds" },
	{ "--input x -F 9", USAGE, "-F" WITH },
	{ "-F 9 --input x", USAGE, "-F" WITH },
	{ "-F 49 --input x", USAGE, "-F" WITH }, /* looks like the default, but was given */
	{ "--frequency 9 --input x", USAGE, "--frequency" WITH },
	{ "--input x --freq 9", USAGE, "--frequency" WITH },
	{ "-F 9 --frequency 9 --input x", USAGE, "--frequency" WITH },
	{ "--frequency 9 -F 9 --input x", USAGE, "-F" WITH },
	{ "-c 9 --input x", USAGE, "-c" WITH },
	{ "--input x --count=9", USAGE, "--count" WITH },
	{ "-i 1 --input x", USAGE, "-i" WITH },
	{ "--input x --interval 1", USAGE, "--interval" WITH },
	{ "--hash-storage-size 9 --input x", USAGE, "--hash-storage-size" WITH },
	{ "--input x --stack-storage-size 9", USAGE, "--stack-storage-size" WITH },
	{ "--backend bpf --input x", USAGE, "--backend" WITH },
	{ "--input x --backend both", USAGE, "--backend" WITH },
	{ "--input x --backend auto", USAGE, "--backend" WITH },
	{ "--help --input x -F 9", USAGE, "-F" WITH },
	{ "-i 1 -F 9 --input x", USAGE, "-F" WITH }, /* in the order of the help */
	{ "--input x -F 0", USAGE, "-F '0': must be at least 1" },
	{ "--input x -F 9 -c 9", USAGE, "-F and -c exclude each other" },
	{ "--input x -U -K", USAGE, "-U and -K exclude each other" },
	{ "--input x -p 99999999 -L 99999999", USAGE, "-p and -L exclude each other" },
	{ "--input x -p abc", USAGE, "-p 'abc': not a process id (by name: --comm abc)" },
	{ "--input x -p 99999999,", USAGE, "-p '99999999,': not a list of process ids" },
	{ "-L 0 --input x", USAGE, "-L '0': out of range (1 to 2147483647)" },
	{ "--input x -C x", USAGE, "-C 'x': not a CPU number" },
	{ "--input x -C -1", USAGE, "-C '-1': not a CPU number" },
	{ "--input x -e ''", USAGE, "-e '': must not be empty" },
	{ "--input x --kallsyms ''", USAGE, "--kallsyms '': must not be empty" },
	{ "--input x --vmlinux=", USAGE, "--vmlinux '': must not be empty" },
	{ "--input x --cgroupmap x", USAGE, "--cgroupmap" WITH },
	{ "--mntnsmap=x --input x", USAGE, "--mntnsmap" WITH },
	{ "--input x --mntns 99999999", USAGE, "--mntns" WITH },
	{ "--input x --mntns 1,", USAGE, "--mntns '1,': takes one process id" },
	{ "--input x --unwind lbr", USAGE, "--unwind 'lbr': not one of auto, fp, dwarf, libunwind, both" },
	{ "--input x --stack-dump-size 8", USAGE, "--stack-dump-size" WITH },
	{ "--unwind dwarf --stack-dump-size 8192 --input x", USAGE, "--stack-dump-size" WITH },
	{ "--input x --debug-dir /dev/null", USAGE, "--debug-dir '/dev/null': Not a directory" },
	{ "--input x --symfs /dev/null", USAGE, "--symfs '/dev/null': Not a directory" },
	{ "--input x --symfs ''", USAGE, "--symfs '': must not be empty" },
	{ "--input x --off-cpu", USAGE, "--off-cpu" WITH },
	{ "--off-cpu --input x", USAGE, "--off-cpu" WITH },
	{ "--off --input -", USAGE, "--off-cpu" WITH },
	{ "--input x --off-cpu -e cycles", USAGE, "--off-cpu" WITH },
	{ "--off-cpu -F 9 --input x", USAGE, "--off-cpu" WITH },
	{ "--off-cpu --input x 5", USAGE, "a duration" WITH },
	{ "--input x -- dd", USAGE, "a command and --input exclude each other" },
	{ "--input x 5 -- dd", USAGE, "a duration and --input exclude each other" },
	{ "--input x -p 185 -- dd", USAGE, "a command and --input exclude each other" },
};

START_TEST(test_recorded)
{
	struct err err = { 0 };
	struct options o;
	struct line l;
	char *header, *text;
	size_t size;
	FILE *f;
	int rc;

	rc = parse(&o, &l, recorded[_i].args, &err);
	ck_assert_msg(rc == 0, "'%s': %s", recorded[_i].args, err.msg);
	text = fields(&o);
	ck_assert_str_eq(text, recorded[_i].fields);
	f = open_memstream(&header, &size);
	options_header_recorded(f, &o, &recordings[recorded[_i].recording]);
	fclose(f);
	ck_assert_str_eq(header, recorded[_i].header);
	free(text);
	free(header);
	options_release(&o);
}
END_TEST

static const char *end_of_header(const struct options *o)
{
	static char end[64];
	FILE *f = fmemopen(end, sizeof(end), "w");

	header_end(f, o);
	fclose(f);
	return end;
}

static void check_good(enum tool tool, const struct good_row *row)
{
	struct err err = { 0 };
	struct options o;
	struct line l;
	char *header, *text;
	size_t size;
	FILE *f;
	int rc;

	rc = parse_as(tool, &o, &l, row->args, &err);
	ck_assert_msg(rc == 0, "'%s': %s", row->args, err.msg);
	text = fields(&o);
	ck_assert_str_eq(text, row->fields);
	if (o.report.form == &report_html && !o.duration) {
		ck_assert_str_eq(end_of_header(&o), ".");
		o.report.form = &report_text;
	}
	f = open_memstream(&header, &size);
	options_header(f, &o, false);
	fclose(f);
	ck_assert_str_eq(header, row->header);
	free(text);
	free(header);
	options_release(&o);
}

static void check_bad(enum tool tool, const struct bad_row *row)
{
	struct err err = { 0 };
	struct options o;
	struct line l;
	int rc = parse_as(tool, &o, &l, row->args, &err);

	ck_assert_str_eq(err.msg, row->msg);
	ck_assert_int_eq(rc, row->rc);
	ck_assert_int_eq(err.code, row->rc);
	options_release(&o);
}

START_TEST(test_badly_recorded)
{
	check_bad(TOOL_PROFILE, &badly_recorded[_i]);
}
END_TEST

START_TEST(test_good)
{
	check_good(TOOL_PROFILE, &good[_i]);
}
END_TEST

START_TEST(test_bad)
{
	check_bad(TOOL_PROFILE, &bad[_i]);
}
END_TEST

START_TEST(test_good_offcputime)
{
	check_good(TOOL_OFFCPUTIME, &good_offcputime[_i]);
}
END_TEST

START_TEST(test_bad_offcputime)
{
	check_bad(TOOL_OFFCPUTIME, &bad_offcputime[_i]);
}
END_TEST

/* getopt keeps state: a refusal in the middle of a word must not affect the next line. */
START_TEST(test_again)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		check_bad(TOOL_PROFILE, &bad[i]);
		check_good(TOOL_OFFCPUTIME, &good_offcputime[i % ARRAY_SIZE(good_offcputime)]);
		check_bad(TOOL_OFFCPUTIME, &bad_offcputime[i % ARRAY_SIZE(bad_offcputime)]);
		check_good(TOOL_PROFILE, &good[i % ARRAY_SIZE(good)]);
	}
}
END_TEST

START_TEST(test_without_err)
{
	struct options o;
	struct line l;

	ck_assert_int_eq(parse(&o, &l, bad[_i].args, NULL), bad[_i].rc);
	options_release(&o);
}
END_TEST

/* The wrong value is printed in whole, however long it is. */
START_TEST(test_long_value)
{
	static const struct {
		const char *option, *why;
	} rows[] = {
		{ "-p ", "': not a process id" },
		{ "-L 1,", "': not a list of thread ids" },
		{ "-F ", "': not a number" },
		{ "-C ", "': not a CPU number" },
		{ "-e ", "': unknown event (this host has " EVENTS ")" },
		{ "5 ", "': there is one already, '5'" },
		{ "", "': not a number of seconds" },
		{ "--", "'" },
	};
	char args[4200];
	struct err err = { 0 };
	struct options o;
	struct line l;
	size_t used = snprintf(args, sizeof(args), "%s", rows[_i].option), len, why = strlen(rows[_i].why);

	memset(args + used, 'x', 4000);
	args[used + 4000] = 0;
	ck_assert_int_eq(parse(&o, &l, args, &err), -EINVAL);
	len = strlen(err.msg);
	ck_assert_uint_gt(len, why);
	ck_assert_str_eq(err.msg + len - why, rows[_i].why);
	options_release(&o);
}
END_TEST

/* Options may follow the duration even if the environment requests strict POSIX. */
START_TEST(test_posixly_correct)
{
	size_t i;

	setenv("POSIXLY_CORRECT", "1", 1);
	for (i = 0; i < ARRAY_SIZE(good); i++)
		check_good(TOOL_PROFILE, &good[i]);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		check_bad(TOOL_PROFILE, &bad[i]);
	unsetenv("POSIXLY_CORRECT");
}
END_TEST

START_TEST(test_no_name)
{
	char *argv[] = { NULL };
	struct options o;

	ck_assert_int_eq(options_parse(&o, TOOL_PROFILE, 0, argv, &host, NULL), 0);
	ck_assert_uint_eq(o.sampling.freq_hz, 49);
	options_release(&o);
	ck_assert_int_eq(options_parse(&o, TOOL_OFFCPUTIME, 0, argv, &host, NULL), 0);
	ck_assert_uint_eq(o.off_cpu.min_ns, 1000);
	options_release(&o);
}
END_TEST

/* Nothing below /proc and /sys: unknown facts are not checked, tasks do not exist. */
static const struct {
	const char *args;
	const char *msg; /* NULL: accepted */
} unknown[] = {
	{ "-F 1000000000", NULL },
	{ "-F 9223372036854775807", NULL },
	{ "-F 9223372036854775808", "-F '9223372036854775808': above the highest rate (9223372036854775807)" },
	{ "-F 0", "-F '0': must be at least 1" },
	{ "--hash-storage-size 4294967295", NULL },
	{ "--stack-storage-size 2147483648", NULL },
	{ "--stack-storage-size 2147483649",
	  "--stack-storage-size '2147483649': above the largest table (2147483648)" },
	{ "-p 185", "-p '185': cannot be looked up without /proc" },
	{ "-L 185", "-L '185': cannot be looked up without /proc" },
	{ "-p 185 --input x", NULL },
	{ "--input x -L 185", NULL },
	{ "-C 3 --input x", NULL },
};

START_TEST(test_unknown)
{
	struct err err = { 0 };
	struct options o;
	struct line l;
	int rc = parse(&o, &l, unknown[_i].args, &err);

	ck_assert_str_eq(err.msg, unknown[_i].msg ? unknown[_i].msg : "");
	ck_assert_int_eq(rc, unknown[_i].msg ? -EINVAL : 0);
	options_release(&o);
}
END_TEST

/* Invalid settings are no limit, and an invalid CPU list is the host's fault. */
START_TEST(test_broken_host)
{
	struct err err = { 0 };
	struct options o;
	char want[600];
	struct line l;

	put("proc/sys/kernel/perf_event_max_sample_rate", _i ? "-1\n" : "0\n");
	put("sys/devices/system/cpu/online", "garbage\n");
	ck_assert_int_eq(parse(&o, &l, "-F 5000000", &err), 0);
	options_release(&o);
	ck_assert_int_eq(parse(&o, &l, "-C 0", &err), -EINVAL);
	snprintf(want, sizeof(want), "'%s/devices/system/cpu/online': not a list of CPUs", host.sys);
	ck_assert_str_eq(err.msg, want);
	options_release(&o);
}
END_TEST

START_TEST(test_many_cpus)
{
	struct err err = { 0 };
	struct options o;
	char list[4096];
	struct line l;
	size_t used = 0;
	int cpu;

	for (cpu = 0; cpu < 1000; cpu += 2)
		used += snprintf(list + used, sizeof(list) - used, "%s%d", cpu ? "," : "", cpu);
	put("sys/devices/system/cpu/online", list);
	ck_assert_int_eq(parse(&o, &l, "-C 998", &err), 0);
	options_release(&o);
	ck_assert_int_eq(parse(&o, &l, "-C 999", &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "-C '999': CPU is not online (online: 0,2,4,6,"));
	options_release(&o);
}
END_TEST

/* The message lists the CPU's events if the host has counters. */
START_TEST(test_pmu)
{
	struct err err;
	struct options o;
	struct line l;

	put("sys/bus/event_source/devices/cpu/type", "4\n");
	ck_assert_int_eq(parse(&o, &l, "-e foo", &err), -EINVAL);
	ck_assert_str_eq(err.msg,
			 "-e 'foo': unknown event (this host has " EVENTS
			 ", cycles, instructions, cache-references, cache-misses, branches, branch-misses, bus-cycles, "
			 "stalled-cycles-frontend, stalled-cycles-backend, ref-cycles)");
	options_release(&o);
}
END_TEST

START_TEST(test_many_pids)
{
	static const char pid[] = ",2040,185";
	struct options o;
	struct line l;
	char args[8000] = "-p 185";
	size_t used;

	for (used = strlen(args); used < sizeof(args) - sizeof(pid); used += strlen(pid))
		snprintf(args + used, sizeof(args) - used, "%s", pid);
	ck_assert_int_eq(parse(&o, &l, args, NULL), 0);
	ck_assert_uint_eq(o.nr_pids, 2);
	options_release(&o);
	ck_assert_ptr_null(o.pids);
	options_release(&o);
}
END_TEST

/* Kernel stacks were requested, but are not available: offcputime then has no stacks. */
static const struct {
	enum tool tool;
	const char *args, *header;
} user_only[] = {
	{ TOOL_PROFILE, "-- dd", HERTZ "all threads of 'dd' by user stack" CTRL_C },
	{ TOOL_PROFILE, "-U -- dd", HERTZ "all threads of 'dd' by user stack" CTRL_C },
	{ TOOL_OFFCPUTIME, "-- dd", "Tracing off-CPU time (us) of all threads of 'dd' without stacks" CTRL_C },
	{ TOOL_OFFCPUTIME, "-U -p 185 5", "Tracing off-CPU time (us) of PIDs 185 without stacks for 5 secs." },
};

START_TEST(test_user_only)
{
	struct options o;
	struct line l;
	char *header;
	size_t size;
	FILE *f;

	ck_assert_int_eq(parse_as(user_only[_i].tool, &o, &l, user_only[_i].args, NULL), 0);
	f = open_memstream(&header, &size);
	options_header(f, &o, true);
	fclose(f);
	ck_assert_str_eq(header, user_only[_i].header);
	free(header);
	options_release(&o);
}
END_TEST

static const struct {
	enum tool tool;
	unsigned int nr;
} documented[] = { { TOOL_PROFILE, 47 }, { TOOL_OFFCPUTIME, 46 } };

START_TEST(test_doc)
{
	enum tool tool = documented[_i].tool;
	bool letters[256] = { false };
	const struct opt_table *t = tool == TOOL_PROFILE ? &options_of_profile : &options_of_offcputime;
	char *help, usage[100];
	size_t i, j, size;
	FILE *f = open_memstream(&help, &size);

	options_help(f, tool);
	fclose(f);
	snprintf(usage, sizeof(usage), "usage: %s [options] [duration] [-- command [argument...]]\n", tool_name(tool));
	ck_assert_int_eq(strncmp(help, usage, strlen(usage)), 0);
	for (i = 0; i < t->nr; i++) {
		const struct opt *row = t->rows[i];

		ck_assert_msg(!row->letter || !letters[(unsigned char)row->letter], "-%c is there twice", row->letter);
		letters[(unsigned char)row->letter] = true;
		for (j = 0; j < i; j++)
			ck_assert_str_ne(row->name, t->rows[j]->name);
		ck_assert_ptr_nonnull(strstr(help, row->name));
		ck_assert_ptr_nonnull(strstr(help, row->help));
	}
	ck_assert_uint_eq(t->nr, documented[_i].nr);
	free(help);
}
END_TEST

/* Each example is a valid command line on a host with its processes. */
START_TEST(test_examples)
{
	const struct opt_table *t = _i == TOOL_PROFILE ? &options_of_profile : &options_of_offcputime;
	struct err err = { 0 };
	struct options o;
	struct line l;
	size_t i;

	ck_assert_uint_ge(t->nr_examples, OPT_BRIEF_EXAMPLES);
	for (i = 0; i < t->nr_examples; i++) {
		ck_assert_msg(parse_as((enum tool)_i, &o, &l, t->examples[i].args, &err) == 0, "%s: %s",
			      t->examples[i].args, err.msg);
		options_release(&o);
	}
}
END_TEST

/* -h shows some of the options and examples of --help, in the same lines. */
START_TEST(test_summary)
{
	char *help, *summary, *line, *end;
	size_t size, options = 0;
	FILE *f = open_memstream(&help, &size);

	options_help(f, (enum tool)_i);
	fclose(f);
	f = open_memstream(&summary, &size);
	options_summary(f, (enum tool)_i);
	fclose(f);
	for (line = summary; *line; line = end + 1) {
		end = strchr(line, '\n');
		ck_assert_ptr_nonnull(end);
		*end = 0;
		ck_assert_msg(strstr(help, line) || !strncmp(line, "All options: ", 13), "%s", line);
		options += !strncmp(line, "  -", 3) || !strncmp(line, "      --", 8);
	}
	ck_assert_uint_ge(options, 10);
	free(help);
	free(summary);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("options");
	TCase *full = tcase_create("host"), *changed = tcase_create("changed host"),
	      *empty = tcase_create("empty host");

	/* One host for all of these. */
	tcase_add_unchecked_fixture(full, setup, teardown);
	tcase_add_loop_test(full, test_good, 0, ARRAY_SIZE(good));
	tcase_add_loop_test(full, test_bad, 0, ARRAY_SIZE(bad));
	tcase_add_loop_test(full, test_good_offcputime, 0, ARRAY_SIZE(good_offcputime));
	tcase_add_loop_test(full, test_bad_offcputime, 0, ARRAY_SIZE(bad_offcputime));
	tcase_add_loop_test(full, test_recorded, 0, ARRAY_SIZE(recorded));
	tcase_add_loop_test(full, test_badly_recorded, 0, ARRAY_SIZE(badly_recorded));
	tcase_add_test(full, test_again);
	tcase_add_loop_test(full, test_without_err, 0, ARRAY_SIZE(bad));
	tcase_add_loop_test(full, test_long_value, 0, 8);
	tcase_add_test(full, test_posixly_correct);
	tcase_add_test(full, test_no_name);
	tcase_add_loop_test(full, test_user_only, 0, ARRAY_SIZE(user_only));
	tcase_add_loop_test(full, test_doc, 0, ARRAY_SIZE(documented));
	tcase_add_loop_test(full, test_examples, TOOL_PROFILE, TOOL_OFFCPUTIME + 1);
	tcase_add_loop_test(full, test_summary, TOOL_PROFILE, TOOL_OFFCPUTIME + 1);
	suite_add_tcase(s, full);

	tcase_add_checked_fixture(changed, setup, teardown);
	tcase_add_loop_test(changed, test_broken_host, 0, 2);
	tcase_add_test(changed, test_many_cpus);
	tcase_add_test(changed, test_pmu);
	tcase_add_test(changed, test_many_pids);
	suite_add_tcase(s, changed);

	tcase_add_checked_fixture(empty, setup_empty, teardown);
	tcase_add_loop_test(empty, test_unknown, 0, ARRAY_SIZE(unknown));
	suite_add_tcase(s, empty);
	return unit_main(s);
}
