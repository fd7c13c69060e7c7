// SPDX-License-Identifier: Apache-2.0
/*
 * A request has names, each terminated. The reply has an answer for each, in the same order, terminated; it is "" if
 * the name stays as it is. If the reply has no more room, or took long, it ends early, and the rest is sent again.
 */
#include "core/symbols/demangler.h"

#include "core/base/clock.h"
#include "core/base/err.h"
#include "core/base/intern.h"
#include "core/files/confine.h"
#include "core/files/worker.h"
#include "core/symbols/demangle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MEMORY_MAX (64ull << 20)         /* with the stack */
#define REQUEST    (16u << 10)           /* bytes of names; the readable forms are longer */
#define NAME_MS    20                    /* CPU time; a name that takes longer is bad. Most take some microseconds */
#define REPLY_NS   (10 * 1000 * 1000ull) /* CPU time after which a reply ends early */
#define BAD_MAX    64                    /* bad names of a run; with so many, no names are read any more */
#define KEPT_MAX   (16u << 20)           /* bytes of names that are kept for later reports */

/*
 * Limits on the time for names in a report. CPU time limits the cost of hostile names. The elapsed time may be ten
 * times as long, because on a busy host other processes have the CPU most of the time.
 */
#define CPU_SHARE  20                  /* CPU time: one part in so many of the interval */
#define TIME_SHARE 2                   /* elapsed time: likewise */
#define CPU_NS     (2 * NSEC_PER_SEC)  /* CPU time without intervals */
#define TIME_NS    (20 * NSEC_PER_SEC) /* elapsed time without intervals */

struct answer {
	char *name;
	char *readable; /* NULL: print the name */
	bool bad;       /* it takes too long, or crashes the worker */
};

static const struct intern_kind answer_kind = INTERN_STRING(struct answer, name);

struct demangler {
	struct worker *worker;
	struct intern_table answers;
	size_t kept; /* bytes of them */
	uint64_t cpu_max_ns, max_ns;
	uint64_t began_cpu_ns; /* worker_cpu_ns() when the report began */
	uint64_t spent_ns;     /* elapsed time in which this report waited for the worker */
	unsigned int nr_bad;
	bool stops;     /* nothing is sent any more in this report */
	int skipped_rc; /* why the first name was not read; 0: all were */
	char *bad;      /* the first bad name; NULL: none */
};

/* ---- in the worker */

/* Ignore the result: without seccomp filters, the process still has no capabilities, and its crash does no harm. */
static void prepare(void *ctx)
{
	(void)ctx;
	confine(MEMORY_MAX);
}

static int serve(void *ctx, const struct worker_message *request, struct worker_message *reply)
{
	const char *name = request->data, *end = name + request->len;
	char *out = reply->data;
	uint64_t began = own_cpu_ns();

	(void)ctx;
	if (!request->len || end[-1])
		return -EINVAL;
	do {
		if (!demangle(name, out + reply->len, DEMANGLED_MAX))
			out[reply->len] = '\0';
		reply->len += strlen(out + reply->len) + 1;
		name += strlen(name) + 1;
	} while (name < end && WORKER_MESSAGE_MAX - reply->len >= DEMANGLED_MAX && own_cpu_ns() - began < REPLY_NS);
	return 0;
}

/* ---- in the parent */

struct demangler *demangler_new(uint64_t interval_ns)
{
	const struct worker_job job = { prepare, serve, NULL, NAME_MS };
	struct demangler *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->cpu_max_ns = interval_ns ? interval_ns / CPU_SHARE : CPU_NS;
	d->max_ns = interval_ns ? interval_ns / TIME_SHARE : TIME_NS;
	d->worker = worker_new(&job);
	if (d->worker)
		return d;
	free(d);
	return NULL;
}

static size_t size_of(const struct answer *a)
{
	return sizeof(*a) + strlen(a->name) + (a->readable ? strlen(a->readable) : 0);
}

/* Forget answers; the bad ones only if @all. */
static void forget(struct demangler *d, bool all)
{
	struct answer *a;
	size_t i;

	for (i = d->answers.nr; i-- > 0;) {
		a = (struct answer *)d->answers.v + i;
		if (a->bad && !all)
			continue;
		d->kept -= size_of(a);
		free(a->readable);
		intern_delete(&d->answers, &answer_kind, a);
	}
}

void demangler_free(struct demangler *d)
{
	if (!d)
		return;
	worker_free(d->worker);
	forget(d, true);
	intern_release(&d->answers);
	free(d->bad);
	free(d);
}

void demangler_renew(struct demangler *d)
{
	if (d->kept > KEPT_MAX)
		forget(d, false);
	d->began_cpu_ns = worker_cpu_ns(d->worker);
	d->spent_ns = 0;
	d->stops = d->nr_bad >= BAD_MAX;
}

static bool is_asked(const struct demangler *d, const char *name)
{
	return demangle_may(name) && !intern_find(&d->answers, &answer_kind, &name);
}

/* struct message - names that are sent together, each terminated. */
struct message {
	char names[REQUEST];
	size_t len, nr;
};

/* Fill @m with at most @most names from @*from on that have no answer yet. @*from: out: the first of them. */
static void put_names(const struct demangler *d, const char *const *names, size_t nr, size_t *from, size_t most,
		      struct message *m)
{
	size_t len, i;

	m->len = m->nr = 0;
	for (i = *from; i < nr && m->nr < most; i++) {
		if (!is_asked(d, names[i]))
			continue;
		len = strlen(names[i]) + 1;
		if (len > REQUEST - m->len)
			break;
		if (!m->nr++)
			*from = i;
		memcpy(m->names + m->len, names[i], len);
		m->len += len;
	}
}

/* @len: bytes of the readable form, which is not terminated; 0: there is none. Return: 0 or -ENOMEM. */
static int keep_answer(struct demangler *d, const char *name, const char *readable, size_t len, bool bad)
{
	char *copy = len ? strndup(readable, len) : NULL;
	bool is_new = false;
	struct answer *a = copy || !len ? intern(&d->answers, &answer_kind, &name, &is_new) : NULL;

	if (!a || !is_new) {
		free(copy);
		return a ? 0 : -ENOMEM;
	}
	a->readable = copy;
	a->bad = bad;
	d->kept += size_of(a);
	return 0;
}

/* Return: 0: at least the first name has an answer; -EBADMSG: they are malformed; -ENOMEM. */
static int take_answers(struct demangler *d, const struct message *m, const char *text, const char *end)
{
	const char *name = m->names;
	size_t left, len;
	int rc = 0;

	if (text == end)
		return -EBADMSG;
	for (; name < m->names + m->len && text < end && !rc; name += strlen(name) + 1) {
		left = (size_t)(end - text);
		len = strnlen(text, left < DEMANGLED_MAX ? left : DEMANGLED_MAX);
		if (len == left || len == DEMANGLED_MAX)
			return -EBADMSG;
		rc = keep_answer(d, name, text, len, false);
		text += len + 1;
	}
	return rc || text == end ? rc : -EBADMSG;
}

/*
 * Return: as take_answers(); -EAGAIN: there is no process; -ETIME: the time of the report was over before the reply
 * came; -ECANCELED: a signal has come, and the report is overdue.
 */
static int ask(struct demangler *d, struct message *m)
{
	static char room[WORKER_MESSAGE_MAX];
	const struct worker_message request = { m->names, m->len, -1 };
	struct worker_message reply = { room, sizeof(room), -1 };
	uint64_t began = now_ns();
	int rc = worker_call(d->worker, &request, &reply, (int)((d->max_ns - d->spent_ns) / 1000000));

	d->spent_ns += now_ns() - began;
	if (rc && rc != -EAGAIN && rc != -ETIME && rc != -ECANCELED)
		rc = -EBADMSG;
	if (!rc && reply.fd >= 0) {
		close(reply.fd);
		rc = -EBADMSG;
	}
	return rc ? rc : take_answers(d, m, room, room + reply.len);
}

/* Stop reading names, in this report at least. @rc: the cause */
static void stop(struct demangler *d, int rc)
{
	d->stops = true;
	if (!d->skipped_rc)
		d->skipped_rc = rc;
}

/* A message of one name has failed. Return: 0 or -ENOMEM. */
static int blame(struct demangler *d, const char *name)
{
	if (!d->skipped_rc)
		d->skipped_rc = -EBADMSG;
	if (!d->bad)
		d->bad = strdup(name);
	d->stops = ++d->nr_bad >= BAD_MAX;
	return keep_answer(d, name, NULL, 0, true);
}

static bool is_over(const struct demangler *d)
{
	return d->spent_ns >= d->max_ns || worker_cpu_ns(d->worker) - d->began_cpu_ns >= d->cpu_max_ns;
}

/* If a message fails, its names are sent one at a time, so that only the bad ones stay mangled. */
static int ask_all(struct demangler *d, const char *const *names, size_t nr)
{
	size_t from = 0, alone = 0;
	struct message m;
	int rc = 0;

	while (!d->stops && rc != -ENOMEM) {
		put_names(d, names, nr, &from, alone ? 1 : SIZE_MAX, &m);
		if (!m.nr)
			return 0;
		if (is_over(d)) {
			stop(d, -ETIME);
			return 0;
		}
		alone -= alone > 0;
		rc = ask(d, &m);
		if (rc)
			worker_end(d->worker);
		if (rc == -EBADMSG && m.nr > 1)
			alone = m.nr;
		else if (rc == -EBADMSG)
			rc = blame(d, m.names);
		if (rc == -EAGAIN || rc == -ETIME || rc == -ECANCELED)
			stop(d, rc);
	}
	return rc == -ENOMEM ? rc : 0;
}

int demangler_read(struct demangler *d, const char *const *names, size_t nr, const char **out)
{
	int rc = ask_all(d, names, nr);
	const struct answer *a;
	size_t i;

	for (i = 0; i < nr; i++) {
		a = intern_find(&d->answers, &answer_kind, &names[i]);
		out[i] = a ? a->readable : NULL;
	}
	return rc;
}

static const char *reason(int rc)
{
	switch (rc) {
	case -EAGAIN:
		return "no process could be started to read them";
	case -ETIME:
		return "a report has no time to read all of them";
	case -ECANCELED:
		return "a signal left no time to read them";
	default:
		return "demangling takes too long or crashes";
	}
}

const char *demangler_bad(const struct demangler *d)
{
	return d->skipped_rc == -EBADMSG ? d->bad : NULL;
}

bool demangler_skipped(const struct demangler *d, struct err *why)
{
	if (!d->skipped_rc)
		return false;
	err_set(why, d->skipped_rc, "some C++ and Rust names are printed mangled: %s", reason(d->skipped_rc));
	return true;
}
