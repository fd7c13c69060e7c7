// SPDX-License-Identifier: Apache-2.0
/*
 * Each way to sample is tried as for --list-backends, with the real rings, and a fake counter instead of the BPF
 * program. This program's own syscall() and ioctl() imitate the kernel; an event is a memfd.
 */
#include "core/cli/backends.h"
#include "core/cli/request.h"
#include "core/host/kernel.h"
#include "core/host/pidns.h"
#include "core/session/fallback.h"
#include "core/session/session.h"
#include "tests/unit/fake_source.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#define MAX_CPUS   8
#define RING_BYTES (32UL << 20) /* longer than any ring: untouched pages take no memory */

static struct {
	int answer[MAX_CPUS]; /* answer for an event on this CPU: -errno */
	int whole;            /* answer for a whole CPU */
	int with_kernel;      /* answer for an event that samples the kernel */
	int bpf;
	int tracepoint;         /* answer for a tracepoint */
	bool no_switch_records; /* before 4.3 */
	bool no_raw;            /* no programs for raw tracepoints, as before 4.17 */
	bool off_cpu;           /* events of offcputime are expected */
	bool no_ring[MAX_CPUS];
	int opened, bad, bpf_calls;
} kernel;

static int refuse(int rc)
{
	errno = -rc;
	return -1;
}

#define SCHED_SWITCH 317

static bool is_software(const struct perf_event_attr *a, uint64_t config)
{
	return a->type == PERF_TYPE_SOFTWARE && a->config == config;
}

/* True if a run would open this event first. */
static bool is_expected(const struct perf_event_attr *a, pid_t pid)
{
	bool clock = is_software(a, PERF_COUNT_SW_CPU_CLOCK);
	bool records = is_software(a, PERF_COUNT_SW_CONTEXT_SWITCHES);
	bool tracepoint = a->type == PERF_TYPE_TRACEPOINT && a->config == SCHED_SWITCH && pid < 0 &&
			  a->sample_type & PERF_SAMPLE_RAW;

	if (!a->disabled || pid > 0 || !(a->sample_type & PERF_SAMPLE_CALLCHAIN))
		return false;
	if (!kernel.off_cpu)
		return clock && a->freq && a->sample_freq == 1;
	return clock ? !a->sample_period && pid < 0 : (records || tracepoint) && !a->freq && a->sample_period == 1;
}

static int open_event(const struct perf_event_attr *a, pid_t pid, int cpu)
{
	bool notes = is_software(a, PERF_COUNT_SW_BPF_OUTPUT);
	int rc, fd;

	/* The sampling events record tasks and mappings here. */
	if (is_software(a, PERF_COUNT_SW_DUMMY))
		return refuse(-ENOENT);
	rc = kernel.answer[cpu];
	if (kernel.no_switch_records && a->context_switch)
		return refuse(-EINVAL);
	if (!rc && a->type == PERF_TYPE_TRACEPOINT)
		rc = kernel.tracepoint;
	if (!rc && pid < 0)
		rc = kernel.whole;
	if (!rc && !(a->exclude_kernel && a->exclude_callchain_kernel)) /* both: 7.2 */
		rc = kernel.with_kernel;
	kernel.bad += !notes && !is_expected(a, pid);
	if (rc)
		return refuse(rc);
	fd = memfd_create("event", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, RING_BYTES), 0);
	if (kernel.no_ring[cpu])
		ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), 0); /* mmap(2): EPERM */
	kernel.opened += !notes;
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

/* No event is enabled. */
int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;

	if (request == PERF_EVENT_IOC_ID) {
		va_start(ap, request);
		*va_arg(ap, uint64_t *) = 1000 + (uint64_t)fd;
		va_end(ap);
	} else {
		kernel.bad += request != PERF_EVENT_IOC_SET_OUTPUT;
	}
	return 0;
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
	host_here.proc = host.proc; /* for programs, which are loaded on this host */
	memset(&kernel, 0, sizeof(kernel));
	fake_begin(&(struct fake_script){ 0 }, NULL);
	put("sys/devices/system/cpu/online", "0-2\n");
	put("sys/devices/system/cpu/possible", "0-2\n");
	put("proc/sys/kernel/perf_event_paranoid", "2\n");
	put("proc/sys/kernel/perf_event_mlock_kb", "4\n");
	put("proc/self/status", "CapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nSeccomp:\t0\n");
}

static void teardown(void)
{
	fake_end();
	unit_rmdir(top);
}

#define EVENT  "cannot open perf event 'cpu-clock' "
#define DENIED ": Permission denied"
#define WHOLE  "kernel.perf_event_paranoid is 2; whole CPUs need CAP_PERFMON or a value below 1"
#define KERNEL "kernel.perf_event_paranoid is 2; kernel stacks need CAP_PERFMON or a value below 2"
#define FILES  "cannot open the files of a run: Too many open files (RLIMIT_NOFILE is "
#define RING   "cannot map a ring of 4 KiB on CPU "

/* The format of every kernel, except the numbers of bits. */
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

enum listed { BPF, PERFRING, TASKS, NR_LISTED };

static const struct way ways[] = {
	[BPF] = { "bpf", &fake_counter, &source_rings },
	[PERFRING] = { "perfring", NULL, &source_rings },
};

/* Like core/cli/list_backends.c. */
static void try(const struct way *from, enum listed which, struct way_trial *out)
{
	pid_t self = 0;
	bool tasks = which == TASKS;
	const struct options options = {
		.tool = kernel.off_cpu ? TOOL_OFFCPUTIME : TOOL_PROFILE,
		.cpu = -1,
		.sampling.event = kernel.off_cpu ? NULL : event_default(),
		.sampling.freq_hz = 1,
		.off_cpu = { .wanted = kernel.off_cpu, .max_ns = UINT64_MAX },
		.state_mask = -1,
		.tables.counts = 1,
		.tables.stacks = 1,
		.pids = tasks ? &self : NULL,
		.nr_pids = tasks,
		.filter.by_tid = tasks,
	};
	struct session *s = request_session(&options, &host);

	ck_assert_ptr_nonnull(s);
	fallback_try(s, &from[tasks ? PERFRING : which], tasks, out);
	session_free(s);
}

struct row_of_way {
	enum listed which;
	int answer[MAX_CPUS], whole, with_kernel, tracepoint;
	bool no_ring[MAX_CPUS];
	const char *format; /* NULL: the tracepoint is unknown */
	bool no_switch_records, no_raw;
	const struct way *ways; /* NULL: @ways, without a real BPF program */
	bool usable;
	int code;
	const char *says; /* beginning of the message */
	bool remedy;
	int opened;
};

static const struct row_of_way rows[] = {
	{ .which = PERFRING, .usable = true, .says = "", .opened = 3 },
	{ .which = PERFRING,
	  .whole = -EACCES,
	  .code = -EACCES,
	  .says = EVENT "on CPU 0" DENIED " (" WHOLE ")",
	  .remedy = true },
	{ .which = PERFRING, .with_kernel = -EACCES, .code = -EACCES, .says = EVENT "on CPU 0" DENIED, .remedy = true },
	{ .which = PERFRING,
	  .answer = { 0, 0, -EMFILE },
	  .code = -EMFILE,
	  .says = EVENT "on CPU 2: Too many open files (RLIMIT_NOFILE is ",
	  .remedy = true,
	  .opened = 2 },
	{ .which = PERFRING,
	  .answer = { 0, -EBUSY, 0 },
	  .code = -EBUSY,
	  .says = EVENT "on CPU 1: Device or resource busy",
	  .opened = 1 },
	{ .which = PERFRING, .answer = { -ENODEV, 0, 0 }, .usable = true, .says = "", .opened = 2 },
	{ .which = PERFRING, .answer = { 0, 0, -ENODEV }, .usable = true, .says = "", .opened = 2 },
	{ .which = PERFRING, .answer = { -ENODEV, -EBUSY, 0 }, .code = -EBUSY, .says = EVENT "on CPU 1: " },
	{ .which = PERFRING,
	  .answer = { -ENODEV, -ENODEV, -ENODEV },
	  .code = -ENODEV,
	  .says = EVENT "on any CPU: No such device" },
	{ .which = PERFRING,
	  .no_ring = { false, true },
	  .code = -EPERM,
	  .says = RING "1: Operation not permitted (kernel.perf_event_mlock_kb is 4 and RLIMIT_MEMLOCK ",
	  .remedy = true,
	  .opened = 3 },

	{ .which = TASKS, .usable = true, .says = "", .opened = 3 },
	{ .which = TASKS, .whole = -EACCES, .usable = true, .says = "", .opened = 3 },
	{ .which = TASKS,
	  .with_kernel = -EACCES,
	  .usable = true,
	  .code = -EACCES,
	  .says = "user stacks only: " KERNEL,
	  .remedy = true,
	  .opened = 3 },
	{ .which = TASKS,
	  .with_kernel = -EPERM,
	  .usable = true,
	  .code = -EPERM,
	  .says = "user stacks only: " KERNEL,
	  .remedy = true,
	  .opened = 3 },
	{ .which = TASKS,
	  .answer = { 0, -EACCES },
	  .code = -EACCES,
	  .says = EVENT "of a thread on CPU 1" DENIED,
	  .opened = 1 },
	{ .which = TASKS,
	  .answer = { -ENOSYS },
	  .code = -ENOSYS,
	  .says = EVENT "of a thread on CPU 0: Function not implemented",
	  .remedy = true },
	{ .which = TASKS,
	  .no_ring = { true },
	  .code = -EPERM,
	  .says = RING "0: Operation not permitted (",
	  .remedy = true,
	  .opened = 3 },

	{ .which = BPF, .usable = true, .says = "", .opened = 3 },
	{ .which = BPF,
	  .whole = -EACCES,
	  .code = -EACCES,
	  .says = EVENT "on CPU 0" DENIED " (" WHOLE ")",
	  .remedy = true },
	{ .which = BPF,
	  .no_ring = { true },
	  .code = -EPERM,
	  .says = RING "0: Operation not permitted (",
	  .remedy = true,
	  .opened = 3 },
};

static void check_way(const struct row_of_way *row)
{
	int before = unit_open_fds();
	struct way_trial t;

	memcpy(kernel.answer, row->answer, sizeof(kernel.answer));
	memcpy(kernel.no_ring, row->no_ring, sizeof(kernel.no_ring));
	kernel.whole = row->whole;
	kernel.with_kernel = row->with_kernel;
	kernel.tracepoint = row->tracepoint;
	kernel.no_switch_records = row->no_switch_records;
	kernel.no_raw = row->no_raw;
	if (row->format)
		put_tracepoint(row->format);
	try(row->ways ? row->ways : ways, row->which, &t);
	ck_assert_int_eq(t.usable, row->usable);
	ck_assert_int_eq(t.why.code, row->code);
	ck_assert_msg(!strncmp(t.why.msg, row->says, strlen(row->says)), "%s", t.why.msg);
	ck_assert_int_eq(!*t.why.msg, !*row->says);
	ck_assert_int_eq(!!*t.why.cause.remedy, row->remedy);
	ck_assert_int_eq(kernel.opened, row->opened);
	ck_assert_int_eq(kernel.bad, 0);
	ck_assert_int_eq(unit_open_fds(), before);
}

START_TEST(test_way)
{
	check_way(&rows[_i]);
}
END_TEST

#define OFF_EVENT  "cannot open perf event 'context-switches' "
#define TRACEPOINT "cannot open perf event 'sched:sched_switch' "
#define BY_RECORDS "by PERF_RECORD_SWITCH: "
#define NO_RECORDS "perf events do not report threads that return to a CPU (before Linux 4.3)"

/* The same for offcputime, whose first event is another one. */
static const struct row_of_way off_rows[] = {
	{ .which = PERFRING, .format = FORMAT("8", "24"), .usable = true, .says = "", .opened = 3 },
	{ .which = PERFRING,
	  .format = FORMAT("8", "24"),
	  .no_switch_records = true,
	  .usable = true,
	  .says = "",
	  .opened = 3 },
	{ .which = PERFRING,
	  .format = FORMAT("8", "24"),
	  .tracepoint = -EACCES,
	  .usable = true,
	  .code = -EACCES,
	  .says = BY_RECORDS TRACEPOINT "on CPU 0" DENIED " (",
	  .opened = 3 },
	{ .which = PERFRING,
	  .format = FORMAT("8", "24"),
	  .tracepoint = -ENOENT,
	  .no_switch_records = true,
	  .code = -EOPNOTSUPP,
	  .says = NO_RECORDS "; " TRACEPOINT "on CPU 0: No such file",
	  .opened = 3 },
	/* Any other error of the tracepoint ends the trial. */
	{ .which = PERFRING,
	  .format = FORMAT("8", "24"),
	  .tracepoint = -EBUSY,
	  .code = -EBUSY,
	  .says = TRACEPOINT "on CPU 0: Device or resource busy" },
	{ .which = PERFRING, .usable = true, .code = -ENOENT, .says = BY_RECORDS, .opened = 3 },
	{ .which = PERFRING, .no_switch_records = true, .code = -EOPNOTSUPP, .says = NO_RECORDS "; ", .opened = 3 },
	{ .which = PERFRING,
	  .format = FORMAT("8", "24"),
	  .whole = -EACCES,
	  .code = -EACCES,
	  .says = OFF_EVENT "on CPU 0" DENIED " (" WHOLE ")",
	  .remedy = true },
	{ .which = PERFRING,
	  .answer = { 0, 0, -EMFILE },
	  .code = -EMFILE,
	  .says = OFF_EVENT "on CPU 2: Too many open files (RLIMIT_NOFILE is ",
	  .remedy = true,
	  .opened = 2 },
	{ .which = PERFRING,
	  .format = FORMAT("8", "24"),
	  .no_ring = { true },
	  .code = -EPERM,
	  .says = RING "0: Operation not permitted (",
	  .remedy = true,
	  .opened = 3 },

	{ .which = TASKS, .whole = -EACCES, .tracepoint = -EACCES, .usable = true, .says = "", .opened = 3 },
	{ .which = TASKS,
	  .with_kernel = -EACCES,
	  .usable = true,
	  .code = -EACCES,
	  .says = "stacks cannot be taken: " KERNEL,
	  .remedy = true,
	  .opened = 3 },
	{ .which = TASKS,
	  .format = FORMAT("8", "24"),
	  .no_switch_records = true,
	  .code = -EOPNOTSUPP,
	  .says = NO_RECORDS,
	  .opened = 3 },
	{ .which = TASKS,
	  .no_switch_records = true,
	  .with_kernel = -EACCES,
	  .code = -EOPNOTSUPP,
	  .says = NO_RECORDS,
	  .opened = 3 },
	{ .which = TASKS,
	  .answer = { 0, -EACCES },
	  .code = -EACCES,
	  .says = OFF_EVENT "of a thread on CPU 1" DENIED,
	  .opened = 1 },

	{ .which = BPF, .format = FORMAT("8", "24"), .no_raw = true, .usable = true, .says = "", .opened = 3 },
	{ .which = BPF,
	  .format = FORMAT("8", "24"),
	  .no_switch_records = true,
	  .tracepoint = -EACCES,
	  .usable = true,
	  .says = "",
	  .opened = 3 },
	{ .which = BPF,
	  .format = FORMAT("12", "28"),
	  .no_raw = true,
	  .ways = ways_here,
	  .code = -EOPNOTSUPP,
	  .says = "the records of 'sched:sched_switch' are unusual here; and this kernel has no programs for raw",
	  .opened = 3 },
	{ .which = BPF,
	  .whole = -EACCES,
	  .code = -EACCES,
	  .says = EVENT "on CPU 0" DENIED " (" WHOLE ")",
	  .remedy = true },
};

START_TEST(test_off_way)
{
	/* In a PID namespace the tracepoint is not used: its ids are the host's. */
	if (off_rows[_i].format && pidns_here(NULL))
		return;
	kernel.off_cpu = true;
	check_way(&off_rows[_i]);
}
END_TEST

START_TEST(test_off_no_bpf)
{
	struct way_trial t;

	kernel.bpf = -EPERM;
	kernel.off_cpu = true;
	try(ways_here, BPF, &t);
	ck_assert(!t.usable);
	ck_assert_int_eq(t.why.code, -EPERM);
	ck_assert_uint_gt(strlen(t.why.cause.remedy), 0);
	ck_assert_int_eq(kernel.opened, 0);
}
END_TEST

/* The kernel accepts the smallest program, but not that of a run. */
START_TEST(test_refused_program)
{
	struct way_trial t;

	fake_begin(&(struct fake_script){ .counter = { FAKE_OPEN, 1, -E2BIG } }, NULL);
	try(ways, BPF, &t);
	ck_assert(!t.usable);
	ck_assert_int_eq(t.why.code, -E2BIG);
	ck_assert_str_eq(t.why.msg, "counter open failed");
	ck_assert_uint_eq(fake_seen()->opened, 0);
}
END_TEST

static bool few_files;

/*
 * Run without the permission to raise the limit: a hard limit that was lowered would stay so for later tests. The
 * address sanitizer calls this function before it is initialized.
 */
__attribute__((no_sanitize("address", "undefined"))) int setrlimit(__rlimit_resource_t resource,
								   const struct rlimit *limit)
{
	if (!few_files)
		return prlimit(0, resource, limit, NULL);
	errno = EPERM;
	return -1;
}

/* Beside its events a run needs three descriptors. */
START_TEST(test_few_files)
{
	rlim_t before = unit_leave_files(3 + (unsigned int)_i);
	struct way_trial t;

	few_files = true;
	try(ways, PERFRING, &t);
	ck_assert_int_eq(t.usable, _i == 3);
	if (_i < 3) {
		ck_assert_msg(!strncmp(t.why.msg, FILES, strlen(FILES)), "%s", t.why.msg);
		ck_assert_str_eq(t.why.cause.remedy, "raise it: ulimit -n, or LimitNOFILE= of the service");
	}
	few_files = false;
	unit_limit_files(before);
}
END_TEST

START_TEST(test_user_only_unexplained)
{
	struct way_trial t;

	put("proc/sys/kernel/perf_event_paranoid", "1\n");
	kernel.with_kernel = -EACCES;
	try(ways, TASKS, &t);
	ck_assert(t.usable);
	ck_assert_str_eq(t.why.msg, "user stacks only: " EVENT "of a thread on CPU 0" DENIED);
	ck_assert_str_eq(t.why.cause.remedy, "");
}
END_TEST

/* No event is tried. */
START_TEST(test_no_bpf)
{
	static const int codes[] = { -EPERM, -ENOSYS, -EINVAL };
	int before = unit_open_fds();
	struct way_trial t;

	kernel.bpf = codes[_i];
	try(ways_here, BPF, &t);
	ck_assert(!t.usable);
	ck_assert_int_eq(t.why.code, codes[_i]);
	ck_assert_ptr_nonnull(strstr(t.why.msg, strerror(-codes[_i])));
	ck_assert_int_eq(!!*t.why.cause.remedy, codes[_i] == -EPERM);
	ck_assert_int_eq(kernel.opened, 0);
	ck_assert_int_eq(unit_open_fds(), before);
}
END_TEST

/* BPF is not even tried if it would taint the kernel: before 3.18, wherever bpf(2) exists or may exist. */
static const struct {
	const char *release;
	const char *kallsyms; /* NULL: no such file */
	bool setting, taints;
} tainting[] = {
	{ "3.10.0-1160.el7.x86_64", "0 T sys_open\n", false, true },
	{ "3.10.0", "0 T sys_open\n", true, true },
	{ "3.10.0-1160.vz7.5.3", "0 T sys_open\n0000000000000000 T SyS_bpf\n", false, true },
	{ "3.10.0-514.custom", "ffffffff81000000 T sys_bpf\n", false, true },
	{ "3.17.8", "0 T sys_bpf\n", false, true },
	{ "3.10.0", NULL, false, true },
	{ "3.10.108", "0 T sys_open\n0 T sys_bpf_not\n0 t my_sys_bpf\n", false, false },
	{ "3.18.0", "0 T sys_bpf\n", true, false },
	{ "4.4.178", "0 T sys_bpf\n", true, false },
};

START_TEST(test_tainting)
{
	struct way_trial t;

	release = tainting[_i].release;
	if (tainting[_i].kallsyms)
		put("proc/kallsyms", tainting[_i].kallsyms);
	if (tainting[_i].setting)
		put("proc/sys/kernel/unprivileged_bpf_disabled", "1\n");
	try(ways_here, BPF, &t);
	ck_assert_msg(!(kernel.bpf_calls > 0) == tainting[_i].taints, "%s", release);
	if (tainting[_i].taints) {
		ck_assert(!t.usable);
		ck_assert_ptr_nonnull(strstr(t.why.msg, "would taint this kernel"));
		ck_assert_str_eq(t.why.cause.remedy, "--backend=bpf, which taints it");
		ck_assert_int_eq(kernel.opened, 0);
		try(ways_here, PERFRING, &t);
		ck_assert(t.usable);
	}
	release = "6.18.0";
}
END_TEST

START_TEST(test_no_cpus)
{
	struct way_trial t;

	put("sys/devices/system/cpu/online", "none\n");
	try(ways, (enum listed)_i, &t);
	ck_assert(!t.usable);
	ck_assert_int_eq(t.why.code, -EINVAL);
	ck_assert_ptr_nonnull(strstr(t.why.msg, "not a list of CPUs"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fallback");
	TCase *t = tcase_create("fallback");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, test_way, 0, ARRAY_SIZE(rows));
	tcase_add_loop_test(t, test_off_way, 0, ARRAY_SIZE(off_rows));
	tcase_add_test(t, test_off_no_bpf);
	tcase_add_test(t, test_refused_program);
	tcase_add_loop_test(t, test_few_files, 0, 4);
	tcase_add_test(t, test_user_only_unexplained);
	tcase_add_loop_test(t, test_no_bpf, 0, 3);
	tcase_add_loop_test(t, test_tainting, 0, ARRAY_SIZE(tainting));
	tcase_add_loop_test(t, test_no_cpus, 0, NR_LISTED);
	suite_add_tcase(s, t);
	return unit_main(s);
}
