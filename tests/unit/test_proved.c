// SPDX-License-Identifier: Apache-2.0
/* Which stacks are in the program's map, and when they are removed. The test has a map of its own. */
#include "backend-bpf/proved.h"
#include "core/base/err.h"
#include "tests/unit/unit.h"

#include <bpf/bpf.h>

#include "bpf/layout.h"

#define MAP_FD 42

static struct {
	struct {
		struct bpf_proved_key key;
		__s32 value;
	} v[1024];
	size_t nr, room;
} map;

static struct proved p;

static size_t place_of(const void *key)
{
	size_t i = 0;

	while (i < map.nr && memcmp(&map.v[i].key, key, sizeof(map.v[i].key)) != 0)
		i++;
	return i;
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	ck_assert_int_eq(fd, MAP_FD);
	ck_assert_uint_eq(flags, BPF_NOEXIST);
	if (place_of(key) < map.nr || map.nr == map.room) {
		errno = map.nr == map.room ? E2BIG : EEXIST;
		return -1;
	}
	memcpy(&map.v[map.nr].key, key, sizeof(map.v[map.nr].key));
	memcpy(&map.v[map.nr++].value, value, sizeof(__s32));
	return 0;
}

int bpf_map_delete_elem(int fd, const void *key)
{
	size_t i = place_of(key);

	ck_assert_int_eq(fd, MAP_FD);
	ck_assert_uint_lt(i, map.nr); /* only existing entries are deleted */
	map.v[i] = map.v[--map.nr];
	return 0;
}

static void setup(void)
{
	memset(&map, 0, sizeof(map));
	map.room = ARRAY_SIZE(map.v);
	p = (struct proved){ .used = true, .fd = MAP_FD };
}

static void teardown(void)
{
	proved_release(&p);
	ck_assert(!p.used);
}

/* ---- one step after the other */

enum op { TELL, WITHDRAW, GONE, GONE_ALL, CLEAR };

/** struct step - @does: expected return value; then the map has @entries. */
struct step {
	enum op op;
	pid_t pid;
	unsigned int set;
	int32_t stack;
	uint64_t top;
	enum proof proof;
	size_t does, entries;
};

#define STEPS 8

static const struct {
	const char *what;
	struct step steps[STEPS]; /* up to the first one with process 0 */
	size_t room;              /* of the map; 0: enough */
} runs[] = {
	{ "nothing is proved", { { TELL, 5, 0, 7, 0, PROOF_NONE, 0, 0 }, { TELL, 5, 0, -1, 0, PROOF_NONE, 0, 0 } }, 0 },
	{ "the first one has no number yet",
	  { { TELL, 5, 0, -1, 0, PROOF_CHAIN, 1, 1 }, { TELL, 5, 0, 7, 0, PROOF_CHAIN, 2, 2 } },
	  0 },
	{ "twice the same", { { TELL, 5, 0, 7, 0, PROOF_CHAIN, 2, 2 }, { TELL, 5, 0, 7, 0, PROOF_CHAIN, 0, 2 } }, 0 },
	{ "entry 0 is a stack, too", { { TELL, 5, 0, 0, 0, PROOF_CHAIN, 2, 2 } }, 0 },
	{ "of two processes", { { TELL, 5, 0, 7, 0, PROOF_CHAIN, 2, 2 }, { TELL, 6, 0, 7, 0, PROOF_CHAIN, 2, 4 } }, 0 },
	{ "a chain does not need the top of its stack",
	  { { TELL, 5, 0, 7, 99, PROOF_CHAIN, 2, 2 }, { TELL, 5, 0, 7, 98, PROOF_CHAIN, 0, 2 } },
	  0 },
	{ "one chain, two callers of its leaf",
	  { { TELL, 5, 0, 7, 99, PROOF_LEAF, 2, 2 },
	    { TELL, 5, 0, 7, 98, PROOF_LEAF, 2, 3 },
	    { TELL, 5, 0, 7, 99, PROOF_LEAF, 0, 3 } },
	  0 },
	{ "a chain, and others with a leaf in front of it",
	  { { TELL, 5, 0, 7, 0, PROOF_CHAIN, 2, 2 }, { TELL, 5, 0, 7, 98, PROOF_LEAF, 2, 3 } },
	  0 },
	{ "it maps something else, and is proved again",
	  { { TELL, 5, 0, 7, 0, PROOF_CHAIN, 2, 2 },
	    { TELL, 5, 0, 8, 99, PROOF_LEAF, 2, 3 },
	    { WITHDRAW, 5, .does = 2, .entries = 1 },
	    { TELL, 5, 0, 7, 0, PROOF_CHAIN, 2, 2 },
	    { WITHDRAW, 5, .does = 1, .entries = 1 } },
	  0 },
	{ "it ends", { { TELL, 5, 0, 7, 0, PROOF_CHAIN, 2, 2 }, { GONE, 5, .does = 1, .entries = 0 } }, 0 },
	{ "it ends, and nothing was proved",
	  { { TELL, 5, 0, -1, 0, PROOF_CHAIN, 1, 1 }, { GONE, 5, .does = 0, .entries = 0 } },
	  0 },
	{ "another one ends",
	  { { TELL, 5, 0, 7, 0, PROOF_CHAIN, 2, 2 },
	    { GONE, 6, .does = 0, .entries = 2 },
	    { WITHDRAW, 6, .does = 0, .entries = 2 } },
	  0 },
	{ "of two that end, each has its own",
	  { { TELL, 5, 0, 7, 0, PROOF_CHAIN, 2, 2 },
	    { TELL, 6, 0, 8, 0, PROOF_CHAIN, 2, 4 },
	    { TELL, 5, 0, 9, 0, PROOF_CHAIN, 2, 5 },
	    { GONE, 5, .does = 2, .entries = 2 },
	    { GONE, 6, .does = 1, .entries = 0 } },
	  0 },
	{ "one set ends: the stacks of the other stay",
	  { { TELL, 5, 0, 7, 0, PROOF_CHAIN, 2, 2 },
	    { TELL, 5, 1, 7, 0, PROOF_CHAIN, 2, 3 },
	    { TELL, 5, 1, 7, 9, PROOF_LEAF, 2, 4 },
	    { CLEAR, 1, 0, .entries = 3 },
	    { CLEAR, 1, 1, .entries = 1 },
	    { TELL, 5, 1, 7, 0, PROOF_CHAIN, 2, 2 } },
	  0 },
	{ "a leaf that has no number yet",
	  { { TELL, 5, 0, -1, 0, PROOF_LEAF, 1, 1 }, { TELL, 5, 0, 7, 99, PROOF_LEAF, 2, 2 } },
	  0 },
	{ "all are withdrawn",
	  { { TELL, 5, 0, 7, 0, PROOF_CHAIN, 2, 2 },
	    { TELL, 6, 0, 8, 9, PROOF_LEAF, 2, 4 },
	    { GONE_ALL, 1, .does = 2, .entries = 0 },
	    { TELL, 6, 0, 8, 9, PROOF_LEAF, 2, 2 } },
	  0 },
	{ "no room for a stack: all begin anew",
	  { { TELL, 5, 0, 7, 0, PROOF_CHAIN, 1, 0 }, { GONE, 5, .does = 0, .entries = 0 } },
	  1 },
	{ "nor for a process",
	  { { TELL, 5, 0, 7, 0, PROOF_CHAIN, 2, 2 },
	    { TELL, 6, 0, 7, 0, PROOF_CHAIN, 0, 0 },
	    { TELL, 6, 0, 7, 0, PROOF_CHAIN, 2, 2 },
	    { GONE, 5, .does = 0, .entries = 2 },
	    { GONE, 6, .does = 1, .entries = 0 } },
	  2 },
};

static enum proof_use tell(pid_t pid, unsigned int set, int32_t stack, uint64_t top, enum proof proof)
{
	const struct sample_note note = { .pid = pid, .set = set, .user_stack = stack, .top = top };

	return proved_tell(&p, &note, proof);
}

static size_t do_step(const struct step *s)
{
	switch (s->op) {
	case TELL:
		return tell(s->pid, s->set, s->stack, s->top, s->proof);
	case CLEAR:
		proved_clear(&p, s->set);
		return 0;
	default:
		return proved_withdraw(&p, s->op == GONE_ALL ? 0 : s->pid, s->op != WITHDRAW);
	}
}

START_TEST(test_run)
{
	const struct step *s;

	if (runs[_i].room)
		map.room = runs[_i].room;
	for (s = runs[_i].steps; s < runs[_i].steps + STEPS && s->pid; s++) {
		ck_assert_msg(do_step(s) == s->does, "%s: step %td", runs[_i].what, s - runs[_i].steps);
		ck_assert_msg(map.nr == s->entries, "%s: step %td: %zu entries", runs[_i].what, s - runs[_i].steps,
			      map.nr);
	}
}
END_TEST

/* Without a map, for other ways to unwind, nothing is changed. */
START_TEST(test_unused)
{
	p.used = false;
	ck_assert(!tell(5, 0, 7, 0, PROOF_CHAIN));
	ck_assert_uint_eq(proved_withdraw(&p, 5, true), 0);
	proved_clear(&p, 0);
	ck_assert_uint_eq(map.nr, 0);
}
END_TEST

/* ---- the stack with which samples are counted */

static __s32 value_of(pid_t pid, unsigned int set, int32_t stack, uint64_t top)
{
	const struct bpf_proved_key key = { .set = set, .pid = (__u32)pid, .user_stack = stack, .top = top };
	size_t i = place_of(&key);

	ck_assert_uint_lt(i, map.nr);
	return map.v[i].value;
}

static void assert_leaf(unsigned int set, __s32 id, int32_t stack, uint64_t top)
{
	struct proved_leaf leaf = { 0 };

	ck_assert(proved_leaf(&p, set, id, &leaf));
	ck_assert_int_eq(leaf.user_stack, stack);
	ck_assert_uint_eq(leaf.top, top);
}

START_TEST(test_values)
{
	struct proved_leaf leaf;
	__s32 first, second;

	ck_assert(tell(5, 0, 7, 99, PROOF_CHAIN) && tell(5, 0, 7, 99, PROOF_LEAF) && tell(6, 0, 7, 98, PROOF_LEAF));
	ck_assert(tell(6, 0, 7, 99, PROOF_LEAF));
	ck_assert_int_eq(value_of(5, 0, 7, 0), 7);
	first = value_of(5, 0, 7, 99);
	second = value_of(6, 0, 7, 98);
	ck_assert_int_ge(first, BPF_LEAF_STACKS);
	ck_assert_int_ge(second, BPF_LEAF_STACKS);
	ck_assert_int_eq(value_of(6, 0, 7, 99), first); /* for any process */
	assert_leaf(0, first, 7, 99);
	assert_leaf(0, second, 7, 98);
	/* The stack was withdrawn, but counts with it may remain. */
	proved_withdraw(&p, 5, true);
	assert_leaf(0, first, 7, 99);
	ck_assert(!proved_leaf(&p, 0, 7, &leaf));
	ck_assert(!proved_leaf(&p, 0, BPF_LEAF_STACKS + 2, &leaf));
	ck_assert(!proved_leaf(&p, 0, INT32_MAX, &leaf));
	ck_assert(!proved_leaf(&p, 0, -1, &leaf));
	ck_assert(!proved_leaf(&p, 1, first, &leaf));
	proved_clear(&p, 0);
	ck_assert(!proved_leaf(&p, 0, first, &leaf));
}
END_TEST

/* ---- processes that gain nothing */

static const struct {
	int proved, others; /* numbers of stacks, in this order */
	bool promised;      /* in the end, the program looks for stacks of the process */
} hopes[] = {
	{ 1, 10, true },  { 1, 191, true }, { 1, 192, false }, { 7, 192, false },
	{ 8, 192, true }, { 8, 250, true }, { 0, 250, false }, /* the process was not promised yet */
};

START_TEST(test_hopeless)
{
	const struct bpf_proved_key promise = { .pid = 5, .user_stack = BPF_NO_STACK };
	int i;

	for (i = 0; i < hopes[_i].proved; i++)
		ck_assert(tell(5, 0, 1000 + i, 0, PROOF_CHAIN));
	for (i = 0; i < hopes[_i].others; i++)
		ck_assert(!tell(5, 0, i, 0, PROOF_NONE));
	/* Repeated: the same stacks. */
	for (i = 0; i < 1000; i++)
		ck_assert(!tell(5, 0, 0, 0, PROOF_NONE));
	ck_assert_int_eq(place_of(&promise) < map.nr, hopes[_i].promised);
	ck_assert_int_eq(tell(5, 0, 5000, 0, PROOF_CHAIN) != PROOF_UNUSED, hopes[_i].promised || !hopes[_i].proved);
	/* After an exec it is another program. */
	proved_withdraw(&p, 5, true);
	ck_assert_uint_eq(map.nr, 0);
	ck_assert(tell(5, 0, 5000, 0, PROOF_CHAIN));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("proved");
	TCase *tc = tcase_create("proved");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_run, 0, ARRAY_SIZE(runs));
	tcase_add_test(tc, test_unused);
	tcase_add_test(tc, test_values);
	tcase_add_loop_test(tc, test_hopeless, 0, ARRAY_SIZE(hopes));
	suite_add_tcase(s, tc);
	return unit_main(s);
}
