/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A child process for work that may block for ever or crash: opening files of a hung file system, or reading debug
 * information with a library. It serves one request at a time, with a deadline. If a request misses its deadline, the
 * worker is killed, and the next request starts another one.
 *
 * It is a process because a thread would not do: nothing can end a thread that sleeps in the kernel until a file system
 * answers, and our own process could not exit while it sleeps. The worker has none of our descriptors, not even stdout,
 * so that a reader of our output does not wait for the worker. It ends when we end.
 *
 * Use a worker only in the thread that called worker_new(): the kernel kills the worker when the thread that started it
 * ends (PR_SET_PDEATHSIG).
 */
#ifndef CORE_FILES_WORKER_H
#define CORE_FILES_WORKER_H

#include <stddef.h>
#include <stdint.h>

#define WORKER_MESSAGE_MAX (32u << 10) /* bytes of a request or a reply */

struct worker;

/**
 * struct worker_message - bytes and a descriptor.
 * @data: @len bytes, at most WORKER_MESSAGE_MAX
 * @fd:   -1: none
 */
struct worker_message {
	void *data;
	size_t len;
	int fd;
};

/**
 * struct worker_job - what a worker does.
 * @prepare: called first in each worker process, to give up what it does not need; NULL: nothing to do
 * @serve:   called there for each request, whose bytes are aligned for any object. @reply->data has room for
 *           WORKER_MESSAGE_MAX bytes, aligned alike; at first @reply->len is 0 and @reply->fd is -1. The caller closes
 *           both descriptors afterwards. Return: what worker_call() returns: 0 or -errno.
 * @ctx:     passed to both; a worker process sees the data as it was when this process was started (fork)
 * @cpu_ms:  limit on the CPU time of a request: the process ends when a request uses it up. 0: no limit
 */
struct worker_job {
	void (*prepare)(void *ctx);
	int (*serve)(void *ctx, const struct worker_message *request, struct worker_message *reply);
	void *ctx;
	unsigned int cpu_ms;
};

/** worker_new() - starts no process yet: worker_start() or the first request does. NULL: no memory. */
struct worker *worker_new(const struct worker_job *job);
/**
 * worker_start() - start the worker process if there is none.
 * Return: 0; -EMFILE, -ENFILE: no descriptors are left for its socket; -EAGAIN: the kernel refuses a new process.
 */
int worker_start(struct worker *w);
/** worker_end() - end the worker process now; all of its state is lost. The next request starts another one. */
void worker_end(struct worker *w);
/** worker_free() - end the worker process now; if it hangs in the kernel, it ends when it can. NULL is fine. */
void worker_free(struct worker *w);

/**
 * worker_call() - have @request served.
 * @request: borrowed
 * @reply: @data and @len are the buffer; out: @len, and @fd, which the caller owns, close-on-exec, or -1
 * @timeout_ms: from now on
 * Return: 0 or -errno, as of @serve; -ETIME: not in time; -ECANCELED: a signal has come, and the report is overdue
 * (signals_overdue()); -EPIPE: the worker crashed, or used up @cpu_ms; -EAGAIN: no worker could be started; -EMFILE: no
 * descriptor is left for @reply; -EBADMSG: the worker sent nonsense, so hostile input may have taken it over.
 * After an error there is no reply, and @reply->fd is -1.
 */
int worker_call(struct worker *w, const struct worker_message *request, struct worker_message *reply, int timeout_ms);

/** worker_cpu_ns() - CPU time, in ns, that the processes of @w have used since worker_new(). */
uint64_t worker_cpu_ns(const struct worker *w);

/**
 * worker_ask() - call this in the worker, within @serve: send @question as the reply to the current request, and wait
 * for the next request, which brings the @answer.
 * @question: borrowed, also its descriptor
 * @answer:   @data and @len are the buffer; out: @len, and @fd, which the caller owns, or -1
 * Return: 0; -errno: the other process has closed the socket, or the answer is lost: return from @serve.
 */
int worker_ask(const struct worker_message *question, struct worker_message *answer);

#endif
