// SPDX-License-Identifier: Apache-2.0
/* The host is a copy of /proc and /sys, and this program has its own syscall(), getrlimit(), getuid() and getgid(). */
#include "core/host/causes.h"
#include "core/host/event_types.h"
#include "tests/unit/unit.h"

#include <sys/resource.h>
#include <sys/syscall.h>

static struct {
	int perf, bpf; /* errno of a call with invalid arguments */
	rlim_t memlock, nofile;
	unsigned int uid;
} kernel;

long syscall(long nr, ...)
{
	errno = nr == SYS_perf_event_open ? kernel.perf : nr == SYS_bpf ? kernel.bpf : ENOSYS;
	return -1;
}

/* Sanitizers call it before they are initialized. */
__attribute__((no_sanitize("address", "undefined"))) int getrlimit(__rlimit_resource_t resource, struct rlimit *out)
{
	if (resource != RLIMIT_MEMLOCK && resource != RLIMIT_NOFILE)
		return prlimit(0, resource, NULL, out);
	out->rlim_cur = resource == RLIMIT_MEMLOCK ? kernel.memlock : kernel.nofile;
	out->rlim_max = RLIM_INFINITY;
	return 0;
}

uid_t getuid(void)
{
	return kernel.uid;
}

gid_t getgid(void)
{
	return kernel.uid;
}

static char *top;
static struct host host;

static void setup(void)
{
	top = unit_tmpdir();
	host = unit_host(top);
	kernel.perf = kernel.bpf = EINVAL;
	kernel.memlock = 64 << 10;
	kernel.nofile = 1024;
	kernel.uid = geteuid();
}

static void teardown(void)
{
	unit_rmdir(top);
}

/* @text: NULL: there is no such file */
static void put(const char *name, const char *text)
{
	if (text)
		unit_write(top, name, text, strlen(text));
}

/* NULL: there is no such file. */
struct fake {
	const char *status; /* lines of /proc/self/status */
	const char *paranoid, *bpf_disabled, *last_cap, *uid_map, *lockdown, *osrelease;
	const char *userns; /* target of the link */
};

static void put_host(const struct fake *f)
{
	char path[600];

	put("proc/self/status", f->status);
	put("proc/self/uid_map", f->uid_map);
	put("proc/sys/kernel/perf_event_paranoid", f->paranoid);
	put("proc/sys/kernel/unprivileged_bpf_disabled", f->bpf_disabled);
	put("proc/sys/kernel/cap_last_cap", f->last_cap);
	put("proc/sys/kernel/osrelease", f->osrelease);
	put("sys/kernel/security/lockdown", f->lockdown);
	if (!f->userns)
		return;
	put("proc/self/ns/pid", "");
	snprintf(path, sizeof(path), "%s/self/ns/user", host.proc);
	ck_assert_int_eq(symlink(f->userns, path), 0);
}

#define CAPS(caps, seccomp)                                                                                            \
	"Name:\tprofile\nUmask:\t0022\nCapInh:\t0000000000000000\nCapPrm:\t" caps "\nCapEff:\t" caps                   \
	"\nCapBnd:\t000001ffffffffff\nNoNewPrivs:\t0\nSeccomp:\t" seccomp "\nSeccomp_filters:\t1\n"

#define NONE      "0000000000000000"
#define ALL       "000001ffffffffff"
#define OLD_ALL   "0000003fffffffff"
#define OLDER_ALL "ffffffffffffffff" /* before 3.16 */
#define PERFMON   "0000004000000000"
#define BPF       "0000008000000000"
#define BOTH      "000000c000000000"
#define ADMIN     "0000000000200000"
#define PTRACE    "0000000000080000"
#define IPC_LOCK  "0000000000004000"
#define NOBODY    CAPS(NONE, "0")
#define ROOT      CAPS(ALL, "0")

#define SAME_USERS "         0          0 4294967295\n"
#define HOST_NS    "user:[4026531837]"
#define OTHER_NS   "user:[4026532281]"
#define BUT        "; capabilities of a user namespace do not count"

#define PARANOID(v)     "kernel.perf_event_paranoid is " v "; "
#define WHOLE(v)        PARANOID(v) "whole CPUs need CAP_PERFMON or a value below 1"
#define WITH_KERNEL(v)  PARANOID(v) "kernel stacks need CAP_PERFMON or a value below 2"
#define ANY(v)          PARANOID(v) "it needs CAP_PERFMON or a value below 3"
#define GRANT(below)    "give it CAP_PERFMON (root, setcap cap_perfmon+ep), or sysctl kernel.perf_event_paranoid=" below
#define OUTSIDE(below)  "run it outside of the user namespace, or sysctl kernel.perf_event_paranoid=" below
#define FILTER(call)    "a seccomp filter refuses " call
#define UNFILTER(call)  "allow " call " in the seccomp profile of the container or service"
#define LOCKED          "the kernel is locked down, for confidentiality"
#define UNLOCK          "boot without lockdown=confidentiality"
#define NO_SECCOMP_LINE "CapPrm:\t" NONE "\nCapEff:\t" NONE "\n"

enum { WHOLE_CPU, OWN, OWN_USER }; /* the last one: without the kernel */

static const struct {
	struct fake host;
	int what, code, filter; /* @filter: errno of a call with invalid arguments, 0: EINVAL */
	const char *text, *remedy;
} events[] = {
	/* the setting, for each kind of event */
	{ { NOBODY, "2\n" }, WHOLE_CPU, EACCES, 0, WHOLE("2"), GRANT("0") },
	{ { NOBODY, "1\n" }, WHOLE_CPU, EACCES, 0, WHOLE("1"), GRANT("0") },
	{ { NOBODY, "3\n" }, WHOLE_CPU, EACCES, 0, WHOLE("3"), GRANT("0") },
	{ { NOBODY, "4" }, WHOLE_CPU, EACCES, 0, WHOLE("4"), GRANT("0") },
	{ { NOBODY, "2\n" }, WHOLE_CPU, EPERM, 0, WHOLE("2"), GRANT("0") },
	{ { NOBODY, "0\n" }, WHOLE_CPU, EACCES, 0, "", "" },
	{ { NOBODY, "-1\n" }, WHOLE_CPU, EACCES, 0, "", "" },
	{ { NOBODY, "-1\n" }, WHOLE_CPU, EPERM, 0, "", "" },
	{ { NOBODY, "2\n" }, OWN, EACCES, 0, WITH_KERNEL("2"), GRANT("1") },
	{ { NOBODY, "3\n" }, OWN, EACCES, 0, WITH_KERNEL("3"), GRANT("1") },
	{ { NOBODY, "1\n" }, OWN, EACCES, 0, "", "" },
	{ { NOBODY, "0\n" }, OWN, EACCES, 0, "", "" },
	{ { NOBODY, "2\n" }, OWN_USER, EACCES, 0, "", "" },
	{ { NOBODY, "3\n" }, OWN_USER, EACCES, 0, ANY("3"), GRANT("2") },
	{ { NOBODY, "4\n" }, OWN_USER, EACCES, 0, ANY("4"), GRANT("2") },
	{ { NOBODY, "9223372036854775807\n" }, OWN_USER, EACCES, 0, ANY("9223372036854775807"), GRANT("2") },
	{ { NOBODY, "2\n" }, WHOLE_CPU, EBUSY, 0, "", "" },
	{ { NOBODY, "2\n" }, WHOLE_CPU, EINVAL, 0, "", "" },

	/* an unreadable setting */
	{ { NOBODY }, WHOLE_CPU, EACCES, 0, "", "" },
	{ { NOBODY, "" }, WHOLE_CPU, EACCES, 0, "", "" },
	{ { NOBODY, "\n" }, WHOLE_CPU, EACCES, 0, "", "" },
	{ { NOBODY, "two\n" }, WHOLE_CPU, EACCES, 0, "", "" },
	{ { NOBODY, "2 3\n" }, WHOLE_CPU, EACCES, 0, "", "" },
	{ { NOBODY, "0x2\n" }, WHOLE_CPU, EACCES, 0, "", "" },
	{ { NOBODY, "9223372036854775808\n" }, WHOLE_CPU, EACCES, 0, "", "" },
	{ { NOBODY, "99999999999999999999999999999999999999999999999999999999999999999999999999999999\n" },
	  WHOLE_CPU,
	  EACCES,
	  0,
	  "",
	  "" },

	/* the setting does not apply to a process with the capability */
	{ { ROOT, "2\n" }, WHOLE_CPU, EACCES, 0, "", "" },
	{ { ROOT, "4\n" }, WHOLE_CPU, EACCES, 0, "", "" },
	{ { CAPS(PERFMON, "0"), "2\n" }, WHOLE_CPU, EACCES, 0, "", "" },
	{ { CAPS(ADMIN, "0"), "4\n" }, OWN, EACCES, 0, "", "" },
	{ { CAPS(BPF, "0"), "2\n" },
	  WHOLE_CPU,
	  EACCES,
	  0,
	  WHOLE("2"),
	  "give it CAP_PERFMON (root, setcap cap_bpf,cap_perfmon+ep), or sysctl kernel.perf_event_paranoid=0" },
	{ { CAPS(PTRACE, "0"), "2\n" }, OWN, EACCES, 0, WITH_KERNEL("2"), GRANT("1") },
	{ { CAPS(PERFMON, "0"), "3\n" },
	  WHOLE_CPU,
	  EACCES,
	  0,
	  PARANOID("3") "with CAP_PERFMON it needs a value below 3",
	  "sysctl kernel.perf_event_paranoid=2, or give it CAP_SYS_ADMIN (root)" },
	{ { CAPS(PERFMON, "0"), "4\n" },
	  OWN_USER,
	  EACCES,
	  0,
	  PARANOID("4") "with CAP_PERFMON it needs a value below 3",
	  "sysctl kernel.perf_event_paranoid=2, or give it CAP_SYS_ADMIN (root)" },

	/* before 5.8 there is no CAP_PERFMON */
	{ { NOBODY, "2\n", NULL, "37\n" },
	  WHOLE_CPU,
	  EACCES,
	  0,
	  PARANOID("2") "whole CPUs need CAP_SYS_ADMIN or a value below 1",
	  "run it as root, or sysctl kernel.perf_event_paranoid=0" },
	{ { CAPS(OLD_ALL, "0"), "2\n", NULL, "37\n" }, WHOLE_CPU, EACCES, 0, "", "" },
	{ { CAPS("ffffffffffdfffff", "0"), "2\n", NULL, "37\n" },
	  WHOLE_CPU,
	  EACCES,
	  0,
	  PARANOID("2") "whole CPUs need CAP_SYS_ADMIN or a value below 1",
	  "run it as root, or sysctl kernel.perf_event_paranoid=0" },
	{ { NOBODY, "2\n", NULL, "40\n" }, WHOLE_CPU, EACCES, 0, WHOLE("2"), GRANT("0") },
	{ { NOBODY, "2\n", NULL, "many\n" }, WHOLE_CPU, EACCES, 0, WHOLE("2"), GRANT("0") },

	/* unreadable capabilities count as none */
	{ { NULL, "2\n" }, WHOLE_CPU, EACCES, 0, WHOLE("2"), GRANT("0") },
	{ { "", "2\n" }, WHOLE_CPU, EACCES, 0, WHOLE("2"), GRANT("0") },
	{ { "CapEff:\n", "2\n" }, WHOLE_CPU, EACCES, 0, WHOLE("2"), GRANT("0") },
	{ { "CapEff:\t" ALL "\n", "2\n" }, WHOLE_CPU, EACCES, 0, WHOLE("2"), GRANT("0") },
	{ { "CapPrm:\t" ALL "\nCapEff:\t" ALL, "2\n" }, WHOLE_CPU, EACCES, 0, WHOLE("2"), GRANT("0") },
	{ { CAPS("0x1ffffffffff", "0"), "2\n" }, WHOLE_CPU, EACCES, 0, WHOLE("2"), GRANT("0") },
	{ { CAPS("1000001ffffffffff", "0"), "2\n" }, WHOLE_CPU, EACCES, 0, WHOLE("2"), GRANT("0") },
	{ { CAPS(ALL " " ALL, "0"), "2\n" }, WHOLE_CPU, EACCES, 0, WHOLE("2"), GRANT("0") },
	{ { CAPS("000001ffffffffff000001ffffffffff000001ff", "0"), "2\n" },
	  WHOLE_CPU,
	  EACCES,
	  0,
	  WHOLE("2"),
	  GRANT("0") },
	{ { "Name:\tCapEff:\t" ALL "\n CapEff:\t" ALL "\nxCapEff:\t" ALL "\n", "2\n" },
	  WHOLE_CPU,
	  EACCES,
	  0,
	  WHOLE("2"),
	  GRANT("0") },

	/* capabilities of a user namespace do not count, either */
	{ { ROOT, "2\n", .uid_map = "0 1000 1\n" }, WHOLE_CPU, EACCES, 0, WHOLE("2") BUT, OUTSIDE("0") },
	{ { ROOT, "2\n", .uid_map = "         0      65534          1\n" },
	  OWN,
	  EACCES,
	  0,
	  WITH_KERNEL("2") BUT,
	  OUTSIDE("1") },
	{ { ROOT, "2\n", .uid_map = "0 0 65536\n" }, WHOLE_CPU, EACCES, 0, WHOLE("2") BUT, OUTSIDE("0") },
	{ { ROOT, "2\n", .uid_map = "0 0 1\n1 1 4294967294\n" }, WHOLE_CPU, EACCES, 0, WHOLE("2") BUT, OUTSIDE("0") },
	{ { ROOT, "3\n", .uid_map = "0 1000 1\n" }, OWN_USER, EACCES, 0, ANY("3") BUT, OUTSIDE("2") },
	{ { CAPS(PERFMON, "0"), "3\n", .userns = OTHER_NS }, OWN_USER, EACCES, 0, ANY("3") BUT, OUTSIDE("2") },
	{ { ROOT, "2\n", .userns = OTHER_NS }, WHOLE_CPU, EACCES, 0, WHOLE("2") BUT, OUTSIDE("0") },
	{ { ROOT, "2\n", .userns = OTHER_NS, .uid_map = SAME_USERS },
	  WHOLE_CPU,
	  EACCES,
	  0,
	  WHOLE("2") BUT,
	  OUTSIDE("0") },
	{ { ROOT, "0\n", .userns = OTHER_NS }, WHOLE_CPU, EACCES, 0, "", "" },
	{ { NOBODY, "2\n", .userns = OTHER_NS }, WHOLE_CPU, EACCES, 0, WHOLE("2"), OUTSIDE("0") },
	{ { ROOT, "2\n", .uid_map = SAME_USERS }, WHOLE_CPU, EACCES, 0, "", "" },
	{ { ROOT, "2\n", .uid_map = "" }, WHOLE_CPU, EACCES, 0, "", "" },
	{ { ROOT, "2\n", .userns = HOST_NS, .uid_map = SAME_USERS }, WHOLE_CPU, EACCES, 0, "", "" },

	/* seccomp: there is a filter, and even a call with invalid arguments is refused */
	{ { CAPS(ALL, "2"), "2\n" }, WHOLE_CPU, EPERM, EPERM, FILTER("perf_event_open"), UNFILTER("perf_event_open") },
	{ { CAPS(ALL, "2"), "2\n" },
	  WHOLE_CPU,
	  EACCES,
	  EACCES,
	  FILTER("perf_event_open"),
	  UNFILTER("perf_event_open") },
	{ { CAPS(NONE, "2"), "2\n" }, OWN, EPERM, EPERM, FILTER("perf_event_open"), UNFILTER("perf_event_open") },
	{ { CAPS(NONE, "2"), NULL }, OWN, EPERM, EPERM, FILTER("perf_event_open"), UNFILTER("perf_event_open") },
	{ { CAPS(ALL, "2"), "2\n" },
	  WHOLE_CPU,
	  ENOSYS,
	  ENOSYS,
	  FILTER("perf_event_open"),
	  UNFILTER("perf_event_open") },
	{ { CAPS(ALL, "2"), NULL, NULL, "40\n" },
	  WHOLE_CPU,
	  ENOSYS,
	  ENOSYS,
	  FILTER("perf_event_open"),
	  UNFILTER("perf_event_open") },
	{ { CAPS(NONE, "2"), "2\n" }, WHOLE_CPU, EACCES, 0, WHOLE("2"), GRANT("0") },
	{ { CAPS(ALL, "2"), "2\n" }, WHOLE_CPU, EPERM, 0, "", "" },
	{ { CAPS(ALL, "2"), "2\n" }, WHOLE_CPU, EACCES, EPERM, "", "" },
	{ { CAPS(ALL, "0"), "2\n" }, WHOLE_CPU, EPERM, EPERM, "", "" },
	{ { CAPS(ALL, "1"), "2\n" }, WHOLE_CPU, EPERM, EPERM, "", "" },
	{ { CAPS(ALL, "22"), "2\n" }, WHOLE_CPU, EPERM, EPERM, "", "" },
	{ { CAPS(ALL, "x"), "2\n" }, WHOLE_CPU, EPERM, EPERM, "", "" },
	{ { CAPS(ALL, ""), "2\n" }, WHOLE_CPU, EPERM, EPERM, "", "" },
	{ { CAPS(ALL, "2222222222222222222222222"), "2\n" }, WHOLE_CPU, EPERM, EPERM, "", "" },

	/* ENOSYS: has the kernel perf events? */
	{ { ROOT, "2\n" },
	  WHOLE_CPU,
	  ENOSYS,
	  ENOSYS,
	  "something refuses perf_event_open, although this kernel has it",
	  "allow perf_event_open in the sandbox that the profiler runs in" },
	{ { NO_SECCOMP_LINE, "2\n" },
	  WHOLE_CPU,
	  ENOSYS,
	  ENOSYS,
	  "something refuses perf_event_open, although this kernel has it",
	  "allow perf_event_open in the sandbox that the profiler runs in" },
	{ { ROOT, NULL, NULL, "40\n" },
	  OWN,
	  ENOSYS,
	  ENOSYS,
	  "this kernel was built without CONFIG_PERF_EVENTS",
	  "a kernel with CONFIG_PERF_EVENTS" },
	{ { CAPS(ALL, "2"), NULL, NULL, "40\n" },
	  OWN,
	  ENOSYS,
	  EINVAL,
	  "this kernel was built without CONFIG_PERF_EVENTS",
	  "a kernel with CONFIG_PERF_EVENTS" },
	{ { ROOT, "?\n", NULL, "40\n" }, OWN, ENOSYS, ENOSYS, "", "" },
	{ { ROOT }, OWN, ENOSYS, ENOSYS, "", "" }, /* there is no /proc/sys, either */

	/* lockdown refuses none of these events */
	{ { ROOT, "2\n", .lockdown = "none integrity [confidentiality]\n" }, WHOLE_CPU, EPERM, 0, "", "" },
	{ { ROOT, "2\n", .lockdown = "none [integrity] confidentiality\n" }, WHOLE_CPU, EPERM, 0, "", "" },
	{ { ROOT, "2\n", .lockdown = "none integrity [confidentiality]\n" }, WHOLE_CPU, EACCES, 0, "", "" },
	{ { NOBODY, "2\n", .lockdown = "none integrity [confidentiality]\n" },
	  WHOLE_CPU,
	  EPERM,
	  0,
	  WHOLE("2"),
	  GRANT("0") },

	/* limits */
	{ { ROOT, "2\n" },
	  WHOLE_CPU,
	  EMFILE,
	  0,
	  "RLIMIT_NOFILE is 1024",
	  "raise it: ulimit -n, or LimitNOFILE= of the service" },
	{ { ROOT, "2\n" }, WHOLE_CPU, ENFILE, 0, "", "" },
	{ { ROOT, "2\n" }, WHOLE_CPU, ENOMEM, 0, "", "" },
};

/* No content of the host's files may break the line, or the fields of --list-backends -f. */
static void assert_cause(const struct cause *c, const char *text, const char *remedy)
{
	ck_assert_str_eq(c->text, text);
	ck_assert_str_eq(c->remedy, remedy);
	ck_assert_ptr_null(strpbrk(c->text, "\t\n"));
	ck_assert_ptr_null(strpbrk(c->remedy, "\t\n"));
	ck_assert_uint_lt(strlen(c->text), CAUSE_LEN - 1);
	ck_assert_uint_lt(strlen(c->remedy), CAUSE_LEN - 1);
}

START_TEST(test_event)
{
	const struct cause_event event = {
		.type = event_default(),
		.freq_hz = 49,
		.tid = events[_i].what == WHOLE_CPU ? -1 : 0,
		.kernel = events[_i].what != OWN_USER,
	};
	struct cause c;

	put_host(&events[_i].host);
	if (events[_i].filter)
		kernel.perf = events[_i].filter;
	cause_of_event(&host, &event, -events[_i].code, &c);
	assert_cause(&c, events[_i].text, events[_i].remedy);
}
END_TEST

#define NEEDS   ": it needs CAP_PERFMON or CAP_SYS_PTRACE"
#define AS_USER "run it as the user of that process, or as root"

/* A "=" in @status stands for our own user or group id. */
static const struct {
	const char *self, *status, *last_cap;
	int owner; /* added to our own ids, so that another user owns the files of the thread; 0: we own them */
	const char *text;
} foreign[] = {
	{ NOBODY, "Uid:\t=\t=\t=\t=\nGid:\t=\t=\t=\t=\nCapPrm:\t" NONE "\n", NULL, 0, "" },
	{ NOBODY, "Uid:\t7\t7\t7\t7\nGid:\t=\t=\t=\t=\n", NULL, 0, "thread 321 is of another user, 7" NEEDS },
	{ NOBODY, "Uid:\t=\t7\t=\t=\nGid:\t=\t=\t=\t=\n", NULL, 0, "thread 321 is of another user, 7" NEEDS },
	{ NOBODY, "Uid:\t=\t=\t7\t=\nGid:\t=\t=\t=\t=\n", NULL, 0, "thread 321 is of another user, 7" NEEDS },
	{ NOBODY, "Uid:\t=\t=\t=\t7\nGid:\t=\t=\t=\t=\n", NULL, 0, "" }, /* only the id for file systems differs */
	{ NOBODY, "Uid:\t=\t=\t=\t=\nGid:\t=\t9\t=\t=\n", NULL, 0, "thread 321 is of another group, 9" NEEDS },
	{ NOBODY, "Uid:\t4294967295\t=\t=\t=\n", NULL, 0, "thread 321 is of another user, 4294967295" NEEDS },
	{ NOBODY, "Uid:\t7\n", "37\n", 0, "thread 321 is of another user, 7: it needs CAP_SYS_PTRACE" },
	{ NOBODY, "Uid:\t=\t=\t=\t=\nCapPrm:\t" IPC_LOCK "\n", NULL, 0,
	  "thread 321 has capabilities that the profiler lacks" NEEDS },
	{ CAPS(IPC_LOCK, "0"), "Uid:\t=\t=\t=\t=\nCapPrm:\t" IPC_LOCK "\n", NULL, 0, "" },
	{ NOBODY, "Uid:\t=\t=\t=\t=\nGid:\t=\t=\t=\t=\nCapPrm:\t" NONE "\n", NULL, 1,
	  "thread 321 is of a process that may not be dumped" NEEDS },
	{ CAPS(PTRACE, "0"), "Uid:\t7\t7\t7\t7\n", NULL, 0, "" },
	{ ROOT, "Uid:\t7\t7\t7\t7\n", NULL, 0, "" },
	{ NULL, "Uid:\t7\t7\t7\t7\n", NULL, 0, "" },
	{ NOBODY, NULL, NULL, 0, "" }, /* hidden, or ended */
	{ NOBODY, "", NULL, 0, "" },
	{ NOBODY, "Uid:\n", NULL, 0, "" },
	{ NOBODY, "Uid:\tx7\n", NULL, 0, "" },
	{ NOBODY, "Uid:\troot\n", NULL, 0, "" },
	{ NOBODY, "Uid:\t-1\t-1\n", NULL, 0, "" },
	{ NOBODY, "Uid:\t4294967296\n", NULL, 0, "" },
	{ NOBODY, "Name:\tUid:\t7\n", NULL, 0, "" },
	{ NOBODY, "CapPrm:\tfull\n", NULL, 0, "" },
};

static void put_thread(const char *status)
{
	char text[512];
	int used = 0;

	for (; *status; status++)
		used += *status == '=' ? snprintf(text + used, sizeof(text) - (size_t)used, "%u", kernel.uid)
				       : snprintf(text + used, sizeof(text) - (size_t)used, "%c", *status);
	unit_write(top, "proc/321/status", text, (size_t)used);
}

START_TEST(test_foreign)
{
	const struct cause_event event = { event_default(), 49, 321, false };
	struct cause c;

	kernel.uid += (unsigned int)foreign[_i].owner;
	put_host(&(struct fake){ foreign[_i].self, "2\n", NULL, foreign[_i].last_cap });
	if (foreign[_i].status)
		put_thread(foreign[_i].status);
	cause_of_event(&host, &event, -EACCES, &c);
	assert_cause(&c, foreign[_i].text, *foreign[_i].text ? AS_USER : "");
}
END_TEST

/* Errors about the event, not about permissions. */
static const struct {
	const char *rate;
	uint64_t freq_hz;
	const char *text;
} rates[] = {
	{ "100\n", 101, "kernel.perf_event_max_sample_rate is 100, below the rate of 101" },
	{ "-1\n", 1, "kernel.perf_event_max_sample_rate is -1, below the rate of 1" },
	{ "100\n", 100, "" },
	{ "100\n", 0, "" }, /* a period, not a rate */
	{ "much\n", 101, "" },
	{ NULL, 101, "" },
};

START_TEST(test_rate)
{
	const struct cause_event event = { event_default(), rates[_i].freq_hz, -1, true };
	struct cause c;

	put("proc/sys/kernel/perf_event_max_sample_rate", rates[_i].rate);
	cause_of_event(&host, &event, -EINVAL, &c);
	assert_cause(&c, rates[_i].text,
		     *rates[_i].text ? "a lower -F, or sysctl kernel.perf_event_max_sample_rate" : "");
}
END_TEST

static const struct {
	const char *event, *pmu;
	bool blamed;
} counters[] = {
	{ "cycles", NULL, true },
	{ "cycles", "cpu/type", false },
	{ "cycles", "cpu_atom/cpus", false },
	{ "cycles", "armv8_pmuv3_0/cpus", false },
	{ "cycles", "uncore_imc/cpumask", true },
	{ "cpu-clock", NULL, false },
};

START_TEST(test_counters)
{
	const struct cause_event event = { event_find(counters[_i].event), 49, -1, true };
	char path[128];
	struct cause c;

	snprintf(path, sizeof(path), "sys/bus/event_source/devices/%s", counters[_i].pmu);
	if (counters[_i].pmu)
		put(path, "4\n");
	cause_of_event(&host, &event, -ENOENT, &c);
	ck_assert_str_eq(c.text, counters[_i].blamed ? "this machine has no PMU; try -e cpu-clock" : "");
	ck_assert_str_eq(c.remedy, counters[_i].blamed ? "-e cpu-clock" : "");
}
END_TEST

static const struct {
	const char *max, *text;
} open_files[] = {
	{ "8192\n", "fs.file-max is 8192" },
	{ "9223372036854775807\n", "fs.file-max is 9223372036854775807" },
	{ "18446744073709551615\n", "" },
	{ NULL, "" },
};

START_TEST(test_file_max)
{
	const struct cause_event event = { event_default(), 49, -1, true };
	const char *remedy = *open_files[_i].text ? "raise it: sysctl fs.file-max" : "";
	struct cause c;

	put("proc/sys/fs/file-max", open_files[_i].max);
	cause_of_event(&host, &event, -ENFILE, &c);
	assert_cause(&c, open_files[_i].text, remedy);
	cause_of_bpf(&host, -ENFILE, &c);
	assert_cause(&c, open_files[_i].text, remedy);
	cause_of_ring(&host, -ENFILE, &c);
	assert_cause(&c, open_files[_i].text, remedy);
}
END_TEST

#define MLOCK(kb, limit) "kernel.perf_event_mlock_kb is " kb " and RLIMIT_MEMLOCK " limit "; more needs CAP_IPC_LOCK"

static const struct {
	struct fake host;
	const char *kb;
	rlim_t memlock;
	int code;
	const char *text;
} rings[] = {
	{ { NOBODY }, "516\n", 64 << 10, EPERM, MLOCK("516", "64 KiB") },
	{ { NOBODY }, "0\n", 0, EPERM, MLOCK("0", "0 KiB") },
	{ { CAPS(PERFMON, "0") }, "4\n", 8 << 20, EPERM, MLOCK("4", "8192 KiB") },
	{ { NULL }, "4\n", 64 << 10, EPERM, MLOCK("4", "64 KiB") },
	{ { ROOT, .userns = OTHER_NS }, "4\n", 64 << 10, EPERM, MLOCK("4", "64 KiB") BUT },
	{ { CAPS(IPC_LOCK, "0") }, "4\n", 64 << 10, EPERM, "" },
	{ { ROOT }, "4\n", 64 << 10, EPERM, "" },
	{ { NOBODY }, "4\n", RLIM_INFINITY, EPERM, "" },
	{ { NOBODY }, NULL, 64 << 10, EPERM, "" },
	{ { NOBODY }, "a lot\n", 64 << 10, EPERM, "" },
	{ { NOBODY }, "4\n", 64 << 10, EACCES, "" },
	{ { NOBODY }, "4\n", 64 << 10, ENOMEM, "" },
	{ { NOBODY }, "4\n", 64 << 10, EBADF, "" },
};

START_TEST(test_ring)
{
	struct cause c;

	put_host(&rings[_i].host);
	put("proc/sys/kernel/perf_event_mlock_kb", rings[_i].kb);
	kernel.memlock = rings[_i].memlock;
	cause_of_ring(&host, -rings[_i].code, &c);
	assert_cause(&c, rings[_i].text,
		     *rings[_i].text ? "raise one of them: sysctl kernel.perf_event_mlock_kb, ulimit -l" : "");
}
END_TEST

#define DISABLED(v)    "kernel.unprivileged_bpf_disabled is " v "; it needs "
#define BOTH_TEXT      "CAP_BPF and CAP_PERFMON"
#define GIVE_BOTH      "give it CAP_BPF and CAP_PERFMON (root, setcap cap_bpf,cap_perfmon+ep)"
#define GIVE_BPF       "give it CAP_BPF (root, setcap cap_bpf,cap_perfmon+ep)"
#define GIVE_PERFMON   "give it CAP_PERFMON (root, setcap cap_bpf,cap_perfmon+ep)"
#define LEAVE          "run it outside of the user namespace"
#define COUNTED(limit) "RLIMIT_MEMLOCK is " limit " KiB, and this kernel counts BPF maps"
#define RAISE          "raise it: ulimit -l, or LimitMEMLOCK= of the service"

static const struct {
	struct fake host;
	int code, filter;
	rlim_t memlock;
	const char *text, *remedy;
} programs[] = {
	/* rights */
	{ { NOBODY, NULL, "2\n" }, EPERM, 0, 1, DISABLED("2") BOTH_TEXT, GIVE_BOTH },
	{ { NOBODY, NULL, "1\n" }, EPERM, 0, 1, DISABLED("1") BOTH_TEXT, GIVE_BOTH },
	{ { NOBODY, NULL, "0\n" }, EPERM, 0, 1, "it needs " BOTH_TEXT, GIVE_BOTH },
	{ { NOBODY, NULL, "yes\n" }, EPERM, 0, 1, "it needs " BOTH_TEXT, GIVE_BOTH },
	{ { NOBODY }, EPERM, 0, 1, "it needs " BOTH_TEXT, GIVE_BOTH },
	{ { CAPS(PERFMON, "0"), NULL, "2\n" }, EPERM, 0, 1, DISABLED("2") "CAP_BPF", GIVE_BPF },
	{ { CAPS(BPF, "0"), NULL, "2\n" }, EPERM, 0, 1, "it needs CAP_PERFMON", GIVE_PERFMON },
	{ { CAPS(BOTH, "0"), NULL, "2\n" }, EPERM, 0, 1, "", "" },
	{ { CAPS(ADMIN, "0"), NULL, "2\n" }, EPERM, 0, 1, "", "" },
	{ { ROOT, NULL, "2\n" }, EPERM, 0, 1, "", "" },
	{ { ROOT, NULL, "2\n" }, EINVAL, 0, 1, "", "" },
	{ { NOBODY, NULL, "2\n" }, EINVAL, 0, 1, "", "" },
	{ { NOBODY, NULL, "2\n" }, E2BIG, 0, 1, "", "" },
	{ { NULL, NULL, "2\n" }, EPERM, 0, 1, DISABLED("2") BOTH_TEXT, GIVE_BOTH },
	{ { NULL, NULL, "0\n" }, EPERM, 0, 1, "", "" },
	{ { NULL }, EPERM, 0, 1, "", "" },
	{ { CAPS("rwx", "0") }, EPERM, 0, 1, "", "" },
	{ { NOBODY, NULL, "1\n", "37\n" }, EPERM, 0, 1, DISABLED("1") "CAP_SYS_ADMIN", "run it as root" },
	{ { CAPS(OLDER_ALL, "0"), NULL, "1\n", "37\n" }, EPERM, 0, 1, "", "" },
	{ { CAPS("ffffffffffdfffff", "0"), NULL, "1\n", "37\n" },
	  EPERM,
	  0,
	  1,
	  DISABLED("1") "CAP_SYS_ADMIN",
	  "run it as root" },

	/* in a user namespace */
	{ { ROOT, NULL, "2\n", .userns = OTHER_NS }, EPERM, 0, 1, DISABLED("2") BOTH_TEXT BUT, LEAVE },
	{ { CAPS(BPF, "0"), NULL, "2\n", .uid_map = "0 1000 1\n" }, EPERM, 0, 1, DISABLED("2") BOTH_TEXT BUT, LEAVE },
	{ { NOBODY, NULL, "2\n", .userns = OTHER_NS }, EPERM, 0, 1, DISABLED("2") BOTH_TEXT, LEAVE },

	/* seccomp */
	{ { CAPS(ALL, "2"), NULL, "2\n" }, EPERM, EPERM, 1, FILTER("bpf"), UNFILTER("bpf") },
	{ { CAPS(BOTH, "2"), NULL, "2\n" }, EPERM, EPERM, 1, FILTER("bpf"), UNFILTER("bpf") },
	{ { CAPS(ALL, "2"), NULL, "2\n" }, ENOSYS, ENOSYS, 1, FILTER("bpf"), UNFILTER("bpf") },
	{ { CAPS(ALL, "2"), NULL, "2\n" }, EPERM, 0, 1, "", "" },
	{ { CAPS(ALL, "0"), NULL, "2\n" }, EPERM, EPERM, 1, "", "" },
	{ { CAPS(NONE, "2"), NULL, "2\n" }, EPERM, EPERM, 1, DISABLED("2") BOTH_TEXT, GIVE_BOTH },

	/* ENOSYS: has the kernel BPF? */
	{ { ROOT, NULL, "2\n" },
	  ENOSYS,
	  ENOSYS,
	  1,
	  "something refuses bpf, although this kernel has it",
	  "allow bpf in the sandbox that the profiler runs in" },
	{ { ROOT, NULL, NULL, "40\n" },
	  ENOSYS,
	  ENOSYS,
	  1,
	  "this kernel was built without CONFIG_BPF_SYSCALL",
	  "a kernel with CONFIG_BPF_SYSCALL" },
	{ { ROOT }, ENOSYS, ENOSYS, 1, "", "" },

	/* lockdown: for integrity it refuses no BPF */
	{ { ROOT, NULL, "2\n", .lockdown = "none integrity [confidentiality]\n" }, EPERM, 0, 1, LOCKED, UNLOCK },
	{ { ROOT, NULL, "2\n", .lockdown = "none [integrity] confidentiality\n" }, EPERM, 0, 1, "", "" },
	{ { ROOT, NULL, "2\n", .lockdown = "[none] integrity confidentiality\n" }, EPERM, 0, 1, "", "" },
	{ { ROOT, NULL, "2\n", .lockdown = "none integrity confidentiality\n" }, EPERM, 0, 1, "", "" },
	{ { ROOT, NULL, "2\n", .lockdown = "" }, EPERM, 0, 1, "", "" },
	{ { NOBODY, NULL, "2\n", .lockdown = "none integrity [confidentiality]\n" },
	  EPERM,
	  0,
	  1,
	  DISABLED("2") BOTH_TEXT,
	  GIVE_BOTH },
	{ { CAPS(ALL, "2"), NULL, "2\n", .lockdown = "none integrity [confidentiality]\n" },
	  EPERM,
	  EPERM,
	  1,
	  FILTER("bpf"),
	  UNFILTER("bpf") },

	{ { ROOT, NULL, "2\n", .lockdown = "none integrity [confidentiality]\n" }, EINVAL, 0, 1, LOCKED, UNLOCK },
	{ { ROOT, NULL, "2\n", .lockdown = "none [integrity] confidentiality\n" }, EINVAL, 0, 1, "", "" },

	/* maps need memory, and fail before the programs that it refuses */
	{ { ROOT, .lockdown = "none [integrity] confidentiality\n", .osrelease = "5.4.0\n" },
	  EPERM,
	  0,
	  65536,
	  COUNTED("64"),
	  RAISE },
	{ { ROOT, .lockdown = "none integrity [confidentiality]\n", .osrelease = "5.4.0\n" },
	  EPERM,
	  0,
	  65536,
	  COUNTED("64"),
	  RAISE },
	{ { ROOT, .lockdown = "none integrity [confidentiality]\n", .osrelease = "5.4.0\n" },
	  EPERM,
	  0,
	  RLIM_INFINITY,
	  LOCKED,
	  UNLOCK },
	{ { ROOT, .lockdown = "none integrity [confidentiality]\n", .osrelease = "5.11.0\n" },
	  EPERM,
	  0,
	  65536,
	  LOCKED,
	  UNLOCK },

	/* locked memory, until 5.10 */
	{ { ROOT, .osrelease = "5.10.0-28-amd64\n" }, EPERM, 0, 65536, COUNTED("64"), RAISE },
	{ { ROOT, .osrelease = "4.9.337\n" }, EPERM, 0, 65536, COUNTED("64"), RAISE },
	{ { ROOT, .osrelease = "5.4.0\n" }, EPERM, 0, 0, COUNTED("0"), RAISE },
	{ { ROOT, .osrelease = "5.4.0\n" }, EPERM, 0, RLIM_INFINITY, "", "" },
	{ { ROOT, .osrelease = "5.11.0\n" }, EPERM, 0, 65536, "", "" },
	{ { ROOT, .osrelease = "6.1.0\n" }, EPERM, 0, 65536, "", "" },
	{ { ROOT, .osrelease = "10.4.0\n" }, EPERM, 0, 65536, "", "" },
	{ { ROOT, .osrelease = "5\n" }, EPERM, 0, 65536, "", "" },
	{ { ROOT, .osrelease = "5.\n" }, EPERM, 0, 65536, "", "" },
	{ { ROOT, .osrelease = "-5.4\n" }, EPERM, 0, 65536, "", "" },
	{ { ROOT, .osrelease = "99999999999999999999.4\n" }, EPERM, 0, 65536, "", "" },
	{ { ROOT, .osrelease = "" }, EPERM, 0, 65536, "", "" },

	/* limits */
	{ { ROOT }, EMFILE, 0, 1, "RLIMIT_NOFILE is 1024", "raise it: ulimit -n, or LimitNOFILE= of the service" },
};

START_TEST(test_bpf)
{
	struct cause c;

	put_host(&programs[_i].host);
	if (programs[_i].filter)
		kernel.bpf = programs[_i].filter;
	kernel.memlock = programs[_i].memlock;
	cause_of_bpf(&host, -programs[_i].code, &c);
	assert_cause(&c, programs[_i].text, programs[_i].remedy);
}
END_TEST

/* Only one lockdown mode keeps BPF programs from reading the memory of the kernel. */
static const struct {
	const char *lockdown, *text, *remedy;
} locks[] = {
	{ "none integrity [confidentiality]\n", LOCKED, UNLOCK },
	{ "none [integrity] confidentiality\n", "", "" },
	{ "[none] integrity confidentiality\n", "", "" },
	{ "none integrity confidentiality\n", "", "" },
	{ "[confidential\n", "", "" },
	{ "\n", "", "" },
	{ "", "", "" },
	{ NULL, "", "" },
};

START_TEST(test_unreadable)
{
	struct cause c = { "stale", "stale" };

	put_host(&(struct fake){ NOBODY, "2\n", .lockdown = locks[_i].lockdown });
	ck_assert_int_eq(cause_of_unreadable(&host, &c), *locks[_i].text != 0);
	assert_cause(&c, locks[_i].text, locks[_i].remedy);
}
END_TEST

/* The line of groups, before the capabilities, can be very long. */
START_TEST(test_long_status)
{
	const struct cause_event event = { event_default(), 49, -1, true };
	size_t room = (1 << 20) + 4096, used;
	char *text = malloc(room);
	struct cause c;

	ck_assert_ptr_nonnull(text);
	used = (size_t)snprintf(text, room, "Groups:\t");
	while (used < 1 << 20)
		used += (size_t)snprintf(text + used, room - used, "CapEff:\t" NONE " ");
	snprintf(text + used, room - used, "\n%s", ROOT);
	put("proc/self/status", text);
	put("proc/sys/kernel/perf_event_paranoid", "2\n");
	cause_of_event(&host, &event, -EACCES, &c);
	assert_cause(&c, "", "");
	free(text);
}
END_TEST

START_TEST(test_err)
{
	struct cause c = { .text = "" };
	struct err err;

	ck_assert_int_eq(cause_err(&err, -EPERM, &c, "cannot open %d", 7), -EPERM);
	ck_assert_str_eq(err.msg, "cannot open 7: Operation not permitted");
	ck_assert_int_eq(err.code, -EPERM);
	snprintf(c.text, sizeof(c.text), "100%% %%s");
	ck_assert_int_eq(cause_err(&err, -EACCES, &c, "%s", "cannot"), -EACCES);
	ck_assert_str_eq(err.msg, "cannot: Permission denied (100% %s)");
	ck_assert_str_eq(err.cause.text, c.text);
	ck_assert_str_eq(err.cause.remedy, "");
	snprintf(c.remedy, sizeof(c.remedy), "a remedy");
	cause_err(&err, -EACCES, &c, "%s", "cannot");
	ck_assert_str_eq(err.cause.remedy, "a remedy");
	/* The next failure has another cause. */
	err_set(&err, -EIO, "cannot");
	ck_assert_str_eq(err.cause.text, "");
	ck_assert_str_eq(err.cause.remedy, "");
	err_remedy(&err, "another");
	ck_assert_str_eq(err.cause.remedy, "another");
	ck_assert_str_eq(err.cause.text, "");
	err_sys(&err, -EIO, "cannot");
	ck_assert_str_eq(err.cause.remedy, "");
	err_remedy(NULL, "another");
	ck_assert_int_eq(cause_err(NULL, -EACCES, &c, "%s", "cannot"), -EACCES);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("causes");
	TCase *t = tcase_create("causes");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, test_event, 0, ARRAY_SIZE(events));
	tcase_add_loop_test(t, test_foreign, 0, ARRAY_SIZE(foreign));
	tcase_add_loop_test(t, test_rate, 0, ARRAY_SIZE(rates));
	tcase_add_loop_test(t, test_counters, 0, ARRAY_SIZE(counters));
	tcase_add_loop_test(t, test_file_max, 0, ARRAY_SIZE(open_files));
	tcase_add_loop_test(t, test_ring, 0, ARRAY_SIZE(rings));
	tcase_add_loop_test(t, test_bpf, 0, ARRAY_SIZE(programs));
	tcase_add_loop_test(t, test_unreadable, 0, ARRAY_SIZE(locks));
	tcase_add_test(t, test_long_status);
	tcase_add_test(t, test_err);
	suite_add_tcase(s, t);
	return unit_main(s);
}
