// SPDX-License-Identifier: Apache-2.0
#include "core/base/intern.h"
#include "tests/unit/unit.h"

struct number {
	char before;
	int key;
	int value;
};

struct text {
	int value;
	struct text_ref key;
};

struct word {
	int value;
	const char *key;
};

/* All collide. */
static uint64_t hash_alike(const void *key)
{
	(void)key;
	return 7;
}

static bool same_number(const void *have, const void *key)
{
	return *(const int *)have == *(const int *)key;
}

static const struct intern_kind numbers = INTERN_BYTES(struct number, key);
static const struct intern_kind alike = INTERN_CUSTOM(struct number, key, hash_alike, same_number);
static const struct intern_kind words = INTERN_CUSTOM(struct word, key, intern_hash_string, intern_same_string);
static const struct intern_kind texts = INTERN_TEXT(struct text, key);
static const struct intern_kind *const kinds[] = { &numbers, &alike };

START_TEST(test_empty)
{
	struct intern_table t = { 0 };

	ck_assert_ptr_null(intern_find(&t, &numbers, &(int){ 0 }));
	intern_release(&t);
	intern_release(&t);
	ck_assert_ptr_null(intern_find(&t, &numbers, &(int){ 0 }));
	ck_assert_uint_eq(t.nr, 0);
}
END_TEST

START_TEST(test_new_is_zero)
{
	struct intern_table t = { 0 };
	struct number *n;
	bool is_new;

	n = intern(&t, &numbers, &(int){ 5 }, &is_new);
	memset(n, 0xff, sizeof(*n));
	n->key = 5;
	intern_delete(&t, &numbers, n);
	n = intern(&t, &numbers, &(int){ 6 }, &is_new); /* at the same place */
	ck_assert(is_new);
	ck_assert_int_eq(n->key, 6);
	ck_assert_int_eq(n->value, 0);
	ck_assert_int_eq(n->before, 0);
	intern_release(&t);
}
END_TEST

START_TEST(test_once)
{
	struct intern_table t = { 0 };
	struct number *n;
	bool is_new;
	int i;

	for (i = 0; i < 200; i++) {
		n = intern(&t, &numbers, &(int){ i % 100 }, &is_new);
		ck_assert_int_eq(is_new, i < 100);
		ck_assert_int_eq(n->value, is_new ? 0 : i % 100);
		n->value = i % 100;
	}
	ck_assert_uint_eq(t.nr, 100);
	for (i = 0; i < 100; i++)
		ck_assert_int_eq(((struct number *)t.v)[i].key, i);
	ck_assert_ptr_null(intern_find(&t, &numbers, &(int){ 100 }));
	ck_assert_ptr_null(intern_find(&t, &numbers, &(int){ -1 }));
	intern_release(&t);
}
END_TEST

/* Keys are compared by contents, not by address. */
START_TEST(test_words)
{
	static const char *const absent[] = { "", "a", "ab", "abcd", "abC", " abc" };
	char buf[] = "abc";
	const char *key = buf, *other = "abc";
	struct intern_table t = { 0 };
	struct word *w;
	bool is_new;
	size_t i;

	w = intern(&t, &words, &key, &is_new);
	ck_assert(is_new);
	ck_assert_ptr_null(w->key);
	*w = (struct word){ 1, other };
	ck_assert_ptr_eq(intern(&t, &words, &key, &is_new), w);
	ck_assert(!is_new);
	for (i = 0; i < ARRAY_SIZE(absent); i++)
		ck_assert_ptr_null(intern_find(&t, &words, &absent[i]));
	intern_delete(&t, &words, w);
	ck_assert_ptr_null(intern_find(&t, &words, &key));
	intern_release(&t);
}
END_TEST

static const char *text_of(const struct intern_table *t, size_t i)
{
	return ((const struct text *)t->v)[i].key.bytes;
}

/* The table has its own copies of keys, and frees them (valgrind and the address sanitizer see that). */
START_TEST(test_copies)
{
	char buf[] = "abc";
	struct text_ref key = { buf, 3 }, part = { "abcd", 3 };
	struct intern_table t = { 0 };
	struct text *text;
	bool is_new;

	text = intern(&t, &texts, &key, &is_new);
	ck_assert(is_new && !text->value);
	buf[0] = 'x';
	ck_assert_str_eq(text_of(&t, 0), "abc");
	ck_assert_ptr_eq(intern(&t, &texts, &part, &is_new), text);
	ck_assert(!is_new);
	intern(&t, &texts, &key, &is_new);
	ck_assert(is_new);
	intern(&t, &texts, &(struct text_ref){ NULL, 0 }, &is_new);
	ck_assert(is_new);
	intern_delete(&t, &texts, intern_find(&t, &texts, &part));
	ck_assert_uint_eq(t.nr, 2);
	ck_assert_str_eq(text_of(&t, 0), "");
	ck_assert_str_eq(text_of(&t, 1), "xbc");
	intern_release_copies(&t, &texts);
	ck_assert_uint_eq(t.nr, 0);
}
END_TEST

static bool copies;

static bool copy_if_it_may(void *to, const void *key)
{
	return copies && intern_copy_text(to, key);
}

/* Without memory for the key, the table is unchanged. */
START_TEST(test_no_copy)
{
	const struct intern_kind kind =
		INTERN_COPIED(struct text, key, intern_hash_text, intern_same_text, copy_if_it_may);
	struct text_ref key = { "abc", 3 };
	struct intern_table t = { 0 };
	bool is_new;

	copies = false;
	ck_assert_ptr_null(intern(&t, &kind, &key, &is_new));
	ck_assert_uint_eq(t.nr, 0);
	ck_assert_uint_eq(t.index.nr, 0);
	ck_assert_ptr_null(intern_find(&t, &kind, &key));
	copies = true;
	ck_assert_ptr_nonnull(intern(&t, &kind, &key, &is_new));
	ck_assert(is_new);
	ck_assert_uint_eq(t.index.nr, 1);
	intern_release_copies(&t, &kind);
}
END_TEST

/* A full table reports that it is full, and is unchanged. The test needs no memory to fill it. */
START_TEST(test_full)
{
	struct intern_table t = { 0 };
	struct number *n;
	bool is_new;

	n = intern(&t, &numbers, &(int){ 1 }, &is_new);
	ck_assert_ptr_nonnull(n);
	t.nr = HASH_NONE - 1;
	ck_assert_ptr_null(intern(&t, &numbers, &(int){ 2 }, &is_new));
	ck_assert_uint_eq(t.nr, HASH_NONE - 1);
	ck_assert_uint_eq(t.index.nr, 1);
	ck_assert_ptr_eq(intern(&t, &numbers, &(int){ 1 }, &is_new), n);
	ck_assert(!is_new);
	intern_release(&t);
}
END_TEST

START_TEST(test_no_memory)
{
	const struct intern_kind huge = { .size = SIZE_MAX / 2, .key_size = sizeof(int) };
	struct intern_table t = { 0 };
	bool is_new;

	ck_assert_ptr_null(intern(&t, &huge, &(int){ 1 }, &is_new));
	ck_assert_uint_eq(t.nr, 0);
	ck_assert_uint_eq(t.index.nr, 0);
	ck_assert_ptr_null(intern_find(&t, &huge, &(int){ 1 }));
	intern_release(&t);
}
END_TEST

enum { VALUES = 300 };

/* Random additions and deletions, checked against a plain array of flags. */
START_TEST(test_reference)
{
	const struct intern_kind *kind = kinds[_i];
	struct intern_table t = { 0 };
	bool in[VALUES] = { false }, is_new;
	struct number *n;
	size_t nr = 0;
	int i, v;

	srand(1);
	for (i = 0; i < unit_times(20000); i++) {
		v = rand() % VALUES;
		n = intern_find(&t, kind, &v);
		ck_assert_int_eq(n != NULL, in[v]);
		ck_assert(!n || (n->key == v && n->value == v * 3));
		if (n) {
			intern_delete(&t, kind, n);
		} else {
			n = intern(&t, kind, &v, &is_new);
			ck_assert(is_new);
			n->key = v;
			n->value = v * 3;
		}
		nr = in[v] ? nr - 1 : nr + 1;
		in[v] = !in[v];
		ck_assert_uint_eq(t.nr, nr);
		ck_assert_uint_eq(t.index.nr, nr);
	}
	for (v = 0; v < VALUES; v++)
		ck_assert_int_eq(intern_find(&t, kind, &v) != NULL, in[v]);
	while (t.nr)
		intern_delete(&t, kind, t.v);
	for (v = 0; v < VALUES; v++)
		ck_assert_ptr_null(intern_find(&t, kind, &v));
	intern_release(&t);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("intern");
	TCase *tc = tcase_create("intern");

	tcase_add_test(tc, test_empty);
	tcase_add_test(tc, test_new_is_zero);
	tcase_add_test(tc, test_once);
	tcase_add_test(tc, test_words);
	tcase_add_test(tc, test_copies);
	tcase_add_test(tc, test_no_copy);
	tcase_add_test(tc, test_full);
	tcase_add_test(tc, test_no_memory);
	tcase_add_loop_test(tc, test_reference, 0, ARRAY_SIZE(kinds));
	tcase_set_timeout(tc, 60);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
