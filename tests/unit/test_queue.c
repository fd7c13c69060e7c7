// SPDX-License-Identifier: Apache-2.0
/* The records that a queue keeps; their effects have tests of their own. */
#include "backend-perfring/queue.h"
#include "tests/unit/rig.h"
#include "tests/unit/unit.h"

enum { RECORDS = 200, WORDS_MAX = RECORD_MAX / 8 };

static struct rig rig;
static struct queue q;

static void setup(void)
{
	rig_make(&rig, (struct request){ 0 });
	rig.sink.tasks = tasks_new(NULL);
	ck_assert_ptr_nonnull(rig.sink.tasks);
	q = (struct queue){ 0 };
	ck_assert_int_eq(queue_open(&q, &rig.env, 1), 0);
}

static void teardown(void)
{
	queue_release(&q);
	queue_release(&q);
	tasks_free(rig.sink.tasks);
}

/* Record @n has so many words, up to the largest one. */
static size_t words_of(size_t n)
{
	return n * n * n % WORDS_MAX;
}

static struct incoming *take(size_t n)
{
	struct incoming *in = queue_take(&q, words_of(n) * 8);

	ck_assert_ptr_nonnull(in);
	memset(in->bytes, (int)n, in->size);
	return in;
}

static void assert_kept(const struct incoming *in, size_t n)
{
	static uint64_t words[WORDS_MAX];

	memset(words, (int)n, sizeof(words));
	ck_assert_uint_eq((uintptr_t)in->bytes % 8, 0);
	ck_assert_uint_eq(in->size, words_of(n) * 8);
	ck_assert(!memcmp(in->bytes, words, in->size));
}

/* Records are dropped in any order; waiting ones stay unchanged at their place. */
START_TEST(test_drop)
{
	static const size_t steps[] = { 1, 3, 7, RECORDS - 1 };
	struct incoming *in[RECORDS];
	size_t round, i;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < RECORDS; i++)
			in[i] = take(i);
		for (i = 0; i < RECORDS; i++) {
			size_t n = i * steps[_i] % RECORDS;

			assert_kept(in[n], n);
			queue_drop(&q, in[n]);
		}
		ck_assert_uint_eq(queue_bytes(&q), 0);
	}
}
END_TEST

/* A record that is dropped at once takes no room, even if another record waits. */
START_TEST(test_unwanted)
{
	struct incoming *kept = take(0);
	const struct chunk *chunk = q.chunk;
	size_t i;

	for (i = 0; i < 20 * RECORDS; i++)
		queue_drop(&q, take(i));
	ck_assert_ptr_eq(q.chunk, chunk);
	assert_kept(kept, 0);
	queue_drop(&q, kept);
}
END_TEST

/* Records that change no task: those of one round wait, and are gone with the next one. */
START_TEST(test_rounds)
{
	size_t i, waits;

	for (i = 0; i < RECORDS; i++) {
		struct incoming *in = take(i);

		in->record = (struct record){ .type = PERF_RECORD_THROTTLE, .time = RECORDS - i };
		ck_assert_int_eq(queue_add(&q, in), 0);
	}
	waits = queue_bytes(&q);
	ck_assert_uint_gt(waits, 1 << 20);
	ck_assert_int_eq(queue_round(&q), 0);
	ck_assert_uint_eq(queue_bytes(&q), waits);
	ck_assert_int_eq(queue_round(&q), 0);
	ck_assert_uint_eq(queue_bytes(&q), 0);
	ck_assert_uint_eq(q.applier.stats[0].throttled, RECORDS);
}
END_TEST

/* Records that were not applied are freed. */
START_TEST(test_release)
{
	size_t i;

	for (i = 0; i < RECORDS; i++)
		ck_assert_int_eq(queue_add(&q, take(i)), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("queue");
	TCase *t = tcase_create("queue");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, test_drop, 0, 4);
	tcase_add_test(t, test_unwanted);
	tcase_add_test(t, test_rounds);
	tcase_add_test(t, test_release);
	suite_add_tcase(s, t);
	return unit_main(s);
}
