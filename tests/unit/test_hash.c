// SPDX-License-Identifier: Apache-2.0
#include "core/base/hash.h"
#include "tests/unit/unit.h"

static const struct {
	const char *a, *b;
	size_t len_a, len_b;
	uint64_t seed_a, seed_b;
	bool same;
} pairs[] = {
	{ "", "", 0, 0, 0, 0, true },
	{ NULL, "", 0, 0, 0, 0, true },
	{ "a", "a", 1, 1, 7, 7, true },
	{ "12345678", "12345678", 8, 8, 0, 0, true },
	{ "12345678abc", "12345678abc", 11, 11, 0, 0, true },
	{ "", "\0", 0, 1, 0, 0, false },
	{ "a", "a\0", 1, 2, 0, 0, false },
	{ "a", "b", 1, 1, 0, 0, false },
	{ "a", "a", 1, 1, 0, 1, false },
	{ "\0\0\0\0\0\0\0", "\0\0\0\0\0\0\0\0", 7, 8, 0, 0, false },
	{ "\0\0\0\0\0\0\0\0", "\0\0\0\0\0\0\0\0\0", 8, 9, 0, 0, false },
	{ "12345678abc", "12345678abd", 11, 11, 0, 0, false },
	{ "12345678abcdefgh", "abcdefgh12345678", 16, 16, 0, 0, false },
	{ "x2345678abcdefgh", "12345678abcdefgh", 16, 16, 0, 0, false },
};

START_TEST(test_bytes)
{
	uint64_t a = hash_bytes(pairs[_i].a, pairs[_i].len_a, pairs[_i].seed_a);
	uint64_t b = hash_bytes(pairs[_i].b, pairs[_i].len_b, pairs[_i].seed_b);

	ck_assert_int_eq(a == b, pairs[_i].same);
}
END_TEST

START_TEST(test_unaligned)
{
	char buf[64 + 8];
	uint64_t want;
	size_t at, len;

	for (len = 0; len <= 64; len++) {
		want = hash_bytes(memset(buf, 'x', sizeof(buf)), len, 3);
		for (at = 1; at < 8; at++)
			ck_assert_uint_eq(hash_bytes(buf + at, len, 3), want);
	}
}
END_TEST

static bool same_int(const void *table, uint32_t pos, const void *key)
{
	const int *t = table;

	return t[pos] == *(const int *)key;
}

static bool never_called(const void *table, uint32_t pos, const void *key)
{
	(void)table;
	(void)pos;
	(void)key;
	ck_abort_msg("compared");
	return true;
}

START_TEST(test_empty)
{
	struct hash_index h = { 0 };

	ck_assert_uint_eq(hash_find(&h, 1, never_called, NULL, NULL), HASH_NONE);
	hash_del(&h, 1, 0);
	hash_release(&h);
	ck_assert_uint_eq(hash_find(&h, 1, never_called, NULL, NULL), HASH_NONE);
}
END_TEST

/* Hash functions: all the same, few, spread, different in one half only, folding to 0. */
static uint64_t all_same(int v)
{
	(void)v;
	return 12345;
}

static uint64_t few(int v)
{
	return (uint64_t)v % 3;
}

static uint64_t spread(int v)
{
	return hash_bytes(&v, sizeof(v), 0);
}

static uint64_t low_half(int v)
{
	return (uint32_t)v;
}

static uint64_t high_half(int v)
{
	return (uint64_t)v << 32;
}

static uint64_t cancels(int v)
{
	return (uint64_t)v << 32 | (uint32_t)v; /* folds to 0 */
}

static uint64_t (*const hashes[])(int v) = { all_same, few, spread, low_half, high_half, cancels };

enum { VALUES = 500 };

/* Random additions and removals, checked against a plain array of flags. */
START_TEST(test_reference)
{
	struct hash_index h = { 0 };
	int table[VALUES];
	bool in[VALUES] = { false };
	size_t nr = 0;
	int i, v;

	srand(1);
	for (i = 0; i < VALUES; i++)
		table[i] = i * 7;
	for (i = 0; i < unit_times(20000); i++) {
		v = rand() % VALUES;
		if (in[v])
			hash_del(&h, hashes[_i](table[v]), (uint32_t)v);
		else
			ck_assert_int_eq(hash_add(&h, hashes[_i](table[v]), (uint32_t)v), 0);
		nr = in[v] ? nr - 1 : nr + 1;
		in[v] = !in[v];
		ck_assert_uint_eq(h.nr, nr);
		ck_assert_uint_le(h.nr, h.used);
		ck_assert_uint_lt(h.used, h.cap);
		v = rand() % VALUES;
		ck_assert_uint_eq(hash_find(&h, hashes[_i](table[v]), same_int, table, &table[v]),
				  in[v] ? (uint32_t)v : HASH_NONE);
	}
	for (v = 0; v < VALUES; v++)
		ck_assert_uint_eq(hash_find(&h, hashes[_i](table[v]), same_int, table, &table[v]),
				  in[v] ? (uint32_t)v : HASH_NONE);
	hash_release(&h);
	ck_assert_uint_eq(h.cap, 0);
}
END_TEST

/* Removed entries must not make it grow: tasks come and go for weeks. */
START_TEST(test_churn)
{
	struct hash_index h = { 0 };
	uint32_t i;

	for (i = 0; i < (uint32_t)unit_times(1000000); i++) {
		ck_assert_int_eq(hash_add(&h, spread((int)i), i), 0);
		if (i >= 100)
			hash_del(&h, spread((int)i - 100), i - 100);
	}
	ck_assert_uint_eq(h.nr, 100);
	ck_assert_uint_le(h.cap, 1024);
	hash_release(&h);
}
END_TEST

START_TEST(test_del_absent)
{
	struct hash_index h = { 0 };
	int table[] = { 1, 2 };

	ck_assert_int_eq(hash_add(&h, 5, 0), 0);
	hash_del(&h, 5, 1); /* the same hash, another entry */
	hash_del(&h, 6, 0); /* the entry, but not its hash */
	ck_assert_uint_eq(h.nr, 1);
	ck_assert_uint_eq(hash_find(&h, 5, same_int, table, &table[0]), 0);
	hash_del(&h, 5, 0);
	hash_del(&h, 5, 0);
	ck_assert_uint_eq(h.nr, 0);
	ck_assert_uint_eq(hash_find(&h, 5, same_int, table, &table[0]), HASH_NONE);
	ck_assert_int_eq(hash_add(&h, 5, 1), 0);
	ck_assert_uint_eq(hash_find(&h, 5, same_int, table, &table[1]), 1);
	hash_release(&h);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("hash");
	TCase *tc = tcase_create("hash");

	tcase_add_loop_test(tc, test_bytes, 0, ARRAY_SIZE(pairs));
	tcase_add_test(tc, test_unaligned);
	tcase_add_test(tc, test_empty);
	tcase_add_loop_test(tc, test_reference, 0, ARRAY_SIZE(hashes));
	tcase_add_test(tc, test_churn);
	tcase_add_test(tc, test_del_absent);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
