// SPDX-License-Identifier: Apache-2.0
#include "core/base/clock.h"
#include "core/files/worker.h"
#include "tests/unit/fake_signal.h"
#include "tests/unit/unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define SOCKET    3     /* its number in the worker */
#define KILLED_MS 100   /* see worker_end() */
#define SOON_MS   30000 /* limit for immediate actions, on a slow machine */

/* Requests to the worker: the first byte. */
enum {
	ECHO,     /* the request is the reply */
	FILL,     /* reply with the longest possible reply */
	FAIL,     /* return -ENOENT, with bytes and a descriptor in the reply */
	READ,     /* the first byte of the descriptor is the reply */
	OPEN,     /* reply with a descriptor of a pipe with "x" in it */
	LIST,     /* reply with the open descriptors, as "n:what," */
	COUNT,    /* reply with the numbers prepared, served */
	PID,      /* reply with its own pid */
	SIGNALS,  /* send itself the signals of a terminal, then echo */
	ASK,      /* ask twice, with "?" and a descriptor of a pipe; the reply has the bytes of both answers */
	SLEEP,    /* for ever */
	SPIN,     /* run for ever */
	SEGFAULT, /* and other ways to end */
	ABORT,
	KILLED,
	LEAVE,
	HANG_UP,    /* close the socket and sleep */
	HOLD,       /* keep the descriptor, and write a byte to it */
	HOLD_SLEEP, /* the same, then sleep */
	SHORT,      /* invalid: less than a header */
	EMPTY,
	EMPTY_FD, /* the same with a descriptor */
	LONG,     /* more than possible */
	POSITIVE, /* an impossible return value */
	HUGE_ERROR,
	TWO_FDS,
	SMALL_ROOM, /* more bytes than the caller has room for */
};

struct counts {
	int prepared, served;
};

static void prepare(void *ctx)
{
	struct counts *c = ctx;

	c->prepared++;
}

static void sleep_for_ever(void)
{
	for (;;)
		pause();
}

/* Send a message as the worker does, with any bytes. */
static void send_raw(const void *bytes, size_t len, int nr_fds)
{
	union {
		char bytes[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	const int fds[2] = { 0, 1 };
	struct iovec iov = { (void *)bytes, len };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (nr_fds) {
		m.msg_control = &control;
		m.msg_controllen = CMSG_SPACE((size_t)nr_fds * sizeof(int));
		control.align = (struct cmsghdr){ CMSG_LEN((size_t)nr_fds * sizeof(int)), SOL_SOCKET, SCM_RIGHTS };
		memcpy(CMSG_DATA(&control.align), fds, (size_t)nr_fds * sizeof(int));
	}
	sendmsg(SOCKET, &m, MSG_NOSIGNAL);
	sleep_for_ever();
}

static void list(struct worker_message *reply)
{
	char path[64], what[128], *text = reply->data;
	int fd;

	for (fd = 0; fd < 2000; fd++) {
		struct stat st;
		ssize_t n;

		if (fstat(fd, &st))
			continue;
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		n = readlink(path, what, sizeof(what) - 1);
		what[n < 0 ? 0 : n] = 0;
		reply->len += (size_t)snprintf(text + reply->len, 256, "%d:%.100s,", fd,
					       S_ISSOCK(st.st_mode) ? "socket" : what);
	}
}

static void hold(int fd)
{
	fd = dup(fd);
	if (write(fd, "h", 1) != 1)
		_exit(1);
}

static void end(int how)
{
	switch (how) {
	case SEGFAULT:
		raise(SIGSEGV);
		break;
	case ABORT:
		abort();
	case KILLED:
		raise(SIGKILL);
		break;
	case LEAVE:
		_exit(0);
	default:
		close(SOCKET);
		sleep_for_ever();
	}
}

static void send_nonsense(int what)
{
	static char bytes[4 + WORKER_MESSAGE_MAX + 1];
	int32_t rc = what == POSITIVE ? 1 : what == HUGE_ERROR ? -4096 : 0;

	memcpy(bytes, &rc, sizeof(rc));
	send_raw(bytes,
		 what == SHORT                       ? 3
		 : what == EMPTY || what == EMPTY_FD ? 0
		 : what == LONG                      ? sizeof(bytes)
						     : 5,
		 what == TWO_FDS    ? 2
		 : what == EMPTY_FD ? 1
				    : 0);
}

static void open_pipe(struct worker_message *reply)
{
	int p[2];

	if (pipe(p) || write(p[1], "x", 1) != 1)
		_exit(1);
	close(p[1]);
	reply->fd = p[0];
}

static int ask_twice(struct worker_message *to)
{
	struct worker_message question = { (char[]){ '?' }, 1, -1 }, opened = { NULL, 0, -1 }, answer;
	int i, rc;

	open_pipe(&opened);
	question.fd = opened.fd;
	for (i = 0; i < 2; i++) {
		answer = (struct worker_message){ (char *)to->data + to->len, WORKER_MESSAGE_MAX - to->len, -1 };
		rc = worker_ask(&question, &answer);
		if (rc)
			return rc;
		if (answer.fd >= 0)
			close(answer.fd);
		to->len += answer.len;
	}
	close(opened.fd);
	return 0;
}

static int serve(void *ctx, const struct worker_message *request, struct worker_message *reply)
{
	static const int terminal[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct counts *c = ctx;
	int what = request->len ? *(const unsigned char *)request->data : ECHO;
	pid_t self = getpid();
	size_t i;

	c->served++;
	switch (what) {
	case SIGNALS:
		for (i = 0; i < ARRAY_SIZE(terminal); i++)
			raise(terminal[i]);
		/* fall through */
	case ECHO:
		memcpy(reply->data, request->data, request->len);
		reply->len = request->len;
		return 0;
	case FILL:
	case SMALL_ROOM:
		memset(reply->data, 'f', WORKER_MESSAGE_MAX);
		reply->len = WORKER_MESSAGE_MAX;
		return 0;
	case FAIL:
		open_pipe(reply);
		reply->len = 1;
		return -ENOENT;
	case READ:
		reply->len = 1;
		return read(request->fd, reply->data, 1) == 1 ? 0 : -EIO;
	case OPEN:
		open_pipe(reply);
		return 0;
	case LIST:
		list(reply);
		return 0;
	case COUNT:
		memcpy(reply->data, c, sizeof(*c));
		reply->len = sizeof(*c);
		return 0;
	case PID:
		memcpy(reply->data, &self, sizeof(self));
		reply->len = sizeof(self);
		return 0;
	case ASK:
		return ask_twice(reply);
	case SLEEP:
		sleep_for_ever();
	case SPIN:
		for (;;)
			;
	case HOLD:
	case HOLD_SLEEP:
		hold(request->fd);
		if (what == HOLD_SLEEP)
			sleep_for_ever();
		return 0;
	default:
		if (what < HOLD)
			end(what);
		send_nonsense(what);
		return 0;
	}
}

static struct counts counts;
static struct worker *w;
static bool was_slow; /* worker_end() may have given up waiting */
static char room[WORKER_MESSAGE_MAX];
static int fds_before;

static void setup(void)
{
	const struct worker_job job = { prepare, serve, &counts };

	counts = (struct counts){ 0 };
	was_slow = false;
	fds_before = unit_open_fds();
	w = worker_new(&job);
	ck_assert_ptr_nonnull(w);
}

static void note_slow_since(uint64_t begin)
{
	was_slow = was_slow || now_ns() - begin >= KILLED_MS * 1000000ULL;
}

/*
 * No descriptor and no process is left, not even a zombie. worker_end() does not wait for a process that needs longer
 * than KILLED_MS to die, as one under valgrind may on a busy machine: wait for it here.
 */
static void teardown(void)
{
	uint64_t begin = now_ns();

	worker_free(w);
	note_slow_since(begin);
	while (was_slow && waitpid(-1, NULL, 0) > 0)
		;
	ck_assert_int_eq(unit_open_fds(), fds_before);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}

static struct worker_message reply;

static int timed_call(const struct worker_message *request, int timeout_ms)
{
	uint64_t begin = now_ns();
	int rc = worker_call(w, request, &reply, timeout_ms);

	note_slow_since(begin);
	return rc;
}

static void timed_end(void)
{
	uint64_t begin = now_ns();

	worker_end(w);
	note_slow_since(begin);
}

static int call_with(int what, int fd, int timeout_ms)
{
	char byte = (char)what;
	struct worker_message request = { &byte, 1, fd };

	reply = (struct worker_message){ room, what == SMALL_ROOM ? WORKER_MESSAGE_MAX - 1 : sizeof(room), -1 };
	return timed_call(&request, timeout_ms);
}

static int call(int what)
{
	return call_with(what, -1, SOON_MS);
}

static void assert_works(void)
{
	ck_assert_int_eq(call(ECHO), 0);
	ck_assert_uint_eq(reply.len, 1);
	ck_assert_int_eq(reply.fd, -1);
}

static pid_t worker_pid(void)
{
	pid_t pid;

	ck_assert_int_eq(call(PID), 0);
	memcpy(&pid, room, sizeof(pid));
	return pid;
}

/* No process before the first request, then a single one for all requests. */
START_TEST(test_one_process)
{
	struct counts c;
	pid_t pid;

	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	pid = worker_pid();
	ck_assert_int_ne(pid, getpid());
	assert_works();
	ck_assert_int_eq(worker_pid(), pid);
	ck_assert_int_eq(call(COUNT), 0);
	memcpy(&c, room, sizeof(c));
	ck_assert_int_eq(c.prepared, 1);
	ck_assert_int_eq(c.served, 4);
	ck_assert_int_eq(counts.prepared, 0); /* not in this process */
	timed_end();
	timed_end();
	counts.served = 100; /* the value in the next worker that is started */
	ck_assert_int_ne(worker_pid(), pid);
	ck_assert_int_eq(call(COUNT), 0);
	memcpy(&c, room, sizeof(c));
	ck_assert_int_eq(c.prepared, 1);
	ck_assert_int_eq(c.served, 102);
}
END_TEST

/* The worker's question comes as the reply, and the next request is the answer. */
START_TEST(test_asks)
{
	struct worker_message answer = { (char[]){ 'a', 'b', 'c' }, 3, -1 };
	int i, fds[2];

	ck_assert_int_eq(pipe(fds), 0);
	ck_assert_int_eq(call(ASK), 0);
	for (i = 0; i < 2; i++) {
		ck_assert_uint_eq(reply.len, 1);
		ck_assert_int_eq(room[0], '?');
		ck_assert_int_ge(reply.fd, 0);
		close(reply.fd);
		answer.fd = i ? fds[0] : -1;
		reply = (struct worker_message){ room, sizeof(room), -1 };
		ck_assert_int_eq(timed_call(&answer, SOON_MS), 0);
	}
	ck_assert_uint_eq(reply.len, 6);
	ck_assert_int_eq(memcmp(room, "abcabc", 6), 0);
	ck_assert_int_eq(reply.fd, -1);
	assert_works();
	close(fds[0]);
	close(fds[1]);
}
END_TEST

/* A worker whose question gets no answer still ends by worker_end() and worker_free(). */
START_TEST(test_asks_in_vain)
{
	ck_assert_int_eq(call(ASK), 0);
	close(reply.fd);
	timed_end();
	assert_works();
	ck_assert_int_eq(call(ASK), 0);
	close(reply.fd);
}
END_TEST

static const size_t sizes[] = { 0, 1, 2, 4095, WORKER_MESSAGE_MAX - 1, WORKER_MESSAGE_MAX };

START_TEST(test_sizes)
{
	static char bytes[WORKER_MESSAGE_MAX];
	struct worker_message request = { bytes, sizes[_i], -1 };
	size_t i;

	for (i = 1; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 7);
	bytes[0] = ECHO;
	reply = (struct worker_message){ room, sizeof(room), -1 };
	ck_assert_int_eq(timed_call(&request, SOON_MS), 0);
	ck_assert_uint_eq(reply.len, sizes[_i]);
	ck_assert_int_eq(memcmp(room, bytes, sizes[_i]), 0);
	ck_assert_int_eq(call(FILL), 0);
	ck_assert_uint_eq(reply.len, WORKER_MESSAGE_MAX);
	ck_assert_int_eq(room[WORKER_MESSAGE_MAX - 1], 'f');
}
END_TEST

START_TEST(test_descriptors)
{
	int p[2], i;
	char c;

	ck_assert_int_eq(pipe2(p, O_CLOEXEC), 0);
	for (i = 0; i < 3; i++) {
		c = (char)('a' + i);
		ck_assert_int_eq(write(p[1], &c, 1), 1);
		ck_assert_int_eq(call_with(READ, p[0], SOON_MS), 0);
		ck_assert_int_eq(room[0], c);
		ck_assert_int_eq(call(OPEN), 0);
		ck_assert_uint_eq(reply.len, 0);
		ck_assert_int_ge(reply.fd, 0);
		ck_assert_int_eq(fcntl(reply.fd, F_GETFD), FD_CLOEXEC);
		ck_assert_int_eq(read(reply.fd, &c, 1), 1);
		ck_assert_int_eq(c, 'x');
		close(reply.fd);
	}
	close(p[0]);
	close(p[1]);
	/* No descriptor that was passed stays open there. */
	ck_assert_int_eq(call(LIST), 0);
	room[reply.len] = 0;
	ck_assert_str_eq(room, "0:/dev/null,1:/dev/null,2:/dev/null,3:socket,");
	/* A descriptor that comes with a failure is closed. */
	ck_assert_int_eq(call(FAIL), -ENOENT);
	ck_assert_int_eq(reply.fd, -1);
	assert_works();
}
END_TEST

/* The worker has none of this process's descriptors: neither an inherited one nor one with a high number. */
START_TEST(test_none_of_ours)
{
	static const int targets[] = { SOCKET, SOCKET + 1, 50, 1000 };
	int pipes[2], kept[ARRAY_SIZE(targets)];
	size_t i;

	ck_assert_int_eq(pipe(pipes), 0);
	for (i = 0; i < ARRAY_SIZE(targets); i++) {
		kept[i] = fcntl(pipes[0], F_DUPFD, targets[i]);
		ck_assert_int_ge(kept[i], 0);
	}
	ck_assert_int_eq(call(LIST), 0);
	room[reply.len] = 0;
	ck_assert_str_eq(room, "0:/dev/null,1:/dev/null,2:/dev/null,3:socket,");
	for (i = 0; i < ARRAY_SIZE(targets); i++)
		close(kept[i]);
	close(pipes[0]);
	close(pipes[1]);
}
END_TEST

static const int quiet[] = { SLEEP, SPIN };

START_TEST(test_hangs)
{
	pid_t pid = worker_pid();

	ck_assert_int_eq(call_with(quiet[_i], -1, 20), -ETIME);
	ck_assert_int_eq(reply.fd, -1);
	ck_assert_int_ne(worker_pid(), pid);
	ck_assert_int_eq(call_with(quiet[_i], -1, 0), -ETIME);
	assert_works();
}
END_TEST

/* 3 s after a signal, no reply is awaited any more, and no request is sent. */
START_TEST(test_signal)
{
	struct err err;
	pid_t pid = worker_pid();
	int fd = signals_catch(&err);

	fake_time_begin(NULL, NULL);
	raise(SIGTERM);
	ck_assert_int_eq(call_with(SLEEP, -1, SOON_MS), -ECANCELED);
	ck_assert_int_eq(reply.fd, -1);
	ck_assert_uint_ge(fake_time_ms(), 3000);
	ck_assert_uint_lt(fake_time_ms(), 3200);
	ck_assert_int_eq(call(ECHO), -ECANCELED);
	close(fd);
	fake_signal_end();
	ck_assert_int_ne(worker_pid(), pid);
}
END_TEST

/* A worker that has used up its CPU time ends at once: the caller need not wait. Sleeping takes no CPU time. */
START_TEST(test_cpu_time)
{
	const struct worker_job job = { prepare, serve, &counts, .cpu_ms = 20 };
	uint64_t used;
	pid_t pid;

	worker_free(w);
	w = worker_new(&job);
	ck_assert_ptr_nonnull(w);
	ck_assert_uint_eq(worker_cpu_ns(w), 0);
	pid = worker_pid();
	used = worker_cpu_ns(w);
	ck_assert_uint_gt(used, 0);
	ck_assert_int_eq(call(SPIN), -EPIPE);
	/* The timer may be a tick of the kernel early. The CPU time of an ended worker still counts. */
	ck_assert_uint_ge(worker_cpu_ns(w), used + 10 * 1000 * 1000);
	ck_assert_int_ne(worker_pid(), pid);
	ck_assert_int_eq(call_with(SLEEP, -1, 100), -ETIME);
	assert_works();
}
END_TEST

static const struct {
	int what, rc;
} bad[] = {
	{ SEGFAULT, -EPIPE },   { ABORT, -EPIPE },        { KILLED, -EPIPE },    { LEAVE, -EPIPE },
	{ HANG_UP, -EPIPE },    { EMPTY, -EPIPE },        { SHORT, -EBADMSG },   { LONG, -EBADMSG },
	{ POSITIVE, -EBADMSG }, { HUGE_ERROR, -EBADMSG }, { TWO_FDS, -EBADMSG }, { SMALL_ROOM, -EBADMSG },
	{ EMPTY_FD, -EPIPE },
};

START_TEST(test_bad)
{
	int i;

	for (i = 0; i < 3; i++) {
		pid_t pid = worker_pid();
		int fds = unit_open_fds();

		ck_assert_int_eq(call(bad[_i].what), bad[_i].rc);
		ck_assert_int_eq(reply.fd, -1);
		ck_assert_int_eq(unit_open_fds(), fds - 1); /* the worker's socket */
		ck_assert_int_ne(worker_pid(), pid);
		assert_works();
	}
}
END_TEST

/* A worker that ended between two requests. */
START_TEST(test_ended_between)
{
	pid_t pid = worker_pid();
	siginfo_t info;

	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	ck_assert_int_eq(call(ECHO), -EPIPE);
	assert_works();
}
END_TEST

START_TEST(test_signals)
{
	ck_assert_int_eq(call(SIGNALS), 0);
	ck_assert_int_eq(kill(worker_pid(), SIGINT), 0);
	assert_works();
}
END_TEST

/* The worker sends descriptors, but none can be received. It is not ended for that. */
START_TEST(test_no_descriptors)
{
	pid_t pid = worker_pid();
	rlim_t before;
	int rc;

	/* valgrind enforces the limit itself, and for other calls than the kernel does. */
	if (unit_below_valgrind())
		return;
	/* Assert only after the limit is what it was: check(3) opens files, too. */
	before = unit_limit_files(3);
	rc = call(OPEN);
	unit_limit_files(before);
	ck_assert_int_eq(rc, -EMFILE);
	ck_assert_int_eq(reply.fd, -1);
	ck_assert_int_eq(worker_pid(), pid);
	timed_end();
	unit_limit_files(3);
	rc = call(ECHO);
	unit_limit_files(before);
	ck_assert_int_eq(rc, -EAGAIN);
	assert_works();
}
END_TEST

static const int holding[] = { HOLD, HOLD_SLEEP };

/* Idle or busy, the worker ends when the process that started it is killed: then no process holds the pipe. */
START_TEST(test_ends_with_us)
{
	struct pollfd pfd;
	pid_t child;
	int p[2];
	char c;

	ck_assert_int_eq(pipe2(p, O_CLOEXEC), 0);
	child = fork();
	if (!child) {
		call_with(holding[_i], p[1], SOON_MS);
		sleep_for_ever();
	}
	close(p[1]);
	ck_assert_int_eq(read(p[0], &c, 1), 1);
	ck_assert_int_eq(kill(child, SIGKILL), 0);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	pfd = (struct pollfd){ p[0], POLLIN, 0 };
	ck_assert_int_eq(poll(&pfd, 1, SOON_MS), 1);
	ck_assert_int_eq(pfd.revents, POLLHUP);
	close(p[0]);
}
END_TEST

START_TEST(test_free)
{
	worker_free(NULL);
	ck_assert_int_eq(call_with(SLEEP, -1, 1), -ETIME);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("worker");
	TCase *tc = tcase_create("worker");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_one_process);
	tcase_add_test(tc, test_asks);
	tcase_add_test(tc, test_asks_in_vain);
	tcase_add_loop_test(tc, test_sizes, 0, ARRAY_SIZE(sizes));
	tcase_add_test(tc, test_descriptors);
	tcase_add_test(tc, test_none_of_ours);
	tcase_add_loop_test(tc, test_hangs, 0, ARRAY_SIZE(quiet));
	tcase_add_test(tc, test_signal);
	tcase_add_test(tc, test_cpu_time);
	tcase_add_loop_test(tc, test_bad, 0, ARRAY_SIZE(bad));
	tcase_add_test(tc, test_ended_between);
	tcase_add_test(tc, test_signals);
	tcase_add_test(tc, test_no_descriptors);
	tcase_add_loop_test(tc, test_ends_with_us, 0, ARRAY_SIZE(holding));
	tcase_add_test(tc, test_free);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
