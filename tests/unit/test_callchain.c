// SPDX-License-Identifier: Apache-2.0
#include "core/host/host.h"
#include "core/rows/callchain.h"
#include "tests/unit/unit.h"

#include <linux/perf_event.h>

#define K            ((uint64_t)PERF_CONTEXT_KERNEL)
#define U            ((uint64_t)PERF_CONTEXT_USER)
#define HV           ((uint64_t)PERF_CONTEXT_HV)
#define G            ((uint64_t)PERF_CONTEXT_GUEST)
#define GK           ((uint64_t)PERF_CONTEXT_GUEST_KERNEL)
#define GU           ((uint64_t)PERF_CONTEXT_GUEST_USER)
#define UD           ((uint64_t)-640) /* PERF_CONTEXT_USER_DEFERRED, 6.19 */
#define MAX          ((uint64_t)-4095)
#define K0           0xffffffff81000000u /* a kernel address */
#define LAST_ADDRESS ((uint64_t)-4096)

/* The expected part: a letter for its state, and how many addresses from where in the chain. */
struct part {
	char state; /* 'n'one, 't'aken or 'm'issed */
	uint32_t nr;
	uint32_t from;
};

static const struct {
	uint64_t nr;
	uint64_t ips[8];
	struct part kernel, user;
} splits[] = {
	{ 6, { K, K0, K0 + 1, U, 11, 12 }, { 't', 2, 1 }, { 't', 2, 4 } },
	{ 3, { K, K0, K0 + 1 }, { 't', 2, 1 }, { 'n' } },
	{ 3, { U, 11, 12 }, { 'n' }, { 't', 2, 1 } },
	{ 4, { K, LAST_ADDRESS, U, 1 }, { 't', 1, 1 }, { 't', 1, 3 } },
	/* parts without an address */
	{ 0, { 0 }, { 'n' }, { 'n' } },
	{ 1, { K }, { 't', 0 }, { 'n' } },
	{ 1, { U }, { 'n' }, { 't', 0 } },
	{ 2, { K, U }, { 't', 0 }, { 't', 0 } },
	{ 3, { K, K0, U }, { 't', 1, 1 }, { 't', 0 } },
	{ 3, { K, U, 11 }, { 't', 0 }, { 't', 1, 2 } },
	/* no marker, or none for user or kernel */
	{ 1, { 11 }, { 'n' }, { 'n' } },
	{ 3, { 11, 12, 13 }, { 'n' }, { 'n' } },
	{ 2, { 0, 0 }, { 'n' }, { 'n' } },
	{ 4, { 11, U, 12, 13 }, { 'n' }, { 't', 2, 2 } },
	{ 2, { MAX, 11 }, { 'n' }, { 'n' } },
	{ 2, { UINT64_MAX, 11 }, { 'n' }, { 'n' } },
	{ 3, { HV, K0, K0 }, { 'n' }, { 'n' } },
	{ 6, { HV, 5, K, K0, U, 11 }, { 't', 1, 3 }, { 't', 1, 5 } },
	{ 6, { K, K0, HV, 5, U, 11 }, { 't', 1, 1 }, { 't', 1, 5 } },
	{ 6, { G, GK, 5, GU, 6, 7 }, { 'n' }, { 'n' } },
	{ 6, { K, K0, G, GK, 5, 6 }, { 't', 1, 1 }, { 'n' } },
	/* the user's part comes later: its marker is followed by a cookie, not an address */
	{ 4, { K, K0, UD, 77 }, { 't', 1, 1 }, { 'm' } },
	{ 2, { UD, 77 }, { 'n' }, { 'm' } },
	{ 1, { UD }, { 'n' }, { 'm' } },
	{ 5, { K, K0, UD, 77, 78 }, { 't', 1, 1 }, { 'm' } },
	{ 5, { K, K0, UD, U, 11 }, { 't', 1, 1 }, { 'm' } },
	{ 4, { UD, 77, K, K0 }, { 'n' }, { 'm' } },
	{ 5, { U, 11, UD, 77, 12 }, { 'n' }, { 't', 1, 1 } },
	/* a zero ends a part */
	{ 6, { K, K0, 0, K0, U, 11 }, { 't', 1, 1 }, { 't', 1, 5 } },
	{ 6, { K, K0, U, 11, 0, 12 }, { 't', 1, 1 }, { 't', 1, 3 } },
	{ 6, { K, K0, U, 11, 12, 0 }, { 't', 1, 1 }, { 't', 2, 3 } },
	{ 4, { K, 0, U, 0 }, { 't', 0 }, { 't', 0 } },
	/* a kernel part comes once */
	{ 4, { K, K0, K, K0 + 1 }, { 't', 1, 1 }, { 'n' } },
	{ 5, { K, K, K0, U, 11 }, { 't', 0 }, { 't', 1, 4 } },
	/* the user's part is the last: a program can have any return address on its stack, including markers */
	{ 5, { U, 11, K, K0, K0 + 1 }, { 'n' }, { 't', 1, 1 } },
	{ 6, { K, K0, U, 11, K, 12 }, { 't', 1, 1 }, { 't', 1, 3 } },
	{ 6, { K, K0, U, 11, U, 12 }, { 't', 1, 1 }, { 't', 1, 3 } },
	{ 6, { K, K0, U, 11, UINT64_MAX, 12 }, { 't', 1, 1 }, { 't', 1, 3 } },
	{ 6, { K, K0, U, 11, MAX, 12 }, { 't', 1, 1 }, { 't', 1, 3 } },
	{ 5, { U, K, K0, U, 12 }, { 'n' }, { 't', 0 } },
	{ 5, { U, 11, LAST_ADDRESS, 12, 13 }, { 'n' }, { 't', 4, 1 } },
};

static void check_part(const struct stack *s, const struct part *want, const uint64_t *ips)
{
	enum stack_state state = want->state == 't' ? STACK_TAKEN : STACK_NONE;

	ck_assert_int_eq(s->state, want->state == 'm' ? STACK_MISSED : state);
	ck_assert_uint_eq(s->nr, want->nr);
	ck_assert(!s->truncated);
	if (want->nr)
		ck_assert_ptr_eq(s->frames, ips + want->from);
}

START_TEST(test_split)
{
	size_t bytes = splits[_i].nr * sizeof(uint64_t);
	uint64_t *ips = malloc(bytes ? bytes : 1); /* exactly as long: sanitizers find reads beyond it */
	struct stack kernel, user;

	memcpy(ips, splits[_i].ips, bytes);
	callchain_split(ips, splits[_i].nr, &kernel, &user);
	check_part(&kernel, &splits[_i].kernel, ips);
	check_part(&user, &splits[_i].user, ips);
	free(ips);
}
END_TEST

static const struct {
	uint64_t nr;
	uint64_t ips[5];
	uint64_t cookie;
} cookies[] = {
	{ 4, { K, K0, UD, 77 }, 77 },
	{ 2, { UD, 77 }, 77 },
	{ 5, { K, K0, UD, 77, 78 }, 77 },
	{ 3, { K, K0, UD }, 0 },
	{ 1, { UD }, 0 },
	{ 0, { 0 }, 0 },
	{ 2, { UD, 0 }, 0 },
	{ 3, { UD, UD, 77 }, UD },
	{ 4, { K, K0, U, 11 }, 0 },
	{ 4, { K, K0, UD, UINT64_MAX }, UINT64_MAX },
};

START_TEST(test_cookie)
{
	size_t bytes = cookies[_i].nr * sizeof(uint64_t);
	uint64_t *ips = malloc(bytes ? bytes : 1);

	memcpy(ips, cookies[_i].ips, bytes);
	ck_assert_uint_eq(callchain_cookie(ips, cookies[_i].nr), cookies[_i].cookie);
	free(ips);
}
END_TEST

static const struct {
	uint64_t nr;
	uint64_t ips[6];
	struct part want;
} entries[] = {
	{ 5, { 11, 12, 0, 0, 0 }, { 't', 2, 0 } },
	{ 5, { U, 11, 12, 0, 0 }, { 't', 2, 1 } }, /* since 5.9 */
	{ 5, { K, K0, K0, 0, 0 }, { 't', 2, 1 } },
	{ 5, { 1, 2, 3, 4, 5 }, { 't', 5, 0 } },
	{ 5, { U, 1, 2, 3, 4 }, { 't', 4, 1 } },
	{ 3, { LAST_ADDRESS, 1, 0 }, { 't', 2, 0 } },
	{ 0, { 0 }, { 't', 0 } },
	{ 1, { 0 }, { 't', 0 } },
	{ 1, { 5 }, { 't', 1, 0 } },
	{ 1, { U }, { 't', 0 } },
	{ 3, { 0, 0, 0 }, { 't', 0 } },
	{ 3, { U, 0, 0 }, { 't', 0 } },
	{ 3, { K, 0, 12 }, { 't', 0 } },
	{ 4, { 11, 0, 12, 13 }, { 't', 1, 0 } },
	{ 5, { U, 11, K, K0, 0 }, { 't', 1, 1 } },
	{ 5, { 11, K, K0, 0, 0 }, { 't', 1, 0 } },
	{ 5, { 11, UINT64_MAX, 12, 0, 0 }, { 't', 1, 0 } },
	{ 5, { K, U, 11, 0, 0 }, { 't', 0 } },
};

START_TEST(test_entry)
{
	size_t bytes = entries[_i].nr * sizeof(uint64_t);
	uint64_t *ips = malloc(bytes ? bytes : 1);
	struct stack s;

	memcpy(ips, entries[_i].ips, bytes);
	callchain_entry(ips, entries[_i].nr, &s);
	check_part(&s, &entries[_i].want, ips);
	free(ips);
}
END_TEST

/* A single address: only in the two modes that have stacks, and only if it is an address. */
static const struct {
	unsigned int mode;
	uint64_t ip;
	struct part kernel, user;
} leaves[] = {
	{ PERF_RECORD_MISC_KERNEL, K0, { 't', 1, 0 }, { 'n' } },
	{ PERF_RECORD_MISC_USER, 11, { 'n' }, { 't', 1, 0 } },
	{ PERF_RECORD_MISC_USER, K0, { 'n' }, { 't', 1, 0 } }, /* a vsyscall page is up there */
	{ PERF_RECORD_MISC_USER, LAST_ADDRESS, { 'n' }, { 't', 1, 0 } },
	{ PERF_RECORD_MISC_CPUMODE_UNKNOWN, 11, { 'n' }, { 'n' } },
	{ PERF_RECORD_MISC_HYPERVISOR, K0, { 'n' }, { 'n' } },
	{ PERF_RECORD_MISC_GUEST_KERNEL, K0, { 'n' }, { 'n' } },
	{ PERF_RECORD_MISC_GUEST_USER, 11, { 'n' }, { 'n' } },
	{ PERF_RECORD_MISC_CPUMODE_MASK, 11, { 'n' }, { 'n' } },
	{ PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP, 11, { 'n' }, { 'n' } }, /* not a mode */
	{ PERF_RECORD_MISC_KERNEL, 0, { 't', 0 }, { 'n' } },
	{ PERF_RECORD_MISC_USER, 0, { 'n' }, { 't', 0 } },
	{ PERF_RECORD_MISC_KERNEL, K, { 't', 0 }, { 'n' } },
	{ PERF_RECORD_MISC_USER, UINT64_MAX, { 'n' }, { 't', 0 } },
};

START_TEST(test_leaf)
{
	struct stack kernel = { .state = STACK_NONE }, user = { .state = STACK_NONE };
	uint64_t *ip = malloc(sizeof(*ip)); /* a single one: sanitizers find reads beyond it */

	*ip = leaves[_i].ip;
	callchain_leaf(ip, leaves[_i].mode, &kernel, &user);
	check_part(&kernel, &leaves[_i].kernel, ip);
	check_part(&user, &leaves[_i].user, ip);
	free(ip);
}
END_TEST

/* States: 'n'one, 't'aken, 'm'issed; 'c': taken and cut. */
struct side {
	char state;
	uint32_t nr;
};

static const struct {
	unsigned int asked;
	struct side kernel, user, kernel_left, user_left;
} limits[] = {
	/* below and at the limit: nothing is cut */
	{ 126, { 't', 5 }, { 't', 7 }, { 't', 5 }, { 't', 7 } },
	{ 126, { 't', 24 }, { 't', 100 }, { 't', 24 }, { 't', 100 } },
	{ 126, { 't', 25 }, { 't', 100 }, { 't', 25 }, { 't', 100 } },
	{ 126, { 't', 124 }, { 't', 1 }, { 't', 124 }, { 't', 1 } },
	{ 126, { 'n' }, { 't', 124 }, { 'n' }, { 't', 124 } },
	{ 126, { 'n' }, { 't', 125 }, { 'n' }, { 't', 125 } },
	{ 126, { 't', 124 }, { 'n' }, { 't', 124 }, { 'n' } },
	{ 126, { 't', 125 }, { 'n' }, { 't', 125 }, { 'n' } },
	{ 126, { 't', 125 }, { 'm' }, { 't', 125 }, { 'm' } },
	{ 126, { 'm' }, { 't', 125 }, { 'm' }, { 't', 125 } },
	{ 126, { 'm' }, { 'm' }, { 'm' }, { 'm' } },
	{ 126, { 'n' }, { 'n' }, { 'n' }, { 'n' } },
	/* above it */
	{ 126, { 'n' }, { 't', 126 }, { 'n' }, { 'c', 125 } },
	{ 126, { 'm' }, { 't', 126 }, { 'm' }, { 'c', 125 } },
	{ 126, { 'n' }, { 't', 127 }, { 'n' }, { 'c', 125 } },
	{ 126, { 't', 126 }, { 'n' }, { 'c', 125 }, { 'n' } },
	{ 126, { 't', 126 }, { 'm' }, { 'c', 125 }, { 'm' } },
	{ 126, { 't', 26 }, { 't', 100 }, { 't', 26 }, { 'c', 99 } },
	{ 126, { 't', 124 }, { 't', 2 }, { 't', 124 }, { 'c', 1 } },
	{ 126, { 't', 125 }, { 't', 1 }, { 't', 125 }, { 'c', 0 } },
	{ 126, { 't', 126 }, { 't', 126 }, { 'c', 125 }, { 'c', 0 } },
	{ 126, { 't', UINT32_MAX }, { 't', UINT32_MAX }, { 'c', 125 }, { 'c', 0 } },
	/* a marker without addresses: cut if the kernel's stack left no room, otherwise there was no address */
	{ 126, { 't', 126 }, { 't', 0 }, { 'c', 125 }, { 'c', 0 } },
	{ 126, { 't', 125 }, { 't', 0 }, { 't', 125 }, { 'c', 0 } },
	{ 126, { 't', 124 }, { 't', 0 }, { 't', 124 }, { 'n' } },
	{ 126, { 't', 0 }, { 't', 5 }, { 'n' }, { 't', 5 } },
	{ 126, { 't', 0 }, { 't', 0 }, { 'n' }, { 'n' } },
	{ 126, { 't', 0 }, { 't', 126 }, { 'n' }, { 'c', 125 } },
	/* the lowest limit there is */
	{ 2, { 't', 1 }, { 'n' }, { 't', 1 }, { 'n' } },
	{ 2, { 't', 2 }, { 'n' }, { 'c', 1 }, { 'n' } },
	{ 2, { 't', 1 }, { 't', 1 }, { 't', 1 }, { 'c', 0 } },
	{ 2, { 'n' }, { 't', 2 }, { 'n' }, { 'c', 1 } },
};

static struct stack make_side(const struct side *s)
{
	return (struct stack){
		.nr = s->nr,
		.state = s->state == 'n'   ? STACK_NONE
			 : s->state == 'm' ? STACK_MISSED
					   : STACK_TAKEN,
		.truncated = s->state == 'c',
	};
}

static void check_side(const struct stack *s, const struct side *want)
{
	struct stack w = make_side(want);

	ck_assert_int_eq(s->state, w.state);
	ck_assert_uint_eq(s->nr, w.nr);
	ck_assert_int_eq(s->truncated, w.truncated);
}

START_TEST(test_limit)
{
	struct stack kernel = make_side(&limits[_i].kernel), user = make_side(&limits[_i].user);

	callchain_limit(limits[_i].asked, &kernel, &user);
	check_side(&kernel, &limits[_i].kernel_left);
	check_side(&user, &limits[_i].user_left);
	/* a truncated stack stays as it is */
	callchain_limit(limits[_i].asked, &kernel, &user);
	check_side(&kernel, &limits[_i].kernel_left);
	ck_assert_uint_eq(user.nr, limits[_i].user_left.nr);
}
END_TEST

/* ---- the same sample in each form of the kernels */

enum { DEPTH = 140, MAP_DEPTH = DEPTH + 2 };

/* The true stacks; a thread without user memory has no user stack. */
struct truth {
	uint64_t kernel[DEPTH], user[DEPTH];
	uint32_t nr_kernel, nr_user;
};

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* get_perf_callchain(): the limit counts the addresses of both, never the markers. */
static uint64_t ring_chain(const struct truth *t, unsigned int asked, uint64_t *ips)
{
	uint32_t kernel = least(t->nr_kernel, asked), user = least(t->nr_user, asked - kernel);
	uint64_t nr = 0;

	if (t->nr_kernel) {
		ips[nr++] = K;
		memcpy(ips + nr, t->kernel, kernel * sizeof(*ips));
		nr += kernel;
	}
	if (t->nr_user) {
		ips[nr++] = U;
		memcpy(ips + nr, t->user, user * sizeof(*ips));
		nr += user;
	}
	return nr;
}

/* bpf_get_stackid() before 5.9: each stack alone, up to the depth of the map's entries. */
static void entry_alone(const uint64_t *from, uint32_t nr, unsigned int asked, uint64_t *entry, struct stack *out)
{
	memset(entry, 0, MAP_DEPTH * sizeof(*entry));
	memcpy(entry, from, least(nr, asked + 1) * sizeof(*entry));
	*out = (struct stack){ .state = STACK_NONE };
	if (nr)
		callchain_entry(entry, asked + 1, out);
}

/* bpf_get_stackid() since 5.9: a part of the ring's chain with its marker. */
static void entry_part(const uint64_t *ips, uint64_t nr, bool user, unsigned int asked, uint64_t *entry,
		       struct stack *out)
{
	uint64_t split = 0, from, len;

	while (split < nr && ips[split] != U)
		split++;
	from = user ? split : 0;
	len = user ? nr - split : split;
	memset(entry, 0, MAP_DEPTH * sizeof(*entry));
	memcpy(entry, ips + from, least((uint32_t)len, asked + 1) * sizeof(*entry));
	*out = (struct stack){ .state = STACK_NONE };
	if (len)
		callchain_entry(entry, asked + 1, out);
}

/*
 * bpf_get_stackid() since 6.18: the same part, limited by the smaller of the map's depth (plus what is skipped before
 * the part, which for the user's is the whole kernel part) and kernel.perf_event_max_stack. An empty part has no entry.
 */
static void entry_bounded(const uint64_t *ips, uint64_t nr, bool user, unsigned int asked, unsigned int max_stack,
			  uint64_t *entry, struct stack *out)
{
	uint32_t split = 0, skip, end, depth;

	while (split < nr && ips[split] != U)
		split++;
	skip = user ? split : 0;
	end = user ? (uint32_t)nr : split;
	depth = least(asked + 1 + skip, max_stack);
	memset(entry, 0, MAP_DEPTH * sizeof(*entry));
	*out = (struct stack){ .state = STACK_NONE };
	if (end <= skip)
		return;
	ck_assert_uint_le(skip, depth); /* the kernel would count below zero */
	memcpy(entry, ips + skip, least(end - skip, depth - skip) * sizeof(*entry));
	callchain_entry(entry, asked + 1, out);
}

static void check_same(const struct stack *a, const struct stack *b)
{
	ck_assert_int_eq(a->state, b->state);
	ck_assert_uint_eq(a->nr, b->nr);
	ck_assert_int_eq(a->truncated, b->truncated);
	if (a->nr)
		ck_assert_mem_eq(a->frames, b->frames, a->nr * sizeof(uint64_t));
}

static void random_truth(struct truth *t, unsigned int *seed)
{
	static const uint64_t odd[] = { 0, K, U, UINT64_MAX, MAX, LAST_ADDRESS };
	uint32_t i;

	t->nr_kernel = rand_r(seed) % 3 ? (uint32_t)rand_r(seed) % (DEPTH + 1) : 0;
	t->nr_user = rand_r(seed) % 4 ? (uint32_t)rand_r(seed) % (DEPTH + 1) : 0;
	for (i = 0; i < t->nr_kernel; i++)
		t->kernel[i] = K0 + (uint64_t)rand_r(seed) % 64;
	for (i = 0; i < t->nr_user; i++)
		t->user[i] = 1 + (uint64_t)rand_r(seed) % 64;
	/* A program can write anything to its stack, but runs at a real address. */
	while (t->nr_user > 1 && rand_r(seed) % 3 == 0)
		t->user[1 + (uint32_t)rand_r(seed) % (t->nr_user - 1)] = odd[rand_r(seed) % ARRAY_SIZE(odd)];
}

START_TEST(test_same_sample)
{
	uint64_t ips[2 * DEPTH + 2], entries_alone[2][MAP_DEPTH], entries_part[2][MAP_DEPTH], nr;
	uint64_t entries_bounded[2][MAP_DEPTH];
	struct stack ring[2], alone[2], part[2], bounded[2];
	unsigned int seed = 1 + (unsigned int)_i, asked, i, side;
	struct truth t;

	for (i = 0; i < (unsigned int)unit_times(2000); i++) {
		random_truth(&t, &seed);
		asked = 2 + (unsigned int)rand_r(&seed) % (_i % 2 ? 40 : DEPTH - 1);
		nr = ring_chain(&t, asked, ips);
		callchain_split(ips, nr, &ring[0], &ring[1]);
		entry_alone(t.kernel, t.nr_kernel, asked, entries_alone[0], &alone[0]);
		entry_alone(t.user, t.nr_user, asked, entries_alone[1], &alone[1]);
		entry_part(ips, nr, false, asked, entries_part[0], &part[0]);
		entry_part(ips, nr, true, asked, entries_part[1], &part[1]);
		entry_bounded(ips, nr, false, asked, asked + 2, entries_bounded[0], &bounded[0]);
		entry_bounded(ips, nr, true, asked, asked + 2, entries_bounded[1], &bounded[1]);
		callchain_limit(asked, &ring[0], &ring[1]);
		callchain_limit(asked, &alone[0], &alone[1]);
		callchain_limit(asked, &part[0], &part[1]);
		callchain_limit(asked, &bounded[0], &bounded[1]);
		for (side = 0; side < 2; side++) {
			check_same(&ring[side], &alone[side]);
			check_same(&ring[side], &part[side]);
			check_same(&ring[side], &bounded[side]);
		}
		ck_assert_uint_le(ring[0].nr + ring[1].nr, asked - 1);
		ck_assert_int_eq(ring[0].truncated, t.nr_kernel > asked - 1);
	}
}
END_TEST

/*
 * Values of kernel.perf_event_max_stack. With 2, there is no room for the address that proves that a user stack was
 * cut.
 */
static const unsigned int max_stacks[] = { 3, 4, 5, 6, 7, 8, 16, 33, 64, 100, 125, 126, 127, 128, 129, 4096, 640000 };

static void check_bounded(unsigned int asked, unsigned int max_stack, const struct truth *t)
{
	uint64_t ips[2 * DEPTH + 2], kept[2][MAP_DEPTH], nr = ring_chain(t, asked, ips);
	struct stack ring[2], bounded[2];

	callchain_split(ips, nr, &ring[0], &ring[1]);
	entry_bounded(ips, nr, false, asked, max_stack, kept[0], &bounded[0]);
	entry_bounded(ips, nr, true, asked, max_stack, kept[1], &bounded[1]);
	callchain_limit(asked, &ring[0], &ring[1]);
	callchain_limit(asked, &bounded[0], &bounded[1]);
	check_same(&ring[0], &bounded[0]);
	check_same(&ring[1], &bounded[1]);
	/* Each truncated stack is marked. */
	ck_assert_int_eq(ring[0].truncated, t->nr_kernel > asked - 1);
	ck_assert_int_eq(ring[1].truncated, t->nr_user && t->nr_kernel + t->nr_user > asked - 1);
}

/*
 * Every depth of both stacks, beyond the requested one, for the requested depth under each setting. With valgrind, each
 * depth of one stack only.
 */
START_TEST(test_max_stack)
{
	char *top = unit_tmpdir(), text[16];
	struct host host = { .proc = top, .sys = "/nowhere" };
	unsigned int asked, i, step = unit_below_valgrind() ? 10 : 1;
	struct truth t;

	snprintf(text, sizeof(text), "%u\n", max_stacks[_i]);
	unit_write(top, "sys/kernel/perf_event_max_stack", text, strlen(text));
	asked = callchain_asked(&host);
	ck_assert_uint_le(asked, max_stacks[_i]); /* otherwise the event cannot be opened */
	for (i = 0; i < DEPTH; i++) {
		t.kernel[i] = K0 + i;
		t.user[i] = 1 + i;
	}
	for (t.nr_kernel = 0; t.nr_kernel <= asked + 3; t.nr_kernel++)
		for (t.nr_user = t.nr_kernel % step; t.nr_user <= asked + 3; t.nr_user += step)
			check_bounded(asked, max_stacks[_i], &t);
	unit_rmdir(top);
}
END_TEST

static const struct {
	const char *text; /* NULL: the kernel has no such setting */
	unsigned int asked;
} settings[] = {
	{ "127\n", 125 }, { "128\n", 125 }, { "4096\n", 125 }, { "640000\n", 125 }, { "126\n", 124 }, { "125\n", 123 },
	{ "64\n", 62 },   { "5\n", 3 },     { "4\n", 2 },      { "3\n", 2 },        { "2\n", 2 },     { "1\n", 2 },
	{ "0\n", 2 },     { "-1\n", 2 },    { NULL, 125 },     { "", 125 },         { "\n", 125 },    { "x\n", 125 },
};

START_TEST(test_asked)
{
	char *top = unit_tmpdir();
	struct host host = { .proc = top, .sys = "/nowhere" };

	if (settings[_i].text)
		unit_write(top, "sys/kernel/perf_event_max_stack", settings[_i].text, strlen(settings[_i].text));
	ck_assert_uint_eq(callchain_asked(&host), settings[_i].asked);
	unit_rmdir(top);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("callchain");
	TCase *t = tcase_create("callchain");

	tcase_add_loop_test(t, test_split, 0, ARRAY_SIZE(splits));
	tcase_add_loop_test(t, test_cookie, 0, ARRAY_SIZE(cookies));
	tcase_add_loop_test(t, test_entry, 0, ARRAY_SIZE(entries));
	tcase_add_loop_test(t, test_leaf, 0, ARRAY_SIZE(leaves));
	tcase_add_loop_test(t, test_limit, 0, ARRAY_SIZE(limits));
	tcase_add_loop_test(t, test_same_sample, 0, 10);
	tcase_add_loop_test(t, test_max_stack, 0, ARRAY_SIZE(max_stacks));
	tcase_add_loop_test(t, test_asked, 0, ARRAY_SIZE(settings));
	suite_add_tcase(s, t);
	return unit_main(s);
}
