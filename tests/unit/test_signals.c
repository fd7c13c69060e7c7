// SPDX-License-Identifier: Apache-2.0
#include "core/base/clock.h"
#include "core/host/signals.h"
#include "tests/unit/unit.h"

#include <signal.h>
#include <sys/wait.h>

static const int both[] = { SIGINT, SIGTERM };

/* Run a child that does @what. Return: its wait status. All changes to signals end with it. */
static int child(void (*what)(int sig), int sig)
{
	int status = -1;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (!pid) {
		what(sig);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

static void require(bool holds)
{
	if (!holds)
		_exit(1);
}

/* ---- a descriptor */

static void catch_and_take(int sig)
{
	struct err err;
	int fd = signals_catch(&err);

	require(fd >= 0 && !signals_take(fd));
	raise(sig);
	raise(sig); /* each signal is pending at most once */
	require(signals_take(fd) && !signals_take(fd));
	raise(sig);
	require(signals_take(fd));
	close(fd);
	require(!signals_take(fd));
	require(!signals_take(-1));
}

static void catch_and_release(int sig)
{
	struct err err;

	require(signals_catch(&err) >= 0);
	raise(sig);
	signals_release();
	_exit(2);
}

static void catch_both(int sig)
{
	struct err err;
	int fd = signals_catch(&err);

	raise(sig);
	raise(sig == SIGINT ? SIGTERM : SIGINT);
	require(signals_take(fd) && signals_take(fd) && !signals_take(fd));
}

/* A signal right after the first counts as the same one. */
static void release_and_twin(int sig)
{
	struct err err;
	int fd = signals_catch(&err);

	raise(sig);
	require(signals_take(fd));
	signals_release();
	raise(sig);
	raise(sig);
}

static void release_and_other(int sig)
{
	struct err err;
	int fd = signals_catch(&err);

	raise(sig == SIGINT ? SIGTERM : SIGINT);
	require(signals_take(fd));
	signals_release();
	raise(sig);
	_exit(2);
}

static void release_and_again(int sig)
{
	struct err err;
	int fd = signals_catch(&err);

	raise(sig);
	require(signals_take(fd));
	signals_release();
	for (;;)
		raise(sig);
}

/* ---- when a report is due */

static void require_due_since(uint64_t began)
{
	const uint64_t work = 3 * NSEC_PER_SEC;
	uint64_t due = signals_due();

	require(due >= began + work && due <= now_ns() + work);
	require(signals_due() == due);
}

/* The time counts from when the signal is first seen, which may be before it is taken. */
static void due_before_taken(int sig)
{
	uint64_t began = now_ns(), due;
	struct err err;
	int fd = signals_catch(&err);

	require(signals_due() == UINT64_MAX && !signals_overdue());
	raise(sig);
	require_due_since(began);
	due = signals_due();
	require(signals_take(fd) && signals_due() == due);
	require(signals_catch(&err) >= 0 && signals_due() == UINT64_MAX);
}

static void due_when_taken(int sig)
{
	uint64_t began = now_ns();
	struct err err;
	int fd = signals_catch(&err);

	raise(sig);
	require(signals_take(fd));
	require_due_since(began);
}

static void due_when_obeyed(int sig)
{
	uint64_t began = now_ns();

	signals_note();
	raise(sig);
	require(signals_noted() && signals_due() == UINT64_MAX);
	signals_obey();
	require_due_since(began);
	signals_note();
	require(signals_due() == UINT64_MAX);
}

/* ---- a note */

static void note_one(int sig)
{
	signals_note();
	require(!signals_noted());
	raise(sig);
	require(signals_noted());
	require(signals_noted()); /* it stays set */
	signals_note();
	require(!signals_noted());
	raise(sig);
	require(signals_noted());
}

static void note_two(int sig)
{
	signals_note();
	raise(sig);
	require(signals_noted());
	raise(sig);
	_exit(2);
}

static void note_each(int sig)
{
	signals_note();
	raise(sig);
	raise(sig == SIGINT ? SIGTERM : SIGINT);
	require(signals_noted());
}

static void note_and_release(int sig)
{
	signals_note();
	signals_release();
	raise(sig);
	_exit(2);
}

static void note_ignored_and_release(int sig)
{
	signal(sig, SIG_IGN); /* like nohup and shells */
	signals_note();
	raise(sig);
	require(signals_noted());
	signals_release();
	raise(sig);
	_exit(2);
}

static void note_others(int sig)
{
	(void)sig;
	signal(SIGUSR1, SIG_IGN);
	signals_note();
	raise(SIGUSR1);
	require(!signals_noted());
}

/* A read that the signal interrupts continues, and is complete. */
static void note_while_reading(int sig)
{
	char bytes[2];
	int fds[2];
	pid_t pid;

	require(!pipe(fds));
	signals_note();
	pid = fork();
	require(pid >= 0);
	if (!pid) {
		kill(getppid(), sig);
		_exit(write(fds[1], "x", 1) == 1 ? 0 : 1);
	}
	require(read(fds[0], bytes, sizeof(bytes)) == 1);
	while (!signals_noted())
		;
	require(waitpid(pid, NULL, 0) == pid);
}

static const struct {
	const char *name;
	void (*what)(int sig);
	bool killed; /* by the signal */
} rows[] = {
	{ "catch and take", catch_and_take, false },
	{ "catch both", catch_both, false },
	{ "due before taken", due_before_taken, false },
	{ "due when taken", due_when_taken, false },
	{ "due when obeyed", due_when_obeyed, false },
	{ "note one", note_one, false },
	{ "note each", note_each, false },
	{ "note others", note_others, false },
	{ "note while reading", note_while_reading, false },
	{ "release and twin", release_and_twin, false },
	{ "release and other", release_and_other, true },
	{ "release and again", release_and_again, true },
	{ "catch and release", catch_and_release, true },
	{ "note two", note_two, true },
	{ "note and release", note_and_release, true },
	{ "note ignored and release", note_ignored_and_release, true },
};

START_TEST(test_signals)
{
	int sig = both[_i % 2], status = child(rows[_i / 2].what, sig);

	if (rows[_i / 2].killed)
		ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == sig, "%s: 0x%x", rows[_i / 2].name, status);
	else
		ck_assert_msg(WIFEXITED(status) && !WEXITSTATUS(status), "%s: 0x%x", rows[_i / 2].name, status);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("signals");
	TCase *t = tcase_create("signals");

	tcase_add_loop_test(t, test_signals, 0, 2 * ARRAY_SIZE(rows));
	suite_add_tcase(s, t);
	return unit_main(s);
}
