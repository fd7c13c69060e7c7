// SPDX-License-Identifier: Apache-2.0
#include "tests/vm/checks.h"
#include "tests/vm/host.h"
#include "tests/vm/report.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

/* ---- which backend */

/* True if a row of --list-backends -f begins with @way and @usable. */
static bool listed(const struct run *r, const char *way, const char *usable)
{
	char row[64];

	snprintf(row, sizeof(row), "%s\t%s\t", way, usable);
	return !strncmp(r->out, row, strlen(row)) ||
	       (snprintf(row, sizeof(row), "\n%s\t%s\t", way, usable), strstr(r->out, row));
}

static void check_list(bool bpf)
{
	struct run r;
	bool ok;

	run_profile(&r, NULL, "--list-backends -f");
	ok = !r.status && listed(&r, "bpf", bpf ? "yes" : "no") && listed(&r, "perfring", "yes") &&
	     listed(&r, "perfring-tasks", "yes");
	tap_ok(ok, "--list-backends: bpf %s", bpf ? "yes" : "no");
	tap_text("--list-backends -f", r.out);
	run_free(&r);
}

/* @backend: forced, or auto; @taken: the expected one. */
static void check_taken(const char *backend, const char *taken, const struct confined *as, const char *why)
{
	char name[64];
	struct run r;

	snprintf(name, sizeof(name), "--backend=%s%s", backend, as ? " where bpf(2) is refused" : "");
	run_profile(&r, as, "--backend=%s -f --stats -F 99 0.3", backend);
	check_ran(&r, name);
	tap_ok(!strcmp(report_word(&r, "backend"), taken), "%s takes %s", name, taken);
	tap_ok(strstr(report_word(&r, "backend_reason"), why), "%s: why: %s", name, report_word(&r, "backend_reason"));
	run_free(&r);
}

static void check_refused(const char *backend, const struct confined *as, const char *parts)
{
	char name[64];
	struct run r;

	snprintf(name, sizeof(name), "--backend=%s%s", backend, as ? " where bpf(2) is refused" : "");
	run_profile(&r, as, "--backend=%s -f 0.3", backend);
	check_failed(&r, name, parts);
	run_free(&r);
}

/* RHEL 7: BPF is not used unless the user names it. */
static void check_tainting(void)
{
	int before = setting_get("tainted");
	struct run r;

	check_list(false);
	check_taken("auto", "perfring", NULL, "taint");
	tap_ok(setting_get("tainted") == before, "nothing has tainted the kernel");
	run_profile(&r, NULL, "--backend=bpf -f --stats -F 99 0.3");
	check_ran(&r, "--backend=bpf");
	tap_ok(strstr(r.err, "taint"), "--backend=bpf warns");
	run_free(&r);
}

void check_choice(void)
{
	bool bpf = host_has_bpf();

	tap_line("kernel %s: BPF programs for perf events %s", host_release(),
		 host_bpf_taints() ? "would taint"
		 : bpf             ? "load"
				   : "do not load");
	if (host_bpf_taints()) {
		check_tainting();
		return;
	}
	check_list(bpf);
	check_taken("auto", bpf ? "bpf" : "perfring", NULL, bpf ? "the first choice works" : "bpf cannot be used: ");
	check_taken("perfring", "perfring", NULL, "asked for");
	if (bpf) {
		check_taken("bpf", "bpf", NULL, "asked for");
		return;
	}
	check_refused("bpf", NULL, "profile: error: cannot ");
	check_refused("both", NULL, "profile: error: cannot ");
}

/* ---- another user */

static void check_nobody_refused(int paranoid, pid_t pid)
{
	static const struct confined nobody = { .nobody = true };
	char name[64], cause[64];
	struct run r;

	snprintf(name, sizeof(name), "nobody, paranoid %d", paranoid);
	snprintf(cause, sizeof(cause), "profile: error: |kernel.perf_event_paranoid is %d", paranoid);
	run_profile(&r, &nobody, "-f --stats -F 199 -p %d 0.5", pid);
	check_failed(&r, name, cause);
	run_free(&r);
}

/* A user samples its own program: with kernel stacks, or without them but with a warning. */
static void check_nobody_samples(int paranoid, bool kernel, pid_t pid)
{
	static const struct confined nobody = { .nobody = true };
	char name[64], cause[64];
	struct run r;
	bool told;

	snprintf(name, sizeof(name), "nobody, paranoid %d", paranoid);
	run_profile(&r, &nobody, "-f -d --stats -F 199 -p %d 1", pid);
	if (check_ran(&r, name)) {
		tap_ok(report_samples(r.out, "tree;_start;begin;turn;computing;", ""), "%s: own user stacks", name);
		tap_ok(!report_samples(r.out, "tree;", ";-;") == !kernel, "%s: %s", name,
		       kernel ? "the kernel's stacks, too" : "no stack of the kernel");
		snprintf(cause, sizeof(cause), "kernel.perf_event_paranoid is %d", paranoid);
		told = strstr(r.err, "only user code is sampled") && strstr(r.err, cause);
		if (!tap_ok(told == !kernel, "%s: 'only user code' is %sreported", name, kernel ? "not " : ""))
			tap_text("stderr", r.err);
		tap_ok(!strcmp(report_word(&r, "backend"), "perfring"), "%s: perfring", name);
	}
	run_free(&r);
}

static void check_nobody(void)
{
	int before = setting_get("perf_event_paranoid");
	char args[32];
	pid_t pid;

	snprintf(args, sizeof(args), "120 %u", last_cpu());
	pid = load_start("tree", "tree", args, true);
	if (host_perf_of_own(3)) {
		tap_skip("nobody, paranoid 3", "this kernel knows no level beyond 2");
	} else if (tap_ok(setting_put("perf_event_paranoid", 3), "paranoid 3 is set")) {
		check_nobody_refused(3, pid);
	}
	if (!host_perf_of_own(2))
		tap_skip("nobody, paranoid 2", "this kernel refuses own tasks, too");
	else if (tap_ok(setting_put("perf_event_paranoid", 2), "paranoid 2 is set"))
		check_nobody_samples(2, false, pid);
	if (tap_ok(setting_put("perf_event_paranoid", -1), "paranoid -1 is set"))
		check_nobody_samples(-1, true, pid);
	setting_put("perf_event_paranoid", before);
	load_stop(pid);
}

/* ---- missing system calls */

static void check_seccomp(void)
{
	static const struct confined no_bpf = { .denied = DENY_BPF }, no_perf = { .denied = DENY_PERF };
	struct run r;

	if (host_bpf_taints()) {
		tap_skip("bpf(2) is refused", "it is not called here");
	} else {
		check_taken("auto", "perfring", &no_bpf, "bpf cannot be used: ");
		check_refused("bpf", &no_bpf, "profile: error: |not implemented");
	}
	run_profile(&r, &no_perf, "-f 0.3");
	check_failed(&r, "perf_event_open(2) is refused", "profile: error: |not implemented");
	run_free(&r);
}

void check_denied(void)
{
	check_nobody();
	check_seccomp();
}

/* ---- lockdown */

/*
 * The highest level of lockdown forbids reading the kernel's memory: BPF programs may not do it, and perf events with
 * kernel registers are refused. Stacks and counts are still permitted.
 */
void check_lockdown(void)
{
	static const char path[] = "/sys/kernel/security/lockdown";
	bool bpf = host_has_bpf();
	char args[32];
	struct run r;
	pid_t pid;

	mount("securityfs", "/sys/kernel/security", "securityfs", 0, NULL);
	if (access(path, F_OK) || !host_write(path, "confidentiality")) {
		tap_skip("lockdown", "this kernel has none");
		return;
	}
	check_list(bpf);
	check_taken("auto", bpf ? "bpf" : "perfring", NULL, "");
	snprintf(args, sizeof(args), "120 %u", last_cpu());
	pid = load_start("tree", "tree", args, false);
	run_profile(&r, NULL, "--backend=%s -f -d --stats -F 199 --unwind=dwarf 1", bpf ? "both" : "perfring");
	check_ran(&r, "lockdown=confidentiality");
	tap_ok(report_samples(r.out, "tree;_start;begin;turn;computing;", "") && report_samples(r.out, "tree;", ";-;"),
	       "lockdown=confidentiality: both kinds of stacks");
	run_free(&r);
	load_stop(pid);
}
