// SPDX-License-Identifier: Apache-2.0
/* Real processes, with programs that every system has. */
#include "core/host/signals.h"
#include "core/tasks/command.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static char *dir;
static struct err err;
static int fds_before;

static void setup(void)
{
	dir = unit_tmpdir();
	ck_assert_int_eq(chdir(dir), 0);
	unit_write(dir, "text", "exit 5\n", 7);
	unit_write(dir, "plain", "exit 5\n", 7);
	ck_assert_int_eq(chmod("text", 0755), 0);
	ck_assert_int_eq(symlink("loop", "loop"), 0);
	/* check(3) installs handlers, which children must not inherit. */
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	err = (struct err){ 0 };
	fds_before = unit_open_fds();
}

/* No process of any command is left. */
static void teardown(void)
{
	ck_assert_int_eq(unit_open_fds(), fds_before);
	ck_assert(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
	ck_assert_int_eq(chdir("/"), 0);
	unit_rmdir(dir);
}

static char *const *shell(char *script)
{
	static char *argv[] = { (char *)"sh", (char *)"-c", NULL, NULL };

	argv[2] = script;
	return argv;
}

static struct command *started(char *const *argv)
{
	struct command *c = command_start(argv, &err);

	ck_assert_msg(c, "%s", err.msg);
	ck_assert_int_gt(command_pid(c), 0);
	return c;
}

static struct command *released(char *const *argv)
{
	struct command *c = started(argv);

	ck_assert_msg(!command_release(c, -1, &err), "%s", err.msg);
	return c;
}

static int status_of(char *script)
{
	struct command *c = released(shell(script));
	int status = command_wait(c);

	ck_assert(command_ended(c));
	ck_assert_int_eq(command_wait(c), status); /* the status is kept */
	command_free(c);
	return status;
}

/* ---- how it ends */

static const struct {
	const char *script;
	int status;
} ends[] = {
	{ "exit 0", 0 },
	{ "exit 1", 1 },
	{ "exit 3", 3 },
	{ "exit 126", 126 },
	{ "exit 255", 255 },
	{ "kill -INT $$", 130 },
	{ "kill -KILL $$", 137 },
	{ "kill -TERM $$", 143 },
	{ "kill -HUP $$", 129 },
	{ "kill -ABRT $$", 134 },
	{ "sleep 60 >/dev/null & kill $!; exit 4", 4 },
};

START_TEST(test_ends)
{
	ck_assert_int_eq(status_of((char *)ends[_i].script), ends[_i].status);
}
END_TEST

/* ---- what cannot be executed */

static const struct {
	const char *name;
	int code;
} unable[] = {
	{ "/nowhere/at/all", ENOENT },
	{ "no-such-program-anywhere", ENOENT },
	{ "", ENOENT },
	{ "./", EACCES },
	{ "/", EACCES },
	{ "./plain", EACCES },
	{ "./text/x", ENOTDIR },
	{ "./loop", ELOOP },
	{ "/dev/null", EACCES },
	{ "--help", ENOENT },
};

START_TEST(test_unable)
{
	char *argv[] = { (char *)unable[_i].name, NULL }, says[256];
	struct command *c = started(argv);

	ck_assert_int_eq(command_release(c, -1, &err), -unable[_i].code);
	snprintf(says, sizeof(says), "cannot run '%s': %s", unable[_i].name, strerror(unable[_i].code));
	ck_assert_str_eq(err.msg, says);
	ck_assert_int_eq(err.code, -unable[_i].code);
	ck_assert(command_ended(c));
	command_free(c);
}
END_TEST

START_TEST(test_name_too_long)
{
	char name[5000], *argv[] = { name, NULL };
	struct command *c;

	memset(name, 'x', sizeof(name) - 1);
	name[0] = '/';
	name[sizeof(name) - 1] = 0;
	c = started(argv);
	ck_assert_int_eq(command_release(c, -1, &err), -ENAMETOOLONG);
	ck_assert_int_lt(strlen(err.msg), 300);
	command_free(c);
}
END_TEST

START_TEST(test_name_not_printable)
{
	char *argv[] = { (char *)"./\x1b[2J\n\xff;x", NULL };
	struct command *c = started(argv);

	ck_assert_int_eq(command_release(c, -1, &err), -ENOENT);
	ck_assert_str_eq(err.msg, "cannot run './?[2J??;x': No such file or directory");
	command_free(c);
}
END_TEST

/* A script that does not begin with "#!" runs in the shell. */
START_TEST(test_script)
{
	char *argv[] = { (char *)"./text", NULL };
	struct command *c = released(argv);

	ck_assert_int_eq(command_wait(c), 5);
	command_free(c);
}
END_TEST

/* ---- before it is released */

START_TEST(test_never_released)
{
	struct command *c = started(shell((char *)"echo >made"));

	ck_assert(!command_ended(c));
	command_free(c);
	ck_assert_int_ne(access("made", F_OK), 0);
}
END_TEST

START_TEST(test_waits)
{
	struct command *c = started(shell((char *)"echo >made"));

	ck_assert(!command_ended(c));
	ck_assert_int_eq(kill(command_pid(c), 0), 0);
	ck_assert_int_ne(access("made", F_OK), 0);
	ck_assert_int_eq(command_release(c, -1, &err), 0);
	ck_assert_int_eq(command_wait(c), 0);
	ck_assert_int_eq(access("made", F_OK), 0);
	command_free(c);
}
END_TEST

/* Ctrl-C before the command runs. */
START_TEST(test_killed_before)
{
	struct command *c = started(shell((char *)"echo >made"));
	struct pollfd fd = { command_fd(c), POLLIN, 0 };

	ck_assert_int_eq(kill(command_pid(c), SIGINT), 0);
	ck_assert_int_eq(poll(&fd, 1, -1), 1);
	if (_i)
		ck_assert(command_ended(c));
	ck_assert_int_eq(command_release(c, -1, &err), 0);
	ck_assert_int_eq(command_wait(c), 128 + SIGINT);
	command_free(c);
	ck_assert_int_ne(access("made", F_OK), 0);
}
END_TEST

START_TEST(test_no_descriptors)
{
	int fds[64], nr = 0, spare = _i;
	rlim_t before;

	if (unit_below_valgrind())
		return; /* valgrind keeps descriptors for itself, beyond the limit */
	before = unit_limit_files(64);
	while (nr < 64 && (fds[nr] = dup(STDERR_FILENO)) >= 0)
		nr++;
	/* It needs one signalfd and two sockets. */
	while (spare-- > 0)
		close(fds[--nr]);
	ck_assert_ptr_null(command_start(shell((char *)"echo >made"), &err));
	ck_assert_int_eq(err.code, -EMFILE);
	ck_assert_str_eq(err.msg, "cannot make a process for 'sh': Too many open files");
	while (nr)
		close(fds[--nr]);
	unit_limit_files(before);
}
END_TEST

/* ---- its end is reported */

START_TEST(test_told)
{
	struct command *c = released(shell((char *)"exit 6"));
	struct pollfd fd = { command_fd(c), POLLIN, 0 };

	while (!command_ended(c))
		ck_assert_int_eq(poll(&fd, 1, -1), 1);
	ck_assert_int_eq(command_wait(c), 6);
	ck_assert_int_eq(poll(&fd, 1, 0), 0);
	command_free(c);
}
END_TEST

/* The end of another child does not matter. */
START_TEST(test_others)
{
	int ends_of[2], status;
	struct command *c;
	pid_t other;

	ck_assert_int_eq(pipe(ends_of), 0);
	ck_assert_int_eq(dup2(ends_of[0], STDIN_FILENO), STDIN_FILENO);
	fcntl(ends_of[1], F_SETFD, FD_CLOEXEC);
	c = released(shell((char *)"read -r line; exit 7"));
	other = fork();
	ck_assert_int_ge(other, 0);
	if (!other)
		_exit(1);
	ck_assert_int_eq(waitpid(other, &status, 0), other);
	ck_assert_int_eq(poll(&(struct pollfd){ command_fd(c), POLLIN, 0 }, 1, -1), 1);
	ck_assert(!command_ended(c));
	ck_assert_int_eq(poll(&(struct pollfd){ command_fd(c), POLLIN, 0 }, 1, 0), 0);
	close(ends_of[0]);
	close(ends_of[1]);
	ck_assert_int_eq(command_wait(c), 7);
	command_free(c);
}
END_TEST

/* ---- it inherits the state that this process started with */

static const struct {
	int sig;
	const char *script;
	int status, status_ignored; /* if the signal had its default action, and if it was ignored */
} kept[] = {
	{ SIGPIPE, "kill -PIPE $$; exit 3", 128 + SIGPIPE, 3 },
	{ SIGXFSZ, "kill -XFSZ $$; exit 3", 128 + SIGXFSZ, 3 },
	{ SIGINT, "kill -INT $$; exit 3", 128 + SIGINT, 3 },
};

START_TEST(test_signals_kept)
{
	bool ignored = _i % 2;

	signal(kept[_i / 2].sig, ignored ? SIG_IGN : SIG_DFL);
	signals_ignore();
	ck_assert_int_eq(status_of((char *)kept[_i / 2].script),
			 ignored ? kept[_i / 2].status_ignored : kept[_i / 2].status);
	signals_restore();
	signal(kept[_i / 2].sig, SIG_DFL);
}
END_TEST

/* SIGCHLD is tested without a shell, which would change its action. */
static const struct {
	bool ignored;
	const char *pattern;
	int status;
} sigchld[] = {
	{ false, "^SigIgn:.*[13579bdf]....$", 1 },
	{ true, "^SigIgn:.*[13579bdf]....$", 0 },
	{ false, "^SigBlk:.0*$", 0 },
};

START_TEST(test_sigchld_kept)
{
	char *argv[] = { (char *)"grep", (char *)"-q", (char *)sigchld[_i].pattern, (char *)"/proc/self/status", NULL };
	void (*before)(int) = sigchld[_i].ignored ? SIG_IGN : SIG_DFL;
	struct command *c;

	signal(SIGCHLD, before);
	c = released(argv);
	ck_assert_int_eq(command_wait(c), sigchld[_i].status);
	command_free(c);
	ck_assert(signal(SIGCHLD, SIG_DFL) == before);
}
END_TEST

/* ---- signals that are passed on */

static const struct {
	const char *script; /* reads a pipe without data */
	int sig, from;      /* SI_USER: from a process, SI_KERNEL: from the terminal */
	bool to_nobody;
	int status;
} passed[] = {
	{ "exec cat", SIGINT, SI_USER, false, 128 + SIGINT },
	{ "exec cat", SIGTERM, SI_USER, false, 128 + SIGTERM },
	{ "exec cat", SIGINT, SI_KERNEL, false, 0 }, /* the terminal sends it to the command, too */
	{ "exec cat", SIGTERM, SI_USER, true, 0 },
	{ "exec cat", SIGINT, SI_USER, true, 0 },
};

static void signal_ourselves(int sig, int from)
{
	siginfo_t info = { .si_signo = sig, .si_code = from };

	ck_assert_int_eq(syscall(SYS_rt_sigqueueinfo, getpid(), sig, &info), 0);
}

START_TEST(test_passed)
{
	int ends_of[2], fd;
	struct command *c;

	ck_assert_int_eq(pipe(ends_of), 0);
	ck_assert_int_eq(dup2(ends_of[0], STDIN_FILENO), STDIN_FILENO);
	fcntl(ends_of[1], F_SETFD, FD_CLOEXEC);
	c = released(shell((char *)passed[_i].script));
	fd = signals_catch(&err);
	if (passed[_i].to_nobody)
		signals_pass_to(0);
	signal_ourselves(passed[_i].sig, passed[_i].from);
	ck_assert(signals_take(fd));
	ck_assert(!signals_take(fd));
	/* It ends by the signal, or because the pipe ends. */
	close(ends_of[0]);
	if (!passed[_i].status)
		close(ends_of[1]);
	ck_assert_int_eq(command_wait(c), passed[_i].status);
	if (passed[_i].status)
		close(ends_of[1]);
	/* The command has ended. */
	signal_ourselves(passed[_i].sig, passed[_i].from);
	ck_assert(signals_take(fd));
	close(fd);
	signals_release();
	command_free(c);
}
END_TEST

/* The exec is slow because the process is stopped. */
START_TEST(test_signal_before_exec)
{
	struct command *c = started(shell((char *)"echo >made"));
	int fd = signals_catch(&err);

	ck_assert_int_eq(kill(command_pid(c), SIGSTOP), 0);
	signal_ourselves(SIGTERM, SI_USER);
	ck_assert_int_eq(command_release(c, fd, &err), 0);
	ck_assert(!command_ended(c));
	ck_assert(signals_take(fd));
	ck_assert_int_eq(kill(command_pid(c), SIGCONT), 0);
	ck_assert_int_eq(command_wait(c), 128 + SIGTERM);
	close(fd);
	command_free(c);
	ck_assert_int_ne(access("made", F_OK), 0);
}
END_TEST

/* A signal is passed on while this process waits: the command sends it when it is ready. */
START_TEST(test_signal_while_waiting)
{
	static char script[] = "trap 'exit 8' TERM; kill -$0 $PPID; while :; do sleep 0.01; done";
	char *argv[] = { (char *)"sh", (char *)"-c", script, (char *)"TERM", NULL };
	struct command *c;

	c = started(argv);
	signals_hold();
	ck_assert_int_eq(command_release(c, -1, &err), 0);
	ck_assert_int_eq(command_wait(c), 8);
	command_free(c);
}
END_TEST

/* A command that has left our process group does not get the terminal's signals, so they are passed on to it. */
START_TEST(test_other_group)
{
	struct command *c = started(shell((char *)"exit 0"));
	int fd = signals_catch(&err);

	ck_assert_int_eq(setpgid(command_pid(c), command_pid(c)), 0);
	signal_ourselves(SIGINT, SI_KERNEL);
	ck_assert(signals_take(fd));
	ck_assert_int_eq(command_wait(c), 128 + SIGINT);
	close(fd);
	signals_release();
	command_free(c);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("command");
	TCase *t = tcase_create("command");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, test_ends, 0, ARRAY_SIZE(ends));
	tcase_add_loop_test(t, test_unable, 0, ARRAY_SIZE(unable));
	tcase_add_test(t, test_name_too_long);
	tcase_add_test(t, test_name_not_printable);
	tcase_add_test(t, test_script);
	tcase_add_test(t, test_never_released);
	tcase_add_test(t, test_waits);
	tcase_add_loop_test(t, test_killed_before, 0, 2);
	tcase_add_loop_test(t, test_no_descriptors, 0, 3);
	tcase_add_test(t, test_told);
	tcase_add_test(t, test_others);
	tcase_add_loop_test(t, test_signals_kept, 0, 2 * ARRAY_SIZE(kept));
	tcase_add_loop_test(t, test_sigchld_kept, 0, ARRAY_SIZE(sigchld));
	tcase_add_loop_test(t, test_passed, 0, ARRAY_SIZE(passed));
	tcase_add_test(t, test_signal_before_exec);
	tcase_add_test(t, test_signal_while_waiting);
	tcase_add_test(t, test_other_group);
	tcase_set_timeout(t, 60);
	suite_add_tcase(s, t);
	return unit_main(s);
}
