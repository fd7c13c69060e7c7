// SPDX-License-Identifier: Apache-2.0
#include "tests/vm/checks.h"
#include "tests/vm/host.h"
#include "tests/vm/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STARTS        5
#define MAX_MEMORY    25000 /* KB */
#define STORM_SECONDS 4

/*
 * One run under load: the statistics, and with both backends, no difference. Two emulated CPUs without spare time
 * cannot copy stacks hundreds of times a second: then the rings lose some samples, which is reported and not checked
 * here.
 */
static void check_under_load(const char *backend, const char *unwind)
{
	char name[64];
	struct run r;

	snprintf(name, sizeof(name), "load, %s, %s", backend, unwind);
	run_profile(&r, NULL, "--backend=%s --unwind=%s -f -d --stats -F %d %d", backend, unwind,
		    strcmp(unwind, "dwarf") ? 499 : 49, STORM_SECONDS);
	check_ran(&r, name);
	tap_ok(report_samples(r.out, "", "") ==
		       report_book(&r, "samples_counted_in_kernel") + report_book(&r, "samples_counted_from_ring"),
	       "%s: what was counted is in the report", name);
	if (!strcmp(backend, "both"))
		tap_ok(!report_book(&r, "differences_unexplained") && report_book(&r, "samples_compared"),
		       "%s: %" PRIu64 " samples compared, %" PRIu64 " differences explained", name,
		       report_book(&r, "samples_compared"), report_book(&r, "differences_explained"));
	tap_ok(report_samples(r.out, "storm", ""), "%s: it is sampled", name);
	tap_ok(r.maxrss_kb < MAX_MEMORY, "%s: %ld KB of memory", name, r.maxrss_kb);
	run_free(&r);
}

void check_load(bool more)
{
	bool bpf = host_has_bpf();
	pid_t storm = load_start("storm", "storm", "300", false);
	pid_t renamer = load_start("renamer", "renamer", "300", false);

	check_under_load(bpf ? "both" : "perfring", "fp");
	check_under_load(bpf ? "both" : "perfring", "dwarf");
	if (more && bpf) {
		check_under_load("bpf", "fp");
		check_under_load("perfring", "fp");
	}
	load_stop(renamer);
	load_stop(storm);
}

/* ---- start-up and memory */

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void check_cost(const char *backend)
{
	double ms[STARTS];
	long memory = 0;
	struct run r;
	int i;

	for (i = 0; i < STARTS; i++) {
		run_profile(&r, NULL, "--backend=%s -f --stats 0.2", backend);
		ms[i] = r.status ? 0 : (double)(report_book(&r, "started_ns") - r.forked_ns) / 1e6;
		memory = r.maxrss_kb > memory ? r.maxrss_kb : memory;
		if (!tap_ok(!r.status, "start %d, %s", i + 1, backend))
			tap_text("stderr", r.err);
		run_free(&r);
	}
	qsort(ms, STARTS, sizeof(ms[0]), compare_doubles);
	tap_line("figure: %s %s start %.0f ms memory %ld KB", host_release(), backend, ms[STARTS / 2], memory);
	tap_ok(memory && memory < MAX_MEMORY, "%s: %ld KB of memory", backend, memory);
}

void check_costs(void)
{
	if (host_has_bpf())
		check_cost("bpf");
	check_cost("perfring");
}

/* ---- targets */

void check_targets(void)
{
	static const char stack[] = "tree;_start;begin;turn;";
	char args[32];
	struct run r;
	pid_t pid;

	snprintf(args, sizeof(args), "1 %u", last_cpu());
	run_profile(&r, NULL, "-f -d --stats -F 199 -o /tmp/report -- ./tree %s", args);
	tap_ok(r.status == 128 + 14, "a command: its exit status is %d", r.status); /* from its alarm */
	tap_ok(!strcmp(r.out, "ready\n"), "a command: its output");
	run_free(&r);
	run_profile(&r, NULL, "-f -d -F 199 -- ./tree %s", args);
	tap_ok(report_samples(r.err, stack, ""), "a command: %" PRIu64 " samples of its stacks",
	       report_samples(r.err, stack, ""));
	tap_ok(report_samples(r.err, "", "") ==
		       report_samples(r.err, "tree;", "") + report_samples(r.err, "profile;", ""),
	       "a command: nothing else is sampled");
	run_free(&r);

	snprintf(args, sizeof(args), "60 %u", last_cpu());
	pid = load_start("tree", "tree", args, false);
	run_profile(&r, NULL, "-f -d --stats -F 199 -p %d 1", pid);
	check_ran(&r, "one process");
	tap_ok(report_samples(r.out, stack, "") && report_samples(r.out, "", "") == report_samples(r.out, "tree;", ""),
	       "one process: its stacks and no others");
	run_free(&r);
	run_profile(&r, NULL, "-d --stats -F 199 1");
	check_ran(&r, "all");
	tap_ok(!strncmp(r.out, "Sampling at 199 Hertz of all threads by user + kernel stack for 1 secs.\n", 72),
	       "all: header");
	tap_ok(strstr(r.out, "    computing\n    turn\n    begin\n    _start\n    -                tree ("),
	       "all: stacks");
	tap_ok(strstr(r.out, "    --\n    few_zeros\n") || strstr(r.out, "    --\n    many_zeros\n"),
	       "all: stacks of the kernel");
	run_free(&r);
	load_stop(pid);
}
