// SPDX-License-Identifier: Apache-2.0
#include "core/cli/account.h"

#include "core/base/saturate.h"
#include "core/cli/messages.h"
#include "core/events/event_rings.h"
#include "core/host/priority.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

void account_take(const struct session *s, struct account *a)
{
	const struct compare *c = s->sink.sets[s->sink.ended].compare;

	*a = (struct account){
		.started_ns = s->sink.started_ns,
		.sampled_ns = s->sink.stopped_ns - s->sink.started_ns,
		.rows = rows_nr(session_samples(s)) + rows_nr(session_intervals(s)),
		.stacks = rows_nr_stacks(session_samples(s)) + rows_nr_stacks(session_intervals(s)),
		.rings = events_ring_sizes(&s->events),
	};
	a->unaccounted = session_stats(s, &a->stats);
	a->due_known = session_shortfall(s, &a->stats, &a->shortfall);
	a->due = a->due_known ? shortfall_due(a->shortfall.period_ns, a->shortfall.due_ns) : 0;
	if (c)
		compare_counts(c, &a->compared);
}

void account_compared(struct account *a, const struct compared_intervals *c)
{
	a->rows_compared = c->rows + c->only_program + c->only_ring;
	a->rows_different = c->other_times + c->other_time + c->only_program + c->only_ring;
	a->apart_ns = c->apart_ns;
	a->unsampled = c->unsampled;
	a->surplus = c->surplus;
	a->missed = sub_or_0(c->missed, c->unsampled);
}

/*
 * Intervals that the program has counted, and the reader has not: those that it gave up (intervals_gone). It missed the
 * beginning or the end of others only if samples were lost in this report, or if the event of a CPU was opened again.
 */
static uint64_t unseen(const struct stats *b)
{
	uint64_t nr = b->intervals_gone;

	if (b->lost_records > b->lost_side_band || b->reopened)
		nr += sub_or_0(b->intervals_begun, b->intervals_seen) + b->intervals_unended;
	return nr;
}

/*
 * Intervals whose beginning only the program has seen, on CPUs that came online. Each may follow one that it lost, and
 * that the reader takes to go on. When a ring was full, the reader gives up all intervals, so it has none too long.
 */
static uint64_t unbegun(const struct stats *b)
{
	return b->reopened ? sub_or_0(b->intervals_begun, b->intervals_seen) : 0;
}

struct intervals_lost account_lost(const struct account *total, const struct account *a)
{
	uint64_t unsampled = total->stats.switches_unsampled + a->stats.switches_unsampled;
	uint64_t by_program = total->stats.intervals_lost + a->stats.intervals_lost;
	uint64_t not_begun = total->unbegun + unbegun(&a->stats);

	/* The reader may give up an interval in one report, and the program count it in a later one: use the sums. */
	return (struct intervals_lost){
		.unseen = sub_or_0(total->unseen + unseen(&a->stats), total->missed),
		.unsampled = sub_or_0(unsampled, total->unsampled),
		.surplus = sub_or_0(by_program < not_begun ? by_program : not_begun, total->surplus),
	};
}

void account_add(struct account *to, const struct account *more)
{
	stats_add(&to->stats, &more->stats);
	to->unaccounted.samples += more->unaccounted.samples;
	to->unaccounted.intervals += more->unaccounted.intervals;
	if (!to->started_ns)
		to->started_ns = more->started_ns;
	to->sampled_ns += more->sampled_ns;
	shortfall_add(&to->shortfall, &more->shortfall);
	to->due_known |= more->due_known;
	to->due = shortfall_due(to->shortfall.period_ns, to->shortfall.due_ns);
	to->rows += more->rows;
	to->unsure += more->unsure;
	to->stacks += more->stacks;
	to->rings = more->rings;
	compare_counts_add(&to->compared, &more->compared);
	to->rows_compared += more->rows_compared;
	to->rows_different += more->rows_different;
	to->missed += more->missed;
	to->unseen += unseen(&more->stats);
	to->unbegun += unbegun(&more->stats);
	to->unsampled += more->unsampled;
	to->surplus += more->surplus;
	if (more->apart_ns > to->apart_ns)
		to->apart_ns = more->apart_ns;
}

/* Known losses: by the kernel's count, which is exact since 6.0, and samples that were damaged or came too late. */
static uint64_t told_lost(const struct stats *b)
{
	return b->lost_here + b->lost_notes + b->bad_samples + b->late_samples;
}

uint64_t account_not_compared(const struct account *a)
{
	return sub_or_0(a->stats.taken, a->compared.compared + a->compared.unpaired);
}

uint64_t account_unread(const struct session *s, const struct account *total)
{
	if (!session_compares_samples(s) || !(events_attr(&s->events)->read_format & PERF_FORMAT_LOST))
		return 0;
	return sub_or_0(account_not_compared(total), told_lost(&total->stats));
}

void account_settle(const struct session *s, struct account *total)
{
	struct stats *b = &total->stats;
	uint64_t told = told_lost(b);

	if (!session_counts_in_kernel(s) || !(events_attr(&s->events)->read_format & PERF_FORMAT_LOST) ||
	    b->lost <= told)
		return;
	total->unaccounted.samples += (int64_t)(b->lost - told);
	b->lost = told;
}

#define DIFFERENCE_LINE(member, name) { name, c->member, no_pairs },

void account_print(FILE *out, const struct session *s, const char *interval, const struct account *a)
{
	const struct stats *b = &a->stats;
	const struct compare_counts *c = &a->compared;
	bool no_samples = !s->request.sampling.event, no_intervals = !s->request.off_cpu.wanted;
	bool no_pairs = !session_compares_samples(s), no_interval_pairs = !session_compares_intervals(s);
	bool no_libunwind = !unwind_needs_libunwind(s->request.unwind);
	bool one_unwinder = s->request.unwind != UNWIND_BY_BOTH;
	const struct {
		const char *name;
		uint64_t value;
		bool hidden;
	} lines[] = {
		{ "samples_due", a->due, !a->due_known },
		{ "samples_of_other_events", s->recording.other_samples, session_is_live(s) },
		{ "samples_taken", b->taken, no_samples },
		{ "samples_counted_in_kernel", b->counted_kernel, no_samples },
		{ "samples_counted_from_ring", b->counted_ring, no_samples },
		{ "samples_filtered", b->filtered, no_samples },
		{ "samples_of_idle", b->idle, no_samples },
		{ "samples_lost", b->lost, no_samples },
		{ "intervals_begun", b->intervals_begun, no_intervals },
		{ "intervals_counted", b->intervals_charged, no_intervals },
		{ "intervals_filtered", b->intervals_filtered, no_intervals },
		{ "intervals_open", b->intervals_open, no_intervals },
		{ "intervals_lost", b->intervals_lost, no_intervals },
		{ "intervals_without_room", b->intervals_no_slot, no_intervals },
		{ "intervals_spilled", b->intervals_passed, no_intervals },
		{ "switches_unseen", b->switches_unseen, no_intervals },
		{ "switches_unsampled", b->switches_unsampled, no_intervals },
		{ "intervals_clock_skewed", b->intervals_disordered, no_intervals },
		{ "spilled_no_stack_room", b->spilled_stack },
		{ "spilled_no_count_room", b->spilled_count },
		{ "spilled_to_unwind", b->spilled_unwind },
		{ "samples_proved", b->proved, no_samples },
		{ "proved_stacks_admitted", b->admitted, no_samples },
		{ "proved_stacks_withdrawn", b->withdrawn, no_samples },
		{ "spilled_unknown_process", b->spilled_tree },
		{ "spilled_without_pid", b->spilled_number },
		{ "unwound_to_root", b->unwound[UNWOUND_ROOT] },
		{ "unwound_truncated", b->unwound[UNWOUND_TRUNCATED] },
		{ "unwound_no_rules", b->unwound[UNWOUND_NO_RULES] },
		{ "unwound_bad", b->unwound[UNWOUND_BAD] },
		{ "unwound_unknown_registers", b->unwound[UNWOUND_UNKNOWN] },
		{ "unwound_to_uretprobe", b->unwound[UNWOUND_PROBED] },
		{ "unwound_by_kernel", b->unwound[UNWOUND_KERNEL] },
		{ "unwound_alike", b->unwinders[UNWINDERS_EQUAL], one_unwinder },
		{ "unwound_otherwise_popped", b->unwinders[UNWINDERS_POPPED], one_unwinder },
		{ "unwound_otherwise_signal", b->unwinders[UNWINDERS_SIGNAL], one_unwinder },
		{ "unwound_otherwise_entry", b->unwinders[UNWINDERS_ENTRY], one_unwinder },
		{ "unwound_otherwise_guessed", b->unwinders[UNWINDERS_GUESSED], one_unwinder },
		{ "unwound_otherwise_made", b->unwinders[UNWINDERS_MADE], one_unwinder },
		{ "unwound_otherwise_not_above", b->unwinders[UNWINDERS_NOT_ABOVE], one_unwinder },
		{ "unwound_otherwise_unexplained", b->unwinders[UNWINDERS_DIFFERENT], one_unwinder },
		{ "libunwind_failed", b->libunwind_failed, no_libunwind },
		{ "user_stacks_deferred", b->deferred, session_is_live(s) },
		{ "user_stacks_deferred_missed", b->deferred_missed, session_is_live(s) },
		{ "user_stacks_unsure", a->unsure },
		{ "user_stacks_address_reused", a->reused },
		{ "samples_of_exiting_tasks", b->dead_tasks, no_samples },
		{ "samples_outside_namespace", b->outside, no_samples },
		{ "samples_compared", c->compared, no_pairs },
		{ "samples_not_compared", c->unpaired, no_pairs },
		COMPARE_EXPLAINED(DIFFERENCE_LINE)
		{ "differences_explained", compare_nr_explained(c), no_pairs },
		{ "differences_unexplained", c->different, no_pairs },
		{ "clocks_apart", b->clocks_apart, no_interval_pairs },
		{ "rows_compared", a->rows_compared, no_interval_pairs },
		{ "rows_different", a->rows_different, no_interval_pairs },
		{ "intervals_not_compared", a->missed + a->unsampled + a->surplus, no_interval_pairs },
		{ "largest_difference_ns", a->apart_ns, no_interval_pairs },
		{ "ring_records", b->ring_records },
		{ "ring_bytes_read", b->ring_bytes },
		{ "ring_records_lost", b->lost_records },
		{ "ring_records_late", b->late_records },
		{ "ring_records_backward", b->backward_records, no_intervals },
		{ "ring_records_bad", b->bad_records },
		{ "ring_samples_late", b->late_samples, no_samples },
		{ "ring_bytes_queued", s->events.kept_bytes, !session_is_live(s) },
		{ "ring_size", a->rings.samples },
		{ "ring_size_wanted", s->events.rings_wanted.samples, !session_is_live(s) },
		{ "side_band_ring_size", a->rings.side, !session_is_live(s) },
		{ "count_table_used", b->count_entries },
		{ "stack_table_used", b->stack_entries },
		{ "throttled", b->throttled, no_samples },
		{ "throttled_ns", b->throttled_ns, no_samples },
		{ "kernel_code_reused", a->kernel_code_reused },
		{ "files_mismatched", a->files_mismatched },
		{ "files_timed_out", a->files_hung, !session_is_live(s) },
		{ "rows", a->rows },
		{ "stacks", a->stacks },
		{ "cpus", s->events.nr_cpus },
		{ "cpus_offline_ns", a->shortfall.offline_ns },
		{ "started_ns", a->started_ns },
		{ "sampled_ns", a->sampled_ns },
	};
	size_t i;

	if (interval)
		fprintf(out, "interval: %s\n", interval);
	fprintf(out, "backend: %s\n", session_way_name(s));
	fprintf(out, "backend_reason: %s\n", s->reason);
	for (i = 0; i < ARRAY_SIZE(lines); i++)
		if (!lines[i].hidden)
			fprintf(out, "%s: %" PRIu64 "\n", lines[i].name, lines[i].value);
	if (session_is_live(s))
		fprintf(out, "reader_nice: %d\nreader_realtime_priority: %d\n", priority_nice(),
			priority_got_realtime());
	if (!no_samples)
		fprintf(out, "samples_unaccounted: %" PRId64 "\n", a->unaccounted.samples);
	/* A time off the CPU may begin in one report and end in a later one: only the number of the run makes sense. */
	if (!no_intervals && (!interval || !strcmp(interval, "all")))
		fprintf(out, "intervals_unaccounted: %" PRId64 "\n", a->unaccounted.intervals);
}

/* A rate at which the samples would fit: three quarters of the rate at which this run kept samples. */
static uint64_t fitting_rate(uint64_t freq_hz, const struct stats *b)
{
	uint64_t hz = (uint64_t)((double)freq_hz * (double)(b->taken - b->lost) / (double)b->taken * 0.75);

	return hz ? hz : 1;
}

/* Print options that reduce the records for which a ring has no room. */
static void print_less(FILE *out, const struct session *s, const struct stats *b)
{
	const struct request *r = &s->request;

	if (r->off_cpu.wanted && session_counts_in_kernel(s))
		fprintf(out, "count fewer intervals (-p%s), ", r->sampling.event ? "" : ", -m");
	else if (r->off_cpu.wanted)
		fprintf(out, "count in the kernel (--backend=bpf), or fewer intervals (-p), ");
	/* Samples and switches share the rings: it is unknown which rate would fit without the switches. */
	if (r->sampling.event && !r->off_cpu.wanted && s->request.unwinds && r->sampling.freq_hz && b->taken > b->lost)
		fprintf(out, "lower the rate (-F %" PRIu64 " --stack-dump-size %" PRIu32 " would fit), ",
			fitting_rate(r->sampling.freq_hz, b), events_attr(&s->events)->sample_stack_user);
	else if (r->sampling.event)
		fprintf(out, "lower the rate (-F), ");
}

/* Print the advice to raise kernel.perf_event_mlock_kb, only if that limit was the cause. */
static void print_raise_locked(FILE *out, const struct session *s, size_t ring)
{
	long long kb;

	if (s->events.ring_refused == -EPERM && !host_setting(s->request.host, "kernel/perf_event_mlock_kb", &kb))
		fprintf(out, "raise kernel.perf_event_mlock_kb (%lld: the rings have only %zu KiB), ", kb, ring >> 10);
}

/* Print what would have avoided the loss of samples or switches. A setting is named only if it was the cause. */
static void print_remedy(FILE *out, const struct session *s, const struct account *a)
{
	const struct stats *b = &a->stats;
	uint64_t others = b->spilled_unwind + b->spilled_tree + b->spilled_number;
	bool by_table = b->spilled_stack + b->spilled_count > others;

	if (by_table && b->spilled_stack > b->spilled_count)
		fprintf(out, "raise --stack-storage-size (%" PRIu32 "), ", s->request.tables.stacks);
	else if (by_table && b->spilled_count && s->request.sampling.event)
		fprintf(out, "raise --hash-storage-size (%" PRIu32 "), ", s->request.tables.counts);
	print_raise_locked(out, s, a->rings.samples);
	print_less(out, s, b);
	fprintf(out, "or give the profiler more CPU time.\n");
}

/* Do not warn about fewer stacks than this, however large their share of all stacks is. */
#define FEW_STACKS 10

/* Warn if more than 5 % of the user stacks end at a frame whose caller cannot be found. */
static void print_incomplete(FILE *out, const struct stats *b, uint64_t all)
{
	uint64_t by_code = b->unwound[UNWOUND_NO_RULES] + b->unwound[UNWOUND_BAD];
	uint64_t by_registers = b->unwound[UNWOUND_UNKNOWN], by_probes = b->unwound[UNWOUND_PROBED];
	uint64_t incomplete = by_code + by_registers + by_probes;

	if (incomplete <= all / 20 || incomplete < FEW_STACKS)
		return;
	fprintf(out, "%s%" PRIu64 " of %" PRIu64 " user stacks are incomplete: ", warning_word(out), incomplete, all);
	if (by_probes > by_code && by_probes > by_registers)
		fprintf(out, "a uretprobe has replaced the return address of a function");
	else if (by_registers > by_code)
		fprintf(out, "the kernel did not report all registers of tasks in system calls");
	else
		fprintf(out, "their code has neither unwind rules nor frame pointers, its file was removed, "
			     "replaced or not read, or it ran on another stack");
	fprintf(out, " (see UNWINDING in profile(8)).\n");
}

/* Warn if more than 1 % of the user stacks are cut: at the end of their copies, or at the limit for frames. */
static void print_truncated(FILE *out, const struct session *s, const struct stats *b, uint64_t all)
{
	uint64_t cut = b->unwound[UNWOUND_TRUNCATED];

	if (cut <= all / 100 || cut < FEW_STACKS)
		return;
	fprintf(out, "%s%" PRIu64 " of %" PRIu64 " user stacks are [truncated]: ", warning_word(out), cut, all);
	if (!session_is_live(s))
		fprintf(out, "give perf record larger copies (--call-graph dwarf,%d).\n", STACK_DUMP_MAX);
	else if (!s->events.dump_needed)
		fprintf(out, "they have more than the frames shown, or continue on another stack.\n");
	else if (s->events.dump_needed > STACK_DUMP_MAX)
		fprintf(out, "the largest has %" PRIu64 " bytes, and --stack-dump-size copies at most %d.\n",
			s->events.dump_needed, STACK_DUMP_MAX);
	else if (s->events.dump_needed <= s->request.dump_least)
		fprintf(out,
			"copies of %" PRIu64 " bytes would suffice, but the ring buffers are too small for them.\n",
			s->events.dump_needed);
	else
		fprintf(out, "--stack-dump-size %" PRIu64 " would suffice (it is %" PRIu32 ").\n",
			s->events.dump_needed, events_attr(&s->events)->sample_stack_user);
}

/* No ring was full: print why most intervals are lost. @b->switches_unseen is of all threads of the host. */
static void print_unseen(FILE *out, const struct stats *b)
{
	if (b->reopened && b->switches_unseen <= b->intervals_lost / 2)
		fprintf(out, "a CPU came online, and its first switches could not be recorded.\n");
	else if (b->switches_unseen)
		fprintf(out, "the kernel did not report some switches of their threads.\n");
	else
		fprintf(out, "some switches of their threads were not seen.\n");
}

/* The program had no slot for a thread, a ring lost the record of a switch, or it was not seen (on an offline CPU). */
static void print_lost_intervals(FILE *out, const struct session *s, const struct account *a)
{
	const struct stats *b = &a->stats;

	if (!b->intervals_lost)
		return;
	fprintf(out, "%s%" PRIu64 " intervals off the CPU could not be counted: ", warning_word(out),
		b->intervals_lost);
	if (b->intervals_no_slot > b->intervals_lost / 2) {
		fprintf(out, "the BPF program has no room for so many threads (try --backend=perfring).\n");
		return;
	}
	if (b->lost_records <= b->lost_side_band) {
		print_unseen(out, b);
		return;
	}
	fprintf(out, "a ring had no room for their switches: ");
	print_remedy(out, s, a);
}

static void print_lost_of_recording(FILE *out, const struct stats *b)
{
	if (b->lost_here)
		fprintf(out,
			"%s%" PRIu64 " stack traces could not be displayed. perf record lost them: give it larger "
			"buffers (-m), or a lower rate (-F).\n",
			warning_word(out), b->lost_here);
	if (b->bad_samples)
		fprintf(out, "%s%" PRIu64 " stack traces could not be displayed. Their records are damaged.\n",
			warning_word(out), b->bad_samples);
}

static void print_lost_samples(FILE *out, const struct session *s, const struct account *a)
{
	const struct stats *b = &a->stats;

	if (!session_is_live(s)) {
		print_lost_of_recording(out, b);
		return;
	}
	if (!b->lost)
		return;
	fprintf(out, "%s%" PRIu64 " stack traces could not be displayed. ", warning_word(out), b->lost);
	fprintf(out, "A ring had no room for them: ");
	print_remedy(out, s, a);
}

static const char *of_command(const struct session *s)
{
	return s->request.filter.tree ? ", and processes of the command missing" : "";
}

/*
 * Warn about losses in rings that samples share with other records. With both backends, the comparison reports the
 * consequences.
 */
static void print_lost_records(FILE *out, const struct session *s, const struct account *a)
{
	const struct stats *b = &a->stats;
	uint64_t known = b->lost + b->lost_notes + b->lost_switch_notes + b->lost_side_band;
	const char *of_switches = s->request.off_cpu.wanted ? "switches, " : "";

	if (b->lost_records <= known || s->request.both)
		return;
	if (!s->events.apart)
		fprintf(out, "%s%" PRIu64 " records about %stasks and mappings were lost: some names may be wrong%s.\n",
			warning_word(out), b->lost_records - known, of_switches, of_command(s));
	else if (s->request.off_cpu.wanted)
		fprintf(out, "%s%" PRIu64 " records about switches were lost.\n", warning_word(out),
			b->lost_records - known);
}

/* Warn about losses in rings for tasks and mappings alone. */
static void print_lost_names(FILE *out, const struct session *s, const struct account *a)
{
	const struct stats *b = &a->stats;

	if (!b->lost_side_band)
		return;
	fprintf(out,
		"%s%" PRIu64 " records about tasks and mappings were lost: some names may be wrong%s. A ring "
		"had no room for them: ",
		warning_word(out), b->lost_side_band, of_command(s));
	print_raise_locked(out, s, a->rings.side);
	if (!s->events.side_of_targets && !s->events.followed)
		fprintf(out, "profile some processes only (-p), ");
	fprintf(out, "or give the profiler more CPU time.\n");
}

void account_print_losses(FILE *out, const struct session *s, const struct account *a)
{
	const struct stats *b = &a->stats;
	uint64_t unwound = 0;
	size_t i;

	print_lost_samples(out, s, a);
	print_lost_intervals(out, s, a);
	print_lost_records(out, s, a);
	print_lost_names(out, s, a);
	for (i = 0; i < UNWOUND_NR; i++)
		unwound += b->unwound[i];
	print_truncated(out, s, b, unwound);
	print_incomplete(out, b, unwound);
}

bool account_shortfall(const struct account *a, struct err *why)
{
	return a->due_known && shortfall_explain(&a->shortfall, why);
}
