// SPDX-License-Identifier: Apache-2.0
#include "core/session/ring_thread.h"

#include "core/base/clock.h"
#include "core/base/saturate.h"
#include "core/events/events.h"
#include "core/events/waiting.h"
#include "core/host/priority.h"
#include "core/host/signals.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define FETCH_MS 50   /* between two fetches while signals are taken, or while much is kept */
#define LOOK_MS  40   /* between two looks for processes whose mappings are not known, if samples do not wake us */
#define WAKE_MS  1000 /* if the write that wakes the thread fails, it checks its flags after this time */
/* how much longer the side-band events record: the records about the last samples come later, see compare_wait() */
#define TELL_NS (20 * NSEC_PER_SEC / 1000)

enum { WAKE, SIGNALS }; /* indexes in waiting.fds */

struct ring_thread {
	const struct events *ev;
	int signal_fd;
	const struct source_ops *ops;
	struct source *source;
	struct priority_thread thread;
	bool looks; /* for processes whose mappings are not known */
	bool much;  /* the last fetch kept much; used by the thread alone */
	struct waiting waiting;
	int wake, asks; /* eventfds: one wakes the thread, one the reader */
	/* One thread sets these, the other reads them; the reader also clears @gone. */
	bool ends, minds_signals, signalled, gone;
	uint64_t stop_at, stopped_ns; /* 0: no time to stop is set; not stopped yet */
	uint64_t fetched_ns;          /* of the last fetch; used by the thread alone */
	bool told;                    /* the side-band events are disabled, too; used by the thread alone */
	int rc;                       /* if not 0, @err is valid */
	struct err err;
};

static bool flag_get(const bool *flag)
{
	return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

static void flag_set(bool *flag, bool value)
{
	__atomic_store_n(flag, value, __ATOMIC_RELEASE);
}

/* The first signal ends the run, a second one the process. */
static void take_signals(struct ring_thread *k)
{
	if (!k->waiting.fds[SIGNALS].revents || !signals_take(k->signal_fd))
		return;
	flag_set(&k->signalled, true);
	eventfd_write(k->asks, 1);
	signals_release(); /* in this thread, which gets the next signal */
}

/* Keep the first failure: the reader may be reading it. */
static void note_failure(struct ring_thread *k, int rc, const struct err *err)
{
	if (k->rc)
		return;
	k->err = *err;
	__atomic_store_n(&k->rc, rc, __ATOMIC_RELEASE);
	eventfd_write(k->asks, 1);
}

/* After an error, stop reading but keep handling signals. */
static void fetch(struct ring_thread *k)
{
	struct err err;
	int rc = k->ops->fetch(k->source, &err);

	k->fetched_ns = now_ns();
	/* A ring that stays full, because memory is full, does not wake the thread again. */
	k->much = rc > 0;
	if (rc < 0)
		note_failure(k, rc, &err);
	else if (rc)
		eventfd_write(k->asks, 1);
}

static void look_for_processes(struct ring_thread *k)
{
	int found = k->ops->look(k->source);

	k->looks = found >= 0;
	if (found > 0)
		eventfd_write(k->asks, 1);
}

static uint64_t time_of(const uint64_t *ns)
{
	return __atomic_load_n(ns, __ATOMIC_ACQUIRE);
}

/* The next time to disable events; UINT64_MAX: never. */
static uint64_t next_stop(const struct ring_thread *k)
{
	uint64_t at = time_of(&k->stop_at);

	if (!at || k->told)
		return UINT64_MAX;
	return k->stopped_ns ? k->stopped_ns + TELL_NS : at;
}

static bool waits_for_signal(const struct ring_thread *k)
{
	return time_of(&k->stop_at) && !k->stopped_ns;
}

/* Ignore errors: the reader disables the events again and reports errors. */
static void stop_in_time(struct ring_thread *k)
{
	uint64_t now = now_ns();
	struct err err;

	if (waits_for_signal(k) && (k->waiting.fds[SIGNALS].revents || now >= next_stop(k))) {
		events_disable_part(k->ev, false, &err);
		__atomic_store_n(&k->stopped_ns, now, __ATOMIC_RELEASE);
	} else if (now >= next_stop(k)) {
		events_disable_part(k->ev, true, &err);
		k->told = true;
	}
}

static int timeout_ms(const struct ring_thread *k)
{
	uint64_t left = sub_or_0(next_stop(k), now_ns());
	bool looks = k->looks && !k->ev->wakes_at_samples;
	int ms = looks ? LOOK_MS : flag_get(&k->minds_signals) || k->much ? FETCH_MS : WAKE_MS;

	return left < (uint64_t)ms * 1000000 ? (int)((left + 999999) / 1000000) : ms;
}

/* Return: 1: a ring wants to be read; 0: none; -errno: it is described, and the thread ends */
static int wait_for_rings(struct ring_thread *k, bool *gone)
{
	struct err err;
	int ready = waiting_poll(&k->waiting, timeout_ms(k), gone, &err);

	if (ready < 0)
		note_failure(k, ready, &err);
	return ready;
}

/*
 * True if a fetch is due: at each wakeup or, while the thread looks for processes and may be woken more often, FETCH_MS
 * after the last fetch.
 */
static bool is_due(const struct ring_thread *k)
{
	return !k->looks || now_ns() - k->fetched_ns >= FETCH_MS * (NSEC_PER_SEC / 1000);
}

static void run_thread(void *arg)
{
	struct ring_thread *k = arg;

	while (!flag_get(&k->ends)) {
		bool minds = flag_get(&k->minds_signals) && !flag_get(&k->signalled), gone;
		int ready;

		k->waiting.fds[SIGNALS].fd = minds || waits_for_signal(k) ? k->signal_fd : -1;
		ready = wait_for_rings(k, &gone);
		if (k->waiting.fds[WAKE].revents)
			eventfd_read(k->wake, &(eventfd_t){ 0 });
		stop_in_time(k);
		if (minds && flag_get(&k->minds_signals)) /* the report may have ended meanwhile */
			take_signals(k);
		if (k->looks)
			look_for_processes(k);
		if (!k->rc && (ready || ((k->much || flag_get(&k->minds_signals)) && is_due(k))))
			fetch(k);
		if (ready < 0)
			break;
		if (gone) {
			flag_set(&k->gone, true);
			eventfd_write(k->asks, 1);
		}
	}
}

static void release(struct ring_thread *k)
{
	if (k->wake >= 0)
		close(k->wake);
	if (k->asks >= 0)
		close(k->asks);
	waiting_end(&k->waiting);
	free(k);
}

static struct ring_thread *prepare(const struct events *ev, struct err *err)
{
	struct ring_thread *k = calloc(1, sizeof(*k));

	if (!k) {
		err_sys(err, -ENOMEM, "cannot read the rings");
		return NULL;
	}
	*k = (struct ring_thread){ .wake = -1, .asks = -1 };
	if (waiting_begin(&k->waiting, ev, err)) {
		release(k);
		return NULL;
	}
	k->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	k->asks = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (k->wake < 0 || k->asks < 0) {
		err_sys(err, -errno, "cannot create an eventfd");
		release(k);
		return NULL;
	}
	k->waiting.fds[WAKE].fd = k->wake;
	waiting_watch(&k->waiting);
	return k;
}

struct ring_thread *ring_thread_start(const struct events *ev, bool realtime, int signal_fd,
				      const struct source_ops *ops, struct source *source, struct err *err)
{
	struct ring_thread *k = prepare(ev, err);
	int rc;

	if (!k)
		return NULL;
	k->ev = ev;
	k->ops = ops;
	k->source = source;
	k->looks = ops->look;
	k->signal_fd = signal_fd;
	rc = priority_thread_start(&k->thread, realtime, run_thread, k);
	if (!rc)
		return k;
	release(k);
	err_sys(err, rc, "cannot start a thread to read the rings");
	return NULL;
}

void ring_thread_stop_at(struct ring_thread *k, uint64_t ns)
{
	__atomic_store_n(&k->stop_at, ns, __ATOMIC_RELEASE);
	eventfd_write(k->wake, 1);
}

uint64_t ring_thread_stopped_ns(const struct ring_thread *k)
{
	return time_of(&k->stopped_ns);
}

int ring_thread_fd(const struct ring_thread *k)
{
	return k->asks;
}

static int failure(const struct ring_thread *k, struct err *err)
{
	int rc = __atomic_load_n(&k->rc, __ATOMIC_ACQUIRE);

	if (rc)
		*err = k->err;
	return rc;
}

int ring_thread_asks(struct ring_thread *k, struct err *err)
{
	int rc;

	eventfd_read(k->asks, &(eventfd_t){ 0 });
	rc = failure(k, err);
	return rc ? rc : __atomic_exchange_n(&k->gone, false, __ATOMIC_ACQ_REL);
}

void ring_thread_take_signals(struct ring_thread *k, bool on)
{
	flag_set(&k->minds_signals, on);
	eventfd_write(k->wake, 1);
}

bool ring_thread_signalled(const struct ring_thread *k)
{
	return flag_get(&k->signalled);
}

int ring_thread_end(struct ring_thread *k, bool *signalled, struct err *err)
{
	int rc;

	flag_set(&k->ends, true);
	eventfd_write(k->wake, 1);
	priority_thread_join(&k->thread);
	*signalled = k->signalled;
	rc = failure(k, err);
	release(k);
	return rc;
}
