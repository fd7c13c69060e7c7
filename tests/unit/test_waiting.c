// SPDX-License-Identifier: Apache-2.0
/* Waiting with poll(2) and with epoll(7) gives the same results. */
#include "core/events/waiting.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>

enum { POLL, WATCH, WAYS };
enum { CPUS = 2, RINGS = 2 * CPUS, ALL = WAITING_OTHERS + RINGS };

static unsigned int epoll_waits, adds, adds_max;

/* Replaces libc's function: no more than @adds_max descriptors are permitted (fs.epoll.max_user_watches). */
int epoll_ctl(int fd, int op, int target, struct epoll_event *e)
{
	if (op == EPOLL_CTL_ADD && adds++ == adds_max) {
		errno = ENOSPC;
		return -1;
	}
	return (int)syscall(SYS_epoll_ctl, fd, op, target, e);
}

/* Replaces libc's function. */
int epoll_wait(int fd, struct epoll_event *found, int max, int timeout_ms)
{
	epoll_waits++;
	return epoll_pwait(fd, found, max, timeout_ms, NULL);
}

static struct event_place places[CPUS];
static struct events ev;
static struct waiting w;
static struct err err;
static int fds[ALL]; /* in the order of waiting.fds */
static unsigned int fds_before;

static void setup(void)
{
	size_t i;

	fds_before = unit_open_fds();
	epoll_waits = adds = 0;
	adds_max = UINT_MAX;
	for (i = 0; i < ALL; i++) {
		fds[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		ck_assert_int_ge(fds[i], 0);
	}
	for (i = 0; i < CPUS; i++)
		places[i] = (struct event_place){ .fd = fds[WAITING_OTHERS + 2 * i],
						  .side = { .fd = fds[WAITING_OTHERS + 2 * i + 1] } };
	ev = (struct events){ .places = places, .nr_places = CPUS };
}

static void teardown(void)
{
	size_t i;

	waiting_end(&w);
	for (i = 0; i < ALL; i++)
		close(fds[i]);
	ck_assert_uint_eq(unit_open_fds(), fds_before);
}

static void begin(int way)
{
	ck_assert_int_eq(waiting_begin(&w, &ev, &err), 0);
	if (way == WATCH)
		waiting_watch(&w);
}

static int look(bool *gone)
{
	return waiting_poll(&w, 0, gone, &err);
}

/* Nothing is ready, and no CPU has gone. */
static void expect_nothing(void)
{
	bool gone;
	size_t i;

	ck_assert_int_eq(look(&gone), 0);
	ck_assert(!gone);
	for (i = 0; i < WAITING_OTHERS; i++)
		ck_assert_int_eq(w.fds[i].revents, 0);
}

/* Adding an event hides that its ring wants to be read: the first wait for it says so. It must not sleep. */
static void pass_first(int way)
{
	bool gone;

	ck_assert_int_eq(waiting_poll(&w, way == WATCH ? -1 : 0, &gone, &err), way == WATCH);
	ck_assert(!gone);
}

static void set_ready(int fd)
{
	ck_assert_int_eq(eventfd_write(fd, 1), 0);
}

static void be_read(int fd)
{
	ck_assert_int_eq(eventfd_read(fd, &(eventfd_t){ 0 }), 0);
}

/* Each of the descriptors wakes the wait, as long as it is ready. */
START_TEST(test_each)
{
	int way = _i / ALL, which = _i % ALL, i;
	bool gone, is_ring = which >= WAITING_OTHERS;

	begin(way);
	for (i = 0; i < WAITING_OTHERS; i++)
		w.fds[i].fd = fds[i];
	pass_first(way);
	expect_nothing();
	set_ready(fds[which]);
	for (i = 0; i < 3; i++) {
		ck_assert_int_eq(waiting_poll(&w, -1, &gone, &err), is_ring);
		ck_assert(!gone);
		ck_assert_int_eq(w.fds[which].revents, POLLIN);
	}
	be_read(fds[which]);
	expect_nothing();
	ck_assert_uint_eq(epoll_waits, way == WATCH ? 6 : 0);
}
END_TEST

/* The caller's descriptors may change between waits. */
START_TEST(test_others_change)
{
	bool gone;

	begin(_i);
	w.fds[0].fd = fds[0];
	pass_first(_i);
	set_ready(fds[1]);
	expect_nothing();
	w.fds[0].fd = fds[1];
	ck_assert_int_eq(waiting_poll(&w, -1, &gone, &err), 0);
	ck_assert_int_eq(w.fds[0].revents, POLLIN);
	w.fds[0].fd = -1;
	expect_nothing();
	w.fds[1].fd = fds[1];
	ck_assert_int_eq(waiting_poll(&w, -1, &gone, &err), 0);
	ck_assert_int_eq(w.fds[0].revents, 0);
	ck_assert_int_eq(w.fds[1].revents, POLLIN);
	be_read(fds[1]);
	w.fds[1].fd = -1;
}
END_TEST

enum { THREADS = 4 };

/* An event that dies when @ends[1] is closed. */
static int mortal(int *ends)
{
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	return ends[0];
}

/*
 * The events of threads die with them, and the others write to the same ring: then one of these is waited for. After
 * the last one, one wait says that a CPU has gone.
 */
START_TEST(test_dead_events)
{
	int way = _i / 2, side = _i % 2, pipes[THREADS][2], more_side[THREADS - 1], first = mortal(pipes[0]);
	struct joined_event more[THREADS - 1];
	bool gone;
	size_t i;

	for (i = 1; i < THREADS; i++) {
		more_side[i - 1] = mortal(pipes[i]);
		more[i - 1] = (struct joined_event){ .fd = more_side[i - 1] };
	}
	if (side)
		places[1].side = (struct side_band){ .fd = first, .more = more_side, .nr_more = THREADS - 1 };
	else
		places[1] = (struct event_place){
			.fd = first, .more = more, .nr_more = THREADS - 1, .side = { .fd = fds[ALL - 1] }
		};
	begin(way);
	pass_first(way);
	expect_nothing();
	close(pipes[2][1]); /* not waited for yet */
	expect_nothing();
	close(pipes[0][1]);
	ck_assert_int_eq(waiting_poll(&w, -1, &gone, &err), 0);
	ck_assert(!gone);
	pass_first(way);
	expect_nothing();
	/* The kernel tells that the ring wants to be read when the next event is polled. */
	ck_assert_int_eq(write(pipes[3][1], "", 1), 1);
	close(pipes[1][1]);
	ck_assert_int_eq(waiting_poll(&w, -1, &gone, &err), 1);
	ck_assert(!gone);
	ck_assert_int_eq(read(pipes[3][0], &(char){ 0 }, 1), 1);
	pass_first(way);
	expect_nothing();
	close(pipes[3][1]);
	ck_assert_int_eq(waiting_poll(&w, -1, &gone, &err), 0);
	ck_assert(gone);
	expect_nothing();
	for (i = 0; i < THREADS; i++)
		close(pipes[i][0]);
}
END_TEST

/* A CPU that is offline has no event, or events that wait for it: they are not waited for. */
START_TEST(test_offline)
{
	bool gone;

	places[0] = (struct event_place){ .fd = -1, .side = { .fd = -1 } };
	places[1].waits = true;
	set_ready(fds[ALL - 1]);
	set_ready(fds[ALL - 2]);
	begin(_i);
	ck_assert_int_eq(look(&gone), 0);
	ck_assert(!gone);
	expect_nothing();
}
END_TEST

static const struct {
	unsigned int files, adds;
	bool reads; /* the rings may want to be read, since events were added */
} no_epoll[] = {
	{ 0, UINT_MAX, false },
	{ 1, 0, true },
	{ 1, 1, true },
	{ 1, RINGS - 1, true },
};

/* Where epoll(7) cannot be had, or refuses a descriptor, poll(2) is used. */
START_TEST(test_no_epoll)
{
	rlim_t before = unit_leave_files(no_epoll[_i].files);
	bool gone;

	adds_max = no_epoll[_i].adds;
	begin(WATCH);
	unit_limit_files(before);
	ck_assert_int_eq(waiting_poll(&w, no_epoll[_i].reads ? -1 : 0, &gone, &err), no_epoll[_i].reads);
	ck_assert(!gone);
	expect_nothing();
	set_ready(fds[ALL - 1]);
	ck_assert_int_eq(waiting_poll(&w, -1, &gone, &err), 1);
	be_read(fds[ALL - 1]);
	expect_nothing();
	ck_assert_uint_eq(epoll_waits, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("waiting");
	TCase *tc = tcase_create("waiting");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_each, 0, WAYS * ALL);
	tcase_add_loop_test(tc, test_others_change, 0, WAYS);
	tcase_add_loop_test(tc, test_dead_events, 0, WAYS * 2);
	tcase_add_loop_test(tc, test_offline, 0, WAYS);
	tcase_add_loop_test(tc, test_no_epoll, 0, ARRAY_SIZE(no_epoll));
	suite_add_tcase(s, tc);
	return unit_main(s);
}
