// SPDX-License-Identifier: Apache-2.0
/* Lost records: from the counts of the events, and from reports in the rings. */
#include "backend-perfring/ring/rings.h"
#include "core/events/event.h"
#include "core/events/side_band.h"
#include "tests/unit/rig.h"

static struct sink sink;
static struct events events;
static struct event_place places[2];
static const struct source_env env = { .sink = &sink, .events = &events };
static struct cpu_rings rings[2];
static struct source b;

static void setup(void)
{
	places[0] = places[1] = rig_place();
	sink = (struct sink){ 0 };
	events = (struct events){ .places = places, .nr_places = ARRAY_SIZE(places), .apart = true };
	events.attrs[EVENT_SAMPLES].read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_LOST;
	memset(rings, 0, sizeof(rings));
	b = (struct source){ .env = &env, .rings = rings };
}

static void teardown(void)
{
	event_close(&places[0]);
	event_close(&places[1]);
}

static void join(struct event_place *e, int fd, enum event_kind kind)
{
	ck_assert_int_eq(event_join(e, &(struct joined_event){ .fd = fd, .kind = kind }), 0);
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
	struct event_place *e = &places[1];

	e->samples = true;
	e->fd = rig_event(7, 12, 11);
	e->notes[0].fd = rig_event(0, 1000, 1000);
	e->notes[1].fd = rig_event(10, 10010, 10030);
	join(e, rig_event(1, 3, 3), EVENT_SAMPLES);
	join(e, rig_event(0, 100, 100), EVENT_SWITCHES);
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

	e->fd = rig_event(5, 5, 6);
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
	struct side_band *side = &places[1].side;

	side->fd = rig_event(4, 4, 204);
	ck_assert_int_eq(side_band_join(side, rig_event(2, 2, 2)), 0);
	ck_assert_int_eq(side_band_join(side, rig_event(0, 30, 30)), 0);
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
	places[1].fd = rig_event(5, 5, 5);
	rings[1].noted = true;
	if (!(told[_i].read_format & PERF_FORMAT_LOST))
		ck_assert_uint_eq(lost_now(&b, 1).by[EVENT_SAMPLES], 0);
	lost_told(&b, 1, told[_i].side, 9);
	ck_lost(told[_i].records, told[_i].here, 0, 0, told[_i].side_band);
	ck_assert_int_eq(rings[1].noted, told[_i].side);
	ck_assert_int_eq(b.refresh, told[_i].side);
	ck_assert_int_eq(sink.gap, told[_i].side);
	events.apart = b.refresh = sink.gap = false;
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
