// SPDX-License-Identifier: Apache-2.0
#include "core/cli/run.h"

#include "core/cli/options.h"
#include "core/cli/output.h"
#include "core/cli/reports.h"
#include "core/cli/warnings.h"
#include "core/host/privileges.h"
#include "core/host/signals.h"
#include "core/session/open.h"
#include "core/session/session.h"
#include "core/symbols/symbols.h"
#include "core/tasks/command.h"

#include <errno.h>
#include <fcntl.h>
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

static bool read_names(void *ctx)
{
	return symbols_ahead(ctx);
}

/* Count and report, interval by interval. */
static enum exit_status sample(struct reports *reports, struct err *err)
{
	enum tool tool = reports->session->request.options->tool;
	int more, rc;

	do {
		more = session_run(reports->session, err);
		if (more < 0)
			return fail(tool, err);
		rc = reports_add(reports, !more, err);
		if (rc)
			return fail_writing(tool, err);
	} while (more);
	return reports->agreement.differ ? EXIT_DIFFERENT : EXIT_OK;
}

static enum exit_status open_and_sample(struct reports *reports, struct err *err)
{
	enum tool tool = reports->session->request.options->tool;

	warn_of_taint(reports->session->request.options);
	/* Who is interrupted has nothing to be told. */
	if (session_open(reports->session, err))
		return reports->session->request.command && command_ended(reports->session->request.command)
			       ? EXIT_OK
			       : fail(tool, err);
	warn_of_limits(reports->session);
	if (reports_begin(reports, err))
		return fail_writing(tool, err);
	return sample(reports, err);
}

/* What the caller names is opened before the first right is used that may be lent: privileges.h. */
static enum exit_status run_session(struct session *s, struct output *out, struct err *err)
{
	const struct symbols_cfg names = {
		.files = &s->files,
		.perf_maps = s->perf_maps,
		.kallsyms = s->request.options->kallsyms,
		.vmlinux = s->request.options->vmlinux,
		.inlined = s->request.options->report.inlined && !s->request.options->kernel_only,
		.source = s->request.options->report.source && !s->request.options->kernel_only,
	};
	struct reports reports = { .session = s, .out = out };
	enum exit_status status;

	if (symbols_open(s->sink.tasks, &names, &reports.symbols, err)) {
		status = fail(s->request.options->tool, err);
	} else {
		session_ahead(s, read_names, reports.symbols);
		status = open_and_sample(&reports, err);
	}
	report_end(&reports.report, false, NULL);
	output_discard(out);
	symbols_free(reports.symbols);
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
	status = run_session(s, &out, err);
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
