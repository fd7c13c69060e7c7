// SPDX-License-Identifier: Apache-2.0
#include "core/run.h"

#include "compat/kernel.h"
#include "core/account.h"
#include "core/capture.h"
#include "core/cgroup.h"
#include "core/command.h"
#include "core/compare.h"
#include "core/compare_intervals.h"
#include "core/output.h"
#include "core/priority.h"
#include "core/privileges.h"
#include "core/report/both.h"
#include "core/report/entry.h"
#include "core/saturate.h"
#include "core/signals.h"
#include "core/symbols/symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum exit_status { /* profile(8), EXIT STATUS */
		   EXIT_OK = 0,
		   EXIT_FAILED = 1,    /* could not begin or go on, or could not write the report */
		   EXIT_USAGE = 2,     /* nothing was opened */
		   EXIT_DIFFERENT = 3, /* the two backends disagree */
};

static enum exit_status fail(enum tool tool, const struct err *err)
{
	fprintf(stderr, "%s: error: %s\n", tool_name(tool), err->msg);
	return EXIT_FAILED;
}

/* A reader that has seen enough, like head(1), needs no message. */
static enum exit_status fail_writing(enum tool tool, const struct err *err)
{
	return err->code == -EPIPE ? EXIT_FAILED : fail(tool, err);
}

/* What only talks about the program itself. */
static enum exit_status run_action(const struct options *o, void (*action)(FILE *out, const struct options *o))
{
	struct output out;
	struct err err;

	output_open(&out, NULL, stdout, &err);
	if (o->action == ACTION_HELP)
		options_help(out.stream, o->tool);
	else if (o->action == ACTION_VERSION)
		fprintf(out.stream, "%s " PROFILE_VERSION "\n", tool_name(o->tool));
	else
		action(out.stream, o);
	return output_commit(&out, &err) ? fail_writing(o->tool, &err) : EXIT_OK;
}

static void kernel_name(void *ctx, uint64_t addr, bool is_return, struct symbol *out)
{
	priority_check();
	symbols_kernel(ctx, addr, is_return, out);
}

static void user_name(void *ctx, pid_t pid, const char *comm, uint64_t addr, bool is_return, struct symbol *out)
{
	priority_check();
	symbols_user(ctx, pid, comm, addr, is_return, out);
}

static bool read_names(void *ctx)
{
	return symbols_ahead(ctx);
}

static size_t inlined_names(void *ctx, const struct symbol **out)
{
	return symbols_inlined(ctx, out);
}

/* Which differences there are beside those of the rows, and why, where it can be told. */
static void explain(const struct compare *c, const struct account *a, enum report_agreement agreement)
{
	const struct compare_counts *n = &a->compared;
	uint64_t lost = account_not_compared(a);
	char example[256];
	size_t i;

	if (compare_nr_explained(n))
		fprintf(stderr,
			"%" PRIu64 " of %" PRIu64 " samples differ between the backends, explained: %" PRIu64
			" of threads inside the system call that renames them, %" PRIu64 " of dying tasks, %" PRIu64
			" of threads that go to another mount namespace, %" PRIu64
			" of kernel threads that no record names, %" PRIu64
			" of threads about which records are missing, %" PRIu64
			" of groups whose map was changed, %" PRIu64
			" of processes with the pid of one that had just ended.\n",
			compare_nr_explained(n), n->compared, n->renamed, n->dying, n->unshared, n->unnamed, n->unseen,
			n->remapped, n->reused);
	if (lost)
		fprintf(stderr, "%" PRIu64 " of %" PRIu64 " samples were lost by a ring, and not compared.\n", lost,
			a->books.taken);
	if (agreement == REPORTS_DIFFERENT && !n->different)
		fprintf(stderr, "The backends disagree about stacks; of each sample they know the same task.\n");
	else if (n->different)
		fprintf(stderr, "The backends disagree: %" PRIu64 " of %" PRIu64 " samples.\n", n->different,
			n->compared);
	for (i = 0; compare_example(c, i, example, sizeof(example)); i++)
		fprintf(stderr, "  %s\n", example);
}

/* The same of rows of intervals. */
static void explain_intervals(const struct compared_intervals *c, const struct account *a)
{
	size_t i;

	if (a->missed)
		fprintf(stderr, "WARNING: %" PRIu64 " intervals were seen by bpf alone, and not compared: %s.\n",
			a->missed,
			a->books.reopened ? "the event of a CPU was opened anew"
					  : "records of their switches were lost");
	if (a->unsampled)
		fprintf(stderr,
			"WARNING: %" PRIu64 " intervals have stacks from bpf alone, and were not compared: the kernel "
			"gave no sample of their switches.\n",
			a->unsampled);
	if (compared_equal(c))
		return;
	fprintf(stderr,
		"The backends disagree about %" PRIu64 " of %" PRIu64 " rows: %" PRIu64
		" are of another number of intervals, %" PRIu64 " of times too far apart, %" PRIu64
		" only bpf has, and %" PRIu64 " only perfring; a ring lost %" PRIu64 " records.\n",
		a->rows_different, a->rows_compared, c->other_times, c->other_time, c->only_program, c->only_ring,
		a->books.lost_records);
	for (i = 0; i < c->nr_examples; i++)
		fprintf(stderr, "  %s\n", c->examples[i]);
}

/* @out: NULL: they are only compared */
static int write_both(const struct capture *cap, const struct report_names *names, FILE *out, const struct account *a,
		      bool *differ, struct err *err)
{
	struct compare *c = cap->sets[cap->ended].compare;
	struct stacks *explained = compare_explained(c);
	struct report_pair pair = { capture_samples(cap), compare_rows(c), explained };
	enum report_agreement agreement;
	int rc;

	if (!explained || compare_add_lost(explained, pair.program, account_not_compared(a)) < 0) {
		stacks_free(explained);
		return err_sys(err, -ENOMEM, "cannot compare the backends");
	}
	rc = report_both(out, &pair, names, &cap->options->report, &agreement, err);
	stacks_free(explained);
	if (!rc) {
		explain(c, a, agreement);
		*differ |= agreement == REPORTS_DIFFERENT || a->compared.different;
	}
	return rc;
}

/* What a run needs until its last report is written. */
struct run {
	struct capture *cap;
	struct output *out;
	struct symbols *symbols;
	unsigned int intervals; /* reported */
	struct account total;
	struct compared_intervals compared; /* of the last report, where intervals are counted by both backends */
	bool differ;                        /* the backends, in one of the intervals */
};

static bool compares_intervals(const struct capture *cap)
{
	return cap->both && cap->options->off_cpu;
}

/* The same rows as they are shown: each backend has its own frames below the scheduler. NULL: no memory. */
static struct stacks *from_schedule(const struct stacks *rows, const struct report_names *names)
{
	struct stacks *to = stacks_new();
	struct stack_row row;
	size_t i;
	int rc = 0;

	for (i = 0; to && i < stacks_nr_rows(rows) && !rc; i++) {
		uint32_t first;

		stacks_row(rows, i, &row);
		first = report_first_frame(names, &row.kernel);
		row.kernel.frames += first;
		row.kernel.nr -= first;
		rc = stacks_add_times(to, row.comm, row.pid, &row.kernel, &row.user, row.value, row.times);
	}
	if (!rc)
		return to;
	stacks_free(to);
	return NULL;
}

/* Their times are never quite equal, so the rows are compared instead of the reports. */
static int compare_rows_of_both(struct run *run, struct account *a, struct err *err)
{
	const struct report_names names = { run->symbols, kernel_name, user_name, inlined_names };
	const struct capture *cap = run->cap;
	struct stacks *program = from_schedule(capture_intervals(cap), &names);
	struct stacks *ring = from_schedule(cap->sets[cap->ended].ring_intervals, &names);
	const struct intervals_lost lost = account_lost(&run->total, a);
	int rc = program && ring ? compare_intervals(program, ring, &lost, &run->compared) : -ENOMEM;

	stacks_free(program);
	stacks_free(ring);
	if (rc)
		return err_sys(err, rc, "cannot compare the backends");
	account_compared(a, &run->compared);
	run->differ |= !compared_equal(&run->compared);
	return 0;
}

static void warn_of_bug(const struct options *o, int64_t unaccounted, const char *what)
{
	if (unaccounted)
		fprintf(stderr, "WARNING: %" PRId64 " %s are not accounted for: this is a bug of %s.\n", unaccounted,
			what, tool_name(o->tool));
}

/* A reader that drops samples is a difference; a ring without room for them is none. */
static void judge_unread(struct run *run)
{
	uint64_t unread = account_unread(run->cap, &run->total);

	if (!unread)
		return;
	fprintf(stderr,
		"The backends disagree: perfring did not read %" PRIu64 " of %" PRIu64
		" samples, and no ring buffer lost these.\n",
		unread, run->total.books.taken);
	run->differ = true;
}

/* About the whole run. */
static void print_warnings(const struct run *run)
{
	const struct options *o = run->cap->options;
	const struct tasks *tasks = run->cap->tasks;
	struct err why;

	warn_of_bug(o, run->total.unaccounted.samples, "samples");
	warn_of_bug(o, run->total.unaccounted.intervals, "intervals");
	if (account_shortfall(&run->total, &why))
		fprintf(stderr, "WARNING: %s\n", why.msg);
	if (!o->input && capture_command_shortfall(run->cap, &run->total.books, &run->total.shortfall, &why))
		fprintf(stderr, "WARNING: %s\n", why.msg);
	if (run->cap->recording.unfinished)
		fprintf(stderr, "WARNING: '%s' was left unfinished by its recorder: names may be missing.\n", o->input);
	if (run->cap->recording.truncated)
		fprintf(stderr, "WARNING: '%s' ends within a record: what comes before it was read.\n", o->input);
	if (run->cap->refused.code)
		fprintf(stderr, "WARNING: a CPU that came online was not %s: %s\n", o->on_cpu ? "sampled" : "traced",
			run->cap->refused.msg);
	if (tasks_refused(tasks))
		fprintf(stderr, "WARNING: %" PRIu64 " mappings were too many to keep: their frames are [unknown].\n",
			tasks_refused(tasks));
	if (run->cap->filter.cgroup && cgroup_missed(run->cap->filter.cgroup, &why))
		fprintf(stderr, "WARNING: %s\n", why.msg);
	if (run->total.books.hidden)
		fprintf(stderr,
			"WARNING: %" PRIu64 " %s were filtered because the mount namespaces of their tasks may not be "
			"read: that needs CAP_SYS_PTRACE.\n",
			run->total.books.hidden,
			!o->on_cpu   ? "intervals"
			: o->off_cpu ? "samples or intervals"
				     : "samples");
	if (symbols_kernel_hidden(run->symbols, &why))
		fprintf(stderr, "WARNING: %s\n", why.msg);
	if (symbols_skipped(run->symbols, &why))
		fprintf(stderr, "WARNING: %s\n", why.msg);
	if (capture_files_hung(run->cap))
		fprintf(stderr, "WARNING: %zu files were not opened: their file systems did not answer.\n",
			capture_files_hung(run->cap));
	if (symbols_lines_skipped(run->symbols, &why))
		fprintf(stderr, "WARNING: %s\n", why.msg);
}

/* Of samples their number, of intervals their time, of both the time. */
static int write_rows(struct run *run, const struct report_names *names, const struct account *a, struct err *err)
{
	const struct capture *cap = run->cap;
	const struct options *o = cap->options;
	const struct report_part parts[] = {
		{ capture_samples(cap), "on-cpu", o->on_cpu && o->off_cpu ? capture_period_ns(cap) : 1, false },
		{ capture_intervals(cap), "off-cpu", 1, true },
	};
	FILE *out = run->out->stream;

	if (!o->on_cpu)
		return report_write(out, parts[1].rows, names, &o->report, err);
	if (!o->off_cpu && cap->both)
		return write_both(cap, names, out, a, &run->differ, err);
	if (!o->off_cpu)
		return report_write(out, parts[0].rows, names, &o->report, err);
	if (cap->both && write_both(cap, names, NULL, a, &run->differ, err))
		return err->code;
	return report_write_parts(out, parts, ARRAY_SIZE(parts), names, &o->report, err);
}

static int write_report(struct run *run, const struct account *a, struct err *err)
{
	const struct report_names names = { run->symbols, kernel_name, user_name, inlined_names };
	const struct capture *cap = run->cap;
	const struct report_cfg *cfg = &cap->options->report;
	FILE *out = run->out->stream;
	int rc;

	symbols_renew(run->symbols);
	/* An empty line is between header and report, and between two reports. */
	if (cfg->form != REPORT_FOLDED || run->intervals)
		fputc('\n', out);
	if (cap->options->interval_ns && cfg->form != REPORT_FOLDED)
		fprintf(out, "Interval %u, %.3f secs\n\n", run->intervals + 1, (double)a->sampled_ns / 1e9);
	rc = write_rows(run, &names, a, err);
	if (rc && rc != -ENOMEM)
		output_error(run->out, rc, err);
	return rc;
}

/* What became known of files since the last report: they are asked for when one is written. */
static void account_files(const struct run *run, struct account *a, struct account *total)
{
	uint64_t mismatched = symbols_mismatched(run->symbols);

	/* One may be found in another process later. */
	a->files_mismatched = sub_or_0(mismatched, total->files_mismatched);
	a->files_hung = capture_files_hung(run->cap) - total->files_hung;
	total->files_mismatched += a->files_mismatched;
	total->files_hung += a->files_hung;
}

/* Where user stacks are unwound here, registers that may be stale are not used. */
static void account_unsure(const struct run *run, struct account *a)
{
	const struct report_names names = { run->symbols, kernel_name, user_name, inlined_names };
	const struct capture *cap = run->cap;

	if (!cap->options->stats || cap->unwinds)
		return;
	a->unsure = report_unsure_stacks(capture_samples(cap), false, &names) +
		    report_unsure_stacks(capture_intervals(cap), true, &names);
}

/* One interval is over: everything the user gets of it. */
static int report(struct run *run, bool last, struct err *err)
{
	const struct options *o = run->cap->options;
	struct account a;
	char number[16];
	int rc;

	account_take(run->cap, &a);
	account_unsure(run, &a);
	if (compares_intervals(run->cap)) {
		rc = compare_rows_of_both(run, &a, err);
		if (rc)
			return rc;
	}
	account_add(&run->total, &a);
	if (last) {
		account_settle(run->cap, &run->total);
		/* Names need the room for files. */
		capture_close(run->cap);
	}
	rc = write_report(run, &a, err);
	if (!rc && last)
		rc = output_commit(run->out, err);
	/* Nothing is left to abort: what comes now is meant for the command. */
	if (!rc && last && run->cap->command)
		signals_pass();
	run->intervals++;
	account_files(run, &a, &run->total);
	if (compares_intervals(run->cap))
		explain_intervals(&run->compared, &a);
	account_print_losses(stderr, run->cap, &a);
	if (last) {
		judge_unread(run);
		print_warnings(run);
	}
	snprintf(number, sizeof(number), "%u", run->intervals);
	if (o->stats)
		account_print(stderr, run->cap, o->interval_ns ? number : NULL, &a);
	if (o->stats && o->interval_ns && last)
		account_print(stderr, run->cap, "all", &run->total);
	/* It has a buffer where the report goes there, and what comes next may take long. */
	fflush(stderr);
	return rc;
}

/* Seen before anything is counted; and when nobody can see it, that need not begin. */
static int write_header(struct output *out, const struct capture *cap, struct err *err)
{
	const struct options *o = cap->options;

	if (o->report.form == REPORT_FOLDED)
		return 0;
	if (o->input)
		options_header_recorded(out->stream, o, &cap->recording);
	else
		options_header(out->stream, o, cap->user_only.code);
	return fflush(out->stream) ? output_error(out, -errno, err) : 0;
}

/* Count and report, interval by interval. */
static enum exit_status sample(struct run *run, struct err *err)
{
	enum tool tool = run->cap->options->tool;
	int more, rc;

	do {
		more = capture_run(run->cap, err);
		if (more < 0)
			return fail(tool, err);
		rc = report(run, !more, err);
		if (rc)
			return fail_writing(tool, err);
	} while (more);
	return run->differ ? EXIT_DIFFERENT : EXIT_OK;
}

/* What this host does not let us do, once each; the way that is taken, for who asks. */
static void tell_limits(const struct capture *cap)
{
	const struct options *o = cap->options;
	const char *name = tool_name(o->tool);
	struct err small;

	if (o->verbose)
		fprintf(stderr, "%s: backend %s: %s\n", name, cap->both ? BACKEND_BOTH : cap->backends[0].ops->name,
			cap->reason);
	if (cap->user_only.code)
		fprintf(stderr, "%s: %s: %s\n", name,
			o->on_cpu ? "only user code is sampled" : "stacks cannot be taken", cap->user_only.msg);
	if (cap->unfollowed.code)
		fprintf(stderr, "%s: %s\n", name, cap->unfollowed.msg);
	if (capture_small_rings(cap, &small))
		fprintf(stderr, "%s: %s\n", name, small.msg);
	if (cap->host->foreign && !o->input)
		fprintf(stderr,
			"%s: /proc is of another PID namespace than this process, mount one of its own: what runs "
			"already is without symbols, and from the rings without names\n",
			name);
	if (o->verbose && cap->kept.code)
		fprintf(stderr, "%s: has more rights than it needs: %s\n", name, cap->kept.msg);
}

/* Whatever comes of it: the first use does it. */
static void warn_of_taint(const struct options *o)
{
	const struct backend_ops *asked = o->backend ? backend_find(o->backend) : NULL;
	bool both = o->backend && !strcmp(o->backend, BACKEND_BOTH);

	if ((both || (asked && asked->in_kernel)) && !o->input && kernel_bpf_taints())
		fputs("WARNING: bpf(2), which --backend asks for, is a technology preview of this kernel: its use "
		      "taints "
		      "that, until it is booted anew.\n",
		      stderr);
}

static enum exit_status open_and_sample(struct run *run, struct err *err)
{
	enum tool tool = run->cap->options->tool;

	warn_of_taint(run->cap->options);
	/* Who is interrupted has nothing to be told. */
	if (capture_open(run->cap, err))
		return run->cap->command && command_ended(run->cap->command) ? EXIT_OK : fail(tool, err);
	tell_limits(run->cap);
	if (write_header(run->out, run->cap, err))
		return fail_writing(tool, err);
	return sample(run, err);
}

/* What the caller names is opened before the first right is used that may be lent: privileges.h. */
static enum exit_status run_capture(struct capture *cap, struct output *out, struct err *err)
{
	const struct symbols_cfg names = {
		.files = &cap->files,
		.perf_maps = cap->perf_maps,
		.kallsyms = cap->options->kallsyms,
		.vmlinux = cap->options->vmlinux,
		.inlined = cap->options->report.inlined && !cap->options->kernel_only,
		.source = cap->options->report.source && !cap->options->kernel_only,
	};
	struct run run = { .cap = cap, .out = out };
	enum exit_status status;

	if (symbols_open(cap->tasks, &names, &run.symbols, err)) {
		status = fail(cap->options->tool, err);
	} else {
		capture_ahead(cap, read_names, run.symbols);
		status = open_and_sample(&run, err);
	}
	output_discard(out);
	symbols_free(run.symbols);
	return status;
}

/*
 * What is opened must not become 0, 1 or 2: a warning would land in the report, or the report in an event. Opened for
 * reading, so that writing a report to a closed stdout still fails. A command finds closed what was.
 */
static void fill_standard_fds(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

static enum exit_status run_options(const struct options *o, struct command *command, struct err *err)
{
	enum exit_status status;
	struct capture *cap;
	struct output out;

	if (output_open(&out, o->output, command ? stderr : stdout, err))
		return fail(o->tool, err);
	cap = capture_new(o, &host_here);
	if (!cap) {
		output_discard(&out);
		err_sys(err, -ENOMEM, "cannot begin");
		return fail(o->tool, err);
	}
	if (command)
		capture_command(cap, command);
	status = run_capture(cap, &out, err);
	/* Who reads the report from a pipe gets its end now: what comes next may take long (capture_hold()). */
	fclose(stdout);
	capture_free(cap);
	return status;
}

/* Its process is made before anything is opened, and knows nothing of that. Return: an exit status. */
static int run_command(const struct options *o, struct err *err)
{
	struct command *command = command_start(o->command, err);
	enum exit_status status;
	int ended;

	if (!command)
		return fail(o->tool, err);
	status = run_options(o, command, err);
	fflush(stderr);
	/* It may go on behind the report, or without one. */
	ended = command_wait(command);
	command_free(command);
	return status == EXIT_OK ? ended : (int)status;
}

int run_main(enum tool tool, void (*action)(FILE *out, const struct options *o), int argc, char **argv)
{
	struct options options;
	struct err err;
	int status;

	fill_standard_fds();
	signals_ignore();
	if (privileges_begin(&err))
		return fail(tool, &err);
	host_here_look();
	if (options_parse(&options, tool, argc, argv, &host_here, &err)) {
		fprintf(stderr, "%s: error: %s\nTry '%s --help'.\n", tool_name(tool), err.msg, tool_name(tool));
		status = EXIT_USAGE;
	} else if (options.action != ACTION_PROFILE) {
		status = run_action(&options, action);
	} else if (options.command) {
		status = run_command(&options, &err);
	} else {
		status = run_options(&options, NULL, &err);
	}
	options_release(&options);
	return status;
}
