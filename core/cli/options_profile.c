// SPDX-License-Identifier: Apache-2.0
/* The command line of profile. */
#include "core/base/clock.h"
#include "core/base/printable.h"
#include "core/cli/options.h"
#include "core/cli/options_table.h"
#include "core/sources/recording.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define FREQ_HZ         49  /* not 50, to be out of step with timers */
#define HASH_ENTRY_SIZE 100 /* bytes: key, value and the kernel's list node */

static int set_freq(struct parse *p, const struct opt *opt, const char *value)
{
	const char *limit = "kernel.perf_event_max_sample_rate";
	long long rate;

	(void)opt;
	if (host_setting(p->host, "kernel/perf_event_max_sample_rate", &rate) || rate <= 0) {
		limit = "the highest rate";
		rate = LLONG_MAX;
	}
	return opt_parse_number(p, value, rate, limit, &p->o->sampling.freq_hz);
}

static int set_period(struct parse *p, const struct opt *opt, const char *value)
{
	(void)opt;
	return opt_parse_number(p, value, INT64_MAX, "the highest count", &p->o->sampling.period);
}

static int set_hash_entries(struct parse *p, const struct opt *opt, const char *value)
{
	uint64_t n;
	int rc = opt_parse_number(p, value, UINT32_MAX, "the largest table", &n);

	(void)opt;
	if (!rc)
		rc = opt_check_memory(p, value, n * HASH_ENTRY_SIZE);
	if (!rc)
		p->o->tables.counts = (uint32_t)n;
	return rc;
}

/* List the kernel's events, and those of the CPU if this host has a PMU. */
static int refuse_event(const struct parse *p)
{
	bool has_pmu = host_has_pmu(p->host);
	char events[512] = "";
	const struct event_type *e;
	size_t used = 0;
	unsigned int i;

	for (i = 0; (e = event_at(i)) && used < sizeof(events); i++)
		if (event_is_software(e) || has_pmu)
			used += (size_t)snprintf(events + used, sizeof(events) - used, "%s%s", used ? ", " : "",
						 e->name);
	return opt_refuse(p, p->o->event_name, "unknown event (this host has %s)", events);
}

static int check_event(struct parse *p)
{
	const struct event_type *event = event_find(p->o->event_name);

	if (!event)
		return refuse_event(p);
	if (p->o->off_cpu.wanted && !event_is_clock(event))
		return err_set(p->err, -EINVAL,
			       "--off-cpu adds up time, and -e %s does not measure time (try -e cpu-clock)",
			       event->name);
	p->o->sampling.event = event;
	return 0;
}

/* Called only without --input. */
static int refuse_symfs(struct parse *p)
{
	return err_set(p->err, -EINVAL, "--symfs needs --input: it names the files of a recording");
}

static OPT_ROW(tid, 'L', "tid", "TID,...", "only these threads", .set = opt_set_tasks, .here = opt_check_tasks,
	       .group = OPT_WHAT);
static OPT_ROW(frequency, 'F', "frequency", "HZ", "samples per second and CPU (default " STR(FREQ_HZ) ")",
	       .set = set_freq, .live = true, .group = OPT_HOW, .brief = true);
static OPT_ROW(count, 'c', "count", "N", "one sample every N events (nanoseconds for a clock)", .set = set_period,
	       .live = true, .group = OPT_HOW);
static OPT_ROW(include_idle, 'I', "include-idle", NULL, "keep samples of the idle task", .set = opt_set_flag,
	       .at = OPT_AT(filter.idle), .group = OPT_WHAT);
static OPT_ROW(address, 'A', "address", NULL, "raw addresses before the names", .set = opt_set_flag,
	       .at = OPT_AT(report.addresses), .group = OPT_OUTPUT);
static OPT_ROW(hash_entries, 0, "hash-storage-size", "N",
	       "entries of the in-kernel count table (default " STR(HASH_ENTRIES) ")", .set = set_hash_entries,
	       .live = true, .group = OPT_HOW);
static OPT_ROW(event, 'e', "event", "NAME", "event to sample (default cpu-clock)", .set = opt_set_text,
	       .at = OPT_AT(event_name), .here = check_event, .group = OPT_WHAT, .brief = true);
static int add_input(struct parse *p, const struct opt *opt, const char *value)
{
	struct options *o = p->o;
	const char **inputs;
	int rc = opt_check_text(p, opt, value);

	if (rc)
		return rc;
	inputs = realloc(o->inputs, (o->nr_inputs + 1) * sizeof(*inputs));
	if (!inputs)
		return err_sys(p->err, -ENOMEM, "%s", p->spelled);
	o->inputs = inputs;
	inputs[o->nr_inputs++] = value;
	o->input = inputs[0];
	return 0;
}

static OPT_ROW(input, 0, "input", "FILE", "read a recording or report instead of sampling", .set = add_input,
	       .group = OPT_WHAT, .brief = true);
static OPT_ROW(symfs, 0, "symfs", "DIR", "with --input: look for the recorded files below DIR first",
	       .set = opt_set_folder, .at = OPT_AT(symfs), .here = refuse_symfs, .group = OPT_NAMES);
static OPT_ROW(off_cpu, 0, "off-cpu", NULL, "time on and off the CPU instead of samples", .set = opt_set_flag,
	       .at = OPT_AT(off_cpu.wanted), .live = true, .group = OPT_WHAT, .brief = true);
static OPT_ROW(verbose, 'v', "verbose", NULL, "progress and diagnosis to stderr", .set = opt_set_flag,
	       .at = OPT_AT(verbose), .group = OPT_DIAGNOSIS);

static const struct opt *const rows[] = {
	&opt_pid,         &tid,
	&opt_comm,        &opt_cgroup,
	&opt_mntns,       &opt_cgroup_map,
	&opt_mntns_map,   &opt_cpu,
	&opt_user_stacks, &opt_kernel_stacks,
	&include_idle,    &event,
	&off_cpu,         &input,
	&frequency,       &count,
	&opt_interval,    &opt_backend,
	&opt_unwind,      &opt_dump_size,
	&hash_entries,    &opt_stack_entries,
	&opt_inline,      &opt_source,
	&opt_debug_dir,   &symfs,
	&opt_kallsyms,    &opt_vmlinux,
	&opt_output,      &opt_format,
	&opt_folded,      &opt_delimited,
	&opt_annotations, &address,
	&opt_offsets,     &opt_limit,
	&opt_sort,        &opt_baseline,
	&opt_absolute,    &opt_fail_above,
	&opt_color,       &opt_list_backends,
	&opt_stats,       &verbose,
	&opt_print_bpf,   &opt_help,
	&opt_version,
};

_Static_assert(ARRAY_SIZE(rows) <= OPT_ROWS_MAX, "struct parse has a bit for each");

static const char exclusive[][2] = { { 'U', 'K' }, { 'p', 'L' }, { 'F', 'c' } };

static int finish(struct parse *p)
{
	struct options *o = p->o;

	if (!o->sampling.freq_hz && !o->sampling.period)
		o->sampling.freq_hz = FREQ_HZ;
	if (!o->off_cpu.wanted)
		return 0;
	/* Count all time of a thread, even if it does not come back before the end. */
	o->off_cpu.open = true;
	o->off_cpu.min_ns = 0;
	o->report.unit = NSEC_PER_USEC;
	return 0;
}

static void header_who(FILE *out, const struct options *o)
{
	const char *kind = o->filter.by_tid ? "TID" : "PID";
	size_t i;

	if (!o->nr_pids) {
		header_all(out, o);
	} else if (o->nr_pids == 1) {
		fprintf(out, "%s %d", kind, o->given_pids[0]);
	} else {
		fprintf(out, "%s [%d", kind, o->given_pids[0]);
		for (i = 1; i < o->nr_pids; i++)
			fprintf(out, ", %d", o->given_pids[i]);
		fputc(']', out);
	}
}

static void header_rate(FILE *out, const struct options *o, uint64_t freq_hz, uint64_t period)
{
	if (freq_hz)
		fprintf(out, "at %" PRIu64 " Hertz", freq_hz);
	else
		fprintf(out, "at every %" PRIu64 " events", period);
	fprintf(out, "%s of ", o->off_cpu.wanted ? " and tracing off-CPU time (us)" : "");
	header_who(out, o);
}

static void header_others(FILE *out, const struct options *o)
{
	if (o->nr_inputs > 1)
		fprintf(out, " and %zu more", o->nr_inputs - 1);
}

void options_header_read(FILE *out, const struct options *o, const char *name, const char *what)
{
	fputs("Stacks of ", out);
	header_who(out, o);
	header_stacks(out, o, false);
	fprintf(out, " in %s (%s)", name, what);
	header_others(out, o);
	fputc('.', out);
}

void options_header_recorded(FILE *out, const struct options *o, const struct recording *r)
{
	char name[NAME_SHOWN + 1];

	fprintf(out, "Samples of %s ", r->event);
	header_rate(out, o, r->freq_hz, r->period);
	header_stacks(out, o, false);
	fprintf(out, " in %s", name_shown(strcmp(o->input, "-") ? o->input : "standard input", name));
	if (r->others)
		fprintf(out, " (others: %s)", r->others);
	header_others(out, o);
	fputc('.', out);
}

static void header(FILE *out, const struct options *o, bool user_only)
{
	fputs("Sampling ", out);
	if (o->sampling.event != event_default())
		fprintf(out, "%s ", o->sampling.event->name);
	header_rate(out, o, o->sampling.freq_hz, o->sampling.period);
	header_stacks(out, o, user_only);
	header_end(out, o);
}

static const struct opt_example examples[] = {
	{ "-F 99 5", "every CPU, 99 samples per second" },
	{ "--format top -p 185 10", "the functions of one process, as a table" },
	{ "--unwind dwarf -p 185 10", "complete stacks without frame pointers" },
	{ "-o out.html -- make -j4", "a flame graph of a command" },
	{ "--off-cpu -p 185 10", "the time of a process, waiting included" },
	{ "-p 185 -U", "only process 185, only its user stacks, until Ctrl-C" },
	{ "-c 1000000 5", "one sample every millisecond of CPU time" },
	{ "-df -o out.folded 30", "one line per stack, for flamegraph.pl out.folded >out.svg" },
	{ "--input perf.data", "a recording of perf record" },
	{ "--list-backends", "what this host permits" },
};

const struct opt_table options_of_profile = {
	.rows = rows,
	.nr = ARRAY_SIZE(rows),
	.exclusive = exclusive,
	.nr_exclusive = ARRAY_SIZE(exclusive),
	.tid = 'L',
	.does = "Count running stacks by sampling, for duration seconds or until Ctrl-C.\n",
	.more = "With a command, run it and count only its stacks and those of its descendants, until it ends.\n",
	.groups = { "What to sample", "How to sample", "Where names come from", "The report", "Diagnosis" },
	.examples = examples,
	.nr_examples = ARRAY_SIZE(examples),
	.finish = finish,
	.header = header,
};
