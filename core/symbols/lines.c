// SPDX-License-Identifier: Apache-2.0
#include "core/symbols/lines.h"

#include "core/base/clock.h"
#include "core/base/grow.h"
#include "core/base/intern.h"
#include "core/symbols/lines_message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CPU_MS         2000                /* limit on CPU time for a request; then the worker ends */
#define QUESTION_NS    (10 * NSEC_PER_SEC) /* elapsed time for it: on a busy host other processes have the CPU */
#define FILE_NS        (20 * NSEC_PER_SEC) /* for all requests for a file */
#define ALL_NS         (60 * NSEC_PER_SEC) /* for all of a report */
#define SHARE          4                   /* one part in so many of an interval also limits a report and a request */
#define FAILED_MAX     16                  /* files; with so many, no file is used any more */
#define REMEMBERED_MAX (1u << 20)          /* addresses; and four times as many frames */
#define TEXT_MAX       (128u << 20)        /* bytes of names */
#define NO_SLOT        LINES_SLOTS
#define NO_TEXT        UINT32_MAX

#ifdef HAVE_ZSTD
#define COMPRESSED "it is compressed in an unknown way"
#else
#define COMPRESSED "it is compressed with zstd, and this program was built without zstd"
#endif

struct file {
	uint32_t slot; /* its number in the worker */
	bool failed;
	bool late;         /* no reply in the time of a report: try it again in the next one */
	uint64_t spent_ns; /* in this report; if the file is late, also before */
};

/* A file that the worker has open. */
struct slot {
	uint32_t file;
	uint64_t used; /* the number of the request; 0: empty */
};

struct frame {
	uint32_t name, file; /* offsets in lines.text, or NO_TEXT */
	uint32_t line;
};

struct answer {
	struct answer_key {
		uint64_t addr, file;
	} key;
	uint32_t nr, at; /* frames */
};

static const struct intern_kind answer_kind = INTERN_BYTES(struct answer, key);

struct lines {
	unsigned int wanted;
	struct worker *worker;
	struct slot slots[LINES_SLOTS];
	uint64_t nr_requests;
	struct file *files;
	size_t nr_files, cap_files;

	struct intern_table answers;
	struct frame *frames;
	size_t nr_frames, cap_frames;
	char *text; /* terminated strings, each once */
	size_t text_len, cap_text;
	struct hash_index by_text;
	struct lines_frame out[LINES_FRAMES];

	size_t nr_skipped; /* files */
	int skipped_rc;    /* why the first one was */
	uint64_t max_ns;   /* of @spent_ns */
	uint64_t spent_ns; /* since lines_renew() */
	int off;           /* why no request is sent any more; 0: requests are sent */
	int off_rc;        /* the first such cause in any report */
};

struct lines *lines_new(unsigned int wanted, uint64_t interval_ns)
{
	const struct worker_job job = { lines_prepare, lines_serve, NULL, CPU_MS };
	struct lines *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->wanted = wanted;
	l->max_ns = interval_ns && interval_ns / SHARE < ALL_NS ? interval_ns / SHARE : ALL_NS;
	l->worker = worker_new(&job);
	if (!l->worker) {
		free(l);
		return NULL;
	}
	return l;
}

void lines_free(struct lines *l)
{
	if (!l)
		return;
	lines_forget(l);
	worker_free(l->worker);
	free(l->files);
	free(l->frames);
	free(l->text);
	free(l);
}

int64_t lines_add_file(struct lines *l)
{
	struct file *files = grow(l->files, &l->cap_files, l->nr_files, 1, sizeof(*files));

	if (!files || l->nr_files >= UINT32_MAX)
		return -ENOMEM;
	l->files = files;
	files[l->nr_files] = (struct file){ .slot = NO_SLOT };
	return (int64_t)l->nr_files++;
}

static void forget_slots(struct lines *l)
{
	size_t i;

	for (i = 0; i < LINES_SLOTS; i++)
		if (l->slots[i].used)
			l->files[l->slots[i].file].slot = NO_SLOT;
	memset(l->slots, 0, sizeof(l->slots));
}

static void forget_answers(struct lines *l)
{
	intern_release(&l->answers);
	hash_release(&l->by_text);
	l->nr_frames = l->text_len = 0;
}

void lines_forget(struct lines *l)
{
	forget_slots(l);
	forget_answers(l);
	l->nr_files = 0;
}

void lines_renew(struct lines *l)
{
	uint32_t i;

	l->spent_ns = 0;
	for (i = 0; i < l->nr_files; i++)
		if (!l->files[i].late)
			l->files[i].spent_ns = 0;
	if (l->off == -E2BIG || l->answers.nr > REMEMBERED_MAX / 2 || l->text_len > TEXT_MAX / 2)
		forget_answers(l);
	if (l->off == -E2BIG || (l->off == -ETIME && l->nr_skipped < FAILED_MAX))
		l->off = 0;
}

/* ---- remembered frames */

static bool same_string(const void *table, uint32_t pos, const void *key)
{
	return !strcmp((const char *)table + pos, key);
}

static int keep_text(struct lines *l, const char *s, uint32_t *at)
{
	size_t len = s ? strlen(s) + 1 : 0;
	uint64_t hash;
	char *text;

	*at = NO_TEXT;
	if (!s)
		return 0;
	hash = hash_bytes(s, len, 0);
	*at = hash_find(&l->by_text, hash, same_string, l->text, s);
	if (*at != HASH_NONE)
		return 0;
	text = l->text_len + len <= TEXT_MAX ? grow(l->text, &l->cap_text, l->text_len, len, 1) : NULL;
	if (!text)
		return -ENOMEM;
	l->text = text;
	if (hash_add(&l->by_text, hash, (uint32_t)l->text_len))
		return -ENOMEM;
	memcpy(text + l->text_len, s, len);
	*at = (uint32_t)l->text_len;
	l->text_len += len;
	return 0;
}

static int keep_frames(struct lines *l, const struct lines_frame *found, int nr)
{
	struct frame *frames = grow(l->frames, &l->cap_frames, l->nr_frames, (size_t)nr, sizeof(*frames));
	int i, rc = 0;

	if (!frames)
		return -ENOMEM;
	l->frames = frames;
	for (i = 0; i < nr && !rc; i++) {
		struct frame *f = &frames[l->nr_frames + (size_t)i];

		f->line = found[i].line;
		rc = keep_text(l, found[i].name, &f->name);
		if (!rc)
			rc = keep_text(l, found[i].file, &f->file);
	}
	return rc;
}

/* Return: NULL: there is no room. */
static const struct answer *keep_answer(struct lines *l, const struct answer_key *key, const struct lines_frame *found,
					int nr)
{
	struct answer *a;
	bool is_new;

	if (l->answers.nr >= REMEMBERED_MAX || l->nr_frames + (size_t)nr > 4 * (size_t)REMEMBERED_MAX ||
	    keep_frames(l, found, nr))
		return NULL;
	a = intern(&l->answers, &answer_kind, key, &is_new);
	if (!a)
		return NULL;
	a->nr = (uint32_t)nr;
	a->at = (uint32_t)l->nr_frames;
	l->nr_frames += (size_t)nr;
	return a;
}

static size_t tell(struct lines *l, const struct answer *a, const struct lines_frame **out)
{
	uint32_t i;

	for (i = 0; i < a->nr; i++) {
		const struct frame *f = &l->frames[a->at + i];

		l->out[i] = (struct lines_frame){ f->name == NO_TEXT ? NULL : l->text + f->name,
						  f->file == NO_TEXT ? NULL : l->text + f->file, f->line };
	}
	*out = l->out;
	return a->nr;
}

/* ---- requests */

static void skip(struct lines *l, int rc)
{
	if (!l->nr_skipped++)
		l->skipped_rc = rc;
}

/* Send no more requests, in this report at least. */
static void turn_off(struct lines *l, int rc)
{
	l->off = rc;
	if (!l->off_rc)
		l->off_rc = rc;
}

/* Send no more requests for @file. */
static void fail(struct lines *l, struct file *file, int rc)
{
	file->failed = true;
	skip(l, rc);
	if (l->nr_skipped >= FAILED_MAX)
		turn_off(l, rc);
}

/* Give @file the least recently used slot. */
static void take_slot(struct lines *l, uint32_t file)
{
	struct slot *s = &l->slots[0];
	size_t i;

	for (i = 1; i < LINES_SLOTS; i++)
		if (l->slots[i].used < s->used)
			s = &l->slots[i];
	if (s->used)
		l->files[s->file].slot = NO_SLOT;
	s->file = file;
	l->files[file].slot = (uint32_t)(s - l->slots);
}

static bool is_empty(const struct lines *l)
{
	size_t i = 0;

	while (i < LINES_SLOTS && !l->slots[i].used)
		i++;
	return i == LINES_SLOTS;
}

/* Return true if the worker has ended, or should be ended. @rc may also be the error that the worker itself sent. */
static bool is_lost(int rc)
{
	return rc == -ETIME || rc == -ECANCELED || rc == -EPIPE || rc == -EBADMSG || rc == -EAGAIN || rc == -ENOMEM;
}

/* Return: as worker_call(), or the number of frames. */
static int exchange(struct lines *l, const struct worker_message *request, int timeout_ms, struct lines_frame *found)
{
	static char bytes[WORKER_MESSAGE_MAX];
	struct worker_message reply = { bytes, sizeof(bytes), -1 };
	int rc = worker_call(l->worker, request, &reply, timeout_ms);

	if (!rc && reply.fd >= 0) {
		close(reply.fd);
		rc = -EBADMSG;
	}
	return rc ? rc : lines_reply_parse(reply.data, reply.len, found);
}

/* Send a request once. Return: the number of frames, or -errno. */
static int call(struct lines *l, uint32_t id, int fd, uint64_t addr, struct lines_frame *found)
{
	struct file *file = &l->files[id];
	bool first = file->slot == NO_SLOT;
	struct lines_request r = { 0, l->wanted, addr };
	const struct worker_message request = { &r, sizeof(r), first ? fd : -1 };
	uint64_t begin = now_ns(), ns;
	int timeout_ms = (int)((l->max_ns < QUESTION_NS ? l->max_ns : QUESTION_NS) / 1000000);
	int rc;

	if (first)
		take_slot(l, id);
	r.slot = file->slot;
	l->slots[r.slot].used = ++l->nr_requests;
	rc = exchange(l, &request, timeout_ms, found);
	ns = now_ns() - begin;
	file->spent_ns += ns;
	l->spent_ns += ns;
	if (is_lost(rc)) {
		worker_end(l->worker);
		forget_slots(l);
	}
	return rc;
}

/*
 * A worker may crash or be out of memory because of another file that it has read before. So if it had others open,
 * send the request again to a new worker.
 */
static int ask_worker(struct lines *l, uint32_t id, int fd, uint64_t addr, struct lines_frame *found)
{
	bool alone = is_empty(l);
	int rc = call(l, id, fd, addr, found);

	return (rc == -EPIPE || rc == -ENOMEM) && !alone ? call(l, id, fd, addr, found) : rc;
}

/*
 * A file without a reply may need longer than an interval permits, or the host is busy: try again, but not for ever.
 */
static void judge_late(struct lines *l, struct file *file)
{
	file->late = l->max_ns < QUESTION_NS && file->spent_ns <= FILE_NS;
	if (file->late)
		turn_off(l, -ETIME);
	else
		fail(l, file, -ETIME);
}

/* -E2BIG: this address has too many frames. -ENOEXEC: the file is broken, which is not worth a warning. */
static int find_frames(struct lines *l, uint32_t id, int fd, uint64_t addr, struct lines_frame *found)
{
	struct file *file = &l->files[id];
	int nr;

	if (l->off || file->failed)
		return 0;
	nr = ask_worker(l, id, fd, addr, found);
	file->late &= nr < 0;
	if (nr == -ENOEXEC)
		file->failed = true;
	else if (nr == -ENOSYS || nr == -EAGAIN || nr == -ECANCELED)
		turn_off(l, nr);
	else if (nr == -ETIME)
		judge_late(l, file);
	else if (nr < 0 && nr != -E2BIG)
		fail(l, file, nr);
	else if (file->spent_ns > FILE_NS)
		fail(l, file, -ETIME);
	if (l->spent_ns > l->max_ns && !l->off)
		turn_off(l, -ETIME);
	return nr < 0 ? 0 : nr;
}

size_t lines_find(struct lines *l, uint32_t file, int fd, uint64_t addr, const struct lines_frame **out)
{
	const struct answer_key key = { addr, file };
	const struct answer *a = intern_find(&l->answers, &answer_kind, &key);
	struct lines_frame found[LINES_FRAMES];
	int nr;

	if (a)
		return tell(l, a, out);
	nr = find_frames(l, file, fd, addr, found);
	/* Requests are off now: do not remember that there are no frames, so that a later report may ask again. */
	if (!nr && l->off)
		return 0;
	a = keep_answer(l, &key, found, nr);
	/* If it cannot be remembered, another lookup may differ, which would be worse than no frames. */
	if (!a && !l->off)
		turn_off(l, -E2BIG);
	return a ? tell(l, a, out) : 0;
}

static const char *reason(int rc)
{
	switch (rc) {
	case -ETIME:
		return "it takes too long";
	case -ECANCELED:
		return "a signal left no time for it";
	case -EPIPE:
		return "it crashed the library that reads it, or kept it busy for too long";
	case -EBADMSG:
		return "what came of it is nonsense";
	case -ENOSYS:
		return "the kernel has no seccomp filters to read it safely";
	case -E2BIG:
		return "it is too much";
	case -ENOTSUP:
		return COMPRESSED;
	default:
		return strerror(-rc);
	}
}

bool lines_skipped(const struct lines *l, struct err *why)
{
	if (l->off_rc)
		err_set(why, l->off_rc, "some debug information was not read: %s", reason(l->off_rc));
	else if (l->nr_skipped)
		err_set(why, l->skipped_rc, "the debug information of %zu files was not read: %s", l->nr_skipped,
			reason(l->skipped_rc));
	return l->off_rc || l->nr_skipped;
}
