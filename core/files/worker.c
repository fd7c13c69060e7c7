// SPDX-License-Identifier: Apache-2.0
#include "core/files/worker.h"

#include "core/base/clock.h"
#include "core/base/err.h"
#include "core/base/number.h"
#include "core/host/priority.h"
#include "core/host/signals.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORKER_FD 3    /* its end of the socket */
#define ERRNO_MAX 4095 /* the kernel's */
#define KILLED_MS 100  /* time for the worker to end after SIGKILL; a second SIGINT or SIGTERM still ends us */
#define LOOK_MS   100  /* time between checks for a signal while waiting for a reply */

struct worker {
	struct worker_job job;
	pid_t pid; /* 0: no process */
	int sock;
	uint64_t ended_cpu_ns; /* CPU time of processes that ended */
};

/* The head of each message, before its bytes. */
struct head {
	int32_t rc;
};

/* Room for one descriptor. */
union control {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

struct worker *worker_new(const struct worker_job *job)
{
	struct worker *w = calloc(1, sizeof(*w));

	if (w)
		*w = (struct worker){ .job = *job, .sock = -1 };
	return w;
}

/* ---- messages, either way */

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

static int send_message(int sock, const struct head *head, const struct worker_message *m, int flags)
{
	struct iovec iov[] = { { (void *)head, sizeof(*head) }, { m->data, m->len } };
	union control control = { 0 };
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };
	ssize_t n;

	if (m->fd >= 0) {
		control.align = (struct cmsghdr){ CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS };
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&msg)), &m->fd, sizeof(int));
	}
	do
		n = sendmsg(sock, &msg, MSG_NOSIGNAL | flags);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

static int passed_fd(struct msghdr *msg)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(msg);
	int fd = -1;

	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&fd, CMSG_DATA(c), sizeof(int));
	return fd;
}

/*
 * @m: @data and @len are the buffer. Return: 0; -EPIPE: the other end is closed; -EMFILE: the descriptor in the
 * message was lost; -EBADMSG; -errno
 */
static int receive_message(int sock, struct head *head, struct worker_message *m)
{
	struct iovec iov[] = { { head, sizeof(*head) }, { m->data, m->len } };
	union control control = { 0 };
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2, .msg_control = &control };
	ssize_t n;

	/* CMSG_SPACE() would leave room for a second descriptor in its padding, which nothing would close. */
	msg.msg_controllen = CMSG_LEN(sizeof(int));
	do
		n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == ECONNRESET ? -EPIPE : -errno;
	m->fd = passed_fd(&msg);
	if (n >= (ssize_t)sizeof(*head) && !(msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
		m->len = (size_t)n - sizeof(*head);
		return 0;
	}
	if (!n) /* the end, or a message without bytes, which may bring a descriptor */
		n = -EPIPE;
	else if (msg.msg_flags & MSG_CTRUNC && m->fd < 0)
		n = -EMFILE;
	else /* also if more descriptors came with it */
		n = -EBADMSG;
	close_fd(m->fd);
	m->fd = -1;
	return (int)n;
}

/* ---- in the worker */

/* Without /proc: try every number up to the limit, at most 65535. */
static void close_all_above(int last)
{
	struct rlimit rl;
	int fd, end = 1 << 16;

	if (!getrlimit(RLIMIT_NOFILE, &rl) && rl.rlim_cur < (rlim_t)end)
		end = (int)rl.rlim_cur;
	for (fd = last + 1; fd < end; fd++)
		close(fd);
}

static void close_others_above(int last)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;
	const char *name;
	uint64_t fd;

	if (!d) {
		close_all_above(last);
		return;
	}
	while ((e = readdir(d))) {
		name = e->d_name;
		if (!parse_digits(&name, 10, INT_MAX, &fd) && (int)fd > last && (int)fd != dirfd(d))
			close((int)fd);
	}
	closedir(d);
}

/* Close our descriptors in the worker: otherwise a reader of our output would wait until the worker ends, too. */
static void close_others(void)
{
	int fd, i;

	close_others_above(WORKER_FD);
	fd = open("/dev/null", O_RDWR);
	for (i = 0; i < WORKER_FD; i++)
		if (fd < 0 || dup2(fd, i) < 0)
			close(i);
	if (fd > WORKER_FD)
		close(fd);
}

int worker_ask(const struct worker_message *question, struct worker_message *answer)
{
	struct head head = { 0 };
	int rc = send_message(WORKER_FD, &head, question, 0);

	return rc ? rc : receive_message(WORKER_FD, &head, answer);
}

static void serve(const struct worker *w)
{
	static _Alignas(max_align_t) char request_bytes[WORKER_MESSAGE_MAX], reply_bytes[WORKER_MESSAGE_MAX];
	const struct itimerval cpu = { .it_value = { w->job.cpu_ms / 1000, w->job.cpu_ms % 1000 * 1000 } };
	struct head head;

	for (;;) {
		struct worker_message request = { request_bytes, sizeof(request_bytes), -1 };
		struct worker_message reply = { reply_bytes, 0, -1 };

		if (receive_message(WORKER_FD, &head, &request))
			return;
		if (w->job.cpu_ms)
			setitimer(ITIMER_PROF, &cpu, NULL);
		head.rc = w->job.serve(w->job.ctx, &request, &reply);
		close_fd(request.fd);
		if (send_message(WORKER_FD, &head, &reply, 0))
			return;
		close_fd(reply.fd);
	}
}

static void crashed(int sig)
{
	(void)sig;
	_exit(1);
}

/* The parent handles Ctrl-C. A crash is expected here: exit, so that it makes no kernel log line and no core dump. */
static void set_signals(void)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };
	static const int crashes[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ignored); i++)
		signal(ignored[i], SIG_IGN);
	for (i = 0; i < ARRAY_SIZE(crashes); i++)
		signal(crashes[i], crashed);
}

/* Let SIGPROF, the timer's signal, end the process. */
static void prepare_timer(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGPROF);
	signal(SIGPROF, SIG_DFL);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void be_worker(const struct worker *w, int sock, pid_t parent)
{
	set_signals();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	if (sock != WORKER_FD && dup2(sock, WORKER_FD) < 0)
		_exit(1);
	close_others();
	if (w->job.cpu_ms)
		prepare_timer();
	if (w->job.prepare)
		w->job.prepare(w->job.ctx);
	serve(w);
	_exit(0);
}

/* ---- in the parent */

static int start(struct worker *w)
{
	pid_t self = getpid();
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return descriptors_ran_out(-errno) ? -errno : -EAGAIN;
	w->pid = fork();
	if (!w->pid)
		be_worker(w, ends[1], self);
	close(ends[1]);
	if (w->pid < 0) {
		w->pid = 0;
		close(ends[0]);
		return -EAGAIN;
	}
	w->sock = ends[0];
	return 0;
}

int worker_start(struct worker *w)
{
	return w->pid ? 0 : start(w);
}

/* CPU time of @pid in ns, also after it has exited, until waitpid(2). 0: unknown. */
static uint64_t process_cpu_ns(pid_t pid)
{
	struct timespec ts;
	clockid_t clock;

	if (!pid || clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &ts))
		return 0;
	return timespec_ns(&ts);
}

uint64_t worker_cpu_ns(const struct worker *w)
{
	return w->ended_cpu_ns + process_cpu_ns(w->pid);
}

/*
 * The worker closes its side of the socket by exiting. It cannot exit while it sleeps until a file system answers: then
 * do not wait for it. It stays our child, or becomes init's when we exit first.
 */
void worker_end(struct worker *w)
{
	struct pollfd fds = { w->sock, 0, 0 };
	int options = 0, n;

	if (!w->pid)
		return;
	kill(w->pid, SIGKILL);
	while ((n = poll(&fds, 1, KILLED_MS)) < 0 && errno == EINTR)
		;
	if (n <= 0)
		options = WNOHANG;
	w->ended_cpu_ns = worker_cpu_ns(w);
	while (waitpid(w->pid, NULL, options) < 0 && errno == EINTR)
		;
	close(w->sock);
	w->pid = 0;
	w->sock = -1;
}

void worker_free(struct worker *w)
{
	if (!w)
		return;
	worker_end(w);
	free(w);
}

static int ms_until(uint64_t now, uint64_t until)
{
	uint64_t ms = now < until ? (until - now + 999999) / 1000000 : 0;

	return ms < LOOK_MS ? (int)ms : LOOK_MS;
}

/* Return: 0: there is something to read; -ETIME: there was nothing until @until; -ECANCELED: a report is overdue. */
static int wait_for_reply(const struct worker *w, uint64_t until)
{
	struct pollfd fds = { w->sock, POLLIN, 0 };
	uint64_t now;
	int n;

	do {
		if (signals_overdue())
			return -ECANCELED;
		now = now_ns();
		n = poll(&fds, 1, ms_until(now, until));
	} while (n < 0 ? errno == EINTR : !n && now < until);
	return n > 0 ? 0 : -ETIME;
}

int worker_call(struct worker *w, const struct worker_message *request, struct worker_message *reply, int timeout_ms)
{
	uint64_t until = now_ns() + (uint64_t)timeout_ms * 1000000;
	struct head head = { 0 };
	int rc;

	reply->fd = -1;
	if (signals_overdue())
		return -ECANCELED;
	if (worker_start(w))
		return -EAGAIN;
	priority_share(w->pid);
	rc = send_message(w->sock, &head, request, MSG_DONTWAIT);
	if (!rc)
		rc = wait_for_reply(w, until);
	if (!rc)
		rc = receive_message(w->sock, &head, reply);
	if (!rc && (head.rc > 0 || head.rc < -ERRNO_MAX))
		rc = -EBADMSG;
	if (!rc)
		rc = head.rc;
	else if (rc != -EMFILE)
		worker_end(w);
	if (rc) {
		close_fd(reply->fd);
		reply->fd = -1;
	}
	return rc;
}
