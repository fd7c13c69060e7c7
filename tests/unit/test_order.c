// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/order.h"
#include "tests/unit/unit.h"

#define MAX_RECORDS 100000
#define IN_ORDER    50 /* rings from this number on have records that stay in order */

struct numbered {
	uint64_t number, time;
};

struct applied {
	uint64_t number[MAX_RECORDS];
	uint64_t time[MAX_RECORDS];
	size_t nr;
	size_t fail_at;
};

static struct applied applied;

static struct numbered records[MAX_RECORDS];

static int note(void *ctx, void *record)
{
	const struct numbered *n = record;
	struct applied *a = ctx;

	ck_assert_uint_lt(a->nr, MAX_RECORDS);
	a->time[a->nr] = n->time;
	a->number[a->nr++] = n->number;
	return a->nr == a->fail_at ? -ENOMEM : 0;
}

static void add(struct order *o, uint64_t time, uint32_t ring, uint64_t number)
{
	ck_assert_uint_lt(number, MAX_RECORDS);
	records[number] = (struct numbered){ number, time };
	ck_assert_int_eq(order_add(o, &(struct order_item){ &records[number], time, ring, ring >= IN_ORDER }), 0);
}

static void assert_numbers(const uint64_t *want, size_t nr)
{
	size_t i;

	ck_assert_uint_eq(applied.nr, nr);
	for (i = 0; i < nr; i++)
		ck_assert_uint_eq(applied.number[i], want[i]);
}

static void setup(void)
{
	applied.nr = applied.fail_at = 0;
}

START_TEST(test_empty)
{
	struct order o = { 0 };

	ck_assert_int_eq(order_round(&o, note, &applied), 0);
	ck_assert_int_eq(order_flush(&o, note, &applied), 0);
	order_release(&o);
	order_release(&o);
	ck_assert_uint_eq(applied.nr, 0);
}
END_TEST

/*
 * A step is a record (time, ring) or, with ring END, the end of a round. Records are numbered from 1 in order of
 * arrival; @want lists them in order of application, with 0 at the end of a round. The rest comes with the flush.
 */
#define END   99
#define STEPS 12
static const struct {
	const char *what;
	struct {
		uint64_t time;
		uint32_t ring;
	} step[STEPS];
	uint64_t want[STEPS];
	uint64_t late, backward;
} sequences[] = {
	{ "one round: all wait for the flush", { { 30, 1 }, { 10, 1 }, { 20, 2 }, { 0, END } }, { 0, 2, 3, 1 }, 0 },
	{ "the second round applies the first one's",
	  { { 10, 1 }, { 20, 2 }, { 0, END }, { 15, 1 }, { 30, 2 }, { 0, END } },
	  { 0, 1, 3, 2, 0, 4 },
	  0 },
	{ "found one round later, and still in order",
	  { { 10, 1 }, { 50, 2 }, { 0, END }, { 20, 1 }, { 60, 2 }, { 0, END }, { 55, 1 }, { 0, END } },
	  { 0, 1, 3, 2, 0, 5, 4, 0 },
	  0 },
	{ "two empty rounds let everything go", { { 10, 1 }, { 50, 2 }, { 0, END }, { 0, END } }, { 0, 1, 2, 0 }, 0 },
	{ "equal times stay as they came, across rounds too",
	  { { 10, 3 }, { 10, 1 }, { 10, 2 }, { 0, END }, { 10, 1 }, { 10, 0 }, { 0, END }, { 10, 1 }, { 0, END } },
	  { 0, 1, 2, 3, 4, 5, 0, 6, 0 },
	  0 },
	{ "late ones are counted, and not held up",
	  { { 100, 1 }, { 0, END }, { 200, 1 }, { 0, END }, { 99, 2 }, { 100, 2 }, { 1, 2 }, { 0, END }, { 300, 1 } },
	  { 0, 1, 0, 5, 3, 4, 2, 0, 6 },
	  2 },
	{ "without a time: where it came",
	  { { 10, 1 }, { 0, 1 }, { 5, 2 }, { 20, 1 }, { 0, 2 }, { 15, 3 }, { 0, END } },
	  { 0, 3, 1, 2, 6, 4, 5 },
	  0 },
	{ "none has a time",
	  { { 0, 1 }, { 0, 2 }, { 0, 1 }, { 0, END }, { 0, 2 }, { 0, END } },
	  { 1, 2, 3, 0, 4, 0 },
	  0 },
	{ "the end of time",
	  { { UINT64_MAX, 1 }, { 0, END }, { UINT64_MAX, 1 }, { 1, 2 }, { 0, END }, { UINT64_MAX - 1, 1 }, { 0, END } },
	  { 0, 3, 1, 2, 0, 4, 0 },
	  1 },

	/* rings whose records stay in order */
	{ "a clock that goes back",
	  { { 30, 50 }, { 28, 50 }, { 29, 50 }, { 31, 50 }, { 0, END } },
	  { 0, 1, 2, 3, 4 },
	  0,
	  2 },
	{ "the same times", { { 30, 50 }, { 30, 50 }, { 0, END } }, { 0, 1, 2 }, 0, 0 },
	{ "another ring's are where they are",
	  { { 30, 50 }, { 28, 50 }, { 29, 51 }, { 28, 51 }, { 27, 1 }, { 0, END } },
	  { 0, 5, 3, 4, 1, 2 },
	  0,
	  2 },
	{ "others of the ring are not held up",
	  { { 30, 50 }, { 10, 1 }, { 29, 50 }, { 20, 1 }, { 0, END } },
	  { 0, 2, 4, 1, 3 },
	  0,
	  1 },
	{ "from one round to the next",
	  { { 30, 50 }, { 40, 1 }, { 0, END }, { 20, 50 }, { 50, 1 }, { 0, END }, { 10, 50 }, { 60, 1 }, { 0, END } },
	  { 0, 1, 3, 2, 0, 5, 4, 0, 6 },
	  1,
	  2 },
	{ "in order, without a time: where it came",
	  { { 30, 50 }, { 0, 50 }, { 20, 50 }, { 0, END } },
	  { 0, 1, 2, 3 },
	  0,
	  1 },
};

START_TEST(test_sequences)
{
	struct order o = { 0 };
	uint64_t got[3 * STEPS], number = 0;
	size_t i, k, seen = 0, nr = 0;

	for (i = 0; i < STEPS && (sequences[_i].step[i].time || sequences[_i].step[i].ring); i++) {
		if (sequences[_i].step[i].ring != END) {
			add(&o, sequences[_i].step[i].time, sequences[_i].step[i].ring, ++number);
			continue;
		}
		ck_assert_int_eq(order_round(&o, note, &applied), 0);
		for (; seen < applied.nr; seen++)
			got[nr++] = applied.number[seen];
		got[nr++] = 0;
	}
	ck_assert_int_eq(order_flush(&o, note, &applied), 0);
	for (; seen < applied.nr; seen++)
		got[nr++] = applied.number[seen];
	ck_assert_uint_eq(applied.nr, number);
	for (k = 0; k < nr; k++)
		ck_assert_msg(got[k] == sequences[_i].want[k], "%s: place %zu is %d, not %d", sequences[_i].what, k,
			      (int)got[k], (int)sequences[_i].want[k]);
	ck_assert_uint_eq(o.late, sequences[_i].late);
	ck_assert_uint_eq(o.backward, sequences[_i].backward);
	order_release(&o);
}
END_TEST

static uint32_t random_seed = 1;

static uint32_t pick(uint32_t below)
{
	random_seed = random_seed * 1103515245 + 12345;
	return (random_seed >> 16) % below;
}

/*
 * CPUs that write while the reader goes from ring to ring: time advances with each record, and each ring is read up to
 * its present end. The header promises that no record is late then, and that all are sorted.
 */
START_TEST(test_rings)
{
	enum { RINGS = 5, QUEUE = 64 };
	static uint64_t queue[RINGS][QUEUE];
	size_t queued[RINGS] = { 0 }, i;
	uint64_t clock = 1, number = 0;
	struct order o = { 0 };
	int round;

	random_seed = (uint32_t)_i + 1;
	for (round = 0; round < 500; round++) {
		uint32_t ring;

		for (ring = 0; ring < RINGS; ring++) {
			uint32_t n = pick(20);

			while (n--) {
				uint32_t to = pick(RINGS);

				clock += pick(3); /* equal times, too */
				if (queued[to] < QUEUE)
					queue[to][queued[to]++] = clock;
			}
			for (i = 0; i < queued[ring]; i++)
				add(&o, queue[ring][i], ring, ++number);
			queued[ring] = 0;
		}
		ck_assert_int_eq(order_round(&o, note, &applied), 0);
	}
	ck_assert_int_eq(order_flush(&o, note, &applied), 0);
	ck_assert_uint_eq(applied.nr, number);
	ck_assert_uint_gt(number, 10000);
	for (i = 1; i < applied.nr; i++)
		ck_assert(applied.time[i - 1] <= applied.time[i]);
	ck_assert_uint_eq(o.late, 0);
	ck_assert_uint_eq(o.nr, 0);
	/* Two rounds of at most 5 * 20 records, and the growth by doubling. */
	ck_assert_uint_le(o.cap, 2 * 2 * 5 * 20);
	order_release(&o);
}
END_TEST

/* After an error of the callback, records that it has seen are not passed again, and the others are not lost. */
START_TEST(test_callback_error)
{
	static const uint64_t want[] = { 5, 4, 3, 2, 1, 6 };
	struct order o = { 0 };
	uint64_t i;

	applied.fail_at = (size_t)_i;
	for (i = 1; i <= 5; i++)
		add(&o, 60 - i * 10, 1, i);
	ck_assert_int_eq(order_round(&o, note, &applied), 0);
	add(&o, 70, 1, 6);
	ck_assert_int_eq(order_round(&o, note, &applied), -ENOMEM);
	ck_assert_uint_eq(applied.nr, _i);
	ck_assert_int_eq(order_flush(&o, note, &applied), 0);
	assert_numbers(want, ARRAY_SIZE(want));
	ck_assert_uint_eq(o.late, 0);
	order_release(&o);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("order");
	TCase *tc = tcase_create("order");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, test_empty);
	tcase_add_loop_test(tc, test_sequences, 0, ARRAY_SIZE(sequences));
	tcase_add_loop_test(tc, test_rings, 0, unit_times(10));
	tcase_add_loop_test(tc, test_callback_error, 1, 6);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
