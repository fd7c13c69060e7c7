// SPDX-License-Identifier: Apache-2.0
/* Lost records, from the counts of the events. Files stand for the events: each read(2) gets the next counts. */
#include "backend-perfring/ring/rings.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <unistd.h>

#define READS 3

static char *dir;
static struct sink sink;
static struct events events;
static struct event_place places[2];
static const struct source_env env = { .sink = &sink, .events = &events };
static struct cpu_rings rings[2];
static struct source b;

/* Open an event that has lost so many records at each read(2). */
static int open_event(uint64_t first, uint64_t second, uint64_t third)
{
	const struct event_counts reads[READS] = {
		{ .value = 900, .enabled_ns = 800, .lost = first },
		{ .value = 901, .enabled_ns = 801, .lost = second },
		{ .value = 902, .enabled_ns = 802, .lost = third },
	};
	char path[128];
	int fd;

	unit_write(dir, "event", reads, sizeof(reads));
	snprintf(path, sizeof(path), "%s/event", dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(unlink(path), 0);
	return fd;
}

static void make_place(struct event_place *e)
{
	size_t i;

	*e = (struct event_place){ .fd = -1, .side.fd = -1 };
	for (i = 0; i < ARRAY_SIZE(e->notes); i++)
		e->notes[i] = (struct joined_event){ .fd = -1, .kind = EVENT_NOTES + i };
}

static void setup(void)
{
	dir = unit_tmpdir();
	make_place(&places[0]);
	make_place(&places[1]);
	sink = (struct sink){ 0 };
	events = (struct events){ .places = places, .nr_places = ARRAY_SIZE(places), .apart = true };
	events.attrs[EVENT_SAMPLES].read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_LOST;
	memset(rings, 0, sizeof(rings));
	b = (struct source){ .env = &env, .rings = rings };
}

static void close_events(struct event_place *e)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(e->notes); i++)
		if (e->notes[i].fd >= 0)
			close(e->notes[i].fd);
	for (i = 0; i < e->nr_more; i++)
		close(e->more[i].fd);
	for (i = 0; i < e->side.nr_more; i++)
		close(e->side.more[i]);
	if (e->side.fd >= 0)
		close(e->side.fd);
	if (e->fd >= 0)
		close(e->fd);
}

static void teardown(void)
{
	close_events(&places[0]);
	close_events(&places[1]);
	unit_rmdir(dir);
}

#define ck_lost(records, here, notes, switch_notes, side_band)                                                         \
	do {                                                                                                           \
		const struct stats *st = rings_stats(&b);                                                              \
                                                                                                                       \
		ck_assert_uint_eq(st->lost_records, records);                                                          \
		ck_assert_uint_eq(st->lost_here, here);                                                                \
		ck_assert_uint_eq(st->lost_notes, notes);                                                              \
		ck_assert_uint_eq(st->lost_switch_notes, switch_notes);                                                \
		ck_assert_uint_eq(st->lost_side_band, side_band);                                                      \
	} while (0)

/* Only what came after the first counts is added, to the kind of its event; a count that got smaller adds nothing. */
START_TEST(test_kinds)
{
	struct joined_event more[] = {
		{ .fd = open_event(1, 3, 3), .kind = EVENT_SAMPLES },
		{ .fd = open_event(0, 100, 100), .kind = EVENT_SWITCHES },
	};
	struct event_place *e = &places[1];

	e->samples = true;
	e->fd = open_event(7, 12, 11);
	e->notes[0].fd = open_event(0, 1000, 1000);
	e->notes[1].fd = open_event(10, 10010, 10030);
	e->more = more;
	e->nr_more = ARRAY_SIZE(more);

	rings[1].lost = lost_now(&b, 1);
	ck_assert_uint_eq(lost_sum(&rings[1].lost), 7 + 1 + 10);
	ck_assert_uint_eq(rings[1].lost.by[EVENT_SAMPLES], 8);
	ck_assert_uint_eq(rings[1].lost.by[EVENT_SWITCH_NOTES], 10);
	lost_count_all(&b);
	ck_lost(5 + 2 + 100 + 1000 + 10000, 5 + 2, 1000, 10000, 0);
	ck_assert(!sink.gap);
	lost_count(&b, 1);
	ck_lost(5 + 2 + 100 + 1000 + 10020, 5 + 2, 1000, 10020, 0);
	lost_count(&b, 0);
	ck_lost(5 + 2 + 100 + 1000 + 10020, 5 + 2, 1000, 10020, 0);
}
END_TEST

/* Names are read again if the ring that lost records has those of tasks, too. */
START_TEST(test_names)
{
	struct event_place *e = &places[0];

	e->fd = open_event(5, 5, 6);
	events.apart = _i;
	rings[0].lost = lost_now(&b, 0);
	lost_count_all(&b);
	ck_assert(!sink.gap && !b.refresh);
	lost_count_all(&b);
	ck_lost(1, 0, 0, 0, 0); /* its samples do not count */
	ck_assert_int_eq(sink.gap, !_i);
	ck_assert_int_eq(b.refresh, !_i);
}
END_TEST

START_TEST(test_side)
{
	int more[] = { open_event(2, 2, 2), open_event(0, 30, 30) };
	struct side_band *side = &places[1].side;

	side->fd = open_event(4, 4, 204);
	side->more = more;
	side->nr_more = ARRAY_SIZE(more);
	ck_assert_uint_eq(lost_side_now(&b, 0), 0);
	rings[1].lost_side = lost_side_now(&b, 1);
	ck_assert_uint_eq(rings[1].lost_side, 6);
	lost_count_all_side(&b);
	ck_lost(30, 0, 0, 0, 30);
	ck_assert(sink.gap && b.refresh);
	lost_count_side(&b, 1);
	ck_lost(230, 0, 0, 0, 230);
}
END_TEST

/* Before 6.0 the events have no counts; the reports in the rings are added. Since then, they would be added twice. */
static const struct {
	uint64_t read_format;
	bool side;
	uint64_t records, here, side_band;
} told[] = {
	{ PERF_FORMAT_TOTAL_TIME_ENABLED, false, 9, 9, 0 },
	{ PERF_FORMAT_TOTAL_TIME_ENABLED, true, 9, 0, 9 },
	{ PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_LOST, false, 0, 0, 0 },
	{ PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_LOST, true, 0, 0, 0 },
};

START_TEST(test_told)
{
	events.attrs[EVENT_SAMPLES].read_format = told[_i].read_format;
	places[1].samples = true;
	places[1].fd = open_event(5, 5, 5);
	rings[1].noted = true;
	if (!(told[_i].read_format & PERF_FORMAT_LOST))
		ck_assert_uint_eq(lost_now(&b, 1).by[EVENT_SAMPLES], 0);
	lost_told(&b, 1, told[_i].side, 9);
	ck_lost(told[_i].records, told[_i].here, 0, 0, told[_i].side_band);
	ck_assert_int_eq(rings[1].noted, told[_i].side);
	ck_assert_int_eq(b.refresh, told[_i].side);
	ck_assert_int_eq(sink.gap, told[_i].side);
	events.apart = false;
	lost_told(&b, 1, false, 1);
	ck_assert(b.refresh && sink.gap);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("lost");
	TCase *tc = tcase_create("lost");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_kinds);
	tcase_add_loop_test(tc, test_names, 0, 2);
	tcase_add_test(tc, test_side);
	tcase_add_loop_test(tc, test_told, 0, ARRAY_SIZE(told));
	suite_add_tcase(s, tc);
	return unit_main(s);
}
