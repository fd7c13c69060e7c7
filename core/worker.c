// SPDX-License-Identifier: Apache-2.0
#include "core/worker.h"

#include "core/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORKER_FD 3 /* its end of the socket */

struct worker {
	struct worker_job job;
	pid_t pid; /* 0: no process */
	int sock;
};

/* What goes before the bytes of a reply. */
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

/* @m: @data and @len are the room. Return: 0; -EPIPE: the other end is closed; -EMFILE: its descriptor got lost; -errno
 */
static int receive_message(int sock, struct head *head, struct worker_message *m)
{
	struct iovec iov[] = { { head, sizeof(*head) }, { m->data, m->len } };
	union control control = { 0 };
	struct msghdr msg = {
		.msg_iov = iov, .msg_iovlen = 2, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	ssize_t n;

	do
		n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n < 0 && errno != ECONNRESET ? -errno : -EPIPE;
	m->fd = passed_fd(&msg);
	if (n >= (ssize_t)sizeof(*head) && !(msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
		m->len = (size_t)n - sizeof(*head);
		return 0;
	}
	close_fd(m->fd);
	m->fd = -1;
	return msg.msg_flags & MSG_CTRUNC ? -EMFILE : -EBADMSG;
}

/* ---- in the worker */

/* Nobody is to wait for us to close what is theirs. */
static void close_others(void)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;
	int fd;

	while (d && (e = readdir(d))) {
		fd = atoi(e->d_name);
		if (fd > WORKER_FD && fd != dirfd(d))
			close(fd);
	}
	if (d)
		closedir(d);
	fd = open("/dev/null", O_RDWR);
	for (int i = 0; i < WORKER_FD; i++)
		if (fd < 0 || dup2(fd, i) < 0)
			close(i);
	if (fd > WORKER_FD)
		close(fd);
}

static void serve(const struct worker *w)
{
	static _Alignas(max_align_t) char request_bytes[WORKER_MESSAGE_MAX], reply_bytes[WORKER_MESSAGE_MAX];
	struct head head;

	for (;;) {
		struct worker_message request = { request_bytes, sizeof(request_bytes), -1 };
		struct worker_message reply = { reply_bytes, 0, -1 };

		if (receive_message(WORKER_FD, &head, &request))
			return;
		head.rc = w->job.serve(w->job.ctx, &request, &reply);
		close_fd(request.fd);
		if (send_message(WORKER_FD, &head, &reply, 0))
			return;
		close_fd(reply.fd);
	}
}

static void be_worker(const struct worker *w, int sock, pid_t parent)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };
	size_t i;

	/* A Ctrl-C is for the one who asks. */
	for (i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	if (sock != WORKER_FD && dup2(sock, WORKER_FD) < 0)
		_exit(1);
	close_others();
	if (w->job.prepare)
		w->job.prepare(w->job.ctx);
	serve(w);
	_exit(0);
}

/* ---- in the process that asks */

static int start(struct worker *w)
{
	pid_t self = getpid();
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -EAGAIN;
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

/* @hangs: it cannot be waited for; when it is ended at last, it is init's or ours to the end of our days. */
static void stop(struct worker *w, bool hangs)
{
	if (!w->pid)
		return;
	close(w->sock);
	kill(w->pid, SIGKILL);
	while (waitpid(w->pid, NULL, hangs ? WNOHANG : 0) < 0 && errno == EINTR)
		;
	w->pid = 0;
	w->sock = -1;
}

void worker_free(struct worker *w)
{
	if (!w)
		return;
	stop(w, false);
	free(w);
}

/* Return: 0: there is something to read; -ETIME: there was nothing by then. */
static int wait_for_reply(const struct worker *w, uint64_t until)
{
	struct pollfd fds = { w->sock, POLLIN, 0 };
	uint64_t now;
	int n;

	do {
		now = now_ns();
		n = poll(&fds, 1, now < until ? (int)((until - now + 999999) / 1000000) : 0);
	} while (n < 0 && errno == EINTR);
	return n > 0 ? 0 : -ETIME;
}

int worker_call(struct worker *w, const struct worker_message *request, struct worker_message *reply, int timeout_ms)
{
	uint64_t until = now_ns() + (uint64_t)timeout_ms * 1000000;
	struct head head = { 0 };
	int rc = 0;

	reply->fd = -1;
	if (!w->pid)
		rc = start(w);
	if (rc)
		return rc;
	rc = send_message(w->sock, &head, request, MSG_DONTWAIT);
	if (!rc)
		rc = wait_for_reply(w, until);
	if (!rc)
		rc = receive_message(w->sock, &head, reply);
	if (rc && rc != -EMFILE)
		stop(w, rc == -ETIME);
	if (!rc && head.rc > 0) {
		close_fd(reply->fd);
		reply->fd = -1;
		return -EBADMSG;
	}
	return rc ? rc : head.rc;
}
