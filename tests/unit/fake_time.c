// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/fake_time.h"

#include "tests/unit/unit.h"

#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <time.h>

/* Not 0: for the session that means a time not reached yet. */
#define BEGAN_NS (1000 * 1000 * FAKE_MS)

/* More than any test waits: a run that waits for ever fails instead of hanging. */
#define TOO_LONG_MS (3600 * 1000)

/* So many successful calls of poll() in a row are an endless loop. */
#define TOO_OFTEN 100000

/* How often another thread, which waits for a moment, looks at the clock; in real time. */
#define OTHERS_MS 1

static struct {
	bool on;
	pthread_t thread;
	uint64_t now, cpu, work;
	unsigned int found; /* calls of poll() that found something, since time passed */
	void (*during)(void);
	void (*tick)(unsigned int ms);
} fake;

void fake_time_begin(void (*during)(void), void (*tick)(unsigned int ms))
{
	fake.thread = pthread_self();
	fake.now = BEGAN_NS;
	fake.cpu = fake.work = 0;
	fake.found = 0;
	fake.during = during;
	fake.tick = tick;
	fake.on = true;
}

void fake_time_end(void)
{
	fake.on = false;
}

unsigned int fake_time_since(uint64_t ns)
{
	return ns < BEGAN_NS ? 0 : (unsigned int)((ns - BEGAN_NS) / FAKE_MS);
}

unsigned int fake_time_ms(void)
{
	return fake_time_since(fake.now);
}

void fake_time_work(uint64_t ns)
{
	fake.work = ns;
}

static void pass_one(void)
{
	if (fake.during)
		fake.during();
	__atomic_add_fetch(&fake.now, FAKE_MS, __ATOMIC_ACQ_REL);
	fake.found = 0;
	if (fake.tick)
		fake.tick(fake_time_ms());
}

void fake_time_pass(unsigned int ms)
{
	while (ms--)
		pass_one();
}

int clock_gettime(clockid_t clock, struct timespec *ts)
{
	static int (*next)(clockid_t, struct timespec *);
	uint64_t ns;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "clock_gettime");
	if (!fake.on || (clock != CLOCK_MONOTONIC && clock != CLOCK_THREAD_CPUTIME_ID))
		return next(clock, ts);
	if (clock == CLOCK_MONOTONIC)
		ns = __atomic_load_n(&fake.now, __ATOMIC_ACQUIRE);
	else
		ns = __atomic_add_fetch(&fake.cpu, fake.work, __ATOMIC_ACQ_REL);
	*ts = (struct timespec){ (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
	return 0;
}

static int look(struct pollfd *fds, nfds_t nr, int timeout_ms)
{
	const struct timespec ts = { timeout_ms / 1000, timeout_ms % 1000 * 1000000L };

	return ppoll(fds, nr, timeout_ms < 0 ? NULL : &ts, NULL);
}

int poll(struct pollfd *fds, nfds_t nr, int timeout_ms)
{
	int ready, waited;

	if (!fake.on)
		return look(fds, nr, timeout_ms);
	if (!pthread_equal(fake.thread, pthread_self()))
		return look(fds, nr, timeout_ms < 0 ? -1 : OTHERS_MS);
	for (waited = 0;; waited++) {
		ready = look(fds, nr, 0);
		if (ready || waited == timeout_ms)
			break;
		ck_assert_msg(waited < TOO_LONG_MS, "waits for something that never comes");
		pass_one();
	}
	ck_assert_msg(!ready || ++fake.found < TOO_OFTEN, "finds something, but does not read it");
	return ready;
}

int epoll_wait(int fd, struct epoll_event *found, int max, int timeout_ms)
{
	if (fake.on && timeout_ms > OTHERS_MS) {
		ck_assert_msg(!pthread_equal(fake.thread, pthread_self()), "waits, but the clock does not advance");
		timeout_ms = OTHERS_MS;
	}
	return epoll_pwait(fd, found, max, timeout_ms, NULL);
}
