// SPDX-License-Identifier: Apache-2.0
#include "core/cli/run.h"

#include "core/cli/inputs.h"
#include "core/cli/list_backends.h"
#include "core/cli/messages.h"
#include "core/cli/options.h"
#include "core/cli/output.h"
#include "core/cli/print_bpf.h"
#include "core/cli/progress_line.h"
#include "core/cli/reports.h"
#include "core/cli/request.h"
#include "core/cli/terminal.h"
#include "core/cli/warnings.h"
#include "core/host/privileges.h"
#include "core/host/signals.h"
#include "core/session/open.h"
#include "core/session/session.h"
#include "core/symbols/symbols.h"
#include "core/tasks/command.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_KIB_MIN 512u
#define LARGE_BLOCK   (256 << 10) /* bytes */

enum exit_status { /* profile(8), EXIT STATUS */
		   EXIT_OK = 0,
		   EXIT_FAILED = 1,    /* could not begin or continue, or could not write the report */
		   EXIT_USAGE = 2,     /* nothing was opened */
		   EXIT_DIFFERENT = 3, /* the two backends, or the two unwinders, disagree */
		   EXIT_GREW = 4,      /* a function grew by more than --fail-above */
};

static enum exit_status fail(enum tool tool, const struct err *err)
{
	fprintf(stderr, "%s: %s%s\n", tool_name(tool), error_word(stderr), err->msg);
	return EXIT_FAILED;
}

/* Do not print a message if the reader of the pipe has ended, like head(1). */
static enum exit_status fail_writing(enum tool tool, const struct err *err)
{
	return err->code == -EPIPE ? EXIT_FAILED : fail(tool, err);
}

/* Actions that print something about the program and exit. */
static enum exit_status run_action(const struct options *o)
{
	struct output out;
	struct err err;

	output_open(&out, NULL, stdout, &err);
	if (o->action == ACTION_HELP)
		options_help(out.stream, o->tool);
	else if (o->action == ACTION_SUMMARY)
		options_summary(out.stream, o->tool);
	else if (o->action == ACTION_VERSION)
		fprintf(out.stream, "%s " PROFILE_VERSION "\n", tool_name(o->tool));
	else if (o->action == ACTION_PRINT_BPF)
		print_bpf(out.stream, o->tool);
	else
		list_backends(out.stream, o);
	return output_commit(&out, &err) ? fail_writing(o->tool, &err) : EXIT_OK;
}

static bool read_names(void *ctx)
{
	return symbols_ahead(ctx);
}

/*
 * The next functions return 0, or -errno, described: -EPIPE: no process reads the report any more; -ECANCELED: the
 * command was interrupted before it began, so print no message.
 */

/* Sample and report, interval by interval. */
static int sample(struct reports *reports, struct err *err)
{
	struct progress_line line;
	int more, rc;

	progress_line_begin(&line, reports->run, reports->session);
	do {
		more = session_run(reports->session, err);
		progress_line_erase(&line);
		if (more < 0)
			return more;
		if (!more && !reports->run->input)
			cpu_wait_begin(&host_here, &reports->wait, "the report");
		rc = reports_add(reports, !more, err);
		if (rc)
			return rc;
	} while (more);
	return 0;
}

static int open_and_sample(struct reports *reports, struct err *err)
{
	const struct session *s = reports->session;
	struct cpu_wait wait;
	int rc;

	warn_of_taint(reports->run);
	cpu_wait_begin(&host_here, &wait, "the start");
	rc = session_open(reports->session, err);
	if (rc)
		return s->request.command && command_ended(s->request.command) ? -ECANCELED : rc;
	warn_of_limits(reports->run, s);
	if (!s->request.filter.no_kernel && !events_attr(&s->events)->exclude_kernel &&
	    symbols_begin(reports->symbols, !s->events.attrs[EVENT_SIDE_BAND].ksymbol))
		return err_sys(err, -ENOMEM, "cannot begin");
	if (!reports->run->input)
		warn_of_wait(&wait);
	rc = reports_begin(reports, err);
	return rc ? rc : sample(reports, err);
}

/* Files that the caller names must be opened before lent capabilities are first used: see privileges.h. */
static int run_session(struct reports *reports, const struct options *o, struct session *s, struct err *err)
{
	const struct symbols_cfg names = {
		.files = &s->files,
		.perf_maps = s->perf_maps,
		.jitdumps = s->jitdumps,
		.namer = &s->namer,
		.kernel_ranges = s->sink.kernel_ranges,
		.kallsyms = o->kallsyms,
		.vmlinux = o->vmlinux,
		.inlined = o->report.inlined && !o->filter.no_user,
		.source = o->report.source && !o->filter.no_user,
		.interval_ns = o->interval_ns,
	};
	int rc = symbols_open(s->sink.tasks, &names, &reports->symbols, err);

	if (!rc) {
		reports_next(reports, o, s);
		session_ahead(s, read_names, reports->symbols);
		rc = open_and_sample(reports, err);
	}
	if (rc)
		reports_release(reports);
	symbols_free(reports->symbols);
	reports->symbols = NULL;
	reports->session = NULL;
	return rc;
}

/* Read one recording, perhaps of several. */
static int run_recording(struct reports *reports, const struct options *o, struct err *err)
{
	struct session *s = request_session(o, &host_here);
	int rc = s ? run_session(reports, o, s, err) : err_sys(err, -ENOMEM, "cannot begin");

	session_free(s);
	return rc;
}

/*
 * Opened files must not get the numbers 0, 1 or 2: a warning would go to the report, or the report to an event. A
 * closed stdin is opened for writing, and a closed stdout for reading, so that their use still fails. In a command,
 * these descriptors are closed again.
 */
static void fill_standard_fds(void)
{
	int fd;

	if (fcntl(STDIN_FILENO, F_GETFD) < 0)
		open("/dev/null", O_WRONLY | O_CLOEXEC);
	do
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/*
 * Buffers of 64 KiB on the stack, and libraries that read C++ names and debug information recursively, would overflow a
 * smaller stack. The limit applies to each thread, too.
 */
static int check_stack(struct err *err)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_STACK, &rl) || rl.rlim_cur >= STACK_KIB_MIN << 10)
		return 0;
	return err_set(err, -ENOMEM, "RLIMIT_STACK is %llu KiB, but %u KiB are needed (raise it: ulimit -s %u)",
		       (unsigned long long)rl.rlim_cur >> 10, STACK_KIB_MIN, STACK_KIB_MIN);
}

static int run_here(struct reports *reports, struct command *command, struct err *err)
{
	struct session *s = request_session(reports->options, &host_here);
	int rc;

	if (!s)
		return err_sys(err, -ENOMEM, "cannot begin");
	if (command)
		session_command(s, command);
	rc = run_session(reports, reports->options, s, err);
	/* End the report's pipe now: the rest may take long (events_hold()). */
	if (!reports->more)
		fclose(stdout);
	session_free(s);
	return rc;
}

/* In the child: check the baseline, and send the result to @fd. It must not return. */
static void check_in_child(struct reports *reports, struct infile *in, int fd)
{
	struct err err = { 0 };

	if (privileges_none())
		_exit(1);
	reports_check_baseline(reports, in, &err);
	_exit(write(fd, &err, sizeof(err)) != sizeof(err));
}

/* Return: 0; -errno, described: what the child has sent. */
static int checked_by(pid_t child, int fd, const char *path, struct err *err)
{
	struct err got;
	ssize_t n = read(fd, &got, sizeof(got));
	int status;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (n != sizeof(got) || status)
		return err_sys(err, -EIO, "cannot read '%s'", path);
	if (got.code)
		*err = got;
	return got.code;
}

static int check_by_child(struct reports *reports, struct infile *in, struct err *err)
{
	int fds[2], rc = 0;
	pid_t child;

	if (pipe2(fds, O_CLOEXEC))
		return err_sys(err, -errno, "cannot begin");
	child = fork();
	if (!child)
		check_in_child(reports, in, fds[1]);
	if (child < 0)
		rc = err_sys(err, -errno, "cannot begin");
	close(fds[1]);
	if (!rc)
		rc = checked_by(child, fds[0], infile_name(in), err);
	close(fds[0]);
	return rc;
}

/*
 * Before a long run, check a baseline that is a report, in a child without capabilities. Open it once more for the
 * child, which would share the position in a file that is open already. Skip a stream, because it can be read only
 * once.
 */
static int check_baseline(struct reports *reports, struct err *err)
{
	const char *path = reports->options->baseline;
	struct infile *in;
	struct stat st;
	int rc;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return 0;
	rc = infile_open(path, &in, err);
	if (rc)
		return rc;
	rc = infile_format(in) == INFILE_RECORDING ? 0 : check_by_child(reports, in, err);
	infile_close(in);
	return rc;
}

/*
 * Open the baseline before the run, but read it afterwards: by then session_open() has dropped the capabilities that
 * are no longer needed, so that a hostile file of another user has less to gain.
 */
static int run_all(struct reports *reports, struct command *command, struct err *err)
{
	const struct options *o = reports->options;
	struct infile *baseline = NULL;
	int rc = o->baseline ? infile_open(o->baseline, &baseline, err) : 0;

	if (!rc && baseline && !o->input)
		rc = check_baseline(reports, err);
	reports->more = baseline;
	if (!rc)
		rc = o->input ? inputs_read(reports, baseline, run_recording, err) : run_here(reports, command, err);
	if (!rc && baseline) {
		reports->before = true;
		reports->more = false;
		rc = inputs_read_one(reports, baseline, o->baseline, run_recording, err);
	}
	infile_close(baseline);
	return rc;
}

static enum exit_status status_of(const struct reports *reports, int rc, const struct err *err)
{
	if (rc == -ECANCELED)
		return EXIT_OK;
	if (rc)
		return fail_writing(reports->options->tool, err);
	if (reports->agreement.differ)
		return EXIT_DIFFERENT;
	return reports->grown ? EXIT_GREW : EXIT_OK;
}

static enum exit_status run_options(const struct options *o, struct command *command, struct err *err)
{
	struct reports reports = { .options = o };
	enum exit_status status;
	struct output out;
	int rc;

	if (output_open(&out, o->output, command ? stderr : stdout, err))
		return fail(o->tool, err);
	reports.out = &out;
	rc = run_all(&reports, command, err);
	status = status_of(&reports, rc, err);
	reports_release(&reports);
	output_discard(&out);
	return status;
}

/* Create the command's process before opening any file, so that it inherits none. Return: an exit status. */
static int run_command(const struct options *o, struct err *err)
{
	struct command *command = command_start(o->command, err);
	enum exit_status status;
	int ended;

	if (!command)
		return fail(o->tool, err);
	status = run_options(o, command, err);
	fflush(stderr);
	/* The command may continue after the report, or without one. */
	ended = command_wait(command);
	command_free(command);
	return status == EXIT_OK ? ended : (int)status;
}

/*
 * Let glibc map each large block on its own, and unmap it when it is freed. By default, it raises the threshold when
 * such a block is freed: then tables grow in the heap, and the memory that they leave behind there stays allocated.
 * With that default, a live run with perfring at 99 Hz had a peak that was a tenth higher. Chunks of the queue
 * (backend-perfring/queue.c) are smaller than the threshold, because there are many.
 */
static void keep_large_blocks_apart(void)
{
	mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK);
}

int run_main(enum tool tool, int argc, char **argv)
{
	struct options options;
	struct err err;
	int status, rc;

	keep_large_blocks_apart();
	fill_standard_fds();
	signals_ignore();
	if (check_stack(&err) || privileges_begin(&err))
		return fail(tool, &err);
	host_here_look();
	rc = options_parse(&options, tool, argc, argv, &host_here, &err);
	messages_color(options.color);
	if (!options.output)
		options.report.width = terminal_columns(options.command ? STDERR_FILENO : STDOUT_FILENO);
	if (rc) {
		fail(tool, &err);
		fprintf(stderr, "Try '%s --help'.\n", tool_name(tool));
		status = EXIT_USAGE;
	} else if (options.action != ACTION_PROFILE) {
		status = run_action(&options);
	} else if (options.command) {
		status = run_command(&options, &err);
	} else {
		status = run_options(&options, NULL, &err);
	}
	options_release(&options);
	return status;
}
