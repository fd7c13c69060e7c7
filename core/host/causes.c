// SPDX-License-Identifier: Apache-2.0
/*
 * The order in each function is that of the kernel's checks: the first one that fails is named. Sources:
 * perf_event_open(2), bpf(2), capabilities(7), and the kernel's admin-guide/perf-security.rst and
 * admin-guide/sysctl/kernel.rst.
 */
#include "core/host/causes.h"

#include "core/base/number.h"
#include "core/host/capability.h"
#include "core/host/event_types.h"
#include "core/host/kernel.h"

#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define BIT_OF(cap) (1ULL << (cap))

/* A system call, the setting that exists if the kernel has the call, and the build option for it. */
struct call {
	const char *name, *setting, *config;
	int (*answer)(void); /* result of a call with invalid arguments */
};

static const struct call call_perf = { "perf_event_open", "kernel/perf_event_paranoid", "CONFIG_PERF_EVENTS",
				       kernel_answers_perf };
static const struct call call_bpf = { "bpf", "kernel/unprivileged_bpf_disabled", "CONFIG_BPF_SYSCALL",
				      kernel_answers_bpf };

#define NO_USERNS "; capabilities of a user namespace do not count"

/* The permissions of this process, from /proc. */
struct rights {
	uint64_t effective, permitted;
	bool known;     /* @effective and @permitted are known */
	bool in_userns; /* the capabilities are of a user namespace: perf and bpf need those of the host */
	bool filtered;  /* there is a seccomp filter */
	bool fine;      /* the kernel has CAP_PERFMON and CAP_BPF */
};

static void __attribute__((format(printf, 2, 3))) set_text(char text[CAUSE_LEN], const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, CAUSE_LEN, fmt, ap);
	va_end(ap);
}

/* Read a set of capabilities from /proc/@task/status. Return: 0 or -errno. */
static int read_caps(const struct host *host, const char *task, const char *name, uint64_t *out)
{
	char text[32];
	const char *s = text;
	int rc = host_task_field(host, task, name, text, sizeof(text));

	if (!rc)
		rc = parse_digits(&s, 16, UINT64_MAX, out);
	return rc ? rc : *s ? -EINVAL : 0;
}

/* True for "0 0 4294967295" with blanks in between: each user id maps to itself. */
static bool maps_all_users(const char *s)
{
	static const uint64_t all[] = { 0, 0, UINT32_MAX };
	uint64_t n;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		s += strspn(s, " ");
		if (parse_digits(&s, 10, UINT32_MAX, &n) || n != all[i])
			return false;
	}
	return !strcmp(s, "\n");
}

/* Since 3.8, the initial user namespace has the number PROC_USER_INIT_INO of include/linux/proc_ns.h. */
static bool in_userns(const struct host *host)
{
	char path[PATH_MAX], text[256];
	ssize_t len = -1;

	if (snprintf(path, sizeof(path), "%s/self/ns/user", host->proc) < (int)sizeof(path))
		len = readlink(path, text, sizeof(text) - 1);
	if (len > 0) {
		text[len] = 0;
		return strcmp(text, "user:[4026531837]") != 0;
	}
	return host_read(host->proc, "self/uid_map", text, sizeof(text)) > 0 && !maps_all_users(text);
}

static void read_rights(const struct host *host, struct rights *out)
{
	char text[8];

	*out = (struct rights){ .in_userns = in_userns(host), .fine = kernel_has_perfmon(host) };
	out->filtered = !host_task_field(host, "self", "Seccomp", text, sizeof(text)) && !strcmp(text, "2");
	out->known = !read_caps(host, "self", "CapEff", &out->effective) &&
		     !read_caps(host, "self", "CapPrm", &out->permitted);
	if (!out->known)
		out->effective = out->permitted = 0;
}

static bool has_capability(const struct rights *r, int cap)
{
	return r->effective & BIT_OF(cap) && (r->fine || cap < CAP_PERFMON);
}

/* True if the capability is effective on the whole host. */
static bool counts(const struct rights *r, int cap)
{
	return !r->in_userns && has_capability(r, cap);
}

/* CAP_SYS_ADMIN includes the newer capabilities. */
static bool has_or_admin(const struct rights *r, int cap)
{
	return has_capability(r, cap) || has_capability(r, CAP_SYS_ADMIN);
}

/*
 * @caps: the missing capabilities; @setcap: those that the program's file needs for this use, because setcap(8)
 * replaces all that it has.
 */
struct grant {
	const char *caps, *setcap;
};

static const struct grant grant_perfmon = { "CAP_PERFMON", "cap_perfmon" };
static const struct grant program_both = { "CAP_BPF and CAP_PERFMON", "cap_bpf,cap_perfmon" };
static const struct grant program_bpf = { "CAP_BPF", "cap_bpf,cap_perfmon" };
static const struct grant program_perfmon = { "CAP_PERFMON", "cap_bpf,cap_perfmon" };
static const struct grant grant_admin = { "CAP_SYS_ADMIN", "cap_sys_admin" };

/* A file that has CAP_BPF should keep it. */
static const struct grant *perfmon(const struct rights *r)
{
	if (!r->fine)
		return &grant_admin;
	return has_capability(r, CAP_BPF) ? &program_perfmon : &grant_perfmon;
}

static void say_grant(const struct rights *r, const struct grant *g, const char *or_else, struct cause *out)
{
	if (r->in_userns)
		set_text(out->remedy, "run it outside of the user namespace%s", or_else);
	else if (r->fine)
		set_text(out->remedy, "give it %s (root, setcap %s+ep)%s", g->caps, g->setcap, or_else);
	else
		set_text(out->remedy, "run it as root%s", or_else);
}

/* ---- perf events */

/* The permission that an event needs. */
struct demand {
	const char *what;
	int below; /* a kernel.perf_event_paranoid below this would suffice; 0: the setting is not the cause */
};

/*
 * Values from 3 on exist on some distributions: Debian, Ubuntu (its default is 4) and Android then refuse all events.
 */
static struct demand demand_of(const struct cause_event *e, long long paranoid)
{
	if (e->tid < 0)
		return (struct demand){ "whole CPUs need", paranoid > 0 ? 1 : 0 };
	if (e->kernel && paranoid > 1)
		return (struct demand){ "kernel stacks need", 2 };
	return (struct demand){ "it needs", paranoid > 2 ? 3 : 0 };
}

static bool is_paranoid(const struct host *host, const struct rights *r, const struct cause_event *e, struct cause *out)
{
	struct demand demand;
	char or_else[64];
	long long v;

	if (host_setting(host, call_perf.setting, &v))
		return false;
	demand = demand_of(e, v);
	/* Some of those kernels require CAP_SYS_ADMIN even if they have CAP_PERFMON. */
	if (v > 2 && counts(r, CAP_PERFMON) && !counts(r, CAP_SYS_ADMIN)) {
		set_text(out->text, "kernel.perf_event_paranoid is %lld; with CAP_PERFMON it needs a value below 3", v);
		set_text(out->remedy, "sysctl kernel.perf_event_paranoid=2, or give it CAP_SYS_ADMIN (root)");
		return true;
	}
	if (!demand.below || (!r->in_userns && has_or_admin(r, CAP_PERFMON)))
		return false;
	set_text(out->text, "kernel.perf_event_paranoid is %lld; %s %s or a value below %d%s", v, demand.what,
		 perfmon(r)->caps, demand.below, has_or_admin(r, CAP_PERFMON) ? NO_USERNS : "");
	snprintf(or_else, sizeof(or_else), ", or sysctl kernel.perf_event_paranoid=%d", demand.below - 1);
	say_grant(r, perfmon(r), or_else, out);
	return true;
}

/* Compare the first three ids of the line, real, effective and saved, with our real one, as ptrace(2) does. */
static bool is_of_another(const struct host *host, const char *task, const char *name, unsigned int own,
			  uint64_t *other)
{
	char text[128];
	const char *s = text;
	int i;

	if (host_task_field(host, task, name, text, sizeof(text)))
		return false;
	for (i = 0; i < 3; i++, s += *s == '\t') {
		if (parse_digits(&s, 10, UINT32_MAX, other))
			return false;
		if (*other != own)
			return true;
	}
	return false;
}

/* True if the process is not dumpable: then root owns its files in /proc. */
static bool is_undumpable(const struct host *host, const char *task)
{
	char path[PATH_MAX];
	struct stat st;

	return snprintf(path, sizeof(path), "%s/%s/status", host->proc, task) < (int)sizeof(path) && !stat(path, &st) &&
	       st.st_uid != getuid();
}

/* True if we may not observe the thread. The checks have the order of the kernel's ptrace_may_access(). */
static bool is_foreign(const struct host *host, const struct rights *r, pid_t tid, struct cause *out)
{
	const char *needs = r->fine ? "CAP_PERFMON or CAP_SYS_PTRACE" : "CAP_SYS_PTRACE";
	char task[16];
	uint64_t n;

	if (tid <= 0 || !r->known || counts(r, CAP_SYS_PTRACE))
		return false;
	snprintf(task, sizeof(task), "%d", tid);
	if (is_of_another(host, task, "Uid", getuid(), &n))
		set_text(out->text, "thread %d is of another user, %llu: it needs %s", tid, (unsigned long long)n,
			 needs);
	else if (is_of_another(host, task, "Gid", getgid(), &n))
		set_text(out->text, "thread %d is of another group, %llu: it needs %s", tid, (unsigned long long)n,
			 needs);
	else if (!read_caps(host, task, "CapPrm", &n) && n & ~r->permitted)
		set_text(out->text, "thread %d has capabilities that the profiler lacks: it needs %s", tid, needs);
	else if (is_undumpable(host, task))
		set_text(out->text, "thread %d is of a process that may not be dumped: it needs %s", tid, needs);
	else
		return false;
	set_text(out->remedy, "run it as the user of that process, or as root");
	return true;
}

/* True if there is a seccomp filter, and it gave the answer, not the kernel. */
static bool is_filtered(const struct rights *r, const struct call *call, int code, struct cause *out)
{
	if (!r->filtered || call->answer() != code)
		return false;
	set_text(out->text, "a seccomp filter refuses %s", call->name);
	set_text(out->remedy, "allow %s in the seccomp profile of the container or service", call->name);
	return true;
}

/* Explain -ENOSYS: the kernel has the call, or it does not. */
static void explain_missing(const struct host *host, const struct call *call, struct cause *out)
{
	struct rights r;
	long long v;
	int rc;

	read_rights(host, &r);
	if (is_filtered(&r, call, -ENOSYS, out))
		return;
	rc = host_setting(host, call->setting, &v);
	if (!rc) {
		set_text(out->text, "something refuses %s, although this kernel has it", call->name);
		set_text(out->remedy, "allow %s in the sandbox that the profiler runs in", call->name);
	} else if (rc == -ENOENT && !host_setting(host, "kernel/cap_last_cap", &v)) {
		set_text(out->text, "this kernel was built without %s", call->config);
		set_text(out->remedy, "a kernel with %s", call->config);
	}
}

void cause_of_files(const struct host *host, int code, struct cause *out)
{
	struct rlimit rl;
	long long v;

	*out = (struct cause){ 0 };
	if (code == -EMFILE && !getrlimit(RLIMIT_NOFILE, &rl)) {
		set_text(out->text, "RLIMIT_NOFILE is %llu", (unsigned long long)rl.rlim_cur);
		set_text(out->remedy, "raise it: ulimit -n, or LimitNOFILE= of the service");
	}
	if (code == -ENFILE && !host_setting(host, "fs/file-max", &v)) {
		set_text(out->text, "fs.file-max is %lld", v);
		set_text(out->remedy, "raise it: sysctl fs.file-max");
	}
}

/* Lockdown refuses events that read kernel registers. This program requests none. */
static void explain_event_refused(const struct host *host, const struct cause_event *e, int code, struct cause *out)
{
	struct rights r;

	read_rights(host, &r);
	if (is_filtered(&r, &call_perf, code, out))
		return;
	if (is_paranoid(host, &r, e, out))
		return;
	is_foreign(host, &r, e->tid, out);
}

/* Explain an error in the event itself. */
static void explain_event(const struct host *host, const struct cause_event *e, int code, struct cause *out)
{
	long long v;

	if (code == -EINVAL && !host_setting(host, "kernel/perf_event_max_sample_rate", &v) &&
	    (int64_t)e->freq_hz > v) {
		set_text(out->text, "kernel.perf_event_max_sample_rate is %lld, below the rate of %llu", v,
			 (unsigned long long)e->freq_hz);
		set_text(out->remedy, "a lower -F, or sysctl kernel.perf_event_max_sample_rate");
	}
	if (code == -ENOENT && e->type->type == PERF_TYPE_HARDWARE && !host_has_pmu(host)) {
		set_text(out->text, "this machine has no PMU; try -e cpu-clock");
		set_text(out->remedy, "-e cpu-clock");
	}
}

void cause_of_event(const struct host *host, const struct cause_event *e, int code, struct cause *out)
{
	cause_of_files(host, code, out);
	explain_event(host, e, code, out);
	if (code == -EACCES || code == -EPERM)
		explain_event_refused(host, e, code, out);
	if (code == -ENOSYS)
		explain_missing(host, &call_perf, out);
}

/* ---- rings */

static unsigned long long kib(rlim_t bytes)
{
	return (unsigned long long)bytes / 1024;
}

/* All rings of a user share kernel.perf_event_mlock_kb, times the CPUs. RLIMIT_MEMLOCK applies to each process. */
void cause_of_ring(const struct host *host, int code, struct cause *out)
{
	struct rlimit rl;
	struct rights r;
	long long kb;

	cause_of_files(host, code, out);
	if (code != -EPERM || host_setting(host, "kernel/perf_event_mlock_kb", &kb) || getrlimit(RLIMIT_MEMLOCK, &rl) ||
	    rl.rlim_cur == RLIM_INFINITY)
		return;
	read_rights(host, &r);
	if (counts(&r, CAP_IPC_LOCK))
		return;
	set_text(out->text, "kernel.perf_event_mlock_kb is %lld and RLIMIT_MEMLOCK %llu KiB; more needs CAP_IPC_LOCK%s",
		 kb, kib(rl.rlim_cur), has_capability(&r, CAP_IPC_LOCK) ? NO_USERNS : "");
	set_text(out->remedy, "raise one of them: sysctl kernel.perf_event_mlock_kb, ulimit -l");
}

/* ---- BPF */

/* The missing capability; NULL: none. */
static const struct grant *bpf_lacks(const struct rights *r)
{
	if (counts(r, CAP_SYS_ADMIN))
		return NULL;
	if (!r->fine)
		return &grant_admin;
	if (!counts(r, CAP_BPF))
		return counts(r, CAP_PERFMON) ? &program_bpf : &program_both;
	return counts(r, CAP_PERFMON) ? NULL : &program_perfmon;
}

/* Even if all users may call bpf(2), stack maps and programs for perf events need more. */
static bool lacks_rights(const struct host *host, const struct rights *r, struct cause *out)
{
	const struct grant *lacks = bpf_lacks(r);
	const char *but = "";
	long long v;

	if (!lacks)
		return false;
	if (r->in_userns && (has_or_admin(r, CAP_BPF) || has_or_admin(r, CAP_PERFMON)))
		but = NO_USERNS;
	if (lacks != &program_perfmon && !host_setting(host, call_bpf.setting, &v) && v > 0)
		set_text(out->text, "kernel.unprivileged_bpf_disabled is %lld; it needs %s%s", v, lacks->caps, but);
	else if (r->known)
		set_text(out->text, "it needs %s%s", lacks->caps, but);
	else
		return false;
	say_grant(r, lacks, "", out);
	return true;
}

/*
 * The mode in brackets, as in "none integrity [confidentiality]". LOCKDOWN_BPF_READ comes after LOCKDOWN_INTEGRITY_MAX,
 * so [integrity], which Secure Boot often turns on, does not matter.
 */
static void explain_lockdown(const struct host *host, struct cause *out)
{
	char text[64];

	if (host_read(host->sys, "kernel/security/lockdown", text, sizeof(text)) <= 0 ||
	    !strstr(text, "[confidentiality]"))
		return;
	set_text(out->text, "the kernel is locked down, for confidentiality");
	set_text(out->remedy, "boot without lockdown=confidentiality");
}

/* Maps are created before programs are loaded. */
static void explain_bpf_refused(const struct host *host, struct cause *out)
{
	struct rlimit rl;
	struct rights r;

	read_rights(host, &r);
	if (lacks_rights(host, &r, out))
		return;
	if (is_filtered(&r, &call_bpf, -EPERM, out))
		return;
	if (getrlimit(RLIMIT_MEMLOCK, &rl) || rl.rlim_cur == RLIM_INFINITY || !kernel_locks_maps(host)) {
		explain_lockdown(host, out);
		return;
	}
	set_text(out->text, "RLIMIT_MEMLOCK is %llu KiB, and this kernel counts BPF maps", kib(rl.rlim_cur));
	set_text(out->remedy, "raise it: ulimit -l, or LimitMEMLOCK= of the service");
}

void cause_of_bpf(const struct host *host, int code, struct cause *out)
{
	cause_of_files(host, code, out);
	if (code == -EPERM)
		explain_bpf_refused(host, out);
	if (code == -EINVAL) /* since 5.13, lockdown removes the helpers that read kernel memory */
		explain_lockdown(host, out);
	if (code == -ENOSYS)
		explain_missing(host, &call_bpf, out);
}

bool cause_of_unreadable(const struct host *host, struct cause *out)
{
	*out = (struct cause){ 0 };
	explain_lockdown(host, out);
	return *out->text;
}

int cause_of_no_switches(const struct err *no_tracepoint, struct err *err)
{
	return err_set(err, -EOPNOTSUPP,
		       "perf events do not report threads that return to a CPU (before Linux 4.3)%s%s",
		       no_tracepoint->code ? "; " : "", no_tracepoint->code ? no_tracepoint->msg : "");
}

int cause_err(struct err *err, int code, const struct cause *cause, const char *fmt, ...)
{
	char what[sizeof(err->msg)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if (*cause->text)
		err_set(err, code, "%s: %s (%s)", what, strerror(-code), cause->text);
	else
		err_sys(err, code, "%s", what);
	if (err)
		err->cause = *cause;
	return code;
}
