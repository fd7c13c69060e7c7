// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/deferred.h"
#include "tests/unit/unit.h"

#define MAX_SAMPLES 32

/* The counted samples: the number of each, and the first address of its user stack, -1 if that is missed. */
static struct {
	int nr[MAX_SAMPLES];
	int user[MAX_SAMPLES];
	size_t counted;
} result;
static uint64_t total, total_missed, kernel_frames;
static int fails_after; /* fail after so many samples; -1: never */
static struct deferred *d;

static int count(void *ctx, const struct row_key *key, unsigned int set)
{
	bool missed = key->user.state == STACK_MISSED;

	ck_assert_ptr_eq(ctx, &result);
	if (fails_after >= 0 && total >= (uint64_t)fails_after)
		return -E2BIG;
	ck_assert_uint_eq(set, (unsigned int)key->pid % 2);
	ck_assert(missed ? !key->user.nr : key->user.state == STACK_TAKEN);
	ck_assert_str_eq(key->comm, "name");
	kernel_frames += key->kernel.nr;
	if (total < MAX_SAMPLES) {
		result.nr[total] = key->pid;
		result.user[total] = missed ? -1 : (int)key->user.frames[0];
		result.counted++;
	}
	total++;
	total_missed += missed;
	return 0;
}

static void setup(void)
{
	memset(&result, 0, sizeof(result));
	total = total_missed = kernel_frames = 0;
	fails_after = -1;
	d = deferred_new(count, &result);
	ck_assert_ptr_nonnull(d);
}

static void teardown(void)
{
	deferred_free(d);
}

static int wait_for(pid_t tid, uint64_t cookie, int nr, uint32_t frames)
{
	frame_t *kernel = calloc(frames + 1, sizeof(*kernel));
	struct row_key key = { .comm = "name", .pid = nr, .kernel = { kernel, frames, STACK_TAKEN, false } };
	int rc;

	ck_assert_ptr_nonnull(kernel);
	rc = deferred_wait(d, tid, cookie, &key, (unsigned int)nr % 2);
	free(kernel); /* it was copied */
	return rc;
}

/*
 * Steps: w: thread a's next sample waits for cookie b; c: the stack of thread a with cookie b comes, and its address is
 * the number of the step; x: thread a executes a program; e: thread a ends; f: no more stacks come. Samples are
 * numbered from 1.
 */
static const struct {
	const char *what;
	struct {
		char what;
		pid_t a;
		uint64_t b;
	} steps[10];
	struct {
		int nr, user;
	} counted[8];
	size_t waiting;
} stories[] = {
	{ "it comes", { { 'w', 10, 7 }, { 'c', 10, 7 } }, { { 1, 2 } }, 0 },
	{ "several samples", { { 'w', 10, 7 }, { 'w', 10, 7 }, { 'c', 10, 7 } }, { { 1, 3 }, { 2, 3 } }, 0 },
	{ "threads of one cookie",
	  { { 'w', 10, 7 }, { 'w', 11, 7 }, { 'c', 11, 7 }, { 'c', 10, 7 } },
	  { { 2, 3 }, { 1, 4 } },
	  0 },
	{ "one cookie after the other",
	  { { 'w', 10, 7 }, { 'c', 10, 7 }, { 'w', 10, 8 }, { 'c', 10, 8 } },
	  { { 1, 2 }, { 2, 4 } },
	  0 },
	{ "the same cookie again",
	  { { 'w', 10, 7 }, { 'c', 10, 7 }, { 'w', 10, 7 }, { 'c', 10, 7 } },
	  { { 1, 2 }, { 2, 4 } },
	  0 },
	{ "it has not come yet", { { 'w', 10, 7 } }, { { 0 } }, 1 },
	{ "it never comes", { { 'w', 10, 7 }, { 'w', 11, 8 }, { 'f' } }, { { 1, -1 }, { 2, -1 } }, 0 },
	{ "it comes twice", { { 'w', 10, 7 }, { 'c', 10, 7 }, { 'c', 10, 7 } }, { { 1, 2 } }, 0 },
	{ "of another thread", { { 'w', 10, 7 }, { 'c', 11, 7 } }, { { 0 } }, 1 },
	{ "of another cookie", { { 'w', 10, 7 }, { 'c', 10, 8 } }, { { 0 } }, 1 },
	{ "of cookie 0", { { 'w', 10, 7 }, { 'c', 10, 0 } }, { { 0 } }, 1 },
	{ "another cookie, then it", { { 'w', 10, 7 }, { 'c', 10, 8 }, { 'c', 10, 7 } }, { { 1, 3 } }, 0 },
	{ "before its sample", { { 'c', 10, 7 }, { 'w', 10, 7 }, { 'f' } }, { { 1, -1 } }, 0 },
	{ "nobody waits", { { 'c', 10, 7 }, { 'x', 10 }, { 'f' } }, { { 0 } }, 0 },
	{ "another program", { { 'w', 10, 7 }, { 'x', 10 }, { 'c', 10, 7 } }, { { 1, -1 } }, 0 },
	{ "another thread executes", { { 'w', 10, 7 }, { 'x', 11 }, { 'c', 10, 7 } }, { { 1, 3 } }, 0 },
	{ "more than one program",
	  { { 'w', 10, 7 }, { 'x', 10 }, { 'w', 10, 8 }, { 'c', 10, 8 }, { 'x', 10 } },
	  { { 1, -1 }, { 2, 4 } },
	  0 },
	{ "its record was lost",
	  { { 'w', 10, 7 }, { 'w', 10, 8 }, { 'c', 10, 7 }, { 'c', 10, 8 } },
	  { { 1, -1 }, { 2, 4 } },
	  0 },
	{ "the first of three executes",
	  { { 'w', 10, 7 }, { 'w', 11, 7 }, { 'w', 12, 7 }, { 'x', 10 }, { 'f' } },
	  { { 1, -1 }, { 2, -1 }, { 3, -1 } },
	  0 },
	{ "the one between does",
	  { { 'w', 10, 7 }, { 'w', 11, 7 }, { 'w', 12, 7 }, { 'x', 11 }, { 'f' } },
	  { { 2, -1 }, { 1, -1 }, { 3, -1 } },
	  0 },
	{ "the last does, and another comes",
	  { { 'w', 10, 7 }, { 'w', 11, 7 }, { 'x', 11 }, { 'w', 12, 7 }, { 'f' } },
	  { { 2, -1 }, { 1, -1 }, { 3, -1 } },
	  0 },
	{ "all do, and others come",
	  { { 'w', 10, 7 }, { 'w', 11, 7 }, { 'x', 10 }, { 'x', 11 }, { 'w', 12, 7 }, { 'w', 13, 7 }, { 'c', 13, 7 } },
	  { { 1, -1 }, { 2, -1 }, { 4, 7 } },
	  1 },
	{ "behind the end of the thread", { { 'w', 10, 7 }, { 'e', 10 }, { 'c', 10, 7 } }, { { 1, 3 } }, 0 },
	{ "of several threads that end",
	  { { 'w', 10, 7 }, { 'w', 11, 7 }, { 'e', 11 }, { 'e', 10 }, { 'c', 11, 7 }, { 'c', 10, 7 } },
	  { { 2, 5 }, { 1, 6 } },
	  0 },
	{ "not behind the end of the thread", { { 'w', 10, 7 }, { 'e', 10 } }, { { 0 } }, 1 },
	{ "it ends twice", { { 'w', 10, 7 }, { 'e', 10 }, { 'e', 10 }, { 'f' } }, { { 1, -1 } }, 0 },
	{ "nobody ends", { { 'e', 10 }, { 'w', 10, 7 }, { 'c', 10, 7 } }, { { 1, 3 } }, 0 },
	{ "its number is another thread's now",
	  { { 'w', 10, 7 }, { 'e', 10 }, { 'w', 10, 8 }, { 'c', 10, 7 }, { 'c', 10, 8 } },
	  { { 1, -1 }, { 2, 5 } },
	  0 },
	{ "an exited thread is given up first",
	  { { 'w', 10, 7 }, { 'w', 11, 7 }, { 'w', 12, 7 }, { 'e', 12 }, { 'e', 11 }, { 'f' } },
	  { { 3, -1 }, { 2, -1 }, { 1, -1 } },
	  0 },
	{ "odd numbers",
	  { { 'w', -1, 7 }, { 'w', INT32_MIN, UINT64_MAX }, { 'c', INT32_MIN, UINT64_MAX } },
	  { { 2, 3 } },
	  1 },
};

START_TEST(test_story)
{
	frame_t address;
	struct stack user = { &address, 1, STACK_TAKEN, false };
	int i, samples = 0, nr;

	for (i = 0; i < 10 && stories[_i].steps[i].what; i++) {
		pid_t tid = stories[_i].steps[i].a;
		uint64_t cookie = stories[_i].steps[i].b;

		address = (frame_t)i + 1;
		switch (stories[_i].steps[i].what) {
		case 'w':
			ck_assert_int_eq(wait_for(tid, cookie, ++samples, 3), 0);
			break;
		case 'c':
			ck_assert_int_eq(deferred_came(d, tid, cookie, &user), 0);
			break;
		case 'e':
			ck_assert_int_eq(deferred_exited(d, tid), 0);
			break;
		case 'x':
			ck_assert_int_eq(deferred_executed(d, tid), 0);
			break;
		default:
			ck_assert_int_eq(deferred_flush(d), 0);
		}
	}
	for (nr = 0; nr < 8 && stories[_i].counted[nr].nr; nr++) {
		ck_assert_msg(result.nr[nr] == stories[_i].counted[nr].nr, "%s: %d. is %d", stories[_i].what, nr + 1,
			      result.nr[nr]);
		ck_assert_msg(result.user[nr] == stories[_i].counted[nr].user, "%s: the stack of %d", stories[_i].what,
			      result.nr[nr]);
	}
	ck_assert_uint_eq(total, (uint64_t)nr);
	ck_assert_uint_eq(kernel_frames, (uint64_t)nr * 3);
	ck_assert_uint_eq(deferred_nr(d), stories[_i].waiting);
	ck_assert_uint_eq(total + deferred_nr(d), (uint64_t)samples);
}
END_TEST

/* Stacks that never come: of one thread or many, with one cookie or several, for samples with long kernel stacks. */
static const struct {
	pid_t tids;       /* so many threads take turns */
	uint64_t cookies; /* and so many cookies */
	uint32_t frames;
	bool bounded_by_bytes;
} floods[] = {
	{ 1, 1, 0, false },      { 1, 1, 8000, true },     { 1, 3, 0, false },        { 1000, 1, 10, false },
	{ 1000, 7, 8000, true }, { 4 << 20, 1, 0, false }, { 4 << 20, 5, 100, true }, { 4 << 20, 1, 8000, true },
};

START_TEST(test_flood)
{
	int samples = floods[_i].bounded_by_bytes ? 50000 : DEFERRED_MAX_SAMPLES + 1000, i;
	size_t most = 0;

	if (floods[_i].frames == 100)
		samples = 200000;
	for (i = 0; i < samples; i++) {
		ck_assert_int_eq(wait_for(i % floods[_i].tids, 1 + (uint64_t)i % floods[_i].cookies, i,
					  floods[_i].frames),
				 0);
		if (deferred_nr(d) > most)
			most = deferred_nr(d);
	}
	ck_assert_uint_le(most, DEFERRED_MAX_SAMPLES);
	ck_assert_uint_le(most * floods[_i].frames * sizeof(frame_t), DEFERRED_MAX_BYTES);
	ck_assert_uint_gt(total, 0);
	ck_assert_uint_eq(total, total_missed);
	ck_assert_uint_eq(total + deferred_nr(d), (uint64_t)samples);
	ck_assert_int_eq(deferred_flush(d), 0);
	ck_assert_uint_eq(total, (uint64_t)samples);
}
END_TEST

/* Only the thread that has waited longest makes room. */
START_TEST(test_oldest)
{
	frame_t address = 5;
	const struct stack user = { &address, 1, STACK_TAKEN, false };
	int i;

	for (i = 0; i < (int)DEFERRED_MAX_SAMPLES; i++)
		ck_assert_int_eq(wait_for(i, 7, i, 0), 0);
	ck_assert_uint_eq(total, 0);
	ck_assert_int_eq(wait_for(1 << 20, 7, 1, 0), 0);
	ck_assert_uint_eq(total_missed, 1);
	ck_assert_int_eq(result.nr[0], 0);
	ck_assert_int_eq(deferred_came(d, 1, 7, &user), 0);
	ck_assert_int_eq(deferred_came(d, 1 << 20, 7, &user), 0);
	ck_assert_uint_eq(total, 3);
	ck_assert_uint_eq(total_missed, 1);
}
END_TEST

/* At most DEFERRED_MAX_EXITED exited threads wait. */
START_TEST(test_exited)
{
	int i;

	ck_assert_int_eq(wait_for(1000, 7, 1000, 3), 0);
	for (i = 1; i < 1000; i++) {
		ck_assert_int_eq(wait_for(i, 7, i, 3), 0);
		ck_assert_int_eq(deferred_exited(d, i), 0);
		ck_assert_uint_le(deferred_nr(d), DEFERRED_MAX_EXITED + 1);
	}
	ck_assert_uint_eq(total, 999 - DEFERRED_MAX_EXITED);
	ck_assert_uint_eq(total, total_missed);
	for (i = 0; i < MAX_SAMPLES; i++)
		ck_assert_int_eq(result.nr[i], i + 1);
}
END_TEST

/* If a sample cannot be counted, the call returns the error, and nothing leaks. */
START_TEST(test_failure)
{
	static const struct stack user = { .state = STACK_MISSED };

	fails_after = 1;
	ck_assert_int_eq(wait_for(10, 7, 1, 3), 0);
	ck_assert_int_eq(wait_for(10, 7, 2, 3), 0);
	ck_assert_int_eq(wait_for(11, 7, 3, 3), 0);
	ck_assert_int_eq(wait_for(12, 7, 4, 3), 0);
	ck_assert_int_eq(deferred_came(d, 10, 7, &user), -E2BIG);
	ck_assert_int_eq(wait_for(11, 8, 5, 3), -E2BIG);
	ck_assert_int_eq(deferred_flush(d), -E2BIG);
	ck_assert_int_eq(deferred_executed(d, 13), 0);
	ck_assert_uint_eq(total, 1);
}
END_TEST

START_TEST(test_nothing)
{
	ck_assert_int_eq(deferred_flush(d), 0);
	ck_assert_uint_eq(deferred_nr(d), 0);
	deferred_free(NULL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("deferred");
	TCase *tc = tcase_create("waiting");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, test_story, 0, ARRAY_SIZE(stories));
	tcase_add_loop_test(tc, test_flood, 0, ARRAY_SIZE(floods));
	tcase_add_test(tc, test_oldest);
	tcase_add_test(tc, test_exited);
	tcase_add_test(tc, test_failure);
	tcase_add_test(tc, test_nothing);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
