// SPDX-License-Identifier: Apache-2.0
/*
 * A request is names, each terminated. The reply has an answer for each, in the same order, terminated, "" for a name
 * that stays as it is. It ends early when there is no room: the rest is asked again.
 */
#include "core/symbols/demangler.h"

#include "core/base/grow.h"
#include "core/files/confine.h"
#include "core/files/worker.h"
#include "core/symbols/demangle.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define MEMORY_MAX (64ull << 20)
#define REQUEST    (16u << 10) /* bytes of names; the readable forms are longer */
#define REPLY_MS   5000        /* demangle() has its own limits: at worst so many names take 2 seconds */
#define FAILED_MAX 8           /* messages; then nothing is asked any more */

struct demangler {
	struct worker *worker;
	unsigned int nr_failed;
	char *text; /* of the answers, each terminated */
	size_t used, cap;
	size_t *at; /* where each name's answer is in @text, plus 1; 0: there is none */
	size_t cap_at;
};

/* ---- in the worker */

/* Without seccomp filters the process is without rights, and may crash, at least. */
static void prepare(void *ctx)
{
	(void)ctx;
	confine(MEMORY_MAX);
}

static int serve(void *ctx, const struct worker_message *request, struct worker_message *reply)
{
	const char *name = request->data, *end = name + request->len;
	char *out = reply->data;

	(void)ctx;
	if (!request->len || end[-1])
		return -EINVAL;
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

/* Keep the answer at @*text, which is moved behind it. False: it is none, or there is no memory. */
static bool keep_answer(struct demangler *d, const char **text, const char *end, size_t *at)
{
	size_t left = (size_t)(end - *text), len = strnlen(*text, left < DEMANGLED_MAX ? left : DEMANGLED_MAX);
	char *all;

	if (len == left || len == DEMANGLED_MAX)
		return false;
	all = len ? grow(d->text, &d->cap, d->used, len + 1, 1) : d->text;
	if (len && !all)
		return false;
	if (len) {
		d->text = all;
		memcpy(all + d->used, *text, len + 1);
		*at = d->used + 1;
		d->used += len + 1;
	}
	*text += len + 1;
	return true;
}

/* Return: 0, and the first name without an answer in @*from, at most @to; -errno: no more answers for those before @to.
 */
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
	for (; *from < to && text < end; ++*from)
		if (demangle_may(names[*from]) && !keep_answer(d, &text, end, &d->at[*from]))
			return -EBADMSG;
	return text == end ? 0 : -EBADMSG;
}

void demangler_read(struct demangler *d, const char *const *names, size_t nr, const char **out)
{
	size_t from = 0, to, i, len;
	char request[REQUEST];
	size_t *at = grow(d->at, &d->cap_at, 0, nr, sizeof(*at));

	memset(out, 0, nr * sizeof(*out));
	if (!at)
		return;
	d->at = at;
	memset(at, 0, nr * sizeof(*at));
	d->used = 0;
	while (d->nr_failed < FAILED_MAX) {
		to = from;
		len = put_names(names, nr, &to, request);
		if (!len)
			break;
		if (ask(d, names, &from, to, request, len)) {
			d->nr_failed++;
			worker_end(d->worker);
			from = to;
		}
	}
	for (i = 0; i < nr; i++)
		out[i] = at[i] ? d->text + at[i] - 1 : NULL;
}
