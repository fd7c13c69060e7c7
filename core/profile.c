// SPDX-License-Identifier: Apache-2.0
/* profile: sample, count, name, report. The only file that prints and exits. */
#include "core/capture.h"
#include "core/options.h"
#include "core/output.h"
#include "core/report/report.h"
#include "core/symbols/symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum exit_status { /* profile(8), EXIT STATUS */
		   EXIT_OK = 0,
		   EXIT_FAILED = 1, /* could not profile, or could not write the report */
		   EXIT_USAGE = 2,  /* nothing was opened */
};

static enum exit_status fail(const struct err *err)
{
	fprintf(stderr, "profile: error: %s\n", err->msg);
	return EXIT_FAILED;
}

/* A reader that has seen enough, like head(1), needs no message. */
static enum exit_status fail_writing(const struct err *err)
{
	return err->code == -EPIPE ? EXIT_FAILED : fail(err);
}

static void list_backends(FILE *out)
{
	const struct backend_ops *ops;
	struct err why;
	unsigned int i;

	for (i = 0; (ops = backend_at(i)); i++) {
		if (ops->probe(false, &why))
			fprintf(out, "%-10s no   %s\n", ops->name, why.msg);
		else
			fprintf(out, "%-10s yes  %s\n", ops->name, ops->does);
	}
}

static void print_source(FILE *out)
{
	const struct backend_ops *ops;
	unsigned int i;

	for (i = 0; (ops = backend_at(i)); i++)
		if (ops->source)
			fputs(ops->source, out);
}

/* What only talks about the program itself. */
static enum exit_status run_action(const struct options *o)
{
	struct output out;
	struct err err;

	output_open(&out, NULL, stdout, &err);
	if (o->action == ACTION_HELP)
		options_help(out.stream);
	else if (o->action == ACTION_VERSION)
		fputs("profile " PROFILE_VERSION "\n", out.stream);
	else if (o->action == ACTION_PRINT_BPF)
		print_source(out.stream);
	else
		list_backends(out.stream);
	return output_commit(&out, &err) ? fail_writing(&err) : EXIT_OK;
}

/* Stable "name: value" lines; profile(8) says what each means. */
static void print_stats(const struct capture *cap, const struct books *b, int64_t unaccounted)
{
	const struct {
		const char *name;
		uint64_t value;
	} lines[] = {
		{ "samples_taken", b->taken },
		{ "samples_counted_in_kernel", b->counted_kernel },
		{ "samples_counted_from_ring", b->counted_ring },
		{ "samples_filtered", b->filtered },
		{ "samples_lost", b->lost },
		{ "spilled_no_stack_room", b->spilled_stack },
		{ "spilled_no_count_room", b->spilled_count },
		{ "samples_of_dying_tasks", b->dead_tasks },
		{ "samples_outside", b->outside },
		{ "ring_records", b->ring_records },
		{ "ring_bytes_read", b->ring_bytes },
		{ "ring_records_lost", b->lost_records },
		{ "ring_records_late", b->late_records },
		{ "ring_records_bad", b->bad_records },
		{ "throttled", b->throttled },
		{ "rows", stacks_nr_rows(cap->stacks) },
		{ "stacks", stacks_nr_stacks(cap->stacks) },
		{ "cpus", cap->nr_cpus },
		{ "started_ns", cap->started_ns },
		{ "sampled_ns", cap->stopped_ns - cap->started_ns },
	};
	size_t i;

	fprintf(stderr, "backend: %s\n", cap->backends[0].ops->name);
	fprintf(stderr, "backend_reason: %s\n", cap->reason);
	for (i = 0; i < ARRAY_SIZE(lines); i++)
		fprintf(stderr, "%s: %" PRIu64 "\n", lines[i].name, lines[i].value);
	fprintf(stderr, "samples_unaccounted: %" PRId64 "\n", unaccounted);
}

static void print_warnings(const struct capture *cap, const struct books *b, int64_t unaccounted,
			   const struct symbols *symbols)
{
	struct err why;

	if (b->lost)
		fprintf(stderr,
			"WARNING: %" PRIu64 " stack traces could not be displayed. "
			"A ring had no room for them: lower the rate (-F), or give the profiler more CPU time.\n",
			b->lost);
	if (b->lost_records > b->lost)
		fprintf(stderr,
			"WARNING: %" PRIu64 " records about tasks and mappings were lost: some names may be wrong.\n",
			b->lost_records - b->lost);
	if (unaccounted)
		fprintf(stderr, "WARNING: %" PRId64 " samples are not accounted for: this is a bug of profile.\n",
			unaccounted);
	if (tasks_refused(cap->tasks))
		fprintf(stderr, "WARNING: %" PRIu64 " mappings were too many to keep: their frames are [unknown].\n",
			tasks_refused(cap->tasks));
	if (symbols_kernel_hidden(symbols, &why))
		fprintf(stderr, "WARNING: %s\n", why.msg);
	if (symbols_skipped(symbols, &why))
		fprintf(stderr, "WARNING: %s\n", why.msg);
}

static void kernel_name(void *ctx, uint64_t addr, bool is_return, struct symbol *out)
{
	symbols_kernel(ctx, addr, is_return, out);
}

static void user_name(void *ctx, pid_t pid, const char *comm, uint64_t addr, bool is_return, struct symbol *out)
{
	symbols_user(ctx, pid, comm, addr, is_return, out);
}

static int write_report(const struct capture *cap, struct symbols *symbols, struct output *out, struct err *err)
{
	const struct report_names names = { symbols, kernel_name, user_name };
	int rc;

	if (cap->options->report.form != REPORT_FOLDED)
		fputc('\n', out->stream);
	rc = report_write(out->stream, cap->stacks, &names, &cap->options->report, err);
	if (rc && rc != -ENOMEM)
		output_error(out, rc, err);
	if (!rc)
		return output_commit(out, err);
	output_discard(out);
	return rc;
}

/* Sampling is over: everything the user gets. */
static enum exit_status report(struct capture *cap, struct output *out, struct err *err)
{
	struct symbols *symbols = symbols_new(cap->tasks, cap->host);
	struct books books;
	int64_t unaccounted;
	int rc;

	if (!symbols) {
		output_discard(out);
		err_sys(err, -ENOMEM, "cannot name the stacks");
		return fail(err);
	}
	unaccounted = capture_books(cap, &books);
	capture_close(cap);
	rc = write_report(cap, symbols, out, err);
	print_warnings(cap, &books, unaccounted, symbols);
	if (cap->options->stats)
		print_stats(cap, &books, unaccounted);
	symbols_free(symbols);
	return rc ? fail_writing(err) : EXIT_OK;
}

/* Seen before sampling begins; and when nobody can see it, sampling need not begin. */
static int write_header(struct output *out, const struct options *o, struct err *err)
{
	if (o->report.form == REPORT_FOLDED)
		return 0;
	options_header(out->stream, o);
	return fflush(out->stream) ? output_error(out, -errno, err) : 0;
}

static enum exit_status profile(struct capture *cap, struct output *out, struct err *err)
{
	const struct options *o = cap->options;

	if (capture_open(cap, err)) {
		output_discard(out);
		return fail(err);
	}
	if (o->verbose)
		fprintf(stderr, "profile: backend %s: %s\n", cap->backends[0].ops->name, cap->reason);
	if (write_header(out, o, err)) {
		output_discard(out);
		return fail_writing(err);
	}
	if (capture_run(cap, err)) {
		output_discard(out);
		return fail(err);
	}
	return report(cap, out, err);
}

/*
 * What is opened must not become 0, 1 or 2: a warning would land in the report, or the report in an event. Opened for
 * reading, so that writing a report to a closed stdout still fails.
 */
static void fill_standard_fds(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	enum exit_status status;
	struct options options;
	struct capture *cap;
	struct output out;
	struct err err;

	fill_standard_fds();
	/* A closed pipe, or a file beyond RLIMIT_FSIZE, is an error of the write. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	if (options_parse(&options, argc, argv, &host_here, &err)) {
		fprintf(stderr, "profile: error: %s\nTry 'profile --help'.\n", err.msg);
		status = EXIT_USAGE;
	} else if (options.action != ACTION_PROFILE) {
		status = run_action(&options);
	} else if (output_open(&out, options.output, stdout, &err)) {
		status = fail(&err);
	} else if (!(cap = capture_new(&options, &host_here))) {
		output_discard(&out);
		err_sys(&err, -ENOMEM, "cannot begin");
		status = fail(&err);
	} else {
		status = profile(cap, &out, &err);
		capture_free(cap);
	}
	options_release(&options);
	return status;
}
