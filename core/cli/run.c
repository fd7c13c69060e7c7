// SPDX-License-Identifier: Apache-2.0
#include "core/cli/run.h"

#include "core/base/saturate.h"
#include "core/cli/account.h"
#include "core/cli/options.h"
#include "core/cli/output.h"
#include "core/events/event_rings.h"
#include "core/host/kernel.h"
#include "core/host/priority.h"
#include "core/host/privileges.h"
#include "core/host/signals.h"
#include "core/report/both.h"
#include "core/report/entry.h"
#include "core/rows/compare.h"
#include "core/rows/compare_intervals.h"
#include "core/session/open.h"
#include "core/session/session.h"
#include "core/symbols/symbols.h"
#include "core/tasks/cgroup.h"
#include "core/tasks/command.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
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
			a->stats.taken);
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
			a->stats.reopened ? "the event of a CPU was opened anew"
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
		a->stats.lost_records);
	for (i = 0; i < c->nr_examples; i++)
		fprintf(stderr, "  %s\n", c->examples[i]);
}

/* @out: NULL: they are only compared */
static int write_both(const struct session *s, const struct report_names *names, struct report_output *out,
		      const struct account *a, bool *differ, struct err *err)
{
	struct compare *c = s->sink.sets[s->sink.ended].compare;
	struct rows *explained = compare_explained(c);
	struct report_pair pair = { session_samples(s), compare_rows(c), explained };
	enum report_agreement agreement;
	int rc;

	if (!explained || compare_add_lost(explained, pair.program, account_not_compared(a)) < 0) {
		rows_free(explained);
		return err_sys(err, -ENOMEM, "cannot compare the backends");
	}
	rc = report_both(out, &pair, names, &s->request.options->report, &agreement, err);
	rows_free(explained);
	if (!rc) {
		explain(c, a, agreement);
		*differ |= agreement == REPORTS_DIFFERENT || a->compared.different;
	}
	return rc;
}

/* What a run needs until its last report is written. */
struct run {
	struct session *session;
	struct output *out;
	struct symbols *symbols;
	struct report_output report;
	unsigned int intervals; /* reported */
	struct account total;
	struct compared_intervals compared; /* of the last report, where intervals are counted by both backends */
	bool differ;                        /* the backends, in one of the intervals */
};

static bool compares_intervals(const struct session *s)
{
	return s->request.both && s->request.options->off_cpu;
}

/* The same rows as they are shown: each backend has its own frames below the scheduler. NULL: no memory. */
static struct rows *from_schedule(const struct rows *rows, const struct report_names *names)
{
	struct rows *to = rows_new();
	struct row row;
	size_t i;
	int rc = 0;

	for (i = 0; to && i < rows_nr(rows) && !rc; i++) {
		uint32_t first;

		rows_get(rows, i, &row);
		first = report_first_frame(names, &row.key.kernel);
		row.key.kernel.frames += first;
		row.key.kernel.nr -= first;
		rc = rows_add(to, &row.key, row.value, row.times);
	}
	if (!rc)
		return to;
	rows_free(to);
	return NULL;
}

/* Their times are never quite equal, so the rows are compared instead of the reports. */
static int compare_rows_of_both(struct run *run, struct account *a, struct err *err)
{
	const struct report_names names = { run->symbols, kernel_name, user_name, inlined_names };
	const struct session *s = run->session;
	struct rows *program = from_schedule(session_intervals(s), &names);
	struct rows *ring = from_schedule(s->sink.sets[s->sink.ended].ring_intervals, &names);
	const struct intervals_lost lost = account_lost(&run->total, a);
	int rc = program && ring ? compare_intervals(program, ring, &lost, &run->compared) : -ENOMEM;

	rows_free(program);
	rows_free(ring);
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
	uint64_t unread = account_unread(run->session, &run->total);

	if (!unread)
		return;
	fprintf(stderr,
		"The backends disagree: perfring did not read %" PRIu64 " of %" PRIu64
		" samples, and no ring buffer lost these.\n",
		unread, run->total.stats.taken);
	run->differ = true;
}

/* About the whole run. */
static void print_warnings(const struct run *run)
{
	const struct options *o = run->session->request.options;
	const struct tasks *tasks = run->session->sink.tasks;
	struct err why;

	warn_of_bug(o, run->total.unaccounted.samples, "samples");
	warn_of_bug(o, run->total.unaccounted.intervals, "intervals");
	if (account_shortfall(&run->total, &why))
		fprintf(stderr, "WARNING: %s\n", why.msg);
	if (!o->input && session_command_shortfall(run->session, &run->total.stats, &run->total.shortfall, &why))
		fprintf(stderr, "WARNING: %s\n", why.msg);
	if (run->session->recording.unfinished)
		fprintf(stderr, "WARNING: '%s' was left unfinished by its recorder: names may be missing.\n", o->input);
	if (run->session->recording.truncated)
		fprintf(stderr, "WARNING: '%s' ends within a record: what comes before it was read.\n", o->input);
	if (run->session->events.refused.code)
		fprintf(stderr, "WARNING: a CPU that came online was not %s: %s\n", o->on_cpu ? "sampled" : "traced",
			run->session->events.refused.msg);
	if (tasks_refused(tasks))
		fprintf(stderr, "WARNING: %" PRIu64 " mappings were too many to keep: their frames are [unknown].\n",
			tasks_refused(tasks));
	if (run->session->request.filter.cgroup && cgroup_missed(run->session->request.filter.cgroup, &why))
		fprintf(stderr, "WARNING: %s\n", why.msg);
	if (run->total.stats.hidden)
		fprintf(stderr,
			"WARNING: %" PRIu64 " %s were filtered because the mount namespaces of their tasks may not be "
			"read: that needs CAP_SYS_PTRACE.\n",
			run->total.stats.hidden,
			!o->on_cpu   ? "intervals"
			: o->off_cpu ? "samples or intervals"
				     : "samples");
	if (symbols_kernel_hidden(run->symbols, &why))
		fprintf(stderr, "WARNING: %s\n", why.msg);
	if (symbols_skipped(run->symbols, &why))
		fprintf(stderr, "WARNING: %s\n", why.msg);
	if (session_files_hung(run->session))
		fprintf(stderr, "WARNING: %zu files were not opened: their file systems did not answer.\n",
			session_files_hung(run->session));
	if (symbols_lines_skipped(run->symbols, &why))
		fprintf(stderr, "WARNING: %s\n", why.msg);
}

/* Of samples their number, of intervals their time, of both the time. */
static int write_rows(struct run *run, const struct report_names *names, const struct account *a, struct err *err)
{
	const struct session *s = run->session;
	const struct options *o = s->request.options;
	bool all = o->on_cpu && o->off_cpu;
	const struct report_part parts[] = {
		{ session_samples(s), all ? "on-cpu" : NULL, all ? events_period_ns(o) : 1, false },
		{ session_intervals(s), all ? "off-cpu" : NULL, 1, true },
	};
	int rc;

	if (o->on_cpu && s->request.both) {
		rc = write_both(s, names, o->off_cpu ? NULL : &run->report, a, &run->differ, err);
		if (rc || !o->off_cpu)
			return rc;
	}
	return report_rows(&run->report, &parts[!o->on_cpu], all ? 2 : 1, names, &o->report, err);
}

static int write_report(struct run *run, const struct account *a, bool last, struct err *err)
{
	const struct session *s = run->session;
	const struct report_names names = { run->symbols, kernel_name, user_name, inlined_names, &s->sink.names };
	int rc;

	symbols_renew(run->symbols);
	report_interval(&run->report, s->request.options->interval_ns ? run->intervals + 1 : 0,
			(double)a->sampled_ns / 1e9);
	rc = write_rows(run, &names, a, err);
	if (!rc && last)
		rc = report_end(&run->report, true, err);
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
	a->files_hung = session_files_hung(run->session) - total->files_hung;
	total->files_mismatched += a->files_mismatched;
	total->files_hung += a->files_hung;
}

/* Where user stacks are unwound here, registers that may be stale are not used. */
static void account_unsure(const struct run *run, struct account *a)
{
	const struct report_names names = { run->symbols, kernel_name, user_name, inlined_names };
	const struct session *s = run->session;

	if (!s->request.options->stats || s->request.unwinds)
		return;
	a->unsure = report_unsure_stacks(session_samples(s), false, &names) +
		    report_unsure_stacks(session_intervals(s), true, &names);
}

/* One interval is over: everything the user gets of it. */
static int report(struct run *run, bool last, struct err *err)
{
	const struct options *o = run->session->request.options;
	struct account a;
	char number[16];
	int rc;

	account_take(run->session, &a);
	account_unsure(run, &a);
	if (compares_intervals(run->session)) {
		rc = compare_rows_of_both(run, &a, err);
		if (rc)
			return rc;
	}
	account_add(&run->total, &a);
	if (last) {
		account_settle(run->session, &run->total);
		/* Names need the room for files. */
		session_close(run->session);
	}
	rc = write_report(run, &a, last, err);
	if (!rc && last)
		rc = output_commit(run->out, err);
	/* Nothing is left to abort: what comes now is meant for the command. */
	if (!rc && last && run->session->request.command)
		signals_pass();
	run->intervals++;
	account_files(run, &a, &run->total);
	if (compares_intervals(run->session))
		explain_intervals(&run->compared, &a);
	account_print_losses(stderr, run->session, &a);
	if (last) {
		judge_unread(run);
		print_warnings(run);
	}
	snprintf(number, sizeof(number), "%u", run->intervals);
	if (o->stats)
		account_print(stderr, run->session, o->interval_ns ? number : NULL, &a);
	if (o->stats && o->interval_ns && last)
		account_print(stderr, run->session, "all", &run->total);
	/* It has a buffer where the report goes there, and what comes next may take long. */
	fflush(stderr);
	return rc;
}

/* Seen before anything is counted; and when nobody can see it, that need not begin. */
static int write_header(struct run *run, struct err *err)
{
	const struct session *s = run->session;
	const struct options *o = s->request.options;
	char *header = NULL;
	size_t len;
	FILE *f = open_memstream(&header, &len);
	int rc;

	if (f && o->input)
		options_header_recorded(f, o, &s->recording);
	else if (f)
		options_header(f, o, s->events.user_only.code);
	if (!f || fclose(f))
		rc = err_sys(err, -ENOMEM, "cannot begin the report");
	else
		rc = report_begin(&run->report, run->out->stream, o->report.form, header, err);
	free(header);
	return rc && rc != -ENOMEM ? output_error(run->out, rc, err) : rc;
}

/* Count and report, interval by interval. */
static enum exit_status sample(struct run *run, struct err *err)
{
	enum tool tool = run->session->request.options->tool;
	int more, rc;

	do {
		more = session_run(run->session, err);
		if (more < 0)
			return fail(tool, err);
		rc = report(run, !more, err);
		if (rc)
			return fail_writing(tool, err);
	} while (more);
	return run->differ ? EXIT_DIFFERENT : EXIT_OK;
}

/* What this host does not let us do, once each; the way that is taken, for who asks. */
static void tell_limits(const struct session *s)
{
	const struct options *o = s->request.options;
	const char *name = tool_name(o->tool);
	struct err small;

	if (o->verbose)
		fprintf(stderr, "%s: backend %s: %s\n", name, session_way_name(s), s->reason);
	if (s->events.user_only.code)
		fprintf(stderr, "%s: %s: %s\n", name,
			o->on_cpu ? "only user code is sampled" : "stacks cannot be taken", s->events.user_only.msg);
	if (s->events.unfollowed.code)
		fprintf(stderr, "%s: %s\n", name, s->events.unfollowed.msg);
	if (events_small_rings(&s->events, &small))
		fprintf(stderr, "%s: %s\n", name, small.msg);
	if (s->request.host->foreign && !o->input)
		fprintf(stderr,
			"%s: /proc is of another PID namespace than this process, mount one of its own: what runs "
			"already is without symbols, and from the rings without names\n",
			name);
	if (o->verbose && s->kept.code)
		fprintf(stderr, "%s: has more rights than it needs: %s\n", name, s->kept.msg);
}

/* Whatever comes of it: the first use does it. */
static void warn_of_taint(const struct options *o)
{
	const struct way *asked = o->backend ? way_find(ways_here, o->backend) : NULL;
	bool both = o->backend && !strcmp(o->backend, WAY_BOTH);

	if ((both || (asked && asked->counter)) && !o->input && kernel_bpf_taints())
		fputs("WARNING: bpf(2), which --backend asks for, is a technology preview of this kernel: its use "
		      "taints "
		      "that, until it is booted anew.\n",
		      stderr);
}

static enum exit_status open_and_sample(struct run *run, struct err *err)
{
	enum tool tool = run->session->request.options->tool;

	warn_of_taint(run->session->request.options);
	/* Who is interrupted has nothing to be told. */
	if (session_open(run->session, err))
		return run->session->request.command && command_ended(run->session->request.command) ? EXIT_OK
												     : fail(tool, err);
	tell_limits(run->session);
	if (write_header(run, err))
		return fail_writing(tool, err);
	return sample(run, err);
}

/* What the caller names is opened before the first right is used that may be lent: privileges.h. */
static enum exit_status run_capture(struct session *s, struct output *out, struct err *err)
{
	const struct symbols_cfg names = {
		.files = &s->files,
		.perf_maps = s->perf_maps,
		.kallsyms = s->request.options->kallsyms,
		.vmlinux = s->request.options->vmlinux,
		.inlined = s->request.options->report.inlined && !s->request.options->kernel_only,
		.source = s->request.options->report.source && !s->request.options->kernel_only,
	};
	struct run run = { .session = s, .out = out };
	enum exit_status status;

	if (symbols_open(s->sink.tasks, &names, &run.symbols, err)) {
		status = fail(s->request.options->tool, err);
	} else {
		session_ahead(s, read_names, run.symbols);
		status = open_and_sample(&run, err);
	}
	report_end(&run.report, false, NULL);
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
	struct session *s;
	struct output out;

	if (output_open(&out, o->output, command ? stderr : stdout, err))
		return fail(o->tool, err);
	s = session_new(o, &host_here);
	if (!s) {
		output_discard(&out);
		err_sys(err, -ENOMEM, "cannot begin");
		return fail(o->tool, err);
	}
	if (command)
		session_command(s, command);
	status = run_capture(s, &out, err);
	/* Who reads the report from a pipe gets its end now: what comes next may take long (events_hold()). */
	fclose(stdout);
	session_free(s);
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
