// SPDX-License-Identifier: Apache-2.0
#include "backend-bpf/map_sizes.h"
#include "core/request/request.h"
#include "tests/unit/unit.h"

#define S 1000000000ULL

static const struct {
	const char *what;
	uint64_t freq, duration, interval;
	unsigned int cpus, depth;
	uint32_t hash, stack; /* requested sizes */
	struct map_sizes want;
	bool first;
} runs[] = {
	{ "until interrupted", 99, 0, 0, 2, 128, 40960, 16384, { 40960, 8192, 65536, 36864 } },
	{ "until interrupted, many CPUs", 99, 0, 0, 64, 128, 40960, 16384, { 40960, 8192, 65536, 36864 } },
	{ "5 s", 99, 5 * S, 0, 2, 128, 40960, 16384, { 1493, 2048, 4096, 4096 } },
	{ "5 s, many CPUs", 99, 5 * S, 0, 128, 128, 40960, 16384, { 40960, 8192, 65536, 36864 } },
	{ "5 s, fast", 4999, 5 * S, 0, 2, 128, 40960, 16384, { 40960, 8192, 65536, 36864 } },
	{ "a moment", 1, 1, 0, 1, 128, 40960, 16384, { 256, 256, 512, 4096 } },
	/* a report each second: the rate for one of them, with or without an end */
	{ "-i 1", 99, 0, 1 * S, 2, 128, 40960, 16384, { 503, 512, 1024, 4096 } },
	{ "-i 1, 5 s", 99, 5 * S, 1 * S, 2, 128, 40960, 16384, { 503, 512, 1024, 4096 } },
	{ "-i, long", 999, 0, 60 * S, 16, 128, 40960, 16384, { 40960, 8192, 32768, 40960 } },
	/* by period: the rate is unknown */
	{ "by period", 0, 5 * S, 0, 2, 128, 40960, 16384, { 40960, 8192, 65536, 36864 } },
	/* the requested size if it is more than the default */
	{ "5 s, many stacks", 99, 5 * S, 0, 2, 128, 40960, 32768, { 1493, 16384, 131072, 73728 } },
	{ "5 s, many counts", 99, 5 * S, 0, 2, 128, 50000, 16384, { 50000, 2048, 4096, 4096 } },
	/* a smaller requested size is the maximum */
	{ "few stacks", 99, 5 * S, 0, 2, 128, 40960, 64, { 1493, 32, 256, 4096 } },
	{ "one stack, one count", 99, 5 * S, 0, 2, 128, 1, 1, { 1, 1, 4, 4096 } },
	{ "as many as there can be",
	  99,
	  0,
	  0,
	  2,
	  128,
	  UINT32_MAX,
	  1U << 31,
	  { 1U << 28, 1U << 28, 1U << 29, (1U << 28) + (1U << 27) } },
	{ "no overflow",
	  UINT64_MAX,
	  UINT64_MAX,
	  UINT64_MAX,
	  1U << 31,
	  128,
	  40960,
	  16384,
	  { 40960, 8192, 32768, 40960 } },
	/* no short entries, if every stack is short or if too much would have to be skipped */
	{ "shallow", 99, 0, 0, 2, 32, 40960, 16384, { 40960, 16384, 0, 8192 } },
	{ "less shallow", 99, 0, 0, 2, 33, 40960, 16384, { 40960, 8192, 65536, 36864 } },
	{ "deep", 99, 0, 0, 2, 192, 40960, 16384, { 40960, 8192, 65536, 36864 } },
	{ "too deep", 99, 0, 0, 2, 193, 40960, 16384, { 40960, 16384, 0, 8192 } },
	/* the sizes for the first samples, which are small if there is one set */
	{ "first", 99, 0, 0, 2, 128, 40960, 16384, { 1024, 1024, 2048, 4096 }, true },
	{ "first, of few", 99, 1 * S, 0, 2, 128, 40960, 16384, { 503, 512, 1024, 4096 }, true },
	{ "first, fast", 4999, 5 * S, 0, 2, 128, 40960, 16384, { 1024, 1024, 2048, 4096 }, true },
	{ "first, by period", 0, 0, 0, 2, 128, 40960, 16384, { 1024, 1024, 2048, 4096 }, true },
	{ "first, few stacks", 99, 0, 0, 2, 128, 40960, 64, { 1024, 32, 256, 4096 }, true },
	{ "first, many are requested", 99, 0, 0, 2, 128, 50000, 32768, { 50000, 16384, 131072, 73728 }, true },
	{ "first, two sets", 999, 0, 60 * S, 16, 128, 40960, 16384, { 40960, 8192, 32768, 40960 }, true },
	{ "too deep, 5 s", 99, 5 * S, 0, 2, 193, 40960, 16384, { 1493, 4096, 0, 4096 } },
};

START_TEST(test_runs)
{
	const struct request r = { .sampling.freq_hz = runs[_i].freq,
				   .duration_ns = runs[_i].duration,
				   .interval_ns = runs[_i].interval,
				   .tables = { runs[_i].hash, runs[_i].stack } };
	struct map_sizes got = map_sizes_choose(&r, runs[_i].cpus, runs[_i].depth, runs[_i].first);

	ck_assert_msg(got.counts == runs[_i].want.counts && got.stacks == runs[_i].want.stacks &&
			      got.shorts == runs[_i].want.shorts && got.proved == runs[_i].want.proved,
		      "%s: %u counts, %u stacks, %u short, %u proved", runs[_i].what, got.counts, got.stacks,
		      got.shorts, got.proved);
}
END_TEST

START_TEST(test_grow)
{
	static const struct map_sizes small = { 10, 20, 30, 4096 };
	const struct map_sizes same = small, counts = { 11, 20, 30, 4096 }, stacks = { 10, 21, 30, 4096 },
			       shorts = { 10, 20, 31, 4096 }, less = { 9, 19, 29, 4096 }, proved = { 10, 20, 30, 8192 };

	ck_assert(!map_sizes_grow(&small, &same));
	ck_assert(!map_sizes_grow(&small, &less));
	ck_assert(!map_sizes_grow(&small, &proved));
	ck_assert(map_sizes_grow(&small, &counts));
	ck_assert(map_sizes_grow(&small, &stacks));
	ck_assert(map_sizes_grow(&small, &shorts));
}
END_TEST

#define MIB (1024 * 1024ULL)

/* The first tables have 1.7 MiB, the largest 31 MiB. */
static const struct {
	const char *what;
	uint64_t memory;
	struct map_sizes to, want;
} bounds[] = {
	{ "nobody knows", 0, { 40960, 8192, 65536, 9 }, { 40960, 8192, 65536, 9 } },
	{ "much", 1024 * MIB, { 40960, 8192, 65536, 9 }, { 40960, 8192, 65536, 9 } },
	{ "just enough", 254 * MIB, { 40960, 8192, 65536, 9 }, { 40960, 8192, 65536, 9 } },
	{ "half of it", 128 * MIB, { 40960, 8192, 65536, 9 }, { 20480, 4096, 32768, 9 } },
	{ "a small container", 32 * MIB, { 40960, 8192, 65536, 9 }, { 5120, 1024, 8192, 9 } },
	{ "less than the first ones", MIB, { 40960, 8192, 65536, 9 }, { 1024, 1024, 2048, 9 } },
	{ "nothing is larger", MIB, { 1024, 1024, 2048, 9 }, { 1024, 1024, 2048, 9 } },
	{ "one is smaller already", MIB, { 40960, 512, 65536, 9 }, { 1024, 512, 2048, 9 } },
	{ "none are short", 32 * MIB, { 40960, 16384, 0, 9 }, { 5120, 2048, 0, 9 } },
};

START_TEST(test_bound)
{
	static const struct map_sizes first = { 1024, 1024, 2048, 9 };
	struct map_sizes got = bounds[_i].to;

	map_sizes_bound(&got, &first, 127, bounds[_i].memory);
	ck_assert_msg(got.counts == bounds[_i].want.counts && got.stacks == bounds[_i].want.stacks &&
			      got.shorts == bounds[_i].want.shorts && got.proved == bounds[_i].want.proved,
		      "%s: %u counts, %u stacks, %u short", bounds[_i].what, got.counts, got.stacks, got.shorts);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("map_sizes");
	TCase *t = tcase_create("map_sizes");

	tcase_add_loop_test(t, test_runs, 0, ARRAY_SIZE(runs));
	tcase_add_test(t, test_grow);
	tcase_add_loop_test(t, test_bound, 0, ARRAY_SIZE(bounds));
	suite_add_tcase(suite, t);
	return unit_main(suite);
}
