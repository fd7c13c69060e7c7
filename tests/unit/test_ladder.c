// SPDX-License-Identifier: Apache-2.0
/* What is asked of the kernel this program's own syscall() answers; an event is a memfd, as long as the smallest ring.
 */
#include "core/host/kernel.h"
#include "core/host/pidns.h"
#include "core/session/ladder.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#define MAX_CPUS 8

static struct {
	int answer[MAX_CPUS]; /* to an event there: -errno */
	int whole;            /* to one of a whole CPU */
	int with_kernel;      /* to one with the kernel's part */
	int bpf;
	int tracepoint;         /* to one of a tracepoint */
	bool no_switch_records; /* before 4.3 */
	bool no_raw;            /* no programs for raw tracepoints, before 4.17 */
	enum tool tool;         /* whose events are expected */
	bool no_ring[MAX_CPUS];
	int opened, bad, bpf_calls;
} kernel;

static int refuse(int rc)
{
	errno = -rc;
	return -1;
}

#define SCHED_SWITCH 317

/* Is it one that a run would begin with? */
static bool is_expected(const struct perf_event_attr *a, pid_t pid)
{
	bool clock = a->type == PERF_TYPE_SOFTWARE && a->config == PERF_COUNT_SW_CPU_CLOCK;
	bool records = a->type == PERF_TYPE_SOFTWARE && a->config == PERF_COUNT_SW_CONTEXT_SWITCHES;
	bool tracepoint = a->type == PERF_TYPE_TRACEPOINT && a->config == SCHED_SWITCH && pid < 0 &&
			  a->sample_type & PERF_SAMPLE_RAW;

	if (!a->disabled || (pid >= 0) != a->inherit || !(a->sample_type & PERF_SAMPLE_CALLCHAIN))
		return false;
	if (kernel.tool == TOOL_PROFILE)
		return clock && a->freq && a->sample_freq == 1;
	return clock ? !a->sample_period && pid < 0 : (records || tracepoint) && !a->freq && a->sample_period == 1;
}

static int open_event(const struct perf_event_attr *a, pid_t pid, int cpu)
{
	int rc = kernel.answer[cpu], fd;

	if (kernel.no_switch_records && a->context_switch)
		return refuse(-EINVAL);
	if (!rc && a->type == PERF_TYPE_TRACEPOINT)
		rc = kernel.tracepoint;
	if (!rc && pid < 0)
		rc = kernel.whole;
	if (!rc && !(a->exclude_kernel && a->exclude_callchain_kernel)) /* both: 7.2 */
		rc = kernel.with_kernel;
	kernel.bad += !is_expected(a, pid);
	if (rc)
		return refuse(rc);
	fd = memfd_create("event", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, 2 * sysconf(_SC_PAGESIZE)), 0);
	if (kernel.no_ring[cpu])
		ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), 0); /* mmap(2): EPERM */
	kernel.opened++;
	return fd;
}

static int call_bpf(int cmd, const union bpf_attr *attr)
{
	kernel.bpf_calls++;
	if (kernel.bpf)
		return refuse(kernel.bpf);
	if (kernel.no_raw && cmd == BPF_PROG_LOAD && attr->prog_type == BPF_PROG_TYPE_RAW_TRACEPOINT)
		return refuse(-EINVAL);
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

long syscall(long nr, ...)
{
	const struct perf_event_attr *attr;
	va_list ap;
	const union bpf_attr *bpf;
	pid_t pid;
	int cpu, cmd;

	va_start(ap, nr);
	if (nr == SYS_bpf) {
		cmd = va_arg(ap, int);
		bpf = va_arg(ap, const union bpf_attr *);
		va_end(ap);
		return call_bpf(cmd, bpf);
	}
	attr = va_arg(ap, const struct perf_event_attr *);
	pid = va_arg(ap, pid_t);
	cpu = va_arg(ap, int);
	va_end(ap);
	if (nr == SYS_perf_event_open && attr)
		return open_event(attr, pid, cpu);
	return refuse(-EINVAL);
}

static const char *release = "6.18.0";

int uname(struct utsname *out)
{
	memset(out, 0, sizeof(*out));
	snprintf(out->release, sizeof(out->release), "%s", release);
	return 0;
}

static char *top;
static struct host host;

static void put(const char *name, const char *text)
{
	unit_write(top, name, text, strlen(text));
}

static void setup(void)
{
	top = unit_tmpdir();
	host = unit_host(top);
	memset(&kernel, 0, sizeof(kernel));
	put("sys/devices/system/cpu/online", "0-2\n");
	put("proc/sys/kernel/perf_event_paranoid", "2\n");
	put("proc/sys/kernel/perf_event_mlock_kb", "4\n");
	put("proc/self/status", "CapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nSeccomp:\t0\n");
}

static void teardown(void)
{
	unit_rmdir(top);
}

#define EVENT  "cannot open perf event 'cpu-clock' "
#define DENIED ": Permission denied"
#define WHOLE  "kernel.perf_event_paranoid is 2; whole CPUs need CAP_PERFMON or a value below 1"
#define KERNEL "kernel.perf_event_paranoid is 2; kernel stacks need CAP_PERFMON or a value below 2"
#define RING   "cannot map the ring of a perf event on CPU "

/* A format as every kernel has it, but for the numbers of bits. */
#define FORMAT(comm_at, pid_at)                                                                                        \
	"\tfield:char prev_comm[16];\toffset:" comm_at ";\tsize:16;\tsigned:0;\n"                                      \
	"\tfield:pid_t prev_pid;\toffset:" pid_at ";\tsize:4;\tsigned:1;\n"                                            \
	"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"                                                   \
	"\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"

static void put_tracepoint(const char *format)
{
	put("sys/kernel/tracing/events/sched/sched_switch/id", "317\n");
	put("sys/kernel/tracing/events/sched/sched_switch/format", format);
}

struct rung_row {
	enum rung rung;
	int answer[MAX_CPUS], whole, with_kernel, tracepoint;
	bool no_ring[MAX_CPUS];
	const char *format; /* NULL: of the tracepoint nothing is known */
	bool no_switch_records, no_raw;
	bool usable, user_only;
	int code;
	const char *says; /* begins with */
	bool remedy;
	int opened;
};

static const struct rung_row rows[] = {
	{ .rung = RUNG_PERFRING, .usable = true, .says = "", .opened = 3 },
	{ .rung = RUNG_PERFRING,
	  .whole = -EACCES,
	  .code = -EACCES,
	  .says = EVENT "on CPU 0" DENIED " (" WHOLE ")",
	  .remedy = true },
	{ .rung = RUNG_PERFRING,
	  .with_kernel = -EACCES,
	  .code = -EACCES,
	  .says = EVENT "on CPU 0" DENIED,
	  .remedy = true },
	{ .rung = RUNG_PERFRING,
	  .answer = { 0, 0, -EMFILE },
	  .code = -EMFILE,
	  .says = EVENT "on CPU 2: Too many open files (RLIMIT_NOFILE is ",
	  .remedy = true,
	  .opened = 2 },
	{ .rung = RUNG_PERFRING,
	  .answer = { 0, -EBUSY, 0 },
	  .code = -EBUSY,
	  .says = EVENT "on CPU 1: Device or resource busy",
	  .opened = 1 },
	{ .rung = RUNG_PERFRING, .answer = { -ENODEV, 0, 0 }, .usable = true, .says = "", .opened = 2 },
	{ .rung = RUNG_PERFRING, .answer = { 0, 0, -ENODEV }, .usable = true, .says = "", .opened = 2 },
	{ .rung = RUNG_PERFRING, .answer = { -ENODEV, -EBUSY, 0 }, .code = -EBUSY, .says = EVENT "on CPU 1: " },
	{ .rung = RUNG_PERFRING,
	  .answer = { -ENODEV, -ENODEV, -ENODEV },
	  .code = -ENODEV,
	  .says = EVENT "on any CPU: No such device" },
	{ .rung = RUNG_PERFRING,
	  .no_ring = { false, true },
	  .code = -EPERM,
	  .says = RING "1: Operation not permitted (kernel.perf_event_mlock_kb is 4 and RLIMIT_MEMLOCK ",
	  .remedy = true,
	  .opened = 2 },

	{ .rung = RUNG_TASKS, .usable = true, .says = "", .opened = 3 },
	{ .rung = RUNG_TASKS, .whole = -EACCES, .usable = true, .says = "", .opened = 3 },
	{ .rung = RUNG_TASKS,
	  .with_kernel = -EACCES,
	  .usable = true,
	  .user_only = true,
	  .code = -EACCES,
	  .says = "user stacks only: " KERNEL,
	  .remedy = true,
	  .opened = 3 },
	{ .rung = RUNG_TASKS,
	  .with_kernel = -EPERM,
	  .usable = true,
	  .user_only = true,
	  .code = -EPERM,
	  .says = "user stacks only: " KERNEL,
	  .remedy = true,
	  .opened = 3 },
	{ .rung = RUNG_TASKS,
	  .answer = { 0, -EACCES },
	  .code = -EACCES,
	  .says = EVENT "of a thread on CPU 1" DENIED,
	  .opened = 2 },
	{ .rung = RUNG_TASKS,
	  .answer = { -ENOSYS },
	  .code = -ENOSYS,
	  .says = EVENT "of a thread on CPU 0: Function not implemented",
	  .remedy = true },
	{ .rung = RUNG_TASKS,
	  .no_ring = { true },
	  .code = -EPERM,
	  .says = RING "0: Operation not permitted (",
	  .remedy = true,
	  .opened = 2 },

	{ .rung = RUNG_BPF, .usable = true, .says = "", .opened = 3 },
	{ .rung = RUNG_BPF,
	  .whole = -EACCES,
	  .code = -EACCES,
	  .says = EVENT "on CPU 0" DENIED " (" WHOLE ")",
	  .remedy = true },
	{ .rung = RUNG_BPF,
	  .no_ring = { true },
	  .code = -EPERM,
	  .says = RING "0: Operation not permitted (",
	  .remedy = true,
	  .opened = 1 },
};

static void check_rung(enum tool tool, const struct rung_row *row)
{
	int before = unit_open_fds();
	struct rung_state s;

	memcpy(kernel.answer, row->answer, sizeof(kernel.answer));
	memcpy(kernel.no_ring, row->no_ring, sizeof(kernel.no_ring));
	kernel.whole = row->whole;
	kernel.with_kernel = row->with_kernel;
	kernel.tracepoint = row->tracepoint;
	kernel.no_switch_records = row->no_switch_records;
	kernel.no_raw = row->no_raw;
	kernel.tool = tool;
	if (row->format)
		put_tracepoint(row->format);
	ladder_try(&host, tool, row->rung, RUN_FILES, &s);
	ck_assert_int_eq(s.usable, row->usable);
	ck_assert_int_eq(s.user_only, row->user_only);
	ck_assert_int_eq(s.why.code, row->code);
	ck_assert_msg(!strncmp(s.why.msg, row->says, strlen(row->says)), "%s", s.why.msg);
	ck_assert_int_eq(!*s.why.msg, !*row->says);
	ck_assert_int_eq(!!*s.cause.remedy, row->remedy);
	ck_assert_int_eq(kernel.opened, row->opened);
	ck_assert_int_eq(kernel.bad, 0);
	ck_assert_int_eq(unit_open_fds(), before);
}

START_TEST(test_rung)
{
	check_rung(TOOL_PROFILE, &rows[_i]);
}
END_TEST

#define OFF_EVENT  "cannot open perf event 'context-switches' "
#define TRACEPOINT "cannot open perf event 'sched:sched_switch' "
#define BY_RECORDS "by PERF_RECORD_SWITCH: "
#define NO_RECORDS "the perf rings do not tell of threads that come back to a CPU (before Linux 4.3)"

/* What a run of offcputime begins with. */
static const struct rung_row off_rows[] = {
	{ .rung = RUNG_PERFRING, .format = FORMAT("8", "24"), .usable = true, .says = "", .opened = 3 },
	{ .rung = RUNG_PERFRING,
	  .format = FORMAT("8", "24"),
	  .no_switch_records = true,
	  .usable = true,
	  .says = "",
	  .opened = 3 },
	{ .rung = RUNG_PERFRING,
	  .format = FORMAT("8", "24"),
	  .tracepoint = -EACCES,
	  .usable = true,
	  .code = -EACCES,
	  .says = BY_RECORDS TRACEPOINT "on CPU 0" DENIED " (",
	  .opened = 3 },
	{ .rung = RUNG_PERFRING,
	  .format = FORMAT("8", "24"),
	  .tracepoint = -ENOENT,
	  .no_switch_records = true,
	  .code = -EOPNOTSUPP,
	  .says = NO_RECORDS "; " TRACEPOINT "on CPU 0: No such file",
	  .opened = 1 },
	/* What hinders the tracepoint alone is not looked for elsewhere. */
	{ .rung = RUNG_PERFRING,
	  .format = FORMAT("8", "24"),
	  .tracepoint = -EBUSY,
	  .code = -EBUSY,
	  .says = TRACEPOINT "on CPU 0: Device or resource busy" },
	{ .rung = RUNG_PERFRING, .usable = true, .code = -ENOENT, .says = BY_RECORDS, .opened = 3 },
	{ .rung = RUNG_PERFRING, .no_switch_records = true, .code = -EOPNOTSUPP, .says = NO_RECORDS "; ", .opened = 1 },
	{ .rung = RUNG_PERFRING,
	  .format = FORMAT("8", "24"),
	  .whole = -EACCES,
	  .code = -EACCES,
	  .says = OFF_EVENT "on CPU 0" DENIED " (" WHOLE ")",
	  .remedy = true },
	{ .rung = RUNG_PERFRING,
	  .answer = { 0, 0, -EMFILE },
	  .code = -EMFILE,
	  .says = OFF_EVENT "on CPU 2: Too many open files (RLIMIT_NOFILE is ",
	  .remedy = true,
	  .opened = 2 },
	{ .rung = RUNG_PERFRING,
	  .format = FORMAT("8", "24"),
	  .no_ring = { true },
	  .code = -EPERM,
	  .says = RING "0: Operation not permitted (",
	  .remedy = true,
	  /* the tracepoint, then the records */
	  .opened = 2 },

	{ .rung = RUNG_TASKS, .whole = -EACCES, .tracepoint = -EACCES, .usable = true, .says = "", .opened = 3 },
	{ .rung = RUNG_TASKS,
	  .with_kernel = -EACCES,
	  .usable = true,
	  .user_only = true,
	  .code = -EACCES,
	  .says = "stacks cannot be taken: " KERNEL,
	  .remedy = true,
	  .opened = 3 },
	{ .rung = RUNG_TASKS,
	  .format = FORMAT("8", "24"),
	  .no_switch_records = true,
	  .code = -EOPNOTSUPP,
	  .says = NO_RECORDS,
	  .opened = 1 },
	{ .rung = RUNG_TASKS,
	  .no_switch_records = true,
	  .with_kernel = -EACCES,
	  .code = -EOPNOTSUPP,
	  .says = NO_RECORDS,
	  .opened = 1 },
	{ .rung = RUNG_TASKS,
	  .answer = { 0, -EACCES },
	  .code = -EACCES,
	  .says = OFF_EVENT "of a thread on CPU 1" DENIED,
	  .opened = 2 },

	{ .rung = RUNG_BPF, .format = FORMAT("8", "24"), .no_raw = true, .usable = true, .says = "", .opened = 3 },
	{ .rung = RUNG_BPF,
	  .format = FORMAT("8", "24"),
	  .no_switch_records = true,
	  .tracepoint = -EACCES,
	  .usable = true,
	  .says = "",
	  .opened = 3 },
	{ .rung = RUNG_BPF,
	  .format = FORMAT("12", "28"),
	  .no_raw = true,
	  .code = -EOPNOTSUPP,
	  .says = "the records of 'sched:sched_switch' are unusual here; and this kernel has no programs for raw",
	  .opened = 3 },
	{ .rung = RUNG_BPF,
	  .whole = -EACCES,
	  .code = -EACCES,
	  .says = EVENT "on CPU 0" DENIED " (" WHOLE ")",
	  .remedy = true },
};

START_TEST(test_off_rung)
{
	/* There the tracepoint is left alone: its ids are the host's. */
	if (off_rows[_i].format && pidns_here(NULL))
		return;
	check_rung(TOOL_OFFCPUTIME, &off_rows[_i]);
}
END_TEST

START_TEST(test_off_no_bpf)
{
	struct rung_state s;

	kernel.bpf = -EPERM;
	ladder_try(&host, TOOL_OFFCPUTIME, RUNG_BPF, RUN_FILES, &s);
	ck_assert(!s.usable);
	ck_assert_int_eq(s.why.code, -EPERM);
	ck_assert_uint_gt(strlen(s.cause.remedy), 0);
	ck_assert_int_eq(kernel.opened, 0);
}
END_TEST

START_TEST(test_user_only_unexplained)
{
	struct rung_state s;

	put("proc/sys/kernel/perf_event_paranoid", "1\n");
	kernel.with_kernel = -EACCES;
	ladder_try(&host, TOOL_PROFILE, RUNG_TASKS, RUN_FILES, &s);
	ck_assert(s.usable && s.user_only);
	ck_assert_str_eq(s.why.msg, "user stacks only: " EVENT "of a thread on CPU 0" DENIED);
	ck_assert_str_eq(s.cause.remedy, "");
}
END_TEST

/* Then no event is tried. */
START_TEST(test_no_bpf)
{
	static const int codes[] = { -EPERM, -ENOSYS, -EINVAL };
	int before = unit_open_fds();
	struct rung_state s;

	kernel.bpf = codes[_i];
	ladder_try(&host, TOOL_PROFILE, RUNG_BPF, RUN_FILES, &s);
	ck_assert(!s.usable);
	ck_assert_int_eq(s.why.code, codes[_i]);
	ck_assert_ptr_nonnull(strstr(s.why.msg, strerror(-codes[_i])));
	ck_assert_int_eq(!!*s.cause.remedy, codes[_i] == -EPERM);
	ck_assert_int_eq(kernel.opened, 0);
	ck_assert_int_eq(unit_open_fds(), before);
}
END_TEST

/* Not even tried. */
START_TEST(test_tainting)
{
	struct rung_state s;

	release = "3.10.0-1160.el7.x86_64";
	ladder_try(&host, TOOL_PROFILE, RUNG_BPF, RUN_FILES, &s);
	ck_assert(!s.usable);
	ck_assert_ptr_nonnull(strstr(s.why.msg, "would taint this kernel"));
	ck_assert_str_eq(s.cause.remedy, "--backend=bpf, which taints it");
	ck_assert_int_eq(kernel.bpf_calls, 0);
	ck_assert_int_eq(kernel.opened, 0);
	ladder_try(&host, TOOL_PROFILE, RUNG_PERFRING, RUN_FILES, &s);
	ck_assert(s.usable);
	release = "6.18.0";
}
END_TEST

START_TEST(test_no_cpus)
{
	struct rung_state s;

	put("sys/devices/system/cpu/online", "none\n");
	ladder_try(&host, TOOL_PROFILE, (enum rung)_i, RUN_FILES, &s);
	ck_assert(!s.usable);
	ck_assert_int_eq(s.why.code, -EINVAL);
	ck_assert_ptr_nonnull(strstr(s.why.msg, "not a list of CPUs"));
}
END_TEST

/* Scripts know them. */
START_TEST(test_names)
{
	static const char *const names[RUNG_NR] = { "bpf", "perfring", "perfring-tasks" };
	enum rung rung;

	for (rung = 0; rung < RUNG_NR; rung++) {
		ck_assert_str_eq(rung_name(rung), names[rung]);
		ck_assert_uint_gt(strlen(rung_does(TOOL_PROFILE, rung)), 0);
		ck_assert_str_ne(rung_does(TOOL_PROFILE, rung), rung_does(TOOL_OFFCPUTIME, rung));
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ladder");
	TCase *t = tcase_create("ladder");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, test_rung, 0, ARRAY_SIZE(rows));
	tcase_add_loop_test(t, test_off_rung, 0, ARRAY_SIZE(off_rows));
	tcase_add_test(t, test_off_no_bpf);
	tcase_add_test(t, test_user_only_unexplained);
	tcase_add_loop_test(t, test_no_bpf, 0, 3);
	tcase_add_test(t, test_tainting);
	tcase_add_loop_test(t, test_no_cpus, 0, RUNG_NR);
	tcase_add_test(t, test_names);
	suite_add_tcase(s, t);
	return unit_main(s);
}
