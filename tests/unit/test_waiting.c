// SPDX-License-Identifier: Apache-2.0
/* Waiting with poll(2) and with epoll(7) gives the same results. */
#include "core/events/waiting.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

enum { POLL, WATCH, WAYS };
enum { CPUS = 2, RINGS = 2 * CPUS, ALL = WAITING_OTHERS + RINGS };

static unsigned int epoll_waits;

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
	epoll_waits = 0;
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

/*
 * The event of a thread dies (here: the other end of a pipe is closed), and others write to its ring: then these are
 * waited for. After the last one, one wait says that a CPU has gone.
 */
START_TEST(test_dead_event)
{
	int way = _i / 2, side = _i % 2, pipes[2][2], more;
	struct event_place *e = &places[1];
	struct joined_event joined;
	bool gone;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(pipes); i++)
		ck_assert_int_eq(pipe2(pipes[i], O_CLOEXEC), 0);
	more = pipes[1][0];
	joined = (struct joined_event){ .fd = more };
	if (side)
		e->side = (struct side_band){ .fd = pipes[0][0], .more = &more, .nr_more = 1 };
	else
		*e = (struct event_place){
			.fd = pipes[0][0], .more = &joined, .nr_more = 1, .side = { .fd = fds[ALL - 1] }
		};
	begin(way);
	pass_first(way);
	expect_nothing();
	close(pipes[0][1]);
	ck_assert_int_eq(waiting_poll(&w, -1, &gone, &err), 0);
	ck_assert(!gone);
	pass_first(way);
	expect_nothing();
	ck_assert_int_eq(write(pipes[1][1], "", 1), 1);
	ck_assert_int_eq(waiting_poll(&w, -1, &gone, &err), 1);
	ck_assert(!gone);
	ck_assert_int_eq(read(pipes[1][0], &(char){ 0 }, 1), 1);
	close(pipes[1][1]);
	ck_assert_int_eq(waiting_poll(&w, -1, &gone, &err), 0);
	ck_assert(gone);
	expect_nothing();
	close(pipes[0][0]);
	close(pipes[1][0]);
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

/* Where epoll(7) cannot be had, or refuses a descriptor, poll(2) is used. */
START_TEST(test_no_epoll)
{
	int refused = _i ? memfd_create("refused", MFD_CLOEXEC) : -1; /* always ready for poll(2) */
	rlim_t before = unit_leave_files((unsigned int)_i);
	bool gone;

	begin(WATCH);
	unit_limit_files(before);
	w.fds[0].fd = refused;
	set_ready(fds[ALL - 1]);
	ck_assert_int_eq(waiting_poll(&w, -1, &gone, &err), 1);
	ck_assert_int_eq(waiting_poll(&w, -1, &gone, &err), 1);
	ck_assert_int_eq(w.fds[0].revents, _i ? POLLIN : 0);
	ck_assert_int_eq(w.fds[ALL - 1].revents, POLLIN);
	be_read(fds[ALL - 1]);
	ck_assert_int_eq(look(&gone), 0);
	ck_assert(!gone);
	ck_assert_uint_eq(epoll_waits, 0);
	if (_i)
		close(refused);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("waiting");
	TCase *tc = tcase_create("waiting");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_each, 0, WAYS * ALL);
	tcase_add_loop_test(tc, test_others_change, 0, WAYS);
	tcase_add_loop_test(tc, test_dead_event, 0, WAYS * 2);
	tcase_add_loop_test(tc, test_offline, 0, WAYS);
	tcase_add_loop_test(tc, test_no_epoll, 0, 2);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
