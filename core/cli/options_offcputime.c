// SPDX-License-Identifier: Apache-2.0
/* The command line of offcputime. */
#include "core/base/clock.h"
#include "core/base/number.h"
#include "core/cli/options.h"
#include "core/cli/options_table.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static int set_micros(struct parse *p, const struct opt *opt, const char *value)
{
	uint64_t us;
	int rc = opt_parse_number(p, value, INT64_MAX / NSEC_PER_USEC, "the longest time", &us);

	if (!rc)
		*(uint64_t *)opt_member(p, opt) = us * NSEC_PER_USEC;
	return rc;
}

/* A state as in prev_state of sched:sched_switch: decimal, or hexadecimal as the kernel prints it. */
static int set_state(struct parse *p, const struct opt *opt, const char *value)
{
	bool hex = !strncmp(value, "0x", 2);
	const char *s = hex ? value + 2 : value;
	uint64_t mask;
	int rc = parse_digits(&s, hex ? 16 : 10, UINT32_MAX, &mask);

	(void)opt;
	if (rc == -EINVAL || *s)
		return opt_refuse(p, value, "not a mask of task states (a number, or 0x and digits from 0 to f)");
	if (rc)
		return opt_refuse(p, value, "above the largest mask (0x%" PRIx32 ")", UINT32_MAX);
	p->o->state_mask = (int64_t)mask;
	return 0;
}

static OPT_ROW(tid, 't', "tid", "TID,...", "only these threads", .set = opt_set_tasks, .here = opt_check_tasks,
	       .group = OPT_WHAT);
static OPT_ROW(user_threads, 'u', "user-threads-only", NULL, "only threads of user programs", .set = opt_set_flag,
	       .at = OPT_AT(user_threads), .group = OPT_WHAT, .brief = true);
static OPT_ROW(kernel_threads, 'k', "kernel-threads-only", NULL, "only kernel threads", .set = opt_set_flag,
	       .at = OPT_AT(kernel_threads), .group = OPT_WHAT);
static OPT_ROW(address, 'v', "address", NULL, "raw addresses before the names", .set = opt_set_flag,
	       .at = OPT_AT(report.addresses), .group = OPT_OUTPUT);
static OPT_ROW(offset, 0, "offset", NULL, "the same as --symbol-offset: its name in bcc", .set = opt_set_flag,
	       .at = OPT_AT(report.offsets), .group = OPT_OUTPUT);
static OPT_ROW(min_time, 'm', "min-block-time", "US", "shortest interval in microseconds (default 1)",
	       .set = set_micros, .at = OPT_AT(off_cpu.min_ns), .group = OPT_WHAT, .brief = true);
static OPT_ROW(max_time, 'M', "max-block-time", "US", "longest interval in microseconds (default: no limit)",
	       .set = set_micros, .at = OPT_AT(off_cpu.max_ns), .group = OPT_WHAT);
static OPT_ROW(state, 0, "state", "MASK", "only threads in these states (0: preempted)", .set = set_state,
	       .group = OPT_WHAT, .brief = true);
static OPT_ROW(open_intervals, 0, "open-intervals", NULL, "also threads still off the CPU at the end",
	       .set = opt_set_flag, .at = OPT_AT(off_cpu.open), .group = OPT_WHAT, .brief = true);
static OPT_ROW(verbose, 0, "verbose", NULL, "progress and diagnosis to stderr", .set = opt_set_flag,
	       .at = OPT_AT(verbose), .group = OPT_DIAGNOSIS);

static const struct opt *const rows[] = {
	&opt_pid,           &tid,           &user_threads,    &kernel_threads,
	&opt_comm,          &opt_cgroup,    &opt_mntns,       &opt_cgroup_map,
	&opt_mntns_map,     &opt_cpu,       &opt_user_stacks, &opt_kernel_stacks,
	&min_time,          &max_time,      &state,           &open_intervals,
	&opt_interval,      &opt_backend,   &opt_unwind,      &opt_dump_size,
	&opt_stack_entries, &opt_inline,    &opt_source,      &opt_debug_dir,
	&opt_kallsyms,      &opt_vmlinux,   &opt_output,      &opt_format,
	&opt_folded,        &opt_delimited, &opt_annotations, &address,
	&opt_offsets,       &offset,        &opt_limit,       &opt_sort,
	&opt_baseline,      &opt_absolute,  &opt_fail_above,  &opt_color,
	&opt_list_backends, &opt_stats,     &verbose,         &opt_print_bpf,
	&opt_help,          &opt_version,
};

_Static_assert(ARRAY_SIZE(rows) <= OPT_ROWS_MAX, "struct parse has a bit for each");

static const char exclusive[][2] = {
	{ 'U', 'K' }, { 'p', 't' }, { 'p', 'u' }, { 'p', 'k' }, { 't', 'u' }, { 't', 'k' }, { 'u', 'k' },
};

static int finish(struct parse *p)
{
	struct options *o = p->o;

	if (o->kernel_threads && o->filter.no_kernel)
		return err_set(p->err, -EINVAL, "-k and -U exclude each other: kernel threads have no user stacks");
	if (o->off_cpu.min_ns > o->off_cpu.max_ns)
		return err_set(p->err, -EINVAL, "-m %" PRIu64 " is above -M %" PRIu64,
			       (uint64_t)(o->off_cpu.min_ns / NSEC_PER_USEC),
			       (uint64_t)(o->off_cpu.max_ns / NSEC_PER_USEC));
	/* Up to N us and 999 ns: that is N in whole microseconds, as printed. */
	if (o->off_cpu.max_ns != UINT64_MAX)
		o->off_cpu.max_ns += NSEC_PER_USEC - 1;
	o->report.unit = NSEC_PER_USEC;
	o->report.from_schedule = true;
	return 0;
}

static void header_who(FILE *out, const struct options *o)
{
	size_t i;

	if (o->user_threads)
		fputs("user threads", out);
	else if (o->kernel_threads)
		fputs("kernel threads", out);
	else if (!o->nr_pids)
		header_all(out, o);
	for (i = 0; i < o->nr_pids; i++)
		fprintf(out, "%s%d", i ? "," : o->filter.by_tid ? "TIDs " : "PIDs ", o->given_pids[i]);
}

/*
 * Without permission for the kernel, there are no stacks of switches, which happen in the kernel: the rows have [Missed
 * User Stack].
 */
static void header(FILE *out, const struct options *o, bool user_only)
{
	fputs("Tracing off-CPU time (us) of ", out);
	header_who(out, o);
	if (user_only)
		fputs(" without stacks", out);
	else
		header_stacks(out, o, false);
	header_end(out, o);
}

static const struct opt_example examples[] = {
	{ "5", "all threads, for 5 seconds" },
	{ "-u -m 1000 10", "user programs, waits of 1 ms or longer" },
	{ "--unwind dwarf -p 185 10", "complete stacks without frame pointers" },
	{ "-o out.html -- make", "a flame graph of a command" },
	{ "--state 0 10", "only threads that were preempted" },
	{ "-p 185", "only process 185, until Ctrl-C" },
	{ "--state 2 5", "only uninterruptible sleep: disks, locks in the kernel" },
	{ "-df -o out.folded 30", "one line per stack, for flamegraph.pl --countname=us" },
	{ "--list-backends", "what this host permits" },
};

const struct opt_table options_of_offcputime = {
	.rows = rows,
	.nr = ARRAY_SIZE(rows),
	.exclusive = exclusive,
	.nr_exclusive = ARRAY_SIZE(exclusive),
	.tid = 't',
	.does = "Sum the time off the CPU by stack, for duration seconds or until Ctrl-C.\n",
	.more = "With a command, run it and count only its threads and those of its descendants, until it ends.\n",
	.groups = { "What to trace", "How to trace", "Where names come from", "The report", "Diagnosis" },
	.examples = examples,
	.nr_examples = ARRAY_SIZE(examples),
	.finish = finish,
	.header = header,
};
