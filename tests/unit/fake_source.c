// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/fake_source.h"

#include "core/base/grow.h"
#include "tests/unit/fake_time.h"
#include "tests/unit/unit.h"

#include <pthread.h>
#include <sys/eventfd.h>

#define FAKE_PID 1

struct sample {
	unsigned int set;
	char fate;
};

struct queue {
	struct sample *v;
	size_t nr, cap;
};

struct source {
	const struct source_env *env;
};

struct counter {
	const struct source_env *env;
	bool stopped;
	uint64_t held[2]; /* counts of each set that are still in the kernel */
	int tells;        /* see first_ops.fd; an eventfd */
};

/* There is one run at a time. */
static struct {
	struct fake_script script;
	struct fake_seen seen;
	void (*emptied)(void);
	struct source *source;
	struct counter *counter;
	size_t next; /* of script.fates */
	unsigned int set;
	struct stats of_source[2], of_counter[2]; /* by set */

	/* State that a fetching thread may touch, too. */
	pthread_mutex_t lock;
	pthread_cond_t fetched;
	struct queue ring, kept;
	bool fetch_failed;
} fake = { .lock = PTHREAD_MUTEX_INITIALIZER, .fetched = PTHREAD_COND_INITIALIZER };

static void put(struct queue *q, struct sample s)
{
	struct sample *v = grow(q->v, &q->cap, q->nr, 1, sizeof(*v));

	ck_assert_ptr_nonnull(v);
	q->v = v;
	v[q->nr++] = s;
}

void fake_begin(const struct fake_script *script, void (*emptied)(void))
{
	fake_end();
	fake.script = *script;
	fake.seen = (struct fake_seen){ 0 };
	fake.emptied = emptied;
	fake.next = 0;
	fake.set = 0;
	fake.fetch_failed = false;
	memset(fake.of_source, 0, sizeof(fake.of_source));
	memset(fake.of_counter, 0, sizeof(fake.of_counter));
}

void fake_end(void)
{
	free(fake.ring.v);
	free(fake.kept.v);
	fake.ring = fake.kept = (struct queue){ 0 };
}

struct fake_seen *fake_seen(void)
{
	pthread_mutex_lock(&fake.lock);
	fake.seen.waiting = fake.ring.nr;
	fake.seen.kept = fake.kept.nr;
	pthread_mutex_unlock(&fake.lock);
	return &fake.seen;
}

/* ---- samples */

/* The numbers of a set start again when it is used again. */
static void look_at_set(const struct source_env *env)
{
	if (env->sink->set == fake.set)
		return;
	fake.set = env->sink->set;
	fake.of_source[fake.set] = fake.of_counter[fake.set] = (struct stats){ 0 };
	if (fake.counter)
		fake.counter->held[fake.set] = 0;
}

static void lose(struct stats *b)
{
	b->lost_here++;
	b->lost_records++;
	fake.seen.made['l']++;
}

/* Pass on a sample: it gets into the ring, unless the ring is full or its fate is to be lost on the way. */
static void put_into_ring(char fate)
{
	struct stats *b = &fake.of_source[fake.set];

	pthread_mutex_lock(&fake.lock);
	if (fate == 'l' || (strchr("pxfbmd", fate) && fake.script.room && fake.ring.nr >= fake.script.room)) {
		lose(b);
	} else {
		fake.seen.made[(unsigned char)fate]++;
		if (fate == 'n')
			b->lost_notes++;
		else if (fate != 's')
			put(&fake.ring, (struct sample){ fake.set, fate });
	}
	pthread_mutex_unlock(&fake.lock);
}

static void count_in_kernel(struct counter *c, char fate)
{
	struct stats *b = &fake.of_counter[fake.set];

	b->taken++;
	b->counted_kernel += fate == 'c' || fate == 'd';
	b->filtered += fate == 'f';
	c->held[fake.set] += (fate == 'c') + 2 * (fate == 'd');
	if (strchr("cfmd", fate)) {
		fake.seen.made[(unsigned char)fate]++;
		return;
	}
	b->passed++;
	put_into_ring(fate);
}

void fake_sample(unsigned int nr)
{
	const char *fates = fake.script.fates;

	if (!fates || !fake.source || (fake.counter && fake.counter->stopped))
		return;
	look_at_set(fake.source->env);
	while (nr--) {
		char fate = fates[fake.next++ % strlen(fates)];

		ck_assert_ptr_nonnull(strchr(fake.counter ? "cfpxlnbmds" : "pflbmds", fate));
		if (fake.counter)
			count_in_kernel(fake.counter, fate);
		else
			put_into_ring(fate);
	}
}

void fake_wait_for_fetch(void)
{
	pthread_mutex_lock(&fake.lock);
	while (fake.ring.nr && !fake.fetch_failed)
		pthread_cond_wait(&fake.fetched, &fake.lock);
	pthread_mutex_unlock(&fake.lock);
}

/* Call it with the lock held. */
static void empty_ring(void)
{
	size_t i;

	if (fake.emptied)
		fake.emptied();
	for (i = 0; i < fake.ring.nr; i++)
		put(&fake.kept, fake.ring.v[i]);
	fake.ring.nr = 0;
	pthread_cond_broadcast(&fake.fetched);
}

static void add_row(struct rows *to, uint64_t value, uint64_t times)
{
	static const struct row_key key = { .comm = "fake", .pid = FAKE_PID };

	ck_assert_int_eq(rows_add(to, &key, value, times), 0);
}

static void read_sample(const struct sink *sink, const struct sample *s)
{
	struct stats *b = &fake.of_source[s->set];

	b->ring_samples++;
	b->ring_records++;
	b->bad_samples += s->fate == 'b';
	b->filtered += s->fate == 'f' || s->fate == 'x';
	b->spilled_filtered += s->fate == 'x';
	if (s->fate != 'p' && s->fate != 'd')
		return;
	b->counted_ring++;
	add_row(sink->sets[s->set].samples, s->fate == 'd' ? 2 : 1, s->fate == 'd' ? 2 : 1);
}

/* @set: -1: both sets */
static void read_kept(const struct source *s, int set)
{
	size_t i, left = 0;

	look_at_set(s->env);
	pthread_mutex_lock(&fake.lock);
	empty_ring();
	for (i = 0; i < fake.kept.nr; i++) {
		if (set < 0 || fake.kept.v[i].set == (unsigned int)set)
			read_sample(s->env->sink, &fake.kept.v[i]);
		else
			fake.kept.v[left++] = fake.kept.v[i];
	}
	fake.kept.nr = left;
	pthread_mutex_unlock(&fake.lock);
}

/* ---- steps */

static const char *const names[] = {
	[FAKE_PROBE] = "probe", [FAKE_OPEN] = "open",   [FAKE_ATTACH] = "attach", [FAKE_DETACH] = "detach",
	[FAKE_START] = "start", [FAKE_WATCH] = "watch", [FAKE_DRAIN] = "drain",   [FAKE_FETCH] = "fetch",
	[FAKE_STOP] = "stop",   [FAKE_END] = "end",     [FAKE_TAKE] = "take",     [FAKE_PIDS] = "pids",
	[FAKE_CLOSE] = "close",
};

static void note(const char *who, enum fake_step what, int place)
{
	size_t used = strlen(fake.seen.log);
	char word[64];
	int len;

	len = snprintf(word, sizeof(word), "%s%s.%s", used ? " " : "", who, names[what]);
	if (place >= 0)
		len += snprintf(word + len, sizeof(word) - (size_t)len, ":%d", place);
	/* Do not repeat the last word. */
	if (used >= (size_t)len && !strcmp(fake.seen.log + used - len, word))
		return;
	ck_assert_uint_lt(used + (size_t)len, sizeof(fake.seen.log));
	memcpy(fake.seen.log + used, word, (size_t)len + 1);
}

static int result_of(const char *who, enum fake_step what, unsigned int calls, const struct fake_fault *f,
		     struct err *err)
{
	if (f->step != what || (f->call != calls && f->call != FAKE_ALWAYS))
		return 0;
	if (f->code >= 0)
		return f->code;
	err_set(err, f->code, "%s %s failed", who, names[what]);
	if (err && f->code == -ENOENT) /* like an event that the host does not have */
		snprintf(err->cause.text, sizeof(err->cause.text), "no such event");
	return f->code;
}

static int source_step(enum fake_step what, int place, struct err *err)
{
	note("source", what, place);
	fake.seen.changing = what == FAKE_ATTACH || what == FAKE_DETACH;
	fake_time_pass(fake.script.source_ms[what]);
	fake.seen.changing = false;
	return result_of("source", what, ++fake.seen.source[what], &fake.script.source, err);
}

static int counter_step(enum fake_step what, int place, struct err *err)
{
	note("counter", what, place);
	fake_time_pass(fake.script.counter_ms[what]);
	return result_of("counter", what, ++fake.seen.counter[what], &fake.script.counter, err);
}

static int switches_step(enum fake_step what, int place, struct err *err)
{
	note("switches", what, place);
	return result_of("switches", what, ++fake.seen.switches[what], &fake.script.switches, err);
}

/* ---- the source */

static int source_open(struct source **out, const struct source_env *env, struct err *err)
{
	*out = calloc(1, sizeof(**out));
	ck_assert_ptr_nonnull(*out);
	(*out)->env = env;
	fake.source = *out;
	fake.seen.opened++;
	return source_step(FAKE_OPEN, -1, err);
}

static int source_attach(struct source *s, size_t place, struct err *err)
{
	ck_assert_int_ge(s->env->events->places[place].fd, 0);
	return source_step(FAKE_ATTACH, (int)place, err);
}

static int source_detach(struct source *s, size_t place, struct err *err)
{
	ck_assert_int_ge(s->env->events->places[place].fd, 0);
	read_kept(s, -1);
	return source_step(FAKE_DETACH, (int)place, err);
}

static int source_start(struct source *s, struct err *err)
{
	(void)s;
	return source_step(FAKE_START, -1, err);
}

static int source_drain(struct source *s, struct err *err)
{
	read_kept(s, -1);
	return source_step(FAKE_DRAIN, -1, err);
}

static int source_fetch(struct source *s, struct err *err)
{
	int rc;

	(void)s;
	pthread_mutex_lock(&fake.lock);
	rc = result_of("source", FAKE_FETCH, ++fake.seen.source[FAKE_FETCH], &fake.script.source, err);
	if (rc >= 0)
		empty_ring();
	fake.fetch_failed |= rc < 0;
	pthread_cond_broadcast(&fake.fetched);
	pthread_mutex_unlock(&fake.lock);
	return rc;
}

static int source_end(struct source *s, struct err *err)
{
	const struct sink *sink = s->env->sink;

	fake.seen.passed = s->env->samples_passed;
	read_kept(s, (int)sink->ended);
	return source_step(FAKE_END, -1, err);
}

static void source_so_far(const struct source *s, struct stats *stats)
{
	stats->lost_here += fake.of_source[s->env->sink->set].lost_here;
}

static void source_stats(const struct source *s, struct stats *stats)
{
	struct stats b = fake.of_source[s->env->sink->ended];

	b.intervals_received = fake.script.received;
	stats_add(stats, &b);
}

static void source_close(struct source *s)
{
	if (!s)
		return;
	source_step(FAKE_CLOSE, -1, NULL);
	fake.seen.opened--;
	fake.source = NULL;
	free(s);
}

const struct source_ops fake_source = {
	.live = true,
	.open = source_open,
	.attach = source_attach,
	.detach = source_detach,
	.start = source_start,
	.drain = source_drain,
	.fetch = source_fetch,
	.end = source_end,
	.so_far = source_so_far,
	.stats = source_stats,
	.close = source_close,
};

const struct source_ops fake_plain_source = {
	.live = true,
	.open = source_open,
	.attach = source_attach,
	.detach = source_detach,
	.start = source_start,
	.drain = source_drain,
	.end = source_end,
	.so_far = source_so_far,
	.stats = source_stats,
	.close = source_close,
};

/* ---- the counter of samples */

static int counter_probe(bool forced, struct err *err)
{
	(void)forced;
	return counter_step(FAKE_PROBE, -1, err);
}

static struct counter *make_counter(const struct source_env *env)
{
	struct counter *c = calloc(1, sizeof(*c));

	ck_assert_ptr_nonnull(c);
	c->env = env;
	fake.seen.opened++;
	return c;
}

static int counter_open(struct counter **out, const struct source_env *env, struct err *err)
{
	*out = fake.counter = make_counter(env);
	fake.counter->tells = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ck_assert_int_ge(fake.counter->tells, 0);
	return counter_step(FAKE_OPEN, -1, err);
}

static int counter_attach(struct counter *c, size_t place, struct err *err)
{
	ck_assert_int_ge(c->env->events->places[place].notes[EVENT_SAMPLES].fd, 0);
	return counter_step(FAKE_ATTACH, (int)place, err);
}

static int counter_detach(struct counter *c, size_t place, struct err *err)
{
	(void)c;
	return counter_step(FAKE_DETACH, (int)place, err);
}

static int counter_start(struct counter *c, struct err *err)
{
	(void)c;
	return counter_step(FAKE_START, -1, err);
}

static int counter_stop(struct counter *c, struct err *err)
{
	int rc = counter_step(FAKE_STOP, -1, err);

	c->stopped = true;
	return rc;
}

static int counter_end(struct counter *c, struct err *err)
{
	look_at_set(c->env);
	return counter_step(FAKE_END, -1, err);
}

static int counter_take(struct counter *c, struct err *err)
{
	const struct sink *sink = c->env->sink;
	int rc = counter_step(FAKE_TAKE, -1, err);

	if (rc)
		return rc;
	if (c->held[sink->ended])
		add_row(sink->sets[sink->ended].samples, c->held[sink->ended], c->held[sink->ended]);
	c->held[sink->ended] = 0;
	return 0;
}

static void counter_watch_first(struct counter *c)
{
	(void)c;
	counter_step(FAKE_WATCH, -1, NULL);
}

static int counter_first_fd(const struct counter *c)
{
	return c->tells;
}

void fake_tell(void)
{
	ck_assert_int_eq(eventfd_write(fake.counter->tells, 1), 0);
}

static void counter_read_first(struct counter *c, void (*fn)(void *ctx, pid_t pid, bool existed), void *ctx)
{
	if (eventfd_read(c->tells, &(eventfd_t){ 0 }))
		return;
	fn(ctx, FAKE_PID, true);
	fake.seen.told++;
	fake.seen.told_ms = fake_time_ms();
}

static const struct first_ops counter_first = { counter_watch_first, counter_first_fd, counter_read_first };

static int counter_pids(struct counter *c, bool (*fn)(void *ctx, pid_t pid), void *ctx)
{
	struct err ignored;

	(void)c;
	fn(ctx, FAKE_PID);
	fake_time_pass(fake.script.counter_ms[FAKE_PIDS]);
	return result_of("counter", FAKE_PIDS, ++fake.seen.counter[FAKE_PIDS], &fake.script.counter, &ignored);
}

static bool counter_judged(struct counter *c, pid_t pid, enum descent what)
{
	(void)c;
	(void)pid;
	(void)what;
	return true;
}

static void counter_so_far(const struct counter *c, struct stats *stats)
{
	stats->counted_kernel += fake.of_counter[c->env->sink->set].counted_kernel;
}

static void counter_stats(const struct counter *c, struct stats *stats)
{
	stats_add(stats, &fake.of_counter[c->env->sink->ended]);
}

static void counter_close(struct counter *c)
{
	if (!c)
		return;
	counter_step(FAKE_CLOSE, -1, NULL);
	fake.seen.opened--;
	fake.counter = NULL;
	close(c->tells);
	free(c);
}

const struct counter_ops fake_counter = {
	.program = "fake",
	.switches = &fake_switch_counter,
	.probe = counter_probe,
	.open = counter_open,
	.attach = counter_attach,
	.detach = counter_detach,
	.start = counter_start,
	.stop = counter_stop,
	.end = counter_end,
	.take = counter_take,
	.first = &counter_first,
	.pids = counter_pids,
	.judged = counter_judged,
	.so_far = counter_so_far,
	.stats = counter_stats,
	.close = counter_close,
};

/* ---- the counter of intervals off the CPU */

static int switches_probe(bool forced, struct err *err)
{
	(void)forced;
	return switches_step(FAKE_PROBE, -1, err);
}

static int switches_open(struct counter **out, const struct source_env *env, struct err *err)
{
	*out = make_counter(env);
	return switches_step(FAKE_OPEN, -1, err);
}

static int switches_attach(struct counter *c, size_t place, struct err *err)
{
	ck_assert_int_ge(c->env->events->places[place].notes[EVENT_SWITCHES].fd, 0);
	return switches_step(FAKE_ATTACH, (int)place, err);
}

static int switches_detach(struct counter *c, size_t place, struct err *err)
{
	(void)c;
	return switches_step(FAKE_DETACH, (int)place, err);
}

static int switches_start(struct counter *c, struct err *err)
{
	(void)c;
	return switches_step(FAKE_START, -1, err);
}

static int switches_stop(struct counter *c, struct err *err)
{
	(void)c;
	return switches_step(FAKE_STOP, -1, err);
}

static int switches_end(struct counter *c, struct err *err)
{
	(void)c;
	return switches_step(FAKE_END, -1, err);
}

static int switches_take(struct counter *c, struct err *err)
{
	const struct sink *sink = c->env->sink;
	int rc = switches_step(FAKE_TAKE, -1, err);

	if (!rc && fake.script.charged)
		add_row(sink->sets[sink->ended].intervals, fake.script.charged * FAKE_MS, fake.script.charged);
	return rc;
}

static int switches_pids(struct counter *c, bool (*fn)(void *ctx, pid_t pid), void *ctx)
{
	(void)c;
	(void)fn;
	(void)ctx;
	return 0;
}

static void switches_stats(const struct counter *c, struct stats *stats)
{
	const struct stats b = {
		.intervals_begun = fake.script.begun,
		.intervals_charged = fake.script.charged,
		.intervals_filtered = fake.script.filtered,
		.intervals_open = fake.script.open,
		.intervals_lost = fake.script.lost,
		.intervals_passed = fake.script.passed,
	};

	(void)c;
	stats_add(stats, &b);
}

static void switches_close(struct counter *c)
{
	if (!c)
		return;
	switches_step(FAKE_CLOSE, -1, NULL);
	fake.seen.opened--;
	free(c);
}

const struct counter_ops fake_switch_counter = {
	.program = "fake",
	.probe = switches_probe,
	.open = switches_open,
	.attach = switches_attach,
	.detach = switches_detach,
	.start = switches_start,
	.stop = switches_stop,
	.end = switches_end,
	.take = switches_take,
	.pids = switches_pids,
	.judged = counter_judged,
	.stats = switches_stats,
	.close = switches_close,
};
