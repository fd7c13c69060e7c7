// SPDX-License-Identifier: Apache-2.0
/*
 * A request is names, each terminated. The reply has an answer for each, in the same order, terminated, "" for a name
 * that stays as it is. It ends early when there is no room: the rest is asked again.
 */
#include "core/symbols/demangler.h"

#include "core/base/err.h"
#include "core/base/grow.h"
#include "core/files/confine.h"
#include "core/files/worker.h"
#include "core/symbols/demangle.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define MEMORY_MAX (64ull << 20) /* with the stack */
#define REQUEST    (16u << 10)   /* bytes of names; the readable forms are longer */
#define CPU_MS     500           /* for a request; most take one */
#define REPLY_MS   30000         /* for the reply, on a host where others have the CPU */
#define FAILED_MAX 8             /* messages, or one that nobody replied to; then nothing is asked any more */

struct demangler {
	struct worker *worker;
	unsigned int nr_failed;
	int skipped_rc; /* why the first message failed; 0: none did */
	char *text;     /* of the answers, each terminated */
	size_t used, cap;
	size_t *at; /* where each name's answer is in @text, plus 1; 0: there is none */
	size_t cap_at;
};

/* ---- in the worker */

/* Without seccomp filters the process is without rights, and may crash, at least. */
static void prepare(void *ctx)
{
	(void)ctx;
	signal(SIGPROF, SIG_DFL);
	confine(MEMORY_MAX);
}

static int serve(void *ctx, const struct worker_message *request, struct worker_message *reply)
{
	const struct itimerval cpu = { .it_value.tv_usec = CPU_MS * 1000 };
	const char *name = request->data, *end = name + request->len;
	char *out = reply->data;

	(void)ctx;
	if (!request->len || end[-1])
		return -EINVAL;
	setitimer(ITIMER_PROF, &cpu, NULL); /* it ends the process */
	for (; name < end && WORKER_MESSAGE_MAX - reply->len >= DEMANGLED_MAX; name += strlen(name) + 1) {
		if (!demangle(name, out + reply->len, DEMANGLED_MAX))
			out[reply->len] = '\0';
		reply->len += strlen(out + reply->len) + 1;
	}
	return 0;
}

/* ---- in the process that asks */

struct demangler *demangler_new(void)
{
	const struct worker_job job = { prepare, serve, NULL };
	struct demangler *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->worker = worker_new(&job);
	if (d->worker)
		return d;
	free(d);
	return NULL;
}

void demangler_free(struct demangler *d)
{
	if (!d)
		return;
	worker_free(d->worker);
	free(d->text);
	free(d->at);
	free(d);
}

/* The names from @*next on that fit into one request, and need one. @*next: behind the last of them. */
static size_t put_names(const char *const *names, size_t nr, size_t *next, char *request)
{
	size_t used = 0, len;

	for (; *next < nr; ++*next) {
		if (!demangle_may(names[*next]))
			continue;
		len = strlen(names[*next]) + 1;
		if (len > REQUEST - used)
			break;
		memcpy(request + used, names[*next], len);
		used += len;
	}
	return used;
}

/* Keep the answer at @*text, which is moved behind it. Return: 0; -EBADMSG: it is none; -ENOMEM. */
static int keep_answer(struct demangler *d, const char **text, const char *end, size_t *at)
{
	size_t left = (size_t)(end - *text), len = strnlen(*text, left < DEMANGLED_MAX ? left : DEMANGLED_MAX);
	char *all;

	if (len == left || len == DEMANGLED_MAX)
		return -EBADMSG;
	all = len ? grow(d->text, &d->cap, d->used, len + 1, 1) : d->text;
	if (len && !all)
		return -ENOMEM;
	if (len) {
		d->text = all;
		memcpy(all + d->used, *text, len + 1);
		*at = d->used + 1;
		d->used += len + 1;
	}
	*text += len + 1;
	return 0;
}

/* Return: 0, and the first name without an answer in @*from; -errno: there are no more for those before @to. */
static int ask(struct demangler *d, const char *const *names, size_t *from, size_t to, char *bytes, size_t len)
{
	static char room[WORKER_MESSAGE_MAX];
	const struct worker_message request = { bytes, len, -1 };
	struct worker_message reply = { room, sizeof(room), -1 };
	int rc = worker_call(d->worker, &request, &reply, REPLY_MS);
	const char *text = room, *end = room + reply.len;

	if (rc)
		return rc;
	if (reply.fd >= 0)
		close(reply.fd);
	if (reply.fd >= 0 || !reply.len)
		return -EBADMSG;
	for (; *from < to && text < end && !rc; ++*from)
		if (demangle_may(names[*from]))
			rc = keep_answer(d, &text, end, &d->at[*from]);
	return rc || text == end ? rc : -EBADMSG;
}

/* Names of a message that fails stay as they are. */
static void ask_all(struct demangler *d, const char *const *names, size_t nr)
{
	size_t from = 0, to, len;
	char request[REQUEST];
	int rc;

	while (d->nr_failed < FAILED_MAX) {
		to = from;
		len = put_names(names, nr, &to, request);
		if (!len)
			return;
		rc = ask(d, names, &from, to, request, len);
		if (!rc)
			continue;
		if (!d->nr_failed)
			d->skipped_rc = rc;
		d->nr_failed += rc == -ETIME ? FAILED_MAX : 1;
		worker_end(d->worker);
		from = to;
	}
}

int demangler_read(struct demangler *d, const char *const *names, size_t nr, const char **out)
{
	size_t *at = grow(d->at, &d->cap_at, 0, nr, sizeof(*at)), i;

	if (!at)
		return -ENOMEM;
	d->at = at;
	memset(at, 0, nr * sizeof(*at));
	d->used = 0;
	ask_all(d, names, nr);
	for (i = 0; i < nr; i++)
		out[i] = at[i] ? d->text + at[i] - 1 : NULL;
	return 0;
}

static const char *reason(int rc)
{
	switch (rc) {
	case -EPIPE:
	case -ETIME:
	case -EBADMSG:
		return "one of them takes too long, or crashes what reads it";
	case -EAGAIN:
		return "no process could be started to read them";
	default:
		return strerror(-rc);
	}
}

bool demangler_skipped(const struct demangler *d, struct err *why)
{
	if (!d->skipped_rc)
		return false;
	err_set(why, d->skipped_rc, "some names of C++ and Rust are printed mangled: %s", reason(d->skipped_rc));
	return true;
}
