// SPDX-License-Identifier: Apache-2.0
#include "unwind/libunwinder.h"

#include "core/base/clock.h"
#include "core/base/err.h"
#include "unwind/libunwinder_message.h"
#include "unwind/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define REPLY_MS         2000 /* for a reply, on a host where other processes have the CPU */
#define QUESTIONS_MAX    (4 * UNWIND_MAX_FRAMES)
#define STACK_NS         (3 * NSEC_PER_SEC) /* for all replies of a stack */
#define FAILURES_AT_ONCE 16                 /* of all processes; then one a second, see fail() */
#define FAILURE_TIMES    10
#define CREDIT_MAX       ((int64_t)(FAILURES_AT_ONCE * NSEC_PER_SEC))
#define FAILURES_OF_PID  4
#define CPU_MS           500                    /* for a stack, including opening the files that are new in it */
#define PIDS             512                    /* remembered, by pid */
#define SLOW_NS          (100 * 1000 * 1000ULL) /* a stack that takes longer costs credit, like a failure */
#define RECENT           LIBUNWINDER_MAPS
#define DOES_NOT_END     (-ELOOP)

/* A process: how many of its stacks have failed, and the addresses that the worker asked about. */
struct process {
	pid_t pid;
	unsigned int nr_failed;
	size_t nr, next;
	uint64_t recent[RECENT];
};

struct libunwinder {
	struct worker *worker;
	struct libunwinder_shared *shared;
	bool started;                        /* the worker process is running, see call_worker() */
	bool answered;                       /* a worker has unwound a stack */
	uint64_t serials[LIBUNWINDER_SLOTS]; /* rules_serial() of the files that the worker has; 0: none */
	struct process processes[PIDS];
	int64_t credit_ns; /* see may_fail() */
	uint64_t credit_at;
	uint64_t nr_failed;
	int failed_rc; /* of the first failure */
	int off;       /* -errno: why no stack is unwound any more; 0: stacks are unwound */

	/* Of the current stack. */
	struct libunwinder_sample sample;
	struct process *process;
	const struct unwind_mappings *mappings;
	const struct unwind_files *files;
	struct libunwinder_reply reply;
};

struct libunwinder *libunwinder_new(void)
{
	struct libunwinder *l = calloc(1, sizeof(*l));
	struct worker_job job = { libunwinder_prepare, libunwinder_serve, NULL, CPU_MS };

	if (!l)
		return NULL;
	l->credit_ns = CREDIT_MAX;
	l->credit_at = now_ns();
	l->shared = mmap(NULL, sizeof(*l->shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (l->shared == MAP_FAILED)
		l->shared = NULL;
	job.ctx = l->shared;
	if (l->shared && !madvise(l->shared, sizeof(*l->shared), MADV_DONTFORK))
		l->worker = worker_new(&job);
	if (l->worker)
		return l;
	libunwinder_free(l);
	return NULL;
}

void libunwinder_free(struct libunwinder *l)
{
	if (!l)
		return;
	worker_free(l->worker);
	if (l->shared)
		munmap(l->shared, sizeof(*l->shared));
	free(l);
}

/* ---- what may fail */

static struct process *process_of(struct libunwinder *l, pid_t pid)
{
	struct process *p = &l->processes[(uint32_t)pid % PIDS];

	if (p->pid != pid)
		*p = (struct process){ .pid = pid };
	return p;
}

static bool may_fail(struct libunwinder *l)
{
	uint64_t now = now_ns();

	l->credit_ns += (int64_t)(now - l->credit_at);
	l->credit_at = now;
	if (l->credit_ns > CREDIT_MAX)
		l->credit_ns = CREDIT_MAX;
	return l->credit_ns >= (int64_t)NSEC_PER_SEC;
}

static bool is_of_worker(int rc)
{
	return rc != -EAGAIN && !descriptors_ran_out(rc) && rc != -ENOMEM;
}

/*
 * The next stack starts a new worker process. A failure costs a second of credit, or ten times the time it took if that
 * is more, so failures never take more than a tenth of the profiler's time. If a worker has unwound stacks, a later
 * -ENOSYS (libunwind cannot be used) is not believed: hostile files may have taken the worker over by then.
 */
static void fail(struct libunwinder *l, int rc, uint64_t took_ns)
{
	worker_end(l->worker);
	l->started = false;
	memset(l->serials, 0, sizeof(l->serials));
	took_ns *= FAILURE_TIMES;
	l->credit_ns -= (int64_t)(took_ns > NSEC_PER_SEC ? took_ns : NSEC_PER_SEC);
	l->process->nr_failed += is_of_worker(rc);
	if (rc == -ENOSYS && !l->answered)
		l->off = rc;
}

/* ---- requests of the worker */

static uint32_t slot_of(uint64_t serial)
{
	return (uint32_t)(serial % LIBUNWINDER_SLOTS);
}

/* Find the slot in which the worker has the file of @m. @fd: out: send it with the answer; borrowed, or -1. */
static void find_slot(struct libunwinder *l, const struct mapping *m, struct libunwinder_map *out, int *fd)
{
	struct rules *rules = l->files->find(l->files->ctx, m);
	bool is_vdso = mapped_file_is_vdso(m->file);
	int debug_fd;

	*fd = -1;
	out->slot = LIBUNWINDER_NONE;
	if (!rules)
		return;
	if (is_vdso) {
		out->slot = LIBUNWINDER_VDSO;
		out->pgoff = 0; /* it is mapped from its beginning; some kernels report another offset */
		return;
	}
	rules_fds(rules, fd, &debug_fd);
	if (*fd < 0)
		return;
	out->slot = slot_of(rules_serial(rules));
	if (l->serials[out->slot] != rules_serial(rules))
		out->is_new = debug_fd >= 0 ? 2 : 1;
}

/* @fd: see find_slot() */
static struct libunwinder_map find_map(struct libunwinder *l, uint64_t addr, int *fd)
{
	const struct mapping *m = l->mappings->find(l->mappings->ctx, addr);
	struct libunwinder_map out = { .slot = LIBUNWINDER_NONE };

	*fd = -1;
	if (!m)
		return out;
	out = (struct libunwinder_map){ m->start, m->end, m->pgoff, LIBUNWINDER_NONE, 0 };
	find_slot(l, m, &out, fd);
	return out;
}

static void remember(struct process *p, uint64_t addr)
{
	p->next %= RECENT;
	p->recent[p->next++] = addr;
	if (p->nr < p->next)
		p->nr = p->next;
}

/* Look up what the process's last stacks needed, and send it with the sample, so that the worker asks less. */
static void foresee(struct libunwinder *l)
{
	struct libunwinder_sample *s = &l->sample;
	const struct process *p = l->process;
	struct libunwinder_map map;
	size_t i, k;
	int fd;

	s->nr_maps = 0;
	for (i = 0; i < p->nr; i++) {
		for (k = 0; k < s->nr_maps; k++)
			if (p->recent[i] >= s->maps[k].start && p->recent[i] < s->maps[k].end)
				break;
		if (k < s->nr_maps)
			continue;
		map = find_map(l, p->recent[i], &fd);
		if (map.end && !map.is_new)
			s->maps[s->nr_maps++] = map;
	}
}

/* ---- one stack */

/* The next answer to the worker. @debug_fd: the debug file of the file that was sent last; -1: it has none. */
struct answer {
	struct libunwinder_map map;
	int fd, debug_fd;
};

static void answer(struct libunwinder *l, const struct libunwinder_reply *question, struct answer *a)
{
	const struct mapping *m;
	struct rules *rules;
	int fd;

	if (question->said == LIBUNWINDER_ASKS_DEBUG) {
		a->fd = a->debug_fd;
		return;
	}
	remember(l->process, question->addr);
	a->map = find_map(l, question->addr, &a->fd);
	a->debug_fd = -1;
	if (!a->map.is_new)
		return;
	m = l->mappings->find(l->mappings->ctx, question->addr);
	rules = m ? l->files->find(l->files->ctx, m) : NULL;
	if (rules) {
		rules_fds(rules, &fd, &a->debug_fd);
		l->serials[a->map.slot] = rules_serial(rules);
	}
}

/* The profiler has other processes that read hostile files: they must not inherit the shared memory. */
static int call_worker(struct libunwinder *l, const struct worker_message *request, struct worker_message *reply)
{
	int rc;

	if (l->started)
		return worker_call(l->worker, request, reply, REPLY_MS);
	madvise(l->shared, sizeof(*l->shared), MADV_DOFORK);
	rc = worker_call(l->worker, request, reply, REPLY_MS);
	madvise(l->shared, sizeof(*l->shared), MADV_DONTFORK);
	l->started = true;
	return rc;
}

/* Hostile files may have taken over the worker: all ips must be user addresses, and the first one the sample's. */
static bool is_stack(const struct libunwinder *l, const struct libunwinder_reply *reply)
{
	uint32_t i;

	if (!reply->nr || reply->nr > l->sample.cap || reply->end >= UNWIND_NR_ENDS || reply->unknown > 1 ||
	    reply->by_fp > 1 || reply->ips[0] != l->sample.regs.r[ARCH_IP])
		return false;
	for (i = 1; i < reply->nr; i++)
		if (!(reply->ips[i] & ~UNWIND_EXACT) || (reply->ips[i] & ~UNWIND_EXACT) >> ARCH_USER_BITS)
			return false;
	return true;
}

/* Return: 0; -errno as worker_call(); -EBADMSG: a malformed reply. */
static int call(struct libunwinder *l, struct answer *a)
{
	struct libunwinder_reply *reply = &l->reply;
	const struct worker_message request = { &a->map, sizeof(a->map), a->fd };
	struct worker_message message = { reply, sizeof(*reply), -1 };
	int rc = call_worker(l, &request, &message);

	if (!rc && message.fd >= 0) {
		close(message.fd);
		return -EBADMSG;
	}
	if (rc || message.len < LIBUNWINDER_QUESTION)
		return rc ? rc : -EBADMSG;
	if (reply->said != LIBUNWINDER_DONE)
		return reply->said <= LIBUNWINDER_ASKS_DEBUG ? 0 : -EBADMSG;
	return message.len == sizeof(*reply) && is_stack(l, reply) ? 0 : -EBADMSG;
}

/* @began: now */
static int ask(struct libunwinder *l, uint64_t began)
{
	struct answer a = { .fd = -1, .debug_fd = -1 };
	unsigned int i;
	int rc;

	for (i = 0; i < QUESTIONS_MAX; i++) {
		rc = call(l, &a);
		if (rc || l->reply.said == LIBUNWINDER_DONE)
			return rc;
		if (now_ns() - began > STACK_NS)
			return -ETIME;
		answer(l, &l->reply, &a);
	}
	return DOES_NOT_END;
}

static int unwind(struct libunwinder *l)
{
	uint64_t began = now_ns();
	int rc = ask(l, began);
	uint64_t took = now_ns() - began;

	if (rc)
		fail(l, rc, took);
	else if (took > SLOW_NS)
		l->credit_ns -= (int64_t)(took * FAILURE_TIMES);
	l->answered |= !rc;
	return rc;
}

static void take_reply(const struct libunwinder_reply *reply, struct unwind_result *out)
{
	out->nr = reply->nr;
	memcpy(out->ips, reply->ips, reply->nr * sizeof(*out->ips));
	if (out->left)
		memcpy(out->left, reply->left, reply->nr);
	out->end = (enum unwind_end)reply->end;
	out->missing = out->end == UNWIND_TRUNCATED ? reply->missing : 0;
	out->root = 0;
	out->unknown = reply->unknown;
	out->by_fp = reply->by_fp;
}

static void put_sample(struct libunwinder *l, const struct unwind_regs *regs, const struct unwind_copy *copy,
		       size_t cap)
{
	struct libunwinder_sample *s = &l->sample;
	size_t size = copy->size < LIBUNWINDER_COPY ? (size_t)copy->size : LIBUNWINDER_COPY;

	s->regs = *regs;
	s->copy = (struct unwind_copy){ NULL, copy->at, size, copy->end };
	s->cap = cap < UNWIND_MAX_FRAMES ? (uint32_t)cap : UNWIND_MAX_FRAMES;
	foresee(l);
	memcpy(&l->shared->sample, s, sizeof(*s));
	if (size)
		memcpy(l->shared->stack, copy->bytes, size);
}

int libunwinder_walk(struct libunwinder *l, pid_t pid, const struct unwind_regs *regs, const struct unwind_copy *copy,
		     const struct unwind_mappings *mappings, const struct unwind_files *files,
		     struct unwind_result *out)
{
	const arch_regs needed = ARCH_BIT(ARCH_IP) | ARCH_BIT(ARCH_SP);
	int rc = l->off;

	*out = (struct unwind_result){ .ips = out->ips, .left = out->left, .cap = out->cap, .end = UNWIND_BAD };
	if ((regs->have & needed) != needed || !regs->r[ARCH_IP] || !out->cap)
		return 0;
	out->ips[out->nr++] = regs->r[ARCH_IP];
	if (out->left)
		out->left[0] = 0;
	l->process = process_of(l, pid);
	l->mappings = mappings;
	l->files = files;
	if (!rc && (l->process->nr_failed >= FAILURES_OF_PID || !may_fail(l)))
		rc = -EAGAIN;
	if (!rc) {
		put_sample(l, regs, copy, out->cap);
		rc = unwind(l);
		if (!rc)
			take_reply(&l->reply, out);
	}
	l->nr_failed += !!rc;
	if (rc && !l->failed_rc)
		l->failed_rc = rc;
	return rc;
}

static const char *reason(int rc)
{
	switch (rc) {
	case -EPIPE:
		return "the rules of their files have crashed libunwind, or have kept it busy for too long";
	case -ETIME:
	case DOES_NOT_END:
		return "libunwind took too long";
	case -ECANCELED:
		return "a signal left no time for them";
	case -EBADMSG:
		return "libunwind's process sent a stack that cannot be one";
	case -ENOSYS:
		return "the kernel has no seccomp filters to run libunwind safely";
	default:
		return strerror(-rc);
	}
}

bool libunwinder_failed(const struct libunwinder *l, struct err *why)
{
	if (!l->nr_failed)
		return false;
	err_set(why, l->failed_rc, "%llu stacks were not unwound by libunwind: %s", (unsigned long long)l->nr_failed,
		reason(l->failed_rc));
	return true;
}
