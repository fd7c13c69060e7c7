// SPDX-License-Identifier: Apache-2.0
#include "tests/vm/checks.h"
#include "tests/vm/host.h"
#include "tests/vm/naps.h"
#include "tests/vm/report.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define HZ        199
#define WORKED_MS 1000 /* ms of CPU time, so that there are samples */

static unsigned int added; /* the CPU that comes later, 0: not yet */
static bool none_is_added; /* the machine has no further CPU */

static void cpu_path(char *path, size_t size, unsigned int cpu, const char *file)
{
	snprintf(path, size, "/sys/devices/system/cpu/cpu%u%s%s", cpu, *file ? "/" : "", file);
}

static bool turn(unsigned int cpu, bool on)
{
	char path[64];

	cpu_path(path, sizeof(path), cpu, "online");
	return host_write(path, on ? "1" : "0");
}

static bool cpu_is_there(void *arg)
{
	char path[64];

	cpu_path(path, sizeof(path), *(unsigned int *)arg, "online");
	return !access(path, F_OK);
}

static bool has_worked(void *arg)
{
	return load_cpu_ms(*(pid_t *)arg) >= WORKED_MS;
}

/* A task of this name keeps the CPU busy for some time. */
static void work_on(unsigned int cpu, const char *name)
{
	char args[32];
	pid_t pid;

	snprintf(args, sizeof(args), "60 %u", cpu);
	pid = load_start("tree", name, args, false);
	await(has_worked, &pid, 30);
	load_stop(pid);
}

/* Take the CPU offline for a second. A second after it is back, it is sampled again: profile promises that. */
static void off_and_on(unsigned int cpu)
{
	tap_ok(turn(cpu, false), "CPU %u goes", cpu);
	nap_ms(1000);
	tap_ok(turn(cpu, true), "CPU %u comes", cpu);
	nap_ms(1500);
	work_on(cpu, "again");
}

/* The first time, the machine gets the CPU; later calls find the CPU offline, and turn it on. */
static bool add_cpu(unsigned int cpu)
{
	if (none_is_added)
		return false;
	if (!added) {
		tap_line("@@ADD-CPU %u", cpu);
		none_is_added = !tap_ok(await(cpu_is_there, &cpu, 60), "CPU %u is added", cpu);
		if (none_is_added)
			return false;
		added = cpu;
	}
	return tap_ok(turn(cpu, true), "CPU %u is turned on", cpu);
}

/*
 * Check that the tasks @comm have at least a quarter of the samples that are expected: those due for @times pieces of
 * work (work_on()), times the share of all due samples that were taken. Emulated CPUs that wait for a real one miss
 * most samples, and not all of these CPUs miss the same share.
 */
static void check_sampled(const struct run *r, const char *comm, unsigned int times, const char *name)
{
	uint64_t due = report_book(r, "samples_due"), samples = report_samples(r->out, comm, "");
	uint64_t least = times * WORKED_MS * HZ / 1000 * report_book(r, "samples_taken") / (due ? due : 1) / 4;

	if (!tap_ok(samples && samples >= least, "%s: %" PRIu64 " samples of '%s', at least %" PRIu64, name, samples,
		    comm, least))
		tap_text("stderr", r->err);
}

static void sample(const char *backend, unsigned int nr_cpus)
{
	pid_t busy[64];
	unsigned int cpu;
	struct run r;
	char name[64], args[32];

	snprintf(name, sizeof(name), "hotplug, %s", backend);
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		snprintf(args, sizeof(args), "300 %u", cpu);
		busy[cpu] = load_start("tree", "busy", args, false);
	}
	run_start(&r, NULL, "--backend=%s -v -f -d --stats -F %d", backend, HZ);
	tap_ok(run_await_sampling(&r), "%s: it samples", name);
	for (cpu = 1; cpu < nr_cpus; cpu++)
		off_and_on(cpu);
	if (add_cpu(nr_cpus)) {
		nap_ms(1500);
		work_on(nr_cpus, "added");
	}
	kill(r.pid, SIGINT);
	run_end(&r);
	check_ran(&r, name);
	if (!strcmp(backend, "both"))
		tap_ok(!report_book(&r, "differences_unexplained"), "%s: no difference", name);
	tap_ok(report_book(&r, "cpus") == nr_cpus + (added ? 1 : 0), "%s: %" PRIu64 " CPUs", name,
	       report_book(&r, "cpus"));
	tap_ok(report_book(&r, "cpus_offline_ns") >= (nr_cpus - 1) * 1000000000ULL,
	       "%s: CPUs were offline for %" PRIu64 " ms", name, report_book(&r, "cpus_offline_ns") / 1000000);
	check_sampled(&r, "again;", nr_cpus - 1, name);
	if (added)
		check_sampled(&r, "added;", 1, name);
	tap_line("%s: %" PRIu64 " samples of %" PRIu64 " due", name, report_book(&r, "samples_taken"),
		 report_book(&r, "samples_due"));
	run_free(&r);
	for (cpu = 0; cpu < nr_cpus; cpu++)
		load_stop(busy[cpu]);
	if (added)
		turn(added, false);
}

/*
 * Time off the CPU of a thread whose CPU stays online. Switches on a CPU that comes online are not seen until it has a
 * ring: intervals of threads that leave the CPU before that may be lost, and all others are in the statistics.
 */
static void trace(const char *backend, unsigned int nr_cpus)
{
	pid_t naps = naps_start(300, 0, false);
	unsigned int cpu;
	struct run r;
	char name[64];

	snprintf(name, sizeof(name), "hotplug, off CPU, %s", backend);
	run_start_offcputime(&r, NULL, "--backend=%s --verbose -f -d --stats", backend);
	tap_ok(run_await_sampling(&r), "%s: it traces", name);
	for (cpu = 1; cpu < nr_cpus; cpu++) {
		tap_ok(turn(cpu, false), "CPU %u goes", cpu);
		nap_ms(700);
		tap_ok(turn(cpu, true), "CPU %u comes", cpu);
		nap_ms(700);
	}
	kill(r.pid, SIGINT);
	run_end(&r);
	tap_ok(!r.status && !report_book(&r, "intervals_unaccounted") &&
		       report_book(&r, "intervals_begun") ==
			       report_book(&r, "intervals_counted") + report_book(&r, "intervals_filtered") +
				       report_book(&r, "intervals_open") + report_book(&r, "intervals_lost"),
	       "%s: exit status 0, the stats balance", name);
	if (!check_naps(&r, name, "naps;_start;begin;turn;nap;", 0.8))
		tap_text("stderr", r.err);
	run_free(&r);
	naps_stop(naps);
}

void check_hotplug(void)
{
	unsigned int nr_cpus = last_cpu() + 1;

	if (host_has_bpf()) {
		sample("both", nr_cpus);
		sample("bpf", nr_cpus);
	}
	sample("perfring", nr_cpus);
	if (host_has_bpf())
		trace("bpf", nr_cpus);
	trace("perfring", nr_cpus);
}
