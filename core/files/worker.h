/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process of our own for what may block for ever or crash: opening files of a hung file system, reading debug
 * information with a library. It is asked one thing at a time, with a deadline; when that passes it is killed and left
 * behind, and the next request gets another one.
 *
 * A process, not a thread: one that sleeps in the kernel until a file system answers cannot be ended by anything, and a
 * thread in that state keeps its process from ending. The worker has none of our descriptors, not even stdout, and ends
 * with us, so that nobody waits for it.
 *
 * Used by one thread, the one that called worker_new(): the worker is told when that thread ends.
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
 * WORKER_MESSAGE_MAX bytes, aligned alike, @reply->len is 0 and
 *           @reply->fd -1. Both descriptors are closed by the caller afterwards. Return: what worker_call() returns: 0
 *           or -errno.
 * @ctx:     handed to both; as it was when the worker process was started
 * @cpu_ms:  CPU time for a request; then the process ends. 0: any
 */
struct worker_job {
	void (*prepare)(void *ctx);
	int (*serve)(void *ctx, const struct worker_message *request, struct worker_message *reply);
	void *ctx;
	unsigned int cpu_ms;
};

/** worker_new() - no process is started before worker_start() or the first request. NULL: no memory. */
struct worker *worker_new(const struct worker_job *job);
/**
 * worker_start() - start the worker process if there is none.
 * Return: 0; -EMFILE, -ENFILE: no descriptors are left for that; -EAGAIN: there can be no process.
 */
int worker_start(struct worker *w);
/** worker_end() - the worker process ends now, with all that it remembers; the next request gets another one. */
void worker_end(struct worker *w);
/** worker_free() - the worker process ends now, or, where it hangs, when it can. NULL is fine. */
void worker_free(struct worker *w);

/**
 * worker_call() - have @request served.
 * @request: borrowed
 * @reply: @data and @len are the room for it; out: @len, and @fd, the caller's, close-on-exec, or -1
 * @timeout_ms: from now on
 * Return: 0 or -errno, as of @serve; -ETIME: not in time; -ECANCELED: a signal has come, and the report is overdue
 * (signals_due()); -EPIPE: the worker died of it; -EAGAIN: no worker could be
 * started; -EMFILE, -ENFILE: no descriptor is left for @reply; -EBADMSG: nonsense came, of a worker that was taken over
 * by what it read. There is no reply then.
 */
int worker_call(struct worker *w, const struct worker_message *request, struct worker_message *reply, int timeout_ms);

/** worker_cpu_ns() - CPU time, in ns, that the processes of @w have used since worker_new(). */
uint64_t worker_cpu_ns(const struct worker *w);

/**
 * worker_ask() - in the worker, within @serve: send @question as the reply to the request at work, and wait for the
 * next request, which brings the @answer.
 * @question: borrowed, also its descriptor
 * @answer:   @data and @len are the room for it; out: @len, and @fd, the caller's, or -1
 * Return: 0; -errno: nobody asks any more, or the answer is lost: return from @serve.
 */
int worker_ask(const struct worker_message *question, struct worker_message *answer);

#endif
